//! What the live view shows, as a value: computed from the events, without a clock and without a screen.

use super::load::Loads;
use super::note::{self, Note};
use super::row::{Key, Row};
use crate::analysis::{half_round_trip_ns, throughput_bps};
use crate::plan::{Case, HostId, Plan, Step};
use crate::record::{Event, Header, Recording, Trial};
use crate::schedule::Schedule;
use crate::unit::Bytes;
use crate::vocabulary::{LADDER_BYTES, LATENCY_BYTES, Pattern, Rung, Wait};
use std::collections::{BTreeMap, VecDeque};

/// Trials that the chart shows.
const RECENT: usize = 120;
/// Warnings that are kept.
const NOTES: usize = 20;

/// What the view shows.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The target.
    pub target: String,
    /// The profile.
    pub profile: String,
    /// The ladder as far as it is known, from the bottom up.
    pub rows: Vec<Row>,
    /// What the CPUs did.
    pub loads: Loads,
    /// The throughputs of the last trials, the newest last.
    pub recent: VecDeque<Rate>,
    /// What makes numbers doubtful, the newest first.
    pub notes: Vec<Note>,
    /// Since the run began, by its last step.
    pub elapsed_ns: u64,
    /// What is measured; none before the first step.
    pub now: Option<Now>,
    sizes: Vec<u64>,
    /// What the arms are.
    plan: Option<Plan>,
    machines: BTreeMap<HostId, String>,
}

/// The throughput of one trial, at whatever size it had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Bits a second.
    pub bps: f64,
    /// Whether messages went to and fro.
    pub ping_pong: bool,
}

/// The step that is under way.
#[derive(Debug, Clone)]
pub struct Now {
    /// What it belongs to.
    pub stage: String,
    /// What is measured.
    pub case: Case,
    /// The smallest and the largest message.
    pub message_bytes: Option<(u64, u64)>,
    /// How long it should take.
    pub predicted_ns: u64,
    /// The share of the run's time that has passed.
    pub done_share: f64,
    /// What the run still takes.
    pub left_ns: u64,
}

impl Now {
    /// What a schedule says of its next step.
    pub fn from_step(step: &Step, schedule: &dyn Schedule, recording: &Recording, done_share: f64) -> Now {
        let sizes = || step.blocks.iter().map(|block| block.message_bytes);
        Now {
            stage: schedule.stage(step),
            case: step.case.clone(),
            message_bytes: sizes().min().zip(sizes().max()),
            predicted_ns: step.predicted_ns,
            done_share,
            left_ns: schedule.left_ns(recording),
        }
    }

    /// The message sizes in words.
    pub fn sizes(&self) -> String {
        match self.message_bytes {
            Some((least, most)) if least < most => format!("{} to {}", Bytes(least), Bytes(most)),
            Some((size, _)) => Bytes(size).to_string(),
            None => String::new(),
        }
    }
}

impl Scene {
    /// Takes in an event of the recording.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Header(header) => self.header(header),
            Event::Host(host) => {
                self.machines.insert(host.host, host.machine.clone());
            }
            Event::Trial(trial) => self.trial(trial),
            Event::Step(step) => {
                self.elapsed_ns = step.at_ns + step.duration_ns;
                let machines = &self.machines;
                self.loads.step(step, |host| machines.get(&host).map_or(host.to_string(), String::clone));
            }
            _ => (),
        }
        let notes = note::lines_for(event, &|case| self.name(case));
        notes.into_iter().for_each(|text| self.note(text));
    }

    /// Takes in the step that begins.
    pub fn begin(&mut self, now: Now) {
        self.row(&now.case);
        self.now = Some(now);
    }

    /// Adds a warning, or counts it once more.
    pub fn note(&mut self, text: String) {
        let known = self.notes.iter().position(|note| note.text == text);
        let times = known.map_or(0, |index| self.notes.remove(index).times);
        self.notes.insert(0, Note { text, times: times + 1 });
        self.notes.truncate(NOTES);
    }

    /// The name of the line that a case belongs to.
    pub fn name(&self, case: &Case) -> String {
        Row::new(case, self.arm(case).as_deref()).name
    }

    /// The place of the line that is measured.
    pub fn current(&self) -> Option<usize> {
        let key = Key::from_case(&self.now.as_ref()?.case);
        self.rows.iter().position(|row| row.key == key)
    }

    fn header(&mut self, header: &Header) {
        let plan = &header.plan;
        self.target = plan.target.to_string();
        self.profile = plan.profile.name.clone();
        self.sizes = plan.profile.sizes.clone();
        self.plan = Some(plan.clone());
    }

    fn arm(&self, case: &Case) -> Option<String> {
        let plan = self.plan.as_ref().filter(|plan| !plan.arms.is_empty())?;
        // A ladder's arms are engines of one of its rungs.
        let mut rungs = plan.view.rungs().iter().filter_map(|id| Rung::named(id));
        let are_engines = rungs.any(|rung| rung.chooses_engine());
        if case.arm == 0 { (!are_engines).then(|| "base".into()) } else { plan.arm_name(case.arm) }
    }

    /// The line of a case, which is new when it is seen for the first time.
    fn row(&mut self, case: &Case) -> &mut Row {
        let key = Key::from_case(case);
        let index = self.rows.binary_search_by(|row| row.key.cmp(&key)).unwrap_or_else(|index| {
            let row = Row::new(case, self.arm(case).as_deref());
            self.rows.insert(index, row);
            index
        });
        &mut self.rows[index]
    }

    fn trial(&mut self, trial: &Trial) {
        self.loads.trial(trial);
        let half_ns = half_round_trip_ns(trial);
        let by_time = || Some(8e9 * trial.block.message_bytes as f64 / half_ns?);
        let bps = throughput_bps(trial).or_else(by_time);
        let ping_pong = trial.case.pattern == Pattern::PingPong;
        self.recent.extend(bps.map(|bps| Rate { bps, ping_pong }));
        let surplus = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..surplus);
        if trial.pass == 0 || !trial.why.counts() || trial.case.timeline {
            return;
        }
        let size = trial.block.message_bytes;
        let stated = Rung::named(&trial.case.rung).map_or(LADDER_BYTES, |r| r.ladder_bytes);
        let (at_ladder, at_latency) = (self.is_stated(size, stated), self.is_stated(size, LATENCY_BYTES));
        let row = self.row(&trial.case);
        match (ping_pong, bps, half_ns) {
            (false, Some(bps), _) if at_ladder => row.add_throughput(trial, bps),
            (true, _, Some(ns)) if at_latency && trial.case.wait == Wait::Polling => {
                row.polling_ns.add(trial.pass, ns);
            }
            (true, _, Some(ns)) if at_latency => row.sleeping_ns.add(trial.pass, ns),
            _ => (),
        }
    }

    /// Whether a size is the one that is stated, or the plan's nearest to it.
    fn is_stated(&self, size: u64, stated: u64) -> bool {
        let distance = |size: &u64| ((*size).max(1) as f64 / stated as f64).ln().abs();
        let nearest = self.sizes.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        size == stated || nearest == Some(&size)
    }
}
