//! Saving what changes, and going back to it.

use super::Simulation;
use crate::{Checkpoint, Error};
use pliant_model::{Energies, Field, LeanState, ModelError, State};
use pliant_solvers::KktSystem;
use pliant_stepper::contact::step;
use pliant_stepper::motion::{MemoryChanges, SolverMemory};
use pliant_stepper::sleep;

/// The moment before a step: with the motion at its start it is a checkpoint.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The memory of the solvers, and the state of it that was written last.
    solver: SolverMemory,
    changes: MemoryChanges,
    /// Whether the start of the step is that of the simulation; till then the motion is as it was.
    pub(super) begun: bool,
    /// The whole checkpoint, where the step may change what comes before its start: the treatments,
    /// the islands that sleep, or the velocities of a state that was set.
    whole: Option<Box<Whole>>,
    /// The linear system of the step, where it failed and going back planned another one.
    pub(super) failed: Option<Box<KktSystem>>,
}

/// A checkpoint whose state is without what follows from the rest.
#[derive(Debug, Default)]
struct Whole {
    checkpoint: Checkpoint,
    state: LeanState,
}

impl Simulation {
    /// Keeps the moment before a step of length `h` (s).
    pub(super) fn record_before(&mut self, h: f64, keep_treatments: bool) {
        self.before.begun = false;
        self.before.failed = None;
        let chooses = !keep_treatments && self.system.chooses_treatments(&self.motion, h);
        if chooses || self.motion.fresh || self.options.contacts.sleeping.is_some() {
            let mut whole = self.before.whole.take().unwrap_or_default();
            whole.state.take(&self.system.model, &self.motion.state);
            let state = std::mem::take(&mut self.motion.state);
            self.record_checkpoint(&mut whole.checkpoint);
            self.motion.state = state;
            self.before.whole = Some(whole);
        } else {
            self.before.whole = None;
            let Before { solver, changes, .. } = &mut self.before;
            self.system.record_changes(solver, changes);
        }
    }

    /// Goes back to the moment before the step.
    pub(crate) fn go_back(&mut self) -> Result<(), Error> {
        let mut before = std::mem::take(&mut self.before);
        if before.begun && before.whole.is_some() {
            before.failed = Some(Box::new(self.system.assembler.system().clone()));
        }
        let back = match &mut before.whole {
            Some(whole) => {
                let Whole { checkpoint, state } = &mut **whole;
                // What a step that failed left in the motion is not looked at.
                let present = &self.motion.state;
                checkpoint.state = State {
                    positions: vec![0.0; present.positions.len()],
                    velocities: vec![0.0; present.velocities.len()],
                    internal: Vec::new(),
                };
                state.write(&self.system.model, &mut checkpoint.state);
                let back = self.go_to(checkpoint);
                checkpoint.state = State::default();
                back
            }
            None if !before.begun => Ok(()),
            None => {
                self.motion.clone_from(&self.start);
                let mut start = Checkpoint::default();
                self.record_checkpoint(&mut start);
                start.solver.clone_from(&before.solver);
                self.go_to(&start)
            }
        };
        self.before = before;
        back
    }

    /// Keeps the linear system of the step that failed, before another one is filled to explain it.
    pub(crate) fn keep_failed_system(&mut self) {
        let present = self.system.assembler.system();
        self.before
            .failed
            .get_or_insert_with(|| Box::new(present.clone()));
    }

