//! The whole program on virtual hosts: what was put in must come out, and nothing may be left.

mod breaks;
mod calibrate;
mod engines;
mod faults;
mod filters;
mod knobs;
mod links;
mod observers;
mod pairs;
mod removal;
mod scenario;
pub(crate) mod ssh;
mod suites;
