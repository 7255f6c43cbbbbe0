//! What is known of a running program, in words and as JSON.

use super::block::{aligned, borderless};
use super::line::{TEXT_WIDTH, wrapped};
use crate::diagnosis::{CauseVerdict, ConnectionFound, RunningFound, diagnose_running};
use crate::record::RunningProgram;
use crate::unit::{BitRate, Nanoseconds, counted, percent};
use crate::vocabulary::Cause;
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the JSON form.
const SCHEMA: &str = "linerate.running-report/1";

/// Connections that have a line of their own.
const MOST_SHOWN: usize = 12;

/// What a running program's connections say, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunningReport<'p> {
    /// `linerate.running-report/1`.
    pub schema: &'static str,
    /// The answer in words.
    pub sentence: String,
    /// What was watched.
    pub name: &'p str,
    /// How long.
    pub duration_ns: u64,
    /// How often its connections were read.
    pub readings: u32,
    /// The share of the time that the busiest of its threads had a CPU; null of a port.
    pub busiest_thread: Option<f64>,
    /// What was found.
    #[serde(flatten)]
    pub found: RunningFound<'p>,
}

impl RunningReport<'_> {
    /// The report of what was watched.
    pub fn new(program: &RunningProgram) -> RunningReport<'_> {
        let found = diagnose_running(program);
        RunningReport {
            schema: SCHEMA,
            sentence: sentence(program, &found),
            name: &program.name,
            duration_ns: program.duration_ns,
            readings: program.readings,
            busiest_thread: program.busiest_thread,
            found,
        }
    }

    /// As one line for programs.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// What is printed.
    pub fn text(&self) -> String {
        let watched = format!(
            "{} of {}, read {} in {}; nothing was changed.",
            counted(self.found.connections.len(), "TCP connection"),
            self.name,
            counted(self.readings, "time"),
            Nanoseconds(self.duration_ns as f64).rounded(2)
        );
        let mut lines = wrapped(&self.sentence, TEXT_WIDTH);
        lines.push(String::new());
        lines.extend(wrapped(&watched, TEXT_WIDTH));
        if !self.found.connections.is_empty() {
            lines.push(String::new());
            lines.extend(table(&self.found.connections));
        }
        for one in &self.found.verdicts {
            lines.push(String::new());
            let told = format!("{}: {}. To try: {}.", one.cause, one.evidence.join("; "), one.fix);
            lines.extend(wrapped(&told, TEXT_WIDTH));
        }
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

fn sentence(program: &RunningProgram, found: &RunningFound) -> String {
    let name = &program.name;
    let what = |one: &CauseVerdict| {
        Cause::named(&one.cause).map_or_else(|| one.cause.clone(), |cause| cause.what.to_owned())
    };
    let (faults, costs): (Vec<&CauseVerdict>, Vec<&CauseVerdict>) =
        found.verdicts.iter().partition(|one| one.is_fault);
    let told = |all: &[&CauseVerdict]| all.iter().map(|one| what(one)).collect::<Vec<_>>().join("; and by ");
    let senders = found.connections.iter().filter(|one| one.waits.is_some());
    let sender = senders.max_by(|a, b| a.sent_bps.total_cmp(&b.sent_bps));
    match (faults.as_slice(), costs.as_slice(), sender) {
        ([], [], _) if found.connections.is_empty() => {
            format!("Nothing can be told of {name}: it had no TCP connection for more than one reading.")
        }
        ([], [], None) => format!(
            "Nothing can be told of {name}: no connection of it sent enough to be limited, and what came in was read at once. \
             Where it asks and waits for answers, `linerate trace` with the same program shows where a message waits."
        ),
        ([], [], Some(sender)) => format!(
            "No fault is seen on the connections of {name}: data was on its way and neither end waited {} of the time, on \
             the one that sent most. What more there is only an experiment tells.",
            percent(sender.waits.map_or(0.0, |waits| waits.under_way))
        ),
        ([], costs, _) => format!("{name} fills {}: no fault is seen beside that.", told(costs)),
        (faults, _, _) => format!(
            "{name} behaves as if held back by {}. Nothing was changed, so nothing is proved.",
            told(faults)
        ),
    }
}

fn table(connections: &[ConnectionFound]) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header([
        "connection",
        "sent",
        "received",
        "nothing to send",
        "window shut",
        "buffer full",
        "on its way",
        "sent again",
    ]);
    for one in connections.iter().take(MOST_SHOWN) {
        let share = |of: Option<f64>| of.map_or_else(|| "-".to_owned(), percent);
        let rate = |bps: f64| BitRate(bps).rounded(2);
        let waits = one.waits;
        table.add_row([
            format!("{} to {}", one.read.local, one.read.remote),
            rate(one.sent_bps),
            rate(one.received_bps),
            share(waits.map(|it| it.program)),
            share(waits.map(|it| it.window)),
            share(waits.map(|it| it.buffer)),
            share(waits.map(|it| it.under_way)),
            share(one.sent_again),
        ]);
    }
    let mut lines: Vec<String> =
        aligned(table, |index| index == 0).iter().map(|line| format!("  {line}")).collect();
    if connections.len() > MOST_SHOWN {
        lines.push(format!("  and {} more, in --format json", connections.len() - MOST_SHOWN));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_is_nothing_told() {
        let program = RunningProgram { name: "port 9".into(), readings: 5, ..RunningProgram::default() };
        let report = RunningReport::new(&program);
        assert!(report.text().starts_with("Nothing can be told of port 9"), "{}", report.text());
        assert!(report.json().unwrap().contains("\"verdicts\":[]"));
    }
}
