//! RATTLE on the rotation group.
//!
//! With the momenta `T(h u) = J_r^-1(h u) I u` of a body that turns by `exp(h u)` (of all else `T = M u`):
//!
//! ```math
//! T(h u) = M v + h/2 f(x, v) + J^T mu,   x+ = x (+) h u,   phi(x+) = 0
//! M v+ = T(-h u) + h/2 f(x+, v+) + J+^T nu,   J+ v+ = g'
//! ```
//!
//! Both halves are discrete Legendre transforms of one Lagrangian (Leimkuhler and Skeel 1994 for particles; Hante and Arnold 2021 for Lie groups): the step is symplectic and
//! reversible without damping. `J_r^-1(r) = 1 + [r]/2 + c [r]^2` (docs/notation.md); a free body keeps its momentum in space
//! to rounding. The first half is solved with the matrix of the start, `[M -J^T; -J 0]`, factored once; the iterates are mixed (Anderson), since
//! bodies that turn by more than a few tenths of a radian in a step make that matrix a poor one.

mod composed;

pub(super) use composed::Composed;

use super::Simulation;
use super::implicit::gather;
use crate::Error;
use crate::report::{NewtonReport, Timings};
use pliant_dense::{Vec3, rotation, vec3};
use pliant_kkt::{GeometricTerms, StepInput};
use pliant_model::Model;
use pliant_solvers::{KktResidual, SolveReport, Status};
use std::time::Instant;

impl Simulation {
    /// One step of RATTLE of the length `h`, which may be negative: the state, `new_multipliers` and `support_now`.
    fn rattle(&mut self, h: f64, timings: &mut Timings) -> Result<(SolveReport, NewtonReport), Error> {
        let clock = Instant::now();
        self.fill_motion(self.time, self.time + h);
        self.find_fixed_change();
        self.evaluate_with_external(0.0)?;
        let n = self.model.dof_count();
        let s = &mut self.implicit;
        for list in [&mut s.start, &mut s.end, &mut s.start_force, &mut s.primal] {
            list.resize(n, 0.0);
        }
        gather(&self.model, &self.state.velocities, &mut s.start);
        self.gather_forces(false);
        self.assembler
            .fill_kinematics(&self.model, &mut self.evaluation, &self.scheme, &self.state);
        self.silence_soft_rows();
        // M v + h/2 f, with which the first half starts.
        let s = &mut self.implicit;
        gather(&self.model, &s.node_force, &mut s.start_force);
        s.start_force.iter_mut().for_each(|f| *f *= 0.5 * h);
        self.assembler
            .system()
            .w
            .symmetric_add_product(1.0, &s.start, &mut s.start_force);
        s.end.copy_from_slice(&s.start);
        for (u, change) in s.end.iter_mut().zip(&self.fixed_change) {
            *u += 0.5 * change;
        }
        timings.fill += clock.elapsed();

        let (mut solved, newton) = self.first_half(h, timings)?;
        for (support, primal) in self.support_now.iter_mut().zip(&self.implicit.primal) {
            *support = *primal;
        }
        let clock = Instant::now();
        let second = self.second_half(h)?;
        if second.status != Status::Converged {
            solved.status = second.status;
        }
        solved.residual.relative = solved.residual.relative.max(second.residual.relative);
        timings.solve += clock.elapsed();
        let clock = Instant::now();
        self.finish_rattle(h)?;
        timings.update += clock.elapsed();
        Ok((solved, newton))
    }

