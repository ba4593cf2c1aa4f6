//! The processes of a run: this one alone, or those that `mpirun` started, which share the elements
//! and spread the linear systems among them.
//!
//! All processes take the same steps of the same scene. The first one speaks, has the directory of
//! the results and writes checkpoints; the others keep neither pictures nor files.

use crate::arguments::Run;
use pliant_run::{Runner, SavedMoment};
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

/// Goes to the moment of a checkpoint.
fn go_to(runner: &mut Runner, moment: SavedMoment) -> Result<(), SceneError> {
    runner.go_to(moment).map_err(|e| refusal(e.to_string(), ""))
}

#[cfg(not(feature = "petsc"))]
mod alone {
    use super::{BuiltScene, Run, Runner, SavedMoment, SceneError, go_to, refusal};

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

        pub(crate) fn engage(&self, built: Result<BuiltScene, SceneError>) -> Result<BuiltScene, SceneError> {
            built
        }

        pub(crate) fn join(
            &self,
            mut runner: Runner,
            from: Option<SavedMoment>,
        ) -> Result<Runner, SceneError> {
            if let Some(moment) = from {
                go_to(&mut runner, moment)?;
            }
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
    use super::{BuiltScene, Run, Runner, SavedMoment, SceneError, go_to, refusal};
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

        /// Lets the elements of a scene be shared out among all processes, and its linear systems be
        /// solved by all of them. A scene that one of them does not have is an error of all.
        pub(crate) fn engage(&self, built: Result<BuiltScene, SceneError>) -> Result<BuiltScene, SceneError> {
            let Some(session) = &self.session else {
                return built;
            };
            let lacks = self.any(built.is_err());
            let mut scene = built?;
            if lacks {
                let help = "all of them must find the same files";
                return Err(refusal(
                    "another process does not have the scene".to_owned(),
                    help,
                ));
            }
            let help = "a run without `--distributed` takes it";
            let refused = match (&scene.statics, &scene.options.integrator) {
                (Some(plan), _) if plan.method() == StaticMethod::DynamicRelaxation => {
                    Some("dynamic relaxation, which solves no linear systems")
                }
                (Some(plan), _) if plan.method() == StaticMethod::ConjugateGradients => {
                    Some("conjugate gradients at rest, which solve no linear systems")
                }
                (Some(_), _) => None,
                (
                    None,
                    Integrator::SymplecticEuler
                    | Integrator::ForwardEuler
                    | Integrator::RungeKutta2
                    | Integrator::RungeKutta4,
                ) => Some("an explicit method, which has little to solve"),
                _ => None,
            };
            if let Some(what) = refused {
                return Err(refusal(format!("`--distributed` does not take {what}"), help));
            }
            scene.options.linear = LinearSolver::Provided(PROVIDER);
            let shared = scene.share_out(session.processes());
            shared.map_err(|error| refusal(error.to_string(), help))?;
            Ok(scene)
        }

        /// Makes this process one of the run: all go to the moment from which the one that speaks
        /// goes on, if that is not the start.
        pub(crate) fn join(
            &self,
            mut runner: Runner,
            from: Option<SavedMoment>,
        ) -> Result<Runner, SceneError> {
            if let Some(session) = &self.session {
                runner.set_processes(session.size());
                let bytes = from.as_ref().map(SavedMoment::to_bytes).transpose();
                let mut bytes = bytes.map_err(|e| refusal(e.to_string(), ""))?.unwrap_or_default();
                session.broadcast(&mut bytes).map_err(failed)?;
                if !self.speaks() && !bytes.is_empty() {
                    let moment = SavedMoment::from_bytes(&bytes).map_err(|e| refusal(e.to_string(), ""))?;
                    go_to(&mut runner, moment)?;
                }
            }
            if let Some(moment) = from {
                go_to(&mut runner, moment)?;
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
