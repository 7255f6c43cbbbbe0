//! NetPIPE 3: the three columns of its `-o` file. Its Mbps are 2^20 bits, which its own columns prove.

use super::lines::lines;
use super::row::{Shared, whole};
use super::{Draft, Read, refuse};
use crate::vocabulary::{Quantity, Statistic};

/// The bits of its Mbit.
const MBIT: f64 = 1_048_576.0;
/// Half of the last digit that it writes of a time.
const HALF_DIGIT_S: f64 = 0.5e-8;
/// Half of the last digit that it writes of a rate.
const HALF_DIGIT: f64 = 0.5e-6;

const HINT: &str = "give the file that NPtcp -o FILE wrote: a size, a rate and a time in each line";

pub(super) fn recognises(text: &str) -> bool {
    let mut rows = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).peekable();
    let fits = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 3
            && words[0].parse::<u64>().is_ok()
            && words[1..].iter().all(|word| word.contains('.') && word.parse::<f64>().is_ok())
    };
    rows.peek().is_some() && rows.all(fits)
}

pub(super) fn read(text: &str) -> Read<Draft> {
    let mut draft = Draft::default();
    for line in lines(text)? {
        let numbers = line.numbers()?;
        let [bytes, rate, seconds] = numbers[..] else {
            return refuse(
                format!("line {} has {} columns, and not three", line.number, numbers.len()),
                HINT,
            );
        };
        let message_bytes = whole(bytes, &format!("line {}", line.number))?;
        check(line.number, bytes, rate, seconds)?;
        let shared = Shared {
            test: "NetPIPE".into(),
            message_bytes: Some(message_bytes),
            line: Some(line.number),
            ..Shared::default()
        };
        let time = (Quantity::HalfRoundTrip, Statistic::Least);
        draft.rows.push(shared.row(time, (seconds, 1e9), (None, "column 3, s"))?);
        let throughput = (Quantity::Throughput, Statistic::Greatest);
        draft.rows.push(shared.row(throughput, (rate, MBIT), (None, "column 2, 2^20 bits/s"))?);
    }
    draft.doubt(
        "the file does not say what carried the bytes, nor whether NetPIPE ran with -s (one way) or -2 (both ways): read as \
         a ping-pong",
    );
    draft.doubt("how many trials and repetitions a time is of is not in the file");
    Ok(draft)
}

/// Whether the rate is the size over the time, in units of 2^20 bits, as far as the digits go.
fn check(line: u64, bytes: f64, rate: f64, seconds: f64) -> Read<()> {
    let bits = 8.0 * bytes;
    // Both columns are rounded; at a few microseconds the time has three digits.
    let (least, most) = (seconds - HALF_DIGIT_S, seconds + HALF_DIGIT_S);
    let within = |mbit: f64| {
        let (low, high) = (bits / (most * mbit) - HALF_DIGIT, bits / (least.max(1e-12) * mbit) + HALF_DIGIT);
        (low..=high).contains(&rate)
    };
    if within(MBIT) {
        return Ok(());
    }
    let why = if within(1e6) { ", but of 10^6 bits: no NetPIPE 3 writes that" } else { "" };
    refuse(format!("line {line}: its rate is not its size over its time in units of 2^20 bits{why}"), HINT)
}
