//! The timed loops of datagrams, which may be lost: each message has its block's number and its own, and one whose answer does not come is
//! given up. The connection beside them, which loses nothing, says where a block begins and ends.

use super::capture::{ALL, READY, await_byte};
use super::probe::Probe;
use super::sleeping::Waiting;
use linerate_sys::socket::{receive_now, send_waiting};
use std::io::{self, ErrorKind};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// A message begins with the numbers of its block and of its exchange.
pub const LEAST_BYTES: u64 = 8;

/// A longer one may be several packets: an MTU of 1500, with the headers of IPv6.
pub const MOST_BYTES: u64 = 1400;

/// How long a call that receives sleeps at most, until it is looked whether it is over.
pub const LOOK: Duration = Duration::from_millis(50);

/// How often one that does not sleep looks.
const SPINS: u32 = 1 << 12;

/// Answers that may be lost in a row while no round trip is known, before it is given up.
const FIRST_LOST: u32 = 5;

/// An answer is lost where it takes so much longer than the longest that came, and at least so long.
const LONGER: u32 = 4;
const LEAST_WAIT: Duration = Duration::from_millis(200);

/// What a block is played on.
pub struct Ends<'e> {
    /// Where the messages go.
    pub port: &'e UdpSocket,
    /// The connection beside.
    pub beside: &'e TcpStream,
    /// The block's number, the same at both ends.
    pub block: u32,
    /// After how long without a message the other end is taken for gone.
    pub patience: Duration,
}

/// What came of a wait.
enum Came {
    /// The message of this exchange.
    Message(u32),
    /// Nothing in this time.
    Nothing,
    /// The other end says that it is over.
    Over,
}

