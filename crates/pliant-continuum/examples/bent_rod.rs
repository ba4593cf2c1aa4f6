//! A rod, its stiffness, and the energy of bending it into an arc.
//!
//! `E A`, `G J`, `E I` of a tube; straight, of the length `L`, it has the energy `E I q^2 / (2 L)` on
//! an arc of the angle `q`, without stretch where the chord of every segment is its length at rest.
//!
//! `cargo run --release -p pliant-continuum --example bent_rod`

use pliant_continuum::{Rod, RodCurve, Section};
use pliant_model::{Evaluation, Model, Problem};
use std::f64::consts::PI;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (young, poisson, [inner, outer]) = (70e9, 0.33, [0.008, 0.01]);
    let section = Section::tube(inner, outer);
    let rod = Rod::new(section, young, poisson);
    let area = PI * (outer * outer - inner * inner);
    let moment = 0.25 * PI * (f64::powi(outer, 4) - f64::powi(inner, 4));
    let stiffness = rod.stiffness();
    println!("E A = {:.4e} N, E I = {:.4} N m^2", stiffness[0], stiffness[4]);
    assert!((stiffness[0] - young * area).abs() < 1e-12 * young * area);
    assert!((stiffness[4] - young * moment).abs() < 1e-12 * young * moment);
    assert!((stiffness[3] - young / (1.0 + poisson) * moment).abs() < 1e-12 * young * moment);

    let (length, segments, turn) = (2.0, 16, 1.5);
    let mut model = Model::new();
    let straight = RodCurve::straight([0.0; 3], [length, 0.0, 0.0], segments);
    let parts = rod.add_to(&mut model, "rod", &straight)?;
    let problem = Problem::new(model);
    let mut state = problem.initial_state()?;
    // Points on a circle, `turn / segments` apart, whose chords are the segments.
    let step = turn / segments as f64;
    let radius = length / segments as f64 / (2.0 * (step / 2.0).sin());
    let on_arc = |k: usize| {
        let (sin, cos) = (step * k as f64).sin_cos();
        [radius * sin, radius - radius * cos, 0.0]
    };
    let arc: Vec<[f64; 3]> = (0..=segments).map(on_arc).collect();
    let frames = RodCurve::through(&arc).with_normal([0.0, 1.0, 0.0]).frames()?;
    for (e, pose) in frames.iter().enumerate() {
        state.positions[7 * e..7 * e + 3].copy_from_slice(&pose.position);
        state.positions[7 * e + 3..7 * e + 7].copy_from_slice(&pose.rotation);
    }
    let mut evaluation = Evaluation::new(&problem);
    evaluation.propagate(&problem, &mut state)?;
    let strains = problem.positions(&state, parts.strains);
    for s in strains.as_chunks::<6>().0 {
        assert!((s[4].hypot(s[5]) - turn / length).abs() < 1e-12, "curvature");
        assert!(s[0].abs() < 1e-12 && s[3].abs() < 1e-12, "stretch and twist");
    }
    let energy = problem.energies(&state).potential;
    let expected = 0.5 * young * moment * turn * turn / length;
    println!("energy {energy:.6} J, expected {expected:.6} J");
    assert!((energy - expected).abs() < 1e-10 * expected);
    Ok(())
}
