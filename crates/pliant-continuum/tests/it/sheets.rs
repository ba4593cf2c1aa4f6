//! Derivatives of membrane strains and plane stress against formulas and differences; curves of
//! rods.

use pliant_continuum::{MembraneStrain, PlaneElastic, RodCurve, SheetMesh};
use pliant_dense::Vec3;
use pliant_dense::rotation::rotate;
use pliant_model::dual::Dual;
use pliant_model::{Space, check};

/// One triangle at rest with the warp along `(1, 1)`; the deformation gradient from its edges at
/// rest and now.
fn strains(rest: &[[f64; 3]], x: &[Dual]) -> Vec<Dual> {
    let s = 0.5f64.sqrt();
    // Edges at rest in the axes of warp and weft.
    let edge = |k: usize| {
        let d: Vec<f64> = (0..2).map(|i| rest[k][i] - rest[0][i]).collect();
        [s * (d[0] + d[1]), s * (d[1] - d[0])]
    };
    let (a, b) = (edge(1), edge(2));
    let det = a[0] * b[1] - a[1] * b[0];
    let inverse = [[b[1] / det, -b[0] / det], [-a[1] / det, a[0] / det]];
    let now = |k: usize, i: usize| x[3 * k + i] - x[i];
    let f = |i: usize, j: usize| now(1, i) * inverse[0][j] + now(2, i) * inverse[1][j];
    let dot = |j: usize, k: usize| (0..3).map(|i| f(i, j) * f(i, k)).sum::<Dual>();
    vec![(dot(0, 0) - 1.0) * 0.5, (dot(1, 1) - 1.0) * 0.5, dot(0, 1)]
}

#[test]
fn membrane_strains_have_their_derivatives() {
    let mesh = SheetMesh {
        nodes: vec![[0.1, 0.2, 0.0], [1.3, 0.0, 0.0], [0.4, 0.9, 0.0]],
        triangles: vec![[0, 1, 2]],
        ..SheetMesh::default()
    };
    let mapping = MembraneStrain::new(&mesh, Some([3.0, 3.0, 0.5])).unwrap();
    let x = [0.0, 0.1, -0.2, 1.1, 0.4, 0.6, 0.2, 0.8, -0.5];
    let parents = [(Space::Real(3), 3)];
    let rest = mesh.nodes.clone();
    let found = check::mapping_exactly(&mapping, &parents, &x, 7, |x| strains(&rest, x)).unwrap();
    assert!(found.worst() < 1e-12, "{found:?}");
    // Stretched at rest by 2: a sheet half as large.
    let small = mapping.with_stretch(2.0);
    assert!((small.areas()[0] / mesh.areas().unwrap()[0] - 0.25).abs() < 1e-15);
}

/// The places of Gauss' rule in the square of a quadrangle, in the order of its corners.
const PLACES: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// The strain of a warped quadrangle at a place, from the metric tensors of its lines at rest and
/// now.
fn strains_of_quadrangle(rest: &[[f64; 3]], warp: Vec3, x: &[Dual], place: [f64; 2]) -> Vec<Dual> {
    let [u, v] = place.map(|p| p / 3f64.sqrt());
    let slopes = [
        [-(1.0 - v), 1.0 - v, 1.0 + v, -(1.0 + v)],
        [-(1.0 - u), -(1.0 + u), 1.0 + u, 1.0 - u],
    ]
    .map(|s| s.map(|s| s / 4.0));
    let old = slopes.map(|s| (0..4).map(|k| Vec3::from(rest[k]) * s[k]).sum::<Vec3>());
    let new = slopes.map(|s| [0, 1, 2].map(|i| (0..4).map(|k| x[3 * k + i] * s[k]).sum::<Dual>()));
    let normal = old[0].cross(&old[1]).normalize();
    let one = (warp - normal * warp.dot(&normal)).normalize();
    let axes = [one, normal.cross(&one)];
    // The axes in terms of the tangents at rest, by the rule of Cramer for their metric.
    let metric = |i: usize, j: usize| old[i].dot(&old[j]);
    let det = metric(0, 0) * metric(1, 1) - metric(0, 1) * metric(0, 1);
    let parts = axes.map(|axis| {
        let (p, q) = (axis.dot(&old[0]), axis.dot(&old[1]));
        [
            (p * metric(1, 1) - q * metric(0, 1)) / det,
            (q * metric(0, 0) - p * metric(0, 1)) / det,
        ]
    });
    let change = |a: usize, b: usize| {
        let mut sum = Dual::from(0.0);
        for i in 0..2 {
            for j in 0..2 {
                let now = (0..3).map(|k| new[i][k] * new[j][k]).sum::<Dual>();
                sum += (now - metric(i, j)) * (0.5 * parts[a][i] * parts[b][j]);
            }
        }
        sum
    };
    vec![change(0, 0), change(1, 1), change(0, 1) * 2.0]
}

