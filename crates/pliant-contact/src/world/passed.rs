//! Pieces that go through each other behind the places where they meet first: a rod whose tip is
//! stopped by a wall turns, and its other end follows within the same step. They are followed on
//! their way, turning included, to where they are in each other by more than they may be.

use pliant_dense::{Mat3, rotation};

use super::World;
use super::cast::{self, Course};
use super::found::{Pair, push};
use super::pieces::Form;
use super::solid_sheet::{ElementAt, core};
use crate::ContactError;
use crate::narrow::Touch;

/// Lists, of these pairs, the places where pieces come to be in each other by more than `share`
/// of half the thickness of the thinner one, on their way over the horizon; the pieces are at
/// its start. What is listed already is left out.
///
/// # Errors
/// [`ContactError::TooManyTests`].
pub(super) fn keep_passed(
    world: &mut World,
    pairs: &[(u32, u32)],
    horizon: f64,
    share: f64,
) -> Result<(), ContactError> {
    world.work.found.clear();
    for &(i, j) in pairs {
        let (i, j) = (i as usize, j as usize);
        let pair = Pair::of(&world.pieces, i, j, horizon);
        let allowed = share * world.pieces.thickness(i, j);
        let [a, b] = [i, j].map(|k| &world.pieces.list[k].form);
        match (a, b) {
            (Form::Convex { .. }, Form::Convex { .. }) => convex_passed(world, pair, allowed),
            (Form::Convex { .. }, Form::Sheet(_)) => sheet_passed(world, pair, allowed, false),
            (Form::Sheet(_), Form::Convex { .. }) => sheet_passed(world, pair, allowed, true),
            _ => {}
        }
        if !world.work.tests.add(1) {
            let pair = [i, j].map(|k| world.pieces.list[k].collider);
            return Err(world.too_many_tests(pair));
        }
    }
    let mut found = std::mem::take(&mut world.work.found);
    found.retain(|f| !world.is_listed(f));
    world.work.found = found;
    world.list_found();
    Ok(())
}

fn convex_passed(world: &mut World, pair: Pair, allowed: f64) {
    let (Some(a), Some(b)) = (world.pieces.part(pair.i), world.pieces.part(pair.j)) else {
        return;
    };
    let narrow = &mut world.work.narrow;
    narrow.touches.clear();
    let courses = [pair.i, pair.j].map(|k| Course::Rigid(&world.pieces.placed[k]));
    if cast::too_deep(&a, &b, courses, pair, allowed, narrow).is_some() {
        world.keep_swept(pair);
    }
}

/// A convex piece and the elements of a sheet that is piece `i` of the pair if `flipped`. Of the
/// elements that it goes through those count that it goes through first.
fn sheet_passed(world: &mut World, pair: Pair, allowed: f64, flipped: bool) {
    let (solid, sheet) = if flipped {
        (pair.j, pair.i)
    } else {
        (pair.i, pair.j)
    };
    let (Some(part), Some(surface)) = (world.pieces.part(solid), world.pieces.surface(sheet)) else {
        return;
    };
    let (boxes, tree) = world.pieces.elements(sheet);
    let soft = world.pieces.is_soft(sheet);
    let narrow = &mut world.work.narrow;
    narrow.near.clear();
    let near = &mut narrow.near;
    tree.query(
        boxes,
        &world.pieces.placed[solid].swept,
        &mut world.work.stack,
        |element| near.push(element as u32),
    );
    near.sort_unstable();
    if !world.work.tests.add(near.len()) {
        return;
    }
    narrow.swept.clear();
    for n in 0..narrow.near.len() {
        let element = narrow.near[n] as usize;
        if (world.tied).ignores(&world.pieces, sheet, solid, surface.mesh.corners(element)) {
            continue;
        }
        let at = ElementAt::new(&world.pieces, &surface, sheet, element);
        let piece = at.part(&world.pieces, &surface, element);
        let [of_solid, of_sheet] = [
            Course::Rigid(&world.pieces.placed[solid]),
            at.course(&world.pieces, sheet),
        ];
        let (a, b, courses) = match flipped {
            true => (&piece, &part, [of_sheet, of_solid]),
            false => (&part, &piece, [of_solid, of_sheet]),
        };
        narrow.touches.clear();
        let Some(time) = cast::too_deep(a, b, courses, pair, allowed, narrow) else {
            continue;
        };
        // The neighbours of the element have a say in the normal, as they stand to it then.
        let back = rotation::matrix(rotation::exp(-world.pieces.placed[sheet].motion.spin * time));
        let turn: Mat3 = back * if flipped { 1.0 } else { -1.0 };
        let ahead = world.pieces.surface_ahead(sheet, time).filter(|_| soft);
        let then = ahead.unwrap_or(surface);
        let permitted = narrow.touches.iter();
        let permitted = permitted.filter(|t| then.permits_from(element, turn * t.normal));
        let swept = permitted.map(|t| (time, *t, [element as u64, t.feature]));
        narrow.swept.extend(swept);
    }
    let first = narrow.swept.iter().map(|s| s.0).fold(f64::INFINITY, f64::min);
    let last = first * (1.0 + 1e-6) + 1e-9 * pair.horizon;
    narrow.swept.retain(|s| s.0 <= last);
    let mut found = std::mem::take(&mut world.work.found);
    let swept: &[(f64, Touch, [u64; 2])] = &world.work.narrow.swept;
    for (_, touch, feature) in swept {
        let element = feature[0] as usize;
        let at = ElementAt::new(&world.pieces, &surface, sheet, element);
        let mut sides = [None, None];
        if soft {
            let core = core(touch, flipped, surface.mesh.radius);
            sides[usize::from(!flipped)] = Some(at.weights(core, &surface, element));
        }
        push(
            &world.pieces,
            &world.colliders,
            pair,
            *touch,
            *feature,
            sides,
            true,
            &mut found,
        );
    }
    world.work.found = found;
}
