//! Recordings made up from known numbers, for the tests of every crate: the desk half must give back what was put in.

use super::*;
use crate::plan::{Block, Case, HostId, HostPair, Pairs, Plan, Profile, Role, Target, Why};
use crate::vocabulary::{Cache, Does, Pattern, Rung, Wait};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// What one rung is made of.
#[derive(Debug, Clone, Copy)]
pub struct Truth {
    /// Which rung.
    pub rung: &'static str,
    /// Half a round trip of a message of no bytes: polling and sleeping.
    pub alpha_ns: [f64; 2],
    /// What each byte adds to half a round trip.
    pub beta_ns: f64,
    /// A stream's time per message and per byte.
    pub stream_ns: [f64; 2],
    /// CPU time per byte of sender and receiver.
    pub cpu_ns: [f64; 2],
}

/// A run between hosts `a` and `b` on one machine.
#[derive(Debug, Clone)]
pub struct Synthetic {
    /// What the noise is drawn from.
    pub seed: u64,
    /// Passes that count.
    pub passes: u32,
    /// Message sizes in bytes.
    pub sizes: Vec<u64>,
    /// The spread of each trial, as a share.
    pub noise: f64,
    /// The spread between passes that all rungs of a pass share.
    pub drift: f64,
    /// The rungs.
    pub truths: Vec<Truth>,
    /// Steps and changes of slope in their curves.
    pub bends: Vec<Bend>,
}

/// What messages of one rung and pattern pay on top from some size on.
#[derive(Debug, Clone, Copy)]
pub struct Bend {
    /// The rung.
    pub rung: &'static str,
    /// The pattern.
    pub pattern: Pattern,
    /// The first size that pays.
    pub at_bytes: u64,
    /// What each message pays, one way.
    pub step_ns: f64,
    /// What each byte beyond that size pays.
    pub slope_ns: f64,
}

/// Four rungs of a plausible machine.
pub const TRUTHS: [Truth; 4] = [
    Truth {
        rung: "memory.copy",
        alpha_ns: [0.0; 2],
        beta_ns: 0.0,
        stream_ns: [15.0, 0.050],
        cpu_ns: [0.0, 0.050],
    },
    Truth {
        rung: "in-host.shared-memory",
        alpha_ns: [160.0, 11_200.0],
        beta_ns: 0.110,
        stream_ns: [60.0, 0.060],
        cpu_ns: [0.058, 0.057],
    },
    Truth {
        rung: "in-host.tcp",
        alpha_ns: [2600.0, 20_100.0],
        beta_ns: 0.170,
        stream_ns: [900.0, 0.110],
        cpu_ns: [0.108, 0.080],
    },
    Truth {
        rung: "network.tcp",
        alpha_ns: [2800.0, 21_400.0],
        beta_ns: 0.200,
        stream_ns: [1000.0, 0.140],
        cpu_ns: [0.140, 0.100],
    },
];

impl Default for Synthetic {
    fn default() -> Self {
        Synthetic {
            seed: 7,
            passes: 10,
            sizes: (0..24).map(|power| 1 << power).collect(),
            noise: 0.01,
            drift: 0.0,
            truths: TRUTHS.to_vec(),
            bends: Vec::new(),
        }
    }
}

impl Truth {
    /// The rate of a stream of messages of this size.
    pub fn stream_bps(&self, bytes: u64) -> f64 {
        let [constant, slope] = self.stream_ns;
        8e9 * bytes as f64 / (constant + slope * bytes as f64)
    }

    /// Half a round trip of a message of this size.
    pub fn half_round_trip_ns(&self, wait: Wait, bytes: u64) -> f64 {
        self.alpha_ns[usize::from(wait == Wait::Sleeping)] + self.beta_ns * bytes as f64
    }
}

const SLICES: u32 = 8;
/// Of several flows.
const SLICES_OF_SEVERAL: u32 = 48;
const LEAD: u32 = 2;

