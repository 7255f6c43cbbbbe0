//! The names of all tables as text: for `linerate explain`, for `linerate list`, and as pages.

use super::note;
use super::published::PUBLISHED;
use crate::plan::PROFILES;
use crate::vocabulary::{Explanation, KINDS, Kind, distance};

/// The width of an explanation.
const WIDTH: usize = 100;
/// The names that are offered instead of one that is not known.
const NEAR: usize = 3;

const PROFILE: Kind = Kind {
    name: "profile",
    plural: "profiles",
    about: "How much is measured: `--profile NAME`.",
    page: "stopping.md",
    collect: profiles,
};

fn profiles() -> Vec<Explanation> {
    let profile = |name, about: &str| Explanation {
        name,
        definition: about.into(),
        source: "T. Hoefler, R. Belli: Scientific Benchmarking of Parallel Computing Systems, SC15".into(),
        try_this: format!("linerate run lab --profile {name}"),
        ..Explanation::default()
    };
    PROFILES.iter().map(|shipped| profile(shipped.name, shipped.about)).collect()
}

/// Every kind of name.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    const LAST: &[Kind] = &[PROFILE, PUBLISHED];
    KINDS.iter().chain(LAST)
}

/// What a name means, once for each kind that has it; or the names nearest to it.
pub fn explain(name: &str) -> Result<String, Vec<&'static str>> {
    let all: Vec<Explanation> = kinds().flat_map(Kind::explanations).collect();
    let found: Vec<String> =
        all.iter().filter(|one| is_called(one.name, name)).map(explanation_text).collect();
    if !found.is_empty() {
        return Ok(found.join("\n"));
    }
    let wanted = name.to_lowercase();
    let holds = |one: &str| wanted.len() > 2 && one.contains(&wanted);
    let mut names: Vec<&'static str> = all.iter().map(|one| one.name).collect();
    names.sort_by_key(|one| (!holds(one), distance(one, &wanted)));
    names.dedup();
    names.retain(|one| holds(one) || distance(one, &wanted) <= 1 + wanted.len() / 3);
    names.truncate(NEAR);
    Err(names)
}

/// Whether a name is this one; `*` in the table stands for anything but nothing.
fn is_called(known: &str, name: &str) -> bool {
    match known.split_once('*') {
        Some((head, tail)) if known != name => {
            name.len() > head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
        _ => known == name,
    }
}

/// All names, kind by kind.
pub fn names() -> String {
    let line = |kind: &Kind| {
        let names: Vec<&str> = kind.explanations().iter().map(|one| one.name).collect();
        (kind.plural.to_owned(), names.join(", "))
    };
    let rows: Vec<(String, String)> = kinds().map(line).collect();
    format!("{}\n\n`linerate explain NAME` tells what a name means.\n", note::lines(&rows, WIDTH).join("\n"))
}

/// What the formula of a kind is called where it is none.
const FORMULAS: &[(&str, &str)] = &[("break", "when"), ("warning", "when"), ("fault", "model")];

/// The parts of an explanation that are not empty: what each is called, and its text.
fn parts(one: &Explanation) -> Vec<(&'static str, &str)> {
    let named = FORMULAS.iter().find(|(kind, _)| *kind == one.kind);
    let formula = named.map_or("formula", |(_, name)| *name);
    let facts = one.facts.iter().map(|(name, text)| (*name, text.as_str()));
    let ends = [("source", one.source.as_str()), ("try", one.try_this.as_str())];
    let parts = [(formula, one.formula.as_str())].into_iter().chain(facts).chain(ends);
    parts.filter(|(_, text)| !text.is_empty()).collect()
}

/// One explanation for a terminal.
fn explanation_text(one: &Explanation) -> String {
    let mut rows = vec![(one.kind.to_owned(), note::sentence(&one.definition))];
    rows.extend(parts(one).into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())));
    let page = page_of(one);
    if !page.is_empty() {
        rows.push(("more".into(), format!("docs/method/{page}")));
    }
    format!("{}\n{}\n", one.name, note::lines(&rows, WIDTH).join("\n"))
}

/// The page of the method: its own, or that of its kind.
fn page_of(one: &Explanation) -> &'static str {
    let of_kind = || kinds().find(|kind| kind.name == one.kind).map_or("", |kind| kind.page);
    if one.page.is_empty() { of_kind() } else { one.page }
}

const WRITTEN: &str =
    "<!-- Written from the tables by `UPDATE_REFERENCE=1 cargo test --test integration reference::`. -->";

/// The reference as pages: file names and texts.
pub fn pages() -> Vec<(String, String)> {
    let rows = kinds().map(|kind| format!("| [{0}]({0}.md) | {1} |\n", kind.plural, kind.about));
    let index = format!(
        "# Reference\n\n{WRITTEN}\n\nEvery name that a flag, a plan, a report or a warning may hold. \
         `linerate explain NAME` prints the same.\nHow the numbers come about is in the \
         [method](../method/README.md).\n\n| names | what they stand for |\n|---|---|\n{}",
        rows.collect::<String>()
    );
    let pages = kinds().map(|kind| (format!("{}.md", kind.plural), page(kind)));
    std::iter::once(("README.md".to_owned(), index)).chain(pages).collect()
}

fn page(kind: &Kind) -> String {
    let method = match kind.page {
        "" => "How it comes about is in the [method](../method/README.md).".to_owned(),
        page => format!("How it comes about: [{0}](../method/{0}).", page),
    };
    let sections: String = kind.explanations().iter().map(section).collect();
    format!("# {}\n\n{WRITTEN}\n\n{} {method}\n{sections}", note::sentence(kind.plural), kind.about)
}

fn section(one: &Explanation) -> String {
    let mut text = format!("\n## `{}`\n\n{}.\n\n", one.name, note::sentence(&one.definition));
    for (name, part) in parts(one) {
        let part = if name == "formula" { format!("`{part}`") } else { part.to_owned() };
        text += &format!("- {name}: {part}\n");
    }
    if !one.page.is_empty() {
        text += &format!("- more: [{0}](../method/{0})\n", one.page);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained() {
        for one in kinds().flat_map(Kind::explanations) {
            let text = explain(one.name).unwrap();
            assert!(text.starts_with(one.name) && text.contains(one.kind), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }

    #[test]
    fn a_number_of_a_cpu_is_found() {
        assert!(explain("cpu.17.busy").unwrap().starts_with("cpu.*.busy"));
        assert!(explain("cpu..busy").is_err(), "nothing stands for the star");
    }

    #[test]
    fn an_unknown_name_finds_its_neighbours() {
        assert_eq!(explain("sender-cpi").unwrap_err()[0], "sender-cpu");
        assert!(explain("buffer-limited").unwrap_err().contains(&"tcp.send-buffer-limited"));
        assert!(
            ["qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq", "zzyzx", ""]
                .iter()
                .all(|name| explain(name).unwrap_err().is_empty())
        );
    }

    #[test]
    fn one_name_of_two_kinds_is_explained_twice() {
        let text = explain("retransmits").unwrap();
        assert!(text.contains("metric") && text.contains("warning"), "{text}");
    }

    #[test]
    fn the_names_are_listed_by_kind() {
        let text = names();
        for part in ["metrics", "throughput", "knobs", "socket.send-buffer", "profiles", "quick"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
