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

mod measure;
mod newton;
mod predict;
mod residual;
mod search;

use super::Simulation;
use super::anderson::Anderson;
use crate::Error;
use crate::contact::Iterate;
use crate::contact::step::{self, Newton};
use crate::integrator::{EndWeighted, Finished, ImplicitMethod, Integrator, Past, Relation, Start};
use crate::motion::clone_into_buffers;
use crate::report::{StepReport, Timings};
use pliant_kkt::Formulation;
use pliant_sparse::CsrMatrix;
use std::sync::Arc;
use std::time::Instant;

/// What an integrator remembers from step to step.
#[derive(Debug, Default, PartialEq)]
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
}

clone_into_buffers!(IntegratorMemory {
    method,
    previous,
    vectors,
});

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

impl Scratch {
    /// The iterate, as contacts see it.
    pub(super) fn iterate(&self) -> Iterate<'_> {
        Iterate {
            start: &self.start,
            end: &self.end,
            mu: &self.mu,
            impulses: &self.contacts,
        }
    }
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
        self.fill_motion(self.motion.time, self.motion.time + h);
        self.evaluate_with_external(0.0)?;
        self.find_fixed_change();
        self.start_method(method, h)?;
        self.relate(method, h)?;
        timings.fill += clock.elapsed();
        let clock = Instant::now();
        step::find(&mut self.system, &self.motion, &self.options, h)?;
        timings.contacts += clock.elapsed();
        let clock = Instant::now();
        self.add_stored_at_start();
        let impulses = &mut self.methods.implicit.contacts;
        step::start_newton(
            &mut self.system,
            &self.motion,
            &self.options,
            &self.scheme,
            h,
            impulses,
        )?;
        self.record_start(h, method.weight())?;
        timings.fill += clock.elapsed();

        let (solved, newton, clamped) = self.iterate_with_restitution(&mut timings)?;
        let projected_tangents = self
            .system
            .evaluation
            .projected_elements(&self.system.model, &self.motion.state);

        let clock = Instant::now();
        let gain = self.methods.implicit.relation.acceleration_gain;
        for (lambda, mu) in self.motion.multipliers.iter_mut().zip(&self.methods.implicit.mu) {
            *lambda = gain * mu;
        }
        self.read_supports(gain);
        let at = self.methods.implicit.iterate();
        let step_of = Newton {
            motion: &self.motion,
            options: &self.options,
            scheme: &self.scheme,
        };
        step::read_newton(&mut self.system, step_of, at, h);
        timings.update += clock.elapsed();
        let clock = Instant::now();
        step::look_for_missed(&mut self.system, &self.start, &self.motion, &self.options, h)?;
        timings.contacts += clock.elapsed();
        let clock = Instant::now();
        self.system
            .rows
            .soft
            .iter_mut()
            .zip(&self.system.rows.undetermined)
            .for_each(|(s, l)| *s = !l);
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
        let stored = step::find_at_end(&mut self.system, &mut self.motion, &self.options, h)?;
        let lost = stored.map(|stored| self.lost(stored));
        let ends = step::Ends {
            start: &self.start,
            end: &mut self.motion,
        };
        step::recover_overlap(&mut self.system, ends, &self.options, &self.scheme, lost)?;
        self.advance_memory(0.0);
        timings.contacts += clock.elapsed();
        let clock = Instant::now();
        let mut report = self.report(h, solved, (0, 0), damping_work);
        report.newton = newton;
        report.geometry_clamped = clamped;
        report.projected_tangents = projected_tangents;
        self.check(&report)?;
        step::stand(&mut self.system, &mut self.motion, h);
        self.finish_method(method, h);
        self.commit(&report);
        timings.update += clock.elapsed();
        report.timings = timings;
        report.counters = self.counters();
        Ok(report)
    }

    /// Takes what a step that stands has found.
    pub(super) fn commit(&mut self, report: &StepReport) {
        self.motion.fresh = false;
        self.lag_multipliers();
        self.motion.dissipated = report.dissipated;
        self.close_books(report.energies);
        self.motion.time = report.time;
        self.system.counters.steps += 1;
    }

    /// Forces, Jacobians and stiffnesses of the present state, with the forces from outside; force fields with a memory remember what was `elapsed` seconds ago.
    pub(super) fn evaluate_with_external(&mut self, elapsed: f64) -> Result<(), Error> {
        self.system
            .evaluation
            .evaluate_after(&self.system.model, &self.motion.state, elapsed)?;
        self.system.evaluation.add_force(&self.motion.controls.external);
        Ok(())
    }

    fn memory_is_fresh(&self, method: &dyn ImplicitMethod) -> bool {
        self.motion.fresh || self.motion.integrator.method != method.name()
    }

    /// Prepares the memory of the method, if it is not its own or belongs to another motion.
    fn start_method(&mut self, method: &dyn ImplicitMethod, h: f64) -> Result<(), Error> {
        let n = self.system.model.dof_count();
        let s = &mut self.methods.implicit;
        s.start.resize(n, 0.0);
        gather(&self.system.model, &self.motion.state.velocities, &mut s.start);
        if !self.memory_is_fresh(method) && self.motion.integrator.vectors.len() == method.memory() * n {
            return Ok(());
        }
        if method.needs_acceleration() {
            self.find_accelerations(h)?;
        }
        self.motion.integrator.method = method.name().to_owned();
        self.motion.integrator.previous = None;
        self.motion.integrator.vectors.clear();
        self.motion.integrator.vectors.resize(method.memory() * n, 0.0);
        let start = Start {
            h,
            velocity: &self.methods.implicit.start,
            acceleration: if method.needs_acceleration() {
                &self.system.solution.x
            } else {
                &[]
            },
        };
        method.start(&start, &mut self.motion.integrator.vectors);
        Ok(())
    }

    /// The relations of the step, and the scheme that fills its matrices.
    fn relate(&mut self, method: &dyn ImplicitMethod, h: f64) -> Result<(), Error> {
        let n = self.system.model.dof_count();
        let s = &mut self.methods.implicit;
        s.relation.acceleration.resize(n, 0.0);
        s.relation.displacement.resize(n, 0.0);
        let past = Past {
            h,
            previous: self.motion.integrator.previous,
            velocity: &s.start,
            memory: &self.motion.integrator.vectors,
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
        self.scheme.formulation = Formulation::VelocityChange;
        self.scheme.velocity_rows = false;
        Ok(())
    }

    /// The first iterate: the velocities of the start, those of fixed coordinates at the end, the last multipliers.
    fn guess(&mut self) -> Result<(), Error> {
        let gain = self.methods.implicit.relation.acceleration_gain;
        let s = &mut self.methods.implicit;
        s.end.clone_from(&s.start);
        for (end, change) in s.end.iter_mut().zip(&self.system.scratch.fixed_change) {
            *end += change;
        }
        s.mu.clear();
        s.mu.extend(self.start.multipliers.iter().map(|l| l / gain));
        s.whole = false;
        self.place()
    }

    /// Puts the state where the velocities of the iterate lead.
    fn place(&mut self) -> Result<(), Error> {
        let s = &mut self.methods.implicit;
        s.displacement.clone_from(&s.relation.displacement);
        for (d, v) in s.displacement.iter_mut().zip(&s.end) {
            *d += s.relation.displacement_gain * v;
        }
        let fixed = &self.system.assembler.system().fixed;
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            for (k, v) in self.motion.state.velocities[range.clone()].iter_mut().enumerate() {
                // To the bit: v + (held - v) may differ from it by a rounding.
                *v = if fixed[first + k] {
                    self.motion.controls.held[first + k]
                } else {
                    s.end[first + k]
                };
            }
            let positions = &mut self.motion.state.positions[node.position_range()];
            positions.copy_from_slice(&self.start.state.positions[node.position_range()]);
            node.space
                .retract(positions, &s.displacement[first..first + range.len()]);
        }
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        Ok(())
    }

    /// What held the fixed coordinates: the residual there.
    fn read_supports(&mut self, gain: f64) {
        let fixed = &self.system.assembler.system().fixed;
        for ((support, primal), fixed) in self
            .motion
            .supports
            .iter_mut()
            .zip(&self.methods.implicit.primal)
            .zip(fixed)
        {
            *support = if *fixed { gain * primal } else { 0.0 };
        }
    }

    fn finish_method(&mut self, method: &dyn ImplicitMethod, h: f64) {
        let s = &mut self.methods.implicit;
        let n = s.start.len();
        gather(&self.system.model, &self.motion.state.velocities, &mut s.end);
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
            previous: self.motion.integrator.previous,
        };
        method.finish(&step, &mut self.motion.integrator.vectors);
        self.motion.integrator.previous = Some(h);
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
