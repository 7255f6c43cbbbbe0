//! Files of real runs: what each importer reads is what the file says, with its statistic, its end and its unit.

use super::{Told, behind, each, file, files, near, told, tool};
use linerate::record::import::{Given, import};
use linerate::vocabulary::{Does, Pattern, Quantity, Statistic, TOOLS};
use std::collections::BTreeSet;

const MEAN: Statistic = Statistic::Mean;
const SENDS: Option<Does> = Some(Does::Sends);
const RECEIVES: Option<Does> = Some(Does::Receives);

fn text(name: &str) -> String {
    String::from_utf8(file(name)).unwrap()
}

#[test]
fn every_tools_file_is_known_by_its_content() {
    let mut seen = BTreeSet::new();
    for (name, bytes) in files() {
        let runs = each(&bytes, None).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        let kept: String = runs.iter().map(|run| run.original.as_str()).collect();
        assert_eq!(kept.as_bytes(), bytes, "{name}: the file is kept as it was");
        let found = &runs[0];
        assert_eq!(found.source.tool, tool(&name), "{name}");
        assert_eq!(found.source.bytes as usize, bytes.len());
        assert!(!found.source.how.is_empty());
        for row in &found.rows {
            assert_eq!(row.unit, row.quantity.entry().unit, "{name}: {row:?}");
        }
        seen.insert(tool(&name).to_owned());
    }
    let tools: BTreeSet<String> = TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    assert_eq!(seen, tools, "tools of the table, and tools with a file");
}

#[test]
fn iperf3_keeps_both_ends_and_all_parts() {
    let told = Told::of("iperf3-tcp.json");
    let json: serde_json::Value = serde_json::from_str(&text("iperf3-tcp.json")).unwrap();
    assert_eq!(
        told.source.version.as_deref(),
        json["start"]["version"].as_str().unwrap().strip_prefix("iperf ")
    );
    assert!(
        told.source.utc.as_ref().is_some_and(|utc| utc.starts_with("20") && utc.ends_with('Z')),
        "{:?}",
        told.source.utc
    );
    for (sum, end) in [("sum_sent", SENDS), ("sum_received", RECEIVES)] {
        near(
            told.value(Quantity::Throughput, MEAN, end),
            json["end"][sum]["bits_per_second"].as_f64().unwrap(),
        );
    }
    let intervals = json["intervals"].as_array().unwrap();
    let parts =
        told.rows.iter().find(|row| row.quantity == Quantity::Throughput && row.values.len() > 1).unwrap();
    assert_eq!(parts.values.len(), intervals.iter().filter(|one| one["sum"]["omitted"] == false).count());
    assert_eq!((parts.end, parts.statistic, parts.at_s.len()), (SENDS, MEAN, parts.values.len()));
    near(
        *parts.values.last().unwrap(),
        intervals.last().unwrap()["sum"]["bits_per_second"].as_f64().unwrap(),
    );
    let again = told.value(Quantity::Retransmits, Statistic::Total, SENDS);
    near(again, json["end"]["sum_sent"]["retransmits"].as_f64().unwrap());
    near(
        told.value(Quantity::CpuShare, MEAN, SENDS),
        json["end"]["cpu_utilization_percent"]["host_total"].as_f64().unwrap() / 100.0,
    );
    assert_eq!(told.rows[0].message_bytes, json["start"]["test_start"]["blksize"].as_u64());
    assert_eq!(
        (told.rows[0].transport.as_deref(), told.rows[0].pattern),
        (Some("tcp"), Some(Pattern::Stream))
    );
    // What no row is made of is named, and its first value kept.
    let rtt = json["end"]["streams"][0]["sender"]["mean_rtt"].to_string();
    assert_eq!(told.source.unread.get("end.streams[].sender.mean_rtt"), Some(&rtt));
}

