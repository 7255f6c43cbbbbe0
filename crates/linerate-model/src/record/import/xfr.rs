//! xfr: the JSON of one run.

use super::json::{Document, Node, documents};
use super::row::{Shared, row};
use super::{Draft, Read, Run};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// With `--json --no-tui` xfr prints a line a second to the same output, each behind its time in brackets, rounded for
/// reading: those are beside the JSON.
pub(super) fn recognises(text: &str) -> bool {
    ["\"throughput_mbps\"", "\"bytes_total\"", "\"duration_ms\""].iter().all(|key| text.contains(key))
}

/// What tells of one direction of a test in both: the field, and which one.
const WAYS: [(&str, &str); 2] = [("throughput_send_mbps", "sent"), ("throughput_recv_mbps", "received")];

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let mut documents = documents(run, &mut draft)?;
    let document = Document::new(documents.swap_remove(0));
    let root = document.root();
    draft.fact("id", root.text("id"));
    draft.fact("duration, ms", root.number("duration_ms").map(|number| number.to_string()));
    let streams = root.items("streams");
    // The statistics that it has are named after what carried the bytes.
    let named = ["tcp_info", "udp_stats"].into_iter().find(|key| root.at(key).is_some());
    let both = root.at("throughput_send_mbps").is_some() || root.at("throughput_recv_mbps").is_some();
    let shared = Shared {
        test: "stream".into(),
        transport: named.and_then(|key| key.split('_').next()).map(String::from),
        pattern: Some(if both { Pattern::Bidirectional } else { Pattern::Stream }),
        message_bytes: root.at("udp_stats").and_then(|stats| stats.whole("packet_size")),
        flows: u32::try_from(streams.len()).ok().filter(|flows| *flows > 0),
        ..Shared::default()
    };
    if let Some(value) = root.number("throughput_mbps") {
        let test = if both { "stream, both ways together" } else { "stream" };
        let shared = Shared { test: test.into(), ..shared.clone() };
        let what = (Quantity::Throughput, Statistic::Mean);
        draft.add(shared.row(what, (value, 1e6), (None, "throughput_mbps")));
    }
    for (field, way) in WAYS {
        if let Some(value) = root.number(field) {
            let shared = Shared { test: format!("stream, {way}"), ..shared.clone() };
            let what = (Quantity::Throughput, Statistic::Mean);
            draft.add(shared.row(what, (value, 1e6), (None, field)));
        }
    }
    draft.rows.extend(of_streams(&streams, &shared));
    of_statistics(&root, &shared, &mut draft);
    draft.doubt("the file does not say the size of a message, the hosts, which way the bytes went, or when it was measured");
    document.unread(&mut draft);
    Ok(draft)
}

/// What each of several streams had.
fn of_streams(streams: &[Node], shared: &Shared) -> Vec<Imported> {
    let (mut rates, mut again) = (Vec::new(), Vec::new());
    for stream in streams {
        rates.extend(stream.number("throughput_mbps").map(|rate| rate * 1e6));
        again.extend(stream.number("retransmits"));
    }
    let of = |quantity, statistic, values: Vec<f64>, end, field: &str| Imported {
        transport: shared.transport.clone(),
        pattern: shared.pattern,
        flows: shared.flows,
        end,
        ..row("stream, each", quantity, statistic, values, field)
    };
    let mut rows = Vec::new();
    if rates.len() > 1 {
        rows.push(of(Quantity::Throughput, Statistic::Mean, rates, None, "streams[].throughput_mbps"));
    }
    if !again.is_empty() {
        rows.push(of(
            Quantity::Retransmits,
            Statistic::Total,
            again,
            Some(Does::Sends),
            "streams[].retransmits",
        ));
    }
    rows
}

/// What the kernel says of the connection, or the receiver of datagrams.
fn of_statistics(root: &Node, shared: &Shared, draft: &mut Draft) {
    if let Some(info) = root.at("tcp_info") {
        let shared = Shared { test: "the kernel's estimate at the end".into(), ..shared.clone() };
        if let Some(value) = info.number("rtt_us") {
            let what = (Quantity::RoundTrip, Statistic::Mean);
            draft.add(shared.row(what, (value, 1e3), (None, "tcp_info.rtt_us")));
        }
        if let Some(value) = info.number("retransmits") {
            let what = (Quantity::Retransmits, Statistic::Total);
            draft.add(shared.row(what, (value, 1.0), (Some(Does::Sends), "tcp_info.retransmits")));
        }
    }
    if let Some(stats) = root.at("udp_stats") {
        let packets = stats.whole("packets_sent");
        let fields = [
            ("jitter_ms", (Quantity::Jitter, Statistic::Mean), 1e6),
            ("lost", (Quantity::Lost, Statistic::Total), 1.0),
            ("lost_percent", (Quantity::LostShare, Statistic::Mean), 0.01),
        ];
        for (field, what, scale) in fields {
            let Some(value) = stats.number(field) else { continue };
            let row = shared.row(what, (value, scale), (Some(Does::Receives), &format!("udp_stats.{field}")));
            draft.add(row.map(|row| Imported { samples: packets, ..row }));
        }
    }
}