/// A triangle beside a quadrangle that is not flat.
#[test]
fn strains_of_quadrangles_have_their_derivatives() {
    let mesh = SheetMesh {
        nodes: vec![
            [0.0, 0.0, 0.1],
            [1.0, 0.2, 0.0],
            [1.2, 1.1, 0.3],
            [-0.1, 0.8, 0.0],
            [2.0, 0.5, 0.4],
        ],
        triangles: vec![[1, 4, 2]],
        quadrangles: vec![[0, 1, 2, 3]],
    };
    let warp = [1.0, 0.3, 0.2];
    let mapping = MembraneStrain::new(&mesh, Some(warp)).unwrap();
    let x: Vec<f64> = mesh.nodes.as_flattened().to_vec();
    let rest = mesh.nodes.clone();
    let found = check::mapping_exactly(&mapping, &[(Space::Real(3), 5)], &x, 7, |x| {
        let mut out = strains_of_triangle(
            &[rest[1], rest[4], rest[2]],
            warp.into(),
            &[&x[3..6], &x[12..15], &x[6..9]].concat(),
        );
        for place in PLACES {
            out.extend(strains_of_quadrangle(&rest[..4], warp.into(), &x[..12], place));
        }
        out
    })
    .unwrap();
    assert!(found.worst() < 1e-12, "{found:?}");
    // A flat one: the rule is exact for its area, here that of a trapezium.
    let flat = SheetMesh {
        nodes: vec![[0.0; 3], [3.0, 0.0, 0.0], [2.0, 2.0, 0.0], [1.0, 2.0, 0.0]],
        quadrangles: vec![[0, 1, 2, 3]],
        ..SheetMesh::default()
    };
    let areas = MembraneStrain::new(&flat, None).unwrap().areas();
    assert!(
        areas.len() == 4 && (areas.iter().sum::<f64>() - 4.0).abs() < 1e-14,
        "{areas:?}"
    );
}

/// Quadrangles are drawn and touched as two triangles each, listed behind the triangles of the
/// mesh: they cover the quadrangle once, on the same side.
#[test]
fn triangles_cover_quadrangles_once() {
    let mut mesh = SheetMesh::quadrangles([3.0, 2.0], [3, 2]);
    mesh.triangles = vec![[0, 1, 4]];
    let cover = mesh.cover();
    assert_eq!((cover.len(), cover[0]), (13, [0, 1, 4]));
    for (quadrangle, halves) in mesh.quadrangles.iter().zip(cover[1..].chunks(2)) {
        let twice = |t: &[usize; 3]| {
            let [a, b, c] = t.map(|k| Vec3::from(mesh.nodes[k]));
            (b - a).cross(&(c - a)).z
        };
        assert_eq!(halves.iter().map(twice).collect::<Vec<_>>(), [1.0, 1.0]);
        // The opposite corners that only one of them has.
        let mut corners: Vec<usize> = halves.as_flattened().to_vec();
        corners.sort_unstable();
        corners.dedup();
        let mut all = *quadrangle;
        all.sort_unstable();
        let shared = halves[0].iter().filter(|k| halves[1].contains(k)).count();
        assert_eq!((&corners[..], shared), (&all[..], 2));
    }
}

