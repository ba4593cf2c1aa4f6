//! The summary of a run.

use super::{err, out, pliant, write};

/// Last values of at most eight probes are printed, and those that a page of results has.
#[test]
fn the_summary_ends_with_the_probes() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(run: (duration: 1, step: 0.1), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], velocities: [(2, 0, 0)], mass: 1)],
        record: [Position(\"p\")])";
    let file = write(dir.path(), "free.ron", text);
    let ran = pliant(dir.path(), &["run", &file, "--out", "free"]);
    let said = out(&ran);
    let row = said
        .lines()
        .find(|line| line.starts_with("probes "))
        .unwrap_or_default();
    assert!(row.contains("x = 2 at the end"), "{said}");
    let told = out(&pliant(dir.path(), &["info", "free"]));
    assert!(told.contains("x = 2,"), "{told}");
}

/// Of an equilibrium alone there is no range of loads, and of one that is not found no picture.
#[test]
fn equilibria_say_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let held = "(gravity: (0, 0, -9.81), run: (duration: 1, statics: ()), nodes: [
        Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1),
    ], force_fields: [(name: \"spring\", on: \"p\", law: Stiffness(100))])";
    let file = write(dir.path(), "held.ron", held);
    let said = out(&pliant(dir.path(), &["run", &file, "--out", "held"]));
    assert!(
        said.contains("end: equilibrium") && said.contains("play.html"),
        "{said}"
    );
    assert!(
        !said.contains("load factor") && !said.contains("solved to 0 of"),
        "{said}"
    );
    let free = held.replace(
        ", force_fields: [(name: \"spring\", on: \"p\", law: Stiffness(100))]",
        "",
    );
    let file = write(dir.path(), "free.ron", &free);
    let ran = pliant(dir.path(), &["run", &file, "--out", "free"]);
    let said = out(&ran);
    assert!(said.contains("statics  none was found"), "{said}{}", err(&ran));
    assert!(
        !said.contains("play.html") && !said.contains("0 points"),
        "{said}"
    );
}
