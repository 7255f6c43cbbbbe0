//! One suite over every transport: whole messages, small and large, both waits, both directions.

use linerate::pattern::Measured;
use linerate::plan::Block;
use linerate::transport::{Offer, Session, Spec, TRANSPORTS, Task, named};
use linerate::vocabulary::{self, Cache, Does, Wait};

fn spec(transport: &str, flows: u32, passive: bool) -> Spec {
    Spec {
        transport: transport.into(),
        flows,
        passive,
        address: None,
        settings: Vec::new(),
        patience_ms: 5000,
    }
}

fn two_ends() -> impl Iterator<Item = &'static str> {
    vocabulary::TRANSPORTS.iter().filter(|entry| entry.ends == 2).map(|entry| entry.name)
}

/// Both ends of a session, the passive one first.
fn open(transport: &str, flows: u32, patience_ms: u64) -> [Box<dyn Session>; 2] {
    let transport = named(transport).unwrap();
    let spec = |passive| Spec { patience_ms, ..spec(transport.name(), flows, passive) };
    let (passive, offer) = transport.offer(&spec(true)).unwrap();
    let (active, _) = transport.offer(&spec(false)).unwrap();
    std::thread::scope(|scope| {
        let active = scope.spawn(|| active.join(&offer).unwrap());
        [passive.join(&Offer::Nothing).unwrap(), active.join().unwrap()]
    })
}

fn block(message_bytes: u64, messages: u64, slices: u32) -> Block {
    Block { message_bytes, messages, slices, lead: 0, cache: Cache::Hot }
}

type Answers = Vec<Vec<Vec<Measured>>>;

/// Plays the first end's tasks against the second end's.
fn play(ends: &mut [Box<dyn Session>; 2], does: [&[Does]; 2], wait: Wait, blocks: &[Block]) -> [Answers; 2] {
    let task = |does: &Does| Task { does: *does, cpus: Vec::new() };
    let tasks = does.map(|does| does.iter().map(task).collect::<Vec<_>>());
    let [first, second] = ends;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.trial(&tasks[1], wait, blocks).unwrap());
        [first.trial(&tasks[0], wait, blocks).unwrap(), other.join().unwrap()]
    })
}

fn bytes(answers: &Answers, block: usize) -> u64 {
    answers.iter().flatten().map(|blocks| blocks[block].flow.bytes).sum()
}

#[test]
fn the_vocabulary_and_the_transports_agree() {
    let implemented: Vec<_> = TRANSPORTS.iter().map(|transport| transport.name()).collect();
    let listed: Vec<_> = vocabulary::TRANSPORTS.iter().map(|entry| entry.name).collect();
    assert_eq!(implemented, listed);
}

#[test]
fn every_byte_of_a_stream_is_received_whatever_the_order_of_sizes() {
    let blocks = [
        block(65536, 100, 2),
        block(1, 300, 3),
        block(1 << 20, 2, 3),
        block(4097, 10, 4),
        block(8 << 20, 1, 1),
    ];
    for transport in two_ends() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let mut ends = open(transport, 1, 5000);
            for does in [[Does::Receives, Does::Sends], [Does::Sends, Does::Receives]] {
                let [first, second] = play(&mut ends, [&does[..1], &does[1..]], wait, &blocks);
                for (index, block) in blocks.iter().enumerate() {
                    assert_eq!(bytes(&first, index), block.bytes(), "{transport} {wait} {block:?}");
                    assert_eq!(bytes(&second, index), block.bytes(), "{transport} {wait} {block:?}");
                }
            }
        }
    }
}

#[test]
fn a_ping_pong_returns_every_message_and_stamps_every_slice() {
    for transport in two_ends() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let mut ends = open(transport, 1, 5000);
            let blocks = [block(1, 2, 20), block(100_000, 1, 5), block(3 << 20, 1, 2)];
            let [pings, echoes] = play(&mut ends, [&[Does::Pings], &[Does::Echoes]], wait, &blocks);
            for (index, block) in blocks.iter().enumerate() {
                let flow = &pings[0][0][index].flow;
                assert_eq!(flow.slices_ns.len(), block.slices as usize, "{transport}");
                assert!(flow.slices_ns.iter().sum::<u64>() <= flow.duration_ns, "{transport}");
                assert_eq!(
                    (flow.bytes, bytes(&echoes, index)),
                    (block.bytes(), block.bytes()),
                    "{transport}"
                );
            }
        }
    }
}

#[test]
fn tcp_carries_several_flows_and_both_directions_at_once() {
    let mut ends = open("tcp", 3, 5000);
    let both = [Does::Receives, Does::Sends];
    let blocks = [block(100_000, 5, 4)];
    for answers in play(&mut ends, [&both, &both], Wait::Sleeping, &blocks) {
        assert_eq!(answers.len(), 2);
        assert!(answers.iter().all(|flows| flows.len() == 3));
        assert_eq!(bytes(&answers, 0), 6 * blocks[0].bytes());
    }
}

#[test]
fn a_peer_that_goes_away_is_an_error_and_not_a_hang() {
    for transport in two_ends() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let [mut first, second] = open(transport, 1, 300);
            drop(second);
            let task = [Task { does: Does::Receives, cpus: Vec::new() }];
            let answer = first.trial(&task, wait, &[block(1, 1, 1)]);
            assert_eq!(answer.unwrap_err().exit_code(), 4, "{transport} {wait}");
        }
    }
}