/// Strains of a triangle in space: those of the affine map of its edges.
fn strains_of_triangle(rest: &[[f64; 3]], warp: Vec3, x: &[Dual]) -> Vec<Dual> {
    let edges = [1, 2].map(|k| Vec3::from(rest[k]) - Vec3::from(rest[0]));
    let normal = edges[0].cross(&edges[1]).normalize();
    let one = (warp - normal * warp.dot(&normal)).normalize();
    let two = normal.cross(&one);
    // In its own plane it is a triangle that starts at the origin, with the warp along x.
    let flat: Vec<[f64; 2]> = edges.iter().map(|e| [e.dot(&one), e.dot(&two)]).collect();
    let det = flat[0][0] * flat[1][1] - flat[0][1] * flat[1][0];
    let column = |j: usize| {
        let (a, b) = match j {
            0 => (flat[1][1] / det, -flat[0][1] / det),
            _ => (-flat[1][0] / det, flat[0][0] / det),
        };
        [0, 1, 2].map(|i| (x[3 + i] - x[i]) * a + (x[6 + i] - x[i]) * b)
    };
    let f = [column(0), column(1)];
    let dot = |j: usize, k: usize| (0..3).map(|i| f[j][i] * f[k][i]).sum::<Dual>();
    vec![(dot(0, 0) - 1.0) * 0.5, (dot(1, 1) - 1.0) * 0.5, dot(0, 1)]
}

#[test]
fn plane_stress_is_its_own_derivative_and_inverse() {
    let weights = [0.3, 2.0];
    let x: Vec<f64> = (0..6).map(|k| 0.02 * f64::from(k) - 0.05).collect();
    let v: Vec<f64> = (0..6).map(|k| 0.3 - 0.1 * f64::from(k)).collect();
    for law in [
        PlaneElastic::isotropic(10.0, 0.3, &weights),
        PlaneElastic::isotropic(10.0, -0.9, &weights).with_relaxation_time(0.2),
        PlaneElastic::orthotropic([0.1, 0.5, 2.0], 0.4, &weights),
    ] {
        let found = check::force_field(&law, Space::Real(3), &x, &v).unwrap();
        // Differences of step 1e-5.
        assert!(found.worst() < 1e-7, "{law:?}: {found:?}");
    }
}

/// Points on a circle have its tangents, also at the ends; the normal stays in the plane, and the
/// twist is spread by length.
#[test]
fn frames_follow_a_circle() {
    let at = |a: f64| [2.0 * a.cos(), 2.0 * a.sin(), 0.0];
    let points: Vec<[f64; 3]> = (0..=6).map(|i| at(0.2 * f64::from(i))).collect();
    for twist in [0.0, 1.2] {
        let curve = RodCurve::through(&points)
            .with_normal([0.0, 0.3, 1.0])
            .with_twist(twist);
        for (i, frame) in curve.frames().unwrap().iter().enumerate() {
            let a = 0.2 * i as f64;
            let axis = |k: usize| rotate(frame.rotation, Vec3::ith(k, 1.0));
            let tangent = Vec3::new(-a.sin(), a.cos(), 0.0);
            assert!((axis(0) - tangent).norm() < 1e-14, "{i}: {}", axis(0));
            // At the start the tangent is y: of the normal only z is left.
            let turned = twist * i as f64 / 6.0;
            let expected = Vec3::z() * turned.cos() + tangent.cross(&Vec3::z()) * turned.sin();
            assert!((axis(1) - expected).norm() < 1e-14, "{i}: {}", axis(1));
        }
    }
}
