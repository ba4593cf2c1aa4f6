//! Derivatives of the frequencies of vibrations about rest.

use pliant::continuum::{Mesh, Rod, RodCurve, Section, Solid};
use pliant::gradient::*;
use pliant::prelude::*;

/// Modes about an equilibrium, as exact as derivatives need them.
const EXACT: ModeOptions = ModeOptions {
    count: 4,
    about: About::Equilibrium(SETTLED),
    tolerance: 1e-13,
    max_solves: 20_000,
};

const SETTLED: Equilibrium = Equilibrium {
    tolerance: 1e-13,
    method: StaticMethod::Newton,
    max_iterations: 1000,
};

/// A function that makes a model of parameters.
type Make = dyn Fn(&[f64]) -> Model;

/// The lowest eigenvalues of a model, and their derivatives by its parameters.
fn eigenvalues(make: &Make, p: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut simulation = Simulation::new(make(p)).unwrap();
    simulation.find_equilibrium(&SETTLED).unwrap();
    let modes = simulation.modes(&EXACT).unwrap().modes;
    let problem = |p: &[f64]| Ok(Problem::new(make(p)));
    let mut family = Family::new(&problem, p, p).unwrap();
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    rest.place(simulation.problem(), &simulation.rest_state())
        .unwrap();
    let by = |mode: &Mode| {
        let all = (0..p.len()).map(|k| rest.eigenvalue_by(&mut family, k, &mode.as_vibration_mode()));
        all.collect::<Result<Vec<f64>, _>>().unwrap()
    };
    let values = modes.iter().map(|mode| mode.eigenvalue).collect();
    (values, modes.iter().map(by).collect())
}

fn assert_near(what: &str, found: f64, expected: f64, scale: f64, share: f64) {
    let off = (found - expected).abs() / scale;
    assert!(off < share, "{what}: {found} {expected}");
}

/// A particle on a hard rod under gravity, on one plane: `omega^2 = g/l`, which moves with the
/// length through the geometric stiffness, the row and the place of rest.
#[test]
fn a_pendulum() {
    let make = |p: &[f64]| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -p[0]]).unwrap();
        let bob = model.add_particles("bob", &[[0.0, 0.0, -p[1]]]).unwrap();
        model.add_mass("mass", bob, Mass::Uniform(0.7)).unwrap();
        let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[p[1]]);
        let rod = model.add_mapped("rod", &[bob], rod).unwrap();
        model.add_constraint("hard", rod, Level::Position).unwrap();
        model.fix(bob, 0, &[false, true, false]).unwrap();
        model
    };
    let [g, l] = [9.81, 0.8];
    let (values, by) = eigenvalues(&make, &[g, l]);
    assert_near("omega^2", values[0], g / l, g / l, 1e-12);
    assert_near("by gravity", by[0][0], 1.0 / l, 1.0 / l, 1e-9);
    assert_near("by length", by[0][1], -g / (l * l), g / (l * l), 1e-9);
}

/// A body that swings about a hinge, at rest away from where it is made: `omega^2 = m g d/(I + m d^2)`.
#[test]
fn a_body_on_a_hinge() {
    let make = |p: &[f64]| {
        let [mass, inertia, d] = [p[0], p[1], p[2]];
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let turned = Pose {
            position: [0.6 * d, 0.0, -0.8 * d],
            rotation: [1.0, 0.0, 0.0, 0.0],
        };
        let body = model.add_rigid_bodies("body", &[turned]).unwrap();
        let inertia = RigidMass::principal(mass, [1.1 * inertia, inertia, 0.8 * inertia]);
        model.add_mass("mass", body, Mass::Rigid(vec![inertia])).unwrap();
        let about_y = Pose {
            position: [0.0; 3],
            rotation: [0.5f64.sqrt(), -(0.5f64.sqrt()), 0.0, 0.0],
        };
        let hinge = Joint::hinge(Side::World, Side::Body(body, 0)).at(about_y);
        model.add_joint("hinge", &hinge).unwrap();
        model
    };
    let [m, i, d] = [2.0, 0.03, 0.25];
    let (values, by) = eigenvalues(&make, &[m, i, d]);
    let whole = i + m * d * d;
    let expected = m * 9.81 * d / whole;
    assert_near("omega^2", values[0], expected, expected, 1e-12);
    let by_expected = [
        9.81 * d * i / (whole * whole),
        -expected / whole,
        m * 9.81 * (i - m * d * d) / (whole * whole),
    ];
    for (k, (found, expected)) in by[0].iter().zip(by_expected).enumerate() {
        assert_near(&format!("by {k}"), *found, expected, expected.abs(), 1e-9);
    }
}

