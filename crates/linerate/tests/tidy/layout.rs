//! Lengths, module docs, names of modules and tests, prints, `unsafe`, and that every file is in the build.

use super::assert_kept;
use super::source::{File, rust_files};
use std::collections::BTreeSet;

/// From when on a length is noted, and from when on it fails: it is a smell long before it is a wall.
const FUNCTION: [usize; 2] = [60, 90];
const FILE: [usize; 2] = [400, 600];
/// `room.rs` states a contract; its implementers are in `room/`.
const ROOM: [usize; 2] = [200, 300];

/// A test's name says the case; what is longer tells a story.
const TEST_NAME: usize = 60;

/// Names that say nothing about what is inside.
const DRAWERS: &[&str] =
    &["core", "common", "util", "utils", "types", "helper", "helpers", "manager", "managers", "misc"];

const PRINTS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Each function's name, first line and length, its signature and both braces included.
fn functions(file: &File) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (at, token) in file.tokens.iter().enumerate() {
        let Some(name) = file.tokens.get(at + 1).filter(|name| token.text == "fn" && name.text != "(") else {
            continue; // `fn(u8)` is a type
        };
        let same_depth = file.tokens[at..].iter().filter(|t| t.depth == token.depth);
        let mut body = same_depth.skip_while(|t| t.text != "{" && t.text != ";");
        if body.next().is_some_and(|t| t.text == "{")
            && let Some(end) = body.find(|t| t.text == "}")
        {
            found.push((name.text.clone(), token.line, end.line - token.line + 1));
        }
    }
    found
}

/// The breach where something is far too long; what is only long is noted, and `./test` tells it.
fn too_long(what: &str, lines: usize, [long, longest]: [usize; 2], remedy: &str) -> Option<String> {
    if lines > long && lines <= longest {
        println!("NOTE: {what} has {lines} lines, of {long} that are usual: {remedy}");
    }
    (lines > longest).then(|| format!("{what} has {lines} of at most {longest} lines: {remedy}"))
}

#[test]
fn functions_are_short() {
    let mut breaches = Vec::new();
    for file in rust_files() {
        breaches.extend(functions(&file).into_iter().filter_map(|(name, line, lines)| {
            too_long(&format!("{}:{line}: `{name}`", file.path), lines, FUNCTION, "name its parts")
        }));
    }
    assert_kept(breaches);
}

#[test]
fn files_are_short() {
    let mut breaches = Vec::new();
    for file in rust_files() {
        let is_room = file.in_src().is_some_and(|path| !path.contains('/'));
        let limits = if is_room { ROOM } else { FILE };
        let remedy = if is_room { "move implementers into the room's folder" } else { "cut it by duty" };
        breaches.extend(too_long(&file.path, file.text.lines().count(), limits, remedy));
    }
    assert_kept(breaches);
}

#[test]
fn files_say_what_they_are() {
    let silent = rust_files().into_iter().filter(|file| !file.text.starts_with("//! "));
    assert_kept(silent.map(|file| format!("{}:1: begin with `//!` and a sentence", file.path)).collect());
}

#[test]
fn modules_are_named_after_what_they_hold() {
    let mut breaches = Vec::new();
    for file in rust_files() {
        let bad = file.declared.iter().filter(|module| DRAWERS.contains(&module.name.as_str()));
        breaches.extend(bad.map(|module| {
            format!(
                "{}:{}: a module called `{}`: name it after its duty",
                file.path, module.line, module.name
            )
        }));
        let parts = file.path.trim_end_matches(".rs").split('/');
        let bad = parts.filter(|part| DRAWERS.contains(part));
        breaches
            .extend(bad.map(|part| format!("{}:1: `{part}` in the path: name it after its duty", file.path)));
    }
    assert_kept(breaches);
}

#[test]
fn test_names_are_short() {
    let mut breaches = Vec::new();
    for file in rust_files() {
        let names = file.tests.iter().filter_map(|test| test.split("::").last());
        breaches.extend(names.filter(|name| name.len() > TEST_NAME).map(|name| {
            let characters = name.len();
            format!(
                "{}: `{name}` has {characters} of at most {TEST_NAME} characters: say the case",
                file.path
            )
        }));
    }
    assert_kept(breaches);
}

#[test]
fn only_cli_prints() {
    let mut breaches = Vec::new();
    for file in rust_files().iter().filter(|file| file.path.contains("/src/")) {
        if file.in_src().is_some_and(|path| path == "cli.rs" || path.starts_with("cli/")) {
            continue;
        }
        for (at, token) in file.tokens.iter().enumerate().filter(|(_, token)| !token.scope.test) {
            if PRINTS.contains(&token.text.as_str()) && file.reads(at + 1, &["!"]) {
                let place = file.at(token);
                breaches.push(format!(
                    "{place}: `{}!` outside `cli`: return the text or emit an event",
                    token.text
                ));
            }
        }
    }
    assert_kept(breaches);
}

#[test]
fn unsafe_code_is_in_linerate_sys() {
    let mut breaches = Vec::new();
    for file in rust_files().iter().filter(|file| !file.path.starts_with("crates/linerate-sys/")) {
        let found = file.tokens.iter().filter(|token| token.text == "unsafe");
        breaches.extend(found.map(|token| {
            format!("{}: `unsafe` outside linerate-sys: make a safe function there", file.at(token))
        }));
    }
    assert_kept(breaches);
}

/// The files that `mod` lines reach from `start`, itself included.
fn reach(files: &[File], start: &str, reached: &mut BTreeSet<String>) {
    let Some(file) = files.iter().find(|file| file.path == start) else { return };
    reached.insert(start.into());
    for module in file.declared.iter().filter(|module| !module.inline) {
        file.places(module).iter().for_each(|place| reach(files, place, reached));
    }
}

#[test]
fn every_file_is_in_the_build() {
    let files = rust_files();
    let mut reached = BTreeSet::new();
    let starts = files
        .iter()
        .filter(|file| ["/src/lib.rs", "/src/main.rs"].iter().any(|end| file.path.ends_with(end)));
    starts.for_each(|start| reach(&files, &start.path, &mut reached));
    let sources = files.iter().filter(|file| file.path.contains("/src/"));
    let lost = sources.filter(|file| !reached.contains(&file.path));
    assert_kept(
        lost.map(|file| format!("{}:1: no `mod` line reaches it: declare or delete it", file.path)).collect(),
    );
}

#[test]
fn functions_are_measured() {
    let text = "trait T { fn declared(); }\nimpl T for X {\n    fn one(\n        a: fn(u8) -> u8,\n    ) {\n        { }\n    }\n}\n";
    assert_eq!(functions(&File::parse("x.rs", text)), [("one".to_owned(), 3, 5)]);
}
