//! Condense a part of a matrix onto its ends (static condensation, substructuring).
//!
//! `S = N - B K^-1 B^T`. A chain of `n + 1` springs of stiffness `k` with `n` points inside has at
//! its two ends the stiffness of one spring, `k / (n + 1) [1 -1; -1 1]`.
//!
//! `cargo run --release -p pliant-sparse --example schur_complement`

use pliant_sparse::{
    BlockPattern, BlockSymbolic, ComplementPattern, ComplementSymbolic, Graph, PivotRule, SparseError,
    Threads,
};

fn main() -> Result<(), SparseError> {
    let (n, k) = (24, 700.0);
    let mut inside = Graph::new(n);
    (1..n).for_each(|v| inside.connect(v - 1, v));
    let bounds: Vec<usize> = (0..=n).collect();
    let pattern = BlockPattern::new(&bounds, &inside)?;
    // Two rows below: end 0 is coupled to the first point, end 1 to the last.
    let couplings = [(0, 0), (1, n as u32 - 1)];
    let ends = ComplementPattern::new(&[0, 1, 2], &pattern, &couplings, &[])?;
    let ends = ComplementSymbolic::new(&pattern, ends)?;
    let symbolic = BlockSymbolic::new(pattern)?;
    let (mut factor, mut complement) = (symbolic.allocate(), ends.allocate());
    for v in 0..n {
        for (w, value) in [(v, 2.0 * k), (v.max(1) - 1, -k)] {
            if let Some(slot) = symbolic.slot(v, w).filter(|_| w == v || value < 0.0) {
                factor.values_mut()[slot] = value;
            }
        }
    }
    factor.values_mut()[0] = 2.0 * k;
    let (rows, own) = complement.parts_mut();
    for (end, point) in [(0, 0), (1, n - 1)] {
        if let (Some(row), Some(diagonal)) = (ends.slot(&symbolic, end, point), ends.own_slot(end, end)) {
            rows[row] = -k;
            own[diagonal] = k;
        }
    }
    factor.factor(&symbolic, PivotRule::Keep)?;
    complement.compute((&symbolic, &factor), &ends, &Threads::one())?;
    let entry = |i, j| {
        ends.own_slot(i, j)
            .map_or(f64::NAN, |slot| complement.own()[slot])
    };
    let found = [entry(0, 0), entry(1, 0), entry(1, 1)];
    let expected = k / (n + 1) as f64;
    println!("stiffness at the ends: {found:.9?}, expected {expected:.9}");
    for (s, sign) in found.iter().zip([1.0, -1.0, 1.0]) {
        assert!((s - sign * expected).abs() < 1e-13 * k * n as f64);
    }
    Ok(())
}
