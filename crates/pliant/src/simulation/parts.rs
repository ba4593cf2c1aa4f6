//! What the numerical part of a linear step is made of.
//!
//! With `u = v + beta dv`, by which positions move, and the equation that was solved, `M dv = p`, the mean velocity is `u + (1/2 - beta) dv`. An impulse of `p` that the ledger enters at the mean
//! velocity is accounted for; all others (`q`) work on the way `h u`, which is what changes what they store, and on `(1/2 - beta) dv`, which is the part of inertia:
//!
//! ```math
//! dT = sum_entered p . (v + dv/2) + sum_others q . u + (1/2 - beta) dv . sum_others q
//! ```

mod rows;

use super::Simulation;
use super::ledger::power_without_potential;
use crate::{Gyroscopic, NumericalParts, gyroscopic};
use pliant_model::{ComponentId, Treatment};

/// The parts of the present step, and scratch.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// `None` for methods that are not taken apart.
    pub(super) found: Option<NumericalParts>,
    /// Velocities of all nodes by the Jacobians of the start: `dv`, and `u`.
    change: Vec<f64>,
    moving: Vec<f64>,
    /// Impulses of gyroscopic torques.
    spin: Vec<f64>,
    /// Kinetic energy of mapped masses that the change of velocity would end with, were their Jacobians those of the start (J).
    mapped: f64,
}

impl Simulation {
    /// Takes the step apart, before it moves anything. The geometric stiffness was filled as it is or `clamped`.
    pub(super) fn find_parts(&mut self, h: f64, clamped: bool) {
        let mut parts = std::mem::take(&mut self.account.parts);
        self.push_change(&mut parts);
        let (on_change, rows) = self.parts_of_rows(h, &parts);
        let entered = on_change + self.entered_on_change(h, &parts);
        let stiffness = self.stiffness_part(h, &parts) + rows.stiffness;
        parts.found = Some(NumericalParts {
            inertia: self.inertia_part(h, entered, &mut parts),
            geometry: self.geometry_part(clamped, &parts.moving),
            stiffness,
            ..rows
        });
        self.account.parts = parts;
    }

