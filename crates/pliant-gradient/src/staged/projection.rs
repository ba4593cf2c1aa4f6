//! The derivative of the projection that ends a step of stages.
//!
//! **Equation.** From the end `(x2, v2)` of the last stage, with its deformations `e2` and the
//! forces `f2` of these, over its time `w`,
//!
//! ```math
//! M d/w^2 - J(x)^T (f(x, v2) - f2) - J(x)^T lambda = 0,   x = x2 (+) d
//! M u + w^2 J(x)^T H(x) J(x) u - J(x)^T nu = 0,           v = v2 + u
//! ```
//!
//! with the stiffness `H` of the laws on their nodes. Soft rows have `C lambda + phi(x) - e2 = 0`
//! and `C nu/w^2 + J u = 0`; hard ones `phi(x) = 0` and `J v = 0`.

use super::part::{PartOf, each_row, holds, pull, weigh};
use super::residuals::{LastStage, Projected, Residuals};
use super::stiffness::{TurnedLaw, add_stiffness, add_stiffness_transposed};
use super::turns::{Turns, TurnsOf};
use crate::deformed::{RowOfStep, RowPart};
use crate::equations::{BALANCED, Equations, KeptMoment, Kinetics, Unknown};
use crate::geometry::{add_geometry, add_geometry_transposed};
use crate::kinematics::Retraction;
use crate::linearised::Linearised;
use crate::solve::{Matrix, Saddle, SolveReport};
use crate::{GradientError, StateVector};
use pliant_model::Problem;

/// Roundings of places and velocities that the forces of elastic laws make what equations miss of.
const ROUNDINGS: f64 = 100.0;

/// Share of a compliance that its change over the projection of hard rows may be: at which place of that
/// it is taken depends on how many solves these take.
const CHANGES: f64 = 1e-9;

/// The derivative of the projection.
#[derive(Debug)]
pub(super) struct Projection {
    pub(super) equations: Equations,
    pub(super) linearised: Linearised,
    factors: Factors,
    retraction: Retraction,
    kept: KeptMoment,
    pub(super) residuals: Residuals,
    /// `d` and `u`, and multipliers of both parts.
    pub(super) moved: [Vec<f64>; 2],
    pub(super) multipliers: [Vec<f64>; 2],
    rows: Vec<RowOfStep>,
    reach: f64,
    turns: Turns,
    /// The adjoint solutions of both parts.
    pub(super) adjoint: [[Vec<f64>; 2]; 2],
    room: [Vec<f64>; 4],
    of_rows: Vec<f64>,
    /// Forces and changes of velocity of all nodes.
    nodes: [Vec<f64>; 2],
}

/// The factors of both parts.
#[derive(Debug)]
struct Factors {
    saddles: [Saddle; 2],
    /// Whether both parts have the same active rows, so that the first factor serves both.
    shares: bool,
}

impl Factors {
    /// The factor of a part, in its units.
    fn of(&mut self, part: usize, reach: f64, rows: &[RowOfStep]) -> &mut Saddle {
        let saddle = &mut self.saddles[if self.shares { 0 } else { part }];
        let unit = if part == 0 { reach * reach } else { 1.0 };
        saddle.take_units_of(unit, &|row| holds(part, rows[row].part));
        saddle
    }
}

/// Weights of the end of the last stage.
#[derive(Debug, Default)]
pub(super) struct OnStage {
    /// Weights of positions and velocities (n).
    pub(super) end: StateVector,
    /// Weights of deformations, or positions of other nodes, of velocities, and of positions where
    /// mappings lead, of all nodes.
    pub(super) nodes: [Vec<f64>; 3],
}

