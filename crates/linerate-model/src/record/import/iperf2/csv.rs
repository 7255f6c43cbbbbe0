//! What `iperf -y C` prints: `20240718105130,10.0.0.1,40022,10.0.0.2,5001,1,0.0-10.0,1177026560,941621248`, of datagrams
//! with five more: jitter, lost, all, their share, out of order.

use super::super::interval::{Interval, parts, totals};
use super::super::row::{Shared, number};
use super::super::{Draft, Read, Run};
use super::apart;
use crate::vocabulary::{Does, Pattern};
use std::collections::BTreeMap;

/// Fields of a stream, and of datagrams.
const FIELDS: [usize; 2] = [9, 14];
/// Where they are.
const TIME: usize = 0;
const LOCAL_PORT: usize = 2;
const PORT: usize = 4;
const ID: usize = 5;
const TIMES: usize = 6;
const BPS: usize = 8;
const JITTER: usize = 9;

/// The fields of a line that is one.
fn fields(line: &str) -> Option<Vec<&str>> {
    let fields: Vec<&str> = line.trim().split(',').collect();
    let is_number = |at: usize| fields[at].parse::<f64>().is_ok();
    let is_time = |text: &str| text.len() >= 14 && text.bytes().take(14).all(|byte| byte.is_ascii_digit());
    let is_one = FIELDS.contains(&fields.len())
        && is_time(fields[TIME].rsplit(':').next().unwrap_or_default())
        && is_number(LOCAL_PORT)
        && is_number(PORT)
        && is_number(ID)
        && fields[TIMES].contains('-');
    is_one.then_some(fields)
}

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(|line| fields(line).is_some())
}

/// A stream whose number was there before, on another port, is of another run.
pub(super) fn runs(text: &str) -> Vec<usize> {
    let (mut at, mut begins) = (0, vec![0]);
    let mut seen: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
    for line in text.split_inclusive('\n') {
        if let Some(fields) = fields(line)
            && fields[ID] != "-1"
        {
            // A server's report to its client has the ends the other way round.
            let mut ports = [fields[LOCAL_PORT], fields[PORT]];
            ports.sort_unstable();
            if seen.get(fields[ID]).is_some_and(|known| *known != ports) {
                begins.push(at);
                seen.clear();
            }
            seen.insert(fields[ID], ports);
        }
        at += line.len();
    }
    begins
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let (mut own, mut reported) = (Vec::new(), Vec::new());
    let mut is_datagrams = false;
    for (line, text) in (run.line..).zip(run.text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let Some(fields) = fields(text) else {
            draft.unread(format!("line {line}"), text);
            continue;
        };
        is_datagrams |= fields.len() > JITTER;
        if let Some(interval) = draft.keep(interval(line, &fields)) {
            if interval.rest.is_empty() { own.push(interval) } else { reported.push(interval) }
        }
        draft.fact("local time of the first line", Some(fields[TIME].into()));
        draft.fact("connection", Some(fields[1..=PORT].join(" ")));
    }
    let name = if is_datagrams { "UDP" } else { "TCP" };
    let shared = Shared {
        test: name.into(),
        transport: Some(name.to_lowercase()),
        pattern: Some(Pattern::Stream),
        ..Shared::default()
    };
    // Of datagrams a client's own lines count what it sent; of TCP a line looks the same at both ends.
    let end = is_datagrams.then_some(Does::Sends);
    for (intervals, end) in [(own, end), (reported, Some(Does::Receives))] {
        let intervals: Vec<&Interval> = intervals.iter().collect();
        let (wholes, slices) = apart(&intervals, &mut draft);
        totals(&wholes, &shared, end, &mut draft);
        parts(&slices, &shared, end, &mut draft);
    }
    if !is_datagrams {
        draft.doubt("the file does not say whether its bytes are the sender's or the receiver's: iperf without -y C does");
    }
    Ok(draft)
}

fn interval(line: u64, fields: &[&str]) -> Read<Interval> {
    let place = format!("line {line}");
    let (from, to) = fields[TIMES].split_once('-').unwrap_or_default();
    let all = fields.get(JITTER + 2).and_then(|all| all.parse::<f64>().ok()).filter(|all| *all > 0.0);
    let rest = match all {
        Some(all) => format!("{} ms {}/{all} (", fields[JITTER], fields[JITTER + 1]),
        None => String::new(),
    };
    Ok(Interval {
        line,
        id: if fields[ID] == "-1" { "SUM".into() } else { fields[ID].into() },
        role: String::new(),
        from: number(from, &place)?,
        to: number(to, &place)?,
        bps: number(fields[BPS], &place)?,
        rest,
    })
}
