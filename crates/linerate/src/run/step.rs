//! A step's names, its parts by host, and the events that come of it.

use super::protocol::{TrialAnswer, WorkerPart};
use crate::plan::Step;
use crate::record::{Event, RoleRecord, StepRecord, Trial, WireAudit};
use crate::transport::Task;
use crate::vocabulary::{RUNGS, Rung};
use crate::{Error, Result};

/// One session a rung, number of flows and pair of hosts; its direction and wait mode change freely.
pub fn session_name(step: &Step) -> String {
    let mut hosts = [step.case.from.as_str(), step.case.to.as_str()];
    hosts.sort_unstable();
    // A long stream shows how a new connection begins, so it has one of its own.
    let long = if step.case.timeline { " long" } else { "" };
    format!("{} x {} {} arm {}{long}", step.case.rung, step.case.flows, hosts.join("-"), step.case.arm)
}

/// The rung with this name.
pub fn rung(id: &str) -> Result<&'static Rung> {
    let found = RUNGS.iter().find(|rung| rung.id == id);
    found.ok_or_else(|| Error::usage(format!("no rung is called `{id}`"), "see `linerate list`"))
}

/// What each worker of one host does in a step.
pub fn parts(step: &Step, host: &str) -> Vec<WorkerPart> {
    let mut parts: Vec<WorkerPart> = Vec::new();
    for role in step.roles.iter().filter(|role| role.host == host) {
        let task = Task { does: role.does, cpus: role.cpus.clone() };
        match parts.iter_mut().find(|part| part.worker == role.worker) {
            Some(part) => part.tasks.push(task),
            None => parts.push(WorkerPart { worker: role.worker, tasks: vec![task] }),
        }
    }
    parts
}

/// The events of a step: its trials, what was sampled, and last the step itself.
pub fn events(
    step: &Step,
    answers: Vec<(String, TrialAnswer)>,
    wire: Option<WireAudit>,
    at_ns: u64,
    duration_ns: u64,
) -> Vec<Event> {
    let mut record = blank(step, wire, at_ns, duration_ns);
    let mut roles: Vec<Vec<RoleRecord>> = step.blocks.iter().map(|_| Vec::new()).collect();
    let mut events = Vec::new();
    for (host, answer) in answers {
        let mut series = answer.series;
        for worker in answer.workers {
            record.kept_awake &= worker.kept_awake;
            record.timer_slack_lowered &= worker.timer_slack_lowered;
            let sockets = worker.sockets.into_iter().map(|mut socket| {
                socket.host.clone_from(&host);
                socket
            });
            record.sockets.extend(sockets);
            series.extend(worker.series.into_iter().map(|mut series| {
                series.worker = Some(worker.worker);
                series
            }));
            for task in worker.tasks {
                for (block, roles) in task.blocks.into_iter().zip(&mut roles) {
                    let (flows, histogram) = (block.flows, block.histogram);
                    roles.push(RoleRecord { host: host.clone(), does: task.does, flows, histogram });
                }
            }
        }
        for mut series in series {
            (series.step, series.host) = (step.number, host.clone());
            events.push(Event::Series(series));
        }
        let mut delta = answer.host;
        delta.host = host;
        record.hosts.push(delta);
    }
    let trials = step.blocks.iter().zip(roles).filter(|(block, _)| block.lead < block.slices);
    events.extend(trials.map(|(block, roles)| {
        let (case, block) = (step.case.clone(), *block);
        Event::Trial(Trial { step: step.number, pass: step.pass, why: step.why, case, block, roles })
    }));
    events.push(Event::Step(record));
    events
}

/// The record of a step of which no host has told anything yet.
fn blank(step: &Step, wire: Option<WireAudit>, at_ns: u64, duration_ns: u64) -> StepRecord {
    StepRecord {
        step: step.number,
        pass: step.pass,
        why: step.why,
        case: step.case.clone(),
        roles: step.roles.clone(),
        at_ns,
        duration_ns,
        predicted_ns: step.predicted_ns,
        kept_awake: true,
        timer_slack_lowered: true,
        hosts: Vec::new(),
        sockets: Vec::new(),
        wire,
    }
}
