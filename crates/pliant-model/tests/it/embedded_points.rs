//! Points in cells, bending of hinges, and bad input to mappings of points.

use pliant_model::dual::Dual;
use pliant_model::{
    Addition, Area, Barycentric, Cell, CentreOfMass, CurvatureBinormal, Dependency, DihedralAngle,
    DotProduct, End, Mapping, Mask, MeshError, Model, ModelError, Normalization, Outside, Pairing,
    Projection, Quadratic, SafeDistance, SegmentAngle, Space, SquareDistance, Volume, check,
    quadratic_bending,
};
use proptest::prelude::*;

const SPACE: Space = Space::Real(3);

/// Corners of the unit cube in the order of a hexahedron, then of the next one in the direction of
/// x.
const CUBES: [[f64; 3]; 12] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
    [2.0, 0.0, 0.0],
    [2.0, 1.0, 0.0],
    [2.0, 0.0, 1.0],
    [2.0, 1.0, 1.0],
];
const HEXAHEDRA: [Cell; 2] = [
    Cell::Hexahedron([0, 1, 2, 3, 4, 5, 6, 7]),
    Cell::Hexahedron([1, 8, 9, 2, 5, 10, 11, 6]),
];

/// Where the mapping puts its points.
fn place(mapping: &Barycentric, nodes: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let point = |group: &Vec<(Dependency, f64)>| {
        [0, 1, 2].map(|k| group.iter().map(|(at, w)| w * nodes[at.element][k]).sum())
    };
    mapping.weights().iter().map(point).collect()
}

