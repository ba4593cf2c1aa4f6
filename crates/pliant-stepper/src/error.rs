//! Errors, in the user's names.

use crate::Control;
use crate::certificate::{EnergyPart, Excess};
use crate::contact::FrictionCoupling;
use crate::{EquilibriumReport, Integrator, StepReport, WorkPart};
use pliant_kkt::KktError;
use pliant_model::{ModelError, Problem};
use pliant_solvers::{SolveError, Variable};

/// Why a simulation could not be set up or a step not be taken. A failed step leaves the state as
/// it was.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model, or a mapping where the system is.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The system could not be planned.
    #[error(transparent)]
    Plan(#[from] KktError),
    /// A number that must lie in a range.
    #[error("{what} is {value}, but must be {bound}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Range that it must be in, in words.
        bound: &'static str,
    },
    /// A step that is too long for the rate at which a constraint takes its violation back.
    #[error(
        "the time step times the Baumgarte rate of `{constraint}` is {product}, but must be below 2, where it is stable"
    )]
    Baumgarte {
        /// The constraint.
        constraint: String,
        /// The time step times its rate.
        product: f64,
    },
    /// A degree of freedom without inertia or stiffness, or compressed beyond what its inertia
    /// carries in one step.
    #[error(
        "{what} has no inertia left at t = {t} s (W_ii = {diagonal:.2e}{}): it has no mass, or geometric stiffness of \
         compression outweighs it (smaller step, or geometric stiffness `PositivePart`)",
        if *diagonal > 0.0 { ", too little beside what couples it to others" } else { "" },
        t = instant(*time)
    )]
    NotPositiveDefinite {
        /// The degree of freedom in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Its entry of `W`.
        diagonal: f64,
    },
    /// A function of the user has no value.
    #[error("{what} has no value at t = {t} s: {why}", t = instant(*time))]
    NoValue {
        /// The function in words, with the user's name.
        what: String,
        /// Time (s).
        time: f64,
        /// Why, in words.
        why: String,
    },
    /// A number overflowed or became NaN.
    #[error("{what} is not finite at t = {t} s", t = instant(*time))]
    NotFinite {
        /// Degree of freedom or row in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
    },
    /// Hard constraints contradict each other.
    #[error("{constraint} contradicts {others} at t = {t} s: they are {} {unit} apart", short(*apart), t = instant(*time))]
    Incompatible {
        /// The row in words.
        constraint: String,
        /// A row that it contradicts in words, and how many components more have a part in it.
        others: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Violation of the compromise, in the units of velocity (of a position correction, those
        /// of positions).
        violation: f64,
        /// How far they are apart, in `unit`.
        apart: f64,
        /// `m` or `rad`, or for rows that hold velocities `m/s` or `rad/s`.
        unit: &'static str,
    },
    /// Hard constraints let motion be only across what they hold, and no force of theirs bears a
    /// load there.
    #[error(
        "{constraint} locks with {others} at t = {t} s: what they hold could move only across them, which would \
         stretch them, so that no finite force bears the load, as in a straight cable between two fixed points that \
         cannot stretch; give it slack, or a compliance",
        t = instant(*time)
    )]
    Locked {
        /// A row in words.
        constraint: String,
        /// Another one, and how many components more have a part in it.
        others: String,
        /// Time at the start of the step (s).
        time: f64,
    },
    /// Rows of bounded force kept changing sides.
    #[error(
        "which forces are at their bounds did not settle at t = {t} s: {constraint} still misses its law by {residual:.2e}",
        t = instant(*time)
    )]
    Unsettled {
        /// The row in words.
        constraint: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Natural-map residual, in the units of velocity.
        residual: f64,
    },
    /// The residual stayed above the tolerance.
    #[error(
        "the step from t = {t} s did not converge: relative residual {:.2e}, allowed {tolerance:e}; the equation of {what} is missed most{}{}",
        .report.residual.relative,
        turned(turning.as_ref()),
        tried(remedy.as_ref()),
        t = instant(*time)
    )]
    NotConverged {
        /// The coordinate or row whose equation is missed most, in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Relative residual allowed.
        tolerance: f64,
        /// The row, in words, whose direction turns most in the step, and by how much (rad), if it
        /// is a radian or more.
        turning: Option<(String, f64)>,
        /// A change with which the time of this step was gone through, in words.
        remedy: Option<String>,
        /// The report of the step that was not taken.
        report: Box<StepReport>,
    },
    /// A step was solved, and makes more energy than it may
    /// ([`Options::accuracy`](crate::Options::accuracy)).
    #[error(
        "the step from t = {t} s is solved, but {}, {} times {}, where {} is allowed; {what}: {}",
        made(excess), short(excess.share),
        if excess.part == EnergyPart::SinceStart { "all that could turn over" } else { "what turned over" },
        excess.allowed,
        remedy.as_deref().unwrap_or("`accuracy: Measured` lets it stand"),
        t = instant(*time)
    )]
    NotCertified {
        /// The part of the certificate.
        excess: Excess,
        /// The component that the energy went into or that has most of it, in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
        /// A change with which this step was tried and is good, in words.
        remedy: Option<String>,
        /// The report of the step that was not taken.
        report: Box<StepReport>,
    },
    /// Contacts and friction stayed above their tolerance.
    #[error(
        "contacts did not converge at t = {t} s: residual {:.2e}, allowed {accuracy:e}; {contact} misses its law most{}",
        .report.contacts.residual,
        tried(remedy.as_ref()),
        t = instant(*time)
    )]
    ContactsNotConverged {
        /// The worst contact in words.
        contact: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Residual allowed.
        accuracy: f64,
        /// A change with which the time of this step was gone through, in words.
        remedy: Option<String>,
        /// The report of the step that was not taken.
        report: Box<StepReport>,
    },
    /// Hard rows drive the sides of a contact into each other, and no force of it opens it.
    #[error(
        "the contact of {contact} is closed at {} m/s by {rows} at t = {t} s, and neither side gives way; bound the \
         force of the drive, or give it a compliance",
        short(*speed),
        t = instant(*time)
    )]
    DrivenContact {
        /// The sides of the contact in words.
        contact: String,
        /// A row that holds or drives them in words, and how many components more do.
        rows: String,
        /// Time at the start of the step (s).
        time: f64,
        /// The velocity at which the contact closes (m/s).
        speed: f64,
    },
    /// Bodies that were apart went through each other, however often the step was taken again with
    /// the contacts that its search had missed.
    #[error(
        "{contact} go through each other in the step from t = {t} s, which was taken {searches} times again with the contacts that it had missed; take shorter steps",
        t = instant(*time)
    )]
    ContactsMissed {
        /// Two things that do, in words.
        contact: String,
        /// Time at the start of the step (s).
        time: f64,
        /// How often the step was taken again.
        searches: usize,
    },
    /// Surfaces pass through each other in a step though they are held apart where they touch, and
    /// are not to (`intersection_free`).
    #[error(
        "the surfaces of {contact} pass through each other in the step from t = {t} s, though they are held apart where they touch; take shorter steps",
        t = instant(*time)
    )]
    SurfacesCross {
        /// Two things that do, in words.
        contact: String,
        /// Time at the start of the step (s).
        time: f64,
    },
    /// A finder of contacts does not know where surfaces pass through each other.
    #[error(
        "this finder of contacts does not tell where surfaces pass through each other, which `intersection_free` asks for"
    )]
    CrossingsUnknown,
    /// A part of a step took more work than it may.
    #[error(
        "{part} {what} at t = {t} s did not end within {} {}; {} (`{}` allows more)",
        crate::work::in_words(*.limit), .part.unit(), .part.advice(), .part.option(),
        t = instant(*time)
    )]
    TooMuchWork {
        /// The part of the step.
        part: WorkPart,
        /// The bodies, colliders or equations that it is about, in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Count at which it was given up, in the [unit](WorkPart::unit) of the part.
        count: u64,
        /// The count that it may take ([`WorkLimits`](crate::WorkLimits)).
        limit: u64,
    },
    /// Impacts in sequence did not end.
    #[error(
        "after {impacts} impacts one by one at t = {t} s there is still another (option `impacts`: `Together` takes all at once)",
        t = instant(*time)
    )]
    Impacts {
        /// Time at the start of the step (s).
        time: f64,
        /// Impacts taken.
        impacts: usize,
    },
    /// A [`FrictionCoupling`] that does not go with something.
    #[error("the friction coupling {coupling:?} does not go with {what}; `Exact` does")]
    FrictionCoupling {
        /// The coupling.
        coupling: FrictionCoupling,
        /// Feature that it does not go with, in words.
        what: String,
    },
    /// Shapes, colliders, or their placement.
    #[error(transparent)]
    Collision(pliant_contact::ContactError),
    /// The problem of the contacts could not be stated.
    #[error("contacts: {0}")]
    Contacts(pliant_solvers::complementarity::ProblemError),
    /// The linear solve of a position correction (stabilisation), or of the accelerations on hard
    /// rows, ended above the tolerance.
    #[error(
        "the correction of the hard rows at t = {t} s did not converge (relative residual {residual:.2e}); the largest violation is {violation:.2e}, of {what}{}",
        tried(remedy.as_ref()),
        t = instant(*time)
    )]
    CorrectionNotConverged {
        /// The row that is violated most, in words; "no row" if none is.
        what: String,
        /// Its violation (m, rad).
        violation: f64,
        /// Time at the start of the step (s).
        time: f64,
        /// Relative residual reached.
        residual: f64,
        /// A change with which the time of this step was gone through, in words.
        remedy: Option<String>,
    },
    /// The implicit equation of a spinning body has no solution near: the step is too long for the
    /// spin.
    #[error(
        "the gyroscopic equation of {what} did not converge at t = {t} s: it turns too far in one step",
        t = instant(*time)
    )]
    Gyroscopic {
        /// The body in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
    },
    /// A linear solver that was chosen does not solve something in the model.
    #[error("{solver} does not solve {what}; the direct solver does (`linear: Direct`)")]
    LinearSolver {
        /// Its name.
        solver: String,
        /// Feature that it does not solve, in words.
        what: String,
    },
    /// The integrator has no answer to something in the model or the options.
    #[error("{integrator} does not take {what}; {}", does(instead.as_ref()))]
    Unsupported {
        /// Its name.
        integrator: String,
        /// Feature that it does not take, in words.
        what: String,
        /// The field of [`Options`](crate::Options) that asks for it, if it is one.
        option: Option<&'static str>,
        /// The method that takes it, and all else of the model and the options: the default if it
        /// does.
        instead: Option<Integrator>,
    },
    /// A method takes forces explicitly, and the step is too long for the fastest mode of the
    /// motion at its start: it would grow without bound.
    #[error(
        "{integrator} takes springs explicitly, and something that vibrates with {} rad/s, most of it {what}, grows without bound in steps of {step:e} s: take steps below {} s, or an implicit integrator",
        short(*frequency), short(*longest)
    )]
    Unstable {
        /// Its name.
        integrator: String,
        /// Length of the step (s).
        step: f64,
        /// Length of a step that would just do (s).
        longest: f64,
        /// An estimate from below of the highest frequency (rad/s).
        frequency: f64,
        /// The coordinate with most of the energy of that mode, in words.
        what: String,
    },
    /// A material that yields, where a step has no tangent of its flow.
    #[error(
        "{integrator} does not take `{name}`, which yields within a step: its linear equations have the elastic tangent; the nonlinear step, SDIRK2, generalised-alpha, BDF2 and BDF3 do"
    )]
    Yielding {
        /// The material.
        name: String,
        /// The integrator.
        integrator: String,
    },
    /// A material whose force depends on its past, where there is no answer to that.
    #[error("{what} does not take `{name}`, whose force depends on its past")]
    Memory {
        /// The material.
        name: String,
        /// The integrator or option.
        what: String,
    },
    /// Hard rows that the theta method keeps only to the square of its length, where it is to
    /// choose that: what is left would be a jump of velocity for the next, shorter step.
    #[error(
        "steps of the linear integrator that choose their length need `post_stabilisation` (or `pre_stabilisation`) to hold {what}; other integrators do not"
    )]
    NeedsStabilisation {
        /// The row in words.
        what: String,
    },
    /// The smallest step of those that choose their length (`Adaptive`) misses
    /// the tolerance.
    #[error(
        "at t = {t} s a step of {step:e} s still has an estimated error of {error:.2e} (position or velocity, SI units) in {what}, where {} is allowed",
        short(*allowed),
        t = instant(*time)
    )]
    StepTooSmall {
        /// The coordinate with the largest error in words.
        what: String,
        /// Time at the start of the step (s).
        time: f64,
        /// Its length (s).
        step: f64,
        /// The estimated error (m, rad, or m/s, rad/s).
        error: f64,
        /// Error allowed, in the same unit.
        allowed: f64,
    },
    /// Settling stopped before it was at rest.
    #[error("not at rest after {steps} steps: still moving by {motion:.2e} per step, allowed {tolerance:e}")]
    NotSettled {
        /// Steps taken.
        steps: usize,
        /// Largest change of a coordinate in the last step.
        motion: f64,
        /// Motion per step allowed [m, rad].
        tolerance: f64,
    },
    /// No equilibrium was found; the state is as it was.
    #[error(
        "{}{}",
        no_equilibrium(.what, .report, .tolerance),
        .free.as_ref().map_or(String::new(), |f| format!("; nothing holds {f}"))
    )]
    NoEquilibrium {
        /// The coordinate or row that missed most, in words.
        what: String,
        /// A coordinate that can move freely there, in words.
        free: Option<String>,
        /// Relative residual allowed.
        tolerance: f64,
        /// Of the best iterate.
        report: Box<EquilibriumReport>,
    },
    /// A path of equilibria does not go on.
    #[error(
        "the path of equilibria does not go on at the load factor {load}: no step is short enough; {}",
        match (.free, .control) {
            (Some(free), _) => format!("nothing holds {free} there: hold it, or begin where loads do"),
            (None, Control::Load) => "steps of the load end at a limit point; `control: ArcLength` passes it, where no contact has friction".to_owned(),
            (None, Control::ArcLength) => "it may have a corner there, or end".to_owned(),
        }
    )]
    StuckPath {
        /// Load factor of its last point.
        load: f64,
        /// A coordinate that can move freely there, in words.
        free: Option<String>,
        /// Parameter that the path was followed by.
        control: Control,
    },
    /// Modes of vibration or buckling, or a reduced body, that there are not, or that were not
    /// found.
    #[error("{what}: {why}")]
    NoModes {
        /// `modes of vibration`, `buckling modes` or `a reduced body`.
        what: &'static str,
        /// Why, in words.
        why: String,
    },
    /// A coordinate cannot have the value that it is to be given, with the others at theirs.
    #[error(
        "`{what}` cannot be {value} with all that holds it: the nearest that was found is {}",
        short(*reached)
    )]
    Unreachable {
        /// The coordinate.
        what: String,
        /// The value asked for (m, rad; m/s, rad/s).
        value: f64,
        /// The nearest value that was found.
        reached: f64,
    },
    /// Something without a meaning at rest.
    #[error("statics does not take {what}")]
    NotStatic {
        /// Feature that has no meaning at rest, in words.
        what: String,
    },
    /// A solver error without a name in the model.
    #[error(transparent)]
    Solve(SolveError),
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The row that turns, in words.
/// The equation that a search for rest missed.
fn no_equilibrium(what: &str, report: &EquilibriumReport, tolerance: &f64) -> String {
    let (iterations, residual) = (report.iterations, report.residual);
    if residual <= *tolerance {
        return format!(
            "no stable equilibrium after {iterations} iterations: forces balance in places that were met on \
             the way, but these are unstable; allow more iterations, or begin nearer to a rest"
        );
    }
    format!(
        "no equilibrium after {iterations} iterations: {what} still misses {residual:.2e} of its terms, \
         allowed {tolerance:e}"
    )
}

