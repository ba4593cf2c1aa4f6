//! How the equations of the projection turn with the end of the step: geometric stiffness of the
//! impulses, the metric, compliances, and velocities of nodes.

use super::residuals::Strains;
use super::stiffness::{LawStiffness, TurnedLaw};
use crate::deformed::{RowOfStep, RowPart};
use crate::equations::Equations;
use crate::geometry::place_geometry;
use crate::kinematics::{VelocityVariation, scatter};
use crate::law::{Law, LawBuffers};
use crate::linearised::Linearised;
use crate::row_law::{RowArguments, RowLaws};
use pliant_model::{Blocks, ComponentId, State};

/// Derivatives of the projection that its values alone do not have.
#[derive(Debug)]
pub(super) struct Turns {
    /// `G` of each node under the impulses of the velocities.
    pub(super) geometry: Vec<Option<Blocks>>,
    /// The derivative of `-w^2 H J u` by the coordinates of each law that is not linear.
    pub(super) turned: Vec<Option<TurnedLaw>>,
    /// The derivatives of `C lambda` and of `C nu/w^2` of each row group by its coordinates, where
    /// its law is not linear.
    strained: [Vec<Option<Law>>; 2],
    room: RowLaws,
    strains: Strains,
    buffers: LawBuffers,
    /// On all nodes: the change `J u`.
    pub(super) change: Vec<f64>,
    /// How it moves with positions.
    pub(super) changing: VelocityVariation,
}

/// The projection that turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnsOf<'a> {
    pub(super) reach: f64,
    pub(super) time: f64,
    /// The end of the last stage where mappings lead.
    pub(super) last: &'a State,
    pub(super) multipliers: [&'a [f64]; 2],
    /// Impulses of the velocities on all nodes, carried up.
    pub(super) impulses: &'a [f64],
}

impl Turns {
    pub(super) fn new(equations: &Equations, linearised: &Linearised, deformed: &[usize]) -> Self {
        let problem = &equations.problem;
        let mut counts = vec![false; problem.nodes().len()];
        deformed.iter().for_each(|node| counts[*node] = true);
        let geometry = linearised.geometry.iter().enumerate().map(|(index, blocks)| {
            let bends = blocks.is_some();
            bends.then(|| equations.evaluation.geometric_shapes(problem, index))
        });
        let turned = problem.force_fields().iter().enumerate().map(|(i, field)| {
            let law = linearised.laws.field(i)?;
            let bends = !field.component.law.is_linear();
            bends.then(|| {
                let node = problem.node(field.node);
                let lists = equations.evaluation.groups(i).to_vec();
                let widths = (0..law.dx.len()).map(|g| law.dx.width(g));
                TurnedLaw {
                    law: Law::new(
                        node.space.velocity_size(),
                        node.velocity_range(),
                        lists,
                        node.count,
                    ),
                    stiffness: LawStiffness {
                        force_field: i,
                        blocks: Blocks::new(widths.map(|w| (w, w))),
                        lists: field.component.law.groups().lists(node.count),
                    },
                }
            })
        });
        let strained = problem.row_groups().iter().map(|group| match group.component {
            ComponentId::ForceField(i) if !problem.force_fields()[i].component.law.is_linear() => {
                let node = problem.node(group.node);
                let lists = equations.evaluation.groups(i).to_vec();
                Some(Law::new(group.size, node.velocity_range(), lists, node.count))
            }
            _ => None,
        });
        Self {
            geometry: geometry.collect(),
            turned: turned.collect(),
            strained: [strained.clone().collect(), strained.collect()],
            room: RowLaws::default(),
            strains: Strains::default(),
            buffers: LawBuffers::default(),
            change: vec![0.0; problem.velocity_count()],
            changing: match problem.row_count() {
                0 => VelocityVariation::default(),
                _ => VelocityVariation::plan(problem, &equations.evaluation, &counts),
            },
        }
    }

    /// Finds how the change of velocity of all nodes moves, at the state that was evaluated.
    pub(super) fn place_change(&mut self, equations: &mut Equations, change: &[f64]) {
        let Equations {
            problem,
            evaluation,
            state,
            ..
        } = equations;
        scatter(problem, change, &mut self.change);
        evaluation.push_forward(problem, &mut self.change);
        self.changing.evaluate(problem, evaluation, state, &self.change);
    }

    /// Finds what depends on multipliers, and how the metric turns: of the positions alone unless the
    /// velocities are projected.
    pub(super) fn place(&mut self, equations: &mut Equations, of: TurnsOf<'_>, projects_velocities: bool) {
        let Equations {
            problem,
            evaluation,
            state,
            ..
        } = equations;
        let squared = of.reach * of.reach;
        let parts = if projects_velocities { 2 } else { 1 };
        for (part, placed) in [of.last, &*state].into_iter().enumerate().take(parts) {
            let share = if part == 0 { 1.0 } else { squared.recip() };
            self.buffers.start_from(placed);
            for (group, law) in problem.row_groups().iter().zip(&mut self.strained[part]) {
                let Some(law) = law else { continue };
                let node = problem.node(group.node);
                let own = &of.multipliers[part][group.first_row..][..group.size * group.count];
                law.make_by_differences(node, placed, true, &mut self.buffers, |moved, out| {
                    let at = RowArguments::of(moved, node, own, of.time);
                    self.strains.find(problem, &mut self.room, group, at, out);
                    out.iter_mut().for_each(|s| *s *= share);
                });
            }
        }
        if !projects_velocities {
            return;
        }
        place_geometry(problem, evaluation, state, of.impulses, &mut self.geometry);
        self.buffers.start_from(state);
        for TurnedLaw { law, stiffness } in self.turned.iter_mut().flatten() {
            let node = problem.node(problem.force_fields()[stiffness.force_field].node);
            law.make_by_differences(node, state, true, &mut self.buffers, |moved, out| {
                stiffness.write_product(problem, moved, &self.change, out);
                out.iter_mut().for_each(|f| *f *= -squared);
            });
        }
    }

    /// Adds the changes of the strains of soft rows of a part where all nodes move and change their
    /// velocities; with room for changes on all nodes.
    pub(super) fn add_strains(
        &self,
        equations: &Equations,
        rows: &[RowOfStep],
        part: usize,
        moved: [&[f64]; 2],
        [room, ds]: [&mut [f64]; 2],
    ) {
        let groups = equations.problem.row_groups().iter().zip(&self.strained[part]);
        for (group, law) in groups {
            let Some(law) = law else { continue };
            room[law.node.clone()].fill(0.0);
            law.add_product(moved, room);
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if rows[row].part == RowPart::Elastic {
                    ds[row] += room[law.node.start + k];
                }
            }
        }
    }

    /// Adds the transpose: weights `q` of the rows (m) against displacements and
    /// velocities of all nodes.
    pub(super) fn add_strains_transposed(
        &self,
        equations: &Equations,
        rows: &[RowOfStep],
        part: usize,
        q: &[f64],
        room: &mut [f64],
        [ys, us]: [&mut [f64]; 2],
    ) {
        let groups = equations.problem.row_groups().iter().zip(&self.strained[part]);
        for (group, law) in groups {
            let Some(law) = law else { continue };
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let counts = rows[row].part == RowPart::Elastic;
                room[law.node.start + k] = if counts { q[row] } else { 0.0 };
            }
            law.add_transposed_product(room, [&mut *ys, &mut *us]);
        }
    }
}
