//! The equations at the start of a step whose forces are the mean of those at both ends.
//!
//! **Equation.** With the weight `alpha` of the end, the equations of the step over that weight are
//! those of its end, with the inertia of both, and `(1 - alpha)/alpha` times those of the start:
//!
//! ```math
//! M (v+ - v)/(alpha h) + (w+ x I w+ - f+ - J+^T lambda) + (1 - alpha)/alpha (w x I w - f - J^T lambda) = 0
//! s(x+, v+, lambda) + (1 - alpha)/alpha s(x, v, lambda) = 0   (soft rows),   s(x+, v+) = 0   (hard ones)
//! ```
//!
//! Soft rows of nonlinear laws have the mean of both forces ([`row_forces`]).

mod row_forces;

use crate::equations::{Equations, KeptMoment, Kinetics};
use crate::family::Sample;
use crate::linearised::{EndCompliance, InputShare, Linearised};
use crate::taken::TakenStep;
use crate::{Family, GradientError};
use pliant_model::{ComponentId, Problem};
use row_forces::{Part, RowChanges, RowForces};

/// The equations at the start of a step, and their derivative there.
#[derive(Debug)]
pub(super) struct StartEquations {
    equations: Equations,
    linearised: Linearised,
    kept: KeptMoment,
    /// `(1 - alpha)/alpha`.
    share: f64,
    /// Whether each row has a part at the start, in its own equation, or with the force of a
    /// nonlinear law: the soft ones that are at no bound of their force.
    counts: Vec<bool>,
    forced: Vec<bool>,
    row_forces: RowForces,
    /// Products: of the equations of coordinates and rows, and of displacements, velocities and
    /// multipliers.
    products: [Vec<f64>; 2],
    transposed: [Vec<f64>; 3],
    /// Weights of the rows that have a part, and of the forces on all nodes.
    rows: Vec<f64>,
    on_nodes: Vec<f64>,
    /// Changes of the equations with a parameter.
    changes: [Vec<f64>; 2],
    /// The force fields that are rows of nonlinear laws.
    fields: Vec<bool>,
    /// Zeros: of coordinates, and of rows.
    still: [Vec<f64>; 2],
}

/// A parameter of a family of models.
pub(super) struct ByParameter<'a> {
    pub(super) family: &'a mut Family,
    pub(super) parameter: usize,
}

/// The equations at the start, of those steps that have a part of them.
#[derive(Debug, Default)]
pub(super) struct StartPart {
    made: Option<Box<StartEquations>>,
    is_active: bool,
}

impl StartPart {
    /// Takes a step: none of the equations at its start where all weight is at the end.
    ///
    /// # Errors
    /// All errors of [`StartEquations::place`].
    pub(super) fn place(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        self.is_active = false;
        if step.weights.alpha == 1.0 {
            return Ok(());
        }
        let made = match &mut self.made {
            Some(made) => made,
            none => none.insert(Box::new(StartEquations::new(problem)?)),
        };
        made.place(problem, step)?;
        self.is_active = true;
        Ok(())
    }

    /// The equations at the start of the present step, if it has a part of them.
    pub(super) fn active(&self) -> Option<&StartEquations> {
        self.made.as_deref().filter(|_| self.is_active)
    }

    /// The equations at the start of the present step, if it has a part of them.
    pub(super) fn active_mut(&mut self) -> Option<&mut StartEquations> {
        self.made.as_deref_mut().filter(|_| self.is_active)
    }
}

