//! Solids of several materials and of fields over the mesh.

use crate::{build, built, drawn};
use pliant::Simulation;
use pliant::model::Mass;
use pliant_scene::{Action, BuiltScene, DeformableParts};

fn bar(keys: &str) -> String {
    format!(
        "(run: (duration: 1), parameters: {{\"soft\": 1e4, \"half\": 0.5}}, nodes: [Solid(name: \"bar\", \
         shape: Box(size: (1, 0.2, 0.2), cells: (5, 2, 1)), {keys})])"
    )
}

/// Stress xx of every quadrature point of every part, where all of `F` is `diag(1 + e, 1, 1)`; and
/// the places of the points.
fn stresses(scene: &BuiltScene, e: f64) -> Vec<(String, Vec<f64>)> {
    let DeformableParts::Solid(parts) = &scene.deformables[0].parts else {
        panic!("a solid");
    };
    let of = |part: &pliant::continuum::SolidParts| {
        let name = scene.model.node(part.gradients).name.clone();
        let pliant::model::ComponentId::ForceField(i) = part.material else {
            panic!("a force field");
        };
        // The first law of a sum may be on gradients where others are on strains.
        let node = scene.model.force_fields()[i].node;
        let count = scene.model.node(node).count;
        let size = if part.strains == Some(node) { 6 } else { 9 };
        let mut x = vec![0.0; size * count];
        for point in x.chunks_exact_mut(size) {
            if size == 9 {
                (point[0], point[4], point[8]) = (1.0 + e, 1.0, 1.0);
            } else {
                point[0] = e;
            }
        }
        let law = &scene.model.force_fields()[i].component.law;
        let mut force = vec![0.0; x.len()];
        let zero = vec![0.0; x.len()];
        let space = scene.model.node(node).space;
        law.add_force(pliant::model::At::new(space, &x).moving(&zero), &mut force);
        let points = force.chunks_exact(size).zip(&part.volumes);
        (name, points.map(|(f, v)| -f[0] / v).collect())
    };
    parts.iter().map(of).collect()
}

/// Events name the cells of a solid in the order of its shape, whatever the order of its materials.
#[test]
fn removed_cells_are_those_of_the_shape() {
    for (keys, each) in [("", 8), ("elements: Tetrahedra, ", 6)] {
        let text = bar(&format!(
            "density: 1000, {keys}materials: [\
             (name: \"right\", elements: Plane(point: (\"$half - 0.05\", 0, 0), normal: (1, 0, 0)), \
              material: Linear(young: \"$soft\", poisson: 0)), \
             (name: \"left\", elements: Plane(point: (\"$half - 0.05\", 0, 0), normal: (-1, 0, 0)), \
              material: Linear(young: 5e6, poisson: 0))]"
        ));
        let cut = "Remove(of: \"bar\", elements: [0, 9])";
        let event = format!("events: [(name: \"cut\", when: \"$t > 0.5\", do: [{cut}])], nodes:");
        let scene = built(&text.replacen("nodes:", &event, 1));
        let Action::Remove(elements) = &scene.events.list[0].actions[0] else {
            panic!("a removal");
        };
        let of = |name: &str| {
            let node = scene.model.node_named(name).unwrap().index();
            let own = elements.iter().flatten().filter(|at| at.node == node);
            own.map(|at| at.element).collect::<Vec<_>>()
        };
        // The first cell is the first one of the left part, the last one the last of six at the
        // right, points or tetrahedra of each one after the other.
        assert_eq!(of("bar.left.gradients"), (0..each).collect::<Vec<_>>(), "{keys}");
        assert_eq!(
            of("bar.right.gradients"),
            (5 * each..6 * each).collect::<Vec<_>>(),
            "{keys}"
        );
    }
}

