//! Bodies of a few modes in floating frames.

use pliant_dense::rotation::{normalize, rotate};
use pliant_dense::{Mat3, Vec3, vec3};
use pliant_model::{
    ComponentId, CoupledMass, DiagonalCompliance, FrameShape, Mass, ModalFrame, ModalFrames, ModalPoint,
    ModalPoints, Model, ModelError, NodeId, Pose, Space, Treatment,
};
use std::ops::Range;

/// A mode of a [`ReducedBody`].
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedMode {
    /// Angular frequency of the free body in this mode (rad/s).
    pub angular_frequency: f64,
    /// Its mass (kg) for amplitudes in m.
    pub mass: f64,
    /// Its stiffness (N/m).
    pub stiffness: f64,
    /// Its shape: what a unit amplitude moves all nodes of the model by, as velocities (points in
    /// m, bodies in m in the axes of the model and rad in their own). The largest displacement of a
    /// point or body is 1 m.
    pub velocities: Vec<f64>,
    /// Factor from the shape that it was found as.
    pub(crate) scale: f64,
}

impl ReducedMode {
    /// Of any size as it was found, for velocities of all nodes.
    pub(crate) fn new(model: &Model, mass: f64, stiffness: f64, mut velocities: Vec<f64>) -> Self {
        let mut largest = 0.0f64;
        for node in model.nodes().iter().filter(|n| is_in_space(n.space)) {
            let size = node.space.velocity_size();
            for v in velocities[node.velocity_range()].chunks_exact(size) {
                largest = largest.max(vec3(v, 0).norm());
            }
        }
        // A body that only turns, in rad.
        if largest == 0.0 {
            largest = velocities.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        }
        // The first of the large entries is positive, so that the sign is always the same.
        let first = velocities.iter().find(|v| v.abs() > 0.5 * largest);
        let scale = 1.0
            / if first.is_some_and(|v| *v < 0.0) {
                -largest
            } else {
                largest
            };
        velocities.iter_mut().for_each(|v| *v *= scale);
        Self {
            angular_frequency: (stiffness / mass).sqrt(),
            mass: mass * scale * scale,
            stiffness: stiffness * scale * scale,
            velocities,
            scale,
        }
    }
}

fn is_in_space(space: Space) -> bool {
    matches!(space, Space::Real(3) | Space::Rigid3)
}

/// A node of the model that was reduced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReducedNode {
    pub(crate) space: Space,
    pub(crate) positions: Vec<f64>,
    /// Its place in the shapes of modes.
    pub(crate) velocities: Range<usize>,
}

/// A body that was reduced to a few modes, in a floating frame: what
/// [`Simulation::reduce`](crate::Simulation::reduce) makes of a model.
///
/// **Equation.** A node of the body is at `x_i = c + R (X_i + sum phi_ik q_k)`, with the place `c`
/// and rotation `R` of the frame, which is at the centre of mass, and amplitudes `q_k`
/// ([`ModalPoints`]). The elastic energy is `sum k_k q_k^2/2`, damping `2 zeta sqrt(m_k k_k)`. The
/// kinetic energy is that of all nodes with the mass matrix of the full model, exactly, for any
/// rotation and amplitude: since
///
/// ```math
/// x_i = c + sum_b (X_ib + sum_k phi_ikb q_k) R e_b = sum_p w_ip z_p,   sum_p w_ip = 1
/// ```
///
/// with the inertia points `z_0 = c`, `z_b = c + R e_b` and `z_bk = c + q_k R e_b`, it is
/// `sum m_pq dz_p/dt . dz_q/dt / 2`, `m_pq = sum m_ij w_ip w_jq`: a mass matrix over `4 + 3 n`
/// points, however many nodes there are. Centrifugal, Coriolis and gyroscopic forces follow from
/// it, and weight. The rotational inertia of rods and shells takes part by the ends of unit vectors
/// at each node. Elastic forces are linear in the frame: there is no stiffening of a beam by its
/// tension, which comes of the second order of displacements.
///
/// **Use.** [`add_to`](Self::add_to) puts it into a model, any number of times; joints and loads
/// are attached to its interfaces, contacts to its points.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedBody {
    pub(crate) centre: [f64; 3],
    pub(crate) modes: Vec<ReducedMode>,
    pub(crate) interfaces: Vec<ModalFrame>,
    pub(crate) inertia: Vec<f64>,
    pub(crate) nodes: Vec<ReducedNode>,
    pub(crate) fixed_frequencies: Vec<f64>,
    pub(crate) residual: f64,
}

