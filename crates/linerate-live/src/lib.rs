//! The live half: it touches the world. It executes a step and emits events; it decides nothing, computes no
//! statistic and prints nothing.
//!
//! A room is called the same in every crate, `crate::plan` for one: what this crate has from `linerate-model` is
//! named below.
#![forbid(unsafe_code)]

use linerate_model::{Error, FailureOrigin, Result, plan, record, statistic, unit, vocabulary};

pub mod lab;
pub mod observer;
pub mod pattern;
pub mod state;

pub mod control;
pub mod transport;

pub mod calibration;
pub mod trace;
pub mod workload;

pub mod run;
