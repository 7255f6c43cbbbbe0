//! Files that are no results, or hostile ones: each is refused with one reason and a hint.

use super::{file, folder, told};
use std::process::Command;

/// The reason and the hint.
fn refused(bytes: &[u8], tool: Option<&str>) -> (String, String) {
    match told(bytes, tool) {
        Ok(_) => panic!("it was read: {:.80}", String::from_utf8_lossy(bytes)),
        Err(refusal) => (refusal.what, refusal.hint),
    }
}

#[test]
fn what_is_no_result_is_refused_with_its_reason() {
    let deep = format!("{{\"start\":{{}},\"end\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let wide = format!("{{\"start\":{{}},\"end\":[{}[]],\"bits_per_second\":1}}", "[],".repeat(300_000));
    let many = "{\"start\":{},\"end\":\"iperf \"}\n".repeat(1001);
    let cases: [(&str, Option<&str>, &str); 13] = [
        ("", None, "it is empty"),
        ("\u{0}\u{1}", None, "the output of no tool that is read here"),
        ("what I measured\n", None, "the output of no tool that is read here"),
        ("PING h (10.0.0.1) 56(84) bytes of data.\n", None, "no result of ping that is read here"),
        (
            "  0:   1 bytes  397 times -->  0.21 Mbps in  35.86 usec\n",
            None,
            "what NetPIPE prints, and not the file",
        ),
        (
            "Interval  Throughput  Retransmits  Receiver Throughput\n",
            None,
            "what pScheduler prints for readers",
        ),
        (&deep, Some("iperf3"), "recursion limit"),
        (&wide, Some("iperf3"), "arrays and objects"),
        (&many, None, "more than 1000 runs"),
        ("{\"error\":\"unable to connect\",\"start\":{},\"end\":{}}", Some("iperf3"), "unable to connect"),
        (
            "iperf3: error - unable to connect to server: Connection refused\n",
            None,
            "unable to connect to server",
        ),
        ("# OSU MPI Latency Test v7.4\n", None, "no result of osu that is read here"),
        ("131072  16384  16384    10.00    9406.44\n", Some("netperf"), "no banner"),
    ];
    for (text, tool, why) in cases {
        let (what, hint) = refused(text.as_bytes(), tool);
        assert!(what.contains(why), "{why}: {what}");
        assert!(!hint.is_empty(), "{what}");
    }
    assert!(refused(&[0xff; 40], None).0.contains("no text"));
    assert!(refused(&vec![b' '; (16 << 20) + 1], None).0.contains("longer than the 16 MiB"));
}

#[test]
fn an_impossible_number_costs_that_number() {
    for (name, number) in [
        ("netpipe-loopback.out", 2),
        ("sockperf-ping-pong.txt", 0),
        ("osu-latency.txt", 1),
        ("imb-mpi1.txt", 2),
        ("qperf-tcp.txt", 0),
    ] {
        let text = String::from_utf8(file(name)).unwrap();
        let whole = told(text.as_bytes(), None).unwrap();
        for evil in ["nan", "inf", "-3.0", "1e999", "1e200", "0x10"] {
            let changed = with_number(&text, number, evil);
            assert_ne!(changed, text, "{name}");
            let told = told(changed.as_bytes(), Some(super::tool(name))).unwrap();
            let lost = whole.rows.len() - told.rows.len();
            assert!(
                (1..=2).contains(&lost) && told.doubts("left out"),
                "{name} {evil}: {lost} {:?}",
                told.source.doubts
            );
        }
    }
}

/// The text with a word of a line that has a result replaced.
fn with_number(text: &str, word: usize, evil: &str) -> String {
    let wanted = if text.contains("sockperf") { "Summary: Latency is " } else { "latency" };
    let mut done = false;
    let line = |line: &str| {
        let is_row = word > 0 && line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let has_number = line.contains(wanted) && line.contains(|c: char| c.is_ascii_digit());
        let mark = Some(wanted).filter(|_| word == 0 && has_number);
        if done || !(is_row || mark.is_some()) {
            return line.to_owned();
        }
        done = true;
        match mark {
            Some(mark) => {
                let at = line.find(mark).unwrap() + mark.len();
                let start = at + line[at..].find(|c: char| c.is_ascii_digit()).unwrap();
                let len = line[start..].find(' ').unwrap_or(line.len() - start);
                format!("{}{evil}{}", &line[..start], &line[start + len..])
            }
            None => {
                let mut words: Vec<&str> = line.split_whitespace().collect();
                words[word] = evil;
                words.join("  ")
            }
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_refused_file_leaves_nothing_behind() {
    let desk = tempfile::tempdir().unwrap();
    std::fs::write(desk.path().join("notes.txt"), "what I measured\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let good = folder().join("iperf3-tcp.json");
    let output = command.arg("import").arg(&good).arg("notes.txt").current_dir(desk.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert_eq!(said.lines().count(), 2, "one sentence and one hint: {said}");
    assert!(
        said.starts_with(
            "linerate: notes.txt: it looks like the output of no tool that is read here\nhint: name the tool"
        ),
        "{said}"
    );
    assert!(!desk.path().join("linerate").exists(), "a recording was written");
}
