//! What the controller asks of an end of a trace, and what that answers.

use super::sample::WARM_UP;
use crate::record::{CapturedSide, StreamSide, TraceSide, Unobserved};
use crate::transport::{Offer, Spec};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// One request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Prepare to meet the other end.
    Offer(OfferRequest),
    /// Meet it.
    Meet(MeetRequest),
    /// Stamp by the other end's programs, if they can see this end.
    Share(SharedPrograms),
    /// Play a block.
    Block(BlockRequest),
    /// Play a stream, and keep its packets.
    Capture(CaptureRequest),
    /// Play a stream, and see what it costs.
    Stream(StreamRequest),
    /// It is over.
    End,
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// Where the other end connects to.
    Offered(Offer),
    /// The ends have met.
    Met(Met),
    /// A block is over.
    Played(Box<Played>),
    /// A stream is over.
    Captured(Box<Captured>),
    /// A part of a traced stream is over.
    Streamed(Box<StreamSide>),
    /// It is done.
    Done,
}

/// How the ends meet.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfferRequest {
    /// As the ends of a session do.
    pub spec: Spec,
}

/// The other end, and how much is to be seen.
#[derive(Debug, Serialize, Deserialize)]
pub struct MeetRequest {
    /// What the other end offered.
    pub other: Offer,
    /// The highest level that is wanted.
    pub level: u8,
    /// Whether it is of streams.
    #[serde(default)]
    pub streams: bool,
    /// Whether messages go as datagrams, beside the connection.
    #[serde(default)]
    pub datagrams: bool,
    /// Bytes of a message.
    #[serde(default)]
    pub bytes: u64,
}

/// How much this host lets the program see.
#[derive(Debug, Serialize, Deserialize)]
pub struct Met {
    /// The highest level.
    pub level: u8,
    /// Why it is no higher one.
    pub refused: Vec<Unobserved>,
    /// Points of that level that this kernel has not.
    pub missing: Vec<String>,
    /// Its programs, which may see the other end too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<SharedPrograms>,
}

/// Programs at tracepoints that an end has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPrograms {
    /// The machine, by what it was given when it started.
    pub machine: String,
    /// The end's network namespace, by the number of its inode.
    pub network: u32,
    /// The tracepoints at which none runs.
    pub missing: Vec<String>,
    /// Their maps, by the kernel's numbers.
    pub watched: u32,
    /// Likewise.
    pub lanes: u32,
}

impl SharedPrograms {
    /// Whether an end whose own ones are these sees as much by the others': the kernel is one, and the two are told apart by their
    /// network namespaces.
    pub fn can_stamp_for(&self, own: &SharedPrograms) -> bool {
        !own.machine.is_empty()
            && (&self.machine, &self.missing) == (&own.machine, &own.missing)
            && self.network != own.network
    }
}

/// A block of exchanges.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BlockRequest {
    /// Whether this end asks; the other one answers.
    pub asks: bool,
    /// Bytes of a message.
    pub bytes: u64,
    /// How many exchanges count.
    pub exchanges: u32,
    /// Every so manyth of them is stamped.
    pub every: u32,
    /// How this end waits.
    pub wait: Wait,
    /// Whether stamps are taken.
    pub traced: bool,
    /// The CPU of its thread.
    pub cpu: u32,
    /// Calls in which the end that asks sends a message.
    pub writes: u32,
}

/// A stream whose packets are kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaptureRequest {
    /// Whether this end sends.
    pub sends: bool,
    /// Its bytes, at most.
    pub bytes: u64,
    /// How long it sends at most.
    pub limit_ns: u64,
    /// The most bytes of packets that are kept.
    pub most_bytes: u64,
}

/// A block of a stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StreamRequest {
    /// Whether this end sends.
    pub sends: bool,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is watched.
    pub traced: bool,
    /// The CPU of its thread.
    pub cpu: u32,
    /// How often series are sampled.
    pub every_ns: u64,
}

/// Of so many exchanges one is stamped at least: what is made of all of them is one answer.
const MOST_EVERY: u32 = 64;

/// What came of it here.
#[derive(Debug, Serialize, Deserialize)]
pub struct Captured {
    /// Bytes that this end received, or had the kernel take.
    pub bytes: u64,
    /// Those of them that came in the time: of a receiver all after the first call's.
    pub timed_bytes: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Whether nothing came for so long that no more was waited for.
    #[serde(default)]
    pub stalled: bool,
    /// What passed.
    pub side: CapturedSide,
}

/// What came of a block.
#[derive(Debug, Serialize, Deserialize)]
pub struct Played {
    /// Each round trip, where this end asked.
    pub round_trips_ns: Vec<u64>,
    /// What was seen here.
    pub side: TraceSide,
    /// Whether a spinner of idle priority kept the CPU awake.
    pub kept_awake: bool,
    /// The exchanges that were lost, where this end asked: datagrams may be.
    #[serde(default)]
    pub lost: Vec<u32>,
}

