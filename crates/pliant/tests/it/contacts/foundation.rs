//! Elastic foundations against the integrals of their pressure.

use pliant::collision::{
    Collider, Contact, ContactError, DistanceField, Material, MeshKind, Placement, Shape, Triangulation,
    World,
};
use pliant::dense::Vec3;
use pliant::prelude::*;
use std::f64::consts::PI;

/// Depth per pressure (m/Pa).
pub(super) const F: f64 = 2e-9;

/// A sphere of triangles: an icosahedron whose triangles are cut into four so many times.
pub(super) fn sphere(radius: f64, cuts: usize) -> Triangulation {
    let t = 0.5 * (1.0 + 5f64.sqrt());
    let mut points: Vec<Vec3> = Vec::new();
    for (a, b) in [(1.0, t), (-1.0, t), (1.0, -t), (-1.0, -t)] {
        points.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                let [a, b, c] = [points[i], points[j], points[k]];
                if [(a - b), (b - c), (c - a)]
                    .iter()
                    .all(|e| (e.norm() - 2.0).abs() < 1e-9)
                {
                    let out = (b - a).cross(&(c - a)).dot(&a) > 0.0;
                    triangles.push(if out { [i, j, k] } else { [i, k, j] });
                }
            }
        }
    }
    for _ in 0..cuts {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |a: usize, b: usize, points: &mut Vec<Vec3>| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let between = points[a] + points[b];
                points.push(between * (points[a].norm() / between.norm()));
                points.len() - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]: &[usize; 3]| {
                let [d, e, f] = [(a, b), (b, c), (c, a)].map(|(p, q)| middle(p, q, &mut points));
                [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
            })
            .collect();
    }
    // Turned, so that no point is right below the centre.
    let turn = pliant::dense::rotation::matrix(pliant::dense::rotation::exp(Vec3::new(0.3, 0.5, 0.2)));
    let place = |p: &Vec3| (turn * p * (radius / p.norm())).into();
    (points.iter().map(place).collect(), triangles)
}

/// A level rectangle about the origin, of `n` squares a side cut in two both ways in turn.
pub(super) fn plate(sides: [f64; 2], n: usize) -> Triangulation {
    let at = |k: usize| k as f64 / n as f64 - 0.5;
    let points =
        (0..(n + 1) * (n + 1)).map(|k| [sides[0] * at(k % (n + 1)), sides[1] * at(k / (n + 1)), 0.0]);
    let cut = |k: usize| {
        let (i, j) = (k % n, k / n);
        let a = j * (n + 1) + i;
        let [b, c, d] = [a + 1, a + n + 2, a + n + 1];
        match (i + j) % 2 {
            0 => [[a, b, c], [a, c, d]],
            _ => [[a, b, d], [b, c, d]],
        }
    };
    (points.collect(), (0..n * n).flat_map(cut).collect())
}

pub(super) fn soft() -> Material {
    Material {
        friction: 0.0,
        foundation: F,
        ..Material::default()
    }
}

/// A mesh with a foundation on a body at a pose, and another shape in the world; the model and the
/// world.
fn pressed(
    mesh: &Triangulation,
    kind: MeshKind,
    pose: Pose,
    other: Shape,
    place: Pose,
) -> (Model, NodeId, World) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let b = m.add_rigid_bodies("body", &[pose]).unwrap();
    m.add_mass("mass", b, Mass::Rigid(vec![RigidMass::sphere(50.0, 0.2)]))
        .unwrap();
    let mut world = World::new();
    let material = world.add_material(soft()).unwrap();
    let slick = world
        .add_material(Material {
            friction: 0.0,
            ..Material::default()
        })
        .unwrap();
    let other = Collider::new("other", other, Placement::Fixed(place));
    world.add(other.with_material(slick)).unwrap();
    let shape = Shape::triangle_mesh(&mesh.0, &mesh.1, kind).unwrap();
    let place = Placement::Body {
        node: b,
        element: 0,
        pose: Pose::default(),
    };
    world
        .add(Collider::new("mesh", shape, place).with_material(material))
        .unwrap();
    (m, b, world)
}

pub(super) fn contacts(model: &Model, world: &mut World) -> Vec<Contact> {
    let state = model.initial_state().unwrap();
    world
        .update(model, &state.positions, &state.velocities, 0.0)
        .unwrap()
        .to_vec()
}

