//! Springs with a curve, on scalars or coordinate by coordinate.

mod table;

use crate::validate::{check_finite, check_not_negative, check_positive, check_real};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, RowLaw, Space};
use std::ops::Range;
use table::Table;

/// A spring whose force is a function of its extension, with an optional dashpot beside it; every
/// coordinate alone.
///
/// **Equation.** `f = -T(x - l) - b v`, `K = dT/dx`, energy the integral of `T` from 0 to `x - l`,
/// with the input `l` (m; zero without one), where the spring is without force. The curve `T(x)`
/// (N) over the extension `x` (m) is one of: linear `k x`; tension only `k max(x, 0)`; compression
/// only `k min(x, 0)`; saturating `k x/sqrt(1 + (k x/F)^2)`; stiffening `k x + k3 x^3`; a table.
/// `b` is the damping (N s/m); a spring that is slack has none. The stiffness of a one-sided spring
/// jumps at zero, where it counts as slack; taut, its dashpot may exceed the spring. One-sided
/// springs, and tables that do not rise throughout, can only be treated as stiffnesses.
///
/// **Use.** Ropes, contacts and stops, muscles that give way, measured springs: on a
/// [`Distance`](crate::Distance) with its rest length. With an input: winches, tendons and growing
/// parts whose rest length is set while they are simulated, as a stiffness or as a compliance.
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    curve: Curve,
    damping: f64,
    /// The input, if it has one.
    rest: Option<[f64; 1]>,
}

#[derive(Clone, Debug, PartialEq)]
enum Curve {
    Linear(f64),
    /// Only where `sign * x > 0`.
    OneSided {
        k: f64,
        sign: f64,
    },
    Saturating {
        k: f64,
        limit: f64,
    },
    Stiffening {
        k: f64,
        cubic: f64,
    },
    Table(Table),
}

impl Curve {
    fn tension(&self, x: f64) -> f64 {
        match self {
            Self::Linear(k) => k * x,
            Self::OneSided { k, sign } => k * sign * (sign * x).max(0.0),
            Self::Saturating { k, limit } => k * x / (k * x / limit).hypot(1.0),
            Self::Stiffening { k, cubic } => x * (k + cubic * x * x),
            Self::Table(table) => table.tension(x),
        }
    }

    fn slope(&self, x: f64) -> f64 {
        match self {
            Self::Linear(k) => *k,
            Self::OneSided { k, .. } => k * f64::from(u8::from(self.is_engaged(x))),
            Self::Saturating { k, limit } => k / (k * x / limit).hypot(1.0).powi(3),
            Self::Stiffening { k, cubic } => k + 3.0 * cubic * x * x,
            Self::Table(table) => table.slope(x),
        }
    }

    fn energy(&self, x: f64) -> f64 {
        match self {
            Self::Linear(k) => 0.5 * k * x * x,
            Self::OneSided { k, sign } => 0.5 * k * (sign * x).max(0.0).powi(2),
            // F^2/k (s - 1) with s = hypot(u, 1), without the cancellation of s - 1.
            Self::Saturating { k, limit } => {
                let s = (k * x / limit).hypot(1.0);
                k * x * (x / (1.0 + s))
            }
            Self::Stiffening { k, cubic } => x * x * (0.5 * k + 0.25 * cubic * x * x),
            Self::Table(table) => table.energy(x),
        }
    }

    fn is_engaged(&self, x: f64) -> bool {
        match self {
            Self::OneSided { sign, .. } => sign * x > 0.0,
            _ => true,
        }
    }
}

impl Spring {
    fn of(curve: Curve) -> Self {
        Self {
            curve,
            damping: 0.0,
            rest: None,
        }
    }

    /// Linear, of stiffness `k` (N/m), positive.
    pub fn linear(k: f64) -> Self {
        Self::of(Curve::Linear(k))
    }

    /// Pulls when `x > 0`, slack otherwise; stiffness `k` (N/m), positive.
    pub fn tension_only(k: f64) -> Self {
        Self::of(Curve::OneSided { k, sign: 1.0 })
    }

    /// Pushes when `x < 0`, loose otherwise; stiffness `k` (N/m), positive.
    pub fn compression_only(k: f64) -> Self {
        Self::of(Curve::OneSided { k, sign: -1.0 })
    }

