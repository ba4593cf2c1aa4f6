//! Explicit steps, for models without hard rows.

use crate::Simulation;
use crate::observe::DampingLaw;
use crate::report::{StepReport, Timings};
use crate::system::gather;
use crate::{Error, Integrator};
use pliant_dense::{rotation, vec3};
use pliant_model::Space;
use pliant_solvers::SolveReport;
use std::time::Instant;

/// Scratch of explicit steps, on the independent coordinates.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    /// Velocities at the start of the step.
    start: Vec<f64>,
    /// Velocities, and displacements from the start, of the present stage.
    velocity: Vec<f64>,
    displacement: Vec<f64>,
    /// Weighted sums of the stages' rates.
    velocity_sum: Vec<f64>,
    displacement_sum: Vec<f64>,
}

impl Simulation {
    /// A step by an explicit method, but for undoing it.
    pub(crate) fn advance_explicitly(&mut self, h: f64) -> Result<StepReport, Error> {
        let mut timings = Timings::default();
        let clock = Instant::now();
        self.system.find_fixed_change(&self.motion);
        let n = self.system.model.dof_count();
        for list in [
            &mut self.methods.stages.start,
            &mut self.methods.stages.velocity,
            &mut self.methods.stages.displacement,
            &mut self.methods.stages.velocity_sum,
            &mut self.methods.stages.displacement_sum,
        ] {
            list.clear();
            list.resize(n, 0.0);
        }
        gather(
            &self.system.model,
            &self.motion.state.velocities,
            &mut self.methods.stages.start,
        );
        let solved = if self.options.integrator == Integrator::SymplecticEuler {
            self.system.set_row_motion(self.motion.time, self.motion.time);
            let solved = self.accelerate(h)?;
            let s = &mut self.methods.stages;
            for i in 0..n {
                s.velocity[i] = s.start[i] + h * self.system.solution.x[i];
                s.displacement[i] = h * s.velocity[i];
            }
            solved
        } else {
            self.runge_kutta(h)?
        };
        self.system.set_row_motion(self.motion.time, self.motion.time + h);
        self.place_stage(true)?;
        self.system.find_law_forces(&self.motion.state, |m| m.end);
        for group in self.system.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            self.motion.multipliers[rows.clone()].copy_from_slice(&self.system.rows.law_force[rows]);
        }
        timings.solve = clock.elapsed();
        let clock = Instant::now();
        self.system.take_rows_by_law();
        (self.scheme.alpha, self.scheme.beta) = (0.5, 0.5);
        self.tally(h, DampingLaw::Mean);
        self.trace.solved = solved;
        let mut report = self.report(h)?;
        self.motion.integrator.forget();
        self.commit(&report);
        timings.update = clock.elapsed();
        report.timings = timings;
        report.counters = self.system.counters();
        Ok(report)
    }

    /// The classical method of order 4 for `d' = J_r^-1(d) v`, `v' = a(x (+) d, v)` with the displacement `d` from the start of the step
    /// (Munthe-Kaas 1999).
    fn runge_kutta(&mut self, h: f64) -> Result<SolveReport, Error> {
        self.methods
            .stages
            .velocity
            .copy_from_slice(&self.methods.stages.start);
        let mut worst: Option<SolveReport> = None;
        for (stage, (reach, weight)) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)]
            .into_iter()
            .enumerate()
        {
            let at = self.motion.time + reach * h;
            self.system.set_row_motion(at, at);
            if stage > 0 {
                self.place_stage(false)?;
            }
            let solved = self.accelerate(h)?;
            if worst.is_none_or(|w| solved.residual.relative > w.residual.relative) {
                worst = Some(solved);
            }
            self.turn_rates();
            let s = &mut self.methods.stages;
            let next = if stage == 2 { h } else { 0.5 * h };
            for i in 0..s.start.len() {
                let (rate, acceleration) = (s.displacement[i], self.system.solution.x[i]);
                s.displacement_sum[i] += h / 6.0 * weight * rate;
                s.velocity_sum[i] += h / 6.0 * weight * acceleration;
                s.displacement[i] = next * rate;
                s.velocity[i] = s.start[i] + next * acceleration;
            }
        }
        let s = &mut self.methods.stages;
        s.displacement.copy_from_slice(&s.displacement_sum);
        for i in 0..s.start.len() {
            s.velocity[i] = s.start[i] + s.velocity_sum[i];
        }
        Ok(worst.expect("the method has four stages"))
    }

    /// The rates of displacements, in place of the displacements: `J_r^-1(d) v` for the rotations of bodies, `v` for all else.
    fn turn_rates(&mut self) {
        let s = &mut self.methods.stages;
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = first..first + node.velocity_range().len();
            if node.space != Space::Rigid3 {
                s.displacement[range.clone()].copy_from_slice(&s.velocity[range]);
                continue;
            }
            for at in range.step_by(6) {
                let turn = rotation::inverse_right_jacobian(vec3(&s.displacement, at + 3));
                let rate = turn * vec3(&s.velocity, at + 3);
                s.displacement[at..at + 3].copy_from_slice(&s.velocity[at..at + 3]);
                s.displacement[at + 3..at + 6].copy_from_slice(rate.as_slice());
            }
        }
    }

    /// Puts the state where the stage is; at the end of the step fixed coordinates have the velocities they are held at.
    fn place_stage(&mut self, end: bool) -> Result<(), Error> {
        let fixed = &self.system.assembler.system().fixed;
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            for (k, v) in self.motion.state.velocities[range.clone()].iter_mut().enumerate() {
                let i = first + k;
                *v = if end && fixed[i] {
                    self.motion.controls.held[i]
                } else {
                    self.methods.stages.velocity[i]
                };
            }
            let positions = &mut self.motion.state.positions[node.position_range()];
            positions.copy_from_slice(&self.start.state.positions[node.position_range()]);
            node.space.retract(
                positions,
                &self.methods.stages.displacement[first..first + range.len()],
            );
        }
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        Ok(())
    }

    fn accelerate(&mut self, h: f64) -> Result<SolveReport, Error> {
        self.system.evaluate(&self.motion, 0.0)?;
        self.system.find_accelerations(&self.scheme, &self.motion, h)
    }
}
