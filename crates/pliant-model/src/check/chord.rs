//! Checks of mean Jacobians and mean forces along finite displacements.

use super::{model_of, numbers, relative};
use crate::{Evaluation, Mapping, ModelError, Problem, Space};

/// The largest difference between the work of forces drawn from `seed` on the chord of the child,
/// and of what [`Evaluation::pull_back_chords`] makes of them on those of the parents, from the
/// given positions (all parents, one after the other) to others that are up to 0.3 away in each
/// coordinate; relative to `1 +` its size. Rounding for a mapping that
/// [carries chords](Mapping::carries_chords).
///
/// # Errors
/// Errors of the model about the mapping, its parents or the state.
pub fn chord<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    positions: &[f64],
    seed: u64,
) -> Result<f64, ModelError> {
    let (model, ids, child) = model_of(mapping, parents, positions, seed)?;
    let problem = Problem::new(model);
    let mut start = problem.initial_state()?;
    let mut end = start.clone();
    for id in &ids {
        let node = problem.node(*id);
        let step: Vec<f64> = numbers(seed + 7 + id.index() as u64, node.velocity_range().len());
        let step: Vec<f64> = step.iter().map(|s| 0.3 * s).collect();
        node.space
            .retract(&mut end.positions[node.position_range()], &step);
    }
    let mut evaluations = [Evaluation::new(&problem), Evaluation::new(&problem)];
    evaluations[0].propagate(&problem, &mut start)?;
    evaluations[1].propagate(&problem, &mut end)?;
    let chord_of = |id| {
        let node: &crate::Node = problem.node(id);
        let [x, to] = [&start, &end].map(|s| &s.positions[node.position_range()]);
        let mut out = vec![0.0; node.velocity_range().len()];
        node.space.chord(x, to, &mut out);
        out
    };
    let work = |forces: [&[f64]; 2], chord: &[f64]| -> f64 {
        let of = |f: &[f64]| f.iter().zip(chord).map(|(f, d)| f * d).sum::<f64>();
        0.5 * (of(forces[0]) + of(forces[1]))
    };
    let range = problem.node(child).velocity_range();
    let own = numbers(seed + 99, range.len());
    let mut forces = [0, 1].map(|_| vec![0.0; problem.velocity_count()]);
    forces
        .iter_mut()
        .for_each(|f| f[range.clone()].copy_from_slice(&own));
    let wanted = work([&own, &own], &chord_of(child));
    let [first, last] = &mut forces;
    evaluations[0].pull_back_chords(&evaluations[1], &problem, [&start, &end], [first, last]);
    let found: f64 = ids
        .iter()
        .map(|id| {
            let range = problem.node(*id).velocity_range();
            work([&forces[0][range.clone()], &forces[1][range]], &chord_of(*id))
        })
        .sum();
    Ok(relative(found, wanted).abs())
}
