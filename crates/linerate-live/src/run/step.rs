//! A step's names, its parts by host, and the events that come of it.

use super::protocol::{BlockAnswer, TaskAnswer, TrialAnswer, WorkerPart};
use crate::plan::{Block, Case, HostId, Pairs, Plan, Role, Step, Target};
use crate::record::{
    Event, HostDelta, NotMeasured, Reason, RoleRecord, Series, SocketRecord, StepRecord, Trial, WireAudit,
};
use crate::transport::Task;
use crate::vocabulary::{ReasonKind, Rung, TransportEntry};
use crate::workload::application::{Order, ends};
use crate::{Error, Result};
use std::collections::BTreeSet;

/// A packet of so many bytes crosses every network of IPv6 whole (RFC 8200, section 5).
const NEVER_CUT: u64 = 1280;

/// One session of a step: two ends that meet, or one that works alone.
pub struct StepSession<'s> {
    /// Its name.
    pub name: String,
    /// What is measured on it.
    pub case: &'s Case,
    /// Its number among those of the case.
    pub pair: u32,
    /// Whether it runs beside the others, on connections of its own.
    pub beside: bool,
    /// The roles at its ends.
    pub roles: Vec<&'s Role>,
}

/// Every session of a step: those of its case, then those of what runs beside it.
pub fn step_sessions(step: &Step) -> Vec<StepSession<'_>> {
    let mut all = of_case(&step.case, &step.roles, false);
    if step.case.pattern.connects_anew() {
        all.iter_mut().for_each(|step_session| step_session.name += &format!(" step {}", step.number));
    }
    if let Some(load) = &step.beside {
        all.extend(of_case(&load.case, &load.roles, true));
    }
    all
}

fn of_case<'s>(case: &'s Case, roles: &'s [Role], beside: bool) -> Vec<StepSession<'s>> {
    let pairs: BTreeSet<u32> = roles.iter().map(|role| role.pair).collect();
    let step_session = |pair: u32| {
        let roles: Vec<&Role> = roles.iter().filter(|role| role.pair == pair).collect();
        StepSession { name: name(case, &roles, beside.then_some(pair)), case, pair, beside, roles }
    };
    pairs.into_iter().map(step_session).collect()
}

/// One session a rung, number of flows and pair of hosts; its direction and wait mode change freely.
fn name(case: &Case, roles: &[&Role], beside: Option<u32>) -> String {
    let hosts: BTreeSet<HostId> = roles.iter().map(|role| role.host).collect();
    let hosts: Vec<String> = hosts.into_iter().map(String::from).collect();
    // A long stream shows how a new connection begins, so it has one of its own; so has each way of a load.
    let long = if case.timeline { " long" } else { "" };
    let beside = beside.map_or(String::new(), |way| format!(" beside {way}"));
    format!("{} x {} {} arm {}{long}{beside}", case.rung, case.flows, hosts.join("-"), case.arm)
}

/// The rung with this name.
pub fn rung(id: &str) -> Result<&'static Rung> {
    Rung::named(id).ok_or_else(|| Error::usage(format!("no rung is called `{id}`"), "see `linerate list`"))
}

/// What carries the bytes of a step.
fn transport(step: &Step) -> Option<&'static TransportEntry> {
    Rung::named(&step.case.rung).map(|rung| rung.transport)
}

/// Whether another program's code does the work of a step.
pub fn is_foreign(step: &Step) -> bool {
    transport(step).is_some_and(|entry| entry.foreign)
}

/// Whether its messages may cross as fragments that are put together at the other end.
pub fn may_be_cut(step: &Step) -> bool {
    let is_long = step.blocks.iter().any(|block| block.message_bytes > NEVER_CUT);
    is_long && transport(step).is_some_and(|entry| !entry.reliable)
}

/// What is on record of a step that failed between these hosts.
pub fn failed(plan: &Plan, step: &Step, pairs: &Pairs, failure: &StepFailure, at_ns: u64) -> NotMeasured {
    let StepFailure { error, session, .. } = failure;
    let with = plan.arm_name(step.case.arm).map_or(String::new(), |arm| format!(" with {arm}"));
    let what = match is_foreign(step) {
        true => format!("{error} (during {})", step.case),
        false => error.cause().to_string(),
    };
    let why = format!("failed{with}: {what}");
    let reason = Reason::new(ReasonKind::Failed, why, error.hint().unwrap_or_default());
    let failed = NotMeasured::failed(step, pairs, reason);
    let sizes = error.message_bytes().filter(|_| failed.case.is_some());
    NotMeasured {
        session: *session,
        message_bytes: sizes.into_iter().collect(),
        at_ns: Some(at_ns),
        ..failed
    }
}

/// Why a step failed.
pub struct StepFailure {
    pub error: Error,
    /// Whether a session could not be opened.
    pub session: bool,
    /// What is on record of it already, in place of the whole step: the others' part of it was measured.
    pub lines: Option<Vec<NotMeasured>>,
}

impl From<Error> for StepFailure {
    fn from(error: Error) -> StepFailure {
        StepFailure { error, session: false, lines: None }
    }
}

/// How a step ends of which these parts fell with agents that are silent: as the first of them, with what is on record of each.
pub fn fallen(silent: Vec<StepFailure>) -> std::result::Result<(), StepFailure> {
    let mut silent = silent.into_iter();
    let Some(first) = silent.next() else { return Ok(()) };
    Err(silent.fold(first, |mut first, other| {
        first.lines.get_or_insert_default().extend(other.lines.into_iter().flatten());
        first
    }))
}

