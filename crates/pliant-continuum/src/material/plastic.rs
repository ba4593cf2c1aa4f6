//! Plasticity of von Mises on strains.

use super::{STRAINS, check_points, isotropic, shear_and_bulk};
use crate::checks::check_range;
use pliant_model::validate::{check_finite, check_not_negative, check_positive};
use pliant_model::{At, Blocks, Field, ForceField, Memory, ModelError, NotInvertible, Past, Space};

/// When a metal yields, and how that hardens it.
///
/// It yields where `sqrt(3/2) |dev(sigma) - beta| = s(p)`, with `p` the plastic strain that has
/// passed: `s(p) = s_0 + H_i p + (s_oo - s_0) (1 - exp(-d p))` and the back stress
/// `beta = 2/3 H_k e_p`. In tension the slope of stress over plastic strain is `H_i + H_k` (and
/// Voce's).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plasticity {
    yield_stress: f64,
    isotropic: f64,
    kinematic: f64,
    /// `s_oo - s_0` (Pa) and `d` (none).
    voce: [f64; 2],
}

impl Plasticity {
    /// Yield stress in tension `s_0` (Pa), without hardening.
    pub const fn perfect(yield_stress: f64) -> Self {
        Self {
            yield_stress,
            isotropic: 0.0,
            kinematic: 0.0,
            voce: [0.0; 2],
        }
    }

    /// With linear isotropic hardening: the yield surface grows by the modulus `H_i` (Pa), zero or
    /// more.
    #[must_use]
    pub const fn with_isotropic_hardening(mut self, modulus: f64) -> Self {
        self.isotropic = modulus;
        self
    }

    /// With linear kinematic hardening (Prager): the yield surface moves by the modulus `H_k` (Pa),
    /// zero or more.
    #[must_use]
    pub const fn with_kinematic_hardening(mut self, modulus: f64) -> Self {
        self.kinematic = modulus;
        self
    }

    /// With hardening that saturates (Voce 1948): the yield stress goes to `s_oo = s_0 + rise` (Pa)
    /// with the rate `d` (none) over the plastic strain, both zero or more.
    #[must_use]
    pub const fn with_saturation(mut self, rise: f64, rate: f64) -> Self {
        self.voce = [rise, rate];
        self
    }

    pub(super) fn check(&self, name: &str) -> Result<(), ModelError> {
        check_positive(name, Field::YieldStress, self.yield_stress)?;
        check_not_negative(name, Field::IsotropicHardening, self.isotropic)?;
        check_not_negative(name, Field::KinematicHardening, self.kinematic)?;
        check_not_negative(name, Field::YieldRise, self.voce[0])?;
        check_not_negative(name, Field::RateOfSaturation, self.voce[1])?;
        // The slope of the yield stress at first.
        check_finite(name, Field::RateOfSaturation, self.voce[0] * self.voce[1])
    }

    /// The modulus by which the yield surface moves (Pa).
    pub(crate) fn kinematic_hardening(&self) -> f64 {
        self.kinematic
    }

    /// The yield stress at first (Pa).
    pub(super) fn first(&self) -> f64 {
        self.yield_stress
    }

    /// Yield stress (Pa) and its slope at a plastic strain.
    pub(super) fn at(&self, p: f64) -> (f64, f64) {
        let [rise, rate] = self.voce;
        let left = (-rate * p).exp();
        (
            self.yield_stress + self.isotropic * p + rise * (1.0 - left),
            self.isotropic + rise * rate * left,
        )
    }

    /// The energy that isotropic hardening stores (J/m^3): the integral of the yield stress beyond
    /// the first.
    pub(super) fn stored(&self, p: f64) -> f64 {
        let [rise, rate] = self.voce;
        let of_voce = if rate > 0.0 {
            rise * (p + (-rate * p).exp_m1() / rate)
        } else {
            0.0
        };
        0.5 * self.isotropic * p * p + of_voce
    }