impl Synthetic {
    /// The recording, as the live half would have written it.
    pub fn recording(&self) -> Recording {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut recording = Recording { header: Some(self.header()), ..Recording::default() };
        recording.hosts = [HostId(0), HostId(1)].map(host).to_vec();
        let mut number = 0;
        for pass in 0..=self.passes {
            let drift = 1.0 + self.drift * (random.random::<f64>() - 0.5);
            for truth in &self.truths {
                // Pass 0 is wildly off: it must not enter anything.
                let factor = if pass == 0 { 50.0 } else { drift };
                for (case, sizes) in self.visits(truth.rung) {
                    let trials = self.step(truth, &case, &sizes, (number, pass), factor, &mut random);
                    recording.steps.push(step_record(&trials, case, (number, pass)));
                    recording.trials.extend(trials);
                    number += 1;
                }
            }
        }
        recording.end = Some(End { reason: "completed".into(), error: None, at_ns: 1 });
        recording
    }

    fn header(&self) -> Header {
        let mut profile = Profile::named("standard").unwrap();
        profile.sizes = self.sizes.clone();
        profile.passes = self.passes;
        let plan: Plan = serde_json::from_value(json!({
            "target": "lab".parse::<Target>().unwrap(),
            "profile": profile,
            "rungs": self.truths.iter().map(|truth| truth.rung).collect::<Vec<_>>(),
            "settings": [],
            "seed": 3,
            "budget_ns": null,
        }))
        .unwrap();
        Header {
            schema: SCHEMA.into(),
            version: "0.1.0".into(),
            utc: "2026-11-21T14:02:11Z".into(),
            command: vec!["linerate".into(), "run".into(), "lab".into()],
            defaults: None,
            plan_hash: plan.hash(),
            plan,
        }
    }

    /// A stream's sizes follow each other in one step; each size of a ping-pong is a step.
    fn visits(&self, rung: &str) -> Vec<(Case, Vec<u64>)> {
        let visits = cases(rung).into_iter().flat_map(|case| match case.pattern {
            Pattern::PingPong => self.sizes.iter().map(|size| (case.clone(), vec![*size])).collect(),
            _ => vec![(case, self.sizes.clone())],
        });
        visits.collect()
    }

    fn step(
        &self,
        truth: &Truth,
        case: &Case,
        sizes: &[u64],
        at: (u32, u32),
        factor: f64,
        random: &mut ChaCha8Rng,
    ) -> Vec<Trial> {
        let mut trial_of = |size: &u64| {
            let noisy = factor * (1.0 + self.noise * (random.random::<f64>() - 0.5) * 3.46);
            trial(truth, case, at, (*size, self.extra_ns(case, *size)), noisy)
        };
        sizes.iter().map(&mut trial_of).collect()
    }

    fn extra_ns(&self, case: &Case, size: u64) -> f64 {
        let here = |bend: &&Bend| (bend.rung, bend.pattern) == (case.rung.as_str(), case.pattern);
        let pays = self.bends.iter().filter(here).filter(|bend| size >= bend.at_bytes);
        pays.map(|bend| bend.step_ns + bend.slope_ns * (size - bend.at_bytes) as f64).sum()
    }
}

fn host(host: HostId) -> HostFacts {
    HostFacts {
        host,
        reached: "lab".into(),
        address: Some("10.0.0.1".into()),
        address6: Some("fd00::1".into()),
        loopback6: true,
        machine: "m".into(),
        cpus: vec![0, 1],
        version: "0.1.0".into(),
        lacks: Vec::new(),
        unobserved: Vec::new(),
        refused: Vec::new(),
        environment: Environment::default(),
    }
}

