//! Single equilibria by all methods.

use super::*;

const METHODS: [StaticMethod; 4] = [
    StaticMethod::Newton,
    StaticMethod::PseudoStatic,
    StaticMethod::DynamicRelaxation,
    StaticMethod::ConjugateGradients,
];

fn by(method: StaticMethod) -> Equilibrium {
    match method {
        StaticMethod::DynamicRelaxation => Equilibrium::relaxation(),
        StaticMethod::ConjugateGradients => Equilibrium::conjugate_gradients(),
        method => Equilibrium {
            method,
            ..Equilibrium::default()
        },
    }
}

/// Case F11: three scalars on springs, `K x = f` with the solution (0.1, 0.2, 0.4).
#[test]
fn springs_in_a_row() {
    for method in METHODS {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let mut model = Model::new();
            let x = model.add_scalars("x", &[0.0; 3]).unwrap();
            let pairs = [
                (End::element(0, 0), End::Point([0.0; 3])),
                (End::element(0, 1), End::element(0, 0)),
                (End::element(0, 2), End::element(0, 1)),
            ];
            let gaps = model
                .add_mapped("gaps", &[x], Difference::new(&pairs).in_dimension(1))
                .unwrap();
            let law = DiagonalCompliance::new(&[1.0 / 20.0, 1.0 / 10.0, 1.0 / 15.0]);
            model.add_force_field("springs", gaps, law, treatment).unwrap();
            let mut simulation = Simulation::new(model).unwrap();
            for (k, force) in [1.0, -2.0, 3.0].into_iter().enumerate() {
                simulation.set_force(x, k, &[force]).unwrap();
            }
            let report = simulation.find_equilibrium(&by(method)).unwrap();
            for (x, exact) in simulation.positions(x).iter().zip([0.1, 0.2, 0.4]) {
                // Forces are missed by 1e-10 of theirs.
                assert!((x - exact).abs() < 1e-9, "{method:?} {treatment:?} {x} {exact}");
            }
            if method == StaticMethod::Newton {
                assert_eq!(report.iterations, 1);
                assert!(report.is_stable());
            }
        }
    }
}

/// A chain of springs of 0.1 m at 200 N/m under its weight between two points 1 m apart; it starts
/// as a straight row, which holds nothing across.
fn slack_chain(treatment: Treatment) -> (Model, NodeId) {
    let (links, length) = (10, 0.12);
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let places: Vec<[f64; 3]> = (1..links).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    let nodes = model.add_particles("nodes", &places).unwrap();
    model.add_mass("mass", nodes, Mass::Uniform(0.1)).unwrap();
    let end = |i: i32| match i {
        0 => End::Point([0.0; 3]),
        i if i == links => End::Point([1.0, 0.0, 0.0]),
        i => End::element(0, usize::try_from(i - 1).unwrap()),
    };
    let pairs: Vec<_> = (0..links).map(|i| (end(i + 1), end(i))).collect();
    let lengths = Distance::new(&pairs).with_rest_lengths(&[length]);
    let lengths = model.add_mapped("lengths", &[nodes], lengths).unwrap();
    let law = UniformCompliance::from_stiffness(200.0);
    model.add_force_field("springs", lengths, law, treatment).unwrap();
    (model, nodes)
}

