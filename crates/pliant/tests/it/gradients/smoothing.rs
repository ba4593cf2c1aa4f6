//! Derivatives of steps with smoothed contacts: against closed forms, against differences of the ends
//! of smoothed steps, and against the derivatives of the steps themselves as the barrier gets low.

use super::contacts::body;
use super::{between, direction, largest, off_differences, options, starts_along, tangent_as_adjoint};
use crate::tools::numbers;
use crate::worlds::{add_body, ground, on_feet, rough};
use pliant::collision::*;
use pliant::contact::Overlap;
use pliant::gradient::*;
use pliant::prelude::*;

const H: f64 = 0.01;

/// The derivative of the last step with contacts smoothed by an energy, and how many these are.
fn smoothed(simulation: &mut Simulation, energy: f64) -> Result<(StepDerivative, usize), GradientError> {
    let mut derivative = simulation.step_derivative().unwrap();
    let (mut acting, mut near) = (Vec::new(), Vec::new());
    simulation.contacts_nearby(&mut acting, &mut near)?;
    let step = simulation.last_step(&acting).unwrap();
    derivative.place_smoothed(simulation.problem(), &step, &near, energy)?;
    let count = derivative.active_set().smoothed;
    assert_eq!(count, acting.len() + near.len());
    Ok((derivative, count))
}

/// The derivative of the next smoothed step from the present state: its adjoint against its tangent to
/// rounding, its tangent against differences to a share.
fn check_smoothed(what: &str, s: &mut Simulation, energy: f64, contacts: usize, share: f64) {
    let before = s.checkpoint();
    let along = direction(s, 3);
    let starts = starts_along(s, &along);
    s.step(H).unwrap();
    let (mut derivative, count) = smoothed(s, energy).unwrap();
    assert_eq!(count, contacts, "{what}");
    let end = derivative.end().unwrap().clone();
    let tangent = tangent_as_adjoint(what, &mut derivative, &along, &direction(s, 5));
    let model = s.problem().clone();
    let off = off_differences(&tangent, |t| {
        let start = starts.iter().find(|(s, _)| *s == t).unwrap();
        s.restore(&before).unwrap();
        s.set_state(&start.1).unwrap();
        s.step(H).ok()?;
        // Overlap that is corrected after the step is none of its equations.
        let (derivative, found) = smoothed(s, energy).ok()?;
        (found == contacts).then(|| between(&model, &end, derivative.end().unwrap()))
    });
    assert!(off < share, "{what}: {off:.1e} off differences");
    s.restore(&before).unwrap();
}

