//! Geometric stiffness: of the mappings, and of the angular acceleration of bodies.

use super::Step;
use super::response::{ElementBlocks, Elements, Target};
use crate::jacobian::ColumnSource;
use crate::plan::{NodeSites, Plan, Site};
use crate::scheme::GeometricOrigin;
use crate::{GeometricStiffness, GeometricTerms};
use pliant_dense::eigen::map_eigenvalues;
use pliant_dense::{Mat3, Vec3, skew, vec3};
use pliant_model::{ElementIndex, Evaluation, NodeKind, Problem};
use std::ops::Range;

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

/// The forces on all nodes that geometric stiffness is made of, by their origin, and the masses
/// that it is measured by.
#[derive(Debug)]
pub(super) struct Loads {
    /// Forces of all but rows, and of rows too where both enter alike.
    forces: Vec<f64>,
    /// Forces of rows alone, once they entered otherwise than the others.
    rows: Vec<f64>,
    /// Diagonal of the masses on independent nodes.
    masses: Vec<f64>,
}

impl Loads {
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            forces: vec![0.0; problem.velocity_count()],
            rows: Vec::new(),
            masses: mass_diagonal(problem),
        }
    }

    /// Sums the forces, where there is any geometric stiffness.
    pub(super) fn gather(
        &mut self,
        plan: &Plan,
        problem: &Problem,
        evaluation: &Evaluation,
        terms: GeometricTerms,
        multipliers: &[f64],
    ) {
        let GeometricTerms {
            forces,
            multipliers: rows,
        } = terms;
        let above = |node: usize| plan.nodes[node].geometric_above;
        match forces {
            GeometricStiffness::None => self.forces.fill(0.0),
            _ => self.forces.copy_from_slice(evaluation.force()),
        }
        if rows != GeometricStiffness::None {
            if rows != forces {
                self.rows.resize(problem.velocity_count(), 0.0);
                self.rows.fill(0.0);
            }
            let target = if rows == forces {
                &mut self.forces
            } else {
                &mut self.rows
            };
            for group in problem.row_groups() {
                let lambda = &multipliers[group.first_row..group.first_row + group.size * group.count];
                for (g, l) in target[problem.node(group.node).velocity_range()]
                    .iter_mut()
                    .zip(lambda)
                {
                    *g += l;
                }
            }
            if rows != forces {
                evaluation.pull_back_some(problem, above, &mut self.rows);
            }
        }
        if forces != GeometricStiffness::None {
            evaluation.pull_back_some(problem, above, &mut self.forces);
        }
    }

    /// The geometric stiffness of the forces of one origin.
    pub(super) fn geometry<'a>(
        &'a self,
        plan: &'a Plan,
        step: Step<'a>,
        origin: GeometricOrigin,
    ) -> GeometricLoad<'a> {
        GeometricLoad {
            step,
            plan,
            mode: origin.mode,
            gamma: if origin.from_rows {
                &self.rows
            } else {
                &self.forces
            },
            masses: &self.masses,
        }
    }
}

/// Diagonal of the masses on independent nodes.
fn mass_diagonal(problem: &Problem) -> Vec<f64> {
    let mut out = vec![0.0; problem.dof_count()];
    for attachment in problem.masses() {
        let node = problem.node(attachment.node);
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        for (g, list) in attachment.component.groups().lists(node.count).iter().enumerate() {
            let width = list.len() * size;
            let mut block = vec![0.0; width * width];
            attachment.component.add_block(node.space, g, &mut block);
            for i in 0..width {
                out[first + list[i / size] * size + i % size] += block[i * width + i];
            }
        }
    }
    out
}

/// The geometric stiffness of the forces of one origin in a step.
#[derive(Clone, Copy)]
pub(super) struct GeometricLoad<'a> {
    pub(super) step: Step<'a>,
    pub(super) plan: &'a Plan,
    /// The part of it that enters.
    pub(super) mode: GeometricStiffness,
    /// Total forces on all nodes.
    pub(super) gamma: &'a [f64],
    /// Diagonal of the masses on independent nodes.
    pub(super) masses: &'a [f64],
}

