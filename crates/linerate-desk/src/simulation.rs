//! A made-up machine in virtual time: it answers each step at once, from numbers that were put in.
//!
//! It stands where the live half stands and emits the same events, so that every schedule and every
//! analysis is tested on whole runs without time passing, and must give back what was put in. What it
//! is like is a [`World`]; its randomness follows from a seed alone.

mod machine;
mod noise;
#[cfg(test)]
mod tests;
mod watched;

use crate::plan::{Block, HostId, Plan, Role, Step, World};
use crate::record::{self, Environment, Event, Flow, HostDelta, HostFacts, RoleRecord, SessionRecord};
use crate::record::{NotMeasured, Reason, StepRecord, Trial};
use crate::vocabulary::{Pattern, ReasonKind};
use machine::Machine;
use noise::{Draw, Noise};
use std::collections::{BTreeMap, BTreeSet};

/// What agents and threads cost each step.
const STEP_NS: u64 = 3_000_000;

/// Round trips that a histogram is made of, whatever the block claims: enough for its percentiles.
const SAMPLES: usize = 64;

/// The two hosts and the clock that they share.
#[derive(Debug)]
pub struct Simulation {
    plan: Plan,
    machine: Machine,
    noise: Noise,
    now_ns: u64,
    pass: u32,
    open: BTreeSet<String>,
}

impl Simulation {
    /// A machine for this plan; equal seeds give equal runs.
    pub fn new(plan: &Plan, world: &World, seed: u64) -> Simulation {
        Simulation {
            plan: plan.clone(),
            machine: Machine::new(world),
            noise: Noise::new(world, seed),
            now_ns: 0,
            pass: 0,
            open: BTreeSet::new(),
        }
    }

    /// The plan's hosts: one machine of four CPUs.
    pub fn hosts(&self) -> Vec<Event> {
        let host = |id| {
            let mut host = host(id);
            if self.machine.is_watched() {
                watched::wire(&mut host, &self.machine, &self.plan);
            }
            Event::Host(host)
        };
        self.plan.hosts.iter().map(|planned| host(planned.id)).collect()
    }

    /// The virtual time since the run began.
    pub fn elapsed_ns(&self) -> u64 {
        self.now_ns
    }

    /// What a run of this step would have recorded.
    pub fn step(&mut self, step: &Step) -> Vec<Event> {
        let mut events = self.connect(step);
        let mut sizes = step.blocks.iter().map(|block| block.message_bytes);
        if let Some(size) = sizes.find(|size| self.machine.swallows(&self.plan, &step.case, *size)) {
            self.now_ns += step.patience_ns;
            let reason = Reason::new(ReasonKind::Failed, "failed: moved no byte within the time limit", "");
            let failed = NotMeasured::failed(step, &step.case.pairs, reason);
            let at_ns = Some(self.now_ns);
            events.push(Event::NotMeasured(NotMeasured { message_bytes: vec![size], at_ns, ..failed }));
            return events;
        }
        let at_ns = self.now_ns;
        let round_trip_ns = self.machine.round_trip_ns(&step.case) as u64;
        self.now_ns += STEP_NS + round_trip_ns;
        for block in &step.blocks {
            // The ends agree on where it begins.
            self.now_ns += round_trip_ns;
            let mut draw = self.noise.trial(&session(step), self.now_ns);
            draw.disturbed = draw.disturbed.max(watched::disturbed(&self.machine, &self.plan, &step.case));
            let roles = self.roles(step, block, &draw);
            let longest = roles.iter().flat_map(|role| &role.flows).map(|flow| flow.duration_ns).max();
            self.now_ns += longest.unwrap_or(0);
            if block.lead < block.slices {
                events.extend(Trial::of_block(step, &step.case, block, roles).into_iter().map(Event::Trial));
            }
        }
        let mut record = self.record(step, at_ns);
        if self.machine.is_watched()
            && step.case.pattern == Pattern::Stream
            && !step.case.pairs.is_within_host()
        {
            watched::add(&mut record, &moved(step, &events), &self.machine, &self.plan);
        }
        events.push(Event::Step(record));
        events
    }

    /// A new connection for each pass has its own deviation.
    fn connect(&mut self, step: &Step) -> Vec<Event> {
        if step.pass != self.pass {
            (self.pass, self.open) = (step.pass, BTreeSet::new());
        }
        let name = session(step);
        if !self.open.insert(name.clone()) {
            return Vec::new();
        }
        self.noise.connect(&name);
        let ends: BTreeSet<(HostId, u32)> = step.roles.iter().map(|role| (role.host, role.worker)).collect();
        let record = |(host, worker): (HostId, u32)| SessionRecord {
            pass: step.pass,
            rung: step.case.rung.clone(),
            flows: step.case.flows,
            arm: step.case.arm,
            host,
            worker,
            granted: Vec::new(),
            endpoints: Vec::new(),
        };
        ends.into_iter().map(|end| Event::Session(record(end))).collect()
    }

