//! E02: the patch test of linear tetrahedra, as stiffness and as compliance.

use super::Checks;
use pliant::continuum::{ElementKind, LinearElastic, Mesh, Solid};
use pliant::prelude::*;

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    let input = |key: &str| checks.references.input("E02", key);
    let nodes = input("nodes").as_chunks::<3>().0.to_vec();
    let tetrahedra: Vec<[usize; 4]> = input("tets")
        .as_chunks::<4>()
        .0
        .iter()
        .map(|t| t.map(|n| n as usize))
        .collect();
    let (young, poisson, sigma) = (input("E")[0], input("nu")[0], input("sigma")[0]);
    // Half of them are given in the order of their mirror images.
    let (mesh, repair) = Mesh::of(ElementKind::Tet4, &nodes, &tetrahedra).repaired();
    checks.all_equal("E02", "tetrahedra turned round", 24, &[repair.turned.len()]);
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let (moved, stresses) = stretched(&mesh, young, poisson, sigma, treatment)?;
        checks.against("E02", "nodal displacements stiffness", &moved, 1e-12);
        checks.against("E02", "element stresses", &stresses, 1e-8);
    }
    Ok(())
}

/// Displacements and stresses of a bar on rollers with a traction on its face at x = 2.
fn stretched(
    mesh: &Mesh,
    young: f64,
    poisson: f64,
    sigma: f64,
    treatment: Treatment,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let mut model = Model::new();
    let parts = Solid::linear(young, poisson)
        .with_treatment(treatment)
        .add_to(&mut model, "bar", mesh)
        .expect("the mesh and the numbers of case E02 are sound");
    for (k, x) in mesh.nodes.iter().enumerate() {
        model.fix(parts.nodes, k, &x.map(|x| x == 0.0))?;
    }
    let mut simulation = Simulation::with_options(model, Options::theta())?;
    let mut load = vec![0.0; mesh.nodes.len()];
    for triangle in mesh.surface() {
        let [a, b, c] = triangle.map(|n| mesh.nodes[n]);
        if [a, b, c].iter().all(|x| x[0] == 2.0) {
            let area = 0.5 * ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])).abs();
            triangle.iter().for_each(|n| load[*n] += sigma * area / 3.0);
        }
    }
    for (k, force) in load.iter().enumerate().filter(|(_, force)| **force > 0.0) {
        simulation.set_force(parts.nodes, k, &[*force, 0.0, 0.0])?;
    }
    // Inertia is a hundredth of stiffness: each pass gains two digits, and 288 compliant rows on 69
    // free coordinates are not nearly hard.
    let how = Settle {
        h: 20.0,
        tolerance: 1e-14,
        max_steps: 40,
        ..Settle::default()
    };
    simulation.settle(how)?;
    let rest = mesh.nodes.as_flattened().iter();
    let moved = simulation
        .positions(parts.nodes)
        .iter()
        .zip(rest)
        .map(|(x, r)| x - r)
        .collect();
    let stresses = if treatment == Treatment::Compliance {
        let forces = simulation.reaction(parts.material).chunks(6).zip(&parts.volumes);
        // The force of a row against its strain is minus the stress times the volume.
        forces
            .flat_map(|(f, v)| f.iter().map(|f| -f / v).collect::<Vec<_>>())
            .collect()
    } else {
        let strains = parts
            .strains
            .map(|node| simulation.positions(node))
            .unwrap_or_default();
        LinearElastic::isotropic(young, poisson, &parts.volumes).stresses(strains)
    };
    Ok((moved, stresses))
}
