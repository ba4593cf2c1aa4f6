//! Mappings of points: against finite differences, against formulas on hyper-dual numbers, against
//! known numbers.

use pliant_model::dual::{Dual, DualNum};
use pliant_model::{
    Addition, Area, CentreOfMass, CurvatureBinormal, Dependency, DihedralAngle, DotProduct, End, LeanState,
    Mapping, Mask, Model, Normalization, Pairing, Pose, Projection, Quadratic, SafeDistance, SegmentAngle,
    Space, SquareDistance, State, Volume, check,
};
use proptest::prelude::*;

/// Central differences of step 1e-5: truncation about 1e-10 times third derivatives, roundoff about
/// 1e-11.
const DIFFERENCES: f64 = 1e-6;
/// Rounding times the condition of the formula; states below keep sines and lengths above 1e-5.
const EXACT: f64 = 1e-9;

const SPACE: Space = Space::Real(3);

fn exactly<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    x: &[f64],
    seed: u64,
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) {
    let found = check::mapping_exactly(mapping, parents, x, seed, formula).unwrap();
    assert!(found.worst() < EXACT, "{mapping:?} at {x:?}: {found:?}");
}

fn both<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    x: &[f64],
    seed: u64,
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) {
    exactly(mapping, parents, x, seed, formula);
    let found = check::mapping(mapping, parents, x, seed).unwrap();
    assert!(found.worst() < DIFFERENCES, "{mapping:?} at {x:?}: {found:?}");
}

type V = Vec<Dual>;

fn v(x: &[Dual], dimension: usize, element: usize) -> V {
    x[dimension * element..][..dimension].to_vec()
}

fn p(x: &[Dual], element: usize) -> V {
    v(x, 3, element)
}

fn fixed(x: &[f64]) -> V {
    x.iter().map(|x| Dual::from(*x)).collect()
}

fn sub(a: &[Dual], b: &[Dual]) -> V {
    a.iter().zip(b).map(|(a, b)| *a - *b).collect()
}

fn add(a: &[Dual], b: &[Dual]) -> V {
    a.iter().zip(b).map(|(a, b)| *a + *b).collect()
}

fn dot(a: &[Dual], b: &[Dual]) -> Dual {
    a.iter().zip(b).fold(Dual::from(0.0), |sum, (a, b)| sum + *a * *b)
}

