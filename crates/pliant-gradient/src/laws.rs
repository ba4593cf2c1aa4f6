//! The derivatives of the laws of force fields and rows on the coordinates of their nodes.

use crate::differences::Differences;
use crate::equations::{LawRoom, RowArguments};
use pliant_model::{At, Blocks, ComponentId, Evaluation, Problem, RowGroup, State, Treatment};
use std::ops::Range;

/// Share of its size to which the blocks that a law gives have to agree with differences of its
/// force along one direction, which are good to about `1e-11`.
const AGREEMENT: f64 = 1e-9;

/// The derivative of a law by positions and velocities of its node, block by block.
#[derive(Debug)]
struct Law {
    /// Velocity coordinates of its node among those of all nodes.
    node: Range<usize>,
    /// Elements of each group; empty where each is alone.
    lists: Vec<Vec<usize>>,
    /// Whether an element is in several groups.
    overlap: bool,
    size: usize,
    /// `df/dx` and `df/dv`, one block for each group.
    dx: Blocks,
    dv: Blocks,
    /// Whether `dv` can be other than zero.
    damped: bool,
}

/// The laws of all force fields that are stiffnesses, and of all rows.
#[derive(Debug)]
pub(crate) struct Laws {
    /// By force field; `None` of rows and of those that act no more.
    fields: Vec<Option<Law>>,
    /// By row group.
    rows: Vec<Law>,
    /// Which rows are held at a bound, so that their multipliers stay.
    pub(crate) at_bound: Vec<bool>,
    differences: Differences,
    moved: State,
    direction: [Vec<f64>; 2],
    found: [Vec<f64>; 2],
}

impl Law {
    fn new(space_size: usize, node: Range<usize>, lists: Vec<Vec<usize>>, count: usize) -> Self {
        let widths: Vec<usize> = if lists.is_empty() {
            vec![space_size; count]
        } else {
            lists.iter().map(|l| l.len() * space_size).collect()
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
            size: space_size,
            dx: blocks(),
            dv: blocks(),
            damped: false,
        }
    }

    /// Coordinate `k` of group `g`, counted from the first of the node.
    fn coordinate(&self, g: usize, k: usize) -> usize {
        match self.lists.get(g) {
            Some(list) => list[k / self.size] * self.size + k % self.size,
            None => g * self.size + k,
        }
    }

    /// Adds the products of one kind of blocks with a vector on all nodes, or of their transposes.
    fn add_product(&self, blocks: &Blocks, transposed: bool, x: &[f64], y: &mut [f64]) {
        let (x, y) = (&x[self.node.clone()], &mut y[self.node.clone()]);
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
}

impl Laws {
    /// The laws of a problem.
    pub(crate) fn new(problem: &Problem, evaluation: &Evaluation) -> Self {
        let fields = problem.force_fields().iter().enumerate().map(|(i, field)| {
            let id = ComponentId::ForceField(i);
            let acts = problem.treatment(i) != Treatment::Compliance && !problem.is_released(id);
            acts.then(|| {
                let node = problem.node(field.node);
                let lists = evaluation.groups(i).to_vec();
                Law::new(
                    node.space.velocity_size(),
                    node.velocity_range(),
                    lists,
                    node.count,
                )
            })
        });
        let rows = problem.row_groups().iter().map(|group| {
            let node = problem.node(group.node);
            let lists = match group.component {
                ComponentId::ForceField(i) => evaluation.groups(i).to_vec(),
                _ => Vec::new(),
            };
            Law::new(group.size, node.velocity_range(), lists, group.count)
        });
        Self {
            fields: fields.collect(),
            rows: rows.collect(),
            at_bound: vec![false; problem.row_count()],
            differences: Differences::default(),
            moved: State::default(),
            direction: Default::default(),
            found: Default::default(),
        }
    }

    /// Whether the velocities of each node count: some law on it depends on them.
    pub(crate) fn on_velocities(&self, problem: &Problem, out: &mut Vec<bool>) {
        out.clear();
        out.resize(problem.nodes().len(), false);
        for (field, law) in problem.force_fields().iter().zip(&self.fields) {
            out[field.node.index()] |= law.as_ref().is_some_and(|law| law.damped);
        }
        for (group, law) in problem.row_groups().iter().zip(&self.rows) {
            out[group.node.index()] |= law.damped;
        }
    }

