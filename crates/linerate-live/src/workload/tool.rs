//! Other programs that move files, beside ours: on the same hosts, from the same file, by the same clock.
//!
//! | part | does |
//! |---|---|
//! | `cipher` | how fast one core seals |
//! | `recognised` | programs that are known by name alone |
//! | `site` | the files, addresses and words of one transfer |
//! | `service` | what listens at the far end for it, and is gone afterwards |
//! | `play` | one transfer by one tool: its time, and whether what came is what was sent |
//! | the others | a tool each, one line in [`TOOLS`] |
//!
//! Each tool is as its package has it, with no more said to it than where it is to send, and a second time as its manual knows
//! it to be quickest. Its service is private: its configuration and keys are made for one transfer, and no file of the user's is read.

mod aria2;
pub mod cipher;
mod gridftp;
mod lftp;
mod pipe;
pub mod play;
mod rclone;
pub mod recognised;
mod rsync;
mod scp;
pub mod service;
mod sftp;
mod site;
mod sshd;
mod web;
mod xrootd;

pub use play::{Bench, Files, Took};
pub use service::Here;
pub use site::Site;

use service::Service;
use std::path::PathBuf;

/// A program that moves files.
pub struct Tool {
    /// Its name in a table.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The programs that it takes, those of its service included.
    pub programs: &'static [&'static str],
    /// How they are had on Debian.
    pub packages: &'static str,
    /// Numbers of streams that it is asked for; 1 where it has no say in that.
    pub streams: &'static [u32],
    /// Whether what crosses is sealed.
    pub seals: bool,
    /// Whether it fetches from the first host, rather than sending to the second.
    pub pulls: bool,
    /// What is said to it to be quick; nothing of one as shipped.
    pub flags: &'static str,
    /// The same with the flags by which it is known to be quickest; none where it has none, or has them already.
    pub best: Option<&'static Tool>,
    /// What OpenSSH bounds it by, where it goes by that.
    pub sealing: Option<Sealing>,
    /// What of Table 3 of the paper is the same program, by its number of streams.
    pub paper: &'static [(u32, &'static str)],
    /// What listens at the far end.
    pub service: &'static Service,
    words: fn(&Site, u32) -> Vec<String>,
    /// The same for a folder with all that is in it; none where it moves single files only.
    folder: Option<fn(&Site, u32) -> Vec<String>>,
}

/// How a program that goes by OpenSSH is bound by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealing {
    /// The cipher, as OpenSSL calls it.
    pub cipher: &'static str,
    /// How many bytes of one channel may be under way, as far as is known of the end that takes.
    pub window_bytes: Option<u64>,
}

/// Every tool.
pub static TOOLS: &[&Tool] = &[
    &scp::SCP,
    &sftp::SFTP,
    &pipe::PIPE,
    &rsync::OVER_SSH,
    &rsync::DAEMON,
    &gridftp::GRIDFTP,
    &rclone::SFTP,
    &rclone::WEBDAV,
    &lftp::LFTP,
    &aria2::ARIA2,
    &xrootd::XRDCP,
];

/// Where daemons are, beside the folders of `PATH`.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

impl Tool {
    /// Whether it moves folders.
    pub fn moves_folders(&self) -> bool {
        self.folder.is_some()
    }

    /// The first program that this host has not, of those that it takes.
    pub fn missing(&self, path: &[PathBuf]) -> Option<&'static str> {
        self.programs.iter().copied().find(|name| program(name, path).is_none())
    }
}

/// The file of a program.
fn program(name: &str, path: &[PathBuf]) -> Option<PathBuf> {
    let folders = path.iter().cloned().chain(FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Words from texts of any kind.
fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::mover::MOVER_NAMES;

    #[test]
    fn every_tool_says_what_it_takes() {
        let mut names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TOOLS.len());
        let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(known, MOVER_NAMES[1..], "plans know them by these");
        let all = || TOOLS.iter().flat_map(|tool| [Some(*tool), tool.best]).flatten();
        assert!(
            TOOLS
                .iter()
                .all(|tool| tool.flags.is_empty() && tool.best.is_none_or(|best| best.name == tool.name))
        );
        assert!(
            all()
                .filter(|tool| !tool.flags.is_empty())
                .all(|tool| tool.best.is_none() && tool.paper.is_empty())
        );
        for tool in TOOLS {
            assert!(!tool.programs.is_empty() && !tool.packages.is_empty() && !tool.about.is_empty());
            assert!(tool.streams.contains(&1) && tool.streams.is_sorted(), "{}", tool.name);
            assert!(tool.missing(&[]).is_some() || tool.programs.iter().all(|name| name.contains("d")));
        }
    }
}
