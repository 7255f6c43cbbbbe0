//! Whether what is measured between hosts takes the way between them: not through a proxy, nor by a tunnel's end.

use crate::plan::{HostAddress, HostId};
use crate::record::Environment;
use crate::{Error, Result};

/// Libraries that lead connections through a proxy, by how their files begin: proxychains, torsocks, tsocks, socksify of Dante.
const PROXIES: [&str; 5] = ["libproxychains", "libtorsocks", "libtsocks", "libdsocks", "libsocks."];

/// What to try where this program was started so.
const NOT_HERE: &str = "run linerate without it: env -u LD_PRELOAD linerate …; see also /etc/ld.so.preload; where ssh needs it, say ProxyCommand in ssh_config(5)";

/// What to try where another host starts it so, which does not have this program's variables.
const NOT_THERE: &str = "take it out there: LD_PRELOAD in ~/.ssh/environment, /etc/environment or what else pam_env(8) reads; /etc/ld.so.preload; a launcher may have taken it along from here";

/// Whom a proxy would stand between, and who can take it out.
#[derive(Debug, Clone, Copy)]
pub struct Proxied {
    /// The host is this machine.
    pub is_here: bool,
    /// Nothing is measured between hosts.
    pub stays_within: bool,
}

/// Refuses a host of which the program's own connections are led through a proxy: no number would be of the network.
pub fn past_proxies(id: HostId, environment: &Environment, proxied: Proxied) -> Result<()> {
    if proxied.stays_within {
        return Ok(());
    }
    let files = environment.host.get("process.interposers").and_then(|files| files.as_array());
    let is_proxy = |file: &&str| {
        let name = file.rsplit('/').next().unwrap_or_default();
        PROXIES.iter().any(|proxy| name.starts_with(proxy))
    };
    let found = files.into_iter().flatten().filter_map(|file| file.as_str()).find(is_proxy);
    found.map_or(Ok(()), |file| {
        let what = format!(
            "host {id}: {file} leads this program's connections through a proxy, which would be measured in place of the network"
        );
        Err(Error::unavailable(what, if proxied.is_here { NOT_HERE } else { NOT_THERE }))
    })
}

/// What makes the end of a tunnel as good an address as any.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddressUse {
    /// The user named the address: a port that is forwarded there may be meant.
    pub is_said: bool,
    /// All hosts are on this machine.
    pub is_alone: bool,
    /// Nothing is measured between hosts.
    pub stays_within: bool,
}

/// Refuses the address of a tunnel's end for that of a host on another machine: by ssh through a forwarded port the host
/// sees itself at 127.0.0.1, where the others reach themselves.
pub fn past_tunnels(id: HostId, address: &HostAddress, standing: AddressUse) -> Result<()> {
    if !address.ip.is_loopback() || standing.is_said || standing.is_alone || standing.stays_within {
        return Ok(());
    }
    let what = format!(
        "host {id} was reached at {}, the end of a tunnel or of a forwarded port: at which address the others reach it is not known",
        address.ip
    );
    Err(Error::unavailable(what, format!("say it: --address {id}=192.0.2.1")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_end_of_a_tunnel_is_no_address_of_a_host() {
        let of = |text: &str| past_tunnels(HostId(1), &text.parse().unwrap(), AddressUse::default());
        assert!(of("192.0.2.1").is_ok() && of("fe80::1%eth0").is_ok());
        for tunnel in ["127.0.0.1", "127.0.1.1", "::1"] {
            let refused = of(tunnel).unwrap_err();
            assert!(refused.to_string().contains("end of a tunnel"), "{refused}");
            // Who says so, or needs no way between hosts, may have it.
            for standing in [
                AddressUse { is_said: true, ..AddressUse::default() },
                AddressUse { is_alone: true, ..AddressUse::default() },
                AddressUse { stays_within: true, ..AddressUse::default() },
            ] {
                past_tunnels(HostId(1), &tunnel.parse().unwrap(), standing).unwrap();
            }
        }
    }

    const HERE: Proxied = Proxied { is_here: true, stays_within: false };

    #[test]
    fn a_proxy_is_not_measured_for_a_network() {
        let with = |files: &[&str]| {
            let mut environment = Environment::default();
            environment.host.insert("process.interposers".into(), json!(files));
            past_proxies(HostId(1), &environment, HERE)
        };
        assert!(past_proxies(HostId(1), &Environment::default(), HERE).is_ok());
        assert!(with(&[]).is_ok() && with(&["/usr/lib/libvma.so", "/opt/libsocksniff.so"]).is_ok());
        for proxy in [
            "/usr/lib/x86_64-linux-gnu/libproxychains.so.4",
            "/usr/local/lib/libproxychains4.so",
            "libtorsocks.so",
            "/usr/lib/x86_64-linux-gnu/libdsocks.so.0",
            "/usr/lib/libsocks.so.0",
        ] {
            let refused = with(&["/usr/lib/libvma.so", proxy]).unwrap_err();
            assert!(
                refused.to_string().contains(proxy) && refused.to_string().contains("proxy"),
                "{refused}"
            );
        }
    }

    #[test]
    fn what_to_try_against_a_proxy_is_of_the_host_that_has_it() {
        let mut environment = Environment::default();
        environment.host.insert("process.interposers".into(), json!(["/usr/lib/libtorsocks.so"]));
        let hint = |is_here| {
            let refused = past_proxies(HostId(1), &environment, Proxied { is_here, ..HERE }).unwrap_err();
            refused.hint().unwrap_or_default().to_owned()
        };
        assert!(hint(true).contains("env -u LD_PRELOAD linerate") && hint(true).contains("ProxyCommand"));
        assert!(!hint(false).contains("env -u") && hint(false).contains("~/.ssh/environment"));
        // It stands between hosts, and nothing is measured there.
        past_proxies(HostId(1), &environment, Proxied { stays_within: true, ..HERE }).unwrap();
    }
}
