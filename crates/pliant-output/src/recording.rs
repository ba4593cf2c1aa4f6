//! The recording of a run, for pictures and files: a fixed topology and one [`Frame`] per recorded
//! instant.
//!
//! It is plain data and the writers read nothing else, so a recording can come from anywhere.

mod look;
mod region;
mod surface;

pub use look::{Look, Viewpoint};
pub use region::{CellKind, FieldSpec, Region, RegionCell, RegionFrame, RegionKind};
pub use surface::Surface;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One rigid body of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyTrack {
    /// The user's name of the body.
    pub name: String,
    /// Its picture.
    pub shape: Shape,
}

/// The picture of a rigid body, in body axes about its origin (the centre of mass).
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box of half extents `half` in metres.
    Box {
        /// Half extents (m).
        half: [f64; 3],
    },
    /// A sphere of radius `radius` in metres.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// Three axes of length `size` in metres.
    Axes {
        /// Length of each axis (m).
        size: f64,
    },
    /// Triangles.
    Mesh(Arc<Surface>),
}

/// A run of particles that belong to one node of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct PointGroup {
    /// The user's name of the node.
    pub name: String,
    /// Index of its first point.
    pub start: usize,
    /// Number of its points.
    pub count: usize,
}

/// A line with a name: the segments of a spring, a rope, a tendon or a muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct LineTrack {
    /// The user's name.
    pub name: String,
    /// Index of its first segment in [`Recording::segments`].
    pub first: usize,
    /// Number of its segments.
    pub count: usize,
    /// Whether [`Frame::activations`] has its activation: lines that are muscles come in its order.
    pub is_muscle: bool,
}

/// The place of a joint, which is drawn as a mark.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMark {
    /// The user's name.
    pub name: String,
    /// The kind in words: `hinge`, `ball joint`.
    pub kind: &'static str,
    /// The body that carries the joint's frame, by its place in [`Recording::bodies`]; the world
    /// otherwise.
    pub body: Option<usize>,
    /// Position in the axes of the body, or of the world (m).
    pub position: [f64; 3],
    /// Rotation there, a unit quaternion (w, x, y, z); the axis of the joint is its z axis.
    pub rotation: [f64; 4],
    /// Column of [`Recording::joints`], without the time, that has x of the force on that side.
    pub force: usize,
}

/// A number at all points that is recorded with every frame, such as a stress.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldInfo {
    /// Its name: `von Mises stress`.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
}

/// The state at one recorded instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Time (s).
    pub time: f64,
    /// Positions of all points (m).
    pub points: Vec<[f64; 3]>,
    /// Velocities of all points (m/s), as many as `points`.
    pub velocities: Vec<[f64; 3]>,
    /// Contact pressure at all points (Pa), as many as `points`; empty if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pressures: Vec<f64>,
    /// Contact forces on all points (N): the sum over the last step; empty if nothing collides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contact_forces: Vec<[f64; 3]>,
    /// Values of [`Recording::fields`], in their order: of each as many as `points`, not finite
    /// where there is none; empty if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Vec<f64>>,
    /// Poses of all bodies: position (m), then unit quaternion (w, x, y, z).
    pub poses: Vec<[f64; 7]>,
    /// Velocities of the origins of all bodies (m/s), as many as `poses`; empty if they are not
    /// known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body_velocities: Vec<[f64; 3]>,
    /// Angular velocities in world axes (rad/s) of the bodies that are no colliders, which come
    /// first. Empty unless the trajectory is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub angular_velocities: Vec<[f64; 3]>,
    /// Contact forces on all bodies (N), as many as `poses`; empty if nothing collides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body_contact_forces: Vec<[f64; 3]>,
    /// Activations of the lines that are muscles, from 0 to 1; empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activations: Vec<f64>,
    /// Lines that are no more, because all that acted along them was released, by their places in
    /// [`Recording::lines`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<u32>,
    /// Triangles that are not there, because their element is gone or they are inside, by their
    /// places in [`Recording::triangles`], rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<u32>,
    /// Numbers on the points and cells of [`Recording::regions`]; empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionFrame>,
    /// Energies and residuals of the step that ended here.
    pub sample: Sample,
}

impl Frame {
    /// The frame at a share of the way to another one of the same recording: positions in straight
    /// lines, rotations along the shorter arc, all else of this frame.
    pub fn towards(&self, next: &Self, share: f64) -> Self {
        let mix = |a: f64, b: f64| a + share * (b - a);
        let mut out = self.clone();
        out.time = mix(self.time, next.time);
        for (a, b) in out.points.iter_mut().zip(&next.points) {
            *a = [0, 1, 2].map(|k| mix(a[k], b[k]));
        }
        for (a, b) in out.poses.iter_mut().zip(&next.poses) {
            let cosine: f64 = (3..7).map(|k| a[k] * b[k]).sum();
            let mixed: [f64; 7] = std::array::from_fn(|k| match k {
                0..3 => mix(a[k], b[k]),
                _ => mix(a[k], b[k] * cosine.signum()),
            });
            let norm = mixed[3..].iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
            *a = std::array::from_fn(|k| if k < 3 { mixed[k] } else { mixed[k] / norm });
        }
        out
    }
}

