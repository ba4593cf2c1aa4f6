//! Hyperelastic materials on deformation gradients.

use super::chord::{OfGradient, add_chord_force};
use super::volumetric::PointEnergy;
use super::{GRADIENTS, PronySeries, PronyTerm, StrainEnergy, VolumeEnergy, check_points, of_points};
use crate::checks::check_range;
use crate::strain::{matrix, write_matrix};
use pliant_dense::Mat3;
use pliant_dense::eigen::map_eigenvalues;
use pliant_model::validate::check_size;
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
/// A branch stores `g (w(E) - w(E_v) - S_e(E_v) : (E - E_v))` with Green and Lagrange's strain `E`
/// and that of its dashpot, `g S_e(E_v) = g S_e(E) - h`; it dissipates wherever `w` is convex in `E`.
/// Remembered are `S_e`, `E`, then the `h_i`, then the strains of the dashpots: six numbers each.
///
/// **Use.** Rubber and tissue at large strains: neo-Hookean, stable neo-Hookean, Mooney-Rivlin,
/// Yeoh, Arruda-Boyce, Veronda-Westmann, Ogden, fibre-reinforced, Fung, Costa; the corotational material
/// as a stiffness. What relaxes is not defined where the volume vanishes.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperelastic {
    /// One for all points, or one for each.
    energies: Vec<StrainEnergy>,
    volumes: Vec<f64>,
    volume: VolumeEnergy,
    tangent: Tangent,
    series: Option<PronySeries>,
}

impl Hyperelastic {
    /// The energy density (Pa) and the volume (m^3) of each point.
    pub fn new(energy: StrainEnergy, volumes: &[f64]) -> Self {
        Self::varying(&[energy], volumes)
    }

