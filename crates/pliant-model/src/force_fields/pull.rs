//! A spring that is fastened and let go while a model is simulated.

use crate::validate::{check_all_finite, check_bound, check_not_negative, check_size, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, Space};
use pliant_dense::{Mat3, Vec3, rotation, skew, vec3};

/// Places of the inputs.
const STIFFNESS: usize = 1;
const DAMPING: usize = 2;
const TARGET: usize = 3;
const POINT: usize = 6;
const INPUTS: usize = 9;

/// A spring with a dashpot between a point of one element of a node and a place in the world.
///
/// **Equation.** Energy `V = k |y - p|^2/2` for the point at `y`, force `-k (y - p) - c v` at it for
/// its velocity `v`: `y = x` for a node of points, `y = x + R r` for a body at `x` of rotation `R`,
/// which has the torque `r x R^T f` in body axes. The inputs are the element, the stiffness `k`
/// (N/m), the damping `c` (N s/m), the place `p` (m, three numbers) and the point `r` in body axes
/// (m, three numbers; without meaning for points).
///
/// **Use.** Pulling at something by hand, or by a controller, that is chosen while the model is
/// simulated; while `k` and `c` are zero, as at first, nothing acts. On a mapped node it couples
/// all that each element is mapped from.
#[derive(Clone, Debug, PartialEq)]
pub struct Pull {
    count: usize,
    inputs: [f64; INPUTS],
}

/// The spring that acts at a state, and where it is fastened.
struct Acting {
    element: usize,
    stiffness: f64,
    damping: f64,
    /// From the place to the point (m).
    away: Vec3,
    /// Velocity of the point (m/s).
    velocity: Vec3,
    /// Rotation of the body, and the point in its axes; of a point none.
    body: Option<(Mat3, Vec3)>,
}

impl Acting {
    /// Writes `a J^T J` for the Jacobian `J` of the point by the coordinates of the element.
    fn write(&self, a: f64, out: &mut Blocks) {
        let jacobian: Vec<Mat3> = match self.body {
            None => vec![Mat3::identity()],
            Some((turn, arm)) => vec![Mat3::identity(), -turn * skew(arm)],
        };
        let n = 3 * jacobian.len();
        let block = out.block_mut(self.element);
        for (i, row) in jacobian.iter().enumerate() {
            for (j, column) in jacobian.iter().enumerate() {
                let product = row.transpose() * column;
                for k in 0..9 {
                    block[(3 * i + k / 3) * n + 3 * j + k % 3] += a * product[(k / 3, k % 3)];
                }
            }
        }
    }
}

impl Pull {
    /// On a node of so many points or bodies; nothing acts before its inputs are set.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            inputs: [0.0; INPUTS],
        }
    }

    /// Inputs at which it acts on this element: stiffness (N/m) and damping (N s/m), the place that
    /// it pulls to (m) and the point in body axes (m).
    pub fn acting_on(
        element: usize,
        [stiffness, damping]: [f64; 2],
        place: [f64; 3],
        point: [f64; 3],
    ) -> [f64; INPUTS] {
        let ([x, y, z], [a, b, c]) = (place, point);
        [element as f64, stiffness, damping, x, y, z, a, b, c]
    }

    /// Starts with these inputs.
    #[must_use]
    pub fn with_inputs(mut self, inputs: [f64; INPUTS]) -> Self {
        self.inputs = inputs;
        self
    }

    /// Where a point of the first element of these positions is (m): of a body the point in its
    /// axes, of a point itself.
    pub fn point_at(space: Space, x: &[f64], point: [f64; 3]) -> [f64; 3] {
        let at = vec3(x, 0);
        let place = match space {
            Space::Rigid3 => at + rotation::rotate([x[3], x[4], x[5], x[6]], point.into()),
            Space::Real(_) => at,
        };
        place.into()
    }

    fn acting(At { space, x, v, inputs }: At<'_>) -> Option<Acting> {
        let [stiffness, damping] = [inputs[STIFFNESS], inputs[DAMPING]];
        if stiffness == 0.0 && damping == 0.0 {
            return None;
        }
        let element = inputs[0] as usize;
        let x = &x[element * space.position_size()..];
        // They may be left out where nothing depends on them.
        let v = v.get(element * space.velocity_size()..).filter(|v| !v.is_empty());
        let [mut at, mut velocity] = [vec3(x, 0), v.map_or_else(Vec3::zeros, |v| vec3(v, 0))];
        let mut body = None;
        if space == Space::Rigid3 {
            let turn = rotation::matrix([x[3], x[4], x[5], x[6]]);
            let arm = vec3(inputs, POINT);
            at += turn * arm;
            velocity += v.map_or_else(Vec3::zeros, |v| turn * vec3(v, 3).cross(&arm));
            body = Some((turn, arm));
        }
        Some(Acting {
            element,
            stiffness,
            damping,
            away: at - vec3(inputs, TARGET),
            velocity,
            body,
        })
    }
}

impl ForceField for Pull {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        let fits = space == Space::Rigid3 || space == Space::Real(3);
        check_space(name, "points or rigid bodies", space, fits)?;
        check_size(name, Field::Points, "elements", count, self.count)
    }

    fn energy(&self, at: At<'_>) -> f64 {
        Self::acting(at).map_or(0.0, |a| 0.5 * a.stiffness * a.away.norm_squared())
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        let Some(acting) = Self::acting(at) else {
            return;
        };
        let force = -(acting.stiffness * acting.away + acting.damping * acting.velocity);
        let f = &mut f[acting.element * at.space.velocity_size()..];
        for k in 0..3 {
            f[k] += force[k];
        }
        if let Some((turn, arm)) = acting.body {
            let torque = arm.cross(&(turn.transpose() * force));
            for k in 0..3 {
                f[3 + k] += torque[k];
            }
        }
    }

    fn stiffness(&self, at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        let Some(acting) = Self::acting(at) else {
            return Ok(());
        };
        acting.write(acting.stiffness, out);
        if let Some((turn, arm)) = acting.body {
            // The point curves as the body turns: the symmetric part of the derivative of the torque
            // of a force that stays as it is.
            let away = turn.transpose() * acting.away;
            let curved =
                0.5 * (away * arm.transpose() + arm * away.transpose()) - Mat3::identity() * away.dot(&arm);
            let block = out.block_mut(acting.element);
            for k in 0..9 {
                let (i, j) = (k / 3, k % 3);
                block[(3 + i) * 6 + 3 + j] += acting.stiffness * curved[(i, j)];
            }
        }
        Ok(())
    }

    fn damping(&self, at: At<'_>, out: &mut Blocks) {
        if let Some(acting) = Self::acting(at) {
            acting.write(acting.damping, out);
        }
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_all_finite(name, Field::Inputs, inputs)?;
        let element = inputs[0];
        let is_there = element >= 0.0 && element < self.count as f64 && element.fract() == 0.0;
        let bound = "the number of an element of its node";
        check_bound(name, Field::Inputs, element, bound, is_there)?;
        check_not_negative(name, Field::Other("the stiffness"), inputs[STIFFNESS])?;
        check_not_negative(name, Field::Damping, inputs[DAMPING])
    }
}
