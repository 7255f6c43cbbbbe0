//! Why a curve breaks: predicates on the break and on what is known of the hosts, the first that holds.

use super::Curve;
use super::candidate::{Candidate, CandidateKind, candidates};
use crate::plan::{Case, HostId, Target};
use crate::record::{Recording, SessionRecord};
use crate::statistic::Estimate;
use crate::unit::{Bytes, Nanoseconds};
use crate::vocabulary::{Cache, Pattern, Rung};
use std::collections::BTreeSet;

/// The rung whose bends are those of the caches.
const COPY: &str = "memory.copy";
/// Linux holds an acknowledgement back for 40 ms at the least: TCP_DELACK_MIN in include/net/tcp.h.
const DELAYED_ACK_NS: f64 = 40e6;
/// Linux waits 200 ms at the least before it sends again: TCP_RTO_MIN in include/net/tcp.h.
const TIMEOUT_NS: f64 = 200e6;
/// A timer's time is known to this share: a message that waits may have waited in part already.
const TIMER_TOLERANCE: f64 = 0.25;
/// Shares of a round trip of a small message that a handshake may take.
const HANDSHAKE: (f64, f64) = (0.5, 1.5);
/// Parts of a cache at which a copy may bend: source and destination share it, or each is halved again
/// by a second end.
const CACHE_PARTS: &[Part] = &[(1, ""), (2, "half of "), (4, "a quarter of ")];
/// Parts of a socket's buffer at which a stream may bend: the kernel keeps a part of it for bookkeeping
/// and reads back twice what was asked for; socket(7), SO_SNDBUF.
const BUFFER_PARTS: &[Part] = &[(1, ""), (2, "half of ")];
/// What a size is divided by, and the words for it.
type Part = (u64, &'static str);
/// A border tells whole segments where it is narrower than this part of one: by chance, few are.
const NARROW: u64 = 64;

/// What is known of the ends of a curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The round trip of the smallest message on the same rung, ends and wait.
    pub small_round_trip_ns: Option<f64>,
    /// The hosts' caches of data, as their kernels claim: name and bytes.
    pub caches: Vec<(String, u64)>,
    /// Granted socket buffers: name and bytes.
    pub buffers: BTreeSet<(String, u64)>,
    /// The segments' payload, as granted.
    pub mss: BTreeSet<u64>,
    /// The sizes between which the copy of memory on these hosts begins to take more time a byte.
    pub copy_bends: Vec<(u64, u64)>,
    /// What may send larger messages in another way; none where nothing does, as plain TCP.
    pub switches: Option<&'static str>,
}

impl Facts {
    /// What a recording says of the ends of one of its curves.
    pub fn for_curve(recording: &Recording, curves: &[Curve], curve: &Curve) -> Facts {
        let case = &curve.case;
        let is_end = |host: HostId| case.pairs.has(host);
        let hosts = recording.hosts.iter().filter(|host| is_end(host.host));
        let claimed = hosts.filter_map(|host| host.environment.host.get("cpu.caches_claimed")?.as_array());
        let mut caches: Vec<(String, u64)> =
            claimed.flatten().filter_map(|claim| cache(claim.as_str()?)).collect();
        caches.sort_unstable();
        caches.dedup();
        let copies =
            curves.iter().filter(|other| other.case.rung == COPY && is_end(other.case.pairs.first().from));
        // A copy has no protocol: whatever takes it more time is the memory's.
        let up = |found: &Candidate| found.after.slope > found.before.slope || found.jump_ns > 0.0;
        let bends = copies.flat_map(candidates).filter(up).map(|found| (found.below, found.above));
        let sessions = || recording.sessions.iter().filter(|session| session.rung == case.rung);
        Facts {
            small_round_trip_ns: small_round_trip_ns(curves, curve),
            caches,
            buffers: ["socket.send-buffer", "socket.receive-buffer"]
                .into_iter()
                .flat_map(|knob| sizes(sessions(), knob).map(move |size| (knob.to_owned(), size)))
                .collect(),
            mss: sizes(sessions(), "tcp.mss").collect(),
            copy_bends: bends.collect(),
            switches: switches(recording, case),
        }
    }
}

/// What of a rung may send larger messages in another way: a layer that passes whole messages, a relay that is put before
/// the link, or a made-up machine of which that was asked.
fn switches(recording: &Recording, case: &Case) -> Option<&'static str> {
    let transport = Rung::named(&case.rung).map(|rung| rung.transport);
    let layer = transport.filter(|transport| transport.passes_messages).map(|transport| transport.name);
    let relay = || recording.plan()?.value_for(&case.rung, case.arm, "relay.threshold").map(|_| "relay");
    let made_up = || match recording.plan()?.target {
        Target::Simulated(ref world) if world.step_at > 0 => Some("made up"),
        _ => None,
    };
    layer.or_else(relay).or_else(made_up)
}

