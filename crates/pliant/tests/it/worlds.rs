//! Contacts of real shapes, from geometry to force.

use pliant::collision::*;
use pliant::contact::ContactState;
use pliant::prelude::*;
use pliant::solvers::complementarity::{ConeProfile, StageProfile};

pub(crate) fn ground(world: &mut World, material: MaterialId) {
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(material)).unwrap();
}

/// A world of ground of a material, turned about the y axis by an angle, at a height.
pub(crate) fn slope([angle, height]: [f64; 2], material: Material) -> (World, MaterialId) {
    let mut world = World::new();
    let material = world.add_material(material).unwrap();
    let plane = Shape::half_space([angle.sin(), 0.0, angle.cos()]).unwrap();
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::at([0.0, 0.0, height])));
    world.add(ground.with_material(material)).unwrap();
    (world, material)
}

/// Adds the shape of a body of a node.
pub(crate) fn add_body(world: &mut World, material: MaterialId, node: NodeId, element: usize, shape: Shape) {
    let place = Placement::Body {
        node,
        element,
        pose: Pose::default(),
    };
    let collider = Collider::new(&format!("body {element}"), shape, place);
    world.add(collider.with_material(material)).unwrap();
}

pub(crate) fn rough(friction: f64) -> Material {
    Material {
        friction,
        ..Material::default()
    }
}

/// Boxes with these half lengths, masses and poses over the ground.
pub(crate) fn boxes(list: &[([f64; 3], f64, Pose)], material: Material) -> (Simulation, NodeId) {
    moving_boxes(list, &[], material)
}

/// Boxes, the first of which have these linear and angular velocities.
pub(crate) fn moving_boxes(
    list: &[([f64; 3], f64, Pose)],
    velocities: &[[[f64; 3]; 2]],
    material: Material,
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let poses: Vec<Pose> = list.iter().map(|b| b.2).collect();
    let node = m.add_rigid_bodies("boxes", &poses).unwrap();
    let masses = list
        .iter()
        .map(|(half, mass, _)| RigidMass::cuboid(*mass, half.map(|x| 2.0 * x)));
    m.add_mass("mass", node, Mass::Rigid(masses.collect())).unwrap();
    for (element, [linear, angular]) in velocities.iter().enumerate() {
        m.set_body_velocity(node, element, *linear, *angular).unwrap();
    }
    let mut world = World::new();
    let material = world.add_material(material).unwrap();
    ground(&mut world, material);
    for (element, (half, ..)) in list.iter().enumerate() {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let shape = Shape::cuboid(*half).unwrap();
        let collider = Collider::new(&format!("box {element}"), shape, place);
        world.add(collider.with_material(material)).unwrap();
    }
    let mut s = crate::tools::theta(m).unwrap();
    s.set_contacts(world).unwrap();
    (s, node)
}

/// A body of this mass and moment of inertia, at this height over a plane, on balls of 5 cm under
/// these places that touch it.
pub(crate) fn on_feet(
    feet: &[[f64; 2]],
    [mass, inertia]: [f64; 2],
    height: f64,
    friction: f64,
) -> (Model, NodeId, World) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let body = m
        .add_rigid_bodies("body", &[Pose::at([0.0, 0.0, height])])
        .unwrap();
    let own = RigidMass::principal(mass, [inertia; 3]);
    m.add_mass("mass", body, Mass::Rigid(vec![own])).unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(friction)).unwrap();
    ground(&mut world, material);
    for (k, [x, y]) in feet.iter().enumerate() {
        let place = Placement::Body {
            node: body,
            element: 0,
            pose: Pose::at([*x, *y, 0.05 - height]),
        };
        let foot = Collider::new(&format!("foot {k}"), Shape::ball(0.05).unwrap(), place);
        world.add(foot.with_material(material)).unwrap();
    }
    (m, body, world)
}

pub(crate) fn tower(masses: &[f64]) -> Vec<([f64; 3], f64, Pose)> {
    let pose = |k: usize| Pose::at([0.0, 0.0, 0.5 + k as f64]);
    masses
        .iter()
        .enumerate()
        .map(|(k, m)| ([0.5; 3], *m, pose(k)))
        .collect()
}

