//! What was put in comes out.

use super::*;
use crate::record::Series;

fn side(sends: bool) -> StreamSide {
    let named =
        |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    let series = |values: [f64; 4]| Series {
        step: 0,
        host: HostId(0),
        worker: None,
        flow: None,
        // The first one is before the block.
        at_ns: vec![500, 1_000, 1_500, 2_000],
        values: [("queue.backlog-bytes".to_owned(), values.to_vec())].into(),
    };
    StreamSide {
        begun_ns: 1_000,
        elapsed_ns: 1_000,
        bytes: 4_000,
        calls: 4,
        thread_ns: 500,
        run_delay_ns: Some(200),
        sleeps: 3,
        counted: named(&[
            ("taken", 10),
            ("taken-held", 4),
            ("out-packets", 2),
            ("out-bytes", 3_000),
            ("softirq-beside-ns", 100),
            ("dropped", 3),
        ]),
        out_sizes: [vec![0; 10], vec![2]].concat(),
        drops: named(&[("QDISC_DROP", 3)]),
        tcp: named(&if sends {
            vec![("bytes_sent", 4_000), ("busy_time", 1), ("total_retrans", 5)]
        } else {
            Vec::new()
        }),
        series: vec![series([9e9, 10.0, 30.0, 50.0])],
        ..StreamSide::default()
    }
}

#[test]
fn figures_are_of_the_time_of_their_block() {
    let block = StreamBlock { untraced: (4_400, 1_000), sending: side(true), receiving: side(false) };
    let trace = StreamTrace { blocks: vec![block; 6], ..StreamTrace::default() };
    let found = analyse_stream(&trace);
    let [sender, receiver] = &found.ends[..] else { panic!("two ends") };
    let median = |end: &StreamEnd, name: &str| end.figure(name).map(|value| value.of_blocks.median);
    let told = [
        "thread.cpu",
        "thread.run-queue",
        "softirq.beside",
        "socket.held",
        "call.bytes",
        "packet.out-bytes",
        "queue.backlog",
        "drops",
        "tcp.retransmitted",
    ];
    let told = told.map(|name| median(sender, name).unwrap());
    assert_eq!(told, [0.5, 0.2, 0.1, 0.4, 1000.0, 1500.0, 30.0, 3.0, 5.0]);
    assert!((median(sender, "thread.asleep").unwrap() - 0.3).abs() < 1e-9);
    // Who does not send is held by no window.
    assert_eq!(
        (median(receiver, "tcp.receive-window-limited"), median(sender, "tcp.receive-window-limited")),
        (None, Some(0.0))
    );
    assert_eq!((median(sender, "packet.in-bytes"), sender.drops["QDISC_DROP"]), (None, 18));
    assert_eq!(sender.sizes, [StreamSizes { from_bytes: 1024, out_packets: 12, in_packets: 0 }]);
    let (rate, tax) = (found.throughput_bps.unwrap(), found.tax.unwrap());
    assert!(rate.median == 32e9 && (tax.median - 0.1).abs() < 1e-9 && tax.low.is_some());
}

#[test]
fn blocks_follow_each_other_on_one_axis() {
    let block = StreamBlock { untraced: (1, 1), sending: side(true), receiving: side(false) };
    let lines = analyse_stream(&StreamTrace { blocks: vec![block; 2], ..StreamTrace::default() }).lines;
    assert_eq!((&lines.blocks_ns[..], lines.end_ns, lines.lines.len()), (&[0, 1_000][..], 2_000, 2));
    let line = &lines.lines[0];
    assert_eq!(line.at_ns, [0, 500, 1_000, 1_000, 1_500, 2_000]);
    assert_eq!(line.values, [10.0, 30.0, 50.0, 10.0, 30.0, 50.0]);
    assert_eq!(analyse_stream(&StreamTrace::default()).throughput_bps, None);
}
