//! Distance fields against everything.
//!
//! Touches are found in the axes of the field ([`search`]): balls, corners and points of sheets at
//! the nearest places of its surface, edges where the field is least along them, faces at the
//! places of the surface that are lowest over them. What is fast is followed along its way: from a
//! distance `d` no touch comes before `d / c`, with a bound `c` of the speed at which points close.

mod columns;
mod parts;
mod search;

use pliant_dense::{Mat3, Vec3, rotation};

use super::World;
use super::found::{Pair, Weights, push};
use super::foundation::has_columns;
use super::pieces::{Form, Motion, Pieces};
use crate::bvh::Aabb;
use crate::narrow::reduce::reduce;
use crate::narrow::{Touch, plane::HalfSpace};
use crate::shape::mesh::{Element, Mesh};
use search::{Face, Near, Room, Search};

/// Advances before a near miss counts as an impact.
const MOST_ADVANCES: usize = 1000;

/// Buffers for this kind of pair; their contents mean nothing between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldWorkspace {
    room: Room,
    /// Elements of a sheet that are near.
    elements: Vec<u32>,
    /// Corners and normals of a part in the axes of the field.
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    stack: Vec<u32>,
}

/// A field and what may touch it.
#[derive(Clone, Copy)]
struct Meeting {
    pair: Pair,
    field: usize,
    other: usize,
    /// Whether the field is the second of the pair.
    flipped: bool,
    /// Bound of the speed at which points of the two close (m/s).
    speed: f64,
}

/// The way from where the other is now to the axes of a field, at a time from now.
#[derive(Clone, Copy)]
struct Lens {
    /// Origin of the axes of the field at that time (m), and these axes as columns.
    place: Vec3,
    turn: Mat3,
    /// Centre of mass of the other now and at that time (m), and its rotation between them; the
    /// points of a soft one stay.
    moved: [Vec3; 2],
    turned: Mat3,
}

/// Where a rigid motion leads in a time: a place, and what it turns by.
fn ahead(motion: &Motion, time: f64) -> (Vec3, Mat3) {
    let turned = if time == 0.0 {
        Mat3::identity()
    } else {
        rotation::matrix(rotation::exp(motion.spin * time))
    };
    (motion.centre + motion.velocity * time, turned)
}

impl Lens {
    fn new(pieces: &Pieces, meeting: &Meeting, time: f64) -> Self {
        let motion = &pieces.placed[meeting.field].motion;
        let (centre, turned) = ahead(motion, time);
        let (place, turn) = pieces.frame(meeting.field);
        let other = &pieces.placed[meeting.other].motion;
        let (then, other_turned) = ahead(other, time);
        Self {
            place: centre + turned * (place - motion.centre),
            turn: turned * turn,
            moved: [other.centre, then],
            turned: other_turned,
        }
    }

    /// A point of the other.
    fn point(&self, p: Vec3) -> Vec3 {
        let then = self.moved[1] + self.turned * (p - self.moved[0]);
        self.turn.tr_mul(&(then - self.place))
    }

    /// A direction of the other.
    fn direction(&self, d: Vec3) -> Vec3 {
        self.turn.tr_mul(&(self.turned * d))
    }

    /// A direction of the other, back.
    fn back(&self, d: Vec3) -> Vec3 {
        self.turned.tr_mul(&(self.turn * d))
    }

    /// A point in the axes of the field as it is in the world then.
    fn world(&self, p: Vec3) -> Vec3 {
        self.place + self.turn * p
    }
}

/// The outcome of following two pieces along their motion.
enum Course {
    Touching,
    Free,
    At(f64),
}

