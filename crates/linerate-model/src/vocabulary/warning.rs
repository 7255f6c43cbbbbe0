//! What can make a number doubtful: each has a code, a meaning and something to try.

/// A kind of warning.
#[derive(Debug)]
pub struct Warning {
    /// The code in records and reports.
    pub code: &'static str,
    /// What it means for the number beside it.
    pub meaning: &'static str,
    /// From where on it is given.
    pub rule: &'static str,
    /// What that is read from, or where the rule comes from.
    pub source: &'static str,
    /// How much it takes from the numbers: what takes most is told first.
    pub weight: Weight,
    /// What to try. What stands in brackets names CPUs, and is left out where the hosts have none such:
    /// [`Warning::hint_with`].
    pub hint: &'static str,
}

/// How much a note takes from the numbers, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// All of the run is doubtful where it met half of the layers: said in these words, in which `MACHINE` is where it was
    /// and `WORST` how much of it there was.
    Run(&'static str),
    /// The number is wrong, or is of something else than its name says.
    Wrong,
    /// The number was disturbed.
    Disturbed,
    /// What was asked for is not what was measured.
    Changed,
    /// How sure the number is.
    Unsure,
    /// What was found beside it.
    Seen,
    /// How the number is to be taken, on such hosts always.
    Known,
}

impl Weight {
    /// The place among notes.
    pub fn place(self) -> u8 {
        match self {
            Weight::Run(_) => 0,
            Weight::Wrong => 1,
            Weight::Disturbed => 2,
            Weight::Changed => 3,
            Weight::Unsure => 4,
            Weight::Seen => 5,
            Weight::Known => 6,
        }
    }
}

/// CPUs that both ends could be bound to, as `cpu.placement` has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placements {
    /// One for each end.
    pub first: Option<String>,
    /// One for each end that no end was on.
    pub other: Option<String>,
}

impl Warning {
    /// The warning with this code.
    pub fn named(code: &str) -> Option<&'static Warning> {
        WARNINGS.iter().find(|warning| warning.code == code)
    }

    /// What to try where there are these CPUs.
    pub fn hint_with(&self, cpus: &Placements) -> String {
        let Some((before, rest)) = self.hint.split_once('[') else { return self.hint.into() };
        let (optional, after) = rest.split_once(']').unwrap_or((rest, ""));
        let named = [("{first}", &cpus.first), ("{other}", &cpus.other)];
        let told = named.into_iter().find(|(mark, _)| optional.contains(mark));
        let optional = told.and_then(|(mark, value)| Some(optional.replace(mark, value.as_deref()?)));
        format!("{before}{}{after}", optional.unwrap_or_default())
    }
}

