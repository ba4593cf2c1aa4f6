//! Geometric stiffness of all mappings: how forces on mapped nodes turn as these move.

use crate::kinematics::places;
use pliant_model::{Blocks, Evaluation, Problem, State};

/// Writes the geometric stiffness of forces on all nodes, carried up.
pub(crate) fn place_geometry(
    problem: &Problem,
    evaluation: &mut Evaluation,
    state: &State,
    total: &[f64],
    geometry: &mut [Option<Blocks>],
) {
    for (index, blocks) in geometry.iter_mut().enumerate() {
        if let Some(blocks) = blocks {
            evaluation.write_force_derivative(problem, state, index, total, blocks);
        }
    }
}

/// Adds the changes of forces on all nodes that turn with displacements `ys` of all nodes.
pub(crate) fn add_geometry(
    problem: &Problem,
    evaluation: &Evaluation,
    geometry: &[Option<Blocks>],
    ys: &[f64],
    forces: &mut [f64],
) {
    each_entry(problem, evaluation, geometry, |a, b, g| forces[a] += g * ys[b]);
}

/// Adds the transposed product of [`add_geometry`].
pub(crate) fn add_geometry_transposed(
    problem: &Problem,
    evaluation: &Evaluation,
    geometry: &[Option<Blocks>],
    forces: &[f64],
    ys: &mut [f64],
) {
    each_entry(problem, evaluation, geometry, |a, b, g| ys[b] += g * forces[a]);
}

/// Visits the entries of all blocks: the velocity coordinates of their row and column among those of
/// all nodes.
fn each_entry(
    problem: &Problem,
    evaluation: &Evaluation,
    geometry: &[Option<Blocks>],
    mut f: impl FnMut(usize, usize, f64),
) {
    for (index, blocks) in geometry.iter().enumerate() {
        let Some(blocks) = blocks else { continue };
        for e in 0..blocks.len() {
            let rows = blocks.block(e).chunks_exact(blocks.width(e).max(1));
            let places = || places(problem, evaluation, index, e);
            for (row, a) in rows.zip(places()) {
                row.iter().zip(places()).for_each(|(g, b)| f(a, b, *g));
            }
        }
    }
}
