//! Family (a): bodies of six degrees of freedom on joints, as a chain or as a closed planar loop.

use super::{Entries, STEP, noise, system};
use pliant::dense::rotation::{exp, matrix};
use pliant::dense::{Mat3, Vec3, skew};
use pliant::solvers::{KktSystem, SolveError};

/// Length of a link, m; its section is 0.02 x 0.02 m, its mass 1 kg.
const LENGTH: f64 = 0.1;
const GRAVITY: f64 = 9.81;
/// Stiffness of the spring that holds a point of each link of a [`Pose::Turned`] chain, N/m.
const SPRING: f64 = 100.0;

/// How the links of a chain lie, which decides how full the blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pose {
    /// Each link is turned about an axis of its own, and a soft spring holds one of its points: all
    /// entries of the 6 x 6 and of the angular blocks are there, as in a step with geometric
    /// stiffness.
    Turned,
    /// All links along x, nothing but mass: `W` is diagonal, zeros of `J` are left out. The
    /// sparsest chain there is.
    Straight,
}

/// A chain of `links` bodies: joint k holds body k to body k - 1 (the first one to the ground), by
/// a ball joint (3 rows) for even k and a hinge (5 rows) for odd k. `n = 6 links`, `m = 4 links`
/// for even `links`, `R = compliance I`.
///
/// Unknowns of a body: velocity of its centre in world axes, angular velocity in body axes. With
/// the rotation `Q` and the arm `p` (world axes) from the centre to the joint, a ball joint is
/// `v + Q w x p` of one body less that of the other, `[I, -[p]x Q]`; a hinge adds
/// `t . (Q w - Q' w')` for two directions t. `W` is the mass block `diag(m, m, m, I)`, and for
/// [`Pose::Turned`] the response `h^2 k P^T P`, `P = [I, -[s]x Q]`, of the spring at the point s.
/// Right-hand sides: gravity, and gaps of at most half a millimetre.
///
/// # Errors
/// [`SolveError::Sparse`] if the chain is too long for 32-bit indices.
pub fn chain(links: usize, compliance: f64, pose: Pose) -> Result<KktSystem, SolveError> {
    let rotation = |k: usize| match pose {
        Pose::Straight => Mat3::identity(),
        Pose::Turned => {
            let axis = Vec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2));
            matrix(exp(axis * 3.0))
        }
    };
    let body = |k: usize| Body {
        rotation: rotation(k),
    };
    let mut parts = Parts::default();
    for k in 0..links {
        body(k).add_mass(&mut parts.w, 6 * k, pose);
    }
    let mut row = 0;
    let mut sizes = Vec::with_capacity(links);
    for k in 0..links {
        let rows = if k % 2 == 0 { 3 } else { 5 };
        if k > 0 {
            parts.add_joint(row, rows, 6 * (k - 1), &body(k - 1), LENGTH / 2.0, -1.0, pose);
        }
        parts.add_joint(row, rows, 6 * k, &body(k), -LENGTH / 2.0, 1.0, pose);
        for i in row..row + rows {
            parts.r.add(i, i, compliance);
        }
        row += rows;
        sizes.push(rows);
    }
    let mut out = system(
        [parts.w, parts.j, parts.r],
        std::iter::repeat_n(6, links),
        sizes.into_iter(),
    )?;
    for k in 0..links {
        out.c[6 * k + 2] = -STEP * GRAVITY;
    }
    for (i, b) in out.b.iter_mut().enumerate() {
        *b = 1e-3 * noise(i);
    }
    Ok(out)
}

