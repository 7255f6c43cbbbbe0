//! What a message costs on the made-up machine, without noise.

use crate::plan::{Case, Plan, PlantedCause, World};
use crate::unit::{BitRate, Bytes, Nanoseconds};
use crate::vocabulary::{Cause, FEEDBACK_NS, Pattern, Place, Rung, Wait};

/// The knob that no stream is faster than.
const PACING: &str = "tcp.pacing-rate";

/// What a sleeping end waits to be woken.
const WAKE_UP_NS: f64 = 18_000.0;

/// How much more a byte costs beyond the knee: as much again by half.
const KNEE: f64 = 0.5;

/// What a byte costs a copy.
const COPY_NS_PER_BYTE: f64 = 0.05;

/// A policer lets so many times the rate pass that it leaves TCP.
const POLICED: f64 = 1.3;

/// The share of the time that a receiver needs.
const RECEIVER_BUSY: f64 = 0.6;

/// Parallel flows together carry the rate of one, times their number to this power.
const FLOWS: f64 = 0.3;

/// The costs by layer, and what the world adds.
#[derive(Debug, Clone)]
pub struct Machine {
    world: World,
}

impl Machine {
    pub fn new(world: &World) -> Machine {
        Machine { world: world.clone() }
    }

    /// The time of one message of a stream, or of a whole round trip.
    pub fn message_ns(&self, case: &Case, bytes: u64) -> f64 {
        let rung = Rung::named(&case.rung);
        let depth = f64::from(depth(rung));
        let per_byte = COPY_NS_PER_BYTE * (1.0 + depth) * self.bytes_paid(bytes);
        let step = self.step_ns(rung, bytes);
        match case.pattern {
            Pattern::Stream | Pattern::FixedCount => {
                let flows = f64::from(case.flows);
                (15.0 + 40.0 * depth.powi(2) + per_byte + step) * flows.powf(1.0 - FLOWS)
            }
            // Alone, the work, and both at once.
            Pattern::Overlap => 3.0 * (200.0 * depth.powi(3) + per_byte + step) + self.round_trip_ns(case),
            Pattern::Capacity | Pattern::ZeroLoss => FEEDBACK_NS as f64,
            Pattern::Bidirectional => 1.6 * (15.0 + 40.0 * depth.powi(2) + per_byte + step),
            // A message each way.
            _ => {
                let wake_up = if case.wait == Wait::Sleeping { WAKE_UP_NS } else { 0.0 };
                2.0 * (200.0 * depth.powi(3) + wake_up + per_byte + step) + self.round_trip_ns(case)
            }
        }
    }

    /// What a round trip takes on the way, whoever makes it.
    pub fn round_trip_ns(&self, case: &Case) -> f64 {
        let between_hosts = !case.pairs.is_within_host();
        if between_hosts { 2.0 * self.world.delay_ns } else { 0.0 }
    }

    /// Whether a message of this size does not come through.
    pub fn swallows(&self, plan: &Plan, case: &Case, bytes: u64) -> bool {
        let most = self.world.swallows_above;
        let mut holding = self.holding(plan, case);
        let is_hole = holding.any(|one| Cause::named(&one.cause).is_some_and(Cause::stops_all));
        !case.pairs.is_within_host() && (most > 0 && bytes > most || is_hole && bytes > HOLE)
    }

    /// What faults put in by hand add: a spin before each message, copies of it, a share of its time.
    pub fn fault_ns(&self, plan: &Plan, case: &Case, bytes: u64) -> f64 {
        let value = |knob: &str| plan.value_for(&case.rung, case.arm, knob);
        let spin = value("shim.spin").and_then(|text| text.parse::<Nanoseconds>().ok());
        let copies: f64 = value("shim.copies").and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let slowdown: f64 = value("shim.slowdown").and_then(|text| text.parse().ok()).unwrap_or(0.0);
        spin.map_or(0.0, |time| time.0)
            + copies * COPY_NS_PER_BYTE * bytes as f64
            + slowdown / 100.0 * self.message_ns(case, bytes).max(self.window_ns(plan, case, bytes))
    }

    /// What a message takes alone where an end works on it, too. The sender binds: the receiver has time to spare.
    pub fn working_ns(&self, plan: &Plan, case: &Case, bytes: u64) -> f64 {
        let alone_ns = self.message_ns(case, bytes);
        if case.pattern != Pattern::Stream {
            return alone_ns;
        }
        let with = |knob: &str, share: f64| {
            let percent: Option<f64> =
                plan.value_for(&case.rung, case.arm, knob).and_then(|text| text.parse().ok());
            share * alone_ns * (1.0 + percent.unwrap_or(0.0) / 100.0)
        };
        with("shim.sender-work", 1.0).max(with("shim.receiver-work", RECEIVER_BUSY))
    }

