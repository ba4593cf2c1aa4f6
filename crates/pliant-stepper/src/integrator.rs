//! Which method takes a step.

mod bdf3;
mod composition;
mod methods;

pub use bdf3::Bdf3;
pub use methods::{Bdf2, EndWeighted, GeneralisedAlpha};

use crate::Error;
use std::fmt::Debug;
use std::sync::Arc;

/// Which method takes a step. All have the same checkpoints: an integrator's own memory is part of
/// them.
///
/// [`Sdirk2`](Self::Sdirk2), the default, and [`Theta`](Self::Theta) are for everything that the
/// library models. The others are for smooth motion: without contacts but in
/// [`Nonlinear`](Self::Nonlinear), with hard rows at the level of positions. Weights concern
/// `Theta` and `Nonlinear`, and [`Options::gyroscopic`](crate::Options::gyroscopic), geometric
/// stiffness and stabilisation `Theta` only; the others solve their equations as they stand,
/// gyroscopic torques included, and refuse such a choice.
#[derive(Clone, Debug, Default)]
pub enum Integrator {
    /// One linear system for the change of velocity, with the weights
    /// [`Options::alpha`](crate::Options::alpha) and `beta`.
    Theta,
    /// The equations of the weights `alpha` and `beta` with all their nonlinearity, by Newton's
    /// method: both ends of the step enter with their own forces and Jacobians, hard rows hold at
    /// its end. Order 2 at (1/2, 1/2). Contacts and rows of bounded force are solved in every
    /// iteration; contacts act where and along the directions that they have at the start of the
    /// step, with Newton's law of impact at once.
    Nonlinear,
    /// Any method of the family of [`ImplicitMethod`]: generalised-alpha, Newmark, BDF2, BDF3, or
    /// your own.
    Implicit(Arc<dyn ImplicitMethod>),
    /// SDIRK2: two implicit stages solved by Newton's method, L-stable, order 2 for everything from
    /// soft to hard: rows at the level of velocities, forces of stiff springs as a state of the
    /// stages, positions projected at the end of the step.
    #[default]
    Sdirk2,
    /// The energy-momentum method: one implicit stage of order 2 that conserves, to the tolerance
    /// of its equations, the energy of every potential and of hard rows, linear momentum, and
    /// angular momentum where laws act along distances, strains and points; stable for stiff
    /// springs, and without damping of its own. For free motion over thousands of periods. Mean
    /// forces along the chord of the step are discrete gradients
    /// ([`ForceField::add_chord_force`](pliant_model::ForceField::add_chord_force)), bodies turn by
    /// Cayley's map (Simo and Wong 1991, Gonzalez 1996). Refuses what has no exact mean: mappings
    /// that do not [carry chords](pliant_model::Mapping::carries_chords), such as angles.
    EnergyMomentum,
    /// RATTLE: order 2, symplectic and reversible, positions and velocities on the hard rows,
    /// momentum of free bodies to rounding. Forces are explicit (stable for `h omega < 2`), damping
    /// is implicit in the second half of the step.
    Rattle,
    /// Order 4 by five steps of RATTLE, four of 0.41 of the step and one of -0.66 (Suzuki 1990):
    /// symplectic and reversible like it, with the same hard rows, five times as dear. Where RATTLE
    /// fails for the length of its step, this may take steps 1.5 times as long. A damping rate
    /// (1/s, of velocities) times the step must be below 3: the step backwards undoes damping.
    Rattle4,
    /// Order 6 by nine steps of RATTLE, the longest 0.80 of the step (Kahan and Li 1997); else as
    /// [`Rattle4`](Self::Rattle4).
    Rattle6,
    /// `v+ = v + h a(x, v)`, `x+ = x + h v+`: order 1, explicit, for models without hard rows.
    SymplecticEuler,
    /// `v+ = v + h a(x, v)`, `x+ = x + h v`: order 1, explicit, for models without hard rows.
    /// Vibrations grow with any step unless they are damped (a damping ratio of `h omega/2`, at
    /// least): for comparisons and teaching.
    ForwardEuler,
    /// Heun's method, of two stages, in coordinates of the rotation group: order 2, explicit, for
    /// models without hard rows. Undamped vibrations grow, slowly: by `(h omega)^4/8` per step.
    RungeKutta2,
    /// The classical Runge-Kutta method in coordinates of the rotation group: order 4, explicit,
    /// for models without hard rows.
    RungeKutta4,
}