fn cross(a: &[Dual], b: &[Dual]) -> V {
    (0..3)
        .map(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
        .collect()
}

fn unit(a: &[Dual]) -> V {
    let length = dot(a, a).sqrt();
    a.iter().map(|x| *x / length).collect()
}

/// Kahan's angle between vectors, accurate at all angles; the library uses sine and cosine.
fn angle(a: &[Dual], b: &[Dual]) -> Dual {
    let (a, b) = (unit(a), unit(b));
    let (d, s) = (sub(&a, &b), add(&a, &b));
    dot(&d, &d).sqrt().atan2(dot(&s, &s).sqrt()) * 2.0
}

fn binormal(a: &[Dual], b: &[Dual]) -> V {
    let chi = (dot(a, a) * dot(b, b)).sqrt() + dot(a, b);
    cross(a, b).iter().map(|x| *x * 2.0 / chi).collect()
}

/// The angle from unnormalised normals; `turned` cuts it at zero instead of pi.
fn dihedral(x: [V; 4], turned: bool) -> Dual {
    let [e, a, b] = [1, 2, 3].map(|k| sub(&x[k], &x[0]));
    let (n2, n3) = (cross(&e, &a), cross(&b, &e));
    let (sine, cosine) = (dot(&cross(&n2, &n3), &unit(&e)), dot(&n2, &n3));
    if turned {
        (-sine).atan2(-cosine) + std::f64::consts::PI
    } else {
        sine.atan2(cosine)
    }
}

/// By Lagrange's identity.
fn area(a: &[Dual], b: &[Dual]) -> Dual {
    (dot(a, a) * dot(b, b) - dot(a, b) * dot(a, b)).sqrt() * 0.5
}

/// By Sarrus' rule.
fn volume(a: &[Dual], b: &[Dual], c: &[Dual]) -> Dual {
    let term = |i: usize, j: usize, k: usize| a[i] * b[j] * c[k];
    (term(0, 1, 2) + term(1, 2, 0) + term(2, 0, 1) - term(0, 2, 1) - term(1, 0, 2) - term(2, 1, 0)) / 6.0
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Sine of the angle at point `b` of the chain `a`, `b`, `c`.
fn sine(x: &[f64], [a, b, c]: [usize; 3]) -> f64 {
    let d = |i: usize, j: usize| -> Vec<f64> { (0..3).map(|k| x[3 * j + k] - x[3 * i + k]).collect() };
    let (p, q) = (d(a, b), d(b, c));
    let cosine = p.iter().zip(&q).map(|(p, q)| p * q).sum::<f64>() / (length(&p) * length(&q));
    (1.0 - cosine * cosine).max(0.0).sqrt()
}

fn well_apart(x: &[f64], dimension: usize) -> bool {
    let points: Vec<_> = x.chunks_exact(dimension).collect();
    let far = |a: &[f64], b: &[f64]| length(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()) > 0.4;
    (0..points.len()).all(|i| (0..i).all(|j| far(points[i], points[j])))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn of_pairs(x in prop::collection::vec(-2.0..2.0f64, 12), seed in 1u64..1000) {
        let q = [0.3, 5.0, -1.0];
        // Elements of two parents, and fixed points at either end.
        let parents = [(SPACE, 3), (SPACE, 1)];
        let pairs = [(End::element(0, 0), End::element(0, 1)), (End::element(1, 0), End::element(0, 2)),
            (End::Point(q), End::element(0, 1)), (End::element(1, 0), End::Point(q))];
        let ends = |x: &[Dual]| [(p(x, 0), p(x, 1)), (p(x, 3), p(x, 2)), (fixed(&q), p(x, 1)), (p(x, 3), fixed(&q))];
        let each = |x: &[Dual], f: &dyn Fn(&V, &V) -> V| ends(x).iter().flat_map(|(a, b)| f(a, b)).collect::<V>();
        both(&Addition::new(&pairs), &parents, &x, seed, |x| each(x, &|a, b| add(a, b)));
        both(&DotProduct::new(&pairs), &parents, &x, seed, |x| each(x, &|a, b| vec![dot(a, b)]));
        both(&SquareDistance::new(&pairs).with_rest_lengths(&[0.5]), &parents, &x, seed,
            |x| each(x, &|a, b| vec![dot(&sub(a, b), &sub(a, b)) - 0.25]));
        both(&SafeDistance::new(&pairs, 0.3).with_rest_lengths(&[0.5, 1.0, 0.0, 2.0]), &parents, &x, seed, |x| {
            let lengths = each(x, &|a, b| vec![(dot(&sub(a, b), &sub(a, b)) + 0.09).sqrt() - 0.3]);
            lengths.iter().zip([0.5, 1.0, 0.0, 2.0]).map(|(l, r)| *l - r).collect()
        });
        if well_apart(&x, 3) {
            both(&Normalization::new(&pairs), &parents, &x, seed, |x| each(x, &|a, b| unit(&sub(a, b))));
        }
        // The same numbers as points of the plane and of the line.
        for d in [1, 2] {
            let parents = [(Space::Real(d), 12 / d)];
            let pairs = [(End::element(0, 0), End::element(0, 1)), (End::element(0, 3), End::Point(q))];
            let each = |x: &[Dual], f: &dyn Fn(&V, &V) -> V| {
                let q = fixed(&q[..d]);
                [(v(x, d, 0), v(x, d, 1)), (v(x, d, 3), q)].iter().flat_map(|(a, b)| f(a, b)).collect::<V>()
            };
            both(&Addition::new(&pairs).in_dimension(d), &parents, &x, seed, |x| each(x, &|a, b| add(a, b)));
            both(&DotProduct::new(&pairs).in_dimension(d), &parents, &x, seed, |x| each(x, &|a, b| vec![dot(a, b)]));
            both(&SquareDistance::new(&pairs).in_dimension(d), &parents, &x, seed,
                |x| each(x, &|a, b| vec![dot(&sub(a, b), &sub(a, b))]));
            both(&SafeDistance::new(&pairs, 0.5).in_dimension(d), &parents, &x, seed,
                |x| each(x, &|a, b| vec![(dot(&sub(a, b), &sub(a, b)) + 0.25).sqrt() - 0.5]));
            if well_apart(&x[..4 * d], d) {
                both(&Normalization::new(&pairs).in_dimension(d), &parents, &x, seed, |x| each(x, &|a, b| unit(&sub(a, b))));
            }
        }
    }

    #[test]
    fn of_single_elements(x in prop::collection::vec(-2.0..2.0f64, 20), seed in 1u64..1000) {
        let parents = [(SPACE, 2), (Space::Rigid3, 2)];
        let mut positions = x[..6].to_vec();
        for k in 0..2 {
            let pose = Pose::turned([x[6 + k], x[8], x[9]], [x[10], 2.5, x[11 + k]], x[13]);
            positions.extend(pose.position.iter().chain(&pose.rotation));
        }
        let chosen = [(Dependency::new(0, 1), 2), (Dependency::new(1, 1), 0), (Dependency::new(1, 0), 2), (Dependency::new(0, 1), 0)];
        both(&Mask::of_parents(&chosen), &parents, &positions, seed, |x| vec![x[5], x[13], x[8], x[3]]);
        let group = vec![(Dependency::new(1, 1), 3.0), (Dependency::new(0, 0), 1.0), (Dependency::new(1, 0), 0.5)];
        let other = vec![(Dependency::new(0, 1), 7.0)];
        both(&CentreOfMass::new(&[group, other]), &parents, &positions, seed, |x| {
            let mean = (0..3).map(|k| (x[13 + k] * 3.0 + x[k] + x[6 + k] * 0.5) / 4.5);
            mean.chain(x[3..6].iter().copied()).collect()
        });
        let (d0, d1) = ([0.0, 0.6, 0.8], [3.0, -1.0, 0.5]);
        let directions = [(Dependency::new(1, 0), d0), (Dependency::new(0, 2), d1)];
        both(&Projection::of_parents(&directions).with_offsets(&[0.25, -3.0]), &[(SPACE, 3), (SPACE, 1)], &x[..12], seed,
            |x| vec![dot(&p(x, 3), &fixed(&d0)) + 0.25, dot(&p(x, 2), &fixed(&d1)) - 3.0]);
        both(&Projection::new(&[(4, d1)]).in_dimension(2), &[(Space::Real(2), 6)], &x[..12], seed,
            |x| vec![dot(&v(x, 2, 4), &fixed(&d1[..2]))]);
        for d in [1, 2, 3, 5] {
            let parents = [(Space::Real(d), 2), (Space::Real(d), 2)];
            let elements = [Dependency::new(1, 1), Dependency::new(0, 0)];
            both(&Quadratic::of_parents(d, &elements).with_factors(&[3.0, -0.5]), &parents, &x[..4 * d], seed, |x| {
                vec![dot(&v(x, d, 3), &v(x, d, 3)) * 1.5, dot(&v(x, d, 0), &v(x, d, 0)) * -0.25]
            });
            both(&Pairing::of_nodes(d, 2), &parents, &x[..4 * d], seed,
                |x| vec![dot(&v(x, d, 0), &v(x, d, 2)) + dot(&v(x, d, 1), &v(x, d, 3))]);
            // An element in three pairs, once with itself.
            let at = |parent, element| Dependency::new(parent, element);
            let pairs = [(at(0, 0), at(1, 0)), (at(0, 1), at(0, 0)), (at(0, 0), at(0, 0))];
            both(&Pairing::new(d, &pairs), &parents, &x[..4 * d], seed, |x| {
                let [a, b, c] = [0, 1, 2].map(|k| v(x, d, k));
                vec![dot(&a, &c) + dot(&b, &a) + dot(&a, &a)]
            });
        }
    }

    #[test]
    fn of_chains_and_triangles(x in prop::collection::vec(-2.0..2.0f64, 12), seed in 1u64..1000) {
        prop_assume!(well_apart(&x, 3));
        prop_assume!([[0, 1, 2], [2, 0, 1], [1, 2, 3], [0, 1, 3], [3, 2, 0]].iter().all(|c| sine(&x, *c) > 0.3));
        let q = [0.3, 5.0, -1.0];
        let parents = [(SPACE, 2), (SPACE, 2)];
        let el = [End::element(0, 0), End::element(0, 1), End::element(1, 0), End::element(1, 1)];
        let chains = [[el[0], el[1], el[2]], [el[3], End::Point(q), el[0]], [End::Point(q), el[2], el[1]]];
        let segments = |x: &[Dual]| {
            let chain = |a: V, b: V, c: V| (sub(&b, &a), sub(&c, &b));
            [chain(p(x, 0), p(x, 1), p(x, 2)), chain(p(x, 3), fixed(&q), p(x, 0)), chain(fixed(&q), p(x, 2), p(x, 1))]
        };
        let at_an_angle = |c: &(V, V)| angle(&c.0, &c.1).re > 0.2 && angle(&c.0, &c.1).re < 2.8;
        if segments(&fixed(&x)).iter().all(at_an_angle) {
            both(&SegmentAngle::new(&chains).with_rest_angles(&[0.5]), &parents, &x, seed,
                |x| segments(x).iter().map(|(a, b)| angle(a, b) - 0.5).collect());
            both(&CurvatureBinormal::new(&chains), &parents, &x, seed,
                |x| segments(x).iter().flat_map(|(a, b)| binormal(a, b)).collect());
        }
        let edges = |x: &[Dual]| {
            let (a, b) = (sub(&p(x, 1), &p(x, 0)), sub(&p(x, 2), &p(x, 0)));
            [(a, b), (sub(&fixed(&q), &p(x, 3)), sub(&p(x, 0), &p(x, 3)))]
        };
        let triangles = [[el[0], el[1], el[2]], [el[3], End::Point(q), el[0]]];
        both(&Area::new(&triangles).with_rest_areas(&[0.1, 0.2]), &parents, &x, seed,
            |x| edges(x).iter().zip([0.1, 0.2]).map(|((a, b), rest)| area(a, b) - rest).collect());
        let hinges = [el, [el[1], el[0], End::Point([9.0, 1.0, 2.0]), el[2]]];
        both(&DihedralAngle::new(&hinges).with_rest_angles(&[0.0, 0.0]), &parents, &x, seed, |x| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| p(x, k));
            vec![dihedral([a.clone(), b.clone(), c.clone(), d], false), dihedral([b, a, fixed(&[9.0, 1.0, 2.0]), c], false)]
        });
        let corners = [el, [el[2], End::Point(q), el[0], End::Point([1.0, 1.0, 0.0])]];
        both(&Volume::new(&corners).with_rest_volumes(&[-1.0, 2.0]), &parents, &x, seed, |x| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| p(x, k));
            let from = |o: &V, x: &V| sub(x, o);
            vec![volume(&from(&a, &b), &from(&a, &c), &from(&a, &d)) + 1.0,
                volume(&from(&c, &fixed(&q)), &from(&c, &a), &from(&c, &fixed(&[1.0, 1.0, 0.0]))) - 2.0]
        });
        both(&Volume::under_surface(&[[0, 1, 2], [3, 2, 1]]), &[(SPACE, 4)], &x, seed, |x| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| p(x, k));
            vec![volume(&a, &b, &c), volume(&d, &c, &b)]
        });
        // The plane: the area has a sign, the angle has none.
        let plane = [(Space::Real(2), 6)];
        let flat = |x: &[Dual], k: usize| vec![x[2 * k], x[2 * k + 1], Dual::from(0.0)];
        both(&Area::between(&[[0, 1, 2], [5, 4, 0]]).with_rest_areas(&[-0.5]).in_plane(), &plane, &x, seed, |x| {
            let signed = |a: usize, b: usize, c: usize| {
                let [a, b, c] = [a, b, c].map(|k| flat(x, k));
                cross(&sub(&b, &a), &sub(&c, &a))[2] * 0.5 + 0.5
            };
            vec![signed(0, 1, 2), signed(5, 4, 0)]
        });
        let segments = |x: &[Dual]| (sub(&flat(x, 1), &flat(x, 0)), sub(&flat(x, 2), &flat(x, 1)));
        if well_apart(&x[..6], 2) && at_an_angle(&segments(&fixed(&x))) {
            both(&SegmentAngle::between(&[[0, 1, 2]]).in_plane(), &plane, &x, seed,
                |x| vec![angle(&segments(x).0, &segments(x).1)]);
        }
    }
}

