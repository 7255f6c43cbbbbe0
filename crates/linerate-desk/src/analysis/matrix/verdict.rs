//! Who is named, how sure the rest is, and what it would take where it cannot be told.

use super::judge::{Confirmed, Judged, Outcome, hosts_of, judged, together};
use super::shot::{Shot, Stage};
use super::suspect::{LEAST_PARTNERS, Part, Screened, host_threshold, screened};
use crate::analysis::Verdict;
use crate::plan::{HostId, HostPair, Screening};
use crate::statistic::Shift;

/// A host that is slower by so much is to be seen, or it cannot be told whether there is one: a tenth.
const TO_BE_SEEN: f64 = 0.1;

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
    /// How much slower a host would have to be to stand apart: a share.
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
    let partners = screened.effects.fewest_partners();
    let seen = (partners > 0).then(|| 1.0 - (-host_threshold(&screened.effects, partners)).exp());
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
    (open + screened.beyond > 0).then(|| {
        let why = format!(
            "{} stood apart, and fresh trials neither clear nor confirm it",
            counted(open + screened.beyond)
        );
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
    let one = |judged: &Judged| {
        let part = judged.suspect.part;
        let confirmed = slow(part)?;
        let (kind, parts) = match part {
            Part::Sends(host) if slow(Part::Receives(host)).is_some() => {
                (Kind::Host, vec![part, Part::Receives(host)])
            }
            // It is told with what the host sends.
            Part::Receives(host) if slow(Part::Sends(host)).is_some() => return None,
            Part::Sends(_) => (Kind::Sender, vec![part]),
            Part::Receives(_) => (Kind::Receiver, vec![part]),
            Part::Link(_) => (Kind::Link, vec![part]),
            Part::GroupSends(_) | Part::GroupReceives(_) => (Kind::Group, vec![part]),
        };
        let confirmed = parts.iter().filter_map(|part| slow(*part)).min().unwrap_or(confirmed);
        let stage = if confirmed == Confirmed::Alone { Stage::Alone } else { Stage::Loaded };
        let shift = together(screening, &screened.suspects, shots, (&parts, stage))?;
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

/// Cells of the screening that show these parts, and those of them that are nearer to the named than to the usual.
fn slow_partners(
    screening: &Screening,
    screened: &Screened,
    parts: &[Part],
    shots: &[Shot],
    estimate: f64,
) -> (u32, u32) {
    let shows = |pair: HostPair| parts.iter().any(|part| part.is_shown_by(pair, screening));
    let own = shots.iter().filter(|shot| shot.stage == Stage::Screen && shows(shot.pair));
    let logs: Vec<f64> = own.map(|shot| shot.log - screened.effects.level).collect();
    let slow = logs.iter().filter(|log| **log < estimate / 2.0).count();
    (slow as u32, logs.len() as u32)
}
