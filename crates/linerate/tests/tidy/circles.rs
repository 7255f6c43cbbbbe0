//! No two files of a room need each other, not even by way of others: then each can be read after those that it needs.

use super::assert_kept;
use super::source::{File, Token, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// The crate and the modules that lead to a file.
type Path = Vec<String>;

/// The path of a file's module; none of what is no source.
fn path(file: &File) -> Option<Path> {
    let (name, path) = file.path.strip_prefix("crates/")?.split_once("/src/")?;
    let modules = path.trim_end_matches(".rs").split('/').filter(|part| !["lib", "main"].contains(part));
    Some(std::iter::once(name.replace('-', "_")).chain(modules.map(String::from)).collect())
}

/// Follows one path of a `use`, or of an expression, from a token on; gives the modules that it names, and where it ends.
fn follow(tokens: &[Token], mut at: usize, mut base: Path, found: &mut Vec<Path>) -> usize {
    loop {
        match tokens.get(at).map(|token| token.text.as_str()) {
            Some("super") => drop(base.pop()),
            Some("crate") => base.truncate(1),
            Some("{") => return follow_each(tokens, at, &base, found),
            Some(name) => base.push(name.to_owned()),
            None => break,
        }
        let goes_on =
            tokens.get(at + 1..at + 3).is_some_and(|next| next.iter().all(|token| token.text == ":"));
        if !goes_on {
            break;
        }
        at += 3;
    }
    found.push(base);
    at + 1
}

/// Follows each path between braces.
fn follow_each(tokens: &[Token], open: usize, base: &Path, found: &mut Vec<Path>) -> usize {
    let mut at = open + 1;
    while tokens.get(at).is_some_and(|token| token.text != "}") {
        at = follow(tokens, at, base.clone(), found);
        // What follows is a comma, or another name for it.
        while tokens.get(at).is_some_and(|token| token.text != "," && token.text != "}") {
            at += 1;
        }
        at += usize::from(tokens.get(at).is_some_and(|token| token.text == ","));
    }
    at + 1
}

/// What a file's code names that is not for tests.
fn named(file: &File, path: &Path) -> Vec<Path> {
    let mut found = Vec::new();
    for (at, token) in file.tokens.iter().enumerate() {
        let begins = ["super", "crate"].contains(&token.text.as_str());
        let goes_on = at > 0 && file.tokens[at - 1].text == ":";
        if begins && !goes_on && !token.scope.test && token.scope.modules.is_empty() {
            follow(&file.tokens, at, path.clone(), &mut found);
        }
    }
    found
}

/// Who names whom, room by room.
fn needs(files: &[File]) -> BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> {
    let paths: BTreeSet<Path> = files.iter().filter_map(path).collect();
    let mut rooms: BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (file, from) in files.iter().filter_map(|file| Some((file, path(file)?))) {
        for mut to in named(file, &from) {
            while !to.is_empty() && !paths.contains(&to) {
                to.pop();
            }
            let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            // A module and what is inside it may know each other; whole rooms have their law.
            if let (Some(one), Some(other), true) = (from.get(shared), to.get(shared), shared > 1) {
                let room = rooms.entry(from[..shared].to_vec()).or_default();
                room.entry(one.clone()).or_default().insert(other.clone());
            }
        }
    }
    rooms
}

/// All that is needed by way of others.
fn reach(needs: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(at) = next.pop() {
        let further = needs.get(&at).into_iter().flatten().filter(|name| reached.insert((*name).clone()));
        next.extend(further.cloned().collect::<Vec<_>>());
    }
    reached
}

/// Each circle of a room, as its names in their order.
fn circles(needs: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let of = |name: &String| {
        let reached = reach(needs, name);
        let back = |other: &&String| reach(needs, other).contains(name);
        reached.contains(name).then(|| reached.iter().filter(back).cloned().collect())
    };
    needs.keys().filter_map(of).collect()
}

#[test]
fn no_two_files_of_a_room_need_each_other() {
    let mut found = Vec::new();
    for (room, needs) in needs(&rust_files()) {
        let at = format!("{} {}", room[0], room[1..].join("/"));
        found.extend(
            circles(&needs)
                .into_iter()
                .map(|circle| format!("{at}: {}: they need each other in a circle", circle.join(" "))),
        );
    }
    assert_kept(found);
}

#[test]
fn a_circle_is_not_seen_through_tests() {
    let file = |path: &str, text: &str| File::parse(&format!("crates/x/src/{path}"), text);
    let of = |last: &str| {
        let files = [
            file("room.rs", "mod a; mod b; mod c;"),
            file("room/a.rs", "use super::{Item, b::{self, Thing}};"),
            file("room/b.rs", "use crate::room::c::Other as O;"),
            file("room/b/inner.rs", "use super::super::super::nowhere::x;"),
            file("room/c.rs", last),
        ];
        needs(&files).values().flat_map(circles).collect::<Vec<_>>()
    };
    assert_eq!(of("fn f() { super::a::g() }"), [["a", "b", "c"]]);
    assert!(of("#[cfg(test)] mod tests { use crate::room::a::g; }").is_empty());
}
