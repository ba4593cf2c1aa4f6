//! Masses: of points, of scalars, of rigid bodies, of the elements of a mesh.

mod meshes;
mod shapes;
mod surface;

use crate::validate::{check_one_or_each, check_positive, check_rigid, check_size, check_space};
use crate::{Blocks, Field, Groups, ModelError, Space};
use pliant_dense::{Mat3, vec3};

/// Inertia of the elements of one node.
///
/// **Equation.** Kinetic energy `sum m_e |v_e|^2/2` of points and scalars, `(m |v|^2 + w . I w)/2`
/// of bodies (`w` in body axes), `sum m_ij v_i . v_j/2` of coupled elements; weight `m g` where
/// positions are places. On a mapped node it is carried to the independent degrees of freedom by
/// `J^T M J`, with the velocity-dependent term (theory/kinematics.md of the book).
///
/// **Use.** Point masses, rigid bodies, and meshes of a density: see the constructors for lumped
/// and consistent masses.
#[derive(Clone, Debug, PartialEq)]
pub enum Mass {
    /// The same mass (kg) for every element of points or scalars.
    Uniform(f64),
    /// A mass (kg) for each element of points or scalars.
    PerElement(Vec<f64>),
    /// Mass and inertia of rigid bodies: one for all, or one for each.
    Rigid(Vec<RigidMass>),
    /// Mass matrices that couple elements of points or scalars: the consistent mass of a mesh, one
    /// per mesh element.
    Coupled(Vec<CoupledMass>),
}

/// A mass matrix over some elements of a node.
///
/// **Equation.** Kinetic energy `sum m_ij v_i . v_j/2` over the elements: `m_ij` (kg) times the
/// identity of a point's coordinates.
///
/// **Use.** The consistent mass of one element of a mesh; masses on interpolated points.
#[derive(Clone, Debug, PartialEq)]
pub struct CoupledMass {
    /// Elements of the node, distinct.
    pub elements: Vec<usize>,
    /// Symmetric positive-semidefinite matrix, rows first, as long as the square of the number of
    /// elements (kg).
    pub matrix: Vec<f64>,
}

/// Mass and inertia of one rigid body about its centre of mass.
///
/// **Equation.** Kinetic energy `(m |v|^2 + w . I w)/2`, with the angular velocity `w` and the
/// inertia `I` in body axes.
///
/// **Use.** Bodies of simple shapes (homogeneous, about their centres of mass), or of a closed
/// triangulated surface. A negative dimension gives an inertia that no model accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMass {
    /// Mass (kg).
    pub mass: f64,
    /// Inertia in body axes (kg m^2): symmetric, rows first.
    pub inertia: [[f64; 3]; 3],
}

