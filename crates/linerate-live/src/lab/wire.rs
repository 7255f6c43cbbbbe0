//! The program's own wire: a process in the middle of the lab that hands frames from port to port, each when
//! a real link would have, and says how well it did.
//!
//! | part | does |
//! |---|---|
//! | [`serve`] | the process: order in, audits out |
//! | `forward` | frames from and to the ports |
//! | `course` | what is under way, in the order of its time |
//! | `doze` | when to stop sleeping before something is due |
//! | `link` | one direction of a link: rate, queue, loss, delay |
//! | `interrupt` | what a host's adapter holds before it hands it on |
//! | `flight`, `frame` | a part of a super-packet, and how it is cut |
//! | `audit` | how late frames were handed on |

mod audit;
mod course;
mod doze;
mod flight;
mod forward;
mod frame;
mod interrupt;
mod link;
pub mod serve;
#[cfg(test)]
mod tests;

use super::journal;
use crate::plan::{Coalescing, Wiring};
use crate::record::WireAudit;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::socket::wait_readable;
use linerate_sys::spawn;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The hidden subcommand of the wire's process.
pub const SUBCOMMAND: &str = "lab-wire";

/// How long it may take to answer: it does nothing that takes milliseconds.
const LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

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

/// What a wire at work is asked for: each is answered with an audit.
#[derive(Debug, Serialize, Deserialize)]
enum Ask {
    /// Nothing else.
    Audit,
    /// To hold what comes to the hosts so from now on.
    Hold(Coalescing),
}

/// A wire at work. Dropping it ends it.
#[derive(Debug)]
pub struct Wire {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Ends with its input, which is closed before.
    process: ChildProcess,
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
        journal::mark(&mut command);
        let process = ChildProcess::start("the lab's wire", PATIENCE, command)?;
        let Some((input, output)) = process.streams() else {
            return Err(Error::peer("the lab's wire", "has no standard streams", ""));
        };
        let mut wire = Wire { input, output: BufReader::new(output), process };
        wire.ask(&Order { ports, wiring, seed: rand::random() })?;
        Ok(wire)
    }

    /// What it did since it was last asked.
    pub fn audit(&mut self) -> Result<WireAudit> {
        self.audited(&Ask::Audit)
    }

    /// Holds what comes to the hosts so from now on; what it did before is told.
    pub fn hold(&mut self, coalescing: Coalescing) -> Result<WireAudit> {
        self.audited(&Ask::Hold(coalescing))
    }

    fn audited(&mut self, ask: &Ask) -> Result<WireAudit> {
        let answer = self.ask(ask)?;
        let broken = |error: serde_json::Error| Error::peer("the wire", error.to_string(), "");
        serde_json::from_str(&answer).map_err(broken)
    }

    /// Its process.
    pub fn process(&self) -> &ChildProcess {
        &self.process
    }

    fn ask(&mut self, what: &impl Serialize) -> Result<String> {
        let line = serde_json::to_string(what).map_err(|e| Error::io("encode", "an order", e.into()))?;
        // A pipe whose reader is gone says so, and so does the end of the answers.
        let mut answer = String::new();
        if writeln!(self.input, "{line}").is_ok() && self.is_heard()? {
            self.output.read_line(&mut answer).map_err(|e| Error::io("read", "the wire's answer", e))?;
        }
        if answer.is_empty() {
            let unknown = || "the lab's wire: ended its connection".into();
            return Err(Error::died(self.process.verdict().unwrap_or_else(unknown)));
        }
        Ok(answer)
    }

    /// Waits until there is an answer, or the end.
    fn is_heard(&self) -> Result<bool> {
        let deadline = Instant::now() + LIMIT;
        while Instant::now() < deadline {
            if wait_readable(self.output.get_ref(), deadline.saturating_duration_since(Instant::now()))? {
                return Ok(true);
            }
        }
        let what = format!("gave no answer for {} s", LIMIT.as_secs());
        Err(Error::peer("the lab's wire", what, "is it stopped, or the machine overloaded?"))
    }
}
