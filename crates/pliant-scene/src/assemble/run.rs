//! Options of the stepper and the length of the run.

use super::values::{describe, owner};
use super::{Builder, Result, RunPlan, Settings, ThreadChoice, adaptive, contacts};
use crate::schema::{AccuracySpec, GeometrySpec, IntegratorSpec, Run, StabilisationSpec};
use crate::source::Where;
use crate::{Amount, SceneError};
use pliant::contact::{FrictionCoupling, Impacts, Restitution};
use pliant::kkt::{GeometricStiffness, GeometricTerms};
use pliant::solvers::DirectOptions;
use pliant::{Accuracy, Integrator, LinearSolver, Stabilisation, Tolerances, WorkLimits};
use pliant_expression::suggest;

/// Every step leaves a line in the energy table.
const MOST_STEPS: usize = 10_000_000;
/// The largest limit of work; a number of a scene is exact up to there.
const MOST_WORK: usize = 1_000_000_000_000_000;
/// Pictures per simulated second, unless the scene says otherwise.
const PICTURES: f64 = 50.0;
/// Numbers of all recorded pictures together: a gigabyte.
const MOST_RECORDED: usize = (1 << 30) / 8;

/// Laws of impact and the coupling of friction, before the materials that depend on it.
pub(super) fn laws_of_contact(builder: &mut Builder<'_>, run: &Run) -> Result<()> {
    builder.options.contacts.impacts = run.impacts;
    if (run.restitution_law, run.impacts) == (Restitution::Poisson, Impacts::InSequence) {
        let message = "`impacts: InSequence` are by Newton's law only".to_owned();
        let help = Some("take them together, or leave `restitution_law` out".to_owned());
        return builder.wrong(&[Where::Key("restitution_law"), Where::Key("run")], message, help);
    }
    builder.options.contacts.restitution = run.restitution_law;
    let contacts = &mut builder.options.contacts;
    contacts.friction_coupling = run.friction_coupling;
    contacts.friction_fallback = run.friction_fallback;
    contacts.intersection_free = run.intersection_free;
    contacts.locate_impacts = run.locate_impacts;
    let wants_exact = match (contacts.impacts, contacts.restitution) {
        (Impacts::InSequence, _) => Some("`impacts: InSequence` are"),
        (_, Restitution::Poisson) => Some("`restitution_law: Poisson` is"),
        _ => None,
    };
    let key = match contacts.friction_coupling {
        FrictionCoupling::Exact => "friction_fallback",
        _ => "friction_coupling",
    };
    let [coupling, _] = contacts.couplings();
    if let (true, Some(what)) = (coupling != FrictionCoupling::Exact, wants_exact) {
        let message = format!("{what} for `{key}: Exact` only");
        let help = Some("leave one of the two out".to_owned());
        return builder.wrong(&[Where::Key(key), Where::Key("run")], message, help);
    }
    Ok(())
}

