//! Strains of shells on frames.

use super::point::{Corners, Point, points};
use crate::checks::check_number;
use crate::{ContinuumError, SheetMesh, SymmetryPlane};
use pliant_dense::rotation::{Quaternion, matrix, normalize};
use pliant_dense::{Mat3, Vec3, skew, vec3};
use pliant_model::validate::{check_rigid, check_size};
use pliant_model::{
    Blocks, Degenerate, Dependency, Field, Kept, Mapping, MappingPieces, ModelError, Parents, Space,
};
use std::ops::Range;

/// Velocity coordinates of the four corners of a quadrangle.
const WIDTH: usize = 24;

/// Strains of a shell whose nodes are frames, nine at each of the four points of Gauss' rule of a
/// quadrangle: three of the middle surface, three curvatures, two transverse shears, and drilling.
///
/// **Equation.** Corner `b` is at `x_b` and carries the director `d_b = R_b D_b`, the normal at
/// rest turned with its frame. With the bilinear middle surface `x` and `d = sum N_b d_b` over the
/// square `(r, s)`, the strains along its lines are, less their values at rest (Dvorkin and Bathe
/// 1984), `e_ij = x,i . x,j/2` (none), `k_ij = (x,i . d,j + x,j . d,i)/2` (1/m) and
/// `g_i = x,i . d`. Shears are those of the sides, linear between two of them (MITC4); strains of
/// the middle surface are made of those of the four sides and the shear in the middle so that
/// warped quadrangles bend without stretch (MITC4+, Ko, Lee and Bathe 2017). In the axes `A_1`,
/// `A_2` of the point at rest the child is `(e_11, e_22, 2 e_12, k_11, k_22, 2 k_12, g_1, g_2, w)`.
/// Drilling `w = (f_1 . a_2 - f_2 . a_1)/2` compares the columns `f_k = x,k` of the gradient with
/// the axes `a_k = sum N_b R_b A_k` that turn with the frames: in small motion the turn of the
/// surface about its normal less that of the frames (Hughes and Brezzi 1989). All nine are of
/// second degree in places and rotation matrices, and none under rigid motion of any size.
/// `J` and `G` are their derivatives, with turns in the axes of the frames. Defined everywhere.
///
/// **Parents.** Bodies: the frames of the nodes of the shell.
///
/// **Use.** Shells, plates and folded sheets that share the turns of their nodes with bodies, rods
/// and joints. Bends in their plane are those of bilinear quadrangles: take several across a strip
/// that bends that way.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellStrain {
    node_count: usize,
    points: Vec<Point>,
}

impl ShellStrain {
    /// Makes the mapping of the quadrangles of a mesh (m), at rest with these rotations of the frames
    /// of its nodes.
    /// The first axis of a point runs along the part of the vector `warp` (none) in its tangent
    /// plane, or along the lines from the fourth edge of its quadrangle to the second. The director
    /// of a quadrangle at a node is the mean normal of all that are turned against it by less than
    /// the angle `fold` (rad, from zero to a quarter turn), and that it meets around the node over
    /// edges which are no sharper; edges of that angle and above are folds. Quadrangles may go round
    /// either way: two that share an edge go round the same way if they run along it in opposite
    /// directions.
    ///
    /// # Errors
    /// [`ContinuumError::Empty`], [`ContinuumError::Quadrangle`], and
    /// [`ContinuumError::Conflict`] of a mesh with triangles; [`ContinuumError::OutOfRange`].
    pub fn new(
        mesh: &SheetMesh,
        rotations: &[Quaternion],
        warp: Option<[f64; 3]>,
        fold: f64,
    ) -> Result<Self, ContinuumError> {
        Self::mirrored(mesh, rotations, warp, fold, &[])
    }

    /// Like [`new`](Self::new), of a mesh whose mirror image goes on behind planes of symmetry: its
    /// directors there are those of the whole.
    pub(super) fn mirrored(
        mesh: &SheetMesh,
        rotations: &[Quaternion],
        warp: Option<[f64; 3]>,
        fold: f64,
        planes: &[SymmetryPlane],
    ) -> Result<Self, ContinuumError> {
        if !mesh.triangles.is_empty() {
            return Err(ContinuumError::Conflict {
                field: Field::ShellFrames,
                with: "triangles",
                reason: "its elements are quadrangles",
            });
        }
        if mesh.quadrangles.is_empty() {
            return Err(ContinuumError::Empty);
        }
        let right_angle = std::f64::consts::FRAC_PI_2;
        let holds = (0.0..=right_angle).contains(&fold);
        check_number(Field::Fold, fold, holds, "from zero to a quarter turn")?;
        let (count, found) = (mesh.nodes.len(), rotations.len());
        let bound = "one for each node of the mesh";
        check_number(Field::RestRotations, found as f64, count == found, bound)?;
        let mut unit = Vec::with_capacity(count);
        for rotation in rotations {
            match normalize(*rotation) {
                Some(rotation) => unit.push(rotation),
                None => check_number(Field::RestRotations, f64::NAN, false, "a rotation")?,
            }
        }
        Ok(Self {
            node_count: count,
            points: points(mesh, &unit, warp, fold, planes)?,
        })
    }

