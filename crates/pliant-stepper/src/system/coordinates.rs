//! Dynamics along coordinates at a moment: their accelerations, and how these answer to forces.

use super::System;
use super::dynamics::gather;
use crate::Error;
use crate::motion::Motion;
use crate::observe::correction_error;
use pliant_kkt::Scheme;
use pliant_model::{ComponentId, NodeId};
use pliant_solvers::Status;

/// The dynamics of some coordinates at a moment: `q'' = accelerations + mobility tau`, where `tau`
/// are further forces along them.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateDynamics {
    /// Accelerations by the forces as they are (m/s^2, rad/s^2).
    pub accelerations: Vec<f64>,
    /// Accelerations by a unit force along each, rows first: `J M^-1 J^T` of the motions that hard
    /// rows allow (1/kg, 1/(kg m^2)). Symmetric; singular where the coordinates depend on each
    /// other.
    pub mobility: Vec<f64>,
}

/// A pivot of the mobility below this share of its diagonal entry is taken for rounding: entries
/// are found to the accuracy of the linear solver, some thousand units in the last place. So are
/// coordinates in series whose masses differ by more.
const DEPENDENT: f64 = 1e-10;

/// The most refinements of a solution.
const MOST_REFINEMENTS: usize = 8;

/// The share of the largest acceleration to which all must be settled.
const ACCURATE: f64 = 1e-9;

impl CoordinateDynamics {
    /// Further forces along the coordinates that make their accelerations those that are `wanted`
    /// (N, N m): inverse dynamics.
    ///
    /// # Errors
    /// The first coordinate that depends on those before it.
    ///
    /// # Panics
    /// If there is another number of accelerations.
    pub fn forces_for(&self, wanted: &[f64]) -> Result<Vec<f64>, usize> {
        assert_eq!(
            wanted.len(),
            self.accelerations.len(),
            "one acceleration for each coordinate"
        );
        let factor = self.factor()?;
        let missing = wanted.iter().zip(&self.accelerations).map(|(w, a)| w - a);
        Ok(self.solve(&factor, missing.collect()))
    }

    /// The mass matrix over the coordinates, rows first: the inverse of the mobility (kg, kg m^2).
    ///
    /// # Errors
    /// The first coordinate that depends on those before it.
    pub fn mass_matrix(&self) -> Result<Vec<f64>, usize> {
        let n = self.accelerations.len();
        let factor = self.factor()?;
        let mut out = vec![0.0; n * n];
        for column in 0..n {
            let mut unit = vec![0.0; n];
            unit[column] = 1.0;
            for (row, x) in self.solve(&factor, unit).into_iter().enumerate() {
                out[row * n + column] = x;
            }
        }
        Ok(out)
    }

    /// `L D L^T` of the symmetric mobility, `L` below the diagonal and `D` on it.
    fn factor(&self) -> Result<Vec<f64>, usize> {
        let n = self.accelerations.len();
        let a = &self.mobility;
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let before = (0..j).map(|k| l[i * n + k] * l[j * n + k] * l[k * n + k]);
                let rest = 0.5 * (a[i * n + j] + a[j * n + i]) - before.sum::<f64>();
                l[i * n + j] = if i == j { rest } else { rest / l[j * n + j] };
            }
            let pivot = l[i * n + i];
            if pivot.is_nan() || pivot <= DEPENDENT * a[i * n + i] {
                return Err(i);
            }
        }
        Ok(l)
    }

    fn solve(&self, l: &[f64], mut x: Vec<f64>) -> Vec<f64> {
        let n = x.len();
        for i in 0..n {
            x[i] -= (0..i).map(|k| l[i * n + k] * x[k]).sum::<f64>();
        }
        for i in (0..n).rev() {
            x[i] /= l[i * n + i];
            x[i] -= (i + 1..n).map(|k| l[k * n + i] * x[k]).sum::<f64>();
        }
        x
    }
}

