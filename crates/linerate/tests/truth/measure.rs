//! Measuring between the hosts of a lab, step by step, with the program's own runner.

use super::nobody::program;
use linerate::analysis::throughput_bps;
use linerate::plan::{
    Block, Case, HostId, PATIENCE_NS, Pairs, Plan, PlannedHost, Profile, Role, Rungs, Step, Target, View, Why,
};
use linerate::record::{Event, SocketRecord, Trial, WireAudit, decode_histogram};
use linerate::run::{HostAccess, LaunchAccess, Runner};
use linerate::vocabulary::{Cache, Does, Pattern, Wait};

const NS: f64 = 1e9;

/// Slices of a stream.
const SLICES: u32 = 16;

/// The hosts a and b of a lab.
pub struct Pair<'p> {
    runner: Runner<'p>,
    steps: u32,
}

/// What a step gave.
pub struct Outcome {
    /// Its trials.
    pub trials: Vec<Trial>,
    /// What the sockets say of it.
    pub sockets: Vec<SocketRecord>,
    /// What the wire says of it.
    pub wire: Option<WireAudit>,
}

/// A stream, warmed up.
pub struct Stream {
    /// Bits of payload a second that came.
    pub bps: f64,
    /// What the sender's socket says.
    pub sender: SocketRecord,
}

/// Builds the lab of a target, and gives its two hosts to `work`.
pub fn between<T>(target: &str, work: impl FnOnce(&mut Pair) -> T) -> T {
    between_set(target, &[], work)
}

/// The same with further settings.
pub fn between_set<T>(target: &str, settings: &[&str], work: impl FnOnce(&mut Pair) -> T) -> T {
    let setting = |text: &str| text.parse().unwrap();
    // Bursts of a block of datagrams must fit, so that only the wire loses any.
    let always = ["tcp.congestion-control=cubic", "network.udp:socket.receive-buffer=4MiB"];
    let plan = Plan {
        hosts: PlannedHost::first(2),
        target: target.parse::<Target>().unwrap(),
        profile: Profile::named("quick").unwrap(),
        view: View::Ladder(Rungs::named(["network.tcp", "network.udp"])),
        settings: always.iter().chain(settings).map(|text| setting(text)).collect(),
        arms: Vec::new(),
        seed: 1,
        budget_ns: None,
    };
    let means = HostAccess {
        program: program(),
        ssh: "ssh".into(),
        folders: Vec::new(),
        launch: LaunchAccess::default(),
    };
    let runner = Runner::start(&plan, &means, &|| false, &mut |_| ()).unwrap();
    work(&mut Pair { runner, steps: 0 })
}

fn block(message_bytes: u64, messages: u64, slices: u32, lead: u32) -> Block {
    Block { message_bytes, messages, slices, lead, cache: Cache::Hot, ..Block::default() }
}

impl Pair<'_> {
    /// Sends from a to b at about this rate for so many seconds, after a warm-up of so many.
    pub fn stream(&mut self, rate_bps: f64, warm_up: f64, seconds: f64) -> Stream {
        let message = 64 << 10;
        let messages = |seconds: f64| (rate_bps * seconds / 8.0 / message as f64).ceil().max(1.0) as u64;
        // One block, so that the ends agree on its start before the warm-up and not after it: that takes a
        // round trip.
        let slice = seconds / f64::from(SLICES);
        let lead = (warm_up / slice).ceil() as u32;
        let timed = block(message, messages(slice), lead + SLICES, lead);
        let outcome = self.step("network.tcp", Pattern::Stream, vec![timed], warm_up + seconds);
        let sender = outcome.sockets.into_iter().find(|socket| socket.host == "a").unwrap();
        Stream { bps: throughput_bps(&outcome.trials[0]).unwrap(), sender }
    }

    /// Round trips of a message of so many bytes, in nanoseconds, sorted.
    pub fn round_trips_ns(&mut self, rung: &str, bytes: u64, count: u32) -> Vec<f64> {
        // The first finds caches and neighbours.
        let timed = block(bytes, 1, count + 3, 3);
        let outcome = self.step(rung, Pattern::PingPong, vec![timed], 60.0);
        let roles = outcome.trials.iter().flat_map(|trial| &trial.roles);
        let pinger = roles.into_iter().find(|role| role.does == Does::Pings).unwrap();
        let histogram = pinger.histogram.as_ref().and_then(|text| decode_histogram(text)).unwrap();
        let mut values: Vec<f64> = Vec::new();
        for value in histogram.iter_recorded() {
            let times = value.count_since_last_iteration() as usize;
            values.extend(std::iter::repeat_n(value.value_iterated_to() as f64, times));
        }
        values
    }

    /// Datagrams sent from a to b without a pause, how many of them did not come, and what the wire says.
    pub fn datagrams(&mut self, bytes: u64, count: u64) -> (u64, u64, WireAudit) {
        let outcome = self.step("network.udp", Pattern::Stream, vec![block(bytes, count, 1, 0)], 1.0);
        let roles = outcome.trials.iter().flat_map(|trial| &trial.roles);
        let receiver = roles.into_iter().find(|role| role.does == Does::Receives).unwrap();
        let lost = receiver.flows.iter().filter_map(|flow| flow.lost).sum();
        (count, lost, outcome.wire.unwrap_or_default())
    }

    fn step(&mut self, rung: &str, pattern: Pattern, blocks: Vec<Block>, seconds: f64) -> Outcome {
        self.steps += 1;
        let (active, passive) = match pattern {
            Pattern::PingPong => (Does::Pings, Does::Echoes),
            _ => (Does::Sends, Does::Receives),
        };
        let role = |host: u16, does: Does, cpu: u32| Role {
            host: HostId(host),
            worker: 0,
            does,
            cpus: vec![cpu],
            pair: 0,
        };
        let case = Case {
            rung: rung.into(),
            pattern,
            wait: Wait::Sleeping,
            flows: 1,
            pairs: Pairs::single(HostId(0), HostId(1)),
            timeline: false,
            arm: 0,
            ..Case::default()
        };
        let step = Step {
            number: self.steps,
            pass: 1,
            why: Why::Pass,
            case,
            roles: vec![role(1, passive, 1), role(0, active, 0)],
            blocks,
            sample_ns: None,
            beside: None,
            predicted_ns: (seconds * NS) as u64,
            patience_ns: PATIENCE_NS,
        };
        let mut outcome = Outcome { trials: Vec::new(), sockets: Vec::new(), wire: None };
        let taken = self.runner.step(&step, &mut |event| {
            match event {
                Event::Trial(trial) => outcome.trials.push(trial),
                Event::Step(step) => (outcome.sockets, outcome.wire) = (step.sockets, step.wire),
                Event::NotMeasured(not) => panic!("{rung}: {}", not.reason.why),
                _ => {}
            }
            Ok(())
        });
        taken.unwrap_or_else(|error| panic!("{rung}: {error}"));
        outcome
    }
}

/// A quantile of sorted values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
