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
//!
//! **Two meshes.** The layers of both are in series, `f = f_a + f_b`, and the depth of a point of
//! either in the other is what both give way by there. So the sum over the points of each is the
//! same integral by itself, and of the two sums the contact takes the mean with the shares
//! `w_a + w_b = 1`. Their errors go with the squares of edges, as the mean areas `s` of triangles
//! do: `w_a = s_b^2/(s_a^2 + s_b^2)` makes the least of both where they are independent. It is a
//! half for meshes that are equally fine, next to all of the finer one for others, the same
//! whichever comes first, and does not change with the motion, so that what columns store is taken
//! out again.

mod inside;
mod patch;

pub(super) use patch::sheet_patch;

use super::World;
use super::found::{Found, Pair, Weights};
use super::may_meet;
use super::pieces::Form;
use crate::narrow::{Part, Touch, collide};
use crate::shape::Kind;
use crate::shape::mesh::{Element, Mesh, Sides};
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
    /// Columns of each piece; empty without a foundation.
    columns: Vec<Columns>,
}

/// The columns of a piece, and what it is for those of others.
#[derive(Clone, Debug, Default)]
struct Columns {
    /// Areas of its points (m^2); empty if it has none.
    areas: Vec<f64>,
    /// The mean area of its triangles (m^2).
    cell: f64,
    /// The middle one of its three extents along the axes (m).
    width: f64,
    /// 1 if its triangles have matter behind them, -1 if before them, 0 if it has no inside.
    outward: f64,
}

impl Foundations {
    /// Colliders or materials have changed.
    pub(super) fn forget(&mut self) {
        self.ready = false;
    }

    /// The area of a point of a piece (m^2); zero if it has none.
    fn area(&self, piece: usize, point: u32) -> f64 {
        let areas = self.columns.get(piece).map_or(&[][..], |c| &c.areas);
        areas.get(point as usize).copied().unwrap_or(0.0)
    }

    /// The side of the triangles of a piece on which matter is not; 0 if it has no inside.
    fn outward(&self, piece: usize) -> f64 {
        self.columns.get(piece).map_or(0.0, |c| c.outward)
    }

    /// The share of its area with which a point of a mesh presses on another mesh.
    fn share(&self, own: usize, other: usize) -> f64 {
        match (self.columns.get(own), self.columns.get(other)) {
            (_, Some(other)) if other.outward == 0.0 => 0.0,
            (Some(own), _) if own.outward == 0.0 => 1.0,
            (Some(own), Some(other)) => 1.0 / (1.0 + (own.cell / other.cell).powi(2)),
            _ => 0.0,
        }
    }
}

/// The way in which a collider takes part in a contact with a foundation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Triangles, whose points have areas, and whether they have an inside.
    Patch { inside: bool },
    /// A half space or convex parts.
    Firm,
    /// A distance field.
    Field,
    /// Points, segments, or meshes and fields beside other parts.
    Neither,
}

fn role(kind: &Kind) -> Role {
    match kind {
        Kind::Mesh(mesh) | Kind::Soft(mesh) if mesh.element_count() == mesh.triangles.len() => Role::Patch {
            inside: has_inside(mesh),
        },
        Kind::HalfSpace(_) | Kind::Convex { .. } | Kind::Cylinder { .. } => Role::Firm,
        Kind::Compound(parts) if parts.iter().all(|(_, kind)| role(kind) == Role::Firm) => Role::Firm,
        Kind::Field(_) => Role::Field,
        _ => Role::Neither,
    }
}

/// Whether there is matter on one side of the triangles: of rigid ones it is said, soft ones are
/// closed or have none.
fn has_inside(mesh: &Mesh) -> bool {
    mesh.sides != Sides::Two || mesh.points.is_empty() && mesh.is_closed()
}

impl Columns {
    /// The columns of a mesh whose points are at these places.
    fn of(mesh: &Mesh, place: impl Fn(usize) -> Vec3) -> Self {
        let areas = areas(mesh, &place);
        let outward = match (has_inside(mesh), mesh.sides) {
            (false, _) => 0.0,
            (true, Sides::Two) if mesh.volume(&place) < 0.0 => -1.0,
            (true, _) => 1.0,
        };
        Self {
            cell: areas.iter().sum::<f64>() / mesh.triangles.len().max(1) as f64,
            width: width(mesh, &place),
            areas,
            outward,
        }
    }
}

