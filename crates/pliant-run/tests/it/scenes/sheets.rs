//! Elastic sheets.

use super::{advance, edited as scene_edited, points, runner};
use pliant_scene::{Format, SceneFile, Settings};

/// The linear step.
const THETA: (&str, &str) = ("run: (", "run: (integrator: Theta, ");

const SHEET: &str = "(gravity: (0, 0, -1e-3), run: (duration: 10000, step: 1000), nodes: [ElasticSheet(name: \"s\",
    shape: Rectangle(size: (1, 0.25), cells: (16, 4)), material: Isotropic(young: 1e7, poisson: 0), thickness: 0.01, density: 1000,
    bending: Shell, clamp_boxes: [((-1, -1, -1), (0.01, 1, 1))])])";

const SLOW: &str = "duration: 10000, step: 1000";
const QUICK: &str = "duration: 0.02, step: 0.01";

fn of(text: &str) -> SceneFile {
    SceneFile::from_text("s.ron".as_ref(), text, Format::Ron).unwrap_or_else(|e| panic!("{e}"))
}

fn edited(from: &str, to: &str) -> SceneFile {
    assert!(SHEET.contains(from), "{from}");
    of(&SHEET.replace(from, to))
}

/// The same in two short steps.
fn quick(from: &str, to: &str) -> SceneFile {
    assert!(SHEET.contains(from) && SHEET.contains(SLOW), "{from}");
    of(&SHEET.replace(from, to).replace(SLOW, QUICK))
}

