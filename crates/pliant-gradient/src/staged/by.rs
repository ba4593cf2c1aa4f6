//! Gradients of a step of stages by forces, inputs and parameters, after its adjoint.

use super::contacts::{ByParameter, FirstEnd};
use super::residuals::{LastStage, Projected, Residuals};
use super::{GAIN, StagedStep, legs};
use crate::deformed::{DeformationPath, PathEnd};
use crate::equations::{Deformations, Equations, Moment};
use crate::family::Sample;
use crate::implicit::{Implicit, OfElements, Shares, check_together};
use crate::{Family, GradientError};
use pliant_model::{ComponentId, NodeId, State};

/// Share of the size of an input by which it is moved in the projection: differences of what is of
/// third order in the step.
const SHARE: f64 = 1e-4;

/// Room for these gradients.
#[derive(Debug, Default)]
pub(super) struct Room {
    path: PathEnd,
    forces: Vec<f64>,
    placed: State,
    residuals: Residuals,
    changes: [Vec<f64>; 2],
    /// Changes of the forces on all nodes where they act, of both stages and both parts of the
    /// projection.
    acting: [Vec<f64>; 4],
    by_part: Vec<f64>,
    /// The equations for other values of inputs.
    spare: Option<Equations>,
}

impl StagedStep {
    /// The gradient by forces from outside on all nodes: those of both stages, since the projection
    /// knows differences of forces alone.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub(crate) fn by_force(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        let [one, two] = &self.stages;
        one.implicit.by_force(out)?;
        two.implicit.by_force(&mut self.by.by_part)?;
        out.iter_mut().zip(&self.by.by_part).for_each(|(o, f)| *o += f);
        Ok(())
    }

    /// The gradient by the inputs of all force fields.
    ///
    /// # Errors
    /// [`GradientError::NotReady`], [`GradientError::Model`].
    pub(crate) fn by_input(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        let [one, two] = &mut self.stages;
        one.implicit.by_input(out)?;
        two.implicit.by_input(&mut self.by.by_part)?;
        out.iter_mut().zip(&self.by.by_part).for_each(|(o, f)| *o += f);
        if !self.projects {
            return Ok(());
        }
        let mut room = std::mem::take(&mut self.by);
        let found = self.add_by_inputs_of_projection(&mut room, out);
        self.by = room;
        found
    }

    /// Adds what the inputs do through the projection: by differences of its residuals.
    fn add_by_inputs_of_projection(&self, room: &mut Room, out: &mut [f64]) -> Result<(), GradientError> {
        let problem = &self.start.problem;
        let mut spare = match room.spare.take() {
            Some(spare) => spare,
            None => Equations::new(problem.clone())?,
        };
        if !spare.take_parameters(problem) {
            spare = Equations::new(problem.clone())?;
        }
        let mut all = out.iter_mut();
        for i in 0..problem.force_fields().len() {
            let id = ComponentId::ForceField(i);
            for (input, (present, out)) in problem.inputs(i).iter().zip(&mut all).enumerate() {
                let step = SHARE * present.abs().max(1e-2);
                // At the end of the range of a law, from the side that there is.
                let (mut ends, mut span) = ([0.0; 2], 0.0);
                for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                    let moves = spare.problem.set_input(id, input, present + sign * step).is_ok();
                    span += if moves { step } else { 0.0 };
                    self.stage_residuals(&mut spare, room, 1)?;
                    self.projection_residuals(&mut spare, room)?;
                    *end = self.work_of_projection(&room.residuals);
                    spare.problem.set_input(id, input, *present)?;
                }
                *out -= if span > 0.0 {
                    (ends[0] - ends[1]) / span
                } else {
                    0.0
                };
            }
        }
        room.spare = Some(spare);
        Ok(())
    }

    /// The gradient by one parameter of a family of models, whose state at the start is held.
    ///
    /// # Errors
    /// [`GradientError::NotReady`], those of [`Family`], [`GradientError::Model`].
    pub(crate) fn by_parameter(
        &mut self,
        family: &mut Family,
        parameter: usize,
    ) -> Result<f64, GradientError> {
        self.stages[0].implicit.check_adjoint()?;
        let [mut dr, mut ds] = std::mem::take(&mut self.by.changes);
        let changed = self.equations_by(family, parameter, [&mut dr, &mut ds]);
        let whole = changed.map(|()| self.work([&dr, &ds]));
        self.by.changes = [dr, ds];
        whole
    }

    /// The gradient by the number that each element of a node has of its own, which one parameter moves
    /// together; returns that by the parameter.
    ///
    /// # Errors
    /// [`GradientError::NotOfElements`], and every error of [`by_parameter`](Self::by_parameter).
    pub(crate) fn by_element(
        &mut self,
        family: &mut Family,
        parameter: usize,
        node: NodeId,
        out: &mut Vec<f64>,
    ) -> Result<f64, GradientError> {
        self.stages[0].implicit.check_adjoint()?;
        let [mut dr, mut ds] = std::mem::take(&mut self.by.changes);
        let changed = self.equations_by(family, parameter, [&mut dr, &mut ds]);
        let found = changed.and_then(|()| {
            let whole = self.work([&dr, &ds]);
            let mut on_nodes = std::mem::take(&mut self.by.by_part);
            let problem = &self.start.problem;
            out.clear();
            out.resize(problem.node(node).count, 0.0);
            let (m, ends) = (self.rows.len(), self.row_ends());
            for (k, (equations, [p, q])) in self.systems().enumerate() {
                equations.weigh_forces(p, &mut on_nodes);
                let shares = Shares {
                    on_nodes: &on_nodes,
                    forces: &self.by.acting[k],
                    weights: q,
                    rows: &ds[ends[k]..ends[k + 1]],
                };
                shares.add(problem, node, out);
            }
            let of = OfElements {
                parameter,
                node,
                whole,
                forces: &self.by.acting[1],
                rows: &ds[ends[1]..ends[1] + m],
                elsewhere: &[],
            };
            let together = check_together(problem, of, out);
            self.by.by_part = on_nodes;
            together.map(|()| whole)
        });
        self.by.changes = [dr, ds];
        found
    }

    /// The equations of both stages and of both parts of the projection, if there is one, with their
    /// adjoint solutions.
    fn systems(&self) -> impl Iterator<Item = (&Equations, &[Vec<f64>; 2])> {
        let stages = self.stages.iter().map(|stage| &stage.implicit);
        let parts = self.projection.adjoint.iter().filter(|_| self.projects);
        stages
            .map(|implicit| (&implicit.equations, &implicit.adjoint))
            .chain(parts.map(|adjoint| (&self.projection.equations, adjoint)))
    }

    /// The derivative that changes of all equations make: less the adjoint solutions times these.
    fn work(&self, [dr, ds]: [&[f64]; 2]) -> f64 {
        let (n, ends) = (self.room.len(), self.row_ends());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let each = self
            .systems()
            .enumerate()
            .map(|(k, (_, [p, q]))| dot(p, &dr[k * n..(k + 1) * n]) + dot(q, &ds[ends[k]..ends[k + 1]]));
        -each.sum::<f64>()
    }

    /// The change of the residuals with one parameter: of both stages and of both parts of the
    /// projection, one after the other.
    ///
    /// # Errors
    /// [`GradientError::Model`], and every error of [`Family`].
    pub(crate) fn equations_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        [dr, ds]: [&mut Vec<f64>; 2],
    ) -> Result<(), GradientError> {
        let (n, m) = (self.room.len(), self.rows.len());
        let ends = self.row_ends();
        for (list, size) in [(&mut *dr, 4 * n), (&mut *ds, ends[4])] {
            list.clear();
            list.resize(size, 0.0);
        }
        let mut room = std::mem::take(&mut self.by);
        let mut acting = std::mem::take(&mut room.acting);
        for list in &mut acting {
            list.clear();
            list.resize(self.forwards.begin.len(), 0.0);
        }
        let base = self.stages[0].implicit.problem();
        let found = family.each_member(base, parameter, |member, Sample { weight, .. }| {
            let mut take = |k: usize, primal: &[f64], rows: &[f64], forces: &[f64]| {
                let [of_dofs, of_rows] = [&mut dr[k * n..], &mut ds[ends[k]..]];
                let lists = [(of_dofs, primal), (of_rows, rows), (&mut acting[k], forces)];
                for (sum, list) in lists {
                    sum.iter_mut().zip(list).for_each(|(s, d)| *s += weight * d);
                }
            };
            self.stage_residuals(member, &mut room, 0)?;
            take(0, &member.primal, &member.rows, &member.acting);
            self.stage_residuals(member, &mut room, 1)?;
            take(1, &member.primal, &member.rows, &member.acting);
            if self.projects {
                self.projection_residuals(member, &mut room)?;
                let Residuals {
                    primal, rows, acting, ..
                } = &room.residuals;
                for k in 0..2 {
                    take(2 + k, &primal[k], &rows[k], &acting[k]);
                }
            }
            Ok(())
        });
        room.acting = acting;
        self.by = room;
        found?;
        for (k, stage) in self.stages.iter().enumerate() {
            let bounds = &stage.implicit.linearised.laws.at_bound;
            family.bounds_derivative(
                stage.implicit.problem(),
                parameter,
                bounds,
                &self.step.multipliers[k],
                &mut ds[ends[k]..ends[k] + m],
            )?;
        }
        let [one, two] = &mut self.stages;
        let expected = std::mem::take(&mut one.side.expected);
        let found = [(0, one), (1, two)].into_iter().try_for_each(|(k, stage)| {
            if !stage.side.any {
                return Ok(());
            }
            let first = FirstEnd {
                expected: &expected,
                end: &self.step.ends[0],
                ahead: (1.0 - GAIN) * self.step.h,
            };
            let step = ByParameter {
                family: &mut *family,
                parameter,
                start: &self.start.state,
                end: &self.step.ends[k],
                h: self.step.h,
                first,
                own: (k == 0).then_some(&expected),
            };
            let out = [&mut dr[k * n..(k + 1) * n], &mut ds[ends[k]..ends[k + 1]]];
            let Implicit {
                equations,
                linearised,
                ..
            } = &mut stage.implicit;
            stage.side.add_by_parameter(equations, linearised, step, out)
        });
        self.stages[0].side.expected = expected;
        found
    }

    /// Evaluates the equations of a stage with the mappings and laws of another model.
    fn stage_residuals(
        &self,
        member: &mut Equations,
        room: &mut Room,
        stage: usize,
    ) -> Result<(), GradientError> {
        let path = DeformationPath {
            nodes: &self.nodes,
            rows: &self.rows,
            start: &self.start.state,
            time: self.step.time,
            gain: GAIN,
        };
        let (to_first, to_second) = legs(&self.step.ends, self.step.h, self.step.time);
        match stage {
            0 => room.path.walk(member, path, &to_first)?,
            _ => room.path.walk(member, path, &to_second)?,
        }
        let deformations = Deformations {
            nodes: &self.nodes,
            positions: &room.path.positions,
            ahead: &room.path.ahead,
        };
        member.evaluate(&Moment {
            deformations: Some(deformations),
            ..self.stages[stage].implicit.kept.get()
        })
    }

    /// Evaluates the equations of the projection, behind those of the second stage.
    fn projection_residuals(&self, member: &mut Equations, room: &mut Room) -> Result<(), GradientError> {
        room.forces.clear();
        room.forces.extend_from_slice(member.evaluation.force());
        room.placed.clone_from(member.placed());
        let projection = &self.projection;
        let of = Projected {
            reach: GAIN * self.step.h,
            time: self.step.time + self.step.h,
            end: &self.step.projected,
            rows: &self.rows,
            external: &self.stages[1].implicit.kept.external,
            moved: [&projection.moved[0], &projection.moved[1]],
            multipliers: [&projection.multipliers[0], &projection.multipliers[1]],
        };
        let last = LastStage {
            forces: &room.forces,
            deformations: &room.path.positions,
            placed: &room.placed,
        };
        room.residuals
            .evaluate(member, of, last, &projection.linearised.laws)
    }

    /// The adjoint solution of the projection times its residuals.
    fn work_of_projection(&self, residuals: &Residuals) -> f64 {
        let mut sum = 0.0;
        for (k, [p, q]) in self.projection.adjoint.iter().enumerate() {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            sum += dot(p, &residuals.primal[k]) + dot(q, &residuals.rows[k]);
        }
        sum
    }
}
