//! Bodies on shapes that are given by their signed distance.

use pliant::collision::*;
use pliant::prelude::*;

const G: f64 = 9.81;

/// A field of a function in a box.
fn field(low: [f64; 3], high: [f64; 3], spacing: f64, f: impl Fn([f64; 3]) -> f64) -> Shape {
    Shape::distance_field(DistanceField::sampled(low, high, spacing, f).unwrap())
}

fn torus(spacing: f64) -> Shape {
    let low = [-1.5, -1.5, -0.5];
    field(low, [1.5, 1.5, 0.5], spacing, |[x, y, z]| {
        (x.hypot(y) - 1.0).hypot(z) - 0.25
    })
}

fn ground() -> Shape {
    field([-2.03, -2.05, -0.52], [2.0, 2.0, 0.5], 0.1, |p| p[2])
}

/// The inside of a ball of 1 m whose lowest point is the origin, as a hollow.
fn bowl(spacing: f64) -> Shape {
    let low = [-0.81, -0.83, -0.2];
    field(low, [0.8, 0.8, 0.6], spacing, |[x, y, z]| {
        1.0 - x.hypot(y).hypot(z - 1.0)
    })
}

/// A body of one kilogram with a shape over another that stands, with friction.
fn over(
    standing: Shape,
    shape: Shape,
    mass: RigidMass,
    pose: Pose,
    velocity: [[f64; 3]; 2],
    friction: f64,
) -> (Simulation, NodeId) {
    let material = Material {
        friction,
        ..Material::default()
    };
    of_material([standing, shape], mass, pose, velocity, material)
}

/// A body of one kilogram with the second shape over the first, which stands, of one material.
fn of_material(
    [standing, shape]: [Shape; 2],
    mass: RigidMass,
    pose: Pose,
    velocity: [[f64; 3]; 2],
    material: Material,
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let node = m.add_rigid_bodies("body", &[pose]).unwrap();
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(node, 0, velocity[0], velocity[1]).unwrap();
    let mut world = World::new();
    let material = world.add_material(material).unwrap();
    let fixed = Collider::new("standing", standing, Placement::Fixed(Pose::default()));
    world.add(fixed.with_material(material)).unwrap();
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    let collider = Collider::new("body", shape, place);
    world.add(collider.with_material(material)).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    (s, node)
}

fn ball(radius: f64) -> (Shape, RigidMass) {
    (Shape::ball(radius).unwrap(), RigidMass::sphere(1.0, radius))
}

/// A ball rests on flat ground, rolls on it without being braked, and slopes down it with 5/7 of
/// what gravity has along them; the ground carries its weight.
#[test]
fn a_ball_rolls_on_flat_ground() {
    let r = 0.2;
    for v in [0.0, 0.7] {
        let (shape, mass) = ball(r);
        let rolling = [[v, 0.3 * v, 0.0], [-0.3 * v / r, v / r, 0.0]];
        let pose = Pose::at([-1.0, 0.0, r]);
        let (mut s, node) = over(ground(), shape, mass, pose, rolling, 0.5);
        for _ in 0..120 {
            s.step(1.0 / 60.0).unwrap();
            let (force, _) = s.contact_force(node, 0);
            assert!((force[2] - G).abs() < 1e-8 * G, "{force:?}");
        }
        let at = s.pose(node, 0).unwrap().position;
        let expected = [-1.0 + 2.0 * v, 0.6 * v, r];
        for k in 0..3 {
            assert!((at[k] - expected[k]).abs() < 1e-8, "{at:?} {expected:?}");
        }
    }
    let angle = 0.2_f64;
    let slope = field([-2.0, -1.0, -1.0], [2.0, 1.0, 1.0], 0.1, |[x, _, z]| {
        x * angle.sin() + z * angle.cos()
    });
    let (shape, mass) = ball(r);
    let pose = Pose::at([r * angle.sin() - 0.5, 0.0, r * angle.cos() + 0.5 * angle.tan()]);
    let (mut s, node) = over(slope, shape, mass, pose, [[0.0; 3]; 2], 0.5);
    for _ in 0..60 {
        s.step(1.0 / 60.0).unwrap();
    }
    let at = s.pose(node, 0).unwrap().position;
    let way = (at[0] - pose.position[0]) / angle.cos();
    let expected = 0.5 * 5.0 / 7.0 * G * angle.sin();
    assert!((way - expected).abs() < 1e-3 * expected, "{way} {expected}");
}

