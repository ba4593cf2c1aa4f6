//! The derivative of a step of two stages and a projection: SDIRK2.
//!
//! **Equation.** With `g = 1 - 1/sqrt 2`, from `(x, v)` with the deformations `e = phi(x)` of mapped
//! nodes (where hard rows hold for these),
//!
//! ```math
//! (x1, v1, e1) from (x, v, e),   (x2, v2, e2) from (x (+) (1 - g) h v1, v + (1 - g)/g (v1 - v), e (+) (1 - g) h J v1)
//! ```
//!
//! by the equations of a [`stage`] of the length `g h`, with the [`contacts`] that are expected at its end,
//! and the end from `(x2, v2, e2)` by those of
//! the [`projection`]. Each is solved for its own change, forwards or backwards.

mod by;
mod chain;
mod contacts;
mod part;
mod projection;
mod residuals;
mod stage;
mod stiffness;
mod turns;

use crate::deformed::{DeformationPath, Leg, PathEnd, RowOfStep, StepOfRows, deformed_nodes, rows_of_step};
use crate::equations::{Equations, Unknown};
use crate::family::check_structure;
use crate::implicit::{Implicit, SOLVED, check_external};
use crate::kinematics::{Retraction, gather};
use crate::taken::{StepWeights, TakenStep};
use crate::{GradientError, StateVector, check_length};
use contacts::of_stage;
use pliant_model::{NodeId, Problem, State};
use projection::{OnStage, Projection};
use residuals::{LastStage, Projected};
use stage::{OnPredictor, Stage, TakenStage};
use std::f64::consts::FRAC_1_SQRT_2;

/// The weight `g` of a stage.
const GAIN: f64 = 1.0 - FRAC_1_SQRT_2;

/// `(1 - g)/g`, the share of the change of velocity in the first stage that its predictor has of
/// the second.
const AHEAD: f64 = (1.0 - GAIN) / GAIN;

/// `g/(1 - g)`, the share of the change of the accelerations in the step before by which those of its end
/// go on in the first stage, as contacts are expected.
const ON: f64 = GAIN / (1.0 - GAIN);

/// Share of the largest coordinate that is moved in a step at the least velocity that those of contacts
/// are compared with.
const SLOW: f64 = 1e-6;

/// The derivative of a step of two stages.
#[derive(Debug)]
pub(crate) struct StagedStep {
    /// The mappings at the start.
    start: Equations,
    nodes: Vec<usize>,
    rows: Vec<RowOfStep>,
    stages: [Stage; 2],
    projection: Projection,
    /// Whether there is something to project.
    projects: bool,
    /// From the start to the predictor of the second stage: of the independent coordinates, and of
    /// the deformations.
    between: [Retraction; 2],
    step: PlacedStep,
    forwards: Forwards,
    backwards: Backwards,
    /// Independent coordinates (n).
    room: Vec<f64>,
    by: by::Room,
}

/// The step that is placed.
#[derive(Debug, Default)]
struct PlacedStep {
    h: f64,
    time: f64,
    fixed: Vec<bool>,
    /// Both ends of stages, and both paths of deformations.
    ends: [State; 2],
    paths: [PathEnd; 2],
    /// The end of the step with the velocities of the second stage.
    projected: State,
    /// The velocities at the start and those that the second stage begins with (n).
    velocities: [Vec<f64>; 2],
    multipliers: [Vec<f64>; 2],
    /// Whether accelerations of the step before are known.
    follows: bool,
}

/// A direction on its way forwards.
#[derive(Debug, Default)]
struct Forwards {
    /// At the ends of the stages.
    moved: [StateVector; 2],
    /// At a predictor, and of what is held (n).
    predicted: [Vec<f64>; 3],
    /// Changes of deformations at a predictor, of the part of them that comes back between both stages,
    /// and of their way there (all nodes).
    begin: Vec<f64>,
    left: Vec<f64>,
    way: Vec<f64>,
}

