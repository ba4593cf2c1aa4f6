//! How far an iterate is from solving its equations, as a share of the size of their terms.

use pliant_model::{Model, Space, State};
use pliant_solvers::{KktResidual, KktSystem, Variable};

/// Sizes of the terms of the equations of a step, and the rounding of the positions that these are
/// made of.
#[derive(Debug, Default)]
pub(crate) struct TermSizes {
    /// Of the velocity of each coordinate (m/s, rad/s).
    speed: Vec<f64>,
    /// Largest velocity of the point or body of each coordinate, in any direction (m/s, rad/s).
    all: Vec<f64>,
    rounding: Vec<f64>,
    /// Which coordinates are numbers without a place, such as amplitudes of modes, if there are
    /// any.
    numbers: Vec<bool>,
    /// Which are amplitudes of elements ([`Model::add_amplitudes`]), if there are any.
    amplitudes: Vec<bool>,
    /// Of the impulse on each coordinate (N s, N m s).
    primal: Vec<f64>,
    primal_rounding: Vec<f64>,
    /// The equation that was missed most when they were last compared.
    pub(crate) worst: Option<Variable>,
}

/// Velocities of an iterate, by independent coordinate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IterateVelocities<'a> {
    pub(crate) start: &'a [f64],
    pub(crate) end: &'a [f64],
    /// The part of the acceleration that does not depend on the velocity at the end.
    pub(crate) acceleration: &'a [f64],
    /// Gains of acceleration (1/s) and displacement (s) by the velocity at the end.
    pub(crate) acceleration_gain: f64,
    pub(crate) displacement_gain: f64,
}

/// The parts of the equations that an iterate misses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed<'a> {
    /// Impulses that are missing, by independent coordinate (N s, N m s).
    pub(crate) primal: &'a [f64],
    /// Impulses of the rows (N s, N m s), and by how much each row misses its law, as a velocity.
    pub(crate) mu: &'a [f64],
    pub(crate) row_velocity: &'a [f64],
}

/// Contacts that are solved beside the rows, by their solver's tolerance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    /// Share of the tolerance of Newton's method in that of contacts, at most 1.
    pub(crate) tolerances: f64,
    /// The largest velocity that there is without impulses (m/s, rad/s).
    pub(crate) free_velocity: f64,
}

