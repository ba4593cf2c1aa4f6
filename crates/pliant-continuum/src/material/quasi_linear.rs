//! Quasi-linear viscoelasticity around a hyperelastic energy.

use super::hyperelastic::StressShare;
use super::prony::Branch;
use super::{Hyperelastic, Tangent};
use crate::strain::{matrix, write_matrix};
use pliant_dense::Mat3;
use pliant_model::{At, Blocks, Memory, Past, Space};

/// Numbers of a symmetric matrix: xx, yy, zz, xy, yz, zx.
const PLACES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)];

fn list(m: &Mat3) -> [f64; 6] {
    PLACES.map(|(i, j)| 0.5 * (m[(i, j)] + m[(j, i)]))
}

fn full(s: &[f64; 6]) -> Mat3 {
    let mut out = Mat3::zeros();
    for ((i, j), s) in PLACES.into_iter().zip(s) {
        (out[(i, j)], out[(j, i)]) = (*s, *s);
    }
    out
}

/// Green and Lagrange's strain.
fn green(f: &Mat3) -> [f64; 6] {
    list(&((f.transpose() * f - Mat3::identity()) * 0.5))
}

impl Hyperelastic {
    /// Internal variables of a point: elastic stress and strain, and the stresses `h_i` of the
    /// branches.
    fn variables(&self) -> usize {
        6 * (2 + self.terms().len())
    }

    fn of_point<'a>(&self, internal: &'a [f64], q: usize) -> &'a [[f64; 6]] {
        internal[q * self.variables()..][..self.variables()]
            .as_chunks::<6>()
            .0
    }

    /// The second Piola-Kirchhoff stress of the energy alone.
    fn elastic(&self, q: usize, f: &Mat3) -> [f64; 6] {
        // Not a number where the volume vanishes.
        let inverse = f.try_inverse().unwrap_or(Mat3::repeat(f64::NAN));
        list(&(inverse * self.energy_at(q).stress(f)))
    }

    /// With `S = c S_e + H` at the end of the time that has elapsed: the share `c`, and `H`.
    fn carried(&self, past: &[[f64; 6]], elapsed: f64) -> (f64, Mat3) {
        let mut share = self.long_time();
        let mut carried = [0.0; 6];
        for (term, h) in self.terms().iter().zip(&past[2..]) {
            let branch = Branch::after(term.time, elapsed);
            share += term.shear * branch.grown;
            for k in 0..6 {
                carried[k] += branch.decay * h[k] - term.shear * branch.grown * past[0][k];
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
            point.fill(0.0);
            point[..6].copy_from_slice(&self.elastic(q, &f));
            point[6..12].copy_from_slice(&green(&f));
        }
    }

    /// The energy of the branches is not known of the stress alone: the energy is that of the
    /// long-time stress.
    fn energy(&self, at: At<'_>, _internal: &[f64]) -> f64 {
        pliant_model::ForceField::energy(self, at)
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

    /// The dissipated energy is the work of the branches, which may give some of it back.
    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        let points = x.as_chunks::<9>().0.iter().zip(self.volumes()).enumerate();
        for (new, (q, (f, volume))) in new.chunks_exact_mut(self.variables()).zip(points) {
            let f = matrix(f);
            let old = self.of_point(past.internal, q);
            let (stress, strain) = (self.elastic(q, &f), green(&f));
            let new = new.as_chunks_mut::<6>().0;
            for ((term, h), to) in self.terms().iter().zip(&old[2..]).zip(&mut new[2..]) {
                let branch = Branch::after(term.time, past.elapsed);
                for k in 0..6 {
                    to[k] = branch.decay * h[k] + term.shear * branch.grown * (stress[k] - old[0][k]);
                    let times = if k < 3 { 1.0 } else { 2.0 };
                    dissipated += 0.5 * volume * times * (to[k] + h[k]) * (strain[k] - old[1][k]);
                }
            }
            (new[0], new[1]) = (stress, strain);
        }
        dissipated
    }
}
