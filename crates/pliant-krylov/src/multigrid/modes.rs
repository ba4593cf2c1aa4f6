//! Near null spaces: motions that cost next to no energy.

use pliant_solvers::{SolveError, check_size};
use std::sync::Arc;

/// Most columns of a near null space.
pub(super) const MOST_MODES: usize = 6;

/// The near null space of a symmetric positive definite matrix of order n: k vectors for which
/// `x^T A x` is small beside `x^T diag(A) x`. Of a solid or a net these are its motions as a rigid
/// body; the coarse levels of [`SmoothedAggregation`](crate::SmoothedAggregation) represent them
/// exactly, and what is locally like them well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearNullSpace {
    count: usize,
    /// Row by row, n x k.
    values: Vec<f64>,
    /// Shared by all copies: it is told once for a model, and read where levels are planned.
    reference: Arc<[ReferencePlace]>,
}

/// The place of the node whose unknowns begin at this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReferencePlace {
    pub(super) unknown: usize,
    pub(super) at: [f64; 3],
}

/// The near null space of a matrix that was multiplied from both sides by a diagonal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaledModes<'a> {
    /// The near null space of the matrix as it was before.
    pub(crate) modes: &'a NearNullSpace,
    /// The diagonal; empty for ones.
    pub(crate) scale: &'a [f64],
}

/// A node of a model, as far as a rigid motion needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RigidNode {
    /// Three unknowns: the velocity of a point (m/s) in world axes.
    Point([f64; 3]),
    /// Six unknowns: the velocity of the centre of a body in world axes and its angular velocity
    /// (rad/s) in the axes of the body.
    Body {
        /// The centre in world axes (m).
        centre: [f64; 3],
        /// The unit quaternion `(w, x, y, z)` that turns the axes of the body into those of the
        /// world.
        rotation: [f64; 4],
    },
    /// So many unknowns that no rigid motion changes: strains, modes of deformation.
    Other(usize),
}

impl RigidNode {
    fn unknowns(&self) -> usize {
        match self {
            Self::Point(_) => 3,
            Self::Body { .. } => 6,
            Self::Other(unknowns) => *unknowns,
        }
    }

    fn place(&self) -> Option<[f64; 3]> {
        match self {
            Self::Point(x) | Self::Body { centre: x, .. } => Some(*x),
            Self::Other(_) => None,
        }
    }
}

