//! Contacts in Newton's method: sequential complementarity.
//!
//! Contacts act where and along the directions that they have at the start of the step, or are
//! expected to have at the end of a stage ([`turn`](super::turn)), by the law that the theta method
//! gives them there: with the velocities `u` at its start,
//! `w = J (v+ - v) + R r + b` and `r` in the law of their cones. All else in the step is nonlinear.
//! Every iteration solves the linearised equations of motion with all cones, for the change of
//! velocity and the whole impulses, so that after a whole Newton step the contacts miss their laws
//! by no more than the solver says. In the merit they are their natural maps, beyond that
//! tolerance.

use super::approach::{Approach, Meeting, any_certain_impact, places_of_impacts, rebounds};
use super::observed::{ContactWork, Quality, StageTime};
use super::rows::{LawOfStep, OfStage};
use super::turn::Turned;
use super::{Base, Bounce, ContactMemory, Contacts, Solved, set_options};
use crate::{Error, Options};
use pliant_solvers::{Solution, SolveError, SolveReport};

/// The laws of the step, and its change of velocity.
#[derive(Debug, Default)]
pub(super) struct NewtonRows {
    /// Right-hand sides in the velocities of the start of the step, which those of an iterate are
    /// made of.
    laws: Vec<f64>,
    /// Change of velocity from the start to the iterate.
    change: Vec<f64>,
    /// Change of each gap from the start of the step to the predictor of the present stage (m);
    /// empty in methods without stages.
    pub(super) moved: Vec<f64>,
    /// Whether each contact bore in the last step.
    bore: Vec<bool>,
    /// Rates at which the velocities of the rows change by the accelerations of before (m/s^2,
    /// rad/s^2 in units of a lever); empty if these are not known.
    falling: Vec<f64>,
    /// Scale of each contact in the merit: the mean diagonal of its Delassus operator.
    scales: Vec<f64>,
    /// Work in the stages so far, of methods with stages.
    staged: Option<ContactWork>,
    /// The largest residual that a solve may leave where only costly methods go on.
    accuracy: f64,
}

/// The motion up to the end of a stage, which impulses are to be told from forces in.
#[derive(Clone, Copy)]
pub(crate) struct StageMotion<'a> {
    /// Velocities of the independent coordinates at its end.
    pub(crate) end: &'a [f64],
    /// Their accelerations before the step; empty if they are not known.
    pub(crate) accelerations: &'a [f64],
    /// Time since the start of the step (s).
    pub(crate) elapsed: f64,
}

/// An iterate of Newton's method.
#[derive(Clone, Copy)]
pub(crate) struct ContactIterate<'a> {
    /// Velocities of the independent coordinates at the start of the step, and at its end.
    pub(crate) start: &'a [f64],
    pub(crate) end: &'a [f64],
    /// Impulses of the rows of the model, and of those of the contacts.
    pub(crate) mu: &'a [f64],
    pub(crate) impulses: &'a [f64],
}

impl NewtonRows {
    fn find_change(&mut self, at: ContactIterate<'_>) {
        let ends = at.end.iter().zip(at.start);
        self.change.clear();
        self.change.extend(ends.map(|(end, start)| end - start));
    }
}

impl Contacts {
    /// Makes the rows of the contacts of the start of the step, of length `h` (s), with the
    /// Jacobians of that state that the assembler has, and puts their impulses over the last step
    /// into `impulses`.
    pub(super) fn start_newton(
        &mut self,
        base: &Base<'_>,
        memory: &ContactMemory,
        h: f64,
        impulses: &mut Vec<f64>,
    ) -> Result<(), Error> {
        self.impact.forget();
        self.newton.moved.clear();
        self.newton.accuracy = base.options.contacts.accuracy;
        self.rows.find_drags(base, &self.detection.list, memory)?;
        self.rows.gather(base, &base.motion.state, &self.detection)?;
        self.note_openings();
        self.take_laws(base, h, 1.0);
        self.rows
            .extend_with_last(&self.detection.list, memory, h, impulses);
        let first = impulses.len() - self.rows.tail.rows();
        let normals = self.rows.first_rows().map(|row| impulses[first + row] != 0.0);
        self.newton.bore.clear();
        self.newton.bore.extend(normals);
        self.rows.bounced = false;
        self.observed.report_mut().restitution = 1.0;
        set_options(&mut self.rows.solver, base);
        Ok(())
    }

