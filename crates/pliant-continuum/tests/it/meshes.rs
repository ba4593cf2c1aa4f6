//! Generated meshes, masses, and what is wrong with meshes.

use super::elements::distorted;
use pliant_continuum::{ContinuumError, Defect, Element, ElementKind, Mesh};
use pliant_model::Mass;
use std::f64::consts::PI;

fn total(mass: &Mass) -> f64 {
    match mass {
        Mass::PerElement(list) => list.iter().sum(),
        Mass::Coupled(list) => list.iter().map(|m| m.matrix.iter().sum::<f64>()).sum(),
        other => panic!("{other:?}"),
    }
}

/// Volume under the surface: the sum of the tetrahedra with the origin.
fn enclosed(mesh: &Mesh) -> f64 {
    let of = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|n| nalgebra::Vector3::from(mesh.nodes[n]));
        a.dot(&b.cross(&c)) / 6.0
    };
    mesh.surface().iter().map(of).sum()
}

#[test]
fn boxes_have_their_volume_in_every_kind() {
    let hexes = Mesh::hexahedral_box([2.0, 1.0, 0.5], [4, 3, 2]).unwrap();
    let meshes = [
        (hexes.clone(), 24),
        (hexes.clone().into_quadratic(), 24),
        (hexes.clone().into_tetrahedra(), 144),
        (hexes.into_tetrahedra().into_quadratic(), 144),
    ];
    for (mesh, count) in meshes {
        assert_eq!(mesh.elements.len(), count);
        assert_eq!(mesh.defects(), []);
        assert!((mesh.volume().unwrap() - 1.0).abs() < 1e-13);
        assert!((enclosed(&mesh) - 1.0).abs() < 1e-13);
    }
}

#[test]
fn prisms_and_pyramids_are_cut_into_tetrahedra() {
    for kind in [ElementKind::Prism6, ElementKind::Pyramid5, ElementKind::Hex8] {
        let mesh = Mesh {
            nodes: kind.reference_nodes(),
            elements: vec![Element::new(kind, &(0..kind.node_count()).collect::<Vec<_>>())],
        };
        assert!(
            (enclosed(&mesh) - kind.reference_volume()).abs() < 1e-14,
            "{kind:?}"
        );
        let cut = mesh.into_tetrahedra();
        assert_eq!(cut.defects(), [], "{kind:?}");
        assert!((cut.volume().unwrap() - kind.reference_volume()).abs() < 1e-14);
    }
}

/// Inscribed shapes: volumes grow to those of the round ones at second order.
#[test]
fn round_meshes_tend_to_round_shapes() {
    let ball = |n: usize| Mesh::ball(0.5, n, n).unwrap();
    let cylinder = |n: usize| Mesh::cylinder(0.5, 2.0, n, n, n).unwrap();
    let tube = |n: usize| Mesh::tube([0.25, 0.5], 2.0, 4 * n, n, n).unwrap();
    let cases: [(&dyn Fn(usize) -> Mesh, f64); 3] = [
        (&ball, PI / 6.0),
        (&cylinder, PI / 2.0),
        (&tube, PI * 2.0 * (0.25 - 0.0625)),
    ];
    for (make, exact) in cases {
        let error = |n: usize| {
            let mesh = make(n);
            assert_eq!(mesh.defects(), []);
            let volume = mesh.volume().unwrap();
            let cut = mesh.into_tetrahedra();
            assert_eq!(cut.defects(), []);
            // Cut along diagonals, a bent face has another volume, of the same order.
            assert!((cut.volume().unwrap() - volume).abs() < 0.1 * volume / (n * n) as f64);
            exact - volume
        };
        let (coarse, fine) = (error(4), error(8));
        assert!(coarse > 0.0 && fine > 0.0);
        let order = (coarse / fine).log2();
        assert!((order - 2.0).abs() < 0.15, "order {order}");
    }
}

