//! Solids of several materials, materials that vary from place to place, and anisotropic blocks,
//! against closed forms.

use pliant::continuum::{
    ContinuumError, Elasticity, FibreFamily, Incompressibility, Mesh, Orthotropic, Solid, SolidParts,
    SolidRegion, StrainEnergy, StrainMeasure,
};
use pliant::model::Mass;
use pliant::prelude::*;

/// A law of Young's modulus and Poisson's ratio.
type Law = fn(f64, f64) -> Solid;

/// Stresses of axes 1 and 2 over the squares of the stretches.
type Stresses<'a> = &'a dyn Fn([f64; 3]) -> [f64; 2];

/// Edge of the section of bars, and the force on their end.
const SIDE: f64 = 0.1;
const FORCE: f64 = 1e-3;

/// Shares of a unit traction on a face across x, which the shape functions give to nodes.
fn face_weights(mesh: &Mesh, x: f64) -> Vec<(usize, f64)> {
    let on_face: Vec<usize> = (0..mesh.nodes.len()).filter(|k| mesh.nodes[*k][0] == x).collect();
    // Two by two cells of 8 nodes, or one of 20: the weights of the trapezoid, or of Simpson
    // without a middle.
    let share = |k: usize| {
        let middle = |v: f64| (v - 0.5 * SIDE).abs() < 1e-9;
        let [_, y, z] = mesh.nodes[k];
        match (on_face.len(), middle(y), middle(z)) {
            (9, true, true) => 0.25,
            (9, true, false) | (9, false, true) => 0.125,
            (9, ..) => 0.0625,
            (8, true, _) | (8, _, true) => 1.0 / 3.0,
            (8, ..) => -1.0 / 12.0,
            _ => 1.0 / on_face.len() as f64,
        }
    };
    on_face.iter().map(|k| (*k, share(*k))).collect()
}

/// Mean displacement of the end of a bar along x that is pulled.
fn elongation(mesh: &Mesh, add: impl Fn(&mut Model) -> NodeId) -> f64 {
    let mut model = Model::new();
    let nodes = add(&mut model);
    for (k, x) in mesh.nodes.iter().enumerate() {
        model
            .fix(nodes, k, &[x[0] == 0.0, x[1] == 0.0, x[2] == 0.0])
            .unwrap();
    }
    let mut simulation = Simulation::new(model).unwrap();
    let ends = face_weights(mesh, 1.0);
    for (k, weight) in &ends {
        simulation
            .set_force(nodes, *k, &[FORCE * weight, 0.0, 0.0])
            .unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let x = simulation.positions(nodes);
    ends.iter().map(|(k, weight)| weight * (x[3 * k] - 1.0)).sum()
}

/// Elements of a mesh on both sides of a plane across x.
fn halves(mesh: &Mesh, at: f64) -> [Vec<usize>; 2] {
    let is_left = |e: &usize| {
        let nodes = &mesh.elements[*e].nodes;
        nodes.iter().map(|n| mesh.nodes[*n][0]).sum::<f64>() / (nodes.len() as f64) < at
    };
    (0..mesh.elements.len()).partition::<Vec<_>, _>(is_left).into()
}

fn regions<'a>(elements: &'a [Vec<usize>; 2], solids: [Solid; 2]) -> [SolidRegion<'a>; 2] {
    let region = |k: usize, name| SolidRegion {
        name,
        elements: Some(&elements[k]),
        solid: solids[k],
        varies: None,
        beside: &[],
    };
    [region(0, "left"), region(1, "right")]
}

