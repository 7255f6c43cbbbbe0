//! Watches a host during a trial without touching the data path.

mod snapshot;
pub mod tcp_info;

pub use snapshot::{Snapshot, snapshot};
