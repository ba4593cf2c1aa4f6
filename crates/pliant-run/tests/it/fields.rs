//! Stress and strain of scenes: probes, pictures, and what is said where one is wrong.

use crate::drawn::assert_drawn;
use crate::probes::{measured, runner};
use pliant_output::recording::RegionKind;
use pliant_run::{Every, ResultDirectory, Runner, write_into, write_results};
use pliant_scene::{Format, SceneError, SceneFile, Settings};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// A scene with every word of stress and strain.
pub(crate) const FIELDS: &str = include_str!("words/fields.ron");

fn try_runner(text: &str) -> Result<Runner, SceneError> {
    let scene = SceneFile::from_text("fields.ron".as_ref(), text, Format::Ron)?;
    Runner::new(scene.build(&Settings::default())?)
}

/// A bar that is pulled by 2 N over 0.01 m^2, at rest.
const BAR: &str = r#"(
    run: (duration: 1, statics: ()),
    nodes: [
        Solid(
            name: "bar", shape: Box(size: (1, 0.1, 0.1), cells: (4, 1, 1)), density: 1,
            material: Linear(young: 1e6, poisson: 0.3), symmetry: [(axis: x), (axis: y), (axis: z)],
        ),
        Mapped(name: "end", parents: ["bar"], mapping: Subset(elements: [4, 9, 14, 19])),
    ],
    force_fields: [(name: "pull", on: "end", law: Force([0.5, 0, 0]))],
    record: [Stress("bar"), Stress("bar", 0), Strain("bar", 19), Gauge(name: "middle", on: "bar", at: (0.49, 0.2, 0))],
)"#;

/// The columns of a table with their units, and the closed form of a bar in tension.
#[test]
fn probes_of_a_bar_are_the_stress_of_its_force() {
    let (outcome, table) = measured(BAR);
    let stress = ["xx", "yy", "zz", "xy", "yz", "zx"].map(|axis| format!("stress_{axis}_Pa"));
    let strain = ["xx", "yy", "zz", "xy", "yz", "zx"].map(|axis| format!("strain_{axis}"));
    let mut expected: Vec<String> = vec!["time_s".to_owned(), "bar.von_mises_max_Pa".to_owned()];
    let at = |thing: &str, names: &[String]| names.iter().map(|n| format!("{thing}.{n}")).collect::<Vec<_>>();
    let equivalents = ["von_mises_Pa".to_owned(), "pressure_Pa".to_owned()];
    expected.extend(at("bar[0]", &stress));
    expected.extend(at("bar[0]", &equivalents));
    expected.extend(at("bar[19]", &strain));
    expected.extend(at("middle", &stress));
    expected.extend(at("middle", &equivalents));
    expected.extend(at("middle", &strain));
    assert_eq!(outcome.recording.probes.columns, expected[1..]);
    let last = |name: &str| *table[name].last().unwrap();
    let near = |found: f64, exact: f64| assert!((found - exact).abs() < 1e-6 * 200.0, "{found} {exact}");
    near(last("bar.von_mises_max_Pa"), 200.0);
    near(last("bar[0].stress_xx_Pa"), 200.0);
    near(last("bar[0].stress_yy_Pa"), 0.0);
    near(last("bar[0].pressure_Pa"), -200.0 / 3.0);
    near(1e6 * last("bar[19].strain_xx"), 200.0);
    near(1e6 * last("middle.strain_zz"), -60.0);
    near(last("middle.stress_xx_Pa"), 200.0);
}

