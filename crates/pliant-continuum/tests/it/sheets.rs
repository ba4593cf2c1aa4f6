//! Derivatives of membrane strains and plane stress against formulas and differences; curves of rods.

use pliant_continuum::{MembraneStrain, PlaneElastic, RodCurve, SheetMesh};
use pliant_dense::Vec3;
use pliant_dense::rotation::rotate;
use pliant_model::dual::Dual;
use pliant_model::{Space, check};

/// One triangle at rest with the warp along `(1, 1)`; the deformation gradient from its edges at rest and now.
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

/// Points on a circle have its tangents, also at the ends; the normal stays in the plane, and the twist is spread by length.
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
