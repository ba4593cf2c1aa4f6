//! Displacements and velocities of all nodes, and their derivatives, in the tangent spaces of the
//! independent coordinates.

use pliant_dense::rotation;
use pliant_dense::{Mat3, Vec3, skew, vec3};
use pliant_model::{Blocks, Evaluation, Model, NodeKind, Space, State};

/// Copies independent coordinates (n) into the velocity coordinates of all nodes; mapped ones are
/// zero.
pub(crate) fn scatter(model: &Model, dofs: &[f64], nodes: &mut [f64]) {
    nodes.fill(0.0);
    for node in model.nodes() {
        if let Some(first) = node.first_dof() {
            let range = node.velocity_range();
            nodes[range.clone()].copy_from_slice(&dofs[first..first + range.len()]);
        }
    }
}

/// Copies the independent coordinates (n) out of the velocity coordinates of all nodes.
pub(crate) fn gather(model: &Model, nodes: &[f64], dofs: &mut [f64]) {
    for node in model.nodes() {
        if let Some(first) = node.first_dof() {
            let range = node.velocity_range();
            dofs[first..first + range.len()].copy_from_slice(&nodes[range]);
        }
    }
}

/// The derivative of the end of a displacement `x+ = x (+) d` by `d` and by `x`, for the bodies
/// among the independent coordinates; for all others both are the identity.
///
/// **Equation.** With `R+ = R exp(r)`, in body axes at either end: `dtheta+ = exp(-r) dtheta +
/// J_r(r) dr`.
#[derive(Debug, Default)]
pub(crate) struct Retraction {
    /// First rotation coordinate of each body among the independent coordinates, with both
    /// matrices.
    bodies: Vec<(usize, Mat3, Mat3)>,
}

impl Retraction {
    /// Evaluates both matrices of each body for the displacement `d` (n).
    pub(crate) fn place(&mut self, model: &Model, d: &[f64]) {
        self.bodies.clear();
        for node in model.nodes() {
            let (Some(first), Space::Rigid3) = (node.first_dof(), node.space) else {
                continue;
            };
            self.add_bodies(node.count, first, |at| vec3(d, at));
        }
    }

    /// Evaluates both matrices of each body of some nodes, among the velocity coordinates of all
    /// nodes, for displacements by the velocities `v` in the time `dt` (s).
    pub(crate) fn place_nodes(&mut self, model: &Model, nodes: &[usize], v: &[f64], dt: f64) {
        self.bodies.clear();
        for node in nodes.iter().map(|index| &model.nodes()[*index]) {
            if node.space == Space::Rigid3 {
                self.add_bodies(node.count, node.first_velocity, |at| dt * vec3(v, at));
            }
        }
    }

    fn add_bodies(&mut self, count: usize, first: usize, turned: impl Fn(usize) -> Vec3) {
        for at in (0..count).map(|e| first + 6 * e + 3) {
            let r = turned(at);
            let back = rotation::matrix(rotation::exp(-r));
            self.bodies.push((at, right_jacobian(r), back));
        }
    }

    /// `x <- D x`, how the end moves with the displacement.
    pub(crate) fn of_displacement(&self, x: &mut [f64]) {
        self.each(x, |by, _| *by);
    }

    /// `x <- D^T x`.
    pub(crate) fn of_displacement_transposed(&self, x: &mut [f64]) {
        self.each(x, |by, _| by.transpose());
    }

    /// `x <- E x`, how the end moves with the start.
    pub(crate) fn of_start(&self, x: &mut [f64]) {
        self.each(x, |_, from| *from);
    }

    /// `x <- E^T x`.
    pub(crate) fn of_start_transposed(&self, x: &mut [f64]) {
        self.each(x, |_, from| from.transpose());
    }

    fn each(&self, x: &mut [f64], of: impl Fn(&Mat3, &Mat3) -> Mat3) {
        for (at, by, from) in &self.bodies {
            let turned = of(by, from) * vec3(x, *at);
            x[*at..*at + 3].copy_from_slice(turned.as_slice());
        }
    }
}

/// `J_r(r)` with `exp(r + dr) = exp(r) exp(J_r dr)`.
fn right_jacobian(r: Vec3) -> Mat3 {
    let angle = r.norm();
    let k = skew(r);
    // (1 - cos a)/a^2 and (a - sin a)/a^3; below a tenth by their series, whose next terms are
    // rounding.
    let (first, second) = if angle < 0.1 {
        let s = angle * angle;
        let first = 0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s * (1.0 / 40_320.0 - s / 3_628_800.0)));
        let second =
            1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s * (1.0 / 362_880.0 - s / 39_916_800.0)));
        (first, second)
    } else {
        let half = (0.5 * angle).sin();
        (
            2.0 * half * half / (angle * angle),
            (angle - angle.sin()) / (angle * angle * angle),
        )
    };
    Mat3::identity() - first * k + second * (k * k)
}

