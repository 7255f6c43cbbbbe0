//! Files with text around them, several runs in one, other encodings, and files that linerate wrote itself: what is good of
//! them is read, and what is missing is a doubt.

use super::{Told, each, file, files, folder, near, told, tool};
use linerate::vocabulary::{Does, Quantity, Statistic};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

const RECEIVES: Option<Does> = Some(Does::Receives);

fn run() -> Value {
    serde_json::from_slice(&file("iperf3-tcp.json")).unwrap()
}

fn rate(told: &Told) -> f64 {
    told.value(Quantity::Throughput, Statistic::Mean, RECEIVES)
}

/// What `--json-stream` writes of a run.
fn stream() -> String {
    let run = run();
    let parts =
        run["intervals"].as_array().unwrap().iter().map(|part| json!({"event": "interval", "data": part}));
    let begin = json!({"event": "start", "data": run["start"]});
    let end = json!({"event": "end", "data": run["end"]});
    // The program writes the name first; a map of serde_json is in the order of its keys.
    let line = |event: Value| format!("{{\"event\":{},\"data\":{}}}\n", event["event"], event["data"]);
    [begin].into_iter().chain(parts).chain([end]).map(line).collect()
}

#[test]
fn a_stream_of_events_says_what_the_document_does() {
    let (whole, events) = (Told::of("iperf3-tcp.json"), told(stream().as_bytes(), None).unwrap());
    assert_eq!((whole.rows, whole.source.version), (events.rows, events.source.version));
    assert!(events.source.doubts.is_empty(), "{:?}", events.source.doubts);
    // With --json-stream-full-output the document follows its events.
    let full = stream() + &String::from_utf8(file("iperf3-tcp.json")).unwrap();
    assert_eq!(each(full.as_bytes(), None).unwrap().len(), 1);
    assert_eq!(each((stream() + &stream()).as_bytes(), None).unwrap().len(), 2);
}

#[test]
fn a_stream_that_breaks_off_keeps_its_parts() {
    let stream = stream();
    let end = stream.rfind("{\"event\":\"end\"").unwrap();
    let parts = |told: &Told| told.rows.iter().find(|row| row.values.len() > 1).unwrap().values.clone();
    let whole = parts(&told(stream.as_bytes(), None).unwrap());
    for (text, why) in [
        (stream[..end].to_owned(), "event of its end is missing"),
        (stream[..end + 40].to_owned(), "breaks off at line"),
        (
            stream[..end].to_owned()
                + "{\"event\":\"error\",\"data\":\"gone\"}\n{\"event\":\"end\",\"data\":{}}\n",
            "iperf3 ended with an error: gone",
        ),
    ] {
        let told = told(text.as_bytes(), None).unwrap();
        assert_eq!(parts(&told), whole);
        assert!(
            told.doubts(why) && told.doubts("sums over the whole test are missing"),
            "{why}: {:?}",
            told.source.doubts
        );
    }
}

#[test]
fn half_a_document_keeps_its_whole_parts() {
    let text = String::from_utf8(file("iperf3-tcp.json")).unwrap();
    let half = &text[..text.find("\"sum_sent\"").unwrap()];
    let told = told(half.as_bytes(), None).unwrap();
    let line = half.lines().count();
    assert!(told.doubts(&format!("breaks off at line {line}, ")), "{line}: {:?}", told.source.doubts);
    assert!(told.rows[0].values.len() > 1 && told.doubts("sums over the whole test are missing"));
}

#[test]
fn text_around_a_document_is_a_doubt_with_its_line() {
    let text = String::from_utf8(file("iperf3-tcp.json")).unwrap();
    let around =
        format!("$ iperf3 -J\n{text}\niperf3: error - unable to send control message: Broken pipe\n");
    let found = told(around.as_bytes(), None).unwrap();
    near(rate(&found), rate(&Told::of("iperf3-tcp.json")));
    assert!(found.doubts("Broken pipe"), "{:?}", found.source.doubts);
    // A fault is told by its line in the file, not in the document.
    let faulty = "a\nb\n{\"start\": 1,\n\"end\": \"iperf \",\n\"bits_per_second\": 1 2}\n";
    let refusal = told(faulty.as_bytes(), Some("iperf3")).err().unwrap();
    assert!(refusal.what.starts_with("line 5: it is no JSON"), "{}", refusal.what);
}

