//! Ropes, cloths and solids that are tied to what they could meet.

use super::super::{Builder, Result};
use super::Making;
use pliant::collision::{Carrier, ColliderId, Contact, ContactError, ContactSide, Placement};
use pliant::dense::Vec3;
use pliant::model::{Model, NodeId, NodeKind, State};
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of a soft collider and one that its node is tied to.
type Pairs = BTreeSet<(ColliderId, ColliderId)>;

/// Keeps what is tied to something from meeting it there: the segments and triangles about the
/// points that are tied, and those that begin inside it, as of a rope that is tied to the middle of
/// a box.
pub(super) fn untangle(
    builder: &Builder<'_>,
    making: &mut Making<'_>,
    on: &BTreeMap<(NodeId, usize), Vec<ColliderId>>,
) -> Result<()> {
    let mut pairs = exclude_tied(builder, making, on)?;
    pairs.retain(|(_, other)| {
        let place = &making.world.colliders()[other.index()].placement;
        matches!(place, Placement::Body { .. })
    });
    if pairs.is_empty() {
        return Ok(());
    }
    exclude_inside(builder, making, &pairs)
}

/// Excludes what is about the points that are tied. Returns the colliders that are tied to each
/// other.
fn exclude_tied(
    builder: &Builder<'_>,
    making: &mut Making<'_>,
    on: &BTreeMap<(NodeId, usize), Vec<ColliderId>>,
) -> Result<Pairs> {
    let mut soft: BTreeMap<NodeId, Vec<ColliderId>> = BTreeMap::new();
    for id in making.named.values().flatten() {
        if let Placement::Points(node) = making.world.colliders()[id.index()].placement {
            soft.entry(node).or_default().push(*id);
        }
    }
    let mut pairs = Pairs::new();
    let both_ways = builder.tied.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]);
    for (own, holder) in both_ways {
        let Some(ropes) = soft.get(&own.0) else { continue };
        for at in lineage(&builder.model, holder) {
            let holders = on.get(&at).into_iter().chain(soft.get(&at.0)).flatten();
            for pair in holders.flat_map(|other| ropes.iter().map(move |rope| (*rope, *other))) {
                if pair.0 != pair.1 {
                    exclude(builder, making, pair, own.1)?;
                    pairs.insert(pair);
                }
            }
        }
    }
    Ok(pairs)
}

/// Excludes, of these pairs, what begins inside, and next to it what touches the surface there.
/// Cost: as many searches for contacts at the start as it takes until none finds more.
fn exclude_inside(builder: &Builder<'_>, making: &mut Making<'_>, pairs: &Pairs) -> Result<()> {
    let state = builder
        .model
        .initial_state()
        .map_err(|e| builder.model_error(e))?;
    let rest = vec![0.0; state.velocities.len()];
    let search = |making: &Making<'_>| {
        let mut world = making.world.clone();
        world.set_most_tests(builder.options.tuning.work.contact_tests);
        match world.update(&builder.model, &state.positions, &rest, 0.0) {
            Ok(found) => Ok(overlaps(found, pairs)),
            // The first step takes as many, and says so.
            Err(ContactError::TooManyTests { .. }) => Ok(Vec::new()),
            Err(e) => Err(builder.contact_error("", "colliders", &e)),
        }
    };
    let mut inside = BTreeSet::new();
    loop {
        let before = inside.len();
        for (own, other, gap) in search(making)? {
            if !begins_inside(&builder.model, &state, &own, gap) {
                continue;
            }
            let pair = (own.collider, other);
            for point in points_of(&own) {
                if inside.insert((pair, *point)) {
                    exclude(builder, making, pair, *point)?;
                }
            }
        }
        if inside.len() == before {
            break;
        }
    }
    let mut next = BTreeSet::new();
    for pair in pairs {
        let edges = making.world.colliders()[pair.0.index()].shape.edges().iter();
        let ends = edges.map(|edge| edge.map(|p| p as usize));
        let begun = ends.filter(|edge| edge.iter().any(|p| inside.contains(&(*pair, *p))));
        next.extend(begun.flatten().map(|p| (*pair, p)));
    }
    for (own, other, _) in search(making)? {
        let pair = (own.collider, other);
        for point in points_of(&own).iter().filter(|p| next.contains(&(pair, **p))) {
            exclude(builder, making, pair, *point)?;
        }
    }
    Ok(())
}

/// Keeps the elements of the first collider about a point of its node from meeting the second.
fn exclude(
    builder: &Builder<'_>,
    making: &mut Making<'_>,
    (soft, other): (ColliderId, ColliderId),
    point: usize,
) -> Result<()> {
    let excluded = making.world.exclude_points(soft, &[point], other);
    excluded.map_err(|e| builder.contact_error("", "colliders", &e))
}

/// The soft sides of the contacts of these pairs that overlap, each with the collider on the other
/// side and the gap (m).
fn overlaps(found: &[Contact], pairs: &Pairs) -> Vec<(ContactSide, ColliderId, f64)> {
    let deep = found.iter().filter(|c| c.gap < 0.0);
    let sides = deep.flat_map(|c| [(c.a, c.b.collider, c.gap), (c.b, c.a.collider, c.gap)]);
    sides
        .filter(|(own, other, _)| pairs.contains(&(own.collider, *other)))
        .collect()
}

/// The points that carry a side of a contact.
fn points_of(side: &ContactSide) -> &[usize] {
    match &side.carrier {
        Carrier::Points { count, elements, .. } => &elements[..*count],
        _ => &[],
    }
}

/// Whether the middle of a rope or sheet, on the side `own` of a contact with this gap (m), is
/// inside the other side: deeper than its radius.
fn begins_inside(model: &Model, state: &State, own: &ContactSide, gap: f64) -> bool {
    let Carrier::Points {
        node,
        count,
        elements,
        weights,
    } = own.carrier
    else {
        return false;
    };
    let points = model.positions(state, node).as_chunks::<3>().0;
    let mut middle = Vec3::zeros();
    for (element, weight) in elements.iter().zip(weights).take(count) {
        middle += weight * Vec3::from(points[*element]);
    }
    gap < -(middle - Vec3::from(own.point)).norm()
}

/// An element, and all elements that it is computed from.
fn lineage(model: &Model, element: (NodeId, usize)) -> Vec<(NodeId, usize)> {
    let mut list = vec![element];
    let mut dependencies = Vec::new();
    for next in 0.. {
        let Some(&(node, element)) = list.get(next) else {
            break;
        };
        if let NodeKind::Mapped { mapping, parents, .. } = &model.node(node).kind {
            dependencies.clear();
            mapping.dependencies(element, &mut dependencies);
            for d in &dependencies {
                let at = (parents[d.parent], d.element);
                if !list.contains(&at) {
                    list.push(at);
                }
            }
        }
    }
    list
}
