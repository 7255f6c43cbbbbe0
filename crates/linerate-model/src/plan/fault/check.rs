//! Which hosts and directions a fault may name, and which faults do not go together.

use super::super::pair::host_name;
use super::super::target::TargetError;
use super::super::{Topology, WireKind};
use super::Fault;
use crate::vocabulary::{FaultEntry, FaultSite};

/// Faults that set the same thing of a direction.
const EXCLUSIVE: &[(&str, &str)] = &[("loss", "burst-loss")];

/// Whether a fault can act on that part of a lab: its hosts are not known yet.
pub(super) fn scope(entry: &FaultEntry, only: &str) -> Result<(), TargetError> {
    let name = entry.name;
    let is_host = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase());
    let (is_sound, hint) = match (entry.site, only.split_once('-')) {
        (FaultSite::Wire | FaultSite::WayBack, Some((from, to))) => {
            (is_host(from) && is_host(to) && from != to, format!("name two hosts: a-b:{name}"))
        }
        (FaultSite::Wire | FaultSite::WayBack, None) => {
            (false, format!("it acts on a direction between two hosts: a-b:{name}"))
        }
        (FaultSite::Host | FaultSite::Disk | FaultSite::Programs, None) => {
            (is_host(only), format!("no host is called so; try b:{name}"))
        }
        (FaultSite::Host | FaultSite::Disk | FaultSite::Programs, Some(_)) => {
            (false, format!("it acts on a host: b:{name}"))
        }
        (FaultSite::Hosts, _) => (false, format!("all hosts have it together: leave out `{only}:`")),
        (FaultSite::Process, _) => (false, format!("it acts on the whole machine: leave out `{only}:`")),
        (FaultSite::Flow, _) => (false, format!("it goes from host a to host b: leave out `{only}:`")),
        (FaultSite::Knobs(_), _) => (false, format!("it acts on the whole run: leave out `{only}:`")),
    };
    if is_sound { Ok(()) } else { Err(TargetError::new(format!("`{only}:{name}` is nowhere"), hint)) }
}

/// Whether a lab can have all of its faults.
pub(in super::super) fn check(topology: &Topology) -> Result<(), TargetError> {
    let names: Vec<String> = (0..topology.hosts).map(host_name).collect();
    for (at, fault) in topology.faults.iter().enumerate() {
        let named = fault.only.iter().flat_map(|only| only.split('-'));
        if let Some(stranger) = named.into_iter().find(|named| !names.iter().any(|name| name == named)) {
            let what = format!("fault {fault}: the lab has no host `{stranger}`");
            return Err(TargetError::new(what, format!("its hosts are {}", names.join(", "))));
        }
        if is_on_wire(fault) && matches!(topology.wire, WireKind::Netem | WireKind::TokenBucket) {
            let what = format!("fault {fault}: the kernel's own wires know no such fault");
            return Err(TargetError::new(what, "leave out wire="));
        }
        if let Some(other) = topology.faults[..at].iter().find(|other| collide(other, fault)) {
            let what = format!("the faults {other} and {fault} act on the same");
            return Err(TargetError::new(
                what,
                "leave one of them out, or name the host or direction of each",
            ));
        }
    }
    Ok(())
}

fn is_on_wire(fault: &Fault) -> bool {
    fault.entry().is_some_and(|entry| matches!(entry.site, FaultSite::Wire | FaultSite::WayBack))
}

/// Whether both set the same thing at the same place. Two busy processes may share a CPU or not.
fn collide(one: &Fault, other: &Fault) -> bool {
    let excludes = |(a, b): &(&str, &str)| {
        [(one, other), (other, one)].iter().any(|(x, y)| x.name == *a && y.name == *b)
    };
    let same = one.name == other.name && one.cpu().map(|cpu| cpu.0) == other.cpu().map(|cpu| cpu.0);
    let meet = one.only.is_none() || other.only.is_none() || one.only == other.only;
    meet && (same || EXCLUSIVE.iter().any(excludes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Result<(), TargetError> {
        Topology::read(text, &|_| unreachable!()).map(drop)
    }

    #[test]
    fn what_cannot_be_put_in_is_refused() {
        let cases = [
            ("fault=c:sack-off", "its hosts are a, b"),
            ("fault=b:tunnel", "leave out `b:`"),
            ("fault=loss,wire=netem", "leave out wire="),
            ("fault=loss=1%,fault=loss=2%", "act on the same"),
            ("fault=loss,fault=a-b:burst-loss", "act on the same"),
            ("fault=cpu-hog=0,fault=cpu-hog=0/50%", "act on the same"),
        ];
        for (text, part) in cases {
            let error = fault(text).unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
        for text in [
            "hosts=3,fault=c:sack-off",
            "fault=a-b:loss=1%,fault=b-a:loss=2%",
            "fault=cpu-hog=0,fault=cpu-hog=1",
            "fault=a:firewall-rules=5,fault=b:firewall-rules=6",
            "fault=sack-off,wire=tbf",
        ] {
            fault(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        }
    }
}
