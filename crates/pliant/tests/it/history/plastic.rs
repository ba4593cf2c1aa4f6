//! Plasticity: statics along loads, Newton's method, the ledger, Hill's sphere.

use crate::tools::order;
use pliant::continuum::{ElasticPlastic, Incompressibility, Mesh, Plasticity, Solid, SolidParts};
use pliant::prelude::*;

const YOUNG: f64 = 200.0;
const POISSON: f64 = 0.3;
const YIELD: f64 = 0.4;

fn hardening() -> Plasticity {
    Plasticity::perfect(YIELD)
        .with_isotropic_hardening(3.0)
        .with_kinematic_hardening(5.0)
}

/// A unit cube between planes of symmetry, pulled along x by a force.
fn cube(solid: Solid, force: f64) -> (Simulation, SolidParts, Mesh) {
    let mesh = Mesh::hexahedral_box([1.0; 3], [2, 1, 1]).unwrap();
    let mut model = Model::new();
    let parts = solid.with_density(1e-6).add_to(&mut model, "bar", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        model.fix(parts.nodes, k, &x.map(|x| x == 0.0)).unwrap();
    }
    let mut s = Simulation::new(model).unwrap();
    for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 1.0) {
        s.set_force(parts.nodes, k, &[0.25 * force, 0.0, 0.0]).unwrap();
    }
    (s, parts, mesh)
}

fn stretch(s: &Simulation, parts: &SolidParts, mesh: &Mesh) -> f64 {
    let end = mesh.nodes.iter().position(|x| *x == [1.0; 3]).unwrap();
    s.positions(parts.nodes)[3 * end] - 1.0
}

/// Loads that come and go: the strain of the closed form, in few iterations, and what stays.
#[test]
fn a_bar_stretches_and_stays_stretched() {
    for (solid, bulk_rows) in [
        (Solid::linear(YOUNG, POISSON), false),
        (
            Solid::linear(YOUNG, POISSON).with_incompressibility(Incompressibility::PerElement),
            true,
        ),
    ] {
        let (mut s, parts, mesh) = cube(solid.with_plasticity(hardening()), 0.5);
        let report = s.find_equilibrium(&Equilibrium::default()).unwrap();
        let plastic = (0.5 - YIELD) / 8.0;
        let found = stretch(&s, &parts, &mesh);
        assert!(
            (found - plastic - 0.5 / YOUNG).abs() < 1e-10,
            "{bulk_rows} {found}"
        );
        // From six times the yield strain; a tangent that is not that of the return takes tens.
        assert!(report.iterations <= 8, "{report:?}");
        for k in 0..mesh.nodes.len() {
            s.set_force(parts.nodes, k, &[0.0; 3]).unwrap();
        }
        s.find_equilibrium(&Equilibrium::default()).unwrap();
        let left = stretch(&s, &parts, &mesh);
        assert!((left - plastic).abs() < 1e-10, "{left} {plastic}");
        let range = s.model().force_fields().iter().find(|f| f.name == "bar.material");
        let internal = &s.state().internal[range.unwrap().component.internal.clone()];
        for p in ElasticPlastic::plastic_strains(internal) {
            assert!((p - plastic).abs() < 1e-10, "{p}");
        }
    }
}

/// Where all yields at once and the strain is large against that of yield, the corrections of
/// Newton's method are squares of each other.
#[test]
fn newton_converges_with_its_square() {
    for integrator in [
        Integrator::Nonlinear,
        Integrator::bdf2(),
        Integrator::generalised_alpha(0.5),
    ] {
        let options = Options {
            integrator,
            ..Options::default()
        };
        let mut model = Model::new();
        let e = model
            .add_independent("e", Space::Real(6), &[0.0; 6], &[0.0; 6])
            .unwrap();
        model.add_mass("m", e, Mass::Uniform(1e-6)).unwrap();
        let law = ElasticPlastic::isotropic(YOUNG, POISSON, hardening().with_saturation(0.3, 80.0), &[1.0]);
        model
            .add_force_field("steel", e, law, Treatment::Stiffness)
            .unwrap();
        let mut s = Simulation::with_options(model, options).unwrap();
        for force in [
            [0.6, 0.0, 0.0, 0.1, 0.0, 0.0],
            [0.6, -0.1, 0.0, 0.2, 0.1, 0.0],
            [0.1, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.3, -0.2, 0.0, 0.3, 0.1, 0.0],
            [-0.5, 0.0, 0.1, 0.0, 0.0, 0.2],
            [0.6, 0.0, 0.0, 0.1, 0.0, 0.0],
        ] {
            s.set_force(e, 0, &force).unwrap();
            let report = s.step(1.0).unwrap();
            // Ten times the strain of yield in one step, out, back and across.
            assert!(report.solve.newton.iterations <= 6, "{:?}", report.solve.newton);
            assert!(report.residual.relative < 1e-9);
        }
    }
}

