//! iperf 2 in both directions, at once and one after the other, by its client and its server, as text and as CSV; and its
//! `--bounceback`.

use super::{Told, each, file, near, told};
use linerate::record::Imported;
use linerate::vocabulary::{Does, Pattern, Quantity, Statistic};

const MEAN: Statistic = Statistic::Mean;
const SENDS: Option<Does> = Some(Does::Sends);
const RECEIVES: Option<Does> = Some(Does::Receives);

/// The throughputs of a test, with the end that counted and the pattern.
fn rates(told: &Told, test: &str) -> Vec<(Option<Does>, Option<Pattern>, Vec<f64>)> {
    let is_it = |row: &&Imported| row.quantity == Quantity::Throughput && row.test == test;
    told.rows.iter().filter(is_it).map(|row| (row.end, row.pattern, row.values.clone())).collect()
}

#[test]
fn a_client_that_listens_too_receives_there() {
    // It says that it connects and that it listens in either order, and at whichever port.
    let at_once = Told::of("iperf2-listening.txt");
    let both = Some(Pattern::Bidirectional);
    assert_eq!(rates(&at_once, "TCP"), [(SENDS, both, vec![12.8e9])]);
    assert_eq!(rates(&at_once, "TCP, back"), [(RECEIVES, both, vec![12.7e9])]);
    let text = String::from_utf8(file("iperf2-listening.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let turned: String = [4, 5, 6, 7, 0, 1, 2, 3]
        .iter()
        .chain(&[8, 9, 10, 11, 12])
        .map(|at| format!("{}\n", lines[*at]))
        .collect();
    let turned = told(turned.as_bytes(), None).unwrap();
    assert_eq!(
        (rates(&turned, "TCP"), rates(&turned, "TCP, back")),
        (rates(&at_once, "TCP"), rates(&at_once, "TCP, back"))
    );
    // The line of the whole first stream stands behind the connection of the second.
    let runs = each(&file("iperf2-in-turn.txt"), None).unwrap();
    assert_eq!(runs.len(), 1);
    let one = Some(Pattern::Stream);
    assert_eq!(rates(&runs[0], "TCP"), [(SENDS, one, vec![13.2e9])]);
    assert_eq!(rates(&runs[0], "TCP, back"), [(RECEIVES, one, vec![11.4e9])]);
    assert_eq!(rates(&runs[0], "TCP, back, parts"), [(RECEIVES, one, vec![9.46e9, 13.2e9])]);
}

#[test]
fn a_server_tells_what_it_sent_and_what_came() {
    let runs = each(&file("iperf2-server-both.txt"), None).unwrap();
    let [trip, _, both, reverse] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(rates(trip, "TCP")[0].0, RECEIVES);
    assert_eq!(
        (rates(both, "TCP")[0].clone(), rates(both, "TCP, back")[0].0),
        ((RECEIVES, Some(Pattern::Bidirectional), vec![7.17e9]), SENDS)
    );
    assert_eq!(both.value(Quantity::Retransmits, Statistic::Total, SENDS), 64.0);
    assert_eq!(rates(reverse, "TCP")[0].0, SENDS);
    assert_eq!(reverse.value(Quantity::Retransmits, Statistic::Total, SENDS), 14.0);
}

#[test]
fn both_ways_of_a_csv_are_two_tests() {
    let duplex = Told::of("iperf2-full-duplex.csv");
    let both = Some(Pattern::Bidirectional);
    assert_eq!(rates(&duplex, "TCP"), [(SENDS, both, vec![5_485_650_917.0])]);
    assert_eq!(
        rates(&duplex, "TCP, back, parts"),
        [(RECEIVES, both, vec![8_344_515_232.0, 10_328_473_600.0])]
    );
    let in_turn = Told::of("iperf2-in-turn.csv");
    assert_eq!(rates(&in_turn, "TCP"), [(None, Some(Pattern::Stream), vec![10_845_158_889.0])]);
    assert_eq!(rates(&in_turn, "TCP, back"), [(None, Some(Pattern::Stream), vec![11_563_488_444.0])]);
    // Between two hosts, by 2.1, whose first end sends, and before, whose first end prints.
    for back in ["10.0.0.2,58226,10.0.0.1,5001", "10.0.0.1,5001,10.0.0.2,58226"] {
        let line = |time, ends: &str, id, rate| format!("{time},{ends},{id},0.0-10.0,1177026560,{rate}\n");
        let forth = "10.0.0.1,40022,10.0.0.2,5001";
        let csv =
            |time| line("20240718105130", forth, 3, 941_621_248_u64) + &line(time, back, 4, 871_621_248);
        for (time, pattern) in [("20240718105131", both), ("20240718105140", Some(Pattern::Stream))] {
            let told = told(csv(time).as_bytes(), None).unwrap();
            assert_eq!(rates(&told, "TCP"), [(None, pattern, vec![941_621_248.0])], "{back}");
            assert_eq!(rates(&told, "TCP, back"), [(None, pattern, vec![871_621_248.0])], "{back}");
        }
        // 2.1 says that it was 1970: whether they were at once is not known.
        let untimed =
            told(csv("19700101000000").replace("20240718105130", "19700101000000").as_bytes(), None).unwrap();
        assert_eq!(rates(&untimed, "TCP, back"), [(None, None, vec![871_621_248.0])]);
        assert!(untimed.doubts("whether both ways were at once"), "{:?}", untimed.source.doubts);
    }
}

#[test]
fn a_server_s_report_of_datagrams_is_of_the_way_there() {
    let csv = "20240718105130,10.0.0.1,40022,10.0.0.2,5001,3,0.0-10.0,1252440,1001886\n\
               20240718105130,10.0.0.2,5001,10.0.0.1,40022,3,0.0-10.0,1251000,1000800,0.031,1,852,0.117,0\n\
               20240718105130,10.0.0.1,5001,10.0.0.2,40023,4,0.0-10.0,1240000,992000,0.022,2,850,0.235,0\n";
    let told = told(csv.as_bytes(), None).unwrap();
    let ends = |test| rates(&told, test).into_iter().map(|(end, _, rates)| (end, rates)).collect::<Vec<_>>();
    assert_eq!(ends("UDP, back"), [(RECEIVES, vec![992_000.0])]);
    assert!(ends("UDP").contains(&(RECEIVES, vec![1_000_800.0])), "{:?}", ends("UDP"));
    // Of datagrams that were sent -1 are counted as arrived, and of none that came nothing is known.
    let sent = each(
        b"19700101000000,127.0.0.1,57024,127.0.0.1,5104,1,0.0-1.0,1252440,10013862,0.000,0,-1,-0.000,0\n",
        None,
    )
    .unwrap();
    assert_eq!((sent[0].rows.len(), sent[0].rows[0].end), (1, SENDS));
    let none = each(b"19700101000000,127.0.0.1,5104,127.0.0.1,35469,1,0.0-3.1,0,0,0.000,0,0,-nan,0\n", None)
        .unwrap();
    assert!(
        none[0].rows[0].end == RECEIVES && none[0].doubts("no datagram came"),
        "{:?}",
        none[0].source.doubts
    );
}

#[test]
fn the_columns_of_iperf_2_2_are_read_by_their_names() {
    let duplex = Told::of("iperf2-enhanced.csv");
    let both = Some(Pattern::Bidirectional);
    assert_eq!(rates(&duplex, "TCP"), [(SENDS, both, vec![939_524_096.0])]);
    assert_eq!(rates(&duplex, "TCP, back"), [(RECEIVES, both, vec![838_860_800.0])]);
    assert_eq!(duplex.value(Quantity::Retransmits, Statistic::Total, SENDS), 5.0);
    assert!(duplex.source.doubts.is_empty(), "{:?}", duplex.source.doubts);
    let udp = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,jitter,errors,datagrams,errpercent,outoforder,readcnt,readtimeo,readerrlen,pps\n\
               +0000:20240511132711.441,10.0.0.1,40022,10.0.0.2,5001,1,0.0,10.0,12500000,10000000,0.021,2,8503,0.024,0,8501,0,0,850.3\n";
    let again = udp.replace("40022", "40023");
    // Of streams and of datagrams there are as many columns.
    let tcp = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,readcnt,bin0,bin1,bin2,bin3,bin4,bin5,bin6,bin7\n\
               +0000:20240511132600.000,10.0.0.1,40021,10.0.0.2,5001,1,0.0,10.0,12500000,10000000,9,1,1,1,1,1,1,1,2\n";
    for log in [tcp.to_owned() + udp, udp.to_owned() + tcp] {
        let runs = each(log.as_bytes(), None).unwrap();
        let transports: Vec<_> = runs.iter().map(|run| run.rows[0].transport.clone().unwrap()).collect();
        let wanted = if log.starts_with(udp) { ["udp", "tcp"] } else { ["tcp", "udp"] };
        assert_eq!(transports, wanted);
    }
    let udp = told(udp.as_bytes(), None).unwrap();
    near(udp.value(Quantity::Jitter, MEAN, RECEIVES), 21_000.0);
    assert_eq!(udp.value(Quantity::Lost, Statistic::Total, RECEIVES), 2.0);
    // A process that names its columns again is another one.
    assert_eq!(each((again.clone() + &again).as_bytes(), None).unwrap().len(), 2);
    let bounced = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,bbcnt,bbavg,bbmin,bbmax,bbstdev,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar,txbytes,rxbytes,rps\n\
                   +0000:20240511132711.441,10.0.0.1,40022,10.0.0.2,5001,1,0.0,1.0,2200,17600,11,0.120,0.060,0.560,0.150,0,14,10,45,3,1100,1100,8285.0\n";
    let bounced = told(bounced.as_bytes(), None).unwrap();
    near(bounced.value(Quantity::RoundTrip, MEAN, Some(Does::Pings)), 120_000.0);
    assert!(bounced.rows.iter().all(|row| row.quantity == Quantity::RoundTrip && row.samples == Some(11)));
}

#[test]
fn a_bounceback_is_round_trips_and_no_throughput() {
    let told_it = Told::of("iperf2-bounceback.txt");
    let times = |statistic| told_it.one(Quantity::RoundTrip, statistic, Some(Does::Pings)).clone();
    let mean = told_it.rows.iter().find(|row| row.test == "bounceback" && row.statistic == MEAN).unwrap();
    assert_eq!(
        (mean.samples, mean.message_bytes, mean.pattern),
        (Some(20), Some(100), Some(Pattern::PingPong))
    );
    near(mean.values[0], 206_000.0);
    near(times(Statistic::Least).values[0], 9_000.0);
    near(times(Statistic::Greatest).values[0], 2_972_000.0);
    // A part without an exchange has no time; the load beside it is a stream of both ways.
    let parts = told_it.rows.iter().find(|row| row.test == "bounceback, parts").unwrap();
    assert_eq!((parts.values.as_slice(), parts.at_s.as_slice()), (&[400_000.0][..], &[[0.0, 0.5]][..]));
    assert_eq!(rates(&told_it, "TCP")[0].2, [230e6]);
    assert_eq!(rates(&told_it, "TCP, back")[0].2, [249e6]);
    // What 2.2 prints, with requests and answers of two sizes.
    let two = "Client connecting to 127.0.0.1, TCP port 5001 with pid 63480 (1/0 flows/load)\n\
        Bounceback test (req/reply size =1000 Byte/ 500 Byte) (server hold req=0 usecs & tcp_quickack)\n\
        [  1] local 127.0.0.1%lo port 47210 connected with 127.0.0.1 port 5001 (bb w/quickack req/reply/hold=1000/500/0) (icwnd/mss/irtt=162/16640/32)\n\
        [ ID] Interval        Transfer    Bandwidth         BB cnt=avg/min/max/stdev         Rtry  Cwnd(pkts)/RTT(var)   Tx/Rx bytes  RPS(avg)\n\
        [  1] 0.00-10.00 sec  453 MBytes   380 Mbits/sec    316710=0.030/0.022/0.086/0.007 ms    0   -(-)/-(-)  Tx=302 MByte Rx=151 MByte  RPS=33000\n";
    let two = told(two.as_bytes(), None).unwrap();
    assert!(two.rows.iter().all(|row| row.quantity == Quantity::RoundTrip && row.message_bytes.is_none()));
    near(two.value(Quantity::RoundTrip, MEAN, None), 30_000.0);
    // A server has no times of it.
    let server = "Server listening on TCP port 5001\n[  1] local 127.0.0.1 port 5001 connected with 127.0.0.1 port 36610 (bb w/quickack len/hold=100/0)\n\
        [ ID] Interval       Transfer     Bandwidth\n[  1] 0.0000-1.0003 sec  1.95 KBytes  16.0 Kbits/sec\n";
    let refusal = told(server.as_bytes(), None).err().unwrap();
    assert!(refusal.what.contains("import what the client printed"), "{refusal}");
    // The short CSV has no times either.
    let csv = "20261127211048.272,127.0.0.1,37884,127.0.0.1,5101,1,0.0-1.0,2200,17489\n";
    assert!(told(csv.as_bytes(), None).unwrap().doubts("--bounceback"));
}

#[test]
fn a_sum_of_several_is_no_stream() {
    let text = "Client connecting to h, TCP port 5001\n[  1] local 10.0.0.1 port 1 connected with 10.0.0.2 port 5001\n\
        [  2] local 10.0.0.1 port 2 connected with 10.0.0.2 port 5001\n[  1] 0.00-1.00 sec  11 MBytes  90 Mbits/sec\n\
        [  2] 0.00-1.00 sec  11 MBytes  94 Mbits/sec\n[SUM-2] 0.00-1.00 sec  22 MBytes  184 Mbits/sec\n";
    let sum = told(text.as_bytes(), None).unwrap();
    assert_eq!(rates(&sum, "TCP")[0].2, [184e6]);
    assert_eq!(rates(&sum, "TCP, each stream")[0].2, [90e6, 94e6]);
}

#[test]
fn a_server_that_calls_back_sends() {
    let text = "Server listening on TCP port 5001\n\
        [  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000\n\
        Client connecting to 10.0.0.1, TCP port 5001\n\
        [  6] local 10.0.0.2 port 50000 connected with 10.0.0.1 port 5001\n\
        [  4]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n\
        [  6]  0.0-10.0 sec  1.00 GBytes   859 Mbits/sec\n";
    let told = told(text.as_bytes(), None).unwrap();
    for (end, rate) in [(Does::Receives, 941e6), (Does::Sends, 859e6)] {
        near(told.value(Quantity::Throughput, Statistic::Mean, Some(end)), rate);
    }
}

#[test]
fn a_line_that_its_receiver_answers_is_the_sender_s() {
    let text = "20240718105130,10.0.0.1,40022,10.0.0.2,5001,3,0.0-10.0,1310720,1048576\n\
        20240718105130,10.0.0.2,5001,10.0.0.1,40022,3,0.0-10.0,1310720,1048000,0.010,0,892,0.000,0\n";
    let told = told(text.as_bytes(), None).unwrap();
    for (end, rate) in [(Does::Sends, 1_048_576.0), (Does::Receives, 1_048_000.0)] {
        near(told.value(Quantity::Throughput, Statistic::Mean, Some(end)), rate);
    }
    assert!(!told.doubts("--bounceback"), "{:?}", told.source.doubts);
}
