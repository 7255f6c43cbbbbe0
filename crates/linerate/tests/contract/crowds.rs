//! More flows than CPUs: each carries all its bytes, and stamps every slice.

use super::*;
use linerate::plan::PortRange;
use std::net::TcpListener;

/// What both ends do.
const PAIRS: [[Does; 2]; 4] = [
    [Does::Receives, Does::Sends],
    [Does::Sends, Does::Receives],
    [Does::Pings, Does::Echoes],
    [Does::Echoes, Does::Pings],
];

#[test]
fn a_thousand_flows_carry_every_byte() {
    let blocks = [block(1000, 3, 2), block(70_000, 1, 2)];
    for transport in ["tcp", "unix"] {
        let mut ends = open(transport, 1000, 30_000);
        for wait in [Wait::Sleeping, Wait::Polling] {
            for does in PAIRS {
                let answers = play(&mut ends, [&does[..1], &does[1..]], wait, &blocks);
                for (answers, does) in answers.iter().zip(does) {
                    assert_eq!((answers.len(), answers[0].len()), (1, 1000));
                    for (index, block) in blocks.iter().enumerate() {
                        for flow in answers[0].iter().map(|flow| &flow[index].flow) {
                            assert_eq!(flow.bytes, block.bytes(), "{transport} {wait} {block:?}");
                            let stamps = if does.keeps_time() { block.slices as usize } else { 0 };
                            assert_eq!(flow.slices_ns.len(), stamps, "{transport} {wait}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn more_flows_than_there_may_be_are_refused() {
    let refused = named("tcp").unwrap().offer(&spec("tcp", 1001, true));
    assert_eq!(refused.err().unwrap().exit_code(), 2);
}

#[test]
fn a_crowd_whose_peer_is_gone_ends_with_an_error() {
    for wait in [Wait::Sleeping, Wait::Polling] {
        let [mut first, second] = open("tcp", 40, 500);
        drop(second);
        let task = [Task { does: Does::Receives, cpus: Vec::new() }];
        let answer = first.trial(&task, wait, &[block(1, 1, 1)]);
        assert_eq!(answer.unwrap_err().exit_code(), 4, "{wait}");
    }
}

/// One CPU's thread serves all: what it spent is told once, divided among its flows.
#[test]
fn flows_that_share_a_thread_share_its_cpu_time() {
    let mut ends = open("tcp", 8, 10_000);
    let cpus = vec![linerate_sys::thread::allowed_cpus().unwrap()[0]];
    let task = |does| [Task { does, cpus: cpus.clone() }];
    let blocks = [block(10_000, 50, 4)];
    let [first, second] = &mut ends;
    let came = std::thread::scope(|scope| {
        let sends = task(Does::Sends);
        let other = scope.spawn(move || second.trial(&sends, Wait::Sleeping, &blocks).unwrap());
        let came = first.trial(&task(Does::Receives), Wait::Sleeping, &blocks).unwrap();
        other.join().unwrap();
        came
    });
    let times: Vec<u64> = came[0].iter().map(|flow| flow[0].flow.cpu_ns).collect();
    let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    assert!(*least > 0 && most - least < 8, "{times:?}");
    let starts: Vec<u64> = came[0].iter().map(|flow| flow[0].flow.start_ns).collect();
    assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
}

/// With a thread each, every flow has a time of its own, all its bytes, and reads of the size that the block says.
#[test]
fn flows_have_a_thread_each_on_request() {
    let settings = vec!["flow.threads=flow".parse().unwrap()];
    let mut ends = meet(&Spec { settings, ..spec("tcp", 8, true) });
    let granted = ends[0].granted().into_iter().find(|granted| granted.knob == "flow.threads").unwrap();
    assert_eq!((granted.asked.as_deref(), granted.granted.as_deref()), (Some("flow"), Some("flow")));
    // An engine has a thread a flow, whatever was asked for: that is what is told.
    let engine = ["flow.threads=cpu", "tcp.receive-engine=epoll"].map(|set| set.parse().unwrap());
    let other = meet(&Spec { settings: engine.to_vec(), ..spec("tcp", 8, true) });
    let told = other[0].granted().into_iter().find(|granted| granted.knob == "flow.threads").unwrap();
    assert_eq!((told.granted.as_deref(), told.is_as_asked()), (Some("flow"), false));
    let blocks = [0, 100, 2 << 20].map(|read_bytes| Block { read_bytes, ..block(10_000, 20, 2) });
    let answers = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &blocks);
    let flows: Vec<_> = answers[0][0].iter().map(|flow| &flow[0].flow).collect();
    assert!(flows.iter().any(|flow| flow.start_ns != flows[0].start_ns), "they began at one moment");
    for flow in &answers[0][0] {
        for (measured, block) in flow.iter().zip(&blocks) {
            assert_eq!((measured.flow.bytes, measured.flow.slices_ns.len()), (block.bytes(), 2), "{block:?}");
        }
    }
}

/// A port that nobody has.
fn free_port() -> PortRange {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string().parse().unwrap()
}

#[test]
fn one_port_serves_all_sessions_at_once() {
    let port = free_port();
    let names: Vec<&str> = two_ends().filter(|entry| entry.crosses_hosts).map(|entry| entry.name).collect();
    let mut sessions = Vec::new();
    for name in names.into_iter().chain(["tcp", "udp"]) {
        let flows = if name == "lite" { 1 } else { 3 };
        sessions.push((name, flows, meet(&Spec { ports: Some(port), ..spec(name, flows, true) })));
    }
    for (name, flows, ends) in &mut sessions {
        let block = block(100, 3, 2);
        let [first, _] = play(ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &[block]);
        let lost: u64 = first[0].iter().map(|flow| flow[0].flow.lost.unwrap_or(0) * 100).sum();
        assert_eq!(bytes(&first, 0) + lost, u64::from(*flows) * block.bytes(), "{name}");
        let own = ends[0].endpoints();
        let at_port = |ends: &String| ends.split(' ').next().unwrap().ends_with(&format!(":{}", port));
        assert!(*name == "raw" || own.iter().all(at_port), "{name}: {own:?}");
    }
}

#[test]
fn silent_strangers_keep_nobody_waiting() {
    // One after the other they would take longer than the ends wait.
    let spec = Spec { patience_ms: 4000, ..spec("tcp", 2, true) };
    let transport = named("tcp").unwrap();
    let (passive, offer) = transport.offer(&spec).unwrap();
    let Offer::Socket { address: Address::Internet(address), .. } = &offer else { panic!("no address") };
    let strangers: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
    let (active, _) = transport.offer(&Spec { passive: false, ..spec.clone() }).unwrap();
    let mut ends = std::thread::scope(|scope| {
        let active = scope.spawn(|| active.join(&offer).unwrap());
        [passive.join(&Offer::Nothing).unwrap(), active.join().unwrap()]
    });
    let [first, _] = play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &[block(64, 3, 1)]);
    assert_eq!(bytes(&first, 0), 2 * 192);
    drop(strangers);
}
