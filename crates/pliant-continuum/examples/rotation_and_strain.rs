//! Which strain for which motion: a block that turns as a whole.
//!
//! Turned by `a` without deformation, the small strain is `cos a - 1` along two axes: the energy is
//! `V (lambda / 2 (2 e)^2 + mu 2 e^2)`, `e = cos a - 1`. Corotational and Green-Lagrange strains are
//! zero.
//!
//! `cargo run --release -p pliant-continuum --example rotation_and_strain`

use pliant_continuum::{Mesh, Solid};
use pliant_model::{Model, Problem};

/// The energy (J) of a block of 2 m^3 turned by an angle about z and stretched along x before.
fn energy(solid: &Solid, angle: f64, stretch: f64) -> Result<f64, Box<dyn std::error::Error>> {
    let mesh = Mesh::hexahedral_box([2.0, 1.0, 1.0], [2, 1, 1])?;
    let mut model = Model::new();
    solid.add_to(&mut model, "block", &mesh)?;
    let problem = Problem::new(model);
    let mut state = problem.initial_state()?;
    let (sin, cos) = angle.sin_cos();
    for x in state.positions[..3 * mesh.nodes.len()].as_chunks_mut::<3>().0 {
        let [a, b] = [stretch * x[0], x[1]];
        (x[0], x[1]) = (cos * a - sin * b, sin * a + cos * b);
    }
    problem.propagate(&mut state)?;
    Ok(problem.energies(&state).potential)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (young, poisson) = (1e6, 0.25);
    let (mu, lame) = (young / 2.5, young * poisson / (1.25 * 0.5));
    for degrees in [0.5, 10.0, 90.0] {
        let angle = f64::to_radians(degrees);
        let e = angle.cos() - 1.0;
        let expected = 2.0 * (0.5 * lame * (2.0 * e).powi(2) + mu * 2.0 * e * e);
        let small = energy(&Solid::linear(young, poisson), angle, 1.0)?;
        let turning = energy(&Solid::corotational(young, poisson), angle, 1.0)?;
        let green = energy(&Solid::st_venant_kirchhoff(young, poisson), angle, 1.0)?;
        println!(
            "{degrees:4} degrees: small {small:.3e} J, corotational {turning:.1e} J, Green-Lagrange {green:.1e} J"
        );
        assert!((small - expected).abs() < 1e-12 * young);
        assert!(turning.abs() < 1e-12 * young && green.abs() < 1e-12 * young);
    }
    // A stretch of the turned block is felt as that of one at rest: V (lambda / 2 + mu) e^2.
    let stretch: f64 = 1.1;
    for (solid, e) in [
        (Solid::corotational(young, poisson), stretch - 1.0),
        (
            Solid::st_venant_kirchhoff(young, poisson),
            0.5 * (stretch * stretch - 1.0),
        ),
    ] {
        let found = energy(&solid, 1.0, stretch)?;
        let expected = 2.0 * (0.5 * lame + mu) * e * e;
        println!("stretched by 10 per cent: {found:.6} J, expected {expected:.6} J");
        assert!((found - expected).abs() < 1e-10 * expected);
    }
    Ok(())
}