impl Projection {
    pub(super) fn new(problem: &Problem, nodes: &[usize]) -> Result<Self, GradientError> {
        let equations = Equations::new(problem.clone())?;
        let mut linearised = Linearised::new(&equations);
        linearised.moving = moving_nodes(problem);
        let (n, m, all) = (problem.dof_count(), problem.row_count(), problem.velocity_count());
        Ok(Self {
            factors: Factors {
                saddles: [Saddle::new(&equations, &[])?, Saddle::new(&equations, &[])?],
                shares: false,
            },
            turns: Turns::new(&equations, &linearised, nodes),
            linearised,
            equations,
            retraction: Retraction::default(),
            kept: KeptMoment {
                start_velocity: vec![0.0; n],
                ..KeptMoment::default()
            },
            residuals: Residuals::default(),
            moved: [vec![0.0; n], vec![0.0; n]],
            multipliers: [vec![0.0; m], vec![0.0; m]],
            rows: Vec::new(),
            reach: 0.0,
            adjoint: [[(); 2]; 2].map(|_| [vec![0.0; n], vec![0.0; m]]),
            room: std::array::from_fn(|_| vec![0.0; n]),
            of_rows: vec![0.0; m],
            nodes: [vec![0.0; all], vec![0.0; all]],
        })
    }

    /// Whether there are rows that velocities are projected to.
    pub(super) fn projects_velocities(&self) -> bool {
        let holds = |row: &RowOfStep| matches!(row.part, RowPart::Hard | RowPart::Rate);
        self.rows.iter().any(holds)
    }

    /// Takes the projection of a step, whose displacement and change of velocity are in `moved`:
    /// finds its multipliers, and linearises.
    ///
    /// # Errors
    /// [`GradientError::Model`], [`GradientError::NotBuilt`] where a law has no finite derivative, the
    /// elastic stiffness is indefinite, or a compliance changes beside hard rows,
    /// [`GradientError::Solve`], [`GradientError::Singular`], [`GradientError::NotConverged`].
    pub(super) fn place(
        &mut self,
        of: Projected<'_>,
        last: LastStage<'_>,
        fixed: &[bool],
    ) -> Result<(), GradientError> {
        self.rows.clear();
        self.rows.extend_from_slice(of.rows);
        self.reach = of.reach;
        self.multipliers.iter_mut().for_each(|list| list.fill(0.0));
        (self.kept.kinetics, self.kept.time) = (Kinetics::Moving, of.time);
        self.kept.take(of.end, &self.multipliers[0], of.external, fixed);
        self.evaluate(of, last)?;
        self.equations.total.copy_from_slice(&self.residuals.totals[0]);
        self.linearised.place(&mut self.equations, &self.kept.get())?;
        if self.projects_velocities() {
            self.turns.place_change(&mut self.equations, &self.moved[1]);
        }
        self.factor()?;
        self.retraction.place(&self.equations.problem, &self.moved[0]);
        // Multipliers are those that balance the displacement and the change of velocity.
        let parts = if self.rows.is_empty() { 0 } else { self.parts() };
        for part in 0..parts {
            self.solve(part, None)?;
            let found = &self.factors.of(part, self.reach, &self.rows).answer[1];
            self.multipliers[part].copy_from_slice(found);
        }
        self.evaluate(of, last)?;
        self.equations.total.copy_from_slice(&self.residuals.totals[0]);
        self.linearised.place_geometry(&mut self.equations);
        let projects = self.projects_velocities();
        let problem = &self.equations.problem;
        let changing = self.residuals.changing_compliance(problem, CHANGES);
        if let Some(i) = changing.filter(|_| projects) {
            return Err(GradientError::NotBuilt {
                what: format!(
                    "`{}` beside hard rows in a step of SDIRK2",
                    problem.force_fields()[i].name
                ),
                why: "its compliance changes over the projection: treat it as a stiffness",
            });
        }
        let of_turns = TurnsOf {
            reach: of.reach,
            time: of.time,
            last: last.placed,
            multipliers: [&self.multipliers[0], &self.multipliers[1]],
            impulses: &self.residuals.totals[1],
        };
        self.turns.place(&mut self.equations, of_turns, projects);
        Ok(())
    }

