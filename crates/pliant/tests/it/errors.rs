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
    let mut s = crate::tools::theta(model).unwrap();
    let before = s.checkpoint();
    let error = s.step(0.01).unwrap_err();
    let Error::Incompatible { violation, .. } = &error else {
        panic!("{error}")
    };
    let expected =
        "`short rod`, element 0 contradicts `long rod`, element 0 at t = 0 s: they are 0.1 m apart";
    assert_eq!(error.to_string(), expected);
    // What `main` prints that returns it.
    assert_eq!(format!("{error:?}"), expected);
    assert_eq!(s.check_step(0.01).unwrap_err(), error);
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

/// Rods that agree in their velocities and not in their lengths: no stage of SDIRK2 sees it, and
/// the projection at the end of the step does not come to an end. The compromise misses both by
/// half of 0.1 m.
#[test]
fn a_contradictory_joint_is_named_by_the_projection() {
    let (mut model, bead) = bead(Level::Position);
    let long = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.1]);
    let long = model.add_mapped("long", &[bead], long).unwrap();
    model.add_constraint("long rod", long, Level::Position).unwrap();
    let mut s = Simulation::new(model).unwrap();
    let before = s.checkpoint();
    let error = s.step(0.01).unwrap_err();
    let expected =
        "`short rod`, element 0 contradicts `long rod`, element 0 at t = 0 s: they are 0.1 m apart";
    assert_eq!(error.to_string(), expected);
    assert_eq!(s.check_step(0.01).unwrap_err().to_string(), expected);
    let after = s.checkpoint();
    assert_eq!((after.time, after.state), (before.time, before.state));
    s.options.accept_failed_steps = true;
    let report = s.step(0.01).unwrap();
    assert!(matches!(report.status, Status::Incompatible { .. }), "{report:?}");
    assert!((report.violation - 0.05).abs() < 1e-9 && (s.positions(bead)[0] - 1.05).abs() < 1e-9);
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
    let error = crate::tools::theta(model).unwrap().step(0.01).unwrap_err();
    assert!(error.to_string().contains("`cloud`, element 1, x"), "{error}");
}

#[test]
fn numbers_out_of_range() {
    let (model, _) = bead(Level::Position);
    let mut s = crate::tools::theta(model).unwrap();
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
    let mut s = crate::tools::theta(model).unwrap();
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
    let mut s = crate::tools::theta(model).unwrap();
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
    let mut s = crate::tools::theta(model).unwrap();
    s.step(0.01).unwrap();
    s.options.tuning.solver.tolerance = -1.0;
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::NotConverged { .. }), "{error}");
    let named = ["the equation of `bead`", "the equation of `short rod`"];
    assert!(named.iter().any(|n| error.to_string().contains(n)), "{error}");
}

/// Two contradictions that have nothing to do with each other: the larger one is named, with its
/// own partner, and rows of a velocity are apart by a velocity.
#[test]
fn a_contradiction_is_named_with_its_own_partner() {
    for velocity in [false, true] {
        let mut model = Model::new();
        let places = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
        let p = model.add_particles("p", &places).unwrap();
        model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
        for (k, rest, name) in [(0, 1.0, "a"), (0, 1.25, "b"), (1, 2.0, "c"), (1, 2.5, "d")] {
            let rod = Distance::to_points(&[(k, [0.0; 3])]).with_rest_lengths(&[rest]);
            let rod = model.add_mapped(&format!("{name} length"), &[p], rod).unwrap();
            let level = match velocity {
                true => Level::Velocity { curvature: 0.5 },
                false => Level::Position,
            };
            let id = model.add_constraint(name, rod, level).unwrap();
            if velocity {
                let motion = PrescribedMotion::ramp(0.0, rest);
                model.set_motion(id, Some(motion)).unwrap();
            }
        }
        let mut s = crate::tools::theta(model).unwrap();
        let error = s.step(0.01).unwrap_err().to_string();
        let both = error.starts_with("`c`, element 0 contradicts `d`, element 0")
            || error.starts_with("`d`, element 0 contradicts `c`, element 0");
        let apart = if velocity { "0.5 m/s apart" } else { "0.5 m apart" };
        assert!(both && error.ends_with(apart), "{error}");
    }
}

/// A body that is to turn about one axis by two angles.
#[test]
fn angles_that_contradict_are_apart_in_radians() {
    let mut model = Model::new();
    let b = model.add_rigid_bodies("b", &[Pose::default()]).unwrap();
    let mass = Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0, 0.2, 0.2])]);
    model.add_mass("m", b, mass).unwrap();
    let hinge = Joint::hinge(Side::World, Side::Body(b, 0));
    let hinge = model.add_joint("hinge", &hinge).unwrap();
    for (name, angle) in [("one", 0.0), ("other", 0.002)] {
        let id = model
            .add_constraint(name, hinge.coordinates[0], Level::Position)
            .unwrap();
        let motion = PrescribedMotion::constant(&[angle]);
        model.set_motion(id, Some(motion)).unwrap();
    }
    let error = crate::tools::theta(model)
        .unwrap()
        .step(0.01)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("they are 0.002 rad apart"), "{error}");
}

/// Complaints that another method than the theta method may get over are told, and refuse nothing.
#[test]
fn other_methods_are_told_what_the_linear_equations_complain_of() {
    let (mut model, bead) = bead(Level::Position);
    let long = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.1]);
    let long = model.add_mapped("long", &[bead], long).unwrap();
    model.add_constraint("long rod", long, Level::Position).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    s.options.integrator = Integrator::Nonlinear;
    let told = s.check_step(0.01).unwrap();
    assert!(matches!(told, Some(Error::Incompatible { .. })), "{told:?}");
    // One that does not get over them says so itself.
    let error = s.step(0.01).unwrap_err().to_string();
    let both = "`short rod`, element 0 contradicts `long rod`, element 0";
    assert!(
        error.starts_with(both) && error.ends_with("0.1 m apart"),
        "{error}"
    );
}

