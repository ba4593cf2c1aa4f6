//! Signs of pivots that no rounding can have turned, of systems that need not be definite.

use super::{DirectSolver, Kind};
use crate::{KktSystem, Solution, SolveError, Variable};

/// Multiple of the rounding of the largest pivot that the smallest one must exceed, both as shares
/// of the diagonal: room for the sum of the roundings of an elimination.
const CLEAR: f64 = 1e5;

/// Factors a system whose `W` may be indefinite on the null space of `J`, and counts its
/// eigenvalues by the signs of the pivots. `None` where a pivot is so small that rounding may
/// have turned its sign, or has let the rest grow: then only a factor that chooses its pivots
/// can say.
///
/// All pivots are shares of the diagonal entry they came from. A small pivot lets what it is
/// eliminated from grow by its reciprocal, a row of small compliance by its stiffness, and the
/// next pivot there shows it: an elimination whose largest share is `g` leaves errors of some
/// `eps g`. A smallest share well above has the sign that it would have without rounding.
///
/// # Errors
/// Those of [`prepare`](DirectSolver::prepare) but [`SolveError::NotPositiveDefinite`] and
/// [`SolveError::NegativeCompliance`].
pub(super) fn prepare_signed(
    solver: &mut DirectSolver,
    system: &KktSystem,
) -> Result<Option<Kind>, SolveError> {
    solver.ready = false;
    solver.plan_for(system)?;
    match solver.factor(system) {
        Ok(_) => {}
        Err(SolveError::NotPositiveDefinite { .. } | SolveError::NegativeCompliance { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let m = system.m();
    let free = system.fixed.iter().filter(|f| !**f).count();
    let (positive, negative) = solver.inertia;
    if positive + negative != free + m || negative < m {
        return Ok(None);
    }
    let (least, largest) = shares(solver, system);
    if least < CLEAR * f64::EPSILON * largest.max(1.0) {
        return Ok(None);
    }
    solver.ready = true;
    Ok(Some(Kind {
        negative: negative - m,
        zero: 0,
        redundant: 0,
    }))
}

/// The smallest and the largest pivot, as shares of the diagonal entry of `W`, or of `R` and the
/// Delassus operator of `diag(W)` together.
fn shares(solver: &DirectSolver, system: &KktSystem) -> (f64, f64) {
    let Some(plan) = &solver.plan else {
        return (0.0, f64::INFINITY);
    };
    let n = system.n();
    let (mut least, mut largest) = (f64::INFINITY, 0.0f64);
    for (k, pivot) in plan.kernel.pivots().iter().enumerate() {
        let (index, size) = match plan.variable(k, n) {
            Variable::Dof(dof) => (dof, system.w_diagonal(dof).abs()),
            Variable::Row(row) => {
                let terms = system.j.row_entries(row);
                let delassus: f64 = terms.map(|(i, a)| a * a * plan.inverse_diagonal[i]).sum();
                (n + row, system.r_diagonal(row) + delassus)
            }
        };
        let scale = plan.scale[index];
        let share = pivot.abs() / (scale * scale * size);
        if !share.is_finite() {
            return (0.0, f64::INFINITY);
        }
        least = least.min(share);
        largest = largest.max(share);
    }
    (least, largest)
}

/// Adds `K^-1 [primal; rows]` to a solution, by the factor as prepared.
pub(super) fn add_inverse(
    solver: &mut DirectSolver,
    primal: &[f64],
    rows: &[f64],
    solution: &mut Solution,
) -> Result<(), SolveError> {
    let plan = solver.plan.as_mut().filter(|_| solver.ready);
    let plan = plan.ok_or(SolveError::NotPrepared)?;
    let rhs = &mut solver.refinement.rhs;
    plan.gather(primal, rows, &[], rhs);
    plan.kernel.solve_in_place(rhs);
    solver.counters.solves += 1;
    plan.add_scaled(rhs, solution);
    Ok(())
}
