//! Files in stripes on the lab: whatever reads and writes them, contents are what they should be.

use super::{lanes, list, planned, points, refused};

fn plan(more: &str) -> String {
    let mut text = String::from("name = \"mine\"\n");
    for (id, pattern, roles) in [
        ("read-one", "striped-read", "fan-out"),
        ("read-many", "striped-read", "fan-in"),
        ("write-one", "striped-write", "fan-in"),
        ("write-many", "striped-write", "fan-out"),
    ] {
        text += &format!(
            "[[case]]\nid = \"{id}\"\nrung = \"network.tcp\"\npattern = \"{pattern}\"\nroles = \"{roles}\"\n\
             sizes = [\"1MiB\"]\ntrial = \"60ms\"\n{more}\n"
        );
    }
    text + "[[figure]]\nid = \"all\"\ntitle = \"All\"\ncases = [\"read-one\", \"read-many\", \"write-one\", \
            \"write-many\"]\nx = \"connections\"\ny = \"striped-throughput\"\n"
}

/// Contents are compared, or the step has failed.
#[test]
fn every_client_reads_what_was_written() {
    let stores = "[case.vary]\n\"striped.store\" = [\"memory\", \"disk\"]";
    for (more, set, count) in [(stores, "striped.transport=tcp", 8), ("", "striped.transport=tls", 4)] {
        let run = planned("lab:hosts=4", &plan(more), &["--set", set]);
        let report = run.report();
        let found = points(&report, "all");
        assert_eq!(found.len(), count, "{set} {found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
        assert!(found.iter().all(|(.., rate)| *rate > 1e6), "{found:?}");
        let left_out = list(&report, "suites").iter().flat_map(|suite| list(suite, "left_out")).count();
        assert_eq!(left_out, 0);
        // One client has three servers, and a thread a server.
        let moves = lanes(&report, "read-many", "moves");
        assert!(moves.len() >= 3 && moves.iter().all(|(.., share)| *share > 0.0), "{moves:?}");
    }
}

fn tiles(more: &str) -> String {
    let mut text = String::from("name = \"mine\"\n");
    for pattern in ["tiled-read", "tiled-write"] {
        text += &format!(
            "[[case]]\nid = \"{pattern}\"\nrung = \"network.tcp\"\npattern = \"{pattern}\"\nroles = \"halves\"\n\
             sizes = [\"1MiB\"]\ntrial = \"40ms\"\n{more}\n"
        );
    }
    text + "[[figure]]\nid = \"all\"\ntitle = \"All\"\ncases = [\"tiled-read\", \"tiled-write\"]\nx = \"settings\"\n\
            y = \"striped-throughput\"\n"
}

/// Two servers and three clients. Contents are compared, or the step has failed.
#[test]
fn every_client_has_its_tile_of_a_frame() {
    let each = "[case.vary]\n\"tiled.access\" = [\"tile\", \"row\"]\n\"tiled.overlap\" = [\"0\", \"100\"]\n";
    let stored = "[case.vary]\n\"striped.store\" = [\"memory\", \"disk\"]\n";
    for (more, set, count) in [(each, "striped.transport=tcp", 8), (stored, "tiled.overlap=128", 4)] {
        let run = planned("lab:hosts=5", &tiles(more), &["--set", set]);
        let report = run.report();
        let found = points(&report, "all");
        assert_eq!(found.len(), count, "{set} {found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
        assert!(found.iter().all(|(.., rate)| *rate > 1e6), "{found:?}");
    }
}

/// A file system that is mounted there takes the place of the servers; it is left as it was.
#[test]
fn a_mounted_file_system_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let set = format!("striped.path={}", folder.path().display());
    let run = planned("lab:hosts=4", &plan(""), &["--set", &set]);
    let found = points(&run.report(), "all");
    assert_eq!(found.len(), 4, "{found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
    let run = planned("lab:hosts=4", &tiles(""), &["--set", &set, "--set", "tiled.access=row"]);
    assert_eq!(points(&run.report(), "all").len(), 2, "{}", String::from_utf8_lossy(&run.output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left there");
    let nowhere = format!("striped.path={}", folder.path().join("gone").display());
    let run = planned("lab:hosts=3", &tiles(""), &["--set", &nowhere]);
    let said = String::from_utf8_lossy(&run.output.stderr);
    // There is nothing else to be measured.
    assert_eq!(run.output.status.code(), Some(4), "{said}");
    assert!(said.contains("/gone: No such file"), "{said}");
}

#[test]
fn a_region_that_is_too_long_is_refused_before_it_begins() {
    let (code, said) = refused("lab:hosts=3", &plan("").replace("1MiB", "65MiB"));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("its sizes are those of the regions of a file in stripes"), "{said}");
}
