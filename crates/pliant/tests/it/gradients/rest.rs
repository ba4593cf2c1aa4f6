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

/// The forces on a node along z that a load is, in the order of all velocities.
fn along_z(model: &Model, node: NodeId, size: f64, axis: usize) -> Vec<f64> {
    let mut out = vec![0.0; model.velocity_count()];
    out[model.node(node).first_velocity + axis] = size;
    out
}

/// The first limit point of a model under a force on one node, as its path locates it: the load,
/// and its derivatives by the parameters of the model.
fn limit_load(make: &dyn Fn(&[f64]) -> Model, p: &[f64], node: &str, axis: usize) -> (f64, Vec<f64>) {
    let mut simulation = Simulation::new(make(p)).unwrap();
    let node = simulation.model().node_named(node).unwrap();
    let mut force = [0.0; 3];
    force[axis] = -1.0;
    simulation.set_force(node, 0, &force).unwrap();
    let how = Continuation {
        loads: Loads {
            forces: true,
            ..Loads::default()
        },
        end: 1e6,
        step: 0.05,
        largest_step: 0.5,
        tolerance: 1e-12,
        ..Continuation::default()
    };
    let mut last = 0.0;
    let mut rises = |point: &pliant::PathPoint| point.load >= std::mem::replace(&mut last, point.load);
    let path = simulation.follow(&how, |_, point| rises(point)).unwrap();
    let mut limits = path.critical.into_iter();
    let limit = limits.rfind(|c| c.kind == CriticalKind::Limit).unwrap();
    // The tangent is singular there, so that halving ends before rounding; derivatives are as good.
    assert!(limit.bracket < 1e-7, "{:e}", limit.bracket);
    let problem = |p: &[f64]| Ok(Problem::new(make(p)));
    let mut family = Family::new(&problem, p, p).unwrap();
    let unit = along_z(simulation.model(), node, -1.0, axis);
    // The mode without stiffness, about the limit point.
    let mut there = simulation;
    there.set_state(&limit.state).unwrap();
    there.set_multipliers(&limit.multipliers).unwrap();
    there.set_force(node, 0, &force.map(|f| limit.load * f)).unwrap();
    let about = ModeOptions {
        count: 6,
        about: About::Present,
        tolerance: 1e-12,
        ..ModeOptions::default()
    };
    let modes = there.modes(&about).unwrap().modes;
    let mut rest = RestDerivative::new(there.problem()).unwrap();
    rest.place(there.problem(), &there.rest_state()).unwrap();
    let least = |a: &&Mode, b: &&Mode| a.eigenvalue.abs().total_cmp(&b.eigenvalue.abs());
    let mode = modes.iter().min_by(least).unwrap().as_vibration_mode();
    let load = CriticalLoad::Force(&unit);
    let by = (0..p.len()).map(|k| rest.critical_load_by(&mut family, k, load, &mode).unwrap());
    let by = by.collect();
    // A load that does no work along the mode has no limit there; a mode with stiffness is none.
    let across = along_z(there.model(), node, 1.0, (axis + 2) % 3);
    let refused = rest.critical_load_by(&mut family, 0, CriticalLoad::Force(&across), &mode);
    assert!(
        matches!(refused, Err(GradientError::NotBuilt { .. })),
        "{refused:?}"
    );
    if there.model().dof_count() == 3 {
        return (limit.load, by);
    }
    // The next mode bends as softly as the lowest ones of an arch that carries nothing do.
    let others = modes.iter().filter(|other| other.eigenvalue != mode.eigenvalue);
    for other in others {
        let refused = rest.critical_load_by(&mut family, 0, load, &other.as_vibration_mode());
        assert!(
            matches!(refused, Err(GradientError::NotSolved { .. })),
            "{refused:?}"
        );
    }
    let stiff: Vec<f64> = (0..mode.velocities.len()).map(|k| (k as f64).cos()).collect();
    let stiff = VibrationMode {
        velocities: &stiff,
        ..mode
    };
    let refused = rest.critical_load_by(&mut family, 0, load, &stiff);
    assert!(
        matches!(refused, Err(GradientError::NotSolved { .. })),
        "{refused:?}"
    );
    (limit.load, by)
}

/// `F = 2 k w ((l/w)^(2/3) - 1)^(3/2)`, and its derivatives.
#[test]
fn the_limit_load_of_a_truss_moves_as_its_formula_says() {
    let p = [50.0, 1.0, 1.05f64];
    let (load, by) = limit_load(&|p: &[f64]| truss(p[0], p[1], p[2]), &p, "apex", 1);
    let [k, w, l] = p;
    let (q, root) = ((l / w).powf(2.0 / 3.0) - 1.0, (l / w).cbrt());
    let expected = 2.0 * k * w * q.powf(1.5);
    assert!((load / expected - 1.0).abs() < 1e-10, "{load} {expected}");
    let by_expected = [
        expected / k,
        2.0 * k * (q.powf(1.5) - q.sqrt() * root * root),
        2.0 * k * q.sqrt() / root,
    ];
    for (k, (found, expected)) in by.iter().zip(by_expected).enumerate() {
        assert!((found / expected - 1.0).abs() < 1e-8, "{k}: {found} {expected}");
    }
}

