//! Predicted cost of methods, by counting.

use super::{LinearChoice, LinearMethod, LinearOptions, Reason};
use crate::KktMethod;
use pliant_solvers::{DenseMethod, KktSystem, SolveError};
use pliant_sparse::{EliminationCost, Graph, Pattern};

/// Predicted work for one pattern, in nanoseconds of a common processor (at 3 GHz): weights of
/// counts, never measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Entries and operations of the sparse factor.
    pub fill: EliminationCost,
    /// Work of a sparse factor and of the solves expected with it.
    pub direct: f64,
    /// Work of one iteration of the Krylov method in question.
    pub iteration: f64,
    /// The Krylov method, if any suits the system.
    pub krylov: Option<KktMethod>,
    preparation: f64,
}

impl Prediction {
    /// Counts for the pattern of a system, at a cost of the order of an analysis for a factor;
    /// `solves` are the right-hand sides that are expected for each factor.
    ///
    /// # Errors
    /// [`SolveError::Sparse`] where no order of elimination is found.
    pub fn of(system: &KktSystem, solves: f64) -> Result<Self, SolveError> {
        predict(system, solves)
    }

    /// Work of a sparse factor.
    pub fn factor(&self) -> f64 {
        self.fill.flops as f64 / FACTOR_RATE + FACTOR_ENTRY * self.fill.entries as f64
    }

    /// Work of one solution with it.
    pub fn substitution(&self) -> f64 {
        SOLVE_ENTRY * self.fill.entries as f64
    }

    /// Work to make the preconditioner of the Krylov method.
    pub fn preparation(&self) -> f64 {
        self.preparation
    }

    /// Whether every row of a system counts as compliant, so that it can be condensed.
    pub fn is_compliant(system: &KktSystem) -> bool {
        (0..system.m()).all(|i| system.r_diagonal(i) > COMPLIANT * system.row_scale(i))
    }
}

/// Operations of a factor per nanosecond where supernodes are large.
const FACTOR_RATE: f64 = 30.0;
/// Work per entry of the factor: to compute it where supernodes are small, to read it twice in a
/// solve.
const FACTOR_ENTRY: f64 = 3.0;
const SOLVE_ENTRY: f64 = 1.0;
/// Work per entry of both triangles in a product, and in an application of the incomplete factor.
const PRODUCT_ENTRY: f64 = 0.35;
/// Work of the vector operations per unknown.
const VECTORS: f64 = 8.0;
/// Work per entry to make the preconditioner, in iterations' products.
const SETUP_ENTRY: f64 = 8.0;
/// Iterations that a preconditioned method is likely to need even on an easy system.
const FEWEST_ITERATIONS: f64 = 25.0;
/// Order up to which a full system is factored densely at once, and at all.
const SMALL: usize = 64;
const LARGEST_DENSE: usize = 2000;
/// Share of the diagonal of the Delassus operator from which a compliance is condensed.
pub(crate) const COMPLIANT: f64 = 1e-8;

/// The decision for one pattern.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    choice: LinearChoice,
    right_hand_sides: usize,
    indefinite: bool,
    pub(super) prediction: Option<Prediction>,
    /// Iterations that a Krylov method may take.
    pub(super) budget: usize,
    small: bool,
    fits_dense: bool,
}

/// The patterns and fixed variables that a plan was made for.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape(Option<(Pattern, Pattern, Pattern, Vec<bool>)>);

impl Shape {
    pub(super) fn fits(&self, system: &KktSystem) -> bool {
        self.0.as_ref().is_some_and(|(w, j, r, fixed)| {
            w == system.w.pattern()
                && j == system.j.pattern()
                && r == system.r.pattern()
                && *fixed == system.fixed
        })
    }

    pub(super) fn take(&mut self, system: &KktSystem) {
        let patterns = [&system.w, &system.j, &system.r].map(|a| a.pattern().clone());
        let [w, j, r] = patterns;
        self.0 = Some((w, j, r, system.fixed.clone()));
    }
}

impl Plan {
    pub(super) fn fits(&self, options: &LinearOptions) -> bool {
        self.choice == options.choice
            && self.right_hand_sides == options.right_hand_sides
            && self.indefinite == options.indefinite
    }

    pub(super) fn new(system: &KktSystem, options: &LinearOptions) -> Result<Self, SolveError> {
        let size = system.n() + system.m();
        let entries = system.w.pattern().len() + system.j.pattern().len() + system.r.pattern().len();
        let small = size <= SMALL && 8 * entries >= size * size;
        let mut out = Self {
            choice: options.choice,
            right_hand_sides: options.right_hand_sides,
            indefinite: options.indefinite,
            prediction: None,
            budget: 0,
            small,
            fits_dense: size <= LARGEST_DENSE,
        };
        if options.choice == LinearChoice::Auto && !small {
            let solves = options.right_hand_sides.max(1) as f64;
            let prediction = predict(system, solves)?;
            let left = 0.5 * prediction.direct - prediction.preparation;
            let iterations = left / (solves * prediction.iteration);
            if prediction.krylov.is_some() && iterations >= FEWEST_ITERATIONS {
                out.budget = iterations.min(1e6) as usize;
            }
            out.prediction = Some(prediction);
        }
        Ok(out)
    }

