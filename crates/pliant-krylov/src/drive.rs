//! Frame around the iterations of every solver: passes from the true residual, and the verdict.

use crate::{
    Breakdown, KrylovOptions, KrylovReport, KrylovStatus, LinearOperator, Preconditioner, check_finite,
    check_size, dot, norm, power_of_two_below,
};
use pliant_solvers::SolveError;

/// Workspace and options of a solver around its iterations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) options: KrylovOptions,
    pub(crate) history: Vec<f64>,
    residual: Vec<f64>,
    scaled: Vec<f64>,
    correction: Vec<f64>,
    trial: Vec<f64>,
    product: Vec<f64>,
}

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    /// The recurrence says that the tolerance is met.
    Goal,
    /// The Krylov space is exhausted, as far as rounding lets see.
    Exhausted,
    /// The iterations ran out.
    Budget,
    /// The basis is full.
    Full,
    /// The method cannot go on; `rounding` if that may be an effect of rounding.
    Broken { kind: Breakdown, rounding: bool },
}

impl End {
    pub(crate) fn not_finite() -> Self {
        Self::Broken {
            kind: Breakdown::NotFinite,
            rounding: false,
        }
    }

    pub(crate) fn zero_product() -> Self {
        Self::Broken {
            kind: Breakdown::ZeroInnerProduct,
            rounding: true,
        }
    }
}

/// The equation of a pass: `A d = r` from `d = 0`, preconditioned by `M`.
pub(crate) struct Correction<'a> {
    pub(crate) a: &'a dyn LinearOperator,
    pub(crate) m: &'a dyn Preconditioner,
    /// Free for the iterations to overwrite.
    pub(crate) r: &'a mut [f64],
    pub(crate) d: &'a mut [f64],
}

/// One pass of a method.
pub(crate) trait Pass {
    /// Whether the energy `d^T A d / 2 - d^T r` decreases from iteration to iteration, though the
    /// residual may not.
    const ENERGY: bool = false;

    /// Makes room for `n` unknowns, and a basis of `restart` vectors.
    fn resize(&mut self, n: usize, restart: usize);

    /// Iterates until `pace` says stop.
    fn run(&mut self, equation: Correction<'_>, pace: &mut Pace<'_>) -> End;
}

/// Counts iterations and decides when a pass has done enough.
#[derive(Debug)]
pub(crate) struct Pace<'a> {
    tolerance: f64,
    max_iterations: usize,
    pub(crate) iterations: usize,
    /// `|b|` in the units of the pass, and what takes the place of `|A x| + |b|` if `b` is zero.
    norm_b: f64,
    zero_scale: f64,
    unit: f64,
    history: Option<&'a mut Vec<f64>>,
}

impl Pace<'_> {
    /// Whether the tolerance is met with this `|r|`, as far as a recurrence can tell:
    /// `|A x| >= | |b| - |r| |`.
    pub(crate) fn met(&self, norm_r: f64) -> bool {
        let scale = if self.norm_b > 0.0 {
            self.norm_b + (self.norm_b - norm_r).abs()
        } else {
            self.zero_scale
        };
        norm_r <= 0.9 * self.tolerance * scale
    }

    /// Called after every iteration with `|r|` by the recurrence.
    pub(crate) fn step(&mut self, norm_r: f64) -> Option<End> {
        self.iterations += 1;
        if !(norm_r * self.unit).is_finite() {
            return Some(End::not_finite());
        }
        if let Some(history) = &mut self.history {
            history.push(norm_r * self.unit);
        }
        if self.met(norm_r) {
            Some(End::Goal)
        } else if self.iterations >= self.max_iterations {
            Some(End::Budget)
        } else {
            None
        }
    }
}

/// The true residual of some `x`.
#[derive(Clone, Copy, Debug)]
struct Measure {
    residual: f64,
    relative: f64,
}

/// `r = b - A x` and its sizes. NaN and infinity come out as infinity.
fn measure(
    a: &dyn LinearOperator,
    b: &[f64],
    x: &[f64],
    product: &mut [f64],
    r: &mut [f64],
    zero_scale: Option<f64>,
) -> Measure {
    a.apply(x, product);
    for (r, (b, p)) in r.iter_mut().zip(b.iter().zip(product.iter())) {
        *r = b - p;
    }
    let residual = norm(r);
    let scale = match zero_scale {
        Some(scale) => scale,
        None => norm(b) + norm(product),
    };
    if !residual.is_finite() || !scale.is_finite() {
        return Measure {
            residual: f64::INFINITY,
            relative: f64::INFINITY,
        };
    }
    let relative = if residual == 0.0 { 0.0 } else { residual / scale };
    Measure { residual, relative }
}

