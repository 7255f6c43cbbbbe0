//! Suites on the lab: every figure of every paper is drawn, a load is felt, several hosts take part.

use crate::user::runs::{Run, recording, run};
use serde_json::Value;
use std::path::Path;

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The points of a figure's series: what each is called along x, and its median.
fn points(report: &Value, figure: &str) -> Vec<(String, String, f64)> {
    let all = list(report, "suites").iter().flat_map(|suite| list(suite, "figures"));
    let one = all.into_iter().find(|one| one["id"] == figure).unwrap_or_else(|| panic!("no figure {figure}"));
    let of_series = |series: &Value| {
        let name = series["name"].as_str().unwrap().to_owned();
        let point = move |point: &Value| {
            let at = point["at"].as_str().unwrap().to_owned();
            (name.clone(), at, point["value"]["median"].as_f64().unwrap())
        };
        list(series, "points").iter().map(point).collect::<Vec<_>>()
    };
    list(one, "series").iter().flat_map(of_series).collect()
}

/// The recording, copied to where it outlives a test that failed.
fn kept(run: &Run) -> std::path::PathBuf {
    let copy = std::env::temp_dir().join(format!("linerate-empty-{}.jsonl", std::process::id()));
    std::fs::copy(recording(run.folder.path()), &copy).unwrap();
    copy
}

/// What of a suite has no value, figures by their names and conclusions by their places: exactly that.
#[derive(Default)]
struct Without {
    figures: &'static [&'static str],
    claims: &'static [&'static str],
}

/// Runs a suite once and sees that every other figure has points, and every other conclusion a number.
fn drawn_but(without: &Without, arguments: &[&str]) -> (Run, Value) {
    let run = run(&[arguments, &["--profile", "quick", "--passes", "1"]].concat());
    let report = run.report();
    for suite in list(&report, "suites") {
        for figure in list(suite, "figures") {
            let id = figure["id"].as_str().unwrap();
            let is_drawn = !points(&report, id).is_empty();
            let is_right = is_drawn != without.figures.contains(&id);
            assert!(is_right, "{figure} is drawn: {is_drawn}, {}, {:?}", suite["left_out"], kept(&run));
        }
        for claim in list(suite, "claims") {
            // What says nothing of these hosts says why.
            if claim["holds"] == "not-applicable" {
                assert!(claim["condition"].as_str().is_some_and(|why| !why.is_empty()), "{claim}");
                continue;
            }
            let is_measured = claim["value"]["median"].is_number();
            let is_excepted = without.claims.contains(&claim["place"].as_str().unwrap());
            assert!(is_measured != is_excepted, "{claim}");
            // One pass has no interval.
            let says = if is_measured { "cannot-tell" } else { "not-measured" };
            assert_eq!(claim["holds"], says, "{claim}");
        }
    }
    assert_eq!(list(&report, "ladder").len(), 0);
    (run, report)
}

/// What quick leaves to longer profiles.
const LONG_FILES: Without = Without {
    figures: &["004-T3-long"],
    claims: &[
        "section 5.4, Table 3: 3531.2 and 1954.4 Mb/s of 1000 MB",
        "section 5.4, Table 3: 699.2 and 654.4 Mb/s",
    ],
};

fn drawn(arguments: &[&str]) -> (Run, Value) {
    drawn_but(&Without::default(), arguments)
}

#[test]
fn the_suite_of_sockets_is_drawn_on_five_hosts() {
    let figures = "003-F5b,003-F8-rate,003-F12";
    let (run, report) = drawn(&["lab:hosts=5", "--suite", "sockets", "--figures", figures]);
    let hot_spot = points(&report, "003-F5b");
    let clients: Vec<&str> = hot_spot.iter().map(|(_, at, _)| at.as_str()).collect();
    assert_eq!(clients, ["x 1", "x 2", "x 4", "x 8", "x 12"]);
    // Twelve clients are three on each of four hosts, and their server is a.
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let trials = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let twelve = trials
        .filter(|line| {
            line["event"] == "trial" && line["case"]["from"] == "b+c+d+e" && line["case"]["flows"] == 3
        })
        .find(|trial| trial["case"]["pattern"] == "ping-pong" && trial["pass"] == 1)
        .expect("a trial of twelve clients");
    let of = |does: &str| {
        let roles = list(&twelve, "roles").iter().filter(|role| role["does"] == does);
        roles
            .map(|role| (role["host"].as_str().unwrap().to_owned(), list(role, "flows").len()))
            .collect::<Vec<_>>()
    };
    let mut clients = of("pings");
    clients.sort();
    assert_eq!(clients, ["b", "c", "d", "e"].map(|host| (host.to_owned(), 3)));
    assert_eq!(of("echoes"), vec![("a".to_owned(), 3); 4]);
}

