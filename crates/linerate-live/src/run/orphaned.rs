//! What a worker does once its agent's controller is gone: it sees to it that the agent ends, and with it all else.
//!
//! An agent ends with its controller's connection, and its workers with it. One that stands still does not see that end, nor
//! do those who wait for it; so each worker has that connection too, of which it reads nothing.

use crate::Result;
use linerate_sys::lifeline::{take_input, wait_for_end};
use linerate_sys::process::{Process, Signal};
use linerate_sys::thread;
use std::time::Duration;

/// How long an agent may take to see by itself that its controller is gone.
const SEES: Duration = Duration::from_secs(2);

/// How long it may take to put back what it set on its host.
const TIDIES: Duration = Duration::from_secs(60);

/// Watches over the agent that started this worker. It sleeps for as long as the controller is there.
pub fn watch() -> Result<()> {
    let line = take_input()?;
    let Some(agent) = Process::open(std::os::unix::process::parent_id())? else { return Ok(()) };
    thread::start("lifeline", move || {
        if wait_for_end(&line).is_ok() {
            end(&agent);
        }
    })?;
    Ok(())
}

/// With the agent this process ends.
fn end(agent: &Process) {
    let has_ended = |longest| agent.wait(longest).unwrap_or(false);
    if has_ended(SEES) {
        return;
    }
    // It may stand still, and ends in order when it goes on.
    let _ = agent.signal(Signal::Continue);
    if !has_ended(TIDIES) {
        let _ = agent.signal(Signal::Kill);
    }
}
