//! Colliders and their materials.

mod materials;
mod soft;
mod tied;

use super::mesh_files::count_entries;
use super::outlines::Outline;
use super::{Builder, Result, components, entries, joints, nodes, outlines, selections};
use crate::Amount;
use crate::picture::DrawnCollider;
use crate::schema::{BodiesColliderSpec, ColliderSpec, OverlapSpec, Scene, SleepingSpec, SurfaceContactSpec};
use crate::source::Where;
use pliant::collision::{
    Collider, ColliderId, CollisionGroups, ContactError, MaterialId, Placement, Shape, World,
};
use pliant::contact::{ContactOptions, Overlap, Sleeping};
use pliant::dense::{Vec3, rotation};
use pliant::model::{NodeId, Pose, Space};
use pliant_expression::suggest;
use pliant_output::recording::Shape as Drawn;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Name of the material and of the group of what names none.
const DEFAULT: &str = "default";
/// Comparisons of names with patterns of `ignore` for each element that a scene may have.
const TESTS_PER_ELEMENT: usize = 100;
/// Groups that can be told apart, the default one included.
const MOST_GROUPS: usize = 32;

/// The world in the making.
struct Making<'a> {
    world: World,
    materials: BTreeMap<&'a str, MaterialId>,
    /// Names of groups, by bit.
    groups: Vec<&'a str>,
    /// The colliders of each name of the scene.
    named: BTreeMap<&'a str, Vec<ColliderId>>,
}

/// The name of a collider: its own or that of its node.
fn name(spec: &ColliderSpec) -> &str {
    let (own, node) = match spec {
        ColliderSpec::Body(s) => return &s.name,
        ColliderSpec::Fixed(s) => return &s.name,
        ColliderSpec::Bodies(s) => (&s.name, &s.node),
        ColliderSpec::Points(s) => (&s.name, &s.node),
        ColliderSpec::Cable(s) => (&s.name, &s.node),
        ColliderSpec::Cloth(s) => (&s.name, &s.node),
    };
    own.as_ref().unwrap_or(node)
}

fn surface(spec: &ColliderSpec) -> &SurfaceContactSpec {
    match spec {
        ColliderSpec::Bodies(s) => &s.surface,
        ColliderSpec::Body(s) => &s.surface,
        ColliderSpec::Fixed(s) => &s.surface,
        ColliderSpec::Points(s) => &s.surface,
        ColliderSpec::Cable(s) => &s.surface,
        ColliderSpec::Cloth(s) => &s.surface,
    }
}

/// The shortest turn from z to a unit vector.
fn shortest_turn(to: Vec3) -> rotation::Quaternion {
    let axis = Vec3::z().cross(&to);
    // Half a turn has no shortest way.
    rotation::normalize([1.0 + to.z, axis.x, axis.y, axis.z]).unwrap_or([0.0, 1.0, 0.0, 0.0])
}

/// All colliders; none if the scene has none.
pub(super) fn world<'a>(builder: &mut Builder<'a>, scene: &'a Scene) -> Result<Option<World>> {
    let mut making = Making {
        world: World::new(),
        materials: BTreeMap::from([(DEFAULT, MaterialId::default())]),
        groups: vec![DEFAULT],
        named: BTreeMap::new(),
    };
    materials::materials(builder, scene, &mut making)?;
    groups(builder, scene, &mut making)?;
    entries::each(builder, "colliders", &scene.colliders, |builder, spec| {
        let name = name(spec);
        if making.named.contains_key(name) {
            let message = format!("the name `{name}` is used twice among the colliders");
            let help = "give one of them a `name`".to_owned();
            return builder.wrong(&[Where::Name(name)], message, Some(help));
        }
        let made = colliders(builder, spec, name)?;
        let mut ids = Vec::with_capacity(made.len());
        for collider in made {
            let collider = with_surface(builder, collider, name, surface(spec), &making)?;
            let added = making.world.add(collider);
            ids.push(added.map_err(|e| builder.contact_error(name, "margin", &e))?);
        }
        making.named.insert(name, ids);
        Ok(())
    })?;
    ignored(builder, scene, &mut making)?;
    builder.colliders = named_sides(&making);
    if let Err(error) = making.world.check_foundations() {
        let name = match &error {
            ContactError::Foundation { between, .. } => between[0].as_str(),
            _ => DEFAULT,
        };
        return Err(builder.contact_error(name, "material", &error));
    }
    Ok((!scene.colliders.is_empty()).then_some(making.world))
}

