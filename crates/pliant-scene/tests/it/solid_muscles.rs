//! Muscles in solids: their elements, laws, directions and activations.

use crate::{build, built, drawn};
use pliant::model::{At, ComponentId};
use pliant_scene::{BuiltScene, DeformableParts};

fn bar(keys: &str) -> String {
    format!(
        "(run: (duration: 1), parameters: {{\"most\": 1e4}}, nodes: [Solid(name: \"bar\", \
         shape: Box(size: (1, 0.2, 0.2), cells: (5, 2, 1)), density: 1000, \
         material: NeoHookean(young: 1e5, poisson: 0.3), {keys})])"
    )
}

/// First Piola-Kirchhoff stresses of the muscles of a solid at rest, fully activated: the names of
/// their components, and nine numbers at each point.
fn stresses(scene: &BuiltScene) -> Vec<(String, Vec<[f64; 9]>)> {
    let DeformableParts::Solid(parts) = &scene.deformables[0].parts else {
        panic!("a solid");
    };
    let mut all = Vec::new();
    for part in parts {
        let node = scene.model.node(part.gradients);
        let x = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].repeat(node.count);
        for (_, id) in &part.muscles {
            let ComponentId::ForceField(i) = *id else {
                panic!("a force field");
            };
            let zero = vec![0.0; x.len()];
            let mut force = zero.clone();
            let at = At::new(node.space, &x).moving(&zero).with_inputs(&[1.0]);
            scene.model.force_fields()[i]
                .component
                .law
                .add_force(at, &mut force);
            let points = force.as_chunks::<9>().0.iter().zip(&part.volumes);
            let points = points.map(|(f, v)| f.map(|f| -f / v)).collect();
            all.push((scene.model.component_name(*id).to_owned(), points));
        }
    }
    all
}

/// The deviator of a stress along one axis.
fn along(axis: usize, stress: f64) -> [f64; 9] {
    std::array::from_fn(|k| match (k % 4, k / 4 == axis) {
        (0, true) => 2.0 / 3.0 * stress,
        (0, false) => -1.0 / 3.0 * stress,
        _ => 0.0,
    })
}

fn assert_near(found: &[f64; 9], exact: [f64; 9], what: &str) {
    let near = found.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near, "{what}: {found:?} {exact:?}");
}

/// Two bars, of which the second is turned by a quarter about z: the fibres of their first element
/// are along x and y, with stresses of the place in the shape; other elements have none.
#[test]
fn muscles_have_their_elements_laws_and_directions() {
    let scene = built(&bar(
        "repeat: 2, position: (\"3 * $i\", 0, 0), rotation: Axis(around: (0, 0, 1), degrees: \"90 * $i\"), muscles: [\
         (name: \"one\", elements: [0], law: Generic(stress: \"$most * (1 + $x)\"), direction: (2, 0, 0), activation: \"$t\"), \
         (name: \"all\", law: Blemker(stress: 1e5, passive: 0), direction: (0, 0, 1), activation: 0.25)]",
    ));
    let found = stresses(&scene);
    assert_eq!(found[0].0, "bar.one");
    assert_eq!(found[1].0, "bar.all");
    let places = [-1.0, 1.0].map(|s: f64| 0.1 + 0.1 * s / 3f64.sqrt());
    for copy in 0..2 {
        for (k, p) in found[0].1[80 * copy..80 * (copy + 1)].iter().enumerate() {
            let near = |stress: f64| {
                let exact = along(copy, stress);
                p.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-9)
            };
            let fits = match k < 8 {
                true => places.iter().any(|x| near(1e4 * (1.0 + x))),
                false => near(0.0),
            };
            assert!(fits, "{copy} {k}: {p:?}");
        }
    }
    for p in &found[1].1 {
        assert_near(p, along(2, 1e5), "all");
    }
    // One activation follows the time, the other stays.
    assert_eq!(scene.inputs.len(), 1);
    assert_eq!(scene.inputs[0].input, 0);
    assert!((scene.inputs[0].program.jet(0.4).value - 0.4).abs() < 1e-15);
    let parameters = scene.model.initial_parameters().inputs();
    assert_eq!(parameters, [0.0, 0.25]);
}

/// A muscle across two materials is a component of each, and both follow its activation.
#[test]
fn muscles_cross_materials() {
    let text = bar(
        "muscles: [(name: \"m\", law: Generic(stress: 1e4), direction: (0, 1, 0), activation: \"0.5 * $t\")]",
    );
    let material = "material: NeoHookean(young: 1e5, poisson: 0.3)";
    let several = "materials: [(name: \"a\", elements: [0, 1, 2], material: NeoHookean(young: 1e5, poisson: 0.3)), \
                   (name: \"b\", elements: Not([0, 1, 2]), material: Corotational(young: 1e5, poisson: 0.3))]";
    assert!(text.contains(material));
    let scene = built(&text.replace(material, several));
    let found = stresses(&scene);
    let names: Vec<_> = found
        .iter()
        .map(|(name, points)| (name.as_str(), points.len()))
        .collect();
    assert_eq!(names, [("bar.a.m", 24), ("bar.b.m", 56)]);
    for p in found.iter().flat_map(|(_, points)| points) {
        assert_near(p, along(1, 1e4), "m");
    }
    assert_eq!(scene.inputs.len(), 2);
}

