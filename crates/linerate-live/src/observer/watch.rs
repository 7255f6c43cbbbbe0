//! All observers of a host, or of a session, around one step.

use super::privilege::refusal;
use super::{clock, queue, quota, sampler, snapshot, socket_memory, sockets};
use crate::Result;
use crate::record::{HostDelta, Series, SocketRecord, Unobserved};
use crate::vocabulary::{self, Privilege};
use std::net::TcpStream;
use std::time::Duration;

/// Watches around a step: begun before its first block, and nothing of it runs between two messages.
pub trait Observer: Send {
    /// Adds what was seen since it was begun.
    fn end(&mut self, watched: &Watched<'_>, seen: &mut Seen) -> Result<()>;
}

/// What is watched.
#[derive(Debug, Default)]
pub struct Watched<'w> {
    /// The host's CPUs that may be used.
    pub cpus: &'w [u32],
    /// The processes that are our own.
    pub processes: &'w [u32],
    /// The connections of a session.
    pub sockets: Vec<&'w TcpStream>,
    /// How often is sampled; none for a step without time lines.
    pub sample: Option<Duration>,
    /// Whether what was sent is waited for and the connections are read once more: not of a load that ends with others, nor where
    /// time lines would grow by it.
    pub settles: bool,
}

/// What was seen, without the names of hosts and workers, which the caller knows.
#[derive(Debug, Default)]
pub struct Seen {
    /// What the host's counters did.
    pub host: HostDelta,
    /// What each connection did.
    pub sockets: Vec<SocketRecord>,
    /// Time lines.
    pub series: Vec<Series>,
}

/// Whom an observer watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// A host, by its agent.
    Host,
    /// A session, by its worker.
    Session,
}

/// Begins an observer; none where this host or this step has nothing for it.
type Begin = fn(&Watched<'_>) -> Result<Option<Box<dyn Observer>>>;

/// Every observer, as [`crate::vocabulary::OBSERVERS`] lists them.
const OBSERVERS: &[(&str, Site, Begin)] = &[
    ("host-series", Site::Host, sampler::of_host),
    ("queueing-disciplines", Site::Host, queue::begin),
    ("cpu-quotas", Site::Host, quota::begin),
    ("socket-memory", Site::Host, socket_memory::begin),
    ("clock", Site::Host, clock::begin),
    ("host-counters", Site::Host, snapshot::begin),
    ("socket-series", Site::Session, sampler::of_sockets),
    ("sockets", Site::Session, sockets::begin),
];

/// Those that watch now.
#[derive(Default)]
pub struct Watch(Vec<Box<dyn Observer>>);

impl Watch {
    /// Begins all of a site, in the order of their table, but for those that this process may not.
    pub fn begin(site: Site, watched: &Watched<'_>) -> Result<Watch> {
        let of_site = OBSERVERS.iter().filter(|(name, other, _)| *other == site && may_begin(name));
        let begun = of_site.filter_map(|(_, _, begin)| begin(watched).transpose());
        begun.collect::<Result<_>>().map(Watch)
    }

    /// What they saw, the last one asked first; asked again they tell what happened until then.
    pub fn end(&mut self, watched: &Watched<'_>) -> Result<Seen> {
        let mut seen = Seen::default();
        self.0.iter_mut().rev().try_for_each(|observer| observer.end(watched, &mut seen))?;
        Ok(seen)
    }
}

/// What an observer needs of its process.
fn privilege(name: &str) -> Option<Privilege> {
    vocabulary::OBSERVERS.iter().find(|entry| entry.name == name)?.privilege
}

fn may_begin(name: &str) -> bool {
    privilege(name).and_then(refusal).is_none()
}

/// The observers that this process may not begin, and why.
pub fn unobserved() -> Vec<Unobserved> {
    let of = |name: &str, privilege| {
        let refusal = refusal(privilege)?;
        Some(Unobserved { observer: name.into(), why: refusal.why.clone(), hint: refusal.hint.into() })
    };
    OBSERVERS.iter().filter_map(|(name, ..)| of(name, privilege(name)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_observer_has_its_line() {
        let listed: Vec<&str> = crate::vocabulary::OBSERVERS.iter().map(|entry| entry.name).collect();
        assert_eq!(OBSERVERS.iter().map(|(name, ..)| *name).collect::<Vec<_>>(), listed);
    }

    #[test]
    fn a_host_is_watched_until_it_is_asked() {
        let watched = Watched { cpus: &[0], ..Watched::default() };
        let mut watch = Watch::begin(Site::Host, &watched).unwrap();
        let first = watch.end(&watched).unwrap();
        let second = watch.end(&watched).unwrap();
        assert!(first.host.wall_ns > 0 && second.host.wall_ns > first.host.wall_ns);
        assert!(first.sockets.is_empty() && first.series.is_empty(), "no session, and nothing to sample");
    }
}
