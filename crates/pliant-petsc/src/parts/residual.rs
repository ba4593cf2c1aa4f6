//! Residuals of the equations of all parts.

use super::{SpreadModel, together};
use crate::Error;
use crate::ffi::Reduction;
use pliant_model::{ComponentId, Evaluation, Level, Problem, RowGroup, Space, State, Treatment};

/// Equations of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Equations {
    /// Forces and rows without velocities.
    Rest,
    /// `M (v+ - v)/h = f + J^T lambda` and rows at the end of a step of this length (s), from the
    /// velocities of the scratch.
    Motion { h: f64 },
}

impl SpreadModel {
    /// The forces that are missing at rest and the deficits of the rows, into the scratch; their
    /// norm over that of their terms, and the largest deficit over the largest coordinate.
    pub(super) fn find_rest_residual(&mut self) -> Result<(f64, f64), Error> {
        let evaluated = self
            .evaluation
            .evaluate_after(&self.problem, &self.state, f64::INFINITY);
        together(&self.library, evaluated.map_err(Error::Model))?;
        let force = self.find_force_residual(Equations::Rest)?;
        let largest = |list: &[f64]| list.iter().fold(0.0f64, |a, x| larger(a, x.abs()));
        let own = [largest(&self.scratch.deficit), largest(&self.state.positions)];
        let mut worst = [0.0; 2];
        self.library.reduce(Reduction::Largest, &own, &mut worst)?;
        let rows = if worst[0] == 0.0 { 0.0 } else { worst[0] / worst[1] };
        Ok((force, rows))
    }

    /// The forces that are missing, and the deficits of the rows, into the scratch, where the state
    /// is evaluated. Returns the norm of the forces of all parts over that of their terms.
    /// Collective.
    pub(super) fn find_force_residual(&mut self, equations: Equations) -> Result<f64, Error> {
        let Self {
            problem,
            evaluation,
            state,
            multipliers,
            scratch,
            assembler,
            ..
        } = self;
        scratch.node.copy_from_slice(evaluation.force());
        scratch.terms.fill(0.0);
        for mass in problem.masses() {
            let range = problem.node(mass.node).velocity_range();
            for at in range {
                scratch.terms[at] += scratch.node[at].abs();
            }
        }
        let elapsed = match equations {
            Equations::Rest => f64::INFINITY,
            Equations::Motion { h } => h,
        };
        for (i, field) in problem.force_fields().iter().enumerate() {
            if problem.treatment(i) == Treatment::Compliance {
                continue;
            }
            let range = problem.node(field.node).velocity_range();
            let own = &mut scratch.field[..range.len()];
            own.fill(0.0);
            problem.add_field_force(state, i, elapsed, own);
            for (t, f) in scratch.terms[range].iter_mut().zip(own) {
                *t += f.abs();
            }
        }
        if let Equations::Motion { h } = equations {
            for node in problem.nodes() {
                let Some(first) = node.first_dof() else { continue };
                for (k, at) in node.velocity_range().enumerate() {
                    scratch.acceleration[at] = (state.velocities[at] - scratch.velocity[first + k]) / h;
                }
            }
            evaluation.push_forward_to_masses(problem, &mut scratch.acceleration);
            for (f, i) in scratch.node.iter_mut().zip(evaluation.inertial_force()) {
                *f += i;
            }
            for attachment in problem.masses() {
                let (node, mass) = (problem.node(attachment.node), &attachment.component);
                let range = node.velocity_range();
                let own = &mut scratch.field[..range.len()];
                own.fill(0.0);
                mass.add_product(node.space, -1.0, &scratch.acceleration[range.clone()], own);
                if node.first_dof().is_some() && node.space == Space::Rigid3 {
                    mass.add_gyroscopic(&state.velocities[range.clone()], own);
                }
                let both = scratch.node[range.clone()]
                    .iter_mut()
                    .zip(&mut scratch.terms[range]);
                for ((f, t), own) in both.zip(own) {
                    *f += *own;
                    *t += own.abs();
                }
            }
        }
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                let lambda = multipliers[group.first_row + k];
                scratch.node[first + k] += lambda;
                scratch.terms[first + k] += lambda.abs();
            }
            let moving = equations != Equations::Rest;
            find_deficits(
                problem,
                evaluation,
                state,
                group,
                multipliers,
                moving,
                &mut scratch.deficit,
            );
        }
        evaluation.pull_back(problem, &mut scratch.node);
        evaluation.pull_back_sizes(problem, &mut scratch.terms);
        let fixed = &assembler.system().fixed;
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, at) in node.velocity_range().enumerate() {
                let dof = first + k;
                let free = f64::from(u8::from(!fixed[dof]));
                scratch.missing[dof] = free * scratch.node[at];
                scratch.sizes[dof] = free * scratch.terms[at];
            }
        }
        // What parts share is added up before it is measured. Rows, whose places stay zero, have
        // deficits of other units.
        let missing = std::mem::take(&mut self.scratch.missing);
        let sizes = std::mem::take(&mut self.scratch.sizes);
        let system = self.system()?;
        system.right.clear()?;
        system.halo.add(&missing, &mut system.right)?;
        let norm = system.right.norm()?;
        system.residual.clear()?;
        system.halo.add(&sizes, &mut system.residual)?;
        let terms = system.residual.norm()?;
        (self.scratch.missing, self.scratch.sizes) = (missing, sizes);
        Ok(if norm == 0.0 { 0.0 } else { norm / terms })
    }
}

/// The larger of two sizes; one that is no number is larger than any.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// Writes the deficits of the rows of a group: `phi + C lambda` at rest, in motion with velocities
/// and damping, `phi + d u + C (D u + lambda)`.
fn find_deficits(
    problem: &Problem,
    evaluation: &Evaluation,
    state: &State,
    group: &RowGroup,
    multipliers: &[f64],
    moving: bool,
    out: &mut [f64],
) {
    let node = problem.node(group.node);
    let u = |k: usize| match moving {
        true => state.velocities[node.first_velocity + k],
        false => 0.0,
    };
    for k in 0..group.size * group.count {
        let row = group.first_row + k;
        let gap = state.positions[node.first_position + k];
        out[row] = match group.component {
            ComponentId::Constraint(i) if moving => match problem.constraints()[i].component.level {
                Level::Velocity { .. } => u(k),
                Level::Baumgarte { rate } => u(k) + rate * gap,
                _ => gap,
            },
            ComponentId::ForceField(i) => {
                let delayed = problem.relaxation_time(i, k) * u(k);
                if evaluation.is_hard(group, k) {
                    gap + delayed
                } else {
                    let (g, first) = evaluation.group_of(i, group.size, k);
                    let compliance = evaluation.compliance(i);
                    let n = compliance.width(g);
                    let c = &compliance.block(g)[(k - first) * n..][..n];
                    let force = |l: usize| {
                        let damping = evaluation.row_damping(i).map_or(0.0, |d| {
                            let d = &d.block(g)[l * n..][..n];
                            d.iter().enumerate().map(|(p, d)| d * u(first + p)).sum()
                        });
                        multipliers[group.first_row + first + l] + damping
                    };
                    let strain: f64 = c.iter().enumerate().map(|(l, c)| c * force(l)).sum();
                    strain + evaluation.deformation(i)[k] + delayed
                }
            }
            _ => gap,
        };
    }
}