fn turned(turning: Option<&(String, f64)>) -> String {
    turning.map_or_else(String::new, |(row, angle)| {
        let degrees = angle.to_degrees().round();
        format!(
            "; the direction in which {row} acts turns by {degrees} degrees in the step, as that of a rope \
             that is pulled into its pulley does"
        )
    })
}

/// A change that was tried and helps.
fn tried(remedy: Option<&String>) -> String {
    remedy.map_or_else(String::new, |remedy| format!("; {remedy}"))
}

/// The method that takes all that another one does not, in words.
fn does(instead: Option<&Integrator>) -> &'static str {
    match instead {
        Some(Integrator::Sdirk2) => "SDIRK2, the default, does",
        Some(_) => "the theta method does",
        None => "no method takes it with all the rest",
    }
}

/// The source of energy, in words.
fn made(excess: &Excess) -> String {
    let joules = short(excess.energy);
    match excess.part {
        EnergyPart::Gain => format!("makes {joules} J that nothing brought in"),
        EnergyPart::PassiveGain => format!("dampers, friction or impacts bring {joules} J in"),
        EnergyPart::SinceStart => format!("{joules} J came from nowhere since the start"),
    }
}

/// A time with ten digits: sums of steps have more only by rounding.
fn instant(time: f64) -> f64 {
    format!("{time:.9e}").parse().unwrap_or(time)
}