/// A ball above the ground, or on it: the force of the barrier is `kappa` over its gap at the end of
/// the step, so that the velocity there solves a quadratic equation.
#[test]
fn a_ball_above_the_ground_is_in_closed_form() {
    let (mass, g) = (1.0, 9.81);
    for (gap, speed, energy) in [
        (1.0, -3.0, 1e-3),
        (0.05, -3.0, 1e-3),
        (0.05, -6.0, 1e-3),
        (1e-3, 0.0, 1e-6),
        (1e-3, -0.5, 1e-9),
        (0.0, 0.0, 1e-4),
    ] {
        let shape = Shape::ball(0.1).unwrap();
        let pose = Pose::at([0.0, 0.0, 0.1 + gap]);
        let (mut s, _) = body(shape, 0.1, pose, [[0.0, 0.0, speed], [0.0; 3]], rough(0.0));
        s.step(H).unwrap();
        let (mut derivative, count) = smoothed(&mut s, energy).unwrap();
        if gap > 10.0 * H * 3.5 {
            assert_eq!(count, 0, "nothing comes near in ten steps");
            continue;
        }
        assert_eq!(count, 1, "{gap} {speed}");
        // m (v+ - v)/h = -m g + kappa/(gap + h v+), with the end of the gap e = gap + h v+:
        // e^2 - b e - kappa h^2/m = 0.
        let b = gap + H * (speed - H * g);
        let root = (b * b + 4.0 * energy * H * H / mass).sqrt();
        let e = match b > 0.0 {
            true => 0.5 * (b + root),
            false => 2.0 * energy * H * H / mass / (root - b),
        };
        // A gap of none is not taken into the law: there is nothing to close.
        let end = derivative.end().unwrap();
        let found = (end.positions[2] - 0.1, end.velocities[2]);
        let v = (e - gap) / H;
        // The smoothed step is solved to 1e-13 of its terms, with three digits to spare.
        let fastest = speed.abs().max(H * g);
        assert!(
            (found.1 - v).abs() < 1e-10 * fastest,
            "{gap} {speed}: {found:?}, {v}"
        );
        assert!((found.0 - e).abs() < 1e-10 * fastest * H, "{gap}: {found:?}, {e}");
        // de/db, by the velocity before, and by the gap.
        let by_b = 0.5 * (1.0 + b / root);
        let mut from = StateVector::zeros(6);
        let mut out = StateVector::default();
        from.v[2] = 1.0;
        derivative.tangent(&from, &mut out).unwrap();
        assert!(
            (out.v[2] - by_b).abs() < 1e-8,
            "{gap} {speed}: {} {by_b}",
            out.v[2]
        );
        assert!((out.x[2] - H * by_b).abs() < 1e-8 * H, "{}", out.x[2]);
        if gap > 0.0 {
            from = StateVector::zeros(6);
            from.x[2] = 1.0;
            derivative.tangent(&from, &mut out).unwrap();
            assert!(
                (out.x[2] - by_b).abs() < 1e-8,
                "{gap} {speed}: {} {by_b}",
                out.x[2]
            );
        }
    }
}

