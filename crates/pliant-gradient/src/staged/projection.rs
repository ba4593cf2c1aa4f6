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

use crate::deformed::{RowOfStep, RowPart};
use crate::equations::{BALANCED, Equations, KeptMoment, Kinetics, Unknown};
use crate::kinematics::{Retraction, gather, scatter};
use crate::law::{Law, LawBuffers};
use crate::laws::Laws;
use crate::linearised::{Linearised, add_geometry, add_geometry_transposed};
use crate::row_law::{RowArguments, RowLaws};
use crate::solve::{Matrix, Saddle, SolveReport};
use crate::{GradientError, StateVector};
use pliant_model::{At, Blocks, ComponentId, Evaluation, Problem, RowGroup, State};

/// What the projection is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projected<'a> {
    /// `w`, and the time at the end of the step (s).
    pub(super) reach: f64,
    pub(super) time: f64,
    /// Its end, with the velocities of the last stage.
    pub(super) end: &'a State,
    pub(super) rows: &'a [RowOfStep],
    pub(super) external: &'a [f64],
    /// `d` and `u`, of the independent coordinates (n).
    pub(super) moved: [&'a [f64]; 2],
    /// `lambda` (N, N m) and `nu` (N s, N m s; m).
    pub(super) multipliers: [&'a [f64]; 2],
}

/// The last stage as the projection sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastStage<'a> {
    /// `f2` on all nodes (N, N m).
    pub(super) forces: &'a [f64],
    /// Positions of all nodes with the deformations `e2`.
    pub(super) deformations: &'a [f64],
    /// Its end where mappings lead, at which soft rows have their compliance.
    pub(super) placed: &'a State,
}

/// Residuals of both parts of the projection, of the positions and of the velocities.
#[derive(Debug, Default)]
pub(super) struct Residuals {
    pub(super) primal: [Vec<f64>; 2],
    pub(super) rows: [Vec<f64>; 2],
    /// Forces on all nodes, carried up.
    totals: [Vec<f64>; 2],
    room: Vec<f64>,
    /// The compliances of both parts.
    laws: [RowLaws; 2],
    strains: Strains,
}

/// Room for the strains of the rows of one group.
#[derive(Debug, Default)]
struct Strains {
    none: Vec<f64>,
    without: Vec<f64>,
}

impl Strains {
    /// Writes what soft rows are strained by under multipliers: `C` times these is what the residual
    /// of their law has by them.
    fn find(&mut self, problem: &Problem, law: &mut RowLaws, group: &RowGroup, at: RowArguments<'_>, out: &mut [f64]) {
        for list in [&mut self.none, &mut self.without] {
            list.clear();
            list.resize(out.len(), 0.0);
        }
        out.fill(0.0);
        if !matches!(group.component, ComponentId::ForceField(_)) {
            return;
        }
        law.evaluate(problem, group, at, out);
        let none = RowArguments {
            multipliers: &self.none,
            ..at
        };
        law.evaluate(problem, group, none, &mut self.without);
        out.iter_mut().zip(&self.without).for_each(|(o, w)| *o -= w);
    }
}

impl Residuals {
    /// Evaluates them with the mappings and laws of `equations`.
    ///
    /// # Errors
    /// [`GradientError::Model`] where a mapping is not defined.
    pub(super) fn evaluate(
        &mut self,
        equations: &mut Equations,
        of: Projected<'_>,
        last: LastStage<'_>,
        laws: &Laws,
    ) -> Result<(), GradientError> {
        let Equations {
            problem,
            evaluation,
            state,
            is_deformed,
            ..
        } = equations;
        *is_deformed = false;
        state.clone_from(of.end);
        evaluation.propagate(problem, state)?;
        evaluation.evaluate(problem, state)?;
        evaluation.add_force(of.external);
        let all = problem.velocity_count();
        for list in self.totals.iter_mut().chain([&mut self.room]) {
            list.clear();
            list.resize(all, 0.0);
        }
        let [forces, impulses] = &mut self.totals;
        for ((f, now), before) in forces.iter_mut().zip(evaluation.force()).zip(last.forces) {
            *f = now - before;
        }
        let squared = of.reach * of.reach;
        for (list, moved, share) in [
            (&mut *forces, of.moved[0], squared.recip()),
            (&mut *impulses, of.moved[1], 1.0),
        ] {
            scatter(problem, moved, &mut self.room);
            evaluation.push_forward_to_masses(problem, &mut self.room);
            for mass in problem.masses() {
                let node = problem.node(mass.node);
                let range = node.velocity_range();
                let (moved, out) = (&self.room[range.clone()], &mut list[range]);
                mass.component.add_product(node.space, -share, moved, out);
            }
        }
        scatter(problem, of.moved[1], &mut self.room);
        evaluation.push_forward(problem, &mut self.room);
        let changes = &self.room;
        add_stiffness(problem, evaluation, laws, -squared, changes, impulses);
        for (list, multipliers) in self.totals.iter_mut().zip(of.multipliers) {
            for group in problem.row_groups() {
                let first = problem.node(group.node).first_velocity;
                for k in 0..group.size * group.count {
                    list[first + k] += multipliers[group.first_row + k];
                }
            }
            evaluation.pull_back(problem, list);
        }
        for (list, total) in self.primal.iter_mut().zip(&self.totals) {
            list.resize(problem.dof_count(), 0.0);
            gather(problem, total, list);
            list.iter_mut().for_each(|r| *r = -*r);
        }
        self.find_rows(equations, of, last);
        Ok(())
    }

