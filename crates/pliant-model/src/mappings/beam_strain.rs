//! Strains of beam segments between bodies.

use super::frames::{JointFrame, check_frames, frame_dependencies, relative_pose, unit_or_nan};
use super::joint_axis::add_through_log;
use super::relative_chord::RelativeMotion;
use super::relative_motion::{Relative, Slopes, curvatures, last3, nearest_log, row_mut};
use crate::validate::{check_all_finite, check_bound, check_finite};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::rotation::{
    conjugate, exp, inverse_right_jacobian, log, matrix, rotate, turned_derivative, turned_hessian,
};
use pliant_dense::{Mat3, Vec3, vec3};

/// A piece of beam between two frames, and its shape without load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSegment {
    /// The frame at its beginning.
    pub a: JointFrame,
    /// The frame at its end.
    pub b: JointFrame,
    /// Length at rest (m).
    pub length: f64,
    /// The vector from begin to end at rest, over the length (none), in the axes half way between
    /// the frames: `(1, 0, 0)` for a straight beam along the axes 0.
    pub rest_stretch: [f64; 3],
    /// Curvature at rest, the rotation vector from A to B over the length (1/m).
    pub rest_curvature: [f64; 3],
}

impl BeamSegment {
    /// A straight segment of `length` (m) along axis 0 of its frames, whose axes agree at rest.
    pub const fn straight(a: JointFrame, b: JointFrame, length: f64) -> Self {
        Self {
            a,
            b,
            length,
            rest_stretch: [1.0, 0.0, 0.0],
            rest_curvature: [0.0; 3],
        }
    }

    /// A segment without strain when its bodies are at these poses (m), of any shape. For a frame
    /// of the world the pose does not matter.
    pub fn at_rest(a: JointFrame, b: JointFrame, body_a: &Pose, body_b: &Pose) -> Self {
        let pose = relative_pose(&a.at(&unit_or_nan(body_a)), &b.at(&unit_or_nan(body_b)));
        let (t, r) = (Vec3::from(pose.position), log(pose.rotation));
        let length = t.norm();
        Self {
            a,
            b,
            length,
            rest_stretch: (half_back(r, t) / length).into(),
            rest_curvature: (r / length).into(),
        }
    }
}

/// `exp(-r/2) t`.
fn half_back(r: Vec3, t: Vec3) -> Vec3 {
    rotate(conjugate(exp(0.5 * r)), t)
}

/// Strains of beam segments between bodies: stretch and two shears (-), then twist and two bends
/// (1/m), six per segment.
///
/// **Equation.** With `t = R_A^T (p_B - p_A)`, `r = log(R_A^T R_B)` and the rotation half way,
/// `R_m = R_A exp(r/2)`: stretch and shear `R_m^T (p_B - p_A)/L - gamma_rest = exp(-r/2) t/L -
/// gamma_rest`, curvature `r/L - kappa_rest`. A rigid motion of both bodies leaves them as they
/// are. `J` and `G` are those of `t` and `r`, chained through the half rotation; `r` is followed up
/// to a full turn.
///
/// **Parents.** Bodies, and frames of the world.
///
/// **Use.** Geometrically exact beams and cables with bending and twist: the strains times the
/// stiffness of the section times the length are the energy's derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamStrain {
    segments: Vec<BeamSegment>,
}

impl BeamStrain {
    /// One element of six strains per segment.
    pub fn new(segments: &[BeamSegment]) -> Self {
        Self {
            segments: segments.to_vec(),
        }
    }

    /// The motion and its rotation vector, nearest to that of the last curvature.
    fn at(&self, e: usize, parents: &Parents<'_>, last: Vec3) -> Result<(Relative, Vec3), Degenerate> {
        let s = &self.segments[e];
        let relative = Relative::new(&s.a, &s.b, parents);
        let last = (last + Vec3::from(s.rest_curvature)) * s.length;
        let r = nearest_log(relative.c, last, Vec3::repeat(1.0))
            .map_err(|reason| Degenerate { element: e, reason })?;
        Ok((relative, r))
    }