    /// Area (m^2) at rest that each point stands for.
    pub fn areas(&self) -> Vec<f64> {
        self.points.iter().map(|p| p.area).collect()
    }

    /// Area (m^2) at rest that each node stands for: the shares of its shape functions.
    pub fn node_areas(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.node_count];
        for point in &self.points {
            for (node, share) in point.nodes.iter().zip(point.shares) {
                out[*node] += point.area * share;
            }
        }
        out
    }
}

/// The corners of a point's quadrangle.
fn corners(nodes: &[usize; 4], parents: &Parents<'_>) -> Corners {
    let at = nodes.map(|node| parents.position(Dependency::new(0, node)));
    let first = vec3(at[0], 0);
    Corners {
        x: at.map(|x| vec3(x, 0) - first),
        r: at.map(|x| matrix([x[3], x[4], x[5], x[6]])),
    }
}

/// Linear velocities of the corners, less that of the first, and angular ones in their axes.
fn velocities(nodes: &[usize; 4], parents: &Parents<'_>) -> [[Vec3; 4]; 2] {
    let at = nodes.map(|node| parents.velocity(Dependency::new(0, node)));
    let first = vec3(at[0], 0);
    [at.map(|v| vec3(v, 0) - first), at.map(|v| vec3(v, 3))]
}

impl Point {
    /// `V_ab` with `sum x_a . R_b V_ab` the product of `force` with the strains but those of the
    /// middle surface.
    fn lever(&self, force: &[f64], a: usize, b: usize) -> Vec3 {
        let along: f64 = (0..5).map(|k| force[3 + k] * self.bend[k][a][b]).sum();
        let drill = 0.5 * force[8] * self.shares[b];
        let [one, two] = self.axes[b].map(Vec3::from);
        along * Vec3::from(self.directors[b])
            + drill * (self.gradients[a][0] * two - self.gradients[a][1] * one)
    }

    /// Adds the derivatives of the strains: rows of 24.
    fn write_jacobian(&self, at: &Corners, out: &mut [f64]) {
        let d = self.directors(at);
        let mut write = |row: usize, corner: usize, start: usize, v: Vec3| {
            out[row * WIDTH + 6 * corner + start..][..3].copy_from_slice(v.as_slice());
        };
        for (k, m) in self.membrane.iter().enumerate() {
            for a in 0..4 {
                let slope: Vec3 = (0..4).map(|b| 2.0 * m[a][b] * at.x[b]).sum();
                write(k, a, 0, slope);
            }
        }
        for (k, s) in self.bend.iter().enumerate() {
            for a in 0..4 {
                write(3 + k, a, 0, (0..4).map(|b| s[a][b] * d[b]).sum());
                let arm: Vec3 = (0..4).map(|c| s[c][a] * at.x[c]).sum();
                let turned = Vec3::from(self.directors[a]).cross(&(at.r[a].transpose() * arm));
                write(3 + k, a, 3, turned);
            }
        }
        let [f, e] = self.drill(at);
        for a in 0..4 {
            let [one, two] = self.gradients[a];
            write(8, a, 0, 0.5 * (one * e[1] - two * e[0]));
            let [first, second] = self.axes[a].map(Vec3::from);
            let back = at.r[a].transpose();
            let turned = second.cross(&(back * f[0])) - first.cross(&(back * f[1]));
            write(8, a, 3, 0.5 * self.shares[a] * turned);
        }
    }

    /// Adds the second derivatives of `force` times the strains: 24 rows of 24.
    fn write_hessian(&self, at: &Corners, force: &[f64], out: &mut [f64]) {
        for b in 0..4 {
            let back = at.r[b].transpose();
            let mut own = Mat3::zeros();
            for a in 0..4 {
                let weight: f64 = (0..3).map(|k| 2.0 * force[k] * self.membrane[k][a][b]).sum();
                (0..3).for_each(|i| out[(6 * a + i) * WIDTH + 6 * b + i] = weight);
                let lever = self.lever(force, a, b);
                let y = back * at.x[a];
                let outer = y * lever.transpose();
                own += 0.5 * (outer + outer.transpose()) - y.dot(&lever) * Mat3::identity();
                let mixed = -at.r[b] * skew(lever);
                for i in 0..3 {
                    for j in 0..3 {
                        out[(6 * a + i) * WIDTH + 6 * b + 3 + j] = mixed[(i, j)];
                        out[(6 * b + 3 + j) * WIDTH + 6 * a + i] = mixed[(i, j)];
                    }
                }
            }
            for i in 0..3 {
                for j in 0..3 {
                    out[(6 * b + 3 + i) * WIDTH + 6 * b + 3 + j] = own[(i, j)];
                }
            }
        }
    }

