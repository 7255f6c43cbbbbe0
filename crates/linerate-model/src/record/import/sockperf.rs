//! sockperf: what its client prints. Its MBps are 2^20 bytes.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read};
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// The bits of its Mbit.
const MBIT: f64 = 1_048_576.0;

pub(super) fn recognises(text: &str) -> bool {
    text.contains("sockperf: ") && (text.contains("Summary: ") || text.contains("avg-lat"))
}

pub(super) fn read(text: &str) -> Read<Draft> {
    let lines = lines(text)?;
    let mut draft = Draft::default();
    let shared = told(&lines, &mut draft)?;
    let is_whole = lines
        .iter()
        .any(|line| line.text.contains("avg-rtt=") || line.text.contains("Summary: Round trip is"));
    let time = if is_whole { Quantity::RoundTrip } else { Quantity::HalfRoundTrip };
    for line in &lines {
        let shared = Shared { line: Some(line.number), ..shared.clone() };
        let before = draft.rows.len();
        times(line, time, &shared, &mut draft)?;
        rates(line, &shared, &mut draft)?;
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
fn told(lines: &[Line], draft: &mut Draft) -> Read<Shared> {
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
        if let Some(count) = line.after("; ReceivedMessages=")? {
            shared.samples = Some(whole(count, &format!("line {}", line.number))?);
        }
        if let Some(bytes) = line.after("msg-size=")?
            && text.contains("using msg-size=")
        {
            shared.message_bytes = Some(whole(bytes, &format!("line {}", line.number))?);
        }
        if text.contains("Summary: BandWidth is") || text.contains("Summary: Message Rate is") {
            (shared.test, shared.pattern) = ("throughput".into(), Some(Pattern::Stream));
        }
    }
    Ok(shared)
}

/// Times in microseconds.
fn times(line: &Line, time: Quantity, shared: &Shared, draft: &mut Draft) -> Read<()> {
    const TIMES: [(&str, Statistic); 5] = [
        ("Summary: Latency is ", Statistic::Mean),
        ("Summary: Round trip is ", Statistic::Mean),
        ("(std-dev=", Statistic::Deviation),
        ("<MAX> observation =", Statistic::Greatest),
        ("<MIN> observation =", Statistic::Least),
    ];
    for (text, statistic) in TIMES {
        if let Some(value) = line.after(text)? {
            let field = text.trim_matches(|c: char| "(= ".contains(c));
            draft.rows.push(shared.row((time, statistic), (value, 1e3), (Some(Does::Pings), field))?);
        }
    }
    if let Some((_, rest)) = line.text.split_once("---> percentile ")
        && let Some((percent, value)) = rest.split_once('=')
    {
        let (percent, value) = (line.number(percent.trim())?, line.number(value.trim())?);
        let what = (time, Statistic::Percentile(percent));
        draft.rows.push(shared.row(
            what,
            (value, 1e3),
            (Some(Does::Pings), &format!("percentile {percent}")),
        )?);
    }
    if let Some(value) = line.after("# dropped messages =")? {
        let what = (Quantity::Lost, Statistic::Total);
        draft.rows.push(shared.row(what, (value, 1.0), (Some(Does::Pings), "dropped messages"))?);
    }
    Ok(())
}

/// Of the throughput test: what the sender sent.
fn rates(line: &Line, shared: &Shared, draft: &mut Draft) -> Read<()> {
    if let Some(value) = line.after("Summary: Message Rate is ")? {
        let what = (Quantity::MessageRate, Statistic::Mean);
        draft.rows.push(shared.row(what, (value, 1.0), (Some(Does::Sends), "Message Rate"))?);
    }
    if line.text.contains("Summary: BandWidth is ")
        && let Some(value) = line.after("MBps (")?
    {
        let what = (Quantity::Throughput, Statistic::Mean);
        draft.rows.push(shared.row(
            what,
            (value, MBIT),
            (Some(Does::Sends), "BandWidth, Mbps of 2^20 bits"),
        )?);
    }
    Ok(())
}
