//! `pliant modes`: frequencies and buckling loads of scenes.

use super::{err, out, pliant, write};

/// A bead of 2 kg on a spring of 800 N/m, which moves along x alone.
const BEAD: &str = "(run: (duration: 1), nodes: [
    Particles(name: \"bead\", positions: [(1, 0, 0)], mass: 2),
    Mapped(name: \"length\", parents: [\"bead\"], mapping: Distance(pairs: [(0, (0, 0, 0))]))],
    force_fields: [(name: \"spring\", on: \"length\", law: Stiffness(800))],
    fixed: [(node: \"bead\", axes: [y, z])])";

/// Two bars of stiffness 1000 N/m over a rise of 0.2 m, as in von Mises' truss.
const TRUSS: &str = "(run: (duration: 1, statics: (loads: [\"push\"])), nodes: [
    Particles(name: \"apex\", positions: [(0, 0.2, 0)], mass: 1),
    Mapped(name: \"bars\", parents: [\"apex\"], mapping: Distance(pairs: [(0, (-1, 0, 0)), (0, (1, 0, 0))]))],
    force_fields: [(name: \"springs\", on: \"bars\", law: Stiffness(1000)),
        (name: \"push\", on: \"apex\", law: Force([0, -1, 0]))],
    fixed: [(node: \"apex\", axes: [x, z])])";

#[test]
fn frequencies_are_printed_and_shapes_written() {
    let dir = tempfile::tempdir().unwrap();
    let bead = write(dir.path(), "bead.ron", BEAD);
    let ran = pliant(dir.path(), &["modes", &bead, "--out", "shapes"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    // 20 rad/s.
    let text = out(&ran);
    for words in [
        "the lowest 1 of 1, none missed",
        "3.1831",
        "20",
        "100.0 %",
        "wrote 1 pages",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for file in ["mode-1.html", "mode-1/particles.pvd"] {
        assert!(dir.path().join("shapes").join(file).exists(), "{file}");
    }
    let ran = pliant(dir.path(), &["modes", &bead, "--json"]);
    let facts: serde_json::Value = serde_json::from_str(&out(&ran)).unwrap();
    let frequency = facts["modes"][0]["angular_frequency"].as_f64().unwrap();
    assert!((frequency - 20.0).abs() < 1e-12, "{frequency}");
    assert_eq!(
        (&facts["all"], &facts["modes"][0]["kind"]),
        (&1.into(), &"vibration".into())
    );
}

#[test]
fn buckling_takes_the_loads_of_the_scene_or_those_named() {
    let dir = tempfile::tempdir().unwrap();
    let truss = write(dir.path(), "truss.ron", TRUSS);
    for loads in [&[][..], &["--load", "push"]] {
        let words = [&["modes", &truss, "--buckling", "--json"], loads].concat();
        let ran = pliant(dir.path(), &words);
        let facts: serde_json::Value = serde_json::from_str(&out(&ran)).unwrap();
        let factor = facts["buckling_modes"][0]["factor"].as_f64().unwrap();
        // 2 k r^3; forces are differences over 3e-5 of the size.
        assert!((factor - 16.0).abs() < 1e-7, "{factor}");
        assert_eq!(facts["complete"], true);
    }
    // Gravity is none.
    let ran = pliant(dir.path(), &["modes", &truss, "--buckling", "--load", "gravity"]);
    assert!(out(&ran).contains("do not buckle it"), "{}", out(&ran));
}

#[test]
fn mistakes_have_a_code_and_a_suggestion() {
    let dir = tempfile::tempdir().unwrap();
    let truss = write(dir.path(), "truss.ron", TRUSS);
    let falling = write(
        dir.path(),
        "falling.ron",
        "(gravity: (0, -9.81, 0), run: (duration: 1), nodes: [
            Particles(name: \"stone\", positions: [(0, 0, 0)], mass: 2)])",
    );
    for (words, code, said) in [
        (
            vec!["modes", &truss, "--buckling", "--load", "pusch"],
            2,
            "did you mean `push`",
        ),
        (vec!["modes", &truss, "--load", "push"], 2, "--buckling"),
        (vec!["modes", &truss, "--count", "0"], 2, "from 1 on"),
        (vec!["modes", &truss, "--tolerance", "nan"], 2, "above zero"),
        (
            vec!["modes", &truss, "--buckling", "--at", "nan"],
            2,
            "a finite number",
        ),
        (vec!["modes", "nothing.ron"], 2, "nothing.ron"),
        (vec!["modes", &falling], 3, "--present"),
    ] {
        let ran = pliant(dir.path(), &words);
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {}", err(&ran));
        assert!(err(&ran).contains(said), "{words:?}: {}", err(&ran));
    }
    let ran = pliant(dir.path(), &["modes", &falling, "--present"]);
    assert!(out(&ran).contains("free"), "{}", err(&ran));
}

/// Files that an earlier search left and this one does not find would be taken for its own.
#[test]
fn modes_of_an_earlier_search_do_not_stay() {
    let dir = tempfile::tempdir().unwrap();
    let two = BEAD.replace("axes: [y, z]", "axes: [z]");
    let bead = write(dir.path(), "bead.ron", &two);
    let find = |count: &str| {
        let ran = pliant(
            dir.path(),
            &["modes", &bead, "-n", count, "--present", "--out", "mo"],
        );
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    };
    let there = |name: &str| dir.path().join("mo").join(name).exists();
    find("2");
    assert!(there("mode-2.html") && there("mode-2/particles.pvd"));
    for mine in ["mo/mode-x.html", "mo/mode-1.txt", "mo/notes"] {
        std::fs::write(dir.path().join(mine), "mine").unwrap();
    }
    find("1");
    assert!(there("mode-1.html") && there("mode-1/particles.pvd"));
    assert!(!there("mode-2.html") && !there("mode-2"));
    assert!(there("mode-x.html") && there("mode-1.txt") && there("notes"));
}