/// The hosts of each part of a step that has an outcome of its own: a pair where the step's are disjoint and nothing
/// runs beside them, else all.
pub fn outcomes(step: &Step) -> Vec<BTreeSet<HostId>> {
    let hosts = |pairs: &Pairs| pairs.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    match &step.beside {
        None => step.case.pairs.apart().iter().map(hosts).collect(),
        Some(load) => vec![step.roles.iter().chain(&load.roles).map(|role| role.host).collect()],
    }
}

/// What each session of one host's workers does in a step.
pub fn parts(step: &Step, host: HostId) -> Vec<WorkerPart> {
    let mut parts: Vec<WorkerPart> = Vec::new();
    for step_session in step_sessions(step) {
        for role in step_session.roles.iter().filter(|role| role.host == host) {
            let task = Task { does: role.does, cpus: role.cpus.clone() };
            let is_same =
                |part: &&mut WorkerPart| (part.worker, &part.session) == (role.worker, &step_session.name);
            match parts.iter_mut().find(is_same) {
                Some(part) => part.tasks.push(task),
                None => parts.push(part(step, &step_session, role.worker, task)),
            }
        }
    }
    parts
}

fn part(step: &Step, step_session: &StepSession, worker: u32, task: Task) -> WorkerPart {
    WorkerPart {
        worker,
        session: step_session.name.clone(),
        pair: step_session.pair,
        beside: step_session.beside,
        wait: step_session.case.wait,
        blocks: if step_session.beside {
            step.beside.iter().map(|load| load.block()).collect()
        } else {
            step.blocks.clone()
        },
        tasks: vec![task],
        flows: step_session.case.flows,
        order: None,
    }
}

/// What the ends of an application are told; none of what is none.
pub fn order(plan: &Plan, step: &Step, host: HostId) -> Option<Box<Order>> {
    let case = &step.case;
    case.pattern.entry().application.then(|| {
        Box::new(Order {
            settings: plan.settings_for(&case.rung, case.arm).cloned().collect(),
            hosts: plan.host_ids(),
            host,
            worker: 0,
            pairs: ends(case.pairs.iter()),
            graph: plan.graph(case),
            listening: plan.host_ids().into_iter().filter(|id| plan.listens(*id)).collect(),
            ports: plan.host(host).and_then(|host| host.ports),
            in_lab: matches!(plan.target, Target::Lab(_)),
            patience_ms: step.patience_ns / 1_000_000,
        })
    })
}

/// The events of a step: its trials, what was sampled, and last the step itself.
pub fn events(
    step: &Step,
    answers: Vec<(HostId, TrialAnswer)>,
    wire: Option<WireAudit>,
    at_ns: u64,
    duration_ns: u64,
) -> Vec<Event> {
    let mut record = blank(step, wire, at_ns, duration_ns);
    let mut roles: Vec<Vec<RoleRecord>> = step.blocks.iter().map(|_| Vec::new()).collect();
    let mut loaded: Vec<Vec<RoleRecord>> = vec![Vec::new()];
    let mut events = Vec::new();
    for (host, answer) in answers {
        let mut series = answer.series;
        for part in answer.parts {
            record.kept_awake &= part.kept_awake;
            record.timer_slack_lowered &= part.timer_slack_lowered;
            record.sockets.extend(part.sockets.into_iter().map(|socket| SocketRecord {
                host,
                pair: part.pair,
                beside: part.beside,
                ..socket
            }));
            series
                .extend(part.series.into_iter().map(|series| Series { worker: Some(part.worker), ..series }));
            let into = if part.beside { &mut loaded } else { &mut roles };
            take_tasks(host, part.pair, part.tasks, into);
        }
        events.extend(
            series.into_iter().map(|series| Event::Series(Series { step: step.number, host, ..series })),
        );
        record.hosts.push(HostDelta { host, ..answer.host });
    }
    events.extend(trials(step, &step.case, &step.blocks, roles));
    if let Some(load) = &step.beside {
        events.extend(trials(step, &load.case, &[load.block()], loaded));
    }
    events.push(Event::Step(record));
    events
}

/// The records of one session's tasks, each block with its own.
fn take_tasks(host: HostId, pair: u32, tasks: Vec<TaskAnswer>, into: &mut [Vec<RoleRecord>]) {
    for task in tasks {
        for (block, roles) in task.blocks.into_iter().zip(&mut *into) {
            let BlockAnswer { flows, histogram, samples } = block;
            roles.push(RoleRecord { host, does: task.does, flows, histogram, samples, pair });
        }
    }
}

/// A trial a block, but for those that are all warm-up.
fn trials(step: &Step, case: &Case, blocks: &[Block], roles: Vec<Vec<RoleRecord>>) -> Vec<Event> {
    let trials = blocks.iter().zip(roles).filter(|(block, _)| block.lead < block.slices);
    trials.flat_map(|(block, roles)| Trial::of_block(step, case, block, roles)).map(Event::Trial).collect()
}

/// Says of a step how long the attempts took that were given up.
pub fn mark_suspended(events: &mut [Event], ns: u64) {
    for event in events {
        if let Event::Step(record) = event {
            record.suspended_ns = ns;
        }
    }
}

/// The record of a step of which no host has told anything yet.
fn blank(step: &Step, wire: Option<WireAudit>, at_ns: u64, duration_ns: u64) -> StepRecord {
    StepRecord {
        step: step.number,
        pass: step.pass,
        why: step.why,
        case: step.case.clone(),
        roles: step.roles.clone(),
        beside: step.beside.clone(),
        at_ns,
        duration_ns,
        predicted_ns: step.predicted_ns,
        kept_awake: true,
        timer_slack_lowered: true,
        suspended_ns: 0,
        hosts: Vec::new(),
        sockets: Vec::new(),
        wire,
    }
}
