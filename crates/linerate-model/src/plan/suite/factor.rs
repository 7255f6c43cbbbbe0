//! What differs between the cases of a suite: the factors along an axis, or from curve to curve.

use crate::plan::{Case, HostId, Pace, Plan};
use crate::unit::{Bytes, Nanoseconds, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// The size of a message.
    Size,
    /// Connections of all pairs of hosts.
    Connections,
    /// Messages a second.
    Rate,
    /// The rules of a packet filter.
    Rules,
    /// The settings, but for those that are factors of their own.
    Settings,
    /// The name in the plan.
    Case,
    /// The rung.
    Rung,
    /// Who sends what when.
    Pattern,
    /// How the ends wait.
    Wait,
    /// The hosts.
    Hosts,
    /// What runs beside it.
    Load,
}

/// A factor's value in one case: its name, and where it stands on an axis of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// What it is called.
    pub name: String,
    /// Its number, where it has one.
    pub number: Option<f64>,
}

/// A factor in the table.
pub struct FactorEntry {
    /// The factor.
    pub factor: Factor,
    /// Its name in a plan.
    pub name: &'static str,
    /// What an axis says.
    pub axis: &'static str,
    /// Its level in a case, at a message size.
    pub level: fn(&Plan, &Case, u64) -> Level,
}

/// Every factor, in the order in which they name a curve.
pub const FACTORS: &[FactorEntry] = &[
    FactorEntry {
        factor: Factor::Case,
        name: "case",
        axis: "",
        level: |_, case, _| named(case.id.split_once('.').map_or("", |(_, id)| id)),
    },
    FactorEntry { factor: Factor::Rung, name: "rung", axis: "", level: |_, case, _| named(&case.rung) },
    FactorEntry {
        factor: Factor::Pattern,
        name: "pattern",
        axis: "",
        level: |_, case, _| named(&case.pattern.to_string()),
    },
    FactorEntry { factor: Factor::Hosts, name: "hosts", axis: "", level: |_, case, _| hosts(case) },
    FactorEntry {
        factor: Factor::Wait,
        name: "wait",
        axis: "",
        level: |_, case, _| named(&case.wait.to_string()),
    },
    FactorEntry {
        factor: Factor::Connections,
        name: "connections",
        axis: "connections",
        level: |_, case, _| {
            let connections = case.pairs.len() as u32 * case.flows;
            Level { name: format!("x {connections}"), number: Some(f64::from(connections)) }
        },
    },
    FactorEntry {
        factor: Factor::Rate,
        name: "rate",
        axis: "messages a second",
        level: |_, case, _| rate(case),
    },
    FactorEntry {
        factor: Factor::Rules,
        name: "rules",
        axis: "rules of the packet filter",
        level: |plan, case, _| rules(plan, case),
    },
    FactorEntry { factor: Factor::Settings, name: "settings", axis: "", level: settings },
    FactorEntry {
        factor: Factor::Load,
        name: "load",
        axis: "",
        level: |_, case, _| named(if case.under.is_empty() { "alone" } else { &case.under }),
    },
    FactorEntry {
        factor: Factor::Size,
        name: "size",
        axis: "message size",
        level: |_, _, bytes| Level { name: Bytes(bytes).to_string(), number: Some(bytes as f64) },
    },
];

impl Factor {
    /// Its line in the table.
    pub fn entry(self) -> &'static FactorEntry {
        // Every factor has a line; a test sees to it.
        FACTORS.iter().find(|entry| entry.factor == self).unwrap_or(&FACTORS[0])
    }
}

fn named(name: &str) -> Level {
    Level { name: name.into(), number: None }
}

/// What the hosts of a case do: `to a` or `from a`, and of a further pair `from c`.
fn hosts(case: &Case) -> Level {
    match case.pairs.receivers().has(HostId(0)) {
        true => named("to a"),
        false => named(&format!("from {}", case.pairs.from_names())),
    }
}

fn rate(case: &Case) -> Level {
    let (kind, gap_ns) = match case.pace {
        Pace::Closed => return named("closed loop"),
        Pace::Every(gap_ns) => ("every", gap_ns),
        Pace::Poisson(gap_ns) => ("Poisson", gap_ns),
    };
    let name = format!("{kind} {}", Nanoseconds(gap_ns as f64));
    Level { name, number: Some(1e9 / gap_ns.max(1) as f64) }
}

fn rules(plan: &Plan, case: &Case) -> Level {
    match plan.filter_for(&case.rung, case.arm) {
        Some(filter) => {
            let name = counted(filter.rules as usize, "rule");
            Level { name, number: Some(f64::from(filter.rules)) }
        }
        None => named("no filter"),
    }
}

/// The name of the arm: what a ladder calls it, else its settings.
fn settings(plan: &Plan, case: &Case, _: u64) -> Level {
    let of_case = |suite: &super::Suite| {
        let of_id = suite.cases.iter().find(|one| suite.case_name(&one.id) == case.id)?;
        let arm = (case.arm as usize).checked_sub(1).and_then(|at| plan.arms.get(at));
        let wanted = arm.map_or(&[][..], |arm| &arm.settings);
        let all = of_id.settings();
        let (name, settings) = all.iter().find(|(_, settings)| settings == wanted)?;
        Some(super::written(name.as_deref(), settings))
    };
    let name = plan.view.suites().iter().find_map(of_case);
    let name = name.unwrap_or_else(|| super::AS_IT_STANDS.into());
    // Several settings are no place along an axis.
    let value = name.split_once('=').map_or(name.as_str(), |(_, value)| value);
    let number = value.parse::<Bytes>().map(|bytes| bytes.0 as f64).ok();
    Level { name, number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_has_its_line() {
        use Factor::{Case, Connections, Hosts, Load, Pattern, Rate, Rules, Rung, Settings, Size, Wait};
        let all = [Case, Connections, Hosts, Load, Pattern, Rate, Rules, Rung, Settings, Size, Wait];
        for factor in all {
            let name = serde_json::to_value(factor).unwrap();
            assert_eq!((factor.entry().factor, name.as_str()), (factor, Some(factor.entry().name)));
        }
        assert_eq!(all.len(), FACTORS.len());
    }
}
