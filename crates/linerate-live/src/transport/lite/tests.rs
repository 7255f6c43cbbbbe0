//! The layer over real sockets, both ends in this process.

use super::layer::{Done, Layer, Waits};
use super::wire::Header;
use linerate_sys::socket;
use std::io::{ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);
const TAG: u32 = 7;
/// More than the kernel's buffers of both ends hold.
const HUGE: usize = 48 << 20;

fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

fn open(stream: TcpStream, threaded: bool) -> Layer {
    Layer::open(stream, threaded, PATIENCE).unwrap()
}

fn pair(threaded: bool) -> (Layer, Layer) {
    let (near, far) = tcp();
    (open(near, threaded), open(far, threaded))
}

/// Bytes that show where they belong.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| ((at + seed) % 251) as u8).collect()
}

/// Waits, without a call that could move anything, until the condition holds.
fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "it did not come about");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn messages_of_every_size_come_whole() {
    let sizes = [0, 1, 64, 8191, 8192, 8193, 65_519, 65_520, 65_521, 1 << 20, 9 << 20];
    for waits in [Waits::Polling, Waits::Sleeping] {
        for is_tcp in [true, false] {
            let [mut near, mut far] = if is_tcp {
                let (near, far) = tcp();
                [near, far].map(|end| open(end, true))
            } else {
                let (near, far) = UnixStream::pair().unwrap();
                [near, far].map(|end| Layer::open(end, true, PATIENCE).unwrap())
            };
            near.wait_by(waits);
            far.wait_by(waits);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for (seed, size) in sizes.into_iter().enumerate() {
                        near.send(TAG, &pattern(size, seed)).unwrap();
                        let mut room = vec![0; size + 1];
                        assert_eq!(near.receive(TAG, &mut room).unwrap(), size);
                        assert!(room[..size] == pattern(size, seed + 1), "{size} B");
                    }
                });
                for (seed, size) in sizes.into_iter().enumerate() {
                    let mut room = vec![0; size];
                    assert_eq!(far.receive(TAG, &mut room).unwrap(), size);
                    assert!(room == pattern(size, seed), "{size} B");
                    far.send(TAG, &pattern(size, seed + 1)).unwrap();
                }
            });
        }
    }
}

#[test]
fn a_window_of_receives_keeps_the_order() {
    for (size, messages) in [(1, 300), (5000, 64), (100_000, 20)] {
        let (mut near, mut far) = pair(true);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..messages).for_each(|seed| near.send(TAG, &pattern(size, seed)).unwrap()));
            let mut rooms = vec![0; size * messages];
            assert_eq!(far.receive_all(TAG, &mut rooms, size, messages).unwrap(), size * messages);
            for (seed, room) in rooms.chunks(size).enumerate() {
                assert!(room == pattern(size, seed), "message {seed} of {size} B");
            }
        });
        let too_many = far.receive_all(TAG, &mut [0; 5], 3, 2).unwrap_err();
        assert_eq!(too_many.kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn both_ends_send_what_no_buffer_holds_at_once() {
    for waits in [Waits::Polling, Waits::Sleeping] {
        let (mut near, mut far) = pair(false);
        let end = |layer: &mut Layer, seed| {
            layer.wait_by(waits);
            let mut room = vec![0; HUGE];
            assert_eq!(layer.exchange(TAG, &pattern(HUGE, seed), &mut room).unwrap(), HUGE);
            assert!(room == pattern(HUGE, 3 - seed));
        };
        std::thread::scope(|scope| {
            scope.spawn(|| end(&mut near, 1));
            end(&mut far, 2);
        });
    }
}

/// MP_Lite's claim: a message moves while its ends compute.
#[test]
fn a_large_message_moves_while_ends_compute() {
    let (mut near, mut far) = pair(true);
    let receive = far.start_receive(TAG, vec![0; HUGE]).unwrap();
    let send = near.start_send(TAG, pattern(HUGE, 0)).unwrap();
    until(|| far.is_done(&receive).unwrap() && near.is_done(&send).unwrap());
    let Done { bytes, came } = far.wait(receive).unwrap();
    assert!(came == HUGE && bytes == pattern(HUGE, 0));
    assert_eq!(near.wait(send).unwrap().bytes.len(), HUGE);
}

#[test]
fn without_a_thread_nothing_moves_meanwhile() {
    let (mut near, mut far) = pair(false);
    let receive = far.start_receive(TAG, vec![0; HUGE]).unwrap();
    let send = near.start_send(TAG, pattern(HUGE, 0)).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(!far.is_done(&receive).unwrap() && !near.is_done(&send).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| near.wait(send).unwrap());
        assert_eq!(far.wait(receive).unwrap().came, HUGE);
    });
}