    /// The flow `|de_p|` back to the surface from a deviator of this size (Pa), which falls by
    /// `stiffness` (Pa) with the flow, at a plastic strain.
    pub(super) fn flow(&self, size: f64, stiffness: f64, p: f64) -> f64 {
        // The excess falls with the flow and is convex: Newton's method comes from the left, and
        // never passes the root.
        let mut flow = 0.0;
        for _ in 0..60 {
            let (yields, slope) = self.at(p + ROOT_OF_TWO_THIRDS * flow);
            let left = size - flow * stiffness - ROOT_OF_TWO_THIRDS * yields;
            let step = left / (stiffness + 2.0 / 3.0 * slope);
            flow += step;
            if step.abs() <= 4.0 * f64::EPSILON * flow {
                break;
            }
        }
        flow
    }
}

/// The root of 2/3: the size of a deviator over its equivalent in tension.
pub(super) const ROOT_OF_TWO_THIRDS: f64 = 0.816_496_580_927_726;

/// Elasticity and plasticity of von Mises on strains, rate-independent.
///
/// **Equation.** `sigma = D (e - e_p)` (Pa) on six strains with shears as angles, `D` isotropic;
/// where `sqrt(3/2) |dev(sigma) - beta| = s(p)` the plastic strain grows along `dev(sigma) - beta`
/// (normality), with the hardening of a [`Plasticity`]. Over a step: radial return (Wilkins 1964;
/// implicit Euler, exact for straight paths of stress) with the consistent tangent of Simo and
/// Taylor (1985), and a scalar Newton iteration for Voce's hardening. Energy `V (e_e . D e_e/2 +
/// H_k |e_p|^2/3 + integral of s - s_0 over p)` with the volume `V` (m^3) of the point, dissipation
/// `V s_0 dp`. Remembered are `e_p` and `p`: seven numbers.
///
/// **Use.** Metals that yield: bending, denting, residual stress. On
/// [`SmallStrain`](crate::SmallStrain), or on [`CorotationalStrain`](crate::CorotationalStrain) at
/// any rotation; strains are to be small. Newton's method (the nonlinear step, statics) converges
/// with its square; the theta method, which would have the elastic tangent, does not take it.
/// Plastic strain keeps its volume: volume rows keep elements from locking. Statics takes a
/// straight path of strain from point to point. As a stiffness; not in explicit methods and RATTLE.
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticPlastic {
    shear: f64,
    bulk: f64,
    plasticity: Plasticity,
    volumes: Vec<f64>,
    /// Whether the law leaves the change of volume to volume rows.
    deviatoric: bool,
}

/// Internal variables of a point: plastic strains with shears as angles, plastic strain that has
/// passed.
const VARIABLES: usize = 7;

/// A point after the return to the yield surface.
struct Returned {
    stress: [f64; 6],
    internal: [f64; VARIABLES],
    /// Plastic strain that passed.
    passed: f64,
    /// The direction of flow, and the factors of the deviator and of the direction in the tangent;
    /// `None` where it is elastic.
    flow: Option<([f64; 6], f64, f64)>,
}

