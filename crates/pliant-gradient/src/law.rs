//! The derivative of one law on the coordinates of its node, block by block.

use crate::differences::Differences;
use pliant_model::{Blocks, Node, Space, State};
use std::ops::Range;

/// Share of its size to which the blocks that a law gives have to agree with its force along one
/// direction. Differences of a linear law are exact but for rounding, extrapolated ones of others
/// good to about `1e-11`.
const AGREEMENT: f64 = 1e-9;

/// The derivative of a law by positions and velocities of its node.
#[derive(Debug)]
pub(crate) struct Law {
    /// Velocity coordinates of its node among those of all nodes.
    pub(crate) node: Range<usize>,
    /// Elements of each group; empty where each is alone.
    lists: Vec<Vec<usize>>,
    /// Whether an element is in several groups.
    overlap: bool,
    size: usize,
    /// `df/dx`, one block for each group.
    pub(crate) dx: Blocks,
    /// `df/dv`, likewise.
    pub(crate) dv: Blocks,
    /// Whether `dv` can be other than zero.
    pub(crate) damped: bool,
}

/// Buffers of laws without meaning between two calls.
#[derive(Debug, Default)]
pub(crate) struct LawBuffers {
    pub(crate) differences: Differences,
    /// The state with one node moved.
    moved: State,
    /// Scales of positions and of velocities of the elements of a node.
    scales: [Vec<f64>; 2],
    /// A direction of positions and of velocities of a node.
    direction: [Vec<f64>; 2],
    /// The force along it: by the law, at its start, and by the blocks.
    along: [Vec<f64>; 3],
    step: Vec<f64>,
    out: Vec<f64>,
    moving: Vec<usize>,
}

impl LawBuffers {
    /// Takes the state that nodes are moved from.
    pub(crate) fn start_from(&mut self, state: &State) {
        self.moved.clone_from(state);
    }

    /// Puts the coordinates of a node back to where the state has them.
    fn put_back(&mut self, node: &Node, state: &State) {
        let (p, v) = (node.position_range(), node.velocity_range());
        self.moved.positions[p.clone()].copy_from_slice(&state.positions[p]);
        self.moved.velocities[v.clone()].copy_from_slice(&state.velocities[v]);
    }
}

/// Moves a node from its place in one state by a displacement and a change of velocity.
fn move_node(node: &Node, state: &State, [x, v]: [&[f64]; 2], moved: &mut State) {
    let (p, of_velocity) = (node.position_range(), node.velocity_range());
    let positions = &mut moved.positions[p.clone()];
    positions.copy_from_slice(&state.positions[p]);
    node.space.retract(positions, x);
    let ends = moved.velocities[of_velocity.clone()].iter_mut();
    for ((end, start), d) in ends.zip(&state.velocities[of_velocity]).zip(v) {
        *end = start + d;
    }
}

impl Law {
    pub(crate) fn new(size: usize, node: Range<usize>, lists: Vec<Vec<usize>>, count: usize) -> Self {
        let widths: Vec<usize> = if lists.is_empty() {
            vec![size; count]
        } else {
            lists.iter().map(|l| l.len() * size).collect()
        };
        let mut seen = vec![false; count];
        let overlap = lists
            .iter()
            .flatten()
            .any(|e| std::mem::replace(&mut seen[*e], true));
        let blocks = || Blocks::new(widths.iter().map(|w| (*w, *w)));
        Self {
            node,
            lists,
            overlap,
            size,
            dx: blocks(),
            dv: blocks(),
            damped: false,
        }
    }

    /// Coordinate `k` of group `g`, counted from the first of the node.
    pub(crate) fn coordinate(&self, g: usize, k: usize) -> usize {
        match self.lists.get(g) {
            Some(list) => list[k / self.size] * self.size + k % self.size,
            None => g * self.size + k,
        }
    }

