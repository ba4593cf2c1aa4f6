//! Forces, Jacobian blocks, stiffness blocks, energies and momentum of a state.

use crate::{Blocks, ComponentId, Dependency, Model, ModelError, Node, NodeKind, RowGroup, State, Treatment};
use pliant_dense::{Vec3, rotation, vec3};

/// Scratch for evaluating one model: buffers of fixed layout, refilled without allocation.
#[derive(Debug)]
pub struct Evaluation {
    jacobians: Vec<Option<Blocks>>,
    dependencies: Vec<Vec<Vec<Dependency>>>,
    geometry: Vec<Option<Blocks>>,
    stiffness: Vec<Blocks>,
    damping: Vec<Blocks>,
    compliance: Vec<Blocks>,
    force: Vec<f64>,
    inertial: Vec<f64>,
    bias: Vec<f64>,
    /// Unit forces on one node, for the bias of mappings that have no formula of their own.
    unit: Vec<f64>,
}

/// Energies of a state (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Of all masses.
    pub kinetic: f64,
    /// Of gravity and all force fields.
    pub potential: f64,
}

impl Energies {
    /// Kinetic plus potential.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Momentum of all masses in space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear [kg m/s].
    pub linear: [f64; 3],
    /// Angular about the origin [kg m^2/s].
    pub angular: [f64; 3],
}

impl Evaluation {
    /// Lays out the buffers for a model.
    pub fn new(model: &Model) -> Self {
        let mut jacobians = Vec::new();
        let mut dependencies = Vec::new();
        let mut geometry = Vec::new();
        for node in model.nodes() {
            let NodeKind::Mapped { mapping, parents, .. } = &node.kind else {
                jacobians.push(None);
                geometry.push(None);
                dependencies.push(Vec::new());
                continue;
            };
            let lists: Vec<Vec<Dependency>> = (0..node.count)
                .map(|e| {
                    let mut list = Vec::new();
                    mapping.dependencies(e, &mut list);
                    list
                })
                .collect();
            let width = |list: &Vec<Dependency>| -> usize {
                list.iter()
                    .map(|d| model.node(parents[d.parent]).space.velocity_size())
                    .sum()
            };
            let size = node.space.velocity_size();
            jacobians.push(Some(Blocks::new(lists.iter().map(|l| (size, width(l))))));
            geometry.push(
                (!mapping.is_linear()).then(|| Blocks::new(lists.iter().map(|l| (width(l), width(l))))),
            );
            dependencies.push(lists);
        }
        let square = |node: &Node| {
            let size = node.space.velocity_size();
            Blocks::new(std::iter::repeat_n((size, size), node.count))
        };
        let blocks: Vec<Blocks> = model
            .force_fields()
            .iter()
            .map(|a| square(model.node(a.node)))
            .collect();
        Self {
            jacobians,
            dependencies,
            geometry,
            stiffness: blocks.clone(),
            damping: blocks.clone(),
            compliance: blocks,
            force: vec![0.0; model.velocity_count()],
            inertial: vec![0.0; model.velocity_count()],
            bias: vec![0.0; model.velocity_count()],
            unit: vec![
                0.0;
                model
                    .nodes()
                    .iter()
                    .map(|n| n.velocity_range().len())
                    .max()
                    .unwrap_or(0)
            ],
        }
    }

    /// Dependencies of one element of a mapped node.
    pub fn dependencies(&self, node: usize, element: usize) -> &[Dependency] {
        &self.dependencies[node][element]
    }

    /// Jacobian blocks of a mapped node.
    pub fn jacobian(&self, node: usize) -> Option<&Blocks> {
        self.jacobians[node].as_ref()
    }

    /// Stiffness blocks `K` of force field `i` (treated as a stiffness).
    pub fn stiffness(&self, i: usize) -> &Blocks {
        &self.stiffness[i]
    }

    /// Damping blocks `B` of force field `i`.
    pub fn damping(&self, i: usize) -> &Blocks {
        &self.damping[i]
    }

    /// Compliance blocks `C` of force field `i` (treated as a compliance).
    pub fn compliance(&self, i: usize) -> &Blocks {
        &self.compliance[i]
    }

