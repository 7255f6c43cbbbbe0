//! Sizes, rates and durations as types: parse, print, convert. Nothing else formats a number.
//!
//! Rates are bits a second and print in decimal units (Gb/s); sizes are bytes and print in binary
//! units (KiB). Both kinds of prefix are read (`64KiB`, `64kB`) and never guessed: a number
//! without a unit is bytes, and a rate without a unit is refused. What is printed can be read.

mod bytes;
mod grammar;
mod nanoseconds;
mod rate;
mod share;

pub use bytes::Bytes;
pub use nanoseconds::Nanoseconds;
pub use rate::BitRate;
pub use share::Share;

/// Why a text is not a size, a rate, a time, a share or a count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {wanted}{}{why}", if why.is_empty() { "" } else { ": " })]
pub struct ParseError {
    /// The text as given, as much of it as a message needs.
    pub found: String,
    /// What it should be: `a size`.
    pub wanted: &'static str,
    /// Why it is none, and what may have been meant; empty where that is plain to see.
    pub why: String,
}

impl ParseError {
    fn new(found: &str, wanted: &'static str, why: String) -> ParseError {
        ParseError { found: shown(found), wanted, why }
    }
}

/// So much of a text as a message needs.
fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let more = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    text.chars().take(MOST).chain(more.chars()).collect()
}

/// Reads a whole number.
pub fn count(text: &str) -> Result<u64, ParseError> {
    grammar::whole(text)
}

/// Reads a frequency, in times a second: `1000/s`.
pub fn per_second(text: &str) -> Result<f64, ParseError> {
    grammar::read(text, grammar::Dimension::Frequency)
}

/// Why a value cannot be taken: it cannot be read, or it is beyond a bound, which is said.
pub fn within<T, S>(
    read: Result<T, ParseError>,
    least: T,
    most: T,
    show: impl Fn(T) -> S,
) -> Result<T, String>
where
    T: PartialOrd,
    S: std::fmt::Display,
{
    match read {
        Err(error) => Err(error.why),
        Ok(value) if value < least => Err(format!("it is less than {}", show(least))),
        Ok(value) if value > most => Err(format!("it is more than {}", show(most))),
        Ok(value) => Ok(value),
    }
}

/// Prints `value` with `digits` significant digits and without an exponent: 57.1, 0.162, 2 610.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = |value: f64| value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits - 1 - magnitude(value));
    let rounded = (value * scale).round() / scale;
    // Rounding up may add a digit before the point: 9.996 is 10.0, not 10.00.
    let decimals = (digits - 1 - magnitude(rounded)).max(0);
    format!("{rounded:.*}", decimals as usize)
}

/// The significant digits that a value is worth, known to within `half_width`: its last digit is the
/// first that may be wrong. At least two, at most three, and two where nothing is known of it.
pub fn supported_digits(value: f64, half_width: Option<f64>) -> i32 {
    let place = |number: f64| number.abs().log10().floor();
    match half_width {
        None => 2,
        Some(0.0) => 3,
        Some(width) => (place(value) - place(width) + 1.0).clamp(2.0, 3.0) as i32,
    }
}

/// A count with its noun: `1 rung`, `2 rungs`, `2 passes`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    // What is no such number is many.
    let count = count.try_into().unwrap_or(u64::MAX);
    let ending = match count {
        1 => "",
        _ if noun.ends_with(['s', 'x']) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A share in per cent, to two digits: `1.2 %`, `10 %`.
pub fn percent(share: f64) -> String {
    let digits = significant(100.0 * share, 2);
    format!("{} %", digits.strip_suffix(".0").unwrap_or(&digits))
}

/// A change in per cent with its sign: `+12 %`, `-3.4 %`, `+0.22 %`.
pub fn signed_percent(share: f64) -> String {
    let number = 100.0 * share;
    match number.abs() {
        size if size < 0.005 => "0 %".into(),
        size if size < 0.995 => format!("{number:+.2} %"),
        size if size < 9.95 => format!("{number:+.1} %"),
        _ => format!("{number:+.0} %"),
    }
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
    use super::{BitRate, Bytes, Nanoseconds, ParseError, Share};
    use super::{counted, percent, signed_percent, significant, supported_digits, within};

    #[test]
    fn significant_digits_survive_the_magnitude() {
        let cases = [(57.123, "57.1"), (0.1624, "0.162"), (2612.0, "2610"), (9.996, "10.0"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(significant(value, 3), text);
        }
    }

    #[test]
    fn one_is_not_several() {
        let told = [counted(1, "rung"), counted(0, "rung"), counted(2_usize, "pass"), counted(1_u32, "pass")];
        assert_eq!(told, ["1 rung", "0 rungs", "2 passes", "1 pass"]);
    }

    #[test]
    fn shares_are_said_in_per_cent() {
        for (share, plain, signed) in [
            (0.0, "0 %", "0 %"),
            (0.01, "1 %", "+1.0 %"),
            (0.1234, "12 %", "+12 %"),
            (0.00219, "0.22 %", "+0.22 %"),
            (0.0999, "10 %", "+10 %"),
            (1.5, "150 %", "+150 %"),
        ] {
            assert_eq!((percent(share).as_str(), signed_percent(share).as_str()), (plain, signed));
        }
        assert_eq!(signed_percent(-0.034), "-3.4 %");
    }

    #[test]
    fn digits_end_where_doubt_begins() {
        let cases = [
            (57.12, Some(1.1), 2),
            (57.12, Some(0.3), 3),
            (57.12, Some(0.001), 3),
            (57.12, Some(90.0), 2),
            (57.12, Some(0.0), 3),
            (57.12, None, 2),
            (0.0, Some(1.0), 2),
        ];
        for (value, half_width, digits) in cases {
            assert_eq!(supported_digits(value, half_width), digits, "{value} {half_width:?}");
        }
    }

    #[test]
    fn a_bound_that_is_passed_is_told() {
        let told = |text: &str| within(text.parse(), Bytes(8), Bytes(1 << 20), |size| size).unwrap_err();
        assert_eq!(told("2MiB"), "it is more than 1 MiB");
        assert_eq!(told("7"), "it is less than 8 B");
        assert_eq!(told("much"), "it has no number");
    }

    /// Whether what was printed with three digits is read as the same.
    fn is_same(value: f64, read: Result<f64, ParseError>) -> bool {
        read.is_ok_and(|read| (read - value).abs() <= 0.0051 * value.abs())
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_can_be_read(exponent in -1.0..13.0f64) {
            let value = 10f64.powf(exponent);
            let rate = BitRate(value).to_string();
            proptest::prop_assert!(is_same(value, rate.parse().map(|rate: BitRate| rate.0)), "{}", rate);
            let time = Nanoseconds(value).to_string();
            proptest::prop_assert!(is_same(value, time.parse().map(|time: Nanoseconds| time.0)), "{}", time);
            let size = Bytes(value as u64);
            proptest::prop_assert_eq!(size.to_string().parse(), Ok(size));
            let share = value / 1e13;
            let printed = format!("±{}", percent(share));
            let read = printed.parse::<Share>();
            proptest::prop_assert!(read.is_ok_and(|read| (read.0 - share).abs() <= 0.051 * share), "{}", printed);
        }
    }
}
