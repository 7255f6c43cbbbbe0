//! A plan as it stands in a recording, which is also what its hash is made of: views are fields there, most of them
//! empty, and hosts a number with two tables of addresses.

use super::pair::MOST_HOSTS;
use super::{
    Arm, Comparison, HostAddress, HostId, Plan, PlannedHost, PortRange, Profile, Rungs, Screening, Setting,
    Suite, Target, Tuning, View,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that a run is asked to do.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Plan")]
pub(super) struct Written {
    /// The hosts.
    target: Target,
    /// How many of the target's hosts take part.
    #[serde(default = "two", skip_serializing_if = "are_two")]
    hosts: u32,
    /// How much is measured, and for how long.
    profile: Profile,
    /// The rungs, by name, from the bottom up.
    rungs: Vec<String>,
    /// Whether the rungs were chosen by name: then siblings of the chain are measured at every size.
    #[serde(default)]
    named: bool,
    /// What is measured in place of the ladder; of a comparison of arms the application that it is on, of one case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suites: Vec<Suite>,
    /// The knobs that are set.
    settings: Vec<Setting>,
    /// The address that a host's peer sends to, where it is not the one that the host was reached at.
    #[serde(default)]
    addresses: BTreeMap<String, HostAddress>,
    /// What is compared with the plan as it stands, if anything: a case's `arm` counts from 1 here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arms: Vec<Arm>,
    /// The IPv6 address of a host, where it is not known otherwise.
    #[serde(default)]
    addresses6: BTreeMap<String, HostAddress>,
    /// The ports that ends may listen on; any where none are said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ports: Option<PortRange>,
    /// The host that listens, where it is said which one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listens: Option<HostId>,
    /// How the arms are compared; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
    /// How settings that gain are searched for among the arms; none where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tuning: Option<Tuning>,
    /// How many hosts are screened; none where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    matrix: Option<Screening>,
    /// Seeds every shuffled order.
    seed: u64,
    /// The time the run may take, when the user fixed it.
    budget_ns: Option<u64>,
}

/// A ladder stands between two hosts.
fn two() -> u32 {
    2
}

fn are_two(hosts: &u32) -> bool {
    *hosts == two()
}

impl From<Plan> for Written {
    fn from(plan: Plan) -> Written {
        let (rungs, suites, comparison, tuning, matrix) = match plan.view {
            View::Ladder(rungs) => (rungs, Vec::new(), None, None, None),
            View::Suites(suites) => (Rungs::default(), suites, None, None, None),
            View::Comparison { rungs, design, application } => {
                (rungs, application.into_iter().map(|suite| *suite).collect(), Some(design), None, None)
            }
            View::Tuning { rungs, design } => (rungs, Vec::new(), None, Some(design), None),
            View::Matrix { rungs, design } => (rungs, Vec::new(), None, None, Some(design)),
        };
        let addresses =
            plan.hosts.iter().filter_map(|host| Some((host.id.to_string(), host.address.clone()?)));
        let addresses6 =
            plan.hosts.iter().filter_map(|host| Some((host.id.to_string(), host.address6.clone()?)));
        Written {
            target: plan.target,
            hosts: plan.hosts.len() as u32,
            profile: plan.profile,
            rungs: rungs.ids,
            named: rungs.named,
            suites,
            settings: plan.settings,
            addresses: addresses.collect(),
            arms: plan.arms,
            addresses6: addresses6.collect(),
            ports: plan.hosts.first().and_then(|host| host.ports),
            listens: plan.hosts.iter().find(|host| host.listens).map(|host| host.id),
            comparison,
            tuning,
            matrix,
            seed: plan.seed,
            budget_ns: plan.budget_ns,
        }
    }
}

impl TryFrom<Written> for Plan {
    type Error = String;

    fn try_from(written: Written) -> Result<Plan, String> {
        if written.hosts > MOST_HOSTS {
            return Err(format!("{} hosts take part, and at most {MOST_HOSTS} can", written.hosts));
        }
        let rungs = Rungs { ids: written.rungs, named: written.named };
        let designs = (written.comparison, written.tuning, written.matrix);
        let mut suites = written.suites;
        let view = match (designs, suites.as_slice()) {
            ((None, None, None), []) => View::Ladder(rungs),
            ((None, None, None), _) => View::Suites(suites),
            ((Some(design), None, None), []) => View::Comparison { rungs, design, application: None },
            ((Some(design), None, None), [one]) if one.cases.len() == 1 => {
                one.check().map_err(|error| error.what)?;
                View::Comparison { rungs, design, application: suites.pop().map(Box::new) }
            }
            ((None, Some(design), None), []) => View::Tuning { rungs, design },
            ((None, None, Some(design)), []) => {
                design.check(written.hosts)?;
                View::Matrix { rungs, design }
            }
            _ => {
                return Err(
                    "a plan compares arms, searches among them, measures suites, or screens hosts".into()
                );
            }
        };
        let host = |number: u32| {
            let id = HostId(number as u16);
            let name = id.to_string();
            PlannedHost {
                id,
                address: written.addresses.get(&name).cloned(),
                address6: written.addresses6.get(&name).cloned(),
                ports: written.ports,
                listens: written.listens == Some(id),
            }
        };
        Ok(Plan {
            hosts: (0..written.hosts).map(host).collect(),
            target: written.target,
            profile: written.profile,
            view,
            settings: written.settings,
            arms: written.arms,
            seed: written.seed,
            budget_ns: written.budget_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::{Value, json};

    fn read(key: &str, value: Value) -> Result<Plan, String> {
        let mut plan = json!({
            "target": "lab".parse::<Target>().unwrap(),
            "profile": Profile::named("quick").unwrap(),
            "rungs": ["network.tcp"], "settings": [], "seed": 1, "budget_ns": null,
        });
        plan[key] = value;
        serde_json::from_value(plan).map_err(|error| error.to_string())
    }

    #[test]
    fn two_hosts_and_a_ladder_are_the_default() {
        let plan = read("seed", json!(1)).unwrap();
        assert_eq!(
            (plan.hosts, plan.view),
            (PlannedHost::first(2), View::Ladder(Rungs::unnamed(["network.tcp"])))
        );
    }

    #[test]
    fn a_host_that_takes_no_part_has_no_address() {
        let plan = read("addresses", json!({"b": "192.0.2.7", "c": "192.0.2.8", "?": "192.0.2.9"})).unwrap();
        let addresses: Vec<_> = plan.hosts.iter().map(|host| host.address.is_some()).collect();
        assert_eq!(addresses, [false, true]);
    }

    #[test]
    fn too_many_hosts_and_two_views_are_refused() {
        assert!(read("hosts", json!(MOST_HOSTS)).is_ok());
        assert!(read("hosts", json!(u32::MAX)).unwrap_err().contains("at most 64"));
        let comparison = json!({"metric": "latency", "blocks": 6, "extend": true, "margin": 0.01});
        let mut plan = serde_json::to_value(read("comparison", comparison).unwrap()).unwrap();
        plan["suites"] = json!([{"name": "mine", "case": []}]);
        assert!(serde_json::from_value::<Plan>(plan).unwrap_err().to_string().contains("compares arms"));
    }
}