    /// Whether coordinate `k` of a row group has compliance zero: a hard row.
    pub fn is_hard(&self, group: &RowGroup, k: usize) -> bool {
        match group.component {
            ComponentId::ForceField(i) => {
                let block = self.compliance[i].block(k / group.size);
                block[k % group.size * group.size..][..group.size]
                    .iter()
                    .all(|c| *c == 0.0)
            }
            _ => true,
        }
    }

    /// Forces on all nodes, each where it acts: all that is not a row, with damping and gravity.
    pub fn force(&self) -> &[f64] {
        &self.force
    }

    /// Adds forces from outside the model to [`force`](Self::force), on all nodes.
    pub fn add_force(&mut self, force: &[f64]) {
        for (f, g) in self.force.iter_mut().zip(force) {
            *f += g;
        }
    }

    /// Inertial forces `-M (dJ/dt) v` of mapped masses, each where it acts. (The gyroscopic torque of bodies is the
    /// stepper's.)
    pub fn inertial_force(&self) -> &[f64] {
        &self.inertial
    }

    /// `(dJ/dt) v` of all nodes: their acceleration when the independent ones have none.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// Pushes positions and velocities down the graph and refills the Jacobians. Allocates nothing.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where a mapping is not defined, [`ModelError::State`] for a state of another model.
    pub fn propagate(&mut self, model: &Model, state: &mut State) -> Result<(), ModelError> {
        let sizes = model
            .nodes()
            .last()
            .map_or((0, 0), |n| (n.position_range().end, n.velocity_range().end));
        for (what, expected, found) in [
            ("positions", sizes.0, state.positions.len()),
            ("velocities", sizes.1, state.velocities.len()),
        ] {
            if expected != found {
                return Err(ModelError::State {
                    what,
                    expected,
                    found,
                });
            }
        }
        for (index, node) in model.nodes().iter().enumerate() {
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                continue;
            };
            let Some(blocks) = &mut self.jacobians[index] else {
                continue;
            };
            // Parents come first in the arena, so their numbers lie before the child's.
            let (before, child) = state.positions.split_at_mut(node.first_position);
            let child = &mut child[..node.count * node.space.position_size()];
            let (v_before, v_child) = state.velocities.split_at_mut(node.first_velocity);
            let parents = model.parents(ranges, before, v_before);
            blocks.clear();
            let lost = |cause| ModelError::Degenerate {
                name: node.name.clone(),
                cause,
            };
            mapping.apply(parents, child).map_err(lost)?;
            mapping
                .jacobian(parents.with_child(child), blocks)
                .map_err(lost)?;
            let size = node.space.velocity_size();
            let v_child = &mut v_child[..node.count * size];
            v_child.fill(0.0);
            for (e, v) in v_child.chunks_exact_mut(size).enumerate() {
                let mut column = 0;
                for at in &self.dependencies[index][e] {
                    let vp = parents.velocity(*at);
                    add_block_product(blocks, e, column, vp, v);
                    column += vp.len();
                }
            }
        }
        Ok(())
    }

    /// Refills forces, bias and the stiffness, damping and compliance blocks. Call [`propagate`](Self::propagate) first.
    /// Allocates nothing.
    ///
    /// # Errors
    /// [`ModelError::NotInvertible`] if a stiffness became infinite.
    pub fn evaluate(&mut self, model: &Model, state: &State) -> Result<(), ModelError> {
        self.push_bias(model, state);
        self.force.fill(0.0);
        self.inertial.fill(0.0);
        for attachment in model.masses() {
            let node = model.node(attachment.node);
            let force = &mut self.force[node.velocity_range()];
            let gravity = model.gravity();
            let size = node.space.velocity_size();
            if node.space.is_spatial() {
                for (e, f) in force.chunks_exact_mut(size).enumerate() {
                    for (f, g) in f.iter_mut().take(3).zip(gravity) {
                        *f += attachment.component.of(e) * g;
                    }
                }
            }
            let range = node.velocity_range();
            attachment.component.add_product(
                node.space,
                -1.0,
                &self.bias[range.clone()],
                &mut self.inertial[range],
            );
        }
        for (i, attachment) in model.force_fields().iter().enumerate() {
            let node = model.node(attachment.node);
            let (x, v) = (
                &state.positions[node.position_range()],
                &state.velocities[node.velocity_range()],
            );
            let law = &attachment.component.law;
            let lost = |e: crate::NotInvertible| ModelError::NotInvertible {
                name: attachment.name.clone(),
                element: e.element,
            };
            self.damping[i].clear();
            law.damping(x, v, &mut self.damping[i]);
            match attachment.component.treatment {
                Treatment::Stiffness => {
                    law.add_force(node.space, x, v, &mut self.force[node.velocity_range()]);
                    self.stiffness[i].clear();
                    law.stiffness(x, &mut self.stiffness[i]).map_err(lost)?;
                }
                Treatment::Compliance => {
                    self.compliance[i].clear();
                    law.compliance(&mut self.compliance[i]).map_err(lost)?;
                }
            }
        }
        Ok(())
    }

    fn push_bias(&mut self, model: &Model, state: &State) {
        self.bias.fill(0.0);
        // Nothing moves: nothing accelerates.
        if state.velocities.iter().all(|v| *v == 0.0) {
            return;
        }
        for (index, node) in model.nodes().iter().enumerate() {
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                continue;
            };
            let Some(blocks) = &self.jacobians[index] else {
                continue;
            };
            let (before, child) = self.bias.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            let child = &mut child[..node.count * size];
            for (e, a) in child.chunks_exact_mut(size).enumerate() {
                let mut column = 0;
                for at in &self.dependencies[index][e] {
                    let (_, first, space) = ranges[at.parent];
                    let width = space.velocity_size();
                    add_block_product(
                        blocks,
                        e,
                        column,
                        &before[first + at.element * width..][..width],
                        a,
                    );
                    column += width;
                }
            }
            let parents = model
                .parents(ranges, &state.positions, &state.velocities)
                .with_child(&state.positions[node.position_range()]);
            let Some(geometry) = &mut self.geometry[index] else {
                continue;
            };
            if mapping.add_bias(parents, child) {
                continue;
            }
            let unit = &mut self.unit[..child.len()];
            for i in 0..size {
                unit.fill(0.0);
                unit.iter_mut().skip(i).step_by(size).for_each(|f| *f = 1.0);
                geometry.clear();
                mapping.geometric_stiffness(parents, unit, geometry);
                for (e, a) in child.iter_mut().skip(i).step_by(size).enumerate() {
                    let velocity = || {
                        self.dependencies[index][e]
                            .iter()
                            .flat_map(|at| parents.velocity(*at))
                    };
                    let rows = geometry.block(e).chunks_exact(geometry.width(e).max(1));
                    *a += rows
                        .zip(velocity())
                        .map(|(row, v)| v * row.iter().zip(velocity()).map(|(g, w)| g * w).sum::<f64>())
                        .sum::<f64>();
                }
            }
        }
    }

    /// Carries forces on all nodes to their parents: afterwards each node holds the total force on it, the independent ones
    /// the generalised force. Allocates nothing.
    ///
    /// # Panics
    /// If `force` is shorter than [`Model::velocity_count`].
    pub fn pull_back(&self, model: &Model, force: &mut [f64]) {
        for (index, node) in model.nodes().iter().enumerate().rev() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            let Some(blocks) = &self.jacobians[index] else {
                continue;
            };
            let (before, child) = force.split_at_mut(node.first_velocity);
            let size = node.space.velocity_size();
            for (e, f) in child[..node.count * size].chunks_exact(size).enumerate() {
                let (block, width) = (blocks.block(e), blocks.width(e));
                let mut column = 0;
                for at in &self.dependencies[index][e] {
                    let (_, first, space) = ranges[at.parent];
                    let n = space.velocity_size();
                    let target = &mut before[first + at.element * n..][..n];
                    for (i, f) in f.iter().enumerate() {
                        for (t, a) in target.iter_mut().zip(&block[i * width + column..]) {
                            *t += a * f;
                        }
                    }
                    column += n;
                }
            }
        }
    }

    /// The geometric stiffness blocks of a mapped node, as last computed.
    pub fn geometric_blocks(&self, node: usize) -> Option<&Blocks> {
        self.geometry[node].as_ref()
    }

    /// Computes the geometric stiffness blocks `G` of one mapped node under the given total forces on all nodes; `None`
    /// for linear mappings. Allocates nothing.
    pub fn geometric_stiffness(
        &mut self,
        model: &Model,
        state: &State,
        node: usize,
        force: &[f64],
    ) -> Option<&Blocks> {
        let blocks = self.geometry[node].as_mut()?;
        let entry = &model.nodes()[node];
        let NodeKind::Mapped { mapping, ranges, .. } = &entry.kind else {
            return None;
        };
        blocks.clear();
        let parents = model
            .parents(ranges, &state.positions, &state.velocities)
            .with_child(&state.positions[entry.position_range()]);
        mapping.geometric_stiffness(parents, &force[entry.velocity_range()], blocks);
        Some(blocks)
    }
}