/// A puck on the ground that is pushed: its friction at the end solves the equation of the path, whose
/// root is bracketed here; as the barrier gets low it is Coulomb's.
#[test]
fn friction_is_viscous_and_turns_to_coulombs() {
    let (mu, g) = (0.3, 9.81);
    for (push, energy) in [(1.0, 1e-3), (2.9, 1e-3), (2.9, 1e-7), (4.0, 1e-3), (4.0, 1e-7)] {
        let (model, node, world) = on_feet(&[[0.0, 0.0]], [1.0, 1e12], 0.05, mu);
        let mut s = Simulation::with_options(model, options()).unwrap();
        s.set_contacts(world).unwrap();
        s.set_force(node, 0, &[push, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        s.step(H).unwrap();
        let (derivative, count) = smoothed(&mut s, energy).unwrap();
        assert_eq!(count, 1);
        let end = derivative.end().unwrap();
        // The normal: e^2 - b e - kappa h^2/m = 0 for the way e that it rises.
        let b = -H * H * g;
        let e = 0.5 * (b + (b * b + 4.0 * energy * H * H).sqrt());
        let limit = mu * (e / H + H * g);
        // The velocity u: u = h push - r, r = limit u/zeta.
        let width = energy / limit;
        let rest = |u: f64| {
            let zeta = 0.5 * (width + (width * width + 4.0 * u * u).sqrt());
            u - H * push + limit * u / zeta
        };
        let (mut low, mut high) = (0.0, H * push);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            match rest(middle) < 0.0 {
                true => low = middle,
                false => high = middle,
            }
        }
        // Solved to 1e-13 of the terms, with four digits to spare.
        let u = end.velocities[0];
        assert!((u - low).abs() < 1e-9 * H * push, "{push} {energy}: {u} {low}");
    }
}

/// Bodies that slip, roll, land, and rest, with friction or none, on hard ground and on soft one, near
/// the ground and far from where they touch it.
#[test]
fn smoothed_steps_against_differences() {
    let ball = || Shape::ball(0.1).unwrap();
    let soft = Material {
        compliance: 1e-4,
        relaxation_time: 5e-3,
        ..rough(0.2)
    };
    let bouncy = Material {
        restitution: 0.6,
        ..rough(0.2)
    };
    let moving = [[0.5, 0.1, -1.0], [1.0, 2.0, 0.5]];
    for (what, height, velocity, material, energy) in [
        ("falls", 0.15, moving, rough(0.3), 1e-3),
        ("falls without friction", 0.15, moving, rough(0.0), 1e-3),
        ("lands", 0.105, moving, rough(0.3), 1e-3),
        ("lands, low barrier", 0.105, moving, rough(0.3), 1e-6),
        ("bounces", 0.105, moving, bouncy, 1e-4),
        ("soft", 0.0985, [[0.5, 0.1, -0.1], [1.0, 0.0, 0.5]], soft, 1e-3),
        ("soft, above", 0.12, moving, soft, 1e-3),
        (
            "rolls",
            0.1005,
            [[1.0, 0.0, 0.0], [0.0, 10.0, 0.0]],
            rough(0.3),
            1e-3,
        ),
        (
            "slips",
            0.1005,
            [[1.0, 0.3, 0.0], [0.0, 0.0, 3.0]],
            rough(0.3),
            1e-5,
        ),
    ] {
        let (mut s, _) = body(ball(), 0.1, Pose::at([0.0, 0.0, height]), velocity, material);
        check_smoothed(what, &mut s, energy, 1, 1e-7);
    }
}

/// A box above the ground and one that rests on its corners, which share its weight evenly, however
/// the solver of the step shared it.
#[test]
fn smoothed_boxes() {
    let half = [0.1, 0.08, 0.05];
    for (gap, energy) in [(2e-3, 1e-4), (1e-3, 1e-7)] {
        let pose = Pose::at([0.0, 0.0, half[2] + gap]);
        let velocity = [[0.3, 0.1, -0.3], [0.0; 3]];
        let (mut s, _) = body(Shape::cuboid(half).unwrap(), 0.1, pose, velocity, rough(0.3));
        check_smoothed("box", &mut s, energy, 4, 1e-6);
    }
    let pose = Pose::at([0.0, 0.0, half[2]]);
    let (mut s, _) = body(Shape::cuboid(half).unwrap(), 0.1, pose, [[0.0; 3]; 2], rough(0.3));
    s.step(H).unwrap();
    let (derivative, count) = smoothed(&mut s, 1e-6).unwrap();
    assert_eq!(count, 4);
    // It rises without a tilt.
    let v = &derivative.end().unwrap().velocities;
    assert!(
        v[2] > 0.0 && largest(&v[3..6]) < 1e-12 && largest(&v[..2]) < 1e-12,
        "{v:?}"
    );
}

/// As the barrier gets low the derivative is that of the step itself, to the order of its energy.
#[test]
fn low_barriers_have_the_derivative_of_the_step() {
    let shape = Shape::ball(0.1).unwrap();
    let velocity = [[1.0, 0.3, -0.5], [0.0, 0.0, 3.0]];
    let (mut s, _) = body(shape, 0.1, Pose::at([0.0, 0.0, 0.102]), velocity, rough(0.3));
    s.step(H).unwrap();
    let along = direction(&s, 3);
    let mut contacts = Vec::new();
    s.last_contacts(&mut contacts).unwrap();
    let mut derivative = s.step_derivative().unwrap();
    derivative
        .place(s.problem(), &s.last_step(&contacts).unwrap())
        .unwrap();
    let (mut own, mut other) = (StateVector::default(), StateVector::default());
    derivative.tangent(&along, &mut own).unwrap();
    let off = |energy: f64, s: &mut Simulation, other: &mut StateVector| {
        let (mut derivative, _) = smoothed(s, energy).unwrap();
        derivative.tangent(&along, other).unwrap();
        let apart = own.v.iter().zip(&other.v).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max) / largest(&own.v)
    };
    let [first, second, third] = [1e-6, 1e-8, 1e-10].map(|energy| off(energy, &mut s, &mut other));
    assert!((1e-7..1e-3).contains(&first), "{first:e}");
    // Of first order in the energy.
    for (high, low) in [(first, second), (second, third)] {
        assert!((50.0..200.0).contains(&(high / low)), "{high:e} {low:e}");
    }
}

