//! The derivative of a step from those of its stages and of its projection, forwards and backwards.

use super::stage::Given;
use super::{AHEAD, Backwards, Forwards, GAIN, StagedStep};
use crate::deformed::{Beginning, RowOfStep};
use crate::equations::Equations;
use crate::kinematics::{gather, scatter};
use crate::solve::SolveReport;
use crate::{GradientError, StateVector, check_length};
use pliant_model::{Problem, RowGroup};

impl StagedStep {
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
    /// Every error of [`tangent`](Self::tangent).
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
