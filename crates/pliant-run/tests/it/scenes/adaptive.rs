//! Steps that choose their length.

use super::*;
use crate::words::ADAPTIVE;

fn of_text(text: &str) -> Runner {
    let scene = SceneFile::from_text("adaptive.ron".as_ref(), text, Format::Ron).unwrap();
    Runner::new(scene.build(&Settings::default()).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

/// Every word: a ball falls 0.18 m in 0.19 s, and lies; with what is held until 0.123 s everything
/// is at rest from then on, for 0.05 s, and the run ends there. Pictures are at their times to the
/// bit.
#[test]
fn a_run_ends_at_rest_and_has_pictures_on_time() {
    let outcome = of_text(ADAPTIVE).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let adaptive = outcome.summary.adaptive.unwrap();
    assert!(adaptive.at_rest && adaptive.events == 1, "{adaptive:?}");
    assert!(adaptive.worst_error <= 1.0 && adaptive.smallest < adaptive.largest);
    // The last step, of at most 0.1 s, goes beyond.
    let time = outcome.summary.time;
    assert!((0.25..0.36).contains(&time), "{time}");
    let frames: Vec<f64> = outcome.recording.frames.iter().map(|f| f.time).collect();
    let (last, on_time) = frames.split_last().unwrap();
    assert_eq!(*last, time);
    for (k, frame) in on_time.iter().enumerate() {
        assert_eq!(*frame, k as f64 * 0.05 * 2.0, "{frames:?}");
    }
    assert_eq!(outcome.recording.samples.len(), outcome.summary.steps + 1);
    let state = &outcome.summary.state;
    let height = state["ball"].positions[0][2];
    assert!((height - 0.1).abs() < 1e-9, "{height}");
    // The floor carries the weight, in the line of the table too.
    let line = outcome.recording.contacts.lines.last().unwrap();
    assert!((line.force[2] - 10.0).abs() < 1e-9, "{line:?}");
}

/// A step ends where something is let go: `v = g (t - 0.123)` from there, without an error of a
/// step's time, whatever the steps.
#[test]
fn holds_end_on_time() {
    let text = "(gravity: (0, 0, -10), run: (duration: 0.3, adaptive_step: ()), nodes: [
            Particles(name: \"p\", positions: [(0, 0, 0)], mass: 2)], fixed: [(node: \"p\", until: 0.123)])";
    let outcome = of_text(text).run(|_| {});
    assert_eq!(outcome.summary.time, 0.3);
    let v = outcome.summary.state["p"].velocities[0][2];
    // The hold is due within a millionth of the scene's step.
    assert!((v + 10.0 * (0.3 - 0.123)).abs() < 1e-7, "{v}");
}

/// Forces that depend on the time have the value of each part of each trial: the midpoint rule
/// integrates 3 t exactly in all of them.
#[test]
fn forces_follow_functions_of_time() {
    let text = "(run: (duration: 1, integrator: Theta, alpha: 0.5, beta: 0.5, adaptive_step: (position: 1e-6)), nodes: [
            Particles(name: \"p\", positions: [(0, 0, 0)], mass: 2)],
        force_fields: [(name: \"f\", on: \"p\", law: Force([\"6 * $t\", 0, 0]))])";
    let outcome = of_text(text).run(|_| {});
    assert!((outcome.summary.state["p"].velocities[0][0] - 1.5).abs() < 1e-12);
}

/// The double pendulum at half a second, to the tolerance: the error of its angles grows by less
/// than a hundred times until then.
#[test]
fn the_double_pendulum_to_a_tolerance() {
    let reference = [
        [0.4269840898647, -0.9042591370854],
        [1.007279309441, -1.295740245361],
    ];
    let before = "step: 0.004";
    for (integrator, tolerance) in [
        ("GeneralisedAlpha()", 1e-4),
        ("Bdf2", 1e-4),
        ("Rattle", 1e-5),
        ("Sdirk2", 1e-4),
    ] {
        let words = format!(
            "{before}, integrator: {integrator}, adaptive_step: (position: {tolerance}, relative: 0)"
        );
        let mut run = runner(&edited("double_pendulum", &[(before, &words)]), &[], Some(0.25));
        while run.simulation().time() < 0.5 {
            run.step().unwrap();
        }
        // Pictures are 0.25 s apart at least.
        assert_eq!(run.simulation().time(), 0.5);
        let found = points(&run, "bobs");
        let differences = found.iter().zip(&reference);
        let differences = differences.flat_map(|(x, r)| [x[0] - r[0], x[1] - r[1]]);
        let error = differences.fold(0.0f64, |m, d| m.max(d.abs()));
        println!("{integrator}: {} steps, {error:e}", run.steps_taken());
        assert!(error < 100.0 * tolerance, "{integrator}: {error}");
    }
}

/// The height of a ball that fell from 1 m two seconds ago (m).
fn height_at_two_seconds(e: f64) -> f64 {
    let g = 9.81;
    let (mut time, mut speed) = ((2.0f64 / g).sqrt(), (2.0 * g).sqrt());
    let mut height = 0.0;
    while time < 2.0 {
        speed *= e;
        let left = 2.0 - time;
        height = (speed * left - 0.5 * g * left * left).max(0.0);
        time += (2.0 * speed / g).max(1e-6);
    }
    height
}

/// Five balls of different restitution at two seconds, from closed forms: each flight is a
/// parabola.
#[test]
fn balls_bounce_where_they_should() {
    let before = "step: 0.001";
    let words = "step: 0.02, adaptive_step: (position: 1e-5, relative: 1e-5, first: 1e-6, events: ())";
    let mut run = runner(&edited("bouncing_balls", &[(before, words)]), &[], None);
    while !run.is_done() {
        run.step().unwrap();
    }
    let simulation = run.simulation();
    assert_eq!(simulation.time(), 2.0);
    let balls = simulation.model().node_named("balls").unwrap();
    for (k, e) in [0.0f64, 0.25, 0.5, 0.75, 1.0].into_iter().enumerate() {
        let height = height_at_two_seconds(e);
        let found = simulation.pose(balls, k).unwrap().position[2] - 0.1;
        // Two seconds of tolerance, and per bounce the share 1e-5 of the change of velocity, for
        // that long.
        assert!((found - height).abs() < 5e-4, "e = {e}: {found}, {height}");
    }
}

/// The same without events: steps go through the bounces, and `result.json` says how many left
/// jumps out, and how far these displace. Each flight begins with an error of that.
#[test]
fn balls_bounce_without_events() {
    let before = "step: 0.001";
    let errors = [1e-3, 1e-4].map(|position| {
        let words = format!("step: 0.02, adaptive_step: (position: {position}, relative: {position})");
        let outcome = runner(&edited("bouncing_balls", &[(before, &words)]), &[], None).run(|_| {});
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let summary = outcome.summary;
        let adaptive = summary.adaptive.unwrap();
        assert!(adaptive.jumps > 0 && adaptive.events == 0, "{adaptive:?}");
        assert!(
            adaptive.jump_position < 0.2 * position + 0.02 * position,
            "{adaptive:?}"
        );
        assert!(
            summary.steps + adaptive.rejected < 600,
            "{} {adaptive:?}",
            summary.steps
        );
        // The hardest bounce changes the velocity by 8.9 m/s; trials shrink to a fifth.
        let asked = 2.0 * 0.1 * position / 8.86;
        assert!(adaptive.smallest > 0.2 * asked, "{adaptive:?}");
        let positions = &summary.state["balls"].positions;
        let restitutions = [0.0f64, 0.25, 0.5, 0.75, 1.0].into_iter();
        let off = restitutions.zip(positions).map(|(e, x)| {
            let off = (x[2] - 0.1 - height_at_two_seconds(e)).abs();
            assert!(off < 3.0 * 0.1 * position, "e = {e}: {off:e} at {position:e}");
            off
        });
        off.fold(0.0f64, f64::max)
    });
    assert!(errors[1] < 0.6 * errors[0], "{errors:?}");
}

/// Unsupported features are refused before or at the first step.
#[test]
fn what_adaptive_steps_do_not_take() {
    let before = "integrator: Sdirk2,";
    let pendulum = |words: &str| {
        let scene = edited("pendulum", &[(before, words)]);
        runner(&scene, &[], None).step()
    };
    let text = std::fs::read_to_string(path("pendulum")).unwrap();
    let text = text.replace(before, "integrator: Theta, adaptive_step: (),");
    let scene = SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap();
    let refused = Runner::new(scene.build(&Settings::default()).unwrap());
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("need `post_stabilisation`") && error.contains("rod is hard"),
        "{error}"
    );
    pendulum("integrator: Theta, adaptive_step: (), post_stabilisation: (),").unwrap();
    pendulum("adaptive_step: (),").unwrap();
    let small =
        "adaptive_step: (smallest: 0.01, first: 0.01, position: 1e-9, relative: 0), integrator: Bdf2,";
    let error = pendulum(small).unwrap_err();
    assert!(matches!(error, pliant::Error::StepTooSmall { .. }), "{error}");
}

/// Every number of the scene is the option of that name; the first step that is not given is
/// between the smallest and the largest.
#[test]
fn every_number_is_the_option_of_its_name() {
    use pliant::{Adaptive, Events};
    let build = |words: &str| {
        let text = format!(
            "(run: (duration: 1, adaptive_step: ({words})), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])"
        );
        let scene = SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap();
        scene.build(&Settings::default()).unwrap().plan.adaptive.unwrap()
    };
    let found = build(
        "position: 1, velocity: 2, relative: 3, position_kink: 4, velocity_kink: 5, jump_kink: 5.5, first: 0.06, smallest: 0.001, largest: 0.7, safety: 0.8, \
         growth: 9, shrink: 0.1, events: (tolerance: 11, most: 12), rest: (speed: 13, spin: 14, time: 15)",
    );
    let rest = found.rest.unwrap();
    assert_eq!((rest.speed, rest.spin, rest.time), (13.0, 14.0, 15.0));
    let expected = Adaptive {
        position: 1.0,
        velocity: 2.0,
        relative: 3.0,
        position_kink: 4.0,
        velocity_kink: 5.0,
        jump_kink: 5.5,
        first: 0.06,
        smallest: 0.001,
        largest: 0.7,
        safety: 0.8,
        growth: 9.0,
        shrink: 0.1,
        events: Some(Events {
            tolerance: 11.0,
            most: 12,
        }),
        rest: Some(rest),
    };
    assert_eq!(found, expected);
    assert_eq!(build(""), Adaptive::default());
    assert_eq!(build("smallest: 0.01").first, 0.01);
    assert_eq!(build("largest: 1e-6").first, 1e-6);
}
