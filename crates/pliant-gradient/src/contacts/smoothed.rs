//! The smoothed law of contacts: the central path of the complementarity problem at an energy.
//!
//! **Equation.** With the velocity `s` at which the law of the normal is written (`u_n + g/h` of an
//! open contact, so that `h s` is the gap at the end of the step), the largest friction
//! `gamma = mu r_n`, and the energy `kappa` (J) of the barrier,
//!
//! ```math
//! s r_n = kappa
//! (gamma, r_t) o (zeta, u_t) = (kappa, 0):   r_t = -gamma u_t/zeta,   zeta = (w + S)/2,
//! w = kappa/gamma,   S = sqrt(w^2 + 4 |u_t|^2)
//! ```
//!
//! Newton's method has `zeta` as an unknown of its own, as interior-point methods do, and stays
//! inside both cones.
//!
//! Contacts push with `kappa` over their gap before they touch, and friction is viscous below the
//! speed `kappa/gamma`; Signorini's and Coulomb's laws are the limit for `kappa` to zero. The path is
//! that of interior-point methods (Boyd and Vandenberghe 2004, chapter 11), of the second-order cone
//! for friction at given `gamma`.

use super::{Contacts, LinearisedContact};

/// Share of the way to the edge of what is allowed that an iteration goes at most.
const INSIDE: f64 = 0.99;

/// Share of the velocity along the slip below which friction does not act against it: there the
/// rows of friction are left out of the preconditioner, as those of contacts that slip are.
const SLIPS: f64 = 0.5;

/// The barriers of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// Their energy (J).
    energy: f64,
    /// The velocity `s`, at a solution that of the law (m/s): positive, or zero before an iteration
    /// begins.
    pub(super) slack: f64,
    /// The velocity `zeta` (m/s), above the speed of the slip.
    zeta: f64,
}

impl Barrier {
    pub(super) fn of(energy: f64) -> Self {
        Self {
            energy,
            slack: 0.0,
            zeta: 0.0,
        }
    }
}

/// The path of friction at a place: impulse and velocity across the normal, and the largest friction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConePath {
    energy: f64,
    u: [f64; 2],
    r: [f64; 2],
    limit: f64,
    zeta: f64,
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

impl ConePath {
    /// The part of `gamma zeta + r . u = kappa` that is missing (J).
    fn product_missed(&self) -> f64 {
        self.energy - self.limit * self.zeta - dot(self.r, self.u)
    }

    /// `u + (zeta/gamma) r`, with `zeta` as the first equation of the path has it to first order
    /// (m/s). It is zero on the path.
    fn residual(&self) -> [f64; 2] {
        let by_r = (self.zeta + self.product_missed() / self.limit) / self.limit;
        [0, 1].map(|i| self.u[i] + by_r * self.r[i])
    }

    /// The change of the residual with the largest friction.
    pub(super) fn by_limit(&self) -> [f64; 2] {
        let by_r = self.zeta / self.limit;
        [0, 1].map(|i| (self.u[i] - by_r * self.r[i]) / self.limit)
    }

    /// The changes of the residual, as Newton's method on both equations has them.
    pub(super) fn equations(&self, du: [f64; 2], dr: [f64; 2], limit: f64) -> [f64; 2] {
        let along = -(dot(self.r, du) + dot(self.u, dr)) / (self.limit * self.limit);
        let (by_r, by_limit) = (self.zeta / self.limit, self.by_limit());
        [0, 1].map(|i| du[i] + by_r * dr[i] + along * self.r[i] + limit * by_limit[i])
    }

    /// The transpose: by the velocity, by the impulse, and by the largest friction.
    pub(super) fn equations_transposed(&self, q: [f64; 2]) -> ([f64; 2], [f64; 2], f64) {
        let along = -dot(self.r, q) / (self.limit * self.limit);
        let by_r = self.zeta / self.limit;
        let by_u = [0, 1].map(|i| q[i] + along * self.r[i]);
        let by_impulse = [0, 1].map(|i| by_r * q[i] + along * self.u[i]);
        (by_u, by_impulse, dot(self.by_limit(), q))
    }

    /// The change of `zeta` with those of the others.
    fn change(&self, du: [f64; 2], dr: [f64; 2], limit: f64) -> f64 {
        let others = self.zeta * limit + dot(self.u, dr) + dot(self.r, du);
        (self.product_missed() - others) / self.limit
    }

    /// Whether friction hardly depends on how fast it slips, and the factor of the impulse.
    pub(super) fn preconditioner(&self) -> (bool, f64) {
        let share = dot(self.r, self.r) / (self.limit * self.limit);
        (1.0 - share < SLIPS, self.zeta / self.limit)
    }
}

impl LinearisedContact {
    /// The path of its friction, if it is smoothed and has any.
    pub(super) fn cone_path(&self) -> Option<ConePath> {
        let barrier = self
            .barrier
            .filter(|barrier| barrier.slack > 0.0 && self.count == 3)?;
        Some(ConePath {
            energy: barrier.energy,
            u: [self.u[1], self.u[2]],
            r: [self.r[1], self.r[2]],
            limit: self.law.friction * self.r[0],
            zeta: barrier.zeta,
        })
    }

