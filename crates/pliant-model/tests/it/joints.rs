//! Joints by name: what they hold, what they leave free, and what they refuse.

use pliant_model::{
    Evaluation, Joint, JointKind, Mass, Model, ModelError, NodeId, Pose, PrescribedMotion, RigidMass, Side,
    Space,
};

fn two_bodies() -> (Model, NodeId) {
    let mut model = Model::new();
    let poses = [
        Pose::turned([0.3, -0.2, 0.5], [1.0, 2.0, -1.0], 0.7),
        Pose::turned([-0.4, 0.6, 0.1], [0.2, -1.0, 0.5], 1.9),
    ];
    let bodies = model.add_rigid_bodies("bodies", &poses).unwrap();
    model
        .add_mass("m", bodies, Mass::Rigid(vec![RigidMass::sphere(1.0, 0.3)]))
        .unwrap();
    (model, bodies)
}

fn somewhere() -> Pose {
    Pose::turned([0.1, 0.2, -0.3], [0.5, 1.0, 0.3], 1.1)
}

const KINDS: [(JointKind, usize, usize); 19] = [
    (JointKind::Fixed, 6, 0),
    (JointKind::Hinge, 5, 1),
    (JointKind::Slider, 5, 1),
    (JointKind::Cylindrical, 4, 2),
    (JointKind::Universal, 4, 2),
    (JointKind::SkewedUniversal { skew: 0.4 }, 4, 2),
    (
        JointKind::Ellipsoid {
            semi_axes: [0.3, 0.2, 0.4],
        },
        3,
        3,
    ),
    (JointKind::GimbalXyz, 3, 3),
    (JointKind::GimbalXzy, 3, 3),
    (JointKind::Ball, 3, 0),
    (JointKind::Planar, 3, 3),
    (JointKind::PlanarTranslation, 4, 2),
    (JointKind::SlottedHinge, 4, 2),
    (JointKind::FixedAxis, 1, 5),
    (JointKind::Free, 0, 6),
    (JointKind::Screw { pitch: 0.1 }, 4, 2),
    (JointKind::Distance { length: None }, 1, 0),
    (JointKind::PointOnLine, 2, 1),
    (JointKind::PointOnPlane, 1, 2),
];

/// Rank of the rows of a node's Jacobian over all velocity coordinates, by elimination.
fn rank(rows: &[Vec<f64>]) -> usize {
    let mut rows = rows.to_vec();
    let mut rank = 0;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let Some(pivot) =
            (rank..rows.len()).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))
        else {
            break;
        };
        if rows[pivot][column].abs() < 1e-9 {
            continue;
        }
        rows.swap(rank, pivot);
        for i in rank + 1..rows.len() {
            let factor = rows[i][column] / rows[rank][column];
            for k in 0..rows[i].len() {
                rows[i][k] -= factor * rows[rank][k];
            }
        }
        rank += 1;
    }
    rank
}

