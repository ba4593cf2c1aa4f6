//! Strains of a membrane.

use super::SheetMesh;
use super::mesh::Flat;
use crate::ContinuumError;
use pliant_dense::{Vec3, vec3};
use pliant_model::validate::{check_finite, check_size, check_space};
use pliant_model::{Blocks, Degenerate, Dependency, Field, Kept, Mapping, Mass, ModelError, Parents, Space};

/// Strains of Green and Lagrange in the plane of each triangle of a sheet, and at four points of
/// each quadrangle: along the warp, along the weft, shear as an angle.
///
/// **Equation.** With `f_k = sum_a x_a dN_a/dX_k`, the two columns of the 3 x 2 deformation
/// gradient in the axes of warp and weft at rest,
/// `x_c = ((f_1.f_1 - 1)/2, (f_2.f_2 - 1)/2, f_1.f_2)` (none). `J` holds `g_a1 f_1`, `g_a2 f_2`,
/// `g_a1 f_2 + g_a2 f_1` with the gradients `g_a` (1/m) of the shape functions, linear or bilinear;
/// for the force `s`, `G` is `(s_1 g_a1 g_b1 + s_2 g_a2 g_b2 + s_3 (g_a1 g_b2 + g_a2 g_b1)) I`
/// between corners `a` and `b`. Defined everywhere.
///
/// **Parents.** Points of space: the nodes of the sheet.
///
/// **Use.** Membranes, cloth, shells, by constant-strain triangles and bilinear quadrangles:
/// isotropic, or of different warp and weft, each direction as a force or as a compliance.
#[derive(Clone, Debug, PartialEq)]
pub struct MembraneStrain {
    node_count: usize,
    flat: Vec<Flat>,
}

impl MembraneStrain {
    /// Of each triangle of a sheet (m), then of the points of each quadrangle; the warp runs along
    /// the part of the vector `warp` (none) in each element, or along its first edge (of a
    /// quadrangle: along its lines from the fourth edge to the second).
    ///
    /// # Errors
    /// [`ContinuumError::Empty`], [`ContinuumError::Triangle`], [`ContinuumError::Quadrangle`].
    pub fn new(mesh: &SheetMesh, warp: Option<[f64; 3]>) -> Result<Self, ContinuumError> {
        Ok(Self {
            node_count: mesh.nodes.len(),
            flat: mesh.flat(warp)?,
        })
    }

    /// Makes the sheet at rest smaller by this factor (none): it is stretched by it where the mesh
    /// is.
    #[must_use]
    pub fn with_stretch(mut self, factor: f64) -> Self {
        for flat in &mut self.flat {
            *flat = flat.shrunk(factor);
        }
        self
    }

    /// Area (m^2) at rest of each triangle, then of what each point of the quadrangles stands for.
    pub fn areas(&self) -> Vec<f64> {
        self.flat.iter().map(|f| f.area).collect()
    }

    /// The mass of the nodes of a sheet of density `density` (kg/m^2): of each element the shares
    /// of its shape functions.
    pub(super) fn lumped_mass(&self, density: f64) -> Result<Mass, ModelError> {
        let mut out = vec![0.0; self.node_count];
        for flat in &self.flat {
            for (node, share) in flat.nodes().iter().zip(flat.shares()) {
                out[*node] += density * flat.area * share;
            }
        }
        match out.iter().position(|m| *m == 0.0) {
            Some(element) => Err(ModelError::Shape {
                what: "node",
                element,
                reason: "has no mass: it belongs to no element",
            }),
            None => Ok(Mass::PerElement(out)),
        }
    }

    /// The columns of the deformation gradient.
    fn columns(&self, t: usize, parents: &Parents<'_>) -> [Vec3; 2] {
        let flat = &self.flat[t];
        let at = |node: usize| vec3(parents.position(Dependency::new(0, node)), 0);
        let origin = at(flat.nodes()[0]);
        let mut out = [Vec3::zeros(); 2];
        // The gradients add up to zero: differences keep a shift out.
        for (node, g) in flat.nodes().iter().zip(flat.gradients()).skip(1) {
            let edge = at(*node) - origin;
            (0..2).for_each(|k| out[k] += edge * g[k]);
        }
        out
    }
}

impl Mapping for MembraneStrain {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.flat.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let found = parents.first().copied().unwrap_or((Space::Real(0), 0));
        check_space(name, "points of space", found.0, found.0 == Space::Real(3))?;
        let what = "points, one for each node of the sheet";
        check_size(name, Field::Parents, what, self.node_count, found.1)?;
        let mut numbers = self.flat.iter().flat_map(|f| f.gradients().iter().flatten());
        numbers.try_for_each(|g| check_finite(name, Field::Gradients, *g))
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.flat[element].nodes().iter().map(|n| Dependency::new(0, *n)));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (t, x) in child.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            if self.flat[t].nodes().is_empty() {
                // Out of the model: as at rest.
                *x = [0.0; 3];
                continue;
            }
            let [f, g] = self.columns(t, &parents);
            *x = [0.5 * (f.dot(&f) - 1.0), 0.5 * (g.dot(&g) - 1.0), f.dot(&g)];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for t in (0..self.flat.len()).filter(|t| !self.flat[*t].nodes().is_empty()) {
            let [one, two] = self.columns(t, &parents);
            let width = out.width(t);
            let block = out.block_mut(t);
            for (a, g) in self.flat[t].gradients().iter().enumerate() {
                for (row, column) in [one * g[0], two * g[1], two * g[0] + one * g[1]]
                    .iter()
                    .enumerate()
                {
                    block[row * width + 3 * a..][..3].copy_from_slice(column.as_slice());
                }
            }
        }
        Ok(())
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        // Its points are not shared out themselves: they are whole.
        (kept.parents[0] == (0..self.node_count)).then(|| {
            let flat = self.flat[kept.elements.clone()].to_vec();
            let node_count = self.node_count;
            Box::new(Self { node_count, flat }) as Box<dyn Mapping>
        })
    }

    fn without(&self, removed: &[bool]) -> Option<Box<dyn Mapping>> {
        let mut out = self.clone();
        let flat = out.flat.iter_mut().zip(removed);
        flat.filter(|(_, is_removed)| **is_removed)
            .for_each(|(flat, _)| flat.leave());
        Some(Box::new(out))
    }

    fn geometric_stiffness(&self, _parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (t, s) in force.as_chunks::<3>().0.iter().enumerate() {
            let width = out.width(t);
            let block = out.block_mut(t);
            let gradients = self.flat[t].gradients();
            for (a, g) in gradients.iter().enumerate() {
                for (b, h) in gradients.iter().enumerate() {
                    let mixed = g[0] * h[1] + g[1] * h[0];
                    let value = s[0] * g[0] * h[0] + s[1] * g[1] * h[1] + s[2] * mixed;
                    (0..3).for_each(|i| block[(3 * a + i) * width + 3 * b + i] = value);
                }
            }
        }
    }
}