impl RigidMass {
    /// Principal moments (kg m^2) about the body axes.
    pub fn principal(mass: f64, moments: [f64; 3]) -> Self {
        let [x, y, z] = moments;
        Self {
            mass,
            inertia: [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
        }
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
            return error("an entry is not finite, as for a shape with a negative dimension");
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
    check_positive(name, Field::Mass, mass)
}

impl Mass {
    pub(crate) fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        match self {
            Self::Rigid(_) => check_rigid(name, space)?,
            _ => check_space(name, "points or scalars", space, space != Space::Rigid3)?,
        }
        match self {
            Self::Uniform(m) => check_mass(name, *m),
            Self::PerElement(list) => {
                check_size(name, Field::Mass, "masses", count, list.len())?;
                let mut masses = list.iter().enumerate();
                masses.try_for_each(|(i, m)| check_mass(name, *m).map_err(|e| e.at(i, count)))
            }
            Self::Rigid(list) => {
                check_one_or_each(name, Field::Mass, "masses", count, list.len())?;
                list.iter().enumerate().try_for_each(|(e, m)| m.check(name, e))
            }
            Self::Coupled(list) => {
                self.groups().check(name, count)?;
                list.iter()
                    .enumerate()
                    .try_for_each(|(g, m)| check_coupled(name, g, m))
            }
        }
    }

    /// The elements that are coupled.
    pub fn groups(&self) -> Groups {
        match self {
            Self::Coupled(list) => Groups::Of(list.iter().map(|m| m.elements.clone()).collect()),
            _ => Groups::Each,
        }
    }

    /// Mass of element `e` (kg), where it has one of its own.
    pub fn of(&self, e: usize) -> f64 {
        match self {
            Self::Uniform(m) => *m,
            Self::PerElement(list) => list[e],
            Self::Rigid(list) => list[if list.len() == 1 { 0 } else { e }].mass,
            Self::Coupled(_) => 0.0,
        }
    }

    /// Rigid mass of element `e`, if the node holds bodies.
    pub fn rigid(&self, e: usize) -> Option<&RigidMass> {
        match self {
            Self::Rigid(list) => list.get(if list.len() == 1 { 0 } else { e }),
            _ => None,
        }
    }

    /// Adds the mass block of group `g` of a node of `space` (velocity coordinates of the group's
    /// elements, row-major).
    pub fn add_block(&self, space: Space, g: usize, block: &mut [f64]) {
        let size = space.velocity_size();
        if let Self::Coupled(list) = self {
            let n = list[g].elements.len();
            let width = n * size;
            for i in 0..n {
                for j in 0..n {
                    for k in 0..size {
                        block[(i * size + k) * width + j * size + k] += list[g].matrix[i * n + j];
                    }
                }
            }
            return;
        }
        let point = if space == Space::Rigid3 { 3 } else { size };
        for i in 0..point {
            block[i * size + i] += self.of(g);
        }
        if let Some(rigid) = self.rigid(g) {
            for i in 0..3 {
                for j in 0..3 {
                    block[(3 + i) * size + 3 + j] += rigid.inertia[i][j];
                }
            }
        }
    }

    /// `u^T M v` of the point masses alone, over the first three coordinates of positions or
    /// velocities of `stride` numbers; for every pair of elements `combine(m_ij, i, j)`.
    pub(crate) fn pairs(&self, count: usize, mut combine: impl FnMut(f64, usize, usize)) {
        if let Self::Coupled(list) = self {
            for m in list {
                for (i, a) in m.elements.iter().enumerate() {
                    for (j, b) in m.elements.iter().enumerate() {
                        combine(m.matrix[i * m.elements.len() + j], *a, *b);
                    }
                }
            }
        } else {
            (0..count).for_each(|e| combine(self.of(e), e, e));
        }
    }

    /// Adds `-w x I w` of every body (body axes) to the forces on a node of bodies.
    pub fn add_gyroscopic(&self, v: &[f64], out: &mut [f64]) {
        for (e, (v, out)) in v.chunks_exact(6).zip(out.chunks_exact_mut(6)).enumerate() {
            if let Some(rigid) = self.rigid(e) {
                let w = vec3(v, 3);
                let torque = -w.cross(&(rigid.inertia_matrix() * w));
                for k in 0..3 {
                    out[3 + k] += torque[k];
                }
            }
        }
    }

    /// Adds `s M v` for all elements of a node.
    pub fn add_product(&self, space: Space, s: f64, v: &[f64], out: &mut [f64]) {
        let size = space.velocity_size();
        let point = if space == Space::Rigid3 { 3 } else { size };
        self.pairs(v.len() / size, |m, i, j| {
            for k in 0..point {
                out[i * size + k] += s * m * v[j * size + k];
            }
        });
        if matches!(self, Self::Rigid(_)) {
            for (e, (v, out)) in v.chunks_exact(size).zip(out.chunks_exact_mut(size)).enumerate() {
                if let Some(rigid) = self.rigid(e) {
                    for i in 0..3 {
                        out[3 + i] += s * (0..3).map(|j| rigid.inertia[i][j] * v[3 + j]).sum::<f64>();
                    }
                }
            }
        }
    }
}

/// Checks the matrix of group `g`: size, finite, symmetric, no negative eigenvalue.
fn check_coupled(name: &str, g: usize, mass: &CoupledMass) -> Result<(), ModelError> {
    let n = mass.elements.len();
    if mass.matrix.len() != n * n || n == 0 {
        return Err(ModelError::Size {
            name: name.into(),
            field: Field::Mass,
            what: "entries of a mass matrix",
            expected: (n * n).max(1),
            found: mass.matrix.len(),
        });
    }
    let error = |reason| {
        Err(ModelError::Inertia {
            name: name.into(),
            element: g,
            reason,
        })
    };
    if mass.matrix.iter().any(|m| !m.is_finite()) {
        return error("an entry is not finite");
    }
    let size = mass.matrix.iter().fold(0.0f64, |a, m| a.max(m.abs()));
    let skewed = (0..n * n).any(|k| (mass.matrix[k] - mass.matrix[k % n * n + k / n]).abs() > 1e-12 * size);
    if skewed {
        return error("its matrix is not symmetric");
    }
    let mut negative = mass.matrix.clone();
    let mut scratch = vec![0.0; 2 * n * n];
    pliant_dense::eigen::map_eigenvalues(n, &mut negative, &mut scratch, |d| d.min(0.0));
    // Rounding of a semidefinite matrix.
    if negative.iter().any(|m| m.abs() > 1e-12 * size) {
        return error("its matrix has a negative eigenvalue");
    }
    Ok(())
}

/// Blocks of the mass of each group of a node, for those who assemble.
pub(crate) fn group_shapes(groups: &Groups, space: Space, count: usize) -> Blocks {
    let size = space.velocity_size();
    match groups {
        Groups::Each => Blocks::without_storage(std::iter::repeat_n((size, size), count)),
        Groups::Of(lists) => Blocks::without_storage(lists.iter().map(|l| (l.len() * size, l.len() * size))),
    }
}
