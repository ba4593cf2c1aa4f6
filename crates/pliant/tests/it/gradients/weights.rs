//! Derivatives of steps with weights of their end below one: forces of both ends, and positions that
//! move by a mean of velocities.

use super::contacts::body;
use super::stages::two_stages;
use super::steps::{beam, chain, check, cloth, driven_row, hanging, net, on_row, soft_rows};
use super::trajectories::oscillator_as;
use super::{check_step, check_step_without, direction, impacts, options, tangent_as_adjoint};
use crate::four_bars::row_of_loops;
use crate::worlds::rough;
use pliant::collision::*;
use pliant::contact::Overlap;
use pliant::continuum::{Incompressibility, Rod, Section, Solid};
use pliant::gradient::*;
use pliant::prelude::*;

/// Weights in forces and in velocities.
const WEIGHTS: [[f64; 2]; 3] = [[0.5, 0.5], [0.7, 1.0], [0.9, 0.6]];

/// The trapezoidal rule.
const MEAN: [f64; 2] = [0.5, 0.5];

fn weighted([alpha, beta]: [f64; 2]) -> Options {
    Options {
        alpha,
        beta,
        ..options()
    }
}

/// The end of a trajectory from the recurrence itself.
fn recurrence([m, k, b, x, v]: [f64; 5], [alpha, beta]: [f64; 2], h: f64, steps: usize) -> f64 {
    let [mut x, mut v] = [x, v];
    for _ in 0..steps {
        // m (v+ - v)/h = -alpha (k x+ + b v+) - (1 - alpha)(k x + b v), x+ = x + h (beta v+ + (1 - beta) v).
        let ahead = x + h * (1.0 - beta) * v;
        let start = (1.0 - alpha) * (k * x + b * v);
        let right = m * v - h * (alpha * k * ahead + start);
        let new = right / (m + h * alpha * (b + k * h * beta));
        x = ahead + h * beta * new;
        v = new;
    }
    x
}

/// Central differences of fourth order of a function of parameters, by shares of each.
pub(super) fn differences(p: &[f64; 5], f: &dyn Fn([f64; 5]) -> f64) -> Vec<f64> {
    let along = |k: usize| {
        let at = |t: f64| {
            let mut moved = *p;
            moved[k] += t * p[k];
            f(moved)
        };
        let t = 2e-3;
        ((at(-2.0 * t) - at(2.0 * t)) / 12.0 + (at(t) - at(-t)) * 2.0 / 3.0) / t
    };
    (0..5).map(along).collect()
}

/// By all parameters of an oscillator, as a force and as a soft row: against the recurrence, and where
/// both weights are a half with second order against the oscillator itself.
#[test]
fn an_oscillator_by_its_recurrence() {
    let p = [1.3, 40.0, 0.7, 0.2, -0.5];
    let gradient = |weights: [f64; 2], treatment: Treatment, h: f64, steps: usize| {
        let make = |p: &[f64]| Ok(Problem::new(oscillator_as(p, treatment)));
        let mut family = Family::new(&make, &p, &p.map(f64::abs)).unwrap();
        let model = oscillator_as(&p, treatment);
        let mut simulation = Simulation::with_options(model, weighted(weights)).unwrap();
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        let found = trajectory
            .gradient(&mut simulation, &mut impacts::place(steps, 0))
            .unwrap();
        let off = (found.value - recurrence(p, weights, h, steps)).abs();
        assert!(off < 1e-12, "{weights:?}, {treatment:?}: {off:e}");
        let pairs = found.parameters.iter().zip(p);
        pairs.map(|(by, p)| by * p).collect::<Vec<f64>>()
    };
    let off = |found: &[f64], expected: &[f64]| {
        let pairs = found.iter().zip(expected);
        pairs.fold(0.0f64, |a, (f, e)| a.max((f - e).abs()))
    };
    for weights in WEIGHTS {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let found = gradient(weights, treatment, 0.02, 30);
            let expected = differences(&p, &|p| recurrence(p, weights, 0.02, 30));
            // Differences of 2e-3 of a smooth function.
            let off = off(&found, &expected);
            assert!(off < 1e-10, "{weights:?}, {treatment:?}: {off:e}");
        }
    }
    // The damped oscillator: x = exp(-d t) (x0 cos w t + (v0 + d x0)/w sin w t).
    let exact = differences(&p, &|[m, k, b, x, v]| {
        let (d, t) = (0.5 * b / m, 0.6);
        let w = (k / m - d * d).sqrt();
        (-d * t).exp() * (x * (w * t).cos() + (v + d * x) / w * (w * t).sin())
    });
    let [coarse, fine] = [(0.01, 60), (0.005, 120)]
        .map(|(h, steps)| off(&gradient(MEAN, Treatment::Stiffness, h, steps), &exact));
    assert!(
        coarse < 0.01 && (3.9..4.1).contains(&(coarse / fine)),
        "{coarse} {fine}"
    );
}

