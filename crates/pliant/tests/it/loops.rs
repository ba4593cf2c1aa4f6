//! Closed loops with redundant rows.

use pliant::prelude::*;

/// Six bars of 1 m along the edges of a cube, the sixth of them the ground, with hinges across both
/// bars at each corner: a linkage of Bricard. It moves although rows are as many as coordinates.
pub(crate) fn bricard() -> (Model, Vec<NodeId>, Vec<JointHandle>) {
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let mut bars = Vec::new();
    for k in 0..5 {
        let (p, q): ([f64; 3], [f64; 3]) = (corners[k], corners[k + 1]);
        let middle = std::array::from_fn(|i| 0.5 * (p[i] + q[i]));
        let bar = model
            .add_rigid_bodies(&format!("bar {k}"), &[Pose::at(middle)])
            .unwrap();
        // 1 kg, 0.1 m square.
        let size = std::array::from_fn(|i| if (p[i] - q[i]).abs() > 0.5 { 1.0 } else { 0.1 });
        let mass = RigidMass::cuboid(1.0, size);
        model
            .add_mass(&format!("mass {k}"), bar, Mass::Rigid(vec![mass]))
            .unwrap();
        bars.push(bar);
    }
    let axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let mut joints = Vec::new();
    for k in 0..6 {
        let side = |k: usize| bars.get(k).map_or(Side::World, |b| Side::Body(*b, 0));
        let (a, b) = (side((k + 5) % 6), side(k));
        // Turn z into the axis.
        let [x, y, z]: [f64; 3] = axes[k % 3];
        let pose = if z == 1.0 {
            Pose::at(corners[k])
        } else {
            Pose::turned(corners[k], [-y, x, 0.0], std::f64::consts::FRAC_PI_2)
        };
        joints.push(
            model
                .add_joint(&format!("hinge {k}"), &Joint::hinge(a, b).at(pose))
                .unwrap(),
        );
    }
    (model, bars, joints)
}

/// Results of ten seconds of a loop.
#[derive(Debug, Default)]
struct Run {
    violation: f64,
    multiplier: f64,
    energy: f64,
    redundant: (usize, usize),
}

fn ten_seconds(s: &mut Simulation, h: f64) -> Run {
    let mut out = Run {
        redundant: (usize::MAX, 0),
        ..Run::default()
    };
    let start = s.problem().energies(s.state()).total();
    for _ in 0..(10.0 / h).round() as usize {
        let report = s.step(h).unwrap();
        out.violation = out.violation.max(report.violation);
        out.energy = out.energy.max((report.energies.total() - start).abs());
        out.redundant.0 = out.redundant.0.min(report.solve.redundant_rows);
        out.redundant.1 = out.redundant.1.max(report.solve.redundant_rows);
        out.multiplier = s.multipliers().iter().fold(out.multiplier, |a, l| a.max(l.abs()));
    }
    out
}

fn without_geometry() -> Options {
    Options {
        geometry: GeometricTerms::NONE,
        ..Options::theta()
    }
}

/// Against the one minimal coordinate of the linkage (benches/reference/bricard.py).
#[test]
fn bricard_moves_as_its_minimal_coordinate_says() {
    let exact = [0.39249139025047347, -1.2679377690606528, -0.16110344405553395];
    let mut errors = Vec::new();
    for h in [0.01f64, 0.005, 0.0025] {
        let (model, bars, _) = bricard();
        let mut s = Simulation::with_options(model, without_geometry()).unwrap();
        for _ in 0..(1.0 / h).round() as usize {
            s.step(h).unwrap();
        }
        let p = s.pose(bars[2], 0).unwrap().position;
        errors.push((0..3).map(|i| (p[i] - exact[i]).powi(2)).sum::<f64>().sqrt());
    }
    // First order: 0.02 per second and hundredth of a second.
    assert!(errors[0] < 0.03, "{errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 1.0).abs() < 0.1, "{errors:?}");
    }
}

