//! The change of volume of a solid whose resistance to it is rows: a part of the bulk modulus that
//! stays at the points, and rows of the rest.

use super::sums::Sum;
use super::{Incompressibility, Law, Solid, SolidParts, StrainMeasure};
use crate::patches::dilatation;
use crate::{ContinuumError, ElementKind, Mesh, Patches, VolumeEnergy, VolumeRatio};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{Dependency, DiagonalCompliance, Field, Formula, Model, NodeId, Treatment};

/// The largest share of the bulk modulus that stays at the points: rows have the rest, which has to
/// be some, for the compliance of a row is its inverse.
const MOST: f64 = 0.9;

/// How much of the bulk modulus stays at the points: `k_p = c mu`, or nine tenths of it if that is
/// less.
///
/// With the deviator `e` of the strain, its trace `t` and the mean `<t>` of that over a patch, the
/// energy is
///
/// ```math
/// mu |e|^2 + k_p t^2/2 + (k - k_p) <t>^2/2
/// ```
///
/// Without `k_p` the fields `u = 2 (a . x) x - |x|^2 a` have no energy where the mean of their
/// dilatation `6 a . x` is zero: their deviator is zero everywhere. Quadratic elements have such
/// fields, and hexahedra of eight nodes come close to them: one layer would bend far too easily.
/// Patch tests hold whatever `k_p` is, for a constant dilatation is its mean.
///
/// Elements of eight, six and five nodes have `c = 2/3`, so that rows have Lamé's first parameter
/// alone: the selective integration of Malkus and Hughes (1978). Quadratic elements with one row
/// have `c = 3`, a Poisson's ratio of 0.35 at the points, at which they do not lock yet. The strain
/// of linear tetrahedra is constant, so that a dilatation alone is no such field; they have none.
///
/// A material that yields has a tangent of shear that may be as small as it likes, beside which such a part
/// locks: it has none, and [`check_yielding`] refuses the elements that need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointwise(f64);

impl Pointwise {
    pub(super) fn of(solid: &Solid, mesh: &Mesh) -> Self {
        let all = |is: fn(ElementKind) -> bool| mesh.elements.iter().all(|e| is(e.kind));
        let none = solid.plasticity.is_some() || all(|kind| kind == ElementKind::Tet4);
        Self(
            match all(ElementKind::is_quadratic) && !all(ElementKind::has_linear_pressure) {
                _ if none => 0.0,
                true => 3.0,
                false => 2.0 / 3.0,
            },
        )
    }

    /// The bulk modulus (Pa) of the points, and the inverse (1/Pa) of that of the rows, of laws that
    /// add up.
    pub(super) fn split<'l>(self, laws: impl Iterator<Item = &'l Law>) -> [f64; 2] {
        let (mut shear, mut softness) = (0.0, f64::INFINITY);
        for law in laws {
            let (own_shear, own) = match law {
                Law::OfStrains { elasticity, .. } => (
                    elasticity.shear().unwrap_or(0.0),
                    elasticity.inverse_bulk().unwrap_or(0.0),
                ),
                Law::Hyperelastic(energy) => {
                    (energy.small_shear(), energy.volume_part().map_or(0.0, f64::recip))
                }
            };
            shear += own_shear;
            softness = beside(softness, own);
        }
        let wanted = self.0 * shear;
        match (wanted * softness).min(MOST) {
            // Hard rows, or as good as hard ones.
            0.0 => [wanted, softness],
            share => [share / softness, softness / (1.0 - share)],
        }
    }
}

/// The inverse of the sum of two bulk moduli, of their inverses.
fn beside(one: f64, other: f64) -> f64 {
    match (one, other) {
        (f64::INFINITY, rest) | (rest, f64::INFINITY) => rest,
        (0.0, _) | (_, 0.0) => 0.0,
        _ => one / (1.0 + one / other),
    }
}

/// Refuses what yields in quadratic elements with one row each, which have fields without energy.
pub(super) fn check_yielding(solid: &Solid, mesh: &Mesh) -> Result<(), ContinuumError> {
    let has_one_row = |kind: ElementKind| kind.is_quadratic() && !kind.has_linear_pressure();
    let per_element = solid.incompressibility == Incompressibility::PerElement;
    if per_element && solid.plasticity.is_some() && mesh.elements.iter().any(|e| has_one_row(e.kind)) {
        return Err(ContinuumError::Conflict {
            field: Field::Plasticity,
            with: "one volume row for each quadratic tetrahedron, prism or pyramid",
            reason: "they would bend without force; take rows per node (`incompressibility: PerNode`), quadratic hexahedra or no volume rows",
        });
    }
    Ok(())
}