impl NearNullSpace {
    /// From `count` vectors, row by row: entry `(i, c)` is `values[i * count + c]`.
    ///
    /// # Errors
    /// [`SolveError::Parameter`] for no vector or more than six; [`SolveError::Size`] if the values
    /// are no whole rows; [`SolveError::NotFinite`].
    pub fn new(count: usize, values: Vec<f64>) -> Result<Self, SolveError> {
        if !(1..=MOST_MODES).contains(&count) {
            return Err(SolveError::Parameter {
                what: "number of vectors of a near null space",
                value: count as f64,
            });
        }
        let rows = values.len() / count;
        check_size("near null space, whole rows of it,", rows * count, values.len())?;
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(SolveError::NotFinite {
                variable: pliant_solvers::Variable::Dof(i / count),
            });
        }
        Ok(Self {
            count,
            values,
            reference: Arc::default(),
        })
    }

    /// The six motions as a rigid body of points, three unknowns each: translations along the axes,
    /// and rotations `e_c x (p - o)` about axes through the mean `o` of the places.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a place that is not finite.
    pub fn rigid(places: &[[f64; 3]]) -> Result<Self, SolveError> {
        Self::rigid_nodes(places.iter().map(|x| RigidNode::Point(*x)))
    }

    /// The six motions as a rigid body of nodes in the order of the unknowns: velocity
    /// `e_c x (p - o)`, and for bodies the angular velocity `R^T e_c` in their own axes.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a node that is not finite.
    pub fn rigid_nodes(nodes: impl Iterator<Item = RigidNode> + Clone) -> Result<Self, SolveError> {
        let mut out = Self::default();
        out.set_rigid_nodes(nodes)?;
        Ok(out)
    }

    /// Becomes that of [`Self::rigid_nodes`]; allocates only for more unknowns than before.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a node that is not finite.
    pub fn set_rigid_nodes(
        &mut self,
        nodes: impl Iterator<Item = RigidNode> + Clone,
    ) -> Result<(), SolveError> {
        let (mut origin, mut points) = ([0.0; 3], 0.0);
        for place in nodes.clone().filter_map(|node| node.place()) {
            points += 1.0;
            for (o, x) in origin.iter_mut().zip(place) {
                // A running mean does not overflow before its values do.
                *o += (x - *o) / points;
            }
        }
        self.count = MOST_MODES;
        let values = &mut self.values;
        values.clear();
        for node in nodes {
            if let Some(place) = node.place() {
                let [x, y, z] = [0, 1, 2].map(|k| place[k] - origin[k]);
                values.extend_from_slice(&[1.0, 0.0, 0.0, 0.0, z, -y]);
                values.extend_from_slice(&[0.0, 1.0, 0.0, -z, 0.0, x]);
                values.extend_from_slice(&[0.0, 0.0, 1.0, y, -x, 0.0]);
            }
            match node {
                RigidNode::Point(_) => {}
                RigidNode::Body {
                    rotation: [w, x, y, z],
                    ..
                } => {
                    let columns = [
                        [
                            1.0 - 2.0 * (y * y + z * z),
                            2.0 * (x * y + w * z),
                            2.0 * (x * z - w * y),
                        ],
                        [
                            2.0 * (x * y - w * z),
                            1.0 - 2.0 * (x * x + z * z),
                            2.0 * (y * z + w * x),
                        ],
                        [
                            2.0 * (x * z + w * y),
                            2.0 * (y * z - w * x),
                            1.0 - 2.0 * (x * x + y * y),
                        ],
                    ];
                    // A row of R^T is a column of R.
                    for column in columns {
                        values.extend_from_slice(&[0.0; 3]);
                        values.extend_from_slice(&column);
                    }
                }
                RigidNode::Other(unknowns) => values.resize(values.len() + 6 * unknowns, 0.0),
            }
        }
        match values.iter().position(|v| !v.is_finite()) {
            Some(i) => Err(SolveError::NotFinite {
                variable: pliant_solvers::Variable::Dof(i / MOST_MODES),
            }),
            None => Ok(()),
        }
    }

    /// Tells the places of nodes in a state that every run of a model has in common, such as its
    /// first one: by their distances [`MultigridOptions::by_pattern`](crate::MultigridOptions)
    /// knows couplings across the long sides of stretched elements, which are weak. Allocates.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a node that is not finite.
    pub fn set_reference(&mut self, nodes: impl Iterator<Item = RigidNode>) -> Result<(), SolveError> {
        let (mut reference, mut unknown) = (Vec::new(), 0);
        for node in nodes {
            if let Some(at) = node.place() {
                if at.iter().any(|x| !x.is_finite()) {
                    return Err(SolveError::NotFinite {
                        variable: pliant_solvers::Variable::Dof(unknown),
                    });
                }
                reference.push(ReferencePlace { unknown, at });
            }
            unknown += node.unknowns();
        }
        self.reference = reference.into();
        Ok(())
    }

    /// Whether places were told by [`Self::set_reference`].
    pub fn has_reference(&self) -> bool {
        !self.reference.is_empty()
    }

    /// The reference places, ascending by their unknowns.
    pub(super) fn reference(&self) -> &[ReferencePlace] {
        &self.reference
    }

    /// Unit vectors: unknown number `c` of every block of variables is one in vector `c`, for
    /// blocks of at most six; of larger ones every third is one. Translations of points.
    pub fn components(boundaries: &[usize]) -> Self {
        let order = boundaries.last().copied().unwrap_or(0);
        let largest = boundaries.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(1);
        let count = if largest <= MOST_MODES { largest } else { 3 };
        let mut values = vec![0.0; order * count];
        for block in boundaries.windows(2) {
            for i in block[0]..block[1] {
                values[i * count + (i - block[0]) % count] = 1.0;
            }
        }
        Self {
            count,
            values,
            reference: Arc::default(),
        }
    }

    /// Number of vectors, k.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Length of the vectors, n.
    pub fn order(&self) -> usize {
        self.values.len() / self.count.max(1)
    }

    /// Entries of all vectors for one unknown.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.count..(i + 1) * self.count]
    }

    /// Takes the values of another; allocates only if there are more.
    pub(crate) fn take(&mut self, other: &Self) {
        self.count = other.count;
        self.values.clear();
        self.values.extend_from_slice(&other.values);
        self.reference = Arc::clone(&other.reference);
    }
}
