//! Newton's method for rest, damped by the natural monotonicity test.

use super::super::Simulation;
use super::{FAR, NO_SOLUTION, Work, tangent};
use crate::Error;
use pliant_model::ModelError;

/// A correction of so small a share of the model is rounding.
const SMALL: f64 = 1e-11;
/// Whole steps of that kind before the residual is taken for what rounding leaves.
const LAST_STEPS: usize = 3;
/// The least share of a correction that is tried.
const LEAST: f64 = 1e-5;

impl Simulation {
    /// Factors the tangent as filled, and counts it.
    pub(crate) fn factor_tangent(&mut self, work: &mut Work) -> Result<(), Error> {
        work.report.factorisations += 1;
        let kind = work
            .solver
            .prepare(tangent(&self.system.assembler, &work.touching, work.flowing));
        work.kind = kind.map_err(|e| Error::from_solver(e, &self.system.model, self.motion.time))?;
        work.report.negative_modes = Some(work.kind.negative);
        work.report.free_modes = work.kind.zero;
        work.report.redundant_rows = work.kind.redundant;
        Ok(())
    }

    /// Newton's method from the present state, whose residual must be known. False, anywhere, if it does not converge.
    ///
    /// A correction `d` is taken in such a share `s` that the next one with the same factor, `e`, has `|e| <= (1 - s/4) |d|`, and shares are predicted
    /// from how far `e` is from `(1 - s) d` (Deuflhard, Newton Methods for Nonlinear Problems, 2004, algorithm NLEQ-ERR). The test does not
    /// depend on units of forces. Rows of bounded force make kinks: where one changes sides, the step is taken as it is.
    pub(crate) fn newton(&mut self, work: &mut Work) -> Result<bool, Error> {
        let mut last_steps = 0;
        // Length, share and test correction of the step before.
        let mut before: Option<(f64, f64, Vec<f64>)> = None;
        loop {
            // Cones are for the flow.
            if work.touching.rubs() {
                return Ok(false);
            }
            self.fill_tangent(work)?;
            let residual = self.measure_rest(work);
            if residual.is_nan() {
                return Ok(false);
            }
            self.factor_tangent(work)?;
            if residual <= work.tolerance {
                return Ok(true);
            }
            if work.report.iterations >= work.most || last_steps >= LAST_STEPS {
                return Ok(false);
            }
            work.report.iterations += 1;
            let system = tangent(&self.system.assembler, &work.touching, false);
            let missed = work
                .solver
                .solve(system, &work.force, &work.deficit, &mut work.step);
            let missed = missed.map_err(Error::Solve)?;
            let singular = work.kind.zero + work.kind.redundant > 0;
            let length = work.norm(&work.step.x);
            if singular && missed > NO_SOLUTION || !length.is_finite() {
                return Ok(false);
            }
            if length <= SMALL {
                last_steps += 1;
                self.take_share(work, 1.0)?;
                before = None;
                continue;
            }
            let mut share = (FAR / work.largest(&work.step.x)).min(1.0);
            if let Some((old_length, old_share, test)) = &before {
                let differ: Vec<f64> = test.iter().zip(&work.step.x).map(|(a, b)| a - b).collect();
                let predicted = old_share * old_length * work.norm(test) / (work.norm(&differ) * length);
                // Not a number where both are the same.
                share = share.min(if predicted.is_nan() {
                    1.0
                } else {
                    predicted.max(LEAST)
                });
            }
            if self.system.contacts.is_some() {
                let way: Vec<f64> = work.step.x.iter().map(|x| share * x).collect();
                self.find_rest_contacts(&mut work.touching, &way, work.by_arc_length)?;
                share = share.min(work.touching.first_touch(&work.step.x));
                if share < LEAST {
                    return Ok(false);
                }
            }
            let start = work.keep(&self.motion.state);
            loop {
                let reached = self.take_share(work, share)?;
                if reached && !work.has_sides_of(&start) {
                    before = None;
                    break;
                }
                let mut next = 0.5 * share;
                if reached {
                    let system = tangent(&self.system.assembler, &work.touching, false);
                    work.solver
                        .solve(system, &work.force, &work.deficit, &mut work.other)
                        .map_err(Error::Solve)?;
                    let test = work.norm(&work.other.x);
                    let linear = work.other.x.iter().zip(&work.step.x);
                    let differ: Vec<f64> = linear.map(|(e, d)| e - (1.0 - share) * d).collect();
                    if test <= (1.0 - 0.25 * share) * length {
                        before = Some((length, share, work.other.x.clone()));
                        break;
                    }
                    let found = 0.5 * length * share * share / work.norm(&differ);
                    if found < next {
                        next = found.max(0.1 * share);
                    }
                }
                self.go_back(work, &start)?;
                share = next;
                if share < LEAST {
                    return Ok(false);
                }
            }
        }
    }

    /// Goes a share of the correction, and finds the residual there. False where a mapping is not defined.
    pub(crate) fn take_share(&mut self, work: &mut Work, share: f64) -> Result<bool, Error> {
        for (lambda, change) in work.lambda.iter_mut().zip(&work.step.mu) {
            *lambda += share * change;
        }
        if work.flowing {
            work.touching.slide(&work.step.x);
        } else if let Some(change) = work.step.mu.get(work.lambda.len()..) {
            work.touching.add(change, share);
        }
        let mut displacement = std::mem::take(&mut work.displacement);
        let moved = self.displace(&mut displacement, &work.step.x, share);
        work.displacement = displacement;
        match moved.and_then(|()| self.find_rest_residual(work)) {
            Ok(()) => Ok(true),
            Err(Error::Model(ModelError::Degenerate { .. })) => Ok(false),
            Err(e) => Err(e),
        }
    }
}
