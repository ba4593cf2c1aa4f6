//! Points and cells of the shapes that `flexcomp` makes, in the order in which MuJoCo has them.

use pliant_dense::Vec3;
use std::collections::HashMap;

/// Points, and cells of so many of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    pub(super) points: Vec<Vec3>,
    pub(super) cells: Vec<Vec<usize>>,
}

/// Cubes in tetrahedra: corners along x, y, z are bits of weight 1, 2, 4.
const TETRAHEDRA: [[usize; 4]; 6] = [
    [0b000, 0b010, 0b001, 0b110],
    [0b000, 0b001, 0b100, 0b110],
    [0b001, 0b010, 0b011, 0b110],
    [0b001, 0b011, 0b111, 0b110],
    [0b001, 0b101, 0b100, 0b110],
    [0b001, 0b111, 0b101, 0b110],
];

/// Numbers of points along each axis of a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) count: [usize; 3],
    pub(super) spacing: [f64; 3],
}

impl Grid {
    /// A coordinate along an axis, from the middle.
    fn at(&self, axis: usize, index: usize) -> f64 {
        self.spacing[axis] * (index as f64 - 0.5 * (self.count[axis] as f64 - 1.0))
    }

    /// Half of the extent along an axis.
    fn half(&self, axis: usize) -> f64 {
        0.5 * self.spacing[axis] * (self.count[axis] as f64 - 1.0)
    }

    /// The number of a point of a grid in a plane.
    pub(super) fn in_plane(&self, x: usize, y: usize) -> usize {
        x * self.count[1] + y
    }

    /// The number of a point of a grid in space.
    pub(super) fn in_space(&self, x: usize, y: usize, z: usize) -> usize {
        self.in_plane(x, y) * self.count[2] + z
    }
}

/// Points in a row along x.
pub(super) fn line(grid: &Grid) -> Cells {
    let points = (0..grid.count[0]).map(|x| Vec3::new(grid.at(0, x), 0.0, 0.0));
    Cells {
        points: points.collect(),
        cells: (1..grid.count[0]).map(|x| vec![x - 1, x]).collect(),
    }
}

/// Points around a circle, one fewer than the count, a spacing apart.
pub(super) fn circle(grid: &Grid) -> Cells {
    let count = grid.count[0].saturating_sub(1);
    let step = std::f64::consts::TAU / count as f64;
    let radius = 0.5 * grid.spacing[0] / (0.5 * step).sin();
    let point = |i: usize| {
        let angle = step * i as f64;
        Vec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
    };
    Cells {
        points: (0..count).map(point).collect(),
        cells: (0..count).map(|i| vec![i, (i + 1) % count]).collect(),
    }
}

/// A rectangle of triangles. With `disc` diagonals run away from the middle, and points are drawn
/// towards it: their distance is the half extent times the larger of both coordinates.
pub(super) fn plane(grid: &Grid, disc: bool) -> Cells {
    /// Coordinates in metres of the middle line, to rounding.
    const MIDDLE: f64 = 1e-14;
    let mut out = Cells::default();
    for x in 0..grid.count[0] {
        for y in 0..grid.count[1] {
            let place = [grid.at(0, x), grid.at(1, y)];
            out.points.push(Vec3::new(place[0], place[1], 0.0));
            if x + 1 >= grid.count[0] || y + 1 >= grid.count[1] {
                continue;
            }
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)];
            let [a, b, c, d] = corners.map(|(i, k)| grid.in_plane(x + i, y + k));
            let [low_x, low_y] = place.map(|p| p < -MIDDLE);
            let [high_x, high_y] = place.map(|p| p > -MIDDLE);
            if disc && ((low_x && high_y) || (high_x && low_y)) {
                out.cells.extend([vec![a, b, d], vec![b, c, d]]);
            } else {
                out.cells.extend([vec![a, b, c], vec![a, c, d]]);
            }
        }
    }
    if disc {
        for p in &mut out.points {
            let largest = p.x.abs().max(p.y.abs());
            let unit = p.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
            *p = Vec3::new(unit.x * grid.half(0), unit.y * grid.half(1), 0.0) * largest;
        }
    }
    out
}

/// A block of tetrahedra, six in each cell.
pub(super) fn block(grid: &Grid) -> Cells {
    let mut out = Cells::default();
    let [nx, ny, nz] = grid.count;
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                out.points
                    .push(Vec3::new(grid.at(0, x), grid.at(1, y), grid.at(2, z)));
                if x + 1 < nx && y + 1 < ny && z + 1 < nz {
                    let corner =
                        |bits: usize| grid.in_space(x + (bits & 1), y + (bits >> 1 & 1), z + (bits >> 2));
                    out.cells.extend(TETRAHEDRA.map(|t| t.map(corner).to_vec()));
                }
            }
        }
    }
    out
}

