//! Errors name their cause, and nothing else changes.

use pliant::prelude::*;

fn bead(level: Level) -> (Model, NodeId) {
    let mut model = Model::new();
    let bead = model.add_particles("bead", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bead, Mass::Uniform(1.0)).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bead], rod).unwrap();
    model.add_constraint("short rod", rod, level).unwrap();
    (model, bead)
}

#[test]
fn a_contradictory_joint_is_named() {
    let (mut model, bead) = bead(Level::Position);
    let long = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.1]);
    let long = model.add_mapped("long", &[bead], long).unwrap();
    model.add_constraint("long rod", long, Level::Position).unwrap();
    let mut s = Simulation::new(model).unwrap();
    let before = s.checkpoint();
    let error = s.step(0.01).unwrap_err();
    let Error::Incompatible {
        constraint,
        violation,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(constraint.contains("rod`"), "{constraint}");
    // phi/h = 0 and -0.1/0.01: the compromise misses both by 5 m/s.
    assert!((violation - 5.0).abs() < 1e-9, "{violation}");
    let after = s.checkpoint();
    assert_eq!(
        (after.time, after.state, after.multipliers),
        (before.time, before.state, before.multipliers)
    );
    s.options.accept_failed_steps = true;
    let report = s.step(0.01).unwrap();
    assert!(matches!(report.status, Status::Incompatible { .. }) && report.solve.redundant_rows == 1);
    assert!((s.positions(bead)[0] - 1.05).abs() < 1e-12);
}

#[test]
fn a_coordinate_without_mass_is_named() {
    let mut model = Model::new();
    let p = model
        .add_particles("cloud", &[[0.0; 3], [1.0, 0.0, 0.0]])
        .unwrap();
    let one = model
        .add_mapped("one", &[p], Subset::of_elements(Space::Real(3), &[0]))
        .unwrap();
    model.add_mass("m", one, Mass::Uniform(1.0)).unwrap();
    let error = Simulation::new(model).unwrap().step(0.01).unwrap_err();
    assert!(error.to_string().contains("`cloud`, element 1, x"), "{error}");
}

#[test]
fn numbers_out_of_range() {
    let (model, _) = bead(Level::Position);
    let mut s = Simulation::new(model).unwrap();
    for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            s.step(h),
            Err(Error::OutOfRange {
                what: "the time step",
                ..
            })
        ));
    }
    for alpha in [0.0, 1.1, f64::NAN] {
        s.options.alpha = alpha;
        assert!(matches!(
            s.step(0.1),
            Err(Error::OutOfRange { what: "alpha", .. })
        ));
    }
    assert_eq!(s.time(), 0.0);
}

#[test]
fn an_undefined_direction_stops_the_step_and_leaves_the_state() {
    // Straight through the centre: the distance vanishes exactly after ten steps.
    let mut model = Model::new();
    let bead = model
        .add_independent("bead", Space::Real(3), &[1.0, 0.0, 0.0], &[-1.0, 0.0, 0.0])
        .unwrap();
    model.add_mass("m", bead, Mass::Uniform(1.0)).unwrap();
    model
        .add_mapped("ruler", &[bead], Distance::to_points(&[(0, [0.5, 0.0, 0.0])]))
        .unwrap();
    let mut s = Simulation::new(model).unwrap();
    s.step(0.25).unwrap();
    let before = s.checkpoint();
    let error = s.step(0.25).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`ruler`, element 0, is not defined here"),
        "{error}"
    );
    assert_eq!(s.checkpoint(), before);
    s.step(0.1).unwrap();
}

#[test]
fn holding_what_is_not_there() {
    let (model, bead) = bead(Level::Position);
    let mut s = Simulation::new(model).unwrap();
    assert!(s.hold(bead, 1, &[true; 3], &[0.0; 3]).is_err());
    assert!(s.hold(bead, 0, &[true; 3], &[f64::NAN; 3]).is_err());
    assert!(s.hold(bead, 0, &[true; 2], &[0.0; 2]).is_err());
    assert!(s.release(bead, 7, &[true; 3]).is_err());
    let mut other = s.checkpoint();
    other.multipliers.push(0.0);
    assert!(s.restore(&other).is_err());
}

#[test]
fn a_tolerance_that_cannot_be_met_is_an_error() {
    let (model, _) = bead(Level::Position);
    let mut s = Simulation::new(model).unwrap();
    s.step(0.01).unwrap();
    s.options.tuning.solver.tolerance = -1.0;
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::NotConverged { .. }), "{error}");
}