/// Rows of volume on a solid: a mean of the change of volume each, weighted or not, with the
/// compliance `1/(k V)` of the bulk modulus `k` of the rows; of a logarithmic energy the logarithm of
/// the mean ratio of volumes, with the same compliance. Where it varies, `1/k` is the mean over
/// the patch: the dilatation of one pressure is.
pub(super) fn add_rows(
    sum: Sum<'_>,
    model: &mut Model,
    name: &str,
    patches: &Patches,
    parts: &mut SolidParts,
) -> Result<(), ContinuumError> {
    let label = format!("{name}.dilatations");
    let means = match (sum.measure(), parts.strains) {
        (Some(StrainMeasure::Small), Some(strains)) => {
            model.add_mapped(&label, &[strains], dilatation(patches, 3))?
        }
        _ => {
            let count = parts.volumes.len();
            let ratios = format!("{name}.volume_ratios");
            let ratios = model.add_mapped(&ratios, &[parts.gradients], VolumeRatio::new(count))?;
            add_part_apart(sum, model, name, ratios, parts)?;
            let means = model.add_mapped(&label, &[ratios], dilatation(patches, 1))?;
            let label = format!("{name}.log_dilatations");
            in_measure(sum.volume_energy(), model, &label, means, patches.volumes().len())?
        }
    };
    let values: Vec<f64> = sum.splits().map(|[_, softness]| softness).collect();
    let compliances: Vec<f64> = match values[..] {
        [value] => patches.volumes().iter().map(|v| value / v).collect(),
        _ => {
            let means = patches.means(&values);
            means
                .iter()
                .zip(patches.volumes())
                .map(|(mean, v)| mean / v)
                .collect()
        }
    };
    let law = DiagonalCompliance::new(&compliances).with_relaxation_time(sum.terms[0].solid.relaxation_time);
    let rows = model.add_force_field(&format!("{name}.volume"), means, law, Treatment::Compliance)?;
    parts.dilatations = Some(means);
    parts.volume = Some(rows);
    parts.patch_volumes = patches.volumes().to_vec();
    Ok(())
}

/// The pointwise part beside a hyperelastic law that relaxes as a whole: it does not.
fn add_part_apart(
    sum: Sum<'_>,
    model: &mut Model,
    name: &str,
    ratios: NodeId,
    parts: &SolidParts,
) -> Result<(), ContinuumError> {
    if !is_apart(&sum.terms[0].solid) || sum.pointwise.0 == 0.0 {
        return Ok(());
    }
    let label = format!("{name}.log_ratios");
    let ratios = in_measure(sum.volume_energy(), model, &label, ratios, parts.volumes.len())?;
    let bulk: Vec<f64> = sum.splits().map(|[at_points, _]| at_points).collect();
    let compliances: Vec<f64> = bulk
        .iter()
        .cycle()
        .zip(&parts.volumes)
        .map(|(k, v)| 1.0 / (k * v))
        .collect();
    let law = DiagonalCompliance::new(&compliances);
    model.add_force_field(
        &format!("{name}.volume_points"),
        ratios,
        law,
        Treatment::Stiffness,
    )?;
    Ok(())
}

/// The node on which an energy of the volume is `k/2 x^2`: changes of volume `x = J - 1` themselves, or
/// a node of their logarithms `x = ln J`.
fn in_measure(
    energy: VolumeEnergy,
    model: &mut Model,
    label: &str,
    changes: NodeId,
    count: usize,
) -> Result<NodeId, ContinuumError> {
    if energy == VolumeEnergy::Quadratic {
        return Ok(changes);
    }
    let each = (0..count).map(|e| vec![Dependency::new(0, e)]).collect();
    // Keeps the digits of small changes; a ratio that is not positive has none.
    let logarithm = |x: &[Dual], out: &mut [Dual]| out[0] = x[0].ln_1p();
    Ok(model.add_mapped(label, &[changes], Formula::new(1, each, logarithm))?)
}

/// Whether the pointwise part is a component of its own.
pub(super) fn is_apart(solid: &Solid) -> bool {
    matches!(solid.law, Law::Hyperelastic(_)) && solid.series.is_some()
}

impl Solid {
    /// Whether the resistance to change of volume is rows.
    pub(super) fn has_volume_rows(&self) -> bool {
        self.incompressibility != Incompressibility::None
    }
}
