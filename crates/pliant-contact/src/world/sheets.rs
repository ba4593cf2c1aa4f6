//! Sheets against sheets: corners against faces, edges and corners, and edges against edges.

use pliant_dense::Vec3;

use super::World;
use super::found::{Pair, Weights};
use super::pieces::{Motion, Pieces};
use crate::narrow::Touch;
use crate::narrow::closest::of_segments;
use crate::shape::mesh::{Element, Spot};
use crate::surface::Surface;

/// Sine of the angle by which neighbours may come before a corner that pushes. Corners that lie on
/// something are level but for what is left of their overlap: if only the foremost of them were
/// seen, the others would sink within a step, and be lifted at its end.
const LEVEL: f64 = 1e-3;

/// Buffers for this kind of pair; their contents mean nothing between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct SheetWorkspace {
    near: Vec<u32>,
    close: Vec<Close>,
    reached: Vec<u32>,
}

/// A sheet now and at the end of the horizon, a rigid one as it is now.
struct Moving<'a> {
    now: Surface<'a>,
    then: Surface<'a>,
    /// Of a rigid one.
    motion: Option<Motion>,
    horizon: f64,
}

impl<'a> Moving<'a> {
    fn of(pieces: &'a Pieces, k: usize, now: Surface<'a>, horizon: f64) -> Self {
        let soft = pieces.is_soft(k);
        Self {
            now,
            then: pieces.surface_ahead(k, horizon).filter(|_| soft).unwrap_or(now),
            motion: (!soft).then_some(pieces.placed[k].motion),
            horizon,
        }
    }

    /// How far a place of it goes.
    fn way(&self, weights: &Weights, place: Vec3) -> Vec3 {
        match self.motion {
            Some(m) => (m.velocity + m.spin.cross(&(place - m.centre))) * self.horizon,
            None => (0..weights.count)
                .map(|k| (weights.points[k], weights.weights[k]))
                .map(|(p, w)| (self.then.point(p) - self.now.point(p)) * w)
                .sum(),
        }
    }

    /// Whether a corner may push along a normal that another sheet has: the same as
    /// [`permits`](Self::permits), but for neighbours that come before it by next to nothing.
    fn leads(&self, corner: u32, normal: Vec3, passes: bool) -> bool {
        let spot = Spot::Point(corner);
        self.now.permits_within(spot, normal, LEVEL)
            || passes && self.then.permits_within(spot, normal, LEVEL)
    }

    /// Whether a spot may push along a normal: of what is about to go through something also one
    /// that comes before its neighbours by then, as where these are stopped.
    fn permits(&self, spot: Spot, normal: Vec3, passes: bool) -> bool {
        self.now.permits(spot, normal) || passes && self.then.permits(spot, normal)
    }
}

/// Two spots that are near.
#[derive(Clone, Copy, Debug)]
struct Close {
    spots: [Spot; 2],
    weights: [Weights; 2],
    touch: Touch,
}

