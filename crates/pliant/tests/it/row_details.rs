//! Terms of rows that other tests do not reach, each against a number worked out by hand.

use crate::tools::{run, weighted, worst};
use pliant::prelude::*;

/// A dashpot without any give, as a law of one's own.
#[derive(Clone, Debug)]
struct Rigid;

impl ForceField for Rigid {
    fn add_force(&self, _at: At<'_>, _: &mut [f64]) {}

    fn row_law(&self) -> RowLaw {
        RowLaw::Viscous
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        (0..out.len()).for_each(|e| out.block_mut(e).fill(0.0));
    }

    fn is_linear(&self) -> bool {
        true
    }
}

fn scalar(x: f64, v: f64, mass: f64) -> (Model, NodeId) {
    let mut model = Model::new();
    let node = model.add_independent("x", Space::Real(1), &[x], &[v]).unwrap();
    model.add_mass("m", node, Mass::Uniform(mass)).unwrap();
    (model, node)
}

/// A rigid dashpot holds the rate of its motion, and no position: nothing is violated however far
/// away it is.
#[test]
fn a_rigid_dashpot_goes_with_its_motion() {
    let (mut model, x) = scalar(0.5, 0.0, 2.0);
    let id = model
        .add_force_field("dashpot", x, Rigid, Treatment::Compliance)
        .unwrap();
    model
        .set_motion(id, Some(PrescribedMotion::sine(0.3, 2.0, 0.4)))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..20 {
        let report = s.step(0.02).unwrap();
        let rate = 0.6 * (2.0 * s.time() + 0.4).cos();
        assert!((s.state().velocities[0] - rate).abs() < 1e-15);
        assert_eq!(report.violation, 0.0);
    }
}

/// Stabilisation moves a driven row to its target; a row of bounded force is not its business and
/// holds its position itself.
#[test]
fn stabilised_rows_are_where_they_are_driven() {
    for bounded in [false, true] {
        let (mut model, x) = scalar(0.0, 0.0, 2.0);
        let id = model.add_constraint("row", x, Level::Position).unwrap();
        model
            .set_motion(id, Some(PrescribedMotion::sine(0.3, 2.0, 0.4)))
            .unwrap();
        if bounded {
            model.set_bounds(id, -1e6, 1e6).unwrap();
        }
        let options = Options {
            post_stabilisation: Some(Stabilisation::default()),
            ..Options::theta()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        for _ in 0..20 {
            s.step(0.02).unwrap();
            let gap = s.state().positions[0] - 0.3 * (2.0 * s.time() + 0.4).sin();
            assert!(gap.abs() < 1e-14, "bounded {bounded}: {gap:e}");
        }
    }
}

/// Two rows that differ by a rounding of where they are do not contradict each other; by a
/// millimetre they do.
#[test]
fn rows_a_rounding_apart_do_not_contradict() {
    let far = 1e6f64;
    for (apart, post) in [
        (f64::EPSILON * far, false),
        (f64::EPSILON * far, true),
        (1e-3, false),
    ] {
        let mut model = Model::new();
        let p = model.add_particles("p", &[[far, 0.0, 0.0]]).unwrap();
        model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
        for (name, target) in [("one", far), ("other", far + apart)] {
            let pair = (End::element(0, 0), End::Point([target, 0.0, 0.0]));
            let gap = model.add_mapped(name, &[p], Difference::new(&[pair])).unwrap();
            model
                .add_constraint(&format!("{name} row"), gap, Level::Position)
                .unwrap();
        }
        let options = Options {
            post_stabilisation: post.then(Stabilisation::default),
            ..Options::theta()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        let found = s.step(0.01);
        if apart < 1e-6 {
            assert!(found.is_ok(), "stabilised {post}: {found:?}");
        } else {
            assert!(matches!(found, Err(Error::Incompatible { .. })), "{found:?}");
        }
    }
}

/// `b = (phi/h + u + h/2 v^2/r)/beta`: a particle that passes the centre of a circle at the
/// distance `r` with the velocity `v`.
#[test]
fn a_curved_row_knows_its_curvature() {
    let (r, rest, v, h) = (0.8, 0.75, 3.0, 0.02);
    for beta in [1.0, 0.5] {
        let mut model = Model::new();
        let p = model
            .add_independent("p", Space::Real(3), &[r, 0.0, 0.0], &[0.0, v, 0.0])
            .unwrap();
        model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
        let line = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[rest]);
        let line = model.add_mapped("line", &[p], line).unwrap();
        model.add_constraint("row", line, Level::CurvedPosition).unwrap();
        let mut s = Simulation::with_options(model, weighted(beta, beta)).unwrap();
        s.step(h).unwrap();
        let expected = ((r - rest) / h + 0.5 * h * v * v / r) / beta;
        assert!((s.system().b[0] - expected).abs() < 1e-14 * expected);
    }
}

/// With `C = [1 2; 2 5]`, `D = h [1 -1; -1 2]` the matrix `Y = h C D + h^2 I` begins with a zero;
/// `K` is the inverse of `C`.
#[test]
fn a_damping_matrix_whose_elimination_needs_a_pivot() {
    let h = 0.02;
    let build = |treatment| {
        let mut model = Model::new();
        let x = model
            .add_independent("x", Space::Real(2), &[0.3, -0.1], &[1.0, 2.0])
            .unwrap();
        model.add_mass("m", x, Mass::Uniform(0.7)).unwrap();
        let damping = [h, -h, -h, 2.0 * h];
        let law = match treatment {
            Treatment::Compliance => FullCompliance::from_compliance(&[1.0, 2.0, 2.0, 5.0]),
            _ => FullCompliance::from_stiffness(&[5.0, -2.0, -2.0, 1.0]),
        };
        model
            .add_force_field("spring", x, law.with_damping(&damping), treatment)
            .unwrap();
        model
    };
    let (x, _) = run(build(Treatment::Stiffness), Options::theta(), h, 20);
    let (y, _) = run(build(Treatment::Compliance), Options::theta(), h, 20);
    assert!(worst(&x, &y) < 1e-13);
}

/// A cart on a slider along z.
fn cart(joint: impl Fn(Joint) -> Joint) -> Simulation {
    let mut model = Model::new();
    let body = model.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
    let ball = RigidMass::sphere(2.0, 0.3);
    model.add_mass("m", body, Mass::Rigid(vec![ball])).unwrap();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let joint = joint(Joint::slider(Side::World, Side::Body(body, 0)));
    model.add_joint("joint", &joint).unwrap();
    crate::tools::theta(model).unwrap()
}

/// The first step from rest: `m v = h (-m g - k (h v - rest + d v))`.
#[test]
fn the_spring_of_a_joint_pulls_towards_its_rest() {
    let (h, m, g, k, d, rest) = (0.05, 2.0, 9.81, 40.0, 0.3, 0.7);
    let mut s = cart(|j| j.with_spring(0, 1.0 / k, d, rest));
    s.step(h).unwrap();
    let expected = h * (k * rest - m * g) / (m + h * k * (h + d));
    assert!((s.state().velocities[2] - expected).abs() < 1e-14);
}

/// Held softly along z, with a relaxation time: the same step with a rest of zero.
#[test]
fn a_soft_joint_relaxes() {
    let (h, m, g, k, d) = (0.05, 2.0, 9.81, 40.0, 0.3);
    let mut model = Model::new();
    let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let ball = RigidMass::sphere(m, 0.3);
    model.add_mass("m", body, Mass::Rigid(vec![ball])).unwrap();
    model.set_gravity([0.0, 0.0, -g]).unwrap();
    let joint = Joint::point_on_plane(Side::World, Side::Body(body, 0)).with_compliance(&[1.0 / k], d);
    model.add_joint("joint", &joint).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    s.step(h).unwrap();
    let expected = -h * m * g / (m + h * k * (h + d));
    assert!((s.state().velocities[2] - expected).abs() < 1e-14);
}

/// `dT = m (v' - v) (v' + v)/2` and `m (v' - v) = -h a m v_alpha`: at `beta = 1/2` the work
/// `h a m v_alpha v_beta` is all of it.
#[test]
fn damping_in_proportion_to_the_mass_takes_what_is_lost() {
    let (mut model, _) = scalar(0.0, 2.0, 1.5);
    let rayleigh = Rayleigh {
        mass: 3.0,
        stiffness: 0.0,
    };
    model.set_rayleigh(rayleigh).unwrap();
    let mut s = Simulation::with_options(model, weighted(1.0, 0.5)).unwrap();
    for _ in 0..10 {
        let report = s.step(0.1).unwrap();
        assert!((report.energies.kinetic + report.dissipated - 3.0).abs() < 1e-14);
    }
}

/// A damping matrix beside no compliance at all says nothing: the row is hard, and takes no energy
/// out as damping.
#[test]
fn a_hard_row_dissipates_nothing() {
    let (mut model, x) = scalar(0.0, 0.0, 1.5);
    let law = FullCompliance::from_compliance(&[0.0]).with_damping(&[5.0]);
    let id = model
        .add_force_field("row", x, law, Treatment::Compliance)
        .unwrap();
    model
        .set_motion(id, Some(PrescribedMotion::sine(0.3, 2.0, 0.0)))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..10 {
        assert_eq!(s.step(0.05).unwrap().dissipated, 0.0);
    }
}

/// Energy of a group of which one coordinate is soft and one stiff, each with a target:
/// `k (x - target)^2/2` of both.
#[test]
fn the_energy_of_a_driven_spring_is_that_of_its_stretch() {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(2), &[0.1, 0.0], &[0.0, 0.5])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let (k, target) = ([0.5, 1e7], [0.3, 0.2]);
    let law = DiagonalCompliance::from_stiffnesses(&k);
    let id = model
        .add_force_field("spring", x, law, Treatment::Compliance)
        .unwrap();
    model
        .set_motion(id, Some(PrescribedMotion::constant(&target)))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..5 {
        let report = s.step(0.01).unwrap();
        let x = &s.state().positions;
        let expected: f64 = (0..2).map(|i| 0.5 * k[i] * (x[i] - target[i]).powi(2)).sum();
        let found = report.energies.potential;
        // The stretch of the stiff one is a difference of positions.
        assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
    }
}

/// The next geometric stiffness has the force of a soft spring as it is:
/// `-k ((x - target) + (d + b) (v - rate))`.
#[test]
fn soft_rows_lend_their_law_to_the_geometric_stiffness() {
    let (k, d, b) = (3.0, 0.2, 0.1);
    let (mut model, x) = scalar(0.4, -1.0, 2.0);
    let rayleigh = Rayleigh {
        mass: 0.0,
        stiffness: b,
    };
    model.set_rayleigh(rayleigh).unwrap();
    let law = UniformCompliance::from_stiffness(k).with_relaxation_time(d);
    let id = model
        .add_force_field("spring", x, law, Treatment::Compliance)
        .unwrap();
    model
        .set_motion(id, Some(PrescribedMotion::ramp(0.1, 0.7)))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..5 {
        s.step(0.05).unwrap();
        let (x, v, t) = (s.state().positions[0], s.state().velocities[0], s.time());
        let expected = -k * ((x - 0.1 - 0.7 * t) + (d + b) * (v - 0.7));
        let found = s.checkpoint().lagged[0];
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
}

/// A slow pendulum is solved once per step: its multiplier changes by far less than half.
#[test]
fn a_slow_pendulum_takes_one_pass() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = model.add_particles("p", &[[0.3, -1.0, 0.0]]).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let line = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[0.3f64.hypot(1.0)]);
    let line = model.add_mapped("line", &[p], line).unwrap();
    model.add_constraint("row", line, Level::Position).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    s.step(0.001).unwrap();
    for _ in 0..50 {
        assert_eq!(s.step(0.001).unwrap().solve.geometry_passes, 1);
    }
}

