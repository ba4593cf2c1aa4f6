//! Very stiff springs: the compliance form keeps its digits, the stiffness form does not (docs/benchmarks.md).

use pliant::prelude::*;

/// Tension of the upper of two springs under two weights after settling, relative error, and the linear solver's residual.
fn hanging(compliance: f64, treatment: Treatment) -> Result<f64, Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let p = model.add_particles("p", &[[0.3, -1.0, 0.0], [0.3, -2.0, 0.0]])?;
    model.add_mass("m", p, Mass::PerElement(vec![1.0, 3.0]))?;
    let pairs = [
        (End::element(0, 0), End::Point([0.3, 0.0, 0.0])),
        (End::element(0, 1), End::element(0, 0)),
    ];
    let lengths = model.add_mapped("lengths", &[p], Distance::new(&pairs).with_rest_lengths(&[1.0]))?;
    let id = model.add_force_field("springs", lengths, UniformCompliance::new(compliance), treatment)?;
    let mut s = Simulation::new(model)?;
    for _ in 0..400 {
        s.step(0.01)?;
    }
    let tension = match treatment {
        Treatment::Compliance => -s.reaction(id)[0],
        Treatment::Stiffness => s.positions(lengths)[0] / compliance,
    };
    Ok((tension / (4.0 * 9.81) - 1.0).abs())
}

#[test]
fn compliance_is_accurate_where_stiffness_has_lost_all_digits() {
    for c in [1e-4, 1e-6, 1e-9, 1e-12, 1e-15, 0.0] {
        let compliance = hanging(c, Treatment::Compliance).unwrap();
        assert!(compliance < 1e-9, "c = {c:e}: {compliance:e}");
    }
    // Extension 4e-14 m of a length of 1 m, read off coordinates with 1e-16: less than three digits.
    let stiffness = hanging(1e-15, Treatment::Stiffness);
    assert!(stiffness.map_or(true, |e| e > 1e-4));
    assert!(hanging(1e-4, Treatment::Stiffness).unwrap() < 1e-9);
}
