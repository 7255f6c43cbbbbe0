//! A table of a suite: a number a cell, of parts that each row has.

use super::Factor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The level of a size that stands for the one at which the number is largest.
pub const PEAK: &str = "peak";

/// The level of a size that stands for the one from which on each message takes a step longer; the number is then what it
/// takes longer.
pub const STEP: &str = "step";

/// Levels of factors, a case among them.
pub type Levels = BTreeMap<String, String>;

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteTable {
    /// Its name: that of the paper's table.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What is said below the title.
    #[serde(default)]
    pub caption: String,
    /// Its columns, from the left.
    #[serde(rename = "column")]
    pub columns: Vec<TableColumn>,
    /// Its rows, from the top.
    #[serde(rename = "row")]
    pub rows: Vec<TableRow>,
}

/// A column: what is taken of a part of each row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableColumn {
    /// What stands over it.
    pub name: String,
    /// The number.
    pub y: String,
    /// The part of a row that it is taken of.
    pub of: String,
    /// Levels besides those of the part: `{ size = "1MiB" }`; the size `peak` is the one with the largest number, and of the
    /// size `step` the number is the largest step of the time of a message, at the first size behind it.
    pub at: Levels,
    /// The factor with which it grows: then the number is by how much, a unit of the factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<Factor>,
    /// The part of the same row by which it is divided, in the same pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The part of the same row that is taken from it, in the same pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minus: Option<String>,
}

/// A row: cases, or levels of them, by what they are to the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// What stands before it.
    pub name: String,
    /// Its parts. A column of one that it has not is empty there.
    pub parts: BTreeMap<String, Levels>,
    /// What the paper says of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paper: String,
}

impl TableRow {
    /// A part at the levels of a column; none where it has no such part.
    pub fn part(&self, name: &str, column: &TableColumn) -> Option<Levels> {
        let levels = self.parts.get(name)?.iter().chain(&column.at);
        Some(levels.map(|(factor, level)| (factor.clone(), level.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_taken_at_the_columns_levels() {
        let levels = |all: &[(&str, &str)]| -> Levels {
            all.iter().map(|(factor, level)| ((*factor).into(), (*level).into())).collect()
        };
        let row = TableRow {
            name: "MPI".into(),
            parts: [("tuned".into(), levels(&[("case", "mpi"), ("settings", "x=1")]))].into(),
            paper: String::new(),
        };
        let column = TableColumn { at: levels(&[("size", "1MiB")]), ..TableColumn::default() };
        let all = levels(&[("case", "mpi"), ("settings", "x=1"), ("size", "1MiB")]);
        assert_eq!(row.part("tuned", &column), Some(all));
        assert_eq!(row.part("stream", &column), None);
    }
}
