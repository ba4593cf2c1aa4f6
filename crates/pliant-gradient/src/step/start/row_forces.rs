//! The forces that nonlinear laws of soft rows have at the start of a step.
//!
//! **Equation.** With the force `f(x, v)` of the law, a row has the mean of the forces at both ends,
//! written as a deformation by the compliance `C+` of the end; over the weight `alpha` of the end
//!
//! ```math
//! C+ lambda + phi+ + d u+ + (1 - alpha)/alpha C+ (lambda - f(x, v)) = 0
//! ```
//!
//! so that its law at the end has the force `lambda + (1 - alpha)/alpha (lambda - f(x, v))`.

use crate::GradientError;
use crate::law::{Law, LawBuffers};
use crate::laws::field_force;
use crate::linearised::EndCompliance;
use pliant_model::{ComponentId, Evaluation, Problem, RowGroup, RowLaw, State};

/// The forces of nonlinear laws of rows, and their derivatives.
#[derive(Debug)]
pub(super) struct RowForces {
    /// The law of each row group that has one.
    laws: Vec<Option<OfGroup>>,
    /// Their forces (N, N m; m).
    forces: Vec<f64>,
    /// Forces of the rows that have a part, and strains by them (m).
    parts: [Vec<f64>; 2],
    /// A vector on all nodes.
    on_nodes: Vec<f64>,
    buffers: LawBuffers,
}

/// Changes that strain rows: displacements and changes of velocity of all nodes at the start, if they move
/// there, and changes of the multipliers (m).
#[derive(Clone, Copy)]
pub(super) struct RowChanges<'a> {
    pub(super) moved: Option<[&'a [f64]; 2]>,
    pub(super) multipliers: &'a [f64],
}

/// The part of the equations that is of the start: its share, and the rows that have one.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) share: f64,
    pub(super) counts: &'a [bool],
}

#[derive(Debug)]
struct OfGroup {
    force_field: usize,
    law: Law,
}

/// The rows of a group.
fn rows_of(group: &RowGroup) -> std::ops::Range<usize> {
    group.first_row..group.first_row + group.size * group.count
}

impl RowForces {
    /// Plans them.
    pub(super) fn new(problem: &Problem, evaluation: &Evaluation) -> Self {
        let laws = problem.row_groups().iter().map(|group| {
            let ComponentId::ForceField(i) = group.component else {
                return None;
            };
            let is_linear = problem.force_fields()[i].component.law.is_linear();
            (!is_linear).then(|| {
                let node = problem.node(group.node);
                let lists = evaluation.groups(i).to_vec();
                OfGroup {
                    force_field: i,
                    law: Law::new(group.size, node.velocity_range(), lists, group.count),
                }
            })
        });
        Self {
            laws: laws.collect(),
            forces: vec![0.0; problem.row_count()],
            parts: [(); 2].map(|()| vec![0.0; problem.row_count()]),
            on_nodes: vec![0.0; problem.velocity_count()],
            buffers: LawBuffers::default(),
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.laws.iter().all(Option::is_none)
    }

    /// Whether the rows of a group have one.
    pub(super) fn has(&self, group: usize) -> bool {
        self.laws[group].is_some()
    }

    /// Finds the forces at a state, and their derivatives, of the rows that count.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for a nonlinear law of velocities, and where a force has no finite
    /// derivative.
    pub(super) fn place(
        &mut self,
        problem: &Problem,
        state: &State,
        counts: &[bool],
    ) -> Result<(), GradientError> {
        if self.is_empty() {
            return Ok(());
        }
        self.buffers.start_from(state);
        self.forces.fill(0.0);
        for (group, own) in problem.row_groups().iter().zip(&mut self.laws) {
            let Some(OfGroup { force_field, law }) = own else {
                continue;
            };
            if !counts[rows_of(group)].contains(&true) {
                law.dx.clear();
                law.dv.clear();
                continue;
            }
            let refuse = |why| {
                Err(GradientError::NotBuilt {
                    what: format!(
                        "`{}` as rows in steps with weights",
                        problem.force_fields()[*force_field].name
                    ),
                    why,
                })
            };
            if problem.row_law(group) == RowLaw::Viscous {
                return refuse("its compliance changes with its place");
            }
            let mut force = |state: &State, out: &mut [f64]| field_force(problem, state, *force_field, out);
            let node = problem.node(group.node);
            law.make_by_differences(node, state, true, &mut self.buffers, &mut force);
            force(state, &mut self.forces[rows_of(group)]);
            let forces = &self.forces[rows_of(group)];
            if !law.is_finite() || forces.iter().any(|f| !f.is_finite()) {
                return refuse("its force is not finite near its coordinates at the start");
            }
        }
        Ok(())
    }

    /// Writes what the laws have beside their multipliers: `share` times these less the forces.
    pub(super) fn beside(&self, problem: &Problem, share: f64, multipliers: &[f64], out: &mut Vec<f64>) {
        out.clear();
        if self.is_empty() {
            return;
        }
        out.resize(multipliers.len(), 0.0);
        for (group, _) in self.groups(problem) {
            for row in rows_of(group) {
                out[row] = share * (multipliers[row] - self.forces[row]);
            }
        }
    }

    fn groups<'a>(&'a self, problem: &'a Problem) -> impl Iterator<Item = (&'a RowGroup, &'a OfGroup)> {
        let all = problem.row_groups().iter().zip(&self.laws);
        all.filter_map(|(group, law)| Some((group, law.as_ref()?)))
    }

