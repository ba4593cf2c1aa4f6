//! F: linear systems with redundant rows and fixed variables.

use super::Checks;
use pliant::prelude::*;
use pliant::solvers::{DirectSolver, KktSystem, Solution};

fn solve(system: &KktSystem) -> Result<(Solution, Status), Error> {
    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    solver.prepare(system).map_err(Error::Solve)?;
    let report = solver.solve(system, &mut solution).map_err(Error::Solve)?;
    Ok((solution, report.status))
}

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    redundant(checks)?;
    fixed(checks)
}

/// F04: duplicated, contradictory and nearly hard rows.
fn redundant(checks: &mut Checks) -> Result<(), Error> {
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
    let j = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let build = |r: [f64; 3], b: [f64; 3]| -> Result<KktSystem, Error> {
        let mut system = KktSystem::dense(&w, &j, &r).map_err(Error::Solve)?;
        system.c.copy_from_slice(&[1.0, 0.5, 2.0]);
        system.b.copy_from_slice(&b);
        Ok(system)
    };
    let consistent = [0.5, 0.5, 0.2];
    let (hard, _) = solve(&build([0.0; 3], consistent)?)?;
    checks.against("F04", "x", &hard.x, 1e-12);
    checks.against(
        "F04",
        "mu min-norm: duplicated rows share equally",
        &hard.mu,
        1e-12,
    );
    for (key, share) in [("1)", 1.0), ("3)", 3.0)] {
        let (soft, _) = solve(&build([1e-9, share * 1e-9, 1e-9], consistent)?)?;
        let key = format!("limit of C=eps diag(1, {key}: split inversely to compliance");
        checks.against("F04", &key, &soft.mu, 1e-6);
    }
    let contradictory = [0.5, 0.7, 0.2];
    let (compromise, status) = solve(&build([0.0; 3], contradictory)?)?;
    let key = "inconsistent duplicates: x of the averaged row (least-squares rows)";
    checks.against("F04", key, &compromise.x, 1e-10);
    let named = matches!(status, Status::Incompatible { row: 0 | 1, .. });
    checks.compare(
        "F04",
        "contradiction is reported",
        &[1.0],
        &[f64::from(u8::from(named))],
        0.0,
    );
    for eps in [1e-6, 1e-9] {
        let (s, _) = solve(&build([eps; 3], contradictory)?)?;
        let found = [s.x[0], s.x[1], s.x[2], eps * (s.mu[0] - s.mu[1])];
        let key = format!(
            "regularised eps={}: same x, eps*(mu_1-mu_2) = b2-b1",
            if eps > 1e-7 { "1e-06" } else { "1e-09" }
        );
        checks.against("F04", &key, &found, 1e-5);
    }
    Ok(())
}

/// F07: fixed variables are eliminated, not projected.
fn fixed(checks: &mut Checks) -> Result<(), Error> {
    let w = [4.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0];
    let mut system = KktSystem::dense(&w, &[], &[]).map_err(Error::Solve)?;
    system.c.copy_from_slice(&[1.0, 2.0, 3.0]);
    system.fixed[1] = true;
    let (s, _) = solve(&system)?;
    checks.against("F07", "constrained solution", &s.x, 1e-14);
    // One compliant step from rest: h = 0.1, J = (1, 1, 1), C = 0.01, so R = C/h^2 = 1 and c = h f.
    let mut system = KktSystem::dense(&w, &[1.0; 3], &[1.0]).map_err(Error::Solve)?;
    system.c.copy_from_slice(&[0.1, 0.2, 0.3]);
    system.fixed[1] = true;
    let (s, _) = solve(&system)?;
    checks.against(
        "F07",
        "one compliant step with a fixed dof: lambda",
        &[s.mu[0] / 0.1],
        1e-13,
    );
    Ok(())
}
