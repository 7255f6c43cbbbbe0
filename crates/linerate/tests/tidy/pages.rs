//! Pages and lists: links resolve, no machine's paths, dependencies and expected skips are true.

use super::source::{File, paths, rust_files};
use super::{assert_kept, root};
use std::collections::BTreeSet;
use std::{fs, path::Path, process::Command};

/// The longest README.
const LONGEST_README: usize = 150;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Lines outside fenced code, with inline code blanked, numbered from 1.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let outside = line.split('`').step_by(2).collect::<Vec<_>>();
            lines.push((number, outside.join("`")));
        }
    }
    lines
}

/// The targets of `[text](target)`, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        found.extend(targets.map(|target| (number, target.to_owned())));
    }
    found
}

/// The anchors of a page's headings, by the rule of GitHub.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let Some(title) =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#') && !fenced)
        else {
            continue;
        };
        let kept = title.to_lowercase().replace(' ', "-");
        let anchor: String = kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
        let again = (1..).map(|n| format!("{anchor}-{n}"));
        let free = [anchor.clone()].into_iter().chain(again).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

#[test]
fn links_between_pages_resolve() {
    let mut breaches = Vec::new();
    for page in paths().into_iter().filter(|path| path.ends_with(".md")) {
        let text = read(&page);
        for (line, link) in links(&text).into_iter().filter(|(_, link)| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = Path::new(&page).parent().unwrap().join(file);
            let target = if file.is_empty() { Path::new(&page).to_owned() } else { target };
            if !root().join(&target).exists() {
                breaches
                    .push(format!("{page}:{line}: `{link}` leads to no file: correct or remove the link"));
            } else if !anchor.is_empty() && !anchors(&read(target.to_str().unwrap())).contains(anchor) {
                breaches.push(format!("{page}:{line}: `{link}` leads to no heading: correct the anchor"));
            }
        }
    }
    assert_kept(breaches);
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(
        (1..LONGEST_README).contains(&lines),
        "README.md:{lines}: under {LONGEST_README} lines: move it to docs/"
    );
}

/// Whether a line names a folder of the machine that it was written on.
fn machine_paths(line: &str) -> bool {
    let anywhere = [concat!("/wo", "rk/"), concat!("/tmp/", "wt"), concat!("..", "/shared/")];
    let starts_word = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "-_/".contains(c));
    let relative = concat!("sha", "red/");
    anywhere.iter().any(|path| line.contains(path))
        || line.match_indices(relative).any(|(at, _)| starts_word(at))
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let mut breaches = Vec::new();
    for path in paths() {
        for (number, line) in (1..).zip(read(&path).lines()) {
            if machine_paths(line) {
                breaches.push(format!(
                    "{path}:{number}: a path of one machine: say it without, or make it relative"
                ));
            }
        }
    }
    assert_kept(breaches);
}

/// The names of all direct dependencies, those within the workspace apart.
fn dependencies() -> BTreeSet<String> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let all = packages.flat_map(|package| package["dependencies"].as_array().unwrap());
    let outside = all.filter(|dependency| dependency.get("path").is_none());
    outside.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn dependencies_and_their_lines_are_the_same() {
    let page = "docs/DEPENDENCIES.md";
    let dependencies = dependencies();
    let mut listed = BTreeSet::new();
    let mut breaches = Vec::new();
    for (number, line) in (1..).zip(read(page).lines()) {
        let Some(name) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) else { continue };
        if !dependencies.contains(name) {
            breaches.push(format!("{page}:{number}: no crate depends on `{name}`: remove the line"));
        }
        if !listed.insert(name.to_owned()) {
            breaches.push(format!("{page}:{number}: `{name}` is listed twice: keep one line"));
        }
    }
    let missing = dependencies.difference(&listed);
    breaches.extend(
        missing.map(|name| format!("{page}:1: `{name}` is not listed: say what for and why this one")),
    );
    assert_kept(breaches);
}

/// The name of a test as `./test` prints it: binary, modules, function.
fn test_names(file: &File) -> Vec<String> {
    let path = file.path.trim_start_matches("crates/").trim_end_matches(".rs");
    let mut parts: Vec<_> = path.split('/').collect();
    if parts.get(1) == Some(&"tests") {
        parts.drain(..2);
    } else {
        parts.remove(1);
    }
    parts.retain(|part| !["lib", "main", "mod"].contains(part));
    let binary = parts.join("::").replace('-', "_");
    file.tests.iter().map(|test| format!("{binary}::{test}")).collect()
}

#[test]
fn expected_skips_name_tests_that_exist() {
    let page = "tests/expected-skips";
    let tests: BTreeSet<_> = rust_files().iter().flat_map(test_names).collect();
    let mut breaches = Vec::new();
    for (number, line) in (1..).zip(read(page).lines()).filter(|(_, line)| !line.starts_with('#')) {
        match line.split_once(": ") {
            Some((name, reason)) if tests.contains(name) && !reason.trim().is_empty() => (),
            Some((name, _)) => {
                breaches.push(format!("{page}:{number}: no test `{name}`, or no reason: correct it"))
            }
            None => breaches.push(format!("{page}:{number}: write `name: reason`")),
        }
    }
    assert_kept(breaches);
}

#[test]
fn links_and_anchors_are_understood() {
    let page =
        "# A page: `run`, 2 ends\n[a](b.md#c) and `[x](y)`\n```\n[n](o)\n# not\n```\n## A\n## A\n[d](<e>)\n";
    let found: Vec<_> = links(page).into_iter().map(|(_, link)| link).collect();
    assert_eq!(found, ["b.md#c", "<e>"]);
    assert_eq!(anchors(page), ["a", "a-1", "a-page-run-2-ends"].map(String::from).into());
}

#[test]
fn machine_paths_are_seen() {
    let folder = concat!("sha", "red/");
    assert!(machine_paths(&format!("see {folder}page.md")) && machine_paths(concat!("/tmp/", "wt/x")));
    assert!(!machine_paths(&format!("un{folder}x")) && !machine_paths("in-host.shared-memory"));
}

#[test]
fn tests_are_named_as_they_are_printed() {
    let text = "#[test]\nfn works() {}\nmod tests { #[test] fn inner() {} }\n";
    let names = |path: &str| test_names(&File::parse(path, text));
    assert_eq!(
        names("crates/linerate-sys/src/lib.rs"),
        ["linerate_sys::works", "linerate_sys::tests::inner"]
    );
    assert_eq!(names("crates/linerate/src/record/read.rs")[0], "linerate::record::read::works");
    assert_eq!(names("crates/linerate/tests/tidy/main.rs")[0], "tidy::works");
    assert_eq!(names("crates/linerate/tests/command.rs")[0], "command::works");
}
