//! The Python package `pliant`: scenes, their simulations, and the reports of their steps.
//!
//! It computes nothing but finite differences of components that users write in Python: scenes are
//! read by `pliant-scene` and run by `pliant-run`, so that a scene has the same bits from Python
//! and from the program. Every class is frozen; a simulation keeps its run behind a lock, lets
//! other Python threads go on while it steps, and hands out copies of arrays, or arrays that it
//! writes anew.

mod arrays;
mod batch;
mod body;
mod contacts;
mod control;
mod dynamics;
mod end;
mod errors;
mod joint;
mod joint_space;
mod live;
mod lock;
mod measured;
mod model;
mod modes;
mod node;
mod outline;
mod own;
mod path;
mod pickle;
mod picture;
mod report;
mod rollout;
mod run;
mod signals;
mod simulation;
mod sweep;

#[pyo3::pymodule]
mod _pliant {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batch::{Batch, BatchLive};
    #[pymodule_export]
    use crate::body::Body;
    #[pymodule_export]
    use crate::joint::Joint;
    #[pymodule_export]
    use crate::live::Live;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::modes::{Buckling, Modes};
    #[pymodule_export]
    use crate::node::Node;
    #[pymodule_export]
    use crate::own::{Check, check_component};
    #[pymodule_export]
    use crate::path::{CriticalPoint, Path};
    #[pymodule_export]
    use crate::pickle::_unpickled;
    #[pymodule_export]
    use crate::report::{
        Certificate, ContactsReport, Energies, EquilibriumReport, Ledger, Momentum, SettleReport, StepReport,
    };
    #[pymodule_export]
    use crate::rollout::Rollout;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::sweep::{_Stop, _Sweep, _run_job};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