/// The colliders of each name, and each one by its own.
fn named_sides(making: &Making<'_>) -> BTreeMap<String, Vec<u32>> {
    let mut sides = BTreeMap::new();
    for (side, collider) in (0..).zip(making.world.colliders()) {
        sides.insert(collider.name.clone(), vec![side]);
    }
    for (name, ids) in &making.named {
        let all = ids.iter().filter_map(|id| u32::try_from(id.index()).ok());
        sides.insert((*name).to_owned(), all.collect());
    }
    sides
}

/// All groups that colliders are in.
fn groups<'a>(builder: &Builder<'_>, scene: &'a Scene, making: &mut Making<'a>) -> Result<()> {
    for spec in &scene.colliders {
        let name = name(spec);
        for group in &surface(spec).groups {
            if !making.groups.contains(&group.as_str()) {
                making.groups.push(group);
            }
            if making.groups.len() > MOST_GROUPS {
                let message = format!(
                    "`{group}` is one group more than the {} that a scene may have",
                    MOST_GROUPS - 1
                );
                return builder.wrong(&[Where::Literal(name, group)], message, None);
            }
        }
    }
    Ok(())
}

fn bits(builder: &Builder<'_>, names: &[String], user: &str, making: &Making<'_>) -> Result<u32> {
    let mut bits = 0;
    for name in names {
        let Some(bit) = making.groups.iter().position(|g| g == name) else {
            let help = suggest::hint(name, "groups", making.groups.iter().copied());
            let places = [Where::Literal(user, name), Where::Name(user)];
            return builder.wrong(&places, format!("no collider is in the group `{name}`"), help);
        };
        bits |= 1 << bit;
    }
    Ok(bits)
}

fn with_surface(
    builder: &Builder<'_>,
    collider: Collider,
    name: &str,
    surface: &SurfaceContactSpec,
    making: &Making<'_>,
) -> Result<Collider> {
    let SurfaceContactSpec {
        material,
        margin,
        groups,
        collides_with,
    } = surface;
    let material = materials::material_named(builder, material.as_deref().unwrap_or(DEFAULT), name, making)?;
    let margin = components::not_negative(builder, margin, Where::Used(name, "margin"))?;
    let membership = if groups.is_empty() {
        1
    } else {
        bits(builder, groups, name, making)?
    };
    let filter = match collides_with {
        None => u32::MAX,
        Some(names) => bits(builder, names, name, making)?,
    };
    let groups = CollisionGroups { membership, filter };
    Ok(collider
        .with_material(material)
        .with_margin(margin)
        .with_groups(groups))
}

fn colliders(builder: &mut Builder<'_>, spec: &ColliderSpec, name: &str) -> Result<Vec<Collider>> {
    Ok(match spec {
        ColliderSpec::Bodies(spec) => bodies_collider(builder, spec, name)?,
        ColliderSpec::Body(spec) => {
            let (node, element) = joints::body_at(builder, name, "body", &spec.body.0, &spec.body.1)?;
            let pose = nodes::frame_pose(builder, name, spec.position.as_ref(), spec.rotation.as_ref())?;
            let outline = outlines::outline(builder, name, &spec.shape)?;
            let shape = collision_shape(builder, name, &outline)?;
            draw(builder, name, Some((node, element)), pose, &outline)?;
            vec![Collider::new(
                name,
                shape,
                Placement::Body { node, element, pose },
            )]
        }
        ColliderSpec::Fixed(spec) => {
            let pose = nodes::frame_pose(builder, name, spec.position.as_ref(), spec.rotation.as_ref())?;
            let pose = builder.put_pose(name, pose);
            let outline = outlines::outline(builder, name, &spec.shape)?;
            let shape = collision_shape(builder, name, &outline)?;
            draw(builder, name, None, pose, &outline)?;
            vec![Collider::new(name, shape, Placement::Fixed(pose))]
        }
        ColliderSpec::Points(spec) => vec![soft::points_collider(builder, spec, name)?],
        ColliderSpec::Cable(spec) => vec![soft::cable_collider(builder, spec, name)?],
        ColliderSpec::Cloth(spec) => vec![soft::cloth_collider(builder, spec, name)?],
    })
}