    /// The parts that its smoothed equations miss (m/s), with the velocity of the normal at the start;
    /// none without a barrier.
    pub(super) fn smoothed_residual(&self, before: f64) -> Option<[f64; 3]> {
        let barrier = self.barrier?;
        let across = self.cone_path().map_or([0.0; 2], |path| path.residual());
        let normal = self.gap_velocity(before) - barrier.energy / self.r[0];
        Some([normal, across[0], across[1]])
    }

    /// How far its unknowns of the path, `s` and `zeta`, are from it (m/s).
    pub(super) fn off_path(&self) -> f64 {
        let Some(barrier) = self.barrier else { return 0.0 };
        let zeta = self
            .cone_path()
            .map_or(0.0, |path| (path.product_missed() / path.limit).abs());
        zeta.max((barrier.slack - barrier.energy / self.r[0]).abs())
    }

    /// The changes of the slack and of `zeta` in a step of the velocity of its rows and of its impulse.
    fn barrier_changes(&self, barrier: &Barrier, du: [f64; 3], dr: [f64; 3]) -> [f64; 2] {
        let r = self.r[0];
        // From r ds + s dr = kappa - s r.
        let slack = (barrier.energy - barrier.slack * (r + dr[0])) / r;
        let zeta = self.cone_path().map_or(0.0, |path| {
            path.change([du[1], du[2]], [dr[1], dr[2]], self.law.friction * dr[0])
        });
        [slack, zeta]
    }
}

/// The share of a step that keeps a positive value so.
fn edge(value: f64, change: f64) -> f64 {
    match change < 0.0 {
        true => -INSIDE * value / change,
        false => 1.0,
    }
}

/// The share of a step at which a vector is as long as the largest length, or a little less; one if
/// that is behind its end.
fn edge_of_cone(limit: f64, by: f64, x: [f64; 2], dx: [f64; 2]) -> f64 {
    // |x + t dx|^2 = (limit + t by)^2, its first positive root.
    let (a, b, c) = (
        dot(dx, dx) - by * by,
        dot(x, dx) - limit * by,
        dot(x, x) - limit * limit,
    );
    // Inside, c < 0: of both roots the positive one, or the smaller of two that are; else none.
    let root = (b * b - a * c).sqrt();
    let t = match b > 0.0 {
        true => -c / (b + root),
        false if a > 0.0 => (root - b) / a,
        false => f64::INFINITY,
    };
    match t.is_finite() {
        true => (INSIDE * t).min(1.0),
        false => 1.0,
    }
}

impl Contacts {
    /// Begins an iteration for smoothed laws at the present velocities and impulses, with those of the
    /// nodes at the start and the velocity that a unit impulse on a row gives: each normal is on its
    /// central path.
    pub(crate) fn start_smoothed(&mut self, start: &[f64], given: impl Fn(usize) -> f64) {
        for index in 0..self.list.len() {
            let before = self.jacobian(&self.list[index].columns).times(start)[0];
            let c = &mut self.list[index];
            let Some(barrier) = &mut c.barrier else { continue };
            // Where neither is large, both are of the size at which they are the same.
            let least = (barrier.energy / given(c.first)).sqrt();
            let open = c.u[0] + c.normal.by_gap * c.gap + c.normal.by_start * before;
            c.r[0] = c.r[0].max(match open > 0.0 {
                true => (barrier.energy / open).min(least),
                false => least,
            });
            barrier.slack = barrier.energy / c.r[0];
            if c.count == 3 {
                let limit = c.law.friction * c.r[0];
                let (width, slip) = (barrier.energy / limit, c.u[1].hypot(c.u[2]));
                barrier.zeta = 0.5 * (width + width.hypot(2.0 * slip));
                // What slips is on its path, what sticks has the friction of the step.
                let friction = c.r[1].hypot(c.r[2]);
                let most = INSIDE * limit;
                for i in 1..3 {
                    c.r[i] = match slip > width {
                        true => -limit * c.u[i] / barrier.zeta,
                        false => c.r[i] * (most / friction.max(most)),
                    };
                }
            }
        }
    }

    /// Takes another energy of all barriers (J).
    pub(crate) fn set_energy(&mut self, energy: f64) {
        let barriers = self.list.iter_mut().filter_map(|c| c.barrier.as_mut());
        barriers.for_each(|barrier| barrier.energy = energy);
    }

    /// Takes the velocities of all nodes at the end.
    pub(crate) fn set_end(&mut self, end: &[f64]) {
        for index in 0..self.list.len() {
            let u = self.jacobian(&self.list[index].columns).times(end);
            self.list[index].u = u;
        }
    }

    /// Writes what the smoothed equations miss, with the velocities of all nodes at the start.
    pub(crate) fn smoothed_residuals(&self, start: &[f64], out: &mut [f64]) {
        for c in &self.list {
            let before = self.jacobian(&c.columns).times(start)[0];
            let found = c.smoothed_residual(before).unwrap_or_default();
            out[c.first..c.first + c.count].copy_from_slice(&found[..c.count]);
        }
    }

