//! Hosts by name: a list with ranges as Slurm and ClusterShell write them, or a file of them.

use super::TargetError;
use super::pair::MOST_HOSTS;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The longest name of a host.
const LONGEST: usize = 255;

/// What a list looks like.
const HINT: &str = "try ssh://a,user@b:2222 or ssh://node[01-64]";

/// The hosts of `ssh://a,b,c`, `ssh://a,ssh://b`, `ssh://node[01-16,20]`.
pub(super) fn of_list(text: &str) -> Result<Vec<String>, TargetError> {
    let bad = || TargetError::new(format!("`{text}` is not a list of ssh hosts"), HINT);
    let mut hosts = Vec::new();
    for part in outside_brackets(text) {
        // The kind is said once at least.
        let part = part.strip_prefix("ssh://").unwrap_or(part);
        hosts.extend(expanded(part, MOST_HOSTS as usize)?);
        if !hosts.iter().all(|host| is_host(host)) {
            return Err(bad());
        }
    }
    checked(hosts)
}

/// The hosts of a file: one a line, or the `Host` lines of a configuration of OpenSSH, or the groups of an inventory of
/// Ansible in its INI form.
pub(super) fn of_file(name: &str, text: &str) -> Result<Vec<String>, TargetError> {
    let lines = || text.lines().map(|line| line.split(['#', ';']).next().unwrap_or("").trim());
    let is_openssh = lines().any(|line| host_words(line).is_some());
    let mut hosts = Vec::new();
    let mut is_of_hosts = true;
    for (number, line) in (1..).zip(lines()) {
        let words: Vec<(String, String)> = match (is_openssh, host_words(line)) {
            // Patterns name no host.
            (true, Some(words)) => {
                let names = words.split_whitespace().filter(|word| !word.contains(['*', '?', '!']));
                names.map(|name| (name.to_owned(), name.to_owned())).collect()
            }
            (true, None) => continue,
            (false, _) => with_variables(line).into_iter().collect(),
        };
        if !is_openssh && line.starts_with('[') && line.ends_with(']') && !line.contains("::") {
            // `[web:vars]` and `[all:children]` have settings and names of groups.
            is_of_hosts = !line.contains(':');
            continue;
        }
        for (alias, word) in words.into_iter().filter(|_| is_of_hosts) {
            let of_word = expanded(&word.replace(':', colon(&word)), MOST_HOSTS as usize)?;
            if let Some(bad) = of_word.iter().find(|host| !is_host(host)) {
                let shown: String = bad.chars().take(LONGEST_SHOWN).collect();
                let what = format!("{name}: line {number}: `{shown}` is no host");
                return Err(TargetError::new(what, "a line has one host, [user@]name[:port]"));
            }
            let alias_of =
                |host: String| if alias == word { (host.clone(), host) } else { (alias.clone(), host) };
            hosts.extend(of_word.into_iter().map(alias_of));
        }
    }
    if hosts.is_empty() {
        return Err(TargetError::new(format!("{name} names no host"), "write one name a line"));
    }
    // Groups of an inventory share hosts, whose variables stand with one of them.
    let mut seen = BTreeSet::new();
    let is_inventory = text.lines().any(|line| line.trim_start().starts_with('['));
    if is_inventory {
        let told: BTreeMap<String, String> =
            hosts.iter().filter(|(alias, host)| alias != host).cloned().collect();
        hosts.retain(|(alias, _)| seen.insert(alias.clone()));
        for (alias, host) in &mut hosts {
            *host = told.get(alias).cloned().unwrap_or_else(|| host.clone());
        }
    }
    checked(hosts.into_iter().map(|(_, host)| host).collect())
        .map_err(|error| TargetError::new(format!("{name}: {}", error.what), error.hint))
}

