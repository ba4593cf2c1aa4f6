//! Scenes as functions of their parameters: trajectories of chosen nodes, and their gradients.

use pliant::gradient::{
    Family, GradientError, NodeGradient, Objective, Trajectory, TrajectoryError, TrajectoryGradient,
    TrajectoryReport, check_length, family_of_simulations, has_derivative,
};
use pliant::model::{Model, NodeId, Problem, Space};
use pliant::{Integrator, Options, Simulation};
use pliant_scene::{BuiltScene, SceneError};

/// Numbers of a node that a rollout returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Positions: of bodies those of their centres of mass and their quaternions `(w, x, y, z)`.
    Positions,
    /// Velocities: of bodies linear in world axes, angular in body axes. Of nodes that are
    /// independent or mapped linearly.
    Velocities,
}

/// Why a scene has no rollout, or a rollout no gradient.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RolloutError {
    /// From the scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// From its steps and their derivatives.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
    /// A part of the scene that a rollout does not take.
    #[error("gradients of scenes take no {what}: {how}")]
    NotTaken {
        /// The part.
        what: &'static str,
        /// How to do without, or what takes it.
        how: &'static str,
    },
    /// A node that is not there.
    #[error("there is no node `{name}`; the nodes are {all}")]
    Node {
        /// The name.
        name: String,
        /// The nodes that there are.
        all: String,
    },
}

impl From<GradientError> for RolloutError {
    fn from(error: GradientError) -> Self {
        Self::Trajectory(error.into())
    }
}

impl From<pliant::Error> for RolloutError {
    fn from(error: pliant::Error) -> Self {
        Self::Trajectory(error.into())
    }
}

/// A function that builds a scene for values of its parameters.
pub type Build = dyn Fn(&[f64]) -> Result<BuiltScene, SceneError> + Send + Sync;

/// A scene as a function of some of its parameters: the positions and velocities of chosen nodes at
/// the start and after every step, with the gradient of any function of them.
///
/// The scene has the default `integrator: Sdirk2`, whose stages are solved until rounding ends it here,
/// or `Nonlinear`, which with `alpha: 0.5, beta: 0.5` is of second order too and takes contacts, or
/// `Bdf2`. It moves by itself: without events, controllers, inputs and holds that change with time.
///
/// ```
/// use pliant_run::rollout::{Quantity, Rollout};
/// use pliant_scene::{Format, SceneFile, Settings};
/// let text = r#"(
///     parameters: {"speed": 3},
///     gravity: (0, -10, 0),
///     run: (duration: 1, step: 0.01, integrator: Nonlinear),
///     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], velocities: [("$speed", 0, 0)], mass: 2)],
/// )"#;
/// let file = SceneFile::from_text("stone.ron".as_ref(), text, Format::Ron)?;
/// let build = move |values: &[f64]| {
///     let parameters = vec![("speed".to_owned(), values[0].into())];
///     file.build(&Settings { parameters, ..Settings::default() })
/// };
/// let rollout = Rollout::new(Box::new(build), &[3.0], &[("stone", Quantity::Positions)], None)?;
/// let ways = rollout.run(&[3.0])?;
/// assert_eq!(ways.len(), 101 * 3);
/// // The gradient of the last x by the speed is the time.
/// let mut by = vec![0.0; ways.len()];
/// by[100 * 3] = 1.0;
/// let gradient = rollout.gradient(&[3.0], &by)?;
/// assert!((gradient.parameters[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), pliant_run::rollout::RolloutError>(())
/// ```
pub struct Rollout {
    build: Box<Build>,
    outputs: Vec<(NodeId, Quantity)>,
    columns: usize,
    parameters: usize,
    steps: usize,
    /// Steps of the scene itself.
    planned: usize,
    h: f64,
    smoothing: Option<f64>,
}

impl std::fmt::Debug for Rollout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rollout")
            .field("parameters", &self.parameters)
            .field("columns", &self.columns)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

/// The gradient of a function of a rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutGradient {
    /// By the parameters, in their order.
    pub parameters: Vec<f64>,
    /// The rollout, as [`Rollout::run`] returns it.
    pub values: Vec<f64>,
    /// How it was found.
    pub report: TrajectoryReport,
}

