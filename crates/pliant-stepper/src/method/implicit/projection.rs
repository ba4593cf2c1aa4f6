//! The projection that ends a step whose deformations were integrated beside the positions.
//!
//! Positions go where the elastic forces of `phi(x)` agree with those of the deformations `e` and
//! hard rows hold: the smallest displacement of
//!
//! ```math
//! |dx|_M^2/(2 w^2) + V(phi(x + dx)) - f_e dx,   phi_hard(x + dx) = target
//! ```
//!
//! linearised: `(M + w^2 K) dx - J^T mu = w^2 (f(x) - f_e)`, `J dx + C/w^2 mu + phi(x) - e = 0`, from
//! where the last solve has led until hard rows hold. With `exact_stages` it goes on from there, with
//! the displacement and the multipliers so far, to where rounding ends it, of
//!
//! ```math
//! M dx - J^T mu = w^2 (f(x + dx) - f_e),   C/w^2 mu + phi(x + dx) - e = 0
//! ```
//!
//! Then velocities go to the hard rows in the metric of the same matrix, with its factor or, with
//! `exact_stages`, anew. Both are of third order in the step.

use super::deformations::{Deformations, starts_where_held};
use crate::method::stabilise::{self, solve_prepared};
use crate::motion::Motion;
use crate::observe::{Residuals, correction_error, is_at_bound};
use crate::system::{System, gather};
use crate::{Error, WorkPart};
use pliant_kkt::{GeometricTerms, Scheme};
use pliant_model::{ComponentId, Level, RowGroup, RowLaw};
use pliant_solvers::{SolveError, Status};

/// Solves for the displacement at most.
const SOLVES: usize = 8;

/// Solves at most until rounding ends them: each leaves the curvature of rows and laws over the
/// displacement, a hundredth and less.
const EXACT_SOLVES: usize = 30;
const LEAST_SOLVES: usize = 3;

/// Ratio of two displacements above which the second is rounding.
const SETTLES: f64 = 0.5;

/// Share of the last violation above which a factor is made anew.
const SLOW: f64 = 0.2;

/// A violation of a hard row that is rounding of the coordinates it is made of (m, rad).
const ROUNDING: f64 = 1e-13;

/// A violation of hard rows as a share of the largest coordinate, above which rows that no solve
/// meets contradict each other or were not reached. Solves converge quadratically from a drift of
/// third order in the step, so that they leave rounding else, times the condition of the rows.
const LEFT: f64 = 1e-9;

/// Share of its terms that an equation of the projection may miss without refinement.
const EXACT: f64 = 1e-12;

/// Roundings of the largest coordinate that its correction may be off by. A correction that is
/// itself rounding solves its equations to a share of nothing: with the velocities `v`, what it
/// misses is converged below `ROUNDINGS eps |v|`, whatever share of its own terms that is.
const ROUNDINGS: f64 = 1000.0;

/// The treatment of a row in the projection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Projected {
    /// Takes no part.
    Free,
    /// A deformation that agrees with the integrated one.
    Elastic,
    /// Held where it is to be.
    Hard,
    /// One-sided, on the way back from beyond its bound.
    Returning,
    /// One-sided, where it is: what is farther beyond comes back behind the step.
    Waiting,
    /// One-sided, bearing at the end of one stage that took the whole step: as
    /// [`Elastic`](Self::Elastic), and what its closed side still has of an approach goes.
    Stopped { sign: f64 },
    /// Held by its velocity alone.
    Rate,
}

/// Parts of a motion that are projected, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Positions,
    Velocities,
}

/// Whether coordinate `k` of a group is a hard row that holds a velocity and no position.
fn holds_rate(system: &System, group: &RowGroup, k: usize) -> bool {
    match group.component {
        ComponentId::Constraint(i) => {
            matches!(
                system.model.constraints()[i].component.level,
                Level::Velocity { .. }
            )
        }
        ComponentId::ForceField(_) => {
            system.model.row_law(group) == RowLaw::Viscous && system.evaluation.is_hard(group, k)
        }
        ComponentId::Mass(_) => false,
    }
}

