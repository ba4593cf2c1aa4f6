//! Transient rows behind those of the model: contacts come and go, the plan of the model stays.

use crate::KktError;
use crate::jacobian::{Column, Jacobians};
use pliant_dense::{Vec3, rotation};
use pliant_model::{Model, NodeId, Space, State};
use pliant_solvers::KktSystem;
use pliant_sparse::PatternBuilder;
use std::ops::Range;

/// An element of a node that a block of transient rows acts on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Support {
    /// A node of bodies, or of points of space.
    pub node: NodeId,
    /// Which of its elements.
    pub element: usize,
    /// Its share in the row's velocity, with sign (none).
    pub weight: f64,
    /// From the body's centre of mass to the point that moves, in world axes (m). Points have none.
    pub arm: [f64; 3],
}

/// The quantity that the rows of a block measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `u_i = a_i . sum_s w_s (v_s + omega_s x arm_s)`, m/s.
    Velocity,
    /// `u_i = a_i . sum_s w_s omega_s`, rad/s; points have no share in it.
    Spin,
}

/// Most rows of a block.
const ROWS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    axes: [[f64; 3]; ROWS],
    rows: usize,
    /// The first of them that measures spin.
    first_spin: usize,
    supports: (usize, usize),
    columns: (usize, usize),
    width: usize,
    first_row: usize,
    first_value: usize,
}

/// Blocks of one to six rows along axes in the world, on any elements of a model. Emptied and
/// filled again every step; nothing is allocated when it has been as long before.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    blocks: Vec<Block>,
    supports: Vec<Support>,
    columns: Vec<Column>,
    values: Vec<f64>,
    velocity: Vec<f64>,
    /// Right-hand sides in the velocity-change form: `J dv + R mu + b = 0` or complementary to
    /// `mu`. One per row.
    pub b: Vec<f64>,
    /// Diagonal of `R`. One per row.
    pub r: Vec<f64>,
}

