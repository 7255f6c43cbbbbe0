//! Every pair of halves: the one place where an engine's name is looked up.

use super::mapped::Mapped;
use super::pages::{SendFile, SpliceOut, SpliceToNowhere, ZeroCopySend};
use super::plain::{Discard, Read, WaitAll, Write};
use super::ready::{ReadyToReceive, ReadyToSend};
use super::ring::{RingReceive, RingSend, RingShots, RingZeroCopy};
use super::{Open, Pull, Push, link};
use crate::vocabulary::Wait;
use crate::{Error, Result};

/// One way to send, with each way to receive.
pub struct Row {
    /// The name of the way to send.
    pub name: &'static str,
    /// The names of the ways to receive, with the makers of the pairs.
    pub links: [(&'static str, Open); 8],
}

const fn row<S: Push, const WAITS: bool>() -> Row {
    const fn with<S: Push, R: Pull, const WAITS: bool>() -> (&'static str, Open) {
        (R::NAME, link::<S, R, WAITS>)
    }
    Row {
        name: S::NAME,
        links: [
            with::<S, Read<WAITS>, WAITS>(),
            with::<S, WaitAll<WAITS>, WAITS>(),
            with::<S, ReadyToReceive<WAITS>, WAITS>(),
            with::<S, RingReceive<WAITS>, WAITS>(),
            with::<S, RingShots<WAITS>, WAITS>(),
            with::<S, Discard<WAITS>, WAITS>(),
            with::<S, SpliceToNowhere<WAITS>, WAITS>(),
            with::<S, Mapped<WAITS>, WAITS>(),
        ],
    }
}

const fn rows<const WAITS: bool>() -> [Row; 7] {
    [
        row::<Write<WAITS>, WAITS>(),
        row::<ReadyToSend<WAITS>, WAITS>(),
        row::<RingSend<WAITS>, WAITS>(),
        row::<RingZeroCopy<WAITS>, WAITS>(),
        row::<SendFile<WAITS>, WAITS>(),
        row::<SpliceOut<WAITS>, WAITS>(),
        row::<ZeroCopySend<WAITS>, WAITS>(),
    ]
}

static SLEEPING: [Row; 7] = rows::<true>();
static POLLING: [Row; 7] = rows::<false>();

/// What sends and what receives where nothing else is asked for.
pub fn defaults() -> [&'static str; 2] {
    [SLEEPING[0].name, SLEEPING[0].links[0].0]
}

/// The maker of a pair.
pub fn open(send: &str, receive: &str, wait: Wait) -> Result<Open> {
    let rows = match wait {
        Wait::Sleeping => &SLEEPING,
        Wait::Polling => &POLLING,
    };
    let unknown =
        |name: &str| Error::usage(format!("no engine is called `{name}`"), "see `linerate list knobs`");
    let row = rows.iter().find(|row| row.name == send).ok_or_else(|| unknown(send))?;
    let found = row.links.iter().find(|(name, _)| *name == receive).ok_or_else(|| unknown(receive))?;
    Ok(found.1)
}

#[cfg(test)]
pub(super) fn names() -> [Vec<&'static str>; 2] {
    [SLEEPING.iter().map(|row| row.name).collect(), SLEEPING[0].links.iter().map(|(name, _)| *name).collect()]
}
