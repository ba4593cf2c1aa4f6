//! Laws with a past: internal variables, and forces at the end of a stretch of time.

use crate::{At, Blocks, Space};
use std::fmt::Debug;

/// The past of a law with a memory.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// Its internal variables, as many as [`Memory::size`] says.
    pub internal: &'a [f64],
    /// The time (s) since they were those of the state, zero or more; infinite for what is at rest
    /// for ever after.
    pub elapsed: f64,
}

/// The memory of a force field whose force depends on the past
/// ([`ForceField::memory`](crate::ForceField::memory)).
///
/// **Equation.** Internal variables `xi` with a rate `dxi/dt = r(x, dx/dt, xi)` and the force
/// `f(x, xi)`. Given `xi` where the law was `t` seconds ago, it says the force where it is now,
/// along a path that it chooses itself (most often a straight one in its strains), and the
/// derivative of *this* force: the algorithmic force and its consistent tangent.
///
/// **Use.** Viscoelasticity, plasticity, damage. The numbers are part of the
/// [`State`](crate::State), so that whatever keeps a state and goes back to it has the past in it.
/// They change once for each step that stands.
pub trait Memory: Debug + Send + Sync {
    /// Number of internal variables on a node of `count` elements.
    fn size(&self, count: usize) -> usize;

    /// Writes the internal variables of a law without a past that begins at positions `x`, at rest
    /// there.
    fn begin(&self, space: Space, x: &[f64], internal: &mut [f64]);

    /// Stored energy (J) at the present positions, reached at once from the past.
    fn energy(&self, at: At<'_>, internal: &[f64]) -> f64;

    /// Adds the force at the present positions. (It does not depend on velocities: a viscous part
    /// is another force field beside this one.)
    fn add_force(&self, at: At<'_>, past: Past<'_>, f: &mut [f64]);

    /// Writes minus the derivative of this force, symmetric blocks as
    /// [`ForceField::stiffness`](crate::ForceField::stiffness).
    fn stiffness(&self, at: At<'_>, past: Past<'_>, out: &mut Blocks);

    /// As [`ForceField::projected_elements`](crate::ForceField::projected_elements).
    fn projected_elements(&self, _at: At<'_>, _past: Past<'_>) -> usize {
        0
    }

    /// Whether its force bends within a step, as that of plasticity does where it yields: then
    /// equations that are linear about the start of a step are far from it.
    fn yields(&self) -> bool {
        false
    }

    /// Writes the internal variables at the present positions, and returns the energy (J) that was
    /// dissipated on the way. With no time elapsed and the law where it was, they stay as they are,
    /// bit for bit.
    fn advance(&self, at: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64;

    /// The energy (J) that came in on the way to these new internal variables from inside of the
    /// law, where something within it works: a muscle that is activated. Zero, the default, for all
    /// that only stores and dissipates.
    fn brought(&self, _at: At<'_>, _past: Past<'_>, _new: &[f64]) -> f64 {
        0.0
    }
}