/// How velocities of mapped nodes change with the positions, at constant velocities of the
/// independent ones: `d(J v)/dx`, from the whole geometric stiffness of unit forces.
#[derive(Debug, Default)]
pub(crate) struct VelocityVariation {
    /// The variation of each node with a nonlinear mapping whose velocities count.
    of_nodes: Vec<Option<NodeVariation>>,
    /// The nodes whose velocities count, with all that they hang on, in order, as far as their
    /// velocities change with positions.
    nodes: Vec<VaryingNode>,
    unit: Vec<f64>,
    /// The Jacobian block of one element, and the numbers that repeat in it.
    element: [Vec<f64>; 2],
}

/// A node whose velocities change with positions.
#[derive(Clone, Copy, Debug)]
struct VaryingNode {
    index: usize,
    /// Whether those of a parent of it do.
    hangs: bool,
}

/// The variation of one mapping.
#[derive(Debug)]
struct NodeVariation {
    /// Room for the geometric stiffness of a unit force.
    curvature: Blocks,
    /// `d(J v)/dx`, a row for each coordinate of an element.
    turned: Blocks,
}

impl VelocityVariation {
    /// Plans the variation of the velocities of the nodes that `counts` names.
    pub(crate) fn plan(model: &Model, evaluation: &Evaluation, counts: &[bool]) -> Self {
        let mut needed = counts.to_vec();
        for (index, node) in model.nodes().iter().enumerate().rev() {
            if let (NodeKind::Mapped { parents, .. }, true) = (&node.kind, needed[index]) {
                parents.iter().for_each(|p| needed[p.index()] = true);
            }
        }
        // Velocities of linear mappings of linear mappings change with no position.
        let mut varies = vec![false; model.nodes().len()];
        let mut nodes = Vec::new();
        for (index, node) in model.nodes().iter().enumerate() {
            if let (NodeKind::Mapped { parents, .. }, true) = (&node.kind, needed[index]) {
                let hangs = parents.iter().any(|p| varies[p.index()]);
                varies[index] = hangs || !is_linear(model, index);
                if varies[index] {
                    nodes.push(VaryingNode { index, hangs });
                }
            }
        }
        let bends = !nodes.is_empty();
        let variation = |index: usize| {
            let bends = varies[index] && !is_linear(model, index);
            bends.then(|| {
                let curvature = evaluation.geometric_shapes(model, index);
                let size = model.nodes()[index].space.velocity_size();
                let shapes = (0..curvature.len()).map(|e| (size, curvature.width(e)));
                NodeVariation {
                    turned: Blocks::new(shapes),
                    curvature,
                }
            })
        };
        Self {
            of_nodes: (0..model.nodes().len()).map(variation).collect(),
            nodes,
            unit: vec![0.0; if bends { model.velocity_count() } else { 0 }],
            element: Default::default(),
        }
    }

    /// Whether velocities change with positions at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Evaluates it at a state, which was evaluated, for velocities `v` of all nodes.
    pub(crate) fn evaluate(&mut self, model: &Model, evaluation: &mut Evaluation, state: &State, v: &[f64]) {
        for VaryingNode { index, .. } in &self.nodes {
            let Some(variation) = &mut self.of_nodes[*index] else {
                continue;
            };
            let NodeVariation { curvature, turned } = variation;
            let node = &model.nodes()[*index];
            let size = node.space.velocity_size();
            for i in 0..size {
                let unit = &mut self.unit[node.velocity_range()];
                unit.fill(0.0);
                unit.iter_mut().skip(i).step_by(size).for_each(|f| *f = 1.0);
                evaluation.write_force_derivative(model, state, *index, &self.unit, curvature);
                self.unit[node.velocity_range()].fill(0.0);
                for e in 0..node.count {
                    let width = curvature.width(e);
                    let row = &mut turned.block_mut(e)[i * width..][..width];
                    row.fill(0.0);
                    let places = places(model, evaluation, *index, e);
                    for (curved, a) in curvature.block(e).chunks_exact(width.max(1)).zip(places) {
                        row.iter_mut().zip(curved).for_each(|(r, g)| *r += v[a] * g);
                    }
                }
            }
        }
    }

