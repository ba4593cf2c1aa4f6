//! The problem: nodes, mappings and what is attached to them.

use crate::{Blocks, ForceField, Mapping, Mass, ModelError, Parents, Pose, Space, State};
use pliant_dense::rotation;

/// A node of the mapping graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// Place in [`Model::nodes`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// Something attached to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ComponentId {
    /// Place in [`Model::masses`].
    Mass(usize),
    /// Place in [`Model::force_fields`].
    ForceField(usize),
    /// Place in [`Model::constraints`].
    Constraint(usize),
}

/// How a force field enters the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// As a stiffness in the response matrix: cheap for soft springs.
    Stiffness,
    /// As compliant rows: exact down to compliance zero.
    Compliance,
}

/// How a hard constraint is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// `phi + h (beta J v+ + (1 - beta) J v) = 0`: the linearised constraint holds at the end of the step.
    Position,
    /// The same with the curvature of the constraint, `phi + h (beta J v+ + (1 - beta) J v) + h^2/2 (dJ/dt) v = 0`: drift is third
    /// instead of second order in `h`. For smooth motion; where bodies jitter by more than about a radian per step the
    /// extrapolated curvature is worth less than none.
    CurvedPosition,
    /// `J v+ = -s h (dJ/dt) v` with the curvature factor `s`: drift is left to stabilisation. `s = 1/2` makes the drift
    /// second order where positions move by `h v+`; `s = 0` is the plain velocity row.
    Velocity {
        /// The factor `s`.
        curvature: f64,
    },
    /// `J v+ = -rate phi`: the violation decays by `1 - rate h` per step, stable for `0 < rate h < 2`.
    Baumgarte {
        /// The rate [1/s].
        rate: f64,
    },
}

/// Where the positions of a node come from.
#[derive(Debug)]
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
        mapping: Box<dyn Mapping>,
        /// Its arguments.
        parents: Vec<NodeId>,
        /// First position, first velocity and space of each parent.
        ranges: Vec<(usize, usize, Space)>,
    },
}

/// One node: a run of elements of one space.
#[derive(Debug)]
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

    /// First independent degree of freedom, if the node is independent.
    pub fn first_dof(&self) -> Option<usize> {
        match self.kind {
            NodeKind::Independent { first_dof, .. } => Some(first_dof),
            NodeKind::Mapped { .. } => None,
        }
    }
}

/// A component on a node.
#[derive(Debug)]
pub struct Attachment<T> {
    /// The user's name.
    pub name: String,
    /// Where it acts.
    pub node: NodeId,
    /// What it is.
    pub component: T,
}

/// A force field and its treatment.
#[derive(Debug)]
pub struct ForceFieldEntry {
    /// The law.
    pub law: Box<dyn ForceField>,
    /// How it enters the system.
    pub treatment: Treatment,
}

/// A mass.
pub type MassEntry = Attachment<Mass>;

/// The rows of one compliant force field or hard constraint: all coordinates of its node, element by element.
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

/// A mechanical model: immutable while it is simulated.
#[derive(Debug, Default)]
pub struct Model {
    nodes: Vec<Node>,
    masses: Vec<MassEntry>,
    force_fields: Vec<Attachment<ForceFieldEntry>>,
    constraints: Vec<Attachment<Level>>,
    groups: Vec<RowGroup>,
    fixed: Vec<bool>,
    gravity: [f64; 3],
    positions: usize,
    velocities: usize,
    rows: usize,
}

impl Model {
    /// An empty model without gravity.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets gravity [m/s^2]. It acts on the masses of points of space and bodies, and on points of the plane by its first
    /// two coordinates; never on scalars.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`].
    pub fn set_gravity(&mut self, gravity: [f64; 3]) -> Result<(), ModelError> {
        check_finite("gravity", "a coordinate", &gravity)?;
        self.gravity = gravity;
        Ok(())
    }

    /// Gravity [m/s^2].
    pub fn gravity(&self) -> [f64; 3] {
        self.gravity
    }