/// Children of a mapping of one parent.
fn child<M: Mapping + 'static>(
    mapping: M,
    space: Space,
    x: &[f64],
) -> Result<Vec<f64>, pliant_model::ModelError> {
    let mut model = Model::new();
    let parent = model.add_independent("parent", space, x, &vec![0.0; x.len()])?;
    let child = model.add_mapped("child", &[parent], mapping)?;
    let state = model.initial_state()?;
    Ok(model.positions(&state, child).to_vec())
}

fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} {expected:?}");
    }
}

#[test]
fn known_values() {
    let pair = |a, b| (End::element(0, a), End::element(0, b));
    let x = [1.0, 1.0, 1.0, 5.0, 6.0, 7.0];
    near(
        &child(DotProduct::new(&[pair(0, 1)]), SPACE, &x).unwrap(),
        &[18.0],
        0.0,
    );
    let s = 3f64.sqrt().recip();
    let t = 110f64.sqrt().recip();
    let directions = child(Normalization::of_elements(&[0, 1]), SPACE, &x).unwrap();
    near(&directions, &[s, s, s, 5.0 * t, 6.0 * t, 7.0 * t], 4e-16);
    let x = [
        1.0, 1.0, 1.0, 65.0, 3.0, -51.0, 23.0, 35.0, -4.0, -100.0, 100.0, 20.0,
    ];
    near(
        &child(DotProduct::new(&[pair(0, 2), pair(1, 3)]), SPACE, &x).unwrap(),
        &[54.0, -7220.0],
        0.0,
    );
    let pairs = [0, 1].map(|k| (Dependency::new(0, k), Dependency::new(0, k + 2)));
    near(
        &child(Pairing::new(3, &pairs), SPACE, &x).unwrap(),
        &[54.0 - 7220.0],
        0.0,
    );
    near(
        &child(Quadratic::new(3, &[0, 2]).with_factors(&[2.0, 4.0]), SPACE, &x).unwrap(),
        &[3.0, 2.0 * 1770.0],
        0.0,
    );
    near(
        &child(
            SquareDistance::new(&[pair(0, 2)]).with_rest_lengths(&[7.0]),
            SPACE,
            &x,
        )
        .unwrap(),
        &[22.0 * 22.0 + 34.0 * 34.0 + 25.0 - 49.0],
        0.0,
    );

    // A right angle; a quarter fold of a square; unit simplices.
    let x = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 3.0, 0.0];
    let quarter = std::f64::consts::FRAC_PI_2;
    near(
        &child(SegmentAngle::between(&[[0, 1, 2]]), SPACE, &x).unwrap(),
        &[quarter],
        1e-15,
    );
    near(
        &child(CurvatureBinormal::between(&[[0, 1, 2]]), SPACE, &x).unwrap(),
        &[0.0, 0.0, 2.0],
        1e-15,
    );
    near(
        &child(Area::between(&[[0, 1, 2]]).with_rest_areas(&[0.5]), SPACE, &x).unwrap(),
        &[1.0],
        1e-15,
    );
    let plane = [0.0, 0.0, 0.0, 2.0, 1.0, 0.0];
    near(
        &child(
            Area::between(&[[0, 1, 2], [0, 2, 1]]).in_plane(),
            Space::Real(2),
            &plane,
        )
        .unwrap(),
        &[-1.0, 1.0],
        0.0,
    );
    // The normal turns from z to y: backwards about x, by a quarter.
    let hinge = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 1.0, 0.0, 0.7, 0.0, 2.0];
    near(
        &child(DihedralAngle::between(&[[0, 1, 2, 3]]), SPACE, &hinge).unwrap(),
        &[-quarter],
        1e-15,
    );
    let flat = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 1.0, 0.0, 0.7, -2.0, 0.0];
    near(
        &child(DihedralAngle::between(&[[0, 1, 2, 3]]), SPACE, &flat).unwrap(),
        &[0.0],
        1e-15,
    );
    let corner = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    near(
        &child(Volume::between(&[[0, 1, 2, 3], [1, 0, 2, 3]]), SPACE, &corner).unwrap(),
        &[1.0 / 6.0, -1.0 / 6.0],
        1e-16,
    );
    // The faces of that tetrahedron, moved away from the origin, seen from outside round to the
    // left.
    let away: Vec<f64> = corner
        .iter()
        .enumerate()
        .map(|(k, x)| x + [5.0, -3.0, 2.0][k % 3])
        .collect();
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let parts = child(Volume::under_surface(&faces), SPACE, &away).unwrap();
    assert!((parts.iter().sum::<f64>() - 1.0 / 6.0).abs() < 1e-14, "{parts:?}");
}

