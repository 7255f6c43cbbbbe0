//! The runs of tools that a file is made of.

use super::importer::Importer;
use super::mixed::Teller;
use super::{HEAD_BYTES, MOST_RUNS, Read, head, refuse};

/// The part of a file that one run of a tool wrote. The runs of a file one after the other are the file.
pub(super) struct Run<'t> {
    pub text: &'t str,
    /// Where it begins in the file.
    pub from: usize,
    /// The number of its first line in the file, from 1.
    pub line: u64,
    /// The beginning of the file, which may hold of all its runs.
    pub head: &'t str,
}

/// A run with who reads it, and whose lines they are where lines of several are mixed.
type Told<'t> = (&'static Importer, Option<&'t str>, Run<'t>);

/// The runs of all tools that wrote into a file, in its order.
pub(super) fn all_runs<'t>(tellers: &'t [Teller<'t>]) -> Read<Vec<Told<'t>>> {
    let mut all = Vec::new();
    for teller in tellers {
        let runs = runs(&teller.text, teller.importer)?;
        all.extend(runs.into_iter().map(|run| (teller.importer, teller.name, run)));
    }
    if tellers.len() > 1 {
        all.retain(|(.., run)| !run.text.trim().is_empty());
        all.iter_mut().for_each(|(.., run)| run.skip_blanks());
        all.sort_by_key(|(.., run)| run.from);
    }
    if all.is_empty() {
        let what = "it is empty but for marks of hosts or services";
        return refuse(what, "see whether the tool ended well");
    }
    if all.len() > MOST_RUNS {
        return too_many_runs();
    }
    Ok(all)
}

fn too_many_runs<T>() -> Read<T> {
    let hint = "cut it into several files, or name the one tool to read with --tool";
    refuse(format!("it holds more than {MOST_RUNS} runs"), hint)
}

impl Run<'_> {
    /// Leaves out what is blank before its first line and behind its last.
    fn skip_blanks(&mut self) {
        let blank = self.text.len() - self.text.trim_start().len();
        let blank = self.text[..blank].rfind('\n').map_or(0, |at| at + 1);
        self.line += self.text[..blank].bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.from += blank;
        self.text = self.text[blank..].trim_end();
    }
}

/// The runs that a text is made of.
fn runs<'t>(text: &'t str, importer: &Importer) -> Read<Vec<Run<'t>>> {
    let mut begins = (importer.runs)(text);
    // What stands before the first is of the first.
    if let Some(first) = begins.first_mut() {
        *first = 0;
    } else {
        begins.push(0);
    }
    if begins.len() > MOST_RUNS {
        return too_many_runs();
    }
    let ends = begins.iter().skip(1).copied().chain([text.len()]);
    let mut line = 1;
    let run = |(from, to): (usize, usize)| {
        let run = Run { text: &text[from..to], from, line, head: head(text.trim_start(), HEAD_BYTES) };
        line += run.text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        run
    };
    Ok(begins.iter().copied().zip(ends).map(run).collect())
}
