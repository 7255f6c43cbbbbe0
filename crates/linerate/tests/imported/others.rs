//! neper, pScheduler, NetPIPE 5, OSU with validation, IMB with defects and without blocking, netperf with any columns.

use super::{Told, near, told};
use linerate::record::Imported;
use linerate::vocabulary::{Does, Quantity, Statistic};

const MEAN: Statistic = Statistic::Mean;
const RECEIVES: Option<Does> = Some(Does::Receives);

#[test]
fn neper_tells_transactions_and_what_its_reader_read() {
    let rr = Told::of("neper-rr.txt");
    near(rr.value(Quantity::TransactionRate, MEAN, None), 8478.68);
    near(rr.value(Quantity::RoundTrip, Statistic::Percentile(99.0), None), 55_670.0);
    assert_eq!((rr.rows[0].message_bytes, rr.source.version.as_deref()), (Some(1), Some("1.1.0")));
    let stream = Told::of("neper-stream.txt");
    near(stream.value(Quantity::Throughput, MEAN, RECEIVES), 2875.27e6);
    let with = |unit: &str| {
        let text = String::from_utf8(super::file("neper-stream.txt")).unwrap();
        told(text.replace("Mbit/s", unit).as_bytes(), None)
    };
    near(with("MiB/s").unwrap().value(Quantity::Throughput, MEAN, None), 2875.27 * 8.0 * 1_048_576.0);
    assert!(with("parsec/s").err().unwrap().what.contains("unit parsec/s is not known"));
    let sender =
        told(b"total_run_time=1\nnum_flows=2\ntime_start=1.5\nremote_throughput=2875266457\n", None).unwrap();
    near(sender.value(Quantity::Throughput, MEAN, RECEIVES), 2_875_266_457.0);
}

