//! How much a chain of three points turns: as an angle, and as a vector that is smooth at the
//! straight chain.

use super::{End, points};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3, skew, vec3};

const SHORT: &str = "a segment has length zero, so that it has no direction";

/// Angles between segments that follow each other, less rest angles.
///
/// **Equation.** `x_c = angle(b - a, c - b) - rest` (rad) for each chain `(a, b, c)`, the angle in
/// `[0, pi]`, zero when straight. With lengths `l1, l2`, directions `t1, t2`, their unit normal
/// `n = t1 x t2/sin` and `m = n x t`: the gradient is `-m1/l1` on the first segment and `m2/l2` on
/// the second; the Hessian `(t1 m1^T + m1 t1^T + cot n n^T)/l1^2`,
/// `(-t2 m2^T - m2 t2^T + cot n n^T)/l2^2` and between them `-n n^T/(l1 l2 sin)`. Not defined if a
/// segment has length zero, nor when exactly straight or folded, where the angle has a kink: for
/// chains that are straight at rest take [`CurvatureBinormal`].
///
/// **Parents.** Points of space or the plane.
///
/// **Use.** Bending springs of chains that are bent at rest, bond angles, limits of joints made of
/// particles.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentAngle {
    dimension: usize,
    chains: Vec<[End; 3]>,
    rests: Vec<f64>,
}

/// Lengths, directions, unit normal, sine and cosine.
struct Bend {
    lengths: [f64; 2],
    along: [Vec3; 2],
    normal: Vec3,
    sine: f64,
    cosine: f64,
}

impl SegmentAngle {
    /// The angle of each chain `(a, b, c)` of ends (elements, or fixed points in m), in space, rest
    /// angles zero.
    pub fn new(chains: &[[End; 3]]) -> Self {
        Self {
            dimension: 3,
            chains: chains.to_vec(),
            rests: vec![0.0; chains.len()],
        }
    }

    /// Chains of elements of the only parent.
    pub fn between(chains: &[[usize; 3]]) -> Self {
        Self::new(&points::elements(chains))
    }

    /// Sets the rest angle (rad, zero or more) of each chain; a list of one serves all.
    #[must_use]
    pub fn with_rest_angles(mut self, rests: &[f64]) -> Self {
        self.rests = points::one_or_each(rests, self.chains.len());
        self
    }

    /// Angles between points of the plane, which have no sign either.
    #[must_use]
    pub fn in_plane(mut self) -> Self {
        self.dimension = 2;
        self
    }

    fn at(&self, e: usize, parents: &Parents<'_>) -> Result<Bend, Degenerate> {
        let fail = |reason| Degenerate { element: e, reason };
        let [e1, e2] = points::vectors(&points::CHAIN, &self.chains[e], parents, self.dimension);
        let (Some((l1, t1)), Some((l2, t2))) = (points::direction(e1), points::direction(e2)) else {
            return Err(fail(SHORT));
        };
        let (cross, cosine) = (t1.cross(&t2), t1.dot(&t2));
        let sine = cross.norm();
        if sine <= points::PARALLEL {
            return Err(fail(if cosine > 0.0 {
                "its segments are in line, where the angle has a kink"
            } else {
                "its segments are folded onto each other, where the angle has a kink"
            }));
        }
        Ok(Bend {
            lengths: [l1, l2],
            along: [t1, t2],
            normal: cross / sine,
            sine,
            cosine,
        })
    }
}

