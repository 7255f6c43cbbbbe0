//! The unit of work between two decisions: one case, its roles, and the blocks of messages.

use super::host::HostId;
use super::host_pair::Pairs;
use crate::vocabulary::{Cache, Content, Does, Pattern, Rung, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// What is measured, apart from the message size.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// The rung's name.
    pub rung: String,
    /// Who sends what when.
    pub pattern: Pattern,
    /// How the ends wait.
    pub wait: Wait,
    /// Parallel connections.
    pub flows: u32,
    /// The hosts between which it is measured, at once.
    #[serde(flatten)]
    pub pairs: Pairs,
    /// Whether this is the one long stream for the time line.
    #[serde(default)]
    pub timeline: bool,
    /// Which of the plan's arms this belongs to; 0 is the plan as it stands.
    #[serde(default, skip_serializing_if = "is_base")]
    pub arm: u32,
    /// When its messages go.
    #[serde(default, skip_serializing_if = "Pace::is_closed")]
    pub pace: Pace,
    /// Its name in the plan file that asked for it; empty on the ladder.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Whether it ran beside another case, as its load.
    #[serde(default, skip_serializing_if = "is_not")]
    pub beside: bool,
    /// What ran beside it, in words; empty where nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub under: String,
}

/// When messages go.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Each when the one before it is done.
    #[default]
    Closed,
    /// One after each such time, whatever became of the one before: nanoseconds.
    Every(u64),
    /// At random, with such a mean time between two: a Poisson process; nanoseconds.
    Poisson(u64),
}

impl Pace {
    /// Whether messages wait for each other.
    pub fn is_closed(&self) -> bool {
        *self == Pace::Closed
    }
}

/// More pairs beside one are counted and not named.
const MOST_NAMED_BESIDE: usize = 16;

impl Case {
    /// Whether it belongs to the ladder.
    pub fn is_of_ladder(&self) -> bool {
        self.id.is_empty()
    }

    /// The cases that its outcomes are of: of disjoint pairs every one, with the others beside it, else itself.
    pub fn apart(&self) -> Vec<Case> {
        let apart = self.pairs.apart();
        // A thousand hosts beside each other are counted: each would have the names of all others on record.
        let many = apart.len().saturating_sub(1);
        let counted = (many > MOST_NAMED_BESIDE).then(|| format!("{} {many} other pairs", self.rung));
        let of_part = |(nth, pairs): (usize, &Pairs)| {
            if let Some(counted) = &counted {
                let under = [&self.under, counted].into_iter().filter(|under| !under.is_empty());
                let under = under.map(String::as_str).collect::<Vec<_>>().join(", ");
                return Case { pairs: pairs.clone(), under, ..self.clone() };
            }
            let others = apart.iter().enumerate().filter(|(other, _)| *other != nth);
            let others: Pairs = others.flat_map(|(_, pairs)| pairs.iter()).collect();
            let beside = (!others.is_empty()).then(|| format!("{} {others}", self.rung));
            let under = [self.under.clone()].into_iter().filter(|under| !under.is_empty()).chain(beside);
            Case { pairs: pairs.clone(), under: under.collect::<Vec<_>>().join(", "), ..self.clone() }
        };
        apart.iter().enumerate().map(of_part).collect()
    }

    /// Whether it is this one, whatever ran beside it.
    pub fn is_of(&self, other: &Case) -> bool {
        Case { under: String::new(), ..self.clone() } == Case { under: String::new(), ..other.clone() }
    }

    /// Whether it is the plan as it stands, which a chosen engine is for its own rung, and no arm beside that.
    pub fn is_base(&self) -> bool {
        self.arm == 0 || Rung::named(&self.rung).is_some_and(|rung| rung.chooses_engine())
    }

    /// The case with those of its parts that are left; none where none is.
    pub fn without(&self, is_lost: impl Fn(&Pairs) -> bool) -> Option<Case> {
        let left: Pairs =
            self.pairs.apart().iter().filter(|pairs| !is_lost(pairs)).flat_map(Pairs::iter).collect();
        (!left.is_empty()).then(|| Case { pairs: left, ..self.clone() })
    }
}

fn is_not(flag: &bool) -> bool {
    !flag
}

fn is_base(arm: &u32) -> bool {
    *arm == 0
}

fn is_usual(read_bytes: &u64) -> bool {
    *read_bytes == 0
}

/// What a step is for, and so what its trials may be used for.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// To find the rates: enters nothing.
    Probe,
    /// An ordinary visit of a pass.
    #[default]
    Pass,
    /// One more visit where the interval was still too wide.
    Extra,
    /// A visit again of a size that stood apart, with its neighbours.
    Rerun,
    /// A size between two others, to find where a break is: enters only the break.
    Bisect,
    /// Both sides of a break in turns, to confirm it: enters only the break.
    Pairs,
    /// A visit in a block that compares arms.
    Block,
    /// The same in a further block, for the arms that won: it must not enter what made them win.
    Confirm,
    /// The same in a further block, for what is added to see what the rate is sensitive to.
    Hindered,
}

