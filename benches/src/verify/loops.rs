//! C: hinged bodies, and loops of them with redundant rows.

use super::{Checks, distance};
use pliant::prelude::*;

const GRAVITY: [f64; 3] = [0.0, -9.81, 0.0];

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    hinged_rod(checks)?;
    slider_crank(checks)?;
    parallelogram(checks)
}

/// A pose in the plane z = 0.
fn planar([x, y, angle]: [f64; 3]) -> Pose {
    Pose::turned([x, y, 0.0], [0.0, 0.0, 1.0], angle)
}

/// A slender rod along its x axis with the moment `inertia` about z.
fn slender(mass: f64, inertia: f64) -> RigidMass {
    RigidMass::principal(mass, [1e-3, inertia, inertia])
}

/// C04: a slender rod on a hinge, let go from the horizontal.
fn hinged_rod(checks: &mut Checks) -> Result<(), Error> {
    let exact = [
        checks.references.expected("C04", "com(0.5)"),
        checks.references.expected("C04", "com(1.0)"),
    ];
    let mut errors = [Vec::new(), Vec::new()];
    for h in [0.01, 0.005, 0.0025] {
        let mut model = Model::new();
        model.set_gravity(GRAVITY)?;
        let rod = model.add_rigid_bodies("rod", &[planar([0.5, 0.0, 0.0])])?;
        model.add_mass("m", rod, Mass::Rigid(vec![slender(2.0, 2.0 / 12.0)]))?;
        model.add_joint("hinge", &Joint::hinge(Side::World, Side::Body(rod, 0)))?;
        let mut s = Simulation::with_options(model, plain())?;
        for (k, exact) in exact.iter().enumerate() {
            while s.time() < 0.5 * (k + 1) as f64 - 0.5 * h {
                s.step(h)?;
            }
            errors[k].push(distance(&s.positions(rod)[..2], exact));
        }
    }
    checks.order("C04", "com(0.5)", 1.0, &errors[0], 0.15);
    let reference = checks.references.expected("C04", "reference err, drift");
    for (ours, reference) in errors[0].iter().zip(reference.iter().step_by(2)) {
        checks.at_most("C04", "error of com(0.5)", 1.5 * reference, *ours);
    }
    Ok(())
}

/// Position rows without geometric stiffness of the multipliers: the scheme of the reference
/// errors.
fn plain() -> Options {
    Options {
        geometry: GeometricTerms {
            forces: GeometricStiffness::Full,
            multipliers: GeometricStiffness::None,
        },
        ..Options::theta()
    }
}

/// C05: three hinges and a slider in space: three rows too many.
fn slider_crank(checks: &mut Checks) -> Result<(), Error> {
    let exact = checks
        .references
        .expected("C05", "crank angle, slider x, slider v (0.2)");
    let (mut errors, mut redundant) = (Vec::new(), Vec::new());
    for h in [0.002, 0.001] {
        let (mut s, [.., slider]) = crank()?;
        while s.time() < 0.2 - 0.5 * h {
            let report = s.step(h)?;
            redundant.push(report.solve.redundant_rows);
        }
        errors.push((s.positions(slider)[0] - exact[1]).abs());
    }
    checks.all_equal("C05", "redundant rows in every step", 3, &redundant);
    checks.order("C05", "slider x(0.2), 3 redundant rows", 1.0, &errors, 0.2);
    let reference = checks
        .references
        .expected("C05", "reference err x(0.2), h=.002,.001");
    for (ours, reference) in errors.iter().zip(reference) {
        checks.at_most("C05", "error of x(0.2)", 1.5 * reference, *ours);
    }
    // The same scheme gives the same numbers, whatever the side that the rows are written from.
    let (mut s, [crank, _, slider]) = crank()?;
    for _ in 0..100 {
        s.step(0.002)?;
    }
    let q = &s.positions(crank)[3..];
    let ours = [s.positions(slider)[0], q[0], q[1], q[2], q[3]];
    checks.against(
        "C05",
        "scheme: slider x, crank quat after 100 steps h=.002",
        &ours,
        1e-7,
    );
    Ok(())
}