#[test]
fn springs_joints_and_loops() {
    for weights in WEIGHTS {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let what = format!("net, {treatment:?}, {weights:?}");
            check(&what, net(treatment, 0.3), weighted(weights), 0.01, 1e-8);
        }
        check(
            &format!("chain, {weights:?}"),
            chain(5),
            weighted(weights),
            0.01,
            1e-7,
        );
    }
}

/// The displacement of the step, which BDF2 would remember, forwards and backwards.
#[test]
fn displacements_forwards_and_backwards() {
    let mut s = Simulation::with_options(net(Treatment::Compliance, 0.3), weighted(WEIGHTS[2])).unwrap();
    s.step(0.01).unwrap();
    let mut derivative = s.step_derivative().unwrap();
    derivative.place(s.problem(), &s.last_step(&[]).unwrap()).unwrap();
    let [along, before, by_end, by_memory] = [3, 5, 7, 9].map(|seed| direction(&s, seed));
    let (mut end, mut memory) = (StateVector::default(), StateVector::default());
    derivative
        .tangent_after([&along, &before], None, [&mut end, &mut memory])
        .unwrap();
    let (mut by_start, mut by_before) = (StateVector::default(), StateVector::default());
    derivative
        .adjoint_after([&by_end, &by_memory], [&mut by_start, &mut by_before])
        .unwrap();
    let forwards = by_end.dot(&end) + by_memory.dot(&memory);
    let backwards = by_start.dot(&along) + by_before.dot(&before);
    let size = [(&by_end, &end), (&by_memory, &memory)].map(|(a, b)| (a.dot(a) * b.dot(b)).sqrt());
    assert!(
        (forwards - backwards).abs() < 1e-12 * (size[0] + size[1]),
        "{forwards} {backwards}"
    );
}

/// Three redundant rows in each loop, whose multipliers act along Jacobians of both ends: beside the plane
/// of the loops their steps are not found, so that the adjoint is compared with the tangent alone.
#[test]
fn loops_forwards_and_backwards() {
    for weights in WEIGHTS {
        let mut s = Simulation::with_options(row_of_loops(2), weighted(weights)).unwrap();
        for _ in 0..5 {
            s.step(0.01).unwrap();
        }
        let mut derivative = s.step_derivative().unwrap();
        derivative.place(s.problem(), &s.last_step(&[]).unwrap()).unwrap();
        let [along, against] = [3, 5].map(|seed| direction(&s, seed));
        tangent_as_adjoint(&format!("loops, {weights:?}"), &mut derivative, &along, &against);
    }
}

#[test]
fn rods_solids_and_sheets() {
    for weights in WEIGHTS {
        let rod = Rod::new(Section::circle(2e-3), 1e8, 0.3)
            .with_density(1200.0)
            .with_relaxation_time(0.02);
        let model = hanging(&rod);
        check(&format!("rod, {weights:?}"), model, weighted(weights), 0.01, 1e-7);
        for (what, solid) in [
            (
                "relaxing",
                Solid::corotational(1e5, 0.3).with_relaxation_time(0.02),
            ),
            (
                "compliant",
                Solid::corotational(1e5, 0.3).with_treatment(Treatment::Compliance),
            ),
            (
                "incompressible",
                Solid::corotational(1e5, 0.5).with_incompressibility(Incompressibility::PerElement),
            ),
        ] {
            let what = format!("{what}, {weights:?}");
            check(&what, beam(&solid), weighted(weights), 0.02, 1e-7);
        }
        check(
            &format!("sheet, {weights:?}"),
            cloth(),
            weighted(weights),
            0.01,
            1e-7,
        );
    }
}

