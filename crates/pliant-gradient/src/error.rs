//! Why there is no derivative.

use pliant_kkt::KktError;
use pliant_model::ModelError;
use pliant_solvers::SolveError;

/// Why a step or a state of rest has no derivative, or none that was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// From the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// From the plan of the linear system.
    #[error(transparent)]
    Plan(#[from] KktError),
    /// From a linear solver.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A part of the model or of the step has no derivative here.
    #[error("there is no derivative of {what}: {why}")]
    NotBuilt {
        /// The part, in the user's words.
        what: String,
        /// Why, or how to do without.
        why: &'static str,
    },
    /// A parameter is not a number of the elements of a node alone.
    #[error("parameter {parameter} has no gradient by each element of `{node}`: it moves {moved}, too")]
    NotOfElements {
        /// The parameter.
        parameter: usize,
        /// The node.
        node: String,
        /// Which else it moves.
        moved: String,
    },
    /// The equations do not hold at what is to be differentiated, so that their solution is not
    /// what it is.
    #[error(
        "the equations miss {share:.1e} of the terms of {place}, more than {limit:.0e}: a derivative would be that of other equations. Something else moved it (a step that was halved, a limit that was met, a correction of positions), or the step did not converge"
    )]
    NotSolved {
        /// The coordinate or row.
        place: String,
        /// The share of its terms that is missed.
        share: f64,
        /// The largest share that is taken.
        limit: f64,
    },
    /// The equations are singular.
    #[error(
        "the equations are singular at {place}, so that there is no derivative: at a limit or branch point, or where nothing holds it"
    )]
    Singular {
        /// The coordinate or row.
        place: String,
    },
    /// The linear equations of the derivative were not solved.
    #[error(
        "the linear equations of the derivative were solved to {change:.1e} of the answer, not to {limit:.0e}: the matrix is (nearly) singular, as at a limit point, or the step is too long for its curvature"
    )]
    NotConverged {
        /// Last change as a share of the answer.
        change: f64,
        /// The largest change that is taken.
        limit: f64,
    },
    /// A model of other parameters has another structure.
    #[error("the model with {what} has {found} {of}, not {expected}: a derivative needs the same structure")]
    Structure {
        /// The parameters.
        what: String,
        /// Name of the counted parts.
        of: &'static str,
        /// Their number in the model itself.
        expected: usize,
        /// Their number with the other parameters.
        found: usize,
    },
    /// There is no model with some parameters close to those asked for.
    #[error("a derivative compares models of parameters close by, and there is none: {why}")]
    NoModel {
        /// Why.
        why: String,
    },
    /// A number was asked for before it was found.
    #[error("{what}")]
    NotReady {
        /// The call that has to come before.
        what: &'static str,
    },
    /// A scale by which a parameter cannot be moved.
    #[error(
        "the scale of parameter {parameter} is {scale}: it has to be a number other than zero, of the size of the parameter"
    )]
    Scale {
        /// The parameter.
        parameter: usize,
        /// The scale.
        scale: f64,
    },
    /// No step with smoothed contacts was found.
    #[error(
        "no step with contacts smoothed by {energy} J was found: the equations miss {share:.1e} of the terms of {place}; take a higher energy"
    )]
    NotSmoothed {
        /// The energy (J).
        energy: f64,
        /// The unknown whose equation misses most.
        place: String,
        /// The share of its terms that it misses.
        share: f64,
    },
    /// An energy that smoothes nothing.
    #[error("contacts are smoothed by an energy above zero (J), not {energy}")]
    Smoothing {
        /// The energy (J).
        energy: f64,
    },
    /// Weights of the end of a step that are none.
    #[error("weights of the end of a step are above 0 and at most 1: `alpha` is {alpha}, `beta` {beta}")]
    Weights {
        /// Weight in forces.
        alpha: f64,
        /// Weight in velocities.
        beta: f64,
    },
    /// An index of nothing.
    #[error("there is no {what} {index}: there are {count}")]
    Index {
        /// Kind of the indexed part.
        what: &'static str,
        /// The index.
        index: usize,
        /// Their number.
        count: usize,
    },
    /// A vector of the wrong length.
    #[error("{what}: {expected} numbers are needed, {found} were given")]
    Length {
        /// The vector.
        what: &'static str,
        /// Its length.
        expected: usize,
        /// The given one.
        found: usize,
    },
}
