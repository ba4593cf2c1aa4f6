//! Linear viscoelasticity on strains.

use super::prony::Branch;
use super::{PronySeries, STRAINS, check_points, isotropic, shear_and_bulk};
use crate::checks::check_range;
use pliant_model::validate::check_positive;
use pliant_model::{At, Blocks, Field, ForceField, Memory, ModelError, NotInvertible, Past, Space};

/// Linear viscoelasticity on strains: isotropic, shear and bulk moduli that fall off by a Prony
/// series.
///
/// **Equation.** `sigma = D e - sum_i D_i (e - a_i)` (Pa), `da_i/dt = de/dt - a_i/tau_i` on six
/// strains with shears as angles: the isotropic moduli `D` of fast strains, `D_i` with the shares
/// `g_i G`, `k_i K` of a [`PronySeries`], `a_i` the strain of the spring of branch `i`. Over a step
/// the strain goes straight, for which the recurrence is exact:
/// `a_i+ = exp(-h/tau) a_i + (1 - exp(-h/tau)) tau/h (e+ - e)`. Energy
/// `V/2 (e . D_oo e + sum a_i . D_i a_i)` with the volume `V` (m^3) of the point. Remembered are
/// `e`, then the `a_i`: six numbers each.
///
/// **Use.** Polymers, tissue and bitumen at small strains: relaxation, creep, damping that depends
/// on the frequency. On [`CorotationalStrain`](crate::CorotationalStrain) at any rotation, on
/// [`GreenLagrange`](crate::GreenLagrange) quasi-linear viscoelasticity of St Venant and
/// Kirchhoff's material. Statics has the moduli `D_oo` that never relax. As a stiffness; not in
/// explicit methods and RATTLE.
#[derive(Clone, Debug, PartialEq)]
pub struct Viscoelastic {
    shear: f64,
    bulk: f64,
    series: PronySeries,
    volumes: Vec<f64>,
    /// Whether the law leaves the change of volume to volume rows.
    deviatoric: bool,
}

impl Viscoelastic {
    /// Instantaneous Young's modulus (Pa) and Poisson's ratio (none) above -1 and below 1/2, how
    /// they relax, and the volume (m^3) of each point.
    pub fn isotropic(young: f64, poisson: f64, series: PronySeries, volumes: &[f64]) -> Self {
        let (shear, bulk) = shear_and_bulk(young, poisson);
        Self {
            shear,
            bulk,
            series,
            volumes: volumes.to_vec(),
            deviatoric: false,
        }
    }

    /// The change of shape alone: instantaneous shear modulus (Pa), how it relaxes (shares of bulk
    /// must be zero), and the volume (m^3) of each point. It leaves the volume to others.
    pub fn deviatoric(shear: f64, series: PronySeries, volumes: &[f64]) -> Self {
        Self {
            shear,
            bulk: 0.0,
            series,
            volumes: volumes.to_vec(),
            deviatoric: true,
        }
    }

    /// Adds a bulk modulus (Pa) at the points, beside that of volume rows.
    #[must_use]
    pub(crate) fn with_pointwise_bulk(mut self, bulk: f64) -> Self {
        self.bulk = bulk;
        self
    }

    /// How it relaxes.
    pub fn series(&self) -> &PronySeries {
        &self.series
    }

    /// Stress (Pa) of each point at these strains (none), six numbers each, reached over the time
    /// that has elapsed.
    pub fn stresses(&self, strains: &[f64], past: Past<'_>) -> Vec<f64> {
        let points = strains.as_chunks::<6>().0.iter().enumerate();
        points
            .flat_map(|(q, e)| self.stress(e, self.of_point(past.internal, q), past.elapsed))
            .collect()
    }

    /// Internal variables of a point: its strain, and those of the springs.
    fn variables(&self) -> usize {
        6 * (1 + self.series.terms().len())
    }

    fn of_point<'a>(&self, internal: &'a [f64], q: usize) -> &'a [[f64; 6]] {
        internal[q * self.variables()..][..self.variables()]
            .as_chunks::<6>()
            .0
    }

    fn moduli(&self, shares: [f64; 2]) -> [[f64; 6]; 6] {
        isotropic(shares[0] * self.shear, shares[1] * self.bulk)
    }

    /// The moduli `D_i` of each branch with its strain `a_i` after a time.
    fn branches<'a>(
        &'a self,
        e: &'a [f64; 6],
        past: &'a [[f64; 6]],
        elapsed: f64,
    ) -> impl Iterator<Item = ([[f64; 6]; 6], [f64; 6])> + 'a {
        self.series.terms().iter().zip(&past[1..]).map(move |(term, a)| {
            let branch = Branch::after(term.time, elapsed);
            let strain = std::array::from_fn(|k| branch.decay * a[k] + branch.grown * (e[k] - past[0][k]));
            (self.moduli([term.shear, term.bulk]), strain)
        })
    }

    fn stress(&self, e: &[f64; 6], past: &[[f64; 6]], elapsed: f64) -> [f64; 6] {
        let mut out = times(&self.moduli(self.series.long_time()), e);
        for (d, a) in self.branches(e, past, elapsed) {
            for (o, s) in out.iter_mut().zip(times(&d, &a)) {
                *o += s;
            }
        }
        out
    }
}

