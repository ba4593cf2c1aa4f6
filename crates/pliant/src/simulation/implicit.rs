//! Steps by an [`ImplicitMethod`]: Newton's method on the equations of the step, watched by a merit of their residual.
//!
//! Unknown are the velocities `v+` and the multipliers `lambda`. With the relations of the method, `w` its weight and the weight `w_r` of each row
//! (1 for most methods) the equations are
//!
//! ```math
//! w (M a - f)(x+, v+) + (1 - w) (M a - f)(x, v) - sum_r (w_r J+ + (1 - w_r) J)_r^T lambda_r = 0
//! C lambda + w_r (phi + d dphi/dt + C D dphi/dt)+ + (1 - w_r) (phi + d dphi/dt + C D dphi/dt) = 0    or    phi+ = 0
//! ```
//!
//! In units of velocity they are the system that the linear step fills, for a step `1/g` with weights `w` and `k g`, made at the iterate.
//! It is symmetric: the derivative of gyroscopic torques, of the masses of mapped nodes and the unsymmetric part of the geometric stiffness are left
//! out, which costs iterations, not accuracy.

mod contacts;
mod measure;
mod newton;
mod predict;
mod residual;
mod search;

use super::Simulation;
use super::anderson::Anderson;
use crate::Error;
use crate::integrator::{EndWeighted, Finished, ImplicitMethod, Integrator, Past, Relation, Start};
use crate::report::{StepReport, Timings};
use pliant_sparse::CsrMatrix;
use std::sync::Arc;
use std::time::Instant;

/// What an integrator remembers from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntegratorMemory {
    /// The method it belongs to; empty before any.
    pub method: String,
    /// Length of the last step (s), `None` before the first.
    pub previous: Option<f64>,
    /// Its vectors, one after the other.
    pub vectors: Vec<f64>,
}

impl IntegratorMemory {
    /// Forgets everything: the next step is the first.
    pub(crate) fn forget(&mut self) {
        self.method.clear();
        self.previous = None;
        self.vectors.clear();
    }

    /// Becomes the other, in the buffers it has.
    pub(super) fn copy(&mut self, other: &Self) {
        self.method.clone_from(&other.method);
        self.previous = other.previous;
        self.vectors.clone_from(&other.vectors);
    }
}

/// Scratch of implicit steps.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) relation: Relation,
    /// Length of the step, for force fields with a memory.
    pub(super) elapsed: f64,
    /// Velocities of the independent coordinates at the start, at the iterate, and at the last one that was accepted.
    pub(super) start: Vec<f64>,
    pub(super) end: Vec<f64>,
    pub(super) accepted: Vec<f64>,
    pub(super) displacement: Vec<f64>,
    /// Accelerations of the independent coordinates.
    pub(super) rate: Vec<f64>,
    /// Impulses `lambda/g` of the iterate and of the last accepted one.
    pub(super) mu: Vec<f64>,
    pub(super) accepted_mu: Vec<f64>,
    /// The best iterate.
    pub(super) best: Vec<f64>,
    pub(super) best_mu: Vec<f64>,
    /// Impulses of the contacts: of the iterate, the last accepted and the best one, and as last solved for.
    pub(super) contacts: Vec<f64>,
    pub(super) accepted_contacts: Vec<f64>,
    pub(super) best_contacts: Vec<f64>,
    pub(super) new_contacts: Vec<f64>,
    /// Whether the iterate, and the best one, came by a whole Newton step: then the contacts are as solved for.
    pub(super) whole: bool,
    pub(super) best_whole: bool,
    /// Their scales in the merit, and the change of velocity since the start.
    pub(super) contact_scales: Vec<f64>,
    pub(super) change: Vec<f64>,
    /// On all nodes: accelerations; forces, then what they lack.
    pub(super) acceleration: Vec<f64>,
    pub(super) node_force: Vec<f64>,
    /// The equations of the start of the step: masses, Jacobian, forces on the independent coordinates, deformations of the rows.
    pub(super) start_mass: Option<CsrMatrix>,
    pub(super) start_jacobian: Option<CsrMatrix>,
    pub(super) start_force: Vec<f64>,
    pub(super) start_deficit: Vec<f64>,
    /// Of RATTLE: mixes the iterates, residual and iterate.
    pub(super) mixer: Anderson,
    pub(super) mixed_residual: Vec<f64>,
    pub(super) mixed: Vec<f64>,
    /// What the equations lack: impulses, deformations, and those as velocities.
    pub(super) primal: Vec<f64>,
    pub(super) deficit: Vec<f64>,
    pub(super) row_velocity: Vec<f64>,
    /// `W_ii` of the first iterate: what a residual impulse is divided by in the merit.
    pub(super) inertia: Vec<f64>,
    /// Sizes of terms, for the relative residual.
    pub(super) speed: Vec<f64>,
    pub(super) rounding: Vec<f64>,
    pub(super) primal_terms: Vec<f64>,
    pub(super) primal_rounding: Vec<f64>,
}

