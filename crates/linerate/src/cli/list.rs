//! `linerate list`: the tables of names.

use super::args::List;
use super::print;
use crate::Result;
use crate::plan::PROFILES;
use crate::vocabulary::{KNOBS, PATTERNS, RUNGS, TRANSPORTS, WARNINGS};
use std::process::ExitCode;

/// Prints one table, or all.
pub fn main(args: &List) -> Result<ExitCode> {
    let tables: [(&str, Vec<(&str, String)>); 6] = [
        ("rungs", RUNGS.iter().map(|rung| (rung.id, rung.about.to_owned())).collect()),
        ("knobs", KNOBS.iter().map(|k| (k.name, format!("{} (default: {})", k.about, k.default))).collect()),
        ("patterns", PATTERNS.iter().map(|pattern| (pattern.name, pattern.about.to_owned())).collect()),
        ("transports", TRANSPORTS.iter().map(|t| (t.name, t.about.to_owned())).collect()),
        ("profiles", PROFILES.iter().map(|shipped| (shipped.name, shipped.about.to_owned())).collect()),
        ("warnings", WARNINGS.iter().map(|w| (w.code, format!("{}; {}", w.meaning, w.hint))).collect()),
    ];
    let wanted = tables.iter().filter(|(name, _)| args.what.as_deref().is_none_or(|what| what == *name));
    for (name, entries) in wanted {
        print(&format!("{name}\n"))?;
        for (entry, about) in entries {
            print(&format!("  {entry:<24} {about}\n"))?;
        }
        print("\n")?;
    }
    Ok(ExitCode::SUCCESS)
}
