//! Sleep and waking: what is held to the bit, what it saves, what it takes, and what disturbs it.

use crate::worlds::{boxes, rough, tower};
use pliant::contact::*;
use pliant::prelude::*;

const H: f64 = 1.0 / 60.0;

fn drowsy(s: &mut Simulation) {
    s.options.contacts.sleeping = Some(Sleeping {
        time: 0.1,
        ..Sleeping::default()
    });
}

fn bits(s: &Simulation, node: NodeId) -> Vec<u64> {
    let (x, v) = (s.positions(node), s.velocities(node));
    x.iter().chain(v).map(|x| x.to_bits()).collect()
}

fn until_asleep(s: &mut Simulation, count: usize) {
    for _ in 0..600 {
        if s.step(H).unwrap().contacts.sleep.asleep == count {
            return;
        }
    }
    panic!("still awake at {} s", s.time());
}

/// Three boxes on each other and one high above, with nothing to do with them until it falls onto
/// them.
fn tower_and_a_thrown_box() -> (Simulation, NodeId) {
    let mut list = tower(&[1.0; 3]);
    list.push(([0.5; 3], 1.0, Pose::at([0.1, 0.0, 6.0])));
    let (mut s, node) = boxes(&list, rough(0.5));
    drowsy(&mut s);
    (s, node)
}

/// While the tower sleeps only the six coordinates of the thrown box are solved for, and no contact
/// is; the tower is the same to the bit. The box wakes it in the step in which it would touch it,
/// and all come to rest as they do without sleep.
#[test]
fn a_tower_sleeps_until_something_falls_on_it() {
    let (mut s, node) = tower_and_a_thrown_box();
    let first = s.step(H).unwrap();
    assert_eq!((first.solve.inertia.0, first.contacts.count), (24, 12));
    until_asleep(&mut s, 3);
    assert!((0..3).all(|k| s.is_asleep(node, k)) && !s.is_asleep(node, 3));
    let held = bits(&s, node);
    let mut steps = 0;
    let woke = loop {
        let gap = s.positions(node)[23] - 3.5;
        let report = s.step(H).unwrap();
        if report.contacts.sleep.asleep == 0 {
            // Within the step it would have gone through.
            let speed = -s.time() * 9.81;
            break (gap, gap + H * speed);
        }
        assert_eq!((report.solve.inertia.0, report.contacts.count), (6, 0));
        assert_eq!(bits(&s, node)[..21], held[..21]);
        steps += 1;
    };
    assert!(steps > 30 && woke.0 > 0.0 && woke.1 < 1e-9, "{steps} {woke:?}");
    until_asleep(&mut s, 4);
    let (mut awake, _) = tower_and_a_thrown_box();
    awake.options.contacts.sleeping = None;
    while awake.time() < s.time() {
        awake.step(H).unwrap();
    }
    for (x, y) in s.positions(node).iter().zip(awake.positions(node)) {
        // Slower than 1 mm/s for 0.1 s before it was stilled, and less so afterwards.
        assert!((x - y).abs() < 1e-4, "{x} {y}");
    }
}

/// Free fall of one step, at a threshold above its speed: `m (g h)^2 / 2` is taken, and said to be.
#[test]
fn the_energy_that_sleep_takes_is_reported() {
    let (mut s, node) = boxes(&[([0.5; 3], 2.0, Pose::at([0.0, 0.0, 5.0]))], rough(0.5));
    s.options.contacts.sleeping = Some(Sleeping {
        speed: 1.0,
        spin: 1.0,
        time: 0.0,
    });
    let report = s.step(H).unwrap();
    let taken = 2.0 * (9.81 * H).powi(2) / 2.0;
    assert!(
        (report.contacts.sleep.stilled - taken).abs() < 1e-14,
        "{:?}",
        report.contacts
    );
    assert_eq!((report.energies.kinetic, report.contacts.sleep.asleep), (0.0, 1));
    assert_eq!(report.momentum.linear, [0.0; 3]);
    // It is in the books of the step.
    let l = report.ledger;
    assert!((l.corrections + taken).abs() < 1e-14, "{l:?}");
    assert!(
        (l.kinetic + l.potential - l.brought_in() - l.numerical).abs() < 1e-12,
        "{l:?}"
    );
    assert!(s.velocities(node).iter().all(|v| *v == 0.0));
    let held = bits(&s, node);
    let report = s.step(H).unwrap();
    assert_eq!(
        (report.contacts.sleep.stilled, report.solve.inertia),
        (0.0, (0, 0))
    );
    assert_eq!(bits(&s, node), held);
}

