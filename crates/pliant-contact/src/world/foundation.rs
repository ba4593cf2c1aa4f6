//! Elastic foundations: meshes that press with each of their points, as a column of the area that
//! it stands for.
//!
//! **Equation.** Winkler's foundation has the pressure `p = delta/f` (Pa) at the depth `delta` (m),
//! with `f` (m/Pa) the compliance per area of a layer, `t/E` of the thickness `t` and the modulus
//! `E` for uniaxial strain. A point with a third of the area of its triangles, `a_i` (m^2, where
//! the model begins), has the force `a_i delta/f`, the compliance `f/a_i` (m/N). Over a surface
//! whose points are `e` apart that is the integral of the pressure to the order `e^2`; it changes
//! smoothly as the patch grows, because every column begins with no force.
//!
//! All points within reach are contacts, none is left out. Their depth is the distance to the
//! nearest point of the surface of the other shape, as in the elastic foundation model of Sherman
//! et al., Simbody: multibody dynamics for biomedical research, 2011.

use super::World;
use super::found::{Found, Pair, Weights};
use super::may_meet;
use super::pieces::Form;
use crate::narrow::{Part, Touch, collide};
use crate::shape::Kind;
use crate::shape::mesh::{Element, Mesh};
use crate::{ColliderId, ContactArea, ContactError};
use pliant_dense::Vec3;
use pliant_model::{Model, NodeId, State};
use std::sync::Arc;

/// The foundations of a world.
#[derive(Clone, Debug, Default)]
pub(super) struct Foundations {
    /// Whether what follows is of the present colliders and materials.
    ready: bool,
    /// Whether a material or a pair has one.
    pub(super) any: bool,
    /// Areas of the points of each piece (m^2); empty without a foundation.
    areas: Vec<Vec<f64>>,
}

impl Foundations {
    /// Colliders or materials have changed.
    pub(super) fn forget(&mut self) {
        self.ready = false;
    }

    /// The area of a point of a piece (m^2); zero if it has none.
    fn area(&self, piece: usize, point: u32) -> f64 {
        let areas = self.areas.get(piece).map_or(&[][..], |a| a);
        areas.get(point as usize).copied().unwrap_or(0.0)
    }
}

/// The way in which a collider takes part in a contact with a foundation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Triangles, whose points have areas.
    Patch,
    /// A half space or convex parts.
    Firm,
    /// A distance field.
    Field,
    /// Points, segments, or meshes and fields beside other parts.
    Neither,
}

fn role(kind: &Kind) -> Role {
    match kind {
        Kind::Mesh(mesh) | Kind::Soft(mesh) if mesh.element_count() == mesh.triangles.len() => Role::Patch,
        Kind::HalfSpace(_) | Kind::Convex { .. } | Kind::Cylinder { .. } => Role::Firm,
        Kind::Compound(parts) if parts.iter().all(|(_, kind)| role(kind) == Role::Firm) => Role::Firm,
        Kind::Field(_) => Role::Field,
        _ => Role::Neither,
    }
}

/// A third of the areas of the triangles at each point (m^2).
pub(super) fn areas(mesh: &Mesh, place: impl Fn(usize) -> Vec3) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.point_count.max(mesh.points.len())];
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|p| place(p as usize));
        let third = (b - a).cross(&(c - a)).norm() / 6.0;
        t.iter().for_each(|p| areas[*p as usize] += third);
    }
    areas
}

/// The place of a point of a node of points of space.
pub(super) fn point_of(model: &Model, state: &State, node: NodeId, point: usize) -> Vec3 {
    let x = model.positions(state, node);
    x.get(3 * point..3 * point + 3)
        .map_or(Vec3::zeros(), |x| Vec3::new(x[0], x[1], x[2]))
}

