//! Examination of the present moment: hard rows that follow from others, and directions in which
//! nothing has mass.

mod massless;

pub use massless::Massless;

use super::project::fill;
use crate::Error;
use crate::motion::Motion;
use crate::system::System;
use massless::find_massless;
use pliant_solvers::{DirectSolver, KktSystem};
use std::collections::BTreeMap;

/// Share of a unit combination of rows below which one has no part in it.
const PART: f64 = 1e-9;

/// Hard rows of two sides some of which follow from the others: of a combination of them no motion
/// changes anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DependentRows {
    /// The rows, ascending.
    pub rows: Vec<usize>,
    /// How many of them follow from the others.
    pub redundant: usize,
    /// By how much the rows are off (m, rad) that no motion takes back, to first order: the part of
    /// their gaps along the combinations that exert no force. Where it is not rounding, the rows
    /// contradict each other. Zero where velocities are held among them.
    pub apart: Vec<(usize, f64)>,
}

/// The findings about a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examination {
    /// Hard rows of two sides.
    pub hard_rows: usize,
    /// Hard rows that depend on each other, one entry for all that are connected by it.
    pub dependent: Vec<DependentRows>,
    /// Directions without mass that no hard row holds.
    pub massless: Vec<Massless>,
}

/// Examines the rank of the Jacobian of the hard rows of two sides, `J`, and of the mass matrix at
/// the present moment. The rank is that of a sparse factor with unit masses, so that it does not
/// depend on masses: rows whose pivots vanish, and their combinations `n` with `J^T n = 0`. Cost: an
/// evaluation and a factor.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, and those of the linear solver.
pub fn examine(system: &mut System, motion: &Motion) -> Result<Examination, Error> {
    system.set_row_motion(motion.time, motion.time);
    system.evaluation.evaluate(&system.model, &motion.state)?;
    fill(system, motion, |_, _, _| false);
    let massless = find_massless(system.assembler.system(), &system.model);
    let gaps = gaps(system, motion);
    let hard_rows = gaps.iter().filter(|gap| gap.is_some()).count();
    if hard_rows == 0 {
        return Ok(Examination {
            massless,
            ..Examination::default()
        });
    }
    let mut kkt = system.assembler.system().clone();
    with_unit_masses(&mut kkt);
    let mut solver = DirectSolver::default();
    let prepared = solver.prepare(&kkt);
    prepared.map_err(|e| Error::from_solver(e, &system.model, motion.time))?;
    Ok(Examination {
        hard_rows,
        dependent: grouped(&solver.null_vectors(), &gaps),
        massless,
    })
}

/// By how much a row that is examined is off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gap {
    /// Off by this (m, rad), of one that holds a position.
    Position(f64),
    /// None, of one that holds a velocity.
    Velocity,
}

/// The gaps of the rows that [`fill`] leaves active; `None` of the others.
fn gaps(system: &System, motion: &Motion) -> Vec<Option<Gap>> {
    let model = &system.model;
    let mut gaps = vec![None; model.row_count()];
    for group in model.row_groups() {
        let driven = model.motion(group).is_some();
        let bounded = model.bounds(group).is_some();
        let phi = model.positions(&motion.state, group.node);
        for (k, phi) in phi.iter().enumerate().take(group.size * group.count) {
            let row = group.first_row + k;
            if system.evaluation.holds_position(model, group, k) {
                gaps[row] = Some(Gap::Position(phi - system.row_target(row)));
            } else if driven && !bounded && system.row_is_hard(group, k) {
                gaps[row] = Some(Gap::Velocity);
            }
        }
    }
    gaps
}

/// Puts the identity in place of the response, which leaves the rank of the rows as it is.
fn with_unit_masses(kkt: &mut KktSystem) {
    let diagonals: Vec<usize> = (0..kkt.n())
        .map(|i| kkt.w.pattern().row_slots(i).end - 1)
        .collect();
    let values = kkt.w.values_mut();
    values.fill(0.0);
    diagonals.into_iter().for_each(|slot| values[slot] = 1.0);
    kkt.c.fill(0.0);
    kkt.b.fill(0.0);
}

/// Combinations of rows, those that share rows together, with what their gaps miss along them.
fn grouped(vectors: &[Vec<(usize, f64)>], gaps: &[Option<Gap>]) -> Vec<DependentRows> {
    let part = |vector: &[(usize, f64)]| -> Vec<(usize, f64)> {
        let largest = vector.iter().fold(0.0f64, |a, (_, q)| a.max(q.abs()));
        let has = |entry: &&(usize, f64)| entry.1.abs() > PART * largest;
        vector.iter().filter(has).copied().collect()
    };
    let vectors: Vec<_> = vectors.iter().map(|vector| part(vector)).collect();
    // The first of the vectors that are connected with each.
    let mut first: Vec<usize> = (0..vectors.len()).collect();
    let root = |first: &[usize], mut k: usize| {
        while first[k] != k {
            k = first[k];
        }
        k
    };
    let mut owners: BTreeMap<usize, usize> = BTreeMap::new();
    for (k, vector) in vectors.iter().enumerate() {
        for (row, _) in vector {
            let other = *owners.entry(*row).or_insert(k);
            let [a, b] = [root(&first, k), root(&first, other)];
            first[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Vec<&[(usize, f64)]>> = BTreeMap::new();
    for (k, vector) in vectors.iter().enumerate() {
        groups.entry(root(&first, k)).or_default().push(vector);
    }
    let group = |vectors: &Vec<&[(usize, f64)]>| {
        let mut apart: BTreeMap<usize, f64> = BTreeMap::new();
        for vector in vectors {
            let along = |entry: &(usize, f64)| match gaps[entry.0] {
                Some(Gap::Position(gap)) => Some(entry.1 * gap),
                _ => None,
            };
            let miss = vector.iter().map(along).sum::<Option<f64>>().unwrap_or(0.0);
            for (row, q) in *vector {
                *apart.entry(*row).or_default() += q * miss;
            }
        }
        DependentRows {
            rows: apart.keys().copied().collect(),
            redundant: vectors.len(),
            apart: apart.into_iter().collect(),
        }
    };
    groups.values().map(group).collect()
}
