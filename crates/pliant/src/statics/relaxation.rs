//! Dynamic relaxation with kinetic damping.

use super::equilibrium::displace;
use super::measure::measure;
use super::newton::Tangent;
use super::residual::{SideRule, fill_tangent, find_residual};
use super::workspace::{Metric, Setting, Workspace};
use crate::Error;
use pliant_stepper::system::System;

/// Steps between two looks at the residual, with new masses.
const BETWEEN: usize = 10;
/// Masses over those at the limit of stability: at 2 a step that ends at once at a peak could swing
/// for ever, and stiffnesses change between two looks.
const SAFETY: f64 = 4.0;

/// Explicit steps of 1 s, `v += f/m`, `x += v`, with `m_i = S/4 sum_k |K_ik| L_k/L_i`: no frequency
/// is then beyond `2/sqrt(S)` (Gershgorin), where `K` holds stiffnesses and `J^T C^-1 J` of the
/// compliances. Where the kinetic energy has passed a peak all velocities become zero.
pub(crate) fn relax(at: &mut Setting<'_>, work: &mut Workspace) -> Result<bool, Error> {
    find_residual(at, work, SideRule::ByLaw)?;
    let n = work.residual.force.len();
    let (mut mass, mut velocity) = (vec![0.0; n], vec![0.0; n]);
    let mut energy = 0.0;
    for step in 0..work.progress.most {
        if step % BETWEEN == 0 {
            fill_stiffness(at, work)?;
            let residual = measure(at, work);
            if residual <= work.progress.tolerance {
                return Ok(true);
            }
            if residual.is_nan() {
                return Ok(false);
            }
            find_fictitious_masses(at.system, &work.metric, &mut mass);
        }
        work.progress.report.iterations += 1;
        let fixed = &at.system.assembler.system().fixed;
        let mut new = 0.0;
        for i in (0..n).filter(|i| !fixed[*i] && mass[*i] > 0.0) {
            velocity[i] += work.residual.force[i] / mass[i];
            new += mass[i] * velocity[i] * velocity[i];
        }
        if new < energy {
            velocity.fill(0.0);
            energy = 0.0;
            continue;
        }
        energy = new;
        let displacement = &mut work.linear.displacement;
        displace(at.system, &mut at.motion.state, displacement, &velocity, 1.0)?;
        find_residual(at, work, SideRule::ByLaw)?;
    }
    Ok(false)
}

/// Fills the tangent with all rows, those at a bound of their force among them, which may act before
/// the next look: masses are then those of the stiffest that it may become.
pub(crate) fn fill_stiffness(at: &mut Setting<'_>, work: &mut Workspace) -> Result<(), Error> {
    let free = vec![0; work.unknowns.sides.len()];
    let sides = std::mem::replace(&mut work.unknowns.sides, free);
    let filled = fill_tangent(at, work, Tangent::Whole);
    work.unknowns.sides = sides;
    filled
}

/// Finds fictitious masses by the rows of the tangent as filled.
pub(crate) fn find_fictitious_masses(base: &System, metric: &Metric, mass: &mut [f64]) {
    let system = base.assembler.system();
    let length = |i: usize| metric.inverse_length[i].recip();
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
    for node in base.model.nodes() {
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
