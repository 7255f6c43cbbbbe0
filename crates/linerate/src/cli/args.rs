//! The command line.

use crate::plan::{LEAST_BLOCKS, Metric, PROFILES, Setting, SettingError, Target, candidates};
use crate::unit::Nanoseconds;
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  linerate run lab
      the whole ladder on a virtual pair of hosts: no set-up, no root
  linerate run lab:rate=1Gb/s,mtu=9000
      the same over a link whose truth is known
  linerate run ssh://node7
      from this host to node7, which needs nothing but sshd
  linerate run ssh://node1,ssh://node2 --profile quick --only network
      only the network rungs, between two other hosts
  linerate ab lab --set tcp.congestion-control=reno
      whether a setting makes a difference, proved in randomised blocks
  linerate report linerate/lab-2026-11-21T14-02-11.jsonl --format csv
      the numbers of an earlier run
  linerate explain sender-cpu
      what a name in a report means, and what to try

`linerate doctor` says what this host can do and how to get what is missing.";

const AB_EXAMPLES: &str = "\
Examples:
  linerate ab lab --set tcp.congestion-control=reno
      one candidate against the base
  linerate ab lab --set socket.send-buffer=64KiB,256KiB,1MiB --blocks 20
      three levels of one knob
  linerate ab lab --set socket.send-buffer=1MiB+socket.receive-buffer=1MiB
      two knobs that are set together
  linerate ab ssh://node7 --metric latency --set tcp.no-delay=off --base cpu.placement=0/1
      by the latency of small messages, everything on the same CPUs
  linerate ab simulated:noise=4% --set shim.slowdown=3
      on a made-up machine, where the truth is known: 3 % slower

Exit codes: 0 the same, 10 different, 11 cannot tell, 130 interrupted.
The same is proved too: the difference lies within the margin. Each candidate is compared block by
block with the base; at the first of two looks and at the second, half of 5 % may err.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  linerate compare before/ after/
      two folders of recordings, at least 6 in each
  linerate compare monday.jsonl tuesday.jsonl
      one run a side: shows both and the ratio, and cannot tell

Exit codes: 0 the same, 10 different, 11 cannot tell.";

/// Measures every layer between the wire and the application, and says where the rate is lost.
#[derive(Debug, Parser)]
#[command(name = "linerate", version, after_help = EXAMPLES, max_term_width = 100)]
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
    /// Compare recordings that were made before.
    Compare(Compare),
    /// Print the report of a recording.
    Report(Report),
    /// Measure the hosts' clocks, timers and generators, and how far equal runs lie apart.
    Calibrate(Calibrate),
    /// Say what this host can do, what is missing, and how to get it.
    Doctor(StateFolder),
    /// List the tables of names: rungs, knobs, metrics, warnings and others.
    List(List),
    /// Say what a name in a report or a flag means: its definition, formula, source, and what to try.
    Explain(Explain),
    /// Serve one host of a run on the standard streams.
    #[command(hide = true)]
    Agent,
    /// Hold sessions for an agent.
    #[command(hide = true)]
    Worker {
        /// The agent's socket.
        home: String,
    },
    /// Build the namespaces of a lab and hand them over.
    #[command(hide = true)]
    LabBuilder,
}

/// What every command that measures is told.
#[derive(Debug, clap::Args)]
pub struct Hosts {
    /// `lab`, `lab:KEY=VALUE,…` (hosts, mtu, rate), `ssh://[user@]HOST[:PORT]`, two of these, or
    /// `simulated` (a made-up machine without time).
    #[arg(value_name = "TARGET", value_parser = target)]
    pub target: Target,
    /// Only these rungs (a name or a prefix: network, in-host.tcp); may be repeated.
    #[arg(long, value_name = "RUNG", value_delimiter = ',')]
    pub only: Vec<String>,
    /// All rungs but these; may be repeated.
    #[arg(long, value_name = "RUNG", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// The address that a host's data goes to, where it is not the one that ssh reaches: b=192.0.2.7. Give
    /// an IPv6 address beside it for the rungs over IPv6.
    #[arg(long = "address", value_name = "HOST=ADDRESS", value_parser = address)]
    pub addresses: Vec<(String, IpAddr)>,
    /// How to call ssh, with options.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", env = "LINERATE_SSH")]
    pub ssh: String,
    /// Seeds the order in which everything is visited; by default another one each time.
    #[arg(long)]
    pub seed: Option<u64>,
    /// The folder of the recording.
    #[arg(long, value_name = "DIR", default_value = "linerate")]
    pub output: PathBuf,
    /// No progress, only the report.
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub state: StateFolder,
}

/// Where calibrations and the history are kept.
#[derive(Debug, Clone, clap::Args)]
pub struct StateFolder {
    /// Where calibrations and the medians of earlier runs are kept [default: $XDG_STATE_HOME/linerate
    /// or ~/.local/state/linerate].
    #[arg(long = "state", value_name = "DIR", env = "LINERATE_STATE", hide_env_values = true)]
    pub folder: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(mut_arg("target", |target| target.required(false).default_value("lab")))]
pub struct Calibrate {
    #[command(flatten)]
    pub hosts: Hosts,
    /// How many equal runs the spread between runs is taken from.
    #[arg(long, value_name = "COUNT", default_value_t = 6, value_parser = clap::value_parser!(u32).range(3..=100))]
    pub runs: u32,
    /// The form.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
}

