//! Gradients of trajectories.

use super::impacts::place;
use super::stages::two_stages;
use super::steps::{beam, chain, net};
use super::{between, direction, moved, off_differences, options};
use crate::four_bars::row_of_loops;
use crate::tools::numbers;
use pliant::continuum::Solid;
use pliant::gradient::*;
use pliant::prelude::*;

/// The options of a method.
fn by(integrator: &Integrator) -> Options {
    match integrator {
        Integrator::Sdirk2 => two_stages(),
        _ => Options {
            integrator: integrator.clone(),
            ..options()
        },
    }
}

/// A mass on a spring with a dashpot, from `x = x0` with `v = v0`: parameters `m, k, b, x0, v0`.
fn oscillator(p: &[f64]) -> Model {
    oscillator_as(p, Treatment::Stiffness)
}

/// An oscillator like this, with its spring as a force or as a row.
pub(super) fn oscillator_as(p: &[f64], treatment: Treatment) -> Model {
    let mut model = Model::new();
    let bead = model.add_scalars("bead", &[p[3]]).unwrap();
    model.set_velocity(bead, 0, &[true], &[p[4]]).unwrap();
    model.add_mass("mass", bead, Mass::Uniform(p[0])).unwrap();
    let spring = Spring::linear(p[1]).with_damping(p[2]);
    model.add_force_field("spring", bead, spring, treatment).unwrap();
    model
}

/// The sum of `x^2/2` over a trajectory of implicit Euler under forces, and its derivatives by the
/// parameters and the forces, by the recurrence and its own derivative in forward mode.
fn closed(p: &[f64], forces: &[f64], h: f64) -> (f64, Vec<f64>) {
    let count = p.len() + forces.len();
    let (mut x, mut v) = (p[3], p[4]);
    let (mut dx, mut dv) = (vec![0.0; count], vec![0.0; count]);
    (dx[3], dv[4]) = (1.0, 1.0);
    let mut value = 0.5 * x * x;
    let mut gradient: Vec<f64> = dx.iter().map(|d| x * d).collect();
    for (step, f) in forces.iter().enumerate() {
        // (m + h b + h^2 k) v+ = m v + h (f - k x).
        let a = p[0] + h * p[2] + h * h * p[1];
        let new = (p[0] * v + h * (f - p[1] * x)) / a;
        for i in 0..count {
            let mut right = p[0] * dv[i] - h * p[1] * dx[i];
            right += match i {
                0 => v - new,
                1 => -h * x - h * h * new,
                2 => -h * new,
                i if i == p.len() + step => h,
                _ => 0.0,
            };
            dv[i] = right / a;
        }
        v = new;
        x += h * v;
        dx.iter_mut().zip(&dv).for_each(|(x, v)| *x += h * v);
        value += 0.5 * x * x;
        gradient.iter_mut().zip(&dx).for_each(|(g, d)| *g += x * d);
    }
    (value, gradient)
}

/// By masses, stiffness, damping, the state at the start, and the force of every step.
#[test]
fn the_gradient_of_an_oscillator_is_that_of_its_recurrence() {
    let p = [1.3, 40.0, 0.7, 0.2, -0.5];
    let (h, forces) = (0.02, numbers(7, 30));
    let (value, expected) = closed(&p, &forces, h);
    let make = |p: &[f64]| Ok(Problem::new(oscillator(p)));
    let mut family = Family::new(&make, &p, &p.map(f64::abs)).unwrap();
    let mut simulation = Simulation::with_options(oscillator(&p), options()).unwrap();
    let bead = simulation.model().node_named("bead").unwrap();
    let mut trajectory = Trajectory::new(forces.len(), h);
    trajectory.family = Some(&mut family);
    trajectory.forces_on = vec![bead];
    trajectory.control = Some(Box::new(|step, s| Ok(s.set_force(bead, 0, &[forces[step]])?)));
    let mut objective = |_: usize, s: &Simulation, by: &mut NodeGradient| {
        let x = s.positions(bead)[0];
        by.x[0] += x;
        0.5 * x * x
    };
    let found = trajectory.gradient(&mut simulation, &mut objective).unwrap();
    assert!((found.value / value - 1.0).abs() < 1e-13);
    let forces = found.forces.iter().map(|f| f[0]);
    let all: Vec<f64> = found.parameters.iter().copied().chain(forces).collect();
    for (k, (found, expected)) in all.iter().zip(&expected).enumerate() {
        // Parameters by differences of the equations, good to 1e-12 of them.
        assert!(
            (found - expected).abs() < 1e-11 * (1.0 + expected.abs()),
            "{k}: {found} {expected}"
        );
    }
    // The simulation is at the end.
    assert!((simulation.time() - 0.6).abs() < 1e-12);
}

