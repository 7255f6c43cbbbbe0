//! The command line.

mod ab;
mod diagnose;
mod history;
mod matrix;
mod resume;
mod tune;

pub use ab::Ab;
pub use diagnose::Diagnose;
pub use history::ShowHistory;
pub use matrix::Matrix;
pub use resume::Resume;
pub use tune::Tune;

use super::fault::faults;
use super::heading::{OUTPUT, WHAT};
use super::reach::Reach;
use super::role::Role;
use super::value::{
    budget, count, formats, kinds, message_size, mpi, names, profiles, rungs, seed, setting, share, suites,
    target, tools,
};
use super::watch::Watching;
use crate::plan::{Fault, Setting, Suite, Target};
use crate::record::Defaults;
use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use std::path::PathBuf;

/// Measures every layer between the wire and the application, and says where the rate is lost.
#[derive(Debug, Parser)]
#[command(name = "linerate", version, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the ladder between two hosts.
    Run(Run),
    /// Prove whether a setting makes a difference.
    Ab(Ab),
    /// Say why the rate is lost, by experiment.
    Diagnose(Diagnose),
    /// Move a file from one host to another, and say what held it up.
    Transfer(super::transfer_args::Transfer),
    /// Say where a message waits on its way, on both hosts.
    Trace(super::trace_args::Trace),
    /// Keep the packets of a stream as both hosts see them, for Wireshark, and say what they show.
    Capture(super::capture_args::Capture),
    /// Search for settings that gain, and prove it.
    Tune(Tune),
    /// Name the host, link or group of many that is slow.
    Matrix(Matrix),
    /// Put back what searches left changed on this host.
    Undo(super::undo::Undo),
    /// Go on with a run that was cut.
    Resume(Resume),
    /// Show the medians of completed runs, and where they changed.
    History(ShowHistory),
    /// Compare recordings that were made before.
    Compare(Compare),
    /// Print the report of a recording.
    Report(Report),
    /// Read the results of another tool into recordings.
    Import(Import),
    /// Measure the hosts' clocks, timers and generators, and how far equal runs lie apart.
    Calibrate(Calibrate),
    /// Say what this host can do, what is missing, and how to get it.
    Doctor(StateFolder),
    /// List the tables of names: rungs, knobs, metrics, warnings and others.
    List(List),
    /// Say what a name in a report or a flag means, or all that makes a recording's numbers doubtful, and what to try.
    Explain(Explain),
    /// Keep virtual hosts to work in: put them up, run commands on them, take them down.
    #[command(subcommand)]
    Lab(super::lab::args::Lab),
    /// Say which file of defaults is read, and what it sets.
    Config(Config),
    /// Print the completions of a shell.
    Completions(Completions),
    /// Print the man page, or write all of them into a folder.
    Man(Man),
    /// What the program is to itself.
    #[command(flatten)]
    Role(Role),
}

/// What every command that measures is told.
#[derive(Debug, Clone, clap::Args)]
pub struct Hosts {
    /// `lab`, `lab:PRESET` (lan, metro, wan, satellite), `lab:FILE.toml`, `lab:KEY=VALUE,…` (hosts, mtu, rate,
    /// delay, loss, …), `ssh://[user@]HOST[:PORT]`, several of these with commas or as ssh://node[01-16], `@FILE`
    /// with a host a line, `slurm[:OPTIONS]`, `mpirun[:OPTIONS]`, `launch:HOST,…` (see --launch), or `simulated` (a made-up machine without time).
    #[arg(value_name = "TARGET", value_parser = target(), hide_possible_values = true)]
    pub target: Target,
    /// Only these rungs (a name or a prefix: network, in-host.tcp; some need the whole name, see `linerate list
    /// rungs`); may be repeated.
    #[arg(long, value_name = "RUNG", value_delimiter = ',', value_parser = rungs(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub only: Vec<String>,
    /// All rungs but these; may be repeated.
    #[arg(long, value_name = "RUNG", value_delimiter = ',', value_parser = rungs(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub skip: Vec<String>,
    /// Seeds the order in which everything is visited [default: another one each time].
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true, help_heading = WHAT)]
    pub seed: Option<u64>,
    /// Put a known fault into the lab, and be warned of it in the report: loss=1%, b:small-buffers=64KiB,
    /// a-b:delay=5ms, cpu-hog=0/50%. `linerate list faults` shows them. May be repeated.
    #[arg(long = "fault", value_name = "[WHERE:]NAME[=VALUE]", value_parser = faults(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub faults: Vec<Fault>,
    #[command(flatten)]
    pub reach: Reach,
    /// The folder of the recording.
    #[arg(long, value_name = "DIR", default_value = "linerate", help_heading = OUTPUT)]
    #[arg(value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    #[command(flatten)]
    pub watching: Watching,
    #[command(flatten)]
    pub state: StateFolder,
    #[arg(skip)]
    pub asked: CommandLine,
    #[arg(skip)]
    pub keep: Keep,
}