/// Ten boxes, and ten with one of a thousand times the mass on top, stand for ten seconds, and
/// energy never rises.
#[test]
fn towers_of_boxes_stand() {
    let mut heavy = [1.0; 10];
    heavy[9] = 1000.0;
    for masses in [[1.0; 10], heavy] {
        let (mut s, node) = boxes(&tower(&masses), rough(0.5));
        let start = s.step(1.0 / 60.0).unwrap().energies.total();
        let mut before = start;
        for _ in 0..600 {
            let report = s.step(1.0 / 60.0).unwrap();
            assert!(report.contacts.residual <= 1e-8);
            assert_eq!((report.contacts.count, report.contacts.slipping), (40, 0));
            let energy = report.energies.total();
            assert!(energy <= before + 1e-9 * start, "{energy} {before}");
            before = energy;
        }
        let top = s.pose(node, 9).unwrap().position;
        let moved = top[0].hypot(top[1]).hypot(top[2] - 9.5);
        println!("moved {moved:e}");
        assert!(moved < 1e-7);
        let (force, _) = s.contact_force(node, 9);
        assert!((force[2] - masses[9] * 9.81).abs() < 1e-6 * force[2]);
    }
}

/// Case D11 with shapes: a box on an incline.
#[test]
fn a_box_slides_down_a_slope() {
    let angle = 25f64.to_radians();
    let mut m = Model::new();
    m.set_gravity([9.81 * angle.sin(), 0.0, -9.81 * angle.cos()])
        .unwrap();
    let node = m.add_rigid_bodies("box", &[Pose::at([0.0, 0.0, 0.2])]).unwrap();
    let mass = RigidMass::cuboid(10.0, [1.0, 0.6, 0.4]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(0.3)).unwrap();
    ground(&mut world, material);
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    let cuboid = Collider::new("box", Shape::cuboid([0.5, 0.3, 0.2]).unwrap(), place);
    world.add(cuboid.with_material(material)).unwrap();
    let mut options = Options::default();
    options.contacts.accuracy = 1e-13;
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..5 {
        let report = s.step(0.01).unwrap();
        assert_eq!((report.contacts.count, report.contacts.slipping), (4, 4));
    }
    assert!((s.velocities(node)[0] - 0.073_931_066_521_37).abs() < 1e-10);
    assert!(s.contacts().iter().all(|c| c.state == ContactState::Slipping));
    let name = s.contact_side(s.contacts()[0].contact.sides[1]);
    assert_eq!(name, "`box`");
}

/// A body that falls from rest to the ground in one step is detected in that step: it stops on the
/// ground and not in it.
#[test]
fn what_falls_from_rest_is_seen_before_it_sinks() {
    let half = [0.5; 3];
    // 0.5 mm above the ground; gravity takes 4 mm in the step.
    let (mut s, node) = boxes(&[(half, 1.0, Pose::at([0.0, 0.0, 0.5005]))], rough(0.5));
    let report = s.step(0.02).unwrap();
    assert_eq!((report.contacts.count, report.contacts.corrections.count), (4, 0));
    assert!((s.positions(node)[2] - 0.5).abs() < 1e-9);
}

/// A ball of 1 cm at 500 m/s does not pass a plate of 2 mm in steps of 1/60 s.
#[test]
fn a_bullet_does_not_tunnel() {
    let mut m = Model::new();
    let ball = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 3.0])]).unwrap();
    m.add_mass("ball", ball, Mass::Rigid(vec![RigidMass::sphere(0.01, 0.005)]))
        .unwrap();
    m.set_body_velocity(ball, 0, [0.0, 0.0, -500.0], [0.0; 3])
        .unwrap();
    let plate = m.add_rigid_bodies("plate", &[Pose::default()]).unwrap();
    m.add_mass(
        "plate",
        plate,
        Mass::Rigid(vec![RigidMass::cuboid(1.0, [0.5, 0.5, 0.002])]),
    )
    .unwrap();
    let mut world = World::new();
    for (name, shape, node) in [
        ("ball", Shape::ball(0.005).unwrap(), ball),
        ("plate", Shape::cuboid([0.25, 0.25, 0.001]).unwrap(), plate),
    ] {
        let place = Placement::Body {
            node,
            element: 0,
            pose: Pose::default(),
        };
        world.add(Collider::new(name, shape, place)).unwrap();
    }
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..5 {
        s.step(1.0 / 60.0).unwrap();
        let gap = s.positions(ball)[2] - s.positions(plate)[2] - 0.006;
        assert!(gap > -1e-6, "{gap}");
    }
    // Plastic impact: both go on together, with the momentum of the ball.
    let momentum = 0.01 * s.velocities(ball)[2] + s.velocities(plate)[2];
    assert!((momentum + 5.0).abs() < 1e-9);
    assert!((s.velocities(ball)[2] - s.velocities(plate)[2]).abs() < 1e-6);
}

