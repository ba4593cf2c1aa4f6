//! Derivatives of steps of SDIRK2: of two stages with deformations of their own, and a projection.

use super::bounds::{AT, braked};
use super::contacts::body;
use super::impacts::place;
use super::steps::{
    beam, chain, check, cloth, driven_row, hanging, kinds_of_rods, kinds_of_solids, net, on_row, soft_rows,
};
use super::trajectories::oscillator_as;
use super::weights::differences;
use super::{between, check_step, direction, moved, off_differences, tangent_as_adjoint};
use crate::four_bars::row_of_loops;
use crate::worlds::{ground, rough};
use pliant::collision::*;
use pliant::gradient::*;
use pliant::prelude::*;

/// Options of steps of two stages, solved to rounding.
pub(super) fn two_stages() -> Options {
    let mut options = super::options();
    options.integrator = Integrator::Sdirk2;
    options.tuning.newton.exact_stages = true;
    // Differences are those of one step: none is halved, or refused, for its energy.
    options.accuracy = Some(Accuracy::Measured);
    options.tuning.newton.stage_halvings = 0;
    options
}

#[test]
fn springs() {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        for damping in [0.0, 0.3] {
            let what = format!("net, {treatment:?}, {damping}");
            check(&what, net(treatment, damping), two_stages(), 0.01, 1e-7);
        }
    }
}

#[test]
fn chains() {
    check("chain", chain(5), two_stages(), 0.01, 1e-7);
}

#[test]
fn loops() {
    check("loops", row_of_loops(2), two_stages(), 0.01, 1e-7);
}

#[test]
fn rods() {
    for rod in kinds_of_rods() {
        check("rod", hanging(&rod), two_stages(), 0.01, 1e-7);
    }
}

#[test]
fn solids() {
    for (what, solid) in kinds_of_solids() {
        check(what, beam(&solid), two_stages(), 0.02, 1e-7);
    }
}

#[test]
fn sheets() {
    check("sheet", cloth(), two_stages(), 0.01, 1e-7);
}

#[test]
fn rows_of_every_kind() {
    for level in [
        Level::Position,
        Level::Velocity { curvature: 0.0 },
        Level::Baumgarte { rate: 20.0 },
    ] {
        let model = on_row(|model, length| {
            model.add_constraint("row", length, level).unwrap();
        });
        check(&format!("{level:?}"), model, two_stages(), 0.01, 1e-7);
        check(
            &format!("driven {level:?}"),
            driven_row(level),
            two_stages(),
            0.01,
            1e-7,
        );
    }
    let soft = on_row(|model, length| {
        let law = UniformCompliance::new(1e-4).with_relaxation_time(0.01);
        let row = model
            .add_force_field("row", length, law, Treatment::Compliance)
            .unwrap();
        model
            .set_motion(row, Some(PrescribedMotion::sine(0.01, 8.0, 0.3)))
            .unwrap();
    });
    check("soft", soft, two_stages(), 0.01, 1e-7);
    for (what, row) in soft_rows() {
        check(what, row, two_stages(), 0.01, 1e-7);
    }
}

/// By all parameters of an oscillator, as a force and as a soft row on a coordinate of its own: with
/// second order against the oscillator itself.
#[test]
fn an_oscillator_with_second_order() {
    let p = [1.3, 40.0, 0.7, 0.2, -0.5];
    let gradient = |treatment: Treatment, h: f64, steps: usize| {
        let make = |p: &[f64]| Ok(Problem::new(oscillator_as(p, treatment)));
        let mut family = Family::new(&make, &p, &p.map(f64::abs)).unwrap();
        let mut simulation = Simulation::with_options(oscillator_as(&p, treatment), two_stages()).unwrap();
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut family);
        let found = trajectory
            .gradient(&mut simulation, &mut place(steps, 0))
            .unwrap();
        let pairs = found.parameters.iter().zip(p);
        pairs.map(|(by, p)| by * p).collect::<Vec<f64>>()
    };
    // The damped oscillator: x = exp(-d t) (x0 cos w t + (v0 + d x0)/w sin w t).
    let exact = differences(&p, &|[m, k, b, x, v]| {
        let (d, t) = (0.5 * b / m, 0.6);
        let w = (k / m - d * d).sqrt();
        (-d * t).exp() * (x * (w * t).cos() + (v + d * x) / w * (w * t).sin())
    });
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let off = |h: f64, steps: usize| {
            let found = gradient(treatment, h, steps);
            let pairs = found.iter().zip(&exact);
            pairs.fold(0.0f64, |a, (f, e)| a.max((f - e).abs()))
        };
        let [coarse, fine] = [off(0.01, 60), off(0.005, 120)];
        let ratio = coarse / fine;
        assert!(
            coarse < 5e-3 && (3.8..4.2).contains(&ratio),
            "{treatment:?}: {coarse} {fine}"
        );
    }
}

