//! Dynamic relaxation with kinetic damping.

use super::super::Simulation;
use super::Work;
use crate::Error;
use pliant_model::ComponentId;

/// Steps between two looks at the residual, with new masses.
const BETWEEN: usize = 10;
/// Masses over those at the limit of stability: at 2 a step that ends at once at a peak could swing for ever, and stiffnesses change between two looks.
const SAFETY: f64 = 4.0;

impl Simulation {
    /// Explicit steps of 1 s, `v += f/m`, `x += v`, with `m_i = S/4 sum_k |K_ik| L_k/L_i`: no frequency is then beyond `2/sqrt(S)` (Gershgorin), where `K` holds
    /// stiffnesses and `J^T C^-1 J` of the compliances. Where the kinetic energy has passed a peak all velocities become zero.
    pub(crate) fn relax(&mut self, work: &mut Work) -> Result<bool, Error> {
        work.explicit = true;
        self.find_rest_residual(work)?;
        let n = work.force.len();
        let (mut mass, mut velocity) = (vec![0.0; n], vec![0.0; n]);
        let mut displacement = Vec::with_capacity(n);
        let mut energy = 0.0;
        for step in 0..work.most {
            if step % BETWEEN == 0 {
                self.fill_tangent(work)?;
                let residual = self.measure_rest(work);
                if residual <= work.tolerance {
                    return Ok(true);
                }
                if residual.is_nan() {
                    return Ok(false);
                }
                self.find_fictitious_masses(work, &mut mass);
            }
            work.report.iterations += 1;
            let fixed = &self.system.assembler.system().fixed;
            let mut new = 0.0;
            for i in (0..n).filter(|i| !fixed[*i] && mass[*i] > 0.0) {
                velocity[i] += work.force[i] / mass[i];
                new += mass[i] * velocity[i] * velocity[i];
            }
            if new < energy {
                velocity.fill(0.0);
                energy = 0.0;
                continue;
            }
            energy = new;
            self.displace(&mut displacement, &velocity, 1.0)?;
            self.find_rest_residual(work)?;
        }
        Ok(false)
    }

    /// Rows whose force is no function of the positions.
    pub(crate) fn refuse_what_has_no_force(&self) -> Result<(), Error> {
        for group in self.system.model.row_groups() {
            let name = self.system.model.component_name(group.component);
            let mut rows = 0..group.size * group.count;
            let hard = match group.component {
                ComponentId::ForceField(_) => rows.any(|k| self.system.evaluation.is_hard(group, k)),
                _ => true,
            };
            let coupled = match group.component {
                ComponentId::ForceField(i) => (0..self.system.evaluation.compliance(i).len()).any(|g| {
                    let c = self.system.evaluation.compliance(i);
                    let (n, block) = (c.width(g), c.block(g));
                    (0..n * n).any(|k| k / n != k % n && block[k] != 0.0)
                }),
                _ => false,
            };
            if hard || coupled {
                let kind = if hard { "hard" } else { "coupled" };
                let what = format!("the {kind} rows of `{name}` in dynamic relaxation");
                return Err(Error::NotStatic { what });
            }
        }
        Ok(())
    }

    /// By the rows of the tangent as filled.
    fn find_fictitious_masses(&self, work: &Work, mass: &mut [f64]) {
        let system = self.system.assembler.system();
        let length = |i: usize| work.inverse_length[i].recip();
        mass.fill(0.0);
        for i in 0..system.n() {
            let columns = system.w.pattern().row(i);
            let values = &system.w.values()[system.w.pattern().row_slots(i)];
            for (k, w) in columns.iter().zip(values) {
                let k = *k as usize;
                mass[i] += w.abs() * length(k);
                if k != i {
                    mass[k] += w.abs() * length(i);
                }
            }
        }
        for row in 0..system.m() {
            let columns = system.j.pattern().row(row);
            let values = &system.j.values()[system.j.pattern().row_slots(row)];
            let entries = || columns.iter().map(|k| *k as usize).zip(values);
            let sum: f64 = entries().map(|(k, j)| j.abs() * length(k)).sum();
            for (k, j) in entries() {
                mass[k] += j.abs() * sum / system.r_diagonal(row);
            }
        }
        for (i, m) in mass.iter_mut().enumerate() {
            *m *= 0.25 * SAFETY / length(i);
        }
        // Directions turn between two looks: those of a place or a rotation are alike.
        for node in self.system.model.nodes() {
            let (Some(first), true) = (node.first_dof(), node.space.is_spatial()) else {
                continue;
            };
            let size = node.space.velocity_size();
            for three in mass[first..first + node.count * size].chunks_mut(size.min(3)) {
                let largest = three.iter().fold(0.0f64, |a, m| a.max(*m));
                three.fill(largest);
            }
        }
    }
}
