//! What the contacts of a step did.

use super::laws::used_friction;
use super::solve::AT_REST;
use super::{ContactWork, Contacts};
use crate::Error;
use crate::contact::{ContactEvent, ContactReading, ContactState, ContactsReport};
use crate::simulation::Simulation;
use pliant_dense::Vec3;
use pliant_model::{NodeId, Space};
use pliant_solvers::Status;
use pliant_solvers::complementarity::Outcome;

/// Share of the largest friction by which that of a contact that slips may be off (rounding of its solve).
const ON_CONE: f64 = 1e-3;

impl Contacts {
    /// Reads impulses and velocities of the contacts, in impulses per step `h`; positions move by `h (beta u+ + (1 - beta) u)`.
    pub(crate) fn read(&mut self, impulses: &[f64], h: f64, beta: f64) {
        self.readings.clear();
        self.forces_now.clear();
        let mut row = 0;
        let (mut active, mut slipping, mut work) = (0, 0, 0.0);
        self.work = ContactWork::default();
        for (contact, own) in self.list.contacts().iter().zip(&self.rows) {
            let all = row..row + own.count;
            row += own.count;
            let rows = all.start..all.start + own.velocities().len();
            let (mut impulse, mut velocity, mut torque) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
            for ((k, axis), unit) in rows.clone().zip(own.velocities()).zip(own.units) {
                impulse += impulses[k] * Vec3::from(*axis);
                velocity += self.after[k] / (unit * unit) * Vec3::from(*axis);
            }
            for (k, axis) in (rows.end..all.end).zip(own.spins()) {
                torque += impulses[k] * Vec3::from(*axis);
            }
            let (before, after) = (self.tail.velocity()[all.start], self.after[all.start]);
            let law = &contact.law;
            let way = h * (beta * after + (1.0 - beta) * before);
            if law.compliance > 0.0 && impulses[all.start] > 0.0 {
                let dashpot = law.relaxation_at(contact.gap) / law.compliance * after;
                self.work.damping -= dashpot * way;
                let elastic = impulses[all.start] / h + dashpot;
                let (start, end) = (contact.gap.min(0.0), (contact.gap + way).min(0.0));
                self.work.stiffness += elastic * way + 0.5 * (end * end - start * start) / law.compliance;
            } else if law.compliance > 0.0 && contact.gap < 0.0 {
                // It does not pull: what is still pressed in comes out against its own damping.
                let end = (contact.gap + way).min(0.0);
                self.work.damping += 0.5 * (end * end - contact.gap * contact.gap) / law.compliance;
            }
            for k in all.clone() {
                let one = 0.5 * impulses[k] * (self.tail.velocity()[k] + self.after[k]);
                work += one;
                if k > all.start {
                    self.work.friction += one;
                } else if law.compliance == 0.0 {
                    self.work.impacts += one;
                } else {
                    continue;
                }
                self.work.on_change += impulses[k] * (self.after[k] - self.tail.velocity()[k]);
            }
            let normal = Vec3::from(contact.normal);
            let slip = (velocity - normal * normal.dot(&velocity)).norm();
            let start = &self.tail.velocity()[rows.clone()];
            let size = start.iter().fold(0.0f64, |a, u| a.max(u.abs()));
            // Within the cone nothing slips, whatever rounding leaves of the velocity.
            let along = impulse.dot(&normal);
            let on_cone = used_friction(&contact.law, &impulses[rows.clone()]) >= 1.0 - ON_CONE;
            let state = if along <= 0.0 {
                ContactState::Open
            } else if on_cone && slip > (AT_REST * size).max(self.noise) {
                ContactState::Slipping
            } else {
                ContactState::Sticking
            };
            active += usize::from(state != ContactState::Open);
            slipping += usize::from(state == ContactState::Slipping);
            if state != ContactState::Open {
                let [f, t] = [impulse / h, torque / h];
                self.forces_now
                    .push((contact.key, [f.x, f.y, f.z, t.x, t.y, t.z]));
            }
            self.readings.push(ContactReading {
                contact: *contact,
                impulse: impulse.into(),
                torque_impulse: torque.into(),
                velocity: velocity.into(),
                state,
            });
        }
        self.forces_now.sort_unstable_by_key(|f| f.0);
        self.report.count = self.list.len();
        self.report.active = active;
        self.report.slipping = slipping;
        self.report.work = work;
    }
}

