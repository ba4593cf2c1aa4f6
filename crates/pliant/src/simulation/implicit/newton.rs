//! The iteration of Newton's method.

use super::Simulation;
use super::search::Watch;
use crate::Error;
use crate::contact::Iterate;
use crate::contact::step::{self, Newton};
use crate::report::{NewtonReport, Timings};
use pliant_kkt::{GeometricStiffness, Geometry, StepInput};
use pliant_solvers::{KktResidual, SolveReport, Status};
use std::time::Instant;

impl Simulation {
    /// Newton's method; with contacts that bounce by different coefficients once more with the largest common share of them that makes no energy, to 1/64, as in the
    /// linear step.
    pub(super) fn iterate_with_restitution(
        &mut self,
        timings: &mut Timings,
    ) -> Result<(SolveReport, NewtonReport, bool), Error> {
        let mut out = self.iterate(timings)?;
        let at = self.methods.implicit.iterate();
        if !step::restitution_makes_energy(&mut self.system, &self.options, at) {
            return Ok(out);
        }
        let (mut least, mut most, mut last) = (0.0, 1.0, 1.0);
        for _ in 0..6 {
            last = 0.5 * (least + most);
            step::share_restitution(
                &mut self.system,
                Newton {
                    motion: &self.motion,
                    options: &self.options,
                    scheme: &self.scheme,
                },
                last,
            );
            out = self.iterate(timings)?;
            let at = self.methods.implicit.iterate();
            if step::restitution_makes_energy(&mut self.system, &self.options, at) {
                most = last;
            } else {
                least = last;
            }
        }
        if last != least {
            step::share_restitution(
                &mut self.system,
                Newton {
                    motion: &self.motion,
                    options: &self.options,
                    scheme: &self.scheme,
                },
                least,
            );
            out = self.iterate(timings)?;
        }
        Ok(out)
    }

    /// Newton's method. On return the state is the best iterate.
    fn iterate(&mut self, timings: &mut Timings) -> Result<(SolveReport, NewtonReport, bool), Error> {
        let mut newton = NewtonReport::default();
        let mut last: Option<SolveReport> = None;
        let mut clamped = false;
        if self.predict() {
            newton.iterations += 1;
        } else {
            self.guess()?;
        }
        self.find_residual()?;
        let mut watch = Watch::default();
        let mut weighed = false;
        loop {
            let clock = Instant::now();
            self.fill_newton(false);
            timings.fill += clock.elapsed();
            if !weighed {
                weighed = true;
                self.weigh();
                let at = self.methods.implicit.iterate();
                step::weigh_newton(
                    &mut self.system,
                    Newton {
                        motion: &self.motion,
                        options: &self.options,
                        scheme: &self.scheme,
                    },
                    at,
                )?;
                let merit = self.merit();
                self.keep_best(&mut watch, merit);
            }
            let measured = self.measure();
            let settled = !step::is_in_contact(&self.system) || self.methods.implicit.whole;
            let done = settled && measured.relative <= self.options.newton.tolerance;
            if let Some(mut report) = last {
                report.residual = measured;
                report.status = if done {
                    Status::Converged
                } else if newton.iterations >= self.options.newton.iterations {
                    Status::MaxIterations
                } else {
                    report.status
                };
                if done || report.status != Status::Converged {
                    if !done {
                        self.return_to_best()?;
                        report.residual = self.measure();
                    }
                    return Ok((report, newton, clamped));
                }
            }
            let clock = Instant::now();
            clamped |= self.prepare_newton()?;
            timings.factor += clock.elapsed();
            let clock = Instant::now();
            let s = &mut self.methods.implicit;
            let at = Iterate {
                start: &s.start,
                end: &s.end,
                mu: &s.mu,
                impulses: &s.contacts,
            };
            let mut solved = step::solve_newton(
                &mut self.system,
                Newton {
                    motion: &self.motion,
                    options: &self.options,
                    scheme: &self.scheme,
                },
                at,
                &mut s.new_contacts,
            )?;
            timings.solve += clock.elapsed();
            newton.iterations += 1;
            let clock = Instant::now();
            let found = done || self.search(&mut watch, &mut newton)?;
            timings.update += clock.elapsed();
            // Until the residual says otherwise.
            solved.status = if found {
                Status::Converged
            } else {
                Status::Stagnated
            };
            solved.residual = KktResidual::default();
            last = Some(solved);
        }
    }

    /// Fills the matrices at the iterate.
    pub(super) fn fill_newton(&mut self, clamped: bool) {
        let full = Geometry {
            forces: GeometricStiffness::Full,
            multipliers: GeometricStiffness::Full,
        };
        self.scheme.geometry = if clamped { full.clamped() } else { full };
        let gain = self.methods.implicit.relation.acceleration_gain;
        for (lambda, mu) in self
            .system
            .scratch
            .lag_for_step
            .iter_mut()
            .zip(&self.methods.implicit.mu)
        {
            *lambda = gain * mu;
        }
        let input = StepInput {
            state: &self.motion.state,
            multipliers: &self.system.scratch.lag_for_step,
            impulse: &[],
            fixed_change: &[],
            motion: &self.system.row_motion,
        };
        self.system.assembler.fill(
            &self.system.model,
            &mut self.system.evaluation,
            &self.scheme,
            input,
        );
        self.switch_gates_off();
    }

    fn fill_right_hand_sides(&mut self) {
        let s = &self.methods.implicit;
        self.system.assembler.set_residuals(
            &self.system.model,
            &self.system.evaluation,
            &self.scheme,
            &s.primal,
            &s.deficit,
            &s.mu,
        );
    }

    /// Factors the filled system; where it is indefinite, with the absolute value of the geometric stiffness. True if so.
    pub(super) fn prepare_newton(&mut self) -> Result<bool, Error> {
        let mut clamped = false;
        loop {
            self.fill_right_hand_sides();
            let prepared = if step::is_in_contact(&self.system) {
                step::prepare_newton(
                    &mut self.system,
                    Newton {
                        motion: &self.motion,
                        options: &self.options,
                        scheme: &self.scheme,
                    },
                    self.methods.implicit.iterate(),
                )
            } else {
                let prepared = self.system.solver.prepare(self.system.assembler.system());
                prepared.map_err(|e| Error::from_solver(e, &self.system.model, self.motion.time))
            };
            match prepared {
                Ok(()) => return Ok(clamped),
                Err(Error::NotPositiveDefinite { .. }) if !clamped && self.options.clamp_geometry => {
                    clamped = true;
                    self.fill_newton(clamped);
                }
                Err(e) => return Err(e),
            }
        }
    }
}