/// A host of an inventory, where and as whom its variables say that it is reached.
fn with_variables(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    let alias = words.next()?;
    let variables: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
    // The second is the older name of the first.
    let said = |name: &str| {
        let is_it =
            |key: &str| [format!("ansible_{name}"), format!("ansible_ssh_{name}")].iter().any(|it| it == key);
        variables.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value.trim_matches(['"', '\'']))
    };
    let user = said("user").map_or(String::new(), |user| format!("{user}@"));
    let port = said("port").map_or(String::new(), |port| format!(":{port}"));
    Some((alias.to_owned(), format!("{user}{}{port}", said("host").unwrap_or(alias))))
}

/// So much of a wrong name is repeated.
const LONGEST_SHOWN: usize = 40;

/// What a colon of a word stands for: in Ansible's `node[01:16]` a range.
fn colon(word: &str) -> &'static str {
    let inside = word.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let is_range = inside.is_some_and(|(inside, after)| {
        inside.split(':').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
            && !after.contains(':')
    });
    if is_range { "-" } else { ":" }
}

/// The names behind `Host` in a configuration of OpenSSH.
fn host_words(line: &str) -> Option<&str> {
    let (first, rest) = line.split_once([' ', '\t', '='])?;
    first.eq_ignore_ascii_case("host").then_some(rest.trim())
}

/// The parts between commas that are in no brackets.
fn outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begun) = (Vec::new(), 0usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[begun..at]);
                begun = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begun..]);
    parts
}

/// The names of one part: `node[01-03]` is three. Brackets with something else in them, as of an IPv6 address, stay.
fn expanded(part: &str, most: usize) -> Result<Vec<String>, TargetError> {
    let is_range = |inside: &str| {
        !inside.is_empty() && inside.chars().all(|c| c.is_ascii_digit() || c == '-' || c == ',')
    };
    let found = part.match_indices('[').find_map(|(open, _)| {
        let (inside, after) = part[open + 1..].split_once(']')?;
        is_range(inside).then_some((&part[..open], inside, after))
    });
    let Some((before, inside, after)) = found else { return Ok(vec![part.into()]) };
    let rest = expanded(after, most)?;
    let mut names = Vec::new();
    for number in numbers(inside, part, most)? {
        for rest in &rest {
            names.push(format!("{before}{number}{rest}"));
            if names.len() > most {
                return Err(too_many(&format!("`{}` has more than {most} hosts", shown(part))));
            }
        }
    }
    Ok(names)
}

fn shown(part: &str) -> String {
    part.chars().take(LONGEST_SHOWN).collect()
}

fn too_many(what: &str) -> TargetError {
    TargetError::new(what, format!("at most {MOST_HOSTS} take part in a run"))
}

/// `01-03,7` as `01`, `02`, `03`, `7`: as many digits as the first one has.
fn numbers(inside: &str, part: &str, most: usize) -> Result<Vec<String>, TargetError> {
    let bad =
        |why: &str| TargetError::new(format!("`{}`: {why}", shown(part)), "a range is written node[01-64]");
    let mut all = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let read = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() <= 9);
        let (Some(low), Some(high)) = (read(first), read(last)) else {
            return Err(bad("a range has no number, or one that is too large"));
        };
        if high < low {
            return Err(bad("a range is empty: it ends before it begins"));
        }
        if (high - low) as usize + all.len() >= most {
            return Err(too_many(&format!("`{}` has more than {most} hosts", shown(part))));
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        all.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

/// As many as can take part, each once.
fn checked(hosts: Vec<String>) -> Result<Vec<String>, TargetError> {
    if hosts.len() > MOST_HOSTS as usize {
        return Err(too_many(&format!("{} hosts are given", hosts.len())));
    }
    let mut seen = BTreeSet::new();
    match hosts.iter().find(|host| !seen.insert(host.as_str())) {
        Some(twice) => Err(TargetError::new(format!("{twice} is named twice"), "name each host once")),
        None => Ok(hosts),
    }
}

/// Hosts as a recording has them: it may be a stranger's, and what it names is called.
pub(super) fn names<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let hosts = Vec::<String>::deserialize(from)?;
    match hosts.iter().find(|host| !is_host(host)) {
        Some(bad) => Err(serde::de::Error::custom(format!("`{bad}` is no host"))),
        None => Ok(hosts),
    }
}

