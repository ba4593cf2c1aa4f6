//! Stiffness or compliance, where the model leaves it open.

use super::System;
use crate::Error;
use crate::contact::step;
use crate::motion::{Motion, Treatments};
use pliant_kkt::Assembler;
use pliant_model::{ComponentId, ElementIndex, Evaluation, ModelError, RowGroup, Treatment};

/// Above this `h^2 k / m` a spring on a nonlinear mapping is better a compliance: its deformation
/// at the end of a step holds the curvature of the motion, which as a stiffness is multiplied by
/// `k` (see `system/rows.rs`).
const CURVED: f64 = 10.0;

/// Above this `h^2 k / m` a spring on a linear mapping is better a compliance: the condition of `W`
/// is about the ratio, so that as a stiffness the other forces lose its digits. Below, rows would
/// cost more than they give.
const LINEAR: f64 = 1e4;

/// Choices are looked at again when the step has changed by this factor.
const AGAIN: f64 = 2.0;

/// How a force field that left it open is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TreatmentChoice {
    /// The force field.
    pub component: ComponentId,
    /// [`Treatment::Stiffness`] or [`Treatment::Compliance`].
    pub treatment: Treatment,
    /// Largest `h^2 k / m` of its coordinates, with the effective mass of each when the choice was
    /// made.
    pub ratio: f64,
    /// The ratio above which it is a compliance.
    pub limit: f64,
}

impl System {
    /// Whether treatments are to be chosen for steps of length `h` (s): some are left open, and
    /// nothing suitable was chosen.
    pub fn chooses_treatments(&self, motion: &Motion, h: f64) -> bool {
        let chosen = motion.treatments.chosen_for;
        let suits = chosen.is_some_and(|before| h <= AGAIN * before && before <= AGAIN * h);
        !suits && self.model.force_fields().iter().any(|f| f.component.automatic)
    }

    /// Chooses the treatments for steps of length `h` (s), if there is something to choose and
    /// nothing suitable was chosen. Returns the row groups of before where these change: then the
    /// system is to be planned anew ([`plan_anew`](Self::plan_anew)).
    pub fn choose_treatments(&mut self, motion: &mut Motion, h: f64) -> Result<Option<Vec<RowGroup>>, Error> {
        if !self.chooses_treatments(motion, h) {
            return Ok(None);
        }
        self.evaluation.evaluate(&self.model, &motion.state)?;
        let ratios = self
            .assembler
            .stiffness_ratios(&self.model, &mut self.evaluation, &motion.state, h);
        motion.treatments.choices.clear();
        let before = self.model.row_groups().to_vec();
        let mut changed = false;
        for found in ratios {
            let limit = if found.linear { LINEAR } else { CURVED };
            // Without a mass the stiffness is all that holds a coordinate in W.
            let soft = found.ratio <= limit || !found.ratio.is_finite();
            let treatment = if soft {
                Treatment::Stiffness
            } else {
                Treatment::Compliance
            };
            changed |= self.model.choose_treatment(found.force_field, treatment);
            motion.treatments.choices.push(TreatmentChoice {
                component: ComponentId::ForceField(found.force_field),
                treatment,
                ratio: found.ratio,
                limit,
            });
        }
        motion.treatments.chosen_for = Some(h);
        Ok(changed.then_some(before))
    }

    /// Plans the system again after the rows of the model have changed; multipliers of components
    /// that keep rows are kept. Nothing may be asleep.
    pub fn plan_anew(&mut self, motion: &mut Motion, before: &[RowGroup]) -> Result<(), Error> {
        self.sleep.forget_rows();
        let fixed = self.assembler.system().fixed.clone();
        let rows = self.model.row_count();
        let after = self.model.row_groups().to_vec();
        self.evaluation = Evaluation::new(&self.model);
        self.evaluation.propagate(&self.model, &mut motion.state)?;
        self.evaluation.evaluate(&self.model, &motion.state)?;
        let transient = self.contacts.as_ref().map_or(&[][..], |c| c.detection.nodes());
        self.assembler = Assembler::with_transient(&self.model, &self.evaluation, transient)?;
        self.assembler.fixed_mut().copy_from_slice(&fixed);
        self.solver.forget();
        self.corrections.direct.forget(None);
        step::forget_choices(self);
        for list in [&mut motion.multipliers, &mut motion.lagged] {
            let old = std::mem::replace(list, vec![0.0; rows]);
            for to in &after {
                if let Some(from) = before.iter().find(|g| g.component == to.component) {
                    let size = to.size * to.count;
                    list[to.first_row..to.first_row + size]
                        .copy_from_slice(&old[from.first_row..from.first_row + size]);
                }
            }
        }
        self.rows.soft.clear();
        self.rows.soft.resize(rows, true);
        self.rows.law_force.resize(rows, 0.0);
        self.find_undetermined_rows(&motion.state);
        self.rows.group_of_field = group_of_field(&self.model);
        motion.fresh = true;
        self.counters.plans += 1;
        self.plan_row_motion(motion.time);
        Ok(())
    }

