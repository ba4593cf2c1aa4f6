//! How contacts are solved, and what becomes of overlap.

use pliant_solvers::complementarity::Method;

/// How overlap is dealt with, and limits and ropes that are beyond by more than motion leaves (with
/// rad for m where they hold angles). Restitution and friction never see it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Overlap {
    /// Overlap stays, and is reported.
    Keep,
    /// Positions are corrected after the step, as little as possible in the metric of the step's
    /// `W` where there is stiffness (stiff parts go along), else of the masses, without friction
    /// and with all hard constraints kept. Where that lifts, velocities become smaller: the
    /// potential energy is taken from the kinetic energy of the bodies that the correction connects
    /// ([`OverlapReport::paid`](super::OverlapReport::paid)). The part that these do not have is
    /// taken from the energy that the step lost, so that energy does not rise; a correction that
    /// would take more goes less far
    /// ([`OverlapReport::held_back`](super::OverlapReport::held_back)). Overlap that the state
    /// was set with is taken back all the same, and
    /// [`OverlapReport::lifted`](super::OverlapReport::lifted) says how much energy that brings
    /// in.
    Correct {
        /// Overlap that may stay (m).
        allowed: f64,
        /// Largest speed of recovery (m/s).
        speed: f64,
    },
    /// The row of the step asks for `u_n+ >= min(-rate phi, speed)`: the recovery becomes kinetic
    /// energy.
    Rows {
        /// Rate of decay (1/s); `1/h` or more recovers in one step.
        rate: f64,
        /// Largest speed of recovery (m/s).
        speed: f64,
    },
}

impl Overlap {
    /// The largest speed of recovery (m/s).
    pub fn speed(&self) -> f64 {
        match *self {
            Self::Keep => 0.0,
            Self::Correct { speed, .. } | Self::Rows { speed, .. } => speed,
        }
    }
}

/// How impacts at the same time are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "impacts")
)]
pub enum Impacts {
    /// All at once: Newton's law `u_n+ >= -e u_n` holds on all closed contacts. In a row of balls
    /// that touch all of them move.
    #[default]
    Together,
    /// One after the other, the fastest approach first, each alone with its law of impact and
    /// friction, until none approaches; then the step without restitution. In a row of balls the
    /// last one flies off. Every impact costs a product with the columns of its contact.
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
    /// Of velocities: `u_n+ >= -e u_n-`. With friction it may make energy where a contact slides
    /// before it turns back; then the share of `e` is taken that does not
    /// ([`ContactsReport::restitution`](super::ContactsReport::restitution)).
    #[default]
    Newton,
    /// Of impulses: a compression to `u_n >= 0` with the impulse `r_c`, then an expansion with
    /// `r_e >= e r_c`, each with Coulomb's friction at its end. Costs two solves more in a step
    /// with an impact. Not for impacts in sequence. Without friction, or with one `e` for all, it
    /// makes no energy; else, as with Newton's law, the share of `e` is taken that does not.
    /// Resistance to spin and rolling takes no part.
    ///
    /// Glocker and Pfeiffer, Multiple impacts with friction in rigid multibody systems, 1995,
    /// without tangential restitution.
    Poisson,
}

/// How the normal part of a contact depends on its slip.
///
/// **Equation.** With the shift `s` (m/s) of a contact, `K = {|r_t| <= mu r_n}` and its dual `K*`:
/// `u + s n` in `K*`, `r` in `K`, `r . (u + s n) = 0`. Friction opposes the slip with `mu r_n` in
/// all three, and a slipping contact has `u_n = mu |u_t| - s`.
///
/// **Use.** `Exact` as long as it converges: it is Coulomb's law, but not a convex problem, and
/// steps of some piles have no answer that a solver finds. The other two are convex: each step has
/// an answer, which is found. Sticking contacts are the same in all three. They take circles and
/// ellipses of friction without resistance to spin or rolling, and Newton's law of simultaneous
/// impacts. No law changes to another unless
/// [`friction_fallback`](ContactOptions::friction_fallback) says so.
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
    /// `s = mu |u_t|` at the start of the step. Of first order: where the slip changes by `d` in a
    /// step, `u_n` is off by at most `mu d`. A contact that slows down sinks by that much in the
    /// step, which [`Overlap`] deals with; one that speeds up hovers.
    Lagged,
    /// `s = 0`, the associated law: a slipping contact hovers, at a gap of `h mu |u_t|`. (Anitescu
    /// 2006; the default of other programs.)
    Convex,
}

