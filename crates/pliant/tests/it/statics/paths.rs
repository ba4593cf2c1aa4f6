//! Paths over a load factor: limit points of the load, turning points of the displacement.

use super::*;
use pliant::prelude::dual::DualNum;

const TREATMENTS: [Treatment; 2] = [Treatment::Stiffness, Treatment::Compliance];

/// The whole curve of a truss that snaps through, with both limit loads.
#[test]
fn a_truss_snaps_through() {
    for treatment in TREATMENTS {
        let (mut model, apex) = truss(treatment);
        let unit = load(&mut model, apex, &[0.0, -1.0, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let (_, limit) = truss_limit();
        let how = Continuation {
            loads: loads(&[unit]),
            end: 2.0 * limit,
            step: 0.1 * limit,
            largest_step: 0.2 * limit,
            ..Continuation::default()
        };
        let mut seen = 0;
        let path = simulation.follow(&how, |s, p| {
            seen += 1;
            s.positions(apex)[1] == p.state.positions[1]
        });
        let path = path.unwrap();
        assert_eq!(path.end, PathEnd::Reached);
        assert_eq!(path.points.last().unwrap().load, 2.0 * limit);
        assert_eq!(seen, path.points.len());
        for point in &path.points {
            let y = point.state.positions[1];
            // Every point to its tolerance of 1e-10 of the bars' forces, at most 20 N.
            assert!(
                (truss_load(y) - point.load).abs() < 1e-8,
                "{y}: {} {}",
                truss_load(y),
                point.load
            );
            // Stable where the load rises with the descent: outside the limit points.
            let stable = y.abs() > truss_limit().0;
            assert_eq!(point.negative_modes, usize::from(!stable), "{y}");
        }
        // Between the limit points there are points, on both sides of the flat position.
        let ys = || path.points.iter().map(|p| p.state.positions[1]);
        assert!(ys().any(|y| y > 0.0 && y < truss_limit().0) && ys().any(|y| y < 0.0));
        // The load is stationary there: its error is the square of what halving leaves.
        let found: Vec<_> = path.critical.iter().map(|c| (c.kind, c.load / limit)).collect();
        println!(
            "limit loads over the exact one: {found:?}, {} points",
            path.points.len()
        );
        assert_eq!(found.len(), 2);
        assert!(
            (found[0].1 - 1.0).abs() < 1e-9 && (found[1].1 + 1.0).abs() < 1e-9,
            "{found:?}"
        );
        assert!(found.iter().all(|f| f.0 == CriticalKind::Limit));
        // From under the first load the simulation itself is at the end of the path.
        assert_eq!(simulation.positions(apex)[1], ys().next_back().unwrap());
    }
}

/// Steps of the load alone end at the limit point, and say so.
#[test]
fn load_control_ends_at_the_limit() {
    let (mut model, apex) = truss(Treatment::Stiffness);
    let unit = load(&mut model, apex, &[0.0, -1.0, 0.0]);
    let mut simulation = Simulation::new(model).unwrap();
    let (y, limit) = truss_limit();
    let how = Continuation {
        loads: loads(&[unit]),
        end: 2.0 * limit,
        step: 0.1 * limit,
        largest_step: 0.2 * limit,
        control: Control::Load,
        ..Continuation::default()
    };
    let path = simulation.follow(&how, |_, _| true).unwrap();
    let last = path.points.last().unwrap();
    assert!(
        matches!(&path.end, PathEnd::Stuck(e) if matches!(**e, Error::StuckPath { load, free: None, .. } if load == last.load)),
        "{:?}",
        path.end
    );
    // Next to the limit: the shortest step is 1e-10 of the first, and points miss 1e-10 of the
    // forces of the bars.
    assert!(
        last.load <= limit * (1.0 + 1e-9) && last.load > limit * (1.0 - 1e-6),
        "{}",
        last.load / limit
    );
    assert!((last.state.positions[1] - y).abs() < 1e-2);
    // Within that tolerance it may pass it.
    let near = |c: &f64| (c / limit - 1.0).abs() < 1e-6;
    let critical: Vec<f64> = path.critical.iter().map(|c| c.load).collect();
    assert!(critical.iter().all(near), "{critical:?} {limit}");
    // Where the path ended the simulation is.
    assert_eq!(simulation.positions(apex)[1], last.state.positions[1]);
}

/// A soft spring in series: the point where the load is applied goes back where the truss snaps
/// (snap-back). With the load as the factor the limit points are those of the truss alone; with the
/// motion of the end as the factor they are where that motion turns.
#[test]
fn a_truss_on_a_soft_spring_snaps_back() {
    let soft = 15.0;
    let (y_limit, limit) = truss_limit();
    let build = || {
        let (mut model, apex) = truss(Treatment::Compliance);
        let end = model.add_particles("end", &[[0.0, RISE, 0.0]]).unwrap();
        model.fix(end, 0, &[true, false, true]).unwrap();
        let pair = [(End::element(1, 0), End::element(0, 0))];
        let between = model
            .add_mapped("between", &[apex, end], Difference::new(&pair))
            .unwrap();
        model
            .add_force_field(
                "soft",
                between,
                UniformCompliance::from_stiffness(soft),
                Treatment::Stiffness,
            )
            .unwrap();
        (model, end)
    };
    // Depth of the end at a height of the apex.
    let depth = |y: f64| RISE - y + truss_load(y) / soft;
    let slope = |y: f64| (depth(y + 1e-6) - depth(y - 1e-6)) / 2e-6;

    let (mut model, end) = build();
    let unit = load(&mut model, end, &[0.0, -1.0, 0.0]);
    let mut simulation = Simulation::new(model).unwrap();
    let how = Continuation {
        loads: loads(&[unit]),
        end: 1.5 * limit,
        step: 0.1 * limit,
        largest_step: 0.1 * limit,
        ..Continuation::default()
    };
    let path = simulation.follow(&how, |_, _| true).unwrap();
    assert_eq!(path.end, PathEnd::Reached);
    let mut backwards = 0;
    for two in path.points.windows(2) {
        let [a, b] = [0, 1].map(|k| {
            let of_end = simulation.model().positions(&two[k].state, end)[1];
            (two[k].state.positions[1], of_end)
        });
        backwards += usize::from(b.1 > a.1 + 1e-9 && b.0 < a.0);
        assert!((truss_load(b.0) - two[1].load).abs() < 1e-7);
        assert!((RISE - b.1 - depth(b.0)).abs() < 1e-9, "{b:?}");
    }
    assert!(backwards > 3, "{backwards}");
    let found: Vec<_> = path.critical.iter().map(|c| c.load / limit).collect();
    assert!(
        found.len() == 2 && (found[0] - 1.0).abs() < 1e-9 && (found[1] + 1.0).abs() < 1e-9,
        "{found:?}"
    );

    // Driven: the end is held at -depth.
    let (mut model, end) = build();
    let height = model
        .add_mapped("height", &[end], Projection::new(&[(0, [0.0, 1.0, 0.0])]))
        .unwrap();
    let held = model.add_constraint("held", height, Level::Position).unwrap();
    // What is scaled is the motion: from 0 m, so that the factor is the height of the end.
    model
        .set_motion(held, Some(PrescribedMotion::constant(&[1.0])))
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let how = Continuation {
        loads: loads(&[held]),
        start: RISE,
        end: RISE - 1.2 * depth(-RISE),
        step: 0.01,
        largest_step: 0.02,
        ..Continuation::default()
    };
    let path = simulation.follow(&how, |_, _| true).unwrap();
    assert_eq!(path.end, PathEnd::Reached);
    for p in &path.points {
        let y = p.state.positions[1];
        assert!((p.load - simulation.model().positions(&p.state, end)[1]).abs() < 1e-9);
        assert!((RISE - p.load - depth(y)).abs() < 1e-9);
        // The force of the constraint is the load, downwards.
        assert!((p.multipliers.last().unwrap() + truss_load(y)).abs() < 1e-6);
    }
    let exact = [(0.0, y_limit), (-y_limit, 0.0)].map(|(a, b)| RISE - depth(zero(slope, a, b)));
    let found: Vec<_> = path.critical.iter().map(|c| (c.kind, c.load)).collect();
    println!("turning points of the end: {found:?}, exact {exact:?}");
    assert_eq!(found.len(), 2);
    for (found, exact) in found.iter().zip(exact) {
        // Stationary too; differences of 1e-6 in the judge.
        assert_eq!(found.0, CriticalKind::Limit);
        assert!((found.1 - exact).abs() < 1e-9, "{found:?} {exact}");
    }
}

/// A rigid bar on a rotary spring under its axial load: it is straight up to `k/l`, where the
/// stability changes and the load goes on; pushed a little it follows `P = k theta/(l sin theta)`.
#[test]
fn a_bar_on_a_rotary_spring_buckles() {
    let (stiffness, length) = (3.0, 0.5);
    let build = |push: f64| {
        let mut model = Model::new();
        let turn = model.add_scalars("turn", &[0.0]).unwrap();
        model
            .add_force_field(
                "spring",
                turn,
                UniformCompliance::from_stiffness(stiffness),
                Treatment::Stiffness,
            )
            .unwrap();
        let tip = Formula::new(2, vec![vec![Dependency::new(0, 0)]], move |x, out| {
            out[0] = x[0].sin() * length;
            out[1] = x[0].cos() * length;
        });
        let tip = model.add_mapped("tip", &[turn], tip).unwrap();
        let unit = load(&mut model, tip, &[0.0, -1.0]);
        let aside = ConstantForce::new(&[push, 0.0]);
        model
            .add_force_field("push", tip, aside, Treatment::Stiffness)
            .unwrap();
        (Simulation::new(model).unwrap(), unit, turn)
    };
    let critical = stiffness / length;
    let (mut simulation, unit, turn) = build(0.0);
    let how = Continuation {
        loads: loads(&[unit]),
        end: 2.0 * critical,
        step: 0.3 * critical,
        largest_step: 0.3 * critical,
        ..Continuation::default()
    };
    let path = simulation.follow(&how, |_, _| true).unwrap();
    assert_eq!(path.critical.len(), 1);
    let found = &path.critical[0];
    assert_eq!(
        (found.kind, found.negative_modes),
        (CriticalKind::Bifurcation, (0, 1))
    );
    assert!((found.load / critical - 1.0).abs() < 1e-10, "{found:?}");
    assert_eq!(simulation.positions(turn), &[0.0]);

    let push = 1e-3;
    let (mut simulation, unit, turn) = build(push);
    let how = Continuation {
        loads: loads(&[unit]),
        ..how
    };
    let path = simulation.follow(&how, |_, _| true).unwrap();
    assert!(path.critical.is_empty() && path.end == PathEnd::Reached);
    let angle = simulation.positions(turn)[0];
    let held = (stiffness * angle - push * length * angle.cos()) / (length * angle.sin());
    assert!(
        angle > 1.0 && (held - 2.0 * critical).abs() < 1e-8,
        "{angle} {held}"
    );
}

/// Points, factors and what the observer says end a path; wrong numbers are refused.
#[test]
fn paths_end_where_they_are_told() {
    let start = |how: Continuation, stop: bool| {
        let (mut model, apex) = truss(Treatment::Stiffness);
        let unit = load(&mut model, apex, &[0.0, -1.0, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let how = Continuation {
            loads: loads(&[unit]),
            end: 1.0,
            ..how
        };
        simulation.follow(&how, |_, p| !stop || p.load < 0.3)
    };
    let few = Continuation {
        max_points: 3,
        ..Continuation::default()
    };
    let path = start(few, false).unwrap();
    assert_eq!((path.points.len(), path.end), (3, PathEnd::Points));
    let path = start(Continuation::default(), true).unwrap();
    assert_eq!(path.end, PathEnd::Stopped);
    assert!(path.points.last().unwrap().load >= 0.3);
    for how in [
        Continuation {
            step: 0.0,
            ..Continuation::default()
        },
        Continuation {
            largest_step: -1.0,
            ..Continuation::default()
        },
        Continuation {
            tolerance: f64::NAN,
            ..Continuation::default()
        },
        Continuation {
            tolerance: 1.0,
            ..Continuation::default()
        },
        Continuation {
            max_points: 0,
            ..Continuation::default()
        },
        Continuation {
            start: 1.0,
            ..Continuation::default()
        },
        Continuation {
            start: f64::INFINITY,
            ..Continuation::default()
        },
    ] {
        assert!(matches!(start(how, false), Err(Error::OutOfRange { .. })));
    }
}

/// A spring that grows with the factor under a force, and a force that does under all springs:
/// `x = f/(k_0 + p k_1)`, `x = p f/(k_0 + k_1)`.
#[test]
fn what_is_named_is_scaled() {
    let (k, force) = ([20.0, 30.0], 6.0);
    let build = || {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.0]).unwrap();
        let [_, second] = ["first", "second"].map(|name| {
            let stiffness = k[usize::from(name == "second")];
            let law = UniformCompliance::from_stiffness(stiffness);
            model.add_force_field(name, x, law, Treatment::Stiffness).unwrap()
        });
        let mut simulation = Simulation::new(model).unwrap();
        simulation.set_force(x, 0, &[force]).unwrap();
        (simulation, second)
    };
    let outside = Loads {
        forces: true,
        ..Loads::default()
    };
    for (forces, times) in [(false, 1), (false, 2), (true, 1)] {
        let (mut simulation, second) = build();
        // A load that is named twice is one load.
        let loads = if forces {
            outside.clone()
        } else {
            loads(&vec![second; times])
        };
        let how = Continuation {
            loads,
            start: 0.5,
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true).unwrap();
        assert_eq!(path.end, PathEnd::Reached);
        for p in &path.points {
            let exact = if forces {
                p.load * force / (k[0] + k[1])
            } else {
                force / (k[0] + p.load * k[1])
            };
            assert!((p.state.positions[0] - exact).abs() < 1e-9, "{forces} {}", p.load);
            // One iteration after the tangent, at most two: quadratic.
            assert!(p.iterations <= 3, "{}", p.iterations);
        }
    }
}

/// A component that no factor can scale is refused by its name.
#[test]
fn loads_that_are_none_are_refused() {
    let (mut model, apex) = truss(Treatment::Compliance);
    let mass = model.add_mass("mass", apex, Mass::Uniform(1.0)).unwrap();
    let springs = model.component_named("springs").unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    for (component, name) in [
        (mass, "a mass"),
        (springs, "`springs`"),
        (ComponentId::ForceField(7), "no component"),
        (ComponentId::Constraint(0), "no component"),
    ] {
        let how = Continuation {
            loads: loads(&[component]),
            ..Continuation::default()
        };
        let error = simulation.follow(&how, |_, _| true).unwrap_err();
        assert!(
            matches!(&error, Error::NotStatic { what } if what.contains(name)),
            "{error}"
        );
    }
}

/// A spring that is driven away from where another holds: `x = p g k_1/(k_0 + k_1)`; of a curved
/// law `T(x - p g) + k_0 x = 0`.
#[test]
fn driven_springs_are_loads() {
    let (k, far) = ([20.0, 30.0], 0.4);
    let saturating = |x: f64| k[1] * x / (1.0 + (k[1] * x / 5.0).powi(2)).sqrt();
    for curved in [false, true] {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.0]).unwrap();
        let first = UniformCompliance::from_stiffness(k[0]);
        model
            .add_force_field("first", x, first, Treatment::Stiffness)
            .unwrap();
        let second = if curved {
            model.add_force_field("second", x, Spring::saturating(k[1], 5.0), Treatment::Compliance)
        } else {
            let law = UniformCompliance::from_stiffness(k[1]);
            model.add_force_field("second", x, law, Treatment::Compliance)
        };
        let second = second.unwrap();
        model
            .set_motion(second, Some(PrescribedMotion::constant(&[far])))
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let how = Continuation {
            loads: loads(&[second]),
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true).unwrap();
        assert_eq!(path.end, PathEnd::Reached);
        for p in &path.points {
            let x = p.state.positions[0];
            let held = if curved {
                saturating(x - p.load * far)
            } else {
                k[1] * (x - p.load * far)
            };
            // To 1e-10 of some 10 N.
            assert!((held + k[0] * x).abs() < 1e-8, "{curved} {}: {x}", p.load);
            assert!((p.multipliers[0] + held).abs() < 1e-8, "{curved} {}", p.load);
        }
        // Driven whole, as a single equilibrium is.
        let last = path.points.last().unwrap().state.positions[0];
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        assert!(last > 0.1 && (simulation.positions(x)[0] - last).abs() < 1e-9);
    }
}

