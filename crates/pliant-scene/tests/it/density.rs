//! Masses and moments of inertia of bodies by their density.

use crate::{build, drawn};
use pliant_scene::BuiltScene;

fn body(keys: &str) -> String {
    format!("(run: (duration: 1), nodes: [Bodies(name: \"b\", bodies: [({keys})])])")
}

/// The mass of the only body, and its moments of inertia.
fn measured(built: &BuiltScene) -> [f64; 4] {
    let body = *built.model.masses()[0].component.rigid(0).unwrap();
    let inertia = body.inertia_matrix();
    let off = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| inertia[(i, j)].abs());
    assert!(off.iter().all(|off| *off < 1e-12 * body.mass), "{inertia}");
    [body.mass, inertia[(0, 0)], inertia[(1, 1)], inertia[(2, 2)]]
}

#[test]
fn bodies_of_a_density_have_the_mass_of_their_volume() {
    let pi = std::f64::consts::PI;
    // A cube by its corners; the tensor of its hull is that of the box.
    let corners: Vec<String> = (0..8)
        .map(|k| format!("({}, {}, {})", k & 1, k >> 1 & 1, k >> 2))
        .collect();
    let hull = format!("Hull(points: [{}])", corners.join(", "));
    let cone = 500.0 * pi * 0.25 * 2.0 / 3.0;
    let (cylinder, balls) = (100.0 * pi * 0.25 * 2.0, 100.0 * 4.0 / 3.0 * pi * 0.125);
    // A capsule: a cylinder, and two half balls whose centres of mass are 3/8 r behind their
    // planes.
    let capsule = balls * (0.4 * 0.25 + 1.0 + 0.75 * 0.5) + cylinder * (0.0625 + 4.0 / 12.0);
    for (shape, density, mass, moments) in [
        ("Box(1, 2, 3)", 10.0, 60.0, [65.0, 50.0, 25.0]),
        ("Sphere(0.5)", 3.0, 0.5 * pi, [0.05 * pi; 3]),
        (
            "Cylinder(radius: 0.5, length: 2)",
            100.0,
            cylinder,
            [
                cylinder * (0.0625 + 4.0 / 12.0),
                cylinder * (0.0625 + 4.0 / 12.0),
                cylinder * 0.125,
            ],
        ),
        (
            "Capsule(radius: 0.5, length: 2)",
            100.0,
            cylinder + balls,
            [capsule, capsule, cylinder * 0.125 + balls * 0.1],
        ),
        (
            "Ellipsoid(1, 2, 3)",
            5.0,
            40.0 * pi,
            [104.0 * pi, 80.0 * pi, 40.0 * pi],
        ),
        (
            "Cone(radius: 0.5, height: 2)",
            500.0,
            cone,
            [
                cone * (3.0 / 20.0 * 0.25 + 3.0 / 80.0 * 4.0),
                cone * (3.0 / 20.0 * 0.25 + 3.0 / 80.0 * 4.0),
                cone * 0.3 * 0.25,
            ],
        ),
        (hull.as_str(), 6.0, 6.0, [1.0; 3]),
    ] {
        let built = build(&body(&format!("shape: {shape}, density: {density}"))).unwrap();
        let [found, inertia @ ..] = measured(&built);
        assert!((found - mass).abs() < 1e-12 * mass, "{shape}: {found} {mass}");
        for (found, expected) in inertia.iter().zip(moments) {
            assert!(
                (found - expected).abs() < 1e-12 * mass,
                "{shape}: {inertia:?} {moments:?}"
            );
        }
    }
    let built = build(&body(
        "shape: Box(\"1 dm\", \"1 dm\", \"1 dm\"), density: \"1 g/cm^3\"",
    ))
    .unwrap();
    assert!((measured(&built)[0] - 1.0).abs() < 1e-12);
}

#[test]
fn bodies_have_a_mass_or_a_density() {
    for (keys, message) in [
        ("shape: Sphere(1)", "exactly one of `mass` and `density`"),
        (
            "shape: Sphere(1), mass: 1, density: 1",
            "exactly one of `mass` and `density`",
        ),
        (
            "shape: Hull(points: [], density: 1), density: 1",
            "exactly one of `mass` and `density`",
        ),
        ("inertia: (1, 1, 1), density: 1", "has a `density` and no `shape`"),
        (
            "shape: Sphere(1), density: 0",
            "`density` of `b` is 0, but must be positive",
        ),
        (
            "shape: Sphere(1), density: \"1 kg/m^2\"",
            "is a density of an area (kg/m^2), and needed is a density (kg/m^3)",
        ),
    ] {
        let error = build(&body(keys)).unwrap_err();
        assert!(drawn(&error).contains(message), "{keys}: {error}");
    }
}
