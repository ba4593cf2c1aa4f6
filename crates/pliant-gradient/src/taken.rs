//! A step that was taken, as derivatives are given it: its ends, its contacts, and the branches
//! that these are on.

use pliant_kkt::Support;
use pliant_model::State;

/// A step that was taken: its length, both ends, and what acted.
#[derive(Clone, Copy, Debug)]
pub struct TakenStep<'a> {
    /// Length (s).
    pub h: f64,
    /// Time at its start (s).
    pub time: f64,
    /// Positions and velocities of all nodes at the start.
    pub start: &'a State,
    /// Positions and velocities of all nodes at the end.
    pub end: &'a State,
    /// Multipliers of the step (N, N m), one per row.
    pub multipliers: &'a [f64],
    /// Forces from outside the model on all nodes (N, N m); empty for none.
    pub external: &'a [f64],
    /// Which independent coordinates are held.
    pub fixed: &'a [bool],
    /// The contacts that carried an impulse.
    pub contacts: &'a [TakenContact],
    /// The step before, as BDF2 remembers it; none of implicit Euler and of first steps.
    pub before: Option<StepBefore<'a>>,
    /// Weights of its end.
    pub weights: StepWeights,
    /// Its stages, of a step of SDIRK2.
    pub stages: Option<TakenStages<'a>>,
}

/// The stages of a step of SDIRK2: accelerations of the independent coordinates (n; m/s^2, rad/s^2)
/// and multipliers (m; N, N m).
///
/// **Equation.** With `g = 1 - 1/sqrt 2` and `w = g h`, two stages
///
/// ```math
/// M (v+ - v)/w + w x I w - f(e+, v+) - J(x+)^T lambda = 0,   x+ = x (+) w v+,   e+ = e (+) w J(x+) v+
/// ```
///
/// in which laws of mapped nodes act at the deformations `e`, the second of them from
/// `x (+) (1 - g) h v1`, `v + (1 - g)/g (v1 - v)`, `e (+) (1 - g) h J v1`; then positions and
/// velocities are projected to where laws and hard rows agree with `e`.
#[derive(Clone, Copy, Debug)]
pub struct TakenStages<'a> {
    /// Accelerations of the second stage.
    pub accelerations: &'a [f64],
    /// By how much they are above those of the first.
    pub jump: &'a [f64],
    /// Multipliers of the second stage.
    pub multipliers: &'a [f64],
    /// By how much they are above those of the first.
    pub multipliers_jump: &'a [f64],
    /// Accelerations of the second stage of the step before, and by how much they were above those of
    /// its first (n; m/s^2, rad/s^2), by which contacts are expected at the end of a stage; none where
    /// nothing is known of them.
    pub before: Option<[&'a [f64]; 2]>,
}

/// Weights of the end of a step of the nonlinear method, in (0, 1]: the equation of motion is the
/// mean of those at both ends, and positions move by a mean of both velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepWeights {
    /// Weight of the end in forces.
    pub alpha: f64,
    /// Weight of the end in velocities.
    pub beta: f64,
}

impl StepWeights {
    /// All at the end: implicit Euler and BDF2.
    pub const END: Self = Self {
        alpha: 1.0,
        beta: 1.0,
    };
}

impl Default for StepWeights {
    fn default() -> Self {
        Self::END
    }
}

/// The memory that a step of BDF2 has of the one before, on the independent coordinates (n).
#[derive(Clone, Copy, Debug)]
pub struct StepBefore<'a> {
    /// Its length (s).
    pub h: f64,
    /// Velocities at its start.
    pub velocities: &'a [f64],
    /// Its displacement (of bodies: rotation vector in body axes).
    pub displacement: &'a [f64],
}

/// Where a contact is: its normal, its gap, and the elements that it acts on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactPlace {
    /// Unit vector from the first side to the second (world).
    pub normal: [f64; 3],
    /// Distance along it (m).
    pub gap: f64,
    /// The elements that its point moves with.
    pub supports: Vec<Support>,
}

/// How a contact moves with one independent coordinate, or with its velocity: places of contacts
/// that are predicted, where fast bodies will meet, are on the way of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactMove {
    /// The coordinate.
    pub dof: usize,
    /// Whether it is by the velocity of the coordinate at the start of the step.
    pub by_velocity: bool,
    /// Derivative of its place by the coordinate: of the normal, of the gap, and of weights and
    /// arms of the supports, which stand in the same order.
    pub by: ContactPlace,
}

/// The branch of a contact that carries an impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactBranch {
    /// No friction.
    Frictionless,
    /// A point that does not slip.
    Sticking,
    /// Slip, with all the friction that there is.
    Slipping,
}

