//! Readings of the contacts of a step: impulses, velocities, work, and how well their law is
//! solved.

use super::impact::Unconverged;
use super::{
    Contact, ContactEvent, ContactKey, ContactList, ContactMemory, ContactReading, ContactRows, ContactState,
    ContactsReport, Detection, Drag, FrictionCoupling,
};
use crate::motion::clone_into_buffers;
use crate::{Error, StepReport};
use pliant_dense::{Vec3, rotation};
use pliant_model::{Model, NodeId, Space, State};
use pliant_solvers::Status;
use pliant_solvers::complementarity::{ConicSolver, IslandReport, Outcome};
use std::ops::Range;

/// Share of the largest friction by which that of a contact that slips may be off (rounding of its
/// solve).
const ON_CONE: f64 = 1e-3;

/// A contact does not slip below this share of its velocity at the start of the step, and of the
/// largest velocity that there is without impulses (for which there are this many residuals at
/// least).
const AT_REST: f64 = 1e-6;
const RESIDUALS_AT_REST: f64 = 10.0;

/// The readings of a step, and the quality of its solution.
#[derive(Debug)]
pub struct Observed {
    observation: Observation,
    /// Average force and torque over the step in the world (N, N m), by key, ascending.
    forces: Vec<(ContactKey, [f64; 6])>,
    pub(crate) work: ContactWork,
    outcome: Outcome,
    /// Row block of the system that misses its cone most.
    worst: usize,
    /// Velocity that counts as none (m/s).
    noise: f64,
    /// The solver that failed in the last step that was taken in halves in vain.
    pub failed: Option<Box<ConicSolver>>,
}

/// Observed contacts of the last step, as plain values.
#[derive(Debug, Default)]
pub struct Observation {
    /// Length of the last step (s).
    step: f64,
    /// Its contacts.
    list: ContactList,
    readings: Vec<ContactReading>,
    events: Vec<ContactEvent>,
    report: ContactsReport,
}

clone_into_buffers!(Observation {
    step,
    list,
    readings,
    events,
    report,
});

impl Observation {
    /// Adds the readings of islands that were taken by themselves in the same step, maybe in parts:
    /// impulses count as if their forces were those of the whole step.
    fn join(&mut self, others: &Self) {
        let share = self.step / others.step;
        for (i, reading) in others.readings.iter().enumerate() {
            self.list.take(&others.list, i);
            self.readings.push(ContactReading {
                impulse: reading.impulse.map(|r| share * r),
                torque_impulse: reading.torque_impulse.map(|r| share * r),
                ..*reading
            });
        }
        self.events.extend_from_slice(&others.events);
        self.report.take_in(&others.report);
        self.report.add_islands(&others.report);
    }

    /// The readings, each with its contact and the elements that it acts on.
    pub(super) fn with_supports(
        &self,
    ) -> impl Iterator<Item = (&ContactReading, (&Contact, &[pliant_kkt::Support]))> {
        self.readings.iter().zip(self.list.with_supports())
    }
}

/// Energy that the impulses of the contacts brought in over a step (J).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactWork {
    /// Of all impulses, at the mean velocity.
    all: f64,
    pub(crate) friction: f64,
    /// Along the normals of hard contacts.
    pub(crate) impacts: f64,
    /// By the damping of compliant ones.
    pub(crate) damping: f64,
    /// Numerically, by the compliance of compliant ones.
    pub(crate) stiffness: f64,
    /// Work of the impulses of friction and impacts on the change of the velocity.
    pub(crate) on_change: f64,
}

/// The contacts of a step with their rows, as solved.
#[derive(Clone, Copy, Debug)]
pub struct Solved<'a> {
    /// The contacts.
    pub list: &'a ContactList,
    /// Their rows.
    pub rows: &'a [ContactRows],
    /// Rows of viscous friction, in the order of the contacts.
    pub drags: &'a [Drag],
    /// Velocities of the rows at the start of the step.
    pub before: &'a [f64],
    /// Velocities of the rows at its end.
    pub after: &'a [f64],
    /// Impulses of the rows.
    pub impulses: &'a [f64],
    /// Length of the step (s); positions move by `h (beta u+ + (1 - beta) u)`.
    pub h: f64,
    /// Weight of the velocity at the end.
    pub beta: f64,
}