    /// Number of parts: positions, and velocities if there are rows for them.
    fn parts(&self) -> usize {
        if self.projects_velocities() { 2 } else { 1 }
    }

    /// Factors the matrices of both parts.
    fn factor(&mut self) -> Result<(), GradientError> {
        let Self {
            equations,
            linearised,
            factors,
            kept,
            rows,
            reach: w,
            ..
        } = self;
        factors.shares = !rows.iter().any(|row| row.part == RowPart::Rate);
        let parts = if factors.shares { 1 } else { 2 };
        for (part, saddle) in factors.saddles.iter_mut().enumerate().take(parts) {
            let is_active = |row: usize| holds(part, rows[row].part);
            let matrix = Matrix::Elastic {
                w: *w,
                is_active: &is_active,
            };
            saddle.place(equations, linearised, matrix, kept)?;
            if !saddle.is_minimum() {
                return Err(GradientError::NotBuilt {
                    what: "a step of SDIRK2 whose elastic stiffness is indefinite".to_owned(),
                    why: "it is projected by its masses alone: choose a shorter step",
                });
            }
        }
        Ok(())
    }

    /// The equation that misses the largest share of the terms of the last stage, and that share.
    pub(super) fn missed(&self, last: &Equations, fixed: &[bool]) -> (Unknown, f64) {
        let mut worst = (Unknown::Dof(0), 0.0);
        let mut look = |place, missed: f64, size: f64| {
            let share = missed.abs() / size.max(f64::MIN_POSITIVE);
            if share > worst.1 || share.is_nan() {
                worst = (place, share);
            }
        };
        let sizes = &last.sizes.primal;
        let largest = sizes.iter().fold(0.0f64, |l, s| l.max(*s));
        // Elastic forces of the rounding of places: within what is allowed of them.
        let far = last.sizes.rows.iter().chain(&last.state.positions);
        let far = far.fold(0.0f64, |l, x| l.max(x.abs()));
        let per_place = ROUNDINGS * f64::EPSILON / crate::implicit::SOLVED * far / (self.reach * self.reach);
        let [forces, impulses] = &self.residuals.primal;
        for (k, size) in sizes.iter().enumerate().filter(|(k, _)| !fixed[*k]) {
            let missed = forces[k].abs().max(impulses[k].abs() / self.reach);
            let rounded = per_place * self.factors.saddles[0].diagonal(k);
            look(Unknown::Dof(k), missed, size.max(BALANCED * largest).max(rounded));
        }
        let [at_place, at_rate] = &self.residuals.rows;
        for (k, size) in last.sizes.rows.iter().enumerate() {
            let missed = at_place[k].abs().max(self.reach * at_rate[k].abs());
            let is_free = self.rows[k].part == RowPart::Free;
            look(Unknown::Row(k), if is_free { 0.0 } else { missed }, *size);
        }
        worst
    }

    fn evaluate(&mut self, of: Projected<'_>, last: LastStage<'_>) -> Result<(), GradientError> {
        let of = Projected {
            moved: [&self.moved[0], &self.moved[1]],
            multipliers: [&self.multipliers[0], &self.multipliers[1]],
            ..of
        };
        self.residuals
            .evaluate(&mut self.equations, of, last, &self.linearised.laws)
    }

    /// Solves the equations of a part for what takes back its residuals, or changes that are given.
    fn solve(&mut self, part: usize, given: Option<[&[f64]; 2]>) -> Result<SolveReport, GradientError> {
        let Self {
            equations,
            linearised,
            factors,
            retraction,
            residuals,
            rows,
            reach,
            room: [_, _, _, way],
            ..
        } = self;
        let saddle = factors.of(part, *reach, rows);
        let [dr, ds] = given.unwrap_or([&residuals.primal[part], &residuals.rows[part]]);
        let [r, s] = &mut saddle.rhs;
        r.iter_mut().zip(dr).for_each(|(r, d)| *r = -d);
        s.iter_mut().zip(ds).for_each(|(s, d)| *s = -d);
        let of = PartOf {
            part,
            reach: *reach,
            rows,
            compliance: &residuals.laws[part],
        };
        saddle.solve(false, |x, l, dr, ds| {
            way.copy_from_slice(x);
            if part == 0 {
                retraction.of_displacement(way);
            }
            of.apply(equations, linearised, [way, x], l, [dr, ds]);
        })
    }