/// Newton, the flow and relaxation find the same sagging chain, in both treatments. Each node: the
/// forces of its two springs carry its weight.
#[test]
fn all_methods_agree_on_a_chain() {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for method in METHODS {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let (model, nodes) = slack_chain(treatment);
            let mut simulation = Simulation::new(model).unwrap();
            let report = simulation.find_equilibrium(&by(method)).unwrap();
            println!("{method:?} {treatment:?}: {report:?}");
            let x = simulation.positions(nodes).to_vec();
            let mut all = vec![0.0; 3];
            all.extend(&x);
            all.extend([1.0, 0.0, 0.0]);
            let pull = |i: usize| {
                let d: Vec<f64> = (0..3).map(|k| all[3 * i + 3 + k] - all[3 * i + k]).collect();
                let l = d.iter().map(|d| d * d).sum::<f64>().sqrt();
                let tension = 200.0 * (l - 0.12);
                [0, 1, 2].map(|k| tension * d[k] / l)
            };
            for i in 0..9 {
                let (a, b) = (pull(i), pull(i + 1));
                let missed = [0, 1, 2].map(|k| b[k] - a[k] - if k == 1 { 0.981 } else { 0.0 });
                assert!(missed.iter().all(|m| m.abs() < 1e-8), "{method:?} {missed:?}");
            }
            assert!(x[13] < -0.2);
            found.push(x);
        }
    }
    for other in &found[1..] {
        for (a, b) in found[0].iter().zip(other) {
            // Tolerance 1e-10 of the forces; the softest motion of the chain has a stiffness of
            // about 1 N/m.
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}

/// Case B04: 40 hard links hang between two points. From two straight halves, where no link has a
/// force: nothing but the links' own forces holds them.
#[test]
fn a_chain_of_hard_links() {
    let (links, length, span) = (40, 1.5, 1.0);
    let l = length / f64::from(links);
    let slope = l * (1.0f64 - (span / length).powi(2)).sqrt();
    let inner: Vec<[f64; 3]> = (1..links)
        .map(|i| {
            [
                span * f64::from(i) / f64::from(links),
                -slope * f64::from(i.min(links - i)),
                0.0,
            ]
        })
        .collect();
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let nodes = model.add_particles("nodes", &inner).unwrap();
    model.add_mass("m", nodes, Mass::Uniform(l)).unwrap();
    let end = |i: i32| match i {
        0 => End::Point([0.0; 3]),
        i if i == links => End::Point([span, 0.0, 0.0]),
        i => End::element(0, usize::try_from(i - 1).unwrap()),
    };
    let pairs: Vec<_> = (0..links).map(|i| (end(i + 1), end(i))).collect();
    let lengths = Distance::new(&pairs).with_rest_lengths(&[l]);
    let lengths = model.add_mapped("lengths", &[nodes], lengths).unwrap();
    let hard = model.add_constraint("hard", lengths, Level::Position).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    println!("hanging chain: {report:?}");
    let low = simulation
        .positions(nodes)
        .chunks(3)
        .map(|x| x[1])
        .fold(0.0, f64::min);
    assert!((-low - 0.5028357728653532).abs() < 1e-9, "{low}");
    let tension = -simulation.reaction(hard)[0];
    assert!((tension - 7.784677449743643).abs() < 1e-8, "{tension}");
    assert!(report.is_stable() && report.free_modes == 0, "{report:?}");
    // It stays there.
    let before = simulation.positions(nodes).to_vec();
    simulation.step(0.01).unwrap();
    let moved = before.iter().zip(simulation.positions(nodes));
    assert!(moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-11);
}

/// The same link at the level of velocities has no static meaning; free motion under a load has no
/// equilibrium, without one it is free.
#[test]
fn what_is_not_held_is_named() {
    let falls = |gravity: f64| {
        let mut model = Model::new();
        model.set_gravity([0.0, gravity, 0.0]).unwrap();
        let stones = model
            .add_particles("stones", &[[0.0; 3], [1.0, 0.0, 0.0]])
            .unwrap();
        model.add_mass("m", stones, Mass::Uniform(1.0)).unwrap();
        let pair = [(End::element(0, 0), End::element(0, 1))];
        let link = Distance::new(&pair).with_rest_lengths(&[1.0]);
        let link = model.add_mapped("link", &[stones], link).unwrap();
        model.add_constraint("hard", link, Level::Position).unwrap();
        Simulation::new(model).unwrap()
    };
    let mut free = falls(0.0);
    let report = free.find_equilibrium(&Equilibrium::default()).unwrap();
    // Six motions of two stones, one held by the link.
    assert_eq!(
        (report.free_modes, report.negative_modes, report.redundant_rows),
        (5, Some(0), 0)
    );
    let mut falling = falls(-9.81);
    let before = falling.state().clone();
    let how = Equilibrium {
        max_iterations: 40,
        ..Equilibrium::default()
    };
    let error = falling.find_equilibrium(&how).unwrap_err();
    let Error::NoEquilibrium { what, report, .. } = &error else {
        panic!("{error}")
    };
    assert!(
        what.contains("`stones`, element") && report.residual > 0.1,
        "{error}"
    );
    assert_eq!(*falling.state(), before);
    println!("{error}");
}

/// A duplicate of a hard row shares its force in some way, and is counted.
#[test]
fn redundant_rows_are_counted() {
    let mut model = Model::new();
    model.set_gravity([0.0, -10.0, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[0.0, -1.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(2.0)).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3]), (0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bob], rod).unwrap();
    let hard = model.add_constraint("hard", rod, Level::Position).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!(
        (report.redundant_rows, report.free_modes, report.negative_modes),
        (1, 0, Some(0))
    );
    let sum: f64 = simulation.reaction(hard).iter().sum();
    assert!((sum + 20.0).abs() < 1e-9, "{sum}");
}

/// A pendulum on its head is at rest, and a saddle: two directions fall.
#[test]
fn a_saddle_is_reported() {
    let mut model = Model::new();
    model.set_gravity([0.0, -10.0, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[0.0, 1.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(2.0)).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bob], rod).unwrap();
    let hard = model.add_constraint("hard", rod, Level::Position).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    // The first solve finds the force of the rod, without which there is no telling.
    let found = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    println!("{found:?}");
    let up = simulation.positions(bob)[1] > 0.0;
    assert_eq!(found.negative_modes, Some(if up { 2 } else { 0 }));
    let force = simulation.reaction(hard)[0];
    assert!((force - if up { 20.0 } else { -20.0 }).abs() < 1e-9);
}

