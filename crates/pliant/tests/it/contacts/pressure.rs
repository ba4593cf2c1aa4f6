//! Contact pressure of surfaces: sums that statics asks for, and places.

use super::foundation::{half_space, plate, sphere};
use pliant::collision::{Collider, Material, MeshKind, Placement, Shape, World};
use pliant::continuum::{Mesh, Solid};
use pliant::dense::Vec3;
use pliant::prelude::*;

/// A third of the triangles at each point.
fn thirds(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Vec<f64> {
    let mut areas = vec![0.0; points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|k| Vec3::from(points[k]));
        let third = (b - a).cross(&(c - a)).norm() / 6.0;
        t.iter().for_each(|k| areas[*k] += third);
    }
    areas
}

fn slick(world: &mut World) -> pliant::collision::MaterialId {
    let material = Material {
        friction: 0.0,
        ..Material::default()
    };
    world.add_material(material).unwrap()
}

/// A cloth that lies on the ground, hard: `p = rho g t` at every point, for masses and areas are
/// the same thirds.
#[test]
fn a_cloth_has_the_pressure_of_its_weight() {
    let (density, thickness) = (300.0, 0.002);
    let (points, triangles) = plate([0.4, 0.3], 4);
    let places: Vec<[f64; 3]> = points.iter().map(|p| [p[0], p[1], 0.5 * thickness]).collect();
    let areas = thirds(&points, &triangles);
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let p = m.add_particles("cloth", &places).unwrap();
    let masses = areas.iter().map(|a| density * thickness * a).collect();
    m.add_mass("mass", p, Mass::PerElement(masses)).unwrap();
    let mut world = World::new();
    let slick = slick(&mut world);
    let ground = Collider::new("ground", half_space(), Placement::Fixed(Pose::default()));
    let ground = world.add(ground.with_material(slick)).unwrap();
    let cloth = Shape::soft_triangles(&triangles, 0.5 * thickness).unwrap();
    let cloth = world
        .add(Collider::new("cloth", cloth, Placement::Points(p)))
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    let found = s.contact_pressure(cloth.index() as u32).unwrap();
    assert_eq!(found.len(), points.len());
    for pressure in &found {
        // The solver of contacts aims at 1e-9.
        assert!(
            (pressure / (density * thickness * 9.81) - 1.0).abs() < 1e-7,
            "{pressure}"
        );
    }
    // What has no triangles has no pressure.
    assert!(s.contact_pressure(ground.index() as u32).unwrap().is_empty());
    assert!(s.contact_pressure(99).unwrap().is_empty());
}

/// A soft block under its own weight: the pressure on its bottom times the areas is `m g`, and
/// there is none elsewhere; also with a load that lies on it, whose contacts are within its
/// triangles.
#[test]
fn a_soft_block_carries_its_weight() {
    let (side, density, lift) = (0.2, 1000.0, 0.001);
    let mut mesh = Mesh::hexahedral_box([side; 3], [2; 3]).unwrap().into_tetrahedra();
    // On the ground with the radius of its skin.
    let lowest = mesh.nodes.iter().fold(f64::INFINITY, |z, p| z.min(p[2]));
    let middle: Vec<f64> = (0..2)
        .map(|k| mesh.nodes.iter().map(|p| p[k]).sum::<f64>() / 27.0)
        .collect();
    for p in &mut mesh.nodes {
        *p = [
            p[0] - middle[0] + 0.1,
            p[1] - middle[1] + 0.1,
            p[2] - lowest + lift,
        ];
    }
    let (places, triangles) = (mesh.nodes.clone(), mesh.surface());
    let areas = thirds(&places, &triangles);
    assert!((areas.iter().sum::<f64>() - 6.0 * side * side).abs() < 1e-14);
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let solid = Solid::linear(1e6, 0.3)
        .with_density(density)
        .with_relaxation_time(0.05);
    let p = solid.add_to(&mut m, "block", &mesh).unwrap().nodes;
    let load = Pose::at([0.09, 0.11, side + 2.0 * lift + 0.03]);
    let load = m.add_rigid_bodies("load", &[load]).unwrap();
    let mass = RigidMass::cuboid(0.5, [0.06; 3]);
    m.add_mass("load", load, Mass::Rigid(vec![mass])).unwrap();
    let mut world = World::new();
    let slick = slick(&mut world);
    let ground = Collider::new("ground", half_space(), Placement::Fixed(Pose::default()));
    world.add(ground.with_material(slick)).unwrap();
    let skin = Shape::soft_triangles(&triangles, lift).unwrap();
    let skin = world
        .add(Collider::new("block", skin, Placement::Points(p)))
        .unwrap();
    let place = Placement::Body {
        node: load,
        element: 0,
        pose: Pose::default(),
    };
    let shape = Shape::cuboid([0.03; 3]).unwrap();
    world.add(Collider::new("load", shape, place)).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..400 {
        s.step(0.01).unwrap();
    }
    let found = s.contact_pressure(skin.index() as u32).unwrap();
    let (mut below, mut above) = (0.0, 0.0);
    for ((pressure, area), place) in found.iter().zip(&areas).zip(&places) {
        let force = pressure * area;
        assert!(*pressure >= 0.0);
        if place[2] == lift {
            below += force;
        } else if place[2] > 0.99 * side {
            above += force;
        } else {
            assert_eq!(force, 0.0);
        }
    }
    let [block, load] = [density * side.powi(3) * 9.81, 0.5 * 9.81];
    println!("{below} {above} of {} {load}", block + load);
    // At rest, but for what is left of its motion after 4 s, and for the tilt of its top, whose
    // square is 1e-5.
    assert!((below / (block + load) - 1.0).abs() < 1e-4, "{below}");
    assert!((above / load - 1.0).abs() < 1e-4, "{above}");
}

