//! The surface of a field as points and triangles, for drawing and for finding what is near: a
//! point in each cell that the surface passes, at the mean of where it crosses the edges of the
//! cell (Gibson 1998, surface nets), then on the surface of the interpolant; and two triangles over
//! each edge of the grid that it crosses.

use pliant_dense::Vec3;

use super::interpolant::Interpolant;

/// Steps to the surface of the interpolant.
const MOST_STEPS: usize = 20;

const NONE: u32 = u32::MAX;

/// Points on the surface and triangles, counter-clockwise seen from outside.
pub(super) fn surface(grid: &Interpolant) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let [nx, ny, nz] = grid.counts;
    let mut points = Vec::new();
    let mut of_cell = vec![NONE; grid.values.len()];
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                if let Some(point) = crossing(grid, [x, y, z]) {
                    of_cell[grid.entry([x, y, z])] = points.len() as u32;
                    points.push(onto(grid, point));
                }
            }
        }
    }
    let mut triangles = Vec::new();
    for entry in 0..grid.values.len() {
        let at = grid.index(entry);
        for axis in 0..3 {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut next = at;
            next[axis] += 1;
            let inner = at[b] > 0 && at[c] > 0 && at[b] + 1 < grid.counts[b] && at[c] + 1 < grid.counts[c];
            if next[axis] == grid.counts[axis] || !inner {
                continue;
            }
            let inside = [at, next].map(|k| grid.values[grid.entry(k)] < 0.0);
            if inside[0] == inside[1] {
                continue;
            }
            // The four cells around the edge, counter-clockwise seen from its far end.
            let cell = |back_b: usize, back_c: usize| {
                let mut cell = at;
                cell[b] -= back_b;
                cell[c] -= back_c;
                of_cell[grid.entry(cell)]
            };
            let mut quad = [cell(0, 0), cell(1, 0), cell(1, 1), cell(0, 1)];
            if inside[1] {
                quad.reverse();
            }
            if !quad.contains(&NONE) {
                triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
            }
        }
    }
    (points, triangles)
}

/// The mean of where the surface crosses the edges of a cell.
fn crossing(grid: &Interpolant, cell: [usize; 3]) -> Option<Vec3> {
    let corner = |k: usize| [0, 1, 2].map(|axis| cell[axis] + (k >> axis & 1));
    let values: [f64; 8] = std::array::from_fn(|k| grid.values[grid.entry(corner(k))]);
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    for k in 0..8 {
        for axis in 0..3 {
            let other = k | 1 << axis;
            if other == k || (values[k] < 0.0) == (values[other] < 0.0) {
                continue;
            }
            let t = values[k] / (values[k] - values[other]);
            let (p, q) = (grid.place(corner(k)), grid.place(corner(other)));
            sum += p + (q - p) * if t.is_finite() { t } else { 0.5 };
            count += 1.0;
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// The point of the surface of the interpolant along the gradient from a point, if it is near.
fn onto(grid: &Interpolant, start: Vec3) -> Vec3 {
    let mut point = start;
    for _ in 0..MOST_STEPS {
        let Some((jet, (normal, length))) = grid.at(point).and_then(|j| Some((j, j.normal()?))) else {
            return start;
        };
        let step = jet.value / length;
        point -= normal * step;
        let way = (point - start).norm();
        if way.is_nan() || way > 1.5 * grid.coarse() {
            return start;
        }
        if step.abs() <= 1e-14 * grid.fine() {
            break;
        }
    }
    if grid.at(point).is_some() { point } else { start }
}
