//! Geometric stiffness: of the mappings, and of the angular acceleration of bodies.

use super::{Assembler, bundle::Wanted, response::congruence};
use crate::jacobian::ColumnSource;
use crate::plan::NodeSites;
use crate::scheme::GeometricOrigin;
use crate::{GeometricStiffness, Scheme};
use pliant_dense::eigen::map_eigenvalues;
use pliant_dense::{Mat3, Vec3, skew, vec3};
use pliant_model::{ElementIndex, Evaluation, NodeKind, Problem, State};

/// A rigid body with a mass of its own.
pub(super) struct Body {
    /// In body axes (kg m^2).
    inertia: Mat3,
    /// Its first rotation among the velocities of all nodes, and among the degrees of freedom.
    pub(super) at: usize,
    dof: usize,
}

/// All of them.
pub(super) fn bodies(problem: &Problem) -> impl Iterator<Item = Body> + '_ {
    problem.masses().iter().flat_map(|attachment| {
        let node = problem.node(attachment.node);
        let first = node.first_dof();
        (0..node.count).filter_map(move |e| {
            Some(Body {
                inertia: attachment.component.rigid(e)?.inertia_matrix(),
                at: node.first_velocity + 6 * e + 3,
                dof: first? + 6 * e + 3,
            })
        })
    })
}

impl Assembler {
    /// `W -= h^2 alpha beta G` and `rhs += h^2 alpha G v` for the forces gathered before, with the
    /// part of angular accelerations if the motion has any.
    pub(super) fn fill_geometry(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        inertial: bool,
    ) {
        for origin in scheme.geometry.origins() {
            if inertial {
                self.add_inertial_geometry(problem, scheme, state, origin);
            }
            self.add_geometry(problem, evaluation, scheme, state, origin);
            // Those of the other origin were filled with the rest of the response.
            if origin.from_rows {
                self.fill_bundles(problem, evaluation, scheme, state, Wanted::geometry(origin));
            }
        }
    }

