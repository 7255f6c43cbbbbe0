//! What another tool measured, a number a row: what it gave once is taken as it is, of what it gave for each part of a
//! test the median is ours.

use crate::record::{Imported, Recording};
use crate::statistic::median;

/// A number of another tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedNumber<'r> {
    /// The row of the recording.
    pub row: &'r Imported,
    /// Its value; of several, the median of them.
    pub value: f64,
    /// The least and the greatest of several.
    pub range: Option<(f64, f64)>,
}

/// Every number of the recording that can be one; whatever a file claims, nothing else comes out.
pub fn imported(recording: &Recording) -> Vec<ImportedNumber<'_>> {
    let number = |row| {
        let values = sound(row);
        let value = median(values.iter().copied())?;
        let range =
            values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
        Some(ImportedNumber { row, value, range: Some(range).filter(|_| values.len() > 1) })
    };
    recording.imported.iter().filter_map(number).collect()
}

fn sound(row: &Imported) -> Vec<f64> {
    row.values.iter().copied().filter(|value| value.is_finite() && *value >= 0.0).collect()
}

impl ImportedNumber<'_> {
    /// `mean`, or of several `median of 10 means`: a mean is never called a median.
    pub fn statistic(&self) -> String {
        let one = self.row.statistic.to_string();
        match sound(self.row).len() {
            0 | 1 => one,
            count => format!("median of {count}, each {}", article(&one)),
        }
    }
}

/// `a mean`, `the least`.
fn article(statistic: &str) -> String {
    let is_superlative = ["least", "greatest"].contains(&statistic);
    format!("{} {statistic}", if is_superlative { "the" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Quantity, Statistic};

    /// A value, its interval, and how it is called.
    type Said = (f64, Option<(f64, f64)>, String);

    fn row(values: &[f64], statistic: Statistic) -> Imported {
        Imported {
            test: "t".into(),
            transport: None,
            pattern: None,
            message_bytes: None,
            flows: None,
            quantity: Quantity::Throughput,
            unit: "b/s".into(),
            statistic,
            end: None,
            samples: None,
            values: values.to_vec(),
            at_s: Vec::new(),
            field: "f".into(),
            line: None,
        }
    }

    #[test]
    fn the_median_of_means_is_marked_as_ours() {
        let rows = vec![
            row(&[5.0], Statistic::Mean),
            row(&[3.0, 1.0, 2.0], Statistic::Mean),
            row(&[4.0], Statistic::Least),
            row(&[], Statistic::Mean),
            row(&[-1.0, f64::NAN], Statistic::Mean),
            row(&[6.0, f64::NAN], Statistic::Mean),
        ];
        let recording = Recording { imported: rows, ..Recording::default() };
        let found = imported(&recording);
        let said: Vec<Said> =
            found.iter().map(|number| (number.value, number.range, number.statistic())).collect();
        let wanted = [
            (5.0, None, "mean"),
            (2.0, Some((1.0, 3.0)), "median of 3, each a mean"),
            (4.0, None, "least"),
            (6.0, None, "mean"),
        ];
        assert_eq!(said, wanted.map(|(value, range, text)| (value, range, text.to_owned())));
    }
}
