//! Solids at rest: patch tests, locking, and the two forms of one law.

use pliant::continuum::{
    Element, ElementKind, Incompressibility, Mesh, Solid, SolidParts, StrainEnergy, Tangent, VolumeEnergy,
};
use pliant::prelude::*;

/// A cube of 2 x 2 x 2 cells with its middle moved, as a mesh of one kind.
pub(crate) fn patch(kind: ElementKind) -> Mesh {
    let mut mesh = Mesh::hexahedral_box([1.0; 3], [2; 3]).unwrap();
    mesh.nodes[13] = [0.57, 0.45, 0.56];
    of_kind(mesh, kind)
}

/// The cells of a mesh of hexahedra of eight nodes as elements of a kind.
pub(crate) fn of_kind(mut mesh: Mesh, kind: ElementKind) -> Mesh {
    match kind {
        ElementKind::Tet4 => mesh.into_tetrahedra(),
        ElementKind::Tet10 => mesh.into_tetrahedra().into_quadratic(),
        ElementKind::Hex20 => mesh.into_quadratic(),
        ElementKind::Hex8 => mesh,
        ElementKind::Hex27 => {
            let mut mesh = mesh.into_quadratic();
            // Middles of faces and of cells from the corners; shared by the two cells at a face.
            for e in 0..mesh.elements.len() {
                let corners = mesh.elements[e].nodes[..8].to_vec();
                let faces: [&[usize]; 7] = [
                    &[0, 3, 7, 4],
                    &[1, 2, 6, 5],
                    &[0, 1, 5, 4],
                    &[3, 2, 6, 7],
                    &[0, 1, 2, 3],
                    &[4, 5, 6, 7],
                    &[0, 1, 2, 3, 4, 5, 6, 7],
                ];
                for face in faces {
                    let sum = |k: usize| face.iter().map(|c| mesh.nodes[corners[*c]][k]).sum::<f64>();
                    let middle: [f64; 3] = std::array::from_fn(|k| sum(k) / face.len() as f64);
                    let near = |x: &[f64; 3]| (0..3).all(|k| (x[k] - middle[k]).abs() < 1e-12);
                    let node = mesh.nodes.iter().position(near).unwrap_or_else(|| {
                        mesh.nodes.push(middle);
                        mesh.nodes.len() - 1
                    });
                    mesh.elements[e].nodes.push(node);
                }
                mesh.elements[e].kind = ElementKind::Hex27;
            }
            mesh
        }
        ElementKind::Prism15 => of_kind(mesh, ElementKind::Prism6).into_quadratic(),
        ElementKind::Pyramid13 => of_kind(mesh, ElementKind::Pyramid5).into_quadratic(),
        ElementKind::Prism6 => {
            let halves = |e: &Element| {
                let n = &e.nodes;
                [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]].map(|h| Element::new(kind, &h.map(|k| n[k])))
            };
            mesh.elements = mesh.elements.iter().flat_map(halves).collect();
            mesh
        }
        ElementKind::Pyramid5 => {
            let mut elements = Vec::new();
            for e in &mesh.elements {
                let sum = |k: usize| e.nodes.iter().map(|n| mesh.nodes[*n][k]).sum::<f64>() / 8.0;
                let middle = std::array::from_fn(sum);
                let tip = mesh.nodes.len();
                for face in e.kind.faces() {
                    // Inwards: the base of a pyramid goes round to the left when seen from its tip.
                    let base = [3, 2, 1, 0].map(|k| e.nodes[face[k]]);
                    elements.push(Element::new(kind, &[base[0], base[1], base[2], base[3], tip]));
                }
                mesh.nodes.push(middle);
            }
            mesh.elements = elements;
            mesh
        }
    }
}

const MOVE: [[f64; 3]; 3] = [[0.02, 0.01, -0.03], [0.005, -0.01, 0.02], [-0.01, 0.04, 0.03]];

/// Comes to rest with some nodes held where a motion takes them; returns the largest distance of a
/// node from that motion.
pub(crate) fn held_at_rest(
    solid: &Solid,
    mesh: &Mesh,
    held: &[bool],
    place: impl Fn(&[f64; 3]) -> [f64; 3],
) -> (f64, Simulation, SolidParts) {
    let start: Vec<_> = mesh
        .nodes
        .iter()
        .zip(held)
        .map(|(x, held)| if *held { place(x) } else { *x })
        .collect();
    let mut model = Model::new();
    let nodes = model.add_particles("solid", &start).unwrap();
    let parts = solid.add_on(&mut model, "solid", nodes, mesh).unwrap();
    for (k, held) in held.iter().enumerate() {
        if *held {
            model.fix(nodes, k, &[true; 3]).unwrap();
        }
    }
    let mut simulation = Simulation::new(model).unwrap();
    // Inertia 1e-12 of stiffness: each step is one of Newton's.
    let how = Settle {
        h: 1e4,
        tolerance: 1e-13,
        max_steps: 20,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    let found = simulation.positions(nodes).chunks(3);
    let off = |(x, found): (&[f64; 3], &[f64])| {
        let exact = place(x);
        (0..3).map(|k| (exact[k] - found[k]).abs()).fold(0.0, f64::max)
    };
    let off = mesh.nodes.iter().zip(found).map(off).fold(0.0, f64::max);
    (off, simulation, parts)
}

/// Comes to rest with the surface of a cube held in an affine motion; returns the largest distance
/// of a node from it.
fn off_the_affine_motion(solid: &Solid, mesh: &Mesh) -> f64 {
    let image = |x: &[f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| x[i] + (0..3).map(|j| MOVE[i][j] * x[j]).sum::<f64>())
    };
    let on_surface = |x: &[f64; 3]| x.iter().any(|x| *x < 1e-12 || *x > 1.0 - 1e-12);
    let held: Vec<bool> = mesh.nodes.iter().map(on_surface).collect();
    held_at_rest(solid, mesh, &held, image).0
}

