//! Hyperelastic materials on deformation gradients.

use super::energies::Derivatives;
use super::ogden::Principal;
use super::{GRADIENTS, PronySeries, PronyTerm, StrainEnergy, check_points};
use crate::checks::check_range;
use crate::strain::{Polar, add_determinant_hessian, cofactors, matrix, write_matrix};
use pliant_dense::eigen::map_eigenvalues;
use pliant_dense::{Mat3, Vec3, skew};
use pliant_model::{
    At, Blocks, Field, ForceField, ForceFieldPieces, Memory, ModelError, NotInvertible, Space,
};
use std::ops::Range;

/// The rule for the tangent of a material where it is indefinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "tangent")
)]
pub enum Tangent {
    /// The exact tangent.
    #[default]
    Exact,
    /// Negative eigenvalues of each point become zero. The force stays exact; a step is another,
    /// more damped one where [`Hyperelastic::indefinite_points`] is not zero, which reports of
    /// steps say ([`ForceField::projected_elements`]).
    PositiveSemidefinite,
}

/// A hyperelastic material on deformation gradients.
///
/// **Equation.** Energy `V w(F)` (J) with the density `w` (Pa) of a [`StrainEnergy`] and the volume
/// `V` (m^3) of the point; force `-V P` with the first Piola-Kirchhoff stress `P = dw/dF`,
/// `K = V d2w/dF2` exactly, through the derivatives of the invariants or principal stretches.
///
/// With a Prony series ([`with_relaxation`](Hyperelastic::with_relaxation)) `P = F S` with
/// `S = S_e - sum_i (g_i S_e - h_i)`, `dh_i/dt = g_i dS_e/dt - h_i/tau_i` for the second
/// Piola-Kirchhoff stress `S_e` of the energy (Fung 1967), exactly for stresses `S_e` that grow
/// evenly over a step.
///
/// **Use.** Rubber and tissue at large strains: neo-Hookean, stable neo-Hookean, Mooney-Rivlin,
/// Ogden; the corotational material as a stiffness. What relaxes is not defined where the volume
/// vanishes.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperelastic {
    energy: StrainEnergy,
    volumes: Vec<f64>,
    tangent: Tangent,
    series: Option<PronySeries>,
}

impl Hyperelastic {
    /// The energy density (Pa) and the volume (m^3) of each point.
    pub fn new(energy: StrainEnergy, volumes: &[f64]) -> Self {
        Self {
            energy,
            volumes: volumes.to_vec(),
            tangent: Tangent::Exact,
            series: None,
        }
    }

    /// Makes its stress relax (quasi-linear viscoelasticity): the shares of the series are those of
    /// the whole second Piola-Kirchhoff stress, for shear and bulk the same; for bulk zero if the
    /// energy leaves the volume to others. The energy is that of fast strains.
    #[must_use]
    pub fn with_relaxation(mut self, series: PronySeries) -> Self {
        self.series = Some(series);
        self
    }

    pub(super) fn volumes(&self) -> &[f64] {
        &self.volumes
    }

    /// The series by which the stress relaxes.
    pub(super) fn terms(&self) -> &[PronyTerm] {
        self.series.as_ref().map_or(&[], PronySeries::terms)
    }

    /// The share of the stress that never relaxes.
    pub(super) fn long_time(&self) -> f64 {
        self.series.map_or(1.0, |s| s.long_time()[0])
    }

    /// The rule for an indefinite tangent.
    #[must_use]
    pub fn with_tangent(mut self, tangent: Tangent) -> Self {
        self.tangent = tangent;
        self
    }

