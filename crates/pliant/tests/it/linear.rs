//! Steps by every linear solver: the same states, the solver named, and an error where one does not
//! converge.

use pliant::Preconditioner::{Blocks, Diagonal, IncompleteCholesky};
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;
use pliant::{BoundedRows, LinearSolver};

/// Relative residual that every solver is asked for.
const TOLERANCE: f64 = 1e-12;

fn options(linear: LinearSolver) -> Options {
    let mut options = Options {
        linear,
        ..Options::theta()
    };
    options.tuning.solver.tolerance = TOLERANCE;
    options
}

/// Twelve particles on links of a compliance, hung up at one end.
fn chain(compliance: f64) -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let places: Vec<[f64; 3]> = (1..=12).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    let knots = m.add_particles("knots", &places).unwrap();
    m.add_mass("m", knots, Mass::Uniform(0.1)).unwrap();
    let mut pairs = vec![(End::Point([0.0; 3]), End::element(0, 0))];
    pairs.extend((1..12).map(|i| (End::element(0, i - 1), End::element(0, i))));
    let lengths = Distance::new(&pairs).with_rest_lengths(&[0.1; 12]);
    let links = m.add_mapped("links", &[knots], lengths).unwrap();
    let law = UniformCompliance::new(compliance);
    m.add_force_field("links", links, law, Treatment::Compliance)
        .unwrap();
    m
}

/// A net of springs on two sides of a square, treated as stiffnesses.
fn net() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let n = 6;
    let place = |i: usize| [0.1 * (i % n) as f64, 0.1 * (i / n) as f64, 0.0];
    let places: Vec<[f64; 3]> = (0..n * n).map(place).collect();
    let knots = m.add_particles("knots", &places).unwrap();
    m.add_mass("m", knots, Mass::Uniform(0.01)).unwrap();
    for i in (0..n * n).filter(|i| i % n == 0) {
        m.fix(knots, i, &[true; 3]).unwrap();
    }
    let right = (0..n * n).filter(|i| i % n + 1 < n).map(|i| (i, i + 1));
    let up = (0..n * (n - 1)).map(|i| (i, i + n));
    let pairs: Vec<_> = right
        .chain(up)
        .map(|(a, b)| (End::element(0, a), End::element(0, b)))
        .collect();
    let lengths = m.add_mapped("lengths", &[knots], Distance::new(&pairs)).unwrap();
    let law = Spring::linear(200.0).with_rest(0.1);
    m.add_force_field("springs", lengths, law, Treatment::Stiffness)
        .unwrap();
    m
}

/// A block of soft rubber that hangs from its upper face.
fn solid() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let mesh = Mesh::hexahedral_box([0.2, 0.2, 0.2], [3; 3]).unwrap();
    let parts = Solid::linear(1e5, 0.3)
        .with_density(1000.0)
        .add_to(&mut m, "block", &mesh)
        .unwrap();
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[2] > 0.2 - 1e-9 {
            m.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
    }
    m
}

/// The positions and velocities after some steps, and the last report.
fn run(model: Model, options: Options) -> (Vec<f64>, StepReport) {
    let mut s = Simulation::with_options(model, options).unwrap();
    let mut last = None;
    for _ in 0..20 {
        last = Some(s.step(0.01).unwrap());
    }
    let state = s.state();
    (
        state.positions.iter().chain(&state.velocities).copied().collect(),
        last.unwrap(),
    )
}

fn differ(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |d, (x, y)| d.max((x - y).abs())) / size
}

/// Twenty steps add up twenty solves of a relative residual of 1e-12; the condition of the systems,
/// below 1e4, amplifies each.
const SAME: f64 = 20.0 * TOLERANCE * 1e4;

#[test]
fn every_linear_solver_takes_the_same_steps() {
    let solvers = [
        LinearSolver::krylov(KrylovMethod::Cg, Blocks),
        LinearSolver::krylov(KrylovMethod::Cg, Diagonal),
        LinearSolver::krylov(KrylovMethod::Minres, Blocks),
        LinearSolver::krylov(KrylovMethod::Gmres, Blocks),
        LinearSolver::DenseCholesky,
    ];
    type Build = fn() -> Model;
    let models: [(&str, Build); 4] = [
        ("hard chain", || chain(0.0)),
        ("compliant chain", || chain(1e-4)),
        ("net", net),
        ("solid", solid),
    ];
    for (name, model) in models {
        let (direct, report) = run(model(), options(LinearSolver::Direct));
        assert!(report.solve.solver.contains("L D L^T"), "{}", report.solve.solver);
        for solver in solvers {
            let (found, report) = run(model(), options(solver));
            let d = differ(&direct, &found);
            assert!(d < SAME, "{name}, {solver:?}: {d:e}");
            assert_eq!(report.status, Status::Converged, "{name}, {solver:?}");
            assert!(report.residual.relative <= TOLERANCE, "{name}, {solver:?}");
            assert!(
                !report.solve.solver.contains("L D L^T"),
                "{}",
                report.solve.solver
            );
            let iterative = solver != LinearSolver::DenseCholesky;
            assert_eq!(report.solve.iterations > 0, iterative, "{name}, {solver:?}");
        }
    }
    let (direct, _) = run(net(), options(LinearSolver::Direct));
    let (found, _) = run(
        net(),
        options(LinearSolver::krylov(KrylovMethod::Cg, IncompleteCholesky)),
    );
    assert!(differ(&direct, &found) < SAME);
}

