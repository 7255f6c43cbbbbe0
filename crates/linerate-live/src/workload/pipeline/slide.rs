//! The Virtual Microscope: of a slide in tiles a part is read, clipped, made smaller and shown.
//!
//! The slide is 4096 x 4096 pixels of a byte, 16 MiB, in tiles of 512 x 512. An update is a square of it, which moves from
//! unit to unit; of 4 x 4 pixels the mean is shown.

use super::filter::{Filter, HEAD, Out, Setup, moved, nonsense, u16_at, write_u16};
use crate::{Error, Result};
use std::sync::OnceLock;

/// Pixels of the slide's side, and of a tile's.
const SIDE: usize = 4096;
const TILE: usize = 512;
/// Pixels that become one, along each side.
const ZOOM: usize = 4;
/// What stands before pixels.
const PLACE: usize = 8;

/// By how much an update moves on, in steps of the zoom: primes.
const STEPS: [u64; 2] = [61, 97];

/// The slide, made once.
static SLIDE: OnceLock<Vec<u8>> = OnceLock::new();

fn slide() -> &'static [u8] {
    SLIDE.get_or_init(|| (0..SIDE * SIDE).map(|at| pixel(at % SIDE, at / SIDE)).collect())
}

/// A pixel of the slide: rings and stripes, and no two neighbours alike.
fn pixel(x: usize, y: usize) -> u8 {
    (((x * x + 3 * y * y) >> 5) ^ ((x * y) >> 7) ^ (x + 7 * y)) as u8
}

/// The square that a unit shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Square {
    x: usize,
    y: usize,
    side: usize,
}

impl Square {
    fn of_unit(setup: Setup, unit: u64) -> Square {
        let side = (setup.update_bytes.isqrt() as usize).min(SIDE) / ZOOM * ZOOM;
        let places = (SIDE - side) / ZOOM + 1;
        let [x, y] = STEPS.map(|step| ZOOM * moved(unit, step, places));
        Square { x, y, side }
    }

    /// Pixels of the image's side.
    fn shown(self) -> usize {
        self.side / ZOOM
    }
}

/// Reads the tiles that an update touches.
pub struct Read {
    setup: Setup,
    slide: &'static [u8],
}

impl Read {
    /// With the slide in memory.
    pub fn new(setup: Setup) -> Read {
        Read { setup, slide: slide() }
    }
}

