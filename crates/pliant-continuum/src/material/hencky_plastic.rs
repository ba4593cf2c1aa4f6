//! Plasticity of von Mises at finite strains.

use super::hencky::slopes;
use super::plastic::ROOT_OF_TWO_THIRDS;
use super::principal::{Isotropic, Principal};
use super::{GRADIENTS, Plasticity, check_points, shear_and_bulk};
use crate::strain::{matrix, stress_matrix, write_matrix};
use pliant_dense::{Mat3, Vec3};
use pliant_model::validate::{check_bound, check_not_negative, check_positive};
use pliant_model::{At, Blocks, Field, ForceField, Memory, ModelError, NotInvertible, Past, Space};

/// Elasticity and plasticity of von Mises on deformation gradients at finite strains,
/// rate-independent.
///
/// **Equation.** `F = F_e F_p` (Lee 1969) with `det F_p = 1`, Hencky's energy
/// `mu sum_i e_i^2 + k (ln J)^2/2` (Pa) of the logarithms `e_i` of the stretches of `F_e` without
/// their mean, and its Kirchhoff stress `tau`. Where `sqrt(3/2) |dev(tau)| = s(p)` the metal flows
/// along `dev(tau)`, with the isotropic hardening of a [`Plasticity`]. Over a step: the exponential
/// map (Weber and Anand 1990, Simo 1992), with which `ln F_e` of the trial `F F_p^-1` returns along
/// its radius as small strains do, and the volume is kept whatever the step; exact where principal
/// directions of stress stay with the metal. The stress is the derivative of an incremental energy
/// (Ortiz and Stainier 1999), so that the consistent tangent is symmetric. Energy
/// `V (mu sum_i e_i^2 + k (ln J)^2/2 + integral of s - s_0 over p)` (J) with the volume `V` (m^3) of
/// the point at rest, dissipation `V s_0 dp`. Remembered are `C_p^-1 = (F_p^T F_p)^-1` and `p`: seven
/// numbers.
///
/// **Use.** Metals that are drawn, forged, crushed: necking, impact. On gradients, at any strain
/// and rotation; an inverted point has no force (not a number). As metal flows without change of
/// volume, elements lock: take hexahedra of eight nodes with volume rows per element, or of twenty
/// without. Kinematic hardening is one of small strains ([`ElasticPlastic`]). Methods are those of
/// [`ElasticPlastic`].
///
/// [`ElasticPlastic`]: crate::ElasticPlastic
#[derive(Clone, Debug, PartialEq)]
pub struct HenckyPlastic {
    shear: f64,
    bulk: f64,
    plasticity: Plasticity,
    volumes: Vec<f64>,
}

/// Internal variables of a point: `C_p^-1` (xx, yy, zz, xy, yz, zx) and the plastic strain that has
/// passed.
const VARIABLES: usize = 7;

const FRESH: [f64; VARIABLES] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];

/// A point after the return to the yield surface.
struct Returned {
    /// Trial stretches, with `F_p^-1 N_i` in the place of the directions `N_i` at rest.
    principal: Principal,
    /// Principal Kirchhoff stresses (Pa).
    stress: [f64; 3],
    /// Elastic logarithmic strains without their mean, and that of the volume.
    elastic: [f64; 3],
    volume: f64,
    internal: [f64; VARIABLES],
    /// Plastic strain that passed.
    passed: f64,
    /// The share of the trial deviator that is left.
    kept: f64,
    /// The direction of flow and its factor in the tangent; `None` where it is elastic.
    flow: Option<([f64; 3], f64)>,
}

impl HenckyPlastic {
    /// Young's modulus (Pa) and Poisson's ratio (none) above -1 and below 1/2 of small strains, when
    /// it yields, and the volume (m^3) of each point at rest.
    pub fn isotropic(young: f64, poisson: f64, plasticity: Plasticity, volumes: &[f64]) -> Self {
        let (shear, bulk) = shear_and_bulk(young, poisson);
        Self::new(shear, bulk, plasticity, volumes)
    }

    /// Shear and bulk modulus (Pa) of small strains, when it yields, and the volume (m^3) of each
    /// point at rest. Without a bulk modulus it leaves the volume to others.
    pub fn new(shear: f64, bulk: f64, plasticity: Plasticity, volumes: &[f64]) -> Self {
        Self {
            shear,
            bulk,
            plasticity,
            volumes: volumes.to_vec(),
        }
    }

