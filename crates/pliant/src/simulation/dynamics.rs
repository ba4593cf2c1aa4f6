//! Dynamics at the present moment, without a step: mass matrices over joint coordinates, inverse
//! dynamics, the inertia that a tool shows.

use super::Simulation;
use crate::Error;
use pliant_model::NodeId;
use pliant_stepper::system::CoordinateDynamics;

impl Simulation {
    /// Finds the dynamics along coordinates at the present moment: their accelerations by the forces
    /// as they are, and by further forces along them. Coordinates are nodes of one scalar each, such
    /// as the free coordinates of joints (`JointHandle::coordinates`).
    ///
    /// Hard rows hold; limits, dry friction, ropes and other rows with bounds take no part, nor do
    /// contacts and what drives these coordinates, such as motors: the forces that
    /// [`CoordinateDynamics::forces_for`] gives are those that motors would have to give. What is
    /// fixed or sleeps is held.
    ///
    /// Cost: an evaluation, a factor of the masses with the rows, and a solve for each coordinate.
    ///
    /// ```
    /// use pliant::prelude::*;
    ///
    /// // A cart of 2 kg on a vertical rail: it takes 2 (9.81 + 3) N to lift it at 3 m/s^2.
    /// let mut model = Model::new();
    /// model.set_gravity([0.0, 0.0, -9.81])?;
    /// let cart = model.add_rigid_bodies("cart", &[Pose::default()])?;
    /// model.add_mass("mass", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))?;
    /// let rail = model.add_joint("rail", &Joint::slider(Side::World, Side::Body(cart, 0)))?;
    /// let mut simulation = Simulation::new(model)?;
    /// let dynamics = simulation.coordinate_dynamics(&rail.coordinates)?;
    /// let force = dynamics.forces_for(&[3.0]).expect("independent coordinates");
    /// assert!((force[0] - 2.0 * (9.81 + 3.0)).abs() < 1e-12);
    /// # Ok::<(), pliant::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a node is not one scalar, [`Error::Model`] where the forces are not
    /// defined, [`Error::Incompatible`] for contradictory rows, and those of the linear solver.
    pub fn coordinate_dynamics(&mut self, coordinates: &[NodeId]) -> Result<CoordinateDynamics, Error> {
        self.check_coordinates(coordinates)?;
        self.system.coordinate_dynamics(&self.motion, coordinates)
    }

    /// Finds `J M^-1 J^T` of the motions that hard rows allow, rows first, for the Jacobian `J` of
    /// so many `rows` over all degrees of freedom, rows first: accelerations along the rows by unit
    /// forces along them (1/kg, 1/(kg m^2)). Its inverse is the inertia of operational space. What
    /// takes no part is as in [`coordinate_dynamics`](Self::coordinate_dynamics), for these
    /// coordinates.
    ///
    /// # Errors
    /// As there, and [`Error::OutOfRange`] if the Jacobian has another size or is not finite.
    pub fn mobility(
        &mut self,
        coordinates: &[NodeId],
        rows: usize,
        jacobian: &[f64],
    ) -> Result<Vec<f64>, Error> {
        self.check_coordinates(coordinates)?;
        let expected = rows.saturating_mul(self.model().dof_count());
        if jacobian.len() != expected {
            return Err(Error::OutOfRange {
                what: "the number of entries of a Jacobian",
                value: jacobian.len() as f64,
                bound: "that of its rows times the degrees of freedom",
            });
        }
        if let Some(value) = jacobian.iter().find(|x| !x.is_finite()) {
            return Err(Error::OutOfRange {
                what: "an entry of a Jacobian",
                value: *value,
                bound: "finite",
            });
        }
        self.system.mobility(&self.motion, coordinates, (rows, jacobian))
    }

    fn check_coordinates(&self, coordinates: &[NodeId]) -> Result<(), Error> {
        let count = |node: &NodeId| {
            let node = self.model().node(*node);
            node.count * node.space.velocity_size()
        };
        match coordinates.iter().map(count).find(|count| *count != 1) {
            Some(count) => Err(Error::OutOfRange {
                what: "the number of scalars of a node that is a coordinate",
                value: count as f64,
                bound: "one",
            }),
            None => Ok(()),
        }
    }
}
