//! Known faults that may be put into a lab: what each does, by which model, and what it imitates.

/// What a fault's value looks like, and its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FaultKind {
    /// It takes no value.
    Plain,
    /// A size: `64KiB`.
    Bytes(u64, u64),
    /// A duration: `20ms`.
    Duration(f64, f64),
    /// A rate in bits a second: `100Mb/s`.
    Rate(f64, f64),
    /// A share: `1%`, above nothing and at most this.
    Share(f64),
    /// A whole number.
    Count(u64, u64),
    /// A CPU, and the share of it that is taken: `0`, `0/50%`.
    Cpu,
}

/// Where a fault acts, and on how much of it where nobody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultSite {
    /// The wire, in each direction between two hosts.
    Wire,
    /// The wire, in the directions to the first host.
    WayBack,
    /// The network namespace of every host.
    Host,
    /// A folder of every host, in a mount namespace of its own.
    Disk,
    /// A process beside the hosts.
    Process,
    /// Knobs of the plan, with `{}` for the value.
    Knobs(&'static [&'static str]),
}

/// One fault.
#[derive(Debug)]
pub struct FaultEntry {
    /// The name in flags, plans and records.
    pub name: &'static str,
    /// What a value looks like.
    pub kind: FaultKind,
    /// The value where none is given; empty for those that take none.
    pub default: &'static str,
    /// Where it acts.
    pub site: FaultSite,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// What the measurement must show.
    pub model: &'static str,
    /// Where the model comes from.
    pub source: &'static str,
    /// The cause of a slow network that it imitates.
    pub imitates: &'static str,
    /// What to try with it.
    pub hint: &'static str,
}

impl FaultEntry {
    /// The fault with this name.
    pub fn named(name: &str) -> Option<&'static FaultEntry> {
        FAULTS.iter().find(|entry| entry.name == name)
    }
}

/// The longest delay that a fault adds.
const LONGEST_NS: f64 = 5e9;
/// More than half of all packets lost or late is no network.
const MOST: f64 = 0.5;

