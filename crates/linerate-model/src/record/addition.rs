//! Where a later run went on with what an earlier one had measured.

use super::{Event, Recording};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A later run of the same plan on the same hosts, whose steps follow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Addition {
    /// When it began, by the controller's clock.
    pub utc: String,
    /// The command line in force.
    pub command: Vec<String>,
    /// So many steps were on record.
    pub after_steps: u32,
    /// Since the first run began, by the controller's clock: what lies between two runs is in it.
    pub at_ns: u64,
    /// So many passes were asked for on top of what the plan has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// So much time was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
}

impl Event {
    /// The same of a run that began so much later.
    pub fn later(self, by_ns: u64) -> Event {
        let shift = |at_ns: &mut u64| *at_ns = at_ns.saturating_add(by_ns);
        let mut event = self;
        match &mut event {
            Event::Step(step) => shift(&mut step.at_ns),
            Event::NotMeasured(not) => not.at_ns.iter_mut().for_each(shift),
            Event::End(end) => shift(&mut end.at_ns),
            _ => {}
        }
        event
    }
}

impl Recording {
    /// The time that its runs took; what lay between two of them is nobody's.
    pub fn spent_ns(&self) -> u64 {
        let end_of = |steps: usize| {
            let last = steps.checked_sub(1).and_then(|at| self.steps.get(at));
            last.map_or(0, |step| step.at_ns.saturating_add(step.duration_ns))
        };
        let count = self.steps.len();
        let begun = self.additions.iter().filter(|addition| (addition.after_steps as usize) < count);
        let between =
            begun.map(|addition| addition.at_ns.saturating_sub(end_of(addition.after_steps as usize)));
        end_of(count).saturating_sub(between.fold(0, u64::saturating_add))
    }

    /// Its events but for the first line and the last, each behind what it follows from.
    pub fn body(&self) -> Vec<Event> {
        let known_before = self.unavailable.iter().filter(|not| not.after_steps.is_none());
        let mut events: Vec<Event> = self.hosts.iter().cloned().map(Event::Host).collect();
        events.extend(self.calibration.clone().map(Event::Calibration));
        events.extend(known_before.cloned().map(Event::NotMeasured));
        let mut sessions = self.sessions.iter().peekable();
        for number in 0..=self.steps.len() as u32 {
            let here = |after: u32| after == number;
            let added = self.additions.iter().filter(|addition| here(addition.after_steps));
            events.extend(added.cloned().map(Event::Addition));
            let failed = self.unavailable.iter().filter(|not| not.after_steps.is_some_and(here));
            events.extend(failed.cloned().map(Event::NotMeasured));
            let Some(step) = self.steps.get(number as usize) else { break };
            while let Some(session) = sessions.next_if(|session| session.pass <= step.pass) {
                events.push(Event::Session(session.clone()));
            }
            let trials = self.trials.iter().filter(|trial| trial.step == step.step);
            events.extend(trials.cloned().map(Event::Trial));
            let series = self.series.iter().filter(|series| series.step == step.step);
            events.extend(series.cloned().map(Event::Series));
            events.push(Event::Step(step.clone()));
        }
        events.extend(sessions.cloned().map(Event::Session));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;

    #[test]
    fn time_between_two_runs_is_not_spent() {
        let mut recording = Synthetic::default().recording();
        let (alone, half) = (recording.spent_ns(), recording.steps.len() / 2);
        let end = recording.steps[half - 1].at_ns + recording.steps[half - 1].duration_ns;
        recording.steps.iter_mut().skip(half).for_each(|step| step.at_ns += 1_000_000);
        let (after_steps, at_ns) = (half as u32, end + 1_000_000);
        recording.additions = vec![Addition { after_steps, at_ns, ..Addition::default() }];
        assert_eq!(recording.spent_ns(), alone);
        assert_eq!(recording.until(half).spent_ns(), end, "nothing of the later one is on record");
    }

    #[test]
    fn what_a_body_holds_is_all_of_it() {
        let recording = Synthetic::default().recording();
        let mut again = Recording { header: recording.header.clone(), ..Recording::default() };
        recording.body().into_iter().for_each(|event| again.push(event));
        again.end = recording.end.clone();
        assert_eq!(again, recording);
    }
}