impl TermSizes {
    /// Finds the velocities that the terms are made of, `|v+| + |v| + |a|/g`, and the share of
    /// rounding in them; and for each coordinate the largest velocity of its point, or the largest
    /// linear or angular one of its body.
    pub(crate) fn find_speeds(&mut self, model: &Model, state: &State, of: IterateVelocities<'_>) {
        let n = model.dof_count();
        for list in [&mut self.speed, &mut self.all, &mut self.rounding] {
            list.clear();
            list.resize(n, 0.0);
        }
        for list in [&mut self.numbers, &mut self.amplitudes] {
            list.clear();
            list.resize(n, false);
        }
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            if node.space == Space::Real(1) {
                self.numbers[first..first + node.count].fill(true);
            }
            if node.is_amplitudes {
                self.amplitudes[first..first + node.velocity_range().len()].fill(true);
            }
            let positions = &state.positions[node.position_range()];
            let largest = positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            for i in first..first + node.velocity_range().len() {
                let change = of.end[i] + of.acceleration[i] / of.acceleration_gain;
                self.speed[i] = of.end[i].abs() + of.start[i].abs() + change.abs();
                // A hundred roundings for the arithmetic of the mappings.
                self.rounding[i] = 100.0 * f64::EPSILON * largest / of.displacement_gain;
            }
            let size = match node.space {
                Space::Rigid3 | Space::Real(3) => 3,
                Space::Real(2) => 2,
                Space::Real(_) => 1,
            };
            let range = first..first + node.velocity_range().len();
            let all = self.all[range.clone()].chunks_exact_mut(size);
            for (all, own) in all.zip(self.speed[range].chunks_exact(size)) {
                all.fill(own.iter().fold(0.0, |a, x| a.max(*x)));
            }
        }
    }

    /// The residual of an iterate in the terms of [`KktResidual`], with the matrices filled there.
    /// The share that each equation misses, less the rounding of positions, of the size of its
    /// terms: `|W| u + |J^T| |mu|` and `|J| u + |R mu|` with the speeds `u`. A row may miss the
    /// `tolerance` of the velocities of what it holds in any direction, too: across a motion its
    /// own terms may be what solves leave of that. `add_contacts` adds the sizes of the impulses of
    /// contacts.
    pub(crate) fn measure(
        &mut self,
        system: &KktSystem,
        missed: Missed<'_>,
        tolerance: f64,
        beside: Option<Beside>,
        add_contacts: impl FnOnce(&mut [f64]),
    ) -> KktResidual {
        let (n, m) = (system.n(), system.m());
        self.find_impulses(system);
        let mut out = KktResidual::default();
        self.worst = None;
        // A NaN must not hide behind `max`.
        let is_worse = |a: f64, b: f64| b.is_nan() || b > a;
        let max = |a: f64, b: f64| if is_worse(a, b) { b } else { a };
        let share = |missed: f64, rounding: f64, terms: f64| {
            let beyond = missed - rounding;
            if beyond <= 0.0 { 0.0 } else { beyond / terms }
        };
        let (speed, of_velocity, primal) = (&self.speed[..n], &self.rounding[..n], &mut self.primal[..n]);
        let all = &self.all[..n];
        for row in 0..m {
            let columns = system.j.pattern().row(row);
            let values = &system.j.values()[system.j.pattern().row_slots(row)];
            let mu = missed.mu[row].abs();
            let mut terms = system.r_diagonal(row) * mu;
            let mut rounding = 0.0;
            for (k, j) in columns.iter().zip(values) {
                let (k, j) = (*k as usize, j.abs());
                terms += j * speed[k];
                rounding += j * (of_velocity[k] + tolerance * all[k]);
                primal[k] += j * mu;
            }
            let missed = row_miss(system, row, missed).abs();
            out.row = max(out.row, missed);
            let (lower, upper) = system.bounds[row];
            let bounded = lower > f64::NEG_INFINITY || upper < f64::INFINITY;
            let own = match beside {
                Some(b) if bounded => b.tolerances * share(missed, rounding, terms.max(b.free_velocity)),
                _ => share(missed, rounding, terms),
            };
            if is_worse(out.relative, own) {
                (out.relative, self.worst) = (own, Some(Variable::Row(row)));
            }
        }
        add_contacts(&mut self.primal);
        for i in (0..n).filter(|i| !system.fixed[*i]) {
            let missed = missed.primal[i].abs();
            out.primal = max(out.primal, missed / system.w_diagonal(i).abs());
            let own = share(missed, self.primal_rounding[i], self.primal[i]);
            if is_worse(out.relative, own) {
                (out.relative, self.worst) = (own, Some(Variable::Dof(i)));
            }
        }
        out
    }
}

impl TermSizes {
    /// Finds `|W| u`, and the share of rounding in it.
    fn find_impulses(&mut self, system: &KktSystem) {
        let n = system.n();
        for list in [&mut self.primal, &mut self.primal_rounding] {
            list.clear();
            list.resize(n, 0.0);
        }
        let (speed, of_speed) = (&self.speed[..n], &mut self.primal[..n]);
        let (rounding, of_rounding) = (&self.rounding[..n], &mut self.primal_rounding[..n]);
        for i in 0..n {
            let columns = system.w.pattern().row(i);
            let values = &system.w.values()[system.w.pattern().row_slots(i)];
            // The sums of the row itself stay in registers: in it, no other row is `i`.
            let (own_speed, own_rounding) = (speed[i], rounding[i]);
            let (mut sum, mut sum_rounding) = (of_speed[i], of_rounding[i]);
            for (k, w) in columns.iter().zip(values) {
                let (k, w) = (*k as usize, w.abs());
                sum += w * speed[k];
                sum_rounding += w * rounding[k];
                if k != i {
                    of_speed[k] += w * own_speed;
                    of_rounding[k] += w * own_rounding;
                }
            }
            (of_speed[i], of_rounding[i]) = (sum, sum_rounding);
        }
        if self.numbers.contains(&true) {
            self.add_cancelled(system);
        }
        if self.amplitudes.contains(&true) {
            self.add_cancelled_places(system);
        }
    }

