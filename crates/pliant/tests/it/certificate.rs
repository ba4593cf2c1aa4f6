//! The certificate of a step in its report, and the error of steps that make energy.

use crate::integrators::models::{G, chain, elastic_pendulum, pendulum, runge_kutta, with};
use crate::tools::{on_point, worst};
use crate::worlds::{moving_boxes, on_feet, rough};
use pliant::EnergyPart;
use pliant::contact::{Contact, ContactFinder, ContactKey, ContactLaw, ContactList};
use pliant::prelude::*;

/// A mass on a spring, of 1 kg and `k` (N/m), which starts at rest 1 m away.
fn oscillator(k: f64) -> Model {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[1.0], &[0.0])
        .unwrap();
    model.add_mass("mass", x, Mass::Uniform(1.0)).unwrap();
    model
        .add_force_field(
            "spring",
            x,
            UniformCompliance::new(k.recip()),
            Treatment::Stiffness,
        )
        .unwrap();
    model
}

/// The error that each step adds, against the exact motion from the state before it: the estimate
/// is its term of lowest order, of which the next is a share of `h omega`.
#[test]
fn the_local_error_of_an_oscillator_is_that_of_its_solution() {
    let omega = 3.0f64;
    for h in [0.02, 0.01] {
        let mut s = Simulation::new(oscillator(omega * omega)).unwrap();
        // The first step knows of no change of the accelerations.
        assert_eq!(s.step(h).unwrap().certificate.local_error, None);
        let (mut estimated, mut added) = ([0.0f64; 2], [0.0f64; 2]);
        for _ in 0..100 {
            let (x, v) = (s.state().positions[0], s.state().velocities[0]);
            let error = s.step(h).unwrap().certificate.local_error.unwrap();
            let (sin, cos) = (omega * h).sin_cos();
            let exact = [x * cos + v / omega * sin, v * cos - x * omega * sin];
            let found = [s.state().positions[0], s.state().velocities[0]];
            estimated[0] = estimated[0].max(error.position);
            estimated[1] = estimated[1].max(error.velocity);
            for k in 0..2 {
                added[k] = added[k].max((found[k] - exact[k]).abs());
            }
        }
        for k in 0..2 {
            let ratio = estimated[k] / added[k];
            assert!((ratio - 1.0).abs() < 2.0 * omega * h, "{h} {k}: {ratio}");
        }
    }
}

/// The local error of a spring pendulum, whose exact motion is that of Runge-Kutta steps of 0.1 ms.
/// The velocities of curved motion have a second term of a quarter of the first.
#[test]
fn the_local_error_of_a_curved_motion_is_near() {
    let rate = |s: &[f64; 6]| {
        let l = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
        let force = -200.0 * (l - 1.0) / l;
        [s[3], s[4], s[5], force * s[0], force * s[1] - G, force * s[2]]
    };
    let of = |s: &Simulation| {
        let (x, v) = (&s.state().positions, &s.state().velocities);
        [x[0], x[1], x[2], v[0], v[1], v[2]]
    };
    let h = 0.005;
    let mut s = Simulation::new(elastic_pendulum(Treatment::Stiffness, 0.0)).unwrap();
    s.step(h).unwrap();
    let (mut estimated, mut added) = ([0.0f64; 2], [0.0f64; 2]);
    for _ in 0..200 {
        let exact = runge_kutta(of(&s), h, rate);
        let error = s.step(h).unwrap().certificate.local_error.unwrap();
        let found = of(&s);
        estimated[0] = estimated[0].max(error.position);
        estimated[1] = estimated[1].max(error.velocity);
        added[0] = added[0].max(worst(&found[..3], &exact[..3]));
        added[1] = added[1].max(worst(&found[3..], &exact[3..]));
    }
    for k in 0..2 {
        let ratio = estimated[k] / added[k];
        assert!(ratio > 0.7 && ratio < 1.5, "{k}: {ratio} {estimated:?} {added:?}");
    }
}

/// Friction takes what the motion loses: the work of its force on the way, in every step, and the
/// method makes and loses nothing.
#[test]
fn friction_takes_all_that_a_sliding_block_loses() {
    let at = Pose::at([0.0, 0.0, 0.1]);
    let velocity = [[3.0, 0.0, 0.0], [0.0; 3]];
    let (mut s, _) = moving_boxes(&[([0.1; 3], 1.0, at)], &[velocity], rough(0.3));
    s.options = Options::default();
    for _ in 0..50 {
        let x = s.state().positions[0];
        let report = s.step(0.01).unwrap();
        let way = s.state().positions[0] - x;
        let work = -0.3 * 9.81 * way;
        // The tolerance of contacts, of an energy of 4.5 J.
        assert!(
            (report.ledger.friction - work).abs() < 1e-7,
            "{:?} {work}",
            report.ledger
        );
        assert!(report.ledger.numerical.abs() < 1e-7, "{:?}", report.ledger);
        assert_eq!(report.certificate.energy.passive_gain(), 0.0);
        // Four corners press on a plane in many ways.
        assert_eq!(report.certificate.multipliers.are_unique(), Some(false));
    }
}

