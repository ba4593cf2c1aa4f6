//! Masses: of points, of scalars, of rigid bodies.

use crate::{ModelError, Space};
use pliant_dense::Mat3;

/// Inertia of the elements of one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Mass {
    /// The same mass (kg) for every element of points or scalars. On a mapped node it is carried to the independent degrees
    /// of freedom by `J^T M J`, with the velocity-dependent term (docs/notation.md).
    Uniform(f64),
    /// A mass (kg) for each element of points or scalars.
    PerElement(Vec<f64>),
    /// Mass and inertia of rigid bodies: one for all, or one for each. Independent nodes only.
    Rigid(Vec<RigidMass>),
}

/// Mass and inertia of one rigid body about its centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMass {
    /// Mass (kg).
    pub mass: f64,
    /// Inertia in body axes [kg m^2]: symmetric, rows first.
    pub inertia: [[f64; 3]; 3],
}

impl RigidMass {
    /// Principal moments [kg m^2] about the body axes.
    pub fn principal(mass: f64, moments: [f64; 3]) -> Self {
        let [x, y, z] = moments;
        Self {
            mass,
            inertia: [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
        }
    }

    /// A homogeneous box with the given edge lengths (m).
    pub fn cuboid(mass: f64, size: [f64; 3]) -> Self {
        let [a, b, c] = size.map(|s| s * s);
        Self::principal(mass, [b + c, a + c, a + b].map(|s| mass / 12.0 * s))
    }

    /// A homogeneous ball of the given radius (m).
    pub fn sphere(mass: f64, radius: f64) -> Self {
        Self::principal(mass, [0.4 * mass * radius * radius; 3])
    }

    /// The inertia as a matrix.
    pub fn inertia_matrix(&self) -> Mat3 {
        Mat3::from_fn(|i, j| self.inertia[i][j])
    }

    fn check(&self, name: &str, element: usize) -> Result<(), ModelError> {
        check_mass(name, self.mass)?;
        let i = self.inertia_matrix();
        let error = |reason| {
            Err(ModelError::Inertia {
                name: name.into(),
                element,
                reason,
            })
        };
        if !i.iter().all(|x| x.is_finite()) {
            return error("an entry is not finite");
        }
        if (i - i.transpose()).norm() > 1e-12 * i.norm() {
            return error("it is not symmetric");
        }
        let mut moments = i.symmetric_eigenvalues();
        moments.as_mut_slice().sort_by(f64::total_cmp);
        if moments[0] <= 0.0 {
            return error("a principal moment is not positive");
        }
        // A hair of slack: thin plates and rods sit on the boundary.
        if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9) {
            return error("one principal moment is larger than the sum of the other two");
        }
        Ok(())
    }
}

fn check_mass(name: &str, mass: f64) -> Result<(), ModelError> {
    if !mass.is_finite() {
        return Err(ModelError::NotFinite {
            name: name.into(),
            what: "the mass",
            value: mass,
        });
    }
    if mass <= 0.0 {
        return Err(ModelError::OutOfRange {
            name: name.into(),
            what: "the mass",
            value: mass,
            bound: "positive",
        });
    }
    Ok(())
}

impl Mass {
    pub(crate) fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        let size = |found: usize| {
            if found == count {
                Ok(())
            } else {
                Err(ModelError::Size {
                    name: name.into(),
                    what: "masses",
                    expected: count,
                    found,
                })
            }
        };
        match self {
            Self::Uniform(_) | Self::PerElement(_) if space == Space::Rigid3 => Err(ModelError::Space {
                name: name.into(),
                expected: "points or scalars",
                found: space,
            }),
            Self::Uniform(m) => check_mass(name, *m),
            Self::PerElement(list) => {
                size(list.len())?;
                list.iter().try_for_each(|m| check_mass(name, *m))
            }
            Self::Rigid(_) if space != Space::Rigid3 => Err(ModelError::Space {
                name: name.into(),
                expected: "rigid bodies",
                found: space,
            }),
            Self::Rigid(list) => {
                if list.len() != 1 {
                    size(list.len())?;
                }
                list.iter().enumerate().try_for_each(|(e, m)| m.check(name, e))
            }
        }
    }

    /// Mass of element `e` (kg).
    pub fn of(&self, e: usize) -> f64 {
        match self {
            Self::Uniform(m) => *m,
            Self::PerElement(list) => list[e],
            Self::Rigid(list) => list[if list.len() == 1 { 0 } else { e }].mass,
        }
    }

    /// Rigid mass of element `e`, if the node holds bodies.
    pub fn rigid(&self, e: usize) -> Option<&RigidMass> {
        match self {
            Self::Rigid(list) => list.get(if list.len() == 1 { 0 } else { e }),
            _ => None,
        }
    }

    /// Adds the mass block of element `e` of `space` (velocity coordinates, row-major).
    pub fn add_block(&self, space: Space, e: usize, block: &mut [f64]) {
        let size = space.velocity_size();
        for i in 0..size.min(3) {
            block[i * size + i] += self.of(e);
        }
        if let Some(rigid) = self.rigid(e) {
            for i in 0..3 {
                for j in 0..3 {
                    block[(3 + i) * size + 3 + j] += rigid.inertia[i][j];
                }
            }
        }
    }

    /// Adds `s M v` for all elements of a node.
    pub fn add_product(&self, space: Space, s: f64, v: &[f64], out: &mut [f64]) {
        let size = space.velocity_size();
        for (e, (v, out)) in v.chunks_exact(size).zip(out.chunks_exact_mut(size)).enumerate() {
            for i in 0..size.min(3) {
                out[i] += s * self.of(e) * v[i];
            }
            if let Some(rigid) = self.rigid(e) {
                for i in 0..3 {
                    out[3 + i] += s * (0..3).map(|j| rigid.inertia[i][j] * v[3 + j]).sum::<f64>();
                }
            }
        }
    }
}
