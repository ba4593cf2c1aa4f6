//! Parts that expand to several nodes: cables.

use super::ends::{ParentList, in_first, neighbours};
use super::hanging::hanging_chain;
use super::nodes::evenly;
use super::{Builder, Edges, Result, components, deformables, mapped, nodes};
use crate::schema::{Cable, CableEnd, Triple};
use crate::source::Where;
use crate::{Amount, Units};
use pliant::model::{Difference, Distance, End, Level, Mass, NodeId, Space, Treatment, UniformCompliance};

pub(super) fn add_cable(builder: &mut Builder<'_>, spec: &Cable) -> Result<()> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let links = builder.count(&spec.links, 1, field("links"))?;
    let particles = links.saturating_add(1);
    builder.check_size(field("links"), particles.saturating_add(links))?;
    let from = cable_end(builder, name, "from", spec.from.as_ref(), &spec.start)?;
    let to = cable_end(builder, name, "to", spec.to.as_ref(), &spec.end)?;
    let points = match &spec.length {
        Some(length) => hanging(builder, name, [from, to], length, links)?,
        None => evenly(from, to, particles),
    };
    let mut velocities = Vec::new();
    if let Some(pluck) = &spec.pluck {
        let pluck = builder.vector(pluck, field("pluck"))?;
        let share = |i: usize| 1.0 - (2.0 * i as f64 / links as f64 - 1.0).abs();
        velocities.extend((0..=links).map(|i| pluck.map(|v| v * share(i))));
    }
    let node = nodes::add_points(builder, name, &points, &velocities)?;
    let mut masses = vec![builder.number(&spec.link_mass, field("link_mass"))?; particles];
    if let Some(last) = &spec.last_mass {
        masses[links] = builder.number(last, field("last_mass"))?;
    }
    nodes::add_mass(builder, &format!("{name}.mass"), node, Mass::PerElement(masses))?;

    let pairs: Vec<_> = neighbours(particles).map(|pair| in_first(pair).into()).collect();
    lengths(
        builder,
        name,
        node,
        &pairs,
        &spec.compliance,
        &spec.relaxation_time,
    )?;
    for (which, end, element) in [("start", &spec.start, 0), ("end", &spec.end, links)] {
        match end {
            CableEnd::Free => {}
            CableEnd::Fixed => components::fix_always(builder, node, vec![element]),
            CableEnd::Attached(to, at) => attach(builder, name, which, (node, element), to, at)?,
        }
    }
    Ok(())
}

/// The particles of a cable of a given length, which hangs between its ends.
fn hanging(
    builder: &Builder<'_>,
    name: &str,
    ends: [[f64; 3]; 2],
    length: &Amount,
    links: usize,
) -> Result<Vec<[f64; 3]>> {
    let at = Where::Field(name, "length");
    let length = builder.number(length, at)?;
    let gravity = builder.model.initial_parameters().gravity();
    let size = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let way = (0..3)
        .map(|i| (ends[1][i] - ends[0][i]).powi(2))
        .sum::<f64>()
        .sqrt();
    let (message, help) = if length <= way {
        (
            format!("`length` of `{name}` is {length} m, but its ends are {way} m apart"),
            "without `length` it is straight; a longer one hangs".to_owned(),
        )
    } else if size == 0.0 {
        (
            format!("`{name}` has nothing to hang in: the scene has no `gravity`"),
            "give its points with `Particles`".to_owned(),
        )
    } else {
        match hanging_chain(ends, length, links, gravity.map(|g| g / size)) {
            Some(points) => return Ok(points),
            None if links == 1 => (
                format!("`{name}` is {length} m long, and its only link spans {way} m"),
                "two `links` can hang".to_owned(),
            ),
            None => (
                format!("`{name}` hangs straight down from both ends: they are too close to each other"),
                "move one of them to the side, take more `links`, or give its points with `Particles`"
                    .to_owned(),
            ),
        }
    };
    builder.wrong(&[at, Where::Name(name)], message, Some(help))
}

