//! Rigid bodies, contacts, and the two forms of their problem.

use crate::corpus::generate::linear::system;
use pliant_lab::exchange::{Mixed, Statement};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{BlockSparse, Cone, Problem};
use pliant_sparse::PatternBuilder;

pub(super) type Vec3 = [f64; 3];

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// A body with principal axes along its own; `axes` are columns in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) mass: f64,
    /// Principal moments; infinite for a point.
    pub(super) inertia: Vec3,
    pub(super) half: Vec3,
    pub(super) at: Vec3,
    /// Rows: the directions of the principal axes in the world.
    pub(super) axes: [Vec3; 3],
    /// Without contact.
    pub(super) velocity: Vec3,
}

const WORLD: [Vec3; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl Body {
    pub(super) fn block(mass: f64, half: Vec3, at: Vec3) -> Self {
        let [x, y, z] = half.map(|h| h * h);
        Self {
            mass,
            inertia: [y + z, x + z, x + y].map(|s| mass * s / 3.0),
            half,
            at,
            axes: WORLD,
            velocity: [0.0; 3],
        }
    }

    pub(super) fn sphere(mass: f64, radius: f64, at: Vec3) -> Self {
        Self {
            inertia: [0.4 * mass * radius * radius; 3],
            half: [radius; 3],
            ..Self::block(mass, [radius; 3], at)
        }
    }

    pub(super) fn point(mass: f64) -> Self {
        Self {
            // It turns without anybody noticing: its contacts are at its centre.
            inertia: [1.0; 3],
            ..Self::block(mass, [0.0; 3], [0.0; 3])
        }
    }
}

/// A contact; the normal, first of the directions, points from `below` (none: the ground) to
/// `above`.
#[derive(Clone, Copy, Debug)]
struct Contact {
    below: Option<usize>,
    above: usize,
    at: Vec3,
    directions: [Vec3; 3],
    mu: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) bodies: Vec<Body>,
    contacts: Vec<Contact>,
    /// Pairs of bodies whose centres keep their distance along a direction.
    pub(super) rods: Vec<(usize, usize, Vec3)>,
}

/// Two directions across a normal.
pub(super) fn frame(normal: Vec3) -> [Vec3; 3] {
    let least = if normal[0].abs() < 0.7 { WORLD[0] } else { WORLD[1] };
    let t = cross(normal, least);
    let length = t.iter().map(|x| x * x).sum::<f64>().sqrt();
    let t = t.map(|x| x / length);
    [normal, t, cross(normal, t)]
}

impl Scene {
    /// A contact at a point of the world.
    pub(super) fn touch(
        &mut self,
        below: Option<usize>,
        above: usize,
        at: Vec3,
        directions: [Vec3; 3],
        mu: f64,
    ) {
        self.contacts.push(Contact {
            below,
            above,
            at,
            directions,
            mu,
        });
    }

    /// Contacts at the corners of the common part of the bottom of a block and the top of what is
    /// below; the normal is z.
    pub(super) fn rest(&mut self, below: Option<usize>, above: usize, mu: f64) {
        let top = self.bodies[above];
        let range = |k: usize| {
            let (mut low, mut high) = (top.at[k] - top.half[k], top.at[k] + top.half[k]);
            if let Some(b) = below.map(|b| self.bodies[b]) {
                low = low.max(b.at[k] - b.half[k]);
                high = high.min(b.at[k] + b.half[k]);
            }
            [low, high]
        };
        let (xs, ys, z) = (range(0), range(1), top.at[2] - top.half[2]);
        for x in xs {
            for y in ys {
                self.touch(below, above, [x, y, z], [WORLD[2], WORLD[0], WORLD[1]], mu);
            }
        }
    }

    /// The row of a direction at a point of a body, in the body's velocity: linear in the world,
    /// angular in its axes.
    fn row(&self, body: usize, at: Vec3, direction: Vec3, sign: f64) -> [f64; 6] {
        let b = &self.bodies[body];
        let arm = std::array::from_fn(|k| at[k] - b.at[k]);
        let moment = cross(arm, direction);
        let mut out = [0.0; 6];
        for k in 0..3 {
            out[k] = sign * direction[k];
            let along: f64 = (0..3).map(|l| b.axes[k][l] * moment[l]).sum();
            out[3 + k] = sign * along;
        }
        out
    }

