//! The process that keeps a lab: in the foreground, or started for it in the background.

use super::entry::Entry;
use super::inside::{Inside, inside};
use super::order::Order;
use super::register::Register;
use super::request::{self, Answer};
use super::{Lab, journal};
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::process::Process;
use linerate_sys::{handover, spawn};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The hidden subcommand of `lab` that a background holder is started with.
pub const SUBCOMMAND: &str = "hold";

/// How long a holder that could not put its lab up may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// A lab that this process keeps, with its record. Dropping it removes both.
#[derive(Debug)]
pub struct Holding {
    lab: Lab,
    entry: Entry,
    register: Register,
    is_abandoned: bool,
}

impl Holding {
    /// Builds the lab and writes its record.
    pub fn put_up(order: &Order, program: &Path) -> Result<Holding> {
        let register = Register::at(&order.base)?;
        register.refuse_taken(&order.name)?;
        journal::begin(&order.base)?;
        let mark = journal::mark_for_commands()?;
        let lab = Lab::build(&order.topology, program)?;
        let entry = Entry::for_lab(&lab, order, mark)?;
        register.claim(&entry)?;
        Ok(Holding { lab, entry, register, is_abandoned: false })
    }

    /// Its record.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The processes that the lab cannot go on without.
    pub fn processes(&self) -> impl Iterator<Item = &ChildProcess> {
        self.lab.processes()
    }

    /// Ends the lab because something in it died: its record stays, so that the next look tells of it.
    pub fn abandon(mut self) {
        self.is_abandoned = true;
    }

    /// Who is inside, and would stay there.
    pub fn inside(&self) -> Vec<Inside> {
        let hosts = self.entry.hosts.iter();
        let ids: Vec<&str> = hosts.flat_map(|host| &host.namespaces).map(|kept| kept.id.as_str()).collect();
        debug_assert_eq!(self.lab.hosts().len(), self.entry.hosts.len());
        let found = inside(&|id| ids.contains(&id));
        // In an ordinary user's lab its own processes are in its user namespace.
        let is_own = |one: &Inside| self.processes().any(|own| own.pid() == one.pid());
        found.into_iter().filter(|one| !is_own(one)).collect()
    }
}

impl Drop for Holding {
    /// The record goes before the lab. One that stays, stays without a holder, and goes at the next look.
    fn drop(&mut self) {
        if !self.is_abandoned {
            let _ = self.register.release(&self.entry);
        }
    }
}

/// Starts a process in the background that keeps a lab, and waits until that is up.
pub fn start(order: &Order, program: &Path) -> Result<Entry> {
    let (here, there) = handover::pair()?;
    let mut command = Command::new(program);
    command.args(["lab", SUBCOMMAND, &order.name]).current_dir("/");
    // It has a journal of its own, and is kept whatever becomes of who started it.
    command.env_remove(journal::VARIABLE);
    command.stdin(there).stdout(Stdio::null()).stderr(Stdio::null());
    spawn::leave_session(&mut command);
    let mut child = command.spawn().map_err(|e| Error::io("start", program.display().to_string(), e))?;
    // The command holds the other end of the socket, which must close when the child's does.
    drop(command);
    let (message, _) = request::exchange(&here, order)?;
    match serde_json::from_slice::<Answer<Entry>>(&message) {
        Ok(answer) => answer.outcome(),
        // Who closed its end has ended, or is about to; who hangs has not answered for long.
        Err(_) if message.is_empty() => {
            if !Process::open(child.id())?.map_or(Ok(true), |process| process.wait(PATIENCE))? {
                child.kill().map_err(|e| Error::io("kill", "the lab's holder", e))?;
            }
            let status = child.wait().map_err(|e| Error::io("wait for", "the lab's holder", e))?;
            Err(Error::died(format!("the lab's holder, process {}, ended with {status}", child.id())))
        }
        Err(error) => Err(Error::peer("the lab's holder", format!("gave no answer: {error}"), "")),
    }
}

/// The holder's part: reads the order from `socket`, follows it, answers. None where it could not be
/// followed, or where nobody waits for the answer any more.
pub fn serve(socket: impl AsFd, program: &Path) -> Result<Option<Holding>> {
    let (message, _) = handover::receive(&socket).map_err(|e| request::stranger(&e.to_string()))?;
    let order: Order = serde_json::from_slice(&message).map_err(|e| request::stranger(&e.to_string()))?;
    let holding = Holding::put_up(&order, program);
    let (answer, holding) = match holding {
        Ok(holding) => (Answer::Built(holding.entry.clone()), Some(holding)),
        Err(error) => (Answer::from(error), None),
    };
    let heard = handover::send(&socket, &request::encode(&answer)?, &[]).is_ok();
    Ok(holding.filter(|_| heard))
}
