//! Energies of the present state: what the components store.

use super::Simulation;
use pliant_model::{ComponentId, Energies, RowGroup, RowLaw};

impl Simulation {
    /// Energies of the present state, with those of compliant contacts at the end of the step. With `by_multipliers`, those of the step that led here
    /// measure what stiff rows store ([`rows_energy`](Self::rows_energy)).
    pub(super) fn energies(&mut self, by_multipliers: bool) -> Energies {
        let mut shifted = std::mem::take(&mut self.system.scratch.shifted);
        let groups = self.system.model.row_groups();
        let lambda = by_multipliers.then_some(&self.motion.multipliers[..]);
        let special = |i: usize| {
            let group = self.system.rows.group_of_field[i].map(|g| &groups[g]);
            group.is_some_and(|g| self.stores_specially(g, by_multipliers))
        };
        let mut out = self.system.model.energies_without(&self.motion.state, special);
        for group in groups {
            if self.stores_specially(group, by_multipliers) {
                out.potential += self.rows_energy(group, lambda, &mut shifted);
            }
        }
        out.potential += self
            .system
            .contacts
            .as_ref()
            .map_or(0.0, |c| c.observed.report().stored);
        self.system.scratch.shifted = shifted;
        out
    }

    /// Potential energy of one component as of the last step (J): of a mass in gravity, of what a force field stores; zero for constraints. Together with
    /// [`ContactsReport::stored`](crate::contact::ContactsReport::stored) they make the potential energy of the report.
    pub fn potential(&self, component: ComponentId) -> f64 {
        if let ComponentId::ForceField(i) = component
            && let Some(group) = self.system.rows.group_of_field.get(i).copied().flatten()
        {
            let group = &self.system.model.row_groups()[group];
            let known = !self.motion.fresh;
            if self.stores_specially(group, known) {
                let mut room = vec![0.0; self.system.scratch.shifted.len()];
                return self.rows_energy(group, known.then_some(&self.motion.multipliers), &mut room);
            }
        }
        self.system.model.potential(&self.motion.state, component)
    }

    /// Whether rows store something else than their law at their coordinates.
    fn stores_specially(&self, group: &RowGroup, by_multipliers: bool) -> bool {
        let ComponentId::ForceField(_) = group.component else {
            return false;
        };
        let bounded = self.system.model.bounds(group).is_some() && self.is_elastic(group);
        by_multipliers && self.is_stiff(group) || self.system.model.motion(group).is_some() || bounded
    }

    /// Whether rows have the law of a linear spring.
    fn is_elastic(&self, group: &RowGroup) -> bool {
        let ComponentId::ForceField(i) = group.component else {
            return false;
        };
        let law = &self.system.model.force_fields()[i].component.law;
        law.is_linear() && law.row_law() == RowLaw::Elastic
    }

    pub(super) fn is_stiff(&self, group: &RowGroup) -> bool {
        let mut rows = group.first_row..group.first_row + group.size * group.count;
        self.is_elastic(group) && rows.any(|r| !self.system.rows.soft[r])
    }

    /// What rows of a force field store. A stiff compliant row of a linear law stores `lambda^T C lambda / 2`, with the
    /// multiplier less its damping: its deformation, of which
    /// that would be the quotient with its compliance, is mostly curvature and rounding. Driven springs store their deformation from
    /// where they are driven. A linear spring of bounded force stores `C F^2/2 - F (phi + C F)` where `F` is its force at the bound: nothing, if it is slack.
    /// (Bounded rows of other laws, or coupled ones, store what their law says without bounds.)
    fn rows_energy(&self, group: &RowGroup, lambda: Option<&[f64]>, shifted: &mut [f64]) -> f64 {
        let ComponentId::ForceField(i) = group.component else {
            return 0.0;
        };
        let coordinates = group.size * group.count;
        let x = self.system.model.positions(&self.motion.state, group.node);
        let target = |k: usize| {
            self.system
                .row_motion
                .get(group.first_row + k)
                .map_or(0.0, |m| m.end.0)
        };
        let lambda = lambda.filter(|_| self.is_stiff(group));
        let bounds = self.system.model.bounds(group).filter(|_| self.is_elastic(group));
        // The compliance of a coordinate, and whether it is coupled to no other.
        let own = |k: usize| {
            let (g, first) = self.system.evaluation.group_of(i, group.size, k);
            let width = self.system.evaluation.compliance(i).width(g);
            let row = &self.system.evaluation.compliance(i).block(g)[(k - first) * width..][..width];
            (
                row[k - first],
                (0..width).all(|c| c == k - first || row[c] == 0.0),
            )
        };
        if lambda.is_none() && (bounds.is_none() || !(0..coordinates).all(|k| own(k).1)) {
            let shifted = &mut shifted[..x.len()];
            for (k, (s, x)) in shifted.iter_mut().zip(x).enumerate() {
                *s = x - target(k);
            }
            let space = self.system.model.node(group.node).space;
            return self.system.model.force_fields()[i]
                .component
                .law
                .energy(space, shifted);
        }
        let lambda = lambda.map(|l| &l[group.first_row..group.first_row + coordinates]);
        let alpha = self.scheme.alpha_of(group.component);
        let velocities = self.system.model.node(group.node).velocity_range();
        let mean = |k: usize| {
            let at = velocities.start + k;
            let rate = self.system.row_motion.get(group.first_row + k);
            let rate = rate.map_or(0.0, |m| alpha * m.end.1 + (1.0 - alpha) * m.start.1);
            alpha * self.motion.state.velocities[at] + (1.0 - alpha) * self.start.state.velocities[at] - rate
        };
        // What of the force is not damping, coordinate `c` of block `g`.
        let elastic = |lambda: &[f64], g: usize, first: usize, c: usize| {
            let damping = self.system.evaluation.damping(i);
            let width = damping.width(g);
            let row = damping.block(g)[c * width..][..width].iter().enumerate();
            lambda[first + c] + row.map(|(k, b)| b * mean(first + k)).sum::<f64>()
        };
        let mut out = 0.0;
        for k in 0..coordinates {
            let (c, alone) = own(k);
            let alone = alone && c > 0.0;
            let phi = x[k] - target(k);
            let bound = bounds.filter(|_| alone);
            let bound = bound.map(|(lower, upper)| (-phi / c).max(lower).min(upper));
            out += match (bound, lambda) {
                (Some(force), _) if force != -phi / c => 0.5 * c * force * force - force * (phi + c * force),
                // Beside stiff ones, but not coupled to them.
                (_, Some(_)) if alone && self.system.rows.soft[group.first_row + k] => 0.5 * phi * phi / c,
                (_, Some(lambda)) => {
                    let (g, first) = self.system.evaluation.group_of(i, group.size, k);
                    let width = self.system.evaluation.compliance(i).width(g);
                    let row = &self.system.evaluation.compliance(i).block(g)[(k - first) * width..][..width];
                    let strain: f64 = (0..width).map(|c| row[c] * elastic(lambda, g, first, c)).sum();
                    0.5 * elastic(lambda, g, first, k - first) * strain
                }
                (_, None) if alone => 0.5 * phi * phi / c,
                // Hard.
                (_, None) => 0.0,
            };
        }
        out
    }
}
