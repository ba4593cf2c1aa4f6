//! Contacts as the stepper sees them: where two things may touch, the law between them, and what it found.

mod world;

pub use crate::simulation::contact::ContactMemory;
pub use crate::control::sleep::SleepMemory;
pub use pliant_contact::{FrictionModel, Rest};

use crate::Error;
use pliant_kkt::Support;
use pliant_model::{Model, NodeId, State};
use pliant_solvers::complementarity::Method;

/// What makes a contact the same one in the next step: its impulse starts the next solve, and events are told by it. A finder makes it of
/// the things that touch and of where on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactKey(pub u64, pub u64);

/// The law of a contact with the gap `phi` (m) along the normal, its velocity `u = (u_n, u_t)` (m/s) and the impulse `r` (N s).
///
/// **Equation.** Signorini: `0 <= phi`, `r_n >= 0`, `phi r_n = 0`, with compliance `C` and relaxation time `d`
/// `r_n = max(0, -h (phi + d u_n)/C)`, `d` with the part of Hunt and Crossley's `dissipation`; Coulomb: `|r_t| <= mu r_n`, and `r_t = -mu r_n u_t/|u_t|` where it slips (an ellipse or a polygon: the friction in it
/// that takes most from the slip, [`FrictionModel`]); in the same way for the torque about the normal, `|m_s| <= torsion r_n`, against spin, and for that across,
/// `|m_r| <= rolling r_n`, against rolling (not with a polygon); Newton: `u_n+ >= -e u_n-`, or Poisson ([`Restitution`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactLaw {
    /// Coefficient of friction `mu` (none).
    pub friction: f64,
    /// How friction depends on the direction; `mu` is that along the first direction.
    pub friction_model: FrictionModel,
    /// The first direction of friction, of which the part along the surfaces counts (world, of any length); without, or along the normal, any.
    pub direction: Option<[f64; 3]>,
    /// Coefficient of restitution `e` (none), between 0 and 1; of hard contacts only.
    pub restitution: f64,
    /// Compliance `C` along the normal (m/N); zero is hard.
    pub compliance: f64,
    /// Relaxation time `d` (s): the damping of a compliant contact, `d/C` (N s/m).
    pub relaxation_time: f64,
    /// Hunt and Crossley's dissipation `a` (s/m) of a compliant contact: its relaxation time grows with the overlap, `d + a max(0, -phi)`, so that the force begins and ends at zero. It
    /// is that of the overlap at the start of the step, an error of first order.
    pub dissipation: f64,
    /// Torque about the normal that friction can take, per normal force (m): `2/3 mu a` for an area of contact of radius `a`.
    pub torsion: f64,
    /// Torque against rolling in any direction, per normal force (m).
    pub rolling: f64,
}

/// A place where two things touch, or may touch within the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Its identity over the steps.
    pub key: ContactKey,
    /// Where, in the world (m).
    pub point: [f64; 3],
    /// Unit vector from the first thing to the second.
    pub normal: [f64; 3],
    /// Distance along the normal (m); negative where they overlap.
    pub gap: f64,
    /// The law between them.
    pub law: ContactLaw,
    /// The two things, by the numbers of the finder.
    pub sides: [u32; 2],
}

impl ContactLaw {
    /// Relaxation time (s) at a gap (m), with the part that grows with the overlap.
    pub(crate) fn relaxation_at(&self, gap: f64) -> f64 {
        self.relaxation_time + self.dissipation * (-gap).max(0.0)
    }
}

/// The contacts of one step, with what they act on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactList {
    contacts: Vec<Contact>,
    /// Where each contact's supports end.
    ends: Vec<usize>,
    supports: Vec<Support>,
}