/// Of an oscillator whose step is too long the halves lose less and are halved again, to less than
/// what four quarters lose by the stability function `R(z) = (1 + (1 - 2 g) z)/(1 - g z)^2`.
#[test]
fn losses_are_halved_as_long_as_that_helps() {
    let gain = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
    // |R(i y)|^2.
    let kept = |y: f64| (1.0 + ((1.0 - 2.0 * gain) * y).powi(2)) / (1.0 + (gain * y).powi(2)).powi(2);
    let y = 4.0f64;
    let mut s = Simulation::new(oscillator(y * y)).unwrap();
    let report = s.step(1.0).unwrap();
    let lost = 1.0 - report.energies.total() / (0.5 * y * y);
    let quarters = 1.0 - kept(0.25 * y).powi(4);
    assert!(lost > 0.0 && lost < quarters, "{lost} {quarters}");
    assert!(report.solve.newton.step_halvings > 3, "{report:?}");
}

/// Whether the forces of a body on feet on a plane are the only ones, after some steps.
fn forces_on_feet(feet: &[[f64; 2]], friction: f64, speed: f64) -> Option<bool> {
    let (mut m, body, world) = on_feet(feet, [2.0, 0.05], 0.2, friction);
    m.set_body_velocity(body, 0, [speed, 0.0, 0.0], [0.0; 3]).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    let mut last = None;
    for _ in 0..20 {
        let report = s.step(0.01).unwrap();
        assert_eq!(report.contacts.active, feet.len());
        last = report.certificate.multipliers.are_unique();
    }
    last
}

/// Three feet carry a body in one way, a fourth makes it many; feet that stick push against each
/// other, feet that slip have the friction of their pressure.
#[test]
fn forces_of_contacts_are_known_to_be_the_only_ones() {
    let three = [[0.3, 0.0], [-0.2, 0.2], [-0.2, -0.2]];
    let four = [[0.2, 0.2], [0.2, -0.2], [-0.2, 0.2], [-0.2, -0.2]];
    assert_eq!(forces_on_feet(&three, 0.0, 1.0), Some(true));
    assert_eq!(forces_on_feet(&three, 0.2, 1.0), Some(true));
    assert_eq!(forces_on_feet(&three, 0.5, 0.0), Some(false));
    assert_eq!(forces_on_feet(&four, 0.0, 0.0), Some(false));
    assert_eq!(forces_on_feet(&four, 0.2, 1.0), Some(false));
}

/// Work of a constant force is the force on the way, as that of gravity is, in any steps.
#[test]
fn a_constant_force_works_on_the_way() {
    let mut s = Simulation::new(oscillator(900.0)).unwrap();
    let node = s.problem().node_named("x").unwrap();
    s.set_force(node, 0, &[5.0]).unwrap();
    for _ in 0..40 {
        let x = s.state().positions[0];
        let ledger = s.step(0.01).unwrap().ledger;
        let work = 5.0 * (s.state().positions[0] - x);
        assert!((ledger.forces - work).abs() < 1e-9, "{ledger:?} {work}");
    }
}

