//! What a launcher must know of the host where it does not run itself.

use super::shell::{Access, Served, Shell};
use super::{Found, this_program};
use crate::transport::Spec;
use crate::{Error, Result};
use linerate_sys::link;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// The other host, as its own end tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// How commands are run there.
    pub shell: Access,
    /// What a rank there is.
    pub program: PathBuf,
    /// The libraries that it has.
    pub libraries: Vec<Placed>,
    /// The interface that has its address.
    pub interface: String,
}

/// A library on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Placed {
    /// The name that picks it.
    pub name: String,
    /// Its version, as it says it.
    pub version: String,
    /// Its file.
    pub path: PathBuf,
    /// Its ABI; none of what is no MPI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abi: Option<String>,
    /// What starts its ranks; none where nothing was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<PathBuf>,
}

impl Elsewhere {
    /// This host with what was found on it, for a launcher on the other one: commands are served as long as the first
    /// answer lives, by a shell that is started so.
    pub fn of_this_host(found: &[Found], address: Ipv4Addr, shell: Shell) -> Result<(Served, Elsewhere)> {
        let (served, shell) = Served::listen(address.into(), shell)?;
        let program = this_program()?;
        let libraries = found.iter().filter_map(of_this_host).collect();
        Ok((served, Elsewhere { shell, program, libraries, interface: interface_of(address.into())? }))
    }

    /// Its library of this name and, where it has it, of this version: two versions need not understand each other.
    pub fn placed(&self, name: &str, version: &str) -> Result<&Placed> {
        let of_name = || self.libraries.iter().filter(|library| library.name == name);
        let same = of_name().find(|library| library.version == version);
        let names: Vec<&str> = self.libraries.iter().map(|library| library.name.as_str()).collect();
        same.or_else(|| of_name().next()).ok_or_else(|| {
            let hint = match names.is_empty() {
                true => "it has none that is known".into(),
                false => format!("it has {}", names.join(", ")),
            };
            Error::unavailable(format!("the other host has no {name}"), hint)
        })
    }
}

fn of_this_host(found: &Found) -> Option<Placed> {
    let identity = found.identity.as_ref().ok()?;
    Some(Placed {
        name: identity.name.clone(),
        version: identity.version.clone(),
        path: found.path.clone(),
        abi: identity.abi.clone(),
        launcher: found.launcher.clone(),
    })
}

/// The interface with this address.
pub fn interface_of(address: IpAddr) -> Result<String> {
    let missing = || {
        let hint = "behind a translated address ranks do not find each other: --address with one of its own";
        Error::unavailable(format!("no interface of this host has {address}"), hint)
    };
    Ok(link::with_address(address)?.ok_or_else(missing)?.name)
}

/// The address of this end towards another host; none where both ends are on one. There an end's address is loopback's.
pub fn own_address(spec: &Spec) -> Result<Option<Ipv4Addr>> {
    match spec.address.as_ref().map(|address| address.ip) {
        None => Ok(None),
        Some(ip) if ip.is_loopback() => Ok(None),
        Some(IpAddr::V4(ip)) => Ok(Some(ip)),
        Some(address) => {
            Err(Error::unavailable(format!("ranks at {address}"), "launchers are told IPv4 addresses"))
        }
    }
}