/// What `the_suite_of_sockets_is_drawn_on_five_hosts` leaves out: the same by other patterns, over more than a minute.
#[test]
#[ignore = "takes two minutes: ./test --long"]
fn every_figure_of_sockets_is_drawn_on_five_hosts() {
    let (_, report) = drawn(&["lab:hosts=5", "--suite", "sockets"]);
    let suites = list(&report, "suites");
    assert!(list(&suites[0], "figures").len() > 15, "{}", suites[0]["figures"]);
}

/// The suites that take a minute each on a lab.
fn long_ones_are_drawn(target: &str, without: &Without) {
    let (_, report) = drawn_but(without, &[target, "--suite", "libraries,adapter,san"]);
    let names: Vec<&Value> = list(&report, "suites").iter().map(|suite| &suite["name"]).collect();
    assert_eq!(names, ["libraries", "adapter", "san"]);
    let curves = |figure| {
        let mut names: Vec<String> = points(&report, figure).into_iter().map(|(name, ..)| name).collect();
        names.dedup();
        names
    };
    assert_eq!(curves("001-F2").len(), 7, "TCP, the light layer, two MPIs, TCGMSG, puts and gets");
    assert_eq!(curves("002-F2-F6").len(), 4, "each step of the ladder is a curve of its own");
}

/// A made-up machine has neither CPUs that two ends compute on nor limits to search for.
#[test]
fn library_suites_are_drawn_on_simulated_hosts() {
    let without = Without {
        figures: &["001-F-overlap", "002-5.4-limits", "002-6-zero-loss"],
        claims: &["section 5.4"],
    };
    long_ones_are_drawn("simulated", &without);
}

#[test]
#[ignore = "takes two minutes: ./test --long"]
fn library_suites_are_drawn_on_a_lab() {
    long_ones_are_drawn("lab", &Without::default());
}

#[test]
fn packet_filters_are_drawn_on_simulated_hosts() {
    drawn(&["simulated", "--suite", "packet-filter"]);
}

#[test]
#[ignore = "takes a minute: ./test --long"]
fn packet_filters_are_drawn_on_a_lab() {
    drawn(&["lab:hosts=3", "--suite", "packet-filter"]);
}

#[test]
fn transfers_are_drawn_on_simulated_hosts() {
    drawn_but(&LONG_FILES, &["simulated", "--suite", "transfer"]);
}

#[test]
#[ignore = "takes ten minutes: ./test --long"]
fn transfers_are_drawn_on_a_lab() {
    drawn_but(&LONG_FILES, &["lab", "--suite", "transfer"]);
}

#[test]
fn the_suite_of_a_grid_is_drawn_over_a_path() {
    drawn(&["lab:metro", "--suite", "grid"]);
}

const LOADED: &str = r#"
name = "mine"
[[case]]
id = "loaded"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
trial = "100ms"
load = { rung = "network.tcp", flows = 2, roles = ["there", "back"] }
[[figure]]
id = "loaded"
title = "An exchange alone and under load"
cases = ["loaded"]
x = "load"
y = "half-round-trip.mean"
"#;

