//! What iperf 2 prints of `--bounceback`: requests that are answered, few a second, so that its rates are no throughput:
//! `[  1] 0.0000-1.0320 sec  1.95 KBytes  15.5 Kbits/sec    10=0.121/0.061/0.561/0.155 ms    0  576K/45 us    8285 rps`.

use super::super::interval::Interval;
use super::super::row::{Shared, number, row, whole};
use super::super::{Draft, Read};
use super::apart;
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use std::collections::BTreeSet;

/// What stands before the sizes in the line of a connection: one of 2.1, both of 2.2.
const SIZES: [&str; 2] = ["len/hold=", "req/reply/hold="];

/// The times of a line, in its order.
pub(super) const TIMES: [Statistic; 4] =
    [Statistic::Mean, Statistic::Least, Statistic::Greatest, Statistic::Deviation];

/// What is known of them while lines are read.
#[derive(Default)]
pub(super) struct Bounced {
    /// The connections.
    ids: BTreeSet<String>,
    message_bytes: Option<u64>,
    lines: Vec<Interval>,
    /// Lines of an end that has no times.
    untimed: usize,
}

/// How many exchanges there were, and their times in milliseconds.
pub(super) struct Times {
    pub count: f64,
    pub ms: [f64; 4],
}

impl Times {
    /// `10=0.121/0.061/0.561/0.155 ms`.
    fn from_text(rest: &str, place: &str) -> Option<Read<Times>> {
        let (times, after) = rest.split_once(' ')?;
        let (count, times) = times.split_once('=')?;
        let times: Vec<&str> = times.split('/').collect();
        let [mean, least, greatest, deviation] = times[..] else { return None };
        let read = || {
            let ms = |word: &str| number(word, place);
            Ok(Times {
                count: number(count, place)?,
                ms: [ms(mean)?, ms(least)?, ms(greatest)?, ms(deviation)?],
            })
        };
        after.starts_with("ms").then(read)
    }

    /// A row of each.
    pub fn rows(&self, shared: &Shared, field: &str, draft: &mut Draft) {
        if self.count < 1.0 {
            return;
        }
        let samples = draft.keep(whole(self.count, field));
        let shared = Shared { samples, ..shared.clone() };
        for (statistic, ms) in TIMES.into_iter().zip(self.ms) {
            // Of one there is no deviation.
            if statistic != Statistic::Deviation || self.count > 1.0 {
                let what = (Quantity::RoundTrip, statistic);
                draft.add(shared.row(what, (ms, 1e6), (Some(Does::Pings), field)));
            }
        }
    }
}

/// What all rows of it share.
pub(super) fn named(shared: &Shared, message_bytes: Option<u64>) -> Shared {
    Shared { test: "bounceback".into(), pattern: Some(Pattern::PingPong), message_bytes, ..shared.clone() }
}

impl Bounced {
    /// A line that is none of it comes back.
    pub fn take(&mut self, interval: Interval) -> Option<Interval> {
        if Times::from_text(&interval.rest, "").is_some() {
            self.lines.push(interval);
        } else if self.ids.contains(interval.id.trim_start_matches('*')) {
            self.untimed += 1;
        } else {
            return Some(interval);
        }
        None
    }

    /// Whether a line tells of the test.
    pub fn is_head(&self, text: &str) -> bool {
        text.starts_with("Bounce-back test") || text.starts_with("Bounceback test")
    }

    pub fn connects(&mut self, id: &str, rest: &str) {
        let Some((_, mode)) = rest.split_once("(bb ") else { return };
        self.ids.insert(id.to_owned());
        let sizes = SIZES.iter().find_map(|mark| Some((mark, mode.split_once(mark)?.1)));
        let Some((mark, sizes)) = sizes else { return };
        let sizes = sizes.split(')').next().unwrap_or_default();
        let sizes: Vec<u64> = sizes.split('/').filter_map(|size| size.parse().ok()).collect();
        // What stands last is how long the server holds it.
        let is_same = sizes.len() == mark.matches('/').count() + 1
            && sizes[..sizes.len() - 1].iter().all(|size| *size == sizes[0]);
        self.message_bytes = is_same.then(|| sizes[0]);
    }

    pub fn rows(&self, shared: &Shared, draft: &mut Draft) {
        if self.untimed > 0 && self.lines.is_empty() {
            draft.doubt(
                "of --bounceback this end has no times, and its rates are no throughput: import what the client printed",
            );
        }
        let all: Vec<&Interval> = self.lines.iter().collect();
        let (wholes, slices) = apart(&all, draft);
        let shared = named(shared, self.message_bytes);
        let times = |one: &Interval, draft: &mut Draft| {
            draft.keep(Times::from_text(&one.rest, &format!("line {}", one.line))?)
        };
        for one in wholes {
            let shared = Shared { line: Some(one.line), ..shared.clone() };
            if let Some(times) = times(one, draft) {
                times.rows(&shared, "BB cnt=avg/min/max/stdev", draft);
            }
        }
        let (mut means, mut at_s) = (Vec::new(), Vec::new());
        for one in &slices {
            let Some(times) = times(one, draft).filter(|times| times.count >= 1.0) else { continue };
            means.push(times.ms[0] * 1e6);
            at_s.push([one.from, one.to]);
        }
        let is_one = slices.iter().all(|one| one.id == slices[0].id);
        if !means.is_empty() && is_one {
            let test = format!("{}, parts", shared.test);
            let what = (Quantity::RoundTrip, Statistic::Mean);
            draft.rows.push(Imported {
                transport: shared.transport.clone(),
                pattern: shared.pattern,
                message_bytes: shared.message_bytes,
                end: Some(Does::Pings),
                at_s,
                line: Some(slices[0].line),
                ..row(&test, what.0, what.1, means, "BB cnt=avg/min/max/stdev")
            });
        }
    }
}
