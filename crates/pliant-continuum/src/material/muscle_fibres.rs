//! Muscle in a solid: fibres on deformation gradients, with one activation.

use super::chord::{OfGradient, add_chord_force};
use super::hyperelastic::{add_shape_tangent, is_indefinite};
use super::muscle::Fibre;
use super::{GRADIENTS, MuscleLaw, Tangent, of_points};
use crate::strain::matrix;
use pliant_dense::Vec3;
use pliant_dense::eigen::map_eigenvalues;
use pliant_model::validate::{
    check_bound, check_finite, check_not_negative, check_positive, check_size, check_space,
};
use pliant_model::{At, Blocks, Field, ForceField, ForceFieldPieces, ModelError, NotInvertible, Space};
use std::ops::Range;

/// Fibres of a muscle in a solid, beside its material: what contracts of a muscle of finite
/// elements.
///
/// **Equation.** Energy `V w` (J) with the density `w` (Pa) of a [`MuscleLaw`] over the isochoric
/// stretch `l = J^(-1/3) |F n|` of the unit direction `n` of the fibres at rest, at the activation
/// `c a` (none) with the share `c` (none) of the point in that of the muscle, and the volume `V`
/// (m^3) of the point; force `-V dw/dF`, `K = V d2w/dF2` exactly. An
/// inverted point has no force (not a number). At a fixed activation the energy is conserved; the
/// energy of a change of activation is that of an input.
///
/// **Use.** Skeletal muscle, tongues and arms without bones, on the deformation gradients of a
/// [`Solid`](crate::Solid), whose own material is what surrounds the fibres. The activation, between
/// 0 and 1, is the input. `n` follows from [`SolidMuscle`](crate::SolidMuscle) in some elements of a
/// solid.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleFibres {
    /// One for all points, or one for each.
    laws: Vec<MuscleLaw>,
    /// Directions of size one, but for those that [`check`](ForceField::check) refuses.
    directions: Vec<Vec3>,
    volumes: Vec<f64>,
    /// One for all points, or one for each.
    shares: Vec<f64>,
    activation: f64,
    tangent: Tangent,
}

impl MuscleFibres {
    /// The law of the fibres, their directions at rest (none, of any length but zero), one for all
    /// points or one for each, and the volume (m^3) that has them at each point: zero where there
    /// are none. Activation zero.
    pub fn new(law: MuscleLaw, directions: &[[f64; 3]], volumes: &[f64]) -> Self {
        Self::varying(&[law], directions, volumes)
    }

    /// Fibres that differ from point to point: their law (Pa), direction (none) and volume (m^3) at
    /// each point.
    pub fn varying(laws: &[MuscleLaw], directions: &[[f64; 3]], volumes: &[f64]) -> Self {
        Self {
            laws: laws.to_vec(),
            directions: directions.iter().map(unit).collect(),
            volumes: volumes.to_vec(),
            shares: vec![1.0],
            activation: 0.0,
            tangent: Tangent::Exact,
        }
    }

    /// Sets the activation (none), between 0 and 1.
    #[must_use]
    pub fn with_activation(mut self, activation: f64) -> Self {
        self.activation = activation;
        self
    }

    /// Sets the shares (none), between 0 and 1, of the points in the activation: one for all, or one
    /// for each. They are 1 if not set.
    #[must_use]
    pub fn with_shares(mut self, shares: &[f64]) -> Self {
        self.shares = shares.to_vec();
        self
    }

    /// The rule for an indefinite tangent.
    #[must_use]
    pub fn with_tangent(mut self, tangent: Tangent) -> Self {
        self.tangent = tangent;
        self
    }

    /// Checks the fibres of a point; `name` is for errors.
    pub(crate) fn check_fibre(name: &str, law: &MuscleLaw, direction: Vec3) -> Result<(), ModelError> {
        law.check(name)?;
        for x in &direction {
            check_finite(name, Field::Directions, *x)?;
        }
        check_positive(name, Field::DirectionLength, direction.norm())
    }

    /// Checks the share of a point in the activation; `name` is for errors.
    pub(crate) fn check_share(name: &str, share: f64) -> Result<(), ModelError> {
        let fits = (0.0..=1.0).contains(&share);
        check_bound(name, Field::ActivationShares, share, "between 0 and 1", fits)
    }

    /// The fibre at a point; none where there are none.
    fn fibre(&self, point: usize, activation: f64) -> Option<Fibre<'_>> {
        if self.volumes[point] == 0.0 {
            return None;
        }
        let one = |count: usize| if count == 1 { 0 } else { point };
        Some(Fibre {
            law: &self.laws[one(self.laws.len())],
            direction: self.directions[one(self.directions.len())],
            activation: self.shares[one(self.shares.len())] * activation,
        })
    }
}

/// A direction of size one; one that has none stays what it is.
fn unit(direction: &[f64; 3]) -> Vec3 {
    let direction = Vec3::from(*direction);
    let size = direction.norm();
    if size > 0.0 && size.is_finite() {
        direction / size
    } else {
        direction
    }
}

