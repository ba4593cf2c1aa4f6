//! Meshes of hexahedra, pyramids, prisms and tetrahedra together, linear and quadratic: patch tests,
//! stresses, beams.

use crate::solids::held_at_rest;
use pliant::continuum::{Element, ElementKind, MassMatrix, Mesh, Solid, SolidParts};
use pliant::prelude::*;

/// The elements in the place of the hexahedra of one slab of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slab {
    Hexahedra,
    /// Six around a point each.
    Pyramids,
    /// Two each.
    Prisms,
    /// A pyramid on the side at -x and tetrahedra on the others, around a point each.
    Between,
    Tetrahedra,
}

/// A box of hexahedra whose slabs along x are other elements, one kind after the other and again.
pub(crate) fn cut(mesh: &Mesh, slabs: &[Slab]) -> Mesh {
    let mut out = Mesh {
        nodes: mesh.nodes.clone(),
        elements: Vec::new(),
    };
    for (e, element) in mesh.elements.iter().enumerate() {
        let n = &element.nodes;
        match slabs[e % slabs.len()] {
            Slab::Hexahedra => out.elements.push(element.clone()),
            Slab::Prisms => out.elements.extend(
                [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]
                    .map(|half| Element::new(ElementKind::Prism6, &half.map(|k| n[k]))),
            ),
            Slab::Tetrahedra => {
                let alone = Mesh {
                    nodes: mesh.nodes.clone(),
                    elements: vec![element.clone()],
                };
                out.elements.extend(alone.into_tetrahedra().elements);
            }
            slab => {
                let mean = |k: usize| n.iter().map(|node| mesh.nodes[*node][k]).sum::<f64>() / 8.0;
                let tip = out.nodes.len();
                out.nodes.push(std::array::from_fn(mean));
                for (side, face) in element.kind.faces().iter().enumerate() {
                    let f: Vec<usize> = face.iter().map(|k| n[*k]).collect();
                    if slab == Slab::Pyramids || side == 5 {
                        // Seen from the tip, which is inside, the base goes round to the left.
                        let base = [f[3], f[2], f[1], f[0], tip];
                        out.elements.push(Element::new(ElementKind::Pyramid5, &base));
                        continue;
                    }
                    // Along the diagonal that leaves the lowest number, as the neighbour is cut.
                    let first = (0..4).min_by_key(|k| f[*k]).unwrap();
                    for k in 1..3 {
                        let [a, b, c] = [0, k, k + 1].map(|k| f[(first + k) % 4]);
                        out.elements
                            .push(Element::new(ElementKind::Tet4, &[a, c, b, tip]));
                    }
                }
            }
        }
    }
    out
}

const ALL: [Slab; 6] = [
    Slab::Hexahedra,
    Slab::Pyramids,
    Slab::Prisms,
    Slab::Pyramids,
    Slab::Between,
    Slab::Tetrahedra,
];

/// A box of 1.5 m by 1 m by 1 m of all kinds.
fn all_kinds() -> Mesh {
    cut(&Mesh::hexahedral_box([1.5, 1.0, 1.0], [6, 2, 2]).unwrap(), &ALL)
}

