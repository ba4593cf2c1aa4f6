//! Steps made of several, forwards and backwards, of a symmetric method of order 2.

/// One step of RATTLE.
pub(super) const RATTLE: [f64; 1] = [1.0];

/// `1/(4 - 4^(1/3))`.
const SUZUKI: f64 = 0.414_490_771_794_375_7;

/// Suzuki (1990): order 4, the longest part is 0.66 of the step. The weights sum to 1, and their
/// cubes to 0.
pub(super) const RATTLE_4: [f64; 5] = [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI];

/// Kahan and Li (1997), as in Hairer, Lubich and Wanner, Geometric Numerical Integration, V.3.2:
/// order 6, the longest part is 0.80 of the step.
pub(super) const RATTLE_6: [f64; 9] = {
    let [a, b, c, d] = [
        0.392_161_444_007_314_1,
        0.332_599_136_789_359_43,
        -0.706_246_172_557_639_4,
        0.082_213_596_293_550_8,
    ];
    [a, b, c, d, 1.0 - 2.0 * (a + b + c + d), d, c, b, a]
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum over the parts of a power of each.
    fn sum(weights: &[f64], power: i32) -> f64 {
        weights.iter().map(|w| w.powi(power)).sum()
    }

    /// Conditions of a symmetric composition for order 4, and for order 6 (Hairer, Lubich and
    /// Wanner, V.3.1): sums of odd powers, and for order 6 `sum_k w_k^3 c_k^2 = 0` with the middle
    /// `c_k` of each part.
    #[test]
    fn the_order_conditions_hold() {
        for weights in [&RATTLE_4[..], &RATTLE_6] {
            assert!((sum(weights, 1) - 1.0).abs() < 1e-15);
            // Rounding of digits of the weights.
            assert!(sum(weights, 3).abs() < 1e-15, "{}", sum(weights, 3));
            let turned: Vec<f64> = weights.iter().rev().copied().collect();
            assert_eq!(turned, weights);
        }
        assert!(sum(&RATTLE_6, 5).abs() < 1e-15);
        let (mut start, mut curved) = (0.0, 0.0);
        for w in RATTLE_6 {
            curved += w.powi(3) * (start + 0.5 * w).powi(2);
            start += w;
        }
        assert!(curved.abs() < 1e-15, "{curved}");
        assert!(sum(&RATTLE_4, 5).abs() > 1e-3);
    }
}
