//! Whether what another program's code carried went between the hosts: a library may find a way past the network that
//! is to be measured, and its numbers would be those of memory.

use super::protocol::TrialAnswer;
use crate::unit::Bytes;
use crate::vocabulary::{Does, Place, Rung};
use crate::{Error, Result};

/// What may be missing: counters are read a moment early, and a library may compress nothing.
const LEAST_SHARE: f64 = 0.9;

/// The bytes that all roles received of one step's blocks, against those that the hosts' interfaces moved meanwhile.
pub fn check(rung: &Rung, answers: &[(String, TrialAnswer)]) -> Result<()> {
    if rung.place != Place::Network {
        return Ok(());
    }
    let received: u64 = answers.iter().map(|(_, answer)| received(answer)).sum();
    let crossed = answers.iter().map(|(_, answer)| crossed(answer)).max().unwrap_or(0);
    if crossed as f64 >= LEAST_SHARE * received as f64 {
        return Ok(());
    }
    let what = format!(
        "{} came, but the interfaces moved {}: it took another way than the network",
        Bytes(received),
        Bytes(crossed)
    );
    let hint = "a library that finds shared memory takes it: are both ranks in one machine?";
    Err(Error::unavailable(what, hint))
}

/// Of a step's pairs each byte is received once: a ping's answer is received as well.
fn received(answer: &TrialAnswer) -> u64 {
    let tasks = answer.parts.iter().filter(|part| !part.beside).flat_map(|part| &part.tasks);
    let receiving = tasks.filter(|task| !matches!(task.does, Does::Sends));
    receiving.flat_map(|task| &task.blocks).flat_map(|block| &block.flows).map(|flow| flow.bytes).sum()
}

/// What this host's interfaces received and sent.
fn crossed(answer: &TrialAnswer) -> u64 {
    answer.host.interfaces.iter().map(|interface| interface.rx_bytes + interface.tx_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Flow, HostDelta, InterfaceDelta};
    use crate::run::protocol::{BlockAnswer, PartAnswer, TaskAnswer};
    use crate::vocabulary::RUNGS;

    fn answer(does: Does, bytes: u64, moved: u64) -> (String, TrialAnswer) {
        let flows = vec![Flow { bytes, ..Flow::default() }];
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
        let interface = InterfaceDelta { name: "eth0".into(), rx_bytes: moved, ..InterfaceDelta::default() };
        let host = HostDelta { interfaces: vec![interface], ..HostDelta::default() };
        (String::new(), TrialAnswer { host, parts: vec![part], series: Vec::new() })
    }

    fn checked(rung: &str, does: [Does; 2], bytes: u64, moved: u64) -> Option<String> {
        let rung = RUNGS.iter().find(|one| one.id == rung).unwrap();
        let answers = does.map(|does| answer(does, bytes, moved));
        check(rung, &answers).err().map(|error| error.to_string())
    }

    #[test]
    fn what_went_past_the_network_is_refused() {
        let (streams, pings) = ([Does::Receives, Does::Sends], [Does::Echoes, Does::Pings]);
        assert_eq!(checked("network.mpi", streams, 1000, 1050), None);
        assert_eq!(checked("network.mpi", pings, 1000, 2100), None, "there and back");
        let why = checked("network.mpi", streams, 1000, 10).unwrap();
        assert!(why.contains("1000 B came, but the interfaces moved 10 B"), "{why}");
        assert!(checked("network.mpi", pings, 1000, 1050).is_some());
        assert_eq!(checked("in-host.mpi", streams, 1000, 0), None, "no interface has a part in it");
    }
}
