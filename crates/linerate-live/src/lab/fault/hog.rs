//! A process that keeps a CPU busy: the program itself, started for nothing else.

use super::super::journal;
use super::super::request::stranger;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::clock::monotonic_ns;
use linerate_sys::{spawn, thread};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The hidden subcommand under which [`main`] is reached.
pub const SUBCOMMAND: &str = "lab-hog";

/// A share is kept in each such time: short against a trial, long against a switch between threads.
const PERIOD_NS: u64 = 10_000_000;

/// What it says once it is where it should be.
const BUSY: &str = "busy";

/// Starts it, and waits until it is busy.
pub fn start(program: &Path, cpu: u32, share: f64) -> Result<ChildProcess> {
    let mut command = Command::new(program);
    command.args([SUBCOMMAND, &cpu.to_string(), &share.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    spawn::tie_to_parent(&mut command);
    journal::mark(&mut command);
    // It has nothing to tidy up.
    let process =
        ChildProcess::start(format!("the lab's busy process on CPU {cpu}"), Duration::ZERO, command)?;
    let mut said = String::new();
    if let Some((_, output)) = process.streams() {
        BufReader::new(output).read_line(&mut said).map_err(|e| Error::io("read", "its answer", e))?;
    }
    if said.trim_end() == BUSY {
        return Ok(process);
    }
    // It says by its code that it may not; who ended it otherwise is another matter.
    if let Some(verdict) = process.verdict()
        && process.status().is_none_or(|status| status.code().is_none())
    {
        return Err(Error::died(verdict));
    }
    let cpus = thread::allowed_cpus()?.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let what = format!("no process of ours may run on CPU {cpu}");
    Err(Error::unavailable(what, format!("those that may be used are {cpus}")))
}

/// Keeps a CPU busy until the process is ended; says so on `output` when it begins.
pub fn main(cpu: u32, share: f64, mut output: impl Write) -> Result<()> {
    if !(share > 0.0 && share <= 1.0) {
        return Err(stranger(&format!("{share} is no share of a CPU")));
    }
    thread::pin(&[cpu])?;
    // Without it each pause would be 50 us longer.
    let _ = thread::lower_timer_slack();
    let said = writeln!(output, "{BUSY}").and_then(|()| output.flush());
    said.map_err(|e| Error::io("write", "standard output", e))?;
    let busy_ns = (share * PERIOD_NS as f64) as u64;
    let mut begin = monotonic_ns();
    loop {
        while monotonic_ns() < begin + busy_ns {
            std::hint::spin_loop();
        }
        begin += PERIOD_NS;
        let now = monotonic_ns();
        match begin.checked_sub(now) {
            Some(left) if left > 0 && busy_ns < PERIOD_NS => std::thread::sleep(Duration::from_nanos(left)),
            // It was kept from its CPU for longer than a period: what it missed is not made up for.
            _ => begin = now,
        }
    }
}
