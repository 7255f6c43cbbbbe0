//! A suite: cases, the figures that they make, and the conclusions that the figures test. It is read from a plan
//! file; those of the papers are shipped with the program.

mod applies;
mod check;
mod expand;
mod factor;
mod graph;
mod read;
mod table;
mod words;

pub use applies::Applies;
pub use check::SuiteError;
pub use expand::{Expanded, LoadOf};
pub use factor::{FACTORS, Factor, FactorEntry, Level};
pub use graph::{Graph, HandOut, Lane, Layout, Stage, Stream};
pub use table::{Levels, PEAK, STEP, SuiteTable, TableColumn, TableRow};

use super::word::misread;
use super::{Arm, Setting};
use crate::vocabulary::{FILTER_AT, FILTER_AT_ROUTER, FILTER_RULES, Pattern, SUITES, Wait, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The longest plan file that is read.
pub const LONGEST_PLAN: usize = 256 << 10;

/// What a plan file asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// One line.
    #[serde(default)]
    pub about: String,
    /// The paper whose figures it makes anew: `S003`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// What is measured.
    #[serde(rename = "case")]
    pub cases: Vec<SuiteCase>,
    /// Stages of pipelines.
    #[serde(default, rename = "stage", skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// What joins them.
    #[serde(default, rename = "stream", skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Stream>,
    /// What is drawn of it.
    #[serde(default, rename = "figure")]
    pub figures: Vec<SuiteFigure>,
    /// Numbers beside each other.
    #[serde(default, rename = "table", skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<SuiteTable>,
    /// What the paper concludes, to be tested.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    /// What readers call levels of factors, by factor and level: `[label.settings]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub label: Words,
    /// The panel of a figure that levels of factors stand in, by factor and level.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub group: Words,
}

/// Words for levels of factors, by factor and level.
pub type Words = BTreeMap<String, BTreeMap<String, String>>;

/// Some cases of one pattern: all combinations of their factors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SuiteCase {
    /// Its name in the plan, in claims and tables.
    pub id: String,
    /// What readers call it in figures; by default what tells it from the others there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The panel of a figure that it stands in, where a figure has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The rungs.
    #[serde(deserialize_with = "read::one_or_more")]
    pub rung: Vec<String>,
    /// Who sends what when.
    pub pattern: Pattern,
    /// The pipeline, of a case of that pattern: stages and streams that name it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub graph: String,
    /// Message sizes (`64KiB`); `ladder` stands for those of the profile.
    #[serde(deserialize_with = "read::one_or_more")]
    pub sizes: Vec<String>,
    /// How the ends wait; by default both ways for round trips, sleeping for streams.
    #[serde(deserialize_with = "read::one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub wait: Vec<Wait>,
    /// Parallel connections of each pair of hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<u32>,
    /// Which hosts; by default from a to b.
    #[serde(deserialize_with = "read::one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Roles>,
    /// How many connections fan in or out, over as many hosts as there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<u32>,
    /// When messages go: `closed`, `1000/s`, `poisson 1000/s`, `100Mb/s`.
    #[serde(deserialize_with = "read::one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub pace: Vec<String>,
    /// Knobs and their values: every combination.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vary: BTreeMap<String, Vec<String>>,
    /// A ladder of settings: each step is set on top of those before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ladder: Vec<Rise>,
    /// What runs beside it; measured with it and without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// How long a trial lasts; by default as long as the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// Whether it is one long stream, with its time line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timeline: bool,
    /// The profiles that have the time for it; by default all.
    #[serde(deserialize_with = "read::one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
}

/// One step of a ladder of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rise {
    /// What the figure calls it.
    pub name: String,
    /// What it sets: `socket.send-buffer=256KiB`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// Which hosts play which part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Roles {
    /// From a to b.
    #[default]
    There,
    /// From b to a.
    Back,
    /// From all others to a.
    FanIn,
    /// From a to all others.
    FanOut,
    /// From a to b, from c to d and so on, all at once.
    MultiPair,
    /// From each host of the first half to each of the second one.
    Halves,
}

/// What runs beside a case: streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The rung that it runs on.
    pub rung: String,
    /// Parallel connections each way.
    #[serde(default = "one")]
    pub flows: u32,
    /// Which ways.
    #[serde(default = "there", deserialize_with = "read::one_or_more")]
    pub roles: Vec<Roles>,
    /// The size of its messages.
    #[serde(default = "mebibyte")]
    pub size: String,
}