#[test]
fn smooth_through_zero_length() {
    let safe = SafeDistance::new(&[(End::element(0, 0), End::Point([0.0; 3]))], 1e-3);
    let parents = [(SPACE, 1)];
    for l in [0.0, 1e-200, 1e-9, 1e-4, 1e-3, 1.0] {
        let x = [l, 0.0, 0.0];
        let formula = |x: &[Dual]| vec![(dot(x, x) + 1e-6).sqrt() - 1e-3];
        exactly(&safe, &parents, &x, 3, formula);
        let found = child(safe.clone(), SPACE, &x).unwrap()[0];
        // l^2/(2 eps) below eps, l - eps above, without cancellation at any length.
        assert!(
            found >= 0.0 && found <= (l * l / 2e-3).min(l) * (1.0 + 1e-15),
            "{l} {found}"
        );
        if l < 1e-8 {
            assert!((found - l * l / 2e-3).abs() <= 1e-9 * found);
        }
    }
    // The curvature at zero is 1/eps and the gradient zero.
    let pairs = [(End::element(0, 0), End::element(0, 1))];
    let x = [0.3, 0.2, 0.1, 0.3, 0.2, 0.1];
    both(&SafeDistance::new(&pairs, 0.5), &[(SPACE, 2)], &x, 1, |x| {
        let d = sub(&p(x, 0), &p(x, 1));
        vec![(dot(&d, &d) + 0.25).sqrt() - 0.5]
    });
    both(&SquareDistance::new(&pairs), &[(SPACE, 2)], &x, 1, |x| {
        let d = sub(&p(x, 0), &p(x, 1));
        vec![dot(&d, &d)]
    });
    both(&DotProduct::new(&pairs), &[(SPACE, 2)], &[0.0; 6], 1, |x| {
        vec![dot(&p(x, 0), &p(x, 1))]
    });
    both(&Quadratic::new(3, &[0]), &[(SPACE, 2)], &[0.0; 6], 1, |x| {
        vec![dot(&p(x, 0), &p(x, 0)) * 0.5]
    });
    let tetrahedron = Volume::between(&[[0, 1, 2, 3]]);
    both(&tetrahedron, &[(SPACE, 4)], &[0.5; 12], 1, |x| {
        let [a, b, c] = [1, 2, 3].map(|k| sub(&p(x, k), &p(x, 0)));
        vec![volume(&a, &b, &c)]
    });
    both(
        &Area::between(&[[0, 1, 2]]).in_plane(),
        &[(Space::Real(2), 3)],
        &[0.5; 6],
        1,
        |x| {
            let (a, b) = (sub(&v(x, 2, 1), &v(x, 2, 0)), sub(&v(x, 2, 2), &v(x, 2, 0)));
            vec![(a[0] * b[1] - a[1] * b[0]) * 0.5]
        },
    );
}

