//! pScheduler: the JSON of a result of its tests throughput, rtt and latency, alone or in the JSON of a run.

use super::json::{Document, Node, documents};
use super::row::{Shared, number, row};
use super::{Draft, Read, Run, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// Where a result is in the JSON of a run.
const WITHIN: [&str; 2] = ["result-merged", "result"];

/// What carries datagrams; so is called the key of a test that asks for them, in small letters.
const DATAGRAMS: &str = "UDP";

pub(super) fn recognises(text: &str) -> bool {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    has("succeeded")
        && ["throughput-bits", "roundtrips", "packets-sent", "histogram-latency", "diags"]
            .into_iter()
            .any(has)
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let mut documents = documents(run, &mut draft)?;
    let document = Document::new(documents.swap_remove(0));
    let root = document.root();
    let of_run = WITHIN.iter().find_map(|key| root.at(key).filter(|node| node.at("succeeded").is_some()));
    let result = of_run.as_ref().unwrap_or(&root);
    let error = result.text("error").or(root.text("errors")).filter(|error| !error.is_empty());
    let succeeded = result.flag("succeeded");
    about(&root, &mut draft);
    throughput(result, &root, &mut draft);
    round_trips(result, &mut draft);
    packets(result, &mut draft);
    if succeeded == Some(false) {
        let why = error.clone().map_or(String::new(), |error| format!(": {error}"));
        if draft.rows.is_empty() {
            return refuse(format!("the test of pScheduler did not succeed{why}"), "run the task again");
        }
        draft.doubt(format!("pScheduler says that the test did not succeed{why}"));
    }
    if root.at("test").is_none() {
        draft.doubt(
            "the file does not say the hosts, the tool or what carried the bytes: the JSON of the run does",
        );
    }
    document.unread(&mut draft);
    Ok(draft)
}

/// What the JSON of a run says beside its result.
fn about(root: &Node, draft: &mut Draft) {
    let Some(test) = root.at("test") else { return };
    let Some(spec) = test.at("spec") else { return };
    for (name, key) in [("source", "source"), ("destination", "dest"), ("duration", "duration")] {
        draft.fact(name, spec.text(key));
    }
    draft.fact("tool", root.at("tool").and_then(|tool| tool.text("name")));
}

/// The test throughput: its rates are bits a second, of the sender unless they are called the receiver's.
fn throughput(result: &Node, root: &Node, draft: &mut Draft) {
    let summary = result.at("summary").and_then(|summary| summary.at("summary"));
    let streams = result.at("summary").map_or(Vec::new(), |summary| summary.items("streams"));
    let is_datagrams = root.at("test").and_then(|test| test.at("spec")?.flag(&DATAGRAMS.to_lowercase()));
    let shared = Shared {
        test: "throughput".into(),
        transport: is_datagrams.map(|yes| if yes { DATAGRAMS } else { "TCP" }.to_lowercase()),
        pattern: Some(Pattern::Stream),
        flows: u32::try_from(streams.len()).ok().filter(|flows| *flows > 0),
        ..Shared::default()
    };
    if let Some(summary) = summary {
        let sent = summary.whole("sent");
        let fields = [
            ("throughput-bits", Quantity::Throughput, 1.0, Does::Sends),
            ("receiver-throughput-bits", Quantity::Throughput, 1.0, Does::Receives),
            ("retransmits", Quantity::Retransmits, 1.0, Does::Sends),
            ("lost", Quantity::Lost, 1.0, Does::Receives),
            ("jitter", Quantity::Jitter, 1e6, Does::Receives),
        ];
        for (field, quantity, scale, end) in fields {
            let Some(value) = summary.number(field) else { continue };
            let is_count = [Quantity::Retransmits, Quantity::Lost].contains(&quantity);
            let statistic = if is_count { Statistic::Total } else { Statistic::Mean };
            let place = format!("{}.{field}", summary.place());
            let row = shared.row((quantity, statistic), (value, scale), (Some(end), &place));
            let samples = sent.filter(|_| [Quantity::Lost, Quantity::Jitter].contains(&quantity));
            draft.add(row.map(|row| Imported { samples, ..row }));
        }
    }
    let each: Vec<f64> = streams.iter().filter_map(|stream| stream.number("throughput-bits")).collect();
    draft.rows.extend((each.len() > 1).then(|| {
        several("throughput, each stream", &shared, each, Vec::new(), "summary.streams[].throughput-bits")
    }));
    let (mut rates, mut at_s) = (Vec::new(), Vec::new());
    for part in result.items("intervals") {
        let Some(summary) = part.at("summary").filter(|part| part.flag("omitted") != Some(true)) else {
            continue;
        };
        let found = (summary.number("throughput-bits"), summary.number("start"), summary.number("end"));
        if let (Some(rate), Some(from), Some(to)) = found {
            rates.push(rate);
            at_s.push([from, to]);
        }
    }
    draft.rows.extend(
        (!rates.is_empty()).then(|| {
            several("throughput, parts", &shared, rates, at_s, "intervals[].summary.throughput-bits")
        }),
    );
}

fn several(test: &str, shared: &Shared, rates: Vec<f64>, at_s: Vec<[f64; 2]>, field: &str) -> Imported {
    Imported {
        transport: shared.transport.clone(),
        pattern: shared.pattern,
        flows: shared.flows,
        end: Some(Does::Sends),
        at_s,
        ..row(test, Quantity::Throughput, Statistic::Mean, rates, field)
    }
}

/// The test rtt: times as ISO 8601 has durations.
fn round_trips(result: &Node, draft: &mut Draft) {
    let trips = result.items("roundtrips");
    if trips.is_empty() {
        return;
    }
    // One that was lost has no length.
    let sizes: Vec<u64> = trips.iter().filter_map(|trip| trip.whole("length")).collect();
    let shared = Shared {
        test: "rtt".into(),
        pattern: Some(Pattern::PingPong),
        message_bytes: sizes.first().copied().filter(|_| sizes.windows(2).all(|pair| pair[0] == pair[1])),
        samples: result.whole("received"),
        ..Shared::default()
    };
    let statistics = [
        ("min", Statistic::Least),
        ("mean", Statistic::Mean),
        ("max", Statistic::Greatest),
        ("stddev", Statistic::Deviation),
    ];
    for (field, statistic) in statistics {
        let Some(text) = result.text(field) else { continue };
        if let Some(seconds) = draft.keep(duration(&text, field)) {
            draft.add(shared.row(
                (Quantity::RoundTrip, statistic),
                (seconds, 1e9),
                (Some(Does::Pings), field),
            ));
        }
    }
    let shared = Shared { samples: result.whole("sent"), ..shared };
    if let Some(lost) = result.number("lost") {
        draft.add(shared.row((Quantity::Lost, Statistic::Total), (lost, 1.0), (Some(Does::Pings), "lost")));
    }
    if let Some(loss) = result.number("loss") {
        draft.add(shared.row(
            (Quantity::LostShare, Statistic::Mean),
            (loss, 1.0),
            (Some(Does::Pings), "loss"),
        ));
    }
}

/// The test latency: what became of its packets. Its delays are of one way and in classes whose width is not there.
fn packets(result: &Node, draft: &mut Draft) {
    let Some(sent) = result.whole("packets-sent") else { return };
    let shared = Shared { test: "latency".into(), samples: Some(sent), ..Shared::default() };
    if let Some(lost) = result.number("packets-lost") {
        let what = (Quantity::Lost, Statistic::Total);
        draft.add(shared.row(what, (lost, 1.0), (Some(Does::Receives), "packets-lost")));
    }
    if result.at("histogram-latency").is_some() {
        draft.doubt("the delays of one way are not read: the width of their classes is not in the result");
    }
}

/// `PT0.000123S`, in seconds.
fn duration(text: &str, place: &str) -> Read<f64> {
    let refused = || refuse(format!("{place} is `{}`, which is no duration", super::short(text)), "");
    let Some(rest) = text.strip_prefix("PT") else { return refused() };
    let (mut seconds, mut from) = (0.0, 0);
    for (at, unit) in rest.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()) {
        let scale = match unit {
            'H' => 3600.0,
            'M' => 60.0,
            'S' => 1.0,
            _ => return refused(),
        };
        seconds += number(&rest[from..at], place)? * scale;
        from = at + 1;
    }
    if from == rest.len() && from > 0 { Ok(seconds) } else { refused() }
}
