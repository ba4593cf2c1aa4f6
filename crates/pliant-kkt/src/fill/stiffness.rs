//! How stiff force fields are against the masses that they move.

use super::Assembler;
use super::response::Terms;
use crate::Scheme;
use pliant_model::{Evaluation, NodeKind, Problem, State};

/// How stiff a force field is against the masses that it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StiffnessRatio {
    /// Its place among the force fields.
    pub force_field: usize,
    /// Largest `h^2 k / m`.
    pub ratio: f64,
    /// Whether all mappings above its node are linear.
    pub linear: bool,
}

impl Assembler {
    /// For every force field whose treatment is open: its largest `h^2 K_ii S_ii`, with the inverse
    /// effective mass `S = J diag(M)^-1 J^T` of each coordinate. Infinite where a coordinate has no
    /// mass.
    pub fn stiffness_ratios(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        state: &State,
        h: f64,
    ) -> Vec<StiffnessRatio> {
        self.plan.jacobians.fill(evaluation);
        self.system.w.clear();
        self.fill_response(
            problem,
            evaluation,
            &Scheme::implicit_euler(h),
            state,
            Terms::Masses,
        );
        let mut out = Vec::new();
        for (i, field) in problem.force_fields().iter().enumerate() {
            if !field.component.automatic {
                continue;
            }
            let node = problem.node(field.node);
            let size = node.space.velocity_size();
            let index = field.node.index();
            let groups = field.component.law.groups();
            let lists = groups.lists(node.count);
            let shapes = lists.iter().map(|l| (l.len() * size, l.len() * size));
            let mut k = pliant_model::Blocks::new(shapes);
            let infinite = field
                .component
                .law
                .stiffness(problem.at(i, state), &mut k)
                .is_err();
            let mut ratio = if infinite { f64::INFINITY } else { 0.0f64 };
            for (g, list) in lists.iter().enumerate() {
                let width = k.width(g);
                for (c, stiffness) in k.block(g).iter().step_by(width + 1).enumerate() {
                    let (e, local) = (list[c / size], c % size);
                    let columns = self.plan.jacobians.columns(index, e);
                    let dofs = columns.iter().flat_map(|c| c.dof..c.dof + c.size);
                    let width = self.plan.jacobians.width(index, e);
                    let block = self.plan.jacobians.block(index, e);
                    let inverse_mass: f64 = dofs
                        .enumerate()
                        .filter(|(_, dof)| !self.system.fixed[*dof])
                        .map(|(at, dof)| {
                            let j = block.map_or(f64::from(u8::from(at == local)), |b| b[local * width + at]);
                            if j == 0.0 {
                                0.0
                            } else {
                                j * j / self.system.w_diagonal(dof)
                            }
                        })
                        .sum();
                    ratio = ratio.max(h * h * stiffness * inverse_mass);
                }
            }
            let mut linear = true;
            let mut above = vec![field.node];
            while let Some(id) = above.pop() {
                if let NodeKind::Mapped { mapping, parents, .. } = &problem.node(id).kind {
                    linear &= mapping.is_linear();
                    above.extend(parents);
                }
            }
            out.push(StiffnessRatio {
                force_field: i,
                ratio,
                linear,
            });
        }
        out
    }
}
