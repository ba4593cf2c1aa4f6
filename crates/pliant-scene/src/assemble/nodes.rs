//! Independent nodes.

use super::blame::{element_of, model_error};
use super::{Builder, Result, shapes, starts};
use crate::schema::{Bodies, Body, Particles, Rotation, Scalars, Triple};
use crate::source::Where;
use crate::{OneOrMany, Units};
use pliant::dense::rotation::Quaternion;
use pliant::dense::{Vec3, rotation};
use pliant::model::{Mass, NodeId, Pose, Space};

pub(super) fn add_particles(builder: &mut Builder<'_>, spec: &Particles) -> Result<()> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let mut velocities = Vec::new();
    let positions = match (&spec.positions, &spec.line, &spec.formula) {
        (Some(list), None, None) => {
            let place = |numbers| builder.place(numbers, field("positions"));
            list.iter().map(place).collect::<Result<_>>()?
        }
        (None, Some(line), None) => {
            let count = builder.count(&line.count, 2, field("count"))?;
            builder.check_size(field("count"), count)?;
            let (from, to) = (
                builder.place(&line.from, field("line"))?,
                builder.place(&line.to, field("line"))?,
            );
            evenly(from, to, count)
        }
        (None, None, Some(formula)) => {
            let count = builder.count(&formula.count, 1, field("count"))?;
            builder.check_size(field("count"), count)?;
            if let Some(velocity) = &formula.velocity {
                for i in 0..count {
                    velocities.push(builder.vector_for(velocity, field("formula"), Some(i))?);
                }
            }
            (0..count)
                .map(|i| builder.place_for(&formula.position, field("formula"), Some(i)))
                .collect::<Result<_>>()?
        }
        _ => {
            let message = format!("`{name}` needs exactly one of `positions`, `line` and `formula`");
            return builder.wrong(&[Where::Name(name)], message, None);
        }
    };
    if let Some(list) = &spec.velocities {
        let vector = |numbers| builder.vector(numbers, field("velocities"));
        velocities = list.iter().map(vector).collect::<Result<_>>()?;
        if let [velocity] = velocities[..] {
            velocities = vec![velocity; positions.len()];
        }
    }
    let node = add_points(builder, name, &positions, &velocities)?;
    point_mass(builder, name, node, &spec.mass)
}

/// Particles with velocities, all at rest if there are none.
pub(super) fn add_points(
    builder: &mut Builder<'_>,
    name: &str,
    x: &[[f64; 3]],
    v: &[[f64; 3]],
) -> Result<NodeId> {
    builder.grow(name, x.len())?;
    let rest = vec![[0.0; 3]; x.len()];
    let v = if v.is_empty() { &rest[..] } else { v };
    let node = builder
        .model
        .add_independent(name, Space::Real(3), x.as_flattened(), v.as_flattened());
    let node = node.map_err(|e| builder.model_error(e))?;
    builder.picture.show(node);
    Ok(node)
}

/// The mass of a node of points or scalars, as `name.mass`.
fn point_mass(
    builder: &mut Builder<'_>,
    name: &str,
    node: NodeId,
    mass: &OneOrMany<impl Units>,
) -> Result<()> {
    let mass = match mass {
        OneOrMany::One(number) => Mass::Uniform(builder.number(number, Where::Field(name, "mass"))?),
        OneOrMany::Many(list) => Mass::PerElement(builder.numbers(list, Where::Field(name, "mass"))?),
    };
    add_mass(builder, &format!("{name}.mass"), node, mass)
}

pub(super) fn add_mass(builder: &mut Builder<'_>, name: &str, node: NodeId, mass: Mass) -> Result<()> {
    builder
        .model
        .add_mass(name, node, mass)
        .map_err(|e| builder.model_error(e))?;
    Ok(())
}

pub(super) fn add_scalars(builder: &mut Builder<'_>, spec: &Scalars) -> Result<()> {
    let name = spec.name.as_str();
    let values = builder.numbers(&spec.values, Where::Field(name, "values"))?;
    let velocities = match &spec.velocities {
        Some(list) => builder.numbers(list, Where::Field(name, "velocities"))?,
        None => vec![0.0; values.len()],
    };
    builder.grow(name, values.len())?;
    let node = builder
        .model
        .add_independent(name, Space::Real(1), &values, &velocities);
    let node = node.map_err(|e| builder.model_error(e))?;
    point_mass(builder, name, node, &spec.mass)
}

