//! The page of a matrix: a cell for each pair, in the order of the hosts, that anybody can use.

use super::browser::Browser;
use super::tab::{NARROW, WIDE};
use crate::user::runs::{PROGRAM, recording};
use std::process::{Command, Stdio};
use tempfile::TempDir;

#[test]
fn a_matrix_has_a_cell_for_each_pair() {
    let Some(browser) = Browser::start("a_matrix_has_a_cell_for_each_pair") else { return };
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["matrix", "lab:hosts=5", "--trial", "50ms", "--quiet", "--output"]).arg(folder.path());
    command.env("LINERATE_STATE", folder.path().join("state")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let code = output.status.code().unwrap();
    assert!([0, 10, 11].contains(&code), "{code}: {}", String::from_utf8_lossy(&output.stderr));
    let page = recording(folder.path()).with_extension("html");
    for view in [WIDE, NARROW.dark()] {
        let shown = browser.open(&page, view);
        let count = |selector: &str| shown.eval(&format!("document.querySelectorAll('{selector}').length"));
        assert_eq!(
            (count("#matrix-rate svg.map rect"), count("#matrix-round-trip svg.map rect")),
            (20.into(), 20.into())
        );
        let told = shown.eval("document.querySelector('#matrix-rate svg.map rect title').textContent");
        assert!(told.as_str().unwrap().contains("% of the usual"), "{told}");
        assert_eq!(shown.eval("document.querySelectorAll('#matrix table tbody tr').length >= 5"), true);
        assert_eq!((shown.troubles(), shown.requests(), shown.barriers()), (vec![], vec![], vec![]));
        assert!(shown.overhang() <= 0, "it is wider than the window by {}", shown.overhang());
        if let Some(pictures) = std::env::var_os("PAGE_PICTURES") {
            let name = format!("matrix-{}.png", view.width);
            std::fs::write(std::path::Path::new(&pictures).join(name), shown.screenshot()).unwrap();
        }
    }
}