impl GeometricLoad<'_> {
    /// Adds `-h^2 alpha beta G` of the mapped nodes that have these elements and are not bundled to
    /// `W`, and `h^2 alpha G v` to the right-hand side.
    pub(super) fn add_elements(
        &self,
        evaluation: &mut Evaluation,
        of: Elements,
        blocks: &mut ElementBlocks,
        target: &mut Target<'_>,
    ) {
        for (index, node) in self.step.problem.nodes().iter().enumerate() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            if !of.has(self.step.problem, index) || !self.evaluate(evaluation, index) {
                continue;
            }
            let coordinates = |d: &pliant_model::Dependency| {
                let (_, first, space) = ranges[d.parent];
                let size = space.velocity_size();
                first + d.element * size..first + (d.element + 1) * size
            };
            for e in 0..node.count {
                let at = ElementIndex {
                    node: index,
                    element: e,
                };
                let site = &self.plan.nodes[index].sites[e];
                let list = evaluation.dependencies(index, e);
                if let [d] = list
                    && self.mode == GeometricStiffness::Full
                    && self.plan.jacobians.stack_is_identity(site.place)
                    && let Some(g) = evaluation.geometric_blocks(index)
                    && let Ok(g) = <&[f64; 36]>::try_from(g.block(e))
                {
                    self.add_to_body(site, g, coordinates(d), target);
                    continue;
                }
                let Some(scale) = self.scaled_element(evaluation, at, blocks) else {
                    continue;
                };
                let on_dofs = blocks.on_dofs(&self.plan.jacobians, site.place);
                self.plan.add_to_response(site, on_dofs, target.w.values_mut());
                let (height, block) = (self.height(at), &blocks.sources);
                let mut row = 0;
                for d in list {
                    for i in coordinates(d) {
                        let terms = list.iter().flat_map(coordinates).zip(&block[row * height..]);
                        let sum: f64 = terms.map(|(k, b)| b * self.step.state.velocities[k]).sum();
                        target.rhs[i] -= scale * sum;
                        row += 1;
                    }
                }
            }
        }
    }

    /// Adds the whole block `G` of an element that hangs on one independent body, whose coordinates
    /// are `own`.
    fn add_to_body(&self, site: &Site, g: &[f64; 36], own: Range<usize>, target: &mut Target<'_>) {
        let (gain, beta) = (self.step.geometric_gain(), self.step.scheme.beta);
        let factor = gain * beta;
        // K_geo = -G.
        let block = g.map(|g| -g * factor);
        self.plan.add_to_response(site, &block, target.w.values_mut());
        let scale = beta.recip();
        let v = &self.step.state.velocities[own.clone()][..6];
        let rows = target.rhs[own].iter_mut().zip(block.as_chunks::<6>().0);
        for (rhs, row) in rows {
            *rhs -= scale * row.iter().zip(v).map(|(b, v)| b * v).sum::<f64>();
        }
    }

    /// Evaluates `G` of a mapped node that is not bundled. Whether it has any.
    pub(super) fn evaluate(&self, evaluation: &mut Evaluation, index: usize) -> bool {
        let Step { problem, state, .. } = self.step;
        self.acts_on(index)
            && evaluation
                .geometric_stiffness(problem, state, index, self.gamma)
                .is_some()
    }

    /// Whether a mapped node is not bundled and forces act on it that give it geometric stiffness.
    pub(super) fn acts_on(&self, index: usize) -> bool {
        let NodeSites {
            geometric, bundled, ..
        } = self.plan.nodes[index];
        let range = self.step.problem.nodes()[index].velocity_range();
        geometric && !bundled && self.gamma[range].iter().any(|g| *g != 0.0)
    }

    /// Rows of the Jacobians of all parents of an element: the size of its block `G`.
    pub(super) fn height(&self, at: ElementIndex) -> usize {
        let source = ColumnSource::Element(at.node, at.element);
        self.plan.jacobians.stack_height(source)
    }

    /// The terms that an element adds to `W`, from the block `G` that was evaluated last:
    /// `h^2 alpha beta` times the share of `-G` that the mode takes, on the degrees of freedom. The
    /// factor is that by which `blocks.sources` is `h^2 alpha` times this share on the parents.
    /// `None` if none is taken.
    fn scaled_element(
        &self,
        evaluation: &Evaluation,
        at: ElementIndex,
        blocks: &mut ElementBlocks,
    ) -> Option<f64> {
        self.filtered_element(evaluation, at, blocks)?;
        let (gain, beta) = (self.step.geometric_gain(), self.step.scheme.beta);
        let jacobians = &self.plan.jacobians;
        let place = ColumnSource::Element(at.node, at.element);
        let on_dofs = blocks.pull(jacobians, place);
        on_dofs.iter_mut().for_each(|b| *b *= gain * beta);
        let columns = jacobians.columns_of(place);
        let dofs = || columns.iter().flat_map(|c| c.dof..c.dof + c.size);
        let share = share_of(self.mode, on_dofs, dofs, self.masses);
        if share == 0.0 {
            return None;
        }
        if share != 1.0 {
            on_dofs.iter_mut().for_each(|b| *b *= share);
        }
        // The identity stack was scaled in place.
        Some(if jacobians.stack_is_identity(place) {
            beta.recip()
        } else {
            gain * share
        })
    }

    /// `-G` of an element as the mode filters it, into `blocks.sources`.
    fn filtered_element(
        &self,
        evaluation: &Evaluation,
        at: ElementIndex,
        blocks: &mut ElementBlocks,
    ) -> Option<()> {
        let height = self.height(at);
        let block = &mut blocks.sources[..height * height];
        let source = evaluation.geometric_blocks(at.node)?;
        // K_geo = -G.
        for (b, g) in block.iter_mut().zip(source.block(at.element)) {
            *b = -g;
        }
        filter(self.mode, height, block, &mut blocks.eigen);
        Some(())
    }

    /// `h^2 alpha` times what the mode takes of `-G` of an element, on its parents in
    /// `blocks.sources` but for the factor that is returned; `None` if it takes none.
    pub(super) fn taken_element(
        &self,
        evaluation: &Evaluation,
        at: ElementIndex,
        blocks: &mut ElementBlocks,
    ) -> Option<f64> {
        if takes_shares(self.mode) {
            return self.scaled_element(evaluation, at, blocks);
        }
        self.filtered_element(evaluation, at, blocks)?;
        Some(self.step.geometric_gain())
    }

    /// Adds the part of the geometric stiffness of bodies that belongs to their angular
    /// acceleration `w' = I^-1 tau`.
    ///
    /// The torque `tau` of all forces on a body is balanced by the inertial load `-dm w' x r` of
    /// its points, whose own `G = sum [r][g]` is `-[w'] S` with `S = tr(I)/2 - I`, the second
    /// moment of mass. With it the whole load is in equilibrium, where the symmetric part of `G` is
    /// the exact one (theory/kinematics.md of the book); without it a force across a thin link
    /// couples its spin about the long axis with bending, and `W` turns indefinite for no physical reason.
    pub(super) fn add_bodies(&self, blocks: &mut ElementBlocks, target: &mut Target<'_>) {
        let Step {
            problem,
            scheme,
            state,
        } = self.step;
        let gain = self.step.geometric_gain();
        for body in bodies(problem) {
            if !self.inertial_block(&body, blocks) {
                continue;
            }
            let Body { at, dof, .. } = body;
            let block = &blocks.sources[..9];
            let w = &state.velocities[at..at + 3];
            for i in 0..3 {
                target.rhs[at + i] -= gain * (0..3).map(|j| block[3 * i + j] * w[j]).sum::<f64>();
                let row = dof + i;
                // The diagonal block of a body is stored whole: its last entry is the diagonal of
                // the row.
                let diagonal = target.w.pattern().row_slots(row).end - 1;
                for j in 0..=i {
                    target.w.values_mut()[diagonal - i + j] += gain * scheme.beta * block[3 * i + j];
                }
            }
        }
    }

    /// The share, by the mode, of the part of a body under its torque, `3 x 3` in `blocks.sources`.
    /// False if there is none.
    pub(super) fn inertial_block(
        &self,
        &Body { inertia, at, dof }: &Body,
        blocks: &mut ElementBlocks,
    ) -> bool {
        let torque = vec3(self.gamma, at);
        if torque == Vec3::zeros() {
            return false;
        }
        let Some(acceleration) = turn(&inertia, torque) else {
            return false;
        };
        let second = Mat3::identity() * (0.5 * inertia.trace()) - inertia;
        let g = -skew(acceleration) * second;
        let block = &mut blocks.sources[..9];
        for i in 0..3 {
            for j in 0..3 {
                block[3 * i + j] = -0.5 * (g[(i, j)] + g[(j, i)]);
            }
        }
        filter(self.mode, 3, block, &mut blocks.eigen);
        let gain = self.step.geometric_gain();
        let mut scaled = [0.0; 9];
        let pairs = scaled.iter_mut().zip(&*block);
        pairs.for_each(|(s, b)| *s = gain * self.step.scheme.beta * b);
        let share = share_of(self.mode, &scaled, || dof..dof + 3, self.masses);
        if share != 1.0 {
            block.iter_mut().for_each(|b| *b *= share);
        }
        share != 0.0
    }
}

/// The angular acceleration of a body under a torque, in body axes; none without inertia. Axes along
/// its principal ones need no elimination.
fn turn(inertia: &Mat3, torque: Vec3) -> Option<Vec3> {
    let moments = inertia.diagonal();
    if *inertia != Mat3::from_diagonal(&moments) {
        return inertia.lu().solve(&torque);
    }
    let turns = moments.iter().all(|moment| *moment != 0.0);
    turns.then(|| torque.component_div(&moments))
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
