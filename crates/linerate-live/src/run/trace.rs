//! Traces exchanges between the first two hosts of a run: block after block, without stamps and with them.

mod order;
mod sampling;

pub use order::TraceOrder;

use super::host_settings::is_of_host;
use super::{PATIENCE, Runner};
use crate::control::Call;
use crate::plan::{PATIENCE_NS, Pairs, Setting, Target};
use crate::record::{Trace, TraceBlock, TraceHost, leave_out};
use crate::trace::{Answered, BlockRequest, MeetRequest, Met, OfferRequest, Played, Request};
use crate::transport::{Offer, Spec};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use sampling::{by_place, is_of};
use std::time::Duration;

/// The rung whose links and packet filter the connection has.
const RUNG: &str = "network.tcp";

/// How long both ends may take to answer what takes no exchanges.
pub(super) const ANSWERS: Duration = PATIENCE.saturating_mul(12);

/// The hosts' places in the run: `a` asks, `b` answers.
pub(super) const ASKING: usize = 0;
pub(super) const ANSWERING: usize = 1;

/// What the ends are to see, and of what.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted {
    /// The highest level.
    pub level: u8,
    /// Whether it is of streams.
    pub streams: bool,
    /// Whether messages go as datagrams.
    pub datagrams: bool,
    /// Bytes of a message.
    pub bytes: u64,
}

