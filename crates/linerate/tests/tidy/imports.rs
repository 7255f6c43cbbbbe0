//! Which room may import which, and what a room must never touch.

use super::assert_kept;
use super::source::{File, rust_files};

/// Where a room stands.
#[derive(Clone, Copy)]
enum Floor {
    /// The live half, and below it what both halves share: imports lower levels.
    Level(u32),
    /// The desk half: imports levels 0 to 2 and lower desk rooms.
    Desk(u32),
    /// Imports everything.
    Top,
}
use Floor::{Desk, Level, Top};

/// The law, for all crates together: a room is called the same in each. Rooms on the same floor do not import each other.
const ROOMS: &[(&str, Floor)] = &[
    ("error", Level(0)),
    ("statistic", Level(0)),
    ("unit", Level(0)),
    ("vocabulary", Level(0)),
    ("plan", Level(1)),
    ("published", Level(1)),
    ("record", Level(2)),
    ("lab", Level(3)),
    ("observer", Level(3)),
    ("pattern", Level(3)),
    ("state", Level(3)),
    ("control", Level(3)),
    ("transport", Level(4)),
    ("calibration", Level(5)),
    ("trace", Level(5)),
    ("workload", Level(5)),
    ("run", Level(6)),
    ("analysis", Desk(1)),
    ("diagnosis", Desk(2)),
    ("schedule", Desk(2)),
    ("report", Desk(3)),
    ("simulation", Desk(3)),
    ("cli", Top),
];

/// The highest level that the desk half may import.
const SHARED: u32 = 2;

/// What the desk half and the levels below it never touch: hosts, processes, files, time.
const WORLD: &[&[&str]] = &[
    &["linerate_sys"],
    &["Instant"],
    &["SystemTime"],
    &["std", ":", ":", "env"],
    &["std", ":", ":", "fs"],
    &["std", ":", ":", "net"],
    &["std", ":", ":", "os"],
    &["std", ":", ":", "process"],
    // A scoped thread ends before its function does, and only computes.
    &["thread", ":", ":", "available_parallelism"],
    &["thread", ":", ":", "current"],
    &["thread", ":", ":", "sleep"],
    &["thread", ":", ":", "spawn"],
    &[".", "spawn", "("],
];

/// What only `cli` does: read arguments and the environment, end the process.
const CLI_ONLY: &[&[&str]] = &[
    &["env", ":", ":", "args"],
    &["env", ":", ":", "args_os"],
    &["env", ":", ":", "var"],
    &["env", ":", ":", "var_os"],
    &["env", ":", ":", "vars"],
    &["process", ":", ":", "exit"],
];

fn floor(room: &str) -> Option<Floor> {
    ROOMS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

impl std::fmt::Display for Floor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Level(level) => write!(f, "level {level}"),
            Desk(level) => write!(f, "desk {level}"),
            Top => write!(f, "top"),
        }
    }
}

fn may_import(from: Floor, to: Floor) -> bool {
    match (from, to) {
        (Top, _) => true,
        (Level(from), Level(to)) => to < from,
        (Desk(_), Level(to)) => to <= SHARED,
        (Desk(from), Desk(to)) => to < from,
        _ => false,
    }
}

/// The room that a file of the crate belongs to; none for `lib.rs` and `main.rs`.
fn room_of(file: &File) -> Option<&str> {
    let path = file.in_src()?;
    let room = path.split(['/', '.']).next()?;
    (room != "lib" && room != "main").then_some(room)
}

/// The rooms that a file names, each with the token's place: `crate::room`, or `super` up to the crate.
fn rooms_named(file: &File) -> Vec<(String, String)> {
    let depth = file.in_src().map_or(0, |path| path.split('/').count());
    let mut named = Vec::new();
    for (at, token) in file.tokens.iter().enumerate() {
        let is_start = at < 3 || !file.reads(at - 3, &["super", ":", ":"]);
        let supers = (0..).take_while(|n| file.reads(at + 3 * n, &["super", ":", ":"])).count();
        let after = match token.text.as_str() {
            "crate" if file.reads(at, &["crate", ":", ":"]) => at + 3,
            "super" if is_start && supers >= depth + token.scope.modules.len() => at + 3 * supers,
            _ => continue,
        };
        named.extend(heads(file, after));
    }
    named
}

/// The first word of each path in `room::x` or `{room::x, other::{y, z}}`.
fn heads(file: &File, at: usize) -> Vec<(String, String)> {
    let head = |at: usize| {
        let token = &file.tokens[at];
        let room = if ["Error", "Result", "FailureOrigin"].contains(&token.text.as_str()) {
            "error"
        } else {
            &token.text
        };
        (room.to_owned(), file.at(token))
    };
    let first = &file.tokens[at];
    if first.text != "{" {
        return vec![head(at)];
    }
    let inside = (at + 1..file.tokens.len()).take_while(|n| file.tokens[*n].depth > first.depth);
    let starts = inside.filter(|n| {
        file.tokens[*n].depth == first.depth + 1 && ["{", ","].contains(&file.tokens[*n - 1].text.as_str())
    });
    starts.map(head).collect()
}

