//! Kinds of joints: the coordinates that each holds and leaves free.

use crate::JointAxis;
use JointAxis::{Elevation, HeadingInA, HeadingInB, Misalignment, Rotation, Translation, Twist};

/// The kind of a joint. Its axis is z of both frames; see [`Joint`](crate::Joint).
///
/// **Equation.** Each held coordinate is zero. With the frames A and B: `t = R_A^T (p_B - p_A)` is
/// the origin of B seen from A (m), `r` the rotation vector of `R_A^T R_B` (rad), and `z_A . x_B`
/// the cosine between the axis z of A and the axis x of B.
///
/// **Use.** Two bodies, or a body and the world: hinges, guides, shafts, welds. What a joint leaves
/// free and has a name may be given springs, dampers, motors, friction and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Holds everything: three translations `t`, three rotations `r`.
    Fixed,
    /// Turns about z: holds `t`, `z_A . x_B` and `z_A . y_B`; free is `angle`, the twist about z.
    /// Also known as revolute.
    Hinge,
    /// Slides along z: holds `t_x`, `t_y` and `r`; free is `travel`, `t_z`. Also known as
    /// prismatic.
    Slider,
    /// Slides along z and turns about it: holds `t_x`, `t_y`, `z_A . x_B` and `z_A . y_B`; free are
    /// `travel`, `t_z`, and `angle`, the twist about z.
    Cylindrical,
    /// Turns about x of A and y of B, which stay perpendicular: holds `t` and `x_A . y_B`; free are
    /// `first_angle`, the turn about x of A, and `second_angle`, the turn about y of B. Also known
    /// as Cardan or Hooke joint.
    Universal,
    /// Turns about x of A and an axis of B that is off the perpendicular by an angle `s`: as
    /// [`Universal`](Self::Universal) with y of B turned to `(sin s, cos s, 0)` in its axes, of which
    /// `x_A . y = sin s` is held. Both angles are zero where the frames coincide.
    SkewedUniversal {
        /// The angle `s` by which the second axis leans towards the first (rad), within a quarter
        /// turn.
        skew: f64,
    },
    /// Turns about x of A, then y, then z of B: holds `t`; free are `first_angle`, `second_angle`
    /// and `third_angle`, the Euler angles in `C = R_x R_y R_z`. The second stays within a quarter
    /// turn: there, in gimbal lock, the others have no value.
    GimbalXyz,
    /// Turns about x of A, then z, then y of B, with the angles in `C = R_x R_z R_y`; else as
    /// [`GimbalXyz`](Self::GimbalXyz), which no turn of the frames makes of it.
    GimbalXzy,
    /// Turns about everything: holds `t`; free are `rx`, `ry` and `rz`, the coordinates of `r`,
    /// where something acts on them or
    /// [`Joint::with_coordinates`](crate::Joint::with_coordinates) asks for them. They are followed
    /// up to a full turn; their rates are those of `r`, which are the angular velocity only where
    /// the axis of the turn stays. Also known as spherical.
    Ball,
    /// Slides along x and y and turns about z: holds `t_z`, `z_A . x_B` and `z_A . y_B`; free are
    /// `x`, `t_x`, `y`, `t_y`, and `angle`, the twist about z.
    Planar,
    /// Slides along x and y without turning: holds `t_z` and `r`; free are `x`, `t_x`, and `y`,
    /// `t_y`.
    PlanarTranslation,
    /// A hinge in a slot: slides along x of A and turns about z: holds `t_y`, `t_z`, `z_A . x_B` and
    /// `z_A . y_B`; free are `travel`, `t_x`, and `angle`, the twist about z. Also known as pin in a
    /// slot.
    SlottedHinge,
    /// Turns as [`Universal`](Self::Universal), and moves everywhere: holds `x_A . y_B` alone; free
    /// are `x`, `y`, `z`, the coordinates of `t`, `first_angle` and `second_angle`.
    FixedAxis,
    /// Holds nothing; free are `x`, `y`, `z`, the coordinates of `t`, and `rx`, `ry`, `rz`, those
    /// of `r`, as of [`Ball`](Self::Ball): for springs, motors and limits between two bodies.
    Free,
    /// Turns about z and moves along it by a pitch per turn: holds and leaves free as
    /// `Cylindrical`, and also holds `t_z - pitch angle/(2 pi)`.
    Screw {
        /// Travel per turn (m).
        pitch: f64,
    },
    /// Keeps the distance of the two origins: holds `|p_B - p_A| - length`; no free coordinate has
    /// a name.
    Distance {
        /// The distance (m); as at the start if it is not given.
        length: Option<f64>,
    },
    /// Moves on an ellipsoid that is fixed in A, with z of B along its normal outwards: holds
    /// `t - p(n)`, three lengths, with the normal `n = z_B` seen from A and the point
    /// `p = (a^2 n_x, b^2 n_y, c^2 n_z)/sqrt(a^2 n_x^2 + b^2 n_y^2 + c^2 n_z^2)` of that normal. Free
    /// are `longitude`, `latitude` and `turn`, the Euler angles of [`GimbalXyz`](Self::GimbalXyz):
    /// the normal is `(sin lat, -sin lon cos lat, cos lon cos lat)`, and `turn` is about it. At zero B
    /// stands on the end of the third semi-axis, with the axes of A. Where
    /// [`Joint::at`](crate::Joint::at) says where the joint is, B stands there at the start; a frame
    /// that is given for A has its origin at the centre. Known from the shoulder blade.
    Ellipsoid {
        /// The semi-axes `a`, `b`, `c` along x, y, z of A (m).
        semi_axes: [f64; 3],
    },
    /// The origin of B stays on the z axis of A: holds `t_x` and `t_y`; free is `travel`, `t_z`.
    PointOnLine,
    /// The origin of B stays in the x y plane of A: holds `t_z`; free are `x`, `t_x`, and `y`,
    /// `t_y`.
    PointOnPlane,
}

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

