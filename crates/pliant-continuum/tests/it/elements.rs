//! Shape functions and quadrature against closed forms.

use pliant_continuum::{DeformationGradient, Element, ElementKind, Mesh};
use pliant_model::{Mapping, Space, check};
use proptest::prelude::*;

/// A point inside the reference cell.
fn inside(kind: ElementKind, [a, b, c]: [f64; 3]) -> [f64; 3] {
    match kind {
        ElementKind::Tet4 | ElementKind::Tet10 => [a, b * (1.0 - a), c * (1.0 - a) * (1.0 - b)],
        ElementKind::Prism6 | ElementKind::Prism15 => [a, b * (1.0 - a), 2.0 * c - 1.0],
        ElementKind::Pyramid5 | ElementKind::Pyramid13 => [
            (2.0 * a - 1.0) * (1.0 - 0.9 * c),
            (2.0 * b - 1.0) * (1.0 - 0.9 * c),
            0.9 * c,
        ],
        _ => [2.0 * a - 1.0, 2.0 * b - 1.0, 2.0 * c - 1.0],
    }
}

/// Monomials that the space of a kind must contain.
fn degree(kind: ElementKind) -> i32 {
    if kind.is_quadratic() { 2 } else { 1 }
}

fn monomials(degree: i32) -> Vec<[i32; 3]> {
    let mut out = Vec::new();
    for a in 0..=degree {
        for b in 0..=degree - a {
            out.extend((0..=degree - a - b).map(|c| [a, b, c]));
        }
    }
    out
}

fn power(p: [f64; 3], e: [i32; 3]) -> f64 {
    (0..3).map(|k| p[k].powi(e[k])).product()
}