/// The product of the Hessian of a function of a rollout with a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct HessianProduct {
    /// The product, by the parameters.
    pub product: Vec<f64>,
    /// Largest difference of its entries from those of a formula of lower order, as a share of the
    /// largest entry: the error is smaller where the function is smooth, and a kink (contacts that
    /// open, friction that turns to slip) shows here.
    pub spread: f64,
}

/// Steps along a direction, as multiples of the largest one that keeps all parameters within a
/// thousandth, and their weights in the differences of fourth and of second order.
const ALONG: [(f64, [f64; 2]); 4] = [
    (-1.0, [1.0 / 6.0, 0.0]),
    (-0.5, [-8.0 / 6.0, -1.0]),
    (0.5, [8.0 / 6.0, 1.0]),
    (1.0, [-1.0 / 6.0, 0.0]),
];

impl Rollout {
    /// A rollout of the scenes that `build` makes, of which the one at `at` is looked at now: so
    /// many steps, or those of the scene, and these numbers of these nodes.
    ///
    /// # Errors
    /// [`RolloutError::NotTaken`] for scenes that do not move by themselves or by another method,
    /// [`RolloutError::Node`], [`RolloutError::Scene`].
    pub fn new(
        build: Box<Build>,
        at: &[f64],
        outputs: &[(&str, Quantity)],
        steps: Option<usize>,
    ) -> Result<Self, RolloutError> {
        let scene = build(at)?;
        check(&scene)?;
        let model = &scene.model;
        let mut found = Vec::new();
        let mut columns = 0;
        for (name, quantity) in outputs {
            let node = node_named(model, name)?;
            columns += match quantity {
                Quantity::Positions => model.node(node).position_range().len(),
                Quantity::Velocities => model.node(node).velocity_range().len(),
            };
            found.push((node, *quantity));
        }
        Ok(Self {
            outputs: found,
            columns,
            parameters: at.len(),
            steps: steps.unwrap_or(scene.plan.steps),
            planned: scene.plan.steps,
            h: scene.plan.step,
            smoothing: None,
            build,
        })
    }

    /// Smoothes contacts in gradients by a barrier of this energy (J; [`Trajectory::smoothing`]),
    /// so that contacts that are near have a share in them before they touch. The moments stay what
    /// they are.
    ///
    /// # Errors
    /// [`GradientError::Smoothing`] for an energy that is not positive.
    pub fn with_smoothing(self, energy: f64) -> Result<Self, RolloutError> {
        if !(energy > 0.0 && energy.is_finite()) {
            return Err(GradientError::Smoothing { energy }.into());
        }
        let smoothing = Some(energy);
        Ok(Self { smoothing, ..self })
    }

    /// Numbers of one moment.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of steps; there is one moment more.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The trajectory for values of the parameters: moments one after the other, of each the
    /// numbers of the nodes in their order.
    ///
    /// # Errors
    /// [`RolloutError`].
    pub fn run(&self, values: &[f64]) -> Result<Vec<f64>, RolloutError> {
        let mut simulation = begin(self.scene(values)?)?;
        let mut out = Vec::with_capacity((self.steps + 1) * self.columns);
        self.write(&simulation, &mut out);
        for _ in 0..self.steps {
            simulation.step(self.h)?;
            self.write(&simulation, &mut out);
        }
        Ok(out)
    }

    /// The gradient by the parameters of a function of the trajectory that has the gradient `by`
    /// there, in the order of [`run`](Self::run).
    ///
    /// Each parameter is moved by a thousandth of itself, or of one where it is zero, to compare
    /// the equations of the steps ([`Family`]).
    ///
    /// # Errors
    /// [`RolloutError`].
    pub fn gradient(&self, values: &[f64], by: &[f64]) -> Result<RolloutGradient, RolloutError> {
        let (found, values) = self.differentiate(values, by, None)?;
        Ok(RolloutGradient {
            parameters: found.parameters,
            values,
            report: found.report,
        })
    }

