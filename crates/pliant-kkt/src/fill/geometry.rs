//! Geometric stiffness: of the mappings, and of the angular acceleration of bodies.

use super::{Assembler, bundle::Wanted, response::congruence};
use crate::jacobian::Place;
use crate::plan::NodeSites;
use crate::{GeometricStiffness, Scheme};
use pliant_dense::eigen::map_eigenvalues;
use pliant_dense::{Mat3, Vec3, skew, vec3};
use pliant_model::{Evaluation, Model, NodeKind, State};

impl Assembler {
    /// `W -= h^2 alpha beta G` and `rhs += h^2 alpha G v` for the forces gathered before, with the part of angular accelerations if the motion has any.
    pub(super) fn fill_geometry(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        inertial: bool,
    ) {
        let modes = scheme.geometry;
        if inertial {
            self.add_inertial_geometry(model, scheme, state, modes.forces, false);
        }
        self.add_geometry(model, evaluation, scheme, state, modes.forces, false);
        if modes.multipliers != modes.forces {
            if inertial {
                self.add_inertial_geometry(model, scheme, state, modes.multipliers, true);
            }
            self.add_geometry(model, evaluation, scheme, state, modes.multipliers, true);
            if modes.multipliers != GeometricStiffness::None {
                let wanted = Wanted {
                    masses: None,
                    fields: false,
                    damping: false,
                    geometry: Some((modes.multipliers, true)),
                };
                self.fill_bundles(model, evaluation, scheme, state, wanted);
            }
        }
    }

    /// `W -= h^2 alpha beta G`, `rhs += h^2 alpha G v` for the forces of one origin.
    fn add_geometry(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        mode: GeometricStiffness,
        from_rows: bool,
    ) {
        if mode == GeometricStiffness::None {
            return;
        }
        let gain = scheme.h * scheme.h * scheme.alpha;
        for (index, node) in model.nodes().iter().enumerate() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            let gamma = if from_rows {
                &self.row_gamma
            } else {
                &self.force_gamma
            };
            let NodeSites {
                geometric, bundled, ..
            } = self.plan.nodes[index];
            if bundled || !geometric || gamma[node.velocity_range()].iter().all(|g| *g == 0.0) {
                continue;
            }
            if evaluation
                .geometric_stiffness(model, state, index, gamma)
                .is_none()
            {
                continue;
            }
            for e in 0..node.count {
                let place = Place::Element(index, e);
                let height = self.plan.jacobians.stack_height(place);
                let block = &mut self.geometry[..height * height];
                let Some(source) = evaluation.geometric_blocks(index) else {
                    break;
                };
                // K_geo = -G.
                for (b, g) in block.iter_mut().zip(source.block(e)) {
                    *b = -g;
                }
                filter(mode, height, block, &mut self.eigen);
                let identity = self.plan.jacobians.stack_is_identity(place);
                let width = self.plan.jacobians.width(index, e);
                if !identity {
                    self.plan
                        .jacobians
                        .stack(place, &mut self.stack[..height * width]);
                    congruence(
                        block,
                        &self.stack,
                        height,
                        width,
                        &mut self.product,
                        &mut self.site_block,
                    );
                }
                let on_dofs = if identity {
                    &mut *block
                } else {
                    &mut self.site_block[..width * width]
                };
                on_dofs.iter_mut().for_each(|b| *b *= gain * scheme.beta);
                let columns = self.plan.jacobians.columns(index, e);
                let dofs = || columns.iter().flat_map(|c| c.dof..c.dof + c.size);
                let share = share_of(mode, on_dofs, dofs, &self.mass_diagonal);
                if share == 0.0 {
                    continue;
                }
                if share != 1.0 {
                    on_dofs.iter_mut().for_each(|b| *b *= share);
                }
                let site = &self.plan.nodes[index].sites[e];
                self.plan
                    .add_to_response(site, on_dofs, self.system.w.values_mut());
                // The identity stack was scaled in place.
                let scale = if identity {
                    scheme.beta.recip()
                } else {
                    gain * share
                };
                let list = evaluation.dependencies(index, e);
                let coordinates = |d: &pliant_model::Dependency| {
                    let (_, first, space) = ranges[d.parent];
                    let size = space.velocity_size();
                    first + d.element * size..first + (d.element + 1) * size
                };
                let mut row = 0;
                for d in list {
                    for i in coordinates(d) {
                        let terms = list.iter().flat_map(coordinates).zip(&block[row * height..]);
                        let sum: f64 = terms.map(|(k, b)| b * state.velocities[k]).sum();
                        self.rhs[i] -= scale * sum;
                        row += 1;
                    }
                }
            }
        }
    }

    /// The part of the geometric stiffness of a body that belongs to its angular acceleration `w' = I^-1 tau`.
    ///
    /// The torque `tau` of all forces on a body is balanced by the inertial load `-dm w' x r` of its points, whose own
    /// `G = sum [r][g]` is `-[w'] S` with `S = tr(I)/2 - I`, the second moment of mass. With it the whole load is in equilibrium,
    /// where the symmetric part of `G` is the exact one (docs/notation.md); without it a force across a thin link couples its
    /// spin about the long axis with bending, and `W` turns indefinite for no physical reason.
    fn add_inertial_geometry(
        &mut self,
        model: &Model,
        scheme: &Scheme,
        state: &State,
        mode: GeometricStiffness,
        from_rows: bool,
    ) {
        if mode == GeometricStiffness::None {
            return;
        }
        let gain = scheme.h * scheme.h * scheme.alpha;
        for attachment in model.masses() {
            let node = model.node(attachment.node);
            let (Some(first), Some(_)) = (node.first_dof(), attachment.component.rigid(0)) else {
                continue;
            };
            for e in 0..node.count {
                let gamma = if from_rows {
                    &self.row_gamma
                } else {
                    &self.force_gamma
                };
                let at = node.first_velocity + 6 * e + 3;
                let torque = vec3(gamma, at);
                let (Some(rigid), false) = (attachment.component.rigid(e), torque == Vec3::zeros()) else {
                    continue;
                };
                let inertia = rigid.inertia_matrix();
                let Some(acceleration) = inertia.lu().solve(&torque) else {
                    continue;
                };
                let second = Mat3::identity() * (0.5 * inertia.trace()) - inertia;
                let g = -skew(acceleration) * second;
                let block = &mut self.geometry[..9];
                for i in 0..3 {
                    for j in 0..3 {
                        block[3 * i + j] = -0.5 * (g[(i, j)] + g[(j, i)]);
                    }
                }
                filter(mode, 3, block, &mut self.eigen);
                let dofs = || first + 6 * e + 3..first + 6 * e + 6;
                let mut scaled = [0.0; 9];
                let pairs = scaled.iter_mut().zip(&*block);
                pairs.for_each(|(s, b)| *s = gain * scheme.beta * b);
                let share = share_of(mode, &scaled, dofs, &self.mass_diagonal);
                if share == 0.0 {
                    continue;
                }
                if share != 1.0 {
                    block.iter_mut().for_each(|b| *b *= share);
                }
                let w = &state.velocities[at..at + 3];
                for i in 0..3 {
                    self.rhs[at + i] -= gain * (0..3).map(|j| block[3 * i + j] * w[j]).sum::<f64>();
                    let row = first + 6 * e + 3 + i;
                    // The diagonal block of a body is stored whole: its last entry is the diagonal of the row.
                    let diagonal = self.system.w.pattern().row_slots(row).end - 1;
                    for j in 0..=i {
                        self.system.w.values_mut()[diagonal - i + j] += gain * scheme.beta * block[3 * i + j];
                    }
                }
            }
        }
    }
}

