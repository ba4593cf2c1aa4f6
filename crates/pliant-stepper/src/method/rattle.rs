//! RATTLE on the rotation group.
//!
//! With the momenta `T(h u) = J_r^-1(h u) I u` of a body that turns by `exp(h u)` (of all else
//! `T = M u`):
//!
//! ```math
//! T(h u) = M v + h/2 f(x, v) + J^T mu,   x+ = x (+) h u,   phi(x+) = 0
//! M v+ = T(-h u) + h/2 f(x+, v+) + J+^T nu,   J+ v+ = g'
//! ```
//!
//! Both halves are discrete Legendre transforms of one Lagrangian (Leimkuhler and Skeel 1994 for
//! particles; Hante and Arnold 2021 for Lie groups): the step is symplectic and reversible without
//! damping. `J_r^-1(r) = 1 + [r]/2 + c [r]^2` (theory/integrators.md of the book); a free body
//! keeps its momentum in space to rounding. The first half is solved with the matrix of the start,
//! `[M -J^T; -J 0]`, factored once; the iterates are mixed (Anderson), since bodies that turn by
//! more than a few tenths of a radian in a step make that matrix a poor one.

mod parts;

use super::implicit::Anderson;
use super::sizes::{IterateVelocities, Missed, TermSizes};
use super::{Capabilities, Method};
use crate::motion::Motion;
use crate::observe::Trace;
use crate::report::{NewtonReport, Timings};
use crate::system::rigid_nodes::Configuration;
use crate::system::{System, gather, gather_forces};
use crate::{Error, WorkPart};
use parts::Composition;
use pliant_dense::{Vec3, rotation, vec3};
use pliant_kkt::{GeometricTerms, Scheme, StepInput};
use pliant_model::Model;
use pliant_solvers::{KktResidual, SolveReport, Status};
use std::time::Instant;

/// RATTLE, or a composition of it, with its scratch.
#[derive(Debug, Default)]
pub(crate) struct Rattle {
    /// The lengths of the parts as shares of the step; none is a whole one.
    pub(crate) parts: &'static [f64],
    iterate: Iterate,
    best: Iterate,
    /// Velocities of the start, and `M v + h/2 f` there.
    start: Vec<f64>,
    start_force: Vec<f64>,
    node_force: Vec<f64>,
    /// Residual of the equations of motion (N s, N m s).
    primal: Vec<f64>,
    /// Displacements; changes and accelerations that are given.
    displacement: Vec<f64>,
    rate: Vec<f64>,
    row_velocity: Vec<f64>,
    sizes: TermSizes,
    mixing: Mixing,
    composition: Composition,
}

/// Velocities of the whole step, and impulses of the first half.
#[derive(Debug, Default)]
struct Iterate {
    velocity: Vec<f64>,
    mu: Vec<f64>,
}

/// Mixes the iterates: residual and iterate.
#[derive(Debug, Default)]
struct Mixing {
    mixer: Anderson,
    residual: Vec<f64>,
    mixed: Vec<f64>,
}

impl Method for Rattle {
    fn name(&self) -> &str {
        "RATTLE"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::RATTLE
    }

    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        self.take_parts(system, start, h, end, trace)
    }
}