    /// The gradient by a parameter of each element of a node by itself: the stiffness of each
    /// spring, the modulus at each quadrature point of a solid, where the parameter is that of all
    /// of them, and moves nothing else. Its entries add up to that by the parameter; it costs no
    /// more.
    ///
    /// # Errors
    /// [`RolloutError`].
    pub fn element_gradient(
        &self,
        values: &[f64],
        by: &[f64],
        parameter: usize,
        node: &str,
    ) -> Result<Vec<f64>, RolloutError> {
        let (mut found, _) = self.differentiate(values, by, Some((parameter, node)))?;
        Ok(found.elements.pop().unwrap_or_default())
    }

    /// The gradient by the parameters, and of one of them by the elements of a node, with the
    /// rollout.
    fn differentiate(
        &self,
        values: &[f64],
        by: &[f64],
        each: Option<(usize, &str)>,
    ) -> Result<(TrajectoryGradient, Vec<f64>), RolloutError> {
        check_length(
            "the gradient by a rollout",
            (self.steps + 1) * self.columns,
            by.len(),
        )?;
        let scene = self.scene(values)?;
        let (surroundings, collides) = (surroundings_of(&scene), scene.world.is_some());
        let mut simulation = begin(scene)?;
        let make = |values: &[f64]| {
            let built = (self.build)(values).map_err(|e| GradientError::NoModel { why: e.to_string() });
            built.and_then(|scene| match surroundings_of(&scene) == surroundings {
                true => Ok(scene),
                false => Err(GradientError::NotBuilt {
                    what: "the rollout by a parameter of holds or `run`".to_owned(),
                    why: "how the motion depends on it through these is not built",
                }),
            })
        };
        let make_model = |values: &[f64]| make(values).map(|scene| Problem::new(scene.model));
        let make_simulation = |values: &[f64]| {
            begin(make(values)?).map_err(|e| match e {
                RolloutError::Trajectory(e) => e,
                other => GradientError::NoModel {
                    why: other.to_string(),
                }
                .into(),
            })
        };
        let scales: Vec<f64> = values
            .iter()
            .map(|v| if *v == 0.0 { 1.0 } else { v.abs() })
            .collect();
        let mut family = match collides {
            true => family_of_simulations(&make_simulation, values, &scales)?,
            false => Family::new(&make_model, values, &scales)?,
        };
        let mut objective = Outputs {
            rollout: self,
            by,
            values: vec![0.0; by.len()],
            room: Vec::new(),
        };
        let mut trajectory = Trajectory::new(self.steps, self.h);
        if let Some((parameter, node)) = each {
            trajectory.each_element = vec![(parameter, node_named(simulation.model(), node)?)];
        }
        trajectory.smoothing = self.smoothing;
        trajectory.family = Some(&mut family);
        let found = trajectory.gradient(&mut simulation, &mut objective)?;
        drop(trajectory);
        Ok((found, objective.values))
    }

