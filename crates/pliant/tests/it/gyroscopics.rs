//! The variants of the gyroscopic torque.

use crate::tools::{order, solve, weighted, worst};
use pliant::dense::{Mat3, Vec3, rotation, skew};
use pliant::prelude::*;

const MOMENTS: [f64; 3] = [1.0, 2.0, 2.7];

const VARIANTS: [Gyroscopic; 4] = [
    Gyroscopic::Explicit,
    Gyroscopic::LinearlyImplicit,
    Gyroscopic::Momentum,
    Gyroscopic::BodyPredictor,
];

fn free_top(gyroscopic: Gyroscopic, options: Options) -> (Simulation, NodeId) {
    let mut model = Model::new();
    let pose = Pose::turned([0.0; 3], [1.0, -2.0, 0.5], 0.8);
    let top = model.add_rigid_bodies("top", &[pose]).unwrap();
    let mass = RigidMass::principal(1.5, MOMENTS);
    model.add_mass("m", top, Mass::Rigid(vec![mass])).unwrap();
    let spin = rotation::rotate(pose.rotation, Vec3::new(1.2, 0.5, -1.0));
    model
        .set_body_velocity(top, 0, [0.1, 0.0, 0.3], spin.into())
        .unwrap();
    let options = Options {
        gyroscopic,
        ..options
    };
    (Simulation::with_options(model, options).unwrap(), top)
}

#[test]
fn the_momentum_variant_keeps_angular_momentum_in_space() {
    for beta in [1.0, 0.5, 0.7] {
        let options = Options {
            ..weighted(beta, beta)
        };
        let (mut s, _) = free_top(Gyroscopic::Momentum, options);
        let before = s.model().momentum(s.state());
        let size = Vec3::from(before.angular).norm();
        for _ in 0..1000 {
            let now = s.step(0.02).unwrap().momentum;
            // A rounding of about 1e-16 per step, a thousand of them.
            let lost = (Vec3::from(now.angular) - Vec3::from(before.angular)).norm() / size;
            assert!(lost < 1e-12, "beta = {beta}: {lost:e}");
        }
    }
}

/// `(I + h alpha B) dw = -h w x I w` with `B = [w] I - [I w]`, solved densely.
#[test]
fn the_linearly_implicit_step_is_the_unsymmetric_solve() {
    for (alpha, h) in [(1.0, 0.1), (0.5, 0.1), (0.7, 0.3), (1.0, 1e-3)] {
        let options = Options {
            ..weighted(alpha, 1.0)
        };
        let (mut s, top) = free_top(Gyroscopic::LinearlyImplicit, options);
        let w = Vec3::from_column_slice(&s.velocities(top)[3..]);
        let inertia = Mat3::from_diagonal(&Vec3::from(MOMENTS));
        let b = skew(w) * inertia - skew(inertia * w);
        let matrix = inertia + h * alpha * b;
        let rhs = -h * w.cross(&(inertia * w));
        // Row-major.
        let change = solve(3, matrix.transpose().as_slice(), rhs.as_slice());
        s.step(h).unwrap();
        let found: Vec<f64> = (0..3).map(|k| s.velocities(top)[3 + k] - w[k]).collect();
        assert!(
            worst(&change, &found) < 1e-12,
            "alpha = {alpha}, h = {h}: {change:?} {found:?}"
        );
    }
}

#[test]
fn the_linearly_implicit_variant_says_when_the_step_is_too_long() {
    let (mut s, top) = free_top(Gyroscopic::LinearlyImplicit, Options::theta());
    let before = s.checkpoint();
    let error = s.step(50.0).unwrap_err();
    assert!(
        matches!(error, Error::Gyroscopic { .. } | Error::NotFinite { .. }),
        "{error}"
    );
    assert_eq!(s.checkpoint().state, before.state);
    // And goes on with a shorter one.
    s.step(0.01).unwrap();
    assert!(s.velocities(top).iter().all(|v| v.is_finite()));
}

