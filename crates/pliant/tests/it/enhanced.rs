//! Hexahedra with enhanced strains: bending, nearly incompressible materials, patches, motion.

use crate::tools::worst;
use pliant::continuum::{Enhancement, Incompressibility, Mesh, Solid, SolidRegion, StrainEnergy};
use pliant::prelude::*;

const SIDE: f64 = 1.0;
const LENGTH: f64 = 10.0;
const YOUNG: f64 = 1e7;

/// A cantilever of 10 x 1 x 1 elements with a load across its end: how far the end goes. Its first
/// section stays in its plane, in which it may contract.
fn end_of_cantilever(solid: Solid, load: f64) -> f64 {
    let mesh = Mesh::hexahedral_box([LENGTH, SIDE, SIDE], [10, 1, 1]).unwrap();
    let mut model = Model::new();
    let parts = solid.without_mass().add_to(&mut model, "beam", &mesh).unwrap();
    let mut end = Vec::new();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            let low = x[1] == 0.0;
            model
                .fix(parts.nodes, k, &[true, low, low && x[2] == 0.0])
                .unwrap();
        }
        if x[0] == LENGTH {
            end.push(k);
        }
    }
    let mut simulation = Simulation::new(model).unwrap();
    for k in &end {
        simulation
            .set_force(parts.nodes, *k, &[0.0, 0.25 * load, 0.0])
            .unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let x = simulation.positions(parts.nodes);
    end.iter().map(|k| x[3 * k + 1] - mesh.nodes[*k][1]).sum::<f64>() / 4.0
}

/// Timoshenko's cantilever: `P L^3/(3 E I) + P L/(k G A)` with `k = 10(1 + nu)/(12 + 11 nu)` of a
/// square (Cowper 1966).
fn timoshenko(load: f64, poisson: f64) -> f64 {
    let shear = YOUNG / (2.0 * (1.0 + poisson));
    let k = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    load * LENGTH.powi(3) / (3.0 * YOUNG * SIDE.powi(4) / 12.0) + load * LENGTH / (k * shear * SIDE * SIDE)
}

/// One element over the depth bends as the beam does, whatever Poisson's ratio; without modes it
/// locks. Of ten elements along, each of which is deflected evenly, the sag misses `1/(4 10^2)`, and what
/// they miss of the warping of shear: half a percent in all. With `Bending` alone the volume makes
/// them too stiff where the bending changes along the beam: by 6 % at 0.4999.
#[test]
fn beams_of_one_layer_bend() {
    let load = 100.0;
    for (poisson, locked, of_bending) in [
        (0.0, 0.67, 0.996),
        (0.3, 0.66, 0.996),
        (0.49, 0.51, 0.988),
        (0.4999, 0.4, 0.939),
    ] {
        let expected = timoshenko(load, poisson);
        let shear = YOUNG / (2.0 * (1.0 + poisson));
        let lame = 2.0 * shear * poisson / (1.0 - 2.0 * poisson);
        for solid in [
            Solid::linear(YOUNG, poisson),
            Solid::corotational(YOUNG, poisson),
            Solid::st_venant_kirchhoff(YOUNG, poisson),
            // Strains are a thousandth.
            Solid::hyperelastic(StrainEnergy::NeoHookean { shear, lame }),
        ] {
            let share = |solid| end_of_cantilever(solid, load) / expected;
            let plain = share(solid);
            let bending = share(solid.with_enhanced_strains(Enhancement::Bending));
            let both = share(solid.with_enhanced_strains(Enhancement::BendingAndVolume));
            println!("{poisson}: {plain} without, {bending} and {both} with modes");
            assert!(plain < locked, "{poisson}: {plain}");
            assert!((bending - of_bending).abs() < 1e-3, "{poisson}: {bending}");
            assert!((both - 1.0).abs() < 0.005, "{poisson}: {both}");
        }
    }
}

