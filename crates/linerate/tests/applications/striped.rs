//! Files in stripes on the lab: whatever reads and writes them, contents are what they should be.

use super::{list, planned, points};

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
    }
}