    /// The product with a direction of the Hessian, by the parameters, of a function of the
    /// trajectory whose gradient by the moments `gradient_of` gives, for Newton's method with
    /// conjugate gradients.
    ///
    /// It is the change of the exact gradient along the direction, by central differences of fourth
    /// order, which move every parameter by a thousandth at most: good to about 1e-7 where the
    /// function is smooth. Takes four rollouts and four gradients, whatever the number of
    /// parameters.
    ///
    /// # Errors
    /// [`RolloutError`], and those of `gradient_of`.
    pub fn hessian_product<E: From<RolloutError>>(
        &self,
        values: &[f64],
        direction: &[f64],
        mut gradient_of: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
    ) -> Result<HessianProduct, E> {
        let check =
            |list: &[f64], what| check_length(what, self.parameters, list.len()).map_err(RolloutError::from);
        check(values, "the values of the parameters")?;
        check(direction, "a direction of the parameters")?;
        let mut product = vec![0.0; self.parameters];
        let mut lower = product.clone();
        let numbers = values.iter().chain(direction).all(|x| x.is_finite());
        if !numbers {
            let how = "values and directions are numbers";
            let what = "value or direction that is not finite";
            return Err(RolloutError::NotTaken { what, how }.into());
        }
        // As far as a thousandth of each parameter, or of one where it is zero.
        let moved = values.iter().zip(direction).filter(|(_, d)| **d != 0.0);
        let reach = moved.map(|(v, d)| 1e-3 * if *v == 0.0 { 1.0 } else { v.abs() } / d.abs());
        let reach = reach.fold(f64::INFINITY, f64::min);
        if reach == f64::INFINITY {
            return Ok(HessianProduct { product, spread: 0.0 });
        }
        for (step, weights) in ALONG {
            let moved = values.iter().zip(direction).map(|(v, d)| v + step * reach * d);
            let moved: Vec<f64> = moved.collect();
            let by = gradient_of(&self.run(&moved)?)?;
            let gradient = self.gradient(&moved, &by)?.parameters;
            for (list, weight) in [&mut product, &mut lower].into_iter().zip(weights) {
                let terms = list.iter_mut().zip(&gradient);
                terms.for_each(|(h, g)| *h += weight / reach * g);
            }
        }
        let largest = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0f64, |l, x| l.max(x.abs()));
        let size = largest(&mut product.iter().copied());
        let apart = largest(&mut product.iter().zip(&lower).map(|(a, b)| a - b));
        let spread = if apart == 0.0 { 0.0 } else { apart / size };
        Ok(HessianProduct { product, spread })
    }

    /// The scene for values of the parameters, if a rollout takes it with the steps of this one.
    fn scene(&self, values: &[f64]) -> Result<BuiltScene, RolloutError> {
        check_length("the values of the parameters", self.parameters, values.len())?;
        let scene = (self.build)(values)?;
        check(&scene)?;
        let (length, steps) = (scene.plan.step, scene.plan.steps);
        if length != self.h || steps != self.planned {
            return Err(RolloutError::NotTaken {
                what: "parameter of the length of steps or of their number",
                how: "make a rollout for each of them",
            });
        }
        Ok(scene)
    }

    fn write(&self, simulation: &Simulation, out: &mut Vec<f64>) {
        for (node, quantity) in &self.outputs {
            out.extend_from_slice(match quantity {
                Quantity::Positions => simulation.positions(*node),
                Quantity::Velocities => simulation.velocities(*node),
            });
        }
    }
}

/// The node of a name.
///
/// # Errors
/// [`RolloutError::Node`].
fn node_named(model: &Model, name: &str) -> Result<NodeId, RolloutError> {
    model.node_named(name).ok_or_else(|| {
        let all: Vec<String> = model.nodes().iter().map(|n| format!("`{}`", n.name)).collect();
        RolloutError::Node {
            name: name.to_owned(),
            all: all.join(", "),
        }
    })
}

/// A simulation at the start of a scene.
fn begin(mut scene: BuiltScene) -> Result<Simulation, RolloutError> {
    let mut options = scene.options.clone();
    // Values are those that gradients are of, to the bit.
    options.tuning.newton.exact_stages |= options.integrator == Integrator::Sdirk2;
    let mut simulation = crate::runner::state::simulation(&mut scene, Some(options))?;
    for hold in &scene.holds {
        for element in &hold.elements {
            simulation
                .hold(hold.node, *element, &hold.coordinates, &hold.velocity)
                .map_err(|e| scene.places.error(e))?;
        }
    }
    Ok(simulation)
}

/// All of a scene that a rollout has beside its model and its colliders, as text that tells whether
/// two are the same.
fn surroundings_of(scene: &BuiltScene) -> String {
    let (plan, options) = (&scene.plan, &scene.options);
    let parts = (&scene.holds, plan.step, plan.steps, options);
    format!("{parts:?}")
}

/// The numbers of a rollout as an objective whose gradient is given.
struct Outputs<'a> {
    rollout: &'a Rollout,
    by: &'a [f64],
    values: Vec<f64>,
    room: Vec<f64>,
}

