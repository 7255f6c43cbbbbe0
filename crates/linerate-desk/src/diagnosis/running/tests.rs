//! Each cause of a running program is named where two signs speak of it, and no other one beside it.

use super::*;
use std::collections::BTreeMap;

const SECOND_US: u64 = 1_000_000;

fn level(least: f64, median: f64, most: f64) -> Level {
    Level { least, median, most, above_nothing: if most > 0.0 { 1.0 } else { 0.0 } }
}

/// A stream of 80 Mb/s for a second over a round trip of 10 ms, the network its only limit.
fn sender() -> RunningConnection {
    let moved = [("bytes_acked", 10_000_000), ("busy_time", SECOND_US), ("data_segs_out", 7000)];
    let last = [
        ("delivery_rate", 0),
        ("options", 7),
        ("min_rtt", 10_000),
        ("max_pacing_rate", u64::MAX),
        ("snd_mss", 1448),
    ];
    let levels = [
        ("rtt", level(1e4, 1e4, 1.1e4)),
        ("snd_wnd", level(3e6, 3e6, 3e6)),
        ("notsent_bytes", level(0.0, 1e5, 2e5)),
        ("outstanding", level(1e5, 2e5, 3e5)),
        ("snd_cwnd", level(60.0, 69.0, 70.0)),
        ("delivery_rate_app_limited", level(0.0, 0.0, 0.0)),
        ("unread", level(0.0, 0.0, 0.0)),
    ];
    RunningConnection {
        local: "10.0.0.1:40000".parse().unwrap(),
        remote: "10.0.0.2:5201".parse().unwrap(),
        duration_ns: 1_000_000_000,
        readings: 11,
        congestion_control: Some("cubic".into()),
        receive_buffer: Some(131_072),
        send_buffer: Some(4 << 20),
        moved: moved.map(|(name, by)| (name.to_owned(), by)).into(),
        last: last.map(|(name, value)| (name.to_owned(), value)).into(),
        levels: levels.map(|(name, level)| (name.to_owned(), level)).into(),
    }
}

fn named(connections: Vec<RunningConnection>) -> Vec<String> {
    let program = RunningProgram { busiest_thread: Some(0.4), connections, ..RunningProgram::default() };
    let found = diagnose_running(&program);
    assert!(found.verdicts.iter().all(|one| one.grade == Grade::Consistent && !one.evidence.is_empty()));
    found.verdicts.into_iter().map(|one| one.cause).collect()
}

/// What is named of the stream with these counters and values.
fn with(edit: fn(&mut RunningConnection)) -> Vec<String> {
    let mut one = sender();
    edit(&mut one);
    named(vec![one])
}

fn set(one: &mut BTreeMap<String, u64>, name: &str, value: u64) {
    one.insert(name.into(), value);
}

#[test]
fn a_stream_that_the_network_limits_has_no_cause() {
    assert!(with(|_| ()).is_empty());
}

#[test]
fn a_source_with_nothing_to_send_is_named() {
    let idle = |one: &mut RunningConnection| {
        set(&mut one.moved, "busy_time", SECOND_US / 5);
        one.levels.insert("notsent_bytes".into(), level(0.0, 0.0, 0.0));
    };
    assert_eq!(with(idle), ["slow-source"]);
    // Nagle's algorithm keeps some of what is written small: it is always busy, and far from what it may send.
    let fed_slowly = |one: &mut RunningConnection| {
        one.levels.insert("outstanding".into(), level(9e4, 1.1e5, 1.2e5));
        one.levels.insert("delivery_rate_app_limited".into(), level(1.0, 1.0, 1.0));
        one.levels.insert("rtt".into(), level(4e4, 4e4, 4e4));
    };
    assert_eq!(with(fed_slowly), ["slow-source"]);
    // As read of 4 KiB writes at 20 Mb/s over loopback by BBR: the rate that the kernel keeps was at times one of a burst.
    let held_back = |one: &mut RunningConnection| {
        set(&mut one.last, "snd_mss", 65_483);
        one.levels.insert("outstanding".into(), level(0.0, 32_768.0, 65_536.0));
        one.levels.insert("notsent_bytes".into(), level(0.0, 28_672.0, 61_440.0));
        one.levels.insert("snd_cwnd".into(), level(12.0, 12.0, 18.0));
        let limited = Level { least: 0.0, median: 0.0, most: 1.0, above_nothing: 0.48 };
        one.levels.insert("delivery_rate_app_limited".into(), limited);
    };
    assert_eq!(with(held_back), ["slow-source"]);
    // Where whole segments wait though the window is open, something else holds them: pacing, or a queue of the host.
    let paced = |one: &mut RunningConnection| {
        one.levels.insert("outstanding".into(), level(9e4, 1.1e5, 1.2e5));
        one.levels.insert("snd_cwnd".into(), level(60.0, 69.0, 70.0));
    };
    assert!(with(paced).is_empty());
    // One that has always something in its buffer is not the source's.
    assert!(with(|one| set(&mut one.moved, "busy_time", SECOND_US / 5)).is_empty());
}