    /// Adds the products of blocks with a vector on the node, or of their transposes.
    fn add_block_product(&self, blocks: &Blocks, transposed: bool, x: &[f64], y: &mut [f64]) {
        for g in 0..blocks.len() {
            let width = blocks.width(g);
            for (i, row) in blocks.block(g).chunks_exact(width.max(1)).enumerate() {
                let own = self.coordinate(g, i);
                if transposed {
                    for (j, b) in row.iter().enumerate() {
                        y[self.coordinate(g, j)] += b * x[own];
                    }
                } else {
                    let terms = row.iter().enumerate();
                    y[own] += terms.map(|(j, b)| b * x[self.coordinate(g, j)]).sum::<f64>();
                }
            }
        }
    }

    /// Adds `df/dx y + df/dv u` for vectors on all nodes.
    pub(crate) fn add_product(&self, [y, u]: [&[f64]; 2], f: &mut [f64]) {
        let f = &mut f[self.node.clone()];
        self.add_block_product(&self.dx, false, &y[self.node.clone()], f);
        if self.damped {
            self.add_block_product(&self.dv, false, &u[self.node.clone()], f);
        }
    }

    /// Adds the transpose: `p` on all nodes against displacements `y` and velocities `u`.
    pub(crate) fn add_transposed_product(&self, p: &[f64], [y, u]: [&mut [f64]; 2]) {
        let p = &p[self.node.clone()];
        self.add_block_product(&self.dx, true, p, &mut y[self.node.clone()]);
        if self.damped {
            self.add_block_product(&self.dv, true, p, &mut u[self.node.clone()]);
        }
    }

    /// Checks the blocks against the force `f` along a direction that is drawn, and makes them by
    /// its differences where they are not its derivative; `linear` is whether the law says that it
    /// is. At rest (`moves` is false) nothing has velocities.
    pub(crate) fn check_or_replace(
        &mut self,
        node: &Node,
        state: &State,
        [linear, moves]: [bool; 2],
        room: &mut LawBuffers,
        mut f: impl FnMut(&State, &mut [f64]),
    ) {
        let count = self.node.len();
        find_scales(node, state, &mut room.scales);
        for (k, (direction, scales)) in room.direction.iter_mut().zip(&room.scales).enumerate() {
            draw(count, 1 + k as u32, direction);
            for (own, scale) in direction.chunks_exact_mut(self.size).zip(scales) {
                own.iter_mut().for_each(|d| *d *= scale);
            }
        }
        if !moves {
            room.direction[1].fill(0.0);
        }
        let [by_law, at_start, by_blocks] = &mut room.along;
        for list in [&mut *by_law, &mut *at_start, &mut *by_blocks] {
            list.clear();
            list.resize(count, 0.0);
        }
        let (direction, moved, step) = (&room.direction, &mut room.moved, &mut room.step);
        if linear && node.space != Space::Rigid3 {
            // A whole step of the direction tells as much as its limit, by two forces.
            f(state, at_start);
            move_node(node, state, [&direction[0], &direction[1]], moved);
            f(moved, by_law);
            by_law.iter_mut().zip(&*at_start).for_each(|(a, b)| *a -= b);
        } else {
            room.differences.derivative(1.0, by_law, |t, out| {
                step.clear();
                step.extend(direction.iter().flatten().map(|d| t * d));
                let (x, v) = step.split_at(count);
                move_node(node, state, [x, v], moved);
                f(moved, out);
            });
        }
        self.add_block_product(&self.dx, false, &direction[0], by_blocks);
        self.add_block_product(&self.dv, false, &direction[1], by_blocks);
        let all = by_law.iter().chain(&*at_start);
        let size = all.fold(0.0f64, |s, a| s.max(a.abs()));
        // What is no number agrees with nothing.
        let agrees = |(a, b): (&f64, &f64)| (a - b).abs() <= AGREEMENT * size;
        if !by_law.iter().zip(&*by_blocks).all(agrees) {
            self.make_by_differences(node, state, moves, room, f);
        }
        room.put_back(node, state);
    }