/// The chain of ten gains more than a thousandth in a step of 0.01 s that is not halved: an error
/// that says how much and with which change the step is good, and the motion is as before. Measured
/// only, it stands with the same numbers.
#[test]
fn a_step_that_makes_energy_is_an_error() {
    let mut options = with(Integrator::Sdirk2);
    options.tuning.newton.stage_halvings = 0;
    let mut certified = Simulation::with_options(chain(10), options.clone()).unwrap();
    options.accuracy = Some(Accuracy::Measured);
    let mut measured = Simulation::with_options(chain(10), options).unwrap();
    let mut refused = None;
    for _ in 0..100 {
        let before = certified.checkpoint();
        let steps = certified.counters().steps;
        match certified.step(0.01) {
            Ok(report) => assert_eq!(report.ledger, measured.step(0.01).unwrap().ledger),
            Err(error) => {
                assert_eq!(certified.checkpoint(), before);
                assert_eq!(certified.counters().steps, steps);
                let gain = measured.step(0.01).unwrap().certificate.energy;
                refused = Some((error, gain));
                break;
            }
        }
    }
    let (error, energy) = refused.unwrap();
    let Error::NotCertified { excess, report, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(excess.part, EnergyPart::Gain);
    assert_eq!(Some(*excess), energy.excess(&Tolerances::default()));
    assert_eq!(report.certificate.energy, energy);
    assert!(excess.share > 1e-3 && excess.share < 1e-2, "{excess:?}");
    let text = error.to_string();
    for words in [
        "link",
        "that nothing brought in",
        "steps of 0.001 s make less (tried)",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

/// A soft floor under a point that is 10 cm deeper for `x > 0`.
#[derive(Debug)]
struct Step(NodeId);

impl ContactFinder for Step {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = model.positions(state, self.0);
        let contact = Contact {
            key: ContactKey(0, 0),
            point: [x[0], x[1], x[2]],
            normal: [0.0, 0.0, 1.0],
            gap: if x[0] > 0.0 { x[2] - 0.1 } else { x[2] },
            law: ContactLaw {
                compliance: 1e-3,
                ..ContactLaw::default()
            },
            sides: [0, 1],
        };
        out.push(contact, [], [on_point(self.0)]);
        Ok(())
    }
}

/// Energy that a contact has from nowhere is an error that names it and its overlap.
#[test]
fn a_contact_whose_overlap_jumps_is_named() {
    let mut model = Model::new();
    let p = model.add_particles("p", &[[-0.1, 0.0, 0.0]]).unwrap();
    model.add_mass("mass", p, Mass::Uniform(1.0)).unwrap();
    let mut s = Simulation::new(model).unwrap();
    let mut state = s.state().clone();
    state.velocities.copy_from_slice(&[1.0, 0.0, 0.0]);
    s.set_state(&state).unwrap();
    s.set_contacts(Step(p)).unwrap();
    let error = (0..20).find_map(|_| s.step(0.01).err()).unwrap().to_string();
    // 0.1^2/2e-3 J.
    let words = "gained 5 J, from 0 to 0.1 m of overlap";
    assert!(
        error.contains("the contact of") && error.contains(words),
        "{error}"
    );
}

/// A damper that pushes.
#[derive(Clone, Debug)]
pub(crate) struct Pusher;

impl ForceField for Pusher {
    fn add_force(&self, At { v, .. }: At<'_>, f: &mut [f64]) {
        for (f, v) in f.iter_mut().zip(v) {
            *f += 0.5 * v;
        }
    }

    fn damping(&self, At { v, .. }: At<'_>, out: &mut Blocks) {
        (0..v.len()).for_each(|e| out.block_mut(e)[0] = -0.5);
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// Energy that a damper brings in is an error that says so; a linear step measures it.
#[test]
fn a_damper_that_pushes_is_an_error() {
    let pushed = |options: Options| {
        let mut model = oscillator(9.0);
        let x = model.node_named("x").unwrap();
        model
            .add_force_field("pusher", x, Pusher, Treatment::Stiffness)
            .unwrap();
        let mut s = Simulation::with_options(model, options).unwrap();
        (0..100).map(|_| s.step(0.01)).find(|step| {
            step.as_ref()
                .map_or(true, |report| report.certificate.energy.passive_gain() > 1e-3)
        })
    };
    let error = pushed(Options::default()).unwrap().unwrap_err();
    assert!(
        matches!(&error, Error::NotCertified { excess, .. } if excess.part == EnergyPart::PassiveGain),
        "{error}"
    );
    assert!(pushed(Options::theta()).unwrap().is_ok());
}

/// The linear trapezoidal rule throws a pendulum around in steps of half a second. It is measured,
/// and the report says that more came from nowhere than there was; held to a tolerance it is an
/// error, which names the default as the way out.
#[test]
fn energy_from_nowhere_since_the_start_adds_up() {
    let pendulum = |accuracy| {
        let options = Options {
            accuracy,
            ..Options::trapezoidal()
        };
        Simulation::with_options(pendulum(), options).unwrap()
    };
    let mut s = pendulum(None);
    let (mut made, mut worked) = (0.0, 0.0);
    let start = s.problem().energies(s.state());
    let mut lowest = start.potential;
    for _ in 0..20 {
        let report = s.step(0.5).unwrap();
        let l = report.ledger;
        made += l.numerical + l.damping.max(0.0) + (l.friction + l.impacts).max(0.0);
        worked += l.forces.abs() + l.motion.abs() + l.motors.abs() + l.inputs.abs();
        lowest = lowest.min(report.energies.potential);
        let budget = report.certificate.energy.since_start;
        assert!((budget.made - made).abs() < 1e-9 * budget.size);
        let turned = start.kinetic + worked + start.potential - lowest;
        assert!((budget.turned_over() - turned).abs() < 1e-9 * budget.size);
    }
    assert!(s.step(0.5).unwrap().certificate.energy.since_start.share() > 1.0);
    let mut held = pendulum(Some(Accuracy::Certified(Tolerances::SINCE_START)));
    let error = (0..20).find_map(|_| held.step(0.5).err()).unwrap();
    let text = error.to_string();
    assert!(text.contains("came from nowhere since the start"), "{text}");
    assert!(text.contains("`integrator: Sdirk2` makes less (tried)"), "{text}");
}

/// The account goes on from a checkpoint, and begins anew with a state that is set.
#[test]
fn the_budget_is_part_of_the_motion() {
    let mut s = Simulation::new(chain(3)).unwrap();
    for _ in 0..20 {
        s.step(0.01).unwrap();
    }
    let saved = s.checkpoint();
    let next = s.step(0.01).unwrap().certificate;
    let mut other = Simulation::new(chain(3)).unwrap();
    other.restore(&saved).unwrap();
    assert_eq!(other.step(0.01).unwrap().certificate, next);
    let state = s.state().clone();
    s.set_state(&state).unwrap();
    let energies = s.problem().energies(s.state());
    let budget = s.step(0.01).unwrap().certificate.energy.since_start;
    assert_eq!(
        (budget.kinetic, budget.potential),
        (energies.kinetic, energies.potential)
    );
    assert_ne!(budget.potential, next.energy.since_start.potential);
}