/// Steps that are halved for their energy have the derivative of their parts; tangent and adjoint agree,
/// and are differences so small that they are halved in the same way.
#[test]
fn halved_steps() {
    let mut options = two_stages();
    options.accuracy = None;
    options.tuning.newton.stage_halvings = 4;
    let start = || {
        let mut s = Simulation::with_options(net(Treatment::Stiffness, 0.0), options.clone()).unwrap();
        let halvings = (0..3).map(|_| s.step(0.01).unwrap().solve.newton.step_halvings);
        assert!(halvings.sum::<usize>() > 3);
        s
    };
    let (steps, h, last) = (4, 0.01, 47);
    let mut objective = place(steps, last);
    let mut s = start();
    let along = direction(&s, 3);
    let found = Trajectory::new(steps, h)
        .gradient(&mut s, &mut objective)
        .unwrap();
    let forwards = Trajectory::new(steps, h)
        .tangent(&mut start(), &mut objective, &along, &[])
        .unwrap();
    let backwards = found.start.dot(&along);
    assert!((forwards.derivative - backwards).abs() < 1e-11 * (1.0 + backwards.abs()));
    let at = |t: f64| {
        let mut s = start();
        let mut here = s.checkpoint();
        here.state = moved(&s, &along, t);
        s.problem().propagate(&mut here.state).unwrap();
        s.restore(&here).unwrap();
        for _ in 0..steps {
            s.step(h).unwrap();
        }
        s.state().positions[last]
    };
    let best = [1e-5, 3e-6, 1e-6]
        .map(|t| ((at(-2.0 * t) - at(2.0 * t)) / 12.0 + (at(t) - at(-t)) * 2.0 / 3.0) / t)
        .map(|found| (found / backwards - 1.0).abs())
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    // Rounding of positions over steps of 1e-5.
    assert!(best < 1e-7, "{best:e} off differences, of {backwards}");
}

