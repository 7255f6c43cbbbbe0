//! The command line of `linerate history`.

use crate::cli::args::StateFolder;

/// Shows the medians of completed runs: for each plan and its hosts the level of each figure with the interval over runs, and
/// the runs at which a level changed. What was not measured by the same plan on the same hosts is a history of its own.
#[derive(Debug, clap::Args)]
pub struct ShowHistory {
    /// Only runs of this target, or of its kind: lab:metro, ssh://node7, slurm [default: all].
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// Give the runs so far a name, for `linerate compare --baseline NAME`. They must be of one plan on the same hosts.
    #[arg(long, value_name = "NAME")]
    pub keep: Option<String>,
    /// Only runs of the plan whose hash begins so.
    #[arg(long, value_name = "HASH")]
    pub plan: Option<String>,
    /// The form of what is printed.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"])]
    pub format: String,
    #[command(flatten)]
    pub state: StateFolder,
}
