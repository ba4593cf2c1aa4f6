//! The derivatives of the laws of all force fields and rows on the coordinates of their nodes.

use crate::law::{Law, LawBuffers};
use crate::row_law::{RowArguments, RowLaws};
use pliant_model::{At, Blocks, ComponentId, Evaluation, Problem, RowGroup, State, Treatment};

/// Roundings of a bound within which a multiplier is at it: it was an impulse, divided by the length
/// of the step.
const AT_BOUND: f64 = 4.0 * f64::EPSILON;

/// The laws of all force fields that are stiffnesses, and of all rows.
#[derive(Debug)]
pub(crate) struct Laws {
    /// The law of each force field; `None` of rows and of those that act no more.
    fields: Vec<Option<Law>>,
    /// The law of each row group.
    rows: Vec<Law>,
    /// Whether the blocks of each row group are known for good: those of linear laws without
    /// inputs.
    known: Vec<bool>,
    /// Whether each row is held at a bound, so that its multiplier stays.
    pub(crate) at_bound: Vec<bool>,
    /// Whether these are those of an earlier moment, and stay.
    pub(crate) bounds_stay: bool,
    buffers: LawBuffers,
    /// A vector on all nodes.
    on_nodes: Vec<f64>,
    /// Arguments and residuals of a linear law: zeros, one unit coordinate, and both residuals.
    unit: [Vec<f64>; 4],
}

/// The state in which laws are evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LawMoment<'a> {
    /// Positions and velocities of all nodes.
    pub(crate) state: &'a State,
    /// Multipliers (N, N m), one per row.
    pub(crate) multipliers: &'a [f64],
    /// The forces in the laws of the rows (N, N m): the multipliers, and what is beside them.
    pub(crate) law_forces: &'a [f64],
    /// Time (s), for rows that are driven.
    pub(crate) time: f64,
    /// Whether it is a moment of motion, and not of rest.
    pub(crate) moves: bool,
}

/// One input of a force field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputPlace {
    pub(crate) force_field: usize,
    pub(crate) input: usize,
    /// Whether the force of its law is meant although it is a row.
    pub(crate) as_forces: bool,
}

