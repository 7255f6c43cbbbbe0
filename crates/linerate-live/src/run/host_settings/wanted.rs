//! What a knob asks of which places of a host.

use super::access::{DEFAULT, cpus_with};
use super::place::Place;
use crate::plan::{HostAddress, Setting, sysctl_value};
use crate::vocabulary::{HostKnob, HostPlace};
use crate::{Error, Result};
use linerate_sys::ethtool::{OFFLOADS, Offload};
use linerate_sys::link;

/// What a knob asks of which places; `before` reads what was there.
pub fn wanted(
    setting: &Setting,
    address: Option<&HostAddress>,
    before: &dyn Fn(&Place) -> Result<String>,
) -> Result<Vec<(Place, String)>> {
    let value = || setting.value.clone();
    let no_knob =
        || Error::usage(format!("{} is no setting of a host", setting.knob), "see `linerate list knobs`");
    match HostKnob::named(&setting.knob).ok_or_else(no_knob)?.place {
        HostPlace::Sysctl(file, how) => {
            let place = Place::Sysctl(file);
            let asked = sysctl_value(how, &before(&place)?, &setting.value);
            let odd = format!("{place} is not what this program knows");
            let asked = asked.ok_or_else(|| Error::unavailable(odd, "leave it out: --knob names others"))?;
            Ok(vec![(place, asked)])
        }
        HostPlace::EachCpu(place) => {
            let cpus = cpus_with(place.file);
            let none = || {
                let what = format!("no CPU has a {} that can be set: it is decided elsewhere", place.name);
                Error::unavailable(what, format!("leave {} out", setting.knob))
            };
            let one = |cpu: &u32| (Place::OfCpu(place.name, *cpu), value());
            if cpus.is_empty() { Err(none()) } else { Ok(cpus.iter().map(one).collect()) }
        }
        HostPlace::Queueing => {
            let place = Place::Queueing(interface(address)?);
            match before(&place)? {
                own if own == DEFAULT => Ok(vec![(place, value())]),
                found => {
                    Err(Error::unavailable(format!("{place} is {found}, which nobody could put back"), ""))
                }
            }
        }
        HostPlace::Adapter(numbers) => {
            let place = Place::Numbers(numbers.name, interface(address)?);
            let asked = setting.value.parse::<u32>();
            let asked = asked.map_err(|_| Error::usage(format!("{setting} is no number"), ""))?;
            let one = |(name, value): &(&str, Option<u32>)| format!("{name}={}", value.unwrap_or(asked));
            Ok(vec![(place, numbers.fields.iter().map(one).collect::<Vec<_>>().join(" "))])
        }
        HostPlace::Mtu => Ok(vec![(Place::Mtu(interface(address)?), value())]),
        HostPlace::Offloads => {
            let interface = interface(address)?;
            let one = |offload: &Offload| (Place::Offload(offload.name, interface.clone()), value());
            Ok(OFFLOADS.iter().map(one).collect())
        }
    }
}

/// The interface that has the address at which the host is measured.
fn interface(address: Option<&HostAddress>) -> Result<String> {
    let none = || Error::unavailable("no interface has the address of this host", "say it: --address");
    let address = address.ok_or_else(none)?;
    let found = link::with_address(address.ip).map_err(Error::from)?;
    found.map(|link| link.name).ok_or_else(none)
}