    /// Newton's method for the velocity of the whole step, in `implicit.end`, and the impulses of the first half, in `implicit.mu`. On return the state
    /// is at the end of the step with that velocity, and `implicit.primal` what the equations of motion lack.
    fn first_half(&mut self, h: f64, timings: &mut Timings) -> Result<(SolveReport, NewtonReport), Error> {
        let clock = Instant::now();
        let in_words = |e| Error::from_solver(e, &self.model, self.time);
        self.solver.prepare(self.assembler.system()).map_err(in_words)?;
        timings.factor += clock.elapsed();
        let clock = Instant::now();
        let rows = self.model.row_count();
        self.implicit.mu.clear();
        self.implicit.mu.resize(rows, 0.0);
        self.implicit.mixer.restart();
        let mut newton = NewtonReport::default();
        let mut report: Option<SolveReport> = None;
        let (mut least, mut least_relative) = (f64::INFINITY, f64::INFINITY);
        loop {
            self.place_halfway(h)?;
            self.find_lack(h);
            self.find_gaps(h);
            let mut residual = self.measure_rattle(h);
            // On to where rounding ends it: what is left adds up, in momentum and energy. Beyond that, mixing makes it worse.
            let lacking = residual.primal.max(residual.row);
            let ended = lacking == 0.0 || lacking > 0.5 * least;
            if lacking < least {
                (least, least_relative) = (lacking, residual.relative);
                let s = &mut self.implicit;
                s.best.clone_from(&s.end);
                s.best_mu.clone_from(&s.mu);
            }
            if let Some(mut report) = report {
                let spent = newton.iterations >= self.options.newton.iterations;
                let done = least_relative <= self.options.newton.tolerance && (ended || spent);
                if done && lacking > least {
                    let s = &mut self.implicit;
                    s.end.clone_from(&s.best);
                    s.mu.clone_from(&s.best_mu);
                    self.place_halfway(h)?;
                    self.find_lack(h);
                    self.find_gaps(h);
                    residual = self.measure_rattle(h);
                }
                if done || spent {
                    report.residual = residual;
                    report.status = if done {
                        Status::Converged
                    } else {
                        Status::MaxIterations
                    };
                    timings.solve += clock.elapsed();
                    return Ok((report, newton));
                }
            }
            // W du - J^T mu = -(T(h u) - M v - h/2 f), with the whole of mu.
            let s = &mut self.implicit;
            let system = self.assembler.system();
            system.j.add_transpose_product(1.0, &s.mu, &mut s.primal);
            let c = self.assembler.right_hand_side_mut();
            for (c, p) in c.iter_mut().zip(&s.primal) {
                *c = -p;
            }
            let solved = self.solver.solve(self.assembler.system(), &mut self.solution);
            report = Some(solved.map_err(|e| Error::from_solver(e, &self.model, self.time))?);
            newton.iterations += 1;
            self.mix_iterate();
        }
    }

    /// Takes the step of the solution, mixed with those before it. The residual is weighted by masses.
    fn mix_iterate(&mut self) {
        let s = &mut self.implicit;
        let system = self.assembler.system();
        s.mixed_residual.clear();
        let weighted = |(i, change): (usize, &f64)| system.w_diagonal(i).abs().sqrt() * change;
        s.mixed_residual
            .extend(self.solution.x.iter().enumerate().map(weighted));
        s.mixed.clear();
        s.mixed
            .extend(s.end.iter().zip(&self.solution.x).map(|(u, change)| u + change));
        s.mixed.extend_from_slice(&self.solution.mu);
        s.mixer.mix(&s.mixed_residual, &mut s.mixed);
        let (u, mu) = s.mixed.split_at(s.end.len());
        s.end.copy_from_slice(u);
        s.mu.copy_from_slice(mu);
    }

    /// `T(h u) - M v - h/2 f - J^T mu` with the matrices of the start.
    fn find_lack(&mut self, h: f64) {
        let s = &mut self.implicit;
        for (p, f) in s.primal.iter_mut().zip(&s.start_force) {
            *p = -f;
        }
        let system = self.assembler.system();
        system.w.symmetric_add_product(1.0, &s.end, &mut s.primal);
        add_turning(&self.model, h, &s.end, &mut s.primal);
        system.j.add_transpose_product(-1.0, &s.mu, &mut s.primal);
    }

    /// The gaps of the hard rows at the end of the step over `h`, as the right-hand sides of the rows.
    fn find_gaps(&mut self, h: f64) {
        for group in self.model.row_groups() {
            let x = self.model.positions(&self.state, group.node);
            for (k, x) in x.iter().enumerate() {
                let row = group.first_row + k;
                let target = self.motion.get(row).map_or(0.0, |m| m.end.0);
                let gap = if self.row_is_hard(group, k) {
                    (x - target) / h
                } else {
                    0.0
                };
                self.assembler.row_right_hand_side_mut()[row] = gap;
            }
        }
    }

    /// As [`measure`](Self::measure) for the equations of the first half.
    fn measure_rattle(&mut self, h: f64) -> KktResidual {
        let s = &mut self.implicit;
        // Sizes: of steps backwards too.
        let length = h.abs();
        s.relation.acceleration_gain = length.recip();
        s.relation.displacement_gain = length;
        s.relation.acceleration.clear();
        s.relation
            .acceleration
            .extend(s.start.iter().map(|v| -v / length));
        s.row_velocity.clear();
        s.row_velocity.extend_from_slice(&self.assembler.system().b);
        self.find_speeds();
        self.measure_terms()
    }

