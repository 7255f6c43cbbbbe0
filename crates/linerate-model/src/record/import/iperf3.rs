//! iperf3: the JSON of one run, of its client or its server.

use super::node::{Document, Node};
use super::row::{Shared, row};
use super::{Draft, Read, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// The sums at the end, whose they are where the file does not say, and whether they are of the way back.
const SUMS: [(&str, Option<Does>, bool); 5] = [
    ("sum_sent", Some(Does::Sends), false),
    ("sum_received", Some(Does::Receives), false),
    ("sum_sent_bidir_reverse", Some(Does::Sends), true),
    ("sum_received_bidir_reverse", Some(Does::Receives), true),
    // Of datagrams; in early versions the only one.
    ("sum", None, false),
];

pub(super) fn recognises(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"start\"") && text.contains("\"end\"") && {
        text.contains("\"bits_per_second\"") || text.contains("\"iperf ")
    }
}

pub(super) fn read(text: &str) -> Read<Draft> {
    let document = Document::read(text)?;
    let root = document.root();
    let mut draft = Draft::default();
    let error = root.text("error");
    let shared = told(&root, &mut draft)?;
    if let Some(end) = root.at("end") {
        // Of datagrams some versions say it twice: the sum is the sender's bytes with the receiver's losses.
        let is_told = end.at("sum_received").is_some();
        for sum in SUMS.into_iter().filter(|(key, ..)| !(is_told && *key == "sum")) {
            draft.rows.extend(of_sum(&end, sum, &shared)?);
        }
        draft.rows.extend(cpu(&root, &end, &shared)?);
    }
    draft.rows.extend(slices(&root, &shared, "sum", false)?);
    draft.rows.extend(slices(&root, &shared, "sum_bidir_reverse", true)?);
    match error {
        Some(error) if draft.rows.is_empty() => {
            return refuse(
                format!("iperf3 measured nothing: {error}"),
                "run it again, and see that both ends answer",
            );
        }
        Some(error) => draft.doubt(format!("iperf3 ended with an error: {error}")),
        None => (),
    }
    document.unread(&mut draft);
    Ok(draft)
}

/// What is said of the test, for all rows.
fn told(root: &Node, draft: &mut Draft) -> Read<Shared> {
    let Some(start) = root.at("start") else { return Ok(Shared::default()) };
    draft.version = start.text("version").map(|version| version.trim_start_matches("iperf ").to_owned());
    draft.fact("system", start.text("system_info"));
    if let Some(seconds) = start.at("timestamp").map(|at| at.whole("timesecs")).transpose()?.flatten() {
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
    let Some(test) = start.at("test_start") else { return Ok(Shared::default()) };
    let protocol = test.text("protocol");
    for (name, key) in [("duration, s", "duration"), ("left out first, s", "omit")] {
        draft.fact(name, test.number(key)?.map(|number| number.to_string()));
    }
    draft.fact("reverse", test.flag("reverse").map(|flag| flag.to_string()));
    let both = test.flag("bidir").unwrap_or(false);
    Ok(Shared {
        test: protocol.clone().unwrap_or_else(|| "stream".into()),
        transport: protocol.map(|protocol| protocol.to_lowercase()),
        pattern: Some(if both { Pattern::Bidirectional } else { Pattern::Stream }),
        message_bytes: test.whole("blksize")?,
        flows: test.whole("num_streams")?.and_then(|flows| u32::try_from(flows).ok()),
        ..Shared::default()
    })
}

/// The numbers of one sum at the end.
fn of_sum(
    end: &Node,
    (key, usual, back): (&str, Option<Does>, bool),
    shared: &Shared,
) -> Read<Vec<Imported>> {
    let Some(sum) = end.at(key) else { return Ok(Vec::new()) };
    let whose = usual.or(sum.flag("sender").map(whose));
    let shared = named(shared, back);
    let place = |field: &str| format!("{}.{field}", sum.place());
    let mut rows = Vec::new();
    let mut add = |field: &str, what, scale: f64, end, samples: Option<u64>| -> Read<()> {
        if let Some(value) = sum.number(field)? {
            let row = shared.row(what, (value, scale), (end, &place(field)))?;
            rows.push(Imported { samples: samples.or(row.samples), ..row });
        }
        Ok(())
    };
    let packets = sum.whole("packets")?;
    let receives = Some(Does::Receives);
    add("bits_per_second", (Quantity::Throughput, Statistic::Mean), 1.0, whose, None)?;
    add("retransmits", (Quantity::Retransmits, Statistic::Total), 1.0, Some(Does::Sends), None)?;
    // A receiver's own figures stand in the sender's sum too, where they are 0.
    if packets.is_some() && whose != Some(Does::Sends) || key == "sum" {
        add("jitter_ms", (Quantity::Jitter, Statistic::Mean), 1e6, receives, packets)?;
        add("lost_packets", (Quantity::Lost, Statistic::Total), 1.0, receives, packets)?;
        add("lost_percent", (Quantity::LostShare, Statistic::Mean), 0.01, receives, packets)?;
    }
    Ok(rows)
}

fn whose(sender: bool) -> Does {
    if sender { Does::Sends } else { Does::Receives }
}

fn named(shared: &Shared, back: bool) -> Shared {
    let test = if back { format!("{}, back", shared.test) } else { shared.test.clone() };
    Shared { test, ..shared.clone() }
}

/// CPU time of both processes: `host` is the one that wrote the file.
fn cpu(root: &Node, end: &Node, shared: &Shared) -> Read<Vec<Imported>> {
    let Some(cpu) = end.at("cpu_utilization_percent") else { return Ok(Vec::new()) };
    let start = root.at("start");
    let is_server = start.as_ref().is_some_and(|start| start.at("accepted_connection").is_some());
    let test = start.as_ref().and_then(|start| start.at("test_start"));
    let reverse = test.as_ref().and_then(|test| test.flag("reverse"));
    let both = test.as_ref().and_then(|test| test.flag("bidir")).unwrap_or(false);
    let mut rows = Vec::new();
    for (field, is_remote) in [("host_total", false), ("remote_total", true)] {
        let Some(value) = cpu.number(field)? else { continue };
        // The client sends unless it was told the reverse.
        let end = reverse.filter(|_| !both).map(|reverse| whose((is_server == is_remote) != reverse));
        let place = format!("{}.{field}", cpu.place());
        rows.push(shared.row((Quantity::CpuShare, Statistic::Mean), (value, 0.01), (end, &place))?);
    }
    Ok(rows)
}

/// The rates of the parts of the test; what was left out at its beginning is no part.
fn slices(root: &Node, shared: &Shared, key: &str, back: bool) -> Read<Vec<Imported>> {
    let (mut rates, mut again, mut at_s) = (Vec::new(), Vec::new(), Vec::new());
    let mut end = None;
    for slice in root.items("intervals") {
        let Some(sum) = slice.at(key) else { continue };
        let rate = sum.number("bits_per_second")?;
        let retransmits = sum.number("retransmits")?;
        let [from, to] = [sum.number("start")?, sum.number("end")?];
        end = end.or(sum.flag("sender").map(whose));
        let (Some(rate), Some(from), Some(to)) = (rate, from, to) else { continue };
        if sum.flag("omitted") == Some(true) {
            continue;
        }
        rates.push(rate);
        again.extend(retransmits);
        at_s.push([from, to]);
    }
    let shared = named(shared, back);
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
    Ok(rows)
}
