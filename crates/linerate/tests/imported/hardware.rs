//! perftest, nccl-tests, ping and fping, and what launchers put before the lines of any tool.

use super::{Told, file, near, told};
use linerate::record::Imported;
use linerate::vocabulary::{Does, Pattern, Quantity, Statistic};

const MEAN: Statistic = Statistic::Mean;
const PINGS: Option<Does> = Some(Does::Pings);

fn text(name: &str) -> String {
    String::from_utf8(file(name)).unwrap()
}

/// The row of a size, a quantity and a statistic, whose test ends so.
#[track_caller]
fn row<'t>(told: &'t Told, bytes: u64, test: &str, what: (Quantity, Statistic)) -> &'t Imported {
    let is_it = |row: &&&Imported| (row.quantity, row.statistic) == what && row.test.ends_with(test);
    let at = told.at(bytes);
    let found: Vec<&&Imported> = at.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{what:?}: {at:#?}");
    found[0]
}

#[test]
fn perftest_tells_rates_in_their_units() {
    let told_gb = Told::of("perftest-write-bw.txt");
    let average = row(&told_gb, 65_536, "", (Quantity::Throughput, MEAN));
    // 186 900 messages of 64 KiB a second.
    assert!((average.values[0] / (186_900.0 * 65_536.0 * 8.0) - 1.0).abs() < 1e-3, "{average:?}");
    assert_eq!(
        (average.flows, average.samples, average.transport.as_deref()),
        (Some(2), Some(10_000), Some("rc"))
    );
    assert_eq!((average.test.as_str(), average.pattern), ("RDMA_Write BW", Some(Pattern::Stream)));
    near(row(&told_gb, 2, "", (Quantity::MessageRate, MEAN)).values[0], 4.61e6);
    assert_eq!(
        (told_gb.source.facts["device"].as_str(), told_gb.source.facts["link"].as_str()),
        ("mlx5_0", "Ethernet")
    );
    assert!(told_gb.source.doubts.is_empty(), "{:?}", told_gb.source.doubts);
    // Of 2^20 bytes, whatever it calls them; a peak of 0 was not looked for.
    for unit in ["MiB", "MB"] {
        let told = told(text("perftest-send-duration.txt").replace("MiB", unit).as_bytes(), None).unwrap();
        let rate = row(&told, 65_536, "", (Quantity::Throughput, MEAN));
        near(rate.values[0], 21_965.62 * 8.0 * 1_048_576.0);
        assert_eq!((rate.pattern, told.rows.len()), (Some(Pattern::Bidirectional), 2), "{:?}", told.rows);
        assert!(told.source.doubts.is_empty(), "{:?}", told.source.doubts);
    }
    let wrong = text("perftest-send-duration.txt").replace("21965.62", "2196.56");
    assert!(told(wrong.as_bytes(), None).unwrap().doubts("its rate is not its size times its messages"));
}

#[test]
fn perftest_halves_round_trips_but_those_of_reads() {
    let half = Told::of("perftest-send-lat.txt");
    for (statistic, us) in [
        (Statistic::Least, 1.02),
        (Statistic::Greatest, 4.87),
        (Statistic::Median, 1.06),
        (MEAN, 1.07),
        (Statistic::Percentile(99.9), 4.87),
    ] {
        near(row(&half, 2, "", (Quantity::HalfRoundTrip, statistic)).values[0], us * 1e3);
    }
    assert!(half.doubts("Conflicting CPU frequency"), "{:?}", half.source.doubts);
    let whole = Told::of("perftest-read-lat.txt");
    near(row(&whole, 2, "", (Quantity::RoundTrip, Statistic::Median)).values[0], 1790.0);
    assert!(whole.rows.iter().all(|row| row.quantity == Quantity::RoundTrip));
    // Without its title nobody knows which it is.
    let lost = text("perftest-read-lat.txt").replace("RDMA_Read Latency Test", "");
    let refusal = told(lost.as_bytes(), None).err().unwrap();
    assert!(refusal.what.contains("whether a time is of half a round trip"), "{}", refusal.what);
    assert!(refusal.hint.contains("from the title on"), "{}", refusal.hint);
}