/// Bricard's linkage by the default method, at order 2. Rows say the same only on the linkage,
/// beside which the stages begin: all steps are taken by two stages, none of them in many parts.
#[test]
fn bricard_is_taken_by_two_stages() {
    let exact = [0.39249139025047347, -1.2679377690606528, -0.16110344405553395];
    let mut errors = Vec::new();
    for h in [0.02f64, 0.01, 0.005] {
        let (model, bars, _) = bricard();
        let mut s = Simulation::new(model).unwrap();
        let mut halvings = 0;
        for _ in 0..(1.0 / h).round() as usize {
            let report = s.step(h).unwrap();
            assert_eq!(report.solve.stages, 2, "{h}");
            halvings += report.solve.newton.step_halvings;
        }
        // Fewer than one in five steps, where each was halved five times and more.
        assert!(halvings < (0.2 / h) as u32 as usize, "{h}: {halvings}");
        let p = s.pose(bars[2], 0).unwrap().position;
        errors.push((0..3).map(|i| (p[i] - exact[i]).powi(2)).sum::<f64>().sqrt());
    }
    assert!(errors[0] < 1e-3, "{errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.15, "{errors:?}");
    }
}

#[test]
fn bricard_runs_ten_seconds() {
    for options in [without_geometry(), Options::theta()] {
        let runs: Vec<Run> = [0.01, 0.005]
            .into_iter()
            .map(|h| {
                let (model, _, _) = bricard();
                ten_seconds(&mut Simulation::with_options(model, options.clone()).unwrap(), h)
            })
            .collect();
        for run in &runs {
            // One redundant row in every step; the largest true multiplier of the motion is 28.5.
            assert_eq!(run.redundant, (1, 1), "{run:?}");
            assert!(run.multiplier < 29.0 && run.multiplier > 28.0, "{run:?}");
        }
        // The violation of a position row is that of its linearisation, second order; 2.1e-4 m at
        // h = 0.01 s.
        let order = (runs[0].violation / runs[1].violation).log2();
        assert!(runs[0].violation < 3e-4 && (order - 2.0).abs() < 0.15, "{runs:?}");
        // Energy is first order; ten seconds of damping by the geometric stiffness are past the
        // linear range.
        let order = (runs[0].energy / runs[1].energy).log2();
        assert!((0.7..1.2).contains(&order), "{runs:?}");
    }
}

fn planar_rod(model: &mut Model, name: &str, [x, y, angle]: [f64; 3], length: f64, mass: f64) -> Side {
    let body = model
        .add_rigid_bodies(name, &[Pose::turned([x, y, 0.0], [0.0, 0.0, 1.0], angle)])
        .unwrap();
    let inertia = mass * length * length / 12.0;
    let mass = RigidMass::principal(mass, [1e-3, inertia, inertia]);
    model
        .add_mass(&format!("{name} mass"), body, Mass::Rigid(vec![mass]))
        .unwrap();
    Side::Body(body, 0)
}