    /// Stiffness `k` (N/m) at zero, and a force that approaches `limit` (N) either way; both
    /// positive.
    pub fn saturating(k: f64, limit: f64) -> Self {
        Self::of(Curve::Saturating { k, limit })
    }

    /// Stiffness `k` (N/m) at zero, positive, and the coefficient `cubic` (N/m^3) of the third
    /// power, zero or more.
    pub fn stiffening(k: f64, cubic: f64) -> Self {
        Self::of(Curve::Stiffening { k, cubic })
    }

    /// Points `(x, T)` of the curve (m, N), at least two, by increasing `x`: joined by cubics that
    /// rise and fall only where the points do, with a continuous slope; beyond the ends straight
    /// on.
    pub fn table(points: &[(f64, f64)]) -> Self {
        Self::of(Curve::Table(Table::new(points)))
    }

    /// Adds a dashpot of coefficient `b` (N s/m), zero or more.
    #[must_use]
    pub fn with_damping(mut self, b: f64) -> Self {
        self.damping = b;
        self
    }

    /// Makes `l` (m) where every coordinate is without force: input 0, to be set while it is
    /// simulated. The dashpot goes by the rate of the coordinate alone.
    #[must_use]
    pub fn with_rest(mut self, l: f64) -> Self {
        self.rest = Some([l]);
        self
    }

    fn damping_at(&self, inputs: &[f64], x: f64) -> f64 {
        if self.curve.is_engaged(extension(inputs, x)) {
            self.damping
        } else {
            0.0
        }
    }
}

/// The extension of a coordinate over its rest length, input 0 if there is one.
fn extension(inputs: &[f64], x: f64) -> f64 {
    x - inputs.first().copied().unwrap_or(0.0)
}

impl ForceField for Spring {
    fn check(&self, name: &str, space: Space, _count: usize) -> Result<(), ModelError> {
        check_real(name, space)?;
        check_not_negative(name, Field::Damping, self.damping)?;
        match &self.curve {
            Curve::Linear(k) | Curve::OneSided { k, .. } => check_positive(name, Field::Stiffness, *k),
            Curve::Saturating { k, limit } => {
                check_positive(name, Field::Stiffness, *k)?;
                check_positive(name, Field::LargestForce, *limit)
            }
            Curve::Stiffening { k, cubic } => {
                check_positive(name, Field::Stiffness, *k)?;
                check_not_negative(name, Field::CubicStiffness, *cubic)
            }
            Curve::Table(table) => table.check(name),
        }
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        x.iter().map(|x| self.curve.energy(extension(inputs, *x))).sum()
    }

    fn add_force(&self, At { x, v, inputs, .. }: At<'_>, f: &mut [f64]) {
        for ((f, x), v) in f.iter_mut().zip(x).zip(v) {
            *f -= self.curve.tension(extension(inputs, *x)) + self.damping_at(inputs, *x) * v;
        }
    }

    fn stiffness(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        out.set_diagonal(|i| self.curve.slope(extension(inputs, x[i])));
        Ok(())
    }

    fn damping(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|i| self.damping_at(inputs, x[i]));
    }

    fn row_law(&self) -> RowLaw {
        match &self.curve {
            Curve::OneSided { .. } => RowLaw::None,
            Curve::Table(table) if !table.rises() => RowLaw::None,
            _ => RowLaw::Elastic,
        }
    }

    fn compliance(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|i| self.curve.slope(extension(inputs, x[i])).recip());
    }

    fn deformation(&self, At { x, inputs, .. }: At<'_>, out: &mut [f64]) {
        for (out, x) in out.iter_mut().zip(x) {
            let x = extension(inputs, *x);
            *out = self.curve.tension(x) / self.curve.slope(x);
        }
    }

    fn is_linear(&self) -> bool {
        // Of a linear law the deformation is the coordinate.
        matches!(self.curve, Curve::Linear(_)) && self.rest.is_none()
    }

    fn row_damping(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) -> bool {
        if self.damping > 0.0 {
            out.set_diagonal(|i| self.damping_at(inputs, x[i]));
        }
        self.damping > 0.0
    }

    fn inputs(&self) -> &[f64] {
        self.rest.as_ref().map_or(&[], |l| l)
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_finite(name, Field::RestLength, extension(inputs, 0.0))
    }

    fn restrict(&self, _space: Space, _elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(self.clone()))
    }
}