/// A body that turns faster than its threshold does not sleep, however slow its centre.
#[test]
fn what_spins_does_not_sleep() {
    for (spin, asleep) in [(0.5, 1), (2.0, 0)] {
        let (mut s, node) = boxes(&[([0.5; 3], 2.0, Pose::at([0.0, 0.0, 5.0]))], rough(0.5));
        s.options.contacts.sleeping = Some(Sleeping {
            speed: 1.0,
            spin: 1.0,
            time: 0.5 * H,
        });
        let mut state = s.state().clone();
        state.velocities[s.model().node(node).velocity_range()][5] = spin;
        s.set_state(&state).unwrap();
        assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, asleep, "{spin}");
    }
}

/// A box on a table that is held.
fn on_a_table() -> (Simulation, NodeId) {
    let list = [
        ([1.0, 1.0, 0.1], 5.0, Pose::at([0.0, 0.0, 2.0])),
        ([0.2; 3], 1.0, Pose::at([0.0, 0.0, 2.3])),
    ];
    let (mut s, node) = boxes(&list, rough(0.5));
    s.hold(node, 0, &[true; 6], &[0.0; 6]).unwrap();
    drowsy(&mut s);
    until_asleep(&mut s, 1);
    assert!(s.is_asleep(node, 1) && !s.is_asleep(node, 0));
    (s, node)
}

/// Everything that disturbs a sleeper, and one thing that does not: the force that it has already.
#[test]
fn what_changes_wakes() {
    let (mut s, node) = on_a_table();
    s.set_force(node, 1, &[0.0; 6]).unwrap();
    assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 1);
    // It is not held by a support, and the table has no force to bear but its own weight.
    assert!(s.support_force(node, 1).iter().all(|f| *f == 0.0));
    assert!((s.support_force(node, 0)[2] - 5.0 * 9.81).abs() < 1e-9);

    // A force: `F/m - mu g` along.
    s.set_force(node, 1, &[8.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 0);
    let v = s.velocities(node)[6];
    assert!((v - H * (8.0 - 0.5 * 9.81)).abs() < 1e-6, "{v}");

    // What holds it lets go: both fall.
    let (mut s, node) = on_a_table();
    s.release(node, 0, &[true; 6]).unwrap();
    assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 0);
    assert!((0..2).all(|k| (s.velocities(node)[6 * k + 2] + 9.81 * H).abs() < 1e-9));

    // What holds it moves: it is carried upwards and along.
    for share in [1.0, 0.02] {
        let (mut s, node) = on_a_table();
        let motion = [0.01, 0.0, 0.02, 0.0, 0.0, 0.0].map(|v| share * v);
        s.hold(node, 0, &[true; 6], &motion).unwrap();
        for _ in 0..20 {
            assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 0);
        }
        for k in 0..3 {
            assert!((s.velocities(node)[6 + k] - motion[k]).abs() < 1e-6);
        }
    }

    // The user; it falls asleep again.
    let (mut s, node) = on_a_table();
    let held = bits(&s, node);
    s.wake(node, 1).unwrap();
    assert!(!s.is_asleep(node, 1));
    let report = s.step(H).unwrap();
    // The contacts of its sleep are the same ones, so that nothing has begun, and it rests on them.
    assert_eq!((report.contacts.sleep.asleep, report.contacts.active), (0, 4));
    assert!(s.contact_events().is_empty());
    until_asleep(&mut s, 1);
    for (x, y) in bits(&s, node).iter().zip(&held) {
        assert!((f64::from_bits(*x) - f64::from_bits(*y)).abs() < 1e-9);
    }
    s.wake_all();
    assert!(!s.is_asleep(node, 1));
    assert!(s.wake(node, 7).is_err());

    // Another state; and the option is taken away.
    let (mut s, node) = on_a_table();
    let state = s.state().clone();
    s.set_state(&state).unwrap();
    assert!(!s.is_asleep(node, 1));
    until_asleep(&mut s, 1);
    s.options.contacts.sleeping = None;
    let report = s.step(H).unwrap();
    assert_eq!((report.contacts.sleep.asleep, report.contacts.active), (0, 4));
}

