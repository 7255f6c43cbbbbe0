//! Recordings that are whole, cut off, foreign, newer, or nonsense.

use super::synthetic::Synthetic;
use super::*;
use proptest::prelude::*;

fn small() -> Recording {
    Synthetic { passes: 2, sizes: vec![1, 64, 1 << 20], ..Synthetic::default() }.recording()
}

/// Every event of a recording, in an order that a run could have.
fn events(recording: &Recording) -> Vec<Event> {
    let mut events: Vec<Event> = recording.header.iter().cloned().map(Event::Header).collect();
    events.extend(recording.hosts.iter().cloned().map(Event::Host));
    events.extend(recording.calibration.iter().cloned().map(Event::Calibration));
    events.extend(recording.trials.iter().cloned().map(Event::Trial));
    events.extend(recording.steps.iter().cloned().map(Event::Step));
    events.extend(recording.end.iter().cloned().map(Event::End));
    events
}

fn lines(recording: &Recording) -> Vec<u8> {
    let line = |event: &Event| serde_json::to_string(event).unwrap() + "\n";
    events(recording).iter().map(line).collect::<String>().into_bytes()
}

#[test]
fn what_is_written_is_read() {
    let path = std::env::temp_dir().join(format!("linerate-record-{}.jsonl", std::process::id()));
    let recording = small();
    let mut writer = Writer::create(&path).unwrap();
    events(&recording).iter().for_each(|event| _ = writer.write(event).unwrap());
    let again = Writer::create(&path).map(|_| ()).unwrap_err();
    let read = read(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(read.unwrap(), (recording, Vec::new()));
}

#[test]
fn a_cut_off_line_costs_that_line_only() {
    let recording = small();
    let mut bytes = lines(&recording);
    let whole = bytes.iter().filter(|byte| **byte == b'\n').count();
    bytes.truncate(bytes.len() - 10);
    let (read, bad) = read(bytes.as_slice()).unwrap();
    assert_eq!(bad.len(), 1);
    assert_eq!(bad[0].line, whole);
    assert_eq!(read, Recording { end: None, ..recording });
}

#[test]
fn an_over_long_line_is_passed_over() {
    let recording = small();
    let mut bytes = lines(&recording);
    bytes.extend(std::iter::repeat_n(b'x', 3 * LONGEST_LINE));
    bytes.push(b'\n');
    bytes.extend(serde_json::to_vec(&Event::Trial(recording.trials[0].clone())).unwrap());
    let (read, bad) = read(bytes.as_slice()).unwrap();
    assert_eq!(bad.len(), 1);
    assert!(bad[0].why.contains("longer than"), "{}", bad[0].why);
    assert_eq!(read.trials.len(), recording.trials.len() + 1);
}

#[test]
fn a_line_that_is_no_event_is_said() {
    let mut bytes = lines(&small());
    bytes.extend(b"{\"event\":\"of-tomorrow\"}\n\nnull\n");
    let bad = read(bytes.as_slice()).unwrap().1;
    assert_eq!(bad.len(), 3);
    assert!(bad[0].why.contains("of-tomorrow"), "{}", bad[0].why);
}

#[test]
fn a_host_that_cannot_be_costs_its_line() {
    let recording = small();
    let long = "x".repeat(1 << 16);
    for name in ["A1", "../b", "", &long] {
        let mut bytes = lines(&recording);
        let facts = serde_json::to_string(&Event::Host(recording.hosts[1].clone())).unwrap();
        bytes.extend(facts.replace(r#""host":"b""#, &format!(r#""host":"{name}""#)).into_bytes());
        let (read, bad) = read(bytes.as_slice()).unwrap();
        assert_eq!((read, bad.len()), (recording.clone(), 1));
        let shown = name.chars().take(40).collect::<String>();
        assert!(bad[0].why.contains(&format!("no host is called `{shown}`")), "{}", bad[0].why);
    }
}

#[test]
fn what_is_wrong_with_a_plan_is_said() {
    let first = String::from_utf8(lines(&small())).unwrap().lines().next().unwrap().to_owned();
    let error =
        read(first.replace(r#""rungs":"#, r#""hosts":65,"rungs":"#).as_bytes()).unwrap_err().to_string();
    assert!(error.contains("65 hosts take part"), "{error}");
}

#[test]
fn a_second_header_changes_nothing() {
    let recording = small();
    let mut bytes = lines(&recording);
    let mut other = recording.header.clone().unwrap();
    other.schema = "linerate.recording/9".into();
    bytes.extend(serde_json::to_vec(&Event::Header(other)).unwrap());
    let (read, bad) = read(bytes.as_slice()).unwrap();
    assert_eq!((read, bad.len()), (recording, 1));
}

#[test]
fn what_is_no_recording_is_refused() {
    let header = |schema: &str| {
        let header = Header { schema: schema.into(), ..small().header.unwrap() };
        serde_json::to_string(&Event::Header(header)).unwrap()
    };
    let later = r#"{"event":"header","schema":"linerate.recording/2","plan":"of another kind"}"#;
    let end = r#"{"event":"end","reason":"completed","error":null,"at_ns":1}"#;
    let cases = [
        (String::new(), "it is empty"),
        ("\n".into(), "no header"),
        ("[ 4] 0.00-1.00 sec 1.1 GBytes\n".into(), "no header"),
        (end.into(), "no header"),
        (format!("{}\n", "x".repeat(2 * LONGEST_LINE)), "longer than"),
        (r#"{"schema":"linerate.report/1"}"#.into(), "its schema is `linerate.report/1`"),
        (header("linerate.recording/0"), "its schema is"),
        (header("linerate.recording/2"), "schema is linerate.recording/2, and this program reads"),
        (later.into(), "schema is linerate.recording/2, and this program reads"),
    ];
    for (text, why) in cases {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{:.60}: {error}", text);
    }
}

proptest! {
    #[test]
    fn random_bytes_never_break_it(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        drop(read(bytes.as_slice()));
    }

    #[test]
    fn changed_bytes_cost_no_more_than_their_lines(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)
    ) {
        let mut bytes = lines(&small());
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let changed = changes.len();
        for (at, value) in changes {
            let at = header + at.index(bytes.len() - header);
            bytes[at] = value;
        }
        // A changed byte may cut a line in two, or join two.
        prop_assert!(read(bytes.as_slice()).unwrap().1.len() <= 2 * changed);
    }
}