    /// Evaluates all blocks at a state that was evaluated, and says which rows are at a bound.
    pub(crate) fn evaluate(
        &mut self,
        problem: &Problem,
        evaluation: &Evaluation,
        room: &mut LawRoom,
        (state, multipliers, time, moves): (&State, &[f64], f64, bool),
    ) {
        self.moved.clone_from(state);
        for i in 0..self.fields.len() {
            self.evaluate_field(problem, evaluation, i, state, moves);
        }
        for (index, group) in problem.row_groups().iter().enumerate() {
            let range = group.first_row..group.first_row + group.size * group.count;
            let multipliers = &multipliers[range.clone()];
            let node = problem.node(group.node);
            let at = RowArguments {
                time,
                x: &state.positions[node.position_range()],
                v: &state.velocities[node.velocity_range()],
                multipliers,
            };
            self.evaluate_rows(problem, room, (index, group), at, moves);
            if let Some((lower, upper)) = problem.bounds(group) {
                for (bound, force) in self.at_bound[range].iter_mut().zip(multipliers) {
                    *bound = *force <= lower || *force >= upper;
                }
            }
        }
    }

    /// The blocks of one force field: its own, if they are the derivative of its force along a
    /// direction that is drawn, else by differences.
    fn evaluate_field(
        &mut self,
        problem: &Problem,
        evaluation: &Evaluation,
        i: usize,
        state: &State,
        moves: bool,
    ) {
        let Some(law) = &mut self.fields[i] else { return };
        let mut made = [0.0; Evaluation::MOST_MADE];
        for g in 0..law.dx.len() {
            let from = evaluation.stiffness_block(problem, i, g, &mut made);
            for (to, from) in law.dx.block_mut(g).iter_mut().zip(from) {
                *to = -from;
            }
        }
        law.damped = moves && evaluation.is_damped(i);
        law.dv.clear();
        if law.damped {
            for g in 0..law.dv.len() {
                let from = evaluation.damping(i).block(g);
                for (to, from) in law.dv.block_mut(g).iter_mut().zip(from) {
                    *to = -from;
                }
            }
        }
        let node = problem.node(problem.force_fields()[i].node);
        let [along, of_blocks] = &mut self.found;
        for (direction, seed) in self.direction.iter_mut().zip([1u32, 2]) {
            draw(problem.velocity_count(), law.node.clone(), seed, direction);
        }
        if !moves {
            self.direction[1].fill(0.0);
        }
        // The derivative along the direction, by differences and by the blocks.
        let scales = [
            scales_of(&state.positions[node.position_range()], node.count),
            scales_of(&state.velocities[node.velocity_range()], node.count),
        ];
        for (direction, scales) in self.direction.iter_mut().zip(&scales) {
            let own = direction[law.node.clone()].chunks_exact_mut(law.size);
            for (own, scale) in own.zip(scales) {
                own.iter_mut().for_each(|d| *d *= scale);
            }
        }
        along.clear();
        along.resize(law.node.len(), 0.0);
        let (moved, direction) = (&mut self.moved, &self.direction);
        self.differences.derivative(1.0, along, |t, out| {
            let range = node.position_range();
            moved.positions[range.clone()].copy_from_slice(&state.positions[range.clone()]);
            let step: Vec<f64> = direction[0][law.node.clone()].iter().map(|d| t * d).collect();
            node.space.retract(&mut moved.positions[range], &step);
            for k in law.node.clone() {
                moved.velocities[k] = state.velocities[k] + t * direction[1][k];
            }
            field_force(problem, moved, i, out);
        });
        of_blocks.clear();
        of_blocks.resize(problem.velocity_count(), 0.0);
        law.add_product(&law.dx, false, &direction[0], of_blocks);
        law.add_product(&law.dv, false, &direction[1], of_blocks);
        let size = along.iter().fold(0.0f64, |s, a| s.max(a.abs()));
        let differ = |(a, b): (&f64, &f64)| (a - b).abs() > AGREEMENT * size;
        if along.iter().zip(&of_blocks[law.node.clone()]).any(differ) {
            let (moved, differences) = (&mut self.moved, &mut self.differences);
            let f = |moved: &State, out: &mut [f64]| field_force(problem, moved, i, out);
            law.damped = moves;
            by_differences(law, node, state, moved, differences, &scales, f);
            if !moves {
                law.dv.clear();
            }
        }
        let (p, v) = (node.position_range(), node.velocity_range());
        self.moved.positions[p.clone()].copy_from_slice(&state.positions[p]);
        self.moved.velocities[v.clone()].copy_from_slice(&state.velocities[v]);
    }