impl Tail {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.supports.clear();
        self.b.clear();
        self.r.clear();
    }

    /// Adds a block of one to three rows, one per axis (world; of unit length, unless it is to be
    /// in another unit), with `b = 0`, `R = 0`; returns its rows, counted from the first transient
    /// one.
    ///
    /// # Panics
    /// If there are no or more than three axes.
    pub fn push(&mut self, quantity: Quantity, axes: &[[f64; 3]], supports: &[Support]) -> Range<usize> {
        match quantity {
            Quantity::Velocity => self.push_both(axes, &[], supports),
            Quantity::Spin => self.push_both(&[], axes, supports),
        }
    }

    /// Adds rows of both kinds, at most three of each: velocities along some axes, then
    /// spins about others.
    ///
    /// # Panics
    /// If there are no axes at all, or more than three of a kind.
    pub fn push_both(
        &mut self,
        velocities: &[[f64; 3]],
        spins: &[[f64; 3]],
        supports: &[Support],
    ) -> Range<usize> {
        let count = velocities.len() + spins.len();
        assert!(
            velocities.len() <= 3 && spins.len() <= 3 && count > 0,
            "one to three axes"
        );
        let first_row = self.b.len();
        let first = self.supports.len();
        self.supports.extend_from_slice(supports);
        let mut own = [[0.0; 3]; ROWS];
        own[..velocities.len()].copy_from_slice(velocities);
        own[velocities.len()..count].copy_from_slice(spins);
        self.blocks.push(Block {
            axes: own,
            rows: count,
            first_spin: velocities.len(),
            supports: (first, self.supports.len()),
            columns: (0, 0),
            width: 0,
            first_row,
            first_value: 0,
        });
        let rows = first_row..first_row + count;
        self.b.resize(rows.end, 0.0);
        self.r.resize(rows.end, 0.0);
        rows
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.b.len()
    }

    /// The velocity `u` of every row (m/s, rad/s) at the start of the step, as
    /// [`Assembler::project`](crate::Assembler::project) found it.
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// `J x` of every row into `out`, for one number per independent degree of freedom.
    ///
    /// # Panics
    /// If `x` has fewer numbers than the model has degrees of freedom.
    pub fn product_into(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for block in &self.blocks {
            out.extend((0..block.rows).map(|i| self.times(block, i, |dof| x[dof])));
        }
    }

    /// `out += J^T r / unit`, for one number per independent degree of freedom.
    ///
    /// # Panics
    /// If there are fewer impulses than rows, or `out` has fewer numbers than the model has degrees
    /// of freedom.
    pub fn add_transpose_product(&self, r: &[f64], unit: f64, out: &mut [f64]) {
        for block in &self.blocks {
            for i in 0..block.rows {
                let impulse = r[block.first_row + i] / unit;
                for (dof, run) in self.row(block, i) {
                    let target = &mut out[dof..dof + run.len()];
                    target.iter_mut().zip(run).for_each(|(o, j)| *o += j * impulse);
                }
            }
        }
    }

    /// `out += |J|^T |r|`, the size of what the impulses add to each degree of freedom.
    ///
    /// # Panics
    /// As [`add_transpose_product`](Self::add_transpose_product).
    pub fn add_sizes(&self, r: &[f64], out: &mut [f64]) {
        for block in &self.blocks {
            for i in 0..block.rows {
                let impulse = r[block.first_row + i].abs();
                for (dof, run) in self.row(block, i) {
                    let target = &mut out[dof..dof + run.len()];
                    target
                        .iter_mut()
                        .zip(run)
                        .for_each(|(o, j)| *o += j.abs() * impulse);
                }
            }
        }
    }

    /// Columns and dense values of row `i` of a block.
    fn row<'a>(&'a self, block: &'a Block, i: usize) -> impl Iterator<Item = (usize, &'a [f64])> {
        let row = &self.values[block.first_value + i * block.width..][..block.width];
        let columns = &self.columns[block.columns.0..block.columns.1];
        columns.iter().map(move |c| (c.dof, &row[c.at..c.at + c.size]))
    }

    /// `J x` of row `i` of a block.
    fn times(&self, block: &Block, i: usize, x: impl Fn(usize) -> f64) -> f64 {
        let runs = self.row(block, i);
        runs.map(|(dof, j)| j.iter().enumerate().map(|(k, j)| j * x(dof + k)).sum::<f64>())
            .sum()
    }

    /// Finds the Jacobians and velocities of all rows from the Jacobians of the nodes.
    pub(crate) fn project(
        &mut self,
        jacobians: &Jacobians,
        model: &Model,
        state: &State,
    ) -> Result<(), KktError> {
        self.columns.clear();
        self.values.clear();
        self.velocity.clear();
        for b in 0..self.blocks.len() {
            let block = self.blocks[b];
            let supports = &self.supports[block.supports.0..block.supports.1];
            let first = self.columns.len();
            for s in supports {
                let node = model.node(s.node);
                if !matches!(node.space, Space::Rigid3 | Space::Real(3)) {
                    return Err(KktError::Space {
                        node: node.name.clone(),
                        space: node.space,
                    });
                }
                if s.element >= node.count || !jacobians.is_filled(s.node.index()) {
                    return Err(KktError::NotPlanned {
                        node: node.name.clone(),
                        element: s.element,
                    });
                }
                for c in jacobians.columns(s.node.index(), s.element) {
                    if !self.columns[first..].iter().any(|o| o.dof == c.dof) {
                        self.columns.push(*c);
                    }
                }
            }
            self.columns[first..].sort_unstable_by_key(|c| c.dof);
            let mut width = 0;
            for c in &mut self.columns[first..] {
                c.at = width;
                width += c.size;
            }
            let first_value = self.values.len();
            self.values.resize(first_value + block.rows * width, 0.0);
            for i in 0..block.rows {
                let axis = Vec3::from(block.axes[i]);
                let quantity = if i < block.first_spin {
                    Quantity::Velocity
                } else {
                    Quantity::Spin
                };
                let mut velocity = 0.0;
                let row = &mut self.values[first_value + i * width..][..width];
                for s in supports {
                    let (local, size) = local_row(model, state, quantity, &axis, s);
                    let node = model.node(s.node);
                    let at = node.first_velocity + s.element * size;
                    let v = &state.velocities[at..at + size];
                    velocity += local.iter().zip(v).map(|(l, v)| l * v).sum::<f64>();
                    let index = s.node.index();
                    let inner = jacobians.width(index, s.element);
                    for c in jacobians.columns(index, s.element) {
                        let target = self.columns[first..].iter().find(|o| o.dof == c.dof);
                        let Some(target) = target.map(|t| t.at) else {
                            continue;
                        };
                        let out = &mut row[target..target + c.size];
                        match jacobians.block(index, s.element) {
                            None => out.iter_mut().zip(&local).for_each(|(o, l)| *o += l),
                            Some(block) => {
                                for (k, l) in local[..size].iter().enumerate().filter(|(_, l)| **l != 0.0) {
                                    let from = &block[k * inner + c.at..][..c.size];
                                    out.iter_mut().zip(from).for_each(|(o, j)| *o += l * j);
                                }
                            }
                        }
                    }
                }
                self.velocity.push(velocity);
            }
            self.blocks[b] = Block {
                columns: (first, self.columns.len()),
                width,
                first_value,
                ..block
            };
        }
        Ok(())
    }
}