    /// Takes right-hand sides in the velocities of the start of the step, with a share of
    /// restitution.
    pub(super) fn take_laws(&mut self, base: &Base<'_>, h: f64, share: f64) {
        let law = LawOfStep {
            h,
            beta: base.scheme.beta,
            overlap: base.options.contacts.overlap,
            share,
            closing: self.turned.closing,
        };
        let stage = OfStage {
            moved: &self.newton.moved,
            active: &self.turned.active,
        };
        self.rows.fill_laws(&self.detection.list, &[], law, stage);
        self.newton.laws.clone_from(&self.rows.tail.b);
    }

    /// Takes the laws of a stage of length `h` (s), without restitution: its predictor is `ahead`
    /// (s) from that of the last one, along the velocities `end` of the independent coordinates.
    pub(super) fn take_stage(&mut self, base: &Base<'_>, h: f64, end: &[f64], ahead: f64) {
        let contacts = self.detection.list.len();
        let Self { rows, newton, .. } = self;
        newton.moved.resize(contacts, 0.0);
        if ahead > 0.0 {
            rows.tail.product_into(end, &mut rows.after);
            let mut row = 0;
            for (moved, own) in newton.moved.iter_mut().zip(&rows.rows) {
                *moved += ahead * rows.after[row];
                row += own.count;
            }
        }
        self.take_laws(base, h, 0.0);
    }

    /// The contacts among which one of the impulses at the end of a stage is that of an impact, the
    /// fewest; none if there is none. Impulses are behind the rows of the model, of which there are
    /// `base_rows`.
    pub(super) fn find_impact(
        &mut self,
        impulses: &[f64],
        base_rows: usize,
        motion: StageMotion<'_>,
        struck: &mut Vec<usize>,
    ) -> Option<Meeting> {
        struck.clear();
        if self.detection.list.is_empty() {
            return None;
        }
        let Self { rows, newton, .. } = self;
        rows.tail.product_into(motion.end, &mut rows.after);
        newton.falling.clear();
        if !motion.accelerations.is_empty() {
            rows.tail.product_into(motion.accelerations, &mut newton.falling);
        }
        let bounded = |((one, row), bore): ((Approach, usize), &bool)| match self.newton.falling.get(row) {
            Some(rate) if !bore => {
                let stopped = self.rows.after[row] + one.velocity;
                one.with_motion_of_contact(stopped, motion.elapsed * rate.abs())
            }
            _ => one,
        };
        [Meeting::Anew, Meeting::Any].into_iter().find(|meeting| {
            let all = self.approaches(impulses, base_rows, *meeting);
            let all = all.zip(self.rows.first_rows()).zip(&self.newton.bore);
            struck.extend(places_of_impacts(all.map(bounded)));
            !struck.is_empty()
        })
    }

    /// Whether one of the impulses of an iterate that is no solution yet is that of an impact all
    /// the same, of a contact that did not bear before.
    pub(super) fn has_certain_impact(&self, impulses: &[f64], base_rows: usize) -> bool {
        any_certain_impact(self.approaches(impulses, base_rows, Meeting::Anew))
    }

    /// Finds the contacts that bear by the impulses of the first stage, behind so many rows of the
    /// model, and leave at the velocities `end` of the second though they came in.
    pub(super) fn find_rebounds(
        &mut self,
        first: &[f64],
        base_rows: usize,
        end: &[f64],
        struck: &mut Vec<usize>,
    ) {
        struck.clear();
        if self.detection.list.is_empty() {
            return;
        }
        self.rows.tail.product_into(end, &mut self.rows.after);
        let leaving = self.rows.first_rows().map(|row| self.rows.after[row]);
        struck.extend(rebounds(
            self.approaches(first, base_rows, Meeting::Any).zip(leaving),
        ));
    }

    /// The approach of every contact.
    fn approaches(
        &self,
        impulses: &[f64],
        base_rows: usize,
        meeting: Meeting,
    ) -> impl Iterator<Item = Approach> + Clone {
        let Turned { opening, active, .. } = &self.turned;
        let bore = |i: usize| active.get(i).is_some_and(|active| *active);
        let contacts = self.detection.list.contacts().iter().zip(opening);
        let rows = self.rows.first_rows().zip(&self.rows.rows);
        let all = contacts.zip(rows).zip(&self.newton.scales).enumerate();
        all.map(move |(i, (((contact, opening), (row, rows)), scale))| {
            // Of the Delassus operator, which has the joints; of the rough scale without it. Both
            // have the compliance of the normal among their rows.
            let (response, own) = match self.rows.solver.diagonal_block(base_rows + row) {
                Some(block) => (block[0], 1),
                None => (*scale, rows.count),
            };
            Approach {
                velocity: match meeting {
                    Meeting::Anew if bore(i) => 0.0,
                    _ => -opening,
                },
                change: (response - self.rows.tail.r[row] / own as f64) * impulses[row],
                is_hard: contact.law.compliance == 0.0,
            }
        })
    }