/// Applies the eigenvalue filter of a mode to a symmetric block.
pub(super) fn filter(mode: GeometricStiffness, size: usize, block: &mut [f64], scratch: &mut [f64]) {
    match mode {
        GeometricStiffness::None
        | GeometricStiffness::Full
        | GeometricStiffness::WhereNeeded
        | GeometricStiffness::JustEnough => {}
        GeometricStiffness::PositivePart => map_eigenvalues(size, block, scratch, |d| d.max(0.0)),
        GeometricStiffness::AbsoluteValue => map_eigenvalues(size, block, scratch, f64::abs),
    }
}

/// How much of a symmetric block `h^2 alpha beta G` over the given degrees of freedom is taken, by its stability number: the largest of its entries as shares of the geometric mean of their masses.
pub(super) fn share_of<I: Iterator<Item = usize>>(
    mode: GeometricStiffness,
    block: &[f64],
    dofs: impl Fn() -> I,
    mass: &[f64],
) -> f64 {
    if !matches!(
        mode,
        GeometricStiffness::WhereNeeded | GeometricStiffness::JustEnough
    ) {
        return 1.0;
    }
    let width = dofs().count();
    let mut square = 0.0f64;
    for (row, i) in block.chunks_exact(width.max(1)).zip(dofs()) {
        for (b, j) in row.iter().zip(dofs()).filter(|(b, _)| **b != 0.0) {
            square = square.max(b * b / (mass[i] * mass[j]));
        }
    }
    match mode {
        _ if square <= 1.0 => 0.0,
        GeometricStiffness::JustEnough => 1.0 - square.sqrt().recip(),
        _ => 1.0,
    }
}