/// Refuses pairs with a foundation that have none to press with, and finds the areas of the points
/// of the others; once for the same colliders and materials.
///
/// # Errors
/// [`ContactError::Foundation`]; [`ContactError::State`] where the model has no places to begin
/// with.
pub(super) fn prepare(world: &mut World, model: &Model) -> Result<(), ContactError> {
    if world.foundations.ready {
        return Ok(());
    }
    let any = world.materials.have_foundations();
    let presses = pressing(world)?;
    let areas = match any {
        true => areas_of_pieces(world, model, |id| presses[id.index()])?,
        false => Vec::new(),
    };
    world.foundations = Foundations {
        ready: true,
        any,
        areas,
    };
    Ok(())
}

/// The colliders that have columns; none without a foundation.
///
/// # Errors
/// [`ContactError::Foundation`].
pub(super) fn pressing(world: &World) -> Result<Vec<bool>, ContactError> {
    let mut presses = Vec::new();
    if !world.materials.have_foundations() {
        return Ok(presses);
    }
    presses.resize(world.colliders.len(), false);
    let ids = || (0..world.colliders.len() as u32).map(ColliderId);
    for [a, b] in ids().flat_map(|a| ids().skip(a.index()).map(move |b| [a, b])) {
        let meet = match a == b {
            true => world.colliders[a.index()].self_contact.is_some(),
            false => may_meet(&world.colliders, &world.excluded, [a, b]),
        };
        if meet && world.pair_material(a, b).foundation > 0.0 {
            presses[check(world, [a, b])?.index()] = true;
        }
    }
    Ok(presses)
}

/// The collider of a pair that has the columns.
fn check(world: &World, pair: [ColliderId; 2]) -> Result<ColliderId, ContactError> {
    let [a, b] = pair.map(|id| &world.colliders[id.index()]);
    let roles = [a, b].map(|c| role(&c.shape.kind));
    let reason = match roles {
        [Role::Patch, Role::Firm] => return Ok(pair[0]),
        [Role::Firm, Role::Patch] => return Ok(pair[1]),
        [Role::Patch, Role::Patch] => "of two meshes, columns of one have no shape to press on",
        [Role::Firm, Role::Firm] => "neither of them is a mesh of triangles, whose points have areas",
        [Role::Field, _] | [_, Role::Field] => "columns neither stand nor press on a distance field",
        _ => "points, segments and compounds with meshes or distance fields have no areas",
    };
    Err(ContactError::Foundation {
        between: [a.name.clone(), b.name.clone()],
        reason,
    })
}

/// The areas of the points of the pieces of some colliders (m^2), at the places where the model
/// begins; empty for pieces of others, and without triangles.
///
/// # Errors
/// [`ContactError::State`] where the model has no places to begin with.
pub(super) fn areas_of_pieces(
    world: &World,
    model: &Model,
    of: impl Fn(ColliderId) -> bool,
) -> Result<Vec<Vec<f64>>, ContactError> {
    let mut state = None;
    let mut out = vec![Vec::new(); world.pieces.list.len()];
    for (piece, own) in world.pieces.list.iter().zip(&mut out) {
        let (Form::Sheet(mesh), true) = (&piece.form, of(piece.collider)) else {
            continue;
        };
        let collider = &world.colliders[piece.collider.index()];
        *own = match collider.placement {
            crate::Placement::Points(node) => {
                if state.is_none() {
                    let name = || collider.name.clone();
                    let wrong = |_| ContactError::State {
                        name: name(),
                        what: "positions",
                    };
                    state = Some(model.initial_state().map_err(wrong)?);
                }
                match &state {
                    Some(state) => areas(mesh, |p| point_of(model, state, node, p)),
                    None => Vec::new(),
                }
            }
            _ => areas(mesh, |p| mesh.points[p]),
        };
    }
    Ok(out)
}

/// Whether a pair of pieces presses by columns.
pub(super) fn has_columns(world: &World, pair: Pair) -> bool {
    if !world.foundations.any {
        return false;
    }
    let [a, b] = [pair.i, pair.j].map(|k| world.pieces.list[k].collider);
    world.pair_material(a, b).foundation > 0.0
}

