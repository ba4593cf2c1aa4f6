//! Joints with names users know, made of mappings and constraints.

mod build;
mod damping;
mod held;
mod kind;

pub use damping::JointDamping;
pub use kind::JointKind;

use crate::{ComponentId, Level, NodeId, Pose, PrescribedMotion};

/// One side of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The world. The frame is that of [`Joint::at`].
    World,
    /// A body; the frame is fixed in it where [`Joint::at`] puts it at the start.
    Body(NodeId, usize),
    /// A frame of a body, given in its axes about its centre of mass (m).
    Frame(NodeId, usize, Pose),
    /// A frame of the world (m).
    Fixed(Pose),
}

/// Components attached to one free coordinate of a joint.
#[derive(Clone, Debug)]
enum Attached {
    Spring {
        compliance: f64,
        damping: JointDamping,
        rest: f64,
    },
    Damper(f64),
    PositionMotor {
        motion: PrescribedMotion,
        compliance: f64,
        relaxation_time: f64,
        force: f64,
    },
    VelocityMotor {
        motion: PrescribedMotion,
        force: f64,
    },
    Friction(f64),
    ReactionFriction {
        coefficient: f64,
        radius: Option<f64>,
    },
    Limits {
        lower: f64,
        upper: f64,
        restitution: f64,
    },
    SoftLimits {
        lower: f64,
        upper: f64,
        compliance: f64,
    },
}

/// A joint between two bodies, or a body and the world: what it holds, and what acts on the
/// coordinates that it leaves free.
///
/// Frame A belongs to the first side, frame B to the second; its axis is their z axis. Held
/// coordinates are exactly hard unless they are given compliances. Free coordinates are numbered as
/// in [`JointKind::free_axes`].
///
/// **Equation.** `phi = 0` for each held coordinate, or `C lambda = -(phi + d dphi/dt)` with a
/// compliance `C`. A free coordinate `x` with the velocity `v` feels the force `lambda` (N, N m) of
/// whatever is attached to it.
///
/// **Use.** Machines, doors, vehicles, figures, robots: whatever is made of bodies that move
/// against each other.
///
/// ```
/// use pliant_model::{Joint, Mass, Model, Pose, RigidMass, Side};
/// let mut model = Model::new();
/// let rod = model.add_rigid_bodies("rod", &[Pose::at([0.5, 0.0, 0.0])])?;
/// model.add_mass("rod mass", rod, Mass::Rigid(vec![RigidMass::cuboid(2.0, [1.0, 0.1, 0.1])]))?;
/// // A hinge at the origin, about z, with a damper of 0.1 N m s/rad.
/// let joint = Joint::hinge(Side::World, Side::Body(rod, 0)).at(Pose::default()).with_damper(0, 0.1);
/// let hinge = model.add_joint("hinge", &joint)?;
/// let state = model.initial_state()?;
/// assert_eq!(model.positions(&state, hinge.coordinates[0]), &[0.0]);
/// # Ok::<(), pliant_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Joint {
    kind: JointKind,
    sides: [Side; 2],
    at: Pose,
    level: Level,
    compliances: Vec<f64>,
    damping: JointDamping,
    attached: Vec<(usize, Attached)>,
    collides: bool,
    has_coordinates: bool,
}

/// The nodes and components that [`Model::add_joint`](crate::Model::add_joint) made of a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct JointHandle {
    /// The component that holds it: a hard constraint, or compliances. `None` if it holds nothing.
    pub rows: Option<ComponentId>,
    /// The node of the held coordinates.
    pub held: Option<NodeId>,
    /// The nodes of the free coordinates, each a scalar, named `joint.angle` and the like. A ball
    /// joint has none unless something acts on them or
    /// [`Joint::with_coordinates`] asks for them.
    pub coordinates: Vec<NodeId>,
    /// Springs, dampers, motors, friction and limits, in the order in which they were attached
    /// (limits: lower, then upper).
    pub attached: Vec<ComponentId>,
    /// The motors among them.
    pub motors: Vec<ComponentId>,
    /// Both sides with their frames: body and pose in its axes, or pose in the world.
    pub frames: [(Option<(NodeId, usize)>, Pose); 2],
}

impl Joint {
    /// A joint of any kind.
    pub fn new(kind: JointKind, a: Side, b: Side) -> Self {
        Self {
            kind,
            sides: [a, b],
            at: Pose::default(),
            level: Level::Position,
            compliances: Vec::new(),
            damping: JointDamping::RelaxationTime(0.0),
            attached: Vec::new(),
            collides: false,
            has_coordinates: false,
        }
    }

    /// Holds everything.
    pub fn fixed(a: Side, b: Side) -> Self {
        Self::new(JointKind::Fixed, a, b)
    }

    /// Turns about z.
    pub fn hinge(a: Side, b: Side) -> Self {
        Self::new(JointKind::Hinge, a, b)
    }

    /// Slides along z.
    pub fn slider(a: Side, b: Side) -> Self {
        Self::new(JointKind::Slider, a, b)
    }