/// One step in which energy does not rise, but by rounding and by what the residual of the contacts
/// lets impulses do. Returns what motion did not pay of what was lifted, and the step had lost.
fn step_without_gain(s: &mut Simulation, h: f64) -> (StepReport, f64) {
    let before = s.problem().energies(s.state()).total();
    let report = s.step(h).unwrap_or_else(|e| panic!("{e}"));
    let c = report.contacts;
    let impulses = s
        .contacts()
        .iter()
        .map(|c| c.impulse.map(f64::abs).iter().sum::<f64>());
    let solver = 2.0 * c.velocity_residual * impulses.sum::<f64>();
    let unpaid = (c.corrections.lifted - c.corrections.paid).max(0.0);
    let after = report.energies.total();
    let allowed = solver + 1e-13 * (1.0 + before.abs());
    assert!(
        after <= before + allowed,
        "at {}: {before} {after}, {:e} more than {allowed:e}: {c:?}",
        report.time,
        after - before
    );
    (report, unpaid)
}

fn numbers(mut x: u64) -> impl FnMut() -> f64 {
    move || {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// A pile of boxes dropped at random: converged in every step, no energy made, no overlap beyond
/// what is allowed.
#[test]
fn a_falling_heap_makes_no_energy() {
    let mut list = Vec::new();
    let mut number = numbers(1);
    for k in 0..12 {
        let place = [0.3 * number(), 0.3 * number(), 0.8 + 0.95 * k as f64];
        let pose = Pose::turned(place, [number(), number(), number()], 1.5 * number());
        list.push(([0.25, 0.2, 0.3], 1.0 + 0.5 * number(), pose));
    }
    let (mut s, _) = boxes(&list, rough(0.4));
    let start = s.problem().energies(s.state()).total();
    let mut unpaid = 0.0;
    for _ in 0..200 {
        let (report, more) = step_without_gain(&mut s, 0.01);
        unpaid += more;
        // Two boxes with half diagonals of 0.44 m that meet at 14 m/s turn by up to half a radian
        // each in a step, of which 0.44 (1 - cos 0.5) = 0.05 m is not linear.
        assert!(report.contacts.overlap < 0.1, "{:?}", report.contacts);
    }
    assert!(unpaid < 1e-6 * start, "{unpaid} of {start}");
}

/// Boards of 1:10:50 that tumble, spin and fall on each other.
#[test]
fn tumbling_boards_make_no_energy() {
    for (seed, h) in [(2, 1.0 / 60.0), (3, 1.0 / 240.0), (4, 1.0 / 120.0)] {
        let mut number = numbers(seed);
        let list: Vec<_> = (0..4)
            .map(|k| {
                let place = [0.1 * number(), 0.1 * number(), 0.6 + 0.3 * k as f64];
                let pose = Pose::turned(place, [number(), number(), number()], 3.0 * number());
                ([0.01, 0.1, 0.5], 1.0, pose)
            })
            .collect();
        let mut velocity = || {
            let spin = [10.0 * number(), 10.0 * number(), 10.0 * number()];
            [[number(), number(), 0.0], spin]
        };
        let velocities = [velocity(), velocity(), velocity(), velocity()];
        let (mut s, _) = moving_boxes(&list, &velocities, rough(0.5));
        let start = s.problem().energies(s.state()).total();
        let mut unpaid = 0.0;
        for _ in 0..(1.5 / h) as usize {
            unpaid += step_without_gain(&mut s, h).1;
        }
        // Crossed edges jump over the faces of boards that lie on each other almost flat: what such
        // a step finds in the way is some mm deep.
        assert!(unpaid < 1e-2 * start, "{h}: {unpaid} of {start}");
    }
}

/// Overlap that is lifted costs `m g d`: `v^2/2 + g d` stays. What moves elsewhere does not pay for
/// it, and what rests cannot.
#[test]
fn lifting_is_paid_with_velocity_by_what_is_lifted() {
    let half = [0.5; 3];
    let pose = |x: f64, z: f64| Pose::at([x, 0.0, z]);
    let list = [
        (half, 2.0, pose(0.0, 0.497)),
        // Beside the first, and touches it.
        (half, 1.0, pose(1.0, 0.5)),
        (half, 3.0, pose(10.0, 0.499)),
    ];
    let moving = [[[0.0, 1.0, 0.0], [0.0; 3]]; 2];
    let (mut s, node) = moving_boxes(&list, &moving, rough(0.0));
    let report = s.step(0.01).unwrap().contacts;
    let [moving, resting] = [2.0 * 9.81 * 0.003, 3.0 * 9.81 * 0.001];
    assert!(
        (report.corrections.lifted - moving - resting).abs() < 1e-9,
        "{report:?}"
    );
    assert!((report.corrections.paid - moving).abs() < 1e-9, "{report:?}");
    // Nothing acts between the two that touch.
    assert!(
        s.contacts()
            .iter()
            .any(|c| c.contact.sides == [1, 2] && c.state == ContactState::Open)
    );
    let lifter = report
        .corrections
        .lifted_by
        .unwrap()
        .map(|side| s.contact_side(side));
    assert_eq!(lifter, ["`ground`", "`box 0`"]);
    let v = s.velocities(node);
    assert!(
        (v[1] - (1.0 - 2.0 * 9.81 * 0.003f64).sqrt()).abs() < 1e-9,
        "{v:?}"
    );
    assert!((v[7] - 1.0).abs() < 1e-12 && v[13].abs() < 1e-12, "{v:?}");
    // To rounding and what is allowed to stay.
    for (e, mass) in [(0, 2.0), (2, 3.0)] {
        assert!((s.positions(node)[7 * e + 2] - 0.5).abs() < 2e-6, "{mass}");
    }
}

/// Saved in the middle of a collapse and restored into a new simulation, the motion goes on bit for
/// bit.
#[test]
fn a_heap_goes_on_from_a_checkpoint_bit_for_bit() {
    let heap = || {
        let pose = |k: usize| {
            let shift = 0.1 * (k as f64).sin();
            Pose::turned(
                [shift, 0.5 * shift, 0.35 + 0.62 * k as f64],
                [1.0, 0.3 * k as f64, 0.2],
                0.2,
            )
        };
        let list: Vec<_> = (0..8).map(|k| ([0.25, 0.2, 0.3], 1.0, pose(k))).collect();
        boxes(&list, rough(0.4))
    };
    let (mut s, node) = heap();
    let mut saved = None;
    for k in 0..90 {
        if k == 40 {
            saved = Some(s.checkpoint());
        }
        s.step(0.01).unwrap();
    }
    let (mut t, _) = heap();
    // A past of its own.
    t.step(0.01).unwrap();
    let saved = saved.unwrap();
    t.restore(&saved).unwrap();
    assert_eq!(t.checkpoint(), saved);
    for k in 40..90 {
        t.step(0.01).unwrap_or_else(|e| panic!("step {k}: {e}"));
    }
    assert_eq!(t.positions(node), s.positions(node));
    assert_eq!(t.contacts(), s.contacts());
}

/// A tower at rest is stepped without an allocation once it has been stepped a few times.
#[test]
fn a_tower_at_rest_allocates_nothing() {
    let (mut s, _) = boxes(&tower(&[1.0; 4]), rough(0.5));
    for _ in 0..5 {
        s.step(1.0 / 60.0).unwrap();
    }
    let info = allocation_counter::measure(|| {
        for _ in 0..10 {
            s.step(1.0 / 60.0).unwrap();
        }
    });
    assert_eq!(info.count_total, 0);
}

/// The profile of contacts counts the problems, settled starts and iterations that the reports of
/// the linear step have, each stage what it was begun and answered; a simulation without contacts
/// has none.
#[test]
fn the_profile_counts_what_the_reports_do() {
    let (mut s, _) = boxes(&tower(&[1.0, 50.0, 1.0]), rough(0.5));
    s.options.integrator = Integrator::Theta;
    let (mut islands, mut settled, mut iterations) = (0, 0, 0);
    for _ in 0..30 {
        let solve = s.step(1.0 / 60.0).unwrap().contacts.solve;
        islands += solve.islands;
        settled += solve.settled;
        iterations += solve.iterations;
    }
    let [of_steps, _] = s.contact_profiles();
    assert!(settled > 0 && settled < islands && iterations > 0);
    assert_eq!((of_steps.problems, of_steps.settled), (islands, settled));
    let sum = |of: fn(&StageProfile) -> usize| of_steps.stages.iter().map(of).sum::<usize>();
    assert_eq!(sum(|stage| stage.iterations), iterations);
    assert_eq!(sum(|stage| stage.answers), islands - settled);
    assert!(
        of_steps
            .stages
            .iter()
            .all(|s| s.begun >= s.answers && (s.begun > 0) == s.method.is_some())
    );
    let empty = crate::tools::theta(Model::new()).unwrap();
    assert_eq!(empty.contact_profiles(), [ConeProfile::default(); 2]);
}

/// Two boxes that rest apart are two systems of six unknowns: each step factors both once, on plans
/// that stay, and their factors have at least the entries of their diagonals.
#[test]
fn the_linear_systems_of_contacts_are_counted() {
    let place = |x: f64| ([0.1, 0.1, 0.1], 1.0, Pose::at([x, 0.0, 0.1]));
    let (mut s, _) = boxes(&[place(0.0), place(2.0)], rough(0.5));
    for _ in 0..3 {
        s.step(0.01).unwrap();
    }
    let before = s.counters().solver;
    for _ in 0..10 {
        s.step(0.01).unwrap();
    }
    let after = s.counters().solver;
    assert_eq!(after.numeric - before.numeric, 20);
    assert_eq!(after.symbolic, before.symbolic);
    assert!(
        after.factor_entries >= 12 && after.matrix_entries >= 12,
        "{after:?}"
    );
}
