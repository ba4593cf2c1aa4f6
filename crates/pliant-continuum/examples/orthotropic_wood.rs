//! Stresses of a linear law, isotropic and orthotropic: wood along and across its grain.
//!
//! A rod under tension `s` along axis `i` has `e_i = s / E_i` and shrinks across by `nu_ij e_i`; with
//! `nu_ij / E_i = nu_ji / E_j`. Shear stress is `G_ij` times the angle.
//!
//! `cargo run --release -p pliant-continuum --example orthotropic_wood`

use pliant_continuum::LinearElastic;

fn main() {
    // Spruce (Pa), about: along the grain x, radially y, tangentially z; ratios xy, yz, zx.
    let young = [10e9, 0.8e9, 0.45e9];
    let poisson = [0.37, 0.43, 0.02];
    let shear = [0.65e9, 0.04e9, 0.6e9];
    let wood = LinearElastic::orthotropic(young, poisson, shear, &[1.0]);
    // How much j shrinks as i is stretched, from the three that are given and from symmetry.
    let ratio = [
        [-1.0, poisson[0], poisson[2] * young[0] / young[2]],
        [poisson[0] * young[1] / young[0], -1.0, poisson[1]],
        [poisson[2], poisson[1] * young[2] / young[1], -1.0],
    ];
    let tension = 5e6;
    for (axis, name) in ["along", "radially", "tangentially"].into_iter().enumerate() {
        let e = tension / young[axis];
        let strain: Vec<f64> = (0..6)
            .map(|k| if k < 3 { -ratio[axis][k] * e } else { 0.0 })
            .collect();
        let stress = wood.stresses(&strain);
        println!("{name}: strain {e:.3e}, stress {:.3} MPa", 1e-6 * stress[axis]);
        for (k, s) in stress.iter().enumerate() {
            let expected = if k == axis { tension } else { 0.0 };
            assert!((s - expected).abs() < 1e-12 * young[0], "stress {k}");
        }
    }
    let stress = wood.stresses(&[0.0, 0.0, 0.0, 1e-3, 2e-3, 3e-3]);
    for (k, angle) in [1e-3, 2e-3, 3e-3].into_iter().enumerate() {
        assert!((stress[3 + k] - shear[k] * angle).abs() < 1e-6);
    }

    // Steel is the same along all axes: pressure is 3 K e = E e / (1 - 2 nu) for equal strains.
    let steel = LinearElastic::isotropic(210e9, 0.3, &[1.0]);
    let stress = steel.stresses(&[1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0]);
    println!(
        "steel, equal strains of 0.1 per cent: {:.3} MPa",
        1e-6 * stress[0]
    );
    assert!((stress[0] - 210e9 * 1e-3 / 0.4).abs() < 1e-3);
}
