//! The derivative of a step from those of its stages and of its projection, forwards and backwards.

use super::contacts::FirstStage;
use super::stage::Given;
use super::{AHEAD, Backwards, Forwards, GAIN, ON, StagedStep};
use crate::deformed::{Beginning, RowOfStep};
use crate::equations::Equations;
use crate::kinematics::{gather, scatter};
use crate::solve::SolveReport;
use crate::{GradientError, StateVector, check_length};
use pliant_model::{Problem, RowGroup};

impl StagedStep {
    /// How positions and velocities at the end, and the accelerations that contacts are expected by, move
    /// with those at the start, and with changes of the equations: of all stages and both parts of the
    /// projection, one after the other. The memory is that of the accelerations of the second stage, and
    /// of how much these are above those of the first.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Length`].
    pub(crate) fn tangent(
        &mut self,
        [from, before]: [&StateVector; 2],
        changes: Option<[&[f64]; 2]>,
        [out, memory]: [&mut StateVector; 2],
    ) -> Result<SolveReport, GradientError> {
        from.check(self.start.problem.dof_count())?;
        before.check(self.start.problem.dof_count())?;
        let (w, follows) = (GAIN * self.step.h, self.step.follows);
        let known = if follows { w * w } else { 0.0 };
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
        let start = &self.start.state.velocities;
        let [one, two] = &mut self.stages;
        let of_contacts = &mut one.side;
        if of_contacts.any || two.side.any {
            let along = &mut of_contacts.along;
            along.v.clone_from(&from.v);
            along.x.clear();
            let last = before.x.iter().zip(&before.v);
            let ways = from.v.iter().zip(last);
            along
                .x
                .extend(ways.map(|(v, (a, c))| w * v + known * (a + ON * c)));
            of_contacts.retraction.of_displacement(&mut along.x);
            x.copy_from_slice(&from.x);
            of_contacts.retraction.of_start(x);
            along.x.iter_mut().zip(&*x).for_each(|(d, x)| *d += x);
            of_contacts.find_gaps(&one.implicit.linearised.contacts, from, None);
        }
        let given = Given {
            x: &from.x,
            v: &from.v,
            held,
            begin,
            start,
            changes: changes[0],
        };
        let mut report = one.tangent(given, first)?;
        // The predictor of the second stage.
        x.copy_from_slice(&first.v);
        self.between[0].of_displacement(x);
        v.copy_from_slice(&from.x);
        self.between[0].of_start(v);
        x.iter_mut().zip(&*v).for_each(|(x, e)| *x = ahead * *x + e);
        for (v, (one, start)) in v.iter_mut().zip(first.v.iter().zip(&from.v)) {
            *v = AHEAD * one + (1.0 - AHEAD) * start;
        }
        let [_, velocities] = one.implicit.linearised.moved();
        if two.side.any {
            let of_contacts = &mut two.side;
            let along = &mut of_contacts.along;
            along.v.clone_from(&from.v);
            along.x.clear();
            let ways = v.iter().zip(first.v.iter().zip(&from.v)).zip(&before.v);
            along
                .x
                .extend(ways.map(|((v, (one, start)), c)| w * v + w * (one - start) + known * c));
            of_contacts.retraction.of_displacement(&mut along.x);
            let mut on = std::mem::take(&mut self.room);
            on.copy_from_slice(x);
            of_contacts.retraction.of_start(&mut on);
            along.x.iter_mut().zip(&on).for_each(|(d, x)| *d += x);
            self.room = on;
            let stage = FirstStage {
                velocities: &one.implicit.equations.state.velocities,
                ahead,
            };
            let contacts = &two.implicit.linearised.contacts;
            of_contacts.find_gaps(contacts, from, Some((stage, &one.side.along.x, velocities)));
        }
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
            start,
            changes: changes[1],
        };
        report = report.with(two.tangent(given, second)?);
        memory.x.clear();
        memory
            .x
            .extend(second.v.iter().zip(&*v).map(|(end, from)| (end - from) / w));
        memory.v.clear();
        let firsts = first.v.iter().zip(&from.v);
        let ways = memory.x.iter().zip(firsts);
        memory.v.extend(ways.map(|(a, (end, from))| a - (end - from) / w));
        if !self.projects {
            out.copy(second);
            return Ok(report);
        }
        let last = &two.implicit.linearised;
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
        let n = self.room.len();
        let ends = self.row_ends();
        check_length("a change of the forces", 4 * n, dr.len())?;
        check_length("a change of the rows", ends[4], ds.len())?;
        let part = |k: usize| Some([&dr[k * n..(k + 1) * n], &ds[ends[k]..ends[k + 1]]]);
        Ok([part(0), part(1), part(2), part(3)])
    }

    /// Where the changes of the rows of each stage, with those of its contacts, and of each part of the
    /// projection begin, one after the other, and where they end.
    pub(super) fn row_ends(&self) -> [usize; 5] {
        let m = self.rows.len();
        let of = |k: usize| {
            m + self
                .stages
                .get(k)
                .map_or(0, |stage| stage.implicit.linearised.contacts.rows())
        };
        let mut ends = [0; 5];
        (0..4).for_each(|k| ends[k + 1] = ends[k] + of(k));
        ends
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

    /// The gradient of a function of the end, and of the accelerations that contacts are expected by
    /// ([`tangent`](Self::tangent)), by positions and velocities at the start and by the memory there.
    ///
    /// # Errors
    /// Every error of [`tangent`](Self::tangent).
    pub(crate) fn adjoint(
        &mut self,
        [from, memory]: [&StateVector; 2],
        [out, before]: [&mut StateVector; 2],
    ) -> Result<SolveReport, GradientError> {
        from.check(self.start.problem.dof_count())?;
        memory.check(self.start.problem.dof_count())?;
        before.clear(from.x.len());
        let w = GAIN * self.step.h;
        let known = if self.step.follows { w * w } else { 0.0 };
        let ahead = (1.0 - GAIN) * self.step.h;
        let mut report = SolveReport::default();
        let Self {
            start,
            rows,
            nodes,
            stages: [one, two],
            projection,
            between,
            room,
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
        let last = memory.x.iter().zip(&memory.v);
        let ends = on_stage.end.v.iter_mut().zip(last.clone());
        ends.for_each(|(end, (a, c))| *end += (a + c) / w);
        let starts = &start.state.velocities;
        report = report.with(two.adjoint(&on_stage.end, [seen, of_velocities, moved], starts, on)?);
        for (v, (a, c)) in on.v.iter_mut().zip(last) {
            *v -= (a + c) / w;
        }
        out.clear(from.x.len());
        // What the accelerations of the first stage have against them.
        room.clear();
        room.extend(memory.v.iter().map(|c| -c));
        if two.side.any {
            let along = &mut two.side.along;
            out.v.copy_from_slice(&along.v);
            let turned = &mut along.v;
            turned.copy_from_slice(&along.x);
            two.side.retraction.of_displacement_transposed(turned);
            two.side.retraction.of_start_transposed(&mut along.x);
            on.x.iter_mut().zip(&along.x).for_each(|(x, d)| *x += d);
            for (k, t) in turned.iter().enumerate() {
                on.v[k] += w * t;
                room[k] += w * w * t;
                before.v[k] += known * t;
            }
        }
        // Against the first stage, and the start.
        on_first.x.fill(0.0);
        on_first.v.clone_from(&on.x);
        between[0].of_displacement_transposed(&mut on_first.v);
        for (f, v) in on_first.v.iter_mut().zip(&on.v) {
            *f = ahead * *f + AHEAD * v;
        }
        let by_first = on_first.v.iter_mut().zip(&mut out.v).zip(&*room);
        by_first.for_each(|((first, start), a)| {
            *first += a / w;
            *start -= a / w;
        });
        between[0].of_start_transposed(&mut on.x);
        let starts_of = out.x.iter_mut().zip(&mut out.v);
        for ((x, v), (on_x, on_v)) in starts_of.zip(on.x.iter().zip(&on.v)) {
            *x += on_x;
            *v += (1.0 - AHEAD) * on_v;
        }
        velocities.copy_from_slice(&on.begin);
        between[1].of_displacement_transposed(velocities);
        velocities.iter_mut().for_each(|v| *v *= ahead);
        left.copy_from_slice(&on.begin);
        between[1].of_start_transposed(&mut on.begin);
        begin.copy_from_slice(&on.begin);
        keep_listed(&start.problem, nodes, velocities);
        // Against where contacts were expected in the first stage, by the gaps of the second one.
        room.fill(0.0);
        if two.side.any {
            let stage = FirstStage {
                velocities: &one.implicit.equations.state.velocities,
                ahead,
            };
            let contacts = &two.implicit.linearised.contacts;
            let first = Some((stage, &mut room[..], &mut velocities[..]));
            two.side.weigh_gaps(contacts, out, first);
        }
        report = report.with(one.adjoint(on_first, [&*still, &*velocities, &*still], starts, on)?);
        if one.side.any {
            one.side.weigh_gaps(&one.implicit.linearised.contacts, out, None);
            let along = &one.side.along;
            room.iter_mut().zip(&along.x).for_each(|(r, x)| *r += x);
            out.v.iter_mut().zip(&along.v).for_each(|(v, d)| *v += d);
        }
        if one.side.any || two.side.any {
            let turned = &mut one.side.along.v;
            turned.clear();
            turned.extend_from_slice(room);
            one.side.retraction.of_displacement_transposed(turned);
            one.side.retraction.of_start_transposed(room);
            out.x.iter_mut().zip(&*room).for_each(|(x, d)| *x += d);
            for (k, t) in turned.iter().enumerate() {
                out.v[k] += w * t;
                before.x[k] += known * t;
                before.v[k] += known * ON * t;
            }
        }
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
