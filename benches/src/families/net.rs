//! Family (b): a square net of particles on springs, held at its corners, in two forms of the same
//! step.

use super::{Entries, STEP, noise, system};
use pliant::solvers::{KktSystem, SolveError};

/// Mass of a particle, kg.
const MASS: f64 = 0.01;
/// Stiffness of a spring, N/m: `h^2 k / m = 10`.
const STIFFNESS: f64 = 1000.0;
/// Distance of particles along the sides, m.
const SPACING: f64 = 0.1;
const GRAVITY: f64 = 9.81;

/// A spring between two particles (`None`: a held corner), with its direction.
struct Edge {
    ends: [Option<usize>; 2],
    direction: [f64; 3],
}

/// The springs of an `side x side` net: along both sides and both diagonals of each cell. The net
/// is curved and a little irregular.
fn springs(side: usize) -> Vec<Edge> {
    let last = side - 1;
    let corner = |i: usize, j: usize| (i == 0 || i == last) && (j == 0 || j == last);
    let index = |i: usize, j: usize| {
        let k = i * side + j;
        let before = [(0, 0), (0, last), (last, 0), (last, last)];
        let held = before.iter().filter(|(a, b)| a * side + b < k).count();
        (!corner(i, j)).then(|| k - held)
    };
    let at = |i: usize, j: usize| {
        let k = 3 * (i * side + j);
        let (u, v) = (i as f64 / last as f64 - 0.5, j as f64 / last as f64 - 0.5);
        let sag = SPACING * last as f64 * 0.3 * (u * u + v * v);
        [
            SPACING * (i as f64 + 0.1 * noise(k)),
            SPACING * (j as f64 + 0.1 * noise(k + 1)),
            sag + SPACING * 0.1 * noise(k + 2),
        ]
    };
    let mut out = Vec::with_capacity(4 * side * side);
    for i in 0..side {
        for j in 0..side {
            let cell = [
                ((i, j), (i + 1, j)),
                ((i, j), (i, j + 1)),
                ((i, j), (i + 1, j + 1)),
                ((i, j + 1), (i + 1, j)),
            ];
            for (a, b) in cell {
                if a.0.max(b.0) > last || a.1.max(b.1) > last {
                    continue;
                }
                let (p, q) = (at(a.0, a.1), at(b.0, b.1));
                let d: [f64; 3] = std::array::from_fn(|k| q[k] - p[k]);
                let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
                out.push(Edge {
                    ends: [index(a.0, a.1), index(b.0, b.1)],
                    direction: d.map(|x| x / length),
                });
            }
        }
    }
    out
}

/// The net by its stiffness: `W = M + h^2 sum k B^T B`, `B = [-d, d]` for a spring of direction d,
/// with k = 1000 N/m and particles of 0.01 kg. `n = 3 side^2 - 12` (the corners are held), no rows;
/// blocks of 3.
///
/// # Errors
/// [`SolveError::Sparse`] if the net is too large for 32-bit indices.
///
/// # Panics
/// If `side` is below 2.
pub fn stiffness(side: usize) -> Result<KktSystem, SolveError> {
    let particles = side * side - 4;
    let mut w = Entries::default();
    add_masses(&mut w, particles, true);
    for spring in springs(side) {
        for (a, sa) in spring.ends.iter().zip([-1.0, 1.0]) {
            for (b, sb) in spring.ends.iter().zip([-1.0, 1.0]) {
                let (Some(a), Some(b)) = (a, b) else { continue };
                for p in 0..3 {
                    for q in (0..3).filter(|q| 3 * b + q <= 3 * a + p) {
                        let product = spring.direction[p] * spring.direction[q];
                        w.add(3 * a + p, 3 * b + q, STEP * STEP * STIFFNESS * sa * sb * product);
                    }
                }
            }
        }
    }
    let parts = [w, Entries::default(), Entries::default()];
    let out = system(parts, std::iter::repeat_n(3, particles), std::iter::empty())?;
    Ok(weighted(out))
}

/// The net of [`stiffness`] in compliance form: `W = M` (diagonal), a row `B` for each spring with
/// `R = 1 / (h^2 k)`. `n = 3 side^2 - 12`, `m = 4 side^2 - 6 side + 2`; blocks of 3 and rows of 1.
///
/// # Errors
/// [`SolveError::Sparse`] if the net is too large for 32-bit indices.
///
/// # Panics
/// If `side` is below 2.
pub fn compliance(side: usize) -> Result<KktSystem, SolveError> {
    let particles = side * side - 4;
    let mut parts: [Entries; 3] = Default::default();
    add_masses(&mut parts[0], particles, false);
    let springs = springs(side);
    for (i, spring) in springs.iter().enumerate() {
        for (end, sign) in spring.ends.iter().zip([-1.0, 1.0]) {
            for (k, d) in spring.direction.iter().enumerate() {
                if let Some(particle) = end {
                    parts[1].add(i, 3 * particle + k, sign * d);
                }
            }
        }
        parts[2].add(i, i, 1.0 / (STEP * STEP * STIFFNESS));
    }
    let rows = std::iter::repeat_n(1, springs.len());
    let out = system(parts, std::iter::repeat_n(3, particles), rows)?;
    Ok(weighted(out))
}

/// Diagonal masses, in a whole block if the springs will fill it.
fn add_masses(w: &mut Entries, particles: usize, whole: bool) {
    for i in 0..3 * particles {
        let first = if whole { i - i % 3 } else { i };
        for j in first..=i {
            w.add(i, j, if i == j { MASS } else { 0.0 });
        }
    }
}

/// Gravity, and momentum that differs from particle to particle.
fn weighted(mut system: KktSystem) -> KktSystem {
    for (i, c) in system.c.iter_mut().enumerate() {
        let fall = if i % 3 == 2 { -STEP * GRAVITY } else { 0.0 };
        *c = MASS * (fall + 0.1 * noise(i));
    }
    system
}