    /// Writes the change of the velocities of all nodes under the displacements `y` of all nodes.
    pub(crate) fn apply(&mut self, model: &Model, evaluation: &Evaluation, y: &[f64], du: &mut [f64]) {
        du.fill(0.0);
        for VaryingNode { index, hangs } in &self.nodes {
            let node = &model.nodes()[*index];
            let size = node.space.velocity_size();
            for e in 0..node.count {
                let places = places(model, evaluation, *index, e);
                let first = node.first_velocity + e * size;
                if *hangs {
                    let [jacobian, numbers] = &mut self.element;
                    evaluation.write_whole_jacobian(model, *index, e, [&mut *jacobian, numbers]);
                    let rows = jacobian.chunks_exact((jacobian.len() / size).max(1));
                    for (i, row) in rows.enumerate() {
                        let terms = row.iter().zip(places.clone());
                        du[first + i] = terms.map(|(j, k)| j * du[k]).sum();
                    }
                }
                if let Some(NodeVariation { turned, .. }) = &self.of_nodes[*index] {
                    let rows = turned.block(e).chunks_exact(turned.width(e).max(1));
                    for (i, row) in rows.enumerate() {
                        let terms = row.iter().zip(places.clone());
                        du[first + i] += terms.map(|(b, k)| b * y[k]).sum::<f64>();
                    }
                }
            }
        }
    }

    /// Adds the transpose: forces `f` against the velocities of all nodes, which are carried up in
    /// place as far as these vary, become forces `out` against the displacements of the nodes,
    /// each where it acts.
    pub(crate) fn apply_transposed(
        &mut self,
        model: &Model,
        evaluation: &Evaluation,
        f: &mut [f64],
        out: &mut [f64],
    ) {
        for VaryingNode { index, hangs } in self.nodes.iter().rev() {
            let node = &model.nodes()[*index];
            let size = node.space.velocity_size();
            for e in 0..node.count {
                let first = node.first_velocity + e * size;
                let places = places(model, evaluation, *index, e);
                if *hangs {
                    let [jacobian, numbers] = &mut self.element;
                    evaluation.write_whole_jacobian(model, *index, e, [&mut *jacobian, numbers]);
                    let rows = jacobian.chunks_exact((jacobian.len() / size).max(1));
                    for (i, row) in rows.enumerate() {
                        let force = f[first + i];
                        for (j, k) in row.iter().zip(places.clone()) {
                            f[k] += j * force;
                        }
                    }
                }
                if let Some(NodeVariation { turned, .. }) = &self.of_nodes[*index] {
                    let rows = turned.block(e).chunks_exact(turned.width(e).max(1));
                    for (i, row) in rows.enumerate() {
                        let force = f[first + i];
                        for (b, k) in row.iter().zip(places.clone()) {
                            out[k] += b * force;
                        }
                    }
                }
            }
        }
    }
}

/// Whether the mapping of a node is linear; true of independent nodes.
pub(crate) fn is_linear(model: &Model, node: usize) -> bool {
    match &model.nodes()[node].kind {
        NodeKind::Independent { .. } => true,
        NodeKind::Mapped { mapping, .. } => mapping.is_linear(),
    }
}

/// The velocity coordinates of all dependencies of an element, among those of all nodes.
pub(crate) fn places<'a>(
    model: &'a Model,
    evaluation: &'a Evaluation,
    node: usize,
    element: usize,
) -> impl Iterator<Item = usize> + Clone + 'a {
    let ranges = match &model.nodes()[node].kind {
        NodeKind::Mapped { ranges, .. } => &ranges[..],
        NodeKind::Independent { .. } => &[],
    };
    let list = evaluation.dependencies(node, element).iter();
    list.flat_map(move |d| {
        let (_, first, space) = ranges[d.parent];
        let size = space.velocity_size();
        first + d.element * size..first + (d.element + 1) * size
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against differences of the exponential, on both sides of the change of formula.
    #[test]
    fn the_right_jacobian_is_the_derivative_of_the_exponential() {
        for scale in [1e-3, 0.05, 0.3, 2.0] {
            let r = Vec3::new(0.6, -0.64, 0.48) * scale;
            let found = right_jacobian(r);
            for k in 0..3 {
                let step = Vec3::from_fn(|i, _| if i == k { 1e-5 } else { 0.0 });
                let turn = |sign: f64| {
                    let ends = [
                        rotation::conjugate(rotation::exp(r)),
                        rotation::exp(r + sign * step),
                    ];
                    rotation::log(rotation::multiply(ends[0], ends[1]))
                };
                let expected = (turn(1.0) - turn(-1.0)) / 2e-5;
                assert!((found.column(k) - expected).norm() < 1e-9, "{scale} {k}");
            }
        }
    }
}
