//! Geometric stiffness of mapped nodes.

use super::Evaluation;
use super::gather::certainly;
use crate::{Blocks, Dependency, Model, NodeKind, Space, State};
use pliant_dense::{Vec3, skew, vec3};
use std::ops::Range;

impl Evaluation {
    /// The geometric stiffness blocks of a mapped node, as last computed.
    pub fn geometric_blocks(&self, node: usize) -> Option<&Blocks> {
        self.geometry[node].as_ref()
    }

    /// Computes the geometric stiffness blocks `G` of one mapped node under the given total forces
    /// on all nodes; `None` for linear mappings. Allocates nothing.
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
        let parents = model
            .parents(ranges, &state.positions, &state.velocities)
            .with_child(&state.positions[entry.position_range()])
            .with_kept(self.kept[node].known());
        let (force, size) = (&force[entry.velocity_range()], entry.space.velocity_size());
        if let Some(pieces) = mapping.pieces() {
            if blocks.len() != entry.count {
                let widths = |d: &Dependency| ranges[d.parent].2.velocity_size();
                let lists = self.lists[node].iter();
                let widths = lists.map(|l| l.iter().map(widths).sum());
                *blocks = Blocks::new(widths.map(|w| (w, w)));
            }
            certainly(blocks.write_pieces(&self.threads, |e, out| {
                let force = &force[e.start * size..e.end * size];
                pieces.geometric_stiffness(parents, e, force, out);
                Ok(())
            }));
        } else {
            blocks.clear();
            mapping.geometric_stiffness(parents, force, blocks);
        }
        Some(blocks)
    }

    /// Writes `G = d(J^T f)/dx` of one mapped node whole, under the given forces on all nodes, one
    /// block for each element: the symmetric part is the mapping's
    /// ([`Mapping::geometric_stiffness`](crate::Mapping::geometric_stiffness)), the antisymmetric
    /// one follows from the turning of body axes, in which derivatives along different axes do not
    /// commute. With the torque `tau` that the forces give a parent body, and the columns `w_a` of
    /// the Jacobian of a child body with the torque `m`,
    ///
    /// ```math
    /// G - sym G = skew(tau)/2 + (m . (w_a x w_b))_ab/2
    /// ```
    ///
    /// (the second by the equation of Maurer and Cartan). False, and nothing written, of
    /// independent nodes and linear mappings. `state` is the one that was evaluated. Cost: that of
    /// the symmetric part, and a product with `J` for each element on bodies.
    ///
    /// # Panics
    /// If `out` has other blocks than those of the node
    /// ([`geometric_shapes`](Self::geometric_shapes)).
    pub fn write_force_derivative(
        &mut self,
        model: &Model,
        state: &State,
        node: usize,
        force: &[f64],
        out: &mut Blocks,
    ) -> bool {
        let Some(symmetric) = self.geometric_stiffness(model, state, node, force) else {
            return false;
        };
        for e in 0..symmetric.len() {
            out.block_mut(e).copy_from_slice(symmetric.block(e));
        }
        let entry = &model.nodes()[node];
        let NodeKind::Mapped { ranges, .. } = &entry.kind else {
            return false;
        };
        let turns = |space: Space| space == Space::Rigid3;
        if !turns(entry.space) && !ranges.iter().any(|(_, _, space)| turns(*space)) {
            return true;
        }
        let size = entry.space.velocity_size();
        let force = &force[entry.velocity_range()];
        let [mut jacobian, mut numbers] = std::mem::take(&mut self.buffers.element);
        for e in 0..entry.count {
            let width = out.width(e);
            self.write_whole_jacobian(model, node, e, [&mut jacobian, &mut numbers]);
            let f = &force[e * size..][..size];
            let block = out.block_mut(e);
            let mut first = 0;
            for d in self.lists[node].on(e) {
                let space = ranges[d.parent].2;
                if space == Space::Rigid3 {
                    let torque = |k: usize| -> f64 {
                        let column = first + 3 + k;
                        (0..size).map(|i| f[i] * jacobian[i * width + column]).sum()
                    };
                    let half = skew(Vec3::new(torque(0), torque(1), torque(2))) * 0.5;
                    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                        block[(first + 3 + i) * width + first + 3 + j] += half[(i, j)];
                    }
                }
                first += space.velocity_size();
            }
            if entry.space == Space::Rigid3 {
                let moment = vec3(f, 3);
                let turn = |a: usize| Vec3::from_fn(|k, _| jacobian[(3 + k) * width + a]);
                for (a, b) in (0..width).flat_map(|a| (0..width).map(move |b| (a, b))) {
                    block[a * width + b] += 0.5 * moment.dot(&turn(a).cross(&turn(b)));
                }
            }
        }
        self.buffers.element = [jacobian, numbers];
        true
    }

    /// The shapes of the blocks `G` of a mapped node, square over the coordinates of each element's
    /// dependencies; none of independent nodes.
    pub fn geometric_shapes(&self, model: &Model, node: usize) -> Blocks {
        let NodeKind::Mapped { ranges, .. } = &model.nodes()[node].kind else {
            return Blocks::default();
        };
        Blocks::new((0..model.nodes()[node].count).map(|e| {
            let widths = self.lists[node].on(e).iter();
            let width: usize = widths.map(|d| ranges[d.parent].2.velocity_size()).sum();
            (width, width)
        }))
    }

    /// Writes the Jacobian block of one element of a mapped node into `out`, which takes its size:
    /// velocity size of the node times the sum of those of the dependencies, row-major. A mapping
    /// that [repeats](crate::Mapping::repeated) its numbers, for which `numbers` is a buffer, is
    /// spelled out.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn write_whole_jacobian(
        &self,
        model: &Model,
        node: usize,
        e: usize,
        [out, numbers]: [&mut Vec<f64>; 2],
    ) {
        let rows = model.nodes()[node].space.velocity_size();
        let dependencies = self.lists[node].on(e);
        out.clear();
        let Some(m) = self.repeated(node) else {
            let NodeKind::Mapped { ranges, .. } = &model.nodes()[node].kind else {
                return;
            };
            let widths = dependencies.iter().map(|d| ranges[d.parent].2.velocity_size());
            out.resize(rows * widths.sum::<usize>(), 0.0);
            self.write_jacobian(model, node, e..e + 1, out);
            return;
        };
        let count = dependencies.len();
        numbers.clear();
        numbers.resize(m * count, 0.0);
        self.write_jacobian(model, node, e..e + 1, numbers);
        let (d, width) = (rows / m, count * (rows / m));
        out.resize(rows * width, 0.0);
        for (a, i, j) in (0..count).flat_map(|a| (0..d).flat_map(move |i| (0..m).map(move |j| (a, i, j)))) {
            out[(m * i + j) * width + a * d + i] = numbers[j * count + a];
        }
    }

    /// The blocks `G` of consecutive elements of a mapped node whose mapping comes in pieces, under
    /// the given total forces on all nodes, one after the other into `out`, which is cleared;
    /// false, and nothing written, for other mappings. `state` is the one that was propagated.
    /// Allocates nothing.
    ///
    /// # Panics
    /// If there are no such elements, or `out` is not of the size of their blocks.
    pub fn write_geometric_stiffness(
        &self,
        model: &Model,
        state: &State,
        (node, elements): (usize, Range<usize>),
        force: &[f64],
        out: &mut [f64],
    ) -> bool {
        let entry = &model.nodes()[node];
        let NodeKind::Mapped { mapping, ranges, .. } = &entry.kind else {
            return false;
        };
        let Some(pieces) = mapping.pieces() else {
            return false;
        };
        let parents = model
            .parents(ranges, &state.positions, &state.velocities)
            .with_child(&state.positions[entry.position_range()])
            .with_kept(self.kept[node].known());
        let size = entry.space.velocity_size();
        let force = &force[entry.first_velocity + elements.start * size..][..elements.len() * size];
        out.fill(0.0);
        pieces.geometric_stiffness(parents, elements, force, out);
        true
    }
}