pub(super) fn plan(builder: &mut Builder<'_>, run: &Run, settings: &Settings) -> Result<RunPlan> {
    if run.intersection_free && run.statics.is_some() {
        let message = "`intersection_free` is of steps in time, not of `statics`".to_owned();
        let help = Some("leave one of the two out".to_owned());
        return builder.wrong(
            &[Where::Key("intersection_free"), Where::Key("run")],
            message,
            help,
        );
    }
    if run.locate_impacts && (run.statics.is_some() || run.adaptive_step.is_some()) {
        let message = "`locate_impacts` is of steps of one length".to_owned();
        let help =
            "leave it out: steps that choose their length have `events` for that, and `statics` no time";
        let at = [Where::Key("locate_impacts"), Where::Key("run")];
        return builder.wrong(&at, message, Some(help.to_owned()));
    }
    builder.options.integrator = match &settings.integrator {
        Some(name) => integrator_named(name)?,
        None => integrator(builder, &run.integrator)?,
    };
    if let Some(tolerance) = &run.newton_tolerance {
        builder.options.tuning.newton.tolerance =
            builder.positive(tolerance, Where::Key("newton_tolerance"))?;
    }
    if let Some(tolerance) = &run.stage_tolerance {
        builder.options.tuning.newton.stage_tolerance =
            builder.positive(tolerance, Where::Key("stage_tolerance"))?;
    }
    if let Some(halvings) = &run.stage_halvings {
        builder.options.tuning.newton.stage_halvings =
            builder.whole(halvings, 0, 20, Where::Key("stage_halvings"))?;
    }
    if let Some(loss) = &run.energy_loss {
        builder.options.tuning.newton.energy_loss = builder.positive(loss, Where::Key("energy_loss"))?;
    }
    if let Some(accuracy) = &run.accuracy {
        builder.options.accuracy = Some(self::accuracy(builder, accuracy)?);
    }
    if let Some(iterations) = &run.newton_iterations {
        let at = Where::Key("newton_iterations");
        builder.options.tuning.newton.iterations = builder.whole(iterations, 1, 10_000, at)?;
    }
    if let Some(halvings) = &run.newton_halvings {
        builder.options.tuning.newton.halvings =
            builder.whole(halvings, 0, 20, Where::Key("newton_halvings"))?;
    }
    builder.options.alpha = weight(builder, &run.alpha, Where::Key("alpha"))?;
    builder.options.beta = weight(builder, &run.beta, Where::Key("beta"))?;
    builder.options.geometry = geometry(run.geometric_stiffness);
    if let Some(passes) = &run.geometry_passes {
        builder.options.tuning.geometry_passes =
            builder.whole(passes, 1, 100, Where::Key("geometry_passes"))?;
    }
    builder.options.tuning.clamp_geometry = run.clamp_geometry;
    builder.options.linear = run.linear;
    if run.keep_factor {
        if !matches!(run.linear, LinearSolver::Auto | LinearSolver::Direct) {
            let message = "`keep_factor` is of `linear: Direct` and `Auto`".to_owned();
            let help = Some("leave one of the two out".to_owned());
            return builder.wrong(&[Where::Key("keep_factor"), Where::Key("run")], message, help);
        }
        builder.options.tuning.solver.small_update = true;
    }
    let of_scene = run.threads.as_ref();
    let of_scene = of_scene
        .map(|threads| builder.whole(threads, 1, DirectOptions::MOST_THREADS, Where::Key("threads")))
        .transpose()?;
    builder.options.tuning.solver.threads = match (settings.threads, of_scene) {
        (ThreadChoice::SceneOr(_), Some(threads)) => threads,
        (ThreadChoice::SceneOr(threads) | ThreadChoice::Exactly(threads), _) => threads,
    };
    builder.options.bounded_rows = run.bounded_rows;
    builder.options.gyroscopic = run.gyroscopic;
    builder.options.pre_stabilisation = stabilisation(builder, run.pre_stabilisation.as_ref())?;
    builder.options.post_stabilisation = stabilisation(builder, run.post_stabilisation.as_ref())?;
    if let Some(tolerance) = &run.tolerance {
        builder.options.tuning.solver.tolerance = builder.positive(tolerance, Where::Key("tolerance"))?;
    }
    if let Some(accuracy) = &run.contact_accuracy {
        builder.options.contacts.accuracy = builder.positive(accuracy, Where::Key("contact_accuracy"))?;
    }
    if let Some(iterations) = &run.contact_iterations {
        let at = Where::Key("contact_iterations");
        builder.options.contacts.max_iterations = builder.whole(iterations, 1, 1_000_000, at)?;
    }
    if let Some(halvings) = &run.contact_halvings {
        let at = Where::Key("contact_halvings");
        builder.options.contacts.halvings = builder.whole(halvings, 0, 20, at)?;
    }
    builder.options.contacts.solver = run.contact_solver;
    work_limits(builder, run)?;
    if let Some(overlap) = &run.overlap {
        builder.options.contacts.overlap = contacts::overlap(builder, overlap)?;
    }
    if let Some(sleeping) = &run.sleeping {
        builder.options.contacts.sleeping = Some(contacts::sleeping(builder, sleeping)?);
    }
    let step = length(builder, "step", settings.step, &run.step)?;
    let duration = builder.duration;
    let ratio = duration / step;
    if ratio > MOST_STEPS as f64 {
        let message = format!(
            "a duration of {duration} s takes {ratio:.3e} steps of {step} s, more than {:.0e}",
            MOST_STEPS as f64
        );
        return builder.wrong(&[Where::Key("step"), Where::Key("run")], message, None);
    }
    // A hair less than a whole number of steps is that number.
    let steps = whole_up_to_most((ratio - 1e-6).ceil());
    let record_every = match &run.record_every {
        Some(number) => builder.whole(number, 1, MOST_STEPS, Where::Key("record_every"))?,
        None => whole_up_to_most((1.0 / (PICTURES * step)).round()),
    };
    let pictures = match run.statics {
        // Equilibria have their own.
        Some(_) => 0,
        None => steps.checked_div(record_every).unwrap_or(steps),
    };
    let help = format!("one in `record_every: {record_every}` steps is recorded: take a larger number");
    check_pictures(
        builder,
        pictures.saturating_add(2),
        Where::Key("record_every"),
        help,
    )?;
    let adaptive = match &run.adaptive_step {
        None => None,
        Some(spec) => Some(adaptive::adaptive_step(builder, spec)?),
    };
    Ok(RunPlan {
        step,
        duration,
        steps,
        record_every,
        adaptive,
    })
}