/// A step does not depend on what a solver did before: from a checkpoint the bits are the same.
#[test]
fn iterative_solvers_have_no_memory() {
    let mut s =
        Simulation::with_options(net(), options(LinearSolver::krylov(KrylovMethod::Cg, Blocks))).unwrap();
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    let kept = s.checkpoint();
    s.step(0.01).unwrap();
    let end = s.state().clone();
    let mut other =
        Simulation::with_options(net(), options(LinearSolver::krylov(KrylovMethod::Cg, Blocks))).unwrap();
    other.restore(&kept).unwrap();
    other.step(0.01).unwrap();
    assert_eq!(other.state(), &end);
}

/// A slider that a spring pulls into a stop; by projected Gauss-Seidel the stop carries what it
/// does by the active set.
fn stopped() -> (Model, ComponentId) {
    let mut m = Model::new();
    let slider = m
        .add_particles("slider", &[[1.0, 0.0, 0.0], [1.5, 0.0, 0.0]])
        .unwrap();
    m.add_mass("m", slider, Mass::Uniform(1.0)).unwrap();
    let stops = m
        .add_mapped("x", &[slider], Subset::of_elements(Space::Real(3), &[0, 1]))
        .unwrap();
    m.add_force_field("pull", slider, Spring::linear(50.0), Treatment::Stiffness)
        .unwrap();
    let stop = m
        .add_force_field("stop", stops, UniformCompliance::new(1e-6), Treatment::Compliance)
        .unwrap();
    m.set_bounds(stop, 0.0, f64::INFINITY).unwrap();
    (m, stop)
}

/// Where the sliders are after sixty steps, the force of the stop in each, and the last solver.
fn run_into_stop(options: Options) -> (Vec<f64>, Vec<f64>, &'static str) {
    let (model, stop) = stopped();
    let mut s = Simulation::with_options(model, options).unwrap();
    let (mut solver, mut forces) = ("", Vec::new());
    for _ in 0..60 {
        solver = s.step(0.01).unwrap().solve.solver;
        forces.extend_from_slice(s.reaction(stop));
    }
    (s.state().positions.clone(), forces, solver)
}

#[test]
fn limits_by_gauss_seidel_are_those_of_the_active_set() {
    let step = |bounded_rows| {
        let mut options = options(LinearSolver::Direct);
        options.bounded_rows = bounded_rows;
        options.tuning.bounds.tolerance = TOLERANCE;
        run_into_stop(options)
    };
    let (set, force, _) = step(BoundedRows::ActiveSet);
    let (sweeps, swept, solver) = step(BoundedRows::GaussSeidel);
    assert!(force.iter().any(|f| *f > 1.0), "the stop carries");
    assert!(solver.contains("Gauss-Seidel"), "{solver}");
    assert!(differ(&set, &sweeps) < 60.0 * SAME);
    assert!(differ(&force, &swept) < 1e-6, "{force:?} {swept:?}");
}

/// A tolerance that no arithmetic reaches is an error, by every solver.
#[test]
fn not_converged_is_an_error() {
    for solver in [
        LinearSolver::krylov(KrylovMethod::Cg, Blocks),
        LinearSolver::krylov(KrylovMethod::Minres, Blocks),
        LinearSolver::krylov(KrylovMethod::Gmres, Blocks),
        LinearSolver::DenseCholesky,
    ] {
        let mut options = options(solver);
        options.tuning.solver.tolerance = 1e-40;
        let mut s = Simulation::with_options(chain(0.0), options).unwrap();
        let before = s.checkpoint();
        let error = s.step(0.01).unwrap_err();
        assert!(matches!(error, Error::NotConverged { .. }), "{solver:?}: {error}");
        assert_eq!(s.state(), &before.state, "{solver:?}");
    }
}

