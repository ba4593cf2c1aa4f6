//! Complementarity problems with cones.

mod conic;
mod corpus;
mod general;
mod jammed;
mod known_contacts;
mod known_rows;
mod metamorphic;
mod modulus;
#[cfg(feature = "clarabel")]
mod oracle;
mod polygons;
mod random;
mod rolling;
mod rolling_heaps;
mod scenes;

use pliant_lab::{Dantzig, Murty};
use pliant_solvers::complementarity::*;

pub(crate) const UNILATERAL: Cone = Cone::NonNegative;

pub(crate) fn lcp(a: &[f64], q: &[f64]) -> Problem {
    Problem::dense(a, q, &vec![UNILATERAL; q.len()]).unwrap()
}

pub(crate) fn limits(tolerance: f64, max_iterations: usize) -> Limits {
    Limits {
        tolerance,
        max_iterations,
        patience: max_iterations,
        ..Limits::default()
    }
}

/// From rest.
pub(crate) fn solve(solver: &mut dyn Solver, problem: &Problem) -> (Vec<f64>, Report) {
    let mut r = vec![0.0; problem.size()];
    let report = solver.solve(problem, &mut r).unwrap();
    // Whatever a report says, it is to be what the answer says.
    let mut u = vec![0.0; problem.size()];
    let residual = problem.residual(&r, &mut u);
    assert_eq!(residual, report.residual);
    assert!(r.iter().all(|x| x.is_finite()), "{report:?}");
    (r, report)
}

/// Every solver, with this tolerance.
pub(crate) fn solvers(tolerance: f64) -> Vec<Box<dyn Solver>> {
    vec![
        Box::new(gauss_seidel(tolerance, 1.0, false)),
        Box::new(gauss_seidel(tolerance, 1.3, true)),
        Box::new(Jacobi::new(limits(tolerance, 20_000))),
        Box::new(NonlinearCg::new(limits(tolerance, 5000))),
        Box::new(modulus(tolerance, 8)),
        Box::new(AcceleratedGradient::new(limits(tolerance, 20_000))),
        Box::new(Admm::new(AdmmOptions {
            limits: limits(tolerance, 20_000),
            ..AdmmOptions::default()
        })),
        Box::new(BarzilaiBorwein::new(limits(tolerance, 20_000))),
        Box::new(interior(tolerance)),
        Box::new(CentralPath::new(limits(tolerance, 2000))),
        Box::new(newton(
            tolerance,
            RowFunction::NaturalMap,
            ContactFunction::AlartCurnier,
        )),
        Box::new(newton(
            tolerance,
            RowFunction::FischerBurmeister,
            ContactFunction::JeanMoreau,
        )),
        Box::new(Lemke::new(LemkeOptions {
            limits: limits(tolerance, 20_000),
            facets: 8,
        })),
        Box::new(Murty::new(limits(tolerance, 5000))),
        Box::new(BlockPivoting::new(BlockPivotingOptions {
            limits: limits(tolerance, 5000),
            ..BlockPivotingOptions::default()
        })),
        Box::new(Dantzig::new(limits(tolerance, 5000))),
        Box::new(Auto::new(AutoOptions {
            limits: limits(tolerance, 5000),
            ..AutoOptions::default()
        })),
    ]
}

pub(crate) fn gauss_seidel(tolerance: f64, relaxation: f64, symmetric: bool) -> GaussSeidel {
    GaussSeidel::new(GaussSeidelOptions {
        limits: limits(tolerance, 20_000),
        relaxation,
        symmetric,
        check_every: 1,
    })
}

pub(crate) fn modulus(tolerance: f64, depth: usize) -> ModulusSplitting {
    ModulusSplitting::new(ModulusSplittingOptions {
        limits: limits(tolerance, 20_000),
        depth,
        shift: 1.0,
    })
}

pub(crate) fn interior(tolerance: f64) -> InteriorPoint {
    InteriorPoint::new(limits(tolerance, 200))
}

pub(crate) fn newton(tolerance: f64, row: RowFunction, contact: ContactFunction) -> Newton {
    Newton::new(NewtonOptions {
        limits: limits(tolerance, 300),
        row,
        contact,
    })
}

pub(crate) fn takes_friction(method: Method) -> bool {
    !matches!(
        method,
        Method::Other("murty") | Method::BlockPivoting | Method::Other("dantzig")
    )
}

pub(crate) fn near(a: &[f64], b: &[f64], tolerance: f64) {
    crate::tools::close(a, b, tolerance);
}
