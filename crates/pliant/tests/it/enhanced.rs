//! Hexahedra with enhanced strains: bending, nearly incompressible materials, patches, motion.

use crate::tools::worst;
use pliant::continuum::{
    Enhancement, Incompressibility, Mesh, Plasticity, PronySeries, PronyTerm, Solid, SolidRegion,
    StrainEnergy,
};
use pliant::prelude::*;

const SIDE: f64 = 1.0;
const LENGTH: f64 = 10.0;
const YOUNG: f64 = 1e7;
const LOAD: f64 = 100.0;

/// Clamps, Poisson's ratios, and deflections over Timoshenko's beam without modes, with `Bending`,
/// with both, as `enhanced.py` has them by numpy.
const REFERENCE: &str = include_str!("../../../../benches/reference/enhanced.txt");

/// A cantilever of 10 x 1 x 1 elements with a load across its end: how far the end goes. Its first
/// section is held, or stays in its plane, in which it may contract.
fn end_of_cantilever(solid: Solid, is_held: bool) -> f64 {
    let mesh = Mesh::hexahedral_box([LENGTH, SIDE, SIDE], [10, 1, 1]).unwrap();
    let mut model = Model::new();
    let parts = solid.without_mass().add_to(&mut model, "beam", &mesh).unwrap();
    let mut end = Vec::new();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            let low = x[1] == 0.0;
            let axes = [true, is_held || low, is_held || low && x[2] == 0.0];
            model.fix(parts.nodes, k, &axes).unwrap();
        }
        if x[0] == LENGTH {
            end.push(k);
        }
    }
    let mut simulation = Simulation::new(model).unwrap();
    for k in &end {
        simulation
            .set_force(parts.nodes, *k, &[0.0, 0.25 * LOAD, 0.0])
            .unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let x = simulation.positions(parts.nodes);
    end.iter().map(|k| x[3 * k + 1] - mesh.nodes[*k][1]).sum::<f64>() / 4.0
}

/// Timoshenko's cantilever: `P L^3/(3 E I) + P L/(k G A)` with `k = 10(1 + nu)/(12 + 11 nu)` of a
/// square (Cowper 1966).
fn timoshenko(poisson: f64) -> f64 {
    let shear = YOUNG / (2.0 * (1.0 + poisson));
    let k = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    LOAD * LENGTH.powi(3) / (3.0 * YOUNG * SIDE.powi(4) / 12.0) + LOAD * LENGTH / (k * shear * SIDE * SIDE)
}

/// One element over the depth bends as the beam does, whatever Poisson's ratio; without modes it
/// locks. Of ten elements along, each of which is curved evenly, the sag misses `1/(4 10^2)`, and
/// what they miss of the warping of shear: half a percent in all. With `Bending` alone the volume
/// makes them too stiff where the bending changes along the beam: by 6 % at 0.4999; and so does a
/// clamp that holds the contraction, by 3 % then.
#[test]
fn beams_of_one_layer_bend() {
    let kinds = [
        None,
        Some(Enhancement::Bending),
        Some(Enhancement::BendingAndVolume),
    ];
    for line in REFERENCE.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let numbers: Vec<f64> = words[1..].iter().map(|word| word.parse().unwrap()).collect();
        let (is_held, poisson) = (words[0] == "held", numbers[0]);
        let expected = timoshenko(poisson);
        let shear = YOUNG / (2.0 * (1.0 + poisson));
        let lame = 2.0 * shear * poisson / (1.0 - 2.0 * poisson);
        let mut found = [0.0; 3];
        for (k, kind) in kinds.into_iter().enumerate() {
            let share = |solid: Solid| {
                let solid = match kind {
                    Some(modes) => solid.with_enhanced_strains(modes),
                    None => solid,
                };
                end_of_cantilever(solid, is_held) / expected
            };
            let reference = numbers[1 + k];
            found[k] = share(Solid::linear(YOUNG, poisson));
            // Both solve a system whose condition is 1e8 at a ratio of 0.4999.
            assert!((found[k] - reference).abs() < 1e-8, "{line}: {}", found[k]);
            for solid in [
                Solid::corotational(YOUNG, poisson),
                Solid::st_venant_kirchhoff(YOUNG, poisson),
                Solid::hyperelastic(StrainEnergy::NeoHookean { shear, lame }),
            ] {
                // Of second degree in the turn of the end, 6e-3.
                let other = share(solid);
                assert!((other - found[k]).abs() < 1e-4, "{line}: {other} {}", found[k]);
            }
        }
        let [plain, bending, both] = found;
        println!(
            "{} {poisson}: {plain:.4} without, {bending:.4} and {both:.4} with modes",
            words[0]
        );
        assert!(plain < 0.67);
        assert!(is_held || (both - 1.0).abs() < 0.005, "{line}: {both}");
    }
}

/// Laws with a past: what a viscoelastic beam never relaxes is a share of its stiffness, and one that
/// does not yield is elastic.
#[test]
fn laws_with_a_past_bend_too() {
    let modes = Enhancement::BendingAndVolume;
    let law = Solid::corotational(YOUNG, 0.3).with_enhanced_strains(modes);
    let elastic = end_of_cantilever(law, false);
    let term = PronyTerm {
        time: 1.0,
        shear: 0.25,
        bulk: 0.25,
    };
    let series = PronySeries::new(&[term]).unwrap();
    let slow = end_of_cantilever(law.with_viscoelasticity(series), false);
    // Linear, but for the turn of the end.
    assert!((slow * 0.75 / elastic - 1.0).abs() < 1e-4, "{slow} {elastic}");
    let strong = law.with_plasticity(Plasticity::perfect(1e6));
    let same = end_of_cantilever(strong, false);
    assert!((same / elastic - 1.0).abs() < 1e-9, "{same} {elastic}");
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
                        size > 1e-4 && off < if first_order { 0.05 } else { 0.02 } * size,
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
            assert!((share - 1.0).abs() < 0.015, "{share}");
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
        beside: &[],
    };
    let mut model = Model::new();
    let nodes = model.add_particles("parts", &mesh.nodes).unwrap();
    let regions = [region("hard", &all[..1]), region("soft", &all[1..])];
    let parts = Solid::add_regions_on(&mut model, "parts", nodes, &mesh, &regions).unwrap();
    assert!(parts[0].modes.is_some() && parts[1].modes.is_none());
}

/// Methods that begin with an acceleration, or are explicit, refuse what has no mass, by its name.
#[test]
fn methods_that_want_masses_refuse_modes() {
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [6, 1, 1]).unwrap();
    for integrator in [
        Integrator::generalised_alpha(0.8),
        Integrator::newmark(0.25, 0.5),
        Integrator::Rattle,
        Integrator::SymplecticEuler,
    ] {
        let mut model = Model::new();
        let solid = Solid::linear(1e5, 0.3).with_enhanced_strains(Enhancement::Bending);
        solid.add_to(&mut model, "beam", &mesh).unwrap();
        let options = Options {
            integrator,
            ..Options::default()
        };
        let mut simulation = Simulation::with_options(model, options).unwrap();
        let error = simulation.step(1e-3).unwrap_err().to_string();
        assert!(error.contains("beam.modes"), "{error}");
    }
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
