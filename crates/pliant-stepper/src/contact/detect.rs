//! The search for contacts: at the start of a step, where the last one did not leave them, and at
//! its end.

use super::held::HeldElements;
use super::{
    Contact, ContactFinder, ContactKey, ContactLaw, ContactList, ContactMemory, Contacts, FrictionModel,
};
use crate::Error;
use crate::motion::Motion;
use crate::sleep::{Sleep, tell_rest};
use crate::system::System;
use pliant_contact::{ContactArea, Rest};
use pliant_dense::Vec3;
use pliant_kkt::Assembler;
use pliant_model::{Model, NodeId, Problem, Space, State};
use pliant_solvers::KktSystem;

/// The contacts of the present step, and the search that finds them.
#[derive(Debug)]
pub struct Detection {
    pub(super) source: ContactSource,
    /// Contacts at the start of the step.
    pub(super) list: ContactList,
    /// The horizon (s) that they were found for; none if they are to be taken from the motion, or
    /// found.
    pub(super) horizon: Option<f64>,
    /// Contacts of the step were named after its start.
    pub(super) found_in_step: bool,
    pub(super) missed: MissedContacts,
    /// The contacts that are left out while events are located.
    pub guards: ContactGuards,
}

/// A finder, and the state that it searches.
#[derive(Debug)]
pub(super) struct ContactSource {
    pub(super) finder: Box<dyn ContactFinder>,
    nodes: Vec<NodeId>,
    /// The state that contacts are searched for, with predicted velocities.
    pub(super) predicted: State,
    /// Elements whose contacts with what does not move are left out.
    pub(super) held: HeldElements,
    /// Whether it has searched since the motion took note of its memory.
    pub(super) searched: bool,
}

/// Contacts that the search of the step missed.
#[derive(Debug, Default)]
pub(super) struct MissedContacts {
    pub(super) list: ContactList,
    /// How many of them the step has.
    pub(super) count: usize,
    /// How often the step was taken again because of those found behind it, and of those found at
    /// its first iterates.
    pub(super) searches: usize,
    pub(super) early: usize,
    /// Whether the last ones were found at an iterate.
    pub(super) is_early: bool,
}

/// The contacts that take part in a step while events are located.
#[derive(Debug, Default)]
pub struct ContactGuards {
    /// Only contacts of these keys, ascending, take part in the step; the others are put aside.
    pub(crate) shut: bool,
    pub(crate) touching: Vec<ContactKey>,
    /// The contacts that are put aside.
    pub aside: ContactList,
}

/// The state that contacts are searched at.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub(crate) model: &'a Problem,
    pub(crate) assembler: &'a Assembler,
    pub(crate) sleep: &'a Sleep,
    pub(crate) state: &'a State,
}

impl<'a> Search<'a> {
    /// The contacts of a system, if it has any, and the search at a state.
    pub(super) fn of(system: &'a mut System, state: &'a State) -> Option<(&'a mut Contacts, Self)> {
        let System {
            model,
            assembler,
            sleep,
            contacts,
            ..
        } = system;
        let search = Self {
            model,
            assembler,
            sleep,
            state,
        };
        Some((contacts.as_deref_mut()?, search))
    }
}

/// Fills `out` with the contacts of a motion that may close within `h` (s), which neither the
/// system nor its finder remembers; with none where nothing collides.
///
/// # Errors
/// Whatever keeps the finder from knowing.
pub fn look_ahead(system: &mut System, motion: &Motion, h: f64, out: &mut ContactList) -> Result<(), Error> {
    out.clear();
    tell_rest(system, motion);
    match Search::of(system, &motion.state) {
        Some((contacts, search)) => contacts.detection.source.look(search, h, out),
        None => Ok(()),
    }
}

impl ContactGuards {
    /// Whether a contact takes part in the step.
    pub(super) fn take(&self, contact: &Contact) -> bool {
        !self.shut || self.touching.binary_search(&contact.key).is_ok()
    }

    /// Lets all contacts take part again.
    pub(crate) fn open(&mut self) {
        self.shut = false;
        self.touching.clear();
        self.aside.clear();
    }
}

impl ContactSource {
    /// Fills `out` with the contacts of a state that may close within `h` (s).
    pub(super) fn search(&mut self, search: Search<'_>, h: f64, out: &mut ContactList) -> Result<(), Error> {
        self.searched = true;
        self.list_by(search, h, out, |finder, model, state, out| {
            finder.find(model, state, h, out)
        })
    }

    /// Fills `out` by a method of the finder, but for contacts among sleepers.
    fn list_by(
        &mut self,
        search: Search<'_>,
        h: f64,
        out: &mut ContactList,
        by: impl FnOnce(&mut dyn ContactFinder, &Model, &State, &mut ContactList) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.clear();
        let system = search.assembler.system();
        predict(search.model, search.state, system, h, &mut self.predicted);
        self.finder.set_gravity(search.model.gravity());
        by(self.finder.as_mut(), search.model, &self.predicted, out)?;
        search.sleep.leave_out(search.assembler, out);
        self.held.leave_out(search, out);
        out.contacts().iter().try_for_each(check)
    }

    /// Fills `out` with the contacts of a state that the motion may come to, which the finder does
    /// not remember.
    pub(super) fn look(&mut self, search: Search<'_>, h: f64, out: &mut ContactList) -> Result<(), Error> {
        self.list_by(search, h, out, |finder, model, state, out| {
            finder.look(model, state, h, out)
        })
    }

    /// Goes on from the contacts of a state that a search over `h` (s) found.
    fn resume(&mut self, search: Search<'_>, h: f64) -> Result<(), Error> {
        let system = search.assembler.system();
        predict(search.model, search.state, system, h, &mut self.predicted);
        self.finder.resume(search.model, &self.predicted, h)
    }