#[test]
fn every_element_passes_the_patch_test() {
    for kind in ElementKind::ALL {
        let mesh = patch(kind);
        assert_eq!(mesh.defects(), [], "{kind:?}");
        let off = off_the_affine_motion(&Solid::linear(1e4, 0.3), &mesh);
        // Exact: what is left is the rounding of places of size 1.
        assert!(off < 1e-14, "{kind:?}: {off}");
    }
}

#[test]
fn every_material_passes_the_patch_test() {
    let mesh = patch(ElementKind::Hex8);
    let rubber = StrainEnergy::MooneyRivlin {
        c1: 2e3,
        c2: 1e3,
        bulk: 2e4,
    };
    let ogden = StrainEnergy::ogden(&[[4e3, 1.3], [5e2, 5.0], [-1e3, -2.0]], 2e4).unwrap();
    for solid in [
        Solid::linear(1e4, 0.3),
        Solid::linear(1e4, 0.3).with_treatment(Treatment::Compliance),
        Solid::linear(1e4, 0.4999).with_incompressibility(Incompressibility::PerElement),
        Solid::linear(1e4, 0.3).with_incompressibility(Incompressibility::PerNode),
        Solid::corotational(1e4, 0.3),
        Solid::corotational(1e4, 0.3).with_treatment(Treatment::Compliance),
        Solid::st_venant_kirchhoff(1e4, 0.3),
        Solid::st_venant_kirchhoff(1e4, 0.3).with_treatment(Treatment::Compliance),
        Solid::hyperelastic(StrainEnergy::neo_hookean(1e4, 0.3)),
        Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e4, 0.3)),
        Solid::hyperelastic(StrainEnergy::corotational(1e4, 0.3)),
        Solid::hyperelastic(rubber),
        Solid::hyperelastic(rubber).with_incompressibility(Incompressibility::PerElement),
        Solid::hyperelastic(rubber).with_volume_energy(VolumeEnergy::Logarithmic),
        Solid::hyperelastic(rubber)
            .with_volume_energy(VolumeEnergy::Logarithmic)
            .with_incompressibility(Incompressibility::PerElement),
        Solid::hyperelastic(ogden),
        Solid::hyperelastic(ogden).with_incompressibility(Incompressibility::PerElement),
    ] {
        let off = off_the_affine_motion(&solid, &mesh);
        assert!(off < 2e-13, "{solid:?}: {off}");
    }
}

/// A clamped beam under its weight: nodes after some steps.
fn beam(solid: Solid, mesh: &Mesh, h: f64, steps: usize) -> (Vec<f64>, Simulation, SolidParts) {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let parts = solid.add_to(&mut model, "beam", mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
    }
    let mut simulation = crate::tools::theta(model).unwrap();
    for _ in 0..steps {
        let report = simulation.step(h).unwrap();
        assert!(report.residual.relative < 1e-10);
    }
    let positions = simulation
        .model()
        .positions(simulation.state(), parts.nodes)
        .to_vec();
    (positions, simulation, parts)
}

#[test]
fn a_linear_material_is_the_same_as_stiffness_and_as_compliance() {
    let hexes = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
    for mesh in [hexes.clone(), hexes.into_tetrahedra()] {
        for relaxation in [0.0, 0.01] {
            let solid = Solid::linear(1e6, 0.3).with_relaxation_time(relaxation);
            let (one, ..) = beam(solid, &mesh, 0.01, 20);
            let (two, ..) = beam(solid.with_treatment(Treatment::Compliance), &mesh, 0.01, 20);
            let moved = one
                .iter()
                .zip(mesh.nodes.as_flattened())
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            let apart = one
                .iter()
                .zip(&two)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            // The sag is 1e-3; h^2 k/m is about 1e5, of which rounding is left.
            assert!(moved > 1e-3 && apart < 1e-11 * moved.max(1e-2), "{moved} {apart}");
        }
    }
}