/// What of the hosts' settings is left in force when a run is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// None.
    #[default]
    Nothing,
    /// What a search proved.
    Proved,
}

/// The command line in force, for the recording.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// Its words, those of the configuration file among them.
    pub line: Vec<String>,
    /// What came from the file.
    pub defaults: Option<Defaults>,
}

/// Where calibrations and the history are kept.
#[derive(Debug, Clone, clap::Args)]
pub struct StateFolder {
    /// Where calibrations and the medians of earlier runs are kept [default: $XDG_STATE_HOME/linerate
    /// or ~/.local/state/linerate].
    #[arg(long = "state", value_name = "DIR", env = "LINERATE_STATE", hide_env_values = true)]
    #[arg(help_heading = OUTPUT, value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(mut_arg("target", |target| target.required(false).default_value("lab")))]
pub struct Calibrate {
    /// How many equal runs the spread between runs is taken from.
    #[arg(long, value_name = "COUNT", default_value_t = 6, value_parser = count(3, 100))]
    #[arg(help_heading = WHAT)]
    pub runs: u32,
    #[command(flatten)]
    pub hosts: Hosts,
    /// The form of what is printed.
    #[arg(long, default_value = "text", value_parser = ["text", "json"], help_heading = OUTPUT)]
    #[arg(conflicts_with = "json")]
    pub format: String,
}

impl Command {
    /// Whether standard output is for a program.
    pub fn is_json(&self) -> bool {
        match self {
            Command::Run(Run { hosts, .. })
            | Command::Ab(Ab { hosts, .. })
            | Command::Diagnose(Diagnose { hosts, .. })
            | Command::Tune(Tune { hosts, .. })
            | Command::Matrix(Matrix { hosts, .. })
            | Command::Calibrate(Calibrate { hosts, .. }) => hosts.watching.json,
            Command::Resume(resume) => resume.watching.json,
            _ => false,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// How much is measured: quick (about 45 s), standard (about 2 min) or thorough (about 45 min).
    #[arg(long, default_value = "standard", value_parser = profiles(), help_heading = WHAT)]
    pub profile: String,
    /// The time the run may take; passes are added or left out to fit.
    #[arg(long, value_name = "TIME", value_parser = budget, help_heading = WHAT)]
    pub budget: Option<u64>,
    /// Exactly so many passes instead of the profile's, and nothing after them but a look at breaks.
    #[arg(long, value_name = "N", value_parser = count(1, 1000), conflicts_with = "budget")]
    #[arg(help_heading = WHAT)]
    pub passes: Option<u32>,
    /// Only these message sizes instead of the profile's, and those that the ladder's table states: 64 B, 1 KiB
    /// and 1 MiB. Cases of suites and plans that say their own sizes keep them. May be repeated.
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = message_size, help_heading = WHAT)]
    pub sizes: Vec<u64>,
    /// Set a knob, for all rungs or for one: tcp.congestion-control=reno,
    /// network.tcp:socket.send-buffer=256KiB. `linerate list knobs` shows them. May be repeated.
    #[arg(long = "set", value_name = "[RUNG:]KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub set: Vec<Setting>,
    /// The MPI of the rungs that have one, by its name, its file, or the folder that it was installed to: short for
    /// --set mpi.implementation=NAME or --set mpi.path=PATH.
    #[arg(long, value_name = "NAME|PATH", value_parser = mpi, help_heading = WHAT, value_hint = ValueHint::AnyPath)]
    pub mpi: Option<Setting>,
    /// In place of the ladder, measure the figures of a paper anew: libraries, san, adapter, sockets, grid. `linerate
    /// list suites` shows them. May be repeated.
    #[arg(long = "suite", value_name = "NAME", value_delimiter = ',', value_parser = suites(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub suites: Vec<Suite>,
    /// The same with a plan file of one's own (TOML); docs/guides/plans.md tells how it is written.
    #[arg(long = "plan", value_name = "FILE", help_heading = WHAT, value_hint = ValueHint::FilePath)]
    pub plans: Vec<PathBuf>,
    /// Of suites and plan files only the figures whose names begin so, with what they show: 003-F12. `linerate list suites`
    /// shows them. May be repeated.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = WHAT)]
    pub figures: Vec<String>,
    /// Add to an earlier run of the same plan on the same hosts: one that was cut goes on where it was, one that was whole
    /// gets its passes once more, or as many and as long as --passes and --budget say. What it measured is copied to the
    /// new recording; the file stays as it is.
    #[arg(long, value_name = "RECORDING", conflicts_with = "seed", help_heading = WHAT)]
    #[arg(value_hint = ValueHint::FilePath)]
    pub onto: Option<PathBuf>,
    /// Write no HTML page beside the recording; `linerate report` can make it later.
    #[arg(long, help_heading = OUTPUT)]
    pub no_page: bool,
    #[command(flatten)]
    pub hosts: Hosts,
}

/// Compares two sets of recordings: all of one, then all of the other. It takes at least 6 runs a side
/// to tell a difference from the spread between runs; `linerate ab` needs one.
#[derive(Debug, clap::Args)]
pub struct Compare {
    /// A recording, a folder of recordings, or several of them separated by commas.
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath, required_unless_present = "baseline", default_value = "")]
    #[arg(hide_default_value = true)]
    pub a: String,
    /// What is compared with it.
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath, required_unless_present = "baseline")]
    pub b: Option<String>,
    /// The runs that `linerate history --keep NAME` gave this name are A; what is named is compared with them, or the runs
    /// of the same plan on the same hosts since.
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// The smallest difference that matters, at least 1%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pub margin: f64,
    /// The form of what is printed.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
    #[command(flatten)]
    pub state: StateFolder,
}

