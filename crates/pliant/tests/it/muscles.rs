//! Muscles in solids: free and isometric contraction, the energy of activations, regions.

use pliant::continuum::{
    ContinuumError, Incompressibility, Mesh, MuscleFibre, MuscleLaw, Solid, SolidMuscle, SolidParts,
    SolidRegion, StrainEnergy,
};
use pliant::prelude::*;

/// Stretches of a free block, as `muscle.py` finds them by numpy and scipy.
const REFERENCE: &str = include_str!("../../../../benches/reference/muscle.txt");

const GENERIC: MuscleLaw = MuscleLaw::Generic {
    stress: 3e4,
    passive: 2e3,
    exponent: 6.6,
    straight: 1.4,
};

const BLEMKER: MuscleLaw = MuscleLaw::Blemker {
    stress: 3e5,
    optimal: 1.1,
    passive: 0.05,
    exponent: 6.6,
    straight: 1.5,
    along: 0.0,
    across: 0.0,
};

fn tissue(bulk: f64) -> Solid {
    Solid::hyperelastic(StrainEnergy::MooneyRivlin {
        c1: 2e4,
        c2: 0.0,
        bulk,
    })
}

fn region(name: &str, solid: Solid) -> SolidRegion<'_> {
    SolidRegion {
        name,
        elements: None,
        solid,
        varies: None,
        beside: &[],
    }
}

fn muscle(name: &str, law: MuscleLaw) -> SolidMuscle<'_> {
    SolidMuscle {
        name,
        elements: None,
        fibre: MuscleFibre::new(law, [1.0, 0.0, 0.0]),
        varies: None,
        activation: 0.0,
    }
}

