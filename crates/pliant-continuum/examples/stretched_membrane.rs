//! A sheet that is stretched: strains, stresses and energy in plane stress.
//!
//! `s_1 = E / (1 - nu^2) (e_1 + nu e_2)`, `s_2` likewise; the energy is `t A (s_1 e_1 + s_2 e_2) / 2`
//! with the strains of Green and Lagrange, `e = (l^2 - 1) / 2` of a stretch `l`.
//!
//! `cargo run --release -p pliant-continuum --example stretched_membrane`

use pliant_continuum::{Sheet, SheetForces, SheetMesh};
use pliant_model::{Evaluation, Model, Problem};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (young, poisson, thickness) = (5e6, 0.4, 0.002);
    let mesh = SheetMesh::rectangle([0.6, 0.4], [6, 4], true);
    let area: f64 = mesh.areas()?.iter().sum();
    assert!((area - 0.24).abs() < 1e-15);
    let mut model = Model::new();
    let sheet = Sheet::isotropic(young, poisson, thickness).with_warp([1.0, 0.0, 0.0]);
    let parts = sheet.add_to(&mut model, "sheet", &mesh)?;
    let problem = Problem::new(model);
    let mut state = problem.initial_state()?;

    // Stretched in its plane, and turned out of it: a membrane feels the stretch only.
    let stretch = [1.05, 0.98];
    let (sin, cos) = 0.8f64.sin_cos();
    for x in state.positions[..3 * mesh.nodes.len()].as_chunks_mut::<3>().0 {
        let [a, b] = [stretch[0] * x[0], stretch[1] * x[1]];
        *x = [cos * a, b, sin * a];
    }
    let mut evaluation = Evaluation::new(&problem);
    evaluation.propagate(&problem, &mut state)?;
    evaluation.evaluate(&problem, &state)?;
    let e = stretch.map(|l: f64| 0.5 * (l * l - 1.0));
    let plane = young / (1.0 - poisson * poisson);
    let s = [plane * (e[0] + poisson * e[1]), plane * (e[1] + poisson * e[0])];

    let strains = problem.positions(&state, parts.strains);
    println!("strains {:.6?}, expected {e:.6?} and no shear", &strains[..3]);
    for strain in strains.as_chunks::<3>().0 {
        assert!((strain[0] - e[0]).abs() < 1e-14 && (strain[1] - e[1]).abs() < 1e-14);
        assert!(strain[2].abs() < 1e-14);
    }
    let energy = problem.energies(&state).potential;
    let expected = 0.5 * thickness * area * (s[0] * e[0] + s[1] * e[1]);
    println!("energy {energy:.9} J, expected {expected:.9} J");
    assert!((energy - expected).abs() < 1e-12 * expected);

    let forces = &evaluation.force()[problem.node(parts.strains).velocity_range()];
    let fields = parts.fields(SheetForces { strains, forces }, None);
    println!("stresses {:.3?} Pa", fields.stress[0]);
    // Cauchy's stress, of the thickness at rest: s_1 l_1 / l_2.
    let c = [s[0] * stretch[0] / stretch[1], s[1] * stretch[1] / stretch[0]];
    let mises = (c[0] * c[0] - c[0] * c[1] + c[1] * c[1]).sqrt();
    for found in fields.von_mises() {
        assert!((found - mises).abs() < 1e-12 * young);
    }
    Ok(())
}
