//! Whether what another program's code carried went between the hosts: a library may find a way past the network that
//! is to be measured, and its numbers would be those of memory.

use super::protocol::TrialAnswer;
use super::step::rung;
use crate::plan::{HostId, Step};
use crate::record::InterfaceDelta;
use crate::unit::Bytes;
use crate::vocabulary::{Collective, Does, Place};
use crate::{Error, Result};
use std::time::Duration;

/// What may be missing: counters are read a moment early.
const LEAST_SHARE: f64 = 0.9;

/// How old the counters of an adapter may be: several tell them once a second.
pub const COUNTERS_AGE: Duration = Duration::from_millis(1200);

/// What was received in a step between hosts, in bytes and in packets at least, against what the busiest interface of
/// each host moved meanwhile. A host's interfaces may count the same bytes several times, as those of a bond do; where
/// connections are spread over several adapters of a lab, which has none, as many of the busiest count together.
pub fn check(step: &Step, adapters: u32, answers: &[(HostId, TrialAnswer)]) -> Result<()> {
    if rung(&step.case.rung)?.place != Place::Network {
        return Ok(());
    }
    let came = match step.case.pattern.collective() {
        Some(together) => (crossing(step, &together), packets(step) as f64),
        None => (received(step, answers)?, packets(step) as f64),
    };
    let moved = |of: fn(&InterfaceDelta) -> u64| {
        let of_host = |answer: &TrialAnswer| {
            // The loopback interface counts each packet as sent and as received.
            let once = |it: &InterfaceDelta| of(it) as f64 / if it.name == "lo" { 2.0 } else { 1.0 };
            let mut each: Vec<f64> = answer.host.interfaces.iter().map(once).collect();
            each.sort_by(|a, b| b.total_cmp(a));
            each.iter().take(adapters.max(1) as usize).sum::<f64>()
        };
        // Each is counted at both hosts.
        answers.iter().map(|(_, answer)| of_host(answer)).sum::<f64>() / 2.0
    };
    let bytes = moved(|it| it.rx_bytes + it.tx_bytes);
    let frames = moved(|it| it.rx_packets + it.tx_packets);
    if bytes >= LEAST_SHARE * came.0 && frames >= LEAST_SHARE * came.1 {
        return Ok(());
    }
    let what = format!(
        "{} must cross, but the interfaces moved {} in {frames:.0} packets: it took another way than the network",
        Bytes(came.0 as u64),
        Bytes(bytes as u64)
    );
    Err(Error::unavailable(
        what,
        "a library that finds shared memory takes it: are both ranks in one machine?",
    ))
}

/// Bytes, those of what ran beside it included where they crossed as well.
fn received(step: &Step, answers: &[(HostId, TrialAnswer)]) -> Result<f64> {
    let beside = step.beside.as_ref().map(|load| rung(&load.case.rung)).transpose()?;
    let beside = beside.is_some_and(|rung| rung.place == Place::Network);
    let parts = answers.iter().flat_map(|(_, answer)| &answer.parts).filter(|part| beside || !part.beside);
    let receiving = parts.flat_map(|part| &part.tasks).filter(|task| task.does.receives());
    let flows = receiving.flat_map(|task| &task.blocks).flat_map(|block| &block.flows);
    Ok(flows.map(|flow| flow.bytes as f64).sum())
}

/// What ranks give each other within a host crosses nothing.
fn crossing(step: &Step, together: &Collective) -> f64 {
    let messages = (together.crossing)(step.case.flows.into());
    step.blocks.iter().map(|block| block.bytes() as f64 * messages as f64).sum()
}

