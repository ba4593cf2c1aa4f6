//! All Krylov solvers, and matrices for them.

use pliant_krylov::{
    BiConjugateGradient, ConjugateGradient, ConjugateResidual, FlexibleMinimalResidual,
    GeneralMinimalResidual, KrylovOptions, KrylovSolver, MinimalResidual,
};
use pliant_sparse::{CsrMatrix, PatternBuilder};

/// Every Krylov solver, with its name.
pub(crate) fn krylov_solvers(options: KrylovOptions) -> Vec<(&'static str, Box<dyn KrylovSolver>)> {
    vec![
        ("CG", Box::new(ConjugateGradient::new(options))),
        ("CR", Box::new(ConjugateResidual::new(options))),
        ("MINRES", Box::new(MinimalResidual::new(options))),
        ("BiCGSTAB", Box::new(BiConjugateGradient::new(options))),
        ("GMRES", Box::new(GeneralMinimalResidual::new(options))),
        ("FGMRES", Box::new(FlexibleMinimalResidual::new(options))),
    ]
}

/// The lower triangle of a dense symmetric matrix, zeros left out but for the diagonal.
pub(crate) fn lower(n: usize, dense: &[f64]) -> CsrMatrix {
    let mut builder = PatternBuilder::new(n, n);
    let kept = |i: usize, k: usize| i == k || dense[i * n + k] != 0.0;
    for i in 0..n {
        (0..=i).filter(|k| kept(i, *k)).for_each(|k| builder.insert(i, k));
    }
    let mut a = builder.finish().unwrap().into_matrix();
    let values = (0..n).flat_map(|i| (0..=i).map(move |k| (i, k)));
    let values = values
        .filter(|(i, k)| kept(*i, *k))
        .map(|(i, k)| dense[i * n + k]);
    a.values_mut()
        .iter_mut()
        .zip(values)
        .for_each(|(slot, v)| *slot = v);
    a
}

/// The five-point Laplacian on `k x k` points.
pub(crate) fn laplacian(k: usize) -> CsrMatrix {
    let mut builder = PatternBuilder::new(k * k, k * k);
    for i in 0..k * k {
        builder.insert(i, i);
        if i % k > 0 {
            builder.insert(i, i - 1);
        }
        if i >= k {
            builder.insert(i, i - k);
        }
    }
    let mut a = builder.finish().unwrap().into_matrix();
    for i in 0..k * k {
        for slot in a.pattern().row_slots(i) {
            let diagonal = a.pattern().indices()[slot] as usize == i;
            a.values_mut()[slot] = if diagonal { 4.0 } else { -1.0 };
        }
    }
    a
}