/// `q L^4/(8 D)`, wherever it is and however it is turned.
#[test]
fn a_clamped_sheet_sags_as_a_beam_does() {
    let expected = 1e-3 * 1000.0 * 0.01 / (8.0 * 1e7 * 1e-6 / 12.0);
    for place in [
        "",
        ", position: (0, 0, 1), rotation: Axis(around: (0, 0, 1), degrees: 20)",
    ] {
        let mut run = runner(&edited(", clamp", &format!("{place}, clamp")), &[], None);
        let start = points(&run, "s")[16][2];
        advance(&mut run, 10);
        let found = start - points(&run, "s")[16][2];
        // Sixteen linear pieces of curvature.
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
}

/// Quadrangles do so by hinges, `q L^4/(8 D)` and a little more; where half of their stiffness
/// relaxes they end at twice the sag.
#[test]
fn a_clamped_sheet_of_quadrangles_sags_and_creeps() {
    let plate = 1e7 * 1e-6 / 12.0;
    for (past, ratio) in [
        ("", 1.0),
        (
            "viscoelastic: [(time: 10, share: 0.3), (time: 50, share: 0.2)],",
            2.0,
        ),
    ] {
        let bending = format!("elements: Quadrangles, bending: Hinges({plate}), {past}");
        let mut run = runner(&edited("bending: Shell,", &bending), &[], None);
        advance(&mut run, 10);
        let expected = ratio * 1e-3 * 1000.0 * 0.01 / (8.0 * plate);
        let found = -points(&run, "s")[16][2];
        println!("sheet of quadrangles{past}: {found}, of a beam {expected}");
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
}

/// The published rise of 8 x 8 bilinear elements, for a small load.
#[test]
fn cooks_membrane_rises_as_published() {
    let load = 1e-6;
    let outcome = runner(&scene_edited("cook", &[]), &[("load", load)], None).run(|_| {});
    assert!(outcome.error.is_none());
    let last = outcome.recording.frames.last().unwrap();
    let rise = (last.points[4 * 9 + 8][1] - 52.0) / load;
    println!("Cook's membrane: {rise:.4}, published 22.08");
    // More digits from `benches/reference/quadrangles.py`; strains of the load are a millionth.
    assert!((rise / 22.079183 - 1.0).abs() < 5e-6, "{rise}");
}

/// A half of a clamped strip, cut along its length and turned about, sags as the whole does; planes
/// that it cannot be cut at are shown.
#[test]
fn half_of_a_sheet_sags_as_the_whole() {
    let sag = |text: &str| {
        let mut run = runner(&of(text), &[], None);
        let start = points(&run, "s")[16][2];
        advance(&mut run, 10);
        start - points(&run, "s")[16][2]
    };
    // Of which the pattern of triangles has the symmetry.
    let whole = sag(SHEET);
    let half = SHEET.replace(
        "size: (1, 0.25), cells: (16, 4)",
        "size: (1, 0.125), cells: (16, 2)",
    );
    let turned = "rotation: Axis(around: (0, 0, 1), degrees: 90), position: (3, 1, 2), symmetry: [(axis: y, at: 0.125)], clamp";
    let cut = sag(&half.replace("clamp", turned));
    println!("sag of the whole {whole:.9e}, of the half {cut:.9e}");
    assert!((cut / whole - 1.0).abs() < 1e-6, "{whole} {cut}");
    for (words, wanted) in [
        ("symmetry: [(axis: y, at: 0.1)]", "nodes are on both sides"),
        ("symmetry: [(axis: y, at: 0.2)]", "no node is on it"),
        (
            "rotation: Axis(around: (0, 0, 1), degrees: 20), symmetry: [(axis: y)]",
            "is turned so that its plane of symmetry is across no axis",
        ),
        (
            "velocity: (0, 1, 0), symmetry: [(axis: y)]",
            "a velocity through its plane of symmetry",
        ),
        ("symmetry: [(axis: z)]", "the sheet lies in it"),
    ] {
        let scene = of(&half.replace("clamp", &format!("{words}, clamp")));
        let message = scene.build(&Settings::default()).unwrap_err().to_string();
        assert!(
            message.contains(wanted) && message.contains("symmetry: "),
            "{message}"
        );
    }
}

/// Quadrangles of a rectangle, and of a file as far as it has them; cut, they are not. Shells of
/// them are refused.
#[test]
fn sheets_of_quadrangles_are_those_of_the_shape() {
    let elements = |text: &SceneFile| {
        let built = text.build(&Settings::default()).unwrap();
        let node = built.model.node_named("s.strains").unwrap();
        built.model.node(node).count
    };
    let membrane = SHEET.replace("bending: Shell, clamp", "elements: Quadrangles, fix");
    assert_eq!(elements(&of(&membrane)), 4 * 16 * 4);
    let cut = membrane.replace("Quadrangles", "Triangles");
    assert_eq!(elements(&of(&cut)), 2 * 16 * 4);
    let bending = of(&SHEET.replace("bending", "elements: Quadrangles, bending"));
    let message = bending.build(&Settings::default()).unwrap_err().to_string();
    assert!(
        message.contains("the bending of a shell cannot be had with quadrangles"),
        "{message}"
    );
}

#[test]
fn every_word_of_sheets_builds_and_runs() {
    let rectangle = "cells: (16, 4)";
    let material = "Isotropic(young: 1e7, poisson: 0)";
    let bending = "bending: Shell,";
    for (from, to) in [
        (rectangle, "cells: (16, 4), one_way: true"),
        (
            material,
            "Woven(warp: 1e-7, weft: 2e-7, shear: 1e-6, poisson: 0.1)",
        ),
        (bending, "bending: Hinges(0.01), stretch: 1.1,"),
        (bending, "bending: Hinges(0.01), elements: Quadrangles,"),
        (
            bending,
            "bending: Shell, viscoelastic: [(time: 1, share: 0.3), (time: \"2 * 3\", shear: 0.2, bulk: 0.2)],",
        ),
        (bending, "bending: None, fix: [0, 84],"),
        (
            bending,
            "relaxation_time: 0.1, treatment: Compliance, velocity: (0, 0, 0.1),",
        ),
        (
            bending,
            "treatment: Auto, warp: (1, 1, 0), bending: Shell, fix_boxes: [((0.9, -1, -1), (2, 2, 2))],",
        ),
        (
            "bending: Shell, clamp_boxes: [((-1, -1, -1), (0.01, 1, 1))]",
            "bending: Quadratic(0.01), treatment: Stiffness, fix: [0, 1]",
        ),
    ] {
        let mut run = runner(&quick(from, to), &[], None);
        advance(&mut run, 2);
        let x = points(&run, "s");
        assert!(x.as_flattened().iter().all(|x| x.is_finite()), "{to}");
    }
    // A sheet that cannot stretch along the warp, as rows: each row of edges twice, which is found.
    let text = SHEET.replace(bending, "bending: Shell, warp: (1, 0, 0),");
    assert!(text.contains(material));
    let text = text.replace(material, "Woven(warp: 0, weft: 1e-6, shear: 1e-6)");
    advance(&mut runner(&of(&text.replace(SLOW, QUICK)), &[], None), 2);
}

#[test]
fn mistakes_in_sheets_are_shown_where_they_are() {
    for (from, to, message, caret) in [
        ("young: 1e7", "young: -1", "must be positive", "-1"),
        ("poisson: 0)", "poisson: 1)", "Poisson's ratio is 1", "1"),
        ("thickness: 0.01", "thickness: 0", "the thickness is 0", "0"),
        ("density: 1000", "density: -5", "the density is -5", "-5"),
        ("cells: (16, 4)", "cells: (16, 0)", "must be from 1", "(16, 0)"),
        (
            "bending: Shell",
            "bending: Hinges(-1)",
            "the bending stiffness is -1",
            "Hinges(-1)",
        ),
        (
            "bending: Shell",
            "bending: Shell, stretch: 1.1",
            "a stretch cannot be had",
            "1.1",
        ),
        (
            "bending: Shell",
            "bending: Shell, viscoelastic: [(time: 1, shear: 0.5)]",
            "a share of bulk in the Prony series of `s.membrane` is 0",
            "viscoelastic",
        ),
        (
            "bending: Shell",
            "bending: Shell, viscoelastic: [(time: 1, share: 0.5, bulk: 0.1)]",
            "has a `share` of all moduli",
            "viscoelastic",
        ),
        (
            "bending: Shell",
            "bending: Shell, treatment: Compliance, viscoelastic: [(time: 1, share: 0.5)]",
            "a compliance cannot be had with a material with a past",
            "Compliance",
        ),
        (
            "bending: Shell",
            "bending: Quadratic(1)",
            "a clamp cannot be had",
            "clamp_boxes",
        ),
        (
            "bending: Shell",
            "bending: Shell, warp: (0, 0, 1)",
            "the direction of the warp is across it",
            "",
        ),
        (
            "(0.01, 1, 1)",
            "(-0.5, -0.5, -0.5)",
            "no node of `s` lies in one of its `clamp_boxes`",
            "",
        ),
        (
            "Rectangle(size: (1, 0.25), cells: (16, 4))",
            "File(file: \"none.obj\")",
            "none.obj",
            "",
        ),
    ] {
        let error = edited(from, to)
            .build(&Settings::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{to}: {error}");
        assert!(error.contains(caret) && error.contains("s.ron"), "{to}: {error}");
    }
}

/// `w = 0.0736713 q a^2/T` in the middle of a square membrane (Timoshenko's series), with the ball
/// out of the way.
#[test]
fn an_empty_trampoline_sags_by_its_tension() {
    let ball = "position: (0, 0, \"$drop + 0.16\")";
    let scene = scene_edited("trampoline", &[(ball, "position: (10, 0, 1)")]);
    let mut run = runner(&scene, &[], Some(1.0));
    advance(&mut run, 20);
    let stretch = 1.05f64;
    let tension = 0.0005 * 2e7 / 0.7 * 0.5 * (stretch * stretch - 1.0);
    let load = 1000.0 * 0.0005 / (stretch * stretch) * 9.81;
    let exact = 0.073_671_3 * load * 4.0 / tension;
    let found = -points(&run, "sheet")[8 * 17 + 8][2];
    println!("trampoline: {found}, exact {exact}");
    // Cells of a sixteenth: 8e-4; the square of the slope times E t/T another 1e-3.
    assert!((found / exact - 1.0).abs() < 3e-3, "{found} {exact}");
}

#[test]
fn a_trampoline_throws_its_ball_back() {
    let mut run = runner(&scene_edited("trampoline", &[]), &[], None);
    let node = run.simulation().model().node_named("ball").unwrap();
    let height = |run: &pliant_run::Runner| run.simulation().positions(node)[2];
    let (mut lowest, mut back) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..600 {
        let report = run.step().unwrap();
        assert!(report.contacts.residual < 1e-8);
        let now = height(&run);
        if now < lowest {
            (lowest, back) = (now, now);
        }
        back = back.max(now);
    }
    println!("trampoline: lowest {lowest}, back to {back}");
    // Below the sheet by more than its radius, and back up, but not higher than it came from.
    assert!(lowest < 0.0 && back > 0.3 && back < 0.96, "{lowest} {back}");
}

/// The sheet hangs in its rim, so the ball falls on it alone, whatever a search with free fall
/// predicts: at steps in which gravity takes the ball through the sheet, it comes to rest where it
/// does at small ones (`f = 0` there, whatever the step).
#[test]
fn at_no_step_does_the_ball_pass_the_trampoline() {
    let place = "position: (0, 0, \"$drop + 0.16\")";
    let (mut rests, mut surprised) = (Vec::new(), 0);
    for (step, at) in [
        (0.02, "0, 0"),
        (0.15, "0, 0"),
        (0.2, "0, 0"),
        (0.3, "0, 0"),
        (0.2, "0.03, 0.02"),
        (0.35, "0.03, 0.02"),
    ] {
        let moved = format!("position: ({at}, \"$drop + 0.16\")");
        let mut run = runner(
            &scene_edited("trampoline", &[(place, &moved), THETA]),
            &[],
            Some(step),
        );
        let mut missed = 0;
        for _ in 0..(6.0 / step) as usize {
            missed += run.step().unwrap().contacts.missed;
        }
        let node = run.simulation().model().node_named("ball").unwrap();
        let x = run.simulation().positions(node)[2];
        println!("trampoline at {step} s: {x} m, {missed} missed");
        surprised += usize::from(missed > 0);
        rests.push(x);
    }
    for x in &rests[1..4] {
        // Friction keeps it where it came to rest, within some 1e-5 m.
        assert!((x - rests[0]).abs() < 1e-4, "{rests:?}");
    }
    assert!(surprised >= 2, "{surprised}");
    // The flat triangles hold it a little elsewhere; at its own point it sags by 36 mm.
    assert!(
        (rests[5] - rests[4]).abs() < 5e-3 && (rests[4] - rests[0]).abs() < 5e-3,
        "{rests:?}"
    );
}

/// Hung from its whole upper edge a curtain grows by `L (s/2 - s^2/2)`, `s = rho g L/E`: the second
/// term is that of Green and Lagrange's strain.
#[test]
fn a_hung_curtain_grows_by_its_weight() {
    let fix = "fix_boxes: [((-1, 1.49, -1), (3, 2, 1))]";
    let scene = scene_edited("curtain", &[("fix: Nearest(0, 1.5, 0)", fix)]);
    let mut run = runner(&scene, &[("speed", 0.0), ("wind", 0.0)], Some(0.5));
    advance(&mut run, 20);
    let s = 600.0 * 9.81 * 1.5 * 1e-6;
    let exact = 1.5 * (0.5 * s - 0.5 * s * s);
    for x in &points(&run, "curtain")[..25] {
        assert!((-x[2] / exact - 1.0).abs() < 2e-3, "{x:?} {exact}");
    }
}

#[test]
fn a_drawn_curtain_hangs_on_its_hooks() {
    let mut run = runner(&scene_edited("curtain", &[]), &[], Some(0.02));
    advance(&mut run, 250);
    let simulation = run.simulation();
    let node = simulation.model().node_named("curtain").unwrap();
    let held: f64 = (0..7)
        .map(|k| simulation.support_force(node, 450 + 4 * k)[2])
        .sum();
    let weight = 2.0 * 1.5 * 0.3 * 9.81;
    println!("curtain: hooks {held}, weight {weight}");
    // Still swinging a little.
    assert!((held.abs() / weight - 1.0).abs() < 0.05, "{held} {weight}");
    let x = points(&run, "curtain");
    let deep = x.iter().map(|x| x[1].abs()).fold(0.0, f64::max);
    assert!((x[474][0] - 1.0).abs() < 1e-9 && deep > 0.05, "{deep}");
}

/// A cloth that lies on level ground presses with its weight over its area, `rho g t` at all inner
/// points, and the pictures of the run have it; on an elastic foundation it sinks by as much times
/// its compliance.
#[test]
fn pictures_have_the_contact_pressure() {
    for foundation in [0.0, 1e-5] {
        let text = format!(
            "(gravity: (0, 0, -9.81), run: (duration: 0.5, step: 0.01), nodes: [ElasticSheet(name: \"s\",
            shape: Rectangle(size: (1, 0.5), cells: (8, 4)), position: (0, 0, 0.005), material: Isotropic(young: 1e6, poisson: 0.3),
            thickness: 0.01, density: 500, bending: Hinges(0.01), relaxation_time: 0.02)],
            materials: [(name: \"felt\", foundation: {foundation}, relaxation_time: 0.02)],
            colliders: [Fixed(name: \"floor\", shape: Plane(0, 0, 1)), Cloth(node: \"s\", radius: 0.005, material: \"felt\")])"
        );
        let run = runner(&of(&text), &[], None).run(|_| {});
        assert!(run.error.is_none(), "{:?}", run.error);
        let (first, last) = (&run.recording.frames[0], run.recording.frames.last().unwrap());
        assert!(first.pressures.iter().all(|p| *p == 0.0) && first.pressures.len() == first.points.len());
        let expected = 500.0 * 9.81 * 0.01;
        let mut inner = 0;
        for (place, pressure) in last.points.iter().zip(&last.pressures) {
            let within = |x: f64, size: f64| x > 0.01 * size && x < 0.99 * size;
            if within(place[0], 1.0) && within(place[1], 0.5) {
                // Masses and areas are thirds of the same triangles; level, nothing else carries.
                assert!((pressure / expected - 1.0).abs() < 1e-3, "{pressure} {expected}");
                assert!(
                    (0.005 - place[2] - expected * foundation).abs() < 1e-6,
                    "{place:?}"
                );
                inner += 1;
            }
        }
        assert_eq!(inner, 7 * 3);
    }
}

/// The strip tears along its middle row and nowhere else, with the speeds of its halves by an
/// explicit program (`benches/reference/torn_sheet.py`); from then on these are constant.
#[test]
fn a_notched_sheet_tears_along_its_middle() {
    let mut run = runner(&scene_edited("torn_sheet", &[]), &[], None);
    let node = run.simulation().model().node_named("points").unwrap();
    let speed = |run: &pliant_run::Runner| {
        let v = run.simulation().velocities(node).as_chunks::<3>().0;
        [&v[125..], &v[..125]].map(|half| half.iter().map(|v| v[1]).sum::<f64>() / 125.0)
    };
    advance(&mut run, 100);
    let torn = speed(&run);
    advance(&mut run, 200);
    let [upper, lower] = speed(&run);
    println!("torn sheet: halves {upper} {lower}");
    // Times at which elements break are known to a step of 20 us.
    assert!((upper - 1.0689).abs() < 0.03, "{upper}");
    assert!((upper + lower).abs() < 1e-12 && (upper - torn[0]).abs() < 1e-12);
    let outcome = run.run(|_| {});
    let removed = &outcome.summary.removed;
    assert_eq!((removed["notch"].elements, removed["tear"].elements), (6, 18));
    assert!(
        (removed["tear"].first.unwrap() - 0.00088).abs() < 4.1e-5,
        "{removed:?}"
    );
    assert!(
        (removed["tear"].last.unwrap() - 0.00122).abs() < 6.1e-5,
        "{removed:?}"
    );
    let last = outcome.recording.frames.last().unwrap();
    assert_eq!(last.regions[0].removed, (96..120).collect::<Vec<u32>>());
    assert_eq!(outcome.summary.status, "ok");
}