/// Force and torque about a point of the springs of all contacts that overlap, on the second side.
pub(super) fn wrench(contacts: &[Contact], about: Vec3) -> (Vec3, Vec3) {
    let mut sum = (Vec3::zeros(), Vec3::zeros());
    for c in contacts.iter().filter(|c| c.gap < 0.0) {
        let force = Vec3::from(c.normal) * (-c.gap / c.material.compliance);
        sum.0 += force;
        sum.1 += (Vec3::from(c.b.point) - about).cross(&force);
    }
    sum
}

pub(super) fn half_space() -> Shape {
    Shape::half_space([0.0, 0.0, 1.0]).unwrap()
}

/// `F = pi R d^2/f` of a sphere on a plane and on a box, with the patch `rho^2 = 2 R d - d^2`: the
/// area of a sphere between two planes is that of the cylinder about it, so this is exact. The
/// error is that of the mesh, of the order of the squares of its edges over the patch.
#[test]
fn a_sphere_presses_with_its_patch() {
    let (radius, depth) = (0.2, 0.01);
    let exact = PI * radius * depth * depth / F;
    for on_box in [false, true] {
        let mut errors = Vec::new();
        for cuts in [3, 4, 5] {
            let up = Pose::at([0.0, 0.0, radius - depth]);
            let (other, place) = match on_box {
                true => (
                    Shape::cuboid([1.0, 1.0, 0.5]).unwrap(),
                    Pose::at([0.0, 0.0, -0.5]),
                ),
                false => (half_space(), Pose::default()),
            };
            let mesh = sphere(radius, cuts);
            let (m, _, mut world) = pressed(&mesh, MeshKind::Solid, up, other, place);
            let found = contacts(&m, &mut world);
            let (force, torque) = wrench(&found, Vec3::new(0.0, 0.0, radius - depth));
            // Springs along the normal of the plane, the torque of the mesh beside the symmetry.
            assert!(force.x.abs() + force.y.abs() < 1e-9 * force.z);
            errors.push((force.z / exact - 1.0).abs());
            let patch = found.iter().filter(|c| c.gap < 0.0);
            let patch = patch
                .map(|c| c.b.point[0].hypot(c.b.point[1]))
                .fold(0.0, f64::max);
            let edge = 1.2 * radius / f64::from(1 << cuts);
            let rim = (2.0 * radius * depth - depth * depth).sqrt();
            assert!(patch < rim && patch > rim - edge, "{patch} {rim} {edge}");
            assert!(torque.norm() < edge * edge / radius * force.z, "{torque:?}");
            assert!(errors[errors.len() - 1] < (edge / rim).powi(2), "{errors:?}");
        }
        println!("{errors:?}");
        assert!(errors[2] < 3e-3, "{errors:?}");
    }
}

/// A ball on level ground of triangles: columns of the ground, with the normals of the ball; the
/// sum of what is upwards is `pi (R - d) d^2/f`.
#[test]
fn a_ball_sinks_into_a_foundation_of_the_ground() {
    let (radius, depth) = (0.2f64, 0.01f64);
    let exact = PI * (radius - depth) * depth * depth / F;
    let mut errors = Vec::new();
    for n in [41, 81, 161] {
        let mut m = Model::new();
        let b = m
            .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, radius - depth])])
            .unwrap();
        let mut world = World::new();
        let material = world.add_material(soft()).unwrap();
        let (points, triangles) = plate([0.4, 0.4], n);
        let ground = Shape::triangle_mesh(&points, &triangles, MeshKind::Surface).unwrap();
        world
            .add(Collider::new("ground", ground, Placement::Fixed(Pose::default())).with_material(material))
            .unwrap();
        let place = Placement::Body {
            node: b,
            element: 0,
            pose: Pose::default(),
        };
        world
            .add(Collider::new("ball", Shape::ball(radius).unwrap(), place))
            .unwrap();
        let (force, _) = wrench(&contacts(&m, &mut world), Vec3::zeros());
        errors.push((force.z / exact - 1.0).abs());
    }
    println!("{errors:?}");
    // The patch has a radius of 6 cm; squares of 1 cm, 5 mm, and 2.5 mm.
    for (error, edge) in errors.iter().zip([0.01f64, 0.005, 0.0025]) {
        assert!(*error < (edge / 0.06).powi(2), "{errors:?}");
    }
}