/// When islands fall asleep: elements that constraints, forces or contacts connect, near contacts
/// too, and that have all been slow for a time.
///
/// A sleeper is held exactly as it is, and takes no part in the search for contacts and in the
/// system. Its island wakes when something that moves touches it, when a row that acts on it is
/// driven, and when a force from outside, a motion, a bound or an input that acts on it, or what
/// holds it, is set anew. An island with a prescribed motion does not sleep.
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
    /// Largest residual of a step that is taken: De Saxcé's (or that of another
    /// [`FrictionCoupling`]), relative to the largest velocity that its island has without contact
    /// impulses. Most steps are solved to 1e-8 whatever it is, which costs them little; the methods
    /// for what is hard end at it.
    pub accuracy: f64,
    /// Iterations of the last resort of [`Auto`](pliant_solvers::complementarity::Auto).
    pub max_iterations: usize,
    /// Where the contacts of a step do not converge, or one of [`Theta`](crate::Integrator::Theta)
    /// has no solution, it is taken in two halves, and each of them again, so many times at most
    /// ([`ContactSolveReport::halvings`](super::ContactSolveReport::halvings)); at most
    /// 20. Forces and events after such a step are those of its last part.
    pub halvings: usize,
    /// The one method that solves them; none lets [`Auto`](pliant_solvers::complementarity::Auto)
    /// choose, which falls back on others. For comparison: a method that does not reach the
    /// accuracy, or cannot have friction, ends the run.
    pub solver: Option<Method>,
    /// The treatment of overlap.
    pub overlap: Overlap,
    /// How the normal part of a contact depends on its slip.
    pub friction_coupling: FrictionCoupling,
    /// The law that a step takes whose contacts have no solution with
    /// [`friction_coupling`](Self::friction_coupling) to the accuracy, or none within the
    /// [operations](crate::WorkLimits::contact_operations) that they may take; none halves it, and
    /// ends in an error. [`ContactSolveReport::fallbacks`](super::ContactSolveReport::fallbacks)
    /// counts such steps, and the report says the law. That law may take as many operations as
    /// by default. Of steps in time; equilibria take none.
    pub friction_fallback: Option<FrictionCoupling>,
    /// How impacts at the same time are taken.
    pub impacts: Impacts,
    /// The law of impacts.
    pub restitution: Restitution,
    /// Whether steps are taken in parts that end where contacts or limits with restitution close, so
    /// that bodies bounce when they touch the other one, not at an end of the step. Up to sixteen
    /// impacts in each step; further ones are in the last part.
    pub locate_impacts: bool,
    /// Whether no step may stand in which surfaces (cloth, cables, meshes, the surfaces of solids)
    /// pass through each other, or come nearer than a tenth of their thickness, on the straight way
    /// of their corners from its start to its end. What does is listed as a contact, and the step
    /// is taken again, then in halves, then is an error. Surfaces have to be apart when the motion
    /// begins, and one of two that may meet has to have a radius. Of steps in time.
    pub intersection_free: bool,
    /// Whether islands at rest fall asleep.
    pub sleeping: Option<Sleeping>,
}

/// The residual to which the methods that get there quickly solve whatever the accuracy: more would
/// take motion without impacts its second order, and solves that begin at the last answer get no
/// quicker by it.
const FINE: f64 = 1e-8;

impl ContactOptions {
    /// The couplings of friction that steps may take, Coulomb's law last if it is one.
    pub fn couplings(&self) -> [FrictionCoupling; 2] {
        let fallback = self.friction_fallback.unwrap_or(self.friction_coupling);
        match self.friction_coupling {
            FrictionCoupling::Exact => [fallback, FrictionCoupling::Exact],
            own => [own, fallback],
        }
    }

    /// The residual that solves aim at where they get there quickly.
    pub(crate) fn aim(&self) -> f64 {
        FINE.min(self.accuracy)
    }
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self {
            accuracy: 1e-6,
            max_iterations: 5000,
            halvings: 3,
            solver: None,
            overlap: Overlap::Correct {
                allowed: 1e-6,
                speed: 1.0,
            },
            friction_coupling: FrictionCoupling::default(),
            friction_fallback: None,
            impacts: Impacts::default(),
            restitution: Restitution::default(),
            locate_impacts: false,
            intersection_free: false,
            sleeping: None,
        }
    }
}
