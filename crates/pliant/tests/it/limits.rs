//! Limits and restarts: nothing may jump where the problem does not.

use pliant::prelude::*;

fn pendulum(compliance: f64, options: Options) -> (Simulation, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bob], length).unwrap();
    model
        .add_force_field(
            "rod",
            rod,
            UniformCompliance::new(compliance),
            Treatment::Compliance,
        )
        .unwrap();
    (Simulation::with_options(model, options).unwrap(), bob)
}

/// The angle after half a second, as the rod softens from hard: no compliance may freeze the
/// motion.
#[test]
fn a_pendulum_swings_the_same_for_every_small_compliance() {
    let fall = |c: f64| {
        let (mut s, bob) = pendulum(c, Options::theta());
        for _ in 0..50 {
            s.step(0.01).unwrap();
        }
        let x = s.positions(bob);
        (-x[1]).atan2(x[0]).to_degrees()
    };
    let hard = fall(0.0);
    for c in [1e-18, 1e-12, 1e-9, 9e-9, 1.1e-8, 1e-7, 1e-6, 1e-5, 1e-4] {
        let soft = fall(c);
        // The static stretch is below 3e-3 m; what is left is the choice of the lagged multiplier
        // at h = 0.01.
        assert!(
            (soft - hard).abs() < 4.0,
            "C = {c:e}: {soft} against {hard} degrees"
        );
    }
}

/// Setting the state that is there already changes the next step by what forgotten multipliers
/// cost, not by 2 m/s.
#[test]
fn setting_the_present_state_is_harmless() {
    for c in [0.0, 1e-16, 1e-9, 1e-8] {
        let (mut s, bob) = pendulum(c, Options::theta());
        for _ in 0..50 {
            s.step(0.01).unwrap();
        }
        let (mut t, _) = pendulum(c, Options::theta());
        t.restore(&s.checkpoint()).unwrap();
        t.set_state(&s.state().clone()).unwrap();
        s.step(0.01).unwrap();
        t.step(0.01).unwrap();
        let apart = s
            .velocities(bob)
            .iter()
            .zip(t.velocities(bob))
            .map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 0.02, "C = {c:e}");
    }
}

#[test]
fn states_are_checked_and_normalised() {
    let mut model = Model::new();
    let b = model.add_rigid_bodies("b", &[Pose::default()]).unwrap();
    model
        .add_mass("m", b, Mass::Rigid(vec![RigidMass::sphere(1.0, 1.0)]))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    let mut state = s.state().clone();
    state.positions[3] = 2.0;
    s.set_state(&state).unwrap();
    assert_eq!(s.pose(b, 0).unwrap().rotation, [1.0, 0.0, 0.0, 0.0]);
    let before = s.checkpoint();
    for bad in [0.0, f64::NAN] {
        let mut state = s.state().clone();
        state.positions[3] = bad;
        assert!(s.set_state(&state).is_err());
        let mut checkpoint = before.clone();
        checkpoint.state = state;
        assert!(s.restore(&checkpoint).is_err());
    }
    let mut checkpoint = before.clone();
    checkpoint.time = f64::NAN;
    assert!(s.restore(&checkpoint).is_err());
    assert_eq!(s.checkpoint(), before);
}

/// A held coordinate that changes its velocity accelerates the masses that are mapped from it.
#[test]
fn held_coordinates_carry_mapped_masses() {
    let mut model = Model::new();
    let q = model.add_scalars("q", &[0.0, 0.0]).unwrap();
    let entry = |e| AffineEntry {
        element: 0,
        coordinate: 0,
        from: Dependency::new(0, e),
        from_coordinate: 0,
        value: 1.0,
    };
    let sum = model
        .add_mapped("sum", &[q], Affine::new(1, &[0.0], &[entry(0), entry(1)]))
        .unwrap();
    model.add_mass("m", sum, Mass::Uniform(1.0)).unwrap();
    let one = model
        .add_mapped("one", &[q], Subset::of_elements(Space::Real(1), &[0]))
        .unwrap();
    model.add_mass("motor", one, Mass::Uniform(1.0)).unwrap();
    let mut s = Simulation::with_options(model, Options::theta()).unwrap();
    for k in 0..100 {
        s.hold(q, 0, &[true], &[(0.03 * f64::from(k)).sin()]).unwrap();
        s.step(0.01).unwrap();
        // No force acts on the sum: it stays.
        assert!(s.positions(sum)[0].abs() < 1e-13);
    }
    assert!(s.positions(q)[0] > 0.1);
}