/// The end of a trajectory of BDF2 from the recurrence itself, `m a + b v+ + k x+ = 0`.
fn recurrence([m, k, b, x, v]: [f64; 5], h: f64, steps: usize) -> f64 {
    let ([mut x, mut x_before], [mut v, mut v_before]) = ([x, 0.0], [v, 0.0]);
    for step in 0..steps {
        // h a = e v+ - s v + f v_before, and the same of x; the first step is implicit Euler.
        let [e, s, f] = match step {
            0 => [1.0, 1.0, 0.0],
            _ => [1.5, 2.0, 0.5],
        };
        let (past_x, past_v) = (s * x - f * x_before, s * v - f * v_before);
        let new = (m * past_v - h * k * past_x / e) / (e * m + h * b + h * h * k / e);
        (x_before, v_before) = (x, v);
        (x, v) = ((h * new + past_x) / e, new);
    }
    x
}

/// BDF2 by all parameters: against the recurrence to rounding, and with second order against the
/// oscillator itself.
#[test]
fn the_gradient_of_bdf2_is_of_second_order() {
    let p = [1.3, 40.0, 0.7, 0.2, -0.5];
    let gradient = |h: f64, steps: usize| {
        let make = |p: &[f64]| Ok(Problem::new(oscillator(p)));
        let mut family = Family::new(&make, &p, &p.map(f64::abs)).unwrap();
        let mut simulation = Simulation::with_options(oscillator(&p), by(&Integrator::bdf2())).unwrap();
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
            if step < steps {
                return 0.0;
            }
            by.x[0] = 1.0;
            s.state().positions[0]
        };
        let found = trajectory.gradient(&mut simulation, &mut objective).unwrap();
        assert!((found.value - recurrence(p, h, steps)).abs() < 1e-13);
        found.parameters
    };
    // Differences of fourth order of a function of the parameters.
    let differences = |f: &dyn Fn([f64; 5]) -> f64| -> Vec<f64> {
        let along = |k: usize| {
            let at = |t: f64| {
                let mut moved = p;
                moved[k] += t * p[k];
                f(moved)
            };
            let t = 2e-3;
            ((at(-2.0 * t) - at(2.0 * t)) / 12.0 + (at(t) - at(-t)) * 2.0 / 3.0) / (t * p[k])
        };
        (0..5).map(along).collect()
    };
    // The damped oscillator: x = exp(-d t) (x0 cos w t + (v0 + d x0)/w sin w t).
    let exact = differences(&|[m, k, b, x, v]| {
        let (d, t) = (0.5 * b / m, 0.6);
        let w = (k / m - d * d).sqrt();
        (-d * t).exp() * (x * (w * t).cos() + (v + d * x) / w * (w * t).sin())
    });
    let off = |found: &[f64], expected: &[f64]| {
        let pairs = found.iter().zip(expected).zip(p);
        pairs.fold(0.0f64, |a, ((f, e), p)| a.max(((f - e) * p).abs()))
    };
    let [coarse, fine] = [(0.01, 60), (0.005, 120)].map(|(h, steps)| {
        let found = gradient(h, steps);
        let of_recurrence = differences(&|p| recurrence(p, h, steps));
        let off_recurrence = off(&found, &of_recurrence);
        // Differences of 2e-3 of a smooth function.
        assert!(off_recurrence < 1e-10, "{off_recurrence:e}");
        off(&found, &exact)
    });
    assert!(
        coarse < 0.01 && (3.6..4.4).contains(&(coarse / fine)),
        "{coarse} {fine}"
    );
}

