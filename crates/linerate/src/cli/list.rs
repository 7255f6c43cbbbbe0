//! `linerate list`: the tables of names.

use super::args::List;
use super::print;
use crate::Result;
use crate::report::reference;
use crate::vocabulary::Explanation;
use std::process::ExitCode;

/// Prints one table, or all.
pub fn main(args: &List) -> Result<ExitCode> {
    let wanted =
        reference::kinds().filter(|kind| args.what.as_deref().is_none_or(|what| what == kind.plural));
    for kind in wanted {
        print(&format!("{}\n", kind.plural))?;
        for entry in kind.explanations() {
            print(&format!("  {:<24} {}\n", entry.name, about(&entry)))?;
        }
        print("\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line: what it is, and what holds without it, or when it is measured.
fn about(entry: &Explanation) -> String {
    let default = entry.facts.iter().find(|(name, _)| ["default", "measured"].contains(name));
    let default = default.map_or(String::new(), |(name, text)| format!(" ({name}: {text})"));
    format!("{}{default}", entry.definition)
}