    /// Releases exactly the force fields and constraints of a list. Returns the row groups of
    /// before where that changes anything: then the system is to be planned anew
    /// ([`plan_anew`](Self::plan_anew)).
    ///
    /// # Errors
    /// [`Error::Model`] for components that the model does not have, and masses.
    pub fn release(&mut self, list: &[ComponentId]) -> Result<Option<Vec<RowGroup>>, Error> {
        let before = self.model.row_groups().to_vec();
        let changed = self.model.release(list)?;
        Ok(changed.then_some(before))
    }

    /// Takes exactly the elements of a list out of the model
    /// ([`Problem::remove_elements`](pliant_model::Problem::remove_elements)), and brings the motion
    /// to where they are at rest. Says whether that changed anything: then the system is to be
    /// planned anew ([`plan_anew`](Self::plan_anew)).
    ///
    /// # Errors
    /// [`Error::Model`] for elements that cannot be taken out; then nothing changes.
    pub fn remove(&mut self, motion: &mut Motion, list: &[ElementIndex]) -> Result<bool, Error> {
        if !self.model.remove_elements(list)? {
            return Ok(false);
        }
        self.model.bring_to_rest(&mut motion.state)?;
        for group in self.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            for (k, row) in rows.enumerate() {
                let (node, element) = (group.node.index(), k / group.size);
                if self.model.is_gone(ElementIndex { node, element }) {
                    motion.multipliers[row] = 0.0;
                    motion.lagged[row] = 0.0;
                }
            }
        }
        Ok(true)
    }

    /// Treats force fields as was chosen for another motion; before the first choice they are
    /// stiffnesses. Returns the row groups of before where these change, as
    /// [`choose_treatments`](Self::choose_treatments) does.
    ///
    /// # Errors
    /// [`Error::Model`] for choices of another model.
    pub fn impose_treatments(&mut self, chosen: &Treatments) -> Result<Option<Vec<RowGroup>>, Error> {
        let before = self.model.row_groups().to_vec();
        let open = self.model.force_fields().iter().filter(|f| f.component.automatic);
        let expected = open.count();
        let choices = &chosen.choices;
        let known = |c: &TreatmentChoice| match c.component {
            ComponentId::ForceField(i) => {
                let field = self.model.force_fields().get(i);
                field.is_some_and(|f| f.component.automatic)
            }
            _ => false,
        };
        let found = choices.iter().filter(|c| known(c)).count();
        if chosen.chosen_for.is_some() && (found != expected || choices.len() != expected) {
            let what = "treatments";
            return Err(ModelError::State {
                what,
                expected,
                found,
            }
            .into());
        }
        let mut changed = false;
        for i in 0..self.model.force_fields().len() {
            let choice = choices.iter().find(|c| c.component == ComponentId::ForceField(i));
            let treatment = choice.map_or(Treatment::Stiffness, |c| c.treatment);
            changed |= self.model.choose_treatment(i, treatment);
        }
        Ok(changed.then_some(before))
    }
}

/// The row group of each force field that has rows.
pub(crate) fn group_of_field(model: &pliant_model::Problem) -> Vec<Option<usize>> {
    let group_of = |i| {
        let groups = model.row_groups();
        groups
            .iter()
            .position(|g| g.component == ComponentId::ForceField(i))
    };
    (0..model.force_fields().len()).map(group_of).collect()
}
