//! A file by another program: its service at the one end, the program at the other, in a lab alone.
//!
//! The time is that of the program, from its start to its end, and what the end that takes then waits for its disk: what they
//! say to each other in between is not in it.

use super::word::{Ask, Expect, Told, Wire};
use super::{End, nonsense};
use crate::workload::tool::play::{digest, longest, on_disk};
use crate::workload::tool::service::Serving;
use crate::workload::tool::{Bench, Files, Here, Site, TOOLS, Tool};
use crate::{Error, Result};
use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;

/// The program of that name, and with its best flags where these are asked for. Both ends look.
fn named(end: &End<'_>, name: &str, is_best: bool) -> Result<&'static Tool> {
    if !end.order.in_lab {
        let what = format!("{name} starts a service of its own, and these hosts are no lab's");
        return Err(Error::unavailable(what, "take a lab, or file.tool=linerate"));
    }
    let unknown = || Error::usage(format!("no program that moves files is called `{name}`"), "");
    let tool = TOOLS.iter().copied().find(|tool| tool.name == name).ok_or_else(unknown)?;
    if let Some(missing) = tool.missing(&Bench::programs()) {
        let hint = format!("apt-get install {}", tool.packages);
        return Err(Error::unavailable(format!("no {missing} on this host"), hint));
    }
    let none = || Error::unavailable(format!("better flags of {name} than it has"), "file.flags=shipped");
    let tool = if is_best { tool.best.ok_or_else(none)? } else { tool };
    if end.streams > 1 && tool.streams == [1] {
        let what = format!("{name} by {} streams: it has one", end.streams);
        return Err(Error::unavailable(what, "flows = [1]"));
    }
    Ok(tool)
}

/// Has it moved by another program.
pub fn send(
    end: &mut End<'_>,
    wire: &mut Wire<'_>,
    files: &Files,
    (name, is_best): (&str, bool),
) -> Result<u64> {
    wire.wait_for(files.bytes);
    let tool = named(end, name, is_best)?;
    let expect = Expect {
        tool: name.to_owned(),
        is_best,
        streams: end.streams,
        source: files.source.display().to_string(),
        bytes: files.bytes,
        digest: files.digest.to_hex().to_string(),
    };
    let Told::Expected(mut site) = wire.ask(&Ask::Expect(expect))? else { return Err(wire.out_of_turn()) };
    let ran_ns = match tool.pulls {
        false => tool.run(end.streams, false, &site, (&Here, longest(files.bytes)), &|| Ok(()))?,
        true => {
            let ip = end.addresses[0].ip();
            (site.address, site.port) = (ip, free_port(ip)?);
            let _serving = tool.service.start(&Here, &site)?;
            done(wire, &Ask::Fetch(site))?
        }
    };
    Ok(ran_ns + done(wire, &Ask::Compare)?)
}

fn done(wire: &mut Wire<'_>, ask: &Ask) -> Result<u64> {
    match wire.ask(ask)? {
        Told::Done { took_ns } => Ok(took_ns),
        _ => Err(wire.out_of_turn()),
    }
}

/// A port of this host at which nobody listens.
fn free_port(ip: IpAddr) -> Result<u16> {
    let free = TcpListener::bind((ip, 0)).and_then(|listener| listener.local_addr());
    free.map(|address| address.port()).map_err(|error| Error::io("bind", ip.to_string(), error))
}

/// The end that takes.
#[derive(Default)]
pub struct Sink {
    expected: Option<Expected>,
}

struct Expected {
    tool: &'static Tool,
    streams: u32,
    site: Site,
    digest: String,
    bytes: u64,
    _serving: Option<Serving>,
}

impl Sink {
    /// Prepares for a file; where the program sends it, its service is there when this returns.
    pub fn prepare(&mut self, expect: Expect, end: &mut End<'_>, most_bytes: u64) -> Result<Told> {
        let Expect { streams, bytes, digest, .. } = expect;
        if streams != end.streams || bytes > most_bytes {
            return Err(nonsense(end.order.host, "announces another file than was asked for"));
        }
        let tool = named(end, &expect.tool, expect.is_best)?;
        self.expected = None;
        let ip = end.addresses[0].ip();
        let mut site = end.bench.site(&PathBuf::from(expect.source), ip)?;
        site.port = free_port(ip)?;
        let serving = if tool.pulls { None } else { Some(tool.service.start(&Here, &site)?) };
        let told = Told::Expected(Box::new(site.clone()));
        self.expected = Some(Expected { tool, streams, site, digest, bytes, _serving: serving });
        Ok(told)
    }

    /// Fetches it from the service at the other end.
    pub fn fetch(&mut self, site: &Site, end: &End<'_>) -> Result<Told> {
        let expected = self.expected.as_mut().ok_or_else(|| out_of_turn(end))?;
        let site = Site { address: end.addresses[1].ip(), port: site.port, ..expected.site.clone() };
        let place = (&Here as _, longest(expected.bytes));
        let took_ns = expected.tool.run(expected.streams, false, &site, place, &|| Ok(()))?;
        Ok(Told::Done { took_ns })
    }

    /// Waits until it is on the disk; an error where it is not what was sent. Gives its bytes, and the time of the wait.
    pub fn compare(&mut self) -> Result<(u64, Told)> {
        let missing = || Error::usage("a file was compared that was not expected", "");
        let expected = self.expected.as_ref().ok_or_else(missing)?;
        let took_ns = on_disk(&expected.site.destination)?;
        if digest(&expected.site.destination)?.to_hex().as_str() != expected.digest {
            let what = "delivered something else than was sent";
            return Err(Error::peer(expected.tool.name, what, "it has no number"));
        }
        Ok((expected.bytes, Told::Done { took_ns }))
    }
}

fn out_of_turn(end: &End<'_>) -> Error {
    nonsense(end.order.host, "asks for what was not announced")
}
