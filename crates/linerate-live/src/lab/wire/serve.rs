//! The wire's process: takes its order from standard input, forwards, and answers each line with an audit.
//!
//! It ends with its standard input, and so with the process that keeps the lab.

use super::forward::{Forwarder, Port};
use super::{Ask, Order};
use crate::{Error, Result};
use linerate_sys::netlink::Netlink;
use linerate_sys::packet::PacketSocket;
use linerate_sys::thread::{lower_timer_slack, run_first, take_short_turns};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;

/// Bytes that may wait at each port: some milliseconds at the highest rates.
const BUFFER_BYTES: usize = 32 << 20;

/// The shortest turn on a CPU that the kernel knows.
const TURN_NS: u64 = 100_000;

/// The longest line that is read.
const LONGEST_LINE: u64 = 16 << 20;

/// Forwards until `input` ends.
pub fn main(input: impl Read + AsFd, mut output: impl Write) -> Result<()> {
    let asked = input.as_fd().try_clone_to_owned().map_err(|e| Error::io("dup", "standard input", e))?;
    let mut lines = BufReader::new(input);
    let Some(order) = next_line(&mut lines)? else { return Ok(()) };
    let order: Order =
        serde_json::from_str(&order).map_err(|error| super::super::request::stranger(&error.to_string()))?;
    let ports = open(&order)?;
    hurry();
    let mut forwarder = Forwarder::new(ports, &order.wiring, order.seed)?;
    let mut answer = |text: String| -> Result<()> {
        let told = output.write_all(text.as_bytes()).and_then(|()| output.flush());
        told.map_err(|e| Error::io("write", "the wire's answer", e))
    };
    answer("\n".into())?;
    loop {
        forwarder.run(asked.as_fd())?;
        let Some(asked) = next_line(&mut lines)? else { return Ok(()) };
        let asked: Ask = serde_json::from_str(&asked)
            .map_err(|error| super::super::request::stranger(&error.to_string()))?;
        if let Ask::Hold(coalescing) = asked {
            forwarder.set_coalescing(coalescing);
        }
        let audit = serde_json::to_string(&forwarder.audit()?);
        answer(audit.map_err(|error| Error::io("encode", "an audit", error.into()))? + "\n")?;
    }
}

/// The next line; none where there is no more.
fn next_line(lines: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    let length = lines.take(LONGEST_LINE).read_line(&mut line);
    let length = length.map_err(|e| Error::io("read", "the wire's order", e))?;
    Ok((length > 0).then_some(line))
}

/// Best effort, and the audit shows what came of it: timed waits that are not 50 us late, and a CPU as soon as
/// they are over, also where others keep all CPUs busy. An ordinary user may only ask for short turns.
fn hurry() {
    let _ = lower_timer_slack();
    if run_first().is_err() {
        let _ = take_short_turns(TURN_NS);
    }
}

fn open(order: &Order) -> Result<Vec<Port>> {
    let mut netlink = Netlink::open()?;
    let port = |(name, hardware): &(String, [u8; 6])| -> Result<Port> {
        let link = netlink.link(name)?;
        let socket = PacketSocket::open(name, link.index, BUFFER_BYTES)?;
        Ok(Port { socket, hardware: *hardware })
    };
    order.ports.iter().map(port).collect()
}
