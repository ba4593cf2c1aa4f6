//! A clamped solid of tetrahedra under its weight in Rapier, another program.

use crate::beams::corner_masses;
use pliant::continuum::{Element, Mesh};
use rapier3d_f64::prelude::*;

/// Which of its solvers moves the elastic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cells {
    /// Its default: constraints, swept over.
    Constraints,
    /// One implicit solve of the body per substep, by at most so many iterations of conjugate
    /// gradients to a relative residual; its default is [`FEM`].
    Fem {
        /// Iterations at most.
        iterations: usize,
        /// Relative residual.
        tolerance: f64,
    },
}

/// The implicit solver at its default.
pub const FEM: Cells = Cells::Fem {
    iterations: 20,
    tolerance: 1e-5,
};

/// A corotational solid, clamped at `x = 0`, without contact and without sleep; all else is at its
/// default but for the step.
pub struct SoftPeer {
    world: PhysicsWorld,
    handle: SoftBodyHandle,
    tip: Vec<usize>,
}

impl std::fmt::Debug for SoftPeer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Rapier with a soft body, {} particles at its tip",
            self.tip.len()
        )
    }
}

impl SoftPeer {
    /// The solid of a mesh of tetrahedra, of Young's modulus `young` (Pa), Poisson's ratio and
    /// density (kg/m^3), in steps of `h` (s), with the mass of each tetrahedron in its corners.
    pub fn new(mesh: &Mesh, (young, poisson, density): (f64, f64, f64), h: f64, cells: Cells) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -9.81);
        world.integration_parameters.dt = h;
        if let Cells::Fem {
            iterations,
            tolerance,
        } = cells
        {
            let fem = &mut world.integration_parameters.soft_bodies.fem;
            fem.max_linear_iterations = iterations;
            fem.linear_tolerance = tolerance;
        }
        let place = |x: &[f64; 3]| Vector::new(x[0], x[1], x[2]);
        let positions: Vec<Vector> = mesh.nodes.iter().map(place).collect();
        let corners = |e: &Element| [0, 1, 2, 3].map(|k| e.nodes[k] as u32);
        let tetrahedra = mesh.elements.iter().map(corners).collect();
        let at = |x: f64| move |k: &usize| mesh.nodes[*k][0] == x;
        let all = || 0..mesh.nodes.len();
        let body = SoftBodyBuilder::new(positions)
            .masses(corner_masses(mesh, density))
            .cells(tetrahedra)
            .cell_model(SoftBodyCellModel::Corotational)
            .pinned_particles(all().filter(at(0.0)).map(|k| k as u32))
            .material(SoftBodyMaterial {
                young_modulus: young,
                poisson_ratio: poisson,
                ..SoftBodyMaterial::default()
            })
            .solver(match cells {
                Cells::Constraints => SoftBodySolver::Constraints,
                Cells::Fem { .. } => SoftBodySolver::Fem,
            })
            .no_surface_collider()
            .can_sleep(false);
        Self {
            handle: world.insert_soft_body(body),
            world,
            tip: all().filter(at(1.0)).collect(),
        }
    }

    /// Takes a step.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// Solver iterations (substeps) per step, instead of its 4.
    #[must_use]
    pub fn with_parts(mut self, parts: usize) -> Self {
        self.world.integration_parameters.num_solver_iterations = parts;
        self
    }

    /// Positions (m) and velocities (m/s) of the nodes.
    pub fn points(&self) -> Vec<([f64; 3], [f64; 3])> {
        points(&self.world.soft_bodies[self.handle])
    }

    /// Mean height of the nodes at `x = 1` at rest (m).
    pub fn tip(&self) -> f64 {
        let body = &self.world.soft_bodies[self.handle];
        let heights = self.tip.iter().map(|k| body.particle_position(*k).z);
        heights.sum::<f64>() / self.tip.len() as f64
    }
}

/// Positions (m) and velocities (m/s) of the particles of a soft body.
pub fn points(body: &SoftBody) -> Vec<([f64; 3], [f64; 3])> {
    let places = body.particle_positions().zip(body.particle_velocities());
    places.map(|(x, v)| ([x.x, x.y, x.z], [v.x, v.y, v.z])).collect()
}
