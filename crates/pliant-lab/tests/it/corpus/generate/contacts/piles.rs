//! Walls, a house of cards, spheres in a chute and in a funnel, an arch.

use super::bodies::{Body, Scene, Vec3, frame};
use super::{FALL, OWN, record};
use crate::tools::Random;
use pliant_lab::exchange::{Record, Statement};
use pliant_solvers::complementarity::Cone;

pub(super) fn add(out: &mut Vec<Record>) {
    let about = "a wall of 4 x 4 bricks, every course shifted by half a brick";
    out.push(record("wall-4", about, OWN, wall(4, 4, 0.0).problem()));
    let about = "a wall of 3 x 3 bricks, the top course pushed";
    out.push(record("wall-3-pushed", about, OWN, wall(3, 3, 0.3).problem()));
    let about = "a wall of 8 x 8 bricks, not condensed";
    out.push(record("wall-8", about, OWN, wall(8, 8, 0.0).mixed()));
    let about = "a wall of 4 x 8 bricks, not condensed; the friction of each contact is bounded by a square";
    let wall = squared(wall(4, 8, 0.0).mixed());
    out.push(record("wall-square-friction", about, OWN, wall));
    let about = "two cards that lean on each other; without friction they fall";
    out.push(record("cards", about, OWN, cards(0.4, 0.6).problem()));
    out.push(record(
        "cards-slip",
        "the same on a smooth table",
        OWN,
        cards(0.4, 0.05).problem(),
    ));
    let about = "twelve spheres in a tilted V-shaped chute";
    out.push(record("chute", about, OWN, chute(12, 0.3, 0.2).problem()));
    let about = "the same, steep and smooth";
    out.push(record("chute-steep", about, OWN, chute(12, 0.9, 0.05).problem()));
    let about = "thirty spheres jammed in a funnel, masses from 0.1 to 10";
    out.push(record("funnel", about, OWN, funnel(30, 0.4).problem()));
    let about = "an arch of seven stones";
    out.push(record("arch", about, OWN, arch(7, 0.6).problem()));
}

fn wall(width: usize, height: usize, push: f64) -> Scene {
    let mut scene = Scene::default();
    for row in 0..height {
        for k in 0..width {
            let at = [k as f64 + 0.5 * (row % 2) as f64, 0.0, 0.25 + 0.5 * row as f64];
            let mut brick = Body::block(3.0, [0.5, 0.25, 0.25], at);
            brick.velocity = [if row + 1 == height { push } else { 0.0 }, 0.0, -FALL];
            scene.bodies.push(brick);
            let own = row * width + k;
            if row == 0 {
                scene.rest(None, own, 0.5);
                continue;
            }
            for below in (row - 1) * width..row * width {
                if (scene.bodies[below].at[0] - at[0]).abs() < 0.75 {
                    scene.rest(Some(below), own, 0.5);
                }
            }
        }
    }
    scene
}

/// Bounds the friction of a problem along either tangent by itself.
fn squared(mut statement: Statement) -> Statement {
    if let Statement::Mixed(mixed) = &mut statement {
        for cone in &mut mixed.cones {
            if let Cone::Coulomb { mu } = *cone {
                *cone = Cone::friction_box(mu);
            }
        }
    }
    statement
}

/// Two plates of length 1, tilted by `tilt` from the vertical, that meet at the top.
fn cards(tilt: f64, mu: f64) -> Scene {
    let (s, c) = tilt.sin_cos();
    let (half, width) = (0.5, 0.3);
    let mut scene = Scene::default();
    for side in [-1.0, 1.0] {
        // The plate's long axis leans towards the middle.
        let long = [-side * s, 0.0, c];
        let at = [side * half * s, 0.0, half * c];
        let mut card = Body::block(0.1, [0.005, width, half], at);
        card.axes = [[c, 0.0, side * s], [0.0, 1.0, 0.0], long];
        card.velocity = [0.0, 0.0, -FALL];
        scene.bodies.push(card);
        for y in [-width, width] {
            let foot = [side * 2.0 * half * s, y, 0.0];
            let body = scene.bodies.len() - 1;
            scene.touch(None, body, foot, frame([0.0, 0.0, 1.0]), mu);
        }
    }
    for y in [-width, width] {
        let top = [0.0, y, 2.0 * half * c];
        scene.touch(Some(0), 1, top, frame([1.0, 0.0, 0.0]), mu);
    }
    scene
}

