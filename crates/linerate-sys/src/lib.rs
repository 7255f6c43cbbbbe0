//! Safe doors to the Linux facilities that linerate measures with.
//!
//! Every `unsafe` line of the project is here, one file a kernel facility; what comes out is safe to
//! use from anywhere, and an error carries the call and its object. Nothing here knows what a
//! benchmark is.

pub mod cpu_time;
mod error;
pub mod handover;
pub mod namespace;
pub mod netlink;
pub mod spawn;
pub mod ethtool;
pub mod firewall;
pub mod link;
pub mod probe;
pub mod tcp_info;

pub use error::{Error, Result};