    /// First Piola-Kirchhoff stress (Pa) of each point at these gradients (none), nine numbers
    /// each, rows first.
    pub fn stresses(&self, gradients: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; gradients.len()];
        for (f, out) in gradients.chunks_exact(9).zip(out.chunks_exact_mut(9)) {
            write_matrix(&self.stress(&matrix(f)), out);
        }
        out
    }

    /// Number of points at these gradients (none) whose exact tangent has a negative eigenvalue.
    pub fn indefinite_points(&self, gradients: &[f64]) -> usize {
        let points = gradients.as_chunks::<9>().0.iter();
        points
            .filter(|f| self.is_indefinite_at(&matrix(*f), StressShare::WHOLE))
            .count()
    }

    fn density(&self, f: &Mat3) -> f64 {
        if let StrainEnergy::Corotational { shear, lame } = self.energy {
            return corotational(f).map_or(f64::NAN, |(_, d, trace)| {
                shear * d.norm_squared() + 0.5 * lame * trace * trace
            });
        }
        let at = Invariants::of(f);
        let of_stretches = match &self.energy {
            StrainEnergy::Ogden { terms, .. } => Principal::of(f, terms).map_or(f64::NAN, |p| p.density()),
            _ => 0.0,
        };
        self.energy.at(at.i1, at.i2, at.j).value + of_stretches
    }

    pub(super) fn stress(&self, f: &Mat3) -> Mat3 {
        if let StrainEnergy::Corotational { shear, lame } = self.energy {
            return corotational(f).map_or_else(
                || Mat3::repeat(f64::NAN),
                |(p, d, trace)| d * (2.0 * shear) + p.r * (lame * trace),
            );
        }
        let at = Invariants::of(f);
        let w = self.energy.at(at.i1, at.i2, at.j).first;
        let of_invariants = at.gradients[0] * w[0] + at.gradients[1] * w[1] + at.gradients[2] * w[2];
        match &self.energy {
            StrainEnergy::Ogden { terms, .. } => {
                of_invariants + Principal::of(f, terms).map_or(Mat3::repeat(f64::NAN), |p| p.stress())
            }
            _ => of_invariants,
        }
    }

    /// Adds the exact tangent, 9 x 9 over the entries of `F`, rows first.
    fn add_tangent(&self, f: &Mat3, out: &mut [f64]) {
        if let StrainEnergy::Corotational { shear, lame } = self.energy {
            match corotational(f) {
                Some((p, _, trace)) => add_corotational_tangent(&p, trace, shear, lame, out),
                None => out.fill(f64::NAN),
            }
            return;
        }
        let at = Invariants::of(f);
        let Derivatives { first, second, .. } = self.energy.at(at.i1, at.i2, at.j);
        let [g1, g2, gj] = at.gradients.map(|g| {
            let mut list = [0.0; 9];
            write_matrix(&g, &mut list);
            list
        });
        let [w11, w12, w1j, w22, w2j, wjj] = second;
        for a in 0..9 {
            let (h1, h2, hj) = (
                w11 * g1[a] + w12 * g2[a] + w1j * gj[a],
                w12 * g1[a] + w22 * g2[a] + w2j * gj[a],
                w1j * g1[a] + w2j * g2[a] + wjj * gj[a],
            );
            for b in 0..9 {
                out[9 * a + b] += h1 * g1[b] + h2 * g2[b] + hj * gj[b];
            }
            out[10 * a] += 2.0 * first[0];
        }
        add_determinant_hessian(f, first[2], out);
        if first[1] != 0.0 {
            add_second_invariant_hessian(f, at.i1, first[1], out);
        }
        if let StrainEnergy::Ogden { terms, .. } = &self.energy {
            match Principal::of(f, terms) {
                Some(p) => p.add_tangent(out),
                None => out.fill(f64::NAN),
            }
        }
    }
}

