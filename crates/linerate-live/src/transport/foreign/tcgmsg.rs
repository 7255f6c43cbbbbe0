//! Messages by TCGMSG: two nodes that the launcher of the MPI below it starts, each with this program's loops.
//!
//! TCGMSG is shipped as a static library only: `adapters/tcgmsg` makes one of it that can be loaded.

pub mod node;

use super::library::home::Receive;
use super::library::launch_request::RankSpec;
use super::library::session::LibraryTransport;
use super::library::variable;
use crate::pattern::FileOrder;
use crate::record::Granted;
use crate::transport::Spec;
use crate::vocabulary::{Launch, MPI_MAKERS, TCGMSG_OVER};
use std::ffi::OsString;
use std::sync::OnceLock;

/// The knob that says variables as they are.
const ENVIRONMENT: &str = "tcgmsg.environment";

/// The transport.
pub static TCGMSG: LibraryTransport = LibraryTransport {
    kind: "tcgmsg",
    noun: "TCGMSG",
    install: "adapters/tcgmsg/build FOLDER, and LD_LIBRARY_PATH=FOLDER",
    picks: None,
    at: None,
    reported_knobs: |_, _| Vec::new(),
    launch,
    words,
    variables: |spec, _| Ok(variable::assignments(spec.value(ENVIRONMENT)).collect()),
    receive: |_| Ok(Receive::default()),
    file: |_| FileOrder::default(),
    granted: on_record,
    all: OnceLock::new(),
};

/// As its MPI starts ranks.
fn launch(_: &str) -> Option<&'static Launch> {
    MPI_MAKERS.iter().find(|maker| maker.name == TCGMSG_OVER)?.launch.as_ref()
}

fn words(_: &Spec, rank_spec: &RankSpec) -> Vec<OsString> {
    vec![node::ROLE.into(), rank_spec.file.clone().into()]
}

/// No library says what it made of a variable.
fn on_record(spec: &Spec) -> Vec<Granted> {
    let said = spec.value(ENVIRONMENT).map(String::from);
    said.map(|said| Granted { knob: ENVIRONMENT.into(), asked: Some(said), granted: None })
        .into_iter()
        .collect()
}
