//! Springs by which a user pulls at what moves while a scene runs.
//!
//! [`Pulls::add_to`] puts a [`Pull`] on every node that is drawn and has mass, ahead of the run.
//! None of them acts before [`Pulls::fasten`]; they couple nothing that the masses do not couple, so
//! that the system has the same shape as without them.

use crate::Runner;
use pliant::dense::{Vec3, rotation};
use pliant::model::{ComponentId, Mass, Model, ModelError, NodeId, NodeKind, Pose, Pull, Space, Treatment};
use pliant::{Error, Simulation};
use pliant_output::recording::Shape;
use pliant_scene::{BuiltScene, Picture};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Places of the inputs of [`Pull`].
const STIFFNESS: usize = 1;
const DAMPING: usize = 2;
const TARGET: usize = 3;
const POINT: usize = 6;

/// How often a mass on a spring of the usual stiffness swings in a second.
const FREQUENCY: f64 = 1.0;
/// Over how much of the size of a scene a spring of the usual stiffness gives at most under the
/// weight of what it holds.
const SAG: f64 = 0.05;

/// Why something cannot be pulled at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PullError {
    /// There is no such item in the picture.
    #[error("the picture has no item {item}")]
    Item {
        /// The number given.
        item: usize,
    },
    /// The item never moves.
    #[error("`{name}` does not move: it is fixed in the world")]
    Fixed {
        /// The user's name for it.
        name: String,
    },
    /// The item is carried by others, and has no mass of its own.
    #[error("`{name}` has no mass of its own: pull at what carries it")]
    Massless {
        /// The user's name of the node.
        name: String,
    },
    /// The model refuses a number.
    #[error(transparent)]
    Model(#[from] Error),
}

/// Something of the picture that is pulled at, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grip {
    component: ComponentId,
    node: NodeId,
    element: usize,
    /// In body axes (m); zero for points.
    point: [f64; 3],
    /// Mass that it holds (kg).
    mass: f64,
    /// Stiffness of the spring (N/m).
    stiffness: f64,
    /// Where it pulls to (m).
    place: [f64; 3],
}

/// Something that is drawn: a point, a body, a collider.
#[derive(Clone, Debug)]
struct Item {
    /// The element of a node that carries it; none if it never moves.
    place: Option<(NodeId, usize)>,
    /// Where it is in the axes of the body that carries it.
    pose: Pose,
    /// The user's name of it, or of its node.
    name: String,
}

/// The springs of a scene.
#[derive(Debug, Default)]
pub struct Pulls {
    /// The spring of each node that has one, with the masses of its elements (kg).
    springs: BTreeMap<NodeId, (ComponentId, Vec<f64>)>,
    items: Vec<Item>,
    /// The least stiffness for each kilogram (N/(m kg)).
    per_mass: f64,
}

impl Pulls {
    /// Adds the springs to a scene that is built and not yet run.
    ///
    /// # Errors
    /// [`ModelError`] if a node does not take one.
    pub fn add_to(scene: &mut BuiltScene) -> Result<Self, ModelError> {
        let items = items(&scene.model, &scene.picture);
        let mut springs = BTreeMap::new();
        for item in &items {
            let Some((node, _)) = item.place else { continue };
            let masses = masses(&scene.model, node);
            let is_free = matches!(scene.model.node(node).kind, NodeKind::Independent { .. });
            if springs.contains_key(&node) || !(is_free || masses.iter().any(|m| *m > 0.0)) {
                continue;
            }
            let entry = scene.model.node(node);
            let (name, count) = (format!("pull at {}", entry.name), entry.count);
            let name = unused(&scene.model, name);
            let law = Pull::new(count);
            let component = scene
                .model
                .add_force_field(&name, node, law, Treatment::Stiffness)?;
            springs.insert(node, (component, masses));
        }
        let gravity = scene.model.initial_parameters().gravity();
        let gravity = gravity.iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
        let size = size(scene);
        let by_weight = if size > 0.0 { gravity / (SAG * size) } else { 0.0 };
        Ok(Self {
            springs,
            items,
            per_mass: (TAU * FREQUENCY).powi(2).max(by_weight),
        })
    }

