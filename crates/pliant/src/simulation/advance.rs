//! One step, in the order of the equations.

use super::Simulation;
use crate::report::{StepReport, Timings};
use crate::{Error, Stabilisation, gyroscopic};
use pliant_kkt::{Formulation, GeometricStiffness, Geometry, StepInput};
use pliant_model::{ComponentId, NodeKind};
use pliant_solvers::{SolveError, SolveReport, Status};
use std::time::{Duration, Instant};

/// A row whose compliance term is at least this share of its Delassus diagonal is soft: the state resolves its force, so
/// that its geometric stiffness is that of the same spring treated as a stiffness. Below, the multiplier of the last step
/// is the better force: the state has lost it to rounding.
const SOFT: f64 = 1e-4;

/// A change of a multiplier by this share of its group's largest one asks for another pass.
const REFRESH: f64 = 0.5;

impl Simulation {
    /// Everything of a step but undoing it.
    pub(super) fn advance(&mut self, h: f64) -> Result<StepReport, Error> {
        let mut timings = Timings::default();
        let mut clock = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut clock, now)
        };
        let before = match self.options.pre_stabilisation {
            Some(how) => self.correct_positions(how)?,
            None => 0,
        };
        timings.stabilise += lap();

        self.evaluation.evaluate(&self.model, &self.state)?;
        gyroscopic::impulses(
            &self.model,
            &self.state,
            self.options.gyroscopic,
            h,
            self.time,
            &mut self.impulse,
        )?;
        self.lag_for_step.clone_from(&self.lagged);
        let mut passes = 0;
        let mut clamped = false;
        let solved = loop {
            clamped |= self.prepare(&mut timings, &mut lap)?;
            let in_words = |e| Error::from_solver(e, &self.model, self.time);
            let solved = self
                .solver
                .solve(self.assembler.system(), &mut self.solution)
                .map_err(in_words)?;
            passes += 1;
            timings.solve += lap();
            if passes >= self.options.geometry_passes || !self.refresh_multipliers(h) {
                break solved;
            }
        };
        // Before the unknown is changed: the support is what the fixed rows of the system lack.
        self.assembler
            .system()
            .support_into(&self.solution, &mut self.support_now);
        let per_force = if self.scheme.formulation == Formulation::Acceleration {
            1.0
        } else {
            h
        };
        self.support_now.iter_mut().for_each(|s| *s /= per_force);
        self.assembler
            .interpret(&self.model, &self.scheme, &self.state, &mut self.solution);
        timings.solve += lap();

        self.update(h)?;
        timings.update += lap();
        let after = match self.options.post_stabilisation {
            Some(how) => self.correct_positions(how)?,
            None => 0,
        };
        timings.stabilise += lap();

        let mut report = self.report(h, solved, (before, after));
        report.geometry_passes = passes;
        report.geometry_clamped = clamped;
        self.check(&report)?;
        for (lambda, mu) in self.multipliers.iter_mut().zip(&self.solution.mu) {
            *lambda = mu / h;
        }
        self.support.copy_from_slice(&self.support_now);
        self.lag_multipliers();
        self.dissipated = report.dissipated;
        self.time = report.time;
        self.counters.steps += 1;
        timings.update += lap();
        report.timings = timings;
        report.counters = self.counters();
        Ok(report)
    }

    /// Fills and factors the system. If `W` is not positive definite on the constraints, fills it again with the absolute value
    /// of the geometric stiffness, if allowed, and returns true.
    fn prepare(&mut self, timings: &mut Timings, lap: &mut impl FnMut() -> Duration) -> Result<bool, Error> {
        let mut clamped = false;
        loop {
            let input = StepInput {
                state: &self.state,
                multipliers: &self.lag_for_step,
                impulse: &self.impulse,
            };
            self.assembler
                .fill(&self.model, &mut self.evaluation, &self.scheme, input);
            let system = self.assembler.system();
            for (i, soft) in self.soft.iter_mut().enumerate() {
                *soft = system.r_diagonal(i) >= SOFT * system.row_scale(i);
            }
            timings.fill += lap();
            let prepared = self.solver.prepare(system);
            timings.factor += lap();
            match prepared {
                Ok(()) => break,
                Err(SolveError::NotPositiveDefinite { .. })
                    if !clamped && self.options.clamp_geometry && self.scheme.geometry != Geometry::NONE =>
                {
                    clamped = true;
                    for mode in [
                        &mut self.scheme.geometry.forces,
                        &mut self.scheme.geometry.multipliers,
                    ] {
                        if *mode != GeometricStiffness::None {
                            *mode = GeometricStiffness::AbsoluteValue;
                        }
                    }
                }
                Err(e) => return Err(Error::from_solver(e, &self.model, self.time)),
            }
        }
        self.scheme.geometry = self.options.geometry;
        Ok(clamped)
    }

    /// Whether a multiplier of a hard or stiff row came out so different from the one that its geometric stiffness was made
    /// of that the step should be solved again with the new one; if so, takes it.
    fn refresh_multipliers(&mut self, h: f64) -> bool {
        if self.scheme.geometry.multipliers == GeometricStiffness::None {
            return false;
        }
        let per_force = if self.scheme.formulation == Formulation::Acceleration {
            1.0
        } else {
            h
        };
        let new = |row: usize| self.solution.mu[row] / per_force;
        let mut changed = false;
        for group in self.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            let stiff = || rows.clone().filter(|r| !self.soft[*r]);
            let size = stiff().fold(0.0f64, |a, r| a.max(new(r).abs()));
            changed |= stiff().any(|r| (new(r) - self.lag_for_step[r]).abs() > REFRESH * size);
        }
        if changed {
            for row in 0..self.lag_for_step.len() {
                if !self.soft[row] {
                    self.lag_for_step[row] = self.solution.mu[row] / per_force;
                }
            }
        }
        changed
    }

    /// `v+ = v + dv`, `x+ = x (+) h (beta v+ + (1 - beta) v)`, then everything mapped.
    fn update(&mut self, h: f64) -> Result<(), Error> {
        let beta = self.scheme.beta;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let step = &mut self.displacement[first..first + range.len()];
            let change = &self.solution.x[first..first + range.len()];
            for ((v, dv), d) in self.state.velocities[range]
                .iter_mut()
                .zip(change)
                .zip(&mut *step)
            {
                let old = *v;
                *v += dv;
                *d = h * (beta * *v + (1.0 - beta) * old);
            }
            node.space
                .retract(&mut self.state.positions[node.position_range()], step);
        }
        self.evaluation.propagate(&self.model, &mut self.state)?;
        Ok(())
    }

    /// Gauss-Newton on the hard constraints; velocities keep their coordinates. Returns the number of corrections.
    fn correct_positions(&mut self, how: Stabilisation) -> Result<usize, Error> {
        for iteration in 0..how.iterations {
            if self.violation() <= how.tolerance {
                return Ok(iteration);
            }
            self.evaluation.evaluate(&self.model, &self.state)?;
            let input = StepInput {
                state: &self.state,
                multipliers: &self.lagged,
                impulse: &self.impulse,
            };
            self.assembler.fill_correction(
                &self.model,
                &mut self.evaluation,
                &self.scheme,
                input,
                how.metric,
            );
            let in_words = |e| Error::from_solver(e, &self.model, self.time);
            self.solver.prepare(self.assembler.system()).map_err(in_words)?;
            let report = self
                .solver
                .solve(self.assembler.system(), &mut self.correction)
                .map_err(in_words)?;
            if let Status::Incompatible { row, violation } = report.status
                && !self.options.accept_failed_steps
            {
                let constraint = self.model.describe_row(row);
                return Err(Error::Incompatible {
                    constraint,
                    time: self.time,
                    violation,
                });
            }
            for node in self.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let step = &self.correction.x[first..first + node.velocity_range().len()];
                node.space
                    .retract(&mut self.state.positions[node.position_range()], step);
            }
            self.evaluation.propagate(&self.model, &mut self.state)?;
        }
        Ok(how.iterations)
    }

    /// Largest violation of a hard row [m, rad].
    pub(super) fn violation(&self) -> f64 {
        let mut worst = 0.0f64;
        for group in self.model.row_groups() {
            let phi = self.model.positions(&self.state, group.node);
            for (k, phi) in phi.iter().enumerate() {
                // A NaN must not hide behind `max`.
                if self.evaluation.is_hard(group, k) && (phi.abs() > worst || phi.is_nan()) {
                    worst = phi.abs();
                }
            }
        }
        worst
    }

    /// Damping work of the step: `h v^T B v` at the velocity that moved the positions.
    fn damping_work(&self, h: f64) -> f64 {
        let beta = self.scheme.beta;
        let mut work = 0.0;
        for (i, field) in self.model.force_fields().iter().enumerate() {
            let node = self.model.node(field.node);
            let size = node.space.velocity_size();
            let range = node.velocity_range();
            let mean = |k: usize| {
                let at = range.start + k;
                beta * self.state.velocities[at] + (1.0 - beta) * self.previous.velocities[at]
            };
            for e in 0..node.count {
                let block = self.evaluation.damping(i).block(e);
                for r in 0..size {
                    let row = &block[r * size..(r + 1) * size];
                    let force: f64 = row.iter().enumerate().map(|(c, b)| b * mean(e * size + c)).sum();
                    work += h * mean(e * size + r) * force;
                }
            }
        }
        work
    }

    fn report(&self, h: f64, solved: SolveReport, corrections: (usize, usize)) -> StepReport {
        StepReport {
            time: self.time + h,
            h,
            status: solved.status,
            residual: solved.residual,
            refinements: solved.refinements,
            redundant_rows: solved.redundant_rows,
            inertia: solved.inertia,
            violation: self.violation(),
            corrections,
            energies: self.model.energies(&self.state),
            dissipated: self.dissipated + self.damping_work(h),
            momentum: self.model.momentum(&self.state),
            counters: self.counters(),
            timings: Timings::default(),
            geometry_passes: 1,
            geometry_clamped: false,
        }
    }

    fn check(&self, report: &StepReport) -> Result<(), Error> {
        if !report.energies.total().is_finite() {
            return Err(Error::NotFinite {
                what: "the energy".into(),
                time: self.time,
            });
        }
        if self.options.accept_failed_steps {
            return Ok(());
        }
        match report.status {
            Status::Converged => Ok(()),
            Status::Incompatible { row, violation } => {
                let constraint = self.model.describe_row(row);
                Err(Error::Incompatible {
                    constraint,
                    time: self.time,
                    violation,
                })
            }
            _ => Err(Error::NotConverged {
                time: self.time,
                tolerance: self.options.solver.tolerance,
                report: Box::new(*report),
            }),
        }
    }

    /// The multipliers that the next step's geometric stiffness is made of.
    fn lag_multipliers(&mut self) {
        self.lagged.copy_from_slice(&self.multipliers);
        self.law_multipliers(false);
    }

    /// The same before any step: the law for compliant rows, zero for hard ones.
    pub(super) fn lag_multipliers_by_law(&mut self) {
        self.lagged.fill(0.0);
        self.law_multipliers(true);
    }

    /// Overwrites the lagged multipliers of compliant rows by their law; of soft ones only, unless `all`.
    fn law_multipliers(&mut self, all: bool) {
        for group in self.model.row_groups() {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            let node = self.model.node(group.node);
            let range = node.velocity_range();
            let force = &mut self.law_force[range.clone()];
            force.fill(0.0);
            let law = &self.model.force_fields()[i].component.law;
            let x = &self.state.positions[node.position_range()];
            law.add_force(node.space, x, &self.state.velocities[range], force);
            for (k, force) in force.iter().enumerate() {
                let row = group.first_row + k;
                if (all || self.soft[row]) && !self.evaluation.is_hard(group, k) {
                    self.lagged[row] = *force;
                }
            }
        }
    }

    /// Multiplies all independent velocities that are not fixed.
    pub(crate) fn scale_velocities(&mut self, factor: f64) {
        let fixed = &self.assembler.system().fixed;
        for node in self.model.nodes() {
            let NodeKind::Independent { first_dof, .. } = node.kind else {
                continue;
            };
            for (k, v) in self.state.velocities[node.velocity_range()]
                .iter_mut()
                .enumerate()
            {
                if !fixed[first_dof + k] {
                    *v *= factor;
                }
            }
        }
        // Positions did not change, so no mapping can have become undefined; a failure would show at the next step.
        let _ = self.evaluation.propagate(&self.model, &mut self.state);
    }
}
