//! The ledger of a step: the work of everything that is not stored.

use super::drives::{Drives, Driving};
use super::{Room, Step, energy, report};
use crate::certificate::EnergyBudget;
use crate::contact::OverlapReport;
use crate::method::Projected;
use crate::motion::Motion;
use crate::system::{System, one_sided};
use crate::{Ledger, NumericalParts, StepReport};
use pliant_kkt::Scheme;
use pliant_model::{At, ChordWork, ComponentId, Energies, Level, Problem, RowGroup, State};

/// The entry of the ledger to which the work of a group of rows belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Motion,
    Motors,
    Friction,
    Impacts,
}

/// Values of the last step that the ledger of the next one needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LedgerMemory {
    /// Energies at the end of the last step; `None` if the state, a motion or the contacts were
    /// changed since.
    pub energies: Option<Energies>,
    /// Change of the potential energy by inputs and motions of compliances that were set since (J).
    pub inputs: f64,
    /// Change of the potential energy by elements that were taken out of the model since (J).
    #[cfg_attr(feature = "serde", serde(default))]
    pub removed: f64,
    /// The energies are without those of compliant contacts.
    pub without_contacts: bool,
    /// The energy of compliant contacts in them (J).
    #[cfg_attr(feature = "serde", serde(default))]
    pub stored: f64,
    /// Overlap of hard contacts that the state was set with, as far as it is still there (m), or
    /// that of limits and ropes (m, rad): it is taken back whatever that costs.
    pub overlap: f64,
    /// Energy since the motion was set; `None` if it is to begin.
    #[cfg_attr(feature = "serde", serde(default))]
    pub budget: Option<EnergyBudget>,
}