    /// The blocks of the rows of one group.
    fn evaluate_rows(
        &mut self,
        problem: &Problem,
        room: &mut LawRoom,
        (index, group): (usize, &RowGroup),
        at: RowArguments<'_>,
        moves: bool,
    ) {
        let law = &mut self.rows[index];
        let linear = match group.component {
            ComponentId::ForceField(i) => problem.force_fields()[i].component.law.is_linear(),
            _ => true,
        };
        let node = problem.node(group.node);
        if !linear {
            let scales = [scales_of(at.x, group.count), scales_of(at.v, group.count)];
            let mut state = State::default();
            std::mem::swap(&mut state, &mut self.moved);
            let from = state.clone();
            let f = |moved: &State, out: &mut [f64]| {
                let given = RowArguments {
                    x: &moved.positions[node.position_range()],
                    v: &moved.velocities[node.velocity_range()],
                    ..at
                };
                room.evaluate(problem, group, given, out);
            };
            by_differences(law, node, &from, &mut state, &mut self.differences, &scales, f);
            self.moved = from;
        } else {
            // Residuals of linear laws are linear: each coordinate by the residual of a unit one.
            let count = group.size * group.count;
            let zero = vec![0.0; count.max(at.x.len())];
            let (mut at_zero, mut at_one) = (vec![0.0; count], vec![0.0; count]);
            let mut one = zero.clone();
            let given = RowArguments {
                x: &zero[..at.x.len()],
                v: &zero[..count],
                multipliers: &zero[..count],
                ..at
            };
            room.evaluate(problem, group, given, &mut at_zero);
            let widest = (0..law.dx.len()).map(|g| law.dx.width(g)).max().unwrap_or(0);
            for k in 0..widest {
                for of_velocity in [false, true] {
                    let places: Vec<(usize, usize)> = (0..law.dx.len())
                        .filter(|g| k < law.dx.width(*g))
                        .map(|g| (g, law.coordinate(g, k)))
                        .collect();
                    places.iter().for_each(|(_, c)| one[*c] = 1.0);
                    let given = match of_velocity {
                        false => RowArguments {
                            x: &one[..at.x.len()],
                            ..given
                        },
                        true => RowArguments {
                            v: &one[..count],
                            ..given
                        },
                    };
                    room.evaluate(problem, group, given, &mut at_one);
                    for (g, c) in &places {
                        let width = law.dx.width(*g);
                        for l in 0..width {
                            let row = law.coordinate(*g, l);
                            let blocks = if of_velocity { &mut law.dv } else { &mut law.dx };
                            blocks.block_mut(*g)[l * width + k] = at_one[row] - at_zero[row];
                        }
                        one[*c] = 0.0;
                    }
                }
            }
        }
        if !moves {
            law.dv.clear();
        }
        law.damped = (0..law.dv.len()).any(|g| law.dv.block(g).iter().any(|d| *d != 0.0));
        // Leaves the compliance of the present positions for products with it.
        let mut out = vec![0.0; group.size * group.count];
        room.evaluate(problem, group, at, &mut out);
    }

