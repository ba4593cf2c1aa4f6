//! The memory of SDIRK2: expectations of the next step, and the error of the last one.

use super::{Expectations, GAIN, NAME, Sdirk2, Stage};
use crate::IntegratorMemory;
use crate::certificate::LocalError;
use crate::motion::Motion;
use crate::system::System;

/// The local error of positions over `h^3 x'''`: `3 g^2 - 2 g^3 - 1/6`. Of the two terms of that of
/// velocities this is the larger coefficient.
const ERROR: f64 = 0.040_440_114_519_881;

impl IntegratorMemory {
    /// Whether it is that of a step of SDIRK2 in two stages, of so many independent coordinates and
    /// rows. Its vectors are the accelerations and the multipliers of the second stage, and by how
    /// much both are above those of the first.
    pub fn is_of_two_stages(&self, coordinates: usize, rows: usize) -> bool {
        self.method == NAME && self.vectors.len() == 2 * (coordinates + rows)
    }
}

/// The memory of a motion whose last step was one of two stages, of this many coordinates and rows.
fn own_memory(start: &Motion, all: usize) -> Option<&[f64]> {
    let memory = &start.integrator;
    (memory.is_of_two_stages(all, 0) && !start.fresh).then_some(&memory.vectors)
}

/// Takes the memory of a part of the coordinates and rows of the model, which took the last step by
/// itself, into that of the others; changes as of steps of their length. Where either has none,
/// after an impact, nothing is expected there but the `multipliers` of the last step (N, N m), and
/// no error can be estimated.
pub(crate) fn take_part(
    from: &IntegratorMemory,
    dofs: &[bool],
    rows: &[bool],
    multipliers: &[f64],
    to: &mut IntegratorMemory,
) {
    let (n, all) = (dofs.len(), dofs.len() + rows.len());
    let [from_own, to_own] = [from, &*to].map(|memory| memory.is_of_two_stages(all, 0));
    if !from_own && !to_own {
        to.forget();
        return;
    }
    if !to_own {
        to.forget();
        to.method.push_str(NAME);
        to.vectors.resize(2 * all, 0.0);
        to.vectors[n..all].copy_from_slice(multipliers);
    }
    let lengths = from.previous.zip(to.previous);
    let scale = lengths.map_or(1.0, |(own, length)| length / own);
    let inside = dofs.iter().chain(rows).enumerate().filter(|(_, inside)| **inside);
    for (i, _) in inside {
        let last = if i < n { 0.0 } else { multipliers[i - n] };
        (to.vectors[i], to.vectors[all + i]) = match from_own {
            true => (from.vectors[i], scale * from.vectors[all + i]),
            false => (last, 0.0),
        };
    }
    to.previous = lengths.map(|(_, length)| length);
}

impl Sdirk2 {
    /// Expects the accelerations of the last stage, of this many coordinates, in the first one, and
    /// multipliers that go on as they did.
    pub(super) fn expect(&mut self, coordinates: usize, start: &Motion) {
        let Expectations {
            accelerations,
            multipliers,
            ..
        } = &mut self.expected;
        accelerations.clear();
        multipliers.clone_from(&start.multipliers);
        let all = coordinates + multipliers.len();
        self.change.clear();
        let Some(vectors) = own_memory(start, all) else {
            self.change.resize(all, 0.0);
            return;
        };
        let (last, change) = vectors.split_at(all);
        self.change.extend_from_slice(change);
        // At the rate of the last step.
        let mut on = last
            .iter()
            .zip(change)
            .map(|(last, change)| last + GAIN / (1.0 - GAIN) * change);
        accelerations.extend(on.by_ref().take(coordinates));
        multipliers.clear();
        multipliers.extend(on);
    }

    /// Estimate of the error of a step of two stages, of which this is the second, from the change
    /// of the accelerations within it, and of that change since the step before, if it was such a
    /// step.
    ///
    /// ```math
    /// e_x = c h^3 x''',   e_v = c h^3 x'''',   x''' = (a2 - a1)/((1 - g) h)
    /// ```
    pub(super) fn local_error(
        &self,
        system: &System,
        start: &Motion,
        stage: Stage<'_>,
    ) -> Option<LocalError> {
        let Stage { h, reach, .. } = stage;
        own_memory(start, system.model.dof_count() + start.multipliers.len())?;
        let previous = start.integrator.previous?;
        let ahead = 1.0 - GAIN;
        // The third derivative is known in the middle between both stages.
        let between = 0.5 * ((1.0 + GAIN) * h + ahead * previous);
        let ends = self.work.iterate.velocity.iter().zip(&self.velocity);
        let starts = self.velocity.iter().zip(&self.start);
        let mut out = LocalError::default();
        for (((v, from), (predictor, start)), last) in ends.zip(starts).zip(&self.change) {
            let (second, first) = ((v - from) / reach, (predictor - start) / (ahead * h));
            let jerk = (second - first) / (ahead * h);
            let snap = (jerk - last / (ahead * previous)) / between;
            out.position = out.position.max(ERROR * h.powi(3) * jerk.abs());
            out.velocity = out.velocity.max(ERROR * h.powi(3) * snap.abs());
        }
        Some(out)
    }

    /// Writes the forces of the last stage and their change within the step into the memory.
    pub(super) fn remember(&self, stage: Stage<'_>, memory: &mut IntegratorMemory) {
        let Stage { h, reach, .. } = stage;
        memory.forget();
        // An impact is no acceleration to be expected.
        if !stage.is_whole() {
            memory.method.push_str(NAME);
            memory.previous = Some(h);
            let (vectors, ahead) = (&mut memory.vectors, h - reach);
            let ends = self.work.iterate.velocity.iter().zip(&self.velocity);
            vectors.extend(ends.map(|(v, from)| (v - from) / reach));
            let impulses = self.work.iterate.mu.iter();
            vectors.extend(impulses.clone().map(|mu| mu / reach));
            let predictors = self.velocity.iter().zip(&self.start);
            for (i, (predictor, start)) in predictors.enumerate() {
                vectors.push(vectors[i] - (predictor - start) / ahead);
            }
            let firsts = impulses.zip(&self.first.multipliers);
            vectors.extend(firsts.map(|(mu, first)| mu / reach - first));
        }
    }
}
