//! What is put in, and what must come out: each row with its tolerance, and why it is what it is.

use super::measure::{Pair, between, between_set, quantile};
use linerate::statistic::Estimate;

/// The packet of the wire at MTU 1500: Ethernet header and packet; and its payload by TCP with timestamps
/// over IPv4. The wire counts what the kernel's tbf(8) and netem(8) count: no preamble, check and gap.
const FRAME: f64 = 1514.0;
const TCP_PAYLOAD: f64 = 1448.0;

/// The payload of a datagram whose frame is 1250 B: 100 us at 100 Mb/s.
const HOP_BYTES: u64 = 1208;

/// One comparison of what was measured with what is true.
pub struct Row {
    /// What it is.
    pub name: String,
    /// What is true, in bits a second, nanoseconds or a share.
    pub truth: f64,
    /// What was measured: one value a repetition.
    pub measured: Vec<f64>,
    /// How far the median may be from the truth.
    pub tolerance: f64,
    /// Whether only more than the truth is wrong.
    pub is_bound: bool,
}

impl Row {
    fn new(name: impl Into<String>, truth: f64, measured: Vec<f64>, tolerance: f64) -> Row {
        Row { name: name.into(), truth, measured, tolerance, is_bound: false }
    }

    /// The median with its interval.
    pub fn estimate(&self) -> Estimate {
        Estimate::from_values(self.measured.iter().copied()).unwrap()
    }

    /// Whether the median is where it must be.
    pub fn is_ok(&self) -> bool {
        let error = self.estimate().median - self.truth;
        error <= self.tolerance && (self.is_bound || -error <= self.tolerance)
    }

    /// One line of it.
    pub fn text(&self) -> String {
        let Estimate { median, low, high, n } = self.estimate();
        format!(
            "{:34} true {:.6e} measured {median:.6e} [{:.6e}, {:.6e}] n {n} ratio {:.5} {}",
            self.name,
            self.truth,
            low.unwrap_or(f64::NAN),
            high.unwrap_or(f64::NAN),
            median / self.truth,
            if self.is_ok() { "ok" } else { "WRONG" }
        )
    }
}

/// The payload that TCP can have of a rate.
fn goodput(rate_bps: f64) -> f64 {
    rate_bps * TCP_PAYLOAD / FRAME
}

/// How a flow warms up (RFC 6349, section 3.3): longer where the window has far to grow.
const WARM_UP: f64 = 0.5;
const LONG_WARM_UP: f64 = 2.5;

/// A saturated stream has the rate: within 1 %.
pub fn rate(rate_bps: f64, keys: &str, times: usize) -> Row {
    let truth = goodput(rate_bps);
    let warm_up = if keys.contains("delay") { LONG_WARM_UP } else { WARM_UP };
    let measured = between(&format!("lab:rate={rate_bps}b/s{keys}"), |pair| {
        (0..times).map(|_| pair.stream(truth, warm_up, 2.0).bps).collect()
    });
    Row::new(format!("stream at {} Mb/s{keys}", rate_bps / 1e6), truth, measured, 0.01 * truth)
}

/// A window that is held small gives one window a round trip, within 10 %; and the sender says why.
pub fn window() -> Vec<Row> {
    let settings = ["network.tcp:socket.receive-buffer=64KiB"];
    let round_trip_ns = 20e6;
    let stream = between_set("lab:rate=100Mb/s,delay=10ms", &settings, |pair| pair.stream(2e7, WARM_UP, 2.0));
    let window_bps = 8e9 * stream.sender.last["snd_wnd"] as f64 / round_trip_ns;
    let moved = |name: &str| stream.sender.moved.get(name).copied().unwrap_or(0) as f64;
    let limited = moved("rwnd_limited") / moved("busy_time");
    vec![
        Row::new("a window a round trip", window_bps, vec![stream.bps], 0.1 * window_bps),
        // The kernel counts in ticks of some milliseconds.
        Row::new("limited by the receiver's window", 0.9, vec![limited], 0.1),
    ]
}