#[test]
fn nearly_straight_and_nearly_folded() {
    let parents = [(SPACE, 3)];
    let segments = |x: &[Dual]| (sub(&p(x, 1), &p(x, 0)), sub(&p(x, 2), &p(x, 1)));
    for bend in [1e-5, 1e-3, 0.1] {
        for end in [2.5, -0.5] {
            let x = [0.1, 0.2, 0.3, 1.1, 0.2, 0.3, 1.1 + end, 0.2 + bend, 0.3];
            // Second derivatives are as large as 1/bend, their rounding 1e-16/bend^2 at worst,
            // relative 1e-16/bend.
            exactly(&SegmentAngle::between(&[[0, 1, 2]]), &parents, &x, 7, |x| {
                vec![angle(&segments(x).0, &segments(x).1)]
            });
            if end > 0.0 {
                both(&CurvatureBinormal::between(&[[0, 1, 2]]), &parents, &x, 7, |x| {
                    binormal(&segments(x).0, &segments(x).1)
                });
            }
        }
    }
    let straight = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    both(
        &CurvatureBinormal::between(&[[0, 1, 2]]),
        &parents,
        &straight,
        7,
        |x| binormal(&segments(x).0, &segments(x).1),
    );
    // Norm 2 tan(angle/2), up to large angles.
    for a in [0.1f64, 1.0, 3.0, 3.1] {
        let x = [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * a.cos(), 0.0, 2.0 * a.sin()];
        let k = child(CurvatureBinormal::between(&[[0, 1, 2]]), SPACE, &x).unwrap();
        let expected = -2.0 * (0.5 * a).tan();
        // Near the fold the tangent turns the rounding of the angle into 1e-16 times its square.
        near(&k, &[0.0, expected, 0.0], 1e-15 * (1.0 + expected * expected));
    }
}

