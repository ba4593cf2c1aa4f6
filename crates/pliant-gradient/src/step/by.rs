//! Gradients of a step by forces, inputs and parameters, after its adjoint.

use super::StepDerivative;
use super::start::ByParameter;
use crate::contact_family::ContactStep;
use crate::implicit::{Implicit, OfElements, check_own_numbers};
use crate::{Family, GradientError};
use pliant_model::NodeId;

impl StepDerivative {
    /// The gradient, after [`adjoint`](Self::adjoint), by forces from outside on the velocity
    /// coordinates of all nodes, in the order of [`State::velocities`](pliant_model::State::velocities).
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn by_force(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        if let Some(staged) = self.staged.placed() {
            self.implicit.check_adjoint()?;
            return staged.by_force(out);
        }
        self.implicit.by_force(out)?;
        if let Some(start) = self.start_equations.active_mut() {
            start.add_by_force(&self.implicit.adjoint[0], out);
        }
        Ok(())
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by the inputs of all force fields, in the
    /// order of [`Parameters::inputs`](pliant_model::Parameters::inputs): by differences of their
    /// laws, good to about 1e-10; at the end of a law's range from the side that there is.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn by_input(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        if let Some(staged) = self.staged.placed() {
            self.implicit.check_adjoint()?;
            return staged.by_input(out);
        }
        self.implicit.by_input(out)?;
        if let Some(start) = self.start_equations.active_mut() {
            let Implicit {
                equations,
                linearised,
                adjoint: [p, q],
                ..
            } = &self.implicit;
            start.add_by_input(linearised.compliance(equations), [p, q], out);
        }
        Ok(())
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by one parameter of a family of models, whose
    /// state at the start is held.
    ///
    /// # Errors
    /// [`GradientError::NotReady`], those of [`Family`], and [`GradientError::Model`] where another
    /// model has no value at the present positions.
    pub fn by_parameter(&mut self, family: &mut Family, parameter: usize) -> Result<f64, GradientError> {
        self.implicit.check_adjoint()?;
        if let Some(staged) = self.staged.placed() {
            return staged.by_parameter(family, parameter);
        }
        let [mut dr, mut ds, forces] = std::mem::take(&mut self.implicit.changes);
        let changed = self.change(family, parameter, [&mut dr, &mut ds], [None, None]);
        let whole = -self.implicit.work([&dr, &ds]);
        self.implicit.changes = [dr, ds, forces];
        changed.map(|()| whole)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by the number that each element of a node has of
    /// its own, for all elements at once: `out` has one entry for each. The parameter of the family
    /// moves these numbers of all elements together: stiffnesses of springs, moduli of the elements of
    /// a solid, masses of particles; where they differ, as a share of each, so that a gradient by shares
    /// comes out. Returns the derivative by the parameter, which is their sum. Cost: that of one
    /// parameter, whatever the number of elements.
    ///
    /// # Errors
    /// All errors of [`by_parameter`](Self::by_parameter); [`GradientError::NotOfElements`] if the
    /// parameter moves more than what acts on the node, [`GradientError::NotBuilt`] where something
    /// couples its elements.
    pub fn by_element(
        &mut self,
        family: &mut Family,
        parameter: usize,
        node: NodeId,
        out: &mut Vec<f64>,
    ) -> Result<f64, GradientError> {
        self.implicit.check_adjoint()?;
        check_own_numbers(self.implicit.problem(), node)?;
        if let Some(staged) = self.staged.placed() {
            return staged.by_element(family, parameter, node, out);
        }
        let [mut dr, mut ds, mut forces] = std::mem::take(&mut self.implicit.changes);
        let mut elsewhere = std::mem::take(&mut self.elsewhere);
        elsewhere.clear();
        let of_forces = [Some(&mut forces), Some(&mut elsewhere)];
        let changed = self.change(family, parameter, [&mut dr, &mut ds], of_forces);
        if let Some(start) = self.start_equations.active_mut() {
            start.weigh_changes(&self.implicit.adjoint[0], &mut elsewhere);
        }
        let found = changed.and_then(|()| {
            let whole = -self.implicit.work([&dr, &ds]);
            let of = OfElements {
                parameter,
                node,
                whole,
                forces: &forces,
                rows: &ds,
                elsewhere: &elsewhere,
            };
            self.implicit.by_element(of, out).map(|()| whole)
        });
        self.implicit.changes = [dr, ds, forces];
        self.elsewhere = elsewhere;
        found
    }

    /// The change of the residuals of the placed step with one parameter, for
    /// [`tangent_of`](Self::tangent_of): of the independent coordinates (n), and of the rows and
    /// those of contacts behind them.
    ///
    /// # Errors
    /// All errors of [`by_parameter`](Self::by_parameter).
    pub fn equations_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        out: [&mut Vec<f64>; 2],
    ) -> Result<(), GradientError> {
        if let Some(staged) = self.staged.placed() {
            self.implicit.check_placed()?;
            return staged.equations_by(family, parameter, out);
        }
        self.change(family, parameter, out, [None, None])
    }

    /// The change of the residuals with one parameter, and if wanted of the forces on all nodes at the
    /// end, and at the start where these have a part.
    fn change(
        &mut self,
        family: &mut Family,
        parameter: usize,
        [dr, ds]: [&mut Vec<f64>; 2],
        [forces, at_start]: [Option<&mut Vec<f64>>; 2],
    ) -> Result<(), GradientError> {
        self.implicit
            .equations_by(family, parameter, [&mut *dr, &mut *ds], forces)?;
        if let Some(start) = self.start_equations.active_mut() {
            let end = self.implicit.linearised.compliance(&self.implicit.equations);
            let by = ByParameter {
                family: &mut *family,
                parameter,
            };
            start.add_by_parameter(end, by, [&mut *dr, &mut *ds], at_start)?;
        }
        let Implicit {
            equations,
            linearised,
            kept,
            ..
        } = &mut self.implicit;
        let contacts = &linearised.contacts;
        ds.resize(equations.problem.row_count() + contacts.rows(), 0.0);
        if contacts.len() == 0 {
            return Ok(());
        }
        let step = ContactStep {
            contacts,
            start: &self.start,
            end: &kept.end,
            h: self.h,
            keeps_gaps: false,
        };
        self.changes.find(family, &equations.problem, parameter, step)?;
        linearised.add_contacts_by_change(equations, self.changes.get(), &self.start, [dr, ds]);
        Ok(())
    }
}
