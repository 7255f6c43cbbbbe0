//! A capture in words, and as JSON.

use super::size;
use crate::analysis::{CaptureAnalysis, analyse_capture};
use crate::plan::HostId;
use crate::record::{Capture, decode_packets};
use crate::unit::{BitRate, Nanoseconds, counted, percent};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON form.
const SCHEMA: &str = "linerate.capture-report/1";

/// A capture for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaptureReport<'c> {
    /// `linerate.capture-report/1`.
    pub schema: &'static str,
    /// What was captured.
    pub target: &'c str,
    /// The file of the packets.
    pub file: &'c str,
    /// Bytes of the stream, as its receiver counted them.
    pub bytes: u64,
    /// Those of them that came after the receiver's first call had returned, when its clock began.
    pub timed_bytes: u64,
    /// How long these took, by the receiver's clock.
    pub elapsed_ns: u64,
    /// These over that time.
    pub throughput_bps: Option<f64>,
    /// The knobs that were set.
    pub knobs: &'c [String],
    /// Who sent, and who received.
    pub sides: Vec<CaptureSide<'c>>,
    /// The numbers.
    pub analysis: CaptureAnalysis,
    /// What is doubtful.
    pub notes: Vec<String>,
}

/// One end of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaptureSide<'c> {
    /// The host.
    pub host: HostId,
    /// Its interface.
    pub interface: &'c str,
    /// The address and port of the connection there.
    pub address: &'c str,
    /// Packets that there was no room for.
    pub dropped: u64,
    /// Whether it ended at the limit of bytes that are kept.
    pub cut: bool,
    /// The counters of `struct tcp_info` that moved.
    pub tcp: &'c BTreeMap<String, u64>,
    /// Its values that are no counters, at the end.
    pub tcp_last: &'c BTreeMap<String, u64>,
}

impl CaptureReport<'_> {
    /// The report of a capture whose packets are in this file.
    pub fn new<'c>(capture: &'c Capture, file: &'c str) -> CaptureReport<'c> {
        let analysis = analyse_capture(capture);
        let side = |(host, side): (&crate::record::TraceHost, &'c crate::record::CapturedSide)| CaptureSide {
            host: host.host,
            interface: &side.interface,
            address: &side.address,
            dropped: side.dropped,
            cut: side.cut,
            tcp: &side.tcp,
            tcp_last: &side.tcp_last,
        };
        let notes = notes(capture, &analysis);
        CaptureReport {
            schema: SCHEMA,
            target: &capture.target,
            file,
            bytes: capture.bytes,
            timed_bytes: capture.timed_bytes,
            elapsed_ns: capture.elapsed_ns,
            throughput_bps: throughput_bps(capture),
            knobs: &capture.knobs,
            sides: capture.hosts.iter().zip(&capture.sides).map(side).collect(),
            analysis,
            notes,
        }
    }
}

/// As one line for programs.
pub fn capture_json(capture: &Capture, file: &str) -> serde_json::Result<String> {
    serde_json::to_string(&CaptureReport::new(capture, file))
}

/// What is printed.
pub fn capture_text(capture: &Capture, file: &str) -> String {
    let report = CaptureReport::new(capture, file);
    let mut text = String::new();
    text.extend(
        lines(capture, &report.analysis).into_iter().map(|(name, said)| format!("{name:<10}{said}\n")),
    );
    text += &format!("{:<10}{file}\n", "file");
    text.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
    text
}

/// What came in less time than it takes to tell times apart has no rate.
fn throughput_bps(capture: &Capture) -> Option<f64> {
    (capture.elapsed_ns > 0).then(|| 8e9 * capture.timed_bytes as f64 / capture.elapsed_ns as f64)
}

/// What is said of it.
pub(super) fn lines(capture: &Capture, of: &CaptureAnalysis) -> Vec<(&'static str, String)> {
    let host = |at: usize| capture.hosts.get(at).map_or(String::new(), |host| host.host.to_string());
    let rate = throughput_bps(capture).map_or("no rate".into(), |bps| BitRate(bps).rounded(3));
    let [from, to] = [host(0), host(1)];
    vec![
        ("stream", format!("{} from {from} to {to}, {rate} by the receiver", size(capture.bytes))),
        ("packets", format!("{} at {from}, {} at {to}; {}", of.packets[0], of.packets[1], dropped(capture))),
        ("flight", flight(of)),
        ("window", window(of)),
        ("rtt", round_trips(of)),
        ("again", again(of)),
        ("order", format!("{} late and sent once", counted(of.out_of_order, "packet"))),
    ]
}

