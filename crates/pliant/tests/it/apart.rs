//! Islands of a step that are taken in parts while others take it as a whole.

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

const H: f64 = 0.1;

/// Adds a pendulum of 1 m and 2 kg that hangs from a point of the plane `y`.
fn add_pendulum(model: &mut Model, name: &str, y: f64) -> NodeId {
    let bob = model.add_particles(name, &[[0.0, y, -1.0]]).unwrap();
    model
        .add_mass(&format!("mass of {name}"), bob, Mass::Uniform(2.0))
        .unwrap();
    let rod = Distance::new(&[(End::element(0, 0), End::Point([0.0, y, 0.0]))]).with_rest_lengths(&[1.0]);
    let length = model
        .add_mapped(&format!("length of {name}"), &[bob], rod)
        .unwrap();
    model
        .add_constraint(&format!("rod of {name}"), length, Level::Position)
        .unwrap();
    bob
}

/// Adds a ball of 1 kg that lies on the floor.
fn add_ball(model: &mut Model, name: &str, at: [f64; 2]) -> NodeId {
    let ball = model
        .add_rigid_bodies(name, &[Pose::at([at[0], at[1], -1.9])])
        .unwrap();
    let inertia = RigidMass::sphere(1.0, 0.1);
    model
        .add_mass(&format!("mass of {name}"), ball, Mass::Rigid(vec![inertia]))
        .unwrap();
    ball
}

/// Pendulums, each with a velocity along x (m/s), and balls, each with one too.
#[derive(Default)]
struct Parts {
    pendulums: Vec<f64>,
    balls: Vec<f64>,
    /// Of the floor under the balls (m/N).
    compliance: f64,
}

struct Scene {
    s: Simulation,
    pendulums: Vec<NodeId>,
    balls: Vec<NodeId>,
}

fn body(node: NodeId) -> Placement {
    Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    }
}

/// By steps of two stages whose Newton method has three iterations: a pendulum of 10 m/s has no
/// solution with them, one of 0.1 m/s has.
fn scene(parts: &Parts) -> Scene {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let pendulums: Vec<NodeId> = (0..parts.pendulums.len())
        .map(|k| add_pendulum(&mut model, &format!("bob {k}"), k as f64))
        .collect();
    let balls: Vec<NodeId> = (0..parts.balls.len())
        .map(|k| add_ball(&mut model, &format!("ball {k}"), [0.0, 5.0 + k as f64]))
        .collect();
    let mut s = Simulation::new(model).unwrap();
    if !balls.is_empty() {
        let mut world = World::new();
        let slick = Material {
            friction: 0.0,
            compliance: parts.compliance,
            ..Material::default()
        };
        let material = world.add_material(slick).unwrap();
        let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let at = Placement::Fixed(Pose::at([0.0, 0.0, -2.0]));
        world
            .add(Collider::new("floor", floor, at).with_material(material))
            .unwrap();
        for (k, ball) in balls.iter().enumerate() {
            let shape = Shape::ball(0.1).unwrap();
            let collider = Collider::new(&format!("ball {k}"), shape, body(*ball));
            world.add(collider.with_material(material)).unwrap();
        }
        s.set_contacts(world).unwrap();
    }
    let mut state = s.state().clone();
    for (nodes, speeds) in [(&pendulums, &parts.pendulums), (&balls, &parts.balls)] {
        for (node, speed) in nodes.iter().zip(speeds) {
            state.velocities[s.model().node(*node).first_velocity] = *speed;
        }
    }
    s.set_state(&state).unwrap();
    // The first step of a motion has no multipliers yet.
    s.step(1e-4).unwrap();
    s.options.tuning.newton.iterations = 3;
    Scene { s, pendulums, balls }
}

fn parts(pendulums: &[f64], balls: &[f64]) -> Scene {
    scene(&Parts {
        pendulums: pendulums.to_vec(),
        balls: balls.to_vec(),
        ..Parts::default()
    })
}

fn assert_near(a: &[f64], b: &[f64], tolerance: f64) {
    let off = a.iter().zip(b).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
    assert!(off < tolerance, "{off:e}: {a:?} {b:?}");
}

type Part = fn(&StepReport) -> f64;

