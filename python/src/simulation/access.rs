//! How a simulation is used: one thread at a time, and without Python where that takes long.

use super::Simulation;
use crate::arrays::{self, Vector};
use crate::joint_space::{self, Part};
use crate::live::Mirror;
use crate::lock::{Broken, FairGuard, FairLock};
use crate::model::Model;
use crate::own::refuse_inside;
use crate::run::Run;
use crate::{errors, own};
use pliant::model::{ComponentId, NodeId};
use pliant::{Error, Simulation as Motion};
use pliant_run::Runner;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

impl Simulation {
    /// The run; waits for other threads that use it, and lets Python go on meanwhile.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<FairGuard<'_, Run>> {
        refuse_inside(py)?;
        let guard = self.runner.lock(|wait| py.detach(wait));
        guard.map_err(|_| errors::broken(py))
    }

    /// Does what may take long while other threads of Python go on.
    pub(crate) fn without_python<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Runner) -> T + Send,
    ) -> PyResult<T> {
        refuse_inside(py)?;
        let done = py.detach(|| {
            let mut run = self.wait()?;
            let done = work(&mut run);
            self.gather(&run);
            Ok(run.failure().map_or(Ok(done), Err))
        });
        self.mirror.show(py)?;
        done.map_err(|_: Broken| errors::broken(py))?
    }

    /// The run, for a thread that does not hold Python.
    pub(crate) fn wait(&self) -> Result<FairGuard<'_, Run>, Broken> {
        self.runner.lock(|wait| wait())
    }

    /// Looks at the state. Nothing of Python is made meanwhile but by components of one's own, so
    /// that no finaliser can wait for this lock; in these, it would be refused.
    pub(crate) fn read<T>(&self, py: Python<'_>, look: impl FnOnce(&Motion) -> T) -> PyResult<T> {
        let run = self.lock(py)?;
        let found = look(run.simulation());
        run.failure().map_or(Ok(found), Err)
    }

    /// Does what is asked of the state; a refusal is a `StateError`.
    pub(crate) fn set<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Motion) -> Result<T, Error>,
    ) -> PyResult<T> {
        self.change(py, |runner| work(runner.simulation_mut()))
    }

    /// Does what [`set`](Self::set) does and leaves live arrays as they are.
    pub(crate) fn set_unseen<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Motion) -> Result<T, Error>,
    ) -> PyResult<T> {
        self.change_unseen(py, |runner| work(runner.simulation_mut()))
    }

    /// Does what is asked of the run; a refusal is a `StateError`.
    pub(crate) fn change<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Runner) -> Result<T, Error>,
    ) -> PyResult<T> {
        let done = self.change_unseen(py, work);
        self.mirror.show(py)?;
        done
    }

    /// Does what [`change`](Self::change) does and leaves live arrays as they are, for whoever
    /// changes many simulations and then shows all of them.
    pub(crate) fn change_unseen<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Runner) -> Result<T, Error>,
    ) -> PyResult<T> {
        let mut run = self.lock(py)?;
        let done = work(&mut run);
        self.gather(&run);
        let failure = run.failure();
        drop(run);
        match failure {
            Some(exception) => Err(exception),
            None => done.map_err(|error| errors::state(py, &error)),
        }
    }

    /// Copies what live arrays show out of a run that has changed.
    pub(crate) fn gather(&self, run: &Run) {
        self.mirror.gather(run.simulation(), self.model());
    }

    pub(crate) fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    pub(crate) fn model(&self) -> &Model {
        self.model.get()
    }

    pub(crate) fn model_handle(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// A simulation that begins with a run.
    pub(crate) fn of(model: Py<Model>, runner: Run) -> Self {
        let runner = FairLock::new(runner);
        Self {
            model,
            runner,
            record: false,
            mirror: Mirror::default(),
        }
    }

    /// Number of coordinates of a component that can be driven.
    pub(crate) fn rows_of(&self, py: Python<'_>, id: ComponentId) -> PyResult<usize> {
        self.read(py, |simulation| {
            let mut groups = simulation.problem().row_groups().iter();
            groups.find(|g| g.component == id).map_or(1, |g| g.size * g.count)
        })
    }

    pub(super) fn coordinates<'py>(&self, py: Python<'py>, part: Part) -> PyResult<Vector<'py>> {
        let values = self.read(py, |s| joint_space::read(s, self.model(), part))?;
        Ok(arrays::vector(py, &values))
    }

    pub(crate) fn node_id(&self, py: Python<'_>, name: &str) -> PyResult<NodeId> {
        let found = self.read(py, |simulation| simulation.model().node_named(name))?;
        found.ok_or_else(|| {
            let all = self.model().outline().nodes.iter().map(String::as_str);
            errors::name(py, ["node", "nodes"], name, all)
        })
    }

    pub(crate) fn component(&self, py: Python<'_>, name: &str) -> PyResult<ComponentId> {
        let found = self.read(py, |simulation| simulation.model().component_named(name))?;
        found.ok_or_else(|| {
            let all = self.model().outline().components();
            errors::name(py, ["component", "components"], name, all)
        })
    }

    /// Another simulation at the same moment.
    pub(crate) fn twin(&self, py: Python<'_>) -> PyResult<Self> {
        let (bytes, pictures) = self.without_python(py, |runner| {
            let pictures = self.record.then(|| runner.recording().clone());
            (runner.checkpoint_bytes(), pictures)
        })?;
        let bytes = bytes.map_err(|error| errors::checkpoint(py, &error))?;
        let twin = Self::new(py, self.model.clone_ref(py), self.record)?;
        let restored = twin.without_python(py, |runner| {
            runner.restore_bytes(&bytes)?;
            if let Some(pictures) = pictures {
                runner.go_on_recording(pictures);
            }
            Ok(())
        })?;
        restored.map_err(|error| errors::checkpoint(py, &error))?;
        Ok(twin)
    }

    pub(super) fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let bytes = self.without_python(py, Runner::checkpoint_bytes)?;
        let bytes = bytes.map_err(|error| errors::checkpoint(py, &error))?;
        Ok(own::sign(self.model().parts(), bytes))
    }

    /// Goes to the moment of a checkpoint in anything that holds bytes.
    pub(super) fn take_any(&self, py: Python<'_>, checkpoint: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(bytes) = checkpoint.cast::<PyBytes>() {
            return self.take(py, bytes.as_bytes());
        }
        let bytes = PyMemoryView::from(checkpoint)?.call_method0("tobytes")?;
        self.take(py, bytes.cast::<PyBytes>()?.as_bytes())
    }

    pub(super) fn take(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let bytes = own::signed(self.model().parts(), bytes);
        let bytes = bytes.map_err(|text| errors::checkpoint_text(py, &text))?;
        self.without_python(py, |runner| runner.restore_bytes(bytes))?
            .map_err(|error| errors::checkpoint(py, &error))
    }
}
