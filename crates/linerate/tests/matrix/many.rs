//! Sixty-four hosts of a lab, each with one fault, and none, and what takes long of few: `./test --long` runs each three times.

use super::{measured, named};
use serde_json::Value;
use std::collections::BTreeSet;

/// A tenth of a machine's rate each, so that 32 pairs at once are the buckets' and not the CPUs'.
const HOSTS: &str = "lab:hosts=64,rate=20Mb/s,wire=tbf";

/// The host's letters, as the program has them: `a` to `z`, then `aa`.
fn letters(number: usize) -> String {
    let letter = |number: usize| char::from(b'a' + number as u8).to_string();
    if number < 26 { letter(number) } else { letter(number / 26 - 1) + &letter(number % 26) }
}

#[test]
#[ignore = "64 hosts: tests/long"]
fn long_of_64_hosts_the_slow_one_is_named_and_nobody_else() {
    let (code, matrix) = measured(&[&format!("{HOSTS},k-.rate=12Mb/s")]);
    assert_eq!((code, named(&matrix)), (10, vec!["sender k".to_owned()]), "{:#}", matrix["named"]);
}

#[test]
#[ignore = "64 hosts: tests/long"]
fn long_of_64_healthy_hosts_nobody_is_named() {
    let (code, matrix) = measured(&[HOSTS]);
    assert!([0, 11].contains(&code) && named(&matrix).is_empty(), "{code} {:#}", matrix["named"]);
    assert_eq!(matrix["found_groups"], Value::Array(Vec::new()));
}

#[test]
#[ignore = "64 hosts: tests/long"]
fn long_of_8_racks_the_slower_one_is_named_and_no_host() {
    let folder = tempfile::TempDir::new().unwrap();
    let racks = folder.path().join("racks");
    let rack = |rack: usize| (8 * rack..8 * rack + 8).map(letters).collect::<Vec<_>>();
    let lines = (0..8).map(|number| format!("rack{number}: {}\n", rack(number).join(" ")));
    std::fs::write(&racks, lines.collect::<String>()).unwrap();
    let slow: String = rack(2).iter().map(|host| format!(",{host}-.rate=14Mb/s")).collect();
    let (code, matrix) = measured(&[&format!("{HOSTS}{slow}"), "--groups", racks.to_str().unwrap()]);
    let wanted = format!("group {}", rack(2).join(">"));
    assert_eq!((code, named(&matrix)), (10, vec![wanted]), "{:#}", matrix["named"]);
    assert_eq!(matrix["named"][0]["group"], "rack2");
}

/// A bucket loses nothing: our own wire does, which 64 hosts at 5 Mb/s keep busy.
#[test]
#[ignore = "64 hosts, each with each: tests/long"]
fn long_of_64_hosts_the_pair_that_loses_is_named() {
    let hosts = "lab:hosts=64,rate=5Mb/s,e-k.loss=3%";
    let (code, matrix) = measured(&[hosts, "--full", "--trial", "1s"]);
    let all = matrix["named"].as_array().unwrap();
    let is_link = |one: &Value| one["kind"] == "link" && one["hosts"] == serde_json::json!(["e", "k"]);
    // It may be slow for it, and has one name then.
    assert!(code == 10 && all.len() == 1 && is_link(&all[0]), "{code} {:#}", matrix["named"]);
    assert!(all[0]["sent_again"]["low"].as_f64().unwrap() > 0.0, "{:#}", all[0]);
}

/// Nobody is slow for it at this rate: it stands in the inventory.
#[test]
#[ignore = "64 hosts: tests/long"]
fn long_of_64_hosts_the_smaller_mtu_is_in_the_inventory() {
    let (code, matrix) = measured(&[&format!("{HOSTS},fault=k:small-mtu=1400"), "--partners", "4"]);
    let named = matrix["named"].as_array().unwrap();
    let are_k = named.iter().all(|one| one["hosts"] == serde_json::json!(["k"]));
    assert!([0, 10, 11].contains(&code) && are_k, "{named:#?}");
    let hosts = matrix["inventory"].as_array().unwrap().iter().map(|one| one["host"].as_str().unwrap());
    assert_eq!(hosts.collect::<BTreeSet<_>>(), BTreeSet::from(["k"]), "{:#}", matrix["inventory"]);
}

/// What comes from one host is on its way for longer: its rate is as the others', its round trips are not.
#[test]
#[ignore = "its statistics are asked of made-up clusters: tests/long"]
fn long_the_host_with_longer_round_trips_is_named() {
    let hosts = "lab:hosts=6,rate=20Mb/s,delay=1ms,c-.delay=1600us";
    let (code, matrix) = measured(&[hosts, "--trial", "200ms"]);
    assert_eq!(
        (code, named(&matrix)),
        (10, vec!["host c by round-trip".to_owned()]),
        "{:#}",
        matrix["named"]
    );
    let one = &matrix["named"][0];
    // 2.6 ms and what the links take, over 2 ms and as much.
    let ratio = one["ratio"]["median"].as_f64().unwrap();
    assert!((1.15..1.35).contains(&ratio) && one["confirmed"] == "alone", "{one:#}");
}
