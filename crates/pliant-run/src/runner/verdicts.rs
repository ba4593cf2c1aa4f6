//! Kinds of errors that end a run.

/// Whether an error is about the linear system that was filled last.
pub(super) fn is_of_a_solve(error: &pliant::Error) -> bool {
    use pliant::Error;
    matches!(
        error,
        Error::NotPositiveDefinite { .. }
            | Error::NotFinite { .. }
            | Error::Incompatible { .. }
            | Error::Locked { .. }
            | Error::DrivenContact { .. }
            | Error::Unsettled { .. }
            | Error::NotConverged { .. }
            | Error::CorrectionNotConverged { .. }
            | Error::Solve(_)
    )
}

/// Says whether an error is that no answer was found within the accuracy asked for, or that there
/// is none; all others are that something cannot be asked, or broke down.
pub fn is_unsolved(error: &pliant::Error) -> bool {
    use pliant::Error;
    matches!(
        error,
        Error::NotConverged { .. }
            | Error::NotCertified { .. }
            | Error::ContactsNotConverged { .. }
            | Error::ContactsMissed { .. }
            | Error::SurfacesCross { .. }
            | Error::CorrectionNotConverged { .. }
            | Error::NotSettled { .. }
            | Error::NoEquilibrium { .. }
            | Error::StuckPath { .. }
            | Error::StepTooSmall { .. }
            | Error::Incompatible { .. }
            | Error::Locked { .. }
            | Error::DrivenContact { .. }
            | Error::Unsettled { .. }
            | Error::TooMuchWork { .. }
            | Error::Gyroscopic { .. }
    )
}
