//! What the program is to itself: processes that it starts, or has started, and that nobody starts by hand.

use super::join;
use super::output::print;
use crate::lab::fault::{disk, hog, rival, socket_memory};
use crate::lab::{builder, wire};
use crate::run::worker;
use crate::transport::foreign::library::{self, boot, supervise};
use crate::transport::foreign::{mpi, native, pvm, shmem, tcgmsg};
use clap::Subcommand;
use linerate_sys::allocation;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The hidden commands that launchers and daemons start: what those are told by variables is not for them.
pub const FROM_OUTSIDE: [&str; 6] =
    [mpi::ROLE, boot::ROLE, pvm::task::ROLE, shmem::pe::ROLE, tcgmsg::node::ROLE, supervise::ROLE];

#[derive(Debug, Subcommand)]
pub enum Role {
    /// Serve one host of a run, on the standard streams or to the controller that is called back.
    #[command(hide = true)]
    Agent(super::join::Agent),
    /// Hold sessions for an agent.
    #[command(hide = true)]
    Worker {
        /// The agent's socket.
        home: String,
    },
    /// Load a message library and say what it is.
    #[command(hide = true)]
    Library {
        /// The file.
        path: PathBuf,
        /// What the answer begins with.
        mark: String,
    },
    /// Play as a rank of a message library.
    #[command(hide = true)]
    Rank {
        /// The library.
        library: PathBuf,
        /// Its ABI.
        abi: String,
        /// Which threads may call.
        level: String,
        /// The sockets that the ranks call.
        homes: Vec<String>,
    },
    /// Play as a task of a message library.
    #[command(hide = true)]
    Task(WordArgument),
    /// Play as a processing element of OpenSHMEM.
    #[command(hide = true)]
    Element {
        /// What it is to be, and the sockets that the elements call.
        asked: Vec<String>,
    },
    /// Play as a node of TCGMSG.
    #[command(hide = true)]
    Node {
        /// The library, and the sockets that the nodes call.
        asked: Vec<String>,
    },
    /// Play as a rank of a library that MPIs carry their messages by.
    #[command(hide = true)]
    Endpoint(WordArgument),
    /// Start the daemons of a message library, and then its ranks.
    #[command(hide = true)]
    Boot(WordArgument),
    /// See to the end of a daemon.
    #[command(hide = true)]
    Keep(Keeping),
    /// Build the namespaces of a lab and hand them over.
    #[command(hide = true)]
    LabBuilder,
    /// Carry a lab's packets.
    #[command(hide = true)]
    LabWire,
    /// Keep a CPU busy for a lab.
    #[command(hide = true)]
    LabHog {
        /// The CPU.
        cpu: u32,
        /// The share of it that is taken.
        share: f64,
    },
    /// Send all the time to an address of a lab, or take what comes.
    #[command(hide = true)]
    LabRival {
        /// Streams.
        flows: u32,
        /// Where to; none takes what comes.
        to: Option<std::net::SocketAddr>,
    },
    /// Keep a control group for the programs on a host of a lab.
    #[command(hide = true)]
    LabGroup {
        /// What their sockets may hold.
        memory: String,
    },
    /// Serve a slow disk on a host of a lab.
    #[command(hide = true)]
    LabDisk {
        /// What passes in a second.
        rate: String,
    },
}

/// One that is told all in a word.
#[derive(Debug, clap::Args)]
pub struct WordArgument {
    /// What it is to be, or to do.
    pub asked: String,
}

/// One that sees to the end of a daemon.
#[derive(Debug, clap::Args)]
pub struct Keeping {
    /// Until the first program has ended, and not until all that it started have.
    #[arg(long)]
    pub until_end: bool,
    /// The folder of its files.
    pub folder: PathBuf,
    /// The socket of the end that it works for.
    pub home: String,
    /// The daemon and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Plays it.
pub fn main(role: Role) -> crate::Result<ExitCode> {
    // A parent that is linerate says what ended this process; sshd does not.
    let is_elsewhere =
        |agent: &join::Agent| agent.join.is_some() || std::env::var_os("SSH_CONNECTION").is_some();
    if !matches!(&role, Role::Agent(agent) if is_elsewhere(agent)) {
        allocation::leave_word_to_parent();
    }
    match role {
        Role::Agent(agent) => {
            join::main(&agent)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Worker { home } => {
            let secret = std::env::var(worker::SECRET).unwrap_or_default();
            worker::main(&home, &secret)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Library { path, mark } => {
            print(&library::line(&path, &mark))?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Rank { library, abi, level, homes } => {
            mpi::rank::main(&library, &abi, &level, &homes)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Task(how) => {
            pvm::task::main(&how.asked)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Element { asked } => {
            shmem::pe::main(&asked)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Node { asked } => {
            tcgmsg::node::main(&asked)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Endpoint(how) => {
            native::endpoint::main(&how.asked)?;
            Ok(ExitCode::SUCCESS)
        }
        Role::Boot(how) => Ok(ExitCode::from(boot::main(&how.asked)?)),
        Role::Keep(how) => {
            Ok(ExitCode::from(supervise::main(how.until_end, &how.folder, &how.home, &how.words)?))
        }
        Role::LabBuilder => {
            builder::main(std::io::stdin())?;
            Ok(ExitCode::SUCCESS)
        }
        Role::LabWire => {
            wire::serve::main(std::io::stdin(), std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Role::LabHog { cpu, share } => {
            hog::main(cpu, share, std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Role::LabRival { flows, to } => {
            rival::main(flows, to, std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Role::LabGroup { memory } => {
            socket_memory::main(&memory, std::io::stdin(), std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Role::LabDisk { rate } => {
            disk::main(&rate, std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
