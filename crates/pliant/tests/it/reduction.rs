//! Reduced bodies against the full models, and closed forms.

use pliant::continuum::{ElementKind, MassMatrix, Mesh, Rod, RodCurve, RodParts, Section, Solid, SolidParts};
use pliant::prelude::*;

const YOUNG: f64 = 2.0e9;
const DENSITY: f64 = 1200.0;
const LENGTH: f64 = 1.0;
/// Sides of the section.
const SIDES: [f64; 2] = [0.06, 0.04];

/// A beam along x from the origin: of linear strains for what is exact, corotational for what moves.
fn beam(cells: usize, law: Solid) -> (Model, SolidParts, Mesh) {
    let mesh = Mesh::hexahedral_box([LENGTH, SIDES[0], SIDES[1]], [cells, 2, 2]).unwrap();
    let mesh = mesh.into_quadratic();
    let mut model = Model::new();
    let law = law.with_density(DENSITY).with_mass(MassMatrix::Consistent);
    let parts = law.add_to(&mut model, "beam", &mesh).unwrap();
    (model, parts, mesh)
}

fn elastic() -> Solid {
    Solid::corotational(YOUNG, 0.3)
}

/// Nodes of an end.
fn end(mesh: &Mesh, x: f64) -> Vec<usize> {
    let nodes = mesh.nodes.iter().enumerate();
    nodes
        .filter(|(_, p)| (p[0] - x).abs() < 1e-9)
        .map(|(k, _)| k)
        .collect()
}

fn ends(node: NodeId, mesh: &Mesh) -> Vec<Interface> {
    let interface = |x| Interface {
        node,
        elements: end(mesh, x),
    };
    vec![interface(0.0), interface(LENGTH)]
}

fn reduced(model: Model, interfaces: Vec<Interface>, modes: usize) -> ReducedBody {
    let mut simulation = Simulation::new(model).unwrap();
    let before = simulation.state().clone();
    let how = Reduction::new(interfaces, FixedModes::Count(modes));
    let found = simulation.reduce(&how).unwrap();
    assert_eq!(*simulation.state(), before);
    println!("residual {:e}", found.residual());
    found
}

fn beam_of(cells: usize, modes: usize) -> ReducedBody {
    let (model, parts, mesh) = beam(cells, elastic());
    reduced(model, ends(parts.nodes, &mesh), modes)
}

/// The mass and inertia are those of a box; translations and rotations have no part in modes.
#[test]
fn a_reduced_body_has_the_mass_of_the_body() {
    let body = beam_of(6, 4);
    assert_eq!(body.modes().len(), 6 + 4);
    let [a, b] = SIDES;
    let mass = DENSITY * LENGTH * a * b;
    // Rounding of sums over some hundred nodes.
    assert!((body.mass() / mass - 1.0).abs() < 1e-12);
    for (found, exact) in body.centre().iter().zip([LENGTH / 2.0, a / 2.0, b / 2.0]) {
        assert!((found - exact).abs() < 1e-12);
    }
    let inertia = body.inertia();
    let exact = [a * a + b * b, LENGTH * LENGTH + b * b, LENGTH * LENGTH + a * a].map(|s| mass * s / 12.0);
    for i in 0..3 {
        for j in 0..3 {
            let exact = if i == j { exact[i] } else { 0.0 };
            assert!((inertia[i][j] - exact).abs() < 1e-12 * mass, "{inertia:?}");
        }
    }
    for mode in body.modes() {
        println!("{:.2} rad/s, {:.4} kg", mode.angular_frequency, mode.mass);
    }
}

/// The lowest frequencies of the free beam fall to those of the full model as modes are added, and
/// are never below (Rayleigh and Ritz: a space in a larger one has no lower values).
#[test]
fn frequencies_come_down_to_those_of_the_full_model() {
    let (model, ..) = beam(6, elastic());
    let mut simulation = Simulation::new(model).unwrap();
    let how = ModeOptions {
        count: 6 + 6,
        ..ModeOptions::default()
    };
    let full = simulation.modes(&how).unwrap();
    let full: Vec<f64> = full.modes[6..].iter().map(Mode::angular_frequency).collect();
    let mut last = [f64::INFINITY; 6];
    for count in [0, 4, 12, 24] {
        let body = beam_of(6, count);
        let found: Vec<f64> = body.modes()[..6].iter().map(|m| m.angular_frequency).collect();
        println!(
            "{count}: {:?}",
            found
                .iter()
                .zip(&full)
                .map(|(a, b)| a / b - 1.0)
                .collect::<Vec<_>>()
        );
        for k in 0..6 {
            // Ends of a free beam that are rigid plates make it stiffer by a share of the thickness.
            assert!(found[k] > full[k] * (1.0 - 1e-9), "{k}");
            assert!(found[k] <= last[k] * (1.0 + 1e-9), "{k}");
            last[k] = found[k];
        }
    }
}
