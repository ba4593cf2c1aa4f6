//! The problem: nodes, mappings and what is attached to them.

mod build;
mod friction;
mod removal;
mod shared;

pub use friction::ReactionFriction;
pub use removal::check_removal;
pub(crate) use shared::SharedElements;
pub use shared::{ElementShare, Kept, Processes};

use std::collections::HashMap;
use std::sync::Arc;

use crate::validate::{check_all_finite, check_size};
use crate::{
    Field, ForceField, Mapping, Mass, ModelError, Momentum, Parameters, Parents, PrescribedMotion, RowLaw,
    Space, State,
};

/// A node of the mapping graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// Index in [`Model::nodes`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// An element of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ElementIndex {
    /// Index in [`Model::nodes`].
    pub node: usize,
    /// Index among the elements of the node.
    pub element: usize,
}

/// Something attached to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ComponentId {
    /// Index in [`Model::masses`].
    Mass(usize),
    /// Index in [`Model::force_fields`].
    ForceField(usize),
    /// Index in [`Model::constraints`].
    Constraint(usize),
}

/// How a force field enters the system.
///
/// **Equation.** As a stiffness it adds `h alpha B + h^2 alpha beta K` to `W`; as a compliance it
/// gives rows with `C lambda = -(phi + d dphi/dt)`, `C = K^-1` (theory/notation.md of the book).
/// Both are the same step, to rounding on linear mappings.
///
/// **Use.** `Auto` where the stiffness may become large, or is not known beforehand; `Compliance`
/// for what is nearly or quite hard, and for what is driven or bounded; `Stiffness` for fields over
/// many degrees of freedom and for what has no compliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "treatment")
)]
pub enum Treatment {
    /// As a stiffness in the response matrix: cheap for soft springs.
    Stiffness,
    /// As compliant rows: exact down to compliance zero.
    Compliance,
    /// As what suits it better, chosen by the stepper from the stiffness, the masses and the step,
    /// and reported.
    Auto,
}

/// How a hard constraint is kept.
///
/// **Equation.** The continuous constraint is `phi(x) = 0` with `dphi/dt = J v`; the row says how
/// the step holds it, with the multiplier `lambda` (N, N m) as the force. The rows as they enter
/// the system are in theory/notation.md of the book. `beta` is the weight of the end of the step in
/// velocities, `h` (s) the step, `v+` the velocity at its end.
///
/// **Use.** `Position` unless there is a reason: `CurvedPosition` for accurate smooth motion,
/// `Velocity` with stabilisation and for what has a speed and no place (motors, friction),
/// `Restitution` for an impact, `Baumgarte` to compare with other programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// `phi + h (beta J v+ + (1 - beta) J v) = 0`: the linearised constraint holds at the end of
    /// the step.
    Position,
    /// The row of `Position` with the curvature of the constraint,
    /// `phi + h (beta J v+ + (1 - beta) J v) + h^2/2 (dJ/dt) v = 0`: drift is third instead of
    /// second order in `h`. For smooth motion; where bodies jitter by more than about a radian per
    /// step the extrapolated curvature is worth less than none.
    CurvedPosition,
    /// `J v+ = -s h (dJ/dt) v` with the curvature factor `s`: drift is left to stabilisation.
    /// `s = 1/2` makes the drift second order where positions move by `h v+`; `s = 0` is the plain
    /// velocity row.
    Velocity {
        /// The factor `s` (none).
        curvature: f64,
    },
    /// `J v+ = -e J v` (Newton's law of impact, for one step that holds an impact): the row turns
    /// its velocity round.
    Restitution {
        /// The coefficient `e` (none), between 0 and 1.
        coefficient: f64,
    },
    /// `J v+ = -rate phi`: the violation decays by `1 - rate h` per step, stable for
    /// `0 < rate h < 2`.
    Baumgarte {
        /// The rate (1/s).
        rate: f64,
    },
}