/// Soft rows of bounded force, at their bound and inside it; motors that hold a velocity or a position
/// with a force that is enough or not; limits that are open.
#[test]
fn rows_of_bounded_force() {
    for most in [0.3, 100.0] {
        let soft = on_row(|model, length| {
            let law = UniformCompliance::new(1e-4).with_relaxation_time(0.01);
            let row = model
                .add_force_field("row", length, law, Treatment::Compliance)
                .unwrap();
            model.set_bounds(row, -most, most).unwrap();
        });
        check(&format!("soft, {most}"), soft, two_stages(), 0.01, 1e-7);
        for level in [Level::Velocity { curvature: 0.0 }, Level::Position] {
            let motor = on_row(|model, length| {
                let row = model.add_constraint("row", length, level).unwrap();
                let motion = PrescribedMotion::sine(0.05, 8.0, 0.3);
                model.set_motion(row, Some(motion)).unwrap();
                model.set_bounds(row, -most, most).unwrap();
            });
            check(&format!("{level:?}, {most}"), motor, two_stages(), 0.01, 1e-7);
        }
    }
    let rope = |compliance: f64, slack: f64| {
        on_row(move |model, length| {
            let law = UniformCompliance::new(compliance);
            let row = model
                .add_force_field("rope", length, law, Treatment::Compliance)
                .unwrap();
            model
                .set_motion(row, Some(PrescribedMotion::constant(&[slack])))
                .unwrap();
            model.set_bounds(row, f64::NEG_INFINITY, 0.0).unwrap();
        })
    };
    for (what, compliance, slack) in [
        ("taut", 1e-4, 0.0),
        ("slack", 1e-4, 0.1),
        ("hard, slack", 0.0, 0.1),
    ] {
        let mut s = Simulation::with_options(rope(compliance, slack), two_stages()).unwrap();
        let pulls = |s: &Simulation| s.last_step(&[]).is_some_and(|taken| taken.multipliers[0] < -0.1);
        // The taut one is so behind its impact.
        let mut steps = 0;
        while steps < 4 || what == "taut" && !pulls(&s) {
            s.step(0.01).unwrap();
            steps += 1;
            assert!(steps < 100, "{what}");
        }
        s.step(0.01).unwrap();
        check_step(what, &mut s, 0.01, 1e-7);
        s.step(0.01).unwrap();
        // One stage takes what one-sided rows stop, which is a step of implicit Euler.
        let is_taut = what == "taut";
        assert_eq!(s.last_step(&[]).unwrap().stages.is_some(), !is_taut, "{what}");
        assert_eq!(pulls(&s), is_taut);
    }
    // Bounded on one side alone, inside.
    let soft = on_row(|model, length| {
        let row = model
            .add_force_field("row", length, UniformCompliance::new(1e-4), Treatment::Compliance)
            .unwrap();
        model.set_bounds(row, f64::NEG_INFINITY, 100.0).unwrap();
    });
    check("soft, bounded above", soft, two_stages(), 0.01, 1e-7);
    let motor = on_row(|model, length| {
        let row = model
            .add_constraint("motor", length, Level::Velocity { curvature: 0.0 })
            .unwrap();
        model.set_bounds(row, f64::NEG_INFINITY, 50.0).unwrap();
    });
    check("motor, bounded above", motor, two_stages(), 0.01, 1e-7);
    // A hard rope that pulls.
    let mut s = Simulation::with_options(rope(0.0, 0.0), two_stages()).unwrap();
    for _ in 0..10 {
        s.step(0.01).unwrap();
    }
    check_step("hard, taut", &mut s, 0.01, 1e-7);
    s.step(0.01).unwrap();
    let taken = s.last_step(&[]).unwrap();
    assert!(taken.stages.is_some() && taken.multipliers[0] < -0.1);
}

/// A row on an independent node that is driven: its values are integrated all the same.
#[test]
fn driven_coordinates() {
    let mut model = Model::new();
    let [driven, free] = [("driven", 0.0), ("free", 1.0)].map(|(name, x)| {
        let bead = model.add_scalars(name, &[x]).unwrap();
        model
            .add_mass(&format!("mass of {name}"), bead, Mass::Uniform(1.0))
            .unwrap();
        bead
    });
    let row = model.add_constraint("row", driven, Level::Position).unwrap();
    let motion = PrescribedMotion::sine(0.05, 8.0, 0.3);
    model.set_motion(row, Some(motion)).unwrap();
    let law = Spring::linear(30.0);
    model
        .add_force_field("spring", free, law, Treatment::Stiffness)
        .unwrap();
    let mut s = Simulation::with_options(model, two_stages()).unwrap();
    for _ in 0..4 {
        s.step(0.01).unwrap();
        let mut derivative = s.step_derivative().unwrap();
        derivative.place(s.problem(), &s.last_step(&[]).unwrap()).unwrap();
        let [along, against] = [3, 5].map(|seed| direction(&s, seed));
        let moved = tangent_as_adjoint("driven", &mut derivative, &along, &against);
        // It is where it is driven to, whatever was before.
        assert!(moved.x[0].abs() < 1e-15 && moved.v[0].abs() < 1e-13, "{moved:?}");
        assert!(moved.x[1].abs() > 0.1);
    }
}

