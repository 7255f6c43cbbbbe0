//! A table of a suite: a number a cell, of parts that each row has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The level of a size that stands for the one at which the number is largest.
pub const PEAK: &str = "peak";

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
    /// Levels besides those of the part: `{ size = "1MiB" }`; the size `peak` is the one with the largest number.
    pub at: Levels,
    /// The part by which it is divided, in the same pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The part that is taken from it, in the same pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minus: Option<String>,
    /// The row whose part that is; by default the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A row: cases, or levels of them, by what they are to the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// What stands before it.
    pub name: String,
    /// Its parts. A column of one that it has not is empty there.
    pub parts: BTreeMap<String, Levels>,
}

impl SuiteTable {
    /// What a cell is of, and what that is compared with; none where the row lacks a part, or would be compared with
    /// itself.
    pub fn cell(&self, row: &TableRow, column: &TableColumn) -> Option<(Levels, Option<Levels>)> {
        let part = |row: &TableRow, name: &String| {
            let levels = row.parts.get(name)?.iter().chain(&column.at);
            Some(levels.map(|(factor, level)| (factor.clone(), level.clone())).collect::<Levels>())
        };
        let from = match &column.from {
            Some(name) => self.rows.iter().find(|row| row.name == *name)?,
            None => row,
        };
        let of = part(row, &column.of)?;
        match column.over.as_ref().or(column.minus.as_ref()) {
            Some(name) => part(from, name).filter(|other| *other != of).map(|other| (of, Some(other))),
            None => Some((of, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_of_its_rows_part_at_the_columns_levels() {
        let table: SuiteTable = toml::from_str(
            r#"
            id = "t"
            title = "t"
            column = [
              { name = "rate", y = "throughput", of = "stream", at = { size = "1MiB" } },
              { name = "share", y = "throughput", of = "stream", over = "stream", from = "TCP" },
              { name = "gain", y = "throughput", of = "tuned", over = "stream" },
            ]
            row = [
              { name = "TCP", parts = { stream = { case = "tcp" } } },
              { name = "MPI", parts = { stream = { case = "mpi" }, tuned = { case = "mpi", settings = "x=1" } } },
            ]
            "#,
        )
        .unwrap();
        let levels = |all: &[(&str, &str)]| -> Levels {
            all.iter().map(|(factor, level)| ((*factor).into(), (*level).into())).collect()
        };
        let cell = |row: usize, column: usize| table.cell(&table.rows[row], &table.columns[column]);
        let (tcp, mpi) = (levels(&[("case", "tcp")]), levels(&[("case", "mpi")]));
        assert_eq!(cell(0, 0), Some((levels(&[("case", "tcp"), ("size", "1MiB")]), None)));
        assert_eq!(cell(1, 1), Some((mpi.clone(), Some(tcp))));
        assert_eq!(cell(1, 2), Some((levels(&[("case", "mpi"), ("settings", "x=1")]), Some(mpi))));
        assert_eq!(cell(0, 2), None, "it was not tuned");
        assert_eq!(cell(0, 1), None, "it would be compared with itself");
    }
}
