//! MPIs that were installed beside the system's, one in each virtual environment: the standard's own ABI, Intel's MPI,
//! and a second version of Open MPI and of MPICH. `tests/install-pypi` puts them there.

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::ranks::{
    SHORT, crossed, every_byte_came, is_all, nobody_is_left, program, recorded, sessions, words,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// An MPI: what `--mpi` is given in its environment, its name, how its version begins, and its ABI.
struct Installed {
    place: &'static str,
    name: &'static str,
    version: &'static str,
    abi: &'static str,
}

const ALL: [Installed; 5] = [
    Installed { place: "openmpi", name: "openmpi", version: "Open MPI v5", abi: "openmpi" },
    Installed { place: "mpich", name: "mpich", version: "MPICH Version: 5", abi: "mpich" },
    Installed {
        place: "mpich/lib/libmpi_abi.so.1",
        name: "mpich",
        version: "MPICH Version: 5",
        abi: "standard",
    },
    Installed { place: "impi-rt", name: "intel-mpi", version: "Intel(R) MPI Library", abi: "mpich" },
    Installed {
        place: "impi-rt/lib/libmpi_abi.so.1",
        name: "intel-mpi",
        version: "Intel(R) MPI Library",
        abi: "standard",
    },
];

/// Where the environments are: beside what cargo builds.
fn environments() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("pypi")
}

fn measured(folder: &Path, rung: &str, one: &Installed) -> Output {
    let place = environments().join(one.place);
    assert!(place.exists(), "{} is missing: tests/install-pypi puts it there", place.display());
    let mut command = program(folder);
    command.args(SHORT).args(["--only", rung]).arg("--mpi").arg(&place).output().unwrap()
}

/// The sessions of a library, each of which says what it is.
fn is_told(lines: &[Value], one: &Installed) {
    for (about, granted) in sessions(lines) {
        assert!(about.starts_with(one.version) && about.contains(&format!("ABI {}", one.abi)), "{about}");
        assert_eq!(*granted["mpi.implementation"], one.name);
        assert_eq!(granted["mpi.path"].as_str(), environments().join(one.place).to_str());
    }
}

#[test]
fn each_mpi_carries_every_byte() {
    for one in &ALL {
        // Within a host once each library: its ABI is the same there.
        let rungs =
            if one.abi == "standard" { &["network.mpi"][..] } else { &["in-host.mpi", "network.mpi"] };
        for rung in rungs {
            let folder = TempDir::new().unwrap();
            let output = measured(folder.path(), rung, one);
            assert!(output.status.success(), "{} {rung}: {}", one.place, words(&output));
            let lines = recorded(folder.path());
            is_told(&lines, one);
            every_byte_came(&lines, &[("ping-pong", "polling"), ("stream", "polling")]);
            if *rung == "network.mpi" {
                for (step, came, moved) in crossed(&lines) {
                    assert!(is_all(&moved, came), "{}: {moved:?} of {came}: {step}", one.place);
                }
            }
            nobody_is_left(folder.path());
        }
    }
}

#[test]
fn a_place_without_an_mpi_is_refused_with_a_hint() {
    let folder = TempDir::new().unwrap();
    let mut command = program(folder.path());
    let output =
        command.args(SHORT).args(["--only", "in-host.mpi", "--mpi"]).arg(folder.path()).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains(&format!("no MPI at {}", folder.path().display())), "{text}");
    assert!(text.contains("linerate doctor"), "{text}");
}

#[test]
fn a_killed_rank_of_intels_is_on_record() {
    let folder = TempDir::new().unwrap();
    let mut command = long(folder.path(), "network.mpi", "polling");
    command.arg("--mpi").arg(environments().join("impi-rt"));
    let (run, rank) = in_the_middle(&mut command, folder.path(), "rank");
    disturbed(run, folder.path(), rank, "-KILL", 40);
    nobody_is_left(folder.path());
}
