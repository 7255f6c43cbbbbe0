//! An iso-surface: of a volume of samples a part is read in bricks, the surface in it is found, drawn, and the drawings are
//! put together.
//!
//! The volume is 256 x 256 x 256 samples, 64 MiB, of a gyroid, whose surface is everywhere. A brick has the samples on all
//! of its sides, so that each is worked on by itself, by whichever copy of a stage has it.

use super::filter::{Filter, Out, Setup, moved, nonsense, u16_at, u32_at, write_u16};
use super::slide::same;
use super::surface::{CORNERS, Triangle, is_crossed, triangles_of};
use crate::{Error, Result};
use std::sync::OnceLock;

/// Samples along each side.
const SIDE: usize = 256;
/// Periods of the gyroid along each side.
const PERIODS: f32 = 6.0;
/// Pixels of the image along each side.
const IMAGE: usize = 128;
/// What stands before a brick's samples: where it is, and its cells along each side.
const PLACE: usize = 12;
/// Bytes of a sample, a triangle, a point.
const SAMPLE: usize = 4;
const TRIANGLE: usize = 9 * SAMPLE;
const POINT: usize = 12;
/// The most cells of a brick along a side.
const MOST_CELLS: usize = 64;
/// In the place of a pixel: how many triangles were drawn.
const COUNT: u32 = u32::MAX;
/// By how much an update moves on: primes.
const STEPS: [u64; 3] = [31, 47, 53];

/// The samples, made once.
static VOLUME: OnceLock<Vec<f32>> = OnceLock::new();

/// sin x cos y + sin y cos z + sin z cos x (A. Schoen, NASA TN D-5541, 1970).
fn volume() -> &'static [f32] {
    VOLUME.get_or_init(|| {
        let angle = |at: usize| at as f32 * PERIODS * std::f32::consts::TAU / SIDE as f32;
        let waves: Vec<(f32, f32)> = (0..SIDE).map(|at| angle(at).sin_cos()).collect();
        let mut samples = Vec::with_capacity(SIDE * SIDE * SIDE);
        for (sin_z, cos_z) in &waves {
            for (sin_y, cos_y) in &waves {
                samples
                    .extend(waves.iter().map(|(sin_x, cos_x)| sin_x * cos_y + sin_y * cos_z + sin_z * cos_x));
            }
        }
        samples
    })
}

/// The cube of cells that a unit shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cube {
    at: [usize; 3],
    side: usize,
}

impl Cube {
    fn of_unit(setup: Setup, unit: u64) -> Cube {
        let side = root((setup.update_bytes / SAMPLE as u64) as usize).clamp(1, SIDE - 1);
        Cube { at: STEPS.map(|step| moved(unit, step, SIDE - side)), side }
    }
}

/// The largest number whose cube is no more.
fn root(cube: usize) -> usize {
    (1..=SIDE).take_while(|side| side * side * side <= cube).last().unwrap_or(0)
}

/// A brick: where it is in the volume, and its cells along each side.
type Brick = ([usize; 3], [usize; 3]);

/// Reads bricks.
pub struct Read {
    setup: Setup,
    volume: &'static [f32],
}

impl Read {
    /// With the volume in memory.
    pub fn new(setup: Setup) -> Read {
        Read { setup, volume: volume() }
    }

    fn write(&self, (at, cells): Brick, room: &mut [u8]) {
        write_u16(room, &[at[0], at[1], at[2], cells[0], cells[1], cells[2]]);
        let mut samples = room[PLACE..].chunks_exact_mut(SAMPLE);
        for z in at[2]..=at[2] + cells[2] {
            for y in at[1]..=at[1] + cells[1] {
                let from = (z * SIDE + y) * SIDE + at[0];
                for (sample, room) in self.volume[from..=from + cells[0]].iter().zip(&mut samples) {
                    room.copy_from_slice(&sample.to_le_bytes());
                }
            }
        }
    }
}