impl ElasticPlastic {
    /// The plastic strain that has passed at each point (none), of these internal variables.
    pub fn passed(internal: &[f64]) -> impl Iterator<Item = f64> + '_ {
        internal.as_chunks::<VARIABLES>().0.iter().map(|point| point[6])
    }

    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and below 1/2, when it yields, and the
    /// volume (m^3) of each point.
    pub fn isotropic(young: f64, poisson: f64, plasticity: Plasticity, volumes: &[f64]) -> Self {
        let (shear, bulk) = shear_and_bulk(young, poisson);
        Self {
            shear,
            bulk,
            plasticity,
            volumes: volumes.to_vec(),
            deviatoric: false,
        }
    }

    /// The change of shape alone: shear modulus (Pa), when it yields, and the volume (m^3) of each
    /// point. It leaves the volume to others.
    pub fn deviatoric(shear: f64, plasticity: Plasticity, volumes: &[f64]) -> Self {
        Self {
            shear,
            bulk: 0.0,
            plasticity,
            volumes: volumes.to_vec(),
            deviatoric: true,
        }
    }

    /// Adds a bulk modulus (Pa) at the points, beside that of volume rows.
    #[must_use]
    pub(crate) fn with_pointwise_bulk(mut self, bulk: f64) -> Self {
        self.bulk = bulk;
        self
    }

    /// Stress (Pa) of each point at these strains (none), six numbers each, from these internal
    /// variables.
    pub fn stresses(&self, strains: &[f64], internal: &[f64]) -> Vec<f64> {
        let points = strains.as_chunks::<6>().0.iter().zip(internal.as_chunks().0);
        points
            .flat_map(|(e, past)| self.to_surface(e, past).stress)
            .collect()
    }

    /// The plastic strain that has passed (none) at each point.
    pub fn plastic_strains(internal: &[f64]) -> Vec<f64> {
        internal.as_chunks::<VARIABLES>().0.iter().map(|v| v[6]).collect()
    }

    fn to_surface(&self, e: &[f64; 6], past: &[f64; VARIABLES]) -> Returned {
        let (g, plasticity) = (self.shear, &self.plasticity);
        let third = (e[0] + e[1] + e[2]) / 3.0;
        // Tensors: shears by half of their angles.
        let plastic: [f64; 6] = std::array::from_fn(|k| if k < 3 { past[k] } else { 0.5 * past[k] });
        let deviator: [f64; 6] = std::array::from_fn(|k| if k < 3 { e[k] - third } else { 0.5 * e[k] });
        let trial: [f64; 6] = std::array::from_fn(|k| 2.0 * g * (deviator[k] - plastic[k]));
        let moving = 2.0 / 3.0 * plasticity.kinematic;
        let relative: [f64; 6] = std::array::from_fn(|k| trial[k] - moving * plastic[k]);
        let size = norm(&relative);
        let p = past[6];
        let beyond = size - ROOT_OF_TWO_THIRDS * plasticity.at(p).0;
        // What rounding makes of stresses is not flow: a point that has returned stays.
        let rounding = 1e-12 * ROOT_OF_TWO_THIRDS * plasticity.at(p).0
            + 16.0 * f64::EPSILON * (2.0 * g + moving) * (norm(&deviator) + norm(&plastic));
        let pressure = 3.0 * self.bulk * third;
        let whole =
            |s: [f64; 6]| -> [f64; 6] { std::array::from_fn(|k| s[k] + if k < 3 { pressure } else { 0.0 }) };
        let elastic = beyond <= rounding;
        if elastic || beyond.is_nan() {
            return Returned {
                stress: whole(trial),
                internal: *past,
                passed: 0.0,
                flow: None,
            };
        }
        let flow = plasticity.flow(size, 2.0 * g + moving, p);
        let passed = ROOT_OF_TWO_THIRDS * flow;
        let direction: [f64; 6] = std::array::from_fn(|k| relative[k] / size);
        let mut internal = *past;
        for k in 0..6 {
            internal[k] += flow * direction[k] * if k < 3 { 1.0 } else { 2.0 };
        }
        internal[6] += passed;
        let kept = 1.0 - 2.0 * g * flow / size;
        let slope = plasticity.at(internal[6]).1 + plasticity.kinematic;
        let along = 1.0 / (1.0 + slope / (3.0 * g)) - (1.0 - kept);
        Returned {
            stress: whole(std::array::from_fn(|k| trial[k] - 2.0 * g * flow * direction[k])),
            internal,
            passed,
            flow: Some((direction, kept, along)),
        }
    }

    fn tangent(&self, at: &Returned) -> [[f64; 6]; 6] {
        let Some((n, kept, along)) = &at.flow else {
            return isotropic(self.shear, self.bulk);
        };
        let mut d = isotropic(self.shear * kept, self.bulk);
        for i in 0..6 {
            for j in 0..6 {
                d[i][j] -= 2.0 * self.shear * along * n[i] * n[j];
            }
        }
        d
    }

    /// Stored energy of a point (J/m^3).
    fn density(&self, e: &[f64; 6], internal: &[f64; VARIABLES]) -> f64 {
        let third = (e[0] + e[1] + e[2]) / 3.0;
        let half = |k: usize, x: f64| if k < 3 { x - third } else { 0.5 * x };
        let own = |k: usize| if k < 3 { internal[k] } else { 0.5 * internal[k] };
        let elastic: [f64; 6] = std::array::from_fn(|k| half(k, e[k]) - own(k));
        let plastic: [f64; 6] = std::array::from_fn(own);
        4.5 * self.bulk * third * third
            + self.shear * norm(&elastic).powi(2)
            + self.plasticity.kinematic / 3.0 * norm(&plastic).powi(2)
            + self.plasticity.stored(internal[6])
    }
}

