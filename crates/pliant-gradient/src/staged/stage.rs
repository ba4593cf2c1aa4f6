//! The derivative of one stage.

use super::contacts::{StageSide, of_stage};
use crate::contacts::ContactStart;
use crate::deformed::DeformedNodes;
use crate::equations::Kinetics;
use crate::implicit::Implicit;
use crate::kinematics::{Retraction, gather};
use crate::solve::{FactoredStep, Matrix, SolveReport};
use crate::taken::TakenContact;
use crate::{GradientError, StateVector};
use pliant_kkt::Scheme;
use pliant_model::{NodeId, Problem, State};

/// A stage that was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenStage<'a> {
    /// `w`, displacement per velocity, and the time of its end (s).
    pub(super) reach: f64,
    pub(super) time: f64,
    /// Its predictor: velocities of the independent coordinates (n).
    pub(super) from_velocity: &'a [f64],
    /// Its end, of which the independent nodes count, and its multipliers (m; N, N m).
    pub(super) end: &'a State,
    pub(super) multipliers: &'a [f64],
    pub(super) external: &'a [f64],
    pub(super) fixed: &'a [bool],
    /// Positions of all nodes with their deformations at its end, and by how much driven rows are
    /// ahead of their time.
    pub(super) deformations: &'a [f64],
    pub(super) ahead: &'a [f64],
    /// The contacts of the step, and whether it is the second stage.
    pub(super) contacts: &'a [TakenContact],
    pub(super) is_second: bool,
}

/// The equations of a stage from the predictor `(x^, v^, e^)`, and their derivative:
///
/// ```math
/// M (v - v^)/w + w x I w - f(e, v) - J(x)^T lambda = 0,   s(e, v, lambda) = 0
/// x = x^ (+) w v,   e = e^ (+) w J(x) v
/// ```
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) implicit: Implicit,
    retraction: Retraction,
    reach: f64,
    room: [Vec<f64>; 3],
    /// No change of multipliers, and room for theirs.
    rows: [Vec<f64>; 2],
    /// Its contacts.
    pub(super) side: StageSide,
}

/// A direction at the predictor of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    /// Changes of its positions and velocities (n).
    pub(super) x: &'a [f64],
    pub(super) v: &'a [f64],
    /// Changes of the velocities at the end of coordinates that are held; zero of others (n).
    pub(super) held: &'a [f64],
    /// Changes of its deformations, on all nodes.
    pub(super) begin: &'a [f64],
    /// Velocities of all nodes at the start of the step.
    pub(super) start: &'a [f64],
    /// Changes of the equations: of coordinates (n) and rows (m, and those of contacts).
    pub(super) changes: Option<[&'a [f64]; 2]>,
}

/// Weights of the predictor of a stage.
#[derive(Debug, Default)]
pub(super) struct OnPredictor {
    pub(super) x: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) held: Vec<f64>,
    /// Weights of deformations, on all nodes.
    pub(super) begin: Vec<f64>,
}

