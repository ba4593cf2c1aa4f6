//! Contacts in the step: found, made rows ([`solve`]; of Newton's method [`newton`]), judged and read ([`read`]), corrected where things overlap ([`overlap`]),
//! which is paid for ([`toll`]).

mod coupling;
pub(crate) mod equilibrium;
mod impacts;
pub(crate) mod laws;
mod memory;
mod newton;
mod overlap;
mod poisson;
mod read;
mod solve;
mod toll;
mod unforeseen;

use super::Simulation;
use crate::Error;
use crate::contact::{
    Contact, ContactEvent, ContactFinder, ContactKey, ContactList, ContactReading, ContactState,
    ContactsReport, FrictionModel,
};
use laws::{Rows, lever};
pub use memory::ContactMemory;
pub(crate) use memory::ContactsAtStart;
use pliant_dense::Vec3;
use pliant_kkt::{Extended, Support, Tail};
use pliant_model::{NodeId, Problem, Space, State};
use pliant_solvers::complementarity::{Cone, ConicSolver, IslandSolver, Outcome};
use pliant_solvers::{KktSystem, Solution};
use poisson::{Expansion, Missed};
pub(crate) use solve::{auto_options, gather_rows, in_words, last_impulses};

/// Everything about contacts that a simulation holds.
#[derive(Debug)]
pub(crate) struct Contacts {
    pub(crate) finder: Box<dyn ContactFinder>,
    pub(crate) nodes: Vec<NodeId>,
    /// Contacts at the start of the step, and for which horizon they were found; none if they are to be found.
    list: ContactList,
    horizon: Option<f64>,
    /// Contacts at its end.
    next: ContactList,
    next_horizon: f64,
    /// The state that contacts are searched for, with the velocities that gravity alone would make.
    foreseen: State,
    /// Length of the last step (s).
    step: f64,
    /// Rows of the listed contacts.
    rows: Vec<Rows>,
    expansions: Vec<Expansion>,
    /// Of impacts by Poisson's law.
    scratch: poisson::Scratch,
    /// The impact of the step did not converge.
    missed: Option<Missed>,
    tail: Tail,
    /// Right-hand sides in the velocities of the start, where Newton's method asks for those of an iterate.
    laws: Vec<f64>,
    cones: Vec<Option<Cone>>,
    extended: Extended,
    solver: IslandSolver,
    /// What failed in the last step that was taken in halves in vain.
    pub(crate) failed: Option<Box<ConicSolver>>,
    solution: Solution,
    /// Impulses of impacts that were taken before the step, in sequence or by Poisson's law (N s).
    given: Vec<f64>,
    /// Whether restitution is in them.
    bounced: bool,
    /// Velocities of the rows at the end of the step.
    after: Vec<f64>,
    /// Average force and torque over the last step in the world (N, N m), by key, ascending.
    forces: Vec<(ContactKey, [f64; 6])>,
    forces_now: Vec<(ContactKey, [f64; 6])>,
    readings: Vec<ContactReading>,
    events: Vec<ContactEvent>,
    pub(crate) report: ContactsReport,
    /// What the impulses of the step did.
    pub(crate) work: ContactWork,
    outcome: Outcome,
    worst: usize,
    /// Velocity that counts as none (m/s).
    noise: f64,
    /// Of the correction of overlap.
    correction_tail: Tail,
    correction_cones: Vec<Option<Cone>>,
    correction_system: Extended,
    correction_solver: IslandSolver,
    correction: Solution,
    toll: toll::Toll,
    /// By one correction of the step (J).
    most_lifted: f64,
    /// What was so deep at the first correction of the step that it takes longer, by key, ascending.
    recovering: Vec<ContactKey>,
    /// Overlap of hard contacts that the state was set with, as far as it is still there (m).
    pub(crate) set_overlap: f64,
    /// What corrections of the present step may bring in, beyond what motion pays: what the step lost (J). Without one, all that they ask for.
    margin: Option<f64>,
    /// Memory of the finder before the step's first search; empty before that.
    memory: Vec<u64>,
    /// Contacts of the step were named after that.
    found_in_step: bool,
    /// Contacts that nobody foresaw, and how many of them the step has.
    unforeseen: ContactList,
    unforeseen_count: usize,
    /// How often the step was taken again because of them.
    searches: usize,
    /// Only contacts of these keys, ascending, take part in the step; the others are put aside.
    pub(crate) shut: bool,
    pub(crate) touching: Vec<ContactKey>,
    pub(crate) aside: ContactList,
}

/// Energy that the impulses of the contacts brought in over a step (J).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactWork {
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

/// The state, with the velocities at the end of a step under gravity alone where elements have coordinates of their own: without these, what
/// falls from rest would be seen a step late, `g h^2` deep.
pub(crate) fn foresee(model: &Problem, state: &State, system: &KktSystem, h: f64, out: &mut State) {
    out.positions.clone_from(&state.positions);
    out.velocities.clone_from(&state.velocities);
    let gravity = model.gravity();
    for node in model.nodes() {
        let (Some(first), true) = (node.first_dof(), node.space.is_spatial()) else {
            continue;
        };
        let size = node.space.velocity_size();
        let places = if node.space == Space::Rigid3 { 3 } else { size };
        for e in 0..node.count {
            for (k, g) in gravity[..places].iter().enumerate() {
                if !system.fixed[first + e * size + k] {
                    out.velocities[node.first_velocity + e * size + k] += h * g;
                }
            }
        }
    }
}