/// A ball with a radius, a friction, a weight and a stiffness of the ground, near the ground.
fn ball_of(p: &[f64]) -> Result<Simulation, TrajectoryError> {
    ball_with(p, options(), 1e-4)
}

/// That ball over ground with a margin.
fn ball_with(p: &[f64], options: Options, margin: f64) -> Result<Simulation, TrajectoryError> {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -p[2]])?;
    let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 0.12])])?;
    let mass = RigidMass::principal(1.0, [4e-3; 3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass]))?;
    m.set_body_velocity(node, 0, [0.5, 0.1, -1.0], [1.0, 2.0, 0.5])?;
    let mut world = World::new();
    let material = Material {
        compliance: p[3],
        ..rough(p[1])
    };
    let material = world.add_material(material)?;
    let plane = Shape::half_space([0.0, 0.0, 1.0])?;
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(material).with_margin(margin))?;
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    world.add(Collider::new("ball", Shape::ball(p[0])?, place).with_material(material))?;
    let mut s = Simulation::with_options(m, options)?;
    s.set_contacts(world)?;
    Ok(s)
}

/// Radius, friction, gravity and compliance, before the ball touches and after it has.
#[test]
fn smoothed_steps_by_parameters() {
    for (radius, energy) in [(0.1, 1e-2), (0.115, 1e-3)] {
        let at = [radius, 0.3, 9.81, 1e-5];
        let mut s = ball_of(&at).unwrap();
        let mut family = family_of_simulations(&ball_of, &at, &at).unwrap();
        s.step(H).unwrap();
        let (mut derivative, _) = smoothed(&mut s, energy).unwrap();
        let (against, mut out) = (direction(&s, 5), StateVector::default());
        derivative.adjoint(&against, &mut out).unwrap();
        let end = derivative.end().unwrap().clone();
        for parameter in 0..at.len() {
            let found = derivative.by_parameter(&mut family, parameter).unwrap();
            let mut sum = 0.0;
            let step = 1e-4 * at[parameter];
            for (k, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
                let mut moved = at;
                moved[parameter] += k * step;
                let mut other = ball_of(&moved).unwrap();
                other.step(H).unwrap();
                let (derivative, _) = smoothed(&mut other, energy).unwrap();
                let by = between(s.model(), &end, derivative.end().unwrap());
                sum += weight / (12.0 * step) * by.dot(&against);
            }
            // Differences of fourth order, with steps of 1e-4 of a parameter.
            assert!(
                (found - sum).abs() < 1e-6 * sum.abs(),
                "{radius} {parameter}: {found} {sum}"
            );
            assert!(sum != 0.0);
        }
    }
}