impl Stage {
    pub(super) fn new(
        problem: &Problem,
        nodes: &[usize],
        touching: &[NodeId],
    ) -> Result<Self, GradientError> {
        let mut implicit = Implicit::new(problem, touching)?;
        implicit.linearised.deformed = Some(DeformedNodes::new(problem, nodes.to_vec()));
        implicit.linearised.moving = nodes.to_vec();
        implicit.kept.deformations.nodes = nodes.to_vec();
        implicit.kept.deformations.are_kept = true;
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            implicit,
            retraction: Retraction::default(),
            reach: 0.0,
            room: std::array::from_fn(|_| vec![0.0; n]),
            rows: std::array::from_fn(|_| vec![0.0; m]),
            side: StageSide::default(),
        })
    }

    /// Evaluates and linearises its equations, and factors.
    ///
    /// # Errors
    /// [`GradientError::Model`], [`GradientError::NotBuilt`] where a law has no finite derivative,
    /// [`GradientError::Solve`].
    pub(super) fn place(&mut self, stage: TakenStage<'_>) -> Result<(), GradientError> {
        self.reach = stage.reach;
        let Implicit {
            equations,
            linearised,
            saddle,
            kept,
            ..
        } = &mut self.implicit;
        if let Some(deformed) = &mut linearised.deformed {
            deformed.reach = stage.reach;
        }
        kept.kinetics = Kinetics::Accelerated { span: stage.reach };
        kept.time = stage.time;
        kept.start_velocity.copy_from_slice(stage.from_velocity);
        kept.take(stage.end, stage.multipliers, stage.external, stage.fixed);
        let deformations = &mut kept.deformations;
        for (list, from) in [
            (&mut deformations.positions, stage.deformations),
            (&mut deformations.ahead, stage.ahead),
        ] {
            list.clear();
            list.extend_from_slice(from);
        }
        let side = &mut self.side;
        let own = of_stage(stage.contacts, stage.is_second);
        side.any = own.clone().next().is_some();
        let contacts = &mut linearised.contacts;
        let of = ContactStart::of_stage(stage.reach, &side.expected, &stage.end.velocities);
        contacts.place(&equations.problem, own.clone().map(|(contact, _)| contact), of)?;
        contacts.take_stages(own.map(|(_, stage)| stage));
        for list in [&mut kept.contacts, &mut kept.contact_sizes] {
            list.clear();
            list.resize(equations.problem.velocity_count(), 0.0);
        }
        contacts.add_forces(&mut kept.contacts);
        contacts.add_sizes(&mut kept.contact_sizes);
        equations.evaluate(&kept.get())?;
        linearised.place(equations, &kept.get())?;
        let displacement = &mut self.room[0];
        gather(&equations.problem, &kept.end.velocities, displacement);
        displacement.iter_mut().for_each(|v| *v *= stage.reach);
        self.retraction.place(&equations.problem, displacement);
        let step = FactoredStep {
            scheme: &Scheme::implicit_euler(stage.reach),
            start: if side.any { &side.expected } else { stage.end },
        };
        saddle.place(equations, linearised, Matrix::Step(step), kept)?;
        let rows = saddle.rhs[1].len();
        self.rows.iter_mut().for_each(|list| list.resize(rows, 0.0));
        Ok(())
    }

    /// How its end moves. The displacements and velocities of all nodes are in
    /// [`Linearised::moved`](crate::linearised::Linearised::moved) then, the deformations in
    /// [`DeformedNodes::seen`].
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Singular`], [`GradientError::Solve`].
    pub(super) fn tangent(
        &mut self,
        given: Given<'_>,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        let reach = self.reach;
        let Self {
            implicit,
            retraction,
            room: [moved, way, scaled],
            rows,
            side,
            ..
        } = self;
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = implicit;
        moved.copy_from_slice(given.x);
        retraction.of_start(moved);
        way.copy_from_slice(given.held);
        retraction.of_displacement(way);
        moved.iter_mut().zip(&*way).for_each(|(m, w)| *m += reach * w);
        let [r, s] = &mut saddle.rhs;
        linearised.begin_at(given.begin);
        linearised.apply(equations, [moved, given.held], &rows[0], [r, s]);
        linearised.begin_still();
        linearised.inertia(equations, given.v, scaled);
        r.iter_mut().zip(&*scaled).for_each(|(r, m)| *r -= m / reach);
        if side.any {
            linearised.add_contacts_by_start(equations, &side.along, given.start, [&mut *r, &mut *s]);
            let own = &mut s[equations.problem.row_count()..];
            linearised.contacts.add_gaps(&side.gaps, own);
        }
        if let Some([dr, ds]) = given.changes {
            r.iter_mut().zip(dr).for_each(|(r, d)| *r += d);
            s.iter_mut().zip(ds).for_each(|(s, d)| *s += d);
        }
        r.iter_mut().chain(&mut *s).for_each(|r| *r = -*r);
        let report = saddle.solve(false, |u, lambda, dr, ds| {
            way.copy_from_slice(u);
            retraction.of_displacement(way);
            way.iter_mut().for_each(|y| *y *= reach);
            linearised.apply(equations, [way, u], lambda, [dr, ds]);
        })?;
        let velocity = &saddle.answer[0];
        way.copy_from_slice(velocity);
        retraction.of_displacement(way);
        out.x.clear();
        out.x.extend(moved.iter().zip(&*way).map(|(m, d)| m + reach * d));
        out.v.clear();
        out.v.extend(velocity.iter().zip(given.held).map(|(v, h)| v + h));
        linearised.push(equations, [&out.x, &out.v]);
        linearised.begin_at(given.begin);
        linearised.see(equations);
        linearised.begin_still();
        Ok(report)
    }

    /// Finds the weights of its predictor from those of its end (n), and of deformations,
    /// velocities and positions of all nodes there, with the velocities of all nodes at the start of the
    /// step. The solution of its adjoint equations is kept, and in its [`side`](Self::side) the weights of
    /// the state that contacts are expected at and of their gaps.
    ///
    /// # Errors
    /// Every error of [`tangent`](Self::tangent).
    pub(super) fn adjoint(
        &mut self,
        on_end: &StateVector,
        on_nodes: [&[f64]; 3],
        start: &[f64],
        out: &mut OnPredictor,
    ) -> Result<SolveReport, GradientError> {
        let reach = self.reach;
        let Self {
            implicit,
            retraction,
            room: [y, u, turned],
            rows,
            ..
        } = self;
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = implicit;
        linearised.pull_back_seen(equations, on_nodes, [y, u]);
        out.begin.clear();
        out.begin
            .extend_from_slice(linearised.deformed.as_ref().map_or(&[], |d| &d.on_begin));
        out.x.clear();
        out.x.extend(on_end.x.iter().zip(&*y).map(|(x, y)| x + y));
        turned.copy_from_slice(&out.x);
        retraction.of_displacement_transposed(turned);
        let [r, s] = &mut saddle.rhs;
        let ends = on_end.v.iter().zip(&*u).zip(&*turned);
        for (r, ((v, u), x)) in r.iter_mut().zip(ends) {
            *r = v + u + reach * x;
        }
        s.fill(0.0);
        out.held.clone_from(r);
        let report = saddle.solve(true, |p, q, ds, dl| {
            linearised.apply_transposed(equations, [p, q], [&mut *y, &mut *u, dl]);
            turned.copy_from_slice(y);
            retraction.of_displacement_transposed(turned);
            for (d, (u, y)) in ds.iter_mut().zip(u.iter().zip(&*turned)) {
                *d = u + reach * y;
            }
        })?;
        implicit.take_adjoint();
        let Implicit {
            equations,
            linearised,
            adjoint: [p, q],
            kept,
            ..
        } = implicit;
        linearised.apply_transposed(equations, [p, q], [y, u, &mut rows[1]]);
        turned.copy_from_slice(y);
        retraction.of_displacement_transposed(turned);
        let free = out.held.iter_mut().zip(&kept.fixed);
        for ((held, fixed), (u, y)) in free.zip(u.iter().zip(&*turned)) {
            *held = if *fixed { *held - u - reach * y } else { 0.0 };
        }
        out.x.iter_mut().zip(&*y).for_each(|(x, y)| *x -= y);
        retraction.of_start_transposed(&mut out.x);
        out.v.resize(p.len(), 0.0);
        linearised.inertia(equations, p, &mut out.v);
        out.v.iter_mut().for_each(|v| *v /= reach);
        if let Some(deformed) = &linearised.deformed {
            let pairs = out.begin.iter_mut().zip(&deformed.on_begin);
            pairs.for_each(|(b, d)| *b -= d);
        }
        if self.side.any {
            self.side.along.clear(p.len());
            let StateVector { x, v } = &mut self.side.along;
            linearised.add_contacts_by_start_transposed(equations, [p, q], start, [&mut *x, &mut *v]);
            x.iter_mut().chain(v).for_each(|w| *w = -*w);
            let own = &q[equations.problem.row_count()..];
            linearised.contacts.weigh_gaps(own, &mut self.side.gaps);
            self.side.gaps.iter_mut().for_each(|w| *w = -*w);
        }
        Ok(report)
    }
}
