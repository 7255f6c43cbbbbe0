//! What an engine sends or receives is what was meant, to the byte.

use super::*;
use crate::pattern::{Drive, Link};
use crate::vocabulary::{Cache, Knob, KnobKind, Wait};
use linerate_sys::pages::Pages;
use std::io::{Read, Write};
use std::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(5);
const SIZES: &[usize] = &[1, 4097, 65_536, 100_000, 3 << 20];

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = listener.accept().unwrap().0;
    for socket in [&near, &far] {
        linerate_sys::socket::limit_waits(socket, LIMIT).unwrap();
    }
    (near, far)
}

fn opened(socket: &TcpStream, send: &str, receive: &str, wait: Wait) -> Box<dyn Drive> {
    let setup = Setup { socket, patience: LIMIT, largest: 64 };
    exchange(send, receive, wait, &setup).unwrap()
}

fn block(message: usize, messages: u64, cache: Cache) -> Block {
    Block { message_bytes: message as u64, messages, slices: 1, lead: 0, cache, ..Block::default() }
}

#[test]
fn the_knobs_have_the_names_of_the_engines() {
    for (knob, names) in [SEND, RECEIVE].into_iter().zip(table::names()) {
        let knob = Knob::named(knob).unwrap();
        let KnobKind::OneOf(words) = knob.kind else { panic!("{:?}", knob.kind) };
        assert_eq!(words, &names[..]);
        assert_eq!(knob.default, names[0]);
    }
}

/// Each message is what a block's buffer holds, whoever sends it; a slow reader keeps much under way.
#[test]
fn every_way_to_send_sends_what_the_buffer_holds() {
    let pages = Pages::filled(3 << 20).unwrap();
    for send in table::names()[0].iter() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let (near, mut far) = pair();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut link = opened(&near, send, "read", wait);
                    for size in SIZES {
                        Link::begin(&mut *link, &block(*size, 5, Cache::Hot)).unwrap();
                        for _ in 0..5 {
                            let mut at = 0;
                            while at < *size {
                                at += link.push(&pages[at..*size]).unwrap();
                            }
                        }
                        Link::account(&mut *link, &mut Kernel::new()).unwrap();
                    }
                });
                for size in SIZES {
                    for _ in 0..5 {
                        let mut came = vec![0; *size];
                        far.read_exact(&mut came).unwrap();
                        assert!(came == pages[..*size], "{send} {wait} {size}");
                    }
                }
            });
        }
    }
}

/// A cold walk moves on through the memory, and a message lies in it as a whole.
#[test]
fn a_cold_source_moves_on() {
    let mut source = source::Source::<Pages>::with_largest(1).unwrap();
    source.begin(&block(1000, 1, Cache::Cold)).unwrap();
    assert_eq!(source.next(1000), (0, 1000));
    source.went(10);
    assert_eq!(source.next(990), (10, 990));
    source.went(990);
    assert_eq!(source.next(1000), (1024, 1000));
    source.begin(&block(1000, 1, Cache::Hot)).unwrap();
    source.next(1000);
    source.went(1000);
    assert_eq!(source.next(1000), (0, 1000));
}

/// Those that receive into the buffer receive what was sent; the others count as much, and no byte more.
#[test]
fn every_way_to_receive_takes_only_its_bytes() {
    let pages = Pages::filled(3 << 20).unwrap();
    for receive in table::names()[1].iter() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let (mut near, mut far) = pair();
            let mut link = opened(&far, "write", receive, wait);
            let fills =
                ["read", "wait-all", "coalescing", "low-water", "epoll", "io-uring"].contains(receive);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for size in SIZES {
                        near.write_all(&pages[..*size]).unwrap();
                    }
                });
                for size in SIZES {
                    let mut room = vec![0; *size];
                    let mut at = 0;
                    while at < *size {
                        at += link.pull(&mut room[at..]).unwrap();
                    }
                    assert!(!fills || room == pages[..*size], "{receive} {wait} {size}");
                }
            });
            drop(link);
            far.set_nonblocking(false).unwrap();
            near.write_all(b"next").unwrap();
            let mut next = [0; 4];
            far.read_exact(&mut next).unwrap();
            assert_eq!(&next, b"next", "{receive} {wait}");
        }
    }
}

#[test]
fn the_end_is_an_error_for_everyone() {
    for receive in table::names()[1].iter() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            let (near, far) = pair();
            let mut link = opened(&far, "write", receive, wait);
            drop(near);
            let error = loop {
                match link.pull(&mut [0; 8]) {
                    Ok(0) => {}
                    answer => break answer.unwrap_err(),
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{receive} {wait}");
        }
    }
}

#[test]
fn what_the_kernel_says_is_told_once() {
    let (near, mut far) = pair();
    for (send, copied) in [("zero-copy", true), ("io-uring-zero-copy", true), ("write", false)] {
        let mut link = opened(&near, send, "read", Wait::Sleeping);
        Link::begin(&mut *link, &block(1000, 3, Cache::Hot)).unwrap();
        for _ in 0..3 {
            link.push(&[0; 1000]).unwrap();
        }
        far.read_exact(&mut [0; 3000]).unwrap();
        let mut kernel = Kernel::new();
        Link::account(&mut *link, &mut kernel).unwrap();
        // A loopback interface cannot take the pages of a sender.
        let told = copied.then_some(3);
        for name in ["zero-copy.sends", "zero-copy.heard", "zero-copy.copied"] {
            assert_eq!(kernel.get(name).copied(), told, "{send} {name}");
        }
        let mut again = Kernel::new();
        Link::account(&mut *link, &mut again).unwrap();
        assert!(again.values().all(|times| *times == 0), "{send} {again:?}");
    }
}