#[test]
fn every_element_has_the_material_that_is_selected() {
    let scene = built(&bar("density: 1000, materials: [\
         (name: \"soft\", elements: Plane(point: (\"$half\", 0, 0), normal: (-1, 0, 0)), \
          material: Linear(young: \"$soft\", poisson: 0)), \
         (name: \"hard\", elements: Plane(point: (\"$half + 0.01\", 0, 0), normal: (1, 0, 0)), \
          material: Linear(young: 5e6, poisson: 0), density: 3000)]"));
    let found = stresses(&scene, 1e-3);
    assert_eq!(found[0].0, "bar.soft.gradients");
    assert_eq!(found[1].0, "bar.hard.gradients");
    // Three of five layers of two cells with eight points each.
    assert_eq!((found[0].1.len(), found[1].1.len()), (48, 32));
    assert!(found[0].1.iter().all(|s| (s - 10.0).abs() < 1e-10));
    assert!(found[1].1.iter().all(|s| (s - 5000.0).abs() < 1e-8));
    let Mass::PerElement(mass) = &scene.model.masses()[0].component else {
        panic!("a lumped mass");
    };
    let exact = 0.04 * (0.6 * 1000.0 + 0.4 * 3000.0);
    assert!((mass.iter().sum::<f64>() - exact).abs() < 1e-12);
    // One solid for pictures and probes, all of whose elements are in it.
    let region = scene.deformables[0].region(&scene.model, &scene.picture);
    assert_eq!(region.cells.len(), 10);
    Simulation::new(scene.model).unwrap();
}

/// Hexahedra are cut in six tetrahedra each; the selection is of hexahedra.
#[test]
fn cells_are_selected_as_the_shape_makes_them() {
    for (elements, points) in [("AsMade", 8), ("Tetrahedra", 6), ("Quadratic", 27)] {
        let scene = built(&bar(&format!(
            "elements: {elements}, density: 1000, materials: [\
             (name: \"a\", elements: [0, 3], material: NeoHookean(young: 1e4, poisson: 0.3)), \
             (name: \"b\", elements: Not([0, 3]), material: NeoHookean(young: 2e4, poisson: 0.3))]"
        )));
        let found = stresses(&scene, 1e-3);
        assert_eq!(found[0].1.len(), 2 * points, "{elements}");
        assert_eq!(found[1].1.len(), 8 * points, "{elements}");
    }
}

/// In the axes of the shape: the bar is turned and moved.
#[test]
fn fields_are_functions_of_the_place_in_the_shape() {
    let scene = built(&bar(
        "position: (3, 4, 5), rotation: Axis(around: (0, 0, 1), degrees: 90), \
         density: \"1000 * (1 + $x)\", material: Linear(young: \"$soft * (1 + 2 * $x)\", poisson: 0)",
    ));
    let found = &stresses(&scene, 1e-3)[0].1;
    // Points of Gauss of the first layer of cells, 0.2 m long.
    let places = [-1.0, 1.0].map(|s: f64| 0.1 + 0.1 * s / 3f64.sqrt());
    for stress in &found[..8] {
        let near = places
            .iter()
            .any(|x| (stress - 10.0 * (1.0 + 2.0 * x)).abs() < 1e-10);
        assert!(near, "{stress}");
    }
    let Mass::PerElement(mass) = &scene.model.masses()[0].component else {
        panic!("a lumped mass");
    };
    assert!((mass.iter().sum::<f64>() - 0.04 * 1500.0).abs() < 1e-12);
    let with_units = built(&bar(
        "density: \"1 g/cm^3 * (1 + $x / 1 m)\", material: Linear(young: \"10 kPa * (1 + 2 * $x / 1 m)\", poisson: 0)",
    ));
    for (a, b) in stresses(&with_units, 1e-3)[0].1.iter().zip(found) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}

/// Fibres turn with the solid: two in one node, the second by a quarter about z.
#[test]
fn directions_turn_with_each_repeat() {
    let scene = built(
        "(run: (duration: 1), nodes: [Solid(name: \"bar\", repeat: 2, position: (\"3 * $i\", 0, 0), \
         rotation: Axis(around: (0, 0, 1), degrees: \"90 * $i\"), shape: Box(size: (1, 1, 1), cells: (1, 1, 1)), \
         density: 1, material: Orthotropic(young: (100, 10, 10), poisson: (0, 0, 0), shear: (4, 4, 4), \
         axes: ((2, 0, 0), (1, 1, 0)), strains: Small))])",
    );
    let found = &stresses(&scene, 1e-3)[0].1;
    assert!(found[..8].iter().all(|s| (s - 0.1).abs() < 1e-12), "{found:?}");
    assert!(found[8..].iter().all(|s| (s - 0.01).abs() < 1e-12), "{found:?}");
}

