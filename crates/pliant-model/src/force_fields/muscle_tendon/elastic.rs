//! The equilibrium of fibre and elastic tendon.

use super::MuscleTendon;
use super::fibre::FibreForce;

/// Steps that may be Newton's, and those of a bracket from the size of a limb to rounding.
const NEWTON: usize = 60;
const BISECTIONS: usize = 80;

/// An element between two times: the path has one length, the fibre goes on from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    pub(super) muscle: &'a MuscleTendon,
    /// The length of the path (m) at the end.
    pub(super) path: f64,
    /// The activation at the end.
    pub(super) activation: f64,
    /// The length of the fibre (m) at the start.
    pub(super) before: f64,
    /// The time between both (s).
    pub(super) elapsed: f64,
}

/// The fibre at the end of a [`Stretch`].
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The length of the fibre (m).
    pub(super) fibre: f64,
    /// The tension (N), and its derivative by the length of the path (N/m).
    pub(super) tension: f64,
    pub(super) stiffness: f64,
    /// The force (N) along the fibre that its rate, or its stop, adds to the force at rest.
    pub(super) drag: f64,
}

/// Tensions at a place of the fibre.
struct Balance {
    /// Tension of the tendon less that of the fibre along it (N).
    excess: f64,
    /// Tension of the tendon (N).
    tendon: f64,
    /// Slopes of these tensions (N/m): over the length of the tendon, over how far the fibre reaches.
    tendon_slope: f64,
    fibre_slope: f64,
}

impl Stretch<'_> {
    /// The velocity of the fibre (m/s) at the end.
    fn velocity(&self, length: f64) -> f64 {
        (length - self.before) / self.elapsed
    }

    fn balance(&self, reach: f64) -> Balance {
        let muscle = self.muscle;
        let (length, cosine) = muscle.fibre_at(reach);
        let FibreForce {
            value,
            by_length,
            by_velocity,
        } = muscle.fibre_force(self.activation, length, self.velocity(length));
        let (tendon, tendon_slope) = muscle.tendon_force(self.path - reach);
        let along = by_length + by_velocity / self.elapsed;
        let h = muscle.thickness();
        // The angle gets flatter as the fibre reaches farther.
        let flattens = if h == 0.0 {
            0.0
        } else {
            h * h / (length * length * length)
        };
        Balance {
            excess: tendon - value * cosine,
            tendon,
            tendon_slope,
            fibre_slope: along * cosine * cosine + value * flattens,
        }
    }

    /// How far the fibre reaches at the end (m), and whether it is at its stop.
    ///
    /// The search never fails. The excess is a continuous function of the reach. Where the fibre
    /// starts, its sign says the way. If the tendon pulls harder, the fibre lengthens: the other end
    /// is where the tendon is slack, and the excess not above zero, since a fibre that lengthens
    /// pulls (all its parts do). A slack tendon pulls with nothing, and so never harder than a fibre
    /// that keeps its length: with it an excess above zero is rounding, and the fibre stays. If the
    /// fibre pulls harder, it shortens: the other end is its stop, and if it still pulls harder
    /// there, that is where it stays. Otherwise both ends have opposite signs, and Newton's method
    /// comes to a root: it bisects where it leaves the bracket, where it does not halve its step,
    /// and after [`NEWTON`] steps. Over a step there is one root, unless it is so long that the
    /// force of the fibre falls with its length faster than it rises with its rate; at rest on the
    /// descending limb there may be several.
    fn end_reach(&self, start: f64) -> (f64, bool) {
        let muscle = self.muscle;
        let Balance { excess, tendon, .. } = self.balance(start);
        if excess == 0.0 || (excess > 0.0 && tendon == 0.0) {
            return (start, false);
        }
        let (mut low, mut high) = if excess > 0.0 {
            (start, self.path - muscle.slack)
        } else {
            let stop = muscle.shortest_reach();
            if self.balance(stop).excess <= 0.0 {
                return (stop, true);
            }
            (stop, start)
        };
        let mut reach = start;
        let mut last = high - low;
        for k in 0..NEWTON + BISECTIONS {
            let at = self.balance(reach);
            *(if at.excess > 0.0 { &mut low } else { &mut high }) = reach;
            let slope = at.tendon_slope + at.fibre_slope;
            let mut step = at.excess / slope;
            let next = reach + step;
            // Not a number, too, is no step of Newton's.
            let halves = step.abs() <= 0.5 * last.abs();
            let taken = k < NEWTON && halves && next > low && next < high;
            if !taken {
                step = 0.5 * (low + high) - reach;
            }
            last = step;
            reach += step;
            if step.abs() <= 8.0 * f64::EPSILON * reach.abs() {
                break;
            }
        }
        (reach, false)
    }

    /// The fibre, the tension and its derivative.
    pub(super) fn end(&self) -> End {
        let muscle = self.muscle;
        let start = muscle.reach_of(self.before);
        // No time: the fibre is where it was, and the tendon alone gives way.
        if self.elapsed < f64::MIN_POSITIVE {
            let (tension, stiffness) = muscle.tendon_force(self.path - start);
            return End {
                fibre: self.before,
                tension,
                stiffness,
                drag: 0.0,
            };
        }
        let (reach, stopped) = self.end_reach(start);
        let (fibre, cosine) = muscle.fibre_at(reach);
        let at = self.balance(reach);
        let at_rest = muscle.fibre_force(self.activation, fibre, 0.0).value;
        let drag = if stopped {
            at.tendon / cosine - at_rest
        } else {
            let velocity = self.velocity(fibre);
            muscle.fibre_force(self.activation, fibre, velocity).value - at_rest
        };
        // Springs in a row. Where the sum is zero the equilibrium ends: the fibre tears away.
        let sum = at.tendon_slope + at.fibre_slope;
        let stiffness = if stopped || at.tendon_slope == 0.0 {
            at.tendon_slope
        } else {
            at.tendon_slope * at.fibre_slope / sum.max(f64::EPSILON * at.tendon_slope)
        };
        End {
            fibre,
            tension: at.tendon,
            stiffness,
            drag,
        }
    }
}

impl MuscleTendon {
    /// The equilibrium at rest of a path of a length (m), of a fibre that comes from its optimal
    /// length.
    pub(super) fn at_rest(&self, path: f64, activation: f64) -> End {
        let stretch = Stretch {
            muscle: self,
            path,
            activation,
            before: self.optimal,
            elapsed: f64::INFINITY,
        };
        stretch.end()
    }
}