/// Asking leaves no trace, also where it corrects positions: steps are the same to the bit.
#[test]
fn asking_for_the_first_step_changes_nothing() {
    let run = |ask: bool, stabilised: bool| {
        let (model, bead) = bead(Level::Position);
        let mut s = crate::tools::theta(model).unwrap();
        if stabilised {
            let mut state = s.state().clone();
            state.positions[0] = 1.25;
            s.set_state(&state).unwrap();
            s.options.post_stabilisation = Some(Stabilisation::default());
        }
        s.hold(bead, 0, &[false, false, true], &[0.0, 0.0, 0.5]).unwrap();
        if ask {
            assert_eq!(s.check_step(0.01), Ok(None));
        }
        for _ in 0..5 {
            s.step(0.01).unwrap();
        }
        s.checkpoint()
    };
    for stabilised in [false, true] {
        assert_eq!(run(true, stabilised), run(false, stabilised));
    }
}

/// Three rows of which two would go together: the others that have a part in it are counted.
#[test]
fn components_that_have_a_part_in_a_contradiction_are_counted() {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.0, 0.0]).unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    for (name, weights, target) in [
        ("first", [1.0, 0.0], 0.0),
        ("second", [0.0, 1.0], 0.0),
        ("sum", [1.0, 1.0], 3.0),
    ] {
        let entry = |element: usize| AffineEntry {
            element: 0,
            coordinate: 0,
            from: Dependency { parent: 0, element },
            from_coordinate: 0,
            value: weights[element],
        };
        let mapping = Affine::new(1, &[-target], &[entry(0), entry(1)]);
        let node = model.add_mapped(name, &[x], mapping).unwrap();
        model
            .add_constraint(&format!("{name} row"), node, Level::Position)
            .unwrap();
    }
    let error = crate::tools::theta(model)
        .unwrap()
        .step(0.01)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("(with 1 more component)") && error.ends_with("3 m apart"),
        "{error}"
    );
}

/// Rows that are off at the start: a constraint on either side, a rope where it is too long only.
#[test]
fn gaps_of_rows_at_the_start() {
    let mut model = Model::new();
    let p = model.add_particles("p", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    for (name, rest, rope) in [("rod", 0.75, false), ("tight", 0.5, true), ("slack", 1.5, true)] {
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[rest]);
        let length = model.add_mapped(&format!("{name} length"), &[p], length).unwrap();
        let id = model.add_constraint(name, length, Level::Position).unwrap();
        if rope {
            model.set_bounds(id, f64::NEG_INFINITY, 0.0).unwrap();
        }
    }
    let s = crate::tools::theta(model).unwrap();
    let gaps: Vec<_> = s.row_gaps(0.0).map(|g| (g.row, g.gap, g.one_sided)).collect();
    assert_eq!(gaps, [(0, 0.25, false), (1, 0.5, true)]);
    assert_eq!(s.row_unit(1), "m");
}

/// A straight rope of three links between two points, rows of one or of two sides: they let it move
/// across at first order only. What holds it is named, and the failed step changes nothing. The
/// same with a sag of 50 nm has a path as short as that, which no step follows that is long beside
/// it; with a sag of a centimetre it swings.
#[test]
fn a_straight_rope_locks() {
    for integrator in [Integrator::Sdirk2, Integrator::Nonlinear] {
        let cases = [
            (0.0, false, 0.01),
            (0.0, true, 0.01),
            (5e-8, false, 10.0),
            (0.01, true, 0.01),
        ];
        for (sag, bounded, h) in cases {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -9.81]).unwrap();
            let places = [[1.0, 0.0, -sag], [2.0, 0.0, -sag]];
            let p = model.add_particles("p", &places).unwrap();
            model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
            let ends = Distance::to_points(&[(0, [0.0; 3]), (1, [3.0, 0.0, 0.0])]);
            let end = 1f64.hypot(sag);
            let ends = ends.with_rest_lengths(&[end, end]);
            let between = Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0]);
            for (name, links) in [("ends", ends), ("middle", between)] {
                let links = model.add_mapped(&format!("{name} length"), &[p], links).unwrap();
                let id = model.add_constraint(name, links, Level::Position).unwrap();
                if bounded {
                    model.set_bounds(id, f64::NEG_INFINITY, 0.0).unwrap();
                }
            }
            let options = Options {
                integrator: integrator.clone(),
                ..Options::default()
            };
            let mut s = Simulation::with_options(model, options).unwrap();
            let before = s.checkpoint();
            match s.step(h) {
                Err(error @ Error::Locked { .. }) if sag < 0.01 => {
                    let error = error.to_string();
                    assert!(error.contains("`middle`") && error.contains("`ends`"), "{error}");
                    assert_eq!(s.checkpoint(), before);
                    // The system for inspection is that of the step, whose rows are bounded.
                    let mut bounds = s.system().bounds.iter().flat_map(|b| [b.0, b.1]);
                    assert_eq!(bounds.any(f64::is_finite), bounded);
                }
                found => assert!(
                    found.is_ok() && sag == 0.01,
                    "{integrator:?} {sag} {bounded}: {found:?}"
                ),
            }
        }
    }
}
