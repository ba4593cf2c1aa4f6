//! Sums of twice the working precision.

use std::ops::AddAssign;

/// A sum that is known to about twice the precision of its terms, as two numbers that are added
/// last: what is left where large terms cancel is right.
///
/// Knuth's and Dekker's error-free transformations of sums and products (Ogita, Rump and Oishi
/// 2005), in plain arithmetic, so that answers are the same on every machine. A product costs about
/// twenty operations. Beyond 1e300 the errors are not representable and left out.
///
/// ```
/// use pliant_solvers::complementarity::Compensated;
/// let mut sum = Compensated::default();
/// sum += 1e16;
/// sum += 1.0;
/// sum.add_product(1e8, -1e8);
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compensated {
    high: f64,
    low: f64,
}

/// The upper half of the digits of a number, and the rest.
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

impl Compensated {
    /// The sum, rounded.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// Adds `a b` with what its rounding leaves out.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        let error = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
        *self += product;
        if error.is_finite() {
            self.low += error;
        }
    }
}

impl AddAssign<f64> for Compensated {
    fn add_assign(&mut self, x: f64) {
        let sum = self.high + x;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (x - part);
        self.high = sum;
        if error.is_finite() {
            self.low += error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact answer of a sum of products is known by construction: the terms cancel in pairs,
    /// but for one.
    #[test]
    fn what_is_left_of_huge_terms_is_right() {
        let mut sum = Compensated::default();
        let numbers = [0.1, 1.0 / 3.0, 7.3e8, -2.9e-7, 1e15 / 7.0];
        for a in numbers {
            for b in numbers {
                sum.add_product(a, b);
            }
        }
        sum.add_product(0.1, 0.3e-12);
        for a in numbers {
            for b in numbers {
                sum.add_product(-b, a);
            }
        }
        // Errors of the low parts, which are 1e-16 of the largest product, 2e28, are another 1e-16
        // of that, times 50 terms.
        assert!((sum.value() - 0.3e-13).abs() < 50.0 * 2e28 * 1.3e-32, "{sum:?}");
        // The same in plain arithmetic misses all of it.
        let plain: f64 = 2e28 + 0.3e-13 - 2e28;
        assert_eq!(plain, 0.0);
    }

    /// A product of two numbers of 53 digits has 106, of which the low part has the lower half.
    #[test]
    fn a_product_is_exact() {
        let (a, b) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
        let mut sum = Compensated::default();
        sum.add_product(a, b);
        sum += -1.0;
        assert_eq!(sum.value(), -f64::EPSILON * f64::EPSILON);
    }

    #[test]
    fn numbers_without_errors_are_added_as_they_are() {
        let mut sum = Compensated::default();
        sum.add_product(1e305, 2.0);
        assert_eq!(sum.value(), 2e305);
        sum.add_product(1e200, 1e200);
        assert_eq!(sum.value(), f64::INFINITY);
    }
}