/// Where the positions of a node come from.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Degrees of freedom, numbered from `first_dof` among all independent ones.
    Independent {
        /// First velocity coordinate.
        first_dof: usize,
        /// Initial positions.
        positions: Vec<f64>,
        /// Initial velocities (bodies: angular in body axes).
        velocities: Vec<f64>,
    },
    /// A function of earlier nodes.
    Mapped {
        /// The function.
        mapping: Arc<dyn Mapping>,
        /// Its arguments.
        parents: Vec<NodeId>,
        /// First position, first velocity and space of each parent.
        ranges: Vec<(usize, usize, Space)>,
    },
}

/// One node: a run of elements of one space.
#[derive(Clone, Debug)]
pub struct Node {
    /// The user's name.
    pub name: String,
    /// Space of each element.
    pub space: Space,
    /// Number of elements.
    pub count: usize,
    /// First number in [`State::positions`].
    pub first_position: usize,
    /// First number in [`State::velocities`].
    pub first_velocity: usize,
    /// Independent or mapped.
    pub kind: NodeKind,
    /// Whether its numbers are amplitudes ([`Model::add_amplitudes`]), and no places.
    pub is_amplitudes: bool,
}

impl Node {
    /// Its range of [`State::positions`].
    pub fn position_range(&self) -> std::ops::Range<usize> {
        self.first_position..self.first_position + self.count * self.space.position_size()
    }

    /// Its range of [`State::velocities`].
    pub fn velocity_range(&self) -> std::ops::Range<usize> {
        self.first_velocity..self.first_velocity + self.count * self.space.velocity_size()
    }

    /// Whether its elements are somewhere: points of space and bodies, but not amplitudes.
    pub fn is_placed(&self) -> bool {
        matches!(self.space, Space::Rigid3 | Space::Real(3)) && !self.is_amplitudes
    }

    /// First independent degree of freedom, if the node is independent.
    pub fn first_dof(&self) -> Option<usize> {
        match self.kind {
            NodeKind::Independent { first_dof, .. } => Some(first_dof),
            NodeKind::Mapped { .. } => None,
        }
    }
}

/// A component on a node.
#[derive(Clone, Debug)]
pub struct Attachment<T> {
    /// The user's name.
    pub name: String,
    /// Where it acts.
    pub node: NodeId,
    /// The component.
    pub component: T,
}

/// A force field.
#[derive(Clone, Debug)]
pub struct ForceFieldEntry {
    /// The law.
    pub law: Arc<dyn ForceField>,
    /// Whether the treatment may be chosen anew.
    pub automatic: bool,
    /// Its range of [`Parameters::inputs`].
    pub inputs: std::ops::Range<usize>,
    /// Its range of [`State::internal`]; empty for a law without memory.
    pub internal: std::ops::Range<usize>,
}

/// A hard constraint.
#[derive(Clone, Debug)]
pub struct ConstraintEntry {
    /// How it is kept.
    pub level: Level,
    /// Friction by which the force of others bounds its own, if it has any.
    pub friction: Option<ReactionFriction>,
    /// Coefficient `e` of Newton's law of impact (none), of a row that holds a position on one side.
    pub restitution: f64,
}

/// Damping in proportion to all masses and stiffnesses of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rayleigh {
    /// Rate `a` of `a M` (1/s).
    pub mass: f64,
    /// Time `b` of `b K` (s), with the stiffness of the materials, without geometric stiffness.
    pub stiffness: f64,
}

/// A mass.
pub type MassEntry = Attachment<Mass>;

/// The rows of one compliant force field or hard constraint: all coordinates of its node, element
/// by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowGroup {
    /// The component.
    pub component: ComponentId,
    /// The node whose coordinates are the rows.
    pub node: NodeId,
    /// First row.
    pub first_row: usize,
    /// Rows per element.
    pub size: usize,
    /// Number of elements.
    pub count: usize,
}

