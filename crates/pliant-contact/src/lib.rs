//! Collision geometry: shapes, who may touch whom, and contact points with persistent identities.
//!
//! Finds, from a model and its state, a list of [`Contact`]s, each with its points, normal, gap,
//! material, and a [`ContactKey`] that it keeps while it lasts. The crate knows no rows,
//! multipliers, or time steps; the *horizon* of [`World::update`] is how far ahead (s) it looks
//! along the present velocities.
//!
//! ```
//! use pliant_contact::{Collider, Placement, Shape, World};
//! use pliant_model::{Model, Pose};
//! // A ball of radius 0.5 m, 0.1 m above the ground, falls with 3 m/s.
//! let mut model = Model::new();
//! let ball = model.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 0.6])])?;
//! let mut world = World::new();
//! world.add(Collider::new("ground", Shape::half_space([0.0, 0.0, 1.0])?, Placement::Fixed(Pose::default())))?;
//! let place = Placement::Body { node: ball, element: 0, pose: Pose::default() };
//! world.add(Collider::new("ball", Shape::ball(0.5)?, place))?;
//! let mut state = model.initial_state()?;
//! state.velocities[2] = -3.0;
//! // Within 1/100 s it does not get there; within 1/20 s it does.
//! assert!(world.update(&model, &state.positions, &state.velocities, 0.01)?.is_empty());
//! let contacts = world.update(&model, &state.positions, &state.velocities, 0.05)?;
//! assert_eq!(contacts.len(), 1);
//! assert!((contacts[0].gap - 0.1).abs() < 1e-15);
//! assert_eq!(contacts[0].normal, [0.0, 0.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is exact
//!
//! Gaps and normals of half spaces against anything, and of balls, boxes, capsules, hulls,
//! triangles and soft shapes among each other, are closed forms, right to rounding (tested to 1e-12
//! m for lengths of 1 m, and against sampled support functions); where parts with edges touch, a
//! face stands for a normal that is better by less than 1e-5 of their size. Cylinders are exact
//! against half spaces, balls, and wherever a cap, a face or a pair of straight lines decides;
//! beside rims, as between hulls of very many edges, the normal comes from an iterative algorithm
//! (parry's GJK and EPA) and Newton's method, mostly to 1e-8 m and always tested to 5e-6 m.
//!
//! Apart, a mesh of triangles has the gaps and the normals of the solid that it bounds: edges
//! inside a flat face are not felt. Deep in a solid mesh, each triangle knows the way out along its
//! own normal only, so the depth there is not the least one; a body wholly inside a solid mesh
//! touches nothing. Two meshes, and soft shapes among each other, meet corner against face and edge
//! against edge; [`World::find_crossed`] tells which of them pass through each other along a way,
//! on which convex shapes are followed against everything by every search.
//!
//! Distance fields are touched at the surface of their interpolant ([`DistanceField`] says how near
//! that is to a function): balls, capsules, corners and points of sheets at all its nearest places,
//! edges and rims where the field is least along them, planes and faces where the surface is lowest
//! over them, each by Newton's method or bisection, right to rounding where the field is smooth (a
//! plane to 1e-12 m, a sphere with the error of the interpolant). Searches start at samples, one in
//! each cell that the surface passes: bumps and dents of less than two spacings may be left out. A
//! face on a flat part of a field, and flat parts of two fields, meet at up to nine of these
//! samples, so that where a flat part ends is known to a spacing. What is wholly inside a face's
//! shape without reaching one of its faces touches nothing; of what is deep inside a field, each
//! corner and point is pushed to the nearest place of the surface. Where a compliant material would
//! add the forces of all points that overlap, those of a flat part are still the nine.
//!
//! # Order and identity
//!
//! Everything is in a fixed order: that in which colliders were added, then of serials. Nothing
//! depends on addresses or hashes. After the first updates nothing is allocated unless there are
//! more contacts than ever before (or hulls of very many edges, or cylinders beside edges, which go
//! to the iterative algorithm; its deep case allocates).
//!
//! With the feature `serde`, off by default, options that are a choice of words are read and written.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod area;
mod bvh;
mod collider;
mod contact;
mod error;
mod friction;
mod material;
mod memory;
mod narrow;
mod parry;
mod shape;
mod surface;
mod world;

pub use area::ContactArea;
pub use collider::{Collider, ColliderId, CollisionGroups, MaterialId, Placement, Rest};
pub use contact::{Carrier, Contact, ContactKey, ContactSide};
pub use error::ContactError;
pub use friction::{Direction, FrictionModel};
pub use material::{FrictionRule, Material};
pub use memory::{ContactMemory, Remembered};
pub use shape::distance_field::DistanceField;
pub use shape::{MeshKind, Shape, Triangulation};
pub use world::{Crossed, StraightWay, World};

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
