//! Mechanisms by the coordinates of their joints: positions, velocities and Jacobians.

mod graph;

use crate::{Error, Motion, Simulation, System};
use graph::Graph;
use pliant_dense::eigen::solve_minimum_norm;
use pliant_dense::{Vec3, rotation, vec3};
use pliant_model::{ComponentId, ElementIndex, JointHandle, Model, NodeId, Pose, Space, State};
use pliant_stepper::method::{Wanted, reach_positions, reach_velocities};
use std::collections::BTreeMap;

/// The largest turn of a joint in an iteration (rad): angles take the branch nearest to the last
/// ones.
const TURN: f64 = 1.5;

/// Iterations of one joint at most.
const ITERATIONS: usize = 100;

/// Misses of the coordinates of joints that are rounding, as a share of one and the coordinate.
const REACHED: f64 = 1e-13;

/// Directions in which a joint moves less than this share of the most it does are none of its own.
const RIGID: f64 = 1e-12;

/// The joints of a simulation as a mechanism: what hangs on each joint, so that coordinates of
/// joints can be set, and Jacobians be found by them.
///
/// - **A joint that is in no loop** carries what hangs on it: bodies, and whatever joints, hard
///   constraints and elements of solids and rods connect with these, on the side that does not hang
///   on the world (of a mechanism that hangs on nothing, on that of the second side). Its
///   coordinates are set by Newton's method on the motion of that side as one, which knows nothing
///   of the rest.
/// - **Loops** go to the nearest positions in the metric of masses at which all coordinates that
///   are named have their values and hard rows hold ([`reach_positions`]).
///
/// Points of ropes, of cloth and of what else hangs on by springs alone stay where they are.
///
/// ```
/// use pliant::{Mechanism, prelude::*};
///
/// // Two links of 1 m, whose hinges are at their upper ends.
/// let mut model = Model::new();
/// let bodies = model.add_rigid_bodies("links", &[Pose::at([0.5, 0.0, 0.0]), Pose::at([1.5, 0.0, 0.0])])?;
/// model.add_mass("mass", bodies, Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0, 0.1, 0.1]); 2]))?;
/// let shoulder = Joint::hinge(Side::World, Side::Body(bodies, 0));
/// let elbow = Joint::hinge(Side::Body(bodies, 0), Side::Body(bodies, 1)).at(Pose::at([1.0, 0.0, 0.0]));
/// let joints = [model.add_joint("shoulder", &shoulder)?, model.add_joint("elbow", &elbow)?];
///
/// let mut simulation = Simulation::new(model)?;
/// let mechanism = Mechanism::new(&simulation, &joints);
/// mechanism.set_positions(&mut simulation, &[std::f64::consts::FRAC_PI_2, 0.3])?;
/// let tip = [0.5, 0.0, 0.0]; // in the axes of the second link
/// let jacobian = mechanism.jacobian(&mut simulation, mechanism.coordinates(), (bodies, 1), tip)?;
/// // Turning the shoulder moves the tip across the line to it.
/// let from_shoulder = [-0.3f64.sin(), 1.0 + 0.3f64.cos()];
/// assert!((jacobian[0][0] + from_shoulder[1]).abs() < 1e-12);
/// assert!((jacobian[1][0] - from_shoulder[0]).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mechanism {
    links: Vec<Link>,
    coordinates: Vec<NodeId>,
    motors: Vec<ComponentId>,
    /// The first element of each mechanism that hangs on nothing.
    bases: Vec<ElementIndex>,
}

/// A joint with coordinates, or with something that it holds.
#[derive(Clone, Debug)]
struct Link {
    coordinates: Vec<NodeId>,
    /// The node of the held coordinates, and whether they are held hard.
    held: Option<(NodeId, bool)>,
    /// The independent elements that it carries; none in a loop.
    carried: Option<Vec<ElementIndex>>,
    /// The second side, whose frame is where the joint is.
    side: (Option<(NodeId, usize)>, Pose),
}

/// A velocity of what a joint carries: of the point where the joint is, and angular, in world axes.
type Twist = [f64; 6];

/// Where a coordinate is to be, by its node.
type Values = BTreeMap<NodeId, f64>;

/// A row of the motion of what a joint carries: its Jacobian by the twist, and what is missing.
struct Row {
    jacobian: Twist,
    missing: f64,
}

