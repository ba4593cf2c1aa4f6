//! Moduli of linear laws: isotropic, orthotropic.

use super::{MaterialAxes, isotropic};
use crate::ContinuumError;
use crate::checks::check_number;
use nalgebra::Matrix6;
use pliant_model::Field;

/// Moduli of a linear law of strains.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Elasticity {
    /// An isotropic law: its moduli are the same in all directions.
    Isotropic {
        /// Young's modulus (Pa).
        young: f64,
        /// Poisson's ratio (none), above -1 and up to 1/2.
        poisson: f64,
    },
    /// An orthotropic law along three axes.
    Orthotropic(Orthotropic),
}

/// Moduli along three axes across each other.
///
/// Poisson's ratio `nu_ij` says how much axis j shrinks as axis i is stretched, so that
/// `nu_ij/E_i = nu_ji/E_j`. The energy is positive if
///
/// ```math
/// nu_ij^2 < E_i/E_j,   1 - nu12 nu21 - nu23 nu32 - nu31 nu13 - 2 nu21 nu32 nu13 > 0
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orthotropic {
    /// Young's moduli (Pa) along axes 1, 2, 3.
    pub young: [f64; 3],
    /// Poisson's ratios (none) `nu12`, `nu23`, `nu31`.
    pub poisson: [f64; 3],
    /// Shear moduli (Pa) in the planes 12, 23, 31.
    pub shear: [f64; 3],
    /// Directions at rest (none) of axis 1 and, across it, of axis 2: of any length but zero.
    pub axes: [[f64; 3]; 2],
}

impl Orthotropic {
    /// Along x, y and z at rest: Young's moduli (Pa), Poisson's ratios (none), shear moduli (Pa) in
    /// the order of the fields.
    pub fn along_axes(young: [f64; 3], poisson: [f64; 3], shear: [f64; 3]) -> Self {
        Self {
            young,
            poisson,
            shear,
            axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        }
    }

    /// Checks the numbers: finite, the axes two directions, the energy positive.
    pub(crate) fn check(&self) -> Result<(), ContinuumError> {
        for e in self.young {
            check_number(Field::Young, e, e > 0.0, "positive")?;
        }
        for g in self.shear {
            check_number(Field::ShearModuli, g, g > 0.0, "positive")?;
        }
        let [e1, e2, e3] = self.young;
        let [n12, n23, n31] = self.poisson;
        let pairs = [
            (Field::PoissonXy, n12, e1 / e2, "less than sqrt(E1/E2) in size"),
            (Field::PoissonYz, n23, e2 / e3, "less than sqrt(E2/E3) in size"),
            (Field::PoissonZx, n31, e3 / e1, "less than sqrt(E3/E1) in size"),
        ];
        for (field, nu, most, bound) in pairs {
            check_number(field, nu, nu * nu < most, bound)?;
        }
        let [n21, n32, n13] = [n12 * e2 / e1, n23 * e3 / e2, n31 * e1 / e3];
        let rest = 1.0 - n12 * n21 - n23 * n32 - n31 * n13 - 2.0 * n21 * n32 * n13;
        let bound = "positive: Poisson's ratios are too large together";
        // Rounding of four products decides no less.
        check_number(Field::PoissonTogether, rest, rest > 1e-12, bound)?;
        for x in self.axes.as_flattened() {
            check_number(Field::MaterialAxes, *x, true, "")?;
        }
        match MaterialAxes::of(self.axes) {
            Some(_) => Ok(()),
            None => Err(ContinuumError::Axes {
                first: self.axes[0],
                second: self.axes[1],
            }),
        }
    }

    /// Compliance (1/Pa) over the six stresses in the axes of the world.
    fn compliance(&self) -> Option<Matrix6<f64>> {
        let mut c = Matrix6::zeros();
        for i in 0..3 {
            let j = (i + 1) % 3;
            c[(i, i)] = 1.0 / self.young[i];
            c[(i, j)] = -self.poisson[i] / self.young[i];
            c[(j, i)] = c[(i, j)];
            c[(3 + i, 3 + i)] = 1.0 / self.shear[i];
        }
        Some(MaterialAxes::of(self.axes)?.compliances(&c))
    }
}

impl Elasticity {
    /// Checks the numbers.
    pub(crate) fn check(&self) -> Result<(), ContinuumError> {
        match self {
            Self::Isotropic { young, poisson } => {
                check_number(Field::Young, *young, *young > 0.0, "positive")?;
                let holds = *poisson > -1.0 && *poisson <= 0.5;
                check_number(Field::Poisson, *poisson, holds, "above -1 and at most 1/2")
            }
            Self::Orthotropic(law) => law.check(),
        }
    }

    /// Compliance (1/Pa) over the six stresses; none of axes that are no two directions.
    pub(super) fn compliance(&self) -> Option<Matrix6<f64>> {
        match *self {
            Self::Isotropic { young, poisson } => {
                Some(Matrix6::from_fn(|i, j| match (i < 3, j < 3, i == j) {
                    (true, true, true) => 1.0 / young,
                    (true, true, false) => -poisson / young,
                    (false, false, true) => 2.0 * (1.0 + poisson) / young,
                    _ => 0.0,
                }))
            }
            Self::Orthotropic(law) => law.compliance(),
        }
    }

    /// Moduli (Pa) over the six strains, shears as angles; none where they are infinite.
    pub(super) fn moduli(&self) -> Option<Matrix6<f64>> {
        match *self {
            Self::Isotropic { young, poisson } => {
                let bulk = young / (3.0 * (1.0 - 2.0 * poisson));
                let d = isotropic(young / (2.0 * (1.0 + poisson)), bulk);
                (poisson < 0.5).then(|| Matrix6::from_fn(|i, j| d[i][j]))
            }
            Self::Orthotropic(law) => {
                let inverse = law.compliance()?.try_inverse()?;
                Some(0.5 * (inverse + inverse.transpose()))
            }
        }
    }

    /// Shear modulus (Pa) of the change of shape; none of what has several.
    pub(crate) fn shear(&self) -> Option<f64> {
        match *self {
            Self::Isotropic { young, poisson } => Some(young / (2.0 * (1.0 + poisson))),
            Self::Orthotropic(_) => None,
        }
    }

    /// Inverse of the bulk modulus (1/Pa), if the volume has a part of its own.
    pub(crate) fn inverse_bulk(&self) -> Option<f64> {
        match *self {
            Self::Isotropic { young, poisson } => Some(3.0 * (1.0 - 2.0 * poisson) / young),
            Self::Orthotropic(_) => None,
        }
    }
}
