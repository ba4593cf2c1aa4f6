//! Contacts in the nonlinear step.

use super::models::*;
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

/// The plane through the origin with a normal in the plane of x and y, and points of the plane or
/// of space over it.
#[derive(Debug)]
pub(super) struct Slope(pub(super) NodeId, pub(super) [f64; 3], pub(super) ContactLaw);

impl ContactFinder for Slope {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        for (e, x) in m.positions(s, self.0).as_chunks::<3>().0.iter().enumerate() {
            let contact = Contact {
                key: ContactKey(0, e as u64),
                point: *x,
                normal: self.1,
                gap: (0..3).map(|k| x[k] * self.1[k]).sum(),
                law: self.2,
                sides: [0, 1 + e as u32],
            };
            let support = Support {
                node: self.0,
                element: e,
                weight: 1.0,
                arm: [0.0; 3],
            };
            out.push(contact, [], [support]);
        }
        Ok(())
    }
}

const FLOOR: [f64; 3] = [0.0, 1.0, 0.0];

fn rough(friction: f64) -> ContactLaw {
    ContactLaw {
        friction,
        ..ContactLaw::default()
    }
}

fn options(integrator: Integrator, weight: f64) -> Options {
    crate::tools::of_weight(integrator, weight)
}

/// A particle of 2 kg.
fn particle(x: [f64; 3], v: [f64; 3]) -> (Model, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let p = m.add_independent("p", Space::Real(3), &x, &v).unwrap();
    m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
    (m, p)
}

/// Without anything nonlinear it is the theta method: a fall, sliding to rest, one bounce; both
/// weights; hard and compliant.
#[test]
fn linear_models_take_the_linear_step() {
    let hard = rough(0.3);
    let bouncing = ContactLaw {
        restitution: 0.5,
        ..hard
    };
    let soft = ContactLaw {
        friction: 0.3,
        compliance: 1e-4,
        relaxation_time: 0.01,
        ..ContactLaw::default()
    };
    // (Of many bounces one may come a step later, by the tolerance of the contacts.)
    for (law, steps) in [(hard, 150), (bouncing, 35), (soft, 150)] {
        for weight in [1.0, 0.5] {
            let run = |integrator| {
                let (m, p) = particle([0.0, 0.2, 0.0], [2.0, 0.0, 0.5]);
                let mut s = Simulation::with_options(m, options(integrator, weight)).unwrap();
                s.set_contacts(Slope(p, FLOOR, law)).unwrap();
                let mut sum = Ledger::default();
                for _ in 0..steps {
                    let report = s.step(0.01).unwrap();
                    assert!(report.contacts.residual <= 1e-8);
                    sum += report.ledger;
                }
                (s.state().clone(), s.contacts().to_vec(), sum)
            };
            let (a, b) = (run(Integrator::Theta), run(Integrator::Nonlinear));
            // The tolerance of the contacts, of velocities of 2 m/s, in all steps.
            assert!(distance(&a.0.positions, &b.0.positions) < 1e-7);
            assert!(distance(&a.0.velocities, &b.0.velocities) < 1e-7);
            assert!(distance(&a.1[0].impulse, &b.1[0].impulse) < 1e-7);
            assert!((a.2.friction - b.2.friction).abs() < 1e-6 && (a.2.impacts - b.2.impacts).abs() < 1e-6);
            assert!(b.2.friction < -0.5);
        }
    }
}

/// On a slope it stays below the angle of friction and slides above it with `g (sin a - mu cos a)`.
#[test]
fn a_block_on_a_slope() {
    let critical = 0.5f64.atan();
    let angles = [(critical - 1e-3, false), (critical + 1e-3, true), (0.8, true)];
    let methods = [Integrator::Nonlinear, Integrator::Sdirk2];
    for ((angle, slides), method) in angles.into_iter().flat_map(|a| methods.clone().map(|m| (a, m))) {
        let (sin, cos) = angle.sin_cos();
        let (m, p) = particle([0.0; 3], [0.0; 3]);
        let mut s = Simulation::with_options(m, options(method, 1.0)).unwrap();
        s.set_contacts(Slope(p, [sin, cos, 0.0], rough(0.5))).unwrap();
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        let v = s.velocities(p);
        let along = v[0] * cos - v[1] * sin;
        let expected = if slides { G * (sin - 0.5 * cos) } else { 0.0 };
        // Contacts are solved to 1e-8 of the velocity that a step without them gives, a hundred
        // times.
        assert!((along - expected).abs() < 1e-7, "{angle}: {along} {expected}");
        assert!((v[0] * sin + v[1] * cos).abs() < 1e-7);
    }
}

