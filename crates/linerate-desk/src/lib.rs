//! The desk half: it chooses the next step, and turns a recording into numbers, findings and pages.
//!
//! It touches no host, no file and no clock, and gives the same answer years later. A room is called the same in
//! every crate, `crate::plan` for one: what this crate has from `linerate-model` is named below.
#![forbid(unsafe_code)]

use linerate_model::{Error, Result, plan, record, statistic, unit, vocabulary};

pub mod published;

pub mod analysis;
pub mod diagnosis;
pub mod schedule;

pub mod report;
pub mod simulation;
