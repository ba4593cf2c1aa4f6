//! Derivatives through contacts, on the branches that they are on.

use super::smoothing::pile;
use super::{between, check_step, check_step_without, direction, largest, moved, options};
use crate::worlds::{add_body, ground, on_feet, rough};
use pliant::collision::*;
use pliant::contact::{ContactState, Overlap};
use pliant::gradient::*;
use pliant::prelude::*;

/// A body of this shape over the ground, moving.
pub(super) fn body(
    shape: Shape,
    half: f64,
    pose: Pose,
    [v, w]: [[f64; 3]; 2],
    material: Material,
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = m.add_rigid_bodies("body", &[pose]).unwrap();
    let inertia = 0.4 * half * half;
    let mass = RigidMass::principal(1.0, [inertia, 1.2 * inertia, 1.3 * inertia]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(node, 0, v, w).unwrap();
    let mut world = World::new();
    let material = world.add_material(material).unwrap();
    ground(&mut world, material);
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    let collider = Collider::new("collider", shape, place);
    world.add(collider.with_material(material)).unwrap();
    let mut s = Simulation::with_options(m, options()).unwrap();
    s.set_contacts(world).unwrap();
    (s, node)
}

fn states(simulation: &Simulation) -> Vec<ContactState> {
    simulation.contacts().iter().map(|c| c.state).collect()
}

/// A ball that slips, and one that rolls: its point turns with the plane, its friction with its
/// slip.
#[test]
fn balls_that_slip_and_roll() {
    let radius = 0.1;
    for (spin, expected) in [
        ([0.0, 0.0, 3.0], ContactState::Slipping),
        ([0.0, 10.0, 0.0], ContactState::Sticking),
    ] {
        let shape = Shape::ball(radius).unwrap();
        let pose = Pose::at([0.0, 0.0, radius]);
        let (mut s, _) = body(shape, radius, pose, [[1.0, 0.3, 0.0], spin], rough(0.3));
        if expected == ContactState::Sticking {
            // Rolls without slip along x, and slips across for a while.
            for _ in 0..40 {
                s.step(0.01).unwrap();
            }
        }
        s.step(0.01).unwrap();
        assert_eq!(states(&s), [expected]);
        check_step_without(&[2], &format!("{expected:?}"), &mut s, 0.01, 1e-7);
    }
}

/// A heavy ball of 0.1 m at the origin, and a light one at a place.
fn two_balls(at: [f64; 3], friction: f64) -> (Model, NodeId, World) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = m
        .add_rigid_bodies("balls", &[Pose::default(), Pose::at(at)])
        .unwrap();
    let masses = [20.0, 1.0].map(|mass| RigidMass::principal(mass, [4e-3 * mass; 3]));
    m.add_mass("mass", node, Mass::Rigid(masses.to_vec())).unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(friction)).unwrap();
    for element in [0, 1] {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let collider = Collider::new(&format!("ball {element}"), Shape::ball(0.1).unwrap(), place);
        world.add(collider.with_material(material)).unwrap();
    }
    (m, node, world)
}

/// Two balls that press on each other as they roll and slip: their normal turns with both.
#[test]
fn balls_on_balls() {
    let (mut m, node, world) = two_balls([0.03, 0.02, 0.1985], 0.2);
    m.fix(node, 0, &[true, true, true, false, false, false]).unwrap();
    m.set_body_velocity(node, 1, [0.6, 0.2, -1.0], [1.0, -2.0, 3.0])
        .unwrap();
    let mut s = Simulation::with_options(m, options()).unwrap();
    s.set_contacts(world).unwrap();
    // The first step comes closer, the second ends in contact.
    check_step("balls", &mut s, 0.001, 1e-7);
    s.step(0.001).unwrap();
    s.step(0.001).unwrap();
    assert_eq!(states(&s), [ContactState::Slipping]);
}

/// A ball that rolls down another one, which it overlaps at first, with friction or without: the
/// rows of the steps take that back.
#[test]
fn balls_whose_overlap_rows_take_back() {
    for friction in [0.0, 0.3] {
        let (mut m, node, world) = two_balls([0.06, 0.0, 0.1903], friction);
        m.fix(node, 0, &[true; 6]).unwrap();
        let mut with_rows = options();
        with_rows.contacts.overlap = Overlap::Rows {
            rate: 20.0,
            speed: 1.0,
        };
        let mut s = Simulation::with_options(m, with_rows).unwrap();
        s.set_contacts(world).unwrap();
        s.step(0.01).unwrap();
        check_step(&format!("overlap, {friction}"), &mut s, 0.01, 1e-7);
        s.step(0.01).unwrap();
        let contact = s.contacts()[0];
        assert!(contact.contact.gap < -1e-5, "{}", contact.contact.gap);
        assert_ne!(contact.state, ContactState::Open);
    }
}

