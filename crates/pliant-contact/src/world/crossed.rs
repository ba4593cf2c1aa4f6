//! Surfaces that pass through each other on the straight ways of their corners: between cloth,
//! meshes and the surfaces of solids, which the other searches see only where they come near. Pairs
//! that press by an elastic foundation are left out: they are in each other by their depth.

use pliant_dense::Vec3;
use pliant_model::Model;

use super::found::{Pair, Weights, push};
use super::foundation::has_columns;
use super::pieces::{Form, Pieces};
use super::sheets::{code, spot};
use super::{World, may_meet};
use crate::narrow::Touch;
use crate::narrow::crossing::{Couple, Four, at, pierces};
use crate::shape::mesh::{Element, Mesh, Spot};
use crate::{ColliderId, Contact, ContactError};

/// Places where surfaces pass through each other.
#[derive(Clone, Copy, Debug)]
pub struct Crossed<'a> {
    /// Contacts along the direction in which they meet, of the places of which none is listed. They
    /// count as listed from now on.
    pub contacts: &'a [Contact],
    /// Two colliders that pass through each other though the contact is listed.
    pub listed: Option<[ColliderId; 2]>,
}

/// Buffers; their contents mean nothing between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct CrossingWorkspace {
    /// Where the points of all pieces are in the end.
    ends: Vec<Vec3>,
    near: Vec<u32>,
    crossings: Vec<Crossing>,
}

/// A pair of spots that come together.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    spots: [Spot; 2],
    weights: [Weights; 2],
    touch: Touch,
    time: f64,
}

/// A surface and the straight ways of its corners.
#[derive(Clone, Copy)]
struct Moving<'a> {
    mesh: &'a Mesh,
    start: &'a [Vec3],
    end: &'a [Vec3],
}

impl Moving<'_> {
    fn points<const N: usize>(&self, which: [u32; N]) -> [[Vec3; N]; 2] {
        [self.start, self.end].map(|points| which.map(|p| points[p as usize]))
    }

    /// The place with these weights at the start.
    fn place(&self, weights: &Weights) -> Vec3 {
        (0..weights.count)
            .map(|k| self.start[weights.points[k] as usize] * weights.weights[k])
            .sum()
    }
}

/// The positions, the mean velocities and the length of a way.
#[derive(Clone, Copy, Debug)]
pub struct StraightWay<'a> {
    /// Positions of all nodes at its start.
    pub start: &'a [f64],
    /// Positions of all nodes at its end.
    pub end: &'a [f64],
    /// Velocities that lead from one to the other.
    pub velocities: &'a [f64],
    /// How long it takes (s).
    pub horizon: f64,
}

pub(super) fn check_thickness(world: &World) -> Result<(), ContactError> {
    let thin = |id: ColliderId| {
        let mut pieces = world.pieces.list.iter().filter(|p| p.collider == id);
        pieces.any(|p| p.mesh().is_some_and(|mesh| mesh.radius == 0.0))
    };
    let ids = (0..world.colliders.len() as u32).map(ColliderId);
    let thin: Vec<ColliderId> = ids.filter(|id| thin(*id)).collect();
    for (k, &a) in thin.iter().enumerate() {
        let own = world.colliders[a.index()].self_contact.is_some().then_some(a);
        let others = thin[k + 1..].iter().copied();
        let presses = |b: &ColliderId| world.pair_material(a, *b).foundation > 0.0;
        let mut meets =
            others.filter(|b| may_meet(&world.colliders, &world.excluded, [a, *b]) && !presses(b));
        if let Some(b) = own.or_else(|| meets.next()) {
            let [a, b] = [a, b].map(|id| world.colliders[id.index()].name.clone());
            return Err(ContactError::NoThickness { a, b });
        }
    }
    Ok(())
}

pub(super) fn check_apart(
    world: &mut World,
    model: &Model,
    positions: &[f64],
    velocities: &[f64],
) -> Result<(), ContactError> {
    world.work.searched_again = true;
    world
        .pieces
        .place(&world.colliders, model, positions, velocities, 0.0)?;
    world.broad()?;
    for n in 0..world.work.broad.pairs.len() {
        let (i, j) = world.work.broad.pairs[n];
        let (i, j) = (i as usize, j as usize);
        let presses = has_columns(world, Pair::of(&world.pieces, i, j, 0.0));
        let pierced = !presses && (is_pierced(world, i, j) || is_pierced(world, j, i));
        let pair = [i, j].map(|k| world.pieces.list[k].collider);
        if pierced {
            let [a, b] = pair.map(|id| world.colliders[id.index()].name.clone());
            return Err(ContactError::Pierced { a, b });
        }
        if !world.work.tests.add(0) {
            return Err(world.too_many_tests(pair));
        }
    }
    Ok(())
}

