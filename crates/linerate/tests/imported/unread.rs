//! What is not read of tools that people have: each is refused by its name, with a command whose output is read.
//!
//! The samples of mtr 0.95, wrk 4.1 and trafgen 0.6.8 are what these printed here; the others are in the form of their sources
//! (perftest_parameters.c, nccl-tests util.cu, ethr clientui.go), with numbers that are made up.

use super::{file, told};
use linerate::record::Imported;
use linerate::vocabulary::{Quantity, TOOLS};

const MTR: &str = "Start: 2026-11-27T08:43:42+0000\nHOST: vm                          Loss%   Snt   Last   Avg  Best  Wrst StDev\n  \
    1.|-- localhost                  0.0%     2    0.0   0.0   0.0   0.1   0.0\n";
const MTR_JSON: &str = r#"{ "report": { "mtr": { "src": "vm", "dst": "127.0.0.1", "tests": 2 }, "hubs": [ { "count": 1,
    "host": "localhost", "Loss%": 0.0, "Snt": 2, "Last": 0.05, "Avg": 0.048, "Best": 0.047, "Wrst": 0.05, "StDev": 0.002 } ] } }"#;
const MTR_CSV: &str = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n\
    MTR.0.95,1795769043,OK,127.0.0.1,1,localhost,0.00,1,0,0.05,0.05,0.05,0.05,0.00\n";
const MTR_XML: &str = "<?xml version=\"1.0\"?>\n<MTR SRC=\"vm\" DST=\"127.0.0.1\">\n <HUB COUNT=\"1\" HOST=\"localhost\">\n  \
    <Loss>  0.0%</Loss>\n  <Wrst>   0.1</Wrst>\n </HUB>\n</MTR>\n";
const MTR_RAW: &str = "x 0 33000\nh 0 127.0.0.1\np 0 61 33000\nx 1 33001\nd 1 localhost\np 1 64 33001\n";
const PERFTEST_BW: &str = "{\n\"test_info\": {\n\"test\": \"RDMA_Write_BW_Test\",\n\"Device\": \"mlx5_0\",\n\"Number_of_qps\": 1\n},\n\
    \"results\": {\n\"MsgSize\": 65536,\n\"n_iterations\": 5000,\n\"BW_peak\": 98.97,\n\"BW_average\": 97.99,\n\"MsgRate\": 0.186900\n}\n}\n";
const PERFTEST_LAT: &str = "{\n\"test_info\": {\n\"test\": \"Send_Latency_Test\"\n},\n\"results\": {\n\"MsgSize\": 2,\n\
    \"n_iterations\": 1000,\n\"t_min\": 1.02,\n\"t_typical\": 1.06,\n\"t_avg\": 1.07\n}\n}\n";
const NCCL_JSON: &str = r#"{"version":2,"start_time":"2026-01-05 10:00:00","args":["all_reduce_perf","-J","o.json"],"env":["PING=1"],
    "nccl_version":22706,"config":{"nthreads":1},"results":[{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1",
    "out_of_place":{"time":12.3,"alg_bw":0.000650,"bus_bw":0.000975,"nwrong":0.0},"actual_iterations":20}]}"#;
const WINDOWS: &str = "\r\nPinging 192.0.2.1 with 32 bytes of data:\r\nReply from 192.0.2.1: bytes=32 time<1ms TTL=64\r\n\r\n\
    Ping statistics for 192.0.2.1:\r\n    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\r\n";
const WINDOWS_DE: &str = "\r\nPing wird ausgeführt für 192.0.2.1 mit 32 Bytes Daten:\r\n\
    Antwort von 192.0.2.1: Bytes=32 Zeit<1ms TTL=64\r\n";
const WRK: &str = "Running 1s test @ http://127.0.0.1:8765/\n  1 threads and 1 connections\n  Thread Stats   Avg      Stdev     Max   \
    +/- Stdev\n    Latency     6.44ms    3.05ms  19.73ms   70.00%\n    Req/Sec   154.50     34.39   190.00     60.00%\n  \
    155 requests in 1.01s, 5.65MB read\nRequests/sec:    153.78\nTransfer/sec:      5.60MB\n";
const AB: &str = "Concurrency Level:      1\nRequests per second:    117.30 [#/sec] (mean)\n";
const TRAFGEN: &str = "     1 packets to schedule\n    61 bytes in total\nRunning! Hang up with ^C!\n\n\n\r           \
    5 packets outgoing\n\r         305 bytes outgoing\n";
const ETHR: &str = "- - - - - - - - - - - - - - - - - - - - - - -\n[ ID]   Protocol    Interval      Bits/s\n\
    [  6]     TCP      000-001 sec     9.41G\n[SUM]     TCP      000-001 sec     9.41G\n";
const ETHR_CONNECTIONS: &str = "Protocol    Interval      Conn/s\n  TCP      000-001 sec   12.5K\n";
const ETHR_LATENCY: &str = "     Avg      Min      50%      90%      95%      99%    99.9%   99.99%      Max\n 25.41us  20.10us  \
    24.90us  28.00us  30.00us  40.00us  55.00us  90.00us  91.00us\n";