    /// Whether each item of the picture, points and then bodies, can be pulled at.
    pub fn reach(&self) -> Vec<bool> {
        let has = |node: &NodeId| self.springs.contains_key(node);
        let items = self.items.iter();
        items
            .map(|item| item.place.is_some_and(|(node, _)| has(&node)))
            .collect()
    }

    /// Whether each item of the picture can move at all: all but points and colliders of the world.
    pub fn moving(&self) -> Vec<bool> {
        self.items.iter().map(|item| item.place.is_some()).collect()
    }

    /// Fastens a spring to an item of the picture, of a body or collider at a point in its axes (m);
    /// it does not pull before it is moved. Its stiffness is one at which the item follows well and,
    /// at rest, hangs by less than a twentieth of the size of the scene; its damping is critical
    /// for the mass that it holds: that of the body, or of all points of the node.
    ///
    /// # Errors
    /// [`PullError`].
    pub fn fasten(&self, runner: &mut Runner, item: usize, point: [f64; 3]) -> Result<Grip, PullError> {
        let found = self.items.get(item).ok_or(PullError::Item { item })?;
        let name = || found.name.clone();
        let (node, element) = found.place.ok_or_else(|| PullError::Fixed { name: name() })?;
        let spring = self.springs.get(&node);
        let (component, masses) = spring.ok_or_else(|| PullError::Massless { name: name() })?;
        let simulation = runner.simulation();
        let space = simulation.model().node(node).space;
        let point = match space {
            Space::Rigid3 => to_world(&found.pose, point),
            _ => [0.0; 3],
        };
        let all = || masses.iter().sum();
        let own = if space == Space::Rigid3 {
            masses[element]
        } else {
            all()
        };
        let mass = if own > 0.0 {
            own
        } else {
            simulation.problem().mass_in_space()
        };
        let mut grip = Grip {
            component: *component,
            node,
            element,
            point,
            mass,
            stiffness: 0.0,
            place: [0.0; 3],
        };
        grip.place = grip.held(simulation);
        let numbers = [(0, element as f64)].into_iter();
        let point = point.iter().enumerate().map(|(k, x)| (POINT + k, *x));
        for (input, value) in numbers.chain(point) {
            runner.simulation_mut().set_input(*component, input, value)?;
        }
        let place = grip.place;
        grip.pull_to(runner, place)?;
        grip.stiffen(runner, self.per_mass * mass)?;
        Ok(grip)
    }
}

impl Grip {
    /// The point that is held, as it is now (m).
    pub fn held(&self, simulation: &Simulation) -> [f64; 3] {
        match simulation.pose(self.node, self.element) {
            Some(pose) => to_world(&pose, self.point),
            None => {
                let x = &simulation.positions(self.node)[3 * self.element..];
                [x[0], x[1], x[2]]
            }
        }
    }

    /// Where it pulls to (m).
    pub fn place(&self) -> [f64; 3] {
        self.place
    }

    /// Its stiffness (N/m).
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The force of the spring, its stiffness times its length, as it is now (N).
    pub fn force(&self, simulation: &Simulation) -> [f64; 3] {
        let held = self.held(simulation);
        [0, 1, 2].map(|k| self.stiffness * (self.place[k] - held[k]))
    }

    /// Pulls to another place from the next step on (m).
    ///
    /// # Errors
    /// [`Error::Model`] for what is not finite; then it pulls to where it did.
    pub fn pull_to(&mut self, runner: &mut Runner, place: [f64; 3]) -> Result<(), Error> {
        let problem = runner.simulation().problem();
        for (k, x) in place.iter().enumerate() {
            problem.check_input(self.component, TARGET + k, *x)?;
        }
        for (k, x) in place.iter().enumerate() {
            runner
                .simulation_mut()
                .set_input(self.component, TARGET + k, *x)?;
        }
        self.place = place;
        Ok(())
    }