/// How the end of a few steps of BDF2 moves with the start, of models without hard rows, against
/// differences; and adjoint against tangent, also of rows.
#[test]
fn steps_of_bdf2_against_differences() {
    let solid = Solid::corotational(1e5, 0.3).with_relaxation_time(0.02);
    for (what, model, is_free) in [
        ("net", net(Treatment::Stiffness, 0.3), true),
        ("compliant net", net(Treatment::Compliance, 0.3), true),
        ("solid", beam(&solid), true),
        (
            "compliant solid",
            beam(&solid.with_treatment(Treatment::Compliance)),
            true,
        ),
        ("spinning body", spinning(), true),
        ("chain", chain(4), false),
        ("loops", row_of_loops(2), false),
    ] {
        let (h, steps) = (0.01, 5);
        let mut simulation = Simulation::with_options(model, by(&Integrator::bdf2())).unwrap();
        let n = simulation.model().dof_count();
        let along = direction(&simulation, 5);
        let (by_x, by_v) = (numbers(8, n), numbers(9, n));
        let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
            for node in s.model().nodes() {
                let Some(first) = node.first_dof() else { continue };
                let own = first..first + node.velocity_range().len();
                if step == steps {
                    by.x[node.velocity_range()].copy_from_slice(&by_x[own.clone()]);
                    by.v[node.velocity_range()].copy_from_slice(&by_v[own]);
                }
            }
            0.0
        };
        let mut trajectory = Trajectory::new(steps, h);
        let before = simulation.checkpoint();
        let forwards = trajectory
            .tangent(&mut simulation, &mut objective, &along, &[])
            .unwrap();
        let end = simulation.state().clone();
        simulation.restore(&before).unwrap();
        let backwards = trajectory.gradient(&mut simulation, &mut objective).unwrap();
        let size = forwards.end.x.iter().chain(&forwards.end.v);
        let size = size.zip(by_x.iter().chain(&by_v)).map(|(a, b)| (a * b).abs());
        let off = (backwards.start.dot(&along) - forwards.derivative).abs() / size.sum::<f64>();
        assert!(off < 1e-11, "{what}: {off:e} between adjoint and tangent");
        if !is_free {
            continue;
        }
        simulation.restore(&before).unwrap();
        let off = off_differences(&forwards.end, |t| {
            simulation.restore(&before).unwrap();
            let start = moved(&simulation, &along, t);
            simulation.set_state(&start).unwrap();
            (0..steps).try_for_each(|_| simulation.step(h).map(drop)).ok()?;
            Some(between(simulation.model(), &end, simulation.state()))
        });
        assert!(off < 1e-7, "{what}: {off:e} off differences");
    }
}

/// Steps of several lengths, whose ratios are in all coefficients of BDF2, one by one: tangents
/// against differences, adjoints against tangents.
#[test]
fn steps_of_bdf2_of_several_lengths() {
    let lengths = [0.01, 0.017, 0.006, 0.006];
    for (what, model) in [("net", net(Treatment::Stiffness, 0.3)), ("body", spinning())] {
        let mut simulation = Simulation::with_options(model, by(&Integrator::bdf2())).unwrap();
        let n = simulation.model().dof_count();
        let start = simulation.checkpoint();
        let along = direction(&simulation, 5);
        let mut derivatives = Vec::new();
        let (mut found, mut memory) = (along.clone(), StateVector::zeros(n));
        for h in lengths {
            simulation.step(h).unwrap();
            let mut derivative = simulation.step_derivative().unwrap();
            let step = simulation.last_step(&[]).unwrap();
            derivative.place(simulation.problem(), &step).unwrap();
            let (mut next, mut next_memory) = (StateVector::default(), StateVector::default());
            derivative
                .tangent_after([&found, &memory], None, [&mut next, &mut next_memory])
                .unwrap();
            (found, memory) = (next, next_memory);
            derivatives.push(derivative);
        }
        let end = simulation.state().clone();
        let off = off_differences(&found, |t| {
            simulation.restore(&start).unwrap();
            let from = moved(&simulation, &along, t);
            simulation.set_state(&from).unwrap();
            lengths
                .iter()
                .try_for_each(|h| simulation.step(*h).map(drop))
                .ok()?;
            Some(between(simulation.model(), &end, simulation.state()))
        });
        assert!(off < 1e-7, "{what}: {off:e} off differences");
        let by_end = StateVector {
            x: numbers(8, n),
            v: numbers(9, n),
        };
        let (mut back, mut by_memory) = (by_end.clone(), StateVector::zeros(n));
        for derivative in derivatives.iter_mut().rev() {
            let (mut before, mut earlier) = (StateVector::default(), StateVector::default());
            derivative
                .adjoint_after([&back, &by_memory], [&mut before, &mut earlier])
                .unwrap();
            (back, by_memory) = (before, earlier);
        }
        let (one, other) = (by_end.dot(&found), back.dot(&along));
        assert!(
            (one - other).abs() < 1e-11 * one.abs().max(1.0),
            "{what}: {one} {other}"
        );
    }
}

