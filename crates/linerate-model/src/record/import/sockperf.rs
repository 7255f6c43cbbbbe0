//! sockperf: what its client prints. Its MBps are 2^20 bytes.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// The bits of its Mbit.
const MBIT: f64 = 1_048_576.0;

pub(super) fn recognises(text: &str) -> bool {
    let signs = ["Summary: ", "avg-lat", "== version #"];
    text.contains("sockperf: ") && signs.iter().any(|sign| text.contains(sign))
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    line.contains("sockperf: ")
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let lines = lines(run)?;
    let mut draft = Draft::default();
    let shared = read_shared(&lines, &mut draft);
    let is_whole = lines
        .iter()
        .any(|line| line.text.contains("avg-rtt=") || line.text.contains("Summary: Round trip is"));
    let time = if is_whole { Quantity::RoundTrip } else { Quantity::HalfRoundTrip };
    // What is lost is counted within the time that counts, of each server apart.
    let mut sent = None;
    for line in &lines {
        if line.text.contains("[Valid Duration]") {
            sent = line.find("SentMessages=", &mut draft);
        }
        let shared = Shared { line: Some(line.number), ..shared.clone() };
        let before = draft.rows.len();
        times(line, time, &shared, &mut draft);
        lost(line, sent, &shared, &mut draft);
        rates(line, &shared, &mut draft);
        if draft.rows.len() == before && !line.text.contains("Server No") {
            line.is_unread(&mut draft);
        }
    }
    if shared.message_bytes.is_none() {
        draft.doubt("the file does not say the size of a message");
    }
    if shared.pattern.is_none() {
        draft.doubt("the file does not say whether it was ping-pong, or under-load where requests do not wait for answers");
    }
    Ok(draft)
}

/// What is said of the test, for all rows.
fn read_shared(lines: &[Line], draft: &mut Draft) -> Shared {
    let mut shared = Shared { test: "latency".into(), ..Shared::default() };
    for line in lines {
        let text = &line.text;
        if let Some((_, version)) = text.split_once("== version #") {
            draft.version = version.split_whitespace().next().map(String::from);
        }
        if let Some((_, rest)) = text.split_once("] IP = ") {
            draft.fact("server", rest.split_whitespace().next().map(String::from));
            shared.transport = rest.rsplit_once('#').map(|(_, name)| name.trim().to_lowercase());
        }
        let place = format!("line {}", line.number);
        if let Some(count) = line.find("; ReceivedMessages=", draft) {
            shared.samples = draft.keep(whole(count, &place));
        }
        if text.contains("using msg-size=")
            && let Some(bytes) = line.find("msg-size=", draft)
        {
            shared.message_bytes = draft.keep(whole(bytes, &place));
        }
        if text.contains("Summary: BandWidth is") || text.contains("Summary: Message Rate is") {
            (shared.test, shared.pattern) = ("throughput".into(), Some(Pattern::Stream));
        }
    }
    shared
}

/// Times in microseconds.
fn times(line: &Line, time: Quantity, shared: &Shared, draft: &mut Draft) {
    const TIMES: [(&str, Statistic); 5] = [
        ("Summary: Latency is ", Statistic::Mean),
        ("Summary: Round trip is ", Statistic::Mean),
        ("(std-dev=", Statistic::Deviation),
        ("<MAX> observation =", Statistic::Greatest),
        ("<MIN> observation =", Statistic::Least),
    ];
    let pings = Some(Does::Pings);
    for (text, statistic) in TIMES {
        if let Some(value) = line.find(text, draft) {
            let field = text.trim_matches(|c: char| "(= ".contains(c));
            draft.add(shared.row((time, statistic), (value, 1e3), (pings, field)));
        }
    }
    if let Some((_, rest)) = line.text.split_once("---> percentile ")
        && let Some((percent, value)) = rest.split_once('=')
        && let Some(percent) = draft.keep(line.number(percent.trim()))
        && let Some(value) = draft.keep(line.number(value.trim()))
    {
        let field = format!("percentile {percent}");
        draft.add(shared.row((time, Statistic::Percentile(percent)), (value, 1e3), (pings, &field)));
    }
}

/// What got lost of those that were sent; that times are of those that came back does not count here.
fn lost(line: &Line, sent: Option<f64>, shared: &Shared, draft: &mut Draft) {
    let Some(value) = line.find("# dropped messages =", draft) else { return };
    let samples = sent.and_then(|sent| draft.keep(whole(sent, "SentMessages")));
    let shared = Shared { samples, ..shared.clone() };
    let what = (Quantity::Lost, Statistic::Total);
    draft.add(shared.row(what, (value, 1.0), (Some(Does::Pings), "dropped messages")));
}

/// Of the throughput test: what the sender sent.
fn rates(line: &Line, shared: &Shared, draft: &mut Draft) {
    let sends = Some(Does::Sends);
    if let Some(value) = line.find("Summary: Message Rate is ", draft) {
        let what = (Quantity::MessageRate, Statistic::Mean);
        draft.add(shared.row(what, (value, 1.0), (sends, "Message Rate")));
    }
    if line.text.contains("Summary: BandWidth is ")
        && let Some(value) = line.find("MBps (", draft)
    {
        let what = (Quantity::Throughput, Statistic::Mean);
        draft.add(shared.row(what, (value, MBIT), (sends, "BandWidth, Mbps of 2^20 bits")));
    }
}
