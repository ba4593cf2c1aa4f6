//! A first simulation: a pendulum that swings through its lowest point.
//!
//! Let go at the angle `a`, it is there after a quarter of its period,
//! `T = 2 pi sqrt(L / g) / agm(1, cos(a / 2))` (Gauss), with the speed `sqrt(2 g L (1 - cos a))`.
//!
//! `cargo run --release -p pliant --example first_pendulum`

use pliant::prelude::*;
use std::f64::consts::PI;

fn main() -> Result<(), Error> {
    let (g, length, angle) = (9.81, 1.0, 2.0f64);
    let mut model = Model::new();
    model.set_gravity([0.0, -g, 0.0])?;
    let bob = model.add_particles("bob", &[[length * angle.sin(), -length * angle.cos(), 0.0]])?;
    model.add_mass("bob mass", bob, Mass::Uniform(2.0))?;
    // The distance to the origin, less the length: held at zero by one multiplier.
    let distance = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[length]);
    let rod = model.add_mapped("rod", &[bob], distance)?;
    let tension = model.add_constraint("rod is hard", rod, Level::Position)?;

    let (mut a, mut b) = (1.0, (0.5 * angle).cos());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    let quarter = 0.5 * PI * (length / g).sqrt() / a;
    let steps = 500;
    let mut simulation = Simulation::new(model)?;
    for _ in 0..steps {
        simulation.step(quarter / f64::from(steps))?;
    }
    let (x, v) = (simulation.positions(bob), simulation.velocities(bob));
    let speed = (2.0 * g * length * (1.0 - angle.cos())).sqrt();
    let pull = 2.0 * (g + speed * speed / length);
    println!("at {quarter:.6} s: x = {x:.6?} m, v = {v:.6?} m/s, expected -{speed:.6} m/s");
    println!(
        "the rod pulls with {:.4} N, expected {pull:.4} N",
        -simulation.reaction(tension)[0]
    );
    // The method is of second order: (1/500)^2 of the numbers of size one.
    assert!(x[0].abs() < 1e-4 && (x[1] + length).abs() < 1e-6);
    assert!((v[0] + speed).abs() < 1e-4);
    assert!((simulation.reaction(tension)[0] + pull).abs() < 0.01 * pull);
    Ok(())
}
