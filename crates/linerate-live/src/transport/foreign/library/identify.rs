//! What a file is, by what it exports and says before anything of it is started.

use super::Identity;
use crate::vocabulary::{LIBRARY_KINDS, LibraryKind, MPI_MAKERS, MpiMaker, SHMEM_MAKERS, TCGMSG_OVER};
use linerate_sys::library::Library;
use std::path::Path;

const UNKNOWN: &str = "is no message library that is known";

/// What a library of a kind is, or why it is nothing that can be used.
type Tell = fn(&Library, &LibraryKind) -> Result<Identity, String>;

/// By what each kind exports. First what is built on an MPI, for it finds that one's symbols as well; and an MPI before
/// what it is built on.
const TOLD_BY: &[(&str, Tell)] = &[
    ("shmem_init", |library, _| shmem(library)),
    ("tcg_snd", tcgmsg),
    ("MPI_Init", |library, _| mpi(library)),
    ("pvm_version", |library, kind| plain(kind, library.pvm_version())),
    ("ucp_get_version_string", |library, kind| plain(kind, library.ucx_version())),
    ("fi_version", |library, kind| {
        plain(kind, library.fabric_version().map(|(major, minor)| format!("{major}.{minor}")))
    }),
];

/// Loads a file and says what it is, or why it is nothing that can be used. Its constructors run: this belongs in a
/// process of its own.
pub fn identify(path: &Path) -> Result<Identity, String> {
    let library = Library::open(path).map_err(|error| format!("cannot be loaded: {}", error.source))?;
    let (symbol, tell) = TOLD_BY.iter().find(|(symbol, _)| library.has(symbol)).ok_or(UNKNOWN)?;
    let kind = LIBRARY_KINDS.iter().find(|kind| kind.symbol == *symbol).ok_or(UNKNOWN)?;
    tell(&library, kind)
}

/// One that is called as its kind.
fn plain(kind: &LibraryKind, version: Option<String>) -> Result<Identity, String> {
    Ok(Identity { name: kind.name.into(), version: version.ok_or(UNKNOWN)?, abi: None })
}

/// By its maker, for the standard leaves constants to each.
fn shmem(library: &Library) -> Result<Identity, String> {
    let Some((vendor, major, minor)) = library.shmem_maker() else {
        return Err("is an OpenSHMEM that does not tell its maker".into());
    };
    let Some(maker) = SHMEM_MAKERS.iter().find(|maker| vendor.contains(maker.vendor_word)) else {
        return Err(format!("is an OpenSHMEM of an unknown maker: {vendor}"));
    };
    let below = library.mpi_library_version().filter(|_| maker.tells_by_mpi);
    let below = below.map_or(String::new(), |text| format!(" of {}", first_line(&text)));
    Ok(Identity { name: maker.name.into(), version: format!("OpenSHMEM {major}.{minor}{below}"), abi: None })
}

/// It has no version of its own.
fn tcgmsg(library: &Library, kind: &LibraryKind) -> Result<Identity, String> {
    let below = library.mpi_library_version().map(|text| first_line(&text)).unwrap_or_default();
    if maker(&below).is_none_or(|maker| maker.name != TCGMSG_OVER) {
        return Err(format!("is a TCGMSG over what is not known to start it: {below}"));
    }
    plain(kind, Some(format!("TCGMSG over {below}")))
}

/// The standard's own ABI first: what carries it may depend on a library that exports another one's symbols.
fn mpi(library: &Library) -> Result<Identity, String> {
    let version = library.mpi_library_version().map(|text| first_line(&text));
    let abi = if library.mpi_abi_version().is_some_and(|(major, _)| major >= 1) {
        "standard"
    } else if library.has("lam_mpi_comm_world") {
        "lam"
    } else if library.has("ompi_mpi_comm_world") {
        "openmpi"
    } else if version.as_deref().is_some_and(is_mpich) {
        "mpich"
    } else {
        return Err(format!(
            "is an MPI of an unknown ABI: {}",
            version.unwrap_or_else(|| "it says nothing".into())
        ));
    };
    let version = match (abi, version) {
        ("lam", _) => {
            let (major, minor) = library.mpi_version().unwrap_or_default();
            format!("LAM/MPI, MPI {major}.{minor}")
        }
        (_, version) => version.unwrap_or_default(),
    };
    let name = maker(&version).map_or("other", |maker| maker.name).into();
    Ok(Identity { name, version, abi: Some(abi.into()) })
}

fn maker(version: &str) -> Option<&'static MpiMaker> {
    MPI_MAKERS.iter().find(|maker| version.contains(maker.version_word))
}

fn is_mpich(version: &str) -> bool {
    maker(version).is_some_and(|maker| maker.has_mpich_abi)
}

/// The first line, and of it what stands before the build: `Open MPI v4.1.4`, `MPICH Version: 4.0.2`.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(", package").next().unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_by_its_symbol() {
        let is_told = |kind: &&LibraryKind| TOLD_BY.iter().any(|(symbol, _)| *symbol == kind.symbol);
        assert_eq!(LIBRARY_KINDS.iter().filter(is_told).count(), TOLD_BY.len());
        assert_eq!(LIBRARY_KINDS.len(), TOLD_BY.len());
    }

    #[test]
    fn a_version_is_told_without_its_build() {
        let texts = [
            ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI v4.1.4"),
            ("MPICH Version:\t4.0.2\nMPICH Release date:\tThu", "MPICH Version: 4.0.2"),
            ("Intel(R) MPI Library 2021.18 for Linux* OS\n", "Intel(R) MPI Library 2021.18 for Linux* OS"),
        ];
        for (text, told) in texts {
            assert_eq!(first_line(text), told);
        }
        assert!(is_mpich("CRAY MPICH version 8.1") && !is_mpich("HPE MPT 2.28"));
    }

    #[test]
    fn what_is_no_message_library_says_so() {
        let words = |path: &str| identify(Path::new(path)).unwrap_err();
        assert_eq!(words("libm.so.6"), "is no message library that is known");
        assert!(words("/etc/passwd").starts_with("cannot be loaded: "), "{}", words("/etc/passwd"));
    }
}
