//! Make meshes of simple bodies; their volumes and masses against closed forms.
//!
//! A box has its volume exactly; a cylinder, a tube and a ball of straight-edged hexahedra miss
//! theirs by `O(h^2)` of the size `h` of their cells. Masses at the nodes sum to `rho V`.
//!
//! `cargo run --release -p pliant-continuum --example meshes_and_masses`

use pliant_continuum::{ContinuumError, Mesh};
use pliant_model::Mass;
use std::f64::consts::PI;

fn main() -> Result<(), ContinuumError> {
    let plank = Mesh::hexahedral_box([2.0, 0.3, 0.1], [8, 3, 2])?;
    assert!((plank.volume()? - 0.06).abs() < 1e-15);
    for mesh in [plank.clone().into_tetrahedra(), plank.clone().into_quadratic()] {
        println!("{} nodes, {:.9} m^3", mesh.nodes.len(), mesh.volume()?);
        assert!((mesh.volume()? - 0.06).abs() < 1e-14);
    }

    type Make = fn(usize) -> Result<Mesh, ContinuumError>;
    let round: [(&str, Make, f64); 3] = [
        ("ball", |n| Mesh::ball(0.5, n, n), PI / 6.0),
        ("cylinder", |n| Mesh::cylinder(0.5, 2.0, n, n, 2), PI / 2.0),
        ("tube", |n| Mesh::tube([0.4, 0.5], 2.0, 4 * n, 2, 2), 0.18 * PI),
    ];
    for (name, make, exact) in round {
        let coarse = 1.0 - make(4)?.volume()? / exact;
        let fine = 1.0 - make(8)?.volume()? / exact;
        let order = (coarse / fine).log2();
        println!("{name}: volume less by {coarse:.5} and {fine:.5}, order {order:.3}");
        assert!(fine > 0.0 && (order - 2.0).abs() < 0.1);
    }

    let density = 7800.0;
    for mesh in [plank.clone(), plank.into_quadratic()] {
        let Mass::PerElement(masses) = mesh.lumped_mass(density)? else {
            return Err(ContinuumError::Empty);
        };
        let sum: f64 = masses.iter().sum();
        println!("{sum:.9} kg on {} nodes", masses.len());
        assert!((sum - density * 0.06).abs() < 1e-10);
        assert!(masses.iter().all(|m| *m > 0.0), "quadratic elements too");
    }
    Ok(())
}
