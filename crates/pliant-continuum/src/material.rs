//! Materials: force fields on strains and on deformation gradients.

mod anisotropic;
mod axes;
mod chord;
mod elasticity;
mod energies;
mod hencky;
mod hencky_plastic;
mod hyperelastic;
mod isochoric;
mod linear;
mod muscle;
mod muscle_fibres;
mod ogden;
mod plane;
mod plastic;
mod principal;
mod prony;
mod quasi_linear;
mod relaxing;
mod response;
mod tissue;
mod viscoelastic;
mod viscosity;
mod viscous_strain;
mod volumetric;

pub(crate) use axes::MaterialAxes;
pub use elasticity::{Elasticity, Orthotropic};
pub use energies::{FibreFamily, StrainEnergy};
pub use hencky_plastic::HenckyPlastic;
pub use hyperelastic::{Hyperelastic, Tangent};
pub use linear::LinearElastic;
pub use muscle::MuscleLaw;
pub use muscle_fibres::MuscleFibres;
pub use plane::PlaneElastic;
pub use plastic::{ElasticPlastic, Plasticity};
pub use prony::{PronySeries, PronyTerm};
pub use relaxing::Relaxing;
pub use tissue::{Fibres, Fung};
pub use viscoelastic::Viscoelastic;
pub use viscosity::Viscosity;
pub use volumetric::VolumeEnergy;

use pliant_model::validate::{check_positive, check_size, check_space};
use pliant_model::{Field, ModelError, Space};
use std::ops::Range;

/// The values of consecutive points, of a list that has one for each point, or one for all, or none.
fn of_points<T: Clone>(list: &[T], points: &Range<usize>) -> Vec<T> {
    match list.len() {
        0 | 1 => list.to_vec(),
        _ => list[points.clone()].to_vec(),
    }
}

/// Checks the node of a material: elements of the size of a point, one volume for each.
fn check_points(
    name: &str,
    PointSpace { size, wanted }: PointSpace,
    space: Space,
    volumes: &[f64],
    count: usize,
) -> Result<(), ModelError> {
    check_space(name, wanted, space, space == Space::Real(size))?;
    let what = "volumes, one for each quadrature point";
    check_size(name, Field::Volumes, what, count, volumes.len())?;
    volumes
        .iter()
        .try_for_each(|v| check_positive(name, Field::Volumes, *v))
}

/// The coordinates of a quadrature point, and their name for errors.
#[derive(Clone, Copy)]
struct PointSpace {
    size: usize,
    wanted: &'static str,
}

const STRAINS: PointSpace = PointSpace {
    size: 6,
    wanted: "strains (elements of six coordinates)",
};
const GRADIENTS: PointSpace = PointSpace {
    size: 9,
    wanted: "deformation gradients (elements of nine coordinates)",
};

/// Shear and bulk modulus (Pa) for Young's modulus (Pa) and a Poisson's ratio below 1/2.
fn shear_and_bulk(young: f64, poisson: f64) -> (f64, f64) {
    (
        young / (2.0 * (1.0 + poisson)),
        young / (3.0 * (1.0 - 2.0 * poisson)),
    )
}

/// Moduli of an isotropic material over six strains with shears as angles:
/// `sigma = k tr(e) I + 2 mu dev(e)`.
fn isotropic(mu: f64, k: f64) -> [[f64; 6]; 6] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i < 3, j < 3, i == j) {
            (true, true, true) => k + 4.0 / 3.0 * mu,
            (true, true, false) => k - 2.0 / 3.0 * mu,
            (false, false, true) => mu,
            _ => 0.0,
        })
    })
}