/// Each kind holds as many independent coordinates as it says, starts at zero, and its free
/// coordinates are independent of them. A ball joint has free ones if it is asked for them.
#[test]
fn kinds_hold_what_they_say() {
    for (kind, held, free) in KINDS {
        for case in 0..6 {
            let (sides, asks) = (case % 3, case >= 3);
            let free = if asks && kind == JointKind::Ball { 3 } else { free };
            let (mut model, bodies) = two_bodies();
            let (a, b) = match sides {
                0 => (Side::Body(bodies, 0), Side::Body(bodies, 1)),
                1 => (Side::World, Side::Body(bodies, 1)),
                _ => (Side::Body(bodies, 0), Side::World),
            };
            // The two origins of a distance must not coincide.
            let b = match (kind, sides) {
                (JointKind::Distance { .. }, 0 | 1) => Side::Frame(bodies, 1, Pose::at([0.2, 0.1, 0.0])),
                (JointKind::Distance { .. }, _) => Side::Fixed(Pose::at([2.0, 0.0, 0.0])),
                _ => b,
            };
            let mut joint = Joint::new(kind, a, b).at(somewhere());
            if asks {
                joint = joint.with_coordinates();
            }
            let handle = model.add_joint("joint", &joint).unwrap();
            assert_eq!(handle.coordinates.len(), free, "{kind:?}");
            let mut state = model.initial_state().unwrap();
            for phi in handle.held.iter().flat_map(|node| model.positions(&state, *node)) {
                assert!(phi.abs() < 1e-14, "{kind:?} {phi}");
            }
            for node in &handle.coordinates {
                assert!(model.positions(&state, *node)[0].abs() < 1e-14, "{kind:?}");
            }
            let mut evaluation = Evaluation::new(&model);
            let mut columns: Vec<Vec<f64>> = Vec::new();
            let mut alone: Vec<Vec<f64>> = Vec::new();
            for k in 0..model.dof_count() {
                state.velocities.fill(0.0);
                state.velocities[k] = 1.0;
                evaluation.propagate(&model, &mut state).unwrap();
                let v = |n: NodeId| model.velocities(&state, n).to_vec();
                let own = handle.held.map_or_else(Vec::new, v);
                alone.push(own.clone());
                let all = [own, handle.coordinates.iter().flat_map(|n| v(*n)).collect()].concat();
                columns.push(all);
            }
            let transpose = |c: &[Vec<f64>]| -> Vec<Vec<f64>> {
                (0..c[0].len())
                    .map(|i| c.iter().map(|v| v[i]).collect())
                    .collect()
            };
            assert_eq!(rank(&transpose(&alone)), held, "{kind:?}");
            assert_eq!(rank(&transpose(&columns)), held + free, "{kind:?}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let (mut model, bodies) = two_bodies();
    let points = model.add_particles("points", &[[0.0; 3]]).unwrap();
    let (a, b) = (Side::Body(bodies, 0), Side::Body(bodies, 1));
    let hinge = || Joint::hinge(a, b).at(somewhere());
    let nan = Pose::turned([0.0; 3], [0.0; 3], 1.0);
    let (nodes, rows) = (model.nodes().len(), model.initial_parameters().row_count());
    let wrong = [
        Joint::hinge(a, Side::Body(bodies, 7)),
        Joint::hinge(a, Side::Body(points, 0)),
        Joint::hinge(a, a),
        Joint::hinge(Side::World, Side::World),
        hinge().at(nan),
        Joint::hinge(a, Side::Frame(bodies, 1, nan)),
        Joint::hinge(
            a,
            Side::Frame(
                bodies,
                1,
                Pose {
                    position: [0.0; 3],
                    rotation: [0.0; 4],
                },
            ),
        ),
        hinge().with_damper(1, 0.1),
        hinge().with_damper(0, -0.1),
        hinge().with_spring(0, -1.0, 0.0, 0.0),
        hinge().with_spring(0, 1.0, f64::NAN, 0.0),
        hinge().with_spring(0, 1.0, 0.0, f64::INFINITY),
        hinge().with_friction(0, -1.0),
        hinge().with_friction(0, f64::NAN),
        hinge().with_limits(0, 1.0, -1.0),
        hinge().with_limits(0, f64::NAN, 1.0),
        hinge().with_velocity_motor(0, PrescribedMotion::ramp(0.0, 1.0), -1.0),
        hinge().with_position_motor(0, PrescribedMotion::constant(&[1.0, 2.0]), 0.0, 0.0, 1.0),
        hinge().with_compliance(&[1.0, 2.0], 0.0),
        hinge().with_compliance(&[-1.0], 0.0),
        Joint::ball(a, b).at(somewhere()).with_damper(3, 0.1),
        Joint::screw(a, b, f64::NAN).at(somewhere()),
        Joint::distance(a, b, Some(-1.0)),
        Joint::bushing(a, b, [-1.0; 6], 0.0).at(somewhere()),
    ];
    for joint in wrong {
        let error = model.add_joint("elbow", &joint).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("elbow"), "{joint:?}: {text}");
        assert_eq!(
            (model.nodes().len(), model.initial_parameters().row_count()),
            (nodes, rows),
            "{joint:?}"
        );
    }
    let error = model
        .add_joint("elbow", &hinge().with_damper(1, 0.1))
        .unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::FreeAxis {
                axis: 1,
                count: 1,
                ..
            }
        ),
        "{error}"
    );
    // After all of that the name is free.
    model.add_joint("elbow", &hinge()).unwrap();
    assert!(matches!(
        model.add_joint("elbow", &hinge()),
        Err(ModelError::DuplicateName { .. })
    ));
}

#[test]
fn gears_hold_what_they_start_with() {
    let (mut model, bodies) = two_bodies();
    let one = model
        .add_joint(
            "one",
            &Joint::hinge(Side::World, Side::Body(bodies, 0)).at(somewhere()),
        )
        .unwrap();
    let two = model
        .add_joint(
            "two",
            &Joint::hinge(Side::World, Side::Body(bodies, 1)).at(somewhere()),
        )
        .unwrap();
    let (node, _) = model
        .add_gear("gear", one.coordinates[0], two.coordinates[0], 2.5)
        .unwrap();
    let mut state = model.initial_state().unwrap();
    assert_eq!(model.positions(&state, node), &[0.0]);
    state.velocities[model.node(bodies).first_velocity + 3] = 1.0;
    model.propagate(&mut state).unwrap();
    let v = |n: NodeId| model.velocities(&state, n)[0];
    assert!((v(node) - v(one.coordinates[0]) - 2.5 * v(two.coordinates[0])).abs() < 1e-15);
    assert!(matches!(
        model.add_gear("other", bodies, two.coordinates[0], 1.0),
        Err(ModelError::Space {
            found: Space::Rigid3,
            ..
        })
    ));
    assert!(
        model
            .add_gear("third", one.coordinates[0], two.coordinates[0], f64::NAN)
            .is_err()
    );
}
