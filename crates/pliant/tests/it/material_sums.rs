//! Materials that add up in the same elements, and volume rows of a logarithmic energy.

use crate::solids::of_kind;
use pliant::continuum::{
    ContinuumError, ElementKind, FibreFamily, Incompressibility, Mesh, Plasticity, PronySeries, PronyTerm,
    Solid, SolidParts, SolidRegion, SolidTerm, StrainEnergy, VolumeEnergy,
};
use pliant::dense::{Mat3, Vec3};
use pliant::prelude::*;

use Incompressibility::{None, PerElement, PerNode};

fn rubber(c1: f64, c2: f64, bulk: f64) -> Solid {
    Solid::hyperelastic(StrainEnergy::MooneyRivlin { c1, c2, bulk })
}

fn logarithmic(c1: f64, c2: f64, bulk: f64) -> Solid {
    rubber(c1, c2, bulk).with_volume_energy(VolumeEnergy::Logarithmic)
}

/// A share of the area of each face of the unit cube of 2 x 2 x 2 cells for each node on it.
fn shares(mesh: &Mesh) -> Vec<[f64; 3]> {
    let mut out = vec![[0.0; 3]; mesh.nodes.len()];
    if mesh.elements[0].kind == ElementKind::Tet4 {
        for triangle in mesh.surface() {
            let [a, b, c] = triangle.map(|n| mesh.nodes[n]);
            for axis in (0..3).filter(|k| [a, b, c].iter().all(|x| x[*k] == 1.0)) {
                // Half of the square of a cell, a third for each corner.
                triangle.iter().for_each(|n| out[*n][axis] += 0.125 / 3.0);
            }
        }
        return out;
    }
    for (x, out) in mesh.nodes.iter().zip(&mut out) {
        for axis in (0..3).filter(|k| x[*k] == 1.0) {
            // Trapezoidal weights over the face.
            let weight = |j: usize| if x[j] == 0.5 { 0.5 } else { 0.25 };
            out[axis] = (0..3).filter(|j| *j != axis).map(weight).product();
        }
    }
    out
}

/// The unit cube at rest under the same tension (Pa per area at rest) on all sides; the largest
/// distance of a node from its place under the stretch `s`.
fn off_expanded(solid: Solid, kind: ElementKind, tension: f64, s: f64) -> f64 {
    let mesh = of_kind(Mesh::hexahedral_box([1.0; 3], [2; 3]).unwrap(), kind);
    let mut model = Model::new();
    let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        model.fix(parts.nodes, k, &x.map(|x| x == 0.0)).unwrap();
    }
    let mut simulation = Simulation::new(model).unwrap();
    for (k, share) in shares(&mesh).iter().enumerate() {
        simulation
            .set_force(parts.nodes, k, &share.map(|share| tension * share))
            .unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let places = simulation.positions(parts.nodes).iter();
    let rests = mesh.nodes.as_flattened().iter();
    places
        .zip(rests)
        .map(|(x, rest)| (x - s * rest).abs())
        .fold(0.0, f64::max)
}

/// Pressed and pulled from all sides, the stress is `k ln J/J`, wherever that bulk modulus is: at
/// the points, in rows, or in both. Hard rows let nothing change.
#[test]
fn what_is_pressed_has_the_volume_of_the_logarithm() {
    let bulk = 3e4;
    for kind in [ElementKind::Hex8, ElementKind::Tet4] {
        for rows in [None, PerElement, PerNode] {
            // Pressed by less than the shear modulus: beyond, a dead load has other equilibria.
            for s in [0.95f64, 0.97, 1.1] {
                let j = s.powi(3);
                let tension = bulk * j.ln() / j * s * s;
                let solid = logarithmic(2e3, 1e3, bulk).with_incompressibility(rows);
                let off = off_expanded(solid, kind, tension, s);
                // Equilibria are found to 1e-9 of the forces.
                assert!(off < 1e-8, "{kind:?} {rows:?} {s}: {off}");
            }
        }
        let hard = logarithmic(2e3, 1e3, f64::INFINITY).with_incompressibility(PerNode);
        let off = off_expanded(hard, kind, -1e4, 1.0);
        assert!(off < 1e-8, "{kind:?}: {off}");
    }
}

/// A block that is held at one end, sheared and pressed at the other, and at rest between them.
fn deformed(add: impl Fn(&mut Model, &Mesh) -> SolidParts, kind: ElementKind) -> Vec<f64> {
    let mesh = of_kind(Mesh::hexahedral_box([1.0, 0.5, 0.5], [4, 2, 2]).unwrap(), kind);
    let mut model = Model::new();
    let parts = add(&mut model, &mesh);
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
    }
    let mut simulation = Simulation::new(model).unwrap();
    for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 1.0) {
        simulation.set_force(parts.nodes, k, &[-4.0, 3.0, 6.0]).unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    simulation.positions(parts.nodes).to_vec()
}

