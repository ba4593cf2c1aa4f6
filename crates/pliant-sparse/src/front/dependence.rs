//! Null vectors of the matrix from its factor, front by front: the dependence of a column without
//! a pivot.

use super::{FrontFactor, FrontSymbolic};
use crate::Dependence;

impl FrontFactor {
    /// `z = L^-T e` as [`BlockFactor::dependence`](crate::BlockFactor::dependence) has it, for a
    /// factor `L D L^T`. Cost: for the fronts that see entries, two operations for each of them
    /// and each of their columns, and a look at the rows of all in the subtree of the front of the
    /// unknown.
    ///
    /// # Panics
    /// If there is no such unknown.
    pub fn dependence(
        &self,
        symbolic: &FrontSymbolic,
        unknown: usize,
        negligible: f64,
        out: &mut Dependence,
    ) {
        out.begin(symbolic.size(), symbolic.len());
        let Dependence {
            values,
            blocks,
            entries,
            seen,
            ..
        } = out;
        let column = symbolic.position[unknown] as usize;
        let top = symbolic.front[symbolic.vertex[column] as usize] as usize;
        let mut largest = 1.0f64;
        for f in (symbolic.fronts[top].leftmost..=top).rev() {
            let front = &symbolic.fronts[f];
            seen.clear();
            let mut at = front.width;
            for v in symbolic.rows[front.rows.clone()].iter().map(|v| *v as usize) {
                let z = &values[symbolic.bounds[v]..symbolic.bounds[v + 1]];
                let entries = z.iter().zip(at..).filter(|(z, _)| **z != 0.0);
                seen.extend(entries.map(|(z, r)| (r as u32, *z)));
                at += z.len();
            }
            let mut columns = front.width;
            if f == top {
                columns = column - front.first;
                values[column] = 1.0;
                seen.push((columns as u32, 1.0));
            } else if seen.is_empty() {
                continue;
            }
            for k in (0..columns).rev() {
                let l = &self.values[front.values + k * front.height()..][..front.height()];
                let z = -seen.iter().map(|(r, z)| l[*r as usize] * z).sum::<f64>();
                largest = largest.max(z.abs());
                if z.abs() > negligible * largest {
                    values[front.first + k] = z;
                    seen.push((k as u32, z));
                }
            }
            blocks.push(f as u32);
        }
        for front in blocks.iter().map(|f| &symbolic.fronts[*f as usize]) {
            for c in front.first..front.first + front.width {
                let z = std::mem::take(&mut values[c]);
                if z.abs() > negligible * largest {
                    entries.push((symbolic.unknown[c], z));
                }
            }
        }
    }
}
