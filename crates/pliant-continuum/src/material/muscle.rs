//! Laws of muscle fibres over their stretch, and the energy of a tissue that they make.

use super::chord::OfGradient;
use super::isochoric::{Isochoric, Response};
use crate::checks::check_range;
use pliant_dense::{Mat3, Vec3};
use pliant_model::validate::{check_finite, check_not_negative, check_positive};
use pliant_model::{Field, ModelError};

/// The law of the fibres of a muscle: energy density `w` (Pa) as a function of the isochoric
/// stretch `l = J^(-1/3) |F n|` (none) along the unit direction `n` of the fibres at rest, and of
/// the activation `a` (none) between 0 and 1. The tension `dw/dl` is a force over the area at
/// rest (Pa).
///
/// Every law has an energy at a fixed activation. Its passive part is without tension at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MuscleLaw {
    /// The passive law of Weiss, Maker and Govindjee (1996) with an active tension that does not
    /// depend on the stretch:
    ///
    /// ```math
    /// dw/dl = a s + g(l)/l
    /// g = 0 for l <= 1,   P (exp(k (l - 1)) - 1) up to l = l_s,   g(l_s) + P k exp(k (l_s - 1)) (l - l_s) above
    /// ```
    ///
    /// `g` is the Cauchy stress of fibres that do not change their volume. It and its slope are
    /// continuous but for the slope at rest. The energy is the integral of this from `l = 1`, of
    /// `g/l` by the formula of Gauss, to rounding.
    Generic {
        /// The active tension `s` of full activation (Pa).
        stress: f64,
        /// The passive coefficient `P` (Pa).
        passive: f64,
        /// The passive exponent `k` (none).
        exponent: f64,
        /// The stretch `l_s` at which the fibres are straight (none), one or more.
        straight: f64,
    },
    /// Blemker, Pinsky and Delp's (2005), with `u = l/l_o`, `u_s = l_s/l_o`, and
    /// `I1 = tr c`, `I4 = n . c n = l^2`, `I5 = n . c^2 n` of the isochoric `c = J^(-2/3) F^T F`:
    ///
    /// ```math
    /// w = w_f(l) + G1 B1^2 + G2 B2^2,   dw_f/dl = s/l_o (f_p(u) + a f_a(u))
    /// B1^2 = I5/I4^2 - 1,   cosh B2 = (I1 I4 - I5)/(2 sqrt(I4))
    /// f_p = 0 for u <= 1,   P (exp(k (u - 1)) - 1) up to u = u_s,   f_p(u_s) + P k exp(k (u_s - 1)) (u - u_s) above
    /// f_a = 1 - 4 t^2 for t = |u - 1| up to 0.4,   9 (0.6 - t)^2 up to 0.6,   0 above
    /// ```
    ///
    /// `B1` is the shear along the fibres, `B2` that across them. Tension is continuous; its slope
    /// jumps at `u = 1` by `s P k/l_o^2`, and where `t = 0.4`, that of `f_a` from 3.2 to 3.6.
    /// `w_f` is zero at `u = 1`.
    Blemker {
        /// The stress `s` (Pa): the active tension at the optimal stretch is `s/l_o`.
        stress: f64,
        /// The optimal stretch `l_o` (none).
        optimal: f64,
        /// The passive coefficient `P` (none), a share of `s`.
        passive: f64,
        /// The passive exponent `k` (none).
        exponent: f64,
        /// The stretch `l_s` at which the fibres are straight (none), the optimal one or more.
        straight: f64,
        /// `G1` (Pa), half the shear modulus of small strains along the fibres.
        along: f64,
        /// `G2` (Pa), half the shear modulus of small strains across the fibres.
        across: f64,
    },
}

/// Energy (Pa), tension (Pa) and its slope (Pa) at a stretch.
type Tension = [f64; 3];

impl MuscleLaw {
    /// Blemker, Pinsky and Delp's law with the numbers of their fibres, `P = 0.05`, `k = 6.6` and
    /// `l_s = 1.4 l_o`, with `l_o = 1`, the stress `s` (Pa; theirs is 3e5), and no resistance to
    /// shear.
    pub const fn blemker(stress: f64) -> Self {
        Self::Blemker {
            stress,
            optimal: 1.0,
            passive: 0.05,
            exponent: 6.6,
            straight: 1.4,
            along: 0.0,
            across: 0.0,
        }
    }

