//! What `linerate tune` tries: settings with their levels, what they gained elsewhere, and what they may cost.
//!
//! The gain that is stated orders the search and nothing else: what is kept is what gains here.

use super::{HostKnob, joined};

/// On what a setting acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The test's own sockets.
    Socket,
    /// The test's own threads.
    Thread,
    /// A message library, as its job is started.
    Library,
    /// The hosts: only where it is allowed.
    Host,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Tunable {
    /// Its name.
    pub name: &'static str,
    /// On what it acts.
    pub scope: Scope,
    /// What is tried, each by itself; `+` joins what is set together.
    pub levels: &'static [&'static str],
    /// The gain that is known of it, as a share of the throughput.
    pub gain: f64,
    /// What else is looked at, in words.
    pub guard: &'static str,
    /// What it may cost.
    pub risk: &'static str,
    /// How it is kept, where a program or a library asks for it itself; none of hosts, which have files for it.
    pub keep: &'static str,
    /// Where the gain is known from.
    pub source: &'static str,
}

impl Scope {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Socket => "socket",
            Scope::Thread => "thread",
            Scope::Library => "library",
            Scope::Host => "host",
        }
    }
}

/// What every entry is held against.
const USUAL: &str = "half round trip, 99th percentile, CPU time a byte, segments sent again";

const BASE: Tunable = Tunable::BASE;

/// Every entry.
pub const TUNABLES: &[Tunable] =
    &joined::<_, { WITHIN.len() + HostKnob::TRIED.len() }>(&[WITHIN, &HostKnob::TRIED]);

