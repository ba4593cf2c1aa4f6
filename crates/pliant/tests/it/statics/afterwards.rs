//! State of a simulation once it is at rest, and starts from which it comes to rest.

use super::*;
use pliant::contact::Sleeping;
use pliant::continuum::{Rod, RodCurve, RodParts, Section};

/// A bob of 3 kg on a hard rod of 1 m under a fixed particle of 2 kg, with a dashpot along the rod,
/// in motion; gravity is 10 m/s^2.
fn pendulum() -> (Model, [NodeId; 2], [ComponentId; 2]) {
    let mut model = Model::new();
    model.set_gravity([0.0, -10.0, 0.0]).unwrap();
    let top = model.add_particles("top", &[[0.0; 3]]).unwrap();
    model.fix(top, 0, &[true; 3]).unwrap();
    model.add_mass("top mass", top, Mass::Uniform(2.0)).unwrap();
    let (place, velocity) = ([0.6, -0.8, 0.0], [0.8, 0.6, 0.0]);
    let bob = model
        .add_independent("bob", Space::Real(3), &place, &velocity)
        .unwrap();
    model.add_mass("mass", bob, Mass::Uniform(3.0)).unwrap();
    let pair = [(End::element(1, 0), End::element(0, 0))];
    let rod = Distance::new(&pair).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[top, bob], rod).unwrap();
    let hard = model.add_constraint("hard", rod, Level::Position).unwrap();
    let across = Projection::new(&[(0, [1.0, 0.0, 0.0])]);
    let across = model.add_mapped("across", &[bob], across).unwrap();
    let dashpot = model
        .add_force_field("dashpot", across, Damping::new(5.0), Treatment::Compliance)
        .unwrap();
    (model, [top, bob], [hard, dashpot])
}

#[test]
fn a_pendulum_at_rest_reads_as_it_hangs() {
    let (model, [top, bob], [hard, dashpot]) = pendulum();
    let options = Options {
        tuning: Tuning {
            geometry_passes: 1,
            ..Tuning::default()
        },
        ..Options::theta()
    };
    let mut simulation = Simulation::with_options(model, options).unwrap();
    // Dashpots bear something in motion.
    simulation.step(0.01).unwrap();
    assert!(simulation.reaction(dashpot)[0].abs() > 1.0);
    let how = Equilibrium {
        tolerance: 1e-13,
        ..Equilibrium::default()
    };
    let report = simulation.find_equilibrium(&how).unwrap();
    assert_eq!((report.negative_modes, report.free_modes), (Some(0), 0));
    let x = simulation.positions(bob);
    assert!(x[0].abs() < 1e-12 && (x[1] + 1.0).abs() < 1e-12, "{x:?}");
    assert!(report.violation < 1e-12, "{report:?}");
    assert!(simulation.velocities(bob).iter().all(|v| *v == 0.0));
    assert_eq!(simulation.reaction(dashpot), &[0.0]);
    // Forces are missed by 1e-13 of theirs: both weights hang on the top, which is held against
    // them.
    assert!((simulation.reaction(hard)[0] + 30.0).abs() < 1e-10);
    let support = simulation.support_force(top, 0);
    for (found, exact) in support.iter().zip([0.0, 50.0, 0.0]) {
        assert!((found - exact).abs() < 1e-10, "{support:?}");
    }
    assert_eq!(simulation.support_force(bob, 0), &[0.0; 3]);

    // The first step knows the force of the rod: across, `(m + h^2 T/l + h d) v = h F`. And its
    // ledger starts from rest.
    let (h, push) = (0.1, 2.0);
    simulation.set_force(bob, 0, &[push, 0.0, 0.0]).unwrap();
    let before = simulation.problem().energies(simulation.state());
    let ledger = simulation.step(h).unwrap().ledger;
    let exact = h * push / (3.0 + h * h * 30.0 + h * 5.0);
    let v = simulation.velocities(bob)[0];
    assert!((v - exact).abs() < 1e-10, "{v} {exact}");
    let after = simulation.problem().energies(simulation.state());
    // Rounding of energies of some 30 J.
    assert!((ledger.kinetic - after.kinetic).abs() < 1e-13);
    assert!((ledger.potential - (after.potential - before.potential)).abs() < 1e-12);
}

/// The observer sees the forces of each point, and gravity is whole again at the end.
#[test]
fn forces_along_a_path_are_those_of_its_points() {
    let (model, [top, _], [hard, _]) = pendulum();
    let mut simulation = Simulation::new(model).unwrap();
    let how = Continuation {
        loads: Loads {
            gravity: true,
            ..Loads::default()
        },
        start: 0.25,
        end: 0.5,
        ..Continuation::default()
    };
    let path = simulation.follow(&how, |s, p| {
        let (rod, support) = (s.reaction(hard)[0], s.support_force(top, 0)[1]);
        assert!((rod + 30.0 * p.load).abs() < 1e-8 && (support - 50.0 * p.load).abs() < 1e-8);
        assert_eq!(s.problem().gravity(), [0.0, -10.0 * p.load, 0.0]);
        true
    });
    assert_eq!(path.unwrap().end, PathEnd::Reached);
    assert_eq!(simulation.problem().gravity(), [0.0, -10.0, 0.0]);
}

