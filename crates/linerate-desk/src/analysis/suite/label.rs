//! What readers call the series of a figure: what tells each from the others there, in words.

use crate::plan::{Case, FACTORS, Factor, FactorEntry, OF_FACTORS, Plan, Setting, Suite, SuiteCase};
use crate::record::Recording;
use crate::unit::counted;
use crate::vocabulary::{readable_place, readable_rung, readable_setting};

/// The words of a series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words {
    /// Its name in a legend.
    pub label: String,
    /// The panel that it stands in, as the plan says it or by how its ends wait; empty where all are alike.
    pub group: String,
    /// What is the same of it as shipped and tuned.
    pub base: String,
    /// What is set, besides which library it is.
    pub tuned: Vec<Setting>,
    /// Whether several hosts have the same part in it.
    pub has_all_hosts: bool,
}

/// The setting that says which library it is, not how it is set: it is told with the rung, or where settings stand along x
/// with them, for no series has it then.
const WHICH: &str = "mpi.implementation";

/// The factors that a name is made of, in the order in which they are read.
const READ: &[Factor] = &[
    Factor::Rung,
    Factor::Settings,
    Factor::Rules,
    Factor::Pattern,
    Factor::Wait,
    Factor::Hosts,
    Factor::Connections,
    Factor::Rate,
    Factor::Load,
    Factor::Size,
];

/// A case at a message size: what a series is told by.
pub(super) type Point<'p> = (&'p Case, u64);

/// One series.
struct Said<'s> {
    case: Option<&'s SuiteCase>,
    /// A word a factor of [`READ`].
    words: Vec<String>,
    point: Point<'s>,
}

/// The words of each series of a figure, told by a point of each.
pub(super) fn words(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    x: Factor,
    points: &[Point],
) -> Vec<Words> {
    let said = |point: Point| {
        let case = suite.cases.iter().find(|case| suite.case_name(&case.id) == point.0.id);
        let word = |factor: &Factor| word(recording, plan, suite, *factor, point);
        let along_x = |factor: &Factor| *factor == x;
        // A series along settings may hold several libraries: it is called by none.
        let of_rung = |factor: &Factor| *factor == Factor::Rung && x == Factor::Settings;
        let words = READ.iter().map(|factor| match factor {
            factor if along_x(factor) => String::new(),
            factor if of_rung(factor) => readable_rung(&point.0.rung),
            factor => word(factor),
        });
        (case, words.collect::<Vec<_>>())
    };
    let all: Vec<Said> = points
        .iter()
        .map(|point| {
            let (case, words) = said(*point);
            Said { case, words, point: *point }
        })
        .collect();
    let names: Vec<String> = all.iter().map(|one| name(one, &all)).collect();
    // One case has several series where several numbers of it are shown.
    let is_shared = |one: &Said, name: &String| {
        all.iter().zip(&names).any(|(other, known)| known == name && other.point.0 != one.point.0)
    };
    let of_one = |(one, name): (&Said, &String)| Words {
        label: match is_shared(one, name) {
            false => name.clone(),
            true => format!("{name} ({})", one.case.map_or("", |case| &case.id)),
        },
        group: group(plan, suite, one, &all),
        base: base(plan, one.point.0),
        has_all_hosts: one.case.is_some_and(SuiteCase::takes_all_hosts),
        tuned: set(plan, one.point.0).filter(|setting| setting.knob != WHICH).cloned().collect(),
    };
    all.iter().zip(&names).map(of_one).collect()
}

/// What differs between the series, in words; of a case with a label, that and what differs within the case.
fn name(one: &Said, all: &[Said]) -> String {
    let labelled = one.case.and_then(|case| Some((case, case.label.as_ref()?)));
    let others: Vec<&Said> = match labelled {
        Some((case, _)) => all.iter().filter(|other| other.case.is_some_and(|it| it.id == case.id)).collect(),
        None => all.iter().filter(|other| other.case.is_none_or(|it| it.label.is_none())).collect(),
    };
    let differs = |at: &usize| others.iter().any(|other| other.words[*at] != one.words[*at]);
    let label = labelled.map(|(_, label)| label.clone());
    let parts = (0..READ.len()).filter(differs).map(|at| one.words[at].clone());
    let parts: Vec<String> = label.into_iter().chain(parts).filter(|part| !part.is_empty()).collect();
    // Where all are alike it is called by what carries it.
    if parts.is_empty() { one.words[0].clone() } else { parts.join(", ") }
}

