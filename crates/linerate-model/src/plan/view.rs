//! What of the hosts is looked at: the ladder, suites, or arms beside each other.

use super::{Comparison, Screening, Suite, Tuning};
use crate::vocabulary::Pattern;

/// What a plan measures. Each view makes cases of its own; all that follows is the same for them.
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    /// Rungs upon each other.
    Ladder(Rungs),
    /// The cases of plan files.
    Suites(Vec<Suite>),
    /// The plan's arms on a rung, in blocks.
    Comparison {
        /// Where they are compared.
        rungs: Rungs,
        /// How.
        design: Comparison,
        /// The application that they are compared on: a plan of one case. None where it is the rung's own patterns.
        application: Option<Box<Suite>>,
    },
    /// A search among the plan's arms for those that gain, each upon what was accepted before.
    Tuning {
        /// Where they are compared.
        rungs: Rungs,
        /// How.
        design: Tuning,
    },
    /// Many hosts with each other.
    Matrix {
        /// By what they are measured.
        rungs: Rungs,
        /// How.
        design: Screening,
    },
}

/// Rungs of the ladder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rungs {
    /// Their names, from the bottom up.
    pub ids: Vec<String>,
    /// Whether they were chosen by name: then siblings of the chain are measured at every size.
    pub named: bool,
}

impl View {
    /// The rungs that it stands on; none where suites name their own.
    pub fn rungs(&self) -> &[String] {
        self.chosen().map_or(&[], |rungs| &rungs.ids)
    }

    /// Whether its rungs were chosen by name.
    pub fn is_named(&self) -> bool {
        self.chosen().is_some_and(|rungs| rungs.named)
    }

    /// Its suites.
    pub fn suites(&self) -> &[Suite] {
        match self {
            View::Suites(suites) => suites,
            View::Ladder(_) | View::Comparison { .. } | View::Tuning { .. } | View::Matrix { .. } => &[],
        }
    }

    /// The application that arms are compared on, where it is one: a plan of one case.
    pub fn application(&self) -> Option<&Suite> {
        match self {
            View::Comparison { application, .. } => application.as_deref(),
            View::Ladder(_) | View::Suites(_) | View::Tuning { .. } | View::Matrix { .. } => None,
        }
    }

    /// The pattern that decides a comparison of arms.
    pub fn decides(&self, design: &Comparison) -> Pattern {
        let of_application = self.application().and_then(|suite| suite.cases.first());
        of_application.map_or(design.metric.shown_by(), |case| case.pattern)
    }

    /// The same view without the rungs that are not kept.
    pub fn only(mut self, is_kept: impl Fn(&str) -> bool) -> View {
        match &mut self {
            View::Ladder(rungs)
            | View::Comparison { rungs, .. }
            | View::Tuning { rungs, .. }
            | View::Matrix { rungs, .. } => {
                rungs.ids.retain(|id| is_kept(id));
            }
            View::Suites(_) => {}
        }
        self
    }

    fn chosen(&self) -> Option<&Rungs> {
        match self {
            View::Ladder(rungs)
            | View::Comparison { rungs, .. }
            | View::Tuning { rungs, .. }
            | View::Matrix { rungs, .. } => Some(rungs),
            View::Suites(_) => None,
        }
    }
}

impl Rungs {
    /// Rungs that were chosen by name.
    pub fn named<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Rungs {
        Rungs { ids: ids.into_iter().map(T::into).collect(), named: true }
    }

    /// Rungs that a profile has.
    pub fn unnamed<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Rungs {
        Rungs { named: false, ..Rungs::named(ids) }
    }
}