    /// The bodies of a contact and its rows.
    fn rows(&self, c: &Contact) -> Vec<(usize, [[f64; 6]; 3])> {
        let of = |body: usize, sign: f64| (body, c.directions.map(|d| self.row(body, c.at, d, sign)));
        let below = c.below.map(|body| of(body, -1.0));
        below.into_iter().chain([of(c.above, 1.0)]).collect()
    }

    fn inertia(&self, body: usize, k: usize) -> f64 {
        let b = &self.bodies[body];
        if k < 3 { b.mass } else { b.inertia[k - 3] }
    }

    fn cones(&self) -> Vec<Cone> {
        self.contacts.iter().map(|c| Cone::Coulomb { mu: c.mu }).collect()
    }

    /// With the Delassus operator; there must be no rods.
    pub(super) fn problem(&self) -> Statement {
        assert!(self.rods.is_empty());
        let rows: Vec<_> = self.contacts.iter().map(|c| self.rows(c)).collect();
        let mut blocks = Vec::new();
        let mut b = Vec::new();
        for (i, own) in rows.iter().enumerate() {
            for d in 0..3 {
                let velocity = |(body, r): &(usize, [[f64; 6]; 3])| -> f64 {
                    (0..3).map(|k| r[d][k] * self.bodies[*body].velocity[k]).sum()
                };
                b.push(own.iter().map(velocity).sum());
            }
            for (k, other) in rows.iter().enumerate() {
                let mut values = vec![0.0; 9];
                let mut coupled = false;
                for (body, p) in own {
                    for (_, q) in other.iter().filter(|(o, _)| o == body) {
                        coupled = true;
                        for l in 0..9 {
                            let terms = (0..6).map(|s| p[l / 3][s] * q[l % 3][s] / self.inertia(*body, s));
                            values[l] += terms.sum::<f64>();
                        }
                    }
                }
                if coupled {
                    blocks.push((i, k, values));
                }
            }
        }
        let a = BlockSparse::new(&vec![3; rows.len()], &blocks).unwrap();
        Statement::Complementarity(Problem::new(a, b, self.cones()).unwrap())
    }

    /// Bodies, rods as bilateral rows, contacts as rows with cones.
    pub(super) fn mixed(&self) -> Statement {
        let n = 6 * self.bodies.len();
        let w: Vec<_> = (0..n).map(|i| (i, i, self.inertia(i / 6, i % 6))).collect();
        let mut j = Vec::new();
        for (row, (a, b, d)) in self.rods.iter().enumerate() {
            for k in (0..3).filter(|k| d[*k] != 0.0) {
                j.push((row, 6 * a + k, -d[k]));
                j.push((row, 6 * b + k, d[k]));
            }
        }
        let mut system: KktSystem = system((n, 6), (self.rods.len(), 1), &w, &j, 0.0);
        for (body, b) in self.bodies.iter().enumerate() {
            for k in 0..3 {
                system.c[6 * body + k] = b.mass * b.velocity[k];
            }
        }
        let mut pattern = PatternBuilder::new(3 * self.contacts.len(), n);
        let mut entries = Vec::new();
        for (i, c) in self.contacts.iter().enumerate() {
            for (body, rows) in self.rows(c) {
                for (d, row) in rows.iter().enumerate() {
                    for k in (0..6).filter(|k| row[*k] != 0.0) {
                        pattern.insert(3 * i + d, 6 * body + k);
                        entries.push((3 * i + d, 6 * body + k, row[k]));
                    }
                }
            }
        }
        let mut rows = pattern.finish().unwrap().into_matrix();
        for (i, k, x) in entries {
            let slot = rows.pattern().slot(i, k).unwrap();
            rows.values_mut()[slot] = x;
        }
        let p = 3 * self.contacts.len();
        Statement::Mixed(Box::new(Mixed {
            system,
            rows,
            compliance: vec![0.0; p],
            velocity: vec![0.0; p],
            cones: self.cones(),
        }))
    }
}