impl Runner<'_> {
    /// Traces; `told` hears how many pairs of blocks are done.
    pub fn trace(&mut self, order: &TraceOrder, told: &mut dyn FnMut(u32, u32)) -> Result<Trace> {
        let met = self.trace_meet(Wanted {
            level: order.level,
            datagrams: order.datagrams,
            streams: false,
            bytes: order.bytes,
        })?;
        order.check(&[met[ASKING].level, met[ANSWERING].level])?;
        let passed = self.filter_passed()?;
        let cpus = self.trace_cpus();
        let mut trace = Trace {
            target: self.plan.target.to_string(),
            message_bytes: order.bytes,
            writes: order.writes,
            datagrams: order.datagrams,
            knobs: self.plan.settings.iter().map(ToString::to_string).collect(),
            hosts: self.trace_hosts(met, cpus),
            blocks: Vec::new(),
        };
        let all = order.blocks * order.waits.len() as u32;
        for round in 0..order.blocks {
            for wait in &order.waits {
                told(trace.blocks.len() as u32, all);
                trace.blocks.push(self.trace_pair(order, *wait, round, cpus)?);
            }
        }
        self.ask_both([Request::End, Request::End], ANSWERS)?;
        self.see_what_passed(&passed, 0, &mut Vec::new())?;
        Ok(trace)
    }

    /// What each host lets this program see.
    pub(super) fn trace_hosts(&self, met: [Met; 2], cpus: [u32; 2]) -> Vec<TraceHost> {
        let all = met.into_iter().zip(&self.hosts.all).zip(cpus);
        let host = |((met, host), cpu): ((Met, &super::host::Host), u32)| TraceHost {
            host: host.facts.host,
            level: met.level,
            refused: met.refused,
            missing: met.missing,
            cpu,
            environment: host.facts.environment.clone(),
        };
        all.map(host).collect()
    }

    /// The first CPU of the one, the last one of the other: they may be the same machine.
    pub(super) fn trace_cpus(&self) -> [u32; 2] {
        let cpus = |host: usize| &self.hosts.all[host].facts.cpus;
        let first = cpus(ASKING).first().copied().unwrap_or_default();
        [first, cpus(ANSWERING).last().copied().unwrap_or_default()]
    }

    /// Which of a pair comes first alternates: what drifts is in both alike.
    fn trace_pair(
        &mut self,
        order: &TraceOrder,
        wait: Wait,
        round: u32,
        cpus: [u32; 2],
    ) -> Result<TraceBlock> {
        let mut block = TraceBlock { wait, every: order.every, ..TraceBlock::default() };
        for traced in [round % 2 == 1, round.is_multiple_of(2)] {
            let [mut asking, mut answering] = self.trace_block(order, wait, traced, cpus)?;
            let lost = std::mem::take(&mut asking.lost);
            block.lost_exchanges += lost.len() as u64;
            match traced {
                true => {
                    let (by_place, unseen) = by_place(&asking.round_trips_ns, &lost, order.every as usize);
                    (block.traced_ns, block.between_ns) = by_place;
                    asking.side.leave_out(&unseen);
                    answering.side.leave_out(&unseen);
                    (block.asking, block.answering) = (asking.side, answering.side);
                    block.kept_awake = asking.kept_awake && answering.kept_awake;
                }
                false => {
                    leave_out(&mut asking.round_trips_ns, &lost);
                    block.untraced_ns = asking.round_trips_ns;
                }
            }
        }
        Ok(block)
    }

    fn trace_block(
        &mut self,
        order: &TraceOrder,
        wait: Wait,
        traced: bool,
        cpus: [u32; 2],
    ) -> Result<[Played; 2]> {
        let exchanges = order.played();
        let request = |asks: bool, cpu: u32| {
            let TraceOrder { bytes, every, writes, .. } = *order;
            Request::Block(BlockRequest { asks, bytes, exchanges, every, wait, traced, cpu, writes })
        };
        // Each exchange has a patience of its own: over a long path a block takes as many of its round trips.
        let limit = ANSWERS + Duration::from_secs(u64::from(exchanges));
        let requests = [request(true, cpus[ASKING]), request(false, cpus[ANSWERING])];
        let mut answers = self.ask_both(requests, limit)?.into_iter();
        let mut next = |asks: bool| match answers.next() {
            Some(Answered::Played(played)) if is_of(&played, asks, exchanges, order.every) => Ok(*played),
            _ => Err(out_of_turn()),
        };
        Ok([next(true)?, next(false)?])
    }

    pub(super) fn trace_meet(&mut self, wanted: Wanted) -> Result<[Met; 2]> {
        self.set_for_connection()?;
        let listens = |at: usize| {
            let id = self.hosts.all[at].facts.host;
            self.plan.host(id).is_some_and(|host| host.listens)
        };
        let passive = if listens(ASKING) { ASKING } else { ANSWERING };
        let active = ASKING + ANSWERING - passive;
        let mut offer = Offer::Nothing;
        for end in [passive, active] {
            let host = &self.hosts.all[end];
            let spec = Spec {
                flows: 1,
                passive: end == passive,
                address: Some(host.address.clone()),
                ports: self.plan.host(host.facts.host).and_then(|host| host.ports),
                settings: self.plan.settings.clone(),
                patience_ms: PATIENCE_NS / 1_000_000,
                ..Spec::default()
            };
            match self.ask_tracing(end, &Request::Offer(OfferRequest { spec }))? {
                Answered::Offered(Offer::Nothing) => {}
                Answered::Offered(told) => offer = told,
                _ => return Err(out_of_turn()),
            }
        }
        let of = |end: usize| {
            let other = if end == passive { Offer::Nothing } else { offer.clone() };
            let Wanted { level, streams, datagrams, bytes } = wanted;
            Request::Meet(MeetRequest { other, level, streams, datagrams, bytes })
        };
        let mut answers = self.ask_both([of(ASKING), of(ANSWERING)], ANSWERS)?.into_iter();
        let mut next = || match answers.next() {
            Some(Answered::Met(met)) => Ok(met),
            _ => Err(out_of_turn()),
        };
        let mut met = [next()?, next()?];
        // Who asks has the last answer, and its programs run until then.
        if let Some(programs) = met[ASKING].programs.take() {
            self.ask_tracing(ANSWERING, &Request::Share(programs))?;
        }
        Ok(met)
    }

    /// Makes links, packet filter and hosts of a lab what is asked for: of others nothing is changed.
    fn set_for_connection(&mut self) -> Result<()> {
        /// No arm but the plan as it stands.
        const ARM: u32 = 0;
        let Target::Lab(topology) = &self.plan.target else { return Ok(()) };
        let links = self.plan.links_for(RUNG, ARM);
        let filter = self.plan.filter_for(RUNG, ARM);
        let of_hosts: Vec<Setting> =
            self.plan.settings.iter().filter(|setting| is_of_host(setting, true)).cloned().collect();
        let pair = Pairs::single(self.hosts.all[ASKING].facts.host, self.hosts.all[ANSWERING].facts.host);
        let check = || self.watch.check();
        self.hosts.set_links(links, topology.coalescing, &check)?;
        self.hosts.set_filter(filter, &pair, &check)?;
        if of_hosts.is_empty() { Ok(()) } else { self.hosts.set_settings(&of_hosts, &check) }
    }

    fn ask_tracing(&mut self, end: usize, request: &Request) -> Result<Answered> {
        let host = &mut self.hosts.all[end];
        let answer = host.client.call("trace", request, 2 * PATIENCE, &|| self.watch.check());
        answer.map_err(|error| error.on_host(&host.facts.host))
    }

    /// Both at once, the answering one first.
    pub(super) fn ask_both(
        &mut self,
        [asking, answering]: [Request; 2],
        limit: Duration,
    ) -> Result<Vec<Answered>> {
        let mut calls: Vec<(usize, Call<Answered>)> = Vec::new();
        for (end, request) in [(ANSWERING, answering), (ASKING, asking)] {
            calls.push((end, self.hosts.all[end].client.begin("trace", &request)?));
        }
        calls.reverse();
        self.gather(calls, limit)
    }
}

pub(super) fn out_of_turn() -> Error {
    Error::peer(
        "an end of the trace",
        "gave another answer than was asked for",
        "are both of the same version?",
    )
}
