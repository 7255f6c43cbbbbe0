//! How many messages a block has: as many as the latest rate on record fits into a trial.

use super::buffers::{Buffers, cold_from};
use super::entries::{Entry, LEAST_SAMPLES, PROBE_NS};
use super::network_path;
use super::visit::Visit;
use crate::analysis::settled_ns;
use crate::plan::{Block, Case, Pace, Plan, Why};
use crate::record::{Recording, Trial};
use crate::unit::Nanoseconds;
use crate::vocabulary::{CLOCK_READ, FEEDBACK_NS, Pattern, Place, SHIM_ANSWERED, Search};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// What a stream sends to find its rate where nothing is known, and at most.
const PROBE_BYTES: u64 = 4 << 20;
const MOST_PROBES: u64 = 2000;
/// Where each message is answered it may take a delayed acknowledgement's 40 ms.
const MOST_ANSWERED: u64 = 20;

/// A sender that rests before each message does so for no longer than this in all, and before so many at least: the first one
/// finds buffers that are empty.
const LONGEST_REST_NS: f64 = 1e9;
const LEAST_RESTED: u64 = 2;

/// How long a flow runs before its probing blocks: they only find the rate.
const PROBE_WARM_UP_NS: u64 = 100_000_000;

/// The longest ramp that is waited for in each pass.
const LONGEST_WARM_UP_NS: u64 = 3_000_000_000;

/// Slices of a stream's block.
const STREAM_SLICES: u64 = 15;
/// Of several flows the slices under way at the end of one do not count, half a slice each in the mean: with so
/// many slices that is 1 %. All flows together have at most so many, for they are all on record.
const SLICES_OF_SEVERAL: u64 = 50;
const SLICES_OF_ALL: u64 = 512;

/// Slices a second on a time line.
const TIMELINE_SLICES_PER_S: u64 = 10;

/// Most samples of a ping-pong's block.
const MOST_SAMPLES: u64 = 20_000;

/// Most requests of a block that are sent at set moments: of so many a percentile of 99.99 is told.
const MOST_REQUESTS: u64 = 1 << 20;

/// The messages of a fixed count, and the time at which large ones end sooner.
const FIXED_COUNT: u64 = 4096;
const FIXED_COUNT_NS: u64 = 2_000_000_000;

/// The share of a sample that its stamp may cost; shorter round trips are timed together.
const STAMP_SHARE: f64 = 0.05;

/// What a stamp costs where nobody measured it: slow for a clock that is read in user code.
const STAMP_NS: f64 = 25.0;

/// The size that a flow warms up with, where it is one of its sizes.
const WARM_UP_BYTES: u64 = 64 << 10;

/// A message of a stream takes a call at least: so long where a rate is known of another size alone.
const CALL_NS: f64 = 500.0;

/// A stream's trial lasts at least this many round trips: it pays one to agree on its start, and so
/// reads low by at most 1 %. Where round trips are long it lasts 20 (method B1), and its first slice, in which
/// that one lies, does not count.
pub(super) const LEAST_ROUND_TRIPS: f64 = 100.0;

/// A search goes by so many of the latest trials.
const RECENT: usize = 6;

