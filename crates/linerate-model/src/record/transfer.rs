//! What a transfer of a file was: what each stream of each end did with its time, and when what was done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Time that something took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// By the clock.
    pub wall_ns: u64,
    /// Of it, on a CPU.
    pub cpu_ns: u64,
}

impl Spent {
    /// Time in which nothing of this thread was done.
    pub fn waited_ns(&self) -> u64 {
        self.wall_ns.saturating_sub(self.cpu_ns)
    }

    /// Whether it took none.
    pub fn is_none(&self) -> bool {
        *self == Spent::default()
    }
}

/// What one stream was at one end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransferStream {
    /// Bytes of the file that crossed.
    pub bytes: u64,
    /// From the moment in which the ends had met until it was done.
    pub elapsed_ns: u64,
    /// Reading the file, or writing it.
    pub file: Spent,
    /// Digests.
    pub digest: Spent,
    /// Sending or receiving.
    pub network: Spent,
    /// Sealing or opening, with copying to and from the records; none of what crosses as it is.
    #[serde(default, skip_serializing_if = "Spent::is_none")]
    pub seal: Spent,
    /// Time during which it could run and another thread had the CPU; none where the kernel keeps no count.
    pub run_delay_ns: Option<u64>,
    /// What the kernel knows of the connection at its end: `struct tcp_info` of linux/tcp.h.
    pub tcp: BTreeMap<String, u64>,
}

/// What one end did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferEnd {
    /// Its streams.
    pub streams: Vec<TransferStream>,
    /// Bytes of the file that were there already, and are the source's.
    pub held_bytes: u64,
    /// When the first stream was done, since the ends had met.
    pub first_done_ns: u64,
    /// When the last one was.
    pub last_done_ns: u64,
    /// When all was, with what had to reach the disk.
    pub done_ns: u64,
    /// What that took after the last stream; none where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<u64>,
    /// Whether the file went past the page cache; none where that was not asked for, or it is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_io: Option<FileIo>,
    /// The cipher that TLS agreed upon; none where the bytes cross as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher: Option<String>,
    /// The file's BLAKE3, as `b3sum` prints it; none where nothing was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// How a file was read or written that was asked to go past the page cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileIo {
    /// Whether it went past it: `O_DIRECT`, with requests under way by io_uring.
    pub past_cache: bool,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// One transfer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// From where: a path, or `memory:SIZE`.
    pub source: String,
    /// To where: a path, or `memory`.
    pub destination: String,
    /// The file's bytes, or those of all files of a folder.
    pub bytes: u64,
    /// How many files a folder has; none of a file, or memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Bytes of a range: what is verified, and resumed, as one.
    pub range_bytes: u64,
    /// The share of the source that was in its host's memory before it began, of a folder by the files at 512
    /// places in its bytes; none of what is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// Whether the source's pages were asked to go before (`POSIX_FADV_DONTNEED`).
    #[serde(default)]
    pub made_cold: bool,
    /// Whether the file system took the destination's room before; none of what is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<bool>,
    /// From the controller's first request to the name of the whole file, by the controller's clock.
    pub wall_ns: u64,
    /// The end that has the source.
    pub sender: TransferEnd,
    /// The end that has the destination: its bytes and its clock are the transfer's.
    pub receiver: TransferEnd,
}

impl TransferStream {
    /// What its thread did, part by part.
    pub fn parts(&self) -> [Spent; 4] {
        [self.file, self.digest, self.network, self.seal]
    }

    /// Its thread's time on a CPU.
    pub fn cpu_ns(&self) -> u64 {
        self.parts().iter().map(|part| part.cpu_ns).sum()
    }
}

impl TransferEnd {
    /// Bytes that crossed here.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(|stream| stream.bytes).sum()
    }
}

impl Transfer {
    /// The time on a CPU of the streams of both ends.
    pub fn cpu_ns(&self) -> u64 {
        let streams = self.sender.streams.iter().chain(&self.receiver.streams);
        streams.map(TransferStream::cpu_ns).sum()
    }

    /// Bits a second that crossed until all was done, by the receiver; none where nothing crossed.
    pub fn throughput_bps(&self) -> Option<f64> {
        let bytes = self.receiver.bytes();
        let is_some = bytes > 0 && self.receiver.done_ns > 0;
        is_some.then(|| bytes as f64 * 8e9 / self.receiver.done_ns as f64)
    }
}
