//! Rest without time: Newton's method on the static equations, the pseudo-static flow, dynamic
//! relaxation, conjugate gradients, paths over a load factor; small vibrations about rest, and buckling.
//!
//! Unknown are the positions `x` and the multipliers `lambda`. A load factor `p` scales the loads
//! that are named, and the equations are
//!
//! ```math
//! F_1 = f(x, p) + J^T lambda = 0,    F_2 = phi + C lambda - p g = 0
//! ```
//!
//! with the force `f` of materials with a past after an infinite time, and `F_2` replaced by
//! `lambda = lo` or `hi` where a row of bounded force is at its bound. All velocities are zero, so
//! nothing is damped and nothing is inertial.
//!
//! Everything works on a [`Setting`], the system and a motion, with a [`Workspace`] for one search.
//! The caller keeps the motion, or goes back to where the search began.

pub(crate) mod buckling;
mod conjugate_gradients;
mod connected;
mod contacts;
pub(crate) mod equilibrium;
mod flow;
mod loads;
mod measure;
pub(crate) mod modes;
mod newton;
pub(crate) mod path;
pub(crate) mod reduction;
pub(crate) mod refuse;
mod relaxation;
mod residual;
mod saddle;
mod solver;
mod types;
mod workspace;

pub use buckling::{Buckling, BucklingMode, BucklingOptions, LoadSign};
pub use modes::{About, Mode, ModeKind, ModeOptions, Modes};
pub use reduction::{FixedModes, Interface, Reduction};
pub use types::{
    Continuation, CriticalKind, CriticalPoint, Equilibrium, Loads, Path, PathEnd, PathPoint, StaticMethod,
};
pub(crate) use workspace::{Search, Setting, Workspace};
