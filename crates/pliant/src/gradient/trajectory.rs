//! The gradient of a function of a trajectory, backwards and forwards.

use super::forward::Forward;
use super::starts;
use super::walk::Walk;
use super::{
    ActiveSet, Family, GradientError, StateVector, StepWeights, TrajectoryError, check_index, check_length,
    check_whole, each_part, step_weights, with_exact_stages,
};
use crate::{Integrator, Simulation};
use pliant_model::NodeId;

/// The gradient of a function of one moment by positions and velocities of all nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeGradient {
    /// By displacements of all nodes, in the order of
    /// [`State::velocities`](pliant_model::State::velocities) (of bodies: translation in world
    /// axes, rotation in body axes).
    pub x: Vec<f64>,
    /// By velocities of all nodes that are independent or mapped linearly, likewise.
    pub v: Vec<f64>,
}

/// A function of a trajectory that is a sum over its moments.
pub trait Objective {
    /// The share of the moment after `step` steps (0 is the start), where the simulation is; adds
    /// its gradient to `by`, which is zero on entry.
    ///
    /// # Errors
    /// Whatever keeps it from having a value.
    fn at(
        &mut self,
        step: usize,
        simulation: &Simulation,
        by: &mut NodeGradient,
    ) -> Result<f64, TrajectoryError>;
}

impl<F: FnMut(usize, &Simulation, &mut NodeGradient) -> f64> Objective for F {
    fn at(
        &mut self,
        step: usize,
        simulation: &Simulation,
        by: &mut NodeGradient,
    ) -> Result<f64, TrajectoryError> {
        Ok(self(step, simulation, by))
    }
}

/// Imposes forces and inputs on a simulation before each step, and leaves its state. Called again,
/// in the same way, for steps that are taken again.
pub type Control<'a> = dyn FnMut(usize, &mut Simulation) -> Result<(), TrajectoryError> + 'a;

/// A trajectory of steps of one length, and how its gradient is found.
///
/// **Use.** Fill in what is wanted, and call [`gradient`](Self::gradient) on a simulation at its
/// start.
pub struct Trajectory<'a> {
    /// Number of steps.
    pub steps: usize,
    /// Length of each (s).
    pub h: f64,
    /// Called before each step.
    pub control: Option<Box<Control<'a>>>,
    /// The models that the gradient by parameters compares.
    pub family: Option<&'a mut Family>,
    /// Nodes the gradient by whose forces from outside is wanted, step by step.
    pub forces_on: Vec<NodeId>,
    /// Parameters of the family that are numbers of the elements of a node, by each of which the
    /// gradient is wanted ([`StepDerivative::by_element`](super::StepDerivative::by_element)).
    pub each_element: Vec<(usize, NodeId)>,
    /// Whether the gradient by the inputs of force fields is wanted, step by step.
    pub inputs: bool,
    /// The energy `kappa` (J) at which contacts are smoothed in the derivative of each step
    /// ([`StepDerivative::place_smoothed`](super::StepDerivative::place_smoothed)), between the
    /// steps as they are taken: contacts that are near have a derivative before they touch, and
    /// friction at its limit has one. None for the derivative of the steps themselves.
    pub smoothing: Option<f64>,
    /// Moments that are kept at the same time, apart from those of one run of
    /// [`run`](Self::run) steps; more of them save steps that are taken again.
    pub slots: usize,
    /// Steps whose ends are recorded one by one: the shorter ranges are not split any more.
    pub run: usize,
}

impl std::fmt::Debug for Trajectory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trajectory")
            .field("steps", &self.steps)
            .field("h", &self.h)
            .finish_non_exhaustive()
    }
}

/// A value and its gradient.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryGradient {
    /// The value of the objective.
    pub value: f64,
    /// By positions and velocities of the independent coordinates at the start; what BDF2 and SDIRK2
    /// remember of steps before it is held.
    pub start: StateVector,
    /// By the parameters of the family, the initial state of its models included.
    pub parameters: Vec<f64>,
    /// By the numbers of the elements that are wanted one by one, in the order of
    /// [`Trajectory::each_element`].
    pub elements: Vec<Vec<f64>>,
    /// Of each step, by the forces from outside on the velocity coordinates of the wanted nodes,
    /// one node after the other.
    pub forces: Vec<Vec<f64>>,
    /// Of each step, by the inputs of all force fields, in the order of
    /// [`Parameters::inputs`](pliant_model::Parameters::inputs), if they are wanted.
    pub inputs: Vec<Vec<f64>>,
    /// How it was found.
    pub report: TrajectoryReport,
}