pub(crate) fn check(contact: &Contact) -> Result<(), Error> {
    let law = &contact.law;
    let at_least = |what, value: f64, fine: bool, bound| {
        if fine {
            Ok(())
        } else {
            Err(Error::OutOfRange { what, value, bound })
        }
    };
    let length = Vec3::from(contact.normal).norm();
    at_least(
        "the length of a contact normal",
        length,
        (length - 1.0).abs() < 1e-9,
        "one",
    )?;
    at_least(
        "the gap of a contact",
        contact.gap,
        contact.gap.is_finite(),
        "finite",
    )?;
    let bound = "finite and not negative";
    for (what, value) in [
        ("the friction of a contact", law.friction),
        ("the compliance of a contact", law.compliance),
        ("the relaxation time of a contact", law.relaxation_time),
        ("the dissipation of a contact", law.dissipation),
        ("the torsion of a contact", law.torsion),
        ("the rolling resistance of a contact", law.rolling),
    ] {
        at_least(what, value, value.is_finite() && value >= 0.0, bound)?;
    }
    law.friction_model.check(law.friction).map_err(Error::Geometry)?;
    if let FrictionModel::Pyramid { .. } = law.friction_model {
        let most = law.torsion.max(law.rolling);
        at_least(
            "the resistance to spin or rolling of a contact with a polygon of friction",
            most,
            most == 0.0,
            "zero",
        )?;
    }
    let longest = law.direction.map_or(1.0, |d| Vec3::from(d).amax());
    at_least(
        "the direction of the friction of a contact",
        longest,
        longest.is_finite(),
        "finite",
    )?;
    let e = law.restitution;
    at_least(
        "the restitution of a contact",
        e,
        (0.0..=1.0).contains(&e),
        "between 0 and 1",
    )
}

impl Contacts {
    pub(crate) fn new(finder: Box<dyn ContactFinder>) -> Self {
        Self {
            nodes: finder.nodes(),
            finder,
            list: ContactList::default(),
            horizon: None,
            next: ContactList::default(),
            next_horizon: 0.0,
            foreseen: State::default(),
            step: 1.0,
            rows: Vec::new(),
            expansions: Vec::new(),
            scratch: poisson::Scratch::default(),
            missed: None,
            tail: Tail::default(),
            laws: Vec::new(),
            cones: Vec::new(),
            extended: Extended::default(),
            solver: IslandSolver::default(),
            failed: None,
            solution: Solution::default(),
            given: Vec::new(),
            bounced: false,
            after: Vec::new(),
            forces: Vec::new(),
            forces_now: Vec::new(),
            readings: Vec::new(),
            events: Vec::new(),
            report: ContactsReport::default(),
            work: ContactWork::default(),
            outcome: Outcome::Converged,
            worst: 0,
            noise: 0.0,
            correction_tail: Tail::default(),
            correction_cones: Vec::new(),
            correction_system: Extended::default(),
            correction_solver: IslandSolver::default(),
            correction: Solution::default(),
            toll: toll::Toll::default(),
            most_lifted: 0.0,
            recovering: Vec::new(),
            set_overlap: 0.0,
            margin: None,
            memory: Vec::new(),
            found_in_step: false,
            unforeseen: ContactList::default(),
            unforeseen_count: 0,
            searches: 0,
            shut: false,
            touching: Vec::new(),
            aside: ContactList::default(),
        }
    }

    /// Whether a contact takes part in the step.
    fn takes(&self, contact: &Contact) -> bool {
        !self.shut || self.touching.binary_search(&contact.key).is_ok()
    }

    /// What was read belongs to the last step, of length `h`.
    fn stand(&mut self, h: f64) {
        self.events.clear();
        for reading in self.readings.iter().filter(|r| r.state != ContactState::Open) {
            if self
                .forces
                .binary_search_by_key(&reading.contact.key, |f| f.0)
                .is_err()
            {
                self.events.push(ContactEvent::Begun(reading.contact.key));
            }
        }
        for (key, _) in &self.forces {
            if self.forces_now.binary_search_by_key(key, |f| f.0).is_err() {
                self.events.push(ContactEvent::Ended(*key));
            }
        }
        self.step = h;
        self.memory.clear();
        self.found_in_step = false;
        std::mem::swap(&mut self.forces, &mut self.forces_now);
        std::mem::swap(&mut self.list, &mut self.next);
        self.horizon = Some(self.next_horizon);
    }

    /// The contacts belong to another state now, and their forces are forgotten.
    pub(crate) fn forget(&mut self) {
        self.horizon = None;
        self.forces.clear();
        self.readings.clear();
        self.events.clear();
        self.report.stored = 0.0;
    }