/// Finds the dynamics of single scalar nodes, such as the free coordinates of joints, at the
/// state of a motion: `M a - J^T lambda = f`, `J a + (dJ/dt) v = 0`, with gyroscopic and
/// inertial forces. Held coordinates go on as they are.
///
/// Rows with bounds (limits, dry friction, ropes, motors with a largest force) and those of the
/// components `without` (other motors) take no part, nor do contacts. Cost: an evaluation, a
/// factor of the masses with the rows, and a solve for each coordinate.
///
/// # Errors
/// The errors of [`System::accelerations`] where there are none, and
/// [`Error::CorrectionNotConverged`] where they do not settle to a billionth of the largest.
pub fn dynamics(
    system: &mut System,
    motion: &Motion,
    nodes: &[NodeId],
    without: &[ComponentId],
) -> Result<CoordinateDynamics, Error> {
    find_free_accelerations(system, motion, without)?;
    let firsts: Vec<usize> = nodes
        .iter()
        .map(|n| system.model.node(*n).first_velocity)
        .collect();
    let accelerations = of_solution(system, &firsts, true);
    let mut jacobian = Vec::with_capacity(firsts.len());
    for first in &firsts {
        let force = &mut system.scratch.node_force;
        force.fill(0.0);
        force[*first] = 1.0;
        system.evaluation.pull_back(&system.model, force);
        let mut row = vec![0.0; system.model.dof_count()];
        gather(&system.model, force, &mut row);
        jacobian.push(row);
    }
    let mut mobility = vec![0.0; firsts.len() * firsts.len()];
    for (column, row) in jacobian.iter().enumerate() {
        respond(system, motion, row)?;
        for (k, a) in of_solution(system, &firsts, false).into_iter().enumerate() {
            mobility[k * firsts.len() + column] = a;
        }
    }
    Ok(CoordinateDynamics {
        accelerations,
        mobility,
    })
}

/// Finds `J M^-1 J^T` of the motions that hard rows allow, rows first, for a Jacobian of so many
/// `rows` over all degrees of freedom, rows first: the inverse of the inertia that a point or a
/// tool shows along the rows. What takes no part is as in [`dynamics`].
///
/// # Errors
/// The errors of [`dynamics`].
///
/// # Panics
/// If the Jacobian has another size.
pub fn mobility(
    system: &mut System,
    motion: &Motion,
    without: &[ComponentId],
    (rows, jacobian): (usize, &[f64]),
) -> Result<Vec<f64>, Error> {
    let n = system.model.dof_count();
    assert_eq!(jacobian.len(), rows * n, "a Jacobian over all degrees of freedom");
    find_free_accelerations(system, motion, without)?;
    let mut out = vec![0.0; rows * rows];
    for column in 0..rows {
        respond(system, motion, &jacobian[column * n..][..n])?;
        for row in 0..rows {
            let pairs = jacobian[row * n..][..n].iter().zip(&system.solution.x);
            out[row * rows + column] = pairs.map(|(j, a)| j * a).sum();
        }
    }
    Ok(out)
}

/// Accelerations without the rows that have bounds or are those of the components `without`; the
/// factor is kept.
fn find_free_accelerations(
    system: &mut System,
    motion: &Motion,
    without: &[ComponentId],
) -> Result<(), Error> {
    let mut left_out = vec![false; system.model.row_count()];
    for group in system.model.row_groups() {
        if without.contains(&group.component) || system.model.bounds(group).is_some() {
            left_out[group.first_row..][..group.size * group.count].fill(true);
        }
    }
    // The solver has the options of the last step; before the first one it has none of ours.
    system.corrections.direct.options = system.options.last_solver();
    system.set_row_motion(motion.time, motion.time);
    system.scratch.fixed_change.fill(0.0);
    system.evaluate(motion, 0.0)?;
    let scheme = Scheme::implicit_euler(1.0);
    system.find_accelerations_without(&left_out, &scheme, motion, 1.0)?;
    refine(system, motion)
}