const ETHR_LOG: &str = "{\"Time\":\"1\",\"Title\":\"\",\"Type\":\"TestResult\",\"RemoteAddr\":\"192.0.2.1\",\"BitsPerSecond\":\"9.41G\"}\n";

/// What is given, and a word of the sentence that names the tool.
const SAMPLES: &[(&str, &str)] = &[
    (MTR, "mtr"),
    (MTR_JSON, "mtr"),
    (MTR_CSV, "mtr"),
    (MTR_XML, "mtr"),
    (MTR_RAW, "mtr"),
    (PERFTEST_BW, "the JSON of perftest"),
    (PERFTEST_LAT, "the JSON of perftest"),
    (NCCL_JSON, "the JSON of nccl-tests"),
    (WINDOWS, "ping of Windows"),
    (WINDOWS_DE, "ping of Windows"),
    (WRK, "wrk, hey, ab"),
    (AB, "wrk, hey, ab"),
    (TRAFGEN, "trafgen"),
    (ETHR, "ethr"),
    (ETHR_CONNECTIONS, "ethr"),
    (ETHR_LATENCY, "ethr"),
    (ETHR_LOG, "ethr"),
];

#[test]
fn what_is_not_read_is_named_with_what_is() {
    for (text, name) in SAMPLES {
        let refusal = told(text.as_bytes(), None).err().unwrap_or_else(|| panic!("{name} was read: {text}"));
        assert!(refusal.what.contains(name), "{name}: {refusal} ({})", refusal.hint);
        assert!(refusal.hint.contains("> FILE"), "{name}: {}", refusal.hint);
        // The command is one of a tool that is read, or of the same tool as it prints.
        let is_read = |word: &str| {
            let program = word.trim_end_matches([':', ',']);
            TOOLS.iter().any(|tool| tool.name == program || tool.again.contains(&format!("{program} ")))
        };
        let before = refusal.hint.split("> FILE").next().unwrap();
        assert!(before.split_whitespace().any(is_read), "{name}: {}", refusal.hint);
    }
}

#[test]
fn cycles_of_perftest_are_no_microseconds() {
    let real = String::from_utf8(file("perftest-send-lat.txt")).unwrap();
    // What it says of the clock is another doubt.
    let real: String =
        real.lines().filter(|line| !line.contains("Conflicting")).map(|line| format!("{line}\n")).collect();
    // The same exchanges at 2.4 GHz: a time is half of the cycles between two of them.
    let cycles = real
        .replace(
            "1.02           4.87         1.06     \t       1.07        \t0.04   \t\t1.18    \t\t4.87",
            "1224.50 5844.00 1272.00 1284.13 48.00 1416.00 5844.00",
        )
        .replace(
            "1.05           5.02         1.09     \t       1.10        \t0.05   \t\t1.22    \t\t5.02",
            "1260.00 6024.50 1308.00 1320.77 60.00 1464.00 6024.50",
        );
    assert_ne!(real, cycles);
    let refusal = told(cycles.as_bytes(), None).err().expect("cycles were read as microseconds");
    assert!(refusal.what.contains("as cycles are (-C)"), "{refusal}");
    assert!(refusal.hint.contains("without -C"), "{}", refusal.hint);
    // What -U and -H list has its unit, and is no row of the table.
    let listed = |unit: &str| {
        real.replace(
            "99.9% percentile[usec] \n",
            &format!("99.9% percentile[usec] \n#, {unit}\n1, 1.05\n2, 1.07\n"),
        )
    };
    assert!(told(listed("cycles").as_bytes(), None).err().unwrap().what.contains("as cycles are"));
    let micros = told(listed("usec").as_bytes(), None).unwrap();
    let plain = told(real.as_bytes(), None).unwrap();
    let values = |rows: &[Imported]| rows.iter().map(|row| row.values[0]).collect::<Vec<_>>();
    assert_eq!(values(&micros.rows), values(&plain.rows));
    assert_eq!(micros.source.doubts.len(), plain.source.doubts.len(), "{:?}", micros.source.doubts);
    // One whole number proves nothing.
    let one = told(real.replace("1.02 ", "1.00 ").as_bytes(), None).unwrap();
    assert_eq!(one.rows.len(), plain.rows.len());
}

#[test]
fn an_answer_of_fping_stands_once() {
    let both = b"127.0.0.1 : [0], 64 bytes, 0.023 ms (0.023 avg, 0% loss)\n127.0.0.1 : [1], 64 bytes, 0.036 ms (0.029 avg, 0% loss)\n\
        192.0.2.9 : [0], 64 bytes, 1.000 ms (1.000 avg, 0% loss)\n\n127.0.0.1 : 0.023 0.036\n";
    let told = told(both, None).unwrap();
    let times = |host: &str| {
        let of = |row: &&Imported| row.quantity == Quantity::RoundTrip && row.test.starts_with(host);
        told.rows.iter().filter(of).map(|row| row.values.len()).collect::<Vec<_>>()
    };
    assert_eq!((times("127.0.0.1"), times("192.0.2.9")), (vec![2], vec![1]), "{:?}", told.rows);
}