/// The two bodies that a joint holds together, by node and element.
pub type Joined = [(NodeId, usize); 2];

/// A mechanical model: the structure of a problem, and the values that its parameters begin with.
/// It does not change while it is simulated.
///
/// **Equation.** `M dv/dt = f + J^T lambda` with one row of `J` for each coordinate that a hard
/// constraint holds or a compliance acts on: `C lambda = -(phi + d dphi/dt)`, and `phi = 0` where
/// the compliance is zero.
///
/// **Use.** Its methods add nodes, masses, force fields and constraints, and set initial values. A
/// [`Problem`](crate::Problem) shares it and has the present values.
#[derive(Debug, Default)]
pub struct Model {
    nodes: Vec<Node>,
    /// Places of nodes and components by name; only looked up, never iterated.
    node_names: HashMap<String, NodeId>,
    component_names: HashMap<String, ComponentId>,
    masses: Vec<MassEntry>,
    force_fields: Vec<Attachment<ForceFieldEntry>>,
    constraints: Vec<Attachment<ConstraintEntry>>,
    /// Components that may have rows, in the order in which they were added.
    row_order: Vec<ComponentId>,
    joined: Vec<Joined>,
    initial: Parameters,
    rayleigh: Rayleigh,
    fixed: Vec<bool>,
    positions: usize,
    velocities: usize,
    internal: usize,
    /// Where elements are shared out among processes.
    shared: Option<SharedElements>,
}

impl Model {
    /// An empty model without gravity.
    pub fn new() -> Self {
        Self::default()
    }

    /// The values that its parameters begin with.
    pub fn initial_parameters(&self) -> &Parameters {
        &self.initial
    }

    /// Damping in proportion to all masses and stiffnesses.
    pub fn rayleigh(&self) -> Rayleigh {
        self.rayleigh
    }

    /// Bodies that do not collide, since [joints](crate::Joint) hold them together: the two of each
    /// joint, in the order in which they were added, but for joints that are
    /// [`colliding`](crate::Joint::colliding).
    pub fn joined(&self) -> &[Joined] {
        &self.joined
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The names of all nodes for the model, in the order of [`nodes`](Self::nodes).
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// One node.
    ///
    /// # Panics
    /// If the id belongs to another model with more nodes.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// The node of this name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.node_names.get(name).copied()
    }

    /// All masses.
    pub fn masses(&self) -> &[MassEntry] {
        &self.masses
    }

    /// All force fields.
    pub fn force_fields(&self) -> &[Attachment<ForceFieldEntry>] {
        &self.force_fields
    }

    /// All hard constraints.
    pub fn constraints(&self) -> &[Attachment<ConstraintEntry>] {
        &self.constraints
    }

    /// Components that may have rows, in the order in which they were added.
    pub(crate) fn row_order(&self) -> &[ComponentId] {
        &self.row_order
    }

    /// The law of a group's rows as a compliance; `None` for a hard constraint.
    pub fn row_law(&self, group: &RowGroup) -> RowLaw {
        match group.component {
            ComponentId::ForceField(i) => self.force_fields[i].component.law.row_law(),
            _ => RowLaw::None,
        }
    }

    /// Relaxation time of a coordinate of a force field as a compliance (s), with the
    /// stiffness-proportional damping of the model.
    pub fn relaxation_time(&self, force_field: usize, coordinate: usize) -> f64 {
        self.force_fields[force_field]
            .component
            .law
            .relaxation_time(coordinate)
            + self.rayleigh.stiffness
    }

    /// Number of independent velocity coordinates.
    pub fn dof_count(&self) -> usize {
        self.fixed.len()
    }

    /// Numbers in [`State::velocities`]: of all nodes.
    pub fn velocity_count(&self) -> usize {
        self.velocities
    }

    /// Which independent coordinates are fixed from the start.
    pub fn fixed(&self) -> &[bool] {
        &self.fixed
    }

