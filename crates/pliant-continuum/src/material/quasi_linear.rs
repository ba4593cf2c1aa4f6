//! Quasi-linear viscoelasticity around a hyperelastic energy.
//!
//! A branch has the stress `h = g S_e(E) - q` with `dq/dt = h/tau`. Motion that is faster than any
//! relaxation leaves `q` as it is, so that `h` has the potential `g W(E) - q : E`, and its energy is
//! this one and a function `chi(q)`. The dashpot then takes `(E - dchi/dq) : h/tau`, which is zero
//! where `h` is if `dchi/dq = E_v` is the strain with the stress `g S_e(E_v) = q`: `chi` is the
//! conjugate of `g W`, and the energy `g (W(E) - W(E_v) - S_e(E_v) : (E - E_v))`. Energy and what is
//! dissipated are zero or more wherever `W` is convex in the strain `E`; for a linear material they
//! are those of Maxwell's spring and dashpot.
//!
//! An energy without a part of the volume is not convex for changes of volume, on which it does not
//! depend: `E_v` then has a volume of its own, which goes to that of the point in the time `tau`, and
//! the stress `q` but for a pressure. Along directions in which the energy hardly resists, or not at
//! all, `E_v` is that of a linear material: the balance of energy holds for any.

use super::hyperelastic::StressShare;
use super::prony::Branch;
use super::viscous_strain::{Wanted, full, gradient, green, log_volume, product};
use super::{Hyperelastic, Tangent};
use crate::strain::{matrix, write_matrix};
use pliant_dense::Mat3;
use pliant_model::{At, Blocks, Memory, Past, Space};

/// Numbers of a point, six each: stress `S_e` (Pa) and strain `E` of the end of the last step, and of
/// each branch the overstress `h` (Pa) and the strain `E_v` of the dashpot.
struct Point<'a> {
    stress: &'a [f64; 6],
    strain: &'a [f64; 6],
    over: &'a [[f64; 6]],
    viscous: &'a [[f64; 6]],
}

impl Point<'_> {
    /// The viscous stress `q = g S_e - h` (Pa) of a branch, which no fast motion changes.
    fn held(&self, branch: usize, share: f64) -> [f64; 6] {
        std::array::from_fn(|k| share * self.stress[k] - self.over[branch][k])
    }
}

impl Hyperelastic {
    /// Internal variables of a point.
    fn variables(&self) -> usize {
        6 * (2 + 2 * self.terms().len())
    }

    fn of_point<'a>(&self, internal: &'a [f64], q: usize) -> Point<'a> {
        let (lists, _) = internal[q * self.variables()..][..self.variables()].as_chunks::<6>();
        let (over, viscous) = lists[2..].split_at(self.terms().len());
        Point {
            stress: &lists[0],
            strain: &lists[1],
            over,
            viscous,
        }
    }

    /// The part `chi = q : E_v - g W(E_v)` (Pa) of the energy of a branch that depends on its dashpot
    /// alone.
    fn of_dashpot(&self, point: usize, share: f64, held: &[f64; 6], viscous: &[f64; 6]) -> f64 {
        let density = gradient(viscous).map_or(f64::NAN, |f| self.energy_at(point).density(&f));
        product(held, viscous) - share * density
    }

    /// The strain of the dashpot of a branch at the end of a step, and the energy density (Pa) that it
    /// took on the way.
    fn slipped(
        &self,
        q: usize,
        i: usize,
        elapsed: f64,
        old: &Point<'_>,
        new: [&[f64; 6]; 3],
    ) -> ([f64; 6], f64) {
        let (term, before) = (self.terms()[i], &old.viscous[i]);
        if elapsed == 0.0 {
            return (*before, 0.0);
        }
        let (share, [stress, strain, over]) = (term.shear, new);
        let branch = Branch::after(term.time, elapsed);
        let left = |x: f64, x0: f64, v0: f64| x - branch.decay * (x0 - v0) - branch.grown * (x - x0);
        // That of a linear material.
        let near = std::array::from_fn(|k| left(strain[k], old.strain[k], before[k]));
        if share == 0.0 {
            return (near, 0.0);
        }
        let energy = self.energy_at(q);
        let volume = (energy.law.volume_part() == Some(0.0))
            .then(|| left(log_volume(strain), log_volume(old.strain), log_volume(before)));
        let wanted = Wanted {
            stress: &std::array::from_fn(|k| stress[k] - over[k] / share),
            over: &over.map(|h| h / share),
            volume,
        };
        let viscous = energy.strain_of(wanted, near);
        // `E : dq` along a straight strain, while the stress of the energy goes straight too.
        let change: [f64; 6] = std::array::from_fn(|k| share * (stress[k] - old.stress[k]));
        let h = &old.over[i];
        let moved = std::array::from_fn(|k| (1.0 - branch.decay) * h[k] + (1.0 - branch.grown) * change[k]);
        let lag = std::array::from_fn(|k| (branch.grown - branch.decay) * h[k] + branch.lag() * change[k]);
        let way = std::array::from_fn(|k| strain[k] - old.strain[k]);
        let work = product(old.strain, &moved) + product(&way, &lag);
        let [start, end] = [
            self.of_dashpot(q, share, &old.held(i, share), before),
            self.of_dashpot(
                q,
                share,
                &std::array::from_fn(|k| share * stress[k] - over[k]),
                &viscous,
            ),
        ];
        (viscous, work - (end - start))
    }

    /// With `S = c S_e + H` at the end of the time that has elapsed: the share `c`, and `H`.
    fn carried(&self, past: Point<'_>, elapsed: f64) -> (f64, Mat3) {
        let mut share = self.long_time();
        let mut carried = [0.0; 6];
        for (term, h) in self.terms().iter().zip(past.over) {
            let branch = Branch::after(term.time, elapsed);
            share += term.shear * branch.grown;
            for k in 0..6 {
                carried[k] += branch.decay * h[k] - term.shear * branch.grown * past.stress[k];
            }
        }
        (share, full(&carried))
    }
}