impl StartEquations {
    /// Plans them.
    ///
    /// # Errors
    /// All errors of [`StepDerivative::new`](super::StepDerivative::new).
    pub(super) fn new(problem: &Problem) -> Result<Self, GradientError> {
        let equations = Equations::new(problem.clone())?;
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            linearised: Linearised::new(&equations),
            row_forces: RowForces::new(&equations.problem, &equations.evaluation),
            equations,
            kept: KeptMoment::default(),
            share: 0.0,
            counts: Vec::new(),
            forced: Vec::new(),
            fields: Vec::new(),
            products: [n, m].map(|n| vec![0.0; n]),
            transposed: [n, n, m].map(|n| vec![0.0; n]),
            rows: vec![0.0; m],
            on_nodes: Vec::new(),
            changes: Default::default(),
            still: [n, m].map(|n| vec![0.0; n]),
        })
    }

    /// Takes the start of a step of a problem, and linearises there.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for soft rows of nonlinear laws of velocities, and where a law
    /// has no finite derivative; [`GradientError::Model`].
    pub(super) fn place(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        if !self.equations.take_parameters(problem) {
            *self = Self::new(problem)?;
        }
        self.share = (1.0 - step.weights.alpha) / step.weights.alpha;
        (self.kept.kinetics, self.kept.time) = (Kinetics::Moving, step.time);
        self.kept
            .take(step.start, step.multipliers, step.external, step.fixed);
        self.equations.evaluate(&self.kept.get())?;
        self.linearised.place(&mut self.equations, &self.kept.get())?;
        for list in [&mut self.counts, &mut self.forced] {
            list.clear();
            list.resize(problem.row_count(), false);
        }
        let Equations {
            problem, evaluation, ..
        } = &self.equations;
        for (index, group) in problem.row_groups().iter().enumerate() {
            let counts = match self.row_forces.has(index) {
                true => &mut self.forced,
                false => &mut self.counts,
            };
            let is_field = matches!(group.component, ComponentId::ForceField(_));
            for k in (0..group.size * group.count).filter(|_| is_field) {
                let row = group.first_row + k;
                counts[row] = !evaluation.is_hard(group, k) && !self.linearised.laws.at_bound[row];
            }
        }
        self.row_forces
            .place(problem, &self.equations.state, &self.forced)
    }

    /// Writes what the laws of the rows at the end have beside their multipliers.
    pub(super) fn write_beside(&self, out: &mut Vec<f64>) {
        let problem = &self.equations.problem;
        self.row_forces
            .beside(problem, self.share, &self.kept.multipliers, out);
    }

    /// Adds their residuals, and the sizes of their terms, to those of the end.
    pub(super) fn add_residuals(&self, end: &mut Equations) {
        let own = &self.equations;
        let pairs = [
            (&mut end.primal, &own.primal),
            (&mut end.sizes.primal, &own.sizes.primal),
        ];
        for (sum, list) in pairs {
            sum.iter_mut().zip(list).for_each(|(s, r)| *s += self.share * r);
        }
        self.add_rows(&own.rows, &mut end.rows);
    }

    /// Adds changes of the equations of the rows that have a part at the start.
    fn add_rows(&self, own: &[f64], out: &mut [f64]) {
        let pairs = out.iter_mut().zip(own).zip(&self.counts);
        for ((out, own), _) in pairs.filter(|(_, counts)| **counts) {
            *out += self.share * own;
        }
    }

    /// Adds the changes of the equations for displacements and velocities at the start (n).
    pub(super) fn add_by_start(&mut self, end: EndCompliance<'_>, moved: [&[f64]; 2], out: [&mut [f64]; 2]) {
        let still = std::mem::take(&mut self.still);
        self.add(end, moved, &still[1], out);
        self.still = still;
    }

    /// Adds the changes of the equations for changes of the multipliers (m, contacts behind).
    pub(super) fn add_by_multipliers(
        &mut self,
        end: EndCompliance<'_>,
        multipliers: &[f64],
        out: [&mut [f64]; 2],
    ) {
        let own = &multipliers[..self.counts.len()];
        if own.is_empty() {
            return;
        }
        let still = std::mem::take(&mut self.still);
        self.add(end, [&still[0], &still[0]], own, out);
        self.still = still;
    }

    fn add(
        &mut self,
        end: EndCompliance<'_>,
        moved: [&[f64]; 2],
        multipliers: &[f64],
        [dr, ds]: [&mut [f64]; 2],
    ) {
        let [r, s] = &mut self.products;
        self.linearised
            .apply(&mut self.equations, moved, multipliers, [r, s]);
        dr.iter_mut()
            .zip(&self.products[0])
            .for_each(|(d, r)| *d += self.share * r);
        self.add_rows(&self.products[1], ds);
        let of = Part {
            share: self.share,
            counts: &self.forced,
        };
        let changes = RowChanges {
            moved: Some(self.linearised.moved()),
            multipliers,
        };
        self.row_forces
            .add_strains(end, &self.equations.problem, of, changes, ds);
    }

    /// Adds the transposed product with weights `p` (n) and `q` (m) of the equations against
    /// multipliers (m).
    pub(super) fn add_transposed_by_multipliers(
        &mut self,
        end: EndCompliance<'_>,
        [p, q]: [&[f64]; 2],
        multipliers: &mut [f64],
    ) {
        if self.counts.is_empty() {
            return;
        }
        self.transpose([p, q]);
        let pairs = multipliers.iter_mut().zip(&self.transposed[2]);
        pairs.for_each(|(l, d)| *l += self.share * d);
        self.weigh_forces_of_rows(end, q);
        self.row_forces
            .add_by_multipliers(&self.equations.problem, self.share, multipliers);
    }

    /// Subtracts the transposed product against displacements and velocities at the start (n).
    pub(super) fn subtract_transposed_by_start(
        &mut self,
        end: EndCompliance<'_>,
        [p, q]: [&[f64]; 2],
        [x, v]: [&mut [f64]; 2],
    ) {
        self.transpose([p, q]);
        for (out, list) in [&mut *x, &mut *v].into_iter().zip(&self.transposed) {
            out.iter_mut().zip(list).for_each(|(o, d)| *o -= self.share * d);
        }
        if self.row_forces.is_empty() {
            return;
        }
        self.weigh_forces_of_rows(end, q);
        let Self {
            equations,
            linearised,
            row_forces,
            transposed: [y, u, _],
            ..
        } = self;
        let (problem, share) = (&equations.problem, self.share);
        linearised.pull_back_of(
            equations,
            |nodes| row_forces.add_by_nodes(problem, share, nodes),
            [&mut *y, &mut *u],
        );
        x.iter_mut().zip(&*y).for_each(|(x, d)| *x -= d);
        v.iter_mut().zip(&*u).for_each(|(v, d)| *v -= d);
    }

    fn transpose(&mut self, [p, q]: [&[f64]; 2]) {
        self.weigh_rows(q);
        let [y, u, multipliers] = &mut self.transposed;
        self.linearised
            .apply_transposed(&mut self.equations, [p, &self.rows], [y, u, multipliers]);
    }

    /// Weighs the forces of nonlinear laws with weights of the equations of the rows.
    fn weigh_forces_of_rows(&mut self, end: EndCompliance<'_>, q: &[f64]) {
        let of = Part {
            share: self.share,
            counts: &self.forced,
        };
        self.row_forces.weigh(end, &self.equations.problem, of, q);
    }

    /// Takes the weights of the rows that have a part.
    fn weigh_rows(&mut self, q: &[f64]) {
        let pairs = self.rows.iter_mut().zip(q).zip(&self.counts);
        pairs.for_each(|((row, q), counts)| *row = if *counts { *q } else { 0.0 });
    }

    /// Adds the gradient by forces from outside on all nodes, with weights of the equations of the
    /// coordinates (n).
    pub(super) fn add_by_force(&mut self, weights: &[f64], out: &mut [f64]) {
        self.equations.weigh_forces(weights, &mut self.on_nodes);
        let pairs = out.iter_mut().zip(&self.on_nodes);
        pairs.for_each(|(o, f)| *o += self.share * f);
    }

    /// Adds the gradient by the inputs of all force fields, with weights of the equations.
    pub(super) fn add_by_input(&mut self, end: EndCompliance<'_>, [p, q]: [&[f64]; 2], out: &mut [f64]) {
        self.equations.weigh_forces(p, &mut self.on_nodes);
        self.weigh_rows(q);
        let mut of = InputShare {
            share: self.share,
            as_forces: None,
        };
        let by = [&self.on_nodes[..], &self.rows];
        self.linearised
            .add_by_inputs(&mut self.equations, &self.kept, by, of, out);
        if self.row_forces.is_empty() {
            return;
        }
        self.weigh_forces_of_rows(end, q);
        self.row_forces
            .write_weights(&self.equations.problem, &mut self.on_nodes, &mut self.fields);
        of.as_forces = Some(&self.fields);
        let by = [&self.on_nodes[..], &self.rows];
        self.linearised
            .add_by_inputs(&mut self.equations, &self.kept, by, of, out);
    }

    /// Adds the change of the equations with a parameter of a family of models, and writes, if
    /// wanted, that of the forces on all nodes.
    ///
    /// # Errors
    /// All errors of [`Family`].
    pub(super) fn add_by_parameter(
        &mut self,
        end: EndCompliance<'_>,
        by: ByParameter<'_>,
        [dr, ds]: [&mut [f64]; 2],
        forces: Option<&mut Vec<f64>>,
    ) -> Result<(), GradientError> {
        let [mut own, mut rows] = std::mem::take(&mut self.changes);
        let ByParameter { family, parameter } = by;
        let problem = &self.equations.problem;
        let found = family.derivative(
            problem,
            parameter,
            &self.kept.get(),
            [&mut own, &mut rows],
            forces,
        );
        dr.iter_mut().zip(&own).for_each(|(d, r)| *d += self.share * r);
        self.add_rows(&rows, ds);
        let found = found.and_then(|()| {
            let by = ByParameter { family, parameter };
            self.add_by_forces_of_rows(end, by, &mut rows, ds)
        });
        self.changes = [own, rows];
        found
    }

    /// Adds the change of the equations with the forces of nonlinear laws of rows, which change
    /// with a parameter; with room for m numbers.
    fn add_by_forces_of_rows(
        &mut self,
        end: EndCompliance<'_>,
        ByParameter { family, parameter }: ByParameter<'_>,
        less: &mut [f64],
        ds: &mut [f64],
    ) -> Result<(), GradientError> {
        if self.row_forces.is_empty() {
            return Ok(());
        }
        let Self {
            equations,
            row_forces,
            kept,
            ..
        } = self;
        less.fill(0.0);
        family.each_member(&equations.problem, parameter, |member, Sample { weight, .. }| {
            member.evaluate(&kept.get())?;
            row_forces.add_less(&member.problem, &member.state, weight, less);
            Ok(())
        })?;
        let of = Part {
            share: self.share,
            counts: &self.forced,
        };
        let changes = RowChanges {
            moved: None,
            multipliers: less,
        };
        row_forces.add_strains(end, &equations.problem, of, changes, ds);
        Ok(())
    }

    /// Replaces changes of the forces on all nodes by what they make of the function whose adjoint
    /// has these weights of the equations of the coordinates (n).
    pub(super) fn weigh_changes(&mut self, weights: &[f64], forces: &mut [f64]) {
        self.equations.weigh_forces(weights, &mut self.on_nodes);
        let pairs = forces.iter_mut().zip(&self.on_nodes);
        pairs.for_each(|(f, by)| *f *= self.share * by);
    }
}
