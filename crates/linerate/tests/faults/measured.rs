//! A short run with faults, and what its recording says.

use crate::user::runs::PROGRAM;
use linerate::analysis::{Curve, Layer, analyse};
use linerate::diagnosis::diagnose;
use linerate::plan::{Block, Plan, PlannedHost, Profile, Rungs, Step, Target, View, Why};
use linerate::record::{Event, Header, LinkAudit, Recording, SocketRecord, decode_histogram};
use linerate::run::{HostAccess, LaunchAccess, Runner};
use linerate::schedule::{Passes, Schedule};
use linerate::vocabulary::{Does, LADDER_BYTES, LATENCY_BYTES, Pattern, Wait};
use std::ops::Range;

const RUNG: &str = "network.tcp";

/// What was measured.
pub struct Measured {
    pub recording: Recording,
    layers: Vec<Layer>,
}

/// A lab with faults, and what is recorded there.
struct Bench<'p> {
    plan: &'p Plan,
    runner: Runner<'p>,
    recording: Recording,
}

/// How long a slice of a stream should last: twenty-five round trips of the longest path here.
const SLICE_NS: u64 = 50_000_000;

/// The same while the rate is looked for: the first megabytes may have passed before the first loss.
const PROBE_SLICE_NS: u64 = 20_000_000;

/// What TCP needs to come back from losses in a row may be many times what a step is predicted to take.
const PATIENT_NS: u64 = 10_000_000_000;

/// Says what was measured, and fails where the model has it elsewhere.
pub fn within(what: &str, value: f64, range: Range<f64>) {
    println!("{what}: {value:.4} in {range:?}");
    assert!(range.contains(&value), "{what}: {value} is not in {range:?}");
}

/// Measures one stream of TCP from a to b in a lab with these faults, at the size that a ladder states.
pub fn measure(lab: &str, faults: &[&str], settings: &[&str]) -> Measured {
    let plan = plan(lab, faults, settings);
    let mut bench = Bench::new(&plan);
    let first = bench.first(|step| step.case.pattern == Pattern::Stream && step.case.flows == 1);
    let block = |messages, slices, lead| {
        vec![Block { message_bytes: LADDER_BYTES, messages, slices, lead, ..first.blocks[0] }]
    };
    let probe = |blocks| Step { pass: 0, why: Why::Probe, blocks, ..first.clone() };
    bench.step(&probe(block(1, 8, 4)));
    bench.step(&probe(block(bench.messages_in(PROBE_SLICE_NS), 9, 6)));
    for pass in 1..=2 {
        // A window grows for a while: what goes first does not count.
        let messages = bench.messages_in(SLICE_NS);
        let blocks = [block(messages, 3, 3), block(messages, 7, 1)].concat();
        bench.step(&Step { pass, number: pass, why: Why::Pass, blocks, ..first.clone() });
    }
    bench.measured()
}

/// Round trips to be measured: their sizes, and how many of each in so many passes.
pub struct RoundTrips {
    pub sizes: Vec<u64>,
    pub exchanges: u32,
    pub passes: u32,
}

/// One step of a rung, changed by hand, in a lab with these faults: its recording, with one trial that counts.
pub fn one_step(
    lab: &str,
    (faults, settings): (&[&str], &[&str]),
    (rung, pattern): (&str, Pattern),
    change: impl Fn(Step) -> Step,
) -> Recording {
    let plan = Plan { view: View::Ladder(Rungs::named([rung])), ..plan(lab, faults, settings) };
    let mut bench = Bench::new(&plan);
    let is_wanted = |step: &Step| step.case.pattern == pattern && step.case.wait == Wait::Sleeping;
    let first = bench.first(is_wanted);
    bench.step(&change(Step { pass: 1, number: first.number + 1, why: Why::Pass, ..first }));
    bench.recording
}

/// Small messages, as a ladder states them.
pub fn small() -> RoundTrips {
    RoundTrips { sizes: vec![LATENCY_BYTES], exchanges: 40, passes: 6 }
}

/// Measures round trips alone, between ends that sleep: polling takes a CPU that the wire may need.
pub fn measure_round_trips(lab: &str, faults: &[&str], trips: &RoundTrips) -> Measured {
    let plan = plan(lab, faults, &[]);
    let mut bench = Bench::new(&plan);
    let first =
        bench.first(|step| step.case.pattern == Pattern::PingPong && step.case.wait == Wait::Sleeping);
    let slices = trips.exchanges + 1;
    let block = |size: &u64| Block { message_bytes: *size, messages: 1, slices, lead: 1, ..first.blocks[0] };
    let blocks: Vec<Block> = trips.sizes.iter().map(block).collect();
    for pass in 1..=trips.passes {
        bench.step(&Step { pass, number: pass, why: Why::Pass, blocks: blocks.clone(), ..first.clone() });
    }
    bench.measured()
}