impl ContactList {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.ends.clear();
        self.supports.clear();
    }

    /// Adds a contact between a point of the first thing and one of the second, each carried by supports whose weights sum to one
    /// (a body with an arm, three corners of a triangle, ...), or by none if it is at rest in the world.
    pub fn push(
        &mut self,
        contact: Contact,
        first: impl IntoIterator<Item = Support>,
        second: impl IntoIterator<Item = Support>,
    ) {
        self.contacts.push(contact);
        self.supports.extend(first.into_iter().map(|s| Support {
            weight: -s.weight,
            ..s
        }));
        self.supports.extend(second);
        self.ends.push(self.supports.len());
    }

    /// The contacts in order.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// What contact `i` acts on: positive shares move its second side.
    pub fn supports(&self, i: usize) -> &[Support] {
        let first = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.supports[first..self.ends[i]]
    }

    /// Keeps the contacts for whose supports it says so.
    pub(crate) fn retain(&mut self, keep: impl Fn(&[Support]) -> bool) {
        let (mut kept, mut end, mut first) = (0, 0, 0);
        for i in 0..self.contacts.len() {
            let supports = first..self.ends[i];
            first = supports.end;
            if keep(&self.supports[supports.clone()]) {
                self.contacts[kept] = self.contacts[i];
                self.supports.copy_within(supports.clone(), end);
                end += supports.len();
                self.ends[kept] = end;
                kept += 1;
            }
        }
        self.contacts.truncate(kept);
        self.ends.truncate(kept);
        self.supports.truncate(end);
    }

    /// Moves the contacts for which `keep` does not say so behind those of another list.
    pub(crate) fn part(&mut self, keep: impl Fn(&Contact) -> bool, aside: &mut Self) {
        let (mut kept, mut end, mut first) = (0, 0, 0);
        for i in 0..self.contacts.len() {
            let supports = first..self.ends[i];
            first = supports.end;
            let contact = self.contacts[i];
            if keep(&contact) {
                self.contacts[kept] = contact;
                self.supports.copy_within(supports.clone(), end);
                end += supports.len();
                self.ends[kept] = end;
                kept += 1;
            } else {
                aside.contacts.push(contact);
                aside.supports.extend_from_slice(&self.supports[supports]);
                aside.ends.push(aside.supports.len());
            }
        }
        self.contacts.truncate(kept);
        self.ends.truncate(kept);
        self.supports.truncate(end);
    }

    /// Adds contact `i` of another list.
    pub(crate) fn take(&mut self, other: &Self, i: usize) {
        self.contacts.push(other.contacts[i]);
        self.supports.extend_from_slice(other.supports(i));
        self.ends.push(self.supports.len());
    }

    /// Becomes the other, in the buffers it has.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.contacts.clone_from(&other.contacts);
        self.ends.clone_from(&other.ends);
        self.supports.clone_from(&other.supports);
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
}

/// Finds contacts. Given to a simulation by [`Simulation::set_contacts`](crate::Simulation::set_contacts).
///
/// What it finds may depend on the state and on its own memory only (identities of contacts), and [`save`](Self::save) and
/// [`restore`](Self::restore) hold all of that memory: then checkpoints go on bit for bit.
pub trait ContactFinder: std::fmt::Debug + Send + Sync {
    /// The nodes on which contacts may act.
    fn nodes(&self) -> Vec<NodeId>;

    /// Lists, into an empty list, what touches or may touch within `horizon` (s) at the velocities of the state, which are those that gravity alone
    /// would make until then.
    ///
    /// # Errors
    /// What keeps it from knowing.
    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error>;

    /// Lists, into an empty list, what the last search did not and what things run through on the way from the positions of the state at its velocities, over the
    /// `horizon` (s): the start of a step, and how it moved. They count as listed then. A finder that leaves this out lets things pass that it
    /// did not foresee.
    ///
    /// # Errors
    /// What keeps it from knowing.
    fn find_unforeseen(
        &mut self,
        _model: &Model,
        _state: &State,
        _horizon: f64,
        _out: &mut ContactList,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Says before a search which elements of nodes move, which stand and which sleep: contacts between a sleeper and what sleeps or stands need not be
    /// listed, and keep their identity.
    fn set_rest(&mut self, _of: &dyn Fn(NodeId, usize) -> Rest) {}

    /// Appends its memory as plain numbers.
    fn save(&self, _out: &mut Vec<u64>) {}

    /// Takes back what [`save`](Self::save) appended.
    ///
    /// # Errors
    /// If that is not what it once saved.
    fn restore(&mut self, _memory: &[u64]) -> Result<(), Error> {
        Ok(())
    }

    /// Name of one of the things that touch.
    fn name(&self, side: u32) -> String {
        format!("thing {side}")
    }
}

/// How overlap is dealt with. Restitution and friction never see it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Overlap {
    /// It stays, and is reported.
    Keep,
    /// Positions are corrected after the step, as little as possible in the metric of the step's `W` where there is stiffness
    /// (what is stiff goes along), else of the masses, without friction and with all hard constraints kept;
    /// and velocities become smaller where that lifts: what it costs is taken from the kinetic energy of the bodies that the correction connects
    /// ([`ContactsReport::paid`]). What these have not got comes out of what the step lost, so that energy does not rise; a correction that would take
    /// more goes less far ([`ContactsReport::held_back`]). Overlap that the state was set with is taken back all the same,
    /// [`ContactsReport::lifted`] says at which cost.
    Correct {
        /// Overlap that may stay (m).
        allowed: f64,
        /// Largest speed of recovery (m/s).
        speed: f64,
    },
    /// The row of the step asks for `u_n+ >= min(-rate phi, speed)`: what is recovered becomes kinetic energy.
    Rows {
        /// Rate of decay (1/s); `1/h` or more recovers in one step.
        rate: f64,
        /// Largest speed of recovery (m/s).
        speed: f64,
    },
}

