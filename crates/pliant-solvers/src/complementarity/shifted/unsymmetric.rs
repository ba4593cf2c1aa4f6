//! The unsymmetric system of Newton's method: contacts whose normal velocity is shifted by their
//! own slip.

use super::{ABSENT, Shifted};
use crate::complementarity::{Form, Problem};
use crate::{DirectSolver, Elimination, KktSystem};
use pliant_sparse::{FrontSymbolic, Graph, SymbolicWorkspace, Threads, UnsymmetricFactor};

/// Pivot that stands for infinity: the multiplier of a redundant row.
const DROPPED: f64 = -1e100;

/// `[W -J^T; -J -R]` with both triangles, in the order of elimination of the symmetric factor.
#[derive(Debug, Default)]
pub(super) struct Unsymmetric {
    /// Whether it is of the pattern at hand, and of this order of the symmetric factor.
    is_planned: bool,
    pub(super) order: Elimination,
    symbolic: FrontSymbolic,
    factor: UnsymmetricFactor,
    /// Position of each variable and each row; `ABSENT` for fixed variables.
    position: Vec<u32>,
    /// For every entry of W, J and R its place in the factor and that of its mirror image; `ABSENT`
    /// for fixed variables.
    slots: [Vec<[u32; 2]>; 3],
    /// For each block with a cone the places of the entries between its own rows.
    own: Vec<u32>,
    /// Right-hand side in the order of elimination.
    x: Vec<f64>,
    ready: bool,
    scratch: Scratch,
}

/// Scratch of a plan. No result depends on what is in it.
#[derive(Debug, Default)]
struct Scratch {
    vertex: Vec<usize>,
    /// Positions of the row and the column of each entry of W, J and R.
    entries: [Vec<(u32, u32)>; 3],
    graph: Graph,
    work: Box<SymbolicWorkspace>,
}

impl Unsymmetric {
    /// Makes it one of no pattern.
    pub(super) fn forget(&mut self) {
        self.is_planned = false;
        self.ready = false;
    }

    /// Plans it for the order that the symmetric factor has; `unknown` is the variable, or n and
    /// the row, of a row of the problem. False if that fails.
    fn refill(
        &mut self,
        system: &KktSystem,
        direct: &DirectSolver,
        problem: &Problem,
        threads: &Threads,
        unknown: impl Fn(usize) -> usize,
    ) -> bool {
        self.forget();
        let Some(order) = direct.order_in_use() else {
            return false;
        };
        let Scratch {
            vertex,
            entries,
            graph,
            work,
        } = &mut self.scratch;
        let n = system.n();
        let position = &mut self.position;
        position.clear();
        position.resize(n + system.m(), ABSENT);
        for (k, v) in order.sequence.iter().enumerate() {
            position[*v] = k as u32;
        }
        vertex.clear();
        for (k, w) in order.bounds.windows(2).enumerate() {
            vertex.extend(std::iter::repeat_n(k, w[1] - w[0]));
        }
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        for ((part, row0, column0), out) in parts.into_iter().zip(&mut *entries) {
            out.clear();
            for i in 0..part.pattern().rows() {
                let columns = part.pattern().row(i).iter();
                out.extend(columns.map(|k| (position[row0 + i], position[column0 + *k as usize])));
            }
        }
        graph.reset(order.bounds.len() - 1);
        for (i, k) in entries.iter().flatten() {
            if *i != ABSENT && *k != ABSENT {
                graph.connect(vertex[*i as usize], vertex[*k as usize]);
            }
        }
        let symbolic = &mut self.symbolic;
        if symbolic.refill(&order.bounds, graph, work).is_err() {
            return false;
        }
        let slot = |i: u32, k: u32| {
            let slot = symbolic.unsymmetric_slot(i as usize, k as usize);
            slot.map_or(ABSENT, |s| s as u32)
        };
        for (list, slots) in entries.iter().zip(&mut self.slots) {
            slots.clear();
            slots.extend(list.iter().map(|(i, k)| [slot(*i, *k), slot(*k, *i)]));
        }
        let own = &mut self.own;
        own.clear();
        own.resize(problem.squares(), ABSENT);
        for k in 0..problem.blocks() {
            let rows = problem.rows(k);
            let d = rows.len();
            for (i, row) in rows.clone().enumerate() {
                for (l, column) in rows.clone().enumerate() {
                    own[problem.square(k).start + i * d + l] =
                        slot(position[unknown(row)], position[unknown(column)]);
                }
            }
        }
        self.order.clone_from(order);
        self.factor.refill(symbolic, threads);
        self.x.clear();
        self.x.resize(symbolic.size(), 0.0);
        self.is_planned = true;
        true
    }

