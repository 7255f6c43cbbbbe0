//! The command line of `linerate resume`.

use crate::cli::args::StateFolder;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::watch::Watching;
use clap::ValueHint;
use std::path::PathBuf;

/// Goes on with a run that was cut: by Ctrl-C, by kill -9, by the end of a host or of an allocation. Plan, seed and the way to
/// the hosts are those of the recording; hosts, program and what they can do must be as they were. Nothing that was measured
/// is measured again. What it measured is copied to a new recording, with a line that says where the gap is; the file stays
/// as it is.
#[derive(Debug, clap::Args)]
pub struct Resume {
    /// The recording of `run`, `ab`, `diagnose` or `tune`.
    #[arg(value_name = "RECORDING", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Do what the recording says beyond measuring: call its --ssh, --launch or a launcher's own options, load a library by
    /// its path, change hosts' settings. Without this it is shown and not done: a recording may come from anywhere.
    #[arg(long, help_heading = WHAT)]
    pub trust: bool,
    /// The form of the report, of `ab`, `diagnose` and `tune`.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"], help_heading = OUTPUT)]
    #[arg(conflicts_with = "json")]
    pub format: String,
    /// Write no HTML page beside the recording of a run.
    #[arg(long, help_heading = OUTPUT)]
    pub no_page: bool,
    /// The folder of the new recording [default: that of the earlier one].
    #[arg(long, value_name = "DIR", help_heading = OUTPUT, value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub watching: Watching,
    #[command(flatten)]
    pub state: StateFolder,
}
