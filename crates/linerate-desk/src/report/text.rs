//! The text form: the answer first, then the ladder, then what to know beside it.

use super::line::{BOLD, INDENT, LEAST_WIDTH, TEXT_WIDTH, marked, wrapped};
use super::shape::{InterfaceEntry, LadderEntry, Report, Run};
use super::{Page, curve, ended, ladder, note, suite};
use crate::statistic::LOOKS;
use crate::unit::{BitRate, Nanoseconds};

/// Fewer observations than this have no interval.
const LEAST: u32 = LOOKS[0];

const YELLOW: &str = "\x1b[33m";

/// What tells all notes of a recording.
pub(super) const EXPLAIN: &str = "`linerate explain RECORDING`";

/// Writes the report for a page.
pub(super) fn render(report: &Report, page: Page) -> String {
    let width = page.width.map(|width| usize::from(width).max(LEAST_WIDTH));
    let text_width = width.unwrap_or(TEXT_WIDTH).min(TEXT_WIDTH);
    let marked = |text: &str, mark: &str| marked(text, mark, page);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(wrapped(&report.sentence, text_width).iter().map(|line| marked(line, BOLD)));
    lines.push(String::new());
    lines.extend(wrapped(&heading(report, passes(report)), text_width));
    for block in
        report.suites.iter().flat_map(|one| suite::render(one, width.map(|it| it - INDENT.len()), text_width))
    {
        lines.push(String::new());
        for (index, line) in block.iter().enumerate() {
            let line = if index == 0 { marked(line, BOLD) } else { line.clone() };
            lines.push(format!("{INDENT}{line}"));
        }
    }
    for band in ladder::render(report, width.map(|width| width - INDENT.len())) {
        lines.push(String::new());
        for (index, line) in band.iter().enumerate() {
            let is_head = index < 2 && !line.contains("not measured:");
            let line = if is_head && !line.is_empty() { marked(line, BOLD) } else { line.clone() };
            lines.push(format!("{INDENT}{line}"));
        }
    }
    let notes =
        note::brief(all_notes(report), EXPLAIN, text_width - INDENT.len(), |code| marked(code, YELLOW));
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().map(|line| format!("{INDENT}{line}")));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Every note, and the breaks of the curves, what takes most from the numbers first.
pub(super) fn all_notes(report: &Report) -> Vec<note::Note> {
    let mut notes = [note::notes(report), curve::notes(report)].concat();
    notes.extend(ended::note(report));
    notes.sort_by_key(|note| note.weight.place());
    notes
}

/// `lab: 2 hosts, veth, MTU 1500 · Xeon 2.6 GHz, 2 CPUs · cubic · CPUs 0/1, kept awake · 10 passes`.
pub(super) fn heading(report: &Report, last: Option<String>) -> String {
    if let Some(imported) = &report.imported {
        return super::imported::heading(imported);
    }
    let run = &report.run;
    let congestion = Some(run.congestion_control.join("/")).filter(|names| !names.is_empty());
    // Whoever is sent a report has not seen the command.
    let set = Some(run.settings.join(", ")).filter(|settings| !settings.is_empty());
    let parts = [Some(wire(run)), cpus(run), congestion, set, placement(report), last];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn wire(run: &Run) -> String {
    let (scheme, rest) = run.target.split_once(':').unwrap_or((&run.target, ""));
    let target = if rest.starts_with("//") { run.target.as_str() } else { scheme };
    let mut facts =
        vec![format!("{} {}", run.hosts.len(), if run.hosts.len() == 1 { "host" } else { "hosts" })];
    // Those of a lab are always the same.
    let addresses: Vec<&str> = run.hosts.iter().filter_map(|host| host.address.as_deref()).collect();
    facts.extend((rest.starts_with("//") && !addresses.is_empty()).then(|| addresses.join(" and ")));
    let told = |interface: &InterfaceEntry| interface.driver.clone().unwrap_or(interface.name.clone());
    let mut interfaces: Vec<String> = run.interfaces.iter().map(told).collect();
    interfaces.dedup();
    facts.extend((!interfaces.is_empty()).then(|| interfaces.join("/")));
    let on_path = run.path_mtu.map_or(String::new(), |mtu| format!(", {mtu} on the path"));
    facts.extend(run.mtu.map(|mtu| format!("MTU {mtu}{on_path}")));
    facts.extend(run.line_bps.map(|rate| BitRate(rate).to_string()));
    if scheme == "lab" {
        facts.extend(further_keys(rest, run.line_bps.is_some()));
    }
    format!("{target}: {}", facts.join(", "))
}

/// Keys of a lab that stand in its heading anyway, or elsewhere; the rate does where the hosts' interfaces have it.
const TOLD: [&str; 4] = ["hosts=", "mtu=", "fault=", RATE];
const RATE: &str = "rate=";

/// What else is said of a lab: `delay 10.0 ms`, `c-.rate 12.0 Mb/s`, `hops 2`.
fn further_keys(description: &str, has_rate: bool) -> impl Iterator<Item = String> + '_ {
    let is_told =
        move |key: &str| TOLD.iter().any(|told| key.starts_with(told) && (has_rate || *told != RATE));
    let keys = description.split(',').filter(move |key| !key.is_empty() && !is_told(key));
    keys.map(|key| match key.split_once('=') {
        Some((name, value)) if value.ends_with("ns") => {
            let time = value.parse::<Nanoseconds>().map_or(value.into(), |time| time.to_string());
            format!("{name} {time}")
        }
        Some((name, value)) if value.ends_with("b/s") => {
            let rate = value.parse::<BitRate>().map_or(value.into(), |rate| rate.to_string());
            format!("{name} {rate}")
        }
        Some((name, value)) => format!("{name} {value}"),
        None => key.into(),
    })
}

