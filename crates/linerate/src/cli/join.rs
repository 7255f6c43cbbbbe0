//! `linerate agent`: on the standard streams of who started it, or calling back the controller that had it started.

use super::runtime::runtime;
use crate::run::{Join, PLACES, SECRET, SLOT, agent, host_settings, join, this_program};
use crate::{Error, Result};
use linerate_sys::own_file::open_own;
use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest secret, and the least that none can guess.
const LONGEST: usize = 256;
const SHORTEST: usize = 32;

/// What of a file's mode is for others than its owner.
const OTHERS: u32 = 0o077;

/// What the names of launchers' variables begin with. An agent is not one of their ranks, and starts ranks of its own.
const OF_LAUNCHERS: &[&str] = &[
    "OMPI_",
    "OPAL_",
    "ORTE_",
    "PRTE_",
    "PMIX_",
    "PMI_",
    "HYDRA_",
    "HYDI_",
    "MPI_LOCAL",
    "MPIR_",
    "SLURM",
    "SRUN_",
];

/// How an agent meets its controller.
#[derive(Debug, clap::Args)]
pub struct Agent {
    /// Call the controller back there, the first of these that answers.
    #[arg(long, value_name = "HOST:PORT[,…]")]
    pub join: Option<String>,
    /// The file with the secret, of mode 0600, or `-` for the first line of standard input [default: the variable
    /// LINERATE_JOIN_SECRET].
    #[arg(long, value_name = "FILE", requires = "join")]
    pub secret_file: Option<PathBuf>,
    /// Which of the started agents it is, where no variable of a launcher says so.
    #[arg(long, value_name = "N", requires = "join")]
    pub place: Option<u32>,
    /// What the launcher calls its host and its allocation, by which another agent is started there.
    #[arg(long, value_name = "NODE/JOB", requires = "join")]
    pub slot: Option<String>,
}

/// Serves one host of a run.
pub fn main(args: &Agent) -> Result<()> {
    let program = this_program()?;
    let base = runtime();
    if let Some(controller) = &args.join {
        let launchers = variables();
        if !launchers.is_empty() {
            return without(&program, controller, args, &launchers);
        }
        let secret = secret(args.secret_file.as_deref())?;
        undo(&base);
        let (controller, slot) = (controller.clone(), args.slot.clone());
        return join(&program, &Join { controller, secret, place: args.place, slot }, &base);
    }
    undo(&base);
    let ssh = std::env::var("SSH_CONNECTION").ok();
    agent::main(&program, ssh.as_deref(), &base, std::io::stdin(), std::io::stdout())
}

/// Nobody reads what there would be to say of it here: `linerate undo` tells.
fn undo(base: &Path) {
    let _ = host_settings::undo(base, false);
}

/// The variables of launchers that this process has.
fn variables() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| OF_LAUNCHERS.iter().any(|of| name.starts_with(of))).collect()
}

/// Becomes the same agent without them.
fn without(program: &Path, controller: &str, args: &Agent, variables: &[String]) -> Result<()> {
    let told = PLACES.iter().find_map(|name| std::env::var(name).ok()?.parse::<u32>().ok());
    let mut command = Command::new(program);
    command.args(["agent", "--join", controller]);
    if let Some(file) = &args.secret_file {
        command.arg("--secret-file").arg(file);
    }
    if let Some(place) = args.place.or(told) {
        command.args(["--place", &place.to_string()]);
    }
    if let Some(slot) = slot(SLOT.map(|name| std::env::var(name).ok()), args.slot.as_deref()) {
        command.args(["--slot", &slot]);
    }
    variables.iter().for_each(|name| _ = command.env_remove(name));
    Err(Error::io("execute", program.display().to_string(), command.exec()))
}

/// Where it sits: the node and the job of its launcher, or what is said by hand.
fn slot(told: [Option<String>; 2], by_hand: Option<&str>) -> Option<String> {
    match told {
        [Some(node), Some(job)] => Some(format!("{node}/{job}")),
        _ => by_hand.map(str::to_owned),
    }
}

fn secret(file: Option<&Path>) -> Result<String> {
    let hint =
        "give it by LINERATE_JOIN_SECRET, by --secret-file FILE, or on standard input: --secret-file -";
    let text = match file {
        None => std::env::var(SECRET).map_err(|_| Error::usage("no secret is given", hint))?,
        Some(file) if file == Path::new("-") => first_line(std::io::stdin().lock(), "standard input")?,
        Some(file) => {
            let name = file.display().to_string();
            let none = || Error::usage(format!("--secret-file {name}: there is no such file"), hint);
            let file = open_own(file)?.ok_or_else(none)?;
            let found = file.metadata().map_err(|e| Error::io("stat", &name, e))?;
            if found.permissions().mode() & OTHERS != 0 {
                let what = format!("--secret-file {name}: others may read it");
                return Err(Error::usage(what, format!("chmod 600 {name}")));
            }
            first_line(std::io::BufReader::new(file), &name)?
        }
    };
    let text = text.trim();
    if text.len() < SHORTEST {
        return Err(Error::usage(format!("the secret has fewer than {SHORTEST} characters"), hint));
    }
    Ok(text.to_owned())
}

fn first_line(source: impl BufRead, name: &str) -> Result<String> {
    let mut line = String::new();
    let read = source.take(LONGEST as u64).read_line(&mut line);
    read.map_err(|e| Error::io("read", name, e))?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_the_launchers_or_that_said_by_hand() {
        let told = |node: Option<&str>, job: Option<&str>| {
            slot([node, job].map(|it| it.map(str::to_owned)), Some("n2/7"))
        };
        assert_eq!(told(Some("n1"), Some("9")).as_deref(), Some("n1/9"));
        assert_eq!([told(None, Some("9")), told(None, None)].map(Option::unwrap), ["n2/7", "n2/7"]);
        assert_eq!(slot([None, None], None), None);
    }
}