/// Stresses of terms add up in the scene, each with its own field of the place and its own directions.
#[test]
fn sums_have_the_stress_of_all_terms() {
    let terms = [
        "Orthotropic(young: (\"$soft * (1 + $x)\", 10, 10), poisson: (0, 0, 0), shear: (4, 4, 4), axes: ((0, 1, 0), (1, 0, 0)), strains: GreenLagrange)",
        "FibreReinforced(shear: 3e3, families: [(k1: 1e4, k2: 1, direction: (1, \"$y\", 0))], bulk: 0)",
        "Yeoh(c1: 1e3, c2: \"$x * 1e3\", c4: 10, bulk: 1e5, volume_energy: Logarithmic)",
    ];
    let text = |material: &str| {
        bar(&format!(
            "density: \"1 + $z\", position: (1, 2, 3), material: {material}"
        ))
    };
    // All of `F` is `1 + 0.1 G` with a `G` without symmetry, given by the places of the points.
    let of = |material: &str| {
        let scene = built(&text(material));
        let simulation = Simulation::new(scene.model).unwrap();
        let DeformableParts::Solid(parts) = &scene.deformables[0].parts else {
            panic!("a solid");
        };
        let mut state = simulation.state().clone();
        let node = simulation.model().node(parts[0].nodes);
        let points = state.positions[node.position_range()].as_chunks_mut::<3>().0;
        for x in points {
            *x = [
                1.1 * x[0] + 0.05 * x[1],
                0.95 * x[1] - 0.03 * x[2],
                x[2] + 0.02 * x[0],
            ];
        }
        let mut simulation = simulation;
        simulation.set_state(&state).unwrap();
        simulation.solid_fields(&parts[0]).stress
    };
    let all = of(&format!("Sum([{}, Sum([{}, {}])])", terms[0], terms[1], terms[2]));
    let alone = terms.map(of);
    assert_eq!(all.len(), 80);
    for (q, found) in all.iter().enumerate() {
        for k in 0..6 {
            let exact: f64 = alone.iter().map(|one| one[q][k]).sum();
            assert!(
                (found[k] - exact).abs() < 1e-11 * 1e5,
                "{q} {k}: {} {exact}",
                found[k]
            );
        }
    }
}

#[test]
fn every_law_is_read() {
    for law in [
        "Hencky(young: 1e6, poisson: 0.3)",
        "MooneyRivlin(c1: 1e4, c2: -100, c11: 10, c20: 20, c02: 30, bulk: 1e6)",
        "MooneyRivlin(c1: 1e4, bulk: 1e6, volume_energy: Logarithmic)",
        "Yeoh(c1: 1e4, c2: -100, c3: 10, c4: 1, c5: \"$y\", bulk: 1e6, volume_energy: Quadratic)",
        "Costa(coefficient: 1e3, stretch: (6, 7, 3), shear: (12, 3, \"3 + $x\"), axes: ((1, \"$y\", 0), (0, 1, 0)), bulk: 1e6)",
        "Sum([NeoHookean(young: 1e4, poisson: 0.3)])",
        "Sum([NeoHookean(young: \"$soft\", poisson: 0.3), Corotational(young: \"1e3 * $x\", poisson: 0.1)])",
        "ArrudaBoyce(modulus: 1e4, limit: 3, bulk: 1e6)",
        "VerondaWestmann(c1: 1e4, c2: 2, bulk: 1e6)",
        "FibreReinforced(shear: 1e4, families: [(k1: 1e4, k2: 1, direction: (1, \"$y\", 0)), (k1: 1e4, k2: 0, dispersion: 0.2, direction: (1, 1, 0))], bulk: 1e6)",
        "FungOrthotropic(coefficient: 1e4, mu: (1e3, 2e3, 3e3), lambda: (100, 200, 300), bulk: 1e6)",
        "Orthotropic(young: (1e6, 1e5, 1e5), poisson: (0.3, 0.3, 0.03), shear: (1e5, 1e4, 1e5))",
    ] {
        let scene = built(&bar(&format!("density: 1000, material: {law}")));
        let found = &stresses(&scene, 0.01)[0].1;
        assert!(
            found.iter().all(|s| s.is_finite() && *s > 0.0),
            "{law}: {found:?}"
        );
    }
}