/// A held coordinate that jumps in velocity takes along what is rigidly or softly tied to it,
/// within the same step.
#[test]
fn held_coordinates_drive_constraints() {
    for compliance in [0.0, 0.02] {
        let mut model = Model::new();
        let q = model.add_scalars("q", &[0.0, 0.0]).unwrap();
        model.add_mass("m", q, Mass::Uniform(1.0)).unwrap();
        let pair = [(End::element(0, 1), End::element(0, 0))];
        let gap = model
            .add_mapped("gap", &[q], Difference::new(&pair).in_dimension(1))
            .unwrap();
        model
            .add_force_field(
                "tie",
                gap,
                UniformCompliance::new(compliance),
                Treatment::Compliance,
            )
            .unwrap();
        let mut s = Simulation::with_options(model, Options::theta()).unwrap();
        s.hold(q, 0, &[true], &[2.0]).unwrap();
        let h = 0.1;
        s.step(h).unwrap();
        // Implicit Euler: m v1 = h (h 2 - h v1)/C, so v1 = 2/(1 + C/h^2).
        let expected = 2.0 / (1.0 + compliance / (h * h));
        let v = s.velocities(q);
        assert!(
            v[0] == 2.0 && (v[1] - expected).abs() < 1e-14,
            " {compliance}: {v:?}"
        );
    }
}

/// A correction whose solve misses its tolerance is an error, not a shrug.
#[test]
fn a_correction_that_does_not_converge_is_an_error() {
    let (mut s, _) = pendulum(0.0, Options::theta());
    s.options.pre_stabilisation = Some(Stabilisation {
        tolerance: -1.0,
        iterations: 1,
        ..Stabilisation::default()
    });
    s.step(0.01).unwrap();
    s.options.tuning.solver.tolerance = -1.0;
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::CorrectionNotConverged { .. }), "{error}");
}

/// The energy of a stiff rod is what its force stores, whatever its compliance.
#[test]
fn energies_are_continuous_in_the_compliance() {
    for c in [0.0, 1e-320, 1e-310, 1e-16, 1e-12] {
        let (mut s, _) = pendulum(c, Options::theta());
        let mut energy = 0.0;
        for _ in 0..50 {
            energy = s.step(0.01).unwrap().energies.total();
        }
        assert!(energy.abs() < 3.0, "C = {c:e}: {energy}");
    }
}

/// The energy of a stiff spring under a weight at rest: `C (m g)^2 / 2`, against twice that given
/// up by the weight.
#[test]
fn a_stiff_spring_stores_what_its_force_says() {
    let c = 1e-7;
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[0.0, -1.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bob], length).unwrap();
    model
        .add_force_field("rod", rod, UniformCompliance::new(c), Treatment::Compliance)
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    let mut potential = 0.0;
    for _ in 0..100 {
        potential = s.step(0.01).unwrap().energies.potential;
    }
    // From the unstretched height, -9.81 J.
    let expected = -9.81 - 0.5 * c * 9.81 * 9.81;
    assert!(
        (potential - expected).abs() < 1e-13,
        "{:e} {:e}",
        potential + 9.81,
        expected + 9.81
    );
}

/// `C lambda = -(phi + d dphi/dt)` at C = 0 is an exponential approach with time d.
#[test]
fn a_hard_law_keeps_its_relaxation_time() {
    let end = |c: f64| {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.1]).unwrap();
        model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
        let law = UniformCompliance::new(c).with_relaxation_time(1.0);
        model
            .add_force_field("row", x, law, Treatment::Compliance)
            .unwrap();
        let mut s = crate::tools::theta(model).unwrap();
        s.step(0.01).unwrap();
        s.positions(x)[0]
    };
    // One implicit Euler step of dphi/dt = -phi/d.
    assert!((end(0.0) - 0.1 / 1.01).abs() < 1e-15 && (end(1e-30) - end(0.0)).abs() < 1e-15);
}

/// Energy balance of a damped particle for unequal weights.
#[test]
fn dissipation_is_exact_for_every_alpha_and_beta() {
    for (alpha, beta) in [(1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (0.5, 0.5), (0.7, 0.6)] {
        let mut model = Model::new();
        let x = model
            .add_independent("x", Space::Real(1), &[0.0], &[1.0])
            .unwrap();
        model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
        model
            .add_force_field("drag", x, Damping::new(5.0), Treatment::Stiffness)
            .unwrap();
        let mut s = Simulation::with_options(
            model,
            Options {
                alpha,
                beta,
                ..Options::theta()
            },
        )
        .unwrap();
        let report = s.step(0.2).unwrap();
        let (v, f) = (s.velocities(x)[0], 5.0);
        let (va, vb) = (alpha * v + 1.0 - alpha, beta * v + 1.0 - beta);
        assert!((report.dissipated - 0.2 * f * va * vb).abs() < 1e-15);
        // Where the velocity that moves is the mean one, that is all the kinetic energy that went.
        if beta == 0.5 {
            assert!(
                (0.5 - 0.5 * v * v - report.dissipated).abs() < 1e-15,
                "({alpha}, {beta})"
            );
        }
    }
}

/// Two rods to anchors that nearly coincide are nearly redundant, and feasible.
#[test]
fn nearly_coinciding_rods_hold() {
    for gap in [0.0, 1e-8, 1e-6, 1e-5, 1e-3] {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let bob = model.add_particles("bob", &[[0.0, -1.0, 0.0]]).unwrap();
        model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        let length = (1.0 + gap * gap / 4.0f64).sqrt();
        let ends = [(0, [gap / 2.0, 0.0, 0.0]), (0, [-gap / 2.0, 0.0, 0.0])];
        let rods = Distance::to_points(&ends).with_rest_lengths(&[length]);
        let rods = model.add_mapped("rods", &[bob], rods).unwrap();
        let hard = model.add_constraint("rods", rods, Level::Position).unwrap();
        let mut s = crate::tools::theta(model).unwrap();
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
        assert!((s.positions(bob)[1] + 1.0).abs() < 1e-9, "gap {gap:e}");
        let pull: f64 = s.reaction(hard).iter().sum();
        // Each rod leans by half the gap.
        assert!((pull + 9.81 * length).abs() < 1e-6, "gap {gap:e}: {pull}");
    }
}

#[test]
fn settling_ignores_what_is_held_in_motion() {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[0.0, 0.0], &[0.0, 1.0])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    model.fix(x, 1, &[true]).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    assert_eq!(s.settle(Settle::default()).unwrap().steps, 1);
    assert_eq!(s.velocities(x)[1], 1.0);
}

