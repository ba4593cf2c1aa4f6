//! One step, in the order of the equations.

use super::Simulation;
use crate::report::{StepReport, Timings};
use crate::{Error, Gyroscopic, gyroscopic};
use pliant_kkt::{GeometricTerms, StepInput};
use pliant_model::{ComponentId, NodeKind};
use pliant_solvers::{SolveReport, Status};
use std::time::{Duration, Instant};

impl Simulation {
    /// Everything of a step but undoing it.
    pub(super) fn advance(&mut self, h: f64) -> Result<StepReport, Error> {
        let mut timings = Timings::default();
        let mut clock = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut clock, now)
        };
        self.fill_motion(self.time, self.time);
        let before = match self.options.pre_stabilisation {
            Some(how) => self.correct_positions(how)?,
            None => 0,
        };
        self.advance_memory(0.0);
        timings.stabilise += lap();
        self.fill_motion(self.time, self.time + h);

        self.evaluation.evaluate_after(&self.model, &self.state, h)?;
        let projected_tangents = self.evaluation.projected_elements(&self.model, &self.state);
        let scheme = &self.scheme;
        let at_start = |i| 1.0 - scheme.alpha_of(ComponentId::ForceField(i));
        self.evaluation
            .add_present_share(&self.model, &self.state, at_start);
        self.evaluation.add_force(&self.external);
        gyroscopic::impulses(
            &self.model,
            &self.state,
            self.options.gyroscopic,
            (h, self.scheme.beta),
            self.time,
            &mut self.impulse,
        )?;
        self.look_for_sleepers();
        self.wake_driven();
        timings.fill += lap();
        self.find_contacts(h)?;
        while self.wake_touched(h) {
            self.find_contacts(h)?;
        }
        timings.contacts += lap();
        self.add_stored_at_start();
        self.find_fixed_change();
        if self.fresh {
            self.first_multipliers();
        }
        self.lag_for_step.clone_from(&self.lagged);
        let mut passes = 0;
        let mut clamped = false;
        let solved = loop {
            let mut solved = match self.prepare_and_solve(clamped, &mut timings, &mut lap) {
                Err(Error::NotPositiveDefinite { .. })
                    if !clamped
                        && self.options.clamp_geometry
                        && self.scheme.geometry != GeometricTerms::NONE =>
                {
                    clamped = true;
                    self.prepare_and_solve(clamped, &mut timings, &mut lap)?
                }
                other => other?,
            };
            if self.options.gyroscopic == Gyroscopic::LinearlyImplicit {
                solved = self.turn_implicitly(h, solved, &mut timings, &mut lap)?;
            }
            passes += 1;
            if passes >= self.options.geometry_passes || !self.refresh_multipliers(h) {
                break solved;
            }
        };
        // Before the unknown is changed: the support is what the fixed rows of the system lack.
        let mut support = std::mem::take(&mut self.support_now);
        let solution = self.contact_solution().unwrap_or(&self.solution);
        self.whole_system().support_into(solution, &mut support);
        self.support_now = support;
        self.forget_sleeping_supports();
        self.support_now.iter_mut().for_each(|s| *s /= h);
        for (x, d) in self.solution.x.iter_mut().zip(&self.fixed_change) {
            *x += d;
        }
        self.read_contacts(h);
        timings.solve += lap();

        for (lambda, mu) in self.new_multipliers.iter_mut().zip(&self.solution.mu) {
            *lambda = mu / h;
        }
        if self.options.numerical_parts {
            self.find_parts(h, clamped);
        }
        self.update(h)?;
        timings.update += lap();
        self.look_again(h)?;
        timings.contacts += lap();
        self.advance_memory(h);
        let damping_work = self.tally(h);
        timings.update += lap();
        let after = match self.options.post_stabilisation {
            Some(how) => self.correct_positions(how)?,
            None => 0,
        };
        timings.stabilise += lap();
        self.find_contacts_after(h)?;
        self.advance_memory(0.0);
        timings.contacts += lap();

        let mut report = self.report(h, solved, (before, after), damping_work);
        report.geometry_passes = passes;
        report.geometry_clamped = clamped;
        report.projected_tangents = projected_tangents;
        self.check(&report)?;
        self.multipliers.copy_from_slice(&self.new_multipliers);
        self.fresh = false;
        self.memory.forget();
        self.keep_contacts();
        self.support.copy_from_slice(&self.support_now);
        self.lag_multipliers();
        self.dissipated = report.dissipated;
        self.time = report.time;
        self.counters.steps += 1;
        self.fall_asleep(h, &mut report)?;
        self.close_books(report.energies);
        timings.update += lap();
        report.timings = timings;
        report.counters = self.counters();
        Ok(report)
    }

    /// Fills, factors and solves the system; with `clamped` the geometric stiffness enters with its absolute value, which keeps `W`
    /// positive definite on the constraints.
    fn prepare_and_solve(
        &mut self,
        clamped: bool,
        timings: &mut Timings,
        lap: &mut impl FnMut() -> Duration,
    ) -> Result<SolveReport, Error> {
        if clamped {
            self.scheme.geometry = self.options.geometry.clamped();
        }
        let input = StepInput {
            state: &self.state,
            multipliers: &self.lag_for_step,
            impulse: &self.impulse,
            fixed_change: &self.fixed_change,
            motion: &self.motion,
        };
        self.assembler
            .fill(&self.model, &mut self.evaluation, &self.scheme, input);
        self.scheme.geometry = self.options.geometry;
        self.quieten_rows();
        self.switch_gates_off();
        self.find_soft_rows();
        timings.fill += lap();
        let prepared = if self.in_contact() {
            self.prepare_contacts()
        } else {
            let prepared = self.solver.prepare(self.assembler.system());
            prepared.map_err(|e| Error::from_solver(e, &self.model, self.time))
        };
        timings.factor += lap();
        prepared?;
        self.solve(timings, lap)
    }

    /// Solves; if refinement stagnates, plans the order of elimination anew, from the values at hand, and tries once more.
    fn solve(
        &mut self,
        timings: &mut Timings,
        lap: &mut impl FnMut() -> Duration,
    ) -> Result<SolveReport, Error> {
        let solved = if self.in_contact() {
            self.solve_contacts()?
        } else {
            self.solve_without_contacts(timings, lap)?
        };
        self.keep_sleeping_multipliers(self.scheme.h);
        timings.solve += lap();
        Ok(solved)
    }

    fn solve_without_contacts(
        &mut self,
        timings: &mut Timings,
        lap: &mut impl FnMut() -> Duration,
    ) -> Result<SolveReport, Error> {
        let in_words = |e| Error::from_solver(e, &self.model, self.time);
        let system = self.assembler.system();
        let mut solved = self.solver.solve(system, &mut self.solution).map_err(in_words)?;
        if solved.status == Status::Stagnated {
            self.solver.forget(None);
            self.solver.prepare(system).map_err(in_words)?;
            timings.factor += lap();
            solved = self.solver.solve(system, &mut self.solution).map_err(in_words)?;
        }
        Ok(solved)
    }

    /// Iterates the solution until the right-hand side holds the gyroscopic torques' change over the step, `-h alpha B dv`. The
    /// iteration contracts while `h alpha` times the spin is below about one.
    fn turn_implicitly(
        &mut self,
        h: f64,
        mut solved: SolveReport,
        timings: &mut Timings,
        lap: &mut impl FnMut() -> Duration,
    ) -> Result<SolveReport, Error> {
        let weight = h * self.scheme.alpha;
        self.right_hand_side.clear();
        self.right_hand_side.extend_from_slice(&self.assembler.system().c);
        self.previous_change.clear();
        self.previous_change.resize(self.model.dof_count(), 0.0);
        let spin = self.largest_free_velocity();
        for _ in 0..200 {
            self.change.clone_from(&self.solution);
            for (x, d) in self.change.x.iter_mut().zip(&self.fixed_change) {
                *x += d;
            }
            let difference = self.change.x.iter().zip(&self.previous_change);
            let difference = difference.fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            if difference <= 1e-14 * spin {
                return Ok(solved);
            }
            self.previous_change.copy_from_slice(&self.change.x);
            let rhs = self.assembler.right_hand_side_mut();
            rhs.copy_from_slice(&self.right_hand_side);
            gyroscopic::add_linearised(&self.model, &self.state, weight, &self.previous_change, rhs);
            solved = self.solve(timings, lap)?;
        }
        let what = "the bodies (linearly implicit)".to_owned();
        Err(Error::Gyroscopic {
            what,
            time: self.time,
        })
    }

    /// The change of velocity that held coordinates are to make.
    pub(super) fn find_fixed_change(&mut self) {
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.state.velocities[node.velocity_range()].iter().enumerate() {
                let fixed = self.assembler.system().fixed[first + k];
                self.fixed_change[first + k] = if fixed { self.held[first + k] - v } else { 0.0 };
            }
        }
    }

    /// Fixed coordinates are to keep the velocities of the present state.
    pub(super) fn hold_present_velocities(&mut self) {
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let v = &self.state.velocities[node.velocity_range()];
            self.held[first..first + v.len()].copy_from_slice(v);
        }
    }

    /// Largest velocity of a coordinate that is not fixed.
    pub(crate) fn largest_free_velocity(&self) -> f64 {
        let mut largest = 0.0f64;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in self.state.velocities[node.velocity_range()].iter().enumerate() {
                if !self.assembler.system().fixed[first + k] {
                    largest = largest.max(v.abs());
                }
            }
        }
        largest
    }

    /// `v+ = v + dv`, `x+ = x (+) h (beta v+ + (1 - beta) v)`, then everything mapped.
    fn update(&mut self, h: f64) -> Result<(), Error> {
        let beta = self.scheme.beta;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let step = &mut self.displacement[first..first + range.len()];
            let change = &self.solution.x[first..first + range.len()];
            let fixed = &self.assembler.system().fixed[first..];
            let held = &self.held[first..];
            for (k, (v, d)) in self.state.velocities[range]
                .iter_mut()
                .zip(&mut *step)
                .enumerate()
            {
                let old = *v;
                // To the bit: v + (held - v) may differ from it by a rounding.
                *v = if fixed[k] { held[k] } else { *v + change[k] };
                *d = h * (beta * *v + (1.0 - beta) * old);
            }
            node.space
                .retract(&mut self.state.positions[node.position_range()], step);
        }
        self.hold_sleepers();
        self.evaluation.propagate(&self.model, &mut self.state)?;
        Ok(())
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
        self.memory.forget();
        // Positions did not change, so no mapping can have become undefined; a failure would show at the next step.
        let _ = self.evaluation.propagate(&self.model, &mut self.state);
        self.correct_books();
    }
}