/// A ball that does not come down to the ground in its motion: the height at its end has the
/// derivative 1 by that at the start, and with a barrier the product of those of the smoothed steps,
/// which are in closed form; forwards as backwards.
#[test]
fn trajectories_feel_the_ground_before_they_touch() {
    let (g, energy, steps, gap) = (2.0, 0.05, 20, 0.05);
    // Of radius 0.07 m, 0.05 m above the ground, thrown upwards.
    let start = || {
        let mut s = ball_with(&[0.07, 0.0, g, 0.0], options(), 1.0).unwrap();
        let mut state = s.state().clone();
        state.velocities.copy_from_slice(&[0.0, 0.0, 0.1, 0.0, 0.0, 0.0]);
        s.set_state(&state).unwrap();
        s
    };
    let mut height = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[2] = 1.0;
        s.state().positions[2]
    };
    let mut trajectory = Trajectory::new(steps, H);
    let hard = trajectory.gradient(&mut start(), &mut height).unwrap();
    assert!((hard.start.x[2] - 1.0).abs() < 1e-12);
    assert_eq!((hard.report.active.smoothed, hard.report.smoothed_away), (0, 0.0));
    trajectory.smoothing = Some(energy);
    let soft = trajectory.gradient(&mut start(), &mut height).unwrap();
    assert_eq!(soft.value, hard.value);
    assert_eq!(soft.report.active.smoothed, steps);
    // The chain of the steps: of each the end e(b) of its gap, with the velocity (e - x)/h.
    let (mut by, mut away) = ([1.0, 0.0], 0.0f64);
    let (mut x, mut v) = (gap, 0.1);
    for _ in 0..steps {
        v -= H * g;
        let b = x + H * v;
        let root = (b * b + 4.0 * energy * H * H).sqrt();
        let (by_b, end) = (0.5 * (1.0 + b / root), 0.5 * (b + root));
        away = away.max((end - b) / H);
        let along = by_b * (by[0] + H * by[1]);
        by = [along, (along - by[0]) / H];
        x = b;
    }
    assert!((soft.report.smoothed_away / away - 1.0).abs() < 1e-8);
    assert!(
        (soft.start.x[2] - by[0]).abs() < 1e-7,
        "{} {by:?}",
        soft.start.x[2]
    );
    assert!(by[0] < 0.99, "{by:?}");
    let mut along = StateVector::zeros(6);
    along.x[2] = 1.0;
    let forwards = trajectory
        .tangent(&mut start(), &mut height, &along, &[])
        .unwrap();
    assert!((forwards.derivative - soft.start.x[2]).abs() < 1e-10);
}

/// A contact that is near, but goes when its ball is moved as far as differences of the search move it,
/// is left out.
#[test]
fn contacts_at_the_edge_of_the_margins_are_left_out() {
    // The ball has a margin of its own of 1e-4 m; nothing moves.
    for (gap, expected) in [(0.0505, 0), (0.0501 - 1e-8, 0), (0.05, 1), (0.0495, 1)] {
        let mut s = ball_with(&[0.12 - gap, 0.3, 0.0, 0.0], options(), 0.05).unwrap();
        let mut state = s.state().clone();
        state.velocities.fill(0.0);
        s.set_state(&state).unwrap();
        s.step(H).unwrap();
        let (_, count) = smoothed(&mut s, 1e-3).unwrap();
        assert_eq!(count, expected, "{gap}");
    }
}

/// A corner that goes, as the box is moved, is not taken for another one of the box.
#[test]
fn corners_are_not_taken_for_others() {
    let half = [0.1, 0.08, 0.05];
    let (one, other) = (0.05f64, 0.08f64);
    let rotation = {
        // About x, then about y.
        let ([c, s], [d, t]) = ([one.cos(), one.sin()], [other.cos(), other.sin()]);
        [c * d, s * d, c * t, -s * t]
    };
    // The last row of the rotation.
    let [w, x, y, z] = rotation;
    let row = [
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    ];
    let height = |corner: [f64; 3]| row.iter().zip(corner).map(|(a, b)| a * b).sum::<f64>();
    let signs = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let heights = signs.map(|[x, y]| height([x * half[0], y * half[1], -half[2]]));
    let highest = heights.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    for (below, expected) in [(1e-8, 3), (1e-5, 4), (1e-3, 4)] {
        let mut m = Model::new();
        // The margins of both together are 0.0501 m.
        let position = [0.0, 0.0, 0.0501 - below - highest];
        let node = m.add_rigid_bodies("box", &[Pose { position, rotation }]).unwrap();
        m.add_mass("mass", node, Mass::Rigid(vec![RigidMass::cuboid(1.0, half)]))
            .unwrap();
        let mut world = World::new();
        let material = world.add_material(rough(0.3)).unwrap();
        let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
        let ground = ground.with_material(material).with_margin(0.05);
        world.add(ground).unwrap();
        add_body(&mut world, material, node, 0, Shape::cuboid(half).unwrap());
        let mut s = Simulation::with_options(m, options()).unwrap();
        s.set_contacts(world).unwrap();
        s.step(H).unwrap();
        let (mut acting, mut near) = (Vec::new(), Vec::new());
        s.contacts_nearby(&mut acting, &mut near).unwrap();
        assert_eq!((acting.len(), near.len()), (0, expected), "{below}");
        // Gaps move with heights as 1, and with turns by arms.
        for moved in near.iter().flat_map(|contact| &contact.moves) {
            assert!(moved.by.gap.abs() < 1.0 + 1e-6, "{moved:?}");
        }
    }
}

