//! iperf3: the JSON of a run, of its client or its server, the events of `--json-stream`, and in [`text`] what it prints
//! for readers.

mod text;

use super::failed::again;
use super::json::{self, Document, Node, documents, starts};
use super::row::{Shared, row};
use super::{Draft, Read, Run, head, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use serde_json::{Map, Value};

/// The sums at the end, whose they are where the file does not say, and whether they are of the way back.
const SUMS: [(&str, Option<Does>, bool); 5] = [
    ("sum_sent", Some(Does::Sends), false),
    ("sum_received", Some(Does::Receives), false),
    ("sum_sent_bidir_reverse", Some(Does::Sends), true),
    ("sum_received_bidir_reverse", Some(Does::Receives), true),
    // Of datagrams; in early versions the only one.
    ("sum", None, false),
];

/// How a line of `--json-stream` begins.
const EVENT: &str = "{\"event\"";

fn is_json(text: &str) -> bool {
    let has = |part: &str| text.contains(part);
    let has_end = has("\"end\"") && (has("\"bits_per_second\"") || has("\"iperf "));
    text.lines().any(json::begins) && has("\"start\"") && (has_end || has(EVENT))
}

pub(super) fn recognises(text: &str) -> bool {
    is_json(text) || text::recognises(text)
}

/// Whether a line alone is one of its own: also the last ones, behind what another wrote.
pub(super) fn begins(line: &str) -> bool {
    text::recognises(line)
}

/// How its documents are taken out of another one.
const WRAPPED: &str =
    "take that out on the way: jq -c '.. | objects | select(.start.version?)' FILE | linerate import -";

/// Whether the document that a text begins with has one of its own in it.
fn is_wrapped(text: &str) -> bool {
    let begins = |rest: &str| rest.trim_start_matches([':', ' ', '\t', '\r', '\n']).starts_with('{');
    text.split("\"start\"").skip(1).any(begins) && text.contains("\"version\"")
}

/// A document is a run, and so are the events from one start to the next.
pub(super) fn runs(text: &str) -> Vec<usize> {
    if !is_json(text) {
        return text::runs(text);
    }
    let (mut runs, mut cookie) = (Vec::new(), None);
    for at in starts(text) {
        let rest = &text[at..];
        let is_event = rest.starts_with(EVENT);
        let is_start =
            is_event && rest[EVENT.len()..].trim_start_matches([':', ' ']).starts_with("\"start\"");
        // With --json-stream-full-output the whole document follows the events of its own run.
        let again = !is_event && cookie.is_some() && cookie == named(rest);
        if runs.is_empty() || is_start || !(is_event || again) {
            runs.push(at);
        }
        if is_start {
            cookie = named(rest);
        }
    }
    runs
}

/// What names a run, near the beginning of a document.
fn named(text: &str) -> Option<&str> {
    let (_, rest) = head(text, 4096).split_once("\"cookie\"")?;
    rest.split('"').nth(1)
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    if !is_json(run.text) && !json::begins(run.text) {
        return text::read(run);
    }
    let mut draft = Draft::default();
    let document = Document::new(whole(documents(run, &mut draft)?, &mut draft));
    let root = document.root();
    if root.at("start").is_none() && is_wrapped(run.text) {
        return refuse("what iperf3 wrote is deeper in its JSON", WRAPPED);
    }
    let error = root.text("error");
    let shared = read_shared(&root, &mut draft);
    if let Some(end) = root.at("end") {
        let has_sent = || end.at("sum_sent").is_some_and(|sent| sent.number("bytes") > Some(0.0));
        let is_of_datagrams =
            SUMS.iter().any(|(key, ..)| end.at(key).is_some_and(|sum| sum.number("lost_packets").is_some()));
        // A server counts its own end, and prints zeros for the other one.
        let is_server = root.at("start").is_some_and(|start| start.at("accepted_connection").is_some());
        let has_any =
            || SUMS.iter().any(|(key, ..)| end.at(key).is_some_and(|sum| sum.number("bytes") > Some(0.0)));
        let is_missing = error.is_some() || !is_of_datagrams && has_sent() || is_server && has_any();
        let has_no_end = is_missing
            && SUMS.iter().any(|(key, ..)| end.at(key).is_some_and(|sum| sum.number("bytes") == Some(0.0)));
        // Of datagrams some versions say it twice: the sum is the sender's bytes with the receiver's losses.
        let is_told = end.at("sum_received").is_some();
        for sum in SUMS.into_iter().filter(|(key, ..)| !(is_told && *key == "sum")) {
            // The end that was not asked any more has counts of 0; so has a receiver whose word did not come back, of which the
            // error may stand beside the document. Of datagrams all may be lost.
            let is_blank = |sum: &Node| is_missing && sum.number("bytes") == Some(0.0);
            if end.at(sum.0).is_some_and(|sum| is_blank(&sum)) {
                draft.doubt(format!("the other end's count is missing: end.{} is 0", sum.0));
                continue;
            }
            of_sum(&end, sum, &shared, &mut draft);
        }
        cpu(&root, &end, &shared, has_no_end || error.is_some(), &mut draft);
    }
    let has_sums = !draft.rows.is_empty();
    draft.rows.extend(slices(&root, &shared, "sum", false));
    draft.rows.extend(slices(&root, &shared, "sum_bidir_reverse", true));
    match error {
        Some(error) if draft.rows.is_empty() => {
            return refuse(format!("iperf3 measured nothing: {error}"), again("iperf3", &error));
        }
        Some(error) => draft.doubt(format!("iperf3 ended with an error: {error}")),
        None => (),
    }
    if !has_sums && !draft.rows.is_empty() {
        draft.doubt(unfinished(&root, &draft));
    }
    document.unread(&mut draft);
    Ok(draft)
}

/// What is missing of a run that has no sums.
fn unfinished(root: &Node, draft: &Draft) -> String {
    let seconds = root.at("start").and_then(|start| start.at("test_start")?.number("duration"));
    let of = seconds.map_or(String::new(), |seconds| format!(" of {seconds}"));
    let last = draft.rows.iter().filter_map(|row| row.at_s.last()).map(|[_, to]| *to).fold(0.0, f64::max);
    format!("the sums over the whole test are missing: its parts end at {last:.1}{of} s")
}

/// One document of several: that of all events, unless the whole one follows them.
fn whole(documents: Vec<Value>, draft: &mut Draft) -> Value {
    let is_event = |value: &Value| value.get("event").is_some_and(Value::is_string);
    if let Some(whole) = documents.iter().position(|value| !is_event(value)) {
        return documents.into_iter().nth(whole).unwrap_or_default();
    }
    let mut root = Map::new();
    let mut intervals = Vec::new();
    let mut has_end = false;
    for mut document in documents {
        let name = document["event"].as_str().unwrap_or_default().to_owned();
        let data = document["data"].take();
        has_end |= name == "end";
        match name.as_str() {
            "interval" => intervals.push(data),
            _ => drop(root.entry(name).or_insert(data)),
        }
    }
    root.insert("intervals".into(), intervals.into());
    if !has_end {
        draft.doubt("the event of its end is missing: iperf3 was stopped, or its output cut");
    }
    root.into()
}

/// A test of which nothing is said.
fn unnamed() -> Shared {
    Shared { test: "stream".into(), ..Shared::default() }
}

/// What is said of the test, for all rows.
fn read_shared(root: &Node, draft: &mut Draft) -> Shared {
    let Some(start) = root.at("start") else { return unnamed() };
    draft.version = start.text("version").map(|version| version.trim_start_matches("iperf ").to_owned());
    draft.fact("system", start.text("system_info"));
    if let Some(seconds) = start.at("timestamp").and_then(|at| at.whole("timesecs")) {
        draft.utc = i64::try_from(seconds)
            .ok()
            .and_then(|seconds| Some(jiff::Timestamp::from_second(seconds).ok()?.to_string()));
    }
    if let Some(host) = start.at("connecting_to") {
        draft.fact("server", host.text("host"));
    }
    if let Some(connected) = start.items("connected").first() {
        draft.fact("local host", connected.text("local_host"));
        draft.fact("remote host", connected.text("remote_host"));
    }
    for (name, key) in [
        ("sender's congestion control", "sender_tcp_congestion"),
        ("receiver's congestion control", "receiver_tcp_congestion"),
    ] {
        draft.fact(name, root.at("end").and_then(|end| end.text(key)));
    }
    let Some(test) = start.at("test_start") else { return unnamed() };
    let protocol = test.text("protocol");
    for (name, key) in [("duration, s", "duration"), ("left out first, s", "omit")] {
        draft.fact(name, test.number(key).map(|number| number.to_string()));
    }
    draft.fact("reverse", test.flag("reverse").map(|flag| flag.to_string()));
    let both = test.flag("bidir").unwrap_or(false);
    Shared {
        test: protocol.clone().unwrap_or_else(|| "stream".into()),
        transport: protocol.map(|protocol| protocol.to_lowercase()),
        pattern: Some(if both { Pattern::Bidirectional } else { Pattern::Stream }),
        message_bytes: test.whole("blksize"),
        flows: test.whole("num_streams").and_then(|flows| u32::try_from(flows).ok()),
        ..Shared::default()
    }
}

/// The numbers of one sum at the end.
fn of_sum(end: &Node, (key, usual, back): (&str, Option<Does>, bool), shared: &Shared, draft: &mut Draft) {
    let Some(sum) = end.at(key) else { return };
    let whose = usual.or(sum.flag("sender").map(whose));
    let shared = both_ways(shared, back);
    let packets = sum.whole("packets");
    let lost = sum.number("lost_packets");
    let is_beyond = lost.zip(packets).is_some_and(|(lost, packets)| lost > packets as f64);
    if is_beyond {
        draft.doubt(format!(
            "end.{key}: {} of {} packets are said to be lost, more than there were: what was lost is not known",
            lost.unwrap_or_default(),
            packets.unwrap_or_default()
        ));
    }
    let mut add = |field: &str, what, scale: f64, end, samples: Option<u64>| {
        if let Some(value) = sum.number(field) {
            let row = shared.row(what, (value, scale), (end, &format!("{}.{field}", sum.place())));
            draft.add(row.map(|row| Imported { samples: samples.or(row.samples), ..row }));
        }
    };
    let receives = Some(Does::Receives);
    add("bits_per_second", (Quantity::Throughput, Statistic::Mean), 1.0, whose, None);
    add("retransmits", (Quantity::Retransmits, Statistic::Total), 1.0, Some(Does::Sends), None);
    // A receiver's own figures stand in the sender's sum too, where they are 0.
    if !is_beyond && (packets.is_some() && whose != Some(Does::Sends) || key == "sum") {
        add("jitter_ms", (Quantity::Jitter, Statistic::Mean), 1e6, receives, packets);
        add("lost_packets", (Quantity::Lost, Statistic::Total), 1.0, receives, packets);
        add("lost_percent", (Quantity::LostShare, Statistic::Mean), 0.01, receives, packets);
    }
}

fn whose(sender: bool) -> Does {
    if sender { Does::Sends } else { Does::Receives }
}

fn both_ways(shared: &Shared, back: bool) -> Shared {
    let test = if back { format!("{}, back", shared.test) } else { shared.test.clone() };
    Shared { test, ..shared.clone() }
}

/// CPU time of both processes: `host` is the one that wrote the file.
fn cpu(root: &Node, end: &Node, shared: &Shared, has_error: bool, draft: &mut Draft) {
    let Some(cpu) = end.at("cpu_utilization_percent") else { return };
    let start = root.at("start");
    let is_server = start.as_ref().is_some_and(|start| start.at("accepted_connection").is_some());
    let test = start.as_ref().and_then(|start| start.at("test_start"));
    let reverse = test.as_ref().and_then(|test| test.flag("reverse"));
    let both = test.as_ref().and_then(|test| test.flag("bidir")).unwrap_or(false);
    for (field, is_remote) in [("host_total", false), ("remote_total", true)] {
        let Some(value) = cpu.number(field) else { continue };
        if has_error && is_remote && value == 0.0 {
            continue;
        }
        // The client sends unless it was told the reverse.
        let end = reverse.filter(|_| !both).map(|reverse| whose((is_server == is_remote) != reverse));
        let place = format!("{}.{field}", cpu.place());
        draft.add(shared.row((Quantity::CpuShare, Statistic::Mean), (value, 0.01), (end, &place)));
    }
}

/// The rates of the parts of the test; what was left out at its beginning is no part.
fn slices(root: &Node, shared: &Shared, key: &str, back: bool) -> Vec<Imported> {
    let (mut rates, mut again, mut at_s) = (Vec::new(), Vec::new(), Vec::new());
    let mut end = None;
    for slice in root.items("intervals") {
        let Some(sum) = slice.at(key) else { continue };
        let rate = sum.number("bits_per_second");
        let retransmits = sum.number("retransmits");
        let [from, to] = [sum.number("start"), sum.number("end")];
        end = end.or(sum.flag("sender").map(whose));
        let (Some(rate), Some(from), Some(to)) = (rate, from, to) else { continue };
        // A run that broke off has its last part twice.
        if sum.flag("omitted") == Some(true) || at_s.last() == Some(&[from, to]) {
            continue;
        }
        rates.push(rate);
        again.extend(retransmits);
        at_s.push([from, to]);
    }
    let shared = both_ways(shared, back);
    let made = |quantity, statistic, values: Vec<f64>, end, field: &str| Imported {
        transport: shared.transport.clone(),
        pattern: shared.pattern,
        message_bytes: shared.message_bytes,
        flows: shared.flows,
        end,
        at_s: at_s.clone(),
        ..row(
            &format!("{}, parts", shared.test),
            quantity,
            statistic,
            values,
            &format!("intervals[].{key}.{field}"),
        )
    };
    let mut rows = Vec::new();
    if !rates.is_empty() {
        let (whole, parts) = (again.len(), rates.len());
        rows.push(made(Quantity::Throughput, Statistic::Mean, rates, end, "bits_per_second"));
        if whole == parts {
            rows.push(made(Quantity::Retransmits, Statistic::Total, again, Some(Does::Sends), "retransmits"));
        }
    }
    rows
}