    /// The component of this name.
    pub fn component_named(&self, name: &str) -> Option<ComponentId> {
        self.component_names.get(name).copied()
    }

    /// The user's name of a component.
    pub fn component_name(&self, id: ComponentId) -> &str {
        match id {
            ComponentId::Mass(i) => &self.masses[i].name,
            ComponentId::ForceField(i) => &self.force_fields[i].name,
            ComponentId::Constraint(i) => &self.constraints[i].name,
        }
    }

    /// A degree of freedom in words.
    pub fn describe_dof(&self, dof: usize) -> String {
        let owner = self
            .nodes
            .iter()
            .rev()
            .find(|n| n.first_dof().is_some_and(|f| f <= dof && n.count > 0));
        let Some((node, first)) = owner.and_then(|n| Some((n, n.first_dof()?))) else {
            return format!("degree of freedom {dof}");
        };
        let size = node.space.velocity_size();
        let axis = match (size, (dof - first) % size) {
            (1, _) => "",
            (_, 0) => ", x",
            (_, 1) => ", y",
            (_, 2) => ", z",
            (_, 3) => ", rotation about body x",
            (_, 4) => ", rotation about body y",
            _ => ", rotation about body z",
        };
        format!("`{}`, element {}{axis}", node.name, (dof - first) / size)
    }

    /// The initial state, mapped nodes included.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where a mapping is not defined.
    pub fn initial_state(&self) -> Result<State, ModelError> {
        let mut state = State {
            positions: vec![0.0; self.positions],
            velocities: vec![0.0; self.velocities],
            internal: vec![0.0; self.internal],
        };
        for node in &self.nodes {
            if let NodeKind::Independent {
                positions,
                velocities,
                ..
            } = &node.kind
            {
                state.positions[node.position_range()].copy_from_slice(positions);
                state.velocities[node.velocity_range()].copy_from_slice(velocities);
            }
        }
        self.propagate(&mut state)?;
        self.begin_memory(&mut state);
        Ok(state)
    }