/// Position of an end of a cable: as given, or else where it is attached.
fn cable_end(
    builder: &mut Builder<'_>,
    name: &str,
    key: &str,
    point: Option<&Triple<impl Units>>,
    end: &CableEnd,
) -> Result<[f64; 3]> {
    if let CableEnd::Attached(node, element) = end {
        let target = attachment(builder, name, node, element)?;
        if point.is_some() {
            let message = format!("`{name}` is attached there: `{key}` is not needed");
            return builder.wrong(&[Where::Field(name, key)], message, None);
        }
        let positions = builder.initial_positions(target.0)?;
        return Ok(positions.as_chunks::<3>().0[target.1]);
    }
    match point {
        Some(point) => builder.place(point, Where::Field(name, key)),
        None => builder.wrong(
            &[Where::Name(name)],
            format!("missing key `{key}` in `{name}`"),
            None,
        ),
    }
}

/// An element of a node of points.
fn attachment(builder: &Builder<'_>, name: &str, node: &str, element: &Amount) -> Result<(NodeId, usize)> {
    let at = Where::Literal(name, node);
    let id = builder.node(node, name, "end")?;
    let target = builder.model.node(id);
    if target.space != Space::Real(3) {
        let message = format!(
            "`{name}` can be attached to points only, but `{node}` has {}",
            target.space
        );
        let help = "map a point of the body first: `RigidPoints`".to_owned();
        return builder.wrong(&[at, Where::Name(name)], message, Some(help));
    }
    Ok((id, builder.element(element, node, target.count, at)?))
}

/// A hard joint of a particle and a point, as `name.start` or `name.end`.
fn attach(
    builder: &mut Builder<'_>,
    name: &str,
    which: &str,
    own: (NodeId, usize),
    to: &str,
    at: &Amount,
) -> Result<()> {
    let (target, element) = attachment(builder, name, to, at)?;
    let joint = format!("{name}.{which}");
    let parents = ParentList {
        user: &joint,
        names: &[],
        nodes: vec![own.0, target],
    };
    let pair = (End::element(0, own.1), End::element(1, element));
    let gap = mapped::add_mapped(builder, &parents, 1, Difference::new(&[pair]))?;
    builder
        .model
        .add_constraint(&joint, gap, Level::Position)
        .map_err(|e| builder.model_error(e))?;
    builder.tied.push([own, (target, element)]);
    Ok(())
}

/// Distances of pairs of one node as `name.lengths`, at rest as they are, with the spring or
/// constraint `name.tension`.
pub(super) fn lengths(
    builder: &mut Builder<'_>,
    name: &str,
    node: NodeId,
    pairs: &[(End, End)],
    compliance: &Amount,
    relaxation_time: &Amount,
) -> Result<()> {
    let compliance = components::not_negative(builder, compliance, Where::Field(name, "compliance"))?;
    let relaxation_time =
        components::not_negative(builder, relaxation_time, Where::Field(name, "relaxation_time"))?;
    let lengths = format!("{name}.lengths");
    let parents = ParentList {
        user: &lengths,
        names: &[],
        nodes: vec![node],
    };
    let rests = mapped::initial_lengths(builder, &parents, pairs, 3)?;
    let mapped = mapped::add_mapped(
        builder,
        &parents,
        pairs.len(),
        Distance::new(pairs).with_rest_lengths(&rests),
    )?;
    if deformables::may_break(builder, name) {
        mapped::draw_elements(builder, &parents, mapped, pairs);
    } else {
        mapped::draw_pairs(builder, &parents, pairs);
    }
    let number = |end: &End| match end {
        End::Element(at) => at.element,
        End::Point(_) => 0,
    };
    let ends = pairs.iter().map(|(a, b)| [number(a), number(b)]).collect();
    let edges = Edges {
        lengths: mapped,
        ends,
        rests,
    };
    builder.nets.insert(name.to_owned(), edges);
    let tension = format!("{name}.tension");
    let added = if compliance == 0.0 && relaxation_time == 0.0 {
        builder.model.add_constraint(&tension, mapped, Level::Position)
    } else {
        let law = UniformCompliance::new(compliance).with_relaxation_time(relaxation_time);
        builder
            .model
            .add_force_field(&tension, mapped, law, Treatment::Compliance)
    };
    added.map_err(|e| builder.model_error(e))?;
    Ok(())
}
