//! Surfaces that pass through each other on straight ways.

use pliant_contact::{Collider, ContactError, Crossed, MeshKind, Placement, Shape, StraightWay, World};
use pliant_model::{Model, Pose, State};

/// Two cables of two points each, of a radius of 1 cm: one along `x` from -1 m to 1 m, and one
/// along `y` at `at`.
fn cables(at: [f64; 3]) -> (Model, State, World) {
    let mut model = Model::new();
    let mut world = World::new();
    let ends = [
        [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        [[at[0], at[1] - 0.5, at[2]], [at[0], at[1] + 0.5, at[2]]],
    ];
    for (name, ends) in ["along", "across"].into_iter().zip(ends) {
        let node = model.add_particles(name, &ends).unwrap();
        let shape = Shape::soft_segments(&[[0, 1]], 0.01).unwrap();
        world
            .add(Collider::new(name, shape, Placement::Points(node)))
            .unwrap();
    }
    let state = model.initial_state().unwrap();
    (model, state, world)
}

/// Finds what crosses on the way of the second cable in a step of 0.01 s.
fn crossed<'a>(world: &'a mut World, model: &Model, state: &State, by: [f64; 3]) -> Crossed<'a> {
    let (end, velocities) = go(state, by);
    let way = StraightWay {
        start: &state.positions,
        end: &end,
        velocities: &velocities,
        horizon: 0.01,
    };
    world.find_crossed(model, way).unwrap()
}

/// A way of the second cable in a step of 0.01 s.
fn go(state: &State, by: [f64; 3]) -> (Vec<f64>, Vec<f64>) {
    let mut end = state.positions.clone();
    let mut velocities = vec![0.0; state.velocities.len()];
    for p in 2..4 {
        for (k, by) in by.iter().enumerate() {
            end[3 * p + k] += by;
            velocities[3 * p + k] = by / 0.01;
        }
    }
    (end, velocities)
}

/// From beside the first cable and above it to the other side and below: no end of the way is near,
/// and the nearest points at its start are an end of one. The other searches see nothing.
#[test]
fn cables_that_pass_through_each_other_are_found_where_they_meet() {
    let (model, state, mut world) = cables([2.0, 0.1, 1.0]);
    let (_, velocities) = go(&state, [-3.0, 0.0, -2.0]);
    let horizon = 0.01;
    let x = &state.positions;
    // An end of a cable keeps from the other one, not what comes together.
    let across = |found: &[pliant_contact::Contact]| found.iter().all(|c| c.normal[2].abs() < 0.9);
    assert!(across(world.update(&model, x, &velocities, horizon).unwrap()));
    assert!(across(
        world.find_missed(&model, x, &velocities, horizon).unwrap()
    ));
    assert!(across(
        world.find_entered(&model, x, &velocities, horizon).unwrap()
    ));
    let by = [-3.0, 0.0, -2.0];
    let found = crossed(&mut world, &model, &state, by);
    assert_eq!((found.contacts.len(), found.listed), (1, None));
    let contact = found.contacts[0];
    // They meet along `z`, the second from above, 1 m less both radii away, in the middle of the
    // way.
    assert!(contact.normal[2] > 1.0 - 1e-12, "{contact:?}");
    assert!((contact.gap - 0.98).abs() < 1e-12, "{}", contact.gap);
    // Seen where a tenth of the thickness of 2 cm is left, 1 ms of the way before, 3 mm beside it.
    assert!((contact.a.point[0] - 0.5).abs() < 4e-3 && contact.b.point[1].abs() < 1e-12);
    // Now it is listed, and nothing more can be done by listing it.
    let found = crossed(&mut world, &model, &state, by);
    assert!(found.contacts.is_empty() && found.listed.is_some());
    // Over it they do not meet.
    let found = crossed(&mut world, &model, &state, [-3.0, 0.0, -0.97]);
    assert!(found.contacts.is_empty() && found.listed.is_none());
}

/// A triangle that an edge of another one passes through, and surfaces without a thickness, are
/// refused by name.
#[test]
fn what_cannot_be_kept_apart_is_refused() {
    let (mut model, _, mut world) = cables([0.0, 0.0, 1.0]);
    let bodies = model.add_rigid_bodies("bodies", &[Pose::default(); 2]).unwrap();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for (element, name) in ["first", "second"].into_iter().enumerate() {
        world.check_thickness().unwrap();
        let mesh = Shape::triangle_mesh(&corners, &[[0, 1, 2]], MeshKind::Surface).unwrap();
        let place = Placement::Body {
            node: bodies,
            element,
            pose: Pose::default(),
        };
        world.add(Collider::new(name, mesh, place)).unwrap();
    }
    let error = world.check_thickness().unwrap_err();
    assert!(
        matches!(&error, ContactError::NoThickness { a, b } if a == "first" && b == "second"),
        "{error}"
    );
    let mut model = Model::new();
    let mut world = World::new();
    let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let upright = |x: f64| [[x, 0.2, -0.5], [x, 0.2, 0.5], [x + 0.1, 0.2, 0.5]];
    for (name, corners) in [("flat", flat), ("upright", upright(0.3))] {
        let node = model.add_particles(name, &corners).unwrap();
        let shape = Shape::soft_triangles(&[[0, 1, 2]], 0.01).unwrap();
        world
            .add(Collider::new(name, shape, Placement::Points(node)))
            .unwrap();
    }
    let mut state = model.initial_state().unwrap();
    let error = world
        .check_apart(&model, &state.positions, &state.velocities)
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`flat`") && text.contains("`upright`"), "{text}");
    // Beside it.
    for k in 3..6 {
        state.positions[3 * k] += 1.0;
    }
    world
        .check_apart(&model, &state.positions, &state.velocities)
        .unwrap();
}