/// The work of a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrajectoryReport {
    /// Steps that were taken, those taken again included.
    pub steps_taken: usize,
    /// Moments that were kept at the same time, at most.
    pub moments_kept: usize,
    /// Products with exact matrices.
    pub products: usize,
    /// The worst of the last changes of the linear equations.
    pub change: f64,
    /// The branches that the derivative is on, over all steps.
    pub active: ActiveSet,
    /// The largest difference of a velocity at the end of a smoothed step from that of the step
    /// (m/s, rad/s); zero without smoothing.
    pub smoothed_away: f64,
}

/// The end of a trajectory and how it moves along a direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryTangent {
    /// The value of the objective.
    pub value: f64,
    /// Its derivative along the direction.
    pub derivative: f64,
    /// How positions and velocities of the independent coordinates at the end move.
    pub end: StateVector,
}

impl<'b> Trajectory<'b> {
    /// Plans a number of steps of a length, without control, family or further gradients.
    pub fn new(steps: usize, h: f64) -> Self {
        Self {
            steps,
            h,
            control: None,
            family: None,
            forces_on: Vec::new(),
            each_element: Vec::new(),
            inputs: false,
            smoothing: None,
            slots: 20,
            run: 50,
        }
    }

    /// The value of an objective and its gradient, by the adjoint of every step; the simulation
    /// goes to the end of the trajectory. Memory: `slots` checkpoints and `run` moments, whatever
    /// the number of steps, which are taken once to find the value and again, some of them several
    /// times, on the way back (binomial checkpointing; with `steps <= run` once).
    ///
    /// Steps of SDIRK2 are taken with
    /// [`exact_stages`](pliant_stepper::integrator::NewtonOptions::exact_stages).
    ///
    /// An objective depends on parameters through positions and velocities of nodes, mapped ones
    /// included; what else it does with them is not in the gradient.
    ///
    /// # Errors
    /// Those of [`Simulation::step`], and [`TrajectoryError::Gradient`] for what has no derivative;
    /// the simulation is then where it had come to.
    pub fn gradient(
        &mut self,
        simulation: &mut Simulation,
        objective: &mut dyn Objective,
    ) -> Result<TrajectoryGradient, TrajectoryError> {
        let nodes = simulation.model().nodes().len();
        for node in &self.forces_on {
            check_index("node of `forces_on`", node.index(), nodes)?;
        }
        self.project_starts(simulation)?;
        self.check_elements(simulation)?;
        self.check_smoothing(simulation)?;
        with_exact_stages(simulation, |simulation| {
            Walk::new(simulation, self, objective)?.take()
        })
    }

    /// Lets the family begin as the motion does, with projected velocities.
    fn project_starts(&mut self, simulation: &mut Simulation) -> Result<(), TrajectoryError> {
        match &mut self.family {
            Some(family) => starts::project(family, simulation),
            None => Ok(()),
        }
    }

    /// Refuses wanted elements that there are not, and parameters of elements that the start
    /// depends on.
    fn check_elements(&self, simulation: &Simulation) -> Result<(), GradientError> {
        let family = self.family.as_deref();
        for (parameter, node) in &self.each_element {
            check_index(
                "parameter of `each_element`",
                *parameter,
                family.map_or(0, Family::len),
            )?;
            check_index(
                "node of `each_element`",
                node.index(),
                simulation.model().nodes().len(),
            )?;
            let start = family.map(|family| family.start(*parameter));
            if start.into_iter().flatten().flatten().any(|by| *by != 0.0) {
                return Err(GradientError::NotBuilt {
                    what: format!("parameter {parameter} of each element"),
                    why: "the state at the start depends on it, which of which element is not known",
                });
            }
        }
        Ok(())
    }

