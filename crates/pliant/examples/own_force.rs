//! A force field of one's own: the attraction and repulsion of Lennard and Jones, on the distances
//! of three atoms.
//!
//! `cargo run --release -p pliant --example own_force`

use pliant::prelude::*;

/// `V = 4 depth ((size/r)^12 - (size/r)^6)` (J) of every distance `r` (m).
#[derive(Clone, Debug)]
struct LennardJones {
    depth: f64,
    size: f64,
}

/// The sixth power of `x` and its square.
fn powers(x: f64) -> (f64, f64) {
    (x.powi(6), x.powi(12))
}

impl ForceField for LennardJones {
    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let wells = x.iter().map(|r| powers(self.size / r));
        wells.map(|(p, q)| 4.0 * self.depth * (q - p)).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        for (f, r) in f.iter_mut().zip(x) {
            let (p, q) = powers(self.size / r);
            *f += 24.0 * self.depth * (2.0 * q - p) / r;
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        for (e, r) in x.iter().enumerate() {
            let (p, q) = powers(self.size / r);
            out.block_mut(e)[0] = 24.0 * self.depth * (26.0 * q - 7.0 * p) / (r * r);
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        false
    }
}

fn main() -> Result<(), Error> {
    let law = LennardJones {
        depth: 1.0,
        size: 1.0,
    };
    // The library's own checker: energy, force and stiffness against each other.
    let found = check::force_field(&law, Space::Real(1), &[1.05, 1.3, 2.0], &[0.0; 3])?;
    println!("largest error of any derivative: {:.1e}", found.worst());
    assert!(found.worst() < 1e-6);

    let mut model = Model::new();
    let atoms = model.add_particles("atoms", &[[0.0; 3], [1.5, 0.0, 0.0], [0.5, 1.2, 0.0]])?;
    model.add_mass("mass", atoms, Mass::Uniform(1.0))?;
    let pairs = model.add_mapped("pairs", &[atoms], Distance::between(&[(0, 1), (1, 2), (0, 2)]))?;
    model.add_force_field("attraction", pairs, law, Treatment::Stiffness)?;
    let mut simulation = Simulation::new(model)?;
    simulation.settle(Settle::default())?;
    // At rest each pair is at the bottom of its well, 2^(1/6) sizes apart.
    println!("distances at rest: {:.9?}", simulation.positions(pairs));
    for r in simulation.positions(pairs) {
        assert!((r - 2f64.powf(1.0 / 6.0)).abs() < 1e-9);
    }
    Ok(())
}
