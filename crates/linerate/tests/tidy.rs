//! The law of the house, read from its files. Each breach is one line: place, rule, what to do.
//!
//! | module | law |
//! |---|---|
//! | [`circles`] | no files of a room need each other in a circle |
//! | [`imports`] | which room may import which; what a room must never touch |
//! | [`layout`] | lengths, module docs, names of modules and tests, every file in the build |
//! | [`tables`] | each transport has one implementer, and nothing else asks for its name |
//! | [`summary`] | what `./test` counts, forgives and tells |
//! | [`left_behind`] | a test that leaves something running |
//! | [`panics`] | nothing panics where a host refuses something |
//! | [`pages`] | links resolve, no machine's paths, dependencies and expected skips are listed |

mod circles;
mod imports;
mod layout;
mod left_behind;
mod pages;
mod panics;
mod source;
mod summary;
mod tables;

use std::path::PathBuf;

/// The top of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap()
}

/// Fails with every breach, one a line.
#[track_caller]
pub fn assert_kept(breaches: Vec<String>) {
    assert!(breaches.is_empty(), "{} breaches\n{}\n", breaches.len(), breaches.join("\n"));
}
