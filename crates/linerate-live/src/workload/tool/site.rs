//! The files, addresses and words of one transfer by a tool.

use crate::{Error, Result};
use linerate_sys::process::effective_user;
use serde::{Deserialize, Serialize};
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// An account that every system has, that nobody uses: what a root is taken for by a service that does not run as root.
const NOT_ROOT: u32 = 1;

/// A service may ask what address its host's name has, and a lab's host has none that is known.
const NAMED: &str = "echo localhost > /proc/sys/kernel/hostname && exec \"$0\" \"$@\"";

/// One transfer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Site {
    /// Where its configuration and keys are.
    pub folder: PathBuf,
    /// What is moved.
    pub source: PathBuf,
    /// What it becomes.
    pub destination: PathBuf,
    /// The address at which the service listens, and its port there.
    pub address: IpAddr,
    /// See above.
    pub port: u16,
    /// The account that runs it all.
    pub user: String,
}

impl Site {
    /// Writes a file of the service or the tool.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|e| Error::io("write", path.display().to_string(), e))?;
        Ok(path)
    }

    /// A file of it, in words.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Where the source is, in words.
    pub fn source(&self) -> String {
        self.source.display().to_string()
    }

    /// Where it goes, in words.
    pub fn destination(&self) -> String {
        self.destination.display().to_string()
    }

    /// The name of what it becomes, and its folder.
    pub fn destination_name(&self) -> String {
        self.destination.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// See above.
    pub fn destination_folder(&self) -> String {
        self.destination.parent().unwrap_or(Path::new("/")).display().to_string()
    }

    /// The address as it stands in a URL.
    pub fn host(&self) -> String {
        match self.address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        }
    }

    /// What stands before a service that refuses to be root: a user namespace in which it is not, with the same rights to files,
    /// on a host whose name is known.
    pub fn as_another() -> Vec<String> {
        let user = match effective_user() {
            0 => NOT_ROOT,
            user => user,
        };
        let known = ["unshare", "--uts", "sh", "-c", NAMED, "unshare", "--user"].map(String::from);
        known.into_iter().chain([format!("--map-user={user}"), format!("--map-group={user}")]).collect()
    }
}
