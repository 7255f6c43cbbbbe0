//! What linerate may measure, and what it has recorded: the part that both halves of the program share.
//!
//! The live half (`linerate-live`) takes steps and emits events; the desk half (`linerate-desk`) reads the
//! recording that they become. Neither knows the other. Rooms are listed in `docs/ARCHITECTURE.md`; a room imports
//! only rooms above it in this list.
#![forbid(unsafe_code)]

mod error;
pub mod statistic;
pub mod unit;
pub mod vocabulary;

pub mod plan;
pub mod record;

pub use error::{Error, FailureOrigin, Result};