/// Whether an edge of one piece passes through a triangle of another.
fn is_pierced(world: &mut World, edges: usize, triangles: usize) -> bool {
    let World { pieces, work, .. } = world;
    let (Some(a), Some(b)) = (pieces.surface(edges), pieces.surface(triangles)) else {
        return false;
    };
    let (boxes_a, _) = pieces.elements(edges);
    let (boxes_b, tree) = pieces.elements(triangles);
    let near = &mut work.crossing.near;
    (0..a.mesh.element_count()).any(|i| {
        near.clear();
        tree.query(boxes_b, &boxes_a[i], &mut work.stack, |j| near.push(j as u32));
        work.tests.add(near.len());
        near.iter().any(|&j| {
            let Element::Triangle(_) = b.mesh.element(j as usize) else {
                return false;
            };
            let corners = b.mesh.corners(j as usize);
            a.mesh.owned_edges(i).iter().any(|&e| {
                let own = edges == triangles && a.mesh.edges[e as usize].iter().any(|p| corners.contains(p));
                !own && pierces(a.edge(e), [0, 1, 2].map(|k| b.point(corners[k])))
            })
        })
    })
}

pub(super) fn find_crossed<'a>(
    world: &'a mut World,
    model: &Model,
    way: StraightWay<'_>,
) -> Result<Crossed<'a>, ContactError> {
    let StraightWay {
        start,
        end,
        velocities,
        horizon,
    } = way;
    crate::error::not_negative("the horizon", horizon)?;
    world.missed.clear();
    world.work.searched_again = true;
    world
        .pieces
        .place(&world.colliders, model, end, velocities, 0.0)?;
    let mut ends = std::mem::take(&mut world.work.crossing.ends);
    ends.clone_from(&world.pieces.points);
    world
        .pieces
        .place(&world.colliders, model, start, velocities, horizon)?;
    world.broad()?;
    world.work.found.clear();
    for n in 0..world.work.broad.pairs.len() {
        let (i, j) = world.work.broad.pairs[n];
        let pair = Pair::of(&world.pieces, i as usize, j as usize, horizon);
        let forms = [pair.i, pair.j].map(|k| &world.pieces.list[k].form);
        // Columns are as deep as they press.
        if let [Form::Sheet(_), Form::Sheet(_)] = forms
            && !has_columns(world, pair)
        {
            cross(world, pair, &ends);
            if !world.work.tests.add(0) {
                world.work.crossing.ends = ends;
                let pair = [pair.i, pair.j].map(|k| world.pieces.list[k].collider);
                return Err(world.too_many_tests(pair));
            }
        }
    }
    world.work.crossing.ends = ends;
    let listed = keep_crossed(world);
    Ok(Crossed {
        contacts: &world.missed,
        listed,
    })
}

/// Puts the places where two surfaces come together into `work.found`.
fn cross(world: &mut World, pair: Pair, ends: &[Vec3]) {
    let mut work = std::mem::take(&mut world.work.crossing);
    work.crossings.clear();
    if let (Some(a), Some(b)) = (
        moving(&world.pieces, pair.i, ends),
        moving(&world.pieces, pair.j, ends),
    ) {
        let (boxes_a, _) = world.pieces.elements(pair.i);
        let (boxes_b, tree) = world.pieces.elements(pair.j);
        let own = pair.i == pair.j;
        for i in 0..a.mesh.element_count() {
            work.near.clear();
            let near = &mut work.near;
            tree.query(boxes_b, &boxes_a[i], &mut world.work.stack, |j| {
                near.push(j as u32);
            });
            near.sort_unstable();
            if !world.work.tests.add(work.near.len()) {
                break;
            }
            for n in 0..work.near.len() {
                let j = work.near[n] as usize;
                corners_through([a, b], [i, j], own, false, &world.pieces, pair, &mut work);
                if !own {
                    corners_through([b, a], [j, i], own, true, &world.pieces, pair, &mut work);
                }
                if !own || i <= j {
                    edges_through([a, b], [i, j], own, &mut work);
                }
            }
        }
    }
    let list = &mut work.crossings;
    list.sort_unstable_by(|x, y| x.spots.cmp(&y.spots).then(x.time.total_cmp(&y.time)));
    list.dedup_by_key(|c| c.spots);
    for crossing in list.iter() {
        let ties = [pair.i, pair.j];
        if world
            .tied
            .ignore_each_other(&world.pieces, ties, &crossing.weights)
        {
            continue;
        }
        push(
            &world.pieces,
            &world.colliders,
            pair,
            crossing.touch,
            crossing.spots.map(code),
            crossing.weights.map(Some),
            true,
            &mut world.work.found,
        );
    }
    world.work.crossing = work;
}

/// Lists what was found and is not listed; two colliders of what is.
fn keep_crossed(world: &mut World) -> Option<[ColliderId; 2]> {
    let (pieces, old) = (&world.pieces, &world.memory.entries);
    let mut found = std::mem::take(&mut world.work.found);
    let mut both = None;
    found.retain(|f| {
        let (pair, unnamed) = (f.colliders.map(|c| c.0), f.unnamed(pieces));
        let first = old.partition_point(|e| e.colliders < pair);
        let mut known = old[first..].iter().take_while(|e| e.colliders == pair);
        let is_listed = known.any(|e| e.feature == unnamed.feature);
        if is_listed {
            both.get_or_insert(f.colliders);
        }
        !is_listed
    });
    world.work.found = found;
    world.list_found();
    both
}