    /// Makes all blocks by differences of `f`, which is written on the node: the same coordinate of
    /// all groups at once, unless these have elements in common.
    pub(crate) fn make_by_differences(
        &mut self,
        node: &Node,
        state: &State,
        moves: bool,
        room: &mut LawBuffers,
        mut f: impl FnMut(&State, &mut [f64]),
    ) {
        find_scales(node, state, &mut room.scales);
        let LawBuffers {
            differences,
            moved,
            scales,
            step,
            out,
            moving,
            ..
        } = room;
        let (count, groups) = (self.node.len(), self.dx.len());
        let widest = (0..groups).map(|g| self.dx.width(g)).max().unwrap_or(0);
        let turns = if self.overlap { groups } else { 1 };
        out.clear();
        out.resize(count, 0.0);
        for (k, turn) in (0..widest).flat_map(|k| (0..turns).map(move |turn| (k, turn))) {
            moving.clear();
            let of_turn = |g: &usize| k < self.dx.width(*g) && (!self.overlap || *g == turn);
            moving.extend((0..groups).filter(of_turn));
            for (kind, scales) in scales.iter().enumerate().take(if moves { 2 } else { 1 }) {
                differences.derivative(1.0, out, |t, out| {
                    step.clear();
                    step.resize(2 * count, 0.0);
                    for g in &*moving {
                        let own = self.coordinate(*g, k);
                        step[kind * count + own] = t * scales[own / self.size];
                    }
                    let (x, v) = step.split_at(count);
                    move_node(node, state, [x, v], moved);
                    f(moved, out);
                });
                for g in &*moving {
                    // Of each group in the scale of the element that moves.
                    let scale = scales[self.coordinate(*g, k) / self.size];
                    self.write_column(kind, *g, k, |row| out[row] / scale);
                }
            }
        }
        self.damped = moves;
        if !moves {
            self.dv.clear();
        }
        room.put_back(node, state);
    }

    /// Writes column `k` of a group's block, of `dx` (0) or `dv` (1), from the rows of its
    /// coordinates.
    pub(crate) fn write_column(&mut self, kind: usize, g: usize, k: usize, value: impl Fn(usize) -> f64) {
        let width = self.dx.width(g);
        for l in 0..width {
            let row = self.coordinate(g, l);
            let blocks = if kind == 0 { &mut self.dx } else { &mut self.dv };
            blocks.block_mut(g)[l * width + k] = value(row);
        }
    }

    /// Whether all blocks are finite.
    pub(crate) fn is_finite(&self) -> bool {
        let finite = |b: &Blocks| (0..b.len()).all(|g| b.block(g).iter().all(|k| k.is_finite()));
        finite(&self.dx) && finite(&self.dv)
    }
}

/// Finds the scales of the positions and of the velocities of each element of a node, over which
/// laws are taken to be smooth: the largest of them, and no less than 1e-5 of a unit, so that a law
/// with a kink where its coordinate vanishes is not moved across it.
fn find_scales(node: &Node, state: &State, out: &mut [Vec<f64>; 2]) {
    let lists = [
        &state.positions[node.position_range()],
        &state.velocities[node.velocity_range()],
    ];
    let largest = |x: &[f64]| x.iter().fold(1e-5f64, |largest, x| largest.max(x.abs())).min(1.0);
    for (list, out) in lists.into_iter().zip(out) {
        let size = (list.len() / node.count.max(1)).max(1);
        out.clear();
        out.extend(list.chunks_exact(size).map(largest));
    }
}

/// Draws a direction, always the same, of entries between a half and one either way.
fn draw(count: usize, seed: u32, out: &mut Vec<f64>) {
    out.clear();
    let mut s = seed.wrapping_mul(0x9E37_79B9) | 1;
    out.extend((0..count).map(|_| {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        let share = f64::from(s) / f64::from(u32::MAX);
        if share < 0.5 { share - 1.0 } else { share }
    }));
}
