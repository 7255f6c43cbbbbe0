//! The cells of a table: each a number of every pass, and the interval of its median.

use super::compare::{Scene, against};
use super::level;
use crate::analysis::measures::measure;
use crate::plan::{Factor, Levels, PEAK, Plan, Suite, SuiteTable, TableColumn, TableRow};
use crate::record::Recording;
use crate::statistic::{Estimate, median};

/// A table's values.
#[derive(Debug, Clone, PartialEq)]
pub struct TableValues {
    /// What was asked for.
    pub table: SuiteTable,
    /// The unit of each column; empty for a ratio.
    pub units: Vec<&'static str>,
    /// The cells, row by row; none where nothing was measured.
    pub rows: Vec<Vec<Option<CellValue>>>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellValue {
    /// The median over the passes.
    pub value: Estimate,
    /// The size at which it is the largest, where that was asked for.
    pub at: Option<String>,
}

/// The values of a table.
pub(super) fn values(recording: &Recording, plan: &Plan, suite: &Suite, table: &SuiteTable) -> TableValues {
    let cell = |row: &TableRow, column: &TableColumn| {
        let scene = Scene { recording, plan, suite, y: &column.y };
        let (of, at) = scene.at_peak(row.part(&column.of, column)?)?;
        let with = match against(column.over.as_ref(), column.minus.as_ref()) {
            Some((part, how)) => Some((scene.at_peak(row.part(part, column)?)?.0, how)),
            None => None,
        };
        let numbers = scene.compared(&of, with.as_ref());
        Some(CellValue { value: Estimate::of(numbers.into_values())?, at })
    };
    let unit = |column: &TableColumn| {
        measure(&column.y).filter(|_| column.over.is_none()).map_or("", |measure| measure.unit)
    };
    let row = |row: &TableRow| table.columns.iter().map(|column| cell(row, column)).collect();
    TableValues {
        units: table.columns.iter().map(unit).collect(),
        rows: table.rows.iter().map(row).collect(),
        table: table.clone(),
    }
}

impl Scene<'_> {
    /// The same levels, with the size at which the median over all passes is the largest in place of the word for it. The
    /// choice favours luck a little: of several sizes that are alike the luckiest is taken.
    fn at_peak(&self, levels: Levels) -> Option<(Levels, Option<String>)> {
        if levels.get("size").is_none_or(|size| size != PEAK) {
            return Some((levels, None));
        }
        let mut levels = levels;
        levels.remove("size");
        let trials = self.trials(&levels);
        let mut sizes: Vec<String> =
            trials.iter().map(|trial| level(self.plan, Factor::Size, trial).name).collect();
        sizes.sort();
        sizes.dedup();
        let medians = sizes.into_iter().filter_map(|size| {
            levels.insert("size".into(), size.clone());
            Some((median(self.numbers(&levels).into_values())?, size))
        });
        let (_, size) = medians.max_by(|a, b| a.0.total_cmp(&b.0))?;
        levels.insert("size".into(), size.clone());
        Some((levels, Some(size)))
    }
}
