//! A mapping against a formula on hyper-dual numbers: exact to rounding.

use super::{largest_difference, numbers};
use crate::dual::{Dual, displace};
use crate::{Mapping, Model, ModelError, NodeId, Space};

/// Largest differences from the formula, each relative to `1 +` the size of what it is compared
/// with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExactCheck {
    /// Positions of the child.
    pub position: f64,
    /// `J`.
    pub jacobian: f64,
    /// `(dJ/dt) v`.
    pub bias: f64,
    /// `G`, which is the Hessian of `f . g`; zero for children that are bodies, whose force has no
    /// potential.
    pub geometric: f64,
}

impl ExactCheck {
    /// The largest of them.
    pub fn worst(&self) -> f64 {
        [self.position, self.jacobian, self.bias, self.geometric]
            .into_iter()
            .fold(0.0, f64::max)
    }
}

/// Checks a mapping to real coordinates against `formula`, which takes the positions of all
/// parents, one after the other, to those of the child. Velocities and forces are drawn from
/// `seed`.
///
/// # Errors
/// Errors of the model about the mapping, its parents or the state.
pub fn mapping_exactly<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    positions: &[f64],
    seed: u64,
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) -> Result<ExactCheck, ModelError> {
    let (model, ids, child) = super::model_of(mapping, parents, positions, seed)?;
    let model = crate::Problem::new(model);
    let state = model.initial_state()?;
    let mut evaluation = crate::Evaluation::new(&model);
    let mut s = state.clone();
    evaluation.propagate(&model, &mut s)?;
    evaluation.evaluate(&model, &s)?;
    let range = model.node(child).velocity_range();
    let force = numbers(seed + 99, range.len());
    let n = model.dof_count();
    let at = |i: Option<usize>, j: Option<usize>| formula(&displaced(&model, &ids, positions, i, j));
    let v: Vec<f64> = ids
        .iter()
        .flat_map(|id| model.velocities(&state, *id).to_vec())
        .collect();

    let mut out = ExactCheck::default();
    let values: Vec<f64> = at(None, None).iter().map(|d| d.re).collect();
    out.position = largest_difference(model.positions(&state, child), &values);
    let mut expected_bias = vec![0.0; range.len()];
    let mut hessian = vec![0.0; n * n];
    let mut jacobian = vec![0.0; range.len() * n];
    for i in 0..n {
        for j in 0..n {
            for (k, d) in at(Some(i), Some(j)).iter().enumerate() {
                jacobian[k * n + i] = d.eps1;
                hessian[i * n + j] += force[k] * d.eps1eps2;
                expected_bias[k] += v[i] * d.eps1eps2 * v[j];
            }
        }
    }
    let found = super::jacobian_of(&model, &mut evaluation, &ids, child, &state)?;
    out.jacobian = largest_difference(&found, &jacobian);
    evaluation.propagate(&model, &mut s)?;
    evaluation.evaluate(&model, &s)?;
    out.bias = largest_difference(&evaluation.bias()[range], &expected_bias);
    let found = super::geometry_of(&model, &mut evaluation, &ids, child, &s, &force);
    out.geometric = largest_difference(&found, &hessian);
    Ok(out)
}

/// Positions of all parents with velocity coordinate `i` moved by `eps1` and `j` by `eps2`.
fn displaced(
    model: &Model,
    ids: &[NodeId],
    positions: &[f64],
    i: Option<usize>,
    j: Option<usize>,
) -> Vec<Dual> {
    let mut out = vec![Dual::from(0.0); positions.len()];
    let (mut p, mut v) = (0, 0);
    for id in ids {
        let node = model.node(*id);
        let (np, nv) = (node.space.position_size(), node.space.velocity_size());
        for _ in 0..node.count {
            let local = |k: Option<usize>| k.and_then(|k| k.checked_sub(v)).filter(|k| *k < nv);
            displace(
                node.space,
                &positions[p..p + np],
                local(i),
                local(j),
                &mut out[p..p + np],
            );
            p += np;
            v += nv;
        }
    }
    out
}