/// Weights on their way backwards.
#[derive(Debug, Default)]
struct Backwards {
    on_stage: OnStage,
    on_predictor: OnPredictor,
    on_first: StateVector,
    /// On all nodes: none, and of velocities at the end of the first stage.
    still: Vec<f64>,
    velocities: Vec<f64>,
    begin: Vec<f64>,
    left: Vec<f64>,
}

impl StagedStep {
    /// Plans the derivative of steps of a problem.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for parts of the model that have no derivative here;
    /// [`GradientError::Model`], [`GradientError::Plan`].
    pub(crate) fn new(problem: &Problem, touching: &[NodeId]) -> Result<Self, GradientError> {
        let start = Equations::new(problem.clone())?;
        if let Some(mass) = &start.curved_mass {
            return Err(GradientError::NotBuilt {
                what: format!("the mass `{mass}` in steps of SDIRK2"),
                why: "it is on a node whose mapping is not linear: take `Integrator::Nonlinear`",
            });
        }
        let nodes = deformed_nodes(problem);
        let (n, m, all) = (problem.dof_count(), problem.row_count(), problem.velocity_count());
        let [of_dofs, of_nodes] = [n, all].map(|size| vec![0.0; size]);
        Ok(Self {
            start,
            stages: [
                Stage::new(problem, &nodes, touching)?,
                Stage::new(problem, &nodes, touching)?,
            ],
            projection: Projection::new(problem, &nodes)?,
            projects: !nodes.is_empty() || m > 0,
            nodes,
            rows: Vec::new(),
            between: Default::default(),
            step: PlacedStep {
                fixed: vec![false; n],
                velocities: [of_dofs.clone(), of_dofs.clone()],
                multipliers: [vec![0.0; m], vec![0.0; m]],
                ..PlacedStep::default()
            },
            forwards: Forwards {
                predicted: std::array::from_fn(|_| of_dofs.clone()),
                begin: of_nodes.clone(),
                left: of_nodes.clone(),
                way: of_nodes.clone(),
                ..Forwards::default()
            },
            backwards: Backwards {
                on_first: StateVector::zeros(n),
                still: of_nodes.clone(),
                velocities: of_nodes.clone(),
                begin: of_nodes.clone(),
                left: of_nodes,
                ..Backwards::default()
            },
            room: of_dofs,
            by: by::Room::default(),
        })
    }

    /// Takes a step: checks that it solves its equations, linearises these, and factors.
    ///
    /// # Errors
    /// [`GradientError::NotSolved`]; [`GradientError::NotBuilt`] for contacts that are not those of its
    /// stages, for weights or a memory of the step before; [`GradientError::Length`],
    /// [`GradientError::Structure`], [`GradientError::Model`], [`GradientError::Solve`].
    pub(crate) fn place(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        check_structure(&self.start.problem, problem, || "the problem".to_owned())?;
        if !self.start.take_parameters(problem) {
            let touching = self.stages[0].implicit.touching.clone();
            *self = Self::new(problem, &touching)?;
        }
        check_step(problem, step)?;
        for stage in &mut self.stages {
            stage.implicit.begin(problem)?;
        }
        self.projection.equations.take_parameters(problem);
        (self.step.h, self.step.time) = (step.h, step.time);
        self.step.fixed.copy_from_slice(step.fixed);
        self.take_start(step.start)?;
        self.place_stages(problem, step)?;
        let (mut place, mut share) = self.missed(step);
        if self.projects {
            let (of_projection, missed) = self.place_projection(problem, step)?;
            if missed > share || missed.is_nan() {
                (place, share) = (Some(of_projection), missed);
            }
        } else {
            let (moved, missed) = self.moved_since(problem, step);
            if missed > share || missed.is_nan() {
                (place, share) = (Some(moved), missed);
            }
        }
        // The walk of deformations has moved the mappings on.
        self.take_start(step.start)?;
        match share <= SOLVED {
            true => Ok(()),
            false => Err(GradientError::NotSolved {
                place: place.map_or_else(|| "a contact".to_owned(), |place| place.describe(problem)),
                share,
                limit: SOLVED,
            }),
        }
    }