/// How far a solution is from the law of its contacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality {
    outcome: Outcome,
    residual: f64,
    de_saxce: f64,
    velocity_residual: f64,
}

impl Quality {
    pub(super) fn of(found: &IslandReport) -> Self {
        Self {
            outcome: found.outcome,
            residual: found.residual.measure(),
            de_saxce: found.exact,
            velocity_residual: found.residual.natural,
        }
    }

    /// The worse of it and of the impact before, if that did not converge.
    pub(super) fn worsen(&mut self, impact: Option<Unconverged>) {
        let (measure, natural) = impact.map_or((0.0, 0.0), |i| (i.measure, i.natural));
        self.outcome = impact.map_or(self.outcome, |i| i.outcome);
        self.residual = self.residual.max(measure);
        self.de_saxce = self.de_saxce.max(measure);
        self.velocity_residual = self.velocity_residual.max(natural);
    }
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            observation: Observation {
                step: 1.0,
                ..Observation::default()
            },
            forces: Vec::new(),
            work: ContactWork::default(),
            outcome: Outcome::Converged,
            worst: 0,
            noise: 0.0,
            failed: None,
        }
    }
}

impl Observed {
    /// The contacts of the step in numbers.
    pub fn report(&self) -> &ContactsReport {
        &self.observation.report
    }

    /// The contacts of the step in numbers, to be completed.
    pub fn report_mut(&mut self) -> &mut ContactsReport {
        &mut self.observation.report
    }

    /// The contacts of the step, in the order of the finder.
    pub fn readings(&self) -> &[ContactReading] {
        &self.observation.readings
    }

    /// The contacts that began and those that ended to carry an impulse.
    pub fn events(&self) -> &[ContactEvent] {
        &self.observation.events
    }

    /// Length of the step that the readings are of (s).
    pub fn step(&self) -> f64 {
        self.observation.step
    }

    /// All readings, to be kept.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }

    /// Goes back to an earlier observation.
    pub(crate) fn go_back(&mut self, observation: &Observation) {
        self.observation.clone_from(observation);
    }

    /// Adds the readings of islands that were taken by themselves in the same step.
    pub fn join(&mut self, others: &Observation) {
        self.observation.join(others);
    }

    /// The contact that missed its law most in the last solve, if that did not converge, with so
    /// many row blocks of the model before the contacts.
    pub(crate) fn worst(&self, row_blocks: usize) -> Option<usize> {
        let failed = self.outcome != Outcome::Converged;
        self.worst.checked_sub(row_blocks).filter(|_| failed)
    }

    /// A step begins whose search missed so many contacts.
    pub(super) fn begin(&mut self, friction_coupling: FrictionCoupling, missed: usize) {
        let report = &mut self.observation.report;
        *report = ContactsReport::default();
        report.missed = missed;
        report.solve.friction_coupling = friction_coupling;
        self.outcome = Outcome::Converged;
    }

    /// Enters the numbers of a solve.
    pub(super) fn take(&mut self, found: &IslandReport, quality: Quality) {
        self.outcome = quality.outcome;
        self.worst = found.worst;
        let report = &mut self.observation.report;
        report.residual = quality.residual;
        report.de_saxce = quality.de_saxce;
        report.velocity_residual = quality.velocity_residual;
        report.solve.iterations += found.iterations;
        report.solve.operations += found.work;
        report.solve.method = found.method;
        report.solve.islands = found.islands;
        report.solve.settled = found.settled;
    }

    /// Velocities that count as none, of contacts with a residual; `largest` is the largest
    /// velocity without impulses (m/s).
    pub(super) fn set_noise(&mut self, residual: f64, largest: f64) {
        self.noise = noise_of(residual, largest);
    }

    /// Velocities below this count as none (m/s).
    pub fn take_as_rest(&mut self, velocity: f64) {
        self.noise = velocity;
    }