    /// Slides along z and turns about it.
    pub fn cylindrical(a: Side, b: Side) -> Self {
        Self::new(JointKind::Cylindrical, a, b)
    }

    /// Turns about x of A and y of B, which stay perpendicular: a Cardan joint.
    pub fn universal(a: Side, b: Side) -> Self {
        Self::new(JointKind::Universal, a, b)
    }

    /// Turns about x of A and an axis of B that leans from the perpendicular by `skew` (rad).
    pub fn skewed_universal(a: Side, b: Side, skew: f64) -> Self {
        Self::new(JointKind::SkewedUniversal { skew }, a, b)
    }

    /// Moves on an ellipsoid of these semi-axes (m) that is fixed in A, with z of B along its normal.
    pub fn ellipsoid(a: Side, b: Side, semi_axes: [f64; 3]) -> Self {
        Self::new(JointKind::Ellipsoid { semi_axes }, a, b)
    }

    /// Turns about x of A, then y, then z of B, by three angles.
    pub fn gimbal(a: Side, b: Side) -> Self {
        Self::new(JointKind::GimbalXyz, a, b)
    }

    /// Turns about everything.
    pub fn ball(a: Side, b: Side) -> Self {
        Self::new(JointKind::Ball, a, b)
    }

    /// Slides along x and y and turns about z.
    pub fn planar(a: Side, b: Side) -> Self {
        Self::new(JointKind::Planar, a, b)
    }

    /// Slides along x and y without turning.
    pub fn planar_translation(a: Side, b: Side) -> Self {
        Self::new(JointKind::PlanarTranslation, a, b)
    }

    /// Slides along x of A and turns about z: a hinge in a slot.
    pub fn slotted_hinge(a: Side, b: Side) -> Self {
        Self::new(JointKind::SlottedHinge, a, b)
    }

    /// Turns about x of A and y of B, which stay perpendicular, and moves everywhere.
    pub fn fixed_axis(a: Side, b: Side) -> Self {
        Self::new(JointKind::FixedAxis, a, b)
    }

    /// Holds nothing, but has six coordinates that springs, motors and limits act on.
    pub fn free(a: Side, b: Side) -> Self {
        Self::new(JointKind::Free, a, b)
    }

    /// Turns about z and moves along it by `pitch` per turn (m).
    pub fn screw(a: Side, b: Side, pitch: f64) -> Self {
        Self::new(JointKind::Screw { pitch }, a, b)
    }

    /// Keeps the distance of the two origins as at the start, or as given (m).
    pub fn distance(a: Side, b: Side, length: Option<f64>) -> Self {
        Self::new(JointKind::Distance { length }, a, b)
    }

    /// The origin of B stays on the z axis of A.
    pub fn point_on_line(a: Side, b: Side) -> Self {
        Self::new(JointKind::PointOnLine, a, b)
    }

    /// The origin of B stays in the x y plane of A.
    pub fn point_on_plane(a: Side, b: Side) -> Self {
        Self::new(JointKind::PointOnPlane, a, b)
    }

    /// Holds nothing hard: six springs between the frames, three compliances along the axes of A
    /// (m/N), three about them (rad/(N m)), and a relaxation time (s).
    pub fn bushing(a: Side, b: Side, compliances: [f64; 6], relaxation_time: f64) -> Self {
        let mut out = Self::new(JointKind::Fixed, a, b);
        out.compliances = compliances.to_vec();
        out.damping = JointDamping::RelaxationTime(relaxation_time);
        out
    }

    /// Where it is at the start (m): both frames of sides that are whole bodies or the world.
    #[must_use]
    pub fn at(mut self, pose: Pose) -> Self {
        self.at = pose;
        self
    }

    /// Lets the colliders of its two bodies meet, which they do not by default
    /// ([`Model::joined`](crate::Model::joined)).
    #[must_use]
    pub fn colliding(mut self) -> Self {
        self.collides = true;
        self
    }

    /// Gives a ball joint its three coordinates, the rotation vector of B against A (rad), even if
    /// nothing acts on them. Other joints have theirs in any case.
    #[must_use]
    pub fn with_coordinates(mut self) -> Self {
        self.has_coordinates = true;
        self
    }

    /// How the held coordinates are kept, if they are hard.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Compliances of the held coordinates (m/N, rad/(N m)), in the order of
    /// [`JointKind::held_axes`], one each or one for all (zero is hard), and a relaxation time (s).
    #[must_use]
    pub fn with_compliance(mut self, compliances: &[f64], relaxation_time: f64) -> Self {
        self.compliances = compliances.to_vec();
        self.damping = JointDamping::RelaxationTime(relaxation_time);
        self
    }

    /// Damps the compliances of held coordinates by a ratio `zeta` (none) of critical damping instead
    /// of a relaxation time: each by the mass that it moves at the start, with all else that is hard
    /// held. A simulation resolves it when it begins.
    #[must_use]
    pub fn with_damping_ratio(mut self, zeta: f64) -> Self {
        self.damping = JointDamping::Ratio(zeta);
        self
    }