impl Simulation {
    /// The implicit method that takes steps, if one does.
    fn method(&self) -> Option<(Option<Arc<dyn ImplicitMethod>>, EndWeighted)> {
        let weighted = EndWeighted {
            alpha: self.options.alpha,
            beta: self.options.beta,
        };
        match &self.options.integrator {
            Integrator::Nonlinear => Some((None, weighted)),
            Integrator::Implicit(method) => Some((Some(Arc::clone(method)), weighted)),
            _ => None,
        }
    }

    /// A step by an implicit method, but for undoing it.
    pub(super) fn advance_implicitly(&mut self, h: f64) -> Result<StepReport, Error> {
        let Some((given, weighted)) = self.method() else {
            return self.advance(h);
        };
        let method: &dyn ImplicitMethod = given.as_deref().unwrap_or(&weighted);
        method.check()?;
        let mut timings = Timings::default();
        let clock = Instant::now();
        self.fill_motion(self.time, self.time + h);
        self.evaluate_with_external(0.0)?;
        self.find_fixed_change();
        self.start_method(method, h)?;
        self.relate(method, h)?;
        timings.fill += clock.elapsed();
        let clock = Instant::now();
        self.find_contacts(h)?;
        timings.contacts += clock.elapsed();
        let clock = Instant::now();
        self.start_contacts(h)?;
        self.record_start(h, method.weight())?;
        timings.fill += clock.elapsed();

        let (solved, newton, clamped) = self.iterate_with_restitution(&mut timings)?;
        let projected_tangents = self.evaluation.projected_elements(&self.model, &self.state);

        let clock = Instant::now();
        let gain = self.implicit.relation.acceleration_gain;
        for (lambda, mu) in self.new_multipliers.iter_mut().zip(&self.implicit.mu) {
            *lambda = gain * mu;
        }
        self.read_supports(gain);
        self.read_newton_contacts(h);
        timings.update += clock.elapsed();
        let clock = Instant::now();
        self.look_again(h)?;
        timings.contacts += clock.elapsed();
        let clock = Instant::now();
        self.soft.iter_mut().zip(&self.lawless).for_each(|(s, l)| *s = !l);
        // The work of dampers is that of the mean force on the mean velocity.
        self.advance_memory(h);
        self.scheme.h = h;
        if method.weight() == 1.0 && self.options.integrator != Integrator::Nonlinear {
            (self.scheme.alpha, self.scheme.beta) = (0.5, 0.5);
        } else {
            self.scheme.beta = self.options.beta;
        }
        let damping_work = self.tally(h);
        timings.update += clock.elapsed();
        let clock = Instant::now();
        self.find_contacts_after(h)?;
        self.advance_memory(0.0);
        timings.contacts += clock.elapsed();
        let clock = Instant::now();
        let mut report = self.report(h, solved, (0, 0), damping_work);
        report.newton = newton;
        report.geometry_clamped = clamped;
        report.projected_tangents = projected_tangents;
        self.check(&report)?;
        self.keep_contacts();
        self.finish_method(method, h);
        self.commit(&report);
        timings.update += clock.elapsed();
        report.timings = timings;
        report.counters = self.counters();
        Ok(report)
    }

    /// Takes what a step that stands has found.
    pub(super) fn commit(&mut self, report: &StepReport) {
        self.multipliers.copy_from_slice(&self.new_multipliers);
        self.fresh = false;
        self.support.copy_from_slice(&self.support_now);
        self.lag_multipliers();
        self.dissipated = report.dissipated;
        self.close_books(report.energies);
        self.time = report.time;
        self.counters.steps += 1;
    }

    /// Forces, Jacobians and stiffnesses of the present state, with the forces from outside; force fields with a memory remember what was `elapsed` seconds ago.
    pub(super) fn evaluate_with_external(&mut self, elapsed: f64) -> Result<(), Error> {
        self.evaluation
            .evaluate_after(&self.model, &self.state, elapsed)?;
        self.evaluation.add_force(&self.external);
        Ok(())
    }

    fn memory_is_fresh(&self, method: &dyn ImplicitMethod) -> bool {
        self.fresh || self.memory.method != method.name()
    }

