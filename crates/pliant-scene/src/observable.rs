//! Quantities of a running scene that have names: what probes record, and what expressions over a
//! running scene are made of.

use crate::deformable::FieldNumber;
use pliant::model::{ComponentId, NodeId};
use pliant_expression::Program;

/// One number that can be read off a running scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observable {
    /// A number of the positions of a node.
    Position {
        /// The node.
        node: NodeId,
        /// The place among its numbers.
        index: usize,
    },
    /// A number of the velocities of a node.
    Velocity {
        /// The node.
        node: NodeId,
        /// The place among its numbers.
        index: usize,
    },
    /// The size of the velocity of a point or of the centre of mass of a body (m/s).
    Speed {
        /// The node.
        node: NodeId,
        /// Its element.
        element: usize,
    },
    /// The angular velocity of a body about an axis of the world (rad/s).
    AngularVelocity {
        /// The node.
        node: NodeId,
        /// Its element.
        element: usize,
        /// The axis: 0, 1, 2.
        axis: usize,
    },
    /// A number of the forces of a component on the coordinates of its node.
    Force {
        /// The component.
        component: ComponentId,
        /// The place among its numbers.
        index: usize,
    },
    /// A number of the force (N) and torque (N m) of a joint on its second side, in world axes.
    Wrench {
        /// The joint, by its place in the scene.
        joint: usize,
        /// The place among the six.
        index: usize,
    },
    /// A number of the stress or strain of a solid, sheet or rod.
    Field {
        /// The thing, by its place in [`BuiltScene::deformables`](crate::BuiltScene::deformables).
        deformable: usize,
        /// Which number.
        number: FieldNumber,
        /// The point of a solid, element of a sheet, segment of a rod.
        element: usize,
        /// Whether it is the mean of a step: rows have no force of a moment.
        of_step: bool,
    },
    /// The potential energy of a component (J).
    Potential(ComponentId),
    /// The distance of two places (m).
    Distance([DistanceEnd; 2]),
    /// A number of [`CONTACT`] of a pair of colliders (N).
    Contact {
        /// The pair, by its place in [`Observables::contacts`].
        pair: usize,
        /// The place among the names.
        index: usize,
    },
    /// An energy of everything (J).
    Energy(EnergyKind),
    /// The value of a variable.
    Variable {
        /// The variable, by its place in [`Observables::variables`].
        index: usize,
        /// Whether it is of a step, so that there is none before the first one.
        of_step: bool,
    },
    /// A number made of those before it in the list, by its place in
    /// [`Observables::expressions`].
    Expression(usize),
}

/// An energy of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyKind {
    /// Of motion.
    Kinetic,
    /// Of gravity, springs and compliant contacts.
    Potential,
    /// Both.
    Total,
}

/// An end of a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DistanceEnd {
    /// A point, or the centre of mass of a body.
    Element(NodeId, usize),
    /// A point that does not move (m).
    Fixed([f64; 3]),
}

/// Names of the numbers of a pair of colliders: the sum of the normal forces, the size of the sum
/// of friction, and the sum of all forces on the second one.
pub const CONTACT: [&str; 5] = ["normal", "friction", "force_x", "force_y", "force_z"];

/// A number that is made of others.
#[derive(Clone, Debug)]
pub struct NamedExpression {
    /// The user's name.
    pub name: String,
    /// The number, over the time, the variables and the quantities, in this order.
    pub program: Program,
}

/// A column of the table of probes.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeColumn {
    /// Its name without the unit: `arm.angle`.
    pub name: String,
    /// Its unit; empty if it has none, or none that is known.
    pub unit: String,
    /// The quantity, by its place in [`Observables::list`].
    pub place: usize,
    /// Whether it is of a step, and not of a moment: a force, which there is none of before the
    /// first step.
    pub of_step: bool,
}

/// All quantities that a scene asks for.
#[derive(Clone, Debug, Default)]
pub struct Observables {
    /// Numbers that change while the scene runs, with their values at the start: parameters, and
    /// behind them readings of sensors, commands and outputs of actuators.
    pub variables: Vec<(String, f64)>,
    /// How many of the variables are parameters.
    pub parameters: usize,
    /// The quantities; each is made of those before it.
    pub list: Vec<Observable>,
    /// The quantities that are expressions.
    pub expressions: Vec<NamedExpression>,
    /// Pairs of sides of contacts, each a sorted list of colliders by their places in the world.
    pub contacts: Vec<[Vec<u32>; 2]>,
    /// The table of probes.
    pub columns: Vec<ProbeColumn>,
    /// Steps per line of the table.
    pub every: usize,
}

impl Observables {
    /// Says whether a quantity is of a step, and not of a moment.
    pub fn is_of_step(&self, place: usize) -> bool {
        match self.list.get(place) {
            Some(Observable::Force { .. } | Observable::Wrench { .. } | Observable::Contact { .. }) => true,
            Some(Observable::Field { of_step, .. } | Observable::Variable { of_step, .. }) => *of_step,
            Some(Observable::Expression(index)) => {
                let before = self.expressions[*index].program.places();
                before
                    .filter_map(|free| free.checked_sub(self.free()))
                    .any(|before| before < place && self.is_of_step(before))
            }
            _ => false,
        }
    }

    /// How many values expressions have ahead of the quantities: the time and the variables.
    pub fn free(&self) -> usize {
        self.variables.len().saturating_add(1)
    }
}
