//! Stress of a rubber over its stretch, and the check of a law of one's own choice.
//!
//! Incompressible neo-Hookean: nominal stress `P = mu (l - 1 / l^2)`. The compressible energy
//! `mu/2 (I_1 - 3) - mu ln J + lambda/2 ln^2 J` has
//! `P = mu F + (lambda ln J - mu) F^-T`: across, `mu (a - 1 / a) + lambda ln(l a^2) / a = 0` gives the
//! width `a`, along, `P = mu (l - 1 / l) + lambda ln(l a^2) / l`.
//!
//! `cargo run --release -p pliant-continuum --example rubber_in_tension`

use pliant_continuum::{Hyperelastic, StrainEnergy};
use pliant_model::{ModelError, Space, check};

fn main() -> Result<(), ModelError> {
    let (shear, lame) = (1e6, 1e9);
    let law = Hyperelastic::new(StrainEnergy::NeoHookean { shear, lame }, &[1.0]);
    for stretch in [0.5, 1.2, 2.0, 4.0] {
        // The width of no force across, by bisection of the stress of the law.
        let gradient = |a: f64| [stretch, 0.0, 0.0, 0.0, a, 0.0, 0.0, 0.0, a];
        let (mut low, mut high) = (0.1, 2.0);
        for _ in 0..100 {
            let a = 0.5 * (low + high);
            if law.stresses(&gradient(a))[4] < 0.0 {
                low = a;
            } else {
                high = a;
            }
        }
        let a: f64 = 0.5 * (low + high);
        let stress = law.stresses(&gradient(a));
        let log = (stretch * a * a).ln();
        let exact = shear * (stretch - 1.0 / stretch) + lame * log / stretch;
        let incompressible = shear * (stretch - 1.0 / (stretch * stretch));
        println!(
            "stretch {stretch}: {:.6e} Pa, incompressible {incompressible:.6e} Pa",
            stress[0]
        );
        // Rounding of the logarithm, times its modulus.
        assert!((stress[0] - exact).abs() < 100.0 * f64::EPSILON * lame);
        assert!((shear * (a - 1.0 / a) + lame * log / a).abs() < 1e-6 * shear);
        assert!((stress[0] - incompressible).abs() < 20.0 * shear * shear / lame);
    }

    // Force against the gradient of the energy, stiffness against that of the force.
    let soft = Hyperelastic::new(StrainEnergy::neo_hookean(1.0, 0.3), &[1.0]);
    let f = [1.3, 0.2, -0.1, 0.0, 0.9, 0.3, 0.1, 0.0, 1.1];
    let found = check::force_field(&soft, Space::Real(9), &f, &[0.0; 9])?;
    println!("largest error of any derivative {:.1e}", found.worst());
    assert!(found.worst() < 1e-7);
    Ok(())
}
