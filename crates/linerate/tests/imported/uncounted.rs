//! What a tool prints and did not count: zeros of the end that it is not, losses beyond all packets, ranks that met nobody.

use super::{Told, file, near, told};
use linerate::vocabulary::{Does, Quantity, Statistic};

const MEAN: Statistic = Statistic::Mean;
const SENDS: Option<Does> = Some(Does::Sends);
const RECEIVES: Option<Does> = Some(Does::Receives);

fn text(name: &str) -> String {
    String::from_utf8(file(name)).unwrap()
}

fn has(told: &Told, quantity: Quantity, end: Option<Does>) -> bool {
    told.rows.iter().any(|row| row.quantity == quantity && row.end == end)
}

#[test]
fn a_server_of_iperf3_counts_its_own_end_alone() {
    let document = |sums: &str| {
        format!(
            r#"{{"start":{{"version":"iperf 3.12","accepted_connection":{{"host":"10.0.0.1","port":4}},"test_start":{{"protocol":"TCP",
            "num_streams":1,"blksize":131072,"duration":1,"reverse":0}}}},"intervals":[],"end":{{{sums}}}}}"#
        )
    };
    let sums = r#""sum_sent":{"start":0,"end":1,"seconds":1,"bytes":0,"bits_per_second":0,"sender":true},
        "sum_received":{"start":0,"end":1,"seconds":1,"bytes":1000,"bits_per_second":8000,"sender":true}"#;
    let server = told(document(sums).as_bytes(), None).unwrap();
    near(server.value(Quantity::Throughput, MEAN, RECEIVES), 8000.0);
    assert!(!has(&server, Quantity::Throughput, SENDS), "{:?}", server.rows);
    assert!(server.doubts("end.sum_sent is 0"), "{:?}", server.source.doubts);
}

#[test]
fn more_lost_than_there_were_is_no_loss() {
    let udp = text("iperf3-udp.json");
    let usual = told(udp.as_bytes(), None).unwrap();
    assert!(has(&usual, Quantity::Lost, RECEIVES), "{:?}", usual.rows);
    let mut document: serde_json::Value = serde_json::from_str(&udp).unwrap();
    for sum in ["sum", "sum_received"] {
        if let Some(sum) = document["end"].get_mut(sum) {
            sum["lost_packets"] = 400_000_000.into();
        }
    }
    let beyond = told(document.to_string().as_bytes(), None).unwrap();
    assert!(!has(&beyond, Quantity::Lost, RECEIVES) && !has(&beyond, Quantity::LostShare, RECEIVES));
    assert!(beyond.doubts("more than there were"), "{:?}", beyond.source.doubts);
}

#[test]
fn a_server_of_neper_times_nothing() {
    let rr = text("neper-rr.txt");
    let zero = |line: &str| match line.split_once('=') {
        Some((name, _)) if name.starts_with("latency_") => format!("{name}=0.000000\n"),
        _ => format!("{line}\n"),
    };
    let server = told(rr.lines().map(zero).collect::<String>().as_bytes(), None).unwrap();
    assert!(server.rows.iter().all(|row| row.quantity != Quantity::RoundTrip), "{:?}", server.rows);
    assert!(server.doubts("which times nothing"), "{:?}", server.source.doubts);
}

#[test]
fn nuttcp_s_long_form_tells_what_was_lost() {
    let verbose = text("nuttcp-verbose.txt").replace(
        "nuttcp-r: 58125 I/O calls",
        "nuttcp-r: 61946 / 125000 drop/pkt 49.56% data loss\nnuttcp-r: 58125 I/O calls",
    );
    let lost = told(verbose.as_bytes(), None).unwrap();
    near(lost.value(Quantity::Lost, Statistic::Total, RECEIVES), 61_946.0);
    near(lost.value(Quantity::LostShare, MEAN, RECEIVES), 61_946.0 / 125_000.0);
}

#[test]
fn stamped_answers_of_fping_are_of_one_host() {
    let lines = "[1795785542.96111] 127.0.0.1 : [0], 64 bytes, 0.026 ms (0.026 avg, 0% loss)\n\
                 [1795785543.96421] 127.0.0.1 : [1], 64 bytes, 0.028 ms (0.027 avg, 0% loss)\n";
    let two = told(lines.as_bytes(), None).unwrap();
    let tests: Vec<&str> = two.rows.iter().map(|row| row.test.as_str()).collect();
    assert_eq!((tests, two.rows[0].values.len()), (vec!["127.0.0.1, each answer"], 2));
}

#[test]
fn one_rank_of_nccl_tests_met_nobody_and_two_jobs_are_told() {
    let four = text("nccl-all-reduce.txt");
    let alone: String = four
        .lines()
        .filter(|line| !["Rank  1", "Rank  2", "Rank  3"].iter().any(|rank| line.contains(rank)))
        .map(|line| format!("{line}\n"))
        .collect();
    let one = told(alone.as_bytes(), None).unwrap();
    assert!(
        one.doubts("nothing went between ranks") && !one.doubts("below 0.005"),
        "{:?}",
        one.source.doubts
    );
    let twice = four.replace("#  Rank  2 ", "#  Rank  0 ").replace("#  Rank  3 ", "#  Rank  1 ");
    let two = told(twice.as_bytes(), None).unwrap();
    assert!(two.doubts("several jobs") && !two.source.facts.contains_key("ranks"), "{:?}", two.source);
}

#[test]
fn a_complaint_behind_much_chatter_is_told() {
    let chatter: String =
        (0..450).map(|line| format!("node7:4711 NCCL INFO Channel {line}/0 : 0 -> 1\n")).collect();
    let failed = "node7: Test NCCL failure common.cu:305 'unhandled system error'\n";
    let log = told(format!("{chatter}{}{failed}", text("nccl-all-reduce.txt")).as_bytes(), None).unwrap();
    assert!(log.doubts("unhandled system error"), "{:?}", log.source.doubts);
    let thrice = format!("{}{}", text("nuttcp-verbose.txt"), "read failed: Connection refused.\n".repeat(3));
    let one = told(thrice.as_bytes(), None).unwrap();
    let said: Vec<&String> = one.source.doubts.iter().filter(|doubt| doubt.contains("refused")).collect();
    assert!(said.len() == 1 && said[0].contains("2 more"), "{said:?}");
}
