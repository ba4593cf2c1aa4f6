//! Laws that relax, at an element, against closed forms of the generalised Maxwell model.

use pliant_continuum::{ContinuumError, PronySeries, PronyTerm, Relaxing};
use pliant_model::{At, ForceField, Memory, Past, Space, check};

const TERMS: [(f64, f64); 2] = [(0.2, 0.3), (3.0, 0.4)];
/// Of energy above zero in every direction, coupled.
const STIFFNESS: [f64; 9] = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0];
const PLANE: Space = Space::Real(3);

fn series() -> PronySeries {
    PronySeries::new(&TERMS.map(|(time, share)| PronyTerm::new(time, share))).unwrap()
}

fn law() -> Relaxing {
    Relaxing::new(&STIFFNESS, &[0.5, 2.0], series()).unwrap()
}

/// Coordinates that grow evenly from zero: `f = -w K r (g_oo t + sum g tau (1 - exp(-t/tau)))` for
/// the rate `r`, with steps of any length; what is stored and dissipated is the work.
#[test]
fn an_even_motion_is_exact() {
    let (law, rate) = (law(), [0.1, -0.3, 0.2, 0.05, 0.4, -0.1]);
    let mut internal = vec![0.0; law.size(2)];
    law.begin(PLANE, &[0.0; 6], &mut internal);
    let (mut t, mut dissipated) = (0.0f64, 0.0);
    for h in [0.1, 1e-4, 0.7, 0.02, 5.0] {
        t += h;
        let x: Vec<f64> = rate.iter().map(|r| r * t).collect();
        let past = Past {
            internal: &internal,
            elapsed: h,
        };
        let mut force = vec![0.0; 6];
        Memory::add_force(&law, At::new(PLANE, &x), past, &mut force);
        let mut new = internal.clone();
        dissipated += law.advance(At::new(PLANE, &x), past, &mut new);
        internal = new;
        let slow = 1.0 - TERMS.iter().map(|t| t.1).sum::<f64>();
        let gone = |tau: f64| 1.0 - (-t / tau).exp();
        let grown = slow * t + TERMS.iter().map(|(tau, g)| g * tau * gone(*tau)).sum::<f64>();
        // The work of the branch: the integral of its force.
        let spent = |tau: f64| tau * (t - tau * gone(tau));
        let work = 0.5 * slow * t * t + TERMS.iter().map(|(tau, g)| g * spent(*tau)).sum::<f64>();
        let mut done = 0.0;
        for (e, weight) in [0.5, 2.0].into_iter().enumerate() {
            let r = &rate[3 * e..][..3];
            for i in 0..3 {
                let row: f64 = (0..3).map(|j| STIFFNESS[3 * i + j] * r[j]).sum();
                done += weight * row * r[i] * work;
                let wanted = -weight * row * grown;
                assert!(
                    (force[3 * e + i] - wanted).abs() < 1e-14,
                    "{t}: {force:?} {wanted}"
                );
            }
        }
        let stored = Memory::energy(&law, At::new(PLANE, &x), &internal);
        // The work is of the size of one.
        assert!(
            (stored + dissipated - done).abs() < 1e-13,
            "{t}: {stored} {dissipated} {done}"
        );
    }
}

#[test]
fn it_has_its_derivatives_and_idles() {
    let law = law();
    let x = [0.1, -0.2, 0.3, 0.05, 0.1, -0.4];
    let mut internal = vec![0.0; law.size(2)];
    for (k, i) in internal.iter_mut().enumerate() {
        *i = 0.1 * (k as f64).cos();
    }
    for elapsed in [0.0, 0.1, 4.0, f64::INFINITY] {
        let past = Past {
            internal: &internal,
            elapsed,
        };
        let found = check::memory(&law, PLANE, &x, past).unwrap();
        // Differences of step 1e-6.
        assert!(
            found.stiffness < 1e-7 && found.symmetry == 0.0 && found.idle == 0.0,
            "{found:?}"
        );
        assert!(found.dissipated >= 0.0, "{found:?}");
    }
    let found = check::force_field(&law, PLANE, &x, &[0.0; 6]).unwrap();
    assert!(found.worst() < 1e-7, "{found:?}");
}

#[test]
fn what_no_law_can_be_is_refused() {
    for count in [0, 2, 3, 5, 49] {
        let made = Relaxing::new(&vec![1.0; count], &[1.0], series());
        assert!(matches!(made, Err(ContinuumError::OutOfRange { .. })), "{count}");
    }
    let said = |law: &Relaxing, space: Space, words: &str| {
        let message = law.check("law", space, 1).unwrap_err().to_string();
        assert!(message.contains(words), "{message} instead of {words}");
    };
    let plane = Space::Real(2);
    let of = |matrix: [f64; 4]| Relaxing::new(&matrix, &[1.0], series()).unwrap();
    of([1.0, 1.0, 1.0, 1.0]).check("law", plane, 1).unwrap();
    said(
        &of([1.0, 0.0, 0.0, 1.0]),
        PLANE,
        "as many of an element as the stiffness has rows",
    );
    said(&of([1.0, 0.1, 0.0, 1.0]), plane, "mirror each other");
    said(
        &of([1.0, 2.0, 2.0, 1.0]),
        plane,
        "the least eigenvalue of the stiffness of `law` is -",
    );
    said(&of([f64::NAN, 0.0, 0.0, 1.0]), plane, "the stiffness");
    let two = Relaxing::springs(2, &[1.0, 1.0], series()).unwrap();
    said(&two, plane, "one for each element");
    let slack = Relaxing::springs(2, &[0.0], series()).unwrap();
    said(
        &slack,
        plane,
        "the weight or stiffness of an element of `law` is 0",
    );
    let shear = PronySeries::new(&[PronyTerm::of_shear(1.0, 0.5)]).unwrap();
    let uneven = Relaxing::springs(2, &[1.0], shear).unwrap();
    said(
        &uneven,
        plane,
        "a share of bulk in the Prony series of `law` is 0",
    );
    let much = PronySeries::new(&[PronyTerm::new(1.0, 0.7), PronyTerm::new(2.0, 0.7)]).unwrap();
    said(
        &Relaxing::springs(2, &[1.0], much).unwrap(),
        plane,
        "leaves of the shear modulus",
    );
}
