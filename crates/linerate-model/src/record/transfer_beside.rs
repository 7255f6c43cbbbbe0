//! Transfers by several programs beside each other.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All transfers of one file size by one program in one way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TransfersOf {
    /// The program, and the way where it has several.
    pub tool: String,
    /// What was said to it to be quick; none where it is as shipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
    /// Whether it is ours.
    pub is_ours: bool,
    /// Whether what crosses is sealed.
    pub seals: bool,
    /// The file's bytes, or those of all files of a folder.
    pub bytes: u64,
    /// How many files a folder has; none of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Parallel streams.
    pub streams: u32,
    /// The time of each, until the file was on the disk, in the order in which they were made.
    pub took_ns: Vec<u64>,
    /// The time of the CPUs of both ends that each took, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_ns: Vec<u64>,
    /// What it seals by, as OpenSSL calls it; none where it does not, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher: Option<String>,
    /// How many bytes of one stream may be under way, where the program itself sets a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u64>,
    /// What the paper's table calls the same, where it has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// Whether it was so far behind this program that it was moved no more.
    #[serde(default)]
    pub is_behind: bool,
    /// Why there is none, or no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Transfers by several programs, and what speaks of what bounds them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TransfersBeside {
    /// Those of each program.
    pub rows: Vec<TransfersOf>,
    /// Where what was moved is, a disk or memory, and what it became.
    pub from: String,
    /// See above.
    pub to: String,
    /// The least round trip that the kernel saw on a connection of this program's own transfers between the same hosts.
    pub round_trip_ns: Option<u64>,
    /// Bytes a second that one core seals by each cipher, by `openssl speed`.
    pub ciphers: BTreeMap<String, f64>,
    /// Programs that are here, and not driven.
    pub recognised: Vec<Recognised>,
}

/// A program that moves files, which is known by its name alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognised {
    /// Its name.
    pub name: String,
    /// What it said when it was asked for its version.
    pub version: String,
}