#[test]
fn iperf3_reverse_says_whose_cpu_and_bytes() {
    let told = Told::of("iperf3-reverse.json");
    let json: serde_json::Value = serde_json::from_str(&text("iperf3-reverse.json")).unwrap();
    assert_eq!(told.rows[0].flows, Some(2));
    // The client wrote the file and received.
    near(
        told.value(Quantity::CpuShare, MEAN, RECEIVES),
        json["end"]["cpu_utilization_percent"]["host_total"].as_f64().unwrap() / 100.0,
    );
    let parts = told.rows.iter().find(|row| row.values.len() > 1).unwrap();
    assert_eq!(parts.end, RECEIVES);
}

#[test]
fn iperf3_tells_what_datagrams_were_lost() {
    let told = Told::of("iperf3-udp.json");
    let json: serde_json::Value = serde_json::from_str(&text("iperf3-udp.json")).unwrap();
    let sum = &json["end"]["sum"];
    let lost = told.one(Quantity::Lost, Statistic::Total, RECEIVES);
    assert_eq!(
        (lost.values[0], lost.samples),
        (sum["lost_packets"].as_f64().unwrap(), sum["packets"].as_u64())
    );
    near(told.value(Quantity::Jitter, MEAN, RECEIVES), sum["jitter_ms"].as_f64().unwrap() * 1e6);
    assert_eq!(lost.transport.as_deref(), Some("udp"));
}

#[test]
fn new_fields_are_kept_and_missing_ones_none() {
    let text = text("iperf3-tcp.json");
    let more = text.replacen("\"sum_received\":\t{", "\"sum_received\":\t{\"flux\": 42, ", 1);
    assert_ne!(more, text);
    let found = told(more.as_bytes(), None).unwrap();
    assert_eq!(found.source.unread.get("end.sum_received.flux").map(String::as_str), Some("42"));
    let less = text
        .replace("\"blksize\"", "\"blokgrootte\"")
        .replace("\"version\"", "\"versie\"")
        .replace("\"timesecs\"", "\"tijd\"");
    let found = told(less.as_bytes(), None).unwrap();
    assert_eq!((found.rows[0].message_bytes, found.source.version, found.source.utc), (None, None, None));
}

#[test]
fn netpipe_s_mbit_is_of_two_to_the_twenty_bits() {
    let told = Told::of("netpipe-loopback.out");
    let text = text("netpipe-loopback.out");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(told.rows.len(), 2 * lines.len());
    for (rows, line) in told.rows.chunks(2).zip(&lines) {
        let words: Vec<f64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [time, rate] = rows else { panic!() };
        assert_eq!(time.message_bytes, Some(words[0] as u64));
        near(rate.values[0], words[1] * 1_048_576.0);
        near(time.values[0], words[2] * 1e9);
        // The size over the time: with 10^6 bits it would be 4.9 % less.
        let by_time = 8.0 * words[0] / words[2];
        assert!((rate.values[0] / by_time - 1.0).abs() < 0.01, "{line}");
        assert_eq!(
            (time.quantity, time.statistic, rate.statistic),
            (Quantity::HalfRoundTrip, Statistic::Least, Statistic::Greatest)
        );
    }
    assert!(told.source.doubts.iter().any(|doubt| doubt.contains("-s")), "{:?}", told.source.doubts);
}

#[test]
fn netpipe_columns_that_disagree_are_refused() {
    for (file, why) in [
        // The same rate in 10^6 bits.
        ("1048576 16777.216000 0.00050000\n", "but of 10^6 bits"),
        ("1048576 16000.000000 0.00040000\n", "is not its size over its time"),
        ("1 2.0\n", "2 columns"),
    ] {
        let refusal = told(file.as_bytes(), Some("netpipe")).err().unwrap();
        assert!(refusal.what.contains(why), "{}", refusal.what);
    }
    let good = told(b"1048576 16000.000000 0.00050000\n", None).unwrap();
    near(good.rows[1].values[0], 16000.0 * 1_048_576.0);
}

