//! Ropes, cloths and solids that are tied to what they could meet.

use super::super::{Builder, Result};
use super::Making;
use pliant::collision::{Carrier, ColliderId, Contact, ContactError, ContactSide, Placement};
use pliant::dense::Vec3;
use pliant::model::{Model, NodeId, NodeKind, State};
use std::collections::{BTreeMap, BTreeSet};

/// Keeps what is tied to something from meeting it there: the segments and triangles about the
/// points that are tied, and those that begin inside it, as of a rope that is tied to the middle of
/// a box.
pub(super) fn untangle(
    builder: &Builder<'_>,
    making: &mut Making<'_>,
    on: &BTreeMap<(NodeId, usize), Vec<ColliderId>>,
) -> Result<()> {
    let mut soft: BTreeMap<NodeId, Vec<ColliderId>> = BTreeMap::new();
    for id in making.named.values().flatten() {
        if let Placement::Points(node) = making.world.colliders()[id.index()].placement {
            soft.entry(node).or_default().push(*id);
        }
    }
    let mut pairs = BTreeSet::new();
    let exclude = |making: &mut Making<'_>, rope, points: &[usize], other| {
        let excluded = making.world.exclude_points(rope, points, other);
        excluded.map_err(|e| builder.contact_error("", "colliders", &e))
    };
    let both_ways = builder.tied.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]);
    for (own, holder) in both_ways {
        let Some(ropes) = soft.get(&own.0) else { continue };
        for at in lineage(&builder.model, holder) {
            let holders = on.get(&at).into_iter().chain(soft.get(&at.0)).flatten();
            for (rope, other) in holders.flat_map(|other| ropes.iter().map(move |rope| (*rope, *other))) {
                if rope != other {
                    exclude(making, rope, &[own.1], other)?;
                    pairs.insert((rope, other));
                }
            }
        }
    }
    pairs.retain(|(_, other)| {
        matches!(
            making.world.colliders()[other.index()].placement,
            Placement::Body { .. }
        )
    });
    if pairs.is_empty() {
        return Ok(());
    }
    let state = builder
        .model
        .initial_state()
        .map_err(|e| builder.model_error(e))?;
    let rest = vec![0.0; state.velocities.len()];
    let search = |making: &Making<'_>| {
        let mut world = making.world.clone();
        world.set_most_tests(builder.options.tuning.work.contact_tests);
        match world.update(&builder.model, &state.positions, &rest, 0.0) {
            Ok(found) => Ok(overlaps(found, &pairs)),
            // The first step takes as many, and says so.
            Err(ContactError::TooManyTests { .. }) => Ok(Vec::new()),
            Err(e) => Err(builder.contact_error("", "colliders", &e)),
        }
    };
    // One search tells of the deepest places alone.
    let mut inside = BTreeSet::new();
    loop {
        let before = inside.len();
        for (own, other, gap) in search(making)? {
            if begins_inside(&builder.model, &state, &own, gap) {
                inside.extend(points_of(&own).iter().map(|p| (own.collider, *p, other)));
            }
        }
        if inside.len() == before {
            break;
        }
        for (rope, point, other) in &inside {
            exclude(making, *rope, &[*point], *other)?;
        }
    }
    // The next one, which begins outside, touches the surface that the rope comes out of.
    let edges = |rope: ColliderId| making.world.colliders()[rope.index()].shape.edges();
    let next: BTreeSet<_> = inside
        .iter()
        .flat_map(|(rope, point, other)| {
            let of = edges(*rope).iter().map(|edge| edge.map(|p| p as usize));
            let ends = of.filter(|edge| edge.contains(point)).flatten();
            ends.map(|p| (*rope, p, *other))
        })
        .collect();
    for (own, other, _) in search(making)? {
        for point in points_of(&own) {
            if next.contains(&(own.collider, *point, other)) {
                exclude(making, own.collider, &[*point], other)?;
            }
        }
    }
    Ok(())
}

/// The sides of ropes and sheets in contacts that overlap, of these pairs with what they are tied
/// to, that, and the gap (m).
fn overlaps(
    found: &[Contact],
    pairs: &BTreeSet<(ColliderId, ColliderId)>,
) -> Vec<(ContactSide, ColliderId, f64)> {
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