    /// Makes the propagated state one without a past: the internal variables of force fields with a
    /// memory begin anew.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn begin_memory(&self, state: &mut State) {
        for field in &self.force_fields {
            let node = self.node(field.node);
            if let Some(memory) = field.component.law.memory() {
                let internal = &mut state.internal[field.component.internal.clone()];
                memory.begin(node.space, &state.positions[node.position_range()], internal);
            }
        }
    }

    /// Numbers in [`State::internal`]: zero if no force field has a memory.
    pub fn internal_count(&self) -> usize {
        self.internal
    }

    /// The name of a force field with a memory, if there is one.
    pub fn first_memory(&self) -> Option<&str> {
        let mut fields = self.force_fields.iter();
        let found = fields.find(|f| f.component.law.memory().is_some());
        found.map(|f| f.name.as_str())
    }

    /// The name of a force field that yields ([`Memory::yields`](crate::Memory::yields)), if there
    /// is one.
    pub fn first_yielding(&self) -> Option<&str> {
        let mut fields = self.force_fields.iter();
        let found = fields.find(|f| f.component.law.memory().is_some_and(crate::Memory::yields));
        found.map(|f| f.name.as_str())
    }

    /// Computes positions of all mapped nodes from the independent ones, and velocities by the
    /// mappings' Jacobians. Allocates; the stepper uses [`Evaluation`](crate::Evaluation), which
    /// does not.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where a mapping is not defined, [`ModelError::State`] for a state
    /// of another model.
    pub fn propagate(&self, state: &mut State) -> Result<(), ModelError> {
        crate::Evaluation::new(self).propagate(self, state)
    }

    /// Checks that a state fits the model and is finite, and normalises the quaternions of
    /// independent bodies.
    ///
    /// # Errors
    /// [`ModelError::State`], [`ModelError::NotFinite`], [`ModelError::ZeroQuaternion`].
    pub fn normalize(&self, state: &mut State) -> Result<(), ModelError> {
        for (what, expected, found) in [
            ("positions", self.positions, state.positions.len()),
            ("velocities", self.velocities, state.velocities.len()),
            ("internal variables", self.internal, state.internal.len()),
        ] {
            if expected != found {
                return Err(ModelError::State {
                    what,
                    expected,
                    found,
                });
            }
        }
        for node in self.nodes.iter().filter(|n| n.first_dof().is_some()) {
            check_all_finite(
                &node.name,
                Field::Positions,
                &state.positions[node.position_range()],
            )?;
            check_all_finite(
                &node.name,
                Field::Velocities,
                &state.velocities[node.velocity_range()],
            )?;
            if node.space == Space::Rigid3 {
                build::normalize_rotations(&node.name, &mut state.positions[node.position_range()])?;
            }
        }
        for field in &self.force_fields {
            let internal = &state.internal[field.component.internal.clone()];
            check_all_finite(&field.name, Field::InternalVariables, internal)?;
        }
        Ok(())
    }

    /// Momentum of all masses of points of space, of the plane (z = 0) and bodies. The state must
    /// be propagated.
    pub fn momentum(&self, state: &State) -> Momentum {
        Momentum::of(self, state)
    }

    /// Positions of a node.
    ///
    /// # Panics
    /// If the state or node belongs to another model.
    pub fn positions<'a>(&self, state: &'a State, node: NodeId) -> &'a [f64] {
        &state.positions[self.node(node).position_range()]
    }

    /// Velocities of a node (bodies: angular in body axes).
    ///
    /// # Panics
    /// If the state or node belongs to another model.
    pub fn velocities<'a>(&self, state: &'a State, node: NodeId) -> &'a [f64] {
        &state.velocities[self.node(node).velocity_range()]
    }

    /// Sets damping in proportion to all masses and stiffnesses: `B = a M + b K`, with the rate `a`
    /// (1/s) and the time `b` (s).
    ///
    /// # Errors
    /// [`ModelError::NotFinite`], [`ModelError::OutOfRange`].
    pub fn set_rayleigh(&mut self, rayleigh: Rayleigh) -> Result<(), ModelError> {
        let name = "Rayleigh damping";
        crate::validate::check_not_negative(name, Field::MassRate, rayleigh.mass)?;
        crate::validate::check_not_negative(name, Field::StiffnessTime, rayleigh.stiffness)?;
        self.rayleigh = rayleigh;
        Ok(())
    }

    /// Drives a hard constraint or a compliance: its coordinates are held at the motion instead of
    /// at zero, `phi(x) = g(t)`.
    ///
    /// # Errors
    /// [`ModelError::Size`], [`ModelError::NotFinite`], [`ModelError::NotRows`].
    pub fn set_motion(
        &mut self,
        component: ComponentId,
        motion: Option<PrescribedMotion>,
    ) -> Result<(), ModelError> {
        self.set_initial(|model, values| values.set_motion(model, component, motion))
    }

    /// Bounds the force of each row of a hard constraint or a compliance (N, N m),
    /// `lower <= lambda <= upper`: a motor that gives no more, dry friction, a limit. At a bound
    /// the row is let go in that direction.
    ///
    /// # Errors
    /// [`ModelError::Bounds`] if `lower > upper` or one is NaN, [`ModelError::NotRows`].
    pub fn set_bounds(&mut self, component: ComponentId, lower: f64, upper: f64) -> Result<(), ModelError> {
        self.set_initial(|model, values| values.set_bounds(model, component, (lower, upper)))
    }

    /// Gives the rows of a constraint dry friction in proportion to a reaction; they must hold a
    /// velocity ([`Level::Velocity`]), and what presses must be a constraint or a compliance.
    ///
    /// # Errors
    /// [`ModelError::NotRows`], [`ModelError::Friction`], [`ModelError::Size`],
    /// [`ModelError::NotFinite`] and [`ModelError::OutOfRange`] with the name of the constraint.
    pub fn set_friction(
        &mut self,
        component: ComponentId,
        friction: ReactionFriction,
    ) -> Result<(), ModelError> {
        friction::give(self, component, friction)
    }

    /// The friction of the rows of a component, if it follows a reaction.
    pub fn friction(&self, component: ComponentId) -> Option<&ReactionFriction> {
        match component {
            ComponentId::Constraint(i) => self.constraints[i].component.friction.as_ref(),
            _ => None,
        }
    }

    /// Gives the rows of a constraint that hold positions on one side, by bounds on their force, a
    /// coefficient `e` of restitution (none): what comes in with a velocity `w` leaves with `-e w`,
    /// Newton's law of impact. Rows of two sides have no impacts, and take no note of it.
    ///
    /// # Errors
    /// [`ModelError::NotRows`], [`ModelError::OutOfRange`] with the name of the constraint.
    pub fn set_restitution(&mut self, component: ComponentId, coefficient: f64) -> Result<(), ModelError> {
        friction::give_restitution(self, component, coefficient)
    }

    /// Compliances whose damping is given by a ratio `zeta` (none) so far, which damps nothing: what
    /// is damped by it needs the masses, which a simulation knows at its start.
    pub fn damping_ratios(&self) -> impl Iterator<Item = (ComponentId, f64)> + '_ {
        let ratio = |(i, entry): (usize, &Attachment<ForceFieldEntry>)| {
            (ComponentId::ForceField(i), entry.component.law.damping_ratio())
        };
        let all = self.force_fields.iter().enumerate().map(ratio);
        all.filter(|(_, ratio)| *ratio > 0.0)
    }

    /// Gives a compliance relaxation times (s), one for each coordinate of its node, instead of its
    /// damping ratio.
    ///
    /// # Errors
    /// [`ModelError::NotRows`] for other components, [`ModelError::Size`], and what the force field
    /// says of the times; it then keeps the old ones.
    pub fn set_relaxation_times(&mut self, component: ComponentId, times: &[f64]) -> Result<(), ModelError> {
        let name = self.component_name(component).to_owned();
        let (name_of, action) = (|| name.clone(), "given relaxation times");
        let ComponentId::ForceField(i) = component else {
            let name = name_of();
            return Err(ModelError::NotRows { name, action });
        };
        let node = self.node(self.force_fields[i].node);
        let (space, count) = (node.space, node.count);
        let expected = space.velocity_size() * count;
        check_size(
            &name,
            Field::RelaxationTimes,
            "relaxation times",
            expected,
            times.len(),
        )?;
        let Some(law) = self.force_fields[i].component.law.with_times(times) else {
            let name = name_of();
            return Err(ModelError::NotRows { name, action });
        };
        law.check(&name, space, count)?;
        self.force_fields[i].component.law = law.into();
        Ok(())
    }

    /// Sets an input of a force field, such as an activation.
    ///
    /// # Errors
    /// [`ModelError::NotRows`] for other components, [`ModelError::Size`] if there is no such
    /// input, [`ModelError::NotFinite`], or what the force field says of the value; it then keeps
    /// the old one.
    pub fn set_input(&mut self, component: ComponentId, input: usize, value: f64) -> Result<(), ModelError> {
        self.set_initial(|model, values| values.set_input(model, component, input, value))
    }

    /// Changes the initial values with an eye on the rest.
    fn set_initial<T>(&mut self, change: impl FnOnce(&Self, &mut Parameters) -> T) -> T {
        let mut values = std::mem::take(&mut self.initial);
        let out = change(self, &mut values);
        self.initial = values;
        out
    }

    /// The parents of a mapped node, as seen in a state.
    pub(crate) fn parents<'a>(
        &self,
        ranges: &'a [(usize, usize, Space)],
        positions: &'a [f64],
        velocities: &'a [f64],
    ) -> Parents<'a> {
        Parents::new(positions, velocities, ranges)
    }
}