#[test]
fn a_window_that_stays_is_a_buffer_s() {
    let steady = |one: &mut RunningConnection| {
        set(&mut one.moved, "rwnd_limited", SECOND_US * 9 / 10);
        one.levels.insert("snd_wnd".into(), level(1e5, 1e5, 1e5));
    };
    assert_eq!(with(steady), ["small-receive-window"]);
    let unscaled = |one: &mut RunningConnection| {
        set(&mut one.moved, "rwnd_limited", SECOND_US * 9 / 10);
        set(&mut one.last, "options", 3);
        one.levels.insert("snd_wnd".into(), level(6e4, 6e4, 6e4));
    };
    assert_eq!(with(unscaled), ["window-scaling-off"]);
}

#[test]
fn a_window_that_closes_is_a_reader_s() {
    let closing = |one: &mut RunningConnection| {
        set(&mut one.moved, "rwnd_limited", SECOND_US * 9 / 10);
        one.levels.insert("snd_wnd".into(), level(0.0, 5e4, 3e6));
    };
    assert_eq!(with(closing), ["slow-reader"]);
    let unread = |one: &mut RunningConnection| {
        one.moved = [("bytes_received".to_owned(), 10_000_000)].into();
        one.levels.insert("unread".into(), level(5e4, 1e5, 1.2e5));
    };
    assert_eq!(with(unread), ["slow-reader"]);
}

#[test]
fn a_full_send_buffer_is_named_with_what_is_in_it() {
    let full = |one: &mut RunningConnection| {
        set(&mut one.moved, "sndbuf_limited", SECOND_US * 8 / 10);
        one.send_buffer = Some(250_000);
    };
    assert_eq!(with(full), ["small-send-buffer"]);
    // Half a path's worth: it fills between two acknowledgements, and the kernel calls the rate the application's.
    let held_up = |one: &mut RunningConnection| {
        set(&mut one.moved, "sndbuf_limited", SECOND_US * 3 / 10);
        one.levels.insert("delivery_rate_app_limited".into(), level(1.0, 1.0, 1.0));
        one.levels.insert("outstanding".into(), level(3.9e6, 4e6, 4.1e6));
        one.levels.insert("notsent_bytes".into(), level(0.0, 1e5, 2e5));
        one.levels.insert("snd_cwnd".into(), level(6e3, 6e3, 6e3));
    };
    assert_eq!(with(held_up), ["small-send-buffer"]);
    // The kernel's own sizing has room left: it is no small one.
    assert!(with(|one| set(&mut one.moved, "sndbuf_limited", SECOND_US * 8 / 10)).is_empty());
}

#[test]
fn losses_are_told_from_a_queue_and_from_order() {
    let lost = |one: &mut RunningConnection| set(&mut one.moved, "total_retrans", 70);
    assert_eq!(with(lost), ["packet-loss"]);
    let queued = |one: &mut RunningConnection| {
        set(&mut one.moved, "total_retrans", 70);
        one.levels.insert("rtt".into(), level(1e4, 6e4, 8e4));
    };
    assert_eq!(with(queued), ["standing-queue"]);
    let late = |one: &mut RunningConnection| {
        set(&mut one.moved, "total_retrans", 70);
        set(&mut one.moved, "dsack_dups", 69);
        set(&mut one.moved, "reord_seen", 60);
    };
    assert_eq!(with(late), ["reordering"]);
    let unselective = |one: &mut RunningConnection| {
        set(&mut one.moved, "total_retrans", 70);
        set(&mut one.last, "options", 5);
    };
    assert_eq!(with(unselective), ["sack-off", "packet-loss"]);
}

#[test]
fn a_limit_of_the_socket_is_named() {
    assert_eq!(with(|one| set(&mut one.last, "max_pacing_rate", 10_000_000)), ["pacing-cap"]);
    assert!(with(|one| set(&mut one.last, "max_pacing_rate", 50_000_000)).is_empty());
}

#[test]
fn time_is_shared_out_and_sums_to_all() {
    let mut one = sender();
    set(&mut one.moved, "busy_time", 900_000);
    set(&mut one.moved, "rwnd_limited", 200_000);
    set(&mut one.moved, "sndbuf_limited", 100_000);
    let waits = waits(&one).unwrap();
    let shares = [waits.program, waits.window, waits.buffer, waits.under_way];
    for (share, expected) in shares.iter().zip([0.1, 0.2, 0.1, 0.6]) {
        assert!((share - expected).abs() < 1e-9, "{waits:?}");
    }
    one.moved.clear();
    assert_eq!(super::waits(&one), None, "it sent nothing");
}

#[test]
fn many_connections_are_told_by_their_number() {
    let mut one = sender();
    set(&mut one.moved, "total_retrans", 70);
    let program = RunningProgram { connections: vec![one; 9], ..RunningProgram::default() };
    let found = diagnose_running(&program);
    assert_eq!(found.verdicts[0].evidence.len(), MOST_TOLD + 1);
    assert!(found.verdicts[0].evidence[MOST_TOLD].starts_with("and 6 "), "{:?}", found.verdicts[0].evidence);
}