/// Solves `A x = b` by passes of a method.
pub(crate) fn drive<P: Pass>(
    method: &mut P,
    frame: &mut Frame,
    a: &dyn LinearOperator,
    m: &dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
) -> Result<KrylovReport, SolveError> {
    let n = a.size();
    check_size("right-hand side", n, b.len())?;
    check_size("start", n, x.len())?;
    check_size("preconditioner", n, m.size())?;
    check_finite(b)?;
    check_finite(x)?;
    let options = frame.options;
    if options.tolerance.is_nan() || options.tolerance < 0.0 {
        return Err(SolveError::Parameter {
            what: "tolerance",
            value: options.tolerance,
        });
    }
    if options.restart == 0 {
        return Err(SolveError::Parameter {
            what: "restart",
            value: 0.0,
        });
    }
    for v in [
        &mut frame.residual,
        &mut frame.scaled,
        &mut frame.correction,
        &mut frame.trial,
        &mut frame.product,
    ] {
        v.clear();
        v.resize(n, 0.0);
    }
    // More vectors than iterations would never be used.
    let most = n.max(1).min(options.max_iterations.max(1));
    method.resize(n, options.restart.min(most));
    frame.history.clear();

    let norm_b = norm(b);
    let start = measure(a, b, x, &mut frame.product, &mut frame.residual, None);
    let zero_scale = (norm_b == 0.0).then_some(start.residual);
    let mut now = start;
    let mut iterations = 0;
    let mut restarts = 0;
    if options.history && start.residual.is_finite() {
        frame.history.push(start.residual);
    }
    let status = loop {
        if !now.residual.is_finite() {
            break KrylovStatus::Breakdown {
                kind: Breakdown::NotFinite,
            };
        }
        if now.relative <= options.tolerance {
            break KrylovStatus::Converged;
        }
        if iterations >= options.max_iterations {
            break KrylovStatus::MaxIterations;
        }
        let unit = power_of_two_below(now.residual);
        for (s, r) in frame.scaled.iter_mut().zip(&frame.residual) {
            *s = r / unit;
        }
        frame.correction.fill(0.0);
        let mut pace = Pace {
            tolerance: options.tolerance,
            max_iterations: options.max_iterations,
            iterations,
            norm_b: norm_b / unit,
            zero_scale: start.residual / unit,
            unit,
            history: options.history.then_some(&mut frame.history),
        };
        let equation = Correction {
            a,
            m,
            r: &mut frame.scaled,
            d: &mut frame.correction,
        };
        let end = method.run(equation, &mut pace);
        iterations = pace.iterations;
        for (t, (x, d)) in frame.trial.iter_mut().zip(x.iter().zip(&frame.correction)) {
            *t = x + unit * d;
        }
        // The old residual is still needed for the energy of the correction.
        let after = measure(
            a,
            b,
            &frame.trial,
            &mut frame.product,
            &mut frame.scaled,
            zero_scale,
        );
        let finite = after.residual.is_finite() && frame.trial.iter().all(|t| t.is_finite());
        let better = finite && after.relative < now.relative;
        // -2 (d^T A d / 2 - d^T r) = d^T (r + r - A d).
        let descended = || {
            let terms = frame
                .correction
                .iter()
                .zip(frame.residual.iter().zip(&frame.scaled));
            terms.map(|(d, (old, new))| d * (old + new)).sum::<f64>() > 0.0
        };
        let stopped = matches!(end, End::Budget | End::Broken { .. });
        let before = now.relative;
        if better || (P::ENERGY && stopped && finite && descended()) {
            x.copy_from_slice(&frame.trial);
            std::mem::swap(&mut frame.residual, &mut frame.scaled);
            now = after;
        }
        if now.relative <= options.tolerance {
            break KrylovStatus::Converged;
        }
        let halved = now.relative <= 0.5 * before;
        match end {
            End::Budget => break KrylovStatus::MaxIterations,
            // From the same residual the same basis would follow.
            End::Full if now.relative > (1.0 - 1e-6) * before => break KrylovStatus::Stagnated,
            End::Full => {}
            End::Broken { rounding: true, .. } if halved => {}
            End::Broken { kind, .. } => break KrylovStatus::Breakdown { kind },
            End::Goal | End::Exhausted if halved => {}
            End::Goal | End::Exhausted => break KrylovStatus::Stagnated,
        }
        restarts += 1;
    };
    Ok(KrylovReport {
        status,
        iterations,
        restarts,
        residual: now.residual,
        relative: now.relative,
    })
}

/// The public face of a solver that is a [`Frame`] and a [`Pass`].
macro_rules! krylov_solver {
    ($name:ident) => {
        impl $name {
            /// A solver with given options.
            pub fn new(options: crate::KrylovOptions) -> Self {
                let mut out = Self::default();
                out.frame.options = options;
                out
            }
        }

        impl crate::KrylovSolver for $name {
            fn options(&self) -> &crate::KrylovOptions {
                &self.frame.options
            }

            fn options_mut(&mut self) -> &mut crate::KrylovOptions {
                &mut self.frame.options
            }

            fn history(&self) -> &[f64] {
                &self.frame.history
            }

            fn solve_with(
                &mut self,
                a: &dyn crate::LinearOperator,
                m: &dyn crate::Preconditioner,
                b: &[f64],
                x: &mut [f64],
            ) -> Result<crate::KrylovReport, pliant_solvers::SolveError> {
                crate::drive::drive(&mut self.work, &mut self.frame, a, m, b, x)
            }
        }
    };
}
pub(crate) use krylov_solver;

/// Sets the lengths of work vectors.
pub(crate) fn resize_all<const K: usize>(vectors: [&mut Vec<f64>; K], n: usize) {
    for v in vectors {
        v.clear();
        v.resize(n, 0.0);
    }
}

/// `u^T v` if it is positive; zero if it is so up to rounding; `None` if it is negative (or NaN).
pub(crate) fn positive_product(u: &[f64], v: &[f64]) -> Option<f64> {
    let sum = dot(u, v);
    if sum > 0.0 {
        return Some(sum);
    }
    let size: f64 = u.iter().zip(v).map(|(u, v)| (u * v).abs()).sum();
    if sum.abs() <= 8.0 * u.len() as f64 * f64::EPSILON * size {
        Some(0.0)
    } else {
        None
    }
}
