//! Stamps without BTF: the kernel's tracepoints write into rings of perf_event_open(2), and what is of the connection is told from what
//! they say. It asks for root.
//!
//! A packet has no ports there, but an address of memory: what the watched thread sends is ours on its way out, and what TCP finds
//! the watched connection for was ours on its way in.

mod tracepoints;

use super::{Point, Stamp, Watched, has_first_process_ids};
use crate::perf_ring::Ring;
use crate::tracefs::{Format, Tracefs};
use crate::{Error, Result};
use std::collections::HashMap;
use std::io;
use tracepoints::{AT, Asked, At};

/// Bytes of all rings together, and of one at most.
const ALL_BYTES: usize = 64 << 20;
const MOST_BYTES: usize = 8 << 20;

/// A packet that came longer ago than this was another one at the same address.
const STALE_NS: u64 = 1_000_000_000;

/// What a tracepoint wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    ns: u64,
    point: Point,
    /// The packet, the socket or the thread.
    of: u64,
    /// The packet's socket, 0 where it does not say it.
    socket: u64,
}

/// The tracepoints, as this kernel has them.
pub struct Rings {
    known: Vec<(&'static At, Format)>,
    rings: Vec<Ring>,
}

impl Rings {
    /// Reads what this kernel has, and tries whether it may be had. Tracepoints are left out that are not there or lack a field, those
    /// that are `hidden`, and those of threads where this program knows its own threads by other numbers than the kernel's first ones.
    pub fn open(hidden: &[&str]) -> Result<Rings> {
        let tracefs = Tracefs::open()?;
        let knows_threads = has_first_process_ids();
        let mut known = Vec::new();
        for at in AT {
            // What is queued is told by its thread, and what is transmitted by what was queued.
            let is_of_threads =
                at.point >= Point::Waking || at.point <= Point::Transmitted || at.of == "common_pid";
            let is_hidden = hidden.contains(&at.tracepoint) || !knows_threads && is_of_threads;
            let format = if is_hidden { None } else { tracefs.format(at.tracepoint)? };
            let has = |format: &Format| {
                let wanted = [at.of, at.socket].into_iter().filter(|field| !field.is_empty());
                wanted.into_iter().all(|field| format.fields.contains_key(field))
            };
            known.extend(format.filter(has).map(|format| (at, format)));
        }
        let rings = Rings { known, rings: Vec::new() };
        rings.may()?;
        Ok(rings)
    }

    /// Whether they may be had: without what tells a connection's packets, or the right to it, there is nothing to see.
    fn may(&self) -> Result<()> {
        let without = |name: &str| Error::new("read", name, io::Error::from(io::ErrorKind::NotFound));
        let (_, probe) = self
            .known
            .iter()
            .find(|(at, _)| at.point == Point::Probed)
            .ok_or_else(|| without("tcp/tcp_probe with skbaddr and skaddr (Linux 6.10)"))?;
        let cpu = *cpus()?.first().ok_or_else(|| without("CPUs"))?;
        Ring::open(cpu, 1)?.add(probe.id, "")
    }

    /// Whether nothing stamps this point.
    pub fn lacks(&self, point: Point) -> bool {
        !self.known.iter().any(|(at, _)| at.point == point)
    }

    /// The tracepoints that this kernel has not, or whose threads are not known here.
    pub fn missing(&self) -> Vec<&'static str> {
        let is_known = |one: &&At| self.known.iter().any(|(at, _)| at.tracepoint == one.tracepoint);
        AT.iter().filter(|at| !is_known(at)).map(At::name).collect()
    }

    /// Whether there is hardly any room left.
    pub fn is_nearly_full(&self) -> bool {
        self.rings.iter().any(Ring::is_nearly_full)
    }

    /// Begins to watch. Where a process is watched, its threads of now are.
    pub fn begin(&mut self, watched: Watched) -> Result<()> {
        self.rings.clear();
        let asked = Asked::new(watched)?;
        let cpus = cpus()?;
        let bytes = (ALL_BYTES / cpus.len().max(1)).min(MOST_BYTES);
        for cpu in cpus {
            // Down to a power of two.
            let mut ring = Ring::open(cpu, bytes.next_power_of_two() >> u32::from(!bytes.is_power_of_two()))?;
            for (at, format) in &self.known {
                ring.add(format.id, &(at.filter)(&asked))?;
            }
            self.rings.push(ring);
        }
        self.rings.iter().try_for_each(Ring::begin)
    }

