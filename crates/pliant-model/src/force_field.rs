//! Force fields: energy, force and its derivatives, or the inverse view, a compliance.

use crate::evaluate::chord;
use crate::{Blocks, Memory, ModelError, Space};
use std::fmt::Debug;
use std::ops::Range;

/// The stiffness of this element has no inverse, so that there is no compliance; or the compliance
/// has none, so that there is no stiffness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInvertible {
    /// Element of the node.
    pub element: usize,
}

/// The row law that a force field has when it is treated as a compliance.
///
/// **Equation.** One row for each coordinate `phi` of its node, with the force `lambda` (N, N m) as
/// the unknown: between `C lambda` and the deformation `phi` or its rate.
///
/// **Use.** Chosen by each law for itself; a spring or a dashpot is then exact however stiff, and
/// may be driven and bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowLaw {
    /// No law of rows: the force field is treated as a stiffness.
    #[default]
    None,
    /// A spring: `C lambda = -(phi + C D dphi/dt + d dphi/dt)`.
    Elastic,
    /// A dashpot: `C lambda = -dphi/dt`, where `C` is the inverse of the damping (m/(N s)).
    Viscous,
}

/// Which elements of a node a force field or a mass couples: its blocks are dense over the
/// coordinates of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Groups {
    /// Every element alone.
    #[default]
    Each,
    /// Groups by lists of distinct elements.
    Of(Vec<Vec<usize>>),
}

impl Groups {
    /// The groups of a node of `count` elements, spelled out.
    pub fn lists(&self, count: usize) -> Vec<Vec<usize>> {
        match self {
            Self::Each => (0..count).map(|e| vec![e]).collect(),
            Self::Of(lists) => lists.clone(),
        }
    }

