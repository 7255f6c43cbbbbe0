//! What iperf, 2 and 3, and nuttcp print for readers: whose rates these are, in which units, and what an interrupted run has.

use super::{Told, each, file, near, told};
use linerate::record::Imported;
use linerate::vocabulary::{Does, Pattern, Quantity, Statistic};

const MEAN: Statistic = Statistic::Mean;
const SENDS: Option<Does> = Some(Does::Sends);
const RECEIVES: Option<Does> = Some(Does::Receives);

/// The throughputs of a test, by its name and end.
fn rates(told: &Told, test: &str, end: Option<Does>) -> Vec<f64> {
    let is_it = |row: &&Imported| row.quantity == Quantity::Throughput && row.test == test && row.end == end;
    told.rows.iter().filter(is_it).flat_map(|row| row.values.clone()).collect()
}

#[test]
fn iperf3_s_text_tells_both_ends_and_the_parts() {
    let told = Told::of("iperf3-text.txt");
    assert_eq!((rates(&told, "TCP", SENDS), rates(&told, "TCP", RECEIVES)), (vec![21.1e9], vec![21.0e9]));
    assert_eq!(rates(&told, "TCP, each stream", RECEIVES), [10.6e9, 10.4e9]);
    assert_eq!(rates(&told, "TCP, parts", SENDS), [22.3e9, 19.9e9]);
    assert_eq!(told.rows[0].flows, Some(2));
    assert_eq!(told.value(Quantity::Retransmits, Statistic::Total, SENDS), 0.0);
    assert!(told.doubts("rounded to three digits"));
    let both = Told::of("iperf3-bidir.txt");
    assert_eq!(
        (rates(&both, "TCP", RECEIVES), rates(&both, "TCP, back", RECEIVES)),
        (vec![8.61e9], vec![7.45e9])
    );
    assert_eq!(both.rows[0].pattern, Some(Pattern::Bidirectional));
    let udp = Told::of("iperf3-udp.txt");
    assert_eq!((udp.rows[0].transport.as_deref(), rates(&udp, "UDP", RECEIVES)), (Some("udp"), vec![100e6]));
    let lost = udp.one(Quantity::Lost, Statistic::Total, RECEIVES);
    assert_eq!((lost.values[0], lost.samples), (0.0, Some(382)));
    assert_eq!(udp.value(Quantity::Jitter, MEAN, RECEIVES), 2000.0);
}

#[test]
fn a_whole_line_of_an_early_iperf3_is_no_part() {
    let text = "Connecting to host h, port 5201\n[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n\
                [  4]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  14\n[  4]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  16\n\
                - - - -\n[  4]   0.00-2.00   sec   244 KBytes   999 Kbits/sec  0.022 ms  1/30 (3.3%)\n";
    let told = told(text.as_bytes(), None).unwrap();
    assert_eq!((rates(&told, "UDP, parts", SENDS).len(), rates(&told, "UDP", None)), (2, vec![999e3]));
    assert_eq!(told.one(Quantity::Lost, Statistic::Total, RECEIVES).values, [1.0]);
}

#[test]
fn an_interrupted_iperf3_gives_doubts_and_no_zeros() {
    let told = Told::of("iperf3-interrupted.txt");
    assert_eq!((rates(&told, "TCP", SENDS), rates(&told, "TCP", RECEIVES)), (vec![9.92e9], vec![]));
    assert!(
        told.doubts("other end's count is missing") && told.doubts("interrupt - the client"),
        "{:?}",
        told.source.doubts
    );
    let gone = Told::of("iperf3-gone.txt");
    assert!(
        gone.doubts("lines of the whole test are missing: its parts end at 0.5 s")
            && gone.doubts("Broken pipe")
    );
    assert_eq!(rates(&gone, "TCP, parts", SENDS), [12.9e9], "the last part stands there twice");
    let json = Told::of("iperf3-interrupted.json");
    assert!(json.doubts("end.sum_received is 0") && json.doubts("iperf3 ended with an error: interrupt"));
    let zeros = json.rows.iter().filter(|row| row.quantity != Quantity::Retransmits && row.values == [0.0]);
    assert_eq!(zeros.count(), 0, "{:?}", json.rows);
}

