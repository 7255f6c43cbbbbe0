//! Losses that come in bursts are told from losses by chance by the rate that they leave.

use super::*;
use crate::analysis::Layer;
use crate::diagnosis::sign::Shown;

/// What is told of a stream that lost so many of 1,000 segments over so long a least round trip.
fn told(lost: u64, least_us: u64) -> Option<String> {
    told_of(lost, least_us, 0)
}

/// The same where so many came out of order.
fn told_of(lost: u64, least_us: u64, overtaken: u64) -> Option<String> {
    let mut recording = quiet();
    for socket in recording.steps.iter_mut().flat_map(|step| &mut step.sockets) {
        socket.moved.extend([("total_retrans".to_owned(), lost), ("data_segs_out".to_owned(), 1000)]);
        socket.moved.extend([("rcv_ooopack".to_owned(), overtaken), ("reord_seen".to_owned(), overtaken)]);
        socket.last.extend([("snd_mss".to_owned(), 1448), ("min_rtt".to_owned(), least_us)]);
        socket.last.insert("options".to_owned(), 7);
    }
    let analysis = analyse(&recording);
    let is_it = |layer: &Layer| layer.rung == "network.tcp" && layer.flows == 1 && !layer.both_ways;
    let at = analysis.layers.iter().position(is_it).unwrap();
    Shown::of_layer(&recording, (at, &analysis.layers[at]), &[], &[]).unwrap().losses_in_bursts()
}

#[test]
fn a_rate_that_chance_would_not_leave_is_told() {
    // One lost of a hundred, each for itself, leaves 1.22 x 8 x 1448 B / (1 ms x 0.1), 140 Mb/s; the run has some 57 Gb/s.
    let far = told(10, 1000).unwrap();
    assert!(far.contains("1 % of the segments") && far.contains("140 Mb/s"), "{far}");
    assert_eq!(told(10, 10), None, "over 10 us chance leaves 14 Gb/s, and bursts and Cubic some times that");
    assert_eq!(told(0, 1000), None, "nothing was lost");
    assert_eq!(told_of(10, 1000, 10), None, "what is overtaken is sent again and was not lost");
}
