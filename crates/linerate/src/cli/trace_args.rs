//! The command line of `linerate trace`, in a file that the commands' own can read without knowing what it does.

use crate::cli::fault::faults;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::reach::Reach;
use crate::cli::value::{AskedTarget, asked_target, count, message_size, setting, trial};
use crate::plan::{Fault, Setting};
use crate::vocabulary::Wait;
use clap::ValueHint;
use std::path::PathBuf;

/// What a running program's messages have not.
const OF_TARGETS: [&str; 11] = [
    "target",
    "stream",
    "bytes",
    "exchanges",
    "every",
    "blocks",
    "wait",
    "writes",
    "datagrams",
    "set",
    "faults",
];

/// What a stream has not.
const OF_EXCHANGES: [&str; 6] = ["bytes", "exchanges", "every", "wait", "writes", "datagrams"];

/// Sends a message to the other host and waits for its answer, again and again, and says where the time of a round trip goes on
/// both hosts: stage by stage, summing to what the program clocked. Beside it the path of the slowest 1 %, and what the stamps
/// themselves cost.
#[derive(Debug, clap::Args)]
pub struct Trace {
    /// `lab`, `lab:PRESET` or `lab:KEY=VALUE,…`, `ssh://[user@]HOST[:PORT]`, or two of these with a comma.
    #[arg(value_name = "TARGET", value_parser = asked_target(), hide_possible_values = true)]
    #[arg(required_unless_present_any = ["pid", "port"])]
    pub target: Option<AskedTarget>,
    /// In place of exchanges one stream, from the first host to the second: what the CPUs of both do, who holds the socket, packets and
    /// their sizes, windows, queues and drops, all over time.
    #[arg(long, conflicts_with_all = OF_EXCHANGES, help_heading = WHAT)]
    pub stream: bool,
    /// In place of a target a program that runs on this host: the messages of its busiest TCP connection, from one arrival to the next.
    /// Nothing of it is changed. It asks for what level 1 does, or on a kernel without BTF for root (level 2).
    #[arg(long, value_name = "PID", value_parser = count(1, 1 << 30), conflicts_with_all = OF_TARGETS, help_heading = WHAT)]
    pub pid: Option<u32>,
    /// The same of the busiest TCP connection of this host that has this port at either end.
    #[arg(long, value_name = "PORT", value_parser = count(1, 65_535), conflicts_with_all = OF_TARGETS)]
    #[arg(conflicts_with = "pid", help_heading = WHAT)]
    pub port: Option<u32>,
    /// How long a stream or a running program is traced; half of it is not, to see what tracing costs [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = trial, help_heading = WHAT)]
    pub time: Option<u64>,
    /// Bytes of a message and of its answer, at most 64 KiB.
    #[arg(long, value_name = "SIZE", default_value = "64B", value_parser = message_size, help_heading = WHAT)]
    pub bytes: u64,
    /// Exchanges of a block that are stamped.
    #[arg(long, value_name = "COUNT", default_value_t = 400, value_parser = count(20, 4000), help_heading = WHAT)]
    pub exchanges: u32,
    /// Stamp one of so many exchanges, by its place alone, at levels 0 and 1. Stages are of these, which are slower the fewer there are. The
    /// others cost much less where both ends poll at level 0, though arrivals are stamped for all, and about half of it at level 1.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = count(1, 64), help_heading = WHAT)]
    pub every: u32,
    /// Pairs of blocks, one of each not traced: from 6 on a median has an interval.
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = count(1, 200), help_heading = WHAT)]
    pub blocks: u32,
    /// What is tried: 0 is what any user may see; 1 asks for CAP_BPF and CAP_PERFMON (root has them, but not in a user namespace) and a
    /// kernel with BTF, without which root takes 2; 2 is dearer, asks for root, and is of TCP's exchanges. A host that refuses it is
    /// traced at 0, and says why; a program that is not ours is not traced there.
    #[arg(long, value_name = "0|1|2", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    #[arg(help_heading = WHAT)]
    pub level: u8,
    /// How both ends wait for a message: asleep in the kernel (sleep), asking again and again (poll), or one after the other.
    #[arg(long, default_value = "both", value_parser = ["both", "sleep", "poll"], help_heading = WHAT)]
    pub wait: String,
    /// Calls in which the first host sends a message. With two and tcp.no-delay=off, Nagle's algorithm holds the second part until
    /// the first one is acknowledged. More than one is traced at level 0.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = count(1, 16), help_heading = WHAT)]
    pub writes: u32,
    /// Messages of 8 to 1400 B go as datagrams of UDP, and not over a connection of TCP. One that is lost is counted, and ends nothing.
    #[arg(long, conflicts_with = "writes", help_heading = WHAT)]
    pub datagrams: bool,
    /// Set a knob of the connection: tcp.no-delay=off, socket.send-buffer=16KiB. May be repeated.
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub set: Vec<Setting>,
    /// Put a known fault into the lab: b:cpu-hog=1, a-b:delay=5ms. `linerate list faults` shows them. May be repeated.
    #[arg(long = "fault", value_name = "[WHERE:]NAME[=VALUE]", value_parser = faults(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub faults: Vec<Fault>,
    #[command(flatten)]
    pub reach: Reach,
    /// Write a page with the bars and tables, of a stream with a time line, to this file.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
    /// No progress: only what came of it, and errors.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Print what came of it as one line of JSON.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// What `--wait` may say, and how both ends wait then.
const WAITS: &[(&str, &[Wait])] =
    &[("both", &[Wait::Sleeping, Wait::Polling]), ("sleep", &[Wait::Sleeping]), ("poll", &[Wait::Polling])];

/// How long a stream or a running program is traced where nothing else is said.
const USUAL_TIME: u64 = 2_000_000_000;

impl Trace {
    /// How long a stream or a running program is traced: nanoseconds.
    pub fn time(&self) -> u64 {
        self.time.unwrap_or(USUAL_TIME)
    }

    /// How both ends wait, one way after the other.
    pub fn waits(&self) -> Vec<Wait> {
        let named = WAITS.iter().find(|(name, _)| *name == self.wait);
        named.map_or(Vec::new(), |(_, waits)| waits.to_vec())
    }
}
