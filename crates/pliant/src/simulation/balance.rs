//! What a step reports: violation, energies, the work of damping; and whether it may stand.

use super::Simulation;
use crate::Error;
use crate::report::{NewtonReport, StepReport, Timings};
use pliant_kkt::RowMotion;
use pliant_model::{ComponentId, Energies, RowGroup, RowLaw, Treatment};
use pliant_solvers::{SolveReport, Status};

impl Simulation {
    /// Largest violation of a row that is held by its position (m, rad).
    pub(super) fn violation(&self) -> f64 {
        let mut worst = 0.0f64;
        for group in self.model.row_groups() {
            let phi = self.model.positions(&self.state, group.node);
            for (k, phi) in phi.iter().enumerate() {
                let target = self.motion.get(group.first_row + k).map_or(0.0, |m| m.end.0);
                let gap = (phi - target).abs();
                // A NaN must not hide behind `max`.
                if self.evaluation.holds_position(&self.model, group, k) && (gap > worst || gap.is_nan()) {
                    worst = gap;
                }
            }
        }
        worst
    }

    /// Energies of the present state, with those of compliant contacts at the end of the step. A stiff compliant row of a linear law stores `lambda^T C lambda / 2`, with the
    /// multiplier less its damping: its deformation, of which
    /// that would be the quotient with its compliance, is mostly curvature and rounding. Driven springs store their deformation from
    /// where they are driven.
    pub(super) fn energies(&mut self) -> Energies {
        let stiff = |group: &RowGroup| {
            let ComponentId::ForceField(i) = group.component else {
                return false;
            };
            let mut rows = group.first_row..group.first_row + group.size * group.count;
            let law = &self.model.force_fields()[i].component.law;
            law.is_linear() && law.row_law() == RowLaw::Elastic && rows.any(|r| !self.soft[r])
        };
        let groups = self.model.row_groups();
        let driven = |group: &RowGroup| self.model.motion(group).is_some();
        let special =
            |i: usize| self.group_of_field[i].is_some_and(|g| stiff(&groups[g]) || driven(&groups[g]));
        let mut out = self.model.energies_without(&self.state, special);
        for group in groups {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            if stiff(group) {
                let coordinates = group.size * group.count;
                let lambda = &self.new_multipliers[group.first_row..group.first_row + coordinates];
                let x = self.model.positions(&self.state, group.node);
                let alpha = self.scheme.alpha_of(group.component);
                let velocities = self.model.node(group.node).velocity_range();
                let mean = |k: usize| {
                    let at = velocities.start + k;
                    let rate = self.motion.get(group.first_row + k);
                    let rate = rate.map_or(0.0, |m| alpha * m.end.1 + (1.0 - alpha) * m.start.1);
                    alpha * self.state.velocities[at] + (1.0 - alpha) * self.previous.velocities[at] - rate
                };
                // What of the force is not damping, coordinate `c` of block `g`.
                let elastic = |g: usize, first: usize, c: usize| {
                    let damping = self.evaluation.damping(i);
                    let width = damping.width(g);
                    let row = damping.block(g)[c * width..][..width].iter().enumerate();
                    lambda[first + c] + row.map(|(k, b)| b * mean(first + k)).sum::<f64>()
                };
                for k in 0..coordinates {
                    let (g, first) = self.evaluation.group_of(i, group.size, k);
                    let width = self.evaluation.compliance(i).width(g);
                    let row = &self.evaluation.compliance(i).block(g)[(k - first) * width..][..width];
                    let alone = (0..width).all(|c| c == k - first || row[c] == 0.0);
                    if alone && self.soft[group.first_row + k] && row[k - first] > 0.0 {
                        // Beside stiff ones, but not coupled to them.
                        let target = self.motion.get(group.first_row + k).map_or(0.0, |m| m.end.0);
                        out.potential += 0.5 * (x[k] - target).powi(2) / row[k - first];
                        continue;
                    }
                    let strain: f64 = (0..width).map(|c| row[c] * elastic(g, first, c)).sum();
                    out.potential += 0.5 * elastic(g, first, k - first) * strain;
                }
            } else if driven(group) {
                let x = self.model.positions(&self.state, group.node);
                let shifted = &mut self.shifted[..x.len()];
                for (k, (s, x)) in shifted.iter_mut().zip(x).enumerate() {
                    *s = x - self.motion[group.first_row + k].end.0;
                }
                let space = self.model.node(group.node).space;
                out.potential += self.model.force_fields()[i].component.law.energy(space, shifted);
            }
        }
        out.potential += self.contacts.as_ref().map_or(0.0, |c| c.report.stored);
        out
    }