/// The contacts of a field and another piece.
pub(super) fn collide(world: &mut World, pair: Pair) {
    let flipped = world.pieces.field(pair.i).is_none();
    let (field, other) = if flipped {
        (pair.j, pair.i)
    } else {
        (pair.i, pair.j)
    };
    let mut meeting = Meeting {
        pair,
        field,
        other,
        flipped,
        speed: 0.0,
    };
    if has_columns(world, pair) {
        columns::press(world, &meeting);
        return;
    }
    meeting.speed = speed(&world.pieces, &meeting);
    let mut work = std::mem::take(&mut world.work.fields);
    let thin = world.pieces.thin(field).min(world.pieces.thin(other));
    let closing = meeting.speed * pair.horizon;
    let half_space = world.pieces.list[other].is_half_space();
    let course = if closing > 0.5 * thin && !half_space {
        follow(world, &meeting, thin, &mut work)
    } else {
        Course::Touching
    };
    match course {
        Course::Touching => {
            search_at(world, &meeting, 0.0, pair.margin + closing, &mut work);
            keep(world, &meeting, &work.room.out);
        }
        Course::Free => {}
        Course::At(time) => keep_impact(world, &meeting, time, &work.room.out),
    }
    world.work.fields = work;
}

/// A bound of the speed at which points of the two pieces close.
fn speed(pieces: &Pieces, meeting: &Meeting) -> f64 {
    let (p, q) = (&pieces.placed[meeting.field], &pieces.placed[meeting.other]);
    let (a, b) = (&p.motion, &q.motion);
    let turning = a.spin.norm() * p.reach + b.spin.norm() * q.reach;
    if !pieces.is_soft(meeting.other) {
        return (a.velocity - b.velocity).norm() + turning;
    }
    let mesh = pieces.list[meeting.other].mesh();
    let elements = (0..mesh.map_or(0, Mesh::element_count)).flat_map(|e| {
        let corners = mesh.map_or(&[][..], |m| m.corners(e));
        corners.iter().copied()
    });
    let against = |p: u32| (pieces.soft_velocity(meeting.other, p) - a.velocity).norm();
    elements.map(against).fold(0.0, f64::max) + turning
}

/// Follows the two to their first impact within the horizon; its places are in the room.
fn follow(world: &mut World, meeting: &Meeting, thin: f64, work: &mut FieldWorkspace) -> Course {
    let Some(field) = world.pieces.field(meeting.field) else {
        return Course::Free;
    };
    let (coarse, horizon) = (field.grid.coarse(), meeting.pair.horizon);
    let size = world.pieces.smaller(meeting.field, meeting.other);
    let near = (0.5 * meeting.pair.margin).max(1e-6 * size.min(coarse));
    let mut time = 0.0;
    for advance in 0..MOST_ADVANCES {
        let mut distance = apart(&world.pieces, meeting, time);
        if distance < 2.0 * coarse {
            search_at(world, meeting, time, coarse, work);
            let least = |d: f64, n: &Near| d.min(n.gap);
            distance = work.room.out.iter().fold(coarse, least);
            if distance <= near {
                return if advance == 0 {
                    Course::Touching
                } else {
                    Course::At(time)
                };
            }
        }
        time += (distance - near / 2.0).max(0.25 * thin) / meeting.speed;
        if time.is_nan() || time > horizon {
            return Course::Free;
        }
    }
    search_at(world, meeting, time, coarse, work);
    Course::At(time)
}

/// A bound of the distance of the two at a time from below; none for sheets.
fn apart(pieces: &Pieces, meeting: &Meeting, time: f64) -> f64 {
    let lens = Lens::new(pieces, meeting, time);
    let (centre, radius) = match &pieces.list[meeting.other].form {
        Form::Field(other) => {
            let (place, turn) = pieces.frame(meeting.other);
            let Aabb { low, high } = other.bounds;
            (place + turn * ((low + high) / 2.0), (high - low).norm() / 2.0)
        }
        _ => {
            let Some(part) = pieces.part(meeting.other) else {
                return f64::NEG_INFINITY;
            };
            let centre = part.centre();
            let far = part.points.iter().map(|p| (p - centre).norm());
            let round = part.cylinder.map_or(0.0, |c| c.half.hypot(c.radius));
            (centre, far.fold(round, f64::max) + part.radius)
        }
    };
    let Some(field) = pieces.field(meeting.field) else {
        return f64::NEG_INFINITY;
    };
    field.bounds.square_from(lens.point(centre)).sqrt() - radius
}

