//! The surface where samples cross nought, in one cell of eight of them, by marching tetrahedra.
//!
//! Its own few lines rather than a crate: what is found in a cell follows from its samples alone, so that a volume in
//! bricks gives the triangles of the whole, whatever their order. Crates that join what neighbouring cells find (surface
//! nets) do not.

/// Three corners.
pub type Triangle = [[f32; 3]; 3];

/// The corners of a cell.
pub const CORNERS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];

/// Six tetrahedra about one diagonal (H. Freudenthal, Annals of Mathematics 43, 1942): those of neighbours share faces.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]];

/// Whether the surface is in a cell: most have none.
#[inline]
pub fn is_crossed(samples: &[f32; 8]) -> bool {
    let inside: usize = samples.iter().map(|sample| usize::from(*sample < 0.0)).sum();
    inside != 0 && inside != samples.len()
}

/// Tells the triangles of a cell that is crossed.
pub fn triangles_of(corners: [[usize; 3]; 8], samples: &[f32; 8], mut found: impl FnMut(Triangle)) {
    for tetrahedron in TETRAHEDRA {
        let crossing = |one: usize, other: usize| {
            let (a, b) = (samples[tetrahedron[one]], samples[tetrahedron[other]]);
            let (from, to) = (corners[tetrahedron[one]], corners[tetrahedron[other]]);
            let share = a / (a - b);
            [0, 1, 2].map(|axis| from[axis] as f32 + share * (to[axis] as f32 - from[axis] as f32))
        };
        let is_inside = |at: &usize| samples[tetrahedron[*at]] < 0.0;
        let (within, beyond): (Few, Few) = split(is_inside);
        match (within.slice(), beyond.slice()) {
            ([one], [a, b, c]) | ([a, b, c], [one]) => {
                found([crossing(*one, *a), crossing(*one, *b), crossing(*one, *c)]);
            }
            ([a, b], [c, d]) => {
                let [ac, ad, bc, bd] =
                    [crossing(*a, *c), crossing(*a, *d), crossing(*b, *c), crossing(*b, *d)];
                found([ac, ad, bd]);
                found([ac, bd, bc]);
            }
            _ => {}
        }
    }
}

/// Up to four numbers.
#[derive(Default)]
struct Few {
    all: [usize; 4],
    len: usize,
}

impl Few {
    fn push(&mut self, one: usize) {
        self.all[self.len] = one;
        self.len += 1;
    }

    fn slice(&self) -> &[usize] {
        &self.all[..self.len]
    }
}

fn split(is_first: impl Fn(&usize) -> bool) -> (Few, Few) {
    let (mut first, mut second) = (Few::default(), Few::default());
    for at in 0..4 {
        if is_first(&at) { first.push(at) } else { second.push(at) }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area([a, b, c]: &Triangle) -> f32 {
        let side = |to: &[f32; 3]| [0, 1, 2].map(|axis| to[axis] - a[axis]);
        let (u, v) = (side(b), side(c));
        let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        cross.iter().map(|part| part * part).sum::<f32>().sqrt() / 2.0
    }

    /// A sphere of radius 20 about the middle of 64 cells: its area and its closedness are known.
    #[test]
    fn a_spheres_area_comes_out() {
        const SIDE: usize = 64;
        let mut found = Vec::new();
        for cell in 0..SIDE * SIDE * SIDE {
            let at = [cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE];
            let corners = CORNERS.map(|corner| [0, 1, 2].map(|axis| at[axis] + corner[axis]));
            let sample = |corner: [usize; 3]| {
                corner.iter().map(|x| (*x as f32 - 32.0).powi(2)).sum::<f32>().sqrt() - 20.1
            };
            triangles_of(corners, &corners.map(sample), |one| found.push(one));
        }
        let (all, truth) = (found.iter().map(area).sum::<f32>(), 4.0 * std::f32::consts::PI * 20.1 * 20.1);
        assert!((all / truth - 1.0).abs() < 0.01, "{all}, not {truth}");
        for corner in found.iter().flatten() {
            let radius = corner.iter().map(|x| (x - 32.0).powi(2)).sum::<f32>().sqrt();
            assert!((radius - 20.1).abs() < 0.1, "{radius}");
        }
    }

    #[test]
    fn a_cell_on_one_side_has_no_surface() {
        let mut found = Vec::new();
        for of_one_side in [[1.0; 8], [-1.0; 8]] {
            assert!(!is_crossed(&of_one_side));
            triangles_of(CORNERS, &of_one_side, |one| found.push(one));
        }
        assert!(found.is_empty());
        let mut one = [1.0; 8];
        one[1] = -1.0;
        triangles_of(CORNERS, &one, |triangle| found.push(triangle));
        assert!(is_crossed(&one));
        assert_eq!(found.len(), 2, "corner 1 is one of two tetrahedra");
    }
}
