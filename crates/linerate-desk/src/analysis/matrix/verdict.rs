//! Who is named, how sure the rest is, and what it would take where it cannot be told.

use super::found::grouped;
use super::judge::{Confirmed, Docket, Judged, Outcome};
use super::metric::{Carries, CellMetric};
use super::part::Part;
use super::shot::{Shots, Stage};
use super::suspect::{LEAST_PARTNERS, Screened, host_threshold, screened};
use crate::analysis::Verdict;
use crate::plan::{HostId, Screening};
use crate::statistic::{Shift, median};
use std::collections::{BTreeMap, BTreeSet};

/// A host that is slower by so much is to be seen, or it cannot be told whether there is one: a tenth.
const TO_BE_SEEN: f64 = 0.1;

/// A normal value lies no further than so many standard errors below its middle in nineteen of twenty cases.
const NINETEEN_OF_20: f64 = 1.645;

/// What kind of thing is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A host's sending.
    Sender,
    /// A host's receiving.
    Receiver,
    /// One direction between two hosts.
    Link,
    /// What leaves or enters a group of hosts.
    Group,
    /// A host, both ways.
    Host,
}

impl Kind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        const NAMES: &[(Kind, &str)] = &[
            (Kind::Sender, "sender"),
            (Kind::Receiver, "receiver"),
            (Kind::Link, "link"),
            (Kind::Group, "group"),
            (Kind::Host, "host"),
        ];
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// Something slow.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// By what.
    pub metric: CellMetric,
    /// What.
    pub kind: Kind,
    /// Who: of a link where it comes from and where it goes.
    pub hosts: Vec<HostId>,
    /// Which group it is, by its place among those of the metric.
    pub group: Option<usize>,
    /// Whether it is what leaves a group, or what enters it; none of other kinds, and of both ways.
    pub sends: Option<bool>,
    /// How far it is from the others, as the metric is told.
    pub shift: Shift,
    /// The same of the part of its segments that is sent again, where that is confirmed too.
    pub sent_again: Option<Shift>,
    /// Under what.
    pub confirmed: Confirmed,
    /// Partners with whom it was slow in the screening, of those that it met.
    pub slow_partners: (u32, u32),
}

/// What became of a run, besides its numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// Whether it came to its end.
    pub whole: bool,
    /// Hosts that it went on without.
    pub lost: BTreeSet<HostId>,
}

/// What a screening comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Rows, columns, suspects, by rates.
    pub screened: Screened,
    /// The suspects with their fresh trials.
    pub judged: Vec<Judged>,
    /// Those that are slow: by rates, by round trips, by what is sent again, the worst of each first.
    pub named: Vec<Named>,
    /// Somebody, nobody, or it cannot be told.
    pub verdict: Verdict,
    /// How much slower a host would have to be to stand apart in nineteen of twenty runs: a share.
    pub seen: Option<f64>,
    /// How much longer its round trips would have to be: a share; none where they were not measured.
    pub seen_round_trip: Option<f64>,
    /// Why it cannot be told, and what it would take.
    pub doubt: Option<(String, String)>,
    screenings: [Screening; Carries::ALL.len()],
}

impl Told {
    /// What was asked, with the groups that its numbers show.
    pub fn screening_of(&self, metric: CellMetric) -> &Screening {
        &self.screenings[metric.carried_by() as usize]
    }
}

/// What was asked, with the groups that the numbers show where nobody named any: rates have their groups, round trips theirs.
pub fn grouped_by(carries: Carries, screening: &Screening, hosts: usize, shots: &Shots) -> Screening {
    let metric = carries.metrics().next().unwrap_or(CellMetric::Throughput);
    grouped(metric, screening, hosts, shots.by(metric))
}