    /// `dv` and `u` of all nodes.
    fn push_change(&self, parts: &mut Parts) {
        let all = self.system.model.velocity_count();
        parts.change.resize(all, 0.0);
        parts.moving.resize(all, 0.0);
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let change = &self.system.solution.x[first..first + range.len()];
            parts.change[range].copy_from_slice(change);
        }
        self.system
            .evaluation
            .push_forward(&self.system.model, &mut parts.change);
        let pairs = self.motion.state.velocities.iter().zip(&parts.change);
        for (u, (v, dv)) in parts.moving.iter_mut().zip(pairs) {
            *u = v + self.scheme.beta * dv;
        }
    }

    /// What impulses that are neither of rows nor stored do on the change of velocity: from outside, without a potential, of supports and contacts.
    fn entered_on_change(&mut self, h: f64, parts: &Parts) -> f64 {
        let change = &parts.change;
        let outside = self.motion.controls.external.iter().zip(change);
        let mut sum = h * outside.map(|(f, dv)| f * dv).sum::<f64>();
        let scratch = (
            &mut self.system.scratch.mass_scratch[..],
            &mut self.system.scratch.shifted[..],
        );
        sum += h * power_without_potential(&self.system.model, &self.motion.state, scratch, |k| change[k]);
        let supports = self.motion.supports.iter().zip(&self.system.solution.x);
        sum += h * supports.map(|(f, dv)| f * dv).sum::<f64>();
        sum + self
            .system
            .contacts
            .as_ref()
            .map_or(0.0, |c| c.observed.work.on_change)
    }

    /// `(1/2 - beta) dv . q` and the work of inertial forces; with mapped masses [`close_inertia`](Self::close_inertia) has the rest.
    fn inertia_part(&mut self, h: f64, entered: f64, parts: &mut Parts) -> f64 {
        let (mut square, mut mapped) = (0.0, 0.0);
        for attachment in self.system.model.masses() {
            let node = self.system.model.node(attachment.node);
            let range = node.velocity_range();
            let (v, p) = self.system.scratch.mass_scratch.split_at_mut(range.len());
            let p = &mut p[..range.len()];
            let change = &parts.change[range.clone()];
            p.fill(0.0);
            attachment.component.add_product(node.space, 1.0, change, p);
            square += p.iter().zip(change).map(|(p, dv)| p * dv).sum::<f64>();
            if node.first_dof().is_none() {
                let ends = self.motion.state.velocities[range].iter().zip(change);
                v.iter_mut()
                    .zip(ends)
                    .for_each(|(v, (start, dv))| *v = start + dv);
                p.fill(0.0);
                attachment.component.add_product(node.space, 1.0, v, p);
                mapped += 0.5 * p.iter().zip(&*v).map(|(p, v)| p * v).sum::<f64>();
            }
        }
        parts.mapped = mapped;
        let inertial = self.system.evaluation.inertial_force().iter().zip(&parts.moving);
        let work = h * inertial.map(|(f, u)| f * u).sum::<f64>() + self.spin_work(h, parts);
        (0.5 - self.scheme.beta) * (square - entered) + work
    }

    /// Work of the gyroscopic impulses on the way.
    fn spin_work(&self, h: f64, parts: &mut Parts) -> f64 {
        parts.spin.clone_from(&self.system.scratch.impulse);
        if self.options.gyroscopic == Gyroscopic::LinearlyImplicit {
            let (gain, change) = (h * self.scheme.alpha, &self.system.solution.x);
            gyroscopic::add_linearised(
                &self.system.model,
                &self.motion.state,
                gain,
                change,
                &mut parts.spin,
            );
        }
        let mut sum = 0.0;
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let moving = &parts.moving[node.velocity_range()];
            let spin = parts.spin[first..].iter().zip(moving);
            sum += spin.map(|(p, u)| p * u).sum::<f64>();
        }
        sum
    }

    /// After the step has moved: what the turning Jacobians of mapped masses changed in their kinetic energy.
    pub(super) fn close_inertia(&mut self) {
        let Some(found) = &mut self.account.parts.found else {
            return;
        };
        let mut mapped = 0.0;
        for attachment in self.system.model.masses() {
            let node = self.system.model.node(attachment.node);
            if node.first_dof().is_some() {
                continue;
            }
            let v = &self.motion.state.velocities[node.velocity_range()];
            let p = &mut self.system.scratch.mass_scratch[..v.len()];
            p.fill(0.0);
            attachment.component.add_product(node.space, 1.0, v, p);
            mapped += 0.5 * p.iter().zip(v).map(|(p, v)| p * v).sum::<f64>();
        }
        found.inertia += mapped - self.account.parts.mapped;
    }

    /// `(1/2 - alpha) |dx|_K^2` of all that is treated as a stiffness, and what contacts have of it.
    fn stiffness_part(&self, h: f64, parts: &Parts) -> f64 {
        let mut sum = self
            .system
            .contacts
            .as_ref()
            .map_or(0.0, |c| c.observed.work.stiffness);
        for (i, field) in self.system.model.force_fields().iter().enumerate() {
            let gain = 0.5 - self.scheme.alpha_of(ComponentId::ForceField(i));
            let component = &field.component;
            if component.treatment != Treatment::Stiffness || !component.law.has_potential() || gain == 0.0 {
                continue;
            }
            let node = self.system.model.node(field.node);
            let size = node.space.velocity_size();
            let moving = &parts.moving[node.velocity_range()];
            let blocks = self.system.evaluation.stiffness(i);
            let mut form = 0.0;
            for g in 0..blocks.len() {
                let alone = [g];
                let list = self
                    .system
                    .evaluation
                    .groups(i)
                    .get(g)
                    .map_or(&alone[..], Vec::as_slice);
                let at = |k: usize| moving[list[k / size] * size + k % size];
                let width = blocks.width(g).max(1);
                for (r, row) in blocks.block(g).chunks_exact(width).enumerate() {
                    form += at(r) * row.iter().enumerate().map(|(c, k)| k * at(c)).sum::<f64>();
                }
            }
            sum += gain * h * h * form;
        }
        sum
    }

    /// The work of the geometric stiffness that was filled.
    fn geometry_part(&mut self, clamped: bool, moving: &[f64]) -> f64 {
        if clamped {
            self.scheme.geometry = self.options.geometry.clamped();
        }
        let (model, state) = (&self.system.model, &self.motion.state);
        let work = self.system.assembler.geometry_work(
            model,
            &mut self.system.evaluation,
            &self.scheme,
            state,
            moving,
        );
        self.scheme.geometry = self.options.geometry;
        work
    }
}
