//! Quadratic pyramids and prisms: published functions, faces, masses and stiffnesses by another
//! program, bent edges.

use nalgebra::{DMatrix, Matrix6, SMatrix};
use pliant_continuum::{DeformationGradient, Element, ElementKind, Mesh};
use pliant_model::{Mapping, Mass};
use proptest::prelude::*;

/// By numpy alone, from the published functions: `benches/reference/quadratic_cells.py`.
const REFERENCE: &str = include_str!("../../../../benches/reference/quadratic_cells.txt");

/// The affine map by which that program places the cells.
const MAP: [[f64; 3]; 3] = [[2.0, 0.5, 0.0], [0.25, 1.0, 0.5], [0.0, 0.25, 1.5]];

const KINDS: [(ElementKind, &str); 2] = [
    (ElementKind::Pyramid13, "pyramid"),
    (ElementKind::Prism15, "prism"),
];

/// A row of the table.
fn reference(cell: &str, what: &str) -> Vec<f64> {
    let start = format!("{cell} {what} ");
    let row = REFERENCE.lines().find_map(|line| line.strip_prefix(&start));
    row.unwrap()
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

/// One cell, its nodes where a map takes those of the reference cell.
fn placed(kind: ElementKind, map: impl Fn([f64; 3]) -> [f64; 3]) -> Mesh {
    Mesh {
        nodes: kind.reference_nodes().into_iter().map(map).collect(),
        elements: vec![Element::new(kind, &(0..kind.node_count()).collect::<Vec<_>>())],
    }
}

fn affine(x: [f64; 3]) -> [f64; 3] {
    MAP.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
}

/// All shape functions at a point.
type Functions = fn([f64; 3]) -> Vec<f64>;

/// The functions of Bedrosian's pyramid as he writes them.
fn bedrosian([x, y, z]: [f64; 3]) -> Vec<f64> {
    let t = 1.0 - z;
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let corner = |[a, b]: [f64; 2]| {
        0.25 * (a * x + b * y - 1.0) * ((1.0 + a * x) * (1.0 + b * y) - z + a * b * x * y * z / t)
    };
    let mut out: Vec<f64> = corners.map(corner).to_vec();
    out.push(z * (2.0 * z - 1.0));
    out.extend([
        (t - x) * (t + x) * (t - y) / (2.0 * t),
        (t - y) * (t + y) * (t + x) / (2.0 * t),
        (t - x) * (t + x) * (t + y) / (2.0 * t),
        (t - y) * (t + y) * (t - x) / (2.0 * t),
    ]);
    out.extend(corners.map(|[a, b]| z * (t + a * x) * (t + b * y) / t));
    out
}

/// The serendipity functions of a prism by its areal coordinates.
fn serendipity([x, y, z]: [f64; 3]) -> Vec<f64> {
    let l = [1.0 - x - y, x, y];
    let mut out = Vec::new();
    for s in [-1.0, 1.0] {
        out.extend(l.map(|l| 0.5 * l * ((2.0 * l - 1.0) * (1.0 + s * z) - (1.0 - z * z))));
    }
    for s in [-1.0, 1.0] {
        out.extend([[0, 1], [1, 2], [2, 0]].map(|[i, j]| 2.0 * l[i] * l[j] * (1.0 + s * z)));
    }
    out.extend(l.map(|l| l * (1.0 - z * z)));
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn functions_are_the_published_ones([a, b, c] in prop::array::uniform3(0.02f64..0.9)) {
        let t = 1.0 - c;
        let cases: [(ElementKind, [f64; 3], Functions); 2] = [
            (ElementKind::Pyramid13, [(2.0 * a - 1.0) * t, (2.0 * b - 1.0) * t, c], bedrosian),
            (ElementKind::Prism15, [a, b * (1.0 - a), 2.0 * c - 1.0], serendipity),
        ];
        for (kind, xi, published) in cases {
            let at = kind.shape_functions().at(xi);
            let exact = published(xi);
            prop_assert_eq!(at.values.len(), exact.len());
            for (k, (found, exact)) in at.values.iter().zip(&exact).enumerate() {
                prop_assert!((found - exact).abs() < 1e-13, "{:?} {} {} {}", kind, k, found, exact);
            }
            for i in 0..3 {
                let step = 1e-5;
                let moved = |by: f64| {
                    let mut xi = xi;
                    xi[i] += by;
                    published(xi)
                };
                let sides = [moved(step), moved(-step), moved(2.0 * step), moved(-2.0 * step)];
                for (k, g) in at.gradients.iter().enumerate() {
                    let half = (sides[0][k] - sides[1][k]) / (2.0 * step);
                    let whole = (sides[2][k] - sides[3][k]) / (4.0 * step);
                    let exact = (4.0 * half - whole) / 3.0;
                    // Rounding of size 1e-16 over the step, and less of the fourth power of it.
                    prop_assert!((g[i] - exact).abs() < 1e-9, "{:?} {} {} {}", kind, k, g[i], exact);
                }
            }
        }
    }
}

/// At the tip all is finite, and what is approached along the axis.
#[test]
fn the_tip_of_a_pyramid_has_values_and_gradients() {
    for kind in [ElementKind::Pyramid5, ElementKind::Pyramid13] {
        let shapes = kind.shape_functions();
        let (at, near) = (shapes.at([0.0, 0.0, 1.0]), shapes.at([0.0, 0.0, 1.0 - 1e-9]));
        for (k, n) in at.values.iter().enumerate() {
            let expected = if k == 4 { 1.0 } else { 0.0 };
            assert!((n - expected).abs() < 1e-13, "{kind:?} {k} {n}");
        }
        for (a, b) in at
            .gradients
            .as_flattened()
            .iter()
            .zip(near.gradients.as_flattened())
        {
            assert!((a - b).abs() < 1e-8, "{kind:?} {a} {b}");
        }
    }
}

/// The functions of a triangle of six nodes, of a quadrangle of eight, at shares of its corners.
fn face_functions(corners: usize, [u, v]: [f64; 2]) -> Vec<f64> {
    if corners == 3 {
        let l = [1.0 - u - v, u, v];
        let mut out: Vec<f64> = l.map(|l| l * (2.0 * l - 1.0)).to_vec();
        out.extend([[0, 1], [1, 2], [2, 0]].map(|[i, j]| 4.0 * l[i] * l[j]));
        return out;
    }
    let signs = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let corner = |[a, b]: [f64; 2]| 0.25 * (1.0 + a * u) * (1.0 + b * v) * (a * u + b * v - 1.0);
    let mut out: Vec<f64> = signs.map(corner).to_vec();
    out.extend([
        0.5 * (1.0 - u * u) * (1.0 - v),
        0.5 * (1.0 - v * v) * (1.0 + u),
        0.5 * (1.0 - u * u) * (1.0 + v),
        0.5 * (1.0 - v * v) * (1.0 - u),
    ]);
    out
}

/// On each face of every quadratic kind of straight edges only the nodes of the face count, by the
/// functions of a triangle of six or a quadrangle of eight nodes: what neighbours share is the same.
#[test]
fn faces_are_those_of_quadratic_triangles_and_quadrangles() {
    for kind in [
        ElementKind::Tet10,
        ElementKind::Pyramid13,
        ElementKind::Prism15,
        ElementKind::Hex20,
    ] {
        let (nodes, shapes) = (kind.reference_nodes(), kind.shape_functions());
        for face in kind.faces() {
            let n = face.len();
            let mut list = face.to_vec();
            for k in 0..n {
                let (a, b) = (face[k], face[(k + 1) % n]);
                let edge = kind.edges().iter().position(|e| *e == [a, b] || *e == [b, a]);
                list.push(kind.corner_count() + edge.unwrap());
            }
            for uv in [[0.2, 0.3], [0.0, 0.55], [0.6, 0.1], [0.25, 0.75]] {
                let exact = face_functions(n, uv);
                let at: [f64; 3] =
                    std::array::from_fn(|i| list.iter().zip(&exact).map(|(k, f)| f * nodes[*k][i]).sum());
                for (k, value) in shapes.at(at).values.iter().enumerate() {
                    let place = list.iter().position(|node| *node == k);
                    let expected = place.map_or(0.0, |place| exact[place]);
                    assert!((value - expected).abs() < 1e-13, "{kind:?} {face:?} {k} {value}");
                }
            }
        }
    }
}

/// `sum_q V_q B_q^T D B_q` with Young's modulus 1 Pa and Poisson's ratio 0.3.
fn stiffness(mesh: &Mesh) -> DMatrix<f64> {
    let (lame, shear) = (0.3 / 1.3 / 0.4, 0.5 / 1.3);
    let mut law = Matrix6::from_diagonal_element(shear);
    for i in 0..3 {
        for j in 0..3 {
            law[(i, j)] = lame + if i == j { 2.0 * shear } else { 0.0 };
        }
    }
    let gradients = DeformationGradient::new(mesh).unwrap();
    let blocks = gradients.constant_jacobian().unwrap();
    let n = mesh.nodes.len();
    let mut out = DMatrix::zeros(3 * n, 3 * n);
    for (q, volume) in gradients.volumes().iter().enumerate() {
        // dN_a/dX_j at `j n + a`.
        let block = blocks.block(q);
        let g = |a: usize, j: usize| block[j * n + a];
        let columns: Vec<SMatrix<f64, 6, 3>> = (0..n)
            .map(|a| {
                let (x, y, z) = (g(a, 0), g(a, 1), g(a, 2));
                SMatrix::<f64, 6, 3>::from_row_slice(&[
                    x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z, y, x, 0.0, 0.0, z, y, z, 0.0, x,
                ])
            })
            .collect();
        for a in 0..n {
            for b in 0..n {
                let block = columns[a].transpose() * law * columns[b] * *volume;
                let mut part = out.fixed_view_mut::<3, 3>(3 * a, 3 * b);
                part += block;
            }
        }
    }
    out
}

fn eigenvalues(matrix: DMatrix<f64>) -> Vec<f64> {
    let mut out: Vec<f64> = matrix.symmetric_eigen().eigenvalues.iter().copied().collect();
    out.sort_by(f64::total_cmp);
    out
}

#[test]
fn masses_and_stiffnesses_are_those_of_another_program() {
    for (kind, cell) in KINDS {
        let mesh = placed(kind, affine);
        let Mass::PerElement(lumped) = mesh.lumped_mass(1.0).unwrap() else {
            panic!()
        };
        let Mass::Coupled(coupled) = mesh.consistent_mass(1.0).unwrap() else {
            panic!()
        };
        let n = kind.node_count();
        let consistent = eigenvalues(DMatrix::from_row_slice(n, n, &coupled[0].matrix));
        let elastic = eigenvalues(stiffness(&mesh));
        // No motion but those of a rigid body is without stiffness.
        assert!(elastic[..6].iter().all(|e| e.abs() < 1e-14), "{elastic:?}");
        let rows = [
            ("masses", &lumped[..]),
            ("mass", &consistent),
            ("stiffness", &elastic[6..]),
        ];
        for (what, found) in rows {
            let exact = reference(cell, what);
            assert_eq!(found.len(), exact.len());
            let largest = exact.iter().fold(0.0f64, |a, b| a.max(*b));
            for (found, exact) in found.iter().zip(&exact) {
                // Rounding of eigenvalues, which is of the size of the largest.
                let off = (found - exact).abs() / largest;
                assert!(off < 3e-14, "{cell} {what}: {found} {exact}");
            }
        }
    }
}

/// A prism with the middles of two edges moved out by `s` in the planes of its triangles: a segment
/// of a parabola of the chord 1 more, `2/3 s`, times its height 2. A pyramid with the middle of an
/// edge of its base moved out: its side, which stands over a projection of area 1, moves by `s`
/// times a function of mean 1/3. Masses are exact too, and put right from their mirror images.
#[test]
fn curved_edges_have_their_volume() {
    let s = 0.15;
    let cases = [
        (ElementKind::Prism15, vec![6, 9], 1.0 + 2.0 * 2.0 / 3.0 * s),
        (ElementKind::Pyramid13, vec![5], 4.0 / 3.0 + s / 3.0),
    ];
    for (kind, moved, exact) in cases {
        let mut mesh = placed(kind, |x| x);
        moved.iter().for_each(|k| mesh.nodes[*k][1] -= s);
        assert_eq!(mesh.defects(), []);
        let mut mass = mesh.volume().unwrap();
        assert!((mass - exact).abs() < 1e-14, "{kind:?} {mass} {exact}");
        let Mass::Coupled(list) = mesh.consistent_mass(1.0).unwrap() else {
            panic!()
        };
        mass = list[0].matrix.iter().sum();
        assert!((mass - exact).abs() < 1e-14, "{kind:?} {mass} {exact}");
    }
}

/// A box of a hexahedron, six pyramids around a point and two prisms, side by side.
fn mixed() -> Mesh {
    let mut mesh = Mesh::hexahedral_box([3.0, 1.0, 1.0], [3, 1, 1]).unwrap();
    let (pyramids, prisms) = (mesh.elements[1].clone(), mesh.elements[2].clone());
    mesh.elements.truncate(1);
    let tip = mesh.nodes.len();
    mesh.nodes.push([1.5, 0.5, 0.5]);
    for face in pyramids.kind.faces() {
        let n = [3, 2, 1, 0].map(|k| pyramids.nodes[face[k]]);
        mesh.elements.push(Element::new(
            ElementKind::Pyramid5,
            &[n[0], n[1], n[2], n[3], tip],
        ));
    }
    for half in [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]] {
        mesh.elements
            .push(Element::new(ElementKind::Prism6, &half.map(|k| prisms.nodes[k])));
    }
    mesh
}

