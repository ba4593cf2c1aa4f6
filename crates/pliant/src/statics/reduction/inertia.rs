//! The inertia of a body in a floating frame, without its nodes.

use super::no;
use crate::Error;
use crate::reduced::ReducedMode;
use pliant_dense::rotation::{Quaternion, rotate};
use pliant_dense::{Mat3, Vec3, vec3};
use pliant_model::{Mass, Model, Node, Space, State};

/// The matrix (kg, rows first) over the inertia points of a body: its frame, then for the body at
/// rest and for each mode the three of the axes. See [`ReducedBody`](crate::ReducedBody).
///
/// **Cost.** For `N` nodes and `n` modes some `9 n^2 N` products, and `3 n` for each entry of the
/// mass matrix.
pub(super) fn matrix(
    model: &Model,
    state: &State,
    centre: Vec3,
    modes: &[ReducedMode],
) -> Result<Vec<f64>, Error> {
    let width = 1 + 3 * (modes.len() + 1);
    let mut out = vec![0.0; width * width];
    for mass in model.masses() {
        let node = model.node(mass.node);
        if !matches!(node.space, Space::Real(3) | Space::Rigid3) {
            return no(format!(
                "`{}` is the mass of {}, which have no place in space",
                mass.name, node.space
            ));
        }
        let nodal = NodalPoints {
            node,
            state,
            centre,
            modes,
        };
        let rows = nodal.rows(&mass.component);
        // M Z, then Z^T (M Z).
        let mut products = vec![0.0; rows.len()];
        nodal.for_each_entry(&mass.component, |m, i, j| {
            let from = &rows[j * width..][..width];
            let to = &mut products[i * width..][..width];
            to.iter_mut().zip(from).for_each(|(a, b)| *a += m * b);
        });
        for (z, mz) in rows.chunks_exact(width).zip(products.chunks_exact(width)) {
            for (i, z) in z.iter().enumerate() {
                let to = &mut out[i * width..][..width];
                to.iter_mut().zip(mz).for_each(|(a, b)| *a += z * b);
            }
        }
    }
    // Symmetric but for the order of sums.
    for i in 0..width {
        for j in 0..i {
            let mean = 0.5 * (out[i * width + j] + out[j * width + i]);
            (out[i * width + j], out[j * width + i]) = (mean, mean);
        }
    }
    Ok(out)
}

/// The points that the mass of a node is at: its elements, and of bodies the ends of three unit
/// vectors along the axes beside.
struct NodalPoints<'a> {
    node: &'a Node,
    state: &'a State,
    centre: Vec3,
    modes: &'a [ReducedMode],
}

impl NodalPoints<'_> {
    /// The weights of the inertia points in each of them, one row after the other.
    fn rows(&self, mass: &Mass) -> Vec<f64> {
        let width = 1 + 3 * (self.modes.len() + 1);
        let axes = if matches!(mass, Mass::Rigid(_)) { 3 } else { 0 };
        let mut out = vec![0.0; self.node.count * (1 + axes) * width];
        let (p, v) = (self.node.space.position_size(), self.node.space.velocity_size());
        let mut rows = out.chunks_exact_mut(width);
        for e in 0..self.node.count {
            let place = &self.state.positions[self.node.first_position + e * p..][..p];
            let motions = self
                .modes
                .iter()
                .map(|m| &m.velocities[self.node.first_velocity + e * v..][..v]);
            let turn: Option<Quaternion> = (axes > 0).then(|| [place[3], place[4], place[5], place[6]]);
            if let Some(row) = rows.next() {
                let of_modes = motions.clone().map(|m| vec3(m, 0));
                write_row(row, 1.0, vec3(place, 0) - self.centre, of_modes);
            }
            let Some(turn) = turn else { continue };
            for axis in 0..axes {
                let own = Vec3::from_fn(|i, _| f64::from(u8::from(i == axis)));
                let Some(row) = rows.next() else { continue };
                // A small rotation in the axes of the body moves the end of the vector.
                let of_modes = motions.clone().map(|m| rotate(turn, vec3(m, 3).cross(&own)));
                write_row(row, 0.0, rotate(turn, own), of_modes);
            }
        }
        out
    }

    /// Calls with every entry `m_ij` (kg) between these points.
    fn for_each_entry(&self, mass: &Mass, mut take: impl FnMut(f64, usize, usize)) {
        match mass {
            Mass::Coupled(list) => {
                for group in list {
                    let n = group.elements.len();
                    for (a, i) in group.elements.iter().enumerate() {
                        for (b, j) in group.elements.iter().enumerate() {
                            take(group.matrix[a * n + b], *i, *j);
                        }
                    }
                }
            }
            Mass::Rigid(_) => {
                for e in 0..self.node.count {
                    let Some(rigid) = mass.rigid(e) else { continue };
                    take(rigid.mass, 4 * e, 4 * e);
                    // Of the ends of vectors: the second moments of the mass.
                    let inertia = rigid.inertia_matrix();
                    let second = Mat3::identity() * (0.5 * inertia.trace()) - inertia;
                    for i in 0..3 {
                        for j in 0..3 {
                            take(second[(i, j)], 4 * e + 1 + i, 4 * e + 1 + j);
                        }
                    }
                }
            }
            Mass::Uniform(_) | Mass::PerElement(_) => {
                for e in 0..self.node.count {
                    take(mass.of(e), e, e);
                }
            }
        }
    }
}

/// Writes the weights of `r + sum phi_k q_k` over the inertia points: those of the axes, and what
/// is left of `whole` for the frame.
fn write_row(row: &mut [f64], whole: f64, rest: Vec3, of_modes: impl Iterator<Item = Vec3>) {
    let arms = std::iter::once(rest).chain(of_modes);
    for (to, arm) in row[1..].as_chunks_mut::<3>().0.iter_mut().zip(arms) {
        *to = arm.into();
    }
    row[0] = whole - row[1..].iter().sum::<f64>();
}