/// A bar of two materials and densities that hangs from its end: `F/A = g (rho_r l_r + rho_l x)`, in
/// probes and in the cells of pictures; at points between both, the mean of the cells beside them.
#[test]
fn a_bar_of_two_materials_has_the_stress_of_its_weight() {
    let text = r#"(
        gravity: (10, 0, 0), run: (duration: 1, statics: ()),
        nodes: [Solid(
            name: "bar", shape: Box(size: (2, 0.1, 0.1), cells: (20, 1, 1)), density: 100,
            fix_boxes: [((-3, -3, -3), (0.001, 3, 3))],
            materials: [
                (name: "left", elements: Box((0, 0, 0), (1, 1, 1)), material: Corotational(young: 1e6, poisson: 0)),
                (name: "right", elements: Box((1, 0, 0), (2, 1, 1)), material: Corotational(young: 2e6, poisson: 0), density: 300),
            ],
        )],
        record: [Gauge(name: "l", on: "bar", at: (0.5, 0, 0)), Gauge(name: "m", on: "bar", at: (1, 0, 0)), Gauge(name: "r", on: "bar", at: (1.5, 0, 0))],
    )"#;
    let (outcome, table) = measured(text);
    let stress = |x: f64| match x < 1.0 {
        true => 10.0 * (300.0 + 100.0 * (1.0 - x)),
        false => 3000.0 * (2.0 - x),
    };
    let last = |name: &str| *table[name].last().unwrap();
    for (name, exact) in [
        ("l", stress(0.5)),
        ("m", 0.5 * (stress(0.95) + stress(1.05))),
        ("r", stress(1.5)),
    ] {
        let found = last(&format!("{name}.stress_xx_Pa"));
        assert!((found - exact).abs() < 1e-6 * exact, "{name}: {found} {exact}");
    }
    // The logarithm of the stretch of a corotational bar, of a point the mean of its two cells.
    for (name, x, young) in [("l", 0.5, 1e6), ("r", 1.5, 2e6)] {
        let exact = [x - 0.05, x + 0.05].map(|x| 0.5 * (1.0 + stress(x) / young).ln());
        let found = last(&format!("{name}.strain_xx"));
        assert!(
            (found - exact.iter().sum::<f64>()).abs() < 1e-10,
            "{name}: {found}"
        );
    }
    let region = &outcome.recording.regions[0];
    let cells = region
        .cell_fields
        .iter()
        .position(|field| field.name == "stress")
        .unwrap();
    let values = &outcome.recording.frames.last().unwrap().regions[0].cell_values[cells];
    assert_eq!(values.len(), 20 * 6);
    for (k, cell) in values.chunks(6).enumerate() {
        let exact = stress(0.1 * k as f64 + 0.05);
        // Pictures are in single precision.
        assert!(
            (f64::from(cell[0]) - exact).abs() < 1e-6 * exact,
            "{k}: {cell:?} {exact}"
        );
    }
}

/// A bar of enhanced elements that hangs from its end has the stress of its weight, in either kind,
/// of a law of strains and of a hyperelastic one whose strains are small.
#[test]
fn enhanced_elements_have_the_stress_of_the_weight() {
    for (kind, material) in [
        ("Bending", "Corotational(young: 1e6, poisson: 0)"),
        ("BendingAndVolume", "Corotational(young: 1e6, poisson: 0)"),
        ("Bending", "MooneyRivlin(c1: 1e8, bulk: 1e9)"),
    ] {
        let text = format!(
            r#"(
            gravity: (10, 0, 0), run: (duration: 1, statics: ()),
            nodes: [Solid(
                name: "bar", shape: Box(size: (2, 0.1, 0.1), cells: (20, 1, 1)), density: 100, enhanced_strains: {kind},
                symmetry: [(axis: x), (axis: y), (axis: z)], material: {material},
            )],
            record: [Gauge(name: "m", on: "bar", at: (1, 0, 0)), Stress("bar")],
        )"#
        );
        let (_, table) = measured(&text);
        let found = *table["m.stress_xx_Pa"].last().unwrap();
        // The mean of both cells; strains of 1e-3 change the section by as much.
        assert!((found / 1000.0 - 1.0).abs() < 2e-3, "{kind} {material}: {found}");
    }
}

