//! Scenes of rigid bodies in contact, from mechanics, without the engine: a step of 0.01 s under
//! gravity.

mod bodies;
mod piles;

use super::{Knowledge, OWN, record};
use bodies::{Body, Scene};
use pliant_lab::exchange::Record;

/// The impulse of gravity per mass in one step.
const FALL: f64 = 0.0981;

pub(super) fn add(out: &mut Vec<Record>) {
    inclines(out);
    towers(out);
    piles::add(out);
    capstans(out);
}

fn inclines(out: &mut Vec<Record>) {
    // A box on a plane; the axes are those of the plane, gravity is tilted (cases D01 and D11).
    for (name, about, angle, mu) in [
        (
            "incline-sticks",
            "a box on a plane below the angle of friction",
            0.19,
            0.2,
        ),
        ("incline-slips", "the same above it", 0.4, 0.2),
        ("incline-smooth", "the same without friction", 0.4, 0.0),
    ] {
        let angle: f64 = angle;
        let mut scene = Scene::default();
        let mut body = Body::block(10.0, [0.5, 0.4, 0.3], [0.0, 0.0, 0.3]);
        body.velocity = [FALL * angle.sin(), 0.0, -FALL * angle.cos()];
        scene.bodies.push(body);
        scene.rest(None, 0, mu);
        // Each corner slides with the box: gravity along the plane less friction.
        let slip = (FALL * (angle.sin() - mu * angle.cos())).max(0.0);
        let u = [0.0, slip, 0.0].repeat(4);
        let record = record(name, about, OWN, scene.problem());
        out.push(record.velocity(&u, 1e-6));
    }
}

fn tower(count: usize, ratio: f64, push: f64) -> Scene {
    let mut scene = Scene::default();
    for k in 0..count {
        let mass = ratio.powf(k as f64 / (count - 1) as f64);
        let mut body = Body::block(mass, [0.5, 0.5, 0.25], [0.0, 0.0, 0.25 + 0.5 * k as f64]);
        body.velocity = [if k + 1 == count { push } else { 0.0 }, 0.0, -FALL];
        scene.bodies.push(body);
        scene.rest(k.checked_sub(1), k, 0.5);
    }
    scene
}

fn towers(out: &mut Vec<Record>) {
    let still = |count: usize| vec![0.0; 12 * count];
    let at_rest = tower(10, 1.0, 0.0).problem();
    let about = "ten boxes at rest, four contacts each";
    out.push(record("tower-10", about, OWN, at_rest).velocity(&still(10), 1e-4));
    let pushed = tower(10, 1.0, 0.3).problem();
    out.push(record(
        "tower-10-pushed",
        "the top one is pushed: it slips",
        OWN,
        pushed,
    ));
    let heavy = tower(10, 1000.0, 0.0).problem();
    let about = "ten boxes at rest, the top one 1000 times as heavy as the bottom one";
    out.push(record("tower-10-top-heavy", about, OWN, heavy).velocity(&still(10), 1e-4));
    let light = tower(10, 1e-3, 0.3).problem();
    out.push(record(
        "tower-10-top-light",
        "the bottom one is the heavy one, pushed",
        OWN,
        light,
    ));
    let tall = tower(50, 1.0, 0.0).mixed();
    let about = "fifty boxes at rest, not condensed";
    out.push(record("tower-50", about, OWN, tall).velocity(&still(50), 1e-4));
}

/// D05: a rope of `n` masses around half a drum, pulled with 1 at one end, with `share` of the
/// threshold at the other.
fn capstan(n: usize, share: f64) -> Scene {
    let (mu, turn) = (0.3, std::f64::consts::PI / n as f64);
    let k = mu * (turn / 2.0).tan();
    let pull = share * ((1.0 + k) / (1.0 - k)).powi(n as i32);
    let mut scene = Scene::default();
    for i in 0..n {
        let mut body = Body::point(1.0);
        // Heading of the rope before, at and behind the node, in the plane x, z.
        let heading = |steps: f64| {
            let (s, c) = ((i as f64 + steps) * turn).sin_cos();
            [c, 0.0, s]
        };
        let (before, behind) = (heading(0.0), heading(1.0));
        for d in [0, 2] {
            let first = if i == 0 { -before[d] } else { 0.0 };
            let last = if i + 1 == n { pull * behind[d] } else { 0.0 };
            body.velocity[d] = first + last;
        }
        scene.bodies.push(body);
        let [c, _, s] = heading(0.5);
        scene.touch(
            None,
            i,
            [0.0; 3],
            [[s, 0.0, -c], [c, 0.0, s], [0.0, 1.0, 0.0]],
            mu,
        );
        if i > 0 {
            scene.rods.push((i - 1, i, before));
        }
    }
    scene
}

fn capstans(out: &mut Vec<Record>) {
    let source = "case D05: the capstan of n nodes, prod (1 + mu tan d/2)/(1 - mu tan d/2)";
    for (n, share, name) in [
        (4, 0.999, "capstan-4-sticks"),
        (4, 1.001, "capstan-4-slips"),
        (16, 0.999, "capstan-16-sticks"),
        (16, 1.001, "capstan-16-slips"),
    ] {
        let about = format!("a rope on a drum at {share} of the threshold, joined by rods");
        let record = record(name, &about, source, capstan(n, share).mixed());
        out.push(if share < 1.0 {
            record.velocity(&vec![0.0; 3 * n], 1e-5)
        } else {
            record
        });
    }
}
