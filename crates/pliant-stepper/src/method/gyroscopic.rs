//! The gyroscopic impulse of spinning bodies, ahead of the linear system.

use crate::{Error, Gyroscopic};
use pliant_dense::{Mat3, Vec3, rotation, skew, vec3};
use pliant_kkt::Scheme;
use pliant_model::{Model, State};

/// The body-axes angular velocity `w*` with `I (w* - w) + h w* x I w* = 0`, by Newton from `w`
/// (theory/step.md of the book). `None` if it does not converge.
pub(crate) fn implicit_spin(inertia: &Mat3, w: Vec3, h: f64) -> Option<Vec3> {
    let scale = (inertia * w).norm();
    let mut x = w;
    for _ in 0..50 {
        let momentum = inertia * x;
        let residual = inertia * (x - w) + h * x.cross(&momentum);
        if residual.norm() <= 1e-15 * scale {
            return Some(x);
        }
        let jacobian = inertia + h * (skew(x) * inertia - skew(momentum));
        let step = jacobian.lu().solve(&residual)?;
        let next = x - step;
        if (next - x).norm() <= 1e-16 * x.norm() {
            return Some(next);
        }
        x = next;
    }
    // Two ulps above the target is as far as rounding lets some cases go.
    let momentum = inertia * x;
    let residual = inertia * (x - w) + h * x.cross(&momentum);
    (residual.norm() <= 1e-13 * scale).then_some(x)
}

/// The body-axes angular velocity `w*` with `exp(h u) I w* = I w`, `u = beta w* + (1 - beta) w`:
/// the angular momentum in space is kept, as the rotation then advances by `h u`. Newton from the
/// body-implicit predictor. `None` if it does not converge.
pub(crate) fn momentum_spin(inertia: &Mat3, w: Vec3, h: f64, beta: f64) -> Option<Vec3> {
    let momentum = inertia * w;
    let mut x = implicit_spin(inertia, w, h)?;
    for _ in 0..50 {
        let advance = h * (beta * x + (1.0 - beta) * w);
        let turn = rotation::exp(advance);
        let turned = rotation::rotate(turn, inertia * x);
        let residual = turned - momentum;
        if residual.norm() <= 4e-16 * momentum.norm() {
            return Some(x);
        }
        // d(exp(h u) I x) = R (h beta (J_r dx) x I x + I dx).
        let right = rotation::inverse_right_jacobian(advance).try_inverse()?;
        let jacobian = rotation::matrix(turn) * (inertia - h * beta * skew(inertia * x) * right);
        let step = jacobian.lu().solve(&residual)?;
        let next = x - step;
        if (next - x).norm() <= 1e-16 * x.norm() {
            return Some(next);
        }
        x = next;
    }
    let advance = h * (beta * x + (1.0 - beta) * w);
    let residual = rotation::rotate(rotation::exp(advance), inertia * x) - momentum;
    (residual.norm() <= 1e-14 * momentum.norm()).then_some(x)
}

/// An independent rigid body.
struct Body<'a> {
    node: &'a str,
    element: usize,
    inertia: Mat3,
    /// Its first angular coordinate.
    first: usize,
    /// Its angular velocity (rad/s), in body axes.
    spin: Vec3,
}

/// The independent rigid bodies of a model at a state.
fn bodies<'a>(model: &'a Model, state: &'a State) -> impl Iterator<Item = Body<'a>> {
    model.masses().iter().flat_map(move |attachment| {
        let node = model.node(attachment.node);
        let elements = 0..node.first_dof().map_or(0, |_| node.count);
        let first = node.first_dof().unwrap_or(0);
        elements.map_while(move |element| {
            let rigid = attachment.component.rigid(element)?;
            Some(Body {
                node: &node.name,
                element,
                inertia: rigid.inertia_matrix(),
                first: first + 6 * element + 3,
                spin: vec3(&state.velocities[node.velocity_range()], 6 * element + 3),
            })
        })
    })
}

/// Adds `-s B dv` with `B = [w] I - [I w]` of every independent body to the right-hand side: the
/// gyroscopic torque's change over a step in which the velocities change by `dv`.
pub(crate) fn add_linearised(model: &Model, state: &State, s: f64, dv: &[f64], rhs: &mut [f64]) {
    for body in bodies(model, state) {
        let (inertia, w) = (body.inertia, body.spin);
        let change = vec3(dv, body.first);
        let torque = w.cross(&(inertia * change)) + change.cross(&(inertia * w));
        for k in 0..3 {
            rhs[body.first + k] -= s * torque[k];
        }
    }
}

/// Writes the gyroscopic impulses of all bodies into the independent coordinates.
pub(crate) fn impulses(
    model: &Model,
    state: &State,
    mode: Gyroscopic,
    scheme: &Scheme,
    time: f64,
    out: &mut [f64],
) -> Result<(), Error> {
    let (h, beta) = (scheme.h, scheme.beta);
    out.fill(0.0);
    if mode == Gyroscopic::None {
        return Ok(());
    }
    for body in bodies(model, state) {
        let (inertia, w) = (body.inertia, body.spin);
        if w == Vec3::zeros() {
            continue;
        }
        let impulse = match mode {
            Gyroscopic::BodyPredictor | Gyroscopic::Momentum => {
                let spin = if mode == Gyroscopic::Momentum {
                    momentum_spin(&inertia, w, h, beta)
                } else {
                    implicit_spin(&inertia, w, h)
                };
                let spin = spin.ok_or_else(|| Error::Gyroscopic {
                    what: format!("`{}`, element {}", body.node, body.element),
                    time,
                })?;
                inertia * (spin - w)
            }
            _ => -h * w.cross(&(inertia * w)),
        };
        for k in 0..3 {
            out[body.first + k] += impulse[k];
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_body_implicit_step_of_c01() {
        let inertia = Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 3.0));
        let found = implicit_spin(&inertia, Vec3::new(1.2, 0.5, 1.0), 0.1).unwrap();
        let expected = Vec3::new(1.140282882113438, 0.6113784820589029, 0.9767618527471912);
        assert!((found - expected).norm() < 1e-13, "{found}");
    }
}
