//! What `iperf -y C` prints: `20240718105130,10.0.0.1,40022,10.0.0.2,5001,1,0.0-10.0,1177026560,941621248`, of datagrams
//! with five more: jitter, lost, all, their share, out of order; and of 2.2 with `-e` lines under names of columns.

mod line;

use super::super::interval::{Interval, parts, totals, whole_of};
use super::super::lines::{MOST, too_many};
use super::super::row::Shared;
use super::super::{Draft, Read, Run};
use super::{apart, bounce};
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use line::{Heads, Line, PORT, TIME, Way};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn recognises(text: &str) -> bool {
    let mut heads = Heads::default();
    text.lines().any(|line| heads.read(line) || heads.line(0, line).is_some())
}

/// A stream whose number was there before, on another port, is of another run, and so is one that began when all of this
/// one were over, or a process that names its columns again.
pub(super) fn runs(text: &str) -> Vec<usize> {
    let (mut at, mut begins, mut heads) = (0, vec![0], Heads::default());
    let mut seen: BTreeMap<String, Line> = BTreeMap::new();
    let (mut over, mut named_at, mut is_new) = (None, None, false);
    for (text, number) in text.split_inclusive('\n').zip(1..) {
        is_new |= heads.has(text) && !seen.is_empty();
        if heads.read(text) {
            // Names are of the lines that follow.
            named_at = named_at.or(Some(at));
        } else if let Some(line) = heads.line(number, text).filter(|line| !line.is_sum()) {
            let known = seen.get(&line.id);
            is_new |= known.is_some_and(|known| !known.is_pair_of(&line))
                || known.is_none() && over.is_some_and(|over| line.begins_after(over));
            if is_new {
                begins.push(named_at.unwrap_or(at));
                seen.clear();
                over = None;
            }
            over = line.time.map(|time| over.map_or(time, |over: f64| over.max(time)));
            seen.insert(line.id.clone(), line);
            (named_at, is_new) = (None, false);
        }
        at += text.len();
    }
    begins
}

/// The lines of one way, as one end counts them.
struct Group {
    way: Way,
    end: Option<Does>,
    lines: Vec<Line>,
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    // A later run of a file may have its columns named at the file's beginning.
    let mut heads = Heads::of_file(run.head);
    let mut lines: Vec<Line> = Vec::new();
    for (number, text) in (run.line..).zip(run.text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        match heads.line(number, text) {
            Some(_) if lines.len() == MOST => return too_many(),
            Some(line) => lines.push(line),
            None if heads.read(text) => (),
            None => draft.unread(format!("line {number}"), text),
        }
    }
    let Some(first) = lines.first().cloned() else { return Ok(draft) };
    draft.fact("local time of the first line", first.time.is_some().then(|| first.fields[TIME].clone()));
    draft.fact("connection", Some(first.fields[1..=PORT].join(" ")));
    let (bounced, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.bounced.is_some());
    round_trips(&bounced, &mut draft);
    let is_datagrams = lines.iter().any(|line| line.is_datagrams);
    let name = if is_datagrams { "UDP" } else { "TCP" };
    let groups = groups(lines);
    let both =
        groups.iter().any(|one| one.way == Way::Back) && groups.iter().any(|one| one.way == Way::Forth);
    let at_once = if both {
        line::at_once(&groups.iter().flat_map(|one| &one.lines).collect::<Vec<_>>())
    } else {
        Some(false)
    };
    if at_once.is_none() {
        draft.doubt("the file does not say whether both ways were at once (-d) or one after the other (-r)");
    }
    for group in &groups {
        let shared = Shared {
            test: if both && group.way == Way::Back { format!("{name}, back") } else { name.into() },
            transport: Some(name.to_lowercase()),
            pattern: at_once.map(|both| if both { Pattern::Bidirectional } else { Pattern::Stream }),
            ..Shared::default()
        };
        of_group(group, &shared, both, &mut draft);
    }
    if groups.iter().any(|group| group.end.is_none()) {
        draft.doubt("the file does not say whether its bytes are the sender's or the receiver's: iperf without -y C does");
    }
    Ok(draft)
}

