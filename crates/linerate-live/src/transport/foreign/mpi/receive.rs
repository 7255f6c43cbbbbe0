//! How a rank receives: which call, and when it is made.

use crate::transport::Spec;
pub use crate::transport::foreign::library::home::Receive;
use crate::vocabulary::MPI_RECEIVES;
use crate::{Error, Result};

/// The knob.
pub const RECEIVE: &str = "mpi.receive";

/// As [`MPI_RECEIVES`] has them.
const ALL: [Receive; MPI_RECEIVES.len()] =
    [Receive::Blocking, Receive::Posted, Receive::AnySource, Receive::Unexpected, Receive::Plain];

/// What was asked for; the first one where nothing was.
pub fn from_spec(spec: &Spec) -> Result<Receive> {
    let Some(name) = spec.value(RECEIVE) else { return Ok(Receive::default()) };
    let at = MPI_RECEIVES.iter().position(|known| *known == name);
    let unknown = || Error::usage(format!("no receive is called `{name}`"), "see `linerate list knobs`");
    at.map(|at| ALL[at]).ok_or_else(unknown)
}

/// What it is called.
pub fn name(receive: Receive) -> &'static str {
    ALL.iter().zip(MPI_RECEIVES).find(|(known, _)| **known == receive).map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_that_of_its_receive() {
        for (receive, expected) in ALL.iter().zip(MPI_RECEIVES) {
            assert_eq!(serde_json::to_value(receive).unwrap(), *expected);
            assert_eq!(name(*receive), *expected);
        }
    }
}
