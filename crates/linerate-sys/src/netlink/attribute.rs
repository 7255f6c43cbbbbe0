//! What the options of queueing disciplines are made of.

/// The kernel counts times in ticks of 64 ns (`PSCHED_SHIFT` in `net/pkt_sched.h`).
pub(super) const TICK_NS: u64 = 64;

/// One attribute of a multiple of four bytes: length, kind, value.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
}
