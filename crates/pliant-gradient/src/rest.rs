//! The derivative of a state of rest.

use crate::equations::{Equations, KeptMoment};
use crate::kinematics::{gather, scatter};
use crate::linearised::Linearised;
use crate::solve::{Saddle, SolveReport};
use crate::step::SOLVED;
use crate::{Family, GradientError, check_length};
use pliant_model::{Problem, State};

/// A state of rest that was found.
#[derive(Clone, Copy, Debug)]
pub struct RestState<'a> {
    /// Time (s), for rows that are driven.
    pub time: f64,
    /// Positions of all nodes; velocities are not read.
    pub state: &'a State,
    /// Multipliers (N, N m), one per row.
    pub multipliers: &'a [f64],
    /// Forces from outside the model on all nodes (N, N m); empty for none.
    pub external: &'a [f64],
    /// Which independent coordinates are held.
    pub fixed: &'a [bool],
}

/// The derivative of a state of rest, stable or not, by the implicit function theorem: of positions
/// and multipliers by forces from outside and by parameters of the model.
///
/// **Equation.** `f + J^T lambda = 0`, `C lambda + phi = 0` (hard rows: `C = 0`) with the exact
/// derivative by `x` and `lambda`: `K - G` with the whole `G`, `J`, `C`. Rows at a bound keep their
/// multipliers.
///
/// **Use.** As [`StepDerivative`](crate::StepDerivative). At limit and branch points the matrix is
/// singular, and there is no derivative.
#[derive(Debug)]
pub struct RestDerivative {
    equations: Equations,
    linearised: Linearised,
    saddle: Saddle,
    kept: KeptMoment,
    adjoint: [Vec<f64>; 2],
    by_place: Vec<f64>,
    room: [Vec<f64>; 2],
    rows: Vec<f64>,
    still: Vec<f64>,
}

