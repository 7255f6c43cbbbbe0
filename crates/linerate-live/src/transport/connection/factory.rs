//! Where connections of a session are made and accepted after it has met.

use super::channel::Channel;
use super::family::{Family, SECRET_LEN, STRANGER};
use crate::pattern::{ConnectionEnd, GREETING, poll};
use crate::transport::{Address, Spec};
use linerate_sys::socket;
use std::io;
use std::time::{Duration, Instant};

/// Makes or accepts further connections of a session: which of them, says the end.
pub trait ConnectionFactory<C>: Send + Sync {
    /// Makes a connection to the other end.
    fn connect(&self) -> io::Result<C>;
    /// Whether taking one waits, and how long at most.
    fn waits(&self, limit: Option<Duration>) -> io::Result<()>;
    /// Takes one, if it is there or comes while this waits.
    fn accept(&self) -> io::Result<Option<C>>;
    /// The session's secret.
    fn secret(&self) -> &str;
}

/// The end that listens.
pub struct Acceptor<F: Family> {
    pub listener: F::Listener,
    pub secret: String,
}

/// The end that connects.
pub struct Connector {
    pub spec: Spec,
    pub address: Address,
    pub secret: String,
}

impl<F: Family> ConnectionFactory<F> for Acceptor<F> {
    fn connect(&self) -> io::Result<F> {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "this end listens"))
    }

    fn waits(&self, limit: Option<Duration>) -> io::Result<()> {
        socket::wait_to_accept(&self.listener, limit).map_err(|error| error.source)
    }

    fn accept(&self) -> io::Result<Option<F>> {
        match F::accept(&self.listener) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            // Who went away meanwhile is nobody.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Ok(None),
            accepted => accepted.map(Some),
        }
    }

    fn secret(&self) -> &str {
        &self.secret
    }
}

impl<F: Family> ConnectionFactory<F> for Connector {
    fn connect(&self) -> io::Result<F> {
        F::connect(&self.spec, &self.address, 0).map_err(io::Error::other)
    }

    fn waits(&self, _limit: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn accept(&self) -> io::Result<Option<F>> {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "this end does not listen"))
    }

    fn secret(&self) -> &str {
        &self.secret
    }
}

/// Makes and takes connections by a factory, asking again and again or sleeping.
pub struct FactoryEnd<'s, C, const POLLS: bool> {
    pub factory: &'s dyn ConnectionFactory<C>,
    pub patience: Duration,
}