/// A ball of 0.1 m, 2 cm above the ground, which sees it from everywhere, and parts of a model beside it.
fn ball_with_parts(
    velocity: [[f64; 3]; 2],
    friction: f64,
    add: impl FnOnce(&mut Model, NodeId),
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = m.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 0.12])]).unwrap();
    let mass = RigidMass::principal(1.0, [4e-3; 3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(node, 0, velocity[0], velocity[1]).unwrap();
    add(&mut m, node);
    let mut world = World::new();
    let material = world.add_material(rough(friction)).unwrap();
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    let ground = ground.with_material(material).with_margin(1.0);
    world.add(ground).unwrap();
    add_body(&mut world, material, node, 0, Shape::ball(0.1).unwrap());
    let mut s = Simulation::with_options(m, options()).unwrap();
    s.set_contacts(world).unwrap();
    (s, node)
}

/// A row at a bound of its force stays there in the smoothed step, and everything that has no contact is
/// as in the step.
#[test]
fn rows_at_a_bound_stay_there() {
    let velocity = [[0.5, 0.0, -1.0], [1.0, 2.0, 0.5]];
    let (mut s, node) = ball_with_parts(velocity, 0.3, |m, _| {
        let bead = m.add_scalars("bead", &[1.0]).unwrap();
        m.add_mass("bead", bead, Mass::Uniform(2.0)).unwrap();
        m.set_velocity(bead, 0, &[true], &[0.5]).unwrap();
        let level = Level::Velocity { curvature: 0.0 };
        let brake = m.add_constraint("brake", bead, level).unwrap();
        m.set_bounds(brake, -4.0, 9.0).unwrap();
    });
    s.step(H).unwrap();
    let (derivative, count) = smoothed(&mut s, 1e-2).unwrap();
    assert_eq!((count, derivative.active_set().rows_at_bounds), (1, 1));
    let end = derivative.end().unwrap();
    // 0.5 - h 4/2.
    assert!((end.velocities[6] - 0.48).abs() < 1e-12);
    assert!((end.velocities[2] - s.velocities(node)[2]).abs() > 1e-6);
}

/// A brake that would need more than it can in the smoothed step alone: refused, with its name.
#[test]
fn rows_that_come_to_a_bound_are_refused() {
    for (most, fine) in [(1e4, true), (10.0, false)] {
        let (mut s, _) = ball_with_parts([[0.0; 3]; 2], 0.0, |m, ball| {
            let centre = RigidPoints::new(&[(0, [0.0; 3])]);
            let centre = m.add_mapped("centre", &[ball], centre).unwrap();
            let level = Level::Velocity { curvature: 0.0 };
            let brake = m.add_constraint("brake", centre, level).unwrap();
            m.set_bounds(brake, -most, most).unwrap();
        });
        s.step(H).unwrap();
        // The barrier pushes with kappa over 2 cm, 25 N, of which the weight takes 10.
        match smoothed(&mut s, 0.5) {
            Ok((derivative, _)) => {
                assert!(fine && derivative.end().unwrap().velocities[2].abs() < 1e-9);
            }
            Err(e) => assert!(!fine && e.to_string().contains("`brake`"), "{e}"),
        }
    }
}

/// Energies that smooth nothing, impacts in time, and laws that have no derivative.
#[test]
fn smoothing_that_is_not_there_is_refused() {
    let falling = || {
        let shape = Shape::ball(0.1).unwrap();
        body(shape, 0.1, Pose::at([0.0, 0.0, 0.11]), [[0.0; 3]; 2], rough(0.2)).0
    };
    let mut objective = |_: usize, _: &Simulation, _: &mut NodeGradient| 0.0;
    let mut trajectory = Trajectory::new(2, H);
    for energy in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        trajectory.smoothing = Some(energy);
        let refused = trajectory.gradient(&mut falling(), &mut objective);
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("an energy above zero (J)"), "{said}");
    }
    trajectory.smoothing = Some(1e-3);
    let mut located = options();
    located.contacts.locate_impacts = true;
    let mut s = ball_with(&[0.1, 0.2, 9.81, 0.0], located, 1e-4).unwrap();
    let said = trajectory
        .gradient(&mut s, &mut objective)
        .unwrap_err()
        .to_string();
    assert!(said.contains("`locate_impacts`"), "{said}");
    // How the end of a smoothed step moves with its length.
    let mut s = falling();
    s.step(H).unwrap();
    let (mut derivative, _) = smoothed(&mut s, 1e-3).unwrap();
    let said = derivative
        .by_length(&mut StateVector::default())
        .unwrap_err()
        .to_string();
    assert!(said.contains("smoothed contacts"), "{said}");
    let viscous = Material {
        viscous_friction: 0.1,
        ..rough(0.2)
    };
    let shape = Shape::ball(0.1).unwrap();
    let (mut s, _) = body(shape, 0.1, Pose::at([0.0, 0.0, 0.11]), [[0.0; 3]; 2], viscous);
    let said = trajectory
        .gradient(&mut s, &mut objective)
        .unwrap_err()
        .to_string();
    assert!(said.contains("viscous friction"), "{said}");
}