/// The lines by way and end.
fn groups(lines: Vec<Line>) -> Vec<Group> {
    // A client of 2.1 does not know the ports of its own way back.
    let is_client = lines.iter().any(Line::is_unnamed);
    let Some(first) = lines.iter().find(|line| !line.is_unnamed()).or(lines.first()).cloned() else {
        return Vec::new();
    };
    type Ends = (String, [String; 2]);
    let ends = |line: &Line| -> Ends { (line.id.clone(), line.ports().map(String::from)) };
    let turned = |line: &Line| -> Ends { (line.id.clone(), line.swapped_ports().map(String::from)) };
    let sent: BTreeSet<Ends> = lines.iter().filter(|line| line.is_short).map(ends).collect();
    let reported: BTreeSet<Ends> = lines.iter().filter(|line| line.datagrams.is_some()).map(ends).collect();
    let mut groups: Vec<Group> = Vec::new();
    for line in lines {
        // A server's report to its client has the ends the other way round.
        let is_report = line.datagrams.is_some() && sent.contains(&turned(&line));
        let way = if !is_report && line.is_back(&first) { Way::Back } else { Way::Forth };
        let end = match line.end {
            _ if is_report => Some(Does::Receives),
            None if line.is_short && reported.contains(&turned(&line)) => Some(Does::Sends),
            None if is_client => Some(if way == Way::Back { Does::Receives } else { Does::Sends }),
            end => end,
        };
        match groups.iter_mut().find(|group| group.way == way && group.end == end) {
            Some(group) => group.lines.push(line),
            None => groups.push(Group { way, end, lines: vec![line] }),
        }
    }
    groups.sort_by_key(|group| group.way == Way::Back);
    groups
}

fn of_group(group: &Group, shared: &Shared, both: bool, draft: &mut Draft) {
    let mut intervals: Vec<Interval> = Vec::new();
    for line in &group.lines {
        // The sum of both ways is of neither.
        if !(both && line.is_sum()) {
            intervals.extend(draft.keep(line.interval()));
        }
    }
    let intervals: Vec<&Interval> = intervals.iter().collect();
    let (wholes, slices) = apart(&intervals, draft);
    let streams = wholes.iter().filter(|one| !one.is_sum()).count();
    let is_untimed = streams > 1 && group.lines.iter().all(|line| line.time.is_none());
    if is_untimed {
        draft.doubt("the file does not say when its streams were: they need not have been at once");
    }
    let begins = draft.rows.len();
    totals(&wholes, shared, group.end, draft);
    if is_untimed {
        let several = draft.rows[begins..].iter_mut();
        several.for_each(|row| (row.flows, row.pattern) = (None, None));
    }
    parts(&slices, shared, group.end, draft);
    let whole = whole_of(&wholes);
    let line = whole.and_then(|whole| group.lines.iter().find(|line| line.number == whole.line));
    if let Some(line) = line {
        let shared = Shared { line: Some(line.number), ..shared.clone() };
        if let Some(count) = line.retransmits.filter(|_| group.end == Some(Does::Sends)) {
            let what = (Quantity::Retransmits, Statistic::Total);
            draft.add(shared.row(what, (count, 1.0), (Some(Does::Sends), "tcpretry")));
        }
        // Its round trips are in no column of 2.1.
        if line.has_fraction()
            && !line.is_datagrams
            && whole.is_some_and(|whole| whole.bps > 0.0 && whole.bps < FEW_BPS)
        {
            draft.doubt("so few bytes may be those of --bounceback, whose times are not in this form: iperf without -y C prints them");
        }
    }
}

/// Less than a stream carries, and more than the ten small messages a second that `--bounceback` sends.
const FEW_BPS: f64 = 1e6;

/// The times of `--bounceback`: of the whole test, which stands last.
fn round_trips(lines: &[Line], draft: &mut Draft) {
    let Some(whole) = lines.last() else { return };
    if whole.from() != Some(0.0) {
        draft.doubt("the line of the whole test is missing: its times are those of its last part");
    }
    let shared =
        Shared { transport: Some("TCP".to_lowercase()), line: Some(whole.number), ..Shared::default() };
    if let Some(times) = whole.times().and_then(|times| draft.keep(times)) {
        times.rows(&bounce::named(&shared, None), "bbcnt, bbavg, bbmin, bbmax, bbstdev", draft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Event;
    use crate::record::import::{Given, Refusal, import};

    fn read(text: &str) -> std::result::Result<Vec<Vec<Event>>, Refusal> {
        import(text.as_bytes(), &Given::default())
    }

    /// A line of a test of one second with so many bits in it.
    fn line(at: usize, bits: u32) -> String {
        format!("20261127211043.000,10.0.0.1,5001,10.0.0.2,5001,4,{at}.0-{}.0,{},{bits}\n", at + 1, bits / 8)
    }

    #[test]
    fn more_lines_than_any_run_has_are_refused() {
        let text: String = (0..=MOST).map(|at| line(at, 8)).collect();
        let refusal = read(&text).unwrap_err();
        assert!(refusal.what.contains("more than 200000 lines"), "{refusal}");
    }

    #[test]
    fn few_bytes_may_be_those_of_a_bounceback() {
        let doubts = |bits| {
            let Event::Source(source) = read(&line(0, bits)).unwrap().remove(0).remove(0) else {
                panic!("a recording begins with its source")
            };
            source.doubts.iter().any(|doubt| doubt.contains("--bounceback"))
        };
        assert!(doubts(999_992) && !doubts(1_000_000));
    }
}
