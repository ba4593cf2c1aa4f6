//! Contacts that a search with predicted velocities left out, found with the velocities that bodies
//! came to have.

use pliant_contact::{Carrier, Collider, MeshKind, Placement, Shape, World};
use pliant_model::{Model, Pose, State};

use crate::rig::{Rig, soft_and_ball};

const H: f64 = 1.0 / 60.0;

fn plate() -> Shape {
    Shape::cuboid([0.5, 0.5, 0.01]).unwrap()
}

/// The contacts that were not predicted where the bodies move up by so much (m) in the step.
fn again(rig: &mut Rig, up: &[f64]) -> Vec<pliant_contact::Contact> {
    for (k, way) in up.iter().enumerate() {
        rig.state.velocities[6 * k + 2] = way / H;
    }
    let (x, v) = (&rig.state.positions, &rig.state.velocities);
    rig.world.find_missed(&rig.model, x, v, H).unwrap().to_vec()
}

/// A plate and a ball over it are predicted to fall together; when the plate stays, the ball passes
/// it. Then the contact is listed, has a name that lasts, and is found once.
#[test]
fn what_was_predicted_to_keep_its_distance_is_found_when_it_does_not() {
    let mut rig = Rig::new(&[
        (plate(), Pose::default()),
        (Shape::ball(0.05).unwrap(), Pose::at([0.0, 0.0, 0.5])),
    ]);
    (rig.state.velocities[2], rig.state.velocities[8]) = (-60.0, -60.0);
    assert!(rig.contacts(H).is_empty());
    // 1 m per step together; 2 mm of overlap are less than a quarter of the plate.
    assert!(again(&mut rig, &[-1.0, -1.0]).is_empty());
    assert!(again(&mut rig, &[-1.0 + 0.44 + 0.002, -1.0]).is_empty());
    let before = rig.world.memory().clone();
    let found = again(&mut rig, &[0.0, -1.0]);
    assert_eq!(found.len(), 1);
    assert!(found[0].swept && found[0].normal[2] > 1.0 - 1e-9, "{found:?}");
    assert!((found[0].gap - 0.44).abs() < 1e-6 && found[0].age == 0);
    let after = rig.world.memory().clone();
    assert_eq!(after.next_serial, before.next_serial + 1);
    assert_eq!(after.entries.len(), before.entries.len() + 1);
    assert!(again(&mut rig, &[0.0, -1.0]).is_empty());
    assert_eq!(rig.world.memory(), &after);
    // On the plate it is the same contact.
    rig.state.positions[9] = 0.06;
    rig.state.velocities.fill(0.0);
    let there = rig.contacts(H);
    assert_eq!((there.len(), there[0].key, there[0].age), (1, found[0].key, 1));
    // What is not a number is refused by name.
    rig.state.velocities[8] = f64::NAN;
    let (x, v) = (&rig.state.positions, &rig.state.velocities);
    let error = rig.world.find_missed(&rig.model, x, v, H).unwrap_err();
    assert!(error.to_string().contains("velocities"), "{error}");
}

/// Both come 2.8 mm towards each other: neither alone would be deeper in the other than a quarter
/// of the plate.
#[test]
fn both_sides_of_a_pair_count() {
    let mut rig = Rig::new(&[
        (plate(), Pose::default()),
        (Shape::ball(0.05).unwrap(), Pose::at([0.0, 0.0, 0.0603])),
    ]);
    assert!(rig.contacts(H).is_empty());
    assert_eq!(again(&mut rig, &[0.0028, -0.0028]).len(), 1);
}

/// After a search the pieces have other velocities than those that were predicted, from which the
/// next one is a step too small to look.
#[test]
fn a_second_search_looks_at_all() {
    let mut rig = Rig::new(&[
        (plate(), Pose::default()),
        (Shape::ball(0.05).unwrap(), Pose::at([0.0, 0.0, 0.26])),
    ]);
    (rig.state.velocities[2], rig.state.velocities[8]) = (-60.0, -60.0);
    assert!(rig.contacts(H).is_empty());
    // 0.2 m apart; 4 mm into each other, then 6.
    assert!(again(&mut rig, &[-1.0 + 0.204, -1.0]).is_empty());
    assert_eq!(again(&mut rig, &[-1.0 + 0.206, -1.0]).len(), 1);
}

#[test]
fn a_bar_that_came_to_turn_sweeps_over_a_ball() {
    let mut rig = Rig::new(&[
        (Shape::cuboid([0.5, 0.01, 0.01]).unwrap(), Pose::default()),
        (Shape::ball(0.02).unwrap(), Pose::at([0.4, 0.15, 0.0])),
    ]);
    assert!(rig.contacts(H).is_empty());
    rig.state.velocities[5] = 0.8 / H;
    let found = again(&mut rig, &[]);
    assert_eq!(found.len(), 1);
    assert!(found[0].normal[1] > 0.8, "{found:?}");
}