/// Places and weights of the formula of Gauss with three points on `[0, 1]`.
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 5.0 / 18.0),
    (0.5, 4.0 / 9.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// The change of `C` up to which three points miss less than rounding of the moduli.
const STRAIGHT: f64 = 0.03;

/// Roundings of an energy density that the work of a mean stress may miss it by.
const ROUNDINGS: f64 = 64.0;

impl Hyperelastic {
    /// The mean of the first Piola-Kirchhoff stress along a displacement from `F` to `F+` (Pa),
    /// `P : (F+ - F) = w+ - w`, that keeps angular momentum (Simo and Tarnow 1992, Gonzalez 2000):
    ///
    /// ```math
    /// P = (F + F+)/2 S,   S = integral of S(C + s (C+ - C)) over s from 0 to 1,   C = F^T F
    /// ```
    ///
    /// by three points of Gauss, with what that misses of the energy for larger changes of `C`
    /// along `C+ - C`. Between gradients of opposite determinants, where stress is no function of
    /// `C`, the middle of the way is that of `F`, and angular momentum is kept to second order.
    fn chord_stress(&self, [start, end]: [Mat3; 2]) -> Mat3 {
        let mean = (start + end) * 0.5;
        let c = start.transpose() * start;
        // Without the cancellation of F+^T F+ - F^T F.
        let half = mean.transpose() * (end - start);
        let change = half + half.transpose();
        let sides = [start, end].map(|f| f.determinant().signum());
        let energies = [self.density(&start), self.density(&end)];
        let gained = energies[1] - energies[0];
        let noise = ROUNDINGS * f64::EPSILON * (energies[0].abs() + energies[1].abs());
        if sides[0] == sides[1]
            && let Some(mut s) = self.mean_stress(&c, &change, sides[0])
        {
            let missed = gained - 0.5 * s.dot(&change);
            let square = change.norm_squared();
            if missed.abs() > noise && square > STRAIGHT * STRAIGHT {
                s += change * (2.0 * missed / square);
            }
            return mean * s;
        }
        let mut p = Mat3::zeros();
        for (place, weight) in GAUSS {
            p += self.stress(&(start + (end - start) * place)) * weight;
        }
        let way = end - start;
        let missed = gained - p.dot(&way);
        if missed.abs() > noise && way.norm_squared() > 0.0 {
            p += way * (missed / way.norm_squared());
        }
        p
    }

    /// The mean of the second Piola-Kirchhoff stress along `C + s dC` (Pa), for gradients whose
    /// determinants have this sign; `None` where one of them vanishes.
    fn mean_stress(&self, c: &Mat3, change: &Mat3, sign: f64) -> Option<Mat3> {
        let mut out = Mat3::zeros();
        for (place, weight) in GAUSS {
            // Any F with F^T F = C gives S: that of Cholesky.
            let f = (c + change * place).cholesky()?.l().transpose() * sign;
            out += f.try_inverse()? * self.stress(&f) * weight;
        }
        Some((out + out.transpose()) * 0.5)
    }
}

/// The stress of a point: a share of that of the energy and, beside it, a second Piola-Kirchhoff
/// stress that does not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct StressShare<'a> {
    /// The share (none).
    pub(super) share: f64,
    /// The stress (Pa) that is carried along, if there is any.
    pub(super) carried: Option<&'a Mat3>,
}

impl StressShare<'_> {
    /// The stress of the energy alone.
    pub(super) const WHOLE: Self = Self {
        share: 1.0,
        carried: None,
    };
}

impl Hyperelastic {
    /// Writes the tangent of a point under such a stress.
    pub(super) fn write_tangent(&self, f: &Mat3, stress: StressShare<'_>, volume: f64, block: &mut [f64]) {
        self.add_tangent_with(f, stress, block);
        if self.tangent == Tangent::PositiveSemidefinite && is_indefinite(block) {
            map_eigenvalues(9, block, &mut [0.0; 162], |d| d.max(0.0));
        }
        block.iter_mut().for_each(|k| *k *= volume);
    }

    /// The rule for an indefinite tangent.
    pub(super) fn tangent(&self) -> Tangent {
        self.tangent
    }

