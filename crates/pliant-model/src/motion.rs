//! Prescribed motion: coordinates as functions of time.

use crate::dual::{Dual, DualNum};
use crate::validate::{check_all_finite, check_one_or_each};
use crate::{Field, ModelError};
use std::fmt;
use std::sync::Arc;

/// Share of the values around it, below which a jump is rounding.
const SMOOTH: f64 = 1e-12;

/// The change of a course between two times, of which the values and rates are given, less that of
/// the mean rate.
fn unexplained((t0, (x0, v0)): (f64, (f64, f64)), (t1, (x1, v1)): (f64, (f64, f64))) -> f64 {
    x1 - x0 - 0.5 * (t1 - t0) * (v0 + v1)
}

type Function = Arc<dyn Fn(Dual) -> Dual + Send + Sync>;

/// Functions of time (s), one for each coordinate of a node or one for all. What is driven by one
/// is held at it instead of at zero.
///
/// **Equation.** `phi(x) = g(t)`, with the rate `dg/dt` from dual numbers, for hard constraints;
/// `phi - g` instead of `phi` for compliances.
///
/// **Use.** Motors and prescribed paths, rest lengths that change, joints held off their zero.
#[derive(Clone)]
pub struct PrescribedMotion {
    functions: Arc<[Function]>,
    /// Constants know so, and cost nothing.
    constants: Option<Arc<[f64]>>,
}

impl fmt::Debug for PrescribedMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.constants {
            Some(values) => write!(f, "PrescribedMotion::constant({values:?})"),
            None => write!(f, "Motion of {} functions", self.functions.len()),
        }
    }
}