/// Refines the solution of the system that is filled and factored, whose right-hand sides it takes
/// the place of.
///
/// The solver measures a row against the accelerations that the forces on its bodies would make of
/// their masses. A light body between heavy ones has huge ones of these, and accelerations whose
/// rounding is that of them: here they are mended until they do not change.
fn refine(system: &mut System, motion: &Motion) -> Result<(), Error> {
    let mut whole = system.solution.clone();
    let mut least = f64::INFINITY;
    for _ in 0..MOST_REFINEMENTS {
        let kkt = system.assembler.system();
        let (mut force, mut row) = (kkt.c.clone(), kkt.b.clone());
        let (x, mu) = (&system.solution.x, &system.solution.mu);
        kkt.w.symmetric_add_product(-1.0, x, &mut force);
        kkt.j.add_transpose_product(1.0, mu, &mut force);
        kkt.j.add_product(1.0, x, &mut row);
        kkt.r.symmetric_add_product(1.0, mu, &mut row);
        system.assembler.right_hand_side_mut().copy_from_slice(&force);
        system.assembler.row_right_hand_side_mut().copy_from_slice(&row);
        // Residuals that are rounding are none that redundant rows agree on: the size of the change
        // is what judges.
        let direct = &mut system.corrections.direct;
        direct
            .solve(system.assembler.system(), &mut system.solution)
            .map_err(|e| Error::from_solver(e, &system.model, motion.time))?;
        let size = |list: &[f64]| list.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        let (change, scale) = (size(&system.solution.x), size(&whole.x));
        // Rounding of the residuals is what is left.
        if change >= 0.5 * least {
            break;
        }
        let parts = [
            (&mut whole.x, &system.solution.x),
            (&mut whole.mu, &system.solution.mu),
        ];
        for (sum, part) in parts {
            for (s, p) in sum.iter_mut().zip(part) {
                *s += p;
            }
        }
        least = change;
        if change <= f64::EPSILON * scale {
            break;
        }
    }
    let scale = whole.x.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    system.solution = whole;
    if least.is_nan() || least > ACCURATE * scale {
        return Err(correction_error(
            system,
            &motion.state,
            motion.time,
            least / scale,
        ));
    }
    Ok(())
}

/// Accelerations of the degrees of freedom by a force on them, with the factor of the last
/// [`find_free_accelerations`].
fn respond(system: &mut System, motion: &Motion, force: &[f64]) -> Result<(), Error> {
    system.assembler.row_right_hand_side_mut().fill(0.0);
    system.assembler.right_hand_side_mut().copy_from_slice(force);
    solve(system, motion)?;
    refine(system, motion)
}

/// Solves the system that is filled and factored, by its right-hand sides.
fn solve(system: &mut System, motion: &Motion) -> Result<(), Error> {
    let direct = &mut system.corrections.direct;
    let solved = direct
        .solve(system.assembler.system(), &mut system.solution)
        .map_err(|e| Error::from_solver(e, &system.model, motion.time))?;
    match solved.status {
        Status::Converged => Ok(()),
        _ => Err(correction_error(
            system,
            &motion.state,
            motion.time,
            solved.residual.relative,
        )),
    }
}

/// Accelerations of single numbers of nodes, by those of the degrees of freedom that were
/// found, with the part of the velocities if asked for.
fn of_solution(system: &mut System, places: &[usize], with_bias: bool) -> Vec<f64> {
    let mut nodal = vec![0.0; system.model.velocity_count()];
    for node in system.model.nodes() {
        if let Some(first) = node.first_dof() {
            let range = node.velocity_range();
            let own = first..first + range.len();
            nodal[range].copy_from_slice(&system.solution.x[own]);
        }
    }
    system.evaluation.push_forward(&system.model, &mut nodal);
    let bias = system.evaluation.bias();
    let one = |place: &usize| nodal[*place] + if with_bias { bias[*place] } else { 0.0 };
    places.iter().map(one).collect()
}
