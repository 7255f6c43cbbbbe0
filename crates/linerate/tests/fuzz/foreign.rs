//! What other tools wrote, damaged: whatever comes is read as finite numbers, or refused with words.

use super::mutator::{number, some};
use super::stays_small;
use crate::imported::{file, files, tool};
use linerate::record::Event;
use linerate::record::import::{Given, import};
use linerate::vocabulary::TOOLS;
use std::sync::Mutex;

/// How many inputs each reader gets, where `FUZZ_INPUTS` says nothing.
const INPUTS: u64 = 150;

/// What a launcher, and what keeps the output of services, puts before lines, of each kind that is known; `N` is the line's number.
const MARKS: [&str; 14] = [
    "[1,0]<stdout>:",
    "[0] ",
    "0: ",
    "client-1  | ",
    "[pod/a-1/b] ",
    "2026-11-27T09:00:00.123456789Z ",
    "Dec 27 09:00:00 host iperf3[4711]: ",
    "2026-11-27T09:00:00+0000 host iperf3[4711]: ",
    "2026-11-27T09:00:00.123456+00:00 host iperf3[4711]: ",
    "[2026-11-27 09:00:00] ",
    "Dec 27 09:00:00 ",
    "node7: ",
    "     N\t",
    "N:",
];

/// Valid files, and the tool that they are of; none where launchers marked the lines of any, or several wrote them. Of the
/// names in `FUZZ_ONLY`, where it is set.
struct Target {
    name: &'static str,
    tool: Option<&'static str>,
    valid: Vec<Vec<u8>>,
}

fn targets() -> Vec<Target> {
    let files = files();
    let of_tool = |name: &'static str| {
        let its = files.iter().filter(|(file, _)| tool(file) == name).map(|(_, bytes)| bytes.clone());
        Target { name, tool: Some(name), valid: its.collect() }
    };
    let marked = files.iter().flat_map(|(_, bytes)| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        MARKS.map(|mark| {
            let line = |(at, line): (usize, &str)| mark.replace('N', &(at + 1).to_string()) + line + "\n";
            text.lines().enumerate().map(line).collect::<String>().into_bytes()
        })
    });
    let launchers = Target { name: "launchers", tool: None, valid: marked.collect() };
    // Two tools in a file, the second of each that is read.
    let second = files.iter().map(|(_, bytes)| [file("ping-loopback.txt"), bytes.clone()].concat());
    let several = Target { name: "several", tool: None, valid: second.collect() };
    let all = TOOLS.iter().map(|tool| of_tool(tool.name)).chain([launchers, several]);
    let only = std::env::var("FUZZ_ONLY").ok();
    all.filter(|target| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == target.name)))
        .collect()
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
            some(target.name, &valid, inputs, |bytes| given.iter().for_each(|given| is_sound(bytes, given)));
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
