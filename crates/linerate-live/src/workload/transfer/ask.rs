//! What the controller asks of an end, and what that answers. Paths are bytes: what a file system calls a file need be no text.

use super::tree::{Entry, Kind};
use super::whereabouts::Whereabouts;
use crate::record::TransferEnd;
use crate::transport::{Offer, Spec};
use serde::{Deserialize, Serialize};

/// One request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Open the file that is sent.
    Source(SourceRequest),
    /// Open what becomes the file that is received.
    Sink(SinkRequest),
    /// Prepare to meet the other end.
    Offer(OfferRequest),
    /// Meet it, and send.
    Send(SendRequest),
    /// Meet it, and receive.
    Receive(ReceiveRequest),
    /// Say how much has moved.
    Progress,
    /// Give the file its name.
    Finish(FinishRequest),
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// The source is open.
    Opened(Opened),
    /// The destination is.
    Prepared(Prepared),
    /// Where the other end connects to.
    Offered(Offer),
    /// So many bytes of the file have crossed.
    Moved(u64),
    /// It is over, and this is what it was.
    Ended(Box<TransferEnd>),
    /// It is done.
    Done,
}

/// Which file or folder is sent.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourceRequest {
    /// Its path; none for bytes of memory.
    pub path: Option<Vec<u8>>,
    /// How many bytes, of memory.
    pub memory_bytes: u64,
    /// Whether the kernel's pages of it are to go first.
    pub cold: bool,
    /// Whether it is to be read past the page cache.
    pub direct: bool,
}

/// What it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct Opened {
    /// Its bytes.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u32,
    /// What it is called in its folder.
    pub name: Option<Vec<u8>>,
    /// What is in it, of a folder.
    #[serde(default, with = "super::list", skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<Entry>>,
    /// The share of it that is in memory.
    pub cached_share: Option<f64>,
    /// Which one it is; none of memory.
    pub whereabouts: Option<Whereabouts>,
}

impl Opened {
    /// How many files a folder has.
    pub fn files(&self) -> Option<u64> {
        let is_file = |entry: &&Entry| matches!(entry.kind, Kind::File(_));
        self.entries.as_ref().map(|entries| entries.iter().filter(is_file).count() as u64)
    }
}

/// Where it is received.
#[derive(Debug, Serialize, Deserialize)]
pub struct SinkRequest {
    /// The path, or that of a folder; none for nowhere.
    pub path: Option<Vec<u8>>,
    /// What it is called there where the path is a folder.
    pub name: Option<Vec<u8>>,
    /// Its bytes.
    pub bytes: u64,
    /// What is in it, of a folder.
    #[serde(default, with = "super::list", skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<Entry>>,
    /// Its permissions.
    pub mode: u32,
    /// Whether a file that is there already is replaced.
    pub overwrite: bool,
    /// Whether what an earlier transfer left is thrown away.
    pub anew: bool,
    /// Whether ranges are verified.
    pub verify: bool,
    /// Whether it is to be written past the page cache.
    pub direct: bool,
    /// Which file or folder is sent, which may not have its destination within itself.
    pub source: Option<Whereabouts>,
    /// How many threads look through what is there already.
    pub threads: u32,
}

/// A range that is there already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Its number.
    pub range: u64,
    /// The digest of what is there.
    pub digest: [u8; 32],
}

/// What the destination is.
#[derive(Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// The whole file's path, as it can be shown.
    pub path: Option<String>,
    /// Bytes of a range.
    pub range_bytes: u64,
    /// What is there already.
    pub held: Vec<Held>,
    /// Whether the file system took the room.
    pub allocated: Option<bool>,
}

/// How the ends meet.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfferRequest {
    /// As the ends of a session do.
    pub spec: Spec,
    /// What seals the connections by TLS 1.3; none where bytes cross as they are.
    pub cipher: Option<String>,
}

/// Send.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendRequest {
    /// What the other end offered.
    pub other: Offer,
    /// Bytes of a range.
    pub range_bytes: u64,
    /// What the other end has already.
    pub held: Vec<Held>,
    /// Whether each range's digest follows it.
    pub verify: bool,
}

/// Receive.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReceiveRequest {
    /// What the other end offered.
    pub other: Offer,
    /// Whether each range's digest follows it.
    pub verify: bool,
    /// Whether all is to be on the disk.
    pub sync: bool,
}

/// The transfer is whole.
#[derive(Debug, Serialize, Deserialize)]
pub struct FinishRequest {
    /// The digest that both ends have told, where they have.
    pub digest: Option<String>,
    /// Whether the name is to be on the disk.
    pub sync: bool,
}