    fn solve_transposed(&mut self, part: usize, weights: &[f64]) -> Result<SolveReport, GradientError> {
        let Self {
            equations,
            linearised,
            factors,
            retraction,
            residuals,
            rows,
            reach,
            adjoint,
            room: [_, y, u, _],
            of_rows,
            nodes: [forces, _],
            ..
        } = self;
        let saddle = factors.of(part, *reach, rows);
        let [r, s] = &mut saddle.rhs;
        r.copy_from_slice(weights);
        s.fill(0.0);
        let of = PartOf {
            part,
            reach: *reach,
            rows,
            compliance: &residuals.laws[part],
        };
        let report = saddle.solve(true, |p, q, dx, dl| {
            let out = [&mut y[..], &mut u[..], dl];
            of.apply_transposed(equations, linearised, [p, q], [&mut *forces, &mut *of_rows], out);
            if part == 0 {
                retraction.of_displacement_transposed(y);
            } else {
                y.copy_from_slice(u);
            }
            linearised.inertia(equations, p, u);
            let share = of.inertia();
            for ((d, y), m) in dx.iter_mut().zip(&*y).zip(&*u) {
                *d = y + share * m;
            }
        })?;
        for (kept, found) in adjoint[part].iter_mut().zip(&saddle.answer) {
            kept.clone_from(found);
        }
        Ok(report)
    }

    /// How the end moves: with the end of the last stage, whose nodes move by what `last` saw, and
    /// with changes of the equations of both parts.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Singular`], [`GradientError::Solve`].
    pub(super) fn tangent(
        &mut self,
        last: &Linearised,
        moved: &StateVector,
        changes: [Option<[&[f64]; 2]>; 2],
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        let (mut dr, mut ds) = (
            std::mem::take(&mut self.room[0]),
            std::mem::take(&mut self.of_rows),
        );
        out.copy(moved);
        let mut found = self.move_positions(last, changes[0], out, [&mut dr, &mut ds]);
        if self.projects_velocities() {
            found = found.and_then(|first| {
                let second = self.move_velocities(changes[1], out, [&mut dr, &mut ds])?;
                Ok(first.with(second))
            });
        }
        (self.room[0], self.of_rows) = (dr, ds);
        found
    }

    /// Moves the positions of the end, in place of those of the last stage; with room for changes of
    /// the equations.
    fn move_positions(
        &mut self,
        last: &Linearised,
        change: Option<[&[f64]; 2]>,
        out: &mut StateVector,
        [dr, ds]: [&mut [f64]; 2],
    ) -> Result<SolveReport, GradientError> {
        self.retraction.of_start(&mut out.x);
        let Self {
            equations,
            linearised,
            turns,
            nodes: [forces, room],
            rows,
            ..
        } = self;
        let [seen, velocities] = last.seen();
        linearised.push(equations, [&out.x, &out.v]);
        let [ys, us, ..] = &linearised.nodes;
        forces.fill(0.0);
        last.laws.add_forces([seen, velocities], forces);
        forces.iter_mut().for_each(|f| *f = -*f);
        linearised.laws.add_forces([ys, us], forces);
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        add_geometry(problem, evaluation, &linearised.geometry, ys, forces);
        pull(equations, forces, dr);
        each_row(problem, rows, |row, v, part| {
            ds[row] = match part {
                RowPart::Hard => ys[v],
                RowPart::Elastic => ys[v] - seen[v],
                _ => 0.0,
            };
        });
        turns.add_strains(equations, rows, 0, last.moved(), [room, &mut *ds]);
        add(change, [&mut *dr, &mut *ds]);
        let report = self.solve(0, Some([&*dr, &*ds]))?;
        dr.copy_from_slice(&self.factors.saddles[0].answer[0]);
        self.retraction.of_displacement(dr);
        out.x.iter_mut().zip(&*dr).for_each(|(x, d)| *x += d);
        Ok(report)
    }