/// Euler's equations by a fourth-order method of tiny steps.
fn reference(t: f64) -> Vec3 {
    let inertia = Vec3::from(MOMENTS);
    let rate = |w: Vec3| {
        let l = inertia.component_mul(&w);
        -w.cross(&l).component_div(&inertia)
    };
    let n = 20_000;
    let h = t / f64::from(n);
    let mut w = Vec3::new(1.2, 0.5, -1.0);
    for _ in 0..n {
        let a = rate(w);
        let b = rate(w + 0.5 * h * a);
        let c = rate(w + 0.5 * h * b);
        let d = rate(w + h * c);
        w += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    w
}

#[test]
fn all_variants_tend_to_eulers_equations() {
    let exact = reference(3.0);
    for gyroscopic in VARIANTS {
        let error = |h: f64, weight: f64| {
            let (mut s, top) = free_top(gyroscopic, weighted(weight, weight));
            for _ in 0..(3.0 / h).round() as usize {
                s.step(h).unwrap();
            }
            (Vec3::from_column_slice(&s.velocities(top)[3..]) - exact).norm()
        };
        for weight in [1.0, 0.5] {
            let errors = [error(0.001, weight), error(0.0005, weight)];
            let found = order(errors);
            // Linearised about the start of the step, alpha = 1/2 is the trapezoid to second order;
            // so is the kept momentum.
            let second =
                weight == 0.5 && matches!(gyroscopic, Gyroscopic::LinearlyImplicit | Gyroscopic::Momentum);
            let expected = if second { 2.0 } else { 1.0 };
            assert!(
                (found - expected).abs() < 0.15,
                "{gyroscopic:?} at {weight}: order {found}, {errors:?}"
            );
        }
    }
}

/// A symmetric top on a ball joint in steady precession: with moments `a` about the pivot and `c`
/// about its axis, at the angle `theta` to the vertical, `(c s - a p cos theta) p = m g l` for the
/// precession `p` and the spin `s` about the axis.
#[test]
fn a_heavy_top_precesses() {
    let (m, g, l, theta) = (2.0, 9.81, 0.5, 0.6f64);
    let (about_centre, c) = (0.3, 0.2);
    let a = about_centre + m * l * l;
    let p = 1.5;
    let s = (m * g * l / p + a * p * theta.cos()) / c;
    let error = |gyroscopic, h: f64| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -g]).unwrap();
        let axis = Vec3::new(theta.sin(), 0.0, theta.cos());
        let centre = l * axis;
        let pose = Pose::turned(centre.into(), [0.0, 1.0, 0.0], theta);
        let top = model.add_rigid_bodies("top", &[pose]).unwrap();
        let mass = RigidMass::principal(m, [about_centre, about_centre, c]);
        model.add_mass("m", top, Mass::Rigid(vec![mass])).unwrap();
        // The spin s about the axis holds its share of the precession.
        let vertical = Vec3::z();
        let spin = p * vertical + (s - p * theta.cos()) * axis;
        let linear = spin.cross(&centre);
        model
            .set_body_velocity(top, 0, linear.into(), spin.into())
            .unwrap();
        let joint = Joint::ball(Side::World, Side::Body(top, 0));
        model.add_joint("pivot", &joint).unwrap();
        let options = Options {
            gyroscopic,
            ..Options::theta()
        };
        let mut sim = Simulation::with_options(model, options).unwrap();
        for _ in 0..(0.4 / h).round() as usize {
            sim.step(h).unwrap();
        }
        let x = sim.positions(top);
        let angle = p * sim.time();
        let exact = l * Vec3::new(theta.sin() * angle.cos(), theta.sin() * angle.sin(), theta.cos());
        (Vec3::new(x[0], x[1], x[2]) - exact).norm()
    };
    for gyroscopic in VARIANTS {
        let errors = [error(gyroscopic, 0.0004), error(gyroscopic, 0.0002)];
        assert!(
            order(errors) > 0.85 && errors[1] < 0.02,
            "{gyroscopic:?}: {errors:?}, order {}",
            order(errors)
        );
    }
}