fn assert_alike(one: &[f64], other: &[f64], what: &str) {
    let apart = one
        .iter()
        .zip(other)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    let rest = one.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    println!("{what}: {apart:e} of {rest}");
    // Equilibria are found to 1e-9 of the forces.
    assert!(apart < 1e-8, "{what}: {apart}");
}

/// Parts of one energy add up to it: of rubber the terms of both invariants, of linear laws halves;
/// with volume rows, whoever has the bulk modulus.
#[test]
fn parts_of_an_energy_add_up_to_it() {
    let (c1, c2, k) = (2e3, 1e3, 4e4);
    let one = |solid: Solid, kind| deformed(|model, mesh| solid.add_to(model, "block", mesh).unwrap(), kind);
    let sum = |terms: &[Solid], kind| {
        let [first, others @ ..] = terms else {
            panic!("no terms");
        };
        deformed(
            |model, mesh| first.add_sum_to(model, "block", mesh, others).unwrap(),
            kind,
        )
    };
    for kind in [ElementKind::Hex8, ElementKind::Hex20, ElementKind::Tet4] {
        for rows in [None, PerElement, PerNode] {
            for volume in [VolumeEnergy::Quadratic, VolumeEnergy::Logarithmic] {
                let of = |c1, c2, k| {
                    rubber(c1, c2, k)
                        .with_volume_energy(volume)
                        .with_incompressibility(rows)
                };
                let whole = one(of(c1, c2, k), kind);
                let what = format!("{kind:?} {rows:?} {volume:?}");
                assert_alike(&whole, &sum(&[of(c1, 0.0, k), of(0.0, c2, 0.0)], kind), &what);
                assert_alike(&whole, &sum(&[of(c1, 0.0, 0.0), of(0.0, c2, k)], kind), &what);
                let three = [
                    of(0.3 * c1, 0.0, 0.2 * k),
                    of(0.0, c2, 0.5 * k),
                    of(0.7 * c1, 0.0, 0.3 * k),
                ];
                assert_alike(&whole, &sum(&three, kind), &what);
            }
            // Of what relaxes, rest is that of the long-time moduli.
            let share = if rows == None { 0.4 } else { 0.0 };
            let term = PronyTerm {
                time: 0.1,
                shear: 0.4,
                bulk: share,
            };
            let series = PronySeries::new(&[term]).unwrap();
            let of = |c1, c2, k| {
                rubber(c1, c2, k)
                    .with_incompressibility(rows)
                    .with_viscoelasticity(series)
            };
            let whole = one(of(c1, c2, k), kind);
            let what = format!("{kind:?} {rows:?} relaxed");
            assert_alike(&whole, &sum(&[of(c1, 0.0, k), of(0.0, c2, 0.0)], kind), &what);
            let linear = |young| Solid::corotational(young, 0.3).with_incompressibility(rows);
            let whole = one(linear(1e4), kind);
            let what = format!("{kind:?} {rows:?} corotational");
            assert_alike(&whole, &sum(&[linear(4e3), linear(6e3)], kind), &what);
            // Half on strains and half on gradients, which has no part of the volume alone.
            if rows == None {
                let other = Solid::hyperelastic(StrainEnergy::corotational(6e3, 0.3));
                assert_alike(&whole, &sum(&[linear(4e3), other], kind), &what);
                assert_alike(&whole, &sum(&[other, linear(4e3)], kind), &what);
            }
        }
    }
}

