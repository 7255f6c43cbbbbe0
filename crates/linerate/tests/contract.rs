//! One suite over every transport: whole messages, small and large, both waits, both directions; strangers,
//! peers that go away, and datagrams that are lost.

mod crowds;
mod engines;
mod special;

use linerate::pattern::Measured;
use linerate::plan::{Block, Pace};
use linerate::transport::{Address, Offer, Session, Spec, Task, named, transports};
use linerate::vocabulary::{self, Cache, Content, Does, Pattern, Sample, TransportEntry, Wait};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

fn spec(transport: &str, flows: u32, passive: bool) -> Spec {
    Spec {
        transport: transport.into(),
        flows,
        passive,
        settings: Vec::new(),
        patience_ms: 5000,
        ..Spec::default()
    }
}

/// Those that this host has; what it lacks is `special`'s.
fn two_ends() -> impl Iterator<Item = &'static TransportEntry> {
    let is_here = |entry: &&TransportEntry| named(entry.name).unwrap().lacks().is_none();
    // Ranks are processes of the program itself: tests/mpi.rs, tests/pvm.rs, tests/shmem.rs, tests/tcgmsg.rs and tests/native.rs
    // have them.
    let all = vocabulary::TRANSPORTS.iter().filter(|entry| entry.ends == 2 && !entry.foreign);
    all.filter(is_here)
}

/// Every transport, those of IP over IPv6 as well.
fn openings() -> Vec<(&'static TransportEntry, Option<&'static str>)> {
    let v6 = two_ends().filter(|entry| entry.crosses_hosts).map(|entry| (entry, Some("::1")));
    two_ends().map(|entry| (entry, None)).chain(v6).collect()
}

/// Both ends of a session, the passive one first.
fn open(transport: &str, flows: u32, patience_ms: u64) -> [Box<dyn Session>; 2] {
    meet(&Spec { patience_ms, ..spec(transport, flows, true) })
}

fn meet(spec: &Spec) -> [Box<dyn Session>; 2] {
    let transport = named(&spec.transport).unwrap();
    let (passive, offer) = transport.offer(spec).unwrap();
    let (active, _) = transport.offer(&Spec { passive: false, ..spec.clone() }).unwrap();
    std::thread::scope(|scope| {
        let active = scope.spawn(|| active.join(&offer).unwrap());
        [passive.join(&Offer::Nothing).unwrap(), active.join().unwrap()]
    })
}

fn block(message_bytes: u64, messages: u64, slices: u32) -> Block {
    Block { message_bytes, messages, slices, lead: 0, cache: Cache::Hot, ..Block::default() }
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
    let implemented: Vec<_> = transports().into_iter().map(|transport| transport.name()).collect();
    let listed: Vec<_> = vocabulary::TRANSPORTS.iter().map(|entry| entry.name).collect();
    assert_eq!(implemented, listed);
}

/// The blocks that this transport can carry, its largest message last.
fn carried(entry: &TransportEntry, blocks: &[Block]) -> Vec<Block> {
    let most = entry.most_bytes.unwrap_or(8 << 20);
    let fits = |bytes: u64| (entry.least_bytes..=most).contains(&bytes);
    let fitting = blocks.iter().copied().filter(|block| fits(block.message_bytes));
    fitting.chain([block(most, 2, 1)]).collect()
}