/// A weight on a hard rod, and one on a second rod whose end is driven: rows of what sleeps ask for
/// nothing and keep their forces; driving one wakes what hangs on it and nothing else.
#[test]
fn rows_among_sleepers_keep_their_forces() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let weights = m
        .add_particles("weights", &[[0.0, 0.0, -1.0], [1.0, 0.0, -1.0]])
        .unwrap();
    m.add_mass("mass", weights, Mass::Uniform(3.0)).unwrap();
    let rod = |m: &mut Model, k: usize| {
        let end = [k as f64, 0.0, 0.0];
        let lengths = Distance::to_points(&[(k, end)]).with_rest_lengths(&[1.0]);
        let node = m.add_mapped(&format!("length {k}"), &[weights], lengths).unwrap();
        m.add_constraint(&format!("rod {k}"), node, Level::Position)
            .unwrap()
    };
    let rods = [rod(&mut m, 0), rod(&mut m, 1)];
    let mut s = Simulation::new(m).unwrap();
    drowsy(&mut s);
    until_asleep(&mut s, 2);
    for _ in 0..3 {
        let report = s.step(H).unwrap();
        assert_eq!((report.solve.inertia.0, report.contacts.sleep.asleep), (0, 2));
        for rod in rods {
            assert!((s.reaction(rod)[0].abs() - 3.0 * 9.81).abs() < 1e-9);
        }
    }
    let held = bits(&s, weights);
    let motion = PrescribedMotion::ramp(-0.1 * s.time(), 0.1);
    s.set_motion(rods[1], Some(motion)).unwrap();
    for _ in 0..30 {
        assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 1);
    }
    let now = bits(&s, weights);
    assert_eq!((&now[..3], &now[6..9]), (&held[..3], &held[6..9]));
    assert!((s.velocities(weights)[5] + 0.1).abs() < 1e-9);
}