/// Numbers between -1 and 1, always the same.
fn noise() -> impl FnMut() -> f64 {
    let mut s = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The mesh crooked: corners moved, and the edges of all but tetrahedra and of what is beside them
/// bent, whose patch test is exact for straight edges alone.
fn crooked() -> Mesh {
    let straight = 1.0;
    let mut mesh = all_kinds();
    let mut noise = noise();
    for x in &mut mesh.nodes {
        let moved: [f64; 3] = std::array::from_fn(|k| x[k] + 0.03 * noise());
        // The plane in which the edges begin to be straight stays one.
        *x = [if x[0] < straight { moved[0] } else { x[0] }, moved[1], moved[2]];
    }
    let mut mesh = mesh.into_quadratic();
    for x in &mut mesh.nodes {
        let [along, y, z] = *x;
        let bend = (straight - along).max(0.0).powi(2);
        x[0] += 0.1 * bend * (z - y * y);
        x[1] += 0.2 * bend * (1.0 + z * z);
        x[2] -= 0.3 * bend * y;
    }
    mesh
}

/// Nodes on the surface.
fn on_surface(mesh: &Mesh) -> Vec<bool> {
    let mut out = vec![false; mesh.nodes.len()];
    mesh.surface().iter().flatten().for_each(|k| out[*k] = true);
    out
}

/// Comes to rest with the surface moved by `motion`, as a linear material; returns the largest
/// distance of a node from that motion.
fn at_rest(mesh: &Mesh, motion: impl Fn([f64; 3]) -> [f64; 3]) -> (f64, Simulation, SolidParts) {
    let held = on_surface(mesh);
    let place = |x: &[f64; 3]| -> [f64; 3] {
        let u = motion(*x);
        std::array::from_fn(|k| x[k] + u[k])
    };
    let free = held.iter().filter(|held| !**held).count();
    assert!(free > mesh.nodes.len() / 8, "{free} of {}", mesh.nodes.len());
    held_at_rest(&Solid::linear(1e4, 0.3), mesh, &held, place)
}

/// An affine motion is exact on elements of all kinds together, linear ones with crooked corners and
/// quadratic ones with bent edges as well.
#[test]
fn crooked_meshes_of_all_kinds_pass_the_patch_test() {
    let motion = |x: [f64; 3]| {
        [[0.02, 0.01, -0.03], [0.005, -0.01, 0.02], [-0.01, 0.04, 0.03]]
            .map(|row: [f64; 3]| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
    };
    for mesh in [all_kinds(), all_kinds().into_quadratic(), crooked()] {
        assert_eq!(mesh.defects(), []);
        let (off, ..) = at_rest(&mesh, motion);
        println!("{off:e}");
        // Exact: what is left is the rounding of places of size 1.
        assert!(off < 2e-14, "{off}");
    }
}

/// Bending about two axes and torsion together, quadratic displacements without a force inside, on a
/// sheared box whose elements are all affine, so that quadratic functions are complete in them: exact,
/// and so are the stresses at the nodes, which are linear.
#[test]
fn bending_and_torsion_are_exact_in_quadratic_elements() {
    let (a, b, twist, poisson) = (0.03, -0.02, 0.04, 0.3);
    let motion = |[x, y, z]: [f64; 3]| {
        [
            -a * x * y - b * x * z,
            0.5 * a * (x * x + poisson * (y * y - z * z)) + b * poisson * y * z - twist * x * z,
            0.5 * b * (x * x + poisson * (z * z - y * y)) + a * poisson * y * z + twist * x * y,
        ]
    };
    let mut mesh = all_kinds().into_quadratic();
    for x in &mut mesh.nodes {
        let [along, y, z] = *x;
        *x = [
            along + 0.3 * y - 0.1 * z,
            0.9 * y + 0.2 * z - 0.4,
            1.1 * z - 0.5 + 0.1 * along,
        ];
    }
    assert_eq!(mesh.defects(), []);
    let (off, simulation, parts) = at_rest(&mesh, motion);
    println!("{off:e}");
    assert!(off < 2e-14, "{off}");
    let fields = simulation.solid_fields(&parts);
    let nodal = parts.recovery.nodes(&fields.stress, &parts.volumes);
    let shear = 1e4 / 2.6;
    for ([_, y, z], stress) in mesh.nodes.iter().zip(&nodal) {
        // xx yy zz xy yz zx.
        let exact = [
            -1e4 * (a * y + b * z),
            0.0,
            0.0,
            -shear * twist * z,
            0.0,
            shear * twist * y,
        ];
        for (found, exact) in stress.iter().zip(&exact) {
            // Rounding of places over cells of 0.25, times 1e4.
            assert!((found - exact).abs() < 1e-8, "{stress:?} {exact:?}");
        }
    }
}

const YOUNG: f64 = 1e7;

/// The sag of the middle of the free end of a cantilever of 1 m by 0.1 m by 0.1 m under its weight,
/// over that of Timoshenko's beam.
fn sag(mesh: &Mesh, poisson: f64) -> f64 {
    let (length, side, density, gravity) = (1.0, 0.1, 1000.0, 0.01);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -gravity]).unwrap();
    let parts = Solid::linear(YOUNG, poisson)
        .with_density(density)
        .with_mass(MassMatrix::Consistent)
        .add_to(&mut model, "beam", mesh)
        .unwrap();
    for (k, x) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
        // Widths may change at the clamp, as those of a beam do.
        let held = [true, x[1] == 0.5 * side, x[2] == 0.5 * side];
        model.fix(parts.nodes, k, &held).unwrap();
    }
    let mut simulation = Simulation::new(model).unwrap();
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let end = [length, 0.5 * side, 0.5 * side];
    let near = |x: &[f64; 3]| (0..3).all(|k| (x[k] - end[k]).abs() < 1e-9);
    let tip = mesh.nodes.iter().position(near).unwrap();
    let found = 0.5 * side - simulation.positions(parts.nodes)[3 * tip + 2];
    let (area, second) = (side * side, side.powi(4) / 12.0);
    let load = density * gravity * area;
    // Cowper's factor of a rectangle.
    let factor = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    let shear = factor * YOUNG / (2.0 * (1.0 + poisson)) * area;
    found / (load * length.powi(4) / (8.0 * YOUNG * second) + load * length.powi(2) / (2.0 * shear))
}

/// Quadratic elements of every kind bend as a beam does, and as hexahedra of 20 nodes do.
#[test]
fn cantilevers_of_quadratic_elements_sag_as_timoshenkos_beam() {
    let mixed = [
        Slab::Hexahedra,
        Slab::Pyramids,
        Slab::Prisms,
        Slab::Hexahedra,
        Slab::Prisms,
        Slab::Pyramids,
        Slab::Prisms,
        Slab::Between,
        Slab::Tetrahedra,
        Slab::Tetrahedra,
    ];
    for poisson in [0.0, 0.3] {
        let found = [
            &[Slab::Hexahedra][..],
            &[Slab::Prisms],
            &[Slab::Pyramids],
            &[Slab::Tetrahedra],
            &mixed,
        ]
        .map(|slabs| {
            let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [10, 2, 2]).unwrap();
            let linear = cut(&mesh, slabs);
            let mesh = linear.clone().into_quadratic();
            assert!(mesh.elements.iter().all(|e| e.kind.is_quadratic()));
            let (found, coarse) = (sag(&mesh, poisson), sag(&linear, poisson));
            println!("{poisson} {:?}: {found:.5}, linear {coarse:.5}", slabs[0]);
            // Strains of tetrahedra are linear in each, those of the others of higher degree; what is
            // left of these is of the beam itself, which is ten times as long as it is high.
            let tolerance = if slabs.contains(&Slab::Tetrahedra) {
                1.2e-3
            } else {
                3e-4
            };
            assert!((found - 1.0).abs() < tolerance, "{slabs:?} {found}");
            assert!(coarse < 0.8, "{slabs:?} {coarse}");
            found
        });
        let hexahedra = found[0];
        for sag in found {
            assert!((sag / hexahedra - 1.0).abs() < 1.2e-3, "{found:?}");
        }
    }
}
