//! The held coordinates of kinds whose rows are no coordinates of the frames by themselves.

use super::JointKind;
use super::build::Frames;
use crate::dual::{Dual, DualNum};
use crate::validate::{check_bound, check_positive};
use crate::{Affine, AffineEntry, Dependency, Field, Formula, JointAxis, Model, ModelError, NodeId, Pose};
use pliant_dense::Vec3;
use pliant_dense::rotation::{exp, multiply, rotate};

impl JointKind {
    /// Checks its numbers; `name` is for errors.
    pub(super) fn check(self, name: &str) -> Result<(), ModelError> {
        match self {
            Self::SkewedUniversal { skew } => {
                let fits = skew.abs() < std::f64::consts::FRAC_PI_2;
                check_bound(name, Field::Skew, skew, "within a quarter turn", fits)
            }
            Self::Ellipsoid { semi_axes } => {
                let mut all = semi_axes.iter().enumerate();
                all.try_for_each(|(k, a)| check_positive(name, Field::SemiAxes, *a).map_err(|e| e.at(k, 3)))
            }
            _ => Ok(()),
        }
    }

    /// The frame of the first side of a joint that is at `at`: the same, but of an ellipsoid its
    /// centre, below the point that is there.
    pub fn first_frame(self, at: Pose) -> Pose {
        let Self::Ellipsoid { semi_axes } = self else {
            return at;
        };
        let centre = Vec3::from(at.position) - semi_axes[2] * rotate(at.rotation, Vec3::z());
        Pose {
            position: centre.into(),
            rotation: at.rotation,
        }
    }

    /// The frame of the second side that its rows and angles are those of.
    pub(super) fn second_frame(self, frame: Pose) -> Pose {
        let Self::SkewedUniversal { skew } = self else {
            return frame;
        };
        Pose {
            position: frame.position,
            rotation: multiply(frame.rotation, exp(Vec3::new(0.0, 0.0, -skew))),
        }
    }
}

impl Frames {
    /// The node of the held coordinates of a joint, which are zero.
    pub(super) fn add_held(
        &self,
        model: &mut Model,
        name: &str,
        kind: JointKind,
    ) -> Result<NodeId, ModelError> {
        let held = format!("{name}.held");
        match kind {
            JointKind::SkewedUniversal { skew } => {
                let axes = kind.held_axes();
                let node = self.add_coordinates(model, &format!("{name}.unskewed"), axes)?;
                let entry = |k: usize| AffineEntry {
                    element: k,
                    coordinate: 0,
                    from: Dependency::new(0, 0),
                    from_coordinate: k,
                    value: 1.0,
                };
                let entries: Vec<_> = (0..axes.len()).map(entry).collect();
                model.add_mapped(
                    &held,
                    &[node],
                    Affine::new(1, &[0.0, 0.0, 0.0, -skew.sin()], &entries),
                )
            }
            JointKind::Ellipsoid { semi_axes } => {
                let normal = (0..3).map(|k| JointAxis::Misalignment(k, 2));
                let axes: Vec<_> = (0..3).map(JointAxis::Translation).chain(normal).collect();
                let node = self.add_coordinates(model, &format!("{name}.pose"), &axes)?;
                let on_surface = move |x: &[Dual], out: &mut [Dual]| {
                    let scaled: [Dual; 3] = std::array::from_fn(|k| x[3 + k] * semi_axes[k]);
                    let size = (scaled[0].powi(2) + scaled[1].powi(2) + scaled[2].powi(2)).sqrt();
                    for k in 0..3 {
                        out[k] = x[k] - scaled[k] * semi_axes[k] / size;
                    }
                };
                let formula = Formula::new(3, vec![vec![Dependency::new(0, 0)]], on_surface);
                model.add_mapped(&held, &[node], formula)
            }
            kind => self.add_coordinates(model, &held, kind.held_axes()),
        }
    }
}