/// A flat punch has `F = A d/f` to rounding, and tilted by an angle `phi` about y, all of it in the
/// ground, `f M = I sin(phi)` with the second moment `I = b a^3/12` of its area, less what the
/// lever turns: `M = I sin(phi) cos(phi)/f`. Of a mesh of `n` squares a side the sum over columns
/// is `1 + c/n^2` of it.
#[test]
fn a_punch_has_the_force_and_the_torque_of_its_area() {
    let (a, b, depth) = (0.3, 0.2, 0.01);
    let level = |n| {
        let pose = Pose::at([0.0, 0.0, -depth]);
        let mesh = plate([a, b], n);
        let (m, _, mut world) = pressed(&mesh, MeshKind::Surface, pose, half_space(), Pose::default());
        wrench(&contacts(&m, &mut world), Vec3::new(0.0, 0.0, -depth))
    };
    for n in [1, 2, 7] {
        let (force, torque) = level(n);
        assert!((force.z / (a * b * depth / F) - 1.0).abs() < 1e-12, "{force:?}");
        assert!(torque.norm() < 1e-12 * force.z, "{torque:?}");
    }
    let angle = 0.03f64;
    let exact = b * a.powi(3) / 12.0 * angle.sin() * angle.cos() / F;
    let mut errors = Vec::new();
    for n in [4, 8, 16] {
        let pose = Pose {
            position: [0.0, 0.0, -depth],
            rotation: [(0.5 * angle).cos(), 0.0, (0.5 * angle).sin(), 0.0],
        };
        let mesh = plate([a, b], n);
        let (m, _, mut world) = pressed(&mesh, MeshKind::Surface, pose, half_space(), Pose::default());
        let found = contacts(&m, &mut world);
        assert!(found.iter().all(|c| c.gap < 0.0) && found.len() == (n + 1) * (n + 1));
        let (force, torque) = wrench(&found, Vec3::new(0.0, 0.0, -depth));
        assert!((force.z / (a * b * depth / F) - 1.0).abs() < 1e-12);
        // The side that goes down about y is pushed up: against the tilt.
        errors.push(-torque.y / exact - 1.0);
    }
    println!("{errors:?}");
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1] - 4.0).abs() < 0.2, "{errors:?}");
    }
    assert!(errors[2].abs() < 0.02, "{errors:?}");
}

/// As it goes down the force grows without a jump: by no more than all of the patch times the way.
#[test]
fn the_force_grows_smoothly_with_the_patch() {
    let radius = 0.2;
    let mesh = sphere(radius, 3);
    let mut last = 0.0;
    let step = 2e-5;
    for k in 1..400 {
        let depth = step * f64::from(k);
        let up = Pose::at([0.0, 0.0, radius - depth]);
        let (m, _, mut world) = pressed(&mesh, MeshKind::Solid, up, half_space(), Pose::default());
        let force = wrench(&contacts(&m, &mut world), Vec3::zeros()).0.z;
        let patch = 2.0 * PI * radius * (depth + 2e-3);
        assert!(
            force >= last && force - last < patch * step / F,
            "{depth}: {last} {force}"
        );
        last = force;
    }
}

