//! What the static equations lack, and how much that is.

use super::super::Simulation;
use super::{Work, Worst};
use crate::Error;
use crate::system::gather;
use pliant_model::{ComponentId, RowGroup, RowLaw, Treatment};
use pliant_solvers::Variable;

/// A hundred roundings for the arithmetic of the mappings.
const ROUNDING: f64 = 100.0 * f64::EPSILON;
/// A gap of this share of the length of the model is rounding.
const TOUCHING: f64 = 1e-12;
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Simulation {
    /// `F_1`, `F_2` and the sizes of the terms of `F_1` at the present state, which must be propagated. Rows of bounded force take sides here: at a bound, their
    /// multiplier becomes it.
    pub(crate) fn find_rest_residual(&mut self, work: &mut Work) -> Result<(), Error> {
        self.system
            .evaluation
            .evaluate_after(&self.system.model, &self.motion.state, f64::INFINITY)?;
        let external = if work.loads.forces { work.factor } else { 1.0 };
        work.node_force.clear();
        work.node_force
            .extend(self.motion.controls.external.iter().map(|f| external * f));
        self.system.evaluation.add_force(&work.node_force);
        for i in &work.fields {
            self.system
                .evaluation
                .scale_field(&self.system.model, &self.motion.state, *i, work.factor);
        }
        if self.system.contacts.is_some() && !work.frozen {
            self.find_rest_contacts(&mut work.touching, &[], work.by_arc_length)?;
            let per_length = work.length / work.largest_force();
            work.touching.take_sides(per_length, TOUCHING * work.length);
        }
        work.deficit.truncate(work.lambda.len());
        for index in 0..self.system.model.row_groups().len() {
            let group = self.system.model.row_groups()[index];
            self.rest_deficits(work, &group);
            if let Some(bounds) = self.system.model.bounds(&group)
                && !work.frozen
                && !work.explicit
            {
                self.take_sides(work, &group, bounds);
            }
        }
        self.find_rest_terms(work, external);
        work.node_force.copy_from_slice(self.system.evaluation.force());
        for group in self.system.model.row_groups() {
            let first = self.system.model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                work.node_force[first + k] += work.lambda[group.first_row + k];
            }
        }
        self.system
            .evaluation
            .pull_back(&self.system.model, &mut work.node_force);
        gather(&self.system.model, &work.node_force, &mut work.force);
        work.touching.add_forces(&mut work.force, &mut work.terms);
        work.touching.deficits(&mut work.deficit);
        Ok(())
    }

    /// What a row is held at.
    fn rest_target(&self, work: &Work, row: usize) -> f64 {
        let target = self.system.row_motion.get(row).map_or(0.0, |m| m.end.0);
        if work.driven[row] {
            work.factor * target
        } else {
            target
        }
    }

    fn rest_deficits(&mut self, work: &mut Work, group: &RowGroup) {
        let node = self.system.model.node(group.node);
        let rows = group.first_row..group.first_row + group.size * group.count;
        if let ComponentId::ForceField(i) = group.component
            && self.system.model.motion(group).is_some()
            && !self.system.model.force_fields()[i].component.law.is_linear()
        {
            let targets: Vec<_> = rows.clone().map(|r| (self.rest_target(work, r), 0.0)).collect();
            self.system.evaluation.shift_compliance(
                &self.system.model,
                &self.motion.state,
                i,
                targets.into_iter(),
            );
        }
        for row in rows {
            let k = row - group.first_row;
            let target = self.rest_target(work, row);
            let gap = self.motion.state.positions[node.first_position + k] - target;
            work.deficit[row] = match group.component {
                ComponentId::ForceField(_) if self.system.model.row_law(group) == RowLaw::Viscous => {
                    work.lambda[row] = 0.0;
                    0.0
                }
                ComponentId::ForceField(i) if !self.system.evaluation.is_hard(group, k) => {
                    let (g, first) = self.system.evaluation.group_of(i, group.size, k);
                    let n = self.system.evaluation.compliance(i).width(g);
                    let phi = self.system.evaluation.deformation(i)[k] - target;
                    if work.explicit {
                        let (lower, upper) = self.system.model.bounds(group).unwrap_or(FREE);
                        let own = self.system.evaluation.compliance(i).block(g)[(k - first) * (n + 1)];
                        work.lambda[row] = (-phi / own).max(lower).min(upper);
                        work.deficit[row] = 0.0;
                        continue;
                    }
                    let c = &self.system.evaluation.compliance(i).block(g)[(k - first) * n..][..n];
                    let lambda = &work.lambda[group.first_row + first..];
                    let strain: f64 = c.iter().zip(lambda).map(|(c, l)| c * l).sum();
                    strain + phi
                }
                _ => gap,
            };
            if work.frozen && work.sides[row] != 0 {
                work.deficit[row] = 0.0;
            }
        }
    }

    /// Rows of bounded force: by `lambda - w/s` against the bounds, with a compliance `s` that is their own at least.
    fn take_sides(&mut self, work: &mut Work, group: &RowGroup, (lower, upper): (f64, f64)) {
        let per_length = work.length / work.largest_force();
        let own = |k: usize| match group.component {
            ComponentId::ForceField(i) => {
                let (g, first) = self.system.evaluation.group_of(i, group.size, k);
                let c = self.system.evaluation.compliance(i);
                c.block(g)[(k - first) * (c.width(g) + 1)]
            }
            _ => 0.0,
        };
        let rows = group.first_row..group.first_row + group.size * group.count;
        for row in rows.clone() {
            let s = own(row - group.first_row) + per_length;
            // A row that just touches acts, up to rounding, until it turns out to pull.
            let w = work.deficit[row];
            let w = if w.abs() <= TOUCHING * work.length { 0.0 } else { w };
            let wanted = work.lambda[row] - w / s;
            work.sides[row] = if wanted < lower {
                -1
            } else {
                i8::from(wanted > upper)
            };
            work.lambda[row] = match work.sides[row] {
                -1 => lower,
                1 => upper,
                _ => continue,
            };
        }
        // Where a compliance couples them, those that act feel the others.
        self.rest_deficits(work, group);
        for row in rows.filter(|r| work.sides[*r] != 0) {
            work.deficit[row] = 0.0;
        }
    }

    /// Sizes of the terms of `F_1`: forces of each component, loads and rows, carried down with the sizes of the Jacobians.
    fn find_rest_terms(&mut self, work: &mut Work, external: f64) {
        let terms = &mut work.node_terms;
        for (t, f) in terms.iter_mut().zip(&self.motion.controls.external) {
            *t = (external * f).abs();
        }
        // What is left of all forces without the fields' is gravity: its own terms are those, and no less than the sum.
        for attachment in self.system.model.masses() {
            let range = self.system.model.node(attachment.node).velocity_range();
            let force = self.system.evaluation.force();
            for (t, f) in terms[range.clone()].iter_mut().zip(&force[range]) {
                *t += f.abs();
            }
        }
        for (i, attachment) in self.system.model.force_fields().iter().enumerate() {
            if self.system.model.treatment(i) == Treatment::Compliance {
                continue;
            }
            let node = self.system.model.node(attachment.node);
            let range = node.velocity_range();
            let scale = if work.fields.contains(&i) {
                work.factor
            } else {
                1.0
            };
            let force = &mut work.node_force[range.clone()];
            force.fill(0.0);
            self.system
                .model
                .add_field_force(&self.motion.state, i, f64::INFINITY, force);
            for (t, f) in terms[range].iter_mut().zip(force) {
                *t += (scale * *f).abs();
            }
        }
        for group in self.system.model.row_groups() {
            let first = self.system.model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                terms[first + k] += work.lambda[group.first_row + k].abs();
            }
        }
        self.system.evaluation.pull_back_sizes(&self.system.model, terms);
        gather(&self.system.model, terms, &mut work.terms);
    }

    /// `d F_1/dp` and `d F_2/dp` at the present state, whose residual must be known: what the loads that are scaled are at factor 1.
    pub(crate) fn find_load(
        &mut self,
        work: &mut Work,
        force: &mut Vec<f64>,
        deficit: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let factor = work.factor;
        force.clone_from(&work.force);
        // Linear in the factor: a difference is exact but for rounding.
        work.frozen = true;
        self.set_load_factor(work, factor + 1.0)?;
        let there = self.find_rest_residual(work);
        for (f, there) in force.iter_mut().zip(&work.force) {
            *f = there - *f;
        }
        self.set_load_factor(work, factor)?;
        let here = there.and_then(|()| self.find_rest_residual(work));
        work.frozen = false;
        deficit.clear();
        for row in 0..work.lambda.len() {
            let target = self.system.row_motion.get(row).map_or(0.0, |m| m.end.0);
            let acts = work.driven[row] && work.sides[row] == 0;
            deficit.push(if acts { -target } else { 0.0 });
        }
        deficit.resize(work.deficit.len(), 0.0);
        here
    }

    /// The tangent at the present state, whose residual must be known; rows at a bound and dashpots are taken out.
    pub(crate) fn fill_tangent(&mut self, work: &mut Work) -> Result<(), Error> {
        self.system.assembler.fill_rest(
            &self.system.model,
            &mut self.system.evaluation,
            &self.motion.state,
            &work.lambda,
        );
        for (row, side) in work.sides.iter().enumerate() {
            if *side != 0 {
                self.system.assembler.silence_row(row);
            }
        }
        if !work.flowing {
            work.touching
                .fill(&self.system.assembler, (&self.system.model, &self.motion.state))?;
        }
        Ok(())
    }

    /// The largest share that is missing, with the tangent filled at the same state; the coordinate or row that misses it is kept.
    ///
    /// A force misses beyond `|W| rho`, a row beyond `|J| rho`, with the rounding of positions `rho = 100 eps |x|`. The terms of a compliant row are `C lambda` and
    /// `phi`, of a hard one the positions that it is made of, `|J| |x|`.
    pub(crate) fn measure_rest(&self, work: &mut Work) -> f64 {
        let system = self.system.assembler.system();
        let n = system.n();
        let mut size = vec![0.0f64; n];
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let positions = &self.motion.state.positions[node.position_range()];
            let largest = positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            size[first..first + node.velocity_range().len()].fill(largest);
        }
        let mut rounding = vec![0.0; n];
        for i in 0..n {
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
        let reach = size.iter().fold(0.0f64, |a, x| a.max(*x));
        // Arms of contacts are differences of places.
        let twist = ROUNDING * reach * work.touching.largest_force();
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let size = node.space.velocity_size();
            let places = if node.space.is_spatial() { size.min(3) } else { 0 };
            for k in (0..node.count * size).filter(|k| k % size >= places) {
                rounding[first + k] += twist;
            }
        }
        let mut worst = (0.0, None);
        let mut violation = 0.0f64;
        let mut look = |missed: f64, rounding: f64, terms: f64, who: Variable| {
            let beyond = missed.abs() - rounding;
            let share = if beyond <= 0.0 { 0.0 } else { beyond / terms };
            // A NaN must not hide.
            if share.is_nan() || share > worst.0 {
                worst = (share, Some(who));
            }
        };
        for i in (0..n).filter(|i| !system.fixed[*i]) {
            look(work.force[i], rounding[i], work.terms[i], Variable::Dof(i));
        }
        for group in self.system.model.row_groups() {
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let columns = system.j.pattern().row(row);
                let values = &system.j.values()[system.j.pattern().row_slots(row)];
                let at = columns.iter().zip(values);
                let reach: f64 = at.map(|(k, j)| j.abs() * size[*k as usize]).sum();
                let hard = match group.component {
                    ComponentId::ForceField(_) => self.system.evaluation.is_hard(group, k),
                    _ => true,
                };
                let missed = work.deficit[row];
                let terms = if hard {
                    violation = violation.max(missed.abs());
                    reach
                } else {
                    let phi = match group.component {
                        ComponentId::ForceField(i) => self.system.evaluation.deformation(i)[k],
                        _ => 0.0,
                    };
                    missed.abs() + phi.abs()
                };
                look(missed, ROUNDING * reach, terms, Variable::Row(row));
            }
        }
        let (mut share, who) = worst;
        let mut who = who.map(Worst::Variable);
        let miss = work
            .touching
            .miss(work.largest_force(), work.length, ROUNDING * reach);
        violation = violation.max(miss.violation);
        if miss.share.is_nan() || miss.share > share {
            (share, who) = (miss.share, miss.sides.map(Worst::Contact));
        }
        if share < work.best || share.is_nan() {
            (work.best, work.worst) = (share, who);
        }
        work.report.residual = share;
        work.report.violation = violation;
        share
    }
}
