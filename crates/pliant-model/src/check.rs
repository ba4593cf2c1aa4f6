//! Checkers for mappings, force fields and masses, the library's and the user's: every derivative
//! against finite differences.
//!
//! ```
//! use pliant_model::{check, Distance, End, Space};
//! let mapping = Distance::new(&[(End::element(0, 0), End::element(0, 1))]);
//! let found = check::mapping(&mapping, &[(Space::Real(3), 2)], &[0.0, 0.0, 0.0, 1.0, 2.0, -1.0], 1);
//! assert!(found.unwrap().worst() < 1e-6);
//! ```

mod chord;
mod exact;
mod law;
mod mass;
mod memory;
mod processes;

pub use chord::chord;
pub use exact::{ExactCheck, mapping_exactly};
pub use law::{ForceFieldCheck, force_field};
pub use mass::{MassCheck, mapped_mass, mass};
pub use memory::{MemoryCheck, memory};
pub use processes::processes;

use crate::validate::check_least;
use crate::{Dependency, Field, Mapping, Model, ModelError, NodeId, Space, State};

/// Largest differences found, each relative to `1 +` the size of what it is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MappingCheck {
    /// `J` against central differences of the mapping.
    pub jacobian: f64,
    /// `<J v, f> = <v, J^T f>` of the pushed velocity and the pulled force.
    pub adjoint: f64,
    /// `(dJ/dt) v` against central differences of `J v` along the motion.
    pub bias: f64,
    /// Symmetric part of central differences of `J^T f` against `G`.
    pub geometric: f64,
    /// `G - G^T`.
    pub symmetry: f64,
    /// Central differences of `J^T f` against `G` whole
    /// ([`Evaluation::write_force_derivative`](crate::Evaluation::write_force_derivative)).
    pub force_derivative: f64,
}

impl MappingCheck {
    /// The largest of them.
    pub fn worst(&self) -> f64 {
        [
            self.jacobian,
            self.adjoint,
            self.bias,
            self.geometric,
            self.symmetry,
            self.force_derivative,
        ]
        .into_iter()
        .fold(0.0, f64::max)
    }
}

/// Deterministic numbers between -1 and 1.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..8).for_each(|_| {
        next();
    });
    (0..count).map(|_| next()).collect()
}

/// Checks a mapping at the given parent positions (all parents, one after the other), with
/// velocities and forces drawn from `seed`. Finite differences of step 1e-5 leave errors of about
/// 1e-9 for functions of unit scale.
///
/// # Errors
/// Errors of the model about the mapping, its parents or the state.
pub fn mapping<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    positions: &[f64],
    seed: u64,
) -> Result<MappingCheck, ModelError> {
    let (model, ids, child) = model_of(mapping, parents, positions, seed)?;
    let model = crate::Problem::new(model);
    let state = model.initial_state()?;
    let mut evaluation = crate::Evaluation::new(&model);
    let n = model.dof_count();
    let range = model.node(child).velocity_range();
    let force = numbers(seed + 99, range.len());
    let dofs: Vec<usize> = ids
        .iter()
        .flat_map(|id| model.node(*id).velocity_range())
        .collect();
    let moved = |direction: &[f64], t: f64| -> Result<State, ModelError> {
        let mut s = state.clone();
        let mut at = 0;
        for id in &ids {
            let node = model.node(*id);
            let size = node.velocity_range().len();
            let step: Vec<f64> = direction[at..at + size].iter().map(|d| d * t).collect();
            node.space.retract(&mut s.positions[node.position_range()], &step);
            at += size;
        }
        model.propagate(&mut s)?;
        Ok(s)
    };
    let pulled = |s: &State, evaluation: &mut crate::Evaluation| -> Result<Vec<f64>, ModelError> {
        let mut s = s.clone();
        evaluation.propagate(&model, &mut s)?;
        let mut f = vec![0.0; model.velocity_count()];
        f[range.clone()].copy_from_slice(&force);
        evaluation.pull_back(&model, &mut f);
        Ok(dofs.iter().map(|k| f[*k]).collect())
    };

    let h = 1e-5;
    let mut out = MappingCheck::default();
    let space = model.node(child).space;
    let jacobian = jacobian_of(&model, &mut evaluation, &ids, child, &state)?;

    // Jacobian, and G through the pulled force.
    let mut geometry = vec![0.0; n * n];
    for k in 0..n {
        let mut e = vec![0.0; n];
        e[k] = 1.0;
        let (plus, minus) = (moved(&e, h)?, moved(&e, -h)?);
        let mut difference = vec![0.0; range.len()];
        space.local(
            model.positions(&minus, child),
            model.positions(&plus, child),
            &mut difference,
        );
        for (i, d) in difference.iter().enumerate() {
            out.jacobian = out.jacobian.max(relative(jacobian[i * n + k], d / (2.0 * h)));
        }
        let (fp, fm) = (pulled(&plus, &mut evaluation)?, pulled(&minus, &mut evaluation)?);
        for i in 0..n {
            geometry[i * n + k] = (fp[i] - fm[i]) / (2.0 * h);
        }
    }

    // Adjoint.
    let back = pulled(&state, &mut evaluation)?;
    let v: Vec<f64> = dofs.iter().map(|k| state.velocities[*k]).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    out.adjoint = relative(dot(model.velocities(&state, child), &force), dot(&v, &back));

    // Bias: derivative of the pushed velocity along the motion at constant velocity coordinates.
    let (plus, minus) = (moved(&v, h)?, moved(&v, -h)?);
    let mut s = state.clone();
    evaluation.propagate(&model, &mut s)?;
    evaluation.evaluate(&model, &s)?;
    let pushed = model
        .velocities(&plus, child)
        .iter()
        .zip(model.velocities(&minus, child));
    for ((p, m), b) in pushed.zip(&evaluation.bias()[range]) {
        out.bias = out.bias.max(relative((p - m) / (2.0 * h), *b));
    }

    // Geometric stiffness.
    let ours = geometry_of(&model, &mut evaluation, &ids, child, &s, &force);
    let whole = force_derivative_of(&model, &mut evaluation, &ids, child, &s, &force);
    out.force_derivative = largest_difference(&whole, &geometry);
    for i in 0..n {
        for j in 0..n {
            out.symmetry = out.symmetry.max(relative(ours[i * n + j], ours[j * n + i]));
            let symmetric = 0.5 * (geometry[i * n + j] + geometry[j * n + i]);
            out.geometric = out.geometric.max(relative(ours[i * n + j], symmetric));
        }
    }
    Ok(out)
}