/// Of a symmetric tensor.
fn norm(s: &[f64; 6]) -> f64 {
    let square = |k: usize| s[k] * s[k];
    ((0..3).map(square).sum::<f64>() + 2.0 * (3..6).map(square).sum::<f64>()).sqrt()
}

const FRESH: [f64; VARIABLES] = [0.0; VARIABLES];

impl ForceField for ElasticPlastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, STRAINS, space, &self.volumes, count)?;
        check_positive(name, Field::ShearModulus, self.shear)?;
        check_finite(name, Field::BulkModulus, self.bulk)?;
        let holds = self.bulk > 0.0 || self.deviatoric && self.bulk == 0.0;
        let bound = "positive (Poisson's ratio above -1 and below 1/2)";
        check_range(name, Field::BulkModulus, self.bulk, holds, bound)?;
        self.plasticity.check(name)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let one = |(e, v): (&[f64; 6], &f64)| v * self.density(e, &self.to_surface(e, &FRESH).internal);
        x.as_chunks::<6>().0.iter().zip(&self.volumes).map(one).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes);
        for (f, (e, v)) in f.as_chunks_mut::<6>().0.iter_mut().zip(points) {
            for (f, s) in f.iter_mut().zip(self.to_surface(e, &FRESH).stress) {
                *f -= v * s;
            }
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (q, (e, v)) in x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate() {
            write(&self.tangent(&self.to_surface(e, &FRESH)), *v, out.block_mut(q));
        }
        Ok(())
    }

    fn is_damped(&self) -> bool {
        false
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }
}

fn write(d: &[[f64; 6]; 6], volume: f64, block: &mut [f64]) {
    for (o, d) in block.iter_mut().zip(d.as_flattened()) {
        *o += volume * d;
    }
}

impl Memory for ElasticPlastic {
    fn size(&self, count: usize) -> usize {
        count * VARIABLES
    }

    fn yields(&self) -> bool {
        true
    }

    fn begin(&self, _space: Space, _x: &[f64], internal: &mut [f64]) {
        internal.fill(0.0);
    }

    fn energy(&self, At { x, .. }: At<'_>, internal: &[f64]) -> f64 {
        let points = x
            .as_chunks::<6>()
            .0
            .iter()
            .zip(internal.as_chunks().0)
            .zip(&self.volumes);
        points
            .map(|((e, past), v)| v * self.density(e, &self.to_surface(e, past).internal))
            .sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, past: Past<'_>, f: &mut [f64]) {
        let points = x
            .as_chunks::<6>()
            .0
            .iter()
            .zip(past.internal.as_chunks().0)
            .zip(&self.volumes);
        for (f, ((e, past), v)) in f.as_chunks_mut::<6>().0.iter_mut().zip(points) {
            for (f, s) in f.iter_mut().zip(self.to_surface(e, past).stress) {
                *f -= v * s;
            }
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, past: Past<'_>, out: &mut Blocks) {
        let points = x
            .as_chunks::<6>()
            .0
            .iter()
            .zip(past.internal.as_chunks().0)
            .zip(&self.volumes);
        for (q, ((e, past), v)) in points.enumerate() {
            write(&self.tangent(&self.to_surface(e, past)), *v, out.block_mut(q));
        }
    }

    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        let points = x
            .as_chunks::<6>()
            .0
            .iter()
            .zip(past.internal.as_chunks().0)
            .zip(&self.volumes);
        for (new, ((e, past), v)) in new.as_chunks_mut::<VARIABLES>().0.iter_mut().zip(points) {
            let at = self.to_surface(e, past);
            dissipated += v * self.plasticity.yield_stress * at.passed;
            *new = at.internal;
        }
        dissipated
    }
}
