//! Free coordinates of all joints one after the other: `q`, `qd`, `tau`.

use crate::model::Model;
use pliant::{Error, Simulation};

/// A quantity of every coordinate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// m, rad.
    Position,
    /// m/s, rad/s.
    Velocity,
    /// From outside (N, N m).
    Force,
}

/// One number for each coordinate.
pub(crate) fn read(simulation: &Simulation, model: &Model, part: Part) -> Vec<f64> {
    let list = model.coordinate_list().iter();
    let one = |(_, node): &(String, _)| match part {
        Part::Position => simulation.positions(*node)[0],
        Part::Velocity => simulation.velocities(*node)[0],
        Part::Force => simulation.external_forces(*node)[0],
    };
    list.map(one).collect()
}

/// Sets the forces from outside, one number for each coordinate.
pub(crate) fn push(simulation: &mut Simulation, model: &Model, forces: &[f64]) -> Result<(), Error> {
    let mut pairs = model.coordinate_list().iter().zip(forces);
    pairs.try_for_each(|((_, node), force)| simulation.set_force(*node, 0, &[*force]))
}