/// A double pendulum of hard rods that hits the floor and slides on it.
fn swinging(integrator: Integrator, h: f64) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let bobs = m
        .add_particles("bobs", &[[1.0, 1.2, 0.0], [1.6, 1.2, 0.8]])
        .unwrap();
    m.add_mass("m", bobs, Mass::PerElement(vec![1.0, 2.0])).unwrap();
    let first = Distance::to_points(&[(0, [0.0, 1.2, 0.0])]).with_rest_lengths(&[1.0]);
    let second = Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0]);
    for (name, length) in [("first", first), ("second", second)] {
        let d = m.add_mapped(name, &[bobs], length).unwrap();
        m.add_constraint(&format!("{name} rod"), d, Level::Position)
            .unwrap();
    }
    let mut s = Simulation::with_options(m, options(integrator, 1.0)).unwrap();
    s.set_contacts(Slope(bobs, FLOOR, rough(0.2))).unwrap();
    let (mut active, mut slipping) = (0, 0);
    for _ in 0..(0.8 / h).round() as usize {
        let report = s.step(h).unwrap();
        active += report.contacts.active;
        slipping += report.contacts.slipping;
        // What is not corrected, and 1e-8 of the velocities without impulses over a step.
        let low = [1, 4].map(|k| s.positions(bobs)[k]);
        assert!(low.iter().all(|y| *y > -1e-6), "{low:?}");
        if s.options.integrator == Integrator::Nonlinear {
            // Newton's tolerance, of velocities of 10 m/s over the step.
            assert!(report.violation < 1e-9, "{:e}", report.violation);
        }
    }
    assert!(active > 0 && slipping > 0);
    s
}

/// With rods: they hold at the end of the step, nothing passes the floor, and the two kinds of step
/// come together with the step, at first order.
#[test]
fn rods_and_floor_come_together_with_the_linear_step() {
    let difference = |h: f64| {
        let [a, b] = [Integrator::Theta, Integrator::Nonlinear].map(|i| swinging(i, h));
        distance(&a.state().positions, &b.state().positions)
    };
    let (coarse, fine) = (difference(2e-3), difference(5e-4));
    assert!(
        fine > 1e-9 && fine < 0.4 * coarse && fine < 1e-2,
        "{coarse:e} {fine:e}"
    );
}

/// A rope of compliance zero (a row of bounded force) and contacts in one step: a weight falls to
/// the floor or into its rope.
#[test]
fn rows_of_bounded_force_beside_contacts() {
    let methods = [Integrator::Nonlinear, Integrator::Sdirk2];
    let cases = [(2.0, 0.0), (0.7, 0.3)].into_iter();
    for ((length, rests), method) in cases.flat_map(|c| methods.clone().map(|m| (c, m))) {
        let (mut m, p) = particle([0.0, 0.5, 0.0], [0.0; 3]);
        let d = Distance::to_points(&[(0, [0.0, 1.0, 0.0])]).with_rest_lengths(&[length]);
        let d = m.add_mapped("length", &[p], d).unwrap();
        let rope = m.add_constraint("rope", d, Level::Position).unwrap();
        m.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
        let mut s = Simulation::with_options(m, options(method, 1.0)).unwrap();
        s.set_contacts(Slope(p, FLOOR, rough(0.5))).unwrap();
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        // The contact tolerance, 1e-8 of velocities of g h over steps of 0.01 s.
        assert!((s.positions(p)[1] - rests).abs() < 1e-8, "{:?}", s.positions(p));
        let pull = s.multipliers()[0];
        let expected = if rests > 0.0 { -2.0 * G } else { 0.0 };
        assert!((pull - expected).abs() < 1e-6, "{pull}");
    }
}