/// A body whose own shape is the field of a ball rolls on a plane, and the plane carries it.
#[test]
fn a_field_rolls_on_a_plane() {
    let r = 0.2;
    let shape = field([-0.31, -0.3, -0.29], [0.3; 3], 0.02, |[x, y, z]| {
        x.hypot(y).hypot(z) - r
    });
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let rolling = [[0.5, 0.0, 0.0], [0.0, 0.5 / r, 0.0]];
    let pose = Pose::at([0.0, 0.0, r]);
    let (mut s, node) = over(plane, shape, RigidMass::sphere(1.0, r), pose, rolling, 0.5);
    let mut mean = 0.0;
    for _ in 0..120 {
        s.step(1.0 / 60.0).unwrap();
        mean += s.contact_force(node, 0).0[2] / 120.0;
    }
    let at = s.pose(node, 0).unwrap().position;
    // The field of a ball is one to 1e-5 of its radius at this spacing.
    assert!((at[0] - 1.0).abs() < 2e-3 && (at[2] - r).abs() < 2e-5, "{at:?}");
    assert!((mean - G).abs() < 1e-2 * G, "{mean}");
}

/// A box stays on a torus and on its corners in a bowl, which carry its weight.
#[test]
fn a_box_rests_on_a_torus_and_in_a_bowl() {
    let half = [0.3, 0.2, 0.1];
    let deep = 1.0 - (1.0 - 0.3_f64.powi(2) - 0.2_f64.powi(2)).sqrt() + 0.1;
    for (name, standing, half, height) in [
        ("torus", torus(0.05), [1.2, 1.2, 0.1], 0.25 + 0.1),
        ("bowl", bowl(0.04), half, deep),
    ] {
        let mass = RigidMass::cuboid(1.0, half.map(|x| 2.0 * x));
        let shape = Shape::cuboid(half).unwrap();
        let pose = Pose::at([0.0, 0.0, height]);
        let (mut s, node) = over(standing, shape, mass, pose, [[0.0; 3]; 2], 0.5);
        for _ in 0..180 {
            s.step(1.0 / 60.0).unwrap();
        }
        let (force, _) = s.contact_force(node, 0);
        let at = s.pose(node, 0).unwrap().position;
        assert!((force[2] - G).abs() < 1e-6 * G, "{name} {force:?}");
        let off = at[0].hypot(at[1]).hypot(at[2] - height);
        assert!(off < 1e-4, "{name} {off}");
    }
}

/// A ball without friction in a bowl is a pendulum: it comes back after the period of one.
#[test]
fn a_ball_in_a_bowl_is_a_pendulum() {
    let (r, angle) = (0.1, 0.3_f64);
    let length = 1.0 - r;
    // The period, to the fourth order in the amplitude.
    let period = std::f64::consts::TAU
        * (length / G).sqrt()
        * (1.0 + angle * angle / 16.0 + 11.0 * angle.powi(4) / 3072.0);
    let (shape, mass) = ball(r);
    let start = [length * angle.sin(), 0.0, 1.0 - length * angle.cos()];
    let (mut s, node) = over(bowl(0.04), shape, mass, Pose::at(start), [[0.0; 3]; 2], 0.0);
    let steps = 400;
    let mut lowest = f64::INFINITY;
    for _ in 0..steps {
        s.step(period / f64::from(steps)).unwrap();
        let at = s.pose(node, 0).unwrap().position;
        let radius = at[0].hypot(at[1]).hypot(at[2] - 1.0);
        assert!((radius - length).abs() < 1e-4, "{radius}");
        lowest = lowest.min(at[2]);
    }
    let at = s.pose(node, 0).unwrap().position;
    let off = (at[0] - start[0]).hypot(at[2] - start[2]);
    assert!(off < 1e-3 && (lowest - r).abs() < 1e-4, "{off} {lowest}");
}