    /// `W -= h^2 alpha beta G`, `rhs += h^2 alpha G v` for the forces of one origin.
    fn add_geometry(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        origin: GeometricOrigin,
    ) {
        for (index, node) in problem.nodes().iter().enumerate() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            if !self.evaluate_geometry(problem, evaluation, state, index, origin) {
                continue;
            }
            for e in 0..node.count {
                let at = ElementIndex {
                    node: index,
                    element: e,
                };
                let Some((on_dofs, scale)) = self.scaled_element(evaluation, scheme, origin.mode, at) else {
                    continue;
                };
                let (height, block) = (self.height(at), &self.geometry);
                let on_dofs = match on_dofs {
                    OnDofs::Site(width) => &self.site_block[..width * width],
                    OnDofs::Own => &block[..height * height],
                };
                let site = &self.plan.nodes[index].sites[e];
                self.plan
                    .add_to_response(site, on_dofs, self.system.w.values_mut());
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

    /// Evaluates `G` of a mapped node that is not bundled, under the forces of one origin. Whether
    /// it has any.
    pub(super) fn evaluate_geometry(
        &self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        state: &State,
        index: usize,
        origin: GeometricOrigin,
    ) -> bool {
        self.has_geometry(problem, index, origin)
            && evaluation
                .geometric_stiffness(problem, state, index, self.gamma(origin))
                .is_some()
    }

    /// Total forces on all nodes that geometric stiffness is made of: those of one origin.
    pub(super) fn gamma(&self, origin: GeometricOrigin) -> &[f64] {
        if origin.from_rows {
            &self.row_gamma
        } else {
            &self.force_gamma
        }
    }

    /// Whether a mapped node is not bundled and forces of one origin act on it that give it
    /// geometric stiffness.
    pub(super) fn has_geometry(&self, problem: &Problem, index: usize, origin: GeometricOrigin) -> bool {
        let gamma = self.gamma(origin);
        let NodeSites {
            geometric, bundled, ..
        } = self.plan.nodes[index];
        let range = problem.nodes()[index].velocity_range();
        geometric && !bundled && gamma[range].iter().any(|g| *g != 0.0)
    }

    /// Rows of the Jacobians of all parents of an element: the size of its block `G`.
    pub(super) fn height(&self, at: ElementIndex) -> usize {
        let source = ColumnSource::Element(at.node, at.element);
        self.plan.jacobians.stack_height(source)
    }

    /// The terms that an element adds to `W`, from the block `G` that was evaluated last:
    /// `h^2 alpha beta` times the share of `-G` that its mode takes, on the degrees of freedom. The
    /// factor is that by which `self.geometry` is `h^2 alpha` times this share on the parents.
    /// `None` if none is taken.
    fn scaled_element(
        &mut self,
        evaluation: &Evaluation,
        scheme: &Scheme,
        mode: GeometricStiffness,
        at: ElementIndex,
    ) -> Option<(OnDofs, f64)> {
        self.filtered_element(evaluation, mode, at)?;
        let gain = scheme.h * scheme.h * scheme.alpha;
        let place = ColumnSource::Element(at.node, at.element);
        let height = self.height(at);
        let block = &mut self.geometry[..height * height];
        let identity = self.plan.jacobians.stack_is_identity(place);
        let width = self.plan.jacobians.width(at.node, at.element);
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
        let columns = self.plan.jacobians.columns(at.node, at.element);
        let dofs = || columns.iter().flat_map(|c| c.dof..c.dof + c.size);
        let share = share_of(mode, on_dofs, dofs, &self.mass_diagonal);
        if share == 0.0 {
            return None;
        }
        if share != 1.0 {
            on_dofs.iter_mut().for_each(|b| *b *= share);
        }
        // The identity stack was scaled in place.
        Some(if identity {
            (OnDofs::Own, scheme.beta.recip())
        } else {
            (OnDofs::Site(width), gain * share)
        })
    }

    /// `-G` of an element as its mode filters it, into `self.geometry`.
    fn filtered_element(
        &mut self,
        evaluation: &Evaluation,
        mode: GeometricStiffness,
        at: ElementIndex,
    ) -> Option<()> {
        let height = self.height(at);
        let block = &mut self.geometry[..height * height];
        let source = evaluation.geometric_blocks(at.node)?;
        // K_geo = -G.
        for (b, g) in block.iter_mut().zip(source.block(at.element)) {
            *b = -g;
        }
        filter(mode, height, block, &mut self.eigen);
        Some(())
    }

    /// `h^2 alpha` times what the mode takes of `-G` of an element, on its parents in
    /// `self.geometry` but for the factor that is returned; `None` if it takes none.
    pub(super) fn taken_element(
        &mut self,
        evaluation: &Evaluation,
        scheme: &Scheme,
        mode: GeometricStiffness,
        at: ElementIndex,
    ) -> Option<f64> {
        if takes_shares(mode) {
            return Some(self.scaled_element(evaluation, scheme, mode, at)?.1);
        }
        self.filtered_element(evaluation, mode, at)?;
        Some(scheme.h * scheme.h * scheme.alpha)
    }

    /// The part of the geometric stiffness of a body that belongs to its angular acceleration
    /// `w' = I^-1 tau`.
    ///
    /// The torque `tau` of all forces on a body is balanced by the inertial load `-dm w' x r` of
    /// its points, whose own `G = sum [r][g]` is `-[w'] S` with `S = tr(I)/2 - I`, the second
    /// moment of mass. With it the whole load is in equilibrium, where the symmetric part of `G` is
    /// the exact one (docs/notation.md); without it a force across a thin link couples its spin
    /// about the long axis with bending, and `W` turns indefinite for no physical reason.
    fn add_inertial_geometry(
        &mut self,
        problem: &Problem,
        scheme: &Scheme,
        state: &State,
        origin: GeometricOrigin,
    ) {
        let gain = scheme.h * scheme.h * scheme.alpha;
        for body in bodies(problem) {
            if !self.inertial_block(scheme, origin, &body) {
                continue;
            }
            let Body { at, dof, .. } = body;
            let block = &self.geometry[..9];
            let w = &state.velocities[at..at + 3];
            for i in 0..3 {
                self.rhs[at + i] -= gain * (0..3).map(|j| block[3 * i + j] * w[j]).sum::<f64>();
                let row = dof + i;
                // The diagonal block of a body is stored whole: its last entry is the diagonal of
                // the row.
                let diagonal = self.system.w.pattern().row_slots(row).end - 1;
                for j in 0..=i {
                    self.system.w.values_mut()[diagonal - i + j] += gain * scheme.beta * block[3 * i + j];
                }
            }
        }
    }

    /// The share, by its mode, of the part of a body under the torque of one origin, `3 x 3` in
    /// `self.geometry`. False if there is none.
    pub(super) fn inertial_block(
        &mut self,
        scheme: &Scheme,
        origin: GeometricOrigin,
        &Body { inertia, at, dof }: &Body,
    ) -> bool {
        let torque = vec3(self.gamma(origin), at);
        if torque == Vec3::zeros() {
            return false;
        }
        let Some(acceleration) = inertia.lu().solve(&torque) else {
            return false;
        };
        let second = Mat3::identity() * (0.5 * inertia.trace()) - inertia;
        let g = -skew(acceleration) * second;
        let block = &mut self.geometry[..9];
        for i in 0..3 {
            for j in 0..3 {
                block[3 * i + j] = -0.5 * (g[(i, j)] + g[(j, i)]);
            }
        }
        filter(origin.mode, 3, block, &mut self.eigen);
        let gain = scheme.h * scheme.h * scheme.alpha;
        let mut scaled = [0.0; 9];
        let pairs = scaled.iter_mut().zip(&*block);
        pairs.for_each(|(s, b)| *s = gain * scheme.beta * b);
        let share = share_of(origin.mode, &scaled, || dof..dof + 3, &self.mass_diagonal);
        if share != 1.0 {
            block.iter_mut().for_each(|b| *b *= share);
        }
        share != 0.0
    }
}

/// Where the block of an element over degrees of freedom lies.
enum OnDofs {
    /// In the block on its parents, which are the degrees of freedom.
    Own,
    /// In the block of its site, of this width.
    Site(usize),
}

/// `v^T A v` for a square block `A`, which may lie at the beginning of more.
pub(super) fn form(a: &[f64], v: &[f64]) -> f64 {
    let rows = a.chunks_exact(v.len().max(1)).zip(v);
    rows.map(|(row, u)| u * row.iter().zip(v).map(|(a, v)| a * v).sum::<f64>())
        .sum()
}

/// Whether a mode looks at how much an element has before it takes a share of it.
pub(super) fn takes_shares(mode: GeometricStiffness) -> bool {
    matches!(
        mode,
        GeometricStiffness::WhereNeeded | GeometricStiffness::JustEnough
    )
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

/// How much of a symmetric block `h^2 alpha beta G` over the given degrees of freedom is taken, by
/// its stability number: the largest of its entries as shares of the geometric mean of their
/// masses.
pub(super) fn share_of<I: Iterator<Item = usize>>(
    mode: GeometricStiffness,
    block: &[f64],
    dofs: impl Fn() -> I,
    mass: &[f64],
) -> f64 {
    if !takes_shares(mode) {
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