/// Hard rows of every level, driven, at a bound and inside it, and a dashpot as a row.
#[test]
fn rows_of_every_kind() {
    let compliant = |most: f64| {
        on_row(move |model, length| {
            let law = UniformCompliance::new(1e-4).with_relaxation_time(0.01);
            let row = model
                .add_force_field("row", length, law, Treatment::Compliance)
                .unwrap();
            model
                .set_motion(row, Some(PrescribedMotion::sine(0.01, 8.0, 0.3)))
                .unwrap();
            if most > 0.0 {
                model.set_bounds(row, -most, most).unwrap();
            }
        })
    };
    for weights in WEIGHTS {
        for level in [
            Level::Position,
            Level::Velocity { curvature: 0.0 },
            Level::Baumgarte { rate: 20.0 },
        ] {
            let what = format!("{level:?}, {weights:?}");
            check(&what, driven_row(level), weighted(weights), 0.01, 1e-7);
        }
        for most in [0.0, 0.3, 100.0] {
            let what = format!("soft, bounded by {most}, {weights:?}");
            check(&what, compliant(most), weighted(weights), 0.01, 1e-7);
        }
        for (what, row) in soft_rows() {
            check(
                &format!("{what}, {weights:?}"),
                row,
                weighted(weights),
                0.01,
                1e-7,
            );
        }
    }
}

/// A ball over the ground, whose centre is at this height.
fn ball(height: f64, velocity: [f64; 3], material: Material, weights: [f64; 2]) -> Simulation {
    let shape = Shape::ball(0.1).unwrap();
    let pose = Pose::at([0.0, 0.0, height]);
    let (mut s, _) = body(shape, 0.1, pose, [velocity, [1.0, 2.0, 0.5]], material);
    // A ball that is stopped before its gap is closed is inside the ground.
    s.options.contacts.overlap = Overlap::Keep;
    (s.options.alpha, s.options.beta) = (weights[0], weights[1]);
    s
}

/// Balls that slip, land, bounce, are pressed into soft ground, come out of the ground, and whose
/// velocity at the start alone would close the gap.
#[test]
fn contacts() {
    for weights in WEIGHTS {
        let name = |what: &str| format!("{what}, {weights:?}");
        let mut slips = ball(0.1, [1.0, 0.3, 0.0], rough(0.3), weights);
        check_step_without(&[2], &name("slips"), &mut slips, 0.01, 1e-7);
        for restitution in [0.0, 0.6] {
            let material = Material {
                restitution,
                ..rough(0.2)
            };
            // The step from 0.1115 m and with 1.1 m/s lands, the one from 0.1015 m is stopped.
            for height in [0.1215, 0.113] {
                let mut lands = ball(height, [0.5, 0.0, -1.0], material, weights);
                check_step(
                    &name(&format!("lands from {height} m, {restitution}")),
                    &mut lands,
                    0.01,
                    1e-7,
                );
            }
        }
        let soft = Material {
            compliance: 1e-4,
            relaxation_time: 5e-3,
            ..rough(0.2)
        };
        let mut pressed = ball(0.0985, [0.5, 0.1, -0.1], soft, weights);
        pressed.step(0.01).unwrap();
        check_step(&name("soft"), &mut pressed, 0.01, 1e-7);
        for speed in [0.05, -0.05] {
            let mut inside = ball(0.099, [0.5, 0.1, speed], rough(0.2), weights);
            inside.options.contacts.overlap = Overlap::Rows {
                rate: 5.0,
                speed: 1.0,
            };
            check_step(&name(&format!("inside, {speed}")), &mut inside, 0.01, 1e-7);
        }
    }
}