impl BlockRequest {
    /// Whether it can be played; where ids of stamps count bytes, whether they tell all messages apart.
    pub fn check(&self, [least, most]: [u64; 2], most_exchanges: u32, counts_bytes: bool) -> Result<()> {
        if self.bytes < least || self.bytes > most {
            let what = format!("a message of {} B is not traced: {least} to {most} B are", self.bytes);
            return Err(Error::usage(what, "try --bytes 64B"));
        }
        if self.writes == 0 || u64::from(self.writes) > self.bytes {
            return Err(Error::usage(
                format!("a message of {} B cannot go in {} calls", self.bytes, self.writes),
                "try --writes 2",
            ));
        }
        if !(1..=MOST_EVERY).contains(&self.every) {
            let what = format!("one of {} exchanges is not what a trace stamps", self.every);
            return Err(Error::usage(what, format!("try --every 1 to {MOST_EVERY}")));
        }
        let stamped = self.exchanges / self.every;
        if stamped == 0 {
            let what = format!("of {} exchanges none is stamped: one of {} is", self.exchanges, self.every);
            return Err(Error::usage(what, "try more --exchanges or a smaller --every"));
        }
        if stamped > most_exchanges {
            let what = format!("{stamped} stamped exchanges are too many for a block");
            return Err(Error::usage(what, format!("try --exchanges {most_exchanges} and more --blocks")));
        }
        if counts_bytes { check_ids(self.bytes, self.exchanges) } else { Ok(()) }
    }
}

/// Whether ids of stamps, which count bytes modulo 2³², tell the messages of so many exchanges apart. One byte may be ahead of them.
pub fn check_ids(bytes: u64, exchanges: u32) -> Result<()> {
    let played = WARM_UP as u64 + u64::from(exchanges);
    if played.saturating_mul(bytes).saturating_add(1) <= u64::from(u32::MAX) {
        return Ok(());
    }
    let what = format!(
        "{played} messages of {bytes} B are 4 GiB and more: level 0 would not tell their stamps apart"
    );
    Err(Error::usage(what, "try fewer --exchanges or a smaller --every"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(bytes: u64, exchanges: u32, every: u32, counts_bytes: bool) -> Option<String> {
        let request = BlockRequest {
            asks: true,
            bytes,
            exchanges,
            every,
            wait: Wait::Sleeping,
            traced: true,
            cpu: 0,
            writes: 1,
        };
        let error = request.check([1, 64 << 10], 4000, counts_bytes).err()?;
        Some(format!("{error}; {}", error.hint().unwrap_or_default()))
    }

    #[test]
    fn what_is_stamped_of_a_block_is_some_and_not_too_much() {
        let said = |exchanges, every| checked(64, exchanges, every, false).unwrap_or_default();
        assert_eq!([said(3, 3), said(4000, 1), said(64 * 4000, 64)], ["", "", ""]);
        assert!(said(2, 3).contains("try more --exchanges or a smaller --every"), "{}", said(2, 3));
        assert!(said(0, 1).contains("try more --exchanges"), "{}", said(0, 1));
        assert!(said(4001, 1).contains("try --exchanges 4000 and more --blocks"), "{}", said(4001, 1));
        assert!(
            said(20, 0).contains("try --every 1 to 64") && said(6500, 65).contains("try --every 1 to 64")
        );
    }

    #[test]
    fn programs_are_shared_by_two_hosts_of_one_kernel() {
        let programs = |machine: &str, network, missing: &[&str]| SharedPrograms {
            machine: machine.into(),
            network,
            missing: missing.iter().map(|name| (*name).to_owned()).collect(),
            watched: network,
            lanes: 7,
        };
        let own = programs("m", 1, &["tcp_probe"]);
        assert!(programs("m", 2, &["tcp_probe"]).can_stamp_for(&own));
        for others in
            [programs("n", 2, &["tcp_probe"]), programs("m", 1, &["tcp_probe"]), programs("m", 2, &[])]
        {
            assert!(!others.can_stamp_for(&own), "{others:?}");
        }
        assert!(
            !programs("", 2, &[]).can_stamp_for(&programs("", 1, &[])),
            "which kernel it is, is not known"
        );
    }

    #[test]
    fn ids_that_would_come_twice_are_refused() {
        let most = u32::MAX / (64 << 10) - WARM_UP as u32;
        assert_eq!(checked(64 << 10, most, 64, true), None);
        let refused = checked(64 << 10, most + 1, 64, true);
        assert!(refused.is_some_and(|said| said.contains("fewer --exchanges or a smaller --every")));
        assert_eq!(checked(64 << 10, 4000 * 64, 64, false), None, "nothing counts bytes there");
        assert_eq!(checked(64, 4000 * 64, 64, true), None);
        assert!(check_ids(u64::MAX, u32::MAX).is_err());
    }
}
