//! The page of a pipeline: its stages drawn from the first to the last, for whoever reads it on whatever.

use super::browser::Browser;
use super::tab::{NARROW, WIDE};
use crate::user::runs::{recording, run};
use tempfile::TempDir;

const PLAN: &str = r#"
name = "mine"
[[stage]]
id = "make"
filter = "bytes.make"
[[stage]]
id = "pass"
filter = "bytes.pass"
copies = 2
slow = "20ms"
[[stage]]
id = "check"
filter = "bytes.check"
[[stream]]
from = "make"
to = "pass"
[[stream]]
from = "pass"
to = "check"
[[case]]
id = "units"
rung = "network.tcp"
pattern = "pipeline"
sizes = "16KiB"
trial = "200ms"
[case.vary]
"pipeline.units" = ["one-by-one"]
"pipeline.update" = ["64KiB"]
[[figure]]
id = "units"
title = "Units"
cases = ["units"]
x = "size"
y = "unit-rate"
"#;

#[test]
fn a_pipeline_is_drawn_with_what_binds_it() {
    let Some(browser) = Browser::start("a_pipeline_is_drawn_with_what_binds_it") else { return };
    let folder = TempDir::new().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let plan = plan.to_str().unwrap();
    let run = run(&["lab:hosts=3", "--plan", plan, "--profile", "quick", "--passes", "1"]);
    assert_eq!(run.output.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.output.stderr));
    let text = String::from_utf8_lossy(&run.output.stdout).into_owned();
    let drawn = ["make on a", "pass x 2 on b", "check on c"].map(|stage| text.find(stage).expect(&text));
    assert!(drawn.is_sorted() && text.contains("◀ binds"), "{text}");
    let page = recording(run.folder.path()).with_extension("html");
    for view in [WIDE, NARROW.dark()] {
        let shown = browser.open(&page, view);
        let count = |selector: &str| shown.eval(&format!("document.querySelectorAll('{selector}').length"));
        assert_eq!((count("figure.graph .edge"), count("figure.graph .stream")), (3.into(), 2.into()));
        assert_eq!(count("figure.graph .edge.binds, figure.graph .stream.binds"), 1, "one thing binds");
        let first = shown.eval("document.querySelector('figure.graph > svg text').textContent");
        assert_eq!(first.as_str().unwrap().trim(), "make on a");
        let lanes = "figure.chart[data-chart=suite-lanes-mine-units]";
        // One unit at a time: each thread has a part in the one that is shown.
        let threads = ["a: make", "b: pass 1", "b: pass 2", "c: check"];
        let rows = shown.eval(&format!("document.querySelector('{lanes} tbody').textContent"));
        let rows = rows.as_str().unwrap();
        assert!(threads.iter().all(|thread| rows.contains(thread)), "each did something: {rows}");
        shown.eval(&format!("document.querySelector('{lanes}').scrollIntoView()"));
        shown.wait(&format!("document.querySelector('{lanes}').dataset.drawn === 'true'"));
        assert_eq!((shown.troubles(), shown.requests(), shown.barriers()), (vec![], vec![], vec![]));
        assert!(shown.overhang() <= 0, "it is wider than the window by {}", shown.overhang());
        if let Some(pictures) = std::env::var_os("PAGE_PICTURES") {
            let name = format!("stages-{}.png", view.width);
            std::fs::write(std::path::Path::new(&pictures).join(name), shown.screenshot()).unwrap();
        }
    }
}
