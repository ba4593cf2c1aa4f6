//! A clamped solid of tetrahedra under its weight in Rapier, another program.

use pliant::continuum::Mesh;
use rapier3d_f64::prelude::*;

/// Which of its solvers moves the elastic cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Its default: constraints, swept over.
    Constraints,
    /// One implicit solve of the body per substep.
    Fem,
}

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
        let place = |x: &[f64; 3]| Vector::new(x[0], x[1], x[2]);
        let positions: Vec<Vector> = mesh.nodes.iter().map(place).collect();
        let mut masses = vec![0.0; positions.len()];
        let mut tetrahedra = Vec::new();
        for element in &mesh.elements {
            let corners = [0, 1, 2, 3].map(|k| element.nodes[k]);
            let [a, b, c, d] = corners.map(|k| positions[k]);
            let volume = (b - a).cross(c - a).dot(d - a).abs() / 6.0;
            corners.iter().for_each(|k| masses[*k] += density * volume / 4.0);
            tetrahedra.push(corners.map(|k| k as u32));
        }
        let at = |x: f64| move |k: &usize| mesh.nodes[*k][0] == x;
        let all = || 0..mesh.nodes.len();
        let body = SoftBodyBuilder::new(positions)
            .masses(masses)
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
                Cells::Fem => SoftBodySolver::Fem,
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

    /// Mean height of the nodes at `x = 1` at rest (m).
    pub fn tip(&self) -> f64 {
        let body = &self.world.soft_bodies[self.handle];
        let heights = self.tip.iter().map(|k| body.particle_position(*k).z);
        heights.sum::<f64>() / self.tip.len() as f64
    }
}