    /// Whether the exact tangent of a point is indefinite.
    pub(super) fn is_indefinite_at(&self, f: &Mat3, stress: StressShare<'_>) -> bool {
        let mut k = [0.0; 81];
        self.add_tangent_with(f, stress, &mut k);
        is_indefinite(&k)
    }

    /// Adds the tangent of a share of the stress and of what is carried, per volume.
    fn add_tangent_with(&self, f: &Mat3, stress: StressShare<'_>, block: &mut [f64]) {
        let StressShare { share, carried } = stress;
        self.add_tangent(f, block);
        if let Some(s) = carried {
            block.iter_mut().for_each(|k| *k *= share);
            for i in 0..3 {
                for j in 0..3 {
                    for l in 0..3 {
                        block[(3 * i + j) * 9 + 3 * i + l] += s[(l, j)];
                    }
                }
            }
        }
    }
}

/// Whether a symmetric 9 x 9 matrix has an eigenvalue below `-1e-12` times its largest diagonal
/// entry (rotations of a point without stress are eigenvectors of zero): whether Cholesky's
/// factorisation, moved up by as much, ends.
fn is_indefinite(k: &[f64]) -> bool {
    let largest = (0..9).fold(0.0f64, |a, i| a.max(k[10 * i].abs()));
    let mut l = [0.0; 81];
    for i in 0..9 {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|c| l[9 * i + c] * l[9 * j + c]).sum();
            let rest = k[9 * i + j] - dot;
            if j < i {
                l[9 * i + j] = rest / l[10 * j];
                continue;
            }
            let pivot = rest + 1e-12 * largest;
            if pivot <= 0.0 {
                return k.iter().any(|k| *k != 0.0);
            }
            l[10 * i] = pivot.sqrt();
        }
    }
    false
}

/// The polar decomposition, `F - R` and `tr(U - I)`.
fn corotational(f: &Mat3) -> Option<(Polar, Mat3, f64)> {
    let p = Polar::of(f)?;
    let d = f - p.r;
    // R : (F - R) keeps the digits of small strains.
    Some((p, d, p.r.dot(&d)))
}

/// Adds the derivative of `2 mu (F - R) + l tr(U - I) R`:
/// `2 mu dF + l R (R : dF) + (l tr(U - I) - 2 mu) dR`, where `dR = sum_kl R E_k T_kl (R E_l : dF)`
/// with the generators `E_k` of rotations and `T` the inverse of `tr(U) I - U`.
fn add_corotational_tangent(p: &Polar, trace: f64, shear: f64, lame: f64, out: &mut [f64]) {
    let list = |m: &Mat3| {
        let mut list = [0.0; 9];
        write_matrix(m, &mut list);
        list
    };
    let r = list(&p.r);
    let turned = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| list(&(p.r * skew(axis))));
    let turn = p.turn * (lame * trace - 2.0 * shear);
    for a in 0..9 {
        let row: [f64; 3] = std::array::from_fn(|l| (0..3).map(|k| turned[k][a] * turn[(k, l)]).sum());
        for b in 0..9 {
            out[9 * a + b] += lame * r[a] * r[b] + (0..3).map(|l| row[l] * turned[l][b]).sum::<f64>();
        }
        out[10 * a] += 2.0 * shear;
    }
}

/// Invariants of `F` and their gradients.
struct Invariants {
    i1: f64,
    i2: f64,
    j: f64,
    gradients: [Mat3; 3],
}

impl Invariants {
    fn of(f: &Mat3) -> Self {
        let c = f.transpose() * f;
        let i1 = c.trace();
        Self {
            i1,
            i2: 0.5 * (i1 * i1 - c.norm_squared()),
            j: f.determinant(),
            gradients: [f * 2.0, (f * i1 - f * c) * 2.0, cofactors(f)],
        }
    }
}