/// Surfaces without thickness may not run into each other at all.
#[test]
fn bare_surfaces_do_not_pass() {
    let points = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let surface = Shape::triangle_mesh(&points, &[[0, 1, 2]], MeshKind::Surface).unwrap();
    let mut rig = Rig::new(&[
        (surface.clone(), Pose::default()),
        (surface, Pose::at([0.0, 0.1, 0.3])),
    ]);
    assert!(rig.contacts(H).is_empty());
    assert!(again(&mut rig, &[0.0, -0.2]).is_empty());
    let found = again(&mut rig, &[0.0, -0.301]);
    assert!(
        !found.is_empty() && found.iter().all(|c| c.normal[2] > 0.9),
        "{found:?}"
    );
}

/// A ball over a sheet: predicted to stand, but one corner of the sheet comes up by 0.4 m.
#[test]
fn every_point_of_a_sheet_counts() {
    let points = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let sheet = Shape::soft_triangles(&[[0, 1, 2]], 0.001).unwrap();
    let (model, mut world, mut state) = soft_and_ball(sheet, &points, 0.05, [0.0, 0.8, 0.2]);
    let (x, v) = (&state.positions, &state.velocities);
    assert!(world.update(&model, x, v, H).unwrap().is_empty());
    state.velocities[8] = 0.4 / H;
    let (x, v) = (&state.positions, &state.velocities);
    let found = world.find_missed(&model, x, v, H).unwrap();
    assert_eq!(found.len(), 1);
    assert!(matches!(found[0].a.carrier, Carrier::Points { count: 3, .. }));
}

/// A soft triangle over a surface that stands.
fn soft_over(points: &[[f64; 3]; 3], places: &[[f64; 3]], faces: &[[usize; 3]]) -> (Model, World, State) {
    let mut model = Model::new();
    let node = model.add_particles("points", points).unwrap();
    let mut world = World::new();
    let soft = Shape::soft_triangles(&[[0, 1, 2]], 0.001).unwrap();
    world
        .add(Collider::new("soft", soft, Placement::Points(node)))
        .unwrap();
    let surface = Shape::triangle_mesh(places, faces, MeshKind::Surface).unwrap();
    world
        .add(Collider::new(
            "surface",
            surface,
            Placement::Fixed(Pose::default()),
        ))
        .unwrap();
    let state = model.initial_state().unwrap();
    (model, world, state)
}

/// Over a floor, the first corner 4 mm from it and the others 19 mm.
fn corner_over_floor() -> (Model, World, State) {
    let points = [[0.0, 0.0, 0.005], [1.0, 0.0, 0.02], [0.0, 1.0, 0.02]];
    // One triangle, so that no edge of it is crossed.
    let around = [[-5.0, -5.0, 0.0], [15.0, -5.0, 0.0], [-5.0, 15.0, 0.0]];
    soft_over(&points, &around, &[[0, 1, 2]])
}

/// The corner that a contact of the soft triangle is at.
fn corner(contact: &pliant_contact::Contact) -> usize {
    match contact.a.carrier {
        Carrier::Points {
            count: 1, elements, ..
        } => elements[0],
        _ => panic!("{contact:?}"),
    }
}

/// A triangle falls on its lowest corner, as all of it is predicted to fall: the two others are
/// behind that one, until it stops and they do not.
#[test]
fn corners_that_others_were_to_keep_up_are_seen() {
    let (model, mut world, mut state) = corner_over_floor();
    for corner in 0..3 {
        state.velocities[3 * corner + 2] = -0.05 / H;
    }
    let (x, v) = (&state.positions, &state.velocities);
    let first: Vec<usize> = world
        .update(&model, x, v, H)
        .unwrap()
        .iter()
        .map(corner)
        .collect();
    assert_eq!(first, [0]);
    state.velocities[2] = -0.004 / H;
    let (x, v) = (&state.positions, &state.velocities);
    let found = world.find_missed(&model, x, v, H).unwrap();
    let late: Vec<usize> = found.iter().map(corner).collect();
    assert_eq!(late, [1, 2]);
    assert!(found.iter().all(|c| (c.gap - 0.019).abs() < 1e-12), "{found:?}");
}

/// Corners that a search lists.
fn listed_corners(model: &Model, world: &mut World, state: &State) -> Vec<usize> {
    let found = world.update(model, &state.positions, &state.velocities, H);
    found.unwrap().iter().map(corner).collect()
}

