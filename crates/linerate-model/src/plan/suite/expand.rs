//! A suite's cases as single ones: every combination of their factors on these hosts.

use super::{Graph, Load, Roles, Suite, SuiteCase};
use crate::plan::{Case, HostId, HostPair, Pace, Pairs, Plan};
use crate::unit::{BitRate, Bytes, Nanoseconds, per_second};
use crate::vocabulary::{Pattern, Place, Rung, Wait};

/// One case, and what a trial of it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    /// What is measured.
    pub case: Case,
    /// At which sizes.
    pub sizes: Vec<u64>,
    /// How long a trial lasts; none where the profile says it.
    pub trial_ns: Option<u64>,
    /// What runs beside it.
    pub load: Option<LoadOf>,
}

/// What runs beside a case.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOf {
    /// Its streams, a case a way.
    pub cases: Vec<Case>,
    /// The size of their messages.
    pub message_bytes: u64,
}

impl LoadOf {
    /// Whether a host takes part in it.
    pub fn has(&self, host: HostId) -> bool {
        self.cases.iter().any(|case| case.pairs.has(host))
    }
}

impl Suite {
    /// Every case on hosts of these names.
    pub fn expand(&self, plan: &Plan, hosts: &[HostId]) -> Vec<Expanded> {
        self.cases.iter().flat_map(|case| self.expand_case(case, &case.arms(plan), plan, hosts)).collect()
    }

    /// Every case in each of these arms, whatever it varies.
    pub fn expand_arms(&self, arms: &[u32], plan: &Plan, hosts: &[HostId]) -> Vec<Expanded> {
        self.cases.iter().flat_map(|case| self.expand_case(case, arms, plan, hosts)).collect()
    }

    fn expand_case(&self, case: &SuiteCase, arms: &[u32], plan: &Plan, hosts: &[HostId]) -> Vec<Expanded> {
        let graph = (case.pattern == Pattern::Pipeline).then(|| self.graph(&case.graph));
        case.expand(self.case_name(&case.id), arms, plan, hosts, graph.as_ref())
    }
}

/// How the ends of an exchange wait, where nothing is said of it.
const BOTH_WAITS: [Wait; 2] = [Wait::Polling, Wait::Sleeping];

impl SuiteCase {
    fn expand(
        &self,
        id: String,
        arms: &[u32],
        plan: &Plan,
        hosts: &[HostId],
        graph: Option<&Graph>,
    ) -> Vec<Expanded> {
        let base = Case { id, pattern: self.pattern, timeline: self.timeline, ..Case::default() };
        let mut all = vec![base];
        all = product(all, &self.rung, |case, rung| Case { rung: rung.clone(), ..case });
        all = product(all, arms, |case, arm| Case { arm: *arm, ..case });
        all = all.into_iter().map(|case| carried(plan, case)).collect();
        all = product(all, self.waits(), |case, wait| Case { wait: *wait, ..case });
        let flows = or(&self.flows, &[1]);
        all = product(all, flows, |case, flows| Case { flows: *flows, ..case });
        let ends = all.into_iter().flat_map(|case| match graph {
            Some(graph) => of_graph(&case, graph, hosts).into_iter().collect(),
            None => self.with_ends(&case, hosts),
        });
        let ends = ends.collect::<Vec<_>>();
        let sized =
            ends.into_iter().flat_map(|case| self.paced(&case, &self.sizes_of(plan))).collect::<Vec<_>>();
        let trial_ns = self.trial.as_ref().and_then(|text| text.parse::<Nanoseconds>().ok());
        let trial_ns = trial_ns.map(|time| time.0 as u64);
        let alone = sized.into_iter().map(|(case, sizes)| Expanded { case, sizes, trial_ns, load: None });
        alone.flat_map(|one| self.with_load(one, hosts)).collect()
    }

    /// The numbers of its arms; 0 is the plan as it stands.
    fn arms(&self, plan: &Plan) -> Vec<u32> {
        let number = |settings: Vec<super::Setting>| match settings.is_empty() {
            true => Some(0),
            false => plan.arms.iter().position(|arm| arm.settings == settings).map(|at| at as u32 + 1),
        };
        self.settings().into_iter().filter_map(|(_, settings)| number(settings)).collect()
    }

