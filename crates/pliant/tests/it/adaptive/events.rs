//! Steps that end where something closes.

use super::*;
use pliant::contact::Sleeping;

const TOLERANCE: f64 = 1e-12;

fn looking() -> Adaptive {
    Adaptive {
        position: 1e-5,
        velocity: 1e-4,
        velocity_kink: 1e-2,
        relative: 1e-6,
        first: 1e-6,
        events: Some(Events {
            tolerance: TOLERANCE,
            most: 1000,
        }),
        ..Adaptive::default()
    }
}

/// Case D02, e = 0.8 from 1 m. The trapezoidal rule falls without error, so that the first impact
/// is where it is to the tolerance; an impact is taken in the first half of the first step after
/// it, which keeps the speed that gravity takes in that time, `g first/2`. With what is left of it
/// from the impacts before, a flight is longer by `first (1 + e + e^2 + ...)`.
#[test]
fn a_ball_bounces_when_it_should() {
    let mut s = ball(0.8);
    let how = looking();
    let (mut impacts, mut apexes) = (Vec::new(), Vec::new());
    let mut before = [1.0, 0.0];
    let mut steps = 0;
    while impacts.len() < 5 {
        let report = s.step_adaptively(&how, f64::INFINITY).unwrap();
        steps += 1;
        if let Some(event) = report.event {
            let EventKind::Contact { sides, .. } = event.kind else {
                panic!("{event:?}");
            };
            assert_eq!(s.contact_side(sides[0]), "`ground`");
            assert_eq!(event.time, s.time());
            impacts.push(event.time);
        }
        let now = [s.state().positions[2] - 0.1, s.state().velocities[2]];
        if before[1] > 0.0 && now[1] <= 0.0 {
            // Between two states of one flight: energy.
            apexes.push(before[0] + before[1] * before[1] / (2.0 * G));
        }
        assert!(now[0] > -1e-6, "{now:?}");
        before = now;
    }
    println!("{steps} steps, {impacts:?}, {apexes:?}");
    let first = (2.0 / G).sqrt();
    let early = first - impacts[0];
    assert!((0.0..=TOLERANCE).contains(&early), "{early:e}");
    let (mut time, mut speed, mut height) = (first, (2.0 * G).sqrt(), 1.0);
    let (mut late, mut gained) = (0.0, 0.0);
    for (k, impact) in impacts.iter().enumerate().skip(1) {
        speed *= 0.8;
        time += 2.0 * speed / G;
        gained = 0.8 * gained + how.first;
        late += gained;
        // Products of errors are a millionth of them.
        let error = (impact - time - late).abs();
        assert!(error < 1e-4 * late, "impact {k}: {error:e} of {late:e}");
        height *= 0.64;
        let off = (apexes[k - 1] - height).abs();
        assert!(off < k as f64 * speed * how.first, "apex {k}: {off:e}");
    }
    assert!(steps < 1500, "{steps}");
}

/// Bounces become ever shorter towards the Zeno time 4.0637 s, and end: then the ball lies, and is
/// told to be at rest.
#[test]
fn a_ball_comes_to_rest() {
    let mut s = ball(0.8);
    let how = Adaptive {
        rest: Some(Sleeping {
            speed: 1e-4,
            spin: 1e-4,
            time: 0.25,
        }),
        ..looking()
    };
    let summary = s.advance_to(&how, 100.0).unwrap();
    println!("{summary:?} at {}", s.time());
    assert!(summary.at_rest);
    // The speed is below the limit a hundredth of a second before all bounces are over, and a step
    // is at most 0.1 s.
    let rest = 4.063_712_768_871_579 + 0.25;
    assert!((s.time() - rest).abs() < 0.11, "{}", s.time());
    assert!((s.state().positions[2] - 0.1).abs() < 1e-6 && s.state().velocities[2].abs() < 1e-4);
    assert_eq!(s.contacts().len(), 1);
}

/// Where a step ends at the time of the impact anyway, so that no event is left to be located, the
/// ball is caught all the same: it lies, and does not bounce as between both ends of a step.
#[test]
fn an_impact_at_the_end_of_a_step_is_one() {
    let mut s = ball(0.0);
    let end = (2.0f64 / G).sqrt();
    s.advance_to(&looking(), end).unwrap();
    assert!(s.state().velocities[2] < -4.4);
    s.advance_to(&looking(), end + 0.1).unwrap();
    assert!(s.state().velocities[2].abs() < 1e-6, "{:?}", s.state());
    assert!((s.state().positions[2] - 0.1).abs() < 1e-6);
}

/// With few events in a second allowed the others are passed over in steps, which is counted.
#[test]
fn events_without_end_are_passed_over() {
    let mut s = ball(0.8);
    let how = Adaptive {
        position: 1e-2,
        velocity: 1e-1,
        relative: 1e-3,
        events: Some(Events {
            tolerance: TOLERANCE,
            most: 2,
        }),
        ..Adaptive::default()
    };
    let summary = s.advance_to(&how, 5.0).unwrap();
    println!("{summary:?}");
    assert_eq!(s.time(), 5.0);
    // In each of several seconds.
    assert!(summary.events > 4, "{summary:?}");
    assert!(summary.events <= 2 * 6 && summary.passed > 0, "{summary:?}");
}

