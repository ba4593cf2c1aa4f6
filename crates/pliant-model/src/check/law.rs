//! A force field against finite differences of its energy and its force.

use super::relative;
use crate::validate::check_size;
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, RowLaw, Space};
use pliant_dense::eigen::map_eigenvalues;

/// Largest differences found for a force field, each relative to `1 +` the size of what it is
/// compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceFieldCheck {
    /// Force at rest against differences of the energy.
    pub force: f64,
    /// `K` over all groups against the symmetric part of differences of the force at rest.
    pub stiffness: f64,
    /// `B` over all groups against the symmetric part of differences of the force by velocity.
    pub damping: f64,
    /// `K`, `B` and `C` against their transposes.
    pub symmetry: f64,
    /// The most negative eigenvalue of a block of `B` or `C`, over the largest entry of the block.
    pub definite: f64,
    /// The compliance view: `C K - I` and `C f + deformation` for the force at rest, `B` against
    /// `d K + D`; `C B - I` for a viscous law. Zero if there is none.
    pub compliance: f64,
    /// Change of `K` and `C` over the position, if the law says that they do not change.
    pub linear: f64,
    /// No potential: there is force at rest, but the energy is zero everywhere around. `force`
    /// counts it nevertheless.
    pub no_potential: bool,
    /// Explicit: `K` is zero, but the force changes. `stiffness` counts it nevertheless.
    pub explicit: bool,
    /// Part of the symmetric derivative of the force by position that `K` leaves out because it
    /// comes with the velocity: damping that depends on the position. No fault, and not among the
    /// worst.
    pub moving: f64,
}

impl ForceFieldCheck {
    /// The largest difference, with that of a law which has no potential or is explicit.
    pub fn worst(&self) -> f64 {
        self.worst_of_explicit().max(self.force).max(self.stiffness)
    }

    /// The largest for a law that is meant to be so: without `force` if it has no potential,
    /// without `stiffness` if it is explicit.
    pub fn worst_of_explicit(&self) -> f64 {
        [
            if self.no_potential { 0.0 } else { self.force },
            if self.explicit { 0.0 } else { self.stiffness },
            self.damping,
            self.symmetry,
            self.definite,
            self.compliance,
            self.linear,
        ]
        .into_iter()
        .fold(0.0, f64::max)
    }
}

/// Checks a force field on a node of any space at positions `x` and velocities `v`. Every
/// derivative is compared with differences over several steps, and the nearest counts.
///
/// # Errors
/// Errors of the force field about the node or of its stiffness.
pub fn force_field(
    law: &dyn ForceField,
    space: Space,
    x: &[f64],
    v: &[f64],
) -> Result<ForceFieldCheck, ModelError> {
    let name = "checked force field";
    let count = x.len() / space.position_size();
    let [expected, rates] = [space.position_size(), space.velocity_size()].map(|size| count * size);
    check_size(name, Field::Positions, "position numbers", expected, x.len())?;
    check_size(name, Field::Velocities, "velocity numbers", rates, v.len())?;
    law.check(name, space, count)?;
    law.check_inputs(name, law.inputs())?;
    law.groups().check(name, count)?;
    let probe = Probe { law, space, x, count };
    let lost = |e: NotInvertible| ModelError::NotInvertible {
        name: name.into(),
        element: e.element,
    };
    let mut out = ForceFieldCheck::default();
    let stiffness = probe.stiffness(x).map_err(lost)?;
    let mut damping = probe.blocks();
    // One that says it is not damped is not asked.
    if law.is_damped() {
        law.damping(probe.at(x, v), &mut damping);
    }
    probe.derivatives(v, &stiffness, &damping, &mut out);
    for (blocks, signed) in [(&stiffness, false), (&damping, true)] {
        shape(blocks, signed, &mut out);
    }
    probe.rows(v, &stiffness, &damping, &mut out);
    if law.is_linear() {
        let step: Vec<f64> = super::numbers(7, v.len()).iter().map(|s| 0.1 * s).collect();
        let mut elsewhere = x.to_vec();
        space.retract(&mut elsewhere, &step);
        let other = probe.stiffness(&elsewhere).map_err(lost)?;
        out.linear = difference(&stiffness, &other);
        if law.row_law() != RowLaw::None {
            out.linear = out
                .linear
                .max(difference(&probe.compliance(x), &probe.compliance(&elsewhere)));
        }
    }
    Ok(out)
}

/// A law at a place.
struct Probe<'a> {
    law: &'a dyn ForceField,
    space: Space,
    x: &'a [f64],
    count: usize,
}

