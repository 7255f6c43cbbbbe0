//! Datagrams: the same stages, summing to what was clocked; what is lost is counted, and ends nothing.

use super::{SHORT, command, is_whole, number, stages, traced};
use tempfile::TempDir;

#[test]
fn any_user_sees_where_a_datagram_waits() {
    let trace = traced("lab", &[&SHORT[..], &["--level", "0", "--datagrams"]].concat());
    is_whole(&trace, 0);
    assert_eq!(trace["datagrams"], true);
    for at in [0, 1] {
        let of = &trace["waits"][at];
        assert_eq!((&of["lost_exchanges"], &of["stray_events"]), (&0.into(), &0.into()), "{of}");
        let names: Vec<String> = stages(of, "share").into_keys().collect();
        assert_eq!(names.len(), 10, "{names:?}");
        assert!(names.contains(&"b out queue".into()) && names.contains(&"a in run-queue".into()));
    }
}

#[test]
fn tracepoints_cut_datagrams_finer() {
    const NAME: &str = "tracepoints_cut_datagrams_finer";
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: {NAME}: {why}");
    }
    let trace = traced("lab", &[&SHORT[..], &["--datagrams"]].concat());
    is_whole(&trace, 1);
    let [sleeping, polling] = [0, 1].map(|at| stages(&trace["waits"][at], "middle_ns"));
    for stage in ["a out send-call", "b in softirq", "b in protocol-in", "b in wake-up", "a in return"] {
        assert!(sleeping.contains_key(stage), "{stage}: {sleeping:?}");
    }
    assert!(!sleeping.contains_key("b in ip-in"), "what TCP stamps, UDP does not: {sleeping:?}");
    assert!(polling.contains_key("b in protocol-in"), "{polling:?}");
    for host in trace["hosts"].as_array().unwrap() {
        assert_eq!(host["missing"], serde_json::json!([]), "nothing of UDP is missing");
    }
}

#[test]
fn datagrams_that_are_lost_are_counted_and_end_nothing() {
    let options = ["--datagrams", "--wait", "sleep", "--level", "0", "--exchanges", "60", "--blocks", "6"];
    let trace = traced("lab:loss=3%", &options);
    is_whole(&trace, 0);
    let of = &trace["waits"][0];
    let (lost, whole) = (number(of, "lost_exchanges"), number(of, "exchanges"));
    // Of 720 one in seventeen is lost on one of its ways, half of them in the traced blocks, which have 360.
    assert!(lost > 12.0 && lost < 100.0 && whole < 360.0 && whole > 300.0, "{lost} {whole}");
    assert!(trace["notes"].to_string().contains("lost on the way"), "{}", trace["notes"]);
    assert!(number(&of["clocked"], "p99_ns") < 50e6, "none of them is in a round trip: {of}");
}

#[test]
fn what_datagrams_cannot_be_is_refused() {
    let folder = TempDir::new().unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["--bytes", "4B"], "8 to 1400 B"),
        (&["--bytes", "2KiB"], "8 to 1400 B"),
        (&["--set", "tcp.no-delay=off"], "does nothing to datagrams"),
        (&["--writes", "2"], "exclude each other"),
    ];
    for (options, said) in cases {
        let output =
            command(folder.path(), "lab").arg("--datagrams").args(options).arg("-q").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(said), "{text}");
    }
}