/// A third of the areas of the triangles at each point (m^2).
fn areas(mesh: &Mesh, place: impl Fn(usize) -> Vec3) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.point_count.max(mesh.points.len())];
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|p| place(p as usize));
        let third = (b - a).cross(&(c - a)).norm() / 6.0;
        t.iter().for_each(|p| areas[*p as usize] += third);
    }
    areas
}

/// The middle one of the extents of the triangles of a mesh along the axes (m).
fn width(mesh: &Mesh, place: impl Fn(usize) -> Vec3) -> f64 {
    let (mut least, mut most) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for p in mesh.triangles.iter().flatten() {
        let x = place(*p as usize);
        (least, most) = (least.inf(&x), most.sup(&x));
    }
    let mut extents: [f64; 3] = (most - least).into();
    extents.sort_by(f64::total_cmp);
    extents[1]
}

/// The place of a point of a node of points of space.
fn point_of(model: &Model, state: &State, node: NodeId, point: usize) -> Vec3 {
    let x = model.positions(state, node);
    x.get(3 * point..3 * point + 3)
        .map_or(Vec3::zeros(), |x| Vec3::new(x[0], x[1], x[2]))
}

/// Refuses pairs with a foundation that have none to press with, and finds the columns of the
/// others; once for the same colliders and materials.
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
    let columns = match any {
        true => columns_of_pieces(world, model, |id| presses[id.index()])?,
        false => Vec::new(),
    };
    world.foundations = Foundations {
        ready: true,
        any,
        columns,
    };
    Ok(())
}

/// Whether of two meshes that press on each other the finer one has points that are at most half as
/// far apart as the narrower one is wide.
///
/// # Errors
/// [`ContactError::CoarseFoundation`], and those of [`prepare`].
pub(super) fn check_spacing(world: &mut World, model: &Model) -> Result<(), ContactError> {
    prepare(world, model)?;
    let columns = &world.foundations.columns;
    let pieces = || {
        world
            .pieces
            .list
            .iter()
            .zip(columns)
            .filter(|(_, c)| c.cell > 0.0)
    };
    for (a, of_a) in pieces() {
        for (b, of_b) in pieces().filter(|(b, _)| b.collider.index() > a.collider.index()) {
            let pair = [a.collider, b.collider];
            let presses = may_meet(&world.colliders, &world.excluded, pair)
                && world.pair_material(pair[0], pair[1]).foundation > 0.0;
            // Two triangles make a square of the distance between points.
            let spacing = (2.0 * of_a.cell.min(of_b.cell)).sqrt();
            let width = of_a.width.min(of_b.width);
            if presses && spacing > 0.5 * width {
                return Err(ContactError::CoarseFoundation {
                    between: pair.map(|id| world.colliders[id.index()].name.clone()),
                    spacing,
                    width,
                });
            }
        }
    }
    Ok(())
}

/// The colliders that have columns, or are meshes on which columns press; none without a
/// foundation.
///
/// # Errors
/// [`ContactError::Foundation`].
pub(super) fn pressing(world: &World) -> Result<Vec<bool>, ContactError> {
    let mut presses = Vec::new();
    if !world.materials.have_foundations() {
        return Ok(presses);
    }
    presses.resize(world.colliders.len(), false);
    let roles: Vec<Role> = world.colliders.iter().map(|c| role(&c.shape.kind)).collect();
    let ids = || (0..world.colliders.len() as u32).map(ColliderId);
    for [a, b] in ids().flat_map(|a| ids().skip(a.index()).map(move |b| [a, b])) {
        let meet = match a == b {
            true => world.colliders[a.index()].self_contact.is_some(),
            false => may_meet(&world.colliders, &world.excluded, [a, b]),
        };
        if meet && world.pair_material(a, b).foundation > 0.0 {
            check(world, &roles, [a, b])?;
            [a, b].iter().for_each(|id| presses[id.index()] = true);
        }
    }
    Ok(presses)
}