#[test]
fn several_documents_are_several_recordings() {
    let text = String::from_utf8(file("iperf3-tcp.json")).unwrap();
    for between in ["", "\n", "\r\n\r\n", "\n$ iperf3 -J\n"] {
        let runs = each(format!("{text}{between}{text}").as_bytes(), None).unwrap();
        assert_eq!(runs.len(), 2, "{between:?}");
        assert!(runs[1].source.facts["run"].starts_with("2 of 2 in its file, from line "));
    }
    // One that holds nothing is told with one that holds something.
    let failed = r#"{"start":{},"end":{},"error":"the server is busy","x":"iperf "}"#;
    let runs = each(format!("{failed}\n{text}").as_bytes(), None).unwrap();
    assert!(
        runs.len() == 1
            && runs[0]
                .doubts("run 1 of 2 in its file is left out: iperf3 measured nothing: the server is busy")
    );
    assert!(runs[0].original.contains("busy"));
}

/// As `jq -s` writes them, and a script in one line.
#[test]
fn documents_in_an_array_are_several_recordings() {
    let mut tools = BTreeSet::new();
    for (name, bytes) in files() {
        let Ok(document) = serde_json::from_slice::<Value>(&bytes) else { continue };
        let Ok(alone) = each(&bytes, None) else { continue };
        let text = String::from_utf8(bytes).unwrap();
        for array in [format!("[{text},{text}]"), json!([document, document]).to_string()] {
            let runs = each(array.as_bytes(), None).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            assert_eq!(runs.len(), 2 * alone.len(), "{name}");
            assert_eq!(runs[1].rows.len(), alone[0].rows.len(), "{name}");
        }
        tools.insert(tool(&name).to_owned());
    }
    assert_eq!(tools.iter().collect::<Vec<_>>(), ["iperf3", "pscheduler"]);
}

/// Some script's own JSON around them: they are taken out as the hint says.
#[test]
fn what_is_deeper_in_a_document_is_taken_out_by_jq() {
    let wrapped = json!({"date": "today", "results": [{"of": 1, "got": run()}, {"of": 2, "got": run()}]});
    let refusal = told(wrapped.to_string().as_bytes(), None).err().unwrap();
    assert_eq!(refusal.what, "what iperf3 wrote is deeper in its JSON");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, wrapped.to_string()).unwrap();
    let line = refusal.hint.split_once(": ").unwrap().1.split(" | linerate").next().unwrap();
    let line = line.replace("FILE", file.path().to_str().unwrap());
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    let runs = each(&output.stdout, None).unwrap();
    assert!(runs.len() == 2 && rate(&runs[1]) == rate(&told(&self::file("iperf3-tcp.json"), None).unwrap()));
}

#[test]
fn nan_in_json_is_no_value() {
    let text = String::from_utf8(file("iperf3-udp.json")).unwrap();
    let (head, sum) = text
        .split_once("\"sum_received\"")
        .unwrap_or(text.split_once("\"sum\":\t{\n\t\t\t\"start\":\t0,").unwrap());
    let jitter = format!("\"jitter_ms\":\t{}", super::behind(sum, "\"jitter_ms\":"));
    for nan in ["nan", "-nan", "NaN", "inf", "-nan(ind)", "1.#QNAN"] {
        let at = sum.find("\"jitter_ms\":").unwrap();
        let end = at + sum[at..].find([',', '\n']).unwrap();
        let changed = format!("{head}\"sum_received\"{}\"jitter_ms\":{nan}{}", &sum[..at], &sum[end..]);
        let told =
            told(changed.as_bytes(), None).unwrap_or_else(|refusal| panic!("{nan}: {refusal}: {jitter}"));
        assert!(
            told.doubts("1 number in it is nan or inf")
                && !told.rows.iter().any(|row| row.quantity == Quantity::Jitter),
            "{nan}"
        );
        assert!(told.rows.iter().any(|row| row.quantity == Quantity::LostShare));
    }
}