pub(super) fn add_bodies(builder: &mut Builder<'_>, spec: &Bodies) -> Result<()> {
    let name = spec.name.as_str();
    let mut list = Vec::new();
    for (place, body) in spec.bodies.iter().enumerate() {
        builder.source = builder.source.in_part("bodies", place);
        match &body.repeat {
            None => list.push((place, body, None)),
            Some(count) => {
                let at = Where::Field(name, "repeat");
                let count = builder.count(count, 1, at)?;
                builder.check_size(at, list.len().saturating_add(count))?;
                list.extend((0..count).map(|i| (place, body, Some(i))));
            }
        }
    }
    builder.grow(name, list.len())?;
    let mut poses = Vec::new();
    let mut masses = Vec::new();
    let mut solids = Vec::new();
    let mut velocities = Vec::new();
    for (place, body, index) in &list {
        builder.source = builder.source.in_part("bodies", *place);
        builder.index = *index;
        let solid = shapes::solid(builder, name, body);
        let pose = pose(builder, name, body);
        let at = |key| Where::Field(name, key);
        let linear = builder.vector_or_zero(body.velocity.as_ref(), at("velocity"));
        let angular = builder.vector_or_zero(body.angular_velocity.as_ref(), at("angular_velocity"));
        builder.index = None;
        let (solid, mut pose) = (solid?, pose?);
        if body.inertia.is_none() {
            builder.units.note_body(name, &solid.mass);
        }
        if solid.centre != [0.0; 3]
            && let Some(rotation) = rotation::normalize(pose.rotation)
        {
            let centre = rotation::rotate(rotation, solid.centre.into());
            pose.position = [0, 1, 2].map(|k| pose.position[k] + centre[k]);
        }
        let (mut linear, mut angular) = (linear?, angular?);
        if let Some(start) = builder.starts.get(&(name.to_owned(), poses.len())) {
            pose = starts::after(start.moved, pose);
            let [v, w] = start.velocity(pose.position);
            linear = [0, 1, 2].map(|k| linear[k] + v[k]);
            angular = [0, 1, 2].map(|k| angular[k] + w[k]);
        }
        poses.push(pose);
        masses.push(solid.mass);
        solids.push((solid.picture, solid.outline));
        velocities.push((linear, angular));
    }
    builder.source.home.part = None;
    // A complaint about an element is one about the body that it is written as.
    let of_body = |builder: &Builder<'_>, element: Option<usize>, error| {
        let body = element.and_then(|element| list.get(element));
        let source = match body {
            Some((place, ..)) => builder.source.in_part("bodies", *place),
            None => builder.source,
        };
        model_error(source, error)
    };
    let node = builder
        .model
        .add_rigid_bodies(name, &poses)
        .map_err(|e| of_body(builder, element_of(&e), e))?;
    for (element, ((picture, outline), (linear, angular))) in solids.into_iter().zip(velocities).enumerate() {
        builder.picture.bodies.push((node, element, picture));
        builder.outlines.insert((node, element), outline);
        builder
            .model
            .set_body_velocity(node, element, linear, angular)
            .map_err(|e| of_body(builder, Some(element), e))?;
    }
    // The model checks each body by itself, and so does not know which one it is.
    let wrong = masses
        .iter()
        .position(|rigid| rigid.mass.is_nan() || rigid.mass <= 0.0);
    let added = builder
        .model
        .add_mass(&format!("{name}.mass"), node, Mass::Rigid(masses));
    added.map(drop).map_err(|error| {
        let error = match (element_of(&error), wrong) {
            (None, Some(wrong)) => error.at(wrong, list.len()),
            _ => error,
        };
        of_body(builder, element_of(&error), error)
    })
}

fn pose(builder: &Builder<'_>, name: &str, body: &Body) -> Result<Pose> {
    let position = match &body.position {
        Some(p) => builder.triple(p, Where::Field(name, "position"))?,
        None => [0.0; 3],
    };
    let rotation = orientation(builder, name, body.rotation.as_ref())?;
    Ok(builder.put_pose(name, Pose { position, rotation }))
}

/// A quaternion, of any length if it is given as one.
pub(super) fn orientation(builder: &Builder<'_>, name: &str, spec: Option<&Rotation>) -> Result<Quaternion> {
    let at = Where::Field(name, "rotation");
    match spec {
        None => Ok(rotation::IDENTITY),
        Some(Rotation::Quaternion([w, x, y, z])) => {
            let of = |n| builder.number(n, at);
            Ok([of(w)?, of(x)?, of(y)?, of(z)?])
        }
        Some(Rotation::Axis(turn)) => {
            let axis = builder.triple(&turn.around, at)?;
            let degrees = builder.number(&turn.degrees, at)?;
            // Scaled first: the square of a large or small axis leaves the range of numbers.
            let size = axis.iter().fold(0.0f64, |m, c| m.max(c.abs()));
            if size == 0.0 {
                let message = format!("a rotation of `{name}` is about an axis of length zero");
                return builder.wrong(
                    &[Where::Literal(name, "around"), at, Where::Name(name)],
                    message,
                    None,
                );
            }
            let axis = Vec3::from(axis.map(|c| c / size)).normalize();
            Ok(rotation::exp(axis * degrees.to_radians()))
        }
    }
}

/// A frame in a body or in the world.
pub(super) fn frame_pose(
    builder: &Builder<'_>,
    name: &str,
    position: Option<&Triple<impl Units>>,
    rotation: Option<&Rotation>,
) -> Result<Pose> {
    let position = match position {
        Some(p) => builder.triple(p, Where::Field(name, "position"))?,
        None => [0.0; 3],
    };
    let quaternion = orientation(builder, name, rotation)?;
    let size = quaternion.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    match rotation::normalize(quaternion.map(|c| c / size)) {
        Some(rotation) => Ok(Pose { position, rotation }),
        None => {
            let message = format!("a rotation of `{name}` is none: its quaternion has length zero");
            builder.wrong(
                &[Where::Field(name, "rotation"), Where::Name(name)],
                message,
                None,
            )
        }
    }
}

/// `count` points from one to another, both included.
pub(super) fn evenly(from: [f64; 3], to: [f64; 3], count: usize) -> Vec<[f64; 3]> {
    let last = count.saturating_sub(1).max(1) as f64;
    let at = |i: usize, k: usize| {
        let s = i as f64 / last;
        // Both ends exactly.
        (1.0 - s) * from[k] + s * to[k]
    };
    (0..count).map(|i| [at(i, 0), at(i, 1), at(i, 2)]).collect()
}
