//! Velocities of a start that hard rows do not let be are projected on the rows, once.

use pliant::prelude::*;

/// Weights and methods with rows of positions.
fn methods() -> [Options; 4] {
    let with = |integrator, alpha, beta| Options {
        integrator,
        alpha,
        beta,
        ..Options::default()
    };
    [
        with(Integrator::Theta, 1.0, 1.0),
        with(Integrator::Theta, 0.5, 0.5),
        with(Integrator::Nonlinear, 1.0, 1.0),
        with(Integrator::Nonlinear, 0.5, 0.5),
    ]
}

fn rod(m: &mut Model, p: NodeId, pair: Distance) -> ComponentId {
    let d = m.add_mapped("d", &[p], pair).unwrap();
    m.add_constraint("rod", d, Level::Position).unwrap()
}

/// A particle of 2 kg on a rod of 1 m with 3 m/s along it and 4 m/s across: the rod takes
/// `2 * 3^2 / 2` J, and the particle goes round with 4 m/s. At weights of 1/2 the 3 m/s would be
/// turned round in every step.
#[test]
fn a_rod_takes_the_velocity_along_it() {
    for options in methods() {
        let h = 1e-3;
        let name = format!("{} {}", options.integrator.name(), options.beta);
        let mut m = Model::new();
        let p = m
            .add_independent("p", Space::Real(3), &[1.0, 0.0, 0.0], &[3.0, 4.0, 0.0])
            .unwrap();
        m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        rod(
            &mut m,
            p,
            Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]),
        );
        let mut s = Simulation::with_options(m, options).unwrap();
        for k in 0..100 {
            let report = s.step(h).unwrap();
            let taken = if k == 0 { 9.0 } else { 0.0 };
            assert!((report.solve.projected - taken).abs() < 1e-12, "{name} {k}");
            assert!((report.ledger.impacts + taken).abs() < 1e-12, "{name} {k}");
            // Beside that the motion is that of a pendulum without weight, within the order of the
            // method.
            assert!(
                (report.energies.kinetic - 16.0).abs() < 32.0 * 4.0 * h,
                "{name} {k}: {report:?}"
            );
            let (x, v) = (s.positions(p), s.velocities(p));
            let along = (x[0] * v[0] + x[1] * v[1]).abs();
            assert!(along < 32.0 * h, "{name} {k}: {along}");
        }
    }
}

/// A held particle goes at 2 m/s along the rod to one of 3 kg at rest, which it pulls along: the
/// rod takes `3 * 2^2/2` J as an impact does, and what holds the first one brings in twice that.
#[test]
fn what_moves_the_held_is_no_impact() {
    for options in methods().into_iter().chain([Options::default()]) {
        let name = format!("{} {}", options.integrator.name(), options.beta);
        let mut m = Model::new();
        let positions = [0.0, 0.0, 0.0, 2.0, 0.0, 0.0];
        let p = m
            .add_independent("p", Space::Real(3), &positions, &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            .unwrap();
        m.add_mass("m", p, Mass::PerElement(vec![1.0, 3.0])).unwrap();
        m.fix(p, 0, &[true; 3]).unwrap();
        rod(&mut m, p, Distance::between(&[(0, 1)]).with_rest_lengths(&[2.0]));
        let mut s = Simulation::with_options(m, options).unwrap();
        let report = s.step(0.01).unwrap();
        assert!((report.solve.projected - 6.0).abs() < 1e-12, "{name}");
        let ledger = report.ledger;
        assert!((ledger.impacts + 6.0).abs() < 1e-12, "{name}: {ledger:?}");
        assert!((ledger.motion - 12.0).abs() < 1e-11, "{name}: {ledger:?}");
        assert!(ledger.numerical.abs() < 1e-11, "{name}: {ledger:?}");
    }
}

/// Two particles of 1 and 3 kg on a rod between them, of which one has 1 m/s along it: both go on
/// with a quarter of that, and `1 * 3/4 / 2` J are lost. Set velocities are projected again.
#[test]
fn bodies_on_a_rod_go_on_together() {
    for options in methods() {
        let mut m = Model::new();
        let positions = [0.0, 0.0, 0.0, 2.0, 0.0, 0.0];
        let p = m
            .add_independent("p", Space::Real(3), &positions, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            .unwrap();
        m.add_mass("m", p, Mass::PerElement(vec![1.0, 3.0])).unwrap();
        rod(&mut m, p, Distance::between(&[(0, 1)]).with_rest_lengths(&[2.0]));
        let mut s = Simulation::with_options(m, options).unwrap();
        for round in 0..2 {
            let report = s.step(0.01).unwrap();
            assert!((report.solve.projected - 0.375).abs() < 1e-12, "{round}");
            assert!((report.ledger.impacts + 0.375).abs() < 1e-12 && report.ledger.numerical.abs() < 1e-12);
            let v = s.velocities(p).to_vec();
            assert!(
                (v[0] - 0.25).abs() < 1e-12 && (v[3] - 0.25).abs() < 1e-12,
                "{v:?}"
            );
            assert_eq!(s.step(0.01).unwrap().solve.projected, 0.0);
            let mut state = s.state().clone();
            state.velocities[..6].copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            s.set_state(&state).unwrap();
        }
    }
}

/// A step that fails after velocities were projected gives them back.
#[test]
fn a_step_that_fails_gives_the_velocities_back() {
    let mut m = Model::new();
    let p = m
        .add_independent("p", Space::Real(3), &[1.0, 0.0, 0.0], &[3.0, 4.0, 0.0])
        .unwrap();
    m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
    rod(
        &mut m,
        p,
        Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]),
    );
    // A force that no number holds ends the step.
    let force = ConstantForce::new(&[f64::MAX, 0.0, 0.0]);
    m.add_force_field("force", p, force, Treatment::Stiffness)
        .unwrap();
    let mut s = Simulation::new(m).unwrap();
    let before = s.checkpoint();
    assert!(s.step(1e200).is_err());
    assert_eq!(s.checkpoint(), before);
}

/// Velocities that agree stay to the bit, and rows that are driven or hold one side take nothing
/// before the step.
#[test]
fn velocities_that_rows_let_be_stay() {
    let taken = |velocity: [f64; 3], change: fn(&mut Model, ComponentId)| {
        let mut m = Model::new();
        let p = m
            .add_independent("p", Space::Real(3), &[1.0, 0.0, 0.0], &velocity)
            .unwrap();
        m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let row = rod(
            &mut m,
            p,
            Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]),
        );
        change(&mut m, row);
        let mut s = Simulation::new(m).unwrap();
        s.step(1e-3).unwrap().solve.projected
    };
    assert_eq!(taken([0.0, 4.0, 0.0], |_, _| {}), 0.0);
    let driven = |m: &mut Model, row| m.set_motion(row, Some(PrescribedMotion::ramp(0.0, 0.5))).unwrap();
    assert_eq!(taken([0.0; 3], driven), 0.0);
    let rope = |m: &mut Model, row| m.set_bounds(row, f64::NEG_INFINITY, 0.0).unwrap();
    assert_eq!(taken([1.0, 0.0, 0.0], rope), 0.0);
}
