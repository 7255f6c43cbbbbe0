//! Watches a host during a trial without touching the data path, and reads what it is once.
//!
//! | what | when | gives |
//! |---|---|---|
//! | [`environment()`] | once a run | all facts about the host, a missing one as null |
//! | [`snapshot()`] | before and after a step | the host's counters; [`Snapshot::delta`] is what they did |
//! | [`tcp_info`] | before and after a step | a connection's counters that moved, and its last state |
//! | [`Sampler`] | during a long stream | time lines of the host and of the sockets |
//! | [`doctor()`] | when asked | whether this host can be measured well |
//!
//! Nothing here needs a privilege or changes anything. Interfaces, sockets and settings of the network are
//! those of the calling thread's network namespace: `/sys/class/net` is not read, because it shows the
//! namespace of whoever mounted it. Names of facts are dotted, with underscores within a word as the
//! kernel's settings have them: `cpu.numa_nodes`, `net.ipv4.tcp_rmem`.

mod confinement;
mod cpu;
mod doctor;
mod environment;
mod fact;
mod host;
mod interface;
pub mod reassembly;
mod sampler;
mod snapshot;
mod stack;
pub mod tcp_info;

pub use doctor::{Check, CheckState, doctor};
pub use environment::environment;
pub use host::machine_id;
pub use sampler::Sampler;
pub use snapshot::{Snapshot, snapshot};