    /// The methods in the order in which they are tried.
    pub(super) fn chain(&self, options: &LinearOptions, out: &mut Vec<(LinearMethod, Reason)>) {
        let first = match options.choice {
            LinearChoice::Dense(own) => Some(LinearMethod::Dense(own.method)),
            LinearChoice::Direct(_) => Some(LinearMethod::Direct),
            LinearChoice::Pivoted(_) => Some(LinearMethod::Pivoted),
            LinearChoice::Krylov(own) => Some(LinearMethod::Krylov(own.method)),
            LinearChoice::Auto => None,
        };
        if let Some(method) = first {
            out.push((method, Reason::Pinned));
            return;
        }
        let dense = LinearMethod::Dense(DenseMethod::BunchKaufman);
        if self.small {
            out.push((dense, Reason::Small));
            out.push((LinearMethod::Direct, Reason::Escalated));
            if options.indefinite {
                out.push((LinearMethod::Pivoted, Reason::Escalated));
            }
            return;
        }
        let method = self.prediction.and_then(|p| p.krylov);
        match method.filter(|_| self.budget > 0) {
            Some(method) => {
                let budget = self.budget;
                out.push((LinearMethod::Krylov(method), Reason::WorthIterations { budget }));
                out.push((LinearMethod::Direct, Reason::Escalated));
            }
            None => out.push((LinearMethod::Direct, Reason::CheapFactor)),
        }
        if self.fits_dense && !options.indefinite {
            out.push((dense, Reason::Escalated));
        } else {
            out.push((LinearMethod::Pivoted, Reason::Escalated));
        }
    }
}

/// Counts for a system without changing anything.
fn predict(system: &KktSystem, solves: f64) -> Result<Prediction, SolveError> {
    let (n, m) = (system.n(), system.m());
    let vertex = |bounds: &[usize]| -> Vec<usize> {
        let blocks = bounds.windows(2).enumerate();
        blocks
            .flat_map(|(k, w)| std::iter::repeat_n(k, w[1] - w[0]))
            .collect()
    };
    let (of_dof, of_row) = (vertex(system.primal_blocks()), vertex(system.row_blocks()));
    let primal = system.primal_blocks().len() - 1;
    let blocks = primal + system.row_blocks().len() - 1;
    let mut graph = Graph::new(blocks);
    let mut last = (0, 0);
    let mut join = |a: usize, b: usize| {
        if a != b && (a, b) != last {
            graph.connect(a, b);
            last = (a, b);
        }
    };
    for i in 0..n {
        let others = system.w.pattern().row(i).iter();
        others.for_each(|k| join(of_dof[i], of_dof[*k as usize]));
    }
    // Rows that touch each primal block, by blocks: what the Schur complement of a block diagonal
    // couples.
    let mut touching = vec![0usize; primal];
    for i in 0..m {
        let mut before = usize::MAX;
        for k in system.j.pattern().row(i) {
            let block = of_dof[*k as usize];
            join(primal + of_row[i], block);
            touching[block] += usize::from(block != before);
            before = block;
        }
    }
    let bounds = [system.primal_blocks(), system.row_blocks()];
    for (vertex, w) in bounds.iter().flat_map(|b| b.windows(2)).enumerate() {
        graph.set_unknowns(vertex, (w[1] - w[0]) as u32);
    }
    let fill = graph.best_order()?.report.cost;

    let (w, j) = (
        2.0 * system.w.pattern().len() as f64,
        2.0 * system.j.pattern().len() as f64,
    );
    let coupled: f64 = touching.iter().map(|k| (k * k) as f64).sum();
    let pairs = |block: &[usize]| {
        let columns: usize = (block[0]..block[1])
            .map(|i| system.j.pattern().row(i).len())
            .sum();
        let width = columns as f64 / (block[1] - block[0]) as f64;
        width * width
    };
    let condensed: f64 = system.row_blocks().windows(2).map(pairs).sum();
    let compliant = Prediction::is_compliant(system);
    let vectors = VECTORS * (n + m) as f64;
    let primal_work = 2.0 * PRODUCT_ENTRY * (w + 0.5 * condensed) + vectors;
    let projected_work = PRODUCT_ENTRY * (w + 3.0 * j) + FACTOR_ENTRY * coupled + 2.0 * vectors;
    let (krylov, iteration) = if m == 0 {
        (Some(KktMethod::PrimalPcg), primal_work)
    } else if coupled <= w + j {
        (Some(KktMethod::ProjectedPcg), projected_work)
    } else if compliant {
        (Some(KktMethod::PrimalPcg), primal_work)
    } else {
        (None, projected_work)
    };
    let mut out = Prediction {
        fill,
        direct: 0.0,
        iteration,
        krylov,
        preparation: SETUP_ENTRY * 0.5 * (w + j),
    };
    out.direct = out.factor() + solves * out.substitution();
    Ok(out)
}