    /// Moves the velocities of the end, in place of those of the last stage; with room for changes of
    /// the equations.
    fn move_velocities(
        &mut self,
        change: Option<[&[f64]; 2]>,
        out: &mut StateVector,
        [dr, ds]: [&mut [f64]; 2],
    ) -> Result<SolveReport, GradientError> {
        let Self {
            equations,
            linearised,
            turns,
            nodes: [forces, curved],
            rows,
            reach,
            ..
        } = self;
        linearised.push(equations, [&out.x, &out.v]);
        let [ys, us, ..] = &linearised.nodes;
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        curved.fill(0.0);
        if !turns.changing.is_empty() {
            turns.changing.apply(problem, evaluation, ys, curved);
        }
        forces.fill(0.0);
        let share = -*reach * *reach;
        add_stiffness(problem, evaluation, &linearised.laws, share, curved, forces);
        for TurnedLaw { law, .. } in turns.turned.iter().flatten() {
            law.add_product([ys, us], forces);
        }
        add_geometry(problem, evaluation, &turns.geometry, ys, forces);
        pull(equations, forces, dr);
        each_row(problem, rows, |row, v, part| {
            ds[row] = match part {
                RowPart::Hard | RowPart::Rate => us[v] + curved[v],
                RowPart::Elastic => curved[v],
                RowPart::Free => 0.0,
            };
        });
        turns.add_strains(equations, rows, 1, [ys, us], [forces, &mut *ds]);
        add(change, [&mut *dr, &mut *ds]);
        let report = self.solve(1, Some([&*dr, &*ds]))?;
        let more = &self.factors.of(1, self.reach, &self.rows).answer[0];
        out.v.iter_mut().zip(more).for_each(|(v, d)| *v += d);
        Ok(report)
    }

    /// Finds the weights of the end of the last stage from those of the end of the step.
    ///
    /// # Errors
    /// Every error of [`tangent`](Self::tangent).
    pub(super) fn adjoint(
        &mut self,
        last: &Linearised,
        from: &StateVector,
        out: &mut OnStage,
    ) -> Result<SolveReport, GradientError> {
        out.end.copy(from);
        let mut report = SolveReport::default();
        if self.projects_velocities() {
            report = self.solve_transposed(1, &from.v)?;
            self.subtract_against_velocities(&mut out.end);
        } else {
            self.adjoint[1].iter_mut().for_each(|list| list.fill(0.0));
        }
        let mut weights = std::mem::take(&mut self.room[0]);
        weights.copy_from_slice(&out.end.x);
        self.retraction.of_displacement_transposed(&mut weights);
        let found = self.solve_transposed(0, &weights);
        self.room[0] = weights;
        report = report.with(found?);
        self.take_against_positions(last, out);
        Ok(report)
    }