    /// Places the mappings at the start.
    fn take_start(&mut self, start: &State) -> Result<(), GradientError> {
        let Equations {
            problem,
            evaluation,
            state,
            ..
        } = &mut self.start;
        state.clone_from(start);
        evaluation.propagate(problem, state)?;
        Ok(())
    }

    /// Finds both stages and their deformations, and places their equations.
    fn place_stages(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        let Some(taken) = step.stages else { return Ok(()) };
        let (w, ahead) = (GAIN * step.h, (1.0 - GAIN) * step.h);
        let [start, second] = &mut self.step.velocities;
        gather(problem, &step.start.velocities, start);
        let [one, two] = &mut self.step.ends;
        one.clone_from(step.start);
        two.clone_from(step.start);
        let [velocity, way, _] = &mut self.forwards.predicted;
        for (k, v) in velocity.iter_mut().enumerate() {
            let a = taken.accelerations[k] - taken.jump[k];
            *v = start[k] + w * a;
            second[k] = start[k] + ahead * a;
            way[k] = ahead * *v;
        }
        self.between[0].place(problem, way);
        move_on(problem, one, velocity, w);
        move_on(problem, two, velocity, ahead);
        self.step.follows = taken.before.is_some();
        if !step.contacts.is_empty() {
            // Where contacts are expected at the end of each stage.
            let last = |list: usize, k: usize| taken.before.map_or(0.0, |lists| lists[list][k]);
            for (k, way) in way.iter_mut().enumerate() {
                *way = w * start[k] + w * w * (last(0, k) + ON * last(1, k));
            }
            let [first, other] = &mut self.stages;
            let from = [step.start, step.start];
            first.side.expect(&mut self.start, from, way)?;
            for (k, way) in way.iter_mut().enumerate() {
                let a = taken.accelerations[k] - taken.jump[k];
                *way = w * second[k] + w * w * (a + last(1, k));
            }
            let from = [&*two, step.start];
            other.side.expect(&mut self.start, from, way)?;
        }
        for (k, v) in velocity.iter_mut().enumerate() {
            *v = second[k] + w * taken.accelerations[k];
        }
        move_on(problem, two, velocity, w);
        let [l1, l2] = &mut self.step.multipliers;
        for (k, (l1, l2)) in l1.iter_mut().zip(&mut *l2).enumerate() {
            *l2 = taken.multipliers[k];
            *l1 = taken.multipliers[k] - taken.multipliers_jump[k];
        }
        // A difference is at a bound but for the rounding of what it is made of.
        for group in problem.row_groups() {
            let bounds = problem.bounds(group).map(|(lower, upper)| [lower, upper]);
            for row in group.first_row..group.first_row + group.size * group.count {
                let rounding = 4.0 * f64::EPSILON * l2[row].abs();
                let near = |bound: &f64| (l1[row] - bound).abs() <= rounding;
                if let Some(bound) = bounds.into_iter().flatten().find(near) {
                    l1[row] = bound;
                }
            }
        }
        // The rows see where mappings lead at both ends.
        let Equations {
            evaluation, state, ..
        } = &mut self.start;
        if !step.contacts.is_empty() {
            for end in &mut self.step.ends {
                evaluation.propagate(problem, end)?;
            }
        }
        self.step.projected.clone_from(&self.step.ends[1]);
        evaluation.propagate(problem, &mut self.step.projected)?;
        evaluation.propagate(problem, state)?;
        evaluation.evaluate(problem, state)?;
        let of_rows = StepOfRows {
            ends: [state, &self.step.projected],
            times: [step.time, step.time + step.h],
            multipliers: [&self.step.multipliers[0], &self.step.multipliers[1]],
            gain: GAIN,
        };
        rows_of_step(problem, evaluation, of_rows, &mut self.rows)?;
        let path = DeformationPath {
            nodes: &self.nodes,
            rows: &self.rows,
            start: step.start,
            time: step.time,
            gain: GAIN,
        };
        let (to_first, to_second) = legs(&self.step.ends, step.h, step.time);
        self.step.paths[0].walk(&mut self.start, path, &to_first)?;
        self.step.paths[1].walk(&mut self.start, path, &to_second)?;
        for k in 0..2 {
            let stage = TakenStage {
                reach: w,
                time: if k == 0 { step.time + w } else { step.time + step.h },
                from_velocity: &self.step.velocities[k],
                end: &self.step.ends[k],
                multipliers: &self.step.multipliers[k],
                external: step.external,
                fixed: step.fixed,
                deformations: &self.step.paths[k].positions,
                ahead: &self.step.paths[k].ahead,
                contacts: step.contacts,
                is_second: k == 1,
            };
            self.stages[k].place(stage)?;
        }
        for is_second in [false, true] {
            let places = of_stage(step.contacts, is_second).map(|(_, stage)| stage);
            let expected = std::mem::take(&mut self.stages[0].side.expected);
            let states = [step.start, &expected];
            let placed = self.stages[usize::from(is_second)]
                .side
                .place_gaps(problem, places, states);
            self.stages[0].side.expected = expected;
            placed?;
        }
        let velocities = &self.stages[0].implicit.equations.state.velocities;
        self.between[1].place_nodes(problem, &self.nodes, velocities, ahead);
        Ok(())
    }