    /// Takes W, J and R of a system.
    fn symmetric_part(&mut self, system: &KktSystem) {
        self.ready = false;
        self.factor.clear();
        let target = self.factor.values_mut();
        let parts = [(&system.w, 1.0), (&system.j, -1.0), (&system.r, -1.0)];
        for ((part, sign), slots) in parts.into_iter().zip(&self.slots) {
            for (value, [slot, mirror]) in part.values().iter().zip(slots) {
                for slot in [*slot as usize, *mirror as usize] {
                    // No storage reaches up to `ABSENT`.
                    if let Some(target) = target.get_mut(slot) {
                        *target = sign * value;
                    }
                }
            }
        }
    }

    /// Factors what was filled, without the rows that are redundant.
    fn eliminate(&mut self, direct: &DirectSolver) -> bool {
        let rows = self.position.len() - direct.dropped().len();
        for (row, _) in direct
            .dropped()
            .iter()
            .enumerate()
            .filter(|(_, dropped)| **dropped)
        {
            let at = self.position[rows + row] as usize;
            if let Some(slot) = self.symbolic.unsymmetric_slot(at, at) {
                self.factor.values_mut()[slot] = DROPPED;
            }
        }
        self.ready = self.factor.factor(&self.symbolic).is_ok();
        self.ready
    }
}

impl Shifted {
    /// Factors `T A T^T + B E` with `T` and `E` as for [`Self::factor`] and the derivatives
    /// `s = mu u_t/|u_t|` of the shift, as `T^-T s`:
    ///
    /// ```math
    /// B = T V^-1 T^-1 = 1 - (T n) (T^-T s)^T,   V = 1 + n s^T
    /// ```
    ///
    /// Only entries between the rows of one contact are unsymmetric. False if it fails.
    pub(crate) fn factor_unsymmetric(
        &mut self,
        problem: &Problem,
        turn: &[f64],
        e: &[f64],
        slope: &[f64],
    ) -> bool {
        if !self.analyse_unsymmetric(problem, turn, e) {
            return false;
        }
        let (own, unsymmetric) = (&mut self.system, &mut self.unsymmetric);
        self.sources.fill(problem, turn, e, own);
        unsymmetric.symmetric_part(own);
        let target = unsymmetric.factor.values_mut();
        let sign = if self.shape.saddle { -1.0 } else { 1.0 };
        for k in 0..problem.blocks() {
            let rows = problem.rows(k);
            if slope[rows.clone()].iter().all(|s| *s == 0.0) {
                continue;
            }
            let d = rows.len();
            let square = problem.square(k).start;
            for l in 0..d {
                for i in 0..d {
                    target[unsymmetric.own[square + i * d + l] as usize] -=
                        sign * turn[square + i * d] * slope[rows.start + l] * e[rows.start + l];
                }
            }
        }
        unsymmetric.eliminate(&self.direct)
    }