/// The blocks of an entry's next visit, in an order that follows from the seed.
pub fn for_visit(plan: &Plan, visit: &Visit, recording: &Recording, seed: u64) -> Vec<Block> {
    let Visit { entry, probe, .. } = visit;
    let probe = *probe;
    let first_probe = probe == Some(0);
    let round_trip_ns = round_trip_ns(entry, recording);
    let mut sizes = entry.sizes.clone();
    // Pairs are in their order already.
    if visit.why != Why::Pairs {
        sizes.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    }
    if first_probe && entry.path.is_long() {
        // One size tells the rate, at which the others go too.
        sizes = entry.sizes.iter().copied().max().into_iter().collect();
    }
    let cold_from = cold_from(&recording.hosts);
    let is_long = network_path::is_long(round_trip_ns) || entry.bounded && entry.path.is_known();
    let scale = Scale { least_sample_ns: least_sample_ns(recording), is_long, round_trip_ns };
    let most_probes = if is_answered(plan, &entry.case) { MOST_ANSWERED } else { MOST_PROBES };
    let most_probes = rested(plan, &entry.case, most_probes);
    let block = |size| {
        let buffers = Buffers::for_size(plan, entry, size, cold_from);
        Shape { entry, size, buffers, scale, most_probes }
    };
    let mut blocks = Vec::with_capacity(sizes.len() + 1);
    if entry.warm_up_ns > 0 && !first_probe {
        // At a size whose rate is known, or the warm-up would last as long as the guess is wrong.
        let size = if sizes.contains(&WARM_UP_BYTES) { WARM_UP_BYTES } else { sizes[0] };
        let ns = known_ns(entry, size, recording);
        let warm_up_ns = match probe {
            Some(_) => entry.warm_up_ns.min(PROBE_WARM_UP_NS),
            None => entry.warm_up_ns.max(ramp_ns(entry, recording)),
        };
        blocks.extend(ns.map(|ns| block(size).warm_up(warm_up_ns, ns)));
    }
    let trial_ns = trial_ns(plan, visit, round_trip_ns);
    blocks.extend(sizes.into_iter().map(|size| match expected_ns(visit, size, recording) {
        Some(ns) if !first_probe => block(size).lasting(trial_ns, ns),
        _ => block(size).probing(),
    }));
    blocks
}

/// Whether each message of a stream is answered, so that it takes as long as an exchange.
pub(super) fn is_answered(plan: &Plan, case: &Case) -> bool {
    let value = plan.value_for(&case.rung, case.arm, SHIM_ANSWERED.name);
    value.is_some_and(|value| SHIM_ANSWERED.plants_fault(value))
}

/// As many messages of a sender that rests before each as rest for a while, so many at most.
fn rested(plan: &Plan, case: &Case, most: u64) -> u64 {
    let rest = plan.value_for(&case.rung, case.arm, "shim.pause").and_then(|value| value.parse().ok());
    rest.map_or(most, |rest: Nanoseconds| {
        ((LONGEST_REST_NS / rest.0.max(1.0)) as u64).clamp(LEAST_RESTED, most)
    })
}

/// How long a block is to last.
fn trial_ns(plan: &Plan, visit: &Visit, round_trip_ns: f64) -> u64 {
    let entry = &visit.entry;
    let is_stream = entry.warm_up_ns > 0;
    match visit.probe {
        Some(_) if entry.has_pairs() => entry.trial_ns,
        None if entry.bounded => entry.trial_ns,
        Some(_) if entry.path.is_long() => entry.trial_ns / 3,
        Some(_) => entry.trial_ns.min(plan.profile.trial_ns) / 3,
        None if !is_stream => entry.trial_ns,
        None if network_path::is_long(round_trip_ns) => {
            entry.trial_ns.max(network_path::least_trial_ns(round_trip_ns) as u64)
        }
        None => entry.trial_ns.max((LEAST_ROUND_TRIPS * round_trip_ns) as u64),
    }
}

/// How long a new connection between these hosts took to warm up, where a long stream has shown it.
fn ramp_ns(entry: &Entry, recording: &Recording) -> u64 {
    let between_hosts = entry.rung.place == Place::Network;
    let settled = between_hosts.then(|| settled_ns(recording, entry.rung.id)).flatten();
    settled.unwrap_or(0).min(LONGEST_WARM_UP_NS)
}

/// How long a step's blocks should take.
pub fn predicted_ns(entry: &Entry, blocks: &[Block], recording: &Recording) -> u64 {
    let total = |block: &Block| {
        let ns = known_ns(entry, block.message_bytes, recording);
        ns.map_or(PROBE_NS, |ns| (ns * (block.messages * u64::from(block.slices)) as f64) as u64)
    };
    blocks.iter().map(total).sum()
}

