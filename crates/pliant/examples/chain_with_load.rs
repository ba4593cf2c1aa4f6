//! A chain of rigid links under its own weight and a load at its end, at rest.
//!
//! Each link has the direction of the force that it carries, load and weight below it:
//! `(F, -k m g)` for the link above the last `k` of the masses.
//!
//! `cargo run --release -p pliant --example chain_with_load`

use pliant::prelude::*;

fn main() -> Result<(), Error> {
    let (n, m, g, length, load) = (20, 0.1, 9.81, 0.05, 8.0);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -g])?;
    let hanging: Vec<[f64; 3]> = (1..=n).map(|k| [0.0, 0.0, -length * f64::from(k)]).collect();
    let beads = model.add_particles("beads", &hanging)?;
    model.add_mass("mass", beads, Mass::Uniform(m))?;
    let first = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[length]);
    let pairs: Vec<(usize, usize)> = (1..n as usize).map(|k| (k - 1, k)).collect();
    let others = Distance::between(&pairs).with_rest_lengths(&vec![length; pairs.len()]);
    let hook = model.add_mapped("hook", &[beads], first)?;
    let links = model.add_mapped("links", &[beads], others)?;
    let support = model.add_constraint("hook is hard", hook, Level::Position)?;
    model.add_constraint("links are hard", links, Level::Position)?;

    let mut simulation = Simulation::new(model)?;
    simulation.set_force(beads, n as usize - 1, &[load, 0.0, 0.0])?;
    let report = simulation.find_equilibrium(&Equilibrium::default())?;
    println!(
        "residual {:.1e} after {} iterations",
        report.residual, report.iterations
    );

    let mut place = [0.0; 2];
    for (k, x) in simulation.positions(beads).as_chunks::<3>().0.iter().enumerate() {
        let weight = f64::from(n - k as i32) * m * g;
        let force = load.hypot(weight);
        place[0] += length * load / force;
        place[1] -= length * weight / force;
        assert!(
            (x[0] - place[0]).abs() < 1e-9 && (x[2] - place[1]).abs() < 1e-9,
            "bead {k}"
        );
    }
    let carried = load.hypot(f64::from(n) * m * g);
    println!("the end is at {place:.6?} m, the hook carries {carried:.6} N");
    // A force along the distance is positive where it pushes.
    assert!((simulation.reaction(support)[0] + carried).abs() < 1e-7);
    Ok(())
}
