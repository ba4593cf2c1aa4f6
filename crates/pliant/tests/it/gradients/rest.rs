//! Derivatives of states of rest.

use pliant::continuum::{Rod, RodCurve, Section};
use pliant::gradient::*;
use pliant::prelude::*;

/// Two springs of rest length `l` and stiffness `k` from `(-w, 0)` and `(w, 0)` to an apex that
/// moves up and down.
fn truss(k: f64, w: f64, l: f64) -> Model {
    let mut model = Model::new();
    let apex = model.add_particles("apex", &[[0.0, 0.3, 0.0]]).unwrap();
    model.add_mass("mass", apex, Mass::Uniform(1.0)).unwrap();
    model.fix(apex, 0, &[true, false, true]).unwrap();
    let feet = Distance::to_points(&[(0, [-w, 0.0, 0.0]), (0, [w, 0.0, 0.0])]);
    let bars = model
        .add_mapped("bars", &[apex], feet.with_rest_lengths(&[l, l]))
        .unwrap();
    model
        .add_force_field("springs", bars, Spring::linear(k), Treatment::Stiffness)
        .unwrap();
    model
}

/// Von Mises' truss on both stable branches and between them, where its equilibria are unstable: by
/// the load and by all it is made of, in closed form from `F(y) = -2 k (1 - l/s) y`,
/// `s^2 = w^2 + y^2`.
#[test]
fn a_truss_that_snaps_through_moves_as_its_equation_says() {
    let p = [50.0, 1.0, 1.05f64];
    let [k, w, l] = p;
    let make = |p: &[f64]| Ok(Problem::new(truss(p[0], p[1], p[2])));
    let mut family = Family::new(&make, &p, &p).unwrap();
    for y in [0.3, 0.05, -0.1, -0.4] {
        let s = (w * w + y * y).sqrt();
        // Equilibrium: load - 2 k (s - l) y / s = 0.
        let load = 2.0 * k * (1.0 - l / s) * y;
        let by_y = 2.0 * k * (1.0 - l / s) + 2.0 * k * l * y * y / (s * s * s);
        let by_p = [load / k, 2.0 * k * l * w / (s * s * s) * y, -2.0 * k * y / s];
        assert_eq!(by_y < 0.0, y.abs() < 0.2, "the unstable ones are between");
        let mut simulation = Simulation::new(truss(k, w, l)).unwrap();
        let apex = simulation.model().node_named("apex").unwrap();
        let mut state = simulation.state().clone();
        state.positions[1] = y;
        simulation.set_state(&state).unwrap();
        simulation.set_force(apex, 0, &[0.0, load, 0.0]).unwrap();
        let mut rest = RestDerivative::new(simulation.problem()).unwrap();
        rest.place(simulation.problem(), &simulation.rest_state())
            .unwrap();
        rest.adjoint([&[0.0, 1.0, 0.0], &[]]).unwrap();
        let mut by_force = Vec::new();
        rest.by_force(&mut by_force).unwrap();
        assert!(
            (by_force[1] * by_y - 1.0).abs() < 1e-12,
            "{y}: {}",
            by_force[1] * by_y
        );
        for (i, by_p) in by_p.iter().enumerate() {
            let expected = -by_p / by_y;
            let found = rest.by_parameter(&mut family, i).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-10,
                "{y} {i}: {found} {expected}"
            );
        }
    }
    // At the limit point there is no derivative, and it says so; the load is not that of rest
    // elsewhere.
    let mut simulation = Simulation::new(truss(k, w, l)).unwrap();
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    let refused = rest.place(simulation.problem(), &simulation.rest_state());
    assert!(
        matches!(refused, Err(GradientError::NotSolved { .. })),
        "{refused:?}"
    );
    let limit = w * ((l / w).powf(2.0 / 3.0) - 1.0).sqrt();
    let mut state = simulation.state().clone();
    state.positions[1] = limit;
    simulation.set_state(&state).unwrap();
    let load = 2.0 * k * (1.0 - l / (w * w + limit * limit).sqrt()) * limit;
    let apex = simulation.model().node_named("apex").unwrap();
    simulation.set_force(apex, 0, &[0.0, load, 0.0]).unwrap();
    let placed = rest.place(simulation.problem(), &simulation.rest_state());
    let solved = placed.and_then(|()| rest.adjoint([&[0.0, 1.0, 0.0], &[]]));
    let mut by_force = Vec::new();
    let read = rest.by_force(&mut by_force);
    assert_eq!(
        read.is_ok(),
        solved.is_ok(),
        "no force is read without an adjoint"
    );
    assert!(
        solved.is_err() || by_force[1].abs() > 1e10,
        "{solved:?} {by_force:?}"
    );
}

/// A clamped arch of Young's modulus and rise, whose crown is pushed down by a row, or free.
fn arch(young: f64, rise: f64, pushed: bool) -> Model {
    let mut model = Model::new();
    let rod = Rod::new(Section::rectangle([0.02, 0.005]), young, 0.3).with_density(1000.0);
    let points: Vec<[f64; 3]> = (0..=12)
        .map(|i| {
            let t = f64::from(i) / 12.0;
            [t, 0.0, rise * (std::f64::consts::PI * t).sin().powi(2)]
        })
        .collect();
    let parts = rod
        .add_to(&mut model, "arch", &RodCurve::through(&points))
        .unwrap();
    for end in [0, 12] {
        model.fix(parts.frames, end, &[true; 6]).unwrap();
    }
    let crown = model
        .add_mapped("crown", &[parts.frames], RigidPoints::new(&[(6, [0.0; 3])]))
        .unwrap();
    let height = Projection::new(&[(0, [0.0, 0.0, 1.0])]);
    let height = model.add_mapped("height", &[crown], height).unwrap();
    if pushed {
        model.add_constraint("push", height, Level::Position).unwrap();
    }
    model
}