/// A stretched or pressed spring of tension `T` and length `L` has `K_yy = T/L` across it, which
/// each mode takes in its way.
#[test]
fn modes_of_the_geometric_stiffness() {
    use GeometricStiffness::{AbsoluteValue, Full, JustEnough, None, PositivePart, WhereNeeded};
    let (m, length, h, k) = (0.5, 0.8, 0.1f64, 200.0);
    for (rest, heavy) in [(0.5, false), (1.1, false), (0.5, true), (1.1, true)] {
        let m = if heavy { 100.0 * m } else { m };
        let across = h * h * k * (length - rest) / length;
        for (mode, expected) in [
            (None, 0.0),
            (Full, across),
            (PositivePart, across.max(0.0)),
            (AbsoluteValue, across.abs()),
            // Only what outweighs the mass.
            (WhereNeeded, if across.abs() > m { across } else { 0.0 }),
            // What is left explicit is as large as the mass.
            (JustEnough, across.signum() * (across.abs() - m).max(0.0)),
        ] {
            let mut model = Model::new();
            let p = model.add_particles("p", &[[length, 0.0, 0.0]]).unwrap();
            model.add_mass("m", p, Mass::Uniform(m)).unwrap();
            let line = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[rest]);
            let line = model.add_mapped("line", &[p], line).unwrap();
            let law = UniformCompliance::from_stiffness(k);
            model
                .add_force_field("spring", line, law, Treatment::Stiffness)
                .unwrap();
            let options = Options {
                geometry: GeometricTerms {
                    forces: mode,
                    multipliers: mode,
                },
                tuning: Tuning {
                    clamp_geometry: false,
                    ..Tuning::default()
                },
                ..Options::theta()
            };
            let mut s = Simulation::with_options(model, options).unwrap();
            // Where W is indefinite the step fails, after W was made.
            let _ = s.step(h);
            let found = s.system().w.get(1, 1);
            assert!(
                (found - m - expected).abs() < 1e-13 * (m + across.abs()),
                "{mode:?}, rest {rest}: {found}, {expected}"
            );
        }
    }
}
