//! Muscles whose force follows from length and activation alone.

use super::muscle::{activation, check_activations};
use super::toe::toe;
use crate::validate::{check_bound, check_not_negative, check_one_or_each, check_positive, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, Space};
use std::f64::consts::PI;

/// A muscle whose tension is a curve of its length, the more the more active it is, with a dashpot
/// beside it: on the full length `l` (m) of a [`Distance`](crate::Distance) or a
/// [`Rope`](crate::Rope) without rest length.
///
/// **Equation.** `f = -F (a A(l) + P(l)) - b v`, with the largest active force `F` (N), the
/// activation `a`, which is its input, and the damping `b` (N s/m). The curves have the names that
/// ArtiSynth's axial muscles have; with the ramp `r = (l - l_o)/(l_m - l_o)` between 0 and 1, the
/// passive share `p`, and the length `n = (l/l_o - t)/(1 - t)` of a fibre beside a tendon of the
/// share `t` of the optimal length `l_o`, they are: simple, `A = 1` and `F P = k (l - l_0)`, with a
/// toe over which the stiffness rises to `k`; constant, `A = 1` and `P = p`; linear, `A = r` and
/// `P = p r`; Peck (Peck et al. 2000), `A = (1 + cos(2 pi n))/2` for `1/2 < n < 3/2`, else 0, and
/// `P = p r`; Pai, the same with `A = 1` for `n > 1`; Blemker (Blemker et al. 2005), with
/// `s = l/l_o`, `A = 9 (s - .4)^2` for `.4 < s < .6`, `1 - 4 (1 - s)^2` up to 1.4 and
/// `9 (s - 1.6)^2` up to 1.6, else 0, and `P = P_1 (exp(P_2 (s - 1)) - 1)` from `s = 1` to `l = l_m`,
/// then straight on. The energy is the integral over `l`; `K` is negative where the active force
/// falls with length, and jumps where a ramp begins or ends.
///
/// **Use.** Muscles of the face, the tongue and the jaw as they are given in the literature, and
/// drives that pull with a force alone. For force over speed see
/// [`AxialMuscle`](crate::AxialMuscle), for elastic tendons [`MuscleTendon`](crate::MuscleTendon).
#[derive(Clone, Debug, PartialEq)]
pub struct ForceLengthMuscle {
    force: f64,
    curve: Curve,
    damping: f64,
    activations: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Curve {
    Simple {
        stiffness: f64,
        rest: f64,
        toe: f64,
        slackens: bool,
    },
    Constant {
        passive: f64,
    },
    Linear {
        ramp: Ramp,
        passive: f64,
    },
    Cosine {
        ramp: Ramp,
        passive: f64,
        tendon: f64,
        /// Whether it keeps its force beyond the optimal length.
        keeps: bool,
    },
    Blemker {
        ramp: Ramp,
        passive: f64,
        exponent: f64,
    },
}

/// From the optimal length to the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ramp {
    optimal: f64,
    largest: f64,
}

/// Integral over the length, value and slope of a curve.
type Jet = [f64; 3];

impl Ramp {
    fn jet(self, l: f64) -> Jet {
        let width = self.largest - self.optimal;
        let beyond = l - self.optimal;
        if beyond <= 0.0 {
            [0.0; 3]
        } else if l < self.largest {
            [0.5 * beyond * beyond / width, beyond / width, 1.0 / width]
        } else {
            [beyond - 0.5 * width, 1.0, 0.0]
        }
    }
}

/// The raised cosine over the length of the fibre.
fn cosine(n: f64, keeps: bool) -> Jet {
    if n <= 0.5 {
        [0.0; 3]
    } else if keeps && n >= 1.0 {
        [n - 0.75, 1.0, 0.0]
    } else if n >= 1.5 {
        [0.5, 0.0, 0.0]
    } else {
        let (sin, cos) = (2.0 * PI * n).sin_cos();
        [0.5 * (n - 0.5) + 0.25 * sin / PI, 0.5 + 0.5 * cos, -PI * sin]
    }
}

/// Blemker's active curve over the stretch.
fn parabolas(s: f64) -> Jet {
    let limb = |d: f64| [3.0 * d.powi(3), 9.0 * d * d, 18.0 * d];
    // Its parts from .4 to .6 and from .6 to 1.4.
    let (first, second) = (0.024, 0.8 - 8.0 / 3.0 * 0.064);
    if s <= 0.4 {
        [0.0; 3]
    } else if s < 0.6 {
        limb(s - 0.4)
    } else if s < 1.4 {
        let d = 1.0 - s;
        let area = first + (s - 0.6) + 4.0 / 3.0 * (d.powi(3) - 0.064);
        [area, 1.0 - 4.0 * d * d, 8.0 * d]
    } else if s < 1.6 {
        let [area, value, slope] = limb(s - 1.6);
        [2.0 * first + second + area, value, slope]
    } else {
        [2.0 * first + second, 0.0, 0.0]
    }
}