/// `L2 Unified 2048K, of 1 CPUs` as its name and bytes; none of instructions.
fn cache(claim: &str) -> Option<(String, u64)> {
    let mut words = claim.split([' ', ',']);
    let (level, kind, size) = (words.next()?, words.next()?, words.next()?);
    let size = size.strip_suffix('K')?.parse::<u64>().ok()?;
    (kind != "Instruction").then(|| (level.to_owned(), size << 10))
}

fn sizes<'r>(
    sessions: impl Iterator<Item = &'r SessionRecord> + 'r,
    knob: &'r str,
) -> impl Iterator<Item = u64> + 'r {
    let granted = sessions.flat_map(|session| &session.granted).filter(move |one| one.knob == knob);
    granted.filter_map(|one| one.granted.as_ref()?.parse::<Bytes>().ok()).map(|size| size.0)
}

fn small_round_trip_ns(curves: &[Curve], curve: &Curve) -> Option<f64> {
    let (case, ping_pong) = (&curve.case, Pattern::PingPong);
    let same = |other: &&Curve| {
        let ends = &case.pairs;
        other.case.pattern == ping_pong
            && (&other.case.rung, other.case.wait) == (&case.rung, case.wait)
            && (*ends == other.case.pairs || *ends == other.case.pairs.reversed())
    };
    Some(2.0 * curves.iter().find(same)?.points.first()?.time_ns()?.median)
}

/// A break, before it has a class.
pub(super) struct Seen<'c> {
    pub curve: &'c Curve,
    pub candidate: &'c Candidate,
    pub from_bytes: u64,
    pub at_bytes: u64,
    pub jump_ns: Option<Estimate>,
    pub is_confirmed: bool,
    pub facts: &'c Facts,
}

/// A class: its name, and what tells it.
type Class = (&'static str, fn(&Seen) -> Option<String>);

/// The classes in the order in which they are tried: what the measurement did itself, what only a timer
/// does, what is a bend, then steps from the particular to the general.
const CLASSES: &[Class] = &[
    ("cache", rotation),
    ("cache", memory_edge),
    ("delayed-ack", |seen| timer(seen, DELAYED_ACK_NS)),
    ("delayed-ack", timer_of_smaller_ones),
    ("retransmission-timeout", |seen| timer(seen, TIMEOUT_NS)),
    ("cache", cache_knee),
    ("buffer", buffer),
    ("segmentation", segmentation),
    ("rendezvous-handshake", handshake),
    ("protocol-switch", |seen| seen.facts.switches.and_then(|_| step(seen))),
];

/// The class of a break and what tells it; of a step of unknown cause, how large it is.
pub(super) fn classify(seen: &Seen) -> (&'static str, String) {
    let found = CLASSES.iter().find_map(|(name, tells)| Some((*name, tells(seen)?)));
    found.unwrap_or_else(|| ("unexplained", step(seen).unwrap_or_default()))
}

impl Seen<'_> {
    fn jump(&self) -> Option<f64> {
        Some(self.jump_ns?.median)
    }

    /// Whether each byte takes more time behind it, without a step. A single size behind it cannot tell
    /// a step from a bend: as long as no pairs do, it may be either.
    fn bends_up(&self) -> bool {
        let Candidate { before, after, kind, above, .. } = self.candidate;
        let is_last = self.curve.points.last().is_some_and(|point| point.message_bytes == *above);
        let may_bend = is_last && !self.is_confirmed && self.jump().is_some_and(|jump| jump > 0.0);
        may_bend || *kind == CandidateKind::Slope && self.jump_ns.is_none() && after.slope > before.slope
    }

    /// Whether a size lies at the break, give or take an octave: no bend is found more exactly.
    fn is_near(&self, bytes: u64) -> bool {
        (self.from_bytes / 2..=self.at_bytes.saturating_mul(2)).contains(&bytes)
    }

    /// A cache or buffer, or a part of it, that lies at the break.
    fn part_of<'n>(&self, parts: &[Part], known: impl Iterator<Item = (&'n String, u64)>) -> Option<String> {
        let all = known.flat_map(|(name, size)| parts.iter().map(move |(by, word)| (name, *word, size / by)));
        let (name, word, size) = all.into_iter().find(|(.., size)| self.is_near(*size))?;
        Some(format!("{word}{name}, {}", Bytes(size)))
    }
}

/// The measurement itself takes its buffers from memory from some size on.
fn rotation(seen: &Seen) -> Option<String> {
    let cache = |bytes| seen.curve.at(bytes).map(|point| point.cache);
    let Candidate { below, above, .. } = seen.candidate;
    let rotates = cache(*below) == Some(Cache::Hot) && cache(*above) == Some(Cache::Cold);
    rotates.then(|| format!("from {} on each message comes from memory, not from a cache", Bytes(*above)))
}