    /// What a message takes at least where a buffer that was asked for bounds what is under way: a window a round trip.
    pub fn window_ns(&self, plan: &Plan, case: &Case, bytes: u64) -> f64 {
        // Where a cause was put in it is what binds, and no buffer beside it.
        if case.pattern != Pattern::Stream || !self.world.causes.is_empty() {
            return 0.0;
        }
        let asked = ["socket.send-buffer", "socket.receive-buffer"].map(|knob| {
            plan.value_for(&case.rung, case.arm, knob).and_then(|text| text.parse::<Bytes>().ok())
        });
        let window = asked.into_iter().flatten().map(|size| size.0).min();
        window.map_or(0.0, |window| bytes as f64 * self.round_trip_ns(case) / window.max(1) as f64)
    }

    /// What causes add that were put in, where what is set does not take them away; and what pacing adds.
    pub fn cause_ns(&self, plan: &Plan, case: &Case, bytes: u64) -> f64 {
        if case.pairs.is_within_host() || case.pattern.is_exchange() {
            return 0.0;
        }
        let whole_ns = self.message_ns(case, bytes);
        let held = self.holding(plan, case).map(|one| (one.strength - 1.0) * whole_ns).sum::<f64>();
        let pace = plan.value_for(&case.rung, case.arm, PACING).and_then(|text| text.parse::<BitRate>().ok());
        let paced_ns = pace.map_or(0.0, |rate| 8e9 * bytes as f64 / rate.0);
        let slowdown = plan.value_for(&case.rung, case.arm, "shim.slowdown");
        let slowdown: f64 = slowdown.and_then(|text| text.parse().ok()).unwrap_or(0.0);
        // What slows the whole slows this, too.
        held.max(paced_ns - whole_ns) * (1.0 + slowdown / 100.0)
    }

    /// Whether a pace takes a cause away of which a pace between others does: a policer's, which lets more pass than TCP has of it.
    fn is_below_policer(&self, one: &PlantedCause, plan: &Plan, case: &Case) -> bool {
        let pace = plan.value_for(&case.rung, case.arm, PACING).and_then(|text| text.parse::<BitRate>().ok());
        let bytes = plan.profile.sizes.iter().copied().max().unwrap_or(1);
        let held_bps = 8e9 * bytes as f64 / (self.message_ns(case, bytes) * one.strength);
        pace.is_some_and(|pace| pace.0 <= POLICED * held_bps)
    }

    /// The causes that hold a case back.
    pub fn holding<'m>(&'m self, plan: &'m Plan, case: &'m Case) -> impl Iterator<Item = &'m PlantedCause> {
        let is_policer =
            |one: &PlantedCause| Cause::named(&one.cause).is_some_and(|cause| !cause.between.is_empty());
        self.world.causes.iter().filter(move |one| match is_policer(one) {
            true => !self.is_below_policer(one, plan, case),
            false => !is_taken_away(&one.cause, plan, case),
        })
    }

    /// Whether connections are watched.
    pub fn is_watched(&self) -> bool {
        !self.world.causes.is_empty()
    }

    /// The bytes, those beyond the knee counted by half more.
    fn bytes_paid(&self, bytes: u64) -> f64 {
        let beyond = if self.world.knee_at > 0 { bytes.saturating_sub(self.world.knee_at) } else { 0 };
        bytes as f64 + KNEE * beyond as f64
    }

    fn step_ns(&self, rung: Option<&Rung>, bytes: u64) -> f64 {
        let between_hosts = rung.is_some_and(|rung| rung.place == Place::Network);
        let pays = between_hosts && self.world.step_at > 0 && bytes >= self.world.step_at;
        if pays { self.world.step_ns } else { 0.0 }
    }
}

/// Whether one of a cause's experiments holds.
fn is_taken_away(cause: &str, plan: &Plan, case: &Case) -> bool {
    let holds = |setting: &str| {
        let (knob, value) = setting.split_once('=').unwrap_or((setting, ""));
        plan.value_for(&case.rung, case.arm, knob) == Some(value)
    };
    let experiments = Cause::named(cause).map_or([&[][..]; 2], |cause| [cause.experiments, cause.on_hosts]);
    experiments.into_iter().flatten().any(|experiment| experiment.split('+').all(holds))
}

/// What comes through a black hole.
const HOLE: u64 = 1024;

/// How many rungs lie below; one that is another engine of what is below it lies no deeper.
fn depth(rung: Option<&Rung>) -> u32 {
    let Some((rung, below)) = rung.and_then(|rung| Some((rung, rung.below?))) else { return 0 };
    u32::from(!rung.chooses_engine()) + depth(Rung::named(below))
}