/// Every word runs; what probes say is what the simulation says, and pictures have it too.
#[test]
fn every_word_of_stress_runs() {
    let outcome = runner(FIELDS).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let recording = &outcome.recording;
    let kinds: Vec<RegionKind> = recording.regions.iter().map(|r| r.kind).collect();
    assert_eq!(kinds, [RegionKind::Solid, RegionKind::Sheet, RegionKind::Rod]);
    assert!(recording.frames.iter().all(|frame| frame.regions.len() == 3));
    let probe = |name: &str| outcome.summary.probes[name].last.unwrap();
    let last = &recording.frames.last().unwrap().regions;
    let names = |k: usize| {
        recording.regions[k]
            .point_fields
            .iter()
            .map(|f| f.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(0),
        ["stress", "von_mises", "pressure", "strain", "plastic_strain"]
    );
    let close = |found: f32, exact: f64| assert!((f64::from(found) - exact).abs() <= 1e-6 * exact.abs());
    close(last[0].point_values[0][6 * 3], probe("bar[3].stress_xx"));
    close(last[0].point_values[1][3], probe("bar[3].von_mises"));
    close(last[1].cell_values[0][3], probe("plate[1].stress_warp"));
    close(last[1].cell_values[3][3], probe("plate[1].moment_warp"));
    close(last[2].cell_values[0][3 * 3 + 2], probe("wire[3].shear_2"));
    close(last[2].cell_values[1][3 * 3 + 1], probe("wire[3].moment_1"));
    // The gauge at the corner is at node 0; that of the end of the wire in its last segment.
    assert_eq!(probe("root.strain_xx"), probe("bar[0].strain_xx"));
    assert_eq!(probe("end.axial"), probe("wire[3].axial"));
    assert!(probe("wire[3].shear_2") != 0.0 && probe("worst").is_finite());
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    for name in ["solids", "sheets", "rods"] {
        assert!(dir.path().join(format!("{name}.pvd")).is_file(), "{name}");
        assert!(
            dir.path().join(format!("frames/{name}_0000.vtu")).is_file(),
            "{name}"
        );
    }
}

/// An event at a stress, in a bar that swings: the stress then is the one that was asked for.
#[test]
fn events_see_stresses() {
    let text = BAR
        .replace(
            "duration: 1, statics: ()",
            "duration: 1, step: 1e-4, event_tolerance: 1e-9",
        )
        .replace(
            "record:",
            "events: [(name: \"crack\", when: \"bar.von_mises_max > 150\", do: [Stop])], record:",
        );
    let outcome = runner(&text).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(outcome.summary.stopped_by.as_ref().unwrap().event, "crack");
    let found = outcome.summary.probes["bar.von_mises_max"].last.unwrap();
    assert!((150.0..150.01).contains(&found), "{found}");
}

/// A solid behind an embedded surface is not drawn; its own points are in its pictures.
#[test]
fn a_solid_that_is_not_drawn_has_points_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let skin =
        "v 0.2 0.2 0.2\nv 0.8 0.2 0.2\nv 0.2 0.8 0.2\nv 0.2 0.2 0.8\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(dir.path().join("skin.obj"), skin).unwrap();
    let text = r#"(
        gravity: (0, 0, -9.81), run: (duration: 0.02, step: 0.01),
        nodes: [
            Solid(
                name: "block", shape: Box(size: (1, 1, 1), cells: (1, 1, 1)), density: 1000,
                material: Corotational(young: 1e6, poisson: 0.3), fix_boxes: [((-1, -1, -1), (2, 2, 0.01))],
            ),
            EmbeddedSurface(name: "skin", solid: "block", shape: (file: "skin.obj")),
        ],
    )"#;
    let path = dir.path().join("hidden.ron");
    std::fs::write(&path, text).unwrap();
    let built = SceneFile::load(&path)
        .unwrap()
        .build(&Settings::default())
        .unwrap();
    let outcome = Runner::new(built).unwrap().run(|_| {});
    let recording = &outcome.recording;
    assert_eq!(
        (recording.regions[0].first_point, recording.regions[0].point_count),
        (None, 8)
    );
    let last = recording.frames.last().unwrap();
    assert_eq!((last.points.len(), last.regions[0].points.len()), (4, 8));
    let found = &outcome.summary.state["block"].positions;
    assert!(
        found
            .iter()
            .zip(&last.regions[0].points)
            .all(|(a, b)| a[..] == b[..])
    );
    let out = dir.path().join("out");
    write_results(&out, &outcome).unwrap();
    assert!(out.join("frames/solids_0001.vtu").is_file());
}

