//! The command line of `linerate diagnose`.

use crate::cli::args::Hosts;
use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::value::{Against, against, budget, count, rungs, setting, share};
use crate::plan::Setting;
use clap::builder::ArgPredicate;

/// What is no question where nothing is changed.
const UNCHANGED: [&str; 8] = ["target", "against", "allow", "base", "rung", "faults", "json", "live"];

/// Says why the rate is lost. A first look at the path as it stands shows signs; of the causes of `linerate list causes`
/// that they speak of each is changed on the test's own sockets, in randomised blocks beside the path as it stands. One is
/// named only where the rate moved, moved again in fresh blocks, and its sign is there. Nothing of the hosts is
/// changed unless `--allow host` lets it. It ends with 10 where a fault is proved, 11 where that cannot be told.
/// Of a program that runs, `--pid` or `--port`, the connections are read for a while and nothing is changed: what they wait
/// for is told, and nothing is proved.
#[derive(Debug, clap::Args)]
#[command(mut_arg("target", |target| target
    .required(false)
    .required_unless_present_any(["pid", "port"])
    .default_value_ifs([("pid", ArgPredicate::IsPresent, "lab"), ("port", ArgPredicate::IsPresent, "lab")])))]
pub struct Diagnose {
    /// How long it may take: quick (90 s), standard (4 min) or thorough (15 min).
    #[arg(long, default_value = "standard", value_parser = ["quick", "standard", "thorough"], help_heading = WHAT)]
    pub profile: String,
    /// The time it may take instead of the profile's: fewer experiments are made where it is short.
    #[arg(long, value_name = "TIME", value_parser = budget, help_heading = WHAT)]
    pub budget: Option<u64>,
    /// What you expect, and so what is to be explained: a rate (40Gb/s), a recording of the same rung, or `below`, which
    /// measures the rung below first. A proved cause is told with its share of what is missing, and the search leaves the
    /// others where one gives all of it. A rung of a message library is held against the one below where nothing is said.
    #[arg(long, value_name = "RATE|RECORDING|below", value_parser = against, help_heading = WHAT)]
    pub against: Option<Against>,
    /// Let experiments change settings of the hosts, too, for causes that nothing else can prove: offloads, MTU, buffers'
    /// limits, switches of TCP. Each is written down before it is changed, and put back; `linerate undo` does that where a
    /// run was killed.
    #[arg(long, value_name = "WHAT", value_parser = ["host"], help_heading = WHAT)]
    pub allow: Vec<String>,
    /// Set knobs for the path as it stands: what your program sets.
    #[arg(long, value_name = "[RUNG:]KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub base: Vec<Setting>,
    /// The rung (a name or a prefix) [default: the topmost of --only, else network.tcp].
    #[arg(long, value_name = "RUNG", value_parser = rungs(), hide_possible_values = true, help_heading = WHAT)]
    pub rung: Option<String>,
    /// The smallest difference that matters, at least 1%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share, help_heading = WHAT)]
    pub margin: f64,
    /// In place of a target the TCP connections of this process: they are read for 5 s, or for --budget, and nothing of it is
    /// changed. Another user's needs root.
    #[arg(long, value_name = "PID", value_parser = count(1, 1 << 30), conflicts_with_all = UNCHANGED, help_heading = WHAT)]
    pub pid: Option<u32>,
    /// The same of all TCP connections of this host that have this port at either end.
    #[arg(long, value_name = "PORT", value_parser = count(1, 65_535), conflicts_with_all = UNCHANGED)]
    #[arg(conflicts_with = "pid", help_heading = WHAT)]
    pub port: Option<u32>,
    #[command(flatten)]
    pub hosts: Hosts,
    /// The form of the report.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"], help_heading = OUTPUT)]
    #[arg(conflicts_with = "json")]
    pub format: String,
}