/// `exp(c x) - 1` for positive `x`, from `end` on straight.
fn exponential(x: f64, c: f64, end: f64) -> Jet {
    if x <= 0.0 {
        return [0.0; 3];
    }
    let at = x.min(end);
    let value = (c * at).exp_m1();
    let slope = c * (value + 1.0);
    let over = x - at;
    [
        value / c - at + over * (value + 0.5 * slope * over),
        value + slope * over,
        slope,
    ]
}

/// A curve over `l/length`, as one over `l`.
fn over_length([area, value, slope]: Jet, length: f64) -> Jet {
    [area * length, value, slope / length]
}

fn times(k: f64, jet: Jet) -> Jet {
    jet.map(|part| k * part)
}

impl Curve {
    fn active(self, l: f64) -> Jet {
        match self {
            Self::Simple { .. } | Self::Constant { .. } => [l, 1.0, 0.0],
            Self::Linear { ramp, .. } => ramp.jet(l),
            Self::Cosine {
                ramp, tendon, keeps, ..
            } => {
                let fibre = ramp.optimal * (1.0 - tendon);
                over_length(cosine((l - ramp.optimal * tendon) / fibre, keeps), fibre)
            }
            Self::Blemker { ramp, .. } => over_length(parabolas(l / ramp.optimal), ramp.optimal),
        }
    }

    /// In newtons, for the largest active force.
    fn passive(self, l: f64, force: f64) -> Jet {
        match self {
            Self::Simple {
                stiffness,
                rest,
                toe: bend,
                slackens,
            } => {
                let x = l - rest;
                if x < 0.0 && slackens {
                    return [0.0; 3];
                }
                let [area, value, slope] = toe(x.abs(), bend);
                times(stiffness, [area, value.copysign(x), slope])
            }
            Self::Constant { passive } => times(force * passive, [l, 1.0, 0.0]),
            Self::Linear { ramp, passive } | Self::Cosine { ramp, passive, .. } => {
                times(force * passive, ramp.jet(l))
            }
            Self::Blemker {
                ramp,
                passive,
                exponent,
            } => {
                let at = |l: f64| (l - ramp.optimal) / ramp.optimal;
                let curve = exponential(at(l), exponent, at(ramp.largest));
                times(force * passive, over_length(curve, ramp.optimal))
            }
        }
    }

    fn check(self, name: &str) -> Result<(), ModelError> {
        let ramped = |ramp: Ramp, passive: f64| {
            check_positive(name, Field::OptimalLength, ramp.optimal)?;
            let (field, bound) = (Field::LargestLength, "more than the optimal length");
            check_positive(name, field, ramp.largest)?;
            check_bound(name, field, ramp.largest, bound, ramp.largest > ramp.optimal)?;
            check_not_negative(name, Field::PassiveShare, passive)
        };
        match self {
            Self::Simple {
                stiffness, rest, toe, ..
            } => {
                check_not_negative(name, Field::Stiffness, stiffness)?;
                check_not_negative(name, Field::RestLength, rest)?;
                check_not_negative(name, Field::Toe, toe)
            }
            Self::Constant { passive } => check_not_negative(name, Field::PassiveShare, passive),
            Self::Linear { ramp, passive } => ramped(ramp, passive),
            Self::Cosine {
                ramp,
                passive,
                tendon,
                ..
            } => {
                ramped(ramp, passive)?;
                let fits = (0.0..1.0).contains(&tendon);
                check_bound(name, Field::TendonShare, tendon, "0 or more and below 1", fits)
            }
            Self::Blemker {
                ramp,
                passive,
                exponent,
            } => {
                ramped(ramp, passive)?;
                check_positive(name, Field::Exponent, exponent)
            }
        }
    }
}

impl ForceLengthMuscle {
    fn of(force: f64, curve: Curve) -> Self {
        Self {
            force,
            curve,
            damping: 0.0,
            activations: vec![0.0],
        }
    }

    /// Pulls with its force (N) times the activation, beside a spring of the stiffness `k` (N/m)
    /// that is at rest at the length `l_0` (m) and pushes below it.
    pub fn simple(force: f64, stiffness: f64, rest_length: f64) -> Self {
        Self::of(
            force,
            Curve::Simple {
                stiffness,
                rest: rest_length,
                toe: 0.0,
                slackens: false,
            },
        )
    }

    /// Pulls with its force (N) times the sum of the activation and a passive share (none).
    pub fn constant(force: f64, passive: f64) -> Self {
        Self::of(force, Curve::Constant { passive })
    }