    fn attach(mut self, axis: usize, what: Attached) -> Self {
        self.attached.push((axis, what));
        self
    }

    /// A spring on free coordinate `axis`, `C lambda = -(x - rest + d v)`: compliance `C` (m/N,
    /// rad/(N m)), relaxation time `d` (s) and where it is at rest (m, rad).
    #[must_use]
    pub fn with_spring(self, axis: usize, compliance: f64, relaxation_time: f64, rest: f64) -> Self {
        let damping = JointDamping::RelaxationTime(relaxation_time);
        self.with_damped_spring(axis, compliance, damping, rest)
    }

    /// A spring as of [`with_spring`](Self::with_spring) (m/N, rad/(N m); m, rad), damped as
    /// [`JointDamping`] says.
    #[must_use]
    pub fn with_damped_spring(self, axis: usize, compliance: f64, damping: JointDamping, rest: f64) -> Self {
        let spring = Attached::Spring {
            compliance,
            damping,
            rest,
        };
        self.attach(axis, spring)
    }

    /// A damper on free coordinate `axis`, `lambda = -b v`: coefficient `b` (N s/m, N m s/rad).
    #[must_use]
    pub fn with_damper(self, axis: usize, damping: f64) -> Self {
        self.attach(axis, Attached::Damper(damping))
    }

    /// A motor that drives free coordinate `axis` to a position (m, rad), through a compliance `C`
    /// (m/N, rad/(N m); zero is exact) with a relaxation time `d` (s), with at most the given force
    /// (N, N m; infinite if it has no bound): `C lambda = -(e + d de/dt)` for the error
    /// `e = x - motion(t)` while `|lambda| <= force`.
    #[must_use]
    pub fn with_position_motor(
        self,
        axis: usize,
        motion: PrescribedMotion,
        compliance: f64,
        relaxation_time: f64,
        force: f64,
    ) -> Self {
        self.attach(
            axis,
            Attached::PositionMotor {
                motion,
                compliance,
                relaxation_time,
                force,
            },
        )
    }

    /// A motor that drives free coordinate `axis` at the rate of a motion (m/s, rad/s), with at
    /// most the given force (N, N m): `v = d motion/dt` while `|lambda| <= force`.
    #[must_use]
    pub fn with_velocity_motor(self, axis: usize, motion: PrescribedMotion, force: f64) -> Self {
        self.attach(axis, Attached::VelocityMotor { motion, force })
    }

    /// Dry friction on free coordinate `axis`, at most this force (N, N m) against its motion:
    /// `v = 0` while `|lambda| <= force`.
    #[must_use]
    pub fn with_friction(self, axis: usize, force: f64) -> Self {
        self.attach(axis, Attached::Friction(force))
    }

    /// Dry friction in proportion to the force that the joint carries, against all that slides in
    /// it, in the kinds of [`JointKind::sliding`]: with the force `R` (N) of the held translations,
    /// the coefficient `mu` and the slip velocity `w` (m/s) of its surfaces, friction is at most
    /// `mu |R|` against `w`. What turns does so on a pin or a ball of a radius `r` (m), with at most
    /// the torque `mu r |R|`; a cylindrical joint slides and turns on one pin, on which friction
    /// opposes the sum of both. Moments across the axis press no surfaces: their arms are not known.
    #[must_use]
    pub fn with_reaction_friction(self, coefficient: f64, radius: Option<f64>) -> Self {
        self.attach(0, Attached::ReactionFriction { coefficient, radius })
    }

    /// Limits of free coordinate `axis` (m, rad), `lower <= x <= upper`: it stops there without
    /// bouncing.
    #[must_use]
    pub fn with_limits(self, axis: usize, lower: f64, upper: f64) -> Self {
        self.with_bouncing_limits(axis, lower, upper, 0.0)
    }

    /// Limits as those of [`with_limits`](Self::with_limits), which turn a share of the velocity
    /// round with which they are reached: the coefficient `e` of restitution of Newton's law of
    /// impact, between 0 and 1.
    #[must_use]
    pub fn with_bouncing_limits(self, axis: usize, lower: f64, upper: f64, restitution: f64) -> Self {
        let limits = Attached::Limits {
            lower,
            upper,
            restitution,
        };
        self.attach(axis, limits)
    }

    /// Limits of free coordinate `axis` (m, rad) that give way: stops with a compliance `C` (m/N,
    /// rad/(N m)), `C lambda = -(x - limit)` where that pushes back, else no force. They give back what
    /// they take. A compliance of zero is hard, and stops without bouncing.
    #[must_use]
    pub fn with_soft_limits(self, axis: usize, lower: f64, upper: f64, compliance: f64) -> Self {
        let limits = Attached::SoftLimits {
            lower,
            upper,
            compliance,
        };
        self.attach(axis, limits)
    }
}