impl Filter for Read {
    fn make(&mut self, unit: u64, out: &mut Out<'_>) -> Result<()> {
        let Square { x, y, side } = Square::of_unit(self.setup, unit);
        let most_rows = ((self.setup.buffer_bytes - PLACE) / TILE).max(1);
        let tiles = |from: usize| from / TILE..=(from + side - 1) / TILE;
        for (tile_y, tile_x) in tiles(y).flat_map(|row| tiles(x).map(move |column| (row, column))) {
            for row in (0..TILE).step_by(most_rows) {
                let rows = most_rows.min(TILE - row);
                out.record(PLACE + rows * TILE, |room| {
                    write_u16(room, &[tile_x, tile_y, row, rows]);
                    for (nth, line) in room[PLACE..].chunks_exact_mut(TILE).enumerate() {
                        let at = (tile_y * TILE + row + nth) * SIDE + tile_x * TILE;
                        line.copy_from_slice(&self.slide[at..at + TILE]);
                    }
                });
                out.flush();
                if out.stopped {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Cuts off what lies beyond the update.
pub struct Clip(pub Setup);

impl Filter for Clip {
    fn take(&mut self, unit: u64, bytes: &[u8], out: &mut Out<'_>) -> Result<()> {
        let square = Square::of_unit(self.0, unit);
        let bad = || nonsense("tiles");
        let number = |at| u16_at(bytes, at).ok_or_else(bad);
        let (left, top) = (number(0)? * TILE, number(2)? * TILE + number(4)?);
        let rows =
            bytes.get(PLACE..).filter(|rows| rows.len() == number(6).unwrap_or(0) * TILE).ok_or_else(bad)?;
        let (from, to) = (left.max(square.x), (left + TILE).min(square.x + square.side));
        for (nth, row) in rows.chunks_exact(TILE).enumerate() {
            let y = top + nth;
            if y < square.y || y >= square.y + square.side || from >= to {
                continue;
            }
            // A row may be longer than a buffer.
            let most = (self.0.buffer_bytes - PLACE) / ZOOM * ZOOM;
            for at in (from..to).step_by(most) {
                let len = most.min(to - at);
                out.record(PLACE + len, |room| {
                    write_u16(room, &[y - square.y, at - square.x, len]);
                    room[PLACE..].copy_from_slice(&row[at - left..at - left + len]);
                });
            }
        }
        Ok(())
    }
}

/// The next record of pixels: its row, its column, and its bytes; what follows it.
fn parted(bytes: &[u8], each: usize) -> Option<(usize, usize, &[u8], &[u8])> {
    let (row, column, count) = (u16_at(bytes, 0)?, u16_at(bytes, 2)?, u16_at(bytes, 4)?);
    let (pixels, rest) = bytes.get(PLACE..)?.split_at_checked(count * each)?;
    Some((row, column, pixels, rest))
}

/// Adds up pixels that become one: of each row, because other rows may be another copy's.
pub struct Subsample;

impl Filter for Subsample {
    fn take(&mut self, _unit: u64, mut bytes: &[u8], out: &mut Out<'_>) -> Result<()> {
        while !bytes.is_empty() {
            let (row, column, pixels, rest) = parted(bytes, 1).ok_or_else(|| nonsense("rows"))?;
            bytes = rest;
            let count = pixels.len() / ZOOM;
            out.record(PLACE + 2 * count, |room| {
                write_u16(room, &[row / ZOOM, column / ZOOM, count]);
                for (sum, four) in room[PLACE..].chunks_exact_mut(2).zip(pixels.chunks_exact(ZOOM)) {
                    let all: u16 = four.iter().map(|pixel| u16::from(*pixel)).sum();
                    sum.copy_from_slice(&all.to_be_bytes());
                }
            });
        }
        Ok(())
    }
}

/// Puts the image together.
pub struct View {
    setup: Setup,
    sums: Vec<u32>,
    image: Vec<u8>,
    slide: &'static [u8],
}

impl View {
    /// Of nothing yet.
    pub fn new(setup: Setup) -> View {
        let side = Square::of_unit(setup, 0).shown();
        View { setup, sums: vec![0; side * side], image: vec![0; side * side], slide: slide() }
    }
}

fn mean(sum: u32) -> u8 {
    (sum / (ZOOM * ZOOM) as u32) as u8
}

impl Filter for View {
    fn take(&mut self, unit: u64, mut bytes: &[u8], _out: &mut Out<'_>) -> Result<()> {
        let side = Square::of_unit(self.setup, unit).shown();
        while !bytes.is_empty() {
            let (row, column, sums, rest) = parted(bytes, 2).ok_or_else(|| nonsense("sums"))?;
            bytes = rest;
            let at = row * side + column;
            let is_within = row < side && column + sums.len() / 2 <= side;
            let line = self.sums.get_mut(at..at + sums.len() / 2).filter(|_| is_within);
            let line = line.ok_or_else(|| nonsense("sums of this update"))?;
            for (sum, two) in line.iter_mut().zip(sums.chunks_exact(2)) {
                *sum += u32::from(u16::from_be_bytes([two[0], two[1]]));
            }
        }
        Ok(())
    }

    fn end(&mut self, _unit: u64, _out: &mut Out<'_>) -> Result<()> {
        for (pixel, sum) in self.image.iter_mut().zip(&mut self.sums) {
            *pixel = mean(std::mem::take(sum));
        }
        Ok(())
    }

    fn check(&mut self, unit: u64) -> Result<()> {
        let truth = shown(self.slide, Square::of_unit(self.setup, unit));
        same(unit, &self.image, &truth)
    }
}

/// What one process makes of the slide, pixel by pixel.
fn shown(slide: &[u8], square: Square) -> Vec<u8> {
    let side = square.shown();
    let of_pixel = |at: usize| {
        let (x, y) = (square.x + at % side * ZOOM, square.y + at / side * ZOOM);
        let rows = (y..y + ZOOM).map(|row| &slide[row * SIDE + x..row * SIDE + x + ZOOM]);
        mean(rows.flatten().map(|pixel| u32::from(*pixel)).sum())
    };
    (0..side * side).map(of_pixel).collect()
}

/// Whether an image is the true one.
pub fn same(unit: u64, image: &[u8], truth: &[u8]) -> Result<()> {
    let at = image.iter().zip(truth).position(|(one, other)| one != other);
    let Some(at) = at.or((image.len() != truth.len()).then_some(0)) else { return Ok(()) };
    let told = |of: &[u8]| of.get(at).map_or("nothing".into(), ToString::to_string);
    let what =
        format!("pixel {at} of unit {unit} is {}, and one process makes it {}", told(image), told(truth));
    Err(Error::peer("the pipeline", what, "see the way between its hosts"))
}

// A row of a tile, with its place, goes into the least buffer.
const _: () = assert!((PLACE + TILE) as u64 <= crate::vocabulary::LEAST_BUFFER && HEAD == PLACE);