/// Every fault: what the wire does, what a host's stack does, what takes the CPU, what an end does.
pub const FAULTS: &[FaultEntry] = &[
    FaultEntry {
        name: "loss",
        kind: FaultKind::Share(MOST),
        default: "1%",
        site: FaultSite::Wire,
        about: "packets are lost, each for itself",
        model: "TCP's rate is at most 1.22 MSS / (RTT sqrt(p))",
        source: "M. Mathis, J. Semke, J. Mahdavi, T. Ott, Computer Communication Review 27 (1997); RFC 9438",
        imitates: "random loss: a bad cable, bad optics",
        hint: "--fault loss=0.1% on lab:delay=10ms: the rate falls with the root of the loss, whatever the link could carry",
    },
    FaultEntry {
        name: "burst-loss",
        kind: FaultKind::Share(MOST),
        default: "1%",
        site: FaultSite::Wire,
        about: "packets are lost in bursts, 8 in a row on average",
        model: "TCP sees a burst as one event: its rate is about sqrt(8) times that of the same loss without bursts",
        source: "E. N. Gilbert, Bell System Technical Journal 39 (1960); M. Mathis et al., CCR 27 (1997)",
        imitates: "burst loss: a fast host before a slow link or a switch with small buffers",
        hint: "beside --fault loss with the same share",
    },
    FaultEntry {
        name: "reorder",
        kind: FaultKind::Share(MOST),
        default: "2%",
        site: FaultSite::Wire,
        about: "packets are overtaken by later ones",
        model: "the share of packets that arrive behind a later one is this",
        source: "RFC 4737; RFC 8985",
        imitates: "reordering: several paths or queues for one flow",
        hint: "look at reord_seen and dsack_dups of the receiver's tcp_info",
    },
    FaultEntry {
        name: "duplicate",
        kind: FaultKind::Share(MOST),
        default: "1%",
        site: FaultSite::Wire,
        about: "packets come twice",
        model: "the receiver drops the second one: TCP's rate stays, the bytes of the interface grow by the share",
        source: "RFC 5560; RFC 2883",
        imitates: "duplication: a loop or a spurious retransmission below",
        hint: "look at dsack_dups of the sender's tcp_info",
    },
    FaultEntry {
        name: "jitter",
        kind: FaultKind::Duration(1.0, LONGEST_NS),
        default: "1ms",
        site: FaultSite::Wire,
        about: "the delay varies by so much both ways; it is as long at least, and the order is kept",
        model: "one way takes the delay and up to so much more or less, all values alike",
        source: "RFC 3393; RFC 5481",
        imitates: "delay variation: shared queues, radio links, virtual machines",
        hint: "on lab:delay=5ms, where its distribution stands beside the plain one",
    },
    FaultEntry {
        name: "delay",
        kind: FaultKind::Duration(1.0, LONGEST_NS),
        default: "10ms",
        site: FaultSite::Wire,
        about: "one way takes so much longer",
        model: "a round trip takes twice this more; a window W carries at most W / RTT",
        source: "RFC 7323 section 1.1; RFC 6349",
        imitates: "a long path",
        hint: "with --fault small-buffers: the rate is the window over the round trip",
    },
    FaultEntry {
        name: "asymmetric-delay",
        kind: FaultKind::Duration(1.0, LONGEST_NS),
        default: "20ms",
        site: FaultSite::WayBack,
        about: "the way to host a takes so much longer, the way from it does not",
        model: "a round trip takes this more; half of one is not the time of either way",
        source: "RFC 7679; RFC 2681",
        imitates: "a path whose two ways differ",
        hint: "half a round trip grows by half of it, whichever end asks",
    },
    FaultEntry {
        name: "mtu-black-hole",
        kind: FaultKind::Bytes(68, 65535),
        default: "1400",
        site: FaultSite::Wire,
        about: "packets of more bytes vanish without a word, the Ethernet header not counted",
        model: "what fits into smaller packets passes at the full rate, the rest never arrives",
        source: "RFC 2923 section 2.1; RFC 4821",
        imitates: "a black hole of path MTU discovery: a tunnel whose ICMP messages are filtered",
        hint: "small messages work and large ones stall until --set tcp.mss=1340",
    },
    FaultEntry {
        name: "policer",
        kind: FaultKind::Rate(1e6, 4e11),
        default: "100Mb/s",
        site: FaultSite::Wire,
        about: "what exceeds this rate is dropped at once, after a burst of 10 ms",
        model: "no flow carries more than the rate; TCP carries less, as by loss, and sends segments again",
        source: "RFC 2475 section 2.3.3.4; T. Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016",
        imitates: "a policer or a shaper without a queue",
        hint: "beside lab:rate=100Mb/s, whose queue holds what comes too fast",
    },
    FaultEntry {
        name: "small-buffers",
        kind: FaultKind::Bytes(4 << 10, 64 << 20),
        default: "64KiB",
        site: FaultSite::Host,
        about: "TCP's send and receive buffers grow no larger than this",
        model: "the rate is at most W / RTT, with a window W of at most the buffer and commonly half of it",
        source: "RFC 6349 section 3.3; tcp(7), tcp_rmem and tcp_wmem",
        imitates: "a receive or send buffer below rate times round trip",
        hint: "on lab:delay=10ms; twice the buffer is twice the rate",
    },
    FaultEntry {
        name: "window-scaling-off",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Host,
        about: "TCP offers no window scaling",
        model: "the rate is at most 65535 B / RTT",
        source: "RFC 7323 section 2; tcp(7), tcp_window_scaling",
        imitates: "window scaling off, or stripped by a middlebox",
        hint: "on lab:delay=10ms: 26 Mb/s, however large the buffers are",
    },
    FaultEntry {
        name: "sack-off",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Host,
        about: "TCP offers no selective acknowledgements",
        model: "one hole a round trip is mended; without loss nothing changes",
        source: "RFC 2018; RFC 6582; tcp(7), tcp_sack",
        imitates: "selective acknowledgements off, or stripped by a middlebox",
        hint: "with --fault burst-loss: several losses in one window",
    },
    FaultEntry {
        name: "timestamps-off",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Host,
        about: "TCP sends no timestamps",
        model: "each full packet carries 12 B more: of an MTU of 1500, 94.9 % of the line instead of 94.1 %",
        source: "RFC 7323 section 3; tcp(7), tcp_timestamps",
        imitates: "timestamps off: few round trips are timed, old segments are not told apart",
        hint: "on lab:rate=100Mb/s, where the link binds",
    },
    FaultEntry {
        name: "offload-off",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Host,
        about: "the hosts' wire ports neither send nor receive super-packets: TSO, GSO and GRO are off",
        model: "CPU time a byte = c_byte + c_packet / P: a packet carries P = 1448 B instead of up to 64 KiB",
        source: "Documentation/networking/segmentation-offloads.rst; Q. Cai et al., Understanding Host Network Stack Overheads, SIGCOMM 2021",
        imitates: "segmentation and receive offloads off or broken",
        hint: "twice, with mtu=1500 and with mtu=9000: the cost is a packet's",
    },
    FaultEntry {
        name: "small-mtu",
        kind: FaultKind::Bytes(576, 65_535),
        default: "1000",
        site: FaultSite::Host,
        about: "a host's wire port has this MTU",
        model: "TCP sends segments of the smaller MTU less its headers both ways: each packet is paid for, and its share of the line is smaller",
        source: "RFC 9293 section 3.7.1; RFC 879",
        imitates: "an MTU that is wrong on one side",
        hint: "b:small-mtu=1000: the other end keeps its own",
    },
    FaultEntry {
        name: "firewall-rules",
        kind: FaultKind::Count(1, 20_000),
        default: "1000",
        site: FaultSite::Host,
        about: "so many packet filter rules that fit no packet stand before what comes in and what goes out",
        model: "a packet's time = t0 + r c: so much for each of r rules, twice on the way from host to host",
        source: "J. Cope et al., Experiences deploying a 10 Gigabit Ethernet computing environment to support regional computational science, section 5.5; nft(8)",
        imitates: "a packet filter whose rules are asked one after the other",
        hint: "1000, 2000 and 4000: half a round trip grows by equal steps",
    },
    FaultEntry {
        name: "conntrack",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Host,
        about: "a packet filter rule asks for the state of each connection, so that all of them are tracked",
        model: "a packet's time = t0 + c: once a packet, whatever the rules",
        source: "nft(8), ct state; Documentation/networking/nf_conntrack-sysctl.rst",
        imitates: "connection tracking on a measured host",
        hint: "beside --fault firewall-rules=1, which is a rule without tracking",
    },
    FaultEntry {
        name: "cpu-hog",
        kind: FaultKind::Cpu,
        default: "0",
        site: FaultSite::Process,
        about: "a process keeps this CPU busy, all the time or a share of it: 0, 0/50%",
        model: "an end on that CPU keeps the larger of 1/2 and 1 - share of its time",
        source: "Documentation/scheduler/sched-eevdf.rst",
        imitates: "another process on a measured CPU",
        hint: "with --set cpu.placement=0/1; the report must warn of foreign-cpu",
    },
    FaultEntry {
        name: "slow-disk",
        kind: FaultKind::Rate(1e6, 4e9),
        default: "100Mb/s",
        site: FaultSite::Disk,
        about: "a folder of the host is on a disk that writes and reads no faster than this, one after the other",
        model: "n bytes written or read take 8 n / rate, whatever is cached; a transfer that ends there is no faster",
        source: "Documentation/filesystems/fuse-io.rst, direct-io mode; E. Dart et al., The Science DMZ, SC13 (2013)",
        imitates: "a storage system that is slower than the network",
        hint: "linerate lab up --fault b:slow-disk says which folder; compare dd to it with a transfer to it",
    },
    FaultEntry {
        name: "slow-reader",
        kind: FaultKind::Rate(1e4, 4e11),
        default: "100Mb/s",
        site: FaultSite::Knobs(&["network.tcp:shim.read-rate={}"]),
        about: "the receiving end of TCP between the hosts takes no more than this",
        model: "the rate is the reader's; the sender's time is spent on a closed receive window",
        source: "RFC 9293 section 3.8.6; tcpi_rwnd_limited, include/uapi/linux/tcp.h",
        imitates: "a receiving application that is too slow",
        hint: "look at rwnd_limited of the sender's tcp_info, and at receiver-window in the report",
    },
    FaultEntry {
        name: "slow-source",
        kind: FaultKind::Duration(1.0, 1e9),
        default: "200us",
        site: FaultSite::Knobs(&["network.tcp:shim.spin={}"]),
        about: "the sending end of TCP between the hosts works so long before each message",
        model: "a message of m bytes takes this longer: the rate is at most 8 m / (time + m / capacity)",
        source: "tcpi_busy_time, include/uapi/linux/tcp.h; D. Turner and X. Chen, Cluster 2002, section 5",
        imitates: "a sending application that computes, or reads a disk, between its calls",
        hint: "look at busy_time of the sender's tcp_info: data is outstanding in a part of the time only",
    },
    FaultEntry {
        name: "small-reads",
        kind: FaultKind::Bytes(1, 64 << 20),
        default: "2KiB",
        site: FaultSite::Knobs(&["network.tcp:stream.read-size={}"]),
        about: "the receiving end of TCP between the hosts takes no more than this with each recv(2)",
        model: "a byte costs the receiver the time of a call over this",
        source: "recv(2); J. Cope et al. 2007, section 5.2",
        imitates: "a receiving application with a small buffer",
        hint: "twice the size is half the calls; what a byte costs beyond them stays",
    },
    FaultEntry {
        name: "extra-copies",
        kind: FaultKind::Count(1, 100),
        default: "4",
        site: FaultSite::Knobs(&["network.tcp:shim.copies={}"]),
        about: "the sending end of TCP between the hosts copies each message so often before it goes",
        model: "a byte costs the sender so many copies of it more",
        source: "D. Turner and X. Chen, Cluster 2002, section 5",
        imitates: "an application or a library that gathers, packs or converts what it sends",
        hint: "2, 4 and 8: the time a byte grows by equal steps",
    },
    FaultEntry {
        name: "small-writes",
        kind: FaultKind::Bytes(1, 64 << 20),
        default: "256B",
        site: FaultSite::Knobs(&["network.tcp:shim.write-size={}"]),
        about: "the sending end of TCP between the hosts hands over no more than this with each send(2)",
        model: "a byte costs the sender the time of a call over this",
        source: "send(2); D. Turner and X. Chen, Cluster 2002, section 3",
        imitates: "an application that writes field by field, without a buffer",
        hint: "twice the size is half the calls",
    },
    FaultEntry {
        name: "write-write-read",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Knobs(&["network.tcp:shim.answered=on", "network.tcp:tcp.no-delay=off"]),
        about: "TCP between the hosts carries requests, each in two writes, and waits for an answer to each; Nagle's algorithm is on",
        model: "a request below a segment takes the 40 ms for which the peer delays its acknowledgement",
        source: "RFC 896; RFC 1122 section 4.2.3.2; TCP_DELACK_MIN, include/net/tcp.h",
        imitates: "a client that writes a request's head and then its body",
        hint: "diagnose it: with tcp.no-delay=on it is gone",
    },
    FaultEntry {
        name: "shared-cpu",
        kind: FaultKind::Plain,
        default: "",
        site: FaultSite::Knobs(&["network.tcp:cpu.placement=0/0"]),
        about: "both ends of TCP between the hosts run on CPU 0",
        model: "the ends run in turns: a byte costs the sum of both",
        source: "sched_setaffinity(2); Documentation/scheduler/sched-eevdf.rst",
        imitates: "an application on the CPU that already does the other end's or the kernel's work for it",
        hint: "beside cpu.placement=0/1",
    },
    FaultEntry {
        name: "pacing-cap",
        kind: FaultKind::Rate(1e6, 4e11),
        default: "100Mb/s",
        site: FaultSite::Knobs(&["network.tcp:tcp.pacing-rate={}"]),
        about: "a program limits its socket's rate between the hosts to this",
        model: "the rate is the limit, whatever the path could carry",
        source: "socket(7), SO_MAX_PACING_RATE",
        imitates: "a limit that an application or its configuration sets and nobody remembers",
        hint: "look at max_pacing_rate of the sender's tcp_info",
    },
    FaultEntry {
        name: "pinned-send-buffer",
        kind: FaultKind::Bytes(4 << 10, 64 << 20),
        default: "64KiB",
        site: FaultSite::Knobs(&["network.tcp:socket.send-buffer={}"]),
        about: "a program sets SO_SNDBUF between the hosts, so that the buffer grows no more",
        model: "the rate is at most the buffer over the round trip",
        source: "tcp(7), tcp_wmem; RFC 6349 section 3.3",
        imitates: "an application that sets its buffers, for a network of long ago",
        hint: "on lab:delay=10ms; the kernel doubles what is asked",
    },
    FaultEntry {
        name: "pinned-receive-buffer",
        kind: FaultKind::Bytes(4 << 10, 64 << 20),
        default: "64KiB",
        site: FaultSite::Knobs(&["network.tcp:socket.receive-buffer={}"]),
        about: "a program sets SO_RCVBUF between the hosts, so that the window grows no more",
        model: "the rate is at most the window over the round trip",
        source: "tcp(7), tcp_rmem; RFC 6349 section 3.3",
        imitates: "an application that sets its buffers, for a network of long ago",
        hint: "on lab:delay=10ms; look at rwnd_limited of the sender's tcp_info",
    },
    FaultEntry {
        name: "delayed-ack",
        kind: FaultKind::Duration(1e6, 1e9),
        default: "40ms",
        site: FaultSite::Knobs(&["network.tcp:relay.delay={}", "network.tcp:relay.below=1448"]),
        about: "a server's answers wait so long where they are smaller than a segment",
        model: "a round trip of messages below 1448 B takes this longer, one of larger messages does not",
        source: "RFC 896; RFC 1122 section 4.2.3.2; TCP_DELACK_MIN, include/net/tcp.h",
        imitates: "Nagle's algorithm against delayed acknowledgements",
        hint: "the curve of round trips breaks at one segment, and the break is called delayed-ack",
    },
];
