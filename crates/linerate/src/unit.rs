//! Sizes, rates and durations as types: parse, print, convert. Nothing else formats a number.
//!
//! Rates are bits a second and print in decimal units (Gb/s); sizes are bytes and print in binary
//! units (KiB). Both kinds of prefix are read (`64KiB`, `64kB`) and never guessed: a number
//! without a unit is bytes, and a rate without a unit is refused.

mod bytes;
mod nanoseconds;
mod rate;

pub use bytes::Bytes;
pub use nanoseconds::Nanoseconds;
pub use rate::BitRate;

/// Why a text is not a size, rate or duration: what was found and what would be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {wanted}")]
pub struct ParseError {
    /// The text as given.
    pub found: String,
    /// What is accepted, with an example.
    pub wanted: &'static str,
}

/// Prints `value` with `digits` significant digits and without an exponent: 57.1, 0.162, 2 610.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).max(0);
    let scale = 10f64.powi(digits - 1 - magnitude);
    let rounded = (value * scale).round() / scale;
    format!("{rounded:.*}", decimals as usize)
}

/// Splits `1.5Gb/s` into the number and the unit, without blanks.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Scales `value` by the largest of `steps` (factor, name; ascending) that leaves at least 1.
fn scaled(value: f64, steps: &[(f64, &'static str)]) -> (f64, &'static str) {
    let (factor, name) = steps
        .iter()
        .rev()
        .find(|(factor, _)| significant(value.abs() / factor, 3).parse::<f64>().is_ok_and(|v| v >= 1.0))
        .unwrap_or(&steps[0]);
    (value / factor, name)
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn significant_digits_survive_the_magnitude() {
        let cases = [(57.123, "57.1"), (0.1624, "0.162"), (2612.0, "2610"), (9.996, "10.00"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(significant(value, 3), text);
        }
    }
}