    pub(super) fn check(&self, name: &str) -> Result<(), ModelError> {
        let (stress, passive, exponent, straight, optimal) = match *self {
            Self::Generic {
                stress,
                passive,
                exponent,
                straight,
            } => (stress, passive, exponent, straight, 1.0),
            Self::Blemker {
                stress,
                optimal,
                passive,
                exponent,
                straight,
                along,
                across,
            } => {
                check_not_negative(name, Field::AlongShear, along)?;
                check_not_negative(name, Field::AcrossShear, across)?;
                check_positive(name, Field::OptimalStretch, optimal)?;
                (stress, passive, exponent, straight, optimal)
            }
        };
        check_not_negative(name, Field::MuscleStress, stress)?;
        check_not_negative(name, Field::FibreStiffness, passive)?;
        check_not_negative(name, Field::FibreExponent, exponent)?;
        let bound = match self {
            Self::Generic { .. } => "1 or more",
            Self::Blemker { .. } => "the optimal stretch or more",
        };
        check_range(name, Field::StraightStretch, straight, straight >= optimal, bound)?;
        let stiffest = passive * exponent * (exponent * (straight / optimal - 1.0)).exp();
        check_finite(name, Field::StraightStiffness, stiffest)
    }

    /// Energy, tension and slope of a fibre at a stretch (none) and an activation (none).
    fn tension(&self, l: f64, a: f64) -> Tension {
        match *self {
            Self::Generic {
                stress,
                passive,
                exponent,
                straight,
            } => {
                let [w, t, slope] = weiss(l, passive, exponent, straight);
                [w + a * stress * (l - 1.0), t + a * stress, slope]
            }
            Self::Blemker {
                stress,
                optimal,
                passive,
                exponent,
                straight,
                ..
            } => {
                let u = l / optimal;
                let p = exponential(u - 1.0, passive, exponent, straight / optimal - 1.0);
                let f = active(u - 1.0);
                let scale = [stress, stress / optimal, stress / (optimal * optimal)];
                std::array::from_fn(|k| scale[k] * (p[k] + a * f[k]))
            }
        }
    }

    /// The moduli of shear along and across the fibres (Pa).
    fn shears(&self) -> [f64; 2] {
        match *self {
            Self::Generic { .. } => [0.0; 2],
            Self::Blemker { along, across, .. } => [along, across],
        }
    }
}

/// The passive part of [`MuscleLaw::Generic`].
fn weiss(l: f64, p: f64, k: f64, straight: f64) -> Tension {
    let s = l - 1.0;
    // What is not a number goes on.
    if s <= 0.0 {
        return [0.0; 3];
    }
    let over = l - straight;
    let (w, g, slope) = if over > 0.0 {
        let last = straight - 1.0;
        let (g, slope) = (p * (k * last).exp_m1(), p * k * (k * last).exp());
        // The integral of (g + slope (l - straight))/l.
        let rest = slope * over + (g - slope * straight) * (over / straight).ln_1p();
        (p * exponential_integral(last, k) + rest, g + slope * over, slope)
    } else {
        (
            p * exponential_integral(s, k),
            p * (k * s).exp_m1(),
            p * k * (k * s).exp(),
        )
    };
    let tension = g / l;
    [w, tension, (slope - tension) / l]
}

/// Places and weights of the formula of Gauss with ten points on `[-1, 1]`, one of each pair.
const GAUSS: [[f64; 2]; 5] = [
    [0.148_874_338_981_631_21, 0.295_524_224_714_752_9],
    [0.433_395_394_129_247_2, 0.269_266_719_309_996_35],
    [0.679_409_568_299_024_4, 0.219_086_362_515_982_04],
    [0.865_063_366_688_984_5, 0.149_451_349_150_580_6],
    [0.973_906_528_517_171_7, 0.066_671_344_308_688_14],
];

