//! Forces of force fields and their stiffness, damping and compliance blocks.

use super::Evaluation;
use super::gather::certainly;
use crate::blocks::PIECE;
use crate::{At, Blocks, ComponentId, ModelError, NotInvertible, Past, Problem, RowLaw, State, Treatment};
use std::ops::Range;

/// Writes stiffness blocks that never change, of consecutive elements of a law that
/// [keeps them](crate::ForceFieldPieces::keeps_stiffness), into blocks that were cleared.
pub(super) fn write_constant_stiffness(
    model: &Problem,
    i: usize,
    elements: Range<usize>,
    out: &mut [f64],
) -> Result<(), NotInvertible> {
    let attachment = &model.force_fields()[i];
    let at = At {
        space: model.node(attachment.node).space,
        x: &[],
        v: &[],
        inputs: model.inputs(i),
    };
    let pieces = attachment.component.law.pieces();
    pieces.map_or(Ok(()), |pieces| pieces.stiffness(at, elements, out))
}

/// Finds out whether stiffness blocks that never change, of the shapes of these, are finite.
fn check_constant_stiffness(problem: &Problem, i: usize, shapes: &Blocks) -> Result<(), NotInvertible> {
    let mut room = vec![
        0.0;
        (0..shapes.len())
            .map(|e| shapes.block(e).len())
            .max()
            .unwrap_or(0)
    ];
    for e in 0..shapes.len() {
        let block = &mut room[..shapes.block(e).len()];
        block.fill(0.0);
        write_constant_stiffness(problem, i, e..e + 1, block)?;
    }
    Ok(())
}

impl Evaluation {
    pub(super) fn evaluate_field(
        &mut self,
        problem: &Problem,
        state: &State,
        i: usize,
    ) -> Result<(), ModelError> {
        let attachment = &problem.force_fields()[i];
        let node = problem.node(attachment.node);
        let range = node.velocity_range();
        let at = problem.at(i, state);
        let law = &attachment.component.law;
        let lost = |e: NotInvertible| ModelError::NotInvertible {
            name: attachment.name.clone(),
            element: e.element,
        };
        let rate = problem.rayleigh().stiffness;
        let field = &mut self.fields[i];
        if problem.is_released(ComponentId::ForceField(i)) {
            field.forget();
            return Ok(());
        }
        field.refill_damping(law.as_ref(), at, rate);
        field.made = None;
        match problem.treatment(i) {
            Treatment::Compliance => {
                field.deformation.resize(range.len(), 0.0);
                field.compliance.clear();
                law.compliance(at, &mut field.compliance);
                law.deformation(at, &mut field.deformation);
                field.row_damping.clear();
                field.damped = law.row_damping(at, &mut field.row_damping);
                if rate > 0.0 && law.row_law() == RowLaw::Elastic {
                    // For the account of dissipation; a hard element has none, and leaves its block
                    // empty.
                    field.stiffness.clear();
                    field.kept = false;
                    let _ = law.stiffness(at, &mut field.stiffness);
                    field.damping.add(rate, &field.stiffness);
                }
            }
            _ => {
                let force = &mut self.force[range];
                if let Some(pieces) = law.pieces() {
                    let (size, elements) = (node.space.velocity_size(), (0..node.count, PIECE));
                    let width = node.space.position_size();
                    certainly(self.threads.for_each_piece(
                        elements,
                        |e| e * size,
                        &mut *force,
                        |e, f| {
                            let part = At {
                                x: &at.x[e.start * width..e.end * width],
                                v: &at.v[e.start * size..e.end * size],
                                ..at
                            };
                            pieces.add_force(part, e, f);
                            Ok(())
                        },
                    ));
                    if pieces.keeps_stiffness() && rate == 0.0 && size * size <= Self::MOST_MADE {
                        if !field.kept {
                            check_constant_stiffness(problem, i, &field.stiffness).map_err(lost)?;
                            field.stiffness.forget();
                            field.kept = true;
                        }
                        field.made = Some(1.0);
                    } else if !field.kept || !field.stiffness.is_laid_out() {
                        let write = |e: Range<usize>, out: &mut [f64]| {
                            let part = At {
                                x: &at.x[e.start * width..e.end * width],
                                v: &at.v[e.start * size..e.end * size],
                                ..at
                            };
                            pieces.stiffness(part, e, out)
                        };
                        field.stiffness.write_pieces(&self.threads, write).map_err(lost)?;
                        field.kept = pieces.keeps_stiffness();
                    }
                } else if let Some(memory) = law.memory() {
                    field.stiffness.clear();
                    let past = Past {
                        internal: &state.internal[attachment.component.internal.clone()],
                        elapsed: self.elapsed,
                    };
                    memory.add_force(at, past, force);
                    memory.stiffness(at, past, &mut field.stiffness);
                } else {
                    field.stiffness.clear();
                    law.add_force(at, force);
                    law.stiffness(at, &mut field.stiffness).map_err(lost)?;
                }
                if rate > 0.0 {
                    let size = node.space.velocity_size();
                    if law.add_shape_damping(at, rate, &mut field.damping) {
                        field.subtract_product(&field.damping, size, 1.0, at.v, force);
                    } else {
                        field.damping.add(rate, &field.stiffness);
                        field.subtract_product(&field.stiffness, size, rate, at.v, force);
                    }
                }
            }
        }
        Ok(())
    }