    /// `out += J^T r factor`.
    pub(crate) fn add_impulses(&self, r: &[f64], factor: f64, out: &mut [f64]) {
        self.rows.tail.add_transpose_product(r, factor.recip(), out);
    }

    /// `out += |J|^T |r|`.
    pub(crate) fn add_sizes(&self, r: &[f64], out: &mut [f64]) {
        self.rows.tail.add_sizes(r, out);
    }

    /// Fills the system at an iterate, with the whole impulses unknown: those of the iterate are
    /// taken out of the right-hand side again.
    pub(super) fn fill_iterate(&mut self, base: &Base<'_>, at: ContactIterate<'_>) -> Result<(), Error> {
        let Self { rows, newton, .. } = self;
        newton.find_change(at);
        rows.tail.product_into(&newton.change, &mut rows.after);
        for ((b, law), moved) in rows.tail.b.iter_mut().zip(&newton.laws).zip(&rows.after) {
            *b = law + moved;
        }
        rows.extended.fill(base.system(), &[], &rows.tail)?;
        rows.extended.add_impulses(&rows.tail, at.impulses, -1.0);
        rows.tail.b.copy_from_slice(&newton.laws);
        Ok(())
    }

    /// Lets the next solves leave so large a residual, or that of the options, where only costly
    /// methods would go on: while the other equations miss more, theirs need not be met better.
    pub(super) fn set_accuracy(&mut self, options: &Options, most: f64) {
        self.newton.accuracy = options.contacts.accuracy.max(most);
    }

    /// Whether the last solve is as accurate as that of the end of a step has to be, or is as
    /// accurate as it gets.
    pub(super) fn is_accurate(&self, options: &Options) -> bool {
        let enough = options.contacts.accuracy;
        self.newton.accuracy <= enough || self.observed.report().residual <= enough
    }

    /// Factors the filled system.
    pub(super) fn prepare_iterate(&mut self, base: &Base<'_>) -> Result<(), Error> {
        let rows = &mut self.rows;
        rows.solver.set_accuracy(self.newton.accuracy);
        let Some(system) = rows.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let prepared = rows.solver.prepare(base.contact_system(system, &rows.cones));
        prepared.map_err(|e| base.error(e))
    }

    /// Takes the scales of the merit from the filled system, behind so many rows of the model.
    pub(super) fn weigh(&mut self, base_rows: usize) {
        let Self { rows, newton, .. } = self;
        newton.scales.clear();
        let Some(system) = rows.system() else {
            return;
        };
        let mut row = base_rows;
        for own in &rows.rows {
            let all = row..row + own.count;
            row += own.count;
            let scale = |i: usize| system.row_scale(i) + system.r_diagonal(i);
            let sum: f64 = all.map(scale).sum();
            newton.scales.push(sum / own.count as f64);
        }
    }

    /// Sum of the squares of the natural maps (m/s) of an iterate, each beyond a share of the
    /// largest velocity that there is without impulses.
    pub(crate) fn merit(&mut self, at: ContactIterate<'_>, options: &Options) -> f64 {
        let reached = self.reached(options);
        let Self { rows, newton, .. } = self;
        newton.find_change(at);
        rows.tail.product_into(&newton.change, &mut rows.after);
        let (laws, impulses) = (&newton.laws, at.impulses);
        let largest = laws.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let first = rows.cones.len() - rows.rows.len() - rows.drags.list.len();
        let (mut sum, mut row) = (0.0, 0);
        for ((own, cone), s) in rows.rows.iter().zip(&rows.cones[first..]).zip(&newton.scales) {
            let all = row..row + own.count;
            row += own.count;
            let (Some(cone), true) = (cone, *s > 0.0) else {
                continue;
            };
            let (mut w, mut r) = ([0.0; 6], [0.0; 6]);
            for (k, i) in all.clone().enumerate() {
                w[k] = rows.after[i] + rows.tail.r[i] * impulses[i] + laws[i];
            }
            let shift = cone.shift(&w[..own.count]);
            for (k, i) in all.clone().enumerate() {
                r[k] = impulses[i] - w[k] / s;
            }
            r[0] -= shift / s;
            cone.project(&mut r[..own.count]);
            let miss = r
                .iter()
                .zip(&impulses[all])
                .fold(0.0f64, |a, (p, r)| a.hypot(p - r));
            sum += (s * miss - reached * largest).max(0.0).powi(2);
        }
        for i in row..impulses.len() {
            let miss = rows.after[i] + rows.tail.r[i] * impulses[i] + laws[i];
            sum += (miss.abs() - reached * largest).max(0.0).powi(2);
        }
        sum
    }