    /// Calls a function that takes steps of its own and goes back to the present motion, and keeps
    /// the linear system and the contact problem of the step that failed to be looked at.
    pub(crate) fn keeping_failed_systems<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let failed = self.before.failed.take();
        let of_contacts = self
            .system
            .contacts
            .as_mut()
            .and_then(|c| c.observed.failed.take());
        let out = act(self);
        self.before.failed = failed;
        if let Some(contacts) = &mut self.system.contacts {
            contacts.observed.failed = of_contacts;
        }
        out
    }

    /// The present motion, as plain values.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut out = Checkpoint::default();
        self.record_checkpoint(&mut out);
        out
    }

    /// Writes a [`checkpoint`](Self::checkpoint) into one that is there, and allocates nothing if
    /// it is of this model.
    pub fn record_checkpoint(&self, out: &mut Checkpoint) {
        // Those of the motion are not complete, and smaller; it has the active set alone.
        let mut solver = std::mem::take(&mut out.solver);
        std::mem::swap(&mut out.solver.active_set, &mut solver.active_set);
        out.clone_from(&self.motion);
        std::mem::swap(&mut out.solver.active_set, &mut solver.active_set);
        out.solver = solver;
        out.controls
            .fixed
            .clone_from(&self.system.assembler.system().fixed);
        out.controls.inputs.clear();
        out.controls
            .inputs
            .extend_from_slice(self.system.model.parameters().inputs());
        self.system.record_solvers(&mut out.solver);
    }

    /// The present motion as one of the model whose elements no processes
    /// [share out](pliant_model::Model::share_out), for a run over another number of processes:
    /// [`restore`](Self::restore) takes both.
    pub fn wide_checkpoint(&self) -> Checkpoint {
        let mut out = self.checkpoint();
        let model = self.model();
        if model.shared_elements().is_some() {
            out.state = model.widen_state(&out.state);
            out.controls.external = model.widen_velocities(&out.controls.external);
        }
        out
    }

    /// Goes back to a checkpoint of the same model.
    ///
    /// # Errors
    /// [`Error::Model`] if it does not fit; then nothing changes.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let model = self.model();
        let own = self.state().positions.len();
        if model.shared_elements().is_some() && checkpoint.state.positions.len() != own {
            let mut narrow = checkpoint.clone();
            narrow.state = model.narrow_state(&checkpoint.state);
            narrow.controls.external = model.narrow_velocities(&checkpoint.controls.external);
            return self.restore_own(&narrow);
        }
        self.restore_own(checkpoint)
    }

    fn restore_own(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let before = self.checkpoint();
        let found = self.go_to(checkpoint);
        if found.is_err() {
            self.go_to(&before)?;
        }
        found
    }

    /// Goes back to the moment before something that failed, as [`restore`](Self::restore) does;
    /// the [`system`](Self::system) and the [`contact_problem`](Self::contact_problem) of the
    /// failure stay to be looked at until the next step.
    ///
    /// # Errors
    /// Those of [`restore`](Self::restore).
    pub fn undo(&mut self, before: &Checkpoint) -> Result<(), Error> {
        self.keep_failed_system();
        self.restore(before)
    }

    pub(crate) fn go_to(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        if let Some(before) = self.system.impose_treatments(&checkpoint.treatments)? {
            self.plan_anew(&before)?;
        }
        self.motion.treatments.clone_from(&checkpoint.treatments);
        self.impose_released(&checkpoint.controls.released)?;
        self.impose_removed(&checkpoint.controls.removed)?;
        self.check_checkpoint(checkpoint)?;
        let (controls, solver) = (&checkpoint.controls, &checkpoint.solver);
        self.restore_inputs(&controls.inputs)?;
        self.take_state(&checkpoint.state)?;
        let treatments = std::mem::take(&mut self.motion.treatments);
        // The state as it was taken, to the bit: its mapped positions are those of this evaluation.
        let state = std::mem::take(&mut self.motion.state);
        self.motion.clone_from(checkpoint);
        (self.motion.state, self.motion.treatments) = (state, treatments);
        self.motion.solver = SolverMemory::default();
        self.system.assembler.fixed_mut().copy_from_slice(&controls.fixed);
        sleep::recall(&mut self.system, &checkpoint.sleep);
        step::restore(&mut self.system, &mut self.motion)?;
        self.system.restore_solvers(solver);
        Ok(())
    }

    /// Whether a checkpoint fits the rows that there are, and is finite.
    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let sizes = [
            (
                "multipliers",
                self.motion.multipliers.len(),
                checkpoint.multipliers.len(),
            ),
            ("multipliers", self.motion.lagged.len(), checkpoint.lagged.len()),
            (
                "forces of supports",
                self.motion.supports.len(),
                checkpoint.supports.len(),
            ),
            (
                "fixed coordinates",
                self.system.model.dof_count(),
                checkpoint.controls.fixed.len(),
            ),
            (
                "held velocities",
                self.system.model.dof_count(),
                checkpoint.controls.held.len(),
            ),
            (
                "forces",
                // None were set, or those of all nodes.
                match checkpoint.controls.external.len() {
                    0 => 0,
                    _ => self.system.model.velocity_count(),
                },
                checkpoint.controls.external.len(),
            ),
            (
                "inputs",
                self.system.model.parameters().inputs().len(),
                checkpoint.controls.inputs.len(),
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
        checkpoint.sleep.check(self.system.assembler.system())?;
        let ledger = &checkpoint.ledger;
        let Energies { kinetic, potential } = ledger.energies.unwrap_or_default();
        let budget = ledger.budget.unwrap_or_default();
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
                ledger.inputs,
                ledger.removed,
                ledger.overlap,
                kinetic,
                potential,
                budget.kinetic,
                budget.potential,
                budget.lowest,
                budget.worked,
                budget.made,
                budget.fall,
                budget.size,
            ][..],
            &checkpoint.multipliers,
        ];
        let numbers = numbers
            .into_iter()
            .chain([
                &checkpoint.lagged[..],
                &checkpoint.supports,
                &checkpoint.controls.held,
                &checkpoint.controls.external,
            ])
            .chain([
                &checkpoint.integrator.vectors[..],
                checkpoint.integrator.previous.as_slice(),
                checkpoint.integrator.before.as_slice(),
            ])
            .flatten();
        if let Some(value) = numbers.into_iter().find(|x| !x.is_finite()) {
            let name = "the checkpoint".to_owned();
            return Err(ModelError::NotFinite {
                name,
                field: Field::Other("a number"),
                index: None,
                value: *value,
            }
            .into());
        }
        Ok(())
    }
}
