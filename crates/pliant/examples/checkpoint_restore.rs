//! Go back to an earlier moment, and try another way from there.
//!
//! A double pendulum is chaotic: what differs by one rounding differs by everything later. From a
//! checkpoint it goes on to the same bits; with another force it does not.
//!
//! `cargo run --release -p pliant --example checkpoint_restore`

use pliant::prelude::*;

fn main() -> Result<(), Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let bobs = model.add_particles("bobs", &[[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]])?;
    model.add_mass("mass", bobs, Mass::Uniform(1.0))?;
    let upper = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let lower = Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0]);
    for (name, distance) in [("upper", upper), ("lower", lower)] {
        let rod = model.add_mapped(name, &[bobs], distance)?;
        model.add_constraint(&format!("{name} is hard"), rod, Level::Position)?;
    }
    let mut simulation = Simulation::new(model)?;
    let run = |simulation: &mut Simulation, steps: usize| -> Result<Vec<f64>, Error> {
        for _ in 0..steps {
            simulation.step(0.005)?;
        }
        Ok(simulation.positions(bobs).to_vec())
    };
    run(&mut simulation, 200)?;
    let before = simulation.checkpoint();
    let energy = |s: &Simulation| s.problem().energies(s.state()).total();
    let start = energy(&simulation);

    let first = run(&mut simulation, 400)?;
    let drift = energy(&simulation) - start;
    simulation.restore(&before)?;
    assert!((simulation.time() - 1.0).abs() < 1e-12);
    let again = run(&mut simulation, 400)?;
    println!("at {:.3} s: {first:.9?}", simulation.time());
    assert!(first == again, "the same to the last bit");

    simulation.restore(&before)?;
    simulation.set_force(bobs, 1, &[1e-6, 0.0, 0.0])?;
    let pushed = run(&mut simulation, 400)?;
    let apart = first
        .iter()
        .zip(&pushed)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    println!("a force of a millionth of a newton: {apart:.1e} m apart");
    assert!(apart > 1e-9);
    // It starts with the 9.81 J of the upper bob; the method is of second order in the step.
    println!("energy {start:.6} J, changed by {drift:.1e} J in two seconds");
    assert!((start - 9.81).abs() < 0.1 && drift.abs() < 0.5);
    Ok(())
}