    /// Puts the state at the end of the step, with the velocity of the whole step.
    fn place_halfway(&mut self, h: f64) -> Result<(), Error> {
        let s = &mut self.implicit;
        s.displacement.clear();
        s.displacement.extend(s.end.iter().map(|u| h * u));
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let own = first..first + range.len();
            self.state.velocities[range].copy_from_slice(&s.end[own.clone()]);
            let positions = &mut self.state.positions[node.position_range()];
            positions.copy_from_slice(&self.previous.positions[node.position_range()]);
            node.space.retract(positions, &s.displacement[own]);
        }
        self.evaluation.propagate(&self.model, &mut self.state)?;
        Ok(())
    }

    /// The linear equations of the second half; the change of velocity and its impulses are in `solution`.
    fn second_half(&mut self, h: f64) -> Result<SolveReport, Error> {
        self.evaluate_with_external(0.0)?;
        self.gather_forces(false);
        let n = self.model.dof_count();
        self.lag_for_step.fill(0.0);
        // M + h/2 B.
        (self.scheme.h, self.scheme.alpha, self.scheme.beta) = (0.5 * h, 1.0, 0.0);
        self.scheme.geometry = GeometricTerms::NONE;
        let input = StepInput {
            state: &self.state,
            multipliers: &self.lag_for_step,
            impulse: &[],
            fixed_change: &[],
            motion: &[],
        };
        self.assembler
            .fill(&self.model, &mut self.evaluation, &self.scheme, input);
        for group in self.model.row_groups() {
            let u = self.model.velocities(&self.state, group.node);
            for (k, u) in u.iter().enumerate() {
                let row = group.first_row + k;
                let rate = self.motion.get(row).map_or(0.0, |m| m.end.1);
                self.assembler.row_right_hand_side_mut()[row] = u - rate;
            }
        }
        self.silence_soft_rows();
        let s = &mut self.implicit;
        gather(&self.model, &s.node_force, &mut s.primal[..n]);
        s.primal.iter_mut().for_each(|f| *f *= 0.5 * h);
        // T(-h u) - M u: turned the other way.
        add_turning(&self.model, -h, &s.end, &mut s.primal);
        s.rate.clear();
        let halves = self.fixed_change.iter().map(|change| 0.5 * change);
        s.rate.extend(halves);
        self.assembler.shift_right_hand_sides(&s.rate, &s.primal);
        let in_words = |e| Error::from_solver(e, &self.model, self.time);
        self.corrector
            .prepare(self.assembler.system())
            .map_err(in_words)?;
        let solved = self.corrector.solve(self.assembler.system(), &mut self.solution);
        solved.map_err(|e| Error::from_solver(e, &self.model, self.time))
    }

    /// Velocities of the end, forces of rows and supports over the step.
    fn finish_rattle(&mut self, h: f64) -> Result<(), Error> {
        let system = self.assembler.system();
        let mut second = std::mem::take(&mut self.displacement);
        system.support_into(&self.solution, &mut second);
        for ((support, second), fixed) in self.support_now.iter_mut().zip(&second).zip(&system.fixed) {
            *support = if *fixed { (*support + second) / h } else { 0.0 };
        }
        self.displacement = second;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.state.velocities[node.velocity_range()]
                .iter_mut()
                .enumerate()
            {
                let i = first + k;
                *v = if system.fixed[i] {
                    self.held[i]
                } else {
                    self.implicit.end[i] + self.solution.x[i]
                };
            }
        }
        self.evaluation.propagate(&self.model, &mut self.state)?;
        self.find_law_forces(|m| m.end);
        for group in self.model.row_groups() {
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                self.new_multipliers[row] = if self.row_is_hard(group, k) {
                    (self.implicit.mu[row] + self.solution.mu[row]) / h
                } else {
                    self.law_force[row]
                };
            }
        }
        self.soft.iter_mut().zip(&self.lawless).for_each(|(s, l)| *s = !l);
        (self.scheme.h, self.scheme.alpha, self.scheme.beta) = (h, 0.5, 0.5);
        Ok(())
    }

    /// Takes the rows whose force is that of their law out of the system.
    fn silence_soft_rows(&mut self) {
        for index in 0..self.model.row_groups().len() {
            let group = self.model.row_groups()[index];
            for k in 0..group.size * group.count {
                if !self.row_is_hard(&group, k) {
                    self.assembler.deactivate_row(group.first_row + k);
                }
            }
        }
    }
}

/// Adds `T(h u) - M u` of every body: `([h u]/2 + c [h u]^2) I u`.
fn add_turning(model: &Model, h: f64, u: &[f64], out: &mut [f64]) {
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        let Some(first) = node.first_dof() else { continue };
        for e in 0..node.count {
            let Some(rigid) = attachment.component.rigid(e) else {
                break;
            };
            let at = first + 6 * e + 3;
            let spin = vec3(u, at);
            let momentum = rigid.inertia_matrix() * spin;
            let turned: Vec3 = rotation::inverse_right_jacobian(h * spin) * momentum;
            for k in 0..3 {
                out[at + k] += turned[k] - momentum[k];
            }
        }
    }
}
