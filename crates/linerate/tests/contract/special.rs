//! What is special to single transports: those that a host may lack, those that shake hands.

use super::{Block, Does, Pace, Wait, block, bytes, meet, play, spec};
use linerate::pattern::run_beside;
use linerate::transport::{Offer, Session, Spec, Task, lacking, named, transports};
use linerate::vocabulary::{PATTERNS, Pattern};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

#[test]
fn what_this_host_lacks_cannot_be_offered() {
    for lack in lacking() {
        assert!(lack.why.starts_with("unavailable: ") && !lack.hint.is_empty(), "{lack:?}");
        let refused = named(&lack.transport).unwrap().offer(&spec(&lack.transport, 1, true));
        assert_eq!(refused.err().expect(&lack.transport).exit_code(), 3, "{lack:?}");
    }
    let missing: Vec<_> = transports().into_iter().filter_map(|transport| transport.lacks()).collect();
    assert_eq!(missing, lacking());
}

fn tasks(does: &[Does]) -> Vec<Task> {
    does.iter().map(|does| Task { does: *does, cpus: Vec::new() }).collect()
}

/// A plan is refused by the table, before anything is opened.
#[test]
fn a_transport_carries_its_rows_patterns() {
    for entry in super::two_ends() {
        // Applications play all sessions of a host together: tests/applications.
        for pattern in PATTERNS.iter().filter(|pattern| !pattern.application) {
            let [active, passive] = pattern.ends;
            let pace =
                if pattern.pattern == Pattern::RequestResponse { Pace::Every(50_000) } else { Pace::Closed };
            let blocks = [Block { pace, ..block(entry.least_bytes.max(100), 2, 3) }];
            let [mut first, mut second] = meet(&Spec { patience_ms: 500, ..spec(entry.name, 1, true) });
            let played = std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let played = second.trial(&tasks(active), Wait::Sleeping, &blocks).is_ok();
                    // An end that cannot leaves the other one, which may wait for it.
                    drop(second);
                    played
                });
                let played = first.trial(&tasks(passive), Wait::Sleeping, &blocks).is_ok();
                drop(first);
                other.join().unwrap() && played
            });
            assert_eq!(played, entry.carries(pattern.pattern), "{} {}", entry.name, pattern.name);
        }
    }
}

#[test]
fn a_transport_loads_where_its_row_says_so() {
    for entry in super::two_ends() {
        let [mut first, mut second] = meet(&spec(entry.name, 1, true));
        let (receives, sends) = (&tasks(&[Does::Receives])[0], &tasks(&[Does::Sends])[0]);
        let (done, goes_on) = (AtomicBool::new(true), AtomicBool::new(false));
        let load =
            |end: &mut dyn Session, task, done| run_beside(end.streams(task)?, Wait::Sleeping, 1000, done);
        let loaded = load(first.as_mut(), sends, &done).is_ok();
        assert_eq!(loaded, entry.loads, "{}", entry.name);
        if loaded {
            let sockets = first.sockets().len();
            first.hang_up();
            let moved = load(second.as_mut(), receives, &goes_on).unwrap();
            assert_eq!(moved.len(), 1, "{}", entry.name);
            assert_eq!(second.sockets().len(), sockets, "{}: they can be read still", entry.name);
        }
    }
}

fn granted(session: &dyn Session, knob: &str) -> Option<String> {
    session.granted().into_iter().find(|granted| granted.knob == knob)?.granted
}

/// Those whose passive end shows a certificate.
fn sealed() -> Vec<&'static str> {
    let has = |name: &&str| {
        let (_, offer) = named(name).unwrap().offer(&spec(name, 1, true)).unwrap();
        matches!(offer, Offer::Socket { certificate: Some(_), .. })
    };
    super::two_ends().map(|entry| entry.name).filter(has).collect()
}