/// A run that was interrupted and resumed leaves the files of one that was not, to the byte; a run
/// without solids in the same directory removes theirs.
#[test]
fn resumed_runs_have_the_same_pictures_and_stale_ones_go() {
    let text = FIELDS.replace("duration: 0.02", "duration: 0.06");
    let whole = tempfile::tempdir().unwrap();
    write_results(whole.path(), &runner(&text).run(|_| {})).unwrap();
    let parts = tempfile::tempdir().unwrap();
    let every = Every::Steps(NonZeroUsize::new(2).unwrap());
    {
        let directory = ResultDirectory::take(parts.path()).unwrap();
        let runner = runner(&text).keep_checkpoints(&directory, Some(every)).unwrap();
        let mut left = 3;
        let outcome = runner.run_while(|_| {
            left -= 1;
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(outcome.summary.status, "interrupted");
        let mut directory = directory;
        write_into(&mut directory, &outcome).unwrap();
    }
    {
        let mut directory = ResultDirectory::take(parts.path()).unwrap();
        let runner = runner(&text).resume(&directory, Some(every)).unwrap();
        let outcome = runner.run(|_| {});
        write_into(&mut directory, &outcome).unwrap();
    }
    let names = |dir: &std::path::Path| {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let frames = names(&whole.path().join("frames"));
    assert!(frames.contains(&"solids_0003.vtu".to_owned()), "{frames:?}");
    assert_eq!(names(&parts.path().join("frames")), frames);
    for name in &frames {
        let [a, b] = [&whole, &parts].map(|dir| std::fs::read(dir.path().join("frames").join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    let other = "(run: (duration: 0.01), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])";
    write_results(parts.path(), &runner(other).run(|_| {})).unwrap();
    let left = names(parts.path());
    assert!(
        left.iter()
            .all(|name| !name.ends_with("s.pvd") || name == "particles.pvd"),
        "{left:?}"
    );
    assert!(
        names(&parts.path().join("frames"))
            .iter()
            .all(|name| name.starts_with("particles"))
    );
}

/// A block on the ground: contact forces on its points and on bodies.
#[test]
fn pictures_have_contact_forces() {
    let text = r#"(
        gravity: (0, 0, -10), run: (duration: 0.5, step: 0.01),
        nodes: [Bodies(name: "box", bodies: [(position: (0, 0, 0.5), shape: Box(1, 1, 1), mass: 2)])],
        colliders: [Fixed(name: "ground", shape: Plane(0, 0, 1)), Bodies(node: "box")],
    )"#;
    let outcome = runner(text).run(|_| {});
    let last = outcome.recording.frames.last().unwrap();
    let names: Vec<&str> = outcome.recording.bodies.iter().map(|b| b.name.as_str()).collect();
    let place = names.iter().position(|name| *name == "box").unwrap();
    let force = last.body_contact_forces[place];
    assert!((force[2] - 20.0).abs() < 1e-6, "{force:?}");
    assert_eq!(last.body_contact_forces.len(), names.len());
}

/// Change, message, what the carets are under, help.
const MISTAKES: [(&str, &str, &str, &str, &str); 8] = [
    (
        "Stress(\"bar\"),",
        "Stress(\"bra\"),",
        "`bra` is no solid, sheet or elastic rod",
        "\"bra\"",
        "did you mean `bar`?",
    ),
    (
        "Stress(\"bar\", 3)",
        "Stress(\"bar\", 99)",
        "there is no element 99: `bar` has 20",
        "\"bar\"",
        "",
    ),
    (
        "Stress(\"plate\", 1)",
        "Stress(\"wire\", 1)",
        "`wire` is a rod",
        "\"wire\"",
        "`Section(\"wire\")`",
    ),
    (
        "Strain(\"bar\", 0)",
        "Strain(\"bar\")",
        "`bar` has 20 points: say at which",
        "\"bar\"",
        "`Strain(\"bar\", 0)`, or by a place: `Gauge(name: \"..\", on: \"bar\", at: (0, 0, 0))`",
    ),
    (
        "Section(\"wire\", 3)",
        "Section(\"plate\", 3)",
        "`plate` is a sheet, and only elastic rods have sections",
        "\"plate\"",
        "`Stress(\"plate\")`",
    ),
    (
        "on: \"bar\", at: (0, 0, 0)",
        "on: \"bat\", at: (0, 0, 0)",
        "`bat` is no solid",
        "\"bat\"",
        "did you mean `bar`?",
    ),
    (
        "name: \"root\", on",
        "name: \"bar\", on",
        "the name `bar` is used twice",
        "\"bar\"",
        "",
    ),
    (
        "root.stress_xx",
        "root.stres_xx",
        "`root` has no quantity `stres_xx`",
        "stres_xx",
        "did you mean `stress_xx`?",
    ),
];

#[test]
fn mistakes_are_drawn_with_a_suggestion() {
    for (from, to, message, under, help) in MISTAKES {
        assert_eq!(FIELDS.matches(from).count(), 1, "{from}");
        let error = try_runner(&FIELDS.replace(from, to)).err();
        let error = error.unwrap_or_else(|| panic!("{to} is taken"));
        let found = assert_drawn(&error, message, under);
        assert_eq!(found.help.as_deref().unwrap_or_default(), help, "{to}: {error}");
    }
}