    /// A material that differs from point to point: the energy density (Pa) and the volume (m^3) of
    /// each point.
    pub fn varying(energies: &[StrainEnergy], volumes: &[f64]) -> Self {
        Self {
            energies: energies.to_vec(),
            volumes: volumes.to_vec(),
            volume: VolumeEnergy::Quadratic,
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

    /// The energy of a point.
    pub(super) fn energy_at(&self, point: usize) -> PointEnergy<'_> {
        PointEnergy {
            law: &self.energies[if self.energies.len() == 1 { 0 } else { point }],
            volume: self.volume,
        }
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

    /// Sets the energy of the change of volume, of energies that have a part of their bulk modulus
    /// which is of the volume alone; others, and Hencky's, keep their own.
    #[must_use]
    pub fn with_volume_energy(mut self, volume: VolumeEnergy) -> Self {
        self.volume = volume;
        self
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
        let points = gradients.chunks_exact(9).zip(out.chunks_exact_mut(9));
        for (q, (f, out)) in points.enumerate() {
            write_matrix(&self.energy_at(q).stress(&matrix(f)), out);
        }
        out
    }

    /// Number of points at these gradients (none) whose exact tangent has a negative eigenvalue.
    pub fn indefinite_points(&self, gradients: &[f64]) -> usize {
        let points = gradients.as_chunks::<9>().0.iter().enumerate();
        points
            .filter(|(q, f)| self.is_indefinite_at(*q, &matrix(*f), StressShare::WHOLE))
            .count()
    }
}

impl OfGradient for PointEnergy<'_> {
    fn density(&self, f: &Mat3) -> f64 {
        self.density(f)
    }

    fn stress(&self, f: &Mat3) -> Mat3 {
        self.stress(f)
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
    pub(super) fn write_tangent(
        &self,
        point: usize,
        f: &Mat3,
        stress: StressShare<'_>,
        volume: f64,
        block: &mut [f64],
    ) {
        self.energy_at(point).add_tangent_with(f, stress, block);
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
    pub(super) fn is_indefinite_at(&self, point: usize, f: &Mat3, stress: StressShare<'_>) -> bool {
        let mut k = [0.0; 81];
        self.energy_at(point).add_tangent_with(f, stress, &mut k);
        is_indefinite(&k)
    }
}

impl PointEnergy<'_> {
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

/// Adds `gain` times the stiffness of a point against changes of its shape to a block.
///
/// **Equation.** `K - I (x) S` with the tangent `K` (in `k`, which is overwritten) of the stress `P` by
/// the deformation gradient `F` and `S = F^-1 P`: zero for rotations `dF = w x F`, whose `dP` is
/// `w x P`. Directions in which it is negative, as at large strains, have none.
pub(super) fn add_shape_tangent(f: &Mat3, stress: &Mat3, k: &mut [f64; 81], gain: f64, block: &mut [f64]) {
    // An element without volume has no such stress.
    let second = f
        .try_inverse()
        .map_or_else(Mat3::zeros, |inverse| inverse * stress);
    for i in 0..3 {
        for j in 0..3 {
            for l in 0..3 {
                k[(3 * i + j) * 9 + 3 * i + l] -= second[(l, j)];
            }
        }
    }
    if is_indefinite(k) {
        map_eigenvalues(9, k, &mut [0.0; 162], |d| d.max(0.0));
    }
    block.iter_mut().zip(k.iter()).for_each(|(b, k)| *b += gain * k);
}

/// Whether a symmetric 9 x 9 matrix has an eigenvalue below `-1e-12` times its largest diagonal
/// entry (rotations of a point without stress are eigenvectors of zero): whether Cholesky's
/// factorisation, moved up by as much, ends.
pub(super) fn is_indefinite(k: &[f64]) -> bool {
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

impl ForceField for Hyperelastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        if self.energies.len() != 1 {
            let what = "energies, one for each quadrature point";
            check_size(name, Field::StrainEnergies, what, count, self.energies.len())?;
        }
        self.energies.iter().try_for_each(|energy| energy.check(name))?;
        if let Some(series) = &self.series {
            series.check(name)?;
            let isochoric = self.energies.iter().all(|e| e.volume_part() == Some(0.0));
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
        let points = x.as_chunks::<9>().0.iter().zip(&self.volumes).enumerate();
        points
            .map(|(q, (f, volume))| volume * share * self.energy_at(q).density(&matrix(f)))
            .sum()
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        ForceFieldPieces::add_force(self, at, 0..self.volumes.len(), f);
    }

    fn add_chord_force(&self, ends: [At<'_>; 2], _room: &mut [f64], f: &mut [f64]) {
        let [start, end] = ends.map(|at| at.x.as_chunks::<9>().0.iter());
        let points = start.zip(end).zip(&self.volumes).enumerate();
        for (out, (q, ((start, end), volume))) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            add_chord_force(&self.energy_at(q), volume * self.long_time(), [start, end], out);
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

    fn add_shape_damping(&self, At { x, .. }: At<'_>, rate: f64, damping: &mut Blocks) -> bool {
        let points = x.as_chunks::<9>().0.iter().zip(&self.volumes).enumerate();
        for (q, (f, volume)) in points {
            let (f, energy) = (matrix(f), self.energy_at(q));
            let mut k = [0.0; 81];
            energy.add_tangent(&f, &mut k);
            let gain = rate * volume * self.long_time();
            add_shape_tangent(&f, &energy.stress(&f), &mut k, gain, damping.block_mut(q));
        }
        true
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

    fn restrict(&self, _space: Space, elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(Self {
            energies: of_points(&self.energies, &elements),
            volumes: self.volumes[elements].to_vec(),
            volume: self.volume,
            tangent: self.tangent,
            series: self.series,
        }))
    }
}

impl ForceFieldPieces for Hyperelastic {
    fn add_force(&self, At { x, .. }: At<'_>, elements: Range<usize>, f: &mut [f64]) {
        let points = x.as_chunks::<9>().0.iter().zip(elements);
        for (out, (f, q)) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            let stress = self.energy_at(q).stress(&matrix(f));
            let volume = self.volumes[q] * self.long_time();
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
        let points = x.as_chunks::<9>().0.iter().zip(elements);
        for (out, (f, q)) in out.as_chunks_mut::<81>().0.iter_mut().zip(points) {
            let volume = self.volumes[q] * self.long_time();
            self.write_tangent(q, &matrix(f), StressShare::WHOLE, volume, out);
        }
        Ok(())
    }
}
