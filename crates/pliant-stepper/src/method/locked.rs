//! Hard rows that lock: that let motion be at first order and not at second.
//!
//! Where rows depend on each other, `y^T J = 0`, a motion with `J v = 0` may have
//! `y^T (dJ/dt) v != 0`: a straight rope between two fixed points can move only across, and that
//! would stretch it. The force that would hold such a motion grows without bound as the motion goes
//! to zero, so that no step has a solution (Connelly and Whiteley, Second-order rigidity, 1996).

use super::project::fill;
use crate::Error;
use crate::motion::Motion;
use crate::observe::{Clash, Residuals};
use crate::system::{System, gather, gather_forces, one_sided};
use pliant_model::RowGroup;
use pliant_solvers::{DirectSolver, Solution, SolveReport, Status};

/// The gap of a one-sided row that is closed (m, rad).
const CLOSED: f64 = 1e-9;

/// The error of hard rows that lock the motion that forces begin in a step of length `h` (s) from
/// this one; `None` if none do. For steps that failed: an evaluation, two factors and a copy of the
/// motion.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, and those of the linear solver.
pub fn find_locked(system: &mut System, motion: &Motion, h: f64) -> Result<Option<Error>, Error> {
    let mut moved = motion.clone();
    system.set_row_motion(motion.time, motion.time);
    system.evaluate(&moved, 0.0)?;
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
        return Ok(None);
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