impl Mechanism {
    /// Makes the mechanism of the joints of a simulation, whose handles [`Model::add_joint`] returned.
    pub fn new(simulation: &Simulation, joints: &[JointHandle]) -> Self {
        let graph = Graph::of(simulation, joints);
        let (carried, bases) = (graph.carried(joints), graph.bases());
        let links = joints.iter().zip(carried).map(|(joint, carried)| Link {
            coordinates: joint.coordinates.clone(),
            held: joint.held.map(|held| {
                let hard = matches!(joint.rows, Some(ComponentId::Constraint(_)));
                (held, hard)
            }),
            carried,
            side: joint.frames[1],
        });
        Self {
            links: links.collect(),
            coordinates: joints
                .iter()
                .flat_map(|joint| joint.coordinates.iter().copied())
                .collect(),
            motors: joints
                .iter()
                .flat_map(|joint| joint.motors.iter().copied())
                .collect(),
            bases,
        }
    }

    /// The free coordinates of the joints one after the other, each a scalar node. Of ball joints
    /// there are none but where [`Joint::with_coordinates`](pliant_model::Joint::with_coordinates)
    /// or what acts on them asks for them.
    pub fn coordinates(&self) -> &[NodeId] {
        &self.coordinates
    }

    /// Their values (m, rad).
    pub fn positions(&self, simulation: &Simulation) -> Vec<f64> {
        let of = |node: &NodeId| simulation.positions(*node)[0];
        self.coordinates.iter().map(of).collect()
    }

    /// Their velocities (m/s, rad/s).
    pub fn velocities(&self, simulation: &Simulation) -> Vec<f64> {
        let of = |node: &NodeId| simulation.velocities(*node)[0];
        self.coordinates.iter().map(of).collect()
    }

    /// Moves the mechanism to positions at which all coordinates have these values (m, rad). Their
    /// velocities stay, those of loops as near to them as there are. Everything else is as after
    /// [`Simulation::set_state`]; limits are not asked.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is another number of values, or one is not finite;
    /// [`Error::Unreachable`] where no positions have them, as of a loop that does not close; those
    /// of [`reach_positions`]. Then nothing has changed.
    pub fn set_positions(&self, simulation: &mut Simulation, values: &[f64]) -> Result<(), Error> {
        self.move_to(simulation, &self.all(values)?)
    }

    /// Moves the mechanism to positions at which some coordinates, named by their nodes, have these
    /// values (m, rad), as [`set_positions`](Self::set_positions) does for all. The others stay, but
    /// for those of loops that they are in, which follow.
    ///
    /// # Errors
    /// Errors of [`set_positions`](Self::set_positions), and [`Error::OutOfRange`] for a node that is no
    /// coordinate of the mechanism.
    pub fn set_some_positions(
        &self,
        simulation: &mut Simulation,
        values: &[(NodeId, f64)],
    ) -> Result<(), Error> {
        self.move_to(simulation, &self.some(values)?)
    }

    /// Gives all coordinates velocities (m/s, rad/s); what the mechanism hangs on keeps its own.
    ///
    /// # Errors
    /// Errors of [`set_positions`](Self::set_positions).
    pub fn set_velocities(&self, simulation: &mut Simulation, values: &[f64]) -> Result<(), Error> {
        self.turn_at(simulation, &self.all(values)?)
    }

    /// Gives some coordinates, named by their nodes, velocities (m/s, rad/s). The others keep theirs,
    /// but for those of loops that they are in, which follow.
    ///
    /// # Errors
    /// Errors of [`set_some_positions`](Self::set_some_positions).
    pub fn set_some_velocities(
        &self,
        simulation: &mut Simulation,
        values: &[(NodeId, f64)],
    ) -> Result<(), Error> {
        self.turn_at(simulation, &self.some(values)?)
    }

    /// The Jacobian of a point of a body by coordinates, at the present positions: six rows, the
    /// velocity of the point (m/s) and the angular velocity (rad/s) in world axes, with a column
    /// for each of these coordinates, by its unit velocity while the others stand still; but for
    /// those of loops that are not asked for, which follow. The base of a mechanism that hangs on
    /// nothing rests. `point` is in body axes (m). Cost: a pass over the mappings for each
    /// coordinate, and what [`reach_velocities`] takes.
    ///
    /// # Errors
    /// [`Error::Unreachable`] for a coordinate that cannot move while the others stand, as those of
    /// one loop; [`Error::OutOfRange`] for a node that is no coordinate, an element that is no
    /// body.
    pub fn jacobian(
        &self,
        simulation: &mut Simulation,
        by: &[NodeId],
        (node, element): (NodeId, usize),
        point: [f64; 3],
    ) -> Result<[Vec<f64>; 6], Error> {
        let Some(pose) = simulation.pose(node, element) else {
            return Err(Error::OutOfRange {
                what: "the element of a Jacobian",
                value: element as f64,
                bound: "that of a body",
            });
        };
        let arm = rotation::rotate(pose.rotation, Vec3::from(point));
        let first = simulation.model().node(node).first_velocity + 6 * element;
        let mut out: [Vec<f64>; 6] = Default::default();
        for column in by {
            let rates = by.iter().map(|other| (*other, f64::from(other == column)));
            let rates = self.some(&rates.collect::<Vec<_>>())?;
            let mut state = simulation.state().clone();
            state.velocities.fill(0.0);
            let velocities = self.with_velocities(simulation, state, &rates)?.velocities;
            let own = &velocities[first..first + 6];
            let angular = rotation::rotate(pose.rotation, vec3(own, 3));
            let linear = vec3(own, 0) + angular.cross(&arm);
            for (row, x) in out.iter_mut().zip(linear.iter().chain(angular.iter())) {
                row.push(*x);
            }
        }
        Ok(out)
    }