fn one() -> u32 {
    1
}

fn there() -> Vec<Roles> {
    vec![Roles::There]
}

fn mebibyte() -> String {
    "1MiB".into()
}

/// A figure of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFigure {
    /// Its name, that of the paper's figure: `003-F3`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The cases that it shows.
    pub cases: Vec<String>,
    /// The factor along x.
    pub x: Factor,
    /// The number along y.
    pub y: String,
    /// Further numbers of the same unit, dashed: models, or parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The levels of factors that it is of; by default all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, Vec<String>>,
    /// What is said below the title.
    #[serde(default)]
    pub caption: String,
    /// Which figure of the paper it makes anew: `Fig. 3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The paper's hosts whose values are drawn beside it, where not all are: `F`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed: Option<String>,
    /// The group of series that the paper's values stand beside, by a part of their configuration; else beside all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated_groups: BTreeMap<String, String>,
    /// The case, a micro-benchmark of the same rungs, whose ranking of the transports its own is set against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// A conclusion of the paper, as a number that must lie above or below a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What is concluded, in a sentence.
    pub says: String,
    /// Where: `section 4.1, Fig. 5`.
    #[serde(default)]
    pub place: String,
    /// The number.
    pub y: String,
    /// What it is taken of: a case and levels of its factors.
    pub of: BTreeMap<String, String>,
    /// What it is divided by, in the same pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<BTreeMap<String, String>>,
    /// What is taken from it, in the same pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus: Option<BTreeMap<String, String>>,
    /// The factor in whose power it grows: then the exponent is tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<Factor>,
    /// The factor with which it grows: then it is tested by how much, a unit of the factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Factor>,
    /// It must be above this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// It must be below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Where it says something; everywhere where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies: Option<Applies>,
}

impl Suite {
    /// Reads a plan file.
    pub fn read(text: &str) -> Result<Suite, SuiteError> {
        if text.len() > LONGEST_PLAN {
            let what = format!("a plan of {} bytes", text.len());
            return Err(SuiteError::new(what, "a plan file has at most 256 KiB"));
        }
        let read = toml::from_str::<Suite>(text);
        let mut suite = read.map_err(|error| SuiteError::new(misread(&error, text), PLAN_HINT))?;
        if suite.figures.is_empty() && suite.tables.is_empty() && suite.claims.is_empty() {
            suite.figures = suite.cases.iter().map(SuiteFigure::of_case).collect();
        }
        suite.check()?;
        words::check(&suite)?;
        Ok(suite)
    }

    /// One of those that are shipped.
    pub fn shipped(name: &str) -> Result<Suite, SuiteError> {
        let found = SUITES.iter().find(|suite| suite.name == name).ok_or_else(|| {
            let hint = did_you_mean(
                SUITES.iter().map(|suite| suite.name),
                name,
                "`linerate list suites` shows them",
            );
            SuiteError::new(format!("no suite is called `{name}`"), hint)
        })?;
        Suite::read(found.plan)
    }

    /// Every rung that it measures or loads, once, in no order.
    pub fn rungs(&self) -> impl Iterator<Item = &String> {
        self.cases.iter().flat_map(|case| case.rung.iter().chain(case.load.iter().map(|load| &load.rung)))
    }

    /// What one of its cases is called in a recording, where those of several suites stand.
    pub fn case_name(&self, id: &str) -> String {
        format!("{}.{id}", self.name)
    }

    /// With those of its figures alone whose names begin so, with what they show and what is concluded of that.
    pub fn of_figures(&self, names: &[String]) -> Suite {
        let is_named = |figure: &&SuiteFigure| names.iter().any(|name| figure.id.starts_with(name));
        let figures: Vec<SuiteFigure> = self.figures.iter().filter(is_named).cloned().collect();
        let is_shown = |id: &String| {
            figures.iter().any(|figure| figure.cases.contains(id) || figure.against.as_ref() == Some(id))
        };
        let is_of = |claim: &&Claim| {
            let mut parts =
                [Some(&claim.of), claim.over.as_ref(), claim.minus.as_ref()].into_iter().flatten();
            parts.all(|levels| levels.get("case").is_some_and(is_shown))
        };
        let claims = self.claims.iter().filter(is_of).cloned().collect();
        let cases = self.cases.iter().filter(|case| is_shown(&case.id)).cloned().collect();
        Suite { cases, claims, figures: figures.clone(), tables: Vec::new(), ..self.clone() }
    }

