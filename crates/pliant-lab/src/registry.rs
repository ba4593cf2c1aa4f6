//! Every solver by name: what a command line, a corpus and a benchmark run. A new solver is one
//! line here.

mod run;

use crate::{ActiveSetQp, Dantzig, Murty};
use pliant_krylov::{Approximation, IterativeMethod, KktMethod};
use pliant_solvers::complementarity::{
    AcceleratedGradient, Admm, AdmmOptions, Auto, AutoOptions, BarzilaiBorwein, BlockPivoting,
    BlockPivotingOptions, CentralPath, Cone, ContactFunction, GaussSeidel, GaussSeidelOptions, InteriorPoint,
    Jacobi, Lemke, LemkeOptions, Limits, ModulusSplitting, ModulusSplittingOptions, Newton, NewtonOptions,
    NonlinearCg, Problem, ProximalNewton, RowFunction, Solver,
};
use pliant_solvers::{KktResidual, KktSystem, Solution, SolveError, solve_dense, solve_dense_ldlt};
use run::{
    judged, solve_auto, solve_box, solve_cholesky, solve_direct, solve_iterative, solve_krylov,
    solve_pivoted, solve_sweeps,
};

/// A solver of [`Problem`]s.
#[derive(Clone, Copy, Debug)]
pub struct ComplementarityEntry {
    /// Its name on a command line.
    pub name: &'static str,
    /// Its method, in a few words.
    pub about: &'static str,
    /// Whether it takes contacts with friction.
    pub friction: bool,
    /// A solver with these limits.
    pub make: fn(Limits) -> Box<dyn Solver>,
}

/// A solver of [`KktSystem`]s.
#[derive(Clone, Copy, Debug)]
pub struct KktEntry {
    /// Its name on a command line.
    pub name: &'static str,
    /// Its method, in a few words.
    pub about: &'static str,
    /// Whether it takes rows with bounds.
    pub bounds: bool,
    /// Whether it takes hard rows, `R_ii = 0`.
    pub hard_rows: bool,
    /// Prepares and solves from zero, to the relative residual given, in so many iterations at
    /// most.
    pub solve: fn(&KktSystem, f64, usize) -> Result<KktAnswer, SolveError>,
}

/// The most unknowns of a method that keeps whole matrices of them: so many take 0.8 GB.
pub const MOST_DENSE: usize = 10_000;

/// Methods that keep whole matrices.
const DENSE: [&str; 9] = [
    "active-set",
    "block-pivoting",
    "bunch-kaufman",
    "cholesky",
    "dantzig",
    "dense",
    "dense-ldlt",
    "lemke",
    "murty",
];

/// Unknowns of a contact with friction, of which a method makes a pyramid.
const OF_A_CONTACT: usize = 12;

impl ComplementarityEntry {
    /// Whether a problem is of a size that it takes, by [`MOST_DENSE`].
    pub fn fits(&self, problem: &Problem) -> bool {
        let unknowns = problem.cones().iter().map(|cone| match cone {
            Cone::Pyramid { facets, .. } => facets.saturating_add(2),
            cone if cone.rows() > 1 => OF_A_CONTACT,
            _ => 1,
        });
        !DENSE.contains(&self.name) || unknowns.fold(0, usize::saturating_add) <= MOST_DENSE
    }
}

impl KktEntry {
    /// Whether a system is of a size that it takes, by [`MOST_DENSE`].
    pub fn fits(&self, system: &KktSystem) -> bool {
        !DENSE.contains(&self.name) || system.n().saturating_add(system.m()) <= MOST_DENSE
    }

    /// Whether it takes a system: its rows, not its numbers.
    pub fn takes(&self, system: &KktSystem) -> bool {
        let soft = (0..system.m()).all(|i| system.r_diagonal(i) > 0.0);
        (self.bounds || system.first_bounded_row().is_none()) && (self.hard_rows || soft)
    }
}

/// Result of a solver of KKT systems.
#[derive(Clone, Debug, PartialEq)]
pub struct KktAnswer {
    /// The unknowns.
    pub solution: Solution,
    /// Whether the solver calls them a solution.
    pub converged: bool,
    /// How it ended, in the solver's words.
    pub status: String,
    /// Krylov iterations; of a direct solver, refinements and changes of the rows at bounds.
    pub iterations: usize,
    /// The residual as the solver reports it.
    pub residual: KktResidual,
    /// [`BoundsReport::natural`](pliant_solvers::BoundsReport::natural), m/s; without bounds the
    /// residual of the rows.
    pub natural: f64,
}

