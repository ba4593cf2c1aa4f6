//! Things that meet though a search with the velocities of free fall does not predict it: what is
//! held does not fall, what is hit stops.

use crate::worlds::ground;
use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const G: f64 = 9.81;

fn body(name: &str, shape: Shape, node: NodeId, element: usize) -> Collider {
    let place = Placement::Body {
        node,
        element,
        pose: Pose::default(),
    };
    Collider::new(name, shape, place)
}

/// A ball of radius 5 cm over a plate of 2 cm that is welded to the world.
fn ball_over_plate(height: f64, integrator: Integrator) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let ball = m
        .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, height])])
        .unwrap();
    m.add_mass("ball", ball, Mass::Rigid(vec![RigidMass::sphere(1.0, 0.05)]))
        .unwrap();
    let plate = m.add_rigid_bodies("plate", &[Pose::default()]).unwrap();
    m.add_mass(
        "plate",
        plate,
        Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0, 1.0, 0.02])]),
    )
    .unwrap();
    m.add_joint("weld", &Joint::fixed(Side::World, Side::Body(plate, 0)))
        .unwrap();
    let mut world = World::new();
    world
        .add(body("ball", Shape::ball(0.05).unwrap(), ball, 0))
        .unwrap();
    world
        .add(body("plate", Shape::cuboid([0.5, 0.5, 0.01]).unwrap(), plate, 0))
        .unwrap();
    let mut options = Options {
        integrator,
        ..Options::theta()
    };
    options.contacts.overlap = Overlap::Keep;
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    (s, ball)
}

/// From rest at a gap of 10 cm gravity would take the ball 88 cm in a step of 0.3 s, through the
/// plate and past it. It stops on it, and the force is what takes its momentum beyond that of the
/// way to the plate.
#[test]
fn a_ball_does_not_pass_a_plate_that_is_held() {
    let h = 0.3;
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let (mut s, ball) = ball_over_plate(0.16, integrator.clone());
        let report = s.step(h).unwrap();
        assert_eq!(report.contacts.missed, 1, "{integrator:?}");
        let gap = s.positions(ball)[2] - 0.06;
        assert!(gap.abs() < 1e-9, "{integrator:?}: {gap}");
        let (force, _) = s.contact_force(ball, 0);
        let expected = G + s.velocities(ball)[2] / h;
        assert!(
            (force[2] - expected).abs() < 1e-7 * expected,
            "{integrator:?}: {force:?}"
        );
        // It was predicted that both fall.
        assert_eq!(report.contacts.count, 1);
        let report = s.step(h).unwrap();
        assert_eq!((report.contacts.missed, report.contacts.count), (0, 1));
    }
}

/// Three plates of 2 cm that fall at 30 m/s, 10 cm from each other.
fn falling_plates(integrator: Integrator) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let poses = [0.11, 0.23, 0.35].map(|z| Pose::at([0.0, 0.0, z]));
    let plates = m.add_rigid_bodies("plates", &poses).unwrap();
    m.add_mass(
        "plates",
        plates,
        Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0, 1.0, 0.02]); 3]),
    )
    .unwrap();
    for k in 0..3 {
        m.set_body_velocity(plates, k, [0.0, 0.0, -30.0], [0.0; 3])
            .unwrap();
    }
    let mut world = World::new();
    let default = world.add_material(Material::default()).unwrap();
    ground(&mut world, default);
    for k in 0..3 {
        let shape = Shape::cuboid([0.5, 0.5, 0.01]).unwrap();
        world.add(body(&format!("plate {k}"), shape, plates, k)).unwrap();
    }
    let options = Options {
        integrator,
        ..Options::theta()
    };
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    (s, plates)
}

