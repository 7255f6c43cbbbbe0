//! The three forms of one made-up run, and of runs that no one could have made.

mod json_form;
mod notes;

use super::*;
use crate::Error;
use crate::plan::HostId;
use crate::record::synthetic::{Bend, Synthetic};
use crate::record::{
    Calibration, Event, NotMeasured, Reason, RunSpread, Series, SpreadOf, SpreadSource, read,
};
use crate::vocabulary::{Pattern, ReasonKind, Wait};
use proptest::prelude::*;
use serde_json::Value;

const PIPE: Page = Page { width: None, colour: false };

fn json(recording: &Recording) -> String {
    json_of(&Report::from_recording(recording))
}

fn csv(recording: &Recording) -> String {
    csv_of(recording, &crate::analysis::analyse(recording))
}

fn made_up() -> Recording {
    Synthetic::default().recording()
}

fn small() -> Recording {
    Synthetic { passes: 7, sizes: vec![1, 64, 1 << 20], ..Synthetic::default() }.recording()
}

#[test]
fn the_text_begins_with_the_answer() {
    let mut recording = made_up();
    recording.trials.retain(|trial| !(trial.case.flows == 4 && trial.case.pattern == Pattern::Bidirectional));
    recording.hosts.iter_mut().for_each(|host| {
        let model = ("cpu.model".to_owned(), "Xeon 2.6 GHz".into());
        host.environment.host.extend([model]);
    });
    recording.unavailable.push(NotMeasured {
        rung: "memory.triad".into(),
        pattern: None,
        wait: None,
        host: None,
        reason: Reason::new(ReasonKind::Unsaid, "64 MiB were refused", "free some memory"),
        ..NotMeasured::default()
    });
    let expected = "\
The sender's CPU binds: the sender spends 0.14 ns on a byte and its CPU was 100 % busy, so network.tcp a>b
cannot pass 57 Gb/s here; the link may carry more. A perfect fix of that can give at most 80 Gb/s: then the
receiver's CPU binds.

lab: 2 hosts, eth0, MTU 1500 · Xeon 2.6 GHz, 2 CPUs · cubic · CPUs 0/1, kept awake · 10 passes, 95 % intervals

                               throughput, 1 MiB        half round trip, 64 B          over the rung below     CPU ns/B
  rung                           a>b     ±        b>a       polling  sleeping   kept   constant   per byte    send   recv
  memory.copy, in cache     159 Gb/s  ±2 %          -             -         -      -          -          -       -      -
  memory.triad (STREAM)    not measured: 64 MiB were refused (free some memory)
  in-host.shared-memory     133 Gb/s  ±1 %          -        167 ns   11.3 µs   83 %          -  +0.060 ns   0.058  0.057
  in-host.tcp                71 Gb/s  ±2 %          -       2.61 µs   20.2 µs   54 %    +2.4 µs  +0.060 ns    0.11  0.080
  network.tcp                56 Gb/s  ±2 %  56.3 Gb/s       2.80 µs   21.3 µs   79 %    +200 ns  +0.030 ns    0.14   0.10
  network.tcp x 4          56.7 Gb/s  ±1 %    57 Gb/s             -         -      -          -          -    0.14   0.10
  network.tcp, both ways    113 Gb/s  ±2 %          -             -         -      -          -          -    0.14   0.10

  runs            spread between runs unknown: `linerate calibrate` measures it.
  interval-wide   the interval is wider than the profile aims at: throughput ±2.2 %, aimed at 2 % …
  ended           the time was over before the intervals were narrow, after 1110 s.
  shared-cpus     both hosts share this machine's CPUs, so neither end runs as it would alone.
                  `linerate explain RECORDING` has the whole, with what to try
";
    let shown = text(&recording, PIPE);
    assert!(shown == expected, "{shown}");
}