/// A patch of crooked elements under an affine motion of its surface: the inner nodes go along, and
/// the modes stay zero.
#[test]
fn patches_of_crooked_elements_stay_affine() {
    let mut mesh = Mesh::hexahedral_box([1.0; 3], [2; 3]).unwrap();
    let inner = mesh.nodes.iter().position(|x| *x == [0.5; 3]).unwrap();
    mesh.nodes[inner] = [0.58, 0.43, 0.55];
    let affine = |x: [f64; 3]| {
        let f = [[1.01, 0.02, -0.01], [0.0, 0.985, 0.015], [0.02, -0.01, 1.02]];
        [0, 1, 2].map(|i| (0..3).map(|j| f[i][j] * x[j]).sum::<f64>())
    };
    for law in [Solid::linear, Solid::corotational, Solid::st_venant_kirchhoff] {
        let solid = law(YOUNG, 0.3)
            .with_enhanced_strains(Enhancement::BendingAndVolume)
            .without_mass();
        let mut model = Model::new();
        let nodes: Vec<[f64; 3]> = mesh
            .nodes
            .iter()
            .enumerate()
            .map(|(k, x)| if k == inner { *x } else { affine(*x) })
            .collect();
        let points = model.add_particles("points", &nodes).unwrap();
        let parts = solid.add_on(&mut model, "patch", points, &mesh).unwrap();
        for k in (0..nodes.len()).filter(|k| *k != inner) {
            model.fix(points, k, &[true; 3]).unwrap();
        }
        let mut simulation = Simulation::new(model).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        let found = &simulation.positions(points)[3 * inner..][..3];
        // Forces are missed by 1e-10 of their terms.
        assert!(worst(found, &affine(mesh.nodes[inner])) < 1e-9, "{found:?}");
        let modes = simulation.positions(parts.modes.unwrap());
        assert!(modes.iter().all(|a| a.abs() < 1e-9), "{modes:?}");
    }
}

/// A beam falls and swings by every method that takes it: the modes have no mass and follow. Their
/// equations are sums that cancel where the material has no Poisson's ratio.
#[test]
fn enhanced_beams_swing() {
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [6, 1, 1]).unwrap();
    let mut ends: Vec<Vec<f64>> = Vec::new();
    for (place, integrator) in [
        Integrator::Sdirk2,
        Integrator::Nonlinear,
        Integrator::Theta,
        Integrator::bdf2(),
        Integrator::EnergyMomentum,
    ]
    .into_iter()
    .enumerate()
    {
        for (case, (law, poisson, modes)) in [
            (Solid::linear as fn(f64, f64) -> Solid, 0.0, Enhancement::Bending),
            (Solid::linear, 0.0, Enhancement::BendingAndVolume),
            (Solid::st_venant_kirchhoff, 0.0, Enhancement::BendingAndVolume),
            (Solid::st_venant_kirchhoff, 0.3, Enhancement::Bending),
            (Solid::st_venant_kirchhoff, 0.3, Enhancement::BendingAndVolume),
        ]
        .into_iter()
        .enumerate()
        {
            let mut model = Model::new();
            model.set_gravity([0.0, -9.81, 0.0]).unwrap();
            let solid = law(2e6, poisson)
                .with_density(1000.0)
                .with_enhanced_strains(modes);
            let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
            for (k, x) in mesh.nodes.iter().enumerate() {
                if x[0] == 0.0 {
                    model.fix(parts.nodes, k, &[true; 3]).unwrap();
                }
            }
            let options = Options {
                integrator: integrator.clone(),
                ..Options::default()
            };
            let mut simulation = Simulation::with_options(model, options).unwrap();
            let (mut sum, mut largest) = (0.0, 0.0f64);
            for _ in 0..60 {
                let report = simulation.step(5e-3).unwrap();
                sum += report.ledger.numerical;
                largest = largest.max(report.energies.kinetic);
            }
            println!("{integrator:?} {poisson} {modes:?}: {sum} of {largest}");
            let deflected = simulation.positions(parts.modes.unwrap());
            // Methods differ by their orders: the modes of each are those of the first to the
            // square of a step, a few percent of the first order ones.
            match place {
                0 => ends.push(deflected.to_vec()),
                _ => {
                    let size = ends[case].iter().fold(0.0f64, |a, x| a.max(x.abs()));
                    let off = ends[case]
                        .iter()
                        .zip(deflected)
                        .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
                    let first_order = matches!(integrator, Integrator::Nonlinear | Integrator::Theta);
                    println!("{off} of {size}");
                    assert!(
                        size > 1e-4 && off < if first_order { 0.2 } else { 0.03 } * size,
                        "{off} {size}"
                    );
                }
            }
            // At 60 steps in a period the first is damped to the square of a step, a percent; the
            // energy of linear forces and of the last method is kept to rounding.
            if integrator == Integrator::Sdirk2 {
                assert!(sum.abs() < 0.01 * largest, "{sum} {largest}");
            }
            if integrator == Integrator::EnergyMomentum {
                assert!(sum.abs() < 1e-8 * largest, "{sum} {largest}");
            }
        }
    }
}

