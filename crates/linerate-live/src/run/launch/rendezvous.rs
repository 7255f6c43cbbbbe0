//! Where agents call back: a listening port, and who proved the secret there.
//!
//! A stranger costs a connection, five seconds at most and an alert. Those that are not known yet are so many at once in all and
//! from one address; who is turned away for that calls again.

use super::{Greeting, Reception};
use crate::control::{Opener, Seal, Sealer};
use crate::{Error, Result};
use linerate_sys::{link, socket, thread};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a caller may take to prove the secret and to greet.
pub(super) const PROOF: Duration = Duration::from_secs(5);

/// Callers that are not known yet: in all, and from one address.
const MOST_UNKNOWN: usize = 128;
const MOST_FROM_ONE: usize = 80;

/// The longest greeting.
const LONGEST_GREETING: u64 = 4096;

/// The longest name of a host that is shown.
const LONGEST_NAME: usize = 64;

/// Addresses that are told to agents at most.
const MOST_ADDRESSES: usize = 16;

/// A caller that has proved the secret.
pub struct Caller {
    /// What it said.
    pub greeting: Greeting,
    /// Where it called from.
    pub from: IpAddr,
    pub opener: Opener,
    pub sealer: Sealer,
}

impl Caller {
    /// Takes it in; none where it has gone meanwhile.
    pub fn welcome(mut self) -> Option<Caller> {
        tell(&mut self.sealer, &Reception { refused: None }).ok()?;
        Some(self)
    }

    /// Turns it away.
    pub fn refuse(mut self, why: &str) {
        // One that has gone already need not hear it.
        let _ = tell(&mut self.sealer, &Reception { refused: Some(why.into()) });
    }
}

fn tell(sealer: &mut Sealer, reception: &Reception) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(reception).unwrap_or_default();
    line.push(b'\n');
    sealer.write_all(&line)
}

/// A port at which agents are awaited, until it is dropped.
pub struct Rendezvous {
    listener: Arc<TcpListener>,
    address: SocketAddr,
    secret: String,
    callers: Receiver<Caller>,
    closed: Arc<AtomicBool>,
}

impl Rendezvous {
    /// Begins to listen, with a new secret.
    pub fn open(listen: Option<SocketAddr>) -> Result<Rendezvous> {
        let everywhere = [IpAddr::from(Ipv6Addr::UNSPECIFIED), Ipv4Addr::UNSPECIFIED.into()];
        let wanted: Vec<SocketAddr> = match listen {
            Some(address) => vec![address],
            None => everywhere.map(|address| SocketAddr::new(address, 0)).to_vec(),
        };
        let name = listen.map_or_else(|| "any port".into(), |address| address.to_string());
        let failed = |e| Error::io("listen at", name, e);
        let listener = TcpListener::bind(wanted.as_slice()).map_err(failed)?;
        let address = listener.local_addr().map_err(|e| Error::io("getsockname", "the listener", e))?;
        let secret = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
        let (tell, callers) = channel();
        let listener = Arc::new(listener);
        let closed = Arc::new(AtomicBool::new(false));
        let admission = Admission { seal: Seal::from_secret(&secret)?, unknown: Arc::default(), tell };
        let (listening, over) = (listener.clone(), closed.clone());
        thread::start("callers", move || {
            while !over.load(Ordering::Relaxed) {
                match listening.accept() {
                    Ok((stream, from)) => admission.answer(stream, from.ip().to_canonical()),
                    // Descriptors may be short for a moment, and a caller may be gone at once.
                    Err(_) => std::thread::sleep(Duration::from_millis(10)),
                }
            }
        })?;
        Ok(Rendezvous { listener, address, secret, callers, closed })
    }

    /// What callers have to prove.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Those that proved it.
    pub fn callers(&self) -> &Receiver<Caller> {
        &self.callers
    }

    /// Where it can be called, as agents are told it: loopback only where there is nothing else.
    pub fn addresses(&self) -> String {
        let port = self.address.port();
        let own = self.address.ip();
        if !own.is_unspecified() {
            return self.address.to_string();
        }
        let links = link::links().unwrap_or_default();
        let up = links.iter().filter(|link| link.up);
        let known = up.flat_map(|link| &link.addresses);
        let known = known.filter_map(|text| text.split('/').next()?.parse::<IpAddr>().ok());
        let fits = |address: &IpAddr| own.is_ipv6() || address.is_ipv4();
        let is_local = |address: &IpAddr| match address {
            IpAddr::V6(v6) => v6.is_unicast_link_local(),
            IpAddr::V4(_) => false,
        };
        let mut all: Vec<IpAddr> = known.filter(fits).filter(|address| !is_local(address)).collect();
        all.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
        all.dedup();
        let reachable = all.iter().filter(|address| !address.is_loopback()).count().max(1);
        let all = all.iter().take(reachable.min(MOST_ADDRESSES));
        all.map(|address| SocketAddr::new(*address, port).to_string()).collect::<Vec<_>>().join(",")
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        socket::shut_down(&*self.listener);
    }
}

/// Who calls is asked by a thread of its own.
struct Admission {
    seal: Seal,
    unknown: Arc<Mutex<HashMap<IpAddr, usize>>>,
    tell: Sender<Caller>,
}

