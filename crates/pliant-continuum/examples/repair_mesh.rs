//! Look for defects in a mesh, and repair what can be repaired.
//!
//! Four points make a tetrahedron of the volume `det / 6`; with two of them exchanged it is inside
//! out. A node of no element is left out; an element without volume stays an error.
//!
//! `cargo run --release -p pliant-continuum --example repair_mesh`

use pliant_continuum::{ContinuumError, Defect, ElementKind, Mesh};

fn main() -> Result<(), ContinuumError> {
    let nodes = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [5.0, 5.0, 5.0],
        [0.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
    ];
    // The second element has the mirror image of its order; node 3 is in none.
    let mesh = Mesh::of(ElementKind::Tet4, &nodes, &[[0, 1, 2, 4], [1, 2, 5, 4]]);
    let defects = mesh.defects();
    defects.iter().for_each(|defect| println!("{defect}"));
    assert_eq!(defects[0], Defect::InsideOut { element: 1 });
    assert_eq!(defects[1..], [Defect::UnusedNode { node: 3 }]);
    assert!(mesh.volume().is_err());

    let (mesh, repair) = mesh.repaired();
    println!("{repair:?}");
    assert_eq!((repair.turned, repair.removed_nodes), (vec![1], vec![3]));
    assert_eq!(repair.node_map[4], Some(3));
    mesh.check()?;
    // 1/6 of the corner, and det [(-1 1 0), (0 1 1), (-1 0 1)] / 6 = -2 / 6 in size.
    println!("{:.9} m^3", mesh.volume()?);
    assert!((mesh.volume()? - (1.0 + 2.0) / 6.0).abs() < 1e-15);

    let mut flat = nodes;
    flat[4] = [0.3, 0.3, 0.0];
    let mesh = Mesh::of(ElementKind::Tet4, &flat, &[[0, 1, 2, 4]]);
    let (mesh, _) = mesh.repaired();
    let Err(ContinuumError::Mesh { defect, .. }) = mesh.check() else {
        return Err(ContinuumError::Empty);
    };
    println!("{defect}");
    assert_eq!(defect, Defect::Flat { element: 0 });
    Ok(())
}