fn moving<'a>(pieces: &'a Pieces, k: usize, ends: &'a [Vec3]) -> Option<Moving<'a>> {
    let surface = pieces.surface(k)?;
    Some(Moving {
        mesh: surface.mesh,
        start: surface.points,
        end: &ends[pieces.placed[k].points.clone()],
    })
}

/// The corners that an element owns, through a triangle of another surface, or of the same one.
fn corners_through(
    [a, b]: [Moving<'_>; 2],
    [i, j]: [usize; 2],
    own: bool,
    flipped: bool,
    pieces: &Pieces,
    pair: Pair,
    work: &mut CrossingWorkspace,
) {
    let Element::Triangle(_) = b.mesh.element(j) else {
        return;
    };
    let corners = b.mesh.corners(j);
    let names = [corners[0], corners[1], corners[2]];
    for &p in a.mesh.owned_points(i) {
        if own && names.contains(&p) {
            continue;
        }
        let four = |points: [[Vec3; 1]; 2], others: [[Vec3; 3]; 2]| -> [Four; 2] {
            [0, 1].map(|k| [points[k][0], others[k][0], others[k][1], others[k][2]])
        };
        let [start, end] = four(a.points([p]), b.points(names));
        let thickness = a.mesh.radius + b.mesh.radius;
        let Some(time) = Couple::CornerTriangle.first_meeting(&start, &end, thickness) else {
            continue;
        };
        let [corner, q, r, s] = at(&start, &end, time);
        let weights = Weights::at(corner, b.mesh, j, &[q, r, s]);
        let Some(surface) = pieces.surface(if flipped { pair.i } else { pair.j }) else {
            continue;
        };
        let one = Weights {
            count: 1,
            points: [p, 0, 0],
            weights: [1.0, 0.0, 0.0],
        };
        let foot: Vec3 = (0..weights.count)
            .map(|k| {
                let at = names.iter().position(|n| *n == weights.points[k]).unwrap_or(0);
                [q, r, s][at] * weights.weights[k]
            })
            .sum();
        let (spots, both) = ([Spot::Point(p), spot(&surface, &weights)], [one, weights]);
        add([a, b], spots, both, foot - corner, time, flipped, work);
    }
}

/// The edges that two elements own, through each other.
fn edges_through([a, b]: [Moving<'_>; 2], [i, j]: [usize; 2], own: bool, work: &mut CrossingWorkspace) {
    for &e in a.mesh.owned_edges(i) {
        for &f in b.mesh.owned_edges(j) {
            let (ends, others) = (a.mesh.edges[e as usize], b.mesh.edges[f as usize]);
            if own && ends.iter().any(|p| others.contains(p)) {
                continue;
            }
            let (x, y) = (a.points(ends), b.points(others));
            let [start, end]: [Four; 2] = [0, 1].map(|k| [x[k][0], x[k][1], y[k][0], y[k][1]]);
            let thickness = a.mesh.radius + b.mesh.radius;
            let Some(time) = Couple::Segments.first_meeting(&start, &end, thickness) else {
                continue;
            };
            let [p, q, r, s] = at(&start, &end, time);
            let (u, v) = crate::narrow::closest::of_segments([p, q], [r, s]);
            let apart = r + (s - r) * v - p - (q - p) * u;
            let on = |ends: [u32; 2], s: f64| Weights {
                count: 2,
                points: [ends[0], ends[1], 0],
                weights: [1.0 - s, s, 0.0],
            };
            let (spots, both) = ([Spot::Edge(e), Spot::Edge(f)], [on(ends, u), on(others, v)]);
            add([a, b], spots, both, apart, time, false, work);
        }
    }
}

/// Adds two spots that come together along a direction, from the first to the second.
fn add(
    [a, b]: [Moving<'_>; 2],
    spots: [Spot; 2],
    weights: [Weights; 2],
    apart: Vec3,
    time: f64,
    flipped: bool,
    work: &mut CrossingWorkspace,
) {
    let from = b.place(&weights[1]) - a.place(&weights[0]);
    let Some(normal) = apart.try_normalize(0.0).or_else(|| from.try_normalize(0.0)) else {
        return;
    };
    let (x, y) = (
        a.place(&weights[0]) + normal * a.mesh.radius,
        b.place(&weights[1]) - normal * b.mesh.radius,
    );
    let touch = Touch {
        a: x,
        b: y,
        normal,
        // What is nearer than its thickness is not pushed out: it may not come nearer.
        gap: normal.dot(&(y - x)).max(0.0),
        feature: 0,
        doubtful: false,
    };
    let crossing = Crossing {
        spots,
        weights,
        touch,
        time,
    };
    work.crossings.push(match flipped {
        false => crossing,
        true => Crossing {
            spots: [spots[1], spots[0]],
            weights: [weights[1], weights[0]],
            touch: Touch {
                a: touch.b,
                b: touch.a,
                normal: -touch.normal,
                ..touch
            },
            time,
        },
    });
}
