//! Solids whose volume is rows: no element has fields without energy, beams of one layer bend.

use crate::solids::of_kind;
use pliant::continuum::{
    Element, ElementKind, Incompressibility, MassMatrix, Mesh, Plasticity, Solid, StrainEnergy,
};
use pliant::prelude::*;

use Incompressibility::{None, PerElement, PerNode};

const YOUNG: f64 = 1e9;

/// Sag (m) of a lower corner of the free end of a cantilever 1 x 0.1 x 0.1 m under its weight.
fn sag(solid: Solid, kind: ElementKind, cells: [usize; 3]) -> Result<f64, String> {
    let mesh = of_kind(Mesh::hexahedral_box([1.0, 0.1, 0.1], cells).unwrap(), kind);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
    }
    let corner = mesh.nodes.iter().position(|x| *x == [1.0, 0.0, 0.0]).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation
        .find_equilibrium(&Equilibrium::default())
        .map_err(|error| error.to_string())?;
    Ok(-simulation.positions(parts.nodes)[3 * corner + 2])
}

/// Timoshenko's cantilever under its weight `q`: `q L^4/(8 E I) + q L^2/(2 k G A)` with
/// `k = 10(1 + nu)/(12 + 11 nu)` of a square (Cowper 1966).
fn timoshenko(poisson: f64) -> f64 {
    let (weight, area) = (1000.0 * 9.81 * 0.01, 0.01);
    let shear = YOUNG / (2.0 * (1.0 + poisson));
    let k = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    weight / (8.0 * YOUNG * 0.1_f64.powi(4) / 12.0) + weight / (2.0 * k * shear * area)
}

/// By numpy alone: `benches/reference/volume_rows.py`.
const REFERENCE: &str = include_str!("../../../../benches/reference/volume_rows.txt");

/// Near incompressibility the condition is 1e9: two programs of numpy differ by 6e-8.
#[test]
fn sags_are_those_of_an_independent_program() {
    let mut rows = 0;
    for line in REFERENCE.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |k: usize| words[k].parse::<f64>().unwrap();
        let kind = match words[0] {
            "hex8" => ElementKind::Hex8,
            "hex20" => ElementKind::Hex20,
            other => panic!("{other}"),
        };
        let cells = [1, 2, 3].map(|k| words[k].parse().unwrap());
        let solid = Solid::linear(YOUNG, number(4)).with_incompressibility(PerElement);
        let found = sag(solid.with_mass(MassMatrix::Consistent), kind, cells).unwrap();
        assert!((found / number(5) - 1.0).abs() < 1e-6, "{line}: {found}");
        rows += 1;
    }
    assert_eq!(rows, 12);
}

