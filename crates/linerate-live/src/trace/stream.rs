//! Blocks of a stream: one end sends, the other one receives, and what both hosts do meanwhile is read before and after, and sampled
//! beside. Nothing of that is in the loops.

use super::ask::StreamRequest;
use super::capture::{ALL, CALL, READY, await_byte};
use super::end::{End, connection};
use crate::observer::{PacketThreads, Sampler, Snapshot, TcpExt, snapshot, tcp_info};
use crate::record::{InterfaceDelta, Series, StreamSide};
use crate::unit::BitRate;
use crate::{Error, Result};
use linerate_sys::clock;
use linerate_sys::link::{self, Link};
use linerate_sys::socket::{receive_waiting, send_waiting};
use linerate_sys::thread::{self, Scheduling};
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// The most bytes of a block: more would take any link hours.
const MOST_BYTES: u64 = 1 << 44;

/// How long a slow reader waits between two calls, about: it takes as much in one. And at most: less than any patience.
const PAUSE: Duration = Duration::from_millis(100);
const MOST_PAUSE: Duration = Duration::from_secs(1);

/// Plays a block.
pub fn stream(end: &End, request: &StreamRequest) -> Result<StreamSide> {
    if request.bytes == 0 || request.bytes > MOST_BYTES {
        let what = format!("a stream of {} B is not traced", request.bytes);
        return Err(Error::usage(what, "are both ends of the same version?"));
    }
    if !request.traced {
        thread::pin(&[request.cpu])?;
        return play(end, request).map(|played| played.side());
    }
    let interface = interface(end.socket())?;
    // What samples stays where it was started: on no CPU alone.
    let samplers = samplers(end, request, interface.as_ref())?;
    thread::pin(&[request.cpu])?;
    let before = Before::read(end);
    let mut counting = end.counting();
    if let Some(counting) = counting.as_mut() {
        counting.begin(end.watched(0)?, request.cpu)?;
    }
    let played = play(end, request);
    // Whatever came of it: programs cost the whole host.
    let counted = counting.as_mut().map(|counting| counting.end()).transpose();
    let series: Vec<Series> = samplers.into_iter().flat_map(Sampler::finish).collect();
    let mut side = played?.side();
    before.seen(end, interface.as_ref(), &mut side);
    if let Some(counted) = counted? {
        side.counted = counted.numbers.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        (side.out_sizes, side.in_sizes, side.drops) = (counted.out_sizes, counted.in_sizes, counted.drops);
    }
    side.series = series;
    Ok(side)
}

/// The interface that the connection has here.
fn interface(socket: &TcpStream) -> Result<Option<Link>> {
    let here = socket.local_addr().map_err(|e| Error::io("getsockname", "the connection", e))?;
    Ok(link::with_address(here.ip())?)
}

fn samplers(end: &End, request: &StreamRequest, interface: Option<&Link>) -> Result<Vec<Sampler>> {
    let every = Duration::from_nanos(request.every_ns);
    let index = interface.map_or(0, |interface| interface.index);
    let thread = thread::current().number();
    Ok(vec![Sampler::of_sockets(&[end.socket()], every)?, Sampler::of_stream(thread, index, every)?])
}

/// What is read before a block, to be told from what is read after it.
struct Before {
    counters: Snapshot,
    tcp: Vec<u8>,
    protocol: TcpExt,
    threads: PacketThreads,
}

impl Before {
    fn read(end: &End) -> Before {
        let (threads, protocol) = (PacketThreads::read(), TcpExt::read());
        Before { threads, protocol, counters: snapshot(&[], &[]), tcp: connection(end.socket()) }
    }

    fn seen(&self, end: &End, interface: Option<&Link>, side: &mut StreamSide) {
        let moved = self.counters.delta(&snapshot(&[], &[]));
        side.tcp = tcp_info::moved(&self.tcp, &connection(end.socket()));
        side.protocol = self.protocol.moved(&TcpExt::read());
        side.packet_threads_ns = self.threads.since();
        side.softnet = [moved.softnet_processed, moved.softnet_dropped, moved.softnet_squeezed];
        let is_ours = |one: &InterfaceDelta| interface.is_some_and(|interface| interface.name == one.name);
        side.interface = moved.interfaces.into_iter().find(is_ours);
    }
}

/// What an end's thread did in the time that counts.
struct Moved {
    begun_ns: u64,
    ended_ns: u64,
    bytes: u64,
    calls: u64,
    before: Scheduling,
    after: Scheduling,
}

impl Moved {
    fn side(&self) -> StreamSide {
        let (before, after) = (&self.before, &self.after);
        let run_delay = before.run_delay_ns.zip(after.run_delay_ns);
        StreamSide {
            begun_ns: self.begun_ns,
            elapsed_ns: self.ended_ns.saturating_sub(self.begun_ns),
            bytes: self.bytes,
            calls: self.calls,
            thread_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
            run_delay_ns: run_delay.map(|(before, after)| after.saturating_sub(before)),
            sleeps: after.voluntary_switches.saturating_sub(before.voluntary_switches),
            preempted: after.involuntary_switches.saturating_sub(before.involuntary_switches),
            ..StreamSide::default()
        }
    }
}

