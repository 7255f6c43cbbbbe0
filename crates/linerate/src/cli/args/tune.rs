//! The command line of `linerate tune`.

use crate::cli::args::Hosts;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::value::{budget, message_size, rungs, setting, share};
use crate::plan::{Metric, Setting};

/// Searches for settings that gain, and proves it: each candidate of `linerate list tunables` is raced beside what was kept
/// so far, in randomised blocks; what gains beyond the margin is kept only if it gains again on fresh connections, and
/// nothing else that is watched becomes worse. It ends with 10 where a gain is proved, 0 where nothing that was tried gains
/// beyond the margin, 11 where that cannot be told. Nothing is left changed.
#[derive(Debug, clap::Args)]
pub struct Tune {
    /// Set knobs for the path as it stands: what your program sets.
    #[arg(long, value_name = "[RUNG:]KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub base: Vec<Setting>,
    /// The rung (a name or a prefix) [default: the topmost of --only, else network.tcp].
    #[arg(long, value_name = "RUNG", value_parser = rungs(), hide_possible_values = true, help_heading = WHAT)]
    pub rung: Option<String>,
    /// Only these knobs, or entries of `linerate list tunables`: socket.send-buffer, buffers. May be repeated.
    #[arg(long = "knob", value_name = "KNOB", value_delimiter = ',', help_heading = WHAT)]
    pub knobs: Vec<String>,
    /// What decides; the other one is watched.
    #[arg(long, default_value = "throughput", value_parser = ["throughput", "latency"], help_heading = WHAT)]
    pub metric: String,
    /// The message size of what decides: your program's own [default: 1MiB, or 64B for latency].
    #[arg(long, value_name = "SIZE", value_parser = message_size, help_heading = WHAT)]
    pub size: Option<u64>,
    /// The smallest gain that matters, at least 1%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share, help_heading = WHAT)]
    pub margin: f64,
    /// The time that the search may take: those candidates come first that are known to gain most. One race that was begun
    /// is ended.
    #[arg(long, value_name = "TIME", default_value = "4min", value_parser = budget, help_heading = WHAT)]
    pub budget: u64,
    /// Let settings of the hosts be tried too: buffers' limits, MTU, offloads, queues. Each is written down before it is
    /// changed, and put back in the end; `linerate undo` does that where a run was killed.
    #[arg(long, value_name = "WHAT", value_parser = ["host"], help_heading = WHAT)]
    pub allow: Vec<String>,
    /// Leave in force what is proved of the hosts' settings, and write beside the recording how to keep all that is proved
    /// for good, and how to undo it.
    #[arg(long, conflicts_with = "dry_run", help_heading = WHAT)]
    pub apply: bool,
    /// Print what would be tried, and change and measure nothing.
    #[arg(long, help_heading = WHAT)]
    pub dry_run: bool,
    #[command(flatten)]
    pub hosts: Hosts,
    /// The form of the report.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"], help_heading = OUTPUT)]
    #[arg(conflicts_with = "json")]
    pub format: String,
}

impl Tune {
    /// What decides.
    pub fn metric(&self) -> Metric {
        if self.metric == "latency" { Metric::Latency } else { Metric::Throughput }
    }

    /// Whether settings of the hosts may be changed.
    pub fn may_change_hosts(&self) -> bool {
        !self.allow.is_empty()
    }
}
