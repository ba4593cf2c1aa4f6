//! Nonlinear conjugate gradients.

use super::equilibrium::{FAR, displace};
use super::measure::measure;
use super::relaxation::{fill_stiffness, find_fictitious_masses};
use super::residual::{SideRule, find_residual};
use super::workspace::{Setting, Workspace};
use crate::Error;

/// Iterations between two looks at the residual, with new stiffnesses.
const BETWEEN: usize = 10;
/// A search along a direction ends where the force along it is at most this share of that at its
/// start.
const TURNED: f64 = 0.1;
/// Trials of a search at most.
const TRIALS: usize = 20;
/// The longest step over the one before in a search.
const LONGER: f64 = 4.0;
/// How near to an end of a bracket a trial may be, as a share of it.
const INSIDE: f64 = 0.1;

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
    // Searches that led nowhere since the last that did.
    let mut stuck = 0;
    for iteration in 0..work.progress.most {
        if iteration % BETWEEN == 0 || stuck > 0 {
            fill_stiffness(at, work)?;
            let residual = measure(at, work);
            if residual <= work.progress.tolerance {
                return Ok(true);
            }
            if residual.is_nan() || stuck > 1 {
                return Ok(false);
            }
            find_fictitious_masses(at.system, &work.metric, &mut own.stiffness);
            // The old direction is one for another metric.
            own.direction.fill(0.0);
            own.force.fill(0.0);
        }
        work.progress.report.iterations += 1;
        own.turn(&at.system.assembler.system().fixed, &work.residual.force);
        stuck = if own.search(at, work)? { 0 } else { stuck + 1 };
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

    /// Goes along the direction to where the force along it nearly vanishes, or at least not beyond.
    /// False if nothing moved.
    fn search(&self, at: &mut Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
        let along = |force: &[f64]| force.iter().zip(&self.direction).map(|(f, d)| f * d).sum::<f64>();
        let first = along(&self.force);
        let size = self.direction.iter().zip(&work.metric.inverse_length);
        let size = size.map(|(d, l)| (d * l).abs()).fold(0.0f64, f64::max);
        if !(first > 0.0 && first.is_finite() && size > 0.0) {
            // Nothing pulls, or nothing is known of the stiffness: the residual tells.
            return Ok(false);
        }
        let longest = FAR / size;
        // Places along it with the forces along it there: the last one that is still before the zero,
        // and the first one beyond it.
        let (mut low, mut high) = ((0.0, first), None);
        let mut here = 0.0;
        let mut next = 1.0f64.min(longest);
        for _ in 0..TRIALS {
            let found = self.go(at, work, next - here);
            let force = along(&work.residual.force);
            // An element that turns over has no force: half of the way.
            if found.is_err() || !force.is_finite() {
                self.go(at, work, here - next)?;
                next = 0.5 * (low.0 + next);
                continue;
            }
            here = next;
            if force.abs() <= TURNED * first {
                return Ok(true);
            }
            let before = low;
            match force > 0.0 {
                true => low = (here, force),
                false => high = Some((here, force)),
            }
            next = match high {
                Some((far, pull)) => {
                    let width = far - low.0;
                    let secant = low.0 + width * low.1 / (low.1 - pull);
                    secant.clamp(low.0 + INSIDE * width, far - INSIDE * width)
                }
                None => {
                    let slope = (before.1 - force) / (here - before.0);
                    let farthest = (LONGER * here).min(longest);
                    match slope > 0.0 {
                        true => (here + force / slope).min(farthest),
                        false => farthest,
                    }
                }
            };
            if next == here {
                break;
            }
        }
        // The energy falls up to the last place before the zero.
        if here != low.0 {
            self.go(at, work, low.0 - here)?;
        }
        Ok(low.0 > 0.0)
    }
}
