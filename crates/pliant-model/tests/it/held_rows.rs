//! Which rows are held by their positions, what gears and screws are rows of, sizes of forces and
//! scaled fields.

use pliant_model::{
    DiagonalCompliance, Difference, Distance, End, Evaluation, FullCompliance, Joint, JointKind, Level, Mass,
    Model, NodeId, PrescribedMotion, Problem, RigidMass, Side, Space, Treatment, UniformCompliance,
};

/// One scalar of mass one with one row on it, changed by the last argument, and whether the row is
/// held by its position.
fn holds(add: impl Fn(&mut Model, NodeId)) -> Vec<bool> {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(2), &[0.0; 2], &[0.0; 2])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    add(&mut model, x);
    let model = Problem::new(model);
    let mut state = model.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    evaluation.evaluate(&model, &state).unwrap();
    let group = model.row_groups()[0];
    (0..2)
        .map(|k| evaluation.holds_position(&model, &group, k))
        .collect()
}

/// Stabilisation corrects these rows and no others: each clause of the rule in its two answers.
#[test]
fn rows_that_hold_positions() {
    let constraint = |level: Level, motion: bool, bounded: bool| {
        holds(|model, x| {
            let id = model.add_constraint("row", x, level).unwrap();
            if motion {
                model
                    .set_motion(id, Some(PrescribedMotion::ramp(0.0, 1.0)))
                    .unwrap();
            }
            if bounded {
                model.set_bounds(id, -1.0, 1.0).unwrap();
            }
        })
    };
    for (level, motion, bounded, expected) in [
        (Level::Position, false, false, true),
        (Level::Position, true, false, true),
        (Level::Position, false, true, false),
        (Level::CurvedPosition, false, false, true),
        (Level::Baumgarte { rate: 3.0 }, false, false, true),
        (Level::Velocity { curvature: 0.5 }, false, false, true),
        // A driven velocity leads away from zero.
        (Level::Velocity { curvature: 0.5 }, true, false, false),
        (Level::Velocity { curvature: 0.5 }, false, true, false),
        (Level::Restitution { coefficient: 0.5 }, false, false, false),
    ] {
        let found = constraint(level, motion, bounded);
        assert_eq!(
            found, [expected; 2],
            "{level:?}, driven {motion}, bounded {bounded}"
        );
    }
    let law = |bounded: bool, add: &dyn Fn(&mut Model, NodeId) -> pliant_model::ComponentId| {
        holds(|model, x| {
            let id = add(model, x);
            if bounded {
                model.set_bounds(id, -1.0, 1.0).unwrap();
            }
        })
    };
    let compliant = Treatment::Compliance;
    let hard = |m: &mut Model, x: NodeId| {
        m.add_force_field("row", x, UniformCompliance::new(0.0), compliant)
            .unwrap()
    };
    assert_eq!(law(false, &hard), [true; 2]);
    assert_eq!(law(true, &hard), [false; 2]);
    let one_soft = |m: &mut Model, x: NodeId| {
        let law = DiagonalCompliance::new(&[0.0, 0.1]);
        m.add_force_field("row", x, law, compliant).unwrap()
    };
    assert_eq!(law(false, &one_soft), [true, false]);
    let one_relaxes = |m: &mut Model, x: NodeId| {
        let law = DiagonalCompliance::new(&[0.0, 0.0]).with_relaxation_times(&[0.0, 0.1]);
        m.add_force_field("row", x, law, compliant).unwrap()
    };
    assert_eq!(law(false, &one_relaxes), [true, false]);
    let coupled = |m: &mut Model, x: NodeId| {
        let law = FullCompliance::from_compliance(&[0.2, 0.1, 0.1, 0.3]);
        m.add_force_field("row", x, law, compliant).unwrap()
    };
    assert_eq!(law(false, &coupled), [false; 2]);
}

