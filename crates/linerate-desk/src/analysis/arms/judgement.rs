//! The verdicts, from the blocks.

use super::*;
use crate::unit::{counted, percent};
use crate::vocabulary::metric::{NEIGHBOURS_SHARE, THROUGHPUT};

/// Why nothing is told where the positive control fails.
const MISSED: &str = "the positive control, which is the base slowed by a known share, was not found slower";

/// Whether a doubt is that one.
pub(super) fn is_missed(doubt: &str) -> bool {
    doubt == MISSED
}

/// The level of the test that confirms, to one side.
const CONFIRMING: f64 = 0.05;

impl Look<'_> {
    pub(super) fn arms(&self, kind: ArmKind) -> impl Iterator<Item = (u32, &Arm)> {
        (1..).zip(&self.plan.arms).filter(move |(_, arm)| arm.kind == kind)
    }

    /// The blocks of this look: of a search as many as what was begun needs.
    pub(super) fn planned(&self) -> u32 {
        let first = self.comparison.blocks;
        if self.comparison.adaptive {
            let begun = self.arms(ArmKind::Candidate).filter(|(arm, _)| self.blocks.has(*arm)).count();
            return FIRST_LOOK + race_blocks(begun, self.alpha);
        }
        if self.blocks.count() > first { 2 * first } else { first }
    }

    pub(super) fn control(&self, kind: ArmKind, holds: impl Fn(&Effect, f64) -> bool) -> Option<Control> {
        let (arm, _) = self.arms(kind).next()?;
        let ratios = self.blocks.ratios(arm, self.metric);
        // One block says nothing of how blocks scatter.
        let change = share(&ratios, 1.0 - self.alpha).filter(|_| ratios.len() > 1)?;
        Some(Control {
            arm,
            value: self.blocks.estimate(arm, self.metric),
            standard_error: standard_error(&ratios),
            holds: holds(&change, self.alpha),
            change,
        })
    }

    /// What makes every verdict *cannot tell*.
    pub(super) fn doubts(&self, same: Option<&Control>, slowed: Option<&Control>) -> Vec<String> {
        let (blocks, planned) = (self.blocks.count(), self.planned());
        // Of a run that was stopped too early a control says nothing yet.
        let failed = |control: Option<&Control>| control.map_or(blocks >= planned, |control| !control.holds);
        let differs = "the A/A control, which is the base once more, came out different";
        [
            (blocks < planned).then(|| format!("stopped after {blocks} of {}", counted(planned, "block"))),
            failed(same).then(|| differs.to_owned()),
            failed(slowed).then(|| MISSED.to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn candidates(&self, margin: f64, doubts: &[String]) -> Vec<Candidate> {
        // What a search did not begin is no candidate.
        let is_one = |arm: u32| !self.comparison.adaptive || self.blocks.has(arm);
        let candidates = self.arms(ArmKind::Candidate).filter(|(number, _)| is_one(*number));
        let mut found: Vec<Candidate> =
            candidates.map(|(number, arm)| self.measured(number, arm, margin)).collect();
        let ps: Vec<f64> =
            found.iter().map(|candidate| candidate.change.map_or(f64::NAN, |effect| effect.p)).collect();
        for (candidate, p) in found.iter_mut().zip(holm(&ps)) {
            candidate.p_adjusted = Some(p).filter(|p| p.is_finite());
            self.judge(candidate, margin, doubts);
        }
        found
    }

    /// All numbers of a candidate, not judged yet.
    fn measured(&self, number: u32, arm: &Arm, margin: f64) -> Candidate {
        let ratios = self.blocks.ratios(number, self.metric);
        let change = share(&ratios, 1.0 - self.alpha);
        let gains: Vec<f64> = ratios.iter().map(|ratio| self.metric.gain(*ratio)).collect();
        let more_is_better = self.metric.more_is_better == Some(true);
        let better = |effect: Effect| if more_is_better { effect.won } else { 1.0 - effect.won };
        let confirmation = share(&self.fresh.ratios(number, self.metric), CONFIDENCE);
        Candidate {
            arm: number,
            name: arm.name.clone(),
            value: self.blocks.estimate(number, self.metric),
            change,
            p_adjusted: None,
            p_same: equivalent(&ratios, margin.ln_1p()),
            p_no_gain: self.comparison.adaptive.then(|| below(&gains, margin.ln_1p())).flatten(),
            is_gain: change.is_some_and(|effect| self.metric.gain(effect.estimate) > 0.0),
            won: change.map(better),
            confirmation,
            confirmed: confirmation.map(|effect| self.confirmed(&effect)),
            guards: self.guards(number),
            not_granted: not_granted(self.recording, self.upon.with(number).number(), arm),
            verdict: Verdict::CannotTell,
            accepted: false,
            reasons: Vec::new(),
        }
    }

    fn confirmed(&self, effect: &Effect) -> Confirmed {
        let points_up = self.metric.gain(effect.estimate) > 0.0;
        match (points_up, effect.p / 2.0 <= CONFIRMING && effect.n >= CONFIRMATION_BLOCKS) {
            (true, true) => Confirmed::Yes,
            (true, false) => Confirmed::Weakly,
            (false, _) => Confirmed::No,
        }
    }

    fn guards(&self, arm: u32) -> Vec<Guard> {
        let others = WATCHED.iter().map(|watched| watched.metric).filter(|metric| *metric != self.metric);
        let guard = |metric: &'static Metric| {
            let change = match metric.changes_by_ratio() {
                true => share(&self.blocks.ratios(arm, metric), 1.0 - self.alpha)?,
                false => signed_rank(&self.blocks.paired(arm, metric, |a, b| a - b), 1.0 - self.alpha)?,
            };
            let margin = metric.margin?;
            // Of the two ends that with the lesser loss: it is at least so much worse.
            let least = [change.low, change.high].map(|end| end.map(|end| -metric.gain(end)));
            let [base, value] =
                [self.blocks.estimate(0, metric)?.median, self.blocks.estimate(arm, metric)?.median];
            // Their share falls also where the test takes what nobody had: they lose what their own rate loses.
            let rate = |number: u32, share: f64| {
                Some(share / (1.0 - share) * self.blocks.estimate(number, &THROUGHPUT)?.median)
            };
            let loses = metric.key != NEIGHBOURS_SHARE.key
                || rate(arm, value).zip(rate(0, base)).is_none_or(|(now, then)| now < (1.0 - margin) * then);
            Some(Guard {
                name: metric.key.into(),
                base,
                value,
                is_worse: loses && least.iter().all(|loss| loss.is_some_and(|loss| loss > margin)),
                margin,
                change,
            })
        };
        // Where nobody else is on the path there is nobody to keep anything.
        let is_empty =
            |guard: &Guard| guard.name == NEIGHBOURS_SHARE.key && guard.base <= 0.0 && guard.value <= 0.0;
        others.filter_map(guard).filter(|guard| !is_empty(guard)).collect()
    }

    fn judge(&self, candidate: &mut Candidate, margin: f64, doubts: &[String]) {
        candidate.reasons = doubts.to_vec();
        let verdict = self.verdict(candidate);
        // A positive control shows that a difference would be seen. Behind a closed window a slower sender is not, which
        // says nothing against a gain that was seen.
        let is_search = self.comparison.adaptive || self.plan.tuning().is_some();
        let is_seen = is_search && verdict == Verdict::Different && candidate.is_gain;
        let is_believed = doubts.is_empty() || is_seen && doubts.iter().all(|doubt| is_missed(doubt));
        candidate.verdict = if is_believed { verdict } else { Verdict::CannotTell };
        if !is_believed {
            candidate.reasons = doubts.to_vec();
        } else if self.plan.tuning().is_some() {
            candidate.reasons.retain(|why| why != MISSED);
        }
        if candidate.verdict == Verdict::Different && candidate.is_gain {
            candidate.reasons.extend(self.objections(candidate, margin));
            candidate.accepted = candidate.reasons.is_empty();
        }
    }

    fn verdict(&self, candidate: &mut Candidate) -> Verdict {
        // A difference that is proved to be too small to matter is none that matters.
        let same = candidate.p_same.is_some_and(|p| p < self.alpha);
        if same && candidate.not_granted.is_empty() {
            return Verdict::Same;
        }
        let apart = candidate.change.and_then(|effect| Some((effect.low?, effect.high?)));
        let apart = apart.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        if apart && candidate.p_adjusted.is_some_and(|p| p < self.alpha) {
            if candidate.is_gain && candidate.confirmed == Some(Confirmed::No) {
                candidate.reasons.push("what the blocks found was not there in fresh ones".into());
                return Verdict::CannotTell;
            }
            return Verdict::Different;
        }
        candidate.reasons.push(match same {
            _ if candidate.change.is_none() => self.why_missing(candidate.arm),
            true => "nothing differs, but the setting was not granted".into(),
            false => "the blocks scatter too much: more blocks, or a wider margin, may tell".into(),
        });
        Verdict::CannotTell
    }

    fn why_missing(&self, arm: u32) -> String {
        let not = self.recording.unavailable.iter().find(|not| not.arm == Some(arm));
        not.map_or("it was not measured".into(), |not| format!("it was not measured: {}", not.reason.why))
    }

    /// Why a gain is not accepted.
    fn objections(&self, candidate: &Candidate, margin: f64) -> Vec<String> {
        let least = candidate.change.and_then(|effect| {
            let ends = [effect.low?, effect.high?].map(|end| self.metric.gain(end));
            Some(ends[0].min(ends[1]))
        });
        let small = least.is_none_or(|least| least <= margin);
        let worse = candidate.guards.iter().filter(|guard| guard.is_worse);
        let mut found: Vec<String> = worse.map(|guard| format!("{} became worse", guard.name)).collect();
        found.extend(small.then(|| format!("it is not proved to be beyond {}", percent(margin))));
        found.extend(match candidate.confirmed {
            Some(Confirmed::Yes) => None,
            Some(_) => Some(format!("{CONFIRMATION_BLOCKS} fresh blocks do not prove it again")),
            None => Some("it was not confirmed in fresh blocks".into()),
        });
        found.extend((!candidate.not_granted.is_empty()).then(|| "the setting was not granted".into()));
        found
    }
}

/// Of the mean, from the spread over the blocks.
fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

/// What an arm's sessions were asked for and not granted, each once; where it was never in a block, those of its warm-up.
pub fn not_granted(recording: &Recording, number: u32, arm: &Arm) -> Vec<String> {
    let own = |granted: &&Granted| arm.settings.iter().any(|setting| setting.knob == granted.knob);
    let of_arm = || recording.sessions.iter().filter(|session| session.arm == number);
    let has_blocks = of_arm().any(|session| session.pass > 0);
    let sessions = of_arm().filter(|session| session.pass > 0 || !has_blocks);
    let refused = sessions.flat_map(|session| &session.granted).filter(own);
    let refused = refused.filter(|granted| !granted.is_as_asked());
    let said = |granted: &Granted| {
        let (asked, got) = (granted.asked.as_deref()?, granted.granted.as_deref()?);
        Some(format!("{}={asked} asked, {got} granted", granted.knob))
    };
    let mut said: Vec<String> = refused.filter_map(said).collect();
    said.sort_unstable();
    said.dedup();
    said
}
