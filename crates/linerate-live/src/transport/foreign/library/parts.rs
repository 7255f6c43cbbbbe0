//! The parts of a library that this process has loaded, and may move messages by: frameworks and components of Open MPI's
//! modular component architecture (`ompi_info`, "MCA").
//!
//! The upper layer that was not chosen is unloaded again. Of the lower one all stay that may be of use to some peer, so they
//! say what is left to choose from. What was built into the library is no file, and is not found here.

use crate::{Error, Result};
use std::collections::BTreeSet;

const MAPS: &str = "/proc/self/maps";

/// What passes messages: of MPI, of OpenSHMEM.
const UPPER: &[&str] = &["pml", "spml"];
/// What that passes them by, where it is this one.
const LOWER: &[((&str, &str), &str)] = &[(("pml", "ob1"), "btl"), (("pml", "cm"), "mtl")];

/// Each as its kind and its name, `btl tcp`; the upper ones first.
pub fn of_this_process() -> Result<Vec<String>> {
    let maps = std::fs::read_to_string(MAPS).map_err(|e| Error::io("read", MAPS, e))?;
    Ok(of(&maps))
}

fn of(maps: &str) -> Vec<String> {
    let all: BTreeSet<(&str, &str)> = maps.lines().filter_map(part).collect();
    let lower = LOWER.iter().filter(|(upper, _)| all.contains(upper)).map(|(_, kind)| kind);
    let of_kind = |kind| all.iter().filter(move |part| part.0 == kind);
    let used = UPPER.iter().chain(lower).flat_map(|kind| of_kind(*kind));
    used.map(|(kind, name)| format!("{kind} {name}")).collect()
}

/// Of a mapped file `mca_btl_tcp.so`.
fn part(map: &str) -> Option<(&str, &str)> {
    let (_, file) = map.rsplit_once('/')?;
    file.strip_prefix("mca_")?.strip_suffix(".so")?.split_once('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[&str]) -> Vec<String> {
        let line =
            |file: &&str| format!("7f00-7f01 r-xp 00000000 fe:00 41 /usr/lib/openmpi3/mca_{file}.so\n");
        let maps: String = files.iter().map(line).collect();
        of(&(maps + "7f02-7f03 rw-p 00000000 00:00 0\n7f04-7f05 r-xp 00000000 fe:00 7 /lib/libc.so.6\n"))
    }

    #[test]
    fn parts_that_messages_go_by_are_told_once() {
        let all = ["btl_tcp", "btl_tcp", "btl_self", "mtl_ofi", "coll_basic", "pml_ob1"];
        assert_eq!(with(&all), ["pml ob1", "btl self", "btl tcp"]);
        assert_eq!(with(&["pml_cm", "btl_tcp", "mtl_ofi"]), ["pml cm", "mtl ofi"]);
        assert_eq!(with(&["pml_ucx", "btl_tcp", "spml_ucx"]), ["pml ucx", "spml ucx"]);
        assert!(of_this_process().unwrap().is_empty());
    }
}
