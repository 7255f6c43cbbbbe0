//! `linerate man`: man pages, from the same words as the help.

use super::args::Man;
use super::words::{ENVIRONMENT, EXITS, FILES, Words};
use super::{command, print};
use crate::{Error, Result};
use clap::Command;
use clap_mangen::roff::{Roff, bold, roman};
use std::process::ExitCode;

/// Prints the program's page, or writes all of them.
pub fn main(args: &Man) -> Result<ExitCode> {
    let pages = pages().map_err(|e| Error::io("write", "a man page", e))?;
    let Some(folder) = &args.folder else {
        print(pages.first().map_or("", |(_, text)| text))?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(folder).map_err(|e| Error::io("mkdir", folder.display().to_string(), e))?;
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| Error::io("write", path.display().to_string(), e))?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// File names and texts: the program's page first, then one a command.
fn pages() -> std::io::Result<Vec<(String, String)>> {
    let mut root = command::visible().disable_help_subcommand(true);
    root.build();
    let mut pages = vec![page(&root, "")?];
    collect(&root, "", &mut pages)?;
    Ok(pages)
}

fn collect(above: &Command, path: &str, pages: &mut Vec<(String, String)>) -> std::io::Result<()> {
    for sub in above.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let path = format!("{path} {}", sub.get_name());
        pages.push(page(sub, path.trim())?);
        collect(sub, &path, pages)?;
    }
    Ok(())
}

fn page(command: &Command, path: &str) -> std::io::Result<(String, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let man = clap_mangen::Man::new(command.clone()).source(format!("linerate {version}")).manual("linerate");
    let words = Words::for_command(path);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    match words {
        Some(words) => examples(words).to_writer(&mut page)?,
        None => man.render_extra_section(&mut page)?,
    }
    let own = words.map_or(&[][..], |words| words.exits);
    let others = EXITS.iter().filter(|(code, _)| !own.iter().any(|(one, _)| one == code));
    let mut exits: Vec<(String, &str)> =
        own.iter().chain(others).map(|(code, what)| (format!("{code:>3}"), *what)).collect();
    exits.sort();
    tagged("EXIT STATUS", exits.iter().map(|(code, what)| (code.trim().to_owned(), *what)))
        .to_writer(&mut page)?;
    tagged("ENVIRONMENT", environment(command)).to_writer(&mut page)?;
    tagged("FILES", FILES.iter().map(|(file, what)| ((*file).to_owned(), *what))).to_writer(&mut page)?;
    see_also(path).to_writer(&mut page)?;
    let name = ["linerate"].into_iter().chain(path.split_whitespace()).collect::<Vec<_>>().join("-");
    Ok((format!("{name}.1"), ascii(&String::from_utf8_lossy(&page))))
}

/// Other characters by their names in roff, which is read without a word on its encoding.
fn ascii(page: &str) -> String {
    let named = |c: char| if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", u32::from(c)) };
    page.chars().map(named).collect()
}

/// Commands stay lines of their own; the note is a paragraph.
fn examples(words: &Words) -> Roff {
    let mut roff = Roff::new();
    if !words.note.is_empty() {
        roff.control("SH", ["NOTES"]);
        verbatim(&mut roff, words.note.lines());
    }
    roff.control("SH", ["EXAMPLES"]);
    for (command, what) in words.examples {
        roff.control("TP", []);
        roff.text([bold(*command)]);
        roff.text([roman(*what)]);
    }
    roff
}

/// Lines that are not filled.
fn verbatim<'t>(roff: &mut Roff, lines: impl Iterator<Item = &'t str>) {
    roff.control("nf", []);
    lines.for_each(|line| _ = roff.text([roman(line)]));
    roff.control("fi", []);
}

/// The options' own variables, and the program's.
fn environment(command: &Command) -> Vec<(String, &'static str)> {
    let all = [command].into_iter().chain(command.get_subcommands());
    let mut names: Vec<(String, String)> = all
        .flat_map(Command::get_arguments)
        .filter_map(|arg| {
            Some((arg.get_env()?.to_string_lossy().into_owned(), format!("--{}", arg.get_long()?)))
        })
        .collect();
    names.sort();
    names.dedup();
    let options = names
        .into_iter()
        .map(|(name, option)| (format!("{name} ({option})"), "what holds where the option is not given"));
    options.chain(ENVIRONMENT.iter().map(|(name, what)| ((*name).to_owned(), *what))).collect()
}

fn tagged(title: &str, rows: impl IntoIterator<Item = (String, &'static str)>) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (name, what) in rows {
        roff.control("TP", []);
        roff.text([bold(name)]);
        roff.text([roman(what)]);
    }
    roff
}

fn see_also(path: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    let pages = match path {
        "" => "linerate\\-run(1), linerate\\-doctor(1), linerate\\-explain(1), ssh(1)",
        _ => "linerate(1)",
    };
    roff.text([roman(pages.replace("\\-", "-"))]);
    roff
}