/// Corners that lie on a floor are level but for a micrometre of overlap; each of them is held.
#[test]
fn corners_that_are_nearly_level_are_all_seen() {
    let (model, mut world, mut state) = corner_over_floor();
    for (corner, height) in [0.001, 0.000_999, 0.001_000_5].into_iter().enumerate() {
        state.positions[3 * corner + 2] = height;
    }
    let mut listed = listed_corners(&model, &mut world, &state);
    listed.sort_unstable();
    assert_eq!(listed, [0, 1, 2]);
}

/// A corner that comes before its neighbours only by the end is listed if it goes through something
/// by then, and not if it stays over it, though within the margins.
#[test]
fn corners_that_come_to_lead_are_listed_where_they_pass() {
    for (way, expected) in [(0.0189, &[][..]), (0.0205, &[1, 2])] {
        let (model, mut world, mut state) = corner_over_floor();
        for corner in 1..3 {
            state.velocities[3 * corner + 2] = -way / H;
        }
        let mut listed = listed_corners(&model, &mut world, &state);
        listed.retain(|c| *c != 0);
        assert_eq!(listed, expected, "{way}");
    }
}

/// A triangle falls on the ridge of a roof, with the corner over the ridge first: when that one
/// stops, the edge between the others crosses the ridge.
#[test]
fn edges_that_others_were_to_keep_up_are_seen() {
    let points = [[-1.0, 0.0, 0.02], [1.0, 0.0, 0.02], [0.0, 1.0, 0.005]];
    let roof = [
        [0.0, -3.0, 0.0],
        [0.0, 3.0, 0.0],
        [-4.0, 0.0, -4.0],
        [4.0, 0.0, -4.0],
    ];
    let (model, mut world, mut state) = soft_over(&points, &roof, &[[0, 1, 2], [1, 0, 3]]);
    for corner in 0..3 {
        state.velocities[3 * corner + 2] = -0.05 / H;
    }
    let (x, v) = (&state.positions, &state.velocities);
    let first: Vec<usize> = world
        .update(&model, x, v, H)
        .unwrap()
        .iter()
        .map(corner)
        .collect();
    assert_eq!(first, [2]);
    state.velocities[8] = -0.004 / H;
    let (x, v) = (&state.positions, &state.velocities);
    let found = world.find_missed(&model, x, v, H).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let Carrier::Points {
        count: 2, elements, ..
    } = found[0].a.carrier
    else {
        panic!("{found:?}");
    };
    assert_eq!(elements[..2], [0, 1]);
    assert!((found[0].gap - 0.019).abs() < 1e-12 && found[0].normal[2].abs() > 1.0 - 1e-12);
}

/// A contact that comes late is sorted in among those of other pairs, so that all keep their names.
#[test]
fn names_of_other_pairs_last() {
    let ball = || Shape::ball(0.05).unwrap();
    let mut rig = Rig::new(&[
        (plate(), Pose::default()),
        (ball(), Pose::at([0.0, 0.0, 0.5])),
        (ball(), Pose::at([0.1, 0.0, 0.5])),
    ]);
    let first = rig.contacts(H);
    assert_eq!(first.len(), 1);
    let late = again(&mut rig, &[0.0, -1.0, 0.0]);
    assert_eq!(late.len(), 1);
    assert!(late[0].key < first[0].key);
    let entries = &rig.world.memory().entries;
    assert!(entries.is_sorted_by_key(|e| (e.colliders, e.serial)));
    rig.state.positions[9] = 0.06;
    rig.state.velocities.fill(0.0);
    rig.state.positions[16] = 0.06;
    let keys: Vec<_> = rig.contacts(H).iter().map(|c| c.key).collect();
    assert!(
        keys.contains(&late[0].key) && keys.contains(&first[0].key),
        "{keys:?}"
    );
}

/// A box stands on an edge of its lower face beside a wall and is turned onto its side within the
/// step: the corner that comes down is none of those that face the ground or the wall at the start.
/// It is found where it ends, deeper by what it turned, and listed once.
#[test]
fn corners_that_a_turning_body_brings_in_are_found_at_the_end() {
    let cube = || Shape::cuboid([0.1, 0.1, 0.1]).unwrap();
    let block = Shape::cuboid([0.5, 0.5, 0.1]).unwrap();
    for (spin, expected) in [(0.0, 0), (0.01, 0), (12.0, 2)] {
        // The lower face of the cube is 2 mm above the block; what turns by 0.2 rad about x brings
        // two corners down by 2 cm.
        let mut rig = Rig::new(&[
            (block.clone(), Pose::default()),
            (cube(), Pose::at([0.0, 0.0, 0.202])),
        ]);
        let near = rig.contacts(H).len();
        rig.state.velocities[9] = spin;
        let (x, v) = (rig.state.positions.clone(), rig.state.velocities.clone());
        // Of a face that was predicted to stay away nothing is listed yet.
        assert_eq!(near, 0);
        let found = rig.world.find_entered(&rig.model, &x, &v, H).unwrap().to_vec();
        assert_eq!(found.len(), expected, "{spin}: {found:?}");
        for contact in &found {
            assert!(contact.normal[2].abs() > 0.97, "{contact:?}");
            assert!(contact.gap >= 0.0 && contact.gap < 0.03, "{contact:?}");
        }
        let memory = rig.world.memory().clone();
        let again = rig.world.find_entered(&rig.model, &x, &v, H).unwrap().len();
        assert_eq!((again, rig.world.memory()), (0, &memory));
    }
}