/// All pairs of spots of two sheets (or of one with itself) that are near, and nearest to each
/// other among their neighbours.
pub(super) fn sheet_sheet(world: &mut World, pair: Pair) {
    let (Some(a), Some(b)) = (world.pieces.surface(pair.i), world.pieces.surface(pair.j)) else {
        return;
    };
    let mut work = std::mem::take(&mut world.work.sheets);
    let mut stack = std::mem::take(&mut world.work.stack);
    let mut found = std::mem::take(&mut world.work.found);
    let own = pair.i == pair.j;
    let collider = &world.colliders[world.pieces.list[pair.i].collider.index()];
    let ring = if own {
        collider.self_contact.unwrap_or(1)
    } else {
        0
    };
    let (a, b) = (
        Moving::of(&world.pieces, pair.i, a, pair.horizon),
        Moving::of(&world.pieces, pair.j, b, pair.horizon),
    );
    let (boxes_a, _) = world.pieces.elements(pair.i);
    let (boxes_b, tree_b) = world.pieces.elements(pair.j);
    work.close.clear();
    for i in 0..a.now.mesh.element_count() {
        work.near.clear();
        let near = &mut work.near;
        tree_b.query(boxes_b, &boxes_a[i], &mut stack, |j| near.push(j as u32));
        near.sort_unstable();
        if !world.work.tests.add(work.near.len()) {
            // The search ends with this pair.
            work.close.clear();
            break;
        }
        for n in 0..work.near.len() {
            let j = work.near[n] as usize;
            let speed = world.pieces.fastest(pair.i, i) + world.pieces.fastest(pair.j, j);
            let reach = a.now.mesh.radius + b.now.mesh.radius + pair.margin + pair.horizon * speed;
            corners_against(&a, i, &b, j, false, reach, ring, &mut work);
            if !own {
                corners_against(&b, j, &a, i, true, reach, ring, &mut work);
            }
            if !own || i <= j {
                edges_against(&a, i, &b, j, reach, ring, &mut work);
            }
        }
    }
    if own {
        for close in work.close.iter_mut().filter(|c| c.spots[0] > c.spots[1]) {
            close.spots.swap(0, 1);
            close.weights.swap(0, 1);
            let t = close.touch;
            close.touch = Touch {
                a: t.b,
                b: t.a,
                normal: -t.normal,
                ..t
            };
        }
    }
    work.close
        .sort_unstable_by(|x, y| x.spots.cmp(&y.spots).then(x.touch.gap.total_cmp(&y.touch.gap)));
    work.close.dedup_by_key(|c| c.spots);
    for close in &work.close {
        if (world.tied).ignore_each_other(&world.pieces, [pair.i, pair.j], &close.weights) {
            continue;
        }
        let feature = close.spots.map(code);
        world.push(pair, close.touch, feature, close.weights.map(Some), &mut found);
    }
    world.work.sheets = work;
    world.work.stack = stack;
    world.work.found = found;
}

pub(super) fn code(spot: Spot) -> u64 {
    match spot {
        Spot::Point(k) => u64::from(k),
        Spot::Edge(k) => 1 << 32 | u64::from(k),
        Spot::Face(k) => 2 << 32 | u64::from(k),
    }
}

/// The corners that element `i` tests, against element `j` of the other sheet.
fn corners_against(
    of_a: &Moving<'_>,
    i: usize,
    of_b: &Moving<'_>,
    j: usize,
    flipped: bool,
    reach: f64,
    ring: usize,
    work: &mut SheetWorkspace,
) {
    let (a, b) = (&of_a.now, &of_b.now);
    for &p in a.mesh.owned_points(i) {
        let corners = b.mesh.corners(j);
        let point = a.point(p);
        let mut places = [Vec3::zeros(); 3];
        for (k, &q) in corners.iter().enumerate() {
            places[k] = b.point(q);
        }
        let weights = Weights::at(point, b.mesh, j, &places);
        let foot: Vec3 = (0..weights.count)
            .map(|k| b.point(weights.points[k]) * weights.weights[k])
            .sum();
        let apart = point - foot;
        let distance = apart.norm();
        if distance > reach {
            continue;
        }
        if ring > 0
            && corners
                .iter()
                .any(|q| neighbours(a, p, *q, ring, &mut work.reached))
        {
            continue;
        }
        let spot = spot(b, &weights);
        let size = (0..weights.count)
            .map(|k| (b.point(weights.points[k]) - foot).norm())
            .fold(0.0, f64::max);
        // From the corner to the element.
        let (normal, gap) = match (spot, b.mesh.element(j)) {
            (Spot::Face(_), Element::Triangle(t)) if !b.two_sided() || distance <= 1e-12 * size => {
                (-b.normals[t], apart.dot(&b.normals[t]))
            }
            _ if distance > 1e-12 * size => (-apart / distance, distance),
            _ => continue,
        };
        let (ra, rb) = (a.mesh.radius, b.mesh.radius);
        let touch = Touch {
            a: point + normal * ra,
            b: foot - normal * rb,
            normal,
            gap: gap - ra - rb,
            feature: 0,
            doubtful: false,
        };
        let one = Weights {
            count: 1,
            points: [p, 0, 0],
            weights: [1.0, 0.0, 0.0],
        };
        let passes = touch.gap + normal.dot(&(of_b.way(&weights, foot) - of_a.way(&one, point))) < 0.0;
        let permitted = of_a.leads(p, normal, passes) && of_b.permits(spot, -normal, passes);
        if normal == Vec3::zeros() || !permitted {
            continue;
        }
        work.close.push(if flipped {
            let touch = Touch {
                a: touch.b,
                b: touch.a,
                normal: -normal,
                ..touch
            };
            Close {
                spots: [spot, Spot::Point(p)],
                weights: [weights, one],
                touch,
            }
        } else {
            Close {
                spots: [Spot::Point(p), spot],
                weights: [one, weights],
                touch,
            }
        });
    }
}