/// A limit that the path comes to and leaves: a motor of at most 2 N that is driven past what it
/// can hold. Its motion is a load while it acts, none while it gives way.
#[test]
fn a_driven_row_gives_way_at_its_bound() {
    let (stiffness, most) = (20.0, 2.0);
    for control in [Control::Load, Control::ArcLength] {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.0]).unwrap();
        let law = UniformCompliance::from_stiffness(stiffness);
        model
            .add_force_field("spring", x, law, Treatment::Stiffness)
            .unwrap();
        let motor = model.add_constraint("motor", x, Level::Position).unwrap();
        model
            .set_motion(motor, Some(PrescribedMotion::constant(&[0.3])))
            .unwrap();
        model.set_bounds(motor, -most, most).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let how = Continuation {
            loads: loads(&[motor]),
            control,
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true).unwrap();
        assert_eq!(path.end, PathEnd::Reached, "{control:?}");
        for p in &path.points {
            let exact = (0.3 * p.load).min(most / stiffness);
            assert!(
                (p.state.positions[0] - exact).abs() < 1e-9,
                "{control:?} {}",
                p.load
            );
            assert!((p.multipliers[0] - stiffness * exact).abs() < 1e-8);
        }
        assert!(path.points.iter().any(|p| p.load > 0.05 && p.load < 0.3));
    }
}

