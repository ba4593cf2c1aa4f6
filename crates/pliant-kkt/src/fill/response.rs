//! The response matrix `W` and what springs and dampers add to the right-hand side.

use super::Assembler;
use super::bundle::Wanted;
use crate::Scheme;
use pliant_model::{ComponentId, Evaluation, Problem, State};

/// Which terms of the response matrix are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    /// The masses alone.
    Masses,
    /// The terms of a step.
    All,
    /// Stiffness and geometric stiffness: of rest.
    Stiffness,
}

impl Assembler {
    /// The wanted terms of `W += M + h alpha B + h^2 alpha beta (K - G)`, and with stiffness
    /// `rhs -= h^2 alpha (K - G) v`.
    pub(super) fn fill_response(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        terms: Terms,
    ) {
        let (h, beta) = (scheme.h, scheme.beta);
        let mass_gain = match terms {
            Terms::All => 1.0 + h * scheme.alpha * problem.rayleigh().mass,
            Terms::Masses => 1.0,
            Terms::Stiffness => 0.0,
        };
        let (dynamic, damped) = (terms != Terms::Masses, terms == Terms::All);
        let damping_gain = f64::from(u8::from(damped));
        for (index, node) in problem.nodes().iter().enumerate() {
            let size = node.space.velocity_size();
            let first = node.first_velocity;
            let entry = &self.plan.nodes[index];
            if entry.bundled || entry.masses.is_empty() && entry.stiffnesses.is_empty() {
                continue;
            }
            for (e, site) in entry.sites.iter().enumerate() {
                let block = &mut self.node_block[..size * size];
                block.fill(0.0);
                for m in entry.masses.iter().filter(|_| terms != Terms::Stiffness) {
                    problem.masses()[*m].component.add_block(node.space, e, block);
                }
                block.iter_mut().for_each(|m| *m *= mass_gain);
                let v = &state.velocities[first + e * size..][..size];
                let rhs = &mut self.rhs[first + e * size..][..size];
                for i in entry.stiffnesses.iter().filter(|_| dynamic) {
                    let alpha = scheme.alpha_of(ComponentId::ForceField(*i));
                    let (k, b) = (evaluation.stiffness(*i).block(e), evaluation.damping(*i).block(e));
                    for (t, (k, b)) in block.iter_mut().zip(k.iter().zip(b)) {
                        *t += h * alpha * (damping_gain * b + h * beta * k);
                    }
                    for (r, k) in rhs.iter_mut().zip(k.chunks_exact(size)) {
                        *r -= h * h * alpha * k.iter().zip(v).map(|(k, v)| k * v).sum::<f64>();
                    }
                }
                let values = self.system.w.values_mut();
                match self.plan.jacobians.block(index, e) {
                    None => self.plan.add_to_response(site, block, values),
                    Some(j) => {
                        let width = self.plan.jacobians.width(index, e);
                        congruence(block, j, size, width, &mut self.product, &mut self.site_block);
                        self.plan.add_to_response(site, &self.site_block, values);
                    }
                }
            }
        }
        for coupled in &self.plan.coupled {
            let node = &problem.nodes()[coupled.node];
            let size = node.space.velocity_size();
            let width = coupled.elements.len() * size;
            let block = &mut self.geometry[..width * width];
            block.fill(0.0);
            match coupled.source {
                ComponentId::Mass(m) if terms != Terms::Stiffness => {
                    problem.masses()[m]
                        .component
                        .add_block(node.space, coupled.group, block);
                    block.iter_mut().for_each(|m| *m *= mass_gain);
                }
                ComponentId::ForceField(i) if dynamic => {
                    let alpha = scheme.alpha_of(coupled.source);
                    let k = evaluation.stiffness(i).block(coupled.group);
                    let b = evaluation.damping(i).block(coupled.group);
                    for (t, (k, b)) in block.iter_mut().zip(k.iter().zip(b)) {
                        *t += h * alpha * (damping_gain * b + h * beta * k);
                    }
                    let at = |c: usize| node.first_velocity + coupled.elements[c / size] * size + c % size;
                    for (r, k) in k.chunks_exact(width).enumerate() {
                        let sum: f64 = k
                            .iter()
                            .enumerate()
                            .map(|(c, k)| k * state.velocities[at(c)])
                            .sum();
                        self.rhs[at(r)] -= h * h * alpha * sum;
                    }
                }
                _ => continue,
            }
            let values = self.system.w.values_mut();
            let jacobians = &self.plan.jacobians;
            if jacobians.stack_is_identity(coupled.site.place) {
                self.plan.add_to_response(&coupled.site, block, values);
            } else {
                let outer = jacobians.width_of(coupled.site.place);
                jacobians.stack(coupled.site.place, &mut self.stack[..width * outer]);
                congruence(
                    block,
                    &self.stack,
                    width,
                    outer,
                    &mut self.product,
                    &mut self.site_block,
                );
                self.plan.add_to_response(&coupled.site, &self.site_block, values);
            }
        }
        let mut origins = scheme.geometry.origins();
        let wanted = Wanted {
            masses: (terms != Terms::Stiffness).then_some(mass_gain),
            fields: dynamic,
            damping: damped,
            geometry: origins.find(|o| dynamic && !o.from_rows),
        };
        self.fill_bundles(problem, evaluation, scheme, state, wanted);
        if dynamic {
            self.fill_geometry(problem, evaluation, scheme, state, damped);
        }
    }
}

/// `out = J^T A J` for a symmetric `size x size` block `A` and a `size x width` block `J`;
/// `product` is scratch.
pub(super) fn congruence(
    a: &[f64],
    j: &[f64],
    size: usize,
    width: usize,
    product: &mut [f64],
    out: &mut [f64],
) {
    let product = &mut product[..size * width];
    product.fill(0.0);
    for i in 0..size {
        let row = &mut product[i * width..(i + 1) * width];
        for k in 0..size {
            let aik = a[i * size + k];
            if aik != 0.0 {
                for (p, j) in row.iter_mut().zip(&j[k * width..]) {
                    *p += aik * j;
                }
            }
        }
    }
    let out = &mut out[..width * width];
    out.fill(0.0);
    for k in 0..size {
        let p = &product[k * width..(k + 1) * width];
        for r in 0..width {
            let jkr = j[k * width + r];
            if jkr != 0.0 {
                for (o, p) in out[r * width..(r + 1) * width].iter_mut().zip(p) {
                    *o += jkr * p;
                }
            }
        }
    }
}