/// The tip of a rod touches a wall, where it is held, and the rod turns about it: the other end comes
/// through the wall within the step. It is found, named like a new one, and the velocities take its
/// gap to that of the end in closed form but for terms of third order in the angle, as long as the
/// rod turns in a plane that holds it.
#[test]
fn the_other_end_of_a_turning_rod_is_found() {
    let (half, radius, tilt) = (0.15f64, 0.01f64, 0.2f64);
    // The rod along z, its tip down, so far before the wall that it touches.
    let centre = -0.05 - radius - half * tilt.sin();
    let pose = Pose::turned([centre, 0.0, 0.0], [0.0, 1.0, 0.0], -tilt);
    let mut rig = Rig::new(&[(Shape::capsule(half, radius).unwrap(), pose)])
        .fixed("wall", Shape::cuboid([0.05, 2.0, 2.0]).unwrap());
    assert_eq!(rig.contacts(H).len(), 1);
    for angle in [0.5f64, 0.8] {
        let spin = angle / H;
        // The tip stays in its place: its arm is that of the angle at half way.
        let end = tilt - angle;
        let way = half * (tilt.sin() - end.sin());
        rig.state.velocities[0] = way / H;
        rig.state.velocities[4] = spin;
        let (x, v) = (&rig.state.positions, &rig.state.velocities);
        let memory = rig.world.memory().clone();
        let found = rig.world.find_missed(&rig.model, x, v, H).unwrap().to_vec();
        rig.world.set_memory(memory).unwrap();
        let far: Vec<_> = found.iter().filter(|c| c.a.point[2] > 0.0).collect();
        assert_eq!(far.len(), 1, "{found:?}");
        let contact = far[0];
        assert!((contact.normal[0] - 1.0).abs() < 1e-9, "{contact:?}");
        let gap = 2.0 * half * tilt.sin();
        assert!((contact.gap - gap).abs() < 1e-9, "{contact:?}");
        // The velocity of its point along x: `v + w z`.
        let closes = way + angle * contact.a.point[2];
        let at_end = -0.05 - radius - (centre + way - half * end.sin());
        let third = half * angle.powi(3) / 24.0;
        assert!(at_end < -radius, "{at_end}");
        assert!((gap - closes - at_end).abs() < 1.1 * third, "{closes}, {at_end}");
    }
}

/// Contacts that come from a memory are those of the last search, whatever was searched since: what
/// moves as it was predicted to is not searched again, what does not is found.
#[test]
fn contacts_of_a_memory_are_those_of_the_last_search() {
    let mut rig = Rig::new(&[
        (plate(), Pose::default()),
        (Shape::ball(0.05).unwrap(), Pose::at([0.0, 0.0, 0.5])),
    ]);
    let falling = [-60.0, -60.0].map(|v| [0.0, 0.0, v, 0.0, 0.0, 0.0]);
    rig.state.velocities.copy_from_slice(falling.as_flattened());
    assert!(rig.contacts(H).is_empty());
    let memory = rig.world.memory().clone();
    // A search of bodies that stand, which are predicted to keep their distance, too.
    rig.state.velocities.fill(0.0);
    assert!(rig.contacts(H).is_empty());
    rig.world.set_memory(memory.clone()).unwrap();
    rig.state.velocities.copy_from_slice(falling.as_flattened());
    let Rig {
        model, world, state, ..
    } = &mut rig;
    world
        .resume(model, &state.positions, &state.velocities, H)
        .unwrap();
    assert_eq!((world.memory(), world.contacts().len()), (&memory, 0));
    // The searches count their tests anew.
    let tests = world.tests();
    world.set_most_tests(0);
    let (x, v) = (&state.positions, &state.velocities);
    assert!(world.find_missed(model, x, v, H).unwrap().is_empty());
    assert!(world.find_entered(model, x, v, H).unwrap().is_empty());
    assert_eq!(world.tests(), tests);
    world.set_most_tests(u64::MAX);
    assert_eq!(again(&mut rig, &[0.0, -1.0]).len(), 1);
    let (x, v) = (&rig.state.positions, &mut rig.state.velocities);
    v[2] = f64::NAN;
    rig.world.resume(&rig.model, x, v, H).unwrap_err();
    v[2] = 0.0;
    rig.world.resume(&rig.model, x, v, -H).unwrap_err();
}