/// A load that is a parameter of the models, the weight of the apex: its gravity has a
/// limit.
#[test]
fn a_limit_load_that_is_a_parameter_moves_as_one_that_is_a_force() {
    let make = |p: &[f64]| {
        let mut model = truss(p[0], p[1], p[2]);
        model.set_gravity([0.0, -p[3], 0.0]).unwrap();
        model
    };
    let [k, w, l] = [50.0, 1.0, 1.05f64];
    let q = (l / w).powf(2.0 / 3.0) - 1.0;
    // The mass of the apex is one.
    let p = [k, w, l, 2.0 * k * w * q.powf(1.5)];
    let mut simulation = Simulation::new(make(&p)).unwrap();
    let mut state = simulation.state().clone();
    state.positions[1] = w * q.sqrt();
    simulation.set_state(&state).unwrap();
    let problem = |p: &[f64]| Ok(Problem::new(make(p)));
    let mut family = Family::new(&problem, &p, &p).unwrap();
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    rest.place(simulation.problem(), &simulation.rest_state())
        .unwrap();
    // The apex alone moves; the velocities of what is mapped are not read.
    let mut velocities = vec![0.0; simulation.model().velocity_count()];
    velocities[1] = 1.0;
    let mode = VibrationMode {
        eigenvalue: 0.0,
        velocities: &velocities,
        multipliers: &[],
    };
    let load = CriticalLoad::Parameter(3);
    let expected = [
        p[3] / k,
        2.0 * k * (q.powf(1.5) - q.sqrt() * (1.0 + q)),
        2.0 * k * q.sqrt() / (l / w).cbrt(),
    ];
    for (k, expected) in expected.into_iter().enumerate() {
        let found = rest.critical_load_by(&mut family, k, load, &mode).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-8, "{k}: {found} {expected}");
    }
}

/// A thin cantilever bends a million times more softly than it stretches, and is at no limit for
/// that: its modes have all of the stiffness that its rows have along them.
#[test]
fn soft_modes_are_not_critical() {
    let make = |p: &[f64]| {
        let mut model = Model::new();
        let rod = Rod::new(Section::rectangle([0.02, 0.002]), p[0], 0.3).with_density(1000.0);
        let points: Vec<[f64; 3]> = (0..=20).map(|i| [0.05 * f64::from(i), 0.0, 0.0]).collect();
        let parts = rod
            .add_to(&mut model, "rod", &RodCurve::through(&points))
            .unwrap();
        model.fix(parts.frames, 0, &[true; 6]).unwrap();
        model
    };
    let mut simulation = Simulation::new(make(&[1e9])).unwrap();
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let how = ModeOptions {
        count: 2,
        tolerance: 1e-12,
        ..ModeOptions::default()
    };
    let modes = simulation.modes(&how).unwrap().modes;
    let problem = |p: &[f64]| Ok(Problem::new(make(p)));
    let mut family = Family::new(&problem, &[1e9], &[1e9]).unwrap();
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    rest.place(simulation.problem(), &simulation.rest_state())
        .unwrap();
    let frames = simulation.model().nodes()[0].velocity_range();
    let mut force = vec![0.0; simulation.model().velocity_count()];
    force[frames.end - 4] = 1.0;
    for mode in modes {
        let refused = rest.critical_load_by(
            &mut family,
            0,
            CriticalLoad::Force(&force),
            &mode.as_vibration_mode(),
        );
        let Err(GradientError::NotSolved { share, .. }) = refused else {
            panic!("{refused:?}")
        };
        assert!((share - 1.0).abs() < 1e-9, "{share}");
    }
}

/// A path that does not locate its critical points says so.
#[test]
fn critical_points_say_whether_they_are_located() {
    for locate in [true, false] {
        let mut simulation = Simulation::new(truss(50.0, 1.0, 1.05)).unwrap();
        let apex = simulation.model().node_named("apex").unwrap();
        simulation.set_force(apex, 0, &[0.0, -1.0, 0.0]).unwrap();
        let how = Continuation {
            loads: Loads {
                forces: true,
                ..Loads::default()
            },
            locate,
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true).unwrap();
        assert_eq!(path.critical.len(), 2, "up and down the way");
        for point in path.critical {
            let expected = if locate { 0.0..1e-9 } else { 1.0..1.1 };
            assert!(expected.contains(&point.bracket), "{locate}: {:e}", point.bracket);
        }
    }
}

/// Multipliers are as many numbers as there are rows; else nothing changes.
#[test]
fn multipliers_of_other_rows_are_refused() {
    let mut simulation = Simulation::new(arch(1e8, 0.06, true)).unwrap();
    let rows = simulation.multipliers().len();
    let set: Vec<f64> = (0..rows).map(|k| k as f64).collect();
    simulation.set_multipliers(&set).unwrap();
    assert_eq!(simulation.multipliers(), set);
    let short = simulation.set_multipliers(&set[1..]).unwrap_err().to_string();
    assert!(short.contains("multipliers"), "{short}");
    let mut bad = set.clone();
    bad[rows - 1] = f64::NAN;
    let bad = simulation.set_multipliers(&bad).unwrap_err().to_string();
    assert!(bad.contains("`push`"), "{bad}");
    assert_eq!(simulation.multipliers(), set);
}

/// Of an arch, against differences of limit loads that paths locate.
#[test]
fn the_limit_load_of_an_arch_moves_as_differences_say() {
    let p = [1e8, 0.06];
    let make = |p: &[f64]| arch(p[0], p[1], false);
    let (load, by) = limit_load(&make, &p, "crown", 2);
    for k in 0..2 {
        let step = 4e-3 * p[k];
        let at = |times: f64| {
            let mut moved = p;
            moved[k] += times * step;
            limit_load(&make, &moved, "crown", 2).0
        };
        let differences = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
        // Loads are located to about 1e-10, which steps of 4e-3 divide.
        let off = ((by[k] - differences) * p[k] / load).abs();
        assert!(off < 1e-6, "{k}: {} {differences}", by[k]);
    }
}
