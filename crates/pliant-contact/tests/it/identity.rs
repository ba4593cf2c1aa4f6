//! Keys: kept while a contact lasts, never shared, saved and restored.

use pliant_contact::{Carrier, Contact, ContactError, ContactMemory, MeshKind, Rest, Shape};
use pliant_dense::Vec3;
use pliant_model::Pose;

use crate::rig::{Random, Rig};

fn ground() -> Shape {
    Shape::half_space([0.0, 0.0, 1.0]).unwrap()
}

/// A square of 40 x 40 m in cells of 1 m.
fn flat_mesh() -> Shape {
    let n = 41;
    let points: Vec<[f64; 3]> = (0..n * n)
        .map(|k| [(k % n) as f64 - 20.0, (k / n) as f64 - 20.0, 0.0])
        .collect();
    let mut triangles = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let k = y * n + x;
            triangles.extend([[k, k + 1, k + n + 1], [k, k + n + 1, k + n]]);
        }
    }
    Shape::triangle_mesh(&points, &triangles, MeshKind::Surface).unwrap()
}

fn keys(contacts: &[Contact]) -> Vec<u64> {
    let keys: Vec<u64> = contacts.iter().map(|c| c.key.serial).collect();
    let mut sorted = keys.clone();
    sorted.dedup();
    assert_eq!(sorted, keys, "shared keys");
    keys
}

#[test]
fn sliding_and_spinning_keep_the_keys() {
    for floor in [ground(), Shape::cuboid([50.0, 50.0, 1.0]).unwrap()] {
        let z = if matches!(floor.clone(), ref f if format!("{f:?}").contains("HalfSpace")) {
            0.5
        } else {
            1.5
        };
        let body = (Shape::cuboid([0.5, 0.4, 0.5]).unwrap(), Pose::at([0.0, 0.0, z]));
        let mut rig = Rig::new(&[body]).fixed("floor", floor);
        rig.state
            .velocities
            .copy_from_slice(&[8.0, 3.0, 0.0, 0.0, 0.0, 20.0]);
        let first = keys(&rig.contacts(1.0 / 60.0));
        assert_eq!(first.len(), 4);
        for step in 1..120 {
            rig.advance(1.0 / 60.0);
            let now = rig.contacts(1.0 / 60.0);
            assert_eq!(keys(&now), first, "step {step}");
            assert!(now.iter().all(|c| c.age == step));
        }
    }
}

#[test]
fn rolling_over_a_mesh_keeps_the_key_and_a_normal_that_is_up() {
    let r = 0.3;
    let mut rig =
        Rig::new(&[(Shape::ball(r).unwrap(), Pose::at([-15.0, -3.3, r]))]).fixed("floor", flat_mesh());
    let v = 5.0;
    rig.state
        .velocities
        .copy_from_slice(&[v, 0.4 * v, 0.0, -0.4 * v / r, v / r, 0.0]);
    let first = keys(&rig.contacts(1.0 / 60.0));
    for _ in 0..300 {
        // World spin is constant, so the body is turned back to keep the numbers plain.
        rig.advance(1.0 / 60.0);
        rig.state.positions[3..7].copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        let now = rig.contacts(1.0 / 60.0);
        assert_eq!(keys(&now), first, "{now:#?}");
        assert!(now[0].gap.abs() < 1e-12);
        assert!(Vec3::from(now[0].normal).z.abs() > 1.0 - 1e-12);
    }
}

