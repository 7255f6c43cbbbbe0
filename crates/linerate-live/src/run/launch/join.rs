//! An agent that a launcher started: it calls its controller back, and serves it as any other agent does.

use super::rendezvous::PROOF;
use super::{Greeting, PROTOCOL, Reception};
use crate::control::{Opener, Seal, Sealer};
use crate::run::agent;
use crate::{Error, Result};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a controller is called.
const CALLS: Duration = Duration::from_secs(30);

/// How long one of its addresses is tried, and the time from one round to the next.
const TRY: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);

/// How long a controller that knows this agent may take to say whether it takes part: it waits for others meanwhile.
const RECEPTION: Duration = Duration::from_secs(60);

/// Whom an agent calls.
#[derive(Debug, Clone)]
pub struct Join {
    /// The controller's addresses, with commas.
    pub controller: String,
    /// What both have to prove.
    pub secret: String,
    /// Which of the started agents it is, as far as the launcher tells.
    pub place: Option<u32>,
    /// What the launcher calls its host and its allocation, `node/job`, where it tells.
    pub slot: Option<String>,
}

/// Calls the controller, and answers it until it goes away.
pub fn join(program: &Path, asked: &Join, base: &Path) -> Result<()> {
    let (opener, sealer) = call(asked)?;
    let [own, other] = opener.get_ref().ends().map_err(|e| Error::io("getsockname", "the controller", e))?;
    // As sshd tells it: who called whom.
    let ends = [other, own].map(|end| format!("{} {}", end.ip().to_canonical(), end.port()));
    agent::main(program, Some(&ends.join(" ")), base, opener, sealer)
}

fn call(asked: &Join) -> Result<(BufReader<Opener>, Sealer)> {
    let seal = Seal::from_secret(&asked.secret)?;
    let until = Instant::now() + CALLS;
    loop {
        let error = match round(asked, &seal) {
            Ok(ends) => return Ok(ends),
            // Being turned away is an answer; all else may pass.
            Err(error @ Error::Unavailable { .. }) => return Err(error),
            Err(error) => error,
        };
        if Instant::now() + PAUSE > until {
            return Err(error);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Tries each address once.
fn round(asked: &Join, seal: &Seal) -> Result<(BufReader<Opener>, Sealer)> {
    let mut failed = Error::usage(format!("--join {}: no address of a controller", asked.controller), "");
    for text in asked.controller.split(',') {
        let found: Vec<SocketAddr> = match text.to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(error) => {
                failed = Error::io("find", text, error);
                continue;
            }
        };
        for address in found {
            match met(asked, seal, address) {
                Err(error @ Error::Unavailable { .. }) => return Err(error),
                Err(error) => failed = error,
                Ok(ends) => return Ok(ends),
            }
        }
    }
    Err(failed)
}

fn met(asked: &Join, seal: &Seal, address: SocketAddr) -> Result<(BufReader<Opener>, Sealer)> {
    let lost = |e| Error::io("call", address.to_string(), e);
    let stream = TcpStream::connect_timeout(&address, TRY).map_err(lost)?;
    let (opener, mut sealer) = seal.connect(stream, PROOF)?;
    let greeting = Greeting {
        place: asked.place,
        slot: asked.slot.clone(),
        host: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned(),
        protocol: PROTOCOL.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        architecture: std::env::consts::ARCH.into(),
    };
    let mut line = serde_json::to_vec(&greeting).unwrap_or_default();
    line.push(b'\n');
    sealer.write_all(&line).map_err(lost)?;
    opener.limit(Some(RECEPTION));
    let mut opener = BufReader::new(opener);
    let mut line = Vec::new();
    (&mut opener).take(4096).read_until(b'\n', &mut line).map_err(lost)?;
    let none = || Error::peer(address.to_string(), "took no notice", "is that a controller?");
    let reception: Reception = serde_json::from_slice(&line).map_err(|_| none())?;
    opener.get_ref().limit(None);
    match reception.refused {
        Some(why) => Err(Error::unavailable(format!("{address} turns this host away: it {why}"), "")),
        None => Ok((opener, sealer)),
    }
}
