//! Which stripes of a region or of a tile a server has, and what is in them.

use super::Tile;
use crate::plan::HostId;
use crate::unit::Bytes;
use crate::vocabulary::FILE_REGIONS;
use crate::{Error, Result};
use std::io;

/// PVFS' default: bytes of a stripe.
pub const STRIPE: u64 = 64 << 10;

/// Regions of a file, which are used one after the other, again and again.
pub const REGIONS: u32 = FILE_REGIONS as u32;

/// What one server has of each region, or of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Servers of the file.
    pub servers: u32,
    /// Which of them it is.
    pub server: u32,
    /// Bytes of a region, or of a tile.
    pub region_bytes: u64,
    /// Which rows of which tile, where it is one of a frame.
    pub tile: Option<Tile>,
}

impl Part {
    /// What is asked for as it lies in the file, or in the region: places and lengths.
    fn rows(self) -> impl Iterator<Item = (u64, u64)> {
        let bytes = self.region_bytes;
        let whole = [(0, bytes)].into_iter().filter(move |_| self.tile.is_none());
        let of_tile = self.tile.into_iter().flat_map(move |tile| tile.places(bytes));
        whole.chain(of_tile)
    }

    /// The pieces of it that lie in this server's stripes: places and lengths.
    fn stripes(self) -> impl Iterator<Item = (u64, u64)> {
        let (server, servers) = (u64::from(self.server), u64::from(self.servers.max(1)));
        self.rows().flat_map(move |(at, len)| {
            let end = at + len;
            let stripes = (at / STRIPE..end.div_ceil(STRIPE)).filter(move |nth| nth % servers == server);
            stripes.map(move |nth| {
                let from = at.max(nth * STRIPE);
                (from, end.min((nth + 1) * STRIPE) - from)
            })
        })
    }

    /// The same as they lie in a file: what one server has of a whole is not cut.
    pub fn pieces(self) -> impl Iterator<Item = (u64, u64)> {
        let is_alone = self.servers == 1;
        let rows = self.rows().filter(move |_| is_alone);
        rows.chain(self.stripes().filter(move |_| !is_alone))
    }

    /// Bytes of it that it has.
    pub fn bytes(self) -> u64 {
        self.stripes().map(|(_, len)| len).sum()
    }

    /// Where what is at a place of the frame lies among the stripes of a server.
    pub fn within_server(self, at: u64) -> u64 {
        at / STRIPE / u64::from(self.servers.max(1)) * STRIPE + at % STRIPE
    }

    /// All of the frame that a server has, where it is one: no more than this.
    pub fn frame_bytes(self) -> u64 {
        let all = self.tile.map_or(0, |tile| tile.frame_bytes(self.region_bytes));
        all.div_ceil(STRIPE).div_ceil(u64::from(self.servers.max(1))).saturating_mul(STRIPE)
    }

    /// The word that stands at a place of a region, first of 8 bytes. A frame is one region.
    fn word(self, region: u32, at: u64) -> u64 {
        let region = if self.tile.is_some() { 0 } else { region };
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

    fn part(servers: u32, server: u32, region_bytes: u64) -> Part {
        Part { servers, server, region_bytes, tile: None }
    }

    #[test]
    fn the_parts_of_all_servers_are_a_region() {
        for (servers, region_bytes) in [(1, 2 << 20), (3, 2 << 20), (3, 100), (4, (64 << 10) + 1), (5, 1)] {
            let parts = (0..servers).map(|server| part(servers, server, region_bytes));
            assert_eq!(parts.map(Part::bytes).sum::<u64>(), region_bytes, "{servers} {region_bytes}");
        }
    }

    /// Every byte of a tile is had by one server, and every byte of the frame is in a tile; where tiles overlap, in two.
    #[test]
    fn the_parts_of_all_servers_are_a_tile() {
        for (servers, tiles, overlap) in [(1, 1, 0), (2, 2, 0), (2, 3, 128), (3, 4, 1)] {
            let bytes = 3 << 20;
            let frame = Tile { tiles, overlap, ..Tile::whole(bytes) }.frame_bytes(bytes) as usize;
            let mut covered = vec![0_u8; frame];
            for tile in (0..tiles).map(|number| Tile { tiles, number, overlap, ..Tile::whole(bytes) }) {
                let mut seen = 0;
                for server in 0..servers {
                    let part = Part { tile: Some(tile), ..part(servers, server, bytes) };
                    for (at, len) in part.stripes() {
                        covered[at as usize..(at + len) as usize].iter_mut().for_each(|byte| *byte += 1);
                        assert!(part.within_server(at) + len <= part.frame_bytes());
                    }
                    seen += part.bytes();
                    let pieces: u64 = part.pieces().map(|(_, len)| len).sum();
                    assert_eq!(pieces, part.bytes());
                }
                assert_eq!(seen, bytes);
            }
            let twice = covered.iter().filter(|times| **times == 2).count() as u64;
            assert!(covered.iter().all(|times| [1, 2].contains(times)));
            assert_eq!(twice, u64::from(tiles - 1) * u64::from(overlap) * 32 * (bytes / (32 << 10)));
        }
    }

    #[test]
    fn a_byte_that_is_another_one_is_found() {
        let part = part(3, 1, 2 << 20);
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
