//! What a person reads of the program: help, man page, errors. `UPDATE_SNAPSHOTS=1 cargo test --test integration words::`
//! writes the snapshots.

mod completions;
mod config;
mod endings;
mod errors;
mod pages;
mod support;
