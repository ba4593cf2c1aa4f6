//! Bytes that a solid takes, from the mesh to rest and in steps: counted, so that what is kept of
//! each point of each finite element cannot grow unseen.

use pliant::Preconditioner;
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;

/// Part of a run of a beam that is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Run {
    Made,
    Rest,
    Steps,
}

/// Hexahedra of the beam, and the most bytes at a time of a run with it.
fn bytes(cells: [usize; 3], run: Run) -> (f64, f64) {
    let found = allocation_counter::measure(|| {
        let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], cells).unwrap();
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let solid = Solid::corotational(1e9, 0.3);
        let nodes = solid.add_to(&mut model, "beam", &mesh).unwrap().nodes;
        for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
            model.fix(nodes, k, &[true; 3]).unwrap();
        }
        drop(mesh);
        let options = Options {
            linear: LinearSolver::krylov(KrylovMethod::Cg, Preconditioner::Multilevel),
            ..Options::theta()
        };
        let mut simulation = Simulation::with_options(model, options).unwrap();
        match run {
            Run::Made => {}
            Run::Rest => {
                simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            }
            Run::Steps => {
                for _ in 0..3 {
                    simulation.step(0.01).unwrap();
                }
            }
        }
    });
    (cells.iter().product::<usize>() as f64, found.bytes_max as f64)
}

/// Each hexahedron has eight points and, in this beam, four unknowns. The bounds are a tenth above
/// what was counted: 17.5, 22.1 and 27.7 kB. The Jacobian of a strain is 432 bytes, 3.5 kB in each
/// evaluation of a hexahedron, a stiffness block 288, so that no list of them fits below the bounds.
#[test]
fn every_hexahedron_takes_so_many_bytes() {
    for (run, most) in [
        (Run::Made, 19_300.0),
        (Run::Rest, 24_400.0),
        (Run::Steps, 30_400.0),
    ] {
        let [(few, short), (many, long)] = [[20, 6, 6], [60, 6, 6]].map(|cells| bytes(cells, run));
        let each = (long - short) / (many - few);
        assert!(each < most, "{run:?}: {each} bytes for each hexahedron");
    }
}
