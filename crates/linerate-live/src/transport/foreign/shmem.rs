//! One-sided messages by an OpenSHMEM of this host: two processing elements that its own launcher starts, each with this
//! program's loops.
//!
//! | file | duty |
//! |---|---|
//! | `layer` | what a message is, by puts or by gets |
//! | [`pe`] | the elements' side |

mod layer;
pub mod pe;

use super::library::home::Receive;
use super::library::launch_request::RankSpec;
use super::library::session::LibraryTransport;
use super::library::variable;
use crate::Result;
use crate::pattern::FileOrder;
use crate::record::Granted;
use crate::transport::{Spec, granted};
use crate::vocabulary::{Launch, SHMEM_MAKERS, SHMEM_OPERATIONS};
use std::ffi::OsString;
use std::sync::OnceLock;

/// The knob that says what carries a message.
const OPERATION: &str = "shmem.operation";
/// The one that says variables as they are.
const ENVIRONMENT: &str = "shmem.environment";

/// The transport.
pub static SHMEM: LibraryTransport = LibraryTransport {
    kind: "shmem",
    noun: "OpenSHMEM",
    install: "apt-get install openmpi-bin",
    picks: None,
    at: None,
    reported_knobs: |_, _| Vec::new(),
    launch,
    words,
    variables,
    receive: |_| Ok(Receive::default()),
    file: |_| FileOrder::default(),
    granted: on_record,
    all: OnceLock::new(),
};

fn launch(name: &str) -> Option<&'static Launch> {
    SHMEM_MAKERS.iter().find(|maker| maker.name == name).map(|maker| &maker.launch)
}

fn words(spec: &Spec, rank_spec: &RankSpec) -> Vec<OsString> {
    let words = [pe::ROLE, rank_spec.name.as_str(), operation(spec)];
    words.iter().map(OsString::from).chain([rank_spec.file.clone().into()]).collect()
}

fn operation(spec: &Spec) -> &str {
    spec.value(OPERATION).unwrap_or(SHMEM_OPERATIONS[0])
}

fn variables(spec: &Spec, _: &str) -> Result<Vec<(String, String)>> {
    Ok(variable::assignments(spec.value(ENVIRONMENT)).collect())
}

/// The operation is this program's own choice of calls; no library says what it made of a variable.
fn on_record(spec: &Spec) -> Vec<Granted> {
    let said = spec.value(ENVIRONMENT).map(|said| Granted {
        knob: ENVIRONMENT.into(),
        asked: Some(said.into()),
        granted: None,
    });
    std::iter::once(granted(spec, OPERATION, operation(spec))).chain(said).collect()
}
