//! Finds the commands that pages and the help show.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_linerate");

/// Pages above `docs/` that show commands.
const TOP: [&str; 3] = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];

/// How a line of a block begins that is a command.
const STARTS: [&str; 5] = ["linerate ", "cargo ", "./test", "mkdocs ", "ssh "];

/// In which form a command is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A line of a block, or of an example of the help.
    Line,
    /// A block marked `sh`: one script.
    Script,
    /// A command within a sentence.
    Inline,
}

/// A command, and where it stands.
#[derive(Debug)]
pub struct Documented {
    pub place: String,
    pub kind: Kind,
    pub text: String,
}

/// The top of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap()
}

/// The commands of all pages.
pub fn pages() -> Vec<Documented> {
    let mut paths: Vec<PathBuf> = TOP.iter().map(|name| root().join(name)).collect();
    collect(&root().join("docs"), &mut paths);
    paths.sort();
    let found = paths.iter().flat_map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        of_page(&name, &fs::read_to_string(path).unwrap())
    });
    found.collect()
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}

/// The commands of one page, in their order.
fn of_page(name: &str, text: &str) -> Vec<Documented> {
    let mut found = Vec::new();
    let mut add = |line: usize, kind, text: &str| {
        let place = format!("{name}:{line}");
        found.push(Documented { place, kind, text: text.trim().to_owned() });
    };
    let mut fence: Option<(usize, String, Vec<&str>)> = None;
    let mut paragraph: Vec<&str> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).chain([(0, "")]) {
        if let Some(marker) = line.trim_start().strip_prefix("```") {
            match fence.take() {
                Some((start, language, lines)) => of_block(start, &language, &lines, &mut add),
                None => fence = Some((number, marker.trim().to_owned(), Vec::new())),
            }
        } else if let Some((_, _, lines)) = &mut fence {
            lines.push(line);
        } else if let Some(code) = line.strip_prefix("    ").filter(|_| paragraph.is_empty()) {
            if is_command(code) {
                add(number, Kind::Line, without_comment(code));
            }
        } else if line.trim().is_empty() {
            let at = number.saturating_sub(paragraph.len());
            spans(&paragraph.join("\n")).iter().for_each(|span| add(at, Kind::Inline, span));
            paragraph.clear();
        } else {
            paragraph.push(line);
        }
    }
    found
}

/// The commands of a fenced block: a script as a whole, or what stands behind a prompt.
fn of_block(start: usize, language: &str, lines: &[&str], add: &mut impl FnMut(usize, Kind, &str)) {
    if language == "sh" {
        add(start, Kind::Script, &lines.join("\n"));
        return;
    }
    for (number, line) in (start + 1..).zip(lines) {
        if let Some(command) = line.strip_prefix("$ ") {
            add(number, Kind::Line, without_comment(command));
        }
    }
}

fn is_command(line: &str) -> bool {
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Without what follows a `#` that stands behind blanks.
fn without_comment(line: &str) -> &str {
    line.split(" #").next().unwrap_or(line).trim_end()
}

/// Commands between back quotes in a paragraph.
fn spans(paragraph: &str) -> Vec<String> {
    let spans = paragraph.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " "));
    spans.filter(|span| span.starts_with("linerate ")).collect()
}

/// The examples in the help of a command and of those below it.
pub fn help(path: &[&str]) -> Vec<Documented> {
    let output = Command::new(PROGRAM).args(path).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{path:?}: {text}");
    let place = format!("linerate {}", path.iter().chain(&["--help"]).copied().collect::<Vec<_>>().join(" "));
    let mut found: Vec<Documented> = indented(&text, "Examples:")
        .map(|text| Documented { place: place.clone(), kind: Kind::Line, text: text.to_owned() })
        .collect();
    let below = indented(&text, "Commands:").filter_map(|line| line.split_whitespace().next());
    for name in below.filter(|name| *name != "help") {
        found.extend(help(&[path, &[name]].concat()));
    }
    found
}

/// The lines that are indented by two blanks below a heading.
fn indented<'t>(text: &'t str, heading: &str) -> impl Iterator<Item = &'t str> {
    let below = text.lines().skip_while(move |line| *line != heading).skip(1);
    let section = below.take_while(|line| line.starts_with(' '));
    section.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '))
}

#[test]
fn commands_of_blocks_prompts_and_sentences() {
    let page = "Say `linerate list\nknobs` or `lab`.\n\n    linerate doctor   # asks\n    a + b\n\n```sh\nfor x; do\n\
                linerate run lab\ndone\n```\n```text\n$ linerate list\nno\n```\n    not here\n";
    let found: Vec<_> = of_page("p", page).into_iter().map(|one| (one.place, one.kind, one.text)).collect();
    let wanted = [
        ("p:1", Kind::Inline, "linerate list knobs"),
        ("p:4", Kind::Line, "linerate doctor"),
        ("p:7", Kind::Script, "for x; do\nlinerate run lab\ndone"),
        ("p:13", Kind::Line, "linerate list"),
    ];
    assert_eq!(found, wanted.map(|(place, kind, text)| (place.to_owned(), kind, text.to_owned())));
    let help = "Usage: x\n\nExamples:\n  linerate list\n      all\n  linerate doctor\n      asks\n\nMore.\n";
    assert_eq!(indented(help, "Examples:").collect::<Vec<_>>(), ["linerate list", "linerate doctor"]);
}