/// Losses that know nothing of each other hold CUBIC to Mathis' law, where it is as slow as Reno: within a
/// factor of 0.6 to 2 (Computer Communication Review 27(3), 1997; RFC 9438, section 4.3).
pub fn mathis(seconds: f64) -> Row {
    let (loss, round_trip_s): (f64, f64) = (0.001, 0.020);
    let truth = 8.0 * TCP_PAYLOAD / round_trip_s * 1.5_f64.sqrt() / loss.sqrt();
    let measured = between("lab:rate=100Mb/s,delay=10ms,loss=0.1%", |pair| {
        vec![pair.stream(truth, LONG_WARM_UP, seconds).bps.log2()]
    });
    Row::new("log2 of the rate at 0.1 % loss", truth.log2() + 0.13, measured, 0.87)
}

/// What an adapter holds is added to half of the round trip of the same wire that holds nothing: within 10 % or 10 us.
pub fn coalescing(delays_us: &[f64], which: Which, times: usize) -> Vec<Row> {
    let values = |target: &str| -> Vec<f64> {
        between(target, |pair| (0..times).map(|_| which.of(pair, "network.tcp", 64, 200) / 2.0).collect())
    };
    let base = Estimate::from_values(values("lab:wire=user")).unwrap().median;
    let row = |delay_us: &f64| {
        let truth = 1e3 * delay_us;
        let measured = values(&format!("lab:coalesce={delay_us}us"));
        let added = measured.into_iter().map(|ns| ns - base).collect();
        Row::new(format!("half round trip of {delay_us} us held"), truth, added, 10e3_f64.max(0.1 * truth))
    };
    delays_us.iter().map(row).collect()
}

/// A single message of 64 KiB cannot be quicker than its bits.
pub fn ping_pong_bound(rate_bps: f64, times: usize) -> Row {
    let bytes = 64 << 10;
    let measured = between(&format!("lab:rate={rate_bps}b/s"), |pair| {
        let bps = |ns: f64| 8e9 * bytes as f64 / (ns / 2.0);
        (0..times).map(|_| bps(pair.round_trips_ns("network.tcp", bytes, 10)[0])).collect()
    });
    let name = format!("fastest ping-pong at {} Mb/s", rate_bps / 1e6);
    Row { is_bound: true, ..Row::new(name, goodput(rate_bps), measured, 0.0) }
}

/// Which of a pair's round trips is looked at. The bench takes their median. A test takes the quickest: on a
/// machine with other work every wake-up of an end is late now and then, and none is ever early.
#[derive(Clone, Copy)]
pub enum Which {
    /// Half of them are quicker.
    Median,
    /// None is.
    Quickest,
}

impl Which {
    fn of(self, pair: &mut Pair, rung: &str, bytes: u64, count: u32) -> f64 {
        let sorted = pair.round_trips_ns(rung, bytes, count);
        match self {
            Which::Median => quantile(&sorted, 0.5),
            Which::Quickest => sorted[0],
        }
    }
}

/// A delay is added to the round trip of the same wire without it, once each way: within 1 % or 25 us.
pub fn added_round_trips(delays_ms: &[f64], which: Which, times: usize) -> Vec<Row> {
    let values = |target: &str, count: u32| -> Vec<f64> {
        between(target, |pair| (0..times).map(|_| which.of(pair, "network.tcp", 64, count)).collect())
    };
    let base = Estimate::from_values(values("lab:wire=user", 100)).unwrap().median;
    let row = |delay_ms: &f64| {
        let truth = 2e6 * delay_ms;
        let count = (1000.0 / delay_ms).clamp(9.0, 99.0) as u32;
        let measured = values(&format!("lab:delay={delay_ms}ms"), count);
        let added = measured.into_iter().map(|ns| ns - base).collect();
        Row::new(format!("round trip of {} ms", 2.0 * delay_ms), truth, added, 25e3_f64.max(0.01 * truth))
    };
    delays_ms.iter().map(row).collect()
}