/// Derivatives by all parameters against differences of eigenvalues of other models: a compliant
/// rod that sags, and a solid that hangs, whose prestress moves with the parameters.
#[test]
fn rods_and_solids_against_differences() {
    let rod = |p: &[f64]| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let rod = Rod::new(Section::rectangle([0.011, 0.006]), p[0], 0.3).with_density(p[1]);
        let curve = RodCurve::through(&[[0.1 * p[2], 0.0, 0.0], [0.5 * p[2], 0.0, 0.01], [p[2], 0.02, 0.0]]);
        let parts = rod.add_to(&mut model, "rod", &curve).unwrap();
        model.fix(parts.frames, 0, &[true; 6]).unwrap();
        model
    };
    let solid = |p: &[f64]| {
        let mesh = Mesh::hexahedral_box([p[2], 0.08, 0.1], [4, 1, 1]).unwrap();
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let solid = Solid::corotational(p[0], 0.3).with_density(p[1]);
        let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
        for (i, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
            model.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
        model
    };
    let makers: [(&str, &Make, [f64; 3]); 2] = [
        ("rod", &rod, [1e8, 1200.0, 0.5]),
        ("solid", &solid, [2e5, 900.0, 0.4]),
    ];
    for (what, make, p) in makers {
        let (values, by) = eigenvalues(make, &p);
        let of = |moved: &[f64]| {
            let mut simulation = Simulation::new(make(moved)).unwrap();
            let modes = simulation.modes(&EXACT).unwrap().modes;
            modes.iter().map(|mode| mode.eigenvalue).collect::<Vec<f64>>()
        };
        for k in 0..p.len() {
            let step = 2e-3 * p[k];
            let at = |times: f64| {
                let mut moved = p;
                moved[k] += times * step;
                of(&moved)
            };
            let (one, back, two, far) = (at(1.0), at(-1.0), at(2.0), at(-2.0));
            for j in 0..values.len() {
                let differences = (8.0 * (one[j] - back[j]) - (two[j] - far[j])) / (12.0 * step);
                // Differences of fourth order of steps of 2e-3 are good to 1e-10, eigenvalues to
                // 1e-12 of theirs, which a step divides.
                let name = format!("{what}, mode {j} by {k}");
                assert_near(&name, by[j][k] * p[k], differences * p[k], values[j], 1e-8);
                assert!((differences * p[k] / values[j]).abs() > 1e-3, "{name} is nothing");
            }
        }
    }
}

/// Shapes that are none, and modes of another state, are refused.
#[test]
fn modes_that_solve_nothing_are_refused() {
    let make = |p: &[f64]| {
        let mut model = Model::new();
        let cart = model.add_scalars("cart", &[0.1, 0.2]).unwrap();
        model.add_mass("mass", cart, Mass::Uniform(2.0)).unwrap();
        let spring = Spring::linear(p[0]).with_rest(0.1);
        model
            .add_force_field("spring", cart, spring, Treatment::Stiffness)
            .unwrap();
        model
    };
    let mut simulation = Simulation::new(make(&[8.0])).unwrap();
    simulation.find_equilibrium(&SETTLED).unwrap();
    let problem = |p: &[f64]| Ok(Problem::new(make(p)));
    let mut family = Family::new(&problem, &[8.0], &[8.0]).unwrap();
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    rest.place(simulation.problem(), &simulation.rest_state())
        .unwrap();
    let mut ask = |eigenvalue: f64, velocities: &[f64]| {
        let mode = VibrationMode {
            eigenvalue,
            velocities,
            multipliers: &[],
        };
        rest.eigenvalue_by(&mut family, 0, &mode)
    };
    let found = ask(4.0, &[1.0, 0.0]).unwrap();
    assert!((found - 0.5).abs() < 1e-10, "{found}");
    assert!(matches!(
        ask(4.1, &[1.0, 0.0]),
        Err(GradientError::NotSolved { .. })
    ));
    assert!(matches!(
        ask(4.0, &[0.0, 0.0]),
        Err(GradientError::NotSolved { .. })
    ));
    assert!(matches!(
        ask(f64::NAN, &[1.0, 0.0]),
        Err(GradientError::NotSolved { .. })
    ));
    assert!(matches!(ask(4.0, &[1.0]), Err(GradientError::Length { .. })));
}
