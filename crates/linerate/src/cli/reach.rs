//! How hosts are reached: what every command is told that goes to them.

use super::heading::HOSTS;
use super::value::{address, connect, ports, remote_dir};
use crate::plan::{HostAddress, HostId, PortRange};
use crate::run::RemoteFolder;
use clap::ValueHint;

/// Addresses, ports, and the way there.
#[derive(Debug, Clone, clap::Args)]
pub struct Reach {
    /// The address that a host's data goes to, where it is not the one that ssh reaches: b=192.0.2.7. Give
    /// an IPv6 address beside it for the rungs over IPv6; a link-local one with the interface that has it on
    /// that host: b=fe80::7%eth0.
    #[arg(long = "address", value_name = "HOST=ADDRESS", value_parser = address, help_heading = HOSTS)]
    pub addresses: Vec<(HostId, HostAddress)>,
    /// The ports that the listening host may use, TCP and UDP: 5201, or 5201-5210. One is enough, for any number
    /// of connections; the first that is free is taken [default: ports of the kernel's choice].
    #[arg(long, value_name = "PORT[-PORT]", value_parser = ports, help_heading = HOSTS)]
    pub ports: Option<PortRange>,
    /// Which host connects, and which one listens, where only one can be reached: 'b>a' lets b connect to a
    /// [default: a>b]. Data is measured both ways whoever connects.
    #[arg(long, value_name = "a>b|b>a", value_parser = connect, help_heading = HOSTS)]
    pub connect: Option<HostId>,
    /// How to call ssh, with options.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", env = "LINERATE_SSH", help_heading = HOSTS)]
    #[arg(hide_env_values = true, value_hint = ValueHint::CommandString)]
    pub ssh: String,
    /// The folder on hosts reached by ssh that the program's copy is put into, for all or for one: /scratch/me,
    /// b=/scratch/me [default: ~/.cache, else /tmp or what else can be written and run from]. May be repeated.
    #[arg(long = "remote-dir", value_name = "[HOST=]DIR", value_parser = remote_dir, help_heading = HOSTS)]
    pub remote_dirs: Vec<(Option<HostId>, RemoteFolder)>,
}