#[test]
fn sockperf_tells_half_round_trips() {
    let told = Told::of("sockperf-ping-pong.txt");
    let text = text("sockperf-ping-pong.txt");
    near(told.value(Quantity::HalfRoundTrip, MEAN, None), behind(&text, "Summary: Latency is") * 1e3);
    near(
        told.value(Quantity::HalfRoundTrip, Statistic::Percentile(99.9), None),
        behind(&text, "percentile 99.900 =") * 1e3,
    );
    near(
        told.value(Quantity::HalfRoundTrip, Statistic::Least, None),
        behind(&text, "<MIN> observation =") * 1e3,
    );
    let one = told.one(Quantity::HalfRoundTrip, Statistic::Percentile(50.0), None);
    let valid = text.split("[Valid Duration]").nth(1).unwrap();
    assert_eq!(one.samples, Some(behind(valid, "ReceivedMessages=") as u64));
    assert_eq!(
        (one.transport.as_deref(), one.message_bytes),
        (Some("tcp"), None),
        "the size is not in the file"
    );
}

#[test]
fn sockperf_s_mbps_is_of_two_to_the_twenty_bits() {
    let told = Told::of("sockperf-throughput.txt");
    let text = text("sockperf-throughput.txt");
    let rate = told.value(Quantity::MessageRate, MEAN, SENDS);
    near(rate, behind(&text, "Message Rate is"));
    let throughput = told.value(Quantity::Throughput, MEAN, SENDS);
    near(throughput, behind(&text, "MBps (") * 1_048_576.0);
    // It was run with messages of 1472 bytes.
    assert!((throughput / (rate * 1472.0 * 8.0) - 1.0).abs() < 1e-4, "{throughput} {rate}");
}

#[test]
fn sockperf_whole_round_trips_are_not_halved() {
    let text = text("sockperf-ping-pong.txt")
        .replace("Latency is", "Round trip is")
        .replace("avg-latency", "avg-rtt");
    let told = told(text.as_bytes(), None).unwrap();
    near(told.value(Quantity::RoundTrip, MEAN, None), behind(&text, "Round trip is") * 1e3);
    assert!(told.rows.iter().all(|row| row.quantity != Quantity::HalfRoundTrip));
}

#[test]
fn qperf_tells_each_test_with_its_size() {
    let told = Told::of("qperf-tcp.txt");
    let text = text("qperf-tcp.txt");
    let bw = told.one(Quantity::Throughput, MEAN, RECEIVES);
    assert_eq!(
        (bw.test.as_str(), bw.transport.as_deref(), bw.message_bytes),
        ("tcp_bw", Some("tcp"), Some(65_536))
    );
    let line = text.lines().find(|line| line.trim_start().starts_with("bw ")).unwrap();
    let gb = behind(line, "=");
    near(bw.values[0], gb * 8e9);
    let latency = told.one(Quantity::HalfRoundTrip, MEAN, None);
    assert_eq!(
        (latency.test.as_str(), latency.pattern, latency.message_bytes),
        ("tcp_lat", Some(Pattern::PingPong), Some(1))
    );
    let line = text.lines().find(|line| line.trim_start().starts_with("latency ")).unwrap();
    near(latency.values[0], behind(line, "=") * 1e3);
}

#[test]
fn osu_tells_half_round_trips_and_rates() {
    let told_latency = Told::of("osu-latency.txt");
    let line = text("osu-latency.txt").lines().find(|line| line.starts_with("8192 ")).unwrap().to_owned();
    let [row] = told_latency.at(8192)[..] else { panic!("{:?}", told_latency.at(8192)) };
    near(row.values[0], line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1e3);
    assert_eq!(
        (row.quantity, row.statistic, row.pattern),
        (Quantity::HalfRoundTrip, MEAN, Some(Pattern::PingPong))
    );
    assert_eq!(row.transport.as_deref(), Some("mpi"));

    let told_bw = Told::of("osu-bw.txt");
    let line = text("osu-bw.txt").lines().find(|line| line.starts_with("8192 ")).unwrap().to_owned();
    let [row] = told_bw.at(8192)[..] else { panic!("{:?}", told_bw.at(8192)) };
    near(row.values[0], line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 8e6);
    assert_eq!((row.quantity, row.pattern), (Quantity::Throughput, Some(Pattern::Stream)));
}