/// The arch at rest with its crown held at a height.
fn pushed(young: f64, rise: f64, height: f64) -> Simulation {
    let mut model = arch(young, rise, true);
    let push = model.component_named("push").unwrap();
    let way = PrescribedMotion::table(&[(0.0, rise), (1.0, height)]).unwrap();
    model.set_motion(push, Some(way)).unwrap();
    let mut simulation = Simulation::with_options(model, super::options()).unwrap();
    // Step by step: one jump of the row would leave the branch.
    for _ in 0..50 {
        simulation.step(0.02).unwrap();
    }
    let how = Equilibrium {
        tolerance: 1e-13,
        ..Equilibrium::default()
    };
    simulation.find_equilibrium(&how).unwrap();
    simulation
}

/// The force on the crown there.
fn force(young: f64, rise: f64, height: f64) -> f64 {
    let simulation = pushed(young, rise, height);
    simulation.reaction(simulation.model().component_named("push").unwrap())[0]
}

/// Past its limit point the load of an arch falls as it goes down: there its equilibria under that
/// load are unstable. What the load does by parameters where the crown is held, by differences of
/// equilibria that are stable, is `-(dw/dp)/(dw/dF)` of the equilibrium under the load.
#[test]
fn an_arch_past_its_limit_point_moves_as_differences_say() {
    let (p, height) = ([1e8, 0.06], 0.01);
    let held = pushed(p[0], p[1], height);
    let mut simulation = Simulation::new(arch(p[0], p[1], false)).unwrap();
    let mut state = simulation.state().clone();
    let bodies = simulation.model().node_named("crown").unwrap();
    let first = simulation.model().node(bodies).first_position;
    state.positions[..first].copy_from_slice(&held.state().positions[..first]);
    simulation.set_state(&state).unwrap();
    let push = held.model().component_named("push").unwrap();
    simulation
        .set_force(bodies, 0, &[0.0, 0.0, held.reaction(push)[0]])
        .unwrap();
    // The rows of the strains are the same.
    let mut multipliers = Vec::new();
    for group in simulation.problem().row_groups() {
        let name = simulation.model().component_name(group.component);
        multipliers.extend_from_slice(held.reaction(held.model().component_named(name).unwrap()));
    }
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    let found = RestState {
        multipliers: &multipliers,
        ..simulation.rest_state()
    };
    rest.place(simulation.problem(), &found).unwrap();
    let range = simulation.model().node(bodies).velocity_range();
    let mut by_x = vec![0.0; simulation.model().velocity_count()];
    by_x[range.end - 1] = 1.0;
    let mut by_coordinates = Vec::new();
    rest.carry(&by_x, &mut by_coordinates).unwrap();
    rest.adjoint([&by_coordinates, &vec![0.0; multipliers.len()]])
        .unwrap();
    let mut by_force = Vec::new();
    rest.by_force(&mut by_force).unwrap();
    let by_load = by_force[range.end - 1];
    assert!(by_load < 0.0, "past the limit point: {by_load}");
    let make = |p: &[f64]| Ok(Problem::new(arch(p[0], p[1], false)));
    let mut family = Family::new(&make, &p, &p).unwrap();
    let differences = |t: f64, at: &dyn Fn(f64) -> f64| {
        let (near, far) = (at(t) - at(-t), at(2.0 * t) - at(-2.0 * t));
        (near * 8.0 - far) / (12.0 * t)
    };
    let slope = differences(1e-4, &|t| force(p[0], p[1], height + t));
    assert!((slope * by_load - 1.0).abs() < 1e-7, "{}", slope * by_load);
    for k in 0..2 {
        let direct = rest.by_parameter(&mut family, k).unwrap();
        // The force of the row pulls the crown down where it is negative, as the one from outside.
        let expected = -direct / by_load * p[k];
        let found = differences(1e-3, &|t| {
            let mut moved = p;
            moved[k] *= 1.0 + t;
            force(moved[0], moved[1], height)
        });
        assert!((found / expected - 1.0).abs() < 1e-7, "{k}: {found} {expected}");
        // The tangent is the transpose of the adjoint.
        let [mut dr, mut ds, mut x, mut lambda] = [(); 4].map(|()| Vec::new());
        rest.equations_by(&mut family, k, [&mut dr, &mut ds]).unwrap();
        rest.tangent([&dr, &ds], [&mut x, &mut lambda]).unwrap();
        let forwards: f64 = x.iter().zip(&by_coordinates).map(|(a, b)| a * b).sum();
        let at_parameter = family
            .at_state(
                simulation.problem(),
                k,
                simulation.state(),
                [&by_x, &vec![0.0; by_x.len()]],
            )
            .unwrap();
        assert!(at_parameter == 0.0, "the crown is a point of the rod");
        assert!(
            (forwards / direct - 1.0).abs() < 1e-10,
            "{k}: {forwards} {direct}"
        );
    }
}
