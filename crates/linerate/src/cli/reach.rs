//! How hosts are reached: what every command is told that goes to them.

use super::heading::HOSTS;
use super::value::{address, budget, connect, listen, ports, remote_dir};
use crate::plan::{HostAddress, HostId, PortRange};
use crate::run::{LaunchAccess, RemoteFolder};
use clap::ValueHint;
use std::net::SocketAddr;
use std::time::Duration;

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
    /// What starts the agents of launch:HOST,…: a command of a shell with {host} in it, such as 'ssh {host}' or
    /// 'docker exec -i {host}'. The program and its words follow, or its words alone stand where {args} does. Of slurm
    /// and mpirun it is what is called in place of srun and mpirun.
    #[arg(long, value_name = "COMMAND", env = "LINERATE_LAUNCH", help_heading = HOSTS)]
    #[arg(hide_env_values = true, value_hint = ValueHint::CommandString)]
    pub launch: Option<String>,
    /// Where agents that a launcher starts call back [default: all addresses of this host, a port of the kernel's
    /// choice].
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen, help_heading = HOSTS)]
    pub listen: Option<SocketAddr>,
    /// How long such agents may take to call back: as long as an allocation may have to be waited for [default: 60 s].
    #[arg(long, value_name = "TIME", value_parser = budget, help_heading = HOSTS)]
    pub launch_wait: Option<u64>,
}

impl Reach {
    /// What a launcher is told.
    pub fn launch(&self) -> LaunchAccess {
        LaunchAccess {
            command: self.launch.clone(),
            listen: self.listen,
            wait: self.launch_wait.map(Duration::from_nanos),
        }
    }
}