    /// First Piola-Kirchhoff stress (Pa) of each point at these gradients (none), nine numbers each,
    /// rows first, from these internal variables.
    pub fn stresses(&self, gradients: &[f64], internal: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; gradients.len()];
        let points = gradients.as_chunks().0.iter().zip(internal.as_chunks().0);
        for (out, (f, past)) in out.chunks_exact_mut(9).zip(points) {
            write_matrix(&self.stress(f, past), out);
        }
        out
    }

    /// The internal variables of so many points that have not yielded yet.
    pub fn fresh(count: usize) -> Vec<f64> {
        FRESH.repeat(count)
    }

    /// The plastic strain that has passed at each point (none), of these internal variables.
    pub fn passed(internal: &[f64]) -> impl Iterator<Item = f64> + '_ {
        internal.as_chunks::<VARIABLES>().0.iter().map(|point| point[6])
    }

    /// None where the volume is not positive.
    fn to_surface(&self, f: &[f64; 9], past: &[f64; VARIABLES]) -> Option<Returned> {
        let f = matrix(f);
        // Any root does: the law is isotropic.
        let root = root(past)?;
        let principal = Principal::of(&(f * root))?.behind(&root);
        let volume = principal.logs.iter().sum::<f64>();
        let trial = principal.deviator();
        let (g, p) = (self.shear, past[6]);
        let sphere = |stress: [f64; 3]| stress.map(|s| s + self.bulk * volume);
        let size = 2.0 * g * length(&trial);
        let radius = ROOT_OF_TWO_THIRDS * self.plasticity.at(p).0;
        // What rounding makes of stresses is not flow: a point that has returned stays.
        let rounding = 1e-12 * radius + 16.0 * f64::EPSILON * g * f.norm() * root.norm();
        if size - radius <= rounding || size.is_nan() {
            return Some(Returned {
                stress: sphere(trial.map(|e| 2.0 * g * e)),
                elastic: trial,
                volume,
                internal: *past,
                passed: 0.0,
                kept: 1.0,
                flow: None,
                principal,
            });
        }
        let flow = self.plasticity.flow(size, 2.0 * g, p);
        let passed = ROOT_OF_TWO_THIRDS * flow;
        let direction = trial.map(|e| 2.0 * g * e / size);
        let kept = 1.0 - 2.0 * g * flow / size;
        let slope = self.plasticity.at(p + passed).1;
        let along = 1.0 / (1.0 + slope / (3.0 * g)) - (1.0 - kept);
        let mut internal = grown(&principal.before, &direction.map(|n| (-2.0 * flow * n).exp()));
        internal[6] = p + passed;
        Some(Returned {
            stress: sphere(trial.map(|e| 2.0 * g * kept * e)),
            elastic: trial.map(|e| kept * e),
            volume,
            internal,
            passed,
            kept,
            flow: Some((direction, along)),
            principal,
        })
    }

    fn stress(&self, f: &[f64; 9], past: &[f64; VARIABLES]) -> Mat3 {
        let found = self.to_surface(f, past);
        found.map_or(Mat3::repeat(f64::NAN), |at| at.principal.stress(&at.stress))
    }

    fn subtract_force(&self, f: &[f64; 9], past: &[f64; VARIABLES], volume: f64, out: &mut [f64; 9]) {
        let mut stress = [0.0; 9];
        write_matrix(&self.stress(f, past), &mut stress);
        for (o, s) in out.iter_mut().zip(stress) {
            *o -= volume * s;
        }
    }

    fn write_tangent(&self, f: &[f64; 9], past: &[f64; VARIABLES], volume: f64, block: &mut [f64]) {
        let Some(at) = self.to_surface(f, past) else {
            block.fill(f64::NAN);
            return;
        };
        let left = self.shear * at.kept;
        let mut slopes = slopes(left, self.bulk);
        if let Some((n, along)) = at.flow {
            for i in 0..3 {
                for j in 0..3 {
                    slopes[i][j] -= 2.0 * self.shear * along * n[i] * n[j];
                }
            }
        }
        let law = Isotropic {
            stress: at.stress,
            slopes,
            turns: at.principal.quotients().map(|q| 2.0 * left * q),
        };
        at.principal.add_tangent(&law, block);
        block.iter_mut().for_each(|k| *k *= volume);
    }

    /// Stored energy of a point (J/m^3).
    fn density(&self, f: &[f64; 9], past: &[f64; VARIABLES]) -> f64 {
        self.to_surface(f, past).map_or(f64::NAN, |at| {
            self.shear * length(&at.elastic).powi(2)
                + 0.5 * self.bulk * at.volume * at.volume
                + self.plasticity.stored(at.internal[6])
        })
    }
}