impl Mapping for SegmentAngle {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.chains.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_list(
            name,
            Field::RestAngles,
            "rest angles",
            &self.rests,
            self.chains.len(),
        )?;
        points::check_not_negative(name, Field::RestAngles, &self.rests)?;
        points::check_ends(name, &self.chains, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.chains[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let bend = self.at(e, &parents)?;
            *x = bend.sine.atan2(bend.cosine) - self.rests[e];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.chains.iter().enumerate() {
            let bend = self.at(e, &parents)?;
            let g = [0, 1].map(|k| bend.normal.cross(&bend.along[k]) / bend.lengths[k]);
            points::write_row(
                &points::CHAIN,
                ends,
                self.dimension,
                &[-g[0], g[1]],
                out.block_mut(e),
            );
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.chains.iter().enumerate() {
            let Ok(bend) = self.at(e, &parents) else {
                continue;
            };
            let [l1, l2] = bend.lengths;
            let nn = bend.normal * bend.normal.transpose();
            let [s1, s2] = bend
                .along
                .map(|t| points::twice_symmetric(t, bend.normal.cross(&t)));
            let out_of_plane = nn * (bend.cosine / bend.sine);
            let f = force[e];
            let h11 = (out_of_plane + s1) * (f / (l1 * l1));
            let h22 = (out_of_plane - s2) * (f / (l2 * l2));
            let h12 = nn * (-f / (l1 * l2 * bend.sine));
            points::write_hessian(
                &points::CHAIN,
                ends,
                self.dimension,
                &[[h11, h12], [h12, h22]],
                out.block_mut(e),
            );
        }
    }
}

/// Curvature binormals of chains of three points: vectors along the axis of bending.
///
/// **Equation.** `x_c = k = 2 t1 x t2/(1 + t1.t2)` (no unit) for each chain `(a, b, c)` with the
/// directions `t1` of `b - a` and `t2` of `c - b`; its norm is `2 tan(angle/2)`. With
/// `chi = 1 + t1.t2` and `tau = (t1 + t2)/chi`, `J = (-2 [t2]/chi - k tau^T)/l1` on the first
/// segment and `(2 [t1]/chi - k tau^T)/l2` on the second. With `A1, A2` the products of `f` and
/// these, less their `1/l`, `G` is `-(A1 tau^T + tau A1^T) - (f.k)(I - t1 t1^T)/chi` over `l1^2`,
/// the like over `l2^2`, and `-2 [f]/chi - (A1 tau^T + tau A2^T) - (f.k)(I + t1 t2^T)/chi` over
/// `l1 l2`. Smooth at the straight chain, where it is zero; not defined when fully folded or if a
/// segment has length zero.
///
/// **Parents.** Points of space.
///
/// **Use.** Bending of discrete elastic rods (Bergou et al. 2008), chains and cables that are
/// straight at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvatureBinormal {
    chains: Vec<[End; 3]>,
}

/// Lengths, directions, `chi`, `tau` and the binormal.
struct Curvature {
    lengths: [f64; 2],
    along: [Vec3; 2],
    chi: f64,
    tau: Vec3,
    binormal: Vec3,
}

impl Curvature {
    /// `J` on the two segments, times their lengths.
    fn jacobian(&self) -> [Mat3; 2] {
        let [t1, t2] = self.along.map(|t| skew(t) * (2.0 / self.chi));
        let common = self.binormal * self.tau.transpose();
        [-t2 - common, t1 - common]
    }
}

impl CurvatureBinormal {
    /// The binormal of each chain `(a, b, c)` of ends (elements, or fixed points in m), in space.
    pub fn new(chains: &[[End; 3]]) -> Self {
        Self {
            chains: chains.to_vec(),
        }
    }

    /// Chains of elements of the only parent.
    pub fn between(chains: &[[usize; 3]]) -> Self {
        Self::new(&points::elements(chains))
    }

    fn at(&self, e: usize, parents: &Parents<'_>) -> Result<Curvature, Degenerate> {
        let fail = |reason| Degenerate { element: e, reason };
        let [e1, e2] = points::vectors(&points::CHAIN, &self.chains[e], parents, 3);
        let (Some((l1, t1)), Some((l2, t2))) = (points::direction(e1), points::direction(e2)) else {
            return Err(fail(SHORT));
        };
        let sum = t1 + t2;
        if sum.norm() <= points::PARALLEL {
            return Err(fail(
                "its segments are folded onto each other, where the curvature is infinite",
            ));
        }
        // 1 + t1.t2 without its cancellation near the fold.
        let chi = 0.5 * sum.norm_squared();
        Ok(Curvature {
            lengths: [l1, l2],
            along: [t1, t2],
            chi,
            tau: sum / chi,
            binormal: t1.cross(&t2) * (2.0 / chi),
        })
    }
}

impl Mapping for CurvatureBinormal {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.chains.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_ends(name, &self.chains, 3, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.chains[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *x = self.at(e, &parents)?.binormal.into();
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.chains.iter().enumerate() {
            let curve = self.at(e, &parents)?;
            let [j1, j2] = curve.jacobian();
            let [l1, l2] = curve.lengths;
            let width = out.width(e);
            for (i, row) in out.block_mut(e).chunks_exact_mut(width).enumerate() {
                let gradient = [j1.row(i).transpose() / l1, j2.row(i).transpose() / l2];
                points::write_row(&points::CHAIN, ends, 3, &gradient, row);
            }
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.chains.iter().enumerate() {
            let Ok(curve) = self.at(e, &parents) else {
                continue;
            };
            let f = vec3(force, 3 * e);
            let a = curve.jacobian().map(|j| j.transpose() * f);
            let value = f.dot(&curve.binormal) / curve.chi;
            let ([l1, l2], [t1, t2], tau) = (curve.lengths, curve.along, curve.tau);
            let one = Mat3::identity();
            let own = |a: Vec3, t: Vec3, l: f64| {
                (points::twice_symmetric(a, tau) + (one - t * t.transpose()) * value) * (-1.0 / (l * l))
            };
            let mixed = skew(f) * (2.0 / curve.chi)
                + a[0] * tau.transpose()
                + tau * a[1].transpose()
                + (one + t1 * t2.transpose()) * value;
            let mixed = mixed * (-1.0 / (l1 * l2));
            points::write_hessian(
                &points::CHAIN,
                ends,
                3,
                &[[own(a[0], t1, l1), mixed], [mixed.transpose(), own(a[1], t2, l2)]],
                out.block_mut(e),
            );
        }
    }
}
