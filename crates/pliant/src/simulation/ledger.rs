//! The ledger of a step: the work of everything that is not stored.

use super::Simulation;
use crate::Ledger;
use pliant_model::{At, ComponentId, Energies, Level, Problem, RowGroup, RowLaw, State};

/// What the work of a group of rows is called.
#[derive(Clone, Copy)]
pub(super) enum Account {
    Motion,
    Motors,
    Friction,
    Impacts,
}

/// What the next step needs to know of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LedgerMemory {
    /// Energies at the end of the last step; `None` if the state, a motion or the contacts were changed since.
    pub energies: Option<Energies>,
    /// What inputs that were set since changed in the potential energy (J).
    pub inputs: f64,
    /// The energies are without those of compliant contacts.
    pub without_contacts: bool,
    /// Overlap of hard contacts that the state was set with, as far as it is still there (m): it is taken back whatever that costs.
    pub overlap: f64,
}

/// Power (W) of the force fields without a potential, less their damping, at a state and the `velocity` of each coordinate of the nodes. `scratch` holds the coordinates of one node, twice.
pub(super) fn power_without_potential(
    model: &Problem,
    state: &State,
    (force, still): (&mut [f64], &mut [f64]),
    velocity: impl Fn(usize) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for (i, field) in model.force_fields().iter().enumerate() {
        let law = &field.component.law;
        if law.has_potential() {
            continue;
        }
        let node = model.node(field.node);
        let range = node.velocity_range();
        let (force, still) = (&mut force[..range.len()], &mut still[..range.len()]);
        force.fill(0.0);
        still.fill(0.0);
        let at = At {
            v: still,
            ..model.at(i, state)
        };
        law.add_force(at, force);
        sum += force.iter().zip(range).map(|(f, k)| f * velocity(k)).sum::<f64>();
    }
    sum
}

impl Simulation {
    /// Opens the ledger of a step at the energies of its start.
    pub(super) fn open_ledger(&mut self) {
        self.corrected = 0.0;
        self.forgotten = 0.0;
        self.parts.found = None;
        let known = self.books.energies.is_some();
        self.stored_is_missing = self.books.without_contacts || !known;
        self.start_energies = match self.books.energies {
            Some(energies) => energies,
            None => self.energies_of_model(),
        };
    }

    /// Energies of the present state, but for compliant contacts.
    fn energies_of_model(&mut self) -> Energies {
        self.fill_motion(self.time, self.time);
        let mut energies = self.energies(false);
        energies.potential -= self.contacts.as_ref().map_or(0.0, |c| c.report.stored);
        energies
    }

    /// Takes the energies of the present state, but for compliant contacts, as those that the next step starts from.
    pub(super) fn write_books(&mut self) {
        self.books = LedgerMemory {
            energies: Some(self.energies_of_model()),
            inputs: 0.0,
            without_contacts: true,
            overlap: 0.0,
        };
    }

    /// Adds what compliant contacts store at the start of the step, once they are found, and notes what overlaps in a state that was set.
    pub(super) fn add_stored_at_start(&mut self) {
        let Some(c) = &mut self.contacts else { return };
        c.set_overlap = self.books.overlap;
        if self.stored_is_missing {
            self.start_energies.potential += c.stored_at_start();
            c.take_overlap_as_given();
        }
    }