fn length(e: &[f64; 3]) -> f64 {
    e.iter().map(|e| e * e).sum::<f64>().sqrt()
}

/// Cholesky's root `L` of `C_p^-1 = L L^T`, which is `F_p^-1` but for a rotation behind it.
fn root(past: &[f64; VARIABLES]) -> Option<Mat3> {
    Some(stress_matrix(&past[..6]).cholesky()?.l())
}

/// `sum_i w_i M_i M_i^T` of factors that multiply to one, of the volume that all of its kind have:
/// rounding does not add up over steps.
fn grown(directions: &[Vec3; 3], factors: &[f64; 3]) -> [f64; VARIABLES] {
    let sum: Mat3 = directions
        .iter()
        .zip(factors)
        .map(|(m, w)| m * m.transpose() * *w)
        .sum();
    let s = sum / sum.determinant().cbrt();
    [
        s[(0, 0)],
        s[(1, 1)],
        s[(2, 2)],
        s[(0, 1)],
        s[(1, 2)],
        s[(0, 2)],
        0.0,
    ]
}

impl ForceField for HenckyPlastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, GRADIENTS, space, &self.volumes, count)?;
        check_positive(name, Field::ShearModulus, self.shear)?;
        check_not_negative(name, Field::BulkModulus, self.bulk)?;
        self.plasticity.check(name)?;
        let bound = "zero at finite strains, where hardening is isotropic";
        let moved = self.plasticity.kinematic_hardening();
        check_bound(name, Field::KinematicHardening, moved, bound, moved == 0.0)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let points = x.as_chunks::<9>().0.iter().zip(&self.volumes);
        points.map(|(f, v)| v * self.density(f, &FRESH)).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<9>().0.iter().zip(&self.volumes);
        for (out, (f, v)) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            self.subtract_force(f, &FRESH, *v, out);
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (q, (f, v)) in x.as_chunks::<9>().0.iter().zip(&self.volumes).enumerate() {
            self.write_tangent(f, &FRESH, *v, out.block_mut(q));
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

impl HenckyPlastic {
    /// Gradients, internal variables and volumes of the points.
    fn points<'a>(
        &'a self,
        x: &'a [f64],
        internal: &'a [f64],
    ) -> impl Iterator<Item = (&'a [f64; 9], &'a [f64; VARIABLES], f64)> {
        let points = x.as_chunks().0.iter().zip(internal.as_chunks().0);
        points.zip(&self.volumes).map(|((f, past), v)| (f, past, *v))
    }
}

impl Memory for HenckyPlastic {
    fn size(&self, count: usize) -> usize {
        count * VARIABLES
    }

    fn yields(&self) -> bool {
        true
    }

    fn begin(&self, _space: Space, _x: &[f64], internal: &mut [f64]) {
        internal.as_chunks_mut().0.fill(FRESH);
    }

    fn energy(&self, At { x, .. }: At<'_>, internal: &[f64]) -> f64 {
        let points = self.points(x, internal);
        points.map(|(f, past, v)| v * self.density(f, past)).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, past: Past<'_>, f: &mut [f64]) {
        let points = self.points(x, past.internal);
        for (out, (f, past, v)) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            self.subtract_force(f, past, v, out);
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, past: Past<'_>, out: &mut Blocks) {
        for (q, (f, past, v)) in self.points(x, past.internal).enumerate() {
            self.write_tangent(f, past, v, out.block_mut(q));
        }
    }

    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        let points = self.points(x, past.internal);
        for (new, (f, past, v)) in new.as_chunks_mut::<VARIABLES>().0.iter_mut().zip(points) {
            let Some(at) = self.to_surface(f, past) else {
                *new = *past;
                dissipated = f64::NAN;
                continue;
            };
            dissipated += v * self.plasticity.first() * at.passed;
            *new = at.internal;
        }
        dissipated
    }
}