/// Power (W) of the force fields without a potential, less their damping, at a state and the
/// `velocity` of each coordinate of the nodes.
pub(super) fn power_without_potential(
    model: &Problem,
    state: &State,
    room: &mut Room,
    velocity: impl Fn(usize) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for (i, field) in model.force_fields().iter().enumerate() {
        let law = &field.component.law;
        if law.has_potential() || model.is_released(ComponentId::ForceField(i)) {
            continue;
        }
        let node = model.node(field.node);
        let range = node.velocity_range();
        let force = super::room(&mut room.first, range.len());
        let still = super::room(&mut room.second, range.len());
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

/// The energy account of one step.
#[derive(Debug, Default)]
pub struct Account {
    /// Energies of its start.
    pub(crate) start: Energies,
    /// The energies of the start are without those of compliant contacts.
    pub(crate) stored_is_missing: bool,
    /// The entries so far.
    pub(crate) ledger: Ledger,
    /// Parts of the numerical part by cause; `None` for methods that are not taken apart.
    pub(crate) parts: Option<NumericalParts>,
    /// Kinetic energy of mapped masses that the change of velocity would end with, were their
    /// Jacobians those of the start (J).
    pub(crate) mapped: f64,
    /// Energy that position corrections lifted (J).
    pub(crate) corrected: f64,
    /// Corrections of overlap, and of limits and ropes beyond.
    pub(crate) recovered: OverlapReport,
    /// Energy that force fields with a memory dissipated (J).
    pub(crate) forgotten: f64,
    /// Energy that they brought in (J).
    pub(crate) brought: f64,
    /// Energy that damping forces took (J).
    pub(crate) damped: f64,
    /// Work in the stages of the step so far, where it has any (J): all of it if there are several,
    /// that of damping forces if there is one.
    staged: Option<Ledger>,
    /// The work of what drives rows.
    drives: Drives,
    /// Buffers of one node.
    pub room: Room,
}

/// Energies of a motion by the laws of the components, but for compliant contacts (J).
pub fn stored_energies(system: &mut System, motion: &Motion, scheme: &Scheme, room: &mut Room) -> Energies {
    system.set_row_motion(motion.time, motion.time);
    let step = Step {
        system,
        start: motion,
        end: motion,
        scheme,
    };
    let mut energies = energy::energies(step, false, &mut room.first);
    energies.potential -= system
        .contacts
        .as_ref()
        .map_or(0.0, |c| c.observed.report().stored);
    energies
}

impl LedgerMemory {
    /// The next step starts from these energies of a state that was set, without those of compliant
    /// contacts.
    pub fn of_state(energies: Energies) -> Self {
        Self {
            energies: Some(energies),
            inputs: 0.0,
            removed: 0.0,
            without_contacts: true,
            stored: 0.0,
            overlap: 0.0,
            budget: None,
        }
    }

    /// The last step, with this report, left so much of the overlap (m) that the state was set
    /// with.
    pub fn of_step(report: &StepReport, overlap: f64) -> Self {
        Self {
            energies: Some(report.energies),
            budget: Some(report.certificate.energy.since_start),
            inputs: 0.0,
            removed: 0.0,
            without_contacts: false,
            stored: report.contacts.stored,
            overlap,
        }
    }
}

impl Account {
    /// Opens the account of a step at the energies of its start, before rows changed its
    /// velocities.
    pub fn open(&mut self, system: &mut System, start: &Motion, scheme: &Scheme, projected: Projected) {
        self.corrected = 0.0;
        self.recovered = OverlapReport::default();
        system.rows.lowered.clear();
        self.forgotten = 0.0;
        self.brought = 0.0;
        self.damped = 0.0;
        self.staged = None;
        self.drives.clear();
        self.parts = None;
        let known = start.ledger.energies.is_some();
        self.stored_is_missing = start.ledger.without_contacts || !known;
        self.start = match start.ledger.energies {
            Some(energies) => energies,
            None => stored_energies(system, start, scheme, &mut self.room),
        };
        if !known {
            self.start.kinetic += projected.lost();
        }
    }

    /// Enters work in the state that `stage` ends with, for the time `h` (s) that the method counts
    /// it for: that is the work by which the method changes the energy, also where motion decays
    /// within the step, and what can only take energy takes some in every stage. Of a stage that is
    /// the whole step only damping forces: others may hold an impact. `first` forgets earlier
    /// stages.
    pub(crate) fn tally_stage(&mut self, stage: Step<'_>, h: f64, first: bool, whole: bool) {
        let mut work = Ledger::default();
        match whole {
            true => self.drives.clear(),
            false => {
                work = self.impulses(stage, h, Power::End);
                self.drives.add_stage(stage, h, first);
            }
        }
        work.damping = -report::damping_work(stage, h, DampingLaw::Mean, &mut self.room);
        if let Some(before) = self.staged.filter(|_| !first) {
            work += before;
        }
        self.staged = Some(work);
    }

    /// Enters the work of all impulses of the step, at the velocities of both ends or of its
    /// stages, before positions are corrected. The multipliers and the forces of supports are those
    /// of the end.
    pub(crate) fn tally(&mut self, step: Step<'_>, h: f64, how: DampingLaw, staged: bool) {
        let mut ledger = match (self.staged.take(), staged) {
            (Some(ledger), true) => ledger,
            (found, _) => {
                let damping = match found {
                    Some(stage) => stage.damping,
                    None => -report::damping_work(step, h, how, &mut self.room),
                };
                Ledger {
                    damping,
                    ..self.impulses(step, h, Power::Mean)
                }
            }
        };
        self.drives.enter(step, h, Power::Mean, &mut ledger);
        self.damped -= ledger.damping;
        if step.start.ledger.energies.is_some() {
            ledger.inputs = step.start.ledger.inputs;
            ledger.removed = step.start.ledger.removed;
        }
        if let Some(c) = &step.system.contacts {
            ledger.friction += c.observed.work.friction;
            ledger.impacts += c.observed.work.impacts;
            ledger.damping += c.observed.work.damping;
        }
        self.ledger = ledger;
        self.close_inertia(step);
    }

    /// Enters the work of all impulses of a step along a chord, at the displacement of what they
    /// act on: of damping and of force fields without a potential as found, of driven rows on the
    /// way of their motion.
    pub(crate) fn tally_chord(&mut self, step: Step<'_>, h: f64, found: ChordWork) {
        let model = &step.system.model;
        let mut ledger = Ledger {
            damping: found.damping,
            ..self.impulses(step, h, Power::Chord)
        };
        self.drives.enter(step, h, Power::Chord, &mut ledger);
        ledger.forces = found.forces;
        for node in model.nodes() {
            let external = step.end.controls.external_on(node.velocity_range());
            if external.iter().all(|f| *f == 0.0) {
                continue;
            }
            let [x, to] = [step.start, step.end].map(|m| &m.state.positions[node.position_range()]);
            let chord = super::room(&mut self.room.first, external.len());
            node.space.chord(x, to, chord);
            ledger.forces += external.iter().zip(chord).map(|(f, d)| f * *d).sum::<f64>();
        }
        self.damped -= ledger.damping;
        if step.start.ledger.energies.is_some() {
            ledger.inputs = step.start.ledger.inputs;
            ledger.removed = step.start.ledger.removed;
        }
        self.ledger = ledger;
    }

    /// Finds the forces and the jumps by which drives work in a step of length `h` (s), of which the
    /// system has the targets at both ends.
    pub(crate) fn find_drives(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &Motion,
        h: f64,
        driving: Driving,
    ) {
        self.drives.find(system, start, end, h, driving, &mut self.room);
    }

    /// Enters the work of the drives of compliances in a stage whose forces are their laws, as the
    /// system has them, for the time `h` (s) that the method counts it for.
    pub(crate) fn add_stage_by_laws(&mut self, system: &System, h: f64, first: bool) {
        self.drives.add_stage_by_laws(system, h, first);
    }

    /// Work of external forces, supports and rows for the time `h` (s), without damping forces and
    /// what drives rows.
    fn impulses(&mut self, step: Step<'_>, h: f64, power: Power) -> Ledger {
        let mut ledger = Ledger::default();
        let mean = |k: usize| 0.5 * (step.end.state.velocities[k] + step.start.state.velocities[k]);
        for (k, f) in step.end.controls.external.iter().enumerate() {
            if *f == 0.0 {
                continue;
            }
            ledger.forces += h * f * mean(k);
        }
        ledger.forces +=
            h * power_without_potential(&step.system.model, &step.start.state, &mut self.room, mean);
        for node in step.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, velocity) in node.velocity_range().enumerate() {
                let support = step.end.supports[first + k];
                if support != 0.0 {
                    ledger.motion += h * support * mean(velocity);
                }
            }
        }
        for group in step.system.model.row_groups() {
            let driven = step.system.model.motion(group).is_some();
            let Some(entry) = entry_of(&step.system.model, group, driven) else {
                continue;
            };
            if driven && entry != Entry::Impacts || power == Power::Chord {
                continue;
            }
            let first = step.system.model.node(group.node).first_velocity;
            let work: f64 = (0..group.size * group.count)
                .map(|k| {
                    let is_hard = step.system.evaluation.is_hard(group, k);
                    if driven && matches!(group.component, ComponentId::ForceField(_)) && !is_hard {
                        return 0.0;
                    }
                    let work = h * step.end.multipliers[group.first_row + k] * mean(first + k);
                    // What a drive does through a row of one side is no impact.
                    match driven {
                        true => work - self.drives.work(step, group, k, h, power),
                        false => work,
                    }
                })
                .sum();
            *match entry {
                Entry::Motion => &mut ledger.motion,
                Entry::Motors => &mut ledger.motors,
                Entry::Friction => &mut ledger.friction,
                Entry::Impacts => &mut ledger.impacts,
            } += work;
        }
        ledger
    }

    /// Moves what force fields with a memory remember on
    /// ([`System::advance_memory`](crate::System::advance_memory)).
    pub(crate) fn advance_memory(&mut self, system: &mut System, state: &mut State, elapsed: f64) {
        self.forgotten += system.advance_memory(state, elapsed);
        self.brought += system.brought_by_memory(state, elapsed);
    }

    /// Adds the energy of the compliant contacts at the start of the step, once they are found, and
    /// notes in `end` the overlap of a state that was set, limits and ropes beyond included.
    pub(crate) fn add_stored_contacts(&mut self, system: &System, end: &mut Motion) {
        if !self.stored_is_missing {
            return;
        }
        let mut deepest = one_sided::farthest_outside(system, &end.state);
        if let Some(c) = &system.contacts {
            self.start.potential += c.stored_at_start();
            deepest = deepest.max(c.deepest_at_start());
        }
        end.ledger.overlap = deepest;
    }

    /// Energy that the step lost up to now (J): energies of its start and the work since, less the
    /// energies of its end, in which compliant contacts have `stored`.
    pub(crate) fn lost(&mut self, step: Step<'_>, stored: f64) -> f64 {
        let l = &self.ledger;
        let brought = l.forces + l.motion + l.motors + l.inputs + l.removed + self.brought + self.corrected;
        let end = energy::energies(step, true, &mut self.room.first);
        self.start.total() + brought - end.total() - stored
    }

    /// The closed ledger of a step that ends with these energies, before which rows changed the
    /// velocities of its start.
    pub(crate) fn close(&self, end: &Energies, projected: Projected) -> Ledger {
        let mut ledger = self.ledger;
        ledger.impacts -= projected.taken;
        ledger.motion += projected.given;
        ledger.damping -= self.forgotten;
        ledger.inputs += self.brought;
        ledger.corrections = self.corrected + (self.recovered.lifted - self.recovered.paid);
        ledger.close(
            end.kinetic - self.start.kinetic,
            end.potential - self.start.potential,
            self.parts,
        );
        ledger
    }

    /// Energy since the motion was set, up to the start of the step; and whether it begins with the
    /// step.
    pub(crate) fn budget(&self, start: &Motion) -> (EnergyBudget, bool) {
        let known = start.ledger.budget.filter(|_| start.ledger.energies.is_some());
        match known {
            Some(budget) => (budget, false),
            None => (EnergyBudget::begin(&self.start), true),
        }
    }

    /// After the step has moved: what the turning Jacobians of mapped masses changed in their
    /// kinetic energy.
    fn close_inertia(&mut self, step: Step<'_>) {
        let Some(found) = &mut self.parts else {
            return;
        };
        let model = &step.system.model;
        let mut mapped = 0.0;
        for attachment in model.masses() {
            let node = model.node(attachment.node);
            if node.first_dof().is_some() {
                continue;
            }
            let v = &step.end.state.velocities[node.velocity_range()];
            let p = &mut self.room.first[..v.len()];
            p.fill(0.0);
            attachment.component.add_product(node.space, 1.0, v, p);
            mapped += 0.5 * p.iter().zip(v).map(|(p, v)| p * v).sum::<f64>();
        }
        found.inertia += mapped - self.mapped;
    }
}

/// The velocity at which an impulse works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    /// The mean of both ends of the step.
    Mean,
    /// That of the end, of a stage.
    End,
    /// The displacement over the step, divided by its length.
    Chord,
}

/// The force of damping laws that are not linear in the velocity, in the work that they are said to
/// have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DampingLaw {
    /// The force at the start and its tangent for the change, as the theta method has it.
    Tangent,
    /// The mean of the forces at both ends.
    Mean,
}

/// Where the work of a group of rows is entered; nowhere if it stores it, or does none but by
/// linearising.
pub(super) fn entry_of(model: &Problem, group: &RowGroup, driven: bool) -> Option<Entry> {
    let bounds = model.bounds(group);
    if let ComponentId::ForceField(_) = group.component
        && !driven
    {
        return None;
    }
    if let ComponentId::Constraint(i) = group.component
        && let Level::Restitution { .. } = model.constraints()[i].component.level
    {
        return Some(Entry::Impacts);
    }
    match bounds {
        Some((lower, upper)) if lower == 0.0 || upper == 0.0 => Some(Entry::Impacts),
        Some(_) if driven => Some(Entry::Motors),
        Some(_) => Some(Entry::Friction),
        None if driven => Some(Entry::Motion),
        None => None,
    }
}