#[test]
fn mixed_meshes_become_quadratic_and_have_one_surface() {
    let linear = mixed();
    let mesh = linear.clone().into_quadratic();
    assert_eq!(mesh.defects(), []);
    assert!(mesh.elements.iter().all(|e| e.kind.is_quadratic()));
    // 16 corners, the tip; 12 + 3 * 8 edges of the boxes less the eight of two shared faces,
    // eight to the tip, two diagonals.
    assert_eq!(mesh.nodes.len(), 17 + 28 + 8 + 2);
    // Ends of four edges each, and three by four sides less the two that are cut in two.
    let quadrangles = 2 + 3 * 4 - 2;
    assert_eq!(mesh.surface().len(), 6 * quadrangles + 4 * 4);
    for mesh in [&linear, &mesh] {
        assert!((mesh.volume().unwrap() - 3.0).abs() < 1e-14);
    }
    assert_eq!(mesh.clone().into_quadratic(), mesh);
    assert_eq!(mesh.clone().into_tetrahedra(), mesh);
}

#[test]
fn broken_quadratic_cells_are_named() {
    for (kind, _) in KINDS {
        let name = kind.name();
        let refused = |change: &dyn Fn(&mut Mesh)| {
            let mut mesh = placed(kind, affine);
            change(&mut mesh);
            mesh.check().unwrap_err().to_string()
        };
        let short = refused(&|m| m.elements[0].nodes.truncate(9));
        assert!(short.contains(name) && short.contains("has 9 nodes"), "{short}");
        let last = kind.node_count() - 1;
        let folded = refused(&|m| m.nodes[last] = affine([3.0, 3.0, -5.0]));
        assert!(folded.contains("folded"), "{folded}");
        let flat = refused(&|m| m.nodes.iter_mut().for_each(|x| x[2] = 0.0));
        assert!(flat.contains("flat"), "{flat}");
        let twice = refused(&|m| m.elements[0].nodes[last] = 0);
        assert!(twice.contains("twice"), "{twice}");
        let nan = refused(&|m| m.nodes[last][1] = f64::NAN);
        assert!(nan.contains("not a finite number"), "{nan}");
        let far = refused(&|m| m.elements[0].nodes[last] = 99);
        assert!(far.contains("99"), "{far}");
    }
}
