//! Whole messages over a link that moves parts.

use super::Link;
use std::io;

/// Sends all of `bytes`.
#[inline]
pub fn push_all<L: Link>(link: &mut L, bytes: &[u8]) -> io::Result<u64> {
    let mut moved = 0;
    while moved < bytes.len() {
        moved += link.push(&bytes[moved..])?;
    }
    Ok(moved as u64)
}

/// Fills all of `bytes`.
#[inline]
pub fn pull_all<L: Link>(link: &mut L, bytes: &mut [u8]) -> io::Result<u64> {
    let mut moved = 0;
    while moved < bytes.len() {
        moved += link.pull(&mut bytes[moved..])?;
    }
    Ok(moved as u64)
}