fn bodies_collider(
    builder: &mut Builder<'_>,
    spec: &BodiesColliderSpec,
    name: &str,
) -> Result<Vec<Collider>> {
    let node = builder.node(&spec.node, name, "node")?;
    let entry = builder.model.node(node);
    if entry.space != Space::Rigid3 {
        let message = format!("`{}` has {}, not bodies", spec.node, entry.space);
        let help = "colliders of points are `Points`, `Cable` and `Cloth`".to_owned();
        let places = [Where::Used(name, "node"), Where::Name(name)];
        return builder.wrong(&places, message, Some(help));
    }
    let elements = match &spec.elements {
        None => (0..entry.count).collect(),
        Some(elements) => selections::of_node(builder, elements, node, Where::Used(name, "elements"))?,
    };
    let count = builder.model.node(node).count;
    let given = spec
        .shape
        .as_ref()
        .map(|shape| outlines::outline(builder, name, shape));
    let given = given.transpose()?;
    if let Some(outline) = &given {
        // Each body has a shape of its own.
        let entries = outline.entries().saturating_mul(elements.len());
        count_entries(builder, Where::Used(name, "shape"), entries)?;
    }
    let mut list = Vec::new();
    for element in elements {
        let shape = match &given {
            Some(outline) => {
                draw(builder, name, Some((node, element)), Pose::default(), outline)?;
                collision_shape(builder, name, outline)?
            }
            None => {
                let outline = builder.outlines.get(&(node, element)).unwrap_or(&Outline::None);
                collision_shape(builder, name, outline)?
            }
        };
        let own = if count == 1 {
            name.to_owned()
        } else {
            format!("{name} {element}")
        };
        let pose = Pose::default();
        list.push(Collider::new(
            &own,
            shape,
            Placement::Body { node, element, pose },
        ));
    }
    Ok(list)
}

fn collision_shape(builder: &Builder<'_>, name: &str, outline: &Outline) -> Result<Shape> {
    match outline.shape() {
        Some(made) => made.map_err(|error| builder.contact_error(name, "shape", &error)),
        None => {
            let what = match outline {
                Outline::Ellipsoid => "is an ellipsoid, which does not collide",
                _ => "has no shape that could collide",
            };
            let help = "give it a collider of its own: `Body(name: .., body: (\"node\", 0), shape: ..)`";
            let places = [Where::Used(name, "node"), Where::Name(name)];
            builder.wrong(&places, format!("a body of `{name}` {what}"), Some(help.into()))
        }
    }
}

/// Draws a shape that is no body's.
fn draw(
    builder: &mut Builder<'_>,
    name: &str,
    carrier: Option<(NodeId, usize)>,
    pose: Pose,
    outline: &Outline,
) -> Result<()> {
    let (pose, shape) = match outline {
        Outline::Compound(parts) => {
            for (inner, part) in parts {
                let arm = rotation::rotate(pose.rotation, inner.position.into());
                let place = Pose {
                    position: (Vec3::from(pose.position) + arm).into(),
                    rotation: rotation::multiply(pose.rotation, inner.rotation),
                };
                draw(builder, name, carrier, place, part)?;
            }
            return Ok(());
        }
        Outline::Plane { normal } => plate(builder, pose, *normal)?,
        outline => (pose, outline.picture()),
    };
    builder.picture.colliders.push(DrawnCollider {
        name: name.to_owned(),
        carrier,
        pose,
        shape,
    });
    Ok(())
}

/// A plate for a plane, below what there is at the start.
fn plate(builder: &mut Builder<'_>, pose: Pose, normal: [f64; 3]) -> Result<(Pose, Drawn)> {
    let state = builder
        .model
        .initial_state()
        .map_err(|e| builder.model_error(e))?;
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for node in builder.model.nodes() {
        let stride = match node.space {
            Space::Rigid3 => 7,
            Space::Real(3) => 3,
            _ => continue,
        };
        for x in state.positions[node.position_range()].chunks_exact(stride) {
            let x = Vec3::new(x[0], x[1], x[2]);
            (low, high) = (low.inf(&x), high.sup(&x));
        }
    }
    let reach = builder.picture.bodies.iter().map(|(.., shape)| match shape {
        Drawn::Box { half } => Vec3::from(*half).norm(),
        Drawn::Sphere { radius } => *radius,
        Drawn::Axes { size } => *size,
        Drawn::Mesh(surface) => Vec3::from(surface.reach()).norm(),
    });
    let reach = reach.fold(0.0, f64::max);
    let normal = rotation::rotate(pose.rotation, Vec3::from(normal));
    let normal = normal / normal.amax();
    let normal = normal / normal.norm();
    let origin = Vec3::from(pose.position);
    let (middle, extent) = if low.x <= high.x {
        (0.5 * (low + high), (high - low).norm())
    } else {
        (origin, 0.0)
    };
    let half = 0.6 * extent + 2.0 * reach;
    let half = if half > 0.0 && half.is_finite() { half } else { 1.0 };
    let thick = 0.01 * half;
    let centre = middle - normal * (normal.dot(&(middle - origin)) + thick);
    let turn = shortest_turn(normal);
    let place = Pose {
        position: centre.into(),
        rotation: turn,
    };
    Ok((
        place,
        Drawn::Box {
            half: [half, half, thick],
        },
    ))
}

