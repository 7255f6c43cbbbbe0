//! The forwarding thread: frames in, frames out when they are due.

use super::audit::Lateness;
use super::course::{Course, Due};
use super::doze::Doze;
use super::flight::{Cut, Flight};
use super::frame::{Hardware, destination};
use crate::plan::{Coalescing, Wiring};
use crate::record::WireAudit;
use linerate_sys::clock::{monotonic_ns, realtime_ns, thread_cpu_ns};
use linerate_sys::packet::{Arrival, BATCH, Departure, LARGEST, PacketSocket};
use linerate_sys::readiness::{Readiness, Until};
use linerate_sys::{Error, Result};
use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

/// A frame of at most this size gets a buffer of its own size, so that what waits on a long link takes no
/// more memory than it must.
const SMALL: usize = 4096;

/// Buffers for large frames that are kept for the next ones.
const SPARE: usize = 512;

/// A host's port.
pub struct Port {
    /// The frames of its end of the cable.
    pub socket: PacketSocket,
    /// The host's own hardware address.
    pub hardware: Hardware,
}

/// The wire at work.
pub struct Forwarder {
    ports: Vec<Port>,
    /// Which of the ports have frames, by their numbers: asking it costs the same for two ports and for 64.
    readiness: Readiness,
    ready: Vec<usize>,
    /// Ports that something is to be sent to now.
    sending: Vec<usize>,
    hosts: HashMap<Hardware, usize>,
    course: Course,
    doze: Doze,
    began_ns: u64,
    buffers: Vec<Vec<u8>>,
    arrivals: [Arrival; BATCH],
    spare: Vec<Vec<u8>>,
    due: Vec<Due>,
    outgoing: Vec<Vec<Flight>>,
    lateness: Lateness,
    audit: WireAudit,
    audited_ns: u64,
    audited_cpu_ns: u64,
}

impl Forwarder {
    /// A wire between these ports, one a host.
    pub fn new(ports: Vec<Port>, wiring: &Wiring, seed: u64) -> Result<Forwarder> {
        let broken = || Error::new("make", "a histogram", io::ErrorKind::InvalidInput);
        let readiness = Readiness::new(ports.len() + 1)?;
        for (number, port) in ports.iter().enumerate() {
            readiness.watch(&port.socket, number, Until::Readable)?;
        }
        Ok(Forwarder {
            hosts: ports.iter().map(|port| port.hardware).zip(0..).collect(),
            course: Course::new(wiring, seed),
            ready: Vec::with_capacity(ports.len() + 1),
            sending: Vec::with_capacity(ports.len()),
            readiness,
            doze: Doze::default(),
            began_ns: monotonic_ns(),
            buffers: (0..BATCH).map(|_| vec![0; LARGEST]).collect(),
            arrivals: [Arrival::default(); BATCH],
            spare: Vec::new(),
            due: Vec::new(),
            outgoing: ports.iter().map(|_| Vec::new()).collect(),
            lateness: Lateness::new().ok_or_else(broken)?,
            audit: WireAudit::default(),
            audited_ns: monotonic_ns(),
            audited_cpu_ns: thread_cpu_ns(),
            ports,
        })
    }

    /// Holds what comes to the hosts so from now on.
    pub fn set_coalescing(&mut self, coalescing: Coalescing) {
        self.course.set_coalescing(coalescing);
    }

    /// Forwards until `asked` can be read, or an error.
    pub fn run(&mut self, asked: BorrowedFd<'_>) -> Result<()> {
        let question = self.ports.len();
        self.readiness.watch(&asked, question, Until::Readable)?;
        let ended = self.forward(question);
        let left = self.readiness.leave(&asked);
        ended.and(left.map_err(|source| Error::new("epoll_ctl(EPOLL_CTL_DEL)", "standard input", source)))
    }

    /// Forwards until what has this number is ready.
    fn forward(&mut self, question: usize) -> Result<()> {
        loop {
            self.hand_on();
            let timeout_ns = self.sleep_ns();
            let from_ns = self.now_ns();
            let mut ready = std::mem::take(&mut self.ready);
            ready.clear();
            let waited = self.readiness.wait_ns(timeout_ns);
            ready.extend(waited.map_err(|source| Error::new("ppoll", "the wire's ports", source))?);
            if let Some(timeout_ns) = timeout_ns.filter(|ns| *ns > 0 && ready.is_empty()) {
                self.doze.woke(self.now_ns() - from_ns - timeout_ns as f64);
            }
            for port in ready.iter().copied().filter(|port| *port != question) {
                self.take_in(port)?;
            }
            let is_asked = ready.contains(&question);
            self.ready = ready;
            if is_asked {
                return Ok(());
            }
        }
    }

    /// What it did since it was last asked.
    pub fn audit(&mut self) -> Result<WireAudit> {
        // What only moves on to another link is looked at no sooner than it must be: it belongs to what is told now.
        self.hand_on();
        let (now_ns, cpu_ns) = (monotonic_ns(), thread_cpu_ns());
        for port in &self.ports {
            self.audit.unread += port.socket.drops()?;
        }
        let (links, reordered) = self.course.take_counts();
        let audit = WireAudit {
            wall_ns: now_ns - self.audited_ns,
            cpu_ns: cpu_ns - self.audited_cpu_ns,
            late_ns: self.lateness.take(),
            reordered,
            interrupts: self.course.take_interrupts(),
            links,
            ..std::mem::take(&mut self.audit)
        };
        (self.audited_ns, self.audited_cpu_ns) = (now_ns, cpu_ns);
        Ok(audit)
    }

