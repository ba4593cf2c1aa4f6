//! Positions and velocities at which coordinates have given values, by the least motion.

use super::project::fill;
use crate::Error;
use crate::motion::Motion;
use crate::observe::correction_error;
use crate::system::{System, gather};
use pliant_dense::eigen::solve_minimum_norm;
use pliant_kkt::RowMotion;
use pliant_model::{ComponentId, ElementIndex, NodeId, Space};
use pliant_solvers::{DirectSolver, KktSystem, Solution, Status};

/// The largest turn of a body in an iteration (rad): the branch of an angle is that nearest to the
/// last one, which a turn of half a circle would leave open.
const TURN: f64 = 1.0;

/// Iterations at most: some dozen turns, and what Newton's method takes at their end.
const ITERATIONS: usize = 200;

/// Misses of coordinates and rows that are rounding, as a share of one and the coordinate.
const REACHED: f64 = 1e-10;

/// Pivots of the mobility, scaled to a diagonal of ones, below which coordinates depend on each
/// other: rounding of the responses is some thousand units in the last place.
const DEPENDENT: f64 = 1e-9;

/// Share of the response of a coordinate without hard rows below which it is rounding.
const HELD: f64 = 1e-10;

/// Values that coordinates are to have.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Scalar nodes, such as the free coordinates of joints, and their values (m, rad; m/s, rad/s).
    pub values: &'a [(NodeId, f64)],
    /// Components whose rows play no part: motors.
    pub without: &'a [ComponentId],
    /// Independent elements that stay as they are.
    pub held: &'a [ElementIndex],
}

/// Moves a motion to the nearest positions at which coordinates have given values and hard rows of
/// two sides hold: Newton's method on
///
/// ```math
/// |dx|_M^2/2 = min,   J dx = -phi,   C dx = wanted - c(x)
/// ```
///
/// with the masses `M`, the hard rows `phi` and the coordinates `c`, of Jacobian `C`; a body turns by
/// a radian at most in an iteration. Rows with bounds (limits, ropes) play no part. Velocities keep
/// their coordinates. Coordinates that depend on each other, as all of a closed loop do, may have any
/// values that agree. Cost: per iteration an evaluation, a factor of the masses with the rows, and a
/// solve for each coordinate; none where they are there already.
///
/// # Errors
/// [`Error::Unreachable`] naming the coordinate that misses its value most,
/// [`Error::CorrectionNotConverged`] naming the row if all coordinates have theirs, [`Error::Model`]
/// where a mapping is not defined, and those of the linear solver. The motion is then somewhere on the
/// way.
pub fn reach_positions(system: &mut System, motion: &mut Motion, wanted: Wanted<'_>) -> Result<(), Error> {
    system.set_row_motion(motion.time, motion.time);
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        system.evaluation.evaluate(&system.model, &motion.state)?;
        fill_rows(system, motion, wanted.without);
        let rows = set_positions(system, motion);
        let missed = largest_miss(system, motion, wanted, Motion::position_of).1;
        let off = missed.max(rows);
        // What rounding leaves does not get smaller.
        if off <= 0.01 * REACHED || (off <= REACHED && off > 0.5 * last) {
            return Ok(());
        }
        last = off;
        let mut step = respond(system, motion, wanted, Motion::position_of)?;
        let share = (TURN / largest_turn(system, &step)).min(1.0);
        step.iter_mut().for_each(|d| *d *= share);
        for node in system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let own = &step[first..first + node.velocity_range().len()];
            node.space
                .retract(&mut motion.state.positions[node.position_range()], own);
        }
        system.propagate(&mut motion.state)?;
    }
    Err(unreachable_value(system, motion, wanted, Motion::position_of))
}

