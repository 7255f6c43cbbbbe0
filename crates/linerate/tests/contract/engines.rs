//! Every engine keeps the contract of the usual one.

use super::*;
use linerate::vocabulary::{Knob, KnobKind};

fn words(knob: &str) -> &'static [&'static str] {
    let kind = Knob::named(knob).unwrap().kind;
    if let KnobKind::OneOf(words) = kind { words } else { panic!("{knob} is {kind:?}") }
}

/// Each engine with the usual one of the other direction, and some with each other.
fn pairs() -> Vec<[String; 2]> {
    let send = words("tcp.send-engine").iter().map(|send| (*send, "read"));
    let receive = words("tcp.receive-engine").iter().skip(1).map(|receive| ("write", *receive));
    let both = [("splice", "discard"), ("sendfile", "zero-copy"), ("zero-copy", "zero-copy")];
    let both =
        both.into_iter().chain([("io-uring", "io-uring"), ("io-uring-zero-copy", "io-uring-multishot")]);
    let set = |(send, receive)| [format!("tcp.send-engine={send}"), format!("tcp.receive-engine={receive}")];
    send.chain(receive).chain(both.chain([("epoll", "epoll"), ("splice", "splice")])).map(set).collect()
}

fn with(transport: &str, settings: &[String], flows: u32, patience_ms: u64) -> [Box<dyn Session>; 2] {
    let settings = settings.iter().map(|setting| setting.parse().unwrap()).collect();
    meet(&Spec { settings, patience_ms, ..spec(transport, flows, true) })
}

/// What the session says of a knob.
fn granted(session: &dyn Session, setting: &str) -> Option<String> {
    let (knob, _) = setting.split_once('=').unwrap();
    session.granted().into_iter().find(|granted| granted.knob == knob)?.granted
}

#[test]
fn every_engine_carries_a_stream() {
    let blocks = [block(65_507, 100, 2), block(1, 300, 3), block(3 << 20, 1, 3), block(4097, 10, 4)];
    for settings in pairs() {
        let mut ends = with("tcp", &settings, 1, 10_000);
        for setting in &settings {
            let (_, engine) = setting.split_once('=').unwrap();
            assert_eq!(granted(ends[0].as_ref(), setting).as_deref(), Some(engine));
        }
        for wait in [Wait::Sleeping, Wait::Polling] {
            for does in [[Does::Receives, Does::Sends], [Does::Sends, Does::Receives]] {
                for answers in play(&mut ends, [&does[..1], &does[1..]], wait, &blocks) {
                    for (index, block) in blocks.iter().enumerate() {
                        assert_eq!(bytes(&answers, index), block.bytes(), "{settings:?} {wait} {block:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_engine_returns_a_ping_pong() {
    let blocks = [block(1, 2, 20), block(100_000, 1, 5), block(3 << 20, 1, 2)];
    for settings in pairs() {
        let mut ends = with("tcp", &settings, 1, 10_000);
        for wait in [Wait::Sleeping, Wait::Polling] {
            let answers = play(&mut ends, [&[Does::Pings], &[Does::Echoes]], wait, &blocks);
            for (index, block) in blocks.iter().enumerate() {
                assert_eq!(answers[0][0][0][index].flow.slices_ns.len(), block.slices as usize);
                for answers in &answers {
                    assert_eq!(bytes(answers, index), block.bytes(), "{settings:?} {wait} {block:?}");
                }
            }
        }
    }
}

#[test]
fn both_directions_use_the_engines_asked_for() {
    let blocks = [block(100_000, 5, 4)];
    for settings in pairs() {
        let mut ends = with("tcp", &settings, 2, 10_000);
        let both = [Does::Receives, Does::Sends];
        for answers in play(&mut ends, [&both, &both], Wait::Sleeping, &blocks) {
            assert_eq!(bytes(&answers, 0), 4 * blocks[0].bytes(), "{settings:?}");
        }
    }
}

#[test]
fn an_engine_without_a_peer_ends_with_an_error() {
    for settings in pairs() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            for does in [Does::Receives, Does::Pings] {
                let [mut first, second] = with("tcp", &settings, 1, 500);
                drop(second);
                let task = [Task { does, cpus: Vec::new() }];
                let answer = first.trial(&task, wait, &[block(65_536, 100, 1)]);
                assert_eq!(answer.unwrap_err().exit_code(), 4, "{settings:?} {wait} {does:?}");
            }
        }
    }
}

#[test]
fn a_kernel_that_copies_says_so_of_every_call() {
    let blocks = [block(65_536, 50, 2)];
    for engine in ["zero-copy", "io-uring-zero-copy"] {
        let mut ends = with("tcp", &[format!("tcp.send-engine={engine}")], 1, 10_000);
        let [_, sent] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &blocks);
        let kernel = &sent[0][0][0].flow.kernel;
        assert!(kernel["zero-copy.sends"] >= 100, "{engine} {kernel:?}");
        assert_eq!(kernel["zero-copy.heard"], kernel["zero-copy.sends"], "{engine}");
        // A loopback interface cannot take the pages of a sender.
        assert_eq!(kernel["zero-copy.copied"], kernel["zero-copy.sends"], "{engine}");
    }
    let mut ends = with("tcp", &["tcp.receive-engine=zero-copy".into()], 1, 10_000);
    let [came, _] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &blocks);
    let kernel = &came[0][0][0].flow.kernel;
    assert_eq!(kernel["zero-copy.mapped-bytes"] + kernel["zero-copy.copied-bytes"], blocks[0].bytes());
}

#[test]
fn every_udp_engine_counts_arrivals_and_losses() {
    let blocks = [block(1400, 500, 4), block(1, 300, 3), block(65_507, 5, 2), block(8, 1, 1)];
    for engine in words("udp.engine") {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let setting = format!("udp.engine={engine}");
            let mut ends = with("udp", std::slice::from_ref(&setting), 1, 10_000);
            assert_eq!(granted(ends[0].as_ref(), &setting).as_deref(), Some(*engine));
            let [came, sent] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], wait, &blocks);
            for (index, block) in blocks.iter().enumerate() {
                let (flow, sender) = (&came[0][0][index].flow, &sent[0][0][index].flow);
                let all = block.messages * u64::from(block.slices);
                assert_eq!(flow.messages.unwrap() + flow.lost.unwrap(), all, "{engine} {wait} {block:?}");
                assert_eq!(sender.bytes, block.bytes(), "{engine} {wait} {block:?}");
                assert_eq!(flow.bytes, flow.messages.unwrap() * block.message_bytes);
                let (carried, shares) =
                    (sender.kernel.get("segments.datagrams"), ["batch", "segments"].contains(engine));
                assert_eq!(carried.copied(), shares.then_some(all), "{engine} {wait} {block:?}");
            }
            let [pings, _] = play(&mut ends, [&[Does::Pings], &[Does::Echoes]], wait, &blocks[1..]);
            for (index, block) in blocks[1..].iter().enumerate() {
                assert_eq!(pings[0][0][index].flow.bytes, block.bytes(), "{engine} {wait} {block:?}");
            }
        }
    }
}

