//! What goes through a ring arrives whole.

use super::*;
use crate::pages::Pages;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const LIMIT: Duration = Duration::from_secs(5);

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

fn sends(mut send: impl FnMut(&[u8]) -> usize, mut far: TcpStream) {
    let pages = Pages::filled(3 << 20).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..50 {
                let mut came = vec![0; pages.len()];
                far.read_exact(&mut came).unwrap();
                assert!(came == *pages);
            }
        });
        for _ in 0..50 {
            let mut at = 0;
            while at < pages.len() {
                at += send(&pages[at..]);
            }
        }
    });
}

fn receives(mut receive: impl FnMut(&mut [u8]) -> usize, mut near: TcpStream) {
    let pages = Pages::filled(3 << 20).unwrap();
    let mut room = vec![0; 100_000];
    std::thread::scope(|scope| {
        scope.spawn(|| near.write_all(&pages).unwrap());
        let mut at = 0;
        while at < pages.len() {
            let len = room.len().min(pages.len() - at);
            let came = receive(&mut room[..len]);
            assert!(room[..came] == pages[at..at + came], "at {at}");
            at += came;
        }
    });
}

#[test]
fn plain_requests_carry_every_byte() {
    let (near, far) = pair();
    let mut ring = Ring::onto(&near, LIMIT).unwrap();
    sends(|bytes| ring.send::<true>(bytes).unwrap(), far);
    let (near, far) = pair();
    let mut ring = Ring::onto(&near, LIMIT).unwrap();
    sends(|bytes| ring.send::<false>(bytes).unwrap(), far);
    for waits in [true, false] {
        let (near, far) = pair();
        let mut ring = Ring::onto(&far, LIMIT).unwrap();
        let receive = |room: &mut [u8]| {
            let came = if waits { ring.receive::<true>(room) } else { ring.receive::<false>(room) };
            came.unwrap().unwrap_or(0)
        };
        receives(receive, near);
    }
}

#[test]
fn requests_without_a_copy_are_told_of_once() {
    let (near, far) = pair();
    let mut ring = Ring::onto(&near, LIMIT).unwrap();
    sends(|bytes| ring.send_zero_copy::<true>(bytes).unwrap(), far);
    assert!(ring.settle().unwrap());
    let usage = ring.usage();
    assert!(usage.sends >= 50 && usage.done == usage.sends, "{usage:?}");
    assert_eq!(usage.copied, usage.sends, "loopback took a sender's pages");
}

#[test]
fn an_ended_standing_request_takes_nothing() {
    for waits in [true, false] {
        let (near, far) = pair();
        let mut shots = Shots::onto(&far, LIMIT).unwrap();
        let receive = |room: &mut [u8]| {
            let came =
                if waits { shots.receive::<true>(room.len()) } else { shots.receive::<false>(room.len()) };
            let came = came.unwrap().unwrap_or(&[]);
            room[..came.len()].copy_from_slice(came);
            came.len()
        };
        let mut again = near.try_clone().unwrap();
        receives(receive, near);
        // It stands again and must end with nothing taken.
        assert!(shots.receive::<false>(10).unwrap().is_none());
        drop(shots);
        again.write_all(b"for another").unwrap();
        let mut room = [0; 11];
        (&far).read_exact(&mut room).unwrap();
        assert_eq!(&room, b"for another");
    }
}

#[test]
fn what_does_not_come_in_time_is_an_error() {
    let (near, far) = pair();
    let mut ring = Ring::onto(&far, Duration::from_millis(20)).unwrap();
    let mut room = [7; 8];
    assert_eq!(ring.receive::<true>(&mut room).unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(ring.receive::<false>(&mut room).unwrap_err().kind(), io::ErrorKind::TimedOut);
    (&near).write_all(b"late").unwrap();
    assert_eq!(ring.receive::<true>(&mut room).unwrap(), Some(4));
    assert_eq!(&room, b"late\x07\x07\x07\x07");
    drop(near);
    assert_eq!(ring.receive::<true>(&mut room).unwrap(), Some(0));
    let (near, far) = pair();
    drop(near);
    assert_eq!(Shots::onto(&far, LIMIT).unwrap().receive::<true>(8).unwrap(), Some(&[][..]));
}