impl ForceField for MuscleFibres {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_space(
            name,
            GRADIENTS.wanted,
            space,
            space == Space::Real(GRADIENTS.size),
        )?;
        let what = "volumes, one for each quadrature point";
        check_size(name, Field::Volumes, what, count, self.volumes.len())?;
        for volume in &self.volumes {
            check_not_negative(name, Field::Volumes, *volume)?;
        }
        if self.laws.len() != 1 {
            let what = "laws of fibres, one for each quadrature point";
            check_size(name, Field::MuscleLaws, what, count, self.laws.len())?;
        }
        if self.directions.len() != 1 {
            let what = "directions, one for each quadrature point";
            check_size(name, Field::Directions, what, count, self.directions.len())?;
        }
        if self.shares.len() != 1 {
            let what = "shares of activation, one for each quadrature point";
            check_size(name, Field::ActivationShares, what, count, self.shares.len())?;
        }
        self.shares
            .iter()
            .try_for_each(|share| Self::check_share(name, *share))?;
        // The one of all meets each of the others.
        for k in 0..self.laws.len().max(self.directions.len()) {
            let law = self.laws.get(k).or(self.laws.first());
            let direction = self.directions.get(k).or(self.directions.first());
            if let (Some(law), Some(direction)) = (law, direction) {
                Self::check_fibre(name, law, *direction)?;
            }
        }
        Ok(())
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        let points = x.as_chunks::<9>().0.iter().enumerate();
        let of = |(q, f): (usize, &[f64; 9])| {
            let fibre = self.fibre(q, inputs[0]);
            fibre.map_or(0.0, |fibre| self.volumes[q] * fibre.density(&matrix(f)))
        };
        points.map(of).sum()
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        ForceFieldPieces::add_force(self, at, 0..self.volumes.len(), f);
    }

    fn add_chord_force(&self, ends: [At<'_>; 2], _room: &mut [f64], f: &mut [f64]) {
        let [start, end] = ends.map(|at| at.x.as_chunks::<9>().0.iter());
        let outs = f.as_chunks_mut::<9>().0.iter_mut();
        for (out, (q, (start, end))) in outs.zip(start.zip(end).enumerate()) {
            let Some(fibre) = self.fibre(q, ends[0].inputs[0]) else {
                continue;
            };
            add_chord_force(&fibre, self.volumes[q], [start, end], out);
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

    fn add_shape_damping(&self, At { x, inputs, .. }: At<'_>, rate: f64, damping: &mut Blocks) -> bool {
        for (q, f) in x.as_chunks::<9>().0.iter().enumerate() {
            let Some(fibre) = self.fibre(q, inputs[0]) else {
                continue;
            };
            let (f, mut k) = (matrix(f), [0.0; 81]);
            fibre.add_tangent(&f, &mut k);
            let gain = rate * self.volumes[q];
            add_shape_tangent(&f, &fibre.stress(&f), &mut k, gain, damping.block_mut(q));
        }
        true
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn projected_elements(&self, At { x, inputs, .. }: At<'_>) -> usize {
        if self.tangent == Tangent::Exact {
            return 0;
        }
        let points = x.as_chunks::<9>().0.iter().enumerate();
        let is_projected = |(q, f): &(usize, &[f64; 9])| {
            self.fibre(*q, inputs[0]).is_some_and(|fibre| {
                let mut k = [0.0; 81];
                fibre.add_tangent(&matrix(*f), &mut k);
                is_indefinite(&k)
            })
        };
        points.filter(is_projected).count()
    }

    fn inputs(&self) -> &[f64] {
        std::slice::from_ref(&self.activation)
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        let fits = (0.0..=1.0).contains(&inputs[0]);
        check_bound(name, Field::Activations, inputs[0], "between 0 and 1", fits)
    }

    fn pieces(&self) -> Option<&dyn ForceFieldPieces> {
        Some(self)
    }

    fn restrict(&self, _space: Space, elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(Self {
            laws: of_points(&self.laws, &elements),
            directions: of_points(&self.directions, &elements),
            shares: of_points(&self.shares, &elements),
            volumes: self.volumes[elements].to_vec(),
            activation: self.activation,
            tangent: self.tangent,
        }))
    }
}

impl ForceFieldPieces for MuscleFibres {
    fn add_force(&self, At { x, inputs, .. }: At<'_>, elements: Range<usize>, f: &mut [f64]) {
        let points = x.as_chunks::<9>().0.iter().zip(elements);
        for (out, (f, q)) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            let Some(fibre) = self.fibre(q, inputs[0]) else {
                continue;
            };
            let stress = fibre.stress(&matrix(f));
            for i in 0..3 {
                for j in 0..3 {
                    out[3 * i + j] -= self.volumes[q] * stress[(i, j)];
                }
            }
        }
    }

    fn stiffness(
        &self,
        At { x, inputs, .. }: At<'_>,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), NotInvertible> {
        let points = x.as_chunks::<9>().0.iter().zip(elements);
        for (out, (f, q)) in out.as_chunks_mut::<81>().0.iter_mut().zip(points) {
            let Some(fibre) = self.fibre(q, inputs[0]) else {
                continue;
            };
            fibre.add_tangent(&matrix(f), out);
            if self.tangent == Tangent::PositiveSemidefinite && is_indefinite(out) {
                map_eigenvalues(9, out, &mut [0.0; 162], |d| d.max(0.0));
            }
            out.iter_mut().for_each(|k| *k *= self.volumes[q]);
        }
        Ok(())
    }
}