/// The upper plates are predicted to fall as fast as the lowest, and that stops on the ground.
#[test]
fn what_is_hit_does_not_let_pass_what_follows() {
    let (mut s, plates) = falling_plates(Integrator::Theta);
    let start = s.checkpoint();
    let report = s.step(1.0 / 60.0).unwrap();
    assert!(report.contacts.missed >= 2, "{}", report.contacts.missed);
    let heights = |s: &Simulation| [0, 1, 2].map(|k| s.positions(plates)[7 * k + 2]);
    for (z, expected) in heights(&s).iter().zip([0.01, 0.03, 0.05]) {
        assert!((z - expected).abs() < 1e-6, "{z}, {expected}");
    }
    // Nothing is left of what was tried first.
    let after = s.checkpoint();
    s.restore(&start).unwrap();
    assert_eq!(
        s.step(1.0 / 60.0).unwrap().contacts.missed,
        report.contacts.missed
    );
    assert_eq!(s.checkpoint(), after);
    for _ in 0..20 {
        assert_eq!(s.step(1.0 / 60.0).unwrap().contacts.missed, 0);
    }
    for (z, expected) in heights(&s).iter().zip([0.01, 0.03, 0.05]) {
        assert!((z - expected).abs() < 1e-6, "{z}, {expected}");
    }
}

/// A step that had an impact has it in every attempt with more contacts, and goes straight to one
/// stage in them.
#[test]
fn attempts_with_more_contacts_do_not_try_two_stages_anew() {
    let (mut s, _) = falling_plates(Integrator::Sdirk2);
    let report = s.step(1.0 / 60.0).unwrap();
    assert_eq!((report.solve.stages, report.contacts.missed), (1, 12));
    // One more where two stages are tried anew.
    assert_eq!(s.counters().solver.numeric, 8);
}

/// Springs beside the plate pull a ball into it, which gravity does not predict: the first iterate
/// shows it, and the iteration without the contact goes no further.
#[test]
fn contacts_that_elastic_forces_bring_are_found_at_the_first_iterate() {
    let mut m = Model::new();
    let ball = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 0.07])]).unwrap();
    m.add_mass("ball", ball, Mass::Rigid(vec![RigidMass::sphere(1.0, 0.05)]))
        .unwrap();
    let centre = m
        .add_mapped("centre", &[ball], RigidPoints::new(&[(0, [0.0; 3])]))
        .unwrap();
    let anchors = [(0, [0.2, 0.0, -0.1]), (0, [0.0, 0.2, -0.1])];
    let lines = Distance::to_points(&anchors).with_rest_lengths(&[0.05; 2]);
    let lines = m.add_mapped("lines", &[centre], lines).unwrap();
    let law = UniformCompliance::from_stiffness(300.0);
    m.add_force_field("springs", lines, law, Treatment::Stiffness)
        .unwrap();
    let mut world = World::new();
    world
        .add(body("ball", Shape::ball(0.05).unwrap(), ball, 0))
        .unwrap();
    let plate = Shape::cuboid([0.5, 0.5, 0.01]).unwrap();
    world
        .add(Collider::new("plate", plate, Placement::Fixed(Pose::default())))
        .unwrap();
    let options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::theta()
    };
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    let report = s.step(0.03).unwrap();
    assert_eq!(report.contacts.missed, 1);
    // Six where it is found behind the step alone, in which the attempt without the contact takes
    // three iterations.
    assert_eq!(
        (report.solve.newton.iterations, s.counters().solver.numeric),
        (3, 4)
    );
}

