//! The command line of `linerate capture`, in a file that the commands' own can read without knowing what it does.

use crate::cli::fault::faults;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::reach::Reach;
use crate::cli::value::{AskedTarget, asked_target, message_size, setting, trial};
use crate::plan::{Fault, Setting};
use crate::report::Seen;
use clap::ValueHint;
use std::path::PathBuf;

/// Sends a stream from one host to the other and keeps the heads of its packets as both hosts see them, in a pcapng file for
/// Wireshark. Says what was in flight against what was advertised, the round trips by sequence number, what was sent again and what
/// came out of order, beside what TCP says itself.
#[derive(Debug, clap::Args)]
pub struct Capture {
    /// `lab`, `lab:PRESET` or `lab:KEY=VALUE,…`, `ssh://[user@]HOST[:PORT]`, or two of these with a comma.
    #[arg(value_name = "TARGET", value_parser = asked_target(), hide_possible_values = true)]
    pub target: AskedTarget,
    /// The file of the packets; one that is there is replaced.
    #[arg(value_name = "FILE", default_value = "capture.pcapng", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Bytes of the stream, at most.
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = message_size, help_heading = WHAT)]
    pub bytes: u64,
    /// How long it is sent at most: what is on its way then still arrives.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = trial, help_heading = WHAT)]
    pub limit: u64,
    /// From the second host to the first.
    #[arg(long, help_heading = WHAT)]
    pub back: bool,
    /// The most bytes of packets that a host keeps, up to 6 MiB, which is some 43,000 packets: then it stops, and says so.
    #[arg(long, value_name = "SIZE", default_value = "6MiB", value_parser = message_size, help_heading = WHAT)]
    pub keep: u64,
    /// Set a knob of the connection: tcp.congestion-control=reno, socket.send-buffer=64KiB. May be repeated.
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub set: Vec<Setting>,
    /// Put a known fault into the lab: loss=1%, a-b:delay=5ms. `linerate list faults` shows them. May be repeated.
    #[arg(long = "fault", value_name = "[WHERE:]NAME[=VALUE]", value_parser = faults(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub faults: Vec<Fault>,
    #[command(flatten)]
    pub reach: Reach,
    /// Whose packets are in the file. Where both hosts' are, Wireshark takes the second sight of a packet for one that was sent
    /// again: its own analysis of TCP wants one host's.
    #[arg(long, value_name = "WHOSE", default_value = "both", help_heading = OUTPUT)]
    #[arg(value_parser = Seen::ALL.map(|(name, _)| name))]
    pub at: String,
    /// Write a page with what was in flight and advertised over time to this file.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
    /// No progress: only what came of it, and errors.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Print what came of it as one line of JSON.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

impl Capture {
    /// Whose packets are in the file.
    pub fn seen(&self) -> Seen {
        let named = Seen::ALL.iter().find(|(name, _)| *name == self.at);
        named.map_or(Seen::Both, |(_, seen)| *seen)
    }
}