    /// Reads impulses and velocities of the contacts.
    pub fn read(&mut self, solved: &Solved<'_>) {
        let noise = self.noise;
        let observation = &mut self.observation;
        observation.list.clone_from(solved.list);
        observation.readings.clear();
        self.forces.clear();
        self.work = ContactWork::default();
        let mut row = 0;
        let (mut active, mut slipping) = (0, 0);
        let mut drags = solved.drags.iter().peekable();
        for (i, (contact, own)) in solved.list.contacts().iter().zip(solved.rows).enumerate() {
            self.work.add(solved, contact, own, row..row + own.count);
            let mut reading = solved.read_one(contact, own, row, noise);
            if let Some(drag) = drags.next_if(|drag| drag.contact == i) {
                solved.add_drag(drag, &mut reading);
                self.work.add_tangential(solved, drag.row..drag.row + 2);
            }
            row += own.count;
            if reading.state != ContactState::Open {
                active += 1;
                let [f, t] = [reading.impulse, reading.torque_impulse].map(|r| Vec3::from(r) / solved.h);
                self.forces.push((contact.key, [f.x, f.y, f.z, t.x, t.y, t.z]));
            }
            slipping += usize::from(reading.state == ContactState::Slipping);
            observation.readings.push(reading);
        }
        self.forces.sort_unstable_by_key(|f| f.0);
        let report = &mut observation.report;
        (report.count, report.active, report.slipping) = (solved.list.len(), active, slipping);
        report.work = self.work.all;
    }

    /// Takes the work of friction, impacts and dampers in the stages of the step for that at the
    /// velocities of its ends.
    pub(super) fn take_stages(&mut self, staged: ContactWork) {
        let ContactWork {
            friction, impacts, ..
        } = self.work;
        self.work.all += staged.friction - friction + staged.impacts - impacts;
        self.work.friction = staged.friction;
        self.work.impacts = staged.impacts;
        self.work.damping = staged.damping;
        self.observation.report.work = self.work.all;
    }

    /// The step, of length `h` (s), stands: its forces are those of the past, and events are told
    /// by them.
    pub(super) fn stand(&mut self, memory: &mut ContactMemory, h: f64) {
        let Observation {
            step,
            readings,
            events,
            ..
        } = &mut self.observation;
        events.clear();
        for reading in readings.iter().filter(|r| r.state != ContactState::Open) {
            if !memory.had_force(reading.contact.key) {
                events.push(ContactEvent::Begun(reading.contact.key));
            }
        }
        for (key, _) in &memory.forces {
            if self.forces.binary_search_by_key(key, |f| f.0).is_err() {
                events.push(ContactEvent::Ended(*key));
            }
        }
        *step = h;
        std::mem::swap(&mut memory.forces, &mut self.forces);
    }

    /// The contacts belong to another state now.
    pub(crate) fn forget(&mut self) {
        self.observation.readings.clear();
        self.observation.events.clear();
        self.observation.report.stored = 0.0;
    }

    /// Sum of the contacts on one element of a node: average force (N) and torque about its
    /// position (N m; zero for points), in world axes.
    pub fn force_on(&self, model: &Model, node: NodeId, element: usize) -> ([f64; 3], [f64; 3]) {
        let Observation {
            step, list, readings, ..
        } = &self.observation;
        let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
        for (reading, (_, supports)) in readings.iter().zip(list.with_supports()) {
            for s in supports.iter().filter(|s| s.node == node && s.element == element) {
                let f = s.weight / step * Vec3::from(reading.impulse);
                force += f;
                if model.node(node).space == Space::Rigid3 {
                    let own = s.weight / step * Vec3::from(reading.torque_impulse);
                    torque += Vec3::from(s.arm).cross(&f) + own;
                }
            }
        }
        (force.into(), torque.into())
    }

    /// Sums of the contacts on all elements of a node: average forces (N) in world axes.
    pub fn forces_on(&self, model: &Model, node: NodeId) -> Vec<[f64; 3]> {
        let Observation {
            step, list, readings, ..
        } = &self.observation;
        let mut forces = vec![[0.0; 3]; model.node(node).count];
        for (reading, (_, supports)) in readings.iter().zip(list.with_supports()) {
            for s in supports.iter().filter(|s| s.node == node) {
                for (sum, impulse) in forces[s.element].iter_mut().zip(reading.impulse) {
                    *sum += s.weight / step * impulse;
                }
            }
        }
        forces
    }