    /// Number of rows that a bound holds in a stage.
    pub(crate) fn rows_at_bounds(&self) -> usize {
        let [one, two] = &self.stages;
        let [one, two] = [one, two].map(|stage| &stage.implicit.linearised.laws.at_bound);
        one.iter().zip(two).filter(|(one, two)| **one || **two).count()
    }

    /// The equation of a stage that misses the largest share of its terms, and that share: of a contact,
    /// if of no unknown of the model.
    fn missed(&self, step: &TakenStep<'_>) -> (Option<Unknown>, f64) {
        let largest = step.end.positions.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        let all = self.stages.iter().map(|stage| {
            let Implicit {
                equations,
                linearised,
                saddle,
                kept,
                ..
            } = &stage.implicit;
            let bound = &linearised.laws.at_bound;
            let (place, share) = equations.worst(|k| kept.fixed[k], |k| bound[k]);
            let velocities = kept.end.velocities.iter().chain(&step.start.velocities);
            let fastest = velocities.fold(SLOW * largest / step.h, |l, v| l.max(v.abs()));
            let given = |row: usize| saddle.given_velocity(equations.rows.len() + row);
            let by_contacts = linearised.contacts.missed(&step.start.velocities, fastest, given);
            match by_contacts > share {
                true => (None, by_contacts),
                false => (Some(place), share),
            }
        });
        all.reduce(|a, b| if b.1 > a.1 { b } else { a })
            .unwrap_or((Some(Unknown::Dof(0)), 0.0))
    }