fn accuracy(builder: &Builder<'_>, spec: &AccuracySpec) -> Result<Accuracy> {
    let AccuracySpec::Certified(spec) = spec else {
        return Ok(Accuracy::Measured);
    };
    let or_default = |number: Option<&Amount>, default, key| match number {
        Some(number) => builder.positive(number, Where::Key(key)),
        None => Ok(default),
    };
    let default = Tolerances::default();
    Ok(Accuracy::Certified(Tolerances {
        gain: or_default(spec.gain.as_deref(), default.gain, "gain")?,
        passive_gain: or_default(spec.passive_gain.as_deref(), default.passive_gain, "passive_gain")?,
        since_start: or_default(spec.since_start.as_deref(), default.since_start, "since_start")?,
    }))
}

/// Checks that so many pictures of the scene may be recorded, by the number at a place.
pub(super) fn check_pictures(
    builder: &Builder<'_>,
    pictures: usize,
    at: Where<'_>,
    help: String,
) -> Result<()> {
    let of_joint = |coordinates: usize| coordinates.saturating_mul(2).saturating_add(6);
    let joints = builder.joints.iter();
    let joints = joints.map(|(.., joint)| of_joint(joint.coordinates.len()));
    let points = builder.picture.frame_numbers(&builder.model);
    let numbers = joints
        .fold(points, usize::saturating_add)
        .saturating_mul(pictures);
    if numbers <= MOST_RECORDED {
        return Ok(());
    }
    let message = format!(
        "the pictures of the whole run would take {:.1} GB",
        numbers as f64 * 8e-9
    );
    builder.wrong(&[at, Where::Key("run")], message, Some(help))
}

/// A number of steps: whole, at least one, and at most the largest count of them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between two counts"
)]
fn whole_up_to_most(steps: f64) -> usize {
    steps.clamp(1.0, MOST_STEPS as f64) as usize
}

