//! How a value is written: a number, then its unit. One table and one reader for every kind of value; what cannot be
//! read is told with the spellings that it may have meant.

use super::ParseError;

/// What a value is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Size,
    Rate,
    Time,
    Share,
    Frequency,
}

use Dimension::{Frequency, Rate, Share, Size, Time};

/// A unit: its spellings, and how many of the base unit it is.
struct Unit {
    of: Dimension,
    names: &'static [&'static str],
    factor: f64,
}

const fn unit(of: Dimension, factor: f64, names: &'static [&'static str]) -> Unit {
    Unit { of, names, factor }
}

const KI: f64 = 1024.0;

/// Every unit. The base units are bytes, bits a second, nanoseconds, one, and times a second. The case of a letter
/// counts: b is a bit, B a byte. What spells bits out (tc(8): `1gbit`) may do so in small letters.
const UNITS: &[Unit] = &[
    unit(Size, 1.0, &["B", ""]),
    unit(Size, 1e3, &["kB"]),
    unit(Size, 1e6, &["MB"]),
    unit(Size, 1e9, &["GB"]),
    unit(Size, 1e12, &["TB"]),
    unit(Size, KI, &["KiB"]),
    unit(Size, KI * KI, &["MiB"]),
    unit(Size, KI * KI * KI, &["GiB"]),
    unit(Size, KI * KI * KI * KI, &["TiB"]),
    unit(Rate, 1.0, &["b/s", "bps", "bit/s", "bit"]),
    unit(Rate, 1e3, &["kb/s", "kbps", "kbit/s", "kbit"]),
    unit(Rate, 1e6, &["Mb/s", "Mbps", "Mbit/s", "Mbit", "mbit/s", "mbit"]),
    unit(Rate, 1e9, &["Gb/s", "Gbps", "Gbit/s", "Gbit", "gbit/s", "gbit"]),
    unit(Rate, 1e12, &["Tb/s", "Tbps", "Tbit/s", "Tbit", "tbit/s", "tbit"]),
    unit(Rate, 8.0, &["B/s"]),
    unit(Rate, 8e3, &["kB/s"]),
    unit(Rate, 8e6, &["MB/s"]),
    unit(Rate, 8e9, &["GB/s"]),
    unit(Rate, 8e12, &["TB/s"]),
    unit(Rate, 8.0 * KI, &["KiB/s"]),
    unit(Rate, 8.0 * KI * KI, &["MiB/s"]),
    unit(Rate, 8.0 * KI * KI * KI, &["GiB/s"]),
    unit(Rate, 8.0 * KI * KI * KI * KI, &["TiB/s"]),
    unit(Time, 1.0, &["ns"]),
    // The micro sign, and the Greek letter that looks like it.
    unit(Time, 1e3, &["us", "µs", "μs"]),
    unit(Time, 1e6, &["ms"]),
    unit(Time, 1e9, &["s"]),
    unit(Time, 60e9, &["min", "m"]),
    unit(Time, 3600e9, &["h"]),
    unit(Share, 1.0, &[""]),
    unit(Share, 0.01, &["%"]),
    unit(Frequency, 1.0, &["/s"]),
];

impl Dimension {
    /// What such a value is called.
    fn noun(self) -> &'static str {
        match self {
            Size => "a size",
            Rate => "a rate",
            Time => "a time",
            Share => "a share",
            Frequency => "a number a second",
        }
    }
}

/// What stands before a number in reports: about, plus or minus.
const MARKS: [char; 3] = ['~', '±', '+'];

/// Reads a value, in the base unit of its kind.
pub(super) fn read(text: &str, of: Dimension) -> Result<f64, ParseError> {
    let fail = |why: String| ParseError::new(text, of.noun(), why);
    let (number, unit) = split(text).map_err(fail)?;
    // Nothing at all is the same in every unit.
    if number == 0.0 && unit.is_empty() {
        return Ok(0.0);
    }
    let found = UNITS.iter().find(|known| known.of == of && known.names.contains(&unit));
    let factor = found.ok_or_else(|| fail(misspelt(of, unit, number_of(text, unit))))?.factor;
    let value = number * factor;
    if value.is_finite() { Ok(value) } else { Err(fail("it has no end".into())) }
}

/// Reads a whole number.
pub(super) fn whole(text: &str) -> Result<u64, ParseError> {
    let fail = |why: String| ParseError::new(text, "a whole number", why);
    let (number, unit) = split(text).map_err(fail)?;
    if !unit.is_empty() {
        return Err(fail(format!("it is a count, without `{unit}`")));
    }
    // Beyond, not every whole number is one of these.
    if number > (1u64 << 53) as f64 {
        return Err(fail("it is too large".into()));
    }
    if number.fract() == 0.0 { Ok(number as u64) } else { Err(fail(String::new())) }
}

/// The number and its unit, or why there is no number.
fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".into());
    }
    let text = text.strip_prefix(MARKS).unwrap_or(text).trim_start();
    if let Some(rest) = text.strip_prefix(['-', '−']) {
        let is_number = rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '.');
        return Err(if is_number { "it is below zero".into() } else { "it has no number".into() });
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = (&text[..end], text[end..].trim_start());
    let number: f64 = digits.parse().map_err(|_| "it has no number".to_owned())?;
    let mut behind = text[end..].chars();
    match (behind.next(), behind.next()) {
        (Some('e' | 'E'), Some(c)) if c.is_ascii_digit() || "+-".contains(c) => {
            Err("numbers are written out, without an exponent".into())
        }
        (Some(mark @ (',' | '_' | '\'')), Some(c)) if c.is_ascii_digit() => {
            Err(format!("numbers are written without `{mark}`"))
        }
        _ if unit.contains('±') => Err("a value is said without its interval".into()),
        _ if !number.is_finite() => Err("it is too large".into()),
        _ => Ok((number, unit)),
    }
}

