//! Paths whose tangent jumps: fibres that bear no compression have a corner where they are at rest.

use super::*;
use pliant::continuum::{FibreFamily, Incompressibility, Mesh, Solid, StrainEnergy};

const SHEAR: f64 = 3e4;
const BULK: f64 = 2e6;
const K1: f64 = 2e4;
const K2: f64 = 0.8;
/// The side of the cube (m).
const SIDE: f64 = 0.1;

/// The energy (J/m^3) of a stretch along the fibres and one across.
fn energy([along, across]: [f64; 2]) -> f64 {
    let volume = along * across * across;
    let p = volume.powf(-2.0 / 3.0);
    let first = along * along + 2.0 * across * across;
    let e = (p * along * along - 1.0).max(0.0);
    0.5 * SHEAR * (p * first - 3.0)
        + 0.5 * K1 / K2 * ((K2 * e * e).exp() - 1.0)
        + 0.5 * BULK * (volume - 1.0).powi(2)
}

/// A cube with fibres along x that is pulled along them: from rest, where the fibres begin to bear, to a
/// stretch that is the one of the energy, whatever the first step is.
#[test]
fn fibres_that_begin_to_bear_do_not_end_a_path() {
    let family = FibreFamily {
        k1: K1,
        k2: K2,
        dispersion: 0.0,
        direction: [1.0, 0.0, 0.0],
    };
    let law = StrainEnergy::fibre_reinforced(SHEAR, &[family], BULK).unwrap();
    let force = 400.0;
    for step in [0.5, 0.1, 0.01, 0.001] {
        let mesh = Mesh::hexahedral_box([SIDE; 3], [1, 1, 1]).unwrap();
        let mut model = Model::new();
        let solid = Solid::hyperelastic(law)
            .with_density(1.0)
            .with_incompressibility(Incompressibility::PerElement);
        let parts = solid.add_to(&mut model, "cube", &mesh).unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            model.fix(parts.nodes, k, &x.map(|x| x == 0.0)).unwrap();
        }
        let end: Vec<usize> = (0..mesh.nodes.len())
            .filter(|k| mesh.nodes[*k][0] > 0.0)
            .collect();
        let end = Subset::of_elements(Space::Real(3), &end);
        let end = model.add_mapped("end", &[parts.nodes], end).unwrap();
        let pull = load(&mut model, end, &[0.25 * force, 0.0, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let how = Continuation {
            loads: loads(&[pull]),
            end: 1.0,
            step,
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |_, _| true);
        let path = path.unwrap_or_else(|e| panic!("step {step}: {e}"));
        assert_eq!(path.end, PathEnd::Reached, "step {step}");
        let corner = mesh
            .nodes
            .iter()
            .position(|x| x.iter().all(|x| *x > 0.0))
            .unwrap();
        for point in path.points.iter().filter(|p| p.load > 1e-3) {
            let place = &point.state.positions[3 * corner..];
            let stretches = [place[0] / SIDE, place[1] / SIDE];
            assert!((place[2] - place[1]).abs() < 1e-9 * SIDE);
            // The slopes of the energy by central differences, whose error is 1e-10 of the moduli.
            let slope = |along: f64, across: f64| {
                let at = |s: f64| energy([stretches[0] + s * along, stretches[1] + s * across]);
                (at(1e-5) - at(-1e-5)) / 2e-5
            };
            let stress = point.load * force / (SIDE * SIDE);
            assert!((slope(1.0, 0.0) - stress).abs() < 1e-7 * BULK, "{stretches:?}");
            assert!(slope(0.0, 1.0).abs() < 1e-7 * BULK, "{stretches:?}");
        }
        // The corner costs a few short steps, and the path goes on with long ones.
        println!("step {step}: {} points", path.points.len());
        assert!(
            path.points.len() < 40 + (1.2 / step) as usize,
            "{}",
            path.points.len()
        );
    }
}