/// A ball on its way down, one that lands in the step, and one that bounces.
#[test]
fn balls_that_land_and_bounce() {
    for restitution in [0.0, 0.6] {
        let material = Material {
            restitution,
            ..rough(0.2)
        };
        let shape = Shape::ball(0.1).unwrap();
        let pose = Pose::at([0.0, 0.0, 0.1215]);
        let (mut s, _) = body(shape, 0.1, pose, [[0.5, 0.0, -1.0], [1.0, 2.0, 0.5]], material);
        // One step in the air, the one after that lands: the check differentiates the second.
        check_step(&format!("lands, {restitution}"), &mut s, 0.01, 1e-7);
        s.step(0.01).unwrap();
        s.step(0.01).unwrap();
        assert_ne!(states(&s), [ContactState::Open]);
    }
}

/// A ball on soft ground, with damping.
#[test]
fn balls_on_soft_ground() {
    let material = Material {
        compliance: 1e-4,
        relaxation_time: 5e-3,
        ..rough(0.2)
    };
    let shape = Shape::ball(0.1).unwrap();
    let pose = Pose::at([0.0, 0.0, 0.0985]);
    let (mut s, _) = body(shape, 0.1, pose, [[0.5, 0.1, -0.1], [1.0, 0.0, 0.5]], material);
    s.step(0.01).unwrap();
    check_step("soft", &mut s, 0.01, 1e-7);
}

/// A box that rests on its corners, whose contacts are redundant.
#[test]
fn boxes_that_rest() {
    let half = [0.1, 0.08, 0.05];
    let pose = Pose::at([0.0, 0.0, half[2]]);
    let (mut s, _) = body(Shape::cuboid(half).unwrap(), 0.1, pose, [[0.0; 3]; 2], rough(0.3));
    s.step(0.01).unwrap();
    assert_eq!(states(&s), [ContactState::Sticking; 4]);
    // Any tilt or lift opens or closes corners.
    check_step_without(&[2, 3, 4], "rests", &mut s, 0.01, 1e-7);
}

/// A body on three feet that slides and turns: the feet share its weight in one way alone.
#[test]
fn feet_that_slide() {
    let feet = [[0.1, 0.0], [-0.05, 0.09], [-0.06, -0.08]];
    let (mut model, node, world) = on_feet(&feet, [1.0, 0.01], 0.1, 0.3);
    model
        .set_body_velocity(node, 0, [1.0, 0.3, 0.0], [0.0, 0.0, 2.0])
        .unwrap();
    let mut s = Simulation::with_options(model, options()).unwrap();
    s.set_contacts(world).unwrap();
    s.step(0.01).unwrap();
    assert_eq!(states(&s), [ContactState::Slipping; 3]);
    check_step_without(&[2, 3, 4], "feet", &mut s, 0.01, 1e-7);
}

/// The way of a box that slides until it stops, by its speed and by the mass: in closed form, from
/// the steps that it slips in.
#[test]
fn a_box_slides_as_far_as_its_steps_say() {
    let (mu, g, h, speed) = (0.3, 9.81, 0.01, 0.5);
    let (mut s, node) = body(
        Shape::cuboid([0.1, 0.1, 0.05]).unwrap(),
        0.1,
        Pose::at([0.0, 0.0, 0.05]),
        [[speed, 0.0, 0.0], [0.0; 3]],
        rough(mu),
    );
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < 30 {
            return 0.0;
        }
        by.x[0] = 1.0;
        s.positions(node)[0]
    };
    let found = Trajectory::new(30, h).gradient(&mut s, &mut objective).unwrap();
    // v_k = speed - k mu g h while that is positive.
    let slips = (speed / (mu * g * h)).floor();
    let way = h * (slips * speed - mu * g * h * slips * (slips + 1.0) / 2.0);
    assert!((found.value / way - 1.0).abs() < 1e-10, "{} {way}", found.value);
    assert!(
        (found.start.v[0] / (slips * h) - 1.0).abs() < 1e-10,
        "{}",
        found.start.v[0]
    );
    assert!((found.start.x[0] - 1.0).abs() < 1e-10);
    let active = found.report.active;
    assert_eq!(active.slipping + active.sticking, 4 * 30, "{active:?}");
    // It slips in all of its corners until the step in which it stops, far from the cone then.
    assert_eq!(active.slipping, 4 * slips as usize, "{active:?}");
    // Its gap is none from the start: lifted, it would not touch.
    assert_eq!(
        (active.frictionless, active.at_change, active.rows_at_bounds),
        (0, 120, 0)
    );
}