impl Probe<'_> {
    fn at<'a>(&'a self, x: &'a [f64], v: &'a [f64]) -> At<'a> {
        At::new(self.space, x).moving(v).with_inputs(self.law.inputs())
    }

    fn energy(&self, x: &[f64]) -> f64 {
        self.law.energy(self.at(x, &[]))
    }

    fn blocks(&self) -> Blocks {
        crate::mass::group_shapes(&self.law.groups(), self.space, self.count)
    }

    fn stiffness(&self, x: &[f64]) -> Result<Blocks, NotInvertible> {
        let mut out = self.blocks();
        self.law.stiffness(self.at(x, &[]), &mut out)?;
        Ok(out)
    }

    fn compliance(&self, x: &[f64]) -> Blocks {
        let mut out = self.blocks();
        self.law.compliance(self.at(x, &[]), &mut out);
        out
    }

    fn force(&self, x: &[f64], v: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; v.len()];
        self.law.add_force(self.at(x, v), &mut f);
        f
    }

    fn moved(&self, k: usize, t: f64) -> Vec<f64> {
        let mut step = vec![0.0; self.count * self.space.velocity_size()];
        step[k] = t;
        let mut x = self.x.to_vec();
        self.space.retract(&mut x, &step);
        x
    }

    /// All blocks in one matrix.
    fn matrix(&self, blocks: &Blocks) -> Vec<f64> {
        let size = self.space.velocity_size();
        let n = self.count * size;
        let mut out = vec![0.0; n * n];
        for (g, list) in self.law.groups().lists(self.count).iter().enumerate() {
            let at = |k: usize| list[k / size] * size + k % size;
            let width = list.len() * size;
            for (k, a) in blocks.block(g).iter().enumerate() {
                out[at(k / width) * n + at(k % width)] += a;
            }
        }
        out
    }

    fn derivatives(&self, v: &[f64], stiffness: &Blocks, damping: &Blocks, out: &mut ForceFieldCheck) {
        let n = v.len();
        let rest = vec![0.0; n];
        let force = self.force(self.x, &rest);
        let size = self.space.velocity_size();
        let scale = |k: usize| match self.space {
            Space::Rigid3 if k % size >= 3 => 1.0,
            Space::Rigid3 => self.x[k / size * 7 + k % size].abs(),
            Space::Real(_) => self.x[k].abs(),
        };
        let steps = |scale: f64| [1e-4 * scale.max(1.0), 3e-6 * scale.max(1.0), 1e-3 * scale];
        let (mut nearest, mut slopes) = (vec![f64::INFINITY; n], 0.0f64);
        for k in 0..n {
            for h in steps(scale(k)).into_iter().filter(|h| *h > 0.0) {
                let slope = fourth_order(h, |t| vec![self.energy(&self.moved(k, t))])[0];
                slopes = slopes.max(slope.abs());
                nearest[k] = nearest[k].min(relative(force[k], -slope));
            }
        }
        out.force = nearest.iter().fold(0.0, |a: f64, b| a.max(*b));
        out.no_potential = slopes == 0.0 && self.energy(self.x) == 0.0 && force.iter().any(|f| *f != 0.0);

        let by_position = |v: &[f64], step: usize| -> Vec<Vec<f64>> {
            let one = |k: usize| fourth_order(steps(scale(k))[step], |t| self.force(&self.moved(k, t), v));
            (0..n).map(one).collect()
        };
        let by_velocity = |step: usize| -> Vec<Vec<f64>> {
            let shifted = |k: usize, t: f64| {
                let mut v = v.to_vec();
                v[k] += t;
                v
            };
            let one = |k: usize| {
                let h = steps(v[k].abs())[step];
                fourth_order(h, |t| self.force(self.x, &shifted(k, t)))
            };
            (0..n).map(one).collect()
        };
        let raw: Vec<_> = (0..3).map(|s| by_position(&rest, s)).collect();
        let still: Vec<_> = raw.iter().map(|d| symmetric_minus(d)).collect();
        let moving: Vec<_> = (0..3).map(|s| symmetric_minus(&by_position(v, s))).collect();
        let rates: Vec<_> = (0..3).map(|s| symmetric_minus(&by_velocity(s))).collect();
        let (k, b) = (self.matrix(stiffness), self.matrix(damping));
        out.stiffness = worst_of_nearest(&k, &still);
        out.damping = worst_of_nearest(&b, &rates);
        out.moving = worst_of_nearest(&k, &moving);
        // What every step sees: one alone may see rounding, or a kink.
        let seen = |i: usize, j: usize| raw.iter().map(|d| d[j][i].abs()).fold(f64::INFINITY, f64::min);
        let changes = (0..n * n).any(|k| seen(k / n, k % n) > 1e-6);
        out.explicit = k.iter().all(|k| *k == 0.0) && changes;
    }

    fn rows(&self, v: &[f64], stiffness: &Blocks, damping: &Blocks, out: &mut ForceFieldCheck) {
        let law = self.law.row_law();
        if law == RowLaw::None || self.space == Space::Rigid3 {
            return;
        }
        let compliance = self.compliance(self.x);
        shape(&compliance, true, out);
        let lists = self.law.groups().lists(self.count);
        let inverse = if law == RowLaw::Viscous {
            damping
        } else {
            stiffness
        };
        for g in 0..lists.len() {
            out.compliance = out.compliance.max(not_identity(
                compliance.width(g),
                compliance.block(g),
                inverse.block(g),
            ));
        }
        if law == RowLaw::Viscous {
            return;
        }
        let n = v.len();
        let matrix = self.matrix(&compliance);
        let force = self.force(self.x, &vec![0.0; n]);
        let mut deformation = vec![0.0; n];
        self.law.deformation(self.at(self.x, &[]), &mut deformation);
        for i in 0..n {
            let product: f64 = (0..n).map(|j| matrix[i * n + j] * force[j]).sum();
            out.compliance = out.compliance.max(relative(product, -deformation[i]));
        }
        let mut view = self.blocks();
        self.law.row_damping(self.at(self.x, v), &mut view);
        let size = self.space.velocity_size();
        for (g, list) in lists.iter().enumerate() {
            let width = view.width(g);
            for (k, (target, stiffness)) in view.block_mut(g).iter_mut().zip(stiffness.block(g)).enumerate() {
                let coordinate = list[k / width / size] * size + k / width % size;
                *target += self.law.relaxation_time(coordinate) * stiffness;
            }
        }
        out.compliance = out.compliance.max(difference(&view, damping));
    }
}