/// What is tried within our own sockets, threads and jobs.
const WITHIN: &[Tunable] = &[
    Tunable {
        name: "buffers",
        levels: &[
            "socket.send-buffer=256KiB+socket.receive-buffer=256KiB",
            "socket.send-buffer=1MiB+socket.receive-buffer=1MiB",
            "socket.send-buffer=4MiB+socket.receive-buffer=4MiB",
        ],
        gain: 0.9,
        risk: "memory of each connection; autotuning is off; a large buffer is a long queue",
        keep: "SO_SNDBUF and SO_RCVBUF before connect(2), or the program's own option; limits: net.core.wmem_max, rmem_max",
        source: "Turner and Chen 2002, section 4: 290 to 550 Mb/s",
        ..BASE
    },
    Tunable {
        name: "send-buffer",
        levels: &["socket.send-buffer=1MiB", "socket.send-buffer=4MiB"],
        gain: 0.5,
        risk: "memory of each connection; a large buffer is a long queue",
        keep: "SO_SNDBUF before connect(2), or the program's own option; its limit: net.core.wmem_max",
        source: "tcp(7), tcp_wmem; Turner and Chen 2002, section 3",
        ..BASE
    },
    Tunable {
        name: "receive-buffer",
        levels: &["socket.receive-buffer=1MiB", "socket.receive-buffer=4MiB"],
        gain: 0.5,
        risk: "memory of each connection; autotuning is off",
        keep: "SO_RCVBUF before connect(2), or the program's own option; its limit: net.core.rmem_max",
        source: "RFC 7323, section 2; Turner and Chen 2002, section 3",
        ..BASE
    },
    Tunable {
        name: "send-engine",
        levels: &["tcp.send-engine=sendfile", "tcp.send-engine=zero-copy"],
        gain: 0.3,
        risk: "the sender's memory must not change until it is sent",
        keep: "sendfile(2) or MSG_ZEROCOPY in the program's sender",
        source: "Cope et al. 2007, section 6; Documentation/networking/msg_zerocopy.rst",
        ..BASE
    },
    Tunable {
        name: "receive-engine",
        levels: &["tcp.receive-engine=coalescing", "tcp.receive-engine=low-water"],
        gain: 0.2,
        risk: "what comes is seen later",
        keep: "larger reads, or SO_RCVLOWAT, in the program's receiver",
        source: "socket(7), SO_RCVLOWAT",
        ..BASE
    },
    Tunable {
        name: "congestion-control",
        levels: &[
            "tcp.congestion-control=cubic",
            "tcp.congestion-control=bbr",
            "tcp.congestion-control=reno",
        ],
        gain: 0.15,
        risk: "its share beside other flows: look at it with a neighbour before it is kept",
        keep: "TCP_CONGESTION, or sysctl net.ipv4.tcp_congestion_control for the whole host",
        source: "RFC 9438; Cardwell et al., BBR, ACM Queue 14(5), 2016",
        ..BASE
    },
    Tunable {
        name: "read-size",
        levels: &["stream.read-size=256KiB", "stream.read-size=1MiB"],
        gain: 0.1,
        risk: "beyond the cache a byte costs more",
        keep: "the size that the program's receiver asks recv(2) for",
        source: "Cope et al. 2007, section 5.1: best at 64 KB of 16 to 256 KB",
        ..BASE
    },
    Tunable {
        name: "no-delay",
        levels: &["tcp.no-delay=on"],
        gain: 0.05,
        risk: "more packets",
        keep: "TCP_NODELAY",
        source: "RFC 896; tcp(7)",
        ..BASE
    },
    Tunable {
        name: "placement",
        scope: Scope::Thread,
        levels: &["cpu.placement=none"],
        gain: 0.05,
        risk: "what the scheduler does varies",
        keep: "sched_setaffinity(2), taskset(1), numactl(8)",
        source: "sched_setaffinity(2)",
        ..BASE
    },
    Tunable {
        name: "tls-cipher",
        levels: &["tls.cipher=aes-128-gcm", "tls.cipher=chacha20-poly1305"],
        gain: 0.4,
        risk: "none to secrecy: all are of TLS 1.3",
        keep: "the order of the program's cipher suites",
        source: "RFC 8446, appendix B.4; Cope et al. 2007, table 3, of ciphers of ssh: +40 %",
        ..BASE
    },
    Tunable {
        name: "ssh-cipher",
        scope: Scope::Library,
        levels: &["ssh.cipher=aes-128-gcm", "ssh.cipher=chacha20-poly1305"],
        gain: 0.4,
        risk: "none to secrecy: both are OpenSSH's own choices",
        keep: "Ciphers in ssh_config(5)",
        source: "Cope et al. 2007, table 3: +40 %",
        ..BASE
    },
    Tunable {
        name: "pipe-capacity",
        levels: &["pipe.capacity=1MiB"],
        gain: 0.1,
        risk: "memory of each pipe",
        keep: "fcntl(2), F_SETPIPE_SZ",
        source: "pipe(7)",
        ..BASE
    },
    Tunable {
        name: "mpi-socket-buffer",
        scope: Scope::Library,
        levels: &["mpi.socket-buffer=256KiB", "mpi.socket-buffer=1MiB", "mpi.socket-buffer=4MiB"],
        gain: 4.3,
        risk: "memory of each connection",
        keep: "the library's parameter file",
        source: "Turner and Chen 2002, section 4.1: P4_SOCKBUFSIZE of 32 to 256 kB, 75 to 400 Mb/s",
        ..BASE
    },
    Tunable {
        name: "mpi-eager-limit",
        scope: Scope::Library,
        levels: &["mpi.eager-limit=64KiB", "mpi.eager-limit=256KiB", "mpi.eager-limit=1MiB"],
        gain: 0.5,
        risk: "memory for messages that nobody waits for, of each pair of ranks",
        keep: "the library's parameter file",
        source: "Hurwitz and Feng 2005, section 3.2: rpi_tcp_short; Turner and Chen 2002, section 4.3",
        ..BASE
    },
    Tunable {
        name: "mpi-progress-thread",
        scope: Scope::Library,
        levels: &["mpi.progress-thread=on"],
        gain: 0.05,
        risk: "a CPU, and latency where there is none to spare",
        keep: "the library's parameter file",
        source: "btl_tcp_progress_thread (Open MPI), MPIR_CVAR_ASYNC_PROGRESS (MPICH)",
        ..BASE
    },
    Tunable {
        name: "pvm-route",
        scope: Scope::Library,
        levels: &["pvm.route=direct", "pvm.route=direct+pvm.encoding=in-place"],
        gain: 2.7,
        risk: "a connection for each pair of tasks",
        keep: "pvm_setopt(PvmRoute, PvmRouteDirect); pvm_initsend(PvmDataInPlace)",
        source: "Turner and Chen 2002, section 4.5: 90 to 330 Mb/s, and 415",
        ..BASE
    },
    Tunable {
        name: "ucx-socket-buffer",
        scope: Scope::Library,
        levels: &["ucx.socket-buffer=1MiB", "ucx.socket-buffer=4MiB"],
        gain: 0.5,
        risk: "memory of each connection",
        keep: "UCX_TCP_SNDBUF and UCX_TCP_RCVBUF in the job's environment",
        source: "ucx_info -cf",
        ..BASE
    },
    Tunable {
        name: "ucx-eager-limit",
        scope: Scope::Library,
        levels: &["ucx.eager-limit=64KiB", "ucx.eager-limit=1MiB"],
        gain: 0.2,
        risk: "memory for messages that nobody waits for",
        keep: "UCX_RNDV_THRESH in the job's environment",
        source: "ucx_info -cf",
        ..BASE
    },
    Tunable {
        name: "libfabric-eager-limit",
        scope: Scope::Library,
        levels: &["libfabric.eager-limit=64KiB", "libfabric.eager-limit=1MiB"],
        gain: 0.2,
        risk: "memory for messages that nobody waits for",
        keep: "FI_OFI_RXM_BUFFER_SIZE in the job's environment",
        source: "fi_rxm(7)",
        ..BASE
    },
];

