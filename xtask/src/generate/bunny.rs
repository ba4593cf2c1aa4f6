//! A bunny: a closed surface about a few ellipsoids that grow together, and hexahedra around all of
//! it.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Edge of a cell that has a vertex of the surface, in thousandths of a metre; four of them are the
/// edge of a hexahedron.
const FINE: i64 = 15;
const RATIO: i64 = 4;
/// Corner of the grid, in fine cells, and how many there are along each axis.
const FIRST: [i64; 3] = [-12, -10, -4];
const CELLS: [i64; 3] = [24, 20, 36];

/// Centre and half axes of a part (m): body, head, two ears, tail, four feet.
const PARTS: [[[f64; 3]; 2]; 9] = [
    [[-0.02, 0.0, 0.10], [0.11, 0.085, 0.095]],
    [[0.08, 0.0, 0.21], [0.065, 0.055, 0.055]],
    [[0.06, 0.04, 0.31], [0.025, 0.02, 0.085]],
    [[0.06, -0.04, 0.31], [0.025, 0.02, 0.085]],
    [[-0.135, 0.0, 0.09], [0.03, 0.03, 0.03]],
    [[0.07, 0.05, 0.03], [0.045, 0.03, 0.03]],
    [[0.07, -0.05, 0.03], [0.045, 0.03, 0.03]],
    [[-0.06, 0.06, 0.035], [0.06, 0.035, 0.035]],
    [[-0.06, -0.06, 0.035], [0.06, 0.035, 0.035]],
];

/// Positive inside. Each part adds `(1 - q/2.25)^3` of the square `q` of the distance in half axes,
/// as far as that is positive; alone it is an ellipsoid.
fn inside(at: [f64; 3]) -> f64 {
    let term = |q: f64| (1.0 - q / 2.25).max(0.0).powi(3);
    let sum: f64 = PARTS
        .iter()
        .map(|[centre, half]| {
            let q = (0..3).map(|k| ((at[k] - centre[k]) / half[k]).powi(2)).sum();
            term(q)
        })
        .sum();
    sum - term(1.0)
}

/// The place of a corner of the fine grid.
fn place(corner: [i64; 3]) -> [f64; 3] {
    corner.map(|c| (FINE * c) as f64 / 1000.0)
}

/// All fine cells, by their least corner.
fn fine_cells() -> impl Iterator<Item = [i64; 3]> {
    let range = |k: usize| FIRST[k]..FIRST[k] + CELLS[k];
    range(2).flat_map(move |z| range(1).flat_map(move |y| range(0).map(move |x| [x, y, z])))
}

/// The corner of a cell with these bits, one for each axis.
fn corner(cell: [i64; 3], bits: usize) -> [i64; 3] {
    [0, 1, 2].map(|k| cell[k] + (bits >> k & 1) as i64)
}

/// The surface as a PLY file of quadrangles: a vertex in each cell that it goes through, in the
/// mean of where it crosses the edges of the cell, and a quadrangle around each edge that it
/// crosses.
pub(super) fn surface() -> String {
    let mut vertices = Vec::new();
    let mut numbers = BTreeMap::new();
    let mut faces = Vec::new();
    for cell in fine_cells() {
        let values: [f64; 8] = std::array::from_fn(|bits| inside(place(corner(cell, bits))));
        let (mut sum, mut crossings) = ([0.0; 3], 0.0);
        for bits in 0..8usize {
            for axis in 0..3 {
                let other = bits | 1 << axis;
                if other == bits || (values[bits] > 0.0) == (values[other] > 0.0) {
                    continue;
                }
                let part = values[bits] / (values[bits] - values[other]);
                let (a, b) = (place(corner(cell, bits)), place(corner(cell, other)));
                (0..3).for_each(|k| sum[k] += a[k] + part * (b[k] - a[k]));
                crossings += 1.0;
            }
        }
        if crossings > 0.0 {
            numbers.insert(cell, vertices.len());
            vertices.push(sum.map(|s| s / crossings));
        }
    }
    for cell in fine_cells() {
        for axis in 0..3 {
            let ends = [
                inside(place(cell)) > 0.0,
                inside(place(corner(cell, 1 << axis))) > 0.0,
            ];
            if ends[0] == ends[1] {
                continue;
            }
            // The four cells around the edge, anticlockwise seen from its end.
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut around = [[0, 0], [-1, 0], [-1, -1], [0, -1]].map(|[a, b]| {
                let mut at = cell;
                at[u] += a;
                at[v] += b;
                numbers[&at]
            });
            if ends[1] {
                around.reverse();
            }
            faces.push(around);
        }
    }
    let mut text = format!(
        "ply\nformat ascii 1.0\ncomment a bunny, in metres; written by cargo xtask gen: change the generator, not this file\n\
         element vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        vertices.len(),
        faces.len()
    );
    for x in &vertices {
        // Micrometres, so that the last bit does not matter; the sum takes the sign off zero.
        let [x, y, z] = x.map(|x| (x * 1e6).round() / 1e6 + 0.0);
        let _ = writeln!(text, "{x:.6} {y:.6} {z:.6}");
    }
    for [a, b, c, d] in &faces {
        let _ = writeln!(text, "4 {a} {b} {c} {d}");
    }
    text
}