/// The slider-crank of C05: crank, rod, slider.
fn crank() -> Result<(Simulation, [NodeId; 3]), Error> {
    let poses = [
        [
            0.10606601717798213,
            0.10606601717798211,
            std::f64::consts::FRAC_PI_4,
        ],
        [0.7007525414982658, 0.10606601717798211, -0.21375613247243477],
        [1.1893730486405674, 0.0, 0.0],
    ];
    let speeds = [
        [-0.42426406871192845, 0.4242640687119285, 4.0],
        [-0.940624149241254, 0.4242640687119285, -0.868289526350906],
        [-1.0327201610586512, 0.0, 0.0],
    ];
    let masses = [(1.0, 0.0075), (2.0, 0.16666666666666666), (3.0, 0.1)];
    let mut model = Model::new();
    model.set_gravity(GRAVITY)?;
    let mut bodies = Vec::new();
    for (k, name) in ["crank", "rod", "slider"].into_iter().enumerate() {
        let body = model.add_rigid_bodies(name, &[planar(poses[k])])?;
        let [vx, vy, w] = speeds[k];
        model.set_body_velocity(body, 0, [vx, vy, 0.0], [0.0, 0.0, w])?;
        let inertia = RigidMass::principal(masses[k].0, [masses[k].1; 3]);
        model.add_mass(&format!("{name} mass"), body, Mass::Rigid(vec![inertia]))?;
        bodies.push(body);
    }
    let body = |k: usize| Side::Body(bodies[k], 0);
    let at = |x: f64, y: f64| planar([x, y, 0.0]);
    let pin = 0.3 * std::f64::consts::FRAC_1_SQRT_2;
    model.add_joint("crank pin", &Joint::hinge(Side::World, body(0)).at(at(0.0, 0.0)))?;
    model.add_joint("rod pin", &Joint::hinge(body(0), body(1)).at(at(pin, pin)))?;
    model.add_joint(
        "slider pin",
        &Joint::hinge(body(1), body(2)).at(at(poses[2][0], 0.0)),
    )?;
    let along = Pose::turned(
        [poses[2][0], 0.0, 0.0],
        [0.0, 1.0, 0.0],
        std::f64::consts::FRAC_PI_2,
    );
    model.add_joint("guide", &Joint::slider(Side::World, body(2)).at(along))?;
    let s = Simulation::with_options(model, plain())?;
    Ok((s, [bodies[0], bodies[1], bodies[2]]))
}

/// C06: a parallelogram of three rods: three rows too many, and at the folded position one more.
fn parallelogram(checks: &mut Checks) -> Result<(), Error> {
    let exact = checks.references.expected("C06", "coupler com (0.4)");
    let (mut errors, mut redundant) = (Vec::new(), Vec::new());
    for h in [0.004, 0.002, 0.001] {
        let mut model = Model::new();
        model.set_gravity(GRAVITY)?;
        let up = std::f64::consts::FRAC_PI_2;
        let poses = [[0.0, 0.5, up], [0.5, 1.0, 0.0], [1.0, 0.5, up]];
        let rods = model.add_rigid_bodies("rods", &poses.map(planar))?;
        model.add_mass("m", rods, Mass::Rigid(vec![slender(1.0, 1.0 / 12.0); 3]))?;
        model.set_body_velocity(rods, 0, [0.5, 0.0, 0.0], [0.0, 0.0, -1.0])?;
        model.set_body_velocity(rods, 1, [1.0, 0.0, 0.0], [0.0; 3])?;
        model.set_body_velocity(rods, 2, [0.5, 0.0, 0.0], [0.0, 0.0, -1.0])?;
        let rod = |k| Side::Body(rods, k);
        for (name, a, b, x, y) in [
            ("left pin", Side::World, rod(0), 0.0, 0.0),
            ("left knee", rod(0), rod(1), 0.0, 1.0),
            ("right knee", rod(1), rod(2), 1.0, 1.0),
            ("right pin", rod(2), Side::World, 1.0, 0.0),
        ] {
            model.add_joint(name, &Joint::hinge(a, b).at(planar([x, y, 0.0])))?;
        }
        let mut s = Simulation::with_options(model, plain())?;
        while s.time() < 0.4 - 0.5 * h {
            let report = s.step(h)?;
            redundant.push(report.solve.redundant_rows);
        }
        errors.push(distance(&s.positions(rods)[7..9], &exact));
    }
    checks.all_equal("C06", "redundant rows in every step", 3, &redundant);
    let rate = (errors[0] / errors[1]).log2().min((errors[1] / errors[2]).log2());
    checks.at_most("C06", "order of coupler com(0.4) is at least 1", -0.85, -rate);
    let reference = checks.references.expected("C06", "reference err");
    for (ours, reference) in errors.iter().zip(reference) {
        checks.at_most("C06", "error of coupler com(0.4)", 1.5 * reference, *ours);
    }
    Ok(())
}