/// A block from the origin, which is free but for three faces that stay in their planes.
fn block(
    mesh: &Mesh,
    regions: &[SolidRegion<'_>],
    muscles: &[SolidMuscle<'_>],
) -> Result<(Model, Vec<SolidParts>), ContinuumError> {
    let mut model = Model::new();
    let node = model.add_particles("block", &mesh.nodes).unwrap();
    let parts = Solid::add_muscles_on(&mut model, "block", node, mesh, regions, muscles)?;
    for (k, x) in mesh.nodes.iter().enumerate() {
        model.fix(node, k, &x.map(|x| x == 0.0)).unwrap();
    }
    Ok((model, parts))
}

/// A block of two materials, which are alike, and two muscles across both, contracts without forces
/// on it as the roots say that another program finds; all of it evenly. The tolerance is that of the
/// equilibrium.
#[test]
fn a_free_block_contracts_as_the_roots_of_its_energy_say() {
    let mesh = Mesh::hexahedral_box([0.4, 0.2, 0.2], [2, 2, 2]).unwrap();
    let (lower, upper, even, odd) = ([0, 1, 2, 3], [4, 5, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]);
    let mut count = 0;
    for line in REFERENCE.lines().filter(|line| line.starts_with("contracts")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let law = if words[1] == "generic" { GENERIC } else { BLEMKER };
        let numbers: Vec<f64> = words[2..].iter().map(|w| w.parse().unwrap()).collect();
        let [a, along, across] = numbers[..] else {
            panic!("{line}");
        };
        let regions = [("lower", &lower), ("upper", &upper)].map(|(name, elements)| SolidRegion {
            elements: Some(elements),
            ..region(name, tissue(6e5))
        });
        let muscles = [("even", &even), ("odd", &odd)].map(|(name, elements)| SolidMuscle {
            elements: Some(elements),
            ..muscle(name, law)
        });
        let (model, parts) = block(&mesh, &regions, &muscles).unwrap();
        let names = [
            "block.lower.even",
            "block.lower.odd",
            "block.upper.even",
            "block.upper.odd",
        ];
        let all: Vec<_> = parts.iter().flat_map(|part| &part.muscles).collect();
        assert_eq!(
            all.iter().map(|(index, _)| *index).collect::<Vec<_>>(),
            [0, 1, 0, 1]
        );
        for ((_, id), name) in all.iter().zip(names) {
            assert_eq!(model.component_name(*id), name);
        }
        let mut simulation = Simulation::new(model).unwrap();
        for part in 1..=10 {
            for (_, id) in &all {
                simulation.set_input(*id, 0, 0.1 * f64::from(part) * a).unwrap();
            }
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        }
        let x = simulation.positions(parts[0].nodes);
        let mut worst = 0.0f64;
        for (x, rest) in x.as_chunks::<3>().0.iter().zip(&mesh.nodes) {
            for (k, stretch) in [along, across, across].into_iter().enumerate() {
                worst = worst.max((x[k] - stretch * rest[k]).abs() / 0.4);
            }
        }
        println!("{line}: {worst:e}");
        assert!(worst < 1e-9, "{line}: {worst}");
        count += 1;
    }
    assert_eq!(count, 6);
}

/// At its optimal length a muscle whose volume does not change pulls with `a s A`, which holds a
/// force as large: the block stays as it is at rest. The stress along it is that, and none across.
/// The volume gives by 3e-9, the stress over the bulk modulus.
#[test]
fn an_isometric_muscle_pulls_with_its_stress_times_its_area() {
    let mesh = Mesh::hexahedral_box([0.3, 0.1, 0.2], [3, 1, 1]).unwrap();
    for law in [GENERIC, MuscleLaw::blemker(3e5)] {
        let stress = match law {
            MuscleLaw::Generic { stress, .. } | MuscleLaw::Blemker { stress, .. } => stress,
            other => panic!("{other:?}"),
        };
        let solid = tissue(1e14).with_incompressibility(Incompressibility::PerElement);
        let (model, parts) = block(&mesh, &[region("", solid)], &[muscle("m", law)]).unwrap();
        let (_, id) = parts[0].muscles[0];
        assert_eq!(model.component_name(id), "block.m");
        let mut simulation = Simulation::new(model).unwrap();
        for a in [0.3, 1.0] {
            simulation.set_input(id, 0, a).unwrap();
            for (k, x) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] > 0.29) {
                assert!((x[0] - 0.3).abs() < 1e-12);
                let force = [0.25 * a * stress * 0.02, 0.0, 0.0];
                simulation.set_force(parts[0].nodes, k, &force).unwrap();
            }
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let x = simulation.positions(parts[0].nodes).as_chunks::<3>().0;
            let moves = x
                .iter()
                .zip(&mesh.nodes)
                .flat_map(|(x, rest)| (0..3).map(|k| (x[k] - rest[k]).abs()));
            let worst = moves.fold(0.0, f64::max);
            println!("{a}: {worst:e}");
            assert!(worst < 1e-8, "{worst}");
            let fields = simulation.solid_fields(&parts[0]);
            for s in &fields.stress {
                let exact = [a * stress, 0.0, 0.0, 0.0, 0.0, 0.0];
                let miss = s.iter().zip(exact).fold(0.0f64, |w, (s, e)| w.max((s - e).abs()));
                assert!(miss < 1e-6 * stress, "{s:?} {exact:?}");
            }
        }
    }
}