/// A number with four digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    match rounded.abs() {
        1e-3..1e6 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

impl Error {
    /// The name of the variant, to sort errors by.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Model(_) => "Model",
            Self::Plan(_) => "Plan",
            Self::OutOfRange { .. } => "OutOfRange",
            Self::Baumgarte { .. } => "Baumgarte",
            Self::NotPositiveDefinite { .. } => "NotPositiveDefinite",
            Self::NoValue { .. } => "NoValue",
            Self::NotFinite { .. } => "NotFinite",
            Self::Incompatible { .. } => "Incompatible",
            Self::Locked { .. } => "Locked",
            Self::Unsettled { .. } => "Unsettled",
            Self::NotConverged { .. } => "NotConverged",
            Self::NotCertified { .. } => "NotCertified",
            Self::ContactsNotConverged { .. } => "ContactsNotConverged",
            Self::DrivenContact { .. } => "DrivenContact",
            Self::ContactsMissed { .. } => "ContactsMissed",
            Self::SurfacesCross { .. } => "SurfacesCross",
            Self::TooMuchWork { .. } => "TooMuchWork",
            Self::Impacts { .. } => "Impacts",
            Self::FrictionCoupling { .. } => "FrictionCoupling",
            Self::Collision(_) => "Collision",
            Self::Contacts(_) => "Contacts",
            Self::CorrectionNotConverged { .. } => "CorrectionNotConverged",
            Self::CrossingsUnknown => "CrossingsUnknown",
            Self::Gyroscopic { .. } => "Gyroscopic",
            Self::LinearSolver { .. } => "LinearSolver",
            Self::Unsupported { .. } => "Unsupported",
            Self::Unstable { .. } => "Unstable",
            Self::Yielding { .. } => "Yielding",
            Self::Memory { .. } => "Memory",
            Self::NeedsStabilisation { .. } => "NeedsStabilisation",
            Self::StepTooSmall { .. } => "StepTooSmall",
            Self::NotSettled { .. } => "NotSettled",
            Self::NoEquilibrium { .. } => "NoEquilibrium",
            Self::StuckPath { .. } => "StuckPath",
            Self::NoModes { .. } => "NoModes",
            Self::Unreachable { .. } => "Unreachable",
            Self::NotStatic { .. } => "NotStatic",
            Self::Solve(_) => "Solve",
        }
    }

    /// A solver error in the model's words.
    pub fn from_solver(error: SolveError, model: &Problem, time: f64) -> Self {
        match error {
            SolveError::NotPositiveDefinite { dof, diagonal } => Self::NotPositiveDefinite {
                what: model.describe_dof(dof),
                time,
                diagonal,
            },
            SolveError::NotFinite { variable } => {
                let what = match variable {
                    Variable::Dof(i) => model.describe_dof(i),
                    Variable::Row(i) => model.describe_row(i),
                };
                Self::NotFinite { what, time }
            }
            other => Self::Solve(other),
        }
    }
}