/// The hexahedra that hold something of the inside, as an Abaqus file.
pub(super) fn volume() -> String {
    let mut coarse = BTreeMap::new();
    for cell in fine_cells() {
        if (0..8).any(|bits| inside(place(corner(cell, bits))) > 0.0) {
            let of = |k: usize| (cell[k] - FIRST[k]).div_euclid(RATIO);
            coarse.insert([of(2), of(1), of(0)], ());
        }
    }
    // Corners of a hexahedron: its bottom, then its top.
    const ORDER: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];
    let mut nodes = BTreeMap::new();
    for cell in coarse.keys() {
        for bits in 0..8usize {
            let at = [
                cell[0] + (bits >> 2) as i64,
                cell[1] + (bits >> 1 & 1) as i64,
                cell[2] + (bits & 1) as i64,
            ];
            nodes.insert(at, 0);
        }
    }
    let mut text = String::from(
        "** Hexahedra around a bunny, in metres. Written by cargo xtask gen: change the generator, not this file.\n*NODE\n",
    );
    for (k, (at, number)) in nodes.iter_mut().enumerate() {
        *number = k + 1;
        let [z, y, x] = *at;
        let [x, y, z] = [(0, x), (1, y), (2, z)].map(|(k, c)| FINE * (FIRST[k] + RATIO * c));
        let metres = |c: i64| {
            format!(
                "{}{}.{:03}",
                if c < 0 { "-" } else { "" },
                c.abs() / 1000,
                c.abs() % 1000
            )
        };
        let _ = writeln!(text, "{number}, {}, {}, {}", metres(x), metres(y), metres(z));
    }
    text.push_str("*ELEMENT, TYPE=C3D8\n");
    for (k, cell) in coarse.keys().enumerate() {
        let _ = write!(text, "{}", k + 1);
        for bits in ORDER {
            let at = [
                cell[0] + (bits >> 2) as i64,
                cell[1] + (bits >> 1 & 1) as i64,
                cell[2] + (bits & 1) as i64,
            ];
            let _ = write!(text, ", {}", nodes[&at]);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each edge has one quadrangle on either side, in opposite senses, and the whole is one ball:
    /// V - E + F = 2.
    #[test]
    fn the_surface_is_closed_and_faces_outwards() {
        let text = surface();
        let body = text.split_once("end_header\n").unwrap().1;
        let rows: Vec<Vec<f64>> = body
            .lines()
            .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect();
        let (vertices, faces): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.len() == 3);
        let mut edges = BTreeMap::new();
        let mut volume = 0.0;
        for face in &faces {
            let nodes: Vec<usize> = face[1..].iter().map(|n| *n as usize).collect();
            for k in 0..4 {
                let edge = [nodes[k], nodes[(k + 1) % 4]];
                assert!(edges.insert(edge, ()).is_none(), "{edge:?} twice");
            }
            for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
                let [a, b, c] = [a, b, c].map(|k: usize| &vertices[nodes[k]]);
                volume += a[0] * (b[1] * c[2] - b[2] * c[1])
                    + a[1] * (b[2] * c[0] - b[0] * c[2])
                    + a[2] * (b[0] * c[1] - b[1] * c[0]);
            }
        }
        assert!(edges.keys().all(|[a, b]| edges.contains_key(&[*b, *a])));
        assert_eq!(vertices.len() + faces.len(), edges.len() / 2 + 2);
        // As much as the points of a grid that are inside say, to the order of its spacing.
        let step = 0.005;
        let count = |k: usize| (CELLS[k] * FINE) as usize / 5;
        let at = |k: usize, i: usize| (FIRST[k] * FINE) as f64 / 1000.0 + (i as f64 + 0.5) * step;
        let mut counted = 0.0;
        for i in 0..count(0) {
            for j in 0..count(1) {
                counted += (0..count(2))
                    .filter(|k| inside([at(0, i), at(1, j), at(2, *k)]) > 0.0)
                    .count() as f64;
            }
        }
        let counted = counted * step * step * step;
        assert!(
            (volume / 6.0 - counted).abs() < 0.03 * counted,
            "{} {counted}",
            volume / 6.0
        );
    }
}