#[test]
fn masses_add_up_to_density_times_volume() {
    for kind in ElementKind::ALL {
        let mesh = distorted(kind, 5);
        let expected = 3.0 * mesh.volume().unwrap();
        let lumped = mesh.lumped_mass(3.0).unwrap();
        let consistent = mesh.consistent_mass(3.0).unwrap();
        // The volume of a bent quadratic element is beyond the degree of its stiffness.
        let tolerance = if kind.is_quadratic() { 1e-4 } else { 1e-13 };
        assert!(
            (total(&lumped) - expected).abs() < tolerance * expected,
            "{kind:?}"
        );
        assert!((total(&consistent) - total(&lumped)).abs() < 1e-13 * expected);
        let Mass::PerElement(list) = lumped else { panic!() };
        assert!(list.iter().all(|m| *m > 0.0), "{kind:?}: {list:?}");
    }
}

/// The known matrix `m (1 + delta_ij)/20`, and that of a quadratic tetrahedron: `m/420` times (6
/// between corners' selves, 1 between corners, -4 from a corner to its edges, -6 to the others, 32,
/// 16 and 8 between middles).
#[test]
fn consistent_masses_of_tetrahedra_are_the_known_ones() {
    let corners = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.1, 0.2, 1.5]];
    let mesh = Mesh::of(ElementKind::Tet4, &corners, &[[0, 1, 2, 3]]);
    let m = 3.0 * 0.5;
    let Mass::Coupled(list) = mesh.consistent_mass(3.0).unwrap() else {
        panic!()
    };
    for k in 0..16 {
        let expected = m / 20.0 * if k % 5 == 0 { 2.0 } else { 1.0 };
        assert!((list[0].matrix[k] - expected).abs() < 1e-15);
    }
    let Mass::Coupled(list) = mesh.into_quadratic().consistent_mass(3.0).unwrap() else {
        panic!()
    };
    let edges = ElementKind::Tet10.edges();
    for i in 0..10 {
        for j in 0..10 {
            let touches = |c: usize, e: usize| edges[e - 4].contains(&c);
            let share = match (i < 4, j < 4) {
                (true, true) if i == j => 6.0,
                (true, true) => 1.0,
                (true, false) | (false, true) => {
                    if touches(i.min(j), i.max(j)) {
                        -4.0
                    } else {
                        -6.0
                    }
                }
                (false, false) if i == j => 32.0,
                (false, false) if edges[i - 4].iter().any(|c| touches(*c, j)) => 16.0,
                (false, false) => 8.0,
            };
            let found = list[0].matrix[10 * i + j];
            assert!((found - m / 420.0 * share).abs() < 1e-15, "{i} {j} {found}");
        }
    }
}

#[test]
fn defects_are_named_and_repaired() {
    let mut mesh = Mesh::hexahedral_box([1.0; 3], [2, 1, 1])
        .unwrap()
        .into_tetrahedra();
    mesh.elements[3].nodes.swap(0, 1);
    mesh.nodes.push([5.0, 5.0, 5.0]);
    assert_eq!(
        mesh.defects(),
        [Defect::InsideOut { element: 3 }, Defect::UnusedNode { node: 12 }]
    );
    let error = mesh.check().unwrap_err();
    assert_eq!(
        error.to_string(),
        "element 3 is inside out: its nodes are in the order of its mirror image (2 such defects in the mesh)"
    );
    let (sound, repair) = mesh.repaired();
    assert_eq!(sound.defects(), []);
    assert_eq!((repair.turned, repair.removed_nodes), (vec![3], vec![12]));
    assert!((sound.volume().unwrap() - 1.0).abs() < 1e-14);
    // An unused node in front moves the others.
    let mut shifted = Mesh::hexahedral_box([1.0; 3], [1, 1, 1]).unwrap();
    shifted.nodes.insert(0, [9.0; 3]);
    shifted.elements[0].nodes.iter_mut().for_each(|n| *n += 1);
    let (sound, repair) = shifted.repaired();
    assert_eq!(sound, Mesh::hexahedral_box([1.0; 3], [1, 1, 1]).unwrap());
    assert_eq!(repair.node_map[..2], [None, Some(0)]);
}