#[test]
fn the_same_corner_on_the_same_plane_is_the_same_contact_wherever() {
    let body = (Shape::cuboid([0.5; 3]).unwrap(), Pose::at([0.0, 0.0, 0.5]));
    let mut rig = Rig::new(&[body]).fixed("floor", ground());
    let first = rig.contacts(0.01);
    // Moved by 5 m and turned by nearly a quarter between two updates: no place is where it was,
    // neither in the body nor in the world.
    let moved = Pose::turned([5.0, 0.0, 0.5], [0.0, 0.0, 1.0], 1.5);
    rig.state.positions[..3].copy_from_slice(&moved.position);
    rig.state.positions[3..7].copy_from_slice(&moved.rotation);
    let again = rig.contacts(0.01);
    for (a, b) in first.iter().zip(&again) {
        assert_eq!(a.key, b.key);
        let (Carrier::Body { local: x, .. }, Carrier::Body { local: y, .. }) = (a.a.carrier, b.a.carrier)
        else {
            panic!("{a:?} {b:?}");
        };
        assert!((Vec3::from(x) - Vec3::from(y)).norm() < 1e-12);
    }
    // A ball that has turned over touches with another of its points: only the feature says that it
    // is the same contact.
    let mut ball =
        Rig::new(&[(Shape::ball(0.5).unwrap(), Pose::at([0.0, 0.0, 0.5]))]).fixed("floor", ground());
    let first = ball.contacts(0.01)[0].key;
    let moved = Pose::turned([5.0, 0.0, 0.5], [1.0, 0.0, 0.0], 2.0);
    ball.state.positions[..3].copy_from_slice(&moved.position);
    ball.state.positions[3..7].copy_from_slice(&moved.rotation);
    assert_eq!(ball.contacts(0.01)[0].key, first);
}

#[test]
fn what_parts_and_meets_again_is_new() {
    let mut rig =
        Rig::new(&[(Shape::ball(0.5).unwrap(), Pose::at([0.0, 0.0, 0.5]))]).fixed("floor", ground());
    let first = rig.contacts(0.01);
    assert!(first[0].is_new());
    rig.state.positions[2] = 2.0;
    assert!(rig.contacts(0.01).is_empty());
    rig.state.positions[2] = 0.5;
    let again = rig.contacts(0.01);
    assert!(again[0].is_new() && again[0].key != first[0].key);
}

#[test]
fn a_restored_memory_goes_on_bit_for_bit() {
    let mut random = Random(3);
    let parts: Vec<(Shape, Pose)> = (0..12)
        .map(|k| {
            let mut pose = random.pose(0.8);
            pose.position[2] += 0.8;
            let shape = match k % 4 {
                0 => Shape::ball(0.3),
                1 => Shape::cuboid([0.3, 0.2, 0.4]),
                2 => Shape::capsule(0.3, 0.15),
                _ => Shape::cylinder(0.3, 0.2),
            };
            (shape.unwrap(), pose)
        })
        .collect();
    let mut rig = Rig::new(&parts).fixed("floor", ground());
    for v in &mut rig.state.velocities {
        *v = random.next() - 0.5;
    }
    for _ in 0..10 {
        rig.contacts(0.01);
        rig.advance(0.01);
    }
    let (memory, state) = (rig.world.memory().clone(), rig.state.clone());
    let run = |rig: &mut Rig| {
        let mut all = Vec::new();
        for _ in 0..20 {
            all.extend(rig.contacts(0.01));
            rig.advance(0.01);
        }
        format!("{all:?}")
    };
    let through = run(&mut rig);
    let mut other = Rig::new(&parts).fixed("floor", ground());
    other.state = state;
    other.world.set_memory(memory).unwrap();
    assert_eq!(run(&mut other), through);
}

/// Looking ahead names contacts by what is remembered, and leaves that as it was, also what new
/// contacts will be called.
#[test]
fn looking_ahead_leaves_the_memory() {
    let parts = [0.5, 1.6].map(|z| (Shape::cuboid([0.5; 3]).unwrap(), Pose::at([0.0, 0.0, z])));
    let mut rig = Rig::new(&parts).fixed("floor", ground());
    let found = rig.contacts(0.01);
    assert_eq!(found.len(), 4);
    let memory = rig.world.memory().clone();
    let mut ahead = rig.state.clone();
    // The upper box comes to lie on the lower one.
    ahead.positions[7 + 2] = 1.5;
    let (positions, velocities) = (&ahead.positions, &ahead.velocities);
    let looked = rig.world.look(&rig.model, positions, velocities, 0.01).unwrap();
    assert_eq!(looked.len(), 8);
    assert!(found.iter().all(|c| looked.iter().any(|l| l.key == c.key)));
    assert_eq!(rig.world.memory(), &memory);
    rig.state = ahead;
    let named: Vec<_> = rig.contacts(0.01).iter().map(|c| c.key).collect();
    let mut again = Rig::new(&parts).fixed("floor", ground());
    again.contacts(0.01);
    again.state = rig.state.clone();
    let expected: Vec<_> = again.contacts(0.01).iter().map(|c| c.key).collect();
    assert_eq!(named, expected);
}