/// The edges that two elements test, against each other, where they cross.
fn edges_against(
    of_a: &Moving<'_>,
    i: usize,
    of_b: &Moving<'_>,
    j: usize,
    reach: f64,
    ring: usize,
    work: &mut SheetWorkspace,
) {
    let (a, b) = (&of_a.now, &of_b.now);
    for &e in a.mesh.owned_edges(i) {
        for &f in b.mesh.owned_edges(j) {
            let (ends, others) = (a.mesh.edges[e as usize], b.mesh.edges[f as usize]);
            let (p, q) = (a.edge(e), b.edge(f));
            let (s, t) = of_segments(p, q);
            let inside = |s: f64| s > 1e-9 && s < 1.0 - 1e-9;
            if !(inside(s) && inside(t)) {
                continue;
            }
            let (x, y) = (p[0] + (p[1] - p[0]) * s, q[0] + (q[1] - q[0]) * t);
            let distance = (y - x).norm();
            if distance > reach {
                continue;
            }
            if ring > 0
                && ends.iter().any(|x| {
                    others
                        .iter()
                        .any(|y| neighbours(a, *x, *y, ring, &mut work.reached))
                })
            {
                continue;
            }
            if distance <= 1e-12 * ((p[1] - p[0]).norm() + (q[1] - q[0]).norm()) {
                continue;
            }
            let normal = (y - x) / distance;
            let (ra, rb) = (a.mesh.radius, b.mesh.radius);
            let gap = distance - ra - rb;
            let on = |ends: [u32; 2], s: f64| Weights {
                count: 2,
                points: [ends[0], ends[1], 0],
                weights: [1.0 - s, s, 0.0],
            };
            let weights = [on(ends, s), on(others, t)];
            let passes = gap + normal.dot(&(of_b.way(&weights[1], y) - of_a.way(&weights[0], x))) < 0.0;
            let permitted =
                of_a.permits(Spot::Edge(e), normal, passes) && of_b.permits(Spot::Edge(f), -normal, passes);
            if !permitted {
                continue;
            }
            work.close.push(Close {
                spots: [Spot::Edge(e), Spot::Edge(f)],
                weights,
                touch: Touch {
                    a: x + normal * ra,
                    b: y - normal * rb,
                    normal,
                    gap,
                    feature: 0,
                    doubtful: false,
                },
            });
        }
    }
}

/// The spot of a place on a triangle, a segment or a point.
pub(super) fn spot(surface: &Surface<'_>, w: &Weights) -> Spot {
    let edge = || surface.mesh.edge_between(w.points[0], w.points[1]);
    match w.count {
        1 => Spot::Point(w.points[0]),
        2 => edge().map_or(Spot::Point(w.points[0]), Spot::Edge),
        _ => {
            // The face that both of two edges share.
            let faces = |a: usize, b: usize| {
                surface
                    .mesh
                    .edge_between(w.points[a], w.points[b])
                    .map_or(&[][..], |e| surface.mesh.faces_of_edge(e))
            };
            let others = faces(1, 2);
            let shared = faces(0, 1).iter().find(|f| others.contains(f));
            shared.map_or(Spot::Point(w.points[0]), |f| Spot::Face(*f))
        }
    }
}

/// Whether two points are joined by at most `ring` edges.
fn neighbours(surface: &Surface<'_>, p: u32, q: u32, ring: usize, reached: &mut Vec<u32>) -> bool {
    if p == q {
        return true;
    }
    reached.clear();
    reached.push(p);
    let mut start = 0;
    for _ in 0..ring {
        let end = reached.len();
        for k in start..end {
            for &e in surface.mesh.edges_of_point(reached[k]) {
                let [x, y] = surface.mesh.edges[e as usize];
                let next = if x == reached[k] { y } else { x };
                if next == q {
                    return true;
                }
                if !reached.contains(&next) {
                    reached.push(next);
                }
            }
        }
        start = end;
    }
    false
}
