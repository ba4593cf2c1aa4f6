//! Energy that moved in a whole run, beside which what its method made or lost is much or little.

use pliant::StepReport;
use serde::{Deserialize, Serialize};

/// Share of what turned over that is no motion any more.
const STILL: f64 = 1e-6;

/// Energy of a run since its start (J). An [`EnergyBudget`](pliant::EnergyBudget) is that of a
/// motion, and begins anew where events or holds set one; this goes on.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Moved {
    /// Kinetic and potential energy at the start, and the lowest potential one so far.
    kinetic: f64,
    potential: f64,
    lowest: f64,
    /// Work in both directions of all that is not stored, and does not only take.
    worked: f64,
    /// The most that a motion since its own start turned over.
    most: f64,
    /// Made by the method, less what it lost, but for steps in which contacts that give way have a
    /// force.
    pub(super) numerical: f64,
    /// Brought in by impacts, less what they took.
    pub(super) impacts: f64,
    /// Kinetic energy at the end.
    left: f64,
    /// Whether there was a step.
    begun: bool,
}

impl Moved {
    /// Takes notice of a step, where contacts give way or not: what comes to rest on a stiff one has
    /// its impact within a step or two, and it is left to the method what of it the spring returns.
    pub(super) fn add(&mut self, report: &StepReport, soft_contacts: bool) {
        let (ledger, energies) = (&report.ledger, report.energies);
        if !self.begun {
            self.begun = true;
            self.kinetic = energies.kinetic - ledger.kinetic;
            self.potential = energies.potential - ledger.potential;
            self.lowest = self.potential;
        }
        let works = [
            ledger.forces,
            ledger.motion,
            ledger.motors,
            ledger.inputs,
            ledger.removed,
        ];
        self.worked += works.iter().map(|w| w.abs()).sum::<f64>();
        let energy = &report.certificate.energy;
        if energy.turnover.by_velocity {
            self.worked += ledger.friction.abs() + ledger.impacts.abs();
        }
        self.lowest = self.lowest.min(energies.potential);
        self.most = self.most.max(energy.since_start.turned_over());
        if !(soft_contacts && report.contacts.active > 0) {
            self.numerical += ledger.numerical;
        }
        self.impacts += ledger.impacts;
        self.left = energies.kinetic;
    }

    /// Whether all is at rest in the end, which does not depend on what took the energy.
    pub(super) fn is_at_rest(&self) -> bool {
        self.left <= STILL * self.turned_over()
    }

    /// Energy that there was to turn over: that of the start, of the deepest fall from it, and the
    /// work since, by the measure of [`EnergyBudget::turned_over`](pliant::EnergyBudget::turned_over).
    pub(super) fn turned_over(&self) -> f64 {
        (self.kinetic + self.worked + (self.potential - self.lowest)).max(self.most)
    }
}