/// Five boxes that fall onto each other and come to rest.
pub(super) fn pile(seed: u64) -> Simulation {
    let half = [0.1, 0.08, 0.05];
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let pose = |k: u64| {
        let turn = numbers(seed + k, 3);
        let place = [0.02 * turn[0], 0.02 * turn[1], 0.14 + 0.24 * k as f64];
        Pose::turned(place, [turn[0], turn[1], turn[2]], 0.7 * turn[1])
    };
    let poses: Vec<Pose> = (0..5).map(pose).collect();
    let node = m.add_rigid_bodies("boxes", &poses).unwrap();
    let masses = poses
        .iter()
        .map(|_| RigidMass::cuboid(1.0, half.map(|x| 2.0 * x)));
    m.add_mass("mass", node, Mass::Rigid(masses.collect())).unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(0.4)).unwrap();
    ground(&mut world, material);
    for element in 0..poses.len() {
        add_body(&mut world, material, node, element, Shape::cuboid(half).unwrap());
    }
    let mut options = options();
    options.contacts.overlap = Overlap::Rows {
        rate: 20.0,
        speed: 10.0,
    };
    (options.tuning.newton.tolerance, options.contacts.accuracy) = (1e-9, 1e-10);
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    s
}

/// Boxes with more corners than it takes: the smoothed step is found from every step, high barrier or low.
#[test]
fn smoothed_piles_are_found() {
    let (mut found, mut most) = (0, 0);
    for seed in [7, 47] {
        let mut s = pile(seed);
        for _ in 0..80 {
            s.step(0.005).unwrap();
            let mut contacts = Vec::new();
            // Where the step itself has no derivative (corners that turn as they land) there is none here.
            let own = s.last_contacts(&mut contacts).and_then(|()| {
                let mut derivative = s.step_derivative()?;
                derivative.place(s.problem(), &s.last_step(&contacts).unwrap())
            });
            if own.is_err() {
                continue;
            }
            for energy in [1e-2, 1e-4, 1e-6, 1e-8] {
                let (_, count) = smoothed(&mut s, energy).unwrap();
                (found, most) = (found + 1, most.max(count));
            }
        }
    }
    assert!(found > 300 && most >= 16, "{found} {most}");
}