    fn find_rows(&mut self, equations: &Equations, of: Projected<'_>, last: LastStage<'_>) {
        let Equations { problem, state, .. } = equations;
        let squared = of.reach * of.reach;
        for list in &mut self.rows {
            list.resize(problem.row_count(), 0.0);
        }
        for group in problem.row_groups() {
            let (node, count) = (problem.node(group.node), group.size * group.count);
            let range = group.first_row..group.first_row + count;
            let motion = problem.motion(group);
            for (part, placed) in [last.placed, state].into_iter().enumerate() {
                let own = &of.multipliers[part][range.clone()];
                let out = &mut self.rows[part][range.clone()];
                let at = RowArguments::of(placed, node, own, of.time);
                self.strains
                    .find(problem, &mut self.laws[part], group, at, out);
                for (k, out) in out.iter_mut().enumerate() {
                    let (value, rate) = motion.map_or((0.0, 0.0), |m| m.at(k, of.time));
                    let (x, v) = (node.first_position + k, node.first_velocity + k);
                    let row = &of.rows[group.first_row + k];
                    *out = match (row.part, part) {
                        (RowPart::Elastic, 0) => *out + state.positions[x] - last.deformations[x],
                        (RowPart::Elastic, _) => *out / squared + self.room[v],
                        (RowPart::Hard, 0) => state.positions[x] - value,
                        (RowPart::Hard | RowPart::Rate, 1) => state.velocities[v] + self.room[v] - rate,
                        _ => own[k],
                    };
                }
            }
        }
    }
}

/// Adds `share` times the products of the stiffness of all laws with displacements of all nodes.
fn add_stiffness(
    problem: &Problem,
    evaluation: &Evaluation,
    laws: &Laws,
    share: f64,
    moved: &[f64],
    out: &mut [f64],
) {
    for i in 0..problem.force_fields().len() {
        each_entry(problem, evaluation, laws, i, |row, column, k| {
            out[row] += share * k * moved[column];
        });
    }
}

/// Visits the entries of the stiffness of a law: their coordinates among those of all nodes.
fn each_entry(
    problem: &Problem,
    evaluation: &Evaluation,
    laws: &Laws,
    force_field: usize,
    mut f: impl FnMut(usize, usize, f64),
) {
    let Some(law) = laws.field(force_field) else { return };
    let mut made = [0.0; Evaluation::MOST_MADE];
    let first = law.node.start;
    for g in 0..law.dx.len() {
        let block = evaluation.stiffness_block(problem, force_field, g, &mut made);
        let width = law.dx.width(g);
        for (i, row) in block.chunks_exact(width.max(1)).enumerate() {
            for (j, k) in row.iter().enumerate() {
                f(first + law.coordinate(g, i), first + law.coordinate(g, j), *k);
            }
        }
    }
}

