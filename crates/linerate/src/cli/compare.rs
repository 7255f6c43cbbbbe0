//! `linerate compare`: two sets of recordings.

use super::args::Compare;
use crate::{Error, Result};
use std::process::ExitCode;

pub fn main(_args: &Compare) -> Result<ExitCode> {
    Err(Error::usage("not yet", ""))
}