/// A body that is pushed as hard as friction holds it is between sticking and slipping, which the
/// report says.
#[test]
fn friction_at_its_limit_is_told() {
    let mu = 0.3;
    for (share, expected) in [(0.9, 0), (1.0, 3)] {
        let feet = [[0.1, 0.0], [-0.05, 0.09], [-0.06, -0.08]];
        let (model, node, world) = on_feet(&feet, [1.0, 0.01], 1e-12, mu);
        let mut s = Simulation::with_options(model, options()).unwrap();
        s.set_contacts(world).unwrap();
        // At the height of the feet, so that all of them carry the same share of their weight.
        let push = share * mu * 9.81;
        s.set_force(node, 0, &[push, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        s.step(0.01).unwrap();
        // A little into the ground, where they touch on either side.
        let mut state = s.state().clone();
        state.positions[2] -= 1e-9;
        s.set_state(&state).unwrap();
        s.set_force(node, 0, &[push, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let mut objective = |_: usize, s: &Simulation, by: &mut NodeGradient| {
            by.x[0] = 1.0;
            s.positions(node)[0]
        };
        let found = Trajectory::new(1, 0.01).gradient(&mut s, &mut objective).unwrap();
        let active = found.report.active;
        assert_eq!((active.sticking, active.at_change), (3, expected), "{active:?}");
    }
}

/// A gap that is none but for what the accuracy of contacts leaves is told as one where another
/// branch begins, a larger one is not.
#[test]
fn gaps_of_none_are_told() {
    for (gap, expected) in [(1e-11, 1), (1e-9, 0)] {
        let shape = Shape::ball(0.1).unwrap();
        let pose = Pose::at([0.0, 0.0, 0.1 + gap]);
        let (mut s, _) = body(shape, 0.1, pose, [[0.3, 0.0, 0.0], [0.0; 3]], rough(0.1));
        // In a step of 10 ms at 0.3 m/s it leaves 3e-11 m.
        s.options.contacts.accuracy = 1e-8;
        s.step(0.01).unwrap();
        let mut contacts = Vec::new();
        s.last_contacts(&mut contacts).unwrap();
        assert_eq!(contacts.iter().filter(|c| c.at_change).count(), expected, "{gap}");
    }
}

/// A trajectory is the same to the bit whether or not its gradient is asked for.
#[test]
fn the_search_for_derivatives_leaves_the_motion_alone() {
    let start = || {
        let shape = Shape::ball(0.1).unwrap();
        let pose = Pose::at([0.0, 0.0, 0.13]);
        body(shape, 0.1, pose, [[0.5, 0.2, 0.0], [1.0, 0.0, 0.5]], rough(0.2)).0
    };
    let (mut one, mut other) = (start(), start());
    let mut objective = |_: usize, s: &Simulation, _: &mut NodeGradient| s.state().positions[0];
    let mut trajectory = Trajectory::new(40, 0.01);
    (trajectory.slots, trajectory.run) = (3, 7);
    trajectory.gradient(&mut one, &mut objective).unwrap();
    for _ in 0..40 {
        other.step(0.01).unwrap();
    }
    assert_eq!(one.state(), other.state());
    one.step(0.01).unwrap();
    other.step(0.01).unwrap();
    assert_eq!(one.state(), other.state());
}

/// A step whose overlap was corrected after it has no derivative, however small the correction.
#[test]
fn corrected_overlap_is_refused() {
    for deep in [1e-3, 1.1e-6] {
        let shape = Shape::ball(0.1).unwrap();
        let pose = Pose::at([0.0, 0.0, 0.1 - deep]);
        let (mut s, _) = body(shape, 0.1, pose, [[0.0; 3]; 2], rough(0.2));
        let mut objective = |_: usize, _: &Simulation, _: &mut NodeGradient| 0.0;
        let refused = Trajectory::new(2, 0.01).gradient(&mut s, &mut objective);
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("Overlap::Rows"), "{deep}: {said}");
    }
}

/// Boxes that fall onto each other, whose contacts change from faces to edges and corners: most of
/// the steps have a derivative, and with one contact or two it is that of differences, unless the
/// report says that another branch begins.
#[test]
fn piles_of_boxes() {
    let h = 0.005;
    let (mut touching, mut derived, mut compared) = (0, 0, 0);
    for seed in [47, 207] {
        let mut s = pile(seed);
        for _ in 0..120 {
            let before = s.checkpoint();
            s.step(h).unwrap();
            let mut contacts = Vec::new();
            let found = s.last_contacts(&mut contacts);
            touching += usize::from(found.is_err() || !contacts.is_empty());
            let mut derivative = s.step_derivative().unwrap();
            let placed = found.and_then(|()| derivative.place(s.problem(), &s.last_step(&contacts).unwrap()));
            if placed.is_err() || contacts.is_empty() {
                continue;
            }
            derived += 1;
            if derivative.active_set().at_change > 0 || contacts.len() > 2 {
                continue;
            }
            let along = direction(&s, 3);
            let mut tangent = StateVector::default();
            derivative.tangent(&along, &mut tangent).unwrap();
            let (now, end, model) = (s.checkpoint(), s.state().clone(), s.problem().clone());
            let mut off_by = |t: f64| {
                let [one, other] = [-t, t].map(|t| {
                    s.restore(&before).unwrap();
                    let from = moved(&s, &along, t);
                    s.set_state(&from).unwrap();
                    s.step(h).unwrap();
                    between(&model, &end, s.state())
                });
                let pairs = |a: &[f64], b: &[f64], c: &[f64]| {
                    let all = a.iter().zip(b).zip(c);
                    all.fold(0.0f64, |off, ((a, b), c)| {
                        off.max(((b - a) / (2.0 * t) - c).abs())
                    })
                };
                pairs(&one.x, &other.x, &tangent.x).max(pairs(&one.v, &other.v, &tangent.v))
            };
            let off = [1e-4, 1e-5, 1e-6, 1e-7]
                .map(&mut off_by)
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            let size = largest(&tangent.x).max(largest(&tangent.v));
            // Differences of second order of steps that are solved to 1e-10.
            assert!(
                off < 1e-5 * size,
                "{seed}, t = {} s: {off:.1e} of {size:.1e}",
                s.time()
            );
            compared += 1;
            s.restore(&now).unwrap();
        }
    }
    assert!(
        10 * derived > 6 * touching && compared > 20,
        "{touching} {derived} {compared}"
    );
}

/// A ball on its way down to the top of a block, whose edge is so far away, from a height of its
/// centre.
fn ball_on_block(edge: f64, height: f64) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let place = [0.5 - edge, 0.0, 0.5 + height];
    let node = m.add_rigid_bodies("ball", &[Pose::at(place)]).unwrap();
    let mass = RigidMass::principal(1.0, [4e-3, 4e-3, 4e-3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(node, 0, [0.0, 0.0, -1.0], [0.0, 0.0, 2.0])
        .unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(0.2)).unwrap();
    let block = Shape::cuboid([0.5; 3]).unwrap();
    let block = Collider::new("block", block, Placement::Fixed(Pose::default()));
    world.add(block.with_material(material)).unwrap();
    add_body(&mut world, material, node, 0, Shape::ball(0.1).unwrap());
    let mut s = Simulation::with_options(m, options()).unwrap();
    s.set_contacts(world).unwrap();
    s
}

/// A ball that lands on the top of a box, 0.07 mm from its edge, beyond which its normal turns: the
/// way on which differences of the search see none of that is shorter.
#[test]
fn balls_beside_an_edge() {
    let mut s = ball_on_block(7e-5, 0.1215);
    check_step("beside an edge", &mut s, 0.01, 1e-7);
    s.step(0.01).unwrap();
    s.step(0.01).unwrap();
    assert_ne!(states(&s), [ContactState::Open]);
}

/// Balls so fast that their contact is where they will meet, off centre: it moves with their
/// velocities. In steps of one length and of two weights.
#[test]
fn fast_balls_meet_off_centre() {
    for (friction, weights) in [(0.0, [1.0; 2]), (0.3, [1.0; 2]), (0.3, [0.6, 0.7])] {
        let (mut m, node, world) = two_balls([0.1, 0.02, 0.35], friction);
        m.set_gravity([0.0; 3]).unwrap();
        m.set_body_velocity(node, 1, [0.0, 0.0, -10.0], [3.0, -2.0, 5.0])
            .unwrap();
        let mut s = Simulation::with_options(m, options()).unwrap();
        s.set_contacts(world).unwrap();
        (s.options.alpha, s.options.beta) = (weights[0], weights[1]);
        check_step(&format!("fast, {friction}, {weights:?}"), &mut s, 0.01, 1e-6);
        s.step(0.01).unwrap();
        assert_ne!(states(&s), [ContactState::Open]);
        let mut contacts = Vec::new();
        s.last_contacts(&mut contacts).unwrap();
        assert!(contacts[0].moves.iter().any(|moved| moved.by_velocity));
        let mut derivative = s.step_derivative().unwrap();
        derivative
            .place(s.problem(), &s.last_step(&contacts).unwrap())
            .unwrap();
        let said = derivative
            .by_length(&mut StateVector::default())
            .unwrap_err()
            .to_string();
        assert!(said.contains("where fast bodies meet"), "{said}");
    }
}

/// A ball that lies exactly over the edge of a box turns one way or another: there is no
/// derivative.
#[test]
fn balls_over_an_edge_are_refused() {
    let mut s = ball_on_block(0.0, 0.1);
    s.step(0.01).unwrap();
    let said = s.last_contacts(&mut Vec::new()).unwrap_err().to_string();
    assert!(said.contains("it comes and goes"), "{said}");
}