/// One layer of elements misses the sag by no more than the same elements without rows, or than 2.5 %.
/// Elements of eight nodes have shear locking either way. Prisms have one row each that all their
/// volume shares, and a layer of flat ones is softer by up to a tenth near the incompressible limit;
/// two layers are not.
#[test]
fn beams_of_one_layer_bend_as_without_rows() {
    use ElementKind::{Hex8, Hex20, Hex27, Prism15, Pyramid13, Tet10};
    let mut wrong = Vec::new();
    for kind in [Hex8, Hex20, Hex27, Tet10, Prism15, Pyramid13] {
        for cells in [[10, 1, 1], [20, 1, 1], [20, 2, 2]] {
            for poisson in [0.3, 0.4999] {
                let off = |rows| {
                    let solid = Solid::linear(YOUNG, poisson).with_incompressibility(rows);
                    sag(solid, kind, cells).unwrap() / timoshenko(poisson) - 1.0
                };
                let [plain, element, node] = [None, PerElement, PerNode].map(off);
                println!("{kind:?} {cells:?} {poisson}: {plain:.4} {element:.4} {node:.4}");
                let allowed = if kind == Prism15 && cells[1] == 1 {
                    0.1
                } else {
                    0.025
                };
                if element.abs() > plain.abs().max(allowed) {
                    wrong.push(format!("{kind:?} {cells:?} {poisson}: {plain} {element}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Large turns: equilibria are found, and small sags are those of the linear beam.
#[test]
fn beams_of_one_quadratic_layer_come_to_rest() {
    let linear = Solid::linear(YOUNG, 0.3).with_incompressibility(PerElement);
    let linear = sag(linear, ElementKind::Hex20, [10, 1, 1]).unwrap();
    let shear = YOUNG / 2.6;
    let bulk = YOUNG / 1.2;
    let rubber = StrainEnergy::MooneyRivlin {
        c1: 0.25 * shear,
        c2: 0.25 * shear,
        bulk,
    };
    for solid in [
        Solid::corotational(YOUNG, 0.3),
        Solid::st_venant_kirchhoff(YOUNG, 0.3),
        Solid::hencky(YOUNG, 0.3),
        Solid::hencky(YOUNG, 0.3).with_plasticity(Plasticity::perfect(1e9)),
        Solid::hyperelastic(rubber),
    ] {
        let found = sag(
            solid.with_incompressibility(PerElement),
            ElementKind::Hex20,
            [10, 1, 1],
        )
        .unwrap();
        println!("{found} {linear}");
        // Of second degree in the slope of the end, 2e-3; what yields has no pointwise part, which
        // is 1 % of the sag here.
        assert!((found / linear - 1.0).abs() < 0.02, "{solid:?}: {found} {linear}");
    }
}

/// The lowest modes of a free element: how many are free, and the eigenvalue of the first that is not.
fn free_modes(solid: Solid, mesh: &Mesh) -> (usize, f64) {
    let mut model = Model::new();
    solid.add_to(&mut model, "element", mesh).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    // Modes of one frequency are not cut apart: a few more are asked for where the seventh is one of
    // several.
    let found = (7..=12)
        .find_map(|count| {
            let how = ModeOptions {
                count,
                about: About::Present,
                ..ModeOptions::default()
            };
            simulation.modes(&how).ok()
        })
        .unwrap();
    let free = found
        .modes
        .iter()
        .filter(|mode| mode.kind == ModeKind::Free)
        .count();
    (free, found.modes[6].eigenvalue)
}

/// Six free modes, rigid motions, of every element. The energy is at least `mu |e|^2` with the strain
/// `e`, or exact as of linear tetrahedra: no eigenvalue is below that of Poisson's ratio zero with the
/// same shear modulus.
#[test]
fn no_element_has_other_fields_without_energy_than_rigid_ones() {
    let shear = 400.0;
    for kind in ElementKind::ALL {
        let mesh = one_element(kind);
        let (free, least) = free_modes(Solid::linear(2.0 * shear, 0.0), &mesh);
        assert_eq!(free, 6, "{kind:?}");
        for rows in [PerElement, PerNode] {
            for poisson in [0.0, 0.3, 0.4999] {
                let young = 2.0 * shear * (1.0 + poisson);
                let rubber = StrainEnergy::MooneyRivlin {
                    c1: 0.5 * shear,
                    c2: 0.0,
                    bulk: young / (3.0 * (1.0 - 2.0 * poisson)),
                };
                for solid in [
                    Solid::linear(young, poisson),
                    Solid::corotational(young, poisson),
                    Solid::st_venant_kirchhoff(young, poisson),
                    Solid::hyperelastic(rubber),
                ] {
                    let (free, first) = free_modes(solid.with_incompressibility(rows), &mesh);
                    println!("{kind:?} {rows:?} {poisson}: {free} {first} {least}");
                    assert_eq!(free, 6, "{kind:?} {solid:?}");
                    // Nine tenths of the bulk modulus at Poisson's ratio zero.
                    let bound = if poisson == 0.0 { 0.85 } else { 1.0 - 1e-6 };
                    assert!(first > bound * least, "{kind:?} {solid:?}: {first} {least}");
                }
            }
        }
    }
}

/// A solid that yields has no pointwise part: where that would leave fields without energy it is refused.
#[test]
fn what_yields_has_no_fields_without_energy_or_is_refused() {
    for kind in ElementKind::ALL {
        let mesh = one_element(kind);
        for rows in [PerElement, PerNode] {
            let solid = Solid::linear(1e3, 0.3).with_incompressibility(rows);
            let solid = solid.with_plasticity(Plasticity::perfect(1e9));
            let one_row = matches!(
                kind,
                ElementKind::Tet10 | ElementKind::Prism15 | ElementKind::Pyramid13
            );
            if rows == PerElement && one_row {
                let error = solid.add_to(&mut Model::new(), "metal", &mesh).unwrap_err();
                assert!(error.to_string().contains("PerNode"), "{error}");
            } else {
                let (free, first) = free_modes(solid, &mesh);
                println!("{kind:?} {rows:?}: {free} {first}");
                assert_eq!(free, 6, "{kind:?} {rows:?}");
            }
        }
    }
}

/// One element with different sides, so that few of its frequencies are equal.
fn one_element(kind: ElementKind) -> Mesh {
    let scaled = |[x, y, z]: [f64; 3]| [x, 1.1 * y, 1.23 * z];
    Mesh {
        nodes: kind.reference_nodes().into_iter().map(scaled).collect(),
        elements: vec![Element::new(kind, &(0..kind.node_count()).collect::<Vec<_>>())],
    }
}