    /// Takes note of the memory of the finder.
    pub(super) fn save(&mut self, memory: &mut ContactMemory) {
        self.searched = false;
        memory.finder.clear();
        self.finder.save(&mut memory.finder);
    }
}

impl Detection {
    pub(super) fn new(finder: Box<dyn ContactFinder>) -> Self {
        Self {
            source: ContactSource {
                nodes: finder.nodes(),
                finder,
                predicted: State::default(),
                held: HeldElements::default(),
                searched: false,
            },
            list: ContactList::default(),
            horizon: None,
            found_in_step: false,
            missed: MissedContacts::default(),
            guards: ContactGuards::default(),
        }
    }

    /// Contacts at the start of the present step.
    pub(crate) fn list(&self) -> &ContactList {
        &self.list
    }

    /// The nodes on which contacts may act.
    pub fn nodes(&self) -> &[NodeId] {
        &self.source.nodes
    }

    /// Name of one side of a contact.
    pub fn name(&self, side: u32) -> String {
        self.source.finder.name(side)
    }

    /// The areas of the points of one side, if it is a mesh of triangles.
    ///
    /// # Errors
    /// Errors of the finder.
    pub fn contact_area(&self, model: &Model, side: u32) -> Result<Option<ContactArea>, Error> {
        self.source.finder.contact_area(model, side)
    }

    /// Two sides in words, as those of "the contact of".
    pub fn pair(&self, sides: [u32; 2]) -> String {
        let [a, b] = sides.map(|s| self.name(s));
        format!("{a} and {b}")
    }

    /// Says to the finder how many tests a search may take.
    pub(crate) fn set_most_tests(&mut self, tests: u64) {
        self.source.finder.set_most_tests(tests);
    }

    /// The laws that contacts may have.
    pub(super) fn laws(&self) -> Vec<(ContactLaw, [u32; 2])> {
        self.source.finder.laws()
    }

    /// Says to the finder which elements of nodes rest.
    pub(crate) fn set_rest(&mut self, of: &dyn Fn(NodeId, usize) -> Rest) {
        self.source.finder.set_rest(of);
    }

    /// Finds the contacts of the start of a step of length `h` (s), unless they are known.
    pub(super) fn find(&mut self, search: Search<'_>, memory: &ContactMemory, h: f64) -> Result<(), Error> {
        if self.horizon.is_none_or(|horizon| horizon < h) {
            self.horizon = None;
            self.guards.aside.clear();
            if let Some(horizon) = memory.horizon.filter(|horizon| *horizon >= h) {
                self.source.resume(search, horizon)?;
                self.list.clone_from(&memory.list);
                self.horizon = Some(horizon);
            } else {
                self.source.search(search, h, &mut self.list)?;
                self.horizon = Some(h);
                self.found_in_step = true;
            }
        }
        let ContactGuards {
            shut,
            touching,
            aside,
        } = &mut self.guards;
        if *shut {
            self.list.part(|c| touching.binary_search(&c.key).is_ok(), aside);
        }
        Ok(())
    }

    /// Finds what touches or comes near within `h` (s) from a state whose velocities are
    /// displacements, none of gravity, into `out`.
    pub fn find_on_the_way(
        &mut self,
        model: &Model,
        state: &State,
        way: impl FnOnce(&mut [f64]),
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let source = &mut self.source;
        source.predicted.clone_from(state);
        source.predicted.velocities.fill(0.0);
        way(&mut source.predicted.velocities);
        out.clear();
        source.searched = true;
        source.finder.find(model, &source.predicted, 1.0, out)
    }

    /// Forgets the contacts of the step: they belong to the motion, or are to be found anew.
    pub(crate) fn forget(&mut self) {
        self.horizon = None;
    }

    /// Goes back to a motion with this memory.
    pub(super) fn restore(&mut self, memory: &ContactMemory) -> Result<(), Error> {
        self.horizon = None;
        self.found_in_step = false;
        self.source.searched = false;
        self.source.finder.restore(&memory.finder)
    }

    /// The step stands: its contacts are those of the past.
    pub(super) fn stand(&mut self, memory: &mut ContactMemory) {
        self.horizon = None;
        self.found_in_step = false;
        self.source.save(memory);
    }
}

/// The state, with the velocities at the end of a step under gravity alone where elements have
/// coordinates of their own: without these, the contact of a body that falls from rest would be
/// seen a step late, `g h^2` deep.
pub fn predict(model: &Problem, state: &State, system: &KktSystem, h: f64, out: &mut State) {
    out.positions.clone_from(&state.positions);
    out.velocities.clone_from(&state.velocities);
    let gravity = model.gravity();
    for node in model.nodes() {
        let (Some(first), true) = (node.first_dof(), node.space.is_spatial()) else {
            continue;
        };
        let size = node.space.velocity_size();
        let linear = if node.space == Space::Rigid3 { 3 } else { size };
        for e in 0..node.count {
            for (k, g) in gravity[..linear].iter().enumerate() {
                if !system.fixed[first + e * size + k] {
                    out.velocities[node.first_velocity + e * size + k] += h * g;
                }
            }
        }
    }
}

/// Refuses a contact whose numbers have no meaning.
pub fn check(contact: &Contact) -> Result<(), Error> {
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
        ("the viscous friction of a contact", law.viscous_friction),
        ("the torsion of a contact", law.torsion),
        ("the rolling resistance of a contact", law.rolling),
    ] {
        at_least(what, value, value.is_finite() && value >= 0.0, bound)?;
    }
    law.friction_model.check(law.friction).map_err(Error::Collision)?;
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