#[test]
fn every_byte_is_received_or_counted_as_lost() {
    let blocks = [block(65507, 100, 2), block(1, 300, 3), block(1 << 20, 2, 3), block(4097, 10, 4)];
    for (entry, address) in openings() {
        let address = address.map(|address| address.parse().unwrap());
        for wait in [Wait::Sleeping, Wait::Polling] {
            let mut ends = meet(&Spec { address: address.clone(), ..spec(entry.name, 1, true) });
            let blocks = carried(entry, &blocks);
            for does in [[Does::Receives, Does::Sends], [Does::Sends, Does::Receives]] {
                let [first, second] = play(&mut ends, [&does[..1], &does[1..]], wait, &blocks);
                let (received, sent) = if does[0] == Does::Sends { (second, first) } else { (first, second) };
                for (index, block) in blocks.iter().enumerate() {
                    let lost = received[0][0][index].flow.lost;
                    assert_eq!(lost.is_none(), entry.reliable, "{} {wait} {block:?}", entry.name);
                    let lost = lost.unwrap_or(0) * block.message_bytes;
                    assert_eq!(bytes(&sent, index), block.bytes(), "{} {wait} {block:?}", entry.name);
                    assert_eq!(
                        bytes(&received, index) + lost,
                        block.bytes(),
                        "{} {wait} {block:?}",
                        entry.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_ping_pong_returns_every_message() {
    for (entry, address) in openings() {
        let (transport, address) = (entry.name, address.map(|address| address.parse().unwrap()));
        for wait in [Wait::Sleeping, Wait::Polling] {
            let mut ends = meet(&Spec { address: address.clone(), ..spec(transport, 1, true) });
            let blocks = carried(entry, &[block(1, 2, 20), block(100_000, 1, 5), block(3 << 20, 1, 2)]);
            let [pings, echoes] = play(&mut ends, [&[Does::Pings], &[Does::Echoes]], wait, &blocks);
            for (index, block) in blocks.iter().enumerate() {
                let flow = &pings[0][0][index].flow;
                assert_eq!(flow.slices_ns.len(), block.slices as usize, "{transport}");
                assert!(flow.slices_ns.iter().sum::<u64>() <= flow.duration_ns, "{transport}");
                assert_eq!(flow.bytes, block.bytes(), "{transport}");
                assert!(bytes(&echoes, index) >= block.bytes(), "{transport}");
                assert!(!entry.reliable || bytes(&echoes, index) == block.bytes(), "{transport}");
            }
        }
    }
}

/// A receiver that keeps little and a sender that does not wait: some datagrams find no room.
#[test]
fn datagrams_without_room_are_counted_as_lost() {
    for entry in two_ends().filter(|entry| !entry.reliable) {
        let settings = vec!["socket.receive-buffer=2KiB".parse().unwrap()];
        let mut ends = meet(&Spec { settings, ..spec(entry.name, 2, true) });
        for message_bytes in [1, 1400, 30_000] {
            // Parallel flows and a busy machine decide how much is lost; that all is counted they do not.
            let blocks = [block(message_bytes, 2000, 5), block(64, 10, 2)];
            let [received, sent] =
                play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &blocks);
            for (flow, sender) in received[0].iter().zip(&sent[0]) {
                let (flow, sent) = (&flow[0].flow, &sender[0].flow);
                let (came, lost) = (flow.messages.unwrap(), flow.lost.unwrap());
                assert_eq!((came + lost, sent.bytes), (10_000, 10_000 * message_bytes));
                assert_eq!(flow.bytes, came * message_bytes);
                assert_eq!(flow.slices_ns.len() as u64, came.div_ceil(2000));
                assert!(lost > 0, "nothing of {message_bytes} B was lost in 2 KiB");
            }
        }
    }
}

/// Whoever does not present the secret hears nothing and takes nobody's place.
#[test]
fn a_refused_stranger_keeps_no_peer_out() {
    for (entry, address) in openings() {
        let transport = named(entry.name).unwrap();
        let spec = Spec { address: address.map(|a| a.parse().unwrap()), ..spec(entry.name, 1, true) };
        let (passive, offer) = transport.offer(&spec).unwrap();
        let Offer::Socket { address, .. } = &offer else { continue };
        let (active, _) = transport.offer(&Spec { passive: false, ..spec }).unwrap();
        let mut ends = std::thread::scope(|scope| {
            let passive = scope.spawn(|| passive.join(&Offer::Nothing).unwrap());
            assert_eq!(heard_by_a_stranger(address), b"", "{}", entry.name);
            let active = active.join(&offer).unwrap();
            [passive.join().unwrap(), active]
        });
        let [first, _] =
            play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &[block(64, 3, 1)]);
        assert_eq!(bytes(&first, 0), 192, "{}", entry.name);
    }
}

/// Presents a wrong secret of the right length; gives all that comes back until the end.
fn heard_by_a_stranger(address: &Address) -> Vec<u8> {
    trait Stream: Read + Write {}
    impl<S: Read + Write> Stream for S {}
    let limit = Some(Duration::from_secs(20));
    let mut stream: Box<dyn Stream> = match address {
        Address::Internet(address) => {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(limit).unwrap();
            Box::new(stream)
        }
        Address::Abstract(name) => {
            let address = SocketAddr::from_abstract_name(name).unwrap();
            let stream = UnixStream::connect_addr(&address).unwrap();
            stream.set_read_timeout(limit).unwrap();
            Box::new(stream)
        }
        // The standard library has no such socket; the greeting is read by the same code as the others'.
        Address::Context(..) => return Vec::new(),
    };
    stream.write_all(&[b'0'; 40]).unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    heard
}

#[test]
fn tcp_carries_flows_both_ways_at_once() {
    let mut ends = open("tcp", 3, 5000);
    let both = [Does::Receives, Does::Sends];
    let blocks = [block(100_000, 5, 4)];
    for answers in play(&mut ends, [&both, &both], Wait::Sleeping, &blocks) {
        assert_eq!(answers.len(), 2);
        assert!(answers.iter().all(|flows| flows.len() == 3));
        assert_eq!(bytes(&answers, 0), 6 * blocks[0].bytes());
    }
}

/// Where the kernel received a flow's packets is where its threads run.
#[test]
fn a_flow_is_served_on_its_queues_cpu() {
    let settings = vec!["cpu.placement=queue".parse().unwrap()];
    let mut ends = meet(&Spec { settings, ..spec("tcp", 1, true) });
    // The first trial brings packets from wherever its ends ran; the second is placed by them.
    play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &[block(10_000, 5, 2)]);
    let wanted: Vec<Option<u32>> =
        ends.iter().map(|end| linerate_sys::socket::incoming_cpu(end.sockets()[0])).collect();
    for end in &ends {
        let granted = end.granted().into_iter().find(|one| one.knob == "cpu.placement");
        assert_eq!(granted.and_then(|one| one.granted).as_deref(), Some("queue"));
    }
    let answers =
        play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &[block(10_000, 5, 2)]);
    for (answers, wanted) in answers.iter().zip(wanted) {
        assert!(wanted.is_some());
        assert_eq!(answers[0][0][0].flow.cpu, wanted);
    }
}

/// A relay that holds messages from a threshold on adds its delay to these, each way, and to no others.
#[test]
fn a_relay_holds_messages_from_its_threshold() {
    const DELAY_NS: u64 = 60_000_000;
    let fastest = |threshold: &str, message_bytes| {
        let set = |text: String| text.parse().unwrap();
        let settings = vec![set("relay.delay=60ms".into()), set(format!("relay.threshold={threshold}"))];
        let mut ends = meet(&Spec { settings, ..spec("tcp", 1, true) });
        let blocks = [block(message_bytes, 1, 4)];
        let [pings, _] = play(&mut ends, [&[Does::Pings], &[Does::Echoes]], Wait::Sleeping, &blocks);
        assert_eq!(pings[0][0][0].flow.bytes, blocks[0].bytes());
        *pings[0][0][0].flow.slices_ns.iter().min().unwrap()
    };
    // The second message is longer than what the relay reads at once.
    for (threshold, bytes) in [("1000", 1000), ("400KiB", 400 << 10)] {
        assert!(fastest(threshold, bytes) >= 2 * DELAY_NS, "{bytes} B were not held");
        assert!(fastest(threshold, bytes - 1) < 2 * DELAY_NS, "{} B were held", bytes - 1);
    }
}

#[test]
fn a_peer_that_goes_away_is_an_error() {
    for transport in two_ends().map(|entry| entry.name) {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let [mut first, second] = open(transport, 1, 300);
            drop(second);
            let task = [Task { does: Does::Receives, cpus: Vec::new() }];
            let answer = first.trial(&task, wait, &[block(1, 1, 1)]);
            assert_eq!(answer.unwrap_err().exit_code(), 4, "{transport} {wait}");
        }
    }
}

/// As where the end that connects is refused: the one that listens need not wait for it.
#[test]
fn an_end_meets_nobody_where_its_listener_is_shut() {
    for transport in two_ends().filter(|entry| entry.crosses_hosts).map(|entry| entry.name) {
        let spec = Spec { patience_ms: 120_000, ..spec(transport, 1, true) };
        let (passive, _) = named(transport).unwrap().offer(&spec).unwrap();
        let waits_on = passive.waits_on().into_iter().map(|fd| fd.try_clone_to_owned().unwrap());
        let waits_on: Vec<_> = waits_on.collect();
        assert!(!waits_on.is_empty(), "{transport}");
        let answer = std::thread::scope(|scope| {
            let joins = scope.spawn(|| passive.join(&Offer::Nothing).map(drop));
            std::thread::sleep(std::time::Duration::from_millis(20));
            waits_on.iter().for_each(linerate_sys::socket::shut_down);
            joins.join().unwrap()
        });
        assert!(answer.is_err(), "{transport}");
    }
}

/// What a worker shuts down where the other host is gone: the other end is there here, and says nothing.
#[test]
fn a_trial_ends_where_what_it_waits_on_is_shut() {
    for transport in two_ends().filter(|entry| entry.crosses_hosts).map(|entry| entry.name) {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let [mut first, _second] = open(transport, 1, 120_000);
            let waits_on = first.waits_on().into_iter().map(|fd| fd.try_clone_to_owned().unwrap());
            let waits_on: Vec<_> = waits_on.collect();
            assert!(!waits_on.is_empty(), "{transport}");
            let task = [Task { does: Does::Pings, cpus: Vec::new() }];
            let answer = std::thread::scope(|scope| {
                let trial = scope.spawn(|| first.trial(&task, wait, &[block(1000, 1, 1)]));
                // Long enough for it to wait; it must end whenever that happens.
                std::thread::sleep(std::time::Duration::from_millis(20));
                waits_on.iter().for_each(linerate_sys::socket::shut_down);
                trial.join().unwrap()
            });
            assert!(answer.is_err(), "{transport} {wait}");
        }
    }
}