    /// The pipeline of this name.
    pub fn graph(&self, name: &str) -> Graph {
        let stages = self.stages.iter().filter(|stage| stage.graph == name).cloned().collect();
        let streams = self.streams.iter().filter(|stream| stream.graph == name).cloned().collect();
        Graph { stages, streams }
    }

    /// The case of the plan that a case of a recording is of.
    pub fn case_of(&self, id: &str) -> Option<&SuiteCase> {
        self.cases.iter().find(|case| self.case_name(&case.id) == id)
    }

    /// Whether more than two hosts have a part in it, where there are more.
    pub fn takes_all_hosts(&self) -> bool {
        self.cases.iter().any(|case| case.takes_all_hosts() || case.needs_router())
    }

    /// Every set of settings that its cases ask for, once; the plan as it stands is none of them.
    pub fn arms(&self) -> Vec<Arm> {
        let mut arms: Vec<Arm> = Vec::new();
        for settings in self.cases.iter().flat_map(|case| case.settings()).map(|(_, settings)| settings) {
            if !settings.is_empty() && !arms.iter().any(|arm| arm.settings == settings) {
                arms.push(Arm::candidate(settings));
            }
        }
        arms
    }
}

/// What helps against a plan that cannot be read.
const PLAN_HINT: &str = "docs/guides/plans.md tells how a plan is written";

impl SuiteFigure {
    /// The figure of a case that no other figure shows.
    fn of_case(case: &SuiteCase) -> SuiteFigure {
        SuiteFigure {
            id: case.id.clone(),
            title: case.id.clone(),
            cases: vec![case.id.clone()],
            x: Factor::Size,
            y: case.pattern.entry().shows.into(),
            also: Vec::new(),
            only: BTreeMap::new(),
            caption: String::new(),
            published: None,
            testbed: None,
            stated_groups: BTreeMap::new(),
            against: None,
        }
    }

    /// Every number that it shows, that along y first.
    pub fn measures(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.y).chain(&self.also).map(String::as_str)
    }
}

/// What a set of settings is called: as a ladder calls it, else by all of them.
fn written(name: Option<&str>, settings: &[Setting]) -> String {
    let told = settings.iter().filter(|one| !OF_FACTORS.contains(&one.knob.as_str()));
    let all: Vec<String> = told.map(|one| format!("{}={}", one.knob, one.value)).collect();
    match (name, all.is_empty()) {
        (Some(name), _) => name.into(),
        (None, true) => AS_IT_STANDS.into(),
        (None, false) => all.join(" "),
    }
}

/// Settings that are factors of their own, and no part of the name of a set.
pub const OF_FACTORS: &[&str] = &[FILTER_RULES.name];

/// The level of the settings where a plan sets none.
pub const AS_IT_STANDS: &str = "as it stands";

impl SuiteCase {
    /// Whether more than two hosts have a part in it, where there are more.
    pub fn takes_all_hosts(&self) -> bool {
        let fans = |roles: &Roles| !matches!(roles, Roles::There | Roles::Back);
        self.pattern == Pattern::Pipeline
            || self.roles.iter().chain(self.load.iter().flat_map(|load| &load.roles)).any(fans)
    }

    /// Whether a packet filter of it stands on a host between the others.
    fn needs_router(&self) -> bool {
        let is_router = |one: &Setting| one.knob == FILTER_AT.name && one.value == FILTER_AT_ROUTER;
        self.settings().iter().any(|(_, settings)| settings.iter().any(is_router))
    }

    /// Every combination of settings, with the name that its ladder gives it.
    fn settings(&self) -> Vec<(Option<String>, Vec<Setting>)> {
        let mut all = vec![(None, Vec::new())];
        for (knob, values) in &self.vary {
            let with = |(name, settings): &(Option<String>, Vec<Setting>)| {
                let (name, settings) = (name.clone(), settings.clone());
                let setting = move |value: &String| format!("{knob}={value}").parse::<Setting>().ok();
                let each = values.iter().filter_map(setting);
                each.map(|one| (name.clone(), [settings.clone(), vec![one]].concat())).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        if self.ladder.is_empty() {
            return all;
        }
        let mut so_far: Vec<Setting> = Vec::new();
        let rises = self.ladder.iter().map(|rise| {
            so_far.extend(rise.set.iter().filter_map(|setting| setting.parse().ok()));
            (Some(rise.name.clone()), so_far.clone())
        });
        rises.collect()
    }
}