/// Names of the sources in [`Sample::ledger`]; those that begin with `numerical_` sum to
/// `numerical`.
pub const LEDGER: [&str; 16] = [
    "forces",
    "motion",
    "motors",
    "inputs",
    "damping",
    "friction",
    "impacts",
    "corrections",
    "removed",
    "numerical",
    "numerical_inertia",
    "numerical_stiffness",
    "numerical_geometry",
    "numerical_rows",
    "numerical_undivided",
    "numerical_rest",
];

/// One line of the energy table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Time (s).
    pub time: f64,
    /// Kinetic energy (J).
    pub kinetic: f64,
    /// Potential energy of gravity and of all springs (J).
    pub potential: f64,
    /// Energy taken out by damping since the start (J).
    pub dissipated: f64,
    /// Relative residual of the linear system of the step (no unit).
    pub residual: f64,
    /// Largest violation of a hard constraint (m or rad).
    pub violation: f64,
    /// Energy brought in since the start, by source (J): the entries that [`LEDGER`] names, in its
    /// order.
    pub ledger: [f64; LEDGER.len()],
}

/// Numbers with names over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberTable {
    /// Names of the columns after the time, with units.
    pub columns: Vec<String>,
    /// One line per recorded instant: time (s), then a number per column.
    pub lines: Vec<Vec<f64>>,
}

/// A contact at a recorded instant: where it acted in the step that ended there, and what it did
/// over it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactLine {
    /// Time at the end of the step (s).
    pub time: f64,
    /// The two colliders, by their positions in [`ContactTable::names`].
    pub sides: [u32; 2],
    /// Position (m).
    pub point: [f64; 3],
    /// Unit vector from the first collider to the second.
    pub normal: [f64; 3],
    /// Distance along the normal (m).
    pub gap: f64,
    /// Average force over the step on the second collider (N).
    pub force: [f64; 3],
    /// Torque of its resistance to spin and rolling (N m).
    pub torque: [f64; 3],
    /// Velocity of the second point against the first at the end of the step (m/s).
    pub velocity: [f64; 3],
    /// Its state.
    pub state: ContactPhase,
}

/// The state of a contact in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactPhase {
    /// No force.
    Open,
    /// A force, and no slip.
    Sticking,
    /// A force, and slip.
    Slipping,
}

impl ContactPhase {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Sticking => "sticking",
            Self::Slipping => "slipping",
        }
    }
}

impl ContactLine {
    /// The part of the velocity across the normal.
    pub fn slip(&self) -> [f64; 3] {
        let along: f64 = (0..3).map(|k| self.velocity[k] * self.normal[k]).sum();
        [0, 1, 2].map(|k| self.velocity[k] - along * self.normal[k])
    }
}

/// Contacts over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactTable {
    /// Names of what collides; empty if nothing can.
    pub names: Vec<String>,
    /// All contacts of the recorded instants, in order of time.
    pub lines: Vec<ContactLine>,
    /// Contacts that found no room.
    pub left_out: usize,
}

/// A recorded motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Title of the scene.
    pub title: String,
    /// Runs of points by node, in order, covering all points.
    pub groups: Vec<PointGroup>,
    /// Pairs of point indices to draw as lines (cables, strings, springs).
    pub segments: Vec<[u32; 2]>,
    /// Segments that have a name of their own, in order.
    pub lines: Vec<LineTrack>,
    /// Triples of point indices to draw as surfaces.
    pub triangles: Vec<[u32; 3]>,
    /// Rigid bodies.
    pub bodies: Vec<BodyTrack>,
    /// Solids, sheets and rods with numbers on their points and cells.
    pub regions: Vec<Region>,
    /// Marks of joints.
    pub marks: Vec<JointMark>,
    /// Numbers at points that [`Frame::fields`] has.
    pub fields: Vec<FieldInfo>,
    /// Cameras and colours that the scene asks for.
    pub look: Look,
    /// The recorded instants, in order of time.
    pub frames: Vec<Frame>,
    /// One line per time step (finer than `frames`).
    pub samples: Vec<Sample>,
    /// Coordinates and forces of joints over time.
    pub joints: NumberTable,
    /// Quantities that are recorded.
    pub probes: NumberTable,
    /// Contacts over time.
    pub contacts: ContactTable,
}