    /// Takes the projection, and returns the equation that misses the largest share of the terms of
    /// the last stage, and that share.
    fn place_projection(
        &mut self,
        problem: &Problem,
        step: &TakenStep<'_>,
    ) -> Result<(Unknown, f64), GradientError> {
        let Self {
            projection,
            stages: [_, last],
            rows,
            step:
                PlacedStep {
                    ends: [_, two],
                    paths: [_, path],
                    projected: end,
                    ..
                },
            ..
        } = self;
        let [d, u] = &mut projection.moved;
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (p, v) = (node.position_range(), node.velocity_range());
            let own = first..first + v.len();
            node.space.local(
                &two.positions[p.clone()],
                &step.end.positions[p],
                &mut d[own.clone()],
            );
            let ends = step.end.velocities[v.clone()].iter().zip(&two.velocities[v]);
            for (u, (end, before)) in u[own].iter_mut().zip(ends) {
                *u = end - before;
            }
        }
        // The end with the velocities of the last stage.
        end.positions.clone_from(&step.end.positions);
        end.velocities.clone_from(&two.velocities);
        end.internal.clone_from(&two.internal);
        let of = Projected {
            reach: GAIN * step.h,
            time: step.time + step.h,
            end,
            rows,
            external: step.external,
            moved: [&[], &[]],
            multipliers: [&[], &[]],
        };
        let before = LastStage {
            forces: last.implicit.equations.evaluation.force(),
            deformations: &path.positions,
            placed: last.implicit.equations.placed(),
        };
        projection.place(of, before, step.fixed)?;
        Ok(projection.missed(&last.implicit.equations, step.fixed))
    }

    /// The coordinate that moved most since the last stage, where nothing is projected, as a share of the
    /// largest of its node or of its way in the step, and of the fastest velocity.
    fn moved_since(&self, problem: &Problem, step: &TakenStep<'_>) -> (Unknown, f64) {
        let two = &self.step.ends[1];
        let largest = |list: &[f64]| list.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        let fastest = largest(&step.end.velocities).max(largest(&step.start.velocities));
        let mut worst = (Unknown::Dof(0), 0.0);
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (p, v) = (node.position_range(), node.velocity_range());
            let last = v.len() - 1;
            let place = largest(&step.end.positions[p.clone()]).max(step.h * fastest);
            let of_places = (&two.positions[p.clone()], &step.end.positions[p], place);
            let of_rates = (&two.velocities[v.clone()], &step.end.velocities[v], fastest);
            for (own, end, size) in [of_places, of_rates] {
                for (k, (a, b)) in own.iter().zip(end).enumerate() {
                    let share = (a - b).abs() / size.max(f64::MIN_POSITIVE);
                    if share > worst.1 || share.is_nan() {
                        worst = (Unknown::Dof(first + k.min(last)), share);
                    }
                }
            }
        }
        worst
    }
}

/// The legs of deformations to the end of the first stage of a step, and to that of the second.
fn legs([one, two]: &[State; 2], h: f64, time: f64) -> ([Leg<'_>; 1], [Leg<'_>; 2]) {
    let w = GAIN * h;
    let leg = |end, dt, time| Leg { end, dt, time };
    let first = leg(one, (1.0 - GAIN) * h, time + w);
    ([leg(one, w, time + w)], [first, leg(two, w, time + h)])
}

/// Moves the independent nodes of a state by velocities of theirs (n) in the time `dt` (s), which they
/// have then.
fn move_on(problem: &Problem, state: &mut State, velocity: &[f64], dt: f64) {
    let mut moved = [0.0; 6];
    for node in problem.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let (p, v) = (node.position_range(), node.velocity_range());
        let own = &velocity[first..first + v.len()];
        state.velocities[v].copy_from_slice(own);
        let (positions, size) = (&mut state.positions[p], node.space.velocity_size());
        let elements = positions.chunks_exact_mut(node.space.position_size());
        for (x, u) in elements.zip(own.chunks_exact(size)) {
            for (m, u) in moved.iter_mut().zip(u) {
                *m = dt * u;
            }
            node.space.retract(x, &moved[..size]);
        }
    }
}

/// Refuses a step that these equations are not of.
///
/// # Errors
/// [`GradientError::NotBuilt`], [`GradientError::Length`].
fn check_step(problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
    if step.before.is_some() || step.weights != StepWeights::END {
        return Err(GradientError::NotBuilt {
            what: "a step of SDIRK2 with weights, or with a memory of the step before".to_owned(),
            why: "its stages have neither",
        });
    }
    if step.contacts.iter().any(|contact| contact.stage.is_none()) {
        return Err(GradientError::NotBuilt {
            what: "contacts of a whole step in one of SDIRK2".to_owned(),
            why: "it has those of its stages",
        });
    }
    let (n, m) = (problem.dof_count(), problem.row_count());
    if let Some(stages) = &step.stages {
        check_length("accelerations of the last stage", n, stages.accelerations.len())?;
        check_length("the jump of accelerations", n, stages.jump.len())?;
        check_length("multipliers of the last stage", m, stages.multipliers.len())?;
        check_length("the jump of multipliers", m, stages.multipliers_jump.len())?;
        for list in stages.before.into_iter().flatten() {
            check_length("accelerations of the step before", n, list.len())?;
        }
    }
    check_length("fixed coordinates of a step", n, step.fixed.len())?;
    check_external(problem, step.external)
}