    /// Refuses smoothed contacts with impacts that are located, whose times a barrier moves, and
    /// with weights of both ends.
    fn check_smoothing(&self, simulation: &Simulation) -> Result<(), GradientError> {
        if self.smoothing.is_none() || simulation.system.contacts.is_none() {
            return Ok(());
        }
        let refuse = |what: &str, why| {
            Err(GradientError::NotBuilt {
                what: format!("smoothed contacts {what}"),
                why,
            })
        };
        if simulation.locates_impacts() {
            return refuse(
                "with `locate_impacts`",
                "the law without branches has no impacts in time",
            );
        }
        if simulation.options.integrator == Integrator::Sdirk2 {
            return refuse(
                "in steps of SDIRK2",
                "their path is written for implicit Euler: take `Integrator::Nonlinear`",
            );
        }
        match step_weights(&simulation.options) == StepWeights::END {
            true => Ok(()),
            false => refuse(
                "in steps with weights",
                "their path is written for implicit Euler: take `alpha` and `beta` of 1",
            ),
        }
    }

    /// The derivative of an objective along a direction of the state at the start and of the
    /// parameters, by the tangent of every step: one pass, without memory.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient), and [`GradientError::Length`]
    /// where the direction is not as long as the coordinates or the parameters of the family (none
    /// without one).
    pub fn tangent(
        &mut self,
        simulation: &mut Simulation,
        objective: &mut dyn Objective,
        direction: &StateVector,
        parameters: &[f64],
    ) -> Result<TrajectoryTangent, TrajectoryError> {
        let dofs = simulation.model().dof_count();
        check_length("displacements of a direction", dofs, direction.x.len())?;
        check_length("velocities of a direction", dofs, direction.v.len())?;
        let family_size = self.family.as_ref().map_or(0, |family| family.len());
        check_length("parameters of a direction", family_size, parameters.len())?;
        self.project_starts(simulation)?;
        self.check_smoothing(simulation)?;
        with_exact_stages(simulation, |simulation| {
            self.carry(simulation, objective, direction, parameters)
        })
    }

    /// Carries a direction to the end of the trajectory.
    ///
    /// # Errors
    /// As [`tangent`](Self::tangent).
    fn carry(
        &mut self,
        simulation: &mut Simulation,
        objective: &mut dyn Objective,
        direction: &StateVector,
        parameters: &[f64],
    ) -> Result<TrajectoryTangent, TrajectoryError> {
        let all = simulation.model().velocity_count();
        let mut start = direction.clone();
        if let Some(family) = &self.family {
            for (k, share) in parameters.iter().enumerate() {
                let [x, v] = family.start(k);
                start.x.iter_mut().zip(x).for_each(|(o, x)| *o += share * x);
                start.v.iter_mut().zip(v).for_each(|(o, v)| *o += share * v);
            }
        }
        let mut out = TrajectoryTangent::default();
        let mut forward = Forward::new(simulation, start, parameters)?;
        forward.smoothing = self.smoothing;
        let (mut by, mut own) = (NodeGradient::default(), StateVector::default());
        for step in 0..=self.steps {
            for list in [&mut by.x, &mut by.v] {
                list.clear();
                list.resize(all, 0.0);
            }
            out.value += objective.at(step, simulation, &mut by)?;
            let (problem, state) = (simulation.problem(), simulation.state());
            forward
                .derivative
                .carry(problem, state, [&by.x, &by.v], &mut own)?;
            out.derivative += own.dot(&forward.direction);
            if let Some(family) = &mut self.family {
                for (k, share) in parameters.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                    out.derivative += share * family.at_state(problem, k, state, [&by.x, &by.v])?;
                }
            }
            if step == self.steps {
                break;
            }
            if let Some(control) = &mut self.control {
                control(step, simulation)?;
            }
            let mut time = simulation.time();
            let family = &mut self.family;
            each_part(simulation, self.h, &mut |simulation, part| {
                check_whole(simulation, time)?;
                time = simulation.time();
                forward.part(simulation, family.as_deref_mut(), part)
            })?;
        }
        out.end = forward.direction;
        Ok(out)
    }
}
