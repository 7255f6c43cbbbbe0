//! Whether a knob was granted as it was asked for.

use super::Granted;
use crate::unit::{BitRate, Bytes, Nanoseconds};
use crate::vocabulary::{Knob, KnobKind};

/// The kernel doubles what is asked of a buffer, for its own accounting (socket(7), SO_SNDBUF).
const DOUBLED: &[&str] = &["socket.send-buffer", "socket.receive-buffer"];
/// The kernel counts whole bytes a second (socket(7), SO_MAX_PACING_RATE).
const WHOLE_BYTE: f64 = 8.0;
/// What timestamps take from each segment (RFC 7323): the size that is read back is without them.
const TIMESTAMPS: u64 = 12;
const SEGMENT: &str = "tcp.mss";

impl Granted {
    /// Whether what was read back is what was asked for; yes where one of them is not known.
    pub fn is_as_asked(&self) -> bool {
        let (Some(asked), Some(got)) = (&self.asked, &self.granted) else { return true };
        let kind = Knob::named(&self.knob).map(|knob| knob.kind);
        match kind {
            Some(KnobKind::Bytes) => match (asked.parse::<Bytes>(), got.parse::<Bytes>()) {
                (Ok(asked), Ok(got)) => is_size_granted(&self.knob, asked.0, got.0),
                _ => asked == got,
            },
            Some(KnobKind::Duration) => match (asked.parse::<Nanoseconds>(), got.parse::<Nanoseconds>()) {
                (Ok(asked), Ok(got)) => asked == got,
                _ => asked == got,
            },
            Some(KnobKind::Rate) => match (asked.parse::<BitRate>(), got.parse::<BitRate>()) {
                (Ok(asked), Ok(got)) => (asked.0 - got.0).abs() < WHOLE_BYTE,
                _ => asked == got,
            },
            _ => asked == got,
        }
    }
}

fn is_size_granted(knob: &str, asked: u64, got: u64) -> bool {
    asked == got
        || (DOUBLED.contains(&knob) && got == asked.saturating_mul(2))
        || (knob == SEGMENT && got.saturating_add(TIMESTAMPS) == asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_buffer_counts_as_granted() {
        let cases = [
            ("socket.send-buffer", "256KiB", "524288", true),
            ("socket.send-buffer", "64MiB", "425984", false),
            ("socket.receive-buffer", "1", "2304", false),
            ("tcp.mss", "1460", "1448", true),
            ("tcp.mss", "1460", "536", false),
            ("tcp.congestion-control", "bbr", "cubic", false),
            ("tcp.no-delay", "on", "on", true),
            ("shim.spin", "5us", "5000ns", true),
            ("shim.read-rate", "100Mb/s", "100000000b/s", true),
            ("tcp.pacing-rate", "12.345kb/s", "12344b/s", true),
            ("tcp.pacing-rate", "12.345kb/s", "12336b/s", false),
            ("tcp.pacing-rate", "100Mb/s", "unlimited", false),
            ("of.tomorrow", "x", "x", true),
        ];
        for (knob, asked, got, is) in cases {
            let granted = Granted { knob: knob.into(), asked: Some(asked.into()), granted: Some(got.into()) };
            assert_eq!(granted.is_as_asked(), is, "{knob} {asked} {got}");
        }
        let unread = Granted { knob: "tcp.mss".into(), asked: Some("1".into()), granted: None };
        assert!(unread.is_as_asked());
    }
}
