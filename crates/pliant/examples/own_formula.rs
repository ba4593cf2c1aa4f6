//! A mapping as a closure and a potential as text: written once, derivatives exact by hyper-dual
//! numbers. Either may be of the other kind: `Potential` of a closure, `Expressions` of text.
//!
//! `cargo run --release -p pliant --example own_formula`

use pliant::model::dual::{Dual, DualNum};
use pliant::prelude::*;

fn main() -> Result<(), Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let bead = model.add_particles("bead", &[[1.0, 0.0, 0.0]])?;
    model.add_mass("mass", bead, Mass::Uniform(1.0))?;

    // A helix of radius 1 m and pitch 2 pi m: two equations, held at zero.
    let helix = Formula::new(
        2,
        vec![vec![Dependency::new(0, 0)]],
        |x: &[Dual], out: &mut [Dual]| {
            out[0] = x[0] - x[2].cos();
            out[1] = x[1] - x[2].sin();
        },
    );
    let off = model.add_mapped("off the helix", &[bead], helix)?;
    model.add_constraint("helix", off, Level::CurvedPosition)?;

    // A well that is not quadratic: V = z^4 / 4.
    let well = Expression::parse("0.25 * z^4", &["z"])?;
    model.add_potential("well", &[bead], &well, &[Coordinate::new(0, 0, 2)])?;

    let mut simulation = Simulation::with_options(model, Options::trapezoidal())?;
    let before = simulation.problem().energies(simulation.state()).total();
    let mut last = before;
    while simulation.time() < 2.0 {
        last = simulation.step(0.001)?.energies.total();
    }
    println!(
        "at {:.4?}, energy {before:.6} J -> {last:.6} J",
        simulation.positions(bead)
    );
    assert!((last - before).abs() < 1e-3);
    Ok(())
}