/// Scratch of projections.
#[derive(Debug, Default)]
pub(super) struct Projection {
    /// Positions of all nodes with the integrated deformations, and the forces there.
    integrated: Vec<f64>,
    forces: Vec<f64>,
    rows: Vec<Projected>,
    /// Velocities of all nodes by the Jacobians of the start of a linear step; empty elsewhere.
    rates: Vec<f64>,
    /// Difference of forces on all nodes, then on the independent coordinates.
    difference: Vec<f64>,
    primal: Vec<f64>,
    total: Total,
}

/// The displacement so far, and what it has beside it.
#[derive(Debug, Default)]
struct Total {
    /// Of the independent coordinates.
    displacement: Vec<f64>,
    /// Impulses of rows over the time of the displacement (N s^2, N m s^2).
    mu: Vec<f64>,
    /// Strains of compliant rows by these (m, rad).
    strain: Vec<f64>,
    /// Displacements of all nodes with a mass.
    moved: Vec<f64>,
}

/// The way of one projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Length of the step (s).
    pub(super) h: f64,
    /// Displacement per velocity of a stage (s).
    pub(super) reach: f64,
    /// Largest displacement of a one-sided row that comes back (m, rad).
    pub(super) recovery: f64,
    /// The velocities of mapped nodes are those of the Jacobians of the start of the step, which
    /// elastic rows are to keep at its end.
    pub(super) linear: bool,
    /// Whether it goes on until rounding ends it.
    pub(super) exact: bool,
}

impl Way {
    /// Whether one stage took the whole step.
    fn is_whole(&self) -> bool {
        self.reach == self.h
    }

    /// The scheme of its matrix.
    fn scheme(&self) -> Scheme {
        Scheme {
            geometry: GeometricTerms::NONE,
            ..Scheme::implicit_euler(self.reach)
        }
    }
}

/// How a projection ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Solves for the displacement.
    pub(super) solves: usize,
    /// Not converged only where failed steps are accepted.
    pub(super) status: Status,
}

/// Solves the prepared system by one substitution, which is refined only if that leaves more than
/// a share of the terms that a correction could show: it is of third order itself. Iterations end at
/// their tolerance.
///
/// # Errors
/// Those of [`solve_prepared`].
fn solve(system: &mut System, time: f64, end: &Motion, residuals: Residuals<'_>) -> Result<(), Error> {
    let System {
        assembler,
        corrections,
        scratch,
        ..
    } = &mut *system;
    if corrections.solve_at_once(assembler.system(), &mut scratch.correction, EXACT) {
        return Ok(());
    }
    let size = match residuals {
        Residuals::Displacements => largest_coordinate(system, end),
        _ => largest_velocity(system, end),
    };
    solve_prepared(system, time, end, residuals, ROUNDINGS * f64::EPSILON * size)
}

impl Projection {
    /// Projects the motion at the end of the last stage, whose state is evaluated with the
    /// deformations there: positions, then velocities. `mu` are the impulses of the rows in that
    /// stage (N s, N m s).
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, [`Error::Incompatible`],
    /// [`Error::CorrectionNotConverged`] where hard rows cannot be met, and those of the solver.
    pub(super) fn project(
        &mut self,
        system: &mut System,
        deformations: &Deformations,
        way: Way,
        mu: &[f64],
        start: &Motion,
        end: &mut Motion,
    ) -> Result<Outcome, Error> {
        if deformations.nodes().is_empty() && system.model.row_count() == 0 {
            return Ok(Outcome {
                solves: 0,
                status: Status::Converged,
            });
        }
        self.integrated.clone_from(&end.state.positions);
        self.forces.clear();
        self.forces.extend_from_slice(system.evaluation.force());
        self.rates.clear();
        if way.linear {
            self.rates.extend_from_slice(&end.state.velocities);
        }
        system.propagate_acting(end)?;
        system.evaluate_forces(end, way.h)?;
        self.classify(system, way, end, mu);
        let scheme = way.scheme();
        self.prepare(system, &scheme, start, end, Pass::Positions)?;
        let (mut solves, mut violation, mut factored) = (0, f64::INFINITY, true);
        let mut status = Status::Converged;
        loop {
            self.fill_positions(system, deformations, way, end);
            system.assembler.allow_disagreement();
            solve(system, start.time, end, Residuals::Displacements)?;
            solves += 1;
            displace(system, end)?;
            system.check_factorisations(WorkPart::Stabilisation, start.time)?;
            let now = self.violation(system, end);
            // What a new factor does not decrease is rounding: the report has it.
            let slow = now > SLOW * violation;
            if now == 0.0 || solves == SOLVES || factored && slow {
                let left = now / largest_coordinate(system, end);
                if left > LEFT {
                    system.evaluate_forces(end, way.h)?;
                    // Anew, without the disagreement that was allowed.
                    self.prepare(system, &scheme, start, end, Pass::Positions)?;
                    status = self.judge(system, deformations, way, end, left)?;
                }
                break;
            }
            violation = now;
            system.evaluate_forces(end, way.h)?;
            factored = slow;
            if slow {
                self.prepare(system, &scheme, start, end, Pass::Positions)?;
            }
        }
        // What comes back comes back by so much in a solve.
        if way.exact && status == Status::Converged && !self.rows.contains(&Projected::Returning) {
            solves += self.go_on(system, deformations, way, start, end)?;
        }
        self.project_velocities(system, way, start, end)?;
        Ok(Outcome { solves, status })
    }