    /// Checks the elements against the node.
    pub(crate) fn check(&self, name: &str, count: usize) -> Result<(), ModelError> {
        let Self::Of(lists) = self else { return Ok(()) };
        for list in lists {
            for (k, element) in list.iter().enumerate() {
                let name = || name.to_owned();
                if *element >= count {
                    let element = *element;
                    return Err(ModelError::Element {
                        name: name(),
                        element,
                        count,
                    });
                }
                if list[..k].contains(element) {
                    let cause = crate::Degenerate {
                        element: *element,
                        reason: "it occurs twice in one group",
                    };
                    return Err(ModelError::Degenerate {
                        name: name(),
                        cause,
                        detail: String::new(),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Where a force field is evaluated: coordinates of the elements of its node, one element after the
/// other, and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// Space of the elements.
    pub space: Space,
    /// Positions.
    pub x: &'a [f64],
    /// Velocities. Forces, damping and [`row_damping`](ForceField::row_damping) depend on them; for
    /// the rest they may be left out.
    pub v: &'a [f64],
    /// Inputs, as many as [`ForceField::inputs`] gives.
    pub inputs: &'a [f64],
}

impl<'a> At<'a> {
    /// Positions, without velocities or inputs.
    pub fn new(space: Space, x: &'a [f64]) -> Self {
        Self {
            space,
            x,
            v: &[],
            inputs: &[],
        }
    }

    /// Adds the velocities.
    #[must_use]
    pub fn moving(self, v: &'a [f64]) -> Self {
        Self { v, ..self }
    }

    /// Adds the inputs.
    #[must_use]
    pub fn with_inputs(self, inputs: &'a [f64]) -> Self {
        Self { inputs, ..self }
    }
}

/// Forces on one node. Coupling between nodes is the business of a mapping (a difference, a
/// distance, a subset of several parents): the force field then acts on the mapped coordinates.
///
/// Two views of the same law. As a *stiffness*: `f = -dV/dx - B v`, `K = d2V/dx2`, `B = -df/dv`. As
/// a *compliance*: `C f = -(x + d v)` with `C = K^-1` and the relaxation time `d` (s); then `C = 0`
/// is a hard constraint. A nonlinear law gives its tangent `C(x)` and the
/// [`deformation`](Self::deformation) that makes `-C^-1 deformation` its force.
///
/// Only [`add_force`](Self::add_force) must be written; a force without potential has energy zero,
/// one without [`stiffness`](Self::stiffness) is explicit.
pub trait ForceField: Debug + Send + Sync {
    /// Checks the parameters against the node's space and number of elements; `name` is for errors.
    ///
    /// # Errors
    /// A [`ModelError`] naming what is wrong.
    fn check(&self, _name: &str, _space: Space, _count: usize) -> Result<(), ModelError> {
        Ok(())
    }

    /// The elements that its blocks couple, always the same.
    fn groups(&self) -> Groups {
        Groups::Each
    }

    /// Potential energy `V` (J); zero for a hard law, which stores none.
    fn energy(&self, _at: At<'_>) -> f64 {
        0.0
    }

    /// Whether the force at rest is minus the gradient of [`energy`](Self::energy); else its work
    /// is that of a force from outside.
    fn has_potential(&self) -> bool {
        true
    }

    /// Adds the force on the node, damping included.
    fn add_force(&self, at: At<'_>, f: &mut [f64]);

    /// Adds the mean force of a displacement between two ends, without damping: a discrete gradient
    /// of the energy,
    ///
    /// ```math
    /// f . (x+ - x) = V(x) - V(x+)
    /// ```
    ///
    /// which for a small displacement is the force in its middle, to second order. Called where
    /// the energy is a potential and all coordinates are real; `room` has five numbers for each.
    ///
    /// The default averages the force along the straight way by the formula of Gauss with four
    /// points (the average vector field of Quispel and McLaren 2008), of linear laws by the mean
    /// of both ends: exact for potentials up to the degree 8. What is missed of the energy of
    /// others, where the force bends enough for that to be more than rounding, is added along the
    /// displacement (Gonzalez 1996). A law whose
    /// coordinates are not invariant under rotation should have one of its own that is, or angular
    /// momentum is conserved to the order of the method only.
    fn add_chord_force(&self, ends: [At<'_>; 2], room: &mut [f64], f: &mut [f64]) {
        chord::add_average_force(self, ends, room, f);
    }

    /// Writes `K`, one square symmetric block per group, over the velocity coordinates of its
    /// elements.
    ///
    /// # Errors
    /// [`NotInvertible`] names an element of compliance zero. What is written then is the stiffness
    /// of the other coordinates, or nothing.
    fn stiffness(&self, _at: At<'_>, _out: &mut Blocks) -> Result<(), NotInvertible> {
        Ok(())
    }

    /// The number of elements whose stiffness is not the derivative of the force, because that is
    /// indefinite, but a semidefinite one in its place. Steps report it.
    fn projected_elements(&self, _at: At<'_>) -> usize {
        0
    }

    /// Writes `B`, one square symmetric positive-semidefinite block per group.
    fn damping(&self, _at: At<'_>, _out: &mut Blocks) {}

    /// Whether [`damping`](Self::damping) can write anything but zeros; false saves passes over
    /// them.
    fn is_damped(&self) -> bool {
        true
    }

    /// Adds `rate` (s) times the stiffness against changes of shape to `damping` blocks, and returns
    /// true: damping in proportion to the stiffness is by this one, so that a body that turns as one
    /// is not damped. False, and nothing added (the default), where that is the whole stiffness, as of
    /// coordinates that rotations do not change; laws of deformation gradients have the stress in
    /// theirs. Laws with a memory are not asked: steps refuse this damping of them.
    fn add_shape_damping(&self, _at: At<'_>, _rate: f64, _damping: &mut Blocks) -> bool {
        false
    }

    /// Its row law as a compliance. For other than [`RowLaw::None`] the groups must be runs of
    /// consecutive elements that cover the node in order.
    fn row_law(&self) -> RowLaw {
        RowLaw::None
    }

    /// Writes `C`, one square symmetric positive-semidefinite block per group.
    fn compliance(&self, _at: At<'_>, _out: &mut Blocks) {}

    /// Writes the deformation of the compliance view: the positions themselves for linear laws.
    fn deformation(&self, at: At<'_>, out: &mut [f64]) {
        out.copy_from_slice(at.x);
    }

    /// Whether `C` and `K` never change; a law that does not say so may bend.
    fn is_linear(&self) -> bool {
        false
    }

    /// Relaxation time `d` of a coordinate of the node in the compliance view (s); coordinates that
    /// `C` couples must have the same.
    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        0.0
    }

    /// The damping ratio `zeta` (none) that shall become relaxation times once the masses are known
    /// that its coordinates move ([`Model::damping_ratios`](crate::Model::damping_ratios)); zero
    /// (the default) for none. Until then it damps nothing.
    fn damping_ratio(&self) -> f64 {
        0.0
    }

    /// The law with these relaxation times (s) instead of its damping ratio, one for each coordinate
    /// of its node; `None` (the default) where it has none for each.
    fn with_times(&self, _times: &[f64]) -> Option<Box<dyn ForceField>> {
        None
    }

    /// Writes the damping `D` that the compliance view has beside the relaxation time, one square
    /// block per group, and returns true; false (the default) for none.
    fn row_damping(&self, _at: At<'_>, _out: &mut Blocks) -> bool {
        false
    }

    /// The memory of a law whose force depends on the past; `None` for all others. Such a law is a
    /// stiffness, without damping. Its energy, force and stiffness without a past, those of this
    /// trait, are what is left of it at rest for ever, from a state without a past.
    fn memory(&self) -> Option<&dyn Memory> {
        None
    }

    /// Initial values of the numbers that may be set while the model is simulated: an activation, a
    /// pressure. The law is evaluated with the present ones, [`At::inputs`].
    fn inputs(&self) -> &[f64] {
        &[]
    }

    /// Checks inputs, as many as [`inputs`](Self::inputs) gives; `name` is for errors.
    ///
    /// # Errors
    /// A [`ModelError`] naming what is wrong.
    fn check_inputs(&self, _name: &str, _inputs: &[f64]) -> Result<(), ModelError> {
        Ok(())
    }

    /// The evaluation of a few elements at a time, for who shares the work among threads; `None`
    /// (the default) where all are made together. Whoever has it couples no elements, has no
    /// memory, and is evaluated by it alone as a stiffness.
    fn pieces(&self) -> Option<&dyn ForceFieldPieces> {
        None
    }

    /// The law of some consecutive elements of a space alone, for a process that has no others
    /// ([`Model::share_out`](crate::Model::share_out)); `None` (the default) where it cannot be
    /// taken apart. Inputs stay as they are.
    fn restrict(&self, _space: Space, _elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        None
    }
}

/// A force field whose elements are evaluated apart from each other ([`ForceField::pieces`]). Each
/// method does what that of [`ForceField`] does, for some consecutive elements: positions,
/// velocities and the output are theirs alone, one after the other; the inputs are those of all.
pub trait ForceFieldPieces: Debug + Send + Sync {
    /// As [`ForceField::add_force`].
    fn add_force(&self, at: At<'_>, elements: Range<usize>, f: &mut [f64]);

    /// As [`ForceField::stiffness`], into blocks that were cleared.
    ///
    /// # Errors
    /// [`NotInvertible`] names the first of these elements of compliance zero.
    fn stiffness(&self, at: At<'_>, elements: Range<usize>, out: &mut [f64]) -> Result<(), NotInvertible>;

    /// Whether the stiffness can never be another, whatever the positions and the inputs: it is
    /// written once then.
    fn keeps_stiffness(&self) -> bool {
        false
    }
}