impl Rattle {
    /// One step of RATTLE of the length `h`, which may be negative: state, multipliers and forces
    /// of supports of `end`.
    fn rattle(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        timings: &mut Timings,
    ) -> Result<(SolveReport, NewtonReport), Error> {
        let clock = Instant::now();
        let time = start.time;
        system.set_row_motion(time, time + h);
        system.find_fixed_change(start);
        system.evaluate(start, 0.0)?;
        let n = system.model.dof_count();
        for list in [
            &mut self.start,
            &mut self.iterate.velocity,
            &mut self.start_force,
            &mut self.primal,
        ] {
            list.resize(n, 0.0);
        }
        gather(&system.model, &start.state.velocities, &mut self.start);
        system.find_law_forces(&start.state, |m| m.start);
        self.find_node_forces(system, start);
        let System {
            model,
            evaluation,
            assembler,
            ..
        } = &mut *system;
        // Masses and Jacobians do not depend on the weights.
        assembler.fill_kinematics(model, evaluation, &Scheme::implicit_euler(h), &start.state);
        system.deactivate_soft_rows();
        // M v + h/2 f, with which the first half starts.
        gather(&system.model, &self.node_force, &mut self.start_force);
        self.start_force.iter_mut().for_each(|f| *f *= 0.5 * h);
        let w = &system.assembler.system().w;
        w.symmetric_add_product(1.0, &self.start, &mut self.start_force);
        self.iterate.velocity.copy_from_slice(&self.start);
        let changes = &system.scratch.fixed_change;
        for (u, change) in self.iterate.velocity.iter_mut().zip(changes) {
            *u += 0.5 * change;
        }
        timings.fill += clock.elapsed();

        let (mut solved, newton) = self.first_half(system, start, h, end, timings)?;
        end.supports.copy_from_slice(&self.primal);
        let clock = Instant::now();
        let second = self.second_half(system, time, h, end)?;
        if second.status != Status::Converged {
            solved.status = second.status;
        }
        solved.residual.relative = solved.residual.relative.max(second.residual.relative);
        timings.solve += clock.elapsed();
        let clock = Instant::now();
        self.finish(system, h, end)?;
        timings.update += clock.elapsed();
        Ok((solved, newton))
    }

    fn find_node_forces(&mut self, system: &System, motion: &Motion) {
        gather_forces(
            &system.model,
            &system.evaluation,
            &system.rows,
            &motion.state,
            false,
            &mut self.node_force,
        );
    }

    /// Newton's method for the velocity of the whole step and the impulses of the first half. On
    /// return the state of `end` is at the end of the step with that velocity, and `primal` is what
    /// the equations of motion lack.
    fn first_half(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        timings: &mut Timings,
    ) -> Result<(SolveReport, NewtonReport), Error> {
        let clock = Instant::now();
        let at = Configuration {
            model: &system.model,
            state: &start.state,
        };
        system
            .solver
            .prepare(system.assembler.system(), at)
            .map_err(|e| Error::from_solver(e, &system.model, start.time))?;
        timings.factor += clock.elapsed();
        let clock = Instant::now();
        self.iterate.mu.clear();
        self.iterate.mu.resize(system.model.row_count(), 0.0);
        self.mixing.mixer.restart();
        let options = system.options.tuning.newton;
        let mut newton = NewtonReport::default();
        let mut report: Option<SolveReport> = None;
        let (mut least, mut least_relative) = (f64::INFINITY, f64::INFINITY);
        loop {
            let mut residual = self.measure_at_end(system, start, h, end)?;
            // On to where rounding ends it: what is left adds up, in momentum and energy. Beyond
            // that, mixing makes it worse.
            let lacking = residual.primal.max(residual.row);
            let ended = lacking == 0.0 || lacking > 0.5 * least;
            if lacking < least {
                (least, least_relative) = (lacking, residual.relative);
                self.best.velocity.clone_from(&self.iterate.velocity);
                self.best.mu.clone_from(&self.iterate.mu);
            }
            if let Some(mut report) = report {
                let spent = newton.iterations >= options.iterations;
                let done = least_relative <= options.tolerance && (ended || spent);
                if done && lacking > least {
                    self.iterate.velocity.clone_from(&self.best.velocity);
                    self.iterate.mu.clone_from(&self.best.mu);
                    residual = self.measure_at_end(system, start, h, end)?;
                }
                if done || spent {
                    report.residual = residual;
                    report.status = if done {
                        Status::Converged
                    } else {
                        Status::MaxIterations
                    };
                    timings.solve += clock.elapsed();
                    return Ok((report, newton));
                }
            }
            // W du - J^T mu = -(T(h u) - M v - h/2 f), with the whole of mu.
            let j = &system.assembler.system().j;
            j.add_transpose_product(1.0, &self.iterate.mu, &mut self.primal);
            let c = system.assembler.right_hand_side_mut();
            for (c, p) in c.iter_mut().zip(&self.primal) {
                *c = -p;
            }
            let solved = system
                .solver
                .solve(system.assembler.system(), &mut system.solution);
            report = Some(solved.map_err(|e| Error::from_solver(e, &system.model, start.time))?);
            newton.iterations += 1;
            system.check_factorisations(WorkPart::ActiveSet, start.time)?;
            self.mix_iterate(system);
        }
    }