    /// Adds the rounding of places in the forces on amplitudes, which see the deformation gradients
    /// of the nodes of their element, also where the entries of `W` between them are sums that
    /// cancel: the terms of these are `sqrt(W_ii W_kk)` at most, by Cauchy and Schwarz.
    fn add_cancelled_places(&mut self, system: &KktSystem) {
        let root = |i: usize| system.w_diagonal(i).abs().sqrt();
        for i in 0..system.n() {
            for k in system.w.pattern().row(i) {
                let k = *k as usize;
                if self.amplitudes[i] != self.amplitudes[k] {
                    let (amplitude, place) = if self.amplitudes[i] { (i, k) } else { (k, i) };
                    self.primal_rounding[amplitude] += root(i) * root(k) * self.rounding[place];
                }
            }
        }
    }

    /// Adds the rounding of masses that cancel between numbers without a place and what they are
    /// coupled with: amplitudes of modes have no part in the weight or the momentum of all, as the
    /// sum of parts that are not small. The magnitudes of these parts are
    /// `sum m |phi_i| |phi_k| <= sqrt(W_ii W_kk)` at most, by Cauchy and Schwarz.
    fn add_cancelled(&mut self, system: &KktSystem) {
        let root = |i: usize| system.w_diagonal(i).abs().sqrt();
        for i in 0..system.n() {
            for k in system.w.pattern().row(i) {
                let k = *k as usize;
                if k != i && (self.numbers[i] || self.numbers[k]) {
                    let both = 100.0 * f64::EPSILON * root(i) * root(k);
                    self.primal_rounding[i] += both * self.speed[k];
                    self.primal_rounding[k] += both * self.speed[i];
                }
            }
        }
    }

    /// The energy of the velocities that each equation alone asks for,
    /// `sum p_i^2/(2 W_ii) + sum w_r^2/(2 A_rr)` (J), of what is missed beyond rounding, with the
    /// matrices filled at the iterate. The equation with the largest part of it is the worst.
    pub(crate) fn missed_energy(&mut self, system: &KktSystem, missed: Missed<'_>) -> f64 {
        self.find_impulses(system);
        let (mut sum, mut largest) = (0.0, 0.0);
        self.worst = None;
        let mut add = |size: f64, rounding: f64, inertia: f64, of: Variable| {
            let beyond = (size.abs() - rounding).max(0.0);
            let energy = beyond * beyond / (2.0 * inertia);
            if beyond > 0.0 && inertia > 0.0 {
                sum += energy;
                if energy > largest {
                    (largest, self.worst) = (energy, Some(of));
                }
            }
        };
        for i in (0..system.n()).filter(|i| !system.fixed[*i]) {
            let inertia = system.w_diagonal(i).abs();
            add(
                missed.primal[i],
                self.primal_rounding[i],
                inertia,
                Variable::Dof(i),
            );
        }
        for row in 0..system.m() {
            let columns = system.j.pattern().row(row).iter();
            let values = &system.j.values()[system.j.pattern().row_slots(row)];
            let terms = columns.zip(values);
            let rounding = terms.map(|(k, j)| j.abs() * self.rounding[*k as usize]).sum();
            let response = system.row_scale(row) + system.r_diagonal(row);
            // `w^2/(2 A)`: the energy of the velocity that an impulse on the row alone makes.
            add(
                row_miss(system, row, missed),
                rounding,
                response,
                Variable::Row(row),
            );
        }
        sum
    }
}

/// By how much a row misses its law, as a velocity; of rows of bounded force by the natural map.
pub(crate) fn row_miss(system: &KktSystem, row: usize, missed: Missed<'_>) -> f64 {
    let (mu, w) = (missed.mu[row], missed.row_velocity[row]);
    let (lower, upper) = system.bounds[row];
    if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
        return w;
    }
    let s = system.row_scale(row) + system.r_diagonal(row);
    if s == 0.0 {
        // It moves nothing, as a rope between things that are held: what its force would have to
        // bear, and may not, it need not.
        let bound = if w > 0.0 { lower } else { upper };
        return if bound.is_infinite() { w } else { 0.0 };
    }
    s * (mu - (mu - w / s).max(lower).min(upper))
}
