//! Numbers to be drawn, to five digits: more than a screen shows, in a third of the room.

use serde::Serializer;
use serde::ser::SerializeSeq;

/// Message sizes below it are written whole.
const WHOLE: f64 = (1u64 << 27) as f64;

/// Points.
pub(super) fn serialize<S: Serializer>(points: &[[f64; 2]], to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(points.len()))?;
    points.iter().try_for_each(|point| list.serialize_element(&point.map(digits)))?;
    list.end()
}

/// Lines of points.
pub(super) fn serialize_all<S: Serializer>(lines: &[Vec<[f64; 2]>], to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(lines.len()))?;
    for line in lines {
        let short: Vec<_> = line.iter().map(|point| point.map(digits)).collect();
        list.serialize_element(&short)?;
    }
    list.end()
}

/// The number as it is written with five significant digits; whole numbers stay what they are.
fn digits(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < WHOLE {
        return (value as i64).into();
    }
    let short = format!("{value:.4e}").parse::<f64>().unwrap_or(value);
    if short.fract() == 0.0 && short.abs() < 1e15 { (short as i64).into() } else { short.into() }
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn five_digits_are_kept_and_sizes_whole() {
        let cases = [
            (1_048_576.0, "1048576"),
            (3.123456789e9, "3123500000"),
            (0.0123456789, "0.012346"),
            (3e9, "3000000000"),
        ];
        for (value, shown) in cases {
            assert_eq!(digits(value).to_string(), shown);
        }
        assert_eq!(digits(f64::NAN).to_string(), "null");
    }
}
