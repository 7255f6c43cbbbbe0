//! The packet filter of a step: set on the hosts where it is to stand, and proof that the step's packets passed it.

use super::Runner;
use super::host::Hosts;
use super::protocol::TrialAnswer;
use super::standing_filter::StandingFilter;
use crate::control::Check;
use crate::lab::FilterOrder;
use crate::plan::{FilterDuty, FilterSettings, HostId, Pairs, Step};
use crate::record::{Granted, HostDelta};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// How long a host may take to load rules: the most take a second.
const LOADED: Duration = Duration::from_secs(60);

/// The counter of a step's host: packets that met the rules.
const PASSED: &str = "filter.packets";

impl Runner<'_> {
    /// Makes the lab's packet filter what the step asks for: of other hosts the schedule asks for none.
    pub(super) fn set_filter(&mut self, step: &Step) -> Result<()> {
        let wanted = self.plan.filter_for(&step.case.rung, step.case.arm);
        self.hosts.set_filter(wanted, &step.case.pairs, &|| self.watch.check())
    }

    /// Packets that each host's rules have let pass, where it has any.
    pub(super) fn filter_passed(&mut self) -> Result<BTreeMap<usize, u64>> {
        self.hosts.filter_passed(&|| self.watch.check())
    }

    /// Adds to what the hosts counted what passed their rules since they were last asked. Where nothing did, the numbers are
    /// not of these rules.
    pub(super) fn see_what_passed(
        &mut self,
        before: &BTreeMap<usize, u64>,
        duration_ns: u64,
        answers: &mut Vec<(HostId, TrialAnswer)>,
    ) -> Result<()> {
        for (host, now) in self.filter_passed()? {
            let packets = now.saturating_sub(before.get(&host).copied().unwrap_or(0));
            let id = self.hosts.all[host].facts.host;
            if packets == 0 {
                let what = format!("no packet passed the rules of the packet filter of host {id}");
                return Err(Error::unavailable(
                    what,
                    "its packets must be of IPv4: network.tcp, network.udp",
                ));
            }
            let counted = (PASSED.to_owned(), packets);
            match answers.iter_mut().find(|(of, _)| *of == id) {
                Some((_, answer)) => answer.host.counters.extend([counted]),
                // A host between the ends plays no part of its own.
                None => {
                    let counters = [counted].into();
                    let host = HostDelta { host: id, wall_ns: duration_ns, counters, ..HostDelta::default() };
                    answers.push((id, TrialAnswer { host, parts: Vec::new(), series: Vec::new() }));
                }
            }
        }
        Ok(())
    }
}

impl Hosts {
    pub(super) fn set_filter(
        &mut self,
        wanted: Option<FilterSettings>,
        pairs: &Pairs,
        check: Check<'_>,
    ) -> Result<()> {
        // Of hosts that are no lab's nothing is changed: the schedule asks for nothing there.
        if self.lab.is_none() {
            return Ok(());
        }
        let ids: Vec<HostId> = self.all.iter().map(|host| host.facts.host).collect();
        let duty =
            |id: &HostId| wanted.as_ref().map_or_else(FilterDuty::default, |one| one.duty(pairs, &ids, *id));
        let duties: Vec<FilterDuty> = ids.iter().map(duty).collect();
        // Where a host fails in what follows, nobody knows what stands.
        let before = std::mem::replace(&mut self.filter, StandingFilter::unsure());
        if !before.is_unsure && before.settings == wanted && (before.duties == duties || wanted.is_none()) {
            self.filter = before;
            return Ok(());
        }
        let addresses: BTreeMap<HostId, Ipv4Addr> =
            self.all.iter().filter_map(|host| Some((host.facts.host, v4(host.address.ip)?))).collect();
        let mut granted = Vec::new();
        for (at, (host, duty)) in self.all.iter_mut().zip(&duties).enumerate() {
            let had = before.duties.get(at).is_some_and(|had| *had != FilterDuty::default());
            if !had && !before.is_unsure && *duty == FilterDuty::default() {
                continue;
            }
            let route = |(to, via): &(HostId, HostId)| Some((*addresses.get(to)?, *addresses.get(via)?));
            let routes = duty.routes.iter().filter_map(route).collect();
            let order = FilterOrder { filter: wanted.clone(), hook: duty.hook, routes };
            let told = host.client.call::<Vec<Granted>>("filter", &order, LOADED, check);
            granted.extend(told.map_err(|error| error.on_host(&host.facts.host))?);
        }
        granted.dedup();
        self.filter = StandingFilter { settings: wanted, duties, granted, is_unsure: false };
        Ok(())
    }

    fn filter_passed(&mut self, check: Check<'_>) -> Result<BTreeMap<usize, u64>> {
        let mut passed = BTreeMap::new();
        for (at, _) in self.filter.duties.iter().enumerate().filter(|(_, duty)| duty.hook.is_some()) {
            let host = &mut self.all[at];
            let told = host.client.call::<Option<u64>>("filter-passed", &(), LOADED, check);
            let told = told.map_err(|error| error.on_host(&host.facts.host))?;
            passed.extend(told.map(|packets| (at, packets)));
        }
        Ok(passed)
    }
}

fn v4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}