    fn now_ns(&self) -> f64 {
        (monotonic_ns() - self.began_ns) as f64
    }

    /// How long nothing is to be done but to wait for frames; none for as long as it takes.
    fn sleep_ns(&self) -> Option<u64> {
        let left_ns = self.course.next_ns()? - self.now_ns();
        Some(self.doze.sleep_ns(left_ns, self.course.under_way()))
    }

    /// Reads what came to a port.
    fn take_in(&mut self, port: usize) -> Result<()> {
        let received = self.ports[port].socket.receive(&mut self.buffers, &mut self.arrivals);
        let count = match received {
            Ok(count) => count,
            // The interface is going down with its host: what it had is gone.
            Err(error) if error.raw_os_error() == Some(NETWORK_DOWN) => 0,
            Err(source) => return Err(Error::new("recvmmsg", "a port of the wire", source)),
        };
        let (now_ns, real_ns) = (self.now_ns(), realtime_ns());
        for index in 0..count {
            let Arrival { bytes, realtime_ns } = self.arrivals[index];
            let age_ns = realtime_ns.map_or(0, |at| age_ns(real_ns, at));
            let Some(to) = self.host_of(index, bytes).filter(|to| *to != port) else {
                self.audit.strays += 1;
                continue;
            };
            let frame = self.keep(index, bytes);
            self.course.enter(Flight::new(Rc::new(frame), bytes, port, to, now_ns - age_ns as f64));
        }
        Ok(())
    }

    fn host_of(&self, index: usize, bytes: usize) -> Option<usize> {
        self.hosts.get(&destination(self.buffers[index].get(..bytes)?)?).copied()
    }

    /// The bytes of a received frame: a copy of a small one, a large one's own buffer.
    fn keep(&mut self, index: usize, bytes: usize) -> Vec<u8> {
        if bytes <= SMALL {
            return self.buffers[index][..bytes].to_vec();
        }
        let fresh = self.spare.pop().unwrap_or_else(|| vec![0; LARGEST]);
        std::mem::replace(&mut self.buffers[index], fresh)
    }

    /// Sends what is due.
    fn hand_on(&mut self) {
        let now_ns = self.now_ns();
        self.course.due(now_ns, &mut self.due);
        let mut due = std::mem::take(&mut self.due);
        for Due { flight, at_ns } in due.drain(..) {
            self.lateness.note((now_ns - at_ns).max(0.0) as u64);
            let to = flight.to;
            if self.outgoing[to].is_empty() {
                self.sending.push(to);
            }
            self.outgoing[to].push(flight);
            if self.outgoing[to].len() == BATCH {
                self.send(to);
            }
        }
        self.due = due;
        let mut sending = std::mem::take(&mut self.sending);
        sending.drain(..).for_each(|port| self.send(port));
        self.sending = sending;
    }

    /// Sends what is to go to a port, and keeps the buffers for others.
    fn send(&mut self, port: usize) {
        if self.outgoing[port].is_empty() {
            return;
        }
        let mut flights = std::mem::take(&mut self.outgoing[port]);
        let cuts: Vec<_> = flights.iter().map(Flight::cut).collect();
        let departures: Vec<Departure> = flights.iter().zip(&cuts).map(departure).collect();
        let socket = &self.ports[port].socket;
        let mut sent = 0;
        while sent < departures.len() {
            match socket.send(&departures[sent..]) {
                Ok(count) if count > 0 => sent += count,
                // The first of them: it is lost, and the rest goes on.
                _ => {
                    self.audit.refused += flights[sent].segments.len() as u64;
                    sent += 1;
                }
            }
        }
        self.audit.frames += flights.len() as u64;
        self.audit.packets += flights.iter().map(|flight| flight.segments.len() as u64).sum::<u64>();
        let buffers =
            flights.drain(..).filter_map(Flight::into_buffer).filter(|buffer| buffer.len() == LARGEST);
        self.spare.extend(buffers);
        self.spare.truncate(SPARE);
        self.outgoing[port] = flights;
    }
}

/// `ENETDOWN`.
const NETWORK_DOWN: i32 = 100;

fn departure<'f>((flight, cut): (&'f Flight, &'f Option<Cut>)) -> Departure<'f> {
    match cut {
        None => Departure { head: flight.frame(), body: &[] },
        Some((head, body)) => Departure { head, body: flight.frame().get(body.clone()).unwrap_or_default() },
    }
}

/// How long a frame lay in its queue. One that was stamped before the time of day was set has no age that is known.
fn age_ns(now_ns: u64, stamped_ns: u64) -> u64 {
    /// Far more than this thread is kept from looking.
    const MOST_NS: u64 = 1_000_000_000;
    Some(now_ns.saturating_sub(stamped_ns)).filter(|age| *age < MOST_NS).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::age_ns;

    #[test]
    fn a_clock_that_is_set_ages_no_frame() {
        let now = 1_700_000_000_000_000_000;
        assert_eq!(age_ns(now, now - 30_000), 30_000);
        assert_eq!((age_ns(now, now - 3_600_000_000_000), age_ns(now, now + 3_600_000_000_000)), (0, 0));
    }
}
