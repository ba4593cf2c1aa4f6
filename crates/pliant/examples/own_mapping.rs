//! A mapping of one's own: how far points are above a paraboloid. Held at zero, it is a bowl in
//! which beads slide.
//!
//! `cargo run --release -p pliant --example own_mapping`

use pliant::prelude::*;

/// `phi = z - (x^2 + y^2) / (2 R)` (m) of every point of the parent.
#[derive(Clone, Debug)]
struct AboveBowl {
    radius: f64,
    count: usize,
}

impl Mapping for AboveBowl {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.count)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(Dependency::new(0, element));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, phi) in child.iter_mut().enumerate() {
            let x = parents.position(Dependency::new(0, e));
            *phi = x[2] - (x[0] * x[0] + x[1] * x[1]) / (2.0 * self.radius);
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.count {
            let (x, r) = (parents.position(Dependency::new(0, e)), self.radius);
            out.block_mut(e).copy_from_slice(&[-x[0] / r, -x[1] / r, 1.0]);
        }
        Ok(())
    }

    fn geometric_stiffness(&self, _: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.iter().enumerate() {
            out.block_mut(e)[0] = -f / self.radius;
            out.block_mut(e)[4] = -f / self.radius;
        }
    }
}

fn main() -> Result<(), Error> {
    let bowl = AboveBowl {
        radius: 1.0,
        count: 2,
    };
    // The library's own checker: derivatives against finite differences.
    let found = check::mapping(&bowl, &[(Space::Real(3), 2)], &[0.3, -0.2, 0.1, 1.0, 0.5, 0.7], 1)?;
    println!("largest error of any derivative: {:.1e}", found.worst());
    assert!(found.worst() < 1e-8);

    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let beads = model.add_particles("beads", &[[0.1, 0.0, 0.005], [0.0, 0.2, 0.02]])?;
    model.add_mass("mass", beads, Mass::Uniform(1.0))?;
    let above = model.add_mapped("above the bowl", &[beads], bowl)?;
    model.add_constraint("bowl", above, Level::CurvedPosition)?;
    let mut simulation = Simulation::with_options(model, Options::trapezoidal())?;
    // Small swings take 2 pi sqrt(R / g) = 2.006 s.
    while simulation.time() < 2.0 {
        simulation.step(0.002)?;
    }
    println!("after one swing: {:.3?}", simulation.positions(beads));
    assert!((simulation.positions(beads)[0] - 0.1).abs() < 1e-3);
    Ok(())
}