/// `F/A (a/E1 + b/E2)`, of laws of different kinds, which are the same where strains are small.
#[test]
fn a_bar_of_two_materials_in_series_gives_way_as_both_do() {
    let (soft, hard) = (1e4, 7e5);
    let exact = FORCE / (SIDE * SIDE) * (0.4 / soft + 0.6 / hard);
    let solids = [
        [Solid::linear(soft, 0.0), Solid::linear(hard, 0.0)],
        [
            Solid::linear(soft, 0.0),
            Solid::linear(hard, 0.0).with_treatment(Treatment::Compliance),
        ],
        [
            Solid::linear(soft, 0.0).with_incompressibility(Incompressibility::PerElement),
            Solid::linear(hard, 0.0),
        ],
    ];
    let mesh = Mesh::hexahedral_box([1.0, SIDE, SIDE], [5, 2, 2]).unwrap();
    for solids in solids {
        let elements = halves(&mesh, 0.4);
        let found = elongation(&mesh, |model| {
            let nodes = model.add_particles("bar", &mesh.nodes).unwrap();
            let all = regions(&elements, solids);
            let parts = Solid::add_regions_on(model, "bar", nodes, &mesh, &all).unwrap();
            assert_eq!(parts.len(), 2);
            assert!(model.node_named("bar.left.gradients").is_some());
            nodes
        });
        println!("{solids:?}: {found:e} {exact:e}");
        assert!((found / exact - 1.0).abs() < 1e-7, "{solids:?}: {found} {exact}");
    }
    // Laws of large strains differ from the linear one by the strain, 1e-5 of it squared.
    let found = elongation(&mesh, |model| {
        let nodes = model.add_particles("bar", &mesh.nodes).unwrap();
        let rubber = Solid::hyperelastic(StrainEnergy::neo_hookean(soft, 0.0));
        let elements = halves(&mesh, 0.4);
        let all = regions(&elements, [rubber, Solid::corotational(hard, 0.0)]);
        Solid::add_regions_on(model, "bar", nodes, &mesh, &all).unwrap();
        nodes
    });
    assert!((found / exact - 1.0).abs() < 2e-5, "{found} {exact}");
}

/// `E = E0 (1 + x)`: the bar becomes longer by `F/(A E0) ln 2`. The elements of 20 nodes miss it by
/// the fourth power of their length.
#[test]
fn a_graded_bar_gives_way_by_the_integral_of_its_compliance() {
    let young = 1e4;
    let exact = FORCE / (SIDE * SIDE * young) * 2f64.ln();
    let laws: [(bool, Law); 2] = [(true, Solid::linear), (false, Solid::corotational)];
    for (is_linear, law) in laws {
        let miss = |cells: usize| {
            let mesh = Mesh::hexahedral_box([1.0, SIDE, SIDE], [cells, 1, 1]).unwrap();
            let mesh = mesh.into_quadratic();
            let found = elongation(&mesh, |model| {
                let at = |x: [f64; 3]| law(young * (1.0 + x[0]), 0.0);
                let parts = law(young, 0.0).add_varying_to(model, "bar", &mesh, &at);
                parts.unwrap().nodes
            });
            (found / exact - 1.0).abs()
        };
        let (coarse, fine) = (miss(4), miss(8));
        println!("{coarse:e} {fine:e}");
        // Corotational strains are a little off the linear ones: 1e-5 of strain.
        assert!(coarse < 5e-5 && fine < 1e-5, "{coarse} {fine}");
        if is_linear {
            assert!(coarse / fine > 12.0, "{coarse} {fine}");
            assert!(miss(32) < 1e-7);
        }
    }
}

/// Mass of `rho = 1000 (1 + 2 x)` and its first moment, `integral of rho x`.
#[test]
fn mass_is_that_of_the_density_at_each_place() {
    let mesh = Mesh::hexahedral_box([1.0, SIDE, SIDE], [4, 1, 1])
        .unwrap()
        .into_quadratic();
    let mut model = Model::new();
    let base = Solid::linear(1e6, 0.3).with_mass(pliant::continuum::MassMatrix::Consistent);
    let at = |x: [f64; 3]| base.with_density(1000.0 * (1.0 + 2.0 * x[0]));
    base.add_varying_to(&mut model, "bar", &mesh, &at).unwrap();
    let Mass::Coupled(elements) = &model.masses()[0].component else {
        panic!("a consistent mass is coupled");
    };
    let (mut total, mut moment) = (0.0, 0.0);
    for element in elements {
        let n = element.elements.len();
        for (k, entry) in element.matrix.iter().enumerate() {
            total += entry;
            moment += entry * mesh.nodes[element.elements[k % n]][0];
        }
    }
    let exact = [2000.0, 1000.0 * (0.5 + 2.0 / 3.0)].map(|x| x * SIDE * SIDE);
    assert!((total - exact[0]).abs() < 1e-12 * exact[0], "{total}");
    assert!((moment - exact[1]).abs() < 1e-12 * exact[1], "{moment}");
    // Lumped, it is the same in all.
    let mut model = Model::new();
    let base = Solid::linear(1e6, 0.3);
    let at = |x: [f64; 3]| base.with_density(1000.0 * (1.0 + 2.0 * x[0]));
    base.add_varying_to(&mut model, "bar", &mesh, &at).unwrap();
    let Mass::PerElement(lumped) = &model.masses()[0].component else {
        panic!("a lumped mass is per point");
    };
    assert!((lumped.iter().sum::<f64>() - exact[0]).abs() < 1e-12 * exact[0]);
}