fn add_block_product(blocks: &Blocks, e: usize, column: usize, x: &[f64], y: &mut [f64]) {
    let (block, width) = (blocks.block(e), blocks.width(e));
    for (i, y) in y.iter_mut().enumerate() {
        for (a, x) in block[i * width + column..].iter().zip(x) {
            *y += a * x;
        }
    }
}

impl Model {
    /// Kinetic and potential energy. The state must be propagated.
    pub fn energies(&self, state: &State) -> Energies {
        self.energies_without(state, |_| false)
    }

    /// The same without the potential of the force fields (by place) that `skip` says.
    pub fn energies_without(&self, state: &State, skip: impl Fn(usize) -> bool) -> Energies {
        let mut out = Energies::default();
        let g = Vec3::from(self.gravity());
        for attachment in self.masses() {
            let node = self.node(attachment.node);
            let size = (node.space.position_size(), node.space.velocity_size());
            let (x, v) = (
                &state.positions[node.position_range()],
                &state.velocities[node.velocity_range()],
            );
            for (e, (x, v)) in x.chunks_exact(size.0).zip(v.chunks_exact(size.1)).enumerate() {
                let m = attachment.component.of(e);
                let linear = size.1.min(3);
                out.kinetic += 0.5 * m * v[..linear].iter().map(|v| v * v).sum::<f64>();
                if let Some(rigid) = attachment.component.rigid(e) {
                    let w = vec3(v, 3);
                    out.kinetic += 0.5 * w.dot(&(rigid.inertia_matrix() * w));
                }
                if node.space.is_spatial() {
                    out.potential -= m * x[..linear].iter().zip(g.iter()).map(|(x, g)| x * g).sum::<f64>();
                }
            }
        }
        for (i, attachment) in self.force_fields().iter().enumerate() {
            if skip(i) {
                continue;
            }
            let node = self.node(attachment.node);
            out.potential += attachment
                .component
                .law
                .energy(node.space, &state.positions[node.position_range()]);
        }
        out
    }

    /// Momentum of all masses of points of space, of the plane (z = 0) and bodies. The state must be propagated.
    pub fn momentum(&self, state: &State) -> Momentum {
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for attachment in self.masses() {
            let node = self.node(attachment.node);
            if !node.space.is_spatial() {
                continue;
            }
            let size = (node.space.position_size(), node.space.velocity_size());
            let (x, v) = (
                &state.positions[node.position_range()],
                &state.velocities[node.velocity_range()],
            );
            for (e, (x, v)) in x.chunks_exact(size.0).zip(v.chunks_exact(size.1)).enumerate() {
                let point = |a: &[f64]| Vec3::new(a[0], a[1], if a.len() > 2 { a[2] } else { 0.0 });
                let p = attachment.component.of(e) * point(v);
                linear += p;
                angular += point(x).cross(&p);
                if let Some(rigid) = attachment.component.rigid(e) {
                    let r = rotation::matrix([x[3], x[4], x[5], x[6]]);
                    angular += r * (rigid.inertia_matrix() * vec3(v, 3));
                }
            }
        }
        Momentum {
            linear: linear.into(),
            angular: angular.into(),
        }
    }
}