    /// The motion, and the derivatives of `force` times the strains of an element.
    fn slopes(&self, e: usize, parents: &Parents<'_>, force: &[f64]) -> Option<(Relative, Slopes)> {
        let (relative, r) = self.at(e, parents, last3(parents.child(), 6 * e + 3)).ok()?;
        let over = 1.0 / self.segments[e].length;
        let (f, angular, half) = (over * vec3(force, 0), over * vec3(force, 3), 0.5 * r);
        // f . exp(-r/2) t = t . exp(r/2) f.
        let mixed: Mat3 = 0.5 * turned_derivative(half, f);
        let mut slopes = Slopes::zero();
        slopes.tau = rotate(exp(half), f);
        add_through_log(
            r,
            angular + mixed.transpose() * relative.t,
            &mixed,
            &(0.25 * turned_hessian(half, f, relative.t)),
            &mut slopes,
        );
        Some((relative, slopes))
    }
}

impl Mapping for BeamStrain {
    fn child(&self) -> (Space, usize) {
        (Space::Real(6), self.segments.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (e, s) in self.segments.iter().enumerate() {
            check_frames(name, e, [&s.a, &s.b], parents)?;
            let at = |error: ModelError| error.at(e, self.segments.len());
            if s.length.is_nan() {
                check_finite(name, Field::SegmentLengths, s.length).map_err(at)?;
            }
            let fits = s.length.is_finite() && s.length > 0.0;
            check_bound(name, Field::SegmentLengths, s.length, "positive", fits).map_err(at)?;
            let rest = s.rest_stretch.iter().chain(&s.rest_curvature);
            check_all_finite(name, Field::RestStrains, rest)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        frame_dependencies(&self.segments[element].a, &self.segments[element].b, out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.as_chunks_mut::<6>().0.iter_mut().enumerate() {
            let s = &self.segments[e];
            let (relative, r) = self.at(e, &parents, vec3(x, 3))?;
            let stretch = half_back(r, relative.t) / s.length - Vec3::from(s.rest_stretch);
            let curvature = r / s.length - Vec3::from(s.rest_curvature);
            x[..3].copy_from_slice(stretch.as_slice());
            x[3..].copy_from_slice(curvature.as_slice());
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.segments.len() {
            let (relative, r) = self.at(e, &parents, last3(parents.child(), 6 * e + 3))?;
            let over = 1.0 / self.segments[e].length;
            let by_u = over * inverse_right_jacobian(r);
            let half = matrix(exp(0.5 * r));
            // exp(-k) t is exp(k) t with k turned round.
            let stretch = -0.5 * turned_derivative(-0.5 * r, relative.t) * by_u;
            for i in 0..3 {
                let (tau, u) = (over * half.column(i), stretch.row(i).transpose());
                relative.write_row(tau, u, row_mut(out, e, i));
                relative.write_row(Vec3::zeros(), by_u.row(i).transpose(), row_mut(out, e, 3 + i));
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.as_chunks_mut::<6>().0.iter_mut().enumerate() {
            let Ok((relative, r)) = self.at(e, &parents, last3(parents.child(), 6 * e + 3)) else {
                continue;
            };
            let s = &self.segments[e];
            let rates = relative.rates(&s.a, &s.b, &parents);
            let (rate, second) = rates.of_log(r);
            // Of exp(k) t with k = -r/2, a product.
            let (k, k1, k2) = (-0.5 * r, -0.5 * rate, -0.5 * second);
            let stretch = rotate(exp(k), rates.tau2)
                + 2.0 * turned_derivative(k, rates.tau) * k1
                + turned_derivative(k, relative.t) * k2
                + curvatures(k1, |f| turned_hessian(k, relative.t, f));
            for i in 0..3 {
                x[i] += stretch[i] / s.length;
                x[3 + i] += second[i] / s.length;
            }
        }
        true
    }

    fn relative_motion(&self) -> Option<&dyn RelativeMotion> {
        Some(self)
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.as_chunks::<6>().0.iter().enumerate() {
            let Some((relative, slopes)) = self.slopes(e, &parents, f) else {
                continue;
            };
            let width = out.width(e);
            relative.add_hessian(&slopes, out.block_mut(e), width);
        }
    }
}

impl RelativeMotion for BeamStrain {
    fn frames(&self, element: usize) -> [JointFrame; 2] {
        [self.segments[element].a, self.segments[element].b]
    }

    fn gradient(&self, element: usize, parents: &Parents<'_>, force: &[f64]) -> Option<[[f64; 3]; 2]> {
        self.slopes(element, parents, force)
            .map(|(_, slopes)| slopes.gradient())
    }
}