    /// Elements of force fields whose stiffness at a state is a semidefinite one in place of an
    /// indefinite derivative
    /// ([`ForceField::projected_elements`](crate::ForceField::projected_elements)), after the time
    /// that was evaluated last. Allocates nothing.
    pub fn projected_elements(&self, problem: &Problem, state: &State) -> usize {
        let of = |i: usize| {
            let attachment = &problem.force_fields()[i];
            let law = &attachment.component.law;
            let at = problem.at(i, state);
            law.memory().map_or_else(
                || law.projected_elements(at),
                |memory| {
                    let past = Past {
                        internal: &state.internal[attachment.component.internal.clone()],
                        elapsed: self.elapsed,
                    };
                    memory.projected_elements(at, past)
                },
            )
        };
        let is_shared = |i: usize| {
            problem
                .element_share(problem.force_fields()[i].node.index())
                .is_some()
        };
        let of_all = |shared: bool| {
            let stiff = |i: &usize| problem.treatment(*i) == Treatment::Stiffness && is_shared(*i) == shared;
            (0..problem.force_fields().len())
                .filter(stiff)
                .map(of)
                .sum::<usize>()
        };
        match problem.processes() {
            // Counts are exact as numbers.
            Some(_) => of_all(false) + problem.sum_over_processes(of_all(true) as f64) as usize,
            None => of_all(false),
        }
    }

    /// Makes force field `i`, treated as a stiffness, so many times as strong: its force in
    /// [`force`](Self::force) and its stiffness blocks. Call [`evaluate`](Self::evaluate) first.
    /// Allocates nothing.
    pub fn scale_field(&mut self, problem: &Problem, state: &State, i: usize, factor: f64) {
        let attachment = &problem.force_fields()[i];
        let node = problem.node(attachment.node);
        let range = node.velocity_range();
        let force = self.buffers.shifted(range.len());
        force.fill(0.0);
        problem.add_field_force(state, i, self.elapsed, force);
        for (f, own) in self.force[range].iter_mut().zip(force) {
            *f += (factor - 1.0) * *own;
        }
        let field = &mut self.fields[i];
        match &mut field.made {
            Some(made) => *made *= factor,
            None => {
                field.stiffness.scale(factor);
                field.kept = false;
            }
        }
    }

