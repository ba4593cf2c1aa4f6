//! Null vectors of the matrix from its factor: the dependence of a column without a pivot.

use super::{BlockFactor, BlockSymbolic, kernels};
use crate::Dependence;

/// See [`BlockFactor::dependence`].
pub(super) fn find(
    factor: &BlockFactor,
    symbolic: &BlockSymbolic,
    unknown: usize,
    negligible: f64,
    out: &mut Dependence,
) {
    let pattern = &symbolic.pattern;
    out.begin(symbolic.size(), pattern.len());
    let Dependence {
        values,
        marks,
        blocks,
        entries,
        ..
    } = out;
    let last = symbolic.vertex[unknown] as usize;
    let mut largest = 1.0f64;
    for j in (0..=last).rev() {
        let own = pattern.unknowns(j);
        if j == last {
            in_block(factor, symbolic, unknown, values);
        } else if pattern.column(j).iter().any(|i| marks[*i as usize]) {
            let below = pattern.column_range(j);
            let (before, rest) = values.split_at_mut(own.end);
            kernels::backward(
                &mut before[own.start..],
                &factor.inverses[own.clone()],
                rest,
                own.end,
                factor.column(symbolic, j),
                &symbolic.heights[below.clone()],
                &symbolic.places[below.clone()],
            );
        } else {
            continue;
        }
        largest = values[own.clone()].iter().fold(largest, |a, z| a.max(z.abs()));
        for z in &mut values[own.clone()] {
            if z.abs() <= negligible * largest {
                *z = 0.0;
            }
        }
        marks[j] = values[own].iter().any(|z| *z != 0.0);
        if marks[j] {
            blocks.push(j as u32);
        }
    }
    for j in blocks.iter().map(|j| *j as usize) {
        marks[j] = false;
        for i in pattern.unknowns(j) {
            let z = std::mem::take(&mut values[i]);
            if z.abs() > negligible * largest {
                entries.push((i as u32, z));
            }
        }
    }
}

/// The entries of `L^-T e` in the block of its unknown.
fn in_block(factor: &BlockFactor, symbolic: &BlockSymbolic, unknown: usize, values: &mut [f64]) {
    let j = symbolic.vertex[unknown] as usize;
    let (own, column) = (symbolic.pattern.unknowns(j), factor.column(symbolic, j));
    let width = own.len();
    let z = &mut values[own.clone()];
    z[unknown - own.start] = 1.0;
    for k in (0..unknown - own.start).rev() {
        for r in k + 1..=unknown - own.start {
            z[k] -= column[k * width + r] * z[r];
        }
    }
}
