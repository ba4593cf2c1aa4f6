//! SDIRK2 from soft to hard: the figure of `docs/lab/integrators.md`, at a few of its points.

use pliant::prelude::*;
use pliant_benches::orders::stiffness::CHAINS;

/// Order 2 of the smooth motions at `h omega` from 0.1 to 1000, by both treatments. The order is
/// that between 10 ms and 5 ms, where terms of the third order are a twentieth of the error.
#[test]
fn the_default_method_has_order_two_from_soft_to_hard() {
    for chain in &CHAINS[..2] {
        for product in [0.1, 1.0, 10.0, 100.0, 1000.0] {
            for treatment in [Treatment::Stiffness, Treatment::Compliance] {
                let pair = chain.errors(product, treatment).unwrap();
                assert!(
                    (pair.order() - 2.0).abs() < 0.15,
                    "{}, {product}, {treatment:?}: {pair:?}",
                    chain.name
                );
            }
        }
    }
}