/// The row of a block in the velocity coordinates of one support, and how many those are.
fn local_row(
    model: &Model,
    state: &State,
    quantity: Quantity,
    axis: &Vec3,
    s: &Support,
) -> ([f64; 6], usize) {
    let node = model.node(s.node);
    let a = axis * s.weight;
    let mut out = [0.0; 6];
    let velocity = quantity == Quantity::Velocity;
    if velocity {
        out[..3].copy_from_slice(a.as_slice());
    }
    if node.space != Space::Rigid3 {
        return (out, 3);
    }
    let x = &state.positions[node.first_position + 7 * s.element..][..7];
    // a . (omega x arm) = omega . (arm x a), and the angular velocity is in body axes.
    let turn = if velocity { Vec3::from(s.arm).cross(&a) } else { a };
    let back = rotation::rotate(rotation::conjugate([x[3], x[4], x[5], x[6]]), turn);
    out[3..].copy_from_slice(back.as_slice());
    (out, 6)
}

/// The system of a step with transient rows behind the model's. Its patterns are made anew only
/// when the rows act on other coordinates than before, and then allocate only for more of them than
/// ever before.
#[derive(Debug, Default)]
pub struct Extended {
    system: KktSystem,
    /// Whether the system is of the last rows.
    is_planned: bool,
    /// The shape that the pattern was made for: rows and columns of every block.
    shape: Vec<(usize, usize)>,
    columns: Vec<(usize, usize)>,
    base: (usize, usize),
    /// How often patterns were made.
    plans: usize,
    of_j: PatternBuilder,
    of_r: PatternBuilder,
    /// Boundaries of the row blocks: scratch.
    row_blocks: Vec<usize>,
}

impl Extended {
    /// Adds impulses on the rows of a tail, which were found beforehand, to the right-hand side of
    /// the last fill.
    pub fn add_impulses(&mut self, tail: &Tail, r: &[f64], unit: f64) {
        if self.is_planned {
            tail.add_transpose_product(r, unit, &mut self.system.c);
        }
    }

    /// Leaves of the last fill what an impact at the start of the step sees: no forces, and rows of
    /// the model that keep their velocities.
    pub fn keep_impacts_only(&mut self) {
        if self.is_planned {
            self.system.c.fill(0.0);
            self.system.b[..self.base.1].fill(0.0);
        }
    }

    /// The system as last filled.
    pub fn system(&self) -> Option<&KktSystem> {
        self.is_planned.then_some(&self.system)
    }

    /// How often its patterns were made.
    pub fn plans(&self) -> usize {
        self.plans
    }