/// Rows of bounded force are refused by name where a solver does not take them.
#[test]
fn bounded_rows_are_refused_by_name() {
    let (model, _) = stopped();
    let mut s = Simulation::with_options(model, options(LinearSolver::DenseCholesky)).unwrap();
    let error = s.step(0.01).unwrap_err().to_string();
    assert!(
        error.contains("`stop`") && error.contains("dense Cholesky"),
        "{error}"
    );
    assert_eq!(s.check_method().unwrap_err().to_string(), error);
}

/// A slider runs into its stop and is held there, by iterations as by factors.
#[test]
fn limits_by_iterations_are_those_of_factors() {
    let run = |linear, bounded_rows, make: fn() -> Options| {
        let mut options = Options {
            linear,
            bounded_rows,
            ..make()
        };
        options.tuning.bounds.tolerance = TOLERANCE;
        run_into_stop(options)
    };
    for make in [Options::theta, Options::default] {
        let (expected, force, _) = run(LinearSolver::Direct, BoundedRows::ActiveSet, make);
        assert!(force.iter().any(|f| *f > 1.0), "the stop carries");
        for (method, name) in [
            (KrylovMethod::Cg, "conjugate gradients"),
            (KrylovMethod::Minres, "MINRES"),
            (KrylovMethod::Gmres, "GMRES"),
        ] {
            for bounded in [BoundedRows::ActiveSet, BoundedRows::GaussSeidel] {
                let (found, own, solver) = run(LinearSolver::krylov(method, Blocks), bounded, make);
                assert_eq!(solver, name);
                // Sixty steps of solves to 1e-9; those of stages are known to the error of a step.
                let d = differ(&expected, &found);
                assert!(d < 1e-6, "{name}, {bounded:?}: {d:e}");
                let d = differ(&force, &own);
                assert!(d < 1e-4, "{name}, {bounded:?}: {d:e}");
            }
        }
    }
}

/// A cube of rubber of 6,591 unknowns, fixed on top, of which a factor costs more than iterations.
fn cube() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let mesh = Mesh::hexahedral_box([0.5; 3], [12; 3]).unwrap();
    let parts = Solid::linear(1e5, 0.3)
        .with_density(1000.0)
        .add_to(&mut m, "cube", &mesh)
        .unwrap();
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[2] > 0.5 - 1e-9 {
            m.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
    }
    m
}

/// A thread of 3,000 unknowns, whose factor costs next to nothing.
fn thread() -> Model {
    let mut m = Model::new();
    let places: Vec<[f64; 3]> = (1..=1000).map(|i| [0.01 * f64::from(i), 0.0, 0.0]).collect();
    let knots = m.add_particles("knots", &places).unwrap();
    m.add_mass("m", knots, Mass::Uniform(1e-3)).unwrap();
    let pairs: Vec<_> = (1..1000)
        .map(|i| (End::element(0, i - 1), End::element(0, i)))
        .collect();
    let lengths = m.add_mapped("links", &[knots], Distance::new(&pairs)).unwrap();
    let law = Spring::linear(100.0).with_rest(0.01);
    m.add_force_field("springs", lengths, law, Treatment::Stiffness)
        .unwrap();
    m
}

/// The states of some steps, one after the other, and the last report.
fn some_steps(s: &mut Simulation, count: usize) -> StepReport {
    (0..count).map(|_| s.step(0.01).unwrap()).last().unwrap()
}

#[test]
fn the_automatic_choice_takes_iterations_where_a_factor_costs_more() {
    let auto = |linear| Options {
        linear,
        ..Options::theta()
    };
    assert_eq!(Options::default().linear, LinearSolver::Auto);
    let mut s = Simulation::with_options(thread(), auto(LinearSolver::Auto)).unwrap();
    assert_eq!(some_steps(&mut s, 2).solve.solver, "sparse L D L^T, active set");

    let mut by_factor = Simulation::with_options(cube(), auto(LinearSolver::Direct)).unwrap();
    let mut chosen = Simulation::with_options(cube(), auto(LinearSolver::Auto)).unwrap();
    some_steps(&mut by_factor, 4);
    let report = some_steps(&mut chosen, 4);
    assert_eq!(report.solve.solver, "conjugate gradients, incomplete Cholesky");
    assert!(
        (1..60).contains(&report.solve.iterations),
        "{}",
        report.solve.iterations
    );
    // Four solves to 1e-9 with a condition below 1e3.
    let d = differ(&by_factor.state().velocities, &chosen.state().velocities);
    assert!(d < 4e-6, "{d:e}");
    // Nothing was factored but the first matrix that was examined, if any.
    assert!(chosen.counters().solver.numeric < by_factor.counters().solver.numeric);
}