/// Far from the origin only differences of coordinates count, which are exact: so are the
/// derivatives. The difference quotients divide half a unit in the last place of 1e6, 6e-11, by the
/// step 1e-5, for each of up to twelve coordinates.
#[test]
fn far_from_the_origin() {
    let near_by = [0.1, 0.7, -0.4, 1.3, 0.2, 0.5, 0.6, 1.8, 0.4, 0.9, -0.8, 1.1];
    let x: Vec<f64> = near_by
        .iter()
        .enumerate()
        .map(|(k, x)| x + [1e6, -1e6, 1e6][k % 3])
        .collect();
    fn far<M: Mapping + Clone + 'static>(mapping: &M, x: &[f64], formula: impl Fn(&[Dual]) -> Vec<Dual>) {
        exactly(mapping, &[(SPACE, 4)], x, 5, formula);
        let found = check::mapping(mapping, &[(SPACE, 4)], x, 5).unwrap();
        assert!(found.worst() < 1e-4, "{mapping:?}: {found:?}");
    }
    let pairs = [(End::element(0, 0), End::element(0, 1))];
    let d = |x: &[Dual], a: usize, b: usize| sub(&p(x, b), &p(x, a));
    far(&SafeDistance::new(&pairs, 0.1), &x, |x| {
        vec![(dot(&d(x, 0, 1), &d(x, 0, 1)) + 0.01).sqrt() - 0.1]
    });
    far(&SquareDistance::new(&pairs), &x, |x| {
        vec![dot(&d(x, 0, 1), &d(x, 0, 1))]
    });
    far(&Normalization::new(&pairs), &x, |x| unit(&d(x, 1, 0)));
    far(&SegmentAngle::between(&[[0, 1, 2]]), &x, |x| {
        vec![angle(&d(x, 0, 1), &d(x, 1, 2))]
    });
    far(&CurvatureBinormal::between(&[[0, 1, 2]]), &x, |x| {
        binormal(&d(x, 0, 1), &d(x, 1, 2))
    });
    far(&Area::between(&[[0, 1, 2]]), &x, |x| {
        vec![area(&d(x, 0, 1), &d(x, 0, 2))]
    });
    far(&Volume::between(&[[0, 1, 2, 3]]), &x, |x| {
        vec![volume(&d(x, 0, 1), &d(x, 0, 2), &d(x, 0, 3))]
    });
    far(&DihedralAngle::between(&[[0, 1, 2, 3]]), &x, |x| {
        vec![dihedral([0, 1, 2, 3].map(|k| p(x, k)), false)]
    });
    let means = [vec![(Dependency::new(0, 0), 1.0), (Dependency::new(0, 3), 3.0)]];
    far(&CentreOfMass::new(&means), &x, |x| {
        (0..3).map(|k| x[k] * 0.25 + x[9 + k] * 0.75).collect()
    });
}