#[test]
fn what_has_no_meaning_at_rest_is_refused() {
    let refused = |level: Level| {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.0]).unwrap();
        model.add_constraint("held", x, level).unwrap();
        Simulation::new(model)
            .unwrap()
            .find_equilibrium(&Equilibrium::default())
    };
    for level in [
        Level::Velocity { curvature: 0.5 },
        Level::Restitution { coefficient: 0.5 },
    ] {
        let error = refused(level).unwrap_err();
        assert!(
            matches!(&error, Error::NotStatic { what } if what.contains("`held`")),
            "{error}"
        );
    }
    assert!(refused(Level::Baumgarte { rate: 1.0 }).is_ok());
    let (model, _) = truss(Treatment::Stiffness);
    let mut simulation = Simulation::new(model).unwrap();
    for tolerance in [f64::NAN, f64::INFINITY, 1.0, 0.0, -1.0] {
        let how = Equilibrium {
            tolerance,
            ..Equilibrium::default()
        };
        assert!(matches!(
            simulation.find_equilibrium(&how),
            Err(Error::OutOfRange { .. })
        ));
    }
    // Hard rows have no force by a law.
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.0]).unwrap();
    model.add_constraint("held", x, Level::Position).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    for how in [Equilibrium::relaxation(), Equilibrium::conjugate_gradients()] {
        let error = simulation.find_equilibrium(&how).unwrap_err();
        assert!(
            matches!(&error, Error::NotStatic { what } if what.contains("hard rows of `held`")),
            "{error}"
        );
    }
}

/// A spring whose force saturates, from where whole steps of Newton's method go ever farther to
/// both sides: shorter ones come to rest without the help of the flow.
#[test]
fn steps_are_shortened() {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.02]).unwrap();
    model
        .add_force_field("spring", x, Spring::saturating(100.0, 1.0), Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(simulation.positions(x)[0].abs() < 1e-12, "{report:?}");
    assert!(report.flow_steps == 0 && report.iterations < 15, "{report:?}");
}

/// Conjugate gradients end where relaxation does, on a chain of thirty springs of very different
/// stiffness, after a tenth of its iterations.
#[test]
fn conjugate_gradients_need_a_tenth_of_the_iterations() {
    let links = 30;
    let build = || {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let places: Vec<[f64; 3]> = (1..=links).map(|k| [0.1 * f64::from(k), 0.0, 0.0]).collect();
        let p = model.add_particles("p", &places).unwrap();
        model.add_mass("m", p, Mass::Uniform(0.01)).unwrap();
        let pairs: Vec<(End, End)> = (0..links as usize)
            .map(|k| match k {
                0 => (End::element(0, 0), End::Point([0.0; 3])),
                k => (End::element(0, k), End::element(0, k - 1)),
            })
            .collect();
        let lengths = Distance::new(&pairs).with_rest_lengths(&vec![0.1; links as usize]);
        let lengths = model.add_mapped("lengths", &[p], lengths).unwrap();
        let compliances: Vec<f64> = (0..links).map(|k| if k % 3 == 0 { 1e-3 } else { 1e-2 }).collect();
        let law = DiagonalCompliance::new(&compliances);
        model
            .add_force_field("springs", lengths, law, Treatment::Stiffness)
            .unwrap();
        (Simulation::new(model).unwrap(), p)
    };
    let found = [Equilibrium::relaxation(), Equilibrium::conjugate_gradients()].map(|how| {
        let (mut simulation, p) = build();
        let report = simulation.find_equilibrium(&how).unwrap();
        // The springs carry what hangs below.
        let x = simulation.positions(p).to_vec();
        for k in 0..links as usize {
            let above = if k == 0 { 0.0 } else { x[3 * k - 2] };
            let force = 0.01 * 9.81 * (links as usize - k) as f64;
            let expected = 0.1 + force * if k % 3 == 0 { 1e-3 } else { 1e-2 };
            assert!((above - x[3 * k + 1] - expected).abs() < 1e-8, "{how:?} {k}");
        }
        report.iterations
    });
    println!("{found:?}");
    assert!(10 * found[1] < found[0], "{found:?}");
}

/// A weight on a compliant rope that hangs slack at first, by methods without a factor: it falls
/// until the rope is as long as its pull wants.
#[test]
fn a_slack_rope_is_tightened_without_a_factor() {
    for method in METHODS {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let p = model.add_particles("p", &[[0.1, -0.6, 0.0]]).unwrap();
        model.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let length = model.add_mapped("length", &[p], length).unwrap();
        let law = UniformCompliance::new(1e-2);
        let rope = model
            .add_force_field("rope", length, law, Treatment::Compliance)
            .unwrap();
        model.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
        // A weak spring holds it where the rope does not.
        let weak = UniformCompliance::new(0.1);
        model
            .add_force_field("weak", p, weak, Treatment::Stiffness)
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        simulation.find_equilibrium(&by(method)).unwrap();
        let y = simulation.positions(p)[1];
        // Both springs hang at the origin: 100 (-y - 1) + 10 (-y) = 2 g.
        let expected = -(2.0 * 9.81 + 100.0) / 110.0;
        assert!((y - expected).abs() < 1e-8, "{method:?}: {y} {expected}");
    }
}