    /// Makes the force of each force field with a memory, as evaluated after some time, the mean of
    /// that and the one without time elapsed, which has the weight `present(i)`; tangents stay as
    /// they are. Call [`evaluate_after`](Self::evaluate_after) first. Allocates nothing.
    pub fn add_present_share(&mut self, problem: &Problem, state: &State, present: impl Fn(usize) -> f64) {
        if problem.internal_count() == 0 {
            return;
        }
        for (i, attachment) in problem.force_fields().iter().enumerate() {
            let share = present(i);
            let released = problem.is_released(ComponentId::ForceField(i));
            if attachment.component.law.memory().is_none() || share == 0.0 || released {
                continue;
            }
            let range = problem.node(attachment.node).velocity_range();
            let (now, then) = self.buffers.shifted(2 * range.len()).split_at_mut(range.len());
            now.fill(0.0);
            then.fill(0.0);
            problem.add_field_force(state, i, 0.0, now);
            problem.add_field_force(state, i, self.elapsed, then);
            for ((f, now), then) in self.force[range].iter_mut().zip(now).zip(then) {
                *f += share * (*now - *then);
            }
        }
    }

    /// Evaluates compliance `i` anew where its coordinates are driven: a nonlinear law sees
    /// positions `x - target` and velocities `v - rate`. Its deformation is that of the law plus
    /// the target, as if the law were linear. Call [`evaluate`](Self::evaluate) first. Allocates
    /// nothing.
    ///
    /// # Panics
    /// If `driven` gives fewer coordinates (target and rate) than the node has.
    pub fn shift_compliance(
        &mut self,
        problem: &Problem,
        state: &State,
        i: usize,
        driven: impl Iterator<Item = (f64, f64)> + Clone,
    ) {
        let attachment = &problem.force_fields()[i];
        let (node, law) = (problem.node(attachment.node), &attachment.component.law);
        let range = node.velocity_range();
        assert!(driven.clone().count() >= range.len());
        let (x, v) = self.buffers.shifted(2 * range.len()).split_at_mut(range.len());
        let present = state.positions[node.position_range()]
            .iter()
            .zip(&state.velocities[range.clone()]);
        let scratch = x.iter_mut().zip(&mut *v);
        for (((x_to, v_to), (x, v)), (target, rate)) in scratch.zip(present).zip(driven.clone()) {
            (*x_to, *v_to) = (x - target, v - rate);
        }
        let at = At {
            x,
            v,
            ..problem.at(i, state)
        };
        let field = &mut self.fields[i];
        field.compliance.clear();
        law.compliance(at, &mut field.compliance);
        field.row_damping.clear();
        field.damped = law.row_damping(at, &mut field.row_damping);
        let rate = problem.rayleigh().stiffness;
        field.refill_damping(law.as_ref(), at, rate);
        if rate > 0.0 && law.row_law() == RowLaw::Elastic {
            field.stiffness.clear();
            field.kept = false;
            let _ = law.stiffness(at, &mut field.stiffness);
            field.damping.add(rate, &field.stiffness);
        }
        let deformation = &mut field.deformation;
        law.deformation(at, deformation);
        for (phi, target) in deformation.iter_mut().zip(driven) {
            *phi += target.0;
        }
    }

    /// Adds the damping in proportion to the stiffness, `-b K v`, of compliance `i` to the force on
    /// its node, at positions `x` and velocities `v` of the node. Allocates nothing.
    pub fn add_proportional_damping(
        &mut self,
        problem: &Problem,
        i: usize,
        x: &[f64],
        v: &[f64],
        force: &mut [f64],
    ) {
        let attachment = &problem.force_fields()[i];
        let (rate, law) = (problem.rayleigh().stiffness, &attachment.component.law);
        if rate > 0.0 && law.row_law() == RowLaw::Elastic {
            let space = problem.node(attachment.node).space;
            let field = &mut self.fields[i];
            field.stiffness.clear();
            field.kept = false;
            // Hard elements have no stiffness, and leave their blocks empty.
            let at = At {
                space,
                x,
                v,
                inputs: problem.inputs(i),
            };
            let _ = law.stiffness(at, &mut field.stiffness);
            field.subtract_product(&field.stiffness, space.velocity_size(), rate, v, force);
        }
    }
}
