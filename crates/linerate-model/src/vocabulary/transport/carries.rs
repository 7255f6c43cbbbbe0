//! What the sessions of transports offer to patterns.

use crate::vocabulary::Need::{
    self, Ahead, Calls, Crossing, CrossingAtWork, Datagrams, Duplex, Messages, OneWay, Ranks, Reconnection,
};

/// Work on memory by one thread.
pub const ALONE: &[Need] = &[OneWay];
/// One way at a time.
pub const IN_TURN: &[Need] = &[OneWay, Messages, Reconnection];
/// Both ways, an end each waiting in its own call.
pub const BOTH_WAYS: &[Need] = &[OneWay, Messages, Reconnection, Duplex];
/// What loses can be searched.
pub const LOSSY: &[Need] = &[Datagrams, Reconnection];
/// One end does both ways at once and waits for whichever moves first.
pub const BOTH_WAYS_AT_ONCE: &[Need] =
    &[OneWay, Messages, Reconnection, Duplex, Crossing, CrossingAtWork, Ahead];
/// The same, and a connection for each request.
pub const CONNECTIONS: &[Need] =
    &[OneWay, Messages, Reconnection, Duplex, Crossing, CrossingAtWork, Ahead, Calls];

/// Whole messages between ranks.
pub const PASSED: &[Need] = &[OneWay, Messages, Crossing, CrossingAtWork];

/// The same, and what all ranks do together.
pub const GATHERED: &[Need] = &[OneWay, Messages, Crossing, CrossingAtWork, Ranks];

/// Whole messages over a connection, which can be made anew.
pub const PASSED_OVER: &[Need] = &[OneWay, Messages, Reconnection, Crossing, CrossingAtWork];
