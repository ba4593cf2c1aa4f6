//! Energy that contacts take.

use super::parts::{apart, expect_parts};
use super::{G, expect, run};
use crate::tools::Floor;
use pliant::contact::*;
use pliant::prelude::*;

/// A particle of 2 kg.
fn particle(z: f64, v: [f64; 3], gravity: f64, law: ContactLaw, options: Options) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -gravity]).unwrap();
    let p = m
        .add_independent("p", Space::Real(3), &[0.0, 0.0, z], &v)
        .unwrap();
    m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(Floor(p, law)).unwrap();
    s
}

/// A block that slides to rest: friction takes all of `m v^2/2`.
#[test]
fn friction_takes_the_motion() {
    let law = ContactLaw {
        friction: 0.5,
        ..ContactLaw::default()
    };
    for options in [apart(), Options::trapezoidal()] {
        let l = run(&mut particle(0.0, [3.0, 0.0, 0.0], G, law, options), 0.01, 100);
        expect(&l, &[("friction", -9.0)], 1e-11);
    }
}

/// A ball that bounces without gravity: `(1 - e^2) m v^2/2` in the impact.
#[test]
fn impacts_take_their_share() {
    for restitution in [Restitution::Newton, Restitution::Poisson] {
        for e in [0.0, 0.4, 1.0] {
            let law = ContactLaw {
                restitution: e,
                ..ContactLaw::default()
            };
            let mut options = apart();
            options.contacts.restitution = restitution;
            let l = run(&mut particle(0.0, [0.0, 0.0, -3.0], 0.0, law, options), 0.01, 1);
            expect(&l, &[("impacts", -(1.0 - e * e) * 9.0)], 1e-12);
        }
    }
}

/// A compliant contact: its spring stores, its damper takes `d/C u+ h u_beta`, and by the
/// trapezoidal rule of positions the rest is what the end of the step weighs too much, which goes
/// with the step.
#[test]
fn compliant_contacts_store_and_damp() {
    let law = ContactLaw {
        compliance: 1e-3,
        relaxation_time: 0.01,
        ..ContactLaw::default()
    };
    let start = |h: f64, steps| {
        let mut s = particle(-0.01, [0.0, 0.0, -1.0], 0.0, law, apart());
        let mut sum = Ledger::default();
        for _ in 0..steps {
            let v = s.state().velocities[2];
            let report = s.step(h).unwrap();
            let after = s.state().velocities[2];
            if s.contacts()[0].impulse[2] > 0.0 {
                assert!((report.ledger.damping + 10.0 * after * h * after).abs() < 1e-14);
                let (dv, dx) = (after - v, h * after);
                let numerical = -dv * dv - 500.0 * dx * dx;
                let inside = s.state().positions[2] < 0.0;
                assert!(!inside || (report.ledger.numerical - numerical).abs() < 1e-13);
                let parts = [("inertia", -dv * dv), ("stiffness", -500.0 * dx * dx)];
                if inside {
                    expect_parts(&report.ledger.parts, &parts, 1e-13);
                }
            }
            sum += report.ledger;
        }
        // It starts with m v^2/2 = 1 J and phi^2/(2 C) = 0.05 J.
        let end = s.state().velocities[2];
        assert!((sum.kinetic - (end * end - 1.0)).abs() < 1e-12 && (sum.potential + 0.05).abs() < 1e-12);
        sum
    };
    let (a, b) = (start(1e-3, 200), start(5e-4, 400));
    // First order.
    assert!((a.numerical / b.numerical - 2.0).abs() < 0.1, "{a:?} {b:?}");
}

/// A body thrown onto a rough floor bounces and slides: impulses of contacts are entered whole, so
/// that inertia has `(1/2 - beta) dv . (m dv - r)`, and there is nothing else.
#[test]
fn contacts_are_no_part_of_what_is_numerical() {
    for beta in [1.0, 0.6, 0.5] {
        let law = ContactLaw {
            friction: 0.3,
            restitution: 0.4,
            ..ContactLaw::default()
        };
        let mut options = Options { beta, ..apart() };
        // What overlaps stays so: no correction changes the velocities of the end.
        options.contacts.overlap = Overlap::Keep;
        let mut s = particle(0.05, [3.0, 1.0, -1.0], G, law, options);
        let mut touched = 0;
        for _ in 0..60 {
            let v = s.state().velocities.clone();
            let parts = s.step(0.01).unwrap().ledger.parts;
            let r = s.contacts()[0].impulse;
            touched += usize::from(r[2] > 0.0);
            let change = (0..3).map(|k| (k, s.state().velocities[k] - v[k]));
            let inertia: f64 = change.map(|(k, dv)| dv * (2.0 * dv - r[k])).sum();
            expect_parts(&parts, &[("inertia", (0.5 - beta) * inertia)], 1e-13);
        }
        assert!(touched > 10 && touched < 60);
    }
}

/// Overlap that is corrected lifts a weight, and is paid for as far as there is motion.
#[test]
fn corrections_of_overlap() {
    let mut s = particle(-0.003, [2.0, 0.0, 0.0], G, ContactLaw::default(), apart());
    let report = s.step(0.01).unwrap();
    assert!((report.contacts.corrections.lifted - 2.0 * G * 0.003).abs() < 1e-12);
    expect(&report.ledger, &[], 1e-12);
    let mut s = particle(-0.003, [0.0; 3], G, ContactLaw::default(), apart());
    let l = s.step(0.01).unwrap().ledger;
    expect(&l, &[("corrections", 2.0 * G * 0.003)], 1e-12);
}