/// Corner 3 of a hinge turned about the edge, from flat through one turn and a half, and back.
#[test]
fn dihedral_angle_is_continuous() {
    let mut model = Model::new();
    let at = |t: f64| [0.3, -t.cos(), -t.sin()];
    let flat = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.5, 1.5, 0.0], at(0.0)];
    let points = model.add_particles("points", &flat).unwrap();
    let hinge = model
        .add_mapped("hinge", &[points], DihedralAngle::between(&[[0, 1, 2, 3]]))
        .unwrap();
    let mut state: State = model.initial_state().unwrap();
    let turns = (0..=300).chain((0..300).rev());
    for k in turns {
        let t = 0.01 * f64::from(k) * std::f64::consts::PI;
        state.positions[9..12].copy_from_slice(&at(t));
        model.propagate(&mut state).unwrap();
        let found = model.positions(&state, hinge)[0];
        assert!((found - t).abs() < 1e-14 * (1.0 + 10.0 * t), "{found} {t}");
    }
    // Folded flat: no kink there. The formula is cut at zero instead.
    for t in [3.0, std::f64::consts::PI, 3.3] {
        let x: Vec<f64> = flat[..3].iter().chain([&at(t)]).flatten().copied().collect();
        let mapping = DihedralAngle::between(&[[0, 1, 2, 3]]).with_rest_angles(&[3.0]);
        both(&mapping, &[(SPACE, 4)], &x, 2, |x| {
            vec![dihedral([0, 1, 2, 3].map(|k| p(x, k)), true) - 3.0]
        });
    }
}