#[test]
fn every_kind_is_put_right_from_its_mirror_image() {
    for kind in ElementKind::ALL {
        let mut mesh = distorted(kind, 3);
        mesh.nodes.iter_mut().for_each(|x| x[0] = -x[0]);
        assert_eq!(mesh.defects(), [Defect::InsideOut { element: 0 }], "{kind:?}");
        let (sound, _) = mesh.repaired();
        assert_eq!(sound.defects(), [], "{kind:?}");
        let twice = kind.mirrored();
        assert!((0..kind.node_count()).all(|k| twice[twice[k]] == k));
    }
}

#[test]
fn broken_meshes_are_refused() {
    let sound = Mesh::hexahedral_box([1.0; 3], [2, 1, 1]).unwrap();
    let broken = |change: &dyn Fn(&mut Mesh)| {
        let mut mesh = sound.clone();
        change(&mut mesh);
        let _ = (
            mesh.surface(),
            mesh.repaired(),
            mesh.clone().into_tetrahedra(),
            mesh.clone().into_quadratic(),
        );
        mesh.defects().first().copied()
    };
    let nan = broken(&|m| m.nodes[3][1] = f64::NAN);
    assert_eq!(nan, Some(Defect::NotFinite { node: 3 }));
    let short = broken(&|m| m.elements[1].nodes.truncate(3));
    assert!(matches!(
        short,
        Some(Defect::NodeCount {
            element: 1,
            found: 3,
            ..
        })
    ));
    let unknown = broken(&|m| m.elements[1].nodes[2] = 99);
    assert_eq!(
        unknown,
        Some(Defect::UnknownNode {
            element: 1,
            node: 99,
            count: 12
        })
    );
    let first = sound.elements[0].nodes[0];
    let twice = broken(&|m| m.elements[0].nodes[7] = first);
    assert_eq!(
        twice,
        Some(Defect::RepeatedNode {
            element: 0,
            node: first
        })
    );
    let flat = broken(&|m| m.nodes.iter_mut().for_each(|x| x[2] = 0.0));
    assert_eq!(flat, Some(Defect::Flat { element: 0 }));
    let folded = broken(&|m| m.nodes[0] = [3.0, 3.0, 3.0]);
    assert!(matches!(folded, Some(Defect::Folded { .. })), "{folded:?}");
    let duplicate = broken(&|m| m.elements.push(m.elements[0].clone()));
    assert_eq!(duplicate, Some(Defect::Duplicate { element: 2, same: 0 }));
    assert_eq!(Mesh::default().check(), Err(ContinuumError::Empty));
    // Half of a side is refined: its middle nodes hang on the coarse neighbour.
    let mut hanging = Mesh::hexahedral_box([1.0; 3], [1, 1, 1]).unwrap();
    let fine = Mesh::hexahedral_box([1.0, 1.0, 1.0], [1, 2, 1]).unwrap();
    let offset: Vec<usize> = fine
        .nodes
        .iter()
        .map(|x| {
            let moved = [x[0] + 1.0, x[1], x[2]];
            hanging.nodes.iter().position(|y| *y == moved).unwrap_or_else(|| {
                hanging.nodes.push(moved);
                hanging.nodes.len() - 1
            })
        })
        .collect();
    for element in &fine.elements {
        let nodes: Vec<usize> = element.nodes.iter().map(|n| offset[*n]).collect();
        hanging.elements.push(Element::new(ElementKind::Hex8, &nodes));
    }
    let defects = hanging.defects();
    assert_eq!(defects.len(), 2, "{defects:?}");
    assert!(
        defects
            .iter()
            .all(|d| matches!(d, Defect::HangingNode { element: 0, .. }))
    );
    for bad in [
        Mesh::hexahedral_box([1.0, 0.0, 1.0], [1, 1, 1]),
        Mesh::hexahedral_box([1.0; 3], [0, 1, 1]),
        Mesh::hexahedral_box([1.0; 3], [usize::MAX, 2, 2]),
        Mesh::ball(f64::NAN, 2, 2),
        Mesh::ball(1.0, 2, 0),
        Mesh::cylinder(1.0, -1.0, 2, 2, 2),
        Mesh::tube([1.0, 0.5], 1.0, 8, 1, 1),
        Mesh::tube([0.2, 0.5], 1.0, 2, 1, 1),
    ] {
        assert!(bad.is_err());
    }
}