    fn roles(&mut self, step: &Step, block: &Block, draw: &Draw) -> Vec<RoleRecord> {
        let fault_ns = self.machine.fault_ns(&self.plan, &step.case, block.message_bytes);
        let cause_ns = self.machine.cause_ns(&self.plan, &step.case, block.message_bytes);
        let window_ns = self.machine.window_ns(&self.plan, &step.case, block.message_bytes);
        let alone_ns = self.machine.message_ns(&step.case, block.message_bytes);
        let working_ns = self.machine.working_ns(&self.plan, &step.case, block.message_bytes);
        // What holds the path back leaves its ends time to work.
        let message_ns = (alone_ns + cause_ns).max(working_ns).max(window_ns + cause_ns) + fault_ns;
        let slice_ns = message_ns * block.messages as f64 * draw.factor;
        let mut records = Vec::with_capacity(step.roles.len());
        for role in &step.roles {
            let flows = (0..step.case.flows).map(|_| flow(&step.case.pattern, block, role, slice_ns, draw));
            let flows = flows.collect();
            let samples = role.does.samples().then(|| self.noise.samples(slice_ns, SAMPLES));
            let histogram = samples.and_then(|samples| record::encode_histogram(samples.into_iter()).ok());
            records.push(RoleRecord {
                host: role.host,
                does: role.does,
                flows,
                histogram,
                samples: BTreeMap::new(),
                pair: role.pair,
            });
        }
        records
    }

    fn record(&self, step: &Step, at_ns: u64) -> StepRecord {
        let duration_ns = self.now_ns - at_ns;
        let names: BTreeSet<HostId> = step.roles.iter().map(|role| role.host).collect();
        let delta = |host: HostId| HostDelta {
            host,
            wall_ns: duration_ns,
            busy_ns: (0..4).map(|cpu| (cpu, duration_ns / 2)).collect(),
            own_ns: 2 * duration_ns,
            ..HostDelta::default()
        };
        StepRecord {
            step: step.number,
            pass: step.pass,
            why: step.why,
            case: step.case.clone(),
            beside: None,
            roles: step.roles.clone(),
            at_ns,
            duration_ns,
            predicted_ns: step.predicted_ns,
            kept_awake: true,
            timer_slack_lowered: true,
            suspended_ns: 0,
            hosts: names.into_iter().map(delta).collect(),
            sockets: Vec::new(),
            wire: None,
        }
    }
}

/// What a step's stream moved, and in what time.
fn moved(step: &Step, events: &[Event]) -> watched::Moved {
    let trials = events.iter().filter_map(|event| match event {
        Event::Trial(trial) => Some(trial),
        _ => None,
    });
    let keeping = trials.flat_map(|trial| &trial.roles).filter(|role| role.does.keeps_time());
    let flows: Vec<&Flow> = keeping.flat_map(|role| &role.flows).collect();
    watched::Moved {
        bytes: flows.iter().map(|flow| flow.bytes).sum(),
        ns: flows.iter().map(|flow| flow.duration_ns).sum(),
        all_bytes: step.blocks.iter().map(Block::bytes).sum(),
    }
}

fn session(step: &Step) -> String {
    format!("{} x {} arm {}", step.case.rung, step.case.flows, step.case.arm)
}

fn flow(pattern: &Pattern, block: &Block, role: &Role, slice_ns: f64, draw: &Draw) -> Flow {
    let slices = || (0..block.slices).map(|_| slice_ns.round() as u64).collect();
    let keeps_slices = role.does.keeps_time() && *pattern != Pattern::PingPong;
    let duration_ns = (slice_ns * f64::from(block.slices)) as u64;
    Flow {
        start_ns: 1_000_000_000,
        slices_ns: if keeps_slices { slices() } else { Vec::new() },
        duration_ns,
        bytes: block.bytes(),
        cpu_ns: (0.9 * duration_ns as f64) as u64,
        run_delay_ns: Some((draw.disturbed * duration_ns as f64) as u64),
        involuntary_switches: u64::from(draw.disturbed > 0.0),
        cpu: role.cpus.first().copied(),
        ..Flow::default()
    }
}

fn host(id: HostId) -> HostFacts {
    let facts = [("cpu.model", serde_json::json!("made up")), ("kernel.release", serde_json::json!("none"))];
    let host = facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<BTreeMap<_, _>>();
    HostFacts {
        host: id,
        reached: "simulated".into(),
        address: None,
        address6: Some("::1".into()),
        loopback6: true,
        machine: "simulated".into(),
        cpus: (0..4).collect(),
        version: env!("CARGO_PKG_VERSION").into(),
        lacks: Vec::new(),
        unobserved: Vec::new(),
        refused: Vec::new(),
        environment: Environment { host, ..Environment::default() },
    }
}
