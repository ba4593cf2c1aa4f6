//! A linear solver that a program brings along is asked in steps and at rest.

use pliant::LinearSolver;
use pliant::krylov::{NearNullSpace, ProvidedSolver, Provider, Purpose};
use pliant::prelude::*;
use pliant::solvers::{
    DirectSolver, Kind, KktMemory, KktSolver, KktSystem, Solution, SolveError, SolveReport, StationarySolver,
};
use std::cell::Cell;

thread_local! {
    /// How often one was asked for a minimum and for other points of rest.
    static ASKED: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
}

/// The library's own factors, as if from outside.
#[derive(Debug, Default)]
struct Own {
    purpose: Purpose,
    minimum: DirectSolver,
    rest: StationarySolver,
    kind: Option<Kind>,
    motions: usize,
    is_redundant: bool,
}

impl KktSolver for Own {
    fn name(&self) -> &'static str {
        "a solver of mine"
    }

    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        system.check_bilateral()?;
        assert_eq!(self.motions, system.n());
        self.is_redundant = StationarySolver::default().prepare(system)?.redundant > 0;
        if self.purpose == Purpose::Minimum {
            return self.minimum.prepare(system);
        }
        self.kind = Some(self.rest.prepare(system)?);
        Ok(())
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let mut asked = ASKED.get();
        asked[usize::from(self.purpose != Purpose::Minimum)] += 1;
        ASKED.set(asked);
        if self.purpose == Purpose::Minimum {
            return self.minimum.solve(system, solution);
        }
        self.rest.solve(system, &system.c, &system.b, solution)?;
        let residual = system.residual(solution, &mut Default::default());
        Ok(SolveReport {
            status: pliant::solvers::Status::Converged,
            residual,
            iterations: 0,
            refinements: 0,
            redundant_rows: 0,
            inertia: (0, 0),
            bounds: Default::default(),
        })
    }

    fn impose(&mut self, _: &KktMemory) {}
}

impl ProvidedSolver for Own {
    fn set_tolerance(&mut self, tolerance: f64) {
        self.minimum.options.tolerance = tolerance;
    }

    fn set_near_null_space(&mut self, motions: &NearNullSpace) {
        self.motions = motions.order();
    }

    fn set_purpose(&mut self, purpose: Purpose) {
        self.purpose = purpose;
    }

    fn hands_back(&self) -> bool {
        self.is_redundant
    }

    fn kind(&self, _: &KktSystem) -> Option<Kind> {
        self.kind.filter(|_| self.purpose != Purpose::Minimum)
    }
}

const MINE: Provider = Provider {
    name: "the solver of this test",
    make: || Box::<Own>::default(),
};

/// Two weights on hard rods, and a spring to the side.
fn pendulum() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let bobs = m
        .add_particles("bobs", &[[0.6, -0.8, 0.0], [0.6, -1.8, 0.0]])
        .unwrap();
    m.add_mass("m", bobs, Mass::Uniform(1.0)).unwrap();
    let rods = Distance::new(&[
        (End::Point([0.0; 3]), End::element(0, 0)),
        (End::element(0, 0), End::element(0, 1)),
    ]);
    let rods = m
        .add_mapped("rods", &[bobs], rods.with_rest_lengths(&[1.0, 1.0]))
        .unwrap();
    m.add_constraint("hard", rods, Level::Position).unwrap();
    let line = Distance::to_points(&[(1, [2.0, -1.0, 1.0])]);
    let line = m.add_mapped("line", &[bobs], line).unwrap();
    let law = Spring::linear(30.0).with_rest(0.5);
    m.add_force_field("spring", line, law, Treatment::Stiffness)
        .unwrap();
    m
}

fn simulation(linear: LinearSolver, options: Options) -> Simulation {
    Simulation::with_options(pendulum(), Options { linear, ..options }).unwrap()
}

#[test]
fn steps_and_rest_ask_it_and_come_to_the_same() {
    let differ = |a: &Simulation, b: &Simulation| {
        let both = a.state().positions.iter().zip(&b.state().positions);
        both.fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()))
    };
    for options in [Options::default(), Options::theta()] {
        let mut own = simulation(LinearSolver::Direct, options.clone());
        let mut mine = simulation(LinearSolver::Provided(MINE), options);
        ASKED.set([0; 2]);
        for _ in 0..10 {
            own.step(0.01).unwrap();
            let report = mine.step(0.01).unwrap();
            assert_eq!(report.solve.solver, "a solver of mine");
        }
        assert!(ASKED.get()[0] >= 10 && ASKED.get()[1] == 0);
        assert!(differ(&own, &mine) < 1e-10);
    }
    let mut own = simulation(LinearSolver::Direct, Options::default());
    let mut mine = simulation(LinearSolver::Provided(MINE), Options::default());
    ASKED.set([0; 2]);
    let expected = own.find_equilibrium(&Equilibrium::default()).unwrap();
    let found = mine.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(ASKED.get()[0] == 0 && ASKED.get()[1] > 0);
    assert_eq!(
        found.negative_modes, expected.negative_modes,
        "{found:?} {expected:?}"
    );
    assert!(differ(&own, &mine) < 1e-10);
}

