//! Strains as mappings of deformation gradients.

mod corotational;
mod measures;
mod wide;

pub(crate) use measures::{add_determinant_hessian, cofactors, strain_rows};
pub(crate) use pliant_dense::polar::Polar;

use crate::checks::first_parent;
use pliant_dense::Mat3;
use pliant_model::validate::{check_size, check_space};
use pliant_model::{
    Blocks, Degenerate, Dependency, Field, Kept, Mapping, MappingPieces, ModelError, Parents, Space,
};
use std::ops::Range;

/// Small strains of deformation gradients: six per point, shears as angles.
///
/// **Equation.** `e = sym(F) - I` (none) as `(xx, yy, zz, 2 xy, 2 yz, 2 zx)`, so that its force is
/// the stress of the same order, without factors. Linear, so `G = 0`.
///
/// **Parents.** Any elements of nine coordinates: deformation gradients, rows first.
///
/// **Use.** Linear elasticity: small deformations and small rotations. A rotation by `a` is taken
/// for a strain of `a^2/2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallStrain {
    count: usize,
}

impl SmallStrain {
    /// Of this many deformation gradients (none), the elements of the only parent.
    pub const fn new(count: usize) -> Self {
        Self { count }
    }
}

/// Biot's strains: what is left of deformation gradients without their rotations, six per point.
///
/// **Equation.** `e = U - I` (none) as `(xx, yy, zz, 2 xy, 2 yz, 2 zx)` with the polar
/// decomposition `F = R U`, `R` the nearest rotation. `J` and `G` are exact: `dU = R^T dF - [w] U`,
/// `(tr(U) I - U) w = axl(R^T dF - dF^T R)`. Defined also for inverted gradients, as long as the
/// two smallest principal stretches do not add up to zero (the smallest has the sign of the
/// determinant).
///
/// **Parents.** Any elements of nine coordinates: deformation gradients, rows first.
///
/// **Use.** Corotational elasticity: linear materials at any rotation, as a stiffness or as a
/// compliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorotationalStrain {
    count: usize,
}

impl CorotationalStrain {
    /// Of this many deformation gradients (none), the elements of the only parent.
    pub const fn new(count: usize) -> Self {
        Self { count }
    }
}

/// Green and Lagrange's strains of deformation gradients, six per point.
///
/// **Equation.** `E = (F^T F - I)/2` (none) as `(xx, yy, zz, 2 xy, 2 yz, 2 zx)`; its force is the
/// second Piola-Kirchhoff stress. `dE = sym(F^T dF)`, `d2E = sym(dF^T dF)`; defined everywhere.
///
/// **Parents.** Any elements of nine coordinates: deformation gradients, rows first.
///
/// **Use.** St Venant and Kirchhoff's material, viscosity that no rotation feels. A material of it
/// weakens in compression and does not resist inversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GreenLagrange {
    count: usize,
}

impl GreenLagrange {
    /// Of this many deformation gradients (none), the elements of the only parent.
    pub const fn new(count: usize) -> Self {
        Self { count }
    }
}

/// Volume ratios of deformation gradients less one.
///
/// **Equation.** `x_c = det F - 1` (none); gradient the cofactors of `F`, Hessian linear in `F`.
/// Defined everywhere.
///
/// **Parents.** Any elements of nine coordinates: deformation gradients, rows first.
///
/// **Use.** Incompressible and nearly incompressible solids: bulk stiffness or compliance down to
/// zero, of each point or, as means, of [`Patches`](crate::Patches).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRatio {
    count: usize,
}

impl VolumeRatio {
    /// Of this many deformation gradients (none), the elements of the only parent.
    pub const fn new(count: usize) -> Self {
        Self { count }
    }
}

/// Numbers of one deformation gradient, `SIZE` of them.
trait OfGradient {
    const SIZE: usize;
    const LINEAR: bool = false;
    /// Whether the Jacobian is made where it is read, out of the gradient or of nothing.
    const MADE: bool = false;
    /// Whether the mean of the Jacobians at both ends carries chords.
    const CHORDS: bool = Self::LINEAR;
}

/// Functions of one deformation gradient that are cheap enough to be evaluated one by one, and
/// defined everywhere.
trait OnePoint: OfGradient {
    fn value(f: &Mat3, out: &mut [f64]);

    /// `SIZE x 9`, row-major, cleared before.
    fn jacobian(f: &Mat3, out: &mut [f64]);

    /// The Hessian of `force . value`, 9 x 9, cleared before; nothing where it has none.
    fn hessian(_f: &Mat3, _force: &[f64], _out: &mut [f64]) {}

    /// Adds the second derivative in time of the value where `f` moves steadily at `rate`.
    fn acceleration(_f: &Mat3, _rate: &[f64], _out: &mut [f64]) {}
}

/// The six numbers of a symmetric matrix, shears doubled.
pub(crate) fn strain_numbers(e: &Mat3) -> [f64; 6] {
    [
        e[(0, 0)],
        e[(1, 1)],
        e[(2, 2)],
        e[(0, 1)] + e[(1, 0)],
        e[(1, 2)] + e[(2, 1)],
        e[(2, 0)] + e[(0, 2)],
    ]
}

/// The symmetric matrix `S` with `S : E` the product of `s` with the
/// [strain numbers](strain_numbers) of `E`.
pub(crate) fn stress_matrix(s: &[f64]) -> Mat3 {
    Mat3::new(s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2])
}

/// Nine numbers, rows first.
pub(crate) fn matrix(f: &[f64]) -> Mat3 {
    Mat3::from_row_slice(&f[..9])
}

