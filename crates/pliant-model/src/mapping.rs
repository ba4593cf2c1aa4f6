//! The mapping interface: child = g(parents), with its derivatives.

use crate::mappings::RelativeMotion;
use crate::{Blocks, Kept, ModelError, Space};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// One element of one parent that an element of the child depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Which parent, in the order given to [`Model::add_mapped`](crate::Model::add_mapped).
    pub parent: usize,
    /// Element of that parent.
    pub element: usize,
}

impl Dependency {
    /// Element `element` of parent `parent`.
    pub const fn new(parent: usize, element: usize) -> Self {
        Self { parent, element }
    }
}

/// A mapping was asked for its value or derivative where it has none (the direction of a line of
/// length zero).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degenerate {
    /// Element of the child.
    pub element: usize,
    /// Why, as a clause.
    pub reason: &'static str,
}

/// Positions and velocities of the parents of a mapped node, and the positions of the node itself.
#[derive(Clone, Copy, Debug)]
pub struct Parents<'a> {
    positions: &'a [f64],
    velocities: &'a [f64],
    ranges: &'a [(usize, usize, Space)],
    child: &'a [f64],
    kept: &'a [f64],
}

impl<'a> Parents<'a> {
    /// Views into flat arrays; each range is (first position, first velocity, space) of a parent.
    pub fn new(positions: &'a [f64], velocities: &'a [f64], ranges: &'a [(usize, usize, Space)]) -> Self {
        Self {
            positions,
            velocities,
            ranges,
            child: &[],
            kept: &[],
        }
    }

    /// Adds the positions of the child.
    #[must_use]
    pub fn with_child(self, child: &'a [f64]) -> Self {
        Self { child, ..self }
    }

    /// Adds what [`MappingPieces::prepare`] wrote of all elements of the child.
    #[must_use]
    pub fn with_kept(self, kept: &'a [f64]) -> Self {
        Self { kept, ..self }
    }

    /// The numbers that [`MappingPieces::prepare`] wrote of all elements of the child, one after
    /// the other, at these positions of the parents. Empty where nothing is kept: whoever reads it
    /// can do without.
    pub fn kept(&self) -> &'a [f64] {
        self.kept
    }

    /// Positions of the child as [`Mapping::apply`] left them: where a mapping has several
    /// branches, derivatives are wanted on the branch of these. Empty where nothing is known of
    /// them, and while `apply` itself runs.
    pub fn child(&self) -> &'a [f64] {
        self.child
    }

    /// Space of one parent.
    pub fn space(&self, parent: usize) -> Space {
        self.ranges[parent].2
    }

    /// Position of one element of one parent.
    #[inline]
    pub fn position(&self, at: Dependency) -> &'a [f64] {
        let (start, _, space) = self.ranges[at.parent];
        let size = space.position_size();
        &self.positions[start + at.element * size..][..size]
    }

    /// Velocity of one element of one parent.
    #[inline]
    pub fn velocity(&self, at: Dependency) -> &'a [f64] {
        let (_, start, space) = self.ranges[at.parent];
        let size = space.velocity_size();
        &self.velocities[start + at.element * size..][..size]
    }
}

/// A node that follows from others: `x_c = g(x_p)`, `v_c = J v_p`, and forces go back by `J^T`.
///
/// Every element of the child depends on a fixed list of elements of the parents; all blocks below
/// are dense over that list. Positions of rigid bodies are seven numbers, displacements six (linear
/// in world axes, angular in body axes). [`check::mapping`](crate::check::mapping) proves the
/// derivatives by finite differences.
pub trait Mapping: Debug + Send + Sync {
    /// Space and number of elements of the child.
    fn child(&self) -> (Space, usize);

    /// Checks the parents' spaces and element counts; `name` is the child's name for errors. That
    /// the [`dependencies`](Self::dependencies) exist is checked in any case.
    ///
    /// # Errors
    /// A [`ModelError`] naming what does not fit.
    fn check(&self, _name: &str, _parents: &[(Space, usize)]) -> Result<(), ModelError> {
        Ok(())
    }