#[test]
fn not_defined() {
    let says = |result: Result<Vec<f64>, pliant_model::ModelError>, words: &str| {
        let text = result.unwrap_err().to_string();
        assert!(
            text.contains("`child`, element 0, is not defined here") && text.contains(words),
            "{text}"
        );
    };
    let line = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 0.5, 0.5, 0.5];
    let fold = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0];
    let stuck = [1.0; 12];
    let (angle, curve) = (
        SegmentAngle::between(&[[0, 1, 2]]),
        CurvatureBinormal::between(&[[0, 1, 2]]),
    );
    says(child(angle.clone(), SPACE, &line), "in line");
    says(child(angle.clone(), SPACE, &fold), "folded");
    says(child(angle, SPACE, &stuck), "length zero");
    says(child(curve.clone(), SPACE, &fold), "folded");
    says(child(curve, SPACE, &stuck), "length zero");
    says(
        child(Normalization::of_elements(&[0]), SPACE, &[0.0; 3]),
        "length zero",
    );
    says(
        child(Normalization::of_elements(&[0]), SPACE, &[0.0, 1e-160, 0.0]),
        "length zero",
    );
    says(
        child(
            Normalization::of_elements(&[0]).in_dimension(1),
            Space::Real(1),
            &[0.0],
        ),
        "length zero",
    );
    for x in [line, stuck] {
        says(child(Area::between(&[[0, 1, 2]]), SPACE, &x), "area is zero");
        says(
            child(DihedralAngle::between(&[[0, 1, 2, 3]]), SPACE, &x),
            "area zero",
        );
    }
}

/// An angle that has gone beyond half a turn is one of many at the same points: a state that is gone
/// back to by its lean part has the one that it had.
#[test]
fn the_lean_part_of_a_state_knows_full_turns() {
    let mut model = Model::new();
    let hinge = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, -1.0, 0.0]];
    let points = model.add_particles("points", &hinge).unwrap();
    let angle = DihedralAngle::between(&[[0, 1, 2, 3]]);
    let angle = model.add_mapped("angle", &[points], angle).unwrap();
    let start = model.initial_state().unwrap();
    let mut state = start.clone();
    for turn in [1.0f64, 2.0, 3.0, 3.5] {
        state.positions[10] = -turn.cos();
        state.positions[11] = turn.sin();
        model.propagate(&mut state).unwrap();
    }
    let turned = model.positions(&state, angle)[0];
    assert!((turned.abs() - 3.5).abs() < 1e-14, "{turned}");
    let lean = LeanState::of(&model, &state);
    let mut back = start;
    lean.write(&model, &mut back);
    model.propagate(&mut back).unwrap();
    assert_eq!(back, state);
}