/// Rows that a motion drives are held where it is now.
#[test]
fn driven_rows_are_where_their_motion_is_now() {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.0]).unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let spring = UniformCompliance::from_stiffness(20.0);
    model
        .add_force_field("spring", x, spring, Treatment::Stiffness)
        .unwrap();
    let held = model.add_constraint("held", x, Level::Position).unwrap();
    let motion = PrescribedMotion::ramp(0.0, 0.5);
    model.set_motion(held, Some(motion)).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    for _ in 0..4 {
        simulation.step(0.1).unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let found = (simulation.positions(x)[0], simulation.reaction(held)[0]);
    assert!(
        (found.0 - 0.2).abs() < 1e-9 && (found.1 - 4.0).abs() < 1e-8,
        "{found:?}"
    );
}

/// Bodies that fell asleep away from rest are not taken for fixed.
#[test]
fn sleepers_come_to_rest() {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.5]).unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let spring = UniformCompliance::from_stiffness(1e-3);
    model
        .add_force_field("spring", x, spring, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.options.contacts.sleeping = Some(Sleeping::default());
    for _ in 0..60 {
        simulation.step(0.01).unwrap();
    }
    assert!(simulation.is_asleep(x, 0) && simulation.positions(x)[0] > 0.4);
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(simulation.positions(x)[0].abs() < 1e-9 && !simulation.is_asleep(x, 0));
    assert_eq!(simulation.support_force(x, 0), &[0.0]);
}

/// The unit of length does not matter, nor to the flow where the model is: a cantilever in
/// stiffness form of some other size, of the same forces, comes to rest by as many steps of the
/// flow and hardly other ones of Newton's method, in the same shape.
#[test]
fn the_unit_of_length_does_not_matter() {
    let bend = |c: f64, place: f64, method: StaticMethod| {
        let mut model = Model::new();
        let section = Section {
            area: 0.1 * c.powi(2),
            second_moments: [1e-6, 4e-6].map(|i| i * c.powi(4)),
            torsion_constant: 2e-6 * c.powi(4),
            shear_factors: [1.0; 2],
        };
        let rod = Rod::new(section, 1e6 / c.powi(2), 0.0).with_treatment(Treatment::Stiffness);
        let n = 4;
        let end = [place + c, 0.0, 0.0];
        let curve = RodCurve::straight([place, 0.0, 0.0], end, n).with_normal([0.0, 0.0, 1.0]);
        let RodParts { frames, .. } = rod.add_to(&mut model, "rod", &curve).unwrap();
        model.fix(frames, 0, &[true; 6]).unwrap();
        for i in 1..=n {
            // On its way it would leave the plane, from whatever rounding there is beside it.
            // Frames turn about their own axes, the second of which is the normal of the plane.
            let in_plane = [false, false, true, true, false, true];
            model.fix(frames, i, &in_plane).unwrap();
        }
        let tip = RigidPoints::new(&[(n, [0.0; 3])]);
        let tip = model.add_mapped("tip", &[frames], tip).unwrap();
        load(&mut model, tip, &[0.0, -10.0, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let how = Equilibrium {
            method,
            ..Equilibrium::default()
        };
        let report = simulation.find_equilibrium(&how).unwrap();
        let x = simulation.positions(tip);
        println!("length {c} m at {place} m, {method:?}: {report:?}");
        (
            report.iterations,
            report.flow_steps,
            [(x[0] - place) / c, x[1] / c],
        )
    };
    for method in [StaticMethod::PseudoStatic, StaticMethod::Newton] {
        let judge = bend(1.0, 0.0, method);
        let elsewhere = (method == StaticMethod::PseudoStatic).then_some((1.0, 8.0));
        for (c, place) in [(1.0 / 64.0, 0.0), (64.0, 0.0)].into_iter().chain(elsewhere) {
            let found = bend(c, place, method);
            // Pivots are chosen among forces and torques, so that rounding differs, and with it the
            // last iterations.
            let near = found.0.abs_diff(judge.0) <= judge.0 / 10;
            assert!(
                near && found.1 == judge.1,
                "{c} {place} {method:?}: {found:?} {judge:?}"
            );
            for (a, b) in found.2.iter().zip(judge.2) {
                assert!((a - b).abs() < 1e-9, "{c} {place}: {found:?} {judge:?}");
            }
        }
    }
}

/// A failure leaves positions, velocities and all forces as they were: here one more weight falls
/// for ever.
#[test]
fn a_failure_leaves_forces_as_they_were() {
    let (mut model, [top, _], [hard, _]) = pendulum();
    let free = model.add_particles("free", &[[5.0, 0.0, 0.0]]).unwrap();
    model.add_mass("free mass", free, Mass::Uniform(1.0)).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.step(0.01).unwrap();
    let read = |s: &Simulation| {
        (
            s.state().clone(),
            s.reaction(hard)[0],
            s.support_force(top, 0).to_vec(),
        )
    };
    let before = read(&simulation);
    let how = Equilibrium {
        max_iterations: 50,
        ..Equilibrium::default()
    };
    let error = simulation.find_equilibrium(&how).unwrap_err();
    assert!(matches!(error, Error::NoEquilibrium { .. }), "{error}");
    assert!(before.1.abs() > 1.0 && before == read(&simulation));
}
