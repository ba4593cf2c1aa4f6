//! The residuals of the projection that ends a step of stages.

use crate::GradientError;
use crate::deformed::{RowOfStep, RowPart};
use crate::equations::Equations;
use crate::kinematics::{gather, scatter};
use crate::laws::Laws;
use crate::row_law::{RowArguments, RowLaws};
use crate::staged::stiffness::add_stiffness;
use pliant_model::{ComponentId, Problem, RowGroup, State};

/// The step whose projection it is.
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
    /// Forces on all nodes, where they act.
    pub(super) acting: [Vec<f64>; 2],
    /// Forces on all nodes, carried up.
    pub(super) totals: [Vec<f64>; 2],
    room: Vec<f64>,
    /// The compliances of both parts.
    pub(super) laws: [RowLaws; 2],
    strains: Strains,
}

/// Room for the strains of the rows of one group.
#[derive(Debug, Default)]
pub(super) struct Strains {
    none: Vec<f64>,
    without: Vec<f64>,
}

impl Strains {
    /// Writes what soft rows are strained by under multipliers: `C` times these is what the residual
    /// of their law has by them.
    pub(super) fn find(
        &mut self,
        problem: &Problem,
        law: &mut RowLaws,
        group: &RowGroup,
        at: RowArguments<'_>,
        out: &mut [f64],
    ) {
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
            mapped,
            ..
        } = equations;
        mapped.counts = false;
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
        let lists = self.totals.iter_mut().zip(&mut self.acting);
        for ((list, acting), multipliers) in lists.zip(of.multipliers) {
            for group in problem.row_groups() {
                let first = problem.node(group.node).first_velocity;
                for k in 0..group.size * group.count {
                    list[first + k] += multipliers[group.first_row + k];
                }
            }
            acting.clone_from(list);
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

    /// A force field whose compliance differs by more than a share between the two states that it was
    /// evaluated at, if there is one.
    pub(super) fn changing_compliance(&self, problem: &Problem, share: f64) -> Option<usize> {
        let [first, second] = &self.laws;
        (0..problem.force_fields().len()).find(|i| {
            let (Some(a), Some(b)) = (first.compliance(*i), second.compliance(*i)) else {
                return false;
            };
            let entries = (0..a.len()).flat_map(|g| a.block(g).iter().zip(b.block(g)));
            entries.into_iter().any(|(a, b)| (a - b).abs() > share * a.abs())
        })
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
                self.strains.find(problem, &mut self.laws[part], group, at, out);
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