impl Objective for Outputs<'_> {
    fn at(
        &mut self,
        step: usize,
        simulation: &Simulation,
        by: &mut NodeGradient,
    ) -> Result<f64, TrajectoryError> {
        let columns = self.rollout.columns;
        let moment = step * columns..(step + 1) * columns;
        self.room.clear();
        self.rollout.write(simulation, &mut self.room);
        self.values[moment.clone()].copy_from_slice(&self.room);
        let mut given = &self.by[moment];
        for (id, quantity) in &self.rollout.outputs {
            let node = simulation.model().node(*id);
            let velocities = node.velocity_range();
            let own;
            match quantity {
                Quantity::Velocities => {
                    (own, given) = given.split_at(velocities.len());
                    by.v[velocities].iter_mut().zip(own).for_each(|(b, g)| *b += g);
                }
                Quantity::Positions => {
                    (own, given) = given.split_at(node.position_range().len());
                    let by = &mut by.x[velocities];
                    if node.space != Space::Rigid3 {
                        by.iter_mut().zip(own).for_each(|(b, g)| *b += g);
                        continue;
                    }
                    let positions = simulation.positions(*id).chunks_exact(7);
                    for ((by, own), x) in by.chunks_exact_mut(6).zip(own.chunks_exact(7)).zip(positions) {
                        by.iter_mut().zip(&own[..3]).for_each(|(b, g)| *b += g);
                        // dq = q (0, dr/2).
                        let ([w, i, j, k], [a, b, c, d]) =
                            ([x[3], x[4], x[5], x[6]], [own[3], own[4], own[5], own[6]]);
                        by[3] += 0.5 * (-i * a + w * b + k * c - j * d);
                        by[4] += 0.5 * (-j * a - k * b + w * c + i * d);
                        by[5] += 0.5 * (-k * a + j * b - i * c + w * d);
                    }
                }
            }
        }
        let terms = self.room.iter().zip(&self.by[step * columns..]);
        Ok(terms.map(|(x, g)| x * g).sum())
    }
}

/// Refuses what moves a scene beside its own equations, and other methods.
fn check(scene: &BuiltScene) -> Result<(), RolloutError> {
    let Options {
        integrator,
        own_alpha,
        ..
    } = &scene.options;
    let refuse = |what, how| Err(RolloutError::NotTaken { what, how });
    if !has_derivative(integrator) {
        return refuse(
            "other integrator than Sdirk2, Nonlinear and Bdf2",
            "derivatives are those of their steps; write `run: (integrator: Sdirk2, ..)`",
        );
    }
    if *integrator == Integrator::Nonlinear && !own_alpha.is_empty() {
        return refuse(
            "weights of single components",
            "leave out `alpha` of force fields",
        );
    }
    let parts: [(bool, &str, &str); 10] = [
        (
            scene.start.is_some(),
            "`start_from`",
            "give the nodes their positions and velocities",
        ),
        (
            scene.statics.is_some(),
            "statics",
            "the derivative of rest is in the Rust interface",
        ),
        (
            scene.plan.adaptive.is_some(),
            "steps that choose their length",
            "give a `step`",
        ),
        (
            scene
                .holds
                .iter()
                .any(|h| h.from > 0.0 || h.until < f64::INFINITY),
            "holds that begin or end",
            "hold the coordinates all the time",
        ),
        (
            !scene.inputs.is_empty(),
            "inputs that change with time",
            "the Rust interface takes them by a control of each step",
        ),
        (
            !scene.varying.is_empty(),
            "motions that depend on changing parameters",
            "write them over time",
        ),
        (
            !scene.events.list.is_empty(),
            "events",
            "what they change has no derivative here",
        ),
        (
            !scene.events.breaking.is_empty(),
            "elements that break",
            "what is left has other forces, and no derivative here",
        ),
        (
            !scene.controllers.is_empty(),
            "controllers",
            "their derivative is not built",
        ),
        (
            !scene.actuators.is_empty(),
            "actuators",
            "their derivative is not built",
        ),
    ];
    match parts.into_iter().find(|(has, ..)| *has) {
        Some((_, what, how)) => refuse(what, how),
        None => Ok(()),
    }
}
