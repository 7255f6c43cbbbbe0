//! What the connections of a running program wait for, and the causes that this speaks of. Nothing is changed, so nothing is
//! proved and nothing ruled out: a cause is *consistent* where two signs of one connection speak of it.

#[cfg(test)]
mod tests;

use super::bound::{MOSTLY, NEAR};
use super::cause::{CauseVerdict, Grade};
use super::sign::{BUSY, FULL, LONGER_US, LOST, NO_LIMIT, SACK, TIMES_THE_LEAST, WINDOW_SCALING, kib};
use crate::analysis::model::window_bps;
use crate::record::{Level, RunningConnection, RunningProgram};
use crate::unit::{BitRate, Bytes, Nanoseconds, counted, percent};
use crate::vocabulary::Cause;
use schemars::JsonSchema;
use serde::Serialize;

/// A connection that carried less says nothing.
const LEAST_BYTES: f64 = 65_536.0;

/// A window that stays within this factor is one that a buffer sets; a reader that is too slow closes and opens it.
const STEADY: f64 = 0.5;

/// The largest window without window scaling.
const UNSCALED: f64 = 65_535.0;

/// Data is unread, or unsent, in so many of the readings where that is the rule; and unread data fills this share of the buffer.
const USUALLY: f64 = 0.8;
const SELDOM: f64 = 0.5;

/// A share of the time that is no accident.
const OFTEN: f64 = 0.1;
const HELD: f64 = 0.25;

/// Connections of which a verdict tells.
const MOST_TOLD: usize = 3;

/// What a sending connection spent its time on, as shares of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Waits {
    /// Nothing was outstanding: the program had nothing to send.
    pub program: f64,
    /// The receiver's window was closed.
    pub window: f64,
    /// The send buffer was full.
    pub buffer: f64,
    /// The rest: data was on its way, and neither end waited.
    pub under_way: f64,
}

/// What is known of one connection.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConnectionFound<'p> {
    /// What was read of it.
    #[serde(flatten)]
    pub read: &'p RunningConnection,
    /// What the watched end sent and was acknowledged, in bits a second.
    pub sent_bps: f64,
    /// What came in there.
    pub received_bps: f64,
    /// Where its time went; none of one that sent next to nothing, or on a kernel that does not tell.
    pub waits: Option<Waits>,
    /// The share of its segments that were sent again.
    pub sent_again: Option<f64>,
}

/// What is known of a running program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunningFound<'p> {
    /// Its connections, those that carried most first.
    pub connections: Vec<ConnectionFound<'p>>,
    /// The causes that its connections speak of, that of those that carried most first.
    pub verdicts: Vec<CauseVerdict>,
}

/// A cause, and how it shows on one connection: the signs, two at least.
type Rule = (&'static str, fn(&Look) -> Option<Vec<String>>);

const RULES: &[Rule] = &[
    ("slow-source", slow_source),
    ("window-scaling-off", window_scaling_off),
    ("small-receive-window", small_receive_window),
    ("slow-reader", slow_reader),
    ("small-send-buffer", small_send_buffer),
    ("pacing-cap", pacing_cap),
    ("reordering", reordering),
    ("sack-off", sack_off),
    ("packet-loss", packet_loss),
    ("standing-queue", standing_queue),
];

/// One connection as the rules look at it.
struct Look<'p> {
    program: &'p RunningProgram,
    read: &'p RunningConnection,
    waits: Option<Waits>,
}

/// What a running program's connections say.
pub fn diagnose_running(program: &RunningProgram) -> RunningFound<'_> {
    let looks: Vec<Look> =
        program.connections.iter().map(|read| Look { program, read, waits: waits(read) }).collect();
    let mut found: Vec<(f64, CauseVerdict)> = RULES.iter().filter_map(|rule| verdict(rule, &looks)).collect();
    found.sort_by(|a, b| b.1.is_fault.cmp(&a.1.is_fault).then(b.0.total_cmp(&a.0)));
    let connections = looks.iter().map(|look| ConnectionFound {
        read: look.read,
        sent_bps: look.read.sent_bps(),
        received_bps: look.read.received_bps(),
        waits: look.waits,
        sent_again: look.sent_again(),
    });
    RunningFound {
        connections: connections.collect(),
        verdicts: found.into_iter().map(|(_, verdict)| verdict).collect(),
    }
}

