//! Building a model: every addition is checked, and names what is wrong by the user's name for it.

use super::{
    Attachment, ComponentId, ConstraintEntry, ForceFieldEntry, Joined, Level, Model, Node, NodeId, NodeKind,
    Treatment,
};
use crate::dual::{Dual, LIMIT};
use crate::expression::{dual, hyper_dual};
use crate::validate::{check_all_finite, check_bound, check_finite, check_rigid, check_size, check_space};
use crate::{
    At, Coordinate, Expression, ExpressionCoordinates, Field, ForceField, Groups, Mapping, Mass, ModelError,
    Pose, Potential, RowLaw, Space,
};
use pliant_dense::rotation;
use pliant_expression::HyperDual;

impl Model {
    /// Sets gravity (m/s^2). It acts on the masses of points of space and bodies, and on points of
    /// the plane by its first two coordinates; never on scalars.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`].
    pub fn set_gravity(&mut self, gravity: [f64; 3]) -> Result<(), ModelError> {
        self.initial.set_gravity(gravity)
    }

    /// Adds particles at rest at the given positions (m).
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`].
    pub fn add_particles(&mut self, name: &str, positions: &[[f64; 3]]) -> Result<NodeId, ModelError> {
        self.add_independent(
            name,
            Space::Real(3),
            positions.as_flattened(),
            &vec![0.0; 3 * positions.len()],
        )
    }

    /// Adds scalars at rest.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`].
    pub fn add_scalars(&mut self, name: &str, values: &[f64]) -> Result<NodeId, ModelError> {
        self.add_independent(name, Space::Real(1), values, &vec![0.0; values.len()])
    }

    /// Adds rigid bodies at rest. Quaternions are normalised.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`], [`ModelError::ZeroQuaternion`].
    pub fn add_rigid_bodies(&mut self, name: &str, poses: &[Pose]) -> Result<NodeId, ModelError> {
        let positions: Vec<f64> = poses.iter().flat_map(Pose::numbers).collect();
        self.add_independent(name, Space::Rigid3, &positions, &vec![0.0; 6 * poses.len()])
    }

    /// Adds independent degrees of freedom with positions and velocities (bodies: linear velocity
    /// in world axes, angular in *body* axes; see [`set_body_velocity`](Self::set_body_velocity)
    /// for world axes).
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::NotFinite`], [`ModelError::Size`],
    /// [`ModelError::ZeroQuaternion`].
    pub fn add_independent(
        &mut self,
        name: &str,
        space: Space,
        positions: &[f64],
        velocities: &[f64],
    ) -> Result<NodeId, ModelError> {
        check_all_finite(name, Field::Positions, positions)?;
        check_all_finite(name, Field::Velocities, velocities)?;
        let count = positions.len() / space.position_size();
        let [expected, rates] = [space.position_size(), space.velocity_size()].map(|size| count * size);
        check_size(
            name,
            Field::Positions,
            "position numbers",
            expected,
            positions.len(),
        )?;
        check_size(
            name,
            Field::Velocities,
            "velocity numbers",
            rates,
            velocities.len(),
        )?;
        let mut positions = positions.to_vec();
        if space == Space::Rigid3 {
            normalize_rotations(name, &mut positions)?;
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

    /// Adds vectors of space at zero that are amplitudes of a deformation and no places: a shift of
    /// the whole does not change them, a turn turns them.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`].
    pub fn add_amplitudes(&mut self, name: &str, count: usize) -> Result<NodeId, ModelError> {
        let zeros = vec![0.0; 3 * count];
        let id = self.add_independent(name, Space::Real(3), &zeros, &zeros)?;
        self.nodes[id.0].is_amplitudes = true;
        Ok(id)
    }

    /// Adds a node computed from others.
    ///
    /// # Errors
    /// [`ModelError::DuplicateName`], [`ModelError::UnknownNode`], or what the mapping finds wrong
    /// with its parents.
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
        let mut list = Vec::new();
        for element in 0..count {
            list.clear();
            mapping.dependencies(element, &mut list);
            for at in &list {
                let found = crate::mappings::check_dependency(name, *at, &shapes)?;
                check_repeated(name, mapping.repeated(), found, space)?;
            }
        }
        self.push(
            name,
            space,
            count,
            NodeKind::Mapped {
                mapping: mapping.into(),
                parents: parents.to_vec(),
                ranges,
            },
        )
    }

    /// How much there is, to go back to with [`reset_to`](Self::reset_to) if a part of something
    /// larger is refused.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            force_fields: self.force_fields.len(),
            constraints: self.constraints.len(),
            positions: self.positions,
            velocities: self.velocities,
            internal: self.internal,
            joined: self.joined.len(),
        }
    }

    /// Lists what a joint holds together.
    pub(crate) fn join(&mut self, sides: Joined) {
        self.joined.push(sides);
    }

    /// Takes away mapped nodes, force fields and constraints that were added after the mark.
    pub(crate) fn reset_to(&mut self, mark: Mark) {
        self.node_names.retain(|_, id| id.0 < mark.nodes);
        self.component_names.retain(|_, id| match *id {
            ComponentId::ForceField(i) => i < mark.force_fields,
            ComponentId::Constraint(i) => i < mark.constraints,
            ComponentId::Mass(_) => true,
        });
        self.nodes.truncate(mark.nodes);
        self.force_fields.truncate(mark.force_fields);
        self.constraints.truncate(mark.constraints);
        self.joined.truncate(mark.joined);
        (self.positions, self.velocities) = (mark.positions, mark.velocities);
        self.internal = mark.internal;
        self.row_order.retain(|id| match *id {
            ComponentId::ForceField(i) => i < mark.force_fields,
            ComponentId::Constraint(i) => i < mark.constraints,
            ComponentId::Mass(_) => true,
        });
        self.set_initial(|model, values| values.truncate(model));
    }

    fn push(&mut self, name: &str, space: Space, count: usize, kind: NodeKind) -> Result<NodeId, ModelError> {
        if self.node_names.contains_key(name) {
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
            is_amplitudes: false,
        });
        let id = NodeId(self.nodes.len() - 1);
        self.node_names.insert(name.into(), id);
        Ok(id)
    }

    pub(crate) fn checked(&self, name: &str, node: NodeId) -> Result<&Node, ModelError> {
        self.nodes.get(node.0).ok_or_else(|| ModelError::UnknownNode {
            name: name.into(),
            node: node.0,
        })
    }

    fn check_component_name(&self, name: &str) -> Result<(), ModelError> {
        match self.component_named(name) {
            Some(_) => Err(ModelError::DuplicateName { name: name.into() }),
            None => Ok(()),
        }
    }

    /// Attaches a mass to a node, independent or mapped.
    ///
    /// # Errors
    /// [`ModelError`] naming the mass and what is wrong with it.
    pub fn add_mass(&mut self, name: &str, node: NodeId, mass: Mass) -> Result<ComponentId, ModelError> {
        self.check_component_name(name)?;
        let target = self.checked(name, node)?;
        mass.check(name, target.space, target.count)?;
        self.masses.push(Attachment {
            name: name.into(),
            node,
            component: mass,
        });
        let id = ComponentId::Mass(self.masses.len() - 1);
        self.component_names.insert(name.into(), id);
        Ok(id)
    }

    /// Attaches a force field to a node.
    ///
    /// # Errors
    /// [`ModelError`] naming the force field: bad parameters, or a treatment that it has no form
    /// for.
    pub fn add_force_field(
        &mut self,
        name: &str,
        node: NodeId,
        law: impl ForceField + 'static,
        treatment: Treatment,
    ) -> Result<ComponentId, ModelError> {
        self.add_boxed_force_field(name, node, Box::new(law), treatment)
    }

    /// [`add_force_field`](Self::add_force_field) for a law chosen at run time.
    ///
    /// # Errors
    /// As [`add_force_field`](Self::add_force_field).
    pub fn add_boxed_force_field(
        &mut self,
        name: &str,
        node: NodeId,
        law: Box<dyn ForceField>,
        treatment: Treatment,
    ) -> Result<ComponentId, ModelError> {
        self.check_component_name(name)?;
        let target = self.checked(name, node)?;
        let (space, count) = (target.space, target.count);
        law.check(name, space, count)?;
        law.check_inputs(name, law.inputs())?;
        let groups = law.groups();
        groups.check(name, count)?;
        let rows = law.row_law() != RowLaw::None && law.memory().is_none() && space != Space::Rigid3;
        let elastic = law.row_law() == RowLaw::Elastic;
        let x = match &target.kind {
            NodeKind::Independent { positions, .. } => positions.clone(),
            NodeKind::Mapped { .. } => vec![0.0; count * space.position_size()],
        };
        let mut blocks = crate::mass::group_shapes(&groups, space, count);
        let at = At::new(space, &x).with_inputs(law.inputs());
        let infinite = law.stiffness(at, &mut blocks).err();
        let effective = match treatment {
            Treatment::Stiffness => Treatment::Stiffness,
            Treatment::Auto if infinite.is_none() => Treatment::Stiffness,
            Treatment::Auto | Treatment::Compliance => Treatment::Compliance,
        };
        match effective {
            Treatment::Compliance => {
                let fits = space != Space::Rigid3 || law.row_law() == RowLaw::None;
                check_space(name, "scalars or points", space, fits)?;
                blocks.clear();
                if rows {
                    law.compliance(at, &mut blocks);
                }
                let finite = (0..blocks.len()).all(|g| blocks.block(g).iter().all(|c| c.is_finite()));
                if !rows || !finite || !covers(&groups, count) {
                    return Err(ModelError::NoCompliance { name: name.into() });
                }
            }
            _ => {
                if let Some(e) = infinite {
                    return Err(ModelError::NotInvertible {
                        name: name.into(),
                        element: e.element,
                    });
                }
            }
        }
        let first_internal = self.internal;
        self.internal += law.memory().map_or(0, |m| m.size(count));
        let inputs = self.initial.push_force_field(effective, law.inputs());
        let component = ForceFieldEntry {
            law: law.into(),
            automatic: treatment == Treatment::Auto
                && infinite.is_none()
                && rows
                && elastic
                && covers(&groups, count),
            inputs,
            internal: first_internal..self.internal,
        };
        let id = ComponentId::ForceField(self.force_fields.len());
        self.force_fields.push(Attachment {
            name: name.into(),
            node,
            component,
        });
        self.component_names.insert(name.into(), id);
        self.row_order.push(id);
        self.set_initial(|model, values| values.list_rows_of(model, id));
        Ok(id)
    }

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
    /// # Ok::<(), pliant_model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// Errors of names, of coordinates that there are not, and of more than 48 of them. States
    /// where the expression has no value or no derivative are a [`ModelError::Degenerate`] later.
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

    /// Holds all coordinates of a node at zero, exactly: `phi = 0`, a compliance of zero.
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
        let space = target.space;
        check_space(name, "scalars or points", space, space != Space::Rigid3)?;
        match level {
            Level::Velocity { curvature } => check_finite(name, Field::Curvature, curvature)?,
            Level::Baumgarte { rate } => {
                let fits = rate > 0.0 && rate.is_finite();
                check_bound(name, Field::Rate, rate, "positive", fits)?;
            }
            Level::Restitution { coefficient } => {
                let fits = (0.0..=1.0).contains(&coefficient);
                check_bound(name, Field::Restitution, coefficient, "between 0 and 1", fits)?;
            }
            _ => {}
        }
        let id = ComponentId::Constraint(self.constraints.len());
        let component = ConstraintEntry {
            level,
            friction: None,
            restitution: 0.0,
        };
        self.initial.push_constraint();
        self.constraints.push(Attachment {
            name: name.into(),
            node,
            component,
        });
        self.component_names.insert(name.into(), id);
        self.row_order.push(id);
        self.set_initial(|model, values| values.list_rows_of(model, id));
        Ok(id)
    }

    /// Fixes chosen velocity coordinates of one element of an independent node (for bodies: three
    /// linear in world axes, then three angular in body axes). A fixed coordinate keeps its initial
    /// velocity, `v_i(t) = v_i(0)`.
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

    /// Gives chosen velocity coordinates of one element of an independent node a velocity at the
    /// start (m/s, rad/s; for bodies as [`fix`](Self::fix) has them).
    ///
    /// # Errors
    /// [`ModelError::NotIndependent`], [`ModelError::Element`], [`ModelError::Size`],
    /// [`ModelError::NotFinite`].
    pub fn set_velocity(
        &mut self,
        node: NodeId,
        element: usize,
        coordinates: &[bool],
        velocity: &[f64],
    ) -> Result<(), ModelError> {
        self.dofs_for("given a velocity", node, element, coordinates.len())?;
        let Node { name, kind, .. } = &mut self.nodes[node.0];
        let size = coordinates.len();
        check_size(name, Field::Velocities, "numbers", size, velocity.len())?;
        check_all_finite(name, Field::Velocities, velocity)?;
        let NodeKind::Independent { velocities, .. } = kind else {
            return Err(ModelError::NotIndependent {
                name: name.clone(),
                action: "given a velocity",
            });
        };
        let own = velocities[element * size..][..size].iter_mut();
        for ((v, new), _) in own.zip(velocity).zip(coordinates).filter(|c| *c.1) {
            *v = *new;
        }
        Ok(())
    }

    /// First degree of freedom of one element of an independent node; `coordinates` must be as many
    /// as it has.
    ///
    /// # Errors
    /// As [`fix`](Self::fix).
    pub fn dofs_of(&self, node: NodeId, element: usize, coordinates: usize) -> Result<usize, ModelError> {
        self.dofs_for("fixed", node, element, coordinates)
    }

    /// First degree of freedom of one element, as [`dofs_of`](Self::dofs_of) has it; `action` says
    /// in errors for what it is asked.
    fn dofs_for(
        &self,
        action: &'static str,
        node: NodeId,
        element: usize,
        coordinates: usize,
    ) -> Result<usize, ModelError> {
        let target = self.checked("a fixed node", node)?;
        let name = target.name.clone();
        let Some(first) = target.first_dof() else {
            return Err(ModelError::NotIndependent { name, action });
        };
        if element >= target.count {
            return Err(ModelError::Element {
                name,
                element,
                count: target.count,
            });
        }
        let expected = target.space.velocity_size();
        check_size(
            &name,
            Field::FixedCoordinates,
            "coordinates",
            expected,
            coordinates,
        )?;
        Ok(first + element * expected)
    }

    /// Sets the initial velocity of one body: of its centre of mass [m/s] and angular [rad/s], both
    /// in world axes.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`], [`ModelError::Space`], [`ModelError::NotIndependent`],
    /// [`ModelError::Element`].
    pub fn set_body_velocity(
        &mut self,
        node: NodeId,
        element: usize,
        linear: [f64; 3],
        angular: [f64; 3],
    ) -> Result<(), ModelError> {
        self.dofs_for("given a velocity", node, element, 6)?;
        let Node {
            name, kind, space, ..
        } = &mut self.nodes[node.0];
        check_all_finite(name, Field::Velocities, &linear)?;
        check_all_finite(name, Field::AngularVelocity, &angular)?;
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
        check_rigid(name, *space)?;
        let x = &positions.as_chunks::<7>().0[element];
        let body =
            rotation::matrix(crate::space::quaternion(x)).transpose() * pliant_dense::Vec3::from(angular);
        let v = &mut velocities.as_chunks_mut::<6>().0[element];
        v[..3].copy_from_slice(&linear);
        v[3..].copy_from_slice(body.as_slice());
        Ok(())
    }
}

