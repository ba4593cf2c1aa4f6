//! Equilibria instead of motion.

use super::{Builder, Result, run};
use crate::Amount;
use crate::schema::{Run, StaticsSpec};
use crate::source::Where;
use pliant::model::ComponentId;
use pliant::{Continuation, Equilibrium, Loads, StaticMethod};
use pliant_expression::suggest;

/// The equilibria that a scene asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum StaticsPlan {
    /// One equilibrium under the present loads.
    Equilibrium(Equilibrium),
    /// A path over a load factor.
    Path(Continuation),
}

impl StaticsPlan {
    /// The loads that a load factor scales.
    pub fn loads(&self) -> Loads {
        match self {
            Self::Equilibrium(_) => Loads::default(),
            Self::Path(how) => how.loads.clone(),
        }
    }

    /// The method for its first point.
    pub fn method(&self) -> StaticMethod {
        match self {
            Self::Equilibrium(how) => how.method,
            Self::Path(_) => StaticMethod::Newton,
        }
    }
}

pub(super) fn plan(builder: &Builder<'_>, run: &Run) -> Result<Option<StaticsPlan>> {
    let Some(spec) = &run.statics else { return Ok(None) };
    for (given, key) in [
        (run.adaptive_step.is_some(), "adaptive_step"),
        (run.sleeping.is_some(), "sleeping"),
    ] {
        if given {
            let message = format!("`{key}` is of motion, and `statics` has none");
            return builder.wrong(&[Where::Key(key), Where::Key("statics")], message, None);
        }
    }
    if !builder.inputs.is_empty() {
        let message = "`statics` does not take forces that depend on time".to_owned();
        return builder.wrong(&[Where::Key("statics")], message, None);
    }
    if builder.holds.iter().any(|h| h.from > 0.0 || h.until.is_finite()) {
        let message = "`statics` does not take coordinates that are fixed for a time".to_owned();
        return builder.wrong(&[Where::Key("statics")], message, None);
    }
    let newton = Equilibrium::default();
    let tolerance = or_positive(builder, spec.tolerance.as_deref(), newton.tolerance, "tolerance")?;
    if tolerance >= 1.0 {
        let message = format!("`tolerance` is {tolerance}, but must be below 1: it is a share of the forces");
        return builder.wrong(&[Where::Key("tolerance"), Where::Key("statics")], message, None);
    }
    if spec.gravity && builder.model.initial_parameters().gravity() == [0.0; 3] {
        let message = "`statics` scales `gravity`, and the scene has none".to_owned();
        return builder.wrong(&[Where::Key("statics")], message, None);
    }
    if spec.loads.is_empty() && !spec.gravity {
        return equilibrium(builder, spec, tolerance).map(Some);
    }
    if spec.method.is_some() {
        let message = "`method` is for a single equilibrium, without `loads`".to_owned();
        return builder.wrong(&[Where::Key("method"), Where::Key("statics")], message, None);
    }
    let default = Continuation::default();
    let number = |given: Option<&Amount>, default: f64, key| match given {
        Some(number) => builder.number(number, Where::Key(key)),
        None => Ok(default),
    };
    let (start, end) = (
        number(spec.start.as_deref(), default.start, "start")?,
        number(spec.end.as_deref(), default.end, "end")?,
    );
    if start == end {
        let message = format!("the path starts and ends at the load factor {start}");
        return builder.wrong(&[Where::Key("end"), Where::Key("statics")], message, None);
    }
    let max_points = match &spec.points {
        Some(points) => {
            let at = Where::Key("points");
            let points = builder.whole(points, 2, 100_000, at)?;
            let help = "each point of the path is a picture: take fewer".to_owned();
            run::check_pictures(builder, points, at, help)?;
            points
        }
        None => default.max_points,
    };
    let components = spec.loads.iter().map(|name| load(builder, name));
    Ok(Some(StaticsPlan::Path(Continuation {
        loads: Loads {
            gravity: spec.gravity,
            forces: false,
            components: components.collect::<Result<_>>()?,
        },
        start,
        end,
        step: or_positive(builder, spec.step.as_deref(), default.step, "step")?,
        largest_step: or_positive(
            builder,
            spec.largest_step.as_deref(),
            default.largest_step,
            "largest_step",
        )?,
        control: spec.control.unwrap_or(default.control),
        max_points,
        tolerance,
        ..default
    })))
}

fn equilibrium(builder: &Builder<'_>, spec: &StaticsSpec, tolerance: f64) -> Result<StaticsPlan> {
    for (given, key) in [
        (spec.start.is_some(), "start"),
        (spec.end.is_some(), "end"),
        (spec.step.is_some(), "step"),
        (spec.largest_step.is_some(), "largest_step"),
        (spec.points.is_some(), "points"),
        (spec.control.is_some(), "control"),
    ] {
        if given {
            let message = format!("`{key}` is of a path, and there are no `loads` to scale");
            return builder.wrong(&[Where::Key("statics")], message, None);
        }
    }
    let newton = Equilibrium::default();
    let how = match spec.method {
        Some(StaticMethod::DynamicRelaxation) => Equilibrium::relaxation(),
        Some(StaticMethod::ConjugateGradients) => Equilibrium::conjugate_gradients(),
        given => Equilibrium {
            method: given.unwrap_or(newton.method),
            ..newton
        },
    };
    Ok(StaticsPlan::Equilibrium(Equilibrium { tolerance, ..how }))
}

fn or_positive(builder: &Builder<'_>, number: Option<&Amount>, default: f64, key: &str) -> Result<f64> {
    number.map_or(Ok(default), |n| builder.positive(n, Where::Key(key)))
}

fn load(builder: &Builder<'_>, name: &str) -> Result<ComponentId> {
    let fields = builder.model.force_fields().iter().map(|f| f.name.as_str());
    let constraints = builder.model.constraints().iter().map(|c| c.name.as_str());
    let known = fields.chain(constraints);
    match builder.model.component_named(name) {
        Some(id @ (ComponentId::ForceField(_) | ComponentId::Constraint(_))) => Ok(id),
        _ => {
            let help = suggest::hint(name, "force fields and constraints", known);
            let places = [Where::Literal("", name), Where::Key("loads")];
            builder.wrong(&places, format!("unknown load `{name}`"), help)
        }
    }
}
