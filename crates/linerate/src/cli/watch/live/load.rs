//! What the CPUs did in the last steps: our threads by CPU, and what else took time.

use crate::plan::HostId;
use crate::record::{HostDelta, StepRecord, Trial};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Busy time comes in ticks of 10 ms: over less than a second it says little.
const OVER_NS: u64 = 1_000_000_000;

/// The measuring threads of one host on one CPU, in the last step.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The host.
    pub host: HostId,
    /// The CPU; none where it is not known.
    pub cpu: Option<u32>,
    /// What they do.
    pub does: Vec<&'static str>,
    cpu_ns: u64,
    time_ns: u64,
}

/// What took time beside the measurement, over the last second of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// The hosts that share the machine.
    pub hosts: Vec<HostId>,
    /// Other processes and the kernel's interrupts, as a share of all CPUs.
    pub others: f64,
    /// The hypervisor.
    pub stolen: f64,
}

/// CPU time of the last steps.
#[derive(Debug, Clone, Default)]
pub struct Loads {
    step: Option<u32>,
    /// By host and CPU.
    pub threads: Vec<Load>,
    readings: BTreeMap<String, VecDeque<Reading>>,
}

/// One machine during one step.
#[derive(Debug, Clone)]
struct Reading {
    hosts: Vec<HostId>,
    wall_ns: u64,
    cpus: usize,
    others_ns: u64,
    stolen_ns: u64,
}

impl Load {
    /// The share of the time that the threads ran.
    pub fn share(&self) -> f64 {
        (self.cpu_ns as f64 / self.time_ns.max(1) as f64).min(1.0)
    }
}

impl Loads {
    /// Adds a trial's threads; those of an earlier step go.
    pub fn trial(&mut self, trial: &Trial) {
        if self.step != Some(trial.step) {
            (self.step, self.threads) = (Some(trial.step), Vec::new());
        }
        let mut longest: BTreeMap<usize, u64> = BTreeMap::new();
        for (role, flow) in
            trial.roles.iter().flat_map(|role| role.flows.iter().map(move |flow| (role, flow)))
        {
            let index = self.place(role.host, flow.cpu);
            let load = &mut self.threads[index];
            load.cpu_ns += flow.cpu_ns;
            if !load.does.contains(&role.does.word()) {
                load.does.push(role.does.word());
            }
            let time = longest.entry(index).or_default();
            *time = flow.duration_ns.max(*time);
        }
        longest.into_iter().for_each(|(index, time)| self.threads[index].time_ns += time);
        self.threads.sort_by_key(|load| (load.host, load.cpu));
    }

    fn place(&mut self, host: HostId, cpu: Option<u32>) -> usize {
        let found = self.threads.iter().position(|load| load.host == host && load.cpu == cpu);
        found.unwrap_or_else(|| {
            self.threads.push(Load { host, cpu, does: Vec::new(), cpu_ns: 0, time_ns: 0 });
            self.threads.len() - 1
        })
    }

    /// Adds a step's readings; `machine` says which hosts share one.
    pub fn step(&mut self, step: &StepRecord, machine: impl Fn(HostId) -> String) {
        let mut machines: BTreeMap<String, Vec<&HostDelta>> = BTreeMap::new();
        step.hosts.iter().for_each(|delta| machines.entry(machine(delta.host)).or_default().push(delta));
        for (machine, deltas) in machines {
            let readings = self.readings.entry(machine).or_default();
            readings.push_back(Reading::from_deltas(&deltas));
            let whole =
                |readings: &VecDeque<Reading>| readings.iter().skip(1).map(|r| r.wall_ns).sum::<u64>();
            while whole(readings) > OVER_NS {
                readings.pop_front();
            }
        }
    }

    /// What took time beside the measurement; nothing before there is a second of it.
    pub fn beside(&self) -> Vec<Beside> {
        let of_machine = |readings: &VecDeque<Reading>| {
            let sum = |part: fn(&Reading) -> u64| readings.iter().map(part).sum::<u64>() as f64;
            let last = readings.back().filter(|_| sum(|r| r.wall_ns) >= OVER_NS as f64)?;
            let all = sum(|r| r.wall_ns) * last.cpus.max(1) as f64;
            let share = |ns: f64| (ns / all).min(1.0);
            let (others, stolen) = (share(sum(|r| r.others_ns)), share(sum(|r| r.stolen_ns)));
            Some(Beside { hosts: last.hosts.clone(), others, stolen })
        };
        self.readings.values().filter_map(of_machine).collect()
    }
}

impl Reading {
    fn from_deltas(deltas: &[&HostDelta]) -> Reading {
        let most = |part: fn(&HostDelta) -> u64| deltas.iter().map(|delta| part(delta)).max().unwrap_or(0);
        // Hosts of one machine read the same CPUs, and each knows its own processes only.
        let own: u64 = deltas.iter().map(|delta| delta.own_ns).sum();
        let hosts: BTreeSet<HostId> = deltas.iter().map(|delta| delta.host).collect();
        Reading {
            hosts: hosts.into_iter().collect(),
            wall_ns: most(|delta| delta.wall_ns),
            cpus: deltas.iter().map(|delta| delta.busy_ns.len()).max().unwrap_or(0),
            others_ns: most(|delta| delta.busy_ns.values().sum()).saturating_sub(own),
            stolen_ns: most(|delta| delta.steal_ns),
        }
    }
}