/// The height of a ball after a bounce whose time moves: the trapezoidal rule is on the parabolas, and
/// so is its gradient, but for the millionth of a step in which the impact is.
#[test]
fn a_bounce_is_that_of_parabolas() {
    let (p, end, steps) = ([0.6, 1.0, 0.7, 0.1], 0.6, 60);
    // After one bounce: t1 = sqrt(2 (H - r)/g), z = r + e g t1 (t - t1) - g (t - t1)^2/2.
    let fall: f64 = p[0] - p[3];
    let t1 = (2.0 * fall / 9.81).sqrt();
    let t = end - t1;
    let by_height = (p[2] * 9.81 * (t - t1) + 9.81 * t) * t1 / (2.0 * fall);
    let exact = [by_height, 0.0, 9.81 * t1 * t, 1.0 - by_height];
    let make = |p: &[f64]| {
        let mut s = impacts::ball(p, 0.0, 0.0)?;
        (s.options.alpha, s.options.beta) = (0.5, 0.5);
        Ok(s)
    };
    let mut s = make(&p).unwrap();
    let mut family = family_of_simulations(&make, &p, &p).unwrap();
    let mut trajectory = Trajectory::new(steps, end / steps as f64);
    trajectory.family = Some(&mut family);
    let found = trajectory
        .gradient(&mut s, &mut impacts::place(steps, 2))
        .unwrap();
    for (k, (found, exact)) in found.parameters.iter().zip(exact).enumerate() {
        assert!((found - exact).abs() < 1e-6, "{k}: {found} {exact}");
    }
}

/// Parameters of all kinds, forces and inputs act at both ends, and in all stages: against differences of
/// whole runs.
#[test]
fn parameters_forces_and_inputs_of_both_ends() {
    // Stiffness of springs as rows, of a spring as a force, mass, place of an anchor, gravity.
    let at = [200.0, 20.0, 0.5, 0.5, 9.81];
    let make = |p: &[f64]| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -p[4]])?;
        let bead = model.add_particles("bead", &[[0.5, 0.0, 0.0]])?;
        model.add_mass("mass", bead, Mass::Uniform(p[2]))?;
        model.set_velocity(bead, 0, &[true; 3], &[0.0, 0.8, 0.3])?;
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[0.5]);
        let length = model.add_mapped("length", &[bead], length)?;
        let law = Spring::stiffening(p[0], 4000.0)
            .with_damping(0.5)
            .with_rest(RESTS[0]);
        model.add_force_field("row", length, law, Treatment::Compliance)?;
        let linear = DiagonalCompliance::from_stiffnesses(&[p[1]]).with_relaxation_time(0.01);
        let other = Distance::to_points(&[(0, [0.4, p[3], 0.2])]).with_rest_lengths(&[0.3]);
        let other = model.add_mapped("other", &[bead], other)?;
        model.add_force_field("soft", other, linear, Treatment::Compliance)?;
        let third = Distance::to_points(&[(0, [-0.4, 0.1, p[3]])]).with_rest_lengths(&[0.3]);
        let third = model.add_mapped("third", &[bead], third)?;
        let law = Spring::linear(p[1]).with_damping(0.3).with_rest(RESTS[1]);
        model.add_force_field("force", third, law, Treatment::Stiffness)?;
        Ok::<Model, GradientError>(model)
    };
    let (h, steps) = (0.01, 20);
    let methods = WEIGHTS.map(|weights| (format!("{weights:?}"), weighted(weights)));
    for (method, options) in methods.into_iter().chain([("SDIRK2".to_owned(), two_stages())]) {
        let make_problem = |p: &[f64]| Ok(Problem::new(make(p)?));
        let mut family = Family::new(&make_problem, &at, &at).unwrap();
        let run = |p: &[f64], pushes: [f64; 4]| {
            let mut s = Simulation::with_options(make(p).unwrap(), options.clone()).unwrap();
            for step in 0..steps {
                push(&mut s, step, pushes);
                s.step(h).unwrap();
            }
            s.state().positions[1]
        };
        let mut s = Simulation::with_options(make(&at).unwrap(), options.clone()).unwrap();
        let [bead, third] = ["bead", "third"].map(|name| s.model().node_named(name).unwrap());
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        trajectory.forces_on = vec![bead, third];
        trajectory.inputs = true;
        trajectory.control = Some(Box::new(|step, s| {
            push(s, step, [0.0; 4]);
            Ok(())
        }));
        let found = trajectory
            .gradient(&mut s, &mut impacts::place(steps, 1))
            .unwrap();
        let differences =
            |f: &dyn Fn(f64) -> f64, t: f64| (8.0 * (f(t) - f(-t)) - (f(2.0 * t) - f(-2.0 * t))) / (12.0 * t);
        for k in 0..at.len() {
            let moved = |t: f64| {
                let mut p = at;
                p[k] *= 1.0 + t;
                run(&p, [0.0; 4])
            };
            let (own, by) = (found.parameters[k] * at[k], differences(&moved, 1e-3));
            assert!((own - by).abs() < 1e-9, "{method}, {k}: {own} {by}");
        }
        let (forces, inputs) = (&found.forces[PUSHED], &found.inputs[PUSHED]);
        // The forces of the bead are the first three; the rests are in the order of the springs.
        for (k, own) in [forces[1], forces[3], inputs[0], inputs[1]]
            .into_iter()
            .enumerate()
        {
            let pushed = |t: f64| {
                let mut pushes = [0.0; 4];
                pushes[k] = t;
                run(&at, pushes)
            };
            let by = differences(&pushed, 1e-3);
            assert!((own - by).abs() < 1e-9, "{method}, {k}: {own} {by}");
        }
    }
}