/// The verdict of one rule with what the connections carried that it speaks of.
fn verdict((name, rule): &Rule, looks: &[Look]) -> Option<(f64, CauseVerdict)> {
    let cause = Cause::named(name)?;
    let told: Vec<(&Look, Vec<String>)> =
        looks.iter().filter_map(|look| rule(look).map(|signs| (look, signs))).collect();
    let mut evidence: Vec<String> = told
        .iter()
        .take(MOST_TOLD)
        .map(|(look, signs)| format!("{} to {}: {}", look.read.local, look.read.remote, signs.join(", ")))
        .collect();
    match told.len() {
        0 => return None,
        count if count > MOST_TOLD => {
            evidence.push(format!("and {} more", counted(count - MOST_TOLD, "connection")));
        }
        _ => {}
    }
    let carried = told.iter().map(|(look, _)| look.read.sent_bps() + look.read.received_bps()).sum();
    let verdict = CauseVerdict {
        cause: cause.name.into(),
        grade: Grade::Consistent,
        is_fault: cause.is_fault,
        experiment: String::new(),
        gain: None,
        explained: None,
        evidence,
        fix: cause.fix.into(),
    };
    Some((carried, verdict))
}

/// Where a sender's time went: the counters of include/uapi/linux/tcp.h, in microseconds; data was outstanding in the busy time,
/// which holds both waits.
fn waits(read: &RunningConnection) -> Option<Waits> {
    let is_sender = moved(read, "bytes_acked") >= LEAST_BYTES && read.sent_bps() > read.received_bps();
    if !is_sender || read.duration_ns == 0 {
        return None;
    }
    // A kernel that has this tells the waits, too; a counter that stood still is not among what moved.
    read.last.get("delivery_rate")?;
    let share = |counter| (1e3 * moved(read, counter) / read.duration_ns as f64).min(1.0);
    let (busy, window, buffer) = (share("busy_time"), share("rwnd_limited"), share("sndbuf_limited"));
    Some(Waits { program: 1.0 - busy, window, buffer, under_way: (busy - window - buffer).max(0.0) })
}

fn moved(read: &RunningConnection, counter: &str) -> f64 {
    read.moved.get(counter).map_or(0.0, |count| *count as f64)
}