#[test]
fn a_narrow_page_gets_a_narrow_table() {
    let recording = made_up();
    for width in [66, 80, 100, 140] {
        let shown = text(&recording, Page { width: Some(width), colour: false });
        let longest = shown.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= usize::from(width), "{width}: {longest}\n{shown}");
        assert_eq!(shown.matches("half round trip, 64 B").count(), 1);
    }
}

#[test]
fn colours_carry_no_meaning() {
    let recording = made_up();
    let coloured = text(&recording, Page { width: None, colour: true });
    assert!(coloured.contains("\x1b["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain += before;
        rest = after.split_once('m').unwrap().1;
    }
    assert_eq!(plain + rest, text(&recording, PIPE));
}

#[test]
fn notes_say_a_thing_once() {
    let mut recording = small();
    recording.steps.iter_mut().for_each(|step| step.timer_slack_lowered = false);
    for wait in [Wait::Polling, Wait::Sleeping] {
        recording.unavailable.push(NotMeasured {
            rung: "network.tcp".into(),
            pattern: Some(Pattern::PingPong),
            wait: Some(wait),
            host: None,
            reason: Reason::new(ReasonKind::Unsaid, "token bucket", "no rate"),
            ..NotMeasured::default()
        });
    }
    let shown = explained(&recording, PIPE).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(shown.matches("timer slack").count(), 1, "{shown}");
    assert_eq!(shown.matches("token bucket (no rate)").count(), 1, "{shown}");
    assert!(
        shown.contains("network.tcp a>b ping-pong polling, network.tcp a>b ping-pong sleeping"),
        "{shown}"
    );
}

#[test]
fn the_spread_of_runs_says_where_it_is_from() {
    let spread = |of, share, runs, source| RunSpread {
        layer: "network.tcp a>b".into(),
        of,
        share,
        centre: 1e9,
        runs,
        source,
    };
    let mut recording = made_up();
    recording.push(Event::Calibration(Calibration {
        spreads: vec![
            spread(SpreadOf::Throughput, 0.062, 12, SpreadSource::History),
            spread(SpreadOf::Sleeping, 0.14, 6, SpreadSource::Calibrate),
        ],
        ..Calibration::default()
    }));
    let page = text(&recording, Page { width: Some(100), colour: false });
    let line = page.lines().find(|line| line.starts_with("  network.tcp  ")).unwrap();
    assert!(line.contains("±2 %  ±6 %"), "{page}");
    assert!(line.contains("21.3 µs  ±14 %"), "{page}");
    let heads = page.lines().find(|line| line.starts_with("  rung  ")).unwrap();
    assert_eq!(heads.matches(" runs").count(), 2, "{page}");
    let words = explained(&recording, PIPE).split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["12 earlier runs of this plan", "the 6 short runs of `linerate calibrate`"] {
        assert!(words.contains(said), "{page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let value: Value = serde_json::from_str(&json(&recording)).unwrap();
    let entry = value["ladder"].as_array().unwrap().iter().find(|entry| entry["direction"] == "a>b").unwrap();
    let between = &entry["between_run"];
    assert_eq!(
        (&between["throughput"]["runs"], &between["throughput"]["source"]),
        (&12.into(), &"history".into())
    );
    assert_eq!(between["polling"], Value::Null);
}

#[test]
fn a_step_is_told_in_words_and_in_numbers() {
    let step = Bend {
        rung: "network.tcp",
        pattern: Pattern::PingPong,
        at_bytes: 1 << 17,
        step_ns: 3e6,
        slope_ns: -0.1,
    };
    let recording = Synthetic { bends: vec![step], ..Synthetic::default() }.recording();
    let shown = text(&recording, PIPE).split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "network.tcp sleeping ping-pong a>b: +3.00 ms from 128 KiB on (unexplained)";
    assert!(shown.contains(line), "{shown}");
    let report = Report::from_recording(&recording);
    let slept = |curve: &&CurveEntry| {
        (curve.id.as_str(), curve.pattern, curve.wait) == ("network.tcp", Pattern::PingPong, Wait::Sleeping)
    };
    let found = &report.curves.iter().find(slept).unwrap().breaks[0];
    assert_eq!((found.from_bytes, found.at_bytes, found.sure), (1 << 16, 1 << 17, true));
    assert!(found.jump_ns.unwrap().low.unwrap() > 2.8e6 && found.share.unwrap() > 50.0, "{found:?}");
    assert!(found.best_threshold_bytes.unwrap() > 2e7 && !found.hint.is_empty(), "{found:?}");
}

#[test]
fn few_passes_have_no_interval_in_any_form() {
    let recording = Synthetic { passes: 5, ..Synthetic::default() }.recording();
    let value: Value = serde_json::from_str(&json(&recording)).unwrap();
    let throughput = &value["ladder"][0]["throughput_bps"];
    assert_eq!(
        (&throughput["low"], &throughput["high"], &throughput["n"]),
        (&Value::Null, &Value::Null, &5.into())
    );
    let shown = text(&recording, PIPE);
    assert!(shown.contains("n=5") && !shown.contains("±") | shown.contains("few-passes"), "{shown}");
    let rows = csv(&recording);
    assert!(rows.lines().nth(1).unwrap().contains(",,,5,"), "{rows:.400}");
}

#[test]
fn the_csv_form_has_a_row_for_each_case_and_size() {
    let recording = made_up();
    let report = Report::from_recording(&recording);
    let text = csv(&recording);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let rows: Vec<::csv::StringRecord> = reader.records().collect::<std::result::Result<_, _>>().unwrap();
    assert_eq!(rows.len(), report.curves.iter().map(|curve| curve.points.len()).sum::<usize>());
    let point = &report.curves[0].points[3];
    assert_eq!(rows[3][column("message_bytes")], point.message_bytes.to_string());
    let median: f64 = rows[3][column("throughput_bps_median")].parse().unwrap();
    assert_eq!(median, point.throughput_bps.unwrap().median);
    for unit in ["half_round_trip_ns_low", "sender_cpu_ns_per_byte_high", "throughput_bps_n"] {
        column(unit);
    }
}

/// Writes every form; the text on pages of several widths.
fn write_all(recording: &Recording) {
    let sheets = [Sheet::new(recording, "")];
    for format in FORMATS.iter().filter(|format| !format.several) {
        for width in [None, Some(0), Some(60), Some(u16::MAX)] {
            match (format.render)(&sheets, Page { width, colour: true }) {
                Ok(Rendered::Text(text)) => assert!(!text.is_empty(), "{}", format.name),
                Ok(Rendered::Files(files)) => panic!("{}: {} files", format.name, files.len()),
                // What a run of iperf3 is like is not in every recording.
                Err(Error::Unavailable { .. }) if format.name == "iperf3" => (),
                Err(error) => panic!("{}: {error}", format.name),
            }
        }
    }
    let figures = figure::figures(&sheets);
    assert!(figures.iter().all(|figure| !figure.title.is_empty()));
}

#[test]
fn iperf3_intervals_add_up_to_the_sum() {
    let mut recording = small();
    let is_stream = |trial: &&mut crate::record::Trial| {
        trial.pass > 0 && trial.case.rung == "network.tcp" && trial.case.pattern == Pattern::Stream
    };
    recording.trials.iter_mut().find(is_stream).unwrap().case.timeline = true;
    let Ok(Rendered::Text(text)) = export::iperf3(&[Sheet::new(&recording, "")]) else { panic!("a text") };
    let told: Value = serde_json::from_str(&text).unwrap();
    let (sum, intervals) = (&told["end"]["sum_received"], told["intervals"].as_array().unwrap());
    let of = |value: &Value, name: &str| value[name].as_f64().unwrap();
    let bytes: f64 = intervals.iter().map(|interval| of(&interval["sum"], "bytes")).sum();
    // Each is a whole number.
    assert!((bytes - of(sum, "bytes")).abs() <= intervals.len() as f64, "{bytes} of {sum}");
    let end = of(&intervals.last().unwrap()["sum"], "end");
    assert!((end / of(sum, "seconds") - 1.0).abs() < 1e-6, "{end} of {sum}");
}

#[test]
fn an_empty_recording_has_a_report() {
    write_all(&Recording::default());
}

#[test]
fn numbers_that_are_none_break_nothing() {
    let mut recording = small();
    recording.push(Event::Series(Series {
        step: recording.trials[0].step,
        host: HostId(0),
        worker: None,
        flow: None,
        at_ns: vec![u64::MAX, 0],
        values: [("x".to_owned(), vec![f64::NAN, f64::INFINITY])].into(),
    }));
    recording.trials[0].case.timeline = true;
    for trial in &mut recording.trials {
        let block = &mut trial.block;
        (block.message_bytes, block.messages, block.slices) = (u64::MAX, u64::MAX, u32::MAX);
        for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
            (flow.start_ns, flow.bytes, flow.cpu_ns) = (u64::MAX, u64::MAX, u64::MAX);
            flow.duration_ns = 0;
            flow.slices_ns.iter_mut().for_each(|slice| *slice = u64::MAX);
        }
    }
    assert!(recording.trials[0].block.bytes() == u64::MAX);
    write_all(&recording);
    recording.trials.iter_mut().for_each(|trial| trial.roles.clear());
    recording.steps.iter_mut().for_each(|step| step.roles.clear());
    recording.hosts.clear();
    write_all(&recording);
    recording.header = None;
    write_all(&recording);
}

/// Replaces one value somewhere in a line.
fn change(value: &mut Value, path: &[prop::sample::Index], with: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = with.clone();
        return;
    };
    match value {
        Value::Array(items) if !items.is_empty() => change(first.get_mut(items.as_mut_slice()), rest, with),
        Value::Object(fields) if !fields.is_empty() => {
            let index = first.index(fields.len());
            if let Some((_, field)) = fields.iter_mut().nth(index) {
                change(field, rest, with);
            }
        }
        _ => *value = with.clone(),
    }
}

fn odd_value() -> impl Strategy<Value = Value> {
    let odd = [
        serde_json::json!(0),
        serde_json::json!(1),
        serde_json::json!(-1),
        serde_json::json!(u64::MAX),
        serde_json::json!(u32::MAX),
        serde_json::json!(1e308),
        serde_json::json!(5e-324),
        serde_json::json!(true),
        serde_json::json!(""),
        serde_json::json!("bbr"),
        serde_json::json!("lab:rate=1Gb/s"),
        serde_json::json!("a\u{301}\n\u{1b}[31m".repeat(40)),
        serde_json::json!([]),
        serde_json::json!({}),
        Value::Null,
    ];
    prop::sample::select(odd.to_vec())
}

proptest! {
    // Each case writes a dozen reports.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]
    #[test]
    fn whatever_can_be_read_can_be_reported(
        changes in prop::collection::vec(
            (
                any::<prop::sample::Index>(),
                prop::collection::vec(any::<prop::sample::Index>(), 1..8),
                odd_value(),
            ),
            1..40,
        )
    ) {
        let recording = Synthetic { passes: 1, sizes: vec![64, 1 << 20], ..Synthetic::default() }.recording();
        let header = serde_json::to_value(Event::Header(recording.header.clone().unwrap())).unwrap();
        let hosts = recording.hosts.iter().cloned().map(Event::Host);
        let trials = recording.trials.iter().cloned().map(Event::Trial);
        let steps = recording.steps.iter().cloned().map(Event::Step);
        let events = hosts.chain(trials).chain(steps);
        let mut lines: Vec<Value> = std::iter::once(header)
            .chain(events.map(|event| serde_json::to_value(event).unwrap()))
            .collect();
        for (line, path, with) in changes {
            change(line.get_mut(lines.as_mut_slice()), &path, &with);
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if let Ok((recording, _)) = read(text.as_bytes()) {
            write_all(&recording);
        }
    }
}