/// The transports over which something can go both ways at once; the others say so.
fn is_carried(transport: &str, does: [Does; 2], wait: Wait, blocks: &[Block]) -> Option<[Answers; 2]> {
    let mut ends = open(transport, 1, 5000);
    let task = |does| [Task { does, cpus: Vec::new() }];
    let [first, second] = &mut ends;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.trial(&task(does[1]), wait, blocks));
        let answers = (first.trial(&task(does[0]), wait, blocks), other.join().unwrap());
        match answers {
            (Ok(first), Ok(second)) => Some([first, second]),
            (first, second) => {
                let codes = [first, second].map(|answer| answer.err().map(|error| error.exit_code()));
                assert!(codes.contains(&Some(3)), "{transport} {wait} {does:?}: {codes:?}");
                None
            }
        }
    })
}

/// Those that this host has whose row names the pattern, once for each wait.
fn those_of(pattern: Pattern) -> Vec<&'static str> {
    let named = two_ends().filter(|entry| entry.carries(pattern));
    named.flat_map(|entry| [entry.name, entry.name]).collect()
}

#[test]
fn ends_that_send_at_once_do_not_deadlock() {
    let mut carried_by = Vec::new();
    for entry in two_ends() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let blocks = carried(entry, &[block(1, 2, 20), block(100_000, 1, 5), block(3 << 20, 1, 3)]);
            let Some(answers) = is_carried(entry.name, [Does::Exchanges; 2], wait, &blocks) else {
                continue;
            };
            carried_by.push(entry.name);
            for (index, block) in blocks.iter().enumerate() {
                for end in &answers {
                    let flow = &end[0][0][index].flow;
                    assert_eq!(flow.bytes, block.bytes(), "{} {wait}", entry.name);
                    let samples = flow.slices_ns.len() as u64 + flow.lost.unwrap_or(0);
                    assert!(samples >= u64::from(block.slices), "{} {wait}", entry.name);
                }
            }
        }
    }
    assert_eq!(carried_by, those_of(Pattern::PingPing));
}

