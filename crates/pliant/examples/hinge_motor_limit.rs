//! A door on a hinge with a motor of limited torque, and a stop.
//!
//! `I w' = M` until it has the speed of the motor; then it turns evenly up to the stop, where it
//! stays, while the motor goes on to push with `M` and the stop holds against it.
//!
//! `cargo run --release -p pliant --example hinge_motor_limit`

use pliant::prelude::*;

fn main() -> Result<(), Error> {
    // A plate of 12 kg, 1 m wide, hinged at its edge about z: I = m / 12 + m / 4 = 4 kg m^2.
    let mut model = Model::new();
    let door = model.add_rigid_bodies("door", &[Pose::at([0.5, 0.0, 0.0])])?;
    let mass = RigidMass::principal(12.0, [4.0, 5.0, 1.0]);
    model.add_mass("mass", door, Mass::Rigid(vec![mass]))?;
    let (inertia, torque, speed, stop) = (1.0 + 12.0 * 0.25, 2.0, 0.5, 1.2);
    let joint = Joint::hinge(Side::World, Side::Body(door, 0))
        .with_velocity_motor(0, PrescribedMotion::ramp(0.0, speed), torque)
        .with_limits(0, -0.1, stop);
    let hinge = model.add_joint("hinge", &joint)?;
    let angle = hinge.coordinates[0];

    let mut simulation = Simulation::new(model)?;
    let h = 0.01;
    let reached = speed * inertia / torque;
    let arrival = reached + (stop - 0.5 * speed * reached) / speed;
    for step in 1..=400 {
        simulation.step(h)?;
        let t = h * f64::from(step);
        let (a, w) = (simulation.positions(angle)[0], simulation.velocities(angle)[0]);
        let push = simulation.reaction(hinge.attached[0])[0];
        if step % 50 == 0 {
            println!("{t:.2} s: {a:.5} rad, {w:.5} rad/s, motor {push:.4} N m");
        }
        // The method is of second order: a hundredth of h^2 at these speeds.
        assert!(a < stop + 1e-9, "not beyond the stop");
        if t < reached - 0.5 * h {
            assert!((a - 0.5 * torque / inertia * t * t).abs() < 0.01 * h * h);
            assert!((push - torque).abs() < 1e-9);
        } else if t > reached + 1.5 * h && t < arrival - 0.5 * h {
            assert!((w - speed).abs() < 1e-9 && push.abs() < 1e-8);
            assert!((a - (stop - speed * (arrival - t))).abs() < 0.01 * h * h);
        } else if t > arrival + 0.5 * h {
            assert!((a - stop).abs() < 1e-9 && w.abs() < 1e-9);
            assert!((push - torque).abs() < 1e-9);
        }
    }
    Ok(())
}