impl Simulation {
    /// The contacts of the last step, in the order of the finder.
    pub fn contacts(&self) -> &[ContactReading] {
        self.system.contacts.as_ref().map_or(&[], |c| &c.readings)
    }

    /// What the contacts of the last step or equilibrium did, in numbers; of an equilibrium without work and energies.
    pub fn contacts_report(&self) -> ContactsReport {
        self.system
            .contacts
            .as_ref()
            .map_or_else(ContactsReport::default, |c| c.report)
    }

    /// Length of the step that these are of (s; of an equilibrium 1): the last one, or the last part of one that was taken in parts.
    pub fn contact_step(&self) -> f64 {
        self.system.contacts.as_ref().map_or(0.0, |c| c.step)
    }

    /// The complementarity problem of the island whose contacts had the largest residual in the last step that was tried, to be looked at or
    /// written to a file (`pliant_lab::exchange`).
    pub fn contact_problem(&self) -> Option<&pliant_solvers::complementarity::Problem> {
        let contacts = self.system.contacts.as_ref()?;
        let failed = contacts.failed.as_ref().and_then(|solver| solver.problem());
        failed.or_else(|| contacts.solver.worst_problem())
    }

    /// Which contacts began and which ended to carry an impulse in the last step, by key.
    pub fn contact_events(&self) -> &[ContactEvent] {
        self.system.contacts.as_ref().map_or(&[], |c| &c.events)
    }

    /// Sum of the contacts of the last step on one element of a node: average force (N) and torque about its position (N m; zero for points), in
    /// world axes.
    pub fn contact_force(&self, node: NodeId, element: usize) -> ([f64; 3], [f64; 3]) {
        let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
        // The contacts of the last step have made room for those of its end.
        let step = self
            .system
            .contacts
            .as_ref()
            .filter(|c| c.readings.len() == c.next.len());
        for (c, (i, reading)) in step
            .iter()
            .flat_map(|c| c.readings.iter().enumerate().map(move |r| (c, r)))
        {
            for s in c.next.supports(i) {
                if s.node == node && s.element == element {
                    let f = s.weight / c.step * Vec3::from(reading.impulse);
                    force += f;
                    if self.system.model.node(node).space == Space::Rigid3 {
                        let own = s.weight / c.step * Vec3::from(reading.torque_impulse);
                        torque += Vec3::from(s.arm).cross(&f) + own;
                    }
                }
            }
        }
        (force.into(), torque.into())
    }

    /// Name of one side of a contact.
    pub fn contact_side(&self, side: u32) -> String {
        self.system
            .contacts
            .as_ref()
            .map_or_else(String::new, |c| c.finder.name(side))
    }

    /// After the solves of a step: what the contacts did.
    pub(crate) fn read_contacts(&mut self, h: f64) {
        let Some(mut c) = self.system.contacts.take() else {
            return;
        };
        if c.list.is_empty() {
            c.tail.clear();
            c.after.clear();
        }
        let mut given = std::mem::take(&mut c.given);
        if !c.list.is_empty() {
            for (r, last) in given.iter_mut().zip(self.contact_impulses(&self.system.change)) {
                *r += last;
            }
        }
        c.read(&given, h, self.scheme.beta);
        c.given = given;
        self.system.contacts = Some(c);
    }

    /// Whether the contacts of the step solve their law.
    pub(crate) fn check_contacts(&self, report: &crate::StepReport) -> Result<(), Error> {
        let Some(c) = self.system.contacts.as_ref().filter(|c| !c.list.is_empty()) else {
            return Ok(());
        };
        if c.outcome == Outcome::Converged || report.status != Status::Converged {
            return Ok(());
        }
        let others = self.system.assembler.system().row_blocks().len() - 1;
        let worst = c.worst.checked_sub(others).and_then(|i| c.list.contacts().get(i));
        let contact = worst.map_or_else(
            || "a row of bounded force".to_owned(),
            |w| {
                let [a, b] = w.sides.map(|s| c.finder.name(s));
                format!("the contact of {a} and {b}")
            },
        );
        Err(Error::ContactsNotConverged {
            contact,
            time: self.motion.time,
            tolerance: self.options.contacts.tolerance,
            report: Box::new(*report),
        })
    }
}
