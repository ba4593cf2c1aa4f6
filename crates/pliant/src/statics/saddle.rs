//! Saddles that the start leads to by its symmetry.
//!
//! A rod that is bent in a plane and would rather leave it, a column that is pressed along its
//! axis: neither Newton's method nor the flow ever takes a step out of the symmetry of the start,
//! and the flow too would come to rest at a saddle. Where the start, the loads or an imperfection
//! break the symmetry, steps have a part in the negative modes.

use super::newton::Tangent;
use super::workspace::{Setting, Workspace};
use crate::Error;
use pliant_dense::eigen::symmetric_eigen;
use pliant_model::LeanState;
use pliant_solvers::Solution;
use pliant_solvers::eigen::pseudo_random;

/// Lanczos vectors at most: what takes more is left to the flow.
const MOST_VECTORS: usize = 80;
/// Share of the largest eigenvalue that a mode may miss its equation by.
const FOUND: f64 = 1e-13;
/// Share of the way in a negative mode that is rounding.
const NO_PART: f64 = 1e-10;

/// Whether the last correction has no part in the negative modes of the tangent that it was solved
/// with: it goes downhill in all directions that it has.
pub(crate) fn is_step_beside(at: &Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
    let step = work.linear.step.x.clone();
    is_beside(at, work, step)
}

/// Whether the way from a state to the present saddle has no part in the negative modes there.
pub(crate) fn is_way_beside(
    at: &Setting<'_>,
    work: &mut Workspace,
    start: &LeanState,
) -> Result<bool, Error> {
    let mut way = vec![0.0; at.system.model.dof_count()];
    for (node, from) in start.nodes(&at.system.model) {
        let Some(first) = node.first_dof() else { continue };
        let to = &at.motion.state.positions[node.position_range()];
        let way = &mut way[first..first + node.velocity_range().len()];
        node.space.local(from, to, way);
    }
    is_beside(at, work, way)
}

/// Whether a displacement has no part in the negative modes of the tangent as last factored.
///
/// The modes are found by Lanczos's method on the inverse of the tangent. False if it does not find
/// as many as the inertia says.
fn is_beside(at: &Setting<'_>, work: &mut Workspace, mut way: Vec<f64>) -> Result<bool, Error> {
    let kind = work.linear.kind;
    if kind.zero > 0 || at.system.contacts.is_some() {
        return Ok(false);
    }
    for (w, inverse) in way.iter_mut().zip(&work.metric.inverse_length) {
        *w *= inverse;
    }
    let length = dot(&way, &way).sqrt();
    let modes = negative_modes(at, work, kind.negative)?;
    Ok(modes.is_some_and(|modes| {
        let mut parts = modes.iter().map(|mode| dot(mode, &way).abs());
        parts.all(|part| part <= NO_PART * length)
    }))
}

/// The negative modes of the tangent as factored, as displacements of size 1 in the units of the
/// metric; `None` if there are not so many to be found.
fn negative_modes(
    at: &Setting<'_>,
    work: &mut Workspace,
    count: usize,
) -> Result<Option<Vec<Vec<f64>>>, Error> {
    let n = at.system.model.dof_count();
    // Any vector that has a part in every mode, the same in every run.
    let mut seed = 1u64;
    let mut next: Vec<f64> = (0..n).map(|_| pseudo_random(&mut seed)).collect();
    invert(at, work, &mut next)?;
    let mut vectors: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut size = dot(&next, &next).sqrt();
    let scale = size;
    while vectors.len() < MOST_VECTORS && size > FOUND * scale {
        vectors.push(next.iter().map(|x| x / size).collect());
        let last = &vectors[vectors.len() - 1];
        next.clone_from(last);
        invert(at, work, &mut next)?;
        diagonal.push(dot(&next, last));
        // Twice is enough to make them orthogonal to rounding (Kahan; Parlett 1998, section 6.9).
        for _ in 0..2 {
            for vector in &vectors {
                let part = dot(&next, vector);
                for (x, v) in next.iter_mut().zip(vector) {
                    *x -= part * v;
                }
            }
        }
        size = dot(&next, &next).sqrt();
        beside.push(size);
        if let Some(modes) = found(&vectors, &diagonal, &beside, count) {
            return Ok(Some(modes));
        }
    }
    Ok(None)
}

/// The modes of negative eigenvalues among Ritz's vectors, if there are so many and all are right.
fn found(vectors: &[Vec<f64>], diagonal: &[f64], beside: &[f64], count: usize) -> Option<Vec<Vec<f64>>> {
    let k = vectors.len();
    let (mut a, mut s) = (vec![0.0; k * k], vec![0.0; k * k]);
    for i in 0..k {
        a[i * k + i] = diagonal[i];
        if i + 1 < k {
            (a[i * k + i + 1], a[(i + 1) * k + i]) = (beside[i], beside[i]);
        }
    }
    if !symmetric_eigen(k, &mut a, &mut s) {
        return None;
    }
    let value = |j: usize| a[j * k + j];
    let largest = (0..k).fold(0.0f64, |most, j| most.max(value(j).abs()));
    let missed = |j: usize| beside[k - 1] * s[(k - 1) * k + j].abs();
    let right = |j: &usize| value(*j) < 0.0 && missed(*j) <= FOUND * largest;
    let modes: Vec<usize> = (0..k).filter(right).collect();
    (modes.len() == count).then(|| {
        let vector = |j: usize| {
            let mut out = vec![0.0; vectors[0].len()];
            for (i, vector) in vectors.iter().enumerate() {
                let part = s[i * k + j];
                out.iter_mut().zip(vector).for_each(|(o, v)| *o += part * v);
            }
            out
        };
        modes.into_iter().map(vector).collect()
    })
}

/// The displacement by a force with the tangent as factored, both in the units of the metric.
fn invert(at: &Setting<'_>, work: &mut Workspace, vector: &mut [f64]) -> Result<(), Error> {
    let units = &work.metric.inverse_length;
    for (x, unit) in vector.iter_mut().zip(units) {
        *x *= unit;
    }
    let system = Tangent::Whole.of(&at.system.assembler, &work.contacts);
    let nothing = vec![0.0; system.m()];
    let mut solution = Solution::default();
    let solved = work.linear.solver.solve(system, vector, &nothing, &mut solution);
    solved.map_err(Error::Solve)?;
    for ((x, unit), found) in vector.iter_mut().zip(units).zip(&solution.x) {
        *x = unit * found;
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
