//! A rod: rigid bodies in a row, ball joints, bending springs.

use super::ends::{self, ParentList};
use super::joints::shortest;
use super::mapped::quaternion;
use super::outlines::Outline;
use super::{Builder, Result, components, joints, mapped, nodes};
use crate::OneOrMany;
use crate::schema::Rod;
use crate::source::Where;
use pliant::dense::rotation::{conjugate, rotate};
use pliant::dense::{Vec3, vec3};
use pliant::model::{
    Dependency, DiagonalCompliance, Difference, End, Level, Mass, NodeId, Pose, RelativeRotation, RigidMass,
    RigidPoints, Space, Subset, Treatment,
};
use pliant_output::recording::Shape;

pub(super) fn add(builder: &mut Builder<'_>, spec: &Rod) -> Result<()> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let segments = builder.count(&spec.segments, 1, field("segments"))?;
    // Bodies, their two ends, the gaps and the angles between them.
    builder.check_size(field("segments"), segments.saturating_mul(5))?;
    let base = match &spec.base {
        Some((node, element)) => Some(joints::body_at(builder, name, "base", node, element)?),
        None => None,
    };
    let (from, to) = (
        builder.place(&spec.from, field("from"))?,
        builder.place(&spec.to, field("to"))?,
    );
    let along = Vec3::from(to) - Vec3::from(from);
    let length = along.norm();
    if !(length > 0.0 && length.is_finite()) {
        let message = format!("`{name}` has the length {length}");
        return builder.wrong(&[field("to"), Where::Name(name)], message, None);
    }
    let link = length / segments as f64;

    // The bodies.
    let turn = shortest(Vec3::x(), along / length);
    let centre = |i: usize| Vec3::from(from) + along * ((i as f64 + 0.5) / segments as f64);
    let poses: Vec<_> = (0..segments)
        .map(|i| Pose {
            position: centre(i).into(),
            rotation: turn,
        })
        .collect();
    builder.grow(name, segments)?;
    let bodies = builder
        .model
        .add_rigid_bodies(name, &poses)
        .map_err(|e| builder.model_error(e))?;
    rod_masses(builder, spec, bodies, segments, link)?;

    // Their two ends each, then the point of the base.
    let half = 0.5 * link;
    let mut points: Vec<_> = (0..segments)
        .flat_map(|i| {
            [
                (Dependency::new(0, i), [-half, 0.0, 0.0]),
                (Dependency::new(0, i), [half, 0.0, 0.0]),
            ]
        })
        .collect();
    let last = points.len().saturating_sub(1);
    // Ends in turn: the second of each body and the first of the next.
    let mut gaps: Vec<(End, End)> = ends::neighbours(points.len())
        .skip(1)
        .step_by(2)
        .map(|pair| ends::in_first(pair).into())
        .collect();
    let mut bends: Vec<(Dependency, Dependency)> = ends::neighbours(segments)
        .map(|pair| pair.map(|i| Dependency::new(0, i)).into())
        .collect();
    let mut nodes = vec![bodies];
    if let Some((node, element)) = base {
        let positions = builder.initial_positions(node)?;
        let body = positions.as_chunks::<7>().0[element];
        let arm = Vec3::from(from) - vec3(&body, 0);
        let local = rotate(conjugate(quaternion(&body)), arm);
        gaps.insert(0, ends::in_first([points.len(), 0]).into());
        points.push((Dependency::new(1, element), local.into()));
        bends.insert(0, (Dependency::new(1, element), Dependency::new(0, 0)));
        nodes.push(node);
        builder.joined.push([(node, element), (bodies, 0)]);
    }
    let sub = |what: &str| format!("{name}.{what}");
    let [at_ends, joints, angles, tip] = ["ends", "gaps", "bends", "tip"].map(sub);
    let list = |user, nodes: &[NodeId]| ParentList {
        user,
        names: &[],
        nodes: nodes.to_vec(),
    };
    let at_ends = mapped::add_mapped(
        builder,
        &list(&at_ends, &nodes),
        points.len(),
        RigidPoints::of_parents(&points),
    )?;
    let subset = Subset::of_elements(Space::Real(3), &[last]);
    mapped::add_mapped(builder, &list(&tip, &[at_ends]), 1, subset)?;
    if gaps.is_empty() {
        return Ok(());
    }
    let joints = mapped::add_mapped(
        builder,
        &list(&joints, &[at_ends]),
        gaps.len(),
        Difference::new(&gaps),
    )?;
    builder
        .model
        .add_constraint(&sub("joints"), joints, Level::Position)
        .map_err(|e| builder.model_error(e))?;

    let parents = list(&angles, &nodes);
    let rests = mapped::initial_rotations(builder, &parents, &bends)?;
    let mapping = RelativeRotation::of_parents(&bends).with_rest_rotations(&rests);
    let angles = mapped::add_mapped(builder, &parents, bends.len(), mapping)?;
    bending(builder, spec, angles, bends.len(), &sub("bending"))
}

fn bending(builder: &mut Builder<'_>, spec: &Rod, angles: NodeId, joints: usize, name: &str) -> Result<()> {
    let at = Where::Field(&spec.name, "bending_compliance");
    let compliances = match &spec.bending_compliance {
        OneOrMany::One(number) => vec![components::not_negative(builder, number, at)?; joints],
        many @ OneOrMany::Many(_) => builder.each(many, joints, at)?,
    };
    let relaxation = components::not_negative(
        builder,
        &spec.relaxation_time,
        Where::Field(&spec.name, "relaxation_time"),
    )?;
    let compliances: Vec<f64> = compliances.iter().flat_map(|c| [*c; 3]).collect();
    let law = DiagonalCompliance::new(&compliances).with_relaxation_time(relaxation);
    let added = builder
        .model
        .add_force_field(name, angles, law, Treatment::Compliance);
    added.map_err(|e| builder.model_error(e))?;
    Ok(())
}

fn rod_masses(
    builder: &mut Builder<'_>,
    spec: &Rod,
    bodies: NodeId,
    segments: usize,
    link: f64,
) -> Result<()> {
    let name = spec.name.as_str();
    let mass = builder.positive(&spec.mass, Where::Field(name, "mass"))?;
    let width = builder.positive(&spec.width, Where::Field(name, "width"))?;
    let tip_width = match &spec.tip_width {
        Some(tip) => builder.positive(tip, Where::Field(name, "tip_width"))?,
        None => width,
    };
    let width_of = |i: usize| width + (tip_width - width) * (i as f64 + 0.5) / segments as f64;
    let volume: f64 = (0..segments).map(|i| width_of(i) * width_of(i)).sum();
    let mut masses = Vec::with_capacity(segments);
    for i in 0..segments {
        let size = [link, width_of(i), width_of(i)];
        masses.push(RigidMass::cuboid(mass * size[1] * size[1] / volume, size));
        let half = size.map(|s| 0.5 * s);
        builder.picture.bodies.push((bodies, i, Shape::Box { half }));
        builder.outlines.insert((bodies, i), Outline::Box { half });
    }
    let pairs = ends::neighbours(segments).map(|pair| pair.map(|i| (bodies, i)));
    builder.joined.extend(pairs);
    nodes::add_mass(builder, &format!("{name}.mass"), bodies, Mass::Rigid(masses))
}
