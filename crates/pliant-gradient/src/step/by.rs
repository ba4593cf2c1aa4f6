//! Gradients of a step by forces, inputs and parameters, after its adjoint.

use super::StepDerivative;
use crate::contact_family::ContactStep;
use crate::implicit::Implicit;
use crate::{Family, GradientError};
use pliant_model::NodeId;

impl StepDerivative {
    /// The gradient, after [`adjoint`](Self::adjoint), by forces from outside on the velocity
    /// coordinates of all nodes, in the order of [`State::velocities`](pliant_model::State::velocities).
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn by_force(&self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        self.implicit.by_force(out)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by the inputs of all force fields, in the
    /// order of [`Parameters::inputs`](pliant_model::Parameters::inputs): by differences of their
    /// laws, good to about 1e-10; at the end of a law's range from the side that there is.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn by_input(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        self.implicit.by_input(out)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by one parameter of a family of models, whose
    /// state at the start is held.
    ///
    /// # Errors
    /// [`GradientError::NotReady`], those of [`Family`], and [`GradientError::Model`] where another
    /// model has no value at the present positions.
    pub fn by_parameter(&mut self, family: &mut Family, parameter: usize) -> Result<f64, GradientError> {
        self.implicit.check_adjoint()?;
        let [mut dr, mut ds] = std::mem::take(&mut self.by_parameter);
        let changed = self.equations_by(family, parameter, [&mut dr, &mut ds]);
        let out = -self.implicit.work([&dr, &ds]);
        self.by_parameter = [dr, ds];
        changed.map(|()| out)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by the number that each element of a node has of
    /// its own, for all elements at once: `out` has one entry for each. The parameter of the family
    /// moves these numbers of all elements together: stiffnesses of springs, moduli of the elements of
    /// a solid, masses of particles; where they differ, as a share of each, so that a gradient by shares
    /// comes out. Cost: that of one parameter, whatever the number of elements.
    ///
    /// # Errors
    /// Those of [`by_parameter`](Self::by_parameter), and [`GradientError::NotBuilt`] if the parameter
    /// moves more than what acts on the node.
    pub fn by_element(
        &mut self,
        family: &mut Family,
        parameter: usize,
        node: NodeId,
        out: &mut Vec<f64>,
    ) -> Result<(), GradientError> {
        let whole = self.by_parameter(family, parameter)?;
        self.implicit.by_element(family, parameter, node, whole, out)
    }

    /// The change of the residuals of the placed step with one parameter, for
    /// [`tangent_of`](Self::tangent_of): of the independent coordinates (n), and of the rows and
    /// those of contacts behind them.
    ///
    /// # Errors
    /// Those of [`by_parameter`](Self::by_parameter).
    pub fn equations_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        [dr, ds]: [&mut Vec<f64>; 2],
    ) -> Result<(), GradientError> {
        self.implicit
            .equations_by(family, parameter, [&mut *dr, &mut *ds])?;
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
        };
        self.changes.find(family, &equations.problem, parameter, step)?;
        linearised.add_contacts_by_change(equations, self.changes.get(), &self.start, [dr, ds]);
        Ok(())
    }
}
