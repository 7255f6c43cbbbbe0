//! Safe access to the Linux facilities that linerate measures with.
//!
//! Every `unsafe` line of the project is here, one file a kernel facility; what comes out is safe to
//! use from anywhere, and an error carries the call and its object. Nothing here knows what a
//! benchmark is.

pub mod allocation;
pub mod batch;
pub mod bound;
pub mod child;
pub mod clock;
pub mod control_group;
pub mod cpu_time;
pub mod destination;
pub mod direct_file;
mod error;
pub mod ethtool;
pub mod firewall;
pub mod frame_socket;
pub mod handover;
pub mod interposer;
pub mod interrupt;
pub mod libfabric;
pub mod library;
pub mod limit;
pub mod link;
pub mod local;
pub mod low_water;
pub mod mapped_receive;
pub mod memory_file;
pub mod messages;
pub mod mount;
pub mod mpi;
pub mod mptcp;
pub mod namespace;
pub mod netlink;
mod option;
pub mod orphans;
pub mod own_file;
pub mod packet;
pub mod packets;
pub mod page_cache;
pub mod pages;
mod perf_event;
pub mod perf_ring;
pub mod pipe;
pub mod port_holder;
pub mod probe;
pub mod process;
pub mod pvm;
pub mod readiness;
pub mod ring;
pub mod run_delay;
pub mod shared_ring;
pub mod shmem;
pub mod socket;
pub mod spawn;
pub mod splice;
pub mod stamps;
pub mod stream_socket;
pub mod suspension;
pub mod tcgmsg;
pub mod tcp_info;
pub mod terminal;
pub mod thread;
pub mod timed_writer;
pub mod tracefs;
pub mod tracer;
pub mod transfer;
pub mod ucx;
mod under_way;
pub mod wait;
pub mod wake;
pub mod whole_file;
pub mod zero_copy;

pub use error::{Error, Result};