/// A motion that waits for two seconds lets its weight sleep until then.
#[test]
fn a_motion_that_goes_on_wakes() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let weight = m.add_particles("weight", &[[0.0, 0.0, -1.0]]).unwrap();
    m.add_mass("mass", weight, Mass::Uniform(3.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let node = m.add_mapped("length", &[weight], length).unwrap();
    let rod = m.add_constraint("rod", node, Level::Position).unwrap();
    let motion = PrescribedMotion::table(&[(0.0, 0.0), (2.0, 0.0), (12.0, 1.0)]).unwrap();
    m.set_motion(rod, Some(motion)).unwrap();
    let mut s = Simulation::new(m).unwrap();
    drowsy(&mut s);
    until_asleep(&mut s, 1);
    assert!(s.time() < 0.2);
    while s.time() < 3.0 {
        let before = s.time();
        let asleep = s.step(H).unwrap().contacts.sleep.asleep;
        assert_eq!(asleep == 1, before + H < 2.0 + 1e-9, "{before}");
    }
    assert!((s.positions(weight)[2] + 1.0 + 0.1 * (s.time() - 2.0)).abs() < 1e-9);
}

/// A weight on a hard rod from a particle that is held, and one on a spring: both are woken when
/// that is let go, or moved.
#[test]
fn what_holds_by_rows_and_springs_wakes() {
    for hard in [true, false] {
        let make = || {
            let mut m = Model::new();
            m.set_gravity([0.0, 0.0, -9.81]).unwrap();
            let points = m
                .add_particles("points", &[[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
                .unwrap();
            m.add_mass("mass", points, Mass::Uniform(3.0)).unwrap();
            let rest = if hard { 1.0 } else { 1.0 - 3.0 * 9.81 / 1000.0 };
            let length = Distance::between(&[(1, 0)]).with_rest_lengths(&[rest]);
            let node = m.add_mapped("length", &[points], length).unwrap();
            if hard {
                m.add_constraint("rod", node, Level::Position).unwrap();
            } else {
                let law = UniformCompliance::from_stiffness(1000.0);
                m.add_force_field("spring", node, law, Treatment::Stiffness)
                    .unwrap();
            }
            let mut s = Simulation::new(m).unwrap();
            s.hold(points, 0, &[true; 3], &[0.0; 3]).unwrap();
            drowsy(&mut s);
            until_asleep(&mut s, 1);
            (s, points)
        };
        let (mut s, points) = make();
        s.release(points, 0, &[true; 3]).unwrap();
        assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 0);
        // Both fall with the acceleration of gravity on the whole.
        let v = s.velocities(points);
        assert!((v[2] + v[5] + 2.0 * 9.81 * H).abs() < 1e-9, "{v:?}");
        // Also below the speed of sleep.
        for speed in [0.3, 5e-4] {
            let (mut s, points) = make();
            s.hold(points, 0, &[true; 3], &[0.0, 0.0, speed]).unwrap();
            for _ in 0..120 {
                assert_eq!(s.step(H).unwrap().contacts.sleep.asleep, 0);
            }
            assert!((s.velocities(points)[5] / speed - 1.0).abs() < 0.1);
        }
    }
}

/// Saved asleep, and restored into a simulation that is awake, on any number of threads: the same
/// bits through waking and the next sleep.
#[test]
fn sleep_goes_on_from_a_checkpoint_bit_for_bit() {
    let run = |threads: usize, from: Option<&Checkpoint>| {
        let (mut s, node) = tower_and_a_thrown_box();
        s.options.tuning.solver.threads = threads;
        let mut saved = None;
        match from {
            Some(saved) => {
                s.restore(saved).unwrap();
                assert_eq!(&s.checkpoint(), saved);
            }
            None => {
                until_asleep(&mut s, 3);
                saved = Some(s.checkpoint());
            }
        }
        let mut asleep = Vec::new();
        while s.time() < 3.0 {
            asleep.push(s.step(H).unwrap().contacts.sleep.asleep);
        }
        (bits(&s, node), asleep, saved)
    };
    let (first, asleep, saved) = run(1, None);
    assert!([3, 0, 4].iter().all(|n| asleep.contains(n)), "{asleep:?}");
    for threads in [1, 3] {
        let (again, counts, _) = run(threads, saved.as_ref());
        assert_eq!((&again, &counts), (&first, &asleep));
    }
}

/// Boxes fall into a heap at different times: islands sleep and are woken by what falls on them.
/// Energy never rises but by what the correction of overlap lifts, all sleep in the end, and then a
/// step allocates nothing and solves nothing.
#[test]
fn a_heap_falls_asleep_for_good() {
    let pose = |k: usize| {
        let angle = 2.4 * k as f64;
        let place = [0.4 * angle.cos(), 0.4 * angle.sin(), 0.5 + 1.2 * k as f64];
        Pose::turned(place, [angle.sin(), 1.0, 0.3], angle)
    };
    let list: Vec<_> = (0..8).map(|k| ([0.25, 0.2, 0.3], 1.0, pose(k))).collect();
    let (mut s, node) = boxes(&list, rough(0.6));
    drowsy(&mut s);
    let (mut before, mut slept, mut woke) = (f64::INFINITY, 0, 0);
    let mut count = 0;
    while s.time() < 8.0 && count < 8 {
        let report = s.step(H).unwrap();
        let energy = report.energies.total();
        // Turning in a step makes overlap, which is taken back at the cost of what the step lost.
        assert!(energy <= before + 1e-9, "{energy} {before}");
        before = energy;
        slept += usize::from(report.contacts.sleep.asleep > count);
        woke += usize::from(report.contacts.sleep.asleep < count);
        count = report.contacts.sleep.asleep;
    }
    assert!(count == 8 && slept > 1 && woke > 0, "{count} {slept} {woke}");
    let held = bits(&s, node);
    s.step(H).unwrap();
    let info = allocation_counter::measure(|| {
        for _ in 0..10 {
            let report = s.step(H).unwrap();
            assert_eq!((report.solve.inertia, report.contacts.count), ((0, 0), 0));
        }
    });
    assert_eq!(info.count_total, 0);
    assert_eq!(bits(&s, node), held);
}

/// Bodies at rest at any angle: some of their quaternions have a length that an update by nothing
/// would round again.
#[test]
fn quaternions_are_held_to_the_bit() {
    let mut m = Model::new();
    let pose = |k: usize| {
        let a = k as f64;
        Pose::turned([a, -0.0, 0.0], [a.sin(), 1.3 * a.cos(), 0.7], 0.37 * a)
    };
    let poses: Vec<Pose> = (0..300).map(pose).collect();
    let node = m.add_rigid_bodies("bodies", &poses).unwrap();
    let mass = RigidMass::sphere(1.0, 0.1);
    m.add_mass("mass", node, Mass::Rigid(vec![mass; 300])).unwrap();
    let mut s = Simulation::new(m).unwrap();
    drowsy(&mut s);
    until_asleep(&mut s, 300);
    let held = bits(&s, node);
    for _ in 0..10 {
        s.step(H).unwrap();
        assert_eq!(bits(&s, node), held);
    }
}

/// Stilled in the middle of a swing, a hard rod is longer by what the motion curved in the last
/// step, and stays so: the row does not ask the sleeper for what it cannot give.
#[test]
fn a_row_that_is_violated_sleeps_with_its_body() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let bob = m.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    m.add_mass("mass", bob, Mass::Uniform(3.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = m.add_mapped("length", &[bob], length).unwrap();
    m.add_constraint("rod", rod, Level::Position).unwrap();
    let mut s = crate::tools::theta(m).unwrap();
    for _ in 0..20 {
        s.step(H).unwrap();
    }
    s.options.contacts.sleeping = Some(Sleeping {
        speed: 100.0,
        spin: 0.0,
        time: 0.0,
    });
    let first = s.step(H).unwrap();
    assert!(
        first.contacts.sleep.asleep == 1 && first.violation > 1e-4,
        "{first:?}"
    );
    let held = bits(&s, bob);
    for _ in 0..3 {
        let report = s.step(H).unwrap();
        assert_eq!(
            (report.status, report.violation),
            (Status::Converged, first.violation)
        );
    }
    assert_eq!(bits(&s, bob), held);
}

/// A world that counts what it finds.
#[derive(Debug)]
struct Counting(
    pliant::collision::World,
    std::sync::Arc<std::sync::atomic::AtomicUsize>,
);

impl ContactFinder for Counting {
    fn nodes(&self) -> Vec<NodeId> {
        self.0.nodes()
    }
    fn find(&mut self, m: &Model, s: &State, h: f64, out: &mut ContactList) -> Result<(), Error> {
        self.0.find(m, s, h, out)?;
        self.1.store(out.len(), std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
    fn set_rest(&mut self, of: &dyn Fn(NodeId, usize) -> Rest) {
        ContactFinder::set_rest(&mut self.0, of);
    }
}

/// The search for contacts leaves sleepers out, and does not once the option is off.
#[test]
fn sleepers_are_not_searched_for() {
    use pliant::collision::*;
    let found = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = m.add_rigid_bodies("box", &[Pose::at([0.0, 0.0, 0.5])]).unwrap();
    m.add_mass("mass", node, Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0; 3])]))
        .unwrap();
    let mut world = World::new();
    crate::worlds::ground(&mut world, MaterialId::default());
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    world
        .add(Collider::new("box", Shape::cuboid([0.5; 3]).unwrap(), place))
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(Counting(world, found.clone())).unwrap();
    drowsy(&mut s);
    let count = || found.load(std::sync::atomic::Ordering::Relaxed);
    s.step(H).unwrap();
    assert_eq!(count(), 4);
    until_asleep(&mut s, 1);
    s.step(H).unwrap();
    assert_eq!(count(), 0);
    s.options.contacts.sleeping = None;
    s.step(H).unwrap();
    assert_eq!(count(), 4);
}

/// Thresholds that are no numbers are refused.
#[test]
fn thresholds_are_checked() {
    let (mut s, _) = tower_and_a_thrown_box();
    for (speed, time) in [(f64::NAN, 0.1), (-1.0, 0.1), (1e-3, f64::INFINITY)] {
        s.options.contacts.sleeping = Some(Sleeping {
            speed,
            spin: 1e-3,
            time,
        });
        assert!(matches!(s.step(H), Err(Error::OutOfRange { .. })));
    }
}