/// A closed loop of `links` (at least 4) bodies in the plane z = 0, a regular polygon on hinges (5
/// rows each) whose axes are all along z: the three rows that keep the last hinge in the plane say
/// what the others said. `n = 6 links`, `m = 5 links`, rank `m - 3`, `R` as given on the diagonal
/// (zero: redundant rows), and a right-hand side `b = J v` that every row agrees on.
///
/// # Errors
/// [`SolveError::Sparse`] if the loop is too long for 32-bit indices.
pub fn closed_loop(links: usize, compliance: f64) -> Result<KktSystem, SolveError> {
    let body = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / links as f64;
        Body {
            rotation: matrix(exp(Vec3::new(0.0, 0.0, angle))),
        }
    };
    let mut parts = Parts::default();
    for k in 0..links {
        body(k).add_mass(&mut parts.w, 6 * k, Pose::Straight);
        let before = (k + links - 1) % links;
        parts.add_joint(
            5 * k,
            5,
            6 * before,
            &body(before),
            LENGTH / 2.0,
            -1.0,
            Pose::Turned,
        );
        parts.add_joint(5 * k, 5, 6 * k, &body(k), -LENGTH / 2.0, 1.0, Pose::Turned);
        for i in 5 * k..5 * k + 5 {
            parts.r.add(i, i, compliance);
        }
    }
    let mut out = system(
        [parts.w, parts.j, parts.r],
        std::iter::repeat_n(6, links),
        std::iter::repeat_n(5, links),
    )?;
    let velocity: Vec<f64> = (0..out.n()).map(|i| 0.01 * noise(i)).collect();
    out.j.add_product(1.0, &velocity, &mut out.b);
    for k in 0..links {
        out.c[6 * k + 1] = -STEP * GRAVITY;
    }
    Ok(out)
}

/// A link by its orientation; its long axis is x of its own axes.
struct Body {
    rotation: Mat3,
}

impl Body {
    /// `Q -> -[p]x Q` for an arm along the long axis.
    fn lever(&self, along: f64) -> Mat3 {
        -skew(self.rotation * Vec3::new(along, 0.0, 0.0)) * self.rotation
    }

    fn add_mass(&self, w: &mut Entries, first: usize, pose: Pose) {
        let width = 0.02f64;
        let inertia = [
            (2.0 * width * width) / 12.0,
            (LENGTH * LENGTH + width * width) / 12.0,
            (LENGTH * LENGTH + width * width) / 12.0,
        ];
        let diagonal = [1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2]];
        let full = pose == Pose::Turned;
        // A point off the axis, so that the spring resists every turn.
        let s = self.rotation * Vec3::new(0.3 * LENGTH, 0.4 * width, 0.3 * width);
        let lever = -skew(s) * self.rotation;
        let p = |i: usize, j: usize| {
            if j < 3 {
                f64::from(u8::from(i == j))
            } else {
                lever[(i, j - 3)]
            }
        };
        for i in 0..6 {
            for j in 0..=i {
                let own = if i == j { diagonal[i] } else { 0.0 };
                if full {
                    let spring: f64 = (0..3).map(|l| p(l, i) * p(l, j)).sum();
                    w.add(first + i, first + j, own + STEP * STEP * SPRING * spring);
                } else if i == j {
                    w.add(first + i, first + j, own);
                }
            }
        }
    }
}

#[derive(Default)]
struct Parts {
    w: Entries,
    j: Entries,
    r: Entries,
}

impl Parts {
    /// One body's part of a joint at `along` its long axis.
    fn add_joint(
        &mut self,
        row: usize,
        rows: usize,
        first: usize,
        body: &Body,
        along: f64,
        sign: f64,
        pose: Pose,
    ) {
        let lever = body.lever(along);
        for i in 0..rows {
            for j in 0..6 {
                let value = match (i, j) {
                    (0..3, 0..3) => f64::from(u8::from(i == j)),
                    (0..3, _) => lever[(i, j - 3)],
                    (_, 0..3) => 0.0,
                    // Two directions across the axis, which is z of the world.
                    _ => body.rotation[(i - 3, j - 3)],
                };
                // Zeros that hold in every pose are left out, for the sake of solvers that see
                // single entries.
                let there = if pose == Pose::Turned {
                    j >= 3 || i == j
                } else {
                    value != 0.0
                };
                if there {
                    self.j.add(row + i, first + j, sign * value);
                }
            }
        }
    }
}