impl Look<'_> {
    fn last(&self, name: &str) -> Option<f64> {
        self.read.last.get(name).map(|value| *value as f64)
    }

    fn level(&self, name: &str) -> Option<Level> {
        self.read.levels.get(name).copied()
    }

    fn sent_again(&self) -> Option<f64> {
        let share = moved(self.read, "total_retrans") / moved(self.read, "data_segs_out");
        (self.waits.is_some() && share.is_finite()).then_some(share)
    }

    fn has(&self, option: u64) -> bool {
        self.read.last.get("options").is_none_or(|options| options & option != 0)
    }

    /// The waits of a sender that has nearly always something outstanding.
    fn busy(&self) -> Option<Waits> {
        self.waits.filter(|waits| 1.0 - waits.program >= BUSY)
    }

    /// What says that it mostly waits for the receiver.
    fn waits_for_window(&self) -> Option<String> {
        let waits = self.waits?;
        let busy = 1.0 - waits.program;
        (busy > 0.0 && waits.window >= MOSTLY * busy)
            .then(|| format!("it waited for the receiver's window {} of the time", percent(waits.window)))
    }

    /// Bytes in flight, and those that the congestion window allows.
    fn flight(&self) -> Option<(f64, f64)> {
        let unsent = self.level("notsent_bytes")?.median;
        let flying = (self.level("outstanding")?.median - unsent).max(0.0);
        Some((flying, self.level("snd_cwnd")?.median * self.last("snd_mss")?))
    }

    /// What says that the network mostly holds it: data is on its way, as much as the congestion window allows.
    fn waits_for_network(&self) -> Option<String> {
        let waits = self.busy()?;
        let (flying, window) = self.flight()?;
        (waits.under_way >= MOSTLY && flying >= FULL * window).then(|| {
            format!(
                "data was on its way and neither end waited {} of the time, {} of a congestion window of {}",
                percent(waits.under_way),
                told_bytes(flying),
                told_bytes(window)
            )
        })
    }

    /// What says that the program gives less than the connection would take, though some of it is always on its way.
    fn is_fed_slowly(&self) -> Option<Vec<String>> {
        let waits = self.waits?;
        let busy = 1.0 - waits.program;
        let (flying, window) = self.flight()?;
        // A full send buffer looks alike: the application is held up by it.
        let is_full = waits.buffer >= OFTEN || self.read.send_buffer.is_some_and(|room| self.holds(room));
        let is_open = !is_full && flying < SELDOM * window && waits.under_way >= MOSTLY * busy;
        let lacks =
            self.lacks_a_segment().or_else(|| self.is_limited_by_application()).filter(|_| is_open)?;
        let flight =
            format!("{} in flight, of a congestion window of {}", told_bytes(flying), told_bytes(window));
        Some(vec![lacks, flight])
    }

    /// What waits to be sent fills no segment: what Nagle's algorithm keeps until the acknowledgement of what went before.
    fn lacks_a_segment(&self) -> Option<String> {
        let (unsent, segment) = (self.level("notsent_bytes")?.median, self.last("snd_mss")?);
        (unsent < segment).then(|| {
            format!(
                "{} waited to be sent (median), less than a segment of {}",
                told_bytes(unsent),
                told_bytes(segment)
            )
        })
    }

    /// The kernel says so of the rate that it keeps. It keeps the best of late, which need not be one of those (tcp_rate_gen of
    /// net/ipv4/tcp_rate.c).
    fn is_limited_by_application(&self) -> Option<String> {
        let limited = self.level("delivery_rate_app_limited")?.above_nothing;
        (limited >= USUALLY).then(|| {
            format!("the kernel calls its rate the application's in {} of the readings", percent(limited))
        })
    }

    /// Whether about as much is outstanding as a send buffer of this size takes.
    fn holds(&self, buffer: u32) -> bool {
        self.level("outstanding").is_some_and(|level| level.median >= FULL * f64::from(buffer))
    }

    fn losses(&self) -> Option<String> {
        let share = self.sent_again().filter(|share| *share >= LOST)?;
        Some(format!("{} of the segments were sent again", percent(share)))
    }

    /// What says that a queue of the path grows under the load.
    fn queue(&self) -> Option<String> {
        let (loaded, least) = (self.level("rtt")?.median, self.last("min_rtt")?);
        let is_long = loaded >= TIMES_THE_LEAST * least && loaded - least >= LONGER_US;
        let told = |us: f64| Nanoseconds(1e3 * us).rounded(2);
        is_long.then(|| format!("a round trip takes {}, and {} at least", told(loaded), told(least)))
    }
}

fn slow_source(look: &Look) -> Option<Vec<String>> {
    let mut signs = is_idle(look).or_else(|| look.is_fed_slowly())?;
    let thread = look.program.busiest_thread;
    signs.extend(thread.map(|share| format!("its busiest thread had a CPU {} of the time", percent(share))));
    Some(signs)
}

/// Often nothing is outstanding, and nothing waits to be sent either.
fn is_idle(look: &Look) -> Option<Vec<String>> {
    let waits = look.waits.filter(|waits| 1.0 - waits.program < BUSY)?;
    let unsent = look.level("notsent_bytes").filter(|level| level.above_nothing < SELDOM)?;
    Some(vec![
        format!("data was outstanding in {} of the time", percent(1.0 - waits.program)),
        format!("nothing waited to be sent in {} of the readings", percent(1.0 - unsent.above_nothing)),
    ])
}

fn window_scaling_off(look: &Look) -> Option<Vec<String>> {
    let waited = look.waits_for_window().filter(|_| !look.has(WINDOW_SCALING))?;
    let window = look.level("snd_wnd").filter(|level| level.most <= UNSCALED)?;
    Some(vec![
        waited,
        format!("no window scaling was agreed on, and the window is {} at most", told_bytes(window.most)),
    ])
}