/// Adds `s` times the second derivative of `I2`:
/// `dF -> 2 (2 (F : dF) F + I1 dF - dF C - F dF^T F - F F^T dF)`.
fn add_second_invariant_hessian(f: &Mat3, i1: f64, s: f64, out: &mut [f64]) {
    let (b, c) = (f * f.transpose(), f.transpose() * f);
    for i in 0..3 {
        for j in 0..3 {
            for k in 0..3 {
                for l in 0..3 {
                    let mut sum = 2.0 * f[(i, j)] * f[(k, l)] - f[(i, l)] * f[(k, j)];
                    if i == k {
                        sum -= c[(l, j)];
                    }
                    if j == l {
                        sum -= b[(i, k)];
                    }
                    if i == k && j == l {
                        sum += i1;
                    }
                    out[(3 * i + j) * 9 + 3 * k + l] += 2.0 * s * sum;
                }
            }
        }
    }
}

impl ForceField for Hyperelastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        self.energy.check(name)?;
        if let Some(series) = &self.series {
            series.check(name)?;
            let isochoric = self.energy.volume_part() == Some(0.0);
            for term in series.terms() {
                let (holds, bound) = if isochoric {
                    (term.bulk == 0.0, "zero, for the volume is left to others")
                } else {
                    (
                        term.bulk == term.shear,
                        "that of shear, for the whole stress relaxes",
                    )
                };
                check_range(name, Field::BulkShares, term.bulk, holds, bound)?;
            }
        }
        check_points(name, GRADIENTS, space, &self.volumes, count)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let share = self.long_time();
        let one = |(f, volume): (&[f64; 9], &f64)| volume * share * self.density(&matrix(f));
        x.as_chunks::<9>().0.iter().zip(&self.volumes).map(one).sum()
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        ForceFieldPieces::add_force(self, at, 0..self.volumes.len(), f);
    }

    fn add_chord_force(&self, ends: [At<'_>; 2], _room: &mut [f64], f: &mut [f64]) {
        let [start, end] = ends.map(|at| at.x.as_chunks::<9>().0.iter());
        let points = start.zip(end).zip(&self.volumes);
        for (out, ((start, end), volume)) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            let stress = self.chord_stress([start, end].map(|f| matrix(f)));
            let volume = volume * self.long_time();
            for i in 0..3 {
                for j in 0..3 {
                    out[3 * i + j] -= volume * stress[(i, j)];
                }
            }
        }
    }

    fn stiffness(&self, at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (q, x) in at.x.chunks_exact(9).enumerate() {
            ForceFieldPieces::stiffness(self, At { x, ..at }, q..q + 1, out.block_mut(q))?;
        }
        Ok(())
    }

    fn is_damped(&self) -> bool {
        false
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn projected_elements(&self, At { x, .. }: At<'_>) -> usize {
        if self.tangent == Tangent::Exact {
            return 0;
        }
        self.indefinite_points(x)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        self.series.is_some().then_some(self as &dyn Memory)
    }

    fn pieces(&self) -> Option<&dyn ForceFieldPieces> {
        self.series.is_none().then_some(self as &dyn ForceFieldPieces)
    }
}

impl ForceFieldPieces for Hyperelastic {
    fn add_force(&self, At { x, .. }: At<'_>, elements: Range<usize>, f: &mut [f64]) {
        let points = x.as_chunks::<9>().0.iter().zip(&self.volumes[elements]);
        for (out, (f, volume)) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            let (stress, volume) = (self.stress(&matrix(f)), volume * self.long_time());
            for i in 0..3 {
                for j in 0..3 {
                    out[3 * i + j] -= volume * stress[(i, j)];
                }
            }
        }
    }

    fn stiffness(
        &self,
        At { x, .. }: At<'_>,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), NotInvertible> {
        let points = x.as_chunks::<9>().0.iter().zip(&self.volumes[elements]);
        for (out, (f, volume)) in out.as_chunks_mut::<81>().0.iter_mut().zip(points) {
            self.write_tangent(&matrix(f), StressShare::WHOLE, volume * self.long_time(), out);
        }
        Ok(())
    }
}
