//! Transfers by several programs beside each other.

use serde::{Deserialize, Serialize};

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
    /// What the paper's table calls the same, where it has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// Why there is none, or no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
