//! Boxes in contact: Delassus operators written from rigid-body mechanics, without the engine.

use pliant_solvers::complementarity::{BlockSparse, Cone, Problem};

type Vec3 = [f64; 3];

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A box with edges along the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) mass: f64,
    pub(crate) half: Vec3,
    pub(crate) at: Vec3,
    pub(crate) velocity: Vec3,
}

/// A contact point; the normal, z, points from body `below` (none: the ground) to body `above`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) below: Option<usize>,
    pub(crate) above: usize,
    pub(crate) at: Vec3,
}

const AXES: [Vec3; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// `a . M^-1 b` of two contact rows on one body.
fn response(body: &Body, (p, d): (Vec3, Vec3), (q, e): (Vec3, Vec3)) -> f64 {
    let arm = |x: Vec3| std::array::from_fn(|k| x[k] - body.at[k]);
    let (a, b) = (cross(arm(p), d), cross(arm(q), e));
    let [x, y, z] = body.half.map(|h| h * h);
    let inertia = [y + z, x + z, x + y].map(|s| body.mass * s / 3.0);
    dot(d, e) / body.mass + (0..3).map(|k| a[k] * b[k] / inertia[k]).sum::<f64>()
}

/// The problem of the contacts, as a block-sparse operator.
pub(crate) fn scene(bodies: Vec<Body>, contacts: Vec<Contact>, mu: f64) -> Problem {
    let mut blocks = Vec::new();
    let mut b = Vec::new();
    for (i, c) in contacts.iter().enumerate() {
        let velocity = |body: usize, d: Vec3| dot(bodies[body].velocity, d);
        for d in AXES {
            b.push(velocity(c.above, d) - c.below.map_or(0.0, |k| velocity(k, d)));
        }
        for (k, e) in contacts.iter().enumerate() {
            let mut values = vec![0.0; 9];
            let mut coupled = false;
            for (own, sign) in [(Some(c.above), 1.0), (c.below, -1.0)] {
                for (other, factor) in [(Some(e.above), 1.0), (e.below, -1.0)] {
                    if let (Some(own), Some(other)) = (own, other)
                        && own == other
                    {
                        coupled = true;
                        for l in 0..9 {
                            let (p, q) = ((c.at, AXES[l / 3]), (e.at, AXES[l % 3]));
                            values[l] += sign * factor * response(&bodies[own], p, q);
                        }
                    }
                }
            }
            if coupled {
                blocks.push((i, k, values));
            }
        }
    }
    let a = BlockSparse::new(&vec![3; contacts.len()], &blocks).unwrap();
    let cones = vec![Cone::Coulomb { mu }; contacts.len()];
    Problem::new(a, b, cones).unwrap()
}

/// Corners of the common part of the bottom of `above` and the top of what is below.
pub(crate) fn patch(bodies: &[Body], below: Option<usize>, above: usize) -> Vec<Contact> {
    let top = &bodies[above];
    let range = |k: usize| {
        let (mut low, mut high) = (top.at[k] - top.half[k], top.at[k] + top.half[k]);
        if let Some(b) = below {
            low = low.max(bodies[b].at[k] - bodies[b].half[k]);
            high = high.min(bodies[b].at[k] + bodies[b].half[k]);
        }
        [low, high]
    };
    let (x, y, z) = (range(0), range(1), top.at[2] - top.half[2]);
    let mut out = Vec::new();
    for x in x {
        for y in y {
            let at = [x, y, z];
            out.push(Contact { below, above, at });
        }
    }
    out
}

/// A box on a plane that is tilted by `angle`: the axes are those of the plane, gravity is tilted.
pub(crate) fn incline(mass: f64, impulse: f64, angle: f64, mu: f64) -> Problem {
    let body = Body {
        mass,
        half: [0.5, 0.4, 0.3],
        at: [0.0, 0.0, 0.3],
        velocity: [impulse * angle.sin(), 0.0, -impulse * angle.cos()],
    };
    let bodies = vec![body];
    let contacts = patch(&bodies, None, 0);
    scene(bodies, contacts, mu)
}

/// Boxes on each other; each is heavier than the one below by the same factor, `ratio` in all. The
/// top one is pushed sideways.
pub(crate) fn tower(count: usize, ratio: f64, push: f64, mu: f64) -> Problem {
    let mut bodies = Vec::new();
    for k in 0..count {
        bodies.push(Body {
            mass: ratio.powf(k as f64 / (count - 1) as f64),
            half: [0.5, 0.5, 0.25],
            at: [0.0, 0.0, 0.25 + 0.5 * k as f64],
            velocity: [if k + 1 == count { push } else { 0.0 }, 0.0, -0.0981],
        });
    }
    let contacts = (0..count)
        .flat_map(|k| patch(&bodies, k.checked_sub(1), k))
        .collect();
    scene(bodies, contacts, mu)
}

/// Bricks in courses, each course shifted by half a brick.
pub(crate) fn wall(width: usize, height: usize, push: f64, mu: f64) -> Problem {
    let mut bodies = Vec::new();
    let mut contacts = Vec::new();
    for row in 0..height {
        for k in 0..width {
            bodies.push(Body {
                mass: 3.0,
                half: [0.5, 0.25, 0.25],
                at: [k as f64 + 0.5 * (row % 2) as f64, 0.0, 0.25 + 0.5 * row as f64],
                velocity: [if row + 1 == height { push } else { 0.0 }, 0.0, -0.0981],
            });
            let own = row * width + k;
            if row == 0 {
                contacts.extend(patch(&bodies, None, own));
                continue;
            }
            for below in (row - 1) * width..row * width {
                if (bodies[below].at[0] - bodies[own].at[0]).abs() < 0.75 {
                    contacts.extend(patch(&bodies, Some(below), own));
                }
            }
        }
    }
    scene(bodies, contacts, mu)
}
