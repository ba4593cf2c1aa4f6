//! Masses, force fields, constraints and fixed coordinates.

use super::values::{describe, owner};
use super::{Builder, Hold, Result, courses, entries, frames, laws, nodes, selections};
use crate::quantity::{Acting, Any, Pure};
use crate::schema::{
    Axis, BoundsSpec, ConstraintSpec, Elements, FixedSpec, LevelSpec, MassSpec, RayleighSpec, Scene,
};
use crate::source::Where;
use crate::{Amount, Course, OneOrMany, Quantity, Units, Warning};
use pliant::model::{ComponentId, Level, Mass, NodeId, NodeKind, Rayleigh, Space};

pub(super) fn add_components<'a>(builder: &mut Builder<'a>, scene: &'a Scene) -> Result<()> {
    entries::each(builder, "masses", &scene.masses, mass)?;
    entries::each(builder, "force_fields", &scene.force_fields, laws::force_field)?;
    entries::each(builder, "constraints", &scene.constraints, constraint)?;
    scene.rayleigh.iter().try_for_each(|spec| rayleigh(builder, spec))
}

fn mass(builder: &mut Builder<'_>, spec: &MassSpec) -> Result<()> {
    let node = builder.node(&spec.on, &spec.name, "on")?;
    let at = Where::Field(&spec.name, "mass");
    let mass = match &spec.mass {
        OneOrMany::One(number) => Mass::Uniform(builder.number(number, at)?),
        OneOrMany::Many(list) => Mass::PerElement(builder.numbers(list, at)?),
    };
    nodes::add_mass(builder, &spec.name, node, mass)
}

fn constraint(builder: &mut Builder<'_>, spec: &ConstraintSpec) -> Result<()> {
    let name = spec.name.as_str();
    let node = builder.node(&spec.on, name, "on")?;
    let moves = spec.motion.is_some() && matches!(builder.model.node(node).space, Space::Real(2 | 3));
    if moves || builder.is_absolute(node) {
        builder.refuse_axes(&format!("`{name}`"), Where::Field(name, "on"))?;
    }
    let level = level(builder, &spec.level, Where::Field(name, "level"))?;
    let id = builder
        .model
        .add_constraint(name, node, level)
        .map_err(|e| builder.model_error(e))?;
    if let Some(pairs) = builder.differences.get(&node) {
        builder.tied.extend(pairs);
    }
    drive(
        builder,
        name,
        id,
        node,
        spec.motion.as_ref(),
        spec.bounds.as_ref(),
    )
}

/// Motion and bounds of rows.
pub(super) fn drive(
    builder: &mut Builder<'_>,
    name: &str,
    id: ComponentId,
    node: NodeId,
    motion: Option<&Course<impl Units>>,
    bounds: Option<&BoundsSpec>,
) -> Result<()> {
    let on = Acting::on(builder, node);
    if let Some(course) = motion {
        let course = &course.fitting(on.map(|on| on.coordinate));
        let coordinates = builder.model.node(node).velocity_range().len();
        let course = courses::motion(builder, course, coordinates, Where::Field(name, "motion"))?;
        builder.varying.extend(course.varying(id));
        let driven = builder.model.set_motion(id, Some(course.motion));
        driven.map_err(|e| builder.model_error(e))?;
    }
    if let Some(bounds) = bounds {
        let force = on.map(|on| on.force);
        let limit = |number: Option<&Quantity<Any>>, default| match number {
            Some(number) => builder.number(&number.fitting(force), Where::Field(name, "bounds")),
            None => Ok(default),
        };
        let (lower, upper) = (
            limit(bounds.lower.as_ref(), f64::NEG_INFINITY)?,
            limit(bounds.upper.as_ref(), f64::INFINITY)?,
        );
        let bounded = builder.model.set_bounds(id, lower, upper);
        bounded.map_err(|e| builder.model_error(e))?;
    }
    Ok(())
}

