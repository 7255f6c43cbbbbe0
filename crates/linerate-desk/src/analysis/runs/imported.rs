//! What another tool measured on both sides: the same field of the same test of the same tool, a file a run.
//!
//! Numbers of two tools are never compared, nor those of a tool with ours: they are not of the same thing.

use super::{RunNumbers, SidesCompared};
use crate::analysis::imported::{ImportedNumber, imported};
use crate::record::Recording;
use crate::vocabulary::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What makes two numbers the same one: the tool, and all that it says of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    tool: String,
    test: String,
    transport: String,
    message_bytes: Option<u64>,
    flows: Option<u32>,
    quantity: Quantity,
    statistic: String,
    end: String,
    field: String,
}

/// One number of another tool on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedCompared {
    /// The tool.
    pub tool: String,
    /// The test, as the tool calls it.
    pub test: String,
    /// The size of a message; null where the tool does not say.
    pub message_bytes: Option<u64>,
    /// What it is of.
    pub quantity: Quantity,
    /// Its unit.
    pub unit: String,
    /// What it is of its samples: `mean`.
    pub statistic: String,
    /// What the end does whose bytes and clock these are; empty where that is not known.
    pub end: String,
    /// How they lie to each other.
    #[serde(flatten)]
    pub sides: SidesCompared,
}

/// The numbers of one file that say whether something is better.
pub(super) fn numbers(recording: &Recording) -> BTreeMap<Key, f64> {
    let Some(source) = &recording.source else { return BTreeMap::new() };
    let decides =
        |number: &ImportedNumber| number.row.quantity.entry().more_is_better.is_some() && number.value > 0.0;
    let found = imported(recording).into_iter().filter(decides);
    found.map(|number| (Key::from_number(&source.tool, &number), number.value)).collect()
}

impl Key {
    fn from_number(tool: &str, number: &ImportedNumber) -> Key {
        let row = number.row;
        let statistic = if number.range.is_some() {
            format!("median of parts, {}", row.statistic)
        } else {
            row.statistic.to_string()
        };
        Key {
            tool: tool.into(),
            test: row.test.clone(),
            transport: row.transport.clone().unwrap_or_default(),
            message_bytes: row.message_bytes,
            flows: row.flows,
            quantity: row.quantity,
            statistic,
            end: row.end.map_or(String::new(), |end| end.word().into()),
            field: row.field.clone(),
        }
    }

    fn name(&self) -> String {
        let bytes =
            self.message_bytes.map_or(String::new(), |bytes| format!(" {}", crate::unit::Bytes(bytes)));
        format!("{} {}{bytes} {}, {}", self.tool, self.test, self.quantity, self.statistic)
    }
}

/// What both sides have, and the names of what only one has.
pub(super) fn compared(
    a: &[RunNumbers],
    b: &[RunNumbers],
    margin: f64,
) -> (Vec<ImportedCompared>, Vec<String>) {
    let keys: BTreeSet<&Key> = a.iter().chain(b).flat_map(|run| run.imported.keys()).collect();
    let (mut numbers, mut left_out) = (Vec::new(), Vec::new());
    for key in keys {
        let of = |runs: &[RunNumbers]| {
            runs.iter().filter_map(|run| run.imported.get(key).copied()).collect::<Vec<f64>>()
        };
        match comparison(key, &of(a), &of(b), margin) {
            Some(number) => numbers.push(number),
            None => left_out.push(key.name()),
        }
    }
    (numbers, left_out)
}

fn comparison(key: &Key, a: &[f64], b: &[f64], margin: f64) -> Option<ImportedCompared> {
    let sides = SidesCompared::of_values(a, b, margin, key.quantity.entry().more_is_better)?;
    Some(ImportedCompared {
        tool: key.tool.clone(),
        test: key.test.clone(),
        message_bytes: key.message_bytes,
        quantity: key.quantity,
        unit: key.quantity.entry().unit.into(),
        statistic: key.statistic.clone(),
        end: key.end.clone(),
        sides,
    })
}