#[test]
fn pscheduler_tells_both_ends_and_round_trips() {
    let told_one = Told::of("pscheduler-throughput.json");
    near(told_one.value(Quantity::Throughput, MEAN, RECEIVES), 939.5e6);
    let parts = told_one.rows.iter().find(|row| row.values.len() == 2).unwrap();
    assert_eq!((parts.values.as_slice(), parts.at_s[1]), (&[931e6, 951e6][..], [1.0, 2.0]));
    let rtt = Told::of("pscheduler-rtt.json");
    near(rtt.value(Quantity::RoundTrip, MEAN, None), 150_000.0);
    assert_eq!((rtt.rows[0].samples, rtt.rows[0].message_bytes), (Some(2), Some(64)));
    near(rtt.value(Quantity::Lost, Statistic::Total, None), 1.0);
    let failed = told(br#"{"succeeded": false, "error": "no route", "diags": ""}"#, None).err().unwrap();
    assert!(failed.what.contains("did not succeed: no route"), "{}", failed.what);
}

#[test]
fn netpipe_5_is_told_from_3_by_its_columns() {
    let five = Told::of("netpipe-5.out");
    let last = five.at(8192);
    near(last[0].values[0], 3978.19e3);
    let means: Vec<&&Imported> = last.iter().filter(|row| row.quantity == Quantity::Throughput).collect();
    assert_eq!(means[0].statistic, MEAN);
    near(means[0].values[0], 16e6);
    assert_eq!(five.source.version.as_deref(), Some("5"));
    let mega = told(b"1 0.400 20.009\n12 4.775 20.107\n32 12.621 20.284\n", None).unwrap();
    near(mega.at(32)[1].values[0], 12.621e6);
    near(mega.at(32)[0].values[0], 20_284.0);
    let one_bad = told(b"1 0.400 20.009\n12 9.999 20.107\n32 12.621 20.284\n", None).unwrap();
    assert_eq!((one_bad.rows.len(), one_bad.doubts("line 2: its rate is not its size")), (4, true));
}

#[test]
fn osu_s_validation_is_a_doubt_where_it_failed() {
    let real = Told::of("osu-validated.txt");
    assert_eq!((real.at(8)[0].values[0], real.source.version.as_deref()), (1_820_030.0, Some("7.4")));
    assert!(real.doubts("Terminated (signal 15)") && !real.doubts("Validation: Fail"));
    let failed = "# OSU MPI-CUDA Latency Test v7.4\n# Size       Avg Latency(us)        Validation\n\
                  1                       1.92              Pass\n2                       1.93              Fail\n\
                  DATA VALIDATION ERROR: osu_latency exited with status 1 on message size 2.\n";
    let failed = told(failed.as_bytes(), None).unwrap();
    assert!(failed.doubts("line 4: the buffers were not") && failed.doubts("DATA VALIDATION ERROR"));
    assert_eq!(failed.at(2)[0].quantity, Quantity::HalfRoundTrip);
    let beside = Told::of("osu-iallreduce.txt");
    let row = |quantity, statistic| {
        let at = beside.at(8);
        at.iter().find(|row| (row.quantity, row.statistic) == (quantity, statistic)).unwrap().values[0]
    };
    near(row(Quantity::OperationTime, MEAN), 525_120.0);
    near(row(Quantity::OperationTime, Statistic::Greatest), 788_040.0);
    near(row(Quantity::Overlap, MEAN), 0.4239);
}

/// A table of IMB, of an edition.
fn imb(edition: &str, table: &str) -> Told {
    let text = format!("#    Intel(R) MPI Benchmarks {edition}, MPI-1 part\n# Benchmarking {table}");
    told(text.as_bytes(), None).unwrap()
}

#[test]
fn imb_keeps_its_good_rows_and_doubts_the_others() {
    let defects = imb(
        "2021.3",
        "Reduce_scatter \n# #processes = 16 \n#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]  defects\n\
         0  1000  0.15  0.27  0.19  0.00\n15: Error Reduce_scatter,size = 4,sample #0\n4  1000  1.57  4.66  2.41  2.00\n\
         8 int-overflow; The production rank*size caused int overflow;\n16 1000 nan 4.66 2.41 0.00\n",
    );
    assert_eq!(
        (defects.at(0).len(), defects.at(4).len(), defects.at(8).len(), defects.at(16).len()),
        (3, 3, 0, 2)
    );
    for doubt in [
        "15: Error",
        "line 7: the buffers were not what they should be (defects: 2)",
        "int-overflow",
        "`nan`",
    ] {
        assert!(defects.doubts(doubt), "{doubt}: {:?}", defects.source.doubts);
    }
    let beside = imb(
        "2021.3",
        "Ireduce_scatter \n#bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]\n4 1000 4.63 2.30 2.30 1.00\n",
    );
    near(beside.value(Quantity::Overlap, MEAN, None), 0.01);
    let pure = beside.rows.iter().find(|row| row.test == "Ireduce_scatter").unwrap();
    assert_eq!((pure.quantity, pure.values[0]), (Quantity::OperationTime, 2300.0));
}

#[test]
fn the_mbyte_of_imb_is_told_by_its_messages_or_edition() {
    let table = "Biband\n#bytes #repetitions Mbytes/sec Msg/sec\n";
    let told = imb("2021.3", &format!("{table}2048 1000 8515.61 4158012\n"));
    assert_eq!((told.source.facts["Mbyte"].as_str(), told.doubts("Mbyte")), ("10^6 bytes", false));
    let binary = imb("2021.3", &format!("{table}2048 1000 8121.12 4158012\n"));
    assert_eq!(binary.source.facts["Mbyte"], "2^20 bytes", "its own numbers outrank the edition");
    for (edition, unit) in
        [("2019 Update 6", "10^6 bytes"), ("2017", "2^20 bytes"), ("Suite V3.2.4", "2^20 bytes")]
    {
        let told = imb(edition, "Unidir_Get\n#bytes #repetitions t[usec] Mbytes/sec\n64 100 1.00 64.00\n");
        assert_eq!((told.source.facts["Mbyte"].as_str(), told.doubts("Mbyte")), (unit, false), "{edition}");
    }
}

const BANNER: &str = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.51.100.9 () port 0 AF_INET : demo\n";

#[test]
fn netperf_s_latency_alone_is_read_and_nan_is_no_value() {
    let heads = "Minimum Latency Microseconds,Mean Latency Microseconds,Maximum Latency Microseconds,Stddev Latency Microseconds";
    let fine = told(format!("{BANNER}{heads}\n1,24.87,401233,12.5\n").as_bytes(), None).unwrap();
    near(fine.value(Quantity::RoundTrip, MEAN, None), 24_870.0);
    near(fine.value(Quantity::RoundTrip, Statistic::Deviation, None), 12_500.0);
    let nan = told(format!("{BANNER}{heads}\n1,-24.87,401233,-nan\n").as_bytes(), None).unwrap();
    assert_eq!(nan.rows.len(), 2, "{:?}", nan.rows);
    assert!(nan.doubts("MEAN_LATENCY is negative") && nan.doubts("STDDEV_LATENCY is `-nan`"));
    let one = told(b"P99_LATENCY=31\n", None).unwrap();
    near(one.value(Quantity::RoundTrip, Statistic::Percentile(99.0), None), 31_000.0);
}

#[test]
fn netperf_s_reached_confidence_is_a_number() {
    let csv = told(
        b"Throughput,Throughput Units,Throughput Confidence Width (%),Confidence Iterations Run\n9400.5,10^6bits/s,7.912,10\n",
        None,
    )
    .unwrap();
    let width = csv.one(Quantity::IntervalWidth, MEAN, None);
    near(width.values[0], 0.07912);
    assert_eq!(width.samples, Some(10));
    let table = format!(
        "{BANNER}!!! WARNING\n!!! Desired confidence was not achieved within the specified iterations.\n\
         !!! Confidence intervals: Throughput      : 12.345%\nRecv   Send    Send\nSocket Socket  Message  Elapsed\n\
         Size   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n\
         131072  16384  16384    10.00    9406.44\n"
    );
    let table = told(table.as_bytes(), None).unwrap();
    near(table.value(Quantity::IntervalWidth, MEAN, None), 0.12345);
    assert!(table.doubts("did not reach the confidence") && table.doubts("12.345 %"));
}