/// A bead that swings, slower at each turn, until a brake holds it: by the bounds of its force, and by
/// everything else, against differences of whole runs.
#[test]
fn a_brake_by_the_most_it_can() {
    let (steps, h) = (300, 0.01);
    let run = |p: &[f64]| {
        let mut s = Simulation::with_options(braked(p), two_stages()).unwrap();
        for _ in 0..steps {
            s.step(h).unwrap();
        }
        s.state().positions[0]
    };
    let make = |p: &[f64]| Ok(Problem::new(braked(p)));
    let mut family = Family::new(&make, &AT, &AT).unwrap();
    let mut trajectory = Trajectory::new(steps, h);
    trajectory.family = Some(&mut family);
    let mut s = Simulation::with_options(braked(&AT), two_stages()).unwrap();
    let found = trajectory.gradient(&mut s, &mut place(steps, 0)).unwrap();
    let bounds = found.report.active.rows_at_bounds;
    assert!((20..steps).contains(&bounds), "{bounds}");
    for (k, by) in found.parameters.iter().enumerate() {
        let ends = [-1.0, 1.0].map(|side| {
            let mut moved = AT;
            moved[k] *= 1.0 + side * 1e-5;
            run(&moved)
        });
        let expected = (ends[1] - ends[0]) / (2e-5 * AT[k]);
        // Roundings of 300 steps over 1e-5, and its square.
        assert!(
            (by - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "{k}: {by} {expected}"
        );
    }
}

/// The next step of a motion along a direction of its start, whether or not hard rows hold along it, against
/// differences.
fn check_along(what: &str, s: &mut Simulation, h: f64, along: &StateVector) {
    let before = s.checkpoint();
    s.step(h).unwrap();
    let end = s.state().clone();
    let mut derivative = s.step_derivative().unwrap();
    derivative.place(s.problem(), &s.last_step(&[]).unwrap()).unwrap();
    let tangent = tangent_as_adjoint(what, &mut derivative, along, &direction(s, 5));
    let model = s.problem().clone();
    let off = off_differences(&tangent, |t| {
        s.restore(&before).unwrap();
        let mut here = before.clone();
        here.state = moved(s, along, t);
        model.propagate(&mut here.state).unwrap();
        s.restore(&here).unwrap();
        s.step(h).ok()?;
        Some(between(&model, &end, s.state()))
    });
    assert!(off < 1e-7, "{what}: {off:.1e} off differences");
}

/// A motor of bounded force comes back to its place by a velocity, over both stages.
#[test]
fn motors_beside_their_place() {
    let motor = on_row(|model, length| {
        let row = model.add_constraint("row", length, Level::Position).unwrap();
        model.set_bounds(row, -1e4, 1e4).unwrap();
    });
    let mut s = Simulation::with_options(motor, two_stages()).unwrap();
    (0..4).for_each(|_| assert!(s.step(0.01).is_ok()));
    let along = direction(&s, 3);
    check_along("motor", &mut s, 0.01, &along);
}

/// Coordinates that are held at another velocity come to it over the step.
#[test]
fn held_coordinates_that_change_their_velocity() {
    let mut s = Simulation::with_options(net(Treatment::Stiffness, 0.3), two_stages()).unwrap();
    let points = s.model().node_named("points").unwrap();
    (0..4).for_each(|_| assert!(s.step(0.01).is_ok()));
    s.hold(points, 0, &[true; 3], &[0.2, -0.1, 0.3]).unwrap();
    let mut along = direction(&s, 3);
    along.v[..3].copy_from_slice(&[0.7, -0.4, 0.9]);
    check_along("held", &mut s, 0.01, &along);
}

/// A nonlinear spring beside a hard row: as a force the metric of the velocities turns with it; as a row
/// its compliance changes over the projection, which is refused.
#[test]
fn stiffening_springs_beside_hard_rows() {
    let simulation = |treatment: Treatment| {
        let mut model = on_row(|model, length| {
            model.add_constraint("row", length, Level::Position).unwrap();
        });
        let bead = model.node_named("bead").unwrap();
        let third = Distance::to_points(&[(0, [0.4, 0.3, -0.4])]).with_rest_lengths(&[0.3]);
        let third = model.add_mapped("third", &[bead], third).unwrap();
        let law = Spring::stiffening(50.0, 4e3);
        model
            .add_force_field("stiffening", third, law, treatment)
            .unwrap();
        let mut s = Simulation::with_options(model, two_stages()).unwrap();
        (0..4).for_each(|_| assert!(s.step(0.02).is_ok()));
        s
    };
    let mut s = simulation(Treatment::Stiffness);
    let along = direction(&s, 3);
    check_along("stiffening", &mut s, 0.02, &along);
    let s = simulation(Treatment::Compliance);
    let mut derivative = s.step_derivative().unwrap();
    let placed = derivative.place(s.problem(), &s.last_step(&[]).unwrap());
    let said = placed.unwrap_err().to_string();
    assert!(said.contains("`stiffening` beside hard rows"), "{said}");
}

/// Compliance that couples a coordinate at its bound with one inside that comes before it: against
/// differences, and the adjoint as its transpose.
#[test]
fn coupled_rows_of_which_one_is_at_its_bound() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let beads = model
        .add_particles("beads", &[[0.5, 0.0, 0.0], [0.5, 0.4, 0.0]])
        .unwrap();
    model.add_mass("mass", beads, Mass::Uniform(0.5)).unwrap();
    // One swings fast, so that its row is at its bound; the other hangs.
    model
        .set_velocity(beads, 1, &[true; 3], &[1.5, 0.8, 0.3])
        .unwrap();
    let ends = [(0, [0.0; 3]), (1, [0.0, 0.4, 0.3])];
    let lengths = Distance::to_points(&ends).with_rest_lengths(&[0.5, 0.5]);
    let lengths = model.add_mapped("lengths", &[beads], lengths).unwrap();
    let law = FullCompliance::from_compliance(&[3e-3, 2e-4, 2e-4, 3e-3]).over_elements(2);
    let rows = model
        .add_force_field("rows", lengths, law, Treatment::Compliance)
        .unwrap();
    model.set_bounds(rows, -6.0, 6.0).unwrap();
    let mut s = Simulation::with_options(model, two_stages()).unwrap();
    let is_mixed = |s: &Simulation| {
        let taken = s.last_step(&[]).unwrap();
        let at = taken.multipliers.iter().map(|l| l.abs() > 6.0 - 1e-9);
        taken.stages.is_some() && at.eq([false, true])
    };
    let (mut mixed, mut checked) = (0, 0);
    for _ in 0..200 {
        let before = s.checkpoint();
        s.step(0.002).unwrap();
        mixed = if is_mixed(&s) { mixed + 1 } else { 0 };
        if mixed == 3 {
            checked += 1;
            s.restore(&before).unwrap();
            let along = direction(&s, 3);
            check_along("coupled", &mut s, 0.002, &along);
            s.restore(&before).unwrap();
            s.step(0.002).unwrap();
            assert!(is_mixed(&s));
        }
    }
    assert!(checked > 0);
}

