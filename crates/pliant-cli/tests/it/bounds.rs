//! Files that the program reads, and their sizes.

use crate::{err, out, pliant, write};
use std::path::Path;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/// A directory with a scene in `scenes`, whose mesh is in `meshes` beside it.
fn apart() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["scenes", "meshes"] {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    write(dir.path(), "meshes/a.obj", TRIANGLE);
    let scene = "(run: (duration: 0.01), nodes: [Net(name: \"n\", mesh: \"../meshes/a.obj\", mass: 1)])";
    write(dir.path(), "scenes/s.ron", scene);
    dir
}

#[test]
fn meshes_elsewhere_are_allowed_on_the_command_line() {
    let dir = apart();
    for command in ["check", "run"] {
        let refused = pliant(dir.path(), &[command, "scenes/s.ron"]);
        assert_eq!(refused.status.code(), Some(2));
        let message = err(&refused);
        assert!(
            message.contains("the mesh \"../meshes/a.obj\" is not in the folder of the scene"),
            "{message}"
        );
        assert!(message.contains("help: `--allow-outside DIR`"), "{message}");
        let allowed = pliant(
            dir.path(),
            &[command, "scenes/s.ron", "--allow-outside", "meshes"],
        );
        assert_eq!(allowed.status.code(), Some(0), "{}", err(&allowed));
    }
    // From within the directory of the scene, whose path is then empty.
    let inside = dir.path().join("scenes");
    assert_eq!(pliant(&inside, &["check", "s.ron"]).status.code(), Some(2));
    let allowed = pliant(&inside, &["check", "s.ron", "--allow-outside", ".."]);
    assert_eq!(allowed.status.code(), Some(0), "{}", err(&allowed));
    for missing in ["nothing", "s.ron"] {
        let refused = pliant(&inside, &["check", "s.ron", "--allow-outside", missing]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            err(&refused).contains("there is no such directory"),
            "{}",
            err(&refused)
        );
    }
    std::fs::rename(dir.path().join("meshes"), inside.join("meshes")).unwrap();
    let text = std::fs::read_to_string(inside.join("s.ron")).unwrap();
    write(&inside, "s.ron", &text.replace("../meshes", "meshes"));
    assert_eq!(pliant(&inside, &["check", "s.ron"]).status.code(), Some(0));
}

#[test]
fn limits_are_options() {
    let dir = apart();
    let check = |arguments: &[&str]| {
        let all = ["check", "scenes/s.ron", "--allow-outside", "."];
        pliant(dir.path(), &[&all[..], arguments].concat())
    };
    // Three points and three lengths.
    let few = check(&["--max-elements", "5"]);
    assert_eq!(few.status.code(), Some(2));
    assert!(
        err(&few).contains("has 6 elements, more than the limit of 5"),
        "{}",
        err(&few)
    );
    assert_eq!(check(&["--max-elements", "6"]).status.code(), Some(0));
    let empty = check(&["--max-file-size", "0"]);
    assert!(
        err(&empty).contains("cannot read the scene scenes/s.ron: it has"),
        "{}",
        err(&empty)
    );
    assert_eq!(check(&["--max-file-size", "1"]).status.code(), Some(0));
    let problem = pliant(dir.path(), &["solve", "scenes/s.ron", "--max-file-size", "0"]);
    assert!(
        err(&problem).contains("more than the limit of 0"),
        "{}",
        err(&problem)
    );
    assert_eq!(check(&["--max-elements", "-1"]).status.code(), Some(2));
}

/// Scenes that ask for as much as they may, and more, where memory is short: the program ends with
/// a code of its own, and is not broken off.
#[cfg(target_os = "linux")]
#[test]
fn a_lack_of_memory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let scene = |nodes: &str| format!("(run: (duration: 0.01), nodes: [{nodes}])");
    let solid = |cells: &str| {
        scene(&format!(
            "Solid(name: \"s\", shape: Box(size: (1, 1, 1), cells: {cells}), \
             material: Linear(young: 1e6, poisson: 0.3), density: 1000)"
        ))
    };
    let points = "Particles(name: \"s\", line: (from: (0, 0, 0), to: (1, 0, 0), count: 1000000), mass: 1)";
    let still = "Particles(name: \"s\", positions: [(0, 0, 0)], mass: 1)";
    for (text, command, room, code, message) in [
        (
            solid("(2, 1000000, 4)"),
            "check",
            4_000_000,
            2,
            "has 143000015 elements",
        ),
        (
            solid("(1000000, 1000000, 1000000)"),
            "check",
            4_000_000,
            2,
            "elements",
        ),
        // Its first step is taken.
        (scene(points), "check", 4_500_000, 0, ""),
        // Ten million lines of a table.
        (
            scene(still).replace("0.01", "1, step: 1e-7"),
            "run",
            1_000_000,
            2,
            "GB, which the system does not grant",
        ),
        // A factor.
        (
            solid("(24, 24, 24)").replace("0.01", "0.01, linear: Direct"),
            // Stacks and heaps of threads take room of their own. The model takes less than 0.6 GB, the
            // factor 0.7.
            "run --no-files --threads 1",
            800_000,
            4,
            "the factor of the matrix takes",
        ),
    ] {
        write(dir.path(), "s.ron", &text);
        let output = limited(dir.path(), room, &format!("{command} s.ron"));
        assert_eq!(
            output.status.code(),
            Some(code),
            "{}{}",
            out(&output),
            err(&output)
        );
        assert!(err(&output).contains(message), "{}", err(&output));
    }
}