/// What a block's parts are measured by.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// The shortest sample of a ping-pong.
    least_sample_ns: f64,
    /// Whether the hosts' round trip is long.
    is_long: bool,
    /// That round trip.
    round_trip_ns: f64,
}

/// A block to be made.
struct Shape<'e> {
    entry: &'e Entry,
    size: u64,
    buffers: Buffers,
    scale: Scale,
    /// The most messages of a stream whose rate is not known.
    most_probes: u64,
}

impl Shape<'_> {
    fn block(&self, messages: u64, slices: u64, lead: u64) -> Block {
        Block {
            message_bytes: self.size,
            messages: messages.max(1),
            slices: slices as u32,
            lead: lead as u32,
            cache: self.buffers.cache,
            pace: self.entry.case.pace,
            read_bytes: self.buffers.read_bytes,
            content: self.buffers.content,
        }
    }

    /// The time from one message to the next one, where it is set; else what a message takes.
    fn each_ns(&self, ns: f64) -> f64 {
        match self.entry.case.pace {
            Pace::Closed => ns,
            Pace::Every(gap) | Pace::Poisson(gap) => ns.max(gap as f64),
        }
    }

    /// A few messages, few enough for a slow link.
    fn probing(&self) -> Block {
        if self.entry.case.pattern.entry().is_single {
            return self.block(1, 1, 0);
        }
        if self.entry.case.pattern.searches() {
            return self.block(LEAST_SAMPLES, 1, 0);
        }
        match self.entry.case.pattern.is_exchange() {
            true if self.least_messages() == 1 => self.block(1, 1, 0),
            // A unit of an application's work may take long, whatever its size.
            true if self.entry.case.pattern.entry().application => self.block(1, LEAST_SAMPLES, 1),
            true if self.size <= 64 << 10 => self.block(1, 40, 8),
            true => self.block(1, 6, 2),
            false => self.block(self.probing_messages(), 1, 0),
        }
    }

    /// Messages of a stream that find its rate.
    fn probing_messages(&self) -> u64 {
        let usual = (PROBE_BYTES / self.size).clamp(1, self.most_probes);
        let path = &self.entry.path;
        match path.is_long() {
            true => path.probing_messages(self.size).min(self.most_probes),
            false if path.is_known() => usual.min(path.probing_messages(self.size)),
            false => usual,
        }
    }

    /// As many messages as fit into the time, at so many nanoseconds each.
    fn lasting(&self, trial_ns: u64, ns: f64) -> Block {
        let case = &self.entry.case;
        if case.pattern.entry().is_single {
            return self.block(1, 1, 0);
        }
        if let Some(Search { least_parts, longest_part_ns, .. }) = case.pattern.search() {
            let part_ns = (trial_ns / least_parts).min(longest_part_ns);
            let messages = part_ns.div_ceil(FEEDBACK_NS);
            return self.block(messages, (trial_ns / (messages * FEEDBACK_NS)).max(least_parts), 0);
        }
        if case.pattern == Pattern::FixedCount {
            let most = (FIXED_COUNT_NS.max(trial_ns) as f64 / ns.max(1.0)) as u64;
            return self.block(FIXED_COUNT.min(most), 1, 0);
        }
        let ns = self.each_ns(ns);
        let fitting = (trial_ns as f64 / ns.max(1.0)).max(1.0) as u64;
        if !case.pace.is_closed() && case.pattern.is_exchange() {
            let requests = fitting.clamp(LEAST_SAMPLES, MOST_REQUESTS);
            return self.block(1, requests + requests.div_ceil(10), requests.div_ceil(10));
        }
        if self.entry.case.timeline {
            let slices = (trial_ns * TIMELINE_SLICES_PER_S / 1_000_000_000).max(1);
            return self.block(fitting / slices, slices, 0);
        }
        if case.pattern.is_exchange() {
            let messages = (self.scale.least_sample_ns / ns.max(1.0)).ceil().max(1.0) as u64;
            if fitting <= 1 && self.least_messages() == 1 {
                return self.block(1, 1, 0);
            }
            let samples = (fitting / messages).clamp(LEAST_SAMPLES, MOST_SAMPLES);
            return self.block(messages, samples + samples.div_ceil(10), samples.div_ceil(10));
        }
        let fitting = fitting.max(self.entry.least_messages(ns));
        let (least, most) = self.stream_slices(fitting, ns);
        // Of one that takes so many round trips the one to agree in is no part.
        let agrees_at_once = least == 1 && ns > LEAST_ROUND_TRIPS * self.scale.round_trip_ns;
        if self.scale.is_long && !agrees_at_once && self.entry.rung.place == Place::Network {
            // Few messages fit, so none is rounded off; in the first slice lies the round trip that the ends
            // took to agree.
            let messages = self.whole_windows(fitting, fitting.div_ceil(most + 1));
            return self.block(messages, (fitting / messages).max(least + 1), 1);
        }
        let slices = fitting.clamp(least, most);
        self.block(self.whole_windows(fitting, fitting / slices), slices, 0)
    }

    /// What a slice of about so many messages has where they go in windows: whole ones, or all that fit.
    fn whole_windows(&self, fitting: u64, messages: u64) -> u64 {
        match self.window() {
            Some(window) if fitting >= window => messages.max(window) / window * window,
            Some(_) => fitting,
            None => messages,
        }
    }

    /// The fewest and the most slices of a stream of so many messages.
    fn stream_slices(&self, fitting: u64, ns: f64) -> (u64, u64) {
        let most = match u64::from(self.entry.case.flows) {
            1 => STREAM_SLICES,
            flows => (SLICES_OF_ALL / flows.max(1)).clamp(STREAM_SLICES, SLICES_OF_SEVERAL),
        };
        match self.window() {
            // A slice ends with a window, whose end is waited for: shorter ones would pay that more often than
            // windows do.
            Some(window) => (1, (fitting / window).clamp(1, most)),
            None => (self.entry.least_messages(ns), most),
        }
    }

    /// How many messages go in a window, where whole messages are passed.
    fn window(&self) -> Option<u64> {
        self.entry.rung.transport.passes_messages.then(|| self.block(1, 1, 0).window())
    }

    /// The fewest messages by what is known of the way.
    fn least_messages(&self) -> u64 {
        self.entry.least_messages(self.entry.path.message_ns(self.entry.case.pattern, self.size))
    }

    /// One block that is all warm-up.
    fn warm_up(&self, warm_up_ns: u64, ns: f64) -> Block {
        let fitting = (warm_up_ns as f64 / ns.max(1.0)).max(1.0) as u64;
        self.block(fitting, 1, 1)
    }
}

