//! How fast one core seals and opens by a cipher: by the same library, records and copies included, in memory alone.

use super::certificate::Identity;
use super::seal::Seal;
use crate::{Error, Result};
use linerate_sys::clock::thread_cpu_ns;
use std::io;

/// What is sealed at once, as a transfer does.
const PIECE: usize = 64 << 10;

/// The time that is measured on a CPU, after as many pieces as make caches and clocks warm.
const MEASURED_NS: u64 = 20_000_000;
const WARM: u32 = 16;

/// Bytes a second of one core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// That it seals.
    pub seals: f64,
    /// That it opens.
    pub opens: f64,
}

/// Measures it by the thread's own CPU time: what else the machine does is not in it, but for what the caches tell.
pub fn one_core(cipher: &str) -> Result<Speed> {
    let identity = Identity::new()?;
    let mut ends = [Seal::client(cipher, &identity.fingerprint())?, Seal::server(&identity, cipher)?];
    shaken(&mut ends).map_err(|e| failed(&e))?;
    let [near, far] = &mut ends;
    let (mut piece, mut wire) = (vec![7; PIECE], Vec::new());
    let (mut sealed_ns, mut opened_ns, mut bytes, mut warm) = (0, 0, 0_u64, WARM);
    while sealed_ns + opened_ns < MEASURED_NS || bytes == 0 {
        let begun = thread_cpu_ns();
        let took = near.seal(&piece).map_err(|e| failed(&e))?;
        cross(near, &mut wire).map_err(|e| failed(&e))?;
        let sealed = thread_cpu_ns();
        opened(far, &mut wire, &mut piece[..took]).map_err(|e| failed(&e))?;
        let opened = thread_cpu_ns();
        if warm > 0 {
            warm -= 1;
            continue;
        }
        sealed_ns += sealed.saturating_sub(begun);
        opened_ns += opened.saturating_sub(sealed);
        bytes += took as u64;
    }
    let speed = |ns: u64| bytes as f64 * 1e9 / ns.max(1) as f64;
    Ok(Speed { seals: speed(sealed_ns), opens: speed(opened_ns) })
}

/// They shake hands in memory.
fn shaken(ends: &mut [Seal; 2]) -> io::Result<()> {
    let mut wire = Vec::new();
    while ends.iter().any(Seal::is_shaking) {
        for (from, to) in [(0, 1), (1, 0)] {
            cross(&mut ends[from], &mut wire)?;
            while !wire.is_empty() {
                ends[to].take_in(|room| Ok(Some(moved(&mut wire, room))))?;
                ends[to].open()?;
            }
        }
    }
    Ok(())
}

/// What is sealed goes onto the wire.
fn cross(from: &mut Seal, wire: &mut Vec<u8>) -> io::Result<()> {
    from.flush(|parts| {
        parts.iter().for_each(|part| wire.extend_from_slice(part));
        Ok(parts.iter().map(|part| part.len()).sum())
    })
}

/// What is on the wire is opened into the room.
fn opened(to: &mut Seal, wire: &mut Vec<u8>, room: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < room.len() {
        match to.opened(&mut room[filled..])? {
            Some(came) => filled += came,
            None => {
                to.take_in(|room| Ok(Some(moved(wire, room))))?;
                to.open()?;
            }
        }
    }
    Ok(())
}

fn moved(wire: &mut Vec<u8>, room: &mut [u8]) -> usize {
    let count = wire.len().min(room.len());
    room[..count].copy_from_slice(&wire[..count]);
    wire.drain(..count);
    count
}

fn failed(error: &io::Error) -> Error {
    Error::unavailable(format!("TLS within this process: {error}"), "please report it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_seals_and_opens_by_each_cipher() {
        for cipher in ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"] {
            let speed = one_core(cipher).unwrap();
            // Faster than any disk of 1990, slower than any memory.
            assert!(
                [speed.seals, speed.opens].iter().all(|of| (1e5..1e12).contains(of)),
                "{cipher}: {speed:?}"
            );
        }
        assert!(one_core("rot13").is_err());
    }
}