/// What is to be measured.
fn plan(lab: &str, faults: &[&str], settings: &[&str]) -> Plan {
    let faults = faults.iter().map(|fault| fault.parse().unwrap());
    let Ok(Target::Lab(topology)) = lab.parse() else { panic!("{lab}") };
    let topology = topology.with_faults(faults).unwrap();
    let set = ["tcp.congestion-control=cubic"].iter().chain(settings).map(|text| text.parse().unwrap());
    let profile = Profile {
        sizes: vec![LATENCY_BYTES, LADDER_BYTES],
        passes: 2,
        trial_ns: 100_000_000,
        timeline_ns: 0,
        forward_only: true,
        budget_ns: 0,
        ..Profile::named("quick").unwrap()
    };
    Plan {
        hosts: PlannedHost::first(2),
        settings: topology.settings().into_iter().chain(set).collect(),
        target: Target::Lab(topology),
        profile,
        view: View::Ladder(Rungs::named([RUNG])),
        arms: Vec::new(),
        seed: 1,
        budget_ns: None,
    }
}

impl<'p> Bench<'p> {
    fn new(plan: &'p Plan) -> Bench<'p> {
        let header = Header {
            schema: linerate::record::SCHEMA.into(),
            version: String::new(),
            utc: String::new(),
            command: Vec::new(),
            defaults: None,
            plan: plan.clone(),
            plan_hash: plan.hash(),
        };
        let mut recording = Recording { header: Some(header), ..Recording::default() };
        let means = HostAccess {
            program: PROGRAM.into(),
            ssh: "ssh".into(),
            folders: Vec::new(),
            launch: LaunchAccess::default(),
        };
        let runner = Runner::start(plan, &means, &|| false, &mut |_| ()).unwrap();
        runner.hosts().into_iter().for_each(|event| recording.push(event));
        Bench { plan, runner, recording }
    }

    /// The first step of this kind that the plan would have done; those before it are done.
    fn first(&mut self, is_wanted: impl Fn(&Step) -> bool) -> Step {
        let mut schedule = Passes::new(self.plan, &self.recording);
        loop {
            let step = schedule.next(&self.recording).expect("a step of this kind");
            if is_wanted(&step) {
                return step;
            }
            // Only who has done a step is told the next one.
            self.step(&step);
        }
    }

    /// How many messages of the last trial would take so long.
    fn messages_in(&self, slice_ns: u64) -> u64 {
        let trial = self.recording.trials.last().unwrap();
        let role = trial.roles.iter().find(|role| role.does == Does::Receives).unwrap();
        let counted = &role.flows[0].slices_ns[trial.block.lead as usize..];
        let message_ns = counted.iter().sum::<u64>() / (counted.len() as u64 * trial.block.messages);
        (slice_ns / message_ns).max(1)
    }

    fn step(&mut self, step: &Step) {
        let step = Step { predicted_ns: step.predicted_ns.max(PATIENT_NS), ..step.clone() };
        let recording = &mut self.recording;
        let mut keep = |event| {
            if let Event::NotMeasured(not) = &event {
                panic!("{}: {}", not.what(), not.reason.why);
            }
            recording.push(event);
            Ok(())
        };
        self.runner.step(&step, &mut keep).unwrap();
    }

    /// What the report makes of it, which hides no fault.
    fn measured(self) -> Measured {
        let analysis = analyse(&self.recording);
        let diagnosis = diagnose(&self.recording, &analysis);
        let Target::Lab(topology) = &self.plan.target else { panic!("no lab") };
        let warned = diagnosis.findings.iter().find(|finding| finding.code == "fault");
        assert_eq!(warned.is_some(), !topology.faults.is_empty());
        for fault in &topology.faults {
            assert!(warned.unwrap().detail.contains(&fault.to_string()), "{fault}: {warned:?}");
        }
        Measured { recording: self.recording, layers: analysis.layers }
    }
}

impl Measured {
    fn layer(&self, from: &str) -> &Layer {
        let is_from = |layer: &Layer| layer.from.as_ref().is_some_and(|hosts| hosts.to_string() == from);
        let of_one = |layer: &&Layer| is_from(layer) && layer.flows == 1 && !layer.both_ways;
        self.layers.iter().find(of_one).unwrap()
    }

    /// The curves of all cases.
    pub fn curves(&self) -> Vec<Curve> {
        analyse(&self.recording).curves
    }

