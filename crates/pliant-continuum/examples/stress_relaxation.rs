//! A viscoelastic material by a Prony series: how its stress relaxes at a strain that is held.
//!
//! `G(t) = G_0 (1 - sum g_i (1 - exp(-t / tau_i)))`: a shear angle `y` that comes at once at `t = 0`
//! is held by the stress `G(t) y`.
//!
//! `cargo run --release -p pliant-continuum --example stress_relaxation`

use pliant_continuum::{ContinuumError, PronySeries, PronyTerm, Viscoelastic};
use pliant_model::{At, ForceField, Past, Space};

fn main() -> Result<(), ContinuumError> {
    let (young, poisson) = (10e6, 0.45);
    let shear = young / (2.0 * (1.0 + poisson));
    let terms = [PronyTerm::of_shear(0.1, 0.3), PronyTerm::of_shear(5.0, 0.5)];
    let series = PronySeries::new(&terms)?;
    let law = Viscoelastic::isotropic(young, poisson, series, &[1.0]);
    let memory = law.memory().ok_or(ContinuumError::Empty)?;

    let angle = 0.01;
    let at_rest = [0.0; 6];
    let strained = [0.0, 0.0, 0.0, angle, 0.0, 0.0];
    let mut internal = vec![0.0; memory.size(1)];
    memory.begin(Space::Real(6), &at_rest, &mut internal);
    let mut new = internal.clone();
    // The variables after some time at the present strain, and the energy that was lost.
    let mut advance = |internal: &mut Vec<f64>, elapsed: f64| {
        let past = Past { internal, elapsed };
        let lost = memory.advance(At::new(Space::Real(6), &strained), past, &mut new);
        internal.clone_from(&new);
        lost
    };
    // The strain comes at once: in no time.
    advance(&mut internal, 0.0);
    let (h, mut dissipated) = (0.05, 0.0);
    for step in 0..=200 {
        let t = h * f64::from(step);
        let present = Past {
            internal: &internal,
            elapsed: 0.0,
        };
        let stress = law.stresses(&strained, present)[3];
        let gone = |g: &PronyTerm| g.shear * (1.0 - (-t / g.time).exp());
        let left = 1.0 - terms.iter().map(gone).sum::<f64>();
        if step % 40 == 0 {
            println!("after {t:4.1} s: {stress:.3} Pa, {:.4} of the first", left);
        }
        // The recurrence is exact for a strain that is held.
        assert!((stress - shear * left * angle).abs() < 1e-12 * shear * angle * f64::from(step + 1));
        dissipated += advance(&mut internal, h);
    }
    // Each branch loses its energy G_0 g y^2 / 2, all but exp(-2 t / tau), at t = 201 h.
    let t = 201.0 * h;
    let gone = |g: &PronyTerm| g.shear * (1.0 - (-2.0 * t / g.time).exp());
    let expected = 0.5 * shear * angle * angle * terms.iter().map(gone).sum::<f64>();
    println!("dissipated {dissipated:.6} J/m^3, expected {expected:.6} J/m^3");
    assert!((dissipated - expected).abs() < 1e-10 * expected);
    Ok(())
}
