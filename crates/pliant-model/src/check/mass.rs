//! A mass against the energies of the model.

use super::law::negative_part;
use super::relative;
use crate::{Blocks, Mapping, Mass, Model, ModelError, NodeId, Problem, Space, State};

/// Largest differences found for a mass, each relative to `1 +` the size of what it is compared
/// with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MassCheck {
    /// Kinetic energy `v^T M v/2` from the blocks against that of the model; for a mapped node,
    /// `v^T (J^T M J) v/2` of the parents' velocity.
    pub kinetic: f64,
    /// `M v` against differences of the kinetic energy by velocity, and its sum against the
    /// momentum of the model; for a mapped node, `J^T M J v`.
    pub momentum: f64,
    /// The blocks against their transposes.
    pub symmetry: f64,
    /// The most negative eigenvalue of a block, over its largest entry.
    pub definite: f64,
}

impl MassCheck {
    /// The largest of them.
    pub fn worst(&self) -> f64 {
        [self.kinetic, self.momentum, self.symmetry, self.definite]
            .into_iter()
            .fold(0.0, f64::max)
    }
}

/// Checks a mass on a node of `space` at positions `x` and velocities `v`.
///
/// # Errors
/// Errors of the model about the mass or of the state.
pub fn mass(mass: &Mass, space: Space, x: &[f64], v: &[f64]) -> Result<MassCheck, ModelError> {
    let mut model = Model::new();
    let node = model.add_independent("checked node", space, x, v)?;
    model.add_mass("checked mass", node, mass.clone())?;
    let problem = Problem::new(model);
    let state = problem.initial_state()?;
    let mut product = vec![0.0; v.len()];
    mass.add_product(space, 1.0, v, &mut product);
    let mut out = compare(&problem, &state, &[node], node, mass, v, &product)?;
    if space.is_spatial() {
        let linear = problem.momentum(&state).linear;
        let size = space.velocity_size();
        for (k, total) in linear.iter().enumerate().take(size) {
            let sum: f64 = product.iter().skip(k).step_by(size).sum();
            out.momentum = out.momentum.max(relative(*total, sum));
        }
    }
    Ok(out)
}

/// Checks a mass on a mapped node: carried to the parents by `J^T M J`, it gives the kinetic energy
/// of the velocity that the mapping pushes. Positions are those of all parents, velocities are
/// drawn from `seed`.
///
/// # Errors
/// Errors of the model about the mass, the mapping, its parents or the state.
pub fn mapped_mass<M: Mapping + Clone + 'static>(
    mass: &Mass,
    mapping: &M,
    parents: &[(Space, usize)],
    positions: &[f64],
    seed: u64,
) -> Result<MassCheck, ModelError> {
    let (mut model, ids, child) = super::model_of(mapping, parents, positions, seed)?;
    model.add_mass("checked mass", child, mass.clone())?;
    let state = model.initial_state()?;
    let mut evaluation = crate::Evaluation::new(&model);
    let jacobian = super::jacobian_of(&model, &mut evaluation, &ids, child, &state)?;
    let v: Vec<f64> = ids
        .iter()
        .flat_map(|id| model.velocities(&state, *id).to_vec())
        .collect();
    let n = v.len();
    let pushed: Vec<f64> = jacobian
        .chunks_exact(n)
        .map(|row| row.iter().zip(&v).map(|(j, v)| j * v).sum())
        .collect();
    let space = model.node(child).space;
    let mut on_child = vec![0.0; pushed.len()];
    mass.add_product(space, 1.0, &pushed, &mut on_child);
    let carried = |k: usize| {
        on_child
            .iter()
            .enumerate()
            .map(|(i, p)| jacobian[i * n + k] * p)
            .sum()
    };
    let product: Vec<f64> = (0..n).map(carried).collect();
    compare(&Problem::new(model), &state, &ids, child, mass, &pushed, &product)
}

/// Compares blocks (over the velocity `v` of `node`) and momentum (over the degrees of freedom of
/// `ids`) with the model's energies.
fn compare(
    model: &Problem,
    state: &State,
    ids: &[NodeId],
    node: NodeId,
    mass: &Mass,
    v: &[f64],
    product: &[f64],
) -> Result<MassCheck, ModelError> {
    let mut out = MassCheck::default();
    let (space, count) = (model.node(node).space, model.node(node).count);
    let groups = mass.groups();
    let mut blocks: Blocks = crate::mass::group_shapes(&groups, space, count);
    let size = space.velocity_size();
    let mut kinetic = 0.0;
    for (g, list) in groups.lists(count).iter().enumerate() {
        mass.add_block(space, g, blocks.block_mut(g));
        let (n, block) = (blocks.width(g), blocks.block(g));
        let at = |k: usize| list[k / size] * size + k % size;
        for k in 0..n * n {
            out.symmetry = out.symmetry.max(relative(block[k], block[k % n * n + k / n]));
            kinetic += 0.5 * v[at(k / n)] * block[k] * v[at(k % n)];
        }
        out.definite = out.definite.max(negative_part(n, block));
    }
    out.kinetic = relative(kinetic, model.energies(state).kinetic);
    let dofs = ids.iter().flat_map(|id| model.node(*id).velocity_range());
    for (dof, p) in dofs.zip(product) {
        // The energy is quadratic: a step of any length gives its slope, and one of the size of the
        // velocity the most digits.
        let h = 1.0 + state.velocities[dof].abs();
        let energy = |t: f64| -> Result<f64, ModelError> {
            let mut s = state.clone();
            s.velocities[dof] += t;
            model.propagate(&mut s)?;
            Ok(model.energies(&s).kinetic)
        };
        out.momentum = out
            .momentum
            .max(relative((energy(h)? - energy(-h)?) / (2.0 * h), *p));
    }
    Ok(out)
}
