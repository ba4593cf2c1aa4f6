//! Explicit steps, for models without hard rows.

use super::{Capabilities, Method};
use crate::Error;
use crate::motion::Motion;
use crate::observe::Trace;
use crate::system::System;
use pliant_dense::{rotation, vec3};
use pliant_model::{Model, Space};
use pliant_solvers::SolveReport;
use std::time::Instant;

/// Which explicit method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExplicitMethod {
    /// `v+ = v + h a(x, v)`, `x+ = x + h v+`.
    #[default]
    SymplecticEuler,
    /// `v+ = v + h a(x, v)`, `x+ = x + h v`.
    ForwardEuler,
    /// Heun's method, of order 2.
    RungeKutta2,
    /// The classical method of order 4.
    RungeKutta4,
}

/// A stage of an explicit Runge-Kutta method whose stages go from the start of the step along the
/// rates of the stage before.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// The share of the step that it is at.
    reach: f64,
    /// Weight of its rates in those of the step.
    weight: f64,
}

/// Heun's method.
const HEUN: [Stage; 2] = [
    Stage {
        reach: 0.0,
        weight: 0.5,
    },
    Stage {
        reach: 1.0,
        weight: 0.5,
    },
];

/// The classical method of order 4.
const CLASSICAL: [Stage; 4] = [
    Stage {
        reach: 0.0,
        weight: 1.0 / 6.0,
    },
    Stage {
        reach: 0.5,
        weight: 1.0 / 3.0,
    },
    Stage {
        reach: 0.5,
        weight: 1.0 / 3.0,
    },
    Stage {
        reach: 1.0,
        weight: 1.0 / 6.0,
    },
];

/// An explicit method with its scratch, on the independent coordinates.
#[derive(Debug, Default)]
pub(crate) struct Explicit {
    pub(crate) method: ExplicitMethod,
    /// Velocities at the start of the step.
    start: Vec<f64>,
    /// Accelerations, velocities, and displacements from the start, of the present stage.
    acceleration: Vec<f64>,
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
            ExplicitMethod::ForwardEuler => "ForwardEuler",
            ExplicitMethod::RungeKutta2 => "RungeKutta2",
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
        let n = system.model.dof_count();
        for list in [
            &mut self.velocity,
            &mut self.displacement,
            &mut self.velocity_sum,
            &mut self.displacement_sum,
        ] {
            list.clear();
            list.resize(n, 0.0);
        }
        system.velocities(&start.state, &mut self.start);
        trace.solved = match self.method {
            ExplicitMethod::SymplecticEuler | ExplicitMethod::ForwardEuler => self.euler(system, start, h)?,
            ExplicitMethod::RungeKutta2 => self.runge_kutta(system, start, h, end, &HEUN, trace)?,
            ExplicitMethod::RungeKutta4 => self.runge_kutta(system, start, h, end, &CLASSICAL, trace)?,
        };
        let held = Some(&end.controls.held[..]);
        system.place(
            &start.state,
            &self.velocity,
            &self.displacement,
            held,
            &mut end.state,
        )?;
        trace.timings.solve = clock.elapsed();
        let clock = Instant::now();
        system.finish_by_laws(start, h, end, trace);
        trace.timings.update = clock.elapsed();
        Ok(())
    }
}

impl Explicit {
    fn euler(&mut self, system: &mut System, start: &Motion, h: f64) -> Result<SolveReport, Error> {
        let solved = system.accelerations(start, start, start.time, h, &mut self.acceleration)?;
        for i in 0..self.start.len() {
            self.velocity[i] = self.start[i] + h * self.acceleration[i];
            let moving = match self.method {
                ExplicitMethod::ForwardEuler => self.start[i],
                _ => self.velocity[i],
            };
            self.displacement[i] = h * moving;
        }
        Ok(solved)
    }

    /// A Runge-Kutta method for `d' = J_r^-1(d) v`, `v' = a(x (+) d, v)` with the displacement `d`
    /// from the start of the step (Munthe-Kaas 1999).
    fn runge_kutta(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        stages: &[Stage],
        trace: &mut Trace,
    ) -> Result<SolveReport, Error> {
        self.velocity.copy_from_slice(&self.start);
        let mut worst: Option<SolveReport> = None;
        for (number, stage) in stages.iter().enumerate() {
            if number > 0 {
                let state = &mut end.state;
                system.place(&start.state, &self.velocity, &self.displacement, None, state)?;
            }
            let at = start.time + stage.reach * h;
            let solved = system.accelerations(start, end, at, h, &mut self.acceleration)?;
            let account = &mut trace.account;
            account.add_stage_by_laws(system, h * stage.weight, number == 0);
            if worst.is_none_or(|w| solved.residual.relative > w.residual.relative) {
                worst = Some(solved);
            }
            turn_rates(&system.model, &self.velocity, &mut self.displacement);
            let next = h * stages.get(number + 1).map_or(1.0, |next| next.reach);
            for i in 0..self.start.len() {
                let (rate, acceleration) = (self.displacement[i], self.acceleration[i]);
                self.displacement_sum[i] += h * stage.weight * rate;
                self.velocity_sum[i] += h * stage.weight * acceleration;
                self.displacement[i] = next * rate;
                self.velocity[i] = self.start[i] + next * acceleration;
            }
        }
        self.displacement.copy_from_slice(&self.displacement_sum);
        for i in 0..self.start.len() {
            self.velocity[i] = self.start[i] + self.velocity_sum[i];
        }
        Ok(worst.expect("a method has a stage"))
    }
}

/// The rates of displacements, in place of the displacements: `J_r^-1(d) v` for the rotations of
/// bodies, `v` for all else.
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