/// No blank and no leading dash, so that a host can never be read as an option of ssh.
pub(super) fn is_host(host: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "@.:-_[]%".contains(c);
    !host.is_empty() && !host.starts_with('-') && host.len() <= LONGEST && host.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        of_list(text).unwrap().join(" ")
    }

    #[test]
    fn a_recordings_hosts_are_checked_as_typed_ones() {
        use crate::plan::Target;
        assert!(serde_json::from_str::<Target>(r#"{"ssh":["a","root@b:2222"]}"#).is_ok());
        for host in ["$(cmd)", "-oProxyCommand=x", "a b", ""] {
            let text = serde_json::json!({ "ssh": [host] }).to_string();
            assert!(serde_json::from_str::<Target>(&text).is_err(), "{host}");
        }
    }

    #[test]
    fn lists_and_ranges_are_read() {
        for (text, expected) in [
            ("ssh://a,b,ssh://c", "a b c"),
            ("ssh://node[01-03]", "node01 node02 node03"),
            ("ssh://node[9-11].example", "node9 node10 node11.example"),
            ("ssh://root@n[1,3-4]:22,x", "root@n1:22 root@n3:22 root@n4:22 x"),
            ("ssh://r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02"),
            ("ssh://[::1]", "[::1]"),
        ] {
            let expected = expected.replace("node9 node10 ", "node9.example node10.example ");
            assert_eq!(names(text), expected, "{text}");
        }
        assert_eq!(of_list("ssh://node[01-64]").unwrap().len(), 64);
    }

    #[test]
    fn what_is_no_list_is_one_clear_error() {
        for (text, part) in [
            ("ssh://a,b,a", "a is named twice"),
            ("ssh://node[1-2],node2", "node2 is named twice"),
            ("ssh://node[5-3]", "a range is empty"),
            ("ssh://node[1-]", "no number"),
            ("ssh://node[1-999999999]", "more than 64 hosts"),
            ("ssh://node[1-99999999999999999999]", "too large"),
            ("ssh://a[1-9]b[1-9]c[1-9]", "more than 64 hosts"),
            ("ssh://node[1-65]", "more than 64 hosts"),
            ("ssh://", "not a list"),
        ] {
            let error = of_list(text).unwrap_err();
            assert!(error.what.contains(part) && !error.hint.is_empty(), "{text}: {error:?}");
        }
    }

    #[test]
    fn files_of_three_kinds_are_read() {
        let plain = "# the first rack\nnode1\nroot@node2:2222  # by root\n\nnode[3-4] slots=8\n";
        let openssh =
            "Host *\n  User me\nHost node1 node2 !node3\n  HostName 192.0.2.1\nHost gate-*\nHost=node4\n";
        let ansible = "node1 ansible_user=me\n[web]\nnode[2:3]\nnode4\n[web:vars]\nx=1\n[db]\nnode2\nnode4 ansible_host=192.0.2.7 ansible_port=2222\n[all:children]\nweb\n";
        for (text, expected) in [
            (plain, "node1 root@node2:2222 node3 node4"),
            (openssh, "node1 node2 node4"),
            (ansible, "me@node1 node2 node3 192.0.2.7:2222"),
        ] {
            assert_eq!(of_file("hosts", text).unwrap().join(" "), expected);
        }
        for (text, part) in [
            ("", "names no host"),
            ("# nobody\n", "names no host"),
            ("a\na\n", "hosts: a is named twice"),
            ("-oProxyCommand=x\n", "line 1"),
            ("n[1-900]\n", "more than 64"),
        ] {
            let error = of_file("hosts", text).unwrap_err();
            assert!(error.what.contains(part), "{text}: {error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_given_is_read_or_refused(text in "[a-c0-9,:@/ =#\n\\[\\]-]{0,60}") {
            for hosts in [of_list(&text), of_file("hosts", &text)].into_iter().flatten() {
                proptest::prop_assert!(hosts.len() <= 64 && hosts.iter().all(|host| is_host(host)));
            }
        }
    }
}