/// A step that does not converge is an error, is taken in halves, or is accepted as it is.
#[test]
fn failing_steps_say_so() {
    let build = |newton| {
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let bob = m.add_particles("bob", &[[0.6, 0.201, 0.0]]).unwrap();
        m.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        let d = Distance::to_points(&[(0, [0.0, 1.0, 0.0])]).with_rest_lengths(&[1.0]);
        let d = m.add_mapped("length", &[bob], d).unwrap();
        m.add_force_field("spring", d, UniformCompliance::new(1e-5), Treatment::Compliance)
            .unwrap();
        let mut s = Simulation::with_options(
            m,
            Options {
                tuning: Tuning {
                    newton,
                    ..Tuning::default()
                },
                ..options(Integrator::Nonlinear, 1.0)
            },
        )
        .unwrap();
        s.set_contacts(Slope(bob, FLOOR, rough(0.5))).unwrap();
        s
    };
    let one = pliant::integrator::NewtonOptions {
        iterations: 1,
        halvings: 10,
        ..Default::default()
    };
    let mut s = build(one);
    let before = s.checkpoint();
    assert!(matches!(s.step(0.3), Err(Error::NotConverged { .. })));
    let after = s.checkpoint();
    // Memory of solvers apart.
    assert_eq!((after.time, &after.state), (before.time, &before.state));
    assert_eq!(
        (after.multipliers, after.ledger),
        (before.multipliers, before.ledger)
    );
    let mut s = build(one);
    s.options.accept_failed_steps = true;
    assert_eq!(s.step(0.3).unwrap().status, Status::MaxIterations);
    // In halves it converges, and is the same as by hand.
    let few = pliant::integrator::NewtonOptions {
        iterations: 2,
        halvings: 12,
        ..Default::default()
    };
    let mut s = build(few);
    let report = s.step(0.3).unwrap();
    assert!(report.solve.newton.step_halvings > 0 && report.status == Status::Converged);
    assert!(s.state().positions[1] > -1e-9);
}

/// Laws of impact that only the theta method has are refused.
#[test]
fn other_laws_of_impact_are_refused() {
    let build = |change: &dyn Fn(&mut Options)| {
        let (m, p) = particle([0.0; 3], [0.0; 3]);
        let mut options = options(Integrator::Nonlinear, 1.0);
        change(&mut options);
        let mut s = Simulation::with_options(m, options).unwrap();
        s.set_contacts(Slope(p, FLOOR, rough(0.5))).unwrap();
        s.step(0.01).unwrap_err().to_string()
    };
    assert!(build(&|o| o.contacts.restitution = Restitution::Poisson).contains("Poisson"));
    assert!(build(&|o| o.contacts.impacts = Impacts::InSequence).contains("sequence"));
    assert!(build(&|o| o.integrator = Integrator::bdf2()).contains("contacts"));
}

/// Checkpoints go on bit for bit.
#[test]
fn checkpoints() {
    for method in [Integrator::Nonlinear, Integrator::Sdirk2] {
        let mut s = swinging(method, 2e-3);
        let checkpoint = s.checkpoint();
        let run = |s: &mut Simulation| {
            (0..20).for_each(|_| {
                s.step(2e-3).unwrap();
            });
            s.checkpoint()
        };
        let first = run(&mut s);
        s.restore(&checkpoint).unwrap();
        assert_eq!(s.checkpoint(), checkpoint);
        assert_eq!(run(&mut s), first);
    }
}

/// Warm steps allocate nothing, at rest (where the forces of the last step are the answer) and in
/// sliding (where they are not).
#[test]
fn warm_steps_allocate_nothing() {
    let count = |friction: f64, integrator| {
        let (m, p) = particle([0.0; 3], [0.0; 3]);
        let mut s = Simulation::with_options(m, options(integrator, 1.0)).unwrap();
        s.set_contacts(Slope(p, [0.6, 0.8, 0.0], rough(friction)))
            .unwrap();
        for _ in 0..5 {
            s.step(0.01).unwrap();
        }
        let found = allocation_counter::measure(|| {
            (0..10).for_each(|_| {
                s.step(0.01).unwrap();
            });
        });
        found.count_total
    };
    for friction in [1.0, 0.5] {
        assert_eq!(count(friction, Integrator::Theta), 0);
        assert_eq!(count(friction, Integrator::Nonlinear), 0);
        assert_eq!(count(friction, Integrator::Sdirk2), 0);
    }
}