/// Elements with shares of one activation are those of muscles with activations of their own: the
/// stress of each is `c a s` where the block is held at its rest.
#[test]
fn elements_have_their_share_of_the_activation() {
    let mesh = Mesh::hexahedral_box([0.4, 0.2, 0.2], [2, 1, 1]).unwrap();
    let share = |element: usize| if element == 0 { 0.25 } else { 0.75 };
    let by_element = |element: usize, _: [f64; 3]| MuscleFibre {
        share: share(element),
        ..muscle("m", GENERIC).fibre
    };
    let shared = SolidMuscle {
        varies: Some(&by_element),
        ..muscle("m", GENERIC)
    };
    let (model, parts) = block(&mesh, &[region("", tissue(6e5))], &[shared]).unwrap();
    let (_, id) = parts[0].muscles[0];
    let mut simulation = Simulation::new(model).unwrap();
    for a in [0.4, 1.0] {
        simulation.set_input(id, 0, a).unwrap();
        let stress = simulation.solid_fields(&parts[0]).stress;
        assert_eq!(stress.len(), 16);
        for (q, s) in stress.iter().enumerate() {
            // Stress of isochoric stretch has no pressure.
            let pull = share(q / 8) * a * 3e4;
            let exact = [2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, 0.0, 0.0, 0.0].map(|x| x * pull);
            let miss = s.iter().zip(exact).fold(0.0f64, |w, (s, e)| w.max((s - e).abs()));
            assert!(miss < 1e-9 * pull, "{q}: {s:?} {exact:?}");
        }
    }
}

/// The energy of a block whose activation goes up and down is that which the changes of activation
/// brought, to rounding with the energy-momentum method, which is the sum of `da s V (l - 1)` at the
/// changes, by hand.
#[test]
fn what_activations_bring_is_in_the_ledger() {
    let mesh = Mesh::hexahedral_box([0.4, 0.2, 0.2], [2, 1, 1]).unwrap();
    for (integrator, tolerance) in [(Integrator::EnergyMomentum, 1e-9), (Integrator::Sdirk2, 1e-3)] {
        let (model, parts) = block(&mesh, &[region("", tissue(6e5))], &[muscle("m", GENERIC)]).unwrap();
        let (_, id) = parts[0].muscles[0];
        let options = Options {
            integrator: integrator.clone(),
            ..Options::default()
        };
        let mut simulation = Simulation::with_options(model, options).unwrap();
        let (mut brought, mut by_hand, mut numerical, mut a) = (0.0, 0.0, 0.0, 0.0);
        let mut last = None;
        for step in 0..100 {
            let next = 0.5 - 0.5 * (0.2 * f64::from(step)).cos();
            let gradients = simulation.positions(parts[0].gradients).as_chunks::<9>().0;
            for (f, volume) in gradients.iter().zip(&parts[0].volumes) {
                let image = (0..3).map(|i| f[3 * i] * f[3 * i]).sum::<f64>().sqrt();
                let j = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6])
                    + f[2] * (f[3] * f[7] - f[4] * f[6]);
                by_hand += (next - a) * 3e4 * volume * (image / j.cbrt() - 1.0);
            }
            a = next;
            simulation.set_input(id, 0, a).unwrap();
            let report = simulation.step(2e-3).unwrap();
            brought += report.ledger.inputs;
            numerical += report.ledger.numerical;
            last = Some(report.energies);
        }
        let stored = last.unwrap().total();
        println!(
            "{integrator:?}: brought {brought}, by hand {by_hand}, stored {stored}, numerical {numerical:e}"
        );
        assert!(brought > 1.0);
        assert!((brought - by_hand).abs() < 1e-11, "{brought} {by_hand}");
        // Energy of rest is zero; so is that of the tissue and of fibres without activation there.
        assert!((stored - brought - numerical).abs() < 1e-11, "{stored} {brought}");
        assert!(numerical.abs() < tolerance * brought, "{numerical}");
    }
}

