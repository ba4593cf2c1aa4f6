//! Explicit steps, for models without hard rows.

use super::{Capabilities, Method};
use crate::Error;
use crate::motion::Motion;
use crate::observe::{DampingLaw, Trace};
use crate::system::{System, gather};
use pliant_dense::{rotation, vec3};
use pliant_kkt::Scheme;
use pliant_model::{Model, Space};
use pliant_solvers::SolveReport;
use std::time::Instant;

/// Which explicit method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExplicitMethod {
    /// `v+ = v + h a(x, v)`, `x+ = x + h v+`.
    #[default]
    SymplecticEuler,
    /// The classical method of order 4.
    RungeKutta4,
}

/// An explicit method with its scratch, on the independent coordinates.
#[derive(Debug, Default)]
pub(crate) struct Explicit {
    pub(crate) method: ExplicitMethod,
    /// Velocities at the start of the step.
    start: Vec<f64>,
    /// Velocities, and displacements from the start, of the present stage.
    velocity: Vec<f64>,
    displacement: Vec<f64>,
    /// Weighted sums of the stages' rates.
    velocity_sum: Vec<f64>,
    displacement_sum: Vec<f64>,
}

impl Method for Explicit {
    fn name(&self) -> &str {
        match self.method {
            ExplicitMethod::SymplecticEuler => "SymplecticEuler",
            ExplicitMethod::RungeKutta4 => "RungeKutta4",
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::EXPLICIT
    }

    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let clock = Instant::now();
        system.find_fixed_change(start);
        let n = system.model.dof_count();
        for list in [
            &mut self.start,
            &mut self.velocity,
            &mut self.displacement,
            &mut self.velocity_sum,
            &mut self.displacement_sum,
        ] {
            list.clear();
            list.resize(n, 0.0);
        }
        gather(&system.model, &start.state.velocities, &mut self.start);
        let scheme = trace.scheme.with_weights(0.5, 0.5);
        trace.solved = match self.method {
            ExplicitMethod::SymplecticEuler => self.euler(system, &scheme, h, end)?,
            ExplicitMethod::RungeKutta4 => self.runge_kutta(system, &scheme, start, h, end)?,
        };
        system.set_row_motion(start.time, start.time + h);
        self.place(system, start, end, Stage::End)?;
        system.find_law_forces(&end.state, |m| m.end);
        for group in system.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            end.multipliers[rows.clone()].copy_from_slice(&system.rows.law_force[rows]);
        }
        trace.timings.solve = clock.elapsed();
        let clock = Instant::now();
        system.take_rows_by_law();
        trace.scheme = scheme;
        trace.tally(system, start, end, h, DampingLaw::Mean);
        end.integrator.forget();
        trace.timings.update = clock.elapsed();
        Ok(())
    }
}

/// Where a stage stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Within,
    /// Fixed coordinates have the velocities that they are held at.
    End,
}

impl Explicit {
    fn euler(
        &mut self,
        system: &mut System,
        scheme: &Scheme,
        h: f64,
        end: &Motion,
    ) -> Result<SolveReport, Error> {
        system.set_row_motion(end.time, end.time);
        let solved = accelerate(system, scheme, end, h)?;
        for i in 0..self.start.len() {
            self.velocity[i] = self.start[i] + h * system.solution.x[i];
            self.displacement[i] = h * self.velocity[i];
        }
        Ok(solved)
    }

    /// The classical method of order 4 for `d' = J_r^-1(d) v`, `v' = a(x (+) d, v)` with the displacement `d` from the start of the
    /// step (Munthe-Kaas 1999).
    fn runge_kutta(
        &mut self,
        system: &mut System,
        scheme: &Scheme,
        start: &Motion,
        h: f64,
        end: &mut Motion,
    ) -> Result<SolveReport, Error> {
        self.velocity.copy_from_slice(&self.start);
        let mut worst: Option<SolveReport> = None;
        for (stage, (reach, weight)) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)]
            .into_iter()
            .enumerate()
        {
            let at = start.time + reach * h;
            system.set_row_motion(at, at);
            if stage > 0 {
                self.place(system, start, end, Stage::Within)?;
            }
            let solved = accelerate(system, scheme, end, h)?;
            if worst.is_none_or(|w| solved.residual.relative > w.residual.relative) {
                worst = Some(solved);
            }
            turn_rates(&system.model, &self.velocity, &mut self.displacement);
            let next = if stage == 2 { h } else { 0.5 * h };
            for i in 0..self.start.len() {
                let (rate, acceleration) = (self.displacement[i], system.solution.x[i]);
                self.displacement_sum[i] += h / 6.0 * weight * rate;
                self.velocity_sum[i] += h / 6.0 * weight * acceleration;
                self.displacement[i] = next * rate;
                self.velocity[i] = self.start[i] + next * acceleration;
            }
        }
        self.displacement.copy_from_slice(&self.displacement_sum);
        for i in 0..self.start.len() {
            self.velocity[i] = self.start[i] + self.velocity_sum[i];
        }
        Ok(worst.expect("the method has four stages"))
    }

    /// Puts the state of `end` where the stage is.
    fn place(
        &self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage,
    ) -> Result<(), Error> {
        let fixed = &system.assembler.system().fixed;
        for node in system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            for (k, v) in end.state.velocities[range.clone()].iter_mut().enumerate() {
                let i = first + k;
                *v = if stage == Stage::End && fixed[i] {
                    end.controls.held[i]
                } else {
                    self.velocity[i]
                };
            }
            let positions = &mut end.state.positions[node.position_range()];
            positions.copy_from_slice(&start.state.positions[node.position_range()]);
            node.space
                .retract(positions, &self.displacement[first..first + range.len()]);
        }
        system.propagate(&mut end.state)
    }
}

/// The rates of displacements, in place of the displacements: `J_r^-1(d) v` for the rotations of bodies, `v` for all else.
fn turn_rates(model: &Model, velocity: &[f64], displacement: &mut [f64]) {
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let range = first..first + node.velocity_range().len();
        if node.space != Space::Rigid3 {
            displacement[range.clone()].copy_from_slice(&velocity[range]);
            continue;
        }
        for at in range.step_by(6) {
            let turn = rotation::inverse_right_jacobian(vec3(displacement, at + 3));
            let rate = turn * vec3(velocity, at + 3);
            displacement[at..at + 3].copy_from_slice(&velocity[at..at + 3]);
            displacement[at + 3..at + 6].copy_from_slice(rate.as_slice());
        }
    }
}

fn accelerate(system: &mut System, scheme: &Scheme, motion: &Motion, h: f64) -> Result<SolveReport, Error> {
    system.evaluate(motion, 0.0)?;
    system.find_accelerations(scheme, motion, h)
}
