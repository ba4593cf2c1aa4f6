//! Rods and shells at rest: bending, buckling, what comes after.

use super::*;
use pliant::continuum::{Bending, Rod, RodCurve, RodParts, Section, Sheet, SheetMesh};
use std::f64::consts::{FRAC_PI_3, PI};

/// `E I = 1` in one direction, 4 in the other, hard otherwise; as a stiffness, which cannot be
/// hard, stiff by 1e5 N.
fn rod(treatment: Treatment) -> Rod {
    let section = Section {
        area: 0.1,
        second_moments: [1e-6, 4e-6],
        torsion_constant: 2e-6,
        shear_factors: [1.0; 2],
    };
    let rod = Rod::new(section, 1e6, 0.0);
    match treatment {
        Treatment::Compliance => rod.inextensible(),
        treatment => rod.with_treatment(treatment),
    }
}

/// A cantilever of 1 m along x, of `E I = 1` for bending in the plane of x and y, and its tip.
pub(super) fn beam(n: usize) -> (Model, NodeId) {
    cantilever(rod(Treatment::Compliance), n)
}

fn cantilever(rod: Rod, n: usize) -> (Model, NodeId) {
    let mut model = Model::new();
    let curve = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], n).with_normal(NORMAL);
    let RodParts { frames, .. } = rod.add_to(&mut model, "rod", &curve).unwrap();
    model.fix(frames, 0, &[true; 6]).unwrap();
    let tip = model
        .add_mapped("tip", &[frames], RigidPoints::new(&[(n, [0.0; 3])]))
        .unwrap();
    (model, tip)
}

const NORMAL: [f64; 3] = [0.0, 0.0, 1.0];

pub(super) fn tip_force(model: &mut Model, tip: NodeId, force: [f64; 3]) -> ComponentId {
    load(model, tip, &force)
}

/// Complete elliptic integrals of the first and second kind of a modulus, by the
/// arithmetic-geometric mean.
fn elliptic(k: f64) -> (f64, f64) {
    let (mut a, mut b, mut sum, mut power) = (1.0, (1.0 - k * k).sqrt(), 0.5 * k * k, 1.0);
    for _ in 0..20 {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
        sum += power * c * c;
        power *= 2.0;
    }
    let first = 0.5 * PI / a;
    (first, first * (1.0 - sum))
}

/// Euler's load `pi^2 E I/(4 L^2)` of a straight clamped column by the inertia along the load path,
/// for both directions of bending; what the rod lacks is of second order in its segments.
#[test]
fn a_column_buckles_at_eulers_loads() {
    let euler = PI * PI / 4.0;
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let found = [8, 16].map(|n| {
            let (mut model, tip) = cantilever(rod(treatment), n);
            let unit = tip_force(&mut model, tip, [-1.0, 0.0, 0.0]);
            let mut simulation = Simulation::new(model).unwrap();
            let how = Continuation {
                loads: loads(&[unit]),
                end: 5.0 * euler,
                step: euler,
                largest_step: euler,
                ..Continuation::default()
            };
            let path = simulation.follow(&how, |_, _| true).unwrap();
            assert_eq!(path.end, PathEnd::Reached);
            assert!(path.critical.iter().all(|c| c.kind == CriticalKind::Bifurcation));
            let loads: Vec<f64> = path.critical.iter().map(|c| c.load).collect();
            assert_eq!(loads.len(), 2, "{loads:?}");
            [loads[0], loads[1]]
        });
        for (k, exact) in [euler, 4.0 * euler].into_iter().enumerate() {
            let errors = found.map(|f| f[k] / exact - 1.0);
            let order = (errors[0] / errors[1]).log2();
            println!("{treatment:?} column {k}: relative errors {errors:?}, order {order:.2}");
            assert!((order - 2.0).abs() < 0.2 && errors[1].abs() < 2e-3, "{errors:?}");
        }
    }
}

