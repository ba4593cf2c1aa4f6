//! One step, in the order of the equations.

use crate::Simulation;
use crate::contact::step;
use crate::control::sleep;
use crate::method::gyroscopic;
use crate::motion::Motion;
use crate::observe::{DampingLaw, LedgerMemory, find_parts};
use crate::report::{StepReport, Timings};
use crate::system::System;
use crate::{Error, Gyroscopic};
use pliant_kkt::{GeometricTerms, StepInput};
use pliant_model::{ComponentId, NodeKind};
use pliant_solvers::{SolveReport, Status};
use std::time::{Duration, Instant};

impl Simulation {
    /// Everything of a step but undoing it.
    pub(crate) fn advance(&mut self, h: f64) -> Result<StepReport, Error> {
        let mut timings = Timings::default();
        let mut clock = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut clock, now)
        };
        self.system.set_row_motion(self.motion.time, self.motion.time);
        let before = match self.options.pre_stabilisation {
            Some(how) => self.correct_positions(how)?,
            None => 0,
        };
        self.trace.account.forgotten += self.system.advance_memory(&mut self.motion.state, 0.0);
        timings.stabilise += lap();
        self.system.set_row_motion(self.motion.time, self.motion.time + h);

        self.system
            .evaluation
            .evaluate_after(&self.system.model, &self.motion.state, h)?;
        let projected_tangents = self
            .system
            .evaluation
            .projected_elements(&self.system.model, &self.motion.state);
        let scheme = &self.scheme;
        let at_start = |i| 1.0 - scheme.alpha_of(ComponentId::ForceField(i));
        self.system
            .evaluation
            .add_present_share(&self.system.model, &self.motion.state, at_start);
        self.system.evaluation.add_force(&self.motion.controls.external);
        gyroscopic::impulses(
            &self.system.model,
            &self.motion.state,
            self.options.gyroscopic,
            (h, self.scheme.beta),
            self.motion.time,
            &mut self.system.scratch.impulse,
        )?;
        timings.fill += lap();
        let found = find_and_wake(&mut self.system, &mut self.motion, h);
        // What the step wakes is awake at its start.
        self.start.sleep.clone_from(&self.motion.sleep);
        self.start.contacts.clone_from(&self.motion.contacts);
        found?;
        timings.contacts += lap();
        self.add_stored_at_start();
        self.system.find_fixed_change(&self.motion);
        if self.motion.fresh {
            self.system.first_multipliers(&self.scheme, &mut self.motion);
        }
        self.system.scratch.lag_for_step.clone_from(&self.motion.lagged);
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
            if passes >= self.options.geometry_passes || !self.system.refresh_multipliers(&self.scheme) {
                break solved;
            }
        };
        // Before the unknown is changed: the support is what the fixed rows of the system lack.
        let mut supports = std::mem::take(&mut self.motion.supports);
        let (whole, solution) = step::whole_system(&self.system);
        whole.support_into(solution, &mut supports);
        self.motion.supports = supports;
        let motion = &mut self.motion;
        self.system
            .sleep
            .forget_supports(&motion.sleep, &mut motion.supports);
        self.motion.supports.iter_mut().for_each(|s| *s /= h);
        for (x, d) in self
            .system
            .solution
            .x
            .iter_mut()
            .zip(&self.system.scratch.fixed_change)
        {
            *x += d;
        }
        step::read(&mut self.system, &self.scheme);
        timings.solve += lap();

        for (lambda, mu) in self.motion.multipliers.iter_mut().zip(&self.system.solution.mu) {
            *lambda = mu / h;
        }
        if self.options.numerical_parts {
            let geometry = self.options.geometry;
            let scheme = if clamped {
                self.scheme.with_geometry(geometry.clamped())
            } else {
                self.scheme.with_geometry(geometry)
            };
            find_parts(
                &mut self.system,
                &self.start,
                &self.motion,
                &scheme,
                &mut self.methods.parts,
                &mut self.trace.account,
            );
        }
        self.update(h)?;
        timings.update += lap();
        step::look_for_missed(&mut self.system, &self.start, &self.motion, h)?;
        timings.contacts += lap();
        self.trace.account.forgotten += self.system.advance_memory(&mut self.motion.state, h);
        self.tally(h, DampingLaw::Tangent);
        timings.update += lap();
        let after = match self.options.post_stabilisation {
            Some(how) => self.correct_positions(how)?,
            None => 0,
        };
        timings.stabilise += lap();
        let stored = step::find_at_end(&mut self.system, &mut self.motion, h)?;
        let lost = stored.map(|stored| self.lost(stored));
        let ends = step::Ends {
            start: &self.start,
            end: &mut self.motion,
        };
        step::recover_overlap(&mut self.system, ends, &self.scheme, lost)?;
        self.trace.account.forgotten += self.system.advance_memory(&mut self.motion.state, 0.0);
        timings.contacts += lap();

        let trace = &mut self.trace;
        trace.solved = solved;
        trace.corrections = (before, after);
        trace.geometry_passes = passes;
        trace.geometry_clamped = clamped;
        trace.projected_tangents = projected_tangents;
        let mut report = self.report(h)?;
        self.motion.integrator.forget();
        self.commit(&report);
        self.fall_asleep(h, &mut report)?;
        self.motion.ledger = LedgerMemory::of_step(report.energies, self.motion.ledger.overlap);
        timings.update += lap();
        report.timings = timings;
        report.counters = self.system.counters();
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
            state: &self.motion.state,
            multipliers: &self.system.scratch.lag_for_step,
            impulse: &self.system.scratch.impulse,
            fixed_change: &self.system.scratch.fixed_change,
            motion: &self.system.row_motion,
        };
        self.system.assembler.fill(
            &self.system.model,
            &mut self.system.evaluation,
            &self.scheme,
            input,
        );
        self.scheme.geometry = self.options.geometry;
        self.system.sleep.hold_rows(&mut self.system.assembler);
        self.guards.deactivate_rows(&mut self.system.assembler);
        self.system.find_soft_rows();
        timings.fill += lap();
        let prepared = if self.system.in_contact() {
            step::prepare(&mut self.system, &self.motion, &self.scheme)
        } else {
            let prepared = self.system.solver.prepare(self.system.assembler.system());
            prepared.map_err(|e| Error::from_solver(e, &self.system.model, self.motion.time))
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
        let solved = if self.system.in_contact() {
            step::solve(&mut self.system, &self.motion, &self.scheme)?
        } else {
            self.solve_without_contacts(timings, lap)?
        };
        let system = &mut self.system;
        let (start, mu) = (&self.start.multipliers, &mut system.solution.mu);
        system.sleep.keep_multipliers(start, self.scheme.h, mu);
        timings.solve += lap();
        Ok(solved)
    }

    fn solve_without_contacts(
        &mut self,
        timings: &mut Timings,
        lap: &mut impl FnMut() -> Duration,
    ) -> Result<SolveReport, Error> {
        let in_words = |e| Error::from_solver(e, &self.system.model, self.motion.time);
        let system = self.system.assembler.system();
        let mut solved = self
            .system
            .solver
            .solve(system, &mut self.system.solution)
            .map_err(in_words)?;
        if solved.status == Status::Stagnated {
            self.system.solver.forget(None);
            self.system.solver.prepare(system).map_err(in_words)?;
            timings.factor += lap();
            solved = self
                .system
                .solver
                .solve(system, &mut self.system.solution)
                .map_err(in_words)?;
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
        self.system.scratch.right_hand_side.clear();
        self.system
            .scratch
            .right_hand_side
            .extend_from_slice(&self.system.assembler.system().c);
        self.system.scratch.previous_change.clear();
        self.system
            .scratch
            .previous_change
            .resize(self.system.model.dof_count(), 0.0);
        let spin = self.system.largest_free_velocity(&self.motion.state);
        for _ in 0..200 {
            self.system.change.clone_from(&self.system.solution);
            for (x, d) in self
                .system
                .change
                .x
                .iter_mut()
                .zip(&self.system.scratch.fixed_change)
            {
                *x += d;
            }
            let difference = self
                .system
                .change
                .x
                .iter()
                .zip(&self.system.scratch.previous_change);
            let difference = difference.fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            if difference <= 1e-14 * spin {
                return Ok(solved);
            }
            self.system
                .scratch
                .previous_change
                .copy_from_slice(&self.system.change.x);
            let rhs = self.system.assembler.right_hand_side_mut();
            rhs.copy_from_slice(&self.system.scratch.right_hand_side);
            gyroscopic::add_linearised(
                &self.system.model,
                &self.motion.state,
                weight,
                &self.system.scratch.previous_change,
                rhs,
            );
            solved = self.solve(timings, lap)?;
        }
        let what = "the bodies (linearly implicit)".to_owned();
        Err(Error::Gyroscopic {
            what,
            time: self.motion.time,
        })
    }

    /// `v+ = v + dv`, `x+ = x (+) h (beta v+ + (1 - beta) v)`, then everything mapped.
    fn update(&mut self, h: f64) -> Result<(), Error> {
        let beta = self.scheme.beta;
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let step = &mut self.system.scratch.displacement[first..first + range.len()];
            let change = &self.system.solution.x[first..first + range.len()];
            let fixed = &self.system.assembler.system().fixed[first..];
            let held = &self.motion.controls.held[first..];
            for (k, (v, d)) in self.motion.state.velocities[range]
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
                .retract(&mut self.motion.state.positions[node.position_range()], step);
        }
        sleep::hold_positions(&self.system, &self.start.state, &mut self.motion);
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        Ok(())
    }

    /// Multiplies all independent velocities that are not fixed.
    pub(crate) fn scale_velocities(&mut self, factor: f64) {
        let fixed = &self.system.assembler.system().fixed;
        for node in self.system.model.nodes() {
            let NodeKind::Independent { first_dof, .. } = node.kind else {
                continue;
            };
            for (k, v) in self.motion.state.velocities[node.velocity_range()]
                .iter_mut()
                .enumerate()
            {
                if !fixed[first_dof + k] {
                    *v *= factor;
                }
            }
        }
        self.motion.integrator.forget();
        // Positions did not change, so no mapping can have become undefined; a failure would show at the next step.
        let _ = self
            .system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state);
        self.correct_ledger();
    }
}

/// Finds the contacts at the start of a step, and wakes the islands that it disturbs.
fn find_and_wake(system: &mut System, motion: &mut Motion, h: f64) -> Result<(), Error> {
    let limits = system.options.contacts.sleeping;
    sleep::look(system, motion, limits);
    sleep::wake_driven(system, motion);
    step::find(system, motion, h)?;
    while sleep::wake_touched(system, motion, h) {
        step::find(system, motion, h)?;
    }
    Ok(())
}
