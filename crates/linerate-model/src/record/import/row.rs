//! A row of an import, and the numbers that may stand in one.

use super::{Read, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// Beyond this no rate in bits a second and no time in nanoseconds is one (it is 30 years).
const BEYOND: f64 = 1e18;

/// A number that can have been measured.
pub(super) fn sound(value: f64, place: &str) -> Read<f64> {
    let what = match value {
        value if !value.is_finite() => "not finite",
        value if value < 0.0 => "negative",
        value if value > BEYOND => "beyond all measure",
        _ => return Ok(value),
    };
    refuse(format!("{place} is {what}"), "the file is damaged, or of another version of the tool")
}

/// A word that should be a number. `nan` and `inf` are none.
pub(super) fn number(word: &str, place: &str) -> Read<f64> {
    let plain = !word.is_empty()
        && word.len() < 64
        && word.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    match word.parse::<f64>() {
        Ok(value) if plain => sound(value, place),
        _ => refuse(
            format!("{place} is `{}`, which is no number", super::short(word)),
            "the file is damaged, or of another version of the tool",
        ),
    }
}

/// A count or a size.
pub(super) fn whole(value: f64, place: &str) -> Read<u64> {
    if value.fract() == 0.0 && value <= 2f64.powi(53) {
        return Ok(value as u64);
    }
    refuse(format!("{place} is {value}, which is no whole number"), "the file is damaged, or of another tool")
}

/// A row of which nothing is known but what it is of.
pub(super) fn row(
    test: &str,
    quantity: Quantity,
    statistic: Statistic,
    values: Vec<f64>,
    field: &str,
) -> Imported {
    Imported {
        test: super::short(test),
        transport: None,
        pattern: None,
        message_bytes: None,
        flows: None,
        quantity,
        unit: quantity.entry().unit.into(),
        statistic,
        end: None,
        samples: None,
        values,
        at_s: Vec::new(),
        field: super::short(field),
        line: None,
    }
}

/// What all rows of a test share.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    pub test: String,
    pub transport: Option<String>,
    pub pattern: Option<Pattern>,
    pub message_bytes: Option<u64>,
    pub flows: Option<u32>,
    pub samples: Option<u64>,
    pub line: Option<u64>,
}

impl Shared {
    /// The same of the ranks of an operation, of which each has one mean: none of its repetitions is a sample then.
    pub fn of_ranks(&self) -> Shared {
        Shared { test: format!("{}, mean of each rank", self.test), samples: None, ..self.clone() }
    }

    /// A row with one value, in the unit of the file: `scale` of ours are one of its.
    pub fn row(
        &self,
        (quantity, statistic): (Quantity, Statistic),
        (value, scale): (f64, f64),
        (end, field): (Option<Does>, &str),
    ) -> Read<Imported> {
        let value = sound(value * scale, field)?;
        Ok(Imported {
            transport: self.transport.clone(),
            pattern: self.pattern,
            message_bytes: self.message_bytes,
            flows: self.flows,
            samples: self.samples,
            line: self.line,
            end,
            ..row(&self.test, quantity, statistic, vec![value], field)
        })
    }
}