    pub(super) fn waits(&self) -> &[Wait] {
        let polls = self.pattern.is_exchange() && !self.pattern.entry().application;
        let usual = if polls { &BOTH_WAITS[..] } else { &BOTH_WAITS[1..] };
        or(&self.wait, usual)
    }

    /// Every host that plays a part, for each of its roles.
    fn with_ends(&self, case: &Case, hosts: &[HostId]) -> Vec<Case> {
        let between = |pairs: Pairs, flows: u32| Case { pairs, flows, ..case.clone() };
        let ([first, second, ..], Some(rung)) = (hosts, Rung::named(&case.rung)) else {
            return Vec::new();
        };
        if rung.place == Place::InHost {
            return vec![between(Pairs::single(*first, *first), case.flows)];
        }
        let others = &hosts[1..];
        let all = [others.len() as u32];
        let fan = |inward: bool| {
            let fans = or(&self.clients, &all).iter().filter(|clients| **clients > 0).map(move |clients| {
                let used = shared_by(*clients, others.len());
                let flows = case.flows * clients / used as u32;
                let outward = Pairs::each_to_each(&[*first], &others[..used]);
                between(if inward { outward.reversed() } else { outward }, flows)
            });
            fans.collect::<Vec<_>>()
        };
        let of_role = |roles: &Roles| match roles {
            Roles::There => vec![between(Pairs::single(*first, *second), case.flows)],
            Roles::Back => vec![between(Pairs::single(*second, *first), case.flows)],
            Roles::FanIn => fan(true),
            Roles::FanOut => fan(false),
            Roles::MultiPair => vec![between(matched(hosts), case.flows)],
            Roles::Halves => {
                let (some, others) = hosts.split_at(hosts.len() / 2);
                vec![between(Pairs::each_to_each(some, others), case.flows)]
            }
        };
        or(&self.roles, &[Roles::There]).iter().flat_map(of_role).collect()
    }