    /// Enters the work of all impulses of the step, at the velocities of both ends, before positions are corrected. The multipliers of the step
    /// are `new_multipliers`. Returns what damping took (J).
    pub(super) fn tally(&mut self, h: f64) -> f64 {
        let damped = self.damping_work(h);
        let mut ledger = Ledger {
            damping: -damped,
            inputs: if self.books.energies.is_some() {
                self.books.inputs
            } else {
                0.0
            },
            ..Ledger::default()
        };
        let mean = |k: usize| 0.5 * (self.state.velocities[k] + self.previous.velocities[k]);
        for (k, f) in self.external.iter().enumerate().filter(|(_, f)| **f != 0.0) {
            ledger.forces += h * f * mean(k);
        }
        let scratch = (&mut self.mass_scratch[..], &mut self.shifted[..]);
        ledger.forces += h * power_without_potential(&self.model, &self.previous, scratch, mean);
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, velocity) in node.velocity_range().enumerate() {
                ledger.motion += h * self.support_now[first + k] * mean(velocity);
            }
        }
        for group in self.model.row_groups() {
            let driven = self.model.motion(group).is_some();
            let Some(account) = self.account(group, driven) else {
                continue;
            };
            let first = self.model.node(group.node).first_velocity;
            let work: f64 = (0..group.size * group.count)
                .map(|k| {
                    let row = group.first_row + k;
                    let lambda = self.new_multipliers[row];
                    match group.component {
                        ComponentId::ForceField(_) if !self.evaluation.is_hard(group, k) => {
                            let motion = self.motion[row];
                            if self.model.row_law(group) == RowLaw::Viscous {
                                0.5 * h * lambda * (motion.start.1 + motion.end.1)
                            } else {
                                lambda * (motion.end.0 - motion.start.0)
                            }
                        }
                        _ => h * lambda * mean(first + k),
                    }
                })
                .sum();
            *match account {
                Account::Motion => &mut ledger.motion,
                Account::Motors => &mut ledger.motors,
                Account::Friction => &mut ledger.friction,
                Account::Impacts => &mut ledger.impacts,
            } += work;
        }
        if let Some(c) = &self.contacts {
            ledger.friction += c.work.friction;
            ledger.impacts += c.work.impacts;
            ledger.damping += c.work.damping;
        }
        self.ledger = ledger;
        self.close_inertia();
        damped
    }

    /// Where the work of a group of rows is entered; nowhere if it stores it, or does none but by linearising.
    pub(super) fn account(&self, group: &RowGroup, driven: bool) -> Option<Account> {
        let bounds = self.model.bounds(group);
        if let ComponentId::ForceField(_) = group.component
            && !driven
        {
            return None;
        }
        if let ComponentId::Constraint(i) = group.component
            && let Level::Restitution { .. } = self.model.constraints()[i].component.level
        {
            return Some(Account::Impacts);
        }
        match bounds {
            Some((lower, upper)) if lower == 0.0 || upper == 0.0 => Some(Account::Impacts),
            Some(_) if driven => Some(Account::Motors),
            Some(_) => Some(Account::Friction),
            None if driven => Some(Account::Motion),
            None => None,
        }
    }

    /// What the step lost up to now (J): energies of its start and the work since, less the energies of the present state, in which compliant contacts
    /// have `stored`.
    pub(super) fn lost(&mut self, stored: f64) -> f64 {
        let l = &self.ledger;
        let brought = l.forces + l.motion + l.motors + l.inputs + self.corrected;
        self.start_energies.total() + brought - self.energies(true).total() - stored
    }

    /// The closed ledger of a step that ends with these energies.
    pub(super) fn closed_ledger(&self, end: &Energies) -> Ledger {
        let mut ledger = self.ledger;
        ledger.damping -= self.forgotten;
        let contacts = self.contacts.as_ref();
        ledger.corrections = self.corrected + contacts.map_or(0.0, |c| c.report.lifted - c.report.paid);
        let start = &self.start_energies;
        ledger.close(
            end.kinetic - start.kinetic,
            end.potential - start.potential,
            self.parts.found,
        );
        ledger
    }

    /// The step stands, and ended with these energies.
    pub(super) fn close_books(&mut self, energies: Energies) {
        self.books = LedgerMemory {
            energies: Some(energies),
            inputs: 0.0,
            without_contacts: false,
            overlap: self.contacts.as_ref().map_or(0.0, |c| c.set_overlap),
        };
    }

    /// Moves what force fields with a memory remember on to the present positions, `elapsed` seconds after what they remember, and enters what they dissipate.
    pub(super) fn advance_memory(&mut self, elapsed: f64) {
        self.forgotten += self
            .model
            .advance_memory(&mut self.state, elapsed, &mut self.internal_before);
    }

    /// Velocities were changed from outside, and positions not.
    pub(super) fn correct_books(&mut self) {
        if let Some(energies) = &mut self.books.energies {
            energies.kinetic = self.model.energies_without(&self.state, |_| true).kinetic;
        }
    }
}