#[test]
fn every_element_has_one_material() {
    let mesh = Mesh::hexahedral_box([1.0, SIDE, SIDE], [5, 1, 1]).unwrap();
    let solids = [Solid::linear(1.0, 0.3), Solid::linear(2.0, 0.3)];
    let try_with = |elements: [Vec<usize>; 2]| {
        let mut model = Model::new();
        let nodes = model.add_particles("bar", &mesh.nodes).unwrap();
        let error = Solid::add_regions_on(&mut model, "bar", nodes, &mesh, &regions(&elements, solids));
        error.unwrap_err().to_string()
    };
    assert_eq!(try_with([vec![0, 1], vec![2, 4]]), "element 3 has no material");
    assert_eq!(
        try_with([vec![0, 1, 2], vec![2, 3, 4]]),
        "element 2 has two materials: `left` and `right`"
    );
    assert!(try_with([vec![0, 1, 2, 3, 4], vec![7]]).contains("no such element"));
    let mut model = Model::new();
    let at = |x: [f64; 3]| Solid::linear(1.0 - 2.0 * x[0], 0.3);
    let error = Solid::linear(1.0, 0.3).add_varying_to(&mut model, "bar", &mesh, &at);
    assert!(matches!(error, Err(ContinuumError::Point { .. })), "{error:?}");
    let message = error.unwrap_err().to_string();
    assert!(
        message.contains("Young's modulus is -") && message.contains(", at (0.5"),
        "{message}"
    );
    let mut model = Model::new();
    let other = |_: [f64; 3]| Solid::corotational(1.0, 0.3);
    assert!(
        Solid::linear(1.0, 0.3)
            .add_varying_to(&mut model, "bar", &mesh, &other)
            .is_err()
    );
}

/// The unit cube under forces of these nominal stresses (Pa) along x and y without change of
/// volume; the simulation at rest.
fn block(solid: Solid, stresses: [f64; 2]) -> (Simulation, SolidParts, Mesh) {
    let mesh = Mesh::hexahedral_box([1.0; 3], [2; 3]).unwrap();
    let mut model = Model::new();
    let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        model
            .fix(parts.nodes, k, &[x[0] == 0.0, x[1] == 0.0, x[2] == 0.0])
            .unwrap();
    }
    let mut simulation = Simulation::new(model).unwrap();
    let weight = |v: f64| if v == 0.5 { 0.5 } else { 0.25 };
    for (k, x) in mesh.nodes.iter().enumerate() {
        let on = |axis: usize, a: usize, b: usize| match x[axis] == 1.0 {
            true => stresses[axis] * weight(x[a]) * weight(x[b]),
            false => 0.0,
        };
        let force = [on(0, 1, 2), on(1, 2, 0), 0.0];
        simulation.set_force(parts.nodes, k, &force).unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    (simulation, parts, mesh)
}