/// Spheres of radius 0.5 one behind the other in a V of right angle whose edge is x, tilted by
/// `tilt`.
fn chute(count: usize, tilt: f64, mu: f64) -> Scene {
    let mut scene = Scene::default();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    for k in 0..count {
        let at = [k as f64, 0.0, half];
        let mut ball = Body::sphere(1.0 + (k % 3) as f64, 0.5, at);
        // The first one is caught by a wall: the row pushes on it.
        ball.velocity = [-FALL * tilt.sin(), 0.0, -FALL * tilt.cos()];
        scene.bodies.push(ball);
        for side in [-1.0, 1.0] {
            let normal = [0.0, side * half, half];
            let point = std::array::from_fn(|d| at[d] - 0.5 * normal[d]);
            scene.touch(None, k, point, frame(normal), mu);
        }
        let point = [at[0] - 0.5, 0.0, half];
        scene.touch(k.checked_sub(1), k, point, frame([1.0, 0.0, 0.0]), mu);
    }
    scene
}

/// Spheres that were dropped at random and overlap a little: contacts at overlaps, with each other
/// and with a cone of 45 degrees.
fn funnel(count: usize, mu: f64) -> Scene {
    let mut random = Random(50);
    let mut scene = Scene::default();
    let distance = |a: Vec3, b: Vec3| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    for k in 0..count {
        let radius = 0.4 + 0.1 * random.number();
        // On a layer of growing width, as deep as the others and the cone let it go.
        let spread = 0.3 * (k as f64).cbrt();
        let (x, y) = (spread * random.number(), spread * random.number());
        let mut z = 2f64.sqrt() * radius + x.hypot(y);
        for other in &scene.bodies {
            let across = (x - other.at[0]).hypot(y - other.at[1]);
            let reach = 0.99 * (radius + other.half[0]);
            if across < reach {
                z = z.max(other.at[2] + (reach * reach - across * across).sqrt());
            }
        }
        let mut ball = Body::sphere(10f64.powf(random.number()), radius, [x, y, z]);
        ball.velocity = [0.0, 0.0, -FALL];
        scene.bodies.push(ball);
    }
    for k in 0..count {
        let (at, radius) = (scene.bodies[k].at, scene.bodies[k].half[0]);
        let out = at[0].hypot(at[1]);
        let gap = (at[2] - out) / 2f64.sqrt() - radius;
        if gap < 0.02 {
            let half = std::f64::consts::FRAC_1_SQRT_2;
            let (c, s) = if out > 1e-9 {
                (at[0] / out, at[1] / out)
            } else {
                (1.0, 0.0)
            };
            let normal = [-c * half, -s * half, half];
            let point = std::array::from_fn(|d| at[d] - radius * normal[d]);
            scene.touch(None, k, point, frame(normal), mu);
        }
        for l in 0..k {
            let (other, reach) = (scene.bodies[l].at, radius + scene.bodies[l].half[0]);
            let d = distance(at, other);
            if d < reach + 0.02 {
                let normal: Vec3 = std::array::from_fn(|i| (at[i] - other[i]) / d);
                let point = std::array::from_fn(|i| other[i] + scene.bodies[l].half[0] * normal[i]);
                scene.touch(Some(l), k, point, frame(normal), mu);
            }
        }
    }
    scene
}

/// Wedges of a half circle, joined by four contacts each; the first and the last stand on the
/// ground.
fn arch(count: usize, mu: f64) -> Scene {
    let mut scene = Scene::default();
    let angle = std::f64::consts::PI / count as f64;
    let (inner, outer, depth) = (1.0, 1.3, 0.2);
    for k in 0..=count {
        let (s, c) = (std::f64::consts::PI - k as f64 * angle).sin_cos();
        if k < count {
            let (sm, cm) = (std::f64::consts::PI - (k as f64 + 0.5) * angle).sin_cos();
            let middle = 0.5 * (inner + outer);
            let at = [middle * cm, 0.0, middle * sm];
            let mut stone = Body::block(1.0, [0.15, depth, 0.25], at);
            stone.axes = [[cm, 0.0, sm], [0.0, 1.0, 0.0], [-sm, 0.0, cm]];
            stone.velocity = [0.0, 0.0, -FALL];
            scene.bodies.push(stone);
        }
        for radius in [inner, outer] {
            for y in [-depth, depth] {
                let point = [radius * c, y, radius * s];
                // Along the arch, to the right.
                let ahead = [s, 0.0, -c];
                match k {
                    0 => scene.touch(None, 0, point, frame(ahead), mu),
                    _ if k == count => scene.touch(None, k - 1, point, frame(ahead.map(|x| -x)), mu),
                    _ => scene.touch(Some(k - 1), k, point, frame(ahead), mu),
                }
            }
        }
    }
    scene
}