/// Every case of a rung, in host on `a` only, as the lab does.
fn cases(id: &str) -> Vec<Case> {
    let rung = Rung::named(id).unwrap();
    let network = id.starts_with("network");
    let (a, b) = (HostId(0), HostId(1));
    let directions: &[(HostId, HostId)] = if network { &[(a, b), (b, a)] } else { &[(a, a)] };
    let mut cases = Vec::new();
    for (from, to) in directions {
        for pattern in rung.patterns {
            let (waits, flows): (&[Wait], &[u32]) = match pattern {
                Pattern::PingPong => (&[Wait::Polling, Wait::Sleeping], &[1]),
                _ => (&[Wait::Sleeping], rung.flows),
            };
            if *pattern == Pattern::Bidirectional && *from == b {
                continue;
            }
            for (wait, flows) in waits.iter().flat_map(|wait| flows.iter().map(move |f| (*wait, *f))) {
                cases.push(Case {
                    rung: id.into(),
                    pattern: *pattern,
                    wait,
                    flows,
                    pairs: Pairs::single(*from, *to),
                    timeline: false,
                    arm: 0,
                    ..Case::default()
                });
            }
        }
    }
    cases
}

/// Passive ends come first.
fn roles(case: &Case) -> Vec<Role> {
    let role = |host: HostId, worker, does, cpu| Role { host, worker, does, cpus: vec![cpu], pair: 0 };
    let HostPair { from, to } = case.pairs.first();
    let far = u32::from(from == to);
    if case.rung.starts_with("memory") {
        return vec![role(from, 0, Does::Copies, 0)];
    }
    match case.pattern {
        Pattern::PingPong => vec![role(to, far, Does::Echoes, 1), role(from, 0, Does::Pings, 0)],
        Pattern::Stream | Pattern::FixedCount => {
            vec![role(to, far, Does::Receives, 1), role(from, 0, Does::Sends, 0)]
        }
        Pattern::Bidirectional => vec![
            role(to, far, Does::Receives, 1),
            role(to, far, Does::Sends, 1),
            role(from, 0, Does::Receives, 0),
            role(from, 0, Does::Sends, 0),
        ],
        _ => Vec::new(),
    }
}

fn trial(truth: &Truth, case: &Case, at: (u32, u32), (size, extra_ns): (u64, f64), factor: f64) -> Trial {
    let ping_pong = case.pattern == Pattern::PingPong;
    let message_ns = match ping_pong {
        true => 2.0 * (truth.half_round_trip_ns(case.wait, size) + extra_ns),
        false => (8e9 * size as f64 / truth.stream_bps(size) + extra_ns) * f64::from(case.flows),
    };
    let messages = (1e6 / message_ns).ceil().max(1.0) as u64;
    let lead = if ping_pong { 0 } else { LEAD };
    let slices = if case.flows > 1 { SLICES_OF_SEVERAL } else { SLICES };
    let block = Block { message_bytes: size, messages, slices, lead, cache: Cache::Hot, ..Block::default() };
    let slice_ns = message_ns * messages as f64 * factor;
    let records = roles(case).into_iter().map(|role| {
        let flow = |flow| self::flow(truth, &block, &role, slice_ns, flow);
        let mut flows: Vec<Flow> = (0..case.flows).map(flow).collect();
        let pings = role.does == Does::Pings;
        let histogram = pings.then(|| histogram(slice_ns));
        flows.iter_mut().filter(|_| pings).for_each(|flow| flow.slices_ns.clear());
        RoleRecord { host: role.host, does: role.does, flows, histogram, samples: BTreeMap::new(), pair: 0 }
    });
    let roles = records.collect();
    Trial { step: at.0, pass: at.1, why: Why::Pass, case: case.clone(), block, roles }
}

fn histogram(slice_ns: f64) -> String {
    let samples = [0.99, 1.0, 1.0, 1.0, 1.4].map(|share| (slice_ns * share).round() as u64);
    // So many that there are percentiles.
    encode_histogram(std::iter::repeat_n(samples, 100).flatten()).unwrap()
}