    /// Copies the system of the model and appends the projected rows of the tail. Every block of
    /// the tail is a row block. `fixed_change` is that of [`StepInput`](crate::StepInput).
    ///
    /// # Errors
    /// [`KktError`] if the system does not fit 32-bit indices.
    pub fn fill(
        &mut self,
        base: &KktSystem,
        fixed_change: &[f64],
        tail: &Tail,
    ) -> Result<&KktSystem, KktError> {
        let m = base.m();
        if !(self.is_planned && self.fits(base, tail)) {
            self.is_planned = false;
            self.plan(base, tail)?;
            self.is_planned = true;
        }
        let system = &mut self.system;
        system.w.values_mut().copy_from_slice(base.w.values());
        let (j, r) = (base.j.values(), base.r.values());
        system.j.values_mut()[..j.len()].copy_from_slice(j);
        system.r.values_mut()[..r.len()].copy_from_slice(r);
        system.r.values_mut()[r.len()..].copy_from_slice(&tail.r);
        system.fixed.copy_from_slice(&base.fixed);
        system.b_rounding[..m].copy_from_slice(&base.b_rounding);
        system.bounds[..m].copy_from_slice(&base.bounds);
        let mut at = j.len();
        for block in &tail.blocks {
            for i in 0..block.rows {
                for (_, run) in tail.row(block, i) {
                    system.j.values_mut()[at..at + run.len()].copy_from_slice(run);
                    at += run.len();
                }
            }
        }
        self.fill_right_hand_sides(base, fixed_change, tail);
        Ok(&self.system)
    }

    /// Copies the right-hand sides of the model and the tail alone, of a system whose matrices are
    /// those of the last [`fill`](Self::fill).
    pub fn fill_right_hand_sides(&mut self, base: &KktSystem, fixed_change: &[f64], tail: &Tail) {
        if !self.is_planned {
            return;
        }
        let (m, system) = (base.m(), &mut self.system);
        system.c.copy_from_slice(&base.c);
        system.b[..m].copy_from_slice(&base.b);
        let changes = fixed_change.iter().any(|d| *d != 0.0);
        for block in &tail.blocks {
            for i in 0..block.rows {
                let row = block.first_row + i;
                let mut b = tail.b[row];
                // As the assembler does it for its rows.
                if changes {
                    b += tail.times(block, i, |dof| fixed_change[dof]);
                }
                system.b[m + row] = b;
            }
        }
    }

    fn fits(&self, base: &KktSystem, tail: &Tail) -> bool {
        self.base == (base.n(), base.m())
            && self.shape.len() == tail.blocks.len()
            && self.columns.len() == tail.columns.len()
            && self
                .shape
                .iter()
                .zip(&tail.blocks)
                .all(|(s, b)| *s == (b.rows, b.columns.1))
            && self
                .columns
                .iter()
                .zip(&tail.columns)
                .all(|(a, b)| *a == (b.dof, b.size))
    }

    fn plan(&mut self, base: &KktSystem, tail: &Tail) -> Result<(), KktError> {
        let (n, m) = (base.n(), base.m());
        let all = m + tail.rows();
        let (j, r) = (&mut self.of_j, &mut self.of_r);
        j.reset(all, n);
        r.reset(all, all);
        for i in 0..m {
            base.j
                .pattern()
                .row(i)
                .iter()
                .for_each(|k| j.insert(i, *k as usize));
            base.r
                .pattern()
                .row(i)
                .iter()
                .for_each(|k| r.insert(i, *k as usize));
        }
        self.row_blocks.clear();
        self.row_blocks.extend_from_slice(base.row_blocks());
        for block in &tail.blocks {
            let first = m + block.first_row;
            for c in &tail.columns[block.columns.0..block.columns.1] {
                j.insert_block((first, c.dof), (block.rows, c.size), false);
            }
            (first..first + block.rows).for_each(|i| r.insert(i, i));
            self.row_blocks.push(first + block.rows);
        }
        self.base = (n, m);
        self.shape.clear();
        self.shape
            .extend(tail.blocks.iter().map(|b| (b.rows, b.columns.1)));
        self.columns.clear();
        self.columns.extend(tail.columns.iter().map(|c| (c.dof, c.size)));
        self.plans += 1;
        let patterns = [base.w.pattern().clone(), j.build()?, r.build()?];
        self.system
            .refill(patterns, base.primal_blocks(), &self.row_blocks)?;
        Ok(())
    }
}
