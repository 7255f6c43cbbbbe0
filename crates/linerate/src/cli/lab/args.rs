//! The command line of `linerate lab`.

use crate::cli::fault::faults;
use crate::cli::lab_file;
use crate::cli::value::{Read, Unfit};
use crate::lab::is_name;
use crate::plan::{Fault, Target, Topology, is_lab_file};
use crate::vocabulary::{PRESETS, did_you_mean};
use std::ffi::OsString;

const UP_EXAMPLES: &str = "\
Examples:
  linerate lab up
      two hosts, until Ctrl-C; work in them from another terminal
  linerate lab up --detach
      the same in the background, until `linerate lab down`
  linerate lab up rate=1Gb/s,mtu=9000 --name slow --detach
      a second one, over a link that is slower
  linerate lab up hosts=4
      four hosts on a bridge
  linerate lab up metro,loss=0.1%
      a path across a town that loses packets; `linerate list presets` and `lab-keys` show more
  linerate lab up --detach --fault b:small-buffers=64KiB
      with a known fault on host b; `linerate list faults` shows them

Nothing outside the lab is changed, no root is needed, and nothing is left when its holder ends.";

const EXEC_EXAMPLES: &str = "\
Examples:
  linerate lab exec a -- ping -c 3 198.18.0.2
      from host a to host b
  linerate lab exec b -- iperf3 -s
      a server on b, until Ctrl-C
  linerate lab exec --lab slow a
      a shell on host a of the lab `slow`
  linerate lab exec a -- ip -s link show wire0
      what crossed a's wire

Exit codes: COMMAND's own; 126 it cannot be run, 127 it is not there. Its terminal and its signals
are its own too: linerate is gone when it starts.
Interfaces, addresses, sockets and the host name are the host's; files, processes and /sys are this
machine's.";

const LIST_EXAMPLES: &str = "\
Examples:
  linerate lab list
      every lab of this user that is up
  linerate lab list --format json
      the same for a program";

const DOWN_EXAMPLES: &str = "\
Examples:
  linerate lab down
      the only one that is up
  linerate lab down slow --kill
      the one called slow, and whatever still runs on its hosts
  linerate lab down --all
      all of this user's
  linerate lab down --stale
      no lab that is up, but what is left of those whose holder was killed";

#[derive(Debug, clap::Subcommand)]
pub enum Lab {
    /// Put up virtual hosts, and keep them until Ctrl-C or `lab down`.
    #[command(after_help = UP_EXAMPLES)]
    Up(Box<Up>),
    /// Run a command on a host of a lab that is up.
    #[command(after_help = EXEC_EXAMPLES)]
    Exec(Exec),
    /// List the labs that are up.
    #[command(after_help = LIST_EXAMPLES)]
    List(List),
    /// Take a lab down.
    #[command(after_help = DOWN_EXAMPLES)]
    Down(Down),
    /// Keep a lab in the background.
    #[command(hide = true)]
    Hold {
        /// The lab's name, for who looks at the list of processes.
        name: String,
    },
}

#[derive(Debug, clap::Args)]
pub struct Up {
    /// What lab, as in a target with or without `lab:` in front: a preset (lan, metro, wan, satellite) or a
    /// file (net.toml), then `KEY=VALUE,…` (hosts, mtu, rate, delay, loss, …).
    #[arg(value_name = "LAB", default_value = "lab", hide_default_value = true, value_parser = topology)]
    pub topology: Topology,
    /// Put a known fault into it: loss=1%, b:small-buffers=64KiB, cpu-hog=0/50%. `linerate list faults`
    /// shows them. May be repeated.
    #[arg(long = "fault", value_name = "[WHERE:]NAME[=VALUE]", value_parser = faults())]
    #[arg(hide_possible_values = true)]
    pub faults: Vec<Fault>,
    /// The lab's name, where it is not the only one.
    #[arg(long, default_value = "lab", value_parser = name)]
    pub name: String,
    /// Keep it in the background, and return when it is up.
    #[arg(long, short)]
    pub detach: bool,
}

#[derive(Debug, clap::Args)]
pub struct Exec {
    /// The lab; needed where several are up.
    #[arg(long, value_name = "NAME")]
    pub lab: Option<String>,
    /// The host: a, b and so on.
    pub host: String,
    /// The command and its arguments; a shell when left out.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// The form.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
}

#[derive(Debug, clap::Args)]
pub struct Down {
    /// The lab; needed where several are up.
    #[arg(conflicts_with = "all")]
    pub name: Option<String>,
    /// All labs of this user.
    #[arg(long)]
    pub all: bool,
    /// End the processes that still run on its hosts, too.
    #[arg(long)]
    pub kill: bool,
    /// Undo what processes left that died: records of labs, processes of runs, commands on hosts of labs that are
    /// gone.
    #[arg(long, conflicts_with_all = ["name", "all", "kill"])]
    pub stale: bool,
    /// The form of what was undone.
    #[arg(long, default_value = "text", value_parser = ["text", "json"], requires = "stale")]
    pub format: String,
}

fn topology(text: &str) -> Read<Topology> {
    let first = text.split(',').next().unwrap_or_default();
    let is_named = PRESETS.iter().any(|preset| preset.name == first) || is_lab_file(first);
    let is_bare = (is_named || text.contains('=')) && !text.starts_with("lab:") && !text.contains("://");
    let text = if is_bare { format!("lab:{text}") } else { text.to_owned() };
    match Target::read(&text, &lab_file::text) {
        Ok(Target::Lab(topology)) => Ok(topology),
        Err(error) if text.starts_with("lab:") => Err(Unfit { what: error.what, hint: error.hint }),
        _ => {
            let otherwise = "try rate=1Gb/s,mtu=9000; --name gives a lab its name";
            let hint = did_you_mean(PRESETS.iter().map(|preset| preset.name), &text, otherwise);
            Err(Unfit { what: format!("`{text}` is no lab"), hint })
        }
    }
}

fn name(text: &str) -> Read<String> {
    let hint = "letters, digits, dashes and underscores, at most 32, such as slow-2";
    let unfit = || Unfit { what: format!("`{text}` is no name of a lab"), hint: hint.into() };
    is_name(text).then(|| text.to_owned()).ok_or_else(unfit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Shape;
    use crate::unit::BitRate;

    #[test]
    fn a_lab_is_described_with_or_without_its_kind() {
        let shape = Shape { rate: Some(BitRate(1e9)), ..Shape::default() };
        let slow = Topology { shape, ..Topology::default() };
        for text in ["lab:rate=1Gb/s", "rate=1Gb/s"] {
            assert_eq!(topology(text).unwrap(), slow, "{text}");
        }
        assert_eq!(topology("lab").unwrap(), Topology::default());
        assert_eq!(topology("metro,mtu=1500").unwrap(), topology("lab:metro,mtu=1500").unwrap());
        assert_eq!(topology("metro").unwrap().mtu, 9000);
        for (text, part) in [
            ("mtu=12", "576"),
            ("lab:speed=1", "it knows hosts, mtu"),
            ("slow", "--name"),
            ("metr", "`metro`"),
            ("./no-such.toml", "cannot read ./no-such.toml"),
            ("ssh://b", "no lab"),
            ("ssh://b?x=1", "no lab"),
            ("rate=1mb/s", "1Mb/s is bits a second, 1MB/s bytes a second"),
        ] {
            let error = topology(text).unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
    }
}
