//! The pseudo-static flow: downhill, however far from rest.

use super::super::Simulation;
use super::{FAR, NO_SOLUTION, Work};
use crate::Error;

/// By what the resistance falls after a step that went as predicted, and rises after one that did not.
const CHANGE: f64 = 4.0;
/// A step went as predicted if what it missed is this share of what was missing before.
const AS_PREDICTED: f64 = 0.25;
/// Steps between attempts to end by Newton's method.
const ATTEMPTS: usize = 6;
/// Rises of the resistance in one step at most: by `4^60` nothing moves.
const RISES: usize = 60;
/// Corrections of hard rows after a step at most, and the share of the length of the model that is as good as closed on the way.
const CLOSINGS: usize = 10;
const CLOSED: f64 = 1e-9;

impl Simulation {
    /// Steps of `s D dx = f + J^T lambda`, each by one linear system `[W + s D, -J^T; -J, -C]`, where `D` is 1 for positions and the square of the model's length for
    /// angles. The resistance `s` is at least what makes the system a minimum, and no step goes far; as it falls the step becomes
    /// Newton's. It comes to rest at a minimum, or at a saddle that nothing leads away from. False if it does not come to rest.
    ///
    /// Contacts are solved in every step with their law, which with `W + s D` has an answer; those that come into reach on the way of a step take part in it. Where nothing but contacts
    /// holds what moves, the resistance stays so high that without them it would not move further than the model is long: so far their solver resolves gaps.
    pub(crate) fn flow(&mut self, work: &mut Work) -> Result<bool, Error> {
        work.flowing = true;
        let rests = self.flow_on(work);
        work.flowing = false;
        rests
    }

    fn flow_on(&mut self, work: &mut Work) -> Result<bool, Error> {
        let mut resistance = {
            let worth = |(f, s): (&f64, &f64)| f.abs() / (s * work.length);
            let fixed = &self.system.assembler.system().fixed;
            let free = work.force.iter().zip(&work.inverse_length).zip(fixed);
            let free = free.filter(|(_, fixed)| !**fixed).map(|(terms, _)| worth(terms));
            let largest = free.fold(0.0f64, f64::max);
            if largest > 0.0 {
                largest / (0.1 * work.length)
            } else {
                1.0
            }
        };
        let mut steps = 0;
        while work.report.iterations < work.most {
            self.fill_tangent(work)?;
            let residual = self.measure_rest(work);
            if residual.is_nan() {
                return Ok(false);
            }
            if residual <= work.tolerance {
                work.flowing = false;
                self.fill_tangent(work)?;
                self.factor_tangent(work)?;
                return Ok(true);
            }
            if steps > 0 && steps % ATTEMPTS == 0 {
                steps += 1;
                let start = work.keep(&self.motion.state);
                work.flowing = false;
                if self.newton(work)? && work.kind.negative == 0 {
                    return Ok(true);
                }
                work.flowing = true;
                self.go_back(work, &start)?;
                continue;
            }
            steps += 1;
            if !self.flow_step(work, &mut resistance)? {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn flow_step(&mut self, work: &mut Work, resistance: &mut f64) -> Result<bool, Error> {
        let start = work.keep(&self.motion.state);
        let (force, deficit, sides) = (work.force.clone(), work.deficit.clone(), work.sides.clone());
        let weights: Vec<f64> = work
            .inverse_length
            .iter()
            .map(|s| (s * work.length).powi(2))
            .collect();
        let before = self.worth(work, &force);
        let auto = crate::contact::auto_options(&self.options.contacts);
        let mut added = 0.0;
        for _ in 0..RISES {
            let more = *resistance - added;
            self.system
                .assembler
                .add_to_diagonal(weights.iter().map(|w| w * more));
            added = *resistance;
            self.factor_tangent(work)?;
            if work.kind.unheld() > 0 {
                *resistance *= CHANGE;
                continue;
            }
            let mut free = 0.0;
            if work.touching.is_empty() {
                let missed = work
                    .solver
                    .solve(self.system.assembler.system(), &force, &deficit, &mut work.step)
                    .map_err(Error::Solve)?;
                if work.kind.redundant > 0 && missed > NO_SOLUTION {
                    return Ok(false);
                }
            } else {
                let solved = work.touching.solve_step(
                    &mut self.system.assembler,
                    (&force, &deficit),
                    (&self.options, auto),
                    &mut work.step,
                )?;
                let Some(found) = solved else {
                    *resistance *= CHANGE;
                    continue;
                };
                free = found;
            }
            let far = work.largest(&work.step.x) / (0.6 * FAR);
            if far > 1.0 {
                *resistance *= far.clamp(2.0, 1e3);
                continue;
            }
            if self.find_rest_contacts(&mut work.touching, &work.step.x, work.by_arc_length)? {
                continue;
            }
            work.touching.accept();
            work.report.iterations += 1;
            work.report.flow_steps += 1;
            let flown = work.step.x.clone();
            if self.take_share(work, 1.0)? && self.close_hard_rows(work, &weights)? {
                // The linear system leaves what the resistance held.
                let left = work.force.iter().zip(&flown).zip(&weights);
                let missed: Vec<f64> = left.map(|((f, x), w)| f - w * *resistance * x).collect();
                let missed = self.worth(work, &missed);
                // Where points of contact are others now, the next step finds their forces.
                if work.sides != sides || work.touching.lost() {
                    return Ok(true);
                }
                if missed <= before || before == 0.0 {
                    if missed <= AS_PREDICTED * before && free <= work.length {
                        *resistance /= CHANGE;
                    }
                    return Ok(true);
                }
            }
            self.go_back(work, &start)?;
            // The same tangent again.
            self.fill_tangent(work)?;
            added = 0.0;
            *resistance *= CHANGE;
            if work.report.iterations >= work.most {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Displaces what a step has left of the hard rows, with as little displacement as that takes: held open to the next step, they would give forces that are none. False if
    /// they do not close.
    fn close_hard_rows(&mut self, work: &mut Work, weights: &[f64]) -> Result<bool, Error> {
        let nothing = vec![0.0; weights.len()];
        for _ in 0..CLOSINGS {
            self.fill_tangent(work)?;
            let system = self.system.assembler.system();
            let rows = work.deficit[..system.m()].iter().enumerate();
            let open: Vec<f64> = rows
                .map(|(row, d)| if system.r_diagonal(row) == 0.0 { *d } else { 0.0 })
                .collect();
            if open.iter().all(|d| d.abs() <= CLOSED * work.length) {
                return Ok(true);
            }
            self.system.assembler.clear_response();
            self.system.assembler.add_to_diagonal(weights.iter().copied());
            self.factor_tangent(work)?;
            let solved = work
                .solver
                .solve(self.system.assembler.system(), &nothing, &open, &mut work.step);
            solved.map_err(Error::Solve)?;
            // Their multipliers are those of the displacement.
            work.step.mu.fill(0.0);
            if work.largest(&work.step.x) > FAR || !self.take_share(work, 1.0)? {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Root of the sum of the squares of free forces, torques over the length of the model.
    fn worth(&self, work: &Work, force: &[f64]) -> f64 {
        let fixed = &self.system.assembler.system().fixed;
        let terms = force.iter().zip(&work.inverse_length).zip(fixed);
        let free = terms.filter(|(_, fixed)| !**fixed);
        let sum: f64 = free.map(|((f, s), _)| (f / (s * work.length)).powi(2)).sum();
        sum.sqrt()
    }
}