/// Nodes and components of a reduced body in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducedParts {
    /// The floating frame, at the centre of mass: one body, `name.frame`.
    pub frame: NodeId,
    /// Amplitudes of the modes (m): scalars, `name.modes`.
    pub modes: NodeId,
    /// The points that its mass is on, `name.inertia`.
    pub inertia: NodeId,
    /// One body for each interface, in the axes of the frame at rest, `name.interfaces`.
    pub interfaces: NodeId,
    /// The mass, `name.mass`.
    pub mass: ComponentId,
    /// The elasticity with the damping, `name.elasticity`; none without modes.
    pub elasticity: Option<ComponentId>,
}

impl ReducedBody {
    /// Its centre of mass (m), in the axes of the model that was reduced.
    pub fn centre(&self) -> [f64; 3] {
        self.centre
    }

    /// Its modes, the lowest frequency first.
    pub fn modes(&self) -> &[ReducedMode] {
        &self.modes
    }

    /// Angular frequencies of the modes with the interfaces held (rad/s), which it was made of.
    pub fn fixed_frequencies(&self) -> &[f64] {
        &self.fixed_frequencies
    }

    /// The largest product of two modes by mass or stiffness, as a share of their own: zero of
    /// modes that are orthogonal.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// The frames of the interfaces, in the axes of the floating frame.
    pub fn interfaces(&self) -> &[ModalFrame] {
        &self.interfaces
    }

    /// Its mass (kg).
    pub fn mass(&self) -> f64 {
        self.inertia.iter().sum()
    }