    /// Goes on from where hard rows hold to where rounding ends it, with the displacement and the
    /// multipliers so far in the equations; returns the number of solves.
    fn go_on(
        &mut self,
        system: &mut System,
        deformations: &Deformations,
        way: Way,
        start: &Motion,
        end: &mut Motion,
    ) -> Result<usize, Error> {
        self.total.mu.clear();
        self.total.mu.resize(system.model.row_count(), 0.0);
        let (mut last, mut solves) = (f64::INFINITY, 0);
        while solves < EXACT_SOLVES {
            system.evaluate_forces(end, way.h)?;
            self.fill_positions(system, deformations, way, end);
            self.add_total(system, way, end);
            system.assembler.allow_disagreement();
            solve(system, start.time, end, Residuals::Displacements)?;
            solves += 1;
            let pairs = self.total.mu.iter_mut().zip(&system.scratch.correction.mu);
            pairs.for_each(|(mu, more)| *mu += more);
            displace(system, end)?;
            let moved = system.scratch.correction.x.iter();
            let moved = moved.fold(0.0f64, |l, x| l.max(x.abs()));
            // The first one finds the multipliers, the second where they lead. Also where it is no number.
            let goes_on = moved > 0.0 && (solves < LEAST_SOLVES || moved <= SETTLES * last);
            if !goes_on {
                break;
            }
            last = moved;
        }
        Ok(solves)
    }