    /// Adds the second derivatives in time of the strains at steady velocities.
    fn add_acceleration(&self, at: &Corners, [v, w]: &[[Vec3; 4]; 2], out: &mut [f64]) {
        for (out, m) in out.iter_mut().zip(&self.membrane) {
            for a in 0..4 {
                *out += (0..4).map(|b| 2.0 * m[a][b] * v[a].dot(&v[b])).sum::<f64>();
            }
        }
        for b in 0..4 {
            // R_b V turns: once and twice.
            let once = |a: Vec3| at.r[b] * w[b].cross(&a);
            let twice = |a: Vec3| at.r[b] * w[b].cross(&w[b].cross(&a));
            let d = Vec3::from(self.directors[b]);
            let (d1, d2) = (once(d), twice(d));
            let axes = self.axes[b].map(Vec3::from);
            let (a1, a2) = (axes.map(once), axes.map(twice));
            for a in 0..4 {
                let mixed = 2.0 * v[a].dot(&d1) + at.x[a].dot(&d2);
                for (out, s) in out[3..8].iter_mut().zip(&self.bend) {
                    *out += s[a][b] * mixed;
                }
                let along = |k: usize| 2.0 * v[a].dot(&a1[k]) + at.x[a].dot(&a2[k]);
                let [one, two] = self.gradients[a];
                out[8] += 0.5 * self.shares[b] * (one * along(1) - two * along(0));
            }
        }
    }
}

impl Mapping for ShellStrain {
    fn child(&self) -> (Space, usize) {
        (Space::Real(9), self.points.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let (space, found) = parents.first().copied().unwrap_or((Space::Real(0), 0));
        check_rigid(name, space)?;
        let what = "bodies, one for each node of the shell";
        check_size(name, Field::Parents, what, self.node_count, found)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.points[element].nodes.iter().map(|n| Dependency::new(0, *n)));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        MappingPieces::apply(self, parents, 0..self.points.len(), child)
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        (0..self.points.len())
            .try_for_each(|e| MappingPieces::jacobian(self, parents, e..e + 1, out.block_mut(e)))
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        MappingPieces::add_bias(self, parents, 0..self.points.len(), child);
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.as_chunks::<9>().0.iter().enumerate() {
            MappingPieces::geometric_stiffness(self, parents, e..e + 1, f, out.block_mut(e));
        }
    }

    fn pieces(&self) -> Option<&dyn MappingPieces> {
        Some(self)
    }

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        // Its frames are not shared out themselves: they are whole.
        (kept.parents[0] == (0..self.node_count)).then(|| {
            Box::new(Self {
                node_count: self.node_count,
                points: self.points[kept.elements.clone()].to_vec(),
            }) as Box<dyn Mapping>
        })
    }
}

impl ShellStrain {
    /// The points of some elements with their corners; those of one quadrangle have them in common.
    fn each(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        mut visit: impl FnMut(usize, &Point, &Corners),
    ) {
        let mut last: Option<([usize; 4], Corners)> = None;
        for (k, point) in self.points[elements].iter().enumerate() {
            let at = match last {
                Some((nodes, at)) if nodes == point.nodes => at,
                _ => corners(&point.nodes, &parents),
            };
            last = Some((point.nodes, at));
            visit(k, point, &at);
        }
    }
}

impl MappingPieces for ShellStrain {
    fn apply(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        child: &mut [f64],
    ) -> Result<(), Degenerate> {
        let out = child.as_chunks_mut::<9>().0;
        self.each(parents, elements, |k, point, at| out[k] = point.strains(at));
        Ok(())
    }

    fn jacobian(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), Degenerate> {
        let out = out.as_chunks_mut::<{ 9 * WIDTH }>().0;
        self.each(parents, elements, |k, point, at| {
            point.write_jacobian(at, &mut out[k]);
        });
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, elements: Range<usize>, child: &mut [f64]) {
        let out = child.as_chunks_mut::<9>().0;
        self.each(parents, elements, |k, point, at| {
            point.add_acceleration(at, &velocities(&point.nodes, &parents), &mut out[k]);
        });
    }

    fn geometric_stiffness(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        force: &[f64],
        out: &mut [f64],
    ) {
        let forces = force.as_chunks::<9>().0;
        let out = out.as_chunks_mut::<{ WIDTH * WIDTH }>().0;
        self.each(parents, elements, |k, point, at| {
            point.write_hessian(at, &forces[k], &mut out[k]);
        });
    }
}