fn times(d: &[[f64; 6]; 6], e: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|i| (0..6).map(|j| d[i][j] * e[j]).sum())
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl ForceField for Viscoelastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_points(name, STRAINS, space, &self.volumes, count)?;
        check_positive(name, Field::ShearModulus, self.shear)?;
        let bulk = self.bulk;
        let holds = bulk > 0.0 || self.deviatoric && bulk == 0.0;
        check_range(
            name,
            Field::BulkModulus,
            bulk,
            holds,
            "positive (Poisson's ratio above -1 and below 1/2)",
        )?;
        for term in self.series.terms().iter().filter(|_| self.deviatoric) {
            let field = Field::BulkShares;
            let bound = "zero, for the volume is left to others";
            check_range(name, field, term.bulk, term.bulk == 0.0, bound)?;
        }
        self.series.check(name)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let d = self.moduli(self.series.long_time());
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes);
        points.map(|(e, v)| 0.5 * v * dot(e, &times(&d, e))).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        let d = self.moduli(self.series.long_time());
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes);
        for (f, (e, v)) in f.as_chunks_mut::<6>().0.iter_mut().zip(points) {
            for (f, s) in f.iter_mut().zip(times(&d, e)) {
                *f -= v * s;
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        self.write(self.series.long_time(), out);
        Ok(())
    }

    fn is_damped(&self) -> bool {
        false
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }
}

impl Viscoelastic {
    fn write(&self, shares: [f64; 2], out: &mut Blocks) {
        let d = self.moduli(shares);
        for (q, v) in self.volumes.iter().enumerate() {
            for (o, d) in out.block_mut(q).iter_mut().zip(d.as_flattened()) {
                *o += v * d;
            }
        }
    }
}

impl Memory for Viscoelastic {
    fn size(&self, count: usize) -> usize {
        count * self.variables()
    }

    fn begin(&self, _space: Space, x: &[f64], internal: &mut [f64]) {
        let points = internal.chunks_exact_mut(self.variables());
        for (e, point) in x.as_chunks::<6>().0.iter().zip(points) {
            point.fill(0.0);
            point[..6].copy_from_slice(e);
        }
    }

    fn energy(&self, at: At<'_>, internal: &[f64]) -> f64 {
        let mut out = ForceField::energy(self, at);
        for (q, (e, v)) in at.x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate() {
            for (d, a) in self.branches(e, self.of_point(internal, q), 0.0) {
                out += 0.5 * v * dot(&a, &times(&d, &a));
            }
        }
        out
    }

    fn add_force(&self, At { x, .. }: At<'_>, past: Past<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate();
        for (f, (q, (e, v))) in f.as_chunks_mut::<6>().0.iter_mut().zip(points) {
            let stress = self.stress(e, self.of_point(past.internal, q), past.elapsed);
            for (f, s) in f.iter_mut().zip(stress) {
                *f -= v * s;
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, past: Past<'_>, out: &mut Blocks) {
        self.write(self.series.shares_after(past.elapsed), out);
    }

    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        let points = x.as_chunks::<6>().0.iter().zip(&self.volumes).enumerate();
        for (new, (q, (e, v))) in new.chunks_exact_mut(self.variables()).zip(points) {
            let old = self.of_point(past.internal, q);
            let (strain, branches) = new.split_at_mut(6);
            let change: [f64; 6] = std::array::from_fn(|k| e[k] - old[0][k]);
            let moved = self.branches(e, old, past.elapsed);
            let terms = self.series.terms().iter().zip(&old[1..]);
            for ((to, (d, a)), (term, before)) in
                branches.as_chunks_mut::<6>().0.iter_mut().zip(moved).zip(terms)
            {
                let (of_old, of_change) = (times(&d, before), times(&d, &change));
                let products = [
                    dot(before, &of_old),
                    dot(&change, &of_old),
                    dot(&change, &of_change),
                ];
                dissipated += v * Branch::after(term.time, past.elapsed).dissipated(products);
                *to = a;
            }
            strain.copy_from_slice(e);
        }
        dissipated
    }
}
