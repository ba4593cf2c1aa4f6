//! A metal that yields and hardens: shear it beyond its limit, let go, read what stays.
//!
//! Von Mises: `sqrt(3) tau = s_0 + H p`. Sheared by the angle `y`, the elastic one is
//! `tau / G` and the plastic one `y_p = sqrt(3) p`, so that
//! `tau = (s_0 + H y / sqrt(3)) / (sqrt(3) + H / (sqrt(3) G))`.
//!
//! `cargo run --release -p pliant-continuum --example yielding_metal`

use pliant_continuum::{ContinuumError, ElasticPlastic, Plasticity};
use pliant_model::{At, ForceField, Past, Space};

fn main() -> Result<(), ContinuumError> {
    let (young, poisson, yield_stress, hardening) = (200e9, 0.3, 250e6, 2e9);
    let shear = young / (2.0 * (1.0 + poisson));
    let metal = Plasticity::perfect(yield_stress).with_isotropic_hardening(hardening);
    let law = ElasticPlastic::isotropic(young, poisson, metal, &[1.0]);
    let memory = law.memory().ok_or(ContinuumError::Empty)?;
    let mut internal = vec![0.0; memory.size(1)];
    memory.begin(Space::Real(6), &[0.0; 6], &mut internal);
    let root = 3f64.sqrt();
    let strain = |angle: f64| [0.0, 0.0, 0.0, angle, 0.0, 0.0];
    let stress = |angle: f64, internal: &[f64]| law.stresses(&strain(angle), internal)[3];

    let first = yield_stress / root / shear;
    println!("elastic up to an angle of {first:.6}");
    assert!((stress(0.99 * first, &internal) - shear * 0.99 * first).abs() < 1e-3);

    let angle = 0.02;
    let tau = stress(angle, &internal);
    let expected = (yield_stress + hardening * angle / root) / (root + hardening / (root * shear));
    println!("at {angle}: {tau:.6e} Pa, expected {expected:.6e} Pa");
    assert!((tau - expected).abs() < 1e-9 * expected);

    // Take the step, then look for the angle of no stress: what is left of the shear.
    let mut new = internal.clone();
    let past = Past {
        internal: &internal,
        elapsed: 1.0,
    };
    let lost = memory.advance(At::new(Space::Real(6), &strain(angle)), past, &mut new);
    internal.clone_from(&new);
    let left = angle - tau / shear;
    let passed = ElasticPlastic::plastic_strains(&internal)[0];
    println!("left {left:.6}, passed {passed:.6}, {lost:.1} J/m^3 lost");
    assert!(stress(left, &internal).abs() < 1e-9 * tau, "elastic way back");
    assert!((passed - left / root).abs() < 1e-12);
    // Hardening stores H p^2 / 2 of the work; the rest is lost.
    assert!((lost - yield_stress * passed).abs() < 1e-9 * lost);
    // On the way back it yields again at the same stress of the other sign.
    let far = stress(left - 3.0 * tau / shear, &internal);
    assert!(far < -tau && (far + tau).abs() < 0.05 * tau, "and hardens on");
    Ok(())
}
