//! The derivative of a step of two stages and a projection: SDIRK2.
//!
//! **Equation.** With `g = 1 - 1/sqrt 2`, from `(x, v)` with the deformations `e = phi(x)` of mapped
//! nodes (where hard rows hold for these),
//!
//! ```math
//! (x1, v1, e1) from (x, v, e),   (x2, v2, e2) from (x (+) (1 - g) h v1, v + (1 - g)/g (v1 - v), e (+) (1 - g) h J v1)
//! ```
//!
//! by the equations of a [`stage`] of the length `g h`, and the end from `(x2, v2, e2)` by those of
//! the [`projection`]. Each is solved for its own change, forwards or backwards.

mod by;
mod part;
mod projection;
mod residuals;
mod stage;
mod stiffness;
mod turns;

use crate::deformed::{
    Beginning, DeformationPath, Leg, PathEnd, RowOfStep, StepOfRows, deformed_nodes, rows_of_step,
};
use crate::equations::{Equations, Unknown};
use crate::family::check_structure;
use crate::implicit::{SOLVED, check_external};
use crate::kinematics::{Retraction, gather, scatter};
use crate::solve::SolveReport;
use crate::taken::{StepWeights, TakenStep};
use crate::{GradientError, StateVector, check_length};
use pliant_model::{Problem, RowGroup, State};
use projection::{OnStage, Projection};
use residuals::{LastStage, Projected};
use stage::{Given, OnPredictor, Stage, TakenStage};
use std::f64::consts::FRAC_1_SQRT_2;

/// The weight `g` of a stage.
const GAIN: f64 = 1.0 - FRAC_1_SQRT_2;

/// `(1 - g)/g`, the share of the change of velocity in the first stage that its predictor has of
/// the second.
const AHEAD: f64 = (1.0 - GAIN) / GAIN;

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
}