    /// Ends watching: the stamps in the order of their times, and how many records there was no room for.
    pub fn end(&mut self) -> Result<(Vec<Stamp>, u64)> {
        self.rings.iter().try_for_each(Ring::cease)?;
        let (mut events, mut lost) = (Vec::new(), 0_u64);
        for ring in &mut self.rings {
            lost = lost.saturating_add(ring.take(|ns, written| {
                events.extend(self.known.iter().find_map(|of| event(of, ns, written)))
            })?);
        }
        self.rings.clear();
        events.sort_by_key(|event: &Event| (event.ns, event.point));
        Ok((of_connection(&events), lost))
    }
}

/// What was written, where it is of this tracepoint: each begins with its number.
fn event((at, format): &(&At, Format), ns: u64, written: &[u8]) -> Option<Event> {
    let id = u16::from_ne_bytes(written.get(..2)?.try_into().ok()?);
    if u64::from(id) != format.id {
        return None;
    }
    let of = number(written, format.fields.get(at.of)?)?;
    let socket = format.fields.get(at.socket).and_then(|place| number(written, place)).unwrap_or_default();
    Some(Event { ns, point: at.point, of, socket })
}

/// A field of four or eight bytes.
fn number(written: &[u8], (offset, size): &(usize, usize)) -> Option<u64> {
    let bytes = written.get(*offset..offset.checked_add(*size)?)?;
    match size {
        4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// A packet that goes out.
#[derive(Default)]
struct Way {
    /// The place of its stamp as it was queued.
    queued: usize,
    /// The same as it was transmitted.
    transmitted: Option<usize>,
    /// Whether it came to another host of this machine, which may send it on.
    left: bool,
}

/// The packets that go out, by their addresses. One that passes a device above another one is queued and transmitted at
/// each, in a row: the lowest counts.
#[derive(Default)]
struct Out {
    packets: HashMap<u64, Way>,
    last: u64,
}

impl Out {
    fn queued(&mut self, of: u64, ns: u64, stamps: &mut Vec<Stamp>) {
        match self.packets.get(&of) {
            Some(way) if way.left => {}
            Some(way) if self.last == of => stamps[way.queued].ns = ns,
            _ => {
                self.packets.insert(of, Way { queued: stamps.len(), ..Way::default() });
                self.last = of;
                stamps.push(Stamp { ns, point: Point::Queued });
            }
        }
    }

    fn transmitted(&mut self, of: u64, ns: u64, stamps: &mut Vec<Stamp>) {
        match self.packets.get_mut(&of) {
            Some(way) if way.transmitted.is_none() => {
                way.transmitted = Some(stamps.len());
                stamps.push(Stamp { ns, point: Point::Transmitted });
            }
            Some(Way { transmitted: Some(at), left: false, .. }) if self.last == of => stamps[*at].ns = ns,
            _ => {}
        }
    }

    fn left(&mut self, of: u64) {
        self.packets.entry(of).and_modify(|way| way.left = true);
    }
}

/// The stamps of the connection among what all of the machine wrote, in the order of their times.
fn of_connection(events: &[Event]) -> Vec<Stamp> {
    let (mut out, mut came, mut socket) = (Out::default(), HashMap::<u64, [Option<u64>; 2]>::new(), None);
    let mut stamps: Vec<Stamp> = Vec::new();
    for Event { ns, point, of, socket: own } in events.iter().copied() {
        match point {
            Point::Queued => out.queued(of, ns, &mut stamps),
            Point::Transmitted => out.transmitted(of, ns, &mut stamps),
            Point::Arrived => {
                out.left(of);
                came.insert(of, [Some(ns), None]);
            }
            Point::Received => {
                out.left(of);
                came.entry(of).or_default()[1] = Some(ns);
            }
            Point::Probed => {
                // The answer came: what was sent is gone.
                out = Out::default();
                socket = Some(own);
                let [arrived, received] = came.remove(&of).unwrap_or_default();
                for (at, point) in [(arrived, Point::Arrived), (received, Point::Received)] {
                    let at = at.filter(|at| ns - at < STALE_NS);
                    stamps.extend(at.map(|at| Stamp { ns: at, point }));
                }
                stamps.push(Stamp { ns, point });
            }
            Point::Ready if socket != Some(of) => {}
            Point::Locked => {
                // What is sent now is another packet, also where it has the address of one that is gone.
                out.last = 0;
                stamps.push(Stamp { ns, point });
            }
            Point::Ready | Point::Waking | Point::Woken | Point::Running => {
                stamps.push(Stamp { ns, point });
            }
        }
    }
    stamps.sort_by_key(|stamp| (stamp.ns, stamp.point));
    stamps
}

/// The CPUs that run.
fn cpus() -> Result<Vec<u32>> {
    const PATH: &str = "/sys/devices/system/cpu/online";
    let text = std::fs::read_to_string(PATH).map_err(|e| Error::new("read", PATH, e))?;
    listed(&text).ok_or_else(|| Error::new("read", PATH, io::Error::from(io::ErrorKind::InvalidData)))
}

/// `0-3,8`.
fn listed(text: &str) -> Option<Vec<u32>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    let ranges: Option<Vec<_>> = text.trim().split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ns: u64, point: Point, of: u64, socket: u64) -> Event {
        Event { ns, point, of, socket }
    }

    #[test]
    fn packets_are_followed_by_their_addresses() {
        use Point::{Arrived, Locked, Probed, Queued, Ready, Received, Transmitted, Waking};
        let events = [
            event(1, Locked, 7, 0),
            // Another one's packet, and another one's socket.
            event(2, Transmitted, 0xB0, 0),
            event(3, Queued, 0xA0, 0),
            event(4, Arrived, 0xB0, 0),
            event(4, Transmitted, 0xA0, 0),
            // At the device below.
            event(5, Queued, 0xA0, 0),
            event(6, Transmitted, 0xA0, 0),
            event(7, Arrived, 0xC0, 0),
            event(8, Received, 0xB0, 0),
            event(9, Received, 0xC0, 0),
            event(10, Ready, 0x5B, 0),
            event(11, Probed, 0xC0, 0x5C),
            event(12, Ready, 0x5B, 0),
            event(13, Ready, 0x5C, 0),
            event(14, Waking, 7, 0),
        ];
        let seen: Vec<_> = of_connection(&events).iter().map(|stamp| (stamp.ns, stamp.point)).collect();
        let expected = [
            (1, Locked),
            (5, Queued),
            (6, Transmitted),
            (7, Arrived),
            (9, Received),
            (11, Probed),
            (13, Ready),
            (14, Waking),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_is_sent_next_is_no_device_below() {
        use Point::{Locked, Queued, Transmitted};
        let events = [
            event(1, Locked, 7, 0),
            event(2, Queued, 0xA0, 0),
            event(3, Transmitted, 0xA0, 0),
            event(11, Locked, 7, 0),
            event(12, Queued, 0xA0, 0),
            event(13, Transmitted, 0xA0, 0),
        ];
        let seen: Vec<_> = of_connection(&events).iter().map(|stamp| (stamp.ns, stamp.point)).collect();
        let expected =
            [(1, Locked), (2, Queued), (3, Transmitted), (11, Locked), (12, Queued), (13, Transmitted)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn another_packet_at_the_same_address_is_no_arrival() {
        use Point::{Arrived, Probed, Received};
        let (old, now) = (5, 5 + STALE_NS);
        let events =
            [event(old, Arrived, 0xA0, 0), event(now - 1, Received, 0xA0, 0), event(now, Probed, 0xA0, 1)];
        let seen: Vec<_> = of_connection(&events).iter().map(|stamp| stamp.point).collect();
        assert_eq!(seen, [Received, Probed]);
    }

    #[test]
    fn what_is_written_is_read_by_its_format() {
        let fields = [("skbaddr", (8, 8)), ("skaddr", (16, 8)), ("pid", (8, 4))];
        let fields = fields.map(|(name, place)| (name.to_owned(), place)).into();
        let format = Format { id: 300, fields };
        let mut written = vec![0; 24];
        written[..2].copy_from_slice(&300_u16.to_ne_bytes());
        written[8] = 9;
        written[16] = 4;
        let at = |tracepoint: &str| AT.iter().find(|at| at.tracepoint == tracepoint).unwrap();
        let probe = (at("tcp/tcp_probe"), format.clone());
        assert_eq!(super::event(&probe, 5, &written), Some(event(5, Point::Probed, 9, 4)));
        assert_eq!(super::event(&probe, 5, &written[..12]), None, "cut");
        let waking = (at("sched/sched_waking"), Format { id: 301, ..format });
        assert_eq!(super::event(&waking, 5, &written), None, "another tracepoint's");
        assert_eq!((listed("0-2,5\n"), listed(""), listed("a")), (Some(vec![0, 1, 2, 5]), None, None));
    }
}