/// A crank of 0.3 m and a rod of 1 m between hinges in space: three rows too many. It falls from
/// the vertical and swings for ten seconds.
#[test]
fn slider_crank_runs_ten_seconds() {
    let run = |h: f64| {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let (r, l) = (0.3f64, 1.0f64);
        let reach = (l * l - r * r).sqrt();
        let crank = planar_rod(
            &mut model,
            "crank",
            [0.0, 0.15, std::f64::consts::FRAC_PI_2],
            r,
            1.0,
        );
        let slope = -(r / l).asin();
        let rod = planar_rod(&mut model, "rod", [0.5 * reach, 0.15, slope], l, 2.0);
        let slider = planar_rod(&mut model, "slider", [reach, 0.0, 0.0], 0.5, 3.0);
        let at = |x: f64, y: f64| Pose::at([x, y, 0.0]);
        let along = Pose::turned([reach, 0.0, 0.0], [0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
        for (name, joint) in [
            ("pin", Joint::hinge(Side::World, crank).at(at(0.0, 0.0))),
            ("crank pin", Joint::hinge(crank, rod).at(at(0.0, r))),
            ("wrist", Joint::hinge(rod, slider).at(at(reach, 0.0))),
            ("guide", Joint::slider(Side::World, slider).at(along)),
        ] {
            model.add_joint(name, &joint).unwrap();
        }
        // A push over the dead centre.
        let mut s = Simulation::with_options(model, without_geometry()).unwrap();
        let node = s.model().node_named("crank").unwrap();
        s.set_force(node, 0, &[0.5, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        for _ in 0..(0.1 / h).round() as usize {
            s.step(h).unwrap();
        }
        s.set_force(node, 0, &[0.0; 6]).unwrap();
        ten_seconds(&mut s, h)
    };
    let (coarse, fine) = (run(0.004), run(0.002));
    for found in [&coarse, &fine] {
        assert_eq!(found.redundant, (3, 3), "{found:?}");
    }
    let order = (coarse.violation / fine.violation).log2();
    assert!(
        (order - 2.0).abs() < 0.3 && coarse.violation < 1e-3,
        "{coarse:?} {fine:?}"
    );
    assert!(
        (fine.multiplier / coarse.multiplier - 1.0).abs() < 0.05,
        "{coarse:?} {fine:?}"
    );
}

/// A parallelogram of three rods hanging from two pins: three rows too many. Swings like one
/// pendulum of its length with 6/5 of gravity, for ten seconds.
#[test]
fn parallelogram_runs_ten_seconds() {
    let period = |h: f64| {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let start = -std::f64::consts::FRAC_PI_2 + 0.5;
        let (c, s) = (start.cos(), start.sin());
        let left = planar_rod(&mut model, "left", [0.5 * c, 0.5 * s, start], 1.0, 1.0);
        let coupler = planar_rod(&mut model, "coupler", [c + 0.5, s, 0.0], 1.0, 1.0);
        let right = planar_rod(&mut model, "right", [1.0 + 0.5 * c, 0.5 * s, start], 1.0, 1.0);
        for (name, a, b, x, y) in [
            ("left pin", Side::World, left, 0.0, 0.0),
            ("left knee", left, coupler, c, s),
            ("right knee", coupler, right, 1.0 + c, s),
            ("right pin", right, Side::World, 1.0, 0.0),
        ] {
            model
                .add_joint(name, &Joint::hinge(a, b).at(Pose::at([x, y, 0.0])))
                .unwrap();
        }
        let mut s = Simulation::with_options(model, without_geometry()).unwrap();
        let angle = s.model().node_named("left pin.angle").unwrap();
        let (mut crossings, mut before) = (Vec::new(), s.positions(angle)[0] - 0.5 + 1.0);
        let mut run = Run::default();
        for _ in 0..(10.0 / h).round() as usize {
            let report = s.step(h).unwrap();
            assert_eq!(report.solve.redundant_rows, 3);
            run.violation = run.violation.max(report.violation);
            run.multiplier = s.multipliers().iter().fold(run.multiplier, |a, l| a.max(l.abs()));
            let now = s.positions(angle)[0] + 0.5;
            if before > 0.0 && now <= 0.0 {
                crossings.push(s.time() - h * now / (now - before));
            }
            before = now;
        }
        (crossings, run)
    };
    // T = 4 sqrt(5 l / (6 g)) K(sin(0.25)) with K by the arithmetic-geometric mean.
    let (mut a, mut b) = (1.0f64, 0.25f64.cos());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let exact = std::f64::consts::TAU / a * (5.0f64 / (6.0 * 9.81)).sqrt();
    let (coarse, run) = period(0.004);
    let (fine, finer) = period(0.002);
    let error = |c: &[f64]| ((c[c.len() - 1] - c[0]) / (c.len() - 1) as f64 - exact).abs() / exact;
    assert!(
        error(&coarse) < 2e-3 && error(&fine) < 1e-3,
        "{} {}",
        error(&coarse),
        error(&fine)
    );
    assert!(
        run.multiplier < 60.0 && finer.multiplier < 60.0,
        "{run:?} {finer:?}"
    );
    assert!(
        run.violation < 1e-4 && finer.violation < 0.3 * run.violation,
        "{run:?} {finer:?}"
    );
}