/// A window that stays as it is, and is filled once a round trip.
fn small_receive_window(look: &Look) -> Option<Vec<String>> {
    let waited = look.waits_for_window().filter(|_| look.has(WINDOW_SCALING))?;
    let window = look.level("snd_wnd").filter(|level| level.least >= STEADY * level.most)?;
    let round_trip_us = look.level("rtt")?.median;
    let most = window_bps(window.median, 1e3 * round_trip_us);
    let is_filled = (look.read.sent_bps() / most - 1.0).abs() <= 2.0 * NEAR;
    is_filled.then(|| {
        vec![
            waited,
            format!(
                "a window of {} a round trip of {} carries {}",
                told_bytes(window.median),
                Nanoseconds(1e3 * round_trip_us).rounded(2),
                BitRate(most).rounded(2)
            ),
        ]
    })
}

/// Seen from the sender, a window that closes and opens; from the receiver, data that stays unread.
fn slow_reader(look: &Look) -> Option<Vec<String>> {
    if let Some(waited) = look.waits_for_window() {
        let window = look.level("snd_wnd").filter(|level| level.least < STEADY * level.most)?;
        let span = format!(
            "the window is between {} and {}, as its reader leaves room",
            told_bytes(window.least),
            told_bytes(window.most)
        );
        return Some(vec![waited, span]);
    }
    let is_receiver =
        moved(look.read, "bytes_received") >= LEAST_BYTES && look.read.received_bps() > look.read.sent_bps();
    let unread = look.level("unread").filter(|level| is_receiver && level.above_nothing >= USUALLY)?;
    let buffer = f64::from(look.read.receive_buffer?);
    (unread.median >= HELD * buffer).then(|| {
        vec![
            format!("data waited to be read in {} of the readings", percent(unread.above_nothing)),
            format!("{} of it, of a receive buffer of {}", told_bytes(unread.median), told_bytes(buffer)),
        ]
    })
}

fn small_send_buffer(look: &Look) -> Option<Vec<String>> {
    let (waits, buffer) = (look.busy()?, look.read.send_buffer?);
    // On a long way it fills between two acknowledgements, for a part of the time, and the congestion window stays open.
    let is_window_open = || look.flight().is_some_and(|(flying, window)| flying < SELDOM * window);
    let is_it = waits.buffer >= MOSTLY || waits.buffer >= OFTEN && is_window_open();
    let held = look.level("outstanding")?.median;
    (is_it && look.holds(buffer)).then(|| {
        vec![
            format!("it waited for room in its send buffer {} of the time", percent(waits.buffer)),
            format!(
                "{} outstanding, of a send buffer of {}",
                told_bytes(held),
                told_bytes(f64::from(buffer))
            ),
        ]
    })
}

fn pacing_cap(look: &Look) -> Option<Vec<String>> {
    look.busy()?;
    let limit = 8.0 * look.last("max_pacing_rate").filter(|rate| *rate < NO_LIMIT)?;
    ((look.read.sent_bps() / limit - 1.0).abs() <= NEAR).then(|| {
        vec![
            format!("the socket sends at most {}", BitRate(limit)),
            "data was nearly always outstanding".into(),
        ]
    })
}

fn reordering(look: &Look) -> Option<Vec<String>> {
    let seen = moved(look.read, "reord_seen");
    let needless = moved(look.read, "dsack_dups");
    let losses = look.losses().filter(|_| seen > 0.0)?;
    (needless >= MOSTLY * moved(look.read, "total_retrans"))
        .then(|| vec![losses, "most of them had come already, and the sender saw them overtaken".into()])
}

fn sack_off(look: &Look) -> Option<Vec<String>> {
    let losses = look.losses().filter(|_| !look.has(SACK))?;
    Some(vec![losses, "no selective acknowledgements were agreed on".into()])
}

fn packet_loss(look: &Look) -> Option<Vec<String>> {
    let losses = look.losses().filter(|_| look.queue().is_none() && reordering(look).is_none())?;
    Some(vec![losses, look.waits_for_network()?])
}

fn standing_queue(look: &Look) -> Option<Vec<String>> {
    Some(vec![look.queue()?, look.waits_for_network()?])
}

fn told_bytes(bytes: f64) -> String {
    match bytes {
        small if small < 2048.0 => Bytes(small.max(0.0) as u64).to_string(),
        bytes => kib(bytes),
    }
}
