//! What a step reports: violation, the work of damping; and whether it may stand.

use super::Simulation;
use crate::report::{NewtonReport, StepReport, Timings};
use crate::{Error, Integrator, contact};
use pliant_kkt::RowMotion;
use pliant_model::{ComponentId, RowLaw, Treatment};
use pliant_solvers::{SolveReport, Status};

/// Rounding of a force at its bound.
const AT_BOUND: f64 = 1e-12;

/// Whether a force is at one of its bounds.
pub(super) fn is_at_bound(force: f64, (lower, upper): (f64, f64)) -> bool {
    force <= lower + AT_BOUND * lower.abs() || force >= upper - AT_BOUND * upper.abs()
}

impl Simulation {
    /// Largest violation of a row that is held by its position (m, rad).
    pub(super) fn violation(&self) -> f64 {
        let mut worst = 0.0f64;
        for group in self.system.model.row_groups() {
            let phi = self.system.model.positions(&self.motion.state, group.node);
            for (k, phi) in phi.iter().enumerate() {
                let target = self
                    .system
                    .row_motion
                    .get(group.first_row + k)
                    .map_or(0.0, |m| m.end.0);
                let gap = (phi - target).abs();
                // A NaN must not hide behind `max`.
                if self
                    .system
                    .evaluation
                    .holds_position(&self.system.model, group, k)
                    && (gap > worst || gap.is_nan())
                {
                    worst = gap;
                }
            }
        }
        worst
    }

