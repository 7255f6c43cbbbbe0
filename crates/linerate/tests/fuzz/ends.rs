//! What a passive end hears before it trusts anybody, and what a peer that it trusts may still get wrong.

use super::mutator::fuzz;
use super::stays_small;
use linerate::transport::{Offer, Spec, named};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// How long a passive end waits for anything.
const PATIENCE_MS: u64 = 100;

/// What an input may take: patience for the greeting, for the port and for the handshake, and a slow machine.
const LIMIT: Duration = Duration::from_secs(20);

/// A ClientHello of TLS 1.3, as far as its extensions (RFC 8448, section 3).
const HELLO: &[u8] = &[
    0x16, 0x03, 0x01, 0x00, 0xc4, 0x01, 0x00, 0x00, 0xc0, 0x03, 0x03, 0xcb, 0x34, 0xec, 0xb1, 0xe7, 0x81,
    0x63, 0xba, 0x1c, 0x38, 0xc6, 0xda, 0xcb, 0x19, 0x6a, 0x6d, 0xff, 0xa2, 0x1a, 0x8d, 0x99, 0x12, 0xec,
    0x18, 0xa2, 0xef, 0x62, 0x83, 0x02, 0x4d, 0xec, 0xe7, 0x00, 0x00, 0x06, 0x13, 0x01, 0x13, 0x03, 0x13,
    0x02, 0x01, 0x00, 0x00, 0x91,
];

/// Joins a passive end while a peer says what `say` does; the session may fail, in time and in words.
fn join_with(transport: &str, say: impl FnOnce(&mut TcpStream, &str) + Send) {
    let spec = Spec {
        transport: transport.into(),
        flows: 1,
        passive: true,
        settings: Vec::new(),
        patience_ms: PATIENCE_MS,
        ..Spec::default()
    };
    let (passive, offer) = named(transport).unwrap().offer(&spec).unwrap();
    let Offer::Socket { address, secret, .. } = &offer else { panic!("{transport} offers a socket") };
    let mut stream = TcpStream::connect(address.to_string()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(PATIENCE_MS))).unwrap();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || say(&mut stream, secret));
        if let Err(error) = passive.join(&Offer::Nothing) {
            assert!(!error.to_string().is_empty());
        }
    });
    assert!(begun.elapsed() < LIMIT, "{transport} took {:?}", begun.elapsed());
}

#[test]
fn a_damaged_greeting_opens_nothing() {
    fuzz("greeting", &[&[b'0'; 40], b"0123456789abcdef"], |bytes| {
        join_with("tcp", |stream, _| drop(stream.write_all(bytes)));
    });
    stays_small("greeting");
}

#[test]
fn a_damaged_hello_ends_the_handshake() {
    fuzz("hello", &[HELLO, &[0x15, 3, 3, 0, 2, 2, 40], &[0x17, 3, 3, 0x40, 0, 0]], |bytes| {
        join_with("tls", |stream, secret| {
            let _ = stream.write_all(format!("{secret}{:08x}", 0).as_bytes());
            let _ = stream.write_all(bytes);
        });
    });
    stays_small("hello");
}

/// The port that an end told in its 64 bytes.
fn told(stream: &mut TcpStream) -> Option<u16> {
    let mut name = [0; 64];
    stream.read_exact(&mut name).ok()?;
    std::str::from_utf8(&name).ok()?.trim_end().parse().ok()
}

#[test]
fn a_damaged_port_or_packet_ends_the_handshake() {
    // A long header of version 1 with both connection IDs, a short header, a version negotiation.
    let mut initial = vec![0xc3, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 9, 9, 9, 9, 0, 0x44, 0x9e];
    initial.resize(1200, 0x5a);
    let packets: [&[u8]; 3] = [&initial, &[0x40, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0], &[0x80, 0, 0, 0, 0, 0, 0, 1]];
    fuzz("packet", &packets, |bytes| {
        join_with("quic", |stream, secret| {
            let port = UdpSocket::bind("127.0.0.1:0").unwrap();
            let name = format!("{:<64}", port.local_addr().unwrap().port());
            let _ = stream.write_all(format!("{secret}{:08x}", 0).as_bytes());
            let _ = stream.write_all(name.as_bytes());
            let Some(theirs) = told(stream) else { return };
            let _ = stream.write_all(&[0]);
            let _ = stream.read_exact(&mut [0]);
            let _ = port.connect(("127.0.0.1", theirs));
            for _ in 0..3 {
                let _ = port.send(bytes);
            }
            // It stays until the other end has given up.
            let _ = stream.read(&mut [0]);
        });
    });
    let names = [format!("{:<64}", 4000), format!("{:<64}", "0200000000ab 00000000000000ff")];
    let names = names.each_ref().map(String::as_bytes);
    let can = |name: &&str| named(name).unwrap().lacks().is_none();
    for transport in ["udp", "raw"].into_iter().filter(can) {
        fuzz(&format!("{transport} port"), &names, |bytes| {
            join_with(transport, |stream, secret| {
                let _ = stream.write_all(format!("{secret}{:08x}", 0).as_bytes());
                let _ = stream.write_all(bytes);
            });
        });
    }
    stays_small("packet");
}
