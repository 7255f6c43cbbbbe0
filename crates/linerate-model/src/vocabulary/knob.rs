//! Every setting that a run may change: applied, read back, recorded as asked and as granted.

mod application;
mod fault;
mod filter;
mod link;
mod message;

pub use application::{OF_APPLICATIONS, OF_LOOPS, TRANSPORT_OF};
pub use fault::{SHIM_ANSWERED, SHIM_READ_RATE};
pub use filter::{FILTER_AT, FILTER_AT_ROUTER, FILTER_KIND, FILTER_MATCH, FILTER_RULES, FILTER_STATE};
pub use link::{LINK_ADAPTERS, LINK_COALESCE, LINK_COALESCE_FRAMES};

use super::{HostKnob, Takes, TransportEntry, joined};

/// Knobs that act on a connection of `linerate trace` and `linerate capture`, which no rung's loops run on: the connection's own, and
/// those of what it crosses.
pub const OF_CONNECTIONS: &[&str] = &[
    "socket.send-buffer",
    "socket.receive-buffer",
    "socket.interface",
    "socket.dscp",
    "tcp.congestion-control",
    "tcp.no-delay",
    "tcp.mss",
    "tcp.pacing-rate",
    "tcp.source-port",
];

/// Knobs of a relay between the ends. It makes two connections of one: a trace can be of both, and packets of one stream cannot.
pub const OF_RELAYS: &[&str] = &["relay.delay", "relay.threshold", "relay.below"];

/// What a knob's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnobKind {
    /// A size, at least this and at most that: `256KiB`.
    Bytes(u64, u64),
    /// A duration of at most [`LONGEST_NS`]: `5us`.
    Duration,
    /// A rate, within [`RATES`]: `100Mb/s`.
    Rate,
    /// A whole number, at least this and at most that.
    Count(u32, u32),
    /// `on` or `off`.
    Switch,
    /// A name that the kernel knows.
    Name,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `NAME=VALUE NAME=VALUE`, of a process's environment.
    Variables,
    /// A file or folder, from the root.
    Path,
    /// CPUs of the two ends: `0/1`, `0,2/1,3`, or `none`.
    Placement,
}

/// The longest duration of a knob.
pub const LONGEST_NS: f64 = 1e9;
/// The least and the greatest rate of a knob, in bits a second.
pub const RATES: [f64; 2] = [1e3, 1e12];
/// The kernel counts a buffer in an int, and doubles it (socket(7), SO_SNDBUF).
const MOST_BUFFER: u64 = 1 << 30;
/// What TCP_MAXSEG takes: TCP_MIN_MSS and MAX_TCP_WINDOW, include/net/tcp.h.
const SEGMENTS: KnobKind = KnobKind::Bytes(88, 32_767);
const BUFFER: KnobKind = KnobKind::Bytes(1, MOST_BUFFER);

/// How it is known, before anything is measured, whether a host has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Had {
    /// Every host has every value, or nothing but a session tells.
    Always,
    /// The host says which CPUs it has.
    Cpus,
    /// The host tries the value: what it has not ends the run before it begins, and leaves a case of a plan out.
    Tried,
    /// It is set on links that are the run's own: a lab's. Of other hosts nothing is changed, and a case is left out.
    Links,
    /// It is a packet filter's, which a lab's hosts have alone, as [`Had::Links`].
    Filter,
    /// As [`Had::Filter`], and a lab's hosts try the value.
    FilterTried,
    /// It is a setting of the host, which is changed only where that is allowed, and put back.
    Host,
    /// As [`Had::Tried`], but a plan goes on with what is granted in its place, which its report tells.
    Clipped,
}

