//! Between which addresses data went, and what was asked of the ends that listen.

use super::shape::ListeningEntry;
use crate::analysis::Analysis;
use crate::diagnosis::used_address;
use crate::record::{HostFacts, Recording};
use crate::vocabulary::{Place, Rung};
use core::net::IpAddr;

/// What was asked, and the rungs for which it does not hold; none where nothing was asked.
pub(super) fn listening(recording: &Recording, analysis: &Analysis) -> Option<ListeningEntry> {
    let plan = recording.plan()?;
    let ports = plan.hosts.iter().find_map(|host| host.ports).map(|ports| ports.to_string());
    let host = plan.hosts.iter().find(|host| host.listens).map(|host| host.id);
    if ports.is_none() && host.is_none() {
        return None;
    }
    let mut not_of: Vec<String> = Vec::new();
    for layer in analysis.layers.iter().chain(&analysis.suite_layers) {
        let chooses = |rung: &Rung| rung.place == Place::Network && rung.transport.chooses_ports();
        if Rung::named(&layer.rung).is_some_and(chooses) && !not_of.contains(&layer.rung) {
            not_of.push(layer.rung.clone());
        }
    }
    Some(ListeningEntry { ports, host, not_of })
}

/// Whether the listening host is reached over IPv6, also by rungs that do not say so.
pub(super) fn is_v6(recording: &Recording) -> bool {
    let listens = |host: &&HostFacts| recording.plan().is_some_and(|plan| plan.listens(host.host));
    let listening = recording.hosts.iter().find(listens);
    listening.and_then(|host| host.address.as_ref()).and_then(|text| ip(text)).is_some_and(|ip| ip.is_ipv6())
}

/// A host's address in the network: of a connection where there was one, else the one that it is known by.
pub(super) fn address(recording: &Recording, host: &HostFacts) -> Option<String> {
    let own = used_address(recording, host.host);
    // Where both are the same one, what is known has the name of its zone.
    let known = host.address.iter().chain(&host.address6).find(|known| own.is_none() || ip(known) == own);
    known.cloned().or(own.map(|own| own.to_string()))
}

fn ip(text: &str) -> Option<IpAddr> {
    text.split('%').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::record::synthetic::Synthetic;
    use crate::report::Report;

    #[test]
    fn a_row_over_ipv6_says_so() {
        let mut recording = Synthetic::default().recording();
        let titles = |report: &Report| {
            let of =
                |id: &str| report.ladder.iter().find(|entry| entry.id == id).map(|entry| entry.title.clone());
            [of("network.tcp"), of("in-host.tcp")].map(Option::unwrap)
        };
        let usual = titles(&Report::from_recording(&recording));
        for host in &mut recording.hosts {
            host.address = Some(format!("fe80::{}%wire{0}", host.host.0));
        }
        let report = Report::from_recording(&recording);
        assert_eq!(titles(&report), [format!("{} over IPv6", usual[0]), usual[1].clone()]);
        let addresses: Vec<_> =
            report.run.hosts.iter().map(|host| host.address.as_deref().unwrap()).collect();
        assert_eq!(addresses, ["fe80::0%wire0", "fe80::1%wire1"]);
    }
}