fn flow(truth: &Truth, block: &Block, role: &Role, slice_ns: f64, flow: u32) -> Flow {
    // The lead is twice as fast, as a burst is.
    let slice = |index| slice_ns * if index < block.lead { 0.5 } else { 1.0 };
    let slices: Vec<u64> = (0..block.slices).map(|index| slice(index).round() as u64).collect();
    let duration_ns = slices.iter().sum();
    let bytes = block.bytes();
    let cpu_ns_per_byte = truth.cpu_ns[usize::from(role.does != Does::Sends)];
    Flow {
        start_ns: 1_000_000_000 + u64::from(flow) * 20_000,
        slices_ns: if role.does.keeps_time() { slices } else { Vec::new() },
        duration_ns,
        bytes,
        cpu_ns: (bytes as f64 * cpu_ns_per_byte) as u64,
        run_delay_ns: Some(0),
        cpu: role.cpus.first().copied(),
        ..Flow::default()
    }
}

/// What crossed before the first trial.
const WARM_UP_BYTES: u64 = 1_000_000;

fn step_record(trials: &[Trial], case: Case, (step, pass): (u32, u32)) -> StepRecord {
    let roles = roles(&case);
    let tcp = case.rung.ends_with(".tcp");
    let ends: BTreeSet<HostId> = case.pairs.senders().iter().chain(case.pairs.receivers().iter()).collect();
    let hosts = ends.into_iter().map(|host| host_delta(&case, host, received(trials, host)));
    let mut workers: Vec<(HostId, u32)> = roles.iter().map(|role| (role.host, role.worker)).collect();
    workers.sort_unstable();
    workers.dedup();
    let here = |host: HostId| workers.iter().filter(|(other, _)| *other == host).count() as u64;
    let sockets = workers.iter().filter(|_| tcp).map(|(host, worker)| SocketRecord {
        host: *host,
        worker: *worker,
        flow: 0,
        congestion_control: Some("cubic".into()),
        moved: BTreeMap::from([
            ("busy_time".into(), 400_000),
            ("data_segs_out".into(), 10_000),
            ("bytes_received".into(), received(trials, *host) / here(*host)),
        ]),
        last: BTreeMap::from([("snd_cwnd".into(), 40), ("snd_mss".into(), 1448), ("rtt".into(), 30)]),
        ..SocketRecord::default()
    });
    StepRecord {
        step,
        pass,
        why: Why::Pass,
        hosts: hosts.collect(),
        sockets: sockets.collect(),
        wire: None,
        beside: None,
        roles: roles.clone(),
        case: case.clone(),
        at_ns: u64::from(step) * 500_000_000,
        duration_ns: 500_000_000,
        predicted_ns: 500_000_000,
        kept_awake: true,
        timer_slack_lowered: true,
        suspended_ns: 0,
    }
}

/// What came to one host in a step, the warm-up included.
fn received(trials: &[Trial], host: HostId) -> u64 {
    let roles = trials.iter().flat_map(|trial| &trial.roles).filter(|role| role.host == host);
    let receiving = roles.filter(|role| matches!(role.does, Does::Receives | Does::Pings | Does::Echoes));
    let bytes: u64 = receiving.flat_map(|role| &role.flows).map(|flow| flow.bytes).sum();
    if bytes > 0 { bytes + WARM_UP_BYTES } else { 0 }
}

fn host_delta(case: &Case, host: HostId, bytes: u64) -> HostDelta {
    let network = !case.pairs.is_within_host();
    let packets = bytes / 1448 + 1;
    let moved = InterfaceDelta {
        name: if network { "eth0".into() } else { "lo".into() },
        rx_bytes: bytes + packets * 66,
        rx_packets: packets,
        ..InterfaceDelta::default()
    };
    HostDelta {
        host,
        wall_ns: 500_000_000,
        busy_ns: BTreeMap::from([(0, 500_000_000), (1, 400_000_000)]),
        own_ns: 890_000_000 / (1 + u64::from(network)),
        interfaces: if case.rung.ends_with(".tcp") { vec![moved] } else { Vec::new() },
        ..HostDelta::default()
    }
}