/// Whether the columns of one of a pair have something to press on.
fn check(world: &World, roles: &[Role], pair: [ColliderId; 2]) -> Result<(), ContactError> {
    let reason = match pair.map(|id| roles[id.index()]) {
        [Role::Patch { .. }, Role::Patch { .. }] if pair[0] == pair[1] => "a mesh does not press on itself",
        [Role::Patch { inside: false }, Role::Patch { inside: false }] => {
            "neither of the two meshes has an inside: one must be closed, or a height field"
        }
        [Role::Patch { .. }, Role::Patch { .. } | Role::Firm | Role::Field]
        | [Role::Firm | Role::Field, Role::Patch { .. }] => return Ok(()),
        [Role::Firm | Role::Field, Role::Firm | Role::Field] => {
            "neither of them is a mesh of triangles, whose points have areas"
        }
        _ => "points, segments and compounds with meshes or distance fields have no areas",
    };
    Err(ContactError::Foundation {
        between: pair.map(|id| world.colliders[id.index()].name.clone()),
        reason,
    })
}

/// The columns of the pieces of some colliders, at the places where the model begins; none of
/// pieces of others, and without triangles.
///
/// # Errors
/// [`ContactError::State`] where the model has no places to begin with.
fn columns_of_pieces(
    world: &World,
    model: &Model,
    of: impl Fn(ColliderId) -> bool,
) -> Result<Vec<Columns>, ContactError> {
    let mut state = None;
    let mut out = vec![Columns::default(); world.pieces.list.len()];
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
                    Some(state) => Columns::of(mesh, |p| point_of(model, state, node, p)),
                    None => Columns::default(),
                }
            }
            _ => Columns::of(mesh, |p| mesh.points[p]),
        };
    }
    Ok(out)
}

/// Whether a pair of pieces presses by columns.
pub(super) fn has_columns(world: &World, pair: Pair) -> bool {
    if world.foundations.ready && !world.foundations.any {
        return false;
    }
    let [a, b] = [pair.i, pair.j].map(|k| world.pieces.list[k].collider);
    world.pair_material(a, b).foundation > 0.0
}

/// A point of a sheet that touches something.
#[derive(Clone, Copy)]
pub(super) struct ColumnTouch {
    pub(super) touch: Touch,
    pub(super) point: u32,
    /// Whether the sheet is the first side.
    pub(super) flipped: bool,
    /// The share of its area with which it presses (none).
    pub(super) share: f64,
    /// Where it presses on a soft sheet.
    pub(super) on: Option<Weights>,
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
    let column = ColumnTouch {
        touch,
        point,
        flipped,
        share: 1.0,
        on: None,
    };
    match columns {
        true => push_column(world, pair, column, found),
        false => {
            push_touch(world, pair, column, found);
        }
    }
}

/// Adds the contact of a column, if it can close within the horizon.
pub(super) fn push_column(world: &World, pair: Pair, column: ColumnTouch, found: &mut Vec<Found>) {
    let sheet = if column.flipped { pair.i } else { pair.j };
    let area = column.share * world.foundations.area(sheet, column.point);
    if area > 0.0
        && let Some(new) = push_touch(world, pair, column, found)
    {
        new.area = area;
    }
}

/// The place of a point of a sheet.
fn at_point(point: u32) -> Weights {
    Weights {
        count: 1,
        points: [point, 0, 0],
        weights: [1.0, 0.0, 0.0],
    }
}

/// Adds the contact of a point, if it can close within the horizon, and returns it.
fn push_touch<'a>(
    world: &World,
    pair: Pair,
    column: ColumnTouch,
    found: &'a mut Vec<Found>,
) -> Option<&'a mut Found> {
    let ColumnTouch { touch, point, on, .. } = column;
    let one = Some(at_point(point));
    let weights = if column.flipped { [one, on] } else { [on, one] };
    let other = if column.flipped { pair.j } else { pair.i };
    // Points of both sides have the same numbers.
    let side = u64::from(column.flipped && world.pieces.list[other].mesh().is_some());
    let before = found.len();
    world.push(pair, touch, [u64::from(point), side], weights, found);
    found.get_mut(before)
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
        let [of_solid, of_sheet] = [solid, sheet].map(|k| world.pieces.rigid_speed(k));
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
    let (Role::Patch { .. }, Kind::Mesh(mesh) | Kind::Soft(mesh)) = (role(&of.shape.kind), &of.shape.kind)
    else {
        return Ok(None);
    };
    of.check_in(model)?;
    let mut all = columns_of_pieces(world, model, |id| id == collider)?;
    all.retain(|columns| !columns.areas.is_empty());
    Ok(Some(ContactArea {
        mesh: Arc::clone(mesh),
        placement: of.placement,
        areas: all.pop().unwrap_or_default().areas,
    }))
}