/// Blocks of tissue under dead loads: stretches, and the Cauchy stress `l_i P_i` in the output.
#[test]
fn blocks_of_tissue_are_stretched_as_the_closed_forms_say() {
    let (mu, k1, k2, d) = (3.0, 2.3, 0.84, 0.1);
    let (s, c) = 0.7f64.sin_cos();
    let family = |direction| FibreFamily {
        k1,
        k2,
        dispersion: d,
        direction,
    };
    let families = [family([c, s, 0.0]), family([c, -s, 0.0])];
    let fibres = StrainEnergy::fibre_reinforced(mu, &families, f64::INFINITY).unwrap();
    let of_fibres = |squares: [f64; 3]| -> [f64; 2] {
        let along = squares[0] * c * c + squares[1] * s * s;
        let e = d * (squares.iter().sum::<f64>() - 3.0) + (1.0 - 3.0 * d) * (along - 1.0);
        let slope = if e > 0.0 { k1 * e * (k2 * e * e).exp() } else { 0.0 };
        let of = |i: usize, n: f64| {
            let turned = d * (squares[i] - squares[2]) + (1.0 - 3.0 * d) * squares[i] * n * n;
            mu * (squares[i] - squares[2]) + 4.0 * slope * turned
        };
        [of(0, c), of(1, s)]
    };
    let (cf, m) = (1.7, [0.9, 1.4, 0.6]);
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let fung = StrainEnergy::fung_orthotropic(cf, m, [0.0; 6], axes, f64::INFINITY).unwrap();
    let of_fung = |squares: [f64; 3]| -> [f64; 2] {
        let e = squares.map(|q| 0.5 * (q - 1.0));
        let q: f64 = (0..3).map(|k| 2.0 * m[k] * e[k] * e[k] / cf).sum();
        let sigma = |k: usize| q.exp() * squares[k] * 2.0 * m[k] * e[k];
        [sigma(0) - sigma(2), sigma(1) - sigma(2)]
    };
    let laws: [(StrainEnergy, Stresses<'_>); 2] = [(fibres, &of_fibres), (fung, &of_fung)];
    for (energy, sigma) in laws {
        let solid = Solid::hyperelastic(energy).with_incompressibility(Incompressibility::PerElement);
        for [x, y] in [[1.3, 1.1], [1.4, 0.95]] {
            let l = [x, y, 1.0 / (x * y)];
            let exact = sigma(l.map(|l| l * l));
            let (simulation, parts, mesh) = block(solid, [exact[0] / x, exact[1] / y]);
            let places = simulation.positions(parts.nodes).chunks(3);
            for (rest, now) in mesh.nodes.iter().zip(places) {
                for k in 0..3 {
                    // As in the tests of rubber: equilibria to 1e-9 of the forces.
                    assert!((now[k] - l[k] * rest[k]).abs() < 1e-8, "{energy:?} {l:?} {now:?}");
                }
            }
            for stress in simulation.solid_fields(&parts).stress {
                let off = [stress[0] - exact[0], stress[1] - exact[1], stress[2], stress[3]];
                assert!(
                    off.iter().all(|s| s.abs() < 1e-7),
                    "{energy:?} {stress:?} {exact:?}"
                );
            }
        }
    }
}

/// A bar of wood at an angle to its grain, pulled at both ends and free to shear: all its strain is
/// `S sigma`, `1/E = c^4/E1 + s^4/E2 + (1/G - 2 nu/E1) s^2 c^2` along it.
#[test]
fn a_bar_of_wood_gives_way_by_the_angle_of_its_grain() {
    let law = |degrees: f64| {
        let (s, c) = degrees.to_radians().sin_cos();
        Orthotropic {
            axes: [[c, s, 0.0], [-s, c, 0.0]],
            ..Orthotropic::along_axes([1e6, 8e4, 5e4], [0.4, 0.5, 0.02], [7e4, 5e3, 6e4])
        }
    };
    for degrees in [0.0, 20.0, 45.0, 90.0] {
        let (s, c) = f64::to_radians(degrees).sin_cos();
        let law = law(degrees);
        let shear = 1.0 / law.shear[0] - 2.0 * law.poisson[0] / law.young[0];
        let compliance = c.powi(4) / law.young[0] + s.powi(4) / law.young[1] + shear * s * s * c * c;
        let mesh = Mesh::hexahedral_box([1.0, SIDE, SIDE], [5, 2, 2]).unwrap();
        let solid = Solid::of_strains(StrainMeasure::Small, Elasticity::Orthotropic(law));
        let mut model = Model::new();
        let parts = solid.add_to(&mut model, "bar", &mesh).unwrap();
        // Three nodes hold it as a rigid body is held.
        for (k, x) in mesh.nodes.iter().enumerate() {
            let held = match x.map(|x| x > 0.0) {
                [false, false, false] => [true; 3],
                [true, false, false] if x[0] == 1.0 => [false, true, true],
                [false, true, false] if x[1] == SIDE => [false, false, true],
                _ => continue,
            };
            model.fix(parts.nodes, k, &held).unwrap();
        }
        let mut simulation = Simulation::new(model).unwrap();
        for (x, sign) in [(0.0, -1.0), (1.0, 1.0)] {
            for (k, weight) in face_weights(&mesh, x) {
                simulation
                    .set_force(parts.nodes, k, &[sign * FORCE * weight, 0.0, 0.0])
                    .unwrap();
            }
        }
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        let fields = simulation.solid_fields(&parts);
        let sigma = FORCE / (SIDE * SIDE);
        for (stress, strain) in fields.stress.iter().zip(&fields.strain) {
            assert!((stress[0] / sigma - 1.0).abs() < 1e-7, "{degrees}: {stress:?}");
            let found = strain[0] / sigma / compliance;
            assert!((found - 1.0).abs() < 1e-7, "{degrees}: {found}");
        }
    }
}