#[test]
fn a_memory_of_another_world_is_refused() {
    let mut rig =
        Rig::new(&[(Shape::ball(0.5).unwrap(), Pose::at([0.0, 0.0, 0.5]))]).fixed("floor", ground());
    rig.contacts(0.01);
    let memory: ContactMemory = rig.world.memory().clone();
    let mut empty = pliant_contact::World::new();
    assert!(matches!(
        empty.set_memory(memory),
        Err(ContactError::Memory {
            collider: 1,
            count: 0
        })
    ));
}

/// Sleepers are searched only against moving neighbours, and have their old keys when they wake.
#[test]
fn sleepers_keep_their_keys() {
    let boxes = [0.5, 1.5, 2.5].map(|z| (Shape::cuboid([0.5; 3]).unwrap(), Pose::at([0.0, 0.0, z])));
    let mut rig = Rig::new(&boxes).fixed("floor", ground());
    let all = rig.contacts(0.01);
    assert_eq!(all.len(), 12);
    // Two of the floor, and of the boxes with each other.
    rig.world
        .set_rest(&|_, element| if element < 2 { Rest::Sleeps } else { Rest::Moves });
    for _ in 0..3 {
        let seen = rig.contacts(0.01);
        let of_top = all.iter().filter(|c| c.b.collider.index() == 2);
        assert_eq!(keys(&seen), of_top.map(|c| c.key.serial).collect::<Vec<_>>());
    }
    rig.world.set_rest(&|_, _| Rest::Sleeps);
    assert!(rig.contacts(0.01).is_empty());
    // What only stands is found among itself.
    rig.world.set_rest(&|_, _| Rest::Stands);
    assert_eq!(rig.contacts(0.01).len(), 12);
    rig.world.set_rest(&|_, _| Rest::Moves);
    assert_eq!(keys(&rig.contacts(0.01)), keys(&all));
}

/// A ball that rolls over small triangles meets another one with another point of itself in every
/// step: still it is the same contact.
#[test]
fn a_ball_that_rolls_over_triangles_keeps_its_key() {
    let cells = 60;
    let place = |i: usize| -1.0 + i as f64 / 20.0;
    let points: Vec<[f64; 3]> = (0..=cells)
        .flat_map(|i| [[place(i), -0.5, 0.0], [place(i), 0.5, 0.0]])
        .collect();
    let triangles: Vec<[usize; 3]> = (0..cells)
        .flat_map(|i| [[2 * i, 2 * i + 2, 2 * i + 1], [2 * i + 2, 2 * i + 3, 2 * i + 1]])
        .collect();
    let ground = Shape::triangle_mesh(&points, &triangles, MeshKind::Surface).unwrap();
    let mut rig =
        Rig::new(&[(Shape::ball(0.1).unwrap(), Pose::at([-0.9, 0.1, 0.1]))]).fixed("ground", ground);
    // 83 mm in a step, without slip.
    (rig.state.velocities[0], rig.state.velocities[4]) = (5.0, 50.0);
    let mut first = None;
    for step in 0..20 {
        let found = rig.contacts(1.0 / 60.0);
        assert_eq!(found.len(), 1, "{step}");
        assert_eq!(*first.get_or_insert(found[0].key), found[0].key, "{step}");
        rig.advance(1.0 / 60.0);
    }
}