impl Why {
    /// Whether a trial of such a step enters the estimates of its case and size.
    pub fn counts(self) -> bool {
        matches!(self, Why::Pass | Why::Extra | Why::Rerun | Why::Block | Why::Confirm | Why::Hindered)
    }
}

/// Messages of one size that are timed together: `slices` stamps with `messages` before each.
///
/// Both ends run the same counts, so neither needs the other's word for where a block ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// The size of one message.
    pub message_bytes: u64,
    /// Messages (or round trips) before each stamp.
    pub messages: u64,
    /// Stamps, the discarded ones included.
    pub slices: u32,
    /// How many of the first slices are warm-up and never enter statistics.
    pub lead: u32,
    /// Where the bytes of the messages lie.
    pub cache: Cache,
    /// When they go.
    #[serde(default, skip_serializing_if = "Pace::is_closed")]
    pub pace: Pace,
    /// The most that a stream's receiver asks for at once; 0 is 64 KiB, or the message where that is larger.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub read_bytes: u64,
    /// What the messages of a stream consist of.
    #[serde(default, skip_serializing_if = "Content::is_usual")]
    pub content: Content,
}

/// The most bytes of a window of large messages.
const WINDOW_BYTES: u64 = 16 << 20;
/// The most messages of a window.
const MOST_WINDOW: u64 = 64;
/// The fewest messages of a window: one goes while another one is finished.
const LEAST_WINDOW: u64 = 2;

impl Block {
    /// The bytes that the whole block carries, in one direction.
    pub fn bytes(&self) -> u64 {
        self.message_bytes.saturating_mul(self.messages).saturating_mul(u64::from(self.slices))
    }

    /// How many messages of a stream are under way at once where whole messages are passed.
    pub fn window(&self) -> u64 {
        (WINDOW_BYTES / self.message_bytes.max(1)).clamp(LEAST_WINDOW, MOST_WINDOW)
    }
}

/// One end of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// The host.
    pub host: HostId,
    /// Which of the host's worker processes.
    pub worker: u32,
    /// What it does.
    pub does: Does,
    /// The CPUs of its threads, one flow after the other; empty for unpinned.
    pub cpus: Vec<u32>,
    /// Which of the step's sessions it has an end of.
    #[serde(default, skip_serializing_if = "is_base")]
    pub pair: u32,
}

/// What runs beside a step's case, from before it until after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// What it is.
    pub case: Case,
    /// Who does what, the receiving ends first.
    pub roles: Vec<Role>,
    /// The size of its messages.
    pub message_bytes: u64,
    /// How long it runs before the step's blocks begin.
    pub lead_ns: u64,
}

impl Beside {
    /// Its one block, in which all of it lies.
    pub fn block(&self) -> Block {
        Block { message_bytes: self.message_bytes, messages: 1, slices: 1, ..Block::default() }
    }
}

/// One case, run once without a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Counts from 0 through the run.
    pub number: u32,
    /// The pass; 0 is the discarded one that finds the rates.
    pub pass: u32,
    /// What it is for.
    pub why: Why,
    /// What is measured.
    pub case: Case,
    /// Who does what. Passive ends come first: they bind before the active ones connect.
    pub roles: Vec<Role>,
    /// The blocks, in the order in which they run, without a pause between them.
    pub blocks: Vec<Block>,
    /// How often sockets and CPUs are sampled during the step, for time lines.
    pub sample_ns: Option<u64>,
    /// How long it should take.
    pub predicted_ns: u64,
    /// What runs beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Box<Beside>>,
    /// How long nothing may move before it fails.
    pub patience_ns: u64,
}

/// How long nothing may move before a step fails, where nothing has failed yet: longer than TCP waits before it sends a
/// segment for the fifth time (RFC 6298).
pub const PATIENCE_NS: u64 = 10_000_000_000;

impl Step {
    /// The step without those of its disjoint pairs that have these numbers; none where none is left.
    pub fn without(&self, lost: &BTreeSet<u32>) -> Option<Step> {
        let pairs = (0..).zip(self.case.pairs.iter()).filter(|(nth, _)| !lost.contains(nth));
        let pairs: Pairs = pairs.map(|(_, pair)| pair).collect();
        let before = |pair: u32| lost.iter().filter(|lost| **lost < pair).count() as u32;
        let roles = self.roles.iter().filter(|role| !lost.contains(&role.pair));
        let roles = roles.map(|role| Role { pair: role.pair - before(role.pair), ..role.clone() }).collect();
        let case = Case { pairs, ..self.case.clone() };
        (!case.pairs.is_empty()).then(|| Step { case, roles, ..self.clone() })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rung, self.pattern)?;
        if self.flows > 1 {
            write!(f, " x {}", self.flows)?;
        }
        if self.pattern.is_exchange() {
            write!(f, " {}", self.wait)?;
        }
        write!(f, " {}", self.pairs)
    }
}