/// Nobody calls and nothing is asked for: what is small is taken from the kernel all the same.
#[test]
fn small_messages_move_while_ends_compute() {
    let (mut near, far) = tcp();
    let beside = far.try_clone().unwrap();
    let mut far = open(far, true);
    for tag in 0..9 {
        near.write_all(&Header { tag, len: 1000 }.to_wire()).unwrap();
        near.write_all(&pattern(1000, tag as usize)).unwrap();
    }
    // Of its descriptor nobody reads but the layer's thread; a look at it waits no longer than this.
    socket::limit_waits(&beside, Duration::from_millis(1)).unwrap();
    until(|| beside.peek(&mut [0]).is_err());
    socket::limit_waits(&beside, PATIENCE).unwrap();
    for tag in (0..9).rev() {
        let mut room = [0; 1000];
        assert_eq!(far.receive(tag, &mut room).unwrap(), 1000);
        assert!(room[..] == pattern(1000, tag as usize));
    }
}

#[test]
fn many_requests_are_done_in_any_order() {
    for threaded in [true, false] {
        let (mut near, mut far) = pair(threaded);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let send = |tag| near.start_send(tag, pattern(100_000, tag as usize)).unwrap();
                let sends = (0..30).map(send).collect();
                near.wait_all(sends).unwrap();
                assert_eq!(near.receive(99, &mut [0; 1]).unwrap(), 1);
            });
            // The last first: those before it are in its way.
            let receives =
                (0..30).rev().map(|tag| far.start_receive(tag, vec![0; 100_000]).unwrap()).collect();
            let done = far.wait_all(receives).unwrap();
            for (done, tag) in done.iter().zip((0..30).rev()) {
                assert!(done.came == 100_000 && done.bytes == pattern(100_000, tag), "tag {tag}");
            }
            far.send(99, &[1]).unwrap();
        });
    }
}

#[test]
fn a_blocking_message_keeps_its_place() {
    let (mut near, mut far) = pair(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let first = near.start_send(TAG, pattern(HUGE, 1)).unwrap();
            near.send(TAG, &[9]).unwrap();
            near.wait(first).unwrap();
        });
        let mut room = vec![0; HUGE];
        assert_eq!(far.receive(TAG, &mut room).unwrap(), HUGE);
        assert_eq!(far.receive(TAG, &mut room).unwrap(), 1);
    });
}

#[test]
fn held_messages_beyond_the_bound_are_an_error() {
    for (messages, is_held) in [(15, true), (17, false)] {
        let (mut near, mut far) = pair(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The other end gives up where it is too much.
                let sent = (0..messages).try_for_each(|_| near.send(1, &pattern(1 << 20, 0)));
                let _ = sent.and_then(|()| near.send(2, &[5]));
                let _ = near.receive(3, &mut [0]);
            });
            let mut room = vec![0; 1 << 20];
            let received = far.receive(2, &mut room);
            if is_held {
                assert_eq!(received.unwrap(), 1);
                (0..messages).for_each(|_| assert_eq!(far.receive(1, &mut room).unwrap(), 1 << 20));
                far.send(3, &[0]).unwrap();
            } else {
                let error = received.unwrap_err();
                assert!(error.to_string().contains("for which no receive is posted"), "{error}");
                assert!(far.send(3, &[0]).is_err(), "what is broken stays so");
            }
            drop(far);
        });
    }
}

