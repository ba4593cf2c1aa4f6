//! Saving what changes, and going back to it.

use super::Simulation;
use crate::{Checkpoint, Error};
use pliant_model::{Energies, ModelError};

impl Simulation {
    /// All that changes, as plain values.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            time: self.time,
            state: self.state.clone(),
            multipliers: self.multipliers.clone(),
            lagged: self.lagged.clone(),
            fixed: self.assembler.system().fixed.clone(),
            dissipated: self.dissipated,
            ledger: self.books,
            held: self.held.clone(),
            external: self.external.clone(),
            fresh: self.fresh,
            inputs: self.model.parameters().inputs().to_vec(),
            integrator: self.memory.clone(),
            adaptive: self.adaptive.memory,
            treatments: self.treatments_as_chosen(),
            elimination: self.solver.elimination().cloned(),
            correction_elimination: self.corrector.elimination().cloned(),
            contacts: self.contact_memory(),
            sleep: self.sleep_memory(),
            active_set: self.solver.active_set().to_vec(),
        }
    }

    /// Goes back to a checkpoint of the same model.
    ///
    /// # Errors
    /// [`Error::Model`] if it does not fit; then nothing changes.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let before = self.checkpoint();
        let found = self.go_to(checkpoint);
        if found.is_err() {
            self.go_to(&before)?;
        }
        found
    }

    fn go_to(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.restore_treatments(&checkpoint.treatments)?;
        self.check_checkpoint(checkpoint)?;
        self.restore_inputs(&checkpoint.inputs)?;
        self.take_state(&checkpoint.state)?;
        self.time = checkpoint.time;
        self.multipliers.copy_from_slice(&checkpoint.multipliers);
        self.lagged.copy_from_slice(&checkpoint.lagged);
        self.assembler.fixed_mut().copy_from_slice(&checkpoint.fixed);
        self.dissipated = checkpoint.dissipated;
        self.books = checkpoint.ledger;
        self.held.copy_from_slice(&checkpoint.held);
        self.external.copy_from_slice(&checkpoint.external);
        self.fresh = checkpoint.fresh;
        self.memory.clone_from(&checkpoint.integrator);
        self.adaptive.memory = checkpoint.adaptive;
        self.solver.forget(checkpoint.elimination.clone());
        self.solver.impose_active_set(&checkpoint.active_set);
        self.corrector.forget(checkpoint.correction_elimination.clone());
        self.restore_sleep(&checkpoint.sleep);
        self.restore_contacts(checkpoint)
    }

    /// Whether a checkpoint fits the rows that there are, and is finite.
    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let sizes = [
            (
                "multipliers",
                self.multipliers.len(),
                checkpoint.multipliers.len(),
            ),
            ("multipliers", self.lagged.len(), checkpoint.lagged.len()),
            ("fixed coordinates", self.impulse.len(), checkpoint.fixed.len()),
            ("held velocities", self.impulse.len(), checkpoint.held.len()),
            ("forces", self.external.len(), checkpoint.external.len()),
            (
                "inputs",
                self.model.parameters().inputs().len(),
                checkpoint.inputs.len(),
            ),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(ModelError::State {
                    what,
                    expected,
                    found,
                }
                .into());
            }
        }
        self.check_sleep(&checkpoint.sleep)?;
        let books = &checkpoint.ledger;
        let Energies { kinetic, potential } = books.energies.unwrap_or_default();
        let crate::AdaptiveMemory {
            next,
            error,
            slow,
            window,
            ..
        } = checkpoint.adaptive;
        let adaptive = [next.unwrap_or(0.0), error.unwrap_or(0.0), slow, window];
        let numbers = [
            &adaptive[..],
            &[
                checkpoint.time,
                checkpoint.dissipated,
                books.inputs,
                books.overlap,
                kinetic,
                potential,
            ][..],
            &checkpoint.multipliers,
        ];
        let numbers = numbers
            .into_iter()
            .chain([&checkpoint.lagged[..], &checkpoint.held, &checkpoint.external])
            .chain([
                &checkpoint.integrator.vectors[..],
                checkpoint.integrator.previous.as_slice(),
            ])
            .flatten();
        if let Some(value) = numbers.into_iter().find(|x| !x.is_finite()) {
            let name = "the checkpoint".to_owned();
            return Err(ModelError::NotFinite {
                name,
                what: "a number",
                value: *value,
            }
            .into());
        }
        Ok(())
    }
}
