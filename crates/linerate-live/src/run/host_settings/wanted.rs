//! What a knob asks of which places of a host.

use super::access::{DEFAULT, cpus_with};
use super::place::Place;
use super::queue::{ABSENT, is_empty, mask, queues};
use crate::plan::{HostAddress, Setting, sysctl_value};
use crate::vocabulary::{AdapterNumbers, AdapterPlace, HOST_KNOBS, HostKnob, HostPlace};
use crate::{Error, Result};
use linerate_sys::ethtool::{OFFLOADS, Offload};
use linerate_sys::link;

/// What a CPU has that is at work: the kernel takes it away with the CPU (drivers/base/topology.c).
const ONLINE: &str = "topology";

/// Reads what a place held before it was first changed.
type Before<'b> = &'b dyn Fn(&Place) -> Result<String>;

/// What a knob asks of which places; `before` reads what was there.
pub fn wanted(
    setting: &Setting,
    address: Option<&HostAddress>,
    before: Before<'_>,
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
            let asked = setting.value.parse::<u32>();
            let asked = asked.map_err(|_| Error::usage(format!("{setting} is no number"), ""))?;
            of_adapter(numbers, &interface(address)?, asked, before).map(|one| vec![one])
        }
        HostPlace::EachReceiveQueue(file) => {
            let interface = interface(address)?;
            let cpus = if setting.value == "on" { cpus_with(ONLINE) } else { Vec::new() };
            let one = |queue| {
                let place = Place::OfQueue(file, queue, interface.clone());
                let value = mask(&before(&place)?, &cpus);
                Ok((place, value))
            };
            queues(&interface)?.into_iter().map(one).collect()
        }
        HostPlace::Mtu => Ok(vec![(Place::Mtu(interface(address)?), value())]),
        HostPlace::Offloads => {
            let interface = interface(address)?;
            let one = |offload: &Offload| (Place::Offload(offload.name, interface.clone()), value());
            Ok(OFFLOADS.iter().map(one).collect())
        }
    }
}

/// Numbers of an adapter, in the way in which it has them.
fn of_adapter(
    numbers: AdapterPlace,
    interface: &str,
    asked: u32,
    before: Before<'_>,
) -> Result<(Place, String)> {
    let place = Place::Numbers(numbers.name, interface.into());
    let had = before(&place)?;
    if numbers.numbers == AdapterNumbers::Channels {
        nothing_goes_with_queues(interface, before)?;
    }
    let fields = numbers.ways.concat();
    let one = |had: &str| {
        let name = had.split('=').next()?;
        let (_, value) = fields.iter().find(|(field, _)| *field == name)?;
        Some(format!("{name}={}", value.unwrap_or(asked)))
    };
    Ok((place, had.split(' ').filter_map(one).collect::<Vec<_>>().join(" ")))
}

/// What is set on a queue goes with it, and is not there when it comes back: so none goes where somebody set something.
fn nothing_goes_with_queues(interface: &str, before: Before<'_>) -> Result<()> {
    let files = HOST_KNOBS.iter().filter_map(|one| match one.place {
        HostPlace::EachReceiveQueue(file) => Some(file),
        _ => None,
    });
    // So does the table of flows, which nothing here sets.
    let files = files.chain(["rps_flow_cnt"]);
    let queues = queues(interface)?;
    let of_file = |file| queues.iter().map(move |queue| Place::OfQueue(file, *queue, interface.into()));
    for place in files.flat_map(of_file) {
        let found = before(&place)?;
        if found != ABSENT && !is_empty(&found) {
            let what = format!("{place} is {found}, which nobody could put back where the queue goes");
            return Err(Error::unavailable(what, ""));
        }
    }
    Ok(())
}

/// The interface that has the address at which the host is measured.
fn interface(address: Option<&HostAddress>) -> Result<String> {
    let none = || Error::unavailable("no interface has the address of this host", "say it: --address");
    let address = address.ok_or_else(none)?;
    let found = link::with_address(address.ip).map_err(Error::from)?;
    found.map(|link| link.name).ok_or_else(none)
}
