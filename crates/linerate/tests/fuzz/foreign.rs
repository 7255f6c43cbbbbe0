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

/// What a launcher puts before lines, of each kind that is known.
const MARKS: [&str; 3] = ["[1,0]<stdout>:", "[0] ", "0: "];

/// Valid files, and the tool that they are of; none where launchers marked the lines of any.
struct Target {
    tool: Option<&'static str>,
    valid: Vec<Vec<u8>>,
}

fn targets() -> Vec<Target> {
    let files = files();
    let of_tool = |name: &'static str| {
        let its = files.iter().filter(|(file, _)| tool(file) == name).map(|(_, bytes)| bytes.clone());
        Target { tool: Some(name), valid: its.collect() }
    };
    let marked = files.iter().flat_map(|(_, bytes)| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        MARKS.map(|mark| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>().into_bytes())
    });
    let launchers = Target { tool: None, valid: marked.collect() };
    TOOLS.iter().map(|tool| of_tool(tool.name)).chain([launchers]).collect()
}

#[test]
fn a_damaged_file_of_each_tool_is_read_or_refused() {
    let inputs = number("FUZZ_INPUTS", INPUTS);
    let targets = targets();
    let rest = Mutex::new(targets.iter());
    let work = || {
        loop {
            let Some(target) = rest.lock().unwrap().next() else { break };
            let valid: Vec<&[u8]> = target.valid.iter().map(Vec::as_slice).collect();
            let mut tools = vec![None];
            tools.extend(target.tool.map(Some));
            let given: Vec<Given> =
                tools.iter().map(|tool| Given { tool: tool.map(String::from), ..Given::default() }).collect();
            let name = target.tool.unwrap_or("launchers");
            some(name, &valid, inputs, |bytes| given.iter().for_each(|given| is_sound(bytes, given)));
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
