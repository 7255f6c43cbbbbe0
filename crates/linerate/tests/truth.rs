//! The lab's own wire against the truth: a part of what `cargo bench --bench truth` measures.
//!
//! Tolerances are stated in `rows.rs`, and nothing is tried twice.

mod measure;
use crate::user::nobody;
#[allow(dead_code, reason = "the bench measures what is not measured here")]
mod rows;

use rows::{Row, Which};

fn check(rows: impl IntoIterator<Item = Row>) {
    let rows: Vec<Row> = rows.into_iter().collect();
    rows.iter().for_each(|row| println!("{}", row.text()));
    let wrong: Vec<String> = rows.iter().filter(|row| !row.is_ok()).map(Row::text).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stream_has_the_rate_of_the_wire() {
    check([rows::rate(1e8, "", 1), rows::rate(1e9, "", 1), rows::rate(1e8, ",delay=10ms", 1)]);
}

#[test]
fn no_message_is_quicker_than_its_bits() {
    check([rows::ping_pong_bound(1e8, 1), rows::ping_pong_bound(1e9, 1)]);
}

#[test]
fn a_delay_is_added_to_the_round_trip_each_way() {
    check(rows::added_round_trips(&[20.0, 50.0], Which::Quickest, 1));
}

#[test]
fn what_an_adapter_holds_is_added_each_way() {
    // More than other work on this machine may add.
    check(rows::coalescing(&[250.0, 1000.0], Which::Quickest, 1));
}

#[test]
fn a_stream_has_the_rate_though_adapters_hold_it() {
    check([rows::rate(1e9, ",coalesce=64us", 1), rows::rate(1e9, ",coalesce=1ms,coalesce-frames=32", 1)]);
}

#[test]
fn a_switch_adds_what_it_waits_for() {
    // Those that add more than other work on this machine may.
    check(rows::hops(&rows::HOPS[1..3], Which::Quickest, 1));
}

#[test]
fn as_many_packets_are_lost_as_asked() {
    check(rows::loss(0.05, 20_000, 4.0));
}

#[test]
fn a_small_window_bounds_the_rate() {
    check(rows::window());
}

#[test]
fn random_loss_bounds_the_rate_as_mathis_says() {
    check([rows::mathis(8.0)]);
}

/// The wire has less room there for frames that wait, and its thread does not run before others.
#[test]
fn an_ordinary_users_wire_is_true_too() {
    nobody::runs_them_too(&["a_stream_has_the_rate_of_the_wire"], &[]);
}