/// A line with a corner above the third cell: the cells near it have fibres along its nearest piece,
/// which turns with the bar, and a share of the activation that depends on the place.
#[test]
fn fibres_follow_a_line() {
    let line = "line: [(0, 0.05, 0.1), (0.5, 0.05, 0.1), (0.5, 0.2, 0.1)]";
    for (rotation, axes) in [("0", [0, 1]), ("90", [1, 0])] {
        let scene = built(&bar(&format!(
            "rotation: Axis(around: (0, 0, 1), degrees: {rotation}), muscles: [\
             (name: \"m\", law: Generic(stress: 1e4), {line}, within: 0.06, share: \"if($y > 0.1, 0.25, 0.5)\")]"
        )));
        let found = stresses(&scene);
        assert_eq!(found.len(), 1);
        let is = |axis: usize, stress: f64| {
            let exact = along(axis, stress);
            let near = |p: &&[f64; 9]| p.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-9);
            found[0].1.iter().filter(near).count()
        };
        // Two cells along the first piece and six points of the third one, by hand; of the cell above
        // the corner all points are along the other piece, as two of the third one.
        assert_eq!(
            [is(axes[0], 5e3), is(axes[1], 5e3), is(axes[1], 2.5e3)],
            [22, 2, 8]
        );
        assert_eq!(is(0, 0.0), 80 - 32);
        // All elements have fibres along a line that is far from them.
        let scene = built(&bar(
            "muscles: [(name: \"m\", elements: [0, 1], law: Generic(stress: 1e4), line: [(0, 3, 0), (1, 3, 0)])]",
        ));
        let found = stresses(&scene);
        let pulls = found[0].1.iter().filter(|p| p[0] > 1.0).count();
        assert_eq!(pulls, 16);
    }
}

#[test]
fn mistakes_are_named_in_words_of_the_scene() {
    let law = "law: Generic(stress: 1e4)";
    for (muscles, part) in [
        (
            format!("(name: \"\", {law}, direction: (1, 0, 0))"),
            "is not of letters, digits and `_`",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0)), (name: \"m\", {law}, direction: (1, 0, 0))"),
            "two of the `muscles` of `bar` are named `m`",
        ),
        (
            format!("(name: \"m\", {law}, direction: (0, 0, 0))"),
            "the length of a direction of `bar.m` is 0",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0), activation: 2)"),
            "an activation of `bar.m` is 2, but must be between 0 and 1",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0), activation: \"2 * $t\")"),
            "an activation of `bar.m` is",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0), activation: \"$x\")"),
            "`$x`",
        ),
        (
            format!("(name: \"m\", elements: [10], {law}, direction: (1, 0, 0))"),
            "10",
        ),
        (
            format!("(name: \"material\", {law}, direction: (1, 0, 0))"),
            "bar.material",
        ),
        (
            format!("(name: \"m\", {law})"),
            "the muscle `m` of `bar` has no `direction`",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0), line: [(0, 0, 0), (1, 0, 0)])"),
            "has a `direction` and a `line`",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0), within: 1)"),
            "has `within` but no `line`",
        ),
        (
            format!("(name: \"m\", {law}, line: [(0, 0, 0)])"),
            "less than two points",
        ),
        (
            format!("(name: \"m\", {law}, line: [(0, 0, 0), (1, 0, 0), (1, 0, 0)])"),
            "points 1 and 2 are one",
        ),
        (
            format!("(name: \"m\", {law}, line: [(0, 5, 0), (1, 5, 0)], within: 0.1)"),
            "no element of the muscle `m` of `bar` is within 0.1 m of its `line`",
        ),
        (
            format!("(name: \"m\", {law}, direction: (1, 0, 0), share: \"2 * $x\")"),
            "a share in the activation of `bar.m` is 1.",
        ),
        (
            "(name: \"m\", law: Generic(stress: -1), direction: (1, 0, 0))".to_owned(),
            "the largest active stress of the fibres of `bar.m` is -1",
        ),
        (
            "(name: \"m\", law: Generic(stress: \"0.5 - $x\"), direction: (1, 0, 0))".to_owned(),
            "at (0.",
        ),
        (
            "(name: \"m\", law: Blemker(stress: 1, optimal: 1.5, straight: 1.4), direction: (1, 0, 0))"
                .to_owned(),
            "must be the optimal stretch or more",
        ),
        (
            "(name: \"m\", law: Blemker(stress: 1, along: \"3 m\"), direction: (1, 0, 0))".to_owned(),
            "needed is a pressure",
        ),
        (
            "(name: \"m\", law: Hill(stress: 1), direction: (1, 0, 0))".to_owned(),
            "Hill",
        ),
    ] {
        let message = build(&bar(&format!("muscles: [{muscles}]")))
            .map(|_| ())
            .unwrap_err();
        let text = drawn(&message);
        assert!(text.contains(part), "{muscles}:\n{text}");
        println!("{text}\n");
    }
    for (from, to, part) in [
        (
            "NeoHookean(",
            "Linear(",
            "a muscle cannot be had with small strains",
        ),
        (
            "density: 1000",
            "density: 1000, reduced: (interfaces: [[0, 1, 2, 3]])",
            "is `reduced` to modes in a floating frame, so it has no `muscles`",
        ),
    ] {
        let text = bar(&format!("muscles: [(name: \"m\", {law}, direction: (1, 0, 0))]")).replace(from, to);
        let message = build(&text).map(|_| ()).unwrap_err();
        let text = drawn(&message);
        assert!(text.contains(part), "{to}:\n{text}");
        println!("{text}\n");
    }
}
