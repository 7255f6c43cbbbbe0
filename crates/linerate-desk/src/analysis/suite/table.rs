//! The cells of a table: each a number of every pass, and the interval of its median.

use super::compare::{Scene, against};
use super::level;
use crate::analysis::curve::{largest_step, of_trials, refined};
use crate::analysis::measures::measure;
use crate::plan::{Case, Factor, Levels, PEAK, Plan, STEP, Suite, SuiteTable, TableColumn, TableRow};
use crate::record::{Recording, SessionRecord};
use crate::statistic::{Estimate, median};
use crate::unit::Bytes;
use crate::vocabulary::Rung;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A table's values.
#[derive(Debug, Clone, PartialEq)]
pub struct TableValues {
    /// What was asked for.
    pub table: SuiteTable,
    /// The unit of each column; empty for a ratio.
    pub units: Vec<&'static str>,
    /// The cells, row by row; none where nothing was measured.
    pub rows: Vec<Vec<Option<CellValue>>>,
    /// The library of each row, as it says it; none where another program's code had no part in it.
    pub versions: Vec<Option<String>>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellValue {
    /// The median over the passes.
    pub value: Estimate,
    /// The size at which it is the largest, or has its step, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The values of a table.
pub(super) fn values(recording: &Recording, plan: &Plan, suite: &Suite, table: &SuiteTable) -> TableValues {
    let cell = |row: &TableRow, column: &TableColumn| {
        let scene = Scene { recording, plan, suite, y: &column.y };
        let levels = row.part(&column.of, column)?;
        if let Some(factor) = column.slope {
            let value = Estimate::from_values(scene.slopes(&levels, factor).into_values())?;
            return Some(CellValue { value, at: None });
        }
        if levels.get("size").is_some_and(|size| size == STEP) {
            return scene.at_step(levels);
        }
        let (of, at) = scene.at_peak(levels)?;
        let with = match against(column.over.as_ref(), column.minus.as_ref()) {
            Some((part, how)) => Some((scene.at_peak(row.part(part, column)?)?.0, how)),
            None => None,
        };
        let numbers = scene.compared(&of, with.as_ref());
        Some(CellValue { value: Estimate::from_values(numbers.into_values())?, at })
    };
    let unit = |column: &TableColumn| {
        measure(&column.y).filter(|_| column.over.is_none()).map_or("", |measure| measure.metric.unit)
    };
    let row = |row: &TableRow| table.columns.iter().map(|column| cell(row, column)).collect();
    TableValues {
        units: table.columns.iter().map(unit).collect(),
        rows: table.rows.iter().map(row).collect(),
        versions: table.rows.iter().map(|row| version(recording, plan, suite, row)).collect(),
        table: table.clone(),
    }
}

/// What the first session of a row's trials says that it is of, before the first path.
fn version(recording: &Recording, plan: &Plan, suite: &Suite, row: &TableRow) -> Option<String> {
    let scene = Scene { recording, plan, suite, y: "" };
    let is_foreign = |case: &Case| Rung::named(&case.rung).is_some_and(|rung| rung.transport.foreign);
    let mut cases = row.parts.values().filter_map(|levels| Some(&scene.trials(levels).first()?.case));
    let case = cases.find(|case| is_foreign(case))?;
    let is_of = |session: &&SessionRecord| session.rung == case.rung && session.arm == case.arm;
    let mut sessions = recording.sessions.iter().filter(is_of);
    let about = sessions.find_map(|session| session.endpoints.first())?;
    Some(about.split(", /").next().unwrap_or(about).to_owned())
}

impl Scene<'_> {
    /// The largest step of the time of a message.
    fn at_step(&self, mut levels: Levels) -> Option<CellValue> {
        levels.remove("size");
        let curve = of_trials(self.recording, &self.trials(&levels))?;
        let (at, value) = largest_step(&curve, &refined(self.recording, &curve.case))?;
        Some(CellValue { value, at: Some(Bytes(at).to_string()) })
    }

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
