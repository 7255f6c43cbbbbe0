//! Opens a session: both ends offer, the offers travel, both join.

use super::host::Host;
use super::protocol::{JoinRequest, Joined, OfferRequest};
use super::step::{StepSession, rung};
use super::{PATIENCE, Runner};
use crate::control::Call;
use crate::plan::{Case, HostAddress, Role, Step};
use crate::record::{Granted, SessionRecord};
use crate::transport::{Offer, Spec};
use crate::vocabulary::{Family, Place, Rung};
use crate::{Error, Result};

/// One end of a session.
struct End {
    host: usize,
    worker: u32,
}

impl Runner<'_> {
    /// The passive end is asked first and is bound when it answers; then both join at once.
    pub(super) fn open(&mut self, step: &Step, step_session: &StepSession) -> Result<Vec<SessionRecord>> {
        let rung = rung(&step_session.case.rung)?;
        let ends = self.ends(step_session)?;
        let session = step_session.name.clone();
        let patience_ms = step.patience_ns / 1_000_000;
        let mut offers = Vec::new();
        for (index, end) in ends.iter().enumerate() {
            let listening = ends.first().filter(|_| index > 0);
            let is_passive = index == 0 && ends.len() > 1;
            let mut spec = Spec { patience_ms, ..self.spec(step_session.case, rung, end, is_passive) };
            if let Some(listening) = listening {
                let other = self.hosts.all[listening.host].end_of(rung);
                spec.address = self.hosts.all[end.host].end_towards(other.as_ref(), rung);
            }
            spec.adapters = self.adapters(step_session.case, rung, &ends);
            let request = OfferRequest { worker: end.worker, session: session.clone(), spec };
            let client = &mut self.hosts.all[end.host].client;
            offers.push(client.call::<Offer>("offer", &request, 2 * PATIENCE, &|| self.watch.check())?);
        }
        let mut calls: Vec<(usize, Call<Joined>)> = Vec::new();
        for (index, end) in ends.iter().enumerate() {
            let other = offers[(index + 1) % offers.len()].clone();
            let request = JoinRequest { worker: end.worker, session: session.clone(), other };
            calls.push((end.host, self.hosts.all[end.host].client.begin("join", &request)?));
        }
        let joined = self.gather(calls, 3 * PATIENCE)?;
        let records = ends.iter().zip(joined).map(|(end, joined)| SessionRecord {
            pass: step.pass,
            rung: step_session.case.rung.clone(),
            flows: step_session.case.flows,
            arm: step_session.case.arm,
            host: self.hosts.all[end.host].facts.host,
            worker: end.worker,
            granted: [joined.granted, self.granted_links(rung, end), self.hosts.granted_settings(end.host)]
                .concat(),
            endpoints: joined.endpoints,
        });
        Ok(records.collect())
    }

    /// The adapters of the end that listens, by which connections go in turn. Each pair of hosts begins with another
    /// one, so that those of many hosts are spread as well.
    fn adapters(&self, case: &Case, rung: &Rung, ends: &[End]) -> Vec<HostAddress> {
        let (Place::Network, Family::V4, [listening, connecting, ..]) = (rung.place, rung.family, ends)
        else {
            return Vec::new();
        };
        if case.flows < 2 {
            // One connection goes by the first, whatever is set.
            return Vec::new();
        }
        let count = self.plan.adapters_for(rung.id, case.arm);
        let mut all = self.hosts.all[listening.host].adapters(count);
        if !all.is_empty() {
            let first = (listening.host + connecting.host) % all.len();
            all.rotate_left(first);
        }
        all
    }

    /// What was set on the links that it crosses, and of the packet filter that it passes.
    fn granted_links(&self, rung: &Rung, end: &End) -> Vec<Granted> {
        match rung.place {
            Place::Network => {
                [&self.hosts.granted_links(end.host)[..], &self.hosts.filter.granted[..]].concat()
            }
            Place::InHost => Vec::new(),
        }
    }

    /// The ends of a session, the passive one first; a session serves both directions, so the order must not
    /// follow the roles.
    fn ends(&self, step_session: &StepSession) -> Result<Vec<End>> {
        let mut ends: Vec<End> = Vec::new();
        for role in &step_session.roles {
            let host = self.host(role)?;
            if !ends.iter().any(|end| (end.host, end.worker) == (host, role.worker)) {
                ends.push(End { host, worker: role.worker });
            }
        }
        let listens =
            |end: &End| self.plan.host(self.hosts.all[end.host].facts.host).is_some_and(|host| host.listens);
        ends.sort_by_key(|end| std::cmp::Reverse((listens(end), end.host, end.worker)));
        Ok(ends)
    }

    fn host(&self, role: &Role) -> Result<usize> {
        let index = self.hosts.all.iter().position(|host| host.facts.host == role.host);
        index.ok_or_else(|| Error::usage(format!("no host is called `{}`", role.host), ""))
    }

    fn spec(&self, case: &Case, rung: &Rung, end: &End, passive: bool) -> Spec {
        let host: &Host = &self.hosts.all[end.host];
        Spec {
            transport: rung.transport.name.into(),
            flows: case.flows,
            passive,
            address: host.end_of(rung),
            adapters: Vec::new(),
            ports: self.plan.host(host.facts.host).and_then(|host| host.ports),
            calls: case.pattern.calls(),
            settings: self.plan.settings_for(rung.id, case.arm).cloned().collect(),
            patience_ms: PATIENCE.as_millis() as u64,
        }
    }
}
