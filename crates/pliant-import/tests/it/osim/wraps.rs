//! Paths that wrap around surfaces of bodies (`wraps.osim`): lengths and moment arms in closed form
//! over the range of an elbow, and those of OpenSim.

use super::*;
use pliant::dense::skew;
use std::f64::consts::PI;

/// The moment of inertia about the elbow, by the numbers of the file.
const INERTIA: f64 = 0.013 + 1.2 * (0.01 * 0.01 + 0.12 * 0.12);

fn turned(axis: Vec3, angle: f64) -> Mat3 {
    let k = skew(axis);
    Mat3::identity() + k * angle.sin() + k * k * (1.0 - angle.cos())
}

/// Body-fixed angles about x, y, z.
fn turns([x, y, z]: [f64; 3]) -> Mat3 {
    turned(Vec3::x(), x) * turned(Vec3::y(), y) * turned(Vec3::z(), z)
}

/// Tangents from two points at these distances and the arc between them, where `angle` is between
/// the points as seen from the centre; `None` where the line between them is free.
fn around_circle(r: f64, s: f64, t: f64, angle: f64) -> Option<f64> {
    let arc = angle - (r / s).acos() - (r / t).acos();
    (arc > 0.0).then(|| (s * s - r * r).sqrt() + (t * t - r * r).sqrt() + r * arc)
}

/// The way from `p` to `q` around a sphere about the origin, and whether it wraps.
fn around_sphere(r: f64, p: Vec3, q: Vec3) -> (f64, bool) {
    let angle = p.cross(&q).norm().atan2(p.dot(&q));
    match around_circle(r, p.norm(), q.norm(), angle) {
        Some(length) => (length, true),
        None => ((q - p).norm(), false),
    }
}

/// The same around a cylinder about z, on the side of -x or the shorter way.
fn around_cylinder(r: f64, over: bool, p: Vec3, q: Vec3) -> (f64, bool) {
    // Angles from -x, within half a turn to both sides.
    let seen = |x: Vec3| (-x.y).atan2(-x.x);
    let turn = (seen(q) - seen(p)).abs();
    let angle = if over { turn } else { turn.min(2.0 * PI - turn) };
    match around_circle(r, p.xy().norm(), q.xy().norm(), angle) {
        Some(flat) => (flat.hypot(q.z - p.z), true),
        None => ((q - p).norm(), false),
    }
}

/// Lengths of the paths of the file at an angle of the elbow, and whether they wrap.
fn wanted(path: &str, angle: f64) -> (f64, bool) {
    let v = Vec3::new;
    let elbow = turned(Vec3::z(), angle);
    match path {
        "over_cylinder" | "triceps" => {
            around_cylinder(0.02, true, v(-0.015, 0.28, 0.0), elbow * v(-0.022, -0.03, 0.0))
        }
        "over_ball" => {
            let (centre, last) = (v(0.012, -0.05, 0.02), v(0.03, -0.2, 0.04));
            let first = elbow.transpose() * v(0.01, 0.2, 0.01);
            let (length, wraps) = around_sphere(0.03, first - centre, last - centre);
            (length + (v(0.05, -0.21, 0.04) - last).norm(), wraps)
        }
        _ => {
            let (rim, place) = (v(0.06, 0.02, -0.01), v(-0.01, 0.005, 0.02));
            let frame = turns([0.0, 0.2, 0.0]);
            let centre = rim + frame * place;
            let axes = frame * turns([0.15, -0.25, 0.4]);
            let (first, second) = (v(0.1, 0.3, 0.01), v(0.085, 0.15, 0.0));
            let last = elbow * v(0.02, -0.15, 0.03);
            let [p, q] = [second, last].map(|x| axes.transpose() * (x - centre));
            let (length, wraps) = around_cylinder(0.025, false, p, q);
            (length + (second - first).norm(), wraps)
        }
    }
}

