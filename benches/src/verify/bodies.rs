//! C: spinning bodies, the heavy top, attached masses.

use super::{Checks, distance};
use pliant::dense::{Vec3, rotation};
use pliant::prelude::*;

const NO_GEOMETRY: GeometricTerms = GeometricTerms {
    forces: GeometricStiffness::Full,
    multipliers: GeometricStiffness::None,
};

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    free_top(checks)?;
    heavy_top(checks)?;
    attached_mass(checks)?;
    point_on_a_body(checks)
}

/// C01: torque-free asymmetric top.
fn free_top(checks: &mut Checks) -> Result<(), Error> {
    let exact = checks.references.expected("C01", "omega_body(1.0)");
    let turn = checks
        .references
        .expected("C01", "R(1) row-major, R(5) row-major");
    for (mode, key) in [
        (
            Gyroscopic::BodyPredictor,
            "reference err omega_b(1) body-newton h=.01,.005,.0025",
        ),
        (
            Gyroscopic::Explicit,
            "reference err omega_b(1) explicit h=.01,.005,.0025",
        ),
        (
            Gyroscopic::LinearlyImplicit,
            "reference err omega_b(1) implicit h=.01,.005,.0025",
        ),
        (
            Gyroscopic::Momentum,
            "reference err omega_b(1) momentum h=.01,.005,.0025",
        ),
    ] {
        let bounds = checks.references.expected("C01", key);
        let mut errors = Vec::new();
        let mut turns = Vec::new();
        for h in [0.01, 0.005, 0.0025] {
            let mut model = Model::new();
            let body = model.add_rigid_bodies("top", &[Pose::default()])?;
            model.set_body_velocity(body, 0, [0.0; 3], [1.2, 0.0, 1.0])?;
            model.add_mass(
                "m",
                body,
                Mass::Rigid(vec![RigidMass::principal(1.0, [1.0, 2.0, 3.0])]),
            )?;
            let mut s = Simulation::with_options(
                model,
                Options {
                    gyroscopic: mode,
                    ..Options::theta()
                },
            )?;
            for _ in 0..(1.0f64 / h).round() as usize {
                s.step(h)?;
            }
            errors.push(distance(&s.velocities(body)[3..], &exact));
            let x = s.positions(body);
            let r = rotation::matrix([x[3], x[4], x[5], x[6]]);
            turns.push(distance(r.transpose().as_slice(), &turn[..9]));
        }
        checks.order("C01", &format!("omega_b(1), {mode:?}"), 1.0, &errors, 0.15);
        checks.order("C01", &format!("R(1), {mode:?}"), 1.0, &turns, 0.15);
        for (e, b) in errors.iter().zip(bounds) {
            checks.at_most("C01", format!("error of omega_b(1), {mode:?}"), 1.5 * b, *e);
        }
    }
    // One step from rest of another state.
    let mut model = Model::new();
    let body = model.add_rigid_bodies("top", &[Pose::default()])?;
    model.set_body_velocity(body, 0, [0.0; 3], [1.2, 0.5, 1.0])?;
    model.add_mass(
        "m",
        body,
        Mass::Rigid(vec![RigidMass::principal(1.0, [1.0, 2.0, 3.0])]),
    )?;
    let mut s = Simulation::with_options(model, Options::theta())?;
    s.step(0.1)?;
    let key = "one body-implicit step h=.1 from (1.2,.5,1): omega_b";
    checks.against("C01", key, &s.velocities(body)[3..], 1e-13);
    Ok(())
}

/// C03: heavy symmetric top on a ball joint, fast spin, steady precession.
fn heavy_top(checks: &mut Checks) -> Result<(), Error> {
    let exact = checks.references.expected("C03", "axis(0.25)");
    let omega = checks.references.expected("C03", "omega0");
    let omega = Vec3::new(omega[0], omega[1], omega[2]);
    let (l, theta) = (0.5, std::f64::consts::FRAC_PI_3);
    // The prototype of the body-axes predictor: 0.0179, 0.0089, 0.0044.
    let bounds = [
        (Gyroscopic::BodyPredictor, vec![0.0179, 0.0089, 0.0044]),
        (
            Gyroscopic::Explicit,
            checks
                .references
                .expected("C03", "reference err h=.002,.001,.0005 explicit"),
        ),
        (
            Gyroscopic::LinearlyImplicit,
            // Theirs is linear in world axes, ours in body axes: another scheme of order 1.
            checks
                .references
                .expected("C03", "reference err h=.002,.001,.0005 implicit")
                .iter()
                .map(|e| 2.0 * e)
                .collect(),
        ),
    ];
    for (gyroscopic, bounds) in bounds {
        let mut errors = Vec::new();
        for h in [0.002, 0.001, 0.0005] {
            let axis = Vec3::new(theta.sin(), 0.0, theta.cos());
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -9.81])?;
            let centre = l * axis;
            let top =
                model.add_rigid_bodies("top", &[Pose::turned(centre.into(), [0.0, 1.0, 0.0], theta)])?;
            model.set_body_velocity(top, 0, omega.cross(&centre).into(), omega.into())?;
            model.add_mass(
                "m",
                top,
                Mass::Rigid(vec![RigidMass::principal(1.0, [0.15, 0.15, 0.05])]),
            )?;
            let foot = model.add_mapped("foot", &[top], RigidPoints::new(&[(0, [0.0, 0.0, -l])]))?;
            model.add_constraint("ball joint", foot, Level::Position)?;
            let mut s = Simulation::with_options(
                model,
                Options {
                    geometry: NO_GEOMETRY,
                    gyroscopic,
                    ..Options::theta()
                },
            )?;
            for _ in 0..(0.25f64 / h).round() as usize {
                s.step(h)?;
            }
            let x = s.positions(top);
            let found = rotation::rotate([x[3], x[4], x[5], x[6]], Vec3::z());
            errors.push(distance(found.as_slice(), &exact));
        }
        checks.order("C03", &format!("axis(0.25), {gyroscopic:?}"), 1.0, &errors, 0.25);
        for (e, b) in errors.iter().zip(bounds) {
            checks.at_most("C03", format!("error of axis(0.25), {gyroscopic:?}"), 1.5 * b, *e);
        }
    }
    Ok(())
}