/// A mass on a strain that yields back and forth.
fn oscillator(options: &Options) -> Simulation {
    let mut model = Model::new();
    let start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let node = model
        .add_independent("e", Space::Real(6), &[0.0; 6], &start)
        .unwrap();
    model
        .fix(node, 0, &[true, true, true, false, true, true])
        .unwrap();
    model.add_mass("m", node, Mass::Uniform(0.01)).unwrap();
    let law = ElasticPlastic::isotropic(YOUNG, POISSON, hardening(), &[1.0]);
    model
        .add_force_field("steel", node, law, Treatment::Stiffness)
        .unwrap();
    Simulation::with_options(model, options.clone()).unwrap()
}

/// The answer by fine steps of the rate equations of shear alone: `tau = G (y - y_p)`, yield at
/// `|tau - H_k y_p/3| = (s_0 + H_i |y_p|/sqrt 3)/sqrt 3`.
fn exact(time: f64) -> f64 {
    let n = 400_000;
    let h = time / n as f64;
    let g = YOUNG / (2.0 * (1.0 + POISSON));
    let (mut y, mut v, mut plastic, mut passed) = (0.0, 1.0, 0.0f64, 0.0f64);
    let third = 3.0f64.sqrt();
    for _ in 0..n {
        let tau = g * (y - plastic);
        v -= h * tau / 0.01;
        y += h * v;
        let relative = g * (y - plastic) - 5.0 / 3.0 * plastic;
        let beyond = relative.abs() - (YIELD + 3.0 * passed / third) / third;
        if beyond > 0.0 {
            let flow = beyond / (g + 5.0 / 3.0 + 1.0);
            plastic += flow * relative.signum();
            passed += flow;
        }
    }
    y
}

#[test]
fn methods_converge_on_what_yields() {
    let end = 0.1;
    let reference = exact(end);
    for (integrator, weight) in [
        (Integrator::Nonlinear, 1.0),
        (Integrator::Nonlinear, 0.5),
        (Integrator::Sdirk2, 1.0),
        (Integrator::generalised_alpha(0.8), 1.0),
        (Integrator::bdf2(), 1.0),
    ] {
        let options = Options {
            integrator,
            alpha: weight,
            beta: weight,
            ..Options::default()
        };
        let error = |n: usize| {
            let mut s = oscillator(&options);
            for _ in 0..n {
                s.step(end / n as f64).unwrap();
            }
            (s.state().positions[3] - reference).abs()
        };
        let errors = [error(2000), error(8000)];
        // First order at least: kinks lie within steps. The reference is of first order too, in
        // 400,000 parts, and no better than 1e-8.
        let converges = 0.5 * order(errors) > 0.8 || errors[0] < 1e-8;
        assert!(
            converges && errors[1] < 2e-4,
            "{} {weight}: {errors:?}",
            options.integrator.name()
        );
    }
}

/// The theta method would hold fast what flows: a cantilever that yields under its weight was left
/// behind by as far as it fell, at any step beyond a tenth of its fastest vibration.
#[test]
fn the_theta_method_refuses_what_yields() {
    let mut s = oscillator(&Options {
        integrator: Integrator::Theta,
        ..Options::default()
    });
    let error = s.step(1e-4).unwrap_err();
    assert_eq!(s.check_method().unwrap_err(), error);
    let text = error.to_string();
    assert!(
        text.contains("does not take `steel`, which yields within a step"),
        "{text}"
    );
}

/// Kinetic energy becomes heat and stored energy: the ledger closes better with smaller steps.
#[test]
fn the_ledger_of_yielding_closes() {
    let numerical = |n: usize| {
        let options = Options {
            integrator: Integrator::Nonlinear,
            alpha: 0.5,
            beta: 0.5,
            ..Options::default()
        };
        let mut s = oscillator(&options);
        let mut sum = Ledger::default();
        for _ in 0..n {
            let report = s.step(0.1 / n as f64).unwrap();
            assert!(report.ledger.damping <= 0.0);
            sum += report.ledger;
        }
        let start = 0.5 * 0.01;
        let now = s.problem().energies(s.state()).total();
        assert!((now - sum.damping - sum.numerical - start).abs() < 1e-15);
        (sum.numerical.abs(), -sum.damping)
    };
    let ((coarse, _), (fine, heat)) = (numerical(500), numerical(4000));
    // The law of the end stands for the way there: first order.
    assert!(
        fine < 0.3 * coarse && fine < 1e-2 * heat && heat > 1e-3,
        "{coarse} {fine} {heat}"
    );
}

#[test]
fn plastic_strains_are_part_of_the_state() {
    for integrator in [Integrator::Sdirk2, Integrator::Nonlinear] {
        let options = Options {
            integrator,
            ..Options::default()
        };
        let mut s = oscillator(&options);
        for _ in 0..100 {
            s.step(1e-4).unwrap();
        }
        assert!(s.state().internal[6] > 0.0);
        let state = s.state().clone();
        s.set_state(&state).unwrap();
        assert_eq!(*s.state(), state);
        let checkpoint = s.checkpoint();
        let mut other = oscillator(&options);
        other.restore(&checkpoint).unwrap();
        for _ in 0..100 {
            s.step(1e-4).unwrap();
            other.step(1e-4).unwrap();
        }
        assert_eq!(s.checkpoint(), other.checkpoint());
    }
}