    /// Subtracts what the equations of the velocities have against positions and the velocities of
    /// the last stage.
    fn subtract_against_velocities(&mut self, on_end: &mut StateVector) {
        let Self {
            equations,
            linearised,
            turns,
            nodes: [forces, curved],
            rows,
            reach,
            adjoint: [_, [p, q]],
            room: [_, y, u, _],
            ..
        } = self;
        let Linearised {
            laws,
            nodes: [ys, us, ..],
            ..
        } = linearised;
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        weigh(equations, p, forces);
        for list in [&mut *ys, &mut *us, &mut *curved] {
            list.fill(0.0);
        }
        add_stiffness_transposed(problem, evaluation, laws, -*reach * *reach, forces, curved);
        for TurnedLaw { law, .. } in turns.turned.iter().flatten() {
            law.add_transposed_product(forces, [&mut *ys, &mut *us]);
        }
        add_geometry_transposed(problem, evaluation, &turns.geometry, forces, ys);
        each_row(problem, rows, |row, v, part| {
            if part != RowPart::Free {
                curved[v] += q[row];
            }
            if matches!(part, RowPart::Hard | RowPart::Rate) {
                us[v] += q[row];
            }
        });
        turns.add_strains_transposed(equations, rows, 1, q, forces, [&mut *ys, &mut *us]);
        if !turns.changing.is_empty() {
            turns.changing.apply_transposed(problem, evaluation, curved, ys);
        }
        linearised.pull_back_nodes(equations, [y, u]);
        on_end.x.iter_mut().zip(&*y).for_each(|(x, y)| *x -= y);
        on_end.v.iter_mut().zip(&*u).for_each(|(v, u)| *v -= u);
    }

    /// Takes what the equations of the positions have against the end of the last stage.
    fn take_against_positions(&mut self, last: &Linearised, out: &mut OnStage) {
        let Self {
            equations,
            linearised,
            turns,
            nodes: [forces, room],
            rows,
            retraction,
            adjoint: [[p, q], _],
            room: [_, y, u, _],
            ..
        } = self;
        let Linearised {
            laws,
            geometry,
            nodes: [ys, us, ..],
            ..
        } = linearised;
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        weigh(equations, p, forces);
        let [seen, velocities, moved] = &mut out.nodes;
        for list in [&mut *seen, &mut *velocities, &mut *moved] {
            list.clear();
            list.resize(forces.len(), 0.0);
        }
        ys.fill(0.0);
        us.fill(0.0);
        laws.add_forces_transposed(forces, [&mut *ys, &mut *us]);
        add_geometry_transposed(problem, evaluation, geometry, forces, ys);
        // Forces of the last stage, and its strains, are taken away.
        turns.add_strains_transposed(equations, rows, 0, q, room, [&mut *moved, &mut *velocities]);
        for list in [&mut *moved, &mut *velocities] {
            list.iter_mut().for_each(|w| *w = -*w);
        }
        last.laws
            .add_forces_transposed(forces, [&mut *seen, &mut *velocities]);
        each_row(problem, rows, |row, v, part| {
            if matches!(part, RowPart::Hard | RowPart::Elastic) {
                ys[v] += q[row];
            }
            if part == RowPart::Elastic {
                seen[v] += q[row];
            }
        });
        linearised.pull_back_nodes(equations, [y, u]);
        out.end.x.iter_mut().zip(&*y).for_each(|(x, y)| *x -= y);
        retraction.of_start_transposed(&mut out.end.x);
        out.end.v.iter_mut().zip(&*u).for_each(|(v, u)| *v -= u);
    }
}

/// The nodes whose velocities the projection looks at beside those of damped laws: those of rows, and
/// of laws whose stiffness may change, where there are rows to project velocities to.
fn moving_nodes(problem: &Problem) -> Vec<usize> {
    if problem.row_count() == 0 {
        return Vec::new();
    }
    let rows = problem.row_groups().iter().map(|group| group.node.index());
    let fields = problem.force_fields().iter();
    let curved_forces = fields.filter(|field| !field.component.law.is_linear());
    rows.chain(curved_forces.map(|field| field.node.index()))
        .collect()
}

/// Adds changes of equations, if there are any.
fn add(change: Option<[&[f64]; 2]>, [dr, ds]: [&mut [f64]; 2]) {
    if let Some([r, s]) = change {
        dr.iter_mut().zip(r).for_each(|(d, r)| *d += r);
        ds.iter_mut().zip(s).for_each(|(d, s)| *d += s);
    }
}