/// C09: a second mass attached off centre; its velocity-dependent term must be there.
fn attached_mass(checks: &mut Checks) -> Result<(), Error> {
    let exact = checks.references.expected("C09", "origin of body 1 (0.5)");
    let later = checks.references.expected("C09", "origin of body 1 (1.0)");
    let bounds = checks
        .references
        .expected("C09", "reference err origin(0.5), h=.004,.002,.001, term=True");
    let (mut errors, mut late) = (Vec::new(), Vec::new());
    for h in [0.004, 0.002, 0.001] {
        let mut model = Model::new();
        let body = model.add_rigid_bodies("body", &[Pose::default()])?;
        model.set_body_velocity(body, 0, [0.1, 0.0, -0.2], [1.0, 2.0, -1.5])?;
        model.add_mass(
            "m1",
            body,
            Mass::Rigid(vec![RigidMass::principal(1.0, [0.2, 0.3, 0.4])]),
        )?;
        let point = model.add_mapped("point", &[body], RigidPoints::new(&[(0, [0.3, -0.2, 0.1])]))?;
        model.add_mass("m2", point, Mass::Uniform(0.5))?;
        let mut s = Simulation::with_options(model, Options::theta())?;
        let half = (0.5f64 / h).round() as usize;
        for _ in 0..half {
            s.step(h)?;
        }
        errors.push(distance(&s.positions(body)[..3], &exact));
        for _ in 0..half {
            s.step(h)?;
        }
        late.push(distance(&s.positions(body)[..3], &later));
    }
    checks.order("C09", "origin(0.5)", 1.0, &errors, 0.15);
    checks.order("C09", "origin(1.0)", 1.0, &late, 0.15);
    for (e, b) in errors.iter().zip(bounds) {
        checks.at_most("C09", "error of origin(0.5)", 1.5 * b, *e);
    }
    Ok(())
}

/// C08: Jacobian, mass pull-back and geometric stiffness of a spring to a point of a body, through
/// `W` itself.
fn point_on_a_body(checks: &mut Checks) -> Result<(), Error> {
    let q = [
        0.6100061839757498,
        -0.7638575467969289,
        0.12496471778007319,
        -0.16969950802187994,
    ];
    let build = |mass: f64, spring: bool| -> Result<Simulation, Error> {
        let mut model = Model::new();
        let pose = Pose {
            position: [0.1, -0.2, 0.3],
            rotation: q,
        };
        let body = model.add_rigid_bodies("body", &[pose])?;
        model.set_body_velocity(body, 0, [1.0, 2.0, 3.0], [-0.5, 0.7, 0.2])?;
        // A unit body that is taken off again below.
        model.add_mass(
            "unit",
            body,
            Mass::Rigid(vec![RigidMass::principal(1.0, [1.0; 3])]),
        )?;
        let point = model.add_mapped("point", &[body], RigidPoints::new(&[(0, [0.4, 0.5, -0.6])]))?;
        if mass > 0.0 {
            model.add_mass("m", point, Mass::Uniform(mass))?;
        }
        if spring {
            let line = Distance::to_points(&[(0, [1.0; 3])]).with_rest_lengths(&[0.9]);
            let line = model.add_mapped("line", &[point], line)?;
            model.add_force_field(
                "k",
                line,
                UniformCompliance::from_stiffness(50.0),
                Treatment::Stiffness,
            )?;
        }
        Simulation::with_options(model, Options::theta())
    };
    let r = rotation::matrix(q);
    // W - I in world axes.
    let world = |s: &Simulation, scale: f64| -> Vec<f64> {
        let turn = |i: usize, a: usize| {
            if i < 3 {
                f64::from(u8::from(i == a))
            } else if a < 3 {
                0.0
            } else {
                r[(i - 3, a - 3)]
            }
        };
        let w = |a: usize, b: usize| s.system().w.get(a.max(b), a.min(b)) - f64::from(u8::from(a == b));
        let mut out = vec![0.0; 36];
        for i in 0..6 {
            for j in 0..6 {
                for a in 0..6 {
                    for b in 0..6 {
                        out[i * 6 + j] += turn(i, a) * w(a, b) * turn(j, b) / scale;
                    }
                }
            }
        }
        out
    };
    let mut s = build(2.5, false)?;
    let point = s.model().node_named("point");
    let speed = point.map(|p| s.velocities(p).to_vec()).unwrap_or_default();
    // Three products of numbers of order one beyond the case's two.
    checks.against("C08", "u_j = u + w x r", &speed, 2e-15);
    s.step(0.1)?;
    checks.against("C08", "J^T m J (parallel axes)", &world(&s, 1.0), 1e-14);
    let mut s = build(0.0, true)?;
    let h = 0.1;
    // W - M = h^2 (J^T k J - G), which is the Hessian of the potential; the reference is a finite
    // difference of 1e-6.
    s.step(h)?;
    checks.against(
        "C08",
        "exp-coordinate Hessian of V = sym(J^T N J - G)",
        &world(&s, h * h),
        2e-6,
    );
    Ok(())
}