/// Behind Euler's load: with the angle `a` of the tip and `k = sin(a/2)` the load is `K(k)^2`, the
/// tip at `2 E/K - 1` and `2 k/K` (Love 1927, article 263). A small push across leads there, and is
/// then taken away.
#[test]
fn a_buckled_column_is_the_elastica() {
    let k = (0.5 * FRAC_PI_3).sin();
    let (first, second) = elliptic(k);
    let exact = [2.0 * second / first - 1.0, 2.0 * k / first];
    let errors = [10, 20].map(|n| {
        let (mut model, tip) = beam(n);
        let unit = tip_force(&mut model, tip, [-first * first, 0.0, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        simulation.set_force(tip, 0, &[0.0, 1e-2, 0.0]).unwrap();
        let how = Continuation {
            loads: loads(&[unit]),
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true).unwrap();
        assert_eq!(path.end, PathEnd::Reached, "{:?}", path.points.last());
        assert!(path.critical.is_empty());
        simulation.set_force(tip, 0, &[0.0; 3]).unwrap();
        let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        assert!(report.is_stable(), "{report:?}");
        let x = simulation.positions(tip);
        assert!(x[2].abs() < 1e-9);
        (x[0] - exact[0]).hypot(x[1] - exact[1])
    });
    let order = (errors[0] / errors[1]).log2();
    println!("elastica: tip {exact:?}, errors {errors:?}, order {order:.2}");
    assert!((order - 2.0).abs() < 0.2 && errors[1] < 3e-3, "{errors:?}");
}

/// One call from straight to far bent, in both treatments: Mattiasson (1981) at `P L^2/(E I) = 10`.
#[test]
fn a_cantilever_bends_in_one_call() {
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let errors = [10, 20].map(|n| {
            let (mut model, tip) = cantilever(rod(treatment), n);
            tip_force(&mut model, tip, [0.0, -10.0, 0.0]);
            let mut simulation = Simulation::new(model).unwrap();
            let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            println!("cantilever of {n}, {treatment:?}: {report:?}");
            assert!(report.is_stable(), "{report:?}");
            let x = simulation.positions(tip);
            (x[0] - (1.0 - 0.55500)).hypot(x[1] + 0.81061)
        });
        println!("{treatment:?}: {errors:?}");
        assert!(errors[1] < 6e-3 && errors[0] / errors[1] > 3.0, "{errors:?}");
    }
}

/// A square plate clamped along one side under a load at its free corners, shells in both
/// treatments: from rest in one call, as pseudo-static steps find it.
#[test]
fn a_shell_comes_to_rest_in_one_call() {
    let n = 6;
    let mut mesh = SheetMesh::default();
    for j in 0..=n {
        for i in 0..=n {
            mesh.nodes
                .push([f64::from(i) / f64::from(n), f64::from(j) / f64::from(n), 0.0]);
        }
    }
    let node = |i: i32, j: i32| usize::try_from(j * (n + 1) + i).unwrap();
    for j in 0..n {
        for i in 0..n {
            let [a, b, c, d] = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let build = |treatment| {
        let mut model = Model::new();
        let parts = Sheet::isotropic(1e7, 0.3, 0.01)
            .with_bending(Bending::Shell)
            .with_treatment(treatment)
            .add_to(&mut model, "shell", &mesh)
            .unwrap();
        for j in 0..=n {
            for i in 0..2 {
                model.fix(parts.nodes, node(i, j), &[true; 3]).unwrap();
            }
        }
        let mut simulation = Simulation::new(model).unwrap();
        for corner in [node(n, 0), node(n, n)] {
            simulation
                .set_force(parts.nodes, corner, &[0.0, 0.0, -0.2])
                .unwrap();
        }
        (simulation, parts.nodes)
    };
    let (mut judge, _) = build(Treatment::Compliance);
    let how = Settle {
        h: 1.0,
        tolerance: 1e-11,
        max_steps: 2000,
        ..Settle::default()
    };
    judge.settle(how).unwrap();
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let (mut simulation, nodes) = build(treatment);
        let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        assert!(report.is_stable());
        let there = simulation.positions(nodes).iter().zip(judge.positions(nodes));
        let apart = there.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let deep = simulation.positions(nodes)[3 * node(n, 0) + 2];
        println!("shell, {treatment:?}: corner at {deep}, {apart:e} from pseudo-static steps; {report:?}");
        assert!(deep < -0.05 && apart < 1e-7);
    }
}