    /// Factors the generalised Jacobian `F_r + F_u (A + e D)` of one function `F(r, u)` per block,
    /// with `by_r` and `by_u` as one square matrix per block, row by row, `D` the blocks' scales,
    /// and columns divided by them. Contacts stay unknowns: no Delassus operator enters. False if
    /// it fails, or if the operator is no [`Form::Saddle`] with `R` by blocks.
    pub(crate) fn factor_newton(&mut self, problem: &Problem, by_r: &[f64], by_u: &[f64], e: f64) -> bool {
        let Form::Saddle { system, .. } = problem.delassus().form() else {
            return false;
        };
        if self.needs_symmetric() {
            // Any regular matrix tells the order.
            let (mut turn, mut scale) = (std::mem::take(&mut self.unit), std::mem::take(&mut self.scale));
            turn.clear();
            turn.resize(problem.squares(), 0.0);
            scale.clear();
            for k in 0..problem.blocks() {
                let (d, first) = (problem.rows(k).len(), problem.square(k).start);
                (0..d).for_each(|i| turn[first + i * d + i] = 1.0);
                scale.extend(std::iter::repeat_n(problem.scale(k), d));
            }
            let done = self.analyse_unsymmetric(problem, &turn, &scale);
            (self.unit, self.scale) = (turn, scale);
            if !done {
                return false;
            }
        }
        let (own, unsymmetric) = (&mut self.system, &mut self.unsymmetric);
        own.w.values_mut().copy_from_slice(system.w.values());
        own.r.values_mut().fill(0.0);
        for i in 0..own.m() {
            let (k, l) = self.sources.place[i];
            let l = if k == ABSENT { 0 } else { l as usize };
            for slot in own.j.pattern().row_slots(i) {
                let from = self.sources.columns[slot][l] as usize;
                own.j.values_mut()[slot] = system.j.values().get(from).copied().unwrap_or(0.0);
            }
            for slot in own.r.pattern().row_slots(i) {
                let other = self.sources.place[own.r.pattern().indices()[slot] as usize].0;
                let value = system
                    .r
                    .values()
                    .get(self.sources.entries[slot] as usize)
                    .copied()
                    .unwrap_or(0.0);
                if k == ABSENT && other == ABSENT {
                    own.r.values_mut()[slot] = value;
                } else if k != other && value != 0.0 {
                    return false;
                }
            }
        }
        unsymmetric.symmetric_part(own);
        let target = unsymmetric.factor.values_mut();
        for i in 0..own.m() {
            let (k, l) = self.sources.place[i];
            if k == ABSENT {
                continue;
            }
            let (k, l) = (k as usize, l as usize);
            let rows = problem.rows(k);
            let (d, s) = (rows.len(), problem.scale(k));
            let at = &self.shape.rows[rows];
            let first = problem.square(k).start + l * d;
            let g = |c: usize| by_u[first + c];
            for slot in own.j.pattern().row_slots(i) {
                let value = |slot: u32| system.j.values().get(slot as usize).copied().unwrap_or(0.0);
                let [own_slot, mirror] = unsymmetric.slots[1][slot];
                if let Some(target) = target.get_mut(own_slot as usize) {
                    *target = -(0..d)
                        .map(|c| g(c) * value(self.sources.columns[slot][c]))
                        .sum::<f64>();
                }
                if let Some(target) = target.get_mut(mirror as usize) {
                    *target /= s;
                }
            }
            for c in 0..d {
                let compliance = (0..d).map(|x| g(x) * system.r.get(at[x].max(at[c]), at[x].min(at[c])));
                let sum = compliance.sum::<f64>() + by_r[first + c] + g(c) * e * s;
                target[unsymmetric.own[first + c] as usize] = -sum / s;
            }
        }
        unsymmetric.eliminate(&self.direct)
    }

    /// Whether the determinant of the matrix that [`Self::factor_newton`] factored last has the
    /// sign of `-1`; up to a sign that only patterns change.
    pub(crate) fn is_turned(&self) -> bool {
        let unsymmetric = &self.unsymmetric;
        unsymmetric.ready && unsymmetric.factor.has_negative_determinant(&unsymmetric.symbolic)
    }

    /// Whether the symmetric factor is to come first: it knows the order, and in every solve anew
    /// which bilateral rows are redundant, whatever the contacts do.
    fn needs_symmetric(&self) -> bool {
        !self.unsymmetric.is_planned || self.stale && self.shape.bilateral
    }

    /// The plan of the unsymmetric factor.
    fn analyse_unsymmetric(&mut self, problem: &Problem, turn: &[f64], e: &[f64]) -> bool {
        if self.needs_symmetric() {
            if !self.factor(problem, turn, e) {
                return false;
            }
            self.stale = false;
        }
        if !self.unsymmetric.is_planned {
            let (rows, saddle) = (&self.shape.rows, self.shape.saddle);
            let own = &self.system;
            let unknown = |i: usize| if saddle { own.n() + rows[i] } else { i };
            self.unsymmetric
                .refill(own, &self.direct, problem, &self.threads, unknown);
        }
        self.unsymmetric.is_planned
    }

    /// `x = (T A T^T + B E)^-1 rhs`, without refinement, of one or more right-hand sides, one after
    /// the other.
    pub(crate) fn solve_unsymmetric(&mut self, rhs: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        let (own, unsymmetric) = (&self.system, &mut self.unsymmetric);
        if !unsymmetric.ready {
            return;
        }
        let (first, sign) = if self.shape.saddle {
            (own.n(), -1.0)
        } else {
            (0, 1.0)
        };
        let position = &unsymmetric.position;
        let place =
            |i: usize| position[first + if self.shape.saddle { self.shape.rows[i] } else { i }] as usize;
        let (rows, size) = (self.shape.size().max(1), unsymmetric.symbolic.size().max(1));
        let all = &mut unsymmetric.x;
        all.clear();
        all.resize(rhs.len() / rows * unsymmetric.symbolic.size(), 0.0);
        for (rhs, own) in rhs.chunks_exact(rows).zip(all.chunks_exact_mut(size)) {
            for (i, value) in rhs.iter().enumerate() {
                own[place(i)] = sign * value;
            }
        }
        unsymmetric.factor.solve_in_place(&unsymmetric.symbolic, all);
        for (x, own) in x.chunks_exact_mut(rows).zip(all.chunks_exact(size)) {
            for (i, x) in x.iter_mut().enumerate() {
                *x = own[place(i)];
            }
        }
    }
}

#[cfg(test)]
mod tests;