/// Each island moves as it does alone: the fast pendulums in halves, each in its own, the slow one
/// and the balls in one step. Differences are those of the stages, solved to 1e-9 of their terms.
#[test]
fn islands_move_as_they_do_alone() {
    for speed in [8.0, 10.0] {
        let mut all = parts(&[speed, 0.1, 12.0], &[0.3, 0.0]);
        let mut fast = [parts(&[speed], &[]), parts(&[12.0], &[])];
        let (mut slow, mut balls) = (parts(&[0.1], &[]), parts(&[], &[0.3, 0.0]));
        let found = all.s.step(H).unwrap();
        let [one, two] = fast.each_mut().map(|one| one.s.step(H).unwrap());
        let alone = [one, slow.s.step(H).unwrap(), two, balls.s.step(H).unwrap()];
        assert_eq!((found.h, found.time), (H, alone[0].time));
        let sums: [(&str, Part); 7] = [
            ("halvings", |r| r.solve.newton.step_halvings as f64),
            ("kinetic", |r| r.energies.kinetic),
            ("potential", |r| r.energies.potential),
            ("kinetic entry", |r| r.ledger.kinetic),
            ("potential entry", |r| r.ledger.potential),
            ("numerical", |r| r.ledger.numerical),
            ("contacts", |r| r.contacts.active as f64),
        ];
        for (name, part) in sums {
            let sum: f64 = alone.iter().map(part).sum();
            assert!(
                (part(&found) - sum).abs() < 1e-6,
                "{name}: {} {sum}",
                part(&found)
            );
        }
        let taken = alone.each_ref().map(|r| r.solve.newton.step_halvings);
        assert!(taken[0] > 0 && taken[2] > 0, "{taken:?}");
        assert_eq!((taken[1], taken[3]), (0, 0));
        let s = &all.s;
        for (node, one) in all.pendulums.iter().zip([&fast[0], &slow, &fast[1]]) {
            let other = one.pendulums[0];
            // In their own planes.
            let x = |s: &Simulation, node| [0, 2].map(|k| s.positions(node)[k]);
            assert_near(&x(s, *node), &x(&one.s, other), 1e-7);
            assert_near(s.velocities(*node), one.s.velocities(other), 1e-6);
        }
        for (node, other) in all.balls.iter().zip(&balls.balls) {
            assert_near(s.positions(*node), balls.s.positions(*other), 1e-9);
            assert_near(s.velocities(*node), balls.s.velocities(*other), 1e-7);
            let [a, b] = [(s, node), (&balls.s, other)].map(|(s, node)| s.contact_forces(*node)[0]);
            assert_near(&a, &b, 1e-6);
            assert!(a[2] > 1.0, "{a:?}");
        }
    }
}

/// The account of steps by parts goes on from the energies of the step before, and closes.
#[test]
fn the_energy_of_steps_by_parts_is_accounted_for() {
    let mut all = parts(&[10.0, 0.1], &[0.3]);
    let mut halvings = 0;
    for _ in 0..10 {
        let before = all.s.problem().energies(all.s.state());
        let report = all.s.step(H).unwrap();
        halvings += report.solve.newton.step_halvings;
        let after = all.s.problem().energies(all.s.state());
        let ledger = report.ledger;
        assert!((ledger.kinetic - (after.kinetic - before.kinetic)).abs() < 1e-9);
        assert!((ledger.potential - (after.potential - before.potential)).abs() < 1e-9);
        assert!((report.energies.total() - after.total()).abs() < 1e-9);
    }
    assert!(halvings > 0);
}

/// The account goes on from step to step, with what compliant contacts of any part store.
#[test]
fn the_energy_of_compliant_contacts_is_accounted_for() {
    let mut all = scene(&Parts {
        pendulums: vec![10.0, 0.1],
        balls: vec![0.3, 0.1],
        compliance: 1e-4,
    });
    let mut last = all.s.step(H).unwrap();
    let mut halvings = 0;
    for _ in 0..10 {
        let report = all.s.step(H).unwrap();
        halvings += report.solve.newton.step_halvings;
        let ledger = report.ledger;
        let missing = report.energies.total() - last.energies.total() - ledger.kinetic - ledger.potential;
        assert!(missing.abs() < 1e-9, "{missing:e}");
        assert!(report.contacts.stored > 1e-3, "{}", report.contacts.stored);
        last = report;
    }
    assert!(halvings > 0);
}

/// A step by parts is the same after a restored checkpoint, to the bit.
#[test]
fn a_step_by_parts_is_repeated_to_the_bit() {
    let mut all = parts(&[10.0, 0.1], &[0.3]);
    let before = all.s.checkpoint();
    let first = all.s.step(H).unwrap();
    assert!(first.solve.newton.step_halvings > 0);
    let end = all.s.checkpoint();
    all.s.restore(&before).unwrap();
    all.s.step(H).unwrap();
    assert_eq!(all.s.checkpoint(), end);
    let next = all.s.step(H).unwrap();
    let mut other = parts(&[10.0, 0.1], &[0.3]);
    other.s.restore(&end).unwrap();
    assert_eq!(other.s.step(H).unwrap().energies, next.energies);
    assert_eq!(other.s.state(), all.s.state());
}