fn dropped(capture: &Capture) -> String {
    let dropped: u64 = capture.sides.iter().map(|side| side.dropped).sum();
    match capture.sides.iter().any(|side| side.cut) {
        true => format!("the first ones alone, until --keep was full; {dropped} lost besides"),
        false => format!("{dropped} not kept for want of room"),
    }
}

fn flight(of: &CaptureAnalysis) -> String {
    let segments = |bytes: u64| match of.segment_bytes {
        Some(segment) => format!(" ({} of {segment} B)", counted(bytes / segment, "segment")),
        None => String::new(),
    };
    let covered = of.acknowledged.map_or(String::new(), |bytes| {
        format!("; an acknowledgement covers {} in the middle", size(bytes as u64))
    });
    let window = of.tcp_congestion_window.map_or(String::new(), |segments| {
        format!("; TCP's congestion window is {} at the end", counted(segments, "segment"))
    });
    format!(
        "at most {}{}, half of the time {} or less{covered}{window}",
        size(of.in_flight_most),
        segments(of.in_flight_most),
        size(of.in_flight_half)
    )
}

fn window(of: &CaptureAnalysis) -> String {
    let Some([least, most]) = of.advertised else { return "none was seen".into() };
    let aligned = of.advertised_aligned.map_or(String::new(), |[least, most]| {
        format!(", in whole segments {} to {}", size(least), size(most))
    });
    let full =
        of.window_full_share.map_or(String::new(), |share| format!("; full {} of the time", percent(share)));
    format!("advertised {} to {}{aligned}{full}", size(least), size(most))
}

fn round_trips(of: &CaptureAnalysis) -> String {
    let time = |ns: Option<f64>| ns.map_or("none".to_owned(), |ns| Nanoseconds(ns).rounded(3));
    let of_tcp = |ns: Option<u64>| time(ns.map(|ns| ns as f64));
    format!(
        "{} in the middle, {} at least, of {}; TCP says {} smoothed at the end, {} at least",
        time(of.round_trip_ns),
        time(of.least_round_trip_ns),
        counted(of.round_trips, "acknowledgement"),
        of_tcp(of.tcp_round_trip_ns),
        of_tcp(of.tcp_least_round_trip_ns)
    )
}

fn again(of: &CaptureAnalysis) -> String {
    format!(
        "{} sent again, {} of them by a timer; {} came in vain; TCP says {}",
        counted(of.again, "packet"),
        of.again_by_timer,
        of.in_vain,
        counted(of.tcp_again, "segment")
    )
}

fn notes(capture: &Capture, of: &CaptureAnalysis) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(capture.stalled.then(|| stalled(capture)));
    for (host, side) in capture.hosts.iter().zip(&capture.sides) {
        let host = host.host;
        if side.dropped > 0 {
            notes.push(format!(
                "host {host}: {} were not kept for want of room: what is counted is too little by them.",
                counted(side.dropped, "packet")
            ));
        }
        if side.cut {
            notes.push(format!(
                "host {host}: cut at the limit of bytes that are kept (--keep): the numbers are of what came before."
            ));
        }
    }
    if of.tcp_again > of.again && of.segment_bytes.is_some() {
        notes.push(
            "TCP counts segments, the file super-packets, which the kernel cuts later: one of them may be several segments.".into(),
        );
    }
    notes
}

/// What a path that drops large packets shows: what was sent, and what of it came.
fn stalled(capture: &Capture) -> String {
    let largest = |at: usize, outgoing: bool| {
        let packets = decode_packets(&capture.sides.get(at)?.packets)?;
        packets.iter().filter(|packet| packet.outgoing == outgoing).map(|packet| packet.length).max()
    };
    let told = |length: Option<u32>| length.map_or("none".into(), |length| format!("{length} B"));
    format!(
        "the stream stood still: {} came, and then nothing. The largest frame that was sent has {}, the largest that arrived {}; \
         what is sent may be cut into segments on its way out; `linerate diagnose` tells by which size packets vanish.",
        size(capture.bytes),
        told(largest(0, true)),
        told(largest(1, false))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CapturedSide, TraceHost};

    #[test]
    fn what_was_not_seen_is_not_made_up() {
        let capture = Capture { bytes: 4 << 20, ..Capture::default() };
        let text = capture_text(&capture, "x");
        for part in ["no rate", "none was seen", "none in the middle", "0 packets sent again"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn what_is_missing_is_noted() {
        let side = CapturedSide { dropped: 7, cut: true, ..CapturedSide::default() };
        let (hosts, sides) = (vec![TraceHost::default(); 2], vec![side, CapturedSide::default()]);
        let report = capture_text(&Capture { hosts, sides, ..Capture::default() }, "x");
        assert!(report.contains("7 packets were not kept") && report.contains("--keep"), "{report}");
    }
}
