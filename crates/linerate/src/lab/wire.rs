//! The program's own wire: a process in the middle of the lab that hands frames from port to port, each when
//! a real link would have, and says how well it did.
//!
//! | part | does |
//! |---|---|
//! | [`serve`] | the process: order in, audits out |
//! | `forward` | frames from and to the ports |
//! | `course` | what is under way, in the order of its time |
//! | `link` | one direction of a link: rate, queue, loss, delay |
//! | `flight`, `frame` | a part of a super-packet, and how it is cut |
//! | `audit` | what is told: counts, and lateness |

mod audit;
mod course;
mod flight;
mod forward;
mod frame;
mod link;
pub mod serve;
#[cfg(test)]
mod tests;

pub use audit::{Audit, Late};
pub use link::LinkCounts;

use crate::plan::Wiring;
use crate::{Error, Result};
use linerate_sys::spawn;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

/// The hidden subcommand of the wire's process.
pub const SUBCOMMAND: &str = "lab-wire";

/// What a wire is told first.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    /// Each host's port here, and the hardware address of the host.
    ports: Vec<(String, [u8; 6])>,
    /// What lies between them.
    wiring: Wiring,
    /// For what is left to chance.
    seed: u64,
}

/// A wire at work. Dropping it ends it.
#[derive(Debug)]
pub struct Wire {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Wire {
    /// Starts it in the namespaces of the switch, and waits until it forwards.
    pub(super) fn start(
        program: &Path,
        namespaces: Vec<Arc<OwnedFd>>,
        ports: Vec<(String, [u8; 6])>,
        wiring: Wiring,
    ) -> Result<Wire> {
        let mut command = Command::new(program);
        command.arg(SUBCOMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
        spawn::join_namespaces(&mut command, namespaces);
        spawn::tie_to_parent(&mut command);
        let mut process =
            command.spawn().map_err(|e| Error::io("spawn", program.display().to_string(), e))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::peer("the wire", "has no standard streams", ""));
        };
        let mut wire = Wire { process, input: Some(input), output: BufReader::new(output) };
        let order = Order { ports, wiring, seed: rand::random() };
        let order = serde_json::to_string(&order).map_err(|e| Error::io("encode", "an order", e.into()))?;
        wire.ask(&order)?;
        Ok(wire)
    }

    /// What it did since it was last asked.
    pub fn audit(&mut self) -> Result<Audit> {
        let answer = self.ask("audit")?;
        let broken = |error: serde_json::Error| Error::peer("the wire", error.to_string(), "");
        serde_json::from_str(&answer).map_err(broken)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    fn ask(&mut self, line: &str) -> Result<String> {
        let ended = || {
            let what = "ended while it was needed";
            Error::peer("the lab's wire", what, "what it said last is on standard error; then run again")
        };
        let input = self.input.as_mut().ok_or_else(ended)?;
        writeln!(input, "{line}").map_err(|_| ended())?;
        let mut answer = String::new();
        match self.output.read_line(&mut answer) {
            Ok(length) if length > 0 => Ok(answer),
            _ => Err(ended()),
        }
    }
}

impl Drop for Wire {
    /// It ends with its input.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.process.wait();
    }
}