#[test]
fn bounded_rows_are_solved_by_the_library_in_steps_and_by_it_at_rest() {
    // Less than the weights that the rods carry: they give way.
    let weak = |linear: LinearSolver, most: f64| {
        let mut m = pendulum();
        let rods = m.component_named("hard").unwrap();
        m.set_bounds(rods, -most, most).unwrap();
        let options = Options {
            linear,
            ..Options::default()
        };
        Simulation::with_options(m, options).unwrap()
    };
    let [mut own, mut mine] = [LinearSolver::Direct, LinearSolver::Provided(MINE)].map(|l| weak(l, 5.0));
    ASKED.set([0; 2]);
    for _ in 0..8 {
        let expected = own.step(0.01).unwrap();
        let report = mine.step(0.01).unwrap();
        assert_eq!(report.solve.solver, expected.solve.solver);
    }
    assert_eq!(ASKED.get(), [0, 0]);
    assert_eq!(own.state().positions, mine.state().positions);
    let [mut own, mut mine] = [LinearSolver::Direct, LinearSolver::Provided(MINE)].map(|l| weak(l, 1e3));
    own.find_equilibrium(&Equilibrium::default()).unwrap();
    let report = mine.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!(report.solver, "a solver of mine");
    assert!(ASKED.get()[1] > 0);
    let both = own.state().positions.iter().zip(&mine.state().positions);
    assert!(both.fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs())) < 1e-10);
}

#[test]
fn systems_with_redundant_rows_that_it_hands_back_are_solved_by_the_library() {
    // The upper rod twice.
    let twice = |linear: LinearSolver| {
        let mut m = pendulum();
        let bobs = m.node_named("bobs").unwrap();
        let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let rod = m.add_mapped("again", &[bobs], rod).unwrap();
        m.add_constraint("twice", rod, Level::Position).unwrap();
        let options = Options {
            linear,
            ..Options::default()
        };
        Simulation::with_options(m, options).unwrap()
    };
    let [mut own, mut mine] = [LinearSolver::Direct, LinearSolver::Provided(MINE)].map(twice);
    for _ in 0..10 {
        let expected = own.step(0.01).unwrap();
        let report = mine.step(0.01).unwrap();
        assert_eq!(report.solve.solver, expected.solve.solver);
        assert_eq!(report.solve.redundant_rows, 1);
    }
    assert_eq!(own.state().positions, mine.state().positions);
    own.find_equilibrium(&Equilibrium::default()).unwrap();
    let report = mine.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!((report.solver, report.redundant_rows), ("sparse L D L^T", 1));
    assert_eq!(own.state().positions, mine.state().positions);
}

#[test]
fn contacts_are_solved_by_the_library_and_steps_without_by_it() {
    use pliant::collision::{Collider, Placement, Shape, World};
    let ball = |linear: LinearSolver| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 1.02])]).unwrap();
        m.add_mass("m", node, Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0; 3])]))
            .unwrap();
        let mut world = World::new();
        let floor = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let (fixed, pose) = (Placement::Fixed(Pose::default()), Pose::default());
        world.add(Collider::new("floor", floor, fixed)).unwrap();
        let place = Placement::Body {
            node,
            element: 0,
            pose,
        };
        world
            .add(Collider::new("ball", Shape::ball(1.0).unwrap(), place))
            .unwrap();
        let options = Options {
            linear,
            ..Options::default()
        };
        let mut simulation = Simulation::with_options(m, options).unwrap();
        simulation.set_contacts(world).unwrap();
        (simulation, node)
    };
    let [(mut own, _), (mut mine, node)] = [LinearSolver::Direct, LinearSolver::Provided(MINE)].map(ball);
    ASKED.set([0; 2]);
    let mut names = Vec::new();
    for _ in 0..20 {
        own.step(0.01).unwrap();
        let solver = mine.step(0.01).unwrap().solve.solver;
        if names.last() != Some(&solver) {
            names.push(solver);
        }
    }
    // It falls 0.02 m, and then lies.
    assert_eq!(names, ["a solver of mine", "sparse L D L^T, active set"]);
    assert!(ASKED.get()[0] > 0);
    let lies = mine.positions(node)[2];
    assert!(
        (lies - 1.0).abs() < 1e-6 && (lies - own.positions(node)[2]).abs() < 1e-10,
        "{lies}"
    );
}