/// Every kind of warning.
pub const WARNINGS: &[Warning] = &[
    Warning {
        code: "throttled",
        meaning: "a quota of CPU time stopped the measuring processes",
        rule: "any period of a step in which a control group around a host's processes had used up its quota",
        source: "nr_periods and nr_throttled of cpu.stat, cgroups(7)",
        weight: Weight::Wrong,
        hint: "raise the quota where it was set (systemctl set-property UNIT CPUQuota=, docker run --cpus, limits.cpu of a Kubernetes container), or measure outside of it: rates and latencies are those of the quota",
    },
    Warning {
        code: "foreign-cpu",
        meaning: "another process used a measured CPU during some trials",
        rule: "a thread could have run and another one did for more than 5 % of a trial; or more than 5 % of a machine's CPU time in a step was not ours",
        source: "/proc/PID/schedstat and /proc/stat, proc(5)",
        weight: Weight::Run("MACHINE was busy: another process took up to WORST"),
        hint: "stop it[, or choose other CPUs with --set cpu.placement={other}]",
    },
    Warning {
        code: "steal",
        meaning: "the hypervisor took the CPU away during some trials",
        rule: "more than 1 % of a machine's CPU time in a step",
        source: "/proc/stat, steal, proc(5)",
        weight: Weight::Run("MACHINE is shared with others: its hypervisor took up to WORST"),
        hint: "measure on a quieter or a physical machine",
    },
    Warning {
        code: "migrated",
        meaning: "a measuring thread changed its CPU",
        rule: "the thread's CPU at the end of a trial is not the one at its beginning",
        source: "sched_getcpu(3)",
        weight: Weight::Disturbed,
        hint: "pin it[: --set cpu.placement={first}]",
    },
    Warning {
        code: "unpinned",
        meaning: "the ends were not pinned, so placement varies between trials",
        rule: "a role of a step without a list of CPUs",
        source: "sched_setaffinity(2)",
        weight: Weight::Disturbed,
        hint: "leave out cpu.placement=none",
    },
    Warning {
        code: "preempted",
        meaning: "a measuring thread was put off its CPU in many trials",
        rule: "in more than 10 % of the trials a thread had to leave its CPU for more than 1 % of the time",
        source: "/proc/PID/schedstat; getrusage(2), ru_nivcsw",
        weight: Weight::Disturbed,
        hint: "keep other work off these CPUs",
    },
    Warning {
        code: "byte-mismatch",
        meaning: "sender and receiver disagree about the bytes; the receiver's count is used",
        rule: "sent and received bytes of a trial are not equal",
        source: "both ends' own counts",
        weight: Weight::Wrong,
        hint: "the sender's count is wrong: distrust its other figures",
    },
    Warning {
        code: "loss",
        meaning: "datagrams were lost: nothing held the sender back, so the throughput is what the receiver could take",
        rule: "the receivers' counts are below the senders'",
        source: "both ends' own counts; RFC 7680",
        weight: Weight::Seen,
        hint: "raise socket.receive-buffer (and net.core.rmem_max) to lose fewer in bursts",
    },
    Warning {
        code: "bytes-not-crossed",
        meaning: "the interfaces did not carry the bytes that were received: the traffic went another way",
        rule: "the interfaces carried at least 10 % less than the connections received",
        source: "/proc/net/dev against tcpi_bytes_received",
        weight: Weight::Wrong,
        hint: "check the route between the hosts' addresses",
    },
    Warning {
        code: "foreign-bytes",
        meaning: "the interface carried more than the measurement",
        rule: "the interfaces carried more than 5 % beyond payload, headers and segments sent again",
        source: "/proc/net/dev against tcpi_bytes_received",
        weight: Weight::Disturbed,
        hint: "measure when the link is quiet",
    },
    Warning {
        code: "congestion-control",
        meaning: "sockets ran BBR without the fq queue that paces it, which is slow on fast short links",
        rule: "a test socket used bbr and the interface's queue is not fq",
        source: "net/ipv4/tcp_bbr.c; tc-fq(8)",
        weight: Weight::Changed,
        hint: "--set tcp.congestion-control=cubic",
    },
    Warning {
        code: "knob-not-granted",
        meaning: "the kernel granted another value than the one asked for",
        rule: "the value that is read back is not the one asked for; a buffer may be doubled",
        source: "socket(7), tcp(7)",
        weight: Weight::Changed,
        hint: "`linerate explain` with the knob's name says what its values depend on; run again with the value that was granted",
    },
    Warning {
        code: "super-packets",
        meaning: "packets crossed as super-packets far above the MTU, so the MTU does not bind here",
        rule: "bytes a received packet above 1.5 times the MTU",
        source: "/proc/net/dev; Documentation/networking/segmentation-offloads.rst",
        weight: Weight::Known,
        hint: "`ethtool -K IFACE tso off gso off gro off` shows the cost of real packets",
    },
    Warning {
        code: "few-passes",
        meaning: "fewer than six passes: no 95 % interval of the median exists",
        rule: "n < 6",
        source: "H. A. David, H. N. Nagaraja: Order Statistics, 3rd edition, section 7.1",
        weight: Weight::Unsure,
        hint: "give it more time: --profile standard or a larger --budget",
    },
    Warning {
        code: "interval-wide",
        meaning: "the interval is wider than the profile aims at",
        rule: "larger half-width / median above the profile's aim: 2 % of a throughput, 5 % of a latency, 5 % of both in quick",
        source: "T. Hoefler, R. Belli: Scientific Benchmarking of Parallel Computing Systems, SC15",
        weight: Weight::Unsure,
        hint: "give it more time with --budget, or quiet the machine",
    },
    Warning {
        code: "retransmits",
        meaning: "segments were sent again during the streams",
        rule: "at least one of 100,000 segments",
        source: "tcpi_total_retrans and tcpi_data_segs_out, include/uapi/linux/tcp.h",
        weight: Weight::Disturbed,
        hint: "look for loss: softnet drops, interface drops, a small queue",
    },
    Warning {
        code: "reassembly-failed",
        meaning: "fragmented datagrams were lost at the receiver, for want of a fragment or of memory to wait for it",
        rule: "any failed reassembly in a step",
        source: "/proc/net/snmp and snmp6, ReasmFails; net/ipv4/inet_fragment.c",
        weight: Weight::Disturbed,
        hint: "send datagrams that fit the MTU; a host takes no new fragments while net.ipv4.ipfrag_high_thresh is full of what is incomplete",
    },
    Warning {
        code: "softnet-drops",
        meaning: "the kernel dropped packets between the driver and the stack",
        rule: "any packet in a step",
        source: "/proc/net/softnet_stat; net/core/dev.c",
        weight: Weight::Disturbed,
        hint: "raise net.core.netdev_max_backlog",
    },
    Warning {
        code: "queue-drops",
        meaning: "a queueing discipline of a host dropped packets that were to be sent",
        rule: "any packet in a step",
        source: "tc(8), tc -s qdisc; include/uapi/linux/gen_stats.h",
        weight: Weight::Disturbed,
        hint: "`tc -s qdisc` says which; a longer queue, or --set tcp.pacing-rate= below the link's rate",
    },
    Warning {
        code: "other-address",
        meaning: "a host connected from another address than the one that was named for it",
        rule: "the address of its end of a connection is not that of --address",
        source: "getsockname(2); the route to the other host chooses it, ip-route(8)",
        weight: Weight::Changed,
        hint: "name the interface, with --set socket.interface=NAME, or let that host be the one that listens: --connect",
    },
    Warning {
        code: "reached-through",
        meaning: "ssh came to a host from an address that the other host has not: through a jump host, a proxy or a translation",
        rule: "SSH_CONNECTION there names an address of no interface of the host that called, of which all are on record, and no --address was given",
        source: "ssh(1), under ENVIRONMENT; ProxyJump and ProxyCommand, ssh_config(5)",
        weight: Weight::Seen,
        hint: "see that the address is the host's on the network that is meant; else say it: --address b=192.0.2.1",
    },
    Warning {
        code: "interposed",
        meaning: "a library stands between the program and the kernel's sockets: what it does is part of each number",
        rule: "a host finds socket calls in another file than the C library",
        source: "dlsym(3), dladdr(3); LD_PRELOAD and /etc/ld.so.preload, ld.so(8)",
        weight: Weight::Changed,
        hint: "measure without it too: here env -u LD_PRELOAD linerate, at another host without LD_PRELOAD in ~/.ssh/environment or /etc/environment; see /etc/ld.so.preload",
    },
    Warning {
        code: "polls-missed",
        meaning: "polls were not answered before their deadline, and a round with such a one lasts until then",
        rule: "a poll of a trial that was given up",
        source: "the monitor's own count",
        weight: Weight::Wrong,
        hint: "raise --set monitor.deadline, or look why that host does not answer",
    },
    Warning {
        code: "wire-late",
        meaning: "the lab's own wire handed packets on later than it should have",
        rule: "half of the frames were so late that a ping-pong's round trip grew by more than 25 µs and more than 1 %, or a stream's time by more than 1 %",
        source: "the wire's own account of each frame",
        weight: Weight::Disturbed,
        hint: "keep other work off this machine, or give the lab a CPU more than the ends need",
    },
    Warning {
        code: "zero-copy-copied",
        meaning: "the kernel copied what was to be sent without a copy: loopback and veth always copy, a NIC need not",
        rule: "more than 1 % of the calls of a trial",
        source: "SO_EE_CODE_ZEROCOPY_COPIED, linux/errqueue.h; IORING_NOTIF_USAGE_ZC_COPIED, linux/io_uring.h",
        weight: Weight::Changed,
        hint: "measure between hosts with NICs that gather; here tcp.send-engine=sendfile and splice pass pages on",
    },
    Warning {
        code: "zero-copy-not-mapped",
        meaning: "the kernel copied what was to be received by mapping pages: no segment held a whole page",
        rule: "more than 5 % of the bytes of a trial",
        source: "struct tcp_zerocopy_receive, linux/tcp.h",
        weight: Weight::Changed,
        hint: "it needs a NIC that splits headers from data, and segments that hold whole pages: an MTU of 4148 or more",
    },
    Warning {
        code: "wire-drops",
        meaning: "the lab's own wire dropped packets that it should have carried",
        rule: "any frame that the wire had no time to read, or that the kernel did not take from it",
        source: "PACKET_STATISTICS, packet(7); sendmmsg(2)",
        weight: Weight::Disturbed,
        hint: "keep other work off this machine; an ordinary user gets more room by a larger net.core.rmem_max",
    },
    Warning {
        code: "timer-slack",
        meaning: "timer slack could not be lowered, so timed waits may be 50 µs late",
        rule: "PR_SET_TIMERSLACK was refused",
        source: "prctl(2)",
        weight: Weight::Changed,
        hint: "allow PR_SET_TIMERSLACK",
    },
    Warning {
        code: "not-kept-awake",
        meaning: "CPUs were not kept awake: a sleeping end pays for the CPU's own wake-up",
        rule: "no thread of idle priority could be started on a sleeping end's CPU",
        source: "sched(7), SCHED_IDLE",
        weight: Weight::Changed,
        hint: "allow SCHED_IDLE threads on the measured CPUs",
    },
    Warning {
        code: "polling-refused",
        meaning: "polling needs a CPU for each busy thread",
        rule: "more busy threads than CPUs",
        source: "the plan's placement against the CPUs that the run may use",
        weight: Weight::Changed,
        hint: "give the run two CPUs, or three where the lab's own wire lies between the hosts",
    },
    Warning {
        code: "host-restarted",
        meaning: "a host was started anew during the run, so that numbers from before and after are of two starts",
        rule: "the host was reached again with another boot id and the same identity",
        source: "/proc/sys/kernel/random/boot_id, random(4); machine-id(5)",
        weight: Weight::Disturbed,
        hint: "see why it was (last -x reboot), and measure again: what was set and not kept for good is gone",
    },
    Warning {
        code: "clock-set",
        meaning: "the time of day of a host was set, or the host slept, during the run",
        rule: "the time of day moved by more than 1 ms against the clock that nobody sets",
        source: "clock_gettime(2), CLOCK_REALTIME and CLOCK_MONOTONIC",
        weight: Weight::Seen,
        hint: "durations are right, times of day in logs and captures are not: let chronyd or timesyncd finish first (timedatectl), and keep the host from sleeping (systemd-inhibit)",
    },
    Warning {
        code: "shared-cpus",
        meaning: "both hosts share this machine's CPUs, so neither end runs as it would alone",
        rule: "two hosts of the run report the same machine",
        source: "the identity that each agent reports",
        weight: Weight::Known,
        hint: "quote ratios, or measure between two machines: linerate run ssh://HOST",
    },
    Warning {
        code: "one-cpu",
        meaning: "both ends had one CPU between them and ran in turns",
        rule: "all hosts of a machine together may use one CPU, and ends that meet were measured there",
        source: "sched_getaffinity(2); cpuset.cpus of the control groups, cpuset(7)",
        weight: Weight::Wrong,
        hint: "give the program two CPUs at least: taskset -c, cpuset.cpus of its control group, or another one for the virtual machine",
    },
    Warning {
        code: "shim",
        meaning: "a known fault was put in by hand",
        rule: "a shim.* or relay.* setting other than the harmless one",
        source: "the plan",
        weight: Weight::Wrong,
        hint: "leave out the shim.* and relay.* settings for a true number",
    },
    Warning {
        code: "fault",
        meaning: "a known fault was put into the lab by hand",
        rule: "the lab has a fault, by --fault or by fault= in its description",
        source: "the plan",
        weight: Weight::Wrong,
        hint: "leave out --fault for a true number; `linerate list faults` tells what each does",
    },
    Warning {
        code: "above-bound",
        meaning: "the number beats a physical bound, so the measurement is wrong",
        rule: "the lower end of the interval is more than 2 % above what the line, or the fastest memory copy, can do",
        source: "IEEE 802.3; the rung memory.copy of the same run",
        weight: Weight::Wrong,
        hint: "please report it with the recording",
    },
    Warning {
        code: "drift",
        meaning: "the machine changed during the run: early and late passes differ",
        rule: "every trial over the median of its own case and size, and their median by pass: Mann-Kendall p < 0.01 and a Theil-Sen change of more than 2 %",
        source: "H. B. Mann, Econometrica 13 (1945); P. K. Sen, JASA 63 (1968)",
        weight: Weight::Disturbed,
        hint: "compare only what is paired within passes (kept, cost, ab); let the machine warm up, then run again",
    },
    Warning {
        code: "abnormal",
        meaning: "a size stands apart from its neighbours, to the same side in two visits or more",
        rule: "more than 3 % from the line between its neighbours, to the same side in two of three attempts",
        source: "J. Hurwitz, W. Feng, Analyzing MPI performance over 10-Gigabit Ethernet, JPDC 65 (2005): what comes again is there, what moves is noise",
        weight: Weight::Seen,
        hint: "look at what changes at this size: buffers, segments, a protocol's threshold",
    },
    Warning {
        code: "modes",
        meaning: "the values fall into two groups, and one median describes neither",
        rule: "the largest gap above 4 times the spread within the groups (more below 20 values), each group at least 15 % of the values",
        source: "the program's own rule; J. A. Hartigan, P. M. Hartigan, Annals of Statistics 13 (1985), test the same",
        weight: Weight::Disturbed,
        hint: "look for what decides the group: the CPU, the queue that the port selects, the memory's placement",
    },
    Warning {
        code: "generator-limited",
        meaning: "the sending loop was near the most that it can make, so the layer may carry more",
        rule: "messages a second within 10 % of the calibrated ceiling of the same engine at that size",
        source: "`linerate calibrate`; RFC 2544 section 6",
        weight: Weight::Changed,
        hint: "quote larger messages or more flows",
    },
    Warning {
        code: "generator-saturated",
        meaning: "messages that were due at a set moment went late: the rate is not the one that was asked for at every moment, and response times hold what the sender cost",
        rule: "more than 1 % of a trial's messages went later than by the mean time between two",
        source: "the pacer's own account; G. Tene, How NOT to Measure Latency",
        weight: Weight::Changed,
        hint: "lower the rate, or give the sender a CPU of its own[: --set cpu.placement={first}]",
    },
    Warning {
        code: "autocorrelated",
        meaning: "neighbouring trials resemble each other, so they count for fewer",
        rule: "the median lag-1 autocorrelation r of all cases and sizes above 0.2: n counts as n * (1 - r) / (1 + r)",
        source: "G. V. Bayley, J. M. Hammersley, Supplement to the JRSS 8 (1946)",
        weight: Weight::Unsure,
        hint: "more passes, or longer pauses between them, make it narrower",
    },
    Warning {
        code: "not-monotone",
        meaning: "a larger message takes less time than a smaller one",
        rule: "the time lies above its isotonic fit by more than its interval",
        source: "J. L. Träff, W. D. Gropp, R. Thakur: Self-Consistent MPI Performance Guidelines, IEEE TPDS 21 (2010)",
        weight: Weight::Seen,
        hint: "send the larger message, padded; look at the breaks near this size",
    },
    Warning {
        code: "split-faster",
        meaning: "a message would be faster in several parts",
        rule: "k times the time of a k-th of the message is less than its own time, beyond the intervals",
        source: "J. L. Träff, W. D. Gropp, R. Thakur: Self-Consistent MPI Performance Guidelines, IEEE TPDS 21 (2010)",
        weight: Weight::Seen,
        hint: "send it in parts, or move the threshold of the library at this size",
    },
    Warning {
        code: "large-vanish",
        meaning: "small messages pass between these hosts, and large ones vanish",
        rule: "exchanges of a size were measured and those of a larger one moved nothing, twice; where it begins is bisected to the byte",
        source: "the trials; RFC 2923 section 2.1: a path that swallows packets above its MTU without a word",
        weight: Weight::Wrong,
        hint: "give every interface on the path the same MTU, and let ICMP \"fragmentation needed\" pass",
    },
    Warning {
        code: "path-mtu",
        meaning: "the path takes smaller packets than the hosts' interfaces send",
        rule: "the path MTU of a connection is below the least MTU of the interfaces",
        source: "tcp_info, pmtu; RFC 1191",
        weight: Weight::Changed,
        hint: "find the link with the smaller MTU: tracepath HOST",
    },
    Warning {
        code: "one-direction",
        meaning: "this direction fails and the other one does not",
        rule: "a stream failed, and the stream of the other direction was measured",
        source: "the trials",
        weight: Weight::Wrong,
        hint: "look at what differs between both ways: routes, a firewall's state, a duplex mismatch",
    },
    Warning {
        code: "one-family",
        meaning: "one version of IP fails between these hosts and the other one does not",
        rule: "nothing of a rung was measured though it was tried, and its counterpart was",
        source: "the trials",
        weight: Weight::Wrong,
        hint: "look at that family's addresses, routes and firewall rules: ip -6 route, nft list ruleset",
    },
    Warning {
        code: "failed-once",
        meaning: "a trial failed, and was measured when it was tried again",
        rule: "a failure on record, with trials of the same case and size after it",
        source: "the recording",
        weight: Weight::Disturbed,
        hint: "look for what came and went: a link that flapped, a route that changed, a host that was suspended",
    },
    Warning {
        code: "suspended",
        meaning: "the run stood still during a step: what it had given is not used, and it was measured again",
        rule: "SIGCONT came while a step was under way",
        source: "signal(7)",
        weight: Weight::Seen,
        hint: "leave it in the foreground, and stop nothing of it",
    },
    Warning {
        code: "interrupted",
        meaning: "the run ended early; the passes that were completed are reported",
        rule: "the recording has no end, or one that is not `completed`",
        source: "the recording",
        weight: Weight::Wrong,
        hint: "run it again for the full number of passes",
    },
];