/// Rests of the springs of [`parameters_forces_and_inputs_of_both_ends`] (m).
const RESTS: [f64; 2] = [0.02, 0.01];

/// The step in which [`push`] acts.
const PUSHED: usize = 4;

/// Pushes along `y` on a bead and along a thread (N), and moves the rests of two springs (m), in one
/// step.
fn push(s: &mut Simulation, step: usize, by: [f64; 4]) {
    let [bead, third] = ["bead", "third"].map(|name| s.model().node_named(name).unwrap());
    let [row, force] = ["row", "force"].map(|name| s.model().component_named(name).unwrap());
    let by = if step == PUSHED { by } else { [0.0; 4] };
    s.set_force(bead, 0, &[0.0, by[0], 0.0]).unwrap();
    s.set_force(third, 0, &[by[1]]).unwrap();
    s.set_input(row, 0, RESTS[0] + by[2]).unwrap();
    s.set_input(force, 0, RESTS[1] + by[3]).unwrap();
}

/// Weights that are none, limits where positions move by a mean, and smoothed contacts are refused; that a
/// body at rest in the ground would separate on one side alone is told.
#[test]
fn weights_that_have_no_derivative() {
    let mut s = ball(0.0995, [0.0; 3], rough(0.2), MEAN);
    s.step(0.01).unwrap();
    let mut contacts = Vec::new();
    s.last_contacts(&mut contacts).unwrap();
    let step = s.last_step(&contacts).unwrap();
    let mut derivative = s.step_derivative().unwrap();
    derivative.place(s.problem(), &step).unwrap();
    let active = derivative.active_set();
    assert_eq!((active.slipping, active.at_change), (1, 1), "{active:?}");
    let smoothed = derivative.place_smoothed(s.problem(), &step, &[], 1e-3);
    let said = smoothed.unwrap_err().to_string();
    assert!(said.contains("smoothed contacts in steps with weights"), "{said}");
    for (alpha, beta) in [(0.0, 1.0), (1.0, 1.5), (f64::NAN, 1.0)] {
        let weights = StepWeights { alpha, beta };
        let bad = TakenStep { weights, ..step };
        let said = derivative.place(s.problem(), &bad).unwrap_err().to_string();
        assert!(
            said.contains(&format!("`alpha` is {alpha}, `beta` {beta}")),
            "{said}"
        );
    }
    // Of other weights than the step had.
    let bad = TakenStep {
        weights: StepWeights::END,
        ..step
    };
    let said = derivative.place(s.problem(), &bad).unwrap_err().to_string();
    assert!(said.contains("the equations miss"), "{said}");
    let limited = on_row(|model, length| {
        let law = UniformCompliance::new(0.0);
        let row = model
            .add_force_field("limit", length, law, Treatment::Compliance)
            .unwrap();
        model.set_bounds(row, 0.0, f64::INFINITY).unwrap();
    });
    let s = Simulation::with_options(limited, weighted(MEAN)).unwrap();
    let said = s.step_derivative().unwrap_err().to_string();
    assert!(said.contains("`limit` in steps with `beta` below 1"), "{said}");
}
