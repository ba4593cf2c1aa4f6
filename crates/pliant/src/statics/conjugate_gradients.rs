//! Nonlinear conjugate gradients.

use super::equilibrium::{FAR, displace};
use super::measure::measure;
use super::newton::Tangent;
use super::relaxation::find_fictitious_masses;
use super::residual::{SideRule, fill_tangent, find_residual};
use super::workspace::{Setting, Workspace};
use crate::Error;

/// Iterations between two looks at the residual, with new stiffnesses.
const BETWEEN: usize = 10;
/// A search along a direction ends where the force along it is at most this share of that at its
/// start.
const TURNED: f64 = 0.1;
/// Trials of a search at most; the next direction mends what the last one leaves.
const TRIALS: usize = 8;
/// The longest step over the one before in a search.
const LONGER: f64 = 4.0;

/// The iterates of the method: vectors over the independent velocity coordinates.
struct Directions {
    /// Stiffnesses that precondition.
    stiffness: Vec<f64>,
    force: Vec<f64>,
    direction: Vec<f64>,
}

/// The method of Polak and Ribière, with the direction of the preconditioned force where theirs
/// leads up (Shewchuk 1994), along which the force is searched for its zero by the secant rule:
///
/// ```math
/// d <- D^-1 f + b d,   b = max(0, f+ . D^-1 (f+ - f)/(f . D^-1 f)),   f(x (+) a d) . d = 0
/// ```
///
/// with the diagonal `D` of the fictitious masses of [`relaxation`](super::relaxation), looked at
/// again every ten iterations. True at rest. Cost: some three evaluations for each iteration, and a
/// fill without a factor for each look.
pub(crate) fn descend(at: &mut Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
    find_residual(at, work, SideRule::ByLaw)?;
    let n = work.residual.force.len();
    let mut own = Directions {
        stiffness: vec![0.0; n],
        force: vec![0.0; n],
        direction: vec![0.0; n],
    };
    for iteration in 0..work.progress.most {
        if iteration % BETWEEN == 0 {
            fill_tangent(at, work, Tangent::Whole)?;
            let residual = measure(at, work);
            if residual <= work.progress.tolerance {
                return Ok(true);
            }
            if residual.is_nan() {
                return Ok(false);
            }
            find_fictitious_masses(at.system, &work.metric, &mut own.stiffness);
            // The old direction is one for another metric.
            own.direction.fill(0.0);
            own.force.fill(0.0);
        }
        work.progress.report.iterations += 1;
        own.turn(&at.system.assembler.system().fixed, &work.residual.force);
        if !own.search(at, work)? {
            return Ok(false);
        }
    }
    Ok(false)
}

impl Directions {
    /// Takes the forces of the present positions, and the direction that they give.
    fn turn(&mut self, fixed: &[bool], force: &[f64]) {
        let free = |i: &usize| !fixed[*i] && self.stiffness[*i] > 0.0;
        let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
            let all = (0..force.len()).filter(free);
            all.map(|i| of(i) / self.stiffness[i]).sum()
        };
        let before = sum(&|i| self.force[i] * self.force[i]);
        let change = sum(&|i| force[i] * (force[i] - self.force[i]));
        let share = if before > 0.0 {
            (change / before).max(0.0)
        } else {
            0.0
        };
        let down =
            |share: f64| sum(&|i| force[i] * (force[i] + share * self.stiffness[i] * self.direction[i]));
        let share = if down(share) > 0.0 { share } else { 0.0 };
        for i in 0..force.len() {
            self.direction[i] = match free(&i) {
                true => force[i] / self.stiffness[i] + share * self.direction[i],
                false => 0.0,
            };
        }
        self.force.copy_from_slice(force);
    }

    /// Goes along the direction by a multiple of it, and finds the forces there.
    fn go(&self, at: &mut Setting<'_>, work: &mut Workspace, way: f64) -> Result<(), Error> {
        let displacement = &mut work.linear.displacement;
        displace(
            at.system,
            &mut at.motion.state,
            displacement,
            &self.direction,
            way,
        )?;
        find_residual(at, work, SideRule::ByLaw)
    }

    /// Goes along the direction to where the force along it nearly vanishes. False if there is no
    /// way down that counts.
    fn search(&self, at: &mut Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
        let along = |force: &[f64]| force.iter().zip(&self.direction).map(|(f, d)| f * d).sum::<f64>();
        let first = along(&self.force);
        let size = self.direction.iter().zip(&work.metric.inverse_length);
        let size = size.map(|(d, l)| (d * l).abs()).fold(0.0f64, f64::max);
        if !(first > 0.0 && first.is_finite() && size > 0.0) {
            // Nothing pulls, or nothing is known of the stiffness; the residual tells at the next look.
            return Ok(first == 0.0);
        }
        let longest = FAR / size;
        // The present place along it, with the force along it there.
        let mut here = (0.0, first);
        let mut next = 1.0f64.min(longest);
        for _ in 0..TRIALS {
            let found = self.go(at, work, next - here.0);
            let force = along(&work.residual.force);
            // An element that turns over has no force: half of the way.
            if found.is_err() || !force.is_finite() {
                self.go(at, work, here.0 - next)?;
                next = 0.5 * (here.0 + next);
                continue;
            }
            let before = std::mem::replace(&mut here, (next, force));
            if force.abs() <= TURNED * first {
                break;
            }
            let slope = (before.1 - force) / (next - before.0);
            let secant = next + force / slope;
            let far = (LONGER * next).min(longest);
            next = match slope > 0.0 && secant > 0.0 {
                true => secant.min(far),
                false => far,
            };
            if next == here.0 {
                break;
            }
        }
        Ok(here.0 > 0.0)
    }
}