/// All solvers of complementarity problems.
pub const COMPLEMENTARITY: &[ComplementarityEntry] = &[
    ComplementarityEntry {
        name: "auto",
        about: "several of the others, until the residual holds",
        friction: true,
        make: |limits| {
            Box::new(Auto::new(AutoOptions {
                limits,
                ..AutoOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "gauss-seidel",
        about: "block projected Gauss-Seidel",
        friction: true,
        make: |limits| {
            Box::new(GaussSeidel::new(GaussSeidelOptions {
                limits,
                ..GaussSeidelOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "symmetric-gauss-seidel",
        about: "the same, forth and back, over-relaxed by 1.3",
        friction: true,
        make: |limits| {
            Box::new(GaussSeidel::new(GaussSeidelOptions {
                limits,
                relaxation: 1.3,
                symmetric: true,
                ..GaussSeidelOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "jacobi",
        about: "damped projected Jacobi",
        friction: true,
        make: |limits| Box::new(Jacobi::new(limits)),
    },
    ComplementarityEntry {
        name: "nonlinear-cg",
        about: "nonsmooth nonlinear conjugate gradients over Gauss-Seidel",
        friction: true,
        make: |limits| Box::new(NonlinearCg::new(limits)),
    },
    ComplementarityEntry {
        name: "modulus",
        about: "modulus-based splitting, accelerated by Anderson's method",
        friction: true,
        make: |limits| {
            Box::new(ModulusSplitting::new(ModulusSplittingOptions {
                limits,
                ..ModulusSplittingOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "accelerated-gradient",
        about: "accelerated projected gradient with restarts",
        friction: true,
        make: |limits| Box::new(AcceleratedGradient::new(limits)),
    },
    ComplementarityEntry {
        name: "admm",
        about: "alternating directions",
        friction: true,
        make: |limits| {
            Box::new(Admm::new(AdmmOptions {
                limits,
                ..AdmmOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "barzilai-borwein",
        about: "projected gradient with spectral steps",
        friction: true,
        make: |limits| Box::new(BarzilaiBorwein::new(limits)),
    },
    ComplementarityEntry {
        name: "interior-point",
        about: "primal-dual interior points",
        friction: true,
        make: |limits| Box::new(InteriorPoint::new(limits)),
    },
    ComplementarityEntry {
        name: "central-path",
        about: "the path of interior points, followed around its turning points",
        friction: true,
        make: |limits| Box::new(CentralPath::new(limits)),
    },
    ComplementarityEntry {
        name: "newton",
        about: "nonsmooth Newton, natural map and Alart-Curnier",
        friction: true,
        make: |limits| {
            Box::new(Newton::new(NewtonOptions {
                limits,
                row: RowFunction::NaturalMap,
                contact: ContactFunction::AlartCurnier,
            }))
        },
    },
    ComplementarityEntry {
        name: "proximal-newton",
        about: "nonsmooth Newton on proximal points",
        friction: true,
        make: |limits| Box::new(ProximalNewton::new(limits)),
    },
    ComplementarityEntry {
        name: "newton-fischer-burmeister",
        about: "nonsmooth Newton, Fischer-Burmeister and Jean-Moreau",
        friction: true,
        make: |limits| {
            Box::new(Newton::new(NewtonOptions {
                limits,
                row: RowFunction::FischerBurmeister,
                contact: ContactFunction::JeanMoreau,
            }))
        },
    },
    ComplementarityEntry {
        name: "lemke",
        about: "Lemke's pivoting, friction as a pyramid of eight sides",
        friction: true,
        make: |limits| {
            Box::new(Lemke::new(LemkeOptions {
                limits,
                ..LemkeOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "murty",
        about: "least-index principal pivoting",
        friction: false,
        make: |limits| Box::new(Murty::new(limits)),
    },
    ComplementarityEntry {
        name: "block-pivoting",
        about: "block principal pivoting",
        friction: false,
        make: |limits| {
            Box::new(BlockPivoting::new(BlockPivotingOptions {
                limits,
                ..BlockPivotingOptions::default()
            }))
        },
    },
    ComplementarityEntry {
        name: "dantzig",
        about: "principal pivoting of Dantzig and Cottle",
        friction: false,
        make: |limits| Box::new(Dantzig::new(limits)),
    },
    ComplementarityEntry {
        name: "active-set",
        about: "primal active set",
        friction: false,
        make: |limits| Box::new(ActiveSetQp::new(limits)),
    },
    #[cfg(feature = "clarabel")]
    ComplementarityEntry {
        name: "clarabel",
        about: "Clarabel's interior points, the shift of De Saxcé iterated on",
        friction: true,
        make: |limits| {
            Box::new(crate::ClarabelOracle::new(Limits {
                max_iterations: limits.max_iterations.min(100),
                ..limits
            }))
        },
    },
];

/// All solvers of KKT systems.
pub const KKT: &[KktEntry] = &[
    KktEntry {
        name: "box",
        about: "active set around the sparse direct solver",
        bounds: true,
        hard_rows: true,
        solve: solve_box,
    },
    KktEntry {
        name: "auto",
        about: "the method of least predicted work, then the next",
        bounds: false,
        hard_rows: true,
        solve: solve_auto,
    },
    KktEntry {
        name: "projected-gauss-seidel",
        about: "sweeps over the bounded rows around the sparse direct solver",
        bounds: true,
        hard_rows: true,
        solve: solve_sweeps,
    },
    KktEntry {
        name: "direct",
        about: "sparse L D L^T",
        bounds: false,
        hard_rows: true,
        solve: solve_direct,
    },
    KktEntry {
        name: "cholesky",
        about: "dense L L^T of W and of the Schur complement",
        bounds: false,
        hard_rows: true,
        solve: solve_cholesky,
    },
    KktEntry {
        name: "dense",
        about: "dense Schur complement, minimum norm",
        bounds: false,
        hard_rows: true,
        solve: |system, tolerance, _| judged(system, solve_dense(system)?, tolerance),
    },
    KktEntry {
        name: "dense-ldlt",
        about: "dense L D L^T of the whole matrix",
        bounds: false,
        hard_rows: true,
        solve: |system, tolerance, _| judged(system, solve_dense_ldlt(system)?.0, tolerance),
    },
    KktEntry {
        name: "bunch-kaufman",
        about: "dense factor of the whole matrix, pivoted",
        bounds: false,
        hard_rows: true,
        solve: solve_pivoted,
    },
    KktEntry {
        name: "cg",
        about: "conjugate gradients, condensed without hard rows, else projected",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_iterative(IterativeMethod::Cg, s, t, i),
    },
    KktEntry {
        name: "minres",
        about: "MINRES, block diagonal preconditioner",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::Minres, Approximation::Blocks, s, t, i),
    },
    KktEntry {
        name: "minres-diagonal",
        about: "MINRES, diagonal preconditioner",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::Minres, Approximation::Diagonal, s, t, i),
    },
    KktEntry {
        name: "schur-cg",
        about: "conjugate gradients on the Schur complement, blocks",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::SchurPcg, Approximation::Blocks, s, t, i),
    },
    KktEntry {
        name: "schur-cg-diagonal",
        about: "conjugate gradients on the Schur complement, diagonal",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::SchurPcg, Approximation::Diagonal, s, t, i),
    },
    KktEntry {
        name: "constraint-gmres",
        about: "GMRES, constraint preconditioner of blocks",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::ConstraintGmres, Approximation::Blocks, s, t, i),
    },
    KktEntry {
        name: "constraint-gmres-diagonal",
        about: "GMRES, constraint preconditioner of the diagonal",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::ConstraintGmres, Approximation::Diagonal, s, t, i),
    },
    KktEntry {
        name: "projected-cg",
        about: "projected conjugate gradients, blocks",
        bounds: false,
        hard_rows: true,
        solve: |s, t, i| solve_krylov(KktMethod::ProjectedPcg, Approximation::Blocks, s, t, i),
    },
    KktEntry {
        name: "primal-cg",
        about: "conjugate gradients on W + J^T R^-1 J, for compliant rows",
        bounds: false,
        hard_rows: false,
        solve: |s, t, i| solve_krylov(KktMethod::PrimalPcg, Approximation::Blocks, s, t, i),
    },
];
