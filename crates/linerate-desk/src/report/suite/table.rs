//! The tables of a suite: a number a cell, with the interval of its median.

use super::{graph, number};
use crate::analysis::{CellValue, TableValues};
use crate::report::block::{Block, bands};
use crate::report::line::wrapped;
use crate::report::shape::{SuiteColumnEntry, SuiteRowEntry, SuiteTableEntry};

/// The JSON form.
pub(super) fn entry(values: &TableValues) -> SuiteTableEntry {
    let table = &values.table;
    let columns = table.columns.iter().zip(&values.units);
    let rows = table.rows.iter().zip(&values.rows).zip(&values.versions);
    let rows = rows.map(|((row, cells), version)| SuiteRowEntry {
        name: row.name.clone(),
        cells: cells.clone(),
        version: version.clone(),
        paper: row.paper.clone(),
    });
    SuiteTableEntry {
        id: table.id.clone(),
        title: table.title.clone(),
        caption: table.caption.clone(),
        graph: None,
        columns: columns
            .map(|(column, unit)| SuiteColumnEntry {
                name: column.name.clone(),
                unit: (*unit).into(),
                slope: column.slope.map(|factor| factor.entry().name.into()),
            })
            .collect(),
        rows: rows.collect(),
        note: String::new(),
    }
}

/// The number of a cell with the size that it is at, and its interval; the number of values where there is none.
pub(in crate::report) fn written(cell: Option<&CellValue>, column: &SuiteColumnEntry) -> [String; 2] {
    let Some(cell) = cell else { return ["-".into(), String::new()] };
    let at = cell.at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
    let number = |value: f64| number(value, &column.unit);
    let interval = match (cell.value.low, cell.value.high) {
        (Some(low), Some(high)) => format!("[{}, {}]", number(low), number(high)),
        _ => format!("n={}", cell.value.n),
    };
    // Growth of which not even the sign is known is none that can be told.
    let holds_zero = cell.value.low.zip(cell.value.high).is_none_or(|(low, high)| low <= 0.0 && high >= 0.0);
    if column.slope.is_some() && holds_zero {
        return ["cannot tell".into(), interval];
    }
    [format!("{}{at}", number(cell.value.median)), interval]
}

/// The lines of a table; the first is its title.
pub(super) fn lines(table: &SuiteTableEntry, width: usize) -> Vec<String> {
    let mut lines = vec![format!("{}  {}", table.id, table.title)];
    lines.extend(table.graph.iter().flat_map(|one| graph::lines(one, width)));
    let first = Block {
        title: String::new(),
        heads: vec![String::new()],
        rows: table.rows.iter().map(|row| vec![row.name.clone()]).collect(),
        left: true,
    };
    let block = |(at, column): (usize, &SuiteColumnEntry)| Block {
        title: column.name.clone(),
        heads: vec!["median".into(), "95 %".into()],
        rows: table.rows.iter().map(|row| written(row.cells[at].as_ref(), column).into()).collect(),
        left: false,
    };
    let columns: Vec<Block> = table.columns.iter().enumerate().map(block).collect();
    bands(&first, &columns, Some(width)).into_iter().for_each(|band| lines.extend(band));
    let notes = table.rows.iter().filter_map(|row| Some(format!("{}: {}", row.name, about(row)?)));
    lines.extend(notes.flat_map(|note| wrapped(&note, width)));
    lines.extend(
        Some(&table.note).filter(|note| !note.is_empty()).into_iter().flat_map(|note| wrapped(note, width)),
    );
    lines
}

/// What a row is of, and what the paper says of it; none where neither is known.
pub(in crate::report) fn about(row: &SuiteRowEntry) -> Option<String> {
    let paper = (!row.paper.is_empty()).then(|| format!("the paper: {}", row.paper));
    let known: Vec<String> = row.version.iter().cloned().chain(paper).collect();
    (!known.is_empty()).then(|| known.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::Estimate;

    #[test]
    fn growth_of_unknown_sign_cannot_be_told() {
        let column = |slope: Option<&str>| SuiteColumnEntry {
            name: "a rule".into(),
            unit: "ns".into(),
            slope: slope.map(String::from),
        };
        let said = |low: Option<f64>, slope: Option<&str>| {
            let value = Estimate { median: 0.4, low, high: Some(1.0), n: 6 };
            written(Some(&CellValue { value, at: None }), &column(slope))[0].clone()
        };
        assert_eq!(said(Some(-0.2), Some("rules")), "cannot tell");
        assert_eq!(said(None, Some("rules")), "cannot tell");
        assert!(said(Some(0.2), Some("rules")).starts_with("0.4"));
        assert!(said(Some(-0.2), None).starts_with("0.4"), "a difference is what it is");
    }
}