    /// The first component whose blocks are not finite.
    pub(crate) fn not_finite<'a>(&self, problem: &'a Problem) -> Option<&'a str> {
        let fails = |law: &Law| {
            let all = [&law.dx, &law.dv];
            all.iter()
                .any(|b| (0..b.len()).any(|g| b.block(g).iter().any(|k| !k.is_finite())))
        };
        let fields = problem.force_fields().iter().zip(&self.fields);
        let field = fields
            .filter(|(_, law)| law.as_ref().is_some_and(fails))
            .map(|(f, _)| &*f.name);
        let rows = problem
            .row_groups()
            .iter()
            .zip(&self.rows)
            .filter(|(_, law)| fails(law));
        field
            .chain(rows.map(|(g, _)| problem.component_name(g.component)))
            .next()
    }

    /// Adds the forces of all force fields for displacements `y` and changes `u` of the velocities
    /// of all nodes.
    pub(crate) fn add_forces(&self, y: &[f64], u: &[f64], f: &mut [f64]) {
        for law in self.fields.iter().flatten() {
            law.add_product(&law.dx, false, y, f);
            if law.damped {
                law.add_product(&law.dv, false, u, f);
            }
        }
    }

    /// Adds the transposes of the force fields' blocks times `p` on all nodes: to what acts against
    /// displacements, and against velocities.
    pub(crate) fn add_forces_transposed(&self, p: &[f64], y: &mut [f64], u: &mut [f64]) {
        for law in self.fields.iter().flatten() {
            law.add_product(&law.dx, true, p, y);
            if law.damped {
                law.add_product(&law.dv, true, p, u);
            }
        }
    }

    /// Writes the changes of the residuals of all rows for displacements and changes of velocity of
    /// all nodes, and changes of their multipliers. A row at a bound has that of its multiplier.
    pub(crate) fn rows(
        &self,
        problem: &Problem,
        room: &LawRoom,
        [y, u]: [&[f64]; 2],
        multipliers: &[f64],
        (nodes, out): (&mut Vec<f64>, &mut [f64]),
    ) {
        nodes.clear();
        nodes.resize(problem.velocity_count(), 0.0);
        for (group, law) in problem.row_groups().iter().zip(&self.rows) {
            nodes[law.node.clone()].fill(0.0);
            law.add_product(&law.dx, false, y, nodes);
            if law.damped {
                law.add_product(&law.dv, false, u, nodes);
            }
            let range = group.first_row..group.first_row + group.size * group.count;
            let (out, own) = (&mut out[range.clone()], &multipliers[range.clone()]);
            out.copy_from_slice(&nodes[law.node.clone()]);
            add_compliance(room, group, law, own, out);
            for ((out, own), bound) in out.iter_mut().zip(own).zip(&self.at_bound[range]) {
                if *bound {
                    *out = *own;
                }
            }
        }
    }

    /// Adds the transposes of the rows' derivatives times `q` (m): to what acts against
    /// displacements and velocities of all nodes, and writes that against multipliers.
    pub(crate) fn rows_transposed(
        &self,
        problem: &Problem,
        room: &LawRoom,
        q: &[f64],
        [y, u]: [&mut [f64]; 2],
        (nodes, out): (&mut Vec<f64>, &mut [f64]),
    ) {
        nodes.clear();
        nodes.resize(problem.velocity_count(), 0.0);
        for (group, law) in problem.row_groups().iter().zip(&self.rows) {
            let range = group.first_row..group.first_row + group.size * group.count;
            let free = |k: usize| !self.at_bound[group.first_row + k];
            for (k, to) in nodes[law.node.clone()].iter_mut().enumerate() {
                *to = if free(k) { q[group.first_row + k] } else { 0.0 };
            }
            law.add_product(&law.dx, true, nodes, y);
            if law.damped {
                law.add_product(&law.dv, true, nodes, u);
            }
            let out = &mut out[range.clone()];
            out.fill(0.0);
            // `C` is symmetric.
            add_compliance(room, group, law, &nodes[law.node.clone()], out);
            for (k, out) in out.iter_mut().enumerate() {
                if !free(k) {
                    *out += q[group.first_row + k];
                }
            }
        }
    }

    /// The product of the derivative of a force field's law by one of its inputs with `p` on the
    /// forces of all nodes and `q` on the rows (m): by differences of the law, with the input of
    /// `problem` moved and put back.
    pub(crate) fn by_input(
        &mut self,
        problem: &mut Problem,
        room: &mut LawRoom,
        (force_field, input): (usize, usize),
        (state, multipliers, time): (&State, &[f64], f64),
        [p, q]: [&[f64]; 2],
    ) -> f64 {
        let id = ComponentId::ForceField(force_field);
        let present = problem.inputs(force_field)[input];
        let node = problem.node(problem.force_fields()[force_field].node);
        let (positions, velocities) = (node.position_range(), node.velocity_range());
        let group = problem.row_groups().iter().position(|g| g.component == id);
        let group = group.map(|g| problem.row_groups()[g]);
        let mut by = vec![0.0; velocities.len()];
        let scale = present.abs().clamp(1e-2, 1.0);
        let mut f = |t: f64, out: &mut [f64]| {
            // A value that the law refuses is not taken, as one that is not finite.
            if problem.set_input(id, input, present + t).is_err() {
                out.fill(f64::NAN);
                return;
            }
            match &group {
                None => field_force(problem, state, force_field, out),
                Some(group) => {
                    let at = RowArguments {
                        time,
                        x: &state.positions[positions.clone()],
                        v: &state.velocities[velocities.clone()],
                        multipliers: &multipliers[group.first_row..][..out.len()],
                    };
                    room.evaluate(problem, group, at, out);
                }
            }
        };
        self.differences.derivative(scale, &mut by, &mut f);
        // At the end of its range, from the side that there is.
        for side in [1.0, -1.0] {
            if by.iter().any(|b| b.is_nan()) {
                self.differences.one_sided(side * scale, &mut by, &mut f);
            }
        }
        let _ = problem.set_input(id, input, present);
        let dot = |a: &[f64]| a.iter().zip(&by).map(|(a, b)| a * b).sum::<f64>();
        match &group {
            None => dot(&p[velocities]),
            Some(group) => -dot(&q[group.first_row..][..by.len()]),
        }
    }

    /// The derivative of the residual of a row by its own coordinate and by the rate of it.
    pub(crate) fn own(&self, problem: &Problem, out: &mut Vec<[f64; 2]>) {
        out.clear();
        out.resize(problem.row_count(), [1.0, 0.0]);
        for (group, law) in problem.row_groups().iter().zip(&self.rows) {
            for g in 0..law.dx.len() {
                let width = law.dx.width(g);
                for k in 0..width {
                    let own = [&law.dx, &law.dv].map(|blocks| blocks.block(g)[k * width + k]);
                    out[group.first_row + law.coordinate(g, k)] = own;
                }
            }
        }
    }
}

