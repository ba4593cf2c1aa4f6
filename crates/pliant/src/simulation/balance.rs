//! What a step reports: violation, energies, the work of damping; and whether it may stand.

use super::Simulation;
use crate::Error;
use crate::report::{StepReport, Timings};
use pliant_model::{ComponentId, Energies, RowGroup, Treatment};
use pliant_solvers::{SolveReport, Status};

impl Simulation {
    /// Largest violation of a hard row (m, rad).
    pub(super) fn violation(&self) -> f64 {
        let mut worst = 0.0f64;
        for group in self.model.row_groups() {
            let phi = self.model.positions(&self.state, group.node);
            for (k, phi) in phi.iter().enumerate() {
                // A NaN must not hide behind `max`.
                if self.evaluation.is_hard(group, k) && (phi.abs() > worst || phi.is_nan()) {
                    worst = phi.abs();
                }
            }
        }
        worst
    }

    /// Energies of the present state. A stiff compliant row stores `lambda^T C lambda / 2`: its deformation, of which that would be the
    /// quotient with its compliance, is mostly curvature and rounding.
    fn energies(&self) -> Energies {
        let stiff = |group: &RowGroup| {
            let mut rows = group.first_row..group.first_row + group.size * group.count;
            rows.any(|r| !self.soft[r])
        };
        let groups = self.model.row_groups();
        let skip = |i: usize| self.group_of_field[i].is_some_and(|g| stiff(&groups[g]));
        let mut out = self.model.energies_without(&self.state, skip);
        for group in groups.iter().filter(|g| stiff(g)) {
            let ComponentId::ForceField(i) = group.component else {
                continue;
            };
            for e in 0..group.count {
                let c = self.evaluation.compliance(i).block(e);
                let lambda = &self.new_multipliers[group.first_row + e * group.size..][..group.size];
                for (row, l) in c.chunks_exact(group.size).zip(lambda) {
                    out.potential += 0.5 * l * row.iter().zip(lambda).map(|(c, l)| c * l).sum::<f64>();
                }
            }
        }
        out
    }

    /// Work of the damping forces over the step: `h v_beta^T B v_alpha`, the mean force at `v_alpha = alpha v+ + (1 - alpha) v` on the
    /// displacement `h v_beta`.
    pub(super) fn damping_work(&self, h: f64) -> f64 {
        let mut work = 0.0;
        for (i, field) in self.model.force_fields().iter().enumerate() {
            let alpha = self.scheme.alpha_of(ComponentId::ForceField(i));
            let beta = self.scheme.beta;
            let node = self.model.node(field.node);
            let size = node.space.velocity_size();
            let first = node.first_velocity;
            let hard = |e: usize| {
                field.component.treatment == Treatment::Compliance
                    && self.evaluation.compliance(i).block(e).iter().all(|c| *c == 0.0)
            };
            for e in (0..node.count).filter(|e| !hard(*e)) {
                let block = self.evaluation.damping(i).block(e);
                let at = |weight: f64, k: usize| {
                    let k = first + e * size + k;
                    weight * self.state.velocities[k] + (1.0 - weight) * self.previous.velocities[k]
                };
                for (r, row) in block.chunks_exact(size).enumerate() {
                    let force: f64 = row.iter().enumerate().map(|(c, b)| b * at(alpha, c)).sum();
                    work += h * at(beta, r) * force;
                }
            }
        }
        work
    }

    pub(super) fn report(
        &self,
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
            inertia: solved.inertia,
            violation: self.violation(),
            corrections,
            energies: self.energies(),
            dissipated: self.dissipated + damping_work,
            momentum: self.model.momentum(&self.state),
            counters: self.counters(),
            timings: Timings::default(),
            geometry_passes: 1,
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
            _ => Err(Error::NotConverged {
                time: self.time,
                tolerance: self.options.solver.tolerance,
                report: Box::new(*report),
            }),
        }
    }
}