/// A sample is at least so long that its stamp is no more than its share, by the slowest calibrated clock:
/// by the lower end of its interval, because what disturbed the calibration can only have slowed it.
/// A fast clock changes nothing, so that calibrating does not change what is measured.
fn least_sample_ns(recording: &Recording) -> f64 {
    let hosts = recording.calibration.iter().flat_map(|calibration| &calibration.hosts);
    let costs = hosts
        .filter_map(|host| host.figures.get(CLOCK_READ))
        .map(|figure| figure.low.unwrap_or(figure.value));
    costs.fold(STAMP_NS, f64::max) / STAMP_SHARE
}

/// What a message takes at most: a size between two others may cost as much as the larger one.
fn expected_ns(visit: &Visit, size: u64, recording: &Recording) -> Option<f64> {
    let own = known_ns(&visit.entry, size, recording)?;
    if visit.why != Why::Bisect {
        return Some(own);
    }
    let larger = recording.trials.iter().filter(|trial| {
        trial.case == visit.entry.case && trial.pass > 0 && trial.block.message_bytes >= size
    });
    let nearest = larger.min_by_key(|trial| trial.block.message_bytes).and_then(message_ns);
    Some(nearest.map_or(own, |ns| ns.max(own)))
}

/// The time of one message (or round trip) of this size, by the latest trial on record: of this size,
/// or of the nearest one, scaled.
fn known_ns(entry: &Entry, size: u64, recording: &Recording) -> Option<f64> {
    let parts = entry.case.apart();
    let of_part = |trial: &Trial| {
        parts.iter().any(|part| is_alike(&trial.case, part) && trial.case.under == part.under)
    };
    // Where one of several pairs of hosts was left out, the others are on record with it.
    let without_others = |trial: &Trial| entry.case.under.is_empty() && is_alike(&trial.case, &entry.case);
    by_trials(entry, size, recording, &of_part).or_else(|| by_trials(entry, size, recording, &without_others))
}