/// A sphere of 50 kg rests where `pi R d^2/f = m g`, or the mesh's own sum of columns is the
/// weight; nothing is allocated on the way, and energy is as much as there was.
#[test]
fn a_sphere_rests_at_its_depth() {
    let radius = 0.2;
    let mesh = sphere(radius, 4);
    // Softer, so that the patch has many points.
    let soft = Material {
        relaxation_time: 0.02,
        foundation: 1e-7,
        ..soft()
    };
    let depth = (50.0 * 9.81 * 1e-7 / (PI * radius)).sqrt();
    let up = Pose::at([0.0, 0.0, radius]);
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let b = m.add_rigid_bodies("body", &[up]).unwrap();
    m.add_mass("mass", b, Mass::Rigid(vec![RigidMass::sphere(50.0, radius)]))
        .unwrap();
    let mut world = World::new();
    let material = world.add_material(soft).unwrap();
    world
        .add(Collider::new(
            "ground",
            half_space(),
            Placement::Fixed(Pose::default()),
        ))
        .unwrap();
    let shape = Shape::triangle_mesh(&mesh.0, &mesh.1, MeshKind::Solid).unwrap();
    let place = Placement::Body {
        node: b,
        element: 0,
        pose: Pose::default(),
    };
    world
        .add(Collider::new("ball", shape, place).with_material(material))
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    let mut last = f64::INFINITY;
    for _ in 0..400 {
        let now = s.step(0.005).unwrap().energies.total();
        // By what the solver of contacts leaves.
        assert!(now < last + 1e-6, "{now} {last}");
        last = now;
    }
    let found = radius - s.positions(b)[2];
    println!("{found} {depth} {}", s.contacts().len());
    // Half of the relative error of the force at this depth, (edge/patch)^2.
    assert!((found / depth - 1.0).abs() < 0.02, "{found} {depth}");
    let weight = s.contact_force(b, 0).0[2];
    assert!((weight / (50.0 * 9.81) - 1.0).abs() < 1e-4, "{weight}");
    let counted = allocation_counter::measure(|| {
        for _ in 0..20 {
            s.step(0.005).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// A cloth on the ground has the pressure of its weight over its area at every point, and the depth
/// of that, hard materials in series included: `d = rho g t f`.
#[test]
fn a_cloth_sinks_by_its_pressure() {
    let (density, thickness, foundation) = (300.0, 0.002, 1e-5);
    let (points, triangles) = plate([0.4, 0.3], 4);
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let places: Vec<[f64; 3]> = points.iter().map(|p| [p[0], p[1], 0.5 * thickness]).collect();
    let p = m.add_particles("cloth", &places).unwrap();
    // Masses of a third of the triangles at each point.
    let mut masses = vec![0.0; places.len()];
    for t in &triangles {
        let [a, b, c] = t.map(|k| Vec3::from(places[k]));
        let third = (b - a).cross(&(c - a)).norm() / 6.0;
        t.iter().for_each(|k| masses[*k] += density * thickness * third);
    }
    m.add_mass("mass", p, Mass::PerElement(masses)).unwrap();
    let mut world = World::new();
    let soft = Material {
        foundation,
        relaxation_time: 0.02,
        ..soft()
    };
    let soft = world.add_material(soft).unwrap();
    world
        .add(Collider::new(
            "ground",
            half_space(),
            Placement::Fixed(Pose::default()),
        ))
        .unwrap();
    let cloth = Shape::soft_triangles(&triangles, 0.5 * thickness).unwrap();
    world
        .add(Collider::new("cloth", cloth, Placement::Points(p)).with_material(soft))
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..300 {
        s.step(0.005).unwrap();
    }
    let depth = density * thickness * 9.81 * foundation;
    for x in s.positions(p).chunks(3) {
        assert!(
            (0.5 * thickness - x[2] - depth).abs() < 1e-6 * depth,
            "{x:?} {depth}"
        );
    }
}

/// Pairs without columns are refused by name, and so are numbers without meaning.
#[test]
fn what_has_no_columns_is_refused() {
    let mesh = plate([0.3, 0.2], 2);
    let sheet = || Shape::triangle_mesh(&mesh.0, &mesh.1, MeshKind::Surface).unwrap();
    let boxed = || Shape::cuboid([0.1; 3]).unwrap();
    let compound = Shape::compound(&[(Pose::default(), sheet()), (Pose::default(), boxed())]).unwrap();
    let field = || Shape::distance_field(DistanceField::sampled([-0.3; 3], [0.3; 3], 0.1, |p| p[2]).unwrap());
    let fields = Shape::compound(&[(Pose::default(), field()), (Pose::default(), boxed())]).unwrap();
    for (a, b, reason) in [
        (boxed(), boxed(), "neither of them is a mesh"),
        (sheet(), sheet(), "neither of the two meshes has an inside"),
        (boxed(), half_space(), "neither of them is a mesh"),
        (sheet(), compound, "points, segments and compounds with meshes"),
        (field(), half_space(), "neither of them is a mesh"),
        (field(), field(), "neither of them is a mesh"),
        (sheet(), fields, "compounds with meshes or distance fields"),
    ] {
        let mut m = Model::new();
        // Far from each other: it is refused before they meet.
        let c = m.add_rigid_bodies("body", &[Pose::at([0.0, 0.0, 9.0])]).unwrap();
        let mut world = World::new();
        let material = world.add_material(soft()).unwrap();
        let place = Placement::Body {
            node: c,
            element: 0,
            pose: Pose::default(),
        };
        let first = world
            .add(Collider::new("one", a, place).with_material(material))
            .unwrap();
        let second = world
            .add(Collider::new("other", b, Placement::Fixed(Pose::default())))
            .unwrap();
        let state = m.initial_state().unwrap();
        let update = |world: &mut World| {
            let found = world.update(&m, &state.positions, &state.velocities, 0.0);
            found.map(|_| ())
        };
        let error = update(&mut world).unwrap_err();
        assert!(matches!(&error, ContactError::Foundation { .. }), "{error:?}");
        let words = error.to_string();
        assert!(words.contains(reason), "{words}");
        assert!(words.contains("`foundation`") && words.contains("`one`") && words.contains("`other`"));
        // What never meets is not refused.
        world.exclude(first, second).unwrap();
        update(&mut world).unwrap();
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let bad = Material {
            foundation: bad,
            ..Material::default()
        };
        let error = World::new().add_material(bad).unwrap_err().to_string();
        assert!(error.contains("the foundation of a material"), "{error}");
    }
}