/// Plasticity needs a nonlinear step, and weights the theta method: no method is named.
#[test]
fn weights_and_what_yields_go_with_no_method() {
    let options = Options {
        integrator: Integrator::bdf2(),
        alpha: 0.5,
        ..Options::default()
    };
    let error = oscillator(&options).step(1e-4).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported { instead: None, .. }),
        "{error}"
    );
}

/// A thick-walled sphere of radii 1 and 2 without hardening under inner pressure (Hill 1950): a
/// cone of it that moves along radii only.
fn sphere(cells: usize) -> (Simulation, NodeId, usize) {
    let (inner, outer, angle) = (1.0, 2.0, 0.005f64);
    let mut mesh = Mesh::hexahedral_box([1.0; 3], [cells, 1, 1])
        .unwrap()
        .into_quadratic();
    let layers = 2 * cells + 1;
    let (mut entries, mut radii) = (Vec::new(), vec![0.0; layers]);
    for (k, x) in mesh.nodes.iter_mut().enumerate() {
        let layer = (x[0] * (layers - 1) as f64).round() as usize;
        let r = inner + (outer - inner) * x[0];
        let d = [1.0, angle * (2.0 * x[1] - 1.0), angle * (2.0 * x[2] - 1.0)];
        let size = d.iter().map(|d| d * d).sum::<f64>().sqrt();
        *x = d.map(|d| r * d / size);
        for (coordinate, d) in d.into_iter().enumerate() {
            entries.push(AffineEntry {
                element: k,
                coordinate,
                from: Dependency {
                    parent: 0,
                    element: layer,
                },
                from_coordinate: 0,
                value: d / size,
            });
        }
        radii[layer] = r;
    }
    let mut model = Model::new();
    let u = model.add_scalars("radii", &radii).unwrap();
    let points = model
        .add_mapped(
            "points",
            &[u],
            Affine::new(3, &vec![0.0; 3 * mesh.nodes.len()], &entries),
        )
        .unwrap();
    let solid = Solid::linear(YOUNG, POISSON).with_plasticity(Plasticity::perfect(YIELD));
    solid.add_on(&mut model, "shell", points, &mesh).unwrap();
    let solid_angle = 3.0 * mesh.volume().unwrap() / (outer.powi(3) - inner.powi(3));
    let mut s = Simulation::new(model).unwrap();
    s.set_force(u, 0, &[PRESSURE * inner * inner * solid_angle])
        .unwrap();
    (s, u, layers)
}

/// Below twice the pressure of first yield, so that it does not yield backwards.
const PRESSURE: f64 = 1.1 * YIELD;

#[test]
fn a_sphere_yields_as_hill_says() {
    // The plastic zone ends at c: p = 2 s ln(c/a) + 2 s/3 (1 - c^3/b^3); outside u(b) = s (1 - nu)
    // c^3/(E b^2).
    let pressure = |c: f64| 2.0 * YIELD * (c.ln() + (1.0 - c.powi(3) / 8.0) / 3.0);
    let elastic = |p: f64| p / (YOUNG * 7.0) * 2.0 * 1.5 * (1.0 - POISSON);
    let outer = |p: f64| {
        if p <= pressure(1.0) {
            return elastic(p);
        }
        let (mut low, mut high) = (1.0, 2.0);
        for _ in 0..60 {
            let c = 0.5 * (low + high);
            if pressure(c) < p { low = c } else { high = c }
        }
        YIELD * (1.0 - POISSON) * low.powi(3) / (YOUNG * 4.0)
    };
    let along = |cells: usize| {
        let (mut s, u, layers) = sphere(cells);
        let mut how = Continuation {
            loads: Loads {
                forces: true,
                ..Loads::default()
            },
            control: Control::Load,
            ..Continuation::default()
        };
        let mut worst = 0.0f64;
        let path = s
            .follow(&how, |s, point| {
                let wanted = outer(point.load * PRESSURE);
                worst = worst.max((s.positions(u)[layers - 1] - 2.0 - wanted).abs() / outer(PRESSURE));
                true
            })
            .unwrap();
        assert_eq!(path.end, PathEnd::Reached);
        let most = path.points.iter().map(|p| p.iterations).max().unwrap();
        // Back again: elastic all the way, with residual stress.
        (how.start, how.end) = (1.0, 0.0);
        s.follow(&how, |_, _| true).unwrap();
        let left = s.positions(u)[layers - 1] - 2.0 - (outer(PRESSURE) - elastic(PRESSURE));
        (worst, left.abs() / outer(PRESSURE), most)
    };
    let (coarse, fine) = (along(5), along(20));
    println!("sphere of Hill: errors {coarse:?} at 5 cells, {fine:?} at 20");
    assert!(
        fine.0 < 2e-3 && fine.1 < 2e-3 && fine.0 < 0.5 * coarse.0,
        "{coarse:?} {fine:?}"
    );
    assert!(fine.2 <= 8, "{fine:?}");
}
