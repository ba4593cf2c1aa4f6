//! The processes of a run: this one alone, or those that `mpirun` started, which spread the linear
//! systems among them.
//!
//! All processes take the same steps of the same scene. The first one speaks, has the directory of
//! the results and writes checkpoints; the others keep neither pictures nor files.

use crate::arguments::Run;
use pliant_run::Runner;
use pliant_scene::{BuiltScene, SceneError};

#[cfg(feature = "petsc")]
pub(crate) use spread::Team;

#[cfg(not(feature = "petsc"))]
pub(crate) use alone::Team;

fn refusal(message: String, help: &str) -> SceneError {
    SceneError::Setting {
        message,
        help: Some(help.to_owned()),
    }
}

#[cfg(not(feature = "petsc"))]
mod alone {
    use super::{BuiltScene, Run, Runner, SceneError, refusal};

    /// This process.
    #[derive(Debug)]
    pub(crate) struct Team;

    impl Team {
        /// Refuses to spread anything: nothing was built for it.
        pub(crate) fn begin(arguments: &Run) -> Result<Self, SceneError> {
            if !arguments.distributed {
                return Ok(Self);
            }
            let help = "where petsc-dev and libopenmpi-dev are installed, `cargo build --release -p pliant-cli \
                        --features petsc` builds one with it";
            let message = "this program was built without PETSc, which `--distributed` asks for";
            Err(refusal(message.to_owned(), help))
        }

        pub(crate) fn speaks(&self) -> bool {
            true
        }

        pub(crate) fn engage(&self, _: &mut BuiltScene) -> Result<(), SceneError> {
            Ok(())
        }

        pub(crate) fn join(&self, runner: Runner, _: bool) -> Result<Runner, SceneError> {
            Ok(runner)
        }

        pub(crate) fn worst(&self, code: u8) -> u8 {
            code
        }

        pub(crate) fn any(&self, stop: bool) -> bool {
            stop
        }
    }
}

#[cfg(feature = "petsc")]
mod spread {
    use super::{BuiltScene, Run, Runner, SceneError, refusal};
    use pliant::{Integrator, LinearSolver, StaticMethod};
    use pliant_petsc::{Error, PROVIDER, Session};

    /// The processes of a run.
    #[derive(Debug)]
    pub(crate) struct Team {
        session: Option<Session>,
    }

    impl Team {
        /// Begins MPI, if the arguments ask for it.
        pub(crate) fn begin(arguments: &Run) -> Result<Self, SceneError> {
            let session = arguments.distributed.then(Session::begin);
            let session = session.transpose().map_err(failed)?;
            Ok(Self { session })
        }

        /// Whether this is the process that speaks and writes.
        pub(crate) fn speaks(&self) -> bool {
            self.session.as_ref().is_none_or(|session| session.rank() == 0)
        }

        /// Lets the linear systems of a scene be solved by all processes.
        pub(crate) fn engage(&self, scene: &mut BuiltScene) -> Result<(), SceneError> {
            if self.session.is_none() {
                return Ok(());
            }
            let help = "a run without `--distributed` takes it";
            let refused = match (&scene.statics, &scene.options.integrator) {
                (Some(plan), _) if plan.method() == StaticMethod::DynamicRelaxation => {
                    Some("dynamic relaxation, which solves no linear systems")
                }
                (Some(_), _) => None,
                (None, Integrator::SymplecticEuler | Integrator::RungeKutta4) => {
                    Some("an explicit method, which has little to solve")
                }
                _ => None,
            };
            if let Some(what) = refused {
                return Err(refusal(format!("`--distributed` does not take {what}"), help));
            }
            scene.options.linear = LinearSolver::Provided(PROVIDER);
            Ok(())
        }

        /// Makes this process one of the run: those that do not speak keep no pictures, and go on
        /// from where the one that does begins, if that is not the start.
        pub(crate) fn join(&self, mut runner: Runner, has_gone_on: bool) -> Result<Runner, SceneError> {
            let Some(session) = &self.session else {
                return Ok(runner);
            };
            runner.set_processes(session.size());
            let mut moment = Vec::new();
            if has_gone_on && self.speaks() {
                moment = runner
                    .checkpoint_bytes()
                    .map_err(|e| refusal(e.to_string(), ""))?;
            }
            session.broadcast(&mut moment).map_err(failed)?;
            if !self.speaks() && !moment.is_empty() {
                let restored = runner.restore_bytes(&moment);
                restored.map_err(|e| refusal(e.to_string(), ""))?;
            }
            Ok(runner)
        }

        /// The largest exit code of all processes.
        pub(crate) fn worst(&self, code: u8) -> u8 {
            match &self.session {
                None => code,
                Some(session) => match session.largest(code.into()) {
                    Ok(worst) => worst as u8,
                    Err(_) => code.max(1),
                },
            }
        }

        /// Whether one of the processes is to stop.
        pub(crate) fn any(&self, stop: bool) -> bool {
            self.worst(stop.into()) > 0
        }
    }

    fn failed(error: Error) -> SceneError {
        refusal(
            error.to_string(),
            "`mpirun -n N pliant run --distributed` starts a run on N processes",
        )
    }
}