/// Finds the places of the two that are nearer than a limit at a time from now.
fn search_at(world: &mut World, meeting: &Meeting, time: f64, limit: f64, work: &mut FieldWorkspace) {
    work.room.out.clear();
    let pieces = &world.pieces;
    let Some(field) = pieces.field(meeting.field) else {
        return;
    };
    let lens = Lens::new(pieces, meeting, time);
    if matches!(pieces.list[meeting.other].form, Form::Sheet(_)) {
        search_sheet(world, meeting, &lens, time, limit, work);
        return;
    }
    let FieldWorkspace {
        room,
        points,
        normals,
        ..
    } = work;
    let mut search = Search {
        field,
        limit,
        element: 0,
        room,
    };
    match &pieces.list[meeting.other].form {
        Form::HalfSpace(_) => {
            let HalfSpace { normal, offset } = pieces.placed[meeting.other].plane;
            let face = Face {
                normal: lens.direction(normal),
                offset: offset - normal.dot(&lens.place),
                radius: 0.0,
                bounds: Aabb {
                    low: Vec3::repeat(f64::NEG_INFINITY),
                    high: Vec3::repeat(f64::INFINITY),
                },
                over: &|_| true,
                solid: true,
            };
            search.face(&face, 0);
        }
        Form::Convex { .. } => {
            if let Some(part) = pieces.part(meeting.other) {
                points.clear();
                points.extend(part.points.iter().map(|p| lens.point(*p)));
                normals.clear();
                normals.extend(part.normals.iter().map(|n| lens.direction(*n)));
                let cylinder = part.cylinder.map(|c| crate::narrow::Cylinder {
                    axis: lens.direction(c.axis),
                    side: lens.direction(c.side),
                    other: lens.direction(c.other),
                    ..c
                });
                let here = crate::narrow::Part {
                    points,
                    normals,
                    cylinder,
                    ..part
                };
                search.part(&here);
            }
        }
        Form::Field(other) => {
            let (place, turn) = pieces.frame(meeting.other);
            let turn = lens.turn.tr_mul(&(lens.turned * turn));
            search.field(other, lens.point(place), turn);
        }
        Form::Sheet(_) => {}
    }
    world.work.tests.add(work.room.out.len());
}

/// Finds the places of a field and the elements of a sheet that are near.
fn search_sheet(
    world: &mut World,
    meeting: &Meeting,
    lens: &Lens,
    time: f64,
    limit: f64,
    work: &mut FieldWorkspace,
) {
    let pieces = &world.pieces;
    let soft = pieces.is_soft(meeting.other);
    let surface = if soft {
        pieces.surface_ahead(meeting.other, time)
    } else {
        pieces.surface(meeting.other)
    };
    let (Some(surface), Some(field)) = (surface, pieces.field(meeting.field)) else {
        return;
    };
    let (boxes, tree) = pieces.elements(meeting.other);
    let FieldWorkspace {
        room,
        elements,
        stack,
        ..
    } = work;
    elements.clear();
    let swept = &pieces.placed[meeting.field].swept;
    tree.query(boxes, swept, stack, |element| elements.push(element as u32));
    elements.sort_unstable();
    if !world.work.tests.add(elements.len()) {
        return;
    }
    let field_speed = pieces.rigid_speed(meeting.field);
    for &element in elements.iter() {
        let e = element as usize;
        let corners = surface.mesh.corners(e);
        if world.tied.ignores(pieces, meeting.other, meeting.field, corners) {
            continue;
        }
        let closing = meeting.pair.horizon * (pieces.fastest(meeting.other, e) + field_speed);
        let mut search = Search {
            field,
            limit: limit.min(meeting.pair.margin + closing),
            element,
            room: &mut *room,
        };
        search.element(
            &surface,
            e,
            lens,
            matches!(surface.mesh.element(e), Element::Triangle(_)),
        );
    }
}

/// The touch of a place in the world.
fn touch_in_world(meeting: &Meeting, lens: &Lens, near: &Near) -> Touch {
    let (on_field, on_other) = (lens.world(near.on_field), lens.world(near.on_other));
    let normal = lens.turn * near.normal;
    let (a, b, normal) = if meeting.flipped {
        (on_other, on_field, -normal)
    } else {
        (on_field, on_other, normal)
    };
    Touch {
        a,
        b,
        normal,
        gap: near.gap,
        feature: near.feature ^ u64::from(near.element) << 46,
        doubtful: false,
    }
}

