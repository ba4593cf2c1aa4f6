//! Stiffness or compliance, where the model leaves it open.

use super::Simulation;
use crate::Error;
use crate::motion::Treatments;
use pliant_kkt::Assembler;
use pliant_model::{ComponentId, Evaluation, ModelError, RowGroup, Treatment};

/// Above this `h^2 k / m` a spring on a nonlinear mapping is better a compliance: its deformation at the end of a step holds the
/// curvature of the motion, which as a stiffness is multiplied by `k` (see `simulation/multipliers.rs`).
const CURVED: f64 = 10.0;

/// Above this `h^2 k / m` a spring on a linear mapping is better a compliance: the condition of `W` is about the ratio, so that
/// as a stiffness the other forces lose its digits. Below, rows would cost more than they give.
const LINEAR: f64 = 1e4;

/// Choices are looked at again when the step has changed by this factor.
const AGAIN: f64 = 2.0;

/// How a force field that left it open is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreatmentChoice {
    /// The force field.
    pub component: ComponentId,
    /// [`Treatment::Stiffness`] or [`Treatment::Compliance`].
    pub treatment: Treatment,
    /// Largest `h^2 k / m` of its coordinates, with the effective mass of each when the choice was made.
    pub ratio: f64,
    /// The ratio above which it is a compliance.
    pub limit: f64,
}

impl Simulation {
    /// How the force fields that were added as [`Treatment::Auto`] are treated, as of the last step; empty before the first.
    pub fn treatments(&self) -> &[TreatmentChoice] {
        &self.motion.treatments.choices
    }

    /// Chooses the treatments for steps of length `h`, if there is something to choose and nothing suitable was chosen.
    pub(super) fn choose_treatments(&mut self, h: f64) -> Result<(), Error> {
        let automatic = |m: &pliant_model::Model| m.force_fields().iter().any(|f| f.component.automatic);
        let chosen = self
            .motion
            .treatments
            .chosen_for
            .is_some_and(|before| h <= AGAIN * before && before <= AGAIN * h);
        if self.keep_treatments || chosen || !automatic(&self.system.model) {
            return Ok(());
        }
        self.system
            .evaluation
            .evaluate(&self.system.model, &self.motion.state)?;
        let ratios = self.system.assembler.stiffness_ratios(
            &self.system.model,
            &mut self.system.evaluation,
            &self.motion.state,
            h,
        );
        self.motion.treatments.choices.clear();
        let before = self.system.model.row_groups().to_vec();
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
            changed |= self.system.model.choose_treatment(found.force_field, treatment);
            self.motion.treatments.choices.push(TreatmentChoice {
                component: ComponentId::ForceField(found.force_field),
                treatment,
                ratio: found.ratio,
                limit,
            });
        }
        if changed {
            self.plan_anew(&before)?;
        }
        self.motion.treatments.chosen_for = Some(h);
        Ok(())
    }

    /// Plans the system again after the rows of the model have changed; multipliers of components that keep rows are kept.
    pub(super) fn plan_anew(&mut self, before: &[RowGroup]) -> Result<(), Error> {
        self.wake_all();
        self.system.sleep.rows.clear();
        let fixed = self.system.assembler.system().fixed.clone();
        let rows = self.system.model.row_count();
        let after = self.system.model.row_groups().to_vec();
        self.system.evaluation = Evaluation::new(&self.system.model);
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        self.system
            .evaluation
            .evaluate(&self.system.model, &self.motion.state)?;
        let transient = self
            .system
            .contacts
            .as_ref()
            .map_or(&[][..], |c| c.detection.nodes());
        self.system.assembler =
            Assembler::with_transient(&self.system.model, &self.system.evaluation, transient)?;
        self.system.assembler.fixed_mut().copy_from_slice(&fixed);
        self.system.solver.forget(None);
        self.system.corrector.forget(None);
        for list in [
            &mut self.motion.multipliers,
            &mut self.start.multipliers,
            &mut self.motion.lagged,
            &mut self.system.scratch.lag_for_step,
        ] {
            let old = std::mem::replace(list, vec![0.0; rows]);
            for to in &after {
                if let Some(from) = before.iter().find(|g| g.component == to.component) {
                    let size = to.size * to.count;
                    list[to.first_row..to.first_row + size]
                        .copy_from_slice(&old[from.first_row..from.first_row + size]);
                }
            }
        }
        self.system.rows.soft.clear();
        self.system.rows.soft.resize(rows, true);
        self.system.rows.law_force.resize(rows, 0.0);
        self.find_lawless_rows();
        self.system.rows.group_of_field = group_of_field(&self.system.model);
        self.motion.fresh = true;
        self.system.counters.plans += 1;
        self.plan_motion();
        Ok(())
    }

    /// Goes back to what was chosen; `None` is before the first choice, where what is open is a stiffness.
    pub(super) fn restore_treatments(&mut self, chosen: &Treatments) -> Result<(), Error> {
        let before = self.system.model.row_groups().to_vec();
        let open = self
            .system
            .model
            .force_fields()
            .iter()
            .filter(|f| f.component.automatic);
        let expected = open.count();
        let choices = &chosen.choices;
        let known = |c: &TreatmentChoice| match c.component {
            ComponentId::ForceField(i) => {
                let field = self.system.model.force_fields().get(i);
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
        for i in 0..self.system.model.force_fields().len() {
            let choice = choices.iter().find(|c| c.component == ComponentId::ForceField(i));
            let treatment = choice.map_or(Treatment::Stiffness, |c| c.treatment);
            changed |= self.system.model.choose_treatment(i, treatment);
        }
        self.motion.treatments.clone_from(chosen);
        if changed { self.plan_anew(&before) } else { Ok(()) }
    }
}

/// The row group of each force field that has rows.
pub(crate) fn group_of_field(model: &pliant_model::Model) -> Vec<Option<usize>> {
    let group_of = |i| {
        let groups = model.row_groups();
        groups
            .iter()
            .position(|g| g.component == ComponentId::ForceField(i))
    };
    (0..model.force_fields().len()).map(group_of).collect()
}