    /// Prepares the memory of the method, if it is not its own or belongs to another motion.
    fn start_method(&mut self, method: &dyn ImplicitMethod, h: f64) -> Result<(), Error> {
        let n = self.model.dof_count();
        let s = &mut self.implicit;
        s.start.resize(n, 0.0);
        gather(&self.model, &self.state.velocities, &mut s.start);
        if !self.memory_is_fresh(method) && self.memory.vectors.len() == method.memory() * n {
            return Ok(());
        }
        if method.needs_acceleration() {
            self.find_accelerations(h)?;
        }
        self.memory.method = method.name().to_owned();
        self.memory.previous = None;
        self.memory.vectors.clear();
        self.memory.vectors.resize(method.memory() * n, 0.0);
        let start = Start {
            h,
            velocity: &self.implicit.start,
            acceleration: if method.needs_acceleration() {
                &self.solution.x
            } else {
                &[]
            },
        };
        method.start(&start, &mut self.memory.vectors);
        Ok(())
    }

    /// The relations of the step, and the scheme that fills its matrices.
    fn relate(&mut self, method: &dyn ImplicitMethod, h: f64) -> Result<(), Error> {
        let n = self.model.dof_count();
        let s = &mut self.implicit;
        s.relation.acceleration.resize(n, 0.0);
        s.relation.displacement.resize(n, 0.0);
        let past = Past {
            h,
            previous: self.memory.previous,
            velocity: &s.start,
            memory: &self.memory.vectors,
        };
        method.relate(&past, &mut s.relation);
        let (gain, reach) = (s.relation.acceleration_gain, s.relation.displacement_gain);
        for (what, value) in [
            ("the acceleration gain of an integrator", gain),
            ("the displacement gain of an integrator", reach),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                let bound = "positive and finite";
                return Err(Error::OutOfRange { what, value, bound });
            }
        }
        self.scheme.h = gain.recip();
        self.scheme.alpha = method.weight();
        self.scheme.beta = reach * gain;
        self.scheme.velocity_rows = false;
        Ok(())
    }

    /// The first iterate: the velocities of the start, those of fixed coordinates at the end, the last multipliers.
    fn guess(&mut self) -> Result<(), Error> {
        let gain = self.implicit.relation.acceleration_gain;
        let s = &mut self.implicit;
        s.end.clone_from(&s.start);
        for (end, change) in s.end.iter_mut().zip(&self.fixed_change) {
            *end += change;
        }
        s.mu.clear();
        s.mu.extend(self.multipliers.iter().map(|l| l / gain));
        s.whole = false;
        self.place()
    }

    /// Puts the state where the velocities of the iterate lead.
    fn place(&mut self) -> Result<(), Error> {
        let s = &mut self.implicit;
        s.displacement.clone_from(&s.relation.displacement);
        for (d, v) in s.displacement.iter_mut().zip(&s.end) {
            *d += s.relation.displacement_gain * v;
        }
        let fixed = &self.assembler.system().fixed;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            for (k, v) in self.state.velocities[range.clone()].iter_mut().enumerate() {
                // To the bit: v + (held - v) may differ from it by a rounding.
                *v = if fixed[first + k] {
                    self.held[first + k]
                } else {
                    s.end[first + k]
                };
            }
            let positions = &mut self.state.positions[node.position_range()];
            positions.copy_from_slice(&self.previous.positions[node.position_range()]);
            node.space
                .retract(positions, &s.displacement[first..first + range.len()]);
        }
        self.evaluation.propagate(&self.model, &mut self.state)?;
        Ok(())
    }

    /// What held the fixed coordinates: the residual there.
    fn read_supports(&mut self, gain: f64) {
        let fixed = &self.assembler.system().fixed;
        for ((support, primal), fixed) in self.support_now.iter_mut().zip(&self.implicit.primal).zip(fixed) {
            *support = if *fixed { gain * primal } else { 0.0 };
        }
    }

    fn finish_method(&mut self, method: &dyn ImplicitMethod, h: f64) {
        let s = &mut self.implicit;
        let n = s.start.len();
        gather(&self.model, &self.state.velocities, &mut s.end);
        s.rate.resize(n, 0.0);
        for ((a, a_0), v) in s.rate.iter_mut().zip(&s.relation.acceleration).zip(&s.end) {
            *a = a_0 + s.relation.acceleration_gain * v;
        }
        let step = Finished {
            h,
            old_velocity: &s.start,
            velocity: &s.end,
            acceleration: &s.rate,
            displacement: &s.displacement,
            previous: self.memory.previous,
        };
        method.finish(&step, &mut self.memory.vectors);
        self.memory.previous = Some(h);
    }
}

/// Copies the velocities of the independent nodes in the order of their coordinates.
pub(super) fn gather(model: &pliant_model::Model, velocities: &[f64], out: &mut [f64]) {
    for node in model.nodes() {
        if let Some(first) = node.first_dof() {
            let range = node.velocity_range();
            out[first..first + range.len()].copy_from_slice(&velocities[range]);
        }
    }
}
