//! Who is named, how sure the rest is, and what it would take where it cannot be told.

use super::judge::{Confirmed, Judged, Outcome, hosts_of, judged, together};
use super::shot::{Shot, Stage};
use super::suspect::{LEAST_PARTNERS, Part, Screened, host_threshold, screened};
use crate::analysis::Verdict;
use crate::plan::{HostId, HostPair, Screening};
use crate::statistic::{Shift, median};
use std::collections::BTreeMap;

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
    /// What.
    pub kind: Kind,
    /// Who: of a link where it comes from and where it goes.
    pub hosts: Vec<HostId>,
    /// What it is called, where that is no host: a group.
    pub group: Option<usize>,
    /// Whether it is what leaves it; of a link it is.
    pub sends: bool,
    /// How far it is from the others: a logarithm.
    pub shift: Shift,
    /// Under what.
    pub confirmed: Confirmed,
    /// Partners with whom it was slow in the screening, of those that it met.
    pub slow_partners: (u32, u32),
}

/// What a screening comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Rows, columns, suspects.
    pub screened: Screened,
    /// The suspects with their fresh trials.
    pub judged: Vec<Judged>,
    /// Those that are slow, the worst first.
    pub named: Vec<Named>,
    /// Somebody, nobody, or it cannot be told.
    pub verdict: Verdict,
    /// How much slower a host would have to be to stand apart in nineteen of twenty runs: a share.
    pub seen: Option<f64>,
    /// Why it cannot be told, and what it would take.
    pub doubt: Option<(String, String)>,
}

/// The word on these hosts, by all stages.
pub fn told(screening: &Screening, hosts: usize, shots: &[Shot]) -> Told {
    let screened = screened(screening, hosts, shots);
    let judged = judged(screening, &screened.suspects, shots);
    let mut named = named(screening, &screened, &judged, shots);
    named.sort_by(|a, b| a.shift.estimate.total_cmp(&b.shift.estimate));
    let partners = screened.effects.partners(LEAST_PARTNERS);
    // At the threshold itself half of them would be seen.
    let seen =
        host_threshold(&screened.effects, partners) + NINETEEN_OF_20 * screened.effects.error(partners);
    let seen = (partners > 0).then(|| 1.0 - (-seen).exp());
    let doubt = doubt(hosts, partners, seen, &screened, &judged);
    let verdict = match (named.is_empty(), &doubt) {
        (false, _) => Verdict::Different,
        (true, Some(_)) => Verdict::CannotTell,
        (true, None) => Verdict::Same,
    };
    Told { screened, judged, named, verdict, seen, doubt }
}

fn doubt(
    hosts: usize,
    partners: u32,
    seen: Option<f64>,
    screened: &Screened,
    judged: &[Judged],
) -> Option<(String, String)> {
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
    let open = judged.iter().filter(|one| one.outcome == Outcome::Open).count();
    let open = open + screened.beyond + screened.unseen.len();
    (open > 0).then(|| {
        let why = format!("{} stood apart, and fresh trials neither clear nor confirm it", counted(open));
        (why, "run it again, or let trials last longer: --trial 2s".into())
    })
}

fn counted(suspects: usize) -> String {
    crate::unit::counted(suspects, "suspect")
}

/// Those that fresh trials confirm; what a host does both ways is one.
fn named(screening: &Screening, screened: &Screened, judged: &[Judged], shots: &[Shot]) -> Vec<Named> {
    let slow = |part: Part| {
        judged.iter().find(|one| one.suspect.part == part).and_then(|one| match one.outcome {
            Outcome::Named(confirmed) => Some(confirmed),
            Outcome::Cleared | Outcome::Open => None,
        })
    };
    let shift_of = |parts: &[Part], confirmed: Confirmed| {
        let stage = if confirmed == Confirmed::Alone { Stage::Alone } else { Stage::Loaded };
        together(screening, &screened.suspects, shots, (parts, stage))
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
            Part::Sends(_) => (Kind::Sender, vec![part]),
            Part::Receives(_) => (Kind::Receiver, vec![part]),
            Part::Link(_) => (Kind::Link, vec![part]),
            Part::GroupSends(_) | Part::GroupReceives(_) => (Kind::Group, vec![part]),
        };
        let shift = shift_of(&parts, confirmed)?;
        let group = match part {
            Part::GroupSends(group) | Part::GroupReceives(group) => Some(group),
            Part::Sends(_) | Part::Receives(_) | Part::Link(_) => None,
        };
        Some(Named {
            kind,
            hosts: hosts_of(part, screening),
            group,
            sends: !matches!(part, Part::Receives(_) | Part::GroupReceives(_)),
            shift,
            confirmed,
            slow_partners: slow_partners(screening, screened, &parts, shots, shift.estimate),
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
fn slow_partners(
    screening: &Screening,
    screened: &Screened,
    parts: &[Part],
    shots: &[Shot],
    estimate: f64,
) -> (u32, u32) {
    let partner = |pair: HostPair| {
        let part = parts.iter().find(|part| part.is_shown_by(pair, screening))?;
        Some(match part {
            Part::Sends(_) => (pair.to, pair.to),
            Part::Receives(_) => (pair.from, pair.from),
            Part::Link(_) | Part::GroupSends(_) | Part::GroupReceives(_) => (pair.from, pair.to),
        })
    };
    let mut logs: BTreeMap<(HostId, HostId), Vec<f64>> = BTreeMap::new();
    for shot in shots.iter().filter(|shot| shot.stage == Stage::Screen) {
        if let Some(partner) = partner(shot.pair) {
            logs.entry(partner).or_default().push(shot.log - screened.effects.level);
        }
    }
    let is_slow = |logs: &&Vec<f64>| median(logs.iter().copied()).is_some_and(|log| log < estimate / 2.0);
    (logs.values().filter(is_slow).count() as u32, logs.len() as u32)
}