/// How impacts at the same time are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "impacts")
)]
pub enum Impacts {
    /// All at once: Newton's law `u_n+ >= -e u_n` holds on all closed contacts. In a row of balls that touch all of them move.
    #[default]
    Together,
    /// One after the other, the fastest approach first, each alone with its law of impact and friction, until none approaches; then the step without
    /// restitution. In a row of balls the last one flies off. Every impact costs a product with the columns of its contact.
    InSequence,
}

/// The law of impacts with a coefficient of restitution `e`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "restitution_law")
)]
pub enum Restitution {
    /// Of velocities: `u_n+ >= -e u_n-`. With friction it may make energy where a contact slides before it turns back; then the share of `e` is taken that does not
    /// ([`ContactsReport::restitution`]).
    #[default]
    Newton,
    /// Of impulses: a compression to `u_n >= 0` with the impulse `r_c`, then an expansion with `r_e >= e r_c`, each with Coulomb's friction at its end. Costs two solves more
    /// in a step with an impact. Not for impacts in sequence. Without friction, or with one `e` for all, it makes no energy; else, as with Newton's law, the share of `e`
    /// is taken that does not. Resistance to spin and rolling takes no part.
    ///
    /// Glocker and Pfeiffer, Multiple impacts with friction in rigid multibody systems, 1995, without tangential restitution.
    Poisson,
}

/// How the normal part of a contact knows of its slip.
///
/// **Equation.** With the shift `s` (m/s) of a contact, `K = {|r_t| <= mu r_n}` and its dual `K*`: `u + s n` in `K*`, `r` in `K`, `r . (u + s n) = 0`. Friction opposes the slip with
/// `mu r_n` in all three, and a slipping contact has `u_n = mu |u_t| - s`.
///
/// **Use.** `Exact` as long as it converges: it is Coulomb's law, but not a convex problem, and steps of some heaps have no answer that a solver finds. The other two are convex: each step has an answer, which is found.
/// What sticks is the same in all three. They take circles and ellipses of friction without resistance to spin or rolling, and Newton's law of simultaneous impacts. Nothing changes from one to another by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "friction_coupling")
)]
pub enum FrictionCoupling {
    /// `s = mu |u_t|` at the end of the step (De Saxcé): Coulomb's law, `u_n = 0` where it slips.
    #[default]
    Exact,
    /// `s = mu |u_t|` at the start of the step. Of first order: where the slip changes by `d` in a step, `u_n` is off by at most `mu d`. What slows down sinks by that much in the step, which
    /// [`Overlap`] deals with; what speeds up hovers.
    Lagged,
    /// `s = 0`, the associated law: what slips hovers, at a gap of `h mu |u_t|`. (Anitescu 2006; the default of other programs.)
    Convex,
}

/// When islands fall asleep: things that constraints, forces or contacts connect, near contacts too, and of which every element has been slow for a time.
///
/// A sleeper is held exactly as it is, and takes no part in the search for contacts and in the system. Its island wakes when something that moves touches it,
/// when a row that acts on it is driven, and when a force from outside, a motion, a bound or an input that acts on it, or what holds it, is set anew.
/// An island with a prescribed motion does not sleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleeping {
    /// Largest speed of a point or of a centre of mass (m/s; of scalars, in their unit).
    pub speed: f64,
    /// Largest angular speed of a body (rad/s).
    pub spin: f64,
    /// For how long (s).
    pub time: f64,
}

impl Default for Sleeping {
    /// 1 mm/s, 10 mrad/s, for half a second.
    fn default() -> Self {
        Self {
            speed: 1e-3,
            spin: 1e-2,
            time: 0.5,
        }
    }
}

