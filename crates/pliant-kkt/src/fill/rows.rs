//! The law of each row: `R` and `b`.

use super::StepInput;
use crate::Scheme;
use pliant_model::{ComponentId, Evaluation, Level, NodeKind, Problem, RowGroup, RowLaw, State};
use pliant_solvers::KktSystem;

/// The values that the rows of one group are filled from.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) problem: &'a Problem,
    pub(super) evaluation: &'a Evaluation,
    pub(super) scheme: &'a Scheme,
    pub(super) input: StepInput<'a>,
    pub(super) group: &'a RowGroup,
}

/// Scratch for blocks of rows whose damping is a matrix.
#[derive(Debug)]
pub(super) struct LawScratch {
    /// `Y`, then its factors.
    pub(super) y: Vec<f64>,
    /// `C`, then `Y^-1 C`.
    pub(super) c: Vec<f64>,
    /// Right-hand side.
    pub(super) b: Vec<f64>,
}

impl LawScratch {
    pub(super) fn new(problem: &Problem, evaluation: &Evaluation) -> Self {
        let widths = problem.row_groups().iter().filter_map(|g| match g.component {
            ComponentId::ForceField(i) => {
                let c = evaluation.compliance(i);
                (0..c.len()).map(|e| c.width(e)).max()
            }
            _ => None,
        });
        let width = widths.max().unwrap_or(0);
        Self {
            y: vec![0.0; width * width],
            c: vec![0.0; width * width],
            b: vec![0.0; width],
        }
    }
}

/// Largest coordinate of each node.
#[derive(Debug)]
pub(super) struct Magnitudes(Vec<f64>);

impl Magnitudes {
    pub(super) fn new(problem: &Problem) -> Self {
        Self(vec![0.0; problem.nodes().len()])
    }

    /// Takes those of a state.
    pub(super) fn measure(&mut self, problem: &Problem, state: &State) {
        for (largest, node) in self.0.iter_mut().zip(problem.nodes()) {
            let positions = &state.positions[node.position_range()];
            // As `f64::max` where the first is a number, in fewer instructions.
            let larger = |a: f64, b: f64| if b > a { b } else { a };
            *largest = positions.iter().fold(0.0, |a, x| larger(a, x.abs()));
        }
    }

    /// Rounding of the coordinates that the rows of a group are made of: the largest of its node's
    /// parents, times a hundred roundings for the arithmetic of the mapping.
    pub(super) fn rounding(&self, problem: &Problem, group: &RowGroup) -> f64 {
        let parents = match &problem.node(group.node).kind {
            NodeKind::Mapped { parents, .. } => &parents[..],
            NodeKind::Independent { .. } => std::slice::from_ref(&group.node),
        };
        let largest = parents.iter().map(|p| self.0[p.index()]);
        100.0 * f64::EPSILON * largest.fold(0.0, f64::max)
    }
}

/// Bounds of the multipliers, which are impulses.
pub(super) fn fill_bounds(problem: &Problem, scheme: &Scheme, out: &mut [(f64, f64)]) {
    let h = scheme.h;
    for group in problem.row_groups() {
        let none = (f64::NEG_INFINITY, f64::INFINITY);
        let rows = group.first_row..group.first_row + group.size * group.count;
        // Steps backwards have none, which must not be turned round.
        let bounds = problem.bounds(group).map(|(lower, upper)| (lower * h, upper * h));
        out[rows].fill(bounds.unwrap_or(none));
    }
}

