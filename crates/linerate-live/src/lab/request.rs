//! What is said to a process that makes or keeps a lab, and its answer: one message each way on a Unix socket.

use super::site::Site;
use super::{Abilities, InForce, journal};
use crate::plan::Topology;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::socket::wait_readable;
use linerate_sys::{handover, spawn};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The hidden subcommand that starts a builder.
pub const BUILDER: &str = "lab-builder";

/// How long a lab may take to be built: the largest one takes a second or two.
const LIMIT: Duration = Duration::from_secs(60);

/// How long a builder may take to end when it has answered.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the builder is asked for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Hosts with so many adapters each, and wires.
    Build { topology: Box<Topology>, adapters: u32 },
    /// Only what could be built.
    Probe,
}

/// What is answered to who asked for a lab.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer<T> {
    /// It stands; the builder's descriptors come with the message.
    Built(T),
    /// It is not possible here.
    Refused { what: String, hint: String },
    /// A call failed that should not.
    Failed { what: String, errno: Option<i32>, why: String },
}

/// What was built.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Layout {
    pub hosts: Vec<Site>,
    pub user_namespace: bool,
    pub faults: Vec<InForce>,
    pub abilities: Option<Abilities>,
}

/// Starts a builder, asks it, and waits for its answer and its end.
pub(super) fn send(program: &Path, request: &Request) -> Result<(Layout, Vec<OwnedFd>)> {
    let (here, there) = handover::pair()?;
    let mut command = Command::new(program);
    command.arg(BUILDER).stdin(there).stdout(Stdio::null());
    spawn::tie_to_parent(&mut command);
    journal::mark(&mut command);
    // The command holds the other end of the socket, which must close when the child's does: it is gone now.
    let builder = ChildProcess::start("the lab's builder", PATIENCE, command)?;
    let (message, descriptors) = exchange(&here, request)?;
    match serde_json::from_slice::<Answer<Layout>>(&message) {
        Ok(answer) => Ok((answer.outcome()?, descriptors)),
        Err(_) => Err(builder.verdict().map_or_else(|| broken(program, "gave no answer"), Error::died)),
    }
}

/// Asks, and waits for the answer: an empty one where the other end is gone, or takes too long.
pub(super) fn exchange(socket: &OwnedFd, request: &impl Serialize) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    // Where the other end is gone already, receiving says so: there is no message.
    let _ = handover::send(socket, &encode(request)?, &[]);
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        if wait_readable(socket, deadline.saturating_duration_since(Instant::now()))? {
            return Ok(handover::receive(socket)?);
        }
    }
    Ok((Vec::new(), Vec::new()))
}

/// The error of a builder that does not keep to the protocol.
pub(super) fn broken(program: &Path, what: &str) -> Error {
    let who = format!("the lab's builder, `{} {}`", program.display(), BUILDER);
    Error::peer(who, what, "")
}

/// The error for whoever started a hidden subcommand by hand.
pub(super) fn stranger(what: &str) -> Error {
    Error::usage(what, "linerate starts this command itself, with a socket as standard input")
}

/// A message's bytes.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(message).map_err(|error| Error::io("encode", "a message", error.into()))
}

impl<T> Answer<T> {
    /// What was built, or why it was not.
    pub fn outcome(self) -> Result<T> {
        match self {
            Answer::Built(built) => Ok(built),
            Answer::Refused { what, hint } => Err(Error::unavailable(what, hint)),
            Answer::Failed { what, errno, why } => {
                let source = errno.map_or_else(|| io::Error::other(why), io::Error::from_raw_os_error);
                Err(Error::io("build the lab:", what, source))
            }
        }
    }
}

impl<T> From<Error> for Answer<T> {
    fn from(error: Error) -> Self {
        match error {
            Error::System(error) => Answer::Failed {
                what: error.to_string(),
                errno: error.source.raw_os_error(),
                why: error.source.to_string(),
            },
            other => {
                let hint = other.hint().unwrap_or_default().into();
                Answer::Refused { what: other.to_string(), hint }
            }
        }
    }
}
