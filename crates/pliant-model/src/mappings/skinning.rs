//! Points carried by several bodies at once.

use super::frames::unit_or_nan;
use super::rigid_points::{frame, write_arm_stiffness};
use super::{check_dependency, points};
use crate::validate::{check_all_finite, check_bound, check_not_negative, check_rigid};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::rotation::{conjugate, rotate};
use pliant_dense::{Vec3, skew, vec3};

/// One body's part in a point of [`Skinning`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// The body.
    pub on: Dependency,
    /// Its weight (none), zero or more; the weights of a point are divided by their sum.
    pub weight: f64,
    /// The point in the axes of the body, about its centre of mass (m).
    pub local: [f64; 3],
}

/// Points carried by several bodies at once, each body with a weight (linear blend skinning).
///
/// **Equation.** `x = sum w_i (p_i + R_i r_i)` (m) with `sum w_i = 1` and `r_i` in body axes.
/// `J = w_i (I, -R_i [r_i])` and `G = w_i sym([r_i] [R_i^T f])` on the rotation of each body; the
/// bodies are not coupled.
///
/// **Parents.** Bodies.
///
/// **Use.** Skins and surfaces over jointed bodies, and points on beams made of bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Skinning {
    /// As given.
    points: Vec<Vec<Influence>>,
    /// With weights that add up to one.
    blended: Vec<Vec<Influence>>,
}

impl Skinning {
    /// One point per list of influences.
    pub fn new(points: &[Vec<Influence>]) -> Self {
        let blend = |list: &Vec<Influence>| {
            let sum: f64 = list.iter().map(|i| i.weight).sum();
            let scaled = list.iter().map(|i| Influence {
                weight: i.weight / sum,
                ..*i
            });
            scaled.collect()
        };
        Self {
            points: points.to_vec(),
            blended: points.iter().map(blend).collect(),
        }
    }

    /// Points given by where they are at rest (m), when the bodies are at the given poses. The
    /// weights of each point are pairs of a place in `bodies` and a weight.
    pub fn at_rest(
        points: &[[f64; 3]],
        bodies: &[(Dependency, Pose)],
        weights: &[Vec<(usize, f64)>],
    ) -> Self {
        let influence = |x: &[f64; 3], (body, weight): &(usize, f64)| {
            // A body that does not exist is left for the check to find.
            let Some((on, pose)) = bodies.get(*body) else {
                return Influence {
                    on: Dependency::new(usize::MAX, *body),
                    weight: *weight,
                    local: *x,
                };
            };
            let pose = unit_or_nan(pose);
            let d = Vec3::from(*x) - Vec3::from(pose.position);
            Influence {
                on: *on,
                weight: *weight,
                local: rotate(conjugate(pose.rotation), d).into(),
            }
        };
        // A point without weights, or weights without a point, likewise.
        let count = points.len().max(weights.len());
        let lists: Vec<Vec<Influence>> = (0..count)
            .map(|k| match (points.get(k), weights.get(k)) {
                (Some(x), Some(list)) => list.iter().map(|w| influence(x, w)).collect(),
                _ => Vec::new(),
            })
            .collect();
        Self::new(&lists)
    }
}

impl Mapping for Skinning {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.points.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (element, list) in self.points.iter().enumerate() {
            for (k, i) in list.iter().enumerate() {
                let found = check_dependency(name, i.on, parents)?;
                check_rigid(name, found)?;
                let numbers = i.local.iter().chain([&i.weight]);
                check_all_finite(name, Field::LocalPointsAndWeights, numbers)?;
                check_not_negative(name, Field::Weights, i.weight)?;
                if list[..k].iter().any(|other| other.on == i.on) {
                    let reason = "one of its bodies has two weights";
                    return Err(points::degenerate(name, element, reason));
                }
            }
            let sum: f64 = list.iter().map(|i| i.weight).sum();
            let fits = sum.is_finite() && sum > 1e-300;
            check_bound(name, Field::PointWeightSum, sum, "positive", fits)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.points[element].iter().map(|i| i.on));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, list) in child.as_chunks_mut::<3>().0.iter_mut().zip(&self.blended) {
            let mut sum = Vec3::zeros();
            for i in list {
                let (p, turn) = frame(parents.position(i.on));
                sum += i.weight * (p + turn * Vec3::from(i.local));
            }
            *x = sum.into();
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, list) in self.blended.iter().enumerate() {
            let width = out.width(e);
            let block = out.block_mut(e);
            for (k, i) in list.iter().enumerate() {
                let (_, turn) = frame(parents.position(i.on));
                let arm = -i.weight * turn * skew(i.local.into());
                for row in 0..3 {
                    let part = &mut block[row * width + 6 * k..][..6];
                    part[row] = i.weight;
                    for j in 0..3 {
                        part[3 + j] = arm[(row, j)];
                    }
                }
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (x, list) in child.as_chunks_mut::<3>().0.iter_mut().zip(&self.blended) {
            for i in list {
                let (_, turn) = frame(parents.position(i.on));
                let w = vec3(parents.velocity(i.on), 3);
                let bias = i.weight * turn * w.cross(&w.cross(&Vec3::from(i.local)));
                for k in 0..3 {
                    x[k] += bias[k];
                }
            }
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, list) in self.blended.iter().enumerate() {
            let width = out.width(e);
            for (k, i) in list.iter().enumerate() {
                let (_, turn) = frame(parents.position(i.on));
                let f = i.weight * turn.transpose() * vec3(force, 3 * e);
                write_arm_stiffness(i.local.into(), f, out.block_mut(e), width, 6 * k);
            }
        }
    }
}