#[test]
fn osu_tells_the_ranks_of_a_collective() {
    let text = "# OSU MPI Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n\
                # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n\
                4                       1.50              1.25              1.75        1000\n";
    let told = told(text.as_bytes(), None).unwrap();
    // The least and the greatest are of the ranks, and not of the repetitions.
    let all =
        [(MEAN, 1500.0, Some(1000)), (Statistic::Least, 1250.0, None), (Statistic::Greatest, 1750.0, None)];
    for (statistic, value, samples) in all {
        let row = told.one(Quantity::OperationTime, statistic, None);
        assert_eq!((row.values[0], row.message_bytes, row.samples), (value, Some(4), samples));
        assert_eq!(row.test.ends_with(", mean of each rank"), samples.is_none(), "{}", row.test);
        assert_eq!(row.pattern, Some(Pattern::Allreduce));
    }
}

#[test]
fn the_mbyte_of_imb_is_told_by_its_own_times() {
    let now = Told::of("imb-mpi1.txt");
    assert_eq!(now.source.facts["Mbyte"], "10^6 bytes");
    let half = now
        .rows
        .iter()
        .find(|row| {
            row.test == "PingPong"
                && row.message_bytes == Some(65_536)
                && row.quantity == Quantity::HalfRoundTrip
        })
        .unwrap();
    let rate = now
        .rows
        .iter()
        .find(|row| {
            row.test == "PingPong"
                && row.message_bytes == Some(65_536)
                && row.quantity == Quantity::Throughput
        })
        .unwrap();
    assert!((rate.values[0] * half.values[0] / (8e9 * 65_536.0) - 1.0).abs() < 0.01);
    assert_eq!((half.statistic, half.samples.is_some()), (MEAN, true));
    // An edition before 2018: 2 * 1 MiB in 1000 us are 2000 Mbytes of 2^20.
    let before = "#    Intel (R) MPI Benchmark Suite V2.3, MPI-1 part\n# Benchmarking Sendrecv \n# #processes = 2 \n\
                  #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n\
                  1048576  40  999.00  1000.00  999.50  2000.00\n";
    let before = told(before.as_bytes(), None).unwrap();
    assert_eq!(before.source.version.as_deref(), Some("2.3"));
    near(before.value(Quantity::Throughput, MEAN, None), 2000.0 * 8.0 * 1_048_576.0);
    near(before.value(Quantity::OperationTime, Statistic::Greatest, None), 1e6);
}

#[test]
fn netperf_tells_its_tables_by_their_banner() {
    let stream = Told::of("netperf-stream.txt");
    let words: Vec<f64> = numbers(&text("netperf-stream.txt"));
    near(stream.value(Quantity::Throughput, MEAN, None), words[4] * 1e6);
    assert_eq!(
        (stream.rows[0].message_bytes, stream.rows[0].transport.as_deref()),
        (Some(words[2] as u64), Some("tcp"))
    );

    let rr = Told::of("netperf-rr.txt");
    near(rr.value(Quantity::TransactionRate, MEAN, None), numbers(&text("netperf-rr.txt"))[5]);
    assert_eq!(rr.rows[0].pattern, Some(Pattern::PingPong));

    let udp = Told::of("netperf-udp.txt");
    let words = numbers(&text("netperf-udp.txt"));
    near(udp.value(Quantity::Throughput, MEAN, SENDS), words[5] * 1e6);
    let lost = udp.one(Quantity::Lost, Statistic::Total, RECEIVES);
    assert_eq!(lost.samples, Some(words[3] as u64));
}

