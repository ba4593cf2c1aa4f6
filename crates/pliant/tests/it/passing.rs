//! Slender bodies that are thrown at walls: their tips are stopped and they turn, so that their
//! other ends come through within the same step if nothing looks behind the first impact.

use pliant::collision::{Collider, MeshKind, Placement, Shape, World};
use pliant::prelude::*;

/// Numbers in [-1, 1), the same on every machine.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> [f64; 3] {
        [self.throw(), self.throw(), self.throw()]
    }
}

/// Slender shapes, with what they weigh: within 0.16 m of their centre.
fn slender() -> Vec<(&'static str, Shape, RigidMass)> {
    let cuboid = |half: [f64; 3]| {
        let mass = RigidMass::cuboid(0.2, half.map(|x| 2.0 * x));
        (Shape::cuboid(half).unwrap(), mass)
    };
    let (stick, of_stick) = cuboid([0.01, 0.01, 0.15]);
    let (plate, of_plate) = cuboid([0.01, 0.1, 0.12]);
    let rod = RigidMass::cuboid(0.1, [0.02, 0.02, 0.32]);
    vec![
        ("capsule", Shape::capsule(0.15, 0.01).unwrap(), rod),
        ("stick", stick, of_stick),
        ("plate", plate, of_plate),
        ("cylinder", Shape::cylinder(0.15, 0.01).unwrap(), rod),
    ]
}

/// A wall of squares of 20 cm, each of two triangles, 4 m by 4 m.
fn sheet() -> Shape {
    let n = 21;
    let at = |i: usize, j: usize| [0.0, -2.0 + 0.2 * i as f64, -2.0 + 0.2 * j as f64];
    let points: Vec<[f64; 3]> = (0..n * n).map(|k| at(k / n, k % n)).collect();
    let mut triangles = Vec::new();
    for i in 0..n - 1 {
        for j in 0..n - 1 {
            let corner = [i * n + j, i * n + j + 1, (i + 1) * n + j + 1, (i + 1) * n + j];
            triangles.push([corner[0], corner[1], corner[2]]);
            triangles.push([corner[0], corner[2], corner[3]]);
        }
    }
    Shape::triangle_mesh(&points, &triangles, MeshKind::Surface).unwrap()
}

/// A body without gravity, half a metre before a wall in the plane `x = 0`.
fn thrown(
    (shape, mass): (&Shape, RigidMass),
    pose: Pose,
    [velocity, spin]: [[f64; 3]; 2],
    wall: &Shape,
    options: &Options,
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    let body = m.add_rigid_bodies("body", &[pose]).unwrap();
    m.add_mass("body", body, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(body, 0, velocity, spin).unwrap();
    let mut world = World::new();
    let place = Placement::Body {
        node: body,
        element: 0,
        pose: Pose::default(),
    };
    world.add(Collider::new("body", shape.clone(), place)).unwrap();
    let place = Placement::Fixed(Pose::default());
    world.add(Collider::new("wall", wall.clone(), place)).unwrap();
    let mut s = Simulation::with_options(m, options.clone()).unwrap();
    s.set_contacts(world).unwrap();
    (s, body)
}

fn options(integrator: &Integrator) -> Options {
    let base = match integrator {
        Integrator::Theta => Options::theta(),
        _ => Options::default(),
    };
    Options {
        integrator: integrator.clone(),
        ..base
    }
}

/// How far the centres of bodies come that are thrown so often at a wall, and which throw it is.
fn farthest(integrator: &Integrator, wall: &Shape, throws: usize) -> (f64, String) {
    let mut dice = Dice(2026);
    let mut most = (f64::NEG_INFINITY, String::new());
    let shapes = slender();
    for throw in 0..throws {
        let (name, shape, mass) = &shapes[throw % shapes.len()];
        let [axis, aside, spin] = [dice.vector(), dice.vector(), dice.vector()];
        let pose = Pose::turned([-0.4, aside[0], aside[1]], axis, 3.0 * dice.throw());
        let speed = 8.0 + 4.0 * dice.throw();
        let velocity = [speed, 2.0 * aside[1], 2.0 * aside[2]];
        let motion = [velocity, spin.map(|w| 8.0 * w)];
        let (mut s, body) = thrown((shape, *mass), pose, motion, wall, &options(integrator));
        for _ in 0..16 {
            s.step(0.01)
                .unwrap_or_else(|e| panic!("{integrator:?}, throw {throw}, {name}: {e}"));
        }
        let x = s.positions(body)[0];
        if x > most.0 {
            most = (x, format!("{integrator:?}, throw {throw}, {name}"));
        }
    }
    most
}

/// The centre of a body that a wall has stopped is before the wall, by its half thickness at least
/// but for what shapes may be in each other, a quarter of the thickness of a body: 5 mm.
#[test]
fn slender_bodies_do_not_pass_through_a_wall() {
    let wall = Shape::cuboid([0.025, 2.0, 2.0]).unwrap();
    for integrator in [Integrator::Sdirk2, Integrator::Theta, Integrator::Nonlinear] {
        let (x, which) = farthest(&integrator, &wall, 120);
        assert!(x < -0.025 - 0.01 + 0.005, "{which}: {x}");
    }
}

/// A wall of triangles that has no thickness lets none pass either.
#[test]
fn slender_bodies_do_not_pass_through_a_sheet() {
    let wall = sheet();
    for integrator in [Integrator::Sdirk2, Integrator::Theta, Integrator::Nonlinear] {
        let (x, which) = farthest(&integrator, &wall, 120);
        assert!(x < -0.01 + 0.005, "{which}: {x}");
    }
}