    /// Adds the impulses of the contacts, or those along their normals, to those on all nodes: on
    /// points along the axes of the world, on bodies with the angular impulse about their centre in
    /// the axes of a body in `state` (N s, N m s).
    pub(crate) fn add_impulses(&self, model: &Model, state: &State, along_normals: bool, out: &mut [f64]) {
        let Observation { list, readings, .. } = &self.observation;
        for (reading, (_, supports)) in readings.iter().zip(list.with_supports()) {
            let (impulse, normal) = (Vec3::from(reading.impulse), Vec3::from(reading.contact.normal));
            let (impulse, torque) = match along_normals {
                true => (normal * normal.dot(&impulse), Vec3::zeros()),
                false => (impulse, Vec3::from(reading.torque_impulse)),
            };
            for s in supports {
                let node = model.node(s.node);
                let size = node.space.velocity_size();
                let out = &mut out[node.first_velocity + s.element * size..][..size];
                let r = s.weight * impulse;
                for k in 0..3 {
                    out[k] += r[k];
                }
                if node.space == Space::Rigid3 {
                    let x = &state.positions[node.first_position + 7 * s.element..][..7];
                    let turned_back = rotation::conjugate([x[3], x[4], x[5], x[6]]);
                    let own = s.weight * torque;
                    let l = rotation::rotate(turned_back, Vec3::from(s.arm).cross(&r) + own);
                    for k in 0..3 {
                        out[3 + k] += l[k];
                    }
                }
            }
        }
    }

    /// Whether the last solve of contacts found no impulses that solve their law.
    pub(super) fn has_failed(&self) -> bool {
        self.outcome != Outcome::Converged
    }

    /// Whether the contacts of the step solve their law, with so many row blocks of the model
    /// before them.
    ///
    /// # Errors
    /// [`Error::ContactsNotConverged`] with the contact that misses its law most.
    pub(super) fn check(
        &self,
        detection: &Detection,
        row_blocks: usize,
        report: &StepReport,
        held: Held,
    ) -> Result<(), Error> {
        let list = detection.list();
        let fine = self.outcome == Outcome::Converged || report.status != Status::Converged;
        if list.is_empty() || fine {
            return Ok(());
        }
        let worst = self.worst(row_blocks).and_then(|i| list.contacts().get(i));
        let contact = worst.map_or_else(
            || "a row of bounded force".to_owned(),
            |worst| format!("the contact of {}", detection.pair(worst.sides)),
        );
        Err(Error::ContactsNotConverged {
            contact,
            time: held.time,
            accuracy: held.accuracy,
            remedy: None,
            report: Box::new(*report),
        })
    }
}

/// Time at the start of a step (s), and the accuracy that its contacts are held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) time: f64,
    pub(super) accuracy: f64,
}

/// Velocities that count as none (m/s), of contacts with a residual; `largest` is the largest velocity
/// without impulses (m/s).
pub(super) fn noise_of(residual: f64, largest: f64) -> f64 {
    AT_REST.max(RESIDUALS_AT_REST * residual) * largest
}

impl Solved<'_> {
    /// Adds the impulse of viscous friction to the reading of its contact.
    fn add_drag(&self, drag: &Drag, reading: &mut ContactReading) {
        let mut impulse = Vec3::from(reading.impulse);
        for (axis, r) in drag.axes.iter().zip(&self.impulses[drag.row..]) {
            impulse += *r * Vec3::from(*axis);
        }
        reading.impulse = impulse.into();
    }

    /// The reading of one contact, whose rows begin at `row`.
    pub(super) fn read_one(
        &self,
        contact: &Contact,
        own: &ContactRows,
        row: usize,
        noise: f64,
    ) -> ContactReading {
        let all = row..row + own.count;
        let rows = all.start..all.start + own.velocities().len();
        let (mut impulse, mut velocity, mut torque) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
        for ((k, axis), unit) in rows.clone().zip(own.velocities()).zip(own.units) {
            impulse += self.impulses[k] * Vec3::from(*axis);
            velocity += self.after[k] / (unit * unit) * Vec3::from(*axis);
        }
        for (k, axis) in (rows.end..all.end).zip(own.spins()) {
            torque += self.impulses[k] * Vec3::from(*axis);
        }
        let normal = Vec3::from(contact.normal);
        let slip = (velocity - normal * normal.dot(&velocity)).norm();
        let start = &self.before[rows.clone()];
        let size = start.iter().fold(0.0f64, |a, u| a.max(u.abs()));
        // Within the cone nothing slips, whatever rounding leaves of the velocity.
        let along = impulse.dot(&normal);
        let on_cone = contact.law.used_friction(&self.impulses[rows]) >= 1.0 - ON_CONE;
        let state = if along <= 0.0 {
            ContactState::Open
        } else if on_cone && slip > (AT_REST * size).max(noise) {
            ContactState::Slipping
        } else {
            ContactState::Sticking
        };
        ContactReading {
            contact: *contact,
            impulse: impulse.into(),
            torque_impulse: torque.into(),
            velocity: velocity.into(),
            state,
        }
    }
}