#[test]
fn functions_are_one_at_their_node_and_zero_at_others() {
    for kind in ElementKind::ALL {
        let (nodes, shapes) = (kind.reference_nodes(), kind.shape_functions());
        assert_eq!(nodes.len(), kind.node_count());
        for (a, p) in nodes.iter().enumerate() {
            for (b, value) in shapes.at(*p).values.iter().enumerate() {
                let expected = if a == b { 1.0 } else { 0.0 };
                // The condition of the matrix at the nodes is below 100.
                assert!((value - expected).abs() < 1e-13, "{kind:?} {a} {b}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn polynomials_are_complete(p in prop::array::uniform3(0.01f64..0.99)) {
        for kind in ElementKind::ALL {
            let (nodes, at) = (kind.reference_nodes(), kind.shape_functions().at(inside(kind, p)));
            let p = inside(kind, p);
            prop_assert!((at.values.iter().sum::<f64>() - 1.0).abs() < 1e-13);
            for e in monomials(degree(kind)) {
                let value: f64 = nodes.iter().zip(&at.values).map(|(x, n)| n * power(*x, e)).sum();
                prop_assert!((value - power(p, e)).abs() < 1e-12, "{:?} {:?}", kind, e);
                for k in 0..3 {
                    let sum: f64 = nodes.iter().zip(&at.gradients).map(|(x, g)| g[k] * power(*x, e)).sum();
                    let mut lower = e;
                    lower[k] -= 1;
                    let slope = if e[k] == 0 { 0.0 } else { f64::from(e[k]) * power(p, lower) };
                    // Gradients of the pyramid grow as one over the distance from the tip.
                    prop_assert!((sum - slope).abs() < 1e-11, "{:?} {:?} {}", kind, e, k);
                }
            }
        }
    }
}

/// `n!`
fn factorial(n: i32) -> f64 {
    (1..=n).map(f64::from).product()
}

/// Integral of `x^e` over `-1 .. 1`.
fn on_line(e: i32) -> f64 {
    if e % 2 == 0 { 2.0 / f64::from(e + 1) } else { 0.0 }
}

/// Integral of a monomial over the reference cell.
fn integral(kind: ElementKind, [a, b, c]: [i32; 3]) -> f64 {
    match kind {
        ElementKind::Tet4 | ElementKind::Tet10 => {
            factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3)
        }
        ElementKind::Prism6 | ElementKind::Prism15 => {
            factorial(a) * factorial(b) / factorial(a + b + 2) * on_line(c)
        }
        // Over the square of half edge 1 - z: on_line(a) on_line(b) (1 - z)^(a + b + 2) z^c.
        ElementKind::Pyramid5 | ElementKind::Pyramid13 => {
            let n = a + b + 2;
            on_line(a) * on_line(b) * factorial(n) * factorial(c) / factorial(n + c + 1)
        }
        _ => on_line(a) * on_line(b) * on_line(c),
    }
}

#[test]
fn quadrature_is_exact_up_to_its_degree() {
    for kind in ElementKind::ALL {
        for degree in 0..=7 {
            let rule = kind.quadrature(degree);
            assert!(rule.weights.iter().all(|w| *w > 0.0));
            for e in monomials(degree as i32) {
                let points = rule.points.iter().zip(&rule.weights);
                let sum: f64 = points.map(|(p, w)| w * power(*p, e)).sum();
                // Sums of up to 125 weights of size 1.
                assert!(
                    (sum - integral(kind, e)).abs() < 1e-13,
                    "{kind:?} {degree} {e:?} {sum}"
                );
            }
        }
        let volume = kind.reference_volume();
        assert!((integral(kind, [0; 3]) - volume).abs() < 1e-15);
    }
}

/// One element, its nodes moved a little and sheared, far from the origin.
pub(crate) fn distorted(kind: ElementKind, seed: u64) -> Mesh {
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut noise = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        0.1 * ((s >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    let moved = |p: [f64; 3]| {
        [
            p[0] + 0.3 * p[1] + noise() + 2.0,
            0.9 * p[1] - 0.2 * p[2] + noise() - 1.0,
            1.1 * p[2] + noise() + 0.5,
        ]
    };
    Mesh {
        nodes: kind.reference_nodes().into_iter().map(moved).collect(),
        elements: vec![Element::new(kind, &(0..kind.node_count()).collect::<Vec<_>>())],
    }
}

#[test]
fn gradients_of_an_affine_motion_are_that_motion() {
    let f = [[1.2, 0.1, -0.3], [0.05, 0.8, 0.2], [-0.1, 0.4, 1.1]];
    for kind in ElementKind::ALL {
        let mesh = distorted(kind, 7);
        let mapping = DeformationGradient::new(&mesh).unwrap();
        let image = |x: &[f64; 3]| -> [f64; 3] {
            std::array::from_fn(|i| 4.0 + (0..3).map(|j| f[i][j] * x[j]).sum::<f64>())
        };
        let mut model = pliant_model::Model::new();
        let positions: Vec<_> = mesh.nodes.iter().map(image).collect();
        let nodes = model.add_particles("nodes", &positions).unwrap();
        let child = model.add_mapped("f", &[nodes], mapping.clone()).unwrap();
        let state = model.initial_state().unwrap();
        assert_eq!(mapping.child(), (Space::Real(9), mapping.point_count()));
        for found in model.positions(&state, child).chunks(9) {
            for (a, b) in found.iter().zip(f.as_flattened()) {
                // Differences of coordinates of size 5 over edges of size 1.
                assert!((a - b).abs() < 2e-14, "{kind:?}: {a} {b}");
            }
        }
        let found = check::mapping(
            &mapping,
            &[(Space::Real(3), mesh.nodes.len())],
            mesh.nodes.as_flattened(),
            3,
        );
        assert!(found.unwrap().worst() < 1e-8, "{kind:?}");
    }
}

/// Sizes of forces on gradients are carried to the nodes by `|J|^T`, with the `J` whose columns are
/// the rates of the gradients where one coordinate alone moves.
#[test]
fn sizes_of_forces_on_gradients_do_not_cancel() {
    let mesh = Mesh::hexahedral_box([1.0, 0.7, 1.3], [2, 1, 1]).unwrap();
    let mut model = pliant_model::Model::new();
    let nodes = model.add_particles("nodes", &mesh.nodes).unwrap();
    let gradients = DeformationGradient::new(&mesh).unwrap();
    let gradients = model.add_mapped("gradients", &[nodes], gradients).unwrap();
    let mut state = model.initial_state().unwrap();
    let mut evaluation = pliant_model::Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    let (of_nodes, of_gradients) = (
        model.node(nodes).velocity_range(),
        model.node(gradients).velocity_range(),
    );
    let size = |k: usize| 1.0 + (k * k % 17) as f64;
    let mut sizes = vec![0.0; model.velocity_count()];
    sizes[of_gradients.clone()]
        .iter_mut()
        .enumerate()
        .for_each(|(k, s)| *s = size(k));
    evaluation.pull_back_sizes(&model, &mut sizes);
    for i in of_nodes {
        let mut rates = vec![0.0; model.velocity_count()];
        rates[i] = 1.0;
        evaluation.push_forward(&model, &mut rates);
        let column = rates[of_gradients.clone()].iter().enumerate();
        let exact: f64 = column.map(|(k, j)| j.abs() * size(k)).sum();
        // Rounding of sums of 16 points.
        assert!(
            exact > 1.0 && (sizes[i] - exact).abs() < 1e-13 * exact,
            "{i}: {} {exact}",
            sizes[i]
        );
    }
}
