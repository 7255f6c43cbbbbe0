//! A lab, and a list of labs, as text and as JSON.

use crate::lab::{Entry, Held};
use crate::plan::Target;
use comfy_table::{ContentArrangement, Table, presets};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Hosts that are named one by one in a list.
const MOST_NAMES: usize = 8;

/// The hosts of a lab.
pub fn hosts(entry: &Entry) -> String {
    let rows = entry.hosts.iter().map(|host| {
        let address6 = host.address6.map_or_else(|| "-".to_owned(), |address| address.to_string());
        let (mtu, rate) = (entry.topology.mtu.to_string(), rate(entry, &host.name));
        [host.name.clone(), host.address.to_string(), address6, host.interface.clone(), mtu, rate]
    });
    table(["host", "address", "IPv6 address", "interface", "MTU", "rate"], rows)
}

/// The rate from a host to others: the least and the most where they differ.
fn rate(entry: &Entry, host: &str) -> String {
    match entry.topology.rates(host) {
        None => "unlimited".to_owned(),
        Some((least, most)) if least == most => least.to_string(),
        Some((least, most)) => format!("{least} to {most}"),
    }
}

/// The faults in force: nothing where there is none.
pub fn faults(entry: &Entry) -> String {
    let rows = entry.faults.iter().map(|one| [one.fault.clone(), one.place.clone(), one.granted.clone()]);
    if entry.faults.is_empty() { String::new() } else { table(["fault", "in", "read back"], rows) }
}

/// How to use a lab.
pub fn usage(entry: &Entry, ends: &str) -> String {
    let name = &entry.name;
    let lab = if name == "lab" { String::new() } else { format!("--lab {name} ") };
    let (from, to) = match entry.hosts.as_slice() {
        [from, to, ..] => (from.name.as_str(), to.address.to_string()),
        _ => ("a", String::new()),
    };
    format!("the lab `{name}` is up; {ends}\ntry: linerate lab exec {lab}{from} -- ping -c 3 {to}\n")
}

/// One line a lab.
pub fn list(labs: &[Held]) -> String {
    let rows = labs.iter().map(|held| {
        let entry = &held.entry;
        let age = age_s(entry).map_or_else(|| "-".to_owned(), age);
        [entry.name.clone(), entry.pid.to_string(), age, names(entry), target(entry)]
    });
    table(["lab", "process", "age", "hosts", "topology"], rows)
}

/// The hosts' names, where they are few.
fn names(entry: &Entry) -> String {
    let names: Vec<&str> = entry.hosts.iter().map(|host| host.name.as_str()).collect();
    match names.as_slice() {
        [first, .., last] if names.len() > MOST_NAMES => format!("{first} … {last} ({})", names.len()),
        _ => names.join(" "),
    }
}

/// For a program.
pub fn list_json(labs: &[Held]) -> String {
    let labs: Vec<Value> = labs.iter().map(|held| lab_json(&held.entry)).collect();
    format!("{:#}\n", Value::from(labs))
}

fn lab_json(entry: &Entry) -> Value {
    let hosts = entry.hosts.iter().map(|host| {
        json!({
            "name": host.name,
            "address": host.address,
            "address6": host.address6,
            "interface": host.interface,
        })
    });
    let rates = entry.hosts.iter().filter_map(|host| Some(entry.topology.rates(&host.name)?.0.0));
    json!({
        "name": entry.name,
        "pid": entry.pid,
        "utc": entry.utc,
        "age_s": age_s(entry),
        "target": target(entry),
        "mtu_bytes": entry.topology.mtu,
        "rate_bps": rates.reduce(f64::min),
        "hosts": hosts.collect::<Vec<_>>(),
        "faults": entry.faults,
    })
}

fn target(entry: &Entry) -> String {
    Target::Lab(entry.topology.clone()).to_string()
}

fn age_s(entry: &Entry) -> Option<i64> {
    let begun = entry.utc.parse::<Timestamp>().ok()?;
    Some((Timestamp::now().as_second() - begun.as_second()).max(0))
}

fn age(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty().set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heads);
    rows.for_each(|row| {
        table.add_row(row);
    });
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