impl Rows<'_> {
    /// `R` and `b` in the velocity-change form (theory/step.md of the book), and the error of `b`, for the
    /// rounding of the coordinates.
    pub(super) fn fill(self, rounding: f64, system: &mut KktSystem, scratch: &mut LawScratch) {
        self.fill_rounding(rounding, &mut system.b_rounding);
        match self.group.component {
            ComponentId::ForceField(i) => match self.problem.row_law(self.group) {
                RowLaw::Viscous => self.fill_dashpot(i, system),
                _ => {
                    self.fill_spring(i, system);
                    self.fill_damping_matrix(i, system, scratch);
                }
            },
            ComponentId::Constraint(i) => {
                let level = self.problem.constraints()[i].component.level;
                self.fill_constraint(level, &mut system.b);
            }
            ComponentId::Mass(_) => {}
        }
    }

    /// The error that each `b` is known to have: the rounding of coordinates, and what linearising
    /// the constraint over the last step has left, `min(|phi|/h, h |(dJ/dt) v|)`. Redundant rows of
    /// a loop in motion disagree by that much, and do not contradict.
    fn fill_rounding(self, rounding: f64, out: &mut [f64]) {
        let Self {
            problem,
            evaluation,
            scheme,
            input,
            group,
        } = self;
        let h = scheme.h.abs();
        let node = problem.node(group.node);
        let size = |values: &[f64]| values.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let rounding = rounding / h;
        for e in 0..group.count {
            let own = e * group.size..(e + 1) * group.size;
            let gap = |k: usize| {
                let target = input.motion.get(group.first_row + k).map_or(0.0, |m| m.start.0);
                input.state.positions[node.position_range()][k] - target
            };
            let gap = own.clone().fold(0.0f64, |a, k| a.max(gap(k).abs()));
            let curvature = size(&evaluation.bias()[node.velocity_range()][own.clone()]);
            let rows = group.first_row + own.start..group.first_row + own.end;
            out[rows].fill(rounding + (gap / h).min(h * curvature));
        }
    }

    /// Springs: `Y = h alpha C D + h alpha (h beta + d) I`, `R = Y^-1 C`,
    /// `b = h Y^-1 (phi + (C D + d + alpha h) u)`, less what the motion they are driven by accounts
    /// for.
    fn fill_spring(self, i: usize, system: &mut KktSystem) {
        let Self {
            problem,
            evaluation,
            scheme,
            input,
            group,
        } = self;
        let (h, beta) = (scheme.h, scheme.beta);
        let alpha = scheme.alpha_of(group.component);
        let node = problem.node(group.node);
        let x = &input.state.positions[node.position_range()];
        let phi = evaluation.deformation(i);
        let u = &input.state.velocities[node.velocity_range()];
        let gain = |k: usize| alpha * (h * beta + problem.relaxation_time(i, k));
        let corrected = scheme.velocity_rows && problem.bounds(group).is_none();
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let d = problem.relaxation_time(i, k);
            let motion = input.motion.get(row).copied().unwrap_or_default();
            if evaluation.is_hard(group, k) {
                // C = 0 of the compliant law at alpha = 1: phi + d dphi/dt = 0 at the end of the
                // step.
                let (phi, u, target) = (x[k], u[k], motion.end);
                system.b[row] = if d > 0.0 {
                    (phi - target.0 + (d + h) * u - d * target.1) / (h * beta + d)
                } else if corrected {
                    u - target.1
                } else {
                    ((phi - target.0) / h + u) / beta
                };
                continue;
            }
            // Averages over the step, as those of the force.
            let mean = |of: fn((f64, f64)) -> f64| (1.0 - alpha) * of(motion.start) + alpha * of(motion.end);
            let (target, rate) = (mean(|m| m.0), mean(|m| m.1));
            system.b[row] = (phi[k] - target + (d + alpha * h) * u[k] - d * rate) / gain(k);
        }
        for k in 0..group.size * group.count {
            let (g, first) = evaluation.group_of(i, group.size, k);
            let width = evaluation.compliance(i).width(g);
            let local = k - first;
            let c = &evaluation.compliance(i).block(g)[local * width..][..=local];
            let slots = system.r.pattern().row_slots(group.first_row + k);
            for (r, c) in system.r.values_mut()[slots].iter_mut().zip(c) {
                // Hard rows have none, also where the end of a step has no weight.
                *r = if *c == 0.0 { 0.0 } else { c / (h * gain(k)) };
            }
        }
    }

    /// Springs with a damping matrix `D`: `Y` is one for each group of coordinates, and what
    /// [`Self::fill_spring`] left is its part without `D`.
    fn fill_damping_matrix(self, i: usize, system: &mut KktSystem, scratch: &mut LawScratch) {
        let Self {
            problem,
            evaluation,
            scheme,
            input,
            group,
        } = self;
        let (h, beta) = (scheme.h, scheme.beta);
        let alpha = scheme.alpha_of(group.component);
        let u = &input.state.velocities[problem.node(group.node).velocity_range()];
        let gain = |k: usize| alpha * (h * beta + problem.relaxation_time(i, k));
        let Some(damping) = evaluation.row_damping(i) else {
            return;
        };
        let mut first = 0;
        for g in 0..damping.len() {
            let n = damping.width(g);
            let (c, d_block) = (evaluation.compliance(i).block(g), damping.block(g));
            let (y, yc, b) = (
                &mut scratch.y[..n * n],
                &mut scratch.c[..n * n],
                &mut scratch.b[..n],
            );
            yc.copy_from_slice(c);
            for r in 0..n {
                let row = group.first_row + first + r;
                let mut damped = 0.0;
                for k in 0..n {
                    let cd: f64 = (0..n).map(|l| c[r * n + l] * d_block[l * n + k]).sum();
                    y[r * n + k] = h * alpha * cd + if r == k { h * gain(first + r) } else { 0.0 };
                    let motion = input
                        .motion
                        .get(group.first_row + first + k)
                        .copied()
                        .unwrap_or_default();
                    let rate = (1.0 - alpha) * motion.start.1 + alpha * motion.end.1;
                    damped += cd * (u[first + k] - rate);
                }
                b[r] = h * (system.b[row] * gain(first + r) + damped);
            }
            // A hard coordinate has a zero row in C, so Y keeps its diagonal there and the row
            // stays what it is.
            solve_in_place(n, y, yc, b);
            for r in 0..n {
                let row = group.first_row + first + r;
                if !evaluation.is_hard(group, first + r) {
                    system.b[row] = b[r];
                }
                let slots = system.r.pattern().row_slots(row);
                for (k, target) in system.r.values_mut()[slots].iter_mut().enumerate() {
                    *target = 0.5 * (yc[r * n + k] + yc[k * n + r]);
                }
            }
            first += n;
        }
    }

    /// Dashpots: `R = C/(h alpha)`, `b = u/alpha`; hard ones hold the velocity, `b = u`.
    fn fill_dashpot(self, i: usize, system: &mut KktSystem) {
        let Self {
            problem,
            evaluation,
            scheme,
            input,
            group,
        } = self;
        let (h, alpha) = (scheme.h, scheme.alpha_of(group.component));
        let u = &input.state.velocities[problem.node(group.node).velocity_range()];
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let motion = input.motion.get(row).copied().unwrap_or_default();
            let (g, first) = evaluation.group_of(i, group.size, k);
            let width = evaluation.compliance(i).width(g);
            let c = &evaluation.compliance(i).block(g)[(k - first) * width..][..=k - first];
            let hard = evaluation.is_hard(group, k);
            let slots = system.r.pattern().row_slots(row);
            for (r, c) in system.r.values_mut()[slots].iter_mut().zip(c) {
                *r = c / (h * alpha);
            }
            system.b[row] = if hard {
                u[k] - motion.end.1
            } else {
                (u[k] - (1.0 - alpha) * motion.start.1 - alpha * motion.end.1) / alpha
            };
        }
    }

    /// Hard constraints.
    fn fill_constraint(self, level: Level, b: &mut [f64]) {
        let Self {
            problem,
            evaluation,
            scheme,
            input,
            group,
        } = self;
        let (h, beta) = (scheme.h, scheme.beta);
        let node = problem.node(group.node);
        let phi = &input.state.positions[node.position_range()];
        let u = &input.state.velocities[node.velocity_range()];
        let bias = &evaluation.bias()[node.velocity_range()];
        // Only rows that stabilisation corrects may leave their position to it.
        let corrected = scheme.velocity_rows && problem.bounds(group).is_none();
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let motion = input.motion.get(row).copied().unwrap_or_default();
            let (gap, rate) = (phi[k] - motion.end.0, motion.end.1);
            b[row] = match level {
                Level::Position | Level::CurvedPosition if corrected => u[k] - rate,
                Level::Position => (gap / h + u[k]) / beta,
                Level::CurvedPosition => (gap / h + u[k] + 0.5 * h * bias[k]) / beta,
                Level::Velocity { curvature } => u[k] + curvature * h * bias[k] - rate,
                Level::Restitution { coefficient } => (1.0 + coefficient) * (u[k] - rate),
                // What is violated now decays while the motion goes on.
                Level::Baumgarte { rate: decay } => u[k] + decay * (phi[k] - motion.start.0) - rate,
            };
        }
    }
}

/// Solves `Y X = C` and `Y x = b` in place (in `c` and `b`) by elimination with partial pivoting;
/// `y` is overwritten.
pub(super) fn solve_in_place(n: usize, y: &mut [f64], c: &mut [f64], b: &mut [f64]) {
    for p in 0..n {
        let pivot = (p..n)
            .max_by(|i, j| y[i * n + p].abs().total_cmp(&y[j * n + p].abs()))
            .unwrap_or(p);
        for k in 0..n {
            y.swap(p * n + k, pivot * n + k);
            c.swap(p * n + k, pivot * n + k);
        }
        b.swap(p, pivot);
        let scale = y[p * n + p].recip();
        for k in 0..n {
            y[p * n + k] *= scale;
            c[p * n + k] *= scale;
        }
        b[p] *= scale;
        for i in (0..n).filter(|i| *i != p) {
            let factor = y[i * n + p];
            if factor != 0.0 {
                for k in 0..n {
                    y[i * n + k] -= factor * y[p * n + k];
                    c[i * n + k] -= factor * c[p * n + k];
                }
                b[i] -= factor * b[p];
            }
        }
    }
}
