//! The command line of `linerate matrix`.

use crate::cli::args::Hosts;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::value::{count, rungs, trial};
use clap::ValueHint;
use std::path::PathBuf;

/// Names the host, link or group of hosts that is slow, or says that nobody is. Every host meets several others in rounds of
/// disjoint pairs; who stands apart is measured anew, while nobody else sends and while all do, against others at random. It
/// ends with 0 where nobody is slow, 10 where somebody is named, 11 where that cannot be told, 12 where a host was not measured.
#[derive(Debug, clap::Args)]
pub struct Matrix {
    /// How many partners each host sends to, and how many it receives from: a round each.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = count(1, 65_535), help_heading = WHAT)]
    pub partners: u32,
    /// Each host with every other one: what a single bad link takes.
    #[arg(long, conflicts_with = "partners", help_heading = WHAT)]
    pub full: bool,
    /// Both directions of a pair at once, in half the rounds; else one at a time.
    #[arg(long, help_heading = WHAT)]
    pub bidirectional: bool,
    /// How long a stream of a pair is timed [default: 400ms, with --bidirectional 2s].
    #[arg(long, value_name = "TIME", value_parser = trial, help_heading = WHAT)]
    pub trial: Option<u64>,
    /// Hosts that have a rack or a switch in common: a line each, the name and then its hosts (rack1: a b c) [default: by
    /// their names, where these have numbers behind several beginnings].
    #[arg(long, value_name = "FILE", help_heading = WHAT, value_hint = ValueHint::FilePath)]
    pub groups: Option<PathBuf>,
    /// The rung (a name or a prefix) [default: the topmost of --only, else network.tcp].
    #[arg(long, value_name = "RUNG", value_parser = rungs(), hide_possible_values = true, help_heading = WHAT)]
    pub rung: Option<String>,
    /// Write no HTML page beside the recording; `linerate report` can make it later.
    #[arg(long, help_heading = OUTPUT)]
    pub no_page: bool,
    #[command(flatten)]
    pub hosts: Hosts,
    /// The form of the report.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"], help_heading = OUTPUT)]
    #[arg(conflicts_with = "json")]
    pub format: String,
}