/// The fewest packets: who waits for an answer cannot join two messages in one.
fn packets(step: &Step) -> u64 {
    let waits = |does: Does| {
        let together = step.case.pattern.collective().is_some_and(|together| together.synchronizes);
        does.awaits_each() || together
    };
    let answered = step.roles.iter().filter(|role| waits(role.does)).count();
    let messages: u64 = step.blocks.iter().map(|block| block.messages * u64::from(block.slices)).sum();
    answered as u64 * messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Block, Case, HostId, PATIENCE_NS, Role, Why};
    use crate::record::{Flow, HostDelta};
    use crate::run::protocol::{BlockAnswer, PartAnswer, TaskAnswer};
    use crate::vocabulary::Pattern;

    fn answer(does: Does, interfaces: &[(&str, u64, u64)]) -> (HostId, TrialAnswer) {
        let flows = vec![Flow { bytes: 1000, ..Flow::default() }];
        let block = BlockAnswer { flows, histogram: None, samples: Default::default() };
        let tasks = vec![TaskAnswer { does, blocks: vec![block] }];
        let part = PartAnswer {
            worker: 0,
            pair: 0,
            beside: false,
            kept_awake: true,
            timer_slack_lowered: true,
            tasks,
            sockets: Vec::new(),
            series: Vec::new(),
        };
        let moved = |(name, rx_bytes, rx_packets): &(&str, u64, u64)| InterfaceDelta {
            name: (*name).into(),
            rx_bytes: *rx_bytes,
            rx_packets: *rx_packets,
            ..InterfaceDelta::default()
        };
        let host = HostDelta { interfaces: interfaces.iter().map(moved).collect(), ..HostDelta::default() };
        (HostId::default(), TrialAnswer { host, parts: vec![part], series: Vec::new() })
    }

    /// Two hosts with the same counters; ten messages of 100 B each way that there is.
    fn checked(rung: &str, does: [Does; 2], interfaces: &[(&str, u64, u64)]) -> Option<String> {
        checked_of(Case { rung: rung.into(), ..Case::default() }, does, interfaces)
    }

    fn checked_of(case: Case, does: [Does; 2], interfaces: &[(&str, u64, u64)]) -> Option<String> {
        checked_by(1, case, does, interfaces)
    }

    fn checked_by(
        adapters: u32,
        case: Case,
        does: [Does; 2],
        interfaces: &[(&str, u64, u64)],
    ) -> Option<String> {
        let role = |does| Role { host: HostId::default(), worker: 0, does, cpus: Vec::new(), pair: 0 };
        let block = Block { message_bytes: 100, messages: 10, slices: 1, ..Block::default() };
        let step = Step {
            number: 0,
            pass: 1,
            why: Why::Pass,
            case,
            roles: does.map(role).to_vec(),
            blocks: vec![block],
            predicted_ns: 0,
            sample_ns: None,
            beside: None,
            patience_ns: PATIENCE_NS,
        };
        let answers = does.map(|does| answer(does, interfaces));
        check(&step, adapters, &answers).err().map(|error| error.to_string())
    }

    const STREAM: [Does; 2] = [Does::Receives, Does::Sends];
    const PINGS: [Does; 2] = [Does::Echoes, Does::Pings];

    #[test]
    fn what_went_past_the_network_is_refused() {
        assert_eq!(checked("network.mpi", STREAM, &[("eth0", 1050, 2)]), None);
        assert_eq!(checked("network.mpi", PINGS, &[("eth0", 2100, 20)]), None, "there and back");
        let receipts = [Does::Acknowledges, Does::Delivers];
        assert_eq!(
            checked("network.mpi", receipts, &[("eth0", 1050, 20)]),
            None,
            "a message, and a byte back"
        );
        assert!(checked("network.mpi", receipts, &[("eth0", 500, 20)]).is_some());
        assert!(checked("network.mpi", receipts, &[("eth0", 1050, 10)]).is_some(), "no byte back");
        let why = checked("network.mpi", STREAM, &[("eth0", 10, 1)]).unwrap();
        assert!(why.contains("must cross, but the interfaces moved 10 B in 1 packets"), "{why}");
        assert!(checked("network.mpi", PINGS, &[("eth0", 1050, 20)]).is_some(), "only one way");
        assert!(
            checked("network.mpi", PINGS, &[("eth0", 5000, 8)]).is_some(),
            "others' bytes, too few packets"
        );
        assert!(checked("network.mpi", STREAM, &[]).is_some());
        assert_eq!(checked("in-host.mpi", STREAM, &[]), None, "no interface has a part in it");
    }

    #[test]
    fn what_goes_by_two_adapters_counts_together() {
        let checked = |adapters, interfaces: &[(&str, u64, u64)]| {
            let case = Case { rung: "network.tcp".into(), ..Case::default() };
            checked_by(adapters, case, STREAM, interfaces).is_none()
        };
        let half = [("wire0", 525, 5), ("wire1", 525, 5)];
        assert!(checked(2, &half) && !checked(1, &half));
        assert!(!checked(2, &half[..1]), "half of it went another way");
        assert!(checked(2, &[("wire0", 1050, 10), ("wire1", 0, 0)]));
    }

    /// Ten operations of 100 B: what ranks of one host give each other need not cross, the rest must.
    #[test]
    fn what_ranks_do_together_crosses_at_least_once() {
        let checked = |pattern: Pattern, flows, bytes, packets| {
            let case = Case { rung: "network.mpi".into(), pattern, flows, ..Case::default() };
            let does = pattern.entry().ends[0][0];
            checked_of(case, [does; 2], &[("eth0", bytes, packets)]).is_none()
        };
        let least = [
            (Pattern::Broadcast, 4, 1000, 0),
            (Pattern::Reduce, 4, 1000, 0),
            (Pattern::Allreduce, 4, 2000, 20),
            (Pattern::AllToAll, 1, 2000, 20),
            (Pattern::AllToAll, 2, 8000, 20),
            (Pattern::Barrier, 4, 0, 20),
        ];
        for (pattern, flows, bytes, packets) in least {
            assert!(checked(pattern, flows, bytes, packets), "{pattern}");
            assert!(
                bytes == 0 || !checked(pattern, flows, bytes / 2, packets),
                "{pattern}: half of the bytes"
            );
            assert!(
                packets == 0 || !checked(pattern, flows, bytes, packets / 2),
                "{pattern}: half of the packets"
            );
        }
    }

    #[test]
    fn bytes_counted_several_times_cross_once() {
        let half = [("bond0", 510, 2), ("eth0", 510, 2), ("eth0.7", 510, 2)];
        assert!(checked("network.mpi", STREAM, &half).is_some());
        assert!(checked("network.mpi", STREAM, &[("lo", 1050, 4)]).is_some(), "sent and received");
        assert_eq!(checked("network.mpi", STREAM, &[("lo", 2100, 4)]), None);
    }
}
