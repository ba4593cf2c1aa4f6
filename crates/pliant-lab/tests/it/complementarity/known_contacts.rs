//! Contacts with friction with known answers.

use super::scenes::{incline, tower};
use super::{limits, near, solve, solvers, takes_friction};
use pliant_solvers::complementarity::*;

const A: [f64; 9] = [2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 1.1];
const MU: Cone = Cone::Coulomb { mu: 0.4 };

fn times(r: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|k| A[3 * i + k] * r[k]).sum())
}

#[test]
fn one_contact_against_reference_answers() {
    let stuck = times([-0.6, -0.1, 0.15]);
    let cases = [
        (
            [-1.0, 1.2, -0.7],
            [0.5528105938914, -0.1790374496663, 0.1297748822075],
        ),
        (
            [-0.5, -2.0, 3.0],
            [0.2273099691, 0.05009101342665, -0.07588189442978],
        ),
        (stuck, [0.6, 0.1, -0.15]),
        ([0.0, 3.0, -2.0], [0.0; 3]),
        ([0.5, 3.0, -2.0], [0.0; 3]),
    ];
    for (b, expected) in cases {
        let problem = Problem::dense(&A, &b, &[MU]).unwrap();
        let mut alone = [0.0; 3];
        assert!(solve_block(&MU, &A, &b, &mut alone));
        near(&alone, &expected, 1e-10);
        assert!(problem.residual(&alone, &mut [0.0; 3]).natural < 1e-14);
        for mut solver in solvers(1e-12) {
            if !takes_friction(solver.method()) || solver.method() == Method::Lemke {
                continue;
            }
            let (r, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{b:?} {report:?}");
            assert!(report.residual.natural < 1e-10);
            near(&r, &expected, 1e-10);
        }
    }
}

#[test]
fn the_pyramid_approaches_the_cone() {
    let problem = Problem::dense(&A, &[-1.0, 1.2, -0.7], &[MU]).unwrap();
    let mut last = f64::INFINITY;
    for facets in [4, 16, 64, 256] {
        let mut lemke = Lemke::new(LemkeOptions {
            facets,
            ..LemkeOptions::default()
        });
        let (r, report) = solve(&mut lemke, &problem);
        assert_ne!(report.outcome, Outcome::Ray);
        let off =
            (r[0] - 0.5528105938914).abs() + (r[1] + 0.1790374496663).abs() + (r[2] - 0.1297748822075).abs();
        assert!(off < 4.0 / facets as f64 && off < last, "{facets} {off}");
        last = off;
    }
}

#[test]
fn a_velocity_is_not_lost_beside_a_huge_impulse() {
    // u = (1, 0, 0) at r = (1e17, 0, 0): the map is 1, although 1e17 - 1 is 1e17 to the last bit.
    let problem = Problem::dense(&[0.0; 9], &[1.0, 0.0, 0.0], &[Cone::Coulomb { mu: 0.5 }]).unwrap();
    let residual = problem.residual(&[1e17, 0.0, 0.0], &mut [0.0; 3]);
    assert!((residual.natural - 1.0).abs() < 1e-12, "{residual:?}");
}

#[test]
fn the_residual_of_de_saxce_at_a_point() {
    // The reference has the step rho = 1; the residual of a problem has rho = 1/(mean diagonal) and
    // divides by it.
    let (r, u) = ([0.3, 0.05, -0.02], [0.01, -0.2, 0.1]);
    assert!((de_saxce(0.4, &r, &u, 1.0) - 0.06233203348035).abs() < 1e-14);
    let b: [f64; 3] = std::array::from_fn(|i| u[i] - times(r)[i]);
    let problem = Problem::dense(&A, &b, &[MU]).unwrap();
    let s = 4.6 / 3.0;
    assert!((problem.scale(0) - s).abs() < 1e-15);
    let natural = problem.residual(&r, &mut [0.0; 3]).natural;
    assert!((natural - s * de_saxce(0.4, &r, &u, 1.0 / s)).abs() < 1e-15);
}

#[test]
fn projections() {
    for mu in [0.0, 0.3, 1.0, 2.5] {
        for (n, x, y) in [
            (1.0, 0.2, 0.1),
            (0.1, 1.0, -2.0),
            (-0.5, 0.3, 0.1),
            (-3.0, 1.0, 1.0),
            (0.0, 0.0, 0.0),
        ] {
            let (mut r, mut u) = ([n, x, y], [-n, -x, -y]);
            project_friction(mu, &mut r);
            project_dual(mu, &mut u);
            // Moreau: v = P_K(v) - P_K*(-v), and the parts are orthogonal.
            near(&[r[0] - u[0], r[1] - u[1], r[2] - u[2]], &[n, x, y], 1e-15);
            assert!((r[0] * u[0] + r[1] * u[1] + r[2] * u[2]).abs() < 1e-14);
            assert!(r[1].hypot(r[2]) <= mu * r[0] + 1e-15 && mu * u[1].hypot(u[2]) <= u[0] + 1e-15);
        }
    }
}

#[test]
fn the_block_alone_at_its_edges() {
    let mut random = crate::tools::Random(7);
    let scaled = |a: &[f64], s: f64| a.iter().map(|x| x * s).collect::<Vec<_>>();
    let mut unsolved = 0;
    for case in 0..4000 {
        // Strong coupling: a product of random numbers, from well to badly conditioned.
        let g = random.numbers(9);
        let mut a = vec![0.0; 9];
        let floor = [1.0, 1e-3, 1e-6, 0.0][case % 4];
        for i in 0..3 {
            for k in 0..3 {
                a[3 * i + k] = (0..3).map(|l| g[3 * i + l] * g[3 * k + l]).sum();
            }
            a[4 * i] += floor;
        }
        let mu = [0.0, 1e-8, 0.1, 0.7, 3.0][case % 5];
        let mut b = random.numbers(3);
        match case % 7 {
            0 => b[0] = -1e-12,
            1 => b[0] = -1e-300,
            2 => (b[1], b[2]) = (0.0, 0.0),
            3 => b[0] = 0.0,
            _ => {}
        }
        let cone = Cone::Coulomb { mu };
        let s = 10f64.powi((case % 9) as i32 * 2 - 8);
        let a = scaled(&a, s);
        let mut r = [0.0; 3];
        let solved = solve_block(&cone, &a, &b, &mut r);
        assert!(r.iter().all(|x| x.is_finite()));
        let problem = Problem::dense(&a, &b, &[cone]).unwrap();
        let residual = problem.residual(&r, &mut [0.0; 3]);
        // Rounding of A r, which is large beside b where A is badly conditioned.
        let size = s * r.iter().fold(0.0f64, |a, x| a.max(x.abs())) + 1.0;
        if solved {
            assert!(
                residual.natural < 1e-12 * size,
                "{case} {mu} {b:?} {a:?} {r:?} {residual:?}"
            );
        } else {
            unsolved += 1;
        }
        // The same in the plane.
        let flat = [a[0], a[1], a[3], a[4]];
        let cone = Cone::PlanarCoulomb { mu };
        let mut r = [0.0; 2];
        let solved = solve_block(&cone, &flat, &b[..2], &mut r);
        let problem = Problem::dense(&flat, &b[..2], &[cone]).unwrap();
        let residual = problem.residual(&r, &mut [0.0; 2]);
        let size = s * r.iter().fold(0.0f64, |a, x| a.max(x.abs())) + 1.0;
        assert!(
            !solved || residual.natural < 1e-12 * size,
            "{case} {r:?} {residual:?}"
        );
        unsolved += usize::from(!solved);
    }
    assert_eq!(unsolved, 0, "blocks of full rank have a solution");
}

#[test]
fn in_the_plane_the_pyramid_is_the_cone() {
    let mut random = crate::tools::Random(11);
    for _ in 0..50 {
        let a = crate::tools::definite(&mut random, 6);
        let b = random.numbers(6);
        let problem = Problem::dense(&a, &b, &[Cone::PlanarCoulomb { mu: 0.5 }; 3]).unwrap();
        for mut solver in solvers(1e-10) {
            if takes_friction(solver.method()) {
                let (_, report) = solve(solver.as_mut(), &problem);
                assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
            }
        }
    }
}

#[test]
fn a_box_on_an_incline_sticks_or_slides() {
    // 10 kg at rest, h = 0.01 s: it slides if mu < tan(angle), with the velocity h g (sin - mu
    // cos).
    let (mass, h, g, angle) = (10.0, 0.01, 9.81, 0.4f64);
    for mu in [0.2, 0.6] {
        let scene = incline(mass, h * g, angle, mu);
        for mut solver in solvers(1e-10) {
            if !takes_friction(solver.method()) || solver.method() == Method::Lemke {
                continue;
            }
            let (r, report) = solve(solver.as_mut(), &scene);
            assert_eq!(report.outcome, Outcome::Converged, "{mu} {report:?}");
            let normal: f64 = (0..4).map(|k| r[3 * k]).sum();
            assert!((normal - mass * h * g * angle.cos()).abs() < 1e-8, "{normal}");
            let mut u = vec![0.0; 12];
            scene.velocity_into(&r, &mut u);
            let expected = f64::max(0.0, h * g * (angle.sin() - mu * angle.cos()));
            for k in 0..4 {
                near(&u[3 * k..3 * k + 3], &[0.0, expected, 0.0], 1e-8);
            }
        }
    }
}

#[test]
fn without_a_solution_nothing_converges() {
    // A = (1, 2; 2, 4), mu = 1: A_nn - mu A_nt < 0. The tip can only slip forwards, where friction
    // presses it deeper than the normal impulse lifts it.
    let cone = [Cone::PlanarCoulomb { mu: 1.0 }];
    let a = [1.0, 2.0, 2.0, 4.0];
    let planar = Problem::dense(&a, &[-1.0, 1.0], &cone).unwrap();
    let a = [1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 1.0];
    let spatial = Problem::dense(&a, &[-1.0, 1.0, 0.0], &[Cone::Coulomb { mu: 1.0 }]).unwrap();
    for problem in [planar, spatial] {
        for mut solver in solvers(1e-9) {
            if takes_friction(solver.method()) {
                let (_, report) = solve(solver.as_mut(), &problem);
                assert_ne!(report.outcome, Outcome::Converged, "{report:?}");
                assert!(report.residual.relative > 1e-3, "{report:?}");
            }
        }
    }
    // Driven in the other direction it has one.
    let problem = Problem::dense(&[1.0, 2.0, 2.0, 4.0], &[-1.0, -9.0], &cone).unwrap();
    let (r, report) = solve(&mut Auto::default(), &problem);
    assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
    near(&r, &[1.0 / 3.0, 1.0 / 3.0], 1e-9);
}

#[test]
fn a_limit_of_iterations_is_reported() {
    let scene = incline(10.0, 0.0981, 0.4, 0.2);
    let mut solver = AcceleratedGradient::new(limits(1e-14, 2));
    let (_, report) = solve(&mut solver, &scene);
    assert_eq!((report.outcome, report.iterations), (Outcome::MaxIterations, 2));
}

#[test]
fn interior_points_reach_the_last_digits_of_a_top_heavy_tower() {
    // Bottom contacts slip at 3e-9 m/s under impulses of 1e2 N s: their residual takes a
    // complementarity of 1e-18 J.
    let rigid = tower(10, 1000.0, 0.3, 0.5);
    let m = rigid.size();
    let mut a = vec![0.0; m * m];
    rigid.delassus().block(0..m, 0..m, &mut a);
    (0..m).for_each(|i| a[i * (m + 1)] += 1e-7);
    let problem = Problem::dense(&a, rigid.b(), rigid.cones()).unwrap();
    let mut solver = InteriorPoint::new(limits(1e-9, 40));
    let (_, report) = solve(&mut solver, &problem);
    assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
}

/// A box on a slope of 45 degrees as one contact of mass 2: it slips with `mu = 1/2`. The impulse
/// is `m v (1, -1/2)`, in closed form.
#[test]
fn interior_points_find_the_slip() {
    let problem = Problem::dense(
        &[0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5],
        &[-1.0, 1.0, 0.0],
        &[Cone::Coulomb { mu: 0.5 }],
    )
    .unwrap();
    let mut solver = InteriorPoint::new(limits(1e-9, 200));
    let (r, report) = solve(&mut solver, &problem);
    assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
    // The residual, 1e-9 m/s, over the velocity per impulse, 0.5, and as much for the slip.
    for (found, known) in r.iter().zip([2.0, -1.0, 0.0]) {
        assert!((found - known).abs() < 1e-8, "{r:?}");
    }
}