/// Switches on the way, and what each adds: one that stores a frame its serialisation, one that cuts through
/// that of 64 B.
pub const HOPS: &[(&str, f64, f64)] = &[
    (",hops=1", 1.0, 100e3),
    (",hops=3", 3.0, 100e3),
    (",hops=8", 8.0, 100e3),
    (",hops=8,switch=cut-through", 8.0, 5.12e3),
];

/// Each of them adds that to the round trip, both ways: within 10 %.
pub fn hops(cases: &[(&str, f64, f64)], which: Which, times: usize) -> Vec<Row> {
    let values = |keys: &str| -> Vec<f64> {
        between(&format!("lab:rate=100Mb/s{keys}"), |pair| {
            (0..times).map(|_| which.of(pair, "network.udp", HOP_BYTES, 60)).collect()
        })
    };
    let base = Estimate::from_values(values("")).unwrap().median;
    let row = |(keys, hops, hop_ns): &(&str, f64, f64)| {
        let truth = 2.0 * hops * hop_ns;
        let added = values(keys).into_iter().map(|ns| ns - base).collect();
        Row::new(format!("round trip over{}", keys.replace(',', " ")), truth, added, 0.1 * truth)
    };
    cases.iter().map(row).collect()
}

/// As many datagrams are lost as asked: within so many standard errors, of so many that one is at most 5 % of
/// the share. Three are exceeded by chance in one of 370 measurements, four in one of 16 000. A second row: the
/// wire counts what the receiver misses, to the packet.
pub fn loss(share: f64, most: u64, errors: f64) -> Vec<Row> {
    let wanted = ((1.0 - share) / (share * 0.05 * 0.05)).ceil() as u64;
    let (sent, lost, said) = between(&format!("lab:loss={}%", 100.0 * share), |pair| {
        let (mut sent, mut lost, mut said) = (0, 0, 0);
        while sent < wanted.min(most) {
            let (more, missed, wire) = pair.datagrams(100, 1000);
            (sent, lost) = (sent + more, lost + missed);
            said += datagrams_lost(&wire);
        }
        (sent as f64, lost as f64, said as f64)
    });
    let error = (share * (1.0 - share) / sent).sqrt();
    let name = format!("loss of {} %", 100.0 * share);
    vec![
        Row::new(&name, share, vec![lost / sent], errors * error),
        // What the ends say to each other about the block crosses the same wire.
        Row::new(format!("{name}, by the wire's account"), lost / sent, vec![said / sent], 0.15 * share),
    ]
}

fn datagrams_lost(wire: &linerate::record::WireAudit) -> u64 {
    wire.links.iter().filter(|link| link.link == "a-b").map(|link| link.lost).sum()
}

/// A round trip's two jitters are each spread evenly, so their sum is a triangle: its quantiles, within 5 %
/// of the whole width.
pub fn jitter(times: u32) -> Vec<Row> {
    let (delay_ns, jitter_ns) = (3e6, 1e6);
    let base = between("lab:wire=user", |pair| Which::Median.of(pair, "network.tcp", 64, 100));
    let round_trips =
        between("lab:delay=3ms,jitter=1ms", |pair| pair.round_trips_ns("network.tcp", 64, times));
    let row = |share: f64| {
        let half = 2.0 * jitter_ns;
        let offset = match share {
            _ if share <= 0.5 => half * ((2.0 * share).sqrt() - 1.0),
            _ => half * (1.0 - (2.0 * (1.0 - share)).sqrt()),
        };
        let measured = vec![quantile(&round_trips, share) - base];
        Row::new(format!("jitter, quantile {share}"), 2.0 * delay_ns + offset, measured, 0.1 * half)
    };
    [0.1, 0.25, 0.5, 0.75, 0.9].into_iter().map(row).collect()
}