/// The first frequency of a cantilever of one layer, Euler's `1.8751^2 sqrt(E I/(rho A L^4))`, and
/// far from the origin too. Masses at the corners make it 1 % slower at ten elements, shear 1 %.
#[test]
fn enhanced_beams_vibrate_as_beams() {
    for shift in [[0.0; 3], [1e3, -2e3, 500.0]] {
        let mut mesh = Mesh::hexahedral_box([LENGTH, SIDE, SIDE], [10, 1, 1]).unwrap();
        for x in &mut mesh.nodes {
            (0..3).for_each(|k| x[k] += shift[k]);
        }
        let mut model = Model::new();
        let solid = Solid::corotational(YOUNG, 0.3)
            .with_density(1000.0)
            .with_enhanced_strains(Enhancement::Bending);
        let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if x[0] == shift[0] {
                model.fix(parts.nodes, k, &[true; 3]).unwrap();
            }
        }
        let mut simulation = Simulation::new(model).unwrap();
        let how = ModeOptions {
            count: 2,
            ..ModeOptions::default()
        };
        let found = simulation.modes(&how).unwrap();
        let bending = YOUNG * SIDE.powi(4) / 12.0;
        let expected = 1.875_104_07f64.powi(2) * (bending / (1000.0 * SIDE * SIDE * LENGTH.powi(4))).sqrt();
        for mode in &found.modes {
            let share = mode.angular_frequency() / expected;
            println!("{share}");
            assert!((share - 1.0).abs() < 0.03, "{share}");
        }
    }
}

/// Two materials, one of hexahedra and one of tetrahedra: the first has modes, whether they are asked
/// of both or of one alone.
#[test]
fn parts_without_hexahedra_have_no_modes() {
    let boxes = Mesh::hexahedral_box([1.0, 1.0, 1.0], [1; 3]).unwrap();
    let mut mesh = boxes.clone();
    let mut other = boxes.into_tetrahedra();
    let first = mesh.nodes.len();
    for x in &mut other.nodes {
        x[0] += 2.0;
    }
    mesh.nodes.extend(other.nodes);
    for element in &mut other.elements {
        element.nodes.iter_mut().for_each(|k| *k += first);
    }
    mesh.elements.extend(other.elements);
    let solid = Solid::linear(YOUNG, 0.3).with_enhanced_strains(Enhancement::Bending);
    let all: Vec<usize> = (0..mesh.elements.len()).collect();
    let region = |name: &'static str, elements| SolidRegion {
        name,
        elements: Some(elements),
        solid,
        varies: None,
    };
    let mut model = Model::new();
    let nodes = model.add_particles("parts", &mesh.nodes).unwrap();
    let regions = [region("hard", &all[..1]), region("soft", &all[1..])];
    let parts = Solid::add_regions_on(&mut model, "parts", nodes, &mesh, &regions).unwrap();
    assert!(parts[0].modes.is_some() && parts[1].modes.is_none());
}

/// Meshes without hexahedra have no modes, and rows of volume leave them without stiffness.
#[test]
fn enhanced_strains_are_refused_where_there_are_none() {
    let boxes = Mesh::hexahedral_box([1.0; 3], [1; 3]).unwrap();
    let quadratic = boxes.clone().into_quadratic();
    let refused = |solid: Solid, mesh: &Mesh| {
        let error = solid.add_to(&mut Model::new(), "solid", mesh).unwrap_err();
        error.to_string()
    };
    let solid = Solid::linear(YOUNG, 0.3).with_enhanced_strains(Enhancement::Bending);
    let found = refused(solid, &quadratic);
    assert!(found.contains("hexahedra of eight nodes"), "{found}");
    let rows = solid.with_incompressibility(Incompressibility::PerElement);
    let found = refused(rows, &boxes);
    assert!(found.contains("volume rows"), "{found}");
}
