//! Potentials that are written as expressions.

use super::{ComponentId, Model, NodeId, Treatment};
use crate::expression::{dual, hyper_dual};
use crate::{Coordinate, Expression, ExpressionCoordinates, ModelError, Potential};
use crate::dual::{Dual, LIMIT};
use pliant_expression::HyperDual;

impl Model {
    /// Adds a force field of the energy (J) of an expression over coordinates of `nodes`, in the
    /// order of its names: the force is minus its gradient, the stiffness its Hessian, both exact
    /// to rounding. The parent of a [`Coordinate`] is its place in `nodes`. It acts on a node of
    /// the same name, that of the coordinates ([`ExpressionCoordinates`]).
    ///
    /// ```
    /// use pliant_model::{Coordinate, Expression, Model};
    /// let mut model = Model::new();
    /// let q = model.add_scalars("q", &[0.5])?;
    /// let energy = Expression::parse("0.25 * (q^2 - 1)^2", &["q"])?;
    /// model.add_potential("double well", &[q], &energy, &[Coordinate::new(0, 0, 0)])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of names, of coordinates that there are not, and of more than 48 of them.
    /// [`ModelError::Degenerate`], here or wherever a state leads, where the expression has no
    /// value or no derivative.
    pub fn add_potential(
        &mut self,
        name: &str,
        nodes: &[NodeId],
        energy: &Expression,
        coordinates: &[Coordinate],
    ) -> Result<ComponentId, ModelError> {
        let mark = self.mark();
        let node = self.add_mapped(
            name,
            nodes,
            ExpressionCoordinates::new(energy.clone(), coordinates),
        )?;
        let all: Vec<usize> = (0..coordinates.len()).collect();
        let energy = energy.clone();
        let law = Potential::new(move |x: &[Dual]| {
            let mut values = [HyperDual::constant(0.0); LIMIT];
            for (value, x) in values.iter_mut().zip(x) {
                *value = hyper_dual(x);
            }
            // Where it has none, the node has no positions.
            let number = energy.derivatives(&values[..x.len()]);
            number.map_or(Dual::from(f64::NAN), dual)
        });
        let added = self.add_force_field(name, node, law.over_groups(&[all]), Treatment::Stiffness);
        if added.is_err() {
            self.reset_to(mark);
        }
        added
    }
}