    /// Replaces the right-hand sides by those with the inertia of the displacement so far, the
    /// multipliers so far, and the forces of all nodes.
    fn add_total(&mut self, system: &mut System, way: Way, end: &Motion) {
        let System {
            model,
            evaluation,
            assembler,
            ..
        } = system;
        let Total {
            displacement,
            mu,
            strain,
            moved,
        } = &mut self.total;
        displacement.resize(model.dof_count(), 0.0);
        moved.clear();
        moved.resize(model.velocity_count(), 0.0);
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (p, v) = (node.position_range(), node.velocity_range());
            let own = &mut displacement[first..first + v.len()];
            node.space
                .local(&self.integrated[p.clone()], &end.state.positions[p], own);
            moved[v].copy_from_slice(own);
        }
        evaluation.push_forward_to_masses(model, moved);
        let squared = way.reach * way.reach;
        for (k, difference) in self.difference.iter_mut().enumerate() {
            *difference = squared * (evaluation.force()[k] - self.forces[k]);
        }
        for mass in model.masses() {
            let node = model.node(mass.node);
            let range = node.velocity_range();
            let out = &mut self.difference[range.clone()];
            mass.component.add_product(node.space, -1.0, &moved[range], out);
        }
        for group in model.row_groups() {
            let first = model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                // A row without a part has no force, whatever its dummy equation gives it.
                let row = group.first_row + k;
                if self.rows[row] != Projected::Free {
                    self.difference[first + k] += mu[row];
                }
            }
        }
        evaluation.pull_back(model, &mut self.difference);
        gather(model, &self.difference, &mut self.primal);
        for (c, fixed) in self.primal.iter_mut().zip(&assembler.system().fixed) {
            if *fixed {
                *c = 0.0;
            }
        }
        assembler.right_hand_side_mut().copy_from_slice(&self.primal);
        strain.clear();
        strain.resize(mu.len(), 0.0);
        assembler.system().r.symmetric_add_product(1.0, mu, strain);
        let rows = assembler.row_right_hand_side_mut().iter_mut().zip(&*strain);
        for ((b, strain), row) in rows.zip(&self.rows) {
            if *row == Projected::Elastic {
                *b += strain;
            }
        }
    }

    /// Takes velocities to the hard rows. Of a whole step, which gives them that of their way, their
    /// impulses are added to the multipliers; one-sided rows that would pull are let go.
    fn project_velocities(
        &mut self,
        system: &mut System,
        way: Way,
        start: &Motion,
        end: &mut Motion,
    ) -> Result<(), Error> {
        let scheme = way.scheme();
        // Rows of velocities have no part in the factor for positions, which they may contradict.
        let mut anew = way.exact || self.rows.contains(&Projected::Rate);
        let holds = |row: &Projected| match row {
            Projected::Hard | Projected::Rate | Projected::Stopped { .. } => true,
            Projected::Elastic => way.linear,
            _ => false,
        };
        if !self.rows.iter().any(holds) {
            return system.propagate_idle(end);
        }
        loop {
            if anew {
                system.evaluate_forces(end, way.h)?;
                self.prepare(system, &scheme, start, end, Pass::Velocities)?;
            }
            self.fill_velocities(system, end);
            solve(system, start.time, end, Residuals::Velocities(&scheme))?;
            anew = self.let_go(&system.scratch.correction.mu, way.h, end);
            if !anew {
                break;
            }
        }
        for node in system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let change = &system.scratch.correction.x[first..first + range.len()];
            for (v, d) in end.state.velocities[range].iter_mut().zip(change) {
                *v += d;
            }
        }
        for (row, projected) in self.rows.iter().enumerate() {
            if way.is_whole() && *projected != Projected::Elastic && holds(projected) {
                end.multipliers[row] += system.scratch.correction.mu[row] / way.h;
            }
        }
        system.propagate(&mut end.state)
    }

    /// Frees the rows that stop whose whole impulse over the step would pull, with that of the
    /// projection `mu` (N s); whether there is one.
    fn let_go(&mut self, mu: &[f64], h: f64, end: &Motion) -> bool {
        let mut any = false;
        for ((row, mu), lambda) in self.rows.iter_mut().zip(mu).zip(&end.multipliers) {
            if let Projected::Stopped { sign } = *row
                && sign * (h * lambda + mu) < 0.0
            {
                *row = Projected::Free;
                any = true;
            }
        }
        any
    }

    /// Fills and factors the system of the projection; where a tangent is indefinite, with the
    /// masses alone.
    fn prepare(
        &self,
        system: &mut System,
        scheme: &Scheme,
        start: &Motion,
        end: &Motion,
        pass: Pass,
    ) -> Result<(), Error> {
        let mut stiffness = true;
        loop {
            let System {
                model,
                evaluation,
                assembler,
                ..
            } = &mut *system;
            assembler.fill_elastic(model, evaluation, scheme, &end.state, stiffness);
            for (row, projected) in self.rows.iter().enumerate() {
                let rate_alone = *projected == Projected::Rate && pass == Pass::Positions;
                if *projected == Projected::Free || rate_alone {
                    assembler.deactivate_row(row);
                }
            }
            match stabilise::prepare(system, !stiffness, end) {
                Ok(()) => return Ok(()),
                Err(SolveError::NotPositiveDefinite { .. }) if stiffness => stiffness = false,
                Err(e) => return Err(Error::from_solver(e, &system.model, start.time)),
            }
        }
    }

    /// Decides the part of every row, `mu` its impulse in the last stage (N s, N m s).
    fn classify(&mut self, system: &System, way: Way, end: &Motion, mu: &[f64]) {
        let model = &system.model;
        self.rows.clear();
        self.rows.resize(model.row_count(), Projected::Free);
        for group in model.row_groups() {
            let node = model.node(group.node);
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if system.sleep.holds_row(row) || system.guards.leave_out(row) {
                    continue;
                }
                let target = system.row_target(row);
                let gap = end.state.positions[node.first_position + k] - target;
                let held = starts_where_held(system, group, k) || {
                    model.bounds(group).is_none() && system.evaluation.holds_position(model, group, k)
                };
                let elastic = matches!(group.component, ComponentId::ForceField(_))
                    && model.row_law(group) == RowLaw::Elastic
                    && !system.evaluation.is_hard(group, k);
                let lambda = end.multipliers[row];
                let inside = model
                    .bounds(group)
                    .is_none_or(|bounds| !is_at_bound(lambda, bounds));
                // One-sided rows that are active go where the last stage has them, on the whole way where
                // that is no more than comes back at once: by so much alone they would get there in time.
                let is_active = way.exact && inside && gap.abs() <= way.recovery;
                // Forces of the last stage, not their mean: what has begun to slip holds no rate.
                let at_end = mu[row] / way.reach;
                let holds = || match system.rows.frictions.sticks(row) {
                    Some(sticks) => sticks,
                    None => model.bounds(group).is_none_or(|b| !is_at_bound(at_end, b)),
                };
                let waits = system.rows.lowered.recovers(row);
                self.rows[row] = match model.bounds(group) {
                    _ if holds_rate(system, group, k) && holds() => Projected::Rate,
                    Some(_) if system.rows.lowered.rebounds(row) => Projected::Free,
                    Some(_) if held && waits => Projected::Waiting,
                    None if held => Projected::Hard,
                    None if elastic => Projected::Elastic,
                    Some((lower, upper)) if held => match (lower, upper) {
                        (0.0, _) if inside && way.is_whole() => Projected::Stopped { sign: 1.0 },
                        (_, 0.0) if inside && way.is_whole() => Projected::Stopped { sign: -1.0 },
                        (0.0, _) if gap < 0.0 && !is_active => Projected::Returning,
                        (_, 0.0) if gap > 0.0 && !is_active => Projected::Returning,
                        _ if inside => Projected::Elastic,
                        _ => Projected::Free,
                    },
                    Some(_) if elastic && inside => Projected::Elastic,
                    _ => Projected::Free,
                };
            }
        }
    }

    /// Right-hand sides of the displacement.
    fn fill_positions(&mut self, system: &mut System, deformations: &Deformations, way: Way, end: &Motion) {
        let System {
            model,
            evaluation,
            assembler,
            row_motion,
            ..
        } = system;
        self.difference.clear();
        self.difference.resize(model.velocity_count(), 0.0);
        for index in deformations.nodes() {
            for k in model.nodes()[*index].velocity_range() {
                self.difference[k] = way.reach * way.reach * (evaluation.force()[k] - self.forces[k]);
            }
        }
        evaluation.pull_back(model, &mut self.difference);
        self.primal.resize(model.dof_count(), 0.0);
        gather(model, &self.difference, &mut self.primal);
        let b = assembler.row_right_hand_side_mut();
        for group in model.row_groups() {
            let node = model.node(group.node);
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let x = end.state.positions[node.first_position + k];
                let target = row_motion.get(row).map_or(0.0, |m| m.end.0);
                b[row] = match self.rows[row] {
                    Projected::Free | Projected::Waiting | Projected::Rate => 0.0,
                    Projected::Elastic | Projected::Stopped { .. } => {
                        x - self.integrated[node.first_position + k]
                    }
                    Projected::Hard => x - target,
                    Projected::Returning => (x - target).max(-way.recovery).min(way.recovery),
                };
            }
        }
        for (c, fixed) in self.primal.iter_mut().zip(&assembler.system().fixed) {
            if *fixed {
                *c = 0.0;
            }
        }
        assembler.right_hand_side_mut().copy_from_slice(&self.primal);
    }

    /// Says why hard rows are violated by a share `left` of the largest coordinate that no solve
    /// takes from them. The system must be prepared.
    ///
    /// # Errors
    /// [`Error::Incompatible`] where they contradict each other, else
    /// [`Error::CorrectionNotConverged`], unless failed steps are accepted.
    fn judge(
        &mut self,
        system: &mut System,
        deformations: &Deformations,
        way: Way,
        end: &Motion,
        left: f64,
    ) -> Result<Status, Error> {
        self.fill_positions(system, deformations, way, end);
        let time = end.time;
        if !system.options.accept_failed_steps {
            solve_prepared(system, time, end, Residuals::Displacements, 0.0)?;
            return Err(correction_error(system, &end.state, time, left));
        }
        let System {
            model,
            assembler,
            corrections,
            scratch,
            ..
        } = &mut *system;
        let solved = corrections.solve(assembler.system(), &mut scratch.correction);
        let report = solved.map_err(|e| Error::from_solver(e, model, time))?;
        Ok(match report.status {
            Status::Converged => Status::MaxIterations,
            other => other,
        })
    }

    /// Right-hand sides of the change of velocity.
    fn fill_velocities(&self, system: &mut System, end: &Motion) {
        let System {
            model,
            assembler,
            row_motion,
            ..
        } = system;
        let b = assembler.row_right_hand_side_mut();
        for group in model.row_groups() {
            let first = model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let velocity =
                    || end.state.velocities[first + k] - row_motion.get(row).map_or(0.0, |m| m.end.1);
                b[row] = match self.rows[row] {
                    Projected::Hard | Projected::Rate => velocity(),
                    Projected::Stopped { sign } => sign * (sign * velocity()).min(0.0),
                    Projected::Elastic => match self.rates.get(first + k) {
                        Some(rate) => end.state.velocities[first + k] - rate,
                        None => 0.0,
                    },
                    _ => 0.0,
                };
            }
        }
        assembler.right_hand_side_mut().fill(0.0);
        assembler.allow_disagreement();
    }

    /// The largest violation of a hard row (m, rad), if it is more than rounding.
    fn violation(&self, system: &System, end: &Motion) -> f64 {
        let mut largest = 0.0f64;
        for group in system.model.row_groups() {
            let node = system.model.node(group.node);
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if self.rows[row] == Projected::Hard {
                    let gap = end.state.positions[node.first_position + k] - system.row_target(row);
                    largest = largest.max(gap.abs());
                }
            }
        }
        if largest <= ROUNDING { 0.0 } else { largest }
    }
}

