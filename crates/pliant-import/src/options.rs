//! Options of imports.

use std::path::PathBuf;

/// Wishes for an import beside the file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directories of packages, by the names that `package://name/...` has in URDF; that named
    /// `share` is the one of the meshes of SOFA's scenes.
    pub packages: Vec<(String, PathBuf)>,
    /// Whether the base of a URDF robot moves freely; it is fixed to the world otherwise.
    pub floating: bool,
    /// Position of the base of a URDF robot at the start, in m.
    pub position: [f64; 3],
    /// Whether the links of a URDF robot collide with each other; those that a joint joins never
    /// do. (MJCF says by itself what collides.)
    pub self_collision: bool,
    /// Whether there is a plane at z = 0 (y = 0 of OpenSim) that everything collides with.
    pub ground: bool,
    /// Coordinates of joints at the start, in m and rad, by the names of the joints; others start
    /// at zero, or at their nearest limit.
    pub start: Vec<(String, f64)>,
    /// The directory of the scene, from which paths of meshes are written; that of the robot by
    /// default.
    pub scene_directory: Option<PathBuf>,
}