#[test]
fn nccl_tells_both_places_and_both_rates() {
    let told_one = Told::of("nccl-all-reduce.txt");
    let place = "all_reduce, float sum, out of place";
    let time = row(&told_one, 134_217_728, place, (Quantity::OperationTime, MEAN));
    near(time.values[0], 12_646.4e3);
    assert_eq!((time.samples, time.pattern), (Some(20), Some(Pattern::Allreduce)));
    near(row(&told_one, 134_217_728, place, (Quantity::Throughput, MEAN)).values[0], 10.61 * 8e9);
    // Of four ranks: twice three quarters.
    near(row(&told_one, 134_217_728, place, (Quantity::BusThroughput, MEAN)).values[0], 15.92 * 8e9);
    near(row(&told_one, 32_768, "in place", (Quantity::OperationTime, MEAN)).values[0], 37_640.0);
    // What is printed as 0.00 is no rate of 0.
    assert_eq!(told_one.at(8).len(), 2, "{:?}", told_one.at(8));
    assert!(told_one.doubts("printed as 0.00"));
    assert_eq!(
        (told_one.source.facts["ranks"].as_str(), told_one.source.version.as_deref()),
        ("4", Some("2.17.6"))
    );
    let call = text("nccl-all-reduce.txt").replace("    time ", " cputime ");
    assert!(told(call.as_bytes(), None).err().unwrap().what.contains("of the calls on the CPU alone"));
}

#[test]
fn nccl_of_older_versions_and_wrong_elements_are_told() {
    let tagged = Told::of("nccl-alltoall-tagged.txt");
    near(row(&tagged, 1_048_576, "out of place", (Quantity::OperationTime, MEAN)).values[0], 152_310.0);
    near(row(&tagged, 1_048_576, "in place", (Quantity::OperationTime, MEAN)).values[0], 150_200.0);
    assert!(tagged.doubts("Out of bounds values: 3 FAILED"), "{:?}", tagged.source.doubts);
    let old = "# nThread 1 nGpus 8 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 \n\
               #       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n\
               #        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n\
               33554432       8388608   float     sum    310.5  108.06  189.11  4e-07    309.8  108.31  189.54  4e-07\n";
    let old = told(old.as_bytes(), None).unwrap();
    near(row(&old, 33_554_432, "in place", (Quantity::BusThroughput, MEAN)).values[0], 189.54 * 8e9);
    assert!(old.doubts("does not say which operation"), "{:?}", old.source.doubts);
    let wrong = text("nccl-all-reduce.txt").replace("15.92       0", "15.92      12");
    assert!(told(wrong.as_bytes(), None).unwrap().doubts("12 elements were not what they should be"));
}