    /// Puts the state of `end` where the iterate leads, and measures what the equations of the
    /// first half lack there.
    fn measure_at_end(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
    ) -> Result<KktResidual, Error> {
        self.place(system, start, h, end)?;
        self.find_lack(system, h);
        find_gaps(system, h, end);
        Ok(self.measure(system, h, end))
    }

    /// Takes the step of the solution, mixed with those before it. The residual is weighted by
    /// masses.
    fn mix_iterate(&mut self, system: &System) {
        let (kkt, x) = (system.assembler.system(), &system.solution.x);
        let Mixing {
            mixer,
            residual,
            mixed,
        } = &mut self.mixing;
        let iterate = &mut self.iterate;
        residual.clear();
        let weighted = |(i, change): (usize, &f64)| kkt.w_diagonal(i).abs().sqrt() * change;
        residual.extend(x.iter().enumerate().map(weighted));
        mixed.clear();
        mixed.extend(iterate.velocity.iter().zip(x).map(|(u, change)| u + change));
        mixed.extend_from_slice(&system.solution.mu);
        mixer.mix(residual, mixed);
        let (u, mu) = mixed.split_at(iterate.velocity.len());
        iterate.velocity.copy_from_slice(u);
        iterate.mu.copy_from_slice(mu);
    }

    /// `T(h u) - M v - h/2 f - J^T mu` with the matrices of the start.
    fn find_lack(&mut self, system: &System, h: f64) {
        for (p, f) in self.primal.iter_mut().zip(&self.start_force) {
            *p = -f;
        }
        let kkt = system.assembler.system();
        let u = &self.iterate.velocity;
        kkt.w.symmetric_add_product(1.0, u, &mut self.primal);
        add_turning(&system.model, h, u, &mut self.primal);
        kkt.j
            .add_transpose_product(-1.0, &self.iterate.mu, &mut self.primal);
    }

    /// The residual of the equations of the first half.
    fn measure(&mut self, system: &System, h: f64, end: &Motion) -> KktResidual {
        // Sizes: of steps backwards too.
        let length = h.abs();
        self.rate.clear();
        self.rate.extend(self.start.iter().map(|v| -v / length));
        let kkt = system.assembler.system();
        self.row_velocity.clear();
        self.row_velocity.extend_from_slice(&kkt.b);
        let velocities = IterateVelocities {
            start: &self.start,
            end: &self.iterate.velocity,
            acceleration: &self.rate,
            acceleration_gain: length.recip(),
            displacement_gain: length,
        };
        self.sizes.find_speeds(&system.model, &end.state, velocities);
        let missed = Missed {
            primal: &self.primal,
            mu: &self.iterate.mu,
            row_velocity: &self.row_velocity,
        };
        self.sizes.measure(kkt, missed, 0.0, None, |_| {})
    }

    /// Puts the state at the end of the step, with the velocity of the whole step.
    fn place(&mut self, system: &mut System, start: &Motion, h: f64, end: &mut Motion) -> Result<(), Error> {
        self.displacement.clear();
        self.displacement
            .extend(self.iterate.velocity.iter().map(|u| h * u));
        let velocity = &self.iterate.velocity;
        system.place(&start.state, velocity, &self.displacement, None, &mut end.state)
    }

