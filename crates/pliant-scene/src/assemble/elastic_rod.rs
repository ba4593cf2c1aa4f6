//! Elastic rods.

use super::ends::ParentList;
use super::nodes::evenly;
use super::outlines::Outline;
use super::selections::{self, Candidates};
use super::{Builder, Result, components, courses, mapped, solids};
use crate::deformable::DeformableParts;
use crate::schema::{ElasticRod, SectionSpec};
use crate::source::Where;
use pliant::continuum::{Rod, RodCurve, Section};
use pliant::model::{End, NodeId, RigidPoints};
use pliant_output::recording::Shape;

pub(super) fn add(builder: &mut Builder<'_>, spec: &ElasticRod) -> Result<()> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let points = rod_points(builder, spec)?;
    let (section, thickness) = section(builder, name, &spec.section)?;
    let mut rod = Rod::new(
        section,
        builder.number(&spec.young, field("young"))?,
        builder.number(&spec.poisson, field("poisson"))?,
    )
    .with_density(builder.number(&spec.density, field("density"))?)
    .with_relaxation_time(components::not_negative(
        builder,
        &spec.relaxation_time,
        field("relaxation_time"),
    )?);
    if spec.straight_at_rest {
        rod = rod.straight_at_rest();
    }
    if spec.inextensible {
        rod = rod.inextensible();
    }
    if let Some(series) = solids::prony(builder, name, &spec.viscoelastic)? {
        rod = rod.with_viscoelasticity(series);
    }
    if let Some(given) = spec.treatment {
        rod = rod.with_treatment(given);
    }
    let mut curve = RodCurve::through(&points).with_twist(builder.number(&spec.twist, field("twist"))?);
    if spec.closed {
        curve = curve.closed();
    }
    if let Some(normal) = &spec.normal {
        curve = curve.with_normal(builder.vector(normal, field("normal"))?);
    }
    let fixed = selections::among(
        builder,
        &spec.fix,
        &Candidates::points(name, &points, field("fix")).in_world(),
    )?;
    builder.grow(name, points.len().saturating_mul(3))?;
    let parts = rod
        .add_to(&mut builder.model, name, &curve)
        .map_err(|e| builder.continuum_error(name, "points", e))?;
    if let Some(share) = &spec.growth {
        let course = courses::motion(builder, share, 1, field("growth"))?;
        if course.varying(parts.elasticity).is_some() {
            let message = format!("`growth` of `{name}` follows the time, and no parameter that changes");
            return builder.wrong(&[field("growth"), Where::Name(name)], message, None);
        }
        let share = course.motion;
        let driven = builder
            .model
            .set_motion(parts.elasticity, Some(parts.growth(&share)));
        driven.map_err(|e| builder.model_error(e))?;
    }
    let centres = draw_rod(
        builder,
        name,
        parts.frames,
        points.len(),
        &parts.lengths,
        thickness,
    )?;
    let frames = parts.frames;
    builder.deform(name, DeformableParts::Rod(Box::new(parts), centres));
    if !fixed.is_empty() {
        components::fix_always(builder, frames, fixed);
    }
    Ok(())
}

fn rod_points(builder: &Builder<'_>, spec: &ElasticRod) -> Result<Vec<[f64; 3]>> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let point_count = |number| {
        let count = builder.count(number, 2, field("count"))?;
        // Bodies, their segments and strains, and the points that are drawn.
        builder.check_size(field("count"), count.saturating_mul(4))?;
        Ok(count)
    };
    match (&spec.points, &spec.line, &spec.formula) {
        (Some(list), None, None) => list.iter().map(|p| builder.place(p, field("points"))).collect(),
        (None, Some(line), None) => Ok(evenly(
            builder.place(&line.from, field("line"))?,
            builder.place(&line.to, field("line"))?,
            point_count(&line.count)?,
        )),
        (None, None, Some(formula)) => {
            if formula.velocity.is_some() {
                let message = format!("`{name}` starts at rest: its `formula` has no `velocity`");
                return builder.wrong(&[field("formula"), Where::Name(name)], message, None);
            }
            (0..point_count(&formula.count)?)
                .map(|i| builder.place_for(&formula.position, field("formula"), Some(i)))
                .collect()
        }
        _ => {
            let message = format!("`{name}` needs exactly one of `points`, `line` and `formula`");
            builder.wrong(&[Where::Name(name)], message, None)
        }
    }
}

/// The section, and half of its thickness along axes 1 and 2.
fn section(builder: &Builder<'_>, name: &str, spec: &SectionSpec) -> Result<(Section, [f64; 2])> {
    let size = |number| builder.positive(number, Where::Field(name, "section"));
    Ok(match spec {
        SectionSpec::Circle(radius) => {
            let radius = size(radius)?;
            (Section::circle(radius), [radius; 2])
        }
        SectionSpec::Tube(inner, outer) => {
            let (inner, outer) = (size(inner)?, size(outer)?);
            (Section::tube(inner, outer), [outer; 2])
        }
        SectionSpec::Rectangle(one, two) => {
            let sides = [size(one)?, size(two)?];
            (Section::rectangle(sides), sides.map(|s| 0.5 * s))
        }
    })
}

/// A box for each of the bodies, half as long at the ends, and the line through them, whose points
/// are returned.
fn draw_rod(
    builder: &mut Builder<'_>,
    name: &str,
    bodies: NodeId,
    count: usize,
    lengths: &[f64],
    thickness: [f64; 2],
) -> Result<NodeId> {
    // The sides of each body: half of every segment is at either of its ends.
    let mut sides = vec![0.0; count];
    // The next of each body; of the last one of a closed rod, the first.
    let next = |i: usize| i.saturating_add(1).checked_rem(count).unwrap_or(0);
    for (i, length) in lengths.iter().enumerate() {
        for end in [i, next(i)] {
            sides[end] += length;
        }
        builder.joined.push([(bodies, i), (bodies, next(i))]);
    }
    for (i, side) in sides.iter().enumerate() {
        let half = [0.25 * side, thickness[0], thickness[1]];
        builder.picture.bodies.push((bodies, i, Shape::Box { half }));
        builder.outlines.insert((bodies, i), Outline::Box { half });
    }
    let user = format!("{name}.points");
    let list = |nodes| ParentList {
        user: &user,
        names: &[],
        nodes,
    };
    let centres: Vec<_> = (0..count).map(|i| (i, [0.0; 3])).collect();
    let points = mapped::add_mapped(builder, &list(vec![bodies]), count, RigidPoints::new(&centres))?;
    let pairs: Vec<_> = (0..lengths.len())
        .map(|i| (End::element(0, i), End::element(0, next(i))))
        .collect();
    mapped::draw_pairs(builder, &list(vec![points]), &pairs);
    Ok(points)
}