pub(super) fn level(builder: &Builder<'_>, spec: &LevelSpec, at: Where<'_>) -> Result<Level> {
    Ok(match spec {
        LevelSpec::Position => Level::Position,
        LevelSpec::CurvedPosition => Level::CurvedPosition,
        LevelSpec::Velocity(v) => Level::Velocity {
            curvature: builder.number(&v.curvature, at)?,
        },
        LevelSpec::Baumgarte(b) => Level::Baumgarte {
            rate: builder.number(&b.rate, at)?,
        },
        LevelSpec::Restitution(r) => Level::Restitution {
            coefficient: builder.number(&r.coefficient, at)?,
        },
    })
}

fn rayleigh(builder: &mut Builder<'_>, spec: &RayleighSpec) -> Result<()> {
    let rate = |number| not_negative(builder, number, Where::Key("rayleigh"));
    let rayleigh = Rayleigh {
        mass: rate(&spec.mass)?,
        stiffness: rate(&spec.stiffness)?,
    };
    builder
        .model
        .set_rayleigh(rayleigh)
        .map_err(|e| builder.model_error(e))
}

/// Holds what is fixed. Returns warnings of velocities that do not count for it.
pub(super) fn fixed<'a>(builder: &mut Builder<'a>, scene: &'a Scene) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    entries::each(builder, "fixed", &scene.fixed, |builder, spec| {
        hold(builder, spec)?;
        warnings.extend(begin(builder)?);
        Ok(())
    })?;
    Ok(warnings)
}

/// Lets coordinates that move begin with the velocity of the last hold, if it holds from the start:
/// a warning if they have another one.
fn begin(builder: &mut Builder<'_>) -> Result<Option<Warning>> {
    let Some(hold) = builder.holds.last().filter(|hold| hold.from == 0.0) else {
        return Ok(None);
    };
    let size = hold.velocity.len();
    let mut other = None;
    for element in &hold.elements {
        let NodeKind::Independent { velocities, .. } = &builder.model.node(hold.node).kind else {
            continue;
        };
        let Some(own) = velocities.chunks(size.max(1)).nth(*element) else {
            continue;
        };
        let differs = own.iter().zip(&hold.velocity).zip(&hold.coordinates);
        let differs: Vec<bool> = differs
            .map(|((v, to), held)| *held && *v != 0.0 && v != to)
            .collect();
        if differs.contains(&true) {
            let begun = builder
                .model
                .set_velocity(hold.node, *element, &differs, &hold.velocity);
            begun.map_err(|e| builder.model_error(e))?;
            other.get_or_insert(*element);
        }
    }
    Ok(other.map(|element| {
        let name = builder.model.node(hold.node).name.clone();
        let message =
            format!("`{name}`, element {element} is fixed from the start: its velocity does not count");
        let help = "leave it out, or give `fixed` the velocity, or a time `from` which it holds";
        let places = [Where::Used(&name, "node"), Where::Key("fixed")];
        Warning(builder.source.about(&places, message, Some(help.to_owned())))
    }))
}

