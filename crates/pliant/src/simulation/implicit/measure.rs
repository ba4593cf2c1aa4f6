//! How far an iterate is from solving its equations: the merit of the line search, and the relative residual that decides.

use super::Simulation;
use crate::contact;
use pliant_solvers::KktResidual;

impl Simulation {
    /// Takes the weights of the merit from the filled system.
    pub(super) fn weigh(&mut self) {
        let system = self.system.assembler.system();
        let inertia = &mut self.methods.implicit.inertia;
        inertia.clear();
        inertia.extend((0..system.n()).map(|i| system.w_diagonal(i).abs()));
    }

    /// Sum of the squares of what the equations lack as velocities: impulses over `W_ii`, rows over the displacement gain; of rows of bounded
    /// force by the natural map, contacts too.
    pub(super) fn merit(&mut self) -> f64 {
        self.find_row_velocities();
        let s = &self.methods.implicit;
        let system = self.system.assembler.system();
        let mut sum = 0.0;
        for ((p, w), fixed) in s.primal.iter().zip(&s.inertia).zip(&system.fixed) {
            if !fixed && *w > 0.0 {
                sum += (p / w) * (p / w);
            }
        }
        for row in 0..system.m() {
            let r = self.row_miss(row);
            sum += r * r;
        }
        sum + contact::step::merit(&mut self.system, &self.options, self.methods.implicit.iterate())
    }

    /// What each row misses, as a velocity.
    fn find_row_velocities(&mut self) {
        let s = &mut self.methods.implicit;
        self.system.assembler.velocities_of_deficits(
            &self.system.model,
            &self.system.evaluation,
            &self.scheme,
            &s.deficit,
            &mut s.row_velocity,
        );
    }

    /// By how much a row misses its law, as a velocity.
    fn row_miss(&self, row: usize) -> f64 {
        let system = self.system.assembler.system();
        let (mu, w) = (
            self.methods.implicit.mu[row],
            self.methods.implicit.row_velocity[row],
        );
        let (lower, upper) = system.bounds[row];
        if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            return w;
        }
        let s = system.row_scale(row) + system.r_diagonal(row);
        if s == 0.0 {
            return w;
        }
        s * (mu - (mu - w / s).max(lower).min(upper))
    }

    /// The residual of the iterate in the terms of [`KktResidual`], with the matrices filled there. What each equation misses, less the rounding of
    /// the positions that it is made of, as a share of the size of its terms: `|W| u + |J^T| |mu|` and `|J| u + |R mu|` with the velocities
    /// `u = |v+| + |v| + |a|/g` of each coordinate.
    pub(super) fn measure(&mut self) -> KktResidual {
        self.find_row_velocities();
        self.find_speeds();
        self.measure_terms()
    }

    /// The residual from what each equation lacks, as an impulse or a velocity, and the speeds.
    pub(in crate::simulation) fn measure_terms(&mut self) -> KktResidual {
        // Beside contacts, rows of bounded force are solved with them, to their tolerance of the largest velocity without impulses.
        let contacts = contact::step::listed(&self.system);
        let beside = contacts.map(|c| {
            let tolerances = self.options.newton.tolerance / self.options.contacts.tolerance;
            (tolerances.min(1.0), c.free_velocity())
        });
        let s = &mut self.methods.implicit;
        let system = self.system.assembler.system();
        let (n, m) = (system.n(), system.m());
        for list in [&mut s.primal_terms, &mut s.primal_rounding] {
            list.clear();
            list.resize(n, 0.0);
        }
        for i in 0..n {
            let columns = system.w.pattern().row(i);
            let values = &system.w.values()[system.w.pattern().row_slots(i)];
            for (k, w) in columns.iter().zip(values) {
                let k = *k as usize;
                s.primal_terms[i] += w.abs() * s.speed[k];
                s.primal_rounding[i] += w.abs() * s.rounding[k];
                if k != i {
                    s.primal_terms[k] += w.abs() * s.speed[i];
                    s.primal_rounding[k] += w.abs() * s.rounding[i];
                }
            }
        }
        let mut out = KktResidual::default();
        // A NaN must not hide behind `max`.
        let max = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
        let share = |missed: f64, rounding: f64, terms: f64| {
            let beyond = missed - rounding;
            if beyond <= 0.0 { 0.0 } else { beyond / terms }
        };
        for row in 0..m {
            let columns = system.j.pattern().row(row);
            let values = &system.j.values()[system.j.pattern().row_slots(row)];
            let mu = self.methods.implicit.mu[row].abs();
            let mut terms = system.r_diagonal(row) * mu;
            let mut rounding = 0.0;
            for (k, j) in columns.iter().zip(values) {
                let k = *k as usize;
                terms += j.abs() * self.methods.implicit.speed[k];
                rounding += j.abs() * self.methods.implicit.rounding[k];
                self.methods.implicit.primal_terms[k] += j.abs() * mu;
            }
            let missed = self.row_miss(row).abs();
            out.row = max(out.row, missed);
            let (lower, upper) = system.bounds[row];
            let bounded = lower > f64::NEG_INFINITY || upper < f64::INFINITY;
            let own = match beside {
                Some((unit, velocity)) if bounded => unit * share(missed, rounding, terms.max(velocity)),
                _ => share(missed, rounding, terms),
            };
            out.relative = max(out.relative, own);
        }
        let s = &mut self.methods.implicit;
        if let Some(c) = contact::step::listed(&self.system) {
            c.add_sizes(&s.contacts, &mut s.primal_terms);
        }
        let s = &self.methods.implicit;
        for i in (0..n).filter(|i| !system.fixed[*i]) {
            let missed = s.primal[i].abs();
            out.primal = max(out.primal, missed / system.w_diagonal(i).abs());
            out.relative = max(
                out.relative,
                share(missed, s.primal_rounding[i], s.primal_terms[i]),
            );
        }
        out
    }

    /// The velocities that the terms of the equations are made of, and what the rounding of positions makes of them.
    pub(in crate::simulation) fn find_speeds(&mut self) {
        let n = self.system.model.dof_count();
        let s = &mut self.methods.implicit;
        for list in [&mut s.speed, &mut s.rounding] {
            list.clear();
            list.resize(n, 0.0);
        }
        let (gain, reach) = (s.relation.acceleration_gain, s.relation.displacement_gain);
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let positions = &self.motion.state.positions[node.position_range()];
            let largest = positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            for i in first..first + node.velocity_range().len() {
                let change = s.end[i] + s.relation.acceleration[i] / gain;
                s.speed[i] = s.end[i].abs() + s.start[i].abs() + change.abs();
                // A hundred roundings for the arithmetic of the mappings.
                s.rounding[i] = 100.0 * f64::EPSILON * largest / reach;
            }
        }
    }
}