/// Spin that is nothing against what the step changes must not make the iteration of the linearly
/// implicit variant wait for digits that are not there.
#[test]
fn a_slow_top_that_is_struck_converges() {
    for (spin, push) in [(1e-3, 1e3), (1e-9, 1e3), (1.0, 1e6), (3.0, 1e9)] {
        let mut model = Model::new();
        let top = model.add_rigid_bodies("top", &[Pose::default()]).unwrap();
        let mass = RigidMass::principal(1.5, MOMENTS);
        model.add_mass("m", top, Mass::Rigid(vec![mass])).unwrap();
        model
            .set_body_velocity(top, 0, [0.0; 3], [spin, 0.3 * spin, -spin])
            .unwrap();
        let options = Options {
            gyroscopic: Gyroscopic::LinearlyImplicit,
            ..Options::theta()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        s.set_force(top, 0, &[0.0, push, 0.0, push, -push, 0.5 * push])
            .unwrap();
        s.step(0.1).unwrap();
    }
}

/// A coordinate that is held takes part in the change of the gyroscopic torque.
#[test]
fn the_linearly_implicit_step_knows_what_is_held() {
    let (h, d) = (0.1, 0.8);
    let options = Options::theta();
    let (mut s, top) = free_top(Gyroscopic::LinearlyImplicit, options);
    let w = Vec3::from_column_slice(&s.velocities(top)[3..]);
    let held = [false, false, false, false, false, true];
    s.hold(top, 0, &held, &[0.0, 0.0, 0.0, 0.0, 0.0, w.z + d])
        .unwrap();
    let inertia = Mat3::from_diagonal(&Vec3::from(MOMENTS));
    let matrix = inertia + h * (skew(w) * inertia - skew(inertia * w));
    let rhs = -h * w.cross(&(inertia * w)) - matrix.column(2) * d;
    let free = [matrix[(0, 0)], matrix[(0, 1)], matrix[(1, 0)], matrix[(1, 1)]];
    let change = solve(2, &free, &[rhs.x, rhs.y]);
    s.step(h).unwrap();
    let found: Vec<f64> = (0..2).map(|k| s.velocities(top)[3 + k] - w[k]).collect();
    assert!(worst(&change, &found) < 1e-12, "{change:?} {found:?}");
}

/// A step in which a body turns too far for its own equation is taken in halves: by as many of them
/// as it takes the momentum in space is that of the start to first order of the parts.
#[test]
fn a_step_that_turns_too_far_is_halved() {
    let fast = |halvings| {
        let mut model = Model::new();
        let top = model.add_rigid_bodies("top", &[Pose::default()]).unwrap();
        let mass = RigidMass::principal(1.0, [1.0, 2.0, 3.0]);
        model.add_mass("m", top, Mass::Rigid(vec![mass])).unwrap();
        model
            .set_body_velocity(top, 0, [0.0; 3], [60.0, 1.0, 50.0])
            .unwrap();
        let mut options = Options {
            gyroscopic: Gyroscopic::LinearlyImplicit,
            ..Options::theta()
        };
        options.contacts.halvings = halvings;
        let mut s = Simulation::with_options(model, options).unwrap();
        s.step(0.1).map(|report| (report.contacts.solve.halvings, s))
    };
    let error = fast(0).unwrap_err();
    assert!(matches!(error, Error::Gyroscopic { .. }), "{error}");
    let (halvings, s) = fast(6).unwrap();
    assert!(halvings >= 4, "{halvings}");
    let spin = |w: &[f64]| (w[3] * w[3] + 4.0 * w[4] * w[4] + 9.0 * w[5] * w[5]).sqrt();
    let node = s.model().node_named("top").unwrap();
    let ratio = spin(s.velocities(node)) / (60.0f64 * 60.0 + 4.0 + 9.0 * 50.0 * 50.0).sqrt();
    // Parts that turn by `h w` of a quarter or less lose a share of that.
    assert!((0.5..=1.0).contains(&ratio), "{ratio}");
}