impl JointKind {
    /// The name in scene files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed joint",
            Self::Hinge => "hinge",
            Self::Slider => "slider",
            Self::Cylindrical => "cylindrical joint",
            Self::Universal => "universal joint",
            Self::SkewedUniversal { .. } => "skewed universal joint",
            Self::Ellipsoid { .. } => "ellipsoid joint",
            Self::GimbalXyz => "gimbal",
            Self::GimbalXzy => "gimbal (x, z, y)",
            Self::Ball => "ball joint",
            Self::Planar => "planar joint",
            Self::PlanarTranslation => "planar translation",
            Self::SlottedHinge => "slotted hinge",
            Self::FixedAxis => "fixed axis",
            Self::Free => "free joint",
            Self::Screw { .. } => "screw",
            Self::Distance { .. } => "distance",
            Self::PointOnLine => "point on a line",
            Self::PointOnPlane => "point on a plane",
        }
    }

    /// The coordinates that it holds at zero, in order. Axes are held by direction cosines, which
    /// are smooth however far the joint has turned. (The screw holds one more: its travel less the
    /// pitch times its turns. The distance holds its length. The skewed universal joint holds the
    /// cosine less the sine of its skew, the ellipsoid the translations less the point of its normal.)
    pub const fn held_axes(self) -> &'static [JointAxis] {
        const POINT: [JointAxis; 3] = [Translation(X), Translation(Y), Translation(Z)];
        match self {
            Self::Fixed => &[
                POINT[0],
                POINT[1],
                POINT[2],
                Rotation(X),
                Rotation(Y),
                Rotation(Z),
            ],
            Self::Hinge => &[
                POINT[0],
                POINT[1],
                POINT[2],
                Misalignment(Z, X),
                Misalignment(Z, Y),
            ],
            Self::Slider => &[
                Translation(X),
                Translation(Y),
                Rotation(X),
                Rotation(Y),
                Rotation(Z),
            ],
            Self::Cylindrical | Self::Screw { .. } => &[
                Translation(X),
                Translation(Y),
                Misalignment(Z, X),
                Misalignment(Z, Y),
            ],
            Self::Universal | Self::SkewedUniversal { .. } => {
                &[POINT[0], POINT[1], POINT[2], Misalignment(X, Y)]
            }
            Self::GimbalXyz | Self::GimbalXzy | Self::Ball | Self::Ellipsoid { .. } => {
                &[POINT[0], POINT[1], POINT[2]]
            }
            Self::Planar => &[Translation(Z), Misalignment(Z, X), Misalignment(Z, Y)],
            Self::PlanarTranslation => &[Translation(Z), Rotation(X), Rotation(Y), Rotation(Z)],
            Self::SlottedHinge => &[
                Translation(Y),
                Translation(Z),
                Misalignment(Z, X),
                Misalignment(Z, Y),
            ],
            Self::FixedAxis => &[Misalignment(X, Y)],
            Self::PointOnLine => &[Translation(X), Translation(Y)],
            Self::PointOnPlane => &[Translation(Z)],
            Self::Distance { .. } | Self::Free => &[],
        }
    }

    /// Surfaces that slide on each other in it: the free coordinates by which they do, and the held
    /// translations whose force presses them together, by their numbers in
    /// [`held_axes`](Self::held_axes). `None` of kinds whose surfaces are not known.
    pub const fn sliding(self) -> Option<(&'static [JointAxis], &'static [usize])> {
        match self {
            Self::Hinge => Some((&[Twist(Z)], &[0, 1])),
            Self::Slider | Self::PointOnLine => Some((&[Translation(Z)], &[0, 1])),
            Self::Cylindrical => Some((&[Translation(Z), Twist(Z)], &[0, 1])),
            Self::Ball => Some((&[Rotation(X), Rotation(Y), Rotation(Z)], &[0, 1, 2])),
            Self::PlanarTranslation | Self::PointOnPlane => Some((&[Translation(X), Translation(Y)], &[0])),
            _ => None,
        }
    }

    /// The coordinates that it leaves free and names: with the last part of the name of their node.
    pub const fn free_axes(self) -> &'static [(JointAxis, &'static str)] {
        match self {
            Self::Fixed | Self::Distance { .. } => &[],
            Self::Hinge => &[(Twist(Z), "angle")],
            Self::Slider => &[(Translation(Z), "travel")],
            Self::Cylindrical | Self::Screw { .. } => &[(Translation(Z), "travel"), (Twist(Z), "angle")],
            Self::Universal | Self::SkewedUniversal { .. } => &[
                (HeadingInA { about: X, of: Y }, "first_angle"),
                (HeadingInB { about: Y, of: X }, "second_angle"),
            ],
            Self::GimbalXyz => &[
                (HeadingInA { about: X, of: Z }, "first_angle"),
                (Elevation { of: Z, against: X }, "second_angle"),
                (HeadingInB { about: Z, of: X }, "third_angle"),
            ],
            Self::Ellipsoid { .. } => &[
                (HeadingInA { about: X, of: Z }, "longitude"),
                (Elevation { of: Z, against: X }, "latitude"),
                (HeadingInB { about: Z, of: X }, "turn"),
            ],
            Self::GimbalXzy => &[
                (HeadingInA { about: X, of: Y }, "first_angle"),
                (Elevation { of: Y, against: X }, "second_angle"),
                (HeadingInB { about: Y, of: X }, "third_angle"),
            ],
            Self::Ball => &[(Rotation(X), "rx"), (Rotation(Y), "ry"), (Rotation(Z), "rz")],
            Self::Planar => &[(Translation(X), "x"), (Translation(Y), "y"), (Twist(Z), "angle")],
            Self::PointOnLine => &[(Translation(Z), "travel")],
            Self::SlottedHinge => &[(Translation(X), "travel"), (Twist(Z), "angle")],
            Self::FixedAxis => &[
                (Translation(X), "x"),
                (Translation(Y), "y"),
                (Translation(Z), "z"),
                (HeadingInA { about: X, of: Y }, "first_angle"),
                (HeadingInB { about: Y, of: X }, "second_angle"),
            ],
            Self::Free => &[
                (Translation(X), "x"),
                (Translation(Y), "y"),
                (Translation(Z), "z"),
                (Rotation(X), "rx"),
                (Rotation(Y), "ry"),
                (Rotation(Z), "rz"),
            ],
            Self::PointOnPlane | Self::PlanarTranslation => &[(Translation(X), "x"), (Translation(Y), "y")],
        }
    }
}
