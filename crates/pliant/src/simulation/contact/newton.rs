//! The rows of contacts in Newton's method; see `simulation/implicit/contacts.rs`.

use super::Contacts;
use super::solve::{AT_REST, TOLERANCES_AT_REST, in_words};
use crate::contact::Overlap;
use crate::{Error, Options};
use pliant_model::Problem;
use pliant_solvers::complementarity::{AutoOptions, ProblemError};
use pliant_solvers::{KktSystem, Solution, SolveError, SolveReport};

impl Contacts {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Right-hand sides in the velocities of the start of the step, with a share of restitution.
    pub(crate) fn take_laws(&mut self, h: f64, beta: f64, overlap: Overlap, share: f64) {
        self.fill_laws(h, beta, overlap, share);
        self.laws.clone_from(&self.tail.b);
    }

    pub(crate) fn set_options(&mut self, options: &Options, auto: AutoOptions) {
        self.bounced = false;
        self.report.restitution = 1.0;
        self.solver.options = auto;
        self.solver.only = options.contacts.solver;
        self.solver.bounds = options.bounds;
        self.solver.bounds.direct = options.solver;
    }

    /// `out += J^T r factor`.
    pub(crate) fn add_impulses(&self, r: &[f64], factor: f64, out: &mut [f64]) {
        self.tail.add_transpose_product(r, factor.recip(), out);
    }

    /// `out += |J|^T |r|`.
    pub(crate) fn add_sizes(&self, r: &[f64], out: &mut [f64]) {
        self.tail.add_sizes(r, out);
    }

    /// The system of an iterate whose velocities have changed by `change` since the start, with the whole impulses unknown: those of the iterate are taken out of the
    /// right-hand side again.
    pub(crate) fn fill_iterate(
        &mut self,
        base: &KktSystem,
        change: &[f64],
        impulses: &[f64],
    ) -> Result<(), Error> {
        self.tail.product_into(change, &mut self.after);
        for ((b, law), moved) in self.tail.b.iter_mut().zip(&self.laws).zip(&self.after) {
            *b = law + moved;
        }
        self.extended.fill(base, &[], &self.tail)?;
        self.extended.add_impulses(&self.tail, impulses, -1.0);
        self.tail.b.copy_from_slice(&self.laws);
        Ok(())
    }

    pub(crate) fn prepare(&mut self, model: &Problem, time: f64) -> Result<(), Error> {
        let Some(system) = self.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let prepared = self.solver.prepare(system, &self.cones);
        prepared.map_err(|e| in_words(e, model, time))
    }

    /// The mean diagonal of the Delassus operator of each contact, by the diagonal of `W`, behind so many rows of the model.
    pub(crate) fn weigh(&self, base_rows: usize, scales: &mut Vec<f64>) {
        scales.clear();
        let Some(system) = self.extended.system() else {
            return;
        };
        let mut row = base_rows;
        for rows in &self.rows {
            let all = row..row + rows.count;
            row += rows.count;
            let sum: f64 = all.map(|i| system.row_scale(i) + system.r_diagonal(i)).sum();
            scales.push(sum / rows.count as f64);
        }
    }

    /// Sum of the squares of the natural maps (m/s) of an iterate, each beyond a share of the largest velocity that there is without impulses.
    pub(crate) fn merit(&mut self, change: &[f64], impulses: &[f64], scales: &[f64], tolerance: f64) -> f64 {
        self.tail.product_into(change, &mut self.after);
        let largest = self.laws.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let first = self.cones.len() - self.rows.len();
        let (mut sum, mut row) = (0.0, 0);
        for ((rows, cone), s) in self.rows.iter().zip(&self.cones[first..]).zip(scales) {
            let all = row..row + rows.count;
            row += rows.count;
            let (Some(cone), true) = (cone, *s > 0.0) else {
                continue;
            };
            let (mut w, mut r) = ([0.0; 6], [0.0; 6]);
            for (k, i) in all.clone().enumerate() {
                w[k] = self.after[i] + self.tail.r[i] * impulses[i] + self.laws[i];
            }
            let shift = cone.shift(&w[..rows.count]);
            for (k, i) in all.clone().enumerate() {
                r[k] = impulses[i] - w[k] / s;
            }
            r[0] -= shift / s;
            cone.project(&mut r[..rows.count]);
            let miss = r
                .iter()
                .zip(&impulses[all])
                .fold(0.0f64, |a, (p, r)| a.hypot(p - r));
            sum += (s * miss - tolerance * largest).max(0.0).powi(2);
        }
        sum
    }

    /// One solve, from the impulses of the iterate.
    pub(crate) fn solve_iterate(
        &mut self,
        mu: &[f64],
        impulses: &[f64],
        solution: &mut Solution,
        out: &mut Vec<f64>,
    ) -> Result<SolveReport, ProblemError> {
        self.solution.mu.clear();
        self.solution.mu.extend_from_slice(mu);
        self.solution.mu.extend_from_slice(impulses);
        let Some(system) = self.extended.system() else {
            return Err(ProblemError::Bilateral(SolveError::NotPrepared));
        };
        let found = self.solver.solve(system, &mut self.solution)?;
        solution.x.clone_from(&self.solution.x);
        solution.mu.clear();
        solution.mu.extend_from_slice(&self.solution.mu[..mu.len()]);
        out.clear();
        out.extend_from_slice(&self.solution.mu[mu.len()..]);
        self.outcome = found.outcome;
        self.report.residual = found.residual.measure();
        self.report.de_saxce = found.exact;
        self.report.velocity_residual = found.residual.natural;
        self.report.iterations += found.iterations;
        self.report.method = found.method;
        self.report.islands = found.islands;
        self.report.settled = found.settled;
        self.worst = found.worst;
        Ok(found.linear)
    }

    /// The largest velocity of a contact that there is without impulses, as of the last solve (m/s).
    pub(crate) fn free_velocity(&self) -> f64 {
        let free = self.solver.free_velocities();
        let free = &free[free.len().saturating_sub(self.tail.rows())..];
        free.iter().fold(0.0f64, |a, v| a.max(v.abs()))
    }

    /// Whether the impulses of the last solve make energy by restitution, with these velocities at the end of the step.
    pub(crate) fn makes_energy(&mut self, end: &[f64], impulses: &[f64], tolerance: f64) -> bool {
        self.tail.product_into(end, &mut self.after);
        self.bounces() && self.gain(impulses) > tolerance.max(1e-12) * self.exchanged(impulses)
    }

    /// Velocities at the end of the step, then [`read`](Self::read).
    pub(crate) fn read_iterate(&mut self, end: &[f64], impulses: &[f64], h: f64, beta: f64) {
        if self.list.is_empty() {
            self.tail.clear();
            self.after.clear();
            self.read(&[], h, beta);
            return;
        }
        self.tail.product_into(end, &mut self.after);
        let largest = self.free_velocity();
        let share = AT_REST.max(TOLERANCES_AT_REST * self.solver.options.limits.tolerance);
        self.noise = share * largest;
        self.read(impulses, h, beta);
    }
}
