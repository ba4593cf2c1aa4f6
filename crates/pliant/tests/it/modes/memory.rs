//! Modes of materials with a memory: vibrations are faster than what relaxes, and too small to
//! yield.

use super::{check, frequencies, modes};
use pliant::continuum::{ElasticPlastic, Plasticity, PronySeries, PronyTerm, Viscoelastic};
use pliant::prelude::*;

const SHEAR: f64 = 50.0;
const MASS: f64 = 0.7;
/// Strength in tension (Pa).
const YIELD: f64 = 0.4;

/// A mass on one shear strain of a material of 1 m^3, which a force pulls; the other five are held.
fn oscillator(law: impl ForceField + 'static, force: f64) -> Model {
    let mut model = Model::new();
    let node = model.add_independent("strain", Space::Real(6), &[0.0; 6], &[0.0; 6]);
    let node = node.unwrap();
    model
        .fix(node, 0, &[true, true, true, false, true, true])
        .unwrap();
    model.add_mass("mass", node, Mass::Uniform(MASS)).unwrap();
    model
        .add_force_field("material", node, law, Treatment::Stiffness)
        .unwrap();
    let load = ConstantForce::new(&[0.0, 0.0, 0.0, force, 0.0, 0.0]);
    model
        .add_force_field("load", node, load, Treatment::Stiffness)
        .unwrap();
    model
}

/// A spring that has relaxed by seven tenths at rest still swings with all of its modulus.
#[test]
fn a_viscoelastic_material_swings_with_its_whole_modulus() {
    let series = PronySeries::new(&[PronyTerm::of_shear(0.05, 0.3), PronyTerm::of_shear(30.0, 0.4)]);
    let law = Viscoelastic::deviatoric(SHEAR, series.unwrap(), &[1.0]);
    let found = modes(oscillator(law, 4.0), 1);
    check(&frequencies(&found), &[(SHEAR / MASS).sqrt()], 1e-12);
    // The rest is the relaxed one.
    let strain = found.state.positions[3];
    assert!((strain / (4.0 / (0.3 * SHEAR)) - 1.0).abs() < 1e-9, "{strain}");
    assert!(found.unbalanced < 1e-9);
}

/// A block that yields in shear at `Y/sqrt(3)` and has been sheared beyond it swings elastically.
#[test]
fn a_yielded_material_swings_elastically() {
    let young = 2.6 * SHEAR;
    let yielded = YIELD / 3.0f64.sqrt();
    for share in [0.5, 1.5] {
        let plasticity = Plasticity::perfect(YIELD)
            .with_isotropic_hardening(3.0)
            .with_kinematic_hardening(5.0);
        let law = ElasticPlastic::isotropic(young, 0.3, plasticity, &[1.0]);
        let force = share * yielded;
        let found = modes(oscillator(law, force), 1);
        check(&frequencies(&found), &[(SHEAR / MASS).sqrt()], 1e-12);
        // Beyond the yield stress it hardens by (3 + 5)/3 of the angle.
        let strain = found.state.positions[3];
        let exact = force / SHEAR + 3.0 / 8.0 * (force - yielded).max(0.0);
        assert!((strain / exact - 1.0).abs() < 1e-9, "{strain} for {exact}");
    }
}
