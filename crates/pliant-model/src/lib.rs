//! Mechanical models: states, the mapping graph, masses, force fields and constraints.
//!
//! Describes the *problem* ([`Model`]) and evaluates it: positions, forces, Jacobian blocks, and
//! blocks of stiffness, compliance, damping and mass. The crate has no time step, linear system or
//! solver.
//!
//! ```
//! use pliant_model::{Distance, Level, Mass, Model};
//! // A bead on a rod of length 1 m about the origin.
//! let mut model = Model::new();
//! model.set_gravity([0.0, -9.81, 0.0])?;
//! let bead = model.add_particles("bead", &[[1.0, 0.0, 0.0]])?;
//! model.add_mass("bead mass", bead, Mass::Uniform(1.0))?;
//! let rod = model.add_mapped("rod", &[bead], Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]))?;
//! model.add_constraint("rod is stiff", rod, Level::Position)?;
//! let state = model.initial_state()?;
//! assert_eq!(model.positions(&state, rod), &[0.0]); // a length of 1 m, less the rest length
//! # Ok::<(), pliant_model::ModelError>(())
//! ```
//!
//! With the feature `serde`, off by default, options that are a choice of words are read and written.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod blocks;
pub mod check;
pub mod dual;
mod error;
mod evaluate;
mod expression;
mod field;
mod force_field;
mod force_fields;
mod joint;
mod lean_state;
mod mapping;
mod mappings;
mod mass;
mod memory;
mod model;
mod motion;
mod parameters;
mod problem;
mod space;
mod state;
pub mod validate;

pub use blocks::Blocks;
pub use error::ModelError;
pub use evaluate::{ChordWork, Energies, Evaluation, Momentum};
pub use expression::Expression;
pub use field::Field;
pub use force_field::{At, ForceField, ForceFieldPieces, Groups, NotInvertible, RowLaw};
pub use force_fields::{
    ActivationDynamics, AxialMuscle, BodyForce, ConstantForce, Damping, DiagonalCompliance, Drag,
    ForceLengthMuscle, FullCompliance, Gas, Ligament, MuscleTendon, Potential, Pull, Spring, Torque,
    UniformCompliance,
};
pub use joint::{Joint, JointDamping, JointHandle, JointKind, Side};
pub use lean_state::LeanState;
pub use mapping::{Degenerate, Dependency, Mapping, MappingPieces, Parents};
pub use mappings::{
    Addition, Affine, AffineEntry, Area, Barycentric, BeamSegment, BeamStrain, Cell, CentreOfMass,
    Coordinate, CurvatureBinormal, Curve, Difference, DihedralAngle, Distance, DotProduct, End,
    ExpressionCoordinates, ExpressionElement, Expressions, FittedFrame, FittedFrames, Formula, FramePair,
    FramePoint, FrameShape, Gear, Identity, Influence, JointAxis, JointCoordinates, JointFrame, Mask,
    MeshError, ModalFrame, ModalFrames, ModalPoint, ModalPoints, Normalization, Obstacle, Outside, Pairing,
    Projection, Quadratic, RelativeMotion, RelativePose, RelativeRotation, RestPoint, RigidFrames,
    RigidPoints, Rope, RopePath, SafeDistance, SegmentAngle, Skinning, SquareDistance, Subset, Volume, Winch,
    WrapSide, WrapSurface, WrappedPath, WrappedRope, quadratic_bending,
};
pub use mass::{CoupledMass, Mass, RigidMass};
pub use memory::{Memory, Past};
pub use model::{
    Attachment, ComponentId, ConstraintEntry, ElementIndex, ElementShare, ForceFieldEntry, Joined, Kept,
    Level, MassEntry, Model, Node, NodeId, NodeKind, Processes, Rayleigh, ReactionFriction, RowGroup,
    Treatment, check_removal,
};
pub use motion::PrescribedMotion;
pub use parameters::Parameters;
pub use pliant_expression::ExpressionError;
pub use pliant_threads::Threads;
pub use problem::Problem;
pub use space::{Pose, Space};
pub use state::State;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
