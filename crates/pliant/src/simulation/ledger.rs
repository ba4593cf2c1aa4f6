//! The ledger of a step: the work of everything that is not stored.

use super::Simulation;
use crate::Ledger;
use pliant_model::{ComponentId, Energies, Level, Model, RowGroup, RowLaw, State};

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
    model: &Model,
    state: &State,
    (force, still): (&mut [f64], &mut [f64]),
    velocity: impl Fn(usize) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for field in model.force_fields() {
        let law = &field.component.law;
        if law.has_potential() {
            continue;
        }
        let node = model.node(field.node);
        let range = node.velocity_range();
        let (force, still) = (&mut force[..range.len()], &mut still[..range.len()]);
        force.fill(0.0);
        still.fill(0.0);
        let x = &state.positions[node.position_range()];
        law.add_force(node.space, x, still, force);
        sum += force.iter().zip(range).map(|(f, k)| f * velocity(k)).sum::<f64>();
    }
    sum
}

impl Simulation {
    /// Opens the ledger of a step at the energies of its start.
    pub(super) fn open_ledger(&mut self) {
        self.account.corrected = 0.0;
        self.account.forgotten = 0.0;
        self.account.parts.found = None;
        let known = self.motion.ledger.energies.is_some();
        self.account.stored_is_missing = self.motion.ledger.without_contacts || !known;
        self.account.start_energies = match self.motion.ledger.energies {
            Some(energies) => energies,
            None => self.energies_of_model(),
        };
    }

    /// Energies of the present state, but for compliant contacts.
    fn energies_of_model(&mut self) -> Energies {
        self.fill_motion(self.motion.time, self.motion.time);
        let mut energies = self.energies(false);
        energies.potential -= self
            .system
            .contacts
            .as_ref()
            .map_or(0.0, |c| c.observed.report().stored);
        energies
    }

    /// Takes the energies of the present state, but for compliant contacts, as those that the next step starts from.
    pub(super) fn write_books(&mut self) {
        self.motion.ledger = LedgerMemory {
            energies: Some(self.energies_of_model()),
            inputs: 0.0,
            without_contacts: true,
            overlap: 0.0,
        };
    }

    /// Adds what compliant contacts store at the start of the step, once they are found, and notes what overlaps in a state that was set.
    pub(super) fn add_stored_at_start(&mut self) {
        if let (true, Some(c)) = (self.account.stored_is_missing, &self.system.contacts) {
            self.account.start_energies.potential += c.stored_at_start();
            self.motion.ledger.overlap = c.deepest_at_start();
        }
    }

    /// Enters the work of all impulses of the step, at the velocities of both ends, before positions are corrected. The multipliers of the step
    /// are `new_multipliers`. Returns what damping took (J).
    pub(super) fn tally(&mut self, h: f64) -> f64 {
        let damped = self.damping_work(h);
        let mut ledger = Ledger {
            damping: -damped,
            inputs: if self.motion.ledger.energies.is_some() {
                self.motion.ledger.inputs
            } else {
                0.0
            },
            ..Ledger::default()
        };
        let mean = |k: usize| 0.5 * (self.motion.state.velocities[k] + self.start.state.velocities[k]);
        for (k, f) in self
            .motion
            .controls
            .external
            .iter()
            .enumerate()
            .filter(|(_, f)| **f != 0.0)
        {
            ledger.forces += h * f * mean(k);
        }
        let scratch = (
            &mut self.system.scratch.mass_scratch[..],
            &mut self.system.scratch.shifted[..],
        );
        ledger.forces += h * power_without_potential(&self.system.model, &self.start.state, scratch, mean);
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, velocity) in node.velocity_range().enumerate() {
                ledger.motion += h * self.motion.supports[first + k] * mean(velocity);
            }
        }
        for group in self.system.model.row_groups() {
            let driven = self.system.model.motion(group).is_some();
            let Some(account) = self.account(group, driven) else {
                continue;
            };
            let first = self.system.model.node(group.node).first_velocity;
            let work: f64 = (0..group.size * group.count)
                .map(|k| {
                    let row = group.first_row + k;
                    let lambda = self.motion.multipliers[row];
                    match group.component {
                        ComponentId::ForceField(_) if !self.system.evaluation.is_hard(group, k) => {
                            let motion = self.system.row_motion[row];
                            if self.system.model.row_law(group) == RowLaw::Viscous {
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
        if let Some(c) = &self.system.contacts {
            ledger.friction += c.observed.work.friction;
            ledger.impacts += c.observed.work.impacts;
            ledger.damping += c.observed.work.damping;
        }
        self.account.ledger = ledger;
        self.close_inertia();
        damped
    }

    /// Where the work of a group of rows is entered; nowhere if it stores it, or does none but by linearising.
    pub(super) fn account(&self, group: &RowGroup, driven: bool) -> Option<Account> {
        let bounds = self.system.model.bounds(group);
        if let ComponentId::ForceField(_) = group.component
            && !driven
        {
            return None;
        }
        if let ComponentId::Constraint(i) = group.component
            && let Level::Restitution { .. } = self.system.model.constraints()[i].component.level
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
        let l = &self.account.ledger;
        let brought = l.forces + l.motion + l.motors + l.inputs + self.account.corrected;
        self.account.start_energies.total() + brought - self.energies(true).total() - stored
    }

    /// The closed ledger of a step that ends with these energies.
    pub(super) fn closed_ledger(&self, end: &Energies) -> Ledger {
        let mut ledger = self.account.ledger;
        ledger.damping -= self.account.forgotten;
        let contacts = self.system.contacts.as_ref().map(|c| c.observed.report());
        ledger.corrections = self.account.corrected + contacts.map_or(0.0, |c| c.lifted - c.paid);
        let start = &self.account.start_energies;
        ledger.close(
            end.kinetic - start.kinetic,
            end.potential - start.potential,
            self.account.parts.found,
        );
        ledger
    }

    /// The step stands, and ended with these energies.
    pub(super) fn close_books(&mut self, energies: Energies) {
        self.motion.ledger = LedgerMemory {
            energies: Some(energies),
            inputs: 0.0,
            without_contacts: false,
            overlap: self.motion.ledger.overlap,
        };
    }

    /// Moves what force fields with a memory remember on to the present positions, `elapsed` seconds after what they remember, and enters what they dissipate.
    pub(super) fn advance_memory(&mut self, elapsed: f64) {
        self.account.forgotten += self.system.model.advance_memory(
            &mut self.motion.state,
            elapsed,
            &mut self.account.internal_before,
        );
    }

    /// Velocities were changed from outside, and positions not.
    pub(super) fn correct_books(&mut self) {
        if let Some(energies) = &mut self.motion.ledger.energies {
            energies.kinetic = self
                .system
                .model
                .energies_without(&self.motion.state, |_| true)
                .kinetic;
        }
    }
}
