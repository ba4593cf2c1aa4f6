//! Springs to zero: one compliance for all coordinates, or one for each.

use crate::validate::{check_not_negative, check_one_or_each, check_real, check_size};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, RowLaw, Space};
use std::ops::Range;

/// One compliance for every coordinate of a node, from a soft spring (large) to a hard constraint
/// (zero).
///
/// **Equation.** `f = -(x + d v)/c` for every coordinate `x` with velocity `v`; energy `x^2/(2 c)`.
/// `c` is the compliance (m/N, or rad/(N m)), `d` the relaxation time (s), of a damping ratio `zeta`
/// `d = 2 zeta sqrt(m c)` with the mass `m` that the coordinate moves
/// ([`Model::damping_ratios`](crate::Model::damping_ratios)).
///
/// **Use.** On a [`Difference`](crate::Difference) it is a spring of length zero, on a
/// [`Distance`](crate::Distance) a spring or a rod, on a
/// [`RelativeRotation`](crate::RelativeRotation) an angular spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformCompliance {
    compliance: f64,
    relaxation_time: f64,
    damping_ratio: f64,
}

impl UniformCompliance {
    /// Compliance `c` (m/N, or rad/(N m)), zero or more.
    pub fn new(compliance: f64) -> Self {
        Self {
            compliance,
            relaxation_time: 0.0,
            damping_ratio: 0.0,
        }
    }

    /// The spring of stiffness `k` (N/m, or N m/rad), positive.
    pub fn from_stiffness(stiffness: f64) -> Self {
        Self::new(stiffness.recip())
    }

    /// Adds the damping `b = d/c` through the relaxation time `d` (s).
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Damps it by a ratio `zeta` (none) of critical damping instead, which becomes a relaxation
    /// time when a simulation begins: 1 returns without overshoot, as fast as it can.
    #[must_use]
    pub fn with_damping_ratio(mut self, zeta: f64) -> Self {
        self.damping_ratio = zeta;
        self
    }
}

/// One compliance for each coordinate.
///
/// **Equation.** `f_i = -(x_i + d v_i)/c_i`; energy `sum x_i^2/(2 c_i)`. `c_i` is the compliance of
/// coordinate `i` (m/N, or rad/(N m)), `d` the relaxation time (s), of a damping ratio `zeta` one for
/// each coordinate, as that of [`UniformCompliance`].
///
/// **Use.** Springs that differ by direction: a bushing, an elastic foundation, a joint that is
/// hard along some axes.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagonalCompliance {
    compliances: Vec<f64>,
    relaxation_times: Vec<f64>,
    damping_ratio: f64,
}

impl DiagonalCompliance {
    /// Compliances (m/N, or rad/(N m)), zero or more: one per coordinate of the node, or per
    /// coordinate of one element for all elements.
    pub fn new(compliances: &[f64]) -> Self {
        Self {
            compliances: compliances.to_vec(),
            relaxation_times: vec![0.0],
            damping_ratio: 0.0,
        }
    }

    /// The springs of these stiffnesses (N/m, or N m/rad), positive; as many as for
    /// [`new`](Self::new).
    pub fn from_stiffnesses(stiffnesses: &[f64]) -> Self {
        Self {
            compliances: stiffnesses.iter().map(|k| k.recip()).collect(),
            relaxation_times: vec![0.0],
            damping_ratio: 0.0,
        }
    }

    /// Adds the damping `b_i = d/c_i` through the relaxation time `d` (s).
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_times = vec![d];
        self
    }

    /// Sets a relaxation time (s) for each compliance.
    #[must_use]
    pub fn with_relaxation_times(mut self, d: &[f64]) -> Self {
        self.relaxation_times = d.to_vec();
        self
    }

    /// Damps it by a ratio `zeta` (none) of critical damping instead, as
    /// [`UniformCompliance::with_damping_ratio`] does.
    #[must_use]
    pub fn with_damping_ratio(mut self, zeta: f64) -> Self {
        self.damping_ratio = zeta;
        self
    }

    fn relaxation(&self, i: usize) -> f64 {
        // The compliances of one element serve all; so do their times.
        self.relaxation_times[i % self.relaxation_times.len()]
    }

    fn at(&self, i: usize) -> f64 {
        self.compliances[i % self.compliances.len()]
    }
}

/// The shared part of uniform and diagonal laws; `c(i)` is the compliance of coordinate `i`.
mod diagonal {
    use super::{Blocks, NotInvertible};

    pub(super) fn energy(c: impl Fn(usize) -> f64, x: &[f64]) -> f64 {
        x.iter()
            .enumerate()
            .map(|(i, x)| if c(i) > 0.0 { 0.5 * x * x / c(i) } else { 0.0 })
            .sum()
    }

    pub(super) fn add_force(
        c: impl Fn(usize) -> f64,
        d: impl Fn(usize) -> f64,
        x: &[f64],
        v: &[f64],
        f: &mut [f64],
    ) {
        for (i, f) in f.iter_mut().enumerate() {
            *f -= (x[i] + d(i) * v[i]) / c(i);
        }
    }

