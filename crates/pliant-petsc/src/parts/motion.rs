//! Steps of implicit Euler with all their nonlinearity.

use super::residual::{Equations, larger};
use super::{SpreadModel, SpreadReport, check_step, together};
use crate::Error;
use crate::ffi::Reduction;
use pliant_kkt::{NewtonResiduals, Scheme, StepInput};

/// Roundings of a position, for the arithmetic of mappings.
const ROUNDINGS: f64 = 100.0;

impl SpreadModel {
    /// One step of implicit Euler of length `h` (s) by Newton's method with whole steps, from the
    /// velocities at its start: that of the nonlinear step with weights 1,
    ///
    /// ```math
    /// M (v+ - v)/h = (f + J^T lambda)(x+, v+),   x+ = x (+) h v+
    /// phi(x+) = 0   or   C lambda + phi(x+) + ... = 0
    /// ```
    ///
    /// for points and bodies, with gyroscopic torques, and rows. The first step takes velocities that
    /// rows do not allow as they are, where a run in one piece takes those that are allowed next to
    /// them. At its end the norm of the forces that are missing is at most `tolerance` times that of
    /// their terms, and rows miss, as velocities and beyond the rounding of positions, at most
    /// `tolerance` times the largest one. A step that fails changes nothing. Collective.
    ///
    /// # Errors
    /// [`Error::NoStep`] after `most` iterations (a shorter step begins nearer to its end),
    /// [`Error::Step`], [`Error::NotInParts`] for damping in proportion to mass or stiffness of the
    /// model, [`Error::NotSolved`], [`Error::Model`], [`Error::OtherPart`], [`Error::Call`].
    pub fn step_nonlinear(&mut self, h: f64, tolerance: f64, most: usize) -> Result<SpreadReport, Error> {
        check_step(h)?;
        let damping = self.problem.rayleigh();
        let taken = match damping.mass != 0.0 || damping.stiffness != 0.0 {
            true => Err(Error::NotInParts {
                what: "damping in proportion to mass or stiffness in nonlinear steps".to_owned(),
            }),
            false => Ok(()),
        };
        together(&self.library, taken)?;
        self.start.clone_from(&self.state);
        let scratch = &mut self.scratch;
        scratch.start_multipliers.copy_from_slice(&self.multipliers);
        for node in self.problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let own = &mut scratch.velocity[first..first + node.velocity_range().len()];
            own.copy_from_slice(&self.state.velocities[node.velocity_range()]);
        }
        scratch.iterate.copy_from_slice(&scratch.velocity);
        let taken = self.iterate(h, tolerance, most);
        if taken.is_err() {
            self.state.clone_from(&self.start);
            self.multipliers.copy_from_slice(&self.scratch.start_multipliers);
            // It was defined there before.
            let placed = self.evaluation.propagate(&self.problem, &mut self.state);
            together(&self.library, placed.map_err(Error::Model))?;
        }
        taken
    }

    fn iterate(&mut self, h: f64, tolerance: f64, most: usize) -> Result<SpreadReport, Error> {
        let scheme = Scheme::implicit_euler(h);
        let mut report = SpreadReport::default();
        let n = self.problem.dof_count();
        loop {
            self.place(h)?;
            let evaluated = self.evaluation.evaluate_after(&self.problem, &self.state, h);
            together(&self.library, evaluated.map_err(Error::Model))?;
            report.residual = self.find_force_residual(Equations::Motion { h })?;
            report.rows = self.find_row_residual(&scheme)?;
            if report.residual <= tolerance && report.rows <= tolerance {
                return Ok(report);
            }
            // A NaN ends here as well.
            if report.newton_iterations == most || !(report.residual + report.rows).is_finite() {
                return Err(Error::NoStep {
                    h,
                    iterations: report.newton_iterations,
                    residual: report.residual,
                    rows: report.rows,
                });
            }
            self.fill(&scheme);
            let (iterations, _) = self.solve()?;
            report.iterations += iterations;
            report.newton_iterations += 1;
            let scratch = &mut self.scratch;
            for (v, change) in scratch.iterate.iter_mut().zip(&scratch.change) {
                *v += change;
            }
            for (lambda, mu) in self.multipliers.iter_mut().zip(&scratch.change[n..]) {
                *lambda = mu / h;
            }
        }
    }

    /// Places everything where the velocities of the iterate lead in `h` from the start.
    fn place(&mut self, h: f64) -> Result<(), Error> {
        let Self {
            problem,
            state,
            start,
            scratch,
            ..
        } = self;
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let own = first..first + range.len();
            state.velocities[range].copy_from_slice(&scratch.iterate[own.clone()]);
            let displacement = &mut scratch.change[own.clone()];
            for (d, v) in displacement.iter_mut().zip(&scratch.iterate[own]) {
                *d = h * v;
            }
            let positions = &mut state.positions[node.position_range()];
            positions.copy_from_slice(&start.positions[node.position_range()]);
            node.space.retract(positions, displacement);
        }
        let placed = self.evaluation.propagate(&self.problem, &mut self.state);
        together(&self.library, placed.map_err(Error::Model))
    }

    /// The largest miss of a row as a velocity, less what positions are rounded by, over the
    /// largest velocity. Collective.
    fn find_row_residual(&mut self, scheme: &Scheme) -> Result<f64, Error> {
        let Self {
            problem,
            evaluation,
            assembler,
            state,
            scratch,
            ..
        } = self;
        assembler.velocities_of_deficits(
            problem,
            evaluation,
            scheme,
            &scratch.deficit,
            &mut scratch.row_velocity,
        );
        let largest = |list: &[f64]| list.iter().fold(0.0f64, |a, x| larger(a, x.abs()));
        let own = [
            largest(&scratch.row_velocity),
            largest(&scratch.iterate).max(largest(&scratch.velocity)),
            largest(&state.positions),
        ];
        let mut worst = [0.0; 3];
        self.library.reduce(Reduction::Largest, &own, &mut worst)?;
        let [missed, velocity, reach] = worst;
        let beyond = missed - ROUNDINGS * f64::EPSILON * reach / scheme.h;
        // Beside nothing that moves any miss is too large.
        Ok(if beyond <= 0.0 { 0.0 } else { beyond / velocity })
    }

    /// Fills the matrices and the right-hand sides of Newton's method at the iterate.
    fn fill(&mut self, scheme: &Scheme) {
        let Self {
            problem,
            evaluation,
            assembler,
            state,
            multipliers,
            scratch,
            ..
        } = self;
        let n = problem.dof_count();
        let input = StepInput {
            state,
            multipliers,
            impulse: &scratch.impulse,
            fixed_change: &[],
            motion: &[],
        };
        assembler.fill(problem, evaluation, scheme, input);
        let primal = &mut scratch.sizes[..n];
        for (impulse, force) in primal.iter_mut().zip(&scratch.missing) {
            *impulse = -scheme.h * force;
        }
        for (mu, lambda) in scratch.mu.iter_mut().zip(&*multipliers) {
            *mu = scheme.h * lambda;
        }
        let residuals = NewtonResiduals {
            primal,
            deficit: &scratch.deficit,
            mu: &scratch.mu,
            allow: false,
        };
        assembler.set_residuals(problem, evaluation, scheme, residuals);
        let system = assembler.system();
        scratch.right[..n].copy_from_slice(&system.c);
        scratch.right[n..].copy_from_slice(&system.b);
    }
}