/// What a peer that is no layer, or an evil one, sends.
fn told(bytes: &[u8]) -> (std::io::Error, Layer) {
    let (mut near, far) = tcp();
    near.write_all(bytes).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    let mut far = open(far, true);
    let error = far.receive(TAG, &mut [0; 100]).unwrap_err();
    (error, far)
}

#[test]
fn a_hostile_message_takes_no_memory() {
    let (error, mut far) =
        told(b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a browser\r\nAccept: */*\r\n\r\n");
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(error.to_string().contains("begins no message"), "{error}");
    assert!(far.receive(TAG, &mut [0; 1]).unwrap_err().to_string().contains("begins no message"));
    let (error, _) = told(&Header { tag: TAG, len: 1 << 40 }.to_wire());
    assert!(error.to_string().contains("its receive has room for 100"), "{error}");
    let (error, _) = told(&Header { tag: TAG + 1, len: 1 << 40 }.to_wire());
    assert!(error.to_string().contains("for which no receive is posted"), "{error}");
    let mut wire = Header { tag: TAG, len: 0 }.to_wire();
    wire[8..].fill(0xff);
    assert_eq!(told(&wire).0.kind(), ErrorKind::InvalidData);
    // It goes in the middle of a message.
    assert_eq!(told(&Header { tag: TAG, len: 50 }.to_wire()).0.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn a_peer_that_is_silent_or_gone_is_told_in_time() {
    for waits in [Waits::Polling, Waits::Sleeping] {
        let (near, _silent) = tcp();
        let mut near = Layer::open(near, true, Duration::from_millis(100)).unwrap();
        near.wait_by(waits);
        let begun = Instant::now();
        let kind = near.receive(TAG, &mut [0]).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock), "{kind}");
        assert!(begun.elapsed() < PATIENCE);
        let (near, _silent) = tcp();
        let mut near = Layer::open(near, true, Duration::from_millis(100)).unwrap();
        near.wait_by(waits);
        let kind = near.send(TAG, &pattern(HUGE, 0)).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock), "{kind}");
    }
    // What came before it went can still be received.
    let (mut near, mut far) = pair(true);
    near.send(TAG, &[3]).unwrap();
    drop(near);
    std::thread::sleep(Duration::from_millis(20));
    let mut room = [0];
    assert_eq!((far.receive(TAG, &mut room).unwrap(), room), (1, [3]));
    assert_eq!(far.receive(TAG, &mut room).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn a_signal_moves_messages_in_the_middle_of_work() {
    let (mut near, mut far) = pair(false);
    let sent = pattern(HUGE, 3);
    std::thread::scope(|scope| {
        let bytes = sent.clone();
        scope.spawn(move || {
            // When the work has begun.
            std::thread::sleep(Duration::from_millis(100));
            far.send(TAG, &bytes).unwrap();
        });
        let request = near.start_receive(TAG, vec![0; HUGE]).unwrap();
        let begun = Instant::now();
        // More than the kernel's buffers hold goes only when somebody takes it.
        near.work_interrupted(|| while begun.elapsed() < Duration::from_secs(2) {}).unwrap();
        assert!(near.is_done(&request).unwrap(), "nobody moved it");
        let Done { bytes, came } = near.wait(request).unwrap();
        assert!(came == HUGE && bytes == sent);
    });
}

#[test]
fn a_signal_moves_only_what_was_asked_for() {
    let (mut near, mut far) = pair(false);
    far.send(TAG + 1, &[1; 100]).unwrap();
    far.send(TAG, &[2; 100]).unwrap();
    let request = near.start_receive(TAG, vec![0; 100]).unwrap();
    let begun = Instant::now();
    near.work_interrupted(|| while begun.elapsed() < Duration::from_millis(50) {}).unwrap();
    assert!(!near.is_done(&request).unwrap(), "what is behind it was taken");
    assert_eq!(near.wait(request).unwrap().bytes, vec![2; 100]);
    let mut room = [0; 100];
    assert_eq!(near.receive(TAG + 1, &mut room).unwrap(), 100);
    assert_eq!(room, [1; 100]);
}
