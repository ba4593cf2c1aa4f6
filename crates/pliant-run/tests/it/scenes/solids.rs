//! Solids of finite elements.

use super::{advance, edited as scene_edited, points, runner};
use pliant_scene::{Format, SceneFile, Settings};

/// At rest the beam hangs where another program says, `benches/reference/beam.py`.
#[test]
fn a_solid_beam_comes_to_rest_where_it_should() {
    let table = include_str!("../../../../../benches/reference/beam.txt");
    let line = table
        .lines()
        .find(|l| l.starts_with("corotational 1e+07"))
        .unwrap();
    let expected: f64 = line.split_whitespace().last().unwrap().parse().unwrap();
    let mut run = runner(
        // The linear step damps it.
        &scene_edited("solid_beam", &[("run: (", "run: (integrator: Theta, ")]),
        &[],
        Some(0.1),
    );
    advance(&mut run, 24);
    let x = points(&run, "beam");
    let tip: Vec<f64> = x.iter().skip(39).step_by(40).map(|x| x[2]).collect();
    assert_eq!(tip.len(), 16);
    let found = tip.iter().sum::<f64>() / 16.0;
    // Steps of 0.1 s take at least 0.37 of the swing each, and the sag is 0.14 m.
    assert!((found - expected).abs() < 2e-5, "{found} {expected}");
}

/// A clamped board creeps by the ratio of the standard linear solid, whatever its elements.
#[test]
fn a_shelf_creeps_to_nearly_twice_its_sag() {
    let sag = |run: &pliant_run::Runner| {
        let x = points(run, "board");
        x.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min)
    };
    let terms = "viscoelastic: [(time: \"$relaxation\", shear: \"$share\", bulk: \"$share\")],";
    let mut elastic = runner(&scene_edited("creeping_shelf", &[(terms, "")]), &[], None);
    advance(&mut elastic, 4);
    let mut run = runner(&scene_edited("creeping_shelf", &[]), &[], None);
    advance(&mut run, 180);
    // The load comes within the first step, which is as if it came after half of it.
    let time = 3600.0 - 10.0;
    let wanted = 2.0 - (-time * 0.5 / 600.0f64).exp();
    let found = sag(&run) / sag(&elastic);
    // (h/tau)^2, and the turn of the end by 0.04 and 0.02, squared.
    assert!((found - wanted).abs() < 2e-3, "{found} {wanted}");
}

#[test]
fn soft_balls_fall_into_a_bowl() {
    let mut run = runner(&scene_edited("soft_balls", &[]), &[], None);
    let (mut worst, mut before) = (0.0f64, f64::INFINITY);
    for _ in 0..120 {
        let report = run.step().unwrap();
        worst = worst.max(report.contacts.residual);
        // Nothing makes energy, corrections of overlap neither.
        let energy = report.energies.total();
        assert!(energy <= before + 1e-9, "{before} {energy} at {}", report.time);
        before = energy;
    }
    assert!(worst < 1e-8, "{worst}");
    for name in ["foam", "jelly", "rubber"] {
        let x = points(&run, name);
        let low = x.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
        let wide = x
            .iter()
            .flat_map(|x| [x[0].abs(), x[1].abs()])
            .fold(0.0, f64::max);
        assert!(low > -0.01 && wide < 0.3, "{name}: {low} {wide}");
    }
    // What is incompressible kept the volume of each element, but for the curvature of the ratio
    // over one step and over the correction of overlap after it, which keeps it to first order and
    // may take back 1 m/s: det(1 + G) - 1 - tr G of a displacement of 5 mm over the radius, three
    // products of pairs. It fades by the relaxation time of 10 ms, which is why it is no violation
    // in the report.
    let simulation = run.simulation();
    let node = simulation.model().node_named("rubber.dilatations").unwrap();
    let change = simulation
        .positions(node)
        .iter()
        .map(|d| d.abs())
        .fold(0.0, f64::max);
    let curvature = 3.0 * (0.005f64 / 0.06).powi(2);
    assert!(change < curvature, "{change} {curvature}");
}