/// A stiffness and a rest length that act through the projection too: by differences of one step.
#[test]
fn inputs_and_parameters_of_the_projection() {
    let make = |p: &[f64]| {
        let mut model = on_row(|model, length| {
            model.add_constraint("row", length, Level::Position).unwrap();
        });
        let bead = model.node_named("bead").unwrap();
        let third = Distance::to_points(&[(0, [0.4, 0.3, -0.4])]).with_rest_lengths(&[0.0]);
        let third = model.add_mapped("third", &[bead], third)?;
        let law = Spring::stiffening(p[0], 4e3).with_rest(0.3);
        model.add_force_field("stiffening", third, law, Treatment::Stiffness)?;
        Ok::<Model, GradientError>(model)
    };
    let (at, h, steps) = ([50.0], 0.02, 4);
    let simulation = |p: &[f64]| {
        let mut s = Simulation::with_options(make(p).unwrap(), two_stages()).unwrap();
        (0..steps).for_each(|_| assert!(s.step(0.02).is_ok()));
        s
    };
    let mut s = simulation(&at);
    let before = s.checkpoint();
    s.step(h).unwrap();
    let end = s.state().clone();
    let against = direction(&s, 5);
    let problem = |p: &[f64]| Ok(Problem::new(make(p)?));
    let mut family = Family::new(&problem, &at, &at).unwrap();
    let mut derivative = s.step_derivative().unwrap();
    derivative.place(s.problem(), &s.last_step(&[]).unwrap()).unwrap();
    let mut out = StateVector::default();
    derivative.adjoint(&against, &mut out).unwrap();
    let by_stiffness = derivative.by_parameter(&mut family, 0).unwrap();
    let mut by_rest = Vec::new();
    derivative.by_input(&mut by_rest).unwrap();
    let value = |s: &mut Simulation| {
        s.restore(&before).unwrap();
        s.step(h).unwrap();
        against.dot(&between(&s.problem().clone(), &end, s.state()))
    };
    let differences =
        |f: &dyn Fn(f64) -> f64, t: f64| (8.0 * (f(t) - f(-t)) - (f(2.0 * t) - f(-2.0 * t))) / (12.0 * t);
    let of_stiffness = |t: f64| value(&mut simulation(&[at[0] + t]));
    // Of the step alone: the motion before it is put back.
    let expected = differences(&of_stiffness, 0.1);
    assert!(
        (by_stiffness - expected).abs() < 1e-8 * expected.abs(),
        "{by_stiffness} {expected}"
    );
    let of_rest = |t: f64| {
        let mut s = simulation(&at);
        let spring = s.model().component_named("stiffening").unwrap();
        s.restore(&before).unwrap();
        s.set_input(spring, 0, 0.3 + t).unwrap();
        s.step(h).unwrap();
        against.dot(&between(&s.problem().clone(), &end, s.state()))
    };
    let expected = differences(&of_rest, 1e-4);
    let own = by_rest[by_rest.len() - 1];
    assert!((own - expected).abs() < 1e-8 * expected.abs(), "{own} {expected}");
}

