//! Pipelines on the lab: what comes out is what one process makes, and what holds them up is named.

use super::{lanes, list, planned, points, refused};
use serde_json::Value;

/// Stages in a row, each `ID FILTER MORE`, and what more is said of each stream.
fn plan(stages: &[(&str, &str, &str)], stream: &str, sizes: &str, update: &str) -> String {
    let mut text = String::from("name = \"mine\"\n");
    for (id, filter, more) in stages {
        text += &format!("[[stage]]\nid = \"{id}\"\nfilter = \"{filter}\"\n{more}\n");
    }
    for two in stages.windows(2) {
        text += &format!("[[stream]]\nfrom = \"{}\"\nto = \"{}\"\n{stream}\n", two[0].0, two[1].0);
    }
    text += &format!(
        "[[case]]\nid = \"units\"\nrung = \"network.tcp\"\npattern = \"pipeline\"\nsizes = {sizes}\ntrial = \"100ms\"\n\
         [case.vary]\n\"pipeline.update\" = [\"{update}\"]\n\
         [[figure]]\nid = \"units\"\ntitle = \"Units\"\ncases = [\"units\"]\nx = \"size\"\ny = \"unit-time\"\n"
    );
    text
}

const BYTES: [(&str, &str, &str); 3] =
    [("make", "bytes.make", ""), ("pass", "bytes.pass", ""), ("check", "bytes.check", "")];
const SLIDE: [(&str, &str, &str); 4] = [
    ("read", "slide.read", ""),
    ("clip", "slide.clip", "copies = 2"),
    ("subsample", "slide.subsample", "copies = 3"),
    ("view", "slide.view", ""),
];
const VOLUME: [(&str, &str, &str); 4] = [
    ("read", "volume.read", ""),
    ("extract", "volume.extract", "copies = 2\nhost = [\"b\", \"c\"]"),
    ("raster", "volume.raster", "copies = 2"),
    ("merge", "volume.merge", ""),
];

/// What the table of stages says that binds.
fn binding(report: &Value) -> String {
    let tables = list(report, "suites").iter().flat_map(|suite| list(suite, "tables"));
    let mut notes = tables.filter_map(|table| table["note"].as_str());
    notes.next_back().unwrap_or_default().to_owned()
}

/// Every unit that is looked at is compared with what one process makes, or the step has failed.
#[test]
fn images_are_what_one_process_makes() {
    for (stages, hand_out) in [
        (&SLIDE, "round-robin"),
        (&SLIDE, "demand-driven"),
        (&SLIDE, "least-loaded"),
        (&VOLUME, "demand-driven"),
    ] {
        let text = plan(stages, &format!("hand_out = \"{hand_out}\""), "[\"2KiB\", \"64KiB\"]", "256KiB");
        let run = planned("lab:hosts=4", &text, &[]);
        let report = run.report();
        assert_eq!(
            points(&report, "units").len(),
            2,
            "{hand_out}: {}",
            String::from_utf8_lossy(&run.output.stderr)
        );
        assert!(!binding(&report).is_empty());
    }
}

#[test]
fn units_go_ahead_and_over_other_transports() {
    let text = plan(&BYTES, "", "[\"16KiB\"]", "256KiB");
    for set in ["pipeline.units=ahead", "pipeline.transport=tls", "pipeline.transport=mptcp"] {
        let run = planned("lab:hosts=3", &text, &["--set", set]);
        let report = run.report();
        assert_eq!(
            points(&report, "units").len(),
            1,
            "{set}: {}",
            String::from_utf8_lossy(&run.output.stderr)
        );
        let carried = list(&report, "suites").iter().flat_map(|suite| list(suite, "left_out"));
        assert_eq!(carried.count(), 0, "{set}");
    }
}

#[test]
fn a_stage_slowed_by_two_milliseconds_binds() {
    let stages = [BYTES[0], ("pass", "bytes.pass", "slow = \"2ms\""), BYTES[2]];
    // So little that the stages of this build take for their own work a small part of that.
    let text = plan(&stages, "", "[\"16KiB\"]", "16KiB");
    // Ahead: one by one every stage waits for most of a unit's time.
    let report = planned("lab:hosts=3", &text, &["--set", "pipeline.units=ahead"]).report();
    let said = binding(&report);
    assert!(said.starts_with("The stage `pass` binds"), "{said}");
    let works = lanes(&report, "units", "works");
    let names: Vec<(&str, &str)> = works.iter().map(|(host, name, _)| (&**host, &**name)).collect();
    assert_eq!(names, [("a", "make"), ("b", "pass"), ("c", "check")], "a lane a stage, by host");
    assert!(works[1].2 > 0.8 && works[2].2 < 0.5, "{works:?}");
}

#[test]
fn a_slow_link_binds_its_stream() {
    let text = plan(&BYTES, "", "[\"16KiB\"]", "1MiB");
    // So slow that what stages of this build take for their work is little beside it.
    let report = planned("lab:hosts=3,rate=25Mb/s,delay=100us", &text, &[]).report();
    let said = binding(&report);
    assert!(said.starts_with("The stream from `"), "{said}");
    // 8.4 Mb at 25 Mb/s: no machine is quicker, but for what the wire lets through in a burst.
    let time = points(&report, "units")[0].2;
    assert!(time > 280e6, "{time}");
}

#[test]
fn a_stage_that_crashes_costs_its_case_alone() {
    let stages = [BYTES[0], ("pass", "bytes.pass", "crash = 1"), BYTES[2]];
    let other = "[[case]]\nid = \"other\"\nrung = \"network.tcp\"\nsizes = \"64KiB\"\ntrial = \"20ms\"\n\
                 [[figure]]\nid = \"other\"\ntitle = \"Other\"\ncases = [\"other\"]\nx = \"size\"\ny = \"throughput\"\n";
    let text = plan(&stages, "", "[\"16KiB\"]", "64KiB") + other;
    let report = planned("lab:hosts=3", &text, &[]).report_with_failures();
    assert_eq!(points(&report, "other").len(), 1, "the run goes on");
    let told = list(&report, "suites").iter().flat_map(|suite| list(suite, "left_out"));
    let whys: Vec<&str> = told.filter_map(|one| one["why"].as_str()).collect();
    let is_named = |why: &&str| why.contains("host b") && why.ends_with("while it ran the stage `pass`");
    assert!(whys.iter().any(is_named), "{whys:?}");
}

#[test]
fn what_is_no_pipeline_is_refused_with_its_place() {
    let circle = "[[stream]]\nfrom = \"pass\"\nto = \"pass\"\n";
    let far = [BYTES[0], ("pass", "bytes.pass", "host = \"g\""), BYTES[2]];
    let one = BYTES.map(|(id, filter, _)| (id, filter, "host = \"a\""));
    let usual = plan(&BYTES, "", "[\"16KiB\"]", "64KiB");
    for (text, wanted) in [
        (format!("{usual}{circle}"), "its streams go in a circle"),
        (
            format!("{usual}[[stream]]\nfrom = \"make\"\nto = \"pass\"\n"),
            "several streams come to it or go from it",
        ),
        (usual.replace("to = \"pass\"", "to = \"pas\""), "no stage is called `pas`"),
        (plan(&far, "", "[\"16KiB\"]", "64KiB"), "stage `pass`: there is no host g"),
        (plan(&one, "", "[\"16KiB\"]", "64KiB"), "all of its stages are on one host"),
        (usual.replace("16KiB", "16MiB"), "its sizes are those of a pipeline's buffers"),
    ] {
        let (code, said) = refused("lab:hosts=3", &text);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}