    /// Its inertia (kg m^2) about the centre of mass without deformation, in the axes of the model
    /// that was reduced.
    pub fn inertia(&self) -> [[f64; 3]; 3] {
        let width = self.width();
        let second = Mat3::from_fn(|i, j| self.inertia[(1 + i) * width + 1 + j]);
        let inertia = Mat3::identity() * second.trace() - second;
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| inertia[(i, j)]))
    }

    /// Inertia points.
    fn width(&self) -> usize {
        1 + 3 * (self.modes.len() + 1)
    }

    /// The inertia points, of body 0.
    fn inertia_points(&self) -> Vec<ModalPoint> {
        let unit = |k: usize| [0, 1, 2].map(|i| f64::from(u8::from(i == k)));
        let point = |local, shapes| ModalPoint {
            body: 0,
            local,
            shapes,
        };
        let mut points = vec![point([0.0; 3], Vec::new())];
        points.extend((0..3).map(|b| point(unit(b), Vec::new())));
        for k in 0..self.modes.len() {
            points.extend((0..3).map(|b| point([0.0; 3], vec![(k, unit(b))])));
        }
        points
    }

    /// Adds the body to a model, at rest and without deformation: with its own axes and origin,
    /// those of the model that was reduced, at this pose. `damping` is that of every mode as a
    /// share of the critical one. [`Model::set_body_velocity`] of the frame sets it into motion.
    ///
    /// # Errors
    /// [`ModelError`] if a name is there already, or the damping is negative.
    pub fn add_to(
        &self,
        model: &mut Model,
        name: &str,
        pose: Pose,
        damping: f64,
    ) -> Result<ReducedParts, ModelError> {
        // No unit quaternion: left for the model to find.
        let turn = normalize(pose.rotation).unwrap_or(pose.rotation);
        let centre = Vec3::from(pose.position) + rotate(turn, self.centre.into());
        let at = Pose {
            position: centre.into(),
            rotation: pose.rotation,
        };
        let of = |what: &str| format!("{name}.{what}");
        let frame = model.add_rigid_bodies(&of("frame"), &[at])?;
        let modes = model.add_scalars(&of("modes"), &vec![0.0; self.modes.len()])?;
        let points = ModalPoints::new(&self.inertia_points());
        let inertia = model.add_mapped(&of("inertia"), &[frame, modes], points)?;
        let mass = CoupledMass {
            elements: (0..self.width()).collect(),
            matrix: self.inertia.clone(),
        };
        let mass = model.add_mass(&of("mass"), inertia, Mass::Coupled(vec![mass]))?;
        let frames = ModalFrames::new(&self.interfaces);
        let interfaces = model.add_mapped(&of("interfaces"), &[frame, modes], frames)?;
        let elasticity = if self.modes.is_empty() {
            None
        } else {
            let stiffnesses: Vec<f64> = self.modes.iter().map(|m| m.stiffness).collect();
            let times: Vec<f64> = (self.modes.iter())
                .map(|m| 2.0 * damping / m.angular_frequency)
                .collect();
            let law = DiagonalCompliance::from_stiffnesses(&stiffnesses).with_relaxation_times(&times);
            Some(model.add_force_field(&of("elasticity"), modes, law, Treatment::Stiffness)?)
        };
        Ok(ReducedParts {
            frame,
            modes,
            inertia,
            interfaces,
            mass,
            elasticity,
        })
    }

    /// Adds the elements of a node of the model that was reduced: points or bodies that follow the
    /// body, in the same order.
    ///
    /// # Errors
    /// [`ModelError`] if the name is there already, or `of` is no node of points or bodies of the
    /// model that was reduced.
    pub fn add_node(
        &self,
        model: &mut Model,
        name: &str,
        parts: &ReducedParts,
        of: NodeId,
    ) -> Result<NodeId, ModelError> {
        let parents = [parts.frame, parts.modes];
        let Some(node) = self.nodes.get(of.index()) else {
            return Err(ModelError::UnknownNode {
                name: name.into(),
                node: of.index(),
            });
        };
        let (p, v) = (node.space.position_size(), node.space.velocity_size());
        let elements = node.positions.chunks_exact(p).enumerate();
        let shape = |mode: &ReducedMode, e: usize| {
            let own = &mode.velocities[node.velocities.clone()][e * v..][..v];
            own.to_vec()
        };
        let arm = |x: &[f64]| (vec3(x, 0) - Vec3::from(self.centre)).into();
        if node.space == Space::Rigid3 {
            let frames = elements.map(|(e, x)| {
                let turn = [x[3], x[4], x[5], x[6]];
                let shapes = self.modes.iter().enumerate().map(|(mode, m)| {
                    let own = shape(m, e);
                    FrameShape {
                        mode,
                        displacement: vec3(&own, 0).into(),
                        rotation: rotate(turn, vec3(&own, 3)).into(),
                    }
                });
                ModalFrame {
                    body: 0,
                    pose: Pose {
                        position: arm(x),
                        rotation: turn,
                    },
                    shapes: shapes.collect(),
                }
            });
            let frames: Vec<ModalFrame> = frames.collect();
            return model.add_mapped(name, &parents, ModalFrames::new(&frames));
        }
        if node.space != Space::Real(3) {
            return Err(ModelError::Space {
                name: name.into(),
                expected: "points of space or rigid bodies",
                found: node.space,
            });
        }
        let points = elements.map(|(e, x)| ModalPoint {
            body: 0,
            local: arm(x),
            shapes: (self.modes.iter().enumerate())
                .map(|(k, m)| (k, vec3(&shape(m, e), 0).into()))
                .collect(),
        });
        let points: Vec<ModalPoint> = points.collect();
        model.add_mapped(name, &parents, ModalPoints::new(&points))
    }
}