impl Had {
    /// Whether hosts try the values, of a lab or others.
    pub fn is_tried(self, in_lab: bool) -> bool {
        matches!(self, Had::Tried | Had::Clipped) || in_lab && self == Had::FilterTried
    }
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Knob {
    /// The dotted name in flags, plans and records.
    pub name: &'static str,
    /// What a value looks like.
    pub kind: KnobKind,
    /// The transports it applies to; empty for all.
    pub transports: &'static [&'static str],
    /// What holds when it is not set.
    pub default: &'static str,
    /// The values with which it plants no fault, of a knob that plants one; none of others.
    pub harmless: Option<&'static [&'static str]>,
    /// How it is known whether a host has a value.
    pub had: Had,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// Where its meaning is defined.
    pub source: &'static str,
    /// What to try with it.
    pub hint: &'static str,
}

impl Knob {
    /// The knob with this name; none where this version has none.
    pub fn named(name: &str) -> Option<&'static Knob> {
        KNOBS.iter().find(|knob| knob.name == name)
    }

    /// Whether it acts on a transport.
    pub fn acts_on(&self, transport: &str) -> bool {
        self.transports.is_empty() || self.transports.contains(&transport)
    }

    /// Whether it plants a fault with this value.
    pub fn plants_fault(&self, value: &str) -> bool {
        // Nothing is nothing in every unit.
        let same = |known: &&&str| **known == value || is_no_time(known) && is_no_time(value);
        self.harmless.is_some_and(|harmless| harmless.iter().find(same).is_none())
    }
}

/// `0`, `0ns`, `0.0 s`: of a duration, which was checked when it was read.
fn is_no_time(text: &str) -> bool {
    let behind = text.trim_start_matches(['0', '.']);
    behind.len() < text.len() && !behind.starts_with(|c: char| c.is_ascii_digit())
}

/// The transports that take settings of a kind, as their own table says.
macro_rules! taking {
    ($($name:ident = $takes:ident),*) => {
        $(const $name: &[&str] = &TransportEntry::taking::<{ TransportEntry::takers(Takes::$takes) }>(Takes::$takes);)*
    };
}

taking!(
    TCP = Connection,
    BOUND = Interface,
    PATHS = Path,
    INTERNET = Internet,
    SOCKETS = Buffers,
    SEALED = Cipher,
    SHIMMED = Shim,
    STREAMED = Reads,
    MULTIPLEXING = Multiplexing,
    CARRIED = Source
);

/// Engines are of plain sockets.
const PLAIN_TCP: &[&str] = &["tcp"];
const UDP: &[&str] = &["udp"];

const SEND_ENGINES: &[&str] =
    &["write", "epoll", "io-uring", "io-uring-zero-copy", "sendfile", "splice", "zero-copy"];
const RECEIVE_ENGINES: &[&str] = &[
    "read",
    "wait-all",
    "coalescing",
    "low-water",
    "epoll",
    "io-uring",
    "io-uring-multishot",
    "discard",
    "discard-low-water",
    "splice",
    "zero-copy",
];
const UDP_ENGINES: &[&str] = &["plain", "coalescing", "batch", "segments"];

/// Every knob.
pub const KNOBS: &[Knob] =
    &joined::<_, { BEFORE_HOSTS.len() + HostKnob::KNOBS.len() + BEHIND_HOSTS.len() }>(&[
        BEFORE_HOSTS,
        &HostKnob::KNOBS,
        BEHIND_HOSTS,
    ]);