/// Two custom methods are the same if they are one object.
impl PartialEq for Integrator {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Implicit(a), Self::Implicit(b)) => Arc::ptr_eq(a, b),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl Integrator {
    /// Generalised-alpha (Chung and Hulbert 1993) with the spectral radius `rho` at infinite
    /// frequency, in `[0, 1]`: order 2, what is far too fast for the step is damped to `rho` of its
    /// size per step.
    pub fn generalised_alpha(rho: f64) -> Self {
        Self::Implicit(Arc::new(GeneralisedAlpha::of_radius(rho)))
    }

    /// Newmark's method: order 2 only for `gamma = 1/2`, which with hard rows wants more damping
    /// than it has; then take [`generalised_alpha`](Self::generalised_alpha).
    pub fn newmark(beta: f64, gamma: f64) -> Self {
        Self::Implicit(Arc::new(GeneralisedAlpha::newmark(beta, gamma)))
    }

    /// The backward differentiation formula of order 2 with variable steps.
    pub fn bdf2() -> Self {
        Self::Implicit(Arc::new(Bdf2))
    }

    /// The backward differentiation formula of order 3 with variable steps.
    pub fn bdf3() -> Self {
        Self::Implicit(Arc::new(Bdf3))
    }

    /// The steps of RATTLE that a step is made of, as shares of it; `None` for other methods.
    pub(crate) fn rattle_parts(&self) -> Option<&'static [f64]> {
        match self {
            Self::Rattle => Some(&composition::RATTLE),
            Self::Rattle4 => Some(&composition::RATTLE_4),
            Self::Rattle6 => Some(&composition::RATTLE_6),
            _ => None,
        }
    }

    /// Its name, for reports and errors.
    pub fn name(&self) -> &str {
        match self {
            Self::Theta => "the theta method",
            Self::Nonlinear => "the nonlinear step",
            Self::Implicit(method) => method.name(),
            Self::Sdirk2 => "SDIRK2",
            Self::EnergyMomentum => "the energy-momentum method",
            Self::Rattle => "RATTLE",
            Self::Rattle4 => "RATTLE of order 4",
            Self::Rattle6 => "RATTLE of order 6",
            Self::SymplecticEuler => "symplectic Euler",
            Self::ForwardEuler => "forward Euler",
            Self::RungeKutta2 => "the Runge-Kutta method of order 2",
            Self::RungeKutta4 => "the Runge-Kutta method",
        }
    }
}

/// An implicit method whose equations are those of motion at the end of a step, with a new
/// acceleration and a displacement that are linear in the new velocity `v+`:
///
/// ```math
/// a = g v+ + a_0,   x+ = x (+) (k v+ + d_0),   M a = f + J^T lambda at x+, v+,   phi(x+) = 0 or C lambda = -(phi + d dphi/dt)
/// ```
///
/// Backward differentiation, Newmark, HHT, generalised-alpha and Houbolt are of this form.
/// Implement it to add another: the library solves the equations by Newton's method, and keeps the
/// method's memory, which is part of every checkpoint.
pub trait ImplicitMethod: Debug + Send + Sync {
    /// For reports and errors; the memory of a method of another name is not used.
    fn name(&self) -> &str;

    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for one that does not.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The order of its error at the end of a run of smooth motion; steps that choose their length
    /// go by it.
    fn order(&self) -> usize {
        1
    }

    /// How much longer than the shorter of the last two a step of its order may be. Steps that
    /// choose their length grow by half of that at most, for they compare a whole with halves, and
    /// not at all where it is below 2.
    fn largest_growth(&self) -> f64 {
        f64::INFINITY
    }

    /// Vectors of one number per independent velocity coordinate that it remembers from step to
    /// step.
    fn memory(&self) -> usize;

    /// Whether [`start`](Self::start) needs the accelerations of the first state; they cost one
    /// linear solve.
    fn needs_acceleration(&self) -> bool {
        false
    }