/// Difference quotient of five points.
fn fourth_order(h: f64, f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let (a, b, c, d) = (f(h), f(-h), f(2.0 * h), f(-2.0 * h));
    (0..a.len())
        .map(|i| (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h))
        .collect()
}

/// Minus the symmetric part of the matrix with these columns.
fn symmetric_minus(columns: &[Vec<f64>]) -> Vec<f64> {
    let n = columns.len();
    (0..n * n)
        .map(|k| -0.5 * (columns[k / n][k % n] + columns[k % n][k / n]))
        .collect()
}

/// The largest difference, where each entry is compared with the nearest of several answers.
fn worst_of_nearest(a: &[f64], answers: &[Vec<f64>]) -> f64 {
    let nearest = |k: usize| {
        answers
            .iter()
            .map(|b| relative(a[k], b[k]))
            .fold(f64::INFINITY, f64::min)
    };
    (0..a.len()).map(nearest).fold(0.0, f64::max)
}

fn difference(a: &Blocks, b: &Blocks) -> f64 {
    (0..a.len())
        .map(|g| super::largest_difference(a.block(g), b.block(g)))
        .fold(0.0, f64::max)
}

/// Symmetry of all blocks and, if asked, that no eigenvalue is negative.
fn shape(blocks: &Blocks, definite: bool, out: &mut ForceFieldCheck) {
    for g in 0..blocks.len() {
        let (n, block) = (blocks.width(g), blocks.block(g));
        for k in 0..n * n {
            out.symmetry = out.symmetry.max(relative(block[k], block[k % n * n + k / n]));
        }
        if definite {
            out.definite = out.definite.max(negative_part(n, block));
        }
    }
}

/// The largest entry of the negative part of a symmetric matrix, over that of the matrix.
pub(super) fn negative_part(n: usize, matrix: &[f64]) -> f64 {
    let size = matrix.iter().fold(0.0f64, |a, m| a.max(m.abs()));
    if size == 0.0 {
        return 0.0;
    }
    if !matrix.iter().all(|m| m.is_finite()) {
        return f64::INFINITY;
    }
    let mut negative = matrix.to_vec();
    map_eigenvalues(n, &mut negative, &mut vec![0.0; 2 * n * n], |d| d.min(0.0));
    negative.iter().fold(0.0f64, |a, m| a.max(m.abs())) / size
}

/// The largest entry of `A B - I`.
fn not_identity(n: usize, a: &[f64], b: &[f64]) -> f64 {
    let entry = |k: usize| {
        let (i, j) = (k / n, k % n);
        let terms = || (0..n).map(|l| a[i * n + l] * b[l * n + j]);
        let size = terms().map(f64::abs).fold(1.0, f64::max);
        (terms().sum::<f64>() - f64::from(u8::from(i == j))).abs() / size
    };
    let worst = (0..n * n).map(entry).fold(0.0, f64::max);
    if a.iter().chain(b).all(|x| x.is_finite()) {
        worst
    } else {
        f64::INFINITY
    }
}