    /// The share of a step of the velocities of all nodes and of the forces `l` of all rows (N) that
    /// stays inside the barriers.
    pub(crate) fn inside(&self, velocities: &[f64], l: &[f64]) -> f64 {
        self.list.iter().fold(1.0, |share: f64, c| {
            let Some(barrier) = &c.barrier else { return share };
            let (du, dr) = (self.jacobian(&c.columns).times(velocities), c.change(self.h, l));
            let [slack, zeta] = c.barrier_changes(barrier, du, dr);
            let share = share.min(edge(c.r[0], dr[0])).min(edge(barrier.slack, slack));
            let Some(path) = c.cone_path() else { return share };
            let by_limit = c.law.friction * dr[0];
            share
                .min(edge_of_cone(path.limit, by_limit, path.r, [dr[1], dr[2]]))
                .min(edge_of_cone(path.zeta, zeta, path.u, [du[1], du[2]]))
        })
    }

    /// Takes a share of a step of the velocities of all nodes and of the forces `l` of all rows (N).
    pub(crate) fn advance(&mut self, share: f64, velocities: &[f64], l: &[f64]) {
        for index in 0..self.list.len() {
            let c = &self.list[index];
            let Some(mut barrier) = c.barrier else { continue };
            let (du, dr) = (self.jacobian(&c.columns).times(velocities), c.change(self.h, l));
            let [slack, zeta] = c.barrier_changes(&barrier, du, dr);
            barrier.slack += share * slack;
            barrier.zeta += share * zeta;
            let c = &mut self.list[index];
            c.barrier = Some(barrier);
            for k in 0..c.count {
                c.r[k] += share * dr[k];
            }
        }
    }
}

impl LinearisedContact {
    /// The change of its impulse with the forces of all rows (N).
    fn change(&self, h: f64, l: &[f64]) -> [f64; 3] {
        let own = |k: usize| h * l[self.first + k];
        std::array::from_fn(|k| if k < self.count { own(k) } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a step up to the edge of a cone is the first of fine steps that leaves it.
    #[test]
    fn the_edge_of_a_cone_is_where_a_step_leaves_it() {
        let mut edges = 0;
        for k in 0..500 {
            let number = |j: u32| (12.9898 * f64::from(7 * k + j)).sin();
            let (x, dx) = (
                [0.6 * number(0), 0.6 * number(1)],
                [3.0 * number(2), 3.0 * number(3)],
            );
            let by = 3.0 * number(4);
            let found = edge_of_cone(1.0, by, x, dx);
            let outside = |t: f64| (x[0] + t * dx[0]).hypot(x[1] + t * dx[1]) >= 1.0 + t * by;
            let first = (0..=10_000).map(|i| 1e-4 * f64::from(i)).find(|t| outside(*t));
            match first {
                Some(t) => {
                    edges += 1;
                    assert!(
                        found <= INSIDE * t && found >= INSIDE * (t - 1e-4),
                        "{k}: {found} {t}"
                    );
                }
                None => assert!(found >= INSIDE, "{k}: {found}"),
            }
        }
        assert!((100..400).contains(&edges), "{edges}");
    }

    /// Changes of the path's equations are differences of its residuals, of which those off the path
    /// have the change of `zeta` in them; the transpose is that of a matrix.
    #[test]
    fn changes_of_a_path_are_differences() {
        let at = |t: f64| {
            let energy = 0.02;
            let (u, limit) = ([0.3 + 0.7 * t, -0.2 + 0.1 * t], 0.5 - 0.3 * t);
            let width = energy / limit;
            let zeta = 0.5 * (width + width.hypot(2.0 * u[0].hypot(u[1])));
            // On the path, and off it by a change of the impulse alone.
            let r = u.map(|u| -limit * u / zeta);
            ConePath {
                energy,
                u,
                r,
                limit,
                zeta,
            }
        };
        let here = at(0.0);
        assert!(here.residual().iter().all(|r| r.abs() < 1e-15));
        assert!(here.product_missed().abs() < 1e-15);
        let step = 1e-5;
        let (one, other) = (at(step), at(-step));
        let rate = |f: &dyn Fn(&ConePath) -> f64| (f(&one) - f(&other)) / (2.0 * step);
        let du = [rate(&|p| p.u[0]), rate(&|p| p.u[1])];
        let dr = [rate(&|p| p.r[0]), rate(&|p| p.r[1])];
        let limit = rate(&|p| p.limit);
        // Along the path nothing changes, and zeta as it does there.
        assert!(here.equations(du, dr, limit).iter().all(|e| e.abs() < 1e-8));
        assert!((here.change(du, dr, limit) - rate(&|p| p.zeta)).abs() < 1e-8);
        let q = [0.4, -1.3];
        let (by_u, by_r, by_limit) = here.equations_transposed(q);
        for (du, dr, limit) in [([0.3, 0.1], [-0.2, 0.7], 0.4), ([1.0, -2.0], [0.1, 0.5], -0.7)] {
            let forwards = dot(here.equations(du, dr, limit), q);
            let backwards = dot(by_u, du) + dot(by_r, dr) + by_limit * limit;
            assert!((forwards - backwards).abs() < 1e-14);
        }
    }
}
