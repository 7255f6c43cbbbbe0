//! The patterns that transports carry, by what they can do.

use crate::vocabulary::Pattern::{
    self, AllToAll, Allreduce, Barrier, Bidirectional, Broadcast, Capacity, Connect, FixedCount, Overlap,
    PingPing, PingPong, Reduce, RequestResponse, Stream, ZeroLoss,
};

/// Work on memory by one thread.
pub const ALONE: &[Pattern] = &[Stream];
/// One way at a time.
pub const IN_TURN: &[Pattern] = &[PingPong, Stream, FixedCount];
/// Both ways, an end each waiting in its own call.
pub const BOTH_WAYS: &[Pattern] = &[PingPong, Stream, FixedCount, Bidirectional];
/// One end does both ways at once and waits for whichever moves first; what loses can be searched.
pub const LOSSY: &[Pattern] = &[PingPong, Stream, FixedCount, PingPing, RequestResponse, Capacity, ZeroLoss];
/// The same of what loses nothing.
pub const BOTH_WAYS_AT_ONCE: &[Pattern] =
    &[PingPong, Stream, FixedCount, Bidirectional, PingPing, Overlap, RequestResponse];
/// The same, and a connection for each request.
pub const CONNECTIONS: &[Pattern] =
    &[PingPong, Stream, FixedCount, Bidirectional, PingPing, Overlap, RequestResponse, Connect];

/// Whole messages between ranks.
pub const PASSED: &[Pattern] = &[PingPong, Stream, PingPing, Overlap];

/// The same, and what all ranks do together.
pub const GATHERED: &[Pattern] =
    &[PingPong, Stream, PingPing, Overlap, Broadcast, Reduce, Allreduce, AllToAll, Barrier];

/// Whole messages over a connection, which can be made anew.
pub const PASSED_OVER: &[Pattern] = &[PingPong, Stream, FixedCount, PingPing, Overlap];