/// A mass falls half a metre until its rope is taut, or onto a stop (a row that only pushes):
/// `t = sqrt(2 s/g)`, with every method that takes such rows, whose error is that of its fall.
#[test]
fn ropes_and_limits_end_a_step() {
    for (pulls, integrator, weight) in [
        (true, Integrator::Theta, 0.5),
        (false, Integrator::Theta, 0.5),
        (true, Integrator::Nonlinear, 0.5),
        (false, Integrator::Nonlinear, 1.0),
        (true, Integrator::bdf2(), 1.0),
    ] {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -G]).unwrap();
        let p = model.add_particles("p", &[[0.0, 0.0, -0.5]]).unwrap();
        model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
        let row = if pulls {
            let rope = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
            let length = model.add_mapped("length", &[p], rope).unwrap();
            model.add_constraint("rope", length, Level::Position).unwrap()
        } else {
            let height = Projection::new(&[(0, [0.0, 0.0, 1.0])]).with_offsets(&[1.0]);
            let height = model.add_mapped("height", &[p], height).unwrap();
            model.add_constraint("stop", height, Level::Position).unwrap()
        };
        let options = Options {
            integrator: integrator.clone(),
            alpha: weight,
            beta: weight,
            ..Options::theta()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        let (lower, upper) = if pulls {
            (f64::NEG_INFINITY, 0.0)
        } else {
            (0.0, f64::INFINITY)
        };
        s.set_bounds(row, lower, upper).unwrap();
        let how = looking();
        let event = loop {
            let report = s.step_adaptively(&how, 1.0);
            let report = report.unwrap_or_else(|e| panic!("{} {weight} {pulls}: {e}", integrator.name()));
            assert!(report.error <= 1.0);
            if let Some(event) = report.event {
                break event;
            }
        };
        assert_eq!(
            event.kind,
            EventKind::Row {
                component: row,
                row: 0
            }
        );
        let exact = (1.0 / G).sqrt();
        let early = exact - event.time;
        // Positions are off by 1e-5 m/s and the share 1e-6 of the way at most, and velocities by
        // 1e-4 m/s^2 and as much: over the speed of 3.1 m/s.
        let allowed = if weight == 0.5 { TOLERANCE } else { 1e-5 };
        let name = integrator.name();
        assert!(early <= allowed && early >= -allowed, "{name}: {early:e}");
        // Afterwards it hangs or stands.
        let after = s.advance_to(&how, event.time + 0.05);
        after.unwrap_or_else(|e| panic!("{} {weight} {pulls}: {e}", integrator.name()));
        assert!(
            (s.state().positions[2] + 1.0).abs() < 1e-7,
            "{name}: {:?}",
            s.state()
        );
        let force = if pulls { -G } else { G };
        // Between both ends the nonlinear step rings on hard rows.
        let rings = weight < 1.0 && integrator == Integrator::Nonlinear;
        assert!(
            rings || (s.multipliers()[0] - force).abs() < 1e-4,
            "{name}: {:?}",
            s.multipliers()
        );
    }
}

/// A rope that is let out while a mass falls: taut when `s + g t^2/2 = l + r t`, from `s` below, of
/// the length `l` let out at the rate `r`.
#[test]
fn a_rope_that_is_let_out_is_taut_later() {
    let (start, length, rate) = (0.5, 1.0, 0.4);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let p = model.add_particles("p", &[[0.0, 0.0, -start]]).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let rope = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[length]);
    let rope = model.add_mapped("length", &[p], rope).unwrap();
    let row = model.add_constraint("rope", rope, Level::Position).unwrap();
    model
        .set_motion(row, Some(PrescribedMotion::ramp(0.0, rate)))
        .unwrap();
    let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    s.set_bounds(row, f64::NEG_INFINITY, 0.0).unwrap();
    let how = looking();
    let event = loop {
        if let Some(event) = s.step_adaptively(&how, 1.0).unwrap().event {
            break event;
        }
    };
    let exact = (rate + (rate * rate + 2.0 * G * (length - start)).sqrt()) / G;
    let early = exact - event.time;
    // The trapezoidal rule falls without error.
    assert!((-TOLERANCE..=TOLERANCE).contains(&early), "{early:e}");
    // Afterwards it goes down with the rope.
    s.advance_to(&how, event.time + 0.05).unwrap();
    let below = length + rate * s.time() + s.state().positions[2];
    assert!(
        below.abs() < 1e-7 && (s.state().velocities[2] + rate).abs() < 1e-6,
        "{:?}",
        s.state()
    );
}

/// A ball that flies through a thin plate within a step meets it all the same.
#[test]
fn what_is_fast_does_not_pass_through() {
    use pliant::collision::*;
    let mut model = Model::new();
    let p = model
        .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 1.0])])
        .unwrap();
    model
        .set_body_velocity(p, 0, [0.0, 0.0, -200.0], [0.0; 3])
        .unwrap();
    let mass = RigidMass::principal(1.0, [0.004; 3]);
    model.add_mass("m", p, Mass::Rigid(vec![mass])).unwrap();
    let mut world = World::new();
    let plate = Shape::cuboid([1.0, 1.0, 0.001]).unwrap();
    let place = Placement::Fixed(Pose::at([0.0, 0.0, 0.0]));
    world.add(Collider::new("plate", plate, place)).unwrap();
    world
        .add(Collider::new("ball", Shape::ball(0.01).unwrap(), body(p)))
        .unwrap();
    let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    s.set_contacts(world).unwrap();
    let how = Adaptive {
        first: 0.02,
        ..looking()
    };
    let report = s.step_adaptively(&how, 1.0).unwrap();
    let early = (1.0 - 0.011) / 200.0 - report.event.unwrap().time;
    assert!((0.0..=TOLERANCE).contains(&early), "{early:e}");
}