impl Tunable {
    /// What the others have in common.
    pub(super) const BASE: Tunable = Tunable {
        name: "",
        scope: Scope::Socket,
        levels: &[],
        gain: 0.0,
        guard: USUAL,
        risk: "",
        keep: "",
        source: "",
    };

    /// The entry with this level; none where no entry has it.
    pub fn with_level(level: &str) -> Option<&'static Tunable> {
        let plain = |text: &str| text.replace(' ', "");
        TUNABLES.iter().find(|one| one.levels.iter().any(|known| plain(known) == plain(level)))
    }

    /// The knobs that it sets, each once.
    pub fn knobs(&self) -> Vec<&'static str> {
        let settings = self.levels.iter().flat_map(|level| level.split('+'));
        let mut knobs: Vec<&str> = settings.filter_map(|setting| setting.split('=').next()).collect();
        knobs.sort_unstable();
        knobs.dedup();
        knobs
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Had, Knob};
    use super::*;

    #[test]
    fn levels_are_of_known_knobs_and_in_their_scope() {
        for one in TUNABLES {
            assert!(!one.levels.is_empty() && one.gain > 0.0, "{}", one.name);
            for name in one.knobs() {
                let knob = Knob::named(name).unwrap_or_else(|| panic!("{}: {name}", one.name));
                let is_of_host = matches!(knob.had, Had::Host | Had::Links);
                assert_eq!(is_of_host, one.scope == Scope::Host, "{}: {name}", one.name);
                assert!(knob.harmless.is_none(), "{}: {name} plants a fault", one.name);
            }
        }
    }

    #[test]
    fn every_entry_says_what_it_risks_and_how_it_is_kept() {
        for one in TUNABLES {
            assert!(!one.risk.is_empty() && !one.source.is_empty() && !one.guard.is_empty(), "{}", one.name);
            assert_eq!(one.keep.is_empty(), one.scope == Scope::Host, "{}", one.name);
            let names = TUNABLES.iter().filter(|other| other.name == one.name).count();
            assert_eq!(names, 1, "{}", one.name);
        }
    }
}
