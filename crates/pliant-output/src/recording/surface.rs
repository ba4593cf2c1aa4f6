//! Surfaces of triangles that bodies are drawn with.

use super::Shape;
use std::f64::consts::PI;
use std::sync::Arc;

/// Meridians of a surface of revolution.
const MERIDIANS: usize = 24;
/// Points of a half circle from pole to pole, less one.
const PARALLELS: usize = 12;

/// Triangles in body axes about the centre of mass, anticlockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners (m).
    pub vertices: Vec<[f64; 3]>,
    /// Triples of corners.
    pub triangles: Vec<[u32; 3]>,
}

impl From<Surface> for Shape {
    fn from(surface: Surface) -> Self {
        Self::Mesh(Arc::new(surface))
    }
}

impl Surface {
    /// A profile of points (distance from the z axis, height), from the lowest to the highest,
    /// turned about the z axis. The first and the last lie on the axis.
    pub fn turned(profile: &[[f64; 2]]) -> Self {
        let mut out = Self::default();
        let mut below: Vec<u32> = Vec::new();
        for [radius, z] in profile {
            let first = out.vertices.len() as u32;
            let count = if *radius > 0.0 { MERIDIANS } else { 1 };
            for k in 0..count {
                let azimuth = 2.0 * PI * k as f64 / MERIDIANS as f64;
                out.vertices
                    .push([radius * azimuth.cos(), radius * azimuth.sin(), *z]);
            }
            let ring: Vec<u32> = (0..MERIDIANS).map(|k| first + (k % count) as u32).collect();
            if !below.is_empty() {
                out.join(&below, &ring);
            }
            below = ring;
        }
        out
    }

    /// Triangles between two rings; a ring may be one point.
    fn join(&mut self, below: &[u32], above: &[u32]) {
        for k in 0..MERIDIANS {
            let next = (k + 1) % MERIDIANS;
            let (a, b, c, d) = (below[k], below[next], above[next], above[k]);
            for triangle in [[a, b, c], [a, c, d]] {
                let [x, y, z] = triangle;
                if x != y && y != z && z != x {
                    self.triangles.push(triangle);
                }
            }
        }
    }

    /// A cylinder along z with half balls at both ends; `length` is that between their centres.
    pub fn capsule(radius: f64, length: f64) -> Self {
        let mut profile = half_circle(radius);
        let half = profile.len() / 2;
        let middle = profile[half];
        for point in &mut profile[..=half] {
            point[1] -= 0.5 * length;
        }
        for point in &mut profile[half + 1..] {
            point[1] += 0.5 * length;
        }
        profile.insert(half + 1, [middle[0], middle[1] + 0.5 * length]);
        Self::turned(&profile)
    }

    /// An ellipsoid of these half axes.
    pub fn ellipsoid(half: [f64; 3]) -> Self {
        let mut out = Self::turned(&half_circle(1.0));
        for vertex in &mut out.vertices {
            *vertex = [0, 1, 2].map(|k| vertex[k] * half[k]);
        }
        out
    }

    /// The largest distance from the origin along each axis.
    pub fn reach(&self) -> [f64; 3] {
        let largest = |k: usize| self.vertices.iter().fold(0.0f64, |m, v| m.max(v[k].abs()));
        [largest(0), largest(1), largest(2)]
    }
}

/// Points of a half circle from the south pole to the north.
fn half_circle(radius: f64) -> Vec<[f64; 2]> {
    let at = |k: usize| {
        let polar = PI * k as f64 / PARALLELS as f64;
        // The poles exactly on the axis.
        let across = if k == 0 || k == PARALLELS {
            0.0
        } else {
            polar.sin()
        };
        [radius * across, -radius * polar.cos()]
    };
    (0..=PARALLELS).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enclosed volume, positive if the triangles face outwards.
    fn volume(surface: &Surface) -> f64 {
        let part = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| surface.vertices[v as usize]);
            (a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0]))
                / 6.0
        };
        surface.triangles.iter().map(part).sum()
    }

    #[test]
    fn surfaces_enclose_about_the_volume_of_what_they_draw() {
        let r: f64 = 0.5;
        let cases = [
            (
                Surface::turned(&[[0.0, -1.0], [r, -1.0], [r, 1.0], [0.0, 1.0]]),
                2.0 * PI * r * r,
            ),
            (Surface::turned(&[[0.0, 0.0], [r, 0.0], [0.0, 3.0]]), PI * r * r),
            (Surface::capsule(r, 2.0), PI * r * r * (2.0 + 4.0 / 3.0 * r)),
            (Surface::ellipsoid([1.0, 2.0, 3.0]), 8.0 * PI),
        ];
        for (surface, expected) in cases {
            let found = volume(&surface);
            assert!(found < expected && found > 0.95 * expected, "{found} {expected}");
            let mut edges: Vec<[u32; 2]> = Vec::new();
            for [a, b, c] in &surface.triangles {
                edges.extend([[*a, *b], [*b, *c], [*c, *a]]);
            }
            assert!(edges.iter().all(|[a, b]| edges.contains(&[*b, *a])), "closed");
        }
    }
}