#[test]
fn segments_need_fewer_packets_than_datagrams() {
    let blocks = [block(1400, 460, 2)];
    let mut ends = with("udp", &["udp.engine=segments".into()], 1, 10_000);
    let [_, sent] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &blocks);
    let kernel = &sent[0][0][0].flow.kernel;
    // 46 datagrams of 1400 B fit into a packet.
    assert_eq!((kernel["segments.datagrams"], kernel["segments.packets"]), (920, 20));
    assert!(kernel["segments.calls"] <= 20, "{kernel:?}");
}

#[test]
fn sockets_are_bound_or_it_is_said_why_not() {
    for transport in ["tcp", "udp"] {
        let mut ends = with(transport, &["socket.interface=lo".into()], 1, 5000);
        assert_eq!(granted(ends[0].as_ref(), "socket.interface=lo").as_deref(), Some("lo"));
        let blocks = [block(100, 10, 1)];
        let [came, _] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &blocks);
        assert_eq!(bytes(&came, 0), 1000, "{transport}");
    }
    let settings = vec!["socket.interface=no-such-one".parse().unwrap()];
    let refused = named("tcp").unwrap().offer(&Spec { settings, ..spec("tcp", 1, true) });
    let error = refused.err().unwrap();
    assert_eq!(error.exit_code(), 3, "{error}");
    assert!(error.to_string().contains("no-such-one"), "{error}");
}

/// The record would say zeros of bytes that are none.
#[test]
fn who_sends_its_own_memory_refuses_zeros() {
    let zeros = [Block { content: Content::Zeros, ..block(1000, 10, 1) }];
    let task = [Task { does: Does::Sends, cpus: Vec::new() }];
    for engine in ["sendfile", "splice", "zero-copy", "io-uring-zero-copy"] {
        let mut ends = with("tcp", &[format!("tcp.send-engine={engine}")], 1, 5000);
        let refused = ends[1].trial(&task, Wait::Sleeping, &zeros);
        assert_eq!(refused.unwrap_err().exit_code(), 2, "{engine}");
    }
    let mut ends = with("tcp", &["tcp.send-engine=epoll".into()], 1, 5000);
    let [came, _] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &zeros);
    assert_eq!(bytes(&came, 0), 10_000);
}
