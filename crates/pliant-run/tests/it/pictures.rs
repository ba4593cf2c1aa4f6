//! Cameras, colours, lines and joints of recordings.

use crate::drawn::assert_drawn;
use pliant_output::recording::Recording;
use pliant_run::Runner;
use pliant_scene::{Format, SceneError, SceneFile, Settings};

/// A scene with every word of pictures.
pub(crate) const PICTURE: &str = include_str!("words/picture.ron");

fn build(text: &str) -> Result<Runner, SceneError> {
    let scene = SceneFile::from_text("picture.ron".as_ref(), text, Format::Ron)?;
    Runner::new(scene.build(&Settings::default())?)
}

fn run(text: &str) -> Recording {
    let outcome = build(text).unwrap_or_else(|e| panic!("{e}")).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome.recording
}

#[test]
fn every_word_of_pictures_is_in_the_recording() {
    let look = run(PICTURE).look;
    let camera = look.camera.as_ref().unwrap();
    assert_eq!(camera.eye_and_target, Some([[1.0, 0.5, 5.0], [0.5, -0.3, 0.0]]));
    assert_eq!(camera.follow.as_deref(), Some("arm"));
    assert_eq!(look.views[0].1.follow.as_deref(), Some("bob"));
    assert_eq!(look.views[1].1.eye_and_target, Some([[1.0, 1.0, 2.0], [0.0; 3]]));
    assert_eq!(look.colour("arm"), Some([214.0, 39.0, 40.0].map(|x| x / 255.0)));
    // One digit stands for two.
    assert_eq!(look.colour("bob"), Some([0.0, 170.0, 0.0].map(|x| x / 255.0)));
    assert_eq!(look.colour("rope"), Some([212.0, 160.0, 23.0].map(|x| x / 255.0)));
    assert!(look.hides("floor") && !look.hides("arm"));
}

/// Lines have the names of their nodes, muscles their activations at the times of the frames, and a
/// line along which nothing acts any more is told.
#[test]
fn lines_are_told_with_activations_and_when_they_are_released() {
    let recording = run(PICTURE);
    let lines: Vec<_> = recording
        .lines
        .iter()
        .map(|line| (line.name.as_str(), line.is_muscle))
        .collect();
    assert_eq!(lines, [("rope", false), ("biceps", true)]);
    for line in &recording.lines {
        assert_eq!(line.count, 1);
        assert!(recording.segments.get(line.first).is_some());
    }
    for frame in &recording.frames {
        let expected: &[u32] = if frame.time > 0.0451 { &[0] } else { &[] };
        assert_eq!(frame.released, expected, "t = {}", frame.time);
    }
    assert!(recording.frames.iter().any(|frame| frame.time > 0.0451));
    // Inputs are those in the middle of the last step; the event at 0.045 s cuts one in two.
    for frame in recording.frames.iter().filter(|frame| frame.time < 0.0449) {
        let expected = 5.0 * (frame.time - 0.005).max(0.0);
        let found = frame.activations[0];
        assert!((found - expected).abs() < 1e-12, "{found} at {}", frame.time);
    }
}

/// An arm that turns about its end: its centre has `omega r`, a collider at its tip twice that, and
/// what is fixed none.
#[test]
fn velocities_of_bodies_and_of_what_they_carry() {
    let recording = run(PICTURE);
    let names: Vec<_> = recording.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["arm", "hand", "floor"]);
    let start = &recording.frames[0];
    // The centre has no velocity at the start: the scene gives it an angular one alone.
    assert_eq!(start.body_velocities[0], [0.0; 3]);
    assert!(
        (start.body_velocities[1][1] - 1.5).abs() < 1e-12,
        "{:?}",
        start.body_velocities
    );
    let size = |v: [f64; 3]| v.iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
    for frame in &recording.frames[1..] {
        let [arm, hand, floor] = [0, 1, 2].map(|b| size(frame.body_velocities[b]));
        // A hinge is held to rounding of the solve.
        assert!(arm > 0.0 && (hand - 2.0 * arm).abs() < 1e-7, "{arm} {hand}");
        assert_eq!(floor, 0.0);
    }
}