/// Changes the velocities of a motion to the nearest, in the metric of masses, at which coordinates
/// have given ones and hard rows of two sides hold (driven ones go as they do at its time).
///
/// # Errors
/// Errors of [`reach_positions`].
pub fn reach_velocities(system: &mut System, motion: &mut Motion, wanted: Wanted<'_>) -> Result<(), Error> {
    system.set_row_motion(motion.time, motion.time);
    system.evaluation.evaluate(&system.model, &motion.state)?;
    fill_rows(system, motion, wanted.without);
    let rows = set_velocities(system, motion);
    let missed = largest_miss(system, motion, wanted, Motion::velocity_of).1;
    if missed.max(rows) <= 0.01 * REACHED {
        return Ok(());
    }
    let step = respond(system, motion, wanted, Motion::velocity_of)?;
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let own = motion.state.velocities[node.velocity_range()].iter_mut();
        own.zip(&step[first..]).for_each(|(v, d)| *v += d);
    }
    system.propagate(&mut motion.state)?;
    let size = wanted.values.iter().fold(1.0f64, |a, (_, v)| a.max(v.abs()));
    let missed = largest_miss(system, motion, wanted, Motion::velocity_of).1;
    if missed.max(set_velocities(system, motion)) <= REACHED * size {
        return Ok(());
    }
    Err(unreachable_value(system, motion, wanted, Motion::velocity_of))
}

impl Motion {
    fn position_of(&self, system: &System, node: NodeId) -> f64 {
        self.state.positions[system.model.node(node).position_range().start]
    }

    fn velocity_of(&self, system: &System, node: NodeId) -> f64 {
        self.state.velocities[system.model.node(node).first_velocity]
    }
}

/// A number of a coordinate.
type Number = fn(&Motion, &System, NodeId) -> f64;

/// Fills the masses and the hard rows of two sides without those of some components.
fn fill_rows(system: &mut System, motion: &Motion, without: &[ComponentId]) {
    fill(system, motion, |_, _, _| false);
    for group in system.model.row_groups() {
        if without.contains(&group.component) {
            for k in 0..group.size * group.count {
                system.assembler.deactivate_row(group.first_row + k);
            }
        }
    }
}

/// Whether a row of the filled system takes part.
fn is_active(kkt: &KktSystem, row: usize) -> bool {
    kkt.r.get(row, row) == 0.0
}

/// Makes the violations of the rows the right-hand side; the largest (m, rad).
fn set_positions(system: &mut System, motion: &Motion) -> f64 {
    set_rows(system, |system, group_node, row, k| {
        system.model.positions(&motion.state, group_node)[k] - system.row_target(row)
    })
}

/// Makes the velocities of the rows, less those at which they are driven, the right-hand side.
fn set_velocities(system: &mut System, motion: &Motion) -> f64 {
    set_rows(system, |system, group_node, row, k| {
        let first = system.model.node(group_node).first_velocity;
        let driven = system.row_motion.get(row).copied();
        motion.state.velocities[first + k] - driven.map_or(0.0, |m: RowMotion| m.end.1)
    })
}

fn set_rows(system: &mut System, value: impl Fn(&System, NodeId, usize, usize) -> f64) -> f64 {
    let mut most = 0.0f64;
    for index in 0..system.model.row_groups().len() {
        let group = system.model.row_groups()[index];
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            if is_active(system.assembler.system(), row) {
                let value = value(system, group.node, row, k);
                system.assembler.row_right_hand_side_mut()[row] = value;
                most = most.max(value.abs());
            }
        }
    }
    most
}

/// The coordinate that misses its value most, by a share of one and the value.
fn largest_miss(system: &System, motion: &Motion, wanted: Wanted<'_>, now: Number) -> (usize, f64) {
    let mut most = (0, 0.0);
    for (k, (node, value)) in wanted.values.iter().enumerate() {
        let missing = value - now(motion, system, *node);
        let miss = missing.abs() / (1.0 + value.abs());
        // Numbers that are none are the largest miss.
        if miss > most.1 || miss.is_nan() {
            most = (k, if miss.is_nan() { f64::INFINITY } else { miss });
        }
    }
    most
}

/// The error where coordinates or rows end beside what they are to be: the one that misses most.
fn unreachable_value(system: &System, motion: &Motion, wanted: Wanted<'_>, now: Number) -> Error {
    let (most, miss) = largest_miss(system, motion, wanted, now);
    match wanted.values.get(most) {
        Some((node, value)) if miss > REACHED => Error::Unreachable {
            what: system.model.node(*node).name.clone(),
            value: *value,
            reached: now(motion, system, *node),
        },
        _ => correction_error(system, &motion.state, motion.time, f64::INFINITY),
    }
}