impl Memory for Hyperelastic {
    fn size(&self, count: usize) -> usize {
        count * self.variables()
    }

    fn begin(&self, _space: Space, x: &[f64], internal: &mut [f64]) {
        let points = internal.chunks_exact_mut(self.variables());
        for (q, (f, point)) in x.as_chunks::<9>().0.iter().zip(points).enumerate() {
            let f = matrix(f);
            let strain = green(&f);
            point.fill(0.0);
            point[..6].copy_from_slice(&self.energy_at(q).second(&f));
            point[6..12].copy_from_slice(&strain);
            let viscous = point[12..].as_chunks_mut::<6>().0.iter_mut();
            viscous.skip(self.terms().len()).for_each(|v| *v = strain);
        }
    }

    fn energy(&self, At { x, .. }: At<'_>, internal: &[f64]) -> f64 {
        let points = x.as_chunks::<9>().0.iter().zip(self.volumes()).enumerate();
        let of = |(q, (f, volume)): (usize, (&[f64; 9], &f64))| {
            let (f, point) = (matrix(f), self.of_point(internal, q));
            let (density, strain) = (self.energy_at(q).density(&f), green(&f));
            let mut out = self.long_time() * density;
            for (i, (term, viscous)) in self.terms().iter().zip(point.viscous).enumerate() {
                let held = point.held(i, term.shear);
                let of_dashpot = self.of_dashpot(q, term.shear, &held, viscous);
                out += term.shear * density - product(&held, &strain) + of_dashpot;
            }
            volume * out
        };
        points.map(of).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, past: Past<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<9>().0.iter().zip(self.volumes()).enumerate();
        for (out, (q, (f, volume))) in f.as_chunks_mut::<9>().0.iter_mut().zip(points) {
            let f = matrix(f);
            let (share, carried) = self.carried(self.of_point(past.internal, q), past.elapsed);
            let mut stress = [0.0; 9];
            write_matrix(&(self.energy_at(q).stress(&f) * share + f * carried), &mut stress);
            for (o, s) in out.iter_mut().zip(stress) {
                *o -= volume * s;
            }
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, past: Past<'_>, out: &mut Blocks) {
        let points = x.as_chunks::<9>().0.iter().zip(self.volumes()).enumerate();
        for (q, (f, volume)) in points {
            let (share, carried) = self.carried(self.of_point(past.internal, q), past.elapsed);
            let stress = StressShare {
                share,
                carried: Some(&carried),
            };
            self.write_tangent(q, &matrix(f), stress, *volume, out.block_mut(q));
        }
    }

    fn projected_elements(&self, At { x, .. }: At<'_>, past: Past<'_>) -> usize {
        if self.tangent() == Tangent::Exact {
            return 0;
        }
        let points = x.as_chunks::<9>().0.iter().enumerate();
        let projects = |(q, f): &(usize, &[f64; 9])| {
            let (share, carried) = self.carried(self.of_point(past.internal, *q), past.elapsed);
            let stress = StressShare {
                share,
                carried: Some(&carried),
            };
            self.is_indefinite_at(*q, &matrix(*f), stress)
        };
        points.filter(projects).count()
    }

    /// The dissipated energy is negative where the energy is not convex in the strain, as under a
    /// tension from all sides beyond the shear modulus.
    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        let points = x.as_chunks::<9>().0.iter().zip(self.volumes()).enumerate();
        for (new, (q, (f, volume))) in new.chunks_exact_mut(self.variables()).zip(points) {
            let f = matrix(f);
            let old = self.of_point(past.internal, q);
            let (stress, strain) = (self.energy_at(q).second(&f), green(&f));
            let (ends, branches) = new.as_chunks_mut::<6>().0.split_at_mut(2);
            let (over, viscous) = branches.split_at_mut(self.terms().len());
            for (i, (to, slid)) in over.iter_mut().zip(viscous).enumerate() {
                let term = &self.terms()[i];
                let branch = Branch::after(term.time, past.elapsed);
                for k in 0..6 {
                    let grown = term.shear * branch.grown * (stress[k] - old.stress[k]);
                    to[k] = branch.decay * old.over[i][k] + grown;
                }
                let (strain, taken) = self.slipped(q, i, past.elapsed, &old, [&stress, &strain, to]);
                *slid = strain;
                dissipated += volume * taken;
            }
            (ends[0], ends[1]) = (stress, strain);
        }
        dissipated
    }
}