/// A wall at `x = 0.05` for the first of two bobs, and a contact between both, 2 cm apart, that is
/// seen only while the second stands still, as it does while it is held.
#[derive(Debug)]
struct SeenAtRest([NodeId; 2]);

impl ContactFinder for SeenAtRest {
    fn nodes(&self) -> Vec<NodeId> {
        self.0.to_vec()
    }

    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let [a, b] = self.0.map(|node| m.positions(s, node)[0]);
        let [first, second] = self.0.map(|node| Support {
            node,
            element: 0,
            weight: 1.0,
            arm: [0.0; 3],
        });
        let contact = |key, gap| Contact {
            key: ContactKey(0, key),
            point: [a, 0.0, 0.0],
            normal: [1.0, 0.0, 0.0],
            gap,
            law: ContactLaw::default(),
            sides: [0, 1 + key as u32],
        };
        out.push(contact(0, 0.05 - a), [first], []);
        if m.velocities(s, self.0[1]).iter().all(|v| *v == 0.0) {
            out.push(contact(1, b + 0.02 - a), [first], [second]);
        }
        Ok(())
    }
}

/// Where one island touches another that is held, both take the step together after all: the first
/// bob comes to the wall, and is not stopped by what stood still for the sake of the method.
#[test]
fn islands_that_touch_are_taken_together() {
    let mut all = parts(&[10.0, 0.1], &[]);
    all.s.options.tuning.newton.iterations = 50;
    let nodes = [all.pendulums[0], all.pendulums[1]];
    all.s.set_contacts(SeenAtRest(nodes)).unwrap();
    all.s.step(1e-4).unwrap();
    let report = all.s.step(0.01).unwrap();
    assert_eq!(report.solve.stages, 1);
    let [a, b] = nodes.map(|node| all.s.positions(node)[0]);
    assert!((a - 0.05).abs() < 1e-3 && b < 0.01, "{a} {b}");
    assert!((all.s.velocities(nodes[1])[0] - 0.1).abs() < 0.01);
}

/// A pendulum beside balls that are thrown up and land is where it is without them: its steps are of
/// two stages, whatever else has an impact. The forces of contacts are those of each ball alone, to
/// the accuracy of contacts, 1e-6 of some hundred newtons.
#[test]
fn impacts_elsewhere_leave_the_order_of_a_pendulum() {
    let speeds: Vec<f64> = (0..6).map(|k| 0.1 * f64::from(k)).collect();
    let [mut all, mut alone] = [parts(&[3.0], &speeds), parts(&[3.0], &[])];
    let mut balls: Vec<Scene> = speeds.iter().map(|v| parts(&[], &[*v])).collect();
    let throw = |scene: &mut Scene, first: usize| {
        scene.s.options.tuning.newton.iterations = 50;
        let mut state = scene.s.state().clone();
        for (k, ball) in scene.balls.iter().enumerate() {
            let up = 0.5 + 0.3 * (first + k) as f64;
            state.velocities[scene.s.model().node(*ball).first_velocity + 2] = up;
        }
        scene.s.set_state(&state).unwrap();
    };
    throw(&mut all, 0);
    throw(&mut alone, 0);
    for (k, ball) in balls.iter_mut().enumerate() {
        throw(ball, k);
    }
    let (mut impacts, mut largest) = (0, 0.0f64);
    for _ in 0..200 {
        let report = all.s.step(0.01).unwrap();
        assert_eq!(alone.s.step(0.01).unwrap().solve.stages, 2);
        impacts += usize::from(report.solve.stages == 1);
        for (node, one) in all.balls.iter().zip(&mut balls) {
            one.s.step(0.01).unwrap();
            let forces = [(&all.s, *node), (&one.s, one.balls[0])].map(|(s, node)| s.contact_forces(node)[0]);
            assert_near(&forces[0], &forces[1], 1e-3);
            largest = largest.max(forces[0][2]);
        }
    }
    assert!(impacts > 5 && largest > 100.0, "{impacts} {largest}");
    let [a, b] = [&all, &alone].map(|scene| scene.s.positions(scene.pendulums[0]));
    // What stages leave, over 200 steps.
    assert_near(a, b, 1e-6);
}
