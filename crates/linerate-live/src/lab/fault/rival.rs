//! Streams of nobody's between two hosts of a lab: the program itself at both ends, started for nothing else.

use super::super::VirtualHost;
use super::super::request::stranger;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::thread;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The hidden subcommand under which [`main`] is reached.
pub const SUBCOMMAND: &str = "lab-rival";

/// What is handed over with one call.
const CHUNK: usize = 64 << 10;

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 1 << 10;

/// Streams that one fault may ask for.
const MOST: u32 = 16;

/// Starts who takes, then who sends, and waits until it does. Says what is under way.
pub(super) fn start(
    program: &Path,
    (from, to): (&VirtualHost, &VirtualHost),
    flows: &str,
) -> Result<(Vec<ChildProcess>, String)> {
    let (taking, port) = begun(program, to, &[flows])?;
    let port: u16 = port.parse().map_err(|_| stranger(&format!("{port} is no port")))?;
    let address = SocketAddr::new(to.address, port);
    let (sending, said) = begun(program, from, &[flows, &address.to_string()])?;
    Ok((vec![taking, sending], format!("{said} to {address}")))
}

/// One of both, once it has said its line.
fn begun(program: &Path, host: &VirtualHost, words: &[&str]) -> Result<(ChildProcess, String)> {
    let mut command = host.command(program);
    command.arg(SUBCOMMAND).args(words).stderr(Stdio::null());
    let role = format!("the lab's competing flow on host {}", host.name);
    // It has nothing to tidy up.
    let process = ChildProcess::start(&role, Duration::ZERO, command)?;
    let mut said = String::new();
    if let Some((_, output)) = process.streams() {
        let mut output = BufReader::new(output.take(LONGEST_ANSWER));
        output.read_line(&mut said).map_err(|e| Error::io("read", "its answer", e))?;
    }
    match said.trim_end() {
        "" => Err(Error::died(process.verdict().unwrap_or_else(|| format!("{role}: gave no answer").into()))),
        said => Ok((process, said.to_owned())),
    }
}

/// Takes so many streams and throws away what comes, or sends as many, until the process is ended.
pub fn main(flows: u32, to: Option<SocketAddr>, output: impl Write) -> Result<()> {
    if !(1..=MOST).contains(&flows) {
        return Err(stranger(&format!("{flows} streams")));
    }
    match to {
        Some(address) => send(flows, address, output),
        None => take(flows, output),
    }
}

fn say(line: &str, mut output: impl Write) -> Result<()> {
    let said = writeln!(output, "{line}").and_then(|()| output.flush());
    said.map_err(|e| Error::io("write", "standard output", e))
}

fn take(flows: u32, output: impl Write) -> Result<()> {
    let listening =
        TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind(("0.0.0.0", 0)));
    let listener = listening.map_err(|e| Error::io("bind", "a port of the lab", e))?;
    let port = listener.local_addr().map_err(|e| Error::io("getsockname", "a port of the lab", e))?.port();
    say(&port.to_string(), output)?;
    let accepted = (0..flows).map(|_| listener.accept().map(|(stream, _)| stream));
    let streams: Vec<TcpStream> =
        accepted.collect::<std::io::Result<_>>().map_err(|e| Error::io("accept", "the lab's stream", e))?;
    thread::together(
        "rival",
        streams.into_iter().map(|mut stream| {
            move || {
                let mut chunk = vec![0; CHUNK];
                while stream.read(&mut chunk).is_ok_and(|came| came > 0) {}
            }
        }),
    )?;
    Ok(())
}

fn send(flows: u32, address: SocketAddr, output: impl Write) -> Result<()> {
    let connected = (0..flows).map(|_| TcpStream::connect(address));
    let streams: Vec<TcpStream> = connected
        .collect::<std::io::Result<_>>()
        .map_err(|e| Error::io("connect", address.to_string(), e))?;
    let streams_are = if flows == 1 { "1 stream".to_owned() } else { format!("{flows} streams") };
    say(&streams_are, output)?;
    thread::together(
        "rival",
        streams.into_iter().map(|mut stream| {
            move || {
                let chunk = vec![0; CHUNK];
                while stream.write_all(&chunk).is_ok() {}
            }
        }),
    )?;
    Ok(())
}