/// Cubes that remember fall on a floor, by the methods that have contacts and take them: what they
/// lose is in the ledger, and the floor carries them in the end.
#[test]
fn cubes_with_a_past_fall_and_rest() {
    for (law, integrators) in [
        (
            "viscoelastic: [(time: 0.02, shear: 0.4, bulk: 0.4)]",
            ["Theta", "Nonlinear"],
        ),
        (
            "plastic: (yield_stress: 2e3, isotropic: 2e4)",
            ["Sdirk2", "Nonlinear"],
        ),
    ] {
        for integrator in integrators {
            let text = format!(
                "(gravity: (0, 0, -9.81), run: (duration: 1, step: 0.005, integrator: {integrator}), nodes: [Solid(name: \"s\",
                    shape: Box(size: (0.1, 0.1, 0.1), cells: (2, 2, 2)), position: (0, 0, 0.05),
                    material: Corotational(young: 2e5, poisson: 0.3), density: 1000, {law})],
                colliders: [Fixed(name: \"floor\", shape: Plane(0, 0, 1)), Cloth(node: \"s\", radius: 0.001)])"
            );
            let file = SceneFile::from_text("s.ron".as_ref(), &text, Format::Ron).unwrap();
            let mut run = runner(&file, &[], None);
            let (mut kept, mut lost, mut numerical) = (0.0, 0.0, 0.0);
            let mut impulse = 0.0;
            for step in 0..200 {
                let report = run.step().unwrap();
                assert!(report.contacts.residual <= 1e-8);
                kept += report.ledger.kinetic + report.ledger.potential;
                lost -= report.ledger.damping;
                numerical += report.ledger.brought_in() + report.ledger.numerical;
                let carried = run.simulation().contacts().iter().map(|c| c.impulse[2]);
                impulse += if step >= 150 { carried.sum() } else { 0.0 };
            }
            assert!(
                (kept - numerical).abs() < 1e-12 && lost > 1e-4,
                "{law} {integrator} {kept} {lost}"
            );
            let weight = 1000.0 * 1e-3 * 9.81;
            assert!(
                (impulse / 0.25 - weight).abs() < 0.02 * weight,
                "{law} {integrator} {impulse}"
            );
            println!(
                "{law} {integrator}: {lost} J of the materials, {} J of 0.49 J",
                -kept
            );
        }
    }
}

const SOLID: &str = "(gravity: (0, 0, -9.81), run: (duration: 0.02, step: 0.01), nodes: [Solid(name: \"s\",
    shape: Box(size: (1, 1, 1), cells: (1, 1, 1)), material: Corotational(young: 1e6, poisson: 0.3), density: 1000,
    fix_boxes: [((-1, -1, -1), (2, 2, 0.1))])])";