    /// Adds the strains by changes of the multipliers (m) less those of the forces, for displacements and
    /// changes of velocity of all nodes at the start, to the equations of the rows that count.
    pub(super) fn add_strains(
        &mut self,
        end: EndCompliance<'_>,
        problem: &Problem,
        of: Part<'_>,
        RowChanges { moved, multipliers }: RowChanges<'_>,
        out: &mut [f64],
    ) {
        let Self {
            laws,
            parts: [forces, strains],
            on_nodes,
            ..
        } = self;
        for (index, (group, own)) in problem.row_groups().iter().zip(&*laws).enumerate() {
            let Some(OfGroup { law, .. }) = own else { continue };
            on_nodes[law.node.clone()].fill(0.0);
            if let Some(moved) = moved {
                law.add_product(moved, on_nodes);
            }
            let rows = rows_of(group);
            let pairs = multipliers[rows.clone()].iter().zip(&on_nodes[law.node.clone()]);
            for (force, (multiplier, by_law)) in forces[rows.clone()].iter_mut().zip(pairs) {
                *force = of.share * (multiplier - by_law);
            }
            strains[rows.clone()].fill(0.0);
            let (own, strain) = (&forces[rows.clone()], &mut strains[rows.clone()]);
            end.laws.add_strain(end.room, problem, index, own, strain);
            for row in rows.filter(|row| of.counts[*row]) {
                out[row] += strains[row];
            }
        }
    }

    /// Weighs the forces with weights (m) of the equations of the rows that count: `C+` times these.
    pub(super) fn weigh(&mut self, end: EndCompliance<'_>, problem: &Problem, of: Part<'_>, q: &[f64]) {
        let [weights, strains] = &mut self.parts;
        for (index, group) in problem.row_groups().iter().enumerate() {
            if self.laws[index].is_none() {
                continue;
            }
            let rows = rows_of(group);
            for row in rows.clone() {
                weights[row] = if of.counts[row] { q[row] } else { 0.0 };
            }
            strains[rows.clone()].fill(0.0);
            let (own, strain) = (&weights[rows.clone()], &mut strains[rows]);
            end.laws.add_strain(end.room, problem, index, own, strain);
        }
    }

    /// Adds what forces that were weighed are against multipliers (m).
    pub(super) fn add_by_multipliers(&self, problem: &Problem, share: f64, out: &mut [f64]) {
        for (group, _) in self.groups(problem) {
            for row in rows_of(group) {
                out[row] += share * self.parts[1][row];
            }
        }
    }

    /// Adds what forces that were weighed are against displacements and velocities of all nodes.
    pub(super) fn add_by_nodes(&mut self, problem: &Problem, share: f64, [y, u]: [&mut [f64]; 2]) {
        for (group, own) in problem.row_groups().iter().zip(&self.laws) {
            let Some(OfGroup { law, .. }) = own else { continue };
            let weights = self.on_nodes[law.node.clone()].iter_mut();
            weights
                .zip(&self.parts[1][rows_of(group)])
                .for_each(|(w, s)| *w = -share * s);
            law.add_transposed_product(&self.on_nodes, [&mut *y, &mut *u]);
        }
    }

    /// Writes the weights of forces that were weighed to all nodes, and which force fields have them.
    pub(super) fn write_weights(&self, problem: &Problem, out: &mut Vec<f64>, fields: &mut Vec<bool>) {
        out.clear();
        out.resize(problem.velocity_count(), 0.0);
        fields.clear();
        fields.resize(problem.force_fields().len(), false);
        for (group, OfGroup { force_field, law }) in self.groups(problem) {
            out[law.node.clone()].copy_from_slice(&self.parts[1][rows_of(group)]);
            fields[*force_field] = true;
        }
    }

    /// Adds `weight` times the forces less those of another model of the same structure, at a state of
    /// it (m).
    pub(super) fn add_less(&mut self, other: &Problem, state: &State, weight: f64, out: &mut [f64]) {
        for (group, own) in other.row_groups().iter().zip(&self.laws) {
            let Some(OfGroup { force_field, law }) = own else {
                continue;
            };
            let moved = &mut self.on_nodes[law.node.clone()];
            field_force(other, state, *force_field, moved);
            for (row, force) in rows_of(group).zip(moved) {
                out[row] += weight * (self.forces[row] - *force);
            }
        }
    }
}
