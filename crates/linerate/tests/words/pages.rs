//! Help and man pages.

use super::support::{Desk, snapshot, snapshots, text};
use std::collections::BTreeSet;

/// The commands that the help of a command lists, with its own name before each.
fn listed(desk: &Desk, path: &[String]) -> Vec<Vec<String>> {
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = text(&desk.linerate(&arguments));
    let section = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.is_empty());
    let names =
        lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let below = names.filter(|name| *name != "help").map(|name| [path, &[name.to_owned()]].concat());
    below.flat_map(|path| [vec![path.clone()], listed(desk, &path)].concat()).collect()
}

/// Every command that a user may call, as its words; the program itself has none.
fn commands(desk: &Desk) -> Vec<Vec<String>> {
    [vec![Vec::new()], listed(desk, &[])].concat()
}

fn name(path: &[String]) -> String {
    [&["linerate".to_owned()], path].concat().join("-")
}

#[test]
fn the_help_of_every_command_is_as_it_was_read() {
    let desk = Desk::new();
    let commands = commands(&desk);
    assert!(commands.len() >= 12, "{commands:?}");
    for path in &commands {
        let with =
            |flag: &'static str| -> Vec<&str> { path.iter().map(String::as_str).chain([flag]).collect() };
        let help = desk.linerate(&with("--help"));
        assert!(help.status.success() && help.stderr.is_empty(), "{path:?}");
        snapshot(&format!("help-{}.txt", name(path)), &desk.plain(&text(&help)));
        let short = desk.linerate(&with("-h"));
        assert_eq!(text(&short), text(&help), "{path:?}: -h and --help say the same");
    }
    let version = desk.linerate(&["--version"]);
    snapshot("version.txt", &desk.plain(&text(&version)));
}

#[test]
fn every_help_shows_worked_commands() {
    let desk = Desk::new();
    for path in commands(&desk) {
        let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let help = text(&desk.linerate(&arguments));
        let examples = help.split("\nExamples:\n").nth(1).unwrap_or_default();
        assert!(examples.contains("linerate "), "{path:?} has no examples: see src/cli/words.rs\n{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{path:?} has a line above 100 columns\n{help}"
        );
    }
}

#[test]
fn no_snapshot_is_left_over() {
    let desk = Desk::new();
    let help: BTreeSet<String> =
        commands(&desk).iter().map(|path| format!("help-{}.txt", name(path))).collect();
    for entry in std::fs::read_dir(snapshots()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let is_known = help.contains(&file) || !file.starts_with("help-");
        assert!(is_known, "tests/snapshots/{file} belongs to no command: remove it");
    }
}

#[test]
fn the_man_page_is_as_it_was_read() {
    let desk = Desk::new();
    let page = text(&desk.linerate(&["man"]));
    snapshot("linerate.1.txt", &desk.plain(&page));
    for section in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "SUBCOMMANDS",
        "EXAMPLES",
        "\"EXIT STATUS\"",
        "ENVIRONMENT",
        "FILES",
    ] {
        assert!(page.contains(&format!("\n.SH {section}\n")), "{section}: {page}");
    }
}

#[test]
fn every_command_has_a_man_page_that_roff_reads() {
    let desk = Desk::new();
    let output = desk.linerate(&["man", "pages"]);
    let written: BTreeSet<String> = text(&output).lines().map(String::from).collect();
    let wanted = commands(&desk).iter().map(|path| format!("pages/{}.1", name(path))).collect();
    assert_eq!(written, wanted);
    for file in &written {
        let page = std::fs::read_to_string(desk.folder.path().join(file)).unwrap();
        assert!(page.is_ascii() && page.contains("\n.SH \"EXIT STATUS\"\n"), "{file}");
        // Without a renderer the structure is all that can be checked.
        if let Ok(checked) = desk.command("groff").args(["-man", "-ww", "-Tutf8", file]).output() {
            assert!(checked.stderr.is_empty(), "{file}: {}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}
