//! Problems of the corpus that solvers are not expected to solve, each with the reason.

/// Pairs of problems and solvers that do not end as the others do. A `*` at the end of a name
/// stands for any rest.
pub(super) struct Exception {
    pub(super) problems: &'static [&'static str],
    pub(super) solvers: &'static [&'static str],
    pub(super) ends: Ends,
    pub(super) reason: &'static str,
}

/// How such a pair ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// The solver says that it did not succeed, or refuses.
    Fails,
    /// A solver claims a solution where there is none, or another one than the known ones.
    Claims,
    /// Not run.
    Skipped,
}

const FACTOR_FREE: &[&str] = &[
    "gauss-seidel",
    "symmetric-gauss-seidel",
    "jacobi",
    "nonlinear-cg",
    "accelerated-gradient",
];
const PIVOTING: &[&str] = &["lemke", "murty", "block-pivoting", "dantzig"];

#[rustfmt::skip]
pub(super) const EXCEPTIONS: &[Exception] = &[
    // Systems.
    Exception { problems: &["all-fixed", "idle-row", "overdetermined", "redundant-rows", "thirty-equal-rows"], solvers: &["dense-ldlt"],
        ends: Ends::Fails, reason: "a plain factor meets the zero pivot of a redundant row" },
    Exception { problems: &["buckled-chain", "indefinite-but-constrained"], solvers: &["dense", "cholesky", "schur-cg*"],
        ends: Ends::Fails, reason: "these invert W, which is to be positive definite" },
    Exception { problems: &["bounds-10", "bounds-compliant", "four-legs-unilateral"], solvers: &["projected-gauss-seidel"],
        ends: Ends::Claims, reason: "sweeps end at the tolerance of the velocity; the answers are known better than that, or their multipliers are not unique" },
    Exception { problems: &["scaled-rows"], solvers: &["dense"],
        ends: Ends::Fails, reason: "the rank is decided on eigenvalues, which rows in other units spread over 48 decades" },
    Exception { problems: &["indefinite-free", "indefinite-on-null-space"], solvers: &["dense-ldlt", "minres*", "constraint-gmres*"],
        ends: Ends::Claims, reason: "these find the stationary point, and do not ask whether it is a minimum" },
    Exception { problems: &["all-fixed", "four-legs", "idle-row", "overdetermined", "rank-five-of-twelve", "redundant-rows", "ring-6", "ring-40", "thirty-equal-rows"],
        solvers: &["bunch-kaufman"], ends: Ends::Fails, reason: "it finds the rows to be redundant, and leaves them to the sparse factor" },
    Exception { problems: &["rank-five-contradicting"], solvers: &["dense-ldlt"],
        ends: Ends::Claims, reason: "multipliers of 1e15 hide the contradiction: the backward error is small all the same" },
    Exception { problems: &["ring-broken"], solvers: &["dense-ldlt", "schur-cg*", "minres*"],
        ends: Ends::Claims, reason: "multipliers of 1e15 hide the contradiction: the backward error is small all the same" },

    // Complementarity: what a method is not made for.
    Exception { problems: &["lcp-skew", "lcp-ray", "lcp-three-solutions", "murty-2", "murty-5", "murty-8", "murty-10"], solvers: &["admm"],
        ends: Ends::Fails, reason: "the matrix is not symmetric semidefinite" },
    Exception { problems: &["lcp-skew", "lcp-three-solutions"], solvers: &["interior-point"],
        ends: Ends::Fails, reason: "the matrix is not symmetric semidefinite" },
    Exception { problems: &["tower-10", "tower-10-pushed", "tower-10-top-heavy", "tower-50", "wall-square-friction"], solvers: &["barzilai-borwein"],
        ends: Ends::Fails, reason: "a gradient method on a tall or top-heavy stack" },
    Exception { problems: &["lcp-ray"], solvers: &["*"],
        ends: Ends::Fails, reason: "the matrix is neither symmetric nor semidefinite: nothing promises anything" },
    Exception { problems: &["lcp-skew"], solvers: &["gauss-seidel", "symmetric-gauss-seidel", "jacobi", "nonlinear-cg", "barzilai-borwein", "accelerated-gradient", "newton", "murty", "block-pivoting", "dantzig", "active-set"],
        ends: Ends::Fails, reason: "a zero diagonal, not symmetric" },
    Exception { problems: &["random-lcp-deficient"], solvers: &["block-pivoting"],
        ends: Ends::Fails, reason: "singular bases: it wants a definite matrix" },
    Exception { problems: &["random-rows-deficient"], solvers: &["murty", "block-pivoting"],
        ends: Ends::Fails, reason: "singular bases: both want a definite matrix" },
    Exception { problems: &["contact-fast", "contact-heavy", "contact-light", "contact-slips", "contact-slips-fast", "contact-slow", "contacts-apart", "funnel", "random-all-laws", "random-contacts-*", "random-rolling"],
        solvers: &["lemke"], ends: Ends::Fails, reason: "slip is not along an edge of the pyramid" },
    Exception { problems: &["rows-apart"], solvers: &["nonlinear-cg"],
        ends: Ends::Claims, reason: "the residual is a share of the largest velocity, which is 1e6 times that of the other row" },

    // Complementarity: slow convergence, of factors too close to one for 2000 iterations.
    Exception { problems: &["tower-10-pushed", "tower-10-top-heavy"], solvers: FACTOR_FREE,
        ends: Ends::Fails, reason: "impulses of the bottom take as many sweeps as the tower is high, squared, times the ratio of masses" },
    Exception { problems: &["tower-10"], solvers: &["gauss-seidel", "symmetric-gauss-seidel", "jacobi"],
        ends: Ends::Fails, reason: "the same" },
    Exception { problems: &["arch", "chute", "chute-steep", "random-contacts-deficient", "tower-10-top-light", "wall-3-pushed", "wall-4"], solvers: &["jacobi"],
        ends: Ends::Fails, reason: "damped by the largest eigenvalue, it is slower than a sweep" },
    Exception { problems: &["chute"], solvers: &["accelerated-gradient"],
        ends: Ends::Fails, reason: "friction breaks the momentum again and again" },

    Exception { problems: &["tower-10-top-heavy"], solvers: &["modulus"],
        ends: Ends::Fails, reason: "sweeps as far from the answer as these: acceleration does not make up for it" },

    // Another program.
    #[cfg(feature = "clarabel")]
    Exception { problems: &["cards*", "contact-fast", "contact-heavy", "contact-light", "contact-slow", "contacts-apart", "funnel", "wall-square-friction"], solvers: &["clarabel"],
        ends: Ends::Fails, reason: "the iteration on the shift does not contract: the slip depends too much on the impulses" },
    #[cfg(feature = "clarabel")]
    Exception { problems: &["random-contacts-12", "random-contacts-deficient", "lcp-z-matrix"], solvers: &["clarabel"],
        ends: Ends::Fails, reason: "accurate to the root of its gap only, 2e-8 to 3e-7" },
    #[cfg(feature = "clarabel")]
    Exception { problems: &["lcp-skew", "murty-2", "murty-5", "murty-8", "murty-10"], solvers: &["clarabel"],
        ends: Ends::Fails, reason: "the matrix is not symmetric" },

    // Time.
    Exception { problems: &["heap-*"], solvers: &["gauss-seidel", "symmetric-gauss-seidel", "jacobi", "nonlinear-cg", "modulus", "accelerated-gradient", "barzilai-borwein", "admm", "newton*", "proximal-newton", "interior-point", "lemke", "clarabel"],
        ends: Ends::Skipped, reason: "each solves some of them: what is asked is that their combination solves all" },
    Exception { problems: &["wall-8", "tower-50", "wall-square-friction"], solvers: FACTOR_FREE, ends: Ends::Skipped, reason: "seconds" },
    Exception { problems: &["wall-8", "tower-50", "wall-square-friction"], solvers: &["modulus"], ends: Ends::Skipped, reason: "seconds" },
    #[cfg(feature = "clarabel")]
    Exception { problems: &["wall-8", "wall-4", "tower-10-top-light"], solvers: &["clarabel"], ends: Ends::Skipped, reason: "seconds" },
    Exception { problems: &["wall-8"], solvers: &["auto", "newton*"], ends: Ends::Skipped, reason: "seconds" },
    Exception { problems: &["wall-8", "tower-50", "wall-square-friction"], solvers: PIVOTING, ends: Ends::Skipped, reason: "half a minute" },
];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// The exceptions for a pair, by their place in the table.
pub(super) fn of(problem: &str, solver: &str) -> Option<usize> {
    EXCEPTIONS.iter().position(|e| {
        e.problems.iter().any(|p| matches(p, problem)) && e.solvers.iter().any(|s| matches(s, solver))
    })
}
