//! The hosts and what differs between them; the commands that repeat the run.

use crate::record::{HostFacts, Recording};
use crate::report::figure::Sheet;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The longest value that a table shows.
const LONGEST: usize = 300;

/// A fact by its name: its value on each host.
type Facts = BTreeMap<String, Vec<Option<String>>>;

/// The environment of every recording.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    html! {
        section id="hosts" aria-labelledby="hosts-title" {
            h2 id="hosts-title" { "The hosts" }
            @for sheet in sheets { (hosts(sheet)) }
        }
    }
}

fn hosts(sheet: &Sheet) -> Markup {
    let hosts = &sheet.recording.hosts;
    let facts = facts(hosts);
    let names: Vec<String> = hosts.iter().map(|host| sheet_name(sheet, &host.host.to_string())).collect();
    let (same, differ): (Facts, Facts) =
        facts.into_iter().partition(|(_, values)| values.windows(2).all(|two| two[0] == two[1]));
    html! {
        @if hosts.len() > 1 {
            @if differ.is_empty() { p { "Nothing that was read differs between " (names.join(" and ")) "." } }
            @else { (table(&names, &differ, &sheet_name(sheet, "What differs between the hosts"))) }
        }
        details.long {
            summary { (same.len()) @if hosts.len() > 1 { " facts that are the same on all hosts" } @else { " facts" } }
            (table(&names[..names.len().min(1)], &same, &sheet_name(sheet, "What was read of the hosts")))
        }
    }
}

fn sheet_name(sheet: &Sheet, host: &str) -> String {
    if sheet.label.is_empty() { host.into() } else { format!("{} {host}", sheet.label) }
}

fn table(names: &[String], facts: &Facts, caption: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.facts {
                caption { (caption) }
                thead { tr { th scope="col" { "fact" } @for name in names { th scope="col" { (name) } } } }
                tbody {
                    @for (fact, values) in facts {
                        tr {
                            th scope="row" { (fact) }
                            @for value in values.iter().take(names.len()) { td { (value.as_deref().unwrap_or("not read")) } }
                        }
                    }
                }
            }
        }
    }
}

/// Every fact of every host; nothing where a host does not have it.
fn facts(hosts: &[HostFacts]) -> Facts {
    let each: Vec<BTreeMap<String, String>> = hosts.iter().map(flat).collect();
    let names: BTreeSet<&String> = each.iter().flat_map(BTreeMap::keys).collect();
    names
        .into_iter()
        .map(|name| (name.clone(), each.iter().map(|facts| facts.get(name).cloned()).collect()))
        .collect()
}

fn flat(host: &HostFacts) -> BTreeMap<String, String> {
    let environment = &host.environment;
    let interfaces = environment.interfaces.iter().flat_map(|(name, facts)| {
        facts.iter().map(move |(fact, value)| (format!("interface.{name}.{fact}"), value))
    });
    let plain = environment.host.iter().chain(&environment.stack).map(|(name, value)| (name.clone(), value));
    let known = plain.chain(interfaces).filter(|(_, value)| !value.is_null());
    let mut facts: BTreeMap<String, String> = known.map(|(name, value)| (name, shown(value))).collect();
    facts.insert("linerate.version".into(), host.version.clone());
    facts.insert("reached".into(), host.reached.clone());
    facts.extend(host.address.iter().map(|address| ("address".into(), address.clone())));
    facts
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { format!("{cut} …") } else { cut }
}

/// The commands that repeat the run and this page.
pub(super) fn commands(sheets: &[Sheet]) -> Markup {
    html! {
        section id="repeat" aria-labelledby="repeat-title" {
            h2 id="repeat-title" { "To repeat it" }
            @for sheet in sheets {
                @if !sheet.label.is_empty() { h3 { "Recording " (sheet.label) } }
                pre tabindex="0" { code { (again(sheet.recording)) } }
                @if sheet.report.imported.is_none() {
                    p {
                        "The seed puts everything in the same order again. The plan's hash is "
                        code { (sheet.report.run.plan_hash) } ": runs with the same hash measure the same."
                    }
                }
            }
            p { "The report of a recording, in any form:" }
            pre tabindex="0" { code { "linerate report FILE.jsonl --format html" } }
        }
    }
}

/// The arguments as they were given, with the seed that was drawn.
fn again(recording: &Recording) -> String {
    let mut words = vec!["linerate".to_owned()];
    if let Some(source) = &recording.source {
        words.extend(source.command.iter().skip(1).map(|word| quoted(word)));
        return words.join(" ");
    }
    let Some(header) = &recording.header else { return "not on record".into() };
    words.extend(header.command.iter().skip(1).map(|word| quoted(word)));
    if !header.command.iter().any(|word| word.starts_with("--seed")) {
        words.push(format!("--seed {}", header.plan.seed));
    }
    words.join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let cases = [
            ("lab:rate=1Gb/s", "lab:rate=1Gb/s"),
            ("ssh -F x", "'ssh -F x'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ];
        for (word, shown) in cases {
            assert_eq!(quoted(word), shown);
        }
    }
}
