//! What can make a number doubtful: each has a code, a meaning and something to try.

/// A kind of warning.
#[derive(Debug)]
pub struct Warning {
    /// The code in records and reports.
    pub code: &'static str,
    /// What it means for the number beside it.
    pub meaning: &'static str,
    /// What to try.
    pub hint: &'static str,
}

/// Every kind of warning.
pub const WARNINGS: &[Warning] = &[
    Warning {
        code: "foreign-cpu",
        meaning: "another process used a measured CPU during some trials",
        hint: "stop it, or choose other CPUs with --set cpu.placement=2/3",
    },
    Warning {
        code: "steal",
        meaning: "the hypervisor took the CPU away during some trials",
        hint: "measure on a quieter or a physical machine",
    },
    Warning {
        code: "migrated",
        meaning: "a measuring thread changed its CPU",
        hint: "pin it: --set cpu.placement=0/1",
    },
    Warning {
        code: "unpinned",
        meaning: "the ends were not pinned, so placement varies between trials",
        hint: "leave out cpu.placement=none",
    },
    Warning {
        code: "preempted",
        meaning: "a measuring thread was put off its CPU in many trials",
        hint: "keep other work off these CPUs",
    },
    Warning {
        code: "byte-mismatch",
        meaning: "sender and receiver disagree about the bytes; the receiver's count is used",
        hint: "the sender's count is wrong: distrust its other figures",
    },
    Warning {
        code: "bytes-not-crossed",
        meaning: "the interfaces did not carry the bytes that were received: the traffic went another way",
        hint: "check the route between the hosts' addresses",
    },
    Warning {
        code: "foreign-bytes",
        meaning: "the interface carried more than the measurement",
        hint: "measure when the link is quiet",
    },
    Warning {
        code: "congestion-control",
        meaning: "sockets ran BBR without the fq queue that paces it, which is slow on fast short links",
        hint: "--set tcp.congestion-control=cubic",
    },
    Warning {
        code: "knob-not-granted",
        meaning: "the kernel granted another value than the one asked for",
        hint: "raise the kernel's limit (net.core.rmem_max, wmem_max, tcp_allowed_congestion_control)",
    },
    Warning {
        code: "super-packets",
        meaning: "packets crossed as super-packets far above the MTU, so the MTU does not bind here",
        hint: "`ethtool -K IFACE tso off gso off gro off` shows the cost of real packets",
    },
    Warning {
        code: "few-passes",
        meaning: "fewer than six passes: no 95 % interval of the median exists",
        hint: "give it more time: --profile standard or a larger --budget",
    },
    Warning {
        code: "interval-wide",
        meaning: "the interval is wider than the profile aims at",
        hint: "give it more time with --budget, or quiet the machine",
    },
    Warning {
        code: "retransmits",
        meaning: "segments were sent again during the streams",
        hint: "look for loss: softnet drops, interface drops, a small queue",
    },
    Warning {
        code: "softnet-drops",
        meaning: "the kernel dropped packets between the driver and the stack",
        hint: "raise net.core.netdev_max_backlog",
    },
    Warning {
        code: "timer-slack",
        meaning: "timer slack could not be lowered, so timed waits may be 50 µs late",
        hint: "allow PR_SET_TIMERSLACK",
    },
    Warning {
        code: "not-kept-awake",
        meaning: "CPUs were not kept awake: a sleeping end pays for the CPU's own wake-up",
        hint: "allow SCHED_IDLE threads on the measured CPUs",
    },
    Warning {
        code: "polling-refused",
        meaning: "polling needs a CPU for each busy thread",
        hint: "give the run at least two CPUs",
    },
    Warning {
        code: "shared-cpus",
        meaning: "both hosts share this machine's CPUs, so neither end runs as it would alone",
        hint: "quote ratios, or measure between two machines: linerate run ssh://HOST",
    },
    Warning {
        code: "shim",
        meaning: "a known fault was put in by hand",
        hint: "leave out the shim.* settings for a true number",
    },
    Warning {
        code: "above-bound",
        meaning: "the number beats a physical bound, so the measurement is wrong",
        hint: "please report it with the recording",
    },
    Warning {
        code: "modes",
        meaning: "the number has two levels, so its median is neither",
        hint: "see whether the levels follow the connection: pin the CPUs, fix the ports",
    },
    Warning {
        code: "abnormal",
        meaning: "a size stands apart from its neighbours each time it is visited",
        hint: "look at what changes at this size: buffers, segments, a protocol's threshold",
    },
    Warning {
        code: "drift",
        meaning: "the machine became slower or faster during the run",
        hint: "let it settle, quiet it, and compare only by `linerate ab`",
    },
    Warning {
        code: "autocorrelated",
        meaning: "passes that follow each other are alike, so intervals are narrower than they should be",
        hint: "give it more time with --budget, or quiet the machine",
    },
    Warning {
        code: "interrupted",
        meaning: "the run ended early; the passes that were completed are reported",
        hint: "run it again for the full number of passes",
    },
];
