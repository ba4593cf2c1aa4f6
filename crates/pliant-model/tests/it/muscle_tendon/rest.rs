//! Equilibria at rest, derivatives and what never fails.

use super::reference::{Millard, Muscle, Thelen};
use super::{LENGTH, advanced, memory, near, stiffness, tension};
use pliant_model::{ActivationDynamics, MuscleTendon, Past, check};

/// The soleus of a small model, for both sets of curves.
pub(super) fn laws() -> [(MuscleTendon, Muscle<'static>); 2] {
    let of = |law: fn(f64, f64, f64) -> MuscleTendon, curves, times| {
        let reference = Muscle {
            curves,
            force: 3500.0,
            optimal: 0.05,
            slack: 0.25,
            pennation: 0.43,
            speed: 10.0,
            times,
        };
        (law(3500.0, 0.05, 0.25).with_pennation(0.43), reference)
    };
    [
        of(MuscleTendon::thelen, &Thelen, (0.015, 0.05)),
        of(MuscleTendon::millard, &Millard, (0.01, 0.04)),
    ]
}

#[test]
fn the_equilibrium_at_rest_is_that_of_a_bisection() {
    for (law, reference) in laws() {
        for path in [0.28, 0.295, 0.3, 0.31] {
            for a in [0.02, 0.3, 1.0] {
                let law = law.clone().with_excitations(&[a]);
                let mut internal = [0.0];
                memory(&law).begin(LENGTH, &[path], &mut internal);
                let fibre = reference.at_rest(path, a);
                // The bisection leaves rounding of the length, a part in 1e12 of the stiff tendon's
                // force.
                near(internal[0], fibre, 1e-14);
                let wanted = reference.tension(path, fibre);
                for elapsed in [0.0, 1e-3, 10.0, f64::INFINITY] {
                    let found = tension(&law, path, a, &internal, elapsed);
                    near(found / 3500.0, wanted / 3500.0, 1e-11);
                }
                assert!(law.fibre_lengths(&internal).eq([internal[0]]));
            }
        }
    }
}

#[test]
fn derivatives_agree_with_differences() {
    for (law, _) in laws() {
        for a in [0.05, 0.6] {
            let with = law.clone().with_excitations(&[a]);
            let stiff = with.clone().with_rigid_tendon();
            for l in [0.27, 0.2851, 0.2993, 0.3127] {
                // Differences of forces of 3500 N over micrometres leave parts in 1e7 of slopes
                // of 1e6 N/m.
                let found = check::force_field(&with, LENGTH, &[l], &[0.0]).unwrap();
                assert!(found.worst() < 1e-6, "{law:?} {l}: {found:?}");
                for v in [-0.35, -0.02, 0.03, 0.2] {
                    let found = check::force_field(&stiff, LENGTH, &[l], &[v]).unwrap();
                    assert!(found.worst() < 1e-6, "{law:?} {l} {v}: {found:?}");
                }
                for elapsed in [0.0, 1e-4, 1e-2, 1.0, f64::INFINITY] {
                    for dynamics in [None, Some(ActivationDynamics::MILLARD)] {
                        let mut law = with.clone();
                        if let Some(dynamics) = dynamics {
                            law = law.with_dynamics(dynamics);
                        }
                        let internal = [0.041, 0.2];
                        let internal = &internal[..memory(&law).size(1)];
                        let past = Past { internal, elapsed };
                        let found = check::memory(&law, LENGTH, &[l], past).unwrap();
                        assert!(found.stiffness < 2e-5, "{law:?} {l} {elapsed}: {found:?}");
                        assert_eq!(found.idle, 0.0);
                    }
                }
            }
        }
    }
}

/// A tendon that gives way less and less is the rigid one: what is left is in proportion to its
/// strain.
#[test]
fn a_stiff_tendon_goes_to_the_rigid_one() {
    for (law, _) in laws() {
        let law = law.with_excitations(&[0.4]);
        let fixed = law.clone().with_rigid_tendon();
        for (path, speed) in [(0.295, 0.0), (0.297, -0.05), (0.3, 0.03)] {
            let wanted = super::rigid(&fixed, path, speed);
            let error = |strain: f64| {
                let law = law.clone().with_tendon_strain(strain);
                // The rate of the fibre is that of its path where the step is short.
                let h = 1e-6;
                let before = path - speed * h - 0.25;
                let thick = 0.05 * 0.43f64.sin();
                // The start is in equilibrium too: the tendon is longer by its strain.
                let (mut l, mut internal) = (path - 2e-3 * speed, [(before * before + thick * thick).sqrt()]);
                for _ in 0..2000 {
                    l += speed * h;
                    internal[0] = advanced(&law, l, 0.4, &internal, h).0[0];
                }
                (tension(&law, l, 0.4, &internal, 0.0) - wanted).abs() / 3500.0
            };
            let errors = [1e-3, 1e-4].map(error);
            assert!(
                errors[0] < 0.05 && errors[1] < 0.15 * errors[0] + 1e-5,
                "{errors:?}"
            );
        }
    }
}

/// Lengths, times and activations beyond all reason: the tension is a number, not below zero, and
/// that of a fibre in balance or at its stop.
#[test]
fn no_equilibrium_is_missed() {
    for (law, _) in laws() {
        for pennation in [0.0, 0.43, 1.4] {
            let law = law.clone().with_pennation(pennation);
            // No motion leaves a fibre shorter than its stop, from where it would jump.
            let stop = (0.05 * pennation.sin() / 0.99f64.sqrt()).max(0.05 * 0.4441);
            for path in [-1.0, 0.0, 0.2, 0.2501, 0.27, 0.3, 0.35, 0.5] {
                for before in [1e-6, 0.03, 0.05, 0.07, 0.11, 0.4] {
                    for elapsed in [1e-320, 1e-150, 1e-9, 1e-3, 1.0, 1e9, f64::INFINITY] {
                        for a in [0.0, 1e-9, 0.5, 1.0] {
                            let f = tension(&law, path, a, &[before], elapsed);
                            let k = stiffness(&law, path, a, &[before], elapsed);
                            let (new, lost) = advanced(&law, path, a, &[before], elapsed);
                            let what =
                                format!("{law:?} {path} {before} {elapsed} {a}: {f} {k} {new:?} {lost}");
                            assert!(f >= 0.0 && k.is_finite() && new[0] > 0.0, "{what}");
                            assert!(before < stop || lost >= -1e-9 * (1.0 + f), "{what}");
                            // The fibre that it says is that of the tension.
                            let again = tension(&law, path, a, &new, 0.0);
                            assert!((again - f).abs() < 1e-9 * (3500.0 + f), "{what} {again}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_muscle_without_any_force_stays() {
    let (law, _) = &laws()[0];
    // Shorter than optimal, slack, not activated: nothing moves it.
    assert_eq!(advanced(law, 0.2, 0.0, &[0.04], 1.0).0, [0.04]);
    // A tendon that pulls draws it out until it is slack.
    let (new, _) = advanced(law, 0.28, 0.0, &[0.025], f64::INFINITY);
    near(
        (new[0] * new[0] - (0.05 * 0.43f64.sin()).powi(2)).sqrt(),
        0.03,
        1e-14,
    );
    // One that is active without anything to pull goes to its stop, at the cosine .1.
    let (new, _) = advanced(law, 0.2, 0.5, &[0.04], f64::INFINITY);
    near(new[0], 0.05 * 0.43f64.sin() / 0.99f64.sqrt(), 1e-14);
}
