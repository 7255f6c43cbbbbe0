//! Where the time of a pipeline went, as a table of its stages, and what binds it.

use super::graph;
use crate::analysis::{Binding, CellValue, StageValues, StagesValues};
use crate::report::shape::{SuiteColumnEntry, SuiteRowEntry, SuiteTableEntry};
use crate::statistic::Estimate;
use crate::unit::{Bytes, percent};

/// A column: what stands over it, and its share.
type Column = (&'static str, fn(&StageValues) -> Estimate);

const COLUMNS: [Column; 3] = [
    ("works", |stage| stage.compute),
    ("waits for input", |stage| stage.input),
    ("waits for room", |stage| stage.output),
];

/// The JSON form.
pub(super) fn entry(values: &StagesValues) -> SuiteTableEntry {
    let id = values.case.id.split_once('.').map_or(&*values.case.id, |(_, id)| id);
    let with = if values.words.is_empty() { String::new() } else { format!(", {}", values.words) };
    let column =
        |(name, _): &Column| SuiteColumnEntry { name: (*name).into(), unit: "1".into(), slope: None };
    SuiteTableEntry {
        id: format!("stages of {id}"),
        title: format!("buffers of {}{with}", Bytes(values.buffer_bytes)),
        caption: "Shares of the time of the stage that took longest; of several copies the mean. What a row lacks of the \
                  whole, its stage was done before."
            .into(),
        graph: graph::entry(values),
        columns: COLUMNS.iter().map(column).collect(),
        rows: values.stages.iter().map(row).collect(),
        note: binding_text(&values.binding),
    }
}

fn row(stage: &StageValues) -> SuiteRowEntry {
    let copies = if stage.copies > 1 { format!(" x {}", stage.copies) } else { String::new() };
    let cell = |(_, share): &Column| Some(CellValue { value: share(stage), at: None });
    SuiteRowEntry {
        name: format!("{}{copies}", stage.stage),
        cells: COLUMNS.iter().map(cell).collect(),
        version: None,
        paper: String::new(),
    }
}

fn binding_text(binding: &Binding) -> String {
    match binding {
        Binding::Stage(stage, share) => {
            format!("The stage `{stage}` binds: it works for {} of the time.", percent(*share))
        }
        Binding::Stream(from, to, share) => format!(
            "The stream from `{from}` to `{to}` binds: both wait for it for {} of the time at least.",
            percent(*share)
        ),
        Binding::Even(one, other) => {
            format!("No stage binds alone: `{one}` and `{other}` work for as much of the time.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Case;

    #[test]
    fn the_table_names_what_binds() {
        let all = |median| Estimate { median, low: None, high: None, n: 1 };
        let stage = StageValues {
            stage: "clip".into(),
            copies: 2,
            hosts: Vec::new(),
            compute: all(0.7),
            input: all(0.2),
            output: all(0.1),
        };
        let values = StagesValues {
            case: Case { id: "sockets.microscope".into(), ..Case::default() },
            words: "updates of 1 MiB".into(),
            buffer_bytes: 64 << 10,
            stages: vec![stage],
            streams: Vec::new(),
            binding: Binding::Stage("clip".into(), 0.7),
        };
        let table = entry(&values);
        assert_eq!(
            (&*table.id, &*table.title),
            ("stages of microscope", "buffers of 64 KiB, updates of 1 MiB")
        );
        assert_eq!(table.rows[0].name, "clip x 2");
        let lines = super::super::table::lines(&table, 100).join("\n");
        assert!(lines.contains("waits for room") && lines.contains("The stage `clip` binds"), "{lines}");
    }
}
