//! Geometric stiffness: what it cures, what it costs, what happens where it is negative.

use pliant::prelude::*;

/// A bead between two hard rods of which the ends are pushed together: compression.
fn strut(load: f64, geometry: GeometricTerms) -> (Simulation, NodeId) {
    let mut model = Model::new();
    let beads = model
        .add_particles("beads", &[[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
        .unwrap();
    model.add_mass("m", beads, Mass::Uniform(1e-3)).unwrap();
    let pairs = [
        (End::element(0, 0), End::Point([0.0; 3])),
        (End::element(0, 1), End::element(0, 0)),
    ];
    let rods = model
        .add_mapped("rods", &[beads], Distance::new(&pairs).with_rest_lengths(&[1.0]))
        .unwrap();
    model.add_constraint("rods", rods, Level::Position).unwrap();
    let top = model
        .add_mapped("top", &[beads], Subset::of_elements(Space::Real(3), &[1]))
        .unwrap();
    model
        .add_force_field(
            "load",
            top,
            ConstantForce::new(&[0.0, -load, 0.0]),
            Treatment::Stiffness,
        )
        .unwrap();
    (
        Simulation::with_options(
            model,
            Options {
                geometry,
                ..Options::theta()
            },
        )
        .unwrap(),
        beads,
    )
}

#[test]
fn compression_beyond_the_mass_is_clamped_and_reported() {
    // h^2 load / (m l) = 10: the transverse W is negative with the full geometric stiffness.
    let (mut s, _) = strut(100.0, GeometricTerms::default());
    let first = s.step(0.01).unwrap();
    assert!(first.solve.geometry_clamped && first.solve.geometry_passes == 2);
    // An error if clamping is not allowed.
    let (mut s, _) = strut(100.0, GeometricTerms::default());
    s.options.tuning.clamp_geometry = false;
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { .. }), "{error}");
    // Never one with a definite part, nor under light loads.
    for mode in [
        GeometricStiffness::PositivePart,
        GeometricStiffness::AbsoluteValue,
        GeometricStiffness::None,
    ] {
        let (mut s, _) = strut(
            100.0,
            GeometricTerms {
                forces: mode,
                multipliers: mode,
            },
        );
        s.options.tuning.clamp_geometry = false;
        assert!(!s.step(0.01).unwrap().solve.geometry_clamped);
    }
    let (mut s, _) = strut(1.0, GeometricTerms::default());
    assert!(!s.step(0.01).unwrap().solve.geometry_clamped);
}

/// Under tension the positive part is all of it.
#[test]
fn positive_part_and_absolute_value_are_full_under_tension() {
    let end = |mode| {
        let (mut s, beads) = strut(
            -100.0,
            GeometricTerms {
                forces: mode,
                multipliers: mode,
            },
        );
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
        s.positions(beads).to_vec()
    };
    let full = end(GeometricStiffness::Full);
    for mode in [
        GeometricStiffness::PositivePart,
        GeometricStiffness::AbsoluteValue,
    ] {
        for (a, b) in full.iter().zip(end(mode)) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}

/// Energy of the pendulum after 2 s at h = 0.01: the price of geometric stiffness, as measured by
/// an independent prototype (+1.3 % without, -32 % with).
#[test]
fn the_price_on_a_pendulum() {
    let loss = |multipliers| {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
        model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let rod = model.add_mapped("rod", &[bob], length).unwrap();
        model.add_constraint("rod", rod, Level::Position).unwrap();
        let geometry = GeometricTerms {
            multipliers,
            ..GeometricTerms::default()
        };
        let mut s = Simulation::with_options(
            model,
            Options {
                geometry,
                tuning: Tuning {
                    geometry_passes: 1,
                    ..Tuning::default()
                },
                ..Options::theta()
            },
        )
        .unwrap();
        let mut energy = 0.0;
        for _ in 0..200 {
            energy = s.step(0.01).unwrap().energies.total();
        }
        energy / 9.81
    };
    let (without, with) = (loss(GeometricStiffness::None), loss(GeometricStiffness::Full));
    // h^2 lambda/(l m) is below 0.003: not needed, so not there.
    assert_eq!(loss(GeometricStiffness::WhereNeeded), without);
    assert_eq!(loss(GeometricStiffness::JustEnough), without);
    assert!(
        (without - 0.013).abs() < 0.002 && (with + 0.32).abs() < 0.02,
        "{without} {with}"
    );
}

/// Of a couple on a body, whose points have geometric stiffness and whose angular acceleration has:
/// each part is taken as a whole, or by the share `1 - 1/S` of its own stability number.
#[test]
fn just_enough_of_a_couple() {
    let (inertia, arm, push, h) = ([1e-3, 2e-3, 1.5e-3], 0.5, 200.0, 0.01f64);
    let turn = |mode| {
        let mut model = Model::new();
        let node = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
        let mass = Mass::Rigid(vec![RigidMass::principal(1.0, inertia)]);
        model.add_mass("m", node, mass).unwrap();
        for (name, side) in [("left", -1.0), ("right", 1.0)] {
            let point = RigidPoints::new(&[(0, [side * arm, 0.0, 0.0])]);
            let end = model.add_mapped(name, &[node], point).unwrap();
            let force = ConstantForce::new(&[0.0, side * push, 0.0]);
            model
                .add_force_field(&format!("{name}.push"), end, force, Treatment::Stiffness)
                .unwrap();
        }
        let options = Options {
            geometry: GeometricTerms {
                forces: mode,
                multipliers: mode,
            },
            tuning: Tuning {
                clamp_geometry: false,
                ..Tuning::default()
            },
            ..Options::theta()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        // W may be indefinite: the step fails then, after W was made.
        let _ = s.step(h);
        s.system().w.get(4, 3)
    };
    // Symmetric parts of -h^2 G. Of both points [r][f] with r = (a, 0, 0), f = (0, p, 0) has the
    // entry a p at (1, 0) alone, each; of the acceleration w' = (0, 0, 2 a p/I_3) it is [w']
    // (tr(I)/2 - I), which has w' (S_1 - S_2)/2 there.
    let second = [0, 1, 2].map(|k| 0.5 * inertia.iter().sum::<f64>() - inertia[k]);
    let point = -h * h * 0.5 * arm * push;
    let whole = -h * h * 0.5 * (2.0 * arm * push / inertia[2]) * (second[0] - second[1]);
    let mean = (inertia[0] * inertia[1]).sqrt();
    let share = |x: f64| 1.0 - mean / x.abs();
    assert!(share(point) > 0.5 && share(whole) > share(point) + 0.05);
    for (mode, expected) in [
        (GeometricStiffness::Full, 2.0 * point - whole),
        (
            GeometricStiffness::JustEnough,
            2.0 * share(point) * point - share(whole) * whole,
        ),
    ] {
        let found = turn(mode);
        assert!(
            (found - expected).abs() < 1e-15,
            "{mode:?}: {found:e}, {expected:e}"
        );
    }
}

/// The inertial part: a thin free link under a force across its end must not turn `W` indefinite in
/// the spin about its axis.
#[test]
fn a_force_across_a_thin_link_keeps_w_definite() {
    let mut model = Model::new();
    let links = model.add_rigid_bodies("link", &[Pose::default()]).unwrap();
    model
        .add_mass(
            "m",
            links,
            Mass::Rigid(vec![RigidMass::principal(1.0, [1e-9, 1e-3, 1e-3])]),
        )
        .unwrap();
    let end = model
        .add_mapped("end", &[links], RigidPoints::new(&[(0, [0.1, 0.0, 0.0])]))
        .unwrap();
    model
        .add_force_field(
            "push",
            end,
            ConstantForce::new(&[0.0, 5.0, 0.0]),
            Treatment::Stiffness,
        )
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    let report = s.step(0.01).unwrap();
    assert!(!report.solve.geometry_clamped && report.solve.inertia == (6, 0));
}
