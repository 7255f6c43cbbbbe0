//! What other tools wrote, damaged: whatever comes is read as finite numbers, or refused with words.

use super::mutator::{number, some};
use super::stays_small;
use crate::imported::{files, tool};
use linerate::record::Event;
use linerate::record::import::{Given, import};
use linerate::vocabulary::TOOLS;
use std::sync::Mutex;

/// How many inputs each reader gets, where `FUZZ_INPUTS` says nothing.
const INPUTS: u64 = 150;

#[test]
fn a_damaged_file_of_each_tool_is_read_or_refused() {
    let inputs = number("FUZZ_INPUTS", INPUTS);
    let files = files();
    let tools = Mutex::new(TOOLS.iter());
    let work = || {
        loop {
            let Some(one) = tools.lock().unwrap().next() else { break };
            let valid: Vec<&[u8]> = files
                .iter()
                .filter(|(name, _)| tool(name) == one.name)
                .map(|(_, bytes)| bytes.as_slice())
                .collect();
            let given =
                [None, Some(one.name)].map(|tool| Given { tool: tool.map(String::from), ..Given::default() });
            some(one.name, &valid, inputs, |bytes| given.iter().for_each(|given| is_sound(bytes, given)));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    stays_small("files of tools");
}

fn is_sound(bytes: &[u8], given: &Given) {
    match import(bytes, given) {
        Ok(runs) => {
            for row in runs.into_iter().flatten() {
                let Event::Imported(row) = row else { continue };
                let is_finite = |value: &f64| value.is_finite() && *value >= 0.0;
                assert!(!row.values.is_empty() && row.values.iter().all(is_finite), "{row:?}");
                assert!(row.at_s.iter().flatten().all(is_finite), "{row:?}");
            }
        }
        Err(refusal) => assert!(!refusal.what.is_empty() && !refusal.hint.is_empty(), "{refusal:?}"),
    }
}
