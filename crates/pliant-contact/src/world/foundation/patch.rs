//! Points of meshes as columns on other meshes.

use pliant_dense::Vec3;

use super::inside::{Foot, Inside};
use super::{ColumnTouch, push_column};
use crate::bvh::Aabb;
use crate::narrow::Touch;
use crate::shape::mesh::Sides;
use crate::world::World;
use crate::world::found::{Found, Pair};

/// A mesh with columns, and the one on which they press.
#[derive(Clone, Copy)]
struct Columns {
    own: usize,
    other: usize,
    /// Whether the one with columns is the first of the pair.
    flipped: bool,
    share: f64,
}

/// The points of either of two meshes, each as a column on the other one if that has an inside.
pub(in crate::world) fn sheet_patch(world: &mut World, pair: Pair) {
    for flipped in [true, false] {
        let [own, other] = match flipped {
            true => [pair.i, pair.j],
            false => [pair.j, pair.i],
        };
        let columns = Columns {
            own,
            other,
            flipped,
            share: world.foundations.share(own, other),
        };
        if columns.share > 0.0 {
            press(world, pair, columns);
        }
    }
}

/// The points of one mesh as columns on the other one.
fn press(world: &mut World, pair: Pair, columns: Columns) {
    let Columns { own, other, .. } = columns;
    let mut near = std::mem::take(&mut world.work.narrow.near);
    let mut stack = std::mem::take(&mut world.work.stack);
    let mut found = std::mem::take(&mut world.work.found);
    near.clear();
    if let (Some(surface), Some(on)) = (world.pieces.surface(own), world.pieces.surface(other)) {
        let (boxes, tree) = world.pieces.elements(own);
        tree.query(boxes, &reach(world, columns), &mut stack, |element| {
            near.extend_from_slice(surface.mesh.corners(element));
        });
        near.sort_unstable();
        near.dedup();
        if !world.work.tests.add(near.len()) {
            near.clear();
        }
        let (boxes, tree) = world.pieces.elements(other);
        let inside = Inside {
            surface: on,
            boxes,
            tree,
            outward: world.foundations.outward(other),
        };
        let thickness = surface.mesh.radius + on.mesh.radius;
        let (soft, speed) = (world.pieces.is_soft(own), fastest(world, other));
        for &p in &near {
            let own_speed = match soft {
                true => world.pieces.soft_velocity(own, p).norm(),
                false => world.pieces.rigid_speed(own),
            };
            let limit = pair.margin + pair.horizon * (speed + own_speed);
            let point = surface.point(p);
            let foot = inside.foot(point, &mut stack);
            if let Some(foot) = foot.filter(|f| f.distance - thickness <= limit) {
                let radii = [surface.mesh.radius, on.mesh.radius];
                add(world, pair, columns, (p, point, radii), foot, &mut found);
            }
        }
    }
    world.work.narrow.near = near;
    world.work.stack = stack;
    world.work.found = found;
}

/// A box about all places where columns may be in the other mesh, or near it.
fn reach(world: &World, columns: Columns) -> Aabb {
    let [own, other] = [columns.own, columns.other].map(|k| &world.pieces.placed[k]);
    let one_sided = |mesh: &crate::shape::mesh::Mesh| mesh.sides == Sides::One;
    match world.pieces.list[columns.other].mesh() {
        // Below the ground it is ground, however deep.
        Some(mesh) if one_sided(mesh) => {
            let (_, turn) = world.pieces.frame(columns.other);
            let deep = (own.swept.high - own.swept.low).norm();
            other.swept.swept(-turn.column(2) * deep)
        }
        _ => other.swept,
    }
}

/// A bound of the speed of all points of a sheet (m/s).
fn fastest(world: &World, sheet: usize) -> f64 {
    let pieces = &world.pieces;
    match pieces.list[sheet].mesh() {
        Some(mesh) if pieces.is_soft(sheet) => (0..mesh.point_count as u32)
            .map(|p| pieces.soft_velocity(sheet, p).norm())
            .fold(0.0, f64::max),
        _ => pieces.rigid_speed(sheet),
    }
}

/// Adds the contact of a point of the mesh with columns, given with both radii, if it can close.
fn add(
    world: &World,
    pair: Pair,
    columns: Columns,
    (p, point, radii): (u32, Vec3, [f64; 2]),
    foot: Foot,
    found: &mut Vec<Found>,
) {
    let [own, other] = radii;
    let (on_own, on_other) = (point - foot.normal * own, foot.place + foot.normal * other);
    let (a, b, normal) = match columns.flipped {
        true => (on_own, on_other, -foot.normal),
        false => (on_other, on_own, foot.normal),
    };
    let touch = Touch {
        a,
        b,
        normal,
        gap: foot.distance - own - other,
        feature: 0,
        doubtful: false,
    };
    let on = world.pieces.is_soft(columns.other).then_some(foot.weights);
    if let Some(on) = &on {
        let one = super::at_point(p);
        let sheets = [columns.own, columns.other];
        if world.tied.ignore_each_other(&world.pieces, sheets, &[one, *on]) {
            return;
        }
    } else if world
        .tied
        .ignores(&world.pieces, columns.own, columns.other, &[p])
    {
        return;
    }
    let column = ColumnTouch {
        touch,
        point: p,
        flipped: columns.flipped,
        share: columns.share,
        on,
    };
    push_column(world, pair, column, found);
}
