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
        LinearSolver::Cg(Blocks),
        LinearSolver::Cg(Diagonal),
        LinearSolver::Minres(Blocks),
        LinearSolver::Gmres(Blocks),
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
    let (found, _) = run(net(), options(LinearSolver::Cg(IncompleteCholesky)));
    assert!(differ(&direct, &found) < SAME);
}

/// A step does not depend on what a solver did before: from a checkpoint the bits are the same.
#[test]
fn iterative_solvers_have_no_memory() {
    let mut s = Simulation::with_options(net(), options(LinearSolver::Cg(Blocks))).unwrap();
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    let kept = s.checkpoint();
    s.step(0.01).unwrap();
    let end = s.state().clone();
    let mut other = Simulation::with_options(net(), options(LinearSolver::Cg(Blocks))).unwrap();
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

#[test]
fn limits_by_gauss_seidel_are_those_of_the_active_set() {
    let step = |bounded_rows| {
        let (model, stop) = stopped();
        let mut options = options(LinearSolver::Direct);
        options.bounded_rows = bounded_rows;
        options.tuning.bounds.tolerance = TOLERANCE;
        let mut s = Simulation::with_options(model, options).unwrap();
        let (mut solver, mut forces) = ("", Vec::new());
        for _ in 0..60 {
            solver = s.step(0.01).unwrap().solve.solver;
            forces.extend_from_slice(s.reaction(stop));
        }
        (s.state().positions.clone(), forces, solver)
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
        LinearSolver::Cg(Blocks),
        LinearSolver::Minres(Blocks),
        LinearSolver::Gmres(Blocks),
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
    let mut s = Simulation::with_options(model, options(LinearSolver::Cg(Blocks))).unwrap();
    let error = s.step(0.01).unwrap_err().to_string();
    assert!(
        error.contains("`stop`") && error.contains("conjugate gradient"),
        "{error}"
    );
    assert_eq!(s.check_method().unwrap_err().to_string(), error);
}