/// The shape that the surface of a box is drawn to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Box,
    Cylinder,
    Ellipsoid,
}

/// The surface of a box: of triangles, without its top, or with tetrahedra to its middle, which is
/// the first point.
pub(super) fn hollow(grid: &Grid, rounding: Rounding, filled: bool) -> Cells {
    let mut out = Cells::default();
    if filled {
        out.points.push(Vec3::zeros());
    }
    let [nx, ny, nz] = grid.count;
    let mut numbers: HashMap<[usize; 3], usize> = HashMap::new();
    let mut add = |at: [usize; 3]| {
        numbers.entry(at).or_insert_with(|| {
            out.points.push(rounded(grid, rounding, at));
            out.points.len() - 1
        });
    };
    // Each side has the points that no side before it has.
    for z in [0, nz - 1] {
        if z == 0 || filled {
            (0..nx).for_each(|x| (0..ny).for_each(|y| add([x, y, z])));
        }
    }
    let levels = 1..if filled { nz - 1 } else { nz };
    for y in [0, ny - 1] {
        (0..nx).for_each(|x| levels.clone().for_each(|z| add([x, y, z])));
    }
    for x in [0, nx - 1] {
        (1..ny - 1).for_each(|y| levels.clone().for_each(|z| add([x, y, z])));
    }
    let of = |at: [usize; 3]| numbers.get(&at).copied().unwrap_or_default();
    let sides = sides(grid, filled);
    let cells = sides.into_iter().map(|corners| {
        let corners = corners.map(of);
        match filled {
            true => [&[0][..], &corners].concat(),
            false => corners.to_vec(),
        }
    });
    out.cells = cells.collect();
    out
}

/// Triangles of the sides of a box, by the places of their corners in the grid.
fn sides(grid: &Grid, filled: bool) -> Vec<[[usize; 3]; 3]> {
    let count = grid.count;
    let mut out = Vec::new();
    for across in [2, 1, 0] {
        let [a, b] = [[1, 2], [0, 2], [0, 1]][across];
        for level in [0, count[across] - 1] {
            if across == 2 && level > 0 && !filled {
                continue;
            }
            for i in 0..count[a] - 1 {
                for k in 0..count[b] - 1 {
                    let corner = |di: usize, dk: usize| {
                        let mut at = [0; 3];
                        (at[a], at[b], at[across]) = (i + di, k + dk, level);
                        at
                    };
                    out.extend(halves(across, level > 0, filled).map(|t| t.map(|[di, dk]| corner(di, dk))));
                }
            }
        }
    }
    out
}

/// Both triangles of a square of a side, by their corners in the square: of tetrahedra along the
/// diagonal, of triangles the way round that faces outwards, where the first axis of the side
/// decides.
fn halves(across: usize, far: bool, filled: bool) -> [[[usize; 2]; 3]; 2] {
    if filled {
        return [[[0, 0], [1, 0], [1, 1]], [[0, 0], [0, 1], [1, 1]]];
    }
    if across == 2 {
        // The bottom.
        return [[[0, 0], [1, 1], [1, 0]], [[0, 0], [0, 1], [1, 1]]];
    }
    // From where the first corner is, along the side, then up.
    let turned = if across == 1 { far } else { !far };
    let (near, next) = if turned { (1, 0) } else { (0, 1) };
    [
        [[near, 0], [next, 0], [next, 1]],
        [[near, 0], [next, 1], [near, 1]],
    ]
}

/// A point of the surface of a box, drawn to what is rounded.
fn rounded(grid: &Grid, rounding: Rounding, at: [usize; 3]) -> Vec3 {
    let [x, y, z] = [0, 1, 2].map(|k| 2.0 * at[k] as f64 / (grid.count[k] as f64 - 1.0) - 1.0);
    let place = match rounding {
        Rounding::Box => Vec3::new(x, y, z),
        Rounding::Cylinder => {
            let size = x.abs().max(y.abs());
            let unit = Vec3::new(x, y, 0.0)
                .try_normalize(0.0)
                .unwrap_or_else(Vec3::zeros);
            Vec3::new(unit.x * size, unit.y * size, z)
        }
        Rounding::Ellipsoid => Vec3::new(x, y, z).try_normalize(0.0).unwrap_or_else(Vec3::zeros),
    };
    place.component_mul(&Vec3::new(grid.half(0), grid.half(1), grid.half(2)))
}