#[test]
fn the_cipher_asked_for_is_agreed_on() {
    assert!(sealed().contains(&"tls"));
    for name in sealed() {
        for cipher in ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"] {
            let settings = vec![format!("tls.cipher={cipher}").parse().unwrap()];
            let mut ends = meet(&Spec { settings, ..spec(name, 1, true) });
            for end in &ends {
                assert_eq!(granted(end.as_ref(), "tls.cipher").as_deref(), Some(cipher), "{name}");
            }
            let [received, _] =
                play(&mut ends, [&[Does::Receives], &[Does::Sends]], Wait::Sleeping, &[block(70_000, 9, 3)]);
            assert_eq!(bytes(&received, 0), 27 * 70_000, "{name} {cipher}");
        }
    }
}

#[test]
fn another_certificate_is_refused_and_told() {
    for name in sealed() {
        let transport = named(name).unwrap();
        let spec = Spec { patience_ms: 2000, ..spec(name, 1, true) };
        let (passive, mut offer) = transport.offer(&spec).unwrap();
        let Offer::Socket { certificate, .. } = &mut offer else { panic!("{name} offers a socket") };
        *certificate = Some("00".repeat(32));
        let (active, _) = transport.offer(&Spec { passive: false, ..spec }).unwrap();
        std::thread::scope(|scope| {
            let passive = scope.spawn(|| passive.join(&Offer::Nothing).err());
            let refused = active.join(&offer).err().expect(name);
            assert_eq!(refused.exit_code(), 4, "{name}: {refused}");
            let told = passive.join().unwrap().expect(name);
            assert_eq!(told.exit_code(), 4, "{name}: {told}");
        });
    }
}

/// Presents the secret as the peer would, says what it says, and is silent or gone from then on.
fn joined_by(name: &str, says: &[u8], stays: bool) -> (linerate::Error, Duration) {
    let spec = Spec { patience_ms: 400, ..spec(name, 1, true) };
    let (passive, offer) = named(name).unwrap().offer(&spec).unwrap();
    let Offer::Socket { address, secret, .. } = &offer else { panic!("{name} offers a socket") };
    let mut stream = TcpStream::connect(address.to_string()).unwrap();
    stream.write_all(format!("{secret}{:08x}", 0).as_bytes()).unwrap();
    stream.write_all(says).unwrap();
    let kept = stays.then_some(stream);
    let begun = Instant::now();
    let error = passive.join(&Offer::Nothing).err().expect("a handshake with nobody");
    drop(kept);
    (error, begun.elapsed())
}

#[test]
fn a_broken_handshake_is_an_error_in_time() {
    for name in sealed() {
        // Nothing at all, the first bytes of a hello, and what is none.
        for says in [&b""[..], &[22, 3, 1, 2, 0, 1, 0, 1], &[0xff; 4096]] {
            for stays in [false, true] {
                let (error, took) = joined_by(name, says, stays);
                assert_eq!(error.exit_code(), 4, "{name}: {error}");
                assert!(took < Duration::from_secs(20), "{name} took {took:?}");
            }
        }
    }
}

#[test]
fn multipath_tcp_is_granted_or_said_to_be_plain() {
    if let Some(lack) = named("mptcp").unwrap().lacks() {
        return println!("SKIP: multipath_tcp_is_granted_or_said_to_be_plain: {}", lack.why);
    }
    for end in meet(&spec("mptcp", 2, true)) {
        assert_eq!(granted(end.as_ref(), "mptcp.protocol").as_deref(), Some("mptcp"));
    }
    // The connecting end meets a plain TCP listener, which says nothing of paths.
    let (passive, offer) = named("tcp").unwrap().offer(&spec("tcp", 1, true)).unwrap();
    let (active, _) = named("mptcp").unwrap().offer(&spec("mptcp", 1, false)).unwrap();
    let end = std::thread::scope(|scope| {
        let passive = scope.spawn(|| passive.join(&Offer::Nothing).map(drop));
        let end = active.join(&offer).unwrap();
        passive.join().unwrap().unwrap();
        end
    });
    let told = end.granted().into_iter().find(|granted| granted.knob == "mptcp.protocol").unwrap();
    assert_eq!(told.granted.as_deref(), Some("tcp"));
    assert!(!told.is_as_asked());
}