impl Filter for Read {
    fn make(&mut self, unit: u64, out: &mut Out<'_>) -> Result<()> {
        let cube = Cube::of_unit(self.setup, unit);
        let most = (root((self.setup.buffer_bytes - PLACE) / SAMPLE) - 1).clamp(1, MOST_CELLS);
        let steps = |axis: usize| {
            (0..cube.side).step_by(most).map(move |from| (cube.at[axis] + from, most.min(cube.side - from)))
        };
        for (z, deep) in steps(2) {
            for (y, high) in steps(1) {
                for (x, wide) in steps(0) {
                    let samples = (wide + 1) * (high + 1) * (deep + 1);
                    out.record(PLACE + SAMPLE * samples, |room| {
                        self.write(([x, y, z], [wide, high, deep]), room)
                    });
                    out.flush();
                    if out.stopped {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Finds the triangles of bricks.
pub struct Extract;

impl Filter for Extract {
    fn take(&mut self, _unit: u64, bytes: &[u8], out: &mut Out<'_>) -> Result<()> {
        let bad = || nonsense("bricks");
        let number = |at: usize| u16_at(bytes, 2 * at).ok_or_else(bad);
        let at = [number(0)?, number(1)?, number(2)?];
        let cells = [number(3)?, number(4)?, number(5)?];
        let samples = bytes.get(PLACE..).ok_or_else(bad)?.as_chunks::<SAMPLE>().0;
        let is_small = cells.iter().all(|side| (1..=MOST_CELLS).contains(side));
        let count = cells.iter().map(|side| side + 1).product::<usize>();
        if !is_small || samples.len() != count {
            return Err(bad());
        }
        let (wide, high) = (cells[0] + 1, cells[1] + 1);
        let row = |y: usize, z: usize| &samples[((z - at[2]) * high + y - at[1]) * wide..][..wide];
        cells_of((at, cells), row, |triangle| {
            out.put(|record: &mut [u8; TRIANGLE]| {
                for (room, number) in
                    record.as_chunks_mut::<SAMPLE>().0.iter_mut().zip(triangle.as_flattened())
                {
                    *room = number.to_le_bytes();
                }
            });
        });
        Ok(())
    }
}

/// A sample, as memory or a buffer has it.
trait Sample: Copy {
    fn value(self) -> f32;
}

impl Sample for f32 {
    #[inline]
    fn value(self) -> f32 {
        self
    }
}

impl Sample for [u8; SAMPLE] {
    #[inline]
    fn value(self) -> f32 {
        f32::from_le_bytes(self)
    }
}

/// The triangles in all cells of a brick, whose samples of this y and z a row has.
fn cells_of<'s, S: Sample + 's>(
    (at, cells): Brick,
    row: impl Fn(usize, usize) -> &'s [S],
    mut found: impl FnMut(Triangle),
) {
    for z in at[2]..at[2] + cells[2] {
        for y in at[1]..at[1] + cells[1] {
            let rows = [row(y, z), row(y + 1, z), row(y, z + 1), row(y + 1, z + 1)];
            for x in 0..cells[0] {
                let samples = CORNERS.map(|[dx, dy, dz]| rows[dy + 2 * dz][x + dx].value());
                if is_crossed(&samples) {
                    let corners = CORNERS.map(|[dx, dy, dz]| [at[0] + x + dx, y + dy, z + dz]);
                    triangles_of(corners, &samples, &mut found);
                }
            }
        }
    }
}

/// The same of a cube of the volume.
fn cells_of_volume(cube: Cube, found: impl FnMut(Triangle)) {
    let samples = volume();
    let row = |y: usize, z: usize| &samples[(z * SIDE + y) * SIDE + cube.at[0]..][..=cube.side];
    cells_of((cube.at, [cube.side; 3]), row, found);
}

/// Finds the surface that a unit is of without a pipeline, by one thread: the triangles. To hold a stage against.
pub fn surface_of(unit: u64, update_bytes: u64, found: &mut Vec<Triangle>) {
    found.clear();
    cells_of_volume(Cube::of_unit(Setup { buffer_bytes: 0, update_bytes }, unit), |triangle| {
        found.push(triangle)
    });
}

/// Finds and draws the surface that a unit is of without a pipeline, by one thread: its triangles. What the stages after the one
/// that finds it do meanwhile.
pub fn drawn(unit: u64, update_bytes: u64) -> u64 {
    shown(Cube::of_unit(Setup { buffer_bytes: 0, update_bytes }, unit)).1
}

/// The nearest points so far, each with its depth above its shade: the lesser of two is the nearer.
struct Drawing {
    cube: Cube,
    points: Vec<u64>,
    triangles: u64,
}

/// Nothing was drawn there.
const NOTHING: u64 = u64::MAX;

impl Drawing {
    fn new(cube: Cube) -> Drawing {
        Drawing { cube, points: vec![NOTHING; IMAGE * IMAGE], triangles: 0 }
    }

    /// Draws a triangle as it is seen from below: x and y become pixels, z the depth.
    fn draw(&mut self, triangle: &Triangle) {
        self.triangles += 1;
        let scale = IMAGE as f32 / self.cube.side as f32;
        let [a, b, c] = triangle.map(|corner| {
            let on = |axis: usize| (corner[axis] - self.cube.at[axis] as f32) * scale;
            [on(0), on(1), corner[2]]
        });
        let cross = |p: [f32; 3], q: [f32; 3], x: f32, y: f32| {
            (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
        };
        let area = cross(a, b, c[0], c[1]);
        if area == 0.0 {
            return;
        }
        let shade = u64::from(shade(triangle));
        let reach = |of: fn(f32, f32) -> f32, axis: usize| of(of(a[axis], b[axis]), c[axis]);
        let pixels = |axis: usize| {
            let (from, to) = (reach(f32::min, axis).floor().max(0.0), reach(f32::max, axis).ceil());
            from as usize..(to as usize + 1).min(IMAGE)
        };
        for row in pixels(1) {
            for column in pixels(0) {
                let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
                let weights =
                    [cross(b, c, x, y), cross(c, a, x, y), cross(a, b, x, y)].map(|part| part / area);
                if weights.iter().all(|weight| *weight >= 0.0) {
                    let depth = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
                    let point = u64::from(depth.max(0.0).to_bits()) << 32 | shade;
                    let nearest = &mut self.points[row * IMAGE + column];
                    *nearest = point.min(*nearest);
                }
            }
        }
    }

    fn image(&self) -> Vec<u8> {
        self.points.iter().map(|point| if *point == NOTHING { 0 } else { *point as u8 }).collect()
    }
}

/// How much of the light from where it is seen a triangle throws back.
fn shade(triangle: &Triangle) -> u8 {
    let [a, b, c] = *triangle;
    let side = |to: [f32; 3]| [0, 1, 2].map(|axis| to[axis] - a[axis]);
    let (u, v) = (side(b), side(c));
    let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = normal.iter().map(|part| part * part).sum::<f32>().sqrt();
    if length > 0.0 { (55.0 + 200.0 * (normal[2] / length).abs()) as u8 } else { 55 }
}

/// Draws triangles.
pub struct Raster {
    setup: Setup,
    drawing: Option<(u64, Drawing)>,
}

impl Raster {
    /// Of nothing yet.
    pub fn new(setup: Setup) -> Raster {
        Raster { setup, drawing: None }
    }

    fn of_unit(&mut self, unit: u64) -> &mut Drawing {
        let new = || (unit, Drawing::new(Cube::of_unit(self.setup, unit)));
        if self.drawing.as_ref().is_none_or(|(of, _)| *of != unit) {
            self.drawing = Some(new());
        }
        &mut self.drawing.get_or_insert_with(new).1
    }
}

impl Filter for Raster {
    fn take(&mut self, unit: u64, bytes: &[u8], _out: &mut Out<'_>) -> Result<()> {
        if !bytes.len().is_multiple_of(TRIANGLE) {
            return Err(nonsense("triangles"));
        }
        let drawing = self.of_unit(unit);
        for bytes in bytes.as_chunks::<TRIANGLE>().0 {
            let numbers = bytes.as_chunks::<SAMPLE>().0;
            let number = |at: usize| f32::from_le_bytes(numbers[at]);
            let triangle = [0, 1, 2].map(|corner| [0, 1, 2].map(|axis| number(3 * corner + axis)));
            // Others' numbers may be none, or far away.
            if triangle.iter().flatten().all(|number| (0.0..=SIDE as f32).contains(number)) {
                drawing.draw(&triangle);
            }
        }
        Ok(())
    }

    fn end(&mut self, unit: u64, out: &mut Out<'_>) -> Result<()> {
        self.of_unit(unit);
        let Some((_, drawing)) = self.drawing.take() else { return Ok(()) };
        let mut point = |at: u32, depth: u32, shade: u32| {
            out.record(POINT, |room| {
                for (room, number) in room.chunks_exact_mut(SAMPLE).zip([at, depth, shade]) {
                    room.copy_from_slice(&number.to_be_bytes());
                }
            });
        };
        for (at, nearest) in drawing.points.iter().enumerate().filter(|(_, nearest)| **nearest != NOTHING) {
            point(at as u32, (*nearest >> 32) as u32, *nearest as u32);
        }
        point(COUNT, 0, drawing.triangles as u32);
        Ok(())
    }
}

/// Puts drawings together.
pub struct Merge {
    setup: Setup,
    points: Vec<u64>,
    triangles: u64,
    shown: (Vec<u8>, u64),
}

impl Merge {
    /// Of nothing yet.
    pub fn new(setup: Setup) -> Merge {
        // Made before anything is timed.
        let _made = volume();
        Merge { setup, points: vec![NOTHING; IMAGE * IMAGE], triangles: 0, shown: (Vec::new(), 0) }
    }
}

impl Filter for Merge {
    fn take(&mut self, _unit: u64, bytes: &[u8], _out: &mut Out<'_>) -> Result<()> {
        for bytes in bytes.chunks(POINT) {
            let number = |at: usize| u32_at(bytes, SAMPLE * at).ok_or_else(|| nonsense("fragments"));
            let (at, depth, shade) = (number(0)?, number(1)?, number(2)?);
            if at == COUNT {
                self.triangles += u64::from(shade);
                continue;
            }
            let nearest = self.points.get_mut(at as usize).ok_or_else(|| nonsense("fragments"))?;
            *nearest = (u64::from(depth) << 32 | u64::from(shade)).min(*nearest);
        }
        Ok(())
    }

    fn end(&mut self, unit: u64, _out: &mut Out<'_>) -> Result<()> {
        let empty = Drawing::new(Cube::of_unit(self.setup, unit));
        let drawing = Drawing { points: std::mem::replace(&mut self.points, empty.points), ..empty };
        self.shown = (drawing.image(), std::mem::take(&mut self.triangles));
        Ok(())
    }

    fn check(&mut self, unit: u64) -> Result<()> {
        let (image, triangles) = shown(Cube::of_unit(self.setup, unit));
        if self.shown.1 != triangles {
            let what =
                format!("unit {unit} has {} triangles, and one process finds {triangles}", self.shown.1);
            return Err(Error::peer("the pipeline", what, "see the way between its hosts"));
        }
        same(unit, &self.shown.0, &image)
    }
}

/// What one process makes of the volume: the image, and the number of triangles.
fn shown(cube: Cube) -> (Vec<u8>, u64) {
    let mut drawing = Drawing::new(cube);
    cells_of_volume(cube, |triangle| drawing.draw(&triangle));
    (drawing.image(), drawing.triangles)
}

// The least brick goes into the least buffer.
const _: () = assert!((PLACE + 8 * SAMPLE) as u64 <= crate::vocabulary::LEAST_BUFFER);