#[derive(Debug, clap::Args)]
pub struct Run {
    #[command(flatten)]
    pub hosts: Hosts,
    /// How much is measured: quick (about 45 s), standard (about 2 min) or thorough (about 45 min).
    #[arg(long, default_value = "standard", value_parser = profiles())]
    pub profile: String,
    /// The time the run may take; passes are added or left out to fit.
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<u64>,
    /// Exactly so many passes instead of the profile's, and nothing after them but a look at breaks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "budget")]
    pub passes: Option<u32>,
    /// Set a knob, for all rungs or for one: tcp.congestion-control=reno,
    /// network.tcp:socket.send-buffer=256KiB. `linerate list knobs` shows them.
    #[arg(long = "set", value_name = "[RUNG:]KNOB=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,
}

/// Proves whether settings differ from what holds without them, in randomised blocks with new
/// connections, an A/A control that must not differ and a slowed one that must.
#[derive(Debug, clap::Args)]
#[command(after_help = AB_EXAMPLES)]
pub struct Ab {
    #[command(flatten)]
    pub hosts: Hosts,
    /// The candidates, separated by commas; `+` joins knobs that are set together, and a bare value is
    /// another level of the knob before it. `linerate list knobs` shows the knobs. May be repeated.
    #[arg(long = "set", value_name = "[RUNG:]KNOB=VALUE[,…]", required = true, value_parser = arms)]
    pub set: Vec<Candidates>,
    /// Set knobs for the base and all candidates alike.
    #[arg(long, value_name = "[RUNG:]KNOB=VALUE", value_parser = setting)]
    pub base: Vec<Setting>,
    /// The rung (a name or a prefix); by default the topmost of --only, else network.tcp.
    #[arg(long, value_name = "RUNG")]
    pub rung: Option<String>,
    /// What decides; the other one is watched.
    #[arg(long, default_value = "throughput", value_parser = ["throughput", "latency"])]
    pub metric: String,
    /// Blocks before the first look, at least 6.
    #[arg(long, default_value_t = 12, value_parser = blocks())]
    pub blocks: u32,
    /// The smallest difference that matters, at least 1%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pub margin: f64,
    /// Do not double the blocks where they cannot tell.
    #[arg(long)]
    pub no_extend: bool,
    /// The form of the report.
    #[arg(long, default_value = "text", value_parser = formats())]
    pub format: String,
}

/// The candidates of one `--set`.
#[derive(Debug, Clone)]
pub struct Candidates(pub Vec<Vec<Setting>>);

/// Compares two sets of recordings: all of one, then all of the other. It takes at least 6 runs a side
/// to tell a difference from the spread between runs; `linerate ab` needs one.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct Compare {
    /// A recording, a folder of recordings, or several of them separated by commas.
    #[arg(value_name = "A")]
    pub a: String,
    /// What is compared with it.
    #[arg(value_name = "B")]
    pub b: String,
    /// The smallest difference that matters, at least 1%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pub margin: f64,
    /// The form.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
}

#[derive(Debug, clap::Args)]
pub struct Report {
    /// The recording.
    pub file: PathBuf,
    /// The form.
    #[arg(long, default_value = "text", value_parser = formats())]
    pub format: String,
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// What to list; everything when left out.
    #[arg(value_parser = kinds())]
    pub what: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Explain {
    /// A metric, knob, warning, bound, break, rung, transport, pattern or profile; all names when left out.
    pub name: Option<String>,
}

fn kinds() -> PossibleValuesParser {
    crate::report::reference::kinds().map(|kind| kind.plural).collect::<Vec<_>>().into()
}

fn profiles() -> PossibleValuesParser {
    PROFILES.iter().map(|shipped| shipped.name).collect::<Vec<_>>().into()
}

fn formats() -> PossibleValuesParser {
    crate::report::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().into()
}

fn target(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error: crate::plan::TargetError| format!("{}\n  hint: {}", error.what, error.hint))
}

fn setting(text: &str) -> Result<Setting, String> {
    text.parse().map_err(|error: crate::plan::SettingError| format!("{}\n  hint: {}", error.what, error.hint))
}

fn arms(text: &str) -> Result<Candidates, String> {
    candidates(text)
        .map(Candidates)
        .map_err(|error: SettingError| format!("{}\n  hint: {}", error.what, error.hint))
}

fn blocks() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(LEAST_BLOCKS)..=1000)
}

/// `1%` or `0.01`, at least 1 % and at most one half.
fn share(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share
        .filter(|share| (0.01..=0.5).contains(share))
        .ok_or_else(|| format!("`{text}`: a share from 1% to 50%"))
}

impl Ab {
    /// What decides.
    pub fn metric(&self) -> Metric {
        if self.metric == "latency" { Metric::Latency } else { Metric::Throughput }
    }
}

fn budget(text: &str) -> Result<u64, String> {
    let time: Nanoseconds = text.parse().map_err(|error: crate::unit::ParseError| error.to_string())?;
    if time.0 < 1e9 { Err("a budget below 1 s measures nothing".into()) } else { Ok(time.0 as u64) }
}

fn address(text: &str) -> Result<(String, IpAddr), String> {
    let wanted = || format!("`{text}`: try a=192.0.2.1");
    let (host, address) = text.split_once('=').ok_or_else(wanted)?;
    if !["a", "b"].contains(&host) {
        return Err(format!("the hosts are called a and b, not `{host}`"));
    }
    Ok((host.into(), address.parse().map_err(|_| wanted())?))
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
    fn the_lab_is_calibrated_where_nothing_else_is_named() {
        let target = |arguments: &[&str]| match Args::try_parse_from(arguments).map(|args| args.command) {
            Ok(Command::Calibrate(calibrate)) => Some(calibrate.hosts.target),
            _ => None,
        };
        assert_eq!(target(&["linerate", "calibrate"]), Some(Target::Lab(Topology::default())));
        assert_eq!(target(&["linerate", "calibrate", "ssh://b"]), Some(Target::Ssh(vec!["b".into()])));
        assert!(Args::try_parse_from(["linerate", "run"]).is_err());
    }
}