/// Forces behind a memory that was there before, and behind a component that was let go on the way,
/// with which BDF2 begins anew: adjoint and tangent against differences by the force of each step.
#[test]
fn bdf2_remembers_and_forgets_as_its_steps_do() {
    let (h, steps, released) = (0.01, 6, 3);
    let mut simulation = Simulation::with_options(spinning(), by(&Integrator::bdf2())).unwrap();
    for _ in 0..3 {
        simulation.step(h).unwrap();
    }
    let start = simulation.checkpoint();
    let body = simulation.model().node_named("body").unwrap();
    let spring = simulation.model().component_named("spring").unwrap();
    let force = |step: usize, moved: Option<(usize, f64)>| {
        let size = moved.map_or(0.0, |(at, t)| if at == step { t } else { 0.0 });
        [0.1 + size, 0.0, 0.2, 0.0, 0.01, 0.0]
    };
    let act = |step: usize, s: &mut Simulation, moved: Option<(usize, f64)>| -> Result<(), TrajectoryError> {
        if step == released {
            s.release_components(&[spring])?;
        }
        Ok(s.set_force(body, 0, &force(step, moved))?)
    };
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[0] = 1.0;
        s.state().positions[0]
    };
    let mut trajectory = Trajectory::new(steps, h);
    trajectory.forces_on = vec![body];
    trajectory.control = Some(Box::new(|step, s| act(step, s, None)));
    let found = trajectory.gradient(&mut simulation, &mut objective).unwrap();
    simulation.restore(&start).unwrap();
    let along = direction(&simulation, 3);
    let forwards = trajectory
        .tangent(&mut simulation, &mut objective, &along, &[])
        .unwrap();
    let backwards = found.start.dot(&along);
    assert!(
        (forwards.derivative - backwards).abs() < 1e-11,
        "{} {backwards}",
        forwards.derivative
    );
    let mut run = |moved: Option<(usize, f64)>| {
        simulation.restore(&start).unwrap();
        for step in 0..steps {
            act(step, &mut simulation, moved).unwrap();
            simulation.step(h).unwrap();
        }
        simulation.state().positions[0]
    };
    assert_eq!(found.value, run(None));
    for (step, by_force) in found.forces.iter().enumerate() {
        // The last coordinate is nearly linear in a force: differences of any length do.
        let t = 0.1;
        let differences = (8.0 * (run(Some((step, t))) - run(Some((step, -t))))
            - (run(Some((step, 2.0 * t))) - run(Some((step, -2.0 * t)))))
            / (12.0 * t);
        assert!(
            (by_force[0] - differences).abs() < 1e-9 * differences.abs(),
            "{step}: {} {differences}",
            by_force[0]
        );
    }
}

/// A body that tumbles freely on a soft spring.
fn spinning() -> Model {
    let mut model = Model::new();
    let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let mass = RigidMass::principal(0.5, [2e-3, 3e-3, 4e-3]);
    model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    model
        .set_body_velocity(body, 0, [0.2, 0.0, 0.1], [4.0, 5.0, -3.0])
        .unwrap();
    let eye = model
        .add_mapped("eye", &[body], RigidPoints::new(&[(0, [0.1, 0.05, 0.0])]))
        .unwrap();
    let rope = Distance::to_points(&[(0, [0.3, 0.1, 0.3])]).with_rest_lengths(&[0.2]);
    let rope = model.add_mapped("rope", &[eye], rope).unwrap();
    model
        .add_force_field("spring", rope, Spring::linear(40.0), Treatment::Stiffness)
        .unwrap();
    model
}

/// However the way back is cut, the gradient is the same to the bit, and few steps are taken again.
#[test]
fn the_way_back_is_cut_as_one_likes() {
    cut_as_one_likes(Integrator::Nonlinear);
    cut_as_one_likes(Integrator::bdf2());
    cut_as_one_likes(Integrator::Sdirk2);
}

fn cut_as_one_likes(integrator: Integrator) {
    let mut found = Vec::new();
    for (slots, run, most) in [(20, 100, 40), (4, 5, 140), (2, 3, 220), (0, 1, 40)] {
        let mut simulation = Simulation::with_options(chain(3), by(&integrator)).unwrap();
        let mut trajectory = Trajectory::new(40, 0.01);
        (trajectory.slots, trajectory.run) = (slots, run);
        let last = simulation.model().velocity_count();
        let mut objective = |_: usize, s: &Simulation, by: &mut NodeGradient| {
            let end = s.positions(s.model().node_named("eyes").unwrap());
            let range = s
                .model()
                .node(s.model().node_named("eyes").unwrap())
                .velocity_range();
            by.x[range.end - 1] += 1.0;
            by.v[0] += 0.1;
            assert!(range.end <= last);
            end[5] + 0.1 * s.state().velocities[0]
        };
        let out = trajectory.gradient(&mut simulation, &mut objective).unwrap();
        assert!(out.report.steps_taken <= most, "{slots} {run}: {:?}", out.report);
        assert!(out.report.moments_kept <= slots + run.max(40 * usize::from(slots == 0)) + 1);
        found.push((out.value, out.start));
    }
    found.iter().for_each(|other| assert_eq!(*other, found[0]));
}

