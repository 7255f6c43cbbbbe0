//! What iperf3 prints for readers: rounded to three digits.

use super::super::failed::again;
use super::super::interval::{Interval, parts, totals, whole_of};
use super::super::lines::{Line, lines};
use super::super::row::{Shared, whole};
use super::super::{Draft, Read, Run, refuse};
use crate::vocabulary::{Does, Pattern};
use std::collections::BTreeMap;

/// How a run begins: at the client, and at the server.
const BEGINS: [&str; 2] = ["Connecting to host ", "Accepted connection from "];

/// What iperf3 says before an error, of whichever end.
const SAYS: &str = "iperf3: ";

/// Where the server's own output begins, of `--get-server-output`, and the last line of a client.
const SERVERS: &str = "Server output:";
const DONE: &str = "iperf Done.";

/// What stands behind the numbers of the whole test.
const ENDS: [(&str, Does); 2] = [("sender", Does::Sends), ("receiver", Does::Receives)];

pub(super) fn recognises(text: &str) -> bool {
    let is_whole =
        |line: &str| line.contains("/sec") && ENDS.iter().any(|(word, _)| line.trim_end().ends_with(word));
    text.lines().any(|line| {
        BEGINS.iter().any(|begin| line.contains(begin))
            || line.starts_with(SAYS)
            || line == DONE
            || is_whole(line)
    })
}

pub(super) fn runs(text: &str) -> Vec<usize> {
    let (mut at, mut is_servers) = (0, false);
    let mut begins = Vec::new();
    for line in text.split_inclusive('\n') {
        // What a server printed may follow what its client did, in the same run.
        is_servers = (is_servers || line.starts_with(SERVERS)) && !line.starts_with(DONE);
        if !is_servers && BEGINS.iter().any(|begin| line.contains(begin)) {
            begins.push(at);
        }
        at += line.len();
    }
    begins
}

/// What is known while lines are read.
#[derive(Default)]
struct Told {
    shared: Shared,
    is_client: bool,
    reverse: bool,
    stopped: bool,
    wholes: Vec<Interval>,
    /// Lines of the whole test that do not say whose they are, as of datagrams before 3.2.
    unmarked: Vec<Interval>,
    slices: Vec<Interval>,
    /// Where the last part of each stream ended.
    last: BTreeMap<String, f64>,
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let shared = Shared { test: "stream".into(), pattern: Some(Pattern::Stream), ..Shared::default() };
    let mut told = Told { shared, ..Told::default() };
    let mut is_servers = false;
    for line in lines(run)? {
        is_servers |= line.text == SERVERS;
        let interval = if is_servers { None } else { Interval::from_line(&line) };
        match interval {
            Some(interval) => {
                if let Some(interval) = draft.keep(interval) {
                    told.take(interval);
                }
            }
            None if !is_servers && told.line(&line, &mut draft) => (),
            None => line.is_unread(&mut draft),
        }
    }
    told.rows(&mut draft);
    if draft.rows.is_empty()
        && let Some(error) = draft.unread.values().find_map(|text| text.strip_prefix(SAYS))
    {
        return refuse(format!("iperf3 measured nothing: {error}"), again("iperf3", error));
    }
    draft.doubt("rates are rounded to three digits: iperf3 -J has them whole");
    Ok(draft)
}

impl Told {
    fn take(&mut self, interval: Interval) {
        if interval.rest.contains("(omitted)") {
            return;
        }
        if interval.rest.contains(" ms ")
            || interval.rest.split(' ').count() == 1 && interval.rest.parse::<u64>().is_ok()
        {
            self.transport("UDP");
        }
        let is_whole = ENDS.iter().any(|(word, _)| interval.rest.ends_with(word));
        let last = self.last.get(&interval.id).copied().unwrap_or(0.0);
        if is_whole {
            self.wholes.push(interval);
        } else if interval.from == 0.0 && last > 0.0 && interval.to >= last && interval.rest.contains(" ms ")
        {
            self.unmarked.push(interval);
        } else {
            self.last.insert(interval.id.clone(), interval.to);
            self.slices.push(interval);
        }
    }

    fn transport(&mut self, name: &str) {
        self.shared.transport.get_or_insert_with(|| name.to_lowercase());
    }