    /// Keeps what failed, before all solvers forget what they know.
    pub(crate) fn keep_failed(&mut self) {
        if let Some(worst) = self.solver.take_worst() {
            self.failed = Some(worst);
        }
    }

    /// The contacts of the present state are to be found anew.
    pub(crate) fn find_again(&mut self) {
        self.horizon = None;
    }

    /// Contacts at the start of the step.
    pub(crate) fn list_of_step(&self) -> &ContactList {
        &self.list
    }

    /// Whether a contact had a force in the last step.
    pub(crate) fn had_force(&self, key: ContactKey) -> bool {
        self.forces.binary_search_by_key(&key, |f| f.0).is_ok()
    }

    /// Leaves contacts out of the next step for which `island` says so, and appends their forces in the last one, with what it said.
    pub(crate) fn put_aside(
        &mut self,
        island: impl Fn(&[Support]) -> Option<u32>,
        aside: &mut Vec<(ContactKey, [f64; 6], u32)>,
    ) {
        for (i, contact) in self.next.contacts().iter().enumerate() {
            if let Ok(at) = self.forces.binary_search_by_key(&contact.key, |f| f.0)
                && let Some(island) = island(self.next.supports(i))
            {
                let (key, force) = self.forces.remove(at);
                aside.push((key, force, island));
            }
        }
        self.list.retain(|supports| island(supports).is_none());
    }

    /// Takes such forces back as those of the last step.
    pub(crate) fn give_back(&mut self, forces: impl Iterator<Item = (ContactKey, [f64; 6])>) {
        self.forces.extend(forces);
        self.forces.sort_unstable_by_key(|f| f.0);
        self.horizon = None;
    }
}

impl Simulation {
    /// Gives the simulation a source of contacts, instead of the one it had; plans the system anew.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn set_contacts(&mut self, finder: impl ContactFinder + 'static) -> Result<(), Error> {
        self.wake_all();
        self.motion.ledger.energies = None;
        self.system.contacts = Some(Box::new(Contacts::new(Box::new(finder))));
        let rows = self.system.model.row_groups().to_vec();
        self.plan_anew(&rows)
    }

    /// Takes the source of contacts away.
    pub fn remove_contacts(&mut self) {
        self.wake_all();
        self.motion.ledger.energies = None;
        self.system.contacts = None;
    }

    /// Whether the present step has contacts.
    pub(crate) fn in_contact(&self) -> bool {
        self.system.contacts.as_ref().is_some_and(|c| !c.list.is_empty())
    }

    /// Finds the contacts of the present state, unless they are known.
    pub(crate) fn find_contacts(&mut self, h: f64) -> Result<(), Error> {
        let Some(mut c) = self.system.contacts.take() else {
            return Ok(());
        };
        let found = self.find_contacts_of(&mut c, h);
        self.system.contacts = Some(c);
        found
    }

    fn find_contacts_of(&self, c: &mut Contacts, h: f64) -> Result<(), Error> {
        c.report = ContactsReport {
            friction_coupling: self.options.contacts.friction_coupling,
            unforeseen: c.unforeseen_count,
            ..ContactsReport::default()
        };
        c.outcome = Outcome::Converged;
        if c.horizon.is_none_or(|horizon| horizon < h) {
            c.horizon = None;
            c.list.clear();
            if c.memory.is_empty() {
                c.finder.save(&mut c.memory);
            }
            foresee(
                &self.system.model,
                &self.motion.state,
                self.system.assembler.system(),
                h,
                &mut c.foreseen,
            );
            c.finder.find(&self.system.model, &c.foreseen, h, &mut c.list)?;
            let (sleep, assembler) = (&self.system.sleep, &self.system.assembler);
            sleep.leave_out(assembler, &mut c.list);
            c.list.contacts().iter().try_for_each(check)?;
            c.horizon = Some(h);
            c.found_in_step = true;
            c.aside.clear();
        }
        if c.shut {
            let touching = &c.touching;
            let takes = |contact: &Contact| touching.binary_search(&contact.key).is_ok();
            c.list.part(takes, &mut c.aside);
        }
        c.rows.clear();
        for (i, contact) in c.list.contacts().iter().enumerate() {
            let turns = |s: &&Support| self.system.model.node(s.node).space == Space::Rigid3;
            let arms = c.list.supports(i).iter().filter(turns).map(|s| s.arm);
            c.rows.push(Rows::new(contact, lever(contact, arms)));
        }
        Ok(())
    }

    /// The step stands: its contacts are those of the past.
    pub(crate) fn keep_contacts(&mut self) {
        let h = self.scheme.h;
        let Some(c) = &mut self.system.contacts else {
            return;
        };
        c.stand(h);
    }

    /// The step does not stand: the finder remembers what it did before its first search.
    pub(crate) fn undo_contacts(&mut self) -> Result<(), Error> {
        let Some(c) = &mut self.system.contacts else {
            return Ok(());
        };
        if std::mem::take(&mut c.found_in_step) {
            c.find_again();
        }
        if c.memory.is_empty() {
            return Ok(());
        }
        let found = c.finder.restore(&c.memory);
        c.memory.clear();
        found
    }
}