/// Functions are equal if they are the same ones.
impl PartialEq for PrescribedMotion {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.functions.iter().zip(other.functions.iter());
        self.constants == other.constants
            && self.functions.len() == other.functions.len()
            && pairs.all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl PrescribedMotion {
    /// Constant values: an offset of each coordinate (m, rad).
    pub fn constant(values: &[f64]) -> Self {
        Self {
            functions: Arc::default(),
            constants: Some(values.into()),
        }
    }

    /// Whether it stands still.
    pub fn is_constant(&self) -> bool {
        self.constants.is_some()
    }

    /// From `start` (m, rad) at a constant `rate` (m/s, rad/s), all coordinates alike.
    pub fn ramp(start: f64, rate: f64) -> Self {
        Self::function(move |t| t * rate + start)
    }

    /// `amplitude sin(frequency t + phase)`: amplitude (m, rad), frequency (rad/s), phase (rad).
    pub fn sine(amplitude: f64, frequency: f64, phase: f64) -> Self {
        Self::function(move |t| (t * frequency + phase).sin() * amplitude)
    }

    /// Any function, all coordinates alike; its rate follows from the dual number.
    pub fn function(f: impl Fn(Dual) -> Dual + Send + Sync + 'static) -> Self {
        Self {
            functions: Arc::new([Arc::new(f)]),
            constants: None,
        }
    }

    /// Piecewise linear through pairs of a time (s) and a value (m, rad), held beyond both ends;
    /// all coordinates alike. At a time of the table the rate is that of what follows.
    ///
    /// # Errors
    /// [`ModelError::PrescribedMotion`] if there are no points, a number is not finite or times do
    /// not increase.
    pub fn table(points: &[(f64, f64)]) -> Result<Self, ModelError> {
        let reason = if points.is_empty() {
            Some("its table is empty")
        } else if points.iter().any(|(t, x)| !t.is_finite() || !x.is_finite()) {
            Some("its table holds a number that is not finite")
        } else if points.windows(2).any(|w| w[0].0 >= w[1].0) {
            Some("the times of its table do not increase")
        } else {
            None
        };
        if let Some(reason) = reason {
            return Err(ModelError::PrescribedMotion { reason });
        }
        let points = points.to_vec();
        Ok(Self::function(move |t| {
            let k = points.partition_point(|p| p.0 <= t.re);
            if k == 0 || k == points.len() {
                return Dual::from(points[k.saturating_sub(1)].1);
            }
            let ((t0, x0), (t1, x1)) = (points[k - 1], points[k]);
            (t - t0) * ((x1 - x0) / (t1 - t0)) + x0
        }))
    }

    /// One motion for each coordinate of a node; each of them of one function or constant.
    pub fn each(motions: &[Self]) -> Self {
        if let Some(constants) = motions
            .iter()
            .map(|m| m.constants.as_ref()?.first().copied())
            .collect()
        {
            return Self {
                functions: Arc::default(),
                constants: Some(constants),
            };
        }
        let functions = motions.iter().map(|m| {
            let m = m.clone();
            let f: Function = Arc::new(move |t| m.evaluate(0, t));
            f
        });
        Self {
            functions: functions.collect(),
            constants: None,
        }
    }

    /// How many coordinates it has: one serves any number.
    pub fn len(&self) -> usize {
        self.constants.as_ref().map_or(self.functions.len(), |c| c.len())
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value and rate of coordinate `k` at time `t`.
    pub fn at(&self, k: usize, t: f64) -> (f64, f64) {
        let x = self.evaluate(k, Dual::new(t, 1.0, 0.0, 0.0));
        (x.re, x.eps1)
    }

    /// The jump of coordinate `k` between two times (s): what is left of its change where that is
    /// more than its rate explains, however short the time around it; zero of a course without one.
    /// Of several jumps one is found. Cost: a few values of a smooth course, some fifty of one that
    /// jumps or has a kink.
    pub fn jump(&self, k: usize, from: f64, to: f64) -> f64 {
        if self.is_constant() {
            return 0.0;
        }
        let (mut start, mut end) = ((from, self.at(k, from)), (to, self.at(k, to)));
        let size = |(x, v): (f64, f64)| x.abs() + (to - from).abs() * v.abs();
        let rounding = SMOOTH * (size(start.1) + size(end.1));
        loop {
            let left = unexplained(start, end).abs();
            if left <= rounding || left.is_nan() {
                return 0.0;
            }
            let ((t0, (x0, _)), (t1, (x1, _))) = (start, end);
            let middle = 0.5 * (t0 + t1);
            if middle == t0 || middle == t1 {
                return x1 - x0;
            }
            let middle = (middle, self.at(k, middle));
            match unexplained(start, middle).abs() > unexplained(middle, end).abs() {
                true => end = middle,
                false => start = middle,
            }
        }
    }

    fn evaluate(&self, k: usize, t: Dual) -> Dual {
        let last = self.len() - 1;
        match &self.constants {
            Some(values) => Dual::from(values[k.min(last)]),
            None => self.functions[k.min(last)](t),
        }
    }

    /// Checks the number of coordinates, and the constants.
    pub(crate) fn check(&self, name: &str, coordinates: usize) -> Result<(), ModelError> {
        check_one_or_each(name, Field::Targets, "motions", coordinates, self.len())?;
        check_all_finite(name, Field::Targets, self.constants.iter().flat_map(|c| c.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jumps are found to the bit wherever they are; courses with kinks have none.
    #[test]
    fn jumps_are_told_from_smooth_courses() {
        for at in [0.1, 0.100_000_001, 0.137, 0.2] {
            let step = move |t: Dual| if t.re < at { t * 0.0 + 0.5 } else { t * 0.0 - 1.0 };
            let step = PrescribedMotion::function(step);
            let found = step.jump(0, 0.1, 0.2);
            // At its start it is over.
            let expected = if at == 0.1 { 0.0 } else { -1.5 };
            assert!(found == expected, "{at}: {found}");
            let on_top = move |t: Dual| (t * 9.0).sin() + if t.re < at { 0.0 } else { 2.0 };
            let found = PrescribedMotion::function(on_top).jump(0, 0.1, 0.2);
            let expected = if at == 0.1 { 0.0 } else { 2.0 };
            assert!((found - expected).abs() < 1e-14, "{at}: {found}");
        }
        let table = PrescribedMotion::table(&[(0.0, 0.0), (0.13, 1.0), (0.3, -2.0)]).unwrap();
        let sine = PrescribedMotion::sine(1.0, 50.0, 0.3);
        let none = [table, sine, PrescribedMotion::constant(&[3.0])];
        assert_eq!(none.map(|motion| motion.jump(0, 0.1, 0.2)), [0.0; 3]);
    }

    #[test]
    fn values_and_rates() {
        assert_eq!(PrescribedMotion::ramp(1.0, 2.0).at(3, 0.5), (2.0, 2.0));
        let (x, v) = PrescribedMotion::sine(2.0, 3.0, 0.1).at(0, 0.7);
        assert!((x - 2.0 * 2.2f64.sin()).abs() < 1e-15 && (v - 6.0 * 2.2f64.cos()).abs() < 1e-14);
        let table = PrescribedMotion::table(&[(0.0, 1.0), (2.0, 5.0)]).unwrap();
        assert_eq!(
            (table.at(0, -1.0), table.at(0, 1.0), table.at(0, 9.0)),
            ((1.0, 0.0), (3.0, 2.0), (5.0, 0.0))
        );
        // At a knot the rate of what follows.
        let table = PrescribedMotion::table(&[(0.0, 1.0), (2.0, 5.0), (3.0, 4.0)]).unwrap();
        let found = [0.0, 2.0, 2.5, 3.0].map(|t| table.at(0, t));
        assert_eq!(found, [(1.0, 2.0), (5.0, -1.0), (4.5, -1.0), (4.0, 0.0)]);
        let both = PrescribedMotion::each(&[
            PrescribedMotion::constant(&[4.0]),
            PrescribedMotion::ramp(0.0, 1.0),
        ]);
        assert_eq!((both.at(0, 2.0), both.at(1, 2.0)), ((4.0, 0.0), (2.0, 1.0)));
        assert!(PrescribedMotion::table(&[(1.0, 0.0), (1.0, 2.0)]).is_err());
    }
}