/// The derivative of the projection.
#[derive(Debug)]
pub(super) struct Projection {
    pub(super) equations: Equations,
    pub(super) linearised: Linearised,
    saddles: [Saddle; 2],
    /// Whether both parts have the same active rows, so that the first factor serves both.
    shares: bool,
    retraction: Retraction,
    kept: KeptMoment,
    pub(super) residuals: Residuals,
    /// `d` and `u`, and multipliers of both parts.
    pub(super) moved: [Vec<f64>; 2],
    pub(super) multipliers: [Vec<f64>; 2],
    rows: Vec<RowOfStep>,
    reach: f64,
    /// `G` of each node under the impulses of the velocities, and the derivative of `-w^2 H J u` by
    /// its laws, of those that are not linear.
    bent: Vec<Option<Blocks>>,
    turned: Vec<Option<TurnedLaw>>,
    /// The derivatives of `C lambda` and of `C nu/w^2` of each row group by its coordinates, where its
    /// law is not linear.
    strained: [Vec<Option<Law>>; 2],
    of_strains: (RowLaws, Strains),
    buffers: LawBuffers,
    /// The adjoint solutions of both parts.
    pub(super) adjoint: [[Vec<f64>; 2]; 2],
    room: [Vec<f64>; 4],
    of_rows: Vec<f64>,
    /// On all nodes: the change `J u`, and weights.
    change: Vec<f64>,
    nodes: [Vec<f64>; 2],
}

/// The derivative of the stiffness of a law times a displacement of its node.
#[derive(Debug)]
struct TurnedLaw {
    law: Law,
    stiffness: LawStiffness,
}

/// The stiffness of a law at any state.
#[derive(Debug)]
struct LawStiffness {
    force_field: usize,
    blocks: Blocks,
    /// Elements of each group.
    lists: Vec<Vec<usize>>,
}

/// What stands against the end of the last stage.
#[derive(Debug, Default)]
pub(super) struct OnStage {
    /// Against positions and velocities (n).
    pub(super) end: StateVector,
    /// Against deformations, or positions of other nodes, against velocities, and against positions
    /// where mappings lead, of all nodes.
    pub(super) nodes: [Vec<f64>; 3],
}

impl Projection {
    pub(super) fn new(problem: &Problem, nodes: &[usize]) -> Result<Self, GradientError> {
        let equations = Equations::new(problem.clone())?;
        let mut linearised = Linearised::new(&equations);
        linearised.moving = nodes.to_vec();
        let shapes = linearised.geometry.iter().enumerate().map(|(index, blocks)| {
            let bends = blocks.is_some();
            bends.then(|| equations.evaluation.geometric_shapes(problem, index))
        });
        let (n, m, all) = (problem.dof_count(), problem.row_count(), problem.velocity_count());
        let turned = problem.force_fields().iter().enumerate().map(|(i, field)| {
            let law = linearised.laws.field(i)?;
            let bends = !field.component.law.is_linear();
            bends.then(|| {
                let node = problem.node(field.node);
                let lists = equations.evaluation.groups(i).to_vec();
                let own = Law::new(node.space.velocity_size(), node.velocity_range(), lists, node.count);
                let widths = (0..law.dx.len()).map(|g| law.dx.width(g));
                let stiffness = LawStiffness {
                    force_field: i,
                    blocks: Blocks::new(widths.map(|w| (w, w))),
                    lists: field.component.law.groups().lists(node.count),
                };
                TurnedLaw { law: own, stiffness }
            })
        });
        let (bent, turned) = (shapes.collect(), turned.collect());
        let strained = problem.row_groups().iter().map(|group| match group.component {
            ComponentId::ForceField(i) if !problem.force_fields()[i].component.law.is_linear() => {
                let node = problem.node(group.node);
                let lists = equations.evaluation.groups(i).to_vec();
                Some(Law::new(group.size, node.velocity_range(), lists, node.count))
            }
            _ => None,
        });
        let strained = [strained.clone().collect(), strained.collect()];
        Ok(Self {
            saddles: [Saddle::new(&equations, &[])?, Saddle::new(&equations, &[])?],
            linearised,
            equations,
            shares: false,
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
            bent,
            turned,
            strained,
            of_strains: Default::default(),
            buffers: LawBuffers::default(),
            adjoint: Default::default(),
            room: std::array::from_fn(|_| vec![0.0; n]),
            of_rows: vec![0.0; m],
            change: vec![0.0; all],
            nodes: [vec![0.0; all], vec![0.0; all]],
        })
    }