    fn all(&self, values: &[f64]) -> Result<Values, Error> {
        if self.coordinates.len() != values.len() {
            return Err(Error::OutOfRange {
                what: "the number of values of joint coordinates",
                value: values.len() as f64,
                bound: "that of the coordinates",
            });
        }
        let pairs = self.coordinates.iter().copied().zip(values.iter().copied());
        self.some(&pairs.collect::<Vec<_>>())
    }

    fn some(&self, values: &[(NodeId, f64)]) -> Result<Values, Error> {
        for (node, value) in values {
            if !value.is_finite() {
                return Err(Error::OutOfRange {
                    what: "a joint coordinate",
                    value: *value,
                    bound: "finite",
                });
            }
            if !self.coordinates.contains(node) {
                return Err(Error::OutOfRange {
                    what: "the number of a node that is to be a joint coordinate",
                    value: node.index() as f64,
                    bound: "that of a coordinate of the mechanism",
                });
            }
        }
        Ok(values.iter().copied().collect())
    }

    fn move_to(&self, simulation: &mut Simulation, values: &Values) -> Result<(), Error> {
        let rates: Values = self
            .coordinates
            .iter()
            .copied()
            .zip(self.velocities(simulation))
            .collect();
        let state = simulation.state().clone();
        let state = self.with_positions(simulation, state, values)?;
        let state = match self.with_velocities(simulation, state.clone(), &rates) {
            // Velocities of all coordinates of a loop do not go with other positions: those of the
            // others stay.
            Err(Error::Unreachable { .. }) => self.with_velocities(simulation, state, &Values::new())?,
            other => other?,
        };
        simulation.set_state(&state)
    }

    fn turn_at(&self, simulation: &mut Simulation, values: &Values) -> Result<(), Error> {
        let state = simulation.state().clone();
        let state = self.with_velocities(simulation, state, values)?;
        simulation.set_state(&state)
    }

    /// A state with coordinates at other values; the simulation itself does not change.
    fn with_positions(
        &self,
        simulation: &mut Simulation,
        mut state: State,
        values: &Values,
    ) -> Result<State, Error> {
        let number = |state: &State, node| simulation.model().positions(state, node)[0];
        let all = self.with_trees(values, |node| number(&state, node));
        let found = self.place(simulation, &mut state, values);
        let found = found.and_then(|()| self.settle(simulation, state, &all, reach_positions));
        self.go_back(simulation)?;
        found
    }

    /// A state with coordinates at other velocities; the simulation itself does not change.
    fn with_velocities(
        &self,
        simulation: &mut Simulation,
        mut state: State,
        values: &Values,
    ) -> Result<State, Error> {
        let found = simulation.system.propagate(&mut state);
        let first = |node| simulation.model().node(node).first_velocity;
        let all = self.with_trees(values, |node| state.velocities[first(node)]);
        let found = found.and_then(|()| self.set_rates(simulation, &mut state, values));
        let found = found.and_then(|()| self.settle(simulation, state, &all, reach_velocities));
        self.go_back(simulation)?;
        found
    }

    /// Values that are wanted, and those that coordinates outside of loops have now.
    fn with_trees(&self, values: &Values, now: impl Fn(NodeId) -> f64) -> Vec<(NodeId, f64)> {
        let trees = self.links.iter().filter(|link| link.carried.is_some());
        let trees = trees.flat_map(|link| &link.coordinates);
        let mut all: Values = trees.map(|node| (*node, now(*node))).collect();
        all.extend(values);
        all.into_iter().collect()
    }