fn play(end: &End, request: &StreamRequest) -> Result<Moved> {
    let (socket, bytes) = (end.socket(), request.bytes);
    let mut room = vec![0x55; CALL];
    let moved = match (request.sends, end.read_rate()) {
        (true, _) => send(socket, bytes, &room),
        (false, None) => receive(socket, bytes, &mut room, &AtOnce),
        (false, Some(rate)) => {
            let slowly = Slowly(rate);
            receive(socket, bytes, &mut room[..slowly.call()], &slowly)
        }
    };
    moved.map_err(|error| end.failed(&error))
}

/// How a program goes on after a call that received: compiled into the loop.
trait Pace {
    fn after(&self, bytes: usize);
}

struct AtOnce;

/// A fault that is put in by hand.
struct Slowly(BitRate);

impl Slowly {
    /// Bytes of a call.
    fn call(&self) -> usize {
        (self.0.0 / 8.0 * PAUSE.as_secs_f64()).clamp(1.0, CALL as f64) as usize
    }
}

impl Pace for AtOnce {
    #[inline]
    fn after(&self, _: usize) {}
}

impl Pace for Slowly {
    fn after(&self, bytes: usize) {
        std::thread::sleep(Duration::from_secs_f64(8.0 * bytes as f64 / self.0.0).min(MOST_PAUSE));
    }
}

/// Sends all, and waits until the other end has it.
fn send(socket: &TcpStream, bytes: u64, buffer: &[u8]) -> io::Result<Moved> {
    await_byte(socket, READY)?;
    let before = thread::scheduling();
    let (begun_ns, mut left, mut calls) = (clock::monotonic_ns(), bytes, 0);
    while left > 0 {
        let part = left.min(buffer.len() as u64) as usize;
        left -= send_waiting(socket, &buffer[..part])? as u64;
        calls += 1;
    }
    await_byte(socket, ALL)?;
    let ended_ns = clock::monotonic_ns();
    Ok(Moved { begun_ns, ended_ns, bytes, calls, before, after: thread::scheduling() })
}

/// Receives all, and says so. The clock begins with the return of the first call.
fn receive<P: Pace>(socket: &TcpStream, bytes: u64, room: &mut [u8], pace: &P) -> io::Result<Moved> {
    while send_waiting(socket, &[READY])? == 0 {}
    let first = next(socket, room)?;
    pace.after(first);
    let before = thread::scheduling();
    let (begun_ns, mut came, mut calls) = (clock::monotonic_ns(), first as u64, 0);
    while came < bytes {
        let now = next(socket, room)?;
        pace.after(now);
        came += now as u64;
        calls += 1;
    }
    let ended_ns = clock::monotonic_ns();
    let after = thread::scheduling();
    while send_waiting(socket, &[ALL])? == 0 {}
    if came > bytes {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Moved { begun_ns, ended_ns, bytes: bytes - first as u64, calls, before, after })
}

/// What is there next.
#[inline]
fn next(socket: &TcpStream, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match receive_waiting(socket, room)? {
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(came) => return Ok(came),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    #[test]
    fn both_ends_know_where_a_block_ends() {
        let (one, other) = pair();
        let receiver = std::thread::spawn(move || {
            let mut room = vec![0; CALL];
            [300_000, 70_000].map(|bytes| receive(&other, bytes, &mut room, &AtOnce).unwrap().side())
        });
        let buffer = vec![1; CALL];
        let sent = [300_000, 70_000].map(|bytes| send(&one, bytes, &buffer).unwrap().side());
        let received = receiver.join().unwrap();
        assert_eq!((sent[0].bytes, sent[1].bytes, sent[0].calls), (300_000, 70_000, 3));
        // All but the first call's.
        assert!(received.iter().zip([300_000, 70_000]).all(|(side, all)| side.bytes < all), "{received:?}");
        assert!(sent.iter().all(|side| side.elapsed_ns > 0 && side.thread_ns > 0));
    }

    #[test]
    fn a_slow_reader_takes_what_its_rate_gives_it() {
        let calls = [400e6, 1e6, 80e3, 1.0].map(|rate| Slowly(BitRate(rate)).call());
        assert_eq!(calls, [CALL, 12_500, 1000, 1]);
        let (one, other) = pair();
        let receiver = std::thread::spawn(move || {
            let slowly = Slowly(BitRate(160e3));
            let mut room = vec![0; slowly.call()];
            receive(&other, 10_000, &mut room, &slowly).unwrap().side()
        });
        send(&one, 10_000, &vec![1; CALL]).unwrap();
        let side = receiver.join().unwrap();
        let rate = 8e9 * side.bytes as f64 / side.elapsed_ns as f64;
        assert!(side.bytes == 8000 && rate > 80e3 && rate < 161e3, "{rate} {side:?}");
    }

    #[test]
    fn an_end_that_hangs_up_or_sends_too_much_is_an_error() {
        let mut room = vec![0; CALL];
        let (one, other) = pair();
        std::io::Write::write_all(&mut &one, &[0; 5]).unwrap();
        let kind = receive(&other, 3, &mut room, &AtOnce).map(|_| ()).map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::InvalidData));
        let (one, other) = pair();
        drop(one);
        assert!(receive(&other, 3, &mut room, &AtOnce).is_err() && send(&other, 3, &room).is_err());
    }
}