/// A cable along `x` that is held, and one along `y` that flies over and down to its other side in
/// one step of 0.01 s.
fn cables(intersection_free: bool) -> (Simulation, NodeId) {
    let mut m = Model::new();
    let mut world = World::new();
    let ends = [
        [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        [[0.5, 0.2, 0.5], [0.5, 1.2, 0.5]],
    ];
    let nodes = [("held", ends[0]), ("flying", ends[1])].map(|(name, ends)| {
        let node = m.add_particles(name, &ends).unwrap();
        m.add_mass(name, node, Mass::Uniform(1.0)).unwrap();
        let shape = Shape::soft_segments(&[[0, 1]], 0.01).unwrap();
        world
            .add(Collider::new(name, shape, Placement::Points(node)))
            .unwrap();
        node
    });
    for k in 0..2 {
        m.fix(nodes[0], k, &[true; 3]).unwrap();
        m.set_velocity(nodes[1], k, &[true; 3], &[0.0, -100.0, -100.0])
            .unwrap();
    }
    let mut s = Simulation::new(m).unwrap();
    s.options.contacts.intersection_free = intersection_free;
    s.set_contacts(world).unwrap();
    (s, nodes[1])
}

/// The searches at the nearest points of the start and of the end do not see cables that pass
/// through each other on the way; with `intersection_free` they end on the side on which they were.
#[test]
fn cables_do_not_pass_through_each_other_where_they_may_not() {
    // Distance of the held cable to the left of the line of the flying one (m), seen along `x`.
    let left = |s: &Simulation, node| {
        let [_, y, z, _, v, w] = *s.positions(node) else {
            panic!("two points");
        };
        ((v - y) * -z - (w - z) * -y) / (v - y).hypot(w - z)
    };
    for (free, passed) in [(false, true), (true, false)] {
        let (mut s, flying) = cables(free);
        assert_eq!(left(&s, flying), -0.5);
        let report = s.step(0.01).unwrap();
        let left = left(&s, flying);
        assert_eq!(left > 0.0, passed, "{left}");
        assert_eq!(report.contacts.missed, usize::from(free));
        assert!(passed || left < -0.02 + 1e-6, "{left}");
    }
}

/// Sources of contacts that cannot tell, statics, and surfaces that pass through each other at the
/// start are refused by the options of the moment, before any step.
#[test]
fn what_cannot_be_kept_apart_is_refused() {
    let (mut s, _) = cables(false);
    s.set_contacts(Blind).unwrap();
    s.check_method().unwrap();
    s.options.contacts.intersection_free = true;
    assert_eq!(s.check_method().unwrap_err(), Error::CrossingsUnknown);
    let error = s.find_equilibrium(&Equilibrium::default()).unwrap_err();
    assert!(error.to_string().contains("`intersection_free`"), "{error}");
    assert_eq!(s.step(0.01).unwrap_err(), Error::CrossingsUnknown);
    // Two triangles, one of which stands in the other, or beside it.
    for (x, pierces) in [(0.3, true), (1.3, false)] {
        let mut m = Model::new();
        let mut world = World::new();
        let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let upright = [[x, 0.2, -0.5], [x, 0.2, 0.5], [x + 0.1, 0.2, 0.5]];
        for (name, corners) in [("flat", flat), ("upright", upright)] {
            let node = m.add_particles(name, &corners).unwrap();
            m.add_mass(name, node, Mass::Uniform(1.0)).unwrap();
            let shape = Shape::soft_triangles(&[[0, 1, 2]], 0.01).unwrap();
            world
                .add(Collider::new(name, shape, Placement::Points(node)))
                .unwrap();
        }
        let mut s = Simulation::new(m).unwrap();
        s.options.contacts.intersection_free = true;
        s.set_contacts(world).unwrap();
        match s.step(0.01) {
            Ok(_) => assert!(!pierces),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    pierces && text.contains("`flat` and `upright` pass through each other"),
                    "{text}"
                );
            }
        }
    }
}

/// A source of contacts that finds none.
#[derive(Debug)]
struct Blind;

impl ContactFinder for Blind {
    fn nodes(&self) -> Vec<NodeId> {
        Vec::new()
    }

    fn find(&mut self, _: &Model, _: &State, _: f64, _: &mut ContactList) -> Result<(), Error> {
        Ok(())
    }
}

/// A body that stops by less than a hundredth of the thickness of the plate in it is corrected
/// after the next step: no second look.
#[test]
fn what_is_shallow_is_left_to_the_next_step() {
    // From 0.5 mm above it, 0.6 mm down, and 1 mm; a hundredth is 0.2 mm.
    for (h, expected) in [(0.0078, 0), (0.01, 1)] {
        let (mut s, _) = ball_over_plate(0.0605, Integrator::Theta);
        assert_eq!(s.step(h).unwrap().contacts.missed, expected, "{h}");
    }
}