fn off(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// The mapping against the sum of its weights, which `exactly` forms anew.
fn both(mapping: &Barycentric, nodes: &[[f64; 3]], seed: u64) {
    let parents = [(SPACE, nodes.len())];
    let x = nodes.as_flattened();
    let groups = mapping.weights().to_vec();
    let formula = |x: &[Dual]| {
        let one = |(group, k): (&Vec<(Dependency, f64)>, usize)| {
            group
                .iter()
                .fold(Dual::from(0.0), |sum, (at, w)| sum + x[3 * at.element + k] * *w)
        };
        groups
            .iter()
            .flat_map(|g| (0..3).map(move |k| (g, k)))
            .map(one)
            .collect()
    };
    let found = check::mapping_exactly(mapping, &parents, x, seed, formula).unwrap();
    assert!(found.worst() < 1e-14, "{found:?}");
    // Linear: only rounding, of coordinates up to 1e3 some 1e-13, by the step 1e-5.
    assert!(check::mapping(mapping, &parents, x, seed).unwrap().worst() < 1e-7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    /// Local coordinates drawn at random in distorted cells are found again from the place alone.
    #[test]
    fn points_are_found(r in prop::collection::vec(0.02..0.98f64, 12), jitter in prop::collection::vec(-0.15..0.15f64, 36),
        shift in -1e3..1e3f64, seed in 1u64..1000) {
        let mut nodes = CUBES;
        nodes.iter_mut().flatten().zip(&jitter).for_each(|(x, d)| *x += d + shift);
        let places: Vec<_> = (0..4).map(|k| (k % 2, [r[3 * k], r[3 * k + 1], r[3 * k + 2]])).collect();
        let given = Barycentric::in_cells(&HEXAHEDRA, &places).unwrap();
        both(&given, &nodes, seed);
        let points = place(&given, &nodes);
        let found = Barycentric::embed(&nodes, &HEXAHEDRA, &points, Outside::Refuse).unwrap();
        for (a, b) in given.weights().iter().zip(found.weights()) {
            for ((at, w), (bt, u)) in a.iter().zip(b) {
                // Coordinates of 1e3 are rounded to 1e-13.
                prop_assert!(at == bt && (w - u).abs() < 1e-11, "{w} {u}");
            }
        }
        // Simplices: weights are affine.
        let cells = [Cell::Segment([0, 8]), Cell::Triangle([3, 9, 4]), Cell::Tetrahedron([0, 1, 3, 4])];
        for (k, cell) in cells.iter().enumerate() {
            let local = [r[3 * k], r[3 * k + 1], r[3 * k + 2]].map(|x| x / 3.0);
            let given = Barycentric::in_cells(&cells, &[(k, local)]).unwrap();
            both(&given, &nodes, seed);
            let points = place(&given, &nodes);
            let found = Barycentric::embed(&nodes, &[*cell], &points, Outside::Refuse).unwrap();
            prop_assert!(off(&place(&found, &nodes)[0], &points[0]) < 1e-11);
            for ((_, w), (_, u)) in given.weights()[0].iter().zip(&found.weights()[0]) {
                prop_assert!((w - u).abs() < 1e-11, "{w} {u}");
            }
        }
    }

    /// Of the cells of a surface the one is taken that is nearest, against a search over a fine
    /// grid of each.
    #[test]
    fn the_nearest_cell(x in prop::collection::vec(-1.0..1.0f64, 21)) {
        let nodes: Vec<[f64; 3]> = x[..18].as_chunks::<3>().0.to_vec();
        let point = [2.0 * x[18], 2.0 * x[19], 2.0 * x[20]];
        let (one, two) = ([0, 1, 2], [3, 4, 5]);
        let grid = |t: [usize; 3]| {
            let mut nearest = f64::INFINITY;
            for i in 0..=60 {
                for j in 0..=60 - i {
                    let (r, s) = (f64::from(i) / 60.0, f64::from(j) / 60.0);
                    let at = [0, 1, 2].map(|k| (1.0 - r - s) * nodes[t[0]][k] + r * nodes[t[1]][k] + s * nodes[t[2]][k]);
                    nearest = nearest.min(off(&at, &point));
                }
            }
            nearest
        };
        let distances = [grid(one), grid(two)];
        // The grid is as fine as edges of at most 3.5, over 60.
        prop_assume!((distances[0] - distances[1]).abs() > 0.06 && distances[0].min(distances[1]) > 0.0);
        let cells = [Cell::Triangle(one), Cell::Triangle(two)];
        let Ok(found) = Barycentric::embed(&nodes, &cells, &[point], Outside::Extrapolate) else {
            return Err(TestCaseError::reject("a degenerate triangle"));
        };
        let expected = if distances[0] < distances[1] { 0 } else { 3 };
        prop_assert_eq!(found.weights()[0][0].0.element, expected);
        let Err(MeshError::Outside { distance, .. }) = Barycentric::embed(&nodes, &cells, &[point], Outside::Refuse) else {
            return Err(TestCaseError::fail("a point in space lies on a triangle"));
        };
        let best = distances[0].min(distances[1]);
        prop_assert!(distance < best + 1e-14 && distance > best - 0.06, "{distance} {best}");
    }
}

#[test]
fn outside_of_the_mesh() {
    let outside = [[2.5, 0.5, 0.25], [-1.0, 0.0, 3.0]];
    let refused = Barycentric::embed(&CUBES, &HEXAHEDRA, &outside, Outside::Refuse).unwrap_err();
    assert_eq!(
        refused,
        MeshError::Outside {
            point: 0,
            distance: 0.5
        }
    );
    let found = Barycentric::embed(&CUBES, &HEXAHEDRA, &outside, Outside::Extrapolate).unwrap();
    for (a, b) in place(&found, &CUBES).iter().zip(&outside) {
        assert!(off(a, b) < 1e-14);
    }
    assert_eq!(found.weights()[0][0].0.element, 1);
    // A point above a triangle is projected, one beside a tetrahedron extrapolated.
    let cells = [Cell::Triangle([0, 1, 3])];
    let found = Barycentric::embed(&CUBES, &cells, &[[0.25, 0.5, 9.0]], Outside::Extrapolate).unwrap();
    assert!(off(&place(&found, &CUBES)[0], &[0.25, 0.5, 0.0]) < 1e-15);
    let cells = [Cell::Tetrahedron([0, 1, 3, 4])];
    let found = Barycentric::embed(&CUBES, &cells, &[[1.0, 1.0, 1.0]], Outside::Extrapolate).unwrap();
    assert!(
        found.weights()[0]
            .iter()
            .zip([-2.0, 1.0, 1.0, 1.0])
            .all(|((_, w), e)| (w - e).abs() < 1e-15)
    );
    let distance = Barycentric::embed(&CUBES, &cells, &[[1.0, 1.0, 1.0]], Outside::Refuse);
    let Err(MeshError::Outside { distance, .. }) = distance else {
        unreachable!("the corner is outside")
    };
    assert!((distance - 2.0 / 3f64.sqrt()).abs() < 1e-15);
    // A corner of the mesh, and a face between two cells.
    let on = [[0.0; 3], [1.0, 0.5, 0.5], [2.0, 1.0, 1.0]];
    let found = Barycentric::embed(&CUBES, &HEXAHEDRA, &on, Outside::Refuse).unwrap();
    assert!(
        place(&found, &CUBES)
            .iter()
            .zip(&on)
            .all(|(a, b)| off(a, b) < 1e-15)
    );
}

/// A fine mesh in a coarse one, in the plane, moved by an affine motion, which barycentric weights
/// carry exactly; and a wedge.
#[test]
fn mesh_in_mesh() {
    let coarse = [[0.0, 0.0, 0.0], [2.0, 0.1, 0.0], [0.3, 1.5, 0.0]];
    let fine = [[0.5, 0.3, 0.0], [0.9, 0.2, 0.0], [0.6, 0.8, 0.0]];
    let mapping = Barycentric::embed(&coarse, &[Cell::Triangle([0, 1, 2])], &fine, Outside::Refuse)
        .unwrap()
        .in_dimension(2);
    let motion = |x: &[f64; 3]| [1.0 + 2.0 * x[0] - x[1], 0.5 * x[0] + 3.0 * x[1] - 7.0];
    let mut model = Model::new();
    let moved: Vec<f64> = coarse.iter().flat_map(motion).collect();
    let parent = model
        .add_independent("coarse", Space::Real(2), &moved, &[0.0; 6])
        .unwrap();
    let child = model.add_mapped("fine", &[parent], mapping).unwrap();
    let state = model.initial_state().unwrap();
    for (a, b) in model
        .positions(&state, child)
        .iter()
        .zip(fine.iter().flat_map(motion))
    {
        assert!((a - b).abs() < 1e-14);
    }
    // The top edges of the cube collapsed: a node is there twice, and once among the dependencies.
    let wedge = [Cell::Hexahedron([0, 1, 2, 3, 4, 5, 5, 4])];
    let point = [0.4, 0.3, 0.5];
    let found = Barycentric::embed(&CUBES, &wedge, &[point], Outside::Refuse).unwrap();
    assert_eq!(found.weights()[0].len(), 6);
    assert!(off(&place(&found, &CUBES)[0], &point) < 1e-14);
    both(&found, &CUBES, 3);
}

#[test]
fn meshes_that_are_none() {
    let embed = |nodes: &[[f64; 3]], cell, point| {
        Barycentric::embed(nodes, &[cell], &[point], Outside::Refuse).unwrap_err()
    };
    let (cell, inside) = (Cell::Tetrahedron([0, 1, 3, 4]), [0.1, 0.1, 0.1]);
    let mut broken = CUBES;
    broken[7][1] = f64::NAN;
    assert_eq!(
        embed(&broken, cell, inside),
        MeshError::NotFinite {
            what: "node",
            index: 7
        }
    );
    let nowhere = [0.0, f64::INFINITY, 0.0];
    assert_eq!(
        embed(&CUBES, cell, nowhere),
        MeshError::NotFinite {
            what: "point",
            index: 0
        }
    );
    let node = MeshError::Node {
        cell: 0,
        node: 12,
        count: 12,
    };
    assert_eq!(embed(&CUBES, Cell::Triangle([0, 12, 1]), inside), node);
    let flat = MeshError::DegenerateCell { cell: 0 };
    for cell in [
        Cell::Segment([3, 3]),
        Cell::Triangle([0, 1, 8]),
        Cell::Tetrahedron([0, 1, 2, 3]),
        Cell::Hexahedron([0, 1, 2, 3, 0, 1, 2, 3]),
    ] {
        assert_eq!(embed(&CUBES, cell, inside), flat);
    }
    assert_eq!(
        Barycentric::embed(&CUBES, &[], &[inside], Outside::Extrapolate).unwrap_err(),
        MeshError::Lost { point: 0 }
    );
    assert_eq!(
        Barycentric::in_cells(&HEXAHEDRA, &[(2, [0.0; 3])]).unwrap_err(),
        MeshError::Cell {
            point: 0,
            cell: 2,
            count: 2
        }
    );
    assert_eq!(quadratic_bending(&[[0, 1, 8, 3]], &CUBES).unwrap_err(), flat);
    assert_eq!(quadratic_bending(&[[0, 1, 3, 12]], &CUBES).unwrap_err(), node);
    assert_eq!(
        quadratic_bending(&[[0, 1, 3, 2]], &broken).unwrap_err(),
        MeshError::NotFinite {
            what: "node",
            index: 7
        }
    );
    let error = ModelError::Mesh {
        name: "skin".into(),
        cause: flat,
    };
    assert!(
        error
            .to_string()
            .contains("`skin` cannot be made of its mesh: cell 0"),
        "{error}"
    );
}

#[test]
fn quadratic_bending_of_a_hinge() {
    let rest = [
        [0.2, -0.1, 0.0],
        [2.2, -0.1, 0.0],
        [0.9, 1.4, 0.0],
        [1.7, -0.9, 0.0],
    ];
    let hinge = [[0, 1, 2, 3]];
    let mapping = quadratic_bending(&hinge, &rest).unwrap();
    let energy = |x: &[[f64; 3]; 4]| {
        let mut model = Model::new();
        let points = model.add_particles("points", x).unwrap();
        let child = model.add_mapped("bending", &[points], mapping.clone()).unwrap();
        let state = model.initial_state().unwrap();
        0.5 * model.positions(&state, child).iter().map(|x| x * x).sum::<f64>()
    };
    // Nothing at rest, nor after a flat deformation.
    assert!(energy(&rest) < 1e-30);
    assert!(energy(&rest.map(|[x, y, _]| [2.0 * x + y, 3.0 * y - 0.5 * x, x - y + 4.0])) < 1e-28);
    // Folded without stretching: 6 (l^2/A) sin^2(theta/2).
    let (l, area) = (2.0, 0.5 * 2.0 * (1.5 + 0.8));
    for theta in [0.1f64, 1.0, 2.5] {
        let mut x = rest;
        x[3] = [rest[3][0], -0.1 - 0.8 * theta.cos(), 0.8 * theta.sin()];
        let expected = 6.0 * l * l / area * (0.5 * theta).sin().powi(2);
        assert!(
            (energy(&x) - expected).abs() < 1e-14 * expected,
            "{} {expected}",
            energy(&x)
        );
    }
    // Any deformation, the cotangents from angles by the law of cosines.
    let x = [
        [0.1, 0.4, -0.3],
        [1.9, -0.2, 0.5],
        [1.1, 1.2, 0.8],
        [1.2, -1.1, -0.2],
    ];
    let cotangent = |at: usize, a: usize, b: usize| {
        let (p, q, r) = (
            off(&rest[at], &rest[a]),
            off(&rest[at], &rest[b]),
            off(&rest[a], &rest[b]),
        );
        ((p * p + q * q - r * r) / (2.0 * p * q)).acos().tan().recip()
    };
    let [c02, c12, c03, c13] = [
        cotangent(0, 1, 2),
        cotangent(1, 0, 2),
        cotangent(0, 1, 3),
        cotangent(1, 0, 3),
    ];
    let weights = [c12 + c13, c02 + c03, -c02 - c12, -c03 - c13];
    let sum = |k: usize| (0..4).map(|i| weights[i] * x[i][k]).sum::<f64>();
    let expected = 0.5 * 3.0 / area * (0..3).map(|k| sum(k) * sum(k)).sum::<f64>();
    assert!(
        (energy(&x) - expected).abs() < 1e-13 * expected,
        "{} {expected}",
        energy(&x)
    );
    let formula = |x: &[Dual]| -> Vec<Dual> {
        let coordinate = |k: usize| (0..4).fold(Dual::from(0.0), |sum, i| sum + x[3 * i + k] * weights[i]);
        (0..3).map(|k| coordinate(k) * (3.0 / area).sqrt()).collect()
    };
    let found = check::mapping_exactly(&mapping, &[(SPACE, 4)], x.as_flattened(), 1, formula).unwrap();
    assert!(found.worst() < 1e-13, "{found:?}");
    assert!(
        check::mapping(&mapping, &[(SPACE, 4)], x.as_flattened(), 1)
            .unwrap()
            .worst()
            < 1e-9
    );
}

fn says(mapping: &dyn Mapping, parents: &[(Space, usize)], words: &str) {
    let text = mapping.check("tendon", parents).unwrap_err().to_string();
    assert!(
        text.contains("`tendon`") && text.contains(words),
        "{mapping:?}: {text}"
    );
}

/// Checks the errors that all mappings between ends have in common.
fn ends<M: Mapping>(make: impl Fn(End, End) -> M) {
    let (space, end) = ([(SPACE, 3)], End::element(0, 1));
    make(end, End::element(0, 0)).check("tendon", &space).unwrap();
    says(
        &make(end, End::element(0, 3)),
        &space,
        "element 3 of a node that has 3",
    );
    says(&make(end, End::element(usize::MAX, 0)), &space, "parent");
    says(&make(end, end), &space, "are the same");
    says(
        &make(end, End::Point([0.0, f64::NAN, 0.0])),
        &space,
        "a fixed point",
    );
    says(
        &make(end, End::element(0, 0)),
        &[(Space::Real(2), 3)],
        "needs a node of points of space",
    );
    says(
        &make(end, End::element(0, 0)),
        &[(Space::Rigid3, 3)],
        "found rigid bodies",
    );
    says(
        &make(end, End::element(0, 0)),
        &[],
        "refers to parent 0, but has 0",
    );
}

#[test]
fn bad_ends() {
    let [a, b] = [End::element(0, 2), End::Point([1.0; 3])];
    ends(|p, q| Addition::new(&[(p, q)]));
    ends(|p, q| SafeDistance::new(&[(p, q)], 1.0));
    ends(|p, q| SquareDistance::new(&[(p, q)]));
    ends(|p, q| DotProduct::new(&[(p, q)]));
    ends(|p, q| Normalization::new(&[(p, q)]));
    ends(|p, q| SegmentAngle::new(&[[p, a, q]]));
    ends(|p, q| CurvatureBinormal::new(&[[a, p, q]]));
    ends(|p, q| Area::new(&[[p, q, b]]));
    ends(|p, q| DihedralAngle::new(&[[p, a, q, b]]));
    ends(|p, q| Volume::new(&[[b, q, a, p]]));
    let space = [(SPACE, 3)];
    says(&Volume::new(&[[b; 4]]), &space, "all its ends are fixed points");
    says(&Addition::new(&[(a, b), (b, b)]), &space, "element 1");
    says(
        &SegmentAngle::between(&[[0, 1, 2]]).in_plane(),
        &space,
        "needs a node of points of the plane",
    );
    says(
        &Area::between(&[[0, 1, 2], [0, 1, 1]]),
        &space,
        "element 1, is not defined here: two of its ends",
    );
}

#[test]
fn bad_numbers() {
    let space = [(SPACE, 4)];
    let pairs = [
        (End::element(0, 0), End::element(0, 1)),
        (End::element(0, 2), End::element(0, 1)),
    ];
    for eps in [0.0, -1.0, 1e-300] {
        says(&SafeDistance::new(&pairs, eps), &space, "must be positive");
    }
    for eps in [f64::NAN, f64::INFINITY] {
        says(&SafeDistance::new(&pairs, eps), &space, "the smoothing length");
    }
    let nan = [1.0, f64::NAN];
    let (chain, hinge) = ([[0, 1, 2], [1, 2, 3]], [[0, 1, 2, 3], [1, 0, 2, 3]]);
    let with = |rests: &[f64], words: &str| {
        says(
            &SafeDistance::new(&pairs, 1.0).with_rest_lengths(rests),
            &space,
            words,
        );
        says(
            &SquareDistance::new(&pairs).with_rest_lengths(rests),
            &space,
            words,
        );
        says(
            &SegmentAngle::between(&chain).with_rest_angles(rests),
            &space,
            words,
        );
        says(&Area::between(&chain).with_rest_areas(rests), &space, words);
    };
    with(&[-0.5], "must be zero or more");
    let signed = |rests: &[f64], words: &str| {
        with(rests, words);
        says(
            &DihedralAngle::between(&hinge).with_rest_angles(rests),
            &space,
            words,
        );
        says(&Volume::between(&hinge).with_rest_volumes(rests), &space, words);
        says(
            &Projection::new(&[(0, [1.0; 3]), (1, [1.0; 3])]).with_offsets(rests),
            &space,
            words,
        );
        says(&Quadratic::new(3, &[0, 1]).with_factors(rests), &space, words);
    };
    signed(&nan, "is NaN");
    signed(&[1.0; 3], "needs 2");
    signed(&[], "needs 2");
    says(
        &Projection::new(&[(0, [0.0; 3])]),
        &space,
        "its direction is zero",
    );
    says(
        &Projection::new(&[(0, [0.0, 0.0, 1.0])]).in_dimension(2),
        &[(Space::Real(2), 1)],
        "its direction is zero",
    );
    says(
        &Projection::new(&[(0, [0.0, f64::NAN, 1.0])]),
        &space,
        "a direction",
    );
    says(&Projection::new(&[(4, [1.0; 3])]), &space, "element 4");
    says(
        &Projection::new(&[(0, [1.0; 3])]),
        &[(Space::Rigid3, 1)],
        "needs a node of points of space",
    );
    says(&Mask::new(&[(0, 3)]), &space, "needs 4 coordinates");
    says(&Mask::new(&[(0, usize::MAX)]), &space, "coordinates");
    says(
        &Mask::new(&[(0, 3)]),
        &[(Space::Rigid3, 1)],
        "needs 4 coordinates",
    );
    says(&Mask::new(&[(4, 0)]), &space, "element 4");
    says(&Quadratic::new(0, &[0]), &space, "the dimension");
    says(
        &Quadratic::new(5, &[0]),
        &space,
        "the dimension given to the mapping",
    );
    says(&Pairing::new(0, &[]), &space, "the dimension");
    says(&Pairing::new(3, &[]), &space, "it has no pairs");
    says(&Pairing::of_nodes(3, 5), &[(SPACE, 5), (SPACE, 4)], "element 4");
    says(&Pairing::of_nodes(3, 4), &space, "parent 1");
}

#[test]
fn bad_weights() {
    let space = [(SPACE, 2), (Space::Rigid3, 1), (Space::Real(2), 1)];
    let at = Dependency::new;
    let centre = |group: &[(Dependency, f64)]| CentreOfMass::new(&[vec![(at(0, 0), 1.0)], group.to_vec()]);
    let points = |group: &[(Dependency, f64)]| Barycentric::new(&[vec![(at(0, 0), 1.0)], group.to_vec()]);
    centre(&[(at(0, 0), 1.0), (at(1, 0), 0.0)])
        .check("tendon", &space)
        .unwrap();
    points(&[(at(0, 0), 1.5), (at(0, 1), -0.5)])
        .check("tendon", &space)
        .unwrap();
    says(
        &centre(&[]),
        &space,
        "element 1, is not defined here: its group is empty",
    );
    says(
        &points(&[]),
        &space,
        "element 1, is not defined here: its group is empty",
    );
    let twice = [(at(0, 1), 0.5), (at(0, 1), 0.5)];
    says(&centre(&twice), &space, "twice");
    says(&points(&twice), &space, "twice");
    says(
        &centre(&[(at(0, 0), -1.0), (at(0, 1), 3.0)]),
        &space,
        "must be zero or more",
    );
    says(&centre(&[(at(0, 0), 0.0)]), &space, "the sum of the weights");
    says(
        &centre(&[(at(0, 0), f64::MAX), (at(0, 1), f64::MAX)]),
        &space,
        "the sum of the weights",
    );
    says(
        &points(&[(at(0, 0), 0.5), (at(0, 1), 0.6)]),
        &space,
        "must be one",
    );
    for bad in [f64::NAN, f64::INFINITY] {
        says(&centre(&[(at(0, 0), bad)]), &space, "a weight");
        says(&points(&[(at(0, 0), bad)]), &space, "a weight");
    }
    says(
        &centre(&[(at(2, 0), 1.0)]),
        &space,
        "needs a node of points of space or rigid bodies",
    );
    says(
        &points(&[(at(1, 0), 1.0)]),
        &space,
        "needs a node of points of space",
    );
    says(&points(&[(at(0, 2), 1.0)]), &space, "element 2");
    says(&points(&[(at(3, 2), 1.0)]), &space, "parent 3");
    let local = Barycentric::in_cells(&HEXAHEDRA, &[(0, [f64::NAN; 3])]).unwrap();
    says(&local, &[(SPACE, 12)], "a weight");
}
