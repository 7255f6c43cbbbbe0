//! Whole files on the lab, by this program and by others that push, that fetch, and that are not there.

use super::{list, planned, points};
use linerate::workload::tool::{Bench, TOOLS};

fn plan(tools: &str, flows: &str, more: &str) -> String {
    format!(
        "name = \"mine\"\n[[case]]\nid = \"file\"\nrung = \"network.tcp\"\npattern = \"file\"\nsizes = [\"1MB\"]\n\
         flows = {flows}\n[case.vary]\n\"file.tool\" = [{tools}]\n{more}\n[[figure]]\nid = \"all\"\ntitle = \"All\"\n\
         cases = [\"file\"]\nx = \"connections\"\ny = \"file-throughput\"\n"
    )
}

/// What comes is compared by either, or the step has failed.
#[test]
fn a_file_is_moved_between_disks_and_memory() {
    let corners = "\"file.from\" = [\"disk\", \"memory\"]\n\"file.to\" = [\"disk\", \"memory\"]";
    let run = planned("lab", &plan("\"linerate\"", "[1, 3]", corners), &[]);
    let found = points(&run.report(), "all");
    assert_eq!(found.len(), 8, "{found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
    assert!(found.iter().all(|(.., rate)| *rate > 1e5), "{found:?}");
}

/// The end that has the file is connected to, at the one port that is free to it.
#[test]
fn a_file_is_moved_at_a_port_that_is_named() {
    let options = ["--ports", "6201", "--connect", "b>a"];
    let run = planned("lab", &plan("\"linerate\"", "[2]", "\"file.to\" = [\"disk\", \"memory\"]"), &options);
    let found = points(&run.report(), "all");
    assert_eq!(found.len(), 2, "{found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
}

/// A cipher is this program's own: what seals by its own has it refused.
#[test]
fn a_file_is_moved_sealed() {
    let sealed = "\"file.cipher\" = [\"none\", \"chacha20-poly1305\"]";
    let run = planned("lab", &plan("\"linerate\", \"scp\"", "[2]", sealed), &[]);
    let found = points(&run.report_with_failures(), "all");
    assert_eq!(found.len(), 2, "{found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
    assert!(found.iter().all(|(.., rate)| *rate > 1e5), "{found:?}");
}

#[test]
fn other_programs_move_files_as_a_pattern() {
    let path = Bench::programs();
    let here = |name: &&str| TOOLS.iter().any(|tool| tool.name == *name && tool.missing(&path).is_none());
    let (known, missing): (Vec<&str>, Vec<&str>) =
        ["scp", "rsync", "lftp"].into_iter().partition(|name| here(name));
    for name in missing {
        println!("SKIP: other_programs_move_files_as_a_pattern: {name}: not installed");
    }
    let tools: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
    let run =
        planned("lab", &plan(&tools.join(", "), "[1]", "\"file.flags\" = [\"shipped\", \"best\"]"), &[]);
    let report = run.report();
    let found = points(&report, "all");
    assert_eq!(found.len(), 2 * known.len(), "{found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
    assert!(found.iter().all(|(.., rate)| *rate > 1e5), "{found:?}");
    let left_out = list(&report, "suites").iter().flat_map(|suite| list(suite, "left_out")).count();
    assert_eq!(left_out, 0);
}