/// Positions move by the mean velocity of the trapezoidal rule: 44 cm from rest, short of a plate
/// that is 60 cm away, which twice as much would pass. Nothing is met, then.
#[test]
fn what_is_passed_is_told_by_the_way_and_not_by_the_last_velocity() {
    for (gap, expected) in [(0.6, 0), (0.3, 1)] {
        let (mut s, ball) = ball_over_plate(0.06 + gap, Integrator::Theta);
        (s.options.alpha, s.options.beta) = (0.5, 0.5);
        assert_eq!(s.step(0.3).unwrap().contacts.missed, expected, "{gap}");
        let fallen = 0.06 + gap - s.positions(ball)[2];
        let free = 0.5 * G * 0.09;
        assert!((fallen - free.min(gap)).abs() < 1e-9, "{gap}: {fallen}");
    }
}

/// A floor below `z = 0` that nobody predicts, and which, given `bottomless`, is never found where
/// it was.
#[derive(Debug)]
struct Abyss {
    particle: NodeId,
    bottomless: bool,
    searches: Arc<AtomicUsize>,
}

/// A particle 1 cm above it, and how often it was looked into.
fn abyss(bottomless: bool, options: Options) -> (Simulation, NodeId, Arc<AtomicUsize>) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let particle = m.add_particles("particle", &[[0.0, 0.0, 0.01]]).unwrap();
    m.add_mass("mass", particle, Mass::Uniform(1.0)).unwrap();
    let mut s = Simulation::with_options(m, options).unwrap();
    let searches = Arc::new(AtomicUsize::new(0));
    s.set_contacts(Abyss {
        particle,
        bottomless,
        searches: Arc::clone(&searches),
    })
    .unwrap();
    (s, particle, searches)
}

impl ContactFinder for Abyss {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.particle]
    }

    fn find(&mut self, _: &Model, _: &State, _: f64, _: &mut ContactList) -> Result<(), Error> {
        Ok(())
    }

    fn find_missed(&mut self, m: &Model, s: &State, h: f64, out: &mut ContactList) -> Result<(), Error> {
        let search = self.searches.fetch_add(1, Ordering::Relaxed);
        let (x, v) = (m.positions(s, self.particle), m.velocities(s, self.particle));
        if x[2] + h * v[2] < -1e-9 || self.bottomless {
            let support = Support {
                node: self.particle,
                element: 0,
                weight: 1.0,
                arm: [0.0; 3],
            };
            let contact = Contact {
                key: ContactKey(0, search as u64),
                point: [x[0], x[1], 0.0],
                normal: [0.0, 0.0, 1.0],
                gap: x[2],
                law: ContactLaw::default(),
                sides: [0, 1],
            };
            out.push(contact, [], [support]);
        }
        Ok(())
    }
}

#[test]
fn a_step_that_is_never_done_with_surprises_is_an_error() {
    let (mut s, particle, searches) = abyss(false, Options::theta());
    assert_eq!(s.step(0.1).unwrap().contacts.missed, 1);
    assert!(s.positions(particle)[2].abs() < 1e-12);
    assert_eq!(searches.load(Ordering::Relaxed), 2);

    let mut options = Options::theta();
    options.contacts.halvings = 1;
    let (mut s, _, searches) = abyss(true, options.clone());
    let before = s.checkpoint();
    let error = s.step(0.1).unwrap_err();
    assert!(matches!(error, Error::ContactsMissed { .. }), "{error}");
    assert!(error.to_string().contains("thing 0 and thing 1"), "{error}");
    let after = s.checkpoint();
    assert_eq!((after.time, &after.state), (before.time, &before.state));
    // The whole step and the first of its halves, each eleven times.
    assert_eq!(searches.load(Ordering::Relaxed), 22);

    options.accept_failed_steps = true;
    let (mut s, _, _) = abyss(true, options);
    assert_eq!(s.step(0.1).unwrap().contacts.missed, 10);
}

