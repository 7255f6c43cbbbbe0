//! Files that all ranks of the real MPIs have open, on the lab: ROMIO of MPICH and OMPIO of Open MPI, by their own calls.

use super::{planned, points};

/// A case for reading and one for writing.
fn plan(rung: &str, more: &str) -> String {
    let mut text = String::from("name = \"mine\"\n");
    for pattern in ["file-read", "file-write"] {
        text += &format!(
            "[[case]]\nid = \"{pattern}\"\nrung = \"{rung}\"\npattern = \"{pattern}\"\nwait = \"polling\"\n\
             sizes = [\"256KiB\"]\ntrial = \"20ms\"\n[case.vary]\n{more}\n"
        );
    }
    text + "[[figure]]\nid = \"all\"\ntitle = \"All\"\ncases = [\"file-read\", \"file-write\"]\nx = \"settings\"\n\
            y = \"striped-throughput\"\n"
}

/// Contents are compared, or the step has failed. Nothing is left in the folder.
#[test]
fn ranks_read_what_was_written_to_a_shared_file() {
    let both = "\"mpi.implementation\" = [\"openmpi\", \"mpich\"]\n";
    // Regions are asked for collectively on the network, which is what is shipped.
    let each = format!(
        "{both}\"mpi.file-access\" = [\"collective\", \"independent\"]\n\"mpi.file-view\" = [\"tiles\"]\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let set = format!("mpi.file-folder={}", folder.path().display());
    for (rung, more, count) in [("in-host.mpi", each.as_str(), 8), ("network.mpi", both, 4)] {
        let run = planned("lab", &plan(rung, more), &["--set", &set]);
        let found = points(&run.report(), "all");
        assert_eq!(found.len(), count, "{rung} {found:?}: {}", String::from_utf8_lossy(&run.output.stderr));
        assert!(found.iter().all(|(.., rate)| *rate > 1e6), "{found:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left there");
}

#[test]
fn a_shared_file_that_cannot_be_is_told_with_its_place() {
    let more = "\"mpi.implementation\" = [\"mpich\"]\n";
    let run = planned("lab", &plan("in-host.mpi", more), &["--set", "mpi.file-folder=/nowhere"]);
    let said = String::from_utf8_lossy(&run.output.stderr);
    // There is nothing else to be measured.
    assert_eq!(run.output.status.code(), Some(4), "{said}");
    assert!(said.contains("MPI_File_open of /nowhere/"), "{said}");
}