/// Adds `C` times multipliers of one group of rows.
fn add_compliance(room: &LawRoom, group: &RowGroup, law: &Law, own: &[f64], out: &mut [f64]) {
    let ComponentId::ForceField(i) = group.component else {
        return;
    };
    let Some(compliance) = room.compliance(i) else {
        return;
    };
    for g in 0..compliance.len() {
        let width = compliance.width(g);
        for (l, row) in compliance.block(g).chunks_exact(width.max(1)).enumerate() {
            let terms = row.iter().enumerate();
            out[law.coordinate(g, l)] += terms.map(|(k, c)| c * own[law.coordinate(g, k)]).sum::<f64>();
        }
    }
}

/// Writes the force of a force field on its node, with damping in proportion to its stiffness.
fn field_force(problem: &Problem, state: &State, i: usize, out: &mut [f64]) {
    out.fill(0.0);
    problem.add_field_force(state, i, 0.0, out);
    let rate = problem.rayleigh().stiffness;
    if rate == 0.0 {
        return;
    }
    let field = &problem.force_fields()[i];
    let node = problem.node(field.node);
    let at = At {
        space: node.space,
        x: &state.positions[node.position_range()],
        v: &state.velocities[node.velocity_range()],
        inputs: problem.inputs(i),
    };
    let lists = field.component.law.groups().lists(node.count);
    let size = node.space.velocity_size();
    let mut blocks = Blocks::new(lists.iter().map(|l| (l.len() * size, l.len() * size)));
    if field.component.law.stiffness(at, &mut blocks).is_err() {
        return;
    }
    for (g, list) in lists.iter().enumerate() {
        let width = list.len() * size;
        let place = |k: usize| list[k / size] * size + k % size;
        for (i, row) in blocks.block(g).chunks_exact(width.max(1)).enumerate() {
            let terms = row.iter().enumerate();
            out[place(i)] -= rate * terms.map(|(j, k)| k * at.v[place(j)]).sum::<f64>();
        }
    }
}