    /// The state that loops and other hard rows ask for, with all coordinates that are wanted.
    fn settle(
        &self,
        simulation: &mut Simulation,
        state: State,
        values: &[(NodeId, f64)],
        reach: impl Fn(&mut System, &mut Motion, Wanted<'_>) -> Result<(), Error>,
    ) -> Result<State, Error> {
        let mut motion = simulation.motion.clone();
        motion.state = state;
        let wanted = Wanted {
            values,
            without: &self.motors,
            held: &self.bases,
        };
        reach(&mut simulation.system, &mut motion, wanted)?;
        Ok(motion.state)
    }

    /// The system, which other states went through, back at the state of the simulation.
    fn go_back(&self, simulation: &mut Simulation) -> Result<(), Error> {
        let Simulation { system, motion, .. } = simulation;
        system.propagate(&mut motion.state)
    }

    /// Moves what joints carry until their coordinates have given values.
    fn place(&self, simulation: &mut Simulation, state: &mut State, values: &Values) -> Result<(), Error> {
        let is_wanted = |link: &&Link| link.coordinates.iter().any(|node| values.contains_key(node));
        let mut links: Vec<&Link> = self.links.iter().filter(is_wanted).collect();
        // What others carry goes first, since it goes along with these.
        links.sort_by_key(|link| link.carried.as_ref().map_or(0, Vec::len));
        let held: BTreeMap<NodeId, Vec<f64>> = links
            .iter()
            .filter_map(|link| link.held)
            .map(|(node, hard)| {
                let now = simulation.model().positions(state, node);
                (node, if hard { vec![0.0; now.len()] } else { now.to_vec() })
            })
            .collect();
        for _ in 0..ITERATIONS {
            simulation.system.propagate(state)?;
            let mut is_there = true;
            for link in &links {
                let Some(carried) = &link.carried else { continue };
                let system = &simulation.system;
                let model: &Model = &system.model;
                let mut rows = Vec::new();
                let place = link.place(simulation, state);
                let twists = link.twists(simulation, state, place);
                for (node, is_held) in link.nodes() {
                    let now = model.positions(state, node);
                    for (k, now) in now.iter().enumerate() {
                        let to = match is_held {
                            true => held[&node][k],
                            false => values.get(&node).copied().unwrap_or(*now),
                        };
                        let missing = to - now;
                        is_there &= missing.abs() <= REACHED * (1.0 + to.abs());
                        let column = model.node(node).first_velocity + k;
                        rows.push(Row {
                            jacobian: std::array::from_fn(|i| twists[i][column]),
                            missing,
                        });
                    }
                }
                let mut twist = least(&rows);
                let turn = twist[3].hypot(twist[4]).hypot(twist[5]);
                let share = (TURN / turn.max(TURN)).min(1.0);
                twist.iter_mut().for_each(|x| *x *= share);
                displace(model, state, carried, place, twist);
            }
            if is_there {
                return simulation.system.propagate(state);
            }
        }
        // What is not there is told by what comes next, by name.
        simulation.system.propagate(state)
    }

    /// Gives what joints carry velocities at which their coordinates have given ones.
    fn set_rates(
        &self,
        simulation: &mut Simulation,
        state: &mut State,
        values: &Values,
    ) -> Result<(), Error> {
        let model: &Model = &simulation.system.model;
        let mut added: Vec<(&Vec<ElementIndex>, Vec3, Twist)> = Vec::new();
        for link in &self.links {
            let Some(carried) = &link.carried else { continue };
            if !link.coordinates.iter().any(|node| values.contains_key(node)) {
                continue;
            }
            let place = link.place(simulation, state);
            let twists = link.twists(simulation, state, place);
            let mut rows = Vec::new();
            for (node, is_held) in link.nodes() {
                let now = &state.velocities[model.node(node).velocity_range()];
                let is_hard = link.held.is_some_and(|(_, hard)| hard);
                for (k, now) in now.iter().enumerate() {
                    let to = match is_held {
                        true if is_hard => 0.0,
                        true => *now,
                        false => values.get(&node).copied().unwrap_or(*now),
                    };
                    let column = model.node(node).first_velocity + k;
                    rows.push(Row {
                        jacobian: std::array::from_fn(|i| twists[i][column]),
                        missing: to - now,
                    });
                }
            }
            added.push((carried, place, least(&rows)));
        }
        for (carried, place, twist) in added {
            add_twist(model, state, carried, place, twist);
        }
        simulation.system.propagate(state)
    }
}

impl Link {
    /// The nodes of its coordinates: held ones, of which true, and free ones.
    fn nodes(&self) -> impl Iterator<Item = (NodeId, bool)> {
        let held = self.held.iter().map(|(node, _)| (*node, true));
        held.chain(self.coordinates.iter().map(|node| (*node, false)))
    }