#[test]
fn overlap_has_all_three_times() {
    let mut carried_by = Vec::new();
    for entry in two_ends() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let sizes = [block(1, 2, 5), block(100_000, 1, 5), block(3 << 20, 1, 3)];
            let blocks = carried(entry, &sizes.map(|block| Block { lead: 1, ..block }));
            let Some(answers) = is_carried(entry.name, [Does::Overlaps; 2], wait, &blocks) else { continue };
            carried_by.push(entry.name);
            for (index, block) in blocks.iter().enumerate() {
                for end in &answers {
                    let measured = &end[0][0][index];
                    assert_eq!(measured.flow.bytes, 2 * block.bytes(), "{} {wait}", entry.name);
                    let timed = measured.samples.iter().map(|(sample, times)| (*sample, times.count()));
                    let slices = u64::from(block.slices - block.lead);
                    let all = [Sample::ExchangeAlone, Sample::WorkAlone, Sample::ExchangeAtWork];
                    assert_eq!(timed.collect::<Vec<_>>(), all.map(|sample| (sample, slices)));
                }
            }
        }
    }
    assert_eq!(carried_by, those_of(Pattern::Overlap));
}

#[test]
fn open_loop_requests_are_answered_or_counted() {
    let mut carried_by = Vec::new();
    for entry in two_ends() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let pace = [Pace::Every(50_000), Pace::Poisson(50_000)];
            let blocks = pace.map(|pace| Block { pace, lead: 1, ..block(200, 50, 11) });
            let does = [Does::Echoes, Does::Requests];
            let Some([_, asked]) = is_carried(entry.name, does, wait, &blocks) else { continue };
            carried_by.push(entry.name);
            for measured in &asked[0][0] {
                let flow = &measured.flow;
                let lost = flow.lost.unwrap_or(0);
                assert_eq!(flow.bytes / 200 + lost, 550, "{} {wait}", entry.name);
                assert_eq!(flow.tally.as_ref().unwrap().intended, Some(500), "{} {wait}", entry.name);
                let timed: Vec<u64> = measured.samples.iter().map(|(_, samples)| samples.count()).collect();
                assert!(timed.iter().all(|count| count + lost >= 500), "{} {wait}: {timed:?}", entry.name);
            }
        }
    }
    // Pipes wait in each call, and a ring has one user at a time.
    assert_eq!(carried_by, those_of(Pattern::RequestResponse));
}