    /// Takes the projection of a step, whose displacement and change of velocity are in `moved`:
    /// finds its multipliers, and linearises.
    ///
    /// # Errors
    /// [`GradientError::Model`], [`GradientError::NotBuilt`] where a law has no finite derivative,
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
        self.kept
            .take(of.end, &self.multipliers[0], of.external, fixed);
        self.evaluate(of, last)?;
        self.linearise(last.placed)?;
        let [first, second] = &mut self.saddles;
        let (rows, equations) = (&self.rows, &mut self.equations);
        let w = of.reach;
        let is_active = |row: usize| matches!(rows[row].part, RowPart::Hard | RowPart::Elastic);
        let elastic = |is_active| Matrix::Elastic { w, is_active };
        first.place(equations, &self.linearised, elastic(&is_active), &self.kept)?;
        self.shares = !rows.iter().any(|row| row.part == RowPart::Rate);
        if !self.shares {
            let is_active = |row: usize| rows[row].part != RowPart::Free;
            second.place(equations, &self.linearised, elastic(&is_active), &self.kept)?;
        }
        self.retraction.place(&self.equations.problem, &self.moved[0]);
        // Multipliers are those that balance the displacement and the change of velocity.
        for part in 0..2 {
            self.solve_for_multipliers(part)?;
        }
        self.evaluate(of, last)?;
        self.linearise(last.placed)
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
        let [forces, impulses] = &self.residuals.primal;
        for (k, size) in sizes.iter().enumerate().filter(|(k, _)| !fixed[*k]) {
            let missed = forces[k].abs().max(impulses[k].abs() / self.reach);
            look(Unknown::Dof(k), missed, size.max(BALANCED * largest));
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

    /// Linearises where the residuals were evaluated, behind a stage that ended at `last`.
    fn linearise(&mut self, last: &State) -> Result<(), GradientError> {
        let Self {
            equations,
            linearised,
            kept,
            residuals,
            ..
        } = self;
        equations.total.copy_from_slice(&residuals.totals[0]);
        linearised.place(equations, &kept.get())?;
        let Equations {
            problem,
            evaluation,
            state,
            ..
        } = equations;
        for (index, blocks) in self.bent.iter_mut().enumerate() {
            if let Some(blocks) = blocks {
                evaluation.write_force_derivative(problem, state, index, &residuals.totals[1], blocks);
            }
        }
        scatter(problem, &self.moved[1], &mut self.change);
        evaluation.push_forward(problem, &mut self.change);
        self.buffers.start_from(state);
        let (change, squared) = (&self.change, self.reach * self.reach);
        for TurnedLaw { law, stiffness } in self.turned.iter_mut().flatten() {
            let node = problem.node(problem.force_fields()[stiffness.force_field].node);
            law.make_by_differences(node, state, true, &mut self.buffers, |moved, out| {
                stiffness.write_product(problem, moved, change, out);
                out.iter_mut().for_each(|f| *f *= -squared);
            });
        }
        let (room, strains) = &mut self.of_strains;
        for (part, placed) in [last, &*state].into_iter().enumerate() {
            let share = if part == 0 { 1.0 } else { squared.recip() };
            self.buffers.start_from(placed);
            for (group, law) in problem.row_groups().iter().zip(&mut self.strained[part]) {
                let Some(law) = law else { continue };
                let node = problem.node(group.node);
                let own = &self.multipliers[part][group.first_row..][..group.size * group.count];
                law.make_by_differences(node, placed, true, &mut self.buffers, |moved, out| {
                    let at = RowArguments::of(moved, node, own, self.kept.time);
                    strains.find(problem, room, group, at, out);
                    out.iter_mut().for_each(|s| *s *= share);
                });
            }
        }
        Ok(())
    }

    fn solve_for_multipliers(&mut self, part: usize) -> Result<(), GradientError> {
        self.solve(part, None)?;
        let index = self.factor_of(part);
        self.multipliers[part].copy_from_slice(&self.saddles[index].answer[1]);
        Ok(())
    }

    /// The index of the factor of a part, whose units are those of that part then.
    fn factor_of(&mut self, part: usize) -> usize {
        let index = if self.shares { 0 } else { part };
        let rows = &self.rows;
        let is_active = |row: usize| match rows[row].part {
            RowPart::Free => false,
            RowPart::Rate => part == 1,
            _ => true,
        };
        let unit = if part == 0 { self.reach * self.reach } else { 1.0 };
        self.saddles[index].take_units_of(unit, &is_active);
        index
    }

    /// Solves the equations of a part for the right-hand sides less its residuals, or for those
    /// that are given.
    fn solve(&mut self, part: usize, given: Option<[&[f64]; 2]>) -> Result<SolveReport, GradientError> {
        let index = self.factor_of(part);
        let Self {
            equations,
            linearised,
            saddles,
            retraction,
            residuals,
            rows,
            reach,
            room: [_, _, _, way],
            ..
        } = self;
        let saddle = &mut saddles[index];
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

    /// How the end moves: with the end of the last stage, whose nodes move by `seen` as its laws
    /// see them and by velocities, and with changes of the equations of both parts.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Singular`], [`GradientError::Solve`].
    pub(super) fn tangent(
        &mut self,
        last: &Linearised,
        moved: &StateVector,
        changes: [Option<[&[f64]; 2]>; 2],
        out: &mut StateVector,
    ) -> Result<[SolveReport; 2], GradientError> {
        let (mut dr, mut ds) = (std::mem::take(&mut self.room[0]), std::mem::take(&mut self.of_rows));
        ds.resize(self.rows.len(), 0.0);
        out.x.clone_from(&moved.x);
        self.retraction.of_start(&mut out.x);
        let found = self.tangent_with(last, moved, changes, out, [&mut dr, &mut ds]);
        (self.room[0], self.of_rows) = (dr, ds);
        found
    }

    fn tangent_with(
        &mut self,
        last: &Linearised,
        moved: &StateVector,
        changes: [Option<[&[f64]; 2]>; 2],
        out: &mut StateVector,
        [dr, ds]: [&mut Vec<f64>; 2],
    ) -> Result<[SolveReport; 2], GradientError> {
        let add = |change: Option<[&[f64]; 2]>, [dr, ds]: [&mut [f64]; 2]| {
            if let Some([r, s]) = change {
                dr.iter_mut().zip(r).for_each(|(d, r)| *d += r);
                ds.iter_mut().zip(s).for_each(|(d, s)| *d += s);
            }
        };
        let [seen, velocities] = last.seen();
        {
            let Self {
                equations,
                linearised,
                nodes: [forces, curved],
                rows,
                strained,
                ..
            } = self;
            linearised.push(equations, [&out.x, &moved.v]);
            let [ys, us, ..] = &linearised.nodes;
            let [turned, _] = strained;
            curved.fill(0.0);
            turned
                .iter()
                .flatten()
                .for_each(|law| law.add_product(last.moved(), curved));
            forces.fill(0.0);
            last.laws.add_forces([seen, velocities], forces);
            forces.iter_mut().for_each(|f| *f = -*f);
            linearised.laws.add_forces([ys, us], forces);
            let (problem, evaluation) = (&equations.problem, &equations.evaluation);
            add_geometry(problem, evaluation, &linearised.geometry, ys, forces);
            pull(equations, forces, dr);
            each_row(&equations.problem, rows, |row, v, part| {
                ds[row] = match part {
                    RowPart::Hard => ys[v],
                    RowPart::Elastic => ys[v] - seen[v] + curved[v],
                    _ => 0.0,
                };
            });
        }
        add(changes[0], [&mut *dr, &mut *ds]);
        let first = self.solve(0, Some([&*dr, &*ds]))?;
        let displacement = &mut self.room[1];
        displacement.copy_from_slice(&self.saddles[0].answer[0]);
        self.retraction.of_displacement(displacement);
        out.x.iter_mut().zip(&*displacement).for_each(|(x, d)| *x += d);
        {
            let Self {
                equations,
                linearised,
                nodes: [forces, curved],
                rows,
                change,
                reach,
                turned,
                bent,
                strained: [_, strained],
                ..
            } = self;
            linearised.push(equations, [&out.x, &moved.v]);
            let Linearised {
                laws,
                variation,
                nodes: [ys, us, ..],
                ..
            } = linearised;
            let (problem, evaluation) = (&equations.problem, &equations.evaluation);
            curved.fill(0.0);
            if !variation.is_empty() {
                variation.apply(problem, evaluation, change, ys, curved);
            }
            forces.fill(0.0);
            add_stiffness(problem, evaluation, laws, -*reach * *reach, curved, forces);
            for TurnedLaw { law, .. } in turned.iter().flatten() {
                law.add_product([ys, us], forces);
            }
            add_geometry(problem, evaluation, bent, ys, forces);
            pull(equations, forces, dr);
            forces.fill(0.0);
            for law in strained.iter().flatten() {
                law.add_product([ys, us], forces);
            }
            each_row(&equations.problem, rows, |row, v, part| {
                ds[row] = match part {
                    RowPart::Hard | RowPart::Rate => us[v] + curved[v],
                    RowPart::Elastic => curved[v] + forces[v],
                    RowPart::Free => 0.0,
                };
            });
        }
        add(changes[1], [&mut *dr, &mut *ds]);
        let second = self.solve(1, Some([&*dr, &*ds]))?;
        let index = self.factor_of(1);
        out.v.clone_from(&moved.v);
        let more = &self.saddles[index].answer[0];
        out.v.iter_mut().zip(more).for_each(|(v, d)| *v += d);
        Ok([first, second])
    }

    /// What stands against the end of the last stage, for weights of the end of the step.
    ///
    /// # Errors
    /// As [`tangent`](Self::tangent).
    pub(super) fn adjoint(
        &mut self,
        last: &Linearised,
        from: &StateVector,
        out: &mut OnStage,
    ) -> Result<[SolveReport; 2], GradientError> {
        out.end.copy(from);
        let second = self.solve_transposed(1, &from.v)?;
        self.add_against_velocities(&mut out.end);
        let mut weights = std::mem::take(&mut self.room[0]);
        weights.copy_from_slice(&out.end.x);
        self.retraction.of_displacement_transposed(&mut weights);
        let found = self.solve_transposed(0, &weights);
        self.room[0] = weights;
        let first = found?;
        self.add_against_positions(last, out);
        Ok([first, second])
    }

    /// Subtracts what the equations of the velocities have against positions and the velocities of
    /// the last stage.
    fn add_against_velocities(&mut self, on_end: &mut StateVector) {
        let Self {
            equations,
            linearised,
            nodes: [forces, curved],
            rows,
            change,
            reach,
            turned,
            bent,
            strained: [_, strained],
            adjoint: [_, [p, q]],
            room: [_, y, u, _],
            ..
        } = self;
        let Linearised {
            laws,
            variation,
            nodes: [ys, us, ..],
            ..
        } = linearised;
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        weigh(equations, p, forces);
        for list in [&mut *ys, &mut *us, &mut *curved] {
            list.fill(0.0);
        }
        add_stiffness_transposed(problem, evaluation, laws, -*reach * *reach, forces, curved);
        for TurnedLaw { law, .. } in turned.iter().flatten() {
            law.add_transposed_product(forces, [&mut *ys, &mut *us]);
        }
        add_geometry_transposed(problem, evaluation, bent, forces, ys);
        forces.fill(0.0);
        each_row(problem, rows, |row, v, part| {
            if part != RowPart::Free {
                curved[v] += q[row];
            }
            match part {
                RowPart::Hard | RowPart::Rate => us[v] += q[row],
                RowPart::Elastic => forces[v] += q[row],
                RowPart::Free => {}
            }
        });
        for law in strained.iter().flatten() {
            law.add_transposed_product(forces, [&mut *ys, &mut *us]);
        }
        if !variation.is_empty() {
            variation.apply_transposed(problem, evaluation, change, curved, ys);
        }
        linearised.pull_back_nodes(equations, [y, u]);
        on_end.x.iter_mut().zip(&*y).for_each(|(x, y)| *x -= y);
        on_end.v.iter_mut().zip(&*u).for_each(|(v, u)| *v -= u);
    }

    /// Takes what the equations of the positions have against the end of the last stage.
    fn add_against_positions(&mut self, last: &Linearised, out: &mut OnStage) {
        let Self {
            equations,
            linearised,
            nodes: [forces, _],
            rows,
            retraction,
            strained: [strained, _],
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
        last.laws
            .add_forces_transposed(forces, [&mut *seen, &mut *velocities]);
        ys.fill(0.0);
        us.fill(0.0);
        laws.add_forces_transposed(forces, [&mut *ys, &mut *us]);
        add_geometry_transposed(problem, evaluation, geometry, forces, ys);
        each_row(problem, rows, |row, v, part| {
            if matches!(part, RowPart::Hard | RowPart::Elastic) {
                ys[v] += q[row];
            }
            if part == RowPart::Elastic {
                seen[v] += q[row];
            }
        });
        forces.fill(0.0);
        each_row(problem, rows, |row, v, part| {
            if part == RowPart::Elastic {
                forces[v] -= q[row];
            }
        });
        for law in strained.iter().flatten() {
            law.add_transposed_product(forces, [&mut *moved, &mut *velocities]);
        }
        linearised.pull_back_nodes(equations, [y, u]);
        out.end.x.iter_mut().zip(&*y).for_each(|(x, y)| *x -= y);
        retraction.of_start_transposed(&mut out.end.x);
        out.end.v.iter_mut().zip(&*u).for_each(|(v, u)| *v -= u);
    }

    fn solve_transposed(&mut self, part: usize, weights: &[f64]) -> Result<SolveReport, GradientError> {
        let index = self.factor_of(part);
        let Self {
            equations,
            linearised,
            saddles,
            retraction,
            rows,
            reach,
            residuals,
            adjoint,
            room: [_, y, u, _],
            nodes: [forces, _],
            ..
        } = self;
        let saddle = &mut saddles[index];
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
            of.apply_transposed(equations, linearised, [p, q], forces, [&mut *y, &mut *u, dl]);
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
}

/// The equations of one part of the projection, for products.
#[derive(Clone, Copy)]
struct PartOf<'a> {
    part: usize,
    reach: f64,
    rows: &'a [RowOfStep],
    compliance: &'a RowLaws,
}

impl PartOf<'_> {
    /// What the equations multiply inertia with.
    fn inertia(&self) -> f64 {
        match self.part {
            0 => (self.reach * self.reach).recip(),
            _ => 1.0,
        }
    }

    /// Writes the changes of the equations for the displacement `way` (first part) or change of
    /// velocity `x` of the independent coordinates, and multipliers.
    fn apply(
        &self,
        equations: &Equations,
        linearised: &mut Linearised,
        [way, x]: [&[f64]; 2],
        multipliers: &[f64],
        [dr, ds]: [&mut [f64]; 2],
    ) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        linearised.inertia(equations, x, dr);
        let share = self.inertia();
        let squared = self.reach * self.reach;
        if self.part == 0 {
            linearised.push_displacement(equations, way);
        } else {
            let [_, us, ..] = &mut linearised.nodes;
            scatter(problem, x, us);
            evaluation.push_forward(problem, us);
        }
        let Linearised {
            laws,
            geometry,
            nodes: [ys, us, forces, inertia],
            ..
        } = &mut *linearised;
        forces.fill(0.0);
        match self.part {
            0 => {
                laws.add_forces([ys, us], forces);
                add_geometry(problem, evaluation, geometry, ys, forces);
            }
            _ => add_stiffness(problem, evaluation, laws, -squared, us, forces),
        }
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                forces[first + k] += multipliers[group.first_row + k];
            }
        }
        evaluation.pull_back(problem, forces);
        gather(problem, forces, &mut inertia[..dr.len()]);
        for (r, f) in dr.iter_mut().zip(&inertia[..]) {
            *r = share * *r - f;
        }
        ds.fill(0.0);
        self.add_strains(equations, laws, multipliers, ds);
        let moved = if self.part == 0 { ys } else { us };
        each_row(problem, self.rows, |row, v, part| match self.holds(part) {
            true => ds[row] += moved[v],
            false => ds[row] = multipliers[row],
        });
    }

    /// Writes the transposed products: with `p` and `q` of the equations against displacements and
    /// velocities of the independent coordinates, and against multipliers; without inertia.
    fn apply_transposed(
        &self,
        equations: &Equations,
        linearised: &mut Linearised,
        [p, q]: [&[f64]; 2],
        forces: &mut [f64],
        [y, u, multipliers]: [&mut [f64]; 3],
    ) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let squared = self.reach * self.reach;
        weigh(equations, p, forces);
        let Linearised {
            laws,
            geometry,
            nodes: [ys, us, ..],
            ..
        } = &mut *linearised;
        ys.fill(0.0);
        us.fill(0.0);
        match self.part {
            0 => {
                laws.add_forces_transposed(forces, [&mut *ys, &mut *us]);
                add_geometry_transposed(problem, evaluation, geometry, forces, ys);
            }
            _ => add_stiffness_transposed(problem, evaluation, laws, -squared, forces, us),
        }
        multipliers.fill(0.0);
        self.add_strains(equations, laws, q, multipliers);
        let moved = if self.part == 0 { ys } else { us };
        each_row(problem, self.rows, |row, v, part| {
            match self.holds(part) {
                true => moved[v] += q[row],
                false => multipliers[row] = q[row],
            }
            multipliers[row] += forces[v];
        });
        match self.part {
            0 => linearised.pull_back_nodes(equations, [y, u]),
            _ => {
                let [_, us, ..] = &mut linearised.nodes;
                evaluation.pull_back(problem, us);
                gather(problem, us, u);
            }
        }
    }

    /// Whether a row holds something in this part.
    fn holds(&self, part: RowPart) -> bool {
        match part {
            RowPart::Free => false,
            RowPart::Rate => self.part == 1,
            _ => true,
        }
    }

    /// Adds the strains of soft rows under multipliers (m).
    fn add_strains(&self, equations: &Equations, laws: &Laws, multipliers: &[f64], out: &mut [f64]) {
        let problem = &equations.problem;
        let share = if self.part == 0 { 1.0 } else { self.inertia_of_velocities() };
        for (index, group) in problem.row_groups().iter().enumerate() {
            let range = group.first_row..group.first_row + group.size * group.count;
            if self.rows[range.clone()].iter().all(|row| row.part != RowPart::Elastic) {
                continue;
            }
            laws.add_strain(self.compliance, problem, index, &multipliers[range.clone()], &mut out[range.clone()]);
            out[range].iter_mut().for_each(|s| *s *= share);
        }
    }

    fn inertia_of_velocities(&self) -> f64 {
        (self.reach * self.reach).recip()
    }
}