/// Whether one thread works alone there: nobody to agree with, nothing to segment.
fn is_alone(seen: &Seen) -> bool {
    Rung::named(&seen.curve.case.rung).is_some_and(|rung| rung.transport.ends == 1)
}

/// Work on memory alone breaks where a cache ends, by a step or by a bend.
fn memory_edge(seen: &Seen) -> Option<String> {
    let claimed = seen.part_of(CACHE_PARTS, seen.facts.caches.iter().map(|(name, size)| (name, *size)));
    let is_slower = seen.bends_up() || seen.jump().is_some_and(|jump| jump > 0.0);
    claimed.filter(|_| is_alone(seen) && is_slower)
}

/// What small messages wait for and larger ones do not, whose full segments are sent and acknowledged at once.
fn timer_of_smaller_ones(seen: &Seen) -> Option<String> {
    let jump = seen.jump().filter(|jump| *jump < 0.0)?;
    let without = seen.facts.small_round_trip_ns.map(|round_trip| round_trip + 2.0 * jump);
    let said = timer_of(seen, -jump, without, DELAYED_ACK_NS)?;
    Some(format!("{said}, which smaller messages wait for"))
}

fn timer(seen: &Seen, timer_ns: f64) -> Option<String> {
    timer_of(seen, seen.jump()?, seen.facts.small_round_trip_ns, timer_ns)
}

/// A timer's time; half of it in a ping-pong where only one way waits.
fn timer_of(seen: &Seen, jump: f64, round_trip_ns: Option<f64>, timer_ns: f64) -> Option<String> {
    let ways: &[f64] = if seen.curve.case.pattern == Pattern::PingPong { &[1.0, 2.0] } else { &[1.0] };
    let fits = ways.iter().any(|way| (way * jump / timer_ns - 1.0).abs() <= TIMER_TOLERANCE);
    // On a path that is as slow as the timer the two cannot be told apart.
    let quick = round_trip_ns.is_none_or(|round_trip| round_trip < timer_ns / 4.0);
    (fits && quick)
        .then(|| format!("the step of {} is that of a timer of {}", Nanoseconds(jump), Nanoseconds(timer_ns)))
}

fn segmentation(seen: &Seen) -> Option<String> {
    seen.jump().filter(|jump| *jump > 0.0)?;
    // A message of a whole number of segments still fits; the next byte does not.
    let whole = |mss: &u64| {
        let most = seen.at_bytes.checked_sub(1)?.checked_div(*mss)?;
        let is_narrow = seen.at_bytes.saturating_sub(seen.from_bytes) <= (mss / NARROW).max(1);
        (is_narrow && most > 0 && most * mss >= seen.from_bytes).then_some((most, *mss))
    };
    let (segments, mss) = seen.facts.mss.iter().find_map(whole)?;
    Some(format!("a message of more than {segments} x {mss} B needs another segment"))
}

fn handshake(seen: &Seen) -> Option<String> {
    seen.facts.switches?;
    let (jump, round_trip) = (seen.jump()?, seen.facts.small_round_trip_ns?);
    let share = jump / round_trip;
    (HANDSHAKE.0..=HANDSHAKE.1)
        .contains(&share)
        .then(|| format!("the step is {share:.1} of a small message's round trip"))
}

/// Every message from there on takes so much more, or less.
fn step(seen: &Seen) -> Option<String> {
    let jump = seen.jump().filter(|_| !is_alone(seen))?;
    let word = if jump > 0.0 { "more" } else { "less" };
    let said = format!("every message from there on takes {} {word}", Nanoseconds(jump.abs()));
    Some(said)
}

/// Bends of the copy tell a cache: what kernels claim of the last level may be many times too large.
fn cache_knee(seen: &Seen) -> Option<String> {
    let bends = &seen.facts.copy_bends;
    let with_copy = |(below, above): &&(u64, u64)| seen.is_near(*below) || seen.is_near(*above);
    let bend = bends.iter().find(with_copy).filter(|_| seen.bends_up())?;
    let claimed = seen.part_of(CACHE_PARTS, seen.facts.caches.iter().map(|(name, size)| (name, *size)));
    let is_last = bends.last() == Some(bend);
    let at = claimed.or_else(|| is_last.then(|| "its last bend".to_owned()))?;
    Some(format!("{COPY} bends there too: {at}"))
}

fn buffer(seen: &Seen) -> Option<String> {
    let buffers = seen.facts.buffers.iter().map(|(name, size)| (name, *size));
    seen.bends_up().then(|| seen.part_of(BUFFER_PARTS, buffers)).flatten()
}