    /// Active force (N) and passive share (none) rise on a line from the optimal to the largest
    /// length (m), and stay as they are beyond.
    pub fn linear(force: f64, optimal_length: f64, largest_length: f64, passive: f64) -> Self {
        let (optimal, largest) = (optimal_length, largest_length);
        let ramp = Ramp { optimal, largest };
        Self::of(force, Curve::Linear { ramp, passive })
    }

    /// Peck's: the active force (N) is a raised cosine about the optimal length (m), beside a tendon
    /// of a share of that length (none), and the passive share (none) is reached on a line at the
    /// largest length (m).
    pub fn peck(
        force: f64,
        optimal_length: f64,
        largest_length: f64,
        tendon_share: f64,
        passive: f64,
    ) -> Self {
        let (optimal, largest) = (optimal_length, largest_length);
        let curve = Curve::Cosine {
            ramp: Ramp { optimal, largest },
            passive,
            tendon: tendon_share,
            keeps: false,
        };
        Self::of(force, curve)
    }

    /// Pai's: as [`peck`](Self::peck) (N, m, m, none, none), with all of the active force beyond the
    /// optimal length.
    pub fn pai(
        force: f64,
        optimal_length: f64,
        largest_length: f64,
        tendon_share: f64,
        passive: f64,
    ) -> Self {
        let mut out = Self::peck(force, optimal_length, largest_length, tendon_share, passive);
        if let Curve::Cosine { keeps, .. } = &mut out.curve {
            *keeps = true;
        }
        out
    }

    /// Blemker's: active parabolas about the optimal length (m), and a passive exponential that is
    /// straight beyond the largest (m); force in N, the coefficient `P_1` (none) .05 and the
    /// exponent `P_2` (none) 6.6, as published.
    pub fn blemker(force: f64, optimal_length: f64, largest_length: f64) -> Self {
        let (optimal, largest) = (optimal_length, largest_length);
        let curve = Curve::Blemker {
            ramp: Ramp { optimal, largest },
            passive: 0.05,
            exponent: 6.6,
        };
        Self::of(force, curve)
    }

    /// Sets coefficient `P_1` and exponent `P_2` (none) of the passive exponential of
    /// [`blemker`](Self::blemker); others have none.
    #[must_use]
    pub fn with_exponential(mut self, coefficient: f64, power: f64) -> Self {
        if let Curve::Blemker {
            passive, exponent, ..
        } = &mut self.curve
        {
            (*passive, *exponent) = (coefficient, power);
        }
        self
    }

    /// Makes the stiffness of a [`simple`](Self::simple) muscle rise from zero over the extension
    /// `toe` (m), and with `tension_only` its spring slack below the rest length; others have none.
    #[must_use]
    pub fn with_toe(mut self, toe: f64, tension_only: bool) -> Self {
        if let Curve::Simple {
            toe: bend, slackens, ..
        } = &mut self.curve
        {
            (*bend, *slackens) = (toe, tension_only);
        }
        self
    }

    /// Sets the activations `a` (none), between 0 and 1: one for each element of the node, or one
    /// for all. Set outside that range while the model is simulated, the model refuses it.
    #[must_use]
    pub fn with_activations(mut self, activations: &[f64]) -> Self {
        self.activations = activations.to_vec();
        self
    }

    /// Adds viscous damping `b` (N s/m), zero or more.
    #[must_use]
    pub fn with_damping(mut self, b: f64) -> Self {
        self.damping = b;
        self
    }

    /// Energy, tension at rest and stiffness of an element.
    fn jet(&self, e: usize, l: f64, inputs: &[f64]) -> Jet {
        let active = times(self.force * activation(inputs, e), self.curve.active(l));
        let passive = self.curve.passive(l, self.force);
        std::array::from_fn(|k| active[k] + passive[k])
    }
}

impl ForceField for ForceLengthMuscle {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_space(name, "scalars (lengths)", space, space == Space::Real(1))?;
        check_positive(name, Field::LargestForce, self.force)?;
        self.curve.check(name)?;
        check_not_negative(name, Field::Damping, self.damping)?;
        let found = self.activations.len();
        check_one_or_each(name, Field::Activations, "activations", count, found)
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        x.iter()
            .enumerate()
            .map(|(e, l)| self.jet(e, *l, inputs)[0])
            .sum()
    }

    fn add_force(&self, At { x, v, inputs, .. }: At<'_>, f: &mut [f64]) {
        for (e, f) in f.iter_mut().enumerate() {
            *f -= self.jet(e, x[e], inputs)[1] + self.damping * v[e];
        }
    }

    fn stiffness(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        out.set_diagonal(|e| self.jet(e, x[e], inputs)[2]);
        Ok(())
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|_| self.damping);
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn is_damped(&self) -> bool {
        self.damping > 0.0
    }

    fn inputs(&self) -> &[f64] {
        &self.activations
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_activations(name, inputs)
    }
}
