//! How large the residual of the equations of rest is.

use super::connected;
use super::workspace::{Setting, Workspace, Worst};
use pliant_model::{ComponentId, Model, State};
use pliant_solvers::Variable;
use pliant_stepper::system::System;

/// A hundred roundings for the arithmetic of the mappings.
const ROUNDING: f64 = 100.0 * f64::EPSILON;

/// The largest share so far of what is missing in its terms.
#[derive(Debug, Default)]
struct Largest {
    share: f64,
    of: Option<Worst>,
}

impl Largest {
    /// Takes in what an equation misses beyond its rounding, in the size of its terms.
    fn take(&mut self, missed: f64, rounding: f64, terms: f64, of: Variable) {
        let beyond = missed.abs() - rounding;
        let share = if beyond <= 0.0 { 0.0 } else { beyond / terms };
        // A NaN must not hide.
        if share.is_nan() || share > self.share {
            (self.share, self.of) = (share, Some(Worst::Variable(of)));
        }
    }
}

/// The largest share that is missing, with the tangent filled at the same positions; the coordinate
/// or row that misses it is kept.
///
/// A force misses beyond `|W| rho + 100 eps S`, a row beyond `|J| rho`, with the rounding of
/// positions `rho = 100 eps |x|` and the largest force `S` of all that hangs together
/// ([`connected`](super::connected)). The terms of a compliant row are `C lambda` and `phi`, of a
/// hard one the positions that it is made of, `|J| |x|`.
pub(crate) fn measure(at: &Setting<'_>, work: &mut Workspace) -> f64 {
    let system = at.system.assembler.system();
    let size = sizes(&at.system.model, &at.motion.state, system.n());
    let reach = size.iter().fold(0.0f64, |a, x| a.max(*x));
    // Arms of contacts are differences of places.
    let twist = ROUNDING * reach * work.contacts.largest_force();
    let mut rounding = rounding_of_forces(at.system, &size, twist);
    let scales = connected::largest_forces(system, &work.metric, &work.residual.terms);
    for (rounding, scale) in rounding.iter_mut().zip(scales) {
        *rounding += ROUNDING * scale;
    }
    let mut largest = Largest::default();
    let residual = &work.residual;
    for i in (0..system.n()).filter(|i| !system.fixed[*i]) {
        let (force, terms) = (residual.force[i], residual.terms[i]);
        largest.take(force, rounding[i], terms, Variable::Dof(i));
    }
    let mut violation = measure_rows(at.system, &residual.deficit, &size, &mut largest);
    let Largest { mut share, mut of } = largest;
    let force = work.largest_force();
    let miss = work.contacts.miss(force, work.metric.length, ROUNDING * reach);
    violation = violation.max(miss.violation);
    if miss.share.is_nan() || miss.share > share {
        (share, of) = (miss.share, miss.sides.map(Worst::Contact));
    }
    let progress = &mut work.progress;
    if share < progress.best || share.is_nan() {
        (progress.best, progress.worst) = (share, of);
    }
    progress.report.residual = share;
    progress.report.violation = violation;
    share
}

/// Of each independent coordinate, the largest position of its node.
fn sizes(model: &Model, state: &State, n: usize) -> Vec<f64> {
    let mut size = vec![0.0f64; n];
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let positions = &state.positions[node.position_range()];
        let largest = positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        size[first..first + node.velocity_range().len()].fill(largest);
    }
    size
}

/// Rounding of the force on each coordinate; `twist` is that of torques of contacts.
fn rounding_of_forces(base: &System, size: &[f64], twist: f64) -> Vec<f64> {
    let system = base.assembler.system();
    let mut rounding = vec![0.0; size.len()];
    for i in 0..size.len() {
        let columns = system.w.pattern().row(i);
        let values = &system.w.values()[system.w.pattern().row_slots(i)];
        for (k, w) in columns.iter().zip(values) {
            let k = *k as usize;
            rounding[i] += w.abs() * ROUNDING * size[k];
            if k != i {
                rounding[k] += w.abs() * ROUNDING * size[i];
            }
        }
    }
    add_rounding_of_places(base, size, &mut rounding);
    for node in base.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        let places = if node.space.is_spatial() { size.min(3) } else { 0 };
        for k in (0..node.count * size).filter(|k| k % size >= places) {
            rounding[first + k] += twist;
        }
    }
    rounding
}

/// Adds the rounding of places in the forces on amplitudes of elements, which see the deformation
/// gradients of the nodes, also where the entries of `W` between them are sums that cancel: the
/// terms of these are `sqrt(W_ii W_kk)` at most, by Cauchy and Schwarz.
fn add_rounding_of_places(base: &System, size: &[f64], rounding: &mut [f64]) {
    if base.model.nodes().iter().all(|node| !node.is_amplitudes) {
        return;
    }
    let mut is_amplitude = vec![false; rounding.len()];
    for node in base.model.nodes().iter().filter(|node| node.is_amplitudes) {
        if let Some(first) = node.first_dof() {
            is_amplitude[first..first + node.velocity_range().len()].fill(true);
        }
    }
    let system = base.assembler.system();
    let root = |i: usize| system.w_diagonal(i).abs().sqrt();
    for i in 0..rounding.len() {
        for k in system.w.pattern().row(i).iter().map(|k| *k as usize) {
            if is_amplitude[i] != is_amplitude[k] {
                let (amplitude, place) = if is_amplitude[i] { (i, k) } else { (k, i) };
                rounding[amplitude] += root(i) * root(k) * ROUNDING * size[place];
            }
        }
    }
}

/// Takes in what the rows of the model miss. Returns the largest violation of a hard one (m, rad).
fn measure_rows(base: &System, deficit: &[f64], size: &[f64], largest: &mut Largest) -> f64 {
    let system = base.assembler.system();
    let mut violation = 0.0f64;
    for group in base.model.row_groups() {
        for k in 0..group.size * group.count {
            let row = group.first_row + k;
            let columns = system.j.pattern().row(row);
            let values = &system.j.values()[system.j.pattern().row_slots(row)];
            let entries = columns.iter().zip(values);
            let reach: f64 = entries.map(|(k, j)| j.abs() * size[*k as usize]).sum();
            let hard = match group.component {
                ComponentId::ForceField(_) => base.evaluation.is_hard(group, k),
                _ => true,
            };
            let missed = deficit[row];
            let terms = if hard {
                violation = violation.max(missed.abs());
                reach
            } else {
                let phi = match group.component {
                    ComponentId::ForceField(i) => base.evaluation.deformation(i)[k],
                    _ => 0.0,
                };
                missed.abs() + phi.abs()
            };
            largest.take(missed, ROUNDING * reach, terms, Variable::Row(row));
        }
    }
    violation
}
