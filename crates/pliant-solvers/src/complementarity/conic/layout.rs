//! The rows with cones of a system.

use crate::KktSystem;
use crate::bounds::BoundState;
use crate::complementarity::{Cone, ProblemError};
use pliant_sparse::{Pattern, PatternBuilder};

/// Which rows have cones or bounds, and of how many rows each cone is.
#[derive(Debug, Default)]
pub(in crate::complementarity) struct Layout {
    /// Pattern of `J` of the whole.
    pattern: Option<Pattern>,
    pub(in crate::complementarity) laws: Vec<Option<Cone>>,
    /// Row of the system of each row with a cone.
    pub(in crate::complementarity) rows: Vec<usize>,
    /// Boundaries of the cones among those rows.
    pub(in crate::complementarity) boundaries: Vec<usize>,
    /// State of each row of the system: [`BoundState::Both`] if it has a cone.
    pub(in crate::complementarity) states: Vec<BoundState>,
}

impl Layout {
    pub(in crate::complementarity) fn refill(
        &mut self,
        system: &KktSystem,
        cones: &[Option<Cone>],
    ) -> Result<(), ProblemError> {
        let Self {
            pattern,
            laws,
            rows,
            boundaries,
            states,
        } = self;
        rows.clear();
        boundaries.clear();
        boundaries.push(0);
        for (k, w) in system.row_blocks().windows(2).enumerate() {
            match cones[k] {
                Some(cone) if cone.rows() == w[1] - w[0] => {
                    rows.extend(w[0]..w[1]);
                    boundaries.push(rows.len());
                }
                Some(cone) => {
                    return Err(ProblemError::Size {
                        what: "a row block for its cone",
                        expected: cone.rows(),
                        found: w[1] - w[0],
                    });
                }
                None => {
                    for i in w[0]..w[1] {
                        let (lower, upper) = system.bounds[i];
                        if lower.is_finite() || upper.is_finite() {
                            rows.push(i);
                            boundaries.push(rows.len());
                        }
                    }
                }
            }
        }
        states.clear();
        states.resize(system.m(), BoundState::Free);
        rows.iter().for_each(|i| states[*i] = BoundState::Both);
        *pattern = Some(system.j.pattern().clone());
        laws.clear();
        laws.extend_from_slice(cones);
        Ok(())
    }

    /// Makes `held` the system without what its rows with cones take of the variables; its values
    /// are to come.
    pub(super) fn hold(
        &self,
        system: &KktSystem,
        builder: &mut PatternBuilder,
        held: &mut KktSystem,
    ) -> Result<(), ProblemError> {
        builder.reset(system.m(), system.n());
        for i in (0..system.m()).filter(|i| self.states[*i] != BoundState::Both) {
            for k in system.j.pattern().row(i) {
                builder.insert(i, *k as usize);
            }
        }
        let (w, r) = (system.w.pattern().clone(), system.r.pattern().clone());
        let patterns = [w, builder.build()?, r];
        held.refill(patterns, system.primal_blocks(), system.row_blocks())?;
        held.fixed.copy_from_slice(&system.fixed);
        Ok(())
    }

    /// Whether it is that of a system with the given cones, up to their numbers.
    pub(in crate::complementarity) fn fits(&self, system: &KktSystem, cones: &[Option<Cone>]) -> bool {
        let blocks = system.row_blocks();
        let bounded = |i: usize| system.bounds[i].0.is_finite() || system.bounds[i].1.is_finite();
        self.pattern.as_ref() == Some(system.j.pattern())
            && (0..cones.len()).all(|k| match (self.laws[k], cones[k]) {
                (Some(old), Some(new)) => old.rows() == new.rows(),
                (None, None) => {
                    (blocks[k]..blocks[k + 1]).all(|i| bounded(i) == (self.states[i] == BoundState::Both))
                }
                _ => false,
            })
    }

    /// Lists the cones of the rows that have one, with the given numbers.
    pub(super) fn list_cones(&mut self, system: &KktSystem, cones: &[Option<Cone>], list: &mut Vec<Cone>) {
        self.laws.clear();
        self.laws.extend_from_slice(cones);
        list.clear();
        for w in self.boundaries.windows(2) {
            let row = self.rows[w[0]];
            let block = system.row_blocks().partition_point(|first| *first <= row) - 1;
            let (lower, upper) = system.bounds[row];
            list.push(cones[block].unwrap_or(Cone::Box { lower, upper }));
        }
    }
}