    /// Gives the spring another stiffness (N/m), with its damping, from the next step on.
    ///
    /// # Errors
    /// [`Error::Model`] for what is not finite or below zero; then it has the one that it had.
    pub fn stiffen(&mut self, runner: &mut Runner, stiffness: f64) -> Result<(), Error> {
        let simulation = runner.simulation_mut();
        simulation.set_input(self.component, STIFFNESS, stiffness)?;
        self.stiffness = stiffness;
        simulation.set_input(self.component, DAMPING, 2.0 * (stiffness * self.mass).sqrt())
    }

    /// Lets go.
    ///
    /// # Errors
    /// None that a grip of this run can have.
    pub fn release(self, runner: &mut Runner) -> Result<(), Error> {
        let simulation = runner.simulation_mut();
        simulation.set_input(self.component, STIFFNESS, 0.0)?;
        simulation.set_input(self.component, DAMPING, 0.0)
    }
}

/// A point in the axes of a body or collider, in those of the world or of the body that carries it.
fn to_world(pose: &Pose, point: [f64; 3]) -> [f64; 3] {
    (Vec3::from(pose.position) + rotation::rotate(pose.rotation, point.into())).into()
}

/// Lists what a picture shows, points and then bodies, in the order of its recording.
fn items(model: &Model, picture: &Picture) -> Vec<Item> {
    let of = |(node, element): (NodeId, usize)| Item {
        place: Some((node, element)),
        pose: Pose::default(),
        name: model.node(node).name.clone(),
    };
    let elements = |node: &NodeId| {
        (0..model.node(*node).count)
            .map(|element| (*node, element))
            .collect()
    };
    let points = picture.nodes.iter().flat_map(|node| -> Vec<_> { elements(node) });
    let fixed = picture.anchors.iter().map(|_| Item {
        place: None,
        pose: Pose::default(),
        name: "fixed points".to_owned(),
    });
    let bodies = picture.bodies.iter().map(|(node, element, _)| (*node, *element));
    let colliders = picture.colliders.iter().map(|collider| Item {
        place: collider.carrier,
        pose: collider.pose,
        name: collider.name.clone(),
    });
    let carried = bodies.map(of).chain(colliders);
    points.map(of).chain(fixed).chain(carried).collect()
}

/// The mass of each element of a node, without that of others that are mapped from it (kg).
fn masses(model: &Model, node: NodeId) -> Vec<f64> {
    let entry = model.node(node);
    let size = entry.space.velocity_size();
    let mut along = vec![0.0; entry.count * size];
    along.iter_mut().step_by(size).for_each(|v| *v = 1.0);
    let mut product = vec![0.0; along.len()];
    for attachment in model.masses().iter().filter(|mass| mass.node == node) {
        let mass: &Mass = &attachment.component;
        mass.add_product(entry.space, 1.0, &along, &mut product);
    }
    product.into_iter().step_by(size).collect()
}

/// A name that no component has.
fn unused(model: &Model, name: String) -> String {
    let mut free = name;
    while model.component_named(&free).is_some() {
        free.push('\'');
    }
    free
}

/// The diagonal of the box about all that can move, with the sizes of bodies (m).
fn size(scene: &BuiltScene) -> f64 {
    let Ok(state) = scene.model.initial_state() else {
        return 0.0;
    };
    let model = &scene.model;
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let mut grow = |at: &[f64], reach: f64| {
        for k in 0..3 {
            low[k] = low[k].min(at[k] - reach);
            high[k] = high[k].max(at[k] + reach);
        }
    };
    for node in &scene.picture.nodes {
        let x = model.positions(&state, *node);
        x.chunks_exact(3).for_each(|at| grow(at, 0.0));
    }
    for (node, element, shape) in &scene.picture.bodies {
        let at = &model.positions(&state, *node)[7 * element..];
        grow(at, reach(shape));
    }
    let sides = [0, 1, 2].map(|k| (high[k] - low[k]).max(0.0));
    let size = sides.iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
    if size.is_finite() { size } else { 0.0 }
}

/// How far a body reaches from its origin at most (m).
fn reach(shape: &Shape) -> f64 {
    match shape {
        Shape::Box { half } => Vec3::from(*half).norm(),
        Shape::Sphere { radius } => *radius,
        Shape::Axes { size } => *size,
        Shape::Mesh(surface) => Vec3::from(surface.reach()).norm(),
    }
}
