//! Very stiff springs as stiffness and as compliance: how many digits are left.
//!
//! Two particles of 1 kg and 3 kg hang one below the other on springs of 1 m and settle; the
//! tension of the upper spring is 4 g exactly, whatever the spring. The springs hang from a mast of
//! 500 m, so that coordinates carry a rounding of 1e-13 m.

use pliant::prelude::*;

/// Height of the mast in metres.
const MAST: f64 = 500.0;

/// Relative error of the upper spring's tension after 400 steps of 0.01 s.
///
/// # Errors
/// The error of the simulation.
pub fn tension_error(compliance: f64, treatment: Treatment) -> Result<f64, Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let p = model.add_particles("p", &[[0.3, MAST - 1.0, 0.0], [0.3, MAST - 2.0, 0.0]])?;
    model.add_mass("m", p, Mass::PerElement(vec![1.0, 3.0]))?;
    let pairs = [
        (End::element(0, 0), End::Point([0.3, MAST, 0.0])),
        (End::element(0, 1), End::element(0, 0)),
    ];
    let lengths = model.add_mapped("lengths", &[p], Distance::new(&pairs).with_rest_lengths(&[1.0]))?;
    let id = model.add_force_field("springs", lengths, UniformCompliance::new(compliance), treatment)?;
    let mut s = Simulation::with_options(model, Options::theta())?;
    for _ in 0..400 {
        s.step(0.01)?;
    }
    let tension = match treatment {
        Treatment::Stiffness => s.positions(lengths)[0] / compliance,
        _ => -s.force(id)[0],
    };
    Ok((tension / (4.0 * 9.81) - 1.0).abs())
}