impl RestDerivative {
    /// Plans the derivative of rest of a problem.
    ///
    /// # Errors
    /// As [`StepDerivative::new`](crate::StepDerivative::new).
    pub fn new(problem: &Problem) -> Result<Self, GradientError> {
        let equations = Equations::new(problem.clone())?;
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            linearised: Linearised::new(&equations),
            saddle: Saddle::new(&equations, &[])?,
            equations,
            kept: KeptMoment::default(),
            adjoint: [vec![0.0; n], vec![0.0; m]],
            by_place: vec![0.0; n],
            room: [vec![0.0; n], vec![0.0; n]],
            rows: vec![0.0; m],
            still: vec![0.0; n],
        })
    }

    /// Takes a state of rest of the same problem, whose parameters may have changed: checks that it
    /// is one, linearises, and factors.
    ///
    /// # Errors
    /// As [`StepDerivative::place`](crate::StepDerivative::place).
    pub fn place(&mut self, problem: &Problem, rest: &RestState<'_>) -> Result<(), GradientError> {
        if self.equations.problem.parameters() != problem.parameters() {
            *self = Self::new(problem)?;
        }
        check_length(
            "the multipliers at rest",
            problem.row_count(),
            rest.multipliers.len(),
        )?;
        check_length(
            "the fixed coordinates at rest",
            problem.dof_count(),
            rest.fixed.len(),
        )?;
        let kept = &mut self.kept;
        kept.time = rest.time;
        kept.take(rest.state, rest.multipliers, rest.external, rest.fixed);
        self.equations.evaluate(&kept.get())?;
        self.linearised.place(&mut self.equations, &kept.get())?;
        let bound = &self.linearised.laws.at_bound;
        let (place, share) = self.equations.worst(|k| kept.fixed[k], |k| bound[k]);
        if share > SOLVED {
            return Err(GradientError::NotSolved {
                place: place.describe(problem),
                share,
                limit: SOLVED,
            });
        }
        self.saddle
            .place(&mut self.equations, &self.linearised, None, &self.kept)
    }

    /// How independent coordinates (n) and multipliers (m) move where the residuals of the
    /// equations change by `dr` (N, N m; n) and `ds` (m): by a parameter
    /// ([`equations_by`](Self::equations_by)), or, as `-J^T df`, by forces.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Length`].
    pub fn tangent(
        &mut self,
        [dr, ds]: [&[f64]; 2],
        [x, multipliers]: [&mut Vec<f64>; 2],
    ) -> Result<SolveReport, GradientError> {
        let [r, s] = &mut self.saddle.rhs;
        check_length("a change of the forces", r.len(), dr.len())?;
        check_length("a change of the rows", s.len(), ds.len())?;
        r.iter_mut().zip(dr).for_each(|(r, d)| *r = -d);
        s.iter_mut().zip(ds).for_each(|(s, d)| *s = -d);
        let bound = &self.linearised.laws.at_bound;
        s.iter_mut()
            .zip(bound)
            .filter(|(_, b)| **b)
            .for_each(|(s, _)| *s = 0.0);
        let Self {
            saddle,
            linearised,
            equations,
            still,
            ..
        } = self;
        let report = saddle.solve(false, |y, lambda, dr, ds| {
            linearised.apply(equations, [y, still], lambda, [dr, ds]);
        })?;
        x.clone_from(&saddle.answer[0]);
        multipliers.clone_from(&saddle.answer[1]);
        Ok(report)
    }

    /// Carries the gradient of a function by displacements of all nodes (in the order of
    /// [`State::velocities`]) to the independent coordinates (n), at the placed state.
    ///
    /// # Errors
    /// [`GradientError::Length`].
    pub fn carry(&self, by_x: &[f64], out: &mut Vec<f64>) -> Result<(), GradientError> {
        let problem = &self.equations.problem;
        check_length(
            "a gradient by displacements of all nodes",
            problem.velocity_count(),
            by_x.len(),
        )?;
        let mut nodes = by_x.to_vec();
        self.equations.evaluation.pull_back(problem, &mut nodes);
        out.clear();
        out.resize(problem.dof_count(), 0.0);
        gather(problem, &nodes, out);
        Ok(())
    }

    /// Solves the adjoint equations for the gradient of a function by independent coordinates (n)
    /// and multipliers (m); what it is by forces and parameters is read afterwards
    /// ([`by_force`](Self::by_force), [`by_parameter`](Self::by_parameter)).
    ///
    /// # Errors
    /// As [`tangent`](Self::tangent).
    pub fn adjoint(&mut self, [by_x, by_multipliers]: [&[f64]; 2]) -> Result<SolveReport, GradientError> {
        let [r, s] = &mut self.saddle.rhs;
        check_length("a gradient by coordinates", r.len(), by_x.len())?;
        check_length("a gradient by multipliers", s.len(), by_multipliers.len())?;
        r.copy_from_slice(by_x);
        s.copy_from_slice(by_multipliers);
        let Self {
            saddle,
            linearised,
            equations,
            room: [_, u],
            ..
        } = self;
        let report = saddle.solve(true, |p, q, y, dl| {
            linearised.apply_transposed(equations, [p, q], [y, u, dl]);
        })?;
        for (kept, found) in self.adjoint.iter_mut().zip(&saddle.answer) {
            kept.clone_from(found);
        }
        let bound = &linearised.laws.at_bound;
        let rows = self.adjoint[1].iter_mut().zip(bound).filter(|(_, b)| **b);
        rows.for_each(|(q, _)| *q = 0.0);
        let [p, q] = &self.adjoint;
        let [y, u] = &mut self.room;
        linearised.apply_transposed(equations, [p, q], [&mut *y, u, &mut self.rows]);
        self.by_place.clear();
        let own = by_x.iter().zip(&*y).zip(&self.kept.fixed);
        self.by_place
            .extend(own.map(|((by, y), fixed)| if *fixed { by - y } else { 0.0 }));
        Ok(report)
    }

    /// After [`adjoint`](Self::adjoint): the gradient by the places of the held coordinates (n;
    /// zero of all others).
    pub fn by_place(&self) -> &[f64] {
        &self.by_place
    }

    /// After [`adjoint`](Self::adjoint): the gradient by forces from outside on the velocity
    /// coordinates of all nodes, in the order of [`State::velocities`].
    pub fn by_force(&self, out: &mut Vec<f64>) {
        let problem = &self.equations.problem;
        out.clear();
        out.resize(problem.velocity_count(), 0.0);
        scatter(problem, &self.adjoint[0], out);
        self.equations.evaluation.push_forward(problem, out);
    }

    /// After [`adjoint`](Self::adjoint): the gradient by one parameter of a family of models, whose
    /// held coordinates are where their initial states have them.
    ///
    /// # Errors
    /// As [`StepDerivative::by_parameter`](crate::StepDerivative::by_parameter).
    pub fn by_parameter(&mut self, family: &mut Family, parameter: usize) -> Result<f64, GradientError> {
        let [dr, ds] = [&mut self.room[0], &mut self.rows];
        family.derivative(&self.equations.problem, parameter, &self.kept.get(), [dr, ds])?;
        let [p, q] = &self.adjoint;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Ok(dot(&self.by_place, family.start(parameter)[0]) - dot(p, dr) - dot(q, ds))
    }

    /// The change of the residuals of the placed state with one parameter, that of the places of
    /// held coordinates included, for [`tangent`](Self::tangent).
    ///
    /// # Errors
    /// As [`by_parameter`](Self::by_parameter).
    pub fn equations_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        [dr, ds]: [&mut Vec<f64>; 2],
    ) -> Result<(), GradientError> {
        family.derivative(
            &self.equations.problem,
            parameter,
            &self.kept.get(),
            [&mut *dr, &mut *ds],
        )?;
        let [moved, on_dofs] = &mut self.room;
        let places = family.start(parameter)[0].iter().zip(&self.kept.fixed);
        moved.clear();
        moved.extend(places.map(|(x, fixed)| if *fixed { *x } else { 0.0 }));
        let mut on_rows = vec![0.0; ds.len()];
        self.rows.fill(0.0);
        self.linearised.apply(
            &mut self.equations,
            [moved, &self.still],
            &self.rows,
            [on_dofs, &mut on_rows],
        );
        dr.iter_mut().zip(&*on_dofs).for_each(|(d, a)| *d += a);
        ds.iter_mut().zip(&on_rows).for_each(|(d, a)| *d += a);
        Ok(())
    }
}