/// Writes a matrix as nine numbers, rows first.
pub(crate) fn write_matrix(m: &Mat3, out: &mut [f64]) {
    for i in 0..3 {
        for j in 0..3 {
            out[3 * i + j] = m[(i, j)];
        }
    }
}

fn check_parent(name: &str, count: usize, parents: &[(Space, usize)]) -> Result<(), ModelError> {
    let (space, found) = first_parent(name, parents)?;
    let expected = "deformation gradients (elements of nine coordinates)";
    check_space(name, expected, space, space == Space::Real(9))?;
    check_size(name, Field::Parents, "deformation gradients", count, found)
}

fn gradient_at(parents: &Parents<'_>, element: usize) -> Mat3 {
    matrix(parents.position(Dependency::new(0, element)))
}

macro_rules! mapping_of_gradients {
    ($name:ident) => {
        impl Mapping for $name {
            fn child(&self) -> (Space, usize) {
                (Space::Real(<Self as OfGradient>::SIZE), self.count)
            }

            fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
                check_parent(name, self.count, parents)
            }

            fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
                out.push(Dependency::new(0, element));
            }

            fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
                MappingPieces::apply(self, parents, 0..self.count, child)
            }

            fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
                (0..self.count)
                    .try_for_each(|e| MappingPieces::jacobian(self, parents, e..e + 1, out.block_mut(e)))
            }

            fn is_linear(&self) -> bool {
                <Self as OfGradient>::LINEAR
            }

            fn carries_chords(&self) -> bool {
                <Self as OfGradient>::CHORDS
            }

            fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
                for (e, f) in force.chunks_exact(<Self as OfGradient>::SIZE).enumerate() {
                    MappingPieces::geometric_stiffness(self, parents, e..e + 1, f, out.block_mut(e));
                }
            }

            fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
                MappingPieces::add_bias(self, parents, 0..self.count, child);
                true
            }

            fn pieces(&self) -> Option<&dyn MappingPieces> {
                Some(self)
            }

            fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
                // Its elements are those of its parent.
                (kept.parents == [kept.elements.clone()])
                    .then(|| Box::new(Self::new(kept.elements.len())) as Box<dyn Mapping>)
            }
        }
    };
}

macro_rules! pieces_of_one_point {
    ($name:ident) => {
        impl MappingPieces for $name {
            fn kept_size(&self) -> usize {
                if <Self as OfGradient>::MADE && !<Self as OfGradient>::LINEAR {
                    9
                } else {
                    0
                }
            }

            fn prepare(
                &self,
                parents: Parents<'_>,
                elements: Range<usize>,
                kept: &mut [f64],
            ) -> Result<(), Degenerate> {
                for (element, kept) in elements.zip(kept.as_chunks_mut::<9>().0) {
                    kept.copy_from_slice(parents.position(Dependency::new(0, element)));
                }
                Ok(())
            }

            fn keeps_jacobian(&self) -> bool {
                <Self as OfGradient>::MADE
            }

            fn jacobian_of_kept(&self, kept: &[f64], elements: Range<usize>, out: &mut [f64]) {
                let blocks = out.chunks_exact_mut(9 * <Self as OfGradient>::SIZE);
                for (k, (_, block)) in elements.zip(blocks).enumerate() {
                    // That of a linear one is the same everywhere.
                    let f = kept
                        .as_chunks::<9>()
                        .0
                        .get(k)
                        .map_or_else(Mat3::zeros, |f| matrix(f));
                    block.fill(0.0);
                    <Self as OnePoint>::jacobian(&f, block);
                }
            }

            fn apply(
                &self,
                parents: Parents<'_>,
                elements: Range<usize>,
                child: &mut [f64],
            ) -> Result<(), Degenerate> {
                for (element, x) in elements.zip(child.chunks_exact_mut(<Self as OfGradient>::SIZE)) {
                    <Self as OnePoint>::value(&gradient_at(&parents, element), x);
                }
                Ok(())
            }

            fn jacobian(
                &self,
                parents: Parents<'_>,
                elements: Range<usize>,
                out: &mut [f64],
            ) -> Result<(), Degenerate> {
                let blocks = out.chunks_exact_mut(9 * <Self as OfGradient>::SIZE);
                for (element, block) in elements.zip(blocks) {
                    <Self as OnePoint>::jacobian(&gradient_at(&parents, element), block);
                }
                Ok(())
            }

            fn add_bias(&self, parents: Parents<'_>, elements: Range<usize>, child: &mut [f64]) {
                for (element, out) in elements.zip(child.chunks_exact_mut(<Self as OfGradient>::SIZE)) {
                    let rate = parents.velocity(Dependency::new(0, element));
                    <Self as OnePoint>::acceleration(&gradient_at(&parents, element), rate, out);
                }
            }

            fn geometric_stiffness(
                &self,
                parents: Parents<'_>,
                elements: Range<usize>,
                force: &[f64],
                out: &mut [f64],
            ) {
                let forces = force.chunks_exact(<Self as OfGradient>::SIZE);
                let blocks = forces.zip(out.as_chunks_mut::<81>().0);
                for (element, (force, block)) in elements.zip(blocks) {
                    <Self as OnePoint>::hessian(&gradient_at(&parents, element), force, block);
                }
            }
        }
    };
}

mapping_of_gradients!(SmallStrain);
mapping_of_gradients!(CorotationalStrain);
mapping_of_gradients!(GreenLagrange);
mapping_of_gradients!(VolumeRatio);

pieces_of_one_point!(SmallStrain);
pieces_of_one_point!(GreenLagrange);
pieces_of_one_point!(VolumeRatio);

impl OfGradient for CorotationalStrain {
    const SIZE: usize = 6;
}