    /// The linear equations of the second half of a step from `time`; the change of velocity and
    /// its impulses are in the system's solution.
    fn second_half(
        &mut self,
        system: &mut System,
        time: f64,
        h: f64,
        end: &Motion,
    ) -> Result<SolveReport, Error> {
        system.evaluate(end, 0.0)?;
        system.find_law_forces(&end.state, |m| m.end);
        self.find_node_forces(system, end);
        // M + h/2 B.
        let scheme = Scheme {
            h: 0.5 * h,
            alpha: 1.0,
            beta: 0.0,
            geometry: GeometricTerms::NONE,
            ..Scheme::implicit_euler(h)
        };
        let input = StepInput {
            state: &end.state,
            multipliers: &[],
            impulse: &[],
            fixed_change: &[],
            motion: &[],
        };
        system
            .assembler
            .fill(&system.model, &mut system.evaluation, &scheme, input);
        for group in system.model.row_groups() {
            let u = system.model.velocities(&end.state, group.node);
            for (k, u) in u.iter().enumerate() {
                let row = group.first_row + k;
                let rate = system.row_motion.get(row).map_or(0.0, |m| m.end.1);
                system.assembler.row_right_hand_side_mut()[row] = u - rate;
            }
        }
        system.deactivate_soft_rows();
        let n = system.model.dof_count();
        gather(&system.model, &self.node_force, &mut self.primal[..n]);
        self.primal.iter_mut().for_each(|f| *f *= 0.5 * h);
        // T(-h u) - M u: turned the other way.
        add_turning(&system.model, -h, &self.iterate.velocity, &mut self.primal);
        self.rate.clear();
        let halves = system.scratch.fixed_change.iter().map(|change| 0.5 * change);
        self.rate.extend(halves);
        system.assembler.shift_right_hand_sides(&self.rate, &self.primal);
        let kkt = system.assembler.system();
        let solved = system
            .corrections
            .direct
            .prepare(kkt)
            .and_then(|()| system.corrections.direct.solve(kkt, &mut system.solution));
        solved.map_err(|e| Error::from_solver(e, &system.model, time))
    }

    /// Velocities of the end, forces of rows and supports over the step.
    fn finish(&mut self, system: &mut System, h: f64, end: &mut Motion) -> Result<(), Error> {
        let kkt = system.assembler.system();
        kkt.support_into(&system.solution, &mut self.displacement);
        for ((support, second), fixed) in end.supports.iter_mut().zip(&self.displacement).zip(&kkt.fixed) {
            *support = if *fixed { (*support + second) / h } else { 0.0 };
        }
        for node in system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let velocities = &mut end.state.velocities[node.velocity_range()];
            for (k, v) in velocities.iter_mut().enumerate() {
                let i = first + k;
                *v = if kkt.fixed[i] {
                    end.controls.held[i]
                } else {
                    self.iterate.velocity[i] + system.solution.x[i]
                };
            }
        }
        system.propagate(&mut end.state)?;
        system.find_law_forces(&end.state, |m| m.end);
        for group in system.model.row_groups() {
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                end.multipliers[row] = if system.row_is_hard(group, k) {
                    (self.iterate.mu[row] + system.solution.mu[row]) / h
                } else {
                    system.rows.law_force[row]
                };
            }
        }
        system.take_rows_by_law();
        Ok(())
    }
}

/// The gaps of the hard rows at the end of the step over `h`, as the right-hand sides of the rows.
fn find_gaps(system: &mut System, h: f64, end: &Motion) {
    for group in system.model.row_groups() {
        let x = system.model.positions(&end.state, group.node);
        for (k, x) in x.iter().enumerate() {
            let row = group.first_row + k;
            let target = system.row_motion.get(row).map_or(0.0, |m| m.end.0);
            let gap = if system.evaluation.is_hard(group, k) {
                (x - target) / h
            } else {
                0.0
            };
            system.assembler.row_right_hand_side_mut()[row] = gap;
        }
    }
}

/// Adds `T(h u) - M u` of every body: `([h u]/2 + c [h u]^2) I u`.
fn add_turning(model: &Model, h: f64, u: &[f64], out: &mut [f64]) {
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        let Some(first) = node.first_dof() else { continue };
        for e in 0..node.count {
            let Some(rigid) = attachment.component.rigid(e) else {
                break;
            };
            let at = first + 6 * e + 3;
            let spin = vec3(u, at);
            let momentum = rigid.inertia_matrix() * spin;
            let turned: Vec3 = rotation::inverse_right_jacobian(h * spin) * momentum;
            for k in 0..3 {
                out[at + k] += turned[k] - momentum[k];
            }
        }
    }
}