#[test]
fn ping_tells_round_trips_and_what_was_lost() {
    let all = super::each(&file("ping-loopback.txt"), None).unwrap();
    assert_eq!(all.len(), 2, "two runs in a file");
    let first = &all[0];
    let sums =
        text("ping-loopback.txt").split("mdev = ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let sums: Vec<f64> = sums.split('/').map(|value| value.parse().unwrap()).collect();
    let statistics = [Statistic::Least, MEAN, Statistic::Greatest, Statistic::Deviation];
    for (statistic, ms) in statistics.into_iter().zip(sums) {
        near(first.one(Quantity::RoundTrip, statistic, PINGS).values[0], ms * 1e6);
    }
    let answers = first.rows.iter().find(|row| row.values.len() == 4).unwrap();
    assert_eq!((answers.message_bytes, answers.transport.as_deref()), (Some(56), Some("icmp")));
    assert_eq!(all[1].rows[0].message_bytes, Some(1000));
    let busy = Told::of("ping-busybox.txt");
    assert_eq!(
        (busy.value(Quantity::Lost, Statistic::Total, PINGS), busy.value(Quantity::LostShare, MEAN, PINGS)),
        (1.0, 0.25)
    );
    near(busy.value(Quantity::RoundTrip, MEAN, PINGS), 403_000.0);
    assert_eq!(busy.one(Quantity::Lost, Statistic::Total, PINGS).samples, Some(4));
    // Nobody answered: all is lost, and there is no time.
    let none = "PING h (192.0.2.1) 56(84) bytes of data.\n\n--- h ping statistics ---\n\
                2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 1010ms\n";
    let none = told(none.as_bytes(), None).unwrap();
    assert_eq!((none.rows.len(), none.value(Quantity::LostShare, MEAN, PINGS)), (2, 1.0));
    assert!(none.doubts("2 errors were answered"), "{:?}", none.source.doubts);
    let killed =
        "PING h (192.0.2.1) 56(84) bytes of data.\n64 bytes from h: icmp_seq=1 ttl=64 time=12.5 ms\n";
    let killed = told(killed.as_bytes(), None).unwrap();
    assert!(killed.rows.len() == 1 && killed.doubts("killed before its end"), "{:?}", killed.rows);
}

#[test]
fn fping_tells_each_host() {
    let told_all = Told::of("fping-counted.txt");
    let of = |test: &str, what: (Quantity, Statistic)| {
        told_all.rows.iter().find(|row| row.test == test && (row.quantity, row.statistic) == what).unwrap()
    };
    let text = text("fping-counted.txt");
    let line =
        text.lines().find(|line| line.starts_with("10.9.9.1") && line.contains("min/avg/max")).unwrap();
    let mean: f64 = line.rsplit('/').nth(1).unwrap().parse().unwrap();
    near(of("10.9.9.1", (Quantity::RoundTrip, MEAN)).values[0], mean * 1e6);
    assert_eq!(of("10.8.8.8", (Quantity::LostShare, MEAN)).values, [1.0]);
    assert_eq!(of("127.0.0.1, each answer", (Quantity::RoundTrip, MEAN)).values.len(), 3);
    let each = Told::of("fping-each.txt");
    let row = each.rows.iter().find(|row| row.test == "127.0.0.1, answers of -C").unwrap();
    assert_eq!(row.values.len(), 3);
    assert_eq!(each.rows.iter().find(|row| row.test == "10.8.8.8").unwrap().values, [3.0], "what was lost");
    let alive = told(b"192.0.2.1 is alive (0.149 ms)\n192.0.2.2 is unreachable\n", None).unwrap();
    near(alive.value(Quantity::RoundTrip, MEAN, PINGS), 149_000.0);
}

/// What launchers and keepers of logs put before lines.
const MARKS: [&str; 10] = [
    "[1,0]<stdout>:",
    "[1,0]<stdout>: ",
    "[prterun-host-4711@1,0]<stdout>: ",
    "[0] ",
    "0: ",
    " 0: ",
    "client-1  | ",
    "[pod/iperf-7/client] ",
    "2026-11-27T09:00:00.123456789Z ",
    "Nov 27 09:00:00 host iperf3[4711]: ",
];

#[test]
fn what_a_launcher_puts_before_lines_is_no_part_of_them() {
    let names = ["osu-latency.txt", "imb-mpi1.txt", "nccl-all-reduce.txt", "netpipe-loopback.out"];
    for name in names.into_iter().chain(["iperf3-text.txt", "iperf3-tcp.json", "ping-busybox.txt"]) {
        let plain = Told::of(name);
        for mark in MARKS {
            let marked: String = text(name).lines().map(|line| format!("{mark}{line}\n")).collect();
            let found =
                told(marked.as_bytes(), None).unwrap_or_else(|refusal| panic!("{name} {mark}: {refusal}"));
            assert_eq!(found.rows, plain.rows, "{name} {mark}");
            assert_eq!(found.original, marked, "the file is kept as it was");
        }
    }
    assert_eq!(Told::of("iperf3-text.txt").source.tool, "iperf3", "its own brackets are its own");
}