/// The model at an angle: lengths of the paths, and the accelerations of the elbow by each of those
/// that pull, with a control of one.
fn at(angle: f64) -> (Imported, BTreeMap<&'static str, (f64, f64)>) {
    let start = vec![("elbow".to_owned(), angle)];
    let options = Options {
        start,
        ..Options::default()
    };
    let made = imported("wraps.osim", &options);
    let acceleration = |text: &str| {
        let scene = scene(text).build(&Settings::default()).unwrap();
        let node = scene.joints[0].2.coordinates[0];
        let mut runner = pliant_run::Runner::new(scene).unwrap();
        let found = runner.simulation_mut().coordinate_dynamics(&[node], &[]).unwrap();
        found.accelerations[0]
    };
    let still = runner(&made.scene);
    let without = acceleration(&made.scene);
    let mut out = BTreeMap::new();
    for path in ["over_cylinder", "over_ball", "over_tilted", "triceps"] {
        let node = still.simulation().model().node_named(path).unwrap();
        let length = still.simulation().positions(node)[0];
        let on = made
            .scene
            .replace(&format!("\"{path}\": 0"), &format!("\"{path}\": 1"));
        assert_ne!(on, made.scene, "{path}");
        out.insert(path, (length, acceleration(&on) - without));
    }
    (made, out)
}

#[test]
fn lengths_and_moment_arms_are_those_of_closed_forms() {
    let mut counts = BTreeMap::new();
    for step in 0..32 {
        let angle = -1.0 + 0.1 * f64::from(step);
        let (_, found) = at(angle);
        for (path, force) in [("over_cylinder", 3.0), ("over_ball", 2.0), ("over_tilted", 1.0)] {
            let (length, acceleration) = found[path];
            let (expected, wraps) = wanted(path, angle);
            // Rounding of a dozen operations, and of the 15 digits of a scene.
            assert!(
                (length - expected).abs() < 2e-14,
                "{path}, {angle}: {length} {expected}"
            );
            let h = 1e-5;
            let arm = (wanted(path, angle + h).0 - wanted(path, angle - h).0) / (2.0 * h);
            let own = -acceleration * INERTIA / force;
            // Differences to the second order of 1e-5, and where they cross a touch to the first
            // order of its jump in curvature.
            let touches = wanted(path, angle + h).1 != wanted(path, angle - h).1;
            assert!(
                !touches && (own - arm).abs() < 1e-9,
                "{path}, {angle}: {own} {arm}"
            );
            let known = counts.entry(path).or_insert([0, 0]);
            known[usize::from(wraps)] += 1;
            // Over the cylinder at the joint the arm is its radius.
            if path == "over_cylinder" && wraps {
                assert!((own - 0.02).abs() < 1e-13, "{angle}: {own}");
            }
        }
        let muscle = found["triceps"].0;
        assert!((muscle - found["over_cylinder"].0).abs() < 1e-15, "{muscle}");
    }
    for (path, [free, wrapped]) in counts {
        assert!(free >= 4 && wrapped >= 4, "{path}: {free} {wrapped}");
    }
}

/// OpenSim itself, at angles of its own: in a plane across the cylinder and around the sphere to
/// rounding. Around a cylinder that the path meets at a slant, OpenSim's way is no geodesic: it is
/// longer, by up to 0.15 micrometres here.
#[test]
fn lengths_are_those_of_opensim() {
    let reference = reference();
    let cases = reference["wraps"].as_array().unwrap();
    assert!(cases.len() > 10);
    for case in cases {
        let (_, found) = at(case["elbow"].as_f64().unwrap());
        for (path, expected) in case["lengths"].as_object().unwrap() {
            let (own, expected) = (found[path.as_str()].0, expected.as_f64().unwrap());
            let off = expected - own;
            let bound = match path.as_str() {
                "over_tilted" => -1e-14..2e-7,
                _ => -1e-14..1e-14,
            };
            assert!(bound.contains(&off), "{path}: {own} {expected}");
        }
    }
}