#[derive(Debug, clap::Args)]
pub struct Report {
    /// The recording; of html, svg and png several, which stand beside each other.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The form of what is written.
    #[arg(long, default_value = "text", value_parser = formats())]
    pub format: String,
    /// The file to write, or the folder of figures; `-` is standard output. By default a page goes beside
    /// its recording when standard output is a terminal, and figures into a folder of the recording's name.
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Reads the results of another tool into recordings, one a run, which `linerate report` and `linerate compare` take
/// beside those of linerate. Each number keeps what it is: whose bytes, mean or least, its unit converted. What is not
/// in the file is not made up; the whole file is kept in the recording.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// What the tool wrote: a run a file, or several in one; `-` is standard input.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The tool that wrote it [default: told by the content]; `linerate list tools` says what is read of each.
    #[arg(long, value_name = "TOOL", value_parser = tools())]
    pub tool: Option<String>,
    /// The folder of the recordings.
    #[arg(long, value_name = "DIR", default_value = "linerate", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// What to list; everything when left out.
    #[arg(value_parser = kinds())]
    pub what: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Explain {
    /// A metric, knob, warning, bound, break, rung, transport, pattern, profile or paper; a recording, for all that is
    /// to be known beside its numbers; all names when left out.
    #[arg(value_name = "NAME|RECORDING", value_parser = names(), hide_possible_values = true)]
    pub name: Option<String>,
}

/// Defaults of options, kept in a file.
#[derive(Debug, clap::Args)]
pub struct Config {
    /// Print a file to begin with: every key, each commented out.
    #[arg(long)]
    pub example: bool,
    /// The form of what is printed.
    #[arg(long, default_value = "text", value_parser = ["text", "json"], conflicts_with = "example")]
    pub format: String,
}

#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell.
    pub shell: Shell,
}

#[derive(Debug, clap::Args)]
pub struct Man {
    /// The folder that all pages are written into; the program's own page is printed when left out.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

impl Command {
    /// The hosts that the command measures, where it does.
    pub fn hosts(&mut self) -> Option<&mut Hosts> {
        match self {
            Command::Run(run) => Some(&mut run.hosts),
            Command::Ab(ab) => Some(&mut ab.hosts),
            Command::Diagnose(diagnose) => Some(&mut diagnose.hosts),
            Command::Tune(tune) => Some(&mut tune.hosts),
            Command::Matrix(matrix) => Some(&mut matrix.hosts),
            Command::Calibrate(calibrate) => Some(&mut calibrate.hosts),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Command};
    use crate::plan::{Target, Topology};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn calibrate_takes_the_lab_by_default() {
        let target = |arguments: &[&str]| match Args::try_parse_from(arguments).map(|args| args.command) {
            Ok(Command::Calibrate(calibrate)) => Some(calibrate.hosts.target),
            _ => None,
        };
        assert_eq!(target(&["linerate", "calibrate"]), Some(Target::Lab(Topology::default())));
        assert_eq!(target(&["linerate", "calibrate", "ssh://b"]), Some(Target::Ssh(vec!["b".into()])));
        assert!(Args::try_parse_from(["linerate", "run"]).is_err());
    }
}