#[test]
fn options_are_checked() {
    let (mut s, _) = pendulum(1e-3, Options::theta());
    s.options.own_alpha.push((ComponentId::Mass(0), 1.0));
    assert!(s.step(0.01).is_err());
    s.options.own_alpha[0] = (ComponentId::ForceField(7), 1.0);
    assert!(s.step(0.01).is_err());
    s.options.own_alpha.clear();
    s.options.tuning.solver.rank_threshold = 0.0;
    assert!(s.step(0.01).is_err());
    s.options.tuning.solver = Default::default();
    s.step(0.01).unwrap();
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.1]).unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    model
        .add_constraint("fast", x, Level::Baumgarte { rate: 300.0 })
        .unwrap();
    let error = crate::tools::theta(model).unwrap().step(0.01).unwrap_err();
    assert!(error.to_string().contains("Baumgarte"), "{error}");
}

/// World axes for readers: a body that spins about a tilted axis.
#[test]
fn world_velocities_of_bodies() {
    let mut model = Model::new();
    let b = model
        .add_rigid_bodies("b", &[Pose::turned([1.0, 2.0, 3.0], [1.0, 1.0, 0.0], 0.7)])
        .unwrap();
    model
        .add_mass("m", b, Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0, 2.0, 3.0])]))
        .unwrap();
    model
        .set_body_velocity(b, 0, [0.1, 0.2, 0.3], [1.0, -2.0, 0.5])
        .unwrap();
    let s = crate::tools::theta(model).unwrap();
    let (linear, angular) = s.world_velocity(b, 0).unwrap();
    assert_eq!(linear, [0.1, 0.2, 0.3]);
    for (a, e) in angular.iter().zip([1.0, -2.0, 0.5]) {
        assert!((a - e).abs() < 1e-15);
    }
    assert_eq!(s.pose(b, 0).unwrap().position, [1.0, 2.0, 3.0]);
    assert!(s.pose(b, 1).is_none());
}

/// A bar that starts a hundredth of a radian beyond the stop of its hinge, into which gravity presses
/// it, is put back onto the stop and stays there, on its hinge: a displacement along the first turn
/// alone leaves the hinge by its square, which the next step would make energy of.
#[test]
fn a_bar_that_starts_beyond_its_stop_under_its_weight_comes_back() {
    let mut m = Model::new();
    m.set_gravity([0.0, 9.81, 0.0]).unwrap();
    let angle = 0.31f64;
    let pose = Pose::turned(
        [0.3 * angle.cos(), 0.3 * angle.sin(), 0.0],
        [0.0, 0.0, 1.0],
        angle,
    );
    let bar = m.add_rigid_bodies("bar", &[pose]).unwrap();
    let mass = RigidMass::cuboid(1.2, [0.6, 0.1, 0.1]);
    m.add_mass("m", bar, Mass::Rigid(vec![mass])).unwrap();
    // Its coordinate counts from where it is made.
    let joint = Joint::hinge(Side::World, Side::Body(bar, 0)).with_limits(0, f64::NEG_INFINITY, -0.01);
    let hinge = m.add_joint("hinge", &joint).unwrap();
    let m = std::sync::Arc::new(m);
    for h in [0.005, 0.01] {
        let mut s = Simulation::new(m.clone()).unwrap();
        for _ in 0..40 {
            let report = s.step(h).unwrap();
            assert!(report.violation < 1e-9, "{}", report.violation);
        }
        let x = s.positions(hinge.coordinates[0])[0];
        assert!((x + 0.01).abs() < 1e-9, "{x}");
        assert!(s.velocities(hinge.coordinates[0])[0].abs() < 1e-9);
    }
}
