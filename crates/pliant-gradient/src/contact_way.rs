//! The way of a contact along a coordinate or a parameter, from where it is found at four points.

use crate::taken::ContactPlace;

/// The points, in steps, with their weights in the derivative of fourth order, in that of second
/// order, and in the value at the middle.
const POINTS: [(f64, [f64; 3]); 4] = [
    (-2.0, [1.0 / 12.0, 0.0, -1.0 / 6.0]),
    (-1.0, [-8.0 / 12.0, -0.5, 4.0 / 6.0]),
    (1.0, [8.0 / 12.0, 0.5, 4.0 / 6.0]),
    (2.0, [-1.0 / 12.0, 0.0, -1.0 / 6.0]),
];

/// Length that is compared with at least (m).
const SHORT: f64 = 1e-6;

/// The way of a contact, of the same elements all along: differences of its normal, its gap, and of
/// weights and arms of its supports.
#[derive(Clone, Debug)]
pub struct ContactWay {
    sums: [ContactPlace; 3],
    /// The largest arm, or gap (m).
    length: f64,
}

impl ContactWay {
    /// Largest difference of both derivatives of a smooth way, and of its middle from the contact
    /// itself over a step, as a share of the derivative and of what a contact is made of. It is
    /// above the third power of a step over a radius of curvature, and above rounding over a step.
    pub const SMOOTH: f64 = 1e-4;

    /// The points at which a contact has to be found, in steps.
    pub const POINTS: [f64; 4] = [POINTS[0].0, POINTS[1].0, POINTS[2].0, POINTS[3].0];

    /// A way from a place, without any points.
    pub fn of(place: &ContactPlace) -> Self {
        let mut still = place.clone();
        (still.normal, still.gap) = ([0.0; 3], 0.0);
        for support in &mut still.supports {
            (support.weight, support.arm) = (0.0, [0.0; 3]);
        }
        let arms = place.supports.iter().flat_map(|s| s.arm);
        Self {
            sums: std::array::from_fn(|_| still.clone()),
            length: arms.fold(SHORT.max(place.gap.abs()), |most, arm| most.max(arm.abs())),
        }
    }

    /// Takes where the contact is at one of the [points](Self::POINTS), beside where it is itself.
    pub fn add(&mut self, point: usize, [from, to]: [&ContactPlace; 2]) {
        for (sum, weight) in self.sums.iter_mut().zip(POINTS[point].1) {
            sum.gap += weight * (to.gap - from.gap);
            for k in 0..3 {
                sum.normal[k] += weight * (to.normal[k] - from.normal[k]);
            }
            let pairs = from.supports.iter().zip(&to.supports);
            for (sum, (from, to)) in sum.supports.iter_mut().zip(pairs) {
                sum.weight += weight * (to.weight - from.weight);
                for k in 0..3 {
                    sum.arm[k] += weight * (to.arm[k] - from.arm[k]);
                }
            }
        }
    }

    /// The derivative, for points that are a step apart of something that changes by a scale as a
    /// whole; none if the way jumps or has a kink by more than a share, [`SMOOTH`](Self::SMOOTH) as
    /// a rule.
    pub fn derivative(self, [step, scale]: [f64; 2], smooth: f64) -> Option<ContactPlace> {
        let steps = scale / step;
        let of = |place: &ContactPlace| {
            let weights = place.supports.iter().map(|s| s.weight);
            let arms = place.supports.iter().flat_map(|s| s.arm);
            let numbers: Vec<f64> = place.normal.into_iter().chain(weights).collect();
            let lengths: Vec<f64> = arms.chain([place.gap]).collect();
            [numbers, lengths].map(|list| list.into_iter().map(|x| x * steps).collect::<Vec<f64>>())
        };
        let [fourth, second, middle] = self.sums.each_ref().map(of);
        let kinds = [(0, 1.0), (1, self.length)];
        let is_smooth = kinds.into_iter().all(|(kind, least)| {
            let size = fourth[kind].iter().fold(least, |size, by| size.max(by.abs()));
            let pairs = fourth[kind].iter().zip(&second[kind]);
            let mut off = pairs.map(|(a, b)| a - b).chain(middle[kind].iter().copied());
            off.all(|off| off.abs() <= smooth * size)
        });
        let [mut out, ..] = self.sums;
        out.gap /= step;
        out.normal.iter_mut().for_each(|n| *n /= step);
        for support in &mut out.supports {
            support.weight /= step;
            support.arm.iter_mut().for_each(|a| *a /= step);
        }
        is_smooth.then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_kkt::Support;
    use pliant_model::Model;

    /// Smooth ways have their derivative; such as jump between two points, have a kink at the
    /// contact itself, or are the way of another contact have none: for parameters of metres and of
    /// parts of a millimetre, in gaps, normals, weights and arms.
    #[test]
    fn ways_that_jump_have_no_derivative() {
        let node = Model::new().add_scalars("gap", &[0.0]);
        let node = node.expect("a number makes a node");
        for scale in [2.0, 1e-4] {
            let step = 1e-3 * scale;
            for kind in 0..4 {
                let size = if kind % 2 == 0 { scale } else { 1.0 };
                let place = |x: f64| {
                    let mut support = Support {
                        node,
                        element: 0,
                        weight: 1.0,
                        arm: [0.7 * scale, 0.0, 0.0],
                    };
                    let mut out = ContactPlace::default();
                    match kind {
                        0 => out.gap += x * size,
                        1 => out.normal[1] += x * size,
                        2 => support.arm[2] += x * size,
                        _ => support.weight += x * size,
                    }
                    out.supports.push(support);
                    out
                };
                let derivative = |f: &dyn Fn(f64) -> f64, own: f64| {
                    let from = place(own);
                    let mut way = ContactWay::of(&from);
                    for (k, at) in ContactWay::POINTS.into_iter().enumerate() {
                        way.add(k, [&from, &place(f(at * step / scale))]);
                    }
                    let by = way.derivative([step, scale], ContactWay::SMOOTH)?;
                    let s = &by.supports[0];
                    Some([by.gap, by.normal[1], s.arm[2], s.weight][kind] * scale / size)
                };
                let found = derivative(&|x| 0.3 + (3.0 * x).sin(), 0.3).expect("a sine is smooth");
                assert!((found - 3.0).abs() < 1e-9, "{kind}: {found}");
                for jump in [1e-6, -1e-2] {
                    for at in [-1.5e-3, -0.5e-3, 0.5e-3, 1.5e-3] {
                        let jumps = |x: f64| 0.2 * x + if x > at { jump } else { 0.0 };
                        assert_eq!(derivative(&jumps, jumps(0.0)), None, "{kind}, {jump}, {at}");
                    }
                    assert_eq!(derivative(&|x| 0.2 * x, jump), None, "{kind}, {jump}");
                }
                assert_eq!(derivative(&|x: f64| x.max(0.0), 0.0), None, "{kind}");
            }
        }
    }
}