/// The largest turn of a body by a displacement (rad), of one at least.
fn largest_turn(system: &System, step: &[f64]) -> f64 {
    let mut most = TURN;
    for node in system.model.nodes() {
        let Some(first) = node.first_dof().filter(|_| node.space == Space::Rigid3) else {
            continue;
        };
        let own = &step[first..first + node.velocity_range().len()];
        for d in own.as_chunks::<6>().0 {
            most = most.max(d[3].hypot(d[4]).hypot(d[5]));
        }
    }
    most
}

/// The least change over the independent coordinates by which rows take their right-hand sides back
/// and coordinates get what they miss, of the system that is filled.
fn respond(system: &mut System, motion: &Motion, wanted: Wanted<'_>, now: Number) -> Result<Vec<f64>, Error> {
    let mut kkt = system.assembler.system().clone();
    let mut solver = DirectSolver::new(system.options.last_solver());
    for at in wanted.held {
        let node = &system.model.nodes()[at.node];
        let size = node.space.velocity_size();
        if let Some(first) = node.first_dof() {
            kkt.fixed[first + at.element * size..][..size].fill(true);
        }
    }
    let in_words = |e| Error::from_solver(e, &system.model, motion.time);
    solver.prepare(&kkt).map_err(in_words)?;
    kkt.c.fill(0.0);
    let mut solution = Solution::default();
    let base = solve(system, motion, &mut solver, &kkt, &mut solution)?;
    kkt.b.fill(0.0);
    let mut jacobian: Vec<Vec<f64>> = Vec::with_capacity(wanted.values.len());
    let mut responses: Vec<Vec<f64>> = Vec::with_capacity(wanted.values.len());
    let mut force = vec![0.0; system.model.velocity_count()];
    for (node, _) in wanted.values {
        force.fill(0.0);
        force[system.model.node(*node).first_velocity] = 1.0;
        system.evaluation.pull_back(&system.model, &mut force);
        gather(&system.model, &force, &mut kkt.c);
        let mut most = 0.0f64;
        for i in 0..kkt.n() {
            if kkt.fixed[i] {
                kkt.c[i] = 0.0;
            }
            if kkt.c[i] != 0.0 {
                most = most.max(kkt.c[i] * kkt.c[i] / kkt.w.get(i, i));
            }
        }
        let mut response = solve(system, motion, &mut solver, &kkt, &mut solution)?;
        // A coordinate that hard rows hold answers by rounding alone.
        if dot(&kkt.c, &response) <= HELD * most {
            response.fill(0.0);
        }
        jacobian.push(kkt.c.clone());
        responses.push(response);
    }
    let n = wanted.values.len();
    let mobility = |i: usize, k: usize| dot(&jacobian[i], &responses[k]);
    let scale: Vec<f64> = (0..n)
        .map(|i| mobility(i, i))
        .map(|d| if d > 0.0 { d.sqrt().recip() } else { 0.0 })
        .collect();
    let mut scaled = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..n {
            scaled[i * n + k] = 0.5 * (mobility(i, k) + mobility(k, i)) * scale[i] * scale[k];
        }
    }
    let missing = wanted.values.iter().enumerate().map(|(k, (node, value))| {
        let miss = value - now(motion, system, *node);
        (miss - dot(&jacobian[k], &base)) * scale[k]
    });
    let missing: Vec<f64> = missing.collect();
    let (mut forces, mut room) = (vec![0.0; n], vec![0.0; n * n]);
    solve_minimum_norm(n, &mut scaled, &mut room, &missing, DEPENDENT, &mut forces);
    let mut change = base;
    for ((response, force), scale) in responses.iter().zip(&forces).zip(&scale) {
        for (x, d) in change.iter_mut().zip(response) {
            *x += force * scale * d;
        }
    }
    Ok(change)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves for a change; rows that contradict each other, as redundant ones of positions far from
/// where they are to be, have their compromise, and are judged by what they miss in the end.
fn solve(
    system: &System,
    motion: &Motion,
    solver: &mut DirectSolver,
    kkt: &KktSystem,
    solution: &mut Solution,
) -> Result<Vec<f64>, Error> {
    let solved = solver
        .solve(kkt, solution)
        .map_err(|e| Error::from_solver(e, &system.model, motion.time))?;
    match solved.status {
        Status::Converged | Status::Incompatible { .. } => Ok(solution.x.clone()),
        _ => Err(correction_error(
            system,
            &motion.state,
            motion.time,
            solved.residual.relative,
        )),
    }
}