    /// Fills the memory (vectors one after the other) at a state from which no step has been taken,
    /// before a step of length `h`.
    fn start(&self, state: &Start<'_>, memory: &mut [f64]);

    /// Writes what the next step is to solve.
    fn relate(&self, past: &Past<'_>, relation: &mut Relation);

    /// Takes a finished step into the memory.
    fn finish(&self, step: &Finished<'_>, memory: &mut [f64]);

    /// Weight of the end of the step in the equation of motion, 1 for all but the family of
    /// [`Integrator::Nonlinear`]: what is missing is the equation at its start.
    fn weight(&self) -> f64 {
        1.0
    }
}

/// Where a method starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Length of the first step (s).
    pub h: f64,
    /// Velocities of the independent coordinates.
    pub velocity: &'a [f64],
    /// Their accelerations, if the method asked for them; else empty.
    pub acceleration: &'a [f64],
}

/// Values known at the start of a step.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// Length of the step (s).
    pub h: f64,
    /// Length of the step before; `None` for the first one.
    pub previous: Option<f64>,
    /// Length of the step before that; `None` for the first two.
    pub before: Option<f64>,
    /// First of the three coordinates of each rotation; all other coordinates are vectors.
    pub rotations: &'a [usize],
    /// Velocities of the independent coordinates.
    pub velocity: &'a [f64],
    /// The method's memory.
    pub memory: &'a [f64],
}

/// Result of a step.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// Length of the step (s).
    pub h: f64,
    /// Length of the step before; `None` for the first one.
    pub previous: Option<f64>,
    /// First of the three coordinates of each rotation; all other coordinates are vectors.
    pub rotations: &'a [usize],
    /// Velocities at its start.
    pub old_velocity: &'a [f64],
    /// Velocities at its end.
    pub velocity: &'a [f64],
    /// Accelerations in the equation of motion at its end.
    pub acceleration: &'a [f64],
    /// Displacement over the step (of bodies: rotation vector in the axes of the body at its
    /// start).
    pub displacement: &'a [f64],
}

/// Relation of velocity, acceleration and displacement in a step; see [`ImplicitMethod`].
#[derive(Clone, Debug, Default)]
pub struct Relation {
    /// `g` (1/s), positive.
    pub acceleration_gain: f64,
    /// `a_0`, one number per independent velocity coordinate.
    pub acceleration: Vec<f64>,
    /// `k` (s), positive.
    pub displacement_gain: f64,
    /// `d_0`, one number per independent velocity coordinate.
    pub displacement: Vec<f64>,
}

/// How Newton's method solves the equations of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Largest relative residual of a converged step: what an equation misses, beyond the rounding
    /// of positions, as a share of its terms.
    pub tolerance: f64,
    /// Largest relative residual of a stage of [`Integrator::Sdirk2`] whose velocities are not
    /// known to be close.
    pub stage_tolerance: f64,
    /// The share of its velocities that the iteration of such a stage may leave as error in them,
    /// if that is less than a hundredth of the error of the step. Equations are missed by 1e-5 of
    /// their terms at most then.
    pub stage_share: f64,
    /// Iterations at most.
    pub iterations: usize,
    /// How often a step that does not converge is halved; 0 makes it an error at once. With
    /// [`Integrator::Sdirk2`] one stage is to solve it before it is halved more often than
    /// [`stage_halvings`](Self::stage_halvings).
    /// [`Options::accept_failed_steps`](crate::Options::accept_failed_steps) takes the best iterate
    /// instead.
    pub halvings: usize,
    /// How often a step of [`Integrator::Sdirk2`] is halved at most, where its stages are not
    /// solved, or gain or lose energy; what is still not solved then is taken by one stage.
    pub stage_halvings: usize,
    /// Solves the stages of [`Integrator::Sdirk2`], and the projection that ends them, until rounding
    /// ends it (stages with contacts nearby to [`stage_tolerance`](Self::stage_tolerance)), instead of
    /// to a share of the error of the step: the step is then a solution of its equations as derivatives
    /// of steps need it. Contacts that kept their directions over the step before are searched where they
    /// are expected all the same, and limits that bear are projected all the way.
    pub exact_stages: bool,
    /// The largest loss of energy by these stages, as a share of what the step turns over; a step
    /// that loses more is halved, and its halves if they lose more and less than it. What it may
    /// gain is in [`Options::accuracy`](crate::Options::accuracy).
    pub energy_loss: f64,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-11,
            stage_tolerance: 1e-9,
            stage_share: 1e-6,
            iterations: 50,
            halvings: 16,
            stage_halvings: 4,
            exact_stages: false,
            energy_loss: 5e-3,
        }
    }
}
