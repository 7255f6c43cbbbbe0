//! linerate measures every layer between the wire and the application and says where the rate is lost.
//!
//! One direction: arguments become a [`plan`]; a schedule chooses steps from the plan and the
//! recording so far; the live half runs a step and emits events; the [`record`] keeps them; the desk
//! half turns a recording into numbers, findings and pages. Rooms are listed in `docs/ARCHITECTURE.md`;
//! a room imports only rooms above it in this list.
#![forbid(unsafe_code)]

mod error;
pub mod statistic;
pub mod unit;
pub mod vocabulary;

pub mod plan;
pub mod published;
pub mod record;

pub mod lab;
pub mod observer;
pub mod pattern;
pub mod transport;

pub mod control;
pub mod state;

pub mod calibration;

pub mod run;

pub mod analysis;
pub mod diagnosis;
pub mod schedule;

pub mod report;
pub mod simulation;

pub mod cli;

pub use error::{Error, Result};