impl Laws {
    /// Plans the laws of a problem.
    pub(crate) fn new(problem: &Problem, evaluation: &Evaluation) -> Self {
        let fields = problem.force_fields().iter().enumerate().map(|(i, field)| {
            let id = ComponentId::ForceField(i);
            let acts = problem.treatment(i) != Treatment::Compliance && !problem.is_released(id);
            acts.then(|| {
                let node = problem.node(field.node);
                let (size, lists) = (node.space.velocity_size(), evaluation.groups(i).to_vec());
                Law::new(size, node.velocity_range(), lists, node.count)
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
            known: vec![false; problem.row_groups().len()],
            at_bound: vec![false; problem.row_count()],
            bounds_stay: false,
            buffers: LawBuffers::default(),
            on_nodes: vec![0.0; problem.velocity_count()],
            unit: Default::default(),
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
        room: &mut RowLaws,
        at: LawMoment<'_>,
    ) {
        self.buffers.start_from(at.state);
        for i in 0..self.fields.len() {
            self.evaluate_field(problem, evaluation, i, at);
        }
        for (index, group) in problem.row_groups().iter().enumerate() {
            let range = group.first_row..group.first_row + group.size * group.count;
            let multipliers = &at.multipliers[range.clone()];
            if !self.known[index] {
                self.evaluate_rows(problem, room, index, at);
            }
            if !self.bounds_stay {
                let (lower, upper) = problem
                    .bounds(group)
                    .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                for (bound, force) in self.at_bound[range].iter_mut().zip(multipliers) {
                    let slack = |limit: f64| AT_BOUND * limit.abs();
                    let is_at = |limit: f64| limit.is_finite() && (force - limit).abs() <= slack(limit);
                    *bound = *force <= lower || *force >= upper || is_at(lower) || is_at(upper);
                }
            }
        }
    }

    /// The blocks of one force field: its own, if they are the derivative of its force along a
    /// direction, else by differences.
    fn evaluate_field(&mut self, problem: &Problem, evaluation: &Evaluation, i: usize, at: LawMoment<'_>) {
        let Some(law) = &mut self.fields[i] else { return };
        let mut made = [0.0; Evaluation::MOST_MADE];
        for g in 0..law.dx.len() {
            let from = evaluation.stiffness_block(problem, i, g, &mut made);
            let pairs = law.dx.block_mut(g).iter_mut().zip(from);
            pairs.for_each(|(to, from)| *to = -from);
        }
        law.damped = at.moves && evaluation.is_damped(i);
        law.dv.clear();
        for g in (0..law.dv.len()).filter(|_| law.damped) {
            let pairs = law.dv.block_mut(g).iter_mut().zip(evaluation.damping(i).block(g));
            pairs.for_each(|(to, from)| *to = -from);
        }
        let field = &problem.force_fields()[i];
        let says = [field.component.law.is_linear(), at.moves];
        law.check_or_replace(
            problem.node(field.node),
            at.state,
            says,
            &mut self.buffers,
            |state, out| field_force(problem, state, i, out),
        );
    }

    /// The blocks of the rows of one group.
    fn evaluate_rows(&mut self, problem: &Problem, room: &mut RowLaws, index: usize, at: LawMoment<'_>) {
        let group = &problem.row_groups()[index];
        let node = problem.node(group.node);
        let multipliers = &at.law_forces[group.first_row..][..group.size * group.count];
        let component = match group.component {
            ComponentId::ForceField(i) => Some(&problem.force_fields()[i].component.law),
            _ => None,
        };
        if component.is_none_or(|law| law.is_linear()) {
            self.evaluate_linear_rows(problem, room, index, at);
            self.known[index] = component.is_none_or(|law| law.inputs().is_empty());
            return;
        }
        let law = &mut self.rows[index];
        law.make_by_differences(node, at.state, at.moves, &mut self.buffers, |moved, out| {
            let given = RowArguments::of(moved, node, multipliers, at.time);
            room.evaluate(problem, group, given, out);
        });
        // Leaves the compliance of the present positions for products with it.
        let out = &mut self.unit[0];
        out.clear();
        out.resize(multipliers.len(), 0.0);
        let given = RowArguments::of(at.state, node, multipliers, at.time);
        room.evaluate(problem, group, given, out);
    }

    /// The blocks of the rows of a linear law, whose residuals are linear: each coordinate by the
    /// residual of a unit one.
    fn evaluate_linear_rows(
        &mut self,
        problem: &Problem,
        room: &mut RowLaws,
        index: usize,
        at: LawMoment<'_>,
    ) {
        let group = &problem.row_groups()[index];
        let count = group.size * group.count;
        let [zero, one, at_zero, at_one] = &mut self.unit;
        for list in [&mut *zero, &mut *one, &mut *at_zero, &mut *at_one] {
            list.clear();
            list.resize(count, 0.0);
        }
        let law = &mut self.rows[index];
        let mut residual = |x: &[f64], v: &[f64], out: &mut [f64]| {
            let given = RowArguments {
                time: at.time,
                x,
                v,
                multipliers: zero,
            };
            room.evaluate(problem, group, given, out);
        };
        residual(zero, zero, at_zero);
        let widest = (0..law.dx.len()).map(|g| law.dx.width(g)).max().unwrap_or(0);
        for (k, kind) in (0..widest).flat_map(|k| [(k, 0), (k, 1)]) {
            for g in (0..law.dx.len()).filter(|g| k < law.dx.width(*g)) {
                one[law.coordinate(g, k)] = 1.0;
            }
            let [x, v] = if kind == 0 {
                [&*one, &*zero]
            } else {
                [&*zero, &*one]
            };
            residual(x, v, at_one);
            for g in 0..law.dx.len() {
                if k < law.dx.width(g) {
                    law.write_column(kind, g, k, |row| at_one[row] - at_zero[row]);
                    one[law.coordinate(g, k)] = 0.0;
                }
            }
        }
        if !at.moves {
            law.dv.clear();
        }
        law.damped = (0..law.dv.len()).any(|g| law.dv.block(g).iter().any(|d| *d != 0.0));
    }

    /// The law of a force field that is a stiffness.
    pub(crate) fn field(&self, force_field: usize) -> Option<&Law> {
        self.fields[force_field].as_ref()
    }

    /// The first component whose blocks are not finite.
    pub(crate) fn not_finite<'a>(&self, problem: &'a Problem) -> Option<&'a str> {
        let fields = problem.force_fields().iter().zip(&self.fields);
        let names = fields.map(|(field, law)| (&*field.name, law.as_ref()));
        let groups = problem.row_groups().iter().zip(&self.rows);
        let rows = groups.map(|(group, law)| (problem.component_name(group.component), Some(law)));
        let mut all = names.chain(rows);
        let bad = all.find(|(_, law)| law.is_some_and(|law| !law.is_finite()))?;
        Some(bad.0)
    }

    /// The row whose force is beyond a bound at which it is not, if there is one.
    pub(crate) fn beyond_bound(&self, problem: &Problem, multipliers: &[f64]) -> Option<usize> {
        let groups = problem.row_groups().iter();
        let mut beyond = groups.filter_map(|group| {
            let (lower, upper) = problem.bounds(group)?;
            let mut rows = group.first_row..group.first_row + group.size * group.count;
            rows.find(|row| !self.at_bound[*row] && !(lower..=upper).contains(&multipliers[*row]))
        });
        beyond.next()
    }

    /// Sets the entries of a vector on the rows that are at a bound to zero.
    pub(crate) fn clear_at_bounds(&self, rows: &mut [f64]) {
        let held = rows.iter_mut().zip(&self.at_bound).filter(|(_, at)| **at);
        held.for_each(|(row, _)| *row = 0.0);
    }

    /// Adds the forces of all force fields for displacements and changes of velocity of all nodes.
    pub(crate) fn add_forces(&self, moved: [&[f64]; 2], f: &mut [f64]) {
        let laws = self.fields.iter().flatten();
        laws.for_each(|law| law.add_product(moved, f));
    }

    /// Adds the transpose: `p` on the forces of all nodes against displacements and velocities.
    pub(crate) fn add_forces_transposed(&self, p: &[f64], [y, u]: [&mut [f64]; 2]) {
        for law in self.fields.iter().flatten() {
            law.add_transposed_product(p, [&mut *y, &mut *u]);
        }
    }

    /// Writes the changes of the residuals of all rows for displacements and changes of velocity of
    /// all nodes, and changes of their multipliers. A row at a bound has that of its multiplier.
    pub(crate) fn rows(
        &mut self,
        problem: &Problem,
        room: &RowLaws,
        moved: [&[f64]; 2],
        multipliers: &[f64],
        out: &mut [f64],
    ) {
        let nodes = &mut self.on_nodes;
        for (group, law) in problem.row_groups().iter().zip(&self.rows) {
            nodes[law.node.clone()].fill(0.0);
            law.add_product(moved, nodes);
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

    /// Adds the transposes of the rows' derivatives times `q` (m) to the vectors against
    /// displacements and velocities of all nodes, and writes that against multipliers.
    pub(crate) fn rows_transposed(
        &mut self,
        problem: &Problem,
        room: &RowLaws,
        q: &[f64],
        [y, u]: [&mut [f64]; 2],
        out: &mut [f64],
    ) {
        let nodes = &mut self.on_nodes;
        for (group, law) in problem.row_groups().iter().zip(&self.rows) {
            let range = group.first_row..group.first_row + group.size * group.count;
            let free = |k: usize| !self.at_bound[group.first_row + k];
            for (k, to) in nodes[law.node.clone()].iter_mut().enumerate() {
                *to = if free(k) { q[group.first_row + k] } else { 0.0 };
            }
            law.add_transposed_product(nodes, [&mut *y, &mut *u]);
            let out = &mut out[range];
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
        room: &mut RowLaws,
        InputPlace {
            force_field,
            input,
            as_forces,
        }: InputPlace,
        at: LawMoment<'_>,
        [p, q]: [&[f64]; 2],
    ) -> f64 {
        let id = ComponentId::ForceField(force_field);
        let present = problem.inputs(force_field)[input];
        let velocities = problem
            .node(problem.force_fields()[force_field].node)
            .velocity_range();
        let group = problem.row_groups().iter().find(|g| g.component == id).copied();
        let group = group.filter(|_| !as_forces);
        let by = &mut self.unit[0];
        by.clear();
        by.resize(velocities.len(), 0.0);
        let scale = present.abs().clamp(1e-2, 1.0);
        let mut f = |t: f64, out: &mut [f64]| {
            // A value that the law refuses is not taken, as one that is not finite.
            if problem.set_input(id, input, present + t).is_err() {
                out.fill(f64::NAN);
                return;
            }
            let Some(group) = &group else {
                return field_force(problem, at.state, force_field, out);
            };
            let multipliers = &at.law_forces[group.first_row..][..out.len()];
            let node = problem.node(group.node);
            let arguments = RowArguments::of(at.state, node, multipliers, at.time);
            room.evaluate(problem, group, arguments, out);
        };
        let differences = &mut self.buffers.differences;
        differences.derivative(scale, by, &mut f);
        // At the end of its range, from the side that there is.
        for side in [1.0, -1.0] {
            if by.iter().any(|b| b.is_nan()) {
                differences.one_sided(side * scale, by, &mut f);
            }
        }
        // The compliance of the present input goes back to where products read it, too.
        let room = &mut self.unit[1];
        room.clear();
        room.resize(velocities.len(), 0.0);
        f(0.0, room);
        let dot = |a: &[f64]| a.iter().zip(&self.unit[0]).map(|(a, b)| a * b).sum::<f64>();
        match &group {
            None => dot(&p[velocities]),
            Some(group) => -dot(&q[group.first_row..][..velocities.len()]),
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

impl Laws {
    /// Adds `C` times forces on one group of rows (N, N m; each row of the group), with the compliances
    /// as the equations evaluated them last.
    pub(crate) fn add_strain(
        &self,
        room: &RowLaws,
        problem: &Problem,
        index: usize,
        own: &[f64],
        out: &mut [f64],
    ) {
        add_compliance(room, &problem.row_groups()[index], &self.rows[index], own, out);
    }
}

/// Adds `C` times multipliers of one group of rows.
fn add_compliance(room: &RowLaws, group: &RowGroup, law: &Law, own: &[f64], out: &mut [f64]) {
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
pub(crate) fn field_force(problem: &Problem, state: &State, i: usize, out: &mut [f64]) {
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
    let by_shape = field.component.law.add_shape_damping(at, 1.0, &mut blocks);
    if !by_shape && field.component.law.stiffness(at, &mut blocks).is_err() {
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