/// The mark of a hinge is where the arm turns, and its force column has the weight of what hangs
/// at rest.
#[test]
fn joints_are_marked_where_they_are_and_have_their_forces() {
    let text = "(gravity: (0, -10, 0), run: (duration: 0.2, step: 0.01), nodes: [
        Bodies(name: \"arm\", bodies: [(position: (0, -0.5, 0), shape: Box(0.1, 1, 0.1), mass: 2)])],
        joints: [(name: \"rail\", kind: Slider, b: Body(\"arm\", 0), at: (0, 0, 0), axis: (1, 0, 0)),
            (name: \"pin\", kind: Ball, b: Body(\"arm\", 0), at: (0, 0, 0))])";
    let recording = run(&text.replace(
        "(name: \"rail\", kind: Slider, b: Body(\"arm\", 0), at: (0, 0, 0), axis: (1, 0, 0)),",
        "",
    ));
    let mark = &recording.marks[0];
    assert_eq!(
        (mark.name.as_str(), mark.kind, mark.body),
        ("pin", "ball joint", Some(0))
    );
    assert!(
        mark.position
            .iter()
            .zip([0.0, 0.5, 0.0])
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
    let column = &recording.joints.columns[mark.force];
    assert_eq!(column, "pin.force_x_N");
    let line = recording.joints.lines.last().unwrap();
    assert!((line[1 + mark.force + 1] - 20.0).abs() < 1e-6, "{line:?}");
    // The columns of a joint with a free coordinate come first.
    let both = run(text);
    assert_eq!(both.joints.columns[both.marks[0].force], "rail.force_x_N");
    assert_eq!(both.joints.columns[both.marks[1].force], "pin.force_x_N");
}

/// Change, message, what the carets are under, help.
const MISTAKES: [(&str, &str, &str, &str, &str); 16] = [
    (
        "#d62728",
        "#d6272",
        "the colour of `arm` is \"#d6272\", which is none",
        "\"#d6272\"",
        "`#rrggbb`",
    ),
    (
        "\"gold\"",
        "\"gould\"",
        "the colour of `rope`",
        "\"gould\"",
        "did you mean `gold`?",
    ),
    (
        "\"arm\": \"#",
        "\"arn\": \"#",
        "nothing that is drawn is called `arn`",
        "\"arn\"",
        "did you mean `arm`?",
    ),
    (
        "[\"floor\"]",
        "[\"flor\"]",
        "nothing that is drawn is called `flor`",
        "\"flor\"",
        "did you mean `floor`?",
    ),
    (
        "follow: \"bob\"",
        "follow: \"bop\"",
        "nothing that is drawn is called `bop`",
        "\"bop\"",
        "did you mean",
    ),
    (
        "follow: \"arm\"",
        "follow: \"army\"",
        "nothing that is drawn is called `army`",
        "\"army\"",
        "did you mean `arm`?",
    ),
    (
        ", to: (0.5, -0.3, 0)",
        "",
        "`camera` has `from` and no `to`",
        "(1, 0.5, \"$far\")",
        "`from` is the place of the eye",
    ),
    (
        "from: (1, 0.5, \"$far\"), ",
        "",
        "`camera` has `to` and no `from`",
        "(0.5, -0.3, 0)",
        "`from` is the place",
    ),
    (
        "to: (0.5, -0.3, 0)",
        "to: (1, 0.5, 5)",
        "looks from where it looks to",
        "(1, 0.5, \"$far\")",
        "",
    ),
    (
        "\"$far\"",
        "\"$fat\"",
        "unknown parameter `$fat`",
        "$fat",
        "did you mean `far`?",
    ),
    (
        "from: (1, 1, 2)",
        "from: (1, 1, NaN)",
        "not a finite number",
        "\"close\"",
        "",
    ),
    (
        "\"close\"",
        "\"hanging\"",
        "the name `hanging` is used twice in `views`",
        "\"hanging\"",
        "",
    ),
    (
        "\"close\"",
        "\"top\"",
        "every player has a view `top` of its own",
        "\"top\"",
        "",
    ),
    (
        ", from: (1, 1, 2), to: (0, 0, 0)",
        "",
        "the view `close` says nothing",
        "\"close\"",
        "give it `from` and `to`",
    ),
    (
        "hidden:",
        "hiden:",
        "unknown key `hiden` in `picture`",
        "hiden",
        "did you mean `hidden`?",
    ),
    (
        "[\"floor\"]",
        "[\"muscle\"]",
        "nothing that is drawn is called `muscle`",
        "\"muscle\"",
        "",
    ),
];

#[test]
fn mistakes_of_pictures_are_shown_where_they_are() {
    for (from, to, message, under, help) in MISTAKES {
        assert!(PICTURE.contains(from), "{from}");
        let error = build(&PICTURE.replacen(from, to, 1)).unwrap_err();
        let told = assert_drawn(&error, message, under);
        let found = told.help.as_deref().unwrap_or_default();
        assert!(found.contains(help), "{error}");
    }
}

/// A node that is computed and has no place is not drawn.
#[test]
fn nothing_is_coloured_that_is_not_drawn() {
    let text = PICTURE
        .replace("\"hand\": \"teal\"", "\"arm.mass\": \"teal\"")
        .replace("\"hinge\": \"grey\"", "\"hinge.angle\": \"grey\"");
    let error = build(&text).unwrap_err();
    assert_drawn(
        &error,
        "nothing that is drawn is called `arm.mass`",
        "\"arm.mass\"",
    );
    let text = text.replace("\"arm.mass\": \"teal\", ", "");
    assert_drawn(
        &build(&text).unwrap_err(),
        "`hinge.angle` is not drawn",
        "\"hinge.angle\"",
    );
}
