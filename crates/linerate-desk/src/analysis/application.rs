//! The numbers of whole applications, of one trial.

use super::trial::positive;
use crate::record::{Flow, Trial};
use crate::vocabulary::{Does, PatternEntry};

/// The share of a monitor's polls that were not answered in time.
pub fn polls_missed(trial: &Trial) -> Option<f64> {
    let tallies = || trial.roles.iter().flat_map(|role| &role.flows).filter_map(|flow| flow.tally.as_deref());
    let missed = tallies().filter_map(|tally| tally.missed).map(|count| count as f64).reduce(|a, b| a + b)?;
    let polls = tallies().filter(|tally| tally.missed.is_some()).filter_map(|tally| tally.transactions);
    let share = missed / polls.map(|count| count as f64).sum::<f64>();
    share.is_finite().then_some(share)
}

/// Units of work that came out of a pipeline in a second.
pub(super) fn unit_rate(trial: &Trial) -> Option<f64> {
    let of_flow = |flow: &Flow| positive(1e9 * flow.tally.as_ref()?.units? as f64 / flow.duration_ns as f64);
    trial.roles.iter().flat_map(|role| &role.flows).find_map(of_flow)
}

/// CPU time of all threads of all ends for each unit of work, those of the lead among them.
pub(super) fn cpu_per_unit_ns(trial: &Trial) -> Option<f64> {
    // What moves a file may be another program, and who serves one makes it in the same time.
    let PatternEntry { application, is_single, prepares, .. } = trial.case.pattern.entry();
    let counts = *application && !is_single && *prepares == 0;
    let units = trial.block.messages as f64 * f64::from(trial.block.slices);
    let cpu_ns = trial.roles.iter().flat_map(|role| &role.flows).map(|flow| flow.cpu_ns as f64).sum::<f64>();
    positive(cpu_ns / units).filter(|_| counts)
}

/// The clients of a file that several hosts have: each has its regions in the slices of one flow.
fn clients(trial: &Trial) -> impl Iterator<Item = &Flow> {
    let flows = trial.roles.iter().filter(|role| role.does.is_client()).flat_map(|role| &role.flows);
    flows.filter(|flow| !flow.slices_ns.is_empty())
}

/// What all clients of a striped file moved in a second, each by its own clock.
pub(super) fn striped_bps(trial: &Trial) -> Option<f64> {
    let lead = trial.block.lead as usize;
    let slice_bytes = trial.block.message_bytes as f64 * trial.block.messages as f64;
    let rate = |flow: &Flow| {
        let counted = flow.slices_ns.get(lead..)?;
        positive(8e9 * slice_bytes * counted.len() as f64 / counted.iter().map(|ns| *ns as f64).sum::<f64>())
    };
    let rates: Option<Vec<f64>> = clients(trial).map(rate).collect();
    positive(rates?.iter().sum())
}

/// What a file that is moved carries until it is on the disk, by the end that moves it.
pub(super) fn file_bps(trial: &Trial) -> Option<f64> {
    let mut movers = trial.roles.iter().filter(|role| role.does == Does::Moves);
    // Files of several pairs share hosts: one of them is not the number of all.
    let (Some(moves), None) = (movers.next(), movers.next()) else { return None };
    let slices = &moves.flows.first()?.slices_ns;
    let bytes = trial.block.message_bytes * trial.block.messages * slices.len() as u64;
    positive(8e9 * bytes as f64 / slices.iter().sum::<u64>() as f64)
}

/// How long a client took for all of its regions: of the first, or of the last.
pub(super) fn done_ns(trial: &Trial, of: fn(f64, f64) -> f64) -> Option<f64> {
    clients(trial).map(|flow| flow.slices_ns.iter().sum::<u64>() as f64).reduce(of).and_then(positive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::measure;
    use crate::plan::{Block, Case, HostId};
    use crate::record::{Recording, RoleRecord, Tally, encode_histogram};
    use crate::vocabulary::Pattern;
    use std::collections::BTreeMap;

    fn role(does: Does, pair: u32, flow: Flow) -> RoleRecord {
        let histogram = encode_histogram(flow.slices_ns.iter().copied()).ok();
        RoleRecord { host: HostId(0), does, flows: vec![flow], histogram, samples: BTreeMap::new(), pair }
    }

    fn value(pattern: Pattern, roles: Vec<RoleRecord>, name: &str) -> Option<f64> {
        let case = Case { rung: "network.tcp".into(), pattern, ..Case::default() };
        let block = Block { message_bytes: 1000, messages: 1, slices: 4, lead: 1, ..Block::default() };
        let trial = Trial { step: 0, pass: 1, why: Default::default(), case, block, roles };
        measure(name).unwrap().value(&Recording::default(), &trial)
    }

    #[test]
    fn rounds_and_missed_polls_come_back() {
        let asked = |pair, missed, slices_ns: Vec<u64>| {
            let tally = Tally { transactions: Some(100), missed: Some(missed), ..Tally::default() };
            role(Does::Collects, pair, Flow { slices_ns, tally: Some(Box::new(tally)), ..Flow::default() })
        };
        let roles = vec![asked(0, 0, vec![5000; 40]), asked(1, 20, Vec::new())];
        let round = value(Pattern::Monitor, roles.clone(), "round-time").unwrap();
        assert!((round / 5000.0 - 1.0).abs() < 1e-3, "{round}");
        assert_eq!(value(Pattern::Monitor, roles.clone(), "polls-missed"), Some(0.1));
        assert_eq!(value(Pattern::Monitor, roles, "unit-rate"), None);
    }

    #[test]
    fn the_last_stage_tells_the_rate_of_units() {
        let flow = |units| {
            let tally = Some(Box::new(Tally { units, ..Tally::default() }));
            Flow { duration_ns: 500_000_000, tally, ..Flow::default() }
        };
        let roles = vec![role(Does::Stages, 0, flow(None)), role(Does::Stages, 1, flow(Some(20)))];
        assert_eq!(value(Pattern::Pipeline, roles, "unit-rate"), Some(40.0));
    }

    #[test]
    fn a_file_is_its_bytes_over_its_time() {
        let flow = Flow { slices_ns: vec![4000], ..Flow::default() };
        let taken = Flow { bytes: 1000, ..Flow::default() };
        let roles = vec![role(Does::Moves, 0, flow), role(Does::Takes, 0, taken)];
        assert_eq!(value(Pattern::File, roles.clone(), "file-throughput"), Some(2e9));
        assert_eq!(value(Pattern::File, roles[1..].to_vec(), "file-throughput"), None);
    }

    #[test]
    fn clients_of_a_striped_file_add_up() {
        let client = |pair, ns: u64| {
            let slices_ns = vec![9 * ns, ns, ns, ns];
            role(Does::Fetches, pair, Flow { slices_ns, ..Flow::default() })
        };
        // The first slice is the lead. The second connection of a client has none of its own.
        let other = role(Does::Fetches, 2, Flow::default());
        let roles = vec![client(0, 1000), client(1, 2000), other];
        let told = |name| value(Pattern::StripedRead, roles.clone(), name).unwrap();
        assert_eq!(told("striped-throughput"), 8e9 + 4e9);
        assert_eq!([told("done-time.first"), told("done-time.last")], [12_000.0, 24_000.0]);
    }
}