/// A problem of so many unknowns that do not know of each other.
fn diagonal(dir: &Path, kind: &str, size: usize) {
    let (field, symmetry, rest) = if kind == "kkt" {
        let empty = "[\"%%MatrixMarket matrix coordinate real general\", \"0 COLUMNS 0\"]";
        let of = |columns: usize| empty.replace("COLUMNS", &columns.to_string());
        let rest = format!(
            "\"c\": {:?}, \"b\": [], \"J\": {{\"lines\": {}}}, \"R\": {{\"lines\": {}}}",
            vec![1; size],
            of(size),
            of(0)
        );
        ("W", "symmetric", rest)
    } else {
        let rest = format!(
            "\"b\": {:?}, \"cones\": {:?}",
            vec![-1; size],
            vec!["nonnegative"; size]
        );
        ("A", "general", rest)
    };
    let entries: String = (1..=size).map(|i| format!(", \"{i} {i} 1\"")).collect();
    let text = format!(
        "{{\"format\": \"pliant-problem\", \"version\": 1, \"kind\": \"{kind}\", {rest}, \"{field}\": {{\"lines\": \
         [\"%%MatrixMarket matrix coordinate real {symmetry}\", \"{size} {size} {size}\"{entries}]}}}}"
    );
    write(dir, &format!("{kind}.json"), &text);
}

/// The square of the unknowns would not fit into memory.
#[test]
fn methods_with_whole_matrices_refuse_large_problems() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, dense, sparse) in [
        (
            "kkt",
            ["dense", "cholesky", "dense-ldlt", "bunch-kaufman"].as_slice(),
            "direct",
        ),
        (
            "complementarity",
            &["lemke", "murty", "block-pivoting", "dantzig", "active-set"],
            "gauss-seidel",
        ),
    ] {
        diagonal(dir.path(), kind, 30_000);
        let file = format!("{kind}.json");
        for solver in dense {
            let output = pliant(dir.path(), &["solve", &file, "--solver", solver]);
            assert_eq!(output.status.code(), Some(2));
            let wanted = format!("`{solver}` keeps whole matrices and takes at most 10000 unknowns");
            assert!(err(&output).contains(&wanted), "{}", err(&output));
        }
        let output = pliant(dir.path(), &["solve", &file, "--solver", sparse]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        diagonal(dir.path(), kind, 100);
        let output = pliant(dir.path(), &["solve", &file, "--solver", dense[0]]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    }
}

/// Sides of a friction pyramid are columns of a linear problem.
#[test]
fn pyramids_have_a_bounded_number_of_sides() {
    let dir = tempfile::tempdir().unwrap();
    for (sides, code) in [("1000", 0), ("1001", 2), ("1000000000000000000", 2)] {
        let text = format!(
            "{{\"format\": \"pliant-problem\", \"version\": 1, \"kind\": \"complementarity\", \"b\": [-1, 0, 0], \
             \"cones\": [{{\"pyramid\": [0.5, {sides}, 0]}}], \"A\": {{\"lines\": [\"%%MatrixMarket matrix coordinate \
             real general\", \"3 3 3\", \"1 1 1\", \"2 2 1\", \"3 3 1\"]}}}}"
        );
        write(dir.path(), "p.json", &text);
        let output = pliant(dir.path(), &["solve", "p.json", "--solver", "lemke"]);
        assert_eq!(output.status.code(), Some(code), "{}", err(&output));
        assert!(code == 0 || err(&output).contains("the number of facets, at most 1000"));
    }
}

/// Runs the program with room for so many KiB.
#[cfg(target_os = "linux")]
fn limited(dir: &Path, room: usize, arguments: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_pliant");
    let script = format!("ulimit -v {room} && exec '{program}' {arguments}");
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(dir).args(["-c", &script]).output().unwrap()
}