fn relative(a: f64, b: f64) -> f64 {
    let difference = (a - b).abs() / (1.0 + a.abs().max(b.abs()));
    if difference.is_nan() {
        f64::INFINITY
    } else {
        difference
    }
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.iter()
        .zip(b)
        .fold(0.0, |worst, (a, b)| worst.max(relative(*a, *b)))
}

/// A model of one mapped node: its parents (moving), its child.
fn model_of<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    positions: &[f64],
    seed: u64,
) -> Result<(Model, Vec<NodeId>, NodeId), ModelError> {
    let mut model = Model::new();
    let mut ids = Vec::new();
    let mut start = 0;
    for (k, (space, count)) in parents.iter().enumerate() {
        let size = space.position_size() * count;
        let found = positions.len().saturating_sub(start);
        let name = format!("parent {k}");
        check_least(&name, Field::Positions, "positions", size, found)?;
        let v = numbers(seed + k as u64, space.velocity_size() * count);
        ids.push(model.add_independent(&name, *space, &positions[start..start + size], &v)?);
        start += size;
    }
    let child = model.add_mapped("child", &ids, mapping.clone())?;
    Ok((model, ids, child))
}

/// `J` of the child over all parents, row-major, column by column from the pushed velocity.
fn jacobian_of(
    model: &Model,
    evaluation: &mut crate::Evaluation,
    ids: &[NodeId],
    child: NodeId,
    state: &State,
) -> Result<Vec<f64>, ModelError> {
    let dofs: Vec<usize> = ids
        .iter()
        .flat_map(|id| model.node(*id).velocity_range())
        .collect();
    let (n, rows) = (dofs.len(), model.node(child).velocity_range().len());
    let mut out = vec![0.0; rows * n];
    for k in 0..n {
        let mut s = state.clone();
        for (j, dof) in dofs.iter().enumerate() {
            s.velocities[*dof] = f64::from(u8::from(j == k));
        }
        evaluation.propagate(model, &mut s)?;
        for (i, v) in model.velocities(&s, child).iter().enumerate() {
            out[i * n + k] = *v;
        }
    }
    Ok(out)
}

/// `G` of the child over all parents, row-major.
fn geometry_of(
    model: &Model,
    evaluation: &mut crate::Evaluation,
    ids: &[NodeId],
    child: NodeId,
    state: &State,
    force: &[f64],
) -> Vec<f64> {
    let total = on_all_nodes(model, child, force);
    let blocks = evaluation.geometric_stiffness(model, state, child.index(), &total);
    let blocks = blocks.cloned().unwrap_or_default();
    on_dofs(model, evaluation, ids, child, &blocks)
}

/// `G` whole, as [`Evaluation::write_force_derivative`](crate::Evaluation::write_force_derivative)
/// writes it, on the degrees of freedom.
fn force_derivative_of(
    model: &Model,
    evaluation: &mut crate::Evaluation,
    ids: &[NodeId],
    child: NodeId,
    state: &State,
    force: &[f64],
) -> Vec<f64> {
    let total = on_all_nodes(model, child, force);
    let mut blocks = evaluation.geometric_shapes(model, child.index());
    evaluation.write_force_derivative(model, state, child.index(), &total, &mut blocks);
    on_dofs(model, evaluation, ids, child, &blocks)
}

/// The forces on a node as those on all nodes.
fn on_all_nodes(model: &Model, child: NodeId, force: &[f64]) -> Vec<f64> {
    let mut total = vec![0.0; model.velocity_count()];
    total[model.node(child).velocity_range()].copy_from_slice(force);
    total
}

/// The sum of the blocks of a mapped node over its parents, which are independent; zero without
/// blocks.
fn on_dofs(
    model: &Model,
    evaluation: &crate::Evaluation,
    ids: &[NodeId],
    child: NodeId,
    blocks: &crate::Blocks,
) -> Vec<f64> {
    let n = model.dof_count();
    let mut out = vec![0.0; n * n];
    for e in 0..blocks.len() {
        let coordinates = |d: &Dependency| {
            let node = model.node(ids[d.parent]);
            let (size, first) = (node.space.velocity_size(), node.first_dof().unwrap_or(0));
            first + d.element * size..first + (d.element + 1) * size
        };
        let list = evaluation.dependencies(child.index(), e);
        let map: Vec<usize> = list.iter().flat_map(coordinates).collect();
        for (a, i) in map.iter().enumerate() {
            for (b, j) in map.iter().enumerate() {
                out[i * n + j] += blocks.block(e)[a * map.len() + b];
            }
        }
    }
    out
}