fn hold(builder: &mut Builder<'_>, spec: &FixedSpec) -> Result<()> {
    // A hold has no name of its own; complaints look for a key beside the node's name.
    let name = spec.node.value.as_str();
    let places = |key| [Where::Used(name, key), Where::Key("fixed")];
    let named = builder.node(name, "", "fixed")?;
    // A group is held where its elements are.
    let group = builder.groups.get(name).cloned();
    let node = group.as_ref().map_or(named, |(node, _)| *node);
    let (count, entry) = (builder.model.node(named).count, builder.model.node(node));
    let size = entry.space.velocity_size();
    if entry.first_dof().is_none() {
        let message = format!("`{name}` is computed from other nodes, so it cannot be fixed");
        return builder.wrong(
            &places("node"),
            message,
            Some("fix a node that it is computed from".into()),
        );
    }
    let at = Where::Key("fixed");
    let elements = match &spec.elements {
        None => (0..count).collect(),
        Some(Elements::List(list)) => {
            let element = |n: &Quantity<Pure>| builder.any_element(n, at);
            list.iter().map(element).collect::<Result<Vec<_>>>()?
        }
        Some(elements) => selections::of_node(builder, elements, named, Where::Used(name, "elements"))?,
    };
    if let Some(element) = elements.iter().find(|e| **e >= count) {
        let message =
            format!("there is no element {element} to fix: `{name}` has {count}, counted from zero");
        return builder.wrong(&places("elements"), message, None);
    }
    let elements = match group {
        Some((_, all)) => elements.into_iter().map(|e| all[e]).collect(),
        None => elements,
    };
    let coordinates = match &spec.axes {
        None => vec![true; size],
        Some(axes) => mask(builder, name, axes, size)?,
    };
    let mut velocity = match &spec.velocity {
        None => vec![0.0; size],
        Some(list) => builder.numbers(list, at)?,
    };
    if size == 6 && velocity.len() == 3 {
        velocity.resize(6, 0.0);
    }
    turn_hold(builder, spec, &coordinates, &mut velocity)?;
    if velocity.len() != size {
        let message = format!(
            "the velocity of `{name}` has {} numbers, needed are {size}",
            velocity.len()
        );
        return builder.wrong(&places("velocity"), message, None);
    }
    let time = |n: Option<&Amount>, default| match n {
        Some(n) => builder.number(n, at),
        None => Ok(default),
    };
    let (from, until) = (
        time(spec.from.as_deref(), 0.0)?,
        time(spec.until.as_deref(), f64::INFINITY)?,
    );
    if from < 0.0 || until <= from {
        let message = format!("`{name}` is fixed from {from} s until {until} s: no such time");
        return builder.wrong(
            &[Where::Used(name, "until"), places("from")[0], at],
            message,
            None,
        );
    }
    builder.holds.push(Hold {
        node,
        elements,
        coordinates,
        velocity,
        from,
        until,
    });
    Ok(())
}

/// Turns the velocity of what is fixed as its file is turned, and refuses to hold single axes then.
fn turn_hold(
    builder: &Builder<'_>,
    spec: &FixedSpec,
    coordinates: &[bool],
    velocity: &mut [f64],
) -> Result<()> {
    let Some(frame) = builder.frame(&spec.node.file) else {
        return Ok(());
    };
    let (Some([a, b, c]), Some(linear)) = (coordinates.first_chunk::<3>(), velocity.first_chunk_mut::<3>())
    else {
        return Ok(());
    };
    if (a, b) != (b, c) {
        let name = spec.node.value.as_str();
        let message = format!(
            "`axes` of what is fixed of `{name}` are those of the world, and its file is at a place of its own"
        );
        let help = "hold it by a joint, or by a constraint of a `Projection`".to_owned();
        let places = [Where::Used(name, "axes"), Where::Key("fixed")];
        return builder.wrong(&places, message, Some(help));
    }
    *linear = frames::turn(&frame, *linear);
    Ok(())
}

/// Fixes elements for good.
pub(super) fn fix_always(builder: &mut Builder<'_>, node: NodeId, elements: Vec<usize>) {
    let size = builder.model.node(node).space.velocity_size();
    let (coordinates, velocity) = (vec![true; size], vec![0.0; size]);
    builder.holds.push(Hold {
        node,
        elements,
        coordinates,
        velocity,
        from: 0.0,
        until: f64::INFINITY,
    });
}

fn mask(builder: &Builder<'_>, name: &str, axes: &[Axis], size: usize) -> Result<Vec<bool>> {
    let mut mask = vec![false; size];
    for axis in axes {
        let Some(entry) = mask.get_mut(axis.index()) else {
            let space = builder
                .model
                .node_named(name)
                .map(|n| builder.model.node(n).space.to_string());
            let message = format!(
                "`{name}` has no axis `{}`: its elements are {}",
                axis.name(),
                space.unwrap_or_default()
            );
            return builder.wrong(&[Where::Key("fixed")], message, None);
        };
        *entry = true;
    }
    Ok(mask)
}

/// A number that is zero or more.
pub(super) fn not_negative(builder: &Builder<'_>, number: &crate::Amount, at: Where<'_>) -> Result<f64> {
    let value = builder.number(number, at)?;
    if value >= 0.0 {
        return Ok(value);
    }
    builder.wrong(
        &[at, owner(at)],
        format!("{} is {value}, but must be zero or more", describe(at)),
        None,
    )
}