impl Ends<'_> {
    /// So many exchanges, asked from here; answers those that were lost. `longest` is the longest that
    /// one took; nothing is known of the way until one came.
    pub fn ask<P: Probe, W: Waiting>(
        &self,
        message: &mut [u8],
        room: &mut [u8],
        exchanges: u32,
        probe: &mut P,
        longest: &mut Option<Duration>,
    ) -> io::Result<Vec<u32>> {
        await_byte(self.beside, READY)?;
        let (mut lost, mut heard) = (Vec::with_capacity(exchanges as usize), Instant::now());
        for exchange in 0..exchanges {
            self.number(message, exchange);
            let limit = self.limit(*longest);
            probe.begin(exchange as usize);
            let sent = probe.now();
            self.send(message, probe)?;
            if self.answered::<P, W>(room, exchange, limit, probe)? {
                let returned = probe.now();
                probe.asked(exchange as usize, sent, returned)?;
                heard = Instant::now();
                let took = Duration::from_nanos(returned.saturating_sub(sent));
                *longest = Some(longest.map_or(took, |longest| longest.max(took)));
            } else {
                probe.lost(exchange as usize, true)?;
                lost.push(exchange);
                if heard.elapsed() > self.patience {
                    return Err(ErrorKind::TimedOut.into());
                }
            }
        }
        while send_waiting(self.beside, &[ALL])? == 0 {}
        Ok(lost)
    }

    /// The other end, until it is told that it is over.
    pub fn answer<P: Probe, W: Waiting>(
        &self,
        message: &mut [u8],
        room: &mut [u8],
        exchanges: u32,
        probe: &mut P,
    ) -> io::Result<()> {
        while send_waiting(self.beside, &[READY])? == 0 {}
        let (mut next, mut heard) = (0, Instant::now());
        loop {
            probe.begin(next as usize);
            match self.next::<P, W>(room, LOOK, true, probe)? {
                Came::Message(exchange) if exchange >= next && exchange < exchanges => {
                    self.number(message, exchange);
                    let (returned, sent) = probe.between(exchange as usize);
                    self.send(message, probe)?;
                    (next..exchange).try_for_each(|lost| probe.lost(lost as usize, false))?;
                    probe.answered(exchange as usize, returned, sent)?;
                    (next, heard) = (exchange + 1, Instant::now());
                }
                // Of one that was given up.
                Came::Message(_) => {}
                Came::Nothing if heard.elapsed() > self.patience => return Err(ErrorKind::TimedOut.into()),
                Came::Nothing => {}
                Came::Over => break,
            }
        }
        (next..exchanges).try_for_each(|lost| probe.lost(lost as usize, false))
    }

    /// After how long an answer is lost.
    fn limit(&self, longest: Option<Duration>) -> Duration {
        let longer = |longest: Duration| (longest * LONGER).max(LEAST_WAIT).min(self.patience);
        // Before any is known several may be lost in a row.
        longest.map_or(self.patience / FIRST_LOST, longer)
    }

    fn number(&self, message: &mut [u8], exchange: u32) {
        for (place, number) in message.chunks_exact_mut(4).zip([self.block, exchange]) {
            place.copy_from_slice(&number.to_be_bytes());
        }
    }

    #[inline]
    fn send<P: Probe>(&self, message: &[u8], probe: &mut P) -> io::Result<()> {
        loop {
            match probe.send(self.port, message) {
                Ok(0) => {}
                Ok(_) => return Ok(()),
                // What an earlier one was answered with.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the answer comes in this time; what comes late of others is passed over.
    #[inline]
    fn answered<P: Probe, W: Waiting>(
        &self,
        room: &mut [u8],
        exchange: u32,
        limit: Duration,
        probe: &mut P,
    ) -> io::Result<bool> {
        loop {
            match self.next::<P, W>(room, limit, false, probe)? {
                Came::Message(of) if of == exchange => return Ok(true),
                Came::Message(_) => {}
                Came::Nothing | Came::Over => return Ok(false),
            }
        }
    }

    /// The next message of this block.
    #[inline]
    fn next<P: Probe, W: Waiting>(
        &self,
        room: &mut [u8],
        limit: Duration,
        may_end: bool,
        probe: &mut P,
    ) -> io::Result<Came> {
        let (mut spins, mut since) = (0_u32, None);
        loop {
            match probe.receive(self.port, room, W::SLEEPS) {
                Ok(came) if came == room.len() => match numbers(room) {
                    Some((block, exchange)) if block == self.block => return Ok(Came::Message(exchange)),
                    _ => {}
                },
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    spins = spins.wrapping_add(1);
                    if !W::SLEEPS && !spins.is_multiple_of(SPINS) {
                        continue;
                    }
                    if may_end && self.is_over()? {
                        return Ok(Came::Over);
                    }
                    // A first look that slept has waited for so long already.
                    let slept = if W::SLEEPS { LOOK } else { Duration::ZERO };
                    if since.get_or_insert_with(Instant::now).elapsed() + slept > limit {
                        return Ok(Came::Nothing);
                    }
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn is_over(&self) -> io::Result<bool> {
        let mut byte = [0];
        match receive_now(self.beside, &mut byte)? {
            Some(0) => Err(ErrorKind::UnexpectedEof.into()),
            Some(_) if byte[0] == ALL => Ok(true),
            Some(_) => Err(ErrorKind::InvalidData.into()),
            None => Ok(false),
        }
    }
}

/// The numbers of a block and of an exchange.
#[inline]
fn numbers(message: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(message.get(at..at + 4)?.try_into().ok()?));
    Some((number(0)?, number(4)?))
}

/// Throws away what came too late for the block before.
pub fn forget(port: &UdpSocket) -> io::Result<()> {
    loop {
        match receive_now(port, &mut [0]) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::Untraced;
    use super::super::sample::Sample;
    use super::super::sleeping::{Polling, Sleeping};
    use super::super::timed::Timed;
    use super::*;
    use linerate_sys::tracer::Ways;
    use std::net::TcpListener;

    /// Two ends, and between their ports one that passes on what it is told to.
    struct Path {
        ports: [UdpSocket; 2],
        between: [UdpSocket; 2],
        besides: [TcpStream; 2],
    }

    fn path() -> Path {
        let port = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let (ports, between) = ([port(), port()], [port(), port()]);
        for (port, between) in ports.iter().zip(&between) {
            port.connect(between.local_addr().unwrap()).unwrap();
            between.connect(port.local_addr().unwrap()).unwrap();
            port.set_read_timeout(Some(LOOK)).unwrap();
            between.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        Path { ports, between, besides: [one, listener.accept().unwrap().0] }
    }

    /// When what was received had come to an end, and which ways it had stamped, one after the other.
    type Seen = (Vec<u64>, Vec<Ways>);

    /// Plays six exchanges over a path that drops those that `drops` says, of the way there (0) and of that back (1): those that were lost,
    /// and what who asks and who answers saw, of which every so manyth is stamped.
    fn played<W: Waiting>(every: u32, drops: fn(usize, u32) -> bool) -> (io::Result<Vec<u32>>, Seen, Seen) {
        let (path, patience) = (path(), Duration::from_millis(900));
        let over = std::sync::atomic::AtomicBool::new(false);
        let ends =
            [0, 1].map(|at| Ends { port: &path.ports[at], beside: &path.besides[at], block: 7, patience });
        std::thread::scope(|scope| {
            let (between, over, ends) = (&path.between, &over, &ends);
            scope.spawn(move || {
                let mut room = [0; 64];
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    for way in [0, 1] {
                        let Ok(came) = between[way].recv(&mut room) else { continue };
                        if !drops(way, numbers(&room).unwrap().1) {
                            between[1 - way].send(&room[..came]).unwrap();
                        }
                    }
                }
            });
            let answering = scope.spawn(move || {
                let mut ways = Vec::new();
                let mut probe = Timed::new(6, false, Sample::new(every), Some(|way| ways.push(way)));
                let _ = ends[1].answer::<_, W>(&mut [1; 16], &mut [0; 16], 6, &mut probe);
                let came = probe.own().1.to_vec();
                drop(probe);
                (came, ways)
            });
            let mut ways = Vec::new();
            let mut asking = Timed::new(6, true, Sample::new(every), Some(|way| ways.push(way)));
            let mut longest = Some(Duration::from_millis(50));
            let lost = ends[0].ask::<_, W>(&mut [2; 16], &mut [0; 16], 6, &mut asking, &mut longest);
            let answered = answering.join().unwrap();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            let came = asking.own().1.to_vec();
            drop(asking);
            (lost, (came, ways), answered)
        })
    }

    fn there(times: &[u64]) -> Vec<bool> {
        times.iter().map(|ns| *ns > 0).collect()
    }

    #[test]
    fn lost_messages_are_told_and_end_nothing() {
        // The second one on its way, the fourth one's answer, and the last one.
        let drops = |way, exchange| matches!((way, exchange), (0, 1) | (1, 3) | (0, 5));
        for (lost, asked, answered) in [played::<Sleeping>(1, drops), played::<Polling>(1, drops)] {
            assert_eq!(lost.unwrap(), [1, 3, 5]);
            assert_eq!(there(&asked.0), [true, false, true, false, true, false]);
            assert_eq!(there(&answered.0), [true, false, true, true, true, false]);
            assert!(asked.1.is_empty() && answered.1.is_empty(), "all are stamped");
        }
    }

    #[test]
    fn lost_messages_of_a_sample_leave_the_others_their_ways() {
        // Every other one is stamped, from the second one on: that on its way, the third one's answer, and the fifth one.
        let drops = |way, exchange| matches!((way, exchange), (0, 1) | (1, 2) | (0, 4));
        let [none, come, out, both] = [Ways::NONE, Ways::IN, Ways::OUT, Ways::BOTH];
        for (lost, asked, answered) in [played::<Sleeping>(2, drops), played::<Polling>(2, drops)] {
            assert_eq!(lost.unwrap(), [1, 2, 4]);
            assert_eq!(there(&asked.0), [true, false, false, true, false, true]);
            assert_eq!(asked.1, [none, both, none, both, none, both, none]);
            assert_eq!(there(&answered.0), [true, false, true, true, false, true]);
            // The fourth one is looked for since the third one came; of the last one nobody knew that it is the next.
            assert_eq!(answered.1, [none, come, out]);
        }
    }

    #[test]
    fn a_path_that_passes_nothing_is_an_error_in_time() {
        let begun = Instant::now();
        let (lost, ..) = played::<Sleeping>(1, |_, _| true);
        assert_eq!(lost.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_is_of_another_block_is_no_message() {
        let path = path();
        let ends = Ends {
            port: &path.ports[0],
            beside: &path.besides[0],
            block: 3,
            patience: Duration::from_millis(300),
        };
        let mut message = [0; 16];
        for block in [2, 3] {
            Ends { block, ..ends }.number(&mut message, 5);
            path.between[0].send(&message).unwrap();
        }
        // Shorter than a message.
        path.between[0].send(&message[..4]).unwrap();
        let mut probe = Untraced::new(0);
        let mut next = || ends.next::<_, Sleeping>(&mut [0; 16], LOOK, false, &mut probe).unwrap();
        assert!(matches!((next(), next()), (Came::Message(5), Came::Nothing)));
        forget(&path.ports[0]).unwrap();
    }
}