#[test]
fn rooms_import_only_what_the_law_allows() {
    let mut breaches = Vec::new();
    for file in rust_files() {
        let Some(room) = room_of(&file) else { continue };
        let Some(from) = floor(room) else {
            breaches.push(format!("{}:1: `{room}` has no floor: add it to ROOMS in {}", file.path, file!()));
            continue;
        };
        for (other, place) in rooms_named(&file) {
            let allowed = other == room || floor(&other).is_some_and(|to| may_import(from, to));
            if !allowed {
                let to = floor(&other).map_or("no room".into(), |to| to.to_string());
                let what = format!("`{room}` ({from}) imports `{other}` ({to})");
                breaches.push(format!("{place}: {what}: move the code down, or pass the value in"));
            }
        }
    }
    assert_kept(breaches);
}

/// Every place outside tests where a file says one of `words`.
fn places(file: &File, words: &[&[&str]]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, token) in file.tokens.iter().enumerate().filter(|(_, token)| !token.scope.test) {
        let hit = words.iter().find(|words| file.reads(at, words));
        found.extend(hit.map(|words| (file.at(token), words.concat())));
        if file.reads(at, &["std", ":", ":", "{"]) {
            let heads = heads(file, at + 3).into_iter();
            let hits = heads.map(|(head, place)| (place, format!("std::{head}")));
            found.extend(hits.filter(|(_, path)| words.iter().any(|words| words.concat() == *path)));
        }
    }
    found
}

#[test]
fn the_desk_half_never_touches_the_world() {
    let mut breaches = Vec::new();
    for file in rust_files() {
        let desk = match room_of(&file) {
            None | Some("error") => continue, // an error may carry that of a system call
            Some("record") => continue,       // it is the file
            Some(room) => matches!(floor(room), Some(Desk(_) | Level(0..=SHARED))),
        };
        let found = if desk { places(&file, WORLD) } else { Vec::new() };
        breaches.extend(found.into_iter().map(|(place, what)| {
            format!("{place}: `{what}` in a room that only computes: let `run` or `cli` do it and pass the value in")
        }));
    }
    assert_kept(breaches);
}

#[test]
fn only_cli_reads_the_environment_and_exits() {
    let files = rust_files();
    let others = files.iter().filter(|file| file.path.contains("/src/") && room_of(file) != Some("cli"));
    let found = others.flat_map(|file| places(file, CLI_ONLY));
    let breach = |(place, what)| format!("{place}: `{what}` outside `cli`: let `cli` read it and pass it in");
    assert_kept(found.map(breach).collect());
}

#[test]
fn the_program_is_only_the_command_line() {
    let files = rust_files();
    let main = files.iter().find(|file| file.in_src() == Some("main.rs")).unwrap();
    let calls = (0..main.tokens.len()).filter(|at| main.reads(*at, &["linerate", ":", ":"]));
    let strange = calls.filter(|at| main.tokens[at + 3].text != "cli");
    let breach =
        |at: usize| format!("{}: main.rs only calls `cli`: move it there", main.at(&main.tokens[at]));
    assert_kept(strange.map(breach).collect());
}

#[test]
fn paths_are_understood() {
    let text = "use crate::{Error, plan::{self, Step}, vocabulary::find};\nuse super::sibling;\n\
                fn f() { crate::run::go(); }\nmod tests { use super::super::super::lab::x; use super::y; }\n";
    let file = File::parse("crates/linerate/src/record/read.rs", text);
    let named: Vec<_> = rooms_named(&file).into_iter().map(|(room, _)| room).collect();
    assert_eq!(named, ["error", "plan", "vocabulary", "run", "lab"]);
    assert_eq!(room_of(&file), Some("record"));
    assert!(
        may_import(Desk(3), Level(2)) && !may_import(Desk(1), Level(3)) && !may_import(Level(3), Level(3))
    );
}

#[test]
fn the_world_is_seen_in_every_spelling() {
    let text = "use std::{fmt, fs, time::Instant};\nfn f() { std::env::var(\"X\"); }\n";
    let file = File::parse("crates/linerate/src/report.rs", text);
    let found: Vec<_> = places(&file, WORLD).into_iter().map(|(_, what)| what).collect();
    assert_eq!(found, ["std::fs", "Instant", "std::env"]);
    assert_eq!(places(&file, CLI_ONLY).len(), 1);
}
