//! Message passing by an MPI of this host: two ranks that its own launcher starts, each with this program's loops.
//!
//! | file | duty |
//! |---|---|
//! | [`rank`] | the rank's side |
//! | `receive` | how it receives |
//! | `settings` | knobs, as the variables that each maker has for them |

pub mod rank;
mod receive;
mod settings;

use super::library::launch::Seat;
use super::library::session::Own;
use super::{Spec, granted};
use crate::record::Granted;
use crate::vocabulary::{Launch, MPI_MAKERS};
pub use rank::ROLE;
use receive::RECEIVE;
use std::ffi::OsString;
use std::sync::OnceLock;

/// The transport.
pub static MPI: Own = Own {
    kind: "mpi",
    noun: "MPI",
    install: "apt-get install openmpi-bin",
    picks: Some("mpi.implementation"),
    at: Some("mpi.path"),
    launch,
    words,
    variables: settings::variables,
    receive: receive::asked,
    granted: on_record,
    all: OnceLock::new(),
};

fn launch(name: &str) -> Option<&'static Launch> {
    MPI_MAKERS.iter().find(|maker| maker.name == name)?.launch.as_ref()
}

fn words(_: &Spec, seat: &Seat) -> Vec<OsString> {
    vec![ROLE.into(), seat.file.clone().into(), seat.abi.clone().unwrap_or_default().into()]
}

fn on_record(spec: &Spec) -> Vec<Granted> {
    let how = receive::asked(spec).map(|how| granted(spec, RECEIVE, receive::name(how)));
    how.into_iter().chain(settings::granted(spec)).collect()
}