    /// The rate from a to b.
    pub fn rate(&self) -> f64 {
        self.layer("a").throughput_bps.unwrap().median
    }

    /// The half round trip of small messages, asked for by host a.
    pub fn half_round_trip_ns(&self) -> f64 {
        self.layer("a").sleeping_ns.unwrap().median
    }

    /// The sockets that sent streams from a.
    fn senders(&self) -> impl Iterator<Item = &SocketRecord> {
        let streams = self.recording.steps.iter().filter(|step| step.case.pattern == Pattern::Stream);
        let sending =
            streams.filter(|step| step.roles.iter().any(|role| role.does == Does::Sends && role.host == "a"));
        sending.flat_map(|step| step.sockets.iter().filter(|socket| socket.host == "a"))
    }

    /// What a counter of the senders' sockets grew by, all steps together.
    pub fn moved(&self, counter: &str) -> u64 {
        self.senders().filter_map(|socket| socket.moved.get(counter)).sum()
    }

    /// The last values of a field of every socket.
    pub fn last(&self, field: &str) -> Vec<u64> {
        let sockets = self.recording.steps.iter().flat_map(|step| &step.sockets);
        let values: Vec<u64> = sockets.filter_map(|socket| socket.last.get(field)).copied().collect();
        assert!(!values.is_empty(), "no {field}");
        values
    }

    /// The values that a knob was granted.
    pub fn granted(&self, knob: &str) -> Vec<String> {
        let sessions = self.recording.sessions.iter().flat_map(|session| &session.granted);
        sessions.filter(|one| one.knob == knob).filter_map(|one| one.granted.clone()).collect()
    }

    /// What the wire says of one direction, all steps together.
    pub fn link(&self, name: &str, count: fn(&LinkAudit) -> u64) -> u64 {
        let audits = self.recording.steps.iter().filter_map(|step| step.wire.as_ref());
        audits.filter_map(|audit| audit.link(name)).map(count).sum()
    }

    /// The largest mean size of received packets, by step and interface.
    pub fn packet_bytes(&self) -> u64 {
        let hosts = self.recording.steps.iter().flat_map(|step| &step.hosts);
        let wires = hosts.flat_map(|host| &host.interfaces).filter(|one| one.rx_packets > 1000);
        wires.map(|one| one.rx_bytes / one.rx_packets).max().unwrap()
    }

    /// CPU time of both ends of the streams of large messages, for each byte received.
    pub fn cpu_ns_per_byte(&self) -> f64 {
        let trials = self.recording.trials.iter().filter(|trial| {
            trial.pass > 0
                && trial.case.pattern == Pattern::Stream
                && trial.block.message_bytes == LADDER_BYTES
        });
        let flows = trials.flat_map(|trial| &trial.roles).flat_map(|role| {
            role.flows
                .iter()
                .map(|flow| (flow.cpu_ns, if role.does == Does::Receives { flow.bytes } else { 0 }))
        });
        let (cpu, bytes) = flows.fold((0, 0), |sum, flow| (sum.0 + flow.0, sum.1 + flow.1));
        cpu as f64 / bytes.max(1) as f64
    }

    /// How far the quartiles of half round trips lie apart, where each exchange was timed.
    pub fn spread_ns(&self) -> f64 {
        let trials = self
            .recording
            .trials
            .iter()
            .filter(|trial| trial.case.pattern == Pattern::PingPong && trial.block.messages == 1);
        let roles = trials.flat_map(|trial| &trial.roles).filter_map(|role| role.histogram.as_deref());
        let mut all = roles.map(|text| decode_histogram(text).unwrap());
        let mut sum = all.next().expect("no exchange was timed");
        all.for_each(|one| sum.add(one).unwrap());
        (sum.value_at_quantile(0.75) - sum.value_at_quantile(0.25)) as f64 / 2.0
    }

    /// Of the time in which threads on a CPU ran or could have run, the part in which they did not.
    pub fn kept_off(&self, cpu: u32) -> f64 {
        let flows = self.recording.trials.iter().flat_map(|trial| &trial.roles).flat_map(|role| &role.flows);
        let on_cpu: Vec<_> = flows.filter(|flow| flow.cpu == Some(cpu)).collect();
        let off: u64 = on_cpu.iter().filter_map(|flow| flow.run_delay_ns).sum();
        let ran: u64 = on_cpu.iter().map(|flow| flow.cpu_ns).sum();
        off as f64 / (off + ran).max(1) as f64
    }

    /// Whether the report warns of this.
    pub fn warns_of(&self, code: &str) -> bool {
        let analysis = analyse(&self.recording);
        diagnose(&self.recording, &analysis).findings.iter().any(|finding| finding.code == code)
    }
}