#[test]
fn mistakes_are_named_in_words_of_the_scene() {
    for (keys, part) in [
        ("density: 1", "`bar` has no `material`"),
        (
            "density: 1, material: Linear(young: 1, poisson: 0), materials: [(name: \"a\", elements: All, material: Linear(young: 1, poisson: 0))]",
            "`bar` has a `material` of all elements and `materials` of some",
        ),
        (
            "density: 1, material: Linear(young: \"1 - 3 * $x\", poisson: 0)",
            "Young's modulus is -",
        ),
        (
            "density: \"0.5 - $x\", material: Linear(young: 1, poisson: 0)",
            "but must be positive, at (0.5",
        ),
        (
            "density: 1, material: Linear(young: \"1 / ($x - $x)\", poisson: 0)",
            "at (",
        ),
        (
            "density: 1, material: Linear(young: \"1 m + $x * 1 m\", poisson: 0)",
            "needed is a pressure",
        ),
        (
            "density: 1, material: FibreReinforced(shear: 1, families: [], bulk: 1)",
            "the number of fibre families is 0",
        ),
        (
            "density: 1, material: Orthotropic(young: (1, 1, 1), poisson: (0.9, 0.9, 0.9), shear: (1, 1, 1))",
            "1 - nu12 nu21",
        ),
        (
            "density: 1, plastic: (yield_stress: 1), material: Linear(young: \"1 + $x\", poisson: 0)",
            "a material with a past",
        ),
        (
            "density: 1, plastic: (yield_stress: 1), material: Hencky(young: \"1 + $x\", poisson: 0)",
            "a material with a past",
        ),
        (
            "density: 1, plastic: (yield_stress: 1), material: NeoHookean(young: 1, poisson: 0)",
            "yields at finite strains",
        ),
        (
            "density: 1, plastic: (yield_stress: 1, kinematic: 2), material: Hencky(young: 1, poisson: 0)",
            "leave `kinematic` out",
        ),
        (
            "density: 1, material: Sum([])",
            "a `Sum` of materials of `bar` is empty",
        ),
        (
            "density: 1, material: Sum([Linear(young: 1, poisson: 0), NeoHookean(young: 1, poisson: 0)])",
            "small strains in one of them",
        ),
        (
            "density: 1, plastic: (yield_stress: 1), material: Sum([Hencky(young: 1, poisson: 0), NeoHookean(young: 1, poisson: 0)])",
            "what yields has one law",
        ),
        (
            "density: 1, material: Sum([NeoHookean(young: 1, poisson: 0), NeoHookean(young: \"0.5 - $x\", poisson: 0)])",
            "but must be positive, at (0.5",
        ),
        (
            "density: 1, material: NeoHookean(young: \"0.5 - $x\", poisson: 0)",
            "the shear modulus is -",
        ),
        (
            "density: 1, material: NeoHookean(young: 1, poisson: 0.6)",
            "Poisson's ratio is 0.6, but must be above -1 and at most 1/2",
        ),
        (
            "density: 1, material: Corotational(young: 1, poisson: -1)",
            "Poisson's ratio is -1, but must be above -1 and at most 1/2",
        ),
        (
            "density: 1, material: MooneyRivlin(c1: 1, c2: -2, c20: 1, bulk: 1)",
            "the shear modulus",
        ),
        (
            "density: 1, material: Costa(coefficient: 1, stretch: (1, 1, 1), shear: (1, 1, 1), axes: ((1, 0, 0), (2, 0, 0)), bulk: 1)",
            "are no two directions",
        ),
        (
            "density: 1, material: NeoHookean(young: 1, poisson: 0, volume_energy: Logarithmic)",
            "volume_energy",
        ),
        (
            "density: 1, incompressibility: PerElement, material: Sum([MooneyRivlin(c1: 1, bulk: 9), MooneyRivlin(c1: 1, bulk: 9, volume_energy: Logarithmic)])",
            "leave it to others",
        ),
    ] {
        let message = build(&bar(keys)).map(|_| ()).unwrap_err();
        let text = drawn(&message);
        assert!(text.contains(part), "{keys}:\n{text}");
        println!("{text}\n");
    }
}