/// The integral of `(exp(k (l - 1)) - 1)/l` from 1 to `1 + s`, over `ln l`, in which it has no
/// singularity: exponential integrals, without the cancellation of their difference. Panels over
/// which the exponent grows by two have ten points, which miss less than rounding.
fn exponential_integral(s: f64, k: f64) -> f64 {
    let end = s.ln_1p();
    if !end.is_finite() {
        return f64::NAN;
    }
    let panels = (0.5 * k * (1.0 + s) * end).max(end).ceil().max(1.0);
    let half = 0.5 * end / panels;
    let (mut sum, mut panel) = (0.0, 0.0);
    while panel < panels {
        let middle = (2.0 * panel + 1.0) * half;
        for [place, weight] in GAUSS {
            let pair = [middle - half * place, middle + half * place];
            sum += weight * pair.map(|t| (k * t.exp_m1()).exp_m1()).iter().sum::<f64>();
        }
        panel += 1.0;
    }
    sum * half
}

/// `f_p` of [`MuscleLaw::Blemker`] over the strain `s` from the optimal stretch: its integral, it
/// and its slope.
fn exponential(s: f64, p: f64, k: f64, straight: f64) -> Tension {
    if s <= 0.0 {
        return [0.0; 3];
    }
    let reach = if s > straight { straight } else { s };
    let c = k * reach;
    let [w, f, slope] = [p * reach * excess(c), p * c.exp_m1(), p * k * c.exp()];
    let over = s - reach;
    [w + over * (f + 0.5 * slope * over), f + slope * over, slope]
}

/// `(exp(c) - 1 - c)/c`.
fn excess(c: f64) -> f64 {
    if c > 0.5 {
        return (c.exp_m1() - c) / c;
    }
    // Its power series, without cancellation: 14 terms up to c = 1/2.
    let (mut term, mut sum) = (0.5 * c, 0.0);
    for n in 3..17 {
        sum += term;
        term *= c / f64::from(n);
    }
    sum
}

/// `f_a` of [`MuscleLaw::Blemker`] over the strain `s` from the optimal stretch: its integral, it
/// and its slope.
fn active(s: f64) -> Tension {
    const MIDDLE: f64 = 0.4 - 4.0 / 3.0 * 0.4 * 0.4 * 0.4;
    const FOOT: f64 = 3.0 * 0.2 * 0.2 * 0.2;
    let t = s.abs();
    let [w, f, slope] = if t > 0.6 {
        [MIDDLE + FOOT, 0.0, 0.0]
    } else if t > 0.4 {
        let left = 0.6 - t;
        [
            MIDDLE + FOOT - 3.0 * left * left * left,
            9.0 * left * left,
            -18.0 * left,
        ]
    } else {
        [t - 4.0 / 3.0 * t * t * t, 1.0 - 4.0 * t * t, -8.0 * t]
    };
    let sign = s.signum();
    [sign * w, f, sign * slope]
}

/// `arcosh(1 + z)^2` and its two derivatives.
fn arcosh_square(z: f64) -> Tension {
    if z > 0.25 {
        let w = 1.0 + z;
        // w^2 - 1
        let square = z * (2.0 + z);
        let root = square.sqrt();
        let t = (z + root).ln_1p();
        let first = 2.0 * t / root;
        return [t * t, first, (2.0 - w * first) / square];
    }
    // Its power series 2 sum_n -(-2 z)^n/(n^2 binomial(2 n, n)), which starts with 2 z: 24 terms up
    // to z = 1/4.
    let (mut value, mut first, mut second) = (0.0, 0.0, 0.0);
    let (mut factor, mut powers) = (2.0, [1.0, 0.0]);
    for n in 1..25 {
        let m = f64::from(n);
        let [low, lower] = powers;
        value += factor * low * z;
        first += factor * m * low;
        second += factor * m * (m - 1.0) * lower;
        powers = [low * z, low];
        factor *= -m * m / ((m + 1.0) * (2.0 * m + 1.0));
    }
    [value, first, second]
}

/// The fibres of a point: their law, unit direction at rest and activation.
pub(super) struct Fibre<'a> {
    pub(super) law: &'a MuscleLaw,
    pub(super) direction: Vec3,
    pub(super) activation: f64,
}

/// The six factors of strains (shears as angles) in `H : e` of a symmetric matrix
/// `H = (a b^T + b a^T)/2`.
fn along(a: &Vec3, b: &Vec3) -> [f64; 6] {
    let pair = |i: usize, j: usize| 0.5 * (a[i] * b[j] + a[j] * b[i]);
    [
        pair(0, 0),
        pair(1, 1),
        pair(2, 2),
        pair(0, 1),
        pair(1, 2),
        pair(2, 0),
    ]
}

