//! Against the equations of the iteration, written out and solved by dense elimination.

use super::inside::Disc;
use super::*;
use crate::complementarity::Cone;
use nalgebra::{DMatrix, DVector};

/// `V A dr - dv = v - w` with `dv_i = -v_i - W_i^2 dr` for every disc `i` of its own:
/// `(V A + sum W_i^2) dr = -w`.
#[test]
fn the_direction_is_that_of_the_equations() {
    let noise = |k: usize| ((k * k) as f64 * 12.9898).sin();
    let cones = [
        Cone::Rolling {
            mu: 0.5,
            torsion: 0.1,
            rolling: 0.05,
        },
        Cone::Coulomb { mu: 0.4 },
        Cone::Rolling {
            mu: 0.3,
            torsion: 0.0,
            rolling: 0.2,
        },
        Cone::NonNegative,
        Cone::PlanarCoulomb { mu: 2.0 },
    ];
    let m = 18;
    let g = DMatrix::from_fn(m, m, |i, k| noise(19 * i + k + 1));
    let a = &g * g.transpose() + DMatrix::identity(m, m);
    let b: Vec<f64> = (0..m).map(|i| noise(i + 700)).collect();
    let problem = Problem::dense(a.transpose().as_slice(), &b, &cones).unwrap();
    let mut solver = InteriorPoint::default();
    let start: Vec<f64> = (0..m).map(|i| noise(i + 900)).collect();
    solver.prepare(&problem, &start).unwrap();
    // The part without a coefficient has no impulse.
    assert_eq!(solver.iterate.r[12], 0.0);
    for (k, disc) in solver.iterate.discs.iter_mut().enumerate() {
        for l in 0..disc.rows().len() {
            disc.v[1 + l] = disc.v[0] / disc.mu * 0.6 * noise(5 * k + l + 40);
        }
    }
    solver.linearise(&problem).unwrap();
    solver.find_direction(&problem, 0.0, false);
    assert!(solver.shift.unsymmetric);

    let mut matrix = DMatrix::identity(m, m);
    for i in 0..m {
        // `V = 1 + n s^T`, with the slope `mu_i u_i/|u_i|` in the rows of a contact.
        let first = [0, 6, 9, 15, 16].into_iter().rfind(|first| *first <= i).unwrap();
        if i > first {
            matrix[(first, i)] = solver.shift.slope[i];
        }
    }
    matrix *= &a;
    let twice = |disc: &Disc, x: &[f64]| {
        let y = disc.scaling.times(&disc.scaling.times(&disc.impulse(x)));
        [disc.mu * y[0], y[1], y[2]]
    };
    for k in 0..m {
        let mut unit = vec![0.0; m];
        unit[k] = 1.0;
        for disc in &solver.iterate.discs {
            let y = twice(disc, &unit);
            matrix[(disc.normal, k)] += y[0];
            for (i, y) in disc.rows().zip(&y[1..]) {
                matrix[(i, k)] += y;
            }
        }
    }
    matrix[(15, 15)] += solver.iterate.blocks[3].v[0] / solver.iterate.r[15];
    let mut rhs = -DVector::from_row_slice(&solver.w);
    matrix.row_mut(12).fill(0.0);
    (matrix[(12, 12)], rhs[12]) = (1.0, 0.0);
    let expected = matrix.lu().solve(&rhs).unwrap();
    for (found, expected) in solver.direction.dr.iter().zip(expected.iter()) {
        // What keeps `E` regular is 1e-11 of it, and walls are 1e10 high.
        assert!((found - expected).abs() < 1e-8, "{found} instead of {expected}");
    }
    for disc in &solver.iterate.discs {
        let y = twice(disc, &solver.direction.dr);
        for l in 0..=disc.rows().len() {
            assert!((disc.dv[l] + disc.v[l] + y[l]).abs() < 1e-8, "{disc:?} {y:?}");
        }
    }
}
