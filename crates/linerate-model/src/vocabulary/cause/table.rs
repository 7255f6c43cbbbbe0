//! Every cause.

use super::Cause;
use super::Sign::{Bound, Signal, Warning};
use super::paces::{FINER_PACES, PACES};

/// What an entry does not say.
const FAULT: Cause = Cause {
    name: "",
    what: "",
    signs: &[],
    against: &[],
    experiments: &[],
    between: &[],
    on_hosts: &[],
    undoes: false,
    is_fault: true,
    fix: "",
    source: "",
};

/// Every cause, in the order of the ladder: what is below explains what is above.
pub const CAUSES: &[Cause] = &[
    Cause {
        name: "offloads-off",
        what: "segmentation and receive offloads that are off, so that each packet is paid for by itself",
        signs: &[Signal("offloads-off"), Signal("small-packets"), Signal("cpu-busy")],
        on_hosts: &["link.offload=on"],
        fix: "ethtool -K IFACE tso on gso on gro on, at both ends",
        source: "Documentation/networking/segmentation-offloads.rst; Cai et al., SIGCOMM 2021",
        ..FAULT
    },
    Cause {
        name: "receive-offload-off",
        what: "a receive offload that is off, so that each packet goes up the stack by itself",
        signs: &[Signal("receive-offload-off"), Signal("small-packets"), Signal("cpu-busy")],
        against: &[Signal("tunnel")],
        on_hosts: &["link.offload=on"],
        fix: "ethtool -K IFACE gro on at the receiving host",
        source: "Documentation/networking/segmentation-offloads.rst; Cai et al., SIGCOMM 2021",
        ..FAULT
    },
    Cause {
        name: "segmentation-off",
        what: "segmentation offloads that are off, so that the sender's stack makes each packet by itself",
        signs: &[Signal("segmentation-off"), Signal("cpu-busy")],
        on_hosts: &["link.offload=on"],
        fix: "ethtool -K IFACE tso on gso on at the sending host",
        source: "Documentation/networking/segmentation-offloads.rst",
        ..FAULT
    },
    Cause {
        name: "tunnel",
        what: "a tunnel, which wraps each packet in another one",
        signs: &[Signal("tunnel"), Signal("tunnel-cost")],
        fix: "an MTU of the links below that is larger by the tunnel's headers; offloads that know it: ethtool -k IFACE | grep tnl; several connections, which several CPUs unwrap; or no tunnel where nobody needs it",
        source: "RFC 7348; Documentation/networking/vxlan.rst; segmentation-offloads.rst, UDP tunnels",
        ..FAULT
    },
    Cause {
        name: "firewall-rules",
        what: "packet filter rules that are asked one after the other for each packet",
        signs: &[Signal("filter-rules"), Signal("cpu-busy")],
        fix: "keep the addresses in a set or a map, and accept what is established first: nft(8), ipset(8)",
        source: "Cope et al. 2007, section 5.5; nft(8), sets and maps",
        ..FAULT
    },
    Cause {
        name: "mtu-black-hole",
        what: "packets above some size that vanish without a word",
        signs: &[Signal("nothing-passes")],
        experiments: &["tcp.mss=1220", "tcp.mss=536"],
        on_hosts: &["host.mtu-probing=2"],
        fix: "make the MTU of both ends what the path takes, let ICMP pass, or clamp the segments; until then sysctl -w net.ipv4.tcp_mtu_probing=1",
        source: "RFC 2923 section 2.1; RFC 4821; tcp(7), tcp_mtu_probing",
        ..FAULT
    },
    Cause {
        name: "standard-mtu",
        what: "packets of the standard MTU, each of which is paid for by itself",
        signs: &[Signal("standard-mtu"), Signal("small-packets"), Signal("cpu-busy")],
        against: &[Signal("tunnel")],
        on_hosts: &["link.mtu=9000"],
        is_fault: false,
        fix: "an MTU of 9000 at both ends, where every device of the path carries it",
        source: "Hurwitz and Feng 2005, section 4.1; Feng et al. 2003, section 5.1",
        ..FAULT
    },
    Cause {
        name: "mtus-differ",
        what: "an MTU that is smaller at one end, so that segments are as small both ways",
        signs: &[Signal("mtus-differ"), Signal("small-packets"), Signal("cpu-busy")],
        on_hosts: &["link.mtu=9000"],
        fix: "the same MTU at both ends: ip link set dev IFACE mtu MTU; what is longer than the smaller one and no TCP vanishes there",
        source: "RFC 9293 section 3.7.1; RFC 4821",
        ..FAULT
    },
    Cause {
        name: "small-segments",
        what: "segments smaller than the path takes",
        signs: &[Signal("small-segments")],
        experiments: &["tcp.mss=1448", "tcp.mss=8948"],
        undoes: true,
        fix: "leave TCP_MAXSEG alone, or make the MTU of both ends what the path takes",
        source: "tcp(7), TCP_MAXSEG; RFC 9293 section 3.7.1",
        ..FAULT
    },
    Cause {
        name: "burst-drops",
        what: "a policer or a short queue of the path, which drops what comes in bursts",
        signs: &[Signal("segments-lost")],
        experiments: PACES,
        between: FINER_PACES,
        fix: "pace to what the path carries: tc qdisc replace dev IFACE root fq maxrate RATE, or SO_MAX_PACING_RATE; ask for a shaper with a queue",
        source: "Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016; RFC 2475 section 2.3.3.4",
        ..FAULT
    },
    Cause {
        name: "packet-loss",
        what: "packets that the path loses, to which the congestion control gives way",
        signs: &[Signal("segments-lost")],
        against: &[Warning("foreign-bytes")],
        experiments: &["tcp.congestion-control=bbr"],
        fix: "find the loss: ethtool -S IFACE, cables, optics, queues on the way; until then sysctl -w net.ipv4.tcp_congestion_control=bbr with the fq queue",
        source: "Mathis et al., CCR 27(3), 1997; Cardwell et al., BBR, ACM Queue 14(5), 2016",
        ..FAULT
    },
    Cause {
        name: "reverse-loss",
        what: "acknowledgements that the way back loses",
        signs: &[Signal("acks-lost"), Bound("congestion-window")],
        against: &[Signal("segments-lost")],
        fix: "find the loss on the way back: the other direction's cables, queues and rate; an access line that sends slowly wants an ack filter (cake)",
        source: "RFC 3449 section 2; tc-cake(8), ack-filter",
        ..FAULT
    },
    Cause {
        name: "competing-flow",
        what: "other flows on the path, which take their share of it",
        signs: &[Warning("foreign-bytes"), Signal("congestion")],
        fix: "give the flows times or paths of their own, or a queue that shares by weight at the bottleneck: fq_codel, cake, htb",
        source: "D. Chiu and R. Jain, Computer Networks and ISDN Systems 17 (1989); RFC 8290",
        ..FAULT
    },
    Cause {
        name: "reordering",
        what: "packets that overtake each other, which the sender takes for losses",
        signs: &[Signal("out-of-order"), Signal("segments-lost")],
        fix: "keep a flow on one path and in one queue: hashes of links and queues by addresses and ports, no packet spraying",
        source: "RFC 4737; RFC 8985",
        ..FAULT
    },
    Cause {
        name: "sack-off",
        what: "losses without selective acknowledgements, of which a round trip mends one",
        signs: &[Signal("no-selective-acks"), Signal("segments-lost")],
        on_hosts: &["host.selective-acks=on"],
        fix: "sysctl -w net.ipv4.tcp_sack=1 at both ends; find the middlebox that strips the option",
        source: "RFC 2018; RFC 6582; tcp(7), tcp_sack",
        ..FAULT
    },
    Cause {
        name: "window-scaling-off",
        what: "a window of at most 64 KiB, because window scaling is off or stripped",
        signs: &[Signal("no-window-scaling"), Bound("receive-window")],
        on_hosts: &["host.window-scaling=on"],
        fix: "sysctl -w net.ipv4.tcp_window_scaling=1 at both ends; find the middlebox that strips the option",
        source: "RFC 7323 section 2; tcp(7), tcp_window_scaling",
        ..FAULT
    },
    Cause {
        name: "small-send-buffer",
        what: "a send buffer smaller than what must be in flight",
        signs: &[Bound("send-buffer"), Signal("send-buffer-full")],
        experiments: &["socket.send-buffer=4MiB"],
        fix: "leave SO_SNDBUF alone, or raise the limit: sysctl -w net.ipv4.tcp_wmem='4096 65536 67108864'",
        source: "tcp(7), tcp_wmem; Turner and Chen 2002, section 3",
        ..FAULT
    },
    Cause {
        name: "small-receive-window",
        what: "a receive window smaller than what must be in flight",
        signs: &[Bound("receive-window")],
        experiments: &["socket.receive-buffer=4MiB"],
        fix: "leave SO_RCVBUF alone, or raise the limit: sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'",
        source: "tcp(7), tcp_rmem; RFC 7323, section 2; Turner and Chen 2002, section 3",
        ..FAULT
    },
    Cause {
        name: "small-buffers",
        what: "buffers at both ends smaller than what must be in flight",
        signs: &[Bound("send-buffer"), Bound("receive-window"), Signal("send-buffer-full")],
        experiments: &["socket.send-buffer=4MiB+socket.receive-buffer=4MiB"],
        on_hosts: &["host.tcp-send-buffer=64MiB+host.tcp-receive-buffer=64MiB"],
        fix: "raise both limits: sysctl -w net.ipv4.tcp_wmem='4096 65536 67108864' net.ipv4.tcp_rmem='4096 131072 67108864'",
        source: "tcp(7), tcp_wmem and tcp_rmem",
        ..FAULT
    },
    Cause {
        name: "pacing-cap",
        what: "a limit of the socket's rate",
        signs: &[Signal("paced")],
        experiments: &["tcp.pacing-rate=400Gb/s"],
        undoes: true,
        fix: "leave SO_MAX_PACING_RATE alone, or raise it",
        source: "socket(7), SO_MAX_PACING_RATE",
        ..FAULT
    },
    Cause {
        name: "receive-drops",
        what: "packets that a host drops because its queues are full",
        signs: &[Signal("host-drops"), Signal("segments-lost")],
        fix: "longer queues or fewer packets: ethtool -G IFACE rx MAX, sysctl -w net.core.netdev_max_backlog=5000, offloads on",
        source: "Documentation/networking/scaling.rst; /proc/net/softnet_stat, net/core/net-procfs.c",
        ..FAULT
    },
    Cause {
        name: "standing-queue",
        what: "a queue that the stream fills on its way, in which everything else waits",
        signs: &[Signal("standing-queue"), Bound("congestion-window")],
        is_fault: false,
        fix: "pace below the bottleneck, or a queue that keeps itself short there: fq_codel or cake; tcp_notsent_lowat for what waits in the host",
        source: "RFC 8290; Gettys and Nichols, Bufferbloat, ACM Queue 9(11), 2011",
        ..FAULT
    },
    Cause {
        name: "unfit-congestion-control",
        what: "a congestion control that does not suit the path",
        signs: &[Bound("congestion-window")],
        against: &[
            Signal("segments-lost"),
            Signal("acks-lost"),
            Signal("idle-restarts"),
            Warning("foreign-bytes"),
        ],
        experiments: &[
            "tcp.congestion-control=cubic",
            "tcp.congestion-control=bbr",
            "tcp.congestion-control=reno",
        ],
        fix: "choose the better one: sysctl -w net.ipv4.tcp_congestion_control=NAME; bbr wants the fq queue",
        source: "RFC 9438; Cardwell et al., BBR, ACM Queue 14(5), 2016",
        ..FAULT
    },
    Cause {
        name: "idle-restart",
        what: "a congestion window that shrinks while the sender rests, so that each burst begins slowly",
        signs: &[Signal("idle-restarts")],
        against: &[Signal("segments-lost"), Signal("acks-lost"), Signal("small-initial-window")],
        experiments: &["tcp.congestion-control=bbr"],
        on_hosts: &["host.slow-start-after-idle=off"],
        fix: "sysctl -w net.ipv4.tcp_slow_start_after_idle=0 at the sending host, or send without pauses",
        source: "RFC 2861; RFC 5681 section 4.1; tcp_slow_start_after_idle_check, include/net/tcp.h",
        ..FAULT
    },
    Cause {
        name: "small-initial-window",
        what: "a route that lets a connection begin, and begin again after a rest, with few segments",
        signs: &[Signal("small-initial-window"), Signal("idle-restarts")],
        fix: "ip route change ROUTE initcwnd 10 at the sending host, or leave initcwnd out: ten is the kernel's own",
        source: "RFC 6928; ip-route(8), initcwnd; tcp_init_cwnd, net/ipv4/tcp_input.c",
        ..FAULT
    },
    Cause {
        name: "socket-memory",
        what: "memory for sockets that the receiving host, or the group of its process, is short of",
        signs: &[Signal("socket-memory"), Bound("receive-window")],
        experiments: &["socket.receive-buffer=32KiB", "socket.receive-buffer=128KiB"],
        fix: "raise memory.max of the process's control group, or sysctl net.ipv4.tcp_mem; close what holds unread data: ss -tm",
        source: "tcp(7), tcp_mem; Documentation/admin-guide/cgroup-v2.rst, sock; snmp_counter.rst, TCPRcvQDrop",
        ..FAULT
    },
    Cause {
        name: "cpu-quota",
        what: "a quota of CPU time that stops the measuring processes",
        signs: &[Warning("throttled"), Signal("cpu-busy")],
        fix: "raise the quota: cpu.max of the cgroup, --cpus of a container, limits.cpu of a pod",
        source: "Documentation/admin-guide/cgroup-v2.rst, cpu.stat",
        ..FAULT
    },
    Cause {
        name: "foreign-work",
        what: "other work on the CPUs of the ends",
        signs: &[Signal("cpu-wait")],
        against: &[Signal("ends-share-cpu")],
        experiments: &["cpu.placement=none", "cpu.placement=1/0", "cpu.placement=2/3"],
        fix: "give the ends CPUs of their own: taskset, cpuset, isolcpus; move interrupts and other processes away",
        source: "Documentation/scheduler/sched-eevdf.rst; cpuset(7)",
        ..FAULT
    },
    Cause {
        name: "shared-cpu",
        what: "both ends on one CPU, where they run in turns",
        signs: &[Signal("ends-share-cpu")],
        experiments: &["cpu.placement=0/1"],
        undoes: true,
        fix: "a CPU for each: taskset, cpuset, or no placement at all",
        source: "sched_setaffinity(2); Documentation/scheduler/sched-eevdf.rst",
        ..FAULT
    },
    Cause {
        name: "low-priority",
        what: "a receiver that gets a CPU only when nothing else wants it",
        signs: &[Signal("low-priority")],
        experiments: &["shim.receiver-priority=normal"],
        undoes: true,
        fix: "start it without nice(1), chrt --idle, Nice= or CPUSchedulingPolicy=idle, or give it a CPU of its own",
        source: "sched(7), SCHED_IDLE; systemd.exec(5)",
        ..FAULT
    },
    Cause {
        name: "small-writes",
        what: "a sender that hands over little with each send(2)",
        signs: &[Bound("sender-cpu"), Signal("idle-sender")],
        experiments: &["shim.write-size=1MiB"],
        undoes: true,
        fix: "gather before sending: writev(2), sendmsg(2), a buffer of 64 KiB and more a call, TCP_CORK where it comes in pieces",
        source: "send(2); writev(2); tcp(7), TCP_CORK",
        ..FAULT
    },
    Cause {
        name: "nagle-delayed-ack",
        what: "a message in several small writes, the next of which waits until the peer acknowledges the first, which the peer delays",
        signs: &[Signal("late-acks")],
        experiments: &["tcp.no-delay=on"],
        undoes: true,
        fix: "send a message with one call (writev, sendmsg), or set TCP_NODELAY",
        source: "RFC 896; RFC 1122 section 4.2.3.2; J. Mogul and G. Minshall, Rethinking the TCP Nagle algorithm, CCR 31(1), 2001",
        ..FAULT
    },
    Cause {
        name: "small-reads",
        what: "a receiver that takes little with each recv(2)",
        signs: &[Bound("receiver-cpu"), Bound("receive-window")],
        experiments: &["stream.read-size=1MiB"],
        undoes: true,
        fix: "read into a larger buffer: 64 KiB and more a call",
        source: "recv(2); Cope et al. 2007, section 5.2",
        ..FAULT
    },
    Cause {
        name: "slow-reader",
        what: "a receiving application that takes no more",
        signs: &[Bound("receive-window"), Signal("unread-data")],
        experiments: &["shim.read-rate=400Gb/s"],
        undoes: true,
        fix: "make the receiving application faster: it keeps the window closed",
        source: "RFC 9293 section 3.8.6; tcpi_rwnd_limited, include/uapi/linux/tcp.h",
        ..FAULT
    },
    Cause {
        name: "slow-source",
        what: "a sending application that works, or rests, before each message",
        signs: &[Signal("idle-sender"), Bound("sender-cpu")],
        experiments: &["shim.spin=0us", "shim.pause=0us"],
        undoes: true,
        fix: "make the sending application faster: prepare data on another thread, or send more with each call",
        source: "tcpi_busy_time, include/uapi/linux/tcp.h",
        ..FAULT
    },
    Cause {
        name: "extra-copies",
        what: "copies that the application makes of each message",
        signs: &[Bound("sender-cpu"), Bound("receiver-cpu")],
        experiments: &["shim.copies=0"],
        undoes: true,
        fix: "send from where the data is: writev, sendfile, posted receives",
        source: "Turner and Chen 2002, section 5",
        ..FAULT
    },
    Cause {
        name: "slow-cipher",
        what: "a cipher that costs these CPUs more than another",
        signs: &[Bound("sender-cpu"), Bound("receiver-cpu")],
        experiments: &[
            "tls.cipher=aes-128-gcm",
            "tls.cipher=chacha20-poly1305",
            "ssh.cipher=aes-128-gcm",
            "ssh.cipher=chacha20-poly1305",
        ],
        fix: "put the faster cipher first at both ends",
        source: "RFC 8446, appendix B.4; Cope et al. 2007, section 5.4",
        ..FAULT
    },
    Cause {
        name: "sender-copies",
        what: "the copy that each send(2) makes",
        signs: &[Bound("sender-cpu")],
        experiments: &["tcp.send-engine=sendfile"],
        is_fault: false,
        fix: "send from the page cache (sendfile, splice) or without a copy (MSG_ZEROCOPY), or with more threads",
        source: "sendfile(2); Cope et al. 2007, section 5.2",
        ..FAULT
    },
    Cause {
        name: "receiver-copies",
        what: "the copy that each recv(2) makes",
        signs: &[Bound("receiver-cpu"), Bound("receive-window")],
        experiments: &["tcp.receive-engine=discard"],
        is_fault: false,
        fix: "receive with more threads, or without a copy (TCP_ZEROCOPY_RECEIVE)",
        source: "tcp(7), MSG_TRUNC; Cai et al., Understanding host network stack overheads, SIGCOMM 2021",
        ..FAULT
    },
    Cause {
        name: "receiver-wake-ups",
        what: "a receiver that is woken for each segment",
        signs: &[Bound("receiver-cpu"), Bound("sender-cpu"), Bound("receive-window")],
        experiments: &["tcp.receive-engine=coalescing"],
        is_fault: false,
        fix: "wait for more at once: larger reads, SO_RCVLOWAT",
        source: "socket(7), SO_RCVLOWAT",
        ..FAULT
    },
    Cause {
        name: "eager-limit",
        what: "a limit above which a message library asks the receiver before it sends",
        signs: &[Signal("less-than-expected")],
        experiments: &["mpi.eager-limit=1MiB", "ucx.eager-limit=1MiB", "libfabric.eager-limit=1MiB"],
        fix: "raise it in the library's parameter file, which a search writes with --apply",
        source: "Hurwitz and Feng 2005, section 3.2; Turner and Chen 2002, section 4.3",
        ..FAULT
    },
    Cause {
        name: "library-buffers",
        what: "buffers of a message library's connections, smaller than what must be in flight",
        signs: &[Signal("less-than-expected")],
        experiments: &["mpi.socket-buffer=4MiB", "ucx.socket-buffer=4MiB"],
        fix: "raise them in the library's parameter file, or leave them to the kernel",
        source: "Turner and Chen 2002, section 4.1: 75 to 400 Mb/s by P4_SOCKBUFSIZE",
        ..FAULT
    },
    Cause {
        name: "daemon-route",
        what: "daemons through which every message goes",
        signs: &[Signal("less-than-expected")],
        experiments: &["pvm.route=direct"],
        fix: "a connection of the tasks: pvm_setopt(PvmRoute, PvmRouteDirect)",
        source: "Turner and Chen 2002, section 4.5: 90 to 330 Mb/s",
        ..FAULT
    },
];