    /// Where the joint is (m).
    fn place(&self, simulation: &Simulation, state: &State) -> Vec3 {
        let (body, frame) = self.side;
        let at = Vec3::from(frame.position);
        match body {
            Some((node, element)) => {
                let pose = pose(simulation.model(), state, node, element);
                Vec3::from(pose.position) + rotation::rotate(pose.rotation, at)
            }
            None => at,
        }
    }

    /// Velocities of all nodes by each unit twist of what it carries.
    fn twists(&self, simulation: &Simulation, state: &State, place: Vec3) -> [Vec<f64>; 6] {
        let model = simulation.model();
        std::array::from_fn(|i| {
            let mut still = State {
                positions: state.positions.clone(),
                velocities: vec![0.0; state.velocities.len()],
                internal: Vec::new(),
            };
            let mut twist = [0.0; 6];
            twist[i] = 1.0;
            let carried = self.carried.as_deref().unwrap_or_default();
            add_twist(model, &mut still, carried, place, twist);
            simulation
                .system
                .evaluation
                .push_forward(model, &mut still.velocities);
            still.velocities
        })
    }
}

/// The least twist that gives rows what they miss.
fn least(rows: &[Row]) -> Twist {
    let (mut normal, mut right) = ([0.0; 36], [0.0; 6]);
    for Row { jacobian, missing } in rows {
        for i in 0..6 {
            right[i] += jacobian[i] * missing;
            for k in 0..6 {
                normal[6 * i + k] += jacobian[i] * jacobian[k];
            }
        }
    }
    let mut twist = [0.0; 6];
    solve_minimum_norm(6, &mut normal, &mut [0.0; 36], &right, RIGID, &mut twist);
    twist
}

/// Velocity and angular velocity of a twist.
fn parts(twist: Twist) -> (Vec3, Vec3) {
    (vec3(&twist, 0), vec3(&twist, 3))
}

/// Moves elements as one: turned about a place by the rotation vector of a twist, and then shifted.
/// Their velocities turn with them.
fn displace(model: &Model, state: &mut State, elements: &[ElementIndex], place: Vec3, twist: Twist) {
    let (shift, turn) = parts(twist);
    let turned = rotation::exp(turn);
    for ElementIndex { node, element } in elements {
        let entry = &model.nodes()[*node];
        let (size, rate) = (entry.space.position_size(), entry.space.velocity_size());
        let x = &mut state.positions[entry.position_range()][element * size..][..size];
        let v = &mut state.velocities[entry.velocity_range()][element * rate..][..rate];
        if !matches!(entry.space, Space::Rigid3 | Space::Real(3)) {
            continue;
        }
        let at = place + rotation::rotate(turned, vec3(x, 0) - place) + shift;
        x[..3].copy_from_slice(at.as_slice());
        let velocity = rotation::rotate(turned, vec3(v, 0));
        v[..3].copy_from_slice(velocity.as_slice());
        if entry.space == Space::Rigid3 {
            let q = [x[3], x[4], x[5], x[6]];
            let q = rotation::multiply(turned, q);
            x[3..].copy_from_slice(&rotation::normalize(q).unwrap_or(q));
        }
    }
}

/// Adds the velocities of a twist about a place to those of elements.
fn add_twist(model: &Model, state: &mut State, elements: &[ElementIndex], place: Vec3, twist: Twist) {
    let (velocity, angular) = parts(twist);
    for ElementIndex { node, element } in elements {
        let entry = &model.nodes()[*node];
        let (size, rate) = (entry.space.position_size(), entry.space.velocity_size());
        let x = &state.positions[entry.position_range()][element * size..][..size];
        let v = &mut state.velocities[entry.velocity_range()][element * rate..][..rate];
        if !matches!(entry.space, Space::Rigid3 | Space::Real(3)) {
            continue;
        }
        let own = velocity + angular.cross(&(vec3(x, 0) - place));
        v.iter_mut().zip(own.iter()).for_each(|(v, d)| *v += d);
        if entry.space == Space::Rigid3 {
            let in_body = rotation::rotate(rotation::conjugate([x[3], x[4], x[5], x[6]]), angular);
            v[3..].iter_mut().zip(in_body.iter()).for_each(|(v, d)| *v += d);
        }
    }
}

fn pose(model: &Model, state: &State, node: NodeId, element: usize) -> Pose {
    let x = &model.positions(state, node)[7 * element..][..7];
    Pose {
        position: [x[0], x[1], x[2]],
        rotation: [x[3], x[4], x[5], x[6]],
    }
}