fn ignored(builder: &Builder<'_>, scene: &Scene, making: &mut Making<'_>) -> Result<()> {
    let mut pairs = Vec::new();
    let most = builder.limits.elements;
    let patterns = Cell::new(0usize);
    for (first, second) in &scene.ignore {
        let [a, b] = [first, second].map(|name| {
            if let Some(ids) = making.named.get(name.as_str()) {
                return Ok(ids.clone());
            }
            if let Some(id) = making.world.collider_named(name) {
                return Ok(vec![id]);
            }
            if name.contains('*') {
                patterns.set(patterns.get().saturating_add(making.named.len()));
                if patterns.get() > most.saturating_mul(TESTS_PER_ELEMENT) {
                    let message = format!("patterns such as `{name}` are compared with too many names");
                    return builder.wrong(&[Where::Literal("", name), Where::Key("ignore")], message, None);
                }
                let meant = making
                    .named
                    .iter()
                    .filter(|(own, _)| selections::matches(name, own));
                let meant: Vec<ColliderId> = meant.flat_map(|(_, ids)| ids).copied().collect();
                if !meant.is_empty() {
                    return Ok(meant);
                }
            }
            let known = making.named.keys().copied();
            let help = suggest::hint(name, "colliders", known);
            builder.wrong(
                &[Where::Literal("", name)],
                format!("unknown collider `{name}`"),
                help,
            )
        });
        let (a, b) = (a?, b?);
        let all = a.len().saturating_mul(b.len()).saturating_add(pairs.len());
        if all > most {
            let message = format!(
                "with those of `{first}` and `{second}`, `ignore` has {all} pairs, more than the limit of {most}"
            );
            let help = "`groups` and `collides_with` keep many colliders apart".to_owned();
            return builder.wrong(
                &[Where::Literal("", first), Where::Key("ignore")],
                message,
                Some(help),
            );
        }
        pairs.extend(a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))));
    }
    // What a joint holds together overlaps there as a rule, and so do the parts of rods.
    making.world.exclude_joined(&builder.model);
    let mut on: BTreeMap<(NodeId, usize), Vec<ColliderId>> = BTreeMap::new();
    for id in making.named.values().flatten() {
        if let Placement::Body { node, element, .. } = making.world.colliders()[id.index()].placement {
            on.entry((node, element)).or_default().push(*id);
        }
    }
    for [a, b] in &builder.joined {
        if let (Some(a), Some(b)) = (on.get(a), on.get(b)) {
            pairs.extend(a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))));
        }
    }
    for (a, b) in pairs {
        let excluded = making.world.exclude(a, b);
        excluded.map_err(|e| builder.contact_error("", "ignore", &e))?;
    }
    tied::untangle(builder, making, &on)
}

pub(super) fn sleeping(builder: &Builder<'_>, spec: &SleepingSpec) -> Result<Sleeping> {
    let number = |given: Option<&Amount>, default: f64, key| match given {
        None => Ok(default),
        Some(number) => components::not_negative(builder, number, Where::Key(key)),
    };
    let default = Sleeping::default();
    Ok(Sleeping {
        speed: number(spec.speed.as_deref(), default.speed, "speed")?,
        spin: number(spec.spin.as_deref(), default.spin, "spin")?,
        time: number(spec.time.as_deref(), default.time, "time")?,
    })
}

pub(super) fn overlap(builder: &Builder<'_>, spec: &OverlapSpec) -> Result<Overlap> {
    let number = |given: Option<&Amount>, default: f64, key, zero: bool| match given {
        None => Ok(default),
        Some(number) if zero => components::not_negative(builder, number, Where::Key(key)),
        Some(number) => builder.positive(number, Where::Key(key)),
    };
    let Overlap::Correct { allowed, speed } = ContactOptions::default().overlap else {
        return Ok(ContactOptions::default().overlap);
    };
    Ok(match spec {
        OverlapSpec::Keep => Overlap::Keep,
        OverlapSpec::Correct(spec) => Overlap::Correct {
            allowed: number(spec.allowed.as_deref(), allowed, "allowed", true)?,
            speed: number(spec.speed.as_deref(), speed, "speed", false)?,
        },
        OverlapSpec::Rows(spec) => Overlap::Rows {
            rate: builder.positive(&spec.rate, Where::Key("rate"))?,
            speed: number(spec.speed.as_deref(), speed, "speed", false)?,
        },
    })
}