/// Times of a stage. An impulse over its reach is a force, which works for the weighted part of the
/// step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageTime {
    /// Weight of the stage times the length of the step (s).
    pub(super) counts: f64,
    /// Time over which the stage has its impulses, its displacement per velocity (s).
    pub(super) reach: f64,
}

/// The elastic part (N) of the `force` of a compliant contact, of whose law `-dashpot` is the
/// damping. A contact that its damping holds off before it touches has none: that of the law would
/// pull there against the dashpot, and both be large in steps longer than the relaxation time.
fn elastic_force(force: f64, dashpot: f64) -> f64 {
    (force + dashpot).max(0.0)
}

impl ContactWork {
    /// Adds the work of friction, impacts and dampers of a contact with these impulses at these
    /// velocities of its rows in a stage.
    pub(super) fn add_stage(
        &mut self,
        contact: &Contact,
        rows: &ContactRows,
        impulses: &[f64],
        velocities: &[f64],
        time: StageTime,
    ) {
        let law = &contact.law;
        let dilation = rows.dilation(velocities);
        for (k, (impulse, u)) in impulses.iter().zip(velocities).enumerate() {
            let one = time.counts / time.reach * impulse * u;
            if k > 0 {
                self.friction += one;
            } else if law.compliance == 0.0 {
                self.impacts += one;
            } else if *impulse > 0.0 {
                let force = impulse / time.reach;
                let dashpot = law.relaxation_at(contact.gap) / law.compliance * (u - dilation);
                self.damping += (force - elastic_force(force, dashpot)) * time.counts * u;
            }
        }
    }

    /// Adds the work of viscous friction in a stage.
    pub(super) fn add_drag(&mut self, impulses: &[f64], velocities: &[f64], time: StageTime) {
        for (impulse, u) in impulses.iter().zip(velocities) {
            self.friction += time.counts / time.reach * impulse * u;
        }
    }

    /// Adds the work of rows along the surfaces.
    fn add_tangential(&mut self, solved: &Solved<'_>, rows: Range<usize>) {
        for k in rows {
            let (r, [before, after]) = (solved.impulses[k], [solved.before[k], solved.after[k]]);
            let one = 0.5 * r * (before + after);
            self.all += one;
            self.friction += one;
            self.on_change += r * (after - before);
        }
    }

    /// Adds the work of a contact with these rows.
    fn add(&mut self, solved: &Solved<'_>, contact: &Contact, own: &ContactRows, rows: Range<usize>) {
        let Solved {
            before,
            after,
            impulses,
            h,
            beta,
            ..
        } = *solved;
        let (law, gap, row) = (&contact.law, contact.gap, rows.start);
        let way = h * (beta * after[row] + (1.0 - beta) * before[row]);
        if law.compliance > 0.0 && impulses[row] > 0.0 {
            let u = after[row] - own.dilation(&after[rows.clone()]);
            let dashpot = law.relaxation_at(gap) / law.compliance * u;
            let force = impulses[row] / h;
            let elastic = elastic_force(force, dashpot);
            self.damping += (force - elastic) * way;
            let (start, end) = (gap.min(0.0), (gap + way).min(0.0));
            self.stiffness += elastic * way + 0.5 * (end * end - start * start) / law.compliance;
        } else if law.compliance > 0.0 && gap < 0.0 {
            // It does not pull: what is still pressed in comes out against its own damping.
            let end = (gap + way).min(0.0);
            self.damping += 0.5 * (end * end - gap * gap) / law.compliance;
        }
        for k in rows {
            let one = 0.5 * impulses[k] * (before[k] + after[k]);
            self.all += one;
            if k > row {
                self.friction += one;
            } else if law.compliance == 0.0 {
                self.impacts += one;
            } else {
                continue;
            }
            self.on_change += impulses[k] * (after[k] - before[k]);
        }
    }
}
