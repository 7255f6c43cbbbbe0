//! Watches a host during a trial without touching the data path, and reads what it is once.
//!
//! | what | when | gives |
//! |---|---|---|
//! | [`environment()`] | once a run | all facts about the host, a missing one as null |
//! | [`Watch`] | around a step | what every [`Observer`] of a host or a session saw: counters, connections, time lines |
//! | [`doctor()`] | when asked | whether this host can be measured well |
//!
//! Nothing here changes anything. An observer that needs a privilege names it in the vocabulary, and is not begun where its
//! process has it not; the host's line in the recording says so. Interfaces, sockets and settings of the network are
//! those of the calling thread's network namespace: `/sys/class/net` is not read, because it shows the
//! namespace of whoever mounted it. Names of facts are dotted, with underscores within a word as the
//! kernel's settings have them: `cpu.numa_nodes`, `net.ipv4.tcp_rmem`.

mod clock;
mod confinement;
mod cpu;
mod doctor;
mod environment;
mod fact;
mod host;
mod interface;
mod packet_threads;
mod privilege;
mod queue;
mod quota;
pub mod reassembly;
pub mod running;
mod sampler;
mod snapshot;
mod socket_memory;
mod sockets;
mod stack;
mod tcp_ext;
pub mod tcp_info;
mod watch;

pub use doctor::{Check, CheckState, doctor};
pub use environment::environment;
pub use host::machine_id;
pub use packet_threads::PacketThreads;
pub use privilege::{Refusal, refusal};
pub use sampler::Sampler;
pub use snapshot::{Snapshot, snapshot};
pub use tcp_ext::TcpExt;
pub use watch::{Observer, Seen, Site, Watch, Watched, unobserved};
