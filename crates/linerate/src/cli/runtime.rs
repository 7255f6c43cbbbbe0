//! Where the records of labs and the journals are kept: the runtime directory of the XDG Base Directory Specification, which
//! is its user's alone and empty after a start, or the nearest thing to it.

use crate::Result;
use crate::lab::Register;
use linerate_sys::process::effective_user;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The register of this user's labs.
pub fn register() -> Result<Register> {
    Register::at(&runtime())
}

/// The program's runtime directory.
pub fn runtime() -> PathBuf {
    base(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from), effective_user())
}

/// One that is somebody else's is passed over: `su` and `sudo -E` leave the caller's in the environment.
fn base(named: Option<PathBuf>, user: u32) -> PathBuf {
    let is_own = |folder: &Path| {
        folder.is_absolute() && folder.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user)
    };
    let usual = PathBuf::from(format!("/run/user/{user}"));
    let found = named.into_iter().chain([usual]).find(|folder| is_own(folder));
    found.map_or_else(|| format!("/tmp/linerate-{user}").into(), |folder| folder.join("linerate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anothers_folder_is_passed_over() {
        let own = tempfile::tempdir().unwrap();
        let user = own.path().metadata().unwrap().uid();
        assert_eq!(base(Some(own.path().into()), user), own.path().join("linerate"));
        let other = user + 1;
        for named in [Some(own.path().into()), Some("relative".into()), Some("/proc/self/exe".into()), None] {
            assert!(!base(named, other).starts_with(own.path()));
        }
    }
}