/// How contacts are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactOptions {
    /// Largest residual of a step that is taken: De Saxcé's (or that of another [`FrictionCoupling`]), relative to the largest velocity that its island has without contact impulses.
    pub tolerance: f64,
    /// Iterations of the last resort of [`Auto`](pliant_solvers::complementarity::Auto).
    pub max_iterations: usize,
    /// Where the contacts of a step do not converge, it is taken in two halves, and each of them again, so many times at most
    /// ([`ContactsReport::halvings`]); at most 20. What is read after such a step, forces and events, is of its last part.
    pub halvings: usize,
    /// The one method that solves them; none lets [`Auto`](pliant_solvers::complementarity::Auto) choose, which falls back on others. For comparison: a
    /// method that does not reach the tolerance, or cannot have friction, ends the run.
    pub solver: Option<Method>,
    /// What becomes of overlap.
    pub overlap: Overlap,
    /// How the normal part of a contact knows of its slip.
    pub friction_coupling: FrictionCoupling,
    /// How impacts at the same time are taken.
    pub impacts: Impacts,
    /// The law of impacts.
    pub restitution: Restitution,
    /// Whether islands at rest fall asleep.
    pub sleeping: Option<Sleeping>,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 5000,
            halvings: 3,
            solver: None,
            overlap: Overlap::Correct {
                allowed: 1e-6,
                speed: 1.0,
            },
            friction_coupling: FrictionCoupling::default(),
            impacts: Impacts::default(),
            restitution: Restitution::default(),
            sleeping: None,
        }
    }
}

/// What the contacts of a step did, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactsReport {
    /// Possible contacts.
    pub count: usize,
    /// Those with an impulse.
    pub active: usize,
    /// Active ones that slip.
    pub slipping: usize,
    /// Groups of things that contacts and constraints connect.
    pub islands: usize,
    /// Those of them for which the forces of the last step were the answer.
    pub settled: usize,
    /// The law that was solved.
    pub friction_coupling: FrictionCoupling,
    /// Residual of that law, relative; what [`ContactOptions::tolerance`] bounds.
    pub residual: f64,
    /// De Saxcé's residual, that of Coulomb's law, relative; the same as [`residual`](Self::residual) with [`FrictionCoupling::Exact`].
    pub de_saxce: f64,
    /// [`residual`](Self::residual) in m/s.
    pub velocity_residual: f64,
    /// Impacts that were taken one by one ([`Impacts::InSequence`]).
    pub impacts: usize,
    /// Iterations, of all methods that were tried.
    pub iterations: usize,
    /// Whose answer it is, of the island that took most of them.
    pub method: Option<Method>,
    /// Steps that were taken in halves ([`ContactOptions::halvings`]). Sums in this report are of all parts, residuals the largest.
    pub halvings: usize,
    /// Contacts that were not foreseen, and with which the step was taken again: what is held does not fall freely, and what is hit stops.
    pub unforeseen: usize,
    /// Largest overlap at the end of the step (m).
    pub overlap: f64,
    /// Energy in compliant contacts at the end of the step, `sum phi^2/(2 C)` of those in overlap (J), part of the potential energy of the
    /// [`StepReport`](crate::StepReport). Without what is between sleepers.
    pub stored: f64,
    /// Corrections of positions because of overlap.
    pub corrections: usize,
    /// Potential energy that corrections of overlap brought in (J), mostly by lifting.
    pub lifted: f64,
    /// What of it was taken from the kinetic energy of what was lifted (J). The rest comes out of what the step lost otherwise; of overlap that the state was set with it
    /// is new.
    pub paid: f64,
    /// The most that a correction would have brought in beyond what motion can pay and the step lost (J): it went less far instead, and some overlap stays.
    pub held_back: f64,
    /// The contact that lifted most, by its sides ([`Simulation::contact_side`](crate::Simulation::contact_side)).
    pub lifted_by: Option<[u32; 2]>,
    /// Work of all contact impulses over the step, `sum r . (u+ + u)/2` (J): negative where friction and impacts take energy.
    pub work: f64,
    /// Elements that sleep at the end of the step.
    pub asleep: usize,
    /// Kinetic energy that those lost which fell asleep at its end (J).
    pub stilled: f64,
    /// Share of the coefficients of restitution that was used: below one where different ones at once would have made energy.
    pub restitution: f64,
}

/// Where a contact is on its law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactState {
    /// No impulse.
    Open,
    /// An impulse, and no slip.
    Sticking,
    /// An impulse on the cone, and slip.
    Slipping,
}

/// One contact of the last step, or of an equilibrium: with forces for impulses, and the way slipped while the load changed for the velocity, as of a step of 1 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReading {
    /// Where it was at the start of the step, and its law.
    pub contact: Contact,
    /// Impulse over the step on the second thing, world axes (N s); the first has its opposite.
    pub impulse: [f64; 3],
    /// Angular impulse of its resistance to spin and rolling on the second thing (N m s).
    pub torque_impulse: [f64; 3],
    /// Velocity of the second point against the first at the end of the step, world axes (m/s).
    pub velocity: [f64; 3],
    /// Where it is on its law.
    pub state: ContactState,
}

/// A contact has begun or ended to carry an impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactEvent {
    /// In this step, not in the one before.
    Begun(ContactKey),
    /// In the step before, not in this one.
    Ended(ContactKey),
}