/// Writes all blocks of a law by differences of `f`, which is written on its node: the same
/// coordinate of all groups at once, unless these have elements in common.
fn by_differences(
    law: &mut Law,
    node: &pliant_model::Node,
    state: &State,
    moved: &mut State,
    differences: &mut Differences,
    scales: &[Vec<f64>; 2],
    mut f: impl FnMut(&State, &mut [f64]),
) {
    let groups = law.dx.len();
    let widest = (0..groups).map(|g| law.dx.width(g)).max().unwrap_or(0);
    let turns = if law.overlap { groups } else { 1 };
    let mut out = vec![0.0; law.node.len()];
    let mut step = vec![0.0; law.node.len()];
    let (p, v) = (node.position_range(), node.velocity_range());
    for k in 0..widest {
        for turn in 0..turns {
            let of_turn = |g: &usize| k < law.dx.width(*g) && (!law.overlap || *g == turn);
            let moving: Vec<usize> = (0..groups).filter(of_turn).collect();
            for (of_velocity, scales) in [false, true].into_iter().zip(scales) {
                // Of each group in the scale of the element that moves.
                let scale = |law: &Law, g: usize| scales[law.coordinate(g, k) / law.size];
                differences.derivative(1.0, &mut out, |t, out| {
                    moved.positions[p.clone()].copy_from_slice(&state.positions[p.clone()]);
                    moved.velocities[v.clone()].copy_from_slice(&state.velocities[v.clone()]);
                    step.fill(0.0);
                    moving
                        .iter()
                        .for_each(|g| step[law.coordinate(*g, k)] = t * scale(law, *g));
                    match of_velocity {
                        false => node.space.retract(&mut moved.positions[p.clone()], &step),
                        true => {
                            let own = moved.velocities[v.clone()].iter_mut();
                            own.zip(&step).for_each(|(v, d)| *v += d);
                        }
                    }
                    f(moved, out);
                });
                for g in &moving {
                    let (width, scale) = (law.dx.width(*g), scale(law, *g));
                    for l in 0..width {
                        let row = law.coordinate(*g, l);
                        let blocks = if of_velocity { &mut law.dv } else { &mut law.dx };
                        blocks.block_mut(*g)[l * width + k] = out[row] / scale;
                    }
                }
            }
        }
    }
    moved.positions[p.clone()].copy_from_slice(&state.positions[p]);
    moved.velocities[v.clone()].copy_from_slice(&state.velocities[v]);
}

/// The scale of the coordinates of each element, over which laws are taken to be smooth: the
/// largest of them, and no less than 1e-5 of a unit, so that a law with a kink where its coordinate
/// vanishes is not moved across it.
fn scales_of(list: &[f64], count: usize) -> Vec<f64> {
    let size = (list.len() / count.max(1)).max(1);
    let largest = |x: &[f64]| x.iter().fold(1e-5f64, |largest, x| largest.max(x.abs())).min(1.0);
    list.chunks_exact(size).map(largest).collect()
}

/// Draws a direction on the coordinates of one node, always the same, of entries between a half and
/// one either way.
fn draw(count: usize, range: Range<usize>, seed: u32, out: &mut Vec<f64>) {
    out.clear();
    out.resize(count, 0.0);
    let mut s = seed.wrapping_mul(0x9E37_79B9) | 1;
    for x in &mut out[range] {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        let share = f64::from(s) / f64::from(u32::MAX);
        *x = if share < 0.5 { share - 1.0 } else { share };
    }
}