/// The numbers of the law of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactNumbers {
    /// Coefficient of friction.
    pub friction: f64,
    /// Compliance (m/N); zero of hard contacts.
    pub compliance: f64,
    /// Relaxation time (s) of soft contacts.
    pub relaxation: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Rate (1/s) at which its row takes overlap back, of a hard contact.
    pub recovery: f64,
}

/// Identity of a contact among those of its step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactIdentity {
    /// Its two sides, by the numbers of their finder.
    pub sides: [u32; 2],
    /// Where it is (m).
    pub point: [f64; 3],
}

/// A contact as other parameters have it, or its derivative by a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSample {
    /// Where it is.
    pub place: ContactPlace,
    /// Its law.
    pub law: ContactNumbers,
}

/// A contact that carried an impulse in a step, or in a stage of one.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenContact {
    /// Where it was at the start of the step.
    pub place: ContactPlace,
    /// Derivatives of the place by the independent coordinates, and velocities, that it depends on.
    pub moves: Vec<ContactMove>,
    /// Which one it is.
    pub identity: ContactIdentity,
    /// Its branch.
    pub branch: ContactBranch,
    /// Its law.
    pub law: ContactNumbers,
    /// Share of its restitution that acts where it is an impact.
    pub share: f64,
    /// Impulse on the second side (world, N s).
    pub impulse: [f64; 3],
    /// Whether another branch begins here: its gap at the start is none but for rounding (it may
    /// open), it does not slip with its friction at the limit, or its impulse is none. The
    /// derivative is one-sided then.
    pub at_change: bool,
    /// The part of it in a stage of SDIRK2, if it is the contact of one.
    pub stage: Option<Box<StageContact>>,
}

/// A contact of a stage of SDIRK2. Its normal and its supports are those that it is expected to have at
/// the end of the stage, where the derivatives of its place are by the coordinates there; its gap is that
/// of the start of the step, and its impulse that of the time `w` of the stage.
///
/// **Equation.** With the gap `g` at the start of the step, and its change `m = (1 - g) h u_n1` up to the
/// predictor of the second stage by the normal velocity at the end of the first one (zero in the first
/// stage), a stage of the length `w` has
///
/// ```math
/// u_n + (g + m)/w = 0  (open)   u_n + rate (g + m) = 0  (closed)
/// u_n + (g + m)/(w + d) + C r_n/(w (w + d)) = 0  (compliant)
/// u_n + g/T + max(m, 0)/w = 0  (bore in the step before, and closes its gap in the time T)
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StageContact {
    /// Whether it is of the second stage.
    pub is_second: bool,
    /// The change of its gap from the start of the step to the predictor of the stage (m).
    pub moved: f64,
    /// The time in which its gap closes (s), if it bore in the step before and gapes by no more than its
    /// curve leaves.
    pub closing: Option<f64>,
    /// Where it was at the start of the step, if its equation has the gap there.
    pub at_start: Option<PlacedContact>,
    /// Where it was in the first stage, if its equation has the change of the gap by that.
    pub in_first: Option<PlacedContact>,
}

/// A place of a contact, with its derivatives by the coordinates that it depends on there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacedContact {
    /// Where it is.
    pub place: ContactPlace,
    /// Derivatives of the place.
    pub moves: Vec<ContactMove>,
    /// Which one it is there.
    pub identity: ContactIdentity,
}

/// The branches that a derivative is on: numbers of contacts and rows of a step, of contacts in each of
/// its stages if it has two, or over the steps of a trajectory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActiveSet {
    /// Contacts that carry a force without friction.
    pub frictionless: usize,
    /// Contacts that stick.
    pub sticking: usize,
    /// Contacts that slip.
    pub slipping: usize,
    /// Contacts of these where another branch begins: the derivative is one-sided.
    pub at_change: usize,
    /// Contacts of smoothed laws, which have no branches.
    pub smoothed: usize,
    /// Rows at a bound of their force.
    pub rows_at_bounds: usize,
}

impl ActiveSet {
    /// That of some contacts.
    pub(crate) fn of(contacts: &[TakenContact]) -> Self {
        let mut out = Self::default();
        for contact in contacts {
            match contact.branch {
                ContactBranch::Frictionless => out.frictionless += 1,
                ContactBranch::Sticking => out.sticking += 1,
                ContactBranch::Slipping => out.slipping += 1,
            }
            out.at_change += usize::from(contact.at_change);
        }
        out
    }
}

impl std::ops::AddAssign for ActiveSet {
    fn add_assign(&mut self, other: Self) {
        self.frictionless += other.frictionless;
        self.sticking += other.sticking;
        self.slipping += other.slipping;
        self.at_change += other.at_change;
        self.smoothed += other.smoothed;
        self.rows_at_bounds += other.rows_at_bounds;
    }
}