    /// Dependencies of element `element` of the child: distinct entries, always the same.
    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>);

    /// Writes the positions of the child.
    ///
    /// On entry `child` holds its last positions (zero in a new state). A mapping with several
    /// branches, such as an angle that is only known up to full turns, takes the branch nearest to
    /// them and so stays continuous.
    ///
    /// # Errors
    /// [`Degenerate`] where the mapping has no value.
    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate>;

    /// How many numbers `m` each coordinate of a parent is repeated with, where that is all that
    /// `J` does: with respect to every dependency `a` of `d` real coordinates `J_a = I_d (x) g_a`,
    /// so that coordinate `m i + j` of the child moves by `g_a[j]` times coordinate `i` of the
    /// parent. One for means and differences of points, three for gradients in space. None (the
    /// default) for all else. Whoever says so saves most of the work of filling a system.
    fn repeated(&self) -> Option<usize> {
        None
    }

    /// Writes `J`: per element a block of the child's velocity size by the sum of the velocity
    /// sizes of its dependencies, in their order. Of a [`repeated`](Self::repeated) one the numbers
    /// `g` alone: `m` rows, one column for each dependency.
    ///
    /// # Errors
    /// [`Degenerate`] where the mapping has no derivative.
    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate>;

    /// The blocks that [`jacobian`](Self::jacobian) writes, where the mapping
    /// [is linear](Self::is_linear) and has them itself: an evaluation reads them there and keeps
    /// no copy. `None` (the default) for all others.
    fn constant_jacobian(&self) -> Option<&Arc<Blocks>> {
        None
    }

    /// Adds `(dJ/dt) v`, the acceleration of the child that the parents' velocities alone cause.
    /// Called after [`jacobian`](Self::jacobian) succeeded, and returns true. False (the default)
    /// has it made of the geometric stiffness, `v^T G_i v` with the `G_i` of a unit force along
    /// coordinate `i`: the same for children of real coordinates, wrong for bodies.
    fn add_bias(&self, _parents: Parents<'_>, _child: &mut [f64]) -> bool {
        false
    }

    /// Whether `J` never changes, so that there is no geometric stiffness and no bias.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether a mean of the Jacobians at both ends carries a finite displacement of the parents to
    /// the child exactly: with the weight `w` of the end
    /// ([`chord_weight`](Self::chord_weight)) and any displacement `d` from `x` to `x+`,
    ///
    /// ```math
    /// g(x+) - g(x) = ((1 - w) J(x) + w J(x+)) d
    /// ```
    ///
    /// where `d` of a body has its translation and Cayley's vector `2 tan(|r|/2) r/|r|` of the
    /// rotation vector `r` in body axes. Linear mappings and those that are of second degree in
    /// points and rotation matrices are of this kind with `w = 1/2`. Forces that go back by the
    /// same mean do exactly the work of the child's displacement, which methods that conserve
    /// energy need; they refuse a mapping of which this is false. The default is true of linear
    /// mappings and of those with a [`relative_motion`](Self::relative_motion), whose forces go
    /// back by a mean of its own. [`check::chord`](crate::check::chord) compares both works.
    fn carries_chords(&self) -> bool {
        self.is_linear() || self.relative_motion().is_some()
    }

    /// The mapping as functions of the motion of one frame against another, if it is of this kind;
    /// `None` (the default) for all others.
    fn relative_motion(&self) -> Option<&dyn RelativeMotion> {
        None
    }

    /// The weight of the end in the mean of [`carries_chords`](Self::carries_chords), for an
    /// element with these positions of the child at both ends.
    fn chord_weight(&self, _element: usize, _ends: [&[f64]; 2]) -> f64 {
        0.5
    }

    /// The end of the sentence of an error of [`apply`](Self::apply) or
    /// [`jacobian`](Self::jacobian) at these parents, from a comma on: the place and the part that
    /// fails there. Empty by default.
    fn explain(&self, _parents: Parents<'_>, _cause: Degenerate) -> String {
        String::new()
    }

    /// Writes the symmetric part of `G = d(J^T f)/dx` for a fixed child force `f`: per element a
    /// square block over its dependencies (theory/kinematics.md of the book).
    fn geometric_stiffness(&self, _parents: Parents<'_>, _force: &[f64], _out: &mut Blocks) {}

    /// The evaluation of a few elements at a time, for who shares the work among threads or wants a
    /// block where it is used; `None` (the default) where all are made together. Whoever has it is
    /// evaluated by it alone.
    fn pieces(&self) -> Option<&dyn MappingPieces> {
        None
    }

    /// The mapping of some consecutive elements alone, for a process that has no others
    /// ([`Model::share_out`](crate::Model::share_out)); `None` (the default) where it cannot be
    /// taken apart. A mapping whose value depends on the last one, such as an angle with full
    /// turns, has none: the processes would not know those of each other. Whether there is one must
    /// not depend on which elements they are.
    fn restrict(&self, _kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        None
    }

    /// The mapping with some elements taken out of the model
    /// ([`Problem::remove_elements`](crate::Problem::remove_elements)), as `removed` says for each:
    /// they depend on nothing any more, and keep the value that they have at rest, where laws of
    /// their coordinates store nothing and have no force. All elements keep their numbers. `None`
    /// (the default) where there is no such value.
    fn without(&self, _removed: &[bool]) -> Option<Box<dyn Mapping>> {
        None
    }
}

