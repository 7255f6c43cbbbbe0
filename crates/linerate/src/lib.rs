//! linerate measures every layer between the wire and the application and says where the rate is lost.
//!
//! One direction: arguments become a [`plan`]; a schedule chooses steps from the plan and the
//! recording so far; the live half runs a step and emits events; the [`record`] keeps them; the desk
//! half turns a recording into numbers, findings and pages. This crate is the command line; the halves
//! are crates of their own, and so is what they share. See `docs/ARCHITECTURE.md`.
#![forbid(unsafe_code)]

pub use linerate_desk::{analysis, diagnosis, published, report, schedule, simulation};
pub use linerate_live::{
    calibration, control, lab, observer, pattern, run, state, trace, transport, workload,
};
pub use linerate_model::{Error, Result, plan, record, statistic, unit, vocabulary};

pub mod cli;
