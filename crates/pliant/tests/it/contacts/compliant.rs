//! Energy of compliant contacts.

use super::{Floor, particle};
use pliant::contact::ContactLaw;
use pliant::prelude::*;

/// A ball falls from 0.1 m onto a compliant plane and bounces: the energies are those of weight,
/// motion and `phi^2/(2 C)`, their sum never rises, and what it loses is the damping of implicit
/// Euler, `omega h` per radian of the half oscillation in contact.
#[test]
fn a_bounce_keeps_the_sum_of_its_energies() {
    let (m, g, c) = (2.0, 9.81, 1e-4);
    let law = ContactLaw {
        compliance: c,
        ..ContactLaw::default()
    };
    for h in [1e-4, 5e-5] {
        let (mut s, p) = particle(0.0, law, [0.0, 0.0, 0.1], [0.0; 3]);
        let (mut before, mut deepest) = (m * g * 0.1, 0.0f64);
        let start = before;
        let mut way = f64::INFINITY;
        while way > 0.0 {
            let report = s.step(h).unwrap();
            let (z, v) = (s.positions(p)[2], s.velocities(p)[2]);
            let stored = if z < 0.0 { z * z / (2.0 * c) } else { 0.0 };
            deepest = deepest.max(stored);
            assert!((report.contacts.stored - stored).abs() < 1e-14, "{stored}");
            let sum = m * g * z + 0.5 * m * v * v + stored;
            assert!((report.energies.total() - sum).abs() < 1e-13 * start, "{sum}");
            assert!(sum <= before + 1e-13 * start, "{sum} {before}");
            before = sum;
            // Until it is free again.
            way = if z > 0.0 && v > 0.0 { 0.0 } else { 1.0 };
        }
        // At its deepest, m g (0.1 + z) has become phi^2/(2 C), but for what was lost so far.
        let (omega, weight) = ((m * c).sqrt().recip(), m * g * c);
        let depth = weight + (weight * weight + 2.0 * start * c).sqrt();
        assert!(
            (deepest / (0.5 * depth * depth / c) - 1.0).abs() < 2.0 * omega * h,
            "{deepest}"
        );
        // Free fall loses m g^2 t h/2 to implicit Euler, t = sqrt(2 0.1/g); the contact its kinetic
        // part.
        let fall = 0.5 * m * g * g * h * (0.2f64 / g).sqrt();
        let expected = start * omega * h * std::f64::consts::PI + fall;
        let lost = (start - before) / expected;
        assert!((0.8..1.2).contains(&lost), "{h}: {lost}");
    }
}

/// At rest it stores `C (m g)^2/2`, and what the damper took is gone.
#[test]
fn a_weight_at_rest_has_stored_half_its_work() {
    let law = ContactLaw {
        compliance: 1e-4,
        relaxation_time: 2e-3,
        ..ContactLaw::default()
    };
    let (mut s, _) = particle(0.0, law, [0.0; 3], [0.0; 3]);
    let mut last = 0.0;
    for _ in 0..500 {
        let report = s.step(0.01).unwrap();
        assert!(report.energies.total() <= last + 1e-15);
        last = report.energies.total();
    }
    // The weight went down by C m g: half of that work is stored.
    let load = 2.0 * 9.81;
    assert!((last + 0.5e-4 * load * load).abs() < 1e-11, "{last}");
    // A hard contact stores none.
    let (mut s, _) = particle(0.0, ContactLaw::default(), [0.0; 3], [0.0; 3]);
    assert_eq!(s.step(0.01).unwrap().contacts.stored, 0.0);
}

/// Of a spring with Hunt and Crossley's damping, `m v' = -(phi/C) (1 + a phi')` with the overlap
/// `phi`, the speed `e v` of parting follows from that of closing whatever the mass and the
/// stiffness: `dv/d(phi)` separates, and `(1 + e) a v = ln((1 + a v)/(1 - a e v))`.
fn parting(a: f64, v: f64) -> f64 {
    let miss = |e: f64| (1.0 + e) * a * v - ((1.0 + a * v) / (1.0 - a * e * v)).ln();
    // It falls from the largest e that there is: e = 1 has too little loss.
    let (mut low, mut high) = (0.0, 1.0f64.min((1.0 - 1e-12) / (a * v)));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if miss(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn hunt_and_crossley_part_as_their_equation_says() {
    // 1 - 2 a v/3 for small a v.
    assert!((parting(0.01, 1.0) - (1.0 - 0.02 / 3.0)).abs() < 1e-4);
    for (a, v, c) in [
        (0.1, 1.0, 1e-5),
        (0.3, 2.0, 1e-5),
        (0.3, 2.0, 1e-4),
        (1.0, 3.0, 1e-5),
    ] {
        let exact = parting(a, v);
        let mut errors = Vec::new();
        for h in [4e-5, 2e-5, 1e-5] {
            let mut m = Model::new();
            let p = m.add_particles("p", &[[0.0; 3]]).unwrap();
            m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
            let mut s = crate::tools::theta(m).unwrap();
            let mut floor = Floor::new(vec![(p, 0, [0.0; 3])], 0.0);
            floor.law = ContactLaw {
                compliance: c,
                dissipation: a,
                ..ContactLaw::default()
            };
            s.set_contacts(floor).unwrap();
            let mut state = s.state().clone();
            state.velocities[2] = -v;
            s.set_state(&state).unwrap();
            let (mut before, mut damped) = (0.5 * 2.0 * v * v, 0.0);
            for _ in 0..(0.1 / h) as usize {
                let report = s.step(h).unwrap();
                assert!(
                    s.contacts().iter().all(|r| r.impulse[2] >= 0.0),
                    "it does not pull"
                );
                let now = report.energies.total();
                assert!(now <= before + 1e-13, "{now} {before}");
                before = now;
                damped += report.ledger.damping;
            }
            let found = s.velocities(p)[2] / v;
            let lost = 0.5 * 2.0 * v * v * (1.0 - exact * exact);
            errors.push((found - exact, damped / -lost - 1.0));
        }
        println!("a {a}, v {v}, C {c}: e {exact}, errors {errors:?}");
        // Of first order: implicit Euler takes pi omega h, the overlap of the start of the step the
        // rest.
        for pair in errors.windows(2) {
            let ratio = pair[0].0 / pair[1].0;
            assert!((1.8..2.2).contains(&ratio), "{ratio}");
        }
        assert!(errors[2].0.abs() < 0.02 && errors[2].1.abs() < 0.02, "{errors:?}");
    }
}