/// A step that one stage took is one of implicit Euler, with a projection behind it where there are rows:
/// refused then.
#[test]
fn steps_of_one_stage() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let club = model
        .add_rigid_bodies("club", &[Pose::at([0.0, 0.0, 0.105])])
        .unwrap();
    let mass = RigidMass::cuboid(1.0, [0.1; 3]);
    model.add_mass("mass", club, Mass::Rigid(vec![mass])).unwrap();
    let pin = Joint::ball(Side::World, Side::Body(club, 0)).at(Pose::at([0.3, 0.0, 0.105]));
    model.add_joint("pin", &pin).unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(0.3)).unwrap();
    ground(&mut world, material);
    let place_of_club = Placement::Body {
        node: club,
        element: 0,
        pose: Pose::default(),
    };
    let ball = Collider::new("ball", Shape::ball(0.1).unwrap(), place_of_club);
    world.add(ball.with_material(material)).unwrap();
    let mut s = Simulation::with_options(model, two_stages()).unwrap();
    s.set_contacts(world).unwrap();
    let said = Trajectory::new(8, 0.01).gradient(&mut s, &mut place(8, 0));
    let said = said.unwrap_err().to_string();
    assert!(said.contains("one stage took it"), "{said}");
}

/// Weights and memories of other methods, and smoothed contacts, are refused beside stages.
#[test]
fn what_stages_have_not_is_refused() {
    let mut s = Simulation::with_options(net(Treatment::Stiffness, 0.3), two_stages()).unwrap();
    s.step(0.01).unwrap();
    let mut derivative = s.step_derivative().unwrap();
    let taken = s.last_step(&[]).unwrap();
    let weights = StepWeights {
        alpha: 0.5,
        beta: 0.5,
    };
    let said = derivative.place(s.problem(), &TakenStep { weights, ..taken });
    assert!(said.unwrap_err().to_string().contains("its stages have neither"));
    let stages = taken.stages.map(|stages| TakenStages { jump: &[], ..stages });
    let said = derivative.place(s.problem(), &TakenStep { stages, ..taken });
    assert!(
        said.unwrap_err()
            .to_string()
            .contains("the jump of accelerations")
    );
    derivative.place(s.problem(), &taken).unwrap();
    let mut lengthened = StateVector::default();
    let said = derivative.by_length(&mut lengthened).unwrap_err().to_string();
    assert!(said.contains("SDIRK2 by its length"), "{said}");
    let mut trajectory = Trajectory::new(2, 0.01);
    trajectory.smoothing = Some(1e-3);
    let ball = Shape::ball(0.1).unwrap();
    let (mut s, _) = body(ball, 0.1, Pose::at([0.0, 0.0, 0.5]), [[0.0; 3]; 2], rough(0.3));
    s.options = two_stages();
    let said = trajectory
        .gradient(&mut s, &mut place(2, 0))
        .unwrap_err()
        .to_string();
    assert!(said.contains("smoothed contacts in steps of SDIRK2"), "{said}");
}