    /// Work of the damping forces over the step: `h v_beta^T B v_alpha`, the mean force at `v_alpha = alpha v+ + (1 - alpha) v` on the
    /// displacement `h v_beta`; of driven rows, velocities against the motion; of a dashpot at the bound of its force, this force. Of a law that is not linear in the velocity the linear step has the force `f_v(v)` at the
    /// start and its tangent for the change, the other methods the mean of both ends (with stiffness-proportional damping the tangent counts for all of it).
    pub(super) fn damping_work(&mut self, h: f64) -> f64 {
        let mut work = 0.0;
        let beta = self.scheme.beta;
        let tangent = self.options.integrator == Integrator::Linear;
        let plain = self.system.model.rayleigh().stiffness == 0.0;
        let mean = |weight: f64, k: usize| {
            weight * self.motion.state.velocities[k] + (1.0 - weight) * self.start.state.velocities[k]
        };
        for (i, field) in self.system.model.force_fields().iter().enumerate() {
            if !self.system.evaluation.is_damped(i) {
                continue;
            }
            let alpha = self.scheme.alpha_of(ComponentId::ForceField(i));
            let node = self.system.model.node(field.node);
            let size = node.space.velocity_size();
            let first = node.first_velocity;
            let blocks = self.system.evaluation.damping(i);
            let law = &field.component.law;
            let curved = plain && field.component.treatment == Treatment::Stiffness && !law.is_linear();
            let bounded = self.system.rows.group_of_field[i].and_then(|g| {
                let group = &self.system.model.row_groups()[g];
                let viscous = self.system.model.row_law(group) == RowLaw::Viscous;
                let bounds = self.system.model.bounds(group);
                bounds.map(|(lower, upper)| (group.first_row, viscous, lower, upper))
            });
            let mut damped = false;
            for g in 0..blocks.len() {
                let (block, width) = (blocks.block(g), blocks.width(g));
                let hard = field.component.treatment == Treatment::Compliance
                    && self
                        .system
                        .evaluation
                        .compliance(i)
                        .block(g)
                        .iter()
                        .all(|c| *c == 0.0);
                if hard || block.iter().all(|b| *b == 0.0) {
                    continue;
                }
                damped = true;
                if curved && !tangent {
                    break;
                }
                let alone = [g];
                let list = self
                    .system
                    .evaluation
                    .groups(i)
                    .get(g)
                    .map_or(&alone[..], Vec::as_slice);
                let motion = self.system.rows.group_of_field[i].and_then(|g| {
                    self.system
                        .row_motion
                        .get(self.system.model.row_groups()[g].first_row..)
                });
                let relative = |weight: f64, c: usize| {
                    let k = list[c / size] * size + c % size;
                    let rate = |m: &RowMotion| weight * m.end.1 + (1.0 - weight) * m.start.1;
                    mean(weight, first + k) - motion.and_then(|m| m.get(k)).map_or(0.0, rate)
                };
                let change = |c: usize| relative(alpha, c) - if curved { relative(0.0, c) } else { 0.0 };
                for (r, row) in block.chunks_exact(width).enumerate() {
                    if let Some((first_row, viscous, lower, upper)) = bounded {
                        let lambda = self.motion.multipliers[first_row + list[r / size] * size + r % size];
                        // Beyond the bound the force does not change: a dashpot slips, a spring stores the work.
                        if is_at_bound(lambda, (lower, upper)) {
                            work -= if viscous {
                                h * lambda * relative(beta, r)
                            } else {
                                0.0
                            };
                            continue;
                        }
                    }
                    let force: f64 = row.iter().enumerate().map(|(c, b)| b * change(c)).sum();
                    work += h * relative(beta, r) * force;
                }
            }
            if !(curved && damped) {
                continue;
            }
            let shares = if tangent { [1.0, 0.0] } else { [1.0 - alpha, alpha] };
            let range = node.velocity_range();
            for (state, share) in [&self.start.state, &self.motion.state].into_iter().zip(shares) {
                let (x, v) = (
                    &state.positions[node.position_range()],
                    &state.velocities[range.clone()],
                );
                let (moving, rest) = self.system.scratch.mass_scratch.split_at_mut(v.len());
                let (rest, still) = (&mut rest[..v.len()], &mut self.system.scratch.shifted[..v.len()]);
                moving.fill(0.0);
                rest.fill(0.0);
                still.fill(0.0);
                law.add_force(node.space, x, v, moving);
                law.add_force(node.space, x, still, rest);
                let forces = moving.iter().zip(&*rest).map(|(m, r)| m - r);
                let power = forces.zip(range.clone()).map(|(f, k)| f * mean(beta, k));
                work -= share * h * power.sum::<f64>();
            }
        }
        let rate = self.system.model.rayleigh().mass;
        if rate > 0.0 {
            let alpha = self.scheme.alpha;
            for attachment in self.system.model.masses() {
                let node = self.system.model.node(attachment.node);
                let range = node.velocity_range();
                let (v, p) = self.system.scratch.mass_scratch.split_at_mut(range.len());
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
        let energies = self.energies(true);
        StepReport {
            time: self.motion.time + h,
            h,
            status: solved.status,
            residual: solved.residual,
            refinements: solved.refinements,
            redundant_rows: solved.redundant_rows,
            bounds: solved.bounds,
            contacts: self
                .system
                .contacts
                .as_ref()
                .map_or_else(Default::default, |c| *c.observed.report()),
            inertia: solved.inertia,
            violation: self.violation(),
            corrections,
            energies,
            ledger: self.closed_ledger(&energies),
            dissipated: self.motion.dissipated + damping_work + self.account.forgotten,
            momentum: self.system.model.momentum(&self.motion.state),
            counters: self.counters(),
            timings: Timings::default(),
            geometry_passes: 1,
            newton: NewtonReport::default(),
            geometry_clamped: false,
            projected_tangents: 0,
        }
    }

    pub(super) fn check(&self, report: &StepReport) -> Result<(), Error> {
        if !report.energies.total().is_finite() {
            return Err(Error::NotFinite {
                what: "the energy".into(),
                time: self.motion.time,
            });
        }
        if self.options.accept_failed_steps {
            return Ok(());
        }
        contact::step::check(&self.system, &self.motion, &self.options, report)?;
        match report.status {
            Status::Converged => Ok(()),
            Status::Incompatible { row, violation } => {
                let constraint = self.system.model.describe_row(row);
                Err(Error::Incompatible {
                    constraint,
                    time: self.motion.time,
                    violation,
                })
            }
            Status::Unsettled { row, residual } => Err(Error::Unsettled {
                constraint: self.system.model.describe_row(row),
                time: self.motion.time,
                residual,
            }),
            _ => Err(Error::NotConverged {
                time: self.motion.time,
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
