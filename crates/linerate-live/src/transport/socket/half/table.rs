//! Every half: the one place where an engine's name is looked up.

use super::low_water::{DiscardLowWater, LowWater};
use super::mapped::Mapped;
use super::pages::{SendFile, SpliceOut, SpliceToNowhere, ZeroCopySend};
use super::plain::{Coalescing, Discard, Read, WaitAll, Write};
use super::ready::{ReadyToReceive, ReadyToSend};
use super::ring::{RingReceive, RingSend, RingShots, RingZeroCopy};
use super::{In, Open, Out, Pull, Push, boxed_halves, receiver, sender};
use crate::pattern::Drive;
use crate::vocabulary::Wait;
use crate::{Error, Result};

/// One way to send, or to receive.
pub struct Row<H: ?Sized + 'static> {
    pub name: &'static str,
    /// Whether it sends memory of its own.
    pub owns_memory: bool,
    /// The link of a stream, whose other direction is the usual one.
    pub stream: Open<Box<dyn Drive>>,
    pub half: Open<Box<H>>,
}

const fn sender_row<S: Push, const WAITS: bool>() -> Row<dyn Out> {
    Row {
        name: S::NAME,
        owns_memory: S::OWNS_MEMORY,
        stream: |setup| {
            Ok(boxed_halves::<WAITS>(sender::<S>(setup)?, receiver::<Read<WAITS>>(setup)?, setup))
        },
        half: |setup| Ok(Box::new(sender::<S>(setup)?)),
    }
}

const fn receiver_row<R: Pull, const WAITS: bool>() -> Row<dyn In> {
    Row {
        name: R::NAME,
        owns_memory: false,
        stream: |setup| {
            Ok(boxed_halves::<WAITS>(sender::<Write<WAITS>>(setup)?, receiver::<R>(setup)?, setup))
        },
        half: |setup| Ok(Box::new(receiver::<R>(setup)?)),
    }
}

const fn senders<const WAITS: bool>() -> [Row<dyn Out>; 7] {
    [
        sender_row::<Write<WAITS>, WAITS>(),
        sender_row::<ReadyToSend<WAITS>, WAITS>(),
        sender_row::<RingSend<WAITS>, WAITS>(),
        sender_row::<RingZeroCopy<WAITS>, WAITS>(),
        sender_row::<SendFile<WAITS>, WAITS>(),
        sender_row::<SpliceOut<WAITS>, WAITS>(),
        sender_row::<ZeroCopySend<WAITS>, WAITS>(),
    ]
}

const fn receivers<const WAITS: bool>() -> [Row<dyn In>; 11] {
    [
        receiver_row::<Read<WAITS>, WAITS>(),
        receiver_row::<WaitAll<WAITS>, WAITS>(),
        receiver_row::<Coalescing<WAITS>, WAITS>(),
        receiver_row::<LowWater<WAITS>, WAITS>(),
        receiver_row::<ReadyToReceive<WAITS>, WAITS>(),
        receiver_row::<RingReceive<WAITS>, WAITS>(),
        receiver_row::<RingShots<WAITS>, WAITS>(),
        receiver_row::<Discard<WAITS>, WAITS>(),
        receiver_row::<DiscardLowWater<WAITS>, WAITS>(),
        receiver_row::<SpliceToNowhere<WAITS>, WAITS>(),
        receiver_row::<Mapped<WAITS>, WAITS>(),
    ]
}

/// Sleeping, then polling.
static SENDERS: [[Row<dyn Out>; 7]; 2] = [senders::<true>(), senders::<false>()];
static RECEIVERS: [[Row<dyn In>; 11]; 2] = [receivers::<true>(), receivers::<false>()];

/// What sends and what receives where nothing else is asked for.
pub fn defaults() -> [&'static str; 2] {
    [SENDERS[0][0].name, RECEIVERS[0][0].name]
}

/// What sends under this name.
pub fn send(name: &str, wait: Wait) -> Result<&'static Row<dyn Out>> {
    row_named(&SENDERS[usize::from(wait == Wait::Polling)], name)
}

/// What receives under this name.
pub fn receive(name: &str, wait: Wait) -> Result<&'static Row<dyn In>> {
    row_named(&RECEIVERS[usize::from(wait == Wait::Polling)], name)
}

fn row_named<H: ?Sized>(rows: &'static [Row<H>], name: &str) -> Result<&'static Row<H>> {
    let unknown = || Error::usage(format!("no engine is called `{name}`"), "see `linerate list knobs`");
    rows.iter().find(|row| row.name == name).ok_or_else(unknown)
}

#[cfg(test)]
pub(super) fn names() -> [Vec<&'static str>; 2] {
    [SENDERS[0].iter().map(|row| row.name).collect(), RECEIVERS[0].iter().map(|row| row.name).collect()]
}
