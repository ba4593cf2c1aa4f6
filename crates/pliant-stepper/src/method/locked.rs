//! Hard rows that lock: that let motion be at first order and not at second.
//!
//! Where rows depend on each other, `y^T J = 0`, a motion with `J v = 0` may have
//! `y^T (dJ/dt) v != 0`: a straight rope between two fixed points can move only across, and that
//! would stretch it. The force that would hold such a motion grows without bound as the motion goes
//! to zero, so that no step has a solution (Connelly and Whiteley, Second-order rigidity, 1996).
//! Rows that nearly depend on each other, as those of a rope that is off the straight by rounding,
//! leave a path that is curved as much as they are off: no step follows it either.

use super::project::fill;
use crate::Error;
use crate::motion::Motion;
use crate::observe::{Clash, Residuals, with_others};
use crate::system::{System, gather, gather_forces, one_sided};
use pliant_model::RowGroup;
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveReport, Status};

/// The gap of a one-sided row that is closed (m, rad).
const CLOSED: f64 = 1e-9;

/// Rows that change less than this share of what the first one does have no part in a lock.
const PART: f64 = 0.01;

/// The error of hard rows that lock the motion that forces begin in a step of length `h` (s) from
/// this one, or that leave it a path of which it would cover more than so many `radii` of curvature
/// in the step; `None` if none do. For steps that failed: an evaluation, two factors and a copy of
/// the motion.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, and those of the linear solver.
pub fn find_locked(system: &mut System, motion: &Motion, h: f64, radii: f64) -> Result<Option<Error>, Error> {
    let mut moved = motion.clone();
    system.set_row_motion(motion.time, motion.time);
    system.evaluate(&moved, 0.0)?;
    // Of compliances the forces of the last step: those of stiff ones at the present state are no
    // forces for a whole step, and what the system has is of whatever it tried last.
    system.rows.law_force.clone_from(&motion.multipliers);
    // Motion that the rows let be at first order: velocities after the time of the step.
    let System {
        model,
        evaluation,
        rows,
        scratch,
        ..
    } = &mut *system;
    gather_forces(
        model,
        evaluation,
        rows,
        &moved.state,
        true,
        &mut scratch.node_force,
    );
    fill(system, &moved, is_closed(motion));
    let mut load = vec![0.0; system.model.dof_count()];
    gather(&system.model, &system.scratch.node_force, &mut load);
    let c = system.assembler.right_hand_side_mut();
    for (c, f) in c.iter_mut().zip(&load) {
        *c = h * f;
    }
    let mut solution = Solution::default();
    if solve(system, &mut solution, motion.time)?.status != Status::Converged {
        return Ok(None);
    }
    add_change(system, &solution, &mut moved);
    system.propagate(&mut moved.state)?;
    // The change of velocity that the curvature of the rows along it asks for.
    system.evaluate(&moved, 0.0)?;
    fill(system, &moved, is_closed(motion));
    let System {
        model,
        evaluation,
        assembler,
        ..
    } = &mut *system;
    evaluation.find_bias(model, &moved.state);
    let bias = evaluation.bias();
    let b = assembler.row_right_hand_side_mut();
    for group in model.row_groups() {
        let first = model.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            b[group.first_row + k] = h * bias[first + k];
        }
    }
    let solved = solve(system, &mut solution, motion.time)?;
    let Status::Incompatible { row, violation } = solved.status else {
        let is_curved = solved.status == Status::Converged && radii_of(system, &moved, &solution) > radii;
        return Ok(is_curved.then(|| of_curved(system, &solution, motion.time)));
    };
    let clash = Clash {
        kkt: system.assembler.system(),
        solution: &solution,
        row,
        violation,
    };
    let error = clash.error(&system.model, motion.time, Residuals::Displacements);
    Ok(match error {
        Error::Incompatible {
            constraint,
            others,
            time,
            ..
        } => Some(Error::Locked {
            constraint,
            others,
            time,
        }),
        _ => None,
    })
}

/// Radii of curvature of its path that a motion covers in a step whose rows change its velocity by
/// a solution: `|dv|_M/|v|_M`.
fn radii_of(system: &System, motion: &Motion, change: &Solution) -> f64 {
    let kkt = system.assembler.system();
    let mut v = vec![0.0; kkt.n()];
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let velocities = &motion.state.velocities[node.velocity_range()];
        v[first..first + velocities.len()].copy_from_slice(velocities);
    }
    let square = |x: &[f64]| {
        let mut product = vec![0.0; x.len()];
        kkt.w.symmetric_add_product(1.0, x, &mut product);
        x.iter().zip(&product).map(|(x, p)| x * p).sum::<f64>()
    };
    (square(&change.x) / square(&v)).sqrt()
}

/// The error of rows that turn a motion by these impulses: those that change most of it, each alone
/// by `mu J M^-1 J^T mu` with the diagonal of `M`.
fn of_curved(system: &System, solution: &Solution, time: f64) -> Error {
    let kkt = system.assembler.system();
    let change = |row: usize| change_by(kkt, row, solution.mu[row]);
    let mut rows: Vec<usize> = (0..kkt.m()).collect();
    rows.sort_by(|a, b| change(*b).total_cmp(&change(*a)).then(a.cmp(b)));
    let least = rows.first().map_or(0.0, |first| PART * PART * change(*first));
    rows.retain(|row| change(*row) > least);
    let group = |row: &usize| system.model.row_groups().iter().rfind(|g| g.first_row <= *row);
    let own = rows.first().and_then(group);
    let other = rows.iter().find(|row| group(row) != own);
    let in_words = |row: &usize| system.model.describe_row(*row);
    Error::Locked {
        constraint: rows.first().map_or_else(String::new, in_words),
        others: other.map_or_else(
            || "other hard constraints".to_owned(),
            |row| with_others(&system.model, *row, &rows[1..]),
        ),
        time,
    }
}

/// Twice the kinetic energy of what an impulse of one row makes of rest, by the diagonal of the
/// masses (J).
fn change_by(kkt: &KktSystem, row: usize, impulse: f64) -> f64 {
    let free = kkt.j.row_entries(row).filter(|(k, _)| !kkt.fixed[*k]);
    free.map(|(k, j)| (j * impulse).powi(2) / kkt.w.get(k, k))
        .sum::<f64>()
}

/// Whether a one-sided row is at its closed side in a motion, to a billionth of a metre or radian.
fn is_closed(motion: &Motion) -> impl Fn(&System, &RowGroup, usize) -> bool {
    move |system, group, k| {
        let side = one_sided::of_row(system, group, k);
        side.is_some_and(|side| one_sided::gap_at_end(system, &motion.state, group, k, side) < CLOSED)
    }
}

/// Factors and solves the filled system, by a solver of its own: those of the system remember what
/// they solve, and a failed step leaves nothing behind.
fn solve(system: &System, solution: &mut Solution, time: f64) -> Result<SolveReport, Error> {
    let mut solver = DirectSolver::new(system.corrections.direct.options);
    let kkt = system.assembler.system();
    let prepared = solver.prepare(kkt);
    let solved = prepared.and_then(|()| solver.solve(kkt, solution));
    solved.map_err(|e| Error::from_solver(e, &system.model, time))
}

/// Adds the change of velocity of the last solve to the independent coordinates.
fn add_change(system: &System, solution: &Solution, motion: &mut Motion) {
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let velocities = &mut motion.state.velocities[node.velocity_range()];
        for (v, change) in velocities.iter_mut().zip(&solution.x[first..]) {
            *v += change;
        }
    }
}
