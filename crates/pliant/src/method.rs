//! Methods that take a step.

pub(crate) mod capabilities;
pub(crate) mod explicit;
pub(crate) mod gyroscopic;
pub(crate) mod implicit;
pub(crate) mod rattle;
pub(crate) mod stabilise;
pub(crate) mod theta;