/// A direction on its way forwards.
#[derive(Debug, Default)]
struct Forwards {
    /// At the ends of the stages.
    moved: [StateVector; 2],
    /// At a predictor, and of what is held (n).
    predicted: [Vec<f64>; 3],
    /// Of deformations, of what comes back of them between both stages, and of their way there, on
    /// all nodes.
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
    pub(crate) fn new(problem: &Problem) -> Result<Self, GradientError> {
        let nodes = deformed_nodes(problem);
        let (n, m, all) = (problem.dof_count(), problem.row_count(), problem.velocity_count());
        let [of_dofs, of_nodes] = [n, all].map(|size| vec![0.0; size]);
        Ok(Self {
            start: Equations::new(problem.clone())?,
            stages: [Stage::new(problem, &nodes)?, Stage::new(problem, &nodes)?],
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
    /// [`GradientError::NotSolved`]; [`GradientError::NotBuilt`] for contacts and hard rows that bear on
    /// one side; [`GradientError::Length`], [`GradientError::Structure`], [`GradientError::Model`],
    /// [`GradientError::Solve`].
    pub(crate) fn place(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        check_structure(&self.start.problem, problem, || "the problem".to_owned())?;
        if !self.start.take_parameters(problem) {
            *self = Self::new(problem)?;
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
        let (mut place, mut share) = self.missed();
        if self.projects {
            let (of_projection, missed) = self.place_projection(problem, step)?;
            if missed > share || missed.is_nan() {
                (place, share) = (of_projection, missed);
            }
        } else {
            let (moved, missed) = self.moved_since(problem, step);
            if missed > share || missed.is_nan() {
                (place, share) = (moved, missed);
            }
        }
        // The walk of deformations has moved the mappings on.
        self.take_start(step.start)?;
        match share <= SOLVED {
            true => Ok(()),
            false => Err(GradientError::NotSolved {
                place: place.describe(problem),
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
            };
            self.stages[k].place(stage)?;
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

    /// The equation of a stage that misses the largest share of its terms, and that share.
    fn missed(&self) -> (Unknown, f64) {
        let all = self.stages.iter().map(|stage| {
            let fixed = &stage.implicit.kept.fixed;
            let bound = &stage.implicit.linearised.laws.at_bound;
            stage.implicit.equations.worst(|k| fixed[k], |k| bound[k])
        });
        all.reduce(|a, b| if b.1 > a.1 { b } else { a })
            .unwrap_or((Unknown::Dof(0), 0.0))
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

    /// How positions and velocities at the end move with those at the start, and with changes of
    /// the equations: of all stages and both parts of the projection, one after the other.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Length`].
    pub(crate) fn tangent(
        &mut self,
        from: &StateVector,
        changes: Option<[&[f64]; 2]>,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        from.check(self.start.problem.dof_count())?;
        let changes = self.split(changes)?;
        let ahead = (1.0 - GAIN) * self.step.h;
        self.find_begin(&from.x);
        let Forwards {
            moved: [first, second],
            predicted: [x, v, held],
            begin,
            left,
            way,
        } = &mut self.forwards;
        left.fill(0.0);
        let groups = self.start.problem.row_groups().iter();
        each_beginning(
            &self.start.problem,
            groups,
            &self.rows,
            |k, begins| match begins {
                Beginning::Placed => {}
                Beginning::Held => begin[k] = 0.0,
                Beginning::Returning => {
                    left[k] += (1.0 - GAIN) * begin[k];
                    begin[k] *= GAIN;
                }
            },
        );
        for (h, (v, fixed)) in held.iter_mut().zip(from.v.iter().zip(&self.step.fixed)) {
            *h = if *fixed { (1.0 - GAIN) * v } else { 0.0 };
        }
        let given = Given {
            x: &from.x,
            v: &from.v,
            held,
            begin,
            changes: changes[0],
        };
        let mut report = self.stages[0].tangent(given, first)?;
        // The predictor of the second stage.
        x.copy_from_slice(&first.v);
        self.between[0].of_displacement(x);
        v.copy_from_slice(&from.x);
        self.between[0].of_start(v);
        x.iter_mut().zip(&*v).for_each(|(x, e)| *x = ahead * *x + e);
        for (v, (one, start)) in v.iter_mut().zip(first.v.iter().zip(&from.v)) {
            *v = AHEAD * one + (1.0 - AHEAD) * start;
        }
        let [_, velocities] = self.stages[0].implicit.linearised.moved();
        way.copy_from_slice(velocities);
        self.between[1].of_displacement(way);
        self.between[1].of_start(begin);
        let ways = way.iter().zip(&*left);
        let begins = begin.iter_mut().zip(ways);
        begins.for_each(|(b, (way, left))| *b += ahead * way + left);
        held.fill(0.0);
        let given = Given {
            x,
            v,
            held,
            begin,
            changes: changes[1],
        };
        report = report.with(self.stages[1].tangent(given, second)?);
        if !self.projects {
            out.copy(second);
            return Ok(report);
        }
        let last = &self.stages[1].implicit.linearised;
        let found = self
            .projection
            .tangent(last, second, [changes[2], changes[3]], out)?;
        Ok(report.with(found))
    }

    /// Changes of the equations of each stage and of both parts of the projection.
    ///
    /// # Errors
    /// [`GradientError::Length`].
    fn split<'a>(
        &self,
        changes: Option<[&'a [f64]; 2]>,
    ) -> Result<[Option<[&'a [f64]; 2]>; 4], GradientError> {
        let Some([dr, ds]) = changes else {
            return Ok([None; 4]);
        };
        let (n, m) = (self.room.len(), self.rows.len());
        check_length("a change of the forces", 4 * n, dr.len())?;
        check_length("a change of the rows", 4 * m, ds.len())?;
        let part = |k: usize| Some([&dr[k * n..(k + 1) * n], &ds[k * m..(k + 1) * m]]);
        Ok([part(0), part(1), part(2), part(3)])
    }

    /// Finds how the deformations of the start move with displacements of its independent
    /// coordinates (n).
    fn find_begin(&mut self, x: &[f64]) {
        let Equations {
            problem, evaluation, ..
        } = &self.start;
        let begin = &mut self.forwards.begin;
        scatter(problem, x, begin);
        evaluation.push_forward(problem, begin);
    }

    /// The gradient of a function of the end by positions and velocities at the start.
    ///
    /// # Errors
    /// As [`tangent`](Self::tangent).
    pub(crate) fn adjoint(
        &mut self,
        from: &StateVector,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        from.check(self.start.problem.dof_count())?;
        let ahead = (1.0 - GAIN) * self.step.h;
        let mut report = SolveReport::default();
        let Self {
            start,
            rows,
            nodes,
            stages: [one, two],
            projection,
            between,
            backwards:
                Backwards {
                    on_stage,
                    on_predictor: on,
                    on_first,
                    still,
                    velocities,
                    begin,
                    left,
                },
            ..
        } = self;
        if self.projects {
            report = projection.adjoint(&two.implicit.linearised, from, on_stage)?;
        } else {
            on_stage.end.copy(from);
            for list in &mut on_stage.nodes {
                list.clear();
                list.resize(still.len(), 0.0);
            }
        }
        let [seen, of_velocities, moved] = &on_stage.nodes;
        report = report.with(two.adjoint(&on_stage.end, [seen, of_velocities, moved], on)?);
        // Against the first stage, and the start.
        on_first.x.fill(0.0);
        on_first.v.clone_from(&on.x);
        between[0].of_displacement_transposed(&mut on_first.v);
        for (f, v) in on_first.v.iter_mut().zip(&on.v) {
            *f = ahead * *f + AHEAD * v;
        }
        between[0].of_start_transposed(&mut on.x);
        out.x.clone_from(&on.x);
        out.v.clear();
        out.v.extend(on.v.iter().map(|v| (1.0 - AHEAD) * v));
        velocities.copy_from_slice(&on.begin);
        between[1].of_displacement_transposed(velocities);
        velocities.iter_mut().for_each(|v| *v *= ahead);
        left.copy_from_slice(&on.begin);
        between[1].of_start_transposed(&mut on.begin);
        begin.copy_from_slice(&on.begin);
        keep_listed(&start.problem, nodes, velocities);
        report = report.with(one.adjoint(on_first, [&*still, &*velocities, &*still], on)?);
        out.x.iter_mut().zip(&on.x).for_each(|(o, x)| *o += x);
        for (o, (v, held)) in out.v.iter_mut().zip(on.v.iter().zip(&on.held)) {
            *o += v + (1.0 - GAIN) * held;
        }
        begin.iter_mut().zip(&on.begin).for_each(|(b, d)| *b += d);
        keep_listed(&start.problem, nodes, begin);
        let Equations {
            problem, evaluation, ..
        } = start;
        let groups = problem.row_groups().iter().rev();
        each_beginning(problem, groups, rows, |k, begins| match begins {
            Beginning::Placed => {}
            Beginning::Held => begin[k] = 0.0,
            Beginning::Returning => begin[k] = GAIN * begin[k] + (1.0 - GAIN) * left[k],
        });
        evaluation.pull_back(problem, begin);
        gather(problem, begin, &mut self.room);
        out.x.iter_mut().zip(&self.room).for_each(|(o, x)| *o += x);
        Ok(report)
    }
}

/// Visits the velocity coordinates of the rows of groups, and where their deformations begin. Those of
/// several groups on one node begin one after the other.
fn each_beginning<'a>(
    problem: &Problem,
    groups: impl Iterator<Item = &'a RowGroup>,
    rows: &[RowOfStep],
    mut f: impl FnMut(usize, Beginning),
) {
    for group in groups {
        let first = problem.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            f(first + k, rows[group.first_row + k].begins);
        }
    }
}

/// Sets the entries of all nodes but some to zero.
fn keep_listed(problem: &Problem, listed: &[usize], nodes: &mut [f64]) {
    let mut rest = listed.iter().peekable();
    for (index, node) in problem.nodes().iter().enumerate() {
        if rest.next_if(|one| **one == index).is_none() {
            nodes[node.velocity_range()].fill(0.0);
        }
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
    if !step.contacts.is_empty() {
        return Err(GradientError::NotBuilt {
            what: "contacts in steps of SDIRK2".to_owned(),
            why: "their laws are not in the equations of its stages: take `Integrator::Nonlinear`",
        });
    }
    let (n, m) = (problem.dof_count(), problem.row_count());
    if let Some(stages) = &step.stages {
        check_length("accelerations of the last stage", n, stages.accelerations.len())?;
        check_length("the jump of accelerations", n, stages.jump.len())?;
        check_length("multipliers of the last stage", m, stages.multipliers.len())?;
        check_length("the jump of multipliers", m, stages.multipliers_jump.len())?;
    }
    check_length("fixed coordinates of a step", n, step.fixed.len())?;
    check_external(problem, step.external)
}
