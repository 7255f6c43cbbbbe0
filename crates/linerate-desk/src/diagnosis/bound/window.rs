//! Windows and buffers, from `tcp_info` (include/uapi/linux/tcp.h).

use super::{Inputs, Limit, MOSTLY, NEAR};
use crate::analysis::model::window_bps;
use crate::record::SocketRecord;
use crate::statistic::{Estimate, median};
use crate::unit::{Bytes, Nanoseconds, significant};

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// The share of the senders' busy time that a counter holds; the busy time holds them all.
fn share(inputs: &Inputs, counter: &str) -> Option<f64> {
    let sum = |name: &str| -> f64 {
        inputs.senders.iter().map(|socket| socket.until_acknowledged(name) as f64).sum()
    };
    let share = sum(counter) / sum("busy_time");
    share.is_finite().then_some(share)
}

fn last(socket: &SocketRecord, name: &str) -> Option<f64> {
    socket.last.get(name).map(|value| *value as f64)
}

/// The median over connections of what each had at the end.
fn middle(inputs: &Inputs, name: &str) -> Option<f64> {
    median(inputs.senders.iter().filter_map(|socket| last(socket, name)))
}

/// One window a round trip in each flow; none where the rate is far above it, which shows that the last
/// values were not those of the stream.
fn per_round_trip(inputs: &Inputs, window: fn(&SocketRecord) -> Option<f64>) -> Option<Estimate> {
    let flows = f64::from(inputs.layer.flows) * if inputs.layer.both_ways { 2.0 } else { 1.0 };
    let rate = |socket: &&SocketRecord| Some(flows * window_bps(window(socket)?, 1e3 * last(socket, "rtt")?));
    let estimate = Estimate::from_values(inputs.senders.iter().filter_map(rate))?;
    (inputs.measured <= estimate.median * (1.0 + NEAR)).then_some(estimate)
}

fn waited(what: &str, share: f64) -> String {
    format!("the sender waited for {what} {} % of its busy time", significant(100.0 * share, 2))
}

pub(super) fn send_buffer(inputs: &Inputs) -> Option<Limit> {
    let share = share(inputs, "sndbuf_limited").filter(|share| *share > 0.0)?;
    let evidence = waited("room in its send buffer", share);
    let limit = Limit::exact(inputs.measured / share.min(1.0), evidence);
    Some(Limit { explains: Some(share >= MOSTLY), ..limit })
}

/// The window a round trip where that holds; otherwise from the share of the time that it was waited for.
pub(super) fn receive_window(inputs: &Inputs) -> Option<Limit> {
    let share = share(inputs, "rwnd_limited").unwrap_or(0.0);
    let limit = match per_round_trip(inputs, |socket| last(socket, "snd_wnd")) {
        Some(estimate) => Limit::new(estimate, window_told(inputs, share)?),
        None if share > 0.0 => {
            Limit::exact(inputs.measured / share.min(1.0), waited("the receiver's window", share))
        }
        None => return None,
    };
    Some(Limit { explains: Some(share >= MOSTLY), ..limit })
}

fn window_told(inputs: &Inputs, share: f64) -> Option<String> {
    if share > 0.0 {
        return Some(waited("the receiver's window", share));
    }
    let (window, rtt_us) = (middle(inputs, "snd_wnd")?, middle(inputs, "rtt")?);
    let round_trip = Nanoseconds(rtt_us * 1e3).rounded(2);
    let step = if window < 8.0 * MIB { KIB } else { MIB };
    let window = Bytes(((window / step).round() * step) as u64);
    Some(format!("a receive window of {window} a round trip of {round_trip}, never waited for"))
}

/// Window over round trip, where that is what the connections had at the end.
pub(super) fn congestion_window(inputs: &Inputs) -> Option<Limit> {
    let estimate =
        per_round_trip(inputs, |socket| Some(last(socket, "snd_cwnd")? * last(socket, "snd_mss")?))?;
    let evidence = format!(
        "{} segments of {} B a round trip of {}",
        significant(middle(inputs, "snd_cwnd")?, 2),
        middle(inputs, "snd_mss")?,
        Nanoseconds(middle(inputs, "rtt")? * 1e3).rounded(2),
    );
    Some(Limit::new(estimate, evidence))
}