fn cpus(run: &Run) -> Option<String> {
    let mut each: Vec<String> = run
        .hosts
        .iter()
        .map(|host| {
            let model = host.cpu_model.as_ref().map_or(String::new(), |model| format!("{model}, "));
            format!("{model}{} {}", host.cpus, if host.cpus == 1 { "CPU" } else { "CPUs" })
        })
        .collect();
    each.dedup();
    (!each.is_empty()).then(|| each.join(" / "))
}

/// The CPUs of the two ends, of the topmost layer that has any.
fn placement(report: &Report) -> Option<String> {
    let two_ended = |entry: &&LadderEntry| entry.engine.is_some();
    let entry = report.ladder.iter().rev().filter(two_ended).find(|entry| entry.flows == 1)?;
    let cpus: Vec<String> = entry.placement.iter().map(u32::to_string).collect();
    let pinned = if cpus.is_empty() { "not pinned".into() } else { format!("CPUs {}", cpus.join("/")) };
    let awake = match report.run.kept_awake {
        Some(true) => ", kept awake",
        Some(false) => ", not kept awake",
        None => "",
    };
    Some(format!("{pinned}{awake}"))
}

fn passes(report: &Report) -> Option<String> {
    let of_ladder = report.ladder.iter().filter_map(|entry| entry.throughput_bps);
    let figures = report.suites.iter().flat_map(|suite| &suite.figures);
    let of_suites = figures.flat_map(|figure| &figure.series).flat_map(|series| &series.points);
    let counts = of_ladder.chain(of_suites.map(|point| point.value)).map(|estimate| estimate.n);
    let passes = counts.max()?;
    let all = || format!("{passes} {}", if passes == 1 { "pass" } else { "passes" });
    let intervals = if passes < LEAST { "too few for 95 % intervals" } else { "95 % intervals" };
    Some(format!("{}, {intervals}", ended::passes(report).unwrap_or_else(all)))
}

#[cfg(test)]
mod tests {
    use super::further_keys;

    #[test]
    fn a_lab_says_all_that_lies_between_its_hosts() {
        let keys = |description: &str| further_keys(description, true).collect::<Vec<_>>().join(", ");
        assert_eq!(keys(""), "");
        assert_eq!(keys("hosts=2,mtu=1500,rate=1000000000b/s,fault=sack-off"), "");
        assert_eq!(
            keys("net.toml,mtu=9000,delay=100000ns,loss=0.01,a-b.delay=2000000ns,hops=2"),
            "net.toml, delay 100 µs, loss 0.01, a-b.delay 2.00 ms, hops 2"
        );
        let of_hosts: Vec<String> =
            further_keys("hosts=8,rate=20000000b/s,c-.rate=12000000b/s,wire=tbf", false).collect();
        assert_eq!(of_hosts.join(", "), "rate 20.0 Mb/s, c-.rate 12.0 Mb/s, wire tbf");
    }
}