impl Fibre<'_> {
    /// The energy and its derivatives over the isochoric strain `e`, with `c = 1 + 2 e`: those of
    /// `I1`, `I4`, `I5` are `2 I`, `2 n n^T`, `4 sym(n (c n)^T)`, and of the second ones only that
    /// of `I5 = 1 + 4 n . e n + 4 |e n|^2` is not zero.
    fn response(&self, at: &Isochoric<'_>) -> Response {
        let mut out = Response::NONE;
        let (c, n) = (at.stretch(), &self.direction);
        let image = c * n;
        let i4 = n.dot(&image);
        let l = i4.sqrt();
        let [w, tension, slope] = self.law.tension(l, self.activation);
        out.value = w;
        let row4 = along(n, n).map(|x| 2.0 * x);
        let [g1, g2] = self.law.shears();
        // Derivatives over l^2.
        let (first, second) = (0.5 * tension / l, 0.25 * (slope - tension / l) / i4);
        if g1 == 0.0 && g2 == 0.0 {
            out.add(&[row4], &[first], &[[second]]);
            return out;
        }
        let (i1, i5) = (c.trace(), image.dot(&image));
        let row1 = [2.0, 2.0, 2.0, 0.0, 0.0, 0.0];
        let row5 = along(n, &image).map(|x| 4.0 * x);
        let i4s = i4 * i4;
        // omega - 1 of cosh B2, over I1, I4, I5.
        let [h, h1, h2] = arcosh_square(0.5 * (i1 * i4 - i5) / l - 1.0);
        let omega = [0.5 * l, 0.25 * (i1 + i5 / i4) / l, -0.5 / l];
        let omega44 = -0.125 * (i1 + 3.0 * i5 / i4) / (i4 * l);
        let omega2 = [
            [0.0, 0.25 / l, 0.0],
            [0.25 / l, omega44, 0.25 / (i4 * l)],
            [0.0, 0.25 / (i4 * l), 0.0],
        ];
        out.value += g1 * (i5 / i4s - 1.0) + g2 * h;
        let mut gradient = omega.map(|d| g2 * h1 * d);
        gradient[1] += first - 2.0 * g1 * i5 / (i4s * i4);
        gradient[2] += g1 / i4s;
        let mut hessian: [[f64; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| g2 * (h2 * omega[i] * omega[j] + h1 * omega2[i][j]))
        });
        hessian[1][1] += second + 6.0 * g1 * i5 / (i4s * i4s);
        hessian[1][2] -= 2.0 * g1 / (i4s * i4);
        hessian[2][1] -= 2.0 * g1 / (i4s * i4);
        out.add(&[row1, row4, row5], &gradient, &hessian);
        // The rows of e n over the six strains, shears as angles.
        let [x, y, z] = [n[0], n[1], n[2]];
        let rows = [
            [x, 0.0, 0.0, 0.5 * y, 0.0, 0.5 * z],
            [0.0, y, 0.0, 0.5 * x, 0.5 * z, 0.0],
            [0.0, 0.0, z, 0.0, 0.5 * y, 0.5 * x],
        ];
        let curved = 8.0 * gradient[2];
        for i in 0..6 {
            for j in 0..6 {
                out.moduli[i][j] += curved * rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
            }
        }
        out
    }

    /// Adds the tangent, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, f: &Mat3, out: &mut [f64]) {
        let at = Isochoric::of(f);
        at.add_tangent(&self.response(&at), out);
    }
}

impl Response {
    /// Adds the derivatives of a function of numbers whose gradients over the strains are rows.
    fn add<const N: usize>(&mut self, rows: &[[f64; 6]; N], first: &[f64; N], second: &[[f64; N]; N]) {
        for i in 0..6 {
            for (row, first) in rows.iter().zip(first) {
                self.stress[i] += first * row[i];
            }
            for j in 0..6 {
                for (row, line) in rows.iter().zip(second) {
                    for (other, second) in rows.iter().zip(line) {
                        self.moduli[i][j] += second * row[i] * other[j];
                    }
                }
            }
        }
    }
}

impl OfGradient for Fibre<'_> {
    const HAS_KINKS: bool = true;

    fn density(&self, f: &Mat3) -> f64 {
        self.response(&Isochoric::of(f)).value
    }

    fn stress(&self, f: &Mat3) -> Mat3 {
        let at = Isochoric::of(f);
        at.stress(&self.response(&at).stress)
    }
}
