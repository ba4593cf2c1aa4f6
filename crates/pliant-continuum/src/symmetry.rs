//! Planes of symmetry.

use crate::ContinuumError;
use crate::checks::check_number;
use pliant_model::{Field, Model, NodeId};

/// A plane across an axis of space (0 is x), at a coordinate (m), that a mesh ends at: what is
/// behind it is its mirror image, and does the same.
///
/// **Equation.** `x_axis = at` for the nodes on the plane. They carry the masses and forces of
/// their own side alone, half of those of the whole.
///
/// **Use.** A half, a quarter or an eighth of a solid or a sheet instead of the whole, where loads
/// and supports are symmetric too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymmetryPlane {
    /// The axis that it is across: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where on that axis it is (m).
    pub at: f64,
}

impl SymmetryPlane {
    /// The nodes on it, given the places of all (m): to a billionth of their extent.
    ///
    /// # Errors
    /// [`ContinuumError::Symmetry`] if there are none, if there are nodes on both sides, or if it
    /// is across none of the three axes; [`ContinuumError::NotFinite`].
    pub fn nodes(&self, places: &[[f64; 3]]) -> Result<Vec<usize>, ContinuumError> {
        let wrong = |reason| Err(self.error(reason));
        check_number(Field::SymmetryPlace, self.at, true, "finite")?;
        if self.axis > 2 {
            return wrong("it must be across axis 0, 1 or 2");
        }
        let near = 1e-9 * extent(places);
        let off: Vec<f64> = places.iter().map(|x| x[self.axis] - self.at).collect();
        if off.iter().any(|d| *d < -near) && off.iter().any(|d| *d > near) {
            return wrong("nodes are on both sides of it");
        }
        let on: Vec<usize> = (0..off.len()).filter(|k| off[*k].abs() <= near).collect();
        if on.is_empty() {
            return wrong("no node is on it");
        }
        Ok(on)
    }

    /// Holds the nodes on it in it: those of a node of the model at rest at these places (m). For a
    /// [`Sheet`](crate::Sheet) with bending, [`with_symmetry`](crate::Sheet::with_symmetry) does
    /// this and holds its normals too.
    ///
    /// # Errors
    /// As [`nodes`](Self::nodes), and what the model says.
    pub fn hold(
        &self,
        model: &mut Model,
        node: NodeId,
        places: &[[f64; 3]],
    ) -> Result<Vec<usize>, ContinuumError> {
        let on = self.nodes(places)?;
        let held = [0, 1, 2].map(|k| k == self.axis);
        for k in &on {
            model.fix(node, *k, &held)?;
        }
        Ok(on)
    }

    pub(crate) fn error(&self, reason: &'static str) -> ContinuumError {
        ContinuumError::Symmetry {
            axis: ["x", "y", "z"].get(self.axis).copied().unwrap_or("?"),
            at: self.at,
            reason,
        }
    }
}

/// The longest edge (m) of the box of these places along the axes.
pub(crate) fn extent(places: &[[f64; 3]]) -> f64 {
    let along = |k: usize| {
        let of = places.iter().map(|x| x[k]);
        of.clone().fold(f64::NEG_INFINITY, f64::max) - of.fold(f64::INFINITY, f64::min)
    };
    along(0).max(along(1)).max(along(2))
}