/// What stands before the hosts' own: of sockets, of libraries, of links.
const BEFORE_HOSTS: &[Knob] = &[
    Knob {
        name: "socket.send-buffer",
        kind: BUFFER,
        transports: SOCKETS,
        default: "the kernel's autotuning",
        harmless: None,
        had: Had::Clipped,
        about: "SO_SNDBUF; fixes the buffer and switches autotuning off (the kernel doubles what is asked)",
        source: "socket(7), SO_SNDBUF",
        hint: "try 256KiB and 4MiB against the default; below the product of rate and delay it binds",
    },
    Knob {
        name: "socket.receive-buffer",
        kind: BUFFER,
        transports: SOCKETS,
        default: "the kernel's autotuning",
        harmless: None,
        had: Had::Clipped,
        about: "SO_RCVBUF; fixes the buffer and switches autotuning off (the kernel doubles what is asked)",
        source: "socket(7), SO_RCVBUF",
        hint: "try 256KiB and 4MiB against the default; it bounds the window, of which about half is payload",
    },
    Knob {
        name: "tcp.congestion-control",
        kind: KnobKind::Name,
        transports: PATHS,
        default: "cubic in the lab, the host's own elsewhere",
        harmless: None,
        had: Had::Tried,
        about: "TCP_CONGESTION of every test socket",
        source: "tcp(7), TCP_CONGESTION",
        hint: "cubic for short paths; bbr needs the fq queue; `sysctl net.ipv4.tcp_available_congestion_control` lists them",
    },
    Knob {
        name: "tcp.no-delay",
        kind: KnobKind::Switch,
        transports: PATHS,
        default: "on",
        harmless: None,
        had: Had::Always,
        about: "TCP_NODELAY: send small messages at once (off is Nagle's algorithm)",
        source: "tcp(7), TCP_NODELAY; RFC 896",
        hint: "off shows what Nagle's algorithm costs small messages",
    },
    Knob {
        name: "tcp.mss",
        kind: SEGMENTS,
        transports: TCP,
        default: "from the MTU",
        harmless: None,
        had: Had::Always,
        about: "TCP_MAXSEG: the largest segment that is offered to the peer",
        source: "tcp(7), TCP_MAXSEG; RFC 9293 section 3.7.1",
        hint: "a small one shows what a packet costs; a large one needs the MTU",
    },
    Knob {
        name: "tcp.pacing-rate",
        kind: KnobKind::Rate,
        transports: TCP,
        default: "unlimited",
        harmless: None,
        had: Had::Always,
        about: "SO_MAX_PACING_RATE: each flow sends no faster than this, its packets spread evenly",
        source: "socket(7), SO_MAX_PACING_RATE; tc-fq(8)",
        hint: "a little below what the narrowest link of the path carries; a sender that bursts loses packets in its queue",
    },
    Knob {
        name: "tcp.source-port",
        kind: KnobKind::Count(1024, 65535),
        transports: TCP,
        default: "of the kernel's choice",
        harmless: None,
        had: Had::Always,
        about: "the port of the connecting end's first flow; each further flow has the next one",
        source: "bind(2); RFC 2992 (paths of equal cost are chosen by a hash of addresses and ports)",
        hint: "with linerate ab: equal settings that differ by the port alone differ by the path",
    },
    Knob {
        name: "tcp.send-engine",
        kind: KnobKind::OneOf(SEND_ENGINES),
        transports: PLAIN_TCP,
        default: "write",
        harmless: None,
        had: Had::Tried,
        about: "how a sender's bytes reach the kernel: one send(2) a message, or what saves the copy or the call",
        source: "send(2), epoll(7), io_uring(7), sendfile(2), splice(2); Documentation/networking/msg_zerocopy.rst",
        hint: "linerate ab --set tcp.send-engine=sendfile,splice shows what the sender's copy costs",
    },
    Knob {
        name: "tcp.receive-engine",
        kind: KnobKind::OneOf(RECEIVE_ENGINES),
        transports: PLAIN_TCP,
        default: "read",
        harmless: None,
        had: Had::Tried,
        about: "how a receiver's bytes leave the kernel: recv(2), or what saves the copy, the call or the wait",
        source: "recv(2), nanosleep(2), socket(7), epoll(7), io_uring(7), tcp(7), splice(2); linux/tcp.h, TCP_ZEROCOPY_RECEIVE",
        hint: "linerate ab --set tcp.receive-engine=coalescing,discard shows what wake-ups and the receiver's copy cost",
    },
    Knob {
        name: "udp.engine",
        kind: KnobKind::OneOf(UDP_ENGINES),
        transports: UDP,
        default: "plain",
        harmless: None,
        had: Had::Tried,
        about: "how datagrams reach the kernel and leave it: one a call, the same with a receiver that a timer wakes, 64 a call, or cut and joined by the kernel",
        source: "nanosleep(2); sendmmsg(2), recvmmsg(2); udp(7), UDP_SEGMENT and UDP_GRO",
        hint: "linerate ab --set udp.engine=batch,segments shows what a packet's way through the stack costs, plain,coalescing what wake-ups do",
    },
    Knob {
        name: "socket.interface",
        kind: KnobKind::Name,
        transports: BOUND,
        default: "the one that the route names",
        harmless: None,
        had: Had::Tried,
        about: "SO_BINDTODEVICE: the interface that every test socket is bound to",
        source: "socket(7), SO_BINDTODEVICE",
        hint: "where several interfaces reach the peer, each in its turn; both ends need one of this name",
    },
    Knob {
        name: "socket.dscp",
        kind: KnobKind::Count(0, 63),
        transports: INTERNET,
        default: "0",
        harmless: None,
        had: Had::Always,
        about: "IP_TOS and IPV6_TCLASS: the differentiated services code point of every packet",
        source: "RFC 2474; RFC 4594; ip(7), IP_TOS",
        hint: "46 is expedited forwarding, 8 is background; networks that do not know it pass it on or clear it",
    },
    Knob {
        name: "tls.cipher",
        kind: KnobKind::OneOf(&["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]),
        transports: SEALED,
        default: "aes-128-gcm, which every implementation must have",
        harmless: None,
        had: Had::Always,
        about: "the cipher of TLS 1.3 and QUIC; both ends offer this one alone",
        source: "RFC 8446, appendix B.4; RFC 9001, section 5.3",
        hint: "aes-128-gcm where the CPU has AES instructions, chacha20-poly1305 where it has none",
    },
    Knob {
        name: "ssh.cipher",
        kind: KnobKind::OneOf(&[
            "chacha20-poly1305",
            "aes-128-gcm",
            "aes-256-gcm",
            "aes-128-ctr",
            "aes-256-ctr",
        ]),
        transports: &["openssh"],
        default: "OpenSSH's own first choice",
        harmless: None,
        had: Had::Tried,
        about: "the cipher of ssh (-c): the client offers this one alone",
        source: "ssh_config(5), Ciphers; RFC 5647; RFC 4344",
        hint: "aes-128-gcm where the CPU has AES instructions",
    },
    Knob {
        name: "pipe.capacity",
        kind: BUFFER,
        transports: &["pipe"],
        default: "64 KiB, the kernel's own",
        harmless: None,
        had: Had::Clipped,
        about: "F_SETPIPE_SZ: what each pipe holds (rounded up to pages; an ordinary user gets 1 MiB at most)",
        source: "fcntl(2), F_SETPIPE_SZ; pipe(7)",
        hint: "1MiB: fewer wake-ups where messages are large",
    },
    Knob {
        name: "cpu.placement",
        kind: KnobKind::Placement,
        transports: &[],
        default: "one CPU for each end",
        harmless: None,
        had: Had::Cpus,
        about: "the CPUs of the two ends, `0/1`; `queue` is where the kernel receives each flow's packets; `none` leaves it to the scheduler",
        source: "sched_setaffinity(2); SO_INCOMING_CPU, socket(7)",
        hint: "two CPUs that share a cache, two that do not, and one for both; queue where the adapter has several",
    },
    message::MPI_IMPLEMENTATION,
    message::MPI_EAGER_LIMIT,
    message::MPI_SOCKET_BUFFER,
    message::MPI_PROGRESS_THREAD,
    message::MPI_YIELD,
    message::MPI_RECEIVE,
    message::MPI_THREAD_LEVEL,
    message::MPI_PATH,
    message::MPI_RPI,
    message::MPI_ENVIRONMENT,
    message::PVM_ROUTE,
    message::PVM_ENCODING,
    message::SHMEM_OPERATION,
    message::SHMEM_ENVIRONMENT,
    message::TCGMSG_ENVIRONMENT,
    message::UCX_TRANSPORTS,
    message::UCX_EAGER_LIMIT,
    message::UCX_SOCKET_BUFFER,
    message::UCX_ENVIRONMENT,
    message::LIBFABRIC_PROVIDER,
    message::LIBFABRIC_EAGER_LIMIT,
    message::LIBFABRIC_ENVIRONMENT,
    message::LITE_PROGRESS,
    Knob {
        name: "cache.mode",
        kind: KnobKind::OneOf(&["auto", "hot", "cold"]),
        transports: CARRIED,
        default: "auto: hot below the size of L2, cold from there on; ping-pong is hot",
        harmless: None,
        had: Had::Always,
        about: "whether a message comes from one buffer or from a walk through 64 MiB",
        source: "NetPIPE's cache-invalidate mode",
        hint: "hot and cold in two runs: the difference is what memory costs",
    },
    Knob {
        name: "stream.read-size",
        kind: KnobKind::Bytes(1, 64 << 20),
        transports: STREAMED,
        default: "64 KiB, or the message where that is larger",
        harmless: None,
        had: Had::Always,
        about: "the most that a stream's receiver asks for in one call, 64 MiB at most",
        source: "recv(2); NTTCP's buffer size, which holds for both of its ends",
        hint: "the message's own size and 2MiB: a receiver that takes less often lets the sender wake it less often",
    },
    Knob {
        name: "message.content",
        kind: KnobKind::OneOf(&["random", "zeros"]),
        transports: STREAMED,
        default: "random: bytes that no compressor can shrink",
        harmless: None,
        had: Had::Always,
        about: "what a stream's sender sends: written memory, or the kernel's one page of zeros again and again; not for engines with memory of their own",
        source: "qperf, whose sender never writes its buffer; iperf3 --repeating-payload",
        hint: "zeros: a sender whose source always lies in the nearest cache, and what a compressing path makes of it",
    },
    Knob {
        name: "flow.threads",
        kind: KnobKind::OneOf(&["cpu", "flow"]),
        transports: MULTIPLEXING,
        default: "cpu: where there are more flows than CPUs, a thread a CPU serves them all",
        harmless: None,
        had: Had::Always,
        about: "whether many flows are served by a thread a CPU, or by a thread each",
        source: "epoll(7); iperf3 -P, which has a thread each",
        hint: "flow: few flows of large messages, whose threads then sleep in the kernel and not on a list of flows",
    },
    LINK_ADAPTERS,
    LINK_COALESCE,
    LINK_COALESCE_FRAMES,
];

/// What stands behind them: of a lab, and of applications.
const BEHIND_HOSTS: &[Knob] = &[
    FILTER_RULES,
    FILTER_KIND,
    FILTER_MATCH,
    FILTER_STATE,
    FILTER_AT,
    fault::SHIM_SPIN,
    fault::SHIM_COPIES,
    fault::SHIM_WRITE_SIZE,
    fault::SHIM_PAUSE,
    fault::SHIM_RECEIVER_PRIORITY,
    fault::SHIM_ANSWERED,
    fault::SHIM_STALL,
    fault::SHIM_STALL_EVERY,
    fault::SHIM_READ_RATE,
    fault::RELAY_DELAY,
    fault::RELAY_THRESHOLD,
    fault::RELAY_BELOW,
    fault::SHIM_SLOWDOWN,
    fault::SHIM_SENDER_WORK,
    fault::SHIM_RECEIVER_WORK,
    fault::SHIM_OVERCLAIM,
    application::MONITOR_TRANSPORT,
    application::MONITOR_AGENT,
    application::MONITOR_DEADLINE,
    application::MONITOR_DELAY,
    application::PIPELINE_TRANSPORT,
    application::PIPELINE_UPDATE,
    application::PIPELINE_UNITS,
    application::STRIPED_TRANSPORT,
    application::STRIPED_STORE,
    application::STRIPED_PATH,
    application::TILED_ACCESS,
    application::TILED_OVERLAP,
    application::MPI_FILE_FOLDER,
    application::MPI_FILE_ACCESS,
    application::MPI_FILE_VIEW,
    application::FILE_TOOL,
    application::FILE_FLAGS,
    application::FILE_CIPHER,
    application::FILE_FROM,
    application::FILE_TO,
];
