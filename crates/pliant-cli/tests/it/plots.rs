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
    write(dir.path(), "words.csv", "time_s,status,x_m\n0,ok,1\n1,failed,\n");
    write(dir.path(), "names.csv", "time_s,x_m\n");
    write(dir.path(), "text.csv", "job,status\na,ok\n");
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
        (
            &["words.csv", "status"],
            2,
            "the column `status` is text, such as `ok`",
        ),
        (
            &["words.csv", "x", "--over", "status"],
            2,
            "the column `status` is text",
        ),
        (&["text.csv"], 2, "the column `status` is text, such as `ok`"),
        (&["names.csv"], 2, "no line of numbers"),
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

/// A picture replaces pictures alone: no scene, no table, and nothing that is no file.
#[test]
fn pictures_are_written_over_pictures_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    write(dir.path(), "t.csv", "time_s,x_m\n0,1\n1,2\n");
    let scene = write(
        dir.path(),
        "s.ron",
        "(run: (duration: 0.01), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])",
    );
    std::fs::create_dir(path("folder.svg")).unwrap();
    std::fs::create_dir(path("folder.png")).unwrap();
    let plot = ["plot", "t.csv", "-o"];
    let render = ["render", &scene, "--size", "8x8", "-o"];
    for (words, name, code, said) in [
        (
            &plot[..],
            "t.csv",
            2,
            "the name of the picture ends in `.svg`: `-o t.svg`",
        ),
        (&plot, "picture", 2, "`-o picture.svg`"),
        (&plot, "-", 2, "not to standard output"),
        (&plot, "folder.svg", 5, "folder.svg is there and is no file"),
        (
            &render,
            "s.ron",
            2,
            "the name of the picture ends in `.png`: `-o s.png`",
        ),
        (&render, "-", 2, "not to standard output"),
        (&render, "folder.png", 5, "folder.png is there and is no file"),
    ] {
        let before = std::fs::read(path(name)).ok();
        let refused = pliant(dir.path(), &[words, &[name]].concat());
        assert_eq!(refused.status.code(), Some(code), "{name}: {}", err(&refused));
        assert!(err(&refused).contains(said), "{name}: {}", err(&refused));
        assert_eq!(std::fs::read(path(name)).ok(), before, "{name}");
    }
    let frames = pliant(dir.path(), &["render", &scene, "--frames", "-o", "t.csv"]);
    assert_eq!(frames.status.code(), Some(5), "{}", err(&frames));
    assert!(err(&frames).contains("is no directory"), "{}", err(&frames));
    for words in [&plot[..], &render] {
        let name = if words[0] == "plot" { "new.SVG" } else { "new.PNG" };
        for _ in 0..2 {
            let made = pliant(dir.path(), &[words, &[name]].concat());
            assert_eq!(made.status.code(), Some(0), "{}", err(&made));
        }
    }
}

/// A link stays one, and a pipe a pipe.
#[cfg(unix)]
#[test]
fn pictures_follow_links_and_replace_no_pipe() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    write(dir.path(), "t.csv", "time_s,x_m\n0,1\n1,2\n");
    write(dir.path(), "real.svg", "old");
    symlink("real.svg", path("link.svg")).unwrap();
    symlink("t.csv", path("table.svg")).unwrap();
    symlink("nothing.svg", path("loose.svg")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(path("pipe.svg"))
        .status();
    assert!(pipe.unwrap().success());
    let plot = |name: &str| pliant(dir.path(), &["plot", "t.csv", "-o", name]);
    let made = plot("link.svg");
    assert_eq!(made.status.code(), Some(0), "{}", err(&made));
    assert!(path("link.svg").symlink_metadata().unwrap().is_symlink());
    assert!(
        std::fs::read_to_string(path("real.svg"))
            .unwrap()
            .contains("<svg")
    );
    for (name, said) in [
        ("table.svg", "which is no picture by its name"),
        ("loose.svg", "a link to a file that is not there"),
        ("pipe.svg", "pipe.svg is there and is no file"),
    ] {
        let refused = plot(name);
        assert_eq!(refused.status.code(), Some(5), "{name}: {}", err(&refused));
        assert!(err(&refused).contains(said), "{name}: {}", err(&refused));
    }
    assert!(
        std::fs::read_to_string(path("t.csv"))
            .unwrap()
            .starts_with("time_s")
    );
    assert!(path("pipe.svg").symlink_metadata().unwrap().file_type().is_fifo());
    assert!(!path("nothing.svg").exists());
}

/// Text that cannot be written to standard output is an error of every command.
#[cfg(unix)]
#[test]
fn lost_output_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", "time_s,x_m\n0,1\n1,2\n");
    let pendulum = scene("pendulum.ron");
    let file = pendulum.to_str().unwrap();
    for words in [
        &["--help"][..],
        &["run", "--help"],
        &["--version"],
        &["components"],
        &["schema"],
        &["completions", "bash"],
        &["new"],
        &["check", file],
        &["info", file, "--json"],
        &["plot", "t.csv", "--list"],
        &["run", file, "--no-files", "--duration", "0.1"],
        &["run", file, "--no-files", "--duration", "0.1", "--json"],
        &["gradient", file, "bob", "--duration", "0.1"],
        &["modes", file],
        &["sweep", file, "--set", "length=1,2", "--dry-run"],
    ] {
        // Files may not grow: writing to one is an error, as on a full disk.
        let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\" > out.txt";
        let program = env!("CARGO_BIN_EXE_pliant");
        let ran = std::process::Command::new("sh")
            .current_dir(dir.path())
            .args(["-c", limited, program])
            .args(words)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(5), "{words:?}: {}", err(&ran));
        let said = err(&ran);
        let count = said.matches("error: cannot write to standard output: ").count();
        assert_eq!(count, 1, "{words:?}: {said}");
    }
}