/// Two bars on rotary springs under one load, each alone: both lose their stability within one
/// step, at `k/l`.
#[test]
fn several_critical_points_in_one_step() {
    let (stiffness, length) = ([3.0, 6.0], 0.5);
    for (control, locate) in [
        (Control::ArcLength, true),
        (Control::Load, true),
        (Control::Load, false),
    ] {
        let mut model = Model::new();
        let turns = model.add_scalars("turns", &[0.0; 2]).unwrap();
        let law = DiagonalCompliance::new(&stiffness.map(|k| 1.0 / k));
        model
            .add_force_field("springs", turns, law, Treatment::Stiffness)
            .unwrap();
        let each = |k| vec![Dependency::new(0, k)];
        let tips = Formula::new(1, vec![each(0), each(1)], move |x, out| {
            out[0] = x[0].cos() * length;
        });
        let tips = model.add_mapped("tips", &[turns], tips).unwrap();
        let unit = load(&mut model, tips, &[-1.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let how = Continuation {
            loads: loads(&[unit]),
            end: 16.0,
            step: 16.0,
            largest_step: 16.0,
            control,
            locate,
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true).unwrap();
        assert_eq!(path.end, PathEnd::Reached);
        assert_eq!(
            path.points.iter().map(|p| p.negative_modes).collect::<Vec<_>>(),
            [0, 2]
        );
        assert_eq!(
            path.points.iter().map(|p| p.load).collect::<Vec<_>>(),
            [0.0, 16.0]
        );
        let found: Vec<_> = path.critical.iter().map(|c| (c.load, c.negative_modes)).collect();
        let both = path.critical.iter();
        assert!(
            both.clone()
                .all(|c| (c.kind, c.after) == (CriticalKind::Bifurcation, 0))
        );
        if locate {
            assert_eq!(found.len(), 2, "{found:?}");
            for ((load, modes), (k, exact)) in found.iter().zip([(3.0, (0, 1)), (6.0, (1, 2))]) {
                // Halved forty times.
                assert!((load - k / length).abs() < 1e-9 && *modes == exact, "{found:?}");
            }
        } else {
            // In the middle of the step.
            assert_eq!(found, [(8.0, (0, 2))]);
        }
    }
}