/// Writes weights of the forces on all nodes that weights of the equations of the coordinates (n)
/// give: these are residuals, of which forces are taken away.
fn weigh(equations: &Equations, p: &[f64], out: &mut [f64]) {
    scatter(&equations.problem, p, out);
    equations.evaluation.push_forward(&equations.problem, out);
    out.iter_mut().for_each(|f| *f = -*f);
}

/// Carries forces on all nodes to the residuals of the coordinates (n).
fn pull(equations: &Equations, forces: &mut [f64], out: &mut [f64]) {
    equations.evaluation.pull_back(&equations.problem, forces);
    gather(&equations.problem, forces, out);
    out.iter_mut().for_each(|r| *r = -*r);
}

/// Visits all rows: each with its velocity coordinate among those of all nodes, and its part.
fn each_row(problem: &Problem, rows: &[RowOfStep], mut f: impl FnMut(usize, usize, RowPart)) {
    for group in problem.row_groups() {
        let first = problem.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            f(group.first_row + k, first + k, rows[group.first_row + k].part);
        }
    }
}

/// Adds the transposed products of [`add_stiffness`].
fn add_stiffness_transposed(
    problem: &Problem,
    evaluation: &Evaluation,
    laws: &Laws,
    share: f64,
    forces: &[f64],
    out: &mut [f64],
) {
    for i in 0..problem.force_fields().len() {
        each_entry(problem, evaluation, laws, i, |row, column, k| {
            out[column] += share * k * forces[row];
        });
    }
}

impl LawStiffness {
    /// Writes, on its node, the product of the stiffness at a state with displacements of all nodes; no
    /// number where the law has none.
    fn write_product(&mut self, problem: &Problem, state: &State, moved: &[f64], out: &mut [f64]) {
        let field = &problem.force_fields()[self.force_field];
        let node = problem.node(field.node);
        let at = At {
            space: node.space,
            x: &state.positions[node.position_range()],
            v: &state.velocities[node.velocity_range()],
            inputs: problem.inputs(self.force_field),
        };
        self.blocks.clear();
        out.fill(0.0);
        if field.component.law.stiffness(at, &mut self.blocks).is_err() {
            out.fill(f64::NAN);
            return;
        }
        let size = node.space.velocity_size();
        let moved = &moved[node.velocity_range()];
        for (g, list) in self.lists.iter().enumerate() {
            let width = list.len() * size;
            let place = |k: usize| list[k / size] * size + k % size;
            for (i, row) in self.blocks.block(g).chunks_exact(width.max(1)).enumerate() {
                let terms = row.iter().enumerate();
                out[place(i)] += terms.map(|(j, k)| k * moved[place(j)]).sum::<f64>();
            }
        }
    }
}
