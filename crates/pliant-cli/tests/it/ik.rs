//! `pliant ik`: positions from places of markers.

use super::{err, out, pliant, write};

/// A rod on a hinge about z at the origin, with two markers on it; its spring and its weight play no
/// part.
const ARM: &str = "(gravity: (0, -9.81, 0), run: (duration: 1), nodes: [
    Bodies(name: \"arm\", bodies: [(position: (0.5, 0, 0), mass: 1, shape: Box(1, 0.1, 0.1))]),
    Mapped(name: \"hand\", parents: [\"arm\"], mapping: RigidPoints(points: [(0, (0.5, 0, 0))])),
    Mapped(name: \"studs\", parents: [\"arm\"], mapping: RigidPoints(points: [(0, (0, 0.2, 0)), (0, (0, 0, 0.1))]))],
    joints: [(name: \"shoulder\", kind: Hinge, b: Body(\"arm\", 0))])";

fn scene(dir: &std::path::Path) -> String {
    write(dir, "arm.ron", ARM)
}

/// Angles, and the markers where these have them.
fn markers(dir: &std::path::Path, angles: &[f64]) -> String {
    let mut text =
        "time_s,hand.x_m,hand.y_m,hand.z_m,studs[0].x_m,studs[0].y_m,studs[0].z_m,cap.x_m,cap.y_m,cap.z_m\n"
            .to_owned();
    for (k, angle) in angles.iter().enumerate() {
        let (s, c) = angle.sin_cos();
        let stud = [0.5 * c - 0.2 * s, 0.5 * s + 0.2 * c];
        text += &format!(
            "{},{c:?},{s:?},0,{:?},{:?},0,1,1,1\n",
            k as f64 * 0.1,
            stud[0],
            stud[1]
        );
    }
    write(dir, "markers.csv", &text)
}

/// Angles go round a whole turn and on: coordinates of joints count turns.
#[test]
fn angles_are_those_that_the_markers_have() {
    let dir = tempfile::tempdir().unwrap();
    let angles: Vec<f64> = (0..40).map(|k| 0.2 * f64::from(k)).collect();
    let (arm, seen) = (scene(dir.path()), markers(dir.path(), &angles));
    let ran = pliant(dir.path(), &["ik", &arm, &seen, "--out", "found"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let text = out(&ran);
    for words in [
        "2, over 40 frames",
        "root mean square",
        "studs[0]",
        "wrote coordinates.csv",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        err(&ran).contains("no nodes of the scene are left out: cap"),
        "{}",
        err(&ran)
    );
    let table = std::fs::read_to_string(dir.path().join("found/coordinates.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("time_s,shoulder.angle_rad"));
    for (line, angle) in lines.zip(&angles) {
        let found: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
        assert!((found - angle).abs() < 1e-9, "{line}: {angle}");
    }
    for file in ["markers.csv", "play.html"] {
        assert!(dir.path().join("found").join(file).exists(), "{file}");
    }
    let ran = pliant(dir.path(), &["ik", &arm, &seen, "--json"]);
    let facts: serde_json::Value = serde_json::from_str(&out(&ran)).unwrap();
    assert!(facts["root_mean_square"].as_f64().unwrap() < 1e-9, "{facts}");
    assert_eq!(facts["unknown"][0], "cap");
    assert_eq!(facts["markers"][0]["frames"], 40);
}

/// One marker off by 0.1 m across turns the arm by the share of its weight: of two markers on the
/// arm, at 1 m and, across it, at 0.2 m and 0.5 m, `tan` of the angle has a closed form.
#[test]
fn weights_say_whose_distance_counts() {
    let dir = tempfile::tempdir().unwrap();
    let arm = scene(dir.path());
    let text =
        "time_s,hand.x_m,hand.y_m,hand.z_m,studs[0].x_m,studs[0].y_m,studs[0].z_m\n0,1,0.1,0,0.5,0.2,0\n";
    let seen = write(dir.path(), "markers.csv", text);
    for weight in [1.0f64, 100.0] {
        let given = format!("hand={weight}");
        let ran = pliant(
            dir.path(),
            &["ik", &arm, &seen, "--weight", &given, "--out", "found"],
        );
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
        let table = std::fs::read_to_string(dir.path().join("found/coordinates.csv")).unwrap();
        let found: f64 = table
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let expected = (0.1 * weight).atan2(weight + 0.29);
        assert!((found - expected).abs() < 1e-9, "{weight}: {found} {expected}");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let arm = scene(dir.path());
    let good = markers(dir.path(), &[0.0, 0.1]);
    let bad = |name: &str, text: &str| write(dir.path(), name, text);
    let head = "time_s,NAME.x_m,NAME.y_m,NAME.z_m\n0,1,2,3\n";
    for (file, more, words) in [
        ("none.csv".to_owned(), &[][..], "cannot read"),
        (
            bad("a.csv", "time_s,a.x_m\n0,1\n"),
            &[],
            "a.csv, line 1: there is no marker",
        ),
        (
            bad("b.csv", &head.replace("NAME", "hnad")),
            &[],
            "did you mean `hand`",
        ),
        (
            bad("c.csv", &head.replace("NAME", "studs")),
            &[],
            "`studs[0]` is the first of them",
        ),
        (
            bad("d.csv", &head.replace("NAME", "studs[7]")),
            &[],
            "is a node of 2 elements",
        ),
        (good.clone(), &["--weight", "hnad=2"], "did you mean `hand`"),
        (good.clone(), &["--weight", "hand=-2"], "must be positive"),
        (
            good.clone(),
            &["--weight", "hand=1", "--weight", "hand=2"],
            "given twice",
        ),
        (good, &["--weight", "hand"], "--weight"),
    ] {
        let words_of = [&["ik", &arm, &file], more].concat();
        let ran = pliant(dir.path(), &words_of);
        assert_eq!(ran.status.code(), Some(2), "{file}: {}", err(&ran));
        assert!(err(&ran).contains(words), "{file}: {}", err(&ran));
    }
}

/// Bodies that are fixed stay, motors of joints hold nothing, and a frame without a marker leaves the
/// positions as they are.
#[test]
fn what_is_fixed_stays_and_motors_are_off() {
    let dir = tempfile::tempdir().unwrap();
    let scene = "(run: (duration: 1), nodes: [
        Bodies(name: \"base\", bodies: [(position: (0, -0.5, 0), mass: 1, shape: Box(1, 1, 1))]),
        Bodies(name: \"arm\", bodies: [(position: (0.5, 0, 0), mass: 1, shape: Box(1, 0.1, 0.1))]),
        Mapped(name: \"hand\", parents: [\"arm\"], mapping: RigidPoints(points: [(0, (0.5, 0, 0))]))],
        joints: [(name: \"shoulder\", kind: Hinge, a: Body(\"base\", 0), b: Body(\"arm\", 0),
            motors: [Position(target: 0)])],
        fixed: [(node: \"base\")])";
    let arm = write(dir.path(), "arm.ron", scene);
    let (s, c) = 0.7f64.sin_cos();
    let text = format!(
        "time_s,hand.x_m,hand.y_m,hand.z_m\n0,{c:?},{s:?},0\n1,,,\n2,{},{},0\n",
        2.0 * s,
        2.0 * c
    );
    let seen = write(dir.path(), "markers.csv", &text);
    let ran = pliant(dir.path(), &["ik", &arm, &seen, "--out", "found"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(out(&ran).contains("1 frames without a marker"), "{}", out(&ran));
    let table = std::fs::read_to_string(dir.path().join("found/coordinates.csv")).unwrap();
    let angles: Vec<f64> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
        .collect();
    // The last place is as far again from the shoulder, whose base does not come along.
    let expected = [0.7, 0.7, std::f64::consts::FRAC_PI_2 - 0.7];
    for (found, expected) in angles.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{angles:?}");
    }
}
