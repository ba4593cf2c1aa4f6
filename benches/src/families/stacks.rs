//! Family (e): boxes that lie on each other with dry friction.

use super::{Entries, STEP, system};
use pliant::solvers::complementarity::{BlockSparse, Cone, Problem, ProblemError};
use pliant::solvers::{KktSystem, SolveError};

type Vec3 = [f64; 3];

const GRAVITY: f64 = 9.81;
/// Velocity that a push gives to the top of a [`Stack`], m/s: three times the velocity that gravity
/// gives in a step, so that it slides.
pub const PUSH: f64 = 0.3;
/// Normal and two tangents; all faces are horizontal.
const AXES: [Vec3; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// A box with edges along the axes.
#[derive(Clone, Copy, Debug)]
struct Body {
    mass: f64,
    half: Vec3,
    at: Vec3,
    /// Before the impulses of contact, m/s.
    velocity: Vec3,
}

/// A contact point between the top of one body (`None`: the ground) and the bottom of another.
#[derive(Clone, Copy, Debug)]
struct Contact {
    below: Option<usize>,
    above: usize,
    at: Vec3,
}

/// Boxes, and the points where they touch: four for each pair.
#[derive(Clone, Debug)]
pub struct Stack {
    bodies: Vec<Body>,
    contacts: Vec<Contact>,
}

impl Stack {
    /// A tower of `count` (at least 2) cubes of 1 m, each heavier than the one below by the same
    /// factor, `ratio` in all (the bottom one has 1 kg); `4 count` contact points. It moves as
    /// gravity alone would have it after a step of [`STEP`] from rest.
    pub fn tower(count: usize, ratio: f64) -> Self {
        let bodies: Vec<Body> = (0..count)
            .map(|k| Body {
                mass: ratio.powf(k as f64 / (count - 1) as f64),
                half: [0.5; 3],
                at: [0.0, 0.0, 0.5 + k as f64],
                velocity: [0.0, 0.0, -STEP * GRAVITY],
            })
            .collect();
        let contacts = (0..count)
            .flat_map(|k| patch(&bodies, k.checked_sub(1), k))
            .collect();
        Self { bodies, contacts }
    }

    /// A wall of `side` courses of `side` bricks of 1 x 0.5 x 0.5 m and 500 kg, each course shifted
    /// by half a brick; `4 side + 4 (side - 1) (2 side - 1)` contact points. It moves as
    /// [`Self::tower`].
    pub fn wall(side: usize) -> Self {
        let mut bodies: Vec<Body> = Vec::new();
        let mut contacts = Vec::new();
        for course in 0..side {
            for k in 0..side {
                bodies.push(Body {
                    mass: 500.0,
                    half: [0.5, 0.25, 0.25],
                    at: [
                        k as f64 + 0.5 * (course % 2) as f64,
                        0.0,
                        0.25 + 0.5 * course as f64,
                    ],
                    velocity: [0.0, 0.0, -STEP * GRAVITY],
                });
                let own = bodies.len() - 1;
                if course == 0 {
                    contacts.extend(patch(&bodies, None, own));
                    continue;
                }
                for below in (course - 1) * side..course * side {
                    if (bodies[below].at[0] - bodies[own].at[0]).abs() < 0.75 {
                        contacts.extend(patch(&bodies, Some(below), own));
                    }
                }
            }
        }
        Self { bodies, contacts }
    }

    /// Moves the top along x by [`PUSH`].
    #[must_use]
    pub fn pushed(mut self) -> Self {
        let top = self.bodies.iter().fold(0.0f64, |z, b| z.max(b.at[2]));
        for body in self.bodies.iter_mut().filter(|b| b.at[2] == top) {
            body.velocity[0] = PUSH;
        }
        self
    }

    /// The step as a saddle-point system with a row block of three for each contact, normal first,
    /// none of which has a law yet: `W = M`, `c = M v`, `R = compliance I`.
    ///
    /// # Errors
    /// [`SolveError::Sparse`] if it is too large for 32-bit indices.
    pub fn system(&self, compliance: f64) -> Result<KktSystem, SolveError> {
        let [mut w, mut j, mut r] = [(); 3].map(|()| Entries::default());
        let mut c = Vec::with_capacity(6 * self.bodies.len());
        for (k, body) in self.bodies.iter().enumerate() {
            let mass = [[body.mass; 3], body.inertia()].concat();
            for (l, m) in mass.iter().enumerate() {
                w.add(6 * k + l, 6 * k + l, *m);
                c.push(m * body.velocity.get(l).copied().unwrap_or(0.0));
            }
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            for (a, axis) in AXES.iter().enumerate() {
                for (body, sign) in [(Some(contact.above), 1.0), (contact.below, -1.0)] {
                    let Some(body) = body else { continue };
                    let turning = cross(self.bodies[body].arm(contact.at), *axis);
                    for (l, x) in [*axis, turning].concat().into_iter().enumerate() {
                        j.add(3 * k + a, 6 * body + l, sign * x);
                    }
                }
                r.add(3 * k + a, 3 * k + a, compliance);
            }
        }
        let blocks = |size: usize, count: usize| std::iter::repeat_n(size, count);
        let mut out = system(
            [w, j, r],
            blocks(6, self.bodies.len()),
            blocks(3, self.contacts.len()),
        )?;
        out.c = c;
        Ok(out)
    }

    /// The step as `u = A r + b`: `A = J M^-1 J^T + compliance I`, `b` the velocity of each contact
    /// without impulses. With `compliance = 0` the four points of a face share their load in
    /// infinitely many ways.
    ///
    /// # Errors
    /// [`ProblemError`] for a negative `friction`.
    pub fn problem(&self, friction: f64, compliance: f64) -> Result<Problem, ProblemError> {
        problem(&self.bodies, &self.contacts, friction, compliance)
    }
}

impl Body {
    /// Principal moments of inertia, kg m^2.
    fn inertia(&self) -> Vec3 {
        let [x, y, z] = self.half.map(|h| h * h);
        [y + z, x + z, x + y].map(|s| self.mass * s / 3.0)
    }

    /// From the centre to a point.
    fn arm(&self, point: Vec3) -> Vec3 {
        std::array::from_fn(|k| point[k] - self.at[k])
    }
}

/// Corners of the common part of the bottom of `above` and the top of what is below.
fn patch(bodies: &[Body], below: Option<usize>, above: usize) -> [Contact; 4] {
    let own = &bodies[above];
    let range = |k: usize| {
        let (mut low, mut high) = (own.at[k] - own.half[k], own.at[k] + own.half[k]);
        if let Some(b) = below {
            low = low.max(bodies[b].at[k] - bodies[b].half[k]);
            high = high.min(bodies[b].at[k] + bodies[b].half[k]);
        }
        [low, high]
    };
    let (x, y, z) = (range(0), range(1), own.at[2] - own.half[2]);
    [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| Contact {
        below,
        above,
        at: [x[i], y[j], z],
    })
}

/// The operator of contacts: two of them are coupled through each body they share, by
/// `+-J_i M^-1 J_k^T`.
fn problem(
    bodies: &[Body],
    contacts: &[Contact],
    friction: f64,
    compliance: f64,
) -> Result<Problem, ProblemError> {
    let mut touching = vec![Vec::new(); bodies.len()];
    for (i, c) in contacts.iter().enumerate() {
        touching[c.above].push((i, 1.0));
        if let Some(below) = c.below {
            touching[below].push((i, -1.0));
        }
    }
    let mut blocks = Vec::new();
    for (body, own) in bodies.iter().zip(&touching) {
        for (i, s) in own {
            for (k, t) in own {
                let mut values = vec![0.0; 9];
                for (l, value) in values.iter_mut().enumerate() {
                    let (p, q) = ((contacts[*i].at, AXES[l / 3]), (contacts[*k].at, AXES[l % 3]));
                    *value = s * t * response(body, p, q);
                }
                blocks.push((*i, *k, values));
            }
        }
    }
    for i in 0..contacts.len() {
        let mut values = vec![0.0; 9];
        (0..3).for_each(|k| values[4 * k] = compliance);
        blocks.push((i, i, values));
    }
    let mut b = Vec::with_capacity(3 * contacts.len());
    for c in contacts {
        let below = c.below.map_or([0.0; 3], |k| bodies[k].velocity);
        let approach = |d: Vec3| {
            (0..3)
                .map(|k| d[k] * (bodies[c.above].velocity[k] - below[k]))
                .sum::<f64>()
        };
        b.extend(AXES.map(approach));
    }
    let a = BlockSparse::new(&vec![3; contacts.len()], &blocks)?;
    Problem::new(a, b, vec![Cone::Coulomb { mu: friction }; contacts.len()])
}

/// `a . M^-1 b` of two contact rows on one body, each a point and a direction.
fn response(body: &Body, (p, d): (Vec3, Vec3), (q, e): (Vec3, Vec3)) -> f64 {
    let (a, b) = (cross(body.arm(p), d), cross(body.arm(q), e));
    let inertia = body.inertia();
    let turning: f64 = (0..3).map(|k| a[k] * b[k] / inertia[k]).sum();
    (0..3).map(|k| d[k] * e[k]).sum::<f64>() / body.mass + turning
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