#[test]
fn steps_of_solids_allocate_nothing_and_repeat_bit_for_bit() {
    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
    let rubber = StrainEnergy::MooneyRivlin {
        c1: 1e5,
        c2: 1e5,
        bulk: 1e7,
    };
    let ogden = StrainEnergy::ogden(&[[6.3e5, 1.3], [1.2e3, 5.0], [-1e4, -2.0]], 1e7).unwrap();
    for solid in [
        Solid::corotational(1e6, 0.3),
        Solid::corotational(1e6, 0.3).with_treatment(Treatment::Compliance),
        Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e6, 0.4))
            .with_tangent(Tangent::PositiveSemidefinite),
        Solid::hyperelastic(rubber).with_incompressibility(Incompressibility::PerElement),
        Solid::hyperelastic(rubber)
            .with_volume_energy(VolumeEnergy::Logarithmic)
            .with_incompressibility(Incompressibility::PerElement),
        Solid::hyperelastic(ogden).with_incompressibility(Incompressibility::PerElement),
        Solid::corotational(1e6, 0.5).with_incompressibility(Incompressibility::PerNode),
    ] {
        let (one, mut simulation, _) = beam(solid, &mesh, 0.01, 10);
        let (two, ..) = beam(solid, &mesh, 0.01, 10);
        assert_eq!(one, two, "{solid:?}");
        let found = allocation_counter::measure(|| {
            for _ in 0..5 {
                simulation.step(0.01).unwrap();
            }
        });
        assert_eq!(found.count_total, 0, "{solid:?}");
    }
}

/// The corotational law on strains and that on gradients take the same steps.
#[test]
fn both_forms_of_the_corotational_law_are_one() {
    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
    let (one, ..) = beam(Solid::corotational(1e5, 0.3), &mesh, 0.02, 40);
    let (two, ..) = beam(
        Solid::hyperelastic(StrainEnergy::corotational(1e5, 0.3)),
        &mesh,
        0.02,
        40,
    );
    let apart = one
        .iter()
        .zip(&two)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    let moved = one
        .iter()
        .zip(mesh.nodes.as_flattened())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    // h^2 k/m is about 1e5, 40 steps.
    assert!(moved > 0.1 && apart < 1e-9, "{moved} {apart}");
}

/// Without damping and with the trapezoidal rule a swinging beam of rubber keeps its energy.
#[test]
fn a_swinging_solid_keeps_its_energy() {
    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
    for solid in [
        Solid::linear(1e6, 0.3),
        Solid::corotational(1e6, 0.3),
        Solid::st_venant_kirchhoff(1e6, 0.3),
        Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e6, 0.3)),
    ] {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if x[0] == 0.0 {
                model.fix(parts.nodes, k, &[true; 3]).unwrap();
            }
        }
        let mut simulation = Simulation::with_options(model, Options::trapezoidal()).unwrap();
        // The first period is about 1 s; what swings is the energy of the sag, about 2 J.
        let mut energies = Vec::new();
        for _ in 0..400 {
            energies.push(simulation.step(0.005).unwrap().energies);
        }

        let kinetic = energies.iter().map(|e| e.kinetic).fold(0.0, f64::max);
        let drift = energies
            .iter()
            .map(|e| (e.total() - energies[0].total()).abs())
            .fold(0.0, f64::max);
        // The linearised rule is of second order: exact for the linear law, bounded for the others.
        let bound = if solid == Solid::linear(1e6, 0.3) {
            1e-9
        } else {
            0.03
        };
        assert!(drift < bound * kinetic, "{solid:?}: {drift} of {kinetic}");
    }
}

/// A block that is thrown and turned, of more elements than are computed side by side: no bit
/// depends on the number of threads, and a warm step of one thread allocates nothing.
#[test]
fn threads_do_not_show_in_a_solid() {
    let run = |threads: usize| {
        let mesh = Mesh::hexahedral_box([1.0, 0.5, 0.5], [9, 4, 4]).unwrap();
        let mut model = Model::new();
        let velocities: Vec<f64> = mesh
            .nodes
            .iter()
            .flat_map(|[x, y, z]| [0.3 - y, *x, 0.2 * x * z])
            .collect();
        let nodes = model
            .add_independent("block", Space::Real(3), mesh.nodes.as_flattened(), &velocities)
            .unwrap();
        Solid::corotational(1e5, 0.3)
            .add_on(&mut model, "block", nodes, &mesh)
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        simulation.options.tuning.solver.threads = threads;
        for _ in 0..3 {
            simulation.step(0.01).unwrap();
        }
        if threads == 1 {
            let found = allocation_counter::measure(|| {
                simulation.step(0.01).unwrap();
            });
            assert_eq!(found.count_total, 0);
        } else {
            simulation.step(0.01).unwrap();
        }
        simulation.positions(nodes).to_vec()
    };
    let alone = run(1);
    assert_eq!(run(2), alone);
    assert_eq!(run(3), alone);
}