    /// Work of the damping forces over the step: `h v_beta^T B v_alpha`, the mean force at `v_alpha = alpha v+ + (1 - alpha) v` on the
    /// displacement `h v_beta`; of driven rows, velocities against the motion.
    pub(super) fn damping_work(&mut self, h: f64) -> f64 {
        let mut work = 0.0;
        let beta = self.scheme.beta;
        let mean = |weight: f64, k: usize| {
            weight * self.state.velocities[k] + (1.0 - weight) * self.previous.velocities[k]
        };
        for (i, field) in self.model.force_fields().iter().enumerate() {
            if !self.evaluation.is_damped(i) {
                continue;
            }
            let alpha = self.scheme.alpha_of(ComponentId::ForceField(i));
            let node = self.model.node(field.node);
            let size = node.space.velocity_size();
            let first = node.first_velocity;
            let blocks = self.evaluation.damping(i);
            for g in 0..blocks.len() {
                let (block, width) = (blocks.block(g), blocks.width(g));
                let hard = field.component.treatment == Treatment::Compliance
                    && self.evaluation.compliance(i).block(g).iter().all(|c| *c == 0.0);
                if hard || block.iter().all(|b| *b == 0.0) {
                    continue;
                }
                let alone = [g];
                let list = self.evaluation.groups(i).get(g).map_or(&alone[..], Vec::as_slice);
                let motion = self.group_of_field[i]
                    .and_then(|g| self.motion.get(self.model.row_groups()[g].first_row..));
                let relative = |weight: f64, c: usize| {
                    let k = list[c / size] * size + c % size;
                    let rate = |m: &RowMotion| weight * m.end.1 + (1.0 - weight) * m.start.1;
                    mean(weight, first + k) - motion.and_then(|m| m.get(k)).map_or(0.0, rate)
                };
                for (r, row) in block.chunks_exact(width).enumerate() {
                    let force: f64 = row.iter().enumerate().map(|(c, b)| b * relative(alpha, c)).sum();
                    work += h * relative(beta, r) * force;
                }
            }
        }
        let rate = self.model.rayleigh().mass;
        if rate > 0.0 {
            let alpha = self.scheme.alpha;
            for attachment in self.model.masses() {
                let node = self.model.node(attachment.node);
                let range = node.velocity_range();
                let (v, p) = self.mass_scratch.split_at_mut(range.len());
                let p = &mut p[..range.len()];
                for (v, k) in v.iter_mut().zip(range.clone()) {
                    *v = mean(alpha, k);
                }
                p.fill(0.0);
                attachment.component.add_product(node.space, rate, v, p);
                work += h * p.iter().zip(range).map(|(p, k)| p * mean(beta, k)).sum::<f64>();
            }
        }
        work
    }

    pub(super) fn report(
        &mut self,
        h: f64,
        solved: SolveReport,
        corrections: (usize, usize),
        damping_work: f64,
    ) -> StepReport {
        StepReport {
            time: self.time + h,
            h,
            status: solved.status,
            residual: solved.residual,
            refinements: solved.refinements,
            redundant_rows: solved.redundant_rows,
            bounds: solved.bounds,
            contacts: self.contacts.as_ref().map_or_else(Default::default, |c| c.report),
            inertia: solved.inertia,
            violation: self.violation(),
            corrections,
            energies: self.energies(),
            dissipated: self.dissipated + damping_work,
            momentum: self.model.momentum(&self.state),
            counters: self.counters(),
            timings: Timings::default(),
            geometry_passes: 1,
            newton: NewtonReport::default(),
            geometry_clamped: false,
        }
    }

    pub(super) fn check(&self, report: &StepReport) -> Result<(), Error> {
        if !report.energies.total().is_finite() {
            return Err(Error::NotFinite {
                what: "the energy".into(),
                time: self.time,
            });
        }
        if self.options.accept_failed_steps {
            return Ok(());
        }
        self.check_contacts(report)?;
        match report.status {
            Status::Converged => Ok(()),
            Status::Incompatible { row, violation } => {
                let constraint = self.model.describe_row(row);
                Err(Error::Incompatible {
                    constraint,
                    time: self.time,
                    violation,
                })
            }
            Status::Unsettled { row, residual } => Err(Error::Unsettled {
                constraint: self.model.describe_row(row),
                time: self.time,
                residual,
            }),
            _ => Err(Error::NotConverged {
                time: self.time,
                tolerance: if report.newton.iterations == 0 {
                    self.options.solver.tolerance
                } else {
                    self.options.newton.tolerance
                },
                report: Box::new(*report),
            }),
        }
    }
}