#[test]
fn what_wraps_is_named_and_told() {
    let (made, _) = at(0.3);
    for expected in [
        "obstacles: [(surface: Cylinder(radius: 0.02, side: Over((-1, 0, 0))), frame: ())]",
        "(after: 1, surface: Cylinder(radius: 0.025), frame: (position: (",
        "(surface: Sphere(0.03), frame: (body: (\"forearm\", 0), position: (",
        "law: MuscleTendon(curves: Thelen2003, force: 500",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    for expected in [
        "a `WrapCylinder` has no ends in scenes: its `length` is not taken",
        "`quadrant` of a `WrapCylinder` is the side that the path goes over",
        "switched off (`active`)",
        "a `PathSpring` whose path wraps around a `WrapTorus` is not taken",
    ] {
        assert!(remarked(&made, expected), "{expected}\n{:#?}", made.remarks);
    }
    // From the second to the last point of this path the ball moves with them: that is no part.
    assert_eq!(made.scene.matches("Sphere(0.03)").count(), 1);
    assert!(!remarked(&made, "several pairs"));
}

/// An ellipsoid of equal axes is the sphere; another one has its semi-axes.
#[test]
fn ellipsoids_are_obstacles() {
    let at = |text: &str| {
        let start = vec![("elbow".to_owned(), -0.2)];
        let options = Options {
            start,
            ..Options::default()
        };
        let made = import(text, &options).unwrap();
        let runner = runner(&made.scene);
        let node = runner.simulation().model().node_named("over_ball").unwrap();
        (runner.simulation().positions(node)[0], made)
    };
    let egg = |dimensions: &str| {
        let text = changed("<WrapSphere name=\"ball\">", "<WrapEllipsoid name=\"ball\">");
        let radius = "<radius>0.03</radius>\n\t\t\t\t\t\t\t</WrapSphere>";
        assert!(text.contains(radius));
        let own = format!("<dimensions>{dimensions}</dimensions></WrapEllipsoid>");
        text.replacen(radius, &own, 1)
    };
    let (length, made) = at(&egg("0.03 0.03 0.03"));
    let (expected, wraps) = wanted("over_ball", -0.2);
    assert!(wraps && (length - expected).abs() < 2e-14, "{length} {expected}");
    assert!(remarked(
        &made,
        "around a `WrapEllipsoid` the path is the shortest"
    ));
    let (longer, made) = at(&egg("0.03 0.05 0.04"));
    assert!(
        made.scene.contains("surface: Ellipsoid((0.03, 0.05, 0.04))"),
        "{}",
        made.scene
    );
    assert!(longer > expected + 1e-4, "{longer} {expected}");
    for dimensions in ["0.03 0 0.03", "0.03 -1 0.03", "0.03 0.03 0.000001"] {
        let told = told(&egg(dimensions));
        assert!(told.contains("`dimensions` are not all above zero"), "{told}");
    }
}

/// The model of the tests with something in it replaced.
fn changed(was: &str, is: &str) -> String {
    let text = include_str!("../../models/wraps.osim");
    assert!(text.contains(was), "{was}");
    text.replacen(was, is, 1)
}

#[test]
fn what_is_wrong_with_a_surface_is_an_error_with_its_place() {
    for (was, is, expected) in [
        (
            "<wrap_object>ball<",
            "<wrap_object>bal<",
            "there is no wrap object `bal`\n",
        ),
        (
            "<wrap_object>tilted<",
            "<wrap_object>tiltd<",
            "did you mean `tilted`?",
        ),
        (
            "<radius>0.02</radius>",
            "<radius>0</radius>",
            "`radius` is 0, which is not above zero",
        ),
        ("<radius>0.03</radius>", "", "`WrapSphere` has no `radius`"),
        (
            "<quadrant>-x<",
            "<quadrant>-w<",
            "`quadrant` is `-w` where it may be `all`",
        ),
        (
            "<quadrant>-x<",
            "<quadrant>-all<",
            "`quadrant` is `-all` where it may be",
        ),
        (
            "<range>2 3<",
            "<range>2 4<",
            "`range` names point 4 of a path of 3 points",
        ),
        (
            "<range>2 3<",
            "<range>1.5 3<",
            "`range` has 1.5 where a whole number is expected",
        ),
        (
            "<range>2 3<",
            "<range>2<",
            "`range` has 1 numbers where 2 are expected",
        ),
        (
            "<active>false<",
            "<active>no<",
            "where it may be `true` or `false`",
        ),
    ] {
        let told = told(&changed(was, is));
        assert!(
            told.contains(expected) && told.contains("--> m.osim:"),
            "{expected}: {told}"
        );
    }
}

#[test]
fn surfaces_that_are_taken_in_another_way_are_told() {
    let with = |was: &str, is: &str| import(&changed(was, is), &Options::default()).unwrap();
    for (was, is, remark, wraps) in [
        (
            "<quadrant>-x<",
            "<quadrant>z<",
            "`quadrant` of a `WrapCylinder` along its axis is not taken",
            4,
        ),
        (
            "<radius>0.03</radius>",
            "<radius>0.03</radius><quadrant>+y</quadrant>",
            "`quadrant` of a `WrapSphere` is not taken",
            4,
        ),
        (
            "<location>-0.022 -0.03 0<",
            "<location>0.03 -0.0005 0<",
            "opposite to the `quadrant` of `olecranon` at the start",
            3,
        ),
        // The middle between both points: the way around is on no side shorter.
        (
            "<translation>0.012 -0.05 0.02<",
            "<translation>0.02 0 0.025<",
            "straight through the middle of `ball` at the start",
            3,
        ),
        // Within a sphere that is not on the body of the point.
        (
            "<active>false</active>",
            "",
            "the path has a point within `spare` at the start",
            4,
        ),
        (
            "<range>2 3<",
            "<range>3 3<",
            "`range` holds no two points in a row",
            3,
        ),
        // The last two points of this path move with the ball, and their line passes it.
        (
            "<wrap_object>ball</wrap_object>",
            "<wrap_object>ball</wrap_object><range>2 3</range>",
            "`ball` is left out of a path that does not come to touch it",
            3,
        ),
    ] {
        let made = with(was, is);
        assert!(remarked(&made, remark), "{remark}\n{:#?}", made.remarks);
        let found = made.scene.matches("surface: ").count();
        assert_eq!(found, wraps, "{is}\n{}", made.scene);
        let _ = runner(&made.scene);
    }
    // Both parts of this path move against a ball on the forearm.
    let text =
        changed("<wrap_object>tilted<", "<wrap_object>ball<").replacen("<range>2 3<", "<range>-1 -1<", 1);
    let made = import(&text, &Options::default()).unwrap();
    assert!(remarked(
        &made,
        "may wrap around `ball` between several pairs of its points at once"
    ));
    assert_eq!(made.scene.matches("Sphere(0.03)").count(), 3);
    // Two obstacles between two points come in their order along the line, whatever that in the file.
    let first = "<wrap_object>ball</wrap_object>\n\t\t\t\t\t\t\t\t</PathWrap>";
    let both = first.to_owned() + "<PathWrap><wrap_object>high</wrap_object></PathWrap>";
    let text = changed(first, &both);
    let text = text.replacen(
        "<WrapSphere name=\"spare\">",
        "<WrapSphere name=\"high\"><translation>0.03 0.1 0.01</translation><radius>0.015</radius></WrapSphere><WrapSphere name=\"spare\">",
        1,
    );
    let made = import(&text, &Options::default()).unwrap();
    assert!(
        made.scene.contains(
            "obstacles: [(surface: Sphere(0.015), frame: (position: (0.03, 0.1, 0.01))), (surface: Sphere(0.03)"
        ),
        "{}",
        made.scene
    );
    assert!(remarked(&made, "in the order in which they are along the line"));
    // Seven are more than a rope has.
    let many = first.to_owned() + &"<PathWrap><wrap_object>high</wrap_object></PathWrap>".repeat(6);
    let made = import(&text.replacen(&both, &many, 1), &Options::default()).unwrap();
    assert!(remarked(&made, "at most 6 of them between two points"));
    assert!(!made.scene.contains("Sphere(0.015)"), "{}", made.scene);
}