#[test]
fn a_load_outlasts_its_exchange() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, LOADED).unwrap();
    // A link that a stream fills: what waits in its queue is felt by the exchange.
    let (run, report) = drawn(&["lab:rate=200Mb/s,delay=1ms", "--plan", plan.to_str().unwrap()]);
    let points = points(&report, "loaded");
    let value = |at: &str| points.iter().find(|(_, name, _)| name.starts_with(at)).unwrap().2;
    assert!(value("network.tcp x 2") > 2.0 * value("alone"), "{points:?}");
    let lines = loads(&recording(run.folder.path()));
    assert_eq!(lines.len(), 1, "one pass has one trial under load");
    let roles = list(&lines[0], "roles");
    assert_eq!(roles.len(), 4, "a sender and a receiver each way");
    for receiver in roles.iter().filter(|role| role["does"] == "receives") {
        let flows = list(receiver, "flows");
        let seconds = flows[0]["duration_ns"].as_f64().unwrap() / 1e9;
        let bytes: f64 = flows.iter().map(|flow| flow["bytes"].as_f64().unwrap()).sum();
        let share = 8.0 * bytes / seconds / 200e6;
        assert!((0.3..1.0).contains(&share), "the load carried {share} of the link in {seconds} s");
        assert!(seconds > 0.5, "it leads by half a second");
    }
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let steps = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let loaded = steps.filter(|line| line["event"] == "step" && line["beside"].is_object());
    for step in loaded {
        let sockets = list(&step, "sockets").iter().filter(|socket| socket["beside"] == true);
        let mut hosts: Vec<&str> = sockets.map(|socket| socket["host"].as_str().unwrap()).collect();
        hosts.sort_unstable();
        assert_eq!(hosts, ["a", "a", "a", "a", "b", "b", "b", "b"], "both ends of two flows each way");
    }
}

const IMPOSSIBLE: &str = r#"
name = "mine"
[[case]]
id = "works"
rung = "network.tcp"
pattern = "stream"
sizes = "64KiB"
trial = "20ms"
[[case]]
id = "pattern"
rung = "network.tls"
pattern = "ping-ping"
wait = "sleeping"
sizes = "64"
[[case]]
id = "load"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
trial = "20ms"
load = { rung = "network.udp" }
[[case]]
id = "size"
rung = "network.udp"
pattern = "stream"
sizes = ["64", "100KiB"]
trial = "20ms"
[[case]]
id = "search"
rung = "network.udp"
pattern = "capacity"
sizes = ["8", "1400"]
flows = [2]
trial = "150ms"
[[case]]
id = "flows"
rung = "in-host.shared-memory"
pattern = "stream"
sizes = ["64"]
flows = [2]
trial = "20ms"
[[case]]
id = "sleeps"
rung = "in-host.mpi"
pattern = "ping-pong"
wait = "sleeping"
sizes = ["64"]
trial = "20ms"
[[figure]]
id = "one"
title = "What works"
cases = ["works", "pattern", "load", "size", "search", "flows", "sleeps"]
x = "size"
y = "throughput"
"#;

#[test]
fn what_a_transport_cannot_do_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, IMPOSSIBLE).unwrap();
    let (_, report) = drawn(&["lab", "--plan", plan.to_str().unwrap()]);
    let left_out = list(&list(&report, "suites")[0], "left_out");
    let whys: Vec<&str> = left_out.iter().map(|not| not["why"].as_str().unwrap()).collect();
    let wanted = [
        "tls carries no ping-ping",
        "udp cannot run beside a measurement",
        "100 KiB",
        "capacity searches over one flow, not over 2",
        "2 flows of shared-memory, which has 1",
        "mpi only polls",
    ];
    assert_eq!(whys, wanted.map(|why| format!("unavailable: {why}")));
    let hints = left_out.iter().map(|not| not["hint"].as_str().unwrap());
    let words = ["tcp", "tcp", "udp carries messages of 1 B to", "flows = [1]", "flows = [1]", "polling"];
    for (hint, word) in hints.zip(words) {
        assert!(hint.contains(word), "{hint}");
    }
    let sizes = points(&report, "one").into_iter().filter(|(_, at, _)| at == "64 B");
    assert_eq!(sizes.count(), 1, "the size that fits is measured");
}

/// The trials of loads that count.
fn loads(recording: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(recording).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["event"] == "trial" && line["case"]["beside"] == true && line["pass"] == 1)
        .collect()
}
