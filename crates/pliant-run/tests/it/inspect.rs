//! Findings of `check`: dependence of hard constraints, directions without mass, overlap, and all
//! that the first step refuses.

use crate::scenes::path;
use pliant_run::{Inspection, Runner};
use pliant_scene::{Format, SceneFile, Settings};

/// The warnings and the other findings about a text.
fn inspected(text: &str) -> (Vec<String>, Inspection) {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap_or_else(|e| panic!("{e}"));
    let built = scene
        .build(&Settings::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let mut runner = Runner::new(built).unwrap_or_else(|e| panic!("{e}"));
    let found = runner.inspect();
    (runner.warnings().iter().map(ToString::to_string).collect(), found)
}

fn notes(found: &Inspection) -> Vec<String> {
    found.notes.iter().map(ToString::to_string).collect()
}

/// A spatial loop of four parallel hinges moves in one way: of 4 x 5 rows on 3 bodies of 6
/// coordinates, 17 are independent, three follow from the others (Gruebler's count is -2).
#[test]
fn a_loop_of_parallel_hinges_has_three_rows_too_many() {
    let text = std::fs::read_to_string(path("four_bar")).unwrap();
    let (warnings, found) = inspected(&text);
    assert!(warnings.is_empty() && found.refusal.is_none(), "{warnings:?}");
    let notes = notes(&found);
    assert_eq!(notes.len(), 1, "{notes:?}");
    let said = "note: 3 of the 20 rows of hard constraints follow from others: of `left`, `right`, `first pin` and `second pin`";
    assert!(notes[0].starts_with(said), "{notes:?}");
    // One ball in the place of a hinge takes two of them away, and one more the last.
    let pin = "(name: \"first pin\", kind: Hinge";
    let (_, found) = inspected(&text.replace(pin, &pin.replace("Hinge", "Ball")));
    assert!(
        self::notes(&found)[0].starts_with("note: 1 of the 18 rows of hard constraints follows from others"),
        "{found:?}"
    );
    let universal = text
        .replace(pin, &pin.replace("Hinge", "Ball"))
        .replace("(name: \"right\", kind: Hinge", "(name: \"right\", kind: Ball");
    let (_, found) = inspected(&universal);
    assert!(found.notes.is_empty(), "{found:?}");
}

const TWO_RODS: &str = "(run: (duration: 0.1, INTEGRATOR), nodes: [
    Particles(name: \"bob\", positions: [(1, 0, 0), (5, 0, 0)], mass: 1),
    Mapped(name: \"rod\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    Mapped(name: \"rod2\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: REST)),
    Mapped(name: \"rod3\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    Mapped(name: \"other\", parents: [\"bob\"], mapping: Distance(pairs: [(1, (4, 0, 0))])),
], constraints: [(name: \"hard\", on: \"rod\"), (name: \"apart\", on: \"other\"), (name: \"second\", on: \"rod2\"), (name: \"third\", on: \"rod3\")])";

/// Three rods between the same ends: two follow from one; if one is longer they contradict each
/// other, and all are named. A rod elsewhere has no part in it.
#[test]
fn contradictions_name_all() {
    let text = TWO_RODS.replace("INTEGRATOR", "step: 0.01");
    let (warnings, found) = inspected(&text.replace("REST", "1"));
    assert!(
        warnings.is_empty() && found.refusal.is_none(),
        "{warnings:?} {found:?}"
    );
    let said =
        "note: 2 of the 4 rows of hard constraints follow from others: of `hard`, `second` and `third`";
    assert!(notes(&found)[0].starts_with(said), "{found:?}");
    let (_, found) = inspected(&text.replace("REST", "1.3"));
    assert!(found.notes.is_empty());
    let refusal = found.refusal.unwrap().to_string();
    // The mean of the three is 1.1: two are off by 0.1, one by 0.2.
    let said = "= note: `hard`, `second` and `third` contradict each other: each may be off by 0.2 m";
    assert!(refusal.contains(said), "{refusal}");
    assert!(
        refusal.starts_with("error: ") && refusal.contains("contradicts"),
        "{refusal}"
    );
}

/// A constraint on what is fixed holds nothing.
#[test]
fn constraints_on_what_cannot_move() {
    let text = "(run: (duration: 0.1, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0), (2, 0, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ], constraints: [(name: \"rod\", on: \"d\")], fixed: [(node: \"p\", elements: [0])])";
    let (_, found) = inspected(text);
    assert!(
        notes(&found)[0].starts_with("note: `rod` holds what nothing can move"),
        "{found:?}"
    );
    let (_, found) = inspected(&text.replace("[0])]", "[1])]"));
    assert!(found.notes.is_empty(), "{found:?}");
}

/// Masses that are nothing beside others are told, unless hard constraints hold what moves.
#[test]
fn directions_without_mass() {
    let text = "(run: (duration: 0.1, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(0, 0, 0), (1, 0, 0)], mass: [1, SMALL]),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Difference(pairs: [(0, 1)])),
    ], LIST: [(name: \"tie\", on: \"d\", LAW)])";
    let spring = text
        .replace("LIST", "force_fields")
        .replace("LAW", "law: Stiffness(100)");
    let (warnings, found) = inspected(&spring.replace("SMALL", "1e-22"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let said = "warning: `p`, element 1 has no mass along x, along y and along z";
    assert!(warnings[0].starts_with(said), "{warnings:?}");
    assert!(found.refusal.is_none());
    let (warnings, _) = inspected(&spring.replace("SMALL", "1e-9"));
    assert!(warnings.is_empty(), "{warnings:?}");
    let held = text
        .replace("LIST", "constraints")
        .replace("LAW", "level: Position");
    let held = held.replace("(1, 0, 0)]", "(0, 0, 0)]");
    let (warnings, _) = inspected(&held.replace("SMALL", "1e-22"));
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// Overlap beyond what contacts leave is told with both names and its depth.
#[test]
fn overlap_is_told_from_the_accuracy_of_contacts_on() {
    let text = "(gravity: (0, 0, -9.81), run: (duration: 0.1, step: 0.01),
        nodes: [Bodies(name: \"a\", bodies: [(position: (0, 0, HEIGHT), shape: Sphere(0.5), mass: 1)])],
        colliders: [Fixed(name: \"ground\", shape: Plane(0, 0, 1)), Bodies(node: \"a\")])";
    for (height, said) in [
        ("0.4", Some("0.1 m")),
        ("0.49", Some("0.01 m")),
        ("0.4975", None),
        ("0.5", None),
    ] {
        let (warnings, found) = inspected(&text.replace("HEIGHT", height));
        assert!(found.refusal.is_none());
        let expected =
            said.map(|depth| format!("warning: `ground` and `a` start {depth} deep in each other"));
        assert_eq!(warnings.len(), usize::from(said.is_some()), "{warnings:?}");
        assert!(
            expected.is_none_or(|said| warnings[0].starts_with(&said)),
            "{warnings:?}"
        );
    }
}

/// Refusals that only the first step finds: here a controller that divides by zero at the start.
#[test]
fn the_first_step_is_taken() {
    let text = "(run: (duration: 0.1, step: 0.01), parameters: {\"k\": 1}, nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], mass: 1),
    ], force_fields: [(name: \"push\", on: \"p\", law: Force([\"$k\", 0, 0]))],
    record: [Position(\"p\")],
    controllers: [(name: \"law\", sets: \"k\", law: Feedback(\"1 / (p.x - START)\"))])";
    assert!(inspected(&text.replace("START", "3")).1.refusal.is_none());
    let (_, found) = inspected(&text.replace("START", "1"));
    assert!(found.refusal.is_some(), "{found:?}");
}

/// Velocities that hard constraints take at the start are told ahead of the run.
#[test]
fn velocities_against_constraints() {
    let text = "(run: (duration: 0.1, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], velocities: [(V, 1, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ], constraints: [(name: \"rod\", on: \"d\")])";
    let (warnings, _) = inspected(&text.replace('V', "1"));
    assert!(
        warnings[0].starts_with("warning: velocities of the start contradict hard constraints"),
        "{warnings:?}"
    );
    assert!(inspected(&text.replace('V', "0")).0.is_empty());
}

/// All shipped scenes are free of warnings and of refusals; notes are of loops that are meant.
#[test]
fn shipped_scenes_are_good() {
    let mut noted = Vec::new();
    let folder = path("pendulum").parent().unwrap().to_owned();
    for folder in [folder.clone(), folder.join("everyday")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "ron") {
                continue;
            }
            let built = SceneFile::load(&path)
                .unwrap()
                .build(&Settings::default())
                .unwrap();
            let mut runner = Runner::new(built).unwrap();
            let found = runner.inspect();
            let list: Vec<_> = runner.warnings().iter().map(ToString::to_string).collect();
            assert!(list.is_empty() && found.refusal.is_none(), "{list:?} {found:?}");
            if !found.notes.is_empty() {
                noted.push(path.file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    noted.sort();
    assert!(noted.contains(&"four_bar".to_owned()), "{noted:?}");
}