/// The stress in a block that moves evenly is the sum of those of each material alone, its names are
/// those of the documentation, and terms vary with the place by themselves.
#[test]
fn stresses_of_materials_add_up() {
    let fibres = FibreFamily {
        k1: 3e3,
        k2: 0.8,
        dispersion: 0.1,
        direction: [1.0, 1.0, 0.0],
    };
    let solids = [
        Solid::hyperelastic(StrainEnergy::neo_hookean(1e4, 0.3)),
        Solid::st_venant_kirchhoff(2e4, 0.2),
        Solid::hyperelastic(StrainEnergy::fibre_reinforced(1e3, &[fibres], 0.0).unwrap()),
    ];
    let mesh = Mesh::hexahedral_box([1.0; 3], [1, 1, 1]).unwrap();
    let f = Mat3::new(1.2, 0.3, -0.1, 0.0, 0.9, 0.2, 0.1, -0.2, 1.1);
    let stress = |add: &dyn Fn(&mut Model, NodeId) -> SolidParts| {
        let image = |x: &[f64; 3]| -> [f64; 3] { (f * Vec3::from(*x)).into() };
        let places: Vec<_> = mesh.nodes.iter().map(image).collect();
        let mut model = Model::new();
        let nodes = model.add_particles("block", &places).unwrap();
        let parts = add(&mut model, nodes);
        let names = [parts.material].into_iter().chain(parts.beside.clone());
        let names = names
            .map(|id| model.component_name(id).to_owned())
            .collect::<Vec<_>>();
        (Simulation::new(model).unwrap().solid_fields(&parts).stress, names)
    };
    let alone =
        solids.map(|solid| stress(&|model, nodes| solid.add_on(model, "block", nodes, &mesh).unwrap()).0);
    let assert_sum = |found: &[[f64; 6]], weights: &dyn Fn(usize) -> [f64; 3]| {
        for (q, found) in found.iter().enumerate() {
            let weights = weights(q);
            for k in 0..6 {
                let exact: f64 = (0..3).map(|m| weights[m] * alone[m][q][k]).sum();
                assert!(
                    (found[k] - exact).abs() < 1e-12 * 1e4,
                    "{q} {k}: {} {exact}",
                    found[k]
                );
            }
        }
    };
    let sum = |name: &'static str, of_second: Option<&dyn Fn(usize, [f64; 3]) -> Solid>| {
        stress(&|model, nodes| {
            let term = |solid, varies| SolidTerm { solid, varies };
            let region = SolidRegion {
                name,
                elements: Option::None,
                solid: solids[0],
                varies: Option::None,
                beside: &[term(solids[1], of_second), term(solids[2], Option::None)],
            };
            let parts = Solid::add_regions_on(model, "block", nodes, &mesh, &[region]);
            parts.unwrap().pop().unwrap()
        })
    };
    let (all, names) = sum("", Option::None);
    assert_eq!(names, ["block.material", "block.material_2", "block.material_3"]);
    assert_sum(&all, &|_| [1.0; 3]);
    // The second one twice as stiff at the far half.
    let at = |_: usize, x: [f64; 3]| Solid::st_venant_kirchhoff(if x[0] > 0.5 { 4e4 } else { 2e4 }, 0.2);
    let (varying, names) = sum("core", Some(&at));
    assert_eq!(names[2], "block.core.material_3");
    let far = points_beyond_half(&mesh);
    assert_eq!(far.iter().filter(|far| **far).count(), 4);
    assert_sum(&varying, &|q| [1.0, if far[q] { 2.0 } else { 1.0 }, 1.0]);
}

/// Which points of integration of a cube lie at x above 1/2: asked of a solid that varies.
fn points_beyond_half(mesh: &Mesh) -> Vec<bool> {
    let seen = std::cell::RefCell::new(Vec::new());
    let look = |x: [f64; 3]| {
        seen.borrow_mut().push(x[0] > 0.5);
        Solid::st_venant_kirchhoff(1.0, 0.0).without_mass()
    };
    let solid = Solid::st_venant_kirchhoff(1.0, 0.0).without_mass();
    solid
        .add_varying_to(&mut Model::new(), "cube", mesh, &look)
        .unwrap();
    seen.into_inner()
}

#[test]
fn what_does_not_add_up_is_refused_in_words() {
    let mesh = Mesh::hexahedral_box([1.0; 3], [1, 1, 1]).unwrap();
    let neo = Solid::hyperelastic(StrainEnergy::neo_hookean(1e4, 0.3));
    let refused = |terms: &[Solid], part: &str| {
        let found = terms[0].add_sum_to(&mut Model::new(), "block", &mesh, &terms[1..]);
        let error: ContinuumError = found.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(part), "{text} should say {part}");
        println!("{text}");
    };
    let metal = Solid::corotational(1e4, 0.3).with_plasticity(Plasticity::perfect(1e3));
    refused(&[metal, neo], "what yields has one law");
    refused(&[Solid::linear(1e4, 0.3), neo], "small strains");
    refused(&[neo, Solid::linear(1e4, 0.3)], "small strains");
    let two = [
        Solid::corotational(1e4, 0.3),
        Solid::st_venant_kirchhoff(1e4, 0.3),
    ];
    refused(&two, "two measures of strains");
    let rows = |solid: Solid| solid.with_incompressibility(PerElement);
    let mixed = [rows(rubber(1e3, 0.0, 1e4)), logarithmic(1e3, 0.0, 1e4)];
    refused(&mixed, "volume rows of materials that have not the same");
    refused(
        &[rows(rubber(1e3, 0.0, 1e4)), neo],
        "no part that is of the volume alone",
    );
    refused(
        &[rows(rubber(1e3, 0.0, 0.0)), rubber(1e3, 0.0, 0.0)],
        "positive in one of the materials",
    );
    let logarithm = neo.with_volume_energy(VolumeEnergy::Logarithmic);
    let error = logarithm.add_to(&mut Model::new(), "block", &mesh).unwrap_err();
    assert!(
        error.to_string().contains("energy of the change of volume"),
        "{error}"
    );
}