/// The size of a model: nodes and components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    nodes: usize,
    force_fields: usize,
    constraints: usize,
    positions: usize,
    velocities: usize,
    internal: usize,
    joined: usize,
}

/// Whether the groups are runs of consecutive elements that cover the node in order.
fn covers(groups: &Groups, count: usize) -> bool {
    match groups {
        Groups::Each => true,
        Groups::Of(lists) => lists.iter().flatten().copied().eq(0..count),
    }
}

/// Normalises the quaternions of bodies; unit ones stay as they are, bit for bit.
pub(super) fn normalize_rotations(name: &str, positions: &mut [f64]) -> Result<(), ModelError> {
    for (element, x) in positions.as_chunks_mut::<7>().0.iter_mut().enumerate() {
        let q = crate::space::quaternion(x);
        let square: f64 = q.iter().map(|a| a * a).sum();
        if (square - 1.0).abs() > 4.0 * f64::EPSILON {
            let unit = rotation::normalize(q);
            let unit = unit.ok_or_else(|| ModelError::ZeroQuaternion {
                name: name.into(),
                element,
            })?;
            x[3..].copy_from_slice(&unit);
        }
    }
    Ok(())
}

/// Whether a mapping that says so can be one that repeats the coordinates of a parent.
fn check_repeated(
    name: &str,
    repeated: Option<usize>,
    parent: Space,
    child: Space,
) -> Result<(), ModelError> {
    let Some(m) = repeated else { return Ok(()) };
    let real = |space| if let Space::Real(size) = space { size } else { 0 };
    let wrong = |expected, found| {
        Err(ModelError::Space {
            name: name.into(),
            expected,
            found,
        })
    };
    match (real(parent), real(child)) {
        (0, _) => wrong("real coordinates, to repeat them", parent),
        (d, size) if d * m != size => wrong("as many coordinates as its mapping repeats of a parent", child),
        _ => Ok(()),
    }
}