#[test]
fn a_bad_number_in_json_costs_that_number() {
    let text = String::from_utf8(file("iperf3-tcp.json")).unwrap();
    let (head, sum) = text.split_once("\"sum_received\"").unwrap();
    let at = sum.find("\"bits_per_second\":").unwrap() + "\"bits_per_second\":".len();
    let end = at + sum[at..].find([',', '\n']).unwrap();
    for (evil, why) in
        [("-1", "is negative"), ("1e300", "is beyond all measure"), ("\"fast\"", "is no number")]
    {
        let changed = format!("{head}\"sum_received\"{}{evil}{}", &sum[..at], &sum[end..]);
        let told = told(changed.as_bytes(), None).unwrap();
        assert!(told.doubts(&format!("end.sum_received.bits_per_second {why}")), "{:?}", told.source.doubts);
        assert!(told.value(Quantity::Throughput, Statistic::Mean, Some(Does::Sends)) > 0.0);
    }
}

#[test]
fn every_file_is_read_in_every_encoding() {
    let gzip = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    for (name, bytes) in files() {
        let plain = told(&bytes, None).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let utf16 = |mark: [u8; 2], half: fn(u16) -> [u8; 2]| {
            [&mark[..], &text.encode_utf16().flat_map(half).collect::<Vec<u8>>()].concat()
        };
        let shells = text.replace('\n', "\r\n");
        let shells: Vec<u8> =
            [0xff, 0xfe].into_iter().chain(shells.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        for (how, changed) in [
            ("a mark", [b"\xef\xbb\xbf", bytes.as_slice()].concat()),
            ("UTF-16", utf16([0xff, 0xfe], u16::to_le_bytes)),
            ("UTF-16, large end first", utf16([0xfe, 0xff], u16::to_be_bytes)),
            ("UTF-16 and CRLF", shells),
            ("gzip", gzip(&bytes)),
        ] {
            let told = told(&changed, None).unwrap_or_else(|refusal| panic!("{name} as {how}: {refusal}"));
            assert_eq!(
                (told.rows, tool(&name)),
                (plain.rows.clone(), told.source.tool.as_str()),
                "{name} as {how}"
            );
        }
        let cut = gzip(&bytes);
        if let Ok(told) = told(&cut[..cut.len() - 4], None) {
            assert!(told.doubts("the compressed file is damaged"), "{name}");
        }
    }
}

#[test]
fn what_is_packed_says_how_to_unpack_it() {
    for (bytes, name, command) in [
        (&b"\xfd7zXZ\0\0"[..], "xz", "xz -dc f | linerate import -"),
        (b"\x28\xb5\x2f\xfd\0\0", "zstd", "zstd -dc f | linerate import -"),
        (b"BZh91AY", "bzip2", "bzip2 -dc f | linerate import -"),
        (b"PK\x03\x04\0", "zip", "unzip -p f | linerate import -"),
    ] {
        let refusal = told(bytes, None).err().unwrap();
        assert!(
            refusal.what.contains(&format!("compressed ({name})")) && refusal.hint.contains(command),
            "{refusal:?}"
        );
    }
    // A bomb is bounded, and a byte of an old encoding costs no file.
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb.write_all(&vec![b' '; 32 << 20]).unwrap();
    assert!(told(&bomb.finish().unwrap(), None).err().unwrap().what.contains("longer than the 16 MiB"));
    let latin = [&b"# caf\xe9\n"[..], &file("osu-latency.txt")].concat();
    assert!(told(&latin, None).unwrap().doubts("1 place of it is no UTF-8"));
}

#[test]
fn a_file_of_ours_says_what_to_do_with_it() {
    let desk = tempfile::tempdir().unwrap();
    let linerate = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.env("LINERATE_STATE", desk.path().join("state")).env("LINERATE_CONFIG", "");
        command.args(arguments).current_dir(desk.path()).output().unwrap()
    };
    let run =
        ["run", "simulated", "--profile", "quick", "--only", "network.tcp", "--seed", "1", "--output", "own"];
    assert!(linerate(&run).status.success());
    let own = std::fs::read_dir(desk.path().join("own")).unwrap().map(|entry| entry.unwrap().path());
    let recording =
        own.into_iter().find(|path| path.extension().is_some_and(|name| name == "jsonl")).unwrap();
    let recording = recording.to_str().unwrap();
    let refused = |path: &str, what: &str, hint: &str| {
        let refusal = told(&std::fs::read(desk.path().join(path)).unwrap(), None).err();
        let said =
            refusal.map_or("it was read".into(), |refusal| format!("{} ({})", refusal.what, refusal.hint));
        assert!(said.contains(what) && said.contains(hint), "{path}: {said}");
    };
    refused(recording, "is a recording of linerate", "linerate report FILE");
    for format in ["json", "csv", "openmetrics", "iperf3", "html", "text"] {
        assert!(linerate(&["report", recording, "--format", format, "--output", format]).status.success());
        refused(format, "of linerate", "give the recording that it was made of");
    }
    let tables = linerate(&["report", recording, "--format", "tables", "--output", "tables"]);
    for table in String::from_utf8(tables.stdout).unwrap().lines() {
        refused(table, "a table of linerate", "give the recording that it was made of");
    }
    // And the other way round.
    let foreign = folder().join("iperf3-tcp.json");
    for command in [&["report"][..], &["compare", recording]] {
        let output = linerate(&[command, &[foreign.to_str().unwrap()]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("it looks like what iperf3 wrote") && said.contains("linerate import "),
            "{said}"
        );
    }
}

/// A receiver whose word did not come back; its error stands beside the document, or nowhere.
#[test]
fn a_receiver_of_nothing_has_no_rate() {
    let mut run = run();
    run["end"]["sum_received"]["bytes"] = json!(0);
    run["end"]["sum_received"]["bits_per_second"] = json!(0);
    run["end"]["cpu_utilization_percent"]["remote_total"] = json!(0);
    let told = told(run.to_string().as_bytes(), None).unwrap();
    let of_receiver = told.rows.iter().filter(|row| row.end == RECEIVES && row.values == [0.0]);
    assert_eq!(of_receiver.count(), 0, "{:?}", told.rows);
    assert!(told.source.doubts.iter().any(|doubt| doubt.contains("end.sum_received is 0")));
}

/// Lines of a server of iperf 2.1 whose client was started with --trip-times, and of a client with --bounceback.
const WITH_LATENCIES: &str = "\
------------------------------------------------------------
Server listening on TCP port 5001 with pid 4242
------------------------------------------------------------
[  1] local 10.0.0.2%eth0 port 5001 connected with 10.0.0.1 port 40210 (trip-times) (sock=4) (peer 2.1.8)
[ ID] Interval        Transfer    Bandwidth    Burst Latency avg/min/max/stdev (cnt/size) inP NetPwr  Reads=Dist
[  1] 0.00-1.00 sec   873 MBytes  7.33 Gbits/sec  0.118/0.036/0.923/0.041 ms (6989/131012)  108 KByte 7763847  6989=0:0
";

#[test]
fn latencies_of_a_stream_make_it_no_datagrams() {
    let told = told(WITH_LATENCIES.as_bytes(), None).unwrap();
    assert!(told.rows.iter().all(|row| row.transport.as_deref() == Some("tcp")), "{:?}", told.rows);
    assert_eq!(rate(&told), 7.33e9);
    assert!(!told.source.doubts.iter().any(|doubt| doubt.contains("datagrams")), "{:?}", told.source.doubts);
}

#[test]
fn how_a_timer_ends_a_run_is_no_doubt() {
    let text = String::from_utf8(file("sockperf-ping-pong.txt")).unwrap();
    let ended = format!("{text}sockperf: Test end (interrupted by timer)\n");
    let told = told(ended.as_bytes(), None).unwrap();
    assert!(
        !told.source.doubts.iter().any(|doubt| doubt.contains("interrupted")),
        "{:?}",
        told.source.doubts
    );
}

#[test]
fn a_refusal_gives_the_tool_s_own_reason() {
    let refused = told(
        b"nuttcp-8.2.2: Error: connect: Connection refused\nnuttcp-t: v8.2.2: Error: stopped\n",
        Some("nuttcp"),
    );
    let why = refused.err().map(|refusal| refusal.what).unwrap_or_default();
    assert!(why.contains("says: nuttcp-8.2.2: Error: connect: Connection refused"), "{why}");
}
