//! Points of meshes as columns on the surface of a field.

use super::search::Search;
use super::{FieldWorkspace, Lens, Meeting, touch_in_world};
use crate::world::World;
use crate::world::foundation::push_point;

/// The points of a sheet against a field, each as a column: its depth is the distance to the
/// nearest place of the surface of the field.
pub(super) fn press(world: &mut World, meeting: &Meeting) {
    let mut work = std::mem::take(&mut world.work.fields);
    let mut found = std::mem::take(&mut world.work.found);
    let FieldWorkspace {
        room,
        elements: points,
        stack,
        ..
    } = &mut work;
    let (sheet, pair) = (meeting.other, meeting.pair);
    points.clear();
    let pieces = &world.pieces;
    if let (Some(field), Some(surface)) = (pieces.field(meeting.field), pieces.surface(sheet)) {
        let (boxes, tree) = pieces.elements(sheet);
        let swept = &pieces.placed[meeting.field].swept;
        tree.query(boxes, swept, stack, |element| {
            points.extend_from_slice(surface.mesh.corners(element));
        });
        points.sort_unstable();
        points.dedup();
        if !world.work.tests.add(points.len()) {
            points.clear();
        }
        let (lens, soft) = (Lens::new(pieces, meeting, 0.0), pieces.is_soft(sheet));
        for &p in points.iter() {
            if world.tied.ignores(pieces, sheet, meeting.field, &[p]) {
                continue;
            }
            let own = match soft {
                true => pieces.soft_velocity(sheet, p).norm(),
                false => pieces.rigid_speed(sheet),
            };
            room.out.clear();
            let mut search = Search {
                field,
                limit: pair.margin + pair.horizon * (pieces.rigid_speed(meeting.field) + own),
                element: 0,
                room: &mut *room,
            };
            let place = lens.point(surface.point(p));
            search.point(place, surface.mesh.radius, u64::from(p), &|_| true);
            let deepest = room.out.iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
            if let Some(near) = deepest {
                let touch = touch_in_world(meeting, &lens, near);
                // The sheet is first where the field is second.
                push_point(world, pair, touch, p, [meeting.flipped, true], &mut found);
            }
        }
    }
    world.work.fields = work;
    world.work.found = found;
}