/// A level in words: the plan's own, else what the vocabulary says.
pub(super) fn word(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    factor: Factor,
    (case, message_bytes): Point,
) -> String {
    let level = (factor.entry().level)(plan, case, message_bytes).name;
    let own = suite.label.get(factor.entry().name).and_then(|words| words.get(&level));
    if let Some(own) = own {
        return own.clone();
    }
    match factor {
        Factor::Rung => rung(recording, plan, case),
        Factor::Settings => settings(plan, suite, case, &level),
        Factor::Case => level.replace('-', " "),
        Factor::Pattern => level.replace('-', " "),
        Factor::Connections => counted(case.pairs.len() * case.flows as usize, "connection"),
        Factor::Load if case.under.is_empty() => level,
        Factor::Load => beside(&level),
        _ => level,
    }
}

/// A level along x in words: what tells it from all others there, which library it is included.
pub(super) fn place(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    x: Factor,
    (case, message_bytes): Point,
) -> String {
    let said = word(recording, plan, suite, x, (case, message_bytes));
    let level = || (x.entry().level)(plan, case, message_bytes).name;
    let is_own = || suite.label.get(x.entry().name).is_some_and(|words| words.contains_key(&level()));
    let has_library = x == Factor::Settings && set(plan, case).any(|setting| setting.knob == WHICH);
    // A ladder's step is called by its name, which is its level.
    if !has_library || is_own() || said == level() {
        return said;
    }
    let parts = [rung(recording, plan, case), said];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `Open MPI 4.1`, `TCP`; within a host it says so where that is not all there is.
fn rung(recording: &Recording, plan: &Plan, case: &Case) -> String {
    let which = set(plan, case).find(|setting| setting.knob == WHICH);
    let name = match which {
        Some(setting) => readable_setting(&setting.knob, &setting.value),
        None => readable_rung(&case.rung),
    };
    match version(recording, case).filter(|_| which.is_some()) {
        Some(version) => format!("{name} {version}"),
        None => name,
    }
}

/// The first two parts of the version that a session of a library tells: `4.1` of `Open MPI v4.1.4, ABI openmpi`.
fn version(recording: &Recording, case: &Case) -> Option<String> {
    let mut sessions = recording.sessions.iter();
    let session = sessions.find(|session| session.rung == case.rung && session.arm == case.arm)?;
    let about = session.endpoints.first()?.split(',').next()?;
    let numbers = about.split_whitespace().map(|word| word.trim_start_matches('v'));
    let number = numbers
        .filter(|word| word.contains('.'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let parts: Vec<&str> = number.split('.').take(2).collect();
    parts.iter().all(|part| part.parse::<u32>().is_ok()).then(|| parts.join("."))
}

fn settings(plan: &Plan, suite: &Suite, case: &Case, level: &str) -> String {
    let is_ladder = |one: &SuiteCase| suite.case_name(&one.id) == case.id && !one.ladder.is_empty();
    if suite.cases.iter().any(is_ladder) {
        return level.into();
    }
    let is_told = |setting: &&Setting| setting.knob != WHICH && !OF_FACTORS.contains(&&*setting.knob);
    let how = set(plan, case).filter(is_told);
    how.map(|setting| readable_setting(&setting.knob, &setting.value)).collect::<Vec<_>>().join(", ")
}

/// `beside TCP a>b, b>a`.
fn beside(level: &str) -> String {
    let (rung, rest) = level.split_once(' ').unwrap_or((level, ""));
    format!("beside {} {rest}", readable_rung(rung))
}

fn set<'p>(plan: &'p Plan, case: &Case) -> impl Iterator<Item = &'p Setting> + use<'p> {
    let arm = (case.arm as usize).checked_sub(1).and_then(|at| plan.arms.get(at));
    arm.into_iter().flat_map(|arm| &arm.settings)
}

/// What a series has in common with the one that is set otherwise.
fn base(plan: &Plan, case: &Case) -> String {
    let which = set(plan, case).find(|setting| setting.knob == WHICH).map_or("", |setting| &setting.value);
    format!(
        "{} {which} {} {} {} {} {}",
        case.rung, case.pattern, case.wait, case.pairs, case.flows, case.under
    )
}

/// The plan's word for the panel; else where the ends stand or how they wait, where that differs.
fn group(plan: &Plan, suite: &Suite, one: &Said, all: &[Said]) -> String {
    let of_level = |entry: &FactorEntry| {
        let level = (entry.level)(plan, one.point.0, one.point.1).name;
        suite.group.get(entry.name)?.get(&level).cloned()
    };
    let own = one.case.and_then(|case| case.group.clone());
    if let Some(own) = own.or_else(|| FACTORS.iter().find_map(of_level)) {
        return own;
    }
    let derived: [fn(&Case) -> String; 2] =
        [|case| readable_place(&case.rung).into(), |case| case.wait.to_string()];
    let differs = |of: &&fn(&Case) -> String| all.iter().any(|other| of(other.point.0) != of(one.point.0));
    derived.iter().find(differs).map_or_else(String::new, |of| of(one.point.0))
}