    /// One solve, from the impulses of the iterate; those of the rows of the model go into
    /// `solution`, those of the contacts into `out`.
    pub(super) fn solve_iterate(
        &mut self,
        base: &Base<'_>,
        at: ContactIterate<'_>,
        solution: &mut Solution,
        out: &mut Vec<f64>,
    ) -> Result<SolveReport, Error> {
        let rows = &mut self.rows;
        rows.solution.mu.clear();
        rows.solution.mu.extend_from_slice(at.mu);
        rows.solution.mu.extend_from_slice(at.impulses);
        let Some(system) = rows.extended.system() else {
            let error = SolveError::NotPrepared;
            return Err(Error::from_solver(error, base.model, base.motion.time));
        };
        let found = rows.solver.solve(system, &mut rows.solution);
        let found = found.map_err(|e| base.error(e))?;
        self.check_work(base, found.outcome)?;
        let rows = &mut self.rows;
        let (own, contacts) = rows.solution.mu.split_at(at.mu.len());
        solution.x.clone_from(&rows.solution.x);
        solution.mu.clear();
        solution.mu.extend_from_slice(own);
        out.clear();
        out.extend_from_slice(contacts);
        self.observed.take(&found, Quality::of(&found));
        Ok(found.linear)
    }

    /// The largest velocity of a contact that there is without impulses, as of the last solve
    /// (m/s).
    pub(crate) fn free_velocity(&self) -> f64 {
        let free = self.rows.solver.free_velocities();
        let free = &free[free.len().saturating_sub(self.rows.tail.rows())..];
        free.iter().fold(0.0f64, |a, v| a.max(v.abs()))
    }

    /// The largest velocity that there is without the impulses of contacts and of rows of bounded
    /// force, of either of them, as of the last solve (m/s, rad/s): these are solved together, to a
    /// share of it.
    pub(crate) fn largest_free_velocity(&self) -> f64 {
        let free = self.rows.solver.free_velocities().iter();
        free.fold(0.0f64, |a, v| a.max(v.abs()))
    }

    /// How contacts came out of the last solve of an iterate with their restitution.
    pub(crate) fn bounce_of_iterate(&mut self, at: ContactIterate<'_>, options: &Options) -> Bounce {
        if !self.bounces() {
            return Bounce::Good;
        }
        if self.observed.has_failed() {
            return Bounce::Jams;
        }
        let reached = self.reached(options);
        let rows = &mut self.rows;
        rows.tail.product_into(at.end, &mut rows.after);
        match rows.gain(at.impulses) > reached.max(1e-12) * rows.exchanged(at.impulses) {
            true => Bounce::MakesEnergy,
            false => Bounce::Good,
        }
    }

    /// Forgets the work in stages.
    pub(super) fn forget_stages(&mut self) {
        self.newton.staged = None;
        super::stages::forget(&mut self.stages);
    }

    /// Enters the work of the impulses of a stage at its velocities.
    pub(super) fn tally_stage(&mut self, at: ContactIterate<'_>, time: StageTime) {
        let Self { rows, newton, .. } = self;
        let work = newton.staged.get_or_insert_default();
        if self.detection.list.is_empty() {
            return;
        }
        rows.tail.product_into(at.end, &mut rows.after);
        let mut row = 0;
        for (contact, own) in self.detection.list.contacts().iter().zip(&rows.rows) {
            let all = row..row + own.count;
            let impulses = &at.impulses[all.clone()];
            work.add_stage(contact, own, impulses, &rows.after[all], time);
            row += own.count;
        }
        work.add_drag(&at.impulses[row..], &rows.after[row..], time);
    }

    /// Reads the contacts of the last iterate, of a step of length `h` (s).
    pub(super) fn read_iterate(&mut self, base: &Base<'_>, at: ContactIterate<'_>, h: f64) {
        let list = &self.detection.list;
        let impulses: &[f64] = if list.is_empty() {
            self.rows.tail.clear();
            self.rows.drags.list.clear();
            self.rows.after.clear();
            self.turned.before.clear();
            &[]
        } else {
            self.rows.tail.product_into(at.end, &mut self.rows.after);
            let largest = self.free_velocity();
            self.observed.set_noise(self.reached(base.options), largest);
            self.turned.find_start_velocities(&self.rows);
            at.impulses
        };
        self.observed.read(&Solved {
            list,
            rows: &self.rows.rows,
            drags: &self.rows.drags.list,
            before: &self.turned.before,
            after: &self.rows.after,
            impulses,
            h,
            beta: base.scheme.beta,
        });
        if let Some(staged) = self.newton.staged.take() {
            self.observed.take_stages(staged);
        }
    }
}
