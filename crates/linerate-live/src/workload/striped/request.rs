//! What a client asks a server for, as it crosses.

use super::layout::{Part, REGIONS};
use super::tile::Tile;
use crate::vocabulary::MOST_REGION;

/// What is asked for, the region, the servers and which of them is asked, the bytes of a region, and of a tile the tiles, its
/// number, the overlap, the first row and the rows.
pub const REQUEST: usize = 44;

/// Stripes are wanted.
pub const READ: u8 = b'R';
/// Stripes follow.
pub const WRITE: u8 = b'W';
/// A file for this is to be made, with what is to be read in it.
pub const MAKE: u8 = b'M';
/// The same, with nothing in it.
pub const EMPTY: u8 = b'N';
/// Nothing: the client waits for another server.
pub const STAY: u8 = b'S';
/// It is over.
pub const OVER: u8 = b'E';

/// The longest file, of which a server has its part.
const MOST_FILE: u64 = 1 << 30;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which of the above.
    pub what: u8,
    /// Of what.
    pub part: Part,
    /// Of which region.
    pub region: u32,
}

impl Request {
    /// The last one.
    pub fn over() -> Request {
        let part = Part { servers: 1, server: 0, region_bytes: 0, tile: None };
        Request { what: OVER, part, region: 0 }
    }

    /// That the client is still there.
    pub fn stay() -> Request {
        Request { what: STAY, ..Request::over() }
    }

    /// As it crosses.
    pub fn written(self) -> [u8; REQUEST] {
        let mut bytes = [0; REQUEST];
        bytes[0] = self.what;
        bytes[1] = u8::from(self.part.tile.is_some());
        let tile = self.part.tile.unwrap_or(Tile { rows: 0, ..Tile::whole(0) });
        let of_tile = [tile.tiles, tile.number, tile.overlap, tile.first_row, tile.rows];
        let words = [self.region, self.part.servers, self.part.server].into_iter().chain(of_tile);
        bytes[4..12].copy_from_slice(&self.part.region_bytes.to_be_bytes());
        for (word, room) in words.zip(bytes[12..].chunks_exact_mut(4)) {
            room.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// What came is from the network: none where it asks for what cannot be.
    pub fn read(bytes: &[u8; REQUEST]) -> Option<Request> {
        let number = |nth: usize| bytes[12 + 4 * nth..].first_chunk().map(|four| u32::from_be_bytes(*four));
        let region_bytes = bytes[4..].first_chunk().map(|eight| u64::from_be_bytes(*eight))?;
        let [tiles, tile, overlap, first_row, rows] =
            [number(3)?, number(4)?, number(5)?, number(6)?, number(7)?];
        let tile = Tile { tiles, number: tile, overlap, first_row, rows };
        let tile = (bytes[1] != 0).then_some(tile);
        let part = Part { servers: number(1)?, server: number(2)?, region_bytes, tile };
        let request = Request { what: bytes[0], part, region: number(0)? };
        (request.is_known() && request.is_small()).then_some(request)
    }

    fn is_known(self) -> bool {
        let is_known = [READ, WRITE, MAKE, EMPTY, STAY, OVER].contains(&self.what);
        is_known && self.region < REGIONS && self.part.server < self.part.servers
    }

    /// Memory is set aside for it.
    fn is_small(self) -> bool {
        let Part { region_bytes, tile, .. } = self.part;
        let is_tile =
            |tile: Tile| tile.is_possible(region_bytes) && tile.frame_bytes(region_bytes) <= MOST_FILE;
        region_bytes <= MOST_REGION && tile.is_none_or(is_tile)
    }
}

// Every region of a file is at hand at once.
const _: () = assert!(MOST_REGION * REGIONS as u64 <= MOST_FILE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_as_it_went_or_not_at_all() {
        let part = Part { servers: 3, server: 2, region_bytes: 2 << 20, tile: None };
        let tile = Tile { tiles: 2, number: 1, overlap: 128, ..Tile::whole(2 << 20) };
        for part in [part, Part { tile: Some(tile.row(3)), ..part }] {
            let request = Request { what: READ, part, region: 5 };
            assert_eq!(Request::read(&request.written()), Some(request));
        }
        for request in [Request::over(), Request::stay()] {
            assert_eq!(Request::read(&request.written()), Some(request));
        }
        for wrong in [
            Request { what: b'?', part, region: 0 },
            Request { what: READ, part, region: REGIONS },
            Request { what: READ, part: Part { server: 3, ..part }, region: 0 },
            Request { what: READ, part: Part { region_bytes: MOST_REGION + 1, ..part }, region: 0 },
            Request { what: READ, part: Part { tile: Some(Tile { number: 2, ..tile }), ..part }, region: 0 },
            Request {
                what: WRITE,
                part: Part {
                    region_bytes: MOST_REGION,
                    tile: Some(Tile { tiles: 1000, ..Tile::whole(MOST_REGION) }),
                    ..part
                },
                region: 0,
            },
        ] {
            assert_eq!(Request::read(&wrong.written()), None, "{wrong:?}");
        }
    }
}