    pub(super) fn inverse_blocks(
        c: impl Fn(usize) -> f64,
        s: f64,
        out: &mut Blocks,
    ) -> Result<(), NotInvertible> {
        let mut hard = None;
        for e in 0..out.len() {
            let size = out.width(e);
            for i in 0..size {
                let c = c(e * size + i);
                if c == 0.0 {
                    hard = hard.or(Some(e));
                } else {
                    out.block_mut(e)[i * size + i] = s / c;
                }
            }
        }
        hard.map_or(Ok(()), |element| Err(NotInvertible { element }))
    }
}

impl ForceField for UniformCompliance {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_real(name, space)?;
        check_not_negative(name, Field::Compliance, self.compliance)?;
        check_not_negative(name, Field::RelaxationTime, self.relaxation_time)?;
        check_not_negative(name, Field::DampingRatio, self.damping_ratio)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        diagonal::energy(|_| self.compliance, x)
    }

    fn add_force(&self, At { x, v, .. }: At<'_>, f: &mut [f64]) {
        diagonal::add_force(|_| self.compliance, |_| self.relaxation_time, x, v, f);
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        diagonal::inverse_blocks(|_| self.compliance, 1.0, out)
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        if self.compliance > 0.0 && self.relaxation_time > 0.0 {
            out.set_diagonal(|_| self.relaxation_time / self.compliance);
        }
    }

    fn row_law(&self) -> RowLaw {
        RowLaw::Elastic
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|_| self.compliance);
    }

    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        self.relaxation_time
    }

    fn damping_ratio(&self) -> f64 {
        self.damping_ratio
    }

    fn with_times(&self, times: &[f64]) -> Option<Box<dyn ForceField>> {
        let same = times.windows(2).all(|pair| pair[0] == pair[1]);
        Some(match times {
            [first, ..] if same => Box::new(Self::new(self.compliance).with_relaxation_time(*first)),
            _ => {
                let each = DiagonalCompliance::new(&vec![self.compliance; times.len()]);
                Box::new(each.with_relaxation_times(times))
            }
        })
    }

    fn restrict(&self, _space: Space, _elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(*self))
    }

    fn is_linear(&self) -> bool {
        true
    }
}

impl ForceField for DiagonalCompliance {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_real(name, space)?;
        let (one, all) = (space.velocity_size(), space.velocity_size() * count);
        let size = self.compliances.len();
        let expected = if size == one { one } else { all };
        check_size(name, Field::Compliances, "compliances", expected, size)?;
        for (i, c) in self.compliances.iter().enumerate() {
            check_not_negative(name, Field::Compliances, *c).map_err(|e| e.at(i, size))?;
        }
        let times = self.relaxation_times.len();
        check_one_or_each(name, Field::RelaxationTimes, "relaxation times", size, times)?;
        check_not_negative(name, Field::DampingRatio, self.damping_ratio)?;
        let mut all = self.relaxation_times.iter().enumerate();
        all.try_for_each(|(i, d)| {
            check_not_negative(name, Field::RelaxationTime, *d).map_err(|e| e.at(i, times))
        })
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        diagonal::energy(|i| self.at(i), x)
    }

    fn add_force(&self, At { x, v, .. }: At<'_>, f: &mut [f64]) {
        diagonal::add_force(|i| self.at(i), |i| self.relaxation(i), x, v, f);
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        diagonal::inverse_blocks(|i| self.at(i), 1.0, out)
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        if self.relaxation_times.iter().any(|d| *d > 0.0) {
            out.set_diagonal(|i| {
                if self.at(i) > 0.0 {
                    self.relaxation(i) / self.at(i)
                } else {
                    0.0
                }
            });
        }
    }

    fn row_law(&self) -> RowLaw {
        RowLaw::Elastic
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|i| self.at(i));
    }

    fn relaxation_time(&self, coordinate: usize) -> f64 {
        self.relaxation(coordinate)
    }

    fn damping_ratio(&self) -> f64 {
        self.damping_ratio
    }

    fn with_times(&self, times: &[f64]) -> Option<Box<dyn ForceField>> {
        let each: Vec<f64> = (0..times.len()).map(|i| self.at(i)).collect();
        Some(Box::new(Self::new(&each).with_relaxation_times(times)))
    }

    fn restrict(&self, space: Space, elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        let size = space.velocity_size();
        let own = |list: &[f64]| match list.len() <= size {
            true => list.to_vec(),
            false => list[elements.start * size..elements.end * size].to_vec(),
        };
        Some(Box::new(Self {
            compliances: own(&self.compliances),
            relaxation_times: own(&self.relaxation_times),
            damping_ratio: self.damping_ratio,
        }))
    }

    fn is_linear(&self) -> bool {
        true
    }
}