impl Admission {
    fn answer(&self, stream: TcpStream, from: IpAddr) {
        let Some(place) = Place::take(&self.unknown, from) else { return };
        let (seal, tell) = (self.seal.clone(), self.tell.clone());
        // Where no thread is to be had, the caller calls again.
        let _ = thread::start("caller", move || {
            if let Some(caller) = met(&seal, stream, from) {
                // Nobody may wait any more.
                let _ = tell.send(caller);
            }
            drop(place);
        });
    }
}

/// One of the places for callers that are not known yet.
struct Place(Arc<Mutex<HashMap<IpAddr, usize>>>, IpAddr);

impl Place {
    fn take(unknown: &Arc<Mutex<HashMap<IpAddr, usize>>>, from: IpAddr) -> Option<Place> {
        let mut counts = counts(unknown);
        let of_one = counts.get(&from).copied().unwrap_or(0);
        if of_one >= MOST_FROM_ONE || counts.values().sum::<usize>() >= MOST_UNKNOWN {
            return None;
        }
        counts.insert(from, of_one + 1);
        drop(counts);
        Some(Place(unknown.clone(), from))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = counts(&self.0);
        let left = counts.get(&self.1).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            counts.remove(&self.1);
        } else {
            counts.insert(self.1, left);
        }
    }
}

fn counts(unknown: &Mutex<HashMap<IpAddr, usize>>) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
    unknown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A caller that knows the secret and has greeted; none else.
fn met(seal: &Seal, stream: TcpStream, from: IpAddr) -> Option<Caller> {
    let (opener, sealer) = seal.accept(stream, PROOF).ok()?;
    opener.limit(Some(PROOF));
    let mut line = Vec::new();
    let mut reader = BufReader::with_capacity(1, opener);
    (&mut reader).take(LONGEST_GREETING).read_until(b'\n', &mut line).ok()?;
    let mut greeting: Greeting = serde_json::from_slice(&line).ok()?;
    let shown = |text: &str| text.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect::<String>();
    greeting.host = shown(&greeting.host);
    greeting.version = shown(&greeting.version);
    // It becomes words of a call.
    greeting.slot = greeting.slot.filter(|slot| is_slot(slot));
    greeting.architecture = shown(&greeting.architecture);
    let opener = reader.into_inner();
    opener.limit(None);
    Some(Caller { greeting, from, opener, sealer })
}

/// `node/job` in characters that names of hosts and numbers of jobs have.
fn is_slot(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-_/".contains(c);
    text.len() <= LONGEST_NAME && text.chars().all(is_name) && !text.starts_with('-') && text.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const NEAR: &str = "127.0.0.1:0";

    #[test]
    fn a_caller_is_told_whether_it_is_taken_in() {
        let rendezvous = Rendezvous::open(NEAR.parse().ok()).unwrap();
        let call = |greeting: &Greeting| {
            let stream = TcpStream::connect(rendezvous.addresses()).unwrap();
            let (opener, mut sealer) =
                Seal::from_secret(rendezvous.secret()).unwrap().connect(stream, PROOF).unwrap();
            sealer.write_all(&serde_json::to_vec(greeting).unwrap()).unwrap();
            sealer.write_all(b"\n").unwrap();
            (BufReader::new(opener), sealer)
        };
        let greeting = Greeting { host: "n1\u{7}".into(), place: Some(3), ..Greeting::default() };
        for refused in [None, Some("no".to_owned())] {
            let (mut opener, _sealer) = call(&greeting);
            let caller = rendezvous.callers().recv_timeout(PROOF).unwrap();
            assert_eq!((caller.greeting.host.as_str(), caller.greeting.place), ("n1", Some(3)));
            match &refused {
                None => drop(caller.welcome().unwrap()),
                Some(why) => caller.refuse(why),
            }
            let mut line = String::new();
            opener.read_line(&mut line).unwrap();
            assert_eq!(serde_json::from_str::<Reception>(&line).unwrap().refused, refused);
        }
    }

    #[test]
    fn a_flood_of_strangers_keeps_no_agent_out_for_long() {
        let rendezvous = Rendezvous::open(NEAR.parse().ok()).unwrap();
        let address = rendezvous.addresses();
        let silent: Vec<_> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
        let begun = Instant::now();
        let caller = loop {
            let stream = TcpStream::connect(&address).unwrap();
            if let Ok((_, mut sealer)) =
                Seal::from_secret(rendezvous.secret()).unwrap().connect(stream, PROOF)
            {
                sealer.write_all(b"{\"host\":\"late\"}\n").unwrap();
                if let Ok(caller) = rendezvous.callers().recv_timeout(Duration::from_millis(500)) {
                    break caller;
                }
            }
            assert!(begun.elapsed() < 4 * PROOF, "the flood keeps everybody out");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(caller.greeting.host, "late");
        drop(silent);
    }

    #[test]
    fn a_slot_is_no_option() {
        assert!(is_slot("node-01.example/4711"));
        for text in ["--help/1", "n1", "n 1/2", "n1/$(id)", "n1,n2/3", &"n".repeat(70)] {
            assert!(!is_slot(text), "{text}");
        }
    }

    #[test]
    fn addresses_are_told_with_the_port() {
        let rendezvous = Rendezvous::open(None).unwrap();
        for address in rendezvous.addresses().split(',') {
            assert!(address.parse::<SocketAddr>().is_ok_and(|address| address.port() > 0), "{address}");
        }
    }
}