impl<C: Channel, const POLLS: bool> FactoryEnd<'_, C, POLLS> {
    /// One wait of a connection: no longer than a stranger may be silent. Who is known is given several.
    pub(super) fn once(&self) -> Duration {
        self.patience.min(STRANGER)
    }

    fn limited(&self, connection: C) -> io::Result<C> {
        if !POLLS {
            socket::limit_waits(&connection, self.once()).map_err(|error| error.source)?;
        }
        Ok(connection)
    }

    /// The next one, whoever made it.
    fn next_connection(&self) -> io::Result<C> {
        let begun = Instant::now();
        loop {
            if let Some(connection) = self.factory.accept()? {
                return self.limited(connection);
            }
            if begun.elapsed() >= self.patience {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    /// What is there, or comes within the limit; 0 at the end.
    fn pull_within(&self, connection: &C, bytes: &mut [u8], limit: Duration) -> io::Result<usize> {
        if POLLS {
            // The end of the stream is an answer too: it counts as one more here.
            let ask = || Ok(connection.receive_now(bytes)?.map_or(0, |came| came + 1));
            return poll(limit, ask).map(|came| came - 1);
        }
        again(self.once(), limit, || connection.receive_waiting(bytes))
    }
}

/// Repeats what gave nothing: after an interruption, and after each wait while the limit lasts.
fn again(
    once: Duration,
    limit: Duration,
    mut attempt: impl FnMut() -> io::Result<Option<usize>>,
) -> io::Result<usize> {
    let mut waited = once;
    loop {
        match attempt() {
            Ok(Some(moved)) => return Ok(moved),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && waited < limit => waited += once,
            Err(error) => return Err(error),
        }
    }
}

impl<C: Channel, const POLLS: bool> ConnectionEnd for FactoryEnd<'_, C, POLLS> {
    type Connection = C;

    fn connect(&mut self) -> io::Result<C> {
        self.factory.connect().and_then(|connection| self.limited(connection))
    }

    /// A stranger may close early, say nothing, or say it byte by byte.
    fn accept(&mut self, greeting: &mut [u8]) -> io::Result<Option<C>> {
        let connection = self.next_connection()?;
        let (begun, limit) = (Instant::now(), self.once());
        let mut filled = 0;
        while filled < greeting.len() && begun.elapsed() <= limit {
            match self.pull_within(&connection, &mut greeting[filled..], limit) {
                Ok(0) | Err(_) => return Ok(None),
                Ok(came) => filled += came,
            }
        }
        Ok((filled == greeting.len()).then_some(connection))
    }

    fn push_all(&mut self, connection: &C, bytes: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        while sent < bytes.len() {
            let rest = &bytes[sent..];
            sent += if POLLS {
                poll(self.patience, || connection.send_now(rest))?
            } else {
                let send = || Ok(Some(connection.send_waiting(rest)?).filter(|went| *went > 0));
                again(self.once(), self.patience, send)?
            };
        }
        Ok(())
    }

    fn pull(&mut self, connection: &C, bytes: &mut [u8]) -> io::Result<usize> {
        self.pull_within(connection, bytes, self.patience)
    }

    fn greeting(&self) -> [u8; GREETING] {
        let mut greeting = [b'0'; GREETING];
        let secret = self.factory.secret().as_bytes();
        let len = secret.len().min(SECRET_LEN);
        greeting[..len].copy_from_slice(&secret[..len]);
        greeting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Block;
    use crate::transport::{Offer, Session, Task, named};
    use crate::vocabulary::{Does, Sample, Wait};
    use std::io::Write;
    use std::net::TcpStream;

    fn spec(transport: &str, passive: bool) -> Spec {
        let transport = transport.into();
        Spec { transport, flows: 2, passive, patience_ms: 5000, ..Spec::default() }
    }

    /// Both ends, the listening one first, and where it listens.
    fn open(name: &str) -> ([Box<dyn Session>; 2], Offer) {
        let transport = named(name).unwrap();
        let (passive, offer) = transport.offer(&spec(name, true)).unwrap();
        let (active, _) = transport.offer(&spec(name, false)).unwrap();
        let ends = std::thread::scope(|scope| {
            let active = scope.spawn(|| active.join(&offer).unwrap());
            [passive.join(&Offer::Nothing).unwrap(), active.join().unwrap()]
        });
        (ends, offer)
    }

    const CALLS: Block = Block {
        message_bytes: 100,
        messages: 1,
        slices: 33,
        lead: 3,
        cache: crate::vocabulary::Cache::Hot,
        pace: crate::plan::Pace::Closed,
        read_bytes: 0,
        content: crate::vocabulary::Content::Random,
    };

    fn play([listens, connects]: &mut [Box<dyn Session>; 2], wait: Wait) {
        let task = |does| [Task { does, cpus: Vec::new() }];
        let [answered, called] = std::thread::scope(|scope| {
            let answered = scope.spawn(|| listens.trial(&task(Does::Accepts), wait, &[CALLS]).unwrap());
            let called = connects.trial(&task(Does::Connects), wait, &[CALLS]).unwrap();
            [answered.join().unwrap(), called]
        });
        for (answered, called) in answered[0].iter().zip(&called[0]) {
            assert_eq!((answered[0].flow.bytes, called[0].flow.bytes), (3300, 3300), "{wait}");
            assert_eq!(called[0].flow.tally.as_ref().unwrap().transactions, Some(33));
            for wanted in [Sample::SetUp, Sample::Transaction] {
                let of = called[0].samples.iter().find(|(sample, _)| *sample == wanted).unwrap();
                assert_eq!(of.1.count(), 30, "{wanted:?}");
            }
        }
    }

    /// The ports in TIME_WAIT, here and there, by the kernel's table.
    fn waiting() -> Vec<(u16, u16)> {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let port = |place: &str| u16::from_str_radix(place.split(':').nth(1)?, 16).ok();
        let row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words.get(3) == Some(&"06")).then(|| Some((port(words[1])?, port(words[2])?))).flatten()
        };
        table.lines().filter_map(row).collect()
    }

    #[test]
    fn each_request_has_a_connection() {
        for name in ["tcp", "unix"] {
            let (mut ends, offer) = open(name);
            for wait in [Wait::Sleeping, Wait::Polling] {
                play(&mut ends, wait);
            }
            if let Offer::Socket { address: Address::Internet(address), .. } = offer {
                let here = waiting().iter().filter(|(here, _)| *here == address.port()).count();
                let there = waiting().iter().filter(|(_, there)| *there == address.port()).count();
                assert_eq!((here >= 132, there), (true, 0), "{here} {there}");
            }
        }
    }

    #[test]
    fn a_stranger_is_not_answered_and_not_counted() {
        let (mut ends, offer) = open("tcp");
        let Offer::Socket { address: Address::Internet(address), .. } = offer else { panic!("no address") };
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(&[b'0'; GREETING + 100]).unwrap();
        let begun = Instant::now();
        let silent = TcpStream::connect(address).unwrap();
        play(&mut ends, Wait::Sleeping);
        // The one that says nothing is given its time once.
        assert!((STRANGER..2 * STRANGER).contains(&begun.elapsed()), "{:?}", begun.elapsed());
        drop(silent);
    }

    #[test]
    fn who_listens_does_not_connect() {
        let (mut ends, _) = open("unix");
        let task = [Task { does: Does::Connects, cpus: Vec::new() }];
        assert!(ends[0].trial(&task, Wait::Sleeping, &[CALLS]).is_err());
    }
}