/// A mapping whose elements are evaluated apart from each other ([`Mapping::pieces`]). Each method
/// does what that of [`Mapping`] does, for some consecutive elements: what is written and what is
/// read of the child are theirs alone, one after the other.
///
/// Where the value and the derivatives have something in common that is worth more than the memory
/// it takes, such as a polar decomposition, an evaluation keeps it: [`prepare`](Self::prepare)
/// writes it once for positions of the parents, and all others find it in [`Parents::kept`].
pub trait MappingPieces: Debug + Send + Sync {
    /// How many numbers are kept of each element; none by default.
    fn kept_size(&self) -> usize {
        0
    }

    /// Writes the numbers that are kept of these elements, [`kept_size`](Self::kept_size) of each,
    /// from the positions of the parents alone. Called before [`apply`](Self::apply), where there
    /// are any.
    ///
    /// # Errors
    /// [`Degenerate`] names the first of these elements that has no value or no derivative.
    fn prepare(
        &self,
        _parents: Parents<'_>,
        _elements: Range<usize>,
        _kept: &mut [f64],
    ) -> Result<(), Degenerate> {
        Ok(())
    }

    /// Writes the positions of some elements of the child, as [`Mapping::apply`] does, from the
    /// positions of the parents alone: the last positions of the child are not to be read, so that
    /// a mapping with branches has no pieces.
    ///
    /// # Errors
    /// [`Degenerate`] names the first of these elements that has no value.
    fn apply(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        child: &mut [f64],
    ) -> Result<(), Degenerate>;

    /// As [`Mapping::jacobian`], into blocks that were cleared. [`Parents::child`] has all
    /// elements.
    ///
    /// # Errors
    /// [`Degenerate`] names the first of these elements that has no derivative.
    fn jacobian(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), Degenerate>;

    /// Whether [`jacobian_of_kept`](Self::jacobian_of_kept) writes the Jacobian. An evaluation then
    /// makes blocks where they are read instead of storing them, provided that every element
    /// depends on the element of its own number alone. False by default.
    fn keeps_jacobian(&self) -> bool {
        false
    }

    /// Writes the Jacobian blocks of some elements, as [`jacobian`](Self::jacobian) does, from the
    /// numbers that are kept of them. The blocks were not cleared: every number of them is to be
    /// written.
    fn jacobian_of_kept(&self, _kept: &[f64], _elements: Range<usize>, _out: &mut [f64]) {}

    /// As [`Mapping::add_bias`], which it has to have unless it is linear.
    fn add_bias(&self, _parents: Parents<'_>, _elements: Range<usize>, _child: &mut [f64]) {}

    /// As [`Mapping::geometric_stiffness`], into blocks that were cleared.
    fn geometric_stiffness(
        &self,
        _parents: Parents<'_>,
        _elements: Range<usize>,
        _force: &[f64],
        _out: &mut [f64],
    ) {
    }
}