/// Rigid meshes: the sum is the weight, of a body that lies in any orientation, and of the ground
/// under a ball, where it is in the triangle below it.
#[test]
fn rigid_meshes_have_it_where_they_are_touched() {
    // A box of triangles that lies on the ground, turned about the vertical.
    let (points, triangles) = plate([0.4, 0.3], 1);
    let mut corners: Vec<[f64; 3]> = points.iter().map(|p| [p[0], p[1], -0.05]).collect();
    corners.extend(points.iter().map(|p| [p[0], p[1], 0.05]));
    let mut faces: Vec<[usize; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    faces.extend(triangles.iter().map(|t| t.map(|k| k + 4)));
    for [a, b] in [[0, 1], [1, 3], [3, 2], [2, 0]] {
        faces.extend([[a, b, b + 4], [a, b + 4, a + 4]]);
    }
    let areas = thirds(&corners, &faces);
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let pose = Pose::turned([1.0, 2.0, 0.05], [0.0, 0.0, 1.0], 0.7);
    let b = m.add_rigid_bodies("box", &[pose]).unwrap();
    let mass = RigidMass::cuboid(3.0, [0.4, 0.3, 0.1]);
    m.add_mass("mass", b, Mass::Rigid(vec![mass])).unwrap();
    let ball = m
        .add_rigid_bodies("ball", &[Pose::at([-0.05, 0.02, 0.1])])
        .unwrap();
    m.add_mass("ball", ball, Mass::Rigid(vec![RigidMass::sphere(0.5, 0.1)]))
        .unwrap();
    let mut world = World::new();
    let plane = Collider::new("plane", half_space(), Placement::Fixed(Pose::at([0.0, 0.0, 0.0])));
    let plane = world.add(plane).unwrap();
    let shape = Shape::triangle_mesh(&corners, &faces, MeshKind::Solid).unwrap();
    let on = |node| Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    let boxed = world.add(Collider::new("box", shape, on(b))).unwrap();
    let (points, triangles) = plate([0.4, 0.4], 4);
    let tiles = Shape::triangle_mesh(&points, &triangles, MeshKind::Surface).unwrap();
    let tiles = world
        .add(Collider::new("tiles", tiles, Placement::Fixed(Pose::default())))
        .unwrap();
    let round = world
        .add(Collider::new("ball", Shape::ball(0.1).unwrap(), on(ball)))
        .unwrap();
    world.exclude(plane, round).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    let found = s.contact_pressure(boxed.index() as u32).unwrap();
    let forces: Vec<f64> = found.iter().zip(&areas).map(|(p, a)| p * a).collect();
    assert!(
        (forces.iter().sum::<f64>() / (3.0 * 9.81) - 1.0).abs() < 1e-7,
        "{forces:?}"
    );
    // All of it below, and none at the top.
    assert!(forces[4..].iter().all(|f| f.abs() < 1e-9), "{forces:?}");
    let found = s.contact_pressure(tiles.index() as u32).unwrap();
    let areas = thirds(&points, &triangles);
    let (mut sum, mut centre) = (0.0, [0.0; 2]);
    for ((pressure, area), place) in found.iter().zip(&areas).zip(&points) {
        let force = pressure * area;
        sum += force;
        centre = [centre[0] + force * place[0], centre[1] + force * place[1]];
    }
    assert!((sum / (0.5 * 9.81) - 1.0).abs() < 1e-7, "{sum}");
    // The weights of the corners have their mean below the ball.
    assert!(
        (centre[0] / sum + 0.05).abs() < 1e-7 && (centre[1] / sum - 0.02).abs() < 1e-7,
        "{centre:?}"
    );
}

/// On an elastic foundation the pressure at each point is its depth over the foundation.
#[test]
fn columns_have_the_pressure_of_their_depth() {
    let (radius, foundation) = (0.2, 1e-7);
    let mesh = sphere(radius, 3);
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let b = m
        .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, radius - 0.008])])
        .unwrap();
    m.add_mass("mass", b, Mass::Rigid(vec![RigidMass::sphere(50.0, radius)]))
        .unwrap();
    let mut world = World::new();
    let soft = Material {
        friction: 0.0,
        foundation,
        relaxation_time: 0.05,
        ..Material::default()
    };
    let soft = world.add_material(soft).unwrap();
    let ground = Collider::new("ground", half_space(), Placement::Fixed(Pose::default()));
    world.add(ground).unwrap();
    let shape = Shape::triangle_mesh(&mesh.0, &mesh.1, MeshKind::Solid).unwrap();
    let place = Placement::Body {
        node: b,
        element: 0,
        pose: Pose::default(),
    };
    let ball = world
        .add(Collider::new("ball", shape, place).with_material(soft))
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..600 {
        s.step(0.005).unwrap();
    }
    let found = s.contact_pressure(ball.index() as u32).unwrap();
    let x = s.positions(b);
    let mut deep = 0;
    for (pressure, local) in found.iter().zip(&mesh.0) {
        let z = x[2] + pliant::dense::rotation::rotate([x[3], x[4], x[5], x[6]], (*local).into())[2];
        let depth = (-z).max(0.0);
        deep += usize::from(depth > 0.0);
        // Without friction it still turns after 3 s, and has its depth from the start of the step.
        assert!(
            (pressure - depth / foundation).abs() < 1e-3 * 0.008 / foundation,
            "{pressure} {}",
            depth / foundation
        );
    }
    assert!(deep > 10);
}
