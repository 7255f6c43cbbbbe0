//! The tiles of a frame: a wall of displays, each of which shows its part of every row.

/// Bytes of an element, and elements of a tile's row: P. Balaji et al., Cluster 2005, section 6.2.
const ELEMENT: u64 = 32;
const ROW: u64 = 1024 * ELEMENT;

/// The most tiles of a frame, and elements that two have in common.
const MOST_TILES: u32 = 1024;
const MOST_OVERLAP: u32 = 512;

/// Some rows of a tile. Tiles stand beside each other, each as high as the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Tiles of the frame.
    pub tiles: u32,
    /// Which of them it is.
    pub number: u32,
    /// Elements of a row that two tiles beside each other have in common.
    pub overlap: u32,
    /// The first row.
    pub first_row: u32,
    /// How many rows.
    pub rows: u32,
}

impl Tile {
    /// All rows of a tile of so many bytes, of a frame that has no other one.
    pub fn whole(bytes: u64) -> Tile {
        let rows = u32::try_from(bytes.div_ceil(ROW)).unwrap_or(u32::MAX);
        Tile { tiles: 1, number: 0, overlap: 0, first_row: 0, rows }
    }

    /// One row of it.
    pub fn row(self, row: u32) -> Tile {
        Tile { first_row: row, rows: 1, ..self }
    }

    /// From a tile's beginning to that of the one beside it.
    fn step(self) -> u64 {
        ROW - u64::from(self.overlap) * ELEMENT
    }

    /// From a row of the frame to the next.
    fn pitch(self) -> u64 {
        self.step() * u64::from(self.tiles.saturating_sub(1)) + ROW
    }

    /// All of the frame, of which each tile has so many bytes.
    pub fn frame_bytes(self, bytes: u64) -> u64 {
        let rows = bytes.div_ceil(ROW);
        self.pitch().saturating_mul(rows)
    }

    /// Its rows in the frame: places and lengths.
    pub fn places(self, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let (pitch, left) = (self.pitch(), u64::from(self.number) * self.step());
        let rows = u64::from(self.first_row)..u64::from(self.first_row) + u64::from(self.rows);
        rows.map(move |row| (row * pitch + left, ROW.min(bytes.saturating_sub(row * ROW))))
    }

    /// Whether there is such a tile, of so many bytes.
    pub fn is_possible(self, bytes: u64) -> bool {
        let last = u64::from(self.first_row) + u64::from(self.rows);
        let is_in = self.number < self.tiles && last <= bytes.div_ceil(ROW);
        is_in && self.tiles <= MOST_TILES && self.overlap <= MOST_OVERLAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tiles_of_the_paper_are_48_mib() {
        let tile = Tile { tiles: 2, number: 1, ..Tile::whole(24 << 20) };
        assert_eq!((tile.rows, tile.frame_bytes(24 << 20)), (768, 48 << 20));
        assert_eq!(tile.places(24 << 20).nth(1), Some(((64 << 10) + (32 << 10), 32 << 10)));
        let overlapping = Tile { overlap: 128, ..tile };
        assert_eq!(overlapping.places(24 << 20).next(), Some((28 << 10, 32 << 10)));
    }

    #[test]
    fn what_is_no_tile_is_told() {
        let tile = Tile { tiles: 2, number: 1, ..Tile::whole(1 << 20) };
        assert!(tile.is_possible(1 << 20) && tile.row(31).is_possible(1 << 20));
        let all = [tile.row(32), Tile { number: 2, ..tile }, Tile { overlap: 513, ..tile }];
        assert!(all.iter().all(|tile| !tile.is_possible(1 << 20)));
        assert!(!Tile { rows: u32::MAX, ..tile }.is_possible(1 << 20));
    }
}