fn edited(from: &str, to: &str) -> SceneFile {
    assert!(SOLID.contains(from), "{from}");
    SceneFile::from_text("s.ron".as_ref(), &SOLID.replace(from, to), Format::Ron)
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_word_of_solids_builds_and_runs() {
    let shape = "Box(size: (1, 1, 1), cells: (1, 1, 1))";
    let material = "Corotational(young: 1e6, poisson: 0.3)";
    let density = "density: 1000";
    for (from, to) in [
        (shape, "Ball(radius: 0.5, cells: 1, layers: 1)"),
        (
            shape,
            "Cylinder(radius: 0.5, length: 1, cells: 2, layers: 1, slices: 1)",
        ),
        (
            shape,
            "Tube(inner_radius: 0.3, outer_radius: 0.5, length: 1, around: 8, layers: 1, slices: 1)",
        ),
        (material, "Linear(young: 1e6, poisson: 0.3)"),
        (material, "StVenantKirchhoff(young: 1e6, poisson: 0.3)"),
        (material, "Hencky(young: 1e6, poisson: 0.3)"),
        (
            material,
            "Hencky(young: 1e6, poisson: 0.3), plastic: (yield_stress: 1e3, isotropic: 1e4, rise: 1e3, rate: 20), incompressibility: PerElement",
        ),
        (
            material,
            "Hencky(young: 1e6, poisson: 0.3), plastic: (yield_stress: 1e3), enhanced_strains: Bending",
        ),
        (material, "NeoHookean(young: 1e6, poisson: 0.3)"),
        (material, "StableNeoHookean(young: 1e6, poisson: 0.3)"),
        (material, "MooneyRivlin(c1: 1e5, bulk: 1e6)"),
        (
            material,
            "MooneyRivlin(c1: 1e5, c2: 1e5, bulk: 1e6), incompressibility: PerElement",
        ),
        (material, "Ogden(terms: [(mu: 6.3e5, alpha: 1.3)], bulk: 1e7)"),
        (
            material,
            "Ogden(terms: [(mu: 6.3e5, alpha: 1.3), (mu: 1.2e3, alpha: 5), (mu: -1e4, alpha: -2)], bulk: 1e9), incompressibility: PerElement",
        ),
        (
            density,
            "density: 1000, viscoelastic: [(time: 0.1, shear: 0.3), (time: \"2 * 3\", shear: 0.2, bulk: 0.1)]",
        ),
        (
            density,
            "density: 1000, viscoelastic: [(time: 0.1, shear: 1)], incompressibility: PerElement",
        ),
        (density, "density: 1000, plastic: (yield_stress: \"1e3 / 2\")"),
        (
            density,
            "density: 1000, plastic: (yield_stress: 1e3, isotropic: 1e4, kinematic: 1e5, rise: 1e3, rate: 20), incompressibility: PerElement",
        ),
        (
            material,
            "NeoHookean(young: 1e6, poisson: 0.3), viscoelastic: [(time: 1, shear: 0.5, bulk: 0.5)]",
        ),
        (
            density,
            "density: 1000, elements: Tetrahedra, incompressibility: PerNode",
        ),
        (
            density,
            "density: 1000, elements: Quadratic, mass_matrix: Consistent",
        ),
        (
            density,
            "density: 1000, elements: QuadraticTetrahedra, relaxation_time: 0.1",
        ),
        (
            density,
            "density: 1000, elements: AsMade, treatment: Compliance, repair: true, incompressibility: None",
        ),
        (
            density,
            "density: 1000, muscles: [(name: \"one\", law: Generic(stress: 1e4, passive: 100, exponent: 5, straight: 1.3), direction: (1, \"$x\", 0), activation: \"0.5 * $t\"), \
             (name: \"two\", elements: [0], law: Blemker(stress: 1e4, optimal: 1.1, passive: 0.1, exponent: 6, straight: 1.5, along: 100, across: 200), direction: (0, 0, 1), activation: 1)]",
        ),
        (
            density,
            "density: 1000, treatment: Auto, mass_matrix: Lumped, fix: [0]",
        ),
        (
            density,
            "density: 1000, position: (0, 0, 1), rotation: Axis(around: (1, 0, 0), degrees: 20), velocity: (0, 0, 1), treatment: Stiffness",
        ),
    ] {
        let mut text = SOLID.replace(from, to);
        assert!(SOLID.contains(from), "{from}");
        if to.contains("plastic") {
            text = text.replace("step: 0.01)", "step: 0.01, integrator: Sdirk2)");
        }
        let file = SceneFile::from_text("s.ron".as_ref(), &text, Format::Ron).unwrap();
        let mut run = runner(&file, &[], None);
        advance(&mut run, 2);
        assert!(
            points(&run, "s").as_flattened().iter().all(|x| x.is_finite()),
            "{to}"
        );
    }
}

/// A column that stands on its foot is compressed by its weight: with a projected tangent the
/// summary says so, and without nothing is projected.
#[test]
fn projected_tangents_are_in_the_summary() {
    let material = "NeoHookean(young: 1e5, poisson: 0.3)";
    for (tangent, projects) in [("PositiveSemidefinite", true), ("Exact", false)] {
        let to = format!("{material}, tangent: {tangent}");
        let file = edited("Corotational(young: 1e6, poisson: 0.3)", &to);
        let mut run = runner(&file, &[], None);
        let mut most = 0;
        while !run.is_done() {
            most = most.max(run.step().unwrap().solve.projected_tangents);
        }
        assert_eq!(run.finish(None).summary.projected_tangents, most);
        assert_eq!(most > 0, projects);
    }
}

/// Each of several solids of one node moves as it would alone, held where each is held.
#[test]
fn solids_that_are_repeated_move_as_each_alone() {
    let placed = |repeat: &str, i: &str| {
        let to = format!(
            "density: 1000, {repeat} position: (\"2 * {i}\", 0, 0), velocity: (0, \"0.1 * {i}\", 0),
                rotation: Axis(around: (0, 0, 1), degrees: \"20 * {i}\")"
        );
        let mut run = runner(&edited("density: 1000", &to), &[], None);
        advance(&mut run, 2);
        points(&run, "s")
    };
    let all = placed("repeat: 3,", "$i");
    assert_eq!(all.len(), 3 * 8);
    for (i, copy) in all.chunks(8).enumerate() {
        for (x, y) in copy.iter().zip(placed("", &i.to_string())) {
            let difference = (0..3).fold(0.0f64, |a, k| a.max((x[k] - y[k]).abs()));
            assert!(difference < 1e-13, "{i}: {x:?} {y:?}");
        }
        // The lower four are held, the upper four sag and go with their velocity.
        assert!(copy[..4].iter().all(|x| x[2] == 0.0), "{copy:?}");
        assert!(copy[4..].iter().all(|x| x[2] < 1.0 - 1e-4), "{copy:?}");
    }
}

#[test]
fn mistakes_in_solids_are_shown_where_they_are() {
    for (from, to, message, caret) in [
        (
            "density: 1000",
            "density: 1000, repeat: 0",
            "must be from 1 to 1000000",
            "repeat: 0",
        ),
        (
            "density: 1000",
            "density: 1000, repeat: 1e5",
            "with `repeat` of `s`, the scene has 2400000 elements, more than the limit of 1000000",
            "1e5",
        ),
        (
            "density: 1000",
            "density: 1000, position: (\"$i\", 0, 0)",
            "$i",
            "\"$i\"",
        ),
        (
            "density: 1000",
            "density: 1000, repeat: 2, symmetry: [(axis: x)]",
            "`s` is repeated, so it has no planes of symmetry",
            "2",
        ),
        (
            "poisson: 0.3",
            "poisson: 0.6",
            "Poisson's ratio is 0.6, but must be above -1 and at most 1/2",
            "0.6",
        ),
        (
            "young: 1e6",
            "young: -1",
            "Young's modulus is -1, but must be positive",
            "-1",
        ),
        ("density: 1000", "density: 0", "must be positive", "0"),
        (
            "cells: (1, 1, 1)",
            "cells: (1, 0, 1)",
            "must be from 1 to 1000000",
            "(1, 0, 1)",
        ),
        (
            "size: (1, 1, 1)",
            "size: (1, -1, 1)",
            "an edge of a box is -1",
            "(1, -1, 1)",
        ),
        (
            "(2, 2, 0.1)",
            "(-0.5, -0.5, -0.5)",
            "no node of `s` lies in one of its `fix_boxes`",
            "",
        ),
        ("density: 1000", "density: 1000, fix: [8]", "8", "8"),
        (
            "density: 1000",
            "density: 1000, fix_groups: [\"clamp\"]",
            "the mesh has no group `clamp`",
            "\"clamp\"",
        ),
        (
            "density: 1000",
            "density: 1000, treatment: Compliance, incompressibility: PerElement",
            "cannot be had with volume rows",
            "Compliance",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "StableNeoHookean(young: 1e6, poisson: 0.3), relaxation_time: 0.1",
            "cannot be had with a hyperelastic material",
            "0.1",
        ),
        (
            "density: 1000",
            "density: 1000, viscoelastic: [(time: 0, shear: 0.1)]",
            "must be positive",
            "time: 0",
        ),
        (
            "density: 1000",
            "density: 1000, viscoelastic: [(time: 1, shear: 0.75), (time: 2, shear: 0.75)]",
            "what the Prony series leaves of the shear modulus of `s.material` is -0.5",
            "viscoelastic",
        ),
        (
            "density: 1000",
            "density: 1000, viscoelastic: [(time: 1, shear: 0.6, bulk: 0.1)], incompressibility: PerElement",
            "a share of bulk in the Prony series of `s.material` is 0.1, but must be zero",
            "bulk: 0.1",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "NeoHookean(young: 1e6, poisson: 0.3), viscoelastic: [(time: 1, shear: 0.5)]",
            "that of shear, for the whole stress relaxes",
            "viscoelastic",
        ),
        (
            "density: 1000",
            "density: 1000, treatment: Compliance, viscoelastic: [(time: 1, shear: 0.5)]",
            "a compliance cannot be had with a material with a past",
            "Compliance",
        ),
        (
            "density: 1000",
            "density: 1000, relaxation_time: 0.1, viscoelastic: [(time: 1, shear: 0.5)]",
            "a relaxation time cannot be had with a material with a past",
            "0.1",
        ),
        (
            "density: 1000",
            "density: 1000, plastic: (yield_stress: 0)",
            "must be positive",
            "yield_stress: 0",
        ),
        (
            "density: 1000",
            "density: 1000, plastic: (yield_stress: 1e3, kinematic: -1)",
            "zero or more",
            "kinematic: -1",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "NeoHookean(young: 1e6, poisson: 0.3), plastic: (yield_stress: 1e3)",
            "plasticity cannot be had with a hyperelastic material",
            "plastic",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "Hencky(young: 1e6, poisson: 0.3), plastic: (yield_stress: 1e3, kinematic: 1e4)",
            "the kinematic hardening cannot be had with Hencky's material",
            "kinematic: 1e4",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "Hencky(young: 1e6, poisson: 0.3), plastic: (yield_stress: 1e3), tangent: PositiveSemidefinite",
            "a projection cannot be had with plasticity",
            "tangent",
        ),
        (
            "density: 1000",
            "density: 1000, plastic: (yield_stress: 1e3), viscoelastic: [(time: 1, shear: 0.5)]",
            "plasticity cannot be had with viscoelasticity",
            "plastic",
        ),
        (
            "density: 1000",
            "density: 1000, tangent: PositiveSemidefinite",
            "a projection cannot be had with a law of strains",
            "tangent",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "Ogden(terms: [], bulk: 1e7)",
            "the number of Ogden's terms is 0, but must be from 1 to 6",
            "terms: []",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "Ogden(terms: [(mu: 1e5, alpha: 0)], bulk: 1e7)",
            "an exponent of Ogden's terms of `s.material` is 0",
            "alpha: 0",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "Ogden(terms: [(mu: 1e5, alpha: -2)], bulk: 1e7)",
            "the shear modulus of small strains of `s.material` is -100000",
            "s.ron:2:75",
        ),
        (
            "Corotational(young: 1e6, poisson: 0.3)",
            "Ogden(terms: [(mu: 1e5, alpha: 2)], bulk: 0), incompressibility: PerElement",
            "the bulk modulus is 0, but must be positive",
            "bulk: 0",
        ),
    ] {
        let error = edited(from, to)
            .build(&Settings::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{to}: {error}");
        assert!(error.contains(caret) && error.contains("s.ron"), "{to}: {error}");
    }
    let unknown = SOLID.replace("density", "densitty");
    let error = SceneFile::from_text("s.ron".as_ref(), &unknown, Format::Ron)
        .unwrap_err()
        .to_string();
    assert!(error.contains("densitty"), "{error}");
}

/// Corners of a cube, the bottom ones first, and what stands on them as the scene has it.
const CORNERS: &str =
    "(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)";

fn on_points(nodes: &str, part: &str, rest: &str) -> String {
    format!("(gravity: (0, 0, -9.81), run: (duration: 0.02, step: 0.01), nodes: [{nodes}, {part}], {rest})")
}

/// A solid on points that are there moves as one that makes them, also if a body carries some.
#[test]
fn solids_on_points_move_as_those_with_their_own() {
    let sorted = |text: &str, node: &str| {
        let file =
            SceneFile::from_text("s.ron".as_ref(), text, Format::Ron).unwrap_or_else(|e| panic!("{e}"));
        let mut run = runner(&file, &[], None);
        advance(&mut run, 2);
        let mut list = points(&run, node);
        // In one order, which rounding does not change.
        list.sort_by_key(|x| x.map(|c| (1e3 * c).round() as i64));
        list
    };
    let expected = sorted(SOLID, "s");
    let part = format!(
        "Solid(name: \"s\", on: \"p\", shape: Cells(points: [{CORNERS}], cells: [[0, 1, 2, 3, 4, 5, 6, 7]]),
            material: Corotational(young: 1e6, poisson: 0.3))"
    );
    // An eighth of the mass of the cube each.
    let plain = format!("Particles(name: \"p\", positions: [{CORNERS}], mass: 125)");
    let (_, top) = CORNERS.split_once("(0, 1, 0), ").unwrap();
    let carried = format!(
        "Bodies(name: \"plate\", bodies: [(shape: Box(1, 1, 0.1), mass: 1)]),
         Mapped(name: \"low\", parents: [\"plate\"], mapping: RigidPoints(points: [(0, (0, 0, 0)), (0, (1, 0, 0)), (0, (1, 1, 0)), (0, (0, 1, 0))])),
         Particles(name: \"high\", positions: [{top}], mass: 125),
         Mapped(name: \"p\", parents: [\"low\", \"high\"], mapping: Subset(elements: [0, 1, 2, 3, (\"high\", 0), (\"high\", 1), (\"high\", 2), (\"high\", 3)]))"
    );
    for (nodes, held) in [
        (plain, "fixed: [(node: \"p\", elements: [0, 1, 2, 3])]"),
        (carried, "fixed: [(node: \"plate\")]"),
    ] {
        let found = sorted(&on_points(&nodes, &part, held), "p");
        assert_eq!(found.len(), 8);
        for (x, y) in found.iter().zip(&expected) {
            let difference = (0..3).fold(0.0f64, |a, k| a.max((x[k] - y[k]).abs()));
            assert!(difference < 1e-12, "{x:?} {y:?}");
        }
    }
}

/// A sheet of one quadrangle, whose mass is a quarter at each corner.
#[test]
fn sheets_on_points_move_as_those_with_their_own() {
    let sheet = "material: Isotropic(young: 1e4, poisson: 0.3), thickness: 0.01, elements: Quadrangles, bending: Quadratic(0.1)";
    let ends = |nodes: &str, node: &str| {
        let text = on_points(
            nodes,
            "Scalars(name: \"other\", values: [0], mass: 1)",
            &format!("fixed: [(node: \"{node}\", elements: [0])]"),
        );
        let file =
            SceneFile::from_text("s.ron".as_ref(), &text, Format::Ron).unwrap_or_else(|e| panic!("{e}"));
        let mut run = runner(&file, &[], None);
        advance(&mut run, 2);
        let mut list = points(&run, node);
        list.sort_by_key(|x| x.map(|c| (1e3 * c).round() as i64));
        list
    };
    let own = format!(
        "ElasticSheet(name: \"s\", shape: Rectangle(size: (1, 2), cells: (1, 1)), density: 1000, {sheet})"
    );
    let places = "(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0)";
    let on = format!(
        "Particles(name: \"p\", positions: [{places}], mass: 5),
         ElasticSheet(name: \"s\", on: \"p\", shape: Cells(points: [{places}], cells: [[0, 1, 2, 3]]), {sheet})"
    );
    for (x, y) in ends(&own, "s").iter().zip(ends(&on, "p")) {
        let difference = (0..3).fold(0.0f64, |a, k| a.max((x[k] - y[k]).abs()));
        assert!(difference < 1e-12, "{x:?} {y:?}");
    }
}

#[test]
fn mistakes_in_parts_on_points_are_shown_where_they_are() {
    let nodes =
        "Particles(name: \"corners\", positions: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], mass: 1)";
    let shape = "shape: Cells(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], cells: [[0, 1, 2, 3]])";
    let solid =
        format!("Solid(name: \"s\", on: \"corners\", {shape}, material: Linear(young: 1, poisson: 0))");
    let flat =
        "shape: Cells(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], cells: [[0, 1, 2], [0, 3, 1]])";
    let sheet = format!(
        "ElasticSheet(name: \"s\", on: \"corners\", {flat}, material: Isotropic(young: 1, poisson: 0), thickness: 1)"
    );
    for (part, from, to, message, caret) in [
        (
            &solid,
            "on: \"corners\"",
            "on: \"corner\"",
            "unknown node `corner`",
            "\"corner\"",
        ),
        (&solid, "on: \"corners\", ", "", "`s` has no `density`", "\"s\""),
        (
            &solid,
            "on:",
            "density: 1, on:",
            "so it has no `density`",
            "1, on",
        ),
        (&solid, "on:", "fix: [0], on:", "so it has no `fix`", "[0]"),
        (&solid, "on:", "repeat: 2, on:", "so it has no `repeat`", "2, on"),
        (
            &solid,
            "(0, 1, 0), (0, 0, 1)], cells: [[0, 1, 2, 3]]",
            "(0, 1, 0), (0, 0, 1), (1, 1, 1)], cells: [[0, 1, 2, 3], [1, 2, 3, 4]]",
            "`corners` has 4 points, and the shape of `s` has 5",
            "\"corners\"",
        ),
        (
            &solid,
            "[[0, 1, 2, 3]]",
            "[[0, 1, 2]]",
            "has 3 points where 4 or 5 or 6 or 8 or 10 or 13 or 15 or 20 or 27 make one",
            "[[0, 1, 2]]",
        ),
        (&solid, "[[0, 1, 2, 3]]", "[[0, 1, 2, 4]]", "4", "[[0, 1, 2, 4]]"),
        (&solid, "[[0, 1, 2, 3]]", "[[0, 2, 1, 3]]", "inside out", "Cells"),
        (&sheet, "on: \"corners\", ", "", "`s` has no `density`", "\"s\""),
        (
            &sheet,
            "on:",
            "clamp_boxes: [((0, 0, 0), (1, 1, 1))], on:",
            "so it has no `clamp_boxes`",
            "[((0",
        ),
        (
            &sheet,
            "on:",
            "bending: Shell, on:",
            "masses of their own",
            "Shell",
        ),
        (
            &sheet,
            "[0, 3, 1]",
            "[0, 3]",
            "has 2 points where 3 or 4 make one",
            "[[0, 1, 2], [0, 3]]",
        ),
    ] {
        assert!(part.contains(from), "{from}");
        let text = on_points(nodes, &part.replacen(from, to, 1), "");
        let file =
            SceneFile::from_text("s.ron".as_ref(), &text, Format::Ron).unwrap_or_else(|e| panic!("{e}"));
        let error = file.build(&Settings::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{to}: {error}");
        assert!(
            text.contains(caret) && error.contains("s.ron:1:"),
            "{to}: {error}"
        );
    }
}

/// A reduced block falls on its face and comes to rest: its points bear its weight. It first falls
/// free, without deformation, by `g t^2/2`.
#[test]
fn a_reduced_solid_falls_and_lies() {
    let text = "(
        gravity: (0, 0, -9.81),
        run: (duration: 1, step: 0.005),
        nodes: [Solid(
            name: \"block\", shape: Box(size: (0.4, 0.2, 0.1), cells: (4, 2, 1)), position: (0, 0, 0.02),
            density: 1000, material: Corotational(young: 1e6, poisson: 0.3),
            reduced: (interfaces: [Box((-1, -1, 0.099), (1, 1, 0.101))], modes: 12, damping: 0.3),
        )],
        materials: [(name: \"skin\", friction: 0.4)],
        colliders: [
            Fixed(name: \"floor\", shape: Plane(0, 0, 1), material: \"skin\"),
            Cloth(node: \"block\", radius: 0.002, material: \"skin\"),
        ],
    )";
    let scene = SceneFile::from_text("block.ron".as_ref(), text, Format::Ron).unwrap();
    let mut run = runner(&scene, &[], None);
    let low = |run: &pliant_run::Runner| points(run, "block").iter().fold(f64::MAX, |a, x| a.min(x[2]));
    advance(&mut run, 10);
    let fallen = 0.5 * 9.81 * 0.05 * 0.05;
    // SDIRK2 is exact for constant accelerations.
    assert!((low(&run) - 0.02 + fallen).abs() < 1e-9, "{}", low(&run));
    advance(&mut run, 190);
    let report = run.step().unwrap();
    // What is left of the speed is below a millimetre per second.
    assert!(report.energies.kinetic < 4e-6, "{}", report.energies.kinetic);
    assert!((low(&run) - 0.002).abs() < 1e-6, "{}", low(&run));
}