/// The word on these hosts, by all stages.
pub fn verdict_on(screening: &Screening, hosts: usize, shots: &Shots, ending: &Ending) -> Told {
    let screenings = Carries::ALL.map(|carries| grouped_by(carries, screening, hosts, shots));
    let (mut all, mut judged, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (carries, screening) in Carries::ALL.into_iter().zip(&screenings) {
        let of_trials: Vec<(CellMetric, Screened)> = carries
            .metrics()
            .map(|metric| (metric, screened(metric, screening, hosts, shots.by(metric))))
            .collect();
        for (metric, screened) in &of_trials {
            let others: Vec<Part> = of_trials
                .iter()
                .filter(|(other, _)| other != metric)
                .flat_map(|(_, screened)| screened.suspects.iter().map(|one| one.part))
                .collect();
            let shots = shots.by(*metric);
            let docket = Docket { metric: *metric, screening, screened, others: &others, shots };
            let of_metric = docket.judged();
            let mut own = named(&docket, &of_metric);
            own.sort_by(|a, b| a.shift.estimate.total_cmp(&b.shift.estimate));
            names.extend(own);
            judged.extend(of_metric);
        }
        all.extend(of_trials);
    }
    let named = once_each(names);
    let seen = |metric: CellMetric| {
        let (_, screened) = all.iter().find(|(one, _)| *one == metric)?;
        seen(metric, screened)
    };
    let (seen, seen_round_trip) = (seen(CellMetric::Throughput), seen(CellMetric::RoundTrip));
    let open = all.iter().map(|(metric, one)| open(*metric, one, &judged, shots, ending)).sum();
    let screened = all.into_iter().next().map(|(_, screened)| screened).unwrap_or_default();
    let doubt = doubt(hosts, seen, &screened, open);
    let verdict = match (named.is_empty(), &doubt) {
        (false, _) => Verdict::Different,
        (true, Some(_)) => Verdict::CannotTell,
        (true, None) => Verdict::Same,
    };
    // Of round trips it is how much longer one is.
    let seen_round_trip = seen_round_trip.map(|slower| slower / (1.0 - slower));
    Told { screened, judged, named, verdict, seen, seen_round_trip, doubt, screenings }
}

/// How many stand apart of whom it cannot be told. Who was lost is said to be, and is nobody of whom more is asked.
fn open(metric: CellMetric, screened: &Screened, judged: &[Judged], shots: &Shots, ending: &Ending) -> usize {
    let is_asked = |metric: CellMetric| shots.by(metric).iter().any(|shot| shot.stage != Stage::Screen);
    // Recordings of before round trips named anybody have no such trials.
    if ending.whole && !is_asked(metric) && CellMetric::ALL.into_iter().any(is_asked) {
        return 0;
    }
    let is_there = |part: Part| !ending.lost.iter().any(|host| part.is_of(*host));
    let of_metric = judged.iter().filter(|one| one.metric == metric && is_there(one.suspect.part));
    let unclear = of_metric.filter(|one| one.outcome == Outcome::Open).count();
    match metric.is_told_of_one_trial() {
        true => unclear + screened.beyond + screened.unseen.iter().filter(|one| is_there(one.part)).count(),
        false => unclear,
    }
}

/// How much slower a host would have to be to be seen nearly always: at the threshold itself half of them would be.
fn seen(metric: CellMetric, screened: &Screened) -> Option<f64> {
    let partners = screened.effects.partners(LEAST_PARTNERS);
    let seen = host_threshold(metric, &screened.effects, partners)
        + NINETEEN_OF_20 * screened.effects.error(partners);
    (partners > 0).then(|| 1.0 - (-seen).exp())
}

/// Who is slow for what is lost is one name: what is sent again is then said beside it.
fn once_each(mut names: Vec<Named>) -> Vec<Named> {
    let is_again = |one: &Named| one.metric == CellMetric::RetransmitShare;
    let (again, mut named): (Vec<Named>, Vec<Named>) = names.drain(..).partition(is_again);
    for one in again {
        let is_same = |slow: &&mut Named| {
            slow.metric == CellMetric::Throughput
                && slow.hosts == one.hosts
                && (slow.kind == one.kind || slow.kind == Kind::Host)
        };
        match named.iter_mut().find(is_same) {
            Some(slow) => slow.sent_again = Some(one.shift),
            None => named.push(one),
        }
    }
    named
}

fn doubt(hosts: usize, seen: Option<f64>, screened: &Screened, open: usize) -> Option<(String, String)> {
    let partners = screened.effects.partners(LEAST_PARTNERS);
    if partners < LEAST_PARTNERS {
        let takes = match hosts as u32 > LEAST_PARTNERS {
            true => {
                format!("let each meet {LEAST_PARTNERS} at least: --partners {LEAST_PARTNERS}, or --full")
            }
            false => format!("take {} hosts at least", LEAST_PARTNERS + 1),
        };
        let why = format!(
            "a host has {}, and with fewer than {LEAST_PARTNERS} a bad link is no other than a bad host",
            crate::unit::counted(partners, "partner")
        );
        return Some((why, takes));
    }
    if let Some(seen) = seen.filter(|seen| *seen > TO_BE_SEEN) {
        let needed = (f64::from(partners) * (seen / TO_BE_SEEN).powi(2)).ceil();
        let others = hosts.saturating_sub(1) as f64;
        let takes = match needed <= others {
            true => format!("take more rounds: --partners {needed}"),
            false => "leave the hosts to themselves meanwhile, or let trials last longer: --trial 2s".into(),
        };
        let noise = 100.0 * screened.effects.noise;
        let seen = 100.0 * seen;
        let why = format!(
            "the cells scatter by {noise:.0} %, so that a host must be slower by {seen:.0} % to stand apart"
        );
        return Some((why, takes));
    }
    (open > 0).then(|| {
        let why = format!("{} stood apart, and fresh trials neither clear nor confirm it", counted(open));
        (why, "run it again, or let trials last longer: --trial 2s".into())
    })
}

fn counted(suspects: usize) -> String {
    crate::unit::counted(suspects, "suspect")
}

/// Those that fresh trials confirm; what a host does both ways is one.
fn named(docket: &Docket<'_>, judged: &[Judged]) -> Vec<Named> {
    let slow = |part: Part| {
        judged.iter().find(|one| one.suspect.part == part).and_then(|one| match one.outcome {
            Outcome::Named(confirmed) => Some(confirmed),
            Outcome::Cleared | Outcome::Open => None,
        })
    };
    let shift_of = |parts: &[Part], confirmed: Confirmed| {
        let stage = if confirmed == Confirmed::Alone { Stage::Alone } else { Stage::Loaded };
        docket.shift(parts, stage)
    };
    // One name has one ratio: both ways must be as slow, under the same.
    let is_both = |host: HostId| {
        let [sends, receives] = [Part::Sends(host), Part::Receives(host)];
        let confirmed = slow(sends).filter(|confirmed| slow(receives) == Some(*confirmed));
        confirmed
            .is_some_and(|confirmed| meet(shift_of(&[sends], confirmed), shift_of(&[receives], confirmed)))
    };
    let one = |judged: &Judged| {
        let part = judged.suspect.part;
        let confirmed = slow(part)?;
        let (kind, parts) = match part {
            Part::Sends(host) if is_both(host) => (Kind::Host, vec![part, Part::Receives(host)]),
            // It is told with what the host sends.
            Part::Receives(host) if is_both(host) => return None,
            Part::Exchanges(_) => (Kind::Host, vec![part]),
            Part::Sends(_) => (Kind::Sender, vec![part]),
            Part::Receives(_) => (Kind::Receiver, vec![part]),
            Part::Link(_) | Part::Path(_) => (Kind::Link, vec![part]),
            Part::GroupSends(_) | Part::GroupReceives(_) | Part::GroupExchanges(_) => {
                (Kind::Group, vec![part])
            }
        };
        let shift = shift_of(&parts, confirmed)?;
        let sends = match part {
            Part::GroupSends(_) => Some(true),
            Part::GroupReceives(_) => Some(false),
            _ => None,
        };
        Some(Named {
            metric: docket.metric,
            kind,
            hosts: part.hosts(docket.screening),
            group: part.group(),
            sends,
            shift,
            sent_again: None,
            confirmed,
            slow_partners: slow_partners(docket, &parts, shift.estimate),
        })
    };
    judged.iter().filter_map(one).collect()
}

/// Whether the intervals of two ratios meet; where one has none it is not known, and each is told as it is.
fn meet(one: Option<Shift>, other: Option<Shift>) -> bool {
    let ends = |shift: Option<Shift>| shift.and_then(|shift| Some((shift.low?, shift.high?)));
    let (one, other) = (ends(one), ends(other));
    one.zip(other).is_some_and(|((low, high), (its_low, its_high))| low <= its_high && its_low <= high)
}

/// Partners of these parts in the screening, and those of them with whom it was nearer to the named than to the usual: of a group
/// the pairs, of what a host does both ways each partner once.
fn slow_partners(docket: &Docket<'_>, parts: &[Part], estimate: f64) -> (u32, u32) {
    let Docket { metric, screening, screened, shots, .. } = docket;
    let mut all: BTreeMap<(HostId, HostId), Vec<f64>> = BTreeMap::new();
    for shot in shots.iter().filter(|shot| shot.stage == Stage::Screen) {
        if let Some(part) = parts.iter().find(|part| part.is_shown_by(shot.pair, screening)) {
            let own = shot.log - screened.distance(shot.pair, screening);
            let told = metric.reported(own) - metric.reported(screened.effects.level);
            all.entry(part.partner(shot.pair)).or_default().push(told);
        }
    }
    let is_slow = |told: &&Vec<f64>| median(told.iter().copied()).is_some_and(|told| told < estimate / 2.0);
    (all.values().filter(is_slow).count() as u32, all.len() as u32)
}