/// A ball that fits falls through a torus, one that does not stays on it; a fast one does not pass
/// a plate.
#[test]
fn a_ball_falls_through_a_hole_or_does_not() {
    let drop = |standing: Shape, r: f64, z: f64, v: f64, steps: usize| {
        let (shape, mass) = ball(r);
        let velocity = [[0.0, 0.0, -v], [0.0; 3]];
        let pose = Pose::at([0.0, 0.0, z]);
        let (mut s, node) = over(standing, shape, mass, pose, velocity, 0.5);
        for _ in 0..steps {
            s.step(1.0 / 60.0).unwrap();
        }
        s.pose(node, 0).unwrap().position[2]
    };
    assert!(drop(torus(0.05), 0.6, 1.0, 0.0, 60) < -3.0);
    // Its centre is as high as it is where it touches all around.
    let r = 0.9_f64;
    let height = ((r + 0.25).powi(2) - 1.0).sqrt();
    let z = drop(torus(0.05), r, height + 0.1, 0.0, 120);
    assert!((z - height).abs() < 2e-3, "{z} {height}");
    let plate = field([-0.5, -0.5, -0.2], [0.5, 0.5, 0.2], 0.02, |p| p[2].abs() - 0.05);
    let z = drop(plate, 0.02, 3.0, 300.0, 5);
    assert!((z - 0.07).abs() < 1e-3, "{z}");
}

/// Viscous friction slows down a box on a field by `exp(-n c t/m)` with its four corners, and on a
/// slope that has no other friction the box ends with `m g sin(a)/(n c)`.
#[test]
fn viscous_friction_slows_down_on_fields() {
    let (half, drag) = ([0.3, 0.2, 0.05], 0.5);
    let material = Material {
        friction: 0.0,
        viscous_friction: drag,
        ..Material::default()
    };
    let slide = |angle: f64, speed: f64, steps: u32, time: f64| {
        let (sin, cos) = angle.sin_cos();
        let standing = field([-2.0, -1.0, -1.5], [2.0, 1.0, 1.5], 0.1, |[x, _, z]| {
            x * sin + z * cos
        });
        let mass = RigidMass::cuboid(1.0, half.map(|x| 2.0 * x));
        let from = [half[2] * sin - cos, 0.0, half[2] * cos + sin];
        let pose = Pose::turned(from, [0.0, 1.0, 0.0], angle);
        let velocity = [[speed * cos, 0.0, -speed * sin], [0.0; 3]];
        let shapes = [standing, Shape::cuboid(half).unwrap()];
        let (mut s, node) = of_material(shapes, mass, pose, velocity, material);
        for _ in 0..steps {
            s.step(time / f64::from(steps)).unwrap();
        }
        let v = s.velocities(node);
        assert!(
            (v[0] * sin + v[2] * cos).abs() < 1e-8 && v[1].abs() < 1e-8,
            "{v:?}"
        );
        v[0] * cos - v[2] * sin
    };
    let exact = 2.0 * (-4.0 * drag * 0.5_f64).exp();
    let errors = [10, 20, 40].map(|steps| (slide(0.0, 2.0, steps, 0.5) - exact).abs());
    let order = (errors[0] / errors[1]).log2().min((errors[1] / errors[2]).log2());
    assert!(order > 1.9 && errors[2] < 1e-3, "{errors:?}");
    let end = G * 0.1_f64.sin() / (4.0 * drag);
    assert!((slide(0.1, end, 40, 1.0) - end).abs() < 1e-8 * end);
}
