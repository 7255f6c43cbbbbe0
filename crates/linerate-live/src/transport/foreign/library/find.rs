//! Where libraries are: in the loader's folders, in those of `LD_LIBRARY_PATH`, and beside the launchers on the path.

use super::{Identity, ProcessEnvironment, bounded_output};
use crate::vocabulary::{LibraryKind, MPI_MAKERS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The loader's own folders, where there is no cache to be read.
const FOLDERS: &[&str] = &["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64"];

/// The folders of a prefix in which its libraries may lie.
const BESIDE: &[&str] = &["lib", "lib64", "lib/release"];

/// The files of a kind, each once, with all links followed.
pub fn files(kind: &LibraryKind, around: &ProcessEnvironment) -> Vec<PathBuf> {
    let cached = cache();
    let cached = cached.iter().filter(|path| is_of(kind, path)).cloned();
    let folders = folders(kind, around);
    let lying = folders.iter().flat_map(|folder| kind.files.iter().map(|file| folder.join(file)));
    let real = cached.chain(lying).filter_map(|path| std::fs::canonicalize(path).ok());
    real.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The files of a kind at one place, which is one of them or the folder that it was installed to.
pub fn files_at(kind: &LibraryKind, place: &Path) -> Vec<PathBuf> {
    let Ok(place) = std::fs::canonicalize(place) else { return Vec::new() };
    if place.is_file() {
        return vec![place];
    }
    let folders = BESIDE.iter().map(|folder| place.join(folder)).chain([place.clone()]);
    let lying = folders.flat_map(|folder| kind.files.iter().map(move |file| folder.join(file)));
    lying.filter_map(|path| std::fs::canonicalize(path).ok()).collect()
}

fn is_of(kind: &LibraryKind, path: &Path) -> bool {
    path.file_name().is_some_and(|name| kind.files.iter().any(|file| name == *file))
}

/// What the loader finds by itself: `ldconfig -p` reads its cache.
fn cache() -> Vec<PathBuf> {
    let said = ["ldconfig", "/sbin/ldconfig"].iter().find_map(|program| {
        let mut command = Command::new(program);
        command.arg("-p");
        bounded_output::lines(command, program, |_| false).ok()
    });
    said.map(|(lines, _)| paths(&lines)).unwrap_or_default()
}

/// `libmpi.so.40 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libmpi.so.40`.
fn paths(cache: &[String]) -> Vec<PathBuf> {
    cache.iter().filter_map(|line| Some(PathBuf::from(line.split_once("=> ")?.1.trim()))).collect()
}

fn folders(kind: &LibraryKind, around: &ProcessEnvironment) -> Vec<PathBuf> {
    let launchers = kind.launchers.iter().flat_map(|name| on_path(name, &around.programs));
    let prefixes = launchers.filter_map(|path| prefix(&path));
    let beside = prefixes.flat_map(|prefix| BESIDE.iter().map(move |folder| prefix.join(folder)));
    around.libraries.iter().cloned().chain(beside).chain(FOLDERS.iter().map(PathBuf::from)).collect()
}

/// Every program of this name in these folders.
fn on_path<'f>(name: &str, folders: &'f [PathBuf]) -> impl Iterator<Item = PathBuf> + use<'f> {
    let name = name.to_owned();
    folders.iter().map(move |folder| folder.join(&name)).filter(|path| path.is_file())
}

/// The folder above a program's own, links followed: `/opt/mpi` of `/opt/mpi/bin/mpirun`.
fn prefix(program: &Path) -> Option<PathBuf> {
    Some(std::fs::canonicalize(program).ok()?.parent()?.parent()?.to_owned())
}

/// What starts the ranks of a library: the one in its own prefix, or the one whose version says that it belongs to it.
pub fn launcher_of(
    kind: &LibraryKind,
    library: &Path,
    identity: &Identity,
    programs: &[PathBuf],
) -> Option<PathBuf> {
    let all = kind.launchers.iter().flat_map(|name| on_path(name, programs));
    let beside = kind.launchers.iter().flat_map(|name| {
        let prefixes = library.ancestors().skip(2).take(3);
        prefixes.map(|prefix| prefix.join("bin").join(name)).filter(|path| path.is_file()).collect::<Vec<_>>()
    });
    let mut candidates: Vec<PathBuf> = beside.chain(all).collect();
    candidates.dedup();
    if identity.abi.is_none() {
        return candidates.into_iter().next();
    }
    candidates.into_iter().find(|program| starts(program, identity))
}

fn starts(program: &Path, identity: &Identity) -> bool {
    // LAM's has no word for its version, but a name of its own.
    if identity.name == "lam" {
        return std::fs::canonicalize(program).is_ok_and(|real| real.to_string_lossy().contains("lam"));
    }
    let mut command = Command::new(program);
    command.arg("--version");
    let Ok((lines, _)) = bounded_output::lines(command, "its launcher", |_| false) else { return false };
    let words = MPI_MAKERS.iter().find(|maker| maker.name == identity.name).map(|maker| maker.launcher_words);
    words.into_iter().flatten().any(|word| lines.iter().any(|line| line.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::LIBRARY_KINDS;

    #[test]
    fn the_loaders_cache_is_read() {
        let cache = "2 libs found in cache `/etc/ld.so.cache'\n\
                     \tlibmpi.so.40 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libmpi.so.40\n\
                     \tlibm.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libm.so.6\n";
        let cache: Vec<String> = cache.lines().map(String::from).collect();
        let paths = paths(&cache);
        assert_eq!(paths.len(), 2);
        assert!(is_of(&LIBRARY_KINDS[0], &paths[0]) && !is_of(&LIBRARY_KINDS[0], &paths[1]));
    }
}