/// Newton's method asks each solve for a hundredth, and ends at the same states.
#[test]
fn stages_end_at_the_same_states_by_inexact_iterations() {
    let with = |linear| Options {
        linear,
        ..Options::default()
    };
    let mut by_factor = Simulation::with_options(cube(), with(LinearSolver::Direct)).unwrap();
    let mut chosen = Simulation::with_options(cube(), with(LinearSolver::Auto)).unwrap();
    some_steps(&mut by_factor, 3);
    let report = some_steps(&mut chosen, 3);
    assert_eq!(report.solve.solver, "conjugate gradients, incomplete Cholesky");
    // The velocities of a stage are known to a hundredth of the error of the step.
    let d = differ(&by_factor.state().velocities, &chosen.state().velocities);
    assert!(d < 1e-4, "{d:e}");
}

#[test]
fn automatic_choices_go_on_from_a_checkpoint_to_the_bit() {
    for options in [Options::theta(), Options::default()] {
        let mut s = Simulation::with_options(cube(), options).unwrap();
        some_steps(&mut s, 2);
        let kept = s.checkpoint();
        let first = some_steps(&mut s, 2);
        let state = s.state().clone();
        let mut other = Simulation::with_options(cube(), s.options.clone()).unwrap();
        other.restore(&kept).unwrap();
        // What was seen of iterations goes along: choices depend on it.
        assert_eq!(other.checkpoint().solver.automatic, kept.solver.automatic);
        assert_ne!(kept.solver.automatic, Default::default());
        let again = some_steps(&mut other, 2);
        assert_eq!(*other.state(), state);
        assert_eq!(first.solve.iterations, again.solve.iterations);
    }
}

/// A column of rubber of 5,025 unknowns on its foot, under its own weight.
fn column(gravity: f64) -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -gravity]).unwrap();
    let mesh = Mesh::hexahedral_box([0.05, 0.05, 1.0], [4, 4, 66]).unwrap();
    let parts = Solid::corotational(1e6, 0.3)
        .with_density(1000.0)
        .add_to(&mut m, "column", &mesh)
        .unwrap();
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[2] < 1e-9 {
            m.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
    }
    m
}

/// A column buckles under its own weight at `q = 7.837 E I / L^3` per length (Greenhill 1881): of
/// this one, 1 kN/m^3 per N/kg, at 1.6 m/s^2 or so. Below, both solvers find the same rest, which
/// iterations do not count modes of; above, they meet negative curvature, and what stands straight
/// is found to be no minimum as by the factor.
#[test]
fn rest_by_iterations_is_that_of_the_factor() {
    let rest = |linear, gravity| {
        let options = Options {
            linear,
            ..Options::default()
        };
        let mut s = Simulation::with_options(column(gravity), options).unwrap();
        let report = s.find_equilibrium(&Equilibrium::default()).unwrap();
        (s.state().positions.clone(), report)
    };
    for gravity in [1.0, 2.5] {
        let (by_factor, counted) = rest(LinearSolver::Direct, gravity);
        let (by_iterations, report) = rest(LinearSolver::Auto, gravity);
        let d = differ(&by_factor, &by_iterations);
        // The residual of a rest is 1e-10 of its forces, of a column whose least stiffness is a
        // millionth of the largest.
        assert!(d < 1e-4, "{gravity}: {d:e}");
        assert!(report.residual <= 1e-10 && counted.residual <= 1e-10);
        match gravity < 2.0 {
            true => assert_eq!((counted.negative_modes, report.negative_modes), (Some(0), None)),
            false => assert!(
                counted.negative_modes == report.negative_modes && counted.negative_modes > Some(0),
                "{:?} {:?}",
                counted.negative_modes,
                report.negative_modes
            ),
        }
    }
}

/// A column that stands straight at rest above its buckling load has nothing to solve for: the look
/// for negative curvature alone finds out that it is no minimum.
#[test]
fn rest_that_is_found_at_once_is_examined() {
    let options = Options {
        linear: LinearSolver::Direct,
        ..Options::default()
    };
    let mut s = Simulation::with_options(column(2.5), options).unwrap();
    let counted = s.find_equilibrium(&Equilibrium::default()).unwrap();
    s.options.linear = LinearSolver::Auto;
    let report = s.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!(report.iterations, 0);
    assert!(
        report.negative_modes == counted.negative_modes && counted.negative_modes > Some(0),
        "{:?}",
        report.negative_modes
    );
}