/// A chain with its masses, its springs and a place of a joint as parameters: adjoint against
/// tangent, and both against differences of whole trajectories.
#[test]
fn gradients_by_parameters_of_a_chain() {
    by_parameters_of_a_chain(Integrator::Nonlinear);
    by_parameters_of_a_chain(Integrator::bdf2());
    by_parameters_of_a_chain(Integrator::Sdirk2);
}

fn by_parameters_of_a_chain(integrator: Integrator) {
    let make = |p: &[f64]| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -p[0]])?;
        let poses = [[0.1, 0.0, 0.0], [0.3, 0.0, 0.0]].map(Pose::at);
        let bodies = model.add_rigid_bodies("links", &poses)?;
        let mass = RigidMass::principal(p[1], [2e-4, p[2], p[2]]);
        model.add_mass("mass", bodies, Mass::Rigid(vec![mass]))?;
        let pin = Joint::ball(Side::World, Side::Body(bodies, 0));
        model.add_joint("pin", &pin.at(Pose::at([p[3], 0.0, 0.0])))?;
        let hinge = Joint::hinge(Side::Body(bodies, 0), Side::Body(bodies, 1));
        model.add_joint("hinge", &hinge.at(Pose::at([0.2, 0.0, 0.0])))?;
        let eye = model.add_mapped("eye", &[bodies], RigidPoints::new(&[(1, [0.1, 0.0, p[4]])]))?;
        let rope = Distance::to_points(&[(0, [0.3, 0.1, 0.3])]).with_rest_lengths(&[p[5]]);
        let rope = model.add_mapped("rope", &[eye], rope)?;
        let spring = DiagonalCompliance::new(&[p[6]]).with_relaxation_time(p[7]);
        model.add_force_field("spring", rope, spring, Treatment::Compliance)?;
        Ok(model)
    };
    let problem = |p: &[f64]| make(p).map(Problem::new).map_err(|e: ModelError| e.into());
    let p = [9.81, 0.5, 1.5e-3, 0.01, 0.02, 0.25, 1e-2, 0.03];
    let steps = 25;
    let h = 0.01;
    let value = |s: &Simulation| {
        let eye = s.positions(s.model().node_named("eye").unwrap());
        eye[2] + eye[0] * eye[1]
    };
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        let node = s.model().node_named("eye").unwrap();
        let (eye, range) = (s.positions(node), s.model().node(node).velocity_range());
        by.x[range].copy_from_slice(&[eye[1], eye[0], 1.0]);
        value(s)
    };
    let mut family = Family::new(&problem, &p, &p).unwrap();
    let start = || Simulation::with_options(make(&p).unwrap(), by(&integrator)).unwrap();
    let mut trajectory = Trajectory::new(steps, h);
    trajectory.family = Some(&mut family);
    let backwards = trajectory.gradient(&mut start(), &mut objective).unwrap();
    let along = direction(&start(), 11);
    for k in 0..p.len() {
        let mut shares = [0.0; 8];
        shares[k] = p[k];
        let zero = StateVector::zeros(along.x.len());
        let forwards = trajectory
            .tangent(&mut start(), &mut objective, &zero, &shares)
            .unwrap();
        let expected = backwards.parameters[k] * p[k];
        // Of what the parameters do together: each alone may cancel.
        let size: f64 = backwards
            .parameters
            .iter()
            .zip(&p)
            .map(|(g, p)| (g * p).abs())
            .sum();
        assert!(
            (forwards.derivative - expected).abs() < 1e-12 * size,
            "parameter {k}: {} forwards, {expected} backwards",
            forwards.derivative
        );
        let at = |t: f64| {
            let mut moved = p;
            moved[k] += t * p[k];
            let mut s = Simulation::with_options(make(&moved).unwrap(), by(&integrator)).unwrap();
            for _ in 0..steps {
                s.step(h).unwrap();
            }
            value(&s)
        };
        let best = [3e-2, 1e-2, 3e-3, 1e-3]
            .map(|t| ((at(-2.0 * t) - at(2.0 * t)) / 12.0 + (at(t) - at(-t)) * 2.0 / 3.0) / t)
            .map(|found| (found - expected).abs() / size)
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        assert!(best < 1e-8, "parameter {k}: {best:.1e} off differences");
    }
}

