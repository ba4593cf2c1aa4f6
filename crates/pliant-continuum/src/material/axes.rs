//! Axes of anisotropic materials, and moduli along them.

use crate::strain::{strain_numbers, stress_matrix};
use nalgebra::Matrix6;
use pliant_dense::{Mat3, Vec3};
use pliant_model::validate::check_finite;
use pliant_model::{Field, ModelError};

/// The axes of a material at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MaterialAxes {
    /// The axes, one in each row.
    rows: Mat3,
}

impl MaterialAxes {
    /// Axis 1 along the first direction, axis 2 across it towards the second, axis 3 across both;
    /// `None` if these are no two directions.
    pub(crate) fn of([first, second]: [[f64; 3]; 2]) -> Option<Self> {
        let unit = |v: Vec3| {
            let size = v.amax();
            (size.is_finite() && size > 0.0).then(|| (v / size).normalize())
        };
        let one = unit(Vec3::from(first))?;
        let other = unit(Vec3::from(second))?;
        let across = other - one * one.dot(&other);
        // Nearly parallel directions span no plane, but for rounding.
        let two = (across.norm() > 1e-9).then(|| across.normalize())?;
        let three = one.cross(&two);
        let rows = Mat3::from_rows(&[one.transpose(), two.transpose(), three.transpose()]);
        Some(Self { rows })
    }

    /// The numbers of a strain along the axes from those of the world, as a matrix.
    fn turned(rows: &Mat3) -> Matrix6<f64> {
        let mut out = Matrix6::zeros();
        for k in 0..6 {
            let mut strain = [0.0; 6];
            // Shears as angles are twice the entry.
            strain[k] = if k < 3 { 1.0 } else { 0.5 };
            let along = rows * stress_matrix(&strain) * rows.transpose();
            for (i, number) in strain_numbers(&along).into_iter().enumerate() {
                out[(i, k)] = number;
            }
        }
        out
    }

    /// Moduli (Pa) over strains of the world of those along the axes.
    pub(crate) fn moduli(&self, along: &[[f64; 6]; 6]) -> [[f64; 6]; 6] {
        let turn = Self::turned(&self.rows);
        let all = turn.transpose() * Matrix6::from_fn(|i, j| along[i][j]) * turn;
        std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (all[(i, j)] + all[(j, i)])))
    }

    /// Compliances (1/Pa) over stresses of the world of those along the axes.
    pub(crate) fn compliances(&self, along: &Matrix6<f64>) -> Matrix6<f64> {
        let back = Self::turned(&self.rows.transpose());
        let all = back * along * back.transpose();
        0.5 * (all + all.transpose())
    }
}

/// Checks that moduli are symmetric and have no negative eigenvalue.
pub(super) fn check_semidefinite(name: &str, moduli: &[[f64; 6]; 6]) -> Result<(), ModelError> {
    moduli
        .as_flattened()
        .iter()
        .try_for_each(|x| check_finite(name, Field::Moduli, *x))?;
    let d = Matrix6::from_fn(|i, j| moduli[i][j]);
    if (d - d.transpose()).amax() > 1e-12 * d.amax() {
        return Err(not_semidefinite(name, "it is not symmetric"));
    }
    let values = d.symmetric_eigenvalues();
    if values.min() < -1e-12 * values.max() {
        return Err(not_semidefinite(name, "it has a negative eigenvalue"));
    }
    Ok(())
}

fn not_semidefinite(name: &str, reason: &'static str) -> ModelError {
    ModelError::Matrix {
        name: name.into(),
        field: Field::ModulusMatrix,
        reason,
    }
}