/// Whether two cases differ at most in how long they last and in what ran beside them: a long stream tells the rate of a
/// short one.
fn is_alike(one: &Case, other: &Case) -> bool {
    let key = |case: &Case| (case.pattern, case.wait, case.flows, case.arm, case.pace, case.beside);
    key(one) == key(other) && (&one.rung, &one.pairs, &one.id) == (&other.rung, &other.pairs, &other.id)
}

fn by_trials(
    entry: &Entry,
    size: u64,
    recording: &Recording,
    of_case: &dyn Fn(&Trial) -> bool,
) -> Option<f64> {
    let trials = || recording.trials.iter().rev().filter(|trial| of_case(trial));
    // Of pairs of hosts that have a trial each in one step the slowest counts.
    let slowest = |latest: &Trial| {
        if !entry.case.pairs.are_disjoint() {
            return message_ns(latest);
        }
        let key = |trial: &Trial| (trial.step, trial.block.message_bytes);
        let others = trials()
            .skip_while(|trial| key(trial) != key(latest))
            .take_while(|trial| key(trial) == key(latest));
        others.filter_map(message_ns).reduce(f64::max)
    };
    let recent = trials().filter(|trial| trial.block.message_bytes == size);
    // Where packets are lost a rate is another one each time, and a search cannot pay for what takes ten times as long.
    let counted = if entry.bounded { RECENT } else { 1 };
    let known: Vec<f64> = recent.take(counted).filter_map(slowest).collect();
    if !known.is_empty() {
        return Some(known.iter().sum::<f64>() / known.len() as f64);
    }
    let nearest = trials().min_by_key(|trial| trial.block.message_bytes.abs_diff(size))?;
    let scaled = slowest(nearest)? * size as f64 / nearest.block.message_bytes.max(1) as f64;
    let is_far = entry.path.is_long() && !entry.case.pattern.is_exchange();
    Some(if is_far { scaled.max(CALL_NS) } else { scaled })
}

/// The round trip of the smallest message on this rung: the latest on record, or what is known of the way.
fn round_trip_ns(entry: &Entry, recording: &Recording) -> f64 {
    let ping_pong = |trial: &&Trial| {
        let case = &trial.case;
        (&*case.rung, case.pattern, case.arm) == (entry.rung.id, Pattern::PingPong, entry.case.arm)
    };
    let trials = recording.trials.iter().rev().filter(ping_pong);
    let latest = trials.min_by_key(|trial| trial.block.message_bytes).and_then(message_ns);
    latest.unwrap_or(0.0).max(entry.path.round_trip_ns)
}

pub(super) fn message_ns(trial: &Trial) -> Option<f64> {
    let keeping = trial.roles.iter().filter(|role| role.does.keeps_time());
    let duration = keeping.flat_map(|role| &role.flows).map(|flow| flow.duration_ns).max()?;
    let messages = trial.block.messages * u64::from(trial.block.slices);
    Some((duration as f64 / messages.max(1) as f64).max(1.0))
}
