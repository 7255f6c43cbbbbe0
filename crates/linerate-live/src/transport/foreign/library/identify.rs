//! What a file is, by what it exports and says before anything of it is started.

use super::Identity;
use crate::transport::Transport;
use crate::transport::foreign::native::{LIBFABRIC, UCX};
use crate::transport::foreign::pvm::PVM;
use crate::transport::foreign::tcgmsg::TCGMSG;
use crate::vocabulary::{MPI_MAKERS, MpiMaker, SHMEM_MAKERS, TCGMSG_OVER};
use linerate_sys::library::Library;
use std::path::Path;

/// Loads a file and says what it is, or why it is nothing that can be used. Its constructors run: this belongs in a
/// process of its own.
pub fn identify(path: &Path) -> Result<Identity, String> {
    let library = Library::open(path).map_err(|error| format!("cannot be loaded: {}", error.source))?;
    let no_mpi = |name: &str, version: String| Ok(Identity { name: name.into(), version, abi: None });
    // Looked for first, for one that is built on an MPI finds that one's symbols as well; and an MPI those of what it
    // is built on.
    if library.has("shmem_init") {
        return shmem(&library);
    }
    if library.has("tcg_snd") {
        return tcgmsg(&library);
    }
    if library.has("MPI_Init") {
        return mpi(&library);
    }
    if let Some(version) = library.pvm_version() {
        return no_mpi(PVM.name(), version);
    }
    if let Some(version) = library.ucx_version() {
        return no_mpi(UCX.name(), version);
    }
    if let Some((major, minor)) = library.fabric_version() {
        return no_mpi(LIBFABRIC.name(), format!("{major}.{minor}"));
    }
    Err("is no message library that is known".into())
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
fn tcgmsg(library: &Library) -> Result<Identity, String> {
    let below = library.mpi_library_version().map(|text| first_line(&text)).unwrap_or_default();
    if maker(&below).is_none_or(|maker| maker.name != TCGMSG_OVER) {
        return Err(format!("is a TCGMSG over what is not known to start it: {below}"));
    }
    Ok(Identity { name: TCGMSG.name().into(), version: format!("TCGMSG over {below}"), abi: None })
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
