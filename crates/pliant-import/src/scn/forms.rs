//! Forms of meshes: boxes, convex ones, closed ones.

use super::topology::Topology;
use pliant_dense::Vec3;
use std::collections::HashMap;

/// Size and centre of points that are the corners of a box along the axes.
pub(super) fn as_box(points: &[Vec3]) -> Option<(Vec3, Vec3)> {
    /// Share of the size that corners in files are off.
    const OFF: f64 = 1e-5;
    let first = *points.first()?;
    let (least, most) = points
        .iter()
        .fold((first, first), |(a, b), p| (a.inf(p), b.sup(p)));
    let size = most - least;
    let mut seen = [false; 8];
    for p in points {
        let mut corner = 0;
        for axis in 0..3 {
            let share = (p[axis] - least[axis]) / size[axis];
            if share.is_nan() || (share > OFF && share < 1.0 - OFF) {
                return None;
            }
            corner += usize::from(share > 0.5) << axis;
        }
        seen[corner] = true;
    }
    // What is off is rounding of the file.
    let round = |v: Vec3| v.map(|x| format!("{x:.5e}").parse().unwrap_or(x));
    seen.iter()
        .all(|s| *s)
        .then(|| (round(size), (least + most) / 2.0))
        .map(|(size, centre)| {
            let near = |x: f64, y: f64| if (x - y).abs() < OFF { x } else { y };
            let centre = Vec3::from_fn(|i, _| near((centre[i] * 1e4).round() / 1e4, centre[i]));
            (size, centre)
        })
}

/// Whether all points lie on one side of each triangle.
pub(super) fn is_convex(points: &[Vec3], triangles: &[[usize; 3]]) -> bool {
    const MOST: usize = 4_000_000;
    if triangles.is_empty() || triangles.len() * points.len() > MOST {
        return false;
    }
    let size = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
    triangles.iter().all(|[a, b, c]| {
        let (a, b, c) = (points[*a], points[*b], points[*c]);
        let normal = (b - a).cross(&(c - a));
        let tolerance = 1e-6 * size * normal.norm();
        let (mut least, mut most) = (0.0f64, 0.0f64);
        for p in points {
            let height = normal.dot(&(p - a));
            least = least.min(height);
            most = most.max(height);
        }
        least >= -tolerance || most <= tolerance
    })
}

/// Whether each side of a triangle is that of one other, in the other direction.
pub(super) fn is_closed(mesh: &Topology, triangles: &[[usize; 3]]) -> bool {
    let mut sides = HashMap::new();
    for [a, b, c] in triangles {
        for side in [(*a, *b), (*b, *c), (*c, *a)] {
            *sides.entry(side).or_insert(0) += 1;
        }
    }
    let volume: f64 = triangles
        .iter()
        .filter_map(|[a, b, c]| {
            let at = |i: &usize| mesh.points.get(*i);
            Some(at(a)?.dot(&at(b)?.cross(at(c)?)))
        })
        .sum();
    volume > 0.0
        && sides
            .iter()
            .all(|((a, b), n)| *n == 1 && sides.get(&(*b, *a)) == Some(&1))
}
