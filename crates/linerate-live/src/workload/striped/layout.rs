//! Which stripes of a region a server has, and what is in them.

use crate::plan::HostId;
use crate::unit::Bytes;
use crate::{Error, Result};
use std::io;

/// PVFS' default: bytes of a stripe.
pub const STRIPE: u64 = 64 << 10;

/// Regions of a file, which are used one after the other, again and again.
pub const REGIONS: u32 = 8;

/// What one server has of each region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Servers of the file.
    pub servers: u32,
    /// Which of them it is.
    pub server: u32,
    /// Bytes of a region.
    pub region_bytes: u64,
}

impl Part {
    /// The places of its stripes within a region, and their lengths.
    fn stripes(self) -> impl Iterator<Item = (u64, u64)> {
        let (first, step) = (u64::from(self.server) * STRIPE, u64::from(self.servers.max(1)) * STRIPE);
        let places =
            (0..).map(move |nth: u64| first + nth * step).take_while(move |at| *at < self.region_bytes);
        places.map(move |at| (at, STRIPE.min(self.region_bytes - at)))
    }

    /// Bytes of a region that it has.
    pub fn bytes(self) -> u64 {
        self.stripes().map(|(_, len)| len).sum()
    }

    /// The word that stands at a place of a region, first of 8 bytes.
    fn word(self, region: u32, at: u64) -> u64 {
        let place = u64::from(region) * self.region_bytes + at;
        // Multiplied by an odd number near the golden ratio of 2^64 (D. Knuth, The Art of Computer Programming, 6.4).
        (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Writes what its stripes of a region are.
    pub fn fill(self, region: u32, room: &mut [u8]) {
        let mut done = 0;
        for (at, len) in self.stripes() {
            let Some(stripe) = room.get_mut(done..done + len as usize) else { return };
            for (nth, word) in stripe.chunks_mut(8).enumerate() {
                let bytes = self.word(region, at + 8 * nth as u64).to_be_bytes();
                word.copy_from_slice(&bytes[..word.len()]);
            }
            done += len as usize;
        }
    }

    /// Whether every stripe begins as it should: what is looked at while the time is taken.
    pub fn begins(self, region: u32, room: &[u8]) -> io::Result<()> {
        let mut done = 0;
        for (at, len) in self.stripes() {
            let wanted = self.word(region, at).to_be_bytes();
            let whole = wanted.len().min(len as usize);
            if room.get(done..done + whole) != Some(&wanted[..whole]) {
                let what = format!("a stripe of region {region} is of another place");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            done += len as usize;
        }
        Ok(())
    }

    /// Writes what the stripes of a region begin with: what else is in them stays.
    pub fn mark(self, region: u32, room: &mut [u8]) {
        let mut done = 0;
        for (at, len) in self.stripes() {
            let word = self.word(region, at).to_be_bytes();
            let whole = word.len().min(len as usize);
            if let Some(begins) = room.get_mut(done..done + whole) {
                begins.copy_from_slice(&word[..whole]);
            }
            done += len as usize;
        }
    }
}

/// Whether every byte of a server's part of a region is the one that was written.
pub fn same(wanted: &[u8], came: &[u8], region: u32, host: HostId) -> Result<()> {
    let Some(at) = came.iter().zip(wanted).position(|(one, other)| one != other) else { return Ok(()) };
    let all = Bytes(came.len() as u64);
    let what = format!("byte {at} of {all} of region {region} is another one than was written");
    Err(Error::peer(format!("the server on host {host}"), what, "see its memory, its disk and the way"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_all_servers_are_a_region() {
        for (servers, region_bytes) in [(1, 2 << 20), (3, 2 << 20), (3, 100), (4, (64 << 10) + 1), (5, 1)] {
            let parts = (0..servers).map(|server| Part { servers, server, region_bytes });
            assert_eq!(parts.map(Part::bytes).sum::<u64>(), region_bytes, "{servers} {region_bytes}");
        }
    }

    #[test]
    fn a_byte_that_is_another_one_is_found() {
        let part = Part { servers: 3, server: 1, region_bytes: 2 << 20 };
        let mut room = vec![0; part.bytes() as usize];
        part.fill(5, &mut room);
        assert!(part.begins(5, &room).is_ok() && part.begins(4, &room).is_err());
        let wanted = room.clone();
        assert!(same(&wanted, &room, 5, HostId(1)).is_ok());
        room[70_000] ^= 1;
        assert!(part.begins(5, &room).is_ok(), "stripes begin as they should");
        let what = same(&wanted, &room, 5, HostId(1)).unwrap_err().to_string();
        part.mark(6, &mut room);
        assert!(part.begins(6, &room).is_ok() && part.begins(5, &room).is_err());
        assert!(what.contains("host b") && what.contains("byte 70000 of"), "{what}");
    }
}