/// The touch of a place in the world, and of a sheet the weights of the points of its element.
fn touch(
    pieces: &Pieces,
    meeting: &Meeting,
    lens: &Lens,
    time: f64,
    near: &Near,
) -> (Touch, [Option<Weights>; 2]) {
    let touch = touch_in_world(meeting, lens, near);
    let mut weights = [None, None];
    let soft = pieces.is_soft(meeting.other);
    if let Some(surface) = pieces.surface_ahead(meeting.other, time).filter(|_| soft) {
        let element = near.element as usize;
        let mut points = [Vec3::zeros(); 3];
        for (point, p) in points.iter_mut().zip(surface.mesh.corners(element)) {
            *point = surface.point(*p);
        }
        let core = lens.world(near.on_other) + lens.turn * near.normal * surface.mesh.radius;
        let at = Weights::at(core, surface.mesh, element, &points);
        weights[usize::from(!meeting.flipped)] = Some(at);
    }
    (touch, weights)
}

/// Keeps those of the places of now that can close within the horizon.
fn keep(world: &mut World, meeting: &Meeting, near: &[Near]) {
    let lens = Lens::new(&world.pieces, meeting, 0.0);
    if world.pieces.is_soft(meeting.other) {
        let mut found = std::mem::take(&mut world.work.found);
        for n in near {
            let (touch, weights) = touch(&world.pieces, meeting, &lens, 0.0, n);
            let feature = [u64::from(n.element), n.feature];
            world.push(meeting.pair, touch, feature, weights, &mut found);
        }
        world.work.found = found;
        return;
    }
    let mut touches = std::mem::take(&mut world.work.narrow.touches);
    touches.clear();
    touches.extend(
        near.iter()
            .map(|n| touch(&world.pieces, meeting, &lens, 0.0, n).0),
    );
    world.work.narrow.touches = touches;
    world.keep_clusters(meeting.pair);
}

/// Keeps the places of the first impact: with the lever arms of then, at the places of now.
fn keep_impact(world: &mut World, meeting: &Meeting, time: f64, near: &[Near]) {
    let lens = Lens::new(&world.pieces, meeting, time);
    let soft = world.pieces.is_soft(meeting.other);
    let first = near.iter().fold(f64::INFINITY, |d, n| d.min(n.gap));
    let last = first.max(0.0) + 2.0 * meeting.pair.margin;
    let mut touches = std::mem::take(&mut world.work.narrow.touches);
    touches.clear();
    for n in near.iter().filter(|n| n.gap <= last) {
        let pieces = &world.pieces;
        let (mut touch, weights) = touch(pieces, meeting, &lens, time, n);
        let velocity = |k: usize, weights: &Option<Weights>, point: Vec3| {
            let m = &pieces.placed[k].motion;
            match weights {
                Some(w) => (0..w.count)
                    .map(|i| pieces.soft_velocity(k, w.points[i]) * w.weights[i])
                    .sum(),
                None => m.velocity + m.spin.cross(&(point - m.centre - m.velocity * time)),
            }
        };
        let (i, j) = (meeting.pair.i, meeting.pair.j);
        let [u, v] = [
            velocity(i, &weights[0], touch.a),
            velocity(j, &weights[1], touch.b),
        ];
        // Translated back, not turned back.
        let way = |k: usize, weights: &Option<Weights>, velocity: Vec3| match weights {
            Some(_) => velocity * time,
            None => pieces.placed[k].motion.velocity * time,
        };
        touch.a -= way(i, &weights[0], u);
        touch.b -= way(j, &weights[1], v);
        touch.gap -= time * touch.normal.dot(&(v - u));
        if soft {
            let feature = [u64::from(n.element), n.feature];
            let found = &mut world.work.found;
            push(
                pieces,
                &world.colliders,
                meeting.pair,
                touch,
                feature,
                weights,
                true,
                found,
            );
        } else {
            touches.push(touch);
        }
    }
    reduce(
        &mut touches,
        0,
        world.pieces.smaller(meeting.field, meeting.other),
        false,
    );
    world.work.narrow.touches = touches;
    if !soft {
        world.keep_swept(meeting.pair);
    }
}
