//! Message passing by an MPI of this host: two ranks that its own launcher starts, each with this program's loops.
//!
//! | file | duty |
//! |---|---|
//! | `file` | a file that all ranks have open |
//! | [`rank`] | the rank's side |
//! | `receive` | how it receives |
//! | `settings` | knobs, as the variables that each maker has for them |

mod file;
pub mod rank;
mod receive;
mod settings;

use super::library::launch_request::RankSpec;
use super::library::session::LibraryTransport;
use crate::record::Granted;
use crate::transport::{Spec, granted};
use crate::vocabulary::{Launch, MPI_MAKERS, MPI_THREAD_LEVELS};
pub use file::RankFile;
pub use rank::ROLE;
use receive::RECEIVE;
use std::ffi::OsString;
use std::sync::OnceLock;

/// The knob that says which threads may call.
const THREAD_LEVEL: &str = "mpi.thread-level";

/// The transport.
pub static MPI: LibraryTransport = LibraryTransport {
    kind: "mpi",
    noun: "MPI",
    install: "apt-get install openmpi-bin",
    picks: Some("mpi.implementation"),
    at: Some("mpi.path"),
    reported_knobs: settings::reported_knobs,
    launch,
    words,
    variables: settings::variables,
    receive: receive::from_spec,
    file: file::from_spec,
    granted: on_record,
    all: OnceLock::new(),
};

fn launch(name: &str) -> Option<&'static Launch> {
    MPI_MAKERS.iter().find(|maker| maker.name == name)?.launch.as_ref()
}

fn words(spec: &Spec, rank_spec: &RankSpec) -> Vec<OsString> {
    let abi = rank_spec.abi.clone().unwrap_or_default();
    vec![ROLE.into(), rank_spec.file.clone().into(), abi.into(), thread_level(spec).into()]
}

/// A library that gives less is refused; what it gives a rank tells.
fn thread_level(spec: &Spec) -> &str {
    spec.value(THREAD_LEVEL).unwrap_or(MPI_THREAD_LEVELS[0])
}

fn on_record(spec: &Spec) -> Vec<Granted> {
    let how = receive::from_spec(spec).map(|how| granted(spec, RECEIVE, receive::name(how)));
    how.into_iter().chain(settings::granted(spec)).collect()
}