/// Counts of work beyond which a step is halved, or an error.
fn work_limits(builder: &mut Builder<'_>, run: &Run) -> Result<()> {
    let count = |number: Option<&Amount>, default: u64, key| match number {
        Some(number) => Ok(builder.whole(number, 1, MOST_WORK, Where::Key(key))? as u64),
        None => Ok(default),
    };
    let factorisations = match &run.factorisations {
        Some(number) => builder.whole(number, 1, MOST_WORK, Where::Key("factorisations"))?,
        None => builder.options.tuning.work.factorisations,
    };
    let work = builder.options.tuning.work;
    builder.options.tuning.work = WorkLimits {
        contact_operations: count(
            run.contact_operations.as_deref(),
            work.contact_operations,
            "contact_operations",
        )?,
        correction_operations: count(
            run.correction_operations.as_deref(),
            work.correction_operations,
            "correction_operations",
        )?,
        contact_tests: count(run.contact_tests.as_deref(), work.contact_tests, "contact_tests")?,
        factorisations,
    };
    Ok(())
}

/// A name of an integrator, and what makes it.
type NamedIntegrator = (&'static str, fn() -> Integrator);

/// Integrators by their names in scenes, with the numbers that they have by default.
pub const INTEGRATORS: [NamedIntegrator; 15] = [
    ("Sdirk2", || Integrator::Sdirk2),
    ("Theta", || Integrator::Theta),
    ("Nonlinear", || Integrator::Nonlinear),
    ("GeneralisedAlpha", || Integrator::generalised_alpha(RADIUS)),
    ("Newmark", || Integrator::newmark(NEWMARK[0], NEWMARK[1])),
    ("Bdf2", Integrator::bdf2),
    ("Bdf3", Integrator::bdf3),
    ("EnergyMomentum", || Integrator::EnergyMomentum),
    ("Rattle", || Integrator::Rattle),
    ("Rattle4", || Integrator::Rattle4),
    ("Rattle6", || Integrator::Rattle6),
    ("SymplecticEuler", || Integrator::SymplecticEuler),
    ("ForwardEuler", || Integrator::ForwardEuler),
    ("RungeKutta2", || Integrator::RungeKutta2),
    ("RungeKutta4", || Integrator::RungeKutta4),
];

/// The share of what is far too fast that generalised-alpha leaves in a step.
const RADIUS: f64 = 0.8;

/// Newmark's weights of positions and velocities: the trapezoidal rule.
const NEWMARK: [f64; 2] = [0.25, 0.5];

/// The integrator of a name that was given beside the file.
fn integrator_named(name: &str) -> Result<Integrator> {
    let found = INTEGRATORS.iter().find(|(own, _)| *own == name);
    found.map(|(_, make)| make()).ok_or_else(|| {
        let names = INTEGRATORS.iter().map(|(own, _)| *own);
        SceneError::Setting {
            message: format!("there is no integrator `{name}`"),
            help: suggest::hint(name, "integrators", names),
        }
    })
}

fn integrator(builder: &Builder<'_>, spec: &IntegratorSpec) -> Result<Integrator> {
    // A number of an integrator, between two bounds.
    let within = |number: Option<&Amount>, default: f64, key, (least, most): (f64, f64), help: &str| {
        let Some(number) = number else { return Ok(default) };
        let value = builder.number(number, Where::Key(key))?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        let message = format!("`{key}` is {value}, but must be from {least} to {most}");
        builder.wrong(
            &[Where::Key(key), Where::Key("integrator")],
            message,
            Some(help.into()),
        )
    };
    Ok(match spec {
        IntegratorSpec::Theta => Integrator::Theta,
        IntegratorSpec::Nonlinear => Integrator::Nonlinear,
        IntegratorSpec::GeneralisedAlpha(g) => {
            let help = "1 damps nothing, 0 takes what is far too fast in one step";
            Integrator::generalised_alpha(within(g.radius.as_deref(), RADIUS, "radius", (0.0, 1.0), help)?)
        }
        IntegratorSpec::Newmark(n) => {
            let help = "0.25 and 0.5 are the trapezoidal rule";
            let position = within(n.position.as_deref(), NEWMARK[0], "position", (0.01, 2.0), help)?;
            Integrator::newmark(
                position,
                within(n.velocity.as_deref(), NEWMARK[1], "velocity", (0.01, 2.0), help)?,
            )
        }
        IntegratorSpec::Bdf2 => Integrator::bdf2(),
        IntegratorSpec::Bdf3 => Integrator::bdf3(),
        IntegratorSpec::Sdirk2 => Integrator::Sdirk2,
        IntegratorSpec::EnergyMomentum => Integrator::EnergyMomentum,
        IntegratorSpec::Rattle => Integrator::Rattle,
        IntegratorSpec::Rattle4 => Integrator::Rattle4,
        IntegratorSpec::Rattle6 => Integrator::Rattle6,
        IntegratorSpec::SymplecticEuler => Integrator::SymplecticEuler,
        IntegratorSpec::ForwardEuler => Integrator::ForwardEuler,
        IntegratorSpec::RungeKutta2 => Integrator::RungeKutta2,
        IntegratorSpec::RungeKutta4 => Integrator::RungeKutta4,
    })
}

/// The time that a run takes, from the command line or the file. Equilibria take none: pictures of
/// a path of them are spread over a second, if the file does not say otherwise.
pub(super) fn duration(builder: &Builder<'_>, given: Option<f64>, run: &Run) -> Result<f64> {
    let message = "missing key `duration` in `run`".to_owned();
    match (&run.duration, given) {
        (_, Some(value)) => given_length("duration", value),
        (Some(written), None) => length(builder, "duration", None, written),
        (None, None) if run.statics.is_some() => Ok(1.0),
        (None, None) => builder.wrong(&[Where::Key("run")], message, None),
    }
}

/// A positive time, from the command line or the file.
pub(super) fn length(
    builder: &Builder<'_>,
    key: &'static str,
    given: Option<f64>,
    written: &Amount,
) -> Result<f64> {
    match given {
        None => builder.positive(written, Where::Key(key)),
        Some(value) => given_length(key, value),
    }
}

/// A positive time from the command line.
fn given_length(key: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    let message = format!("the {key} is {value}, but must be positive and finite");
    Err(SceneError::Setting { message, help: None })
}

/// A number in (0, 1].
pub(super) fn weight(builder: &Builder<'_>, number: &Amount, at: Where<'_>) -> Result<f64> {
    let value = builder.number(number, at)?;
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    let message = format!("{} is {value}, but must be above 0 and at most 1", describe(at));
    builder.wrong(
        &[at, owner(at)],
        message,
        Some("1 is implicit Euler, 0.5 the trapezoidal rule".into()),
    )
}

fn stabilisation(builder: &Builder<'_>, spec: Option<&StabilisationSpec>) -> Result<Option<Stabilisation>> {
    let Some(spec) = spec else { return Ok(None) };
    let mut stabilisation = Stabilisation {
        metric: spec.metric,
        ..Stabilisation::default()
    };
    if let Some(iterations) = &spec.iterations {
        stabilisation.iterations = builder.whole(iterations, 1, 1000, Where::Key("iterations"))?;
    }
    if let Some(tolerance) = &spec.tolerance {
        stabilisation.tolerance = builder.positive(tolerance, Where::Key("tolerance"))?;
    }
    Ok(Some(stabilisation))
}

fn geometry(spec: GeometrySpec) -> GeometricTerms {
    let part = match spec {
        GeometrySpec::Full => GeometricStiffness::Full,
        GeometrySpec::None => GeometricStiffness::None,
        GeometrySpec::WhereNeeded => GeometricStiffness::WhereNeeded,
        GeometrySpec::JustEnough => GeometricStiffness::JustEnough,
        GeometrySpec::PositivePart => GeometricStiffness::PositivePart,
        GeometrySpec::AbsoluteValue => GeometricStiffness::AbsoluteValue,
        GeometrySpec::Each { forces, multipliers } => return GeometricTerms { forces, multipliers },
    };
    GeometricTerms {
        forces: part,
        multipliers: part,
    }
}