/// Finds nothing, and takes its time.
#[derive(Debug)]
struct Slow(NodeId);

const LOOK: Duration = Duration::from_millis(20);

impl ContactFinder for Slow {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, _: &Model, _: &State, _: f64, _: &mut ContactList) -> Result<(), Error> {
        std::thread::sleep(LOOK);
        Ok(())
    }

    fn find_missed(&mut self, _: &Model, _: &State, _: f64, _: &mut ContactList) -> Result<(), Error> {
        std::thread::sleep(LOOK);
        Ok(())
    }
}

/// The first step looks at its start, at its end for what nobody foresaw, and for the next one;
/// others do the last two. A sleep is never shorter than it is told, so a search that counted as
/// something else would be missing whatever the machine does.
#[test]
fn looking_for_contacts_counts_as_that() {
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let options = Options {
            integrator,
            ..Options::theta()
        };
        let (mut s, particle, _) = abyss(false, options);
        s.set_contacts(Slow(particle)).unwrap();
        for looks in [3, 2] {
            let timings = s.step(0.01).unwrap().timings;
            assert!(timings.contacts >= looks * LOOK, "{timings:?}");
        }
    }
}

/// Points are looked for along their way: with the trapezoidal rule they move by half of the
/// velocity that they come to have from rest.
#[test]
fn the_way_of_points_counts() {
    for (height, expected) in [(0.07, 0), (0.03, 1)] {
        let (mut s, particle, _) = abyss(false, Options::trapezoidal());
        let mut state = s.state().clone();
        state.positions[2] = height;
        s.set_state(&state).unwrap();
        let contacts = s.step(0.1).unwrap().contacts;
        // What is never done with surprises would be taken in halves, where the end is slower.
        assert_eq!(
            (contacts.missed, contacts.solve.halvings),
            (expected, 0),
            "{height}"
        );
        let fallen = height - s.positions(particle)[2];
        assert!(
            (fallen - (0.5 * G * 0.01f64).min(height)).abs() < 1e-9,
            "{fallen}"
        );
    }
}

/// Finds a contact that nobody foresaw whenever it is told to, with the next name and this normal,
/// and nothing else.
#[derive(Debug)]
struct Surprise {
    particle: NodeId,
    told: Arc<AtomicBool>,
    names: Arc<AtomicUsize>,
    normal: f64,
}

impl ContactFinder for Surprise {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.particle]
    }

    fn find(&mut self, _: &Model, _: &State, _: f64, _: &mut ContactList) -> Result<(), Error> {
        Ok(())
    }

    fn find_missed(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        if self.told.load(Ordering::Relaxed) {
            let name = self.names.fetch_add(1, Ordering::Relaxed) as u64;
            let x = m.positions(s, self.particle);
            let contact = Contact {
                key: ContactKey(0, name),
                point: [x[0], x[1], 0.0],
                normal: [0.0, 0.0, self.normal],
                gap: x[2],
                law: ContactLaw::default(),
                sides: [0, 1],
            };
            let support = Support {
                node: self.particle,
                element: 0,
                weight: 1.0,
                arm: [0.0; 3],
            };
            out.push(contact, [], [support]);
        }
        Ok(())
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.push(self.names.load(Ordering::Relaxed) as u64);
    }

    fn restore(&mut self, memory: &[u64]) -> Result<(), Error> {
        self.names.store(memory[0] as usize, Ordering::Relaxed);
        Ok(())
    }
}

fn surprise(normal: f64) -> (Simulation, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let mut options = Options::theta();
    options.contacts.halvings = 0;
    let (mut s, particle, _) = abyss(false, options);
    let told = Arc::new(AtomicBool::new(false));
    let names = Arc::new(AtomicUsize::new(7));
    s.set_contacts(Surprise {
        particle,
        told: Arc::clone(&told),
        names: Arc::clone(&names),
        normal,
    })
    .unwrap();
    (s, told, names)
}

