//! What a curve of throughput looks like: dips, a fall-off, plateaus.

use super::Curve;
use crate::statistic::{Estimate, median};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a curve that has a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Form {
    /// `dip`, `fall-off` or `plateau`.
    pub name: String,
    /// Its smallest size.
    pub from_bytes: u64,
    /// Its largest size.
    pub to_bytes: u64,
    /// The throughput: the lowest of a dip, the median of a fall-off or plateau.
    pub throughput_bps: f64,
    /// How far that is below the peak, as a share of the peak; 0 for a plateau.
    pub below_peak: f64,
}

/// A dip is over when this share of the peak before it is reached again, within so many octaves.
const DIP: (f64, f64) = (0.97, 4.0);
/// A tail below this share of the peak has fallen off.
const FALL_OFF: f64 = 0.95;
/// The tail: sizes from this share of the largest one on, two octaves.
const TAIL: u64 = 4;
/// A plateau changes by less than this share an octave, over so many octaves.
const PLATEAU: (f64, f64) = (0.02, 3.0);

type Rates = [(u64, Estimate)];

/// Every form of a curve.
pub(super) fn forms(curve: &Curve) -> Vec<Form> {
    let rate = |point: &super::Point| Some((point.message_bytes, point.estimate(|v| v.throughput_bps)?));
    let rates: Vec<(u64, Estimate)> = curve.points.iter().filter_map(rate).collect();
    dips(&rates).into_iter().chain(fall_off(curve, &rates)).chain(plateaus(&rates)).collect()
}

fn octaves(from: u64, to: u64) -> f64 {
    (to.max(1) as f64 / from.max(1) as f64).log2()
}

fn dips(rates: &Rates) -> Vec<Form> {
    let mut found = Vec::new();
    let mut index = 0;
    while let Some((size, peak)) = rates.get(index) {
        let (least, octaves_at_most) = DIP;
        let is_below = |rate: &Estimate| {
            rate.median < least * peak.median && rate.high.zip(peak.low).is_some_and(|(high, low)| high < low)
        };
        let rest = &rates[index + 1..];
        let lower = rest.iter().take_while(|(_, rate)| is_below(rate)).count();
        let back = rest.get(lower).filter(|(back, rate)| {
            rate.median >= least * peak.median && octaves(*size, *back) <= octaves_at_most
        });
        if let (Some(_), [(from_bytes, _), ..]) = (back, &rest[..lower]) {
            let lowest = rest[..lower].iter().map(|(_, rate)| rate.median).fold(f64::INFINITY, f64::min);
            found.push(Form {
                name: "dip".into(),
                from_bytes: *from_bytes,
                to_bytes: rest[lower - 1].0,
                throughput_bps: lowest,
                below_peak: 1.0 - lowest / peak.median,
            });
            index += lower;
        }
        index += 1;
    }
    found
}

/// The tail against the peak, paired within passes.
fn fall_off(curve: &Curve, rates: &Rates) -> Option<Form> {
    let (peak_bytes, _) = rates.iter().max_by(|a, b| a.1.median.total_cmp(&b.1.median))?;
    let (last, _) = rates.last()?;
    let is_tail = |bytes: u64| bytes >= last / TAIL;
    let share = |pass: u32| {
        let rate = |point: &super::Point| point.passes.get(&pass)?.throughput_bps;
        let tail = curve.points.iter().filter(|point| is_tail(point.message_bytes)).filter_map(rate);
        Some(median(tail)? / rate(curve.at(*peak_bytes)?)?)
    };
    let share = Estimate::from_values(curve.passes().into_iter().filter_map(share))?;
    let fell = !is_tail(*peak_bytes) && share.high.is_some_and(|high| high < FALL_OFF);
    let tail = rates.iter().filter(|(bytes, _)| is_tail(*bytes));
    fell.then_some(())?;
    Some(Form {
        name: "fall-off".into(),
        from_bytes: tail.clone().next()?.0,
        to_bytes: *last,
        throughput_bps: median(tail.map(|(_, rate)| rate.median))?,
        below_peak: 1.0 - share.median,
    })
}

fn plateaus(rates: &Rates) -> Vec<Form> {
    let mut found = Vec::new();
    let mut first = 0;
    while first < rates.len() {
        let end = plateau_end(&rates[first..]) + first;
        let (from_bytes, to_bytes) = (rates[first].0, rates[end].0);
        if octaves(from_bytes, to_bytes) < PLATEAU.1 {
            first += 1;
            continue;
        }
        let throughput = median(rates[first..=end].iter().map(|(_, rate)| rate.median));
        found.extend(throughput.map(|throughput_bps| Form {
            name: "plateau".into(),
            from_bytes,
            to_bytes,
            throughput_bps,
            below_peak: 0.0,
        }));
        first = end + 1;
    }
    found
}

/// The last index up to which the rates change by no more than a plateau's may.
fn plateau_end(rates: &Rates) -> usize {
    let (mut low, mut high, mut end) = (f64::INFINITY, 0.0f64, 0);
    let from = rates.first().map_or(1, |(size, _)| *size);
    for (index, (size, rate)) in rates.iter().enumerate() {
        (low, high) = (low.min(rate.median), high.max(rate.median));
        // Below an octave a change is mostly noise.
        if high / low - 1.0 > PLATEAU.0 * octaves(from, *size).max(1.0) {
            break;
        }
        end = index;
    }
    end
}