/// A mass on a muscle and a spring, by the activation of every step: against differences. Its force
/// depends on length, velocity and activation, and gives none of these derivatives.
#[test]
fn gradients_by_activations_of_a_muscle() {
    let model = || {
        let mut model = Model::new();
        let bead = model.add_particles("bead", &[[0.27, 0.0, 0.0]]).unwrap();
        model.add_mass("mass", bead, Mass::Uniform(0.5)).unwrap();
        // It is shorter than at its best and shortens: its curves have kinks there and at rest.
        model
            .set_velocity(bead, 0, &[true, false, false], &[-0.5, 0.0, 0.0])
            .unwrap();
        let ends = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[0.0]);
        let length = model.add_mapped("length", &[bead], ends).unwrap();
        let muscle = AxialMuscle::new(20.0, 0.28, 10.0)
            .with_activations(&[0.5])
            .with_damping(2.0);
        model
            .add_force_field("muscle", length, muscle, Treatment::Stiffness)
            .unwrap();
        let spring = Spring::linear(60.0).with_rest(0.25);
        model
            .add_force_field("spring", length, spring, Treatment::Stiffness)
            .unwrap();
        model
    };
    let (steps, h) = (20, 0.01);
    let activations: Vec<f64> = numbers(4, steps).iter().map(|a| 0.5 + 0.3 * a).collect();
    let run = |activations: &[f64]| {
        let mut s = Simulation::with_options(model(), options()).unwrap();
        let muscle = s.model().component_named("muscle").unwrap();
        for a in activations {
            s.set_input(muscle, 0, *a).unwrap();
            s.step(h).unwrap();
        }
        s.state().positions[0]
    };
    let mut s = Simulation::with_options(model(), options()).unwrap();
    let muscle = s.model().component_named("muscle").unwrap();
    let mut trajectory = Trajectory::new(steps, h);
    trajectory.inputs = true;
    trajectory.control = Some(Box::new(|step, s| {
        Ok(s.set_input(muscle, 0, activations[step])?)
    }));
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[0] = 1.0;
        s.state().positions[0]
    };
    let found = trajectory.gradient(&mut s, &mut objective).unwrap();
    assert_eq!(found.value, run(&activations));
    let largest = found.inputs.iter().fold(0.0f64, |l, g| l.max(g[0].abs()));
    for (step, by) in found.inputs.iter().enumerate() {
        let at = |t: f64| {
            let mut moved = activations.clone();
            moved[step] += t;
            run(&moved)
        };
        let t = 1e-3;
        let expected = ((at(t) - at(-t)) * 8.0 - (at(2.0 * t) - at(-2.0 * t))) / (12.0 * t);
        assert!(
            (by[0] - expected).abs() < 1e-8 * largest,
            "{step}: {} {expected}",
            by[0]
        );
    }
}

/// Steps of other methods that are halved where Newton's method is allowed few iterations have the
/// derivative of their halves, too.
#[test]
fn halved_steps_of_other_methods() {
    for integrator in [Integrator::Nonlinear, Integrator::bdf2()] {
        let mut options = by(&integrator);
        options.tuning.newton.iterations = 6;
        options.tuning.newton.halvings = 6;
        let start = || Simulation::with_options(chain(3), options.clone()).unwrap();
        let (steps, h, last) = (4, 0.06, 15);
        let run = |s: &mut Simulation| {
            let halvings = (0..steps).map(|_| s.step(h).unwrap().solve.newton.step_halvings);
            halvings.sum::<usize>()
        };
        assert!(run(&mut start()) > 2);
        let mut objective = place(steps, last);
        let mut s = start();
        let found = Trajectory::new(steps, h)
            .gradient(&mut s, &mut objective)
            .unwrap();
        let mut along = StateVector::zeros(s.model().dof_count());
        // All of it falls faster.
        along.v.iter_mut().skip(2).step_by(6).for_each(|v| *v = 1.0);
        let forwards = Trajectory::new(steps, h)
            .tangent(&mut start(), &mut objective, &along, &[])
            .unwrap();
        let backwards = found.start.dot(&along);
        assert!((forwards.derivative - backwards).abs() < 1e-11 * (1.0 + backwards.abs()));
    }
}