/// A step that is never done with surprises leaves neither contacts nor names behind, also where
/// its first contacts were known from the step before.
#[test]
fn surprises_of_a_step_that_fails_are_forgotten() {
    let (mut s, told, names) = surprise(1.0);
    s.step(0.01).unwrap();
    told.store(true, Ordering::Relaxed);
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::ContactsMissed { .. }), "{error}");
    assert_eq!(names.load(Ordering::Relaxed), 7);
    told.store(false, Ordering::Relaxed);
    let contacts = s.step(0.01).unwrap().contacts;
    assert_eq!((contacts.count, contacts.missed), (0, 0));
}

#[test]
fn surprises_are_checked_like_all_contacts() {
    let (mut s, told, _) = surprise(2.0);
    told.store(true, Ordering::Relaxed);
    let error = s.step(0.01).unwrap_err();
    assert!(error.to_string().contains("normal"), "{error}");
}

/// A block slides without friction from one table to the next, flush with it or a little lower: what
/// is supported does not fall, so that the side of the next table is no obstacle. It keeps its speed,
/// but for what it turns where it goes down a step `d`, of the order of `sqrt(2 g d)` across it, which
/// is across its way.
#[test]
fn a_block_slides_over_the_seam_of_two_tables() {
    for integrator in [Integrator::Sdirk2, Integrator::Theta, Integrator::Nonlinear] {
        for (h, lower, speed) in [
            (0.02, 0.0, 0.3),
            (0.01, 1e-5, 0.3),
            (0.01, 0.0, 0.1),
            (0.005, 1e-6, 0.3),
            (0.01, 0.0, 2.0),
        ] {
            let mut m = Model::new();
            m.set_gravity([0.0, 0.0, -9.81]).unwrap();
            let block = m
                .add_rigid_bodies("block", &[Pose::at([-0.2, 0.0, 0.05])])
                .unwrap();
            let mass = RigidMass::cuboid(2.0, [0.21, 0.2, 0.1]);
            m.add_mass("m", block, Mass::Rigid(vec![mass])).unwrap();
            m.set_body_velocity(block, 0, [speed, 0.0, 0.0], [0.0; 3])
                .unwrap();
            let mut world = World::new();
            let smooth = world
                .add_material(Material {
                    friction: 0.0,
                    ..Material::default()
                })
                .unwrap();
            let table = Shape::cuboid([0.5, 0.5, 0.05]).unwrap();
            for (name, x, z) in [("first", -0.5, -0.05), ("second", 0.5, -0.05 - lower)] {
                let place = Placement::Fixed(Pose::at([x, 0.0, z]));
                world
                    .add(Collider::new(name, table.clone(), place).with_material(smooth))
                    .unwrap();
            }
            let shape = Shape::cuboid([0.105, 0.1, 0.05]).unwrap();
            let place = Placement::Body {
                node: block,
                element: 0,
                pose: Pose::default(),
            };
            world
                .add(Collider::new("block", shape, place).with_material(smooth))
                .unwrap();
            let mut options = match integrator {
                Integrator::Theta => Options::theta(),
                _ => Options::default(),
            };
            options.integrator = integrator.clone();
            let mut s = Simulation::with_options(m, options).unwrap();
            s.set_contacts(world).unwrap();
            let steps = (0.45 / speed / h) as usize;
            for _ in 0..steps {
                s.step(h).unwrap();
            }
            let (v, _) = s.world_velocity(block, 0).unwrap();
            assert!(
                (v[0] - speed).abs() < 0.02 * speed,
                "{integrator:?}, steps of {h} s, {lower} m lower: {v:?}"
            );
            let x = s.positions(block)[0];
            assert!(
                (x + 0.2 - speed * h * steps as f64).abs() < 0.02,
                "{integrator:?}: {x}"
            );
        }
    }
}