    /// Adds particles at rest at the given positions (m).
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`].
    pub fn add_particles(&mut self, name: &str, positions: &[[f64; 3]]) -> Result<NodeId, ModelError> {
        self.add_independent(
            name,
            Space::Real3,
            positions.as_flattened(),
            &vec![0.0; 3 * positions.len()],
        )
    }

    /// Adds scalars at rest.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`].
    pub fn add_scalars(&mut self, name: &str, values: &[f64]) -> Result<NodeId, ModelError> {
        self.add_independent(name, Space::Real1, values, &vec![0.0; values.len()])
    }

    /// Adds rigid bodies at rest. Quaternions are normalised.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`], [`ModelError::ZeroQuaternion`].
    pub fn add_rigid_bodies(&mut self, name: &str, poses: &[Pose]) -> Result<NodeId, ModelError> {
        let positions: Vec<f64> = poses.iter().flat_map(Pose::numbers).collect();
        self.add_independent(name, Space::Rigid3, &positions, &vec![0.0; 6 * poses.len()])
    }

    /// Adds independent degrees of freedom with positions and velocities (bodies: linear velocity in world axes, angular in
    /// *body* axes; see [`set_body_velocity`](Self::set_body_velocity) for world axes).
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`], [`ModelError::Size`], [`ModelError::ZeroQuaternion`].
    pub fn add_independent(
        &mut self,
        name: &str,
        space: Space,
        positions: &[f64],
        velocities: &[f64],
    ) -> Result<NodeId, ModelError> {
        check_finite(name, "a position", positions)?;
        check_finite(name, "a velocity", velocities)?;
        let count = positions.len() / space.position_size();
        let sizes = [
            ("position numbers", count * space.position_size(), positions.len()),
            (
                "velocity numbers",
                count * space.velocity_size(),
                velocities.len(),
            ),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(ModelError::Size {
                    name: name.into(),
                    what,
                    expected,
                    found,
                });
            }
        }
        let mut positions = positions.to_vec();
        if space == Space::Rigid3 {
            for (element, x) in positions.as_chunks_mut::<7>().0.iter_mut().enumerate() {
                let q = rotation::normalize(crate::space::quaternion(x)).ok_or_else(|| {
                    ModelError::ZeroQuaternion {
                        name: name.into(),
                        element,
                    }
                })?;
                x[3..].copy_from_slice(&q);
            }
        }
        let first_dof = self.fixed.len();
        let kind = NodeKind::Independent {
            first_dof,
            positions,
            velocities: velocities.to_vec(),
        };
        let id = self.push(name, space, count, kind)?;
        self.fixed
            .resize(first_dof + count * space.velocity_size(), false);
        Ok(id)
    }

    /// Adds a node computed from others.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::UnknownNode`], or what the mapping finds wrong with its parents.
    pub fn add_mapped(
        &mut self,
        name: &str,
        parents: &[NodeId],
        mapping: impl Mapping + 'static,
    ) -> Result<NodeId, ModelError> {
        self.add_boxed_mapped(name, parents, Box::new(mapping))
    }

    /// [`add_mapped`](Self::add_mapped) for a mapping chosen at run time.
    ///
    /// # Errors
    /// As [`add_mapped`](Self::add_mapped).
    pub fn add_boxed_mapped(
        &mut self,
        name: &str,
        parents: &[NodeId],
        mapping: Box<dyn Mapping>,
    ) -> Result<NodeId, ModelError> {
        let mut shapes = Vec::new();
        let mut ranges = Vec::new();
        for parent in parents {
            let node = self.checked(name, *parent)?;
            shapes.push((node.space, node.count));
            ranges.push((node.first_position, node.first_velocity, node.space));
        }
        mapping.check(name, &shapes)?;
        let (space, count) = mapping.child();
        self.push(
            name,
            space,
            count,
            NodeKind::Mapped {
                mapping,
                parents: parents.to_vec(),
                ranges,
            },
        )
    }

    fn push(&mut self, name: &str, space: Space, count: usize, kind: NodeKind) -> Result<NodeId, ModelError> {
        if self.nodes.iter().any(|n| n.name == name) {
            return Err(ModelError::DuplicateName { name: name.into() });
        }
        let (first_position, first_velocity) = (self.positions, self.velocities);
        self.positions += count * space.position_size();
        self.velocities += count * space.velocity_size();
        self.nodes.push(Node {
            name: name.into(),
            space,
            count,
            first_position,
            first_velocity,
            kind,
        });
        Ok(NodeId(self.nodes.len() - 1))
    }

    fn checked(&self, name: &str, node: NodeId) -> Result<&Node, ModelError> {
        self.nodes.get(node.0).ok_or_else(|| ModelError::UnknownNode {
            name: name.into(),
            node: node.0,
        })
    }

    fn check_component_name(&self, name: &str) -> Result<(), ModelError> {
        let masses = self.masses.iter().map(|a| &a.name);
        let fields = self.force_fields.iter().map(|a| &a.name);
        let constraints = self.constraints.iter().map(|a| &a.name);
        if masses.chain(fields).chain(constraints).any(|n| n == name) {
            return Err(ModelError::DuplicateName { name: name.into() });
        }
        Ok(())
    }

    /// Attaches a mass to a node, independent or mapped.
    ///
    /// # Errors
    /// [`ModelError`] naming the mass and what is wrong with it.
    pub fn add_mass(&mut self, name: &str, node: NodeId, mass: Mass) -> Result<ComponentId, ModelError> {
        self.check_component_name(name)?;
        let target = self.checked(name, node)?;
        mass.check(name, target.space, target.count)?;
        if matches!(mass, Mass::Rigid(_)) && target.first_dof().is_none() {
            return Err(ModelError::NotIndependent {
                name: target.name.clone(),
                action: "given a rigid mass",
            });
        }
        self.masses.push(Attachment {
            name: name.into(),
            node,
            component: mass,
        });
        Ok(ComponentId::Mass(self.masses.len() - 1))
    }

    /// Attaches a force field to a node.
    ///
    /// # Errors
    /// [`ModelError`] naming the force field: bad parameters, or a treatment that it has no form for.
    pub fn add_force_field(
        &mut self,
        name: &str,
        node: NodeId,
        law: impl ForceField + 'static,
        treatment: Treatment,
    ) -> Result<ComponentId, ModelError> {
        self.check_component_name(name)?;
        let target = self.checked(name, node)?;
        let (space, count) = (target.space, target.count);
        law.check(name, space, count)?;
        let size = space.velocity_size();
        let mut blocks = Blocks::new(std::iter::repeat_n((size, size), count));
        let id = ComponentId::ForceField(self.force_fields.len());
        match treatment {
            Treatment::Compliance => {
                if space == Space::Rigid3 {
                    return Err(ModelError::Space {
                        name: name.into(),
                        expected: "scalars or points",
                        found: space,
                    });
                }
                law.compliance(&mut blocks)
                    .map_err(|_| ModelError::NoCompliance { name: name.into() })?;
                self.push_rows(id, node, size, count);
            }
            Treatment::Stiffness => {
                if let NodeKind::Independent { positions, .. } = &target.kind {
                    law.stiffness(positions, &mut blocks)
                } else {
                    law.stiffness(&vec![0.0; count * space.position_size()], &mut blocks)
                }
                .map_err(|e| ModelError::NotInvertible {
                    name: name.into(),
                    element: e.element,
                })?;
            }
        }
        let component = ForceFieldEntry {
            law: Box::new(law),
            treatment,
        };
        self.force_fields.push(Attachment {
            name: name.into(),
            node,
            component,
        });
        Ok(id)
    }

    /// Holds all coordinates of a node at zero, exactly (compliance zero).
    ///
    /// # Errors
    /// [`ModelError`] naming the constraint.
    pub fn add_constraint(
        &mut self,
        name: &str,
        node: NodeId,
        level: Level,
    ) -> Result<ComponentId, ModelError> {
        self.check_component_name(name)?;
        let target = self.checked(name, node)?;
        let (space, count) = (target.space, target.count);
        if space == Space::Rigid3 {
            return Err(ModelError::Space {
                name: name.into(),
                expected: "scalars or points",
                found: space,
            });
        }
        match level {
            Level::Velocity { curvature } => check_finite(name, "the curvature factor", &[curvature])?,
            Level::Baumgarte { rate } if !(rate > 0.0 && rate.is_finite()) => {
                return Err(ModelError::OutOfRange {
                    name: name.into(),
                    what: "the rate",
                    value: rate,
                    bound: "positive",
                });
            }
            _ => {}
        }
        let id = ComponentId::Constraint(self.constraints.len());
        self.push_rows(id, node, space.velocity_size(), count);
        self.constraints.push(Attachment {
            name: name.into(),
            node,
            component: level,
        });
        Ok(id)
    }

    fn push_rows(&mut self, component: ComponentId, node: NodeId, size: usize, count: usize) {
        self.groups.push(RowGroup {
            component,
            node,
            first_row: self.rows,
            size,
            count,
        });
        self.rows += size * count;
    }

    /// Fixes chosen velocity coordinates of one element of an independent node (for bodies: three linear in world axes, then
    /// three angular in body axes). A fixed coordinate keeps its initial velocity.
    ///
    /// # Errors
    /// [`ModelError::NotIndependent`], [`ModelError::Element`], [`ModelError::Size`].
    pub fn fix(&mut self, node: NodeId, element: usize, coordinates: &[bool]) -> Result<(), ModelError> {
        let first = self.dofs_of(node, element, coordinates.len())?;
        for (k, fixed) in coordinates.iter().enumerate() {
            self.fixed[first + k] |= fixed;
        }
        Ok(())
    }

    /// First degree of freedom of one element of an independent node; `coordinates` must be as many as it has.
    ///
    /// # Errors
    /// As [`fix`](Self::fix).
    pub fn dofs_of(&self, node: NodeId, element: usize, coordinates: usize) -> Result<usize, ModelError> {
        let target = self.checked("a fixed node", node)?;
        let name = target.name.clone();
        let Some(first) = target.first_dof() else {
            return Err(ModelError::NotIndependent {
                name,
                action: "fixed",
            });
        };
        if element >= target.count {
            return Err(ModelError::Element {
                name,
                element,
                count: target.count,
            });
        }
        let expected = target.space.velocity_size();
        if coordinates != expected {
            return Err(ModelError::Size {
                name,
                what: "coordinates",
                expected,
                found: coordinates,
            });
        }
        Ok(first + element * expected)
    }

    /// Sets the initial velocity of one body: of its centre of mass [m/s] and angular [rad/s], both in world axes.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`], [`ModelError::Space`], [`ModelError::NotIndependent`], [`ModelError::Element`].
    pub fn set_body_velocity(
        &mut self,
        node: NodeId,
        element: usize,
        linear: [f64; 3],
        angular: [f64; 3],
    ) -> Result<(), ModelError> {
        self.dofs_of(node, element, 6)?;
        let Node {
            name, kind, space, ..
        } = &mut self.nodes[node.0];
        check_finite(name, "a velocity", &linear)?;
        check_finite(name, "an angular velocity", &angular)?;
        let NodeKind::Independent {
            positions,
            velocities,
            ..
        } = kind
        else {
            return Err(ModelError::NotIndependent {
                name: name.clone(),
                action: "given a velocity",
            });
        };
        if *space != Space::Rigid3 {
            return Err(ModelError::Space {
                name: name.clone(),
                expected: "rigid bodies",
                found: *space,
            });
        }
        let x = &positions.as_chunks::<7>().0[element];
        let body =
            rotation::matrix(crate::space::quaternion(x)).transpose() * pliant_dense::Vec3::from(angular);
        let v = &mut velocities.as_chunks_mut::<6>().0[element];
        v[..3].copy_from_slice(&linear);
        v[3..].copy_from_slice(body.as_slice());
        Ok(())
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
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
        self.nodes.iter().position(|n| n.name == name).map(NodeId)
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
    pub fn constraints(&self) -> &[Attachment<Level>] {
        &self.constraints
    }

    /// The constraint rows, in order.
    pub fn row_groups(&self) -> &[RowGroup] {
        &self.groups
    }

    /// Number of independent velocity coordinates.
    pub fn dof_count(&self) -> usize {
        self.fixed.len()
    }

    /// Number of constraint rows.
    pub fn row_count(&self) -> usize {
        self.rows
    }

    /// Numbers in [`State::velocities`]: of all nodes.
    pub fn velocity_count(&self) -> usize {
        self.velocities
    }

    /// Which independent coordinates are fixed from the start.
    pub fn fixed(&self) -> &[bool] {
        &self.fixed
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

    /// A constraint row in words.
    pub fn describe_row(&self, row: usize) -> String {
        let Some(group) = self
            .groups
            .iter()
            .rev()
            .find(|g| g.first_row <= row && g.count > 0)
        else {
            return format!("row {row}");
        };
        let name = self.component_name(group.component);
        let axis = ["x", "y", "z"][((row - group.first_row) % group.size).min(2)];
        let element = (row - group.first_row) / group.size;
        if group.size == 1 {
            format!("`{name}`, element {element}")
        } else {
            format!("`{name}`, element {element}, {axis}")
        }
    }

    /// The initial state, mapped nodes included.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where a mapping is not defined.
    pub fn initial_state(&self) -> Result<State, ModelError> {
        let mut state = State {
            positions: vec![0.0; self.positions],
            velocities: vec![0.0; self.velocities],
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
        Ok(state)
    }

    /// Computes positions of all mapped nodes from the independent ones, and velocities by the mappings' Jacobians.
    /// Allocates; the stepper uses [`Evaluation`](crate::Evaluation), which does not.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where a mapping is not defined, [`ModelError::State`] for a state of another model.
    pub fn propagate(&self, state: &mut State) -> Result<(), ModelError> {
        crate::Evaluation::new(self).propagate(self, state)
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

fn check_finite(name: &str, what: &'static str, values: &[f64]) -> Result<(), ModelError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(value) => Err(ModelError::NotFinite {
            name: name.into(),
            what,
            value: *value,
        }),
        None => Ok(()),
    }
}
