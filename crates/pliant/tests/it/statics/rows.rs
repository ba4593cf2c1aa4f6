//! Rows of bounded force at rest: limits, ropes, springs of one sign.

use super::slender::{beam, tip_force};
use super::*;

/// A scalar on a spring, pushed against a stop: free up to the gap, then the stop carries what the
/// spring does not. From either side of the stop, and from the wrong side of it.
#[test]
fn a_stop_carries_the_rest() {
    let (stiffness, gap) = (50.0, 0.1);
    for start in [0.0, -0.1, -0.4, 3.0] {
        for force in [2.0, 4.99, 5.01, 20.0, 1e6] {
            let mut model = Model::new();
            let x = model.add_scalars("x", &[start]).unwrap();
            model
                .add_force_field(
                    "spring",
                    x,
                    UniformCompliance::from_stiffness(stiffness),
                    Treatment::Stiffness,
                )
                .unwrap();
            load(&mut model, x, &[-force]);
            let stop = model.add_constraint("stop", x, Level::Position).unwrap();
            model
                .set_motion(stop, Some(PrescribedMotion::constant(&[-gap])))
                .unwrap();
            model.set_bounds(stop, 0.0, f64::INFINITY).unwrap();
            let mut simulation = Simulation::new(model).unwrap();
            let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let rest = (-force / stiffness).max(-gap);
            let found = (simulation.positions(x)[0], simulation.reaction(stop)[0]);
            assert!((found.0 - rest).abs() < 1e-9, "{start} {force}: {found:?}");
            assert!(
                (found.1 - (force + stiffness * rest)).abs() < 1e-9 * force,
                "{start} {force}: {found:?}"
            );
            assert!(report.is_stable() && report.iterations < 10, "{report:?}");
        }
    }
}

/// A stone that falls onto a floor is held by it alone: on the way nothing holds it.
#[test]
fn a_floor_stops_what_nothing_holds() {
    let mut model = Model::new();
    model.set_gravity([0.0, -10.0, 0.0]).unwrap();
    let stone = model.add_particles("stone", &[[0.0, 1.0, 0.0]]).unwrap();
    model.fix(stone, 0, &[true, false, true]).unwrap();
    model.add_mass("m", stone, Mass::Uniform(2.0)).unwrap();
    let height = model
        .add_mapped("height", &[stone], Projection::new(&[(0, [0.0, 1.0, 0.0])]))
        .unwrap();
    let floor = model.add_constraint("floor", height, Level::Position).unwrap();
    model.set_bounds(floor, 0.0, f64::INFINITY).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(simulation.positions(stone)[1].abs() < 1e-12, "{report:?}");
    assert!((simulation.reaction(floor)[0] - 20.0).abs() < 1e-9);
}

/// A cantilever whose tip is pushed beyond a stop: `R = P - 3 E I g/L^3`, of a rod of second order;
/// without the stop `P L^3/(3 E I)`.
#[test]
fn a_beam_rests_on_a_stop() {
    let (gap, force) = (0.01, 0.09);
    let reaction = |n: usize| {
        let (mut model, tip) = beam(n);
        let height = model
            .add_mapped("height", &[tip], Projection::new(&[(0, [0.0, 1.0, 0.0])]))
            .unwrap();
        let stop = model.add_constraint("stop", height, Level::Position).unwrap();
        model
            .set_motion(stop, Some(PrescribedMotion::constant(&[-gap])))
            .unwrap();
        model.set_bounds(stop, 0.0, f64::INFINITY).unwrap();
        tip_force(&mut model, tip, [0.0, -force, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        simulation.reaction(stop)[0]
    };
    // E I = 1 and L = 1; a gap of a hundredth of the length bends it by 1e-4 less than in
    // proportion.
    let exact = force - 3.0 * gap;
    let errors = [5, 10].map(|n| (reaction(n) / exact - 1.0).abs());
    println!("beam on a stop: relative errors {errors:?}");
    assert!(
        (errors[0] / errors[1]).log2() > 1.7 && errors[1] < 5e-3,
        "{errors:?}"
    );
}

/// Two ropes hold a weight at an angle: the third, slack one carries nothing; springs that only
/// pull alike.
#[test]
fn slack_ropes_carry_nothing() {
    let mut model = Model::new();
    model.set_gravity([0.0, -10.0, 0.0]).unwrap();
    let weight = model.add_particles("weight", &[[0.1, -0.2, 0.0]]).unwrap();
    model.add_mass("m", weight, Mass::Uniform(3.0)).unwrap();
    let anchors = [(0, [-0.6, 0.0, 0.0]), (0, [0.6, 0.0, 0.0]), (0, [0.0, -5.0, 0.0])];
    let lengths = Distance::to_points(&anchors).with_rest_lengths(&[1.0, 1.0, 7.0]);
    let lengths = model.add_mapped("lengths", &[weight], lengths).unwrap();
    let ropes = model.add_constraint("ropes", lengths, Level::Position).unwrap();
    // A rope pulls: its force on the length is negative.
    model.set_bounds(ropes, f64::NEG_INFINITY, 0.0).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let (x, pull) = (simulation.positions(weight).to_vec(), simulation.reaction(ropes));
    // The sides of the triangle are 0.6, 0.8 and 1: each rope carries mg/2 over 0.8.
    assert!(x[0].abs() < 1e-9 && (x[1] + 0.8).abs() < 1e-9, "{x:?} {report:?}");
    for (found, exact) in pull.iter().zip([-18.75, -18.75, 0.0]) {
        assert!((found - exact).abs() < 1e-8, "{pull:?}");
    }
}

/// Two coordinates on one full compliance that yields at 2 N: where the first row is at its bound
/// the second feels its force through the compliance, `x_2 = -(c_12 lambda_1 + c_22 lambda_2)`.
#[test]
fn a_row_at_its_bound_is_felt_through_the_compliance() {
    let (stiffness, c) = (10.0, [[0.2, 0.05], [0.05, 0.1]]);
    for method in [StaticMethod::Newton, StaticMethod::PseudoStatic] {
        let mut model = Model::new();
        let x = model
            .add_independent("x", Space::Real(2), &[0.0; 2], &[0.0; 2])
            .unwrap();
        let law = FullCompliance::from_compliance(&c.concat());
        let both = model
            .add_force_field("both", x, law, Treatment::Compliance)
            .unwrap();
        model.set_bounds(both, -2.0, 2.0).unwrap();
        let aside = DiagonalCompliance::new(&[1.0 / stiffness; 2]);
        model
            .add_force_field("aside", x, aside, Treatment::Stiffness)
            .unwrap();
        load(&mut model, x, &[8.0, 1.5]);
        let mut simulation = Simulation::new(model).unwrap();
        let how = Equilibrium {
            method,
            ..Equilibrium::default()
        };
        simulation.find_equilibrium(&how).unwrap();
        // `10 x_1 = 8 - 2`; `10 x_2 = 1.5 + lambda_2` with `c_22 lambda_2 + x_2 = 2 c_12`.
        let second = (c[0][1] * 2.0 - 0.15) / (0.1 + c[1][1]);
        let exact = [0.6, 0.15 + 0.1 * second];
        for (found, exact) in simulation.positions(x).iter().zip(exact) {
            assert!((found - exact).abs() < 1e-9, "{method:?} {found} {exact}");
        }
        for (found, exact) in simulation.reaction(both).iter().zip([-2.0, second]) {
            assert!((found - exact).abs() < 1e-8, "{method:?} {found} {exact}");
        }
    }
}