/// A block that turns and moves with its fibres active keeps its angular momentum: the fibres turn
/// with it. Rounding of 200 steps.
#[test]
fn active_fibres_turn_with_the_solid() {
    let mesh = Mesh::hexahedral_box([0.4, 0.2, 0.2], [2, 1, 1]).unwrap();
    let mut model = Model::new();
    let centre = [0.2, 0.1, 0.1];
    let velocity = |x: &[f64; 3]| {
        let r: [f64; 3] = std::array::from_fn(|k| x[k] - centre[k]);
        [2.0 * r[2] - 5.0 * r[1], 5.0 * r[0] - r[2], r[1] - 2.0 * r[0]]
    };
    let positions: Vec<f64> = mesh.nodes.concat();
    let velocities: Vec<f64> = mesh.nodes.iter().flat_map(velocity).collect();
    let node = model
        .add_independent("block", Space::Real(3), &positions, &velocities)
        .unwrap();
    let active = SolidMuscle {
        activation: 0.8,
        ..muscle("m", BLEMKER)
    };
    let parts = Solid::add_muscles_on(
        &mut model,
        "block",
        node,
        &mesh,
        &[region("", tissue(6e5))],
        &[active],
    )
    .unwrap();
    let Mass::PerElement(masses) = mesh.lumped_mass(1000.0).unwrap() else {
        panic!("lumped");
    };
    let options = Options {
        integrator: Integrator::EnergyMomentum,
        ..Options::default()
    };
    let mut simulation = Simulation::with_options(model, options).unwrap();
    let momentum = |simulation: &Simulation| -> [f64; 3] {
        let x = simulation.positions(parts[0].nodes).as_chunks::<3>().0;
        let v = simulation.velocities(parts[0].nodes).as_chunks::<3>().0;
        let mut sum = [0.0; 3];
        for ((x, v), m) in x.iter().zip(v).zip(&masses) {
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                sum[k] += m * (x[i] * v[j] - x[j] * v[i]);
            }
        }
        sum
    };
    let before = momentum(&simulation);
    for _ in 0..200 {
        simulation.step(2e-3).unwrap();
    }
    let after = momentum(&simulation);
    let x = simulation.positions(parts[0].nodes);
    println!("{before:?} {after:?}, a corner is at {:?}", &x[..3]);
    for k in 0..3 {
        assert!(
            (before[k] - after[k]).abs() < 1e-9 * before[2].abs(),
            "{before:?} {after:?}"
        );
    }
}

#[test]
fn what_cannot_be_a_muscle_is_refused_by_name() {
    let mesh = Mesh::hexahedral_box([0.4, 0.2, 0.2], [2, 1, 1]).unwrap();
    let none = muscle("m", GENERIC);
    let two = [0, 7];
    let flat = MuscleFibre::new(GENERIC, [0.0; 3]);
    let by_place = |_: usize, x: [f64; 3]| MuscleFibre::new(GENERIC, [x[0] - x[0], 0.0, 0.0]);
    let more = MuscleFibre {
        share: 1.5,
        ..none.fibre
    };
    let more_by_place = |_: usize, _: [f64; 3]| more;
    let small = Solid::linear(1e5, 0.3);
    for (solid, muscle, words) in [
        (small, none, "`m`: a muscle cannot be had with small strains"),
        (
            tissue(1e6),
            SolidMuscle {
                elements: Some(&two),
                ..none
            },
            "element 7 is in `m`, but the mesh has no such element",
        ),
        (
            tissue(1e6),
            SolidMuscle {
                elements: Some(&[]),
                ..none
            },
            "`m`: ",
        ),
        (
            tissue(1e6),
            SolidMuscle { fibre: more, ..none },
            "a share in the activation of `block.m` is 1.5, but must be between 0 and 1",
        ),
        (
            tissue(1e6),
            SolidMuscle {
                varies: Some(&more_by_place),
                ..none
            },
            "is 1.5, but must be between 0 and 1, at (",
        ),
        (
            tissue(1e6),
            SolidMuscle { fibre: flat, ..none },
            "the length of a direction of `block.m`",
        ),
        (
            tissue(1e6),
            SolidMuscle {
                varies: Some(&by_place),
                ..none
            },
            "`m`: the length of a direction of `block.m` is 0, but must be positive, at (",
        ),
        (
            tissue(1e6),
            SolidMuscle {
                activation: 2.0,
                ..none
            },
            "an activation of `block.m` is 2",
        ),
    ] {
        let found = block(&mesh, &[region("", solid)], &[muscle])
            .unwrap_err()
            .to_string();
        assert!(found.contains(words), "{words}: {found}");
    }
}