#[test]
fn bytes_of_iperf_are_of_1024_and_bits_of_1000() {
    let text = |unit: &str| {
        format!("[ ID] Interval\n[  5]   0.00-1.00   sec   112 MBytes   100 {unit}/sec    0   sender\n")
    };
    for (unit, bits) in [
        ("bits", 1.0),
        ("Kbits", 1e3),
        ("Mbits", 1e6),
        ("Gbits", 1e9),
        ("Bytes", 8.0),
        ("KBytes", 8192.0),
        ("MBytes", 8.0 * 1_048576.0),
        ("GBytes", 8.0 * 1_073_741_824.0),
    ] {
        near(told(text(unit).as_bytes(), Some("iperf3")).unwrap().rows[0].values[0], 100.0 * bits);
    }
    let refusal = told(text("Mfurlongs").as_bytes(), Some("iperf3")).err().unwrap();
    assert!(refusal.what.contains("`Mfurlongs/sec` is no unit"), "{}", refusal.what);
}

#[test]
fn iperf_2_tells_whose_bytes_and_what_came_back() {
    let udp = Told::of("iperf2-udp.txt");
    assert_eq!((rates(&udp, "UDP", SENDS), rates(&udp, "UDP", RECEIVES)), (vec![105e6], vec![105e6]));
    assert_eq!(rates(&udp, "UDP, parts", SENDS), [105e6, 105e6]);
    assert_eq!(
        (udp.rows[0].message_bytes, udp.one(Quantity::Lost, Statistic::Total, RECEIVES).samples),
        (Some(1470), Some(8919))
    );
    let both = Told::of("iperf2-both.txt");
    near(rates(&both, "TCP", SENDS)[0], 1710.0 * 8.0 * 1_048576.0);
    near(rates(&both, "TCP, back", RECEIVES)[0], 1428.0 * 8.0 * 1_048576.0);
    let csv = Told::of("iperf2-tcp.csv");
    assert_eq!(rates(&csv, "TCP, each stream", None), [19_015_584_629.0, 28_203_788_652.0]);
    assert!(csv.doubts("sum over all streams is missing") && csv.doubts("the sender's or the receiver's"));
}

#[test]
fn each_client_of_a_server_of_iperf_2_is_a_run() {
    let runs = each(&file("iperf2-server.txt"), None).unwrap();
    let totals: Vec<Vec<f64>> = runs.iter().map(|run| rates(run, "TCP", RECEIVES)).collect();
    assert_eq!(totals, [vec![15.4e9], vec![29.5e9], vec![47.9e9], vec![23.0e9]]);
    // A log of several runs, each on another port.
    let log = "20260101000000,10.0.0.1,40022,10.0.0.2,5001,3,0.0-10.0,1177026560,941621248\n\
               20260101010000,10.0.0.1,40023,10.0.0.2,5001,3,0.0-10.0,1177026560,941000000\n";
    assert_eq!(each(log.as_bytes(), None).unwrap().len(), 2);
}

#[test]
fn nuttcp_tells_what_the_receiver_got_in_all_its_forms() {
    let tcp = Told::of("nuttcp-tcp.txt");
    near(rates(&tcp, "TCP", RECEIVES)[0], 34646.3414e6);
    assert_eq!(rates(&tcp, "TCP, parts", RECEIVES), [32167.3974 * 1e6, 37398.362 * 1e6]);
    near(tcp.value(Quantity::CpuShare, MEAN, RECEIVES), 0.39);
    near(tcp.value(Quantity::RoundTrip, MEAN, None), 120000.0);
    let udp = Told::of("nuttcp-udp.txt");
    assert_eq!(udp.one(Quantity::Lost, Statistic::Total, RECEIVES).samples, Some(763));
    assert_eq!(udp.rows[0].transport.as_deref(), Some("udp"));
    near(rates(&Told::of("nuttcp-parse.txt"), "TCP", RECEIVES)[0], 22585.5058e6);
    let verbose = Told::of("nuttcp-verbose.txt");
    near(rates(&verbose, "TCP", SENDS)[0], 19790.2197e6);
    near(rates(&verbose, "TCP", RECEIVES)[0], 19788.8741e6);
    assert_eq!(
        (verbose.rows[0].message_bytes, verbose.source.version.as_deref()),
        (Some(65_536), Some("6.1.2"))
    );
    let stopped = told(b" 1917.4375 MB /   0.50 sec = 32167.3974 Mbps     0 retrans\n", None).unwrap();
    assert!(stopped.doubts("line of the whole test is missing"));
}