/// The number as it was written.
fn number_of<'t>(text: &'t str, unit: &str) -> &'t str {
    let text = text.trim().trim_start_matches(MARKS).trim();
    text.strip_suffix(unit).unwrap_or(text).trim_end()
}

/// Prefixes of a thousand and of 1024, by the letter that is typed.
const PREFIXES: [(char, &str, &str); 4] =
    [('k', "k", "Ki"), ('m', "M", "Mi"), ('g', "G", "Gi"), ('t', "T", "Ti")];

/// What a prefix may be followed by where bits and bytes are meant, in small letters.
const BITS_OR_BYTES: &[&str] =
    &["", "b", "i", "ib", "b/s", "ib/s", "bps", "ibps", "bit", "bits", "bit/s", "bits/s", "byte", "bytes"];

/// Why a unit is none of this kind, and what it may have been.
fn misspelt(of: Dimension, unit: &str, number: &str) -> String {
    let small = unit.to_lowercase();
    let meant = PREFIXES
        .iter()
        .find(|(letter, ..)| small.strip_prefix(*letter).is_some_and(|rest| BITS_OR_BYTES.contains(&rest)));
    let other = UNITS.iter().find(|known| known.of != of && known.names.contains(&unit) && !unit.is_empty());
    let it_is = other.map_or(String::new(), |known| format!("it is {}; ", known.of.noun()));
    match (of, meant) {
        (Size, Some((_, kilo, kibi))) => {
            format!("{it_is}a size counts bytes: {number}{kilo}B by thousands, {number}{kibi}B by 1024")
        }
        (Rate, Some((_, kilo, _))) => {
            format!("{it_is}{number}{kilo}b/s is bits a second, {number}{kilo}B/s bytes a second")
        }
        (Rate, None) if small.trim_end_matches("/s") == "b" => {
            format!("{it_is}{number}b/s is bits a second, {number}B/s bytes a second")
        }
        _ if unit.is_empty() => "it lacks its unit".into(),
        _ if other.is_some() => it_is.trim_end_matches("; ").to_owned(),
        _ => {
            let same =
                |known: &&Unit| known.of == of && known.names.iter().any(|n| n.to_lowercase() == small);
            match UNITS.iter().find(same) {
                Some(known) => format!("it is written {number}{}", known.names[0]),
                None => format!("no unit of its kind is called `{}`", super::shown(unit)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOUNS: [Dimension; 5] = [Size, Rate, Time, Share, Frequency];

    #[test]
    fn every_spelling_of_every_unit_is_read_as_its_own() {
        for unit in UNITS {
            for name in unit.names {
                for text in [format!("3{name}"), format!("3 {name}"), format!(" 3\u{a0}{name} ")] {
                    assert_eq!(read(&text, unit.of), Ok(3.0 * unit.factor), "{text}");
                }
            }
        }
    }

    #[test]
    fn no_unit_is_read_as_another_kind() {
        for unit in UNITS {
            for of in NOUNS.into_iter().filter(|of| *of != unit.of) {
                for name in unit.names.iter().filter(|name| !name.is_empty()) {
                    let error = read(&format!("3{name}"), of).unwrap_err();
                    assert!(error.why.contains("it is "), "{name} as {of:?}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_case_is_told_with_both_spellings() {
        for (text, of, parts) in [
            ("1gb", Size, ["1GB", "1GiB"]),
            ("64KB", Size, ["64kB", "64KiB"]),
            ("64K", Size, ["64kB", "64KiB"]),
            ("1Gb", Size, ["1GB", "1GiB"]),
            ("1gb/s", Rate, ["1Gb/s", "1GB/s"]),
            ("1G", Rate, ["1Gb/s", "1GB/s"]),
            ("1mbps", Rate, ["1Mb/s", "1MB/s"]),
            ("1GB", Rate, ["1Gb/s", "1GB/s"]),
            ("5MS", Time, ["5ms", "5ms"]),
        ] {
            let error = read(text, of).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_no_number_is_told_why() {
        for (text, why) in [
            ("", "empty"),
            ("  ", "empty"),
            ("-5s", "below zero"),
            ("−5s", "below zero"),
            ("nan", "no number"),
            ("-inf", "no number"),
            ("inf", "no number"),
            ("1e9", "exponent"),
            ("1E-3s", "exponent"),
            ("1,000", "without `,`"),
            ("1_000s", "without `_`"),
            ("1.2.3s", "no number"),
            ("57 s ±25 %", "without its interval"),
            ("五s", "no number"),
        ] {
            for of in NOUNS {
                let error = read(text, of).unwrap_err();
                assert!(error.why.contains(why), "{text}: {error}");
            }
            assert!(whole(text).is_err(), "{text}");
        }
        let long = format!("{}s", "9".repeat(400));
        let error = read(&long, Time).unwrap_err();
        assert!(error.why.contains("too large") && error.to_string().len() < 120, "{error}");
    }

    #[test]
    fn counts_are_whole_and_without_a_unit() {
        assert_eq!(whole("12"), Ok(12));
        for text in ["1.5", "12s", "1KiB", "99999999999999999999"] {
            assert!(whole(text).is_err(), "{text}");
        }
    }
}