/// The numbers of the first line of a table.
fn numbers(text: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit())).unwrap();
    line.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn netperf_s_keywords_and_csv_tell_the_same() {
    let keywords = Told::of("netperf-omni.txt");
    let wanted = behind(&text("netperf-omni.txt"), "\nTHROUGHPUT=");
    let unit = text("netperf-omni.txt").contains("THROUGHPUT_UNITS=10^6bits/s");
    assert!(unit);
    near(keywords.value(Quantity::Throughput, MEAN, None), wanted * 1e6);

    let csv = Told::of("netperf-omni.csv");
    assert!(csv.value(Quantity::TransactionRate, MEAN, Some(Does::Pings)) > 1000.0);
    let mean = csv.value(Quantity::RoundTrip, MEAN, None);
    let p99 = csv.value(Quantity::RoundTrip, Statistic::Percentile(99.0), None);
    assert!(
        mean > 1e3 && p99 >= csv.value(Quantity::RoundTrip, Statistic::Percentile(50.0), None),
        "{mean} {p99}"
    );
}

/// The JSON of a file of xfr, behind the lines that it prints while it runs.
fn xfr_json(name: &str) -> serde_json::Value {
    let text = text(name);
    serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
}

#[test]
fn xfr_tells_streams_and_kernel_counters() {
    let (told, json) = (Told::of("xfr-tcp.json"), xfr_json("xfr-tcp.json"));
    assert!(text("xfr-tcp.json").starts_with("[1.0"), "what is redirected begins with lines for readers");
    near(told.value(Quantity::Throughput, MEAN, None), json["throughput_mbps"].as_f64().unwrap() * 1e6);
    assert_eq!((told.rows[0].transport.as_deref(), told.rows[0].flows), (Some("tcp"), Some(2)));
    near(told.value(Quantity::RoundTrip, MEAN, None), json["tcp_info"]["rtt_us"].as_f64().unwrap() * 1e3);
    assert_eq!(told.rows[0].message_bytes, None);
    let each = told.rows.iter().find(|row| row.quantity == Quantity::Throughput && row.values.len() > 1);
    let streams: Vec<f64> = each.unwrap().values.clone();
    near(streams[0] + streams[1], json["throughput_mbps"].as_f64().unwrap() * 1e6);
}

#[test]
fn xfr_tells_datagrams_and_both_directions() {
    let (told, json) = (Told::of("xfr-udp.json"), xfr_json("xfr-udp.json"));
    assert_eq!((told.rows[0].transport.as_deref(), told.rows[0].message_bytes), (Some("udp"), Some(1400)));
    near(told.value(Quantity::Throughput, MEAN, None), json["throughput_mbps"].as_f64().unwrap() * 1e6);
    let lost = told.rows.iter().find(|row| row.quantity == Quantity::Lost).unwrap();
    assert_eq!(
        (lost.values.as_slice(), lost.samples),
        (&[0.0][..], json["udp_stats"]["packets_sent"].as_u64())
    );
    let (told, json) = (Told::of("xfr-bidir.json"), xfr_json("xfr-bidir.json"));
    let rates = told.rows.iter().filter(|row| row.quantity == Quantity::Throughput);
    let rates: Vec<f64> = rates.map(|row| row.values[0]).collect();
    let field = |name: &str| json[name].as_f64().unwrap() * 1e6;
    near(rates[0], field("throughput_mbps"));
    near(rates[1] + rates[2], rates[0]);
    near(rates[2], field("throughput_recv_mbps"));
    assert_eq!(told.rows[0].pattern, Some(Pattern::Bidirectional));
}

#[test]
fn a_recording_of_any_file_comes_back() {
    for (name, bytes) in files() {
        let events = import(
            &bytes,
            &Given { file: name.clone(), utc: "2026-11-23T09:00:00Z".into(), ..Given::default() },
        )
        .unwrap()
        .swap_remove(0);
        let lines: Vec<String> =
            events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
        assert!(lines.iter().all(|line| line.len() < linerate::record::LONGEST_LINE), "{name}");
        let (recording, bad) = linerate::record::read(lines.concat().as_bytes()).unwrap();
        assert!(bad.is_empty(), "{name}: {bad:?}");
        assert_eq!(recording.source.unwrap().file, name);
        assert!(!recording.imported.is_empty() && recording.header.is_none());
    }
}