    fn sizes_of(&self, plan: &Plan) -> Vec<u64> {
        let sizes = self.sizes.iter().flat_map(|text| match text.as_str() {
            "ladder" => plan.profile.sizes.clone(),
            text => text.parse::<Bytes>().map(|bytes| bytes.0).into_iter().collect(),
        });
        let mut sizes: Vec<u64> = sizes.collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// A pace in bits a second is another one for each size.
    fn paced(&self, case: &Case, sizes: &[u64]) -> Vec<(Case, Vec<u64>)> {
        let closed = ["closed".to_owned()];
        let of_pace = |text: &String| match pace(text, 1) {
            Some((pace, false)) => vec![(Case { pace, ..case.clone() }, sizes.to_vec())],
            Some((_, true)) => {
                let of_size =
                    |size: &u64| Some((Case { pace: pace(text, *size)?.0, ..case.clone() }, vec![*size]));
                sizes.iter().filter_map(of_size).collect()
            }
            None => Vec::new(),
        };
        or(&self.pace, &closed).iter().flat_map(of_pace).collect()
    }

    /// The case alone, and where there is a load, under it.
    fn with_load(&self, alone: Expanded, hosts: &[HostId]) -> Vec<Expanded> {
        let Some(load) = &self.load else { return vec![alone] };
        let base =
            Case { id: alone.case.id.clone(), rung: load.rung.clone(), beside: true, ..Case::default() };
        let base = Case { pattern: Pattern::Stream, flows: load.flows, arm: alone.case.arm, ..base };
        let of_load = SuiteCase { roles: load.roles.clone(), ..SuiteCase::default() };
        let cases = of_load.with_ends(&base, hosts);
        let message_bytes = load.size.parse::<Bytes>().map_or(1 << 20, |bytes| bytes.0);
        let under = load_name(load, &cases);
        let case = Case { under, ..alone.case.clone() };
        vec![alone.clone(), Expanded { case, load: Some(LoadOf { cases, message_bytes }), ..alone }]
    }
}

/// A case of an application over the transport that is asked for by a knob of its own, where there is such a rung.
fn carried(plan: &Plan, case: Case) -> Case {
    match plan.carrier(&case) {
        Some(rung) => Case { rung: rung.id.into(), ..case },
        None => case,
    }
}

/// A case of a pipeline between the hosts that its stages are on; none where all are at one place.
fn of_graph(case: &Case, graph: &Graph, hosts: &[HostId]) -> Option<Case> {
    let is_within = Rung::named(&case.rung)?.place == Place::InHost;
    let layout = graph.layout(if is_within { &[] } else { hosts }, if is_within { 2 } else { hosts.len() });
    let host = |place: usize| hosts.get(if is_within { 0 } else { place }).copied();
    let pair = |(from, to): &(usize, usize)| Some(HostPair { from: host(*from)?, to: host(*to)? });
    let pairs: Option<Pairs> = layout.pairs.iter().map(pair).collect();
    let case = Case { pairs: pairs?, flows: layout.flows, ..case.clone() };
    (!case.pairs.is_empty()).then_some(case)
}

/// `network.tcp x 4 a>b`.
fn load_name(load: &Load, cases: &[Case]) -> String {
    let ways: Vec<String> = cases.iter().map(|case| case.pairs.to_string()).collect();
    let flows = if load.flows > 1 { format!(" x {}", load.flows) } else { String::new() };
    format!("{}{flows} {}", load.rung, ways.join(", "))
}

/// The first host to the second, the third to the fourth and so on; one that is left over has no part.
fn matched(hosts: &[HostId]) -> Pairs {
    hosts.chunks_exact(2).map(|pair| HostPair { from: pair[0], to: pair[1] }).collect()
}

/// How many hosts can share so many connections evenly.
fn shared_by(connections: u32, hosts: usize) -> usize {
    (1..=hosts).rev().find(|hosts| connections.is_multiple_of(*hosts as u32)).unwrap_or(1)
}

/// Reads a pace, for messages of this size; says whether it depends on that.
pub(super) fn pace(text: &str, size: u64) -> Option<(Pace, bool)> {
    let (is_poisson, rate) = match text.strip_prefix("poisson ") {
        Some(rate) => (true, rate),
        None => (false, text),
    };
    let pace = |gap_ns: f64| {
        let gap_ns = gap_ns.round().max(1.0) as u64;
        if is_poisson { Pace::Poisson(gap_ns) } else { Pace::Every(gap_ns) }
    };
    if text == "closed" {
        return Some((Pace::Closed, false));
    }
    if let Ok(rate) = rate.parse::<BitRate>() {
        return Some((pace(8e9 * size as f64 / rate.0), true));
    }
    let each = per_second(rate).ok()?;
    (each > 0.0 && each <= 1e9).then(|| (pace(1e9 / each), false))
}

fn or<'l, T>(list: &'l [T], usual: &'l [T]) -> &'l [T] {
    if list.is_empty() { usual } else { list }
}

fn product<T>(cases: Vec<Case>, levels: &[T], with: impl Fn(Case, &T) -> Case) -> Vec<Case> {
    cases
        .iter()
        .flat_map(|case| levels.iter().map(|level| with(case.clone(), level)).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_shared_evenly_by_hosts() {
        for (connections, hosts, used) in
            [(1, 4, 1), (2, 4, 2), (8, 4, 4), (12, 4, 4), (12, 3, 3), (5, 3, 1), (5, 1, 1)]
        {
            assert_eq!(shared_by(connections, hosts), used, "{connections} over {hosts}");
        }
    }

    #[test]
    fn paces_are_of_messages_or_of_bits() {
        let pace = |text: &str| pace(text, 1250);
        assert_eq!(pace("closed"), Some((Pace::Closed, false)));
        assert_eq!(pace("1000/s"), Some((Pace::Every(1_000_000), false)));
        assert_eq!(pace("poisson 250/s"), Some((Pace::Poisson(4_000_000), false)));
        assert_eq!(pace("100Mb/s"), Some((Pace::Every(100_000), true)));
        for text in ["", "open", "0/s", "-1/s", "poisson", "1e12/s"] {
            assert_eq!(pace(text), None, "{text}");
        }
    }
}
