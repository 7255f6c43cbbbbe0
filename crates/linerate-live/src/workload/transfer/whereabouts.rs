//! Which file or folder a source is, so that the other end can tell whether its own place is that one or within it.
//!
//! Paths do not tell: the ends may be one host under two names, a link or a mount may lead back, and each end may have another
//! folder for its root. Kernel, device and inode do.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What there is one of for a kernel from its start to its end (random(4)).
const KERNEL: &str = "/proc/sys/kernel/random/boot_id";

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    kernel: String,
    device: u64,
    inode: u64,
}

impl Whereabouts {
    /// What was found; none where the kernel does not tell which one it is.
    pub fn found(found: &Metadata) -> Option<Whereabouts> {
        let kernel = std::fs::read_to_string(KERNEL).ok()?.trim().to_owned();
        Some(Whereabouts { kernel, device: found.dev(), inode: found.ino() })
    }

    /// Refuses a place that is the source itself, or within it.
    pub fn is_apart(&self, place: &Path) -> Result<()> {
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // What is not there is told by who makes something in it.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let is_it = |path: &Path| {
            let found = path.symlink_metadata().ok();
            found.and_then(|found| Whereabouts::found(&found)).is_some_and(|found| found == *self)
        };
        match (is_it(place), folder.ancestors().find(|path| is_it(path))) {
            (true, _) => {
                let what = format!("{} is the source itself", place.display());
                Err(Error::unavailable(what, "name another destination"))
            }
            (false, Some(source)) => {
                let what =
                    format!("{} is within the folder that is moved, {}", place.display(), source.display());
                Err(Error::unavailable(what, "name a destination outside of it"))
            }
            (false, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_within_the_source_is_told_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("source/deep/deeper")).unwrap();
        std::fs::create_dir(at("beside")).unwrap();
        std::os::unix::fs::symlink(at("source/deep"), at("leads-in")).unwrap();
        std::fs::write(at("file"), "x").unwrap();
        let of = |name: &str| Whereabouts::found(&at(name).metadata().unwrap()).unwrap();
        let source = of("source");
        for inside in ["source/to", "source/deep/deeper/to", "leads-in/to", "beside/../source/to"] {
            let error = source.is_apart(&at(inside)).unwrap_err();
            assert!(error.to_string().contains("within the folder that is moved"), "{inside}: {error}");
        }
        for outside in ["to", "beside/to", "source-to", "none/to"] {
            source.is_apart(&at(outside)).unwrap();
        }
        let error = of("file").is_apart(&at("beside/../file")).unwrap_err();
        assert!(error.to_string().contains("the source itself"), "{error}");
        let elsewhere = Whereabouts { kernel: "another".into(), ..source };
        elsewhere.is_apart(&at("source/to")).unwrap();
    }
}
