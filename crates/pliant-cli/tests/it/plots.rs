//! `pliant plot`, `pliant components` and `pliant completions`.

use super::{err, out, pliant, scene, write};

/// Columns by name, by name without unit, by their beginning and all of them; a plot for each unit.
#[test]
fn columns_of_results_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let at = |words: &[&str]| pliant(dir.path(), words);
    let file = scene("trebuchet.ron");
    let ran = at(&[
        "run",
        file.to_str().unwrap(),
        "--duration",
        "0.05",
        "--out",
        "t",
        "-q",
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let listed = out(&at(&["plot", "t", "--list"]));
    assert!(listed.starts_with("time_s\n"), "{listed}");
    let first = listed.lines().nth(1).unwrap().to_owned();
    let (short, unit) = first.rsplit_once('_').unwrap();
    let svg = |words: &[&str]| {
        let made = at(words);
        assert_eq!(made.status.code(), Some(0), "{words:?}: {}", err(&made));
        let path = out(&made).trim().strip_prefix("written: ").unwrap().to_owned();
        std::fs::read_to_string(dir.path().join(path)).unwrap()
    };
    let one = svg(&["plot", "t", short]);
    assert!(
        one.contains(&format!(">[{unit}]<")) && one.contains(">time [s]<"),
        "{one}"
    );
    assert_eq!(one.matches("<g fill=\"none\"").count(), 1);
    assert_eq!(svg(&["plot", "t/probes.csv", &first, "-o", "other.svg"]), one);
    let energies = svg(&["plot", "t/energy.csv", "kin*", "potential_J", "residual"]);
    assert_eq!(energies.matches("<g transform").count(), 2, "J and no unit");
    let three = svg(&["plot", "t/energy.csv", "-o", "three.svg"]);
    assert_eq!(three.matches("<g fill=\"none\"").count(), 3, "curves");
    assert!(
        ["kinetic", "potential", "total"]
            .iter()
            .all(|name| three.contains(&format!(">{name}<"))),
        "{three}"
    );
    let over = svg(&[
        "plot",
        "t/energy.csv",
        "kinetic_J",
        "--over",
        "potential",
        "-o",
        "x.svg",
    ]);
    assert!(over.contains(">potential [J]<"), "{over}");
}

#[test]
fn plots_that_cannot_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let many: Vec<String> = (0..10).map(|k| format!("x{k}_m")).collect();
    let zeros = ["0"; 11].join(",");
    write(
        dir.path(),
        "many.csv",
        &format!("time_s,{}\n{zeros}\n", many.join(",")),
    );
    write(dir.path(), "ragged.csv", "a,b\n1,2\n3\n");
    write(dir.path(), "empty.csv", "");
    write(dir.path(), "single.csv", "time_s\n1\n");
    write(dir.path(), "noise.csv", "\u{0}\"");
    std::fs::write(dir.path().join("bytes.csv"), [0xff, 0xfe, 0x00]).unwrap();
    std::fs::create_dir(dir.path().join("results")).unwrap();
    for (words, code, said) in [
        (&["nowhere.csv"][..], 2, "cannot read nowhere.csv"),
        (&["results"], 2, "no table of a run in results"),
        (&["many.csv"], 2, "10 columns have the unit `m`"),
        (&["many.csv", "x11"], 2, "did you mean `x1`?"),
        (&["many.csv", "x1", "--over", "x*"], 2, "there is one axis"),
        (&["ragged.csv"], 2, "line 3 has 1 values"),
        (&["empty.csv"], 2, "the table is empty"),
        (&["single.csv"], 2, "one column only"),
        (&["noise.csv"], 2, "a quote in line 1 is not closed"),
        (&["bytes.csv"], 2, "cannot read bytes.csv"),
        (
            &["many.csv", "x1", "-o", "no/where.svg"],
            5,
            "cannot write no/where.svg",
        ),
    ] {
        let words: Vec<&str> = std::iter::once("plot").chain(words.iter().copied()).collect();
        let refused = pliant(dir.path(), &words);
        assert_eq!(refused.status.code(), Some(code), "{words:?}: {}", err(&refused));
        assert!(err(&refused).contains(said), "{words:?}: {}", err(&refused));
    }
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let dir = tempfile::tempdir().unwrap();
    let made = pliant(dir.path(), &["man", "."]);
    assert_eq!(made.status.code(), Some(0));
    for name in ["pliant", "pliant-run", "pliant-sweep", "pliant-view"] {
        let page = std::fs::read_to_string(dir.path().join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
    let nowhere = pliant(dir.path(), &["man", "missing"]);
    assert_eq!(nowhere.status.code(), Some(5));
}

/// The scripts know the commands.
#[test]
fn shells_get_their_completions() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = pliant(dir.path(), &["completions", shell]);
        assert_eq!((script.status.code(), err(&script).as_str()), (Some(0), ""));
        let text = out(&script);
        assert!(
            text.contains("pliant") && text.contains("sweep") && text.contains("checkpoint-every"),
            "{shell}"
        );
    }
    let unknown = pliant(dir.path(), &["completions", "dos"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", err(&unknown));
}

/// Kinds, their keys with units, and the nearest name of one that there is not.
#[test]
fn components_are_listed_with_their_keys() {
    let dir = tempfile::tempdir().unwrap();
    let at = |words: &[&str]| pliant(dir.path(), words);
    let all = out(&at(&["components"]));
    for line in ["mapping: ", "nodes: Particles", "colliders: "] {
        assert!(all.contains(line), "{line} {all}");
    }
    let particles = out(&at(&["components", "Particles"]));
    assert!(
        particles.starts_with("Particles, a kind of `nodes`:\n"),
        "{particles}"
    );
    let line = |key: &str| {
        particles
            .lines()
            .find(|line| line.trim_start().starts_with(key))
            .unwrap()
    };
    assert!(line("name").contains("required  text"), "{particles}");
    assert!(
        line("positions").ends_with("list of (number in m, number in m, number in m)"),
        "{particles}"
    );
    let several = out(&at(&["components", "Distance"]));
    assert!(
        several.contains("a kind of `mapping`") && several.contains("a kind of `record`"),
        "{several}"
    );
    let alone = out(&at(&["components", "Hinge"]));
    assert_eq!(
        alone,
        "Hinge, a kind of `kind`: without a value\n      Turns: `angle`.\n"
    );
    let unknown = at(&["components", "Particels"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        err(&unknown).contains("did you mean `Particles`?"),
        "{}",
        err(&unknown)
    );
}

/// Paths of equilibria have their loads beside the probes, and are drawn over them.
#[test]
fn probes_of_a_path_are_drawn_over_the_load() {
    let dir = tempfile::tempdir().unwrap();
    let at = |words: &[&str]| pliant(dir.path(), words);
    let text = "(gravity: (0, 0, -10), run: (duration: 1, statics: (gravity: true)), nodes: [
        Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1),
    ], force_fields: [(name: \"spring\", on: \"p\", law: Stiffness(100))], record: [Position(\"p\")])";
    let file = write(dir.path(), "path.ron", text);
    let ran = at(&["run", &file, "--out", "path"]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", out(&ran), err(&ran));
    let listed = out(&at(&["plot", "path/probes.csv", "--list"]));
    assert!(listed.starts_with("time_s\nload\n"), "{listed}");
    // A spring of 100 N/m under the share `load` of 10 N.
    let csv = std::fs::read_to_string(dir.path().join("path/probes.csv")).unwrap();
    let last: Vec<f64> = csv
        .lines()
        .last()
        .unwrap()
        .split(',')
        .map(|x| x.parse().unwrap())
        .collect();
    assert_eq!(last[1], 1.0);
    assert!((last.last().unwrap() + 0.1).abs() < 1e-12, "{last:?}");
    for words in [
        &["plot", "path/probes.csv", "--over", "load"][..],
        &["plot", "path/path.csv"],
    ] {
        let made = at(words);
        assert_eq!(made.status.code(), Some(0), "{}", err(&made));
        let path = out(&made).trim().strip_prefix("written: ").unwrap().to_owned();
        let svg = std::fs::read_to_string(dir.path().join(path)).unwrap();
        assert!(svg.contains(">load<"), "{svg}");
    }
}
