//! What tells points of an application apart: the transports that it ranks, and the libraries along settings.

use super::{list, planned};

const RANKED: &str = r#"
name = "mine"
[[case]]
id = "carried"
rung = ["network.tcp", "network.tls"]
pattern = "stream"
sizes = "64KiB"
trial = "20ms"
[[case]]
id = "read"
rung = ["network.tcp", "network.tls"]
pattern = "striped-read"
sizes = "1MiB"
trial = "20ms"
[[figure]]
id = "read"
title = "Read"
cases = ["read"]
x = "size"
y = "striped-throughput"
against = "carried"
"#;

#[test]
fn an_applications_ranking_is_set_against_a_streams() {
    let report = planned("lab:hosts=2", RANKED, &["--figures", "read"]).report();
    let figures = list(&report, "suites").iter().flat_map(|suite| list(suite, "figures"));
    let ranking = &figures.into_iter().find(|figure| figure["id"] == "read").unwrap()["ranking"];
    let pairs = list(ranking, "pairs");
    assert_eq!((pairs.len(), &ranking["against"]), (1, &"carried".into()), "{ranking}");
    for ratio in [&pairs[0]["application"], &pairs[0]["micro_benchmark"]] {
        assert!(ratio["median"].as_f64().is_some_and(|median| median > 0.0), "{ranking}");
    }
    // One pass has no interval, and both hosts are this machine.
    assert_eq!(pairs[0]["ranked"], "cannot-tell");
    let said = ranking["said"].as_str().unwrap();
    assert!(said.contains("cannot be told") && said.ends_with("it is its CPU that is ranked."), "{said}");
}

const LIBRARIES: &str = r#"
name = "mine"
[[case]]
id = "written"
rung = "network.mpi"
pattern = "file-write"
wait = "polling"
sizes = ["64KiB"]
trial = "20ms"
[case.vary]
"mpi.implementation" = ["openmpi", "mpich"]
[[figure]]
id = "written"
title = "Written"
cases = ["written"]
x = "settings"
y = "striped-throughput"
"#;

#[test]
fn libraries_along_settings_are_told_apart() {
    let report = planned("lab:hosts=2", LIBRARIES, &[]).report();
    let figures = list(&report, "suites").iter().flat_map(|suite| list(suite, "figures"));
    let series = list(figures.into_iter().next().unwrap(), "series");
    let points = series.iter().flat_map(|series| list(series, "points"));
    let labels: Vec<&str> = points.map(|point| point["label"].as_str().unwrap_or_default()).collect();
    assert_eq!(labels.len(), 2, "{series:?}");
    assert!(labels[0].starts_with("Open MPI") && labels[1].starts_with("MPICH"), "{labels:?}");
    let name = series[0]["label"].as_str().unwrap_or_default();
    assert!(!name.contains("Open MPI"), "a series of both is called by none: {name}");
}