/// `first + ratio second` less what it is at the start.
#[test]
fn gears_are_zero_where_they_start() {
    let (a, b, ratio) = (0.3, -0.2, 2.5);
    let mut model = Model::new();
    let [first, second] =
        [("first", a), ("second", b)].map(|(name, x)| model.add_scalars(name, &[x]).unwrap());
    for (name, node) in [("m", first), ("n", second)] {
        model.add_mass(name, node, Mass::Uniform(1.0)).unwrap();
    }
    let (gear, _) = model.add_gear("gear", first, second, ratio).unwrap();
    let mut state = model.initial_state().unwrap();
    assert_eq!(model.positions(&state, gear), [0.0]);
    for (node, x) in [(first, 1.1), (second, 0.7)] {
        state.positions[model.node(node).position_range()].fill(x);
    }
    model.propagate(&mut state).unwrap();
    let expected = (1.1 - a) + ratio * (0.7 - b);
    assert!((model.positions(&state, gear)[0] - expected).abs() < 1e-15);
}

/// A screw advances by its pitch per turn, the way of a right hand: so does its thread hold it.
#[test]
fn a_screw_advances_by_its_pitch_per_turn() {
    let pitch = 0.3;
    for turn in [-0.25, 0.125, 0.4] {
        let mut model = Model::new();
        let body = model
            .add_rigid_bodies("body", &[pliant_model::Pose::default()])
            .unwrap();
        let ball = RigidMass::sphere(1.0, 0.3);
        model.add_mass("m", body, Mass::Rigid(vec![ball])).unwrap();
        let joint = Joint::new(JointKind::Screw { pitch }, Side::World, Side::Body(body, 0));
        model.add_joint("screw", &joint).unwrap();
        let mut state = model.initial_state().unwrap();
        let angle = turn * std::f64::consts::TAU;
        let step = [0.0, 0.0, pitch * turn, 0.0, 0.0, angle];
        let node = model.node(body);
        node.space
            .retract(&mut state.positions[node.position_range()], &step);
        model.propagate(&mut state).unwrap();
        let thread = model.node_named("screw.thread").unwrap();
        let found = model.positions(&state, thread)[0];
        assert!(found.abs() < 1e-15, "{turn} turns: {found}");
    }
}

/// Sizes of pulled-back forces are those of the sums' terms: `|J|^T |f|`, here of a difference and
/// of a distance, one after the other.
#[test]
fn sizes_are_carried_down_without_cancelling() {
    let mut model = Model::new();
    let x = model.add_particles("x", &[[0.0; 3], [3.0, 4.0, 0.0]]).unwrap();
    let pair = [(End::element(0, 1), End::element(0, 0))];
    let gap = model.add_mapped("gap", &[x], Difference::new(&pair)).unwrap();
    let length = model
        .add_mapped("length", &[gap], Distance::to_points(&[(0, [0.0; 3])]))
        .unwrap();
    let model = Problem::new(model);
    let mut state = model.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    let mut sizes = vec![0.0; model.velocity_count()];
    let range = |n: NodeId| model.node(n).velocity_range();
    sizes[range(length)].fill(10.0);
    sizes[range(gap)].copy_from_slice(&[1.0, 6.0, 0.0]);
    sizes[range(x)][..3].copy_from_slice(&[2.0, 0.0, 7.0]);
    evaluation.pull_back_sizes(&model, &mut sizes);
    // The unit vector is (0.6, 0.8, 0); the ends of the gap see it with both signs.
    assert_eq!(sizes[range(gap)], [7.0, 14.0, 0.0]);
    assert_eq!(sizes[range(x)], [9.0, 14.0, 7.0, 7.0, 14.0, 0.0]);
}

/// A field that is scaled has so much of its force and of its stiffness, and the others have
/// theirs.
#[test]
fn one_field_is_scaled() {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[2.0]).unwrap();
    for (name, stiffness) in [("a", 3.0), ("b", 5.0)] {
        let law = UniformCompliance::from_stiffness(stiffness);
        model.add_force_field(name, x, law, Treatment::Stiffness).unwrap();
    }
    let model = Problem::new(model);
    let mut state = model.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    evaluation.evaluate(&model, &state).unwrap();
    evaluation.scale_field(&model, &state, 1, 0.25);
    assert_eq!(evaluation.force(), &[-6.0 - 2.5]);
    assert_eq!(
        [0, 1].map(|i| evaluation.stiffness(i).unwrap().block(0)),
        [&[3.0][..], &[1.25][..]]
    );
}
