//! The command line of `linerate lab`.

use crate::lab::is_name;
use crate::plan::{Target, Topology};
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
      all of this user's";

#[derive(Debug, clap::Subcommand)]
pub enum Lab {
    /// Put up virtual hosts, and keep them until Ctrl-C or `lab down`.
    #[command(after_help = UP_EXAMPLES)]
    Up(Up),
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
    /// What lab: `KEY=VALUE,…` of hosts, mtu and rate, with or without `lab:` in front.
    #[arg(value_name = "[lab:]KEY=VALUE,…", default_value = "lab", hide_default_value = true, value_parser = topology)]
    pub topology: Topology,
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
}

fn topology(text: &str) -> Result<Topology, String> {
    let is_bare = text.contains('=') && !text.starts_with("lab:") && !text.contains("://");
    let text = if is_bare { format!("lab:{text}") } else { text.to_owned() };
    match text.parse::<Target>() {
        Ok(Target::Lab(topology)) => Ok(topology),
        Err(error) if text.starts_with("lab:") => Err(format!("{}\n  hint: {}", error.what, error.hint)),
        _ => Err(format!("`{text}` is no lab\n  hint: try rate=1Gb/s,mtu=9000; --name gives a lab its name")),
    }
}

fn name(text: &str) -> Result<String, String> {
    let hint = "letters, digits, dashes and underscores, at most 32, such as slow-2";
    is_name(text).then(|| text.to_owned()).ok_or_else(|| hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::BitRate;

    #[test]
    fn a_lab_is_described_with_or_without_its_kind() {
        let slow = Topology { rate: Some(BitRate(1e9)), ..Topology::default() };
        for text in ["lab:rate=1Gb/s", "rate=1Gb/s"] {
            assert_eq!(topology(text), Ok(slow.clone()), "{text}");
        }
        assert_eq!(topology("lab"), Ok(Topology::default()));
        for (text, part) in [
            ("mtu=12", "576"),
            ("lab:speed=1", "hosts, mtu and rate"),
            ("slow", "--name"),
            ("ssh://b", "no lab"),
            ("ssh://b?x=1", "no lab"),
        ] {
            let error = topology(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
