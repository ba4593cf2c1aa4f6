//! How stiff force fields are against the masses that they move.

use super::Step;
use crate::jacobian::Jacobians;
use pliant_model::NodeKind;
use pliant_solvers::KktSystem;

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

/// Ratios of the force fields whose treatment is open, with the masses in the `W` of a system.
pub(super) fn ratios(jacobians: &Jacobians, system: &KktSystem, step: Step<'_>) -> Vec<StiffnessRatio> {
    let Step {
        problem,
        scheme,
        state,
    } = step;
    let h = scheme.h;
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
                let columns = jacobians.columns(index, e);
                let dofs = columns.iter().flat_map(|c| c.dof..c.dof + c.size);
                let width = jacobians.width(index, e);
                let block = jacobians.block(index, e);
                let inverse_mass: f64 = dofs
                    .enumerate()
                    .filter(|(_, dof)| !system.fixed[*dof])
                    .map(|(at, dof)| {
                        let j = block.map_or(f64::from(u8::from(at == local)), |b| b[local * width + at]);
                        if j == 0.0 {
                            0.0
                        } else {
                            j * j / system.w_diagonal(dof)
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