    /// Whether a line tells of the test, or nothing.
    fn line(&mut self, line: &Line, draft: &mut Draft) -> bool {
        let text = line.text.as_str();
        let place = format!("line {}", line.number);
        if let Some((_, rest)) = text.split_once(BEGINS[0]) {
            self.is_client = true;
            draft.fact("server", rest.split(',').next().map(String::from));
        } else if text.contains("Starting Test: protocol: ") {
            let name = text.split_once("protocol: ").and_then(|(_, rest)| rest.split(',').next());
            self.shared.transport = name.map(str::to_lowercase);
            let count = |mark: &str| text.split_once(mark)?.0.rsplit(' ').next()?.parse::<f64>().ok();
            self.shared.message_bytes =
                count(" byte blocks").and_then(|bytes| draft.keep(whole(bytes, &place)));
            draft.fact("duration, s", count(" second test").map(|seconds| seconds.to_string()));
        } else if text.contains("Reverse mode, remote host") {
            self.reverse = true;
        } else if text.contains("[ ID]") {
            if text.contains("Datagrams") {
                self.transport("UDP");
            } else if text.contains("Retr") {
                self.transport("TCP");
            }
        } else if let Some((_, rest)) = text.split_once("Time: ") {
            draft.fact("time", Some(rest.into()));
        } else if let Some(version) = text.strip_prefix("iperf 3") {
            draft.version = version.split_whitespace().next().map(|rest| format!("3{rest}"));
        } else if text.contains(SAYS) {
            self.stopped = true;
            return false;
        } else if text.contains("] local ") {
            draft.fact("connection", text.split_once("] ").map(|(_, rest)| rest.into()));
        } else {
            let is_line = text.chars().all(|c| "- ".contains(c));
            return is_line
                || text == DONE
                || text.contains("Test Complete.")
                || BEGINS.iter().any(|begin| text.contains(begin));
        }
        true
    }

    fn rows(&self, draft: &mut Draft) {
        if self.wholes.is_empty() && self.unmarked.is_empty() && !self.slices.is_empty() {
            let last = self.slices.iter().map(|one| one.to).fold(0.0, f64::max);
            draft.doubt(format!("the lines of the whole test are missing: its parts end at {last:.1} s"));
        }
        let mut roles: Vec<&str> =
            self.wholes.iter().chain(&self.slices).map(|one| one.role.as_str()).collect();
        roles.sort_unstable();
        roles.dedup();
        for role in roles {
            // Of both ways at once, what the client receives is the way back.
            let back = ["RX-C", "TX-S"].contains(&role);
            let pattern = if role.is_empty() { Pattern::Stream } else { Pattern::Bidirectional };
            let name = self.shared.transport.as_deref().map_or("stream".into(), str::to_uppercase);
            let test = if back { format!("{name}, back") } else { name };
            let shared = Shared { test, pattern: Some(pattern), ..self.shared.clone() };
            for (word, end) in ENDS {
                let of_end = |one: &&Interval| one.role == role && one.rest.ends_with(word);
                let found: Vec<&Interval> = self.wholes.iter().filter(of_end).collect();
                // The end that was not asked any more has counts of 0, and so has the other end in what a server prints.
                let counts = |one: &Interval| one.role == role && one.bps > 0.0;
                let other_counts = self.wholes.iter().any(|one| counts(one) && !one.rest.ends_with(word));
                let is_other = other_counts && !self.is_client;
                if (self.stopped || is_other) && !found.is_empty() && found.iter().all(|one| one.bps == 0.0) {
                    draft.doubt(format!("the other end's count is missing: that of the {word} is 0"));
                    continue;
                }
                self.of_end(&found, &shared, end, draft);
            }
            let slices: Vec<&Interval> = self.slices.iter().filter(|one| one.role == role).collect();
            // A server does not print that the client asked for the way back: the only end that it counts says it.
            let of_role = || self.wholes.iter().filter(|one| one.role == role && one.bps > 0.0);
            let is_sender = of_role().count() > 0 && of_role().all(|one| one.rest.ends_with("sender"));
            let sends = match role {
                "" if !self.is_client && is_sender => true,
                "" => self.is_client != self.reverse,
                role => role.starts_with("TX"),
            };
            let end = if sends { Does::Sends } else { Does::Receives };
            parts(&slices, &shared, Some(end), draft);
        }
        // The sender's bytes with the receiver's losses.
        let unmarked: Vec<&Interval> = self.unmarked.iter().collect();
        totals(&unmarked, &Shared { test: "UDP".into(), ..self.shared.clone() }, None, draft);
    }

    /// What one end says of the whole test.
    fn of_end(&self, found: &[&Interval], shared: &Shared, end: Does, draft: &mut Draft) {
        if found.is_empty() {
            return;
        }
        let bare = |one: &&Interval| Interval { rest: String::new(), ..(*one).clone() };
        match end {
            // A receiver's figures stand in the sender's line too, where they are 0.
            Does::Sends => {
                let plain: Vec<Interval> = found.iter().map(bare).collect();
                totals(&plain.iter().collect::<Vec<_>>(), shared, Some(end), draft);
                retransmits(found, shared, draft);
            }
            _ => totals(found, shared, Some(end), draft),
        }
    }
}

/// The segments that were sent again, of all streams.
fn retransmits(found: &[&Interval], shared: &Shared, draft: &mut Draft) {
    use crate::vocabulary::{Quantity, Statistic};
    let Some(whole) = whole_of(found) else { return };
    let mut words = whole.rest.split(' ');
    if let (Some(count), Some("sender"), None) = (words.next(), words.next(), words.next()) {
        let count = super::super::row::number(count, &format!("line {}", whole.line));
        if let Some(count) = draft.keep(count) {
            let shared = Shared { line: Some(whole.line), ..shared.clone() };
            let what = (Quantity::Retransmits, Statistic::Total);
            draft.add(shared.row(what, (count, 1.0), (Some(Does::Sends), "Retr")));
        }
    }
}
