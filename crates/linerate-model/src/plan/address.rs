//! An address of a host, with the zone that a link-local one needs.

use core::net::{IpAddr, Ipv6Addr};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// An address of a host, written `192.0.2.7` or `fe80::1%eth0` (RFC 4007, section 11).
///
/// The zone is an interface of the host that has the address: it means nothing at another one, and becomes a number
/// only there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostAddress {
    /// The address.
    pub ip: IpAddr,
    /// The interface, by its name or its number there.
    pub zone: Option<String>,
}

/// The longest name of an interface (`IFNAMSIZ` of linux/if.h, less the zero at its end).
const LONGEST_ZONE: usize = 15;

/// What is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NoAddress {
    /// What is wrong.
    pub what: String,
    /// What to try.
    pub hint: &'static str,
}

impl HostAddress {
    /// Whether it holds on one link only, so that it takes a zone to reach it (RFC 4291, section 2.5.6).
    pub fn is_link_local(&self) -> bool {
        matches!(self.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
    }

    /// Whether it is one of IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.ip.is_ipv6()
    }

    /// The same without its zone: as another host knows it.
    #[must_use]
    pub fn elsewhere(&self) -> HostAddress {
        self.ip.into()
    }
}

impl From<IpAddr> for HostAddress {
    fn from(ip: IpAddr) -> HostAddress {
        HostAddress { ip, zone: None }
    }
}

impl From<Ipv6Addr> for HostAddress {
    fn from(ip: Ipv6Addr) -> HostAddress {
        IpAddr::V6(ip).into()
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.zone {
            Some(zone) => write!(f, "{}%{zone}", self.ip),
            None => self.ip.fmt(f),
        }
    }
}

impl FromStr for HostAddress {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<HostAddress, NoAddress> {
        let (ip, zone) = text.split_once('%').map_or((text, None), |(ip, zone)| (ip, Some(zone)));
        let wrong = |what: String, hint| NoAddress { what, hint };
        let shown: String = text.chars().take(80).collect();
        let ip = ip.parse().map_err(|_| {
            wrong(
                format!("`{shown}` is not an IP address"),
                "192.0.2.7, 2001:db8::7 and fe80::7%eth0 are ones",
            )
        })?;
        let address = HostAddress { ip, zone: zone.map(String::from) };
        let is_name = |zone: &str| {
            let usual = |c: char| c.is_ascii_graphic() && !"/%\"'\\".contains(c);
            (1..=LONGEST_ZONE).contains(&zone.len()) && zone.chars().all(usual)
        };
        match zone {
            None => Ok(address),
            Some(_) if !address.is_link_local() => Err(wrong(
                format!("`{shown}`: only a link-local address (fe80::…) has a zone"),
                "leave out the part from % on",
            )),
            Some(zone) if is_name(zone) => Ok(address),
            Some(_) => Err(wrong(
                format!("`{shown}`: after % stands the name of an interface of that host"),
                "`ip -6 address` there shows it: fe80::7%eth0",
            )),
        }
    }
}

impl TryFrom<String> for HostAddress {
    type Error = NoAddress;

    fn try_from(text: String) -> Result<HostAddress, NoAddress> {
        text.parse()
    }
}

impl From<HostAddress> for String {
    fn from(address: HostAddress) -> String {
        address.to_string()
    }
}

impl JsonSchema for HostAddress {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HostAddress".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for text in ["192.0.2.7", "2001:db8::7", "fe80::7", "fe80::7%eth0", "fe80::7%2", "fe80::7%br-lan.10"]
        {
            assert_eq!(text.parse::<HostAddress>().unwrap().to_string(), text);
        }
        assert_eq!("fe80::7%eth0".parse::<HostAddress>().unwrap().elsewhere().to_string(), "fe80::7");
    }

    #[test]
    fn a_zone_is_an_interface_of_a_link_local_address() {
        for (text, part) in [
            ("host", "not an IP address"),
            ("", "not an IP address"),
            ("192.0.2.7%eth0", "only a link-local"),
            ("2001:db8::7%eth0", "only a link-local"),
            ("fe80::7%", "name of an interface"),
            ("fe80::7%a b", "name of an interface"),
            ("fe80::7%../../x", "name of an interface"),
            ("fe80::7%sixteen-letters-", "name of an interface"),
        ] {
            let error = text.parse::<HostAddress>().unwrap_err();
            assert!(error.what.contains(part), "{text}: {error}");
        }
    }
}