/// Moves the independent nodes by the displacement that was solved for.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined.
fn displace(system: &mut System, end: &mut Motion) -> Result<(), Error> {
    for node in system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let step = &system.scratch.correction.x[first..first + node.velocity_range().len()];
        node.space
            .retract(&mut end.state.positions[node.position_range()], step);
    }
    system.propagate_acting(end)
}

/// The largest velocity of what moves (m/s, rad/s).
fn largest_velocity(system: &System, end: &Motion) -> f64 {
    let nodes = system.model.nodes().iter().filter(|n| n.first_dof().is_some());
    nodes
        .flat_map(|n| &end.state.velocities[n.velocity_range()])
        .fold(0.0, |a, x| a.max(x.abs()))
}

/// The largest coordinate of what moves (m; of bodies also that of their quaternions).
fn largest_coordinate(system: &System, end: &Motion) -> f64 {
    let nodes = system.model.nodes().iter().filter(|n| n.first_dof().is_some());
    nodes
        .flat_map(|n| &end.state.positions[n.position_range()])
        .fold(0.0, |a, x| a.max(x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that stop are let go where their impulse of the step and that of the projection pull.
    #[test]
    fn rows_that_would_pull_are_let_go() {
        let (pushes, pulls) = (
            Projected::Stopped { sign: 1.0 },
            Projected::Stopped { sign: -1.0 },
        );
        let mut projection = Projection {
            rows: vec![pushes, pushes, pulls, pulls, Projected::Hard],
            ..Projection::default()
        };
        let end = Motion {
            multipliers: vec![3.0, 3.0, -3.0, -3.0, 3.0],
            ..Motion::default()
        };
        let mu = [-0.2, -0.4, 0.2, 0.4, -9.0];
        assert!(projection.let_go(&mu, 0.1, &end));
        let left = vec![pushes, Projected::Free, pulls, Projected::Free, Projected::Hard];
        assert_eq!(projection.rows, left);
        assert!(!projection.let_go(&mu, 0.1, &end));
    }
}