/// Adds the contact of a point of a sheet, if it can close within the horizon, with the area that
/// it stands for if it is one of `columns`; `flipped` if the sheet is the first side.
pub(super) fn push_point(
    world: &World,
    pair: Pair,
    touch: Touch,
    point: u32,
    [flipped, columns]: [bool; 2],
    found: &mut Vec<Found>,
) {
    let sheet = if flipped { pair.i } else { pair.j };
    let area = match columns {
        true => world.foundations.area(sheet, point),
        false => 0.0,
    };
    if columns && area == 0.0 {
        return;
    }
    let one = Weights {
        count: 1,
        points: [point, 0, 0],
        weights: [1.0, 0.0, 0.0],
    };
    let weights = if flipped {
        [Some(one), None]
    } else {
        [None, Some(one)]
    };
    let before = found.len();
    world.push(pair, touch, [u64::from(point), 0], weights, found);
    if let Some(new) = found.get_mut(before) {
        new.area = area;
    }
}

/// The points of a sheet against a convex piece, each as a column.
pub(super) fn convex_patch(world: &mut World, pair: Pair, flipped: bool) {
    let (solid, sheet) = if flipped {
        (pair.j, pair.i)
    } else {
        (pair.i, pair.j)
    };
    let mut narrow = std::mem::take(&mut world.work.narrow);
    let mut stack = std::mem::take(&mut world.work.stack);
    let mut found = std::mem::take(&mut world.work.found);
    narrow.near.clear();
    let (boxes, tree) = world.pieces.elements(sheet);
    if let (Some(part), Some(surface)) = (world.pieces.part(solid), world.pieces.surface(sheet)) {
        let near = &mut narrow.near;
        let swept = &world.pieces.placed[solid].swept;
        tree.query(boxes, swept, &mut stack, |element| {
            near.extend_from_slice(surface.mesh.corners(element));
        });
        near.sort_unstable();
        near.dedup();
        if !world.work.tests.add(near.len()) {
            near.clear();
        }
        let soft = world.pieces.is_soft(sheet);
        let speed = |k: usize| {
            let motion = &world.pieces.placed[k].motion;
            motion.velocity.norm() + motion.spin.norm() * world.pieces.placed[k].reach
        };
        let [of_solid, of_sheet] = [solid, sheet].map(speed);
        for &p in &narrow.near {
            if world.tied.ignores(&world.pieces, sheet, solid, &[p]) {
                continue;
            }
            let own = match soft {
                true => world.pieces.soft_velocity(sheet, p).norm(),
                false => of_sheet,
            };
            let limit = pair.margin + pair.horizon * (of_solid + own);
            let places = [surface.point(p)];
            let point = Part {
                shape: world.pieces.primitive(Element::Point(0)),
                points: &places,
                normals: &[],
                radius: surface.mesh.radius,
                cylinder: None,
                of: None,
            };
            let (a, b) = if flipped { (&point, &part) } else { (&part, &point) };
            narrow.touches.clear();
            collide(a, b, limit, &mut narrow.scratch, &mut narrow.touches);
            let deepest = narrow.touches.iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
            if let Some(touch) = deepest {
                push_point(world, pair, *touch, p, [flipped, true], &mut found);
            }
        }
    }
    world.work.narrow = narrow;
    world.work.stack = stack;
    world.work.found = found;
}

/// The areas of the points of a collider whose shape is one mesh of triangles.
pub(super) fn area_of(
    world: &World,
    model: &Model,
    collider: ColliderId,
) -> Result<Option<ContactArea>, ContactError> {
    let of = &world.colliders[collider.index()];
    let (Role::Patch, Kind::Mesh(mesh) | Kind::Soft(mesh)) = (role(&of.shape.kind), &of.shape.kind) else {
        return Ok(None);
    };
    of.check_in(model)?;
    let mut all = areas_of_pieces(world, model, |id| id == collider)?;
    all.retain(|areas| !areas.is_empty());
    Ok(Some(ContactArea {
        mesh: Arc::clone(mesh),
        placement: of.placement,
        areas: all.pop().unwrap_or_default(),
    }))
}
