//! The spectrum of the linear systems of a scene: how hard they are, and where.

use crate::Runner;
use pliant::solvers::eigen::{EigenError, EigenOptions, Extreme, Spectrum, spectrum};
use pliant::solvers::{Equilibrated, Variable};
use pliant_scene::{BuiltScene, SceneError};

/// The error of the extreme eigenvalues as a share of themselves: the decade of a condition number is
/// what counts.
const TOLERANCE: f64 = 1e-3;

/// The spectrum of the KKT matrix that the first step of a scene solved last, without contacts.
#[derive(Clone, Debug)]
pub struct StepSpectrum {
    /// Degrees of freedom, with those that are held.
    pub unknowns: usize,
    /// Rows.
    pub rows: usize,
    /// The spectrum of the matrix as solvers see it: scaled by powers of two, so that the diagonal of
    /// `W` is one up to a factor of two.
    pub scaled: Spectrum,
    /// The spectrum of the matrix in SI units, or why it was not found.
    pub plain: Result<Spectrum, EigenError>,
    /// The unknowns with the largest parts in the weakest and the strongest direction of the scaled
    /// matrix, in words.
    pub directions: [Option<String>; 2],
}

/// Takes the first step of a scene and finds the spectrum of its matrix.
///
/// # Errors
/// [`SceneError`] of the scene and its first step; [`SceneError::Setting`] for scenes of statics,
/// and where eigenvalues are not found.
pub fn step_spectrum(scene: BuiltScene) -> Result<StepSpectrum, SceneError> {
    let places = scene.places.clone();
    let mut runner = Runner::new(scene)?.without_recording();
    if runner.is_static() {
        return Err(SceneError::Setting {
            message: "a spectrum is that of the matrix of a step, and the scene is of statics".to_owned(),
            help: Some("`pliant modes` finds eigenvalues about rest".to_owned()),
        });
    }
    runner.step().map_err(|e| places.error(e))?;
    let simulation = runner.simulation();
    let system = simulation.system();
    let options = EigenOptions {
        tolerance: TOLERANCE,
        ..EigenOptions::default()
    };
    let refuse = |error: String| SceneError::Setting {
        message: format!("the spectrum of the first step was not found: {error}"),
        help: None,
    };
    let scaled = Equilibrated::new(system).map_err(|e| refuse(e.to_string()))?;
    let scaled = spectrum(&scaled.system, options).map_err(|e| refuse(e.to_string()))?;
    let plain = spectrum(system, options);
    let name = |extreme: &Extreme| match extreme.variable {
        Variable::Dof(dof) => simulation.model().describe_dof(dof),
        Variable::Row(row) => simulation.problem().describe_row(row),
    };
    let directions = [&scaled.weakest, &scaled.strongest].map(|extreme| extreme.as_ref().map(name));
    Ok(StepSpectrum {
        unknowns: system.n(),
        rows: system.m(),
        scaled,
        plain,
        directions,
    })
}
