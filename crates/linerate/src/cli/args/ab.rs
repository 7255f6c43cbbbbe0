//! The command line of `linerate ab`.

use crate::cli::args::Hosts;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::value::{
    Candidates, applications, arms, blocks, message_size, metrics, rungs, setting, share,
};
use crate::plan::Setting;

/// Proves whether settings differ from what holds without them, in randomised blocks with new
/// connections, an A/A control that must not differ and a slowed one that must.
#[derive(Debug, clap::Args)]
pub struct Ab {
    /// The candidates, separated by commas; `+` joins knobs that are set together, and a bare value is
    /// another level of the knob before it. `linerate list knobs` shows the knobs. May be repeated.
    #[arg(long = "set", value_name = "[RUNG:]KNOB=VALUE[,…]", required = true, value_parser = arms())]
    #[arg(hide_possible_values = true, help_heading = WHAT)]
    pub set: Vec<Candidates>,
    /// Set knobs for the base and all candidates alike.
    #[arg(long, value_name = "[RUNG:]KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub base: Vec<Setting>,
    /// The rung (a name or a prefix) [default: the topmost of --only, else network.tcp].
    #[arg(long, value_name = "RUNG", value_parser = rungs(), hide_possible_values = true, help_heading = WHAT)]
    pub rung: Option<String>,
    /// Compare on an application in small, by its own metric and on all hosts, in place of a rung's streams and round trips:
    /// a monitor of a cluster, a pipeline of filters (microscope, iso-surface), clients of a file in stripes, or in tiles.
    #[arg(long, value_name = "NAME", value_parser = applications(), help_heading = WHAT)]
    pub application: Option<String>,
    /// The message size of what decides: your program's own [default: 1MiB, 64B for latency, or the application's].
    #[arg(long, value_name = "SIZE", value_parser = message_size, help_heading = WHAT)]
    pub size: Option<u64>,
    /// What decides; the others are watched [default: throughput, or an application's first]: of a rung throughput or
    /// latency, of monitor round-time, of microscope and iso-surface unit-time or unit-rate, else striped-throughput.
    #[arg(long, value_name = "METRIC", value_parser = metrics(), hide_possible_values = true, help_heading = WHAT)]
    pub metric: Option<String>,
    /// Blocks before the first look, at least 6.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = blocks(), help_heading = WHAT)]
    pub blocks: u32,
    /// The smallest difference that matters, at least 1%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share, help_heading = WHAT)]
    pub margin: f64,
    /// Do not double the blocks where they cannot tell.
    #[arg(long, help_heading = WHAT)]
    pub no_extend: bool,
    #[command(flatten)]
    pub hosts: Hosts,
    /// The form of the report.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"], help_heading = OUTPUT)]
    #[arg(conflicts_with = "json")]
    pub format: String,
}
